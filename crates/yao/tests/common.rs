//! Sessions of these tests: setting, parties and labels.

use sealane_block::Cpu;
use sealane_net::Mesh;
use sealane_parties::{PartyId, PartySet};
use sealane_party::{Opened, Result};
use sealane_protocol::{Algebra, Demand, Domain, Protocol, Setting};
use sealane_testkit::side::{Given, Side, copied};
use sealane_yao::{Garbling, Labels, Yao, YaoParty};
use std::sync::Arc;

pub const GARBLER: PartyId = PartyId(0);
pub const EVALUATOR: PartyId = PartyId(1);
pub const PARTIES: [PartyId; 2] = [GARBLER, EVALUATOR];

/// The domain of all values.
pub fn domain() -> Domain {
    <Yao>::domain(Algebra::Z2)
}

/// So many parties, of which the first two have the roles.
pub fn setting(parties: usize) -> Setting {
    Setting::in_order(&<Yao>::profile(), parties)
}

/// A party that is set up with its number as its seed.
pub fn side<G: Garbling>(
    mesh: Mesh,
    setting: &Setting,
    demand: &Demand,
) -> Result<Side<YaoParty<G>>> {
    let given = Given::seeded(Cpu::detect().unwrap(), mesh.me().0.into());
    Side::set_up(mesh, setting, demand, given)
}

/// Settles and opens values: returns those that this party learns.
pub fn open<G: Garbling>(
    side: &mut Side<YaoParty<G>>,
    shares: impl IntoIterator<Item = Arc<Labels>>,
    to: PartySet,
) -> Result<Vec<Option<Vec<u64>>>> {
    side.settle()?;
    let result = |share| Opened {
        share,
        domain: domain(),
        to,
    };
    Ok(copied(side.open(shares.into_iter().map(result).collect())?))
}
