//! The first level: operands as polynomials in two variables over GF(16).
//!
//! The 64 positions of a group are the points of the grid `H x H`, where `H` holds the elements 0
//! to 7 of GF(16). The value of an operand at position `8 r + c` is that of its polynomial, of
//! degree 7 in both variables, at `(r, c)`. A product has degree 14 in both and is known by its
//! values at 15 x 15 points, 0 to 14: 64 of the grid and [`GIVEN`] others.
//!
//! GF(16) is the tower of [`Small::Gf16`](crate::Small::Gf16). An element of it for each lane is
//! four *planes*, the bits of all lanes. Interpolation is linear over GF(2), so it is a product of
//! a public bit matrix with planes: the 16 sums of four planes each are made once, then a row of
//! the matrix reads one sum for each of its nibbles (Arlazarov, Dinic, Kronrod and Faradzev, 1970).
//! Addresses depend on the matrix, which is a constant or follows from a challenge, and never on a
//! bit of an operand.

use std::array;

use sealane_block::{Block, Cpu, Kernel, Lanes, transpose};
use zeroize::Zeroizing;

use crate::field::{Field, PLANE};
use crate::kind::{GROUP_LANES, Kind, POSITIONS};
use crate::strings::GROUP_BLOCKS;

/// Points of `H`, and positions of a row of the grid.
pub(crate) const SIDE: usize = 8;
/// Points in each variable at which a product of two operands is known.
pub(crate) const POINTS: usize = 15;
/// Points of a line outside of `H`.
const MORE: usize = POINTS - SIDE;
/// Points at which the prover gives values.
pub(crate) const GIVEN: usize = POINTS * POINTS - POSITIONS;
/// Planes of all points outside of `H` of a line.
const LINE: usize = 4 * MORE;

/// Row and column of the point of value `i` of those that the prover gives: the new columns of the
/// eight rows, then the new rows of all columns.
pub(crate) const fn given_point(i: usize) -> (usize, usize) {
    if i < SIDE * MORE {
        (i / MORE, SIDE + i % MORE)
    } else {
        let rest = i - SIDE * MORE;
        (SIDE + rest % MORE, rest / MORE)
    }
}

/// The product of two elements of GF(4).
const fn mul4(a: u8, b: u8) -> u8 {
    let (low, high) = (
        if b & 1 == 1 { a } else { 0 },
        if b & 2 == 2 { a } else { 0 },
    );
    // Times w: x_1 w + x_0 becomes (x_0 + x_1) w + x_1.
    low ^ (high >> 1 | ((high ^ high >> 1) & 1) << 1)
}

/// The product of two elements of GF(16), both public.
pub(crate) const fn mul16(a: u8, b: u8) -> u8 {
    let (low, high) = (mul4(a & 3, b & 3), mul4(a >> 2, b >> 2));
    let whole = mul4(a & 3 ^ a >> 2, b & 3 ^ b >> 2);
    low ^ mul4(high, 2) | (whole ^ low) << 2
}

/// The inverse of an element of GF(16), which is public: its 14th power.
pub(crate) const fn inverse16(a: u8) -> u8 {
    let square = mul16(a, a);
    let fourth = mul16(square, square);
    mul16(mul16(square, fourth), mul16(fourth, fourth))
}

/// Value at point `8 + point` of the polynomial that is 1 at `from` and 0 elsewhere in `H`.
const fn lagrange16(point: usize, from: usize) -> u8 {
    let (mut above, mut below, mut other) = (1, 1, 0);
    while other < SIDE {
        if other != from {
            above = mul16(above, (SIDE + point) as u8 ^ other as u8);
            below = mul16(below, from as u8 ^ other as u8);
        }
        other += 1;
    }
    mul16(above, inverse16(below))
}

/// The matrix from a line of eight values, of one plane each if `N` is 2 and of four if it is 8, to
/// the planes of its other points: for each row its nibbles.
const fn line_matrix<const N: usize>() -> [[u8; N]; LINE] {
    let bits = N / 2;
    let mut matrix = [[0; N]; LINE];
    let mut row = 0;
    while row < LINE {
        let mut input = 0;
        while input < SIDE * bits {
            let image = mul16(lagrange16(row / 4, input / bits), 1 << (input % bits));
            matrix[row][input / 4] |= (image >> (row % 4) & 1) << (input % 4);
            input += 1;
        }
        row += 1;
    }
    matrix
}

