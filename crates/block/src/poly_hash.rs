//! Polynomial hash over GF(2^128): a digest of long runs of bytes against accidents.
//!
//! Whoever knows the key finds collisions at once, so this hash replaces no cryptographic one. It
//! tells whether two parties hold the same bytes in the same places where nobody tries to deceive
//! them, at a small part of the cost.
//!
//! **Definition.** Let t be the key, an element of the field of [`Order::Polynomial`]. Runs of
//! bytes become *chunks* of [`CHUNK`] = N = 128 blocks: every run is padded with zeros to whole
//! chunks, and one more chunk follows, whose first block has the position of the run (lower 64
//! bits) and its length in bytes (upper 64 bits), and whose other blocks are zero. A chunk of
//! blocks m_0 ... m_127 has the value
//!
//! ```text
//!   c(t) = sum of (m_i + t^(i+1)) (m_(i+4) + t^(i+5))      over all i with i mod 8 < 4
//! ```
//!
//! which takes one product for two blocks (Winograd, "A new algorithm for inner product", IEEE
//! Transactions on Computers, 1968). The hash of chunks 1 to J is the polynomial sum of c_j(t)
//! t^((N+1)(J-j)), evaluated by Horner's rule.
//!
//! **Bound.** For a random key, two different lists of runs have the same hash with probability at
//! most (N+1)(J+1) / 2^128, where J is the larger number of chunks: below 2^-80 for a pebibyte in
//! runs of two kibibytes or more, and below 2^-69 for one in runs of any length.
//!
//! 1. Different lists have different chunks. Read backwards, the last chunk of a run tells how many
//!    chunks belong to it, and no run is empty, so no chunks that are all zero stand for a run.
//! 2. If both have J chunks: products of powers of t cancel in the difference of two values of
//!    c_j. There remain a constant, (m_i - m'_i) t^(i+5), and (m_(i+4) - m'_(i+4)) t^(i+1), whose
//!    powers 1 to N are all different. Chunks are N+1 powers apart, so no two terms of the
//!    difference of the hashes have the same power: it is a polynomial of degree below (N+1) J,
//!    and not zero where a block differs. It has at most as many roots as its degree.
//! 3. If one has more chunks, its first chunk contributes the power (N+1)(J-1) + 252 with factor 1,
//!    from i = 123. This is above all other powers of either, so the difference is not zero, and
//!    its degree is below (N+1)(J+1).
//!
//! Positions and lengths are hashed, so it makes a difference where a run lies in a longer stream.

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::gf::{self, Order};
use crate::{Block, Cpu, Kernel, Lanes};

/// Blocks of a chunk.
pub const CHUNK: usize = 128;

/// Bytes of a chunk.
const CHUNK_BYTES: usize = 16 * CHUNK;

/// Distance of the two blocks of a product: the blocks of the widest vector.
const HALF: usize = 4;

/// A hash under way. See the [module](self).
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct PolyHash {
    #[zeroize(skip)]
    cpu: Cpu,
    key: Box<Powers>,
    value: Block,
    /// The chunk that is not complete.
    partial: Box<[u8]>,
    filled: usize,
    /// Bytes of the run under way.
    run_bytes: u64,
}

/// Powers of the key.
#[derive(Clone, Zeroize)]
struct Powers {
    /// Power `i + 1` for block `i` of a chunk.
    blocks: [Block; CHUNK],
    /// Power `CHUNK + 1`, prepared.
    chunk: [Block; 2],
}

impl PolyHash {
    /// The hash of no run under `key`, which has to be uniformly random.
    pub fn new(cpu: Cpu, key: Block) -> PolyHash {
        let mut blocks = [key; CHUNK];
        for i in 1..CHUNK {
            blocks[i] = gf::mul(cpu, Order::Polynomial, blocks[i - 1], key);
        }
        let last = gf::mul(cpu, Order::Polynomial, blocks[CHUNK - 1], key);
        PolyHash {
            cpu,
            key: Box::new(Powers {
                blocks,
                chunk: gf::prepare(Order::Polynomial, last),
            }),
            value: Block::ZERO,
            partial: vec![0; CHUNK_BYTES].into(),
            filled: 0,
            run_bytes: 0,
        }
    }

    /// Appends bytes to the run. Bytes are copied only where a call begins or ends within a chunk.
    pub fn update(&mut self, mut bytes: &[u8]) {
        self.run_bytes += bytes.len() as u64;
        if self.filled > 0 {
            let now;
            (now, bytes) = bytes.split_at(bytes.len().min(CHUNK_BYTES - self.filled));
            self.keep(now);
            if self.filled < CHUNK_BYTES {
                return;
            }
            self.end_chunk();
        }
        let (whole, rest) = bytes.split_at(bytes.len() - bytes.len() % CHUNK_BYTES);
        if !whole.is_empty() {
            let (key, value) = (&self.key, self.value);
            self.value = self.cpu.run(Chunks { key, value, whole });
        }
        self.keep(rest);
    }

