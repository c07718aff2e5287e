//! All steps of `auth` with their offline parts: over a dealer of products, and over transfers with
//! a batch of products. Inputs and all random choices are secret at each party.

use crate::Check;
use crate::crossing::meshes;
use crate::kernels::secret_coins;
use crate::request::secret_words;
use sealane_auth::{Auth, AuthParty, DangerDealer, Products, Transfers};
use sealane_block::Cpu;
use sealane_net::Mesh;
use sealane_parties::{PartyId, PartySet};
use sealane_party::{Result, Stocks, Words};
use sealane_protocol::{Algebra, Demand, Protocol, Setting, StepShape};
use sealane_testkit::side::{Given, Side, on_threads, two_ands};
use sealane_testkit::walks::TwoWalks;
use std::hint::black_box;

/// The checks of this file.
pub const CHECKS: &[Check] = &[
    ("auth: all steps, over a dealer", |cpu| {
        session::<DangerDealer>(cpu);
    }),
    ("auth: all steps", |cpu| session::<Transfers>(cpu)),
];

/// Lanes of both inputs, which have a bit each.
const LANES: usize = 21;

/// Owners of inputs, who learn the results.
const BOTH: [PartyId; 2] = [PartyId(0), PartyId(1)];

fn session<P: Products>(cpu: Cpu) {
    let setting = Setting::in_order(&Auth::<P>::profile(), BOTH.len());
    let bits = Auth::<P>::domain(Algebra::Z2);
    let ands = two_ands();
    let tape = StepShape::tape(&ands, bits, LANES as u64);
    let inputs = BOTH.map(|owner| StepShape::input(owner, bits, LANES as u64, 1));
    let mut demand = Demand::default();
    for work in inputs.iter().chain([&tape]) {
        demand.merge(&Auth::<P>::offline_demand(&setting, work), 1);
    }
    on_threads(meshes(BOTH.len()), |mesh| {
        run::<P>(cpu, &setting, &demand, mesh).expect("both are honest");
    });
}

fn run<P: Products>(cpu: Cpu, setting: &Setting, demand: &Demand, mesh: Mesh) -> Result<()> {
    let me = mesh.me();
    let (coins, stocks) = (secret_coins(), Stocks::default());
    let side = Side::<AuthParty<P>>::set_up(mesh, setting, demand, Given { cpu, coins, stocks });
    let mut run = TwoWalks::new(side?);
    let mut input = |owner: PartyId| {
        let values = (0..LANES as u64).map(|lane| lane >> owner.0 & 1);
        let mut values = Words::new(values.collect());
        secret_words(&mut values);
        run.input(owner, [LANES, 1], (owner == me).then_some(values))
    };
    let (x, y) = (input(BOTH[0])?, input(BOTH[1])?);
    let first = run.tape(&two_ands(), &[&x, &y])?;
    run.settle()?;
    black_box(run.open(&[&first], PartySet::of(BOTH))?);
    run.side.mesh.finish()?;
    Ok(())
}
