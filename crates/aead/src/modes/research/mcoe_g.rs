//! McOE-G: Fleischmann, Forler, Lucks and Wenzel, "McOE: A Family of Almost Foolproof On-Line
//! Authenticated Encryption Schemes" (FSE 2012).
//!
//! A block is enciphered under a tweak, the difference of the text and ciphertext before it: Et(U,
//! X) = E(X ^ d) ^ d with d = U * K2. With x = X ^ d and y = E(x), text and ciphertext differ by x
//! ^ y in both directions, which is the next tweak, and a step of the chain is AES, a product and
//! four cheap operations.

use sealane_block::gf::{Order, mul, mul_prepared_lanes, prepare};
use sealane_block::{Block, Cpu, Lanes, Tier};

use super::keys::ResearchKeys;
use super::shared::{back, forward};
use crate::lanes::head::{block_of, padded_block_of};
use crate::lanes::tail::{TAG, first_bytes};
use crate::lanes::{Data, Facts, Head, KeyMaterial, Keys, Mode, Of, Params, State, Tail, Wave};

pub(crate) struct McoeG;

const FORWARD: usize = 0;
const BACK: usize = 1;

/// K2, prepared: two words from this one on.
const FACTOR: usize = 0;
/// d of the tweak of all ones, under which lengths are enciphered.
const LENGTH_MASK: usize = 2;

/// d for the next block, byte-reversed.
const MASK: usize = 0;
/// The result of the last block of the head.
const TAU: usize = 1;

impl Mode for McoeG {
    type Schedules = Of<2>;
    type Constants = Of<3>;
    type Words = Of<2>;
    const PARALLEL: bool = false;
    const WIDEST: Tier = Tier::Vaes256;

    fn expand(cpu: Cpu, key: &[u8], params: Params) -> KeyMaterial<McoeG> {
        let mut material =
            KeyMaterial::new(params, [forward(cpu, &key[..16]), back(cpu, &key[..16])]);
        let factor = block_of(key, 1);
        let [first, second] = prepare(Order::Ghash, factor);
        let mask = mul(cpu, Order::Ghash, Block::ONES, factor);
        material.constants = [first, second, mask];
        material
    }

    /// Splits the tag: a short block is filled with tau bytes, which the tag then lacks.
    fn tail_bytes(_params: &Params, rest: usize) -> [usize; 4] {
        match rest {
            0 => [0, 0, 0, 16],
            _ => [16, 0, 0, rest],
        }
    }

    /// The nonce, then the associated data if there are any, always with a bit behind them.
    fn head_blocks(_params: &Params, message: &Facts<'_>) -> usize {
        match message.ad.len() {
            0 => 1,
            len => 2 + len / 16,
        }
    }
    fn head_block(_params: &Params, message: &Facts<'_>, index: usize) -> Block {
        match index {
            0 => block_of(message.nonce, 0),
            _ => padded_block_of(message.ad, index - 1),
        }
    }

    #[inline(always)]
    fn absorb<L: Lanes, const N: usize>(
        keys: &impl Keys<L, N>,
        state: &mut State<Self, L, N>,
        block: Wave<L, N>,
        _head: &Head<'_, L, N>,
    ) {
        let x = block ^ state[MASK].reversed();
        let tweak = x ^ keys.encrypt(FORWARD, x);
        state[TAU] = tweak ^ block;
        state[MASK] = mask(keys, tweak);
    }

    #[inline(always)]
    fn body<L: Lanes, const N: usize, const OPEN: bool>(
        keys: &impl Keys<L, N>,
        state: &mut State<Self, L, N>,
        data: &mut impl Data<L, N>,
        _pass: usize,
    ) {
        let l = keys.l();
        let mut next = state[MASK];
        for unit in 0..data.units() {
            let given = data.load(l, unit, 0);
            let mask = next.reversed();
            let x = given ^ mask;
            // One lane waits for its chain; many lanes have no registers left for late additions.
            let tweak = if N > 1 {
                let y = if !OPEN {
                    keys.encrypt(FORWARD, x)
                } else {
                    keys.decrypt(BACK, x)
                };
                x ^ y
            } else {
                if !OPEN {
                    keys.encrypt_late_onto(FORWARD, given, mask, x)
                } else {
                    keys.decrypt_onto(BACK, x, x)
                }
            };
            data.store(unit, 0, given ^ tweak);
            next = self::mask(keys, tweak);
        }
        state[MASK] = next;
    }

    #[inline(always)]
    fn tail<L: Lanes, const N: usize, const OPEN: bool>(
        keys: &impl Keys<L, N>,
        state: &State<Self, L, N>,
        tail: &mut Tail<'_, L, N>,
    ) {
        let l = keys.l();
        let tau = state[TAU];
        let mut next = state[MASK];
        // In bytes behind a short text, the difference from tau.
        let mut wrong = Wave::zero(l);
        if tail.most > 0 {
            let length = tail.by_rest(l, |rest| Block::from_bytes((rest as u128).to_be_bytes()));
            let length_mask = keys.constant(LENGTH_MASK);
            let length = keys.encrypt(FORWARD, length ^ length_mask) ^ length_mask;
            let text = tail.text_mask(l, 0);
            let mut fill = tau;
            for (lane, fill) in fill.lanes_mut().iter_mut().enumerate() {
                *fill = Block::new(fill.value() << (8 * tail.rest[lane]));
            }
            let short = tail.where_rest(l, |rest| rest > 0);
            let before = next.reversed();
            let tweak;
            if OPEN {
                let x = tail.given[0] ^ before;
                tweak = x ^ keys.decrypt(BACK, x);
                let filled = tail.given[0] ^ tweak ^ length;
                tail.made[0] = filled & text;
                wrong = (filled ^ fill) & short & (text ^ Wave::splat(l, Block::ONES));
            } else {
                let x = tail.given[0] ^ fill ^ length ^ before;
                tweak = x ^ keys.encrypt(FORWARD, x);
                tail.made[0] = tail.given[0] ^ fill ^ length ^ tweak;
            }
            next = next.unless(short, mask(keys, tweak));
        }
        let last = next.reversed();
        let tag = keys.encrypt(FORWARD, tau ^ last) ^ last;
        tail.made[TAG] = tag;
        if OPEN {
            // The two differences lie in different bytes.
            let bytes = tail.by_rest(l, |rest| first_bytes(if rest == 0 { 16 } else { rest }));
            tail.wrong = wrong ^ ((tag ^ tail.given[TAG]) & bytes);
        }
    }
}

/// d for a tweak, byte-reversed.
#[inline(always)]
fn mask<L: Lanes, const N: usize>(keys: &impl Keys<L, N>, tweak: Wave<L, N>) -> Wave<L, N> {
    let factor = [keys.constant(FACTOR), keys.constant(FACTOR + 1)];
    let mut mask = tweak.reversed();
    for i in 0..N {
        let factor = [factor[0].v[i], factor[1].v[i]];
        mask.v[i] = mul_prepared_lanes(mask.l, Order::Ghash, mask.v[i], factor);
    }
    mask
}
