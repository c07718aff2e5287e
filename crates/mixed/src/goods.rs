//! Correlations: what both parties make ahead, and take in the order of steps.
//!
//! A refill makes correlated OTs in both directions first, and correlations of these: products of
//! bits send nothing more, and are made as their OTs are ([`portions`]). So what a refill sends
//! depends on counts alone.
//!
//! Two extensions cross. Of base OTs the receiver alone writes; silent ones run in step
//! (`sealane_ot::ferret`), and their set-up makes an iteration of each direction, whose first
//! messages so need no flight. A direction of which the run takes no OT is not set up. With a pool
//! nothing is: its OTs are random ones.

mod cost;
#[cfg(test)]
mod given;
mod pooled;
mod portions;
#[cfg(test)]
mod tests;

pub(crate) use cost::{
    cot, demand_bits, of_labels, pool_bits, refill_cost, refill_counts, set_up_cost, set_up_counts,
    state_bytes, takes_labels, transfers, wide,
};

use crate::cost::bits_of;
use crate::outside::words_of;
use crate::role::Place;
use cost::{counts, directions, is_bits, known_shape, labels, matrix_shape, source, unit};
use pooled::{Numbers, Pooled};
use portions::{extensions, portions};
use sealane_block::{Block, Coins, Cpu};
use sealane_net::Mesh;
use sealane_ot::softspoken::{ReceiverSetup, SenderSetup};
use sealane_ot::source::ahead::{AheadReceiver, AheadSender, Directions, refill_in_step};
use sealane_ot::source::{SourceSetup, finish_both};
use sealane_ot::traits::CorrelationSource;
use sealane_ot::triples::{
    BegunIntegers, BitKind, BitTriples, BothWays, IntegerKind, Integers, Ring,
};
use sealane_parties::PartyId;
use sealane_party::bits::Writer;
use sealane_party::{Fault, Result, Stocks};
use sealane_protocol::{Correlation, Demand, Setting};
use std::collections::{BTreeMap, VecDeque};
use zeroize::Zeroizing;

/// Correlations of one kind that a refill made, and how many of them are taken.
struct Batch {
    count: usize,
    taken: usize,
    /// Planes of bits, 64 correlations a word.
    bits: Vec<Zeroizing<Vec<u64>>>,
    /// Columns of ring elements, as many for each correlation.
    elements: Vec<Zeroizing<Vec<u64>>>,
}

impl Batch {
    /// Correlations of bits: the planes of the first factors, of the second ones and of products.
    fn of_bits(made: &BitTriples, count: usize) -> Batch {
        let rows = |planes: &[&[Vec<Block>]]| {
            let planes = planes.iter().flat_map(|planes| planes.iter());
            planes.map(|plane| words_of(plane, count)).collect()
        };
        let one = std::slice::from_ref::<Vec<Block>>;
        let bits = match made {
            BitTriples::Boolean(made) => rows(&[one(&made.a), one(&made.b), one(&made.c)]),
            BitTriples::Wide(made) => rows(&[one(&made.a), &made.b, &made.c]),
        };
        Batch {
            count,
            taken: 0,
            bits,
            elements: Vec::new(),
        }
    }
}

impl Batch {
    fn of_integers(made: Integers, count: usize) -> Batch {
        let column = |of: &mut Vec<u64>| Zeroizing::new(std::mem::take(of));
        let row = |plane: &[Block]| vec![words_of(plane, count)];
        let (bits, elements): (_, Vec<_>) = match made {
            Integers::Triples(mut made) => {
                let columns = [&mut made.a, &mut made.b, &mut made.c].map(column);
                (Vec::new(), columns.into())
            }
            Integers::Matrices(mut made) => {
                let columns = [&mut made.a, &mut made.b, &mut made.c].map(column);
                (Vec::new(), columns.into())
            }
            Integers::DaBits(mut made) => (row(&made.bits), vec![column(&mut made.elements)]),
            Integers::Selects(mut made) => {
                let columns = [&mut made.factors, &mut made.products, &mut made.elements];
                (row(&made.bits), columns.map(column).into())
            }
            Integers::Known(mut made) => {
                let columns = [&mut made.factors, &mut made.shares].map(column);
                (Vec::new(), columns.into())
            }
        };
        Batch {
            count,
            taken: 0,
            bits,
            elements,
        }
    }
}