    /// Ends the run, which began at this byte of a longer stream. Nothing changes if it is empty.
    pub fn end_run(&mut self, position: u64) {
        let length = std::mem::take(&mut self.run_bytes);
        if length == 0 {
            return;
        }
        if self.filled > 0 {
            self.end_chunk();
        }
        self.keep(&position.to_le_bytes());
        self.keep(&length.to_le_bytes());
        self.end_chunk();
    }

    /// The hash of all runs that have ended.
    pub fn value(&self) -> Block {
        debug_assert_eq!(self.run_bytes, 0, "runs end first");
        self.value
    }

    /// Copies bytes to the chunk that is not complete.
    fn keep(&mut self, bytes: &[u8]) {
        self.partial[self.filled..][..bytes.len()].copy_from_slice(bytes);
        self.filled += bytes.len();
    }

    /// Pads the chunk that is not complete, and hashes it.
    fn end_chunk(&mut self) {
        self.partial[self.filled..].fill(0);
        let (key, value, whole) = (&self.key, self.value, &self.partial);
        self.value = self.cpu.run(Chunks { key, value, whole });
        self.filled = 0;
    }
}

/// Whole chunks, and the hash of those before them.
struct Chunks<'a> {
    key: &'a Powers,
    value: Block,
    whole: &'a [u8],
}

