//! Hashes of wire labels from AES, and the assumption of each.
//!
//! With sigma(xL || xR) = (xL ^ xR) || xL, a linear orthomorphism, pi an AES under the instance's
//! public seed S, and t the [`Tweak`], of which none is used twice within a seed:
//!
//! | hash | H(x, t) | AES | key schedules | assumption |
//! |---|---|---|---|---|
//! | [`Prp`] | pi(sigma(x) ^ t) ^ sigma(x) | 1 | 0 | pi is a random permutation (paper 1, 7.3) |
//! | [`Tccr`] | pi(pi(x) ^ t) ^ pi(x) | 2 | 0 | pi is a random permutation (paper 1, 7.4) |
//! | [`Circ`] | AES_x(S ^ t) | 1 | 1 | AES is secure under circular and related keys (paper 3) |
//! | [`Mi`] | AES_(S ^ t)(sigma(x)) ^ sigma(x) | 1 | 1 | AES is an ideal cipher (paper 2) |
//!
//! [`BitHash`] gives one bit of a hash like the first, with a key for every 128 rows.
//!
//! 1. Guo, Katz, Wang, Yu: "Efficient and Secure Multiparty Computation from Fixed-Key Block
//!    Ciphers", IEEE S&P 2020.
//! 2. Guo, Katz, Wang, Weng, Yu: "Better Concrete Security for Half-Gates Garbling (in the
//!    Multi-Instance Setting)", Crypto 2020.
//! 3. Choi, Katz, Kumaresan, Zhou: "On the Security of the Free-XOR Technique", TCC 2012.
//!
//! The advantage against the first two grows with work times the number of gates garbled under one
//! key, over all instances that share it. MI gives every tweak a key of its own, and the public
//! seed S moves the keys of every instance to a fresh place, so its bound depends on how often
//! *one* key is used (twice here), not on the total. It requires that seeds are fresh random
//! blocks.
//!
//! Without sigma a one-call hash under a fixed key is broken for free XOR: the offset cancels
//! wherever a permute bit is set. A test of crate `garble` mounts that attack on all four.

use crate::aes::{self, Aes128, Forward};
use crate::fresh::{FreshCipher, FreshKeys, SlicedKeys};
use crate::lanes::{Pair, Quad};
use crate::{Block, Cpu, GROUP, Kernel, Lanes};
use zeroize::Zeroize;

mod bits;
mod each;

pub use bits::BitHash;

/// The tweak of a hash, which separates it from all others under the same seed: tweaks that differ
/// have blocks that differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tweak {
    /// The number of the gate in its circuit.
    pub gate: u32,
    /// The number of the call, of the circuit or of a decoding: below 2^52.
    pub call: u64,
    /// The row (lane) of the call.
    pub row: u32,
    /// Number of the hash within the gate: below 4096. Between two parties it is below 16, which
    /// leaves as many for the shares of each of 256 parties.
    pub part: u32,
}

/// Bits of the number of a part.
const PART_BITS: u32 = 12;

/// Parts of a gate: 16 for each of 256 parties, since garbling among `n` parties hashes the labels
/// of a row once for each of them (Wang, Ranellucci and Katz, "Global-Scale Secure Multiparty
/// Computation", CCS 2017, section 4).
const PARTS: u32 = 1 << PART_BITS;

/// Calls that have a number.
const CALLS: u64 = 1 << (64 - PART_BITS);

impl Tweak {
    /// Refuses numbers that do not fit the block, for this row and those behind it: two hashes
    /// would share a tweak. Callers that set tweaks for many rows call it once.
    ///
    /// # Panics
    /// If a number is out of its bounds.
    pub const fn check(self, rows: usize) {
        assert!(self.call < CALLS, "a seed serves 2^52 calls");
        assert!(self.part < PARTS, "a gate has 4096 parts");
        assert!(
            rows as u64 <= (1 << 32) - self.row as u64,
            "a call has 2^32 rows"
        );
    }

    /// Packs the numbers into the words of a block: gate, the lower word of the call, row, and in
    /// the last word the part below the rest of the call.
    #[inline]
    pub const fn block(self) -> Block {
        debug_assert!(self.call < CALLS && self.part < PARTS);
        let low = self.gate as u128 | (((self.call as u32) as u128) << 32);
        let high = self.row as u64 | ((high_word(self.call) | self.part) as u64) << 32;
        Block::new(low | (high as u128) << 64)
    }
}

/// Counter of the calls under one seed; each number is given once.
#[derive(Debug, Default)]
pub struct Calls(u64);

impl Calls {
    /// Returns the number of the next call, without taking it.
    pub fn next(&self) -> u64 {
        self.0
    }

    /// Takes the number of a call, which no other call gets.
    ///
    /// # Panics
    /// If all 2^52 have been given: the next one would have the tweaks of the first.
    pub fn take(&mut self) -> u64 {
        assert!(self.0 < CALLS, "a seed serves 2^52 calls");
        self.0 += 1;
        self.0 - 1
    }
}

/// Returns the bits of a call's number that go into the word of parts.
#[inline]
const fn high_word(call: u64) -> u32 {
    ((call >> 32) as u32) << PART_BITS
}

