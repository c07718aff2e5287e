//! The reader of the Bristol formats.

use std::fmt;

use super::Format;
use crate::builder::{Builder, Wire, Word};
use crate::circuit::{Circuit, CircuitInfo};

/// The most bits that a file may give each of its inputs, or all of them in Bristol Fashion. Inputs
/// are the only part of a file that takes memory without taking text.
pub const MAX_INPUT_BITS: usize = 1 << 20;

/// A circuit read from a file.
#[derive(Clone, Debug)]
pub struct CircuitFile {
    /// The format in which it was written.
    pub format: Format,
    /// Sizes as the file has them.
    pub info: CircuitInfo,
    /// The circuit, rebuilt: equal gates are shared and dead ones removed, so it may be smaller
    /// than `info` says.
    pub circuit: Circuit,
}

/// Error: the place where a file breaks the format, and the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: expected {expected}, found {found}")]
pub struct ReadError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Description of the expected text.
    pub expected: String,
    /// The text that was found.
    pub found: String,
}

/// Reads a circuit in either format, which is recognised from the content: only Bristol Fashion
/// has a third line of numbers.
pub fn read(text: &str) -> Result<CircuitFile, ReadError> {
    let mut lines = Lines::new(text);
    let mut header = lines.next("the numbers of gates and of wires")?;
    let gate_count = header.number("the number of gates", text.len())?;
    let wire_count = header.number("the number of wires", MAX_INPUT_BITS + text.len())?;
    header.end("the end of the line, after the numbers of gates and of wires")?;

    let (format, inputs, outputs) = widths(&mut lines)?;
    for (what, widths) in [("inputs", &inputs), ("outputs", &outputs)] {
        let total: usize = widths.iter().sum();
        if total > wire_count {
            return Err(header.error_at(1, format_args!("at least {total} wires, for the {what}")));
        }
    }
    let mut reader = Reader::new(wire_count, &inputs);
    for index in 0..gate_count {
        let line = lines.next(format_args!("gate {} of {gate_count}", index + 1))?;
        reader.gate(line, format)?;
    }
    if let Some(line) = lines.next_line() {
        let last = format_args!("the end of the file, after {gate_count} gates");
        return Err(line.error_at(0, last));
    }
    let outputs = reader.outputs(&outputs, &lines)?;
    let mut info = reader.info;
    (info.wires, info.gates) = (wire_count as u64, gate_count as u64);
    let circuit = reader.builder.finish(outputs);
    Ok(CircuitFile {
        format,
        info,
        circuit,
    })
}

/// Reads the widths of inputs and outputs, and the format that they imply.
fn widths(lines: &mut Lines) -> Result<(Format, Vec<usize>, Vec<usize>), ReadError> {
    let mut first = lines.next("the widths of the inputs")?;
    let is_fashion = lines.peek_is_numbers();
    if !is_fashion {
        let names = ["the first input", "the second input", "the output"];
        let mut values = [0; 3];
        for (value, name) in values.iter_mut().zip(names) {
            *value = first.number(format_args!("the width of {name}"), MAX_INPUT_BITS)?;
        }
        first.end("the end of the line, after three widths")?;
        let inputs = match values[1] {
            0 => vec![values[0]],
            _ => values[..2].to_vec(),
        };
        return Ok((Format::Bristol, inputs, vec![values[2]]));
    }
    let inputs = first.width_list("input")?;
    let mut second = lines.next("the widths of the outputs")?;
    let outputs = second.width_list("output")?;
    Ok((Format::BristolFashion, inputs, outputs))
}

/// State of the reader after some gates.
struct Reader {
    builder: Builder,
    /// The value of each wire of the file and its AND depth, once it is written.
    wires: Vec<Option<(Wire, u32)>>,
    info: CircuitInfo,
}

impl Reader {
    fn new(wire_count: usize, widths: &[usize]) -> Reader {
        let mut builder = Builder::new();
        let inputs = widths.iter().flat_map(|&width| builder.input(width));
        let mut wires: Vec<_> = inputs.map(|wire| Some((wire, 0))).collect();
        wires.resize(wire_count, None);
        Reader {
            builder,
            wires,
            info: CircuitInfo::default(),
        }
    }

