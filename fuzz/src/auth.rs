//! Garbler or evaluator of `auth` against a peer that sends arbitrary bytes with correct digests.
//!
//! The session has all messages of the protocol but those of its set-up, which are the honest ones:
//! oblivious transfers have targets of their own. It begins with a refill, an extension and a batch
//! of products; inputs, tapes, settlement and results of both parties follow. Whatever the peer
//! sends, a party refuses, or learns what some input of the peer gives, and what its own input
//! gives if the peer sends that of the honest run.

use crate::roles::{Ended, Point, Scene};
use sealane_auth::{Auth, AuthParty, Transfers};
use sealane_block::Cpu;
use sealane_circuit::Tape;
use sealane_fuzz_harness::Verdict;
use sealane_net::Mesh;
use sealane_parties::{PartyId, PartySet};
use sealane_protocol::{Algebra, Demand, Protocol, Setting, StepShape};
use sealane_testkit::side::{Given, Side, copied, two_ands};
use sealane_testkit::walks::TwoWalks;
use std::sync::LazyLock;

type Party = AuthParty<Transfers>;

static SCENE: LazyLock<Scene> = LazyLock::new(|| Scene::of::<Party>(2, &[false], session));

/// Garbler, who owns `x`, and evaluator, who owns `y`.
const BOTH: [PartyId; 2] = [PartyId(0), PartyId(1)];
/// The bits of each, lane by lane.
const INPUTS: [[u64; 3]; 2] = [[0, 1, 1], [1, 0, 1]];

/// Runs the garbler or the evaluator, by the first byte.
pub fn auth(bytes: &[u8]) -> Verdict {
    SCENE.hostile(bytes, |learnt, honest, streams| {
        if streams == honest.streams {
            assert_eq!(learnt, &honest.learnt, "an honest run");
        }
        let me = honest.me.index();
        let results = learnt[0].as_ref().expect("both learn the result");
        for (result, own) in results.iter().zip(INPUTS[me]) {
            let of = |other: u64| {
                if me == 0 {
                    value(own, other)
                } else {
                    value(other, own)
                }
            };
            assert!(
                [of(0), of(1)].contains(result),
                "hostile bytes make no result of their own"
            );
        }
    })
}

/// Outputs of [`two_ands`] for a bit of each, as a number of two bits.
fn value(x: u64, y: u64) -> u64 {
    (x & y) | (((x ^ y) & (1 - x)) << 1)
}

/// Messages of the honest peer to each party.
pub fn seeds() -> Vec<Vec<u8>> {
    SCENE.seeds()
}

/// Runs one party.
fn session(setting: &Setting, _: bool, mesh: Mesh, watch: &mut dyn FnMut(Point, &Mesh)) -> Ended {
    let me = mesh.me();
    let given = Given::seeded(Cpu::detect().expect("a tier"), u64::from(me.0) + 1);
    let side = Side::<Party>::set_up(mesh, setting, &Demand::default(), given)?;
    let mut run = TwoWalks::new(side);
    watch(Point::Hostile, &run.side.mesh);
    // Nothing of this protocol is bulk.
    watch(Point::Bulk(None), &run.side.mesh);
    watch(Point::Plain, &run.side.mesh);
    let tape = two_ands();
    let made = Auth::<Transfers>::refill_counts(setting, &demand(setting, &tape));
    let Side { party, mesh } = &mut run.side;
    sealane_party::Party::refill(party, &made, mesh)?;
    let lanes = INPUTS[0].len();
    let mut input = |owner: PartyId| {
        let own = INPUTS[owner.index()].to_vec();
        run.input(owner, [lanes, 1], (owner == me).then(|| own.into()))
    };
    let (x, y) = (input(BOTH[0])?, input(BOTH[1])?);
    let z = run.tape(&tape, &[&x, &y])?;
    watch(Point::Settle, &run.side.mesh);
    run.settle()?;
    let learnt = run.open(&[&z], PartySet::of(BOTH))?;
    Ok((copied(learnt), run.side.mesh))
}

/// Demand of both inputs and the tape.
fn demand(setting: &Setting, tape: &Tape) -> Demand {
    let (bits, lanes) = (
        Auth::<Transfers>::domain(Algebra::Z2),
        INPUTS[0].len() as u64,
    );
    let mut demand = Demand::default();
    let inputs = BOTH.map(|owner| StepShape::input(owner, bits, lanes, 1));
    for work in inputs.iter().chain([&StepShape::tape(tape, bits, lanes)]) {
        demand.merge(&Auth::<Transfers>::offline_demand(setting, work), 1);
    }
    demand
}