/// The kind of a correlation of bits.
fn bit_kind(kind: Correlation) -> BitKind {
    match kind {
        Correlation::Wide { bits } => BitKind::Wide(bits.into()),
        _ => BitKind::Boolean,
    }
}

/// Correlations that a step takes: a row of words for each plane of bits, and columns.
#[derive(Default)]
pub(crate) struct Taken {
    pub(crate) bits: Vec<Zeroizing<Vec<u64>>>,
    pub(crate) elements: Vec<Zeroizing<Vec<u64>>>,
}

type Both = BothWays<AheadSender, AheadReceiver>;

/// All correlations of a party.
pub(crate) struct Goods {
    setting: Setting,
    me: PartyId,
    /// OTs of both directions, if the run takes any.
    ots: Option<Both>,
    /// Where these come from, with a pool.
    pooled: Option<Pooled>,
    pools: BTreeMap<Correlation, VecDeque<Batch>>,
}

/// A set-up that has begun: the first messages are written. A party may then read what others send
/// at the set-up.
pub(crate) struct Begun {
    setting: Setting,
    peer: PartyId,
    /// The offset of labels, where this party garbles and OTs come from a pool.
    offset: Option<Zeroizing<Block>>,
    /// Directions of which the run takes OTs: this party sends, it receives.
    takes: [bool; 2],
    sender: Option<SourceSetup<SenderSetup>>,
    receiver: Option<SourceSetup<ReceiverSetup>>,
    stocks: Stocks,
}

impl Goods {
    /// Begins the set-up, if the run takes any OTs: under an offset, or a random one.
    pub(crate) fn begin(
        (cpu, setting, peer): Place<'_>,
        (offset, stocks): (Option<Zeroizing<Block>>, Stocks),
        demand: &Demand,
        coins: &mut Coins,
        mesh: &mut Mesh,
    ) -> Result<Begun> {
        let mut takes = counts(setting, demand).map(|count| count > 0);
        if mesh.me() != directions(setting)[0] {
            takes.reverse();
        }
        let made = stocks.sender.is_none() && stocks.receiver.is_none();
        let [sends, receives] = takes.map(|takes| takes && made);
        let (mut sender, mut receiver) = (None, None);
        if sends {
            let delta = offset.clone().unwrap_or_else(|| random_offset(coins));
            sender = Some(source(setting).sender(cpu, mesh, peer, *delta, coins)?);
        }
        if receives {
            receiver = Some(source(setting).receiver(cpu, mesh, peer, coins)?);
        }
        mesh.flush()?;
        Ok(Begun {
            setting: setting.clone(),
            peer,
            offset,
            takes,
            sender,
            receiver,
            stocks,
        })
    }

    /// Returns whether this party is the sender of the first direction.
    fn sends_first(&self) -> bool {
        self.me == directions(&self.setting)[0]
    }

    /// Correlated OTs that were made ahead, whose offset this party has.
    pub(crate) fn sender(&mut self) -> Result<&mut AheadSender> {
        if let Some(pooled) = &mut self.pooled {
            return Ok(&mut pooled.sender);
        }
        let ots = self.ots.as_mut();
        let ots = ots.ok_or_else(|| Fault::internal("no OT prepared"))?;
        Ok(&mut ots.sender().cot)
    }

    /// Correlated OTs that were made ahead, of which this party has the choices.
    pub(crate) fn receiver(&mut self) -> Result<&mut AheadReceiver> {
        if let Some(pooled) = &mut self.pooled {
            return Ok(&mut pooled.receiver);
        }
        let ots = self.ots.as_mut();
        let ots = ots.ok_or_else(|| Fault::internal("no OT prepared"))?;
        Ok(&mut ots.receiver().cot)
    }

