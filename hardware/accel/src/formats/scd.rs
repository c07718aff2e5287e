//! SCD in text, as FASE and TinyGarble write it: a line of counts, then first operands, second
//! operands and opcodes of all gates, outputs, D and I of all flip-flops, and in an optional line
//! of our own the port of each output.
//!
//! -1 is no operand, -2 the constant 0, -3 the constant 1. Lines that hold nothing may be left out
//! at the end.

use super::{FORMATS_HINT, Format, NetlistFile, Place, ReadError, WHOLE_HINT, WriteError};
use super::{misfit, missing};
use crate::gate::{Gate, GateKind, Operand};
use crate::netlist::{FlipFlop, Inputs, MOST_WIRES, Netlist, NetlistError, Parts};
use std::fmt::Write;

/// The word that begins the line of ports.
const PORTS: &str = "ports";
const OPERAND_HINT: &str = "an operand is a wire from 0, -2 for the constant 0 or -3 for 1; NOT \
                            has -1 as its second one, and no other gate has";
const CODE_HINT: &str = "opcodes are 8 AND, 4 ANDN, 7 NAND, 11 NANDN, 14 OR, 13 ORN, 1 NOR, 2 NORN, \
                         6 XOR, 9 XNOR, 12 NOT; flip-flops are counted in the first line instead";

/// Lines of the file, in order.
const COUNTS: usize = 0;
const IN0: usize = 1;
const IN1: usize = 2;
const CODES: usize = 3;
const OUTPUTS: usize = 4;
const NEXT: usize = 5;
const INITIAL: usize = 6;
const PORT: usize = 7;
const LINES: usize = 8;

pub(super) fn read(text: &str) -> Result<NetlistFile, ReadError> {
    let lines = Lines(text.lines().collect());
    if let Some(extra) = (LINES..lines.0.len()).find(|&line| !lines.0[line].trim().is_empty()) {
        let what = format!("a line behind the {LINES} of the format");
        return Err(lines.error(extra, 0, what, WHOLE_HINT));
    }
    let counts = lines.numbers(COUNTS, None, "counts")?;
    let (format, all) = match counts[..] {
        [g_init, e_init, g, e, dff, outputs, gates] => {
            let all = [0, g_init, e_init, 0, g, e, dff, outputs, 0, gates];
            (Format::Fase, all)
        }
        _ => match <[i64; 10]>::try_from(&counts[..]) {
            Ok(all) => (Format::TinyGarble, all),
            Err(_) => {
                let what = format!("{} counts, not 7 or 10", counts.len());
                return Err(lines.error(COUNTS, 0, what, FORMATS_HINT));
            }
        },
    };
    let fits = |&count: &i64| count >= 0 && count as u64 <= MOST_WIRES;
    if let Some(token) = counts.iter().position(|count| !fits(count)) {
        let what = format!("count {}, not between 0 and {MOST_WIRES}", counts[token]);
        return Err(lines.error(COUNTS, token, what, WHOLE_HINT));
    }
    let [.., dff, outputs, terminate, gates] = all.map(|count| count as usize);
    let in0 = lines.operands(IN0, gates, "first operands")?;
    let in1 = lines.numbers(IN1, Some(gates), "second operands")?;
    let codes = lines.numbers(CODES, Some(gates), "opcodes")?;
    let outputs = lines.operands(OUTPUTS, outputs, "outputs")?;
    let next = lines.operands(NEXT, dff, "D of flip-flops")?;
    let initial = lines.operands(INITIAL, dff, "I of flip-flops")?;
    let ports = lines.ports(outputs.len())?;
    let gate = |number: usize| {
        let Some(kind) = GateKind::of_code(codes[number]) else {
            let what = format!("opcode {}", codes[number]);
            return Err(lines.error(CODES, number, what, CODE_HINT));
        };
        let second = lines.operand(IN1, number, in1[number]);
        let in1 = match (kind, in1[number]) {
            (GateKind::Not, -1) => None,
            (GateKind::Not, _) => {
                let what = format!("a second operand of gate {number}, which is a NOT");
                return Err(lines.error(IN1, number, what, OPERAND_HINT));
            }
            _ => Some(second?),
        };
        let in0 = in0[number];
        Ok(Gate { kind, in0, in1 })
    };
    let gates = (0..gates).map(gate).collect::<Result<_, _>>()?;
    let pairs = next.into_iter().zip(initial);
    let pairs = pairs.map(|(next, initial)| FlipFlop { next, initial });
    let parts = Parts {
        inputs: Inputs::of_counts(std::array::from_fn(|input| all[input] as u32)),
        flip_flops: pairs.collect(),
        gates,
        outputs,
        ports,
        terminate: (terminate > 0).then_some(terminate as u32),
    };
    let netlist = Netlist::new(parts).map_err(|error| misfit(lines.place_of(&error), &error))?;
    Ok(NetlistFile {
        format,
        netlist,
        stalls: Vec::new(),
    })
}

