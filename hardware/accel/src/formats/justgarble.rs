//! SCD of JustGarble: one array of MessagePack with `n, m, q`, then the first operands, the second
//! operands and the truth tables of `q` gates, then `m` outputs.
//!
//! Inputs are the wires 0 to `n - 1`, wire `n` is not used, and gate `i` drives wire `n + 1 + i`.
//! A truth table is `8 f(1,1) + 4 f(1,0) + 2 f(0,1) + f(0,0)`. A gate that copies an operand
//! becomes an XOR with the constant 0, one that ignores both an XOR or XNOR of constants: neither
//! costs a table. The inputs are read as the garbler's, since the format does not name parties.

use super::{Format, NetlistFile, Place, ReadError, WHOLE_HINT, WriteError, misfit, missing};
use crate::gate::{Gate, GateKind, Operand};
use crate::netlist::{Inputs, MOST_WIRES, Netlist, NetlistError, Parts};

/// Returns true if the bytes begin as an array of MessagePack does.
pub(super) fn begins(bytes: &[u8]) -> bool {
    matches!(bytes.first(), Some(0x90..=0x9f | 0xdc | 0xdd))
}

pub(super) fn read(bytes: &[u8]) -> Result<NetlistFile, ReadError> {
    let mut input = Input { bytes, at: 0 };
    let length = input.array()?;
    let [n, m, q] = [input.count()?, input.count()?, input.count()?];
    if 3 + 3 * q + m != length {
        let what =
            format!("array of {length} numbers, where {q} gates and {m} outputs need others");
        return Err(input.error(0, what));
    }
    // Each number takes a byte at least.
    if length - 3 > (bytes.len() - input.at) as u64 {
        return Err(input.error(bytes.len(), "end of the file, before all numbers".into()));
    }
    let in0 = input.operands(q, n)?;
    let in1 = input.operands(q, n)?;
    let tables_at = input.at;
    let mut gates = Vec::with_capacity(q as usize);
    for (&in0, &in1) in in0.iter().zip(&in1) {
        let at = input.at;
        let table = input.number()?;
        let gate = gate_of(table, in0, in1);
        gates.push(gate.ok_or_else(|| input.error(at, format!("truth table {table}, above 15")))?);
    }
    let outputs = input.operands(m, n)?;
    if input.at < bytes.len() {
        return Err(input.error(input.at, "bytes behind the array".into()));
    }
    let parts = Parts {
        inputs: Inputs {
            garbler: n as u32,
            ..Inputs::default()
        },
        gates,
        outputs,
        ..Parts::default()
    };
    let netlist = Netlist::new(parts);
    Ok(NetlistFile {
        format: Format::JustGarble,
        // Numbers differ in length, so the place is that of the list.
        netlist: netlist.map_err(|error| match error {
            NetlistError::Output { .. } => misfit(Place::Byte(input.at), &error),
            _ => misfit(Place::Byte(tables_at), &error),
        })?,
        stalls: Vec::new(),
    })
}

/// The gate with this truth table.
fn gate_of(table: u64, in0: Operand, in1: Operand) -> Option<Gate> {
    let gate = |kind, in0, in1| Some(Gate { kind, in0, in1 });
    match table {
        0b0000 => gate(GateKind::Xor, Operand::Zero, Some(Operand::Zero)),
        0b1111 => gate(GateKind::Xnor, Operand::Zero, Some(Operand::Zero)),
        0b1100 => gate(GateKind::Xor, in0, Some(Operand::Zero)),
        0b1010 => gate(GateKind::Xor, in1, Some(Operand::Zero)),
        0b0011 => gate(GateKind::Not, in0, None),
        0b0101 => gate(GateKind::Not, in1, None),
        _ => {
            let mut kinds = GateKind::ALL.iter().copied();
            let kind = kinds.find(|kind| u64::from(kind.truth_table()) == table)?;
            gate(kind, in0, Some(in1))
        }
    }
}

