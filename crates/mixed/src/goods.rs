//! Correlations: what both parties make ahead, and take in the order of steps.
//!
//! A refill makes correlated OTs in both directions first, and correlations of these: products of
//! bits send nothing more. So what a refill sends depends on counts alone.
//!
//! Two extensions of base OTs cross, since of each the receiver alone writes. Silent extensions
//! take turns, that of the party with the smaller number as sender first.

mod cost;
#[cfg(test)]
mod given;

pub(crate) use cost::{
    pool_bits, refill_cost, refill_counts, set_up_cost, state_bytes, transfers, wide,
};

use crate::cost::bits_of;
use crate::outside::words_of;
use crate::role::Place;
use cost::{counts, directions, known_shape, matrix_shape, source, unit};
use sealane_block::{Block, Coins, Cpu};
use sealane_net::Mesh;
use sealane_ot::softspoken::{ReceiverSetup, SenderSetup};
use sealane_ot::source::ahead::{AheadReceiver, AheadSender};
use sealane_ot::source::{Source, SourceSetup};
use sealane_ot::traits::CorrelationSource;
use sealane_ot::triples::{
    ArithmeticTriples, BooleanTriples, BothWays, DaBits, KnownProducts, MatrixTriples, Ring,
    Selects, WideTriples,
};
use sealane_parties::PartyId;
use sealane_party::bits::Writer;
use sealane_party::{Fault, Result};
use sealane_protocol::{Algebra, Correlation, Demand, Setting};
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
    pools: BTreeMap<Correlation, VecDeque<Batch>>,
}

/// A set-up that has begun: of extensions that cross, the first messages are written.
pub(crate) struct Begun {
    setting: Setting,
    peer: PartyId,
    source: Option<Source>,
    crossing: Option<(SourceSetup<SenderSetup>, SourceSetup<ReceiverSetup>)>,
}

impl Goods {
    /// Begins the set-up, if the run takes any OTs.
    pub(crate) fn begin(
        (cpu, setting, peer): Place<'_>,
        demand: &Demand,
        coins: &mut Coins,
        mesh: &mut Mesh,
    ) -> Result<Begun> {
        let any = counts(setting, demand) != [0; 2];
        let mut begun = Begun {
            setting: setting.clone(),
            peer,
            source: any.then(|| source(setting)),
            crossing: None,
        };
        if any && !setting.silent {
            let sender = begun.sender(cpu, mesh, coins)?;
            let receiver = source(setting).receiver(cpu, mesh, peer, coins)?;
            begun.crossing = Some((sender, receiver));
        }
        mesh.flush()?;
        Ok(begun)
    }

    /// Returns whether this party is the sender of the first direction.
    fn sends_first(&self) -> bool {
        self.me == directions(&self.setting)[0]
    }

