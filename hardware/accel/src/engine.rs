//! Better engines: more ports and units, several pipelines of AND, clients that take turns.
//!
//! A pipeline of AND garbles one gate a cycle, and each unit for XOR one gate of type XOR, XNOR
//! or NOT. Latencies are those of FASE: a result of AND can be read 12 cycles after its issue, one
//! of XOR after 2. Gates are issued in an order that is computed once for a netlist and that does
//! not depend on labels. It is a list schedule of crate `schedule` inside this model, by the
//! longest way to the end, or the best of many.
//!
//! *Banks.* Keys of flip-flops and gates lie in banks. A bank is a memory of two copies, which is
//! read at two addresses in a cycle and written at one; several gates may take what is read. The
//! order also decides in which bank a key lies: never where another one is written in the same
//! cycle, and preferably not with the keys that are read beside it. Inputs and constants lie in
//! memories of their own, as in FASE. Without banks, all units read and write at once.
//!
//! *Engines.* Several engines, each a pipeline with its units and banks, share all banks: after
//! HAAC (Mo, Gopinath and Reagen, ISCA 2023), whose engines share a scratchpad. An engine takes the
//! gates that its place in the order gives it.
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
use sealane_schedule::{Effort, Graph, Issue, NodeCost, Pipeline, Priority, prioritised};

/// A machine of engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Engine {
    /// Pipelines of AND, each with its units and banks; at least 1 is used, and at most
    /// [`MOST_ENGINES`].
    pub engines: u32,
    /// Units for XOR beside each pipeline; 0 if the pipeline takes gates of all types, one a cycle.
    pub xor_units: u32,
    /// Banks of the key memory for each pipeline, at least one more than its units; 0 if the memory
    /// has ports for all units.
    pub banks: u32,
    /// Clients that garble the same netlist.
    pub clients: u32,
}

impl Engine {
    /// A key memory with two ports for reading and two for writing.
    pub const PORTS: Engine = Engine::with(0, 0);
    /// One unit for XOR beside the pipeline.
    pub const ONE_XOR: Engine = Engine::with(1, 0);
    /// Three units for XOR, and eight banks.
    pub const BANKED: Engine = Engine::with(3, 8);
    /// Four units for XOR, and eight banks.
    pub const FOUR_XOR: Engine = Engine::with(4, 8);
    /// Six units for XOR, and sixteen banks: enough for netlists with few ANDs.
    pub const SIX_XOR: Engine = Engine::with(6, 16);

    /// One pipeline, for one client.
    const fn with(xor_units: u32, banks: u32) -> Engine {
        Engine {
            engines: 1,
            xor_units,
            banks,
            clients: 1,
        }
    }

    /// Returns the gates that a unit of this class takes in a cycle: ANDs, and gates of type XOR.
    pub(crate) fn units(&self, class: usize) -> u32 {
        let each = [1, self.xor_units][class];
        each * self.engines.clamp(1, MOST_ENGINES)
    }
}

/// Most clients that take turns.
pub const MOST_CLIENTS: u32 = 32;
/// Most engines that share a memory.
pub const MOST_ENGINES: u32 = 8;

/// Cycles of a netlist cycle of all clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineCycles {
    /// Cycles from the first to the last issue of a gate.
    pub garbling: u64,
    /// Issues of the pipelines.
    pub issues: u64,
    /// Pipelines.
    pub engines: u32,
    /// Keys of flip-flops that have to be moved.
    pub moves: u64,
}

impl EngineCycles {
    /// Returns the part of the cycles in which a pipeline takes a gate.
    pub fn busy(&self) -> f64 {
        self.issues as f64 / (self.garbling.max(1) * u64::from(self.engines)) as f64
    }
}

/// The seed of the search for the best order.
const SEED: u64 = 20;

/// Counts the cycles of a netlist cycle in a list schedule by the longest way to the end.
pub fn simulate(netlist: &Netlist, engine: Engine) -> EngineCycles {
    simulate_best(netlist, engine, 1)
}