    fn both(&mut self) -> Result<&mut Both> {
        let ots = self.ots.as_mut();
        ots.ok_or_else(|| Fault::internal("no OT prepared"))
    }

    /// Makes correlations, OTs first.
    pub(crate) fn refill(&mut self, demand: &Demand, mesh: &mut Mesh) -> Result<()> {
        if self.ots.is_none() {
            return Ok(());
        }
        let kinds = demand.0.iter().filter_map(|(kind, count)| {
            let made = integer_kind(*kind, self.me)?;
            Some((*kind, (made, *count as usize)))
        });
        let (kinds, wanted): (Vec<_>, Vec<_>) = kinds.unzip();
        let mut begun = self.both()?.begin(wanted.iter().copied());
        // A receiver of base OTs' extension writes alone, and its sender reads alone: all of both
        // directions cross.
        if self.pooled.is_some() {
            mesh.crossing(|mesh| self.refill_bits(demand, mesh))?;
        } else if self.setting.silent {
            self.refill_bits(demand, mesh)?;
        } else {
            mesh.crossing(|mesh| self.refill_through(demand, &mut begun, mesh))?;
        }
        let made = self.both()?.make_together(mesh, begun)?;
        for ((kind, made), (_, count)) in kinds.into_iter().zip(made).zip(wanted) {
            let batch = Batch::of_integers(made, count);
            self.pools.entry(kind).or_default().push_back(batch);
        }
        Ok(())
    }

    /// Makes all OTs of a refill, and correlations of bits as soon as theirs are there.
    fn refill_bits(&mut self, demand: &Demand, mesh: &mut Mesh) -> Result<()> {
        let extensions = extensions(&self.setting, demand);
        let mut made = 0;
        for portion in portions(&self.setting, demand) {
            // A silent extension may have left enough over.
            while made < extensions.len() && !self.are_ready(portion.ots) {
                self.extend(&extensions, made, demand, mesh)?;
                made += 1;
            }
            for (kind, count) in portion.made {
                self.make(kind, count, mesh)?;
            }
        }
        (made..extensions.len()).try_for_each(|at| self.extend(&extensions, at, demand, mesh))
    }

    /// The same of an extension of base OTs: what is made of bits is made while their OTs are, and
    /// so are products, but for their messages.
    fn refill_through(
        &mut self,
        demand: &Demand,
        begun: &mut BegunIntegers,
        mesh: &mut Mesh,
    ) -> Result<()> {
        let (sent, received) = if self.sends_first() { (0, 1) } else { (1, 0) };
        let ots = self.ots.as_mut();
        let ots = ots.ok_or_else(|| Fault::internal("no OT prepared"))?;
        let extensions = extensions(&self.setting, demand);
        let portions = portions(&self.setting, demand);
        // A receiver is an extension ahead, so that neither party waits for the other.
        let (mut made_of_bits, mut none) = (VecDeque::new(), BegunIntegers::default());
        for at in 0..=extensions.len() {
            if let (Some(made), Some(portion)) = (extensions.get(at), portions.get(at)) {
                let kinds = portion.made.iter();
                let kinds = kinds.map(|(kind, count)| (bit_kind(*kind), *count as usize));
                // Other OTs come last.
                let begun = if at + 1 == extensions.len() {
                    &mut *begun
                } else {
                    &mut none
                };
                let ots = ots.receive_bits(mesh, made[received] as usize, kinds, begun)?;
                made_of_bits.push_back(ots);
            }
            let Some(last) = at.checked_sub(1) else {
                continue;
            };
            let mut made = made_of_bits.pop_front().unwrap_or_default();
            let begun = if at == extensions.len() {
                &mut *begun
            } else {
                &mut none
            };
            let count = extensions[last][sent] as usize;
            ots.send_bits(mesh, count, &mut made, begun)?;
            for ((kind, count), made) in portions[last].made.iter().zip(&made) {
                let made = Batch::of_bits(made, *count as usize);
                self.pools.entry(*kind).or_default().push_back(made);
            }
        }
        Ok(())
    }

