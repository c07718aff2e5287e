//! The equations of three-halves on one vector of gates; the parent module defines the letters.

use sealane_block::{Block, Lanes};

/// Three vectors: for A, for B, and for A + B.
pub(super) type Parts<L> = [<L as Lanes>::V; 3];

/// The offset of a garbler, with derived constants.
pub(super) struct Offset<L: Lanes> {
    /// delta, w delta and w^2 delta.
    multiples: [L::V; 3],
    /// The block (delta_R, delta_L).
    swapped: L::V,
    control_bit: L::V,
    /// Constant bits of z_A and z_B: alpha is the complement of a permute bit.
    complements: L::V,
}

impl<L: Lanes> Offset<L> {
    #[inline(always)]
    pub fn new(l: L, delta: Block) -> Offset<L> {
        let delta = l.splat(delta);
        let turned = omega(l, delta);
        Offset {
            multiples: [delta, turned, l.xor(delta, turned)],
            swapped: l.swap_words(delta),
            control_bit: l.splat(Block::new(1 << 32)),
            complements: l.splat(Block::new(6 << 32)),
        }
    }

    #[inline(always)]
    pub fn delta(&self) -> L::V {
        self.multiples[0]
    }

    /// Computes C, (G0, G1), and G2 with control bits, of one vector of gates. The inputs are zero
    /// labels, their hashes, and the sums of these with the hashes of the other labels.
    #[inline(always)]
    pub fn solve(&self, l: L, a: L::V, b: L::V, zero: Parts<L>, sums: Parts<L>) -> Parts<L> {
        let [delta, delta1, delta2] = self.multiples;
        let (p, q) = (l.permute_mask(a), l.permute_mask(b));
        let pq = l.xor(p, q);
        // x, x1, x2 are X, w X, w^2 X; likewise for Y.
        let [x, x1] = product(l, a, b);
        let x2 = l.xor(x, x1);
        let y = sum(l, [x, l.and(p, delta2), l.and(q, delta)]);
        let y1 = sum(l, [x1, l.and(p, delta), l.and(q, delta1)]);
        let y2 = l.xor(y, y1);

        // Pads and control bits together. The sums lack the constants of z: p z_A has none, since
        // p alpha is 0, but (p + q) z_AB has p + q.
        let both = l.xor(zero[2], l.and(pq, sums[2]));
        let left = sum(l, [zero[0], both, l.and(p, sums[0])]);
        let right = sum(l, [zero[1], l.swap_words(both), l.and(q, sums[1])]);
        let [r0, r1] = control_masks(l, l.xor(l.blend_words(right, left), pq));

        let cross = l.blend_words(b, a);
        let chosen = l.xor(l.and(r0, y), l.and(r1, y1));
        let mixed = l.and(pq, l.xor(x2, self.swapped));
        let c = sum(l, [l.blend_words(left, right), cross, chosen, mixed]);

        let e_y = sum(l, [y2, l.and(p, y), l.and(q, y1)]);
        let r_delta1 = l.xor(l.and(r0, delta1), l.and(r1, delta2));
        let mixed = l.and(pq, self.swapped);
        let pads = l.blend_words(sums[0], sums[1]);
        let halves = sum(l, [pads, cross, e_y, mixed, r_delta1]);

        let r_delta = l.xor(l.and(r0, delta), l.and(r1, delta1));
        let third = sum(l, [sums[2], x1, l.and(p, y2), l.and(q, y), delta2]);
        let third = l.xor(third, r_delta);

        let z = l.xor(l.blend_words(sums[1], sums[0]), l.blend_words(q, p));
        let z_ab = l.and(l.xor(sums[2], pq), self.control_bit);
        let z_a = l.shl64::<1>(l.and(z, self.control_bit));
        let z_b = l.shl64::<2>(l.and(l.swap_words(z), self.control_bit));
        let controls = sum(l, [z_ab, z_a, z_b, self.complements]);
        [c, halves, l.blend_words(third, controls)]
    }
}

/// Computes the active output label of one vector of gates.
#[inline(always)]
pub(super) fn open<L: Lanes>(
    l: L,
    a: L::V,
    b: L::V,
    hashes: Parts<L>,
    halves: L::V,
    third: L::V,
) -> L::V {
    let (i, j) = (l.permute_mask(a), l.permute_mask(b));
    // Every slice with its control bit at the place where the hash has it: lowest in the word
    // beside.
    let row_a = l.blend_words(halves, l.shr64::<1>(third));
    let row_b = l.blend_words(l.shr64::<2>(l.swap_words(third)), halves);
    let both = l.xor(hashes[2], l.and(l.xor(i, j), third));
    let left = sum(l, [hashes[0], both, l.and(i, row_a)]);
    let right = sum(l, [hashes[1], l.swap_words(both), l.and(j, row_b)]);
    let [r0, r1] = control_masks(l, l.blend_words(right, left));

    let [x, x1] = product(l, a, b);
    let chosen = l.xor(l.and(r0, x), l.and(r1, x1));
    let cross = l.blend_words(b, a);
    let absent = l.and(l.blend_words(i, j), cross);
    sum(l, [l.blend_words(left, right), cross, absent, chosen])
}

/// Returns r0 and r1 as masks, from the lowest bits of words 1 and 0.
#[inline(always)]
fn control_masks<L: Lanes>(l: L, v: L::V) -> [L::V; 2] {
    [l.permute_mask(l.swap_words(v)), l.permute_mask(v)]
}

/// Computes X = w^2 a + b, and w X = a + w b.
#[inline(always)]
fn product<L: Lanes>(l: L, a: L::V, b: L::V) -> [L::V; 2] {
    [sum(l, [a, omega(l, a), b]), l.xor(a, omega(l, b))]
}

/// Multiplies by w: w (l, r) = (r, l + r).
#[inline(always)]
fn omega<L: Lanes>(l: L, v: L::V) -> L::V {
    let right = l.blend_words(l.splat(Block::ZERO), v);
    l.xor(l.swap_words(v), right)
}

#[inline(always)]
fn sum<L: Lanes, const N: usize>(l: L, terms: [L::V; N]) -> L::V {
    let mut out = terms[0];
    for term in &terms[1..] {
        out = l.xor(out, *term);
    }
    out
}