/// Counts the cycles of a netlist cycle in the best of `tries` list schedules.
pub fn simulate_best(netlist: &Netlist, engine: Engine, tries: u32) -> EngineCycles {
    let work = Work::new(netlist, engine);
    let issues = work.order(tries);
    work.cycles(&issues)
}

/// Tries that take a few seconds at most in a build for users, also for large netlists.
pub fn usual_tries(netlist: &Netlist, clients: u32) -> u32 {
    let gates = netlist.gates().len().max(1) as u64 * u64::from(clients.max(1));
    (3_000_000 / gates).clamp(4, 400) as u32
}

/// A netlist as engines see it.
pub struct Work<'a> {
    netlist: &'a Netlist,
    engine: Engine,
    /// A node for each gate of each client; sources are inputs and flip-flops.
    graph: Graph,
    /// Gates that read each wire behind the inputs.
    readers: Vec<Vec<u32>>,
    /// The flip-flop behind whose D the gate is, if one is.
    next_of: Vec<Option<u32>>,
    /// Keys of flip-flops that no gate writes, or that share their gate with another.
    moves: u64,
}

impl<'a> Work<'a> {
    /// Prepares a netlist for engines.
    pub fn new(netlist: &'a Netlist, engine: Engine) -> Work<'a> {
        let engine = Engine {
            engines: engine.engines.clamp(1, MOST_ENGINES),
            clients: engine.clients.clamp(1, MOST_CLIENTS),
            ..engine
        };
        let (inputs, first, gates) = (netlist.inputs(), netlist.first_gate(), netlist.gates());
        let mut graph = Graph::new(first);
        for client in 0..engine.clients {
            let shift = client * gates.len() as u32;
            for gate in gates {
                let wires = gate.operands().filter_map(Operand::wire);
                let shifted = wires.map(|wire| if wire < first { wire } else { wire + shift });
                graph.push(NodeCost::Costly, &shifted.collect::<Vec<_>>());
            }
        }
        let mut readers = vec![Vec::new(); (netlist.wires() - inputs) as usize];
        for (number, gate) in gates.iter().enumerate().rev() {
            for wire in gate.operands().filter_map(Operand::wire) {
                if let Some(place) = wire.checked_sub(inputs) {
                    readers[place as usize].push(number as u32);
                }
            }
        }
        let mut next_of = vec![None; gates.len()];
        let mut moves = 0;
        for (flip_flop, pair) in netlist.flip_flops().iter().enumerate() {
            let gate = pair.next.wire().and_then(|wire| wire.checked_sub(first));
            match gate.map(|gate| &mut next_of[gate as usize]) {
                Some(free @ None) => *free = Some(flip_flop as u32),
                _ => moves += u64::from(engine.clients),
            }
        }
        Work {
            netlist,
            engine,
            graph,
            readers,
            next_of,
            moves,
        }
    }

    /// Returns the best of `tries` list schedules. A node stands for gate
    /// `(node - first) % gates` of client `(node - first) / gates`, where `first` is the wire of
    /// the first gate.
    pub fn order(&self, tries: u32) -> Vec<Issue> {
        let priority = match tries {
            0 | 1 => Priority::BLevel,
            tries => Priority::Search(Effort { tries, seed: SEED }),
        };
        prioritised(&self.graph, &EngineState::new(self), priority)
    }

    /// Counts the cycles of an order that [`order`](Work::order) has made.
    pub fn cycles(&self, issues: &[Issue]) -> EngineCycles {
        self.replay(issues).0
    }

    /// Returns the bank of each key in such an order: of each client those of the wires behind the
    /// inputs.
    pub fn banks(&self, issues: &[Issue]) -> Vec<u8> {
        self.replay(issues).1
    }

    fn replay(&self, issues: &[Issue]) -> (EngineCycles, Vec<u8>) {
        let mut machine = EngineState::new(self);
        let mut pipelines = 0;
        for issue in issues {
            while machine.cycle < issue.cycle {
                machine.step();
            }
            debug_assert!(machine.ports(issue.node).is_some(), "banks do not change");
            pipelines += u64::from(machine.class(issue.node) == 0);
            machine.issue(issue.node);
        }
        let cycles = EngineCycles {
            garbling: issues.last().map_or(0, |issue| u64::from(issue.cycle) + 1),
            issues: pipelines,
            engines: self.engine.engines,
            moves: self.moves + machine.moves,
        };
        (cycles, machine.bank)
    }

    /// Client and gate of a node.
    fn place(&self, node: u32) -> (usize, usize) {
        let gates = self.netlist.gates().len();
        let number = (node - self.netlist.first_gate()) as usize;
        (number / gates, number % gates)
    }

    /// The place of the key that a client has of a wire behind the inputs.
    fn key(&self, client: usize, wire: u32) -> usize {
        let wires = (self.netlist.wires() - self.netlist.inputs()) as usize;
        client * wires + (wire - self.netlist.inputs()) as usize
    }

    /// Keys that a gate of a client reads from the banks.
    fn keys(&self, client: usize, gate: usize) -> impl Iterator<Item = usize> {
        let inputs = self.netlist.inputs();
        let wires = self.netlist.gates()[gate].operands();
        let wires = wires.filter_map(Operand::wire);
        let wires = wires.filter(move |&wire| wire >= inputs);
        wires.map(move |wire| self.key(client, wire))
    }
}

/// More cycles than the longest latency.
const RING: usize = 16;
/// A key that is not placed yet.
const NOWHERE: u8 = u8::MAX;
/// A port that reads nothing, and the cycle of a key that is not there.
const NOTHING: u32 = u32::MAX;

/// The state of all engines before a cycle.
#[derive(Clone)]
struct EngineState<'a> {
    work: &'a Work<'a>,
    cycle: u32,
    /// The bank of each key.
    bank: Vec<u8>,
    /// From which cycle on each key can be read.
    readable: Vec<u32>,
    /// Banks that are written, by cycle modulo the length of the ring, as bits.
    writes: [u128; RING],
    /// Keys that the ports of each bank read in this cycle.
    reads: Vec<[u32; 2]>,
    /// Gates that pipelines and units for XOR have taken in this cycle.
    taken: [u32; 2],
    moves: u64,
}