/// A hash of labels, with the state that it derives from the public seed.
pub trait LabelHash: Clone + Zeroize + Send + Sync + 'static {
    /// The form of the hash inside a kernel.
    type Lanes<L: Lanes>: HashLanes<L>;
    /// Number of labels below which hashing vector by vector under [precomputed
    /// keys](HashLanes::precompute_keys) is faster than hashing whole quads; measured. 0 where the
    /// keys are labels.
    const MAX_PRECOMPUTED: usize;
    /// Creates the hash of the instance with this public seed.
    fn new(cpu: Cpu, seed: Block) -> Self;
    /// Brings the hash into registers.
    fn lanes<L: Lanes>(&self, l: L) -> Self::Lanes<L>;

    /// Replaces block `i` by its hash under the tweak `first` with the row `first.row + i`.
    ///
    /// # Panics
    /// If a number of a tweak is out of its bounds: see [`Tweak::check`].
    fn hash(&self, cpu: Cpu, first: Tweak, blocks: &mut [Block]);
}

/// The body of [`LabelHash::hash`]. Every hash calls it, so that its kernels are compiled in this
/// crate.
fn hash_rows<H: LabelHash>(hash: &H, cpu: Cpu, first: Tweak, blocks: &mut [Block]) {
    first.check(blocks.len());
    cpu.run(HashRows {
        hash,
        first,
        blocks,
    });
}

/// The tweaks of a quad of labels, without parts, and their part.
pub type Tweaked<L> = (Quad<L>, u32);

/// The form of [`LabelHash`] inside a kernel: two quads at a time, as many as keep the AES units
/// busy. Each hash chooses the form in which it holds tweaks; most hold blocks.
pub trait HashLanes<L: Lanes> {
    /// Returns the tweaks, without parts, of one gate on neighbouring rows, of which the first is a
    /// multiple of [`Lanes::QUAD`].
    #[inline(always)]
    fn row_tweaks(&self, l: L, gate: u32, call: u64, first_row: u32) -> Quad<L> {
        row_tweak_blocks(l, gate, call, first_row)
    }
    /// Loads tweaks from memory, as [`Tweak::block`] of part 0.
    #[inline(always)]
    fn pair_tweaks(&self, l: L, tweaks: &[Block]) -> Quad<L> {
        l.load_quad(tweaks)
    }
    /// Hashes two quads of labels, each with its tweaks and part.
    fn hash_one(&mut self, l: L, tweaks: [Tweaked<L>; 2], labels: Pair<L>) -> Pair<L>;
    /// Hashes a quad of labels and the same labels with `delta` added, side by side: returns the
    /// hashes without `delta`, and the sums of both. One quad at a time, so that a caller's
    /// equations on one operand run beside the hashes of the next.
    fn hash_and_sum(&mut self, l: L, tweak: Tweaked<L>, delta: L::V, labels: Quad<L>) -> Pair<L>;

    /// Computes the keys of these tweaks, before any label is known.
    /// [`HashLanes::hash_precomputed`] and [`HashLanes::hash_both_precomputed`] may then be called
    /// vector by vector, until any other method is called. Most hashes have no keys of tweaks.
    #[inline(always)]
    fn precompute_keys(&mut self, _l: L, _tweaks: [Tweaked<L>; 2]) {}
    /// Hashes the labels at vector `m` of the two quads whose keys are precomputed; `tweaks` are
    /// the same tweaks, as blocks with their parts.
    fn hash_precomputed(
        &mut self,
        l: L,
        m: usize,
        tweaks: [L::V; 2],
        labels: [L::V; 2],
    ) -> [L::V; 2];
    /// Hashes the same labels, then with `delta` added.
    fn hash_both_precomputed(
        &mut self,
        l: L,
        m: usize,
        tweaks: [L::V; 2],
        delta: L::V,
        labels: [L::V; 2],
    ) -> [[L::V; 2]; 2];
}

/// One AES under the seed: the cheapest hash, with the weakest bound over many gates.
#[derive(Clone, Zeroize)]
pub struct Prp {
    round_keys: [Block; 11],
}

/// Two AES under the seed: tweakable circular correlation robust.
#[derive(Clone, Zeroize)]
pub struct Tccr {
    round_keys: [Block; 11],
}

/// The hash whose AES key is the label. The seed moves the input to a fresh place in every
/// instance, so that no key search applies to two instances.
#[derive(Clone, Zeroize)]
pub struct Circ {
    seed: Block,
}

/// The multi-instance hash: a fresh AES key, seed ^ tweak, for every gate, row and part.
#[derive(Clone, Zeroize)]
pub struct Mi {
    seed: Block,
}

impl LabelHash for Prp {
    type Lanes<L: Lanes> = Prp;
    const MAX_PRECOMPUTED: usize = 4;

    #[inline]
    fn new(cpu: Cpu, seed: Block) -> Prp {
        Prp {
            round_keys: *Aes128::new(cpu, seed).round_keys(),
        }
    }

    fn hash(&self, cpu: Cpu, first: Tweak, blocks: &mut [Block]) {
        hash_rows(self, cpu, first, blocks);
    }

    #[inline(always)]
    fn lanes<L: Lanes>(&self, _: L) -> Prp {
        self.clone()
    }
}

