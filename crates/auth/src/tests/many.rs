//! Three and more parties over the dealer: results, exact costs, and parties that deviate.

use super::{Learnt, Side, Value, domain, here, on_threads, one_and, product, setting_of};
use crate::common::Place;
use crate::{Auth, DangerDealer};
use sealane_block::{Block, Cpu};
use sealane_net::Mesh;
use sealane_parties::{PartyId, PartySet};
use sealane_party::{Fault, Result};
use sealane_protocol::{Cost, Demand, Protocol, StepShape};
use sealane_testkit::tamper::tampered_among;

/// The party that evaluates.
const EVALUATOR: PartyId = PartyId(1);

/// Inputs of all parties, a tape of each neighbouring two, one of what these are, and a public
/// value; what each party learns.
fn session(mut side: Side, values: &[Vec<u64>]) -> Result<Learnt> {
    let everyone = (0..values.len()).map(PartyId::from_index);
    let everyone = everyone.collect::<Vec<_>>();
    let tape = product(8);
    let mut inputs = Vec::new();
    for (owner, values) in everyone.iter().zip(values) {
        inputs.push(side.input(*owner, 8, values)?);
    }
    let ones = side.constant(8, &vec![3; values[0].len()]);
    let mut pairs = Vec::new();
    for two in inputs.windows(2) {
        pairs.push(side.tape(&tape, &[&two[0], &two[1]])?);
    }
    side.settle()?;
    let threefold = side.tape(&tape, &[&ones, &pairs[0]])?;
    let both = side.tape(&tape, &[&threefold, pairs.last().expect("a pair")])?;
    side.settle()?;
    side.settle()?;
    let results: [(&Value, &[PartyId]); 5] = [
        (&both, &everyone),
        (&pairs[0], &everyone[1..2]),
        (&threefold, &everyone[2..]),
        (&inputs[0], &everyone[..1]),
        (&ones, &everyone),
    ];
    let learnt = side.open(&results)?;
    side.settle()?;
    side.mesh.finish()?;
    Ok(learnt)
}

/// Values that a party learns in a session.
fn expected(values: &[Vec<u64>], me: usize) -> Learnt {
    let times = |a: &[u64], b: &[u64]| {
        let pairs = a.iter().zip(b);
        pairs.map(|(a, b)| a * b % 256).collect::<Vec<_>>()
    };
    let first = times(&values[0], &values[1]);
    let last = values.len() - 1;
    let ones = vec![3; first.len()];
    let threefold = times(&ones, &first);
    let both = times(&threefold, &times(&values[last - 1], &values[last]));
    vec![
        Some(both),
        (me == 1).then_some(first),
        (me >= 2).then_some(threefold),
        (me == 0).then(|| values[0].clone()),
        Some(ones),
    ]
}

fn values(parties: usize, lanes: u64) -> Vec<Vec<u64>> {
    let of = |party: u64| (0..lanes).map(move |lane| ((37 + party) * lane + 11 + 5 * party) % 256);
    (0..parties as u64)
        .map(|party| of(party).collect())
        .collect()
}

#[test]
fn all_parties_learn_their_results_at_the_stated_cost() {
    let tiers = Cpu::available();
    for (parties, lanes) in [(3, 1), (3, 45), (4, 7), (5, 19), (16, 2)] {
        let values = values(parties, lanes);
        let learnt = on_threads(Mesh::in_memory(parties), |mesh| {
            let cpu = tiers[mesh.me().index() % tiers.len()];
            let side = Side::set_up(mesh, cpu, 5).expect("a set-up");
            session(side.reckoned(&Default::default()), &values).expect("all are honest")
        });
        for (me, learnt) in learnt.into_iter().enumerate() {
            assert_eq!(learnt, expected(&values, me), "party {me} of {parties}");
        }
    }
}

