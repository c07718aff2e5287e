//! OTR: Minematsu, "Parallelizable Rate-1 Authenticated Encryption from Pseudorandom Functions"
//! (EUROCRYPT 2014), with parallel associated data: version 1, and version 3 of the CAESAR
//! submission.
//!
//! Two blocks at a time go through two rounds of a Feistel network, so that the cipher only ever
//! encrypts. In both versions the mask of the first round doubles from unit to unit. The second
//! round adds a block of the message in version 1, and twice the first mask in version 3. (Version
//! 3 is written as a sum of masks, but 1 and all 3 * 2^j for j below i add up to 2^i.)

use sealane_block::{Block, Cpu, Tier};

use super::shared::{encrypt_late_onto, hash_step, next_masks, times3, times7, times9};
use crate::lanes::head::padded_block_of;
use crate::lanes::keys::aes;
use crate::lanes::{Data, Head, KeyMaterial, Keys, Mode, Of, OneState, Params, State, Tail, Wave};
use crate::modes::ocb3::nonce_block;

pub(crate) struct Otr;

/// Q, the encryption of zero, in polynomial order.
const Q: usize = 0;

/// The first mask of the next unit.
const MASK: usize = 0;
/// In version 1: the difference of the second mask from the first.
const OTHER: usize = 1;
/// The sum of the text's odd blocks. In the head: the mask of the next block of associated data.
const SUM: usize = 2;
/// The hash of associated data.
const AD: usize = 3;

impl Mode for Otr {
    type Schedules = Of<1>;
    type Constants = Of<1>;
    type Words = Of<4>;
    const PARALLEL: bool = true;
    const UNIT: usize = 2;
    const WIDEST: Tier = Tier::Vaes256;

    fn derive(cpu: Cpu, key: &[u8], material: &mut KeyMaterial<Self>) {
        let q = aes(cpu, key).encrypt(Block::ZERO);
        material.constants = [Block::new(q.value().swap_bytes())];
    }

    /// Returns the bytes of the last two blocks, full or not, which are special.
    fn rest(text: usize) -> usize {
        match text {
            0 => 0,
            _ => (text - 1) % 32 + 1,
        }
    }

    fn nonce_block(params: &Params, nonce: &[u8]) -> Block {
        match params.version {
            1 => padded_block_of(nonce, 0),
            _ => nonce_block(params, nonce),
        }
    }

    #[inline(always)]
    fn absorb<K: Keys>(keys: &K, state: &mut State<Self, K::S>, head: &Head<'_, K::S>) {
        let first = keys.params().version == 1;
        let q = keys.constant(Q);
        if head.index == 0 {
            let hidden = keys.encrypt(0, head.block);
            state[OTHER] = hidden;
            state[MASK] = hidden;
            state[SUM] = q;
            if first {
                state[MASK] = hidden.doubled_blocks().doubled_blocks();
                state[SUM] = q.doubled().doubled();
            }
            return;
        }
        let mut mask = state[SUM];
        let end = if first {
            mask ^ q.unless(head.whole, q.doubled())
        } else {
            times3(mask).unless(head.whole, times9(mask))
        };
        let mut sum = state[AD];
        hash_step(keys, [&mut sum, &mut mask], head, end.reversed());
        (state[AD], state[SUM]) = (sum, mask);
    }

    #[inline(always)]
    fn begin<K: Keys>(keys: &K, state: &mut State<Self, K::S>, _head: &Head<'_, K::S>) {
        state[SUM] = Wave::zero(keys.l());
    }

    #[inline(always)]
    fn body<K: Keys, D: Data<K::S>>(keys: &K, state: &mut State<Self, K::S>, data: &mut D) {
        match keys.params().version {
            1 => units::<K, D, false>(keys, state, data),
            _ => units::<K, D, true>(keys, state, data),
        }
    }

