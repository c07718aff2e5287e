//! The first level: operands as polynomials in two variables over GF(16).
//!
//! The 64 positions of a group are the points of the grid `H x H`, where `H` holds the elements 0
//! to 7 of GF(16). The value of an operand at position `8 r + c` is that of its polynomial, of
//! degree 7 in both variables, at `(r, c)`. A product has degree 14 in both and is known by its
//! values at 15 x 15 points, 0 to 14: 64 of the grid and [`GIVEN`] others.
//!
//! GF(16) is the tower of [`Small::Gf16`](crate::Small::Gf16). An element of it for each lane is
//! four *planes*, the bits of all lanes. `H` and the points 8 to 15 are cosets of a subspace, so
//! interpolation is an additive Fourier transform (Lin, Chung and Han, FOCS 2014): 24 steps of two
//! sums and a product with a constant, which are sums of planes. Folding at a challenge is a
//! product of a public bit matrix with planes: the 16 sums of four planes each are made once, then
//! a row of the matrix reads one sum for each of its nibbles (Arlazarov, Dinic, Kronrod and
//! Faradzev, 1970). Addresses depend on the matrix, which follows from a challenge, and never on a
//! bit of an operand.

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

/// Subspace polynomial `level` at a point, over its value at `2^level`: zero at the points below
/// `2^level`. As a polynomial it is linear, of degree `2^level`.
const fn subspace(level: usize, point: u8) -> u8 {
    if level == 0 {
        return point;
    }
    // The one before times its sum with its value at the point that is added, which is 1.
    let (at, one) = (subspace(level - 1, point), subspace(level - 1, 1 << level));
    mul16(mul16(at, at ^ 1), inverse16(mul16(one, one ^ 1)))
}

/// The product with an element that is a constant: for each bit of it the bits that it sums up.
const fn times(factor: u8) -> [u8; 4] {
    let (mut rows, mut bit) = ([0; 4], 0);
    while bit < 4 {
        let image = mul16(factor, 1 << bit);
        let mut row = 0;
        while row < 4 {
            rows[row] |= (image >> row & 1) << bit;
            row += 1;
        }
        bit += 1;
    }
    rows
}

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

/// The planes of elements, for the lanes of a vector.
type Element<L> = [<L as Lanes>::V; 4];

/// Adds `FACTOR` times an element to another one.
#[inline(always)]
fn add_times<L: Lanes, const FACTOR: u8>(l: L, to: &mut Element<L>, element: &Element<L>) {
    let rows = const { times(FACTOR) };
    for (to, row) in to.iter_mut().zip(rows) {
        for bit in 0..4 {
            if row >> bit & 1 == 1 {
                *to = l.xor(*to, element[bit]);
            }
        }
    }
}

/// From the values of a polynomial at two points that differ by `2^level` to its coefficients of 1
/// and of subspace polynomial `level`, which is `AT` at the first point.
#[inline(always)]
fn interpolate<L: Lanes, const AT: u8>(
    l: L,
    line: &mut [Element<L>; SIDE],
    first: usize,
    second: usize,
) {
    let low = line[first];
    add_times::<L, 1>(l, &mut line[second], &low);
    let slope = line[second];
    add_times::<L, AT>(l, &mut line[first], &slope);
}

/// The other way round.
#[inline(always)]
fn evaluate<L: Lanes, const AT: u8>(
    l: L,
    line: &mut [Element<L>; SIDE],
    first: usize,
    second: usize,
) {
    let slope = line[second];
    add_times::<L, AT>(l, &mut line[first], &slope);
    let low = line[first];
    add_times::<L, 1>(l, &mut line[second], &low);
}

