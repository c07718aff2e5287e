//! Prints a circuit as the gates of its lowered tape: the input of `tools/prove.py`.
//!
//! ```text
//! netlist OPERATION WIDTH_OR_FORMAT GOAL [kept|flushed]
//! ```
//!
//! The first line holds the widths of the inputs, the second the wires of the output bits. Wire 0
//! is false and wire 1 is true; inputs follow. Every further line is a gate with a wire of its own,
//! although tapes use slots again: `and OUT A B` or `xor OUT A B`.

use sealane_circuit::{Builder, Circuit, Goal, Int, Machine, Tape, Word, compile, tape};
use sealane_numeric::{Accumulator, Arithmetic, Fixed, Format, Rounding, function};
use std::fmt::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match circuit(&arguments) {
        Some(circuit) => {
            print!("{}", netlist(&circuit));
            ExitCode::SUCCESS
        }
        None => {
            eprintln!("netlist OPERATION WIDTH_OR_FORMAT size|depth [kept|flushed]");
            ExitCode::FAILURE
        }
    }
}

/// The circuit that the arguments name.
fn circuit(arguments: &[&str]) -> Option<Circuit> {
    let &[operation, operands, goal, ref rest @ ..] = arguments else {
        return None;
    };
    let mut b = Builder::for_goal(match goal {
        "size" => Goal::Size,
        "depth" => Goal::Depth,
        _ => return None,
    });
    let outputs = match operands.parse() {
        Ok(width) => on_words(&mut b, operation, width)?,
        Err(_) => {
            let mut formats = Format::ALL.into_iter();
            let format = formats.find(|format| format.name() == operands)?;
            let arithmetic = match rest {
                [] | ["kept"] => Arithmetic::new(format),
                ["flushed"] => Arithmetic::new(format).flushed(),
                _ => return None,
            };
            on_numbers(&mut b, operation, arithmetic)?
        }
    };
    Some(b.finish(outputs))
}

/// Functions on words of crate `circuit`.
fn on_words(b: &mut Builder, operation: &str, width: usize) -> Option<Vec<Word>> {
    let x = b.input(width);
    let (unsigned, signed) = (Int::unsigned(&x), Int::signed(&x));
    if ["shl", "shr", "sar"].contains(&operation) {
        let amount = b.input(width.ilog2() as usize + 1);
        return Some(vec![match operation {
            "shl" => b.shl(unsigned, &amount, width),
            "shr" => b.shr(unsigned, &amount, width),
            _ => b.shr(signed, &amount, width),
        }]);
    }
    let y = b.input(width);
    let (other, signed_other) = (Int::unsigned(&y), Int::signed(&y));
    Some(vec![match operation {
        "add" => b.add(unsigned, other, width + 1),
        "sub" => b.sub(unsigned, other, width + 1),
        "lt" => vec![b.lt(unsigned, other)],
        "slt" => vec![b.lt(signed, signed_other)],
        "le" => vec![b.le(unsigned, other)],
        "eq" => vec![b.eq(unsigned, other)],
        "min" => b.min(signed, signed_other, width),
        "max" => b.max(unsigned, other, width),
        "mux" => {
            let condition = b.input(1);
            b.select(condition[0], &x, &y)
        }
        _ => return None,
    }])
}

/// Functions on numbers: those on the list, conversions by name, `of-i64` or `to-f32`, and the
/// limbs of an addend.
fn on_numbers(b: &mut Builder, operation: &str, of: Arithmetic) -> Option<Vec<Word>> {
    if operation == "place" {
        let x = b.input(of.format.bits());
        return Some(Accumulator::sum(of, 1).place(b, &x));
    }
    if let Some(function) = function(operation) {
        let operands = function.operands.iter();
        let operands = operands.map(|kind| b.input(kind.bits(of.format)));
        let operands: Vec<Word> = operands.collect();
        return Some((function.build)(of, b, &operands));
    }
    let (direction, kind) = operation.split_once('-')?;
    if let Some(format) = Format::ALL.into_iter().find(|format| format.name() == kind) {
        let x = b.input(of.format.bits());
        return Some(vec![of.convert(b, &x, format)]);
    }
    let fixed = match kind.split_at_checked(1)? {
        ("i", bits) => Fixed::signed(bits.parse().ok()?),
        ("u", bits) => Fixed::unsigned(bits.parse().ok()?),
        _ => return None,
    };
    let rounding = match direction {
        "of" => {
            let x = b.input(fixed.bits);
            return Some(vec![of.of_fixed(b, &x, fixed)]);
        }
        "to" => Rounding::Zero,
        "nearest" => Rounding::Nearest,
        "down" => Rounding::Down,
        _ => return None,
    };
    let x = b.input(of.format.bits());
    let converted = of.to_fixed(b, &x, fixed, rounding);
    Some(vec![converted.value, vec![converted.refused]])
}

/// The gates of the tape that machines execute.
fn netlist(circuit: &Circuit) -> String {
    let tape: Tape = compile(circuit, &Machine::CPU);
    tape.check().expect("a tape that keeps its rules");
    // The wire that is in each slot.
    let mut wires: Vec<u32> = (0..tape.slots).collect();
    let mut next = tape::FIRST_INPUT + tape.inputs;
    let mut gates = String::new();
    for batch in &tape.batches {
        let xors = tape.xors_of(batch);
        let ands = tape.ands_of(batch);
        for (kind, list) in [("xor", xors), ("and", ands)] {
            for gate in list {
                let (a, b) = (wires[gate.a as usize], wires[gate.b as usize]);
                writeln!(gates, "{kind} {next} {a} {b}").expect("text");
                wires[gate.out as usize] = next;
                next += 1;
            }
        }
    }
    let words = |numbers: &mut dyn Iterator<Item = u32>| -> String {
        let numbers: Vec<String> = numbers.map(|number| number.to_string()).collect();
        numbers.join(" ")
    };
    let inputs = words(&mut circuit.input_widths().iter().map(|&width| width as u32));
    let outputs = words(&mut tape.outputs.iter().map(|&slot| wires[slot as usize]));
    format!("{inputs}\n{outputs}\n{gates}")
}
