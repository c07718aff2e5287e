//! Pools of two parties: filling them, and what a run takes from one.

use crate::error::{EngineError, name};
use crate::job::Job;
use crate::run::{coins, stopped, tier};
use sealane_diagnostic::{Code, Diagnostic};
use sealane_net::{Mesh, NetError};
use sealane_parties::PartyId;
use sealane_party::{Stock, Stocks};
use sealane_plan::CostReport;
use sealane_pool::{BATCH, FillError, Filling, Offer, Order, Pool, Role, Taken};
use sealane_protocol::{Correlation, Demand};
use std::collections::BTreeMap;

/// Oblivious transfers of one direction that a run takes from a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolShare {
    /// The party with both keys of each.
    pub sender: PartyId,
    /// The party with choices.
    pub receiver: PartyId,
    /// Number of batches, of [`BATCH`] each.
    pub batches: u64,
}

impl PoolShare {
    /// Returns what a run at this cost takes, by directions.
    pub fn of(job: &Job, cost: &CostReport) -> Vec<PoolShare> {
        if job.is_pooled() {
            PoolShare::of_demand(&cost.demand)
        } else {
            Vec::new()
        }
    }

    pub(crate) fn of_demand(demand: &Demand) -> Vec<PoolShare> {
        let mut counts = BTreeMap::new();
        for (kind, count) in &demand.0 {
            if let Correlation::Cot {
                sender, receiver, ..
            } = *kind
            {
                *counts.entry((sender, receiver)).or_insert(0) += count;
            }
        }
        let share = |((sender, receiver), count): (_, u64)| PoolShare {
            sender,
            receiver,
            batches: count.div_ceil(BATCH as u64),
        };
        counts.into_iter().map(share).collect()
    }

    /// Number of oblivious transfers.
    pub fn transfers(&self) -> u64 {
        self.batches * BATCH as u64
    }

    /// The role of a party in them.
    pub fn role_of(&self, party: PartyId) -> Role {
        if party == self.receiver {
            Role::Receiver
        } else {
            Role::Sender
        }
    }
}

/// A run that draws on a pool, at one party.
pub(crate) struct Draw<'a> {
    pool: &'a Pool,
    shares: Vec<PoolShare>,
    /// State of the pool as this party told it to the other.
    offer: Offer,
    /// Batches that it took, once it has.
    taken: Option<Taken>,
}

impl<'a> Draw<'a> {
    /// Begins a draw, if the run takes anything.
    pub(crate) fn begin(
        shares: Vec<PoolShare>,
        pool: Option<&'a Pool>,
    ) -> Result<Option<Draw<'a>>, EngineError> {
        if shares.is_empty() {
            return Ok(None);
        }
        let pool = pool.ok_or_else(|| EngineError::internal("a job of a pool without one"))?;
        let offer = pool.offer()?;
        let taken = None;
        Ok(Some(Draw {
            pool,
            shares,
            offer,
            taken,
        }))
    }

    /// Returns what this party tells the other.
    pub(crate) fn offer(&self) -> Offer {
        self.offer.clone()
    }

    /// Takes the shares of this run, once the other party has sent `theirs`. Each party waits for a
    /// message of the other before it uses any of it (one of the handshake, or under `yao` the
    /// garbler's nonce and the evaluator's choices), and the other sends that after its own `take`;
    /// so both have their numbers on the disk by then.
    pub(crate) fn take(
        &mut self,
        theirs: Option<&Offer>,
        mesh: &Mesh,
        names: &[String],
    ) -> Result<Stocks, EngineError> {
        let Some(theirs) = theirs.filter(|offer| offer.is_valid_beside(&self.offer)) else {
            let party = PartyId(1 - mesh.me().0);
            let reason = "what it holds in its pool, out of bounds or missing".to_string();
            let malformed = NetError::Malformed { party, reason };
            return Err(EngineError::from_net(malformed, names));
        };
        let shares = self.shares.iter();
        let wanted = shares.map(|share| (share.role_of(mesh.me()), share.batches));
        let wanted = wanted.collect::<Vec<_>>();
        let taken = self.pool.take(&wanted, &self.offer, theirs);
        let (taken_out, taken) = taken.map_err(|finding| match finding.code {
            // Both parties find this, one of them first.
            Code::PoolShort => EngineError::from(finding).made_public(),
            _ => EngineError::from(finding),
        })?;
        self.taken = Some(taken);
        let mut stocks = Stocks::default();
        for ((role, _), stock) in wanted.into_iter().zip(taken_out) {
            let stock: Box<dyn Stock> = Box::new(stock);
            match role {
                Role::Sender => stocks.sender = Some(stock),
                Role::Receiver => stocks.receiver = Some(stock),
            }
        }
        Ok(stocks)
    }

    /// Counts the shares as used, at the end of a run that was well. Returns a note if that fails,
    /// which is no reason to lose the results.
    pub(crate) fn finish(&self) -> Option<String> {
        let counted = self.taken.as_ref().map(|taken| self.pool.finish(taken));
        let failed = counted?.err()?;
        Some(format!(
            "the pool does not count this run as well ended: {}",
            failed.message
        ))
    }
}

