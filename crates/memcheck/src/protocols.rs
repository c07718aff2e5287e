//! All steps of every protocol, without the engine that calls them in a run. Inputs and all random
//! choices are secret at each party; messages between parties and revealed results are public.

use crate::Check;
use crate::crossing::meshes;
use crate::kernels::secret_coins;
use crate::request::secret_words;
use sealane_block::Cpu;
use sealane_clear::ClearParty;
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::Party;
use sealane_testkit::session::Session;
use sealane_trio::TrioParty;
use sealane_yao::{ThreeHalves, YaoParty};
use std::hint::black_box;
use zeroize::Zeroizing;

/// The checks of this file.
pub const CHECKS: &[Check] = &[
    ("yao: all steps", session::<YaoParty>),
    (
        "yao-three-halves: all steps",
        session::<YaoParty<ThreeHalves>>,
    ),
    ("trio: all steps", session::<TrioParty>),
    ("clear: what a party computes alone", session::<ClearParty>),
];

const SIZE: Session = Session { lanes: 21, bits: 8 };

fn session<P: Party>(cpu: Cpu) {
    let coins = |_: &Mesh| (cpu, secret_coins());
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
    SIZE.run::<P, ()>(meshes(Session::parties::<P::Protocol>()), coins, input, end);
}