/// Tweaks include the first round key, which is then added to none of the hashed blocks.
impl<L: Lanes> HashLanes<L> for Prp {
    #[inline(always)]
    fn row_tweaks(&self, l: L, gate: u32, call: u64, first_row: u32) -> Quad<L> {
        row_blocks(l, gate, call, first_row, self.round_keys[0])
    }
    #[inline(always)]
    fn pair_tweaks(&self, l: L, tweaks: &[Block]) -> Quad<L> {
        add_to_quad(l, l.load_quad(tweaks), l.splat(self.round_keys[0]))
    }
    #[inline(always)]
    fn hash_one(&mut self, l: L, tweaks: [Tweaked<L>; 2], labels: Pair<L>) -> Pair<L> {
        let sigma = sigma_pair(l, labels);
        let begun = xor_pair(l, sigma, tweak_blocks(l, tweaks));
        let last = l.splat(self.round_keys[10]);
        xor_pair(l, finish_pair(l, &self.round_keys, begun, [last; 2]), sigma)
    }
    #[inline(always)]
    fn hash_and_sum(&mut self, l: L, tweak: Tweaked<L>, delta: L::V, labels: Quad<L>) -> Pair<L> {
        let sigma = sigma_quad(l, labels);
        let begun = l.xor_quad(sigma, tweak_quad(l, tweak));
        // sigma is linear, so the other label takes one addition before the cipher, and another
        // behind it, which goes with the last round key.
        let delta = l.sigma(delta);
        let last = l.splat(self.round_keys[10]);
        let both = [begun, add_to_quad(l, begun, delta)];
        let lasts = [last, l.xor(last, delta)];
        let [zero, one] = finish_pair(l, &self.round_keys, both, lasts);
        [l.xor_quad(zero, sigma), l.xor_quad(zero, one)]
    }
    #[inline(always)]
    fn hash_precomputed(
        &mut self,
        l: L,
        _: usize,
        tweaks: [L::V; 2],
        labels: [L::V; 2],
    ) -> [L::V; 2] {
        let sigma = labels.map(|label| l.sigma(label));
        feed_forward_some(l, &self.round_keys, sigma, tweaks)
    }
    #[inline(always)]
    fn hash_both_precomputed(
        &mut self,
        l: L,
        _: usize,
        tweaks: [L::V; 2],
        delta: L::V,
        labels: [L::V; 2],
    ) -> [[L::V; 2]; 2] {
        let [a, b] = labels.map(|label| l.sigma(label));
        let delta = l.sigma(delta);
        let all = [a, b, l.xor(a, delta), l.xor(b, delta)];
        let [t, u] = tweaks;
        let [a0, b0, a1, b1] = feed_forward_some(l, &self.round_keys, all, [t, u, t, u]);
        [[a0, b0], [a1, b1]]
    }
}

impl LabelHash for Tccr {
    type Lanes<L: Lanes> = Tccr;
    const MAX_PRECOMPUTED: usize = 4;

    #[inline]
    fn new(cpu: Cpu, seed: Block) -> Tccr {
        let Prp { round_keys } = Prp::new(cpu, seed);
        Tccr { round_keys }
    }

    fn hash(&self, cpu: Cpu, first: Tweak, blocks: &mut [Block]) {
        hash_rows(self, cpu, first, blocks);
    }

    #[inline(always)]
    fn lanes<L: Lanes>(&self, _: L) -> Tccr {
        self.clone()
    }
}

impl Tccr {
    /// Hashes labels to which the first round key has been added.
    #[inline(always)]
    fn finish<L: Lanes>(&self, l: L, tweaks: Pair<L>, begun: Pair<L>) -> Pair<L> {
        let lasts = [l.splat(self.round_keys[10]); 2];
        let once = finish_pair(l, &self.round_keys, begun, lasts);
        let tweaked = xor_pair(l, once, tweaks);
        xor_pair(l, finish_pair(l, &self.round_keys, tweaked, lasts), once)
    }
}

/// Tweaks include the first round key, as those of [`Prp`].
impl<L: Lanes> HashLanes<L> for Tccr {
    #[inline(always)]
    fn row_tweaks(&self, l: L, gate: u32, call: u64, first_row: u32) -> Quad<L> {
        row_blocks(l, gate, call, first_row, self.round_keys[0])
    }
    #[inline(always)]
    fn pair_tweaks(&self, l: L, tweaks: &[Block]) -> Quad<L> {
        add_to_quad(l, l.load_quad(tweaks), l.splat(self.round_keys[0]))
    }
    #[inline(always)]
    fn hash_one(&mut self, l: L, tweaks: [Tweaked<L>; 2], labels: Pair<L>) -> Pair<L> {
        let begun = add_to_pair(l, labels, l.splat(self.round_keys[0]));
        self.finish(l, tweak_blocks(l, tweaks), begun)
    }
    #[inline(always)]
    fn hash_and_sum(&mut self, l: L, tweak: Tweaked<L>, delta: L::V, labels: Quad<L>) -> Pair<L> {
        let begun = add_to_quad(l, labels, l.splat(self.round_keys[0]));
        let both = [begun, add_to_quad(l, begun, delta)];
        let [zero, one] = self.finish(l, [tweak_quad(l, tweak); 2], both);
        [zero, l.xor_quad(zero, one)]
    }
    #[inline(always)]
    fn hash_precomputed(
        &mut self,
        l: L,
        _: usize,
        tweaks: [L::V; 2],
        labels: [L::V; 2],
    ) -> [L::V; 2] {
        let once = aes::encrypt_some(l, &self.round_keys, labels);
        feed_forward_some(l, &self.round_keys, once, tweaks)
    }
    #[inline(always)]
    fn hash_both_precomputed(
        &mut self,
        l: L,
        _: usize,
        tweaks: [L::V; 2],
        delta: L::V,
        labels: [L::V; 2],
    ) -> [[L::V; 2]; 2] {
        let [a, b] = labels;
        let all = [a, b, l.xor(a, delta), l.xor(b, delta)];
        let once = aes::encrypt_some(l, &self.round_keys, all);
        let [t, u] = tweaks;
        let [a0, b0, a1, b1] = feed_forward_some(l, &self.round_keys, once, [t, u, t, u]);
        [[a0, b0], [a1, b1]]
    }
}

