//! Parties that run single steps, without a plan.

use std::sync::Arc;

use sealane_block::{Coins, Cpu};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::{Outcome, Party, Start, Step, Stocks, run_alone};
use sealane_protocol::{Demand, Domain, Setting};
use zeroize::Zeroizing;

use crate::SuiteError;

/// A party that runs single steps.
pub(crate) struct Alone<P> {
    pub(crate) party: P,
    pub(crate) mesh: Mesh,
}

impl<P: Party<Material = ()>> Alone<P> {
    /// A party that will take this demand in all.
    pub(crate) fn set_up(
        cpu: Cpu,
        mut mesh: Mesh,
        setting: &Setting,
        demand: &Demand,
    ) -> Result<Alone<P>, SuiteError> {
        let start = Start {
            setting,
            me: mesh.me(),
            session: mesh.session(),
            cpu,
            coins: Coins::danger_fixed_seed(u64::from(mesh.me().0)),
            stocks: Stocks::default(),
        };
        let party = P::set_up(start, demand, &mut mesh)?;
        Ok(Alone { party, mesh })
    }

    pub(crate) fn run(&mut self, step: Step<'_, P>) -> Result<Outcome<P>, SuiteError> {
        Ok(run_alone(&mut self.party, &mut self.mesh, step, None)?)
    }

    /// Runs a step that leaves a share.
    pub(crate) fn share(&mut self, step: Step<'_, P>) -> Result<Arc<P::Share>, SuiteError> {
        match self.run(step)? {
            Outcome::Share(share, ..) => Ok(Arc::new(share)),
            _ => Err("a step left no share".into()),
        }
    }

    /// Shares values of so many bits, which the owner has.
    pub(crate) fn input(
        &mut self,
        domain: Domain,
        owner: PartyId,
        bits: usize,
        values: impl ExactSizeIterator<Item = u64>,
    ) -> Result<Arc<P::Share>, SuiteError> {
        let mine = self.mesh.me() == owner;
        self.share(Step::Input {
            owner,
            domain,
            elements: values.len(),
            bits,
            values: mine.then(|| Zeroizing::new(values.collect())),
        })
    }
}
