//! Sequential netlists between two parties, cycle by cycle: results, and bytes as planned.

#[path = "../../../crates/yao/tests/common.rs"]
mod common;

use common::{EVALUATOR, GARBLER, PARTIES, domain, open};
use sealane_accel::functions::function;
use sealane_circuit::{CycleTape, Machine};
use sealane_net::Mesh;
use sealane_parties::{PartyId, PartySet};
use sealane_party::{CycleRun, Shares};
use sealane_protocol::{Demand, Protocol, StepShape};
use sealane_testkit::side::{self, on_threads};
use sealane_yao::{Garbling, Labels, MultiInstance, ThreeHalves, Yao, YaoParty};
use std::sync::Arc;

/// Words of 64 bits and less of each party, an element for each lane.
struct Given {
    bits: usize,
    words: [Vec<Vec<u64>>; 2],
}

impl Given {
    fn lanes(&self) -> usize {
        self.words[0][0].len()
    }

    /// The inputs in order: all of the garbler, then all of the evaluator.
    fn inputs(&self) -> impl Iterator<Item = (PartyId, &Vec<u64>)> {
        let of = |party: PartyId| {
            self.words[party.index()]
                .iter()
                .map(move |word| (party, word))
        };
        of(GARBLER).chain(of(EVALUATOR))
    }
}

type Side<G> = side::Side<YaoParty<G>>;

/// Runs both parties: `cycles` returns the share that is opened to both. Returns what they learn,
/// word by word, and the bytes from the garbler to the evaluator, planned ones first.
fn session<G: Garbling>(
    given: &Given,
    tape: &CycleTape,
    count: usize,
    cycles: impl Fn(&mut Side<G>, Vec<Arc<Labels>>) -> Arc<Labels> + Sync,
) -> ([Vec<Vec<u64>>; 2], [u64; 2]) {
    let (setting, domain) = (common::setting(2), domain());
    let lanes = given.lanes() as u64;
    let inputs = given.inputs();
    let inputs = inputs.map(|(owner, _)| StepShape::input(owner, domain, lanes, given.bits as u64));
    let mut shapes: Vec<StepShape> = inputs.collect();
    let mut demand = Demand::default();
    for shape in &shapes {
        demand.merge(&Yao::<G>::demand(&setting, shape), 1);
    }
    let cycle = || StepShape::tape(&tape.tape, domain, lanes);
    shapes.extend((0..count).map(|_| cycle()));
    let costs = shapes.iter().map(|shape| Yao::<G>::cost(&setting, shape));
    let sent = |cost: sealane_protocol::Cost| -> u64 {
        let messages = cost.flights.iter().flatten();
        messages
            .filter(|message| message.from == GARBLER)
            .map(|message| message.bytes)
            .sum()
    };
    let planned = costs.map(sent).sum();
    let ends = on_threads(Mesh::in_memory(2), |mesh| {
        let peer = mesh.peers().next().unwrap();
        let mut side = common::side::<G>(mesh, &setting, &demand).unwrap();
        let before = side.mesh.payload_sent(peer);
        let shares = given.inputs().map(|(owner, values)| {
            let share = side.input(owner, domain, given.bits, values);
            share.unwrap()
        });
        let shares: Vec<_> = shares.collect();
        let out = cycles(&mut side, shares);
        let sent = side.mesh.payload_sent(peer) - before;
        let word = |first: usize| Arc::new(out.resize(first, 64.min(out.planes() - first), false));
        let results = (0..out.planes()).step_by(64).map(word);
        let revealed = open(&mut side, results, PartySet::of(PARTIES)).unwrap();
        side.mesh.finish().unwrap();
        (revealed.into_iter().map(Option::unwrap).collect(), sent)
    });
    let [(words, sent), (learnt, _)] = ends.try_into().unwrap();
    ([words, learnt], [planned, sent])
}

/// The millionaires' problem: a bit of both in each of eight cycles, 40 pairs at once.
fn millionaires<G: Garbling>() {
    let function = function("Mill_8_8").unwrap();
    let tape = function.circuit.compile(&Machine::CPU);
    let x: Vec<u64> = (0..40).map(|i| i * 37 % 256).collect();
    let y: Vec<u64> = (0..40).map(|i| i * 91 % 256).collect();
    let given = Given {
        bits: 8,
        words: [vec![x.clone()], vec![y.clone()]],
    };
    let cycles = |side: &mut Side<G>, words: Vec<Arc<Labels>>| {
        let held = Labels::zeros(0, 40);
        let mut run = CycleRun::new(&tape, domain(), 40, held, &mut side.party).unwrap();
        let mut out = Labels::zeros(0, 40);
        for bit in 0..8 {
            let fresh = words
                .iter()
                .map(|word| Arc::new(word.resize(bit, 1, false)));
            let fresh: Vec<_> = fresh.collect();
            out = run.cycle(&fresh, &mut side.party, &mut side.mesh).unwrap();
        }
        Arc::new(out)
    };
    let (learnt, [planned, sent]) = session::<G>(&given, &tape, 8, cycles);
    let expected: Vec<u64> = x.iter().zip(&y).map(|(x, y)| (x >= y).into()).collect();
    assert_eq!(learnt, [vec![expected.clone()], vec![expected]]);
    assert_eq!(planned, sent);
    // An AND a cycle and pair, and nothing else.
    assert_eq!(planned, 8 * 40 * G::SCHEME.and_bytes());
}

#[test]
fn the_richer_one_is_found_cycle_by_cycle() {
    millionaires::<MultiInstance>();
    millionaires::<ThreeHalves>();
}

/// AES-128 under a key of the garbler, on a block of the evaluator: ten cycles. FIPS 197, C.1.
#[test]
fn a_block_is_encrypted_cycle_by_cycle() {
    let function = function("AES_128_11").unwrap();
    let tape = function.circuit.compile(&Machine::CPU);
    let halves = |bytes: u128| {
        let little = bytes.swap_bytes();
        vec![vec![little as u64], vec![(little >> 64) as u64]]
    };
    let given = Given {
        bits: 64,
        words: [
            halves(0x000102030405060708090a0b0c0d0e0f),
            halves(0x00112233445566778899aabbccddeeff),
        ],
    };
    let cycles = |side: &mut Side<MultiInstance>, words: Vec<Arc<Labels>>| {
        let held = Labels::concatenate(&words.iter().map(Arc::as_ref).collect::<Vec<_>>());
        let mut run = CycleRun::new(&tape, domain(), 1, held, &mut side.party).unwrap();
        let mut cycle = || run.cycle(&[], &mut side.party, &mut side.mesh).unwrap();
        Arc::new((0..10).fold(Labels::zeros(0, 1), |_, _| cycle()))
    };
    let (learnt, [planned, sent]) = session::<MultiInstance>(&given, &tape, 10, cycles);
    let expected = halves(0x69c4e0d86a7b0430d8cdb78070b4c55a);
    assert_eq!(learnt, [expected.clone(), expected]);
    assert_eq!(planned, sent);
    assert_eq!(planned, 10 * 640 * 32);
}
