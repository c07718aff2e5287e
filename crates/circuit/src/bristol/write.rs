//! The writer of the Bristol formats.

use std::collections::HashSet;
use std::fmt::Write;

use super::Format;
use crate::circuit::{Circuit, GateKind, GateList, ONE, ZERO};

/// Errors: properties of a circuit that a format cannot express.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// The old format has two inputs and one output.
    #[error(
        "the old Bristol format takes one or two inputs and one output, \
         not {inputs} and {outputs}; write Bristol Fashion"
    )]
    Shape {
        /// Inputs of the circuit.
        inputs: usize,
        /// Outputs of the circuit.
        outputs: usize,
    },
    /// The old format makes constants from an input, and there is none.
    #[error("the old Bristol format has no constants without an input; write Bristol Fashion")]
    Constant,
    /// The formats have gates alone.
    #[error("the Bristol formats have no function that is applied as a whole")]
    Function,
}

/// Writes `circuit`. Reading the result gives the same function again; where an output is an
/// input, a constant or another output once more, there are more gates than
/// [`Circuit::info`] counts.
pub fn write(circuit: &Circuit, format: Format) -> Result<String, WriteError> {
    let (inputs, outputs) = (circuit.input_widths(), circuit.output_widths());
    let shape = (inputs.len(), outputs.len());
    if format == Format::Bristol && !matches!(shape, (1 | 2, 1)) {
        let (inputs, outputs) = shape;
        return Err(WriteError::Shape { inputs, outputs });
    }
    let list = circuit.lower();
    let lines = number(&list, format)?;
    let mut text = String::new();
    let wires = list.inputs as usize + lines.len();
    // Writing to a string does not fail.
    let _ = writeln!(text, "{} {wires}", lines.len());
    match format {
        Format::Bristol => {
            let second = inputs.get(1).unwrap_or(&0);
            let _ = writeln!(text, "{} {second} {}", inputs[0], outputs[0]);
        }
        Format::BristolFashion => {
            for widths in [inputs, &outputs] {
                let list: Vec<String> = widths.iter().map(|width| format!(" {width}")).collect();
                let _ = writeln!(text, "{}{}", widths.len(), list.concat());
            }
        }
    }
    text.push('\n');
    for (operands, out, name) in lines {
        let _ = match operands {
            Operands::One(a) => writeln!(text, "1 1 {a} {out} {name}"),
            Operands::Two(a, b) => writeln!(text, "2 1 {a} {b} {out} {name}"),
        };
    }
    Ok(text)
}

enum Operands {
    One(u32),
    Two(u32, u32),
}

type GateLine = (Operands, u32, &'static str);

/// Returns all lines, with wires numbered as the formats require: inputs first, outputs last.
fn number(list: &GateList, format: Format) -> Result<Vec<GateLine>, WriteError> {
    let copies = copies(list);
    // The old format has neither constants nor copies: XOR makes both, from a zero.
    let zero_line = format == Format::Bristol && !copies.is_empty();
    if zero_line && list.inputs == 0 {
        return Err(WriteError::Constant);
    }
    let extra = copies.len() + usize::from(zero_line);
    let first_output = list.inputs as usize + list.gates.len() + extra - list.outputs.len();

    let mut numbers = vec![UNNUMBERED; list.first_gate as usize + list.gates.len()];
    for input in 0..list.inputs {
        numbers[input as usize + 2] = input;
    }
    for (place, &wire) in list.outputs.iter().enumerate().rev() {
        if wire >= list.first_gate {
            numbers[wire as usize] = (first_output + place) as u32;
        }
    }
    let zero = list.inputs;
    let mut next = list.inputs + u32::from(zero_line);
    let mut lines = Vec::with_capacity(list.gates.len() + extra);
    if zero_line {
        lines.push((Operands::Two(0, 0), zero, "XOR"));
    }
    for (i, gate) in list.gates.iter().enumerate() {
        let out = list.first_gate as usize + i;
        if numbers[out] == UNNUMBERED {
            numbers[out] = next;
            next += 1;
        }
        let (a, b) = (numbers[gate.a as usize], numbers[gate.b as usize]);
        lines.push(match (gate.kind, gate.b) {
            (GateKind::And(_), _) => (Operands::Two(a, b), numbers[out], "AND"),
            (GateKind::Xor, ONE) => (Operands::One(a), numbers[out], "INV"),
            (GateKind::Xor, _) => (Operands::Two(a, b), numbers[out], "XOR"),
            (GateKind::Applied { .. }, _) => return Err(WriteError::Function),
        });
    }
    for (place, wire) in copies {
        let from = numbers[wire as usize];
        let (operands, name) = match (format, wire) {
            (Format::BristolFashion, ZERO | ONE) => (Operands::One(wire), "EQ"),
            (Format::BristolFashion, _) => (Operands::One(from), "EQW"),
            (Format::Bristol, ZERO) => (Operands::Two(0, 0), "XOR"),
            (Format::Bristol, ONE) => (Operands::One(zero), "INV"),
            (Format::Bristol, _) => (Operands::Two(from, zero), "XOR"),
        };
        lines.push((operands, (first_output + place) as u32, name));
    }
    Ok(lines)
}

const UNNUMBERED: u32 = u32::MAX;

/// Returns the outputs that need a line of their own, with their place: outputs that are no gate,
/// or a gate that is an earlier output.
fn copies(list: &GateList) -> Vec<(usize, u32)> {
    let mut seen = HashSet::new();
    let outputs = list.outputs.iter().copied().enumerate();
    let mut is_copy = |wire| wire < list.first_gate || !seen.insert(wire);
    outputs.filter(|&(_, wire)| is_copy(wire)).collect()
}
