//! The machine of FASE, cycle by cycle.
//!
//! The paper leaves open much of what decides a count; these rules give every row of its Table IV
//! in the order of the authors' files, with and without the optimisation (the test `tables`).
//!
//! Gates are issued in order, at most one a cycle. Inputs and constants are free; all other
//! operands are read from the memory of output keys, `in0` by port 0 and `in1` by port 1, both
//! in the same cycle. A gate of type XOR, XNOR or NOT that is issued at `t` writes its key by port
//! 1 at `t + 1`, and it can be read from `t + 2` on; all other gates write by port 0 at `t + 11`,
//! and can be read from `t + 12` on.
//!
//! *Without the optimisation* a gate stalls if a port by which it reads writes in this cycle.
//!
//! *With it* one write can wait in a queue, and a port serves either kind of access:
//!
//! | queue | new writes | taken | the queue afterwards |
//! |---|---|---|---|
//! | empty | none | every gate | empty |
//! | empty | one | every gate | that write, if the gate reads twice |
//! | empty | two | gates that read nothing | empty |
//! | full | none | gates that read at most once | empty |
//! | full | one | no gate | empty |
//! | full | two | no gate | the one of port 1 |
//!
//! A write that goes to the queue can be read one cycle later than otherwise.
//!
//! Flip-flop `i` of `d` is copied at cycle `i - d`, before the gates: it writes by port 1 two
//! cycles later, and can be read in that cycle. If what it copies is an input it does not write. In
//! the first netlist cycle I takes the place of D, and a flip-flop that begins with a constant can
//! be read at once.

use crate::gate::Operand;
use crate::netlist::Netlist;
use sealane_schedule::Pipeline;

/// Cycles from the issue of a gate of type XOR to the write of its key.
pub const XOR_WRITES: u32 = 1;
/// Cycles from the issue of any other gate to the write of its key.
pub const AND_WRITES: u32 = 11;

/// Places of the ring of coming writes: more than the longest latency.
const RING: usize = 16;
/// A port that writes nothing.
const NOTHING: u32 = u32::MAX;
/// A wire whose gate has not been issued.
const NEVER: u32 = u32::MAX;

/// A netlist cycle: the values that flip-flops take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NetlistCycle {
    /// The first one, in which flip-flops take I.
    First,
    /// Any later one, in which they take D.
    Later,
}

/// A variant of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {
    /// Without the optimisation of the memory.
    Plain,
    /// With it.
    Queued,
}

/// The operands of a gate that are read from memory, and its class.
#[derive(Clone, Copy)]
struct Access {
    reads: [Option<u32>; 2],
    /// Bit 0: port 0 reads; bit 1: port 1 reads; bit 2: a gate of type XOR.
    class: u8,
}

/// A netlist as the machine sees it.
pub struct Accesses {
    first: u32,
    gates: Vec<Access>,
    /// For each flip-flop, what it copies, in the first netlist cycle and in later ones.
    flip_flops: Vec<[Operand; 2]>,
    inputs: u32,
}

impl Accesses {
    /// Collects what the machine needs to know of a netlist.
    pub fn of(netlist: &Netlist) -> Accesses {
        let inputs = netlist.inputs();
        let gates = netlist.gates().iter().map(|gate| {
            let in_memory = |operand: Operand| operand.wire().filter(|&wire| wire >= inputs);
            let reads = [in_memory(gate.in0), gate.in1.and_then(in_memory)];
            let bit = |set: bool, at: u8| u8::from(set) << at;
            let class = bit(reads[0].is_some(), 0) | bit(reads[1].is_some(), 1);
            let class = class | bit(gate.kind.is_xor(), 2);
            Access { reads, class }
        });
        let copies = netlist.flip_flops().iter();
        Accesses {
            first: netlist.first_gate(),
            gates: gates.collect(),
            flip_flops: copies.map(|pair| [pair.initial, pair.next]).collect(),
            inputs,
        }
    }

    fn gate(&self, node: u32) -> Access {
        self.gates[(node - self.first) as usize]
    }

    /// Returns the number of accesses of memory by which the gate on this wire reads.
    pub fn reads(&self, node: u32) -> u32 {
        (self.gate(node).class & 3).count_ones()
    }
}

/// The state of the machine before a cycle.
#[derive(Clone)]
pub struct Fase<'a> {
    accesses: &'a Accesses,
    variant: Variant,
    cycle: u32,
    /// From which cycle each wire behind the inputs can be read.
    readable: Vec<u32>,
    /// Coming writes by cycle, modulo the length of the ring: the wire of each port.
    writes: [[u32; 2]; RING],
    queue: u32,
    /// The gate that is issued in this cycle.
    issued: u32,
}