impl<'a> EngineState<'a> {
    fn new(work: &'a Work<'a>) -> EngineState<'a> {
        let netlist = work.netlist;
        let keys = work.engine.clients as usize * (netlist.wires() - netlist.inputs()) as usize;
        let banks = work.engine.banks * work.engine.engines;
        let mut machine = EngineState {
            work,
            cycle: 0,
            bank: vec![NOWHERE; keys],
            readable: vec![NOTHING; keys],
            writes: [0; RING],
            reads: vec![[NOTHING; 2]; banks as usize],
            taken: [0; 2],
            moves: 0,
        };
        for client in 0..work.engine.clients as usize {
            for flip_flop in 0..netlist.flip_flops().len() {
                let key = work.key(client, netlist.inputs() + flip_flop as u32);
                machine.bank[key] = ((flip_flop + 5 * client) as u32 % banks.max(1)) as u8;
                machine.readable[key] = 0;
            }
        }
        machine
    }

    /// Returns the ports, of a bank each, by which a gate would read, if they are free.
    fn ports(&self, node: u32) -> Option<[Option<(usize, usize)>; 2]> {
        let mut taken = [None; 2];
        if self.reads.is_empty() {
            return Some(taken);
        }
        let (client, gate) = self.work.place(node);
        let mut first = NOTHING as usize;
        for (operand, key) in self.work.keys(client, gate).enumerate() {
            let bank = self.bank[key] as usize;
            // A port that reads this key already serves this gate too.
            if key == first || self.reads[bank].contains(&(key as u32)) {
                continue;
            }
            let free = |port: &usize| {
                self.reads[bank][*port] == NOTHING && taken[0] != Some((bank, *port))
            };
            taken[operand] = Some((bank, (0..2).find(free)?));
            first = key;
        }
        Some(taken)
    }

    /// Decides in which bank the key of a gate is written.
    fn choose_bank(&mut self, client: usize, gate: usize, written: usize) {
        let (work, banks) = (self.work, self.reads.len() as u32);
        let wire = work.netlist.first_gate() + gate as u32;
        let inputs = work.netlist.inputs();
        let own = work.key(client, wire);
        let bank_of = |wire: u32| u32::from(self.bank[work.key(client, wire)]);
        let wanted = work.next_of[gate].map(|flip_flop| bank_of(inputs + flip_flop));
        // Readers whose other operand lies in each bank.
        let mut beside = [0u32; u128::BITS as usize];
        for &reader in &work.readers[(wire - inputs) as usize] {
            for other in work.keys(client, reader as usize) {
                if other != own && self.bank[other] != NOWHERE {
                    beside[self.bank[other] as usize] += 1;
                }
            }
        }
        let taken = self.writes[written];
        let free = |bank: &u32| taken >> bank & 1 == 0;
        let turn = (wire.wrapping_mul(7).wrapping_add(client as u32)) % banks;
        let cost = |bank: &u32| {
            let other_half = u32::from(wanted.is_some_and(|wanted| wanted != *bank));
            let distance = (*bank + banks - turn) % banks;
            (beside[*bank as usize] + other_half, distance)
        };
        let bank = (0..banks).filter(free).min_by_key(cost);
        let bank = bank.expect("there are more banks than writes in a cycle");
        self.moves += u64::from(wanted.is_some_and(|wanted| wanted != bank));
        self.writes[written] |= 1 << bank;
        self.bank[own] = bank as u8;
    }
}

