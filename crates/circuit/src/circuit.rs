//! Finished circuits, and operations on them without a machine: traversal, evaluation, counts.

use crate::builder::{Builder, Node, Wire, Word};
use crate::function::Function;
use crate::tape::{KnownTo, NOBODY};

/// A finished circuit: inputs, gates in topological order, outputs. Made by [`Builder::finish`] or
/// read by [`crate::bristol::read`]; every gate is needed by some output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circuit {
    /// The constant 0, the inputs in order, then gates.
    pub(crate) nodes: Vec<Node>,
    pub(crate) inputs: Vec<usize>,
    pub(crate) outputs: Vec<Word>,
    /// Functions that are computed at once.
    pub(crate) functions: Vec<Function>,
    /// Their applications, in the order of their outputs among the nodes.
    pub(crate) applications: Vec<Application>,
}

/// A function on wires of a circuit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Application {
    /// Index of the function.
    pub function: u32,
    pub operands: Vec<Wire>,
}

/// The size of a circuit, as the Bristol formats count: an inverted wire that is read as such
/// counts as one more gate (INV).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CircuitInfo {
    /// Inputs and gates.
    pub wires: u64,
    /// Gates of every kind.
    pub gates: u64,
    /// AND gates.
    pub ands: u64,
    /// XOR gates.
    pub xors: u64,
    /// AND gates on the longest chain.
    pub depth: u64,
}

impl Circuit {
    /// The width in bits of each input.
    pub fn input_widths(&self) -> &[usize] {
        &self.inputs
    }

    /// The width in bits of each output.
    pub fn output_widths(&self) -> Vec<usize> {
        self.outputs.iter().map(Vec::len).collect()
    }

    /// Evaluates the circuit in the clear: one vector of bits for each input and output, least
    /// significant bit first. [`Tape::eval`](crate::Tape::eval) is the faster way for many lanes.
    ///
    /// # Panics
    /// If the widths of `inputs` are not those of the circuit.
    pub fn eval(&self, inputs: &[Vec<bool>]) -> Vec<Vec<bool>> {
        self.walk(inputs, &mut Clear)
    }

    /// Returns the sizes, as the formats count them.
    pub fn info(&self) -> CircuitInfo {
        let list = self.lower();
        let count = |is: &dyn Fn(&PlainGate) -> bool| {
            list.gates.iter().filter(|gate| is(gate)).count() as u64
        };
        let ands = count(&|gate| gate.is_and());
        let xors = count(&|gate| gate.kind == GateKind::Xor && gate.b != ONE);
        let mut depths = vec![0u64; list.first_gate as usize];
        for gate in &list.gates {
            let of = |wire: u32| depths[wire as usize];
            let before = match gate.kind {
                GateKind::Applied { of: number, .. } => {
                    let operands = list.applied[number as usize].iter();
                    operands.map(|wire| of(*wire)).max().unwrap_or(0)
                }
                _ => of(gate.a).max(of(gate.b)),
            };
            depths.push(before + u64::from(gate.kind != GateKind::Xor));
        }
        let gates = list.gates.len() as u64;
        let inputs = self.inputs.iter().sum::<usize>() as u64;
        let depth = depths.into_iter().max().unwrap_or(0);
        CircuitInfo {
            wires: inputs + gates,
            gates,
            ands,
            xors,
            depth,
        }
    }

    /// Converts the circuit to gates over plain wires, without complemented edges.
    pub(crate) fn lower(&self) -> GateList {
        self.lower_known(&[])
    }

