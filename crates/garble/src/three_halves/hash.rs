//! What garbling asks of a hash, and MI in two forms.
//!
//! A gate hashes a label in several *parts*, whose hashes must be independent even of equal
//! labels: an AND of a wire with itself hashes one label in parts 0 and 1. [`MiGates`] gives every
//! part a key of its own, as [`MiHash`] is written in the paper. [`MiOneKey`] schedules one key
//! for a gate and lets the part enter the block:
//!
//! ```text
//! MiGates   s = sigma(x)           H = AES_(S ^ (number, part))(s) ^ s
//! MiOneKey  s = sigma(x) ^ part    H = AES_(S ^ (number, 0))(s) ^ s
//! ```
//!
//! Two points of one key in [`MiOneKey`] are equal if the sum of two labels, of which delta is a
//! term or not, is a fixed block other than zero; zero itself, as of equal labels, is no such
//! block because parts differ. So all points of a gate are distinct but with probability 2^-127
//! for each pair. What is left of the argument for MI is how often an AES call of the adversary
//! meets what it does not know: one call under the key of a gate meets one of three hidden points
//! or of their three outputs, each with probability 2^-127, instead of one of either. That costs
//! 1.6 bits of the bound, and still nothing for the number of gates and instances.

use sealane_block::aes::FreshKeys;
use sealane_block::hash::MiLanes;
use sealane_block::lanes::Quad;
use sealane_block::{Block, Lanes, MiHash};

/// Two quads of blocks: as many as keep the AES units busy.
pub type Quads<L> = [Quad<L>; 2];

/// A hash inside a kernel that garbles or evaluates two quads of gates at a time.
pub trait GateHash<L: Lanes> {
    /// Goes on to the gates whose first numbers are these.
    fn begin(&mut self, l: L, first: [u64; 2]);
    /// The hashes of `zero`, and those of `zero ^ delta`, under the same tweaks: those of a part
    /// of these gates.
    fn both(&mut self, l: L, part: u32, zero: Quads<L>) -> [Quads<L>; 2];
    /// The hashes of `active`.
    fn one(&mut self, l: L, part: u32, active: Quads<L>) -> Quads<L>;
}

/// MI with a key for every part of a gate: [`MiHash`] as it stands.
pub struct MiGates<L: Lanes> {
    mi: MiLanes<L>,
    sigma_delta: L::V,
    first: [u64; 2],
    keys: FreshKeys<L>,
}

impl<L: Lanes> MiGates<L> {
    /// For a garbler with this offset; an evaluator gives zero, and never asks for both.
    #[inline(always)]
    pub fn new(l: L, mi: MiHash, delta: Block) -> MiGates<L> {
        MiGates {
            mi: mi.lanes(l),
            sigma_delta: l.sigma(l.splat(delta)),
            first: [0; 2],
            keys: FreshKeys::new(l),
        }
    }

    #[inline(always)]
    fn expand(&mut self, l: L, part: u32) {
        let tweaks = [(self.first[0], part), (self.first[1], part)];
        self.mi.expand(l, tweaks, &mut self.keys);
    }
}

impl<L: Lanes> GateHash<L> for MiGates<L> {
    #[inline(always)]
    fn begin(&mut self, _l: L, first: [u64; 2]) {
        self.first = first;
    }

    #[inline(always)]
    fn both(&mut self, l: L, part: u32, zero: Quads<L>) -> [Quads<L>; 2] {
        self.expand(l, part);
        both(l, &self.keys, sigma_quads(l, zero), self.sigma_delta)
    }

    #[inline(always)]
    fn one(&mut self, l: L, part: u32, active: Quads<L>) -> Quads<L> {
        self.expand(l, part);
        encrypt(l, &self.keys, sigma_quads(l, active))
    }
}

/// MI with one key for a gate; see the module's page.
pub struct MiOneKey<L: Lanes> {
    mi: MiLanes<L>,
    sigma_delta: L::V,
    keys: FreshKeys<L>,
}

impl<L: Lanes> MiOneKey<L> {
    /// For a garbler with this offset; an evaluator gives zero, and never asks for both.
    #[inline(always)]
    pub fn new(l: L, mi: MiHash, delta: Block) -> MiOneKey<L> {
        MiOneKey {
            mi: mi.lanes(l),
            sigma_delta: l.sigma(l.splat(delta)),
            keys: FreshKeys::new(l),
        }
    }

    /// sigma(x) ^ part.
    #[inline(always)]
    fn place(&self, l: L, part: u32, quads: Quads<L>) -> Quads<L> {
        let part = l.splat(Block::new(part as u128));
        let mut out = sigma_quads(l, quads);
        for m in 0..4 {
            out[0][m] = l.xor(out[0][m], part);
            out[1][m] = l.xor(out[1][m], part);
        }
        out
    }
}

impl<L: Lanes> GateHash<L> for MiOneKey<L> {
    #[inline(always)]
    fn begin(&mut self, l: L, first: [u64; 2]) {
        self.mi
            .expand(l, [(first[0], 0), (first[1], 0)], &mut self.keys);
    }

    #[inline(always)]
    fn both(&mut self, l: L, part: u32, zero: Quads<L>) -> [Quads<L>; 2] {
        both(l, &self.keys, self.place(l, part, zero), self.sigma_delta)
    }

    #[inline(always)]
    fn one(&mut self, l: L, part: u32, active: Quads<L>) -> Quads<L> {
        encrypt(l, &self.keys, self.place(l, part, active))
    }
}

/// The hashes from sigma of labels, and those of the other labels.
#[inline(always)]
fn both<L: Lanes>(l: L, keys: &FreshKeys<L>, sigma: Quads<L>, sigma_delta: L::V) -> [Quads<L>; 2] {
    // sigma is linear: that of the other label is one addition away.
    let mut other = sigma;
    for m in 0..4 {
        other[0][m] = l.xor(sigma[0][m], sigma_delta);
        other[1][m] = l.xor(sigma[1][m], sigma_delta);
    }
    [encrypt(l, keys, sigma), encrypt(l, keys, other)]
}

#[inline(always)]
fn sigma_quads<L: Lanes>(l: L, quads: Quads<L>) -> Quads<L> {
    let mut sigma = quads;
    for m in 0..4 {
        sigma[0][m] = l.sigma(quads[0][m]);
        sigma[1][m] = l.sigma(quads[1][m]);
    }
    sigma
}

#[inline(always)]
fn encrypt<L: Lanes>(l: L, keys: &FreshKeys<L>, sigma: Quads<L>) -> Quads<L> {
    let [low, high] = keys.encrypt(l, sigma);
    [l.xor_quad(low, sigma[0]), l.xor_quad(high, sigma[1])]
}
