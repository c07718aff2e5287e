//! McOE-G: Fleischmann, Forler, Lucks and Wenzel, "McOE: A Family of Almost Foolproof On-Line
//! Authenticated Encryption Schemes" (FSE 2012).
//!
//! A block is enciphered under a tweak, the difference of the text and ciphertext before it: Et(U,
//! X) = E(X ^ d) ^ d with d = U * K2. With x = X ^ d and y = E(x), text and ciphertext differ by x
//! ^ y in both directions, which is the next tweak, and a step of the chain is AES, a product and
//! four cheap operations.

use sealane_block::gf::{Order, mul, mul_prepared_lanes, prepare};
use sealane_block::{Block, Cpu, Tier};

use super::shared::{behind_rest, encrypt_late_onto};
use crate::lanes::head::block_of;
use crate::lanes::tail::{TAG, first_bytes};
use crate::lanes::{
    BACK, Data, FORWARD, Facts, Head, KeyMaterial, Keys, Mode, Of, Params, State, Tail, Wave,
};

pub(crate) struct McoeG;

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

    fn derive(cpu: Cpu, key: &[u8], material: &mut KeyMaterial<Self>) {
        let factor = block_of(key, 1);
        let [first, second] = prepare(Order::Ghash, factor);
        let mask = mul(cpu, Order::Ghash, Block::ONES, factor);
        material.constants = [first, second, mask];
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

    #[inline(always)]
    fn absorb<K: Keys>(keys: &K, state: &mut State<Self, K::S>, head: &Head<'_, K::S>) {
        let x = head.block ^ state[MASK].reversed();
        let tweak = x ^ keys.encrypt(FORWARD, x);
        state[TAU] = tweak ^ head.block;
        state[MASK] = mask(keys, tweak);
    }

    #[inline(always)]
    fn body<K: Keys, D: Data<K::S>>(keys: &K, state: &mut State<Self, K::S>, data: &mut D) {
        let l = keys.l();
        let mut next = state[MASK];
        for unit in 0..data.units() {
            let given = data.load(l, unit, 0);
            let mask = next.reversed();
            let x = given ^ mask;
            // One lane waits for its chain; many lanes have no registers left for late additions.
            let tweak = if Wave::<K::S>::VECTORS > 1 {
                x ^ keys.cipher(x)
            } else if !K::OPEN {
                encrypt_late_onto(keys, FORWARD, given, [mask, x])
            } else {
                keys.decrypt_onto(BACK, x, x)
            };
            data.store(unit, 0, given ^ tweak);
            next = self::mask(keys, tweak);
        }
        state[MASK] = next;
    }

    #[inline(always)]
    fn tail<K: Keys>(keys: &K, state: &State<Self, K::S>, tail: &mut Tail<'_, K::S>) {
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
            let fill = behind_rest(tau, tail);
            let short = tail.where_rest(l, |rest| rest > 0);
            let before = next.reversed();
            let tweak;
            if K::OPEN {
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
        if K::OPEN {
            // The two differences lie in different bytes.
            let bytes = tail.by_rest(l, |rest| first_bytes(if rest == 0 { 16 } else { rest }));
            tail.wrong = wrong ^ ((tag ^ tail.given[TAG]) & bytes);
        }
    }
}

/// d for a tweak, byte-reversed.
#[inline(always)]
fn mask<K: Keys>(keys: &K, tweak: Wave<K::S>) -> Wave<K::S> {
    let factor = [keys.constant(FACTOR), keys.constant(FACTOR + 1)];
    let mut mask = tweak.reversed();
    for i in 0..Wave::<K::S>::VECTORS {
        let factor = [factor[0].v[i], factor[1].v[i]];
        mask.v[i] = mul_prepared_lanes(mask.l, Order::Ghash, mask.v[i], factor);
    }
    mask
}
