//! The equations of half-gates, on one quad of lanes.
//!
//! Figure 2 of the paper, with a and b the zero labels, p their permute bits, H the hash with the
//! tweak of the gate and lane, and subscript E for the half that the evaluator knows:
//!
//! ```text
//! garbler    T_G = H(a) ^ H(a ^ delta) ^ p_b delta      W_G = H(a) ^ p_a T_G
//!            T_E = H(b) ^ H(b ^ delta) ^ a              W_E = H(b) ^ p_b (T_E ^ a)
//!            c   = W_G ^ W_E
//! evaluator  c   = H(a) ^ s_a T_G ^ H(b) ^ s_b (T_E ^ a)
//! ```
//!
//! The halves use different tweaks. A permute bit becomes a mask of its lane and is never
//! branched on. Everything is vertical: lane `l` of every vector belongs to one gate and row.

use sealane_block::hash::MiLanes;
use sealane_block::lanes::Quad;
use sealane_block::{Block, Lanes, MiHash};

/// The tweak's half for H(a).
const GARBLER_HALF: u32 = 0;
/// The tweak's half for H(b).
const EVALUATOR_HALF: u32 = 1;

/// The rows of a quad of garbled gates.
#[derive(Clone, Copy)]
pub struct Rows<L: Lanes> {
    /// T_G.
    pub garbler: Quad<L>,
    /// T_E.
    pub evaluator: Quad<L>,
}

/// What garbling needs besides labels.
#[derive(Clone, Copy)]
pub struct GarbleLanes<L: Lanes> {
    mi: MiLanes<L>,
    delta: L::V,
    sigma_delta: L::V,
}

impl<L: Lanes> GarbleLanes<L> {
    /// For a garbler with this seed and offset.
    #[inline(always)]
    pub fn new(l: L, mi: MiHash, delta: Block) -> GarbleLanes<L> {
        let delta = l.splat(delta);
        GarbleLanes {
            mi: mi.lanes(l),
            delta,
            sigma_delta: l.sigma(delta),
        }
    }

    /// The zero labels and rows of the ANDs of quad `quad` in group `group`.
    #[inline(always)]
    pub fn and(&self, l: L, group: u64, quad: usize, a: Quad<L>, b: Quad<L>) -> (Quad<L>, Rows<L>) {
        let (hash_a, both_a) = self.hash_pair(l, (group, GARBLER_HALF), quad, a);
        let (hash_b, both_b) = self.hash_pair(l, (group, EVALUATOR_HALF), quad, b);
        let (mut c, mut rows) = (
            a,
            Rows {
                garbler: a,
                evaluator: b,
            },
        );
        for m in 0..4 {
            let (mask_a, mask_b) = (l.permute_mask(a[m]), l.permute_mask(b[m]));
            rows.garbler[m] = l.xor(both_a[m], l.and(mask_b, self.delta));
            rows.evaluator[m] = l.xor(both_b[m], a[m]);
            let garbler_wire = l.xor(hash_a[m], l.and(mask_a, rows.garbler[m]));
            // T_E ^ a is the sum of the two hashes again.
            let evaluator_wire = l.xor(hash_b[m], l.and(mask_b, both_b[m]));
            c[m] = l.xor(garbler_wire, evaluator_wire);
        }
        (c, rows)
    }

    /// H(x), and H(x) ^ H(x ^ delta).
    #[inline(always)]
    fn hash_pair(&self, l: L, tweak: (u64, u32), quad: usize, x: Quad<L>) -> (Quad<L>, Quad<L>) {
        let mut states = [x; 2];
        for m in 0..4 {
            // sigma is linear: the other label's sigma is one addition away.
            states[0][m] = l.sigma(x[m]);
            states[1][m] = l.xor(states[0][m], self.sigma_delta);
        }
        self.mi.encrypt(l, tweak, quad, &mut states);
        let (mut hash, mut both) = (x, x);
        for m in 0..4 {
            hash[m] = l.xor(states[0][m], l.sigma(x[m]));
            both[m] = l.xor(l.xor(states[0][m], states[1][m]), self.sigma_delta);
        }
        (hash, both)
    }
}

/// What evaluation needs besides labels and tables.
#[derive(Clone, Copy)]
pub struct EvaluateLanes<L: Lanes> {
    mi: MiLanes<L>,
}

impl<L: Lanes> EvaluateLanes<L> {
    /// For the garbler with this seed.
    #[inline(always)]
    pub fn new(l: L, mi: MiHash) -> EvaluateLanes<L> {
        EvaluateLanes { mi: mi.lanes(l) }
    }

    /// The active labels of the ANDs of quad `quad` in group `group`.
    #[inline(always)]
    pub fn and(
        &self,
        l: L,
        group: u64,
        quad: usize,
        (a, b): (Quad<L>, Quad<L>),
        rows: Rows<L>,
    ) -> Quad<L> {
        let hash_a = self.hash(l, (group, GARBLER_HALF), quad, a);
        let hash_b = self.hash(l, (group, EVALUATOR_HALF), quad, b);
        let mut c = a;
        for m in 0..4 {
            let garbler_wire = l.xor(hash_a[m], l.and(l.permute_mask(a[m]), rows.garbler[m]));
            let row = l.xor(rows.evaluator[m], a[m]);
            let evaluator_wire = l.xor(hash_b[m], l.and(l.permute_mask(b[m]), row));
            c[m] = l.xor(garbler_wire, evaluator_wire);
        }
        c
    }

    /// H(x).
    #[inline(always)]
    fn hash(&self, l: L, tweak: (u64, u32), quad: usize, x: Quad<L>) -> Quad<L> {
        let mut sigma = x;
        for m in 0..4 {
            sigma[m] = l.sigma(x[m]);
        }
        let mut states = [sigma];
        self.mi.encrypt(l, tweak, quad, &mut states);
        l.xor_quad(states[0], sigma)
    }
}