    #[inline(always)]
    fn spread<K: Keys>(_keys: &K, state: &OneState<Self, K::S>, _at: u64) -> State<Self, K::S> {
        let (mask, sum) = (
            Wave::doubling(state[MASK].reversed()),
            state[SUM].in_first(),
        );
        [mask, state[OTHER].spread(), sum, state[AD].spread()]
    }
    #[inline(always)]
    fn fold<K: Keys>(_keys: &K, state: &State<Self, K::S>, next: usize) -> OneState<Self, K::S> {
        let (mask, sum) = (state[MASK].pick(next).reversed(), state[SUM].sum());
        [mask, state[OTHER].pick(0), sum, state[AD].pick(0)]
    }

    #[inline(always)]
    fn tail<K: Keys>(keys: &K, state: &State<Self, K::S>, tail: &mut Tail<'_, K::S>) {
        let l = keys.l();
        let [given0, given1, ..] = *tail.given;
        let mask = state[MASK];
        let other = match keys.params().version {
            1 => state[OTHER],
            _ => mask.doubled_blocks(),
        };
        // The rest is one block, or two of which only the second may be short.
        let two = tail.where_rest(l, |rest| rest > 16);
        let any_two = tail.most > 16;
        let (end0, end1) = (tail.end_bit(l, 0), tail.end_bit(l, 1));
        let mut last = mask;
        let mut sum = end0;
        if tail.most > 0 {
            // With one block, the first is a pad. With two, it is the first round, on `left`.
            let mut left = given0 & two;
            if K::OPEN && any_two {
                left ^= keys.encrypt(0, mask ^ other ^ given1 ^ end1) & two;
            }
            let pad = keys.encrypt(0, mask ^ left);
            let made0 = (given0 ^ pad) & tail.text_mask(l, 0);
            let text = if K::OPEN { made0 } else { given0 };
            tail.made[0] = made0;
            sum ^= text;
            if any_two {
                let made1 = (given1 ^ pad) & tail.text_mask(l, 1);
                let padded = end1 ^ if K::OPEN { given1 } else { made1 };
                let made0 = if K::OPEN {
                    left
                } else {
                    keys.encrypt(0, mask ^ other ^ padded) ^ given0
                };
                tail.made[0] = tail.made[0].unless(two, made0);
                tail.made[1] = made1;
                sum = sum.unless(two, pad ^ padded);
                last ^= other & two;
            }
        }
        sum ^= state[SUM];
        let whole = tail.where_rest(l, |rest| rest == 16 || rest == 32);
        let last = last.reversed();
        let last = match keys.params().version {
            1 => times3(last).reversed() ^ (other & whole),
            _ => times9(last).unless(whole, times7(last)).reversed(),
        };
        tail.tag::<K>(keys.encrypt(0, sum ^ last) ^ state[AD]);
    }
}

/// The body of either version.
#[inline(always)]
fn units<K: Keys, D: Data<K::S>, const THIRD: bool>(
    keys: &K,
    state: &mut State<Otr, K::S>,
    data: &mut D,
) {
    let l = keys.l();
    let (mut doubling, mut other, mut sum) = (state[MASK], state[OTHER], state[SUM]);
    for unit in 0..data.units() {
        let [mask, twice] = next_masks::<K::S, D, false>(&mut doubling);
        if THIRD {
            other = twice;
        }
        // Blocks are loaded late and stored early: there are not enough registers to keep them.
        let given0 = data.load(l, unit, 0);
        if K::OPEN {
            let given1 = data.load(l, unit, 1);
            let made0 = keys.encrypt_onto(0, given0 ^ mask ^ other, given1);
            data.store(unit, 0, made0);
            let made1 = encrypt_late_onto(keys, 0, mask, [made0, given0]);
            data.store(unit, 1, made1);
            sum ^= made1;
        } else {
            let given1 = data.load(l, unit, 1);
            sum ^= given1;
            let made0 = keys.encrypt_onto(0, given0 ^ mask, given1);
            data.store(unit, 0, made0);
            let made1 = encrypt_late_onto(keys, 0, mask ^ other, [made0, given0]);
            data.store(unit, 1, made1);
        }
    }
    (state[MASK], state[SUM]) = (doubling, sum);
}