/// Two parties are the case with one other party: the same session, but for what a third learns.
#[test]
fn parties_hold_parts_for_each_other_one() {
    for parties in 2..=5 {
        let held = on_threads(Mesh::in_memory(parties), |mesh| {
            let mut side = Side::set_up(mesh, here(), 1).expect("a set-up");
            let x = side.input(PartyId(0), 1, &[1]).expect("an input");
            let common = &side.party.offline.0;
            let wires = x.wires.expect("wires");
            // Each part is there, and no more.
            let parts = common.wire_parts();
            (0..parts).for_each(|part| assert_eq!(wires.part(part).len(), 1));
            let held = [parts, common.mask_parts()];
            side.mesh.finish().expect("all read everything");
            held
        });
        for (me, held) in held.into_iter().enumerate() {
            let others = parties - 1;
            let labels = if me == EVALUATOR.index() { others } else { 1 };
            assert_eq!(held, [labels + 2 * others, 2 * others]);
        }
    }
}

/// Answers of several garblers are masked, each anew, and the masks of all cancel; one garbler
/// alone shows the sum of its MACs.
#[test]
fn answers_of_several_garblers_are_masked() {
    for parties in 2..=4 {
        let shares = on_threads(Mesh::in_memory(parties), |mesh| {
            let mut side = Side::set_up(mesh, here(), 1).expect("a set-up");
            let common = &mut side.party.offline.0;
            let shares = [(); 2].map(|()| common.mask_answer(Block::new(5)).value() ^ 5);
            side.mesh.finish().expect("all read everything");
            shares
        });
        for at in 0..2 {
            let sum = shares.iter().fold(0, |sum, share| sum ^ share[at]);
            assert_eq!(sum, 0);
            let masked = shares.iter().all(|share| share[at] != 0);
            assert_eq!(masked, parties > 2);
        }
        let again = shares.iter().all(|share| share[0] != share[1]);
        assert_eq!(again, parties > 2);
    }
}

/// The steps of a short session, of which each link has the bytes that its cost states.
const STEPS: [&str; 7] = [
    "set-up",
    "first",
    "second",
    "masks",
    "table",
    "settlement",
    "results",
];

/// One AND of inputs 1 of the first and the last party, which all learn, by parties that compare no
/// digests: those of a party that lies fit its lies.
fn short(mut side: Side, omit: Option<Place>) -> Result<Vec<u64>> {
    let common = &mut side.party.offline.0;
    (common.trusts_lines, common.omits) = (true, omit);
    let everyone = [0, 1, 2].map(PartyId);
    let a = side.input(everyone[0], 1, &[1])?;
    let b = side.input(everyone[2], 1, &[1])?;
    let c = side.tape(&one_and(), &[&a, &b])?;
    side.settle()?;
    let learnt = side.open(&[(&c, &everyone)])?;
    // Nobody leaves before the others have read everything; who lied may have left.
    let _ = side.mesh.finish();
    Ok(learnt.into_iter().flatten().next().expect("a result"))
}

/// Bytes that cross a link in each step.
fn bytes([from, to]: [PartyId; 2]) -> Vec<(&'static str, u64)> {
    let setting = &setting_of::<DangerDealer>(3);
    let (tape, domain) = (one_and(), domain());
    let input = |owner| StepShape::input(PartyId(owner), domain, 1, 1);
    let tape = StepShape::tape(&tape, domain, 1);
    let cost = |step: &StepShape<'_>| Auth::<DangerDealer>::cost(setting, step);
    let checks = cost(&tape).checks;
    let opened = StepShape::Open {
        results: vec![sealane_protocol::Opening {
            domain,
            bits: 1,
            to: PartySet::of([0, 1, 2].map(PartyId)),
        }],
    };
    let costs = [
        Auth::<DangerDealer>::set_up_cost(setting, &Demand::default()),
        cost(&input(0)),
        cost(&input(2)),
        Auth::<DangerDealer>::offline_cost(setting, &tape),
        cost(&tape),
        cost(&StepShape::Settle { checks }),
        cost(&opened),
    ];
    let of_link = |cost: Cost| {
        let messages = cost.flights.into_iter().flatten();
        let messages = messages.filter(|message| [message.from, message.to] == [from, to]);
        messages.map(|message| message.bytes).sum()
    };
    STEPS.into_iter().zip(costs.map(of_link)).collect()
}

/// A run in which a party sends another one a byte of a step that differs from what it should be.
fn changed(
    link: [PartyId; 2],
    (step, byte): (&str, u64),
    seed: u64,
    omit: Option<Place>,
) -> Vec<Result<Vec<u64>>> {
    let before = bytes(link).into_iter().take_while(|(of, _)| *of != step);
    let at = before.map(|(_, bytes)| bytes).sum::<u64>() + byte;
    on_threads(tampered_among(3, link, at, 1), |mesh| {
        let side = Side::set_up(mesh, here(), seed)?;
        short(side, omit)
    })
}