/// The values at the other points of a line, from those at `H`: coefficients in the basis of
/// products of subspace polynomials, then values at the points 8 to 15.
#[inline(always)]
fn extend_line<L: Lanes>(l: L, line: &mut [Element<L>; SIDE], out: &mut [Block]) {
    interpolate::<L, { subspace(0, 0) }>(l, line, 0, 1);
    interpolate::<L, { subspace(0, 2) }>(l, line, 2, 3);
    interpolate::<L, { subspace(0, 4) }>(l, line, 4, 5);
    interpolate::<L, { subspace(0, 6) }>(l, line, 6, 7);
    for i in 0..2 {
        interpolate::<L, { subspace(1, 0) }>(l, line, i, i + 2);
        interpolate::<L, { subspace(1, 4) }>(l, line, i + 4, i + 6);
    }
    for i in 0..4 {
        interpolate::<L, { subspace(2, 0) }>(l, line, i, i + 4);
        evaluate::<L, { subspace(2, 8) }>(l, line, i, i + 4);
    }
    for i in 0..2 {
        evaluate::<L, { subspace(1, 8) }>(l, line, i, i + 2);
        evaluate::<L, { subspace(1, 12) }>(l, line, i + 4, i + 6);
    }
    evaluate::<L, { subspace(0, 8) }>(l, line, 0, 1);
    evaluate::<L, { subspace(0, 10) }>(l, line, 2, 3);
    evaluate::<L, { subspace(0, 12) }>(l, line, 4, 5);
    evaluate::<L, { subspace(0, 14) }>(l, line, 6, 7);
    for (element, out) in line[..MORE].iter().zip(out.chunks_exact_mut(4 * L::WIDTH)) {
        for (plane, out) in element.iter().zip(out.chunks_exact_mut(L::WIDTH)) {
            l.store(out, *plane);
        }
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
        let mut line = [[l.splat(Block::ZERO); 4]; SIDE];
        let out = &mut self.lines[to * LINE * L::WIDTH..][..LINE * L::WIDTH];
        let at = |i: usize| (first + i * step) * PLANE + c;
        match strings {
            // The compiler leaves out what is zero.
            [bits] => {
                for i in 0..SIDE {
                    line[i][0] = l.load(&bits[at(i)..]);
                }
                extend_line(l, &mut line, out);
            }
            _ => {
                for i in 0..SIDE {
                    for k in 0..self.degree.min(4) {
                        line[i][k] = l.load(&strings[k][at(i)..]);
                    }
                }
                extend_line(l, &mut line, out);
            }
        }
    }

    /// Extends the column of a point outside of the grid, from the extended rows of an operand.
    #[inline(always)]
    fn new_column<L: Lanes>(&mut self, l: L, operand: usize, point: usize, to: usize) {
        let mut line = [[l.splat(Block::ZERO); 4]; SIDE];
        for row in 0..SIDE {
            let at = ((operand * SIDE + row) * LINE + 4 * point) * L::WIDTH;
            line[row] = l.load_vectors(&self.lines[at..]);
        }
        let out = &mut self.lines[to * LINE * L::WIDTH..][..LINE * L::WIDTH];
        extend_line(l, &mut line, out);
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
    /// For each plane of an operand 128 rows, a bit for each position.
    matrices: Vec<[u64; 128]>,
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
            bits.map(|row| row.value() as u64)
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
    matrices: &'a [[u64; 128]],
    strings: &'a [&'a [Block]],
    rows: &'a mut [Block],
}

impl Kernel for FoldPlanes<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let zero = l.splat(Block::ZERO);
        let mut sums = [[zero; 16]; 16];
        for c in (0..PLANE).step_by(L::WIDTH) {
            for (k, (matrix, string)) in self.matrices.iter().zip(self.strings).enumerate() {
                for n in 0..16 {
                    let mut planes = [zero; 4];
                    for i in 0..4 {
                        planes[i] = l.load(&string[(4 * n + i) * PLANE + c..]);
                    }
                    subset_sums(l, &planes, &mut sums[n]);
                }
                for (row, to) in matrix.iter().zip(self.rows.chunks_exact_mut(PLANE)) {
                    let mut halves = [
                        sums[0][*row as usize & 15],
                        sums[1][(row >> 4) as usize & 15],
                    ];
                    for n in 1..8 {
                        for h in 0..2 {
                            let nibble = (row >> (4 * (2 * n + h))) as usize & 15;
                            halves[h] = l.xor(halves[h], sums[2 * n + h][nibble]);
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