    /// Makes correlations, OTs first.
    pub(crate) fn refill(&mut self, demand: &Demand, mesh: &mut Mesh) -> Result<()> {
        let sends_first = self.sends_first();
        let Some(ots) = &mut self.ots else {
            return Ok(());
        };
        let counts = counts(&self.setting, demand).map(|count| count as usize);
        let directions = if sends_first {
            [(true, counts[0]), (false, counts[1])]
        } else {
            [(false, counts[0]), (true, counts[1])]
        };
        let mut directions = directions.to_vec();
        if !self.setting.silent {
            // A receiver writes alone, and a sender reads alone: both directions cross.
            directions.sort_by_key(|(sends, _)| *sends);
        }
        for (sends, count) in directions.into_iter().filter(|(_, count)| *count > 0) {
            if sends {
                ots.sender().cot.refill(mesh, count)?
            } else {
                ots.receiver().cot.refill(mesh, count)?
            }
        }
        for (kind, count) in &demand.0 {
            let made = make(ots, self.me, *kind, *count as usize, mesh)?;
            mesh.flush()?;
            if let Some(made) = made {
                self.pools.entry(*kind).or_default().push_back(made);
            }
        }
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
    fn sender(
        &self,
        cpu: Cpu,
        mesh: &mut Mesh,
        coins: &mut Coins,
    ) -> Result<SourceSetup<SenderSetup>> {
        let delta = Zeroizing::new(offset(coins));
        Ok(source(&self.setting).sender(cpu, mesh, self.peer, *delta, coins)?)
    }

    /// Ends the set-up.
    pub(crate) fn finish(mut self, cpu: Cpu, mesh: &mut Mesh, coins: &mut Coins) -> Result<Goods> {
        let unit = unit(&self.setting);
        let mut made = (None, None);
        if let Some((sender, receiver)) = self.crossing.take() {
            made.1 = Some(receiver.finish(mesh, coins)?);
            made.0 = Some(sender.finish(mesh, coins)?);
        } else if let Some(source) = self.source {
            let sends_first = mesh.me() == directions(&self.setting)[0];
            for sends in [sends_first, !sends_first] {
                if sends {
                    let sender = self.sender(cpu, mesh, coins)?;
                    mesh.flush()?;
                    made.0 = Some(sender.finish(mesh, coins)?);
                } else {
                    let receiver = source.receiver(cpu, mesh, self.peer, coins)?;
                    mesh.flush()?;
                    made.1 = Some(receiver.finish(mesh, coins)?);
                }
                mesh.flush()?;
            }
        }
        let ots = made.0.zip(made.1).map(|(sender, receiver)| {
            let sender = AheadSender::new(sender, unit);
            let receiver = AheadReceiver::new(receiver, unit);
            BothWays::new(cpu, mesh, sender, receiver, "gmw: goods")
        });
        Ok(Goods {
            setting: self.setting,
            me: mesh.me(),
            ots,
            pools: BTreeMap::new(),
        })
    }
}

/// A random offset, of which bit 0 is 1.
fn offset(coins: &mut Coins) -> Block {
    let random = coins.secret("gmw: offset").block();
    Block::new(random.value() | 1)
}

/// Makes correlations of one kind; none of OTs, which stay with their source.
fn make(
    ots: &mut Both,
    me: PartyId,
    kind: Correlation,
    count: usize,
    mesh: &mut Mesh,
) -> Result<Option<Batch>> {
    let ring = |algebra| Ring::new(bits_of(algebra) as u32);
    let rows = |planes: &[&Vec<Block>]| planes.iter().map(|of| words_of(of, count)).collect();
    let column = |of: &mut Vec<u64>| Zeroizing::new(std::mem::take(of));
    let (bits, elements) = match kind {
        Correlation::Triple {
            algebra: Algebra::Z2,
        } => {
            let made: BooleanTriples = ots.make(mesh, (), count)?;
            (rows(&[&made.a, &made.b, &made.c]), Vec::new())
        }
        Correlation::Wide { bits } => {
            let made: WideTriples = ots.make(mesh, bits.into(), count)?;
            let planes = std::iter::once(&made.a).chain(&made.b).chain(&made.c);
            (rows(&planes.collect::<Vec<_>>()), Vec::new())
        }
        Correlation::Triple { algebra } => {
            let mut made: ArithmeticTriples = ots.make(mesh, ring(algebra), count)?;
            let columns = [&mut made.a, &mut made.b, &mut made.c].map(column);
            (Vec::new(), columns.into())
        }
        Correlation::Matrix { .. } => {
            let mut made: MatrixTriples = ots.make(mesh, matrix_shape(kind), count)?;
            let columns = [&mut made.a, &mut made.b, &mut made.c].map(column);
            (Vec::new(), columns.into())
        }
        Correlation::DaBit { algebra } => {
            let mut made: DaBits = ots.make(mesh, ring(algebra), count)?;
            (rows(&[&made.bits]), vec![column(&mut made.elements)])
        }
        Correlation::Select { algebra } => {
            let mut made: Selects = ots.make(mesh, ring(algebra), count)?;
            let columns = [&mut made.factors, &mut made.products, &mut made.elements];
            (rows(&[&made.bits]), columns.map(column).into())
        }
        Correlation::Known { holder, .. } => {
            let shape = known_shape(kind);
            let mut made: KnownProducts = if holder == me {
                ots.receiver().make(mesh, shape, count)?
            } else {
                ots.sender().make(mesh, shape, count)?
            };
            let columns = [&mut made.factors, &mut made.shares].map(column);
            (Vec::new(), columns.into())
        }
        Correlation::Cot { .. } | Correlation::Seed { .. } => return Ok(None),
    };
    Ok(Some(Batch {
        count,
        taken: 0,
        bits,
        elements,
    }))
}
