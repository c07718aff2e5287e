//! AES-128 under keys that serve one block or two: the key schedule in sliced form, and kernels in
//! which it runs beside the rounds.
//!
//! **Column slicing.** The key schedule is a chain through one word: only word 3 of a round key
//! passes through the S-box. Four keys are therefore scheduled together: a vector holds one word of
//! four keys in each lane. One byte shuffle and one *last* AES round with a constant as its key
//! give SubWord(RotWord(w3)) ^ constant of all four.
//!
//! ```text
//!            key 0            words 0 of keys 0 to 3
//! keys  [a0 a1 a2 a3]        [a0 b0 c0 d0]
//!       [b0 b1 b2 b3]  <-->  [a1 b1 c1 d1]   one lane; the others hold keys of their own
//!       [c0 c1 c2 c3]        [a2 b2 c2 d2]
//!       [d0 d1 d2 d3]        [a3 b3 c3 d3]
//! ```
//!
//! **Only last words are computed.** Let `v(r)` be word 3 of round key r and `t(r)` the word that
//! FIPS 197 adds in round r. A round replaces the words by their prefix sums plus `t(r)`, and four
//! prefix sums of four bits cancel, so over GF(2)
//!
//! ```text
//! v(r)   = v(r-4) + t(r)        t(r) = SubWord(RotWord(v(r-1))) + constant(r)
//! word 2 = v(r) + v(r-1)
//! word 1 = v(r) + v(r-2)        = word 3 of round r + word 3 of round r-2
//! word 0                        = word 2 of round r + word 2 of round r-2
//! ```
//!
//! where v(-1), v(-2) and v(-3) are defined by the same equations for round 0. The sum with v(r-4)
//! is the key of the last AES round that makes t(r), so the chain is a shuffle and an AES round
//! long. Words 2 and 3, interleaved, are the upper halves of two round keys; their sums with those
//! of two rounds before are the lower halves. A round of four keys a lane takes 12 instructions:
//! shuffle, AES round, sum, two interleavings to upper halves, two sums to lower halves, four
//! interleavings to round keys, and one sum with a later constant. Four prefix sums and a
//! transposition of words, as FIPS 197 writes them, take 18.
//!
//! Assumption: none, as in [`crate::aes`].

use crate::aes::{Forward, cipher_each, first_each, last_each, round_each};
use crate::lanes::{Pair, Quad, joined, split};
use crate::{Block, Lanes};

/// The state of the schedule of four keys a lane; see the module. The assembly of
/// [`Lanes::fresh_rounds_each`] relies on the order of the fields.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct SlicedKeys<L: Lanes> {
    /// The last words of the keys of this round.
    last: L::V,
    /// For round r, at `r % 4`: the last words of round r-4, plus the constant of round r.
    addends: [L::V; 4],
    /// The upper halves of the keys of round r, at `r % 2`: of this round and the one before.
    upper: [[L::V; 2]; 2],
    /// The lower halves of the keys of this round.
    lower: [L::V; 2],
}

impl<L: Lanes> SlicedKeys<L> {
    /// Slices a quad of keys.
    #[inline(always)]
    pub fn from_keys(l: L, keys: Quad<L>) -> SlicedKeys<L> {
        SlicedKeys::from_words(l, l.transpose_words(keys))
    }

    /// Takes keys whose words the caller has sliced already.
    #[inline(always)]
    pub fn from_words(l: L, [w0, w1, w2, w3]: Quad<L>) -> SlicedKeys<L> {
        let (w01, w12, w13, w23) = (l.xor(w0, w1), l.xor(w1, w2), l.xor(w1, w3), l.xor(w2, w3));
        let c = &ROUND_CONSTANTS;
        SlicedKeys {
            last: w3,
            addends: [
                l.xor(w3, l.splat(c[4])),
                l.xor(l.xor(w01, w23), l.splat(c[1])),
                l.xor(w13, l.splat(c[2])),
                l.xor(w23, l.splat(c[3])),
            ],
            upper: [interleave(l, w2, w3), interleave(l, w12, w23)],
            lower: interleave(l, w0, w1),
        }
    }

    /// Advances from the keys of round `round - 1` to the keys of `round`, 1 to 10.
    #[inline(always)]
    pub fn advance(&mut self, l: L, round: usize) {
        let last = l.aes_last(l.rotate_words(self.last), self.addends[round % 4]);
        let word2 = l.xor(last, self.last);
        self.addends[round % 4] = l.xor(last, l.splat(ROUND_CONSTANTS[round + 4]));
        self.last = last;
        let [low, high] = interleave(l, word2, last);
        let before = self.upper[round % 2];
        self.lower = [l.xor(low, before[0]), l.xor(high, before[1])];
        self.upper[round % 2] = [low, high];
    }

