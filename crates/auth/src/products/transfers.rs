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

use super::batch::{self, Made, Making, Shape};
use super::leaky::{Layers, Leaky, Place};
use super::{Begun, Products, cost, parts};
use crate::bits::Bits;
use crate::common::roles;
use crate::sums::Challenges;
use sealane_block::hash::Mi;
use sealane_block::{Block, Coins, Cpu, LabelHash};
use sealane_net::{Mesh, SessionId};
use sealane_ot::source::{AnyReceiver, AnySender, finish_both};
use sealane_ot::traits::packed_blocks;
use sealane_parties::PartyId;
use sealane_party::{Fault, Result};
use sealane_protocol::{Correlation, Cost, Demand, Paper, Parts, Role, Setting};
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
    /// MACs of bits of this party, keys of bits of the other one; and MACs and keys of `x`, `y`
    /// and `z` of products.
    macs: Pool,
    keys: Pool,
    products: [[Pool; 2]; 3],
    work: Work,
    spare: Spare,
    watch: Option<Watch>,
    /// Rows to which a test adds an error, by layer and item.
    #[cfg(test)]
    pub(crate) errors: Vec<(usize, usize)>,
}

/// A part of a refill, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// OTs of both directions.
    Transfers,
    /// Rows and parts of leaky products, and their equality.
    Rows,
    /// Differences of factors, and their MACs.
    Differences,
    /// Sums of the products of each bucket.
    Combination,
}

/// A function that measurements call when a part of a refill has ended.
pub type Watch = Box<dyn FnMut(Part) + Send>;

/// Blocks that are taken in the order in which they were made. They stay where they are until they
/// have been taken, and a batch takes the memory of one before, so that a run takes it once.
#[derive(Default, Zeroize, ZeroizeOnDrop)]
struct Pool {
    /// Blocks of each batch.
    made: Vec<Vec<Block>>,
    /// Blocks of the first batch that have been taken, and are erased.
    taken: usize,
    /// Memory of a batch all of whose blocks have been taken.
    free: Vec<Block>,
}

impl Pool {
    /// Room for more blocks behind all others, every one of which is to be set.
    fn room(&mut self, count: usize) -> &mut [Block] {
        if count == 0 {
            return &mut [];
        }
        let mut blocks = std::mem::take(&mut self.free);
        if blocks.capacity() < count {
            blocks = Vec::with_capacity(count);
        }
        blocks.resize(count, Block::ZERO);
        self.made.push(blocks);
        self.made.last_mut().expect("one has just been added")
    }

    fn take(&mut self, count: usize, spare: &mut Spare) -> Result<Vec<Block>> {
        let made = self.made.iter().map(Vec::len).sum::<usize>();
        if made - self.taken < count {
            return Err(Fault::internal(
                "a pool of authenticated bits or products is empty",
            ));
        }
        let mut blocks = spare.room(count);
        while blocks.len() < count {
            let first = &mut self.made[0];
            let left = &mut first[self.taken..];
            let now = left.len().min(count - blocks.len());
            blocks.extend_from_slice(&left[..now]);
            left[..now].iter_mut().for_each(Zeroize::zeroize);
            self.taken += now;
            if self.taken == first.len() {
                self.taken = 0;
                let mut empty = self.made.remove(0);
                empty.clear();
                if empty.capacity() > self.free.capacity() {
                    self.free = empty;
                }
            }
        }
        Ok(blocks)
    }

    /// Blocks that its memory has room for.
    #[cfg(test)]
    fn capacity(&self) -> usize {
        let made = self.made.iter().chain([&self.free]);
        made.map(Vec::capacity).sum()
    }
}

/// Memory of secrets that are needed no more, for others: the system would fill new pages with
/// zeros for each tape. It keeps what it had until then, or until the end.
#[derive(Default, Zeroize, ZeroizeOnDrop)]
struct Spare(Vec<Vec<Block>>);

impl Spare {
    /// Fewest blocks that are kept: the allocator keeps smaller pieces itself.
    const FEWEST: usize = (64 << 10) / size_of::<Block>();
    /// Most blocks that are kept: 64 MiB.
    const MOST: usize = (64 << 20) / size_of::<Block>();

    /// Memory for so many blocks, with none in it.
    fn room(&mut self, count: usize) -> Vec<Block> {
        // Much larger ones are left to those who need them.
        let sizes = count..=2 * count;
        let fits = |spare: &Vec<Block>| sizes.contains(&spare.capacity());
        let mut room = match self.0.iter().position(fits) {
            Some(at) => self.0.swap_remove(at),
            None => Vec::with_capacity(count),
        };
        room.clear();
        room
    }

    fn copy_of(&mut self, blocks: &[Block]) -> Vec<Block> {
        let mut copy = self.room(blocks.len());
        copy.extend_from_slice(blocks);
        copy
    }

    fn keep(&mut self, blocks: Vec<Block>) {
        let kept = self.0.iter().map(Vec::capacity).sum::<usize>();
        let size = blocks.capacity();
        if size >= Spare::FEWEST && kept + size <= Spare::MOST {
            self.0.push(blocks);
        } else {
            drop(Zeroizing::new(blocks));
        }
    }
}

/// Memory in which batches are made, one after the other: the system would fill new pages with
/// zeros for each. It keeps what it had until the next batch, or the end.
#[derive(Default, Zeroize, ZeroizeOnDrop)]
struct Work {
    macs: Vec<Block>,
    keys: Vec<Block>,
    choices: Vec<Block>,
    leaky: Leaky,
}

/// Blocks of memory that is kept, every one of which is to be set.
fn room(kept: &mut Vec<Block>, count: usize) -> &mut [Block] {
    if kept.len() < count {
        kept.zeroize();
        *kept = vec![Block::ZERO; count];
    }
    &mut kept[..count]
}