/// The form of [`Circ`] inside a kernel.
pub struct CircLanes<L: Lanes> {
    seed: L::V,
    cipher: FreshCipher<L>,
}

impl Mi {
    /// Fills pair `i` with the hashes of row `i` and of that row with `delta` added, both under the
    /// tweak `first` with the row `first.row + i`.
    ///
    /// # Panics
    /// If a number of a tweak is out of its bounds, or there is not a pair for each row.
    pub fn hash_pairs(
        &self,
        cpu: Cpu,
        first: Tweak,
        delta: Block,
        rows: &[Block],
        pairs: &mut [[Block; 2]],
    ) {
        first.check(rows.len());
        assert_eq!(rows.len(), pairs.len(), "a pair for each row");
        cpu.run(HashPairs {
            hash: self,
            first,
            delta,
            rows,
            pairs,
        });
    }
}

impl Mi {
    /// Replaces each block by its hash under a tweak of its own, given as [`Tweak::block`].
    ///
    /// # Panics
    /// If there is not a tweak for each block.
    pub fn hash_each(&self, cpu: Cpu, tweaks: &[Block], blocks: &mut [Block]) {
        assert_eq!(tweaks.len(), blocks.len(), "a tweak for each block");
        cpu.run(each::HashEach {
            hash: self,
            tweaks,
            blocks,
        });
    }
}

impl LabelHash for Circ {
    type Lanes<L: Lanes> = CircLanes<L>;
    const MAX_PRECOMPUTED: usize = 0;

    #[inline]
    fn new(_: Cpu, seed: Block) -> Circ {
        Circ { seed }
    }

    fn hash(&self, cpu: Cpu, first: Tweak, blocks: &mut [Block]) {
        hash_rows(self, cpu, first, blocks);
    }

    #[inline(always)]
    fn lanes<L: Lanes>(&self, l: L) -> CircLanes<L> {
        CircLanes {
            seed: l.splat(self.seed),
            cipher: FreshCipher::new(l),
        }
    }
}

impl<L: Lanes> HashLanes<L> for CircLanes<L> {
    #[inline(always)]
    fn hash_one(&mut self, l: L, tweaks: [Tweaked<L>; 2], labels: Pair<L>) -> Pair<L> {
        let [low, high] = labels;
        let schedules = [
            SlicedKeys::from_keys(l, low),
            SlicedKeys::from_keys(l, high),
        ];
        let inputs = add_to_pair(l, tweak_blocks(l, tweaks), self.seed);
        self.cipher.encrypt_each(l, schedules, inputs)
    }
    #[inline(always)]
    fn hash_and_sum(&mut self, l: L, tweak: Tweaked<L>, delta: L::V, labels: Quad<L>) -> Pair<L> {
        let both = [labels, add_to_quad(l, labels, delta)];
        let [zero, one] = self.hash_one(l, [tweak; 2], both);
        [zero, l.xor_quad(zero, one)]
    }
    #[inline(always)]
    fn hash_precomputed(
        &mut self,
        l: L,
        _: usize,
        tweaks: [L::V; 2],
        labels: [L::V; 2],
    ) -> [L::V; 2] {
        let tweaks = tweaks.map(|tweak| ([tweak; 4], 0));
        let [low, high] = self.hash_one(l, tweaks, labels.map(|label| [label; 4]));
        [low[0], high[0]]
    }
    #[inline(always)]
    fn hash_both_precomputed(
        &mut self,
        l: L,
        m: usize,
        tweaks: [L::V; 2],
        delta: L::V,
        labels: [L::V; 2],
    ) -> [[L::V; 2]; 2] {
        let other = labels.map(|label| l.xor(label, delta));
        [
            self.hash_precomputed(l, m, tweaks, labels),
            self.hash_precomputed(l, m, tweaks, other),
        ]
    }
}

/// The form of [`Mi`] inside a kernel.
pub struct MiLanes<L: Lanes> {
    seed_words: Quad<L>,
    cipher: FreshCipher<L>,
    /// Keys that are computed before their labels.
    keys: FreshKeys<L>,
}

impl LabelHash for Mi {
    type Lanes<L: Lanes> = MiLanes<L>;
    const MAX_PRECOMPUTED: usize = 8;

    #[inline]
    fn new(_: Cpu, seed: Block) -> Mi {
        Mi { seed }
    }

