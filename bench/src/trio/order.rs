//! Shuffles and sorts of rows, as single steps of three parties.

use std::sync::Arc;
use std::time::{Duration, Instant};

use sealane_block::{Coins, Cpu};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::{KeyBit, Outcome, Party, Start, Step, Stocks, run_alone};
use sealane_protocol::{Algebra, Demand, Domain, Protocol, Setting};
use sealane_trio::{Share, Trio, TrioParty};
use zeroize::Zeroizing;

use crate::{SuiteError, side_by_side};

/// A step that moves rows of so many bits: a shuffle, or a sort by all of them.
#[derive(Clone, Copy)]
pub(super) struct Work {
    pub(super) sorts: bool,
    pub(super) bits: usize,
}

impl Work {
    pub(super) fn name(self) -> String {
        let what = if self.sorts { "sort" } else { "shuffle" };
        format!("{what}/{}-bit", self.bits)
    }
}

/// The time of the slowest party, and the bytes of all.
pub(super) fn run(
    cpu: Cpu,
    meshes: Vec<Mesh>,
    work: Work,
    rows: usize,
) -> Result<(Duration, u64), SuiteError> {
    let ends = side_by_side(meshes, |mesh| one(Alone::set_up(cpu, mesh)?, work, rows))?;
    let slowest = ends.iter().map(|(time, _)| *time).max();
    let bytes = ends.iter().map(|(_, bytes)| bytes).sum();
    Ok((slowest.unwrap_or_default(), bytes))
}

fn one(mut party: Alone, work: Work, rows: usize) -> Result<(Duration, u64), SuiteError> {
    // The rows count down, mixed: the owner is the first party.
    let mask = u64::MAX >> (64 - work.bits);
    let value = |row: usize| (row as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7 & mask;
    let share = party.input(PartyId(0), work.bits, (0..rows).map(value))?;
    let to = |mesh: &Mesh, peer| mesh.payload_sent(peer);
    let sent = |mesh: &Mesh| mesh.peers().map(|peer| to(mesh, peer)).sum::<u64>();
    let (before, started) = (sent(&party.mesh), Instant::now());
    let domain = domain();
    let inverted = false;
    let key = (0..work.bits).map(|plane| KeyBit { plane, inverted });
    party.run(if work.sorts {
        let key = key.collect();
        Step::Sort { domain, share, key }
    } else {
        Step::Shuffle { domain, share }
    })?;
    let time = started.elapsed();
    let bytes = sent(&party.mesh) - before;
    party.mesh.finish()?;
    Ok((time, bytes))
}

/// The outcome of a step.
type Left = Outcome<TrioParty>;

/// The domain of all steps.
pub(super) fn domain() -> Domain {
    Trio::domain(Algebra::Z2)
}

/// A party that runs single steps, without a plan.
pub(super) struct Alone {
    trio: TrioParty,
    pub(super) mesh: Mesh,
}

impl Alone {
    pub(super) fn set_up(cpu: Cpu, mut mesh: Mesh) -> Result<Alone, SuiteError> {
        let start = Start {
            setting: &Setting::in_order(&Trio::profile(), 3),
            me: mesh.me(),
            session: mesh.session(),
            cpu,
            coins: Coins::danger_fixed_seed(u64::from(mesh.me().0)),
            stocks: Stocks::default(),
        };
        let trio = TrioParty::set_up(start, &Demand::default(), &mut mesh)?;
        Ok(Alone { trio, mesh })
    }

    pub(super) fn run(&mut self, step: Step<'_, TrioParty>) -> Result<Left, SuiteError> {
        Ok(run_alone(&mut self.trio, &mut self.mesh, step, None)?)
    }

    /// Runs a step that leaves a share.
    pub(super) fn share(&mut self, step: Step<'_, TrioParty>) -> Result<Arc<Share>, SuiteError> {
        match self.run(step)? {
            Outcome::Share(share, ..) => Ok(Arc::new(share)),
            _ => Err("a step left no share".into()),
        }
    }

    /// Shares values of so many bits, which the owner has.
    pub(super) fn input(
        &mut self,
        owner: PartyId,
        bits: usize,
        values: impl ExactSizeIterator<Item = u64>,
    ) -> Result<Arc<Share>, SuiteError> {
        let mine = self.mesh.me() == owner;
        self.share(Step::Input {
            owner,
            domain: domain(),
            elements: values.len(),
            bits,
            values: mine.then(|| Zeroizing::new(values.collect())),
        })
    }
}
