//! Every bit of every message of a session changed on its way: the run stops, or its results are
//! right.

use super::{
    BOTH, EVALUATOR, GARBLER, Learnt, PartyId, Result, Side, apart, expected, here, one_and,
    session,
};
use crate::common::Place;
use sealane_net::Mesh;
use sealane_party::Fault;
use sealane_testkit::tamper::tampered;

/// How parties check: as they are, without digests, or without one check.
#[derive(Clone, Copy, Default)]
struct Checks {
    trust_lines: bool,
    omit: Option<Place>,
}

impl Checks {
    fn apply(self, side: &mut Side) {
        let common = &mut side.party.offline.0;
        (common.trusts_lines, common.omits) = (self.trust_lines, self.omit);
    }
}

/// An AND of a bit of each party, whose result both learn.
fn small(mut side: Side) -> Result<Learnt> {
    let x = side.input(GARBLER, 1, &[1])?;
    let y = side.input(EVALUATOR, 1, &[1])?;
    let z = side.tape(&one_and(), &[&x, &y])?;
    side.settle()?;
    side.open(&[(&z, &BOTH)])
}

/// Bytes of messages of [`small`] to each party: a coin of the set-up, opened masks, an input of
/// the other party, a table at the evaluator, what is stated at the garbler, the answer, and the
/// opening.
const PARTS: [&[(&str, u64)]; 2] = [
    &[
        ("commitment", 32),
        ("opening", 64),
        ("masks", 17),
        ("input", 1),
        ("stated", 17),
        ("digest", 32),
        ("result", 17),
    ],
    &[
        ("commitment", 32),
        ("opening", 64),
        ("input", 1),
        ("masks", 17),
        ("table", 33),
        ("answer", 16),
        ("digest", 32),
        ("result", 17),
    ],
];

/// Bytes to a party before a part.
fn before(to: PartyId, part: &str) -> u64 {
    let parts = PARTS[to.index()].iter();
    let parts = parts.take_while(|(name, _)| *name != part);
    parts.map(|(_, bytes)| bytes).sum()
}

/// Runs a session in which bits of a byte to a party are changed.
fn changed(
    (to, at, flips): (PartyId, u64, u8),
    checks: [Checks; 2],
    seed: u64,
    run: impl Fn(Side) -> Result<Learnt> + Sync,
) -> [Result<Learnt>; 2] {
    let run = |mesh: Mesh| {
        let mut side = Side::set_up(mesh, here(), seed)?;
        checks[side.mesh.me().index()].apply(&mut side);
        run(side)
    };
    let (a, b) = apart(tampered(to, at, flips), run, run);
    [a, b]
}

/// The names of what parties that stopped by themselves found.
fn found(ends: &[Result<Learnt>; 2]) -> Vec<&'static str> {
    let checks = ends.iter().filter_map(|end| match end {
        Err(Fault::Deviated { check, .. }) => Some(*check),
        Err(Fault::Altered(_)) => Some("digest"),
        Err(Fault::Peer { .. }) => Some("bits"),
        _ => None,
    });
    checks.collect()
}

/// With and without digests. A changed masked value of an input is an input that its owner might
/// have given, so digests alone find it where no AND reads it.
#[test]
fn no_changed_bit_makes_a_wrong_result() {
    let right = [(); 2].map(|()| vec![Some(vec![1])]);
    for to in BOTH {
        let mut at = 0;
        for (part, bytes) in PARTS[to.index()] {
            for byte in at..at + bytes {
                for bit in 0..8 {
                    for trust_lines in [false, true] {
                        let checks = Checks {
                            trust_lines,
                            omit: None,
                        };
                        let ends = changed((to, byte, 1 << bit), [checks; 2], 3, small);
                        let stopped = ends.iter().any(Result::is_err);
                        for (end, right) in ends.iter().zip(&right) {
                            let fits = end.as_ref().map_or(true, |end| end == right);
                            assert!(fits, "{part} {byte}.{bit} to {to:?}: {end:?}");
                        }
                        if !trust_lines {
                            assert!(stopped, "{part} {byte}.{bit} to {to:?}");
                        } else if !["table", "digest"].contains(part) {
                            assert!(!found(&ends).is_empty(), "{part} {byte}.{bit} to {to:?}");
                        }
                    }
                }
            }
            at += bytes;
        }
        // There is nothing behind the last part.
        let ends = changed((to, at, 1), [Checks::default(); 2], 3, small);
        assert!(ends.iter().all(Result::is_ok), "{:?}", found(&ends));
    }
}

