//! HSCD: a word in hexadecimal digits a line, as the netlist memory of the hardware holds it.
//!
//! Four words of counts, then one for each flip-flop and one for each gate; the lines of gates may
//! have stall lines between them, which are not counted. A narrow word has 32 bits:
//!
//! | word | fields |
//! |---|---|
//! | 0 | 27:14 `g_init`, 13:0 `e_init` |
//! | 1 | 27:14 `g_input`, 13:0 `e_input` |
//! | 2 | 27:14 flip-flops, 13:0 outputs |
//! | 3 | 27:14 gates of type XOR, 13:0 gates |
//! | flip-flop | 31:19 D, 18:5 I, 4:1 1111, 0 is an output |
//! | gate | 31:19 `in0`, 18:5 `in1`, 4:1 opcode, 0 is an output |
//! | stall | 4:0 are 0 |
//!
//! A *wide* word, which is ours, has 96 bits in 24 digits: 95:64 the first field, 63:32 the second,
//! and 4:0 as in a narrow one. Indices are two's complement: -1 no operand, -2 the constant 0, -3
//! the constant 1. The released files have 9 digits a narrow word, of which the first is 0.

use super::scd::number;
use super::{Format, NetlistFile, Place, ReadError, WHOLE_HINT, WriteError, misfit, missing};
use crate::gate::{Gate, GateKind, Operand};
use crate::netlist::{FlipFlop, Inputs, MOST_WIRES, Netlist, NetlistError, Parts};
use std::fmt::Write;

/// The size of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Width {
    /// 32 bits: the first operand of a gate has 13 bits, the second one 14.
    Narrow,
    /// 96 bits: operands have 32 bits.
    Wide,
}

/// Most gates of a narrow file, and most of everything else that is counted.
const NARROW_GATES: u64 = (1 << 14) - 1;
/// Field 4:1 of a flip-flop.
const FLIP_FLOP: u32 = 0b1111;
/// Stall lines that are read: more than any schedule has.
const MOST_STALLS: u64 = MOST_WIRES;

impl Width {
    fn digits(self) -> usize {
        match self {
            Width::Narrow => 8,
            Width::Wide => 24,
        }
    }

    /// Bits of both index fields.
    fn bits(self) -> [u32; 2] {
        match self {
            Width::Narrow => [13, 14],
            Width::Wide => [32, 32],
        }
    }
}

/// The fields of a line of a flip-flop or a gate.
struct Word {
    indices: [i64; 2],
    code: u32,
    output: bool,
}