    /// Makes the OTs of an extension in both directions: draws them from a pool, or runs a silent
    /// iteration.
    fn extend(
        &mut self,
        extensions: &[[u64; 2]],
        at: usize,
        demand: &Demand,
        mesh: &mut Mesh,
    ) -> Result<()> {
        let first = self.sends_first();
        let [mine, theirs] = if first { [0, 1] } else { [1, 0] };
        let ots = self.ots.as_mut();
        let ots = ots.ok_or_else(|| Fault::internal("no OT prepared"))?;
        if let Some(pooled) = &mut self.pooled {
            // Those of labels come with the last ones.
            let last = at + 1 == extensions.len();
            let labels = labels(&self.setting, demand).map(|count| count * u64::from(last));
            let numbers = [mine, theirs].map(|way| Numbers {
                labels: labels[way] as usize,
                hashed: (extensions[at][way] - labels[way]) as usize,
            });
            return pooled.draw(ots, numbers, mesh);
        }
        let counts = extensions[at..].iter().map(|of| [of[mine], of[theirs]]);
        in_step(ots, counts, mesh)
    }

    /// Returns whether so many OTs of each direction are there.
    fn are_ready(&mut self, wanted: [u64; 2]) -> bool {
        let first = self.sends_first();
        let Some(ots) = &mut self.ots else {
            return false;
        };
        let mut ready = [ots.sender().cot.ready(), ots.receiver().cot.ready()];
        if !first {
            ready.reverse();
        }
        [0, 1].iter().all(|at| ready[*at] as u64 >= wanted[*at])
    }

    /// Makes correlations of bits of OTs that are there.
    fn make(&mut self, kind: Correlation, count: u64, mesh: &mut Mesh) -> Result<()> {
        let (ots, count) = (self.ots.as_mut(), count as usize);
        let ots = ots.ok_or_else(|| Fault::internal("no OT prepared"))?;
        let made = match bit_kind(kind) {
            BitKind::Boolean => BitTriples::Boolean(ots.make(mesh, (), count)?),
            BitKind::Wide(width) => BitTriples::Wide(ots.make(mesh, width, count)?),
        };
        mesh.flush()?;
        let made = Batch::of_bits(&made, count);
        self.pools.entry(kind).or_default().push_back(made);
        Ok(())
    }

    /// Takes correlations, in the order in which they were made.
    pub(crate) fn take(&mut self, kind: Correlation, count: usize) -> Result<Taken> {
        let pool = self.pools.entry(kind).or_default();
        let left = |batch: &Batch| batch.count - batch.taken;
        if pool.iter().map(left).sum::<usize>() < count {
            return Err(Fault::internal("a pool is empty"));
        }
        let Some(front) = pool.front() else {
            return Ok(Taken::default());
        };
        let words = count.div_ceil(64);
        let mut rows: Vec<_> = front.bits.iter().map(|_| Writer::new(words)).collect();
        let widths = front.elements.iter().map(|of| of.len() / front.count);
        let columns = widths.map(|width| Zeroizing::new(Vec::with_capacity(width * count)));
        let mut elements: Vec<_> = columns.collect();
        let mut missing = count;
        while let Some(batch) = pool.front_mut().filter(|_| missing > 0) {
            let (first, some) = (batch.taken, missing.min(left(batch)));
            for (row, plane) in rows.iter_mut().zip(&batch.bits) {
                row.copy(plane, first, some);
            }
            for (to, from) in elements.iter_mut().zip(&batch.elements) {
                let width = from.len() / batch.count;
                to.extend_from_slice(&from[width * first..][..width * some]);
            }
            batch.taken += some;
            missing -= some;
            if left(batch) == 0 {
                pool.pop_front();
            }
        }
        Ok(Taken {
            bits: rows
                .into_iter()
                .map(|row| Zeroizing::new(row.finish()))
                .collect(),
            elements,
        })
    }
}

