//! The equations of half-gates, for any hash, on the quads of a group.
//!
//! Figure 2 of Zahur, Rosulek, Evans ("Two Halves Make a Whole", Eurocrypt 2015), with a and b the
//! zero labels, p their permute bits, H the hash with the tweak of the gate and row, which differs
//! between the halves, and s the permute bits of active labels:
//!
//! ```text
//! garbler    T_G = H(a) ^ H(a ^ delta) ^ p_b delta      W_G = H(a) ^ p_a T_G
//!            T_E = H(b) ^ H(b ^ delta) ^ a              W_E = H(b) ^ p_b (T_E ^ a)
//!            c   = W_G ^ W_E
//! evaluator  c   = H(a) ^ s_a T_G ^ H(b) ^ s_b (T_E ^ a)
//! ```
//!
//! A permute bit (the point-and-permute bit) becomes a mask of its lane and is never branched on.
//! Lanes are independent: lane `l` of every vector belongs to one (gate, row) pair.
//!
//! An AND has two blocks of table: a group holds its sixteen T_G, then its sixteen T_E.

use sealane_block::hash::HashLanes;
use sealane_block::lanes::Quad;
use sealane_block::{Block, GROUP, LabelHash, Lanes};

use crate::kernels::{GateKernel, GateLanes, GateSlots, Tweaks};

/// The tweak parts of an AND: one for the hash of each operand.
pub(crate) const A: u32 = 0;
pub(crate) const B: u32 = 1;

/// The garbler's side of an AND.
pub(crate) struct GarbleAnd<'a, H> {
    pub hash: &'a H,
    pub delta: Block,
}

/// The evaluator's side of an AND.
pub(crate) struct EvaluateAnd<'a, H> {
    pub hash: &'a H,
}

/// The form of [`GarbleAnd`] inside a kernel.
pub(crate) struct GarbleLanes<L: Lanes, H> {
    hash: H,
    delta: L::V,
}

/// The form of [`EvaluateAnd`] inside a kernel.
pub(crate) struct EvaluateLanes<H> {
    hash: H,
}

/// Bytes of T_G of a group; T_E follows.
const ROW: usize = 16 * GROUP;

impl<H: LabelHash> GateKernel for GarbleAnd<'_, H> {
    const PLANES: &'static [usize] = &[16, 16];
    const LABELS: usize = 1;
    const AHEAD: usize = H::MAX_PRECOMPUTED;
    type Lanes<L: Lanes> = GarbleLanes<L, H::Lanes<L>>;

    #[inline(always)]
    fn lanes<L: Lanes>(&self, l: L) -> Self::Lanes<L> {
        GarbleLanes {
            hash: self.hash.lanes(l),
            delta: l.splat(self.delta),
        }
    }
}

impl<L: Lanes, H> GarbleLanes<L, H> {
    /// Computes W_G and T_G of a vector from a and b, the hash of a, and its sum with that of
    /// a ^ delta.
    #[inline(always)]
    fn solve_a(&self, l: L, [a, b]: [L::V; 2], zero: L::V, sum: L::V) -> [L::V; 2] {
        let garbler = l.xor(sum, l.and(l.permute_mask(b), self.delta));
        let wire = l.xor(zero, l.and(l.permute_mask(a), garbler));
        [wire, garbler]
    }

    /// Computes W_E and T_E of a vector from a and b, the hash of b, and its sum with that of
    /// b ^ delta.
    #[inline(always)]
    fn solve_b(&self, l: L, [a, b]: [L::V; 2], zero: L::V, sum: L::V) -> [L::V; 2] {
        // T_E ^ a is the sum of the two hashes again.
        let wire = l.xor(zero, l.and(l.permute_mask(b), sum));
        [wire, l.xor(sum, a)]
    }
}

/// Computes c of a vector from a, b, their hashes, T_G and T_E.
#[inline(always)]
fn solve_evaluator<L: Lanes>(l: L, [a, b]: [L::V; 2], hash: [L::V; 2], table: [L::V; 2]) -> L::V {
    let [garbler, evaluator] = table;
    let garbler_wire = l.xor(hash[0], l.and(l.permute_mask(a), garbler));
    let row = l.xor(evaluator, a);
    let evaluator_wire = l.xor(hash[1], l.and(l.permute_mask(b), row));
    l.xor(garbler_wire, evaluator_wire)
}

