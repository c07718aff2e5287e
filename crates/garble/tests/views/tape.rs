//! The tape that views are searched for, and the places of its tables in the stream.

use crate::slow::each_group;
use crate::support::ROLES;
use sealane_circuit::tape::{FIRST_INPUT, Gate, ONE, ZERO};
use sealane_circuit::{Builder, Int, Machine, Tape, compile_known};
use sealane_garble::Scheme;

/// Number of lanes: a bit of each, as a byte, makes up a block.
pub(super) const LANES: usize = 16;
/// Lanes on which labels are looked for, under the evaluator's hashes among others: the first ones.
pub(super) const SEARCHED: usize = 4;
/// Bits of an input of the garbler, of one of the evaluator, and of one that nobody knows.
pub(super) const WIDTHS: [usize; 3] = [2, 2, 2];

/// Products and a comparison, of which some operands are known; every wire is an output.
pub(super) fn tape() -> Tape {
    let mut b = Builder::new();
    let [x, y, z] = WIDTHS.map(|width| b.input(width));
    let product = b.mul(Int::unsigned(&x), Int::unsigned(&y), 3);
    let less = b.lt(Int::unsigned(&product), Int::unsigned(&z));
    let chosen = b.select(less, &z, &y);
    let last = b.and(chosen[0], product[1]);
    let half = [x[0], y[1]].map(|known| b.and(z[0], known));
    let known = [[1; WIDTHS[0]], [2; WIDTHS[1]]].concat();
    let outputs = vec![half.to_vec(), vec![last, less], chosen];
    let tape = compile_known(&b.finish(outputs), &Machine::CPU, &known);
    let is_known = |known_to| tape.known_to.contains(&known_to);
    assert!(is_known(0) && is_known(ROLES.garbler) && is_known(ROLES.evaluator));
    spread(&tape)
}

/// The same gates, each with a slot of its own, all of which are outputs.
pub(super) fn spread(tape: &Tape) -> Tape {
    let mut wide = tape.clone();
    let mut now = (0..tape.slots).collect::<Vec<_>>();
    let mut next = FIRST_INPUT + tape.inputs;
    let mut move_gate = |gate: &mut Gate| {
        (gate.a, gate.b) = (now[gate.a as usize], now[gate.b as usize]);
        now[gate.out as usize] = next;
        gate.out = next;
        next += 1;
    };
    for batch in &tape.batches {
        let xors = batch.xors.start as usize..batch.xors.end as usize;
        wide.xors[xors].iter_mut().for_each(&mut move_gate);
        // No AND of a batch reads what another one writes.
        let ands = batch.ands.start as usize..batch.ands.end as usize;
        wide.ands[ands].iter_mut().for_each(&mut move_gate);
    }
    wide.slots = next;
    wide.outputs = (FIRST_INPUT..next).collect();
    wide.lone.fill(false);
    assert_eq!(wide.check(), Ok(()));
    wide
}

/// Returns true if no operand is a constant.
pub(super) fn reads_wires(gate: &Gate) -> bool {
    ![gate.a, gate.b]
        .iter()
        .any(|slot| [ZERO, ONE].contains(slot))
}

/// Index of the message that has the tables.
pub(super) const TABLES: usize = 1;

/// A (gate, lane) pair that has a table, with its place in the stream.
pub(super) struct Row {
    pub(super) gate: Gate,
    pub(super) lane: usize,
    pub(super) is_and: bool,
    /// The party that knows an operand of an AND.
    pub(super) known_to: u8,
    /// Start and length in bytes of each piece.
    pub(super) pieces: Vec<(usize, usize)>,
}

/// Places of the tables of all pairs without a constant.
pub(super) fn rows(scheme: Scheme, tape: &Tape) -> Vec<Row> {
    let (mut rows, mut first) = (Vec::new(), 0);
    each_group(scheme, tape, LANES, |is_and, planes, pairs| {
        for (number, (gate, lane)) in pairs.iter().enumerate() {
            let mut plane = first;
            let place = |bytes: &usize| {
                let piece = (plane + number * bytes, *bytes);
                plane += pairs.len() * bytes;
                piece
            };
            let pieces = planes.iter().map(place).collect();
            let and = tape.ands.iter().position(|and| and.number == gate.number);
            let known_to = and.filter(|_| is_and && scheme != Scheme::Prf);
            rows.push(Row {
                gate: *gate,
                lane: *lane,
                is_and,
                known_to: known_to.map_or(0, |and| tape.known_to[and]),
                pieces,
            });
        }
        first += pairs.len() * planes.iter().sum::<usize>();
    });
    rows.retain(|row| reads_wires(&row.gate));
    rows
}
