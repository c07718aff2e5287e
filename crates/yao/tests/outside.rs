//! Parties without a role: who owns inputs, who learns results, and what each link carries.

use crate::common::{self, EVALUATOR, GARBLER, domain, side};
use sealane_block::Block;
use sealane_circuit::{Builder, Machine, Tape, compile};
use sealane_net::Mesh;
use sealane_parties::{PartyId, PartySet};
use sealane_party::{Fault, Opened, Outcome, Pairs, Result, Shares, Step, Steps};
use sealane_protocol::{Checks, Demand, Opening, Protocol, Setting, StepShape};
use sealane_testkit::leaks::{self, View};
use sealane_testkit::record::{Log, recorded};
use sealane_testkit::side::{copied, on_threads};
use sealane_yao::{Labels, MultiInstance, Yao};

/// Owns an input and learns nothing.
const OWNER: PartyId = PartyId(2);
/// Owns nothing and learns the result.
const BANK: PartyId = PartyId(3);
const LANES: usize = 37;
const BITS: usize = 5;

/// Elements of the party that owns them.
fn values(owner: PartyId) -> Vec<u64> {
    let factor = [11, 7, 13][owner.index()];
    let values = (0..LANES as u64).map(|i| (factor * i + i / 3) % 32);
    values.collect()
}

/// The product of the first two inputs with the third one, bit by bit; one bit more is the sum of
/// the lowest bits.
fn tape() -> Tape {
    let mut b = Builder::new();
    let inputs = [b.input(BITS), b.input(BITS), b.input(BITS)];
    let mut outputs = Vec::new();
    for ((x, y), z) in inputs[0].iter().zip(&inputs[1]).zip(&inputs[2]) {
        let both = b.and(*x, *y);
        outputs.push(b.and(both, *z));
    }
    let sum = b.xor(inputs[0][0], inputs[1][0]);
    outputs.push(b.xor(sum, inputs[2][0]));
    compile(&b.finish(vec![outputs]), &Machine::CPU)
}

fn expected() -> Vec<u64> {
    let inputs = [GARBLER, EVALUATOR, OWNER].map(values);
    let lane = |lane: usize| {
        let [x, y, z] = [0, 1, 2].map(|input: usize| inputs[input][lane]);
        x & y & z | ((x ^ y ^ z) & 1) << BITS
    };
    (0..LANES).map(lane).collect()
}

fn setting() -> Setting {
    common::setting(4)
}

/// The steps of the session, by their shapes.
fn shapes(tape: &Tape) -> Vec<StepShape<'_>> {
    let input = |owner| StepShape::input(owner, domain(), LANES as u64, BITS as u64);
    let opening = Opening {
        domain: domain(),
        bits: ((BITS + 1) * LANES) as u64,
        to: PartySet::of([BANK]),
    };
    vec![
        input(GARBLER),
        input(EVALUATOR),
        input(OWNER),
        StepShape::tape(tape, domain(), LANES as u64),
        StepShape::Settle {
            checks: Checks::default(),
        },
        StepShape::Open {
            results: vec![opening],
        },
    ]
}