static OF_BITS: [[u8; 2]; LINE] = line_matrix();
static OF_ELEMENTS: [[u8; 8]; LINE] = line_matrix();

/// The sums of all subsets of four planes.
#[inline(always)]
fn subset_sums<L: Lanes>(l: L, planes: &[L::V], sums: &mut [L::V; 16]) {
    sums[0] = l.splat(Block::ZERO);
    for k in 0..4 {
        for j in 0..1 << k {
            sums[(1 << k) + j] = l.xor(sums[j], planes[k]);
        }
    }
}

/// The planes of the other points of a line.
#[inline(always)]
fn extend_line<L: Lanes, const N: usize>(
    l: L,
    planes: &[L::V; 32],
    matrix: &[[u8; N]; LINE],
    out: &mut [Block],
) {
    let mut sums = [[planes[0]; 16]; N];
    for n in 0..N {
        subset_sums(l, &planes[4 * n..4 * n + 4], &mut sums[n]);
    }
    for (row, out) in matrix.iter().zip(out.chunks_exact_mut(L::WIDTH)) {
        let mut sum = sums[0][row[0] as usize & 15];
        for n in 1..N {
            sum = l.xor(sum, sums[n][row[n] as usize & 15]);
        }
        l.store(out, sum);
    }
}

/// The halves of an element over GF(4), and their sum.
#[inline(always)]
fn halves<L: Lanes>(l: L, v: [L::V; 4]) -> [[L::V; 2]; 3] {
    [
        [v[0], v[1]],
        [v[2], v[3]],
        [l.xor(v[0], v[2]), l.xor(v[1], v[3])],
    ]
}

/// Adds the nine products of bits of a product in GF(16), by Karatsuba's method at both levels.
#[inline(always)]
fn add_products<L: Lanes>(l: L, a: [L::V; 4], b: [L::V; 4], sums: &mut [[L::V; 3]; 3]) {
    let (a, b) = (halves(l, a), halves(l, b));
    for i in 0..3 {
        let ([a0, a1], [b0, b1]) = (a[i], b[i]);
        sums[i][0] = l.xor(sums[i][0], l.and(a0, b0));
        sums[i][1] = l.xor(sums[i][1], l.and(a1, b1));
        sums[i][2] = l.xor(sums[i][2], l.and(l.xor(a0, a1), l.xor(b0, b1)));
    }
}

/// The element of GF(16) that such sums are.
#[inline(always)]
fn from_products<L: Lanes>(l: L, sums: &[[L::V; 3]; 3]) -> [L::V; 4] {
    let mut parts = [[sums[0][0]; 2]; 3];
    for i in 0..3 {
        let [low, high, whole] = sums[i];
        parts[i] = [l.xor(high, low), l.xor(whole, low)];
    }
    let [low, high, whole] = parts;
    [
        l.xor(low[0], high[1]),
        l.xor(low[1], l.xor(high[0], high[1])),
        l.xor(whole[0], low[0]),
        l.xor(whole[1], low[1]),
    ]
}

/// Memory to extend groups of a kind: operands at the points of eight rows outside of the grid,
/// then at those of one column; and the products at all given points, four planes each.
pub(crate) struct Scratch {
    kind: Kind,
    lines: Zeroizing<Vec<Block>>,
    products: Zeroizing<Vec<Block>>,
}

impl Scratch {
    pub fn new(kind: Kind) -> Scratch {
        let lines = 2 * kind.terms * (SIDE + 1) * LINE * PLANE;
        Scratch {
            kind,
            lines: Zeroizing::new(vec![Block::ZERO; lines]),
            products: Zeroizing::new(vec![Block::ZERO; GIVEN * 4 * PLANE]),
        }
    }

    /// The planes of the sum of products at the given points, in their order. Operands are the
    /// strings of one group, left ones and right ones.
    pub fn extend(&mut self, cpu: Cpu, left: &[&[Block]], right: &[&[Block]]) -> &[Block] {
        let planes = self.kind.planes();
        assert!(
            left.len() == planes && right.len() == planes,
            "one string for each plane"
        );
        let (lines, out) = (&mut self.lines[..], &mut self.products[..]);
        let degree = self.kind.field.degree();
        cpu.run(Extend {
            degree,
            sides: [left, right],
            lines,
            out,
        });
        &self.products
    }
}

