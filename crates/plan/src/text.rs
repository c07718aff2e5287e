//! Canonical text of a plan, which its hash covers, and canonical bytes of a tape.
//!
//! The text has one JSON object a line, without spaces: fields in the order in which the types of
//! [`steps`](crate::steps) declare them, numbers in decimal, names of variants in lower case with
//! hyphens. Labels and places in the source are for people and stay out. So equal plans have equal
//! texts and unequal ones different texts, and a program that does not plan can read them.

use crate::flow::{self, IN_FLIGHT};
use crate::steps::{Plan, ResultPlan, RowPlan, StepOp, ValuePlan};
use sealane_circuit::function::Function;
use sealane_circuit::tape::Gate;
use sealane_circuit::{Lookups, Tape};
use sealane_parties::PartyId;
use sealane_program::types::RowId;
use sealane_protocol::Setting;
use serde::Serialize;
use std::io::{self, Write};

/// Version of this text.
const VERSION: u32 = 3;

/// One line.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
enum Line<'a> {
    Plan {
        version: u32,
        protocol: &'a str,
        setting: &'a Setting,
        lookups: Lookups,
        /// Messages carry no labels: a party with another order of tiles would misread them.
        flow: u32,
        tiles_in_flight: usize,
        /// Owner of each input.
        owners: &'a [PartyId],
    },
    Rows(&'a RowPlan),
    Tape {
        inputs: u32,
        outputs: usize,
        xors: usize,
        ands: usize,
        functions: usize,
        depth: u32,
        /// BLAKE3 of [`tape_bytes`].
        hash: String,
    },
    Value(&'a ValuePlan),
    Segment {
        rows: Option<RowId>,
        refill: Option<u64>,
    },
    /// Of the segment above it.
    Step(&'a StepOp),
    Result(&'a ResultPlan),
}

impl Plan {
    /// Writes everything in the plan, and then the same plan with other forms of lookups.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut line = |line: Line<'_>| {
            serde_json::to_writer(&mut *out, &line)?;
            out.write_all(b"\n")
        };
        line(Line::Plan {
            version: VERSION,
            protocol: self.protocol,
            setting: &self.setting,
            lookups: self.lookups,
            flow: flow::VERSION,
            tiles_in_flight: IN_FLIGHT,
            owners: &self.owners,
        })?;
        self.rows
            .iter()
            .try_for_each(|rows| line(Line::Rows(rows)))?;
        for tape in self.tapes.iter() {
            line(Line::Tape {
                inputs: tape.inputs,
                outputs: tape.outputs.len(),
                xors: tape.xors.len(),
                ands: tape.ands.len(),
                functions: tape.applied.len(),
                depth: tape.depth,
                hash: tape_hash(tape).to_hex().to_string(),
            })?;
        }
        let mut values = self.values.iter();
        values.try_for_each(|value| line(Line::Value(value)))?;
        for segment in &self.segments {
            line(Line::Segment {
                rows: segment.rows,
                refill: segment.refill,
            })?;
            let mut steps = segment.steps.iter();
            steps.try_for_each(|step| line(Line::Step(&step.op)))?;
        }
        let mut results = self.results.iter();
        results.try_for_each(|result| line(Line::Result(result)))?;
        self.others
            .iter()
            .try_for_each(|other| other.write_text(out))
    }

    /// Returns what [`Plan::write_text`] writes, for messages of tests.
    pub fn text(&self) -> String {
        let mut text = Vec::new();
        let written = self.write_text(&mut text);
        debug_assert!(written.is_ok(), "a buffer takes every byte");
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Computes BLAKE3 of the text, and thereby of the tapes.
    pub fn hash(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        let written = self.write_text(&mut hasher);
        debug_assert!(written.is_ok(), "a hash takes every byte");
        *hasher.finalize().as_bytes()
    }
}

/// Computes BLAKE3 of the canonical bytes of a tape.
pub fn tape_hash(tape: &Tape) -> blake3::Hash {
    blake3::hash(&tape_bytes(tape))
}

/// The complete content of a tape, numbers of 32 bits in little-endian order unless another width
/// is stated:
///
/// 1. inputs, slots, depth; then how many XORs, ANDs, batches, outputs, functions and applications
///    of functions follow;
/// 2. each XOR, then each AND: slots of both operands and of the result, number;
/// 3. for each batch how many XORs and how many ANDs there are up to its end;
/// 4. the slot of each output;
/// 5. a byte for each XOR, 1 where nothing else reads its second operand, and for each AND the
///    party that knows its second operand, from 1, or 0;
/// 6. each function: a byte for its kind ([`Function`]: 1 `Product`, 2 `Table`, 3 `Field`, 4
///    `Quotients`); of a field its polynomial (16 bits); of a table its inputs (a byte), its
///    outputs, and for each of these the sets of inputs whose products it adds up (16 bits each),
///    then `0xffff`;
/// 7. each application: batch, function, slots of inputs, slots of outputs.
pub fn tape_bytes(tape: &Tape) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(16 * (tape.xors.len() + tape.ands.len()) + 1024);
    let mut word = |value: u32| bytes.extend_from_slice(&value.to_le_bytes());
    let lengths = [
        tape.xors.len(),
        tape.ands.len(),
        tape.batches.len(),
        tape.outputs.len(),
        tape.functions.len(),
        tape.applied.len(),
    ];
    [tape.inputs, tape.slots, tape.depth]
        .into_iter()
        .for_each(&mut word);
    lengths.into_iter().for_each(|length| word(length as u32));
    let gates = tape.xors.iter().chain(&tape.ands);
    gates
        .flat_map(|Gate { a, b, out, number }| [*a, *b, *out, *number])
        .for_each(&mut word);
    let ends = tape
        .batches
        .iter()
        .flat_map(|batch| [batch.xors.end, batch.ands.end]);
    ends.chain(tape.outputs.iter().copied()).for_each(&mut word);
    bytes.extend(tape.lone.iter().map(|lone| u8::from(*lone)));
    bytes.extend_from_slice(&tape.known_to);
    for function in &tape.functions {
        match function {
            Function::Product => bytes.push(1),
            Function::Table(table) => {
                bytes.extend([2, table.inputs() as u8]);
                bytes.extend((table.outputs() as u32).to_le_bytes());
                for output in 0..table.outputs() {
                    let sets = table.summands(output);
                    bytes.extend(sets.flat_map(|set| (set as u16).to_le_bytes()));
                    bytes.extend(u16::MAX.to_le_bytes());
                }
            }
            Function::Field(field) => {
                bytes.push(3);
                bytes.extend(field.polynomial().to_le_bytes());
            }
            Function::Quotients => bytes.push(4),
        }
    }
    for applied in &tape.applied {
        let slots = applied.operands.iter().chain(&applied.outs);
        let words = [&applied.batch, &applied.function].into_iter().chain(slots);
        bytes.extend(words.flat_map(|word| word.to_le_bytes()));
    }
    bytes
}