    /// One line: numbers of inputs and outputs, the wires, the name.
    fn gate(&mut self, mut line: Line, format: Format) -> Result<(), ReadError> {
        let (kind, outputs) = gate_kind(&mut line, format)?;
        if kind == GateKind::Constant {
            let constant = line.number("the constant 0 or 1", 1)?;
            return self.write(&mut line, Wire::constant(constant == 1), 0);
        }
        let count = match kind {
            GateKind::Xor | GateKind::And => 2 * outputs,
            _ => 1,
        };
        let operands = (0..count).map(|_| self.read(&mut line));
        let operands: Vec<(Wire, u32)> = operands.collect::<Result<_, _>>()?;
        for i in 0..outputs {
            let (a, depth) = operands[i];
            let (b, other_depth) = *operands.get(i + outputs).unwrap_or(&(a, depth));
            let depth = depth.max(other_depth) + u32::from(kind == GateKind::And);
            let value = match kind {
                GateKind::Xor => self.builder.xor(a, b),
                GateKind::And => self.builder.and(a, b),
                GateKind::Not => !a,
                GateKind::Copy | GateKind::Constant => a,
            };
            self.info.ands += u64::from(kind == GateKind::And);
            self.info.xors += u64::from(kind == GateKind::Xor);
            self.info.depth = self.info.depth.max(depth.into());
            self.write(&mut line, value, depth)?;
        }
        Ok(())
    }

    fn read(&self, line: &mut Line) -> Result<(Wire, u32), ReadError> {
        let at = line.next;
        let wire = line.number("a wire", self.wires.len().saturating_sub(1))?;
        let missing = || line.error_at(at, "a wire that an input or an earlier line writes");
        self.wires.get(wire).copied().flatten().ok_or_else(missing)
    }

    fn write(&mut self, line: &mut Line, value: Wire, depth: u32) -> Result<(), ReadError> {
        let at = line.next;
        let wire = line.number("a wire", self.wires.len().saturating_sub(1))?;
        let Some(free @ None) = self.wires.get_mut(wire) else {
            return Err(line.error_at(at, "a wire that nothing writes before"));
        };
        *free = Some((value, depth));
        Ok(())
    }

    /// The last wires, in words.
    fn outputs(&self, widths: &[usize], lines: &Lines) -> Result<Vec<Word>, ReadError> {
        let start = self.wires.len() - widths.iter().sum::<usize>();
        let value = |wire: usize| match self.wires[wire] {
            Some((value, _)) => Ok(value),
            None => Err(lines.error_at_end(format_args!("a gate that writes output wire {wire}"))),
        };
        let mut wires = start..self.wires.len();
        let mut word = |&width: &usize| wires.by_ref().take(width).map(value).collect();
        widths.iter().map(&mut word).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GateKind {
    Xor,
    And,
    Not,
    Copy,
    Constant,
}

/// Reads the numbers of inputs and outputs of a gate and its name; leaves `line` before the wires.
/// Returns the kind and the number of outputs.
fn gate_kind(line: &mut Line, format: Format) -> Result<(GateKind, usize), ReadError> {
    let inputs = line.number("the number of inputs of a gate", line.tokens.len())?;
    let outputs = line.number("the number of outputs of a gate", line.tokens.len())?;
    let name_at = 2 + inputs + outputs;
    let fashion = format == Format::BristolFashion;
    let (kind, expected_inputs, expected_outputs) = match line.tokens.get(name_at) {
        Some((_, "XOR")) => (GateKind::Xor, 2, 1),
        Some((_, "AND")) => (GateKind::And, 2, 1),
        Some((_, "INV")) => (GateKind::Not, 1, 1),
        Some((_, "EQW")) if fashion => (GateKind::Copy, 1, 1),
        Some((_, "EQ")) if fashion => (GateKind::Constant, 1, 1),
        Some((_, "MAND")) if fashion => (GateKind::And, 2 * outputs, outputs),
        _ if fashion => return Err(line.error_at(name_at, "XOR, AND, INV, EQ, EQW or MAND")),
        _ => return Err(line.error_at(name_at, "XOR, AND or INV")),
    };
    if (inputs, outputs) != (expected_inputs, expected_outputs) {
        let name = line.tokens[name_at].1;
        let needed = format!("{expected_inputs} {expected_outputs}");
        let expected = format_args!("{needed}, the inputs and outputs of {name}");
        return Err(line.error_at(0, expected));
    }
    if line.tokens.len() > name_at + 1 {
        let expected = "the end of the line, after the name of the gate";
        return Err(line.error_at(name_at + 1, expected));
    }
    Ok((kind, outputs))
}

/// The lines of a text that are not blank.
struct Lines<'a> {
    rest: std::iter::Peekable<std::iter::Enumerate<std::str::Lines<'a>>>,
    /// Number of the last line read, 0 before the first.
    last: usize,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Lines<'a> {
        Lines {
            rest: text.lines().enumerate().peekable(),
            last: 0,
        }
    }