struct Extend<'a> {
    degree: usize,
    /// Strings of a group, `degree` for each term.
    sides: [&'a [&'a [Block]]; 2],
    lines: &'a mut [Block],
    out: &'a mut [Block],
}

impl Extend<'_> {
    /// Extends eight positions of an operand, from `first` on with a distance of `step`.
    #[inline(always)]
    fn line<L: Lanes>(
        &mut self,
        l: L,
        operand: usize,
        c: usize,
        first: usize,
        step: usize,
        to: usize,
    ) {
        let strings = &self.sides[operand % 2][operand / 2 * self.degree..][..self.degree];
        let mut planes = [l.splat(Block::ZERO); 32];
        let out = &mut self.lines[to * LINE * L::WIDTH..][..LINE * L::WIDTH];
        if self.degree == 1 {
            for i in 0..SIDE {
                planes[i] = l.load(&strings[0][(first + i * step) * PLANE + c..]);
            }
            extend_line(l, &planes, &OF_BITS, out);
        } else {
            for i in 0..SIDE {
                for k in 0..self.degree.min(4) {
                    planes[4 * i + k] = l.load(&strings[k][(first + i * step) * PLANE + c..]);
                }
            }
            extend_line(l, &planes, &OF_ELEMENTS, out);
        }
    }

    /// Extends the column of a point outside of the grid, from the extended rows of an operand.
    #[inline(always)]
    fn new_column<L: Lanes>(&mut self, l: L, operand: usize, point: usize, to: usize) {
        let mut planes = [l.splat(Block::ZERO); 32];
        for row in 0..SIDE {
            let at = ((operand * SIDE + row) * LINE + 4 * point) * L::WIDTH;
            for k in 0..4 {
                planes[4 * row + k] = l.load(&self.lines[at + k * L::WIDTH..]);
            }
        }
        let out = &mut self.lines[to * LINE * L::WIDTH..][..LINE * L::WIDTH];
        extend_line(l, &planes, &OF_ELEMENTS, out);
    }

    /// Products at the seven new points of a line, summed over all terms. The line of operand `o`
    /// is `first + o * step`.
    #[inline(always)]
    fn multiply<L: Lanes>(&mut self, l: L, first: usize, step: usize, c: usize, to: usize) {
        let terms = self.sides[0].len() / self.degree;
        for point in 0..MORE {
            let mut sums = [[l.splat(Block::ZERO); 3]; 3];
            for term in 0..terms {
                let line = first + 2 * term * step;
                let a = &self.lines[(line * LINE + 4 * point) * L::WIDTH..];
                let b = &self.lines[((line + step) * LINE + 4 * point) * L::WIDTH..];
                add_products(l, l.load_vectors(a), l.load_vectors(b), &mut sums);
            }
            let product = from_products(l, &sums);
            for k in 0..4 {
                l.store(
                    &mut self.out[((to + point) * 4 + k) * PLANE + c..],
                    product[k],
                );
            }
        }
    }
}

impl Kernel for Extend<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self, l: L) {
        let operands = 2 * self.sides[0].len() / self.degree;
        let columns = operands * SIDE;
        for c in (0..PLANE).step_by(L::WIDTH) {
            for line in 0..columns {
                let (operand, row) = (line / SIDE, line % SIDE);
                self.line(l, operand, c, SIDE * row, 1, line);
            }
            for row in 0..SIDE {
                self.multiply(l, row, SIDE, c, row * MORE);
            }
            for column in 0..POINTS {
                for operand in 0..operands {
                    if column < SIDE {
                        self.line(l, operand, c, column, SIDE, columns + operand);
                    } else {
                        self.new_column(l, operand, column - SIDE, columns + operand);
                    }
                }
                self.multiply(l, columns, 1, c, (SIDE + column) * MORE);
            }
        }
    }
}

