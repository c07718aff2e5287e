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
//! A permute bit becomes a mask of its lane and is never branched on. Everything is vertical: lane
//! `l` of every vector belongs to one gate and row.
//!
//! Two blocks an AND: the sixteen T_G of a group, then the sixteen T_E.

use sealane_block::hash::HashLanes;
use sealane_block::lanes::Quad;
use sealane_block::{Block, GROUP, LabelHash, Lanes};

use crate::kernels::{GateKernel, GateLanes, Place, Tweaks};

/// The parts of an AND: the hashes of its operands.
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

/// [`GarbleAnd`] inside a kernel.
pub(crate) struct GarbleLanes<L: Lanes, H> {
    hash: H,
    delta: L::V,
}

/// [`EvaluateAnd`] inside a kernel.
pub(crate) struct EvaluateLanes<H> {
    hash: H,
}

/// Bytes of T_G of a group; T_E follows.
const ROW: usize = 16 * GROUP;

impl<H: LabelHash> GateKernel for GarbleAnd<'_, H> {
    const PLANES: &'static [usize] = &[16, 16];
    const LABELS: usize = 1;
    type Lanes<L: Lanes> = GarbleLanes<L, H::Lanes<L>>;

    #[inline(always)]
    fn lanes<L: Lanes>(&self, l: L) -> Self::Lanes<L> {
        GarbleLanes {
            hash: self.hash.lanes(l),
            delta: l.splat(self.delta),
        }
    }
}

impl<L: Lanes, H: HashLanes<L>> GateLanes<L> for GarbleLanes<L, H> {
    #[inline(always)]
    fn group(
        &mut self,
        l: L,
        tweaks: &impl Tweaks,
        slots: &mut [Block],
        place: Place,
        table: &mut [u8],
    ) {
        let table = &mut table[..2 * ROW];
        for q in 0..L::QUADS {
            let at = q * L::QUAD;
            let a = l.load_quad(&slots[place.a + at..]);
            let b = l.load_quad(&slots[place.b + at..]);
            let tweak = tweaks.of_quad(l, &self.hash, q);
            let [zero, one] = self
                .hash
                .both(l, [(tweak, A), (tweak, B)], self.delta, [a, b]);
            let (mut c, mut garbler, mut evaluator) = (a, a, b);
            for m in 0..4 {
                let (mask_a, mask_b) = (l.permute_mask(a[m]), l.permute_mask(b[m]));
                let both_a = l.xor(zero[0][m], one[0][m]);
                let both_b = l.xor(zero[1][m], one[1][m]);
                garbler[m] = l.xor(both_a, l.and(mask_b, self.delta));
                evaluator[m] = l.xor(both_b, a[m]);
                let garbler_wire = l.xor(zero[0][m], l.and(mask_a, garbler[m]));
                // T_E ^ a is the sum of the two hashes again.
                let evaluator_wire = l.xor(zero[1][m], l.and(mask_b, both_b));
                c[m] = l.xor(garbler_wire, evaluator_wire);
            }
            l.store_quad(&mut slots[place.out + at..], c);
            l.store_quad_bytes(&mut table[16 * at..], garbler);
            l.store_quad_bytes(&mut table[ROW + 16 * at..], evaluator);
        }
    }
}

impl<H: LabelHash> GateKernel for EvaluateAnd<'_, H> {
    const PLANES: &'static [usize] = &[16, 16];
    const LABELS: usize = 1;
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
    fn group(
        &mut self,
        l: L,
        tweaks: &impl Tweaks,
        slots: &mut [Block],
        place: Place,
        table: &mut [u8],
    ) {
        let table = &table[..2 * ROW];
        for q in 0..L::QUADS {
            let at = q * L::QUAD;
            let a = l.load_quad(&slots[place.a + at..]);
            let b = l.load_quad(&slots[place.b + at..]);
            let tweak = tweaks.of_quad(l, &self.hash, q);
            let hash = self.hash.one(l, [(tweak, A), (tweak, B)], [a, b]);
            let garbler: Quad<L> = l.load_quad_bytes(&table[16 * at..]);
            let evaluator: Quad<L> = l.load_quad_bytes(&table[ROW + 16 * at..]);
            let mut c = a;
            for m in 0..4 {
                let garbler_wire = l.xor(hash[0][m], l.and(l.permute_mask(a[m]), garbler[m]));
                let row = l.xor(evaluator[m], a[m]);
                let evaluator_wire = l.xor(hash[1][m], l.and(l.permute_mask(b[m]), row));
                c[m] = l.xor(garbler_wire, evaluator_wire);
            }
            l.store_quad(&mut slots[place.out + at..], c);
        }
    }
}
