//! Runs with one party that changes a bit of any message that it sends, and sends the digest of
//! what it really sent.

use super::*;
use crate::masked::TURNED;
use crate::{Share, record};
use sealane_block::Cpu;
use sealane_circuit::{Builder, Machine, Tape, compile};
use sealane_parties::PartySet;
use sealane_party::{Opened, Outcome, Step, Steps};
use sealane_testkit::reckoning::Reckoning;
use sealane_testkit::side::{Given, Side, copied, on_threads};
use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;

pub(crate) mod functions;
pub(crate) mod integers;
mod settlements;
pub(crate) mod sort;

thread_local! {
    /// The message of this thread that is changed, and its bit.
    static HARM: Cell<Option<(usize, usize)>> = const { Cell::new(None) };
    /// The bits that are changed from there on.
    static PATTERN: Cell<usize> = const { Cell::new(1) };
    /// Runs of a tape one after the other; every second one settles with the one before.
    static RUNS: Cell<usize> = const { Cell::new(1) };
    /// Messages so far, as they were before that.
    static SENT: Cell<Vec<Vec<u8>>> = const { Cell::new(Vec::new()) };
}

/// The message as this thread sends it.
pub(crate) fn harmed(bytes: &[u8]) -> Cow<'_, [u8]> {
    let mut sent = SENT.take();
    let message = sent.len();
    sent.push(bytes.to_vec());
    SENT.set(sent);
    match HARM.get() {
        Some((number, bit)) if number == message => {
            let mut bytes = bytes.to_vec();
            let pattern = PATTERN.get();
            let wrong = (0..usize::BITS as usize).filter(|at| pattern >> at & 1 == 1);
            for bit in wrong.map(|at| bit + at) {
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
            Cow::Owned(bytes)
        }
        _ => Cow::Borrowed(bytes),
    }
}

/// The end of a party: what it learnt, its messages and whether a settlement ended well.
struct End {
    learnt: Result<Vec<Option<Vec<u64>>>>,
    sent: Vec<Vec<u8>>,
    settled: bool,
}

/// `x y z` and `(x + y) (1 + z)` on lanes: two levels.
fn circuit() -> Tape {
    let mut b = Builder::new();
    let wires = b.input(3);
    let (x, y, z) = (wires[0], wires[1], wires[2]);
    let xy = b.and(x, y);
    let all = b.and(xy, z);
    let sum = b.xor(x, y);
    let other = b.and(sum, !z);
    compile(&b.finish(vec![vec![all, other]]), &Machine::ROUNDS)
}

fn evaluated([x, y, z]: [&[u64]; 3]) -> Vec<u64> {
    let lanes = (0..x.len()).map(|i| [x[i], y[i], z[i]]);
    lanes
        .map(|[x, y, z]| x & y & z | ((x ^ y) & (1 ^ z)) << 1)
        .collect()
}

/// Runs the circuit on inputs of parties 0, 1 and `owner`; all parties learn the result.
fn run(
    parties: usize,
    owner: u8,
    inputs: [&[u64]; 3],
    harm: Option<(usize, usize, usize)>,
) -> Vec<End> {
    let to = PartySet::of((0..parties as u8).map(PartyId));
    run_tape(&circuit(), to, parties, owner, inputs, harm)
}

/// Runs a tape; some parties learn the result.
fn run_tape(
    tape: &Tape,
    to: PartySet,
    parties: usize,
    owner: u8,
    inputs: [&[u64]; 3],
    harm: Option<(usize, usize, usize)>,
) -> Vec<End> {
    let setting = &Setting::in_order(&Guarded::profile(), parties);
    let (turned, pattern, runs) = (TURNED.get(), PATTERN.get(), RUNS.get());
    on_threads(Mesh::in_memory(parties), |mesh| {
        TURNED.set(turned);
        PATTERN.set(pattern);
        RUNS.set(runs);
        let me = mesh.me();
        let harm = harm.filter(|(party, ..)| *party == me.index());
        HARM.set(harm.map(|(_, message, bit)| (message, bit)));
        SENT.take();
        let mut settled = false;
        let learnt = party(mesh, setting, owner, (tape, to), inputs, &mut settled);
        End {
            learnt,
            sent: SENT.take(),
            settled,
        }
    })
}

