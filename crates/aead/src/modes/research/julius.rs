//! Julius-ECB, the regular version: Bahack, "Julius: Secure Mode of Operation for Authenticated
//! Encryption Based on ECB and Finite Field Multiplications" (CAESAR, first round, 2014).
//!
//! A block of zeros and the text, with zeros before it up to whole blocks, are the *register*. A
//! polynomial hash of header and register, enciphered, is mu. The register is masked with mu times
//! powers of delta, and then every block of it enciphered. Masking a register of two blocks or more
//! does not change its hash, so opening deciphers, hashes and unmasks, and then checks for the
//! zeros.
//!
//! Element `i` of the masks is mu * delta^i if the register has an even number of blocks. If it is
//! odd: mu, then mu * delta + mu, and mu * delta^(i - 1) from there on.

use sealane_block::gf::Order;
use sealane_block::{Block, Cpu, Lanes, Tier};

use super::horner::{self, BlockSource, base, product};
use super::shared::{aes, back, forward};
use crate::lanes::head::block_of;
use crate::lanes::mode::TextLayout;
use crate::lanes::tail::first_bytes;
use crate::lanes::{Data, Facts, Head, KeyMaterial, Keys, Mode, Of, Params, State, Tail, Wave};

pub(crate) struct Julius;

const FORWARD: usize = 0;
const BACK: usize = 1;

/// The hash so far; then the next mask, or the value that it is computed from. Byte-reversed.
const VALUE: usize = 0;
/// All ones where the register has an odd number of blocks.
const ODD: usize = 1;
/// All ones where there is no text.
const EMPTY: usize = 2;
/// When opening: the first two blocks of the register; deciphered, and then unmasked.
const FIRST: usize = 3;
const SECOND: usize = 4;
/// All ones in the second pass: public, as are the two above.
const MASKING: usize = 5;

impl Mode for Julius {
    type Schedules = Of<2>;
    type Constants = Of<{ horner::CONSTANTS }>;
    type Words = Of<6>;
    const PARALLEL: bool = true;
    const PASSES: usize = 2;
    const WIDEST: Tier = Tier::Vaes256;

    fn expand(cpu: Cpu, key: &[u8], params: Params) -> KeyMaterial<Julius> {
        let mut material = KeyMaterial::new(params, [forward(cpu, key), back(cpu, key)]);
        let delta = aes(cpu, key).encrypt(Block::ZERO);
        let delta = Block::new(delta.value().swap_bytes());
        (material.table, material.constants) = horner::expand(cpu, Order::Polynomial, delta);
        material
    }
    fn rest(_text: usize) -> usize {
        0
    }
    fn tail_bytes(_params: &Params, _rest: usize) -> [usize; 4] {
        [0; 4]
    }

    /// The whole register is the body, with the text at its end.
    fn shape(_params: &Params, text: usize) -> TextLayout {
        let register = 16 * register_blocks(text);
        TextLayout {
            front: register - text,
            held: register,
            sealed: register,
        }
    }
    fn text_bytes(_params: &Params, _sealed: usize) -> Option<usize> {
        None
    }

    /// A block for this version of Julius, the nonce, the lengths, the associated data.
    fn head_blocks(_params: &Params, message: &Facts<'_>) -> usize {
        3 + message.ad.len().div_ceil(16)
    }
    fn head_block(_params: &Params, message: &Facts<'_>, index: usize) -> Block {
        match index {
            0 => Block::new(1 << 120),
            1 => block_of(message.nonce, 0),
            2 => {
                let lengths = (message.ad.len() as u128) << 64 | message.text as u128;
                Block::from_bytes(lengths.to_be_bytes())
            }
            _ => block_of(message.ad, index - 3),
        }
    }

    #[inline(always)]
    fn absorb<L: Lanes, const N: usize>(
        keys: &impl Keys<L, N>,
        state: &mut State<Self, L, N>,
        block: Wave<L, N>,
        head: &Head<'_, L, N>,
    ) {
        if head.index == 0 {
            state[VALUE] = block.reversed();
            for lane in 0..Wave::<L, N>::LANES {
                if let Some(message) = head.messages.get(lane) {
                    let odd = !register_blocks(message.text).is_multiple_of(2);
                    state[ODD].lanes_mut()[lane] = Block::mask(odd.into());
                    state[EMPTY].lanes_mut()[lane] = Block::mask((message.text == 0).into());
                }
            }
            return;
        }
        state[VALUE] = product(Order::Polynomial, state[VALUE], base(keys, 1)) ^ block.reversed();
    }

