//! The field of weights and challenges, and the work on many of its elements.
//!
//! Proofs about bits are in GF(2^128), in the polynomial order of [`gf`]; those about integers have
//! a field of their own (`sums`). The traits have a slow definition of each operation, and
//! [`Gf128`] a kernel in its place. Tests compare both, and run whole proofs over GF(2^4) and
//! GF(2^8), where a cheat escapes often enough to be counted. The code that proves is generic over
//! the field, so production runs kernels without a choice at run time.

use sealane_block::gf::{self, Order};
use sealane_block::{Block, Cpu, Kernel, Lanes};
use zeroize::Zeroizing;

use crate::grid::embed;
use crate::kind::GROUP_LANES;

/// Blocks of a plane: one bit of each lane of a group.
pub(crate) const PLANE: usize = GROUP_LANES / 128;

/// A sum of weighted planes. The field alone knows what it holds before [`Field::total`].
pub(crate) type Sum = [Block; 3 * PLANE];

/// A field whose elements are blocks, as levels of two need it.
pub(crate) trait Scalars: Sized + 'static {
    /// The product of two elements.
    fn mul(cpu: Cpu, a: Block, b: Block) -> Block;

    /// The sum of two elements.
    fn add(a: Block, b: Block) -> Block {
        a ^ b
    }

    /// The difference of two elements.
    fn sub(a: Block, b: Block) -> Block {
        a ^ b
    }

    /// An element of uniform bits that [`fit`](Scalars::fits).
    fn element(bits: Block) -> Block;

    /// True if uniform bits make an element. Others are drawn in the place of those that do not,
    /// so that elements are uniform; those that are kept are independent of how many are not.
    fn fits(_bits: Block) -> bool {
        true
    }

    /// The element that any block of a message is.
    fn received(block: Block) -> Block {
        block
    }

    /// True if an element is one of the first `count` points of a level: 0 and 1 come first. Both
    /// are public.
    fn is_point(at: Block, count: usize) -> bool;

    /// The coefficients of 1 and X^2 of the inner product of two lines, each through the first
    /// half of its vector at 0 and through the second half at 1. The vectors have one even length.
    fn line_product(cpu: Cpu, f: &[Block], g: &[Block]) -> Zeroizing<[Block; 2]> {
        let half = f.len() / 2;
        let mut out = Zeroizing::new([Block::ZERO; 2]);
        for i in 0..half {
            out[0] = Self::add(out[0], Self::mul(cpu, f[i], g[i]));
            let slopes = [f, g].map(|of| Self::sub(of[i + half], of[i]));
            out[1] = Self::add(out[1], Self::mul(cpu, slopes[0], slopes[1]));
        }
        out
    }

    /// Puts the line through both halves at `at` in place of the first half. The length is even.
    fn fold(cpu: Cpu, vector: &mut [Block], at: Block) {
        let half = vector.len() / 2;
        for i in 0..half {
            let slope = Self::sub(vector[i + half], vector[i]);
            vector[i] = Self::add(vector[i], Self::mul(cpu, at, slope));
        }
    }
}

/// A field of characteristic two that contains GF(16). Its elements are the blocks below
/// 2^[`BITS`](Field::BITS), with the bits as coefficients of powers of x.
pub(crate) trait Field: Scalars {
    /// Bits of an element.
    const BITS: usize;
    /// The images of 1, w, z and w z of GF(16), in the representation of [`crate::grid`].
    const EMBEDDING: [Block; 4];

    /// An element times x.
    fn times_x(cpu: Cpu, a: Block) -> Block {
        Self::mul(cpu, a, Block::new(2))
    }

    /// Multiplies elements by others, in place.
    fn mul_each(cpu: Cpu, a: &mut [Block], b: &[Block]) {
        for (a, b) in a.iter_mut().zip(b) {
            *a = Self::mul(cpu, *a, *b);
        }
    }

    /// Adds planes of one group to sums, one sum for each plane. A plane is cut into pieces of
    /// `lanes` bits; piece i, read as an element, is multiplied by weight i.
    fn weigh(cpu: Cpu, lanes: usize, planes: &[Block], weights: &[Block], sums: &mut [Sum]) {
        for (plane, sum) in planes.chunks_exact(PLANE).zip(sums) {
            for (i, weight) in weights.iter().enumerate() {
                let at = i * lanes;
                let word = plane[at / 128].value() >> (at % 128);
                let piece = Block::new(word & (u128::MAX >> (128 - lanes)));
                sum[0] ^= Self::mul(cpu, *weight, piece);
            }
        }
    }

    /// The element that a sum is.
    fn total(_cpu: Cpu, sum: &Sum) -> Block {
        sum[0]
    }
}