/// The numbers of a line.
type Numbers = Result<Vec<i64>, ReadError>;

/// The lines of a file.
struct Lines<'a>(Vec<&'a str>);

impl Lines<'_> {
    fn line(&self, line: usize) -> &str {
        self.0.get(line).copied().unwrap_or("")
    }

    /// The numbers of a line; exactly `count` if it is given.
    fn numbers(&self, line: usize, count: Option<usize>, what: &str) -> Numbers {
        let mut numbers = Vec::new();
        for (token, text) in self.line(line).split_whitespace().enumerate() {
            if Some(token) == count {
                let what = format!("more than {token} {what}");
                return Err(self.error(line, token, what, WHOLE_HINT));
            }
            let number = text.parse().map_err(|_| {
                let short: String = text.chars().take(32).collect();
                let what = format!("`{}` among {what}, not a number", short.escape_debug());
                self.error(line, token, what, WHOLE_HINT)
            })?;
            numbers.push(number);
        }
        match count {
            Some(count) if numbers.len() < count => {
                let what = format!("{} {what}, not {count}", numbers.len());
                Err(self.error(line, numbers.len(), what, WHOLE_HINT))
            }
            _ => Ok(numbers),
        }
    }

    fn operands(&self, line: usize, count: usize, what: &str) -> Result<Vec<Operand>, ReadError> {
        let numbers = self.numbers(line, Some(count), what)?.into_iter();
        let operand = |(token, number)| self.operand(line, token, number);
        numbers.enumerate().map(operand).collect()
    }

    fn operand(&self, line: usize, token: usize, number: i64) -> Result<Operand, ReadError> {
        match number {
            -2 => Ok(Operand::Zero),
            -3 => Ok(Operand::One),
            0.. if (number as u64) < MOST_WIRES => Ok(Operand::Wire(number as u32)),
            _ => Err(self.error(line, token, format!("operand {number}"), OPERAND_HINT)),
        }
    }

    fn ports(&self, outputs: usize) -> Result<Option<Vec<u32>>, ReadError> {
        let mut tokens = self.line(PORT).split_whitespace();
        match tokens.next() {
            None => return Ok(None),
            Some(PORTS) => {}
            Some(_) => {
                let what = format!("line of ports that does not begin with `{PORTS}`");
                return Err(self.error(PORT, 0, what, WHOLE_HINT));
            }
        }
        let mut ports = Vec::new();
        for (token, text) in tokens.enumerate() {
            match text.parse::<u32>() {
                Ok(port) if (port as usize) < outputs && token < outputs => ports.push(port),
                _ => {
                    let what = format!("port that is not below {outputs}, or one too many");
                    return Err(self.error(PORT, token + 1, what, PORTS_HINT));
                }
            }
        }
        Ok(Some(ports))
    }

    /// The number that an error of the netlist is about.
    fn place_of(&self, error: &NetlistError) -> Place {
        let (line, token) = match *error {
            NetlistError::NotBefore { gate, wire, .. } => {
                // The wire is in the first line or, if not, in the second.
                let text = wire.to_string();
                let first = self.line(IN0).split_whitespace().nth(gate);
                (if first == Some(&text) { IN0 } else { IN1 }, gate)
            }
            NetlistError::Operands { gate, .. } => (IN1, gate),
            NetlistError::Next { flip_flop, .. } => (NEXT, flip_flop),
            NetlistError::Initial { flip_flop, .. } => (INITIAL, flip_flop),
            NetlistError::Output { output, .. } => (OUTPUTS, output),
            NetlistError::Ports { .. } => (PORT, 0),
            NetlistError::TooLarge(_) | NetlistError::Order { .. } => (COUNTS, 0),
            NetlistError::Terminate { .. } => (COUNTS, 8),
        };
        self.place(line, token)
    }

    /// The place of a number, or of the end of the line or the file if it is not there.
    fn place(&self, line: usize, token: usize) -> Place {
        let line = line.min(self.0.len());
        let text = self.line(line);
        let offset = match text.split_whitespace().nth(token) {
            Some(found) => found.as_ptr() as usize - text.as_ptr() as usize,
            None => text.trim_end().len(),
        };
        Place::Text {
            line: line + 1,
            column: text[..offset].chars().count() + 1,
        }
    }

    fn error(&self, line: usize, token: usize, what: String, hint: &'static str) -> ReadError {
        let place = self.place(line, token);
        ReadError { place, what, hint }
    }
}