/// Fills the pools of the two parties of a mesh, of these `names`; `progress` is told of batches
/// that are written. If both state a number, nothing is made where both hold at `least` so many
/// batches. Returns the number of batches that were made.
///
/// # Errors
/// The network failed, the other party wants something else, or the pool cannot be used. Any error
/// also ends the fill on the other side.
pub fn fill_pool(
    pool: &Pool,
    order: Order,
    least: Option<u64>,
    names: &[String],
    mesh: &mut Mesh,
    progress: &mut dyn FnMut(u64),
) -> Result<u64, EngineError> {
    let filled = fill(pool, order, least, names, mesh, progress);
    if let Err(error) = &filled {
        let (cause, reason) = error.for_peers();
        mesh.abort(cause, &reason);
    }
    filled
}

fn fill(
    pool: &Pool,
    order: Order,
    least: Option<u64>,
    names: &[String],
    mesh: &mut Mesh,
    progress: &mut dyn FnMut(u64),
) -> Result<u64, EngineError> {
    let filling = Filling {
        pool,
        cpu: tier()?,
        progress,
        least,
    };
    let filled = filling.run(order, coins()?, mesh);
    let peer = name(names, PartyId(1 - mesh.me().0));
    let finding = match filled {
        Ok(made) => {
            let finished = mesh.finish().map(|()| made);
            return finished.map_err(|error| EngineError::from_net(error, names));
        }
        Err(FillError::Fault(fault)) => return Err(stopped(fault, Some(pool), names, None)),
        Err(FillError::Pool(finding)) => return Err(EngineError::from(finding)),
        Err(FillError::Differs(theirs)) => order_differs(names, &peer, order, theirs),
        Err(FillError::KeepsOther(theirs)) => keeps_other(&peer, least.unwrap_or(0), theirs),
    };
    Err(EngineError::from(finding).made_public())
}

/// Finding for a party that keeps another number of batches.
fn keeps_other(peer: &str, ours: u64, theirs: u64) -> Diagnostic {
    let [ours, theirs] = [ours, theirs].map(|batches| batches.saturating_mul(BATCH as u64));
    let what = format!("{peer} keeps {theirs} oblivious transfers; this side: {ours}");
    Diagnostic::new(Code::PoolDiffers, what)
        .because("Nothing has been made.")
        .hint("let both call `sealane pool fill` with the same `--keep`")
}

/// Finding for a party that fills a pool in another way.
fn order_differs(names: &[String], peer: &str, ours: Order, theirs: Order) -> Diagnostic {
    let reported = |order: Order| {
        let amounts = names.iter().zip(order.batches);
        let amounts = amounts.map(|(name, batches)| {
            format!("{} chosen by {name}", batches.saturating_mul(BATCH as u64))
        });
        let amounts = amounts.collect::<Vec<_>>().join(" and ");
        format!("{amounts} on {}", order.network.described())
    };
    let (ours, theirs) = (reported(ours), reported(theirs));
    let what = format!("{peer} wants other oblivious transfers: {theirs}; this side: {ours}");
    Diagnostic::new(Code::PoolDiffers, what)
        .because("Nothing has been made.")
        .hint("agree on the amounts and on the network class, and let both call it again")
}