    fn hash(&self, cpu: Cpu, first: Tweak, blocks: &mut [Block]) {
        hash_rows(self, cpu, first, blocks);
    }

    #[inline(always)]
    fn lanes<L: Lanes>(&self, l: L) -> MiLanes<L> {
        let [w0, w1, w2, w3] = self.seed.words();
        MiLanes {
            seed_words: [
                l.splat_word(w0),
                l.splat_word(w1),
                l.splat_word(w2),
                l.splat_word(w3),
            ],
            cipher: FreshCipher::new(l),
            keys: FreshKeys::new(l),
        }
    }
}

impl<L: Lanes> MiLanes<L> {
    #[inline(always)]
    fn key(&self, l: L, ([gate, call, row, last], part): Tweaked<L>) -> SlicedKeys<L> {
        let [s0, s1, s2, s3] = self.seed_words;
        SlicedKeys::from_words(
            l,
            [
                l.xor(s0, gate),
                l.xor(s1, call),
                l.xor(s2, row),
                l.xor(s3, l.xor(last, l.splat_word(part))),
            ],
        )
    }
}

/// Tweaks are sliced like the words of keys, because the keys are made sliced.
impl<L: Lanes> HashLanes<L> for MiLanes<L> {
    /// Returns the words of the tweaks, sliced like those of keys, because the keys are made
    /// sliced.
    #[inline(always)]
    fn row_tweaks(&self, l: L, gate: u32, call: u64, first_row: u32) -> Quad<L> {
        let row = l.xor(l.splat_word(first_row), l.load(&L::SLICED_NUMBERS));
        let (low, high) = (l.splat_word(call as u32), l.splat_word(high_word(call)));
        [l.splat_word(gate), low, row, high]
    }
    #[inline(always)]
    fn pair_tweaks(&self, l: L, tweaks: &[Block]) -> Quad<L> {
        l.transpose_words(l.load_quad(tweaks))
    }
    #[inline(always)]
    fn hash_one(&mut self, l: L, tweaks: [Tweaked<L>; 2], labels: Pair<L>) -> Pair<L> {
        let schedules = [self.key(l, tweaks[0]), self.key(l, tweaks[1])];
        let sigma = sigma_pair(l, labels);
        self.cipher.feed_forward_each(l, schedules, sigma)
    }
    #[inline(always)]
    fn hash_and_sum(&mut self, l: L, tweak: Tweaked<L>, delta: L::V, labels: Quad<L>) -> Pair<L> {
        let (schedule, sigma) = (self.key(l, tweak), sigma_quad(l, labels));
        let delta = l.sigma(delta);
        self.cipher.feed_forward_and_sum(l, schedule, sigma, delta)
    }
    #[inline(always)]
    fn precompute_keys(&mut self, l: L, tweaks: [Tweaked<L>; 2]) {
        let [low, high] = [self.key(l, tweaks[0]), self.key(l, tweaks[1])];
        self.keys.expand(l, [low, high]);
    }
    #[inline(always)]
    fn hash_precomputed(&mut self, l: L, m: usize, _: [L::V; 2], labels: [L::V; 2]) -> [L::V; 2] {
        let sigma = labels.map(|label| l.sigma(label));
        let [a, b] = self.keys.encrypt_some(l, [m, 4 + m], sigma);
        [l.xor(a, sigma[0]), l.xor(b, sigma[1])]
    }
    #[inline(always)]
    fn hash_both_precomputed(
        &mut self,
        l: L,
        m: usize,
        _: [L::V; 2],
        delta: L::V,
        labels: [L::V; 2],
    ) -> [[L::V; 2]; 2] {
        let [a, b] = labels.map(|label| l.sigma(label));
        let delta = l.sigma(delta);
        let all = [a, b, l.xor(a, delta), l.xor(b, delta)];
        let [a0, b0, a1, b1] = self.keys.encrypt_some(l, [m, 4 + m, m, 4 + m], all);
        [
            [l.xor(a0, all[0]), l.xor(b0, all[1])],
            [l.xor(a1, all[2]), l.xor(b1, all[3])],
        ]
    }
}

/// Returns the blocks of [`HashLanes::row_tweaks`].
#[inline(always)]
pub fn row_tweak_blocks<L: Lanes>(l: L, gate: u32, call: u64, first_row: u32) -> Quad<L> {
    row_blocks(l, gate, call, first_row, Block::ZERO)
}

/// Returns the same blocks, with a constant added.
#[inline(always)]
fn row_blocks<L: Lanes>(l: L, gate: u32, call: u64, first_row: u32, constant: Block) -> Quad<L> {
    let tweak = Tweak {
        gate,
        call,
        row: first_row,
        part: 0,
    };
    let first = l.splat(tweak.block() ^ constant);
    let mut quad = [first; 4];
    for m in 0..4 {
        quad[m] = l.xor(first, l.load(&ROW_NUMBERS[m * L::WIDTH..]));
    }
    quad
}

/// The blocks that hold `i` in the word of rows.
const ROW_NUMBERS: [Block; GROUP] = {
    let mut numbers = [Block::ZERO; GROUP];
    let mut i = 0;
    while i < GROUP {
        numbers[i] = Block::new((i as u128) << 64);
        i += 1;
    }
    numbers
};