    /// The keys of round `round`, to which the schedule has advanced, as a quad of blocks.
    #[inline(always)]
    pub fn keys(&self, l: L, round: usize) -> Quad<L> {
        let ([low0, low1], [high0, high1]) = (self.lower, self.upper[round % 2]);
        [
            l.zip_lo64(low0, high0),
            l.zip_hi64(low0, high0),
            l.zip_lo64(low1, high1),
            l.zip_hi64(low1, high1),
        ]
    }
}

/// The words of `a` and of `b`, alternating.
#[inline(always)]
fn interleave<L: Lanes>(l: L, a: L::V, b: L::V) -> [L::V; 2] {
    [l.zip_lo32(a, b), l.zip_hi32(a, b)]
}

/// Ciphers under fresh keys: schedules that run beside the rounds, with no round keys in memory.
///
/// Two quads of vectors are encrypted at a time, as many as keep the AES units busy. In the
/// buffer are the state of the schedules, and the inputs, because sixteen registers hold eight
/// vectors and what a schedule needs, and no more.
#[repr(C)]
pub struct FreshCipher<L: Lanes> {
    schedules: [SlicedKeys<L>; 2],
    inputs: Pair<L>,
}

impl<L: Lanes> FreshCipher<L> {
    /// Allocates a buffer; a kernel makes one and uses it repeatedly.
    #[inline(always)]
    pub fn new(l: L) -> FreshCipher<L> {
        let zero = [l.splat(Block::ZERO); 4];
        FreshCipher {
            schedules: [SlicedKeys {
                last: zero[0],
                addends: zero,
                upper: [[zero[0]; 2]; 2],
                lower: [zero[0]; 2],
            }; 2],
            inputs: [zero; 2],
        }
    }

    /// Encrypts two quads, block by block under the keys of two schedules.
    #[inline(always)]
    pub fn encrypt_each(
        &mut self,
        l: L,
        schedules: [SlicedKeys<L>; 2],
        blocks: Pair<L>,
    ) -> Pair<L> {
        let keys = [schedules[0].keys(l, 0), schedules[1].keys(l, 0)];
        self.schedules = schedules;
        let mut states = begin(l, blocks, keys);
        l.fresh_rounds_each(&mut states, &mut self.schedules);
        split(states)
    }

    /// As [`encrypt_each`](FreshCipher::encrypt_each), with the inputs added to the outputs.
    #[inline(always)]
    pub fn feed_forward_each(
        &mut self,
        l: L,
        schedules: [SlicedKeys<L>; 2],
        blocks: Pair<L>,
    ) -> Pair<L> {
        self.inputs = blocks;
        let [low, high] = self.encrypt_each(l, schedules, blocks);
        [
            l.xor_quad(low, self.inputs[0]),
            l.xor_quad(high, self.inputs[1]),
        ]
    }
}

impl<L: Lanes> FreshCipher<L> {
    /// Encrypts a quad, and the same quad with `delta` added, under the keys of one schedule, and
    /// adds inputs to outputs. Returns the results without `delta`, and the sums of both.
    #[inline(always)]
    pub fn feed_forward_and_sum(
        &mut self,
        l: L,
        schedule: SlicedKeys<L>,
        blocks: Quad<L>,
        delta: L::V,
    ) -> Pair<L> {
        self.inputs[0] = blocks;
        self.schedules[0] = schedule;
        let [s0, s1, s2, s3] = l.xor_quad(blocks, schedule.keys(l, 0));
        let mut states = [s0, s1, s2, s3, s0, s1, s2, s3];
        for i in 4..8 {
            states[i] = l.xor(states[i], delta);
        }
        l.fresh_rounds_shared(&mut states, &mut self.schedules[0]);
        let [zero, mut sum] = split(states);
        for m in 0..4 {
            sum[m] = l.xor(l.xor(sum[m], zero[m]), delta);
        }
        [l.xor_quad(zero, self.inputs[0]), sum]
    }
}

/// Adds the first round keys to two quads.
#[inline(always)]
fn begin<L: Lanes>(l: L, blocks: Pair<L>, keys: Pair<L>) -> [L::V; 8] {
    let [low, high] = blocks;
    joined([l.xor_quad(low, keys[0]), l.xor_quad(high, keys[1])])
}

