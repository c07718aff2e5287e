//! DOC
use sealane_block::{Block, Lanes};

pub mod hash;
pub mod rows;
#[cfg(test)]
mod tests;

use hash::{GateHash, Quads};

/// The rows of two quads of garbled gates.
#[derive(Clone, Copy)]
pub struct Rows<L: Lanes> {
    /// `G0` in words 0 and 2, `G1` in words 1 and 3.
    pub halves: Quads<L>,
    /// `G2` in words 0 and 2; control bits `z_AB`, `z_A` and `z_B` in bits 32, 33 and 34. An
    /// evaluator looks at no other bit of words 1 and 3.
    pub thirds: Quads<L>,
}

/// The hashes of a gate, one vector of each.
#[derive(Clone, Copy)]
struct Hashes<L: Lanes> {
    a: L::V,
    b: L::V,
    ab: L::V,
}

/// What garbling needs besides labels and the hash.
pub struct GarbleLanes<L: Lanes, H> {
    hash: H,
    /// Delta, and omega and omega^2 times it.
    delta: [L::V; 3],
    swapped_delta: L::V,
    control_bit: L::V,
    control_ones: L::V,
    zero: [[L::V; 8]; 3],
    sums: [[L::V; 8]; 3],
}

impl<L: Lanes, H: GateHash<L>> GarbleLanes<L, H> {
    /// For a garbler with this offset, which `hash` has as well.
    #[inline(always)]
    pub fn new(l: L, hash: H, delta: Block) -> GarbleLanes<L, H> {
        let delta = l.splat(delta);
        let turned = omega(l, delta);
        GarbleLanes {
            hash,
            delta: [delta, turned, l.xor(delta, turned)],
            swapped_delta: l.swap_words(delta),
            control_bit: l.splat(Block::new(1 << 32)),
            control_ones: l.splat(Block::new(6 << 32)),
            zero: [[delta; 8]; 3],
            sums: [[delta; 8]; 3],
        }
    }

    /// The zero labels and rows of two quads of ANDs, the first of which have the numbers `first`.
    #[inline(always)]
    pub fn and(&mut self, l: L, first: [u64; 2], a: Quads<L>, b: Quads<L>) -> (Quads<L>, Rows<L>) {
        self.hash.begin(l, first);
        let ab = [l.xor_quad(a[0], b[0]), l.xor_quad(a[1], b[1])];
        self.keep(l, 0, a);
        self.keep(l, 1, b);
        self.keep(l, 2, ab);
        let (a, b) = (flat(a), flat(b));
        let (mut c, mut halves, mut thirds) = (a, a, a);
        for i in 0..8 {
            [c[i], halves[i], thirds[i]] = self.combine(l, a[i], b[i], i);
        }
        let rows = Rows { halves: quads(halves), thirds: quads(thirds) };
        (quads(c), rows)
    }

    /// Keeps the hashes of one part: those of the zero labels, and their sums with the others.
    #[inline(always)]
    fn keep(&mut self, l: L, part: usize, labels: Quads<L>) {
        let [zero, one] = self.hash.both(l, part as u32, labels);
        for k in 0..8 {
            self.zero[part][k] = zero[k / 4][k % 4];
            self.sums[part][k] = l.xor(zero[k / 4][k % 4], one[k / 4][k % 4]);
        }
    }

    /// The zero label and the rows of one vector of gates.
    #[inline(always)]
    fn combine(&self, l: L, a: L::V, b: L::V, i: usize) -> [L::V; 3] {
        let zero = Hashes::<L> { a: self.zero[0][i], b: self.zero[1][i], ab: self.zero[2][i] };
        let (sum_a, sum_b, sum_ab) = (self.sums[0][i], self.sums[1][i], self.sums[2][i]);

        let [delta, delta1, delta2] = self.delta;
        let (pa, pb) = (l.permute_mask(a), l.permute_mask(b));
        let pab = l.xor(pa, pb);
        // X from zero labels, then X0 from the labels with permute bit 0.
        let [x, x1] = product(l, a, b);
        let x2 = l.xor(x, x1);
        let y = sum(l, [x, l.and(pa, delta2), l.and(pb, delta)]);
        let y1 = sum(l, [x1, l.and(pa, delta), l.and(pb, delta1)]);
        let y2 = l.xor(y, y1);

        let ab = l.xor(zero.ab, l.and(pab, sum_ab));
        let left = sum(l, [zero.a, ab, l.and(pa, sum_a)]);
        let right = sum(l, [zero.b, l.swap_words(ab), l.and(pb, sum_b)]);
        let [r0, r1] = dice(l, l.xor(l.blend_words(right, left), pab));
        let cross = l.blend_words(b, a);

        let c = sum(
            l,
            [
                l.blend_words(left, right),
                cross,
                l.and(r0, y),
                l.and(r1, y1),
            ],
        );
        let c = l.xor(c, l.and(pab, l.xor(x2, self.swapped_delta)));

        let e_y = sum(l, [y2, l.and(pa, y), l.and(pb, y1)]);
        let halves = sum(l, [l.blend_words(sum_a, sum_b), cross, e_y]);
        let halves = sum(
            l,
            [halves, l.and(pab, self.swapped_delta), l.and(r0, delta1)],
        );
        let halves = l.xor(halves, l.and(r1, delta2));

        let third = sum(l, [sum_ab, x1, l.and(pa, y2), l.and(pb, y), delta2]);
        let third = sum(l, [third, l.and(r0, delta), l.and(r1, delta1)]);
        let bit = self.control_bit;
        let z = l.xor(l.blend_words(sum_b, sum_a), l.blend_words(pb, pa));
        let z_ab = l.and(l.xor(sum_ab, pab), bit);
        let z_a = l.shl64::<1>(l.and(z, bit));
        let z_b = l.shl64::<2>(l.and(l.swap_words(z), bit));
        let controls = sum(l, [z_ab, z_a, z_b, self.control_ones]);
        [c, halves, l.blend_words(third, controls)]
    }
}

