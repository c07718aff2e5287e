//! AES-JAMBU: Wu and Huang, "JAMBU Lightweight Authenticated Encryption Mode and AES-JAMBU",
//! submission to CAESAR, versions 1 to 2.1, whose output is the same. For research.
//!
//! A state of 24 bytes and a call of AES for each 8 bytes of text, one after another: it is the
//! slowest mode for one message, and gains most from lanes. The halves (A, B) of the block lie as
//! the cipher takes them; R lies beside both, in each half of a word.

use sealane_block::{Block, Cpu, Lanes, Tier};

use super::shared::{all_if, by_rest, end_bit, forward, same_rest};
use crate::lanes::head::block_of;
use crate::lanes::tail::load_short;
use crate::lanes::{Data, Facts, Head, KeyMaterial, Keys, Mode, Of, Params, State, Tail, Wave};

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

    fn expand(cpu: Cpu, key: &[u8], params: Params) -> KeyMaterial<Jambu> {
        KeyMaterial::new(params, [forward(cpu, key)])
    }

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
    fn absorb<L: Lanes, const N: usize>(
        keys: &impl Keys<L, N>,
        state: &mut State<Self, L, N>,
        block: Wave<L, N>,
        head: &Head<'_, L, N>,
    ) {
        let l = keys.l();
        if head.index == 0 {
            let first = keys.encrypt(0, block);
            state[MEMORY] = first.upper_halves(first);
            state[BLOCK] = first ^ Wave::splat(l, Block::new(FOR_NONCE));
            return;
        }
        let onto = block ^ state[MEMORY].lower_halves(Wave::zero(l));
        let after = keys.encrypt_onto(0, state[BLOCK], onto);
        state[MEMORY] ^= after.upper_halves(after);
        state[BLOCK] = after;
    }

    #[inline(always)]
    fn body<L: Lanes, const N: usize, const OPEN: bool>(
        keys: &impl Keys<L, N>,
        state: &mut State<Self, L, N>,
        data: &mut impl Data<L, N>,
        _pass: usize,
    ) {
        let l = keys.l();
        let zero = Wave::zero(l);
        let [mut block, mut memory] = *state;
        for unit in 0..data.units() {
            let first = keys.rounds(0, block);
            let given = data.load(l, unit, 0);
            let mut between = keys.last_onto(0, first, memory.lower_halves(given));
            if OPEN {
                between ^= zero.lower_halves(between);
            }
            let second = keys.rounds(0, between);
            // The following work is done beside these rounds, and not before them.
            let between = between.optimization_barrier();
            memory ^= between.upper_halves(between);
            block = keys.last_onto(0, second, memory.upper_halves(given));
            // A is the same before and after a half of the text goes to B.
            data.store(unit, 0, given ^ between.lower_halves(block));
            if OPEN {
                block ^= zero.lower_halves(block);
            }
            memory ^= block.upper_halves(block);
        }
        *state = [block, memory];
    }

    #[inline(always)]
    fn tail<L: Lanes, const N: usize, const OPEN: bool>(
        keys: &impl Keys<L, N>,
        state: &State<Self, L, N>,
        tail: &mut Tail<'_, L, N>,
    ) {
        let l = keys.l();
        let zero = Wave::zero(l);
        let given = tail.given[0];
        let [mut block, mut memory] = *state;
        let mut made = zero;
        let same = same_rest(tail);
        if tail.most >= 8 {
            let some = by_rest(l, tail, same, |rest| all_if(rest >= 8));
            let first = keys.encrypt_onto(0, block, memory.lower_halves(zero));
            made = some & (given ^ first).lower_halves(zero);
            let text = if OPEN { made } else { given };
            let after = first ^ zero.lower_halves(text);
            block = block.unless(some, after);
            memory ^= some & after.upper_halves(after);
        }
        // The rest, fewer than 8 bytes, lies in the half that the text ends in.
        let part = by_rest(l, tail, same, |rest| {
            let bytes = (1u128 << (8 * (rest % 8))) - 1;
            Block::new(bytes << (rest / 8 * 64))
        });
        let last = keys.encrypt_onto(0, block, memory.lower_halves(zero));
        let more = (given ^ last.lower_halves(last)) & part;
        tail.made[0] = made ^ more;
        let text = if OPEN { more } else { given & part };
        let text = text ^ by_rest(l, tail, same, end_bit);
        let after = last ^ zero.lower_halves(text) ^ zero.upper_halves(text);
        memory ^= after.upper_halves(after);

        let onto = memory.lower_halves(zero) ^ Wave::splat(l, Block::new(FOR_TAG));
        let after = keys.encrypt_onto(0, after, onto);
        memory ^= after.upper_halves(after);
        let end = keys.encrypt_onto(0, after, memory.lower_halves(zero));
        tail.tag::<OPEN>(end ^ end.upper_halves(zero));
    }
}
