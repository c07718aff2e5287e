//! The builder: gates over wires, each made at most once.
//!
//! A circuit under construction is a graph of XOR and AND with complemented edges: a [`Wire`] names
//! a node and says whether it is inverted, so NOT costs nothing and a function has fewer
//! representations. Each new gate is folded against constants and against the gates it reads, then
//! looked up among those that exist.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Not;

use serde::Serialize;

use crate::circuit::{Application, Circuit};
use crate::function::Function;
use crate::word::Plans;

/// A wire of a [`Builder`], or its complement (`!wire`). It is a small number; using it with
/// another builder than the one that made it gives wrong circuits or a panic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Wire(u32);

/// A word: wires, least significant bit first.
pub type Word = Vec<Wire>;

impl Wire {
    /// The constant 0.
    pub const ZERO: Wire = Wire(0);
    /// The constant 1.
    pub const ONE: Wire = Wire(1);

    /// The constant `bit`.
    pub const fn constant(bit: bool) -> Wire {
        Wire(bit as u32)
    }

    /// The value of a constant wire, or `None`.
    pub const fn as_constant(self) -> Option<bool> {
        match self {
            Wire::ZERO => Some(false),
            Wire::ONE => Some(true),
            _ => None,
        }
    }

    pub(crate) fn node(self) -> usize {
        self.0 as usize >> 1
    }

    pub(crate) fn is_inverted(self) -> bool {
        self.0 & 1 == 1
    }

    pub(crate) fn of_node(node: usize) -> Wire {
        let node = u32::try_from(node).ok().filter(|&n| n < 1 << 31);
        Wire(node.expect("a circuit holds fewer than 2^31 gates") << 1)
    }

    /// The wire without its inversion.
    pub(crate) fn plain(self) -> Wire {
        Wire(self.0 & !1)
    }

    pub(crate) fn invert_if(self, bit: bool) -> Wire {
        Wire(self.0 ^ bit as u32)
    }
}

impl Not for Wire {
    type Output = Wire;

    fn not(self) -> Wire {
        Wire(self.0 ^ 1)
    }
}

/// A node of the graph. Node 0 is the constant 0; operands come before the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    /// A constant or an input.
    Source,
    /// At most one operand is inverted.
    Xor(Wire, Wire),
    And(Wire, Wire),
    /// An output of an application; all its outputs follow each other.
    Applied {
        /// The application.
        of: u32,
        /// The output.
        output: u32,
    },
}

/// Gates by their operands. They are looked up millions of times, so that the usual hash, which
/// resists chosen keys, would be a third of the time of planning.
type Gates = HashMap<(Wire, Wire), Wire, BuildHasherDefault<WireHasher>>;

/// Hash of a few wires: a product with an odd constant, whose high half depends on all bits.
#[derive(Clone, Default)]
struct WireHasher(u64);

impl Hasher for WireHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u32((*byte).into()));
    }
    fn write_u32(&mut self, wire: u32) {
        self.0 = (self.0.rotate_left(32) ^ u64::from(wire)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    fn finish(&self) -> u64 {
        self.0.rotate_left(32)
    }
}

/// The cost that the standard functions of a [`Builder`] minimise. The computed values are the
/// same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Goal {
    /// The number of AND gates: for protocols that pay for each of them and wait for none, such as
    /// garbling.
    #[default]
    Size,
    /// The multiplicative depth (AND gates on the longest chain), then the number of AND gates: for
    /// protocols that take a round for each level.
    Depth,
}

/// How lookups in tables of constants are built ([`Builder::lookup`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lookups {
    /// As gates: for every machine.
    #[default]
    Gates,
    /// A table that is an inverse in GF(2^8) but for an affine map, such as the S-box of AES, as
    /// functions of few bits in three levels; all others as gates. For machines that compute a
    /// [`Function`].
    Tower,
    /// As [`Lookups::Tower`], in two levels.
    ShortTower,
    /// Tables of up to 10 bits of index as one function, in one level. For the same machines.
    Tables,
    /// S-boxes as those towers by gates that have operands in common ([`crate::aes`]), if depth is
    /// the goal: more levels than [`Lookups::Gates`], for fewer bits. For every machine.
    Wide,
}

