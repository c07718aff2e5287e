//! Authenticated bits and products from correlated OTs in both directions, between parties of whom
//! either may deviate.
//!
//! Each party sends OTs under its own offset and receives OTs under the other's. One OT of random
//! choice `x` is a bit of its receiver with a MAC: the receiver's block is `q ^ x D`, and the
//! sender has `q`. Bit 0 of every offset is 1, so both clear bit 0 of theirs, and the receiver sets
//! it to `x`: it is the share then. One OT each way is a random authenticated bit.
//!
//! OTs are those of SoftSpoken with its check ([`softspoken`](sealane_ot::softspoken)), which a
//! party passes only if it guesses the bits of the offset that its deviation touches. A refill
//! makes all OTs of a batch of products ([`batch`](super::batch)), and those of bits beside it, in
//! one extension each way.
//!
//! **After any error** the offset, all pools and the other party's generators are erased, and
//! nothing more is handed out.

use super::batch::{self, Making, Shape};
use super::leaky::Place;
use super::{Begun, Products, cost};
use crate::bits::Bits;
use crate::common::roles;
use crate::sums::Challenges;
use sealane_block::hash::Mi;
use sealane_block::{Block, Coins, Cpu, LabelHash};
use sealane_net::{Mesh, SessionId};
use sealane_ot::source::{AnyReceiver, AnySender, finish_both};
use sealane_ot::traits::{CotReceiver, CotSender, choice, packed_blocks};
use sealane_parties::PartyId;
use sealane_party::{Fault, Result};
use sealane_protocol::{Correlation, Cost, Demand, Paper, Setting};
use std::collections::VecDeque;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// Source of bits and products from OTs at one party.
pub struct Transfers {
    cpu: Cpu,
    session: SessionId,
    garbles: bool,
    peer: PartyId,
    /// Garbler and evaluator.
    parties: [PartyId; 2],
    offset: Zeroizing<Block>,
    coins: Coins,
    challenges: Challenges,
    /// Hash of rows of products.
    hash: Mi,
    /// Number of the next batch.
    batches: u64,
    /// OTs of both directions; none after an error.
    ots: Option<(AnySender, AnyReceiver)>,
    /// MACs of bits of this party, keys of bits of the other one; and `x`, `y`, `z` of products.
    macs: Pool,
    keys: Pool,
    products: VecDeque<[Bits; 3]>,
    /// Products of the first of these that have been taken.
    taken: usize,
    /// Rows to which a test adds an error, by layer and item.
    #[cfg(test)]
    pub(crate) errors: Vec<(usize, usize)>,
}

/// Blocks that are taken in the order in which they were made.
#[derive(Default, Zeroize, ZeroizeOnDrop)]
struct Pool {
    blocks: Vec<Block>,
    taken: usize,
}

impl Pool {
    fn add(&mut self, more: &[Block]) {
        let left = self.blocks.len() - self.taken;
        let mut blocks = Vec::with_capacity(left + more.len());
        blocks.extend_from_slice(&self.blocks[self.taken..]);
        blocks.extend_from_slice(more);
        self.blocks.zeroize();
        (self.blocks, self.taken) = (blocks, 0);
    }

    fn take(&mut self, count: usize) -> Result<Vec<Block>> {
        let blocks = self.blocks.get_mut(self.taken..self.taken + count);
        let blocks = blocks.ok_or_else(empty)?;
        let taken = blocks.to_vec();
        erase(blocks);
        self.taken += count;
        Ok(taken)
    }
}

/// Erases blocks that have been handed out.
fn erase(blocks: &mut [Block]) {
    blocks.iter_mut().for_each(Zeroize::zeroize);
}

fn empty() -> Fault {
    Fault::internal("a pool of authenticated bits or products is empty")
}

impl Transfers {
    /// Makes OTs for so many bits of this party, bits of the other one, and a batch of products.
    fn make(
        &mut self,
        [own, theirs]: [usize; 2],
        shape: Option<Shape>,
        mesh: &mut Mesh,
    ) -> Result<()> {
        let layers = shape.map_or(0, Shape::bits);
        let (sender, receiver) = self.ots.as_mut().ok_or_else(ended)?;
        // This party writes all of its OTs before it reads those of the other one. Those of the
        // layers of a batch come first.
        let count = layers + own;
        let mut choices = Zeroizing::new(vec![Block::ZERO; packed_blocks(count)]);
        let mut macs = Zeroizing::new(vec![Block::ZERO; count]);
        receiver.extend(mesh, &mut choices, &mut macs)?;
        for (at, mac) in macs.iter_mut().enumerate() {
            *mac = *mac & Block::new(!1) ^ Block::new(choice(&choices, at).into());
        }
        let toss = match shape {
            Some(_) => Some(batch::toss(self.batches, self.peer, &mut self.coins, mesh)?),
            None => None,
        };
        mesh.flush()?;
        let mut keys = Zeroizing::new(vec![Block::ZERO; layers + theirs]);
        sender.extend(mesh, &mut keys)?;
        keys.iter_mut().for_each(|key| *key = *key & Block::new(!1));
        self.macs.add(&macs[layers..]);
        self.keys.add(&keys[layers..]);
        if let (Some(shape), Some(toss)) = (shape, toss) {
            let bits = Bits {
                mac: std::mem::take(&mut *macs),
                key: std::mem::take(&mut *keys),
            };
            let making = Making {
                place: Place {
                    cpu: self.cpu,
                    hash: &self.hash,
                    number: self.batches,
                    garbles: self.garbles,
                    offset: *self.offset,
                    shape,
                },
                challenges: &self.challenges,
                session: self.session,
                peer: self.peer,
                bits: &bits,
                #[cfg(test)]
                errors: &self.errors,
            };
            let made = making.run(toss, &mut self.coins, mesh)?;
            self.products.push_back(made);
            self.batches += 1;
        }
        Ok(())
    }