/// Adds parts to the tweaks of two quads.
#[inline(always)]
pub fn tweak_blocks<L: Lanes>(l: L, tweaks: [Tweaked<L>; 2]) -> Pair<L> {
    [tweak_quad(l, tweaks[0]), tweak_quad(l, tweaks[1])]
}

#[inline(always)]
fn tweak_quad<L: Lanes>(l: L, (tweak, part): Tweaked<L>) -> Quad<L> {
    add_to_quad(l, tweak, l.splat(Block::new((part as u128) << 96)))
}

#[inline(always)]
fn sigma_pair<L: Lanes>(l: L, labels: Pair<L>) -> Pair<L> {
    [sigma_quad(l, labels[0]), sigma_quad(l, labels[1])]
}

#[inline(always)]
fn sigma_quad<L: Lanes>(l: L, labels: Quad<L>) -> Quad<L> {
    let mut sigma = labels;
    for m in 0..4 {
        sigma[m] = l.sigma(labels[m]);
    }
    sigma
}

#[inline(always)]
fn add_to_pair<L: Lanes>(l: L, pair: Pair<L>, v: L::V) -> Pair<L> {
    [add_to_quad(l, pair[0], v), add_to_quad(l, pair[1], v)]
}

#[inline(always)]
fn add_to_quad<L: Lanes>(l: L, quad: Quad<L>, v: L::V) -> Quad<L> {
    let mut sum = quad;
    for m in 0..4 {
        sum[m] = l.xor(quad[m], v);
    }
    sum
}

#[inline(always)]
fn xor_pair<L: Lanes>(l: L, a: Pair<L>, b: Pair<L>) -> Pair<L> {
    [l.xor_quad(a[0], b[0]), l.xor_quad(a[1], b[1])]
}

/// Encrypts blocks to which the first round key has been added; each quad has its last round key.
#[inline(always)]
fn finish_pair<L: Lanes>(l: L, keys: &[Block; 11], begun: Pair<L>, lasts: [L::V; 2]) -> Pair<L> {
    let [[b0, b1, b2, b3], [b4, b5, b6, b7]] = begun;
    let mut states = [b0, b1, b2, b3, b4, b5, b6, b7];
    l.nine_rounds(&mut states, keys);
    let [k, n] = lasts;
    aes::last_each::<L, Forward, 8>(l, &mut states, &[k, k, k, k, n, n, n, n], None);
    let [b0, b1, b2, b3, b4, b5, b6, b7] = states;
    [[b0, b1, b2, b3], [b4, b5, b6, b7]]
}

/// Computes pi(x ^ tweak) ^ x of single vectors.
#[inline(always)]
fn feed_forward_some<L: Lanes, const N: usize>(
    l: L,
    keys: &[Block; 11],
    x: [L::V; N],
    tweaks: [L::V; N],
) -> [L::V; N] {
    let mut out = x;
    for i in 0..N {
        out[i] = l.xor(x[i], tweaks[i]);
    }
    out = aes::encrypt_some(l, keys, out);
    for i in 0..N {
        out[i] = l.xor(out[i], x[i]);
    }
    out
}

struct HashRows<'a, H> {
    hash: &'a H,
    first: Tweak,
    blocks: &'a mut [Block],
}

impl<H: LabelHash> Kernel for HashRows<'_, H> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let mut hash = self.hash.lanes(l);
        let mut tweak = self.first;
        let mut batches = self.blocks.chunks_exact_mut(2 * L::QUAD);
        for batch in &mut batches {
            hash_batch(l, &mut hash, &mut tweak, batch);
        }
        let rest = batches.into_remainder();
        if !rest.is_empty() {
            let mut padded = [Block::ZERO; aes::MAX_BATCH];
            padded[..rest.len()].copy_from_slice(rest);
            hash_batch(l, &mut hash, &mut tweak, &mut padded[..2 * L::QUAD]);
            rest.copy_from_slice(&padded[..rest.len()]);
            padded.zeroize();
        }
    }
}

/// Hashes two quads in place, and moves the tweak behind them.
#[inline(always)]
fn hash_batch<L: Lanes, H: HashLanes<L>>(
    l: L,
    hash: &mut H,
    tweak: &mut Tweak,
    batch: &mut [Block],
) {
    let labels = [l.load_quad(batch), l.load_quad(&batch[L::QUAD..])];
    let [low, high] = hash.hash_one(l, batch_tweaks(l, hash, tweak), labels);
    l.store_quad(batch, low);
    l.store_quad(&mut batch[L::QUAD..], high);
}

struct HashPairs<'a, H> {
    hash: &'a H,
    first: Tweak,
    delta: Block,
    rows: &'a [Block],
    pairs: &'a mut [[Block; 2]],
}

impl<H: LabelHash> Kernel for HashPairs<'_, H> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let mut hash = self.hash.lanes(l);
        let mut tweak = self.first;
        let delta = l.splat(self.delta);
        let mut rows = self.rows.chunks_exact(2 * L::QUAD);
        let mut pairs = self.pairs.chunks_exact_mut(2 * L::QUAD);
        for (rows, pairs) in (&mut rows).zip(&mut pairs) {
            pair_batch(l, &mut hash, &mut tweak, delta, rows, pairs);
        }
        let (rows, pairs) = (rows.remainder(), pairs.into_remainder());
        if !rows.is_empty() {
            let mut padded = [Block::ZERO; aes::MAX_BATCH];
            padded[..rows.len()].copy_from_slice(rows);
            let mut both = [[Block::ZERO; 2]; aes::MAX_BATCH];
            let batch = &padded[..2 * L::QUAD];
            pair_batch(l, &mut hash, &mut tweak, delta, batch, &mut both);
            pairs.copy_from_slice(&both[..pairs.len()]);
            padded.zeroize();
            both.zeroize();
        }
    }
}

