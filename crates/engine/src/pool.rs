//! Use of a pool by a run: how much it takes, and agreement on where both parties go on.

use crate::error::EngineError;
use crate::job::Job;
use sealane_net::{Mesh, NetError};
use sealane_parties::PartyId;
use sealane_party::Stock;
use sealane_plan::CostReport;
use sealane_pool::{BATCH, Offer, Pool, Role};
use sealane_protocol::Correlation;

/// Oblivious transfers that a run takes from a pool.
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
    /// Returns what a run at this cost takes; nothing if it takes nothing.
    pub fn of(job: &Job, cost: &CostReport) -> Option<PoolShare> {
        let of_kind = |(kind, count): (&Correlation, &u64)| match *kind {
            Correlation::Cot {
                sender, receiver, ..
            } => Some(PoolShare {
                sender,
                receiver,
                batches: count.div_ceil(BATCH as u64),
            }),
            _ => None,
        };
        let pooled = job.is_pooled().then_some(&cost.demand);
        pooled?.0.iter().find_map(of_kind)
    }

    /// Number of oblivious transfers.
    pub fn transfers(&self) -> u64 {
        self.batches * BATCH as u64
    }

    /// The role of a party in them.
    pub fn role_of(&self, party: PartyId) -> Role {
        match party == self.receiver {
            true => Role::Receiver,
            false => Role::Sender,
        }
    }
}

/// A run that draws on a pool, at one party.
pub(crate) struct Draw<'a> {
    pool: &'a Pool,
    share: PoolShare,
    /// What this party told the other.
    offer: Offer,
}

impl<'a> Draw<'a> {
    /// Begins a draw, if the run takes anything.
    pub(crate) fn begin(
        job: &Job,
        cost: &CostReport,
        pool: Option<&'a Pool>,
    ) -> Result<Option<Draw<'a>>, EngineError> {
        let Some(share) = PoolShare::of(job, cost) else {
            return Ok(None);
        };
        let pool = pool.ok_or_else(|| EngineError::internal("a job of a pool without one"))?;
        let offer = pool.offer()?;
        Ok(Some(Draw { pool, share, offer }))
    }

    /// Returns what this party tells the other.
    pub(crate) fn offer(&self) -> Offer {
        self.offer.clone()
    }

    /// Takes the share of this run, once the other party has sent `theirs`.
    pub(crate) fn take(
        &self,
        theirs: Option<&Offer>,
        mesh: &Mesh,
        names: &[String],
    ) -> Result<Box<dyn Stock>, EngineError> {
        let Some(theirs) = theirs.filter(|offer| offer.is_valid()) else {
            let party = PartyId(1 - mesh.me().0);
            let reason = "what it holds in its pool, out of bounds or missing".to_string();
            let malformed = NetError::Malformed { party, reason };
            return Err(EngineError::from_net(malformed, names));
        };
        let PoolShare { batches, .. } = self.share;
        let role = self.share.role_of(mesh.me());
        let stock = self.pool.take(role, batches, &self.offer, theirs)?;
        Ok(Box::new(stock))
    }

    /// Counts the share as used, at the end of a run that was well.
    pub(crate) fn finish(&self, me: PartyId) -> Result<(), EngineError> {
        let role = self.share.role_of(me);
        Ok(self.pool.finish(role, self.share.batches)?)
    }
}
