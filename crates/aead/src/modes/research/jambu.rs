//! AES-JAMBU: Wu and Huang, "JAMBU Lightweight Authenticated Encryption Mode and AES-JAMBU",
//! submission to CAESAR, versions 1 to 2.1, whose output is the same. For research.
//!
//! A state of 24 bytes and a call of AES for each 8 bytes of text, one after another: it is the
//! slowest mode for one message, and gains most from lanes. The halves (A, B) of the block lie as
//! the cipher takes them; R lies beside both, in each half of a word.

use sealane_block::aes::Forward;
use sealane_block::{Block, Tier};

use crate::lanes::head::block_of;
use crate::lanes::tail::load_short;
use crate::lanes::{Data, Facts, Head, Keys, Mode, Of, Params, State, Tail, Wave};

pub(crate) struct Jambu;

/// The halves A and B of the block.
const BLOCK: usize = 0;
/// R, twice.
const MEMORY: usize = 1;

/// Constants of the steps, in byte 0 of A.
const FOR_NONCE: u128 = 5;
const FOR_AD: u128 = 1;
const FOR_TAG: u128 = 3;

impl Mode for Jambu {
    type Schedules = Of<1>;
    type Constants = Of<0>;
    type Words = Of<2>;
    const PARALLEL: bool = false;
    const WIDEST: Tier = Tier::Vaes256;

    /// Returns the blocks of the head: the nonce, then 8 bytes of associated data at a time, always
    /// with some padding.
    fn head_blocks(_params: &Params, message: &Facts<'_>) -> usize {
        2 + message.ad.len() / 8
    }
    #[inline(always)]
    fn head_block(_params: &Params, message: &Facts<'_>, index: usize) -> Block {
        if index == 0 {
            return block_of(message.nonce, 0);
        }
        let left = &message.ad[8 * (index - 1)..];
        let part = load_short(&left[..left.len().min(8)]).value();
        let end = if left.len() < 8 {
            0x80 << (8 * left.len())
        } else {
            0
        };
        Block::new((part | end) << 64 | FOR_AD)
    }

    #[inline(always)]
    fn absorb<K: Keys>(keys: &K, state: &mut State<Self, K::S>, head: &Head<'_, K::S>) {
        let l = keys.l();
        if head.index == 0 {
            let first = keys.encrypt(0, head.block);
            state[MEMORY] = first.upper_halves(first);
            state[BLOCK] = first ^ Wave::splat(l, Block::new(FOR_NONCE));
            return;
        }
        let onto = head.block ^ state[MEMORY].lower_halves(Wave::zero(l));
        let after = keys.encrypt_onto(0, state[BLOCK], onto);
        state[MEMORY] ^= after.upper_halves(after);
        state[BLOCK] = after;
    }

    #[inline(always)]
    fn body<K: Keys, D: Data<K::S>>(keys: &K, state: &mut State<Self, K::S>, data: &mut D) {
        let l = keys.l();
        let zero = Wave::zero(l);
        let [mut block, mut memory] = *state;
        for unit in 0..data.units() {
            let first = keys.rounds::<Forward>(0, block, None);
            let given = data.load(l, unit, 0);
            let lower = memory.lower_halves(given);
            let mut between = keys.last::<Forward>(0, first, Some(&lower));
            if K::OPEN {
                between ^= zero.lower_halves(between);
            }
            let second = keys.rounds::<Forward>(0, between, None);
            // The following work is done beside these rounds, and not before them.
            let between = between.optimization_barrier();
            memory ^= between.upper_halves(between);
            let upper = memory.upper_halves(given);
            block = keys.last::<Forward>(0, second, Some(&upper));
            // A is the same before and after a half of the text goes to B.
            data.store(unit, 0, given ^ between.lower_halves(block));
            if K::OPEN {
                block ^= zero.lower_halves(block);
            }
            memory ^= block.upper_halves(block);
        }
        *state = [block, memory];
    }

    #[inline(always)]
    fn tail<K: Keys>(keys: &K, state: &State<Self, K::S>, tail: &mut Tail<'_, K::S>) {
        let l = keys.l();
        let zero = Wave::zero(l);
        let given = tail.given[0];
        let [mut block, mut memory] = *state;
        let mut made = zero;
        if tail.most >= 8 {
            let some = tail.where_rest(l, |rest| rest >= 8);
            let first = keys.encrypt_onto(0, block, memory.lower_halves(zero));
            made = some & (given ^ first).lower_halves(zero);
            let text = if K::OPEN { made } else { given };
            let after = first ^ zero.lower_halves(text);
            block = block.unless(some, after);
            memory ^= some & after.upper_halves(after);
        }
        // The rest, fewer than 8 bytes, lies in the half that the text ends in.
        let part = tail.by_rest(l, |rest| {
            let bytes = (1u128 << (8 * (rest % 8))) - 1;
            Block::new(bytes << (rest / 8 * 64))
        });
        let last = keys.encrypt_onto(0, block, memory.lower_halves(zero));
        let more = (given ^ last.lower_halves(last)) & part;
        tail.made[0] = made ^ more;
        let text = if K::OPEN { more } else { given & part };
        let text = text ^ tail.end_bit(l, 0);
        let after = last ^ zero.lower_halves(text) ^ zero.upper_halves(text);
        memory ^= after.upper_halves(after);

        let onto = memory.lower_halves(zero) ^ Wave::splat(l, Block::new(FOR_TAG));
        let after = keys.encrypt_onto(0, after, onto);
        memory ^= after.upper_halves(after);
        let end = keys.encrypt_onto(0, after, memory.lower_halves(zero));
        tail.tag::<K>(end ^ end.upper_halves(zero));
    }
}
