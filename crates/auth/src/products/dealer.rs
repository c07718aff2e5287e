//! The ideal functionality of authenticated bits and products, of any number of parties: a dealer
//! whom all trust gives each its part, and nothing is sent.
//!
//! For tests and for measurements of what is built on it, as those of crate `ot`. Each party has a
//! copy of the dealer, which expands public randomness of the session: **each party knows all
//! secrets of all**. So what is built on it is as secure as the protocol is against parties that
//! do not look, and no more.

use super::{Begun, Products};
use crate::bits::Bits;
use crate::roles::Roles;
use sealane_block::{Block, Prg};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::Result;
use sealane_protocol::{Demand, Paper, Role};
use zeroize::Zeroizing;

/// A dealer whose copies deal alike.
pub struct DangerDealer {
    random: Prg,
    roles: Roles,
    /// Offsets of all parties, by their numbers.
    offsets: Zeroizing<Vec<Block>>,
    me: PartyId,
}

/// Shares of bits, as bits 0 of blocks, by the numbers of parties.
type Dealt = Zeroizing<Vec<Vec<Block>>>;

impl DangerDealer {
    fn blocks(&mut self, count: usize) -> Vec<Block> {
        let mut blocks = vec![Block::ZERO; count];
        self.random.fill(&mut blocks);
        blocks
    }

    /// Random shares of random bits.
    fn shares(&mut self, count: usize) -> Dealt {
        let all = (0..self.offsets.len()).map(|_| self.blocks(count));
        Zeroizing::new(all.collect())
    }

    /// Authenticates bits.
    fn deal(&mut self, shares: &Dealt) -> Vec<Bits> {
        let (count, parties) = (shares[0].len(), self.offsets.len());
        let even = Block::new(!1);
        let mut keys = Zeroizing::new(vec![Vec::new(); parties]);
        for (holder, keys) in keys.iter_mut().enumerate() {
            for of in 0..parties {
                let drawn = if of == holder {
                    vec![]
                } else {
                    self.blocks(count)
                };
                keys.push(drawn.into_iter().map(|key| key & even).collect::<Vec<_>>());
            }
        }
        let me = self.roles.number(self.me);
        let peers = self.roles.peers(self.me).into_iter();
        let peers = peers.map(|peer| {
            let peer = self.roles.number(peer);
            let macs = keys[peer][me].iter().zip(&shares[me]);
            let macs = macs.map(|(key, share)| *key ^ self.offsets[peer].masked(share.lsb()));
            Bits {
                mac: macs.collect(),
                key: keys[me][peer].clone(),
            }
        });
        peers.collect()
    }
}

impl Products for DangerDealer {
    const ROLES: &'static [Role] = &[Role::any("garbler"), Role::one("evaluator")];
    const ASSUMPTION: &'static str =
        "all parties trust a dealer of authenticated bits and products";
    const REFERENCES: &'static [Paper] = crate::papers::OVER_A_DEALER;
    const STATISTICAL: u32 = 0;

    fn set_up(begun: Begun<'_>, _: &Demand, _: &mut Mesh) -> Result<DangerDealer> {
        let stream = begun.nonce.stream("auth: dealer", begun.session.as_bytes());
        let mut random = { stream }.prg(begun.cpu);
        let evaluator = begun.roles.evaluator();
        let offsets = begun.roles.everyone().iter().map(|party| {
            let low = if *party == evaluator { 3 } else { 1 };
            Block::new(random.block().value() & !3 | low)
        });
        Ok(DangerDealer {
            offsets: Zeroizing::new(offsets.collect()),
            random,
            roles: begun.roles,
            me: begun.me,
        })
    }

    fn offset(&self) -> Block {
        self.offsets[self.roles.number(self.me)]
    }

    fn bits(&mut self, count: usize) -> Result<Vec<Bits>> {
        let shares = self.shares(count);
        Ok(self.deal(&shares))
    }

    fn bits_of(&mut self, owner: PartyId, count: usize) -> Result<Vec<Bits>> {
        let mut bits = self.bits(count)?;
        for (peer, bits) in self.roles.peers(self.me).into_iter().zip(&mut bits) {
            if owner != self.me {
                bits.mac.fill(Block::ZERO);
            }
            if owner != peer {
                bits.key.fill(Block::ZERO);
            }
        }
        Ok(bits)
    }

    fn products(&mut self, count: usize) -> Result<Vec<[Bits; 3]>> {
        let [x, y] = [(); 2].map(|()| self.shares(count));
        let drawn = (1..self.offsets.len()).map(|_| self.blocks(count));
        let mut z: Dealt = Zeroizing::new(drawn.collect());
        let value =
            |of: &Dealt, at: usize| of.iter().fold(Block::ZERO, |sum, share| sum ^ share[at]);
        let last = (0..count).map(|at| value(&z, at) ^ value(&x, at) & value(&y, at));
        let last = last.collect();
        z.push(last);
        let [mut x, mut y, mut z] = [x, y, z].map(|shares| self.deal(&shares).into_iter());
        let all = std::iter::from_fn(|| Some([x.next()?, y.next()?, z.next()?]));
        Ok(all.collect())
    }
}