/// Hashes two quads of rows and of their partners, and moves the tweak behind them.
#[inline(always)]
fn pair_batch<L: Lanes, H: HashLanes<L>>(
    l: L,
    hash: &mut H,
    tweak: &mut Tweak,
    delta: L::V,
    rows: &[Block],
    pairs: &mut [[Block; 2]],
) {
    let tweaks = batch_tweaks(l, hash, tweak);
    for (quad, tweaks) in tweaks.into_iter().enumerate() {
        let labels = l.load_quad(&rows[quad * L::QUAD..]);
        let [zeros, sums] = hash.hash_and_sum(l, tweaks, delta, labels);
        for m in 0..4 {
            let out = pairs[quad * L::QUAD + m * L::WIDTH..].as_flattened_mut();
            l.store_strided(out, 2, zeros[m]);
            l.store_strided(&mut out[1..], 2, l.xor(zeros[m], sums[m]));
        }
    }
}

/// The tweaks of the next two quads of rows.
#[inline(always)]
fn batch_tweaks<L: Lanes, H: HashLanes<L>>(l: L, hash: &H, tweak: &mut Tweak) -> [Tweaked<L>; 2] {
    let Tweak {
        gate,
        call,
        row,
        part,
    } = *tweak;
    tweak.row = row.wrapping_add(2 * L::QUAD as u32);
    if row.is_multiple_of(L::QUAD as u32) {
        let high = row.wrapping_add(L::QUAD as u32);
        // Not by `map`, whose closure the compiler leaves outside the kernel.
        return [
            (hash.row_tweaks(l, gate, call, row), part),
            (hash.row_tweaks(l, gate, call, high), part),
        ];
    }
    let mut tweaks = [Block::ZERO; aes::MAX_BATCH];
    for (i, block) in tweaks[..2 * L::QUAD].iter_mut().enumerate() {
        let row = row.wrapping_add(i as u32);
        *block = Tweak {
            gate,
            call,
            row,
            part: 0,
        }
        .block();
    }
    [
        (hash.pair_tweaks(l, &tweaks), part),
        (hash.pair_tweaks(l, &tweaks[L::QUAD..]), part),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Prg;

    const LENGTHS: [usize; 13] = [0, 1, 3, 4, 7, 8, 9, 15, 16, 17, 33, 64, 100];
    const SEED: Block = Block::new(0xfedc_ba98_7654_3210_0123_4567_89ab_cdef);

    fn sigma(x: Block) -> Block {
        let (low, high) = (x.value() as u64, (x.value() >> 64) as u64);
        Block::new(((high ^ low) as u128) << 64 | high as u128)
    }

    fn aes(key: Block, x: Block) -> Block {
        Aes128::new(Cpu::available()[0], key).encrypt(x)
    }

    /// Compares each hash with its definition by single AES calls of the portable tier, where
    /// every word of the tweak is in use and rows carry.
    fn compare<H: LabelHash>(definition: impl Fn(Block, Block) -> Block) {
        let first = Tweak {
            gate: 0x8123_4567,
            call: 0x000d_cba9_8765_4321,
            row: u32::MAX - 99,
            part: 5,
        };
        for cpu in Cpu::available() {
            let hash = H::new(cpu, SEED);
            for len in LENGTHS {
                let mut blocks = vec![Block::ZERO; len];
                Prg::danger_fixed(cpu, len as u64).fill(&mut blocks);
                let inputs = blocks.clone();
                hash.hash(cpu, first, &mut blocks);
                for (i, (x, h)) in inputs.into_iter().zip(blocks).enumerate() {
                    let row = first.row + i as u32;
                    let expected = definition(x, Tweak { row, ..first }.block());
                    assert_eq!(h.value(), expected.value(), "{} {i}/{len}", cpu.tier());
                }
            }
            cpu.run(Shapes::<H> { hash: &hash });
        }
    }

    /// `row_tweaks` and `pair_tweaks` agree, `hash_and_sum` adds up what `hash_one` returns, and
    /// precomputed keys give the same hashes.
    struct Shapes<'a, H> {
        hash: &'a H,
    }

    impl<H: LabelHash> Kernel for Shapes<'_, H> {
        type Output = ();

        #[inline(always)]
        fn run<L: Lanes>(self, l: L) {
            let mut hash = self.hash.lanes(l);
            let (gate, call, row) = (77, 0x7_8000_0001, 1 << 20);
            let mut tweaks = [Block::ZERO; 2 * GROUP];
            for i in 0..2 * GROUP {
                let row = row + i as u32;
                let tweak = Tweak {
                    gate,
                    call,
                    row,
                    part: 0,
                };
                tweaks[i] = tweak.block();
            }
            let rows = [
                hash.row_tweaks(l, gate, call, row),
                hash.row_tweaks(l, gate, call, row + L::QUAD as u32),
            ];
            let pairs = [
                hash.pair_tweaks(l, &tweaks),
                hash.pair_tweaks(l, &tweaks[L::QUAD..]),
            ];
            let labels = [l.load_quad(&tweaks[3..]), l.load_quad(&tweaks[5..])];
            let delta = l.splat(Block::new(0x1357_9bdf << 70 | 1));
            let zero = hash.hash_one(l, [(rows[0], 1), (rows[1], 2)], labels);
            let at = [(pairs[0], 1), (pairs[1], 2)];
            let one = hash.hash_one(l, at, add_to_pair(l, labels, delta));
            let [a, b] = [0, 1].map(|i| hash.hash_and_sum(l, at[i], delta, labels[i]));
            let sums = [[a[0], b[0]], [a[1], b[1]]];
            // In the middle of quads, without the labels around them.
            let blocks = tweak_blocks(
                l,
                [
                    (l.load_quad(&tweaks), 1),
                    (l.load_quad(&tweaks[L::QUAD..]), 2),
                ],
            );
            hash.precompute_keys(l, at);
            let (mut zero_ready, mut hash_both_precomputed) = (labels, [labels; 2]);
            for m in [2, 0, 3, 1] {
                let tweaks = blocks.map(|quad| quad[m]);
                let labels = labels.map(|quad| quad[m]);
                let hashes = hash.hash_precomputed(l, m, tweaks, labels);
                let both = hash.hash_both_precomputed(l, m, tweaks, delta, labels);
                for i in 0..2 {
                    zero_ready[i][m] = hashes[i];
                    hash_both_precomputed[0][i][m] = both[0][i];
                    hash_both_precomputed[1][i][m] = both[1][i];
                }
            }
            let compared = [
                (sums[0], zero),
                (xor_pair(l, sums[0], sums[1]), one),
                (zero_ready, zero),
                (hash_both_precomputed[0], zero),
                (hash_both_precomputed[1], one),
            ];
            for (got, expected) in compared {
                for (got, expected) in got.into_iter().zip(expected) {
                    let (mut a, mut b) = ([Block::ZERO; GROUP], [Block::ZERO; GROUP]);
                    l.store_quad(&mut a, got);
                    l.store_quad(&mut b, expected);
                    assert_eq!(Block::as_bytes(&a), Block::as_bytes(&b));
                }
            }
        }
    }

    /// Returns true if hashing so many labels from this tweak on is refused.
    fn refused(first: Tweak, labels: usize) -> bool {
        let hash = || {
            let cpu = Cpu::available()[0];
            Mi::new(cpu, SEED).hash(cpu, first, &mut vec![Block::ZERO; labels]);
        };
        std::panic::catch_unwind(hash).is_err()
    }

    #[test]
    fn numbers_that_do_not_fit_a_tweak_are_refused() {
        let last = Tweak {
            gate: u32::MAX,
            call: CALLS - 1,
            row: u32::MAX - 1,
            part: PARTS - 1,
        };
        assert!(!refused(last, 2));
        assert!(refused(last, 3), "the third row would be row 0");
        let (call, part) = (CALLS, PARTS);
        assert!(refused(Tweak { call, ..last }, 1));
        assert!(refused(Tweak { part, ..last }, 1));
        let mut calls = Calls(CALLS - 2);
        assert_eq!([calls.take(), calls.take()], [CALLS - 2, CALLS - 1]);
        assert!(std::panic::catch_unwind(move || calls.take()).is_err());
    }

    #[test]
    fn pairs_are_the_hashes_of_rows_and_of_their_partners() {
        let delta = Block::new(0x77 << 100 | 0x1234_5678_9abc_def1);
        for cpu in Cpu::available() {
            let hash = Mi::new(cpu, SEED);
            for (length, row) in LENGTHS.into_iter().zip([0, 16, 3].into_iter().cycle()) {
                let first = Tweak {
                    gate: 5,
                    call: 1 << 33,
                    row,
                    part: 2,
                };
                let mut rows = vec![Block::ZERO; length];
                Prg::danger_fixed(cpu, length as u64).fill(&mut rows);
                let mut pairs = vec![[Block::ZERO; 2]; length];
                hash.hash_pairs(cpu, first, delta, &rows, &mut pairs);
                let mut partners: Vec<_> = rows.iter().map(|&row| row ^ delta).collect();
                hash.hash(cpu, first, &mut rows);
                hash.hash(cpu, first, &mut partners);
                for (pair, expected) in pairs.iter().zip(rows.iter().zip(&partners)) {
                    let expected = [expected.0.value(), expected.1.value()];
                    assert!(pair.map(Block::value) == expected, "{}", cpu.tier());
                }
            }
        }
    }

    #[test]
    fn hashes_match_their_definitions() {
        compare::<Prp>(|x, t| aes(SEED, sigma(x) ^ t) ^ sigma(x));
        compare::<Tccr>(|x, t| aes(SEED, aes(SEED, x) ^ t) ^ aes(SEED, x));
        compare::<Circ>(|x, t| aes(x, SEED ^ t));
        compare::<Mi>(|x, t| aes(SEED ^ t, sigma(x)) ^ sigma(x));
    }
}