/// An input that no AND reads has no MAC: its owner may give any. So digests alone find what
/// happens to it on a line, and parties that do not compare them learn a wrong result.
#[test]
fn digests_hold_inputs_that_no_and_reads() {
    let open = |mut side: Side| {
        let x = side.input(GARBLER, 1, &[1])?;
        side.settle()?;
        side.open(&[(&x, &BOTH)])
    };
    let input = before(EVALUATOR, "input");
    let run = |trust_lines| {
        let checks = Checks {
            trust_lines,
            omit: None,
        };
        changed((EVALUATOR, input, 1), [checks; 2], 5, open)
    };
    assert!(
        run(false)
            .iter()
            .any(|end| matches!(end, Err(Fault::Altered(_))))
    );
    let [_, evaluator] = run(true);
    assert_eq!(evaluator.unwrap(), [Some(vec![0])]);
}

/// A party that fails a check and sends a false digest beside it has deviated: it is no bad line.
#[test]
fn a_false_digest_does_not_hide_a_false_proof() {
    let flip = |part| (GARBLER, before(GARBLER, part), 1);
    let stated = changed(flip("stated"), [Checks::default(); 2], 7, small);
    // The digest covers what was changed as well, so both are wrong here.
    assert!(matches!(
        &stated[GARBLER.index()],
        Err(Fault::Deviated { .. })
    ));
    let digest = changed(flip("digest"), [Checks::default(); 2], 7, small);
    assert!(matches!(&digest[GARBLER.index()], Err(Fault::Altered(_))));
}

/// Bytes all over a longer session.
#[test]
fn no_changed_byte_of_a_longer_session_makes_a_wrong_result() {
    let (x, y) = ([11, 200, 97], [6, 77, 255]);
    let right = expected(&x, &y);
    for to in BOTH {
        for at in (0..4000).step_by(61) {
            let change = (to, at, 1 << (at % 8));
            let checks = [Checks::default(); 2];
            let ends = changed(change, checks, at, |side| session(side, &x, &y));
            for (end, right) in ends.iter().zip(&right) {
                assert!(
                    end.as_ref().map_or(true, |end| end == right),
                    "{at} to {to:?}"
                );
            }
        }
    }
}

/// Runs in which bit 0 of a byte of a part to a party is changed, and which check garbler and
/// evaluator leave out: numbers of those that stopped at the party, and of its wrong results.
fn without(omits: [Option<Place>; 2], to: PartyId, part: &str, byte: u64, runs: u64) -> [u64; 2] {
    let at = before(to, part) + byte;
    let checks = omits.map(|omit| Checks {
        trust_lines: true,
        omit,
    });
    let (mut stopped, mut wrong) = (0, 0);
    for seed in 0..runs {
        match &changed((to, at, 1), checks, 100 + seed, small)[to.index()] {
            Err(_) => stopped += 1,
            Ok(learnt) => wrong += u64::from(*learnt != [Some(vec![1])]),
        }
    }
    [stopped, wrong]
}

/// A party that does not compare sums of MACs of results takes a wrong one, one that does never.
#[test]
fn results_have_macs() {
    for to in BOTH {
        assert_eq!(without([None; 2], to, "result", 0, 8), [8, 0]);
        let omits = [Some(Place::Results); 2];
        assert_eq!(without(omits, to, "result", 0, 8), [0, 8]);
    }
}

/// The bit of an AND turns its masked value. A garbler that deviates does not mind the labels that
/// it gets then; without the MACs of its rows the evaluator takes a wrong result.
#[test]
fn tables_have_macs() {
    let deviates = Some(Place::Values);
    let seen = without([deviates, None], EVALUATOR, "table", 0, 8);
    assert_eq!(seen, [8, 0]);
    let omits = [deviates, Some(Place::Rows)];
    assert_eq!(without(omits, EVALUATOR, "table", 0, 8), [0, 8]);
}