    fn skip_blank(&mut self) {
        let is_blank = |(_, line): &(usize, &str)| line.trim().is_empty();
        while self.rest.next_if(is_blank).is_some() {}
    }

    fn next_line(&mut self) -> Option<Line<'a>> {
        self.skip_blank();
        let (index, text) = self.rest.next()?;
        self.last = index + 1;
        let tokens = text.split_whitespace().map(|token| {
            let offset = token.as_ptr() as usize - text.as_ptr() as usize;
            (offset, token)
        });
        Some(Line {
            number: index + 1,
            text,
            tokens: tokens.collect(),
            next: 0,
        })
    }

    fn next(&mut self, expected: impl fmt::Display) -> Result<Line<'a>, ReadError> {
        self.next_line().ok_or_else(|| self.error_at_end(expected))
    }

    /// True if the next line holds nothing but numbers.
    fn peek_is_numbers(&mut self) -> bool {
        self.skip_blank();
        let next = self.rest.peek();
        next.is_some_and(|(_, line)| line.split_whitespace().all(is_number))
    }

    fn error_at_end(&self, expected: impl fmt::Display) -> ReadError {
        let (line, column) = (self.last + 1, 1);
        let (expected, found) = (expected.to_string(), "the end of the file".into());
        ReadError {
            line,
            column,
            expected,
            found,
        }
    }
}

fn is_number(token: &str) -> bool {
    token.bytes().all(|byte| byte.is_ascii_digit())
}

/// A line in tokens, each with its offset in bytes.
struct Line<'a> {
    number: usize,
    text: &'a str,
    tokens: Vec<(usize, &'a str)>,
    next: usize,
}

impl Line<'_> {
    /// A number of at most `max`.
    fn number(&mut self, what: impl fmt::Display, max: usize) -> Result<usize, ReadError> {
        let token = self.tokens.get(self.next);
        let token = token.filter(|(_, token)| is_number(token));
        match token.and_then(|(_, token)| token.parse().ok()) {
            Some(number) if number <= max => {
                self.next += 1;
                Ok(number)
            }
            _ => Err(self.error_at(self.next, format_args!("{what}, a number of at most {max}"))),
        }
    }

    /// A number of widths and the widths.
    fn width_list(&mut self, what: &str) -> Result<Vec<usize>, ReadError> {
        let count = self.number(format_args!("the number of {what}s"), self.tokens.len())?;
        let mut left = MAX_INPUT_BITS;
        let mut widths = Vec::with_capacity(count);
        for i in 0..count {
            let width = self.number(format_args!("the width of {what} {}", i + 1), left)?;
            left -= width;
            widths.push(width);
        }
        self.end(format_args!("the end of the line, after {count} widths"))?;
        Ok(widths)
    }

    fn end(&self, expected: impl fmt::Display) -> Result<(), ReadError> {
        if self.next < self.tokens.len() {
            return Err(self.error_at(self.next, expected));
        }
        Ok(())
    }

    /// An error at a token, or behind the last.
    fn error_at(&self, token: usize, expected: impl fmt::Display) -> ReadError {
        let (offset, found) = match self.tokens.get(token) {
            Some(&(offset, token)) => {
                let short: String = token.chars().take(32).collect();
                (offset, format!("`{}`", short.escape_debug()))
            }
            None => (self.text.trim_end().len(), "the end of the line".into()),
        };
        let (line, column) = (self.number, self.text[..offset].chars().count() + 1);
        let expected = expected.to_string();
        ReadError {
            line,
            column,
            expected,
            found,
        }
    }
}