impl<'a> Fase<'a> {
    /// The machine before cycle 0 of a netlist cycle.
    pub fn new(accesses: &'a Accesses, variant: Variant, netlist_cycle: NetlistCycle) -> Fase<'a> {
        let count = accesses.flip_flops.len() + accesses.gates.len();
        let mut fase = Fase {
            accesses,
            variant,
            cycle: 0,
            readable: vec![NEVER; count],
            writes: [[NOTHING; 2]; RING],
            queue: NOTHING,
            issued: NEVER,
        };
        let copies = accesses.flip_flops.len() as i64;
        for (index, copied) in accesses.flip_flops.iter().enumerate() {
            let copied = copied[usize::from(netlist_cycle == NetlistCycle::Later)];
            let written = index as i64 - copies + 2;
            let at_once = netlist_cycle == NetlistCycle::First && copied.wire().is_none();
            fase.readable[index] = if at_once { 0 } else { written.max(0) as u32 };
            let writes = copied.wire().is_some_and(|wire| wire >= accesses.inputs);
            if writes && written >= 0 {
                fase.writes[written as usize][1] = accesses.inputs + index as u32;
            }
        }
        fase
    }

    fn place(&self, wire: u32) -> usize {
        (wire - self.accesses.inputs) as usize
    }

    fn coming(&self, cycles: u32) -> &[u32; 2] {
        &self.writes[(self.cycle + cycles) as usize % RING]
    }

    /// Puts a write that was due in this cycle into the queue.
    fn delay(&mut self, wire: u32) {
        let place = self.place(wire);
        self.readable[place] += 1;
        self.queue = wire;
    }
}

/// Number of situations apart from writes that would meet.
const PLAIN_SITUATIONS: usize = 9;

impl Pipeline for Fase<'_> {
    const CLASSES: usize = 8;

    /// Situations with an empty queue, by new writes (0 to 2) and reads: 0 to 6. With a full one
    /// and no new write, by reads: 7 and 8. The same again if the write of the gate would meet
    /// another. Two reads use a free cycle of both ports best; a write that is queued may be
    /// urgent, and two writes in one cycle keep almost all gates out.
    const LEANINGS: &'static [(i32, i32)] = &[
        (-16, 0),
        (-8, 0),
        (0, 100),
        (-8, 0),
        (0, 8),
        (-30, 0),
        (0, 8),
        (-8, 0),
        (0, 8),
        (-40, 0),
        (-40, 0),
        (-20, 0),
        (-40, 0),
        (-40, 0),
        (-40, 0),
        (-40, 0),
        (-40, 0),
        (-40, 0),
    ];

    fn class(&self, node: u32) -> usize {
        self.accesses.gate(node).class.into()
    }

    fn latency(&self, node: u32) -> u32 {
        match self.accesses.gate(node).class & 4 {
            0 => AND_WRITES + 1,
            _ => XOR_WRITES + 1,
        }
    }

    fn ready(&self, node: u32) -> u32 {
        let reads = self.accesses.gate(node).reads.into_iter().flatten();
        let readable = reads.map(|wire| self.readable[self.place(wire)]);
        readable.max().unwrap_or(0)
    }

    fn situation(&self, class: usize) -> Option<usize> {
        if self.issued != NEVER {
            return None;
        }
        let now = self.coming(0);
        let writes = now.iter().filter(|&&wire| wire != NOTHING).count();
        let reads = (class & 3).count_ones() as usize;
        let situation = match (self.variant, self.queue, writes) {
            (Variant::Plain, ..) => {
                let blocked = |port: usize| class >> port & 1 == 1 && now[port] != NOTHING;
                (!blocked(0) && !blocked(1)).then_some(reads + 3 * writes.min(1))
            }
            (Variant::Queued, NOTHING, 0 | 1) => Some(reads + 3 * writes),
            (Variant::Queued, NOTHING, _) => (reads == 0).then_some(6),
            (Variant::Queued, _, 0) => (reads < 2).then_some(7 + reads),
            (Variant::Queued, ..) => None,
        };
        let meets = class & 4 != 0 && self.coming(XOR_WRITES)[0] != NOTHING;
        situation.map(|situation| situation + if meets { PLAIN_SITUATIONS } else { 0 })
    }

    fn issue(&mut self, node: u32) {
        self.issued = node;
        let (after, port) = match self.accesses.gate(node).class & 4 {
            0 => (AND_WRITES, 0),
            _ => (XOR_WRITES, 1),
        };
        let place = self.place(node);
        self.readable[place] = self.cycle + after + 1;
        self.writes[(self.cycle + after) as usize % RING][port] = node;
    }

    fn step(&mut self) {
        let issued = Some(std::mem::replace(&mut self.issued, NEVER)).filter(|&node| node != NEVER);
        let here = self.cycle as usize % RING;
        let now = std::mem::replace(&mut self.writes[here], [NOTHING; 2]);
        if self.variant == Variant::Queued {
            let full = std::mem::replace(&mut self.queue, NOTHING) != NOTHING;
            let reads = issued.map_or(0, |node| self.accesses.reads(node));
            match (full, now) {
                (false, [wire, NOTHING] | [NOTHING, wire]) if reads == 2 && wire != NOTHING => {
                    self.delay(wire);
                }
                (true, [port0, port1]) if port0 != NOTHING && port1 != NOTHING => {
                    self.delay(port1);
                }
                _ => {}
            }
        }
        self.cycle += 1;
    }
}