    /// As [`Circuit::lower`], where input bit `i` is known to `known[i]`; further bits are known to
    /// nobody. An AND with an operand that some party knows has it second and not inverted: x AND
    /// NOT y is x XOR (x AND y).
    pub(crate) fn lower_known(&self, known: &[KnownTo]) -> GateList {
        let inputs = self.inputs.iter().sum::<usize>();
        let mut list = GateList {
            inputs: inputs as u32,
            first_gate: inputs as u32 + 2,
            gates: Vec::with_capacity(self.nodes.len() - inputs),
            outputs: Vec::new(),
            applied: Vec::new(),
        };
        let mut plain = vec![ABSENT; self.nodes.len()];
        let mut inverse = vec![ABSENT; self.nodes.len()];
        // The party that knows a node, and a flag: false if the plain node is a sum of that party's
        // inputs, true if it is the complement.
        let mut knows = vec![(NOBODY, false); self.nodes.len()];
        (plain[0], inverse[0]) = (ZERO, ONE);
        for i in 0..inputs {
            plain[1 + i] = 2 + i as u32;
            knows[1 + i].0 = known.get(i).copied().unwrap_or(NOBODY);
        }
        let mut read = |list: &mut GateList, plain: &[u32], wire: Wire| {
            let node = wire.node();
            if wire.is_inverted() && inverse[node] == ABSENT {
                inverse[node] = list.push(GateKind::Xor, plain[node], ONE);
            }
            let of = if wire.is_inverted() { &*inverse } else { plain };
            of[node]
        };
        for (i, &node) in self.nodes.iter().enumerate() {
            match node {
                Node::Source => {}
                Node::Xor(a, b) => {
                    let ((who, odd), (other, other_odd)) = (knows[a.node()], knows[b.node()]);
                    if who == other {
                        let inverted = a.is_inverted() ^ b.is_inverted();
                        knows[i] = (who, odd ^ other_odd ^ inverted);
                    }
                    let (a, b) = (read(&mut list, &plain, a), read(&mut list, &plain, b));
                    plain[i] = list.push(GateKind::Xor, a, b);
                }
                Node::And(a, b) => {
                    let unknown = knows[b.node()].0 == NOBODY;
                    let (a, b) = if unknown { (b, a) } else { (a, b) };
                    let (who, odd) = knows[b.node()];
                    let over = who != NOBODY && (b.is_inverted() ^ odd);
                    let b = b.invert_if(over);
                    let (a, b) = (read(&mut list, &plain, a), read(&mut list, &plain, b));
                    plain[i] = list.push(GateKind::And(who), a, b);
                    if over {
                        plain[i] = list.push(GateKind::Xor, plain[i], a);
                    }
                }
                Node::Applied { of, output } => {
                    if output == 0 {
                        let operands = self.applications[of as usize].operands.iter();
                        let operands = operands.map(|wire| read(&mut list, &plain, *wire));
                        let operands = operands.collect();
                        list.applied.push(operands);
                    }
                    plain[i] = list.push(GateKind::Applied { of, output }, ZERO, ZERO);
                }
            }
        }
        for &wire in self.outputs.iter().flatten() {
            let output = read(&mut list, &plain, wire);
            list.outputs.push(output);
        }
        list
    }

    /// Runs the gates in order over the values of `algebra`.
    pub(crate) fn walk<A: Algebra>(
        &self,
        inputs: &[Vec<A::Value>],
        algebra: &mut A,
    ) -> Vec<Vec<A::Value>> {
        let widths: Vec<usize> = inputs.iter().map(Vec::len).collect();
        let fit = "inputs must have the widths of the circuit";
        assert_eq!(widths, self.inputs, "{fit}");
        let mut values = Vec::with_capacity(self.nodes.len());
        values.push(algebra.zero());
        values.extend(inputs.iter().flatten());
        let read = |algebra: &mut A, values: &[A::Value], wire: Wire| match (
            wire.is_inverted(),
            values[wire.node()],
        ) {
            (true, value) => algebra.not(value),
            (false, value) => value,
        };
        let mut applied = Vec::new();
        for &node in &self.nodes[values.len()..] {
            let value = match node {
                Node::Source => unreachable!("sources come before gates"),
                Node::Xor(a, b) => {
                    let (a, b) = (read(algebra, &values, a), read(algebra, &values, b));
                    algebra.xor(a, b)
                }
                Node::And(a, b) => {
                    let (a, b) = (read(algebra, &values, a), read(algebra, &values, b));
                    algebra.and(a, b)
                }
                Node::Applied { of, output } => {
                    if output == 0 {
                        let Application { function, operands } = &self.applications[of as usize];
                        let operands = operands.iter();
                        let operands = operands.map(|wire| read(algebra, &values, *wire));
                        let operands = operands.collect::<Vec<_>>();
                        applied = algebra.apply(&self.functions[*function as usize], &operands);
                    }
                    applied[output as usize]
                }
            };
            values.push(value);
        }
        let mut word = |word: &Word| word.iter().map(|&w| read(algebra, &values, w)).collect();
        self.outputs.iter().map(&mut word).collect()
    }
}

