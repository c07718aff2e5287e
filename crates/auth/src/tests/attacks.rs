//! Parties that deviate on purpose, each against the check that stops it and without that check.

use super::{
    BOTH, EVALUATOR, GARBLER, Result, Side, Value, apart, domain, here, in_memory, one_and,
};
use crate::bits::pack;
use crate::common::{Common, Place};
use crate::settle::{Check, Unsettled};
use crate::wires::Stack;
use crate::{DangerDealer, Products};
use sealane_block::Block;
use sealane_circuit::Tape;
use sealane_circuit::tape::{Batch, Gate};
use sealane_net::Mesh;
use sealane_party::{Fault, Outcome, Progress, Shares, Step, Steps};
use std::sync::Arc;

/// Sets up a party that leaves out a check, and trusts its lines.
fn side(mesh: Mesh, seed: u64, omit: Option<Place>) -> Side {
    let mut side = Side::set_up(mesh, here(), seed).expect("a set-up");
    let common = &mut side.party.offline.0;
    (common.trusts_lines, common.omits) = (true, omit);
    side
}

/// The check that a party failed, at the one that stopped by itself.
fn check<T>(end: &Result<T>) -> Option<&'static str> {
    match end {
        Err(Fault::Deviated { check, .. }) => Some(check),
        _ => None,
    }
}

// ---------------------------------------------------------------- a false opening of a mask

/// The offline part of an AND by a garbler that turns its share of `e`, and computes with it.
fn false_opening(mut side: Side, x: u64) -> Result<Vec<u64>> {
    let a = side.input(GARBLER, 1, &[x])?;
    let b = side.input(EVALUATOR, 1, &[0])?;
    let tape = one_and();
    let step = Step::Tape {
        tape: &tape,
        domain: domain(),
        lanes: 1,
        operands: vec![a.masks, b.masks],
    };
    // The message is kept back and sent as the garbler likes it.
    let mut held = in_memory();
    let offline = &mut side.party.offline;
    let Progress::More(mut pending) = offline.begin(step, None, &mut held[0])? else {
        panic!("a flight is due");
    };
    held[0].flush()?;
    let mut sum = [0; 16];
    held[1].recv(GARBLER, &mut pending.own)?;
    held[1].recv(GARBLER, &mut sum)?;
    pending.own[0] ^= 1;
    side.mesh.send(EVALUATOR, &pending.own)?;
    side.mesh.send(EVALUATOR, &sum)?;
    side.mesh.flush()?;
    let made = offline.advance(pending, &mut side.mesh)?;
    let Progress::Done(Outcome::Share(_, _, material)) = made else {
        panic!("masks are due");
    };
    let step = Step::Tape {
        tape: &tape,
        domain: domain(),
        lanes: 1,
        operands: vec![a.wires.expect("wires"), b.wires.expect("wires")],
    };
    let wires = Some(side.share(step, material)?);
    let masks = Arc::new(Stack::zeros(0, 0));
    finish(side, &Value { masks, wires })
}

/// Settles and opens one value to both.
fn finish(mut side: Side, z: &Value) -> Result<Vec<u64>> {
    side.settle()?;
    let learnt = side.open(&[(z, &BOTH)])?;
    Ok(learnt.into_iter().flatten().next().expect("a result"))
}

/// An AND by a party that follows the protocol.
fn honest(mut side: Side, x: u64, y: u64) -> Result<Vec<u64>> {
    let a = side.input(GARBLER, 1, &[x])?;
    let b = side.input(EVALUATOR, 1, &[y])?;
    let z = side.tape(&one_and(), &[&a, &b])?;
    finish(side, &z)
}