/// Builder of circuits, gate by gate.
///
/// ```
/// use sealane_circuit::{Builder, Int, Machine, compile};
/// let mut b = Builder::new();
/// let (x, y) = (b.input(8), b.input(8));
/// let sum = b.add(Int::unsigned(&x), Int::unsigned(&y), 9);
/// let circuit = b.finish(vec![sum]);
/// assert_eq!(circuit.info().ands, 8);
/// let tape = compile(&circuit, &Machine::CPU);
/// assert_eq!(tape.inputs, 16);
/// ```
#[derive(Clone, Debug)]
pub struct Builder {
    nodes: Vec<Node>,
    /// For each node, the AND gates on the longest chain that ends with it.
    depths: Vec<u32>,
    /// The first wire and the width of each input.
    inputs: Vec<(usize, usize)>,
    /// The XOR of two wires that are not inverted.
    xors: Gates,
    ands: Gates,
    functions: Vec<Function>,
    applications: Vec<Application>,
    /// The first output of each application, by its function and operands.
    applied: HashMap<Application, usize>,
    goal: Goal,
    /// Joins by which all but the last prefix of a scan may be deeper than they have to be.
    slack: u32,
    lookups: Lookups,
    /// Sizes of fields whose products stay whole.
    products: &'static [usize],
    /// The chosen multiplication methods, by widths.
    pub(crate) plans: Plans,
}

impl Default for Builder {
    fn default() -> Builder {
        Builder::new()
    }
}

impl Builder {
    /// Creates a builder without inputs and gates, for [`Goal::Size`].
    pub fn new() -> Builder {
        Builder::for_goal(Goal::Size)
    }

    /// Creates a builder without inputs and gates, whose standard functions minimise `goal`.
    pub fn for_goal(goal: Goal) -> Builder {
        Builder {
            goal,
            slack: 0,
            lookups: Lookups::Gates,
            products: &[],
            functions: Vec::new(),
            applications: Vec::new(),
            applied: HashMap::new(),
            nodes: vec![Node::Source],
            depths: vec![0],
            inputs: Vec::new(),
            xors: Gates::default(),
            ands: Gates::default(),
            plans: Plans::default(),
        }
    }

    /// Returns the cost that the standard functions minimise.
    pub fn goal(&self) -> Goal {
        self.goal
    }

    /// Builds a part of a circuit in which adders, and all else that [`scan`](Builder::scan)s, may
    /// have bits that are so many joins deeper, but for the highest one: they take fewer ANDs. For
    /// [`Goal::Size`] nothing changes.
    pub fn with_slack<T>(&mut self, slack: u32, build: impl FnOnce(&mut Builder) -> T) -> T {
        let before = std::mem::replace(&mut self.slack, slack);
        let built = build(self);
        self.slack = before;
        built
    }

    pub(crate) fn slack(&self) -> u32 {
        self.slack
    }

    /// Builds lookups in another form from now on.
    pub fn with_lookups(mut self, lookups: Lookups) -> Builder {
        self.lookups = lookups;
        self
    }

    /// Returns the form of lookups.
    pub fn lookups(&self) -> Lookups {
        self.lookups
    }

    /// Leaves products in fields of so many bits whole from now on, and no others: for machines
    /// that compute [`Function::Field`] of these. [`Field::SIZES`] are all.
    ///
    /// [`Field::SIZES`]: crate::function::Field::SIZES
    pub fn with_products(mut self, sizes: &'static [usize]) -> Builder {
        self.products = sizes;
        self
    }

    /// Returns whether products in fields of so many bits stay whole.
    pub(crate) fn multiplies(&self, bits: usize) -> bool {
        self.products.contains(&bits)
    }

    /// Applies a function as a whole, for machines that compute functions at once.
    ///
    /// # Panics
    /// If the function has another number of inputs.
    pub fn apply(&mut self, function: &Function, operands: &[Wire]) -> Word {
        let count = operands.len();
        assert_eq!(function.inputs(), count, "the inputs of a function");
        let known = self.functions.iter().position(|known| known == function);
        let number = known.unwrap_or_else(|| {
            self.functions.push(function.clone());
            self.functions.len() - 1
        });
        let application = Application {
            function: number as u32,
            operands: operands.to_vec(),
        };
        let outputs = function.outputs();
        let first = match self.applied.get(&application) {
            Some(first) => *first,
            None => {
                let (of, first) = (self.applications.len() as u32, self.nodes.len());
                self.applications.push(application.clone());
                self.applied.insert(application, first);
                for output in 0..outputs as u32 {
                    self.push(Node::Applied { of, output });
                }
                first
            }
        };
        (first..first + outputs).map(Wire::of_node).collect()
    }