impl Builder {
    /// Adds the gates of `circuit` on `inputs`, and returns its outputs: circuits compose.
    ///
    /// # Panics
    /// If the widths of `inputs` are not those of the circuit.
    pub fn call(&mut self, circuit: &Circuit, inputs: &[Word]) -> Vec<Word> {
        circuit.walk(inputs, self)
    }
}

/// An algebra in which gates can be computed.
pub(crate) trait Algebra {
    type Value: Copy;
    fn zero(&mut self) -> Self::Value;
    fn not(&mut self, a: Self::Value) -> Self::Value;
    fn xor(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;
    fn and(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;
    fn apply(&mut self, function: &Function, operands: &[Self::Value]) -> Vec<Self::Value>;
}

/// Bits in the clear.
struct Clear;

impl Algebra for Clear {
    type Value = bool;
    fn zero(&mut self) -> bool {
        false
    }
    fn not(&mut self, a: bool) -> bool {
        !a
    }
    fn xor(&mut self, a: bool, b: bool) -> bool {
        a ^ b
    }
    fn and(&mut self, a: bool, b: bool) -> bool {
        a & b
    }
    fn apply(&mut self, function: &Function, operands: &[bool]) -> Vec<bool> {
        let operands = operands.iter().map(|bit| u64::from(*bit));
        let outputs = function.eval(&operands.collect::<Vec<_>>());
        outputs.iter().map(|word| word & 1 == 1).collect()
    }
}

impl Algebra for Builder {
    type Value = Wire;
    fn zero(&mut self) -> Wire {
        Wire::ZERO
    }
    fn not(&mut self, a: Wire) -> Wire {
        !a
    }
    fn xor(&mut self, a: Wire, b: Wire) -> Wire {
        Builder::xor(self, a, b)
    }
    fn and(&mut self, a: Wire, b: Wire) -> Wire {
        Builder::and(self, a, b)
    }
    fn apply(&mut self, function: &Function, operands: &[Wire]) -> Vec<Wire> {
        Builder::apply(self, function, operands)
    }
}

/// Gates over plain wires: 0 and 1 are the constants, then inputs, then one wire for each gate.
/// NOT is an XOR whose second operand is the constant 1.
#[derive(Debug)]
pub(crate) struct GateList {
    pub inputs: u32,
    pub first_gate: u32,
    pub gates: Vec<PlainGate>,
    pub outputs: Vec<u32>,
    /// The operands of each application.
    pub applied: Vec<Vec<u32>>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct PlainGate {
    pub kind: GateKind,
    pub a: u32,
    pub b: u32,
}

/// Kind of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GateKind {
    Xor,
    /// An AND, and the party that knows `b`.
    And(KnownTo),
    /// An output of an application, which has operands of its own.
    Applied {
        of: u32,
        output: u32,
    },
}

impl PlainGate {
    pub fn is_and(&self) -> bool {
        matches!(self.kind, GateKind::And(_))
    }
}

pub(crate) const ZERO: u32 = 0;
pub(crate) const ONE: u32 = 1;
const ABSENT: u32 = u32::MAX;

impl GateList {
    /// Appends a gate.
    fn push(&mut self, kind: GateKind, a: u32, b: u32) -> u32 {
        let wire = u64::from(self.first_gate) + self.gates.len() as u64;
        self.gates.push(PlainGate { kind, a, b });
        u32::try_from(wire).expect("a circuit holds fewer than 2^32 wires")
    }
}