const PORTS_HINT: &str = "the line of ports has the word `ports` and the port of each output";

pub(super) fn write(netlist: &Netlist, format: Format) -> Result<String, WriteError> {
    let parts = netlist.parts();
    let [p_init, g_init, e_init, p, g, e] = parts.inputs.counts();
    let [dff, outputs] = [parts.flip_flops.len(), parts.outputs.len()];
    let (terminate, gates) = (parts.terminate.unwrap_or(0), parts.gates.len());
    if format != Format::TinyGarble {
        let what = "the SCD of FASE has no public inputs; write that of TinyGarble";
        missing((p_init, p) != (0, 0), what)?;
        let what = "the SCD of FASE has no wire that ends a run; write that of TinyGarble";
        missing(parts.terminate.is_some(), what)?;
    }
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = match format {
        Format::TinyGarble => writeln!(
            out,
            "{p_init} {g_init} {e_init} {p} {g} {e} {dff} {outputs} {terminate} {gates}"
        ),
        _ => writeln!(out, "{g_init} {e_init} {g} {e} {dff} {outputs} {gates}"),
    };
    let mut line = |numbers: &mut dyn Iterator<Item = i64>| {
        let numbers = numbers.map(|number| number.to_string());
        let _ = writeln!(out, "{}", numbers.collect::<Vec<_>>().join(" "));
    };
    line(&mut parts.gates.iter().map(|gate| number(Some(gate.in0))));
    line(&mut parts.gates.iter().map(|gate| number(gate.in1)));
    line(&mut parts.gates.iter().map(|gate| gate.kind.code().into()));
    line(&mut parts.outputs.iter().map(|&output| number(Some(output))));
    let pairs = &parts.flip_flops;
    line(&mut pairs.iter().map(|pair| number(Some(pair.next))));
    line(&mut pairs.iter().map(|pair| number(Some(pair.initial))));
    if let Some(ports) = &parts.ports {
        let ports = ports.iter().map(u32::to_string).collect::<Vec<_>>();
        let _ = writeln!(out, "{PORTS} {}", ports.join(" "));
    }
    Ok(out)
}

/// The number of an operand.
pub(super) fn number(operand: Option<Operand>) -> i64 {
    match operand {
        None => -1,
        Some(Operand::Zero) => -2,
        Some(Operand::One) => -3,
        Some(Operand::Wire(wire)) => wire.into(),
    }
}