fn party(
    mesh: Mesh,
    setting: &Setting,
    owner: u8,
    (tape, to): (&Tape, PartySet),
    inputs: [&[u64]; 3],
    settled: &mut bool,
) -> Result<Vec<Option<Vec<u64>>>> {
    let owners = [PartyId(0), PartyId(1), PartyId(owner)];
    let domain = Guarded::domain(Algebra::Z2);
    let shape = |owner| StepShape::input(owner, domain, inputs[0].len() as u64, 1);
    let mut demand = Demand::default();
    for owner in owners {
        demand.merge(&Guarded::demand(setting, &shape(owner)), 1);
    }
    let given = Given::seeded(Cpu::detect().unwrap(), 1 + u64::from(mesh.me().0));
    let mut side = Side::<GuardedParty>::set_up(mesh, setting, &demand, given)?;
    let mut reckoning = Reckoning::new(setting.parties);
    reckoning.add(&Guarded::set_up_cost(setting, &demand), &side.mesh);
    let mut step = |side: &mut Side<GuardedParty>, step: Step<'_, GuardedParty>| {
        let cost = Guarded::cost(setting, &step.shape());
        let outcome = side.run(step)?;
        reckoning.add(&cost, &side.mesh);
        Ok::<_, Fault>(outcome)
    };
    let (mut operands, mut checks) = (Vec::new(), Vec::new());
    for (owner, values) in owners.into_iter().zip(inputs) {
        let input = Step::Input {
            owner,
            domain,
            elements: values.len(),
            bits: 1,
            values: (owner == side.mesh.me()).then(|| values.to_vec().into()),
        };
        match step(&mut side, input)? {
            Outcome::Share(share, left, ()) if left.is_empty() => operands.push(Arc::new(share)),
            _ => panic!("a share is due"),
        }
    }
    let (lanes, runs) = (inputs[0].len(), RUNS.get());
    let (mut counts, mut made) = (Counts::default(), None);
    for run in 1..=runs {
        let operands = operands.clone();
        let of = Step::Tape {
            tape,
            domain,
            lanes,
            operands,
        };
        match step(&mut side, of)? {
            Outcome::Share(share, left, ()) => {
                checks.extend(left);
                made = Some(Arc::new(share));
            }
            _ => panic!("a share is due"),
        }
        add(&mut counts, &record::counts(tape, lanes));
        if run % 2 == 0 || run == runs {
            let counts = std::mem::take(&mut counts);
            assert_eq!(GuardedParty::count(&checks), Due::of_bits(counts).checks());
            let checks = std::mem::take(&mut checks);
            step(&mut side, Step::Settle { checks })?;
        }
    }
    let share = made.expect("a run");
    *settled = true;
    let results = vec![Opened { share, domain, to }];
    match step(&mut side, Step::Open { results })? {
        Outcome::Opened(values, ()) => {
            side.mesh.finish()?;
            Ok(copied(values))
        }
        _ => panic!("results are due"),
    }
}

/// Inputs of so many lanes, all combinations among the first eight.
fn inputs(lanes: u64) -> [Vec<u64>; 3] {
    [0, 1, 2].map(|bit| (0..lanes).map(|lane| lane >> bit & 1).collect())
}

#[test]
fn honest_parties_learn_the_result_at_the_stated_cost() {
    // A few, lifted; across words; and two segments, one on the grid.
    for (parties, owner, lanes) in [(3, 2, 8), (3, 2, 65), (4, 3, 8), (5, 4, 200), (5, 4, 3000)] {
        let inputs = inputs(lanes);
        let inputs = inputs.each_ref().map(Vec::as_slice);
        for end in run(parties, owner, inputs, None) {
            assert!(end.settled);
            assert_eq!(end.learnt.unwrap(), [Some(evaluated(inputs))]);
        }
    }
}