impl Transfers {
    /// Calls a function whenever a part of a refill has ended, for measurements.
    pub fn watch(&mut self, watch: Watch) {
        self.watch = Some(watch);
    }

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
        let choices = room(&mut self.work.choices, packed_blocks(count));
        let macs = room(&mut self.work.macs, count);
        receiver.extend_marked(mesh, choices, macs)?;
        let toss = match shape {
            Some(_) => Some(batch::toss(self.batches, self.peer, &mut self.coins, mesh)?),
            None => None,
        };
        mesh.flush()?;
        let keys = room(&mut self.work.keys, layers + theirs);
        sender.extend_even(mesh, keys)?;
        let mut part_ended = |part| {
            if let Some(watch) = &mut self.watch {
                watch(part);
            }
        };
        part_ended(Part::Transfers);
        self.macs.room(own).copy_from_slice(&macs[layers..]);
        self.keys.room(theirs).copy_from_slice(&keys[layers..]);
        let (Some(shape), Some(toss)) = (shape, toss) else {
            return Ok(());
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
            bits: Layers {
                items: shape.products,
                mac: macs,
                key: keys,
                shares: Block::as_bytes(choices),
            },
            #[cfg(test)]
            errors: &self.errors,
        };
        let leaky = &mut self.work.leaky;
        let (opened, shifts) = making.checked(toss, leaky, &mut self.coins, mesh)?;
        part_ended(Part::Rows);
        let differences = making.differences(&shifts, mesh)?;
        part_ended(Part::Differences);
        let products = self.products.each_mut();
        let mut made: Made<'_> =
            products.map(|of| of.each_mut().map(|pool| pool.room(shape.products)));
        making.combine(&shifts, &opened, &differences, &mut made);
        part_ended(Part::Combination);
        self.batches += 1;
        Ok(())
    }

    /// Bytes of the blocks that it keeps, used or not.
    #[cfg(test)]
    pub(crate) fn memory(&self) -> u64 {
        let products = self.products.as_flattened().iter();
        let pools = products.chain([&self.macs, &self.keys]);
        let pools = pools.map(Pool::capacity);
        let Work {
            macs,
            keys,
            choices,
            leaky,
        } = &self.work;
        let work = [macs, keys, choices].map(Vec::capacity);
        let blocks = pools.chain(work).sum::<usize>() * size_of::<Block>();
        blocks as u64 + leaky.memory()
    }

    /// Erases all secrets of this source.
    fn erase(&mut self) {
        self.ots = None;
        self.offset.zeroize();
        self.macs.zeroize();
        self.keys.zeroize();
        self.products.zeroize();
        self.work.zeroize();
        self.spare.zeroize();
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
    const ROLES: &'static [Role] = &[Role::one("garbler"), Role::one("evaluator")];
    const ASSUMPTION: &'static str = concat!(
        "AES is an ideal cipher, and BLAKE3 a random oracle; ",
        sealane_party::of_base_ots!()
    );
    const REFERENCES: &'static [Paper] = crate::papers::OVER_TRANSFERS;
    const STATISTICAL: u32 = cost::STATISTICAL;

    fn set_up(begun: Begun<'_>, demand: &Demand, mesh: &mut Mesh) -> Result<Transfers> {
        let Begun {
            cpu,
            session,
            nonce,
            me,
            roles: parties,
            setting,
            mut coins,
            challenges,
        } = begun;
        let garbles = me != parties.evaluator();
        let peer = parties.peers(me)[0];
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
            products: Default::default(),
            work: Work::default(),
            spare: Spare::default(),
            watch: None,
            #[cfg(test)]
            errors: Vec::new(),
        };
        let first = cost::set_up_counts(setting, demand);
        if !first.is_empty() {
            made.refill(&first, mesh)?;
            // That is all the run takes.
            made.work = Work::default();
        }
        Ok(made)
    }

    fn refill(&mut self, demand: &Demand, mesh: &mut Mesh) -> Result<()> {
        let made = cost::batches(demand).try_for_each(|batch| {
            let counts = self.counts(&batch);
            self.make(counts, cost::shape(&batch)?, mesh)
        });
        if made.is_err() {
            self.erase();
        }
        made
    }

    fn offset(&self) -> Block {
        *self.offset
    }

    fn bits(&mut self, count: usize) -> Result<Vec<Bits>> {
        Ok(vec![Bits {
            mac: self.macs.take(count, &mut self.spare)?,
            key: self.keys.take(count, &mut self.spare)?,
        }])
    }

    fn bits_of(&mut self, owner: PartyId, count: usize) -> Result<Vec<Bits>> {
        let none = vec![Block::ZERO; count];
        Ok(vec![if owner != self.peer {
            let mac = self.macs.take(count, &mut self.spare)?;
            Bits { mac, key: none }
        } else {
            let key = self.keys.take(count, &mut self.spare)?;
            Bits { mac: none, key }
        }])
    }

    fn products(&mut self, count: usize) -> Result<Vec<[Bits; 3]>> {
        let mut all = [(); 3].map(|()| Bits::default());
        for (bits, [macs, keys]) in all.iter_mut().zip(&mut self.products) {
            bits.mac = macs.take(count, &mut self.spare)?;
            bits.key = keys.take(count, &mut self.spare)?;
        }
        Ok(vec![all])
    }

    fn copy_of(&mut self, blocks: &[Block]) -> Vec<Block> {
        self.spare.copy_of(blocks)
    }

    fn give_back(&mut self, blocks: Vec<Block>) {
        self.spare.keep(blocks);
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

    fn refill_parts(setting: &Setting, made: &Demand) -> Parts {
        parts::parts(setting, made)
    }
}

/// All that is secret erases itself.
impl ZeroizeOnDrop for Transfers {}
