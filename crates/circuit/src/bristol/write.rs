//! The writer of the Bristol formats.

use std::fmt::Write;

use super::Format;
use crate::circuit::{Circuit, GateList, ONE, ZERO};

/// What a circuit has that a format cannot say.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// The old format has two inputs and one output.
    #[error(
        "the old Bristol format takes one or two inputs and one output, not {inputs} and {outputs}; \
         write Bristol Fashion"
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
}

/// Writes `circuit`. Reading the result gives the same function again; where an output is an
/// input, a constant or another output once more, there are more gates than
/// [`Circuit::info`] counts.
pub fn write(circuit: &Circuit, format: Format) -> Result<String, WriteError> {
    let (inputs, outputs) = (circuit.input_widths(), circuit.output_widths());
    if format == Format::Bristol && (!matches!(inputs.len(), 1 | 2) || outputs.len() != 1) {
        return Err(WriteError::Shape {
            inputs: inputs.len(),
            outputs: outputs.len(),
        });
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

/// All lines, with wires numbered as the formats want it: inputs first, outputs last.
fn number(list: &GateList, format: Format) -> Result<Vec<GateLine>, WriteError> {
    // An output that is no gate, or the same gate as another, needs a line of its own.
    let is_gate = |wire: u32| wire >= list.first_gate;
    let mut is_output = vec![false; list.gates.len()];
    let mut copies = Vec::new();
    for (place, &wire) in list.outputs.iter().enumerate() {
        let taken = !is_gate(wire)
            || std::mem::replace(&mut is_output[(wire - list.first_gate) as usize], true);
        if taken {
            copies.push((place, wire));
        }
    }
    // The old format has neither constants nor copies: XOR makes both, from a zero.
    let zero_line = format == Format::Bristol && !copies.is_empty();
    if zero_line && list.inputs == 0 {
        return Err(WriteError::Constant);
    }
    let extra = copies.len() + usize::from(zero_line);
    let first_output = list.inputs as usize + list.gates.len() + extra - list.outputs.len();

    let mut numbers = vec![u32::MAX; list.first_gate as usize + list.gates.len()];
    for input in 0..list.inputs {
        numbers[input as usize + 2] = input;
    }
    for (place, &wire) in list.outputs.iter().enumerate().rev() {
        if is_gate(wire) {
            numbers[wire as usize] = (first_output + place) as u32;
        }
    }
    let mut next = list.inputs;
    let mut lines = Vec::with_capacity(list.gates.len() + extra);
    let zero = next;
    if zero_line {
        lines.push((Operands::Two(0, 0), zero, "XOR"));
        next += 1;
    }
    for (i, gate) in list.gates.iter().enumerate() {
        let out = list.first_gate as usize + i;
        if !is_output[i] {
            numbers[out] = next;
            next += 1;
        }
        let (a, b) = (numbers[gate.a as usize], numbers[gate.b as usize]);
        lines.push(match (gate.is_and, gate.b) {
            (true, _) => (Operands::Two(a, b), numbers[out], "AND"),
            (false, ONE) => (Operands::One(a), numbers[out], "INV"),
            (false, _) => (Operands::Two(a, b), numbers[out], "XOR"),
        });
    }
    for (place, wire) in copies {
        let out = (first_output + place) as u32;
        lines.push(match (format, wire) {
            (Format::BristolFashion, ZERO | ONE) => (Operands::One(wire), out, "EQ"),
            (Format::BristolFashion, _) => (Operands::One(numbers[wire as usize]), out, "EQW"),
            (Format::Bristol, ZERO) => (Operands::Two(0, 0), out, "XOR"),
            (Format::Bristol, ONE) => (Operands::One(zero), out, "INV"),
            (Format::Bristol, _) => (Operands::Two(numbers[wire as usize], zero), out, "XOR"),
        });
    }
    Ok(lines)
}