/// Every byte of every link: nobody learns a wrong result, and who is lied to learns none where the
/// lie is not one of a row, or a digest.
#[test]
fn no_byte_that_one_party_changes_makes_a_wrong_result() {
    let parties = [0, 1, 2].map(PartyId);
    let links = parties
        .iter()
        .flat_map(|from| parties.map(|to| [*from, to]));
    for link in links.filter(|[from, to]| from != to) {
        for (step, bytes) in bytes(link) {
            let mut stops = 0;
            for byte in 0..bytes {
                let ends = changed(link, (step, byte), byte, None);
                for end in &ends {
                    let right = end.as_ref().map_or(true, |learnt| *learnt == [1]);
                    assert!(right, "{link:?}, {step}, byte {byte}: {end:?}");
                }
                stops += u64::from(ends[link[1].index()].is_err());
            }
            let least = match step {
                // A row that no masked value takes.
                "table" => bytes / 8,
                // Digests that are ignored.
                "settlement" => bytes - 32,
                // Seeds of zeros are of answers, which the evaluator alone reads.
                "set-up" => bytes - 32,
                _ => bytes,
            };
            assert!(stops >= least, "{link:?}, {step}: {stops} of {bytes}");
        }
    }
}

/// An owner that tells one party another masked value; what an evaluator states to one garbler
/// alone, with that one's proof or without; a false answer, and a false opening.
#[test]
fn who_tells_parties_different_things_is_found_out() {
    let [first, evaluator, last] = [0, 1, 2].map(PartyId);
    let at = |ends: &[Result<Vec<u64>>], party: PartyId| match &ends[party.index()] {
        Err(Fault::CheckFailed) => "somebody",
        Err(Fault::Deviated { check, .. }) => *check,
        other => panic!("{other:?}"),
    };
    // An echo that differs stops all; some may notice first that others have left.
    let echoes_differ = |ends: Vec<Result<Vec<u64>>>| {
        assert!(ends.iter().all(Result::is_err), "{ends:?}");
        let found = ends
            .iter()
            .any(|end| matches!(end, Err(Fault::CheckFailed)));
        assert!(found, "{ends:?}");
    };
    for seed in 0..8 {
        echoes_differ(changed([first, last], ("first", 0), seed, None));
        let to_last = [evaluator, last];
        let ends = changed(to_last, ("settlement", 0), seed, None);
        assert_eq!(at(&ends, last), "somebody");
        // Without that check the echo finds it.
        let values = Some(Place::Values);
        echoes_differ(changed(to_last, ("settlement", 0), seed, values));
        let ends = changed(to_last, ("settlement", 1), seed, None);
        assert_eq!(at(&ends, last), "somebody");
        // Of a garbler to the evaluator: an echo, then an answer.
        let ends = changed([last, evaluator], ("settlement", 32), seed, None);
        assert_eq!(at(&ends, evaluator), "somebody");
        let ends = changed([first, last], ("masks", 0), seed, None);
        assert_eq!(at(&ends, last), "a check of opened masks");
        let ends = changed([first, last], ("results", 0), seed, None);
        assert_eq!(at(&ends, last), "a check of results");
    }
}

/// A false row of one garbler for the labels of another stops that one, as often for both values of
/// each input.
#[test]
fn a_false_row_for_another_garbler_is_found_by_its_labels() {
    let [first, evaluator, last] = [0, 1, 2].map(PartyId);
    let runs = 60;
    // The bits of the table, its two rows, and the first one for the other garbler.
    let row = 1 + 2 * 16;
    let stops = (0..runs).filter(|seed| {
        let ends = changed([first, evaluator], ("table", row), *seed, None);
        // Not the evaluator, whose labels the first one spoils.
        let stopped = matches!(ends[last.index()], Err(Fault::CheckFailed));
        assert!(stopped || ends.iter().all(Result::is_ok), "{ends:?}");
        stopped
    });
    // 60 tosses lie outside of this with a chance of 2^-14; the coins are fixed.
    let stops = stops.count();
    assert!((14..=46).contains(&stops), "{stops} of {runs}");
}