pub(super) fn read(text: &str) -> Result<NetlistFile, ReadError> {
    let digits = text.lines().next().unwrap_or("").trim().len();
    let width = if digits > 9 {
        Width::Wide
    } else {
        Width::Narrow
    };
    let mut lines = Lines {
        width,
        lines: text.lines(),
        number: 0,
    };
    let [g_init, e_init] = lines.counts()?;
    let [garbler, evaluator] = lines.counts()?;
    let [dff, outputs] = lines.counts()?;
    let [xors, gates] = lines.counts()?;
    let inputs = Inputs {
        garbler_initial: g_init,
        evaluator_initial: e_init,
        garbler,
        evaluator,
        ..Inputs::default()
    };
    let mut parts = Parts {
        inputs,
        ..Parts::default()
    };
    // Bits that say "is an output" are in the order of wires.
    let mut wire = inputs.count() as u32;
    for _ in 0..dff {
        let word = lines.word("a flip-flop")?;
        if word.code != FLIP_FLOP {
            return Err(lines.error("no mark of a flip-flop".into()));
        }
        let [next, initial] = word.indices.map(operand);
        let (Some(next), Some(initial)) = (next, initial) else {
            return Err(lines.error("a flip-flop without D or I".into()));
        };
        parts.flip_flops.push(FlipFlop { next, initial });
        let output = word.output.then_some(Operand::Wire(wire));
        parts.outputs.extend(output);
        wire += 1;
    }
    let mut stalls = Vec::new();
    let mut all_stalls = 0;
    while (parts.gates.len() as u64) < u64::from(gates) {
        let word = lines.word("a gate")?;
        if word.code == 0 && !word.output {
            all_stalls += 1;
            if all_stalls > MOST_STALLS {
                return Err(lines.error("too many stall lines".into()));
            }
            stalls.resize(parts.gates.len() + 1, 0);
            stalls[parts.gates.len()] += 1;
            continue;
        }
        let kind = GateKind::of_code(word.code.into());
        let kind = kind.ok_or_else(|| lines.error(format!("opcode {}", word.code)))?;
        let [in0, in1] = word.indices.map(operand);
        let Some(in0) = in0 else {
            return Err(lines.error("a gate without its first operand".into()));
        };
        if in1.is_none() != (kind == GateKind::Not) {
            let what = "a second operand of NOT, or none of another gate".into();
            return Err(lines.error(what));
        }
        parts.gates.push(Gate { kind, in0, in1 });
        let output = word.output.then_some(Operand::Wire(wire));
        parts.outputs.extend(output);
        wire += 1;
    }
    if all_stalls > 0 {
        stalls.resize(parts.gates.len(), 0);
    }
    let found = parts.gates.iter().filter(|gate| gate.kind.is_xor()).count();
    let marked = parts.outputs.len();
    // An output that is marked once may have been listed twice, which the format cannot say.
    if found != xors as usize || marked > outputs as usize {
        let what = format!(
            "{found} gates of type XOR and {marked} outputs, where the counts say {xors} and {outputs}"
        );
        return Err(lines.error(what));
    }
    if lines.next_line().is_some() {
        return Err(lines.error(format!("a line behind all {gates} gates")));
    }
    let netlist = Netlist::new(parts).map_err(|error| {
        let line = match error {
            NetlistError::NotBefore { gate, .. } | NetlistError::Operands { gate, .. } => {
                let before: u32 = stalls.iter().take(gate + 1).sum();
                4 + dff as usize + gate + before as usize
            }
            NetlistError::Next { flip_flop, .. } | NetlistError::Initial { flip_flop, .. } => {
                4 + flip_flop
            }
            _ => 0,
        };
        misfit(Place::line(line + 1), &error)
    })?;
    Ok(NetlistFile {
        format: Format::Hscd(width),
        netlist,
        stalls,
    })
}

/// The lines of a file, as words.
struct Lines<'a> {
    width: Width,
    lines: std::str::Lines<'a>,
    number: usize,
}

impl<'a> Lines<'a> {
    fn next_line(&mut self) -> Option<&'a str> {
        self.number += 1;
        let line = self.lines.next()?.trim();
        (!line.is_empty()).then_some(line)
    }

    /// The next word.
    fn bits(&mut self, what: &str) -> Result<u128, ReadError> {
        let Some(line) = self.next_line() else {
            return Err(self.error(format!("the end of the file, before {what}")));
        };
        let digits = self.width.digits();
        // The released files have one leading zero more.
        let line = match line.strip_prefix('0') {
            Some(rest) if rest.len() == digits => rest,
            _ => line,
        };
        let hex = line.len() == digits && line.bytes().all(|byte| byte.is_ascii_hexdigit());
        let word = hex.then(|| u128::from_str_radix(line, 16).ok()).flatten();
        word.ok_or_else(|| self.error(format!("no word of {digits} hexadecimal digits")))
    }

    fn counts(&mut self) -> Result<[u32; 2], ReadError> {
        let word = self.bits("four words of counts")?;
        let counts = match self.width {
            Width::Narrow => [word >> 14 & 0x3fff, word & 0x3fff],
            Width::Wide => [word >> 64, word >> 32 & 0xffff_ffff],
        };
        if counts.iter().any(|&count| count > u128::from(MOST_WIRES)) {
            return Err(self.error(format!("count above {MOST_WIRES}")));
        }
        Ok(counts.map(|count| count as u32))
    }

    fn word(&mut self, what: &str) -> Result<Word, ReadError> {
        let word = self.bits(what)?;
        let places = match self.width {
            Width::Narrow => [19, 5],
            Width::Wide => [64, 32],
        };
        let index = |place: u32, bits: u32| {
            let field = (word >> place) as u64 & ((1 << bits) - 1);
            // The largest three values are -1 to -3; all others are wires.
            match (1 << bits) - field {
                below @ 1..=3 => -(below as i64),
                _ => field as i64,
            }
        };
        let [bits0, bits1] = self.width.bits();
        Ok(Word {
            indices: [index(places[0], bits0), index(places[1], bits1)],
            code: (word >> 1) as u32 & 15,
            output: word & 1 == 1,
        })
    }

    fn error(&self, what: String) -> ReadError {
        let (place, hint) = (Place::line(self.number), WHOLE_HINT);
        ReadError { place, what, hint }
    }
}