/// One bit of any message of any party, with a role or without: the others stop, or learn the right
/// result; and if it belongs to an AND or its proof, nobody settles.
#[test]
fn any_bit_of_any_message_is_found_or_has_no_effect() {
    let inputs = inputs(8);
    let want = evaluated(inputs.each_ref().map(Vec::as_slice));
    any_bit_is_found_or_has_no_effect((&circuit(), 2), &want, &[(3, 2), (4, 3)]);
}

/// Checks it of a tape of so many flights, which has this result for [`inputs`] of eight lanes.
fn any_bit_is_found_or_has_no_effect(
    (tape, flights): (&Tape, usize),
    want: &[u64],
    settings: &[(usize, u8)],
) {
    let inputs = inputs(8);
    let inputs = inputs.each_ref().map(Vec::as_slice);
    let want = [Some(want.to_vec())];
    for &(parties, owner) in settings {
        let to = PartySet::of((0..parties as u8).map(PartyId));
        let run = |parties, owner, inputs, harm| run_tape(tape, to, parties, owner, inputs, harm);
        let honest = run(parties, owner, inputs, None);
        for (cheat, end) in honest.iter().enumerate() {
            let own_inputs = usize::from(cheat < 2) + usize::from(cheat == usize::from(owner));
            // One to the role before, and of role 0 the seed of masks; or two to two holders each.
            let keys = [2, 1, 1, 4][cheat];
            let rests = keys + own_inputs * if cheat < 3 { 1 } else { 2 };
            let ands = rests..rests + if cheat < 3 { flights } else { 0 };
            let sent = &end.sent;
            assert!(sent.len() == rests || sent.len() > ands.end);
            for (message, bytes) in sent.iter().enumerate() {
                let bits = 8 * bytes.len();
                for bit in (0..bits).step_by(if bits > 64 { 37 } else { 1 }) {
                    let ends = run(parties, owner, inputs, Some((cheat, message, bit)));
                    let place = format!("bit {bit} of message {message} of party {cheat}");
                    if cheat >= 3 {
                        // Both holders see it, before a proof.
                        let found = ends.iter().any(|end| {
                            let check = "the comparison of what owners gave";
                            matches!(&end.learnt, Err(Fault::Disputed { check: of, between })
                                if *of == check && between.contains(PartyId(3)))
                        });
                        let long = |end: &End| end.sent.iter().any(|of| of.len() > 64);
                        // Keys of component 0 come first, then of 1; rests are component 2.
                        let component = (message / 2).min(2);
                        let mut holders = [component, (component + 2) % 3].into_iter();
                        let proofs = holders.any(|role| long(&ends[role]));
                        assert!(found && !proofs, "{place}");
                    }
                    let others = ends.into_iter().enumerate();
                    for (party, end) in others.filter(|(party, _)| *party != cheat) {
                        if ands.contains(&message) && party < 3 {
                            let named = match &end.learnt {
                                Err(Fault::Disputed { between, .. }) => {
                                    between.contains(PartyId::from_index(cheat))
                                }
                                Err(Fault::Net(_)) => true,
                                _ => false,
                            };
                            assert!(named && !end.settled, "{place}: {:?}", end.learnt);
                        }
                        // No honest party is accused by another one alone.
                        match &end.learnt {
                            Err(Fault::Disputed { between, .. }) => {
                                assert!(between.contains(PartyId::from_index(cheat)), "{place}");
                            }
                            Err(Fault::Altered(party) | Fault::Peer { party, .. }) => {
                                assert_eq!(party.index(), cheat, "{place}");
                            }
                            _ => {}
                        }
                        // A role may change its own input.
                        let changed = cheat < 3 && (keys..rests).contains(&message);
                        let right = end.learnt.as_ref().is_ok_and(|got| *got == want);
                        assert!(end.learnt.is_err() || right || changed, "{place}: {party}");
                    }
                }
            }
        }
    }
}