/// Without the MAC of `e`, nothing else notices that it is false: the product of masks is wrong
/// where the other mask is 1, and with it the result.
#[test]
fn a_false_opening_of_a_mask_is_stopped_by_its_mac_alone() {
    let runs = 40;
    let (mut seen, mut wrong) = (0, 0);
    for seed in 0..runs {
        let (_, end) = apart(
            in_memory(),
            |mesh| false_opening(side(mesh, seed, None), 1),
            |mesh| honest(side(mesh, seed, None), 0, 1),
        );
        seen += usize::from(check(&end) == Some("a check of opened masks"));
        let (_, end) = apart(
            in_memory(),
            |mesh| false_opening(side(mesh, seed, None), 1),
            |mesh| honest(side(mesh, seed, Some(Place::Masks)), 0, 1),
        );
        let learnt = end.expect("no other check sees it");
        wrong += usize::from(learnt != [1]);
    }
    assert_eq!(seen, runs as usize);
    // 40 tosses lie outside of this with a chance of 2^-13; the coins are fixed.
    assert!((8..=32).contains(&wrong), "{wrong} wrong results");
}

// ---------------------------------------------------------------- a false masked value

/// `(x AND y) AND z`.
fn two_levels() -> Tape {
    let gate = |a, b, out, number| Gate { a, b, out, number };
    let batch = |ands| Batch { xors: 0..0, ands };
    Tape {
        inputs: 3,
        slots: 7,
        known_to: vec![0; 2],
        ands: vec![gate(2, 3, 5, 0), gate(5, 4, 6, 1)],
        batches: vec![batch(0..1), batch(1..2)],
        outputs: vec![6],
        depth: 2,
        ..one_and()
    }
}

/// Inputs `x`, `y` of the evaluator and `z` of the garbler, and the tape of two levels.
fn two_levels_of(side: &mut Side, z: u64) -> Result<(Value, Value)> {
    let x = side.input(EVALUATOR, 1, &[1])?;
    let y = side.input(EVALUATOR, 1, &[0])?;
    let z = side.input(GARBLER, 1, &[z])?;
    let result = side.tape(&two_levels(), &[&x, &y, &z])?;
    Ok((z, result))
}

/// An evaluator that states a false value of the first AND, with the labels that it has. From the
/// answer it computes the garbler's share of the mask of `z`, and with it `z`.
fn curious(mut side: Side) -> Result<u64> {
    let (z, _) = two_levels_of(&mut side, 0)?;
    let check = side.checks.pop().expect("a tape to settle");
    let Check {
        inputs, labels, of, ..
    } = &check;
    let Unsettled::Evaluator { expected } = of else {
        panic!("an evaluator");
    };
    let all = [&inputs[0][..], &labels[0]].concat();
    let mut stated = pack(all.iter().map(|label| label.lsb()));
    stated[0] ^= 1 << inputs[0].len();
    let common = &mut side.party.offline.0;
    let [values, rows] = [Place::Values, Place::Rows].map(|place| common.opening(place));
    let proof = common
        .sum(values, common.me, &stated)
        .and_all([&all[..]])
        .value();
    let mesh = &mut side.mesh;
    mesh.send(GARBLER, &stated)?;
    mesh.send(GARBLER, &proof.to_bytes())?;
    sealane_party::send_digests(mesh, [GARBLER])?;
    mesh.flush()?;
    let mut answer = [0; 16];
    mesh.recv(GARBLER, &mut answer)?;
    // The second AND reads the false value: its MAC has that of the mask of z too.
    let wires = z.wires.expect("wires");
    let [label, mac, key] = [0, 1, 2].map(|part| wires.part(part)[0]);
    let offset = offset_of(common);
    let fits = |bit: u8| {
        let mac = key ^ offset.masked(bit);
        let blocks = [expected[0], expected[1] ^ mac];
        let sum = common.sum(rows, GARBLER, &stated).and_all([&blocks[..]]);
        sum.value().to_bytes() == answer
    };
    let bits = [0, 1].map(fits);
    assert!(bits[0] ^ bits[1], "one of two MACs fits");
    let mask = u8::from(bits[1]) ^ mac.lsb();
    Ok(u64::from(label.lsb() ^ mask))
}

fn offset_of(common: &Common<DangerDealer>) -> Block {
    common.products.offset()
}