impl<L: Lanes, H: HashLanes<L>> GateLanes<L> for GarbleLanes<L, H> {
    #[inline(always)]
    fn group(&mut self, l: L, tweaks: &impl Tweaks, place: GateSlots<'_>, table: &mut [u8]) {
        let table = &mut table[..2 * ROW];
        for q in 0..place.quads {
            let at = q * L::QUAD;
            let a = l.load_quad(&place.slots[place.a + at..]);
            let b = l.load_quad(&place.slots[place.b + at..]);
            let tweak = tweaks.of_quad(l, &self.hash, q);
            let [mut c, mut row] = self.hash.hash_and_sum(l, (tweak, A), self.delta, a);
            for m in 0..4 {
                [c[m], row[m]] = self.solve_a(l, [a[m], b[m]], c[m], row[m]);
            }
            l.store_quad_bytes(&mut table[16 * at..], row);
            let [wire, mut row] = self.hash.hash_and_sum(l, (tweak, B), self.delta, b);
            for m in 0..4 {
                let evaluator_wire;
                [evaluator_wire, row[m]] = self.solve_b(l, [a[m], b[m]], wire[m], row[m]);
                c[m] = l.xor(c[m], evaluator_wire);
            }
            l.store_quad(&mut place.slots[place.out + at..], c);
            l.store_quad_bytes(&mut table[ROW + 16 * at..], row);
        }
    }

    #[inline(always)]
    fn precompute_keys(&mut self, l: L, tweaks: &[Block]) {
        let tweaks = self.hash.pair_tweaks(l, tweaks);
        self.hash.precompute_keys(l, [(tweaks, A), (tweaks, B)]);
    }

    #[inline(always)]
    fn vector(
        &mut self,
        l: L,
        m: usize,
        tweak: L::V,
        labels: [L::V; 2],
        _: [L::V; 2],
    ) -> (L::V, [L::V; 2]) {
        let [zero, one] =
            self.hash
                .hash_both_precomputed(l, m, parts(l, tweak), self.delta, labels);
        let sums = [l.xor(zero[0], one[0]), l.xor(zero[1], one[1])];
        let [garbler_wire, garbler] = self.solve_a(l, labels, zero[0], sums[0]);
        let [evaluator_wire, evaluator] = self.solve_b(l, labels, zero[1], sums[1]);
        (l.xor(garbler_wire, evaluator_wire), [garbler, evaluator])
    }
}

impl<H: LabelHash> GateKernel for EvaluateAnd<'_, H> {
    const PLANES: &'static [usize] = &[16, 16];
    const LABELS: usize = 1;
    const AHEAD: usize = H::MAX_PRECOMPUTED;
    type Lanes<L: Lanes> = EvaluateLanes<H::Lanes<L>>;

    #[inline(always)]
    fn lanes<L: Lanes>(&self, l: L) -> Self::Lanes<L> {
        EvaluateLanes {
            hash: self.hash.lanes(l),
        }
    }
}

impl<L: Lanes, H: HashLanes<L>> GateLanes<L> for EvaluateLanes<H> {
    #[inline(always)]
    fn group(&mut self, l: L, tweaks: &impl Tweaks, place: GateSlots<'_>, table: &mut [u8]) {
        let table = &table[..2 * ROW];
        for q in 0..place.quads {
            let at = q * L::QUAD;
            let a = l.load_quad(&place.slots[place.a + at..]);
            let b = l.load_quad(&place.slots[place.b + at..]);
            let tweak = tweaks.of_quad(l, &self.hash, q);
            let hash = self.hash.hash_one(l, [(tweak, A), (tweak, B)], [a, b]);
            let garbler: Quad<L> = l.load_quad_bytes(&table[16 * at..]);
            let evaluator: Quad<L> = l.load_quad_bytes(&table[ROW + 16 * at..]);
            let mut c = a;
            for m in 0..4 {
                let hashes = [hash[0][m], hash[1][m]];
                c[m] = solve_evaluator(l, [a[m], b[m]], hashes, [garbler[m], evaluator[m]]);
            }
            l.store_quad(&mut place.slots[place.out + at..], c);
        }
    }

    #[inline(always)]
    fn precompute_keys(&mut self, l: L, tweaks: &[Block]) {
        let tweaks = self.hash.pair_tweaks(l, tweaks);
        self.hash.precompute_keys(l, [(tweaks, A), (tweaks, B)]);
    }

    #[inline(always)]
    fn vector(
        &mut self,
        l: L,
        m: usize,
        tweak: L::V,
        labels: [L::V; 2],
        rows: [L::V; 2],
    ) -> (L::V, [L::V; 2]) {
        let hashes = self.hash.hash_precomputed(l, m, parts(l, tweak), labels);
        (solve_evaluator(l, labels, hashes, rows), rows)
    }
}

/// Returns the tweaks of the two parts.
#[inline(always)]
fn parts<L: Lanes>(l: L, tweak: L::V) -> [L::V; 2] {
    let part = |part: u32| l.xor(tweak, l.splat(Block::new((part as u128) << 96)));
    [part(A), part(B)]
}
