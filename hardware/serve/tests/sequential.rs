//! Sequential netlists between two parties, cycle by cycle: results, and bytes as planned.

use sealane_accel::functions::function;
use sealane_block::{Coins, Cpu};
use sealane_circuit::{CycleTape, Machine};
use sealane_net::Mesh;
use sealane_parties::{PartyId, PartySet};
use sealane_party::{CycleRun, Opened, Outcome, Party, Shares, Start, Step, run_alone};
use sealane_protocol::{Algebra, Demand, Protocol, Setting, StepShape};
use sealane_yao::{Garbling, Labels, MultiInstance, ThreeHalves, Yao, YaoParty};
use std::sync::Arc;
use zeroize::Zeroizing;

const GARBLER: PartyId = PartyId(0);
const EVALUATOR: PartyId = PartyId(1);

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

/// A party of a session, ready to run steps.
struct Side<G: Garbling> {
    party: YaoParty<G>,
    mesh: Mesh,
}

impl<G: Garbling> Side<G> {
    fn run<'a>(&mut self, step: Step<'a, YaoParty<G>>) -> Outcome<YaoParty<G>> {
        run_alone(&mut self.party, &mut self.mesh, step, None).unwrap()
    }

    fn input(&mut self, owner: PartyId, bits: usize, values: &[u64]) -> Labels {
        let step = Step::Input {
            owner,
            elements: values.len(),
            domain: Yao::<G>::input_domain(Algebra::Z2),
            bits,
            values: (owner == self.mesh.me()).then(|| Zeroizing::new(values.to_vec())),
        };
        match self.run(step) {
            Outcome::Share(share, ..) => share,
            _ => panic!("a share was due"),
        }
    }
}

/// Runs both parties: `cycles` returns the share that is opened to both. Returns what they learn,
/// word by word, and the bytes from the garbler to the evaluator, planned ones first.
fn session<G: Garbling>(
    given: &Given,
    tape: &CycleTape,
    count: usize,
    cycles: impl Fn(&mut Side<G>, Vec<Labels>) -> Labels + Sync,
) -> ([Vec<Vec<u64>>; 2], [u64; 2]) {
    let setting = Setting::in_order(&Yao::<G>::profile(), 2);
    let lanes = given.lanes() as u64;
    let domain = Yao::<G>::domain(Algebra::Z2);
    let inputs = given.inputs().map(|(owner, _)| StepShape::Input {
        owner,
        domain: Yao::<G>::input_domain(Algebra::Z2),
        elements: lanes,
        bits: given.bits as u64,
    });
    let mut shapes: Vec<StepShape> = inputs.collect();
    let mut demand = Demand::default();
    for shape in &shapes {
        demand.merge(&Yao::<G>::demand(&setting, shape), 1);
    }
    let cycle = || StepShape::Tape {
        tape: &tape.tape,
        domain,
        lanes,
    };
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
    let both = PartySet::of([GARBLER, EVALUATOR]);
    let party = |mut mesh: Mesh| {
        let me = mesh.me();
        let start = Start {
            setting: &setting,
            me,
            session: mesh.session(),
            cpu: Cpu::detect().unwrap(),
            coins: Coins::danger_fixed_seed(me.index() as u64),
            stock: None,
        };
        let party = YaoParty::<G>::set_up(start, &demand, &mut mesh).unwrap();
        let mut side = Side { party, mesh };
        let before = side.mesh.payload_sent(PartyId::from_index(1 - me.index()));
        let shares = given
            .inputs()
            .map(|(owner, values)| side.input(owner, given.bits, values));
        let shares: Vec<Labels> = shares.collect::<Vec<_>>();
        let out = cycles(&mut side, shares);
        let sent = side.mesh.payload_sent(PartyId::from_index(1 - me.index())) - before;
        let settled = side.run(Step::Settle { checks: vec![] });
        assert!(matches!(settled, Outcome::Settled(_)));
        let word = |first: usize| Opened {
            share: Arc::new(out.resize(first, 64.min(out.planes() - first), false)),
            domain,
            to: both,
        };
        let results = (0..out.planes()).step_by(64).map(word).collect();
        let Outcome::Opened(revealed, _) = side.run(Step::Open { results }) else {
            panic!("a result was due");
        };
        side.mesh.finish().unwrap();
        let words = revealed.into_iter().map(|words| words.unwrap().to_vec());
        (words.collect(), sent)
    };
    let [a, b] = Mesh::in_memory(2).try_into().ok().unwrap();
    std::thread::scope(|threads| {
        let garbler = threads.spawn(|| party(a));
        let (learnt, _) = party(b);
        let (words, sent) = garbler.join().unwrap();
        ([words, learnt], [planned, sent])
    })
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
    let cycles = |side: &mut Side<G>, words: Vec<Labels>| {
        let held = Labels::zeros(0, 40);
        let domain = Yao::<G>::domain(Algebra::Z2);
        let mut run = CycleRun::new(&tape, domain, 40, held, &mut side.party).unwrap();
        let mut out = Labels::zeros(0, 40);
        for bit in 0..8 {
            let fresh = words
                .iter()
                .map(|word| Arc::new(word.resize(bit, 1, false)));
            let fresh: Vec<_> = fresh.collect();
            out = run.cycle(&fresh, &mut side.party, &mut side.mesh).unwrap();
        }
        out
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
    let cycles = |side: &mut Side<MultiInstance>, words: Vec<Labels>| {
        let held = Labels::beside(&words.iter().collect::<Vec<_>>());
        let domain = <Yao>::domain(Algebra::Z2);
        let mut run = CycleRun::new(&tape, domain, 1, held, &mut side.party).unwrap();
        let mut cycle = || run.cycle(&[], &mut side.party, &mut side.mesh).unwrap();
        (0..10).fold(Labels::zeros(0, 1), |_, _| cycle())
    };
    let (learnt, [planned, sent]) = session::<MultiInstance>(&given, &tape, 10, cycles);
    let expected = halves(0x69c4e0d86a7b0430d8cdb78070b4c55a);
    assert_eq!(learnt, [expected.clone(), expected]);
    assert_eq!(planned, sent);
    assert_eq!(planned, 10 * 640 * 32);
}