impl Kernel for Chunks<'_> {
    type Output = Block;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> Block {
        let zero = l.splat(Block::ZERO);
        let power = self.key.chunk.map(|word| l.splat(word));
        // The hash is the sum of all lanes, each of which is multiplied for itself.
        let mut lanes = [Block::ZERO; HALF];
        lanes[0] = self.value;
        let mut value = l.load(&lanes);
        for chunk in self.whole.chunks_exact(CHUNK_BYTES) {
            let mut sum = [zero; 3];
            for group in (0..CHUNK).step_by(2 * HALF) {
                for first in (group..group + HALF).step_by(L::WIDTH) {
                    let masked = |i: usize| {
                        let (block, power) = (&chunk[16 * i..], &self.key.blocks[i..]);
                        l.xor(l.load_bytes(block), l.load(power))
                    };
                    let second = masked(first + HALF);
                    gf::add_product(l, &mut sum, masked(first), gf::with_sums(l, second));
                }
            }
            let sum = gf::reduce_whole_lanes(l, Order::Polynomial, sum);
            let shifted = gf::mul_prepared_lanes(l, Order::Polynomial, value, power);
            value = l.xor(shifted, sum);
        }
        l.sum_of_lanes(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::product;
    use std::collections::HashSet;

    /// A field as the definition needs it.
    trait Field: Copy + PartialEq {
        const ZERO: Self;
        fn add(self, other: Self) -> Self;
        fn mul(self, other: Self) -> Self;
    }

    impl Field for u128 {
        const ZERO: u128 = 0;
        fn add(self, other: u128) -> u128 {
            self ^ other
        }
        fn mul(self, other: u128) -> u128 {
            product(self, other)
        }
    }

    /// GF(2^4) modulo x^4 + x + 1.
    #[derive(Clone, Copy, PartialEq, Debug)]
    struct Small(u8);

    impl Field for Small {
        const ZERO: Small = Small(0);
        fn add(self, other: Small) -> Small {
            Small(self.0 ^ other.0)
        }
        fn mul(self, other: Small) -> Small {
            let mut product = 0;
            for i in 0..4 {
                product ^= (other.0 >> i & 1) * (self.0 << i);
            }
            for i in (4..7).rev() {
                product ^= (product >> i & 1) * (0b10011 << (i - 4));
            }
            Small(product)
        }
    }

    /// The hash of chunks by its definition, power by power, where the two factors of a product are
    /// `half` blocks apart.
    fn by_definition<F: Field>(key: F, half: usize, chunks: &[Vec<F>]) -> F {
        let power = |n: usize| (1..n).fold(key, |power, _| power.mul(key));
        let mut sum = F::ZERO;
        for (later, chunk) in chunks.iter().rev().enumerate() {
            let mut value = F::ZERO;
            for i in (0..chunk.len()).filter(|i| i % (2 * half) < half) {
                let a = chunk[i].add(power(i + 1));
                let b = chunk[i + half].add(power(i + half + 1));
                value = value.add(a.mul(b));
            }
            let shift = (chunk.len() + 1) * later;
            sum = sum.add(match shift {
                0 => value,
                _ => value.mul(power(shift)),
            });
        }
        sum
    }

    /// The chunks of runs, each a position and its bytes.
    fn chunks(runs: &[(u64, Vec<u8>)]) -> Vec<Vec<u128>> {
        let mut chunks = Vec::new();
        for (position, bytes) in runs {
            for piece in bytes.chunks(CHUNK_BYTES) {
                let mut padded = piece.to_vec();
                padded.resize(CHUNK_BYTES, 0);
                let blocks = padded.as_chunks().0.iter();
                chunks.push(blocks.map(|block| u128::from_le_bytes(*block)).collect());
            }
            let mut last = vec![0; CHUNK];
            last[0] = u128::from(*position) | (bytes.len() as u128) << 64;
            chunks.push(last);
        }
        chunks
    }

    fn bytes(length: usize) -> Vec<u8> {
        (0..length).map(|i| (i * i / 7 + i) as u8).collect()
    }

    #[test]
    fn every_tier_computes_the_definition_however_runs_are_cut() {
        let runs = [1, 15, 2048, 2049, 9000].map(|length| (7 * length as u64, bytes(length)));
        let key = 0x0123_4567_89ab_cdef_fedc_ba98_7654_3210;
        let expected = by_definition(key, HALF, &chunks(&runs));
        for cpu in Cpu::available() {
            for cut in [1, 16, 100, 2048, 3000, 10_000] {
                let mut hash = PolyHash::new(cpu, Block::new(key));
                for (position, bytes) in &runs {
                    bytes.chunks(cut).for_each(|piece| hash.update(piece));
                    hash.end_run(*position);
                    hash.end_run(*position);
                }
                assert_eq!(hash.value().value(), expected, "{} by {cut}", cpu.tier());
            }
        }
    }

    #[test]
    fn different_runs_have_different_chunks() {
        let contents = [vec![0], vec![1], vec![0, 0], vec![0, 1], vec![1, 0]];
        let places = |bytes: &Vec<u8>| (0..3).map(|at| (at, bytes.clone())).collect::<Vec<_>>();
        let runs: Vec<_> = contents.iter().flat_map(places).collect();
        let mut seen = HashSet::from([vec![]]);
        for one in &runs {
            assert!(seen.insert(chunks(std::slice::from_ref(one))));
            for other in &runs {
                assert!(seen.insert(chunks(&[one.clone(), other.clone()])));
            }
        }
        // No list is another one behind chunks of zeros.
        let zeros = |chunks: &Vec<Vec<u128>>| {
            let zero = |chunk: &&Vec<u128>| chunk.iter().all(|block| *block == 0);
            chunks.iter().take_while(zero).count()
        };
        for list in &seen {
            for cut in 1..=zeros(list) {
                assert!(!seen.contains(&list[cut..]));
            }
        }
    }

    /// The bound, with chunks of N = 2 blocks of 4 bits: all pairs of messages of one chunk, and of
    /// one chunk and two, under every key.
    #[test]
    fn no_pair_collides_under_more_keys_than_the_bound_allows() {
        let block = |message: usize, i: usize| Small((message >> (4 * i) & 15) as u8);
        let hashes = |chunks: usize, message: usize| {
            let chunk = |j| vec![block(message, 2 * j), block(message, 2 * j + 1)];
            let list = (0..chunks).map(chunk).collect::<Vec<_>>();
            let hash = |key| by_definition(Small(key), 1, &list).0;
            std::array::from_fn::<u8, 16, _>(|key| hash(key as u8))
        };
        let collisions =
            |a: &[u8; 16], b: &[u8; 16]| a.iter().zip(b).filter(|(a, b)| a == b).count();
        let short: Vec<_> = (0..256).map(|message| hashes(1, message)).collect();
        let long: Vec<_> = (0..65_536).map(|message| hashes(2, message)).collect();
        // The degrees of the differences: of one chunk each, of one and two, of two each.
        let (bounds, mut worst) = ([2, 6, 5], [0; 3]);
        for (i, one) in short.iter().enumerate() {
            for other in &short[..i] {
                worst[0] = worst[0].max(collisions(one, other));
            }
            // Messages with zeros in front are the first 256.
            for other in long[..256].iter().chain(long.iter().step_by(7)) {
                worst[1] = worst[1].max(collisions(one, other));
            }
        }
        for message in (0..long.len()).step_by(101) {
            for change in (1..256).chain((256..long.len()).step_by(977)) {
                let (one, other) = (&long[message], &long[message ^ change]);
                worst[2] = worst[2].max(collisions(one, other));
            }
        }
        let mut pairs = worst.iter().zip(&bounds);
        assert!(pairs.all(|(worst, bound)| worst <= bound));
        assert_eq!(worst[0], bounds[0], "the bound is reached");
    }
}
