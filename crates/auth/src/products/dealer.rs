//! The ideal functionality of authenticated bits and products: a dealer whom both parties trust
//! gives each its part, and nothing is sent.
//!
//! For tests and for measurements of what is built on it, as those of crate `ot`. Each party has a
//! copy of the dealer, which expands public randomness of the session: **both parties know all
//! secrets of both**. So what is built on it is as secure as the protocol is against parties that
//! do not look, and no more.

use super::{Begun, Products};
use crate::bits::Bits;
use sealane_block::{Block, Prg};
use sealane_net::Mesh;
use sealane_party::Result;
use sealane_protocol::{Demand, Paper};
use zeroize::Zeroizing;

/// A dealer whose two copies deal alike.
pub struct DangerDealer {
    random: Prg,
    /// Offsets of garbler and evaluator.
    offsets: [Block; 2],
    me: usize,
}

/// Number of the garbler, and of the evaluator.
const GARBLER: usize = 0;
const EVALUATOR: usize = 1;

impl DangerDealer {
    fn blocks(&mut self, count: usize) -> Vec<Block> {
        let mut blocks = vec![Block::ZERO; count];
        self.random.fill(&mut blocks);
        blocks
    }

    /// Authenticates bits, which are bits 0 of shares.
    fn deal(&mut self, shares: [Vec<Block>; 2]) -> Bits {
        let shares = Zeroizing::new(shares);
        let count = shares[0].len();
        let even = Block::new(!1);
        let mut keys = Zeroizing::new([(); 2].map(|()| self.blocks(count)));
        for key in keys.iter_mut().flatten() {
            *key = *key & even;
        }
        let (me, other) = (self.me, 1 - self.me);
        let macs = keys[other].iter().zip(&shares[me]);
        let macs = macs.map(|(key, share)| *key ^ self.offsets[other].masked(share.lsb()));
        Bits {
            mac: macs.collect(),
            key: std::mem::take(&mut keys[me]),
        }
    }
}

impl Products for DangerDealer {
    const ASSUMPTION: &'static str =
        "both parties trust a dealer of authenticated bits and products";

    const REFERENCES: &'static [Paper] = crate::papers::OVER_A_DEALER;
    const STATISTICAL: u32 = 0;

    fn set_up(begun: Begun<'_>, _: &Demand, _: &mut Mesh) -> Result<DangerDealer> {
        let stream = begun.nonce.stream("auth: dealer", begun.session.as_bytes());
        let mut random = { stream }.prg(begun.cpu);
        let mut offset = |low: u128| Block::new(random.block().value() & !3 | low);
        let offsets = [offset(1), offset(3)];
        let me = if begun.garbles { GARBLER } else { EVALUATOR };
        Ok(DangerDealer {
            random,
            offsets,
            me,
        })
    }

    fn offset(&self) -> Block {
        self.offsets[self.me]
    }

    fn bits(&mut self, count: usize) -> Result<Bits> {
        let shares = [self.blocks(count), self.blocks(count)];
        Ok(self.deal(shares))
    }

    fn bits_of(&mut self, own: bool, count: usize) -> Result<Bits> {
        let mut bits = self.bits(count)?;
        let none = if own { &mut bits.key } else { &mut bits.mac };
        none.fill(Block::ZERO);
        Ok(bits)
    }

    fn products(&mut self, count: usize) -> Result<[Bits; 3]> {
        let [x, y] = [(); 2].map(|()| [self.blocks(count), self.blocks(count)]);
        let own = self.blocks(count);
        let value = |of: &[Vec<Block>; 2], at: usize| of[0][at] ^ of[1][at];
        let product = |at: usize| own[at] ^ value(&x, at) & value(&y, at);
        let other = (0..count).map(product).collect();
        Ok([x, y, [own, other]].map(|shares| self.deal(shares)))
    }
}
