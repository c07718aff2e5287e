//! Runs with one party that changes a bit of any message that it sends, and sends the digest of
//! what it really sent.

use super::*;
use crate::masked::TURNED;
use crate::{Share, record};
use sealane_block::Cpu;
use sealane_circuit::{Builder, Machine, Tape, compile};
use sealane_net::SessionId;
use sealane_parties::PartySet;
use sealane_party::{Opened, Outcome, Progress, Step, Steps};
use sealane_proof::Shape;
use sealane_testkit::reckoning::Reckoning;
use sealane_testkit::side::{Given, Side, copied, on_threads};
use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;

pub(crate) mod functions;
pub(crate) mod integers;
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

/// A seed of weights leaves with the settlement of what it is about, whose messages have all been
/// read: a settlement that begins while a product is under way sends none for it.
#[test]
fn seeds_leave_after_the_last_message_that_they_are_about() {
    let setting = &Setting::in_order(&Guarded::profile(), 3);
    let (domain, tape) = (Guarded::domain(Algebra::Z2), &circuit());
    // The answers that have as many bytes come later.
    let seeds = || {
        let sent = SENT.take().into_iter();
        sent.filter(|sent| sent.len() == Shape::SEED_BYTES).count()
    };
    on_threads(Mesh::in_memory(3), |mesh| {
        let given = Given::seeded(Cpu::detect().unwrap(), 1 + u64::from(mesh.me().0));
        let side = Side::<GuardedParty>::set_up(mesh, setting, &Demand::default(), given);
        let side = &mut side.unwrap();
        let x = side.input(PartyId(0), domain, 1, &[1, 0]).unwrap();
        let step = Step::Tape {
            tape,
            domain,
            lanes: 2,
            operands: vec![x.clone(), x.clone(), x],
        };
        let product = begun(side, step);
        let early = begun(side, Step::Settle { checks: vec![] });
        assert_eq!(seeds(), 0);
        side.mesh.flush().unwrap();
        let product = advanced(side, product).expect("it has two flights");
        assert!(advanced(side, early).is_none());
        assert_eq!(seeds(), 0);
        side.mesh.flush().unwrap();
        let done = side.party.advance(product, &mut side.mesh).unwrap();
        let Progress::Done(Outcome::Share(_, checks, ())) = done else {
            panic!("a share is due");
        };
        assert_eq!(seeds(), 0);
        let mut settling = Some(begun(side, Step::Settle { checks }));
        // Of the proofs of both others.
        assert_eq!(seeds(), 2);
        while let Some(pending) = settling {
            side.mesh.flush().unwrap();
            settling = advanced(side, pending);
        }
        side.mesh.finish().unwrap();
    });
}

#[test]
fn nothing_is_opened_before_it_is_proved() {
    let setting = &Setting::in_order(&Guarded::profile(), 3);
    let (domain, tape) = (Guarded::domain(Algebra::Z2), &circuit());
    on_threads(Mesh::in_memory(3), |mesh| {
        let given = Given::seeded(Cpu::detect().unwrap(), 1 + u64::from(mesh.me().0));
        let side = Side::<GuardedParty>::set_up(mesh, setting, &Demand::default(), given);
        let side = &mut side.unwrap();
        let refused = |side: &mut Side<GuardedParty>, share: &Arc<Share>| {
            let (share, to) = (share.clone(), PartySet::of(setting.everyone()));
            let end = side.open(vec![Opened { share, domain, to }]);
            assert!(matches!(end, Err(Fault::Internal(_))), "it was opened");
        };
        let x = side.input(PartyId(0), domain, 1, &[1, 0]).unwrap();
        refused(side, &x);
        side.settle().unwrap();
        let y = side.input(PartyId(1), domain, 1, &[1, 1]).unwrap();
        // The settlement was before the input.
        refused(side, &y);
        let z = side.tape(tape, domain, &[&x, &y, &x]).unwrap();
        // It settles none of the ANDs.
        side.settle().unwrap();
        refused(side, &z);
        side.mesh.finish().unwrap();
    });
}