    /// Erases all secrets of this source.
    fn erase(&mut self) {
        self.ots = None;
        self.offset.zeroize();
        self.macs.zeroize();
        self.keys.zeroize();
        self.products.clear();
        self.taken = 0;
    }

    /// Numbers of bits of this party, and of the other one, in a demand.
    fn counts(&self, demand: &Demand) -> [usize; 2] {
        let mut counts = cost::bits(self.parties, demand).map(|count| count as usize);
        if !self.garbles {
            counts.reverse();
        }
        counts
    }
}

fn ended() -> Fault {
    Fault::internal("authenticated bits after a failure")
}

impl Products for Transfers {
    const ASSUMPTION: &'static str = sealane_party::of_base_ots!();
    const REFERENCES: &'static [Paper] = crate::papers::OVER_TRANSFERS;
    const STATISTICAL: u32 = cost::STATISTICAL;

    fn set_up(begun: Begun<'_>, demand: &Demand, mesh: &mut Mesh) -> Result<Transfers> {
        let Begun {
            cpu,
            session,
            nonce,
            garbles,
            peer,
            setting,
            mut coins,
            challenges,
        } = begun;
        let random = coins.secret("auth: offset").block();
        let low = if garbles { 1 } else { 3 };
        let offset = Zeroizing::new(Block::new(random.value() & !3 | low));
        let source = cost::source(setting);
        let sender = source.sender(cpu, mesh, peer, *offset, &mut coins)?;
        let receiver = source.receiver(cpu, mesh, peer, &mut coins)?;
        mesh.flush()?;
        let ots = finish_both(sender, receiver, mesh, &mut coins)?;
        let seed = nonce.stream("auth: rows of products", session.as_bytes());
        let mut made = Transfers {
            cpu,
            session,
            garbles,
            peer,
            parties: roles(setting),
            offset,
            coins,
            challenges,
            hash: Mi::new(cpu, { seed }.block()),
            batches: 0,
            ots: Some(ots),
            macs: Pool::default(),
            keys: Pool::default(),
            products: VecDeque::new(),
            taken: 0,
            #[cfg(test)]
            errors: Vec::new(),
        };
        let first = cost::set_up_counts(setting, demand);
        if !first.is_empty() {
            made.refill(&first, mesh)?;
        }
        Ok(made)
    }

    fn refill(&mut self, demand: &Demand, mesh: &mut Mesh) -> Result<()> {
        let counts = self.counts(demand);
        let shape = cost::shape(demand)?;
        let made = self.make(counts, shape, mesh);
        if made.is_err() {
            self.erase();
        }
        made
    }

    fn offset(&self) -> Block {
        *self.offset
    }

    fn bits(&mut self, count: usize) -> Result<Bits> {
        Ok(Bits {
            mac: self.macs.take(count)?,
            key: self.keys.take(count)?,
        })
    }

    fn bits_of(&mut self, own: bool, count: usize) -> Result<Bits> {
        let none = vec![Block::ZERO; count];
        Ok(if own {
            let mac = self.macs.take(count)?;
            Bits { mac, key: none }
        } else {
            let key = self.keys.take(count)?;
            Bits { mac: none, key }
        })
    }

    fn products(&mut self, count: usize) -> Result<[Bits; 3]> {
        let mut all = [(); 3].map(|()| Bits {
            mac: Vec::with_capacity(count),
            key: Vec::with_capacity(count),
        });
        let mut left = count;
        while left > 0 {
            let batch = self.products.front_mut().ok_or_else(empty)?;
            let now = left.min(batch[0].mac.len() - self.taken);
            let range = self.taken..self.taken + now;
            for (to, from) in all.iter_mut().zip(&mut *batch) {
                to.mac.extend_from_slice(&from.mac[range.clone()]);
                to.key.extend_from_slice(&from.key[range.clone()]);
                erase(&mut from.mac[range.clone()]);
                erase(&mut from.key[range.clone()]);
            }
            (left, self.taken) = (left - now, self.taken + now);
            if self.taken == batch[0].mac.len() {
                self.products.pop_front();
                self.taken = 0;
            }
        }
        Ok(all)
    }

    fn set_up_cost(setting: &Setting, demand: &Demand) -> Cost {
        cost::set_up_cost(setting, demand)
    }

    fn set_up_counts(setting: &Setting, demand: &Demand) -> Demand {
        cost::set_up_counts(setting, demand)
    }

    fn pool_bits(kind: Correlation) -> u64 {
        cost::pool_bits(kind)
    }

    fn making_bits(demand: &Demand) -> u64 {
        cost::making_bits(demand)
    }

    fn refill_counts(setting: &Setting, lacking: &Demand) -> Demand {
        cost::refill_counts(setting, lacking)
    }

    fn refill_cost(setting: &Setting, demand: &Demand) -> Cost {
        cost::refill_cost(setting, demand)
    }
}

/// All that is secret erases itself.
impl ZeroizeOnDrop for Transfers {}