impl Begun {
    /// Ends the set-up.
    pub(crate) fn finish(self, cpu: Cpu, mesh: &mut Mesh, coins: &mut Coins) -> Result<Goods> {
        let (unit, [sends, receives]) = (unit(&self.setting), self.takes);
        let pooled = self.stocks.sender.is_some() || self.stocks.receiver.is_some();
        let pooled = pooled.then(|| Pooled::new(self.stocks, self.offset, self.peer));
        let (sender, receiver) = match (self.sender, self.receiver) {
            (Some(sender), Some(receiver)) => {
                let (sender, receiver) = finish_both(sender, receiver, mesh, coins)?;
                (Some(sender), Some(receiver))
            }
            (Some(sender), None) => (Some(sender.finish(mesh, coins)?), None),
            (None, Some(receiver)) => (None, Some(receiver.finish(mesh, coins)?)),
            (None, None) => (None, None),
        };
        let mut ots = (sends || receives).then(|| {
            let none = self.peer;
            let sender = sender.map(|sender| AheadSender::new(sender, unit));
            let sender = sender.unwrap_or_else(|| AheadSender::none(none));
            let receiver = receiver.map(|receiver| AheadReceiver::new(receiver, unit));
            let receiver = receiver.unwrap_or_else(|| AheadReceiver::none(none));
            BothWays::new(cpu, mesh, sender, receiver, "gmw: goods")
        });
        if let (Some(ots), true, None) = (&mut ots, self.setting.silent, &pooled) {
            in_step(ots, std::iter::once([sends, receives].map(u64::from)), mesh)?;
        }
        Ok(Goods {
            setting: self.setting,
            me: mesh.me(),
            ots,
            pooled,
            pools: BTreeMap::new(),
        })
    }
}

/// A random offset, of which bit 0 is 1.
fn random_offset(coins: &mut Coins) -> Zeroizing<Block> {
    let random = coins.secret("gmw: offset").block();
    Zeroizing::new(Block::new(random.value() | 1))
}

/// Runs the first of these silent iterations, with its numbers of OTs that this party sends and
/// receives. Trees of the next one may follow at once.
fn in_step(
    ots: &mut Both,
    mut iterations: impl Iterator<Item = [u64; 2]>,
    mesh: &mut Mesh,
) -> Result<()> {
    let [sent, received] = iterations.next().unwrap_or_default();
    let more = iterations.next().is_some_and(|next| next[0] > 0);
    let run = Directions {
        sends: sent > 0,
        more,
        receives: received > 0,
    };
    let (sender, receiver) = ots.both();
    Ok(refill_in_step(
        &mut sender.cot,
        &mut receiver.cot,
        run,
        mesh,
    )?)
}

/// The kind of correlations of integers, at this party; none of bits, of labels and of OTs.
fn integer_kind(kind: Correlation, me: PartyId) -> Option<IntegerKind> {
    let ring = |algebra| Ring::new(bits_of(algebra) as u32);
    match kind {
        kind if is_bits(kind) => None,
        Correlation::Triple { algebra } => Some(IntegerKind::Triples(ring(algebra))),
        Correlation::Matrix { .. } => Some(IntegerKind::Matrices(matrix_shape(kind))),
        Correlation::DaBit { algebra } => Some(IntegerKind::DaBits(ring(algebra))),
        Correlation::Select { algebra } => Some(IntegerKind::Selects(ring(algebra))),
        Correlation::Known { holder, .. } => {
            Some(IntegerKind::Known(known_shape(kind), holder == me))
        }
        Correlation::Wide { .. } | Correlation::Cot { .. } | Correlation::Seed { .. } => None,
    }
}
