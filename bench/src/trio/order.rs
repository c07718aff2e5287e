//! Shuffles and sorts of rows, as single steps of three parties.

use std::time::{Duration, Instant};

use sealane_block::Cpu;
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::{KeyBit, Party, Step};
use sealane_protocol::{Algebra, Demand, Domain, Protocol, Setting};
use sealane_trio::Trio;

use crate::alone::Alone;
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
pub(super) fn run<P: Party<Material = ()>>(
    cpu: Cpu,
    meshes: Vec<Mesh>,
    work: Work,
    rows: usize,
) -> Result<(Duration, u64), SuiteError> {
    let ends = side_by_side(meshes, |mesh| {
        let setting = Setting::in_order(&P::Protocol::profile(), 3);
        let party = Alone::<P>::set_up(cpu, mesh, &setting, &Demand::default())?;
        one(party, work, rows)
    })?;
    let slowest = ends.iter().map(|(time, _)| *time).max();
    let bytes = ends.iter().map(|(_, bytes)| bytes).sum();
    Ok((slowest.unwrap_or_default(), bytes))
}

fn one<P: Party<Material = ()>>(
    mut party: Alone<P>,
    work: Work,
    rows: usize,
) -> Result<(Duration, u64), SuiteError> {
    // The rows count down, mixed: the owner is the first party.
    let mask = u64::MAX >> (64 - work.bits);
    let value = |row: usize| (row as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7 & mask;
    let domain = P::Protocol::domain(Algebra::Z2);
    let share = party.input(domain, PartyId(0), work.bits, (0..rows).map(value))?;
    let to = |mesh: &Mesh, peer| mesh.payload_sent(peer);
    let sent = |mesh: &Mesh| mesh.peers().map(|peer| to(mesh, peer)).sum::<u64>();
    let (before, started) = (sent(&party.mesh), Instant::now());
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

/// Three parties in order.
pub(super) fn setting() -> Setting {
    Setting::in_order(&Trio::profile(), 3)
}

/// The domain of all steps.
pub(super) fn domain() -> Domain {
    Trio::domain(Algebra::Z2)
}