/// Where a party agrees on other sessions with one than with another, these two do not accuse each
/// other of it alone.
#[test]
fn other_sessions_are_held_against_nobody_alone() {
    for parties in [3, 4] {
        let setting = &Setting::in_order(&Guarded::profile(), parties);
        let domain = Guarded::domain(Algebra::Z2);
        let ends = on_threads(Mesh::in_memory(parties), |mut mesh| {
            let me = mesh.me();
            if me == PartyId(1) {
                mesh.set_session(SessionId::danger_fixed([1; 32]));
            }
            let given = Given::seeded(Cpu::detect().unwrap(), 1 + u64::from(me.0));
            let side = Side::<GuardedParty>::set_up(mesh, setting, &Demand::default(), given);
            let mut side = side.unwrap();
            let input = side.input(PartyId(0), domain, 1, &[1, 0]);
            (me, input.and_then(|_| side.settle()))
        });
        let disputed = ends.iter().filter(|(me, end)| match end {
            Err(Fault::Disputed { between, check }) => {
                let others = setting.everyone().filter(|party| party != me);
                assert_eq!(*between, PartySet::of(others));
                *check == "the comparison of the session"
            }
            Err(Fault::Net(_)) => false,
            _ => panic!("{me:?} ended otherwise"),
        });
        assert!(disputed.count() > 0);
    }
}

/// A settlement without ANDs ends two flights before one that began earlier: what it covers counts.
#[test]
fn a_settlement_that_ends_later_does_not_hide_one_that_began_later() {
    let setting = &Setting::in_order(&Guarded::profile(), 3);
    let (domain, tape) = (Guarded::domain(Algebra::Z2), &circuit());
    on_threads(Mesh::in_memory(3), |mesh| {
        let given = Given::seeded(Cpu::detect().unwrap(), 1 + u64::from(mesh.me().0));
        let side = Side::<GuardedParty>::set_up(mesh, setting, &Demand::default(), given);
        let side = &mut side.unwrap();
        let x = side.input(PartyId(0), domain, 1, &[1, 0]).unwrap();
        let lanes = Step::Tape {
            tape,
            domain,
            lanes: 2,
            operands: vec![x.clone(), x.clone(), x],
        };
        let Outcome::Share(share, checks, ()) = side.run(lanes).unwrap() else {
            panic!("a share is due");
        };
        let me = side.mesh.me();
        let input = Step::Input {
            owner: PartyId(1),
            domain,
            elements: 1,
            bits: 1,
            values: (me == PartyId(1)).then(|| vec![1].into()),
        };
        let first = begun(side, Step::Settle { checks });
        let input = begun(side, input);
        side.mesh.flush().unwrap();
        let first = advanced(side, first).expect("it has two more flights");
        assert!(advanced(side, input).is_none());
        let second = begun(side, Step::Settle { checks: vec![] });
        side.mesh.flush().unwrap();
        let first = advanced(side, first).expect("it has one more flight");
        assert!(advanced(side, second).is_none());
        let result = |share: &Arc<Share>| {
            let (share, to) = (share.clone(), PartySet::of(setting.everyone()));
            vec![Opened { share, domain, to }]
        };
        let share = Arc::new(share);
        // The ANDs are not proved yet.
        assert!(matches!(side.open(result(&share)), Err(Fault::Internal(_))));
        side.mesh.flush().unwrap();
        assert!(advanced(side, first).is_none());
        // Of both lanes: 1 and 0 thrice, so `x y z` is as `x`, and the other output zero.
        let learnt = copied(side.open(result(&share)).unwrap());
        assert_eq!(learnt, [Some(vec![1, 0])]);
        side.mesh.finish().unwrap();
    });
}

fn begun<'a>(side: &mut Side<GuardedParty>, step: Step<'a, GuardedParty>) -> GuardedPending<'a> {
    match side.party.begin(step, None, &mut side.mesh).unwrap() {
        Progress::More(pending) => pending,
        Progress::Done(_) => panic!("it has a flight"),
    }
}

fn advanced<'a>(
    side: &mut Side<GuardedParty>,
    pending: GuardedPending<'a>,
) -> Option<GuardedPending<'a>> {
    match side.party.advance(pending, &mut side.mesh).unwrap() {
        Progress::More(pending) => Some(pending),
        Progress::Done(_) => None,
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
