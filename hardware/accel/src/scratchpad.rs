//! Keys in a scratchpad of any size: wires renamed at compile time, and the traffic of memory.
//!
//! [`compile`] takes an order of gates and gives every key a place in a scratchpad, from the issue
//! of its gate, or its first use if it is an input, to its last use. So wires are renamed when the
//! order is made, and the machine looks nothing up. Where the scratchpad is full, the key whose
//! next use is the furthest leaves it (Belady, "A study of replacement algorithms", 1966), which
//! makes the fewest loads for an order. A key is stored once, since it does not change, and only
//! if it is used again; inputs lie in memory from the beginning. After HAAC (Mo, Gopinath and
//! Reagen, ISCA 2023), whose window of wires is managed by the compiler too.
//!
//! Traffic is everything that crosses the memory: tables, the program, labels of inputs, and the
//! stores and loads of keys that did not fit. No order and no scratchpad needs less than the first
//! three: each table is written, each instruction and each label of an input that is used is read.
//! So their sum, [`Traffic::least`], is a bound for the netlist.

use crate::gate::Operand;
use crate::netlist::Netlist;
use std::collections::BinaryHeap;

/// Bytes of a key.
const KEY: u64 = 16;
/// Bytes of the table of an AND: two blocks.
const TABLE: u64 = 32;
/// Bytes of an instruction: an opcode of four bits and three places of up to 20 bits.
const INSTRUCTION: u64 = 8;
/// Most keys in a scratchpad, so that an instruction holds three places.
pub const MOST_PLACES: u32 = 1 << 20;

/// A step of a program. Places are those of the scratchpad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Reads the key of a wire from memory.
    Load {
        /// The wire.
        wire: u32,
        /// Where its key goes.
        place: u32,
    },
    /// Writes the key of a wire to memory.
    Store {
        /// The wire.
        wire: u32,
        /// Where its key is.
        place: u32,
    },
    /// Garbles a gate.
    Gate {
        /// The number of the gate.
        gate: u32,
        /// The places of its operands; nothing for a constant, and for a missing second one.
        operands: [Option<u32>; 2],
        /// Where its key goes. Operands are read before.
        place: u32,
    },
}

/// Bytes that cross the memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Tables of ANDs, written.
    pub tables: u64,
    /// Instructions of gates, read.
    pub program: u64,
    /// Labels of inputs that gates use, read once each.
    pub inputs: u64,
    /// Keys that leave the scratchpad and are used again, with the instructions for it.
    pub stores: u64,
    /// Keys that come back, and inputs that are read again, with the instructions for it.
    pub loads: u64,
}

impl Traffic {
    /// Returns all bytes.
    pub fn all(&self) -> u64 {
        self.least() + self.stores + self.loads
    }

    /// Returns the bytes that every order takes, with any scratchpad.
    pub fn least(&self) -> u64 {
        self.tables + self.program + self.inputs
    }
}

/// An order of gates with places.
#[derive(Clone, Debug)]
pub struct Program {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// The bytes that cross the memory.
    pub traffic: Traffic,
    /// Most keys that are in the scratchpad at once.
    pub most: u32,
}

/// An error of [`compile`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScratchpadError {
    /// The netlist has flip-flops.
    #[error("a program for a scratchpad has no flip-flops, and this netlist has {0}")]
    FlipFlops(usize),
    /// The scratchpad is too small or too large.
    #[error("a scratchpad has from 3 to {MOST_PLACES} places, not {0}")]
    Places(u32),
    /// The order does not name each gate once, behind those that it reads.
    #[error("the order is none of the gates")]
    Order,
}

/// No further use.
const NEVER: u32 = u32::MAX;

/// Gives keys places in a scratchpad of `places` keys, for gates in this order, given by their
/// numbers.
///
/// # Errors
/// If the netlist has flip-flops, the scratchpad holds fewer than three keys or more than
/// [`MOST_PLACES`], or the order is none.
pub fn compile(netlist: &Netlist, order: &[u32], places: u32) -> Result<Program, ScratchpadError> {
    if !netlist.flip_flops().is_empty() {
        return Err(ScratchpadError::FlipFlops(netlist.flip_flops().len()));
    }
    if !(3..=MOST_PLACES).contains(&places) {
        return Err(ScratchpadError::Places(places));
    }
    let mut compiler = Compiler::new(netlist, order, places)?;
    for (time, &gate) in order.iter().enumerate() {
        compiler.gate(time as u32, gate)?;
    }
    let gates = netlist.gates().len() as u64;
    let traffic = &mut compiler.program.traffic;
    traffic.tables = netlist.ands() as u64 * TABLE;
    traffic.program = gates * INSTRUCTION;
    Ok(compiler.program)
}