/// Coefficients of the values at the points 0 to `count - 1` of GF(16) in the value at `at` of the
/// polynomial through them.
pub(crate) fn lagrange<F: Field>(cpu: Cpu, count: usize, at: Block) -> Vec<Block> {
    let scale = |i: usize| {
        let others = (0..count).filter(|j| *j != i);
        let below = others.fold(1, |below, j| mul16(below, (i ^ j) as u8));
        embed::<F>(inverse16(below))
    };
    let mut coefficients: Vec<Block> = (0..count).map(scale).collect();
    // Times the distances of `at` to all points before, then to all points behind.
    let mut product = Block::new(1);
    for i in 0..count {
        coefficients[i] = F::mul(cpu, coefficients[i], product);
        product = F::mul(cpu, product, at ^ embed::<F>(i as u8));
    }
    product = Block::new(1);
    for i in (0..count).rev() {
        coefficients[i] = F::mul(cpu, coefficients[i], product);
        product = F::mul(cpu, product, at ^ embed::<F>(i as u8));
    }
    coefficients
}

/// The image of an element of GF(16), which is public.
pub(crate) fn embed<F: Field>(a: u8) -> Block {
    (0..4).fold(Block::ZERO, |sum, k| sum ^ F::EMBEDDING[k].masked(a >> k))
}

/// The public matrices that take operands of one field to their values at a challenge `(r, s)`.
pub(crate) struct Folding {
    /// For each plane of an operand the nibbles of 128 rows.
    matrices: Vec<[[u8; 16]; 128]>,
}

impl Folding {
    /// The matrices for operands of so many bits.
    pub fn new<F: Field>(cpu: Cpu, degree: usize, [r, s]: [Block; 2]) -> Folding {
        let (rows, columns) = (lagrange::<F>(cpu, SIDE, r), lagrange::<F>(cpu, SIDE, s));
        let matrix = |k: usize| {
            // Column `position` of the matrix is the image of a bit there.
            let (mut images, mut bits) = ([Block::ZERO; 128], [Block::ZERO; 128]);
            for (position, image) in images[..POSITIONS].iter_mut().enumerate() {
                let at = F::mul(cpu, rows[position / SIDE], columns[position % SIDE]);
                *image = F::mul(cpu, at, F::EMBEDDING[k]);
            }
            transpose(cpu, &images, &mut bits);
            bits.map(|row| array::from_fn(|n| (row.value() >> (4 * n)) as u8 & 15))
        };
        let matrices = (0..degree).map(matrix).collect();
        Folding { matrices }
    }

    /// The values of one operand of a group, one element for each lane. `rows` is memory for them.
    pub fn fold(&self, cpu: Cpu, strings: &[&[Block]], rows: &mut [Block], out: &mut [Block]) {
        assert!(
            strings.iter().all(|string| string.len() == GROUP_BLOCKS),
            "one group"
        );
        let matrices = &self.matrices;
        cpu.run(FoldPlanes {
            matrices,
            strings,
            rows: &mut rows[..GROUP_LANES],
        });
        transpose(cpu, rows, out);
    }
}

struct FoldPlanes<'a> {
    matrices: &'a [[[u8; 16]; 128]],
    strings: &'a [&'a [Block]],
    rows: &'a mut [Block],
}

impl Kernel for FoldPlanes<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let zero = l.splat(Block::ZERO);
        for c in (0..PLANE).step_by(L::WIDTH) {
            for (k, (matrix, string)) in self.matrices.iter().zip(self.strings).enumerate() {
                let mut sums = [[zero; 16]; 16];
                for n in 0..16 {
                    let mut planes = [zero; 4];
                    for i in 0..4 {
                        planes[i] = l.load(&string[(4 * n + i) * PLANE + c..]);
                    }
                    subset_sums(l, &planes, &mut sums[n]);
                }
                for (row, to) in matrix.iter().zip(self.rows.chunks_exact_mut(PLANE)) {
                    let mut halves = [sums[0][row[0] as usize & 15], sums[1][row[1] as usize & 15]];
                    for n in 1..8 {
                        for h in 0..2 {
                            let sum = sums[2 * n + h][row[2 * n + h] as usize & 15];
                            halves[h] = l.xor(halves[h], sum);
                        }
                    }
                    let sum = l.xor(halves[0], halves[1]);
                    let before = if k == 0 { zero } else { l.load(&to[c..]) };
                    l.store(&mut to[c..], l.xor(before, sum));
                }
            }
        }
    }
}
