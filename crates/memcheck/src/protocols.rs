//! All steps of every protocol, without the engine that calls them in a run. Inputs and all random
//! choices are secret at each party; messages between parties and revealed results are public.

use crate::Check;
use crate::crossing::meshes;
use crate::kernels::secret_coins;
use crate::request::secret;
use sealane_block::Cpu;
use sealane_clear::Clear;
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_protocol::{Protocol, Setting};
use sealane_testkit::session::Session;
use sealane_trio::Trio;
use sealane_yao::{ThreeHalves, Yao};
use std::hint::black_box;
use zeroize::Zeroizing;

/// The checks of this file.
pub const CHECKS: &[Check] = &[
    ("yao: all steps", session::<Yao>),
    ("yao-three-halves: all steps", session::<Yao<ThreeHalves>>),
    ("trio: all steps", session::<Trio>),
    ("clear: what a party computes alone", session::<Clear>),
];

const SIZE: Session = Session { lanes: 21, bits: 8 };

fn session<P: Protocol>(cpu: Cpu) {
    let start =
        |setting: &Setting, mesh: &mut Mesh| P::start(setting, mesh.me(), cpu, secret_coins());
    let input = |_: PartyId| {
        let bits = (0..SIZE.lanes * SIZE.bits).map(|i| u8::from(i % 3 == 0));
        let mut bits = Zeroizing::new(bits.collect::<Vec<_>>());
        secret(&mut bits);
        bits
    };
    let end = |mut mesh: Mesh, revealed| {
        black_box(revealed);
        mesh.finish().expect("all parties are honest");
    };
    SIZE.run::<P, ()>(meshes(Session::parties::<P>()), start, input, end);
}
