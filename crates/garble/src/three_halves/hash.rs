//! What a garbling scheme asks of a hash: two quads at a time, each with tweaks of its own.

use sealane_block::aes::FreshKeys;
use sealane_block::hash::MiLanes;
use sealane_block::lanes::Quad;
use sealane_block::{Block, Lanes, MiHash};

/// Two quads of blocks: as many as keep the AES units busy.
pub type Quads<L> = [Quad<L>; 2];

/// The tweaks of two quads: of each, the number of its first block and the part of the gate.
pub type Tweaks = [(u64, u32); 2];

/// A hash inside a kernel that garbles or evaluates.
pub trait GateHash<L: Lanes> {
    /// The hashes of `zero`, and those of `zero ^ delta`, under the same tweaks.
    fn both(&mut self, l: L, tweaks: Tweaks, zero: Quads<L>) -> [Quads<L>; 2];
    /// The hashes of `active`.
    fn one(&mut self, l: L, tweaks: Tweaks, active: Quads<L>) -> Quads<L>;
}

/// [`MiHash`] as a [`GateHash`].
pub struct MiGates<L: Lanes> {
    mi: MiLanes<L>,
    sigma_delta: L::V,
    keys: FreshKeys<L>,
}

impl<L: Lanes> MiGates<L> {
    /// For a garbler with this offset; an evaluator gives zero, and never asks for both.
    #[inline(always)]
    pub fn new(l: L, mi: MiHash, delta: Block) -> MiGates<L> {
        MiGates {
            mi: mi.lanes(l),
            sigma_delta: l.sigma(l.splat(delta)),
            keys: FreshKeys::new(l),
        }
    }
}

impl<L: Lanes> GateHash<L> for MiGates<L> {
    #[inline(always)]
    fn both(&mut self, l: L, tweaks: Tweaks, zero: Quads<L>) -> [Quads<L>; 2] {
        self.mi.expand(l, tweaks, &mut self.keys);
        let sigma = sigma_quads(l, zero);
        // sigma is linear: that of the other label is one addition away.
        let mut other = sigma;
        for m in 0..4 {
            other[0][m] = l.xor(sigma[0][m], self.sigma_delta);
            other[1][m] = l.xor(sigma[1][m], self.sigma_delta);
        }
        [encrypt(l, &self.keys, sigma), encrypt(l, &self.keys, other)]
    }

    #[inline(always)]
    fn one(&mut self, l: L, tweaks: Tweaks, active: Quads<L>) -> Quads<L> {
        self.mi.expand(l, tweaks, &mut self.keys);
        encrypt(l, &self.keys, sigma_quads(l, active))
    }
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
