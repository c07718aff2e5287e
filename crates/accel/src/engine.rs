//! Better engines: more ports, units for XOR beside the pipeline of AND, clients that take turns.
//!
//! The pipeline of AND garbles one gate a cycle, and each unit for XOR one gate of type XOR, XNOR
//! or NOT. Latencies are those of FASE: a result of AND can be read 12 cycles after its issue, one
//! of XOR after 2. Gates are issued in an order that is computed once for a netlist and that does
//! not depend on labels: at each cycle those that are ready, the longest way to the end first.
//!
//! *Banks.* Keys of flip-flops and gates lie in banks. A bank is a memory of two copies, which is
//! read at two addresses in a cycle and written at one; several gates may take what is read. The
//! order also decides in which bank a key lies: never where another one is written in the same
//! cycle, and preferably not with the keys that are read beside it. Inputs and constants lie in
//! memories of their own, as in FASE. Without banks, all units read and write at once.
//!
//! *Clients.* Several clients garble the same netlist, each with keys of its own in its part of
//! each bank. Gates of all clients compete for units and banks.
//!
//! *Flip-flops.* D of this cycle is Q of the next: two halves of the memory take turns, and nothing
//! is copied, if the gate behind D writes to the bank of Q. All other flip-flops are counted as
//! *moves*: a read and a write each, in cycles in which a unit for XOR is idle.

use crate::fase::{AND_WRITES, XOR_WRITES};
use crate::gate::Operand;
use crate::netlist::Netlist;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Engine {
    /// Units for XOR beside the pipeline; 0 if the pipeline takes gates of all types, one a cycle.
    pub xor_units: u32,
    /// Banks of the key memory; 0 if it has ports for all units.
    pub banks: u32,
    /// Clients that garble the same netlist.
    pub clients: u32,
}

impl Engine {
    /// A key memory with two ports for reading and two for writing.
    pub const PORTS: Engine = Engine {
        xor_units: 0,
        banks: 0,
        clients: 1,
    };
    /// One unit for XOR beside the pipeline.
    pub const ONE_XOR: Engine = Engine {
        xor_units: 1,
        ..Engine::PORTS
    };
    /// Three units for XOR, and eight banks.
    pub const BANKED: Engine = Engine {
        xor_units: 3,
        banks: 8,
        clients: 1,
    };
}

/// Most clients that take turns.
pub const MOST_CLIENTS: u32 = 32;

/// Cycles of a netlist cycle of all clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineCycles {
    /// Cycles from the first to the last issue of a gate.
    pub garbling: u64,
    /// Issues of the pipeline.
    pub issues: u64,
    /// Issues that a bank put off, summed over cycles.
    pub bank_conflicts: u64,
    /// Keys of flip-flops that have to be moved.
    pub moves: u64,
}

impl EngineCycles {
    /// Returns the part of the cycles in which the pipeline takes a gate.
    pub fn busy(&self) -> f64 {
        self.issues as f64 / self.garbling.max(1) as f64
    }
}

/// Gates that a bank puts off before the cycle is given up for others.
const MOST_TRIES: usize = 24;

/// Counts the cycles of a netlist cycle in the order described above.
pub fn simulate(netlist: &Netlist, engine: Engine) -> EngineCycles {
    Simulation::new(netlist, engine).run()
}

/// A gate of a client that waits: its way to the end, then client and gate, the first ones first.
type Waiting = (u32, Reverse<(u32, u32)>);

/// Keys, of a client and a wire, that a bank reads in a cycle, by port.
type Reads = [Option<(u32, u32)>; 2];

struct Simulation<'a> {
    netlist: &'a Netlist,
    engine: Engine,
    /// Way of each gate to the end, in latencies.
    ways: Vec<u32>,
    /// Gates that read each wire behind the inputs.
    readers: Vec<Vec<u32>>,
    /// The flip-flop behind whose D the gate is, if one is.
    next_of: Vec<Option<u32>>,
    /// For each client and wire behind the inputs, its bank.
    bank: Vec<u8>,
    /// Operands of each gate of each client that are not there yet.
    missing: Vec<u8>,
    /// From which cycle on the operands that are there can be read.
    readable: Vec<usize>,
    /// Gates that become ready, by cycle modulo the length of the ring.
    coming: Vec<Vec<Waiting>>,
    /// Banks that are written, by cycle modulo the length of the ring, as bits.
    writes: Vec<u64>,
    ready: [BinaryHeap<Waiting>; 2],
    figures: EngineCycles,
}

