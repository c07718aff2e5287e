//! All steps of every protocol, without the engine that calls them in a run. Inputs and all random
//! choices are secret at each party; messages between parties and revealed results are public.

use crate::Check;
use crate::crossing::meshes;
use crate::kernels::secret_coins;
use crate::request::secret_words;
use sealane_block::Cpu;
use sealane_clear::ClearParty;
use sealane_mixed::{GmwParty, MixedParty};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::{Party, Stocks};
use sealane_testkit::session::Session;
use sealane_testkit::side::Given;
use sealane_testkit::stock::Dealt;
use sealane_trio::TrioParty;
use sealane_yao::{ThreeHalves, YaoParty};
use std::hint::black_box;
use zeroize::Zeroizing;

/// The checks of this file.
pub const CHECKS: &[Check] = &[
    ("yao: all steps", |cpu| session::<YaoParty>(cpu, false)),
    ("yao: all steps, transfers of a pool", |cpu| {
        session::<YaoParty>(cpu, true);
    }),
    ("yao-three-halves: all steps", |cpu| {
        session::<YaoParty<ThreeHalves>>(cpu, false);
    }),
    ("trio: all steps", |cpu| session::<TrioParty>(cpu, false)),
    ("gmw: all steps", |cpu| session::<GmwParty>(cpu, false)),
    ("mixed: all steps", |cpu| session::<MixedParty>(cpu, false)),
    ("mixed: all steps, transfers of a pool", |cpu| {
        session::<MixedParty>(cpu, true);
    }),
    ("clear: what a party computes alone", |cpu| {
        session::<ClearParty>(cpu, false);
    }),
];

const SIZE: Session = Session { lanes: 21, bits: 8 };

/// Runs all parties; if `pooled`, with random oblivious transfers that are secret as well.
fn session<P: Party>(cpu: Cpu, pooled: bool) {
    let given = |mesh: &Mesh| Given {
        cpu,
        coins: secret_coins(),
        stocks: if pooled {
            Dealt::both(mesh.me(), secret_coins())
        } else {
            Stocks::default()
        },
    };
    let input = |_: PartyId| {
        let values = (0..SIZE.lanes as u64).map(|i| i * 0x25 % (1 << SIZE.bits));
        let mut values = Zeroizing::new(values.collect::<Vec<_>>());
        secret_words(&mut values);
        values
    };
    let end = |mut mesh: Mesh, revealed| {
        black_box(revealed);
        mesh.finish().expect("all parties are honest");
    };
    SIZE.run::<P, ()>(meshes(Session::parties::<P::Protocol>()), given, input, end);
}
