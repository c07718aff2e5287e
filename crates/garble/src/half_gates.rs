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

use sealane_block::aes::FreshKeys;
use sealane_block::hash::MiLanes;
use sealane_block::lanes::Quad;
use sealane_block::{Block, Lanes, MiHash};

/// The rows of a quad of garbled gates.
#[derive(Clone, Copy)]
pub struct Rows<L: Lanes> {
    /// T_G.
    pub garbler: Quad<L>,
    /// T_E.
    pub evaluator: Quad<L>,
}

/// What garbling needs besides labels.
pub struct GarbleLanes<L: Lanes> {
    mi: MiLanes<L>,
    delta: L::V,
    sigma_delta: L::V,
    keys: FreshKeys<L>,
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
            keys: FreshKeys::new(l),
        }
    }

    /// The zero labels and rows of a quad of ANDs, the first of which has the number `first`.
    #[inline(always)]
    pub fn and(&mut self, l: L, first: u64, a: Quad<L>, b: Quad<L>) -> (Quad<L>, Rows<L>) {
        expand_gate(l, &self.mi, first, &mut self.keys);
        let sigma = sigma_pair(l, a, b);
        // sigma is linear: that of the other label is one addition away.
        let mut other = sigma;
        for m in 0..4 {
            other[0][m] = l.xor(sigma[0][m], self.sigma_delta);
            other[1][m] = l.xor(sigma[1][m], self.sigma_delta);
        }
        let zero = hash_pair(l, &self.keys, sigma);
        let one = hash_pair(l, &self.keys, other);

        let (mut c, mut rows) = (
            a,
            Rows {
                garbler: a,
                evaluator: b,
            },
        );
        for m in 0..4 {
            let (mask_a, mask_b) = (l.permute_mask(a[m]), l.permute_mask(b[m]));
            let both_a = l.xor(zero[0][m], one[0][m]);
            let both_b = l.xor(zero[1][m], one[1][m]);
            rows.garbler[m] = l.xor(both_a, l.and(mask_b, self.delta));
            rows.evaluator[m] = l.xor(both_b, a[m]);
            let garbler_wire = l.xor(zero[0][m], l.and(mask_a, rows.garbler[m]));
            // T_E ^ a is the sum of the two hashes again.
            let evaluator_wire = l.xor(zero[1][m], l.and(mask_b, both_b));
            c[m] = l.xor(garbler_wire, evaluator_wire);
        }
        (c, rows)
    }
}

/// What evaluation needs besides labels and tables.
pub struct EvaluateLanes<L: Lanes> {
    mi: MiLanes<L>,
    keys: FreshKeys<L>,
}

impl<L: Lanes> EvaluateLanes<L> {
    /// For the garbler with this seed.
    #[inline(always)]
    pub fn new(l: L, mi: MiHash) -> EvaluateLanes<L> {
        EvaluateLanes {
            mi: mi.lanes(l),
            keys: FreshKeys::new(l),
        }
    }

    /// The active labels of a quad of ANDs, the first of which has the number `first`.
    #[inline(always)]
    pub fn and(&mut self, l: L, first: u64, a: Quad<L>, b: Quad<L>, rows: Rows<L>) -> Quad<L> {
        expand_gate(l, &self.mi, first, &mut self.keys);
        let hash = hash_pair(l, &self.keys, sigma_pair(l, a, b));
        let mut c = a;
        for m in 0..4 {
            let garbler_wire = l.xor(hash[0][m], l.and(l.permute_mask(a[m]), rows.garbler[m]));
            let row = l.xor(rows.evaluator[m], a[m]);
            let evaluator_wire = l.xor(hash[1][m], l.and(l.permute_mask(b[m]), row));
            c[m] = l.xor(garbler_wire, evaluator_wire);
        }
        c
    }
}

/// The keys of both hashes of a quad of gates: half 0 is that of a, half 1 that of b.
#[inline(always)]
fn expand_gate<L: Lanes>(l: L, mi: &MiLanes<L>, first: u64, keys: &mut FreshKeys<L>) {
    mi.expand(l, [(first, 0), (first, 1)], keys);
}

#[inline(always)]
fn sigma_pair<L: Lanes>(l: L, a: Quad<L>, b: Quad<L>) -> [Quad<L>; 2] {
    let mut sigma = [a, b];
    for m in 0..4 {
        sigma[0][m] = l.sigma(a[m]);
        sigma[1][m] = l.sigma(b[m]);
    }
    sigma
}

/// H(a) and H(b) from sigma of both.
#[inline(always)]
fn hash_pair<L: Lanes>(l: L, keys: &FreshKeys<L>, sigma: [Quad<L>; 2]) -> [Quad<L>; 2] {
    let [a, b] = keys.encrypt(l, sigma);
    [l.xor_quad(a, sigma[0]), l.xor_quad(b, sigma[1])]
}