/// Role 0 deals the seed of masks of results for parties without a role.
#[test]
fn a_wrong_seed_of_masks_is_found_before_anything_is_opened() {
    let inputs = inputs(8);
    let inputs = inputs.each_ref().map(Vec::as_slice);
    for (parties, owner) in [(3, 2), (4, 3)] {
        // Message 0 is its key.
        let ends = run(parties, owner, inputs, Some((0, 1, 100)));
        assert!(ends.iter().all(|end| end.learnt.is_err()));
        let found = ends[1..3].iter().filter(|end| {
            let check = "the comparison of the seed of masks";
            matches!(&end.learnt, Err(Fault::Disputed { check: of, between })
                if *of == check && between.contains(PartyId(0)))
        });
        // One of the two may hear of the other's end before it compares.
        assert!(found.count() > 0);
        assert!(!ends[1].settled && !ends[2].settled);
    }
}

/// If a bit of a message is changed, somebody finds a fault for all inputs or for none.
#[test]
fn whether_a_run_stops_does_not_depend_on_inputs() {
    // An owner without a role gives different holders different data.
    let cheats = [(3, 2), (4, 3)].map(|(parties, owner)| (0..parties).map(move |i| (i, owner)));
    for (cheat, owner) in cheats.into_iter().flatten() {
        let all = inputs(8);
        let parties = usize::from(owner) + 1;
        let honest = run(parties, owner, all.each_ref().map(Vec::as_slice), None);
        let messages = honest[cheat].sent.len();
        for message in 0..messages {
            let stops = (0..8).map(|lane| {
                let one = all.each_ref().map(|values| &values[lane..=lane]);
                let ends = run(parties, owner, one, Some((cheat, message, 0)));
                // Who hears of it from others depends on who is first.
                let found = |end: &End| !matches!(end.learnt, Ok(_) | Err(Fault::Net(_)));
                ends.iter().any(found)
            });
            let stops = stops.collect::<Vec<_>>();
            assert!(
                stops.iter().all(|of| *of == stops[0]),
                "{cheat} {message}: {stops:?}"
            );
        }
    }
}

/// Of `x + z` and `y + z`, components of which would tell `z` without masks.
#[test]
fn components_of_results_tell_a_party_without_a_role_no_more() {
    let mut b = Builder::new();
    let wires = b.input(3);
    let sums = [0, 1].map(|i| b.xor(wires[i], wires[2]));
    let tape = compile(&b.finish(vec![sums.to_vec()]), &Machine::ROUNDS);
    let inputs = inputs(64);
    let to = PartySet::of([PartyId(3)]);
    let inputs = inputs.each_ref().map(Vec::as_slice);
    let ends = run_tape(&tape, to, 4, 2, inputs, None);
    let bits = |bytes: &[u8]| {
        let bit = |i: usize| u64::from(bytes[i / 8] >> (i % 8) & 1);
        (0..8 * bytes.len()).map(bit).collect::<Vec<_>>()
    };
    let sum = |one: &[u64], other: &[u64]| -> Vec<u64> {
        one.iter()
            .zip(other)
            .map(|(one, other)| one ^ other)
            .collect()
    };
    let components = |party: usize| {
        let of = ends[party].sent.iter().filter(|bytes| bytes.len() == 16);
        of.map(|bytes| bits(bytes)).collect::<Vec<_>>()
    };
    let (first, second) = (components(0), components(1));
    let ([zero, one], [two]) = (&first[..], &second[..]) else {
        panic!("three components");
    };
    let all = sum(&sum(zero, one), two);
    let want = [sum(inputs[0], inputs[2]), sum(inputs[1], inputs[2])].concat();
    assert_eq!(all, want);
    assert_ne!(sum(&two[..64], &zero[64..]), inputs[2]);
}