/// More cycles than the longest latency.
const RING: usize = 16;
/// A wire whose key is not placed yet.
const NOWHERE: u8 = u8::MAX;

impl<'a> Simulation<'a> {
    fn new(netlist: &'a Netlist, engine: Engine) -> Simulation<'a> {
        let (inputs, gates) = (netlist.inputs(), netlist.gates());
        let wires = (netlist.wires() - inputs) as usize;
        let flip_flops = netlist.flip_flops().len();
        let clients = engine.clients.clamp(1, MOST_CLIENTS) as usize;
        let mut readers = vec![Vec::new(); wires];
        let mut ways = vec![0u32; gates.len()];
        for (gate, parts) in gates.iter().enumerate().rev() {
            ways[gate] += latency(netlist, gate);
            for wire in parts.operands().filter_map(Operand::wire) {
                let Some(place) = wire.checked_sub(inputs) else {
                    continue;
                };
                readers[place as usize].push(gate as u32);
                if let Some(before) = wire.checked_sub(netlist.first_gate()) {
                    let way = ways[gate].max(ways[before as usize]);
                    ways[before as usize] = way;
                }
            }
        }
        let mut next_of = vec![None; gates.len()];
        let mut moves = 0;
        for (flip_flop, pair) in netlist.flip_flops().iter().enumerate() {
            let gate = pair
                .next
                .wire()
                .and_then(|wire| wire.checked_sub(netlist.first_gate()));
            match gate.map(|gate| &mut next_of[gate as usize]) {
                Some(free @ None) => *free = Some(flip_flop as u32),
                _ => moves += clients as u64,
            }
        }
        let mut bank = vec![NOWHERE; clients * wires];
        for client in 0..clients {
            for flip_flop in 0..flip_flops {
                let place = (flip_flop + 5 * client) as u32 % engine.banks.max(1);
                bank[client * wires + flip_flop] = place as u8;
            }
        }
        let from_gates = |gate: usize| {
            let operands = gates[gate].operands().filter_map(Operand::wire);
            operands
                .filter(|&wire| wire >= netlist.first_gate())
                .count() as u8
        };
        let missing: Vec<u8> = (0..gates.len()).map(from_gates).collect();
        let mut ready = [BinaryHeap::new(), BinaryHeap::new()];
        for client in 0..clients as u32 {
            for (gate, _) in missing
                .iter()
                .enumerate()
                .filter(|(_, missing)| **missing == 0)
            {
                let unit = usize::from(engine.xor_units > 0 && gates[gate].kind.is_xor());
                ready[unit].push((ways[gate], Reverse((client, gate as u32))));
            }
        }
        Simulation {
            netlist,
            engine,
            ways,
            readers,
            next_of,
            bank,
            readable: vec![0; missing.len() * clients],
            missing: missing.repeat(clients),
            coming: vec![Vec::new(); RING],
            writes: vec![0; RING],
            ready,
            figures: EngineCycles {
                garbling: 0,
                issues: 0,
                bank_conflicts: 0,
                moves,
            },
        }
    }

    fn run(mut self) -> EngineCycles {
        let gates = self.netlist.gates();
        let mut left = self.missing.len();
        let mut cycle = 0;
        while left > 0 {
            for waiting in std::mem::take(&mut self.coming[cycle % RING]) {
                let xor = gates[waiting.1.0.1 as usize].kind.is_xor();
                let unit = usize::from(self.engine.xor_units > 0 && xor);
                self.ready[unit].push(waiting);
            }
            self.writes[(cycle + RING - 1) % RING] = 0;
            let mut reads: Vec<Reads> = vec![[None; 2]; self.engine.banks as usize];
            let mut issued = 0;
            for (unit, most) in [(0, 1), (1, self.engine.xor_units as usize)] {
                let count = self.issue(cycle, unit, most, &mut reads);
                issued += count;
                if unit == 0 {
                    self.figures.issues += count as u64;
                }
            }
            left -= issued;
            cycle += 1;
        }
        self.figures.garbling = cycle as u64;
        self.figures
    }

    /// Issues at most `most` gates of a unit; returns how many.
    fn issue(&mut self, cycle: usize, unit: usize, most: usize, reads: &mut [Reads]) -> usize {
        let (mut issued, mut off) = (0, Vec::new());
        while issued < most && off.len() < MOST_TRIES {
            let Some(waiting) = self.ready[unit].pop() else {
                break;
            };
            let Reverse((client, gate)) = waiting.1;
            match self.take(client, gate, reads) {
                true => {
                    issued += 1;
                    self.place(cycle, client, gate);
                    self.tell(cycle, client, gate);
                }
                false => off.push(waiting),
            }
        }
        self.figures.bank_conflicts += off.len() as u64;
        self.ready[unit].extend(off);
        issued
    }

    /// Takes the ports of banks by which a gate reads its operands, if they are free.
    fn take(&self, client: u32, gate: u32, reads: &mut [Reads]) -> bool {
        if reads.is_empty() {
            return true;
        }
        let inputs = self.netlist.inputs();
        let wires = self.netlist.gates()[gate as usize].operands();
        let mut taken = Vec::with_capacity(2);
        for wire in wires
            .filter_map(Operand::wire)
            .filter(|&wire| wire >= inputs)
        {
            let (bank, key) = (self.bank_of(client, wire), (client, wire));
            // A port that reads this key already serves this gate too.
            if reads[bank].contains(&Some(key)) {
                continue;
            }
            let Some(port) = reads[bank].iter().position(Option::is_none) else {
                taken
                    .into_iter()
                    .for_each(|(bank, port): (usize, usize)| reads[bank][port] = None);
                return false;
            };
            reads[bank][port] = Some(key);
            taken.push((bank, port));
        }
        true
    }

    fn index(&self, client: u32, wire: u32) -> usize {
        let wires = (self.netlist.wires() - self.netlist.inputs()) as usize;
        client as usize * wires + (wire - self.netlist.inputs()) as usize
    }

    fn bank_of(&self, client: u32, wire: u32) -> usize {
        self.bank[self.index(client, wire)].into()
    }

    /// Decides in which bank the key of a gate is written.
    fn place(&mut self, cycle: usize, client: u32, gate: u32) {
        let banks = self.engine.banks;
        if banks == 0 {
            return;
        }
        let wire = self.netlist.first_gate() + gate;
        let written = (cycle + latency(self.netlist, gate as usize) as usize - 1) % RING;
        let taken = self.writes[written];
        let wanted = self.next_of[gate as usize]
            .map(|flip_flop| self.bank_of(client, self.netlist.inputs() + flip_flop) as u32);
        // Readers whose other operand lies in each bank.
        let mut beside = vec![0u32; banks as usize];
        for &reader in &self.readers[(wire - self.netlist.inputs()) as usize] {
            let operands = self.netlist.gates()[reader as usize].operands();
            for other in operands
                .filter_map(Operand::wire)
                .filter(|&other| other != wire)
            {
                if other >= self.netlist.inputs() && self.bank[self.index(client, other)] != NOWHERE
                {
                    beside[self.bank_of(client, other)] += 1;
                }
            }
        }
        let free = |bank: &u32| taken >> bank & 1 == 0;
        let turn = (wire.wrapping_mul(7).wrapping_add(client)) % banks;
        let cost = |bank: &u32| {
            let other_half = u32::from(wanted.is_some_and(|wanted| wanted != *bank));
            (
                beside[*bank as usize] + other_half,
                (*bank + banks - turn) % banks,
            )
        };
        let bank = (0..banks).filter(free).min_by_key(cost);
        let bank = bank.expect("there are more banks than writes in a cycle");
        self.figures.moves += u64::from(wanted.is_some_and(|wanted| wanted != bank));
        self.writes[written] |= 1 << bank;
        let index = self.index(client, wire);
        self.bank[index] = bank as u8;
    }

    /// Tells the readers of a gate when its key can be read.
    fn tell(&mut self, cycle: usize, client: u32, gate: u32) {
        let gates = self.netlist.gates().len();
        let wire = self.netlist.first_gate() + gate - self.netlist.inputs();
        let at = cycle + latency(self.netlist, gate as usize) as usize;
        for &reader in &self.readers[wire as usize] {
            let place = client as usize * gates + reader as usize;
            self.missing[place] -= 1;
            self.readable[place] = self.readable[place].max(at);
            if self.missing[place] == 0 {
                let at = self.readable[place] % RING;
                self.coming[at].push((self.ways[reader as usize], Reverse((client, reader))));
            }
        }
    }
}

/// Cycles from the issue of a gate until its key can be read.
fn latency(netlist: &Netlist, gate: usize) -> u32 {
    match netlist.gates()[gate].kind.is_xor() {
        true => XOR_WRITES + 1,
        false => AND_WRITES + 1,
    }
}