    /// Adds the next input of the circuit, `width` bits wide.
    pub fn input(&mut self, width: usize) -> Word {
        let first = self.nodes.len();
        self.inputs.push((first, width));
        (0..width).map(|_| self.push(Node::Source)).collect()
    }

    /// The constant `value` modulo 2^`width`; bits beyond 128 repeat the sign.
    pub fn constant(&self, value: i128, width: usize) -> Word {
        (0..width)
            .map(|i| Wire::constant(value >> i.min(127) & 1 == 1))
            .collect()
    }

    /// Returns the number of inputs and gates made so far, for callers that bound what they build.
    pub fn gates(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the number of AND gates on the longest chain that ends with `wire`.
    pub(crate) fn depth(&self, wire: Wire) -> u32 {
        self.depths[wire.node()]
    }

    /// Exclusive or.
    pub fn xor(&mut self, a: Wire, b: Wire) -> Wire {
        let (a, b) = (a.min(b), a.max(b));
        if a.node() == b.node() || a.as_constant().is_some() {
            // x ^ x is 0, x ^ !x is 1; 0 ^ x is x, 1 ^ x is !x.
            let rest = if a.node() == b.node() {
                Wire::ZERO
            } else {
                b.plain()
            };
            return rest.invert_if(a.is_inverted() ^ b.is_inverted());
        }
        // (x ^ y) ^ x is y.
        for (gate, other) in [(a, b), (b, a)] {
            if let Node::Xor(x, y) = self.nodes[gate.node()] {
                for (same, rest) in [(x, y), (y, x)] {
                    if same.node() == other.node() {
                        let flips = [gate, other, same].map(Wire::is_inverted);
                        return rest.invert_if(flips[0] ^ flips[1] ^ flips[2]);
                    }
                }
            }
        }
        // Gates that differ in complements are shared. The gate is made as it was first requested:
        // code that inverts once and reads often gets one NOT, before the gate, and not one for
        // each reader.
        let key = (a.plain(), b.plain());
        let inverted = a.is_inverted() ^ b.is_inverted();
        if let Some(&known) = self.xors.get(&key) {
            return known.invert_if(inverted);
        }
        let gate = if inverted {
            Node::Xor(a, b)
        } else {
            Node::Xor(key.0, key.1)
        };
        let wire = self.push(gate);
        self.xors.insert(key, wire.invert_if(inverted));
        wire
    }

    /// And.
    pub fn and(&mut self, a: Wire, b: Wire) -> Wire {
        let (a, b) = (a.min(b), a.max(b));
        if a == !b || a == Wire::ZERO {
            return Wire::ZERO;
        }
        if a == b || a == Wire::ONE {
            return b;
        }
        // x & (x & y) is x & y, and !x & (x & y) is 0; with the inner gate inverted, x & !(x & y)
        // is x & !y, and !x & !(x & y) is !x.
        for (gate, other) in [(a, b), (b, a)] {
            if let Node::And(x, y) = self.nodes[gate.node()] {
                let (same, opposite) = (x == other || y == other, x == !other || y == !other);
                match gate.is_inverted() {
                    false if same => return gate,
                    false if opposite => return Wire::ZERO,
                    true if opposite => return other,
                    true if same => {
                        let rest = if x == other { y } else { x };
                        return self.and(other, !rest);
                    }
                    _ => {}
                }
            }
        }
        if let Some(&known) = self.ands.get(&(a, b)) {
            return known;
        }
        let wire = self.push(Node::And(a, b));
        self.ands.insert((a, b), wire);
        wire
    }

    /// Or: one AND, by De Morgan.
    pub fn or(&mut self, a: Wire, b: Wire) -> Wire {
        !self.and(!a, !b)
    }

    /// `yes` where `condition` is 1, else `no`: one AND.
    pub fn mux(&mut self, condition: Wire, yes: Wire, no: Wire) -> Wire {
        if condition.is_inverted() {
            return self.mux(!condition, no, yes);
        }
        let differ = self.xor(yes, no);
        let change = self.and(condition, differ);
        self.xor(change, no)
    }

    /// The majority of three bits: one AND.
    pub fn majority(&mut self, a: Wire, b: Wire, c: Wire) -> Wire {
        // Two of three wires are inverted alike: call them q and r, the third p. The majority is q
        // where p and q agree, else r; and read the other way, r where !p and q agree, else q. One
        // of the two readings needs no NOT, so borrows cost what carries do.
        let (p, q, r) = match [a, b, c].map(Wire::is_inverted) {
            [a_inverted, b_inverted, _] if a_inverted == b_inverted => (c, b, a),
            [a_inverted, _, c_inverted] if a_inverted == c_inverted => (b, a, c),
            _ => (a, b, c),
        };
        let (p, pivot) = if p.is_inverted() == q.is_inverted() {
            (p, q)
        } else {
            (!p, r)
        };
        let (pq, qr) = (self.xor(p, q), self.xor(q, r));
        let change = self.and(pq, qr);
        self.xor(change, pivot)
    }

    /// Finishes the circuit that computes `outputs`. Gates on which no output depends are left out;
    /// all inputs stay.
    pub fn finish(self, outputs: Vec<Word>) -> Circuit {
        let mut live = vec![false; self.nodes.len()];
        outputs
            .iter()
            .flatten()
            .for_each(|wire| live[wire.node()] = true);
        // All outputs of an application live if one does.
        let mut applied = vec![false; self.applications.len()];
        for (i, node) in self.nodes.iter().enumerate().rev() {
            match node {
                Node::Xor(a, b) | Node::And(a, b) if live[i] => {
                    live[a.node()] = true;
                    live[b.node()] = true;
                }
                Node::Applied { of, .. } if live[i] => {
                    applied[*of as usize] = true;
                    let operands = &self.applications[*of as usize].operands;
                    operands.iter().for_each(|wire| live[wire.node()] = true);
                }
                _ => {}
            }
        }
        for (live, node) in live.iter_mut().zip(&self.nodes) {
            if let Node::Applied { of, .. } = node {
                *live = applied[*of as usize];
            }
        }
        // These are larger than all that follows.
        drop((self.xors, self.ands));
        // The new numbers: the constant, the inputs in order, then the gates that are left.
        let mut renamed = vec![Wire::ZERO; self.nodes.len()];
        let sources = self
            .inputs
            .iter()
            .flat_map(|&(first, width)| first..first + width);
        let mut count = 1;
        for source in sources {
            renamed[source] = Wire::of_node(count);
            count += 1;
        }
        let new = |renamed: &[Wire], w: Wire| renamed[w.node()].invert_if(w.is_inverted());
        let mut nodes = vec![Node::Source; count];
        let mut applications: Vec<Application> = Vec::new();
        for (i, &node) in self.nodes.iter().enumerate().filter(|&(i, _)| live[i]) {
            let node = match node {
                Node::Source => continue,
                Node::Xor(a, b) => Node::Xor(new(&renamed, a), new(&renamed, b)),
                Node::And(a, b) => Node::And(new(&renamed, a), new(&renamed, b)),
                Node::Applied { of, output } => {
                    if output == 0 {
                        let Application { function, operands } = &self.applications[of as usize];
                        applications.push(Application {
                            function: *function,
                            operands: operands.iter().map(|wire| new(&renamed, *wire)).collect(),
                        });
                    }
                    let of = applications.len() as u32 - 1;
                    Node::Applied { of, output }
                }
            };
            renamed[i] = Wire::of_node(nodes.len());
            nodes.push(node);
        }
        let rename = |word: Word| word.into_iter().map(|w| new(&renamed, w)).collect();
        Circuit {
            nodes,
            inputs: self.inputs.into_iter().map(|(_, width)| width).collect(),
            outputs: outputs.into_iter().map(rename).collect(),
            functions: self.functions,
            applications,
        }
    }

    fn push(&mut self, node: Node) -> Wire {
        let wire = Wire::of_node(self.nodes.len());
        let before = |b: &Builder, x: Wire, y: Wire| b.depth(x).max(b.depth(y));
        self.depths.push(match node {
            Node::Source => 0,
            Node::Xor(x, y) => before(self, x, y),
            Node::And(x, y) => before(self, x, y) + 1,
            Node::Applied { of, .. } => {
                let operands = self.applications[of as usize].operands.iter();
                1 + operands.map(|wire| self.depth(*wire)).max().unwrap_or(0)
            }
        });
        self.nodes.push(node);
        wire
    }
}
