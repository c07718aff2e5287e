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
//! [`BitHash`] gives one bit of a hash like the first, or planes of more, with a key for every 128
//! rows.
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

use crate::lanes::{Pair, Quad};
use crate::{Block, Cpu, GROUP, Lanes};
use zeroize::Zeroize;

mod bits;
mod each;
mod fixed_key;
mod fresh_key;
mod planes;
mod rows;
#[cfg(test)]
mod tests;
mod tweak;

pub use bits::BitHash;
pub use fixed_key::{Prp, Tccr};
pub use fresh_key::{Circ, CircLanes, Mi, MiLanes};
pub use tweak::{Calls, Tweak};

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
    cpu.run(rows::HashRows {
        hash,
        first,
        blocks,
    });
}

/// The tweaks of a quad of labels, without parts, and their part.
pub type Tweaked<L> = (Quad<L>, u32);

/// Two single vectors.
pub type Two<L> = [<L as Lanes>::V; 2];

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
    fn hash_precomputed(&mut self, l: L, m: usize, tweaks: Two<L>, labels: Two<L>) -> Two<L>;
    /// Hashes the same labels, then with `delta` added.
    fn hash_both_precomputed(
        &mut self,
        l: L,
        m: usize,
        tweaks: Two<L>,
        delta: L::V,
        labels: Two<L>,
    ) -> [Two<L>; 2];
}

/// Returns the blocks of [`HashLanes::row_tweaks`].
#[inline(always)]
pub fn row_tweak_blocks<L: Lanes>(l: L, gate: u32, call: u64, first_row: u32) -> Quad<L> {
    row_blocks(l, gate, call, first_row, Block::ZERO)
}

/// Returns the same blocks, with a constant added.
#[inline(always)]
fn row_blocks<L: Lanes>(l: L, gate: u32, call: u64, first_row: u32, constant: Block) -> Quad<L> {
    let tweak = Tweak::of_row(gate, call, first_row);
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