    #[inline(always)]
    fn body<L: Lanes, const N: usize, const OPEN: bool>(
        keys: &impl Keys<L, N>,
        state: &mut State<Self, L, N>,
        data: &mut impl Data<L, N>,
        pass: usize,
    ) {
        if pass == 0 {
            hash::<L, N, OPEN>(keys, state, data);
        } else {
            mask::<L, N, OPEN>(keys, state, data);
        }
    }

    #[inline(always)]
    fn turn<L: Lanes, const N: usize>(keys: &impl Keys<L, N>, state: &mut State<Self, L, N>) {
        // One block is masked with a hash of zeros in its place, as the specification requires.
        let hash = state[VALUE].reversed() ^ (state[FIRST] & state[EMPTY]);
        let mu = keys.encrypt(FORWARD, hash);
        let next = product(Order::Polynomial, mu.reversed(), base(keys, 1)).reversed();
        state[VALUE] = mu.reversed();
        state[FIRST] ^= mu;
        state[SECOND] ^= next ^ (mu & state[ODD]);
        state[MASKING] = Wave::splat(keys.l(), Block::ONES);
    }

    /// The hash of the head counts as the block before the first, which the last lane has. Masks
    /// differ from lane to lane, but for the first round, which computes them itself.
    #[inline(always)]
    fn spread<L: Lanes, const N: usize>(
        keys: &impl Keys<L, N>,
        state: &State<Self, L, 1>,
        position: u64,
    ) -> State<Self, L, N> {
        let mut wide = [state[VALUE].spread(); 6];
        for word in 1..6 {
            wide[word] = state[word].spread();
        }
        if !is_masking(state) {
            wide[VALUE] = horner::spread(state[VALUE]);
        } else if position > 0 {
            let mut powers = horner::rising(keys);
            wide[VALUE] = product(Order::Polynomial, wide[VALUE], powers);
            horner::wipe(&mut powers);
        }
        wide
    }

    #[inline(always)]
    fn fold<L: Lanes, const N: usize>(
        keys: &impl Keys<L, N>,
        state: &State<Self, L, N>,
        next: usize,
    ) -> State<Self, L, 1> {
        let mut one = [state[VALUE].pick(0); 6];
        for word in 1..6 {
            one[word] = state[word].pick(0);
        }
        one[SECOND] = state[SECOND].pick(1);
        one[VALUE] = if is_masking(state) {
            state[VALUE].pick(next)
        } else {
            horner::fold(keys, Order::Polynomial, state[VALUE], next)
        };
        one
    }

    #[inline(always)]
    fn tail<L: Lanes, const N: usize, const OPEN: bool>(
        keys: &impl Keys<L, N>,
        state: &State<Self, L, N>,
        tail: &mut Tail<'_, L, N>,
    ) {
        if OPEN {
            let padding = tail.by_lengths(keys.l(), |message| {
                first_bytes(message.text.wrapping_neg() % 16)
            });
            let (first, second) = (state[FIRST], state[SECOND] & padding);
            tail.wrong = first ^ second ^ (first & second);
        }
    }
}

/// The first pass: deciphers, if it opens, and hashes. A lane has units one after the other, or in
/// steps of all lanes; then its powers of delta are those of the step.
#[inline(always)]
fn hash<L: Lanes, const N: usize, const OPEN: bool>(
    keys: &impl Keys<L, N>,
    state: &mut State<Julius, L, N>,
    data: &mut impl Data<L, N>,
) {
    let l = keys.l();
    let units = data.units();
    let mut plain = Plain::<OPEN>;
    state[VALUE] = horner::hash(keys, Order::Polynomial, data, state[VALUE], &mut plain);
    if OPEN {
        for unit in 0..units.min(2) {
            let block = data.load(l, unit, 0);
            for lane in 0..Wave::<L, N>::LANES {
                match number(data, lane, unit) {
                    0 => state[FIRST].lanes_mut()[lane] = block.lanes()[lane],
                    1 => state[SECOND].lanes_mut()[lane] = block.lanes()[lane],
                    _ => {}
                }
            }
        }
    }
}

/// Returns true if this is the second pass.
#[inline(always)]
fn is_masking<L: Lanes, const N: usize>(state: &State<Julius, L, N>) -> bool {
    state[MASKING].lanes()[0].lsb() == 1
}

/// Source of the blocks of the register for the hash.
struct Plain<const OPEN: bool>;