/// What evaluation needs besides labels, tables and the hash.
pub struct EvaluateLanes<H> {
    hash: H,
}

impl<H> EvaluateLanes<H> {
    /// With this hash.
    #[inline(always)]
    pub fn new(hash: H) -> EvaluateLanes<H> {
        EvaluateLanes { hash }
    }

    /// The active labels of two quads of ANDs, the first of which have the numbers `first`.
    #[inline(always)]
    pub fn and<L: Lanes>(
        &mut self,
        l: L,
        first: [u64; 2],
        a: Quads<L>,
        b: Quads<L>,
        rows: Rows<L>,
    ) -> Quads<L>
    where
        H: GateHash<L>,
    {
        self.hash.begin(l, first);
        let ab = [l.xor_quad(a[0], b[0]), l.xor_quad(a[1], b[1])];
        let hashes = [
            flat(self.hash.one(l, 0, a)),
            flat(self.hash.one(l, 1, b)),
            flat(self.hash.one(l, 2, ab)),
        ];
        let (a, b, halves, thirds) = (flat(a), flat(b), flat(rows.halves), flat(rows.thirds));
        let mut c = a;
        for i in 0..8 {
            let hash = Hashes { a: hashes[0][i], b: hashes[1][i], ab: hashes[2][i] };
            c[i] = open(l, a[i], b[i], hash, halves[i], thirds[i]);
        }
        quads(c)
    }
}

#[inline(always)]
fn flat<V: Copy>([[a, b, c, d], [e, f, g, h]]: [[V; 4]; 2]) -> [V; 8] {
    [a, b, c, d, e, f, g, h]
}

#[inline(always)]
fn quads<V: Copy>([a, b, c, d, e, f, g, h]: [V; 8]) -> [[V; 4]; 2] {
    [[a, b, c, d], [e, f, g, h]]
}

/// The active label of one vector of gates.
#[inline(always)]
fn open<L: Lanes>(l: L, a: L::V, b: L::V, hash: Hashes<L>, halves: L::V, third: L::V) -> L::V {
    let (i, j) = (l.permute_mask(a), l.permute_mask(b));
    let ij = l.xor(i, j);
    // Each slice with its control bit in the lowest bit of a word beside it.
    let row_a = l.blend_words(halves, l.shr64::<1>(third));
    let row_b = l.blend_words(l.shr64::<2>(l.swap_words(third)), halves);
    let ab = l.xor(hash.ab, l.and(ij, third));
    let left = sum(l, [hash.a, ab, l.and(i, row_a)]);
    let right = sum(l, [hash.b, l.swap_words(ab), l.and(j, row_b)]);
    let [r0, r1] = dice(l, l.blend_words(right, left));
    let [x, x1] = product(l, a, b);
    let cross = l.blend_words(b, a);
    let hidden = l.and(l.blend_words(i, j), cross);
    let c = sum(l, [l.blend_words(left, right), cross, hidden]);
    sum(l, [c, l.and(r0, x), l.and(r1, x1)])
}

/// The bits r0 and r1 as masks, from the lowest bits of words 1 and 0.
#[inline(always)]
fn dice<L: Lanes>(l: L, v: L::V) -> [L::V; 2] {
    [l.permute_mask(l.swap_words(v)), l.permute_mask(v)]
}

/// X = omega^2 a + b, and omega X.
#[inline(always)]
fn product<L: Lanes>(l: L, a: L::V, b: L::V) -> [L::V; 2] {
    [sum(l, [a, omega(l, a), b]), l.xor(a, omega(l, b))]
}

/// (left, right) to (right, left + right).
#[inline(always)]
fn omega<L: Lanes>(l: L, v: L::V) -> L::V {
    let zero = l.splat(Block::ZERO);
    l.xor(l.swap_words(v), l.blend_words(zero, v))
}

#[inline(always)]
fn sum<L: Lanes, const N: usize>(l: L, terms: [L::V; N]) -> L::V {
    let mut out = terms[0];
    for term in &terms[1..] {
        out = l.xor(out, *term);
    }
    out
}