/// The body of [`Lanes::fresh_rounds_each`].
#[inline(always)]
pub(crate) fn rounds_each<L: Lanes>(
    l: L,
    states: &mut [L::V; 8],
    schedules: &mut [SlicedKeys<L>; 2],
) {
    for round in 1..=10 {
        schedules[0].advance(l, round);
        schedules[1].advance(l, round);
        let keys = [schedules[0].keys(l, round), schedules[1].keys(l, round)];
        one_round(l, states, keys, round);
    }
}

/// The body of [`Lanes::fresh_rounds_shared`].
#[inline(always)]
pub(crate) fn rounds_shared<L: Lanes>(l: L, states: &mut [L::V; 8], schedule: &mut SlicedKeys<L>) {
    for round in 1..=10 {
        schedule.advance(l, round);
        let keys = schedule.keys(l, round);
        one_round(l, states, [keys, keys], round);
    }
}

#[inline(always)]
fn one_round<L: Lanes>(l: L, states: &mut [L::V; 8], keys: Pair<L>, round: usize) {
    for i in 0..8 {
        let key = keys[i / 4][i % 4];
        states[i] = match round {
            10 => l.aes_last(states[i], key),
            _ => l.aes_round(states[i], key),
        };
    }
}

/// Buffer for the round keys of two quads of keys: eight vectors, as many as keep the AES units
/// busy.
///
/// For keys that serve several blocks, or are computed before their blocks are known; otherwise
/// [`FreshCipher`] is faster. The keys are kept in the first-level cache (up to 5.5 KiB).
pub struct FreshKeys<L: Lanes> {
    round_keys: [[L::V; 8]; 11],
}

impl<L: Lanes> FreshKeys<L> {
    /// Allocates a buffer; a kernel makes one and expands keys into it repeatedly.
    #[inline(always)]
    pub fn new(l: L) -> FreshKeys<L> {
        FreshKeys {
            round_keys: [[l.splat(Block::ZERO); 8]; 11],
        }
    }

    /// Expands two quads of sliced keys.
    #[inline(always)]
    pub fn expand(&mut self, l: L, sliced: [SlicedKeys<L>; 2]) {
        let [mut low, mut high] = sliced;
        self.round_keys[0] = joined([low.keys(l, 0), high.keys(l, 0)]);
        for round in 1..=10 {
            low.advance(l, round);
            high.advance(l, round);
            self.round_keys[round] = joined([low.keys(l, round), high.keys(l, round)]);
        }
    }

    /// Expands two quads of keys.
    #[inline(always)]
    pub fn expand_keys(&mut self, l: L, keys: Pair<L>) {
        let [low, high] = keys;
        let low = SlicedKeys::from_keys(l, low);
        self.expand(l, [low, SlicedKeys::from_keys(l, high)]);
    }

    /// Encrypts two quads, block by block under these keys.
    #[inline(always)]
    pub fn encrypt(&self, l: L, blocks: Pair<L>) -> Pair<L> {
        let mut states = joined(blocks);
        cipher_each::<L, Forward, 8>(l, &self.round_keys, &mut states);
        split(states)
    }

    /// Encrypts single vectors, each under the keys at its column: vector `m` of the first quad has
    /// column `m`, of the second `4 + m`. For chains of calls, each of which waits for the one
    /// before.
    #[inline(always)]
    pub fn encrypt_some<const N: usize>(
        &self,
        l: L,
        columns: [usize; N],
        blocks: [L::V; N],
    ) -> [L::V; N] {
        let keys = |round: usize| columns.map(|column| self.round_keys[round][column]);
        let mut states = blocks;
        first_each(l, &mut states, &keys(0), None);
        for round in 1..10 {
            round_each::<L, Forward, N>(l, &mut states, &keys(round));
        }
        last_each::<L, Forward, N>(l, &mut states, &keys(10), None);
        states
    }
}

/// FIPS 197, section 5.2: the round constants, in every word. Entry 0 is unused, and those behind
/// round 10 are 0: a schedule adds the constant of a round four rounds before.
pub(crate) const ROUND_CONSTANTS: [Block; 15] = {
    let mut constants = [Block::ZERO; 15];
    let mut value: u32 = 1;
    let mut round = 1;
    while round <= 10 {
        constants[round] = Block::from_word(value);
        value = (value << 1) ^ if value & 0x80 != 0 { 0x11b } else { 0 };
        round += 1;
    }
    constants
};