impl<L: Lanes, const N: usize, const OPEN: bool> BlockSource<L, N> for Plain<OPEN> {
    #[inline(always)]
    fn block(
        &mut self,
        keys: &impl Keys<L, N>,
        data: &mut impl Data<L, N>,
        unit: usize,
    ) -> Wave<L, N> {
        let mut block = data.load(keys.l(), unit, 0);
        if OPEN {
            block = keys.decrypt(BACK, block);
            data.store(unit, 0, block);
        }
        block
    }
}

/// The second pass: masks, and enciphers if it seals.
#[inline(always)]
fn mask<L: Lanes, const N: usize, const OPEN: bool>(
    keys: &impl Keys<L, N>,
    state: &mut State<Julius, L, N>,
    data: &mut impl Data<L, N>,
) {
    let mut stride = horner::stride(keys, data);
    let mut value = state[VALUE];
    let mut unit = 0;
    if is_wide(data) {
        if data.position(0) == 0 {
            let first;
            (first, value) = first_round(keys, value, state[ODD], stride);
            masked::<L, N, OPEN>(keys, data, 0, first);
            unit = 1;
        }
    } else {
        let lanes = 0..Wave::<L, N>::LANES;
        let least = lanes.clone().map(|lane| data.position(lane)).min();
        let special = 2usize.saturating_sub(least.unwrap_or(0) as usize);
        while unit < special.min(data.units()) {
            // Where the number is odd, unit 1 is masked with two values, of which the
            // first is the value of unit 0 again.
            let (mut again, mut both) = (Wave::zero(keys.l()), Wave::zero(keys.l()));
            for lane in lanes.clone() {
                let odd = state[ODD].lanes()[lane];
                match number(data, lane, unit) {
                    0 => again.lanes_mut()[lane] = odd,
                    1 => both.lanes_mut()[lane] = odd,
                    _ => {}
                }
            }
            let next = product(Order::Polynomial, value, base(keys, 1));
            masked::<L, N, OPEN>(keys, data, unit, value ^ (next & both));
            value = next.unless(again, value);
            unit += 1;
        }
    }
    while unit < data.units() {
        let before = value;
        value = product(Order::Polynomial, value, stride);
        masked::<L, N, OPEN>(keys, data, unit, before);
        unit += 1;
    }
    state[VALUE] = value;
    horner::wipe(&mut stride);
}

/// Masks a unit.
#[inline(always)]
fn masked<L: Lanes, const N: usize, const OPEN: bool>(
    keys: &impl Keys<L, N>,
    data: &mut impl Data<L, N>,
    unit: usize,
    mask: Wave<L, N>,
) {
    let block = data.load(keys.l(), unit, 0) ^ mask.reversed();
    let made = if !OPEN {
        keys.encrypt(FORWARD, block)
    } else {
        block
    };
    data.store(unit, 0, made);
}

/// Computes the masks of the first round of units in all lanes from mu, and the values of the
/// second.
#[inline(always)]
fn first_round<L: Lanes, const N: usize>(
    keys: &impl Keys<L, N>,
    mu: Wave<L, N>,
    odd: Wave<L, N>,
    step: [Wave<L, N>; 2],
) -> (Wave<L, N>, Wave<L, N>) {
    let lanes = Wave::<L, N>::LANES;
    let mut powers = horner::rising(keys);
    let even = product(Order::Polynomial, mu, powers);
    horner::wipe(&mut powers);
    // Powers are one behind, except for unit 0, which shares its power with unit 1.
    let mut late = even;
    late.lanes_mut()[1..].copy_from_slice(&even.lanes()[..lanes - 1]);
    let mut first = late;
    first.lanes_mut()[1] = even.lanes()[0] ^ even.lanes()[1];
    let first = even.unless(odd, first);
    let mut next = product(Order::Polynomial, even.unless(odd, late), step);
    let fresh = even.lanes()[lanes - 1];
    let lane_0 = &mut next.lanes_mut()[0];
    *lane_0 = *lane_0 ^ (odd.lanes()[0] & (*lane_0 ^ fresh));
    (first, next)
}

/// The number of a unit in its register.
#[inline(always)]
fn number<L: Lanes, const N: usize, D: Data<L, N>>(data: &D, lane: usize, unit: usize) -> u64 {
    let step = if D::WIDE { Wave::<L, N>::LANES } else { 1 };
    data.position(lane) + (unit * step) as u64
}

#[inline(always)]
fn is_wide<L: Lanes, const N: usize, D: Data<L, N>>(_data: &D) -> bool {
    D::WIDE
}

/// Blocks of the register.
fn register_blocks(text: usize) -> usize {
    1 + text.div_ceil(16)
}