/// The operand of an index, unless it is -1. Wires that are too large are refused with the netlist.
fn operand(index: i64) -> Option<Operand> {
    match index {
        -1 => None,
        -2 => Some(Operand::Zero),
        -3 => Some(Operand::One),
        wire => Some(Operand::Wire(wire as u32)),
    }
}

pub(super) fn write(netlist: &Netlist, width: Width, stalls: &[u32]) -> Result<String, WriteError> {
    let parts = netlist.parts();
    let [p_init, g_init, e_init, public, garbler, evaluator] = parts.inputs.counts();
    missing((p_init, public) != (0, 0), "HSCD has no public inputs")?;
    let (ends, ports) = (parts.terminate.is_some(), parts.ports.is_some());
    missing(ends, "HSCD has no wire that ends a run")?;
    missing(ports, "HSCD has no line of ports; keep the SCD beside it")?;
    let given = !stalls.is_empty() && stalls.len() != parts.gates.len();
    let what = "there are stall lines, but not a number of them for each gate";
    missing(given, what)?;
    let mut is_output = vec![false; parts.flip_flops.len() + parts.gates.len()];
    for output in &parts.outputs {
        let wire = output.wire();
        let place = wire.and_then(|wire| wire.checked_sub(netlist.inputs()));
        let place = place.and_then(|place| is_output.get_mut(place as usize));
        let what = "HSCD marks flip-flops and gates as outputs, not inputs or constants";
        *place.ok_or(WriteError::Missing(what))? = true;
    }
    let marked = is_output.iter().filter(|&&is| is).count();
    let twice = marked != parts.outputs.len();
    missing(twice, "HSCD marks a wire as an output once")?;
    let mut out = Writer {
        width,
        out: String::new(),
    };
    out.counts(g_init, e_init)?;
    out.counts(garbler, evaluator)?;
    out.counts(parts.flip_flops.len() as u32, marked as u32)?;
    out.counts(netlist.xors() as u32, parts.gates.len() as u32)?;
    let (copies, gates) = is_output.split_at(parts.flip_flops.len());
    for (pair, &is_output) in parts.flip_flops.iter().zip(copies) {
        out.word([Some(pair.next), Some(pair.initial)], FLIP_FLOP, is_output)?;
    }
    for (place, (gate, &is_output)) in parts.gates.iter().zip(gates).enumerate() {
        for _ in 0..stalls.get(place).copied().unwrap_or(0) {
            out.line(0);
        }
        let code = gate.kind.code().into();
        out.word([Some(gate.in0), gate.in1], code, is_output)?;
    }
    Ok(out.out)
}

type Operands = [Option<Operand>; 2];

struct Writer {
    width: Width,
    out: String,
}

impl Writer {
    fn line(&mut self, word: u128) {
        // Writing to a string does not fail.
        let _ = writeln!(self.out, "{word:0digits$X}", digits = self.width.digits());
    }

    fn counts(&mut self, first: u32, second: u32) -> Result<(), WriteError> {
        let most = match self.width {
            Width::Narrow => NARROW_GATES,
            Width::Wide => MOST_WIRES,
        };
        let value = u64::from(first.max(second));
        if value > most {
            let what = "a count";
            return Err(WriteError::TooLarge { what, value, most });
        }
        let [first, second] = [first, second].map(u128::from);
        self.line(match self.width {
            Width::Narrow => first << 14 | second,
            Width::Wide => first << 64 | second << 32,
        });
        Ok(())
    }

    fn word(&mut self, operands: Operands, code: u32, is_output: bool) -> Result<(), WriteError> {
        let mut fields = [0; 2];
        for ((field, operand), bits) in fields.iter_mut().zip(operands).zip(self.width.bits()) {
            let most = (1u64 << bits) - 4;
            match number(operand) {
                value if value > most as i64 => {
                    let (what, value) = ("an operand", value as u64);
                    return Err(WriteError::TooLarge { what, value, most });
                }
                value => *field = u128::from(value as u64 & ((1 << bits) - 1)),
            }
        }
        let [first, second] = fields;
        let low = u128::from(code << 1 | u32::from(is_output));
        self.line(match self.width {
            Width::Narrow => first << 19 | second << 5 | low,
            Width::Wide => first << 64 | second << 32 | low,
        });
        Ok(())
    }
}
