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
use sealane_block::{Block, Cpu, Tier};

use super::horner::{self, BlockSource, base, product};
use crate::lanes::head::block_of;
use crate::lanes::keys::aes;
use crate::lanes::mode::TextLayout;
use crate::lanes::tail::first_bytes;
use crate::lanes::{
    BACK, Data, FORWARD, Facts, Head, KeyMaterial, Keys, Mode, Of, OneState, Params, Shape, State,
    Tail, Wave,
};

pub(crate) struct Julius;

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

    fn derive(cpu: Cpu, key: &[u8], material: &mut KeyMaterial<Self>) {
        let delta = aes(cpu, key).encrypt(Block::ZERO);
        let delta = Block::new(delta.value().swap_bytes());
        (material.table, material.constants) = horner::expand(cpu, Order::Polynomial, delta);
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
    fn absorb<K: Keys>(keys: &K, state: &mut State<Self, K::S>, head: &Head<'_, K::S>) {
        if head.index == 0 {
            state[VALUE] = head.block.reversed();
            let (l, messages) = (keys.l(), head.messages);
            let is_odd = |text: usize| !register_blocks(text).is_multiple_of(2);
            let odd = messages.where_lengths(|message| is_odd(message.text));
            let empty = messages.where_lengths(|message| message.text == 0);
            (state[ODD], state[EMPTY]) = (messages.mask(l, odd), messages.mask(l, empty));
            return;
        }
        state[VALUE] = horner::step(keys, Order::Polynomial, state[VALUE], head.block.reversed());
    }

    /// The first pass: deciphers, if it opens, and hashes. A lane has units one after the other, or
    /// in steps of all lanes; then its powers of delta are those of the step.
    #[inline(always)]
    fn first_pass<K: Keys, D: Data<K::S>>(keys: &K, state: &mut State<Self, K::S>, data: &mut D) {
        let l = keys.l();
        let units = data.units();
        let mut plain = Plain;
        state[VALUE] = horner::hash(keys, Order::Polynomial, data, state[VALUE], &mut plain);
        if K::OPEN {
            for unit in 0..units.min(2) {
                let block = data.load(l, unit, 0);
                for lane in 0..Wave::<K::S>::LANES {
                    match number(data, lane, unit) {
                        0 => state[FIRST].lanes_mut()[lane] = block.lanes()[lane],
                        1 => state[SECOND].lanes_mut()[lane] = block.lanes()[lane],
                        _ => {}
                    }
                }
            }
        }
    }

    /// The second pass: masks, and enciphers if it seals.
    #[inline(always)]
    fn body<K: Keys, D: Data<K::S>>(keys: &K, state: &mut State<Self, K::S>, data: &mut D) {
        let mut stride = horner::stride::<D, K>(keys);
        let mut value = state[VALUE];
        let mut unit = 0;
        if D::WIDE {
            if data.position(0) == 0 {
                let first;
                (first, value) = first_round(keys, value, state[ODD], stride);
                masked(keys, data, 0, first);
                unit = 1;
            }
        } else {
            let lanes = 0..Wave::<K::S>::LANES;
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
                masked(keys, data, unit, value ^ (next & both));
                value = next.unless(again, value);
                unit += 1;
            }
        }
        while unit < data.units() {
            let before = value;
            value = product(Order::Polynomial, value, stride);
            masked(keys, data, unit, before);
            unit += 1;
        }
        state[VALUE] = value;
        horner::wipe(&mut stride);
    }

    #[inline(always)]
    fn turn<K: Keys>(keys: &K, state: &mut State<Self, K::S>) {
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
    fn spread<K: Keys>(keys: &K, state: &OneState<Self, K::S>, at: u64) -> State<Self, K::S> {
        let mut wide = [state[VALUE].spread(); 6];
        for word in 1..6 {
            wide[word] = state[word].spread();
        }
        if !is_masking(state) {
            wide[VALUE] = horner::spread(state[VALUE]);
        } else if at > 0 {
            let mut powers = horner::rising(keys);
            wide[VALUE] = product(Order::Polynomial, wide[VALUE], powers);
            horner::wipe(&mut powers);
        }
        wide
    }

    #[inline(always)]
    fn fold<K: Keys>(keys: &K, state: &State<Self, K::S>, next: usize) -> OneState<Self, K::S> {
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
    fn tail<K: Keys>(keys: &K, state: &State<Self, K::S>, tail: &mut Tail<'_, K::S>) {
        if K::OPEN {
            let padding = tail.messages.by_lengths(keys.l(), |message| {
                first_bytes(message.text.wrapping_neg() % 16)
            });
            let (first, second) = (state[FIRST], state[SECOND] & padding);
            tail.wrong = first ^ second ^ (first & second);
        }
    }
}

/// Returns true if this is the second pass.
#[inline(always)]
fn is_masking<S: Shape>(state: &State<Julius, S>) -> bool {
    state[MASKING].lanes()[0].lsb() == 1
}

/// Source of the blocks of the register for the hash.
struct Plain;

impl<K: Keys> BlockSource<K> for Plain {
    #[inline(always)]
    fn block(&mut self, keys: &K, data: &mut impl Data<K::S>, unit: usize) -> Wave<K::S> {
        let mut block = data.load(keys.l(), unit, 0);
        if K::OPEN {
            block = keys.decrypt(BACK, block);
            data.store(unit, 0, block);
        }
        block
    }
}

/// Masks a unit.
#[inline(always)]
fn masked<K: Keys>(keys: &K, data: &mut impl Data<K::S>, unit: usize, mask: Wave<K::S>) {
    let block = data.load(keys.l(), unit, 0) ^ mask.reversed();
    let made = if !K::OPEN {
        keys.encrypt(FORWARD, block)
    } else {
        block
    };
    data.store(unit, 0, made);
}

/// Computes the masks of the first round of units in all lanes from mu, and the values of the
/// second.
#[inline(always)]
fn first_round<K: Keys>(
    keys: &K,
    mu: Wave<K::S>,
    odd: Wave<K::S>,
    step: [Wave<K::S>; 2],
) -> (Wave<K::S>, Wave<K::S>) {
    let lanes = Wave::<K::S>::LANES;
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
fn number<S: Shape, D: Data<S>>(data: &D, lane: usize, unit: usize) -> u64 {
    data.position(lane) + (unit * D::STEP) as u64
}

/// Blocks of the register.
fn register_blocks(text: usize) -> usize {
    1 + text.div_ceil(16)
}
