//! A circuit as gates with truth tables, for formats and hardware whose gates may invert.
//!
//! Complemented edges vanish into the tables of the gates that read them, or of the gate behind an
//! output. NOT is a gate only where an output needs the complement of an input, or of a wire that
//! is an output as it is as well.

use crate::builder::{Node, Wire};
use crate::circuit::Circuit;

/// An operand or an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Plain {
    /// A constant.
    Constant(bool),
    /// A wire: inputs first, then the output of each gate.
    Wire(u32),
}

/// A gate of two inputs, or of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TableGate {
    /// First operand.
    pub a: Plain,
    /// Second operand; nothing for NOT, and only for it.
    pub b: Option<Plain>,
    /// Truth table: bit `2 a + b` is the output. For NOT it is 0b0011.
    pub table: u8,
}

/// A circuit as gates with truth tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableGates {
    /// Gates in topological order.
    pub gates: Vec<TableGate>,
    /// Outputs of the circuit, bit by bit.
    pub outputs: Vec<Plain>,
}

/// The truth table of NOT.
const NOT: u8 = 0b0011;

/// A node as it is computed: its wire, and true if that wire carries the complement.
type Made = (Plain, bool);

impl Circuit {
    /// Returns the circuit as gates with truth tables.
    ///
    /// # Panics
    /// If the circuit applies functions as a whole ([`Builder::apply`](crate::Builder::apply)).
    pub fn table_gates(&self) -> TableGates {
        let inputs = self.inputs.iter().sum::<usize>();
        // The polarities in which outputs need each node.
        let mut needed = vec![[false; 2]; self.nodes.len()];
        for wire in self.outputs.iter().flatten() {
            needed[wire.node()][usize::from(wire.is_inverted())] = true;
        }
        let mut gates = Vec::with_capacity(self.nodes.len() - inputs);
        let mut made: Vec<Made> = vec![(Plain::Constant(false), false)];
        made.extend((0..inputs as u32).map(|input| (Plain::Wire(input), false)));
        let push = |gates: &mut Vec<TableGate>, gate| {
            gates.push(gate);
            Plain::Wire((inputs + gates.len() - 1) as u32)
        };
        for (index, &node) in self.nodes.iter().enumerate() {
            let (a, b, and) = match node {
                Node::Source => continue,
                Node::Xor(a, b) => (a, b, false),
                Node::And(a, b) => (a, b, true),
                Node::Applied { .. } => panic!("functions that are applied whole are no gates"),
            };
            let complement = needed[index] == [false, true];
            let read = |wire: Wire| {
                (
                    made[wire.node()].0,
                    made[wire.node()].1 ^ wire.is_inverted(),
                )
            };
            let ((a, a_inverted), (b, b_inverted)) = (read(a), read(b));
            let value = |row: u8| {
                let x = (row >> 1 & 1 == 1) ^ a_inverted;
                let y = (row & 1 == 1) ^ b_inverted;
                complement ^ if and { x & y } else { x ^ y }
            };
            let table = (0..4).fold(0, |table, row| table | u8::from(value(row)) << row);
            let b = Some(b);
            made.push((push(&mut gates, TableGate { a, b, table }), complement));
        }
        let mut inverse = vec![None; self.nodes.len()];
        let mut output = |wire: &Wire| match made[wire.node()] {
            (Plain::Constant(bit), _) => Plain::Constant(bit ^ wire.is_inverted()),
            (plain, inverted) if inverted == wire.is_inverted() => plain,
            (plain, _) => *inverse[wire.node()].get_or_insert_with(|| {
                let not = TableGate {
                    a: plain,
                    b: None,
                    table: NOT,
                };
                push(&mut gates, not)
            }),
        };
        let outputs = self.outputs.iter().flatten().map(&mut output).collect();
        TableGates { gates, outputs }
    }
}