#[test]
fn a_false_masked_value_tells_the_evaluator_a_wire_unless_labels_prove_values() {
    for seed in 0..20 {
        for z in [0, 1] {
            let garbler = |omit| {
                move |mesh| {
                    let mut side = side(mesh, seed, omit);
                    two_levels_of(&mut side, z)?;
                    side.settle()
                }
            };
            let (end, learnt) = apart(in_memory(), garbler(None), |mesh| {
                curious(side(mesh, seed, None))
            });
            assert_eq!(check(&end), Some("a check of masked values"));
            assert!(learnt.is_err(), "no answer comes");
            let (end, learnt) = apart(in_memory(), garbler(Some(Place::Values)), |mesh| {
                curious(side(mesh, seed, None))
            });
            end.expect("it notices nothing");
            assert_eq!(learnt.expect("an answer"), z);
        }
    }
}

// ---------------------------------------------------------------- false rows and labels

/// A change of a garbler in its own wires before it garbles, and so in what it sends.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// The row that the first operand's masked value takes.
    First,
    /// The row of the second one's.
    Second,
    /// Bit 0 of the first row alone.
    Lowest,
    /// The first row but for its bit 0.
    Others,
    /// The first operand's label.
    Label,
    /// The offset, in the first operand's label: the label is that of the other value.
    OtherLabel,
}

/// An AND by a garbler with a false wire, which checks nothing.
fn false_rows(mut side: Side, change: Change) -> Result<()> {
    let a = side.input(GARBLER, 1, &[1])?;
    let b = side.input(EVALUATOR, 1, &[0])?;
    let offset = offset_of(&side.party.offline.0);
    let z = side.tape_with(&one_and(), &[&a, &b], |operands| {
        let error = Block::new(0x1234_5678 << 64 | 1);
        let others = Block::new(0x1234_5678 << 64);
        let at = match change {
            Change::Second | Change::Label | Change::OtherLabel => 0,
            Change::First | Change::Lowest | Change::Others => 1,
        };
        let [label, key] = [0, 2];
        let (part, by) = match change {
            Change::First | Change::Second => (key, error),
            Change::Lowest => (key, Block::new(1)),
            Change::Others => (key, others),
            Change::Label => (label, others),
            Change::OtherLabel => (label, offset),
        };
        let wire = (0..3).map(|part| operands[at].part(part).to_vec());
        let mut wire = Stack::new(1, 1, wire.collect());
        wire.part_mut(part)[0] ^= by;
        operands[at] = Arc::new(wire);
    })?;
    side.settle()?;
    side.open(&[(&z, &[EVALUATOR])]).map(drop)
}

/// An AND of the garbler's input 1 by an evaluator that follows the protocol, and alone learns it.
fn evaluated(mut side: Side, y: u64) -> Result<u64> {
    let a = side.input(GARBLER, 1, &[0])?;
    let b = side.input(EVALUATOR, 1, &[y])?;
    let z = side.tape(&one_and(), &[&a, &b])?;
    side.settle()?;
    let learnt = side.open(&[(&z, &[EVALUATOR])])?;
    Ok(learnt.into_iter().flatten().next().expect("a result")[0])
}

/// How often a false row stops the evaluator does not depend on its input, and what passes is
/// right. A label that is false but for its bit 0 is a right value still; no AND reads it here.
#[test]
fn a_false_row_stops_the_evaluator_as_often_for_both_of_its_inputs() {
    use Change::{First, Label, Lowest, OtherLabel, Others, Second};
    let runs = 200;
    for change in [First, Second, Lowest, Others, Label, OtherLabel] {
        let stops = [0, 1].map(|y| {
            let stopped = |seed: &u64| {
                let ignored = Some(Place::Values);
                let (_, end) = apart(
                    in_memory(),
                    |mesh| false_rows(side(mesh, *seed, ignored), change),
                    |mesh| evaluated(side(mesh, *seed, None), y),
                );
                let right = end.as_ref().map_or(true, |learnt| *learnt == y);
                assert!(right, "{change:?}: {end:?}");
                end.is_err()
            };
            (1000 * y..1000 * y + runs).filter(stopped).count()
        });
        // 200 tosses lie outside of this with a chance of 2^-18; the coins are fixed.
        let half = |stops: &usize| match change {
            Others => *stops == 0,
            _ => (65..=135).contains(stops),
        };
        assert!(stops.iter().all(half), "{change:?}: {stops:?}");
    }
}