impl Pipeline for EngineState<'_> {
    const CLASSES: usize = 2;
    const LEANINGS: &'static [(i32, i32)] = &[(0, 24), (-24, 24)];

    fn width(&self) -> usize {
        (self.work.engine.units(0) + self.work.engine.units(1)) as usize
    }

    fn units(&self, class: usize) -> Option<u32> {
        Some(self.work.engine.units(class))
    }

    fn class(&self, node: u32) -> usize {
        let (_, gate) = self.work.place(node);
        usize::from(self.work.engine.xor_units > 0 && self.work.netlist.gates()[gate].kind.is_xor())
    }

    fn latency(&self, node: u32) -> u32 {
        latency(self.work.netlist, self.work.place(node).1)
    }

    fn ready(&self, node: u32) -> u32 {
        let (client, gate) = self.work.place(node);
        let keys = self.work.keys(client, gate);
        keys.map(|key| self.readable[key]).max().unwrap_or(0)
    }

    fn situation(&self, class: usize) -> Option<usize> {
        (self.taken[class] < self.work.engine.units(class)).then_some(class)
    }

    fn accepts(&mut self, node: u32) -> bool {
        self.ports(node).is_some()
    }

    fn issue(&mut self, node: u32) {
        let (client, gate) = self.work.place(node);
        let keys: Vec<usize> = self.work.keys(client, gate).collect();
        let ports = self.ports(node).unwrap_or_default();
        for (port, key) in ports.iter().zip(keys) {
            if let Some((bank, port)) = *port {
                self.reads[bank][port] = key as u32;
            }
        }
        self.taken[self.class(node)] += 1;
        let at = self.cycle + self.latency(node);
        if !self.reads.is_empty() {
            self.choose_bank(client, gate, (at as usize - 1) % RING);
        }
        let wire = self.work.netlist.first_gate() + gate as u32;
        self.readable[self.work.key(client, wire)] = at;
    }

    fn step(&mut self) {
        self.writes[self.cycle as usize % RING] = 0;
        self.reads.fill([NOTHING; 2]);
        self.taken = [0; 2];
        self.cycle += 1;
    }
}

/// Cycles from the issue of a gate until its key can be read.
pub(crate) fn latency(netlist: &Netlist, gate: usize) -> u32 {
    if netlist.gates()[gate].kind.is_xor() {
        XOR_WRITES + 1
    } else {
        AND_WRITES + 1
    }
}