/// The bytes, and how far they are read.
struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Input<'_> {
    fn array(&mut self) -> Result<u64, ReadError> {
        let length = match self.bytes.first() {
            Some(&byte @ 0x90..=0x9f) => {
                self.at = 1;
                Some(u64::from(byte & 0xf))
            }
            Some(0xdc) => self.big_endian(2),
            Some(0xdd) => self.big_endian(4),
            _ => None,
        };
        let what = "no whole head of an array of at least 3 numbers";
        let length = length.filter(|&length| length >= 3);
        length.ok_or_else(|| self.error(0, what.into()))
    }

    /// The next number, in any of the encodings of a number from 0.
    fn number(&mut self) -> Result<u64, ReadError> {
        let at = self.at;
        let number = match self.bytes.get(at) {
            Some(&byte @ 0..=0x7f) => {
                self.at += 1;
                Some(byte.into())
            }
            Some(0xcc) => self.big_endian(1),
            Some(0xcd) => self.big_endian(2),
            Some(0xce) => self.big_endian(4),
            Some(0xcf) => self.big_endian(8),
            // Signed ones, which writers use for numbers that are not negative too.
            Some(0xd0) => self.big_endian(1).filter(|&number| number < 1 << 7),
            Some(0xd1) => self.big_endian(2).filter(|&number| number < 1 << 15),
            Some(0xd2) => self.big_endian(4).filter(|&number| number < 1 << 31),
            Some(0xd3) => self.big_endian(8).filter(|&number| number < 1 << 63),
            _ => None,
        };
        number.ok_or_else(|| self.error(at, "no whole number from 0".into()))
    }

    /// A number in `count` bytes behind the byte that says so.
    fn big_endian(&mut self, count: usize) -> Option<u64> {
        let bytes = self.bytes.get(self.at + 1..self.at + 1 + count)?;
        self.at += 1 + count;
        let number = |number, &byte: &u8| number << 8 | u64::from(byte);
        Some(bytes.iter().fold(0, number))
    }

    fn count(&mut self) -> Result<u64, ReadError> {
        let at = self.at;
        let count = self.number()?;
        if count <= MOST_WIRES {
            Ok(count)
        } else {
            Err(self.error(at, format!("count {count}, above {MOST_WIRES}")))
        }
    }

    /// `count` wires, without the one that is not used behind `n` inputs.
    fn operands(&mut self, count: u64, n: u64) -> Result<Vec<Operand>, ReadError> {
        let mut operands = Vec::with_capacity(count as usize);
        for _ in 0..count {
            let at = self.at;
            let wire = self.number()?;
            if wire == n || wire > MOST_WIRES {
                return Err(self.error(at, format!("wire {wire}, which nothing drives")));
            }
            operands.push(Operand::Wire((wire - u64::from(wire > n)) as u32));
        }
        Ok(operands)
    }

    fn error(&self, at: usize, what: String) -> ReadError {
        ReadError {
            place: Place::Byte(at),
            what,
            hint: WHOLE_HINT,
        }
    }
}

pub(super) fn write(netlist: &Netlist) -> Result<Vec<u8>, WriteError> {
    let parts = netlist.parts();
    let flip_flops = !parts.flip_flops.is_empty();
    missing(flip_flops, "the SCD of JustGarble has no flip-flops")?;
    let ports = parts.ports.is_some();
    missing(ports, "the SCD of JustGarble has no line of ports")?;
    let what = "the SCD of JustGarble has no wire that ends a run";
    missing(parts.terminate.is_some(), what)?;
    let n = netlist.inputs();
    let wire = |operand: Operand| match operand.wire() {
        Some(wire) => Ok(u64::from(wire) + u64::from(wire >= n)),
        None => {
            let what = "the SCD of JustGarble has no constants";
            Err(WriteError::Missing(what))
        }
    };
    let (m, q) = (parts.outputs.len() as u64, parts.gates.len() as u64);
    let mut numbers = vec![u64::from(n), m, q];
    for gate in &parts.gates {
        numbers.push(wire(gate.in0)?);
    }
    for gate in &parts.gates {
        numbers.push(wire(gate.in1.unwrap_or(gate.in0))?);
    }
    let tables = parts.gates.iter().map(|gate| gate.kind.truth_table());
    numbers.extend(tables.map(u64::from));
    for &output in &parts.outputs {
        numbers.push(wire(output)?);
    }
    let mut out = vec![0xdd];
    out.extend((numbers.len() as u32).to_be_bytes());
    for number in numbers {
        match number {
            0..=0x7f => out.push(number as u8),
            0x80..=0xffff => {
                out.push(0xcd);
                out.extend((number as u16).to_be_bytes());
            }
            _ => {
                out.push(0xce);
                out.extend((number as u32).to_be_bytes());
            }
        }
    }
    Ok(out)
}