/// True if an element is one of the first `count` of GF(16).
pub(crate) fn is_first<F: Field>(at: Block, count: usize) -> bool {
    (0..count).any(|i| embed::<F>(i as u8).value() == at.value())
}

/// GF(2^128), the field of proofs about bits and elements of GF(4) and GF(16).
pub(crate) struct Gf128;

impl Field for Gf128 {
    const BITS: usize = 128;
    const EMBEDDING: [Block; 4] = [
        Block::new(1),
        Block::new(0x295a_c0b1_f473_1af9_676a_ac9f_a4b2_0b08),
        Block::new(0xa213_4422_cd40_54c9_ff10_99c3_1bbe_8f22),
        Block::new(0x5003_17bd_159d_73bb_34d2_f7fb_a603_e341),
    ];

    fn times_x(_cpu: Cpu, a: Block) -> Block {
        let a = a.value();
        Block::new(a << 1 ^ (a >> 127).wrapping_neg() & 0x87)
    }

    fn mul_each(cpu: Cpu, a: &mut [Block], b: &[Block]) {
        gf::mul_each(cpu, Order::Polynomial, a, b);
    }

    fn weigh(cpu: Cpu, lanes: usize, planes: &[Block], weights: &[Block], sums: &mut [Sum]) {
        assert_eq!(planes.len(), PLANE * sums.len(), "one sum for each plane");
        assert_eq!(
            weights.len() * lanes,
            GROUP_LANES,
            "one weight for each block of lanes"
        );
        match lanes {
            128 => cpu.run(WeighWords {
                planes,
                weights,
                sums,
            }),
            32 => cpu.run(WeighQuarters {
                planes,
                weights,
                sums,
            }),
            _ => unreachable!("a block has 128 or 32 lanes in this field"),
        }
    }

    fn total(cpu: Cpu, sum: &Sum) -> Block {
        cpu.run(Total(sum))
    }
}

impl Scalars for Gf128 {
    fn mul(cpu: Cpu, a: Block, b: Block) -> Block {
        gf::mul(cpu, Order::Polynomial, a, b)
    }

    fn element(bits: Block) -> Block {
        bits
    }

    fn is_point(at: Block, count: usize) -> bool {
        is_first::<Self>(at, count)
    }

    fn line_product(cpu: Cpu, f: &[Block], g: &[Block]) -> Zeroizing<[Block; 2]> {
        assert!(
            f.len() == g.len() && f.len().is_multiple_of(2),
            "two vectors of two halves"
        );
        cpu.run(LineProduct { f, g })
    }

    fn fold(cpu: Cpu, vector: &mut [Block], at: Block) {
        assert!(vector.len().is_multiple_of(2), "a vector of two halves");
        cpu.run(Fold { vector, at });
    }
}

/// Planes times weights, 128 lanes to a weight: the word is the element.
struct WeighWords<'a> {
    planes: &'a [Block],
    weights: &'a [Block],
    sums: &'a mut [Sum],
}

impl Kernel for WeighWords<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let zero = l.splat(Block::ZERO);
        let mut factors = [[zero; 2]; PLANE];
        let vectors = PLANE / L::WIDTH;
        for c in 0..vectors {
            factors[c] = gf::with_sums(l, l.load(&self.weights[c * L::WIDTH..]));
        }
        for (plane, sum) in self.planes.chunks_exact(PLANE).zip(self.sums) {
            let mut all = l.load_vectors::<3>(sum);
            for c in 0..vectors {
                gf::add_product(l, &mut all, l.load(&plane[c * L::WIDTH..]), factors[c]);
            }
            l.store_vectors(sum, &all);
        }
    }
}

/// Planes times weights, 32 lanes to a weight: two products of a quarter of a word each, since its
/// upper half is zero.
struct WeighQuarters<'a> {
    planes: &'a [Block],
    weights: &'a [Block],
    sums: &'a mut [Sum],
}