fn demand(setting: &Setting, shapes: &[StepShape<'_>]) -> Demand {
    let mut demand = Demand::default();
    for shape in shapes {
        demand.merge(&<Yao>::demand(setting, shape), 1);
    }
    demand
}

/// The end of a party.
struct End {
    learnt: Option<Vec<u64>>,
    /// Labels of all inputs and of the result.
    labels: Vec<Block>,
    delta: Block,
    rounds: u32,
    /// Bytes to each party, before the digests, and in all.
    sent: [Vec<u64>; 2],
}

/// Runs one party; `step_round` is called before the opening.
fn party(mesh: Mesh, step_round: impl FnOnce(&mut Mesh) -> bool) -> Result<End> {
    let (setting, tape) = (setting(), tape());
    let me = mesh.me();
    let demand = demand(&setting, &shapes(&tape));
    let mut side = side::<MultiInstance>(mesh, &setting, &demand)?;
    let one = side.party.constant(domain(), 1, &[1]);
    let delta = one.data().first().copied();
    let mut operands = Vec::new();
    for owner in [GARBLER, EVALUATOR, OWNER] {
        operands.push(side.input(owner, domain(), BITS, &values(owner))?);
    }
    let [x, y, z] = [0, 1, 2].map(|at: usize| &operands[at]);
    let result = side.tape(&tape, domain(), &[x, y, z])?;
    let shape = (result.planes(), result.elements());
    assert_eq!(shape, (BITS + 1, LANES));
    let sent = |mesh: &Mesh| {
        let sent = |to| if to == me { 0 } else { mesh.payload_sent(to) };
        setting.everyone().map(sent).collect::<Vec<_>>()
    };
    let before = sent(&side.mesh);
    side.settle()?;
    let labels = operands.iter().chain([&result]);
    let labels = labels.flat_map(|share| share.data().to_vec()).collect();
    if !step_round(&mut side.mesh) {
        return Err(Fault::Internal("a party that deviates".into()));
    }
    let (share, domain, to) = (result, domain(), PartySet::of([BANK]));
    let results = vec![Opened { share, domain, to }];
    let learnt = copied(side.open(results)?).remove(0);
    side.mesh.finish()?;
    Ok(End {
        learnt,
        labels,
        delta: delta.unwrap_or(Block::ZERO),
        rounds: side.mesh.rounds(),
        sent: [before, sent(&side.mesh)],
    })
}

fn session() -> (Vec<End>, Vec<Vec<Log>>) {
    let (meshes, logs) = recorded(4);
    let ends = on_threads(meshes, |mesh| party(mesh, |_| true).unwrap());
    (ends, logs)
}

#[test]
fn only_the_receiver_learns_and_links_carry_what_was_planned() {
    let (ends, _) = session();
    for (at, end) in ends.iter().enumerate() {
        let learns = (PartyId::from_index(at) == BANK).then(expected);
        assert_eq!(end.learnt, learns, "party {at}");
    }
    let (setting, tape) = (setting(), tape());
    let shapes = shapes(&tape);
    let set_up = <Yao>::set_up_cost(&setting, &demand(&setting, &shapes));
    let costs = shapes.iter().map(|shape| <Yao>::cost(&setting, shape));
    let flights = costs.chain([set_up]).flat_map(|cost| cost.flights);
    let mut planned = vec![vec![0; 4]; 4];
    for message in flights.flatten().filter(|message| message.bytes > 0) {
        let met = message.from != OWNER || message.to != BANK;
        assert!(met, "two without a role");
        planned[message.from.index()][message.to.index()] += message.bytes;
    }
    for (from, end) in ends.iter().enumerate() {
        assert_eq!(end.sent[1], planned[from], "from party {from}");
    }
    // Between both roles nothing crosses in the opening: neither can learn the result.
    let digest = sealane_party::DIGEST_BYTES;
    for [one, other] in [[0, 1], [1, 0]] {
        assert_eq!(ends[one].sent[1][other], ends[one].sent[0][other] + digest);
    }
    // Set-up takes two rounds, the input of the owner two, the tape, the digests and the opening.
    assert!(ends.iter().all(|end| end.rounds <= 2 + 1 + 2 + 1 + 1 + 1));
}

/// Neither role can read the input of the owner, or the result, off what it receives.
#[test]
fn no_party_sees_more_than_its_part() {
    let (ends, logs) = session();
    let heard = |me: PartyId| {
        let from = (0..4).filter(|from| *from != me.index());
        from.map(|from| logs[me.index()][from].heard()).collect()
    };
    let bits = |values: &[u64], planes: usize| {
        let plane = |plane| values.iter().map(move |v| (v >> plane & 1) as u8);
        (0..planes).flat_map(plane).collect::<Vec<_>>()
    };
    let given = bits(&values(OWNER), BITS);
    let result = bits(&expected(), BITS + 1);
    let [garbler, evaluator] = [0, 1].map(|at: usize| &ends[at]);
    // The evaluator holds one label of each wire: the zero label, or the other one.
    for (zero, active) in garbler.labels.iter().zip(&evaluator.labels) {
        let sum = (*active ^ *zero).value();
        assert!(sum == 0 || sum == garbler.delta.value());
    }
    for me in [GARBLER, EVALUATOR, OWNER] {
        let held = ends[me.index()].labels.iter().map(|label| label.value());
        let view = View {
            heard: heard(me),
            held: held.collect(),
            ..View::default()
        };
        let mut secrets = leaks::bits("a result", &result);
        if me != OWNER {
            secrets.extend(leaks::bits("an input of the owner", &given));
        }
        if me == EVALUATOR {
            secrets.push(("the offset".to_string(), garbler.delta.value()));
        }
        assert_eq!(leaks::find_heard(&view, &secrets), None, "{me}");
        if me == GARBLER {
            let active = evaluator.labels.iter().zip(&garbler.labels);
            let others = active.filter(|(active, zero)| active.value() != zero.value());
            let others =
                others.map(|(active, _)| ("a label of a bit 1".to_string(), active.value()));
            assert_eq!(leaks::find_heard(&view, &others.collect::<Vec<_>>()), None);
        }
    }
    // The share that the evaluator gets is masked: it differs from the input, and so does the rest.
    let share = logs[EVALUATOR.index()][OWNER.index()].heard();
    let packed = given.chunks(8).map(|bits| {
        let bits = bits.iter().enumerate();
        bits.map(|(at, bit)| bit << at).sum::<u8>()
    });
    let packed = packed.collect::<Vec<_>>();
    let differ = share.iter().zip(&packed).map(|(a, b)| (a ^ b).count_ones());
    let differ = differ.sum::<u32>() as usize;
    // 185 bits: of random masks, fewer than 50 or more than 135 are set once in 10^9 seeds.
    let all = given.len();
    assert!((50..135).contains(&differ), "{differ} of {all} differ");
}

/// A role that opens a result to another value than that of its label is found by the receiver.
#[test]
fn a_receiver_refuses_what_fits_no_label() {
    for liar in [GARBLER, EVALUATOR] {
        let ends = on_threads(Mesh::in_memory(4), |mesh| {
            let lies = mesh.me() == liar;
            party(mesh, |mesh| {
                if lies {
                    let blocks = (BITS + 1) * LANES * if liar == GARBLER { 2 } else { 1 };
                    mesh.send(BANK, &vec![7; 16 * blocks]).unwrap();
                    mesh.flush().unwrap();
                    std::thread::sleep(std::time::Duration::from_millis(300));
                }
                !lies
            })
        });
        let bank = ends[BANK.index()].as_ref().err();
        assert!(matches!(bank, Some(Fault::CheckFailed)), "{liar}");
    }
}

/// A message of an owner is as long as its bits, and what is behind them is zero.
#[test]
fn an_owner_that_fills_the_end_of_a_message_has_broken_the_protocol() {
    let ends = on_threads(Mesh::in_memory(4), |mut mesh| {
        if mesh.me() != OWNER {
            return party(mesh, |_| true).err();
        }
        mesh.send(GARBLER, &[1; 32]).unwrap();
        // 185 bits in 24 bytes.
        mesh.send(EVALUATOR, &[0xff; 24]).unwrap();
        mesh.flush().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(500));
        None
    });
    let reported =
        matches!(&ends[1], Some(Fault::Peer { party: OWNER, what }) if what.contains("after"));
    assert!(reported);
}

/// Elements that meet in place stay columns at a party without a role.
#[test]
fn columns_stay_columns_outside() {
    let mesh = Mesh::in_memory(4).pop().expect("four");
    let mut bank = side::<MultiInstance>(mesh, &setting(), &Demand::default()).unwrap();
    let mut b = Builder::new();
    let (first, second) = (b.input(2), b.input(2));
    let both = b.and(first[0], second[1]);
    let tape = compile(&b.finish(vec![vec![both, first[1]]]), &Machine::CPU);
    let pairs = Pairs {
        columns: vec![Labels::shape(2, 6)],
        places: [vec![0, 2], vec![1, 3]],
        writes: [true, false],
        captured: vec![],
    };
    let step = Step::CompareExchange {
        tape: &tape,
        domain: domain(),
        pairs,
    };
    match bank.run(step).unwrap() {
        Outcome::Columns(columns, ()) => {
            let sizes = columns.iter();
            let sizes = sizes.map(|column| (column.planes(), column.elements()));
            assert_eq!(sizes.collect::<Vec<_>>(), [(2, 6)]);
        }
        _ => panic!("columns were due"),
    }
}