struct Compiler<'a> {
    netlist: &'a Netlist,
    program: Program,
    /// The places in the order at which each wire is used, the last one first.
    uses: Vec<Vec<u32>>,
    /// The place of each key that is in the scratchpad.
    place: Vec<Option<u32>>,
    in_memory: Vec<bool>,
    made: Vec<bool>,
    free: Vec<u32>,
    /// Keys in the scratchpad by their next use, also entries that are no longer true.
    next: BinaryHeap<(u32, u32)>,
    used: u32,
}

impl<'a> Compiler<'a> {
    fn new(netlist: &'a Netlist, order: &[u32], places: u32) -> Result<Self, ScratchpadError> {
        let mut uses = vec![Vec::new(); netlist.wires() as usize];
        for (time, &gate) in order.iter().enumerate().rev() {
            let gate = netlist.gates().get(gate as usize);
            let gate = gate.ok_or(ScratchpadError::Order)?;
            for wire in gate.operands().filter_map(Operand::wire) {
                uses[wire as usize].push(time as u32);
            }
        }
        if order.len() != netlist.gates().len() {
            return Err(ScratchpadError::Order);
        }
        let wires = netlist.wires() as usize;
        let is_input = (0..netlist.wires()).map(|wire| wire < netlist.inputs());
        let is_input: Vec<bool> = is_input.collect();
        Ok(Compiler {
            netlist,
            program: Program {
                steps: Vec::with_capacity(order.len()),
                traffic: Traffic::default(),
                most: 0,
            },
            uses,
            place: vec![None; wires],
            in_memory: is_input.clone(),
            made: is_input,
            free: (0..places).rev().collect(),
            next: BinaryHeap::new(),
            used: 0,
        })
    }

    fn next_use(&self, wire: u32) -> u32 {
        self.uses[wire as usize].last().copied().unwrap_or(NEVER)
    }

    fn gate(&mut self, time: u32, number: u32) -> Result<(), ScratchpadError> {
        let netlist = self.netlist;
        let gate = netlist.gates()[number as usize];
        let own = netlist.first_gate() + number;
        if std::mem::replace(&mut self.made[own as usize], true) {
            return Err(ScratchpadError::Order);
        }
        let wires = [gate.in0.wire(), gate.in1.and_then(Operand::wire)];
        for wire in wires.into_iter().flatten() {
            if !self.made[wire as usize] || wire == own {
                return Err(ScratchpadError::Order);
            }
            if self.place[wire as usize].is_none() {
                self.load(wire, wires);
            }
        }
        let operands = wires.map(|wire| wire.and_then(|wire| self.place[wire as usize]));
        for wire in wires.into_iter().flatten() {
            let uses = &mut self.uses[wire as usize];
            while uses.last().is_some_and(|&at| at <= time) {
                uses.pop();
            }
            match self.next_use(wire) {
                NEVER => self.leave(wire),
                next => self.next.push((next, wire)),
            }
        }
        let place = self.enter(own, [None; 2]);
        self.program.steps.push(Step::Gate {
            gate: number,
            operands,
            place,
        });
        if self.next_use(own) == NEVER {
            self.leave(own); // An output, whose mask is out.
        }
        Ok(())
    }

    fn load(&mut self, wire: u32, kept: [Option<u32>; 2]) {
        let place = self.enter(wire, kept);
        self.program.steps.push(Step::Load { wire, place });
        // The first load of an input is one that every order has.
        let first = wire < self.netlist.inputs()
            && std::mem::replace(&mut self.in_memory[wire as usize], false);
        let traffic = &mut self.program.traffic;
        if first {
            traffic.inputs += KEY
        } else {
            traffic.loads += KEY + INSTRUCTION
        }
    }

    /// Takes a place for a key, and makes room for it if there is none.
    fn enter(&mut self, wire: u32, kept: [Option<u32>; 2]) -> u32 {
        while self.free.is_empty() {
            let (next, other) = self.next.pop().expect("all places are taken by keys");
            let is_kept = kept.contains(&Some(other));
            let is_there = self.place[other as usize].is_some() && self.next_use(other) == next;
            if !is_there || is_kept {
                continue; // A kept key is entered again when its gate has been issued.
            }
            let stored = &mut self.in_memory[other as usize];
            if other >= self.netlist.inputs() && !std::mem::replace(stored, true) {
                let place = self.place[other as usize].expect("it is there");
                self.program.steps.push(Step::Store { wire: other, place });
                self.program.traffic.stores += KEY + INSTRUCTION;
            }
            self.leave(other);
        }
        let place = self.free.pop().expect("a place was made");
        self.place[wire as usize] = Some(place);
        self.next.push((self.next_use(wire), wire));
        self.used += 1;
        self.program.most = self.program.most.max(self.used);
        place
    }

    fn leave(&mut self, wire: u32) {
        if let Some(place) = self.place[wire as usize].take() {
            self.free.push(place);
            self.used -= 1;
        }
    }
}