impl Kernel for WeighQuarters<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let mut quarters = [[Block::ZERO; PLANE]; 4];
        for i in 0..4 * PLANE {
            quarters[i % 4][i / 4] = self.weights[i];
        }
        let lower = l.splat(Block::new(0xffff_ffff | 0xffff_ffff << 64));
        for (plane, sum) in self.planes.chunks_exact(PLANE).zip(self.sums) {
            let mut all = l.load_vectors::<3>(sum);
            for c in (0..PLANE).step_by(L::WIDTH) {
                let word = l.load(&plane[c..]);
                let even = l.and(word, lower);
                let odd = l.and(l.shr_bytes::<4>(word), lower);
                let mut w = [lower; 4];
                for q in 0..4 {
                    w[q] = l.load(&quarters[q][c..]);
                }
                let low = l.xor(l.clmul::<0x00>(even, w[0]), l.clmul::<0x00>(odd, w[1]));
                let low_more = l.xor(l.clmul::<0x01>(even, w[2]), l.clmul::<0x01>(odd, w[3]));
                let low = l.xor(low, low_more);
                let mid = l.xor(l.clmul::<0x10>(even, w[0]), l.clmul::<0x10>(odd, w[1]));
                let mid_more = l.xor(l.clmul::<0x11>(even, w[2]), l.clmul::<0x11>(odd, w[3]));
                all[0] = l.xor(all[0], low);
                // A product of halves by Karatsuba's method holds low + middle here.
                all[1] = l.xor(all[1], l.xor(low, l.xor(mid, mid_more)));
            }
            l.store_vectors(sum, &all);
        }
    }
}

/// The element of a sum.
struct Total<'a>(&'a Sum);

impl Kernel for Total<'_> {
    type Output = Block;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> Block {
        let all = l.load_vectors::<3>(self.0);
        l.sum_of_lanes(gf::reduce_whole_lanes(l, Order::Polynomial, all))
    }
}

/// [`Scalars::line_product`].
struct LineProduct<'a> {
    f: &'a [Block],
    g: &'a [Block],
}

impl Kernel for LineProduct<'_> {
    type Output = Zeroizing<[Block; 2]>;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> Zeroizing<[Block; 2]> {
        let half = self.f.len() / 2;
        let mut sums = [[l.splat(Block::ZERO); 3]; 2];
        let [(f0, f1), (g0, g1)] = [self.f.split_at(half), self.g.split_at(half)];
        let whole = half - half % L::WIDTH;
        for i in (0..whole).step_by(L::WIDTH) {
            let four = [&f0[i..], &f1[i..], &g0[i..], &g1[i..]];
            add_lines(
                l,
                &mut sums,
                [l.load(four[0]), l.load(four[1])],
                [l.load(four[2]), l.load(four[3])],
            );
        }
        if whole < half {
            let mut ends = Zeroizing::new([[Block::ZERO; 4]; 4]);
            for (end, from) in ends.iter_mut().zip([f0, f1, g0, g1]) {
                end[..half - whole].copy_from_slice(&from[whole..]);
            }
            let [f0, f1] = [l.load(&ends[0]), l.load(&ends[1])];
            add_lines(l, &mut sums, [f0, f1], [l.load(&ends[2]), l.load(&ends[3])]);
        }
        let mut out = Zeroizing::new([Block::ZERO; 2]);
        for i in 0..2 {
            out[i] = l.sum_of_lanes(gf::reduce_whole_lanes(l, Order::Polynomial, sums[i]));
        }
        out
    }
}

/// Adds the products of values at 0, and of slopes.
#[inline(always)]
fn add_lines<L: Lanes>(l: L, sums: &mut [[L::V; 3]; 2], f: [L::V; 2], g: [L::V; 2]) {
    gf::add_product(l, &mut sums[0], f[0], gf::with_sums(l, g[0]));
    let slope = gf::with_sums(l, l.xor(g[0], g[1]));
    gf::add_product(l, &mut sums[1], l.xor(f[0], f[1]), slope);
}

/// [`Scalars::fold`].
struct Fold<'a> {
    vector: &'a mut [Block],
    at: Block,
}

impl Kernel for Fold<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let half = self.vector.len() / 2;
        let (low, high) = self.vector.split_at_mut(half);
        let factor = gf::prepare(Order::Polynomial, self.at);
        let factor = [l.splat(factor[0]), l.splat(factor[1])];
        let (mut low, mut high) = (low.chunks_exact_mut(L::WIDTH), high.chunks_exact(L::WIDTH));
        for (a, b) in (&mut low).zip(&mut high) {
            let start = l.load(a);
            let slope = l.xor(start, l.load(b));
            l.store(
                a,
                l.xor(
                    start,
                    gf::mul_prepared_lanes(l, Order::Polynomial, slope, factor),
                ),
            );
        }
        let (a, b) = (low.into_remainder(), high.remainder());
        if !a.is_empty() {
            let mut ends = Zeroizing::new([[Block::ZERO; 4]; 2]);
            ends[0][..a.len()].copy_from_slice(a);
            ends[1][..b.len()].copy_from_slice(b);
            let start = l.load(&ends[0]);
            let slope = l.xor(start, l.load(&ends[1]));
            let folded = gf::mul_prepared_lanes(l, Order::Polynomial, slope, factor);
            l.store(&mut ends[0], l.xor(start, folded));
            a.copy_from_slice(&ends[0][..a.len()]);
        }
    }
}
