//! Netlists for the better engines of `rtl/`: bundles of gates that are issued together.
//!
//! The file is wide HSCD with more fields, whose gates stand in the order of issue: those of a
//! bundle behind one another, at most one AND for each engine and one gate for each unit for XOR.
//! The hardware takes bundles in order, each gate as soon as its operands and its banks allow, so
//! it needs no cycle numbers.
//!
//! | word | more fields |
//! |---|---|
//! | fourth word of counts | 16:0 number of moves |
//! | gate | 8:5 bank, 9 is the last of its bundle, 10 drives a flip-flop |
//! |  | 26:11 number of that flip-flop, or the place in the bank |
//! |  | 95:88 and 63:56 high and low byte of the number of an AND, so that operands have 24 bits |
//! | move, opcode 15 | `in0` is D, `in1` Q of a flip-flop; 9 is the last of its bundle |
//!
//! The *number* of an AND is that in the netlist as it was given: it is in the tweak of the hash,
//! so tables do not depend on the order.
//!
//! A gate that *drives* a flip-flop writes what is Q in the next netlist cycle. All other
//! flip-flops are moved by a unit for XOR, in a cycle in which one is idle, or at the end.
//!
//! *Places.* Wires are renamed when the file is made, as for [`crate::scratchpad`]: a key has a
//! place in its bank from the bundle of its gate to that of its last reader, and the place serves
//! again from the next bundle on. A key that nothing reads has one until it is written.

use crate::engine::{Engine, EngineCycles, Work};
use crate::fase::{AND_WRITES, XOR_WRITES};
use crate::formats::{Format, Width, WriteError, write};
use crate::gate::{Gate, Operand};
use crate::netlist::Netlist;
use crate::timing::RUN;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fmt::Write;

/// A netlist as the better engines take it.
#[derive(Clone, Debug)]
pub struct Bundles {
    /// The netlist with its gates in the order of issue, and its outputs in that of wires.
    pub netlist: Netlist,
    /// For each of these gates, its number in the netlist as it was given.
    pub gates: Vec<u32>,
    /// For each of these outputs, its place among the outputs of the netlist as it was given, in
    /// the order of wires. The hardware gives masks in the order of [`Bundles::netlist`].
    pub outputs: Vec<u32>,
    /// The file.
    pub text: String,
    /// The cycles of the model.
    pub cycles: EngineCycles,
    /// For each gate of [`Bundles::netlist`], the cycle of its issue.
    pub issues: Vec<u32>,
    /// Cycles from the first issue of a gate to the last one of a gate or a move.
    pub length: u64,
    /// Bundles of initial values, which go in front of the first netlist cycle.
    pub initials: u64,
    /// Flip-flops that are moved, those that are outputs among them.
    pub moves: u64,
    /// Places that the fullest bank takes, two for each of its flip-flops among them.
    pub places: u32,
}

/// Cycles of a run on the better engines of `rtl/`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BundleRun {
    /// All cycles, as for FASE's machine: [`crate::timing::RunCycles::total`].
    pub total: u64,
    /// Cycles that the hardware waits besides, before all netlist cycles but the first:
    /// [`crate::timing::CycleCount::held`].
    pub held: u64,
}

impl Bundles {
    /// Returns the cycles from the first issue of a netlist cycle until all masks are out, two
    /// behind the last issue at least.
    pub fn netlist_cycle(&self) -> u64 {
        let outputs = &self.netlist.parts().outputs;
        let is_output = |wire| outputs.binary_search(&Operand::Wire(wire)).is_ok();
        let masks = self.ands().filter(|(wire, _)| is_output(*wire));
        let last = masks.map(|(_, cycle)| cycle + AND_READS + 1).max();
        (self.length + 2).max(last.unwrap_or(0))
    }

    /// The wires of all ANDs, and the cycles of their issue.
    fn ands(&self) -> impl Iterator<Item = (u32, u64)> {
        let gates = self.netlist.gates().iter().zip(&self.issues);
        let gates = (self.netlist.first_gate()..).zip(gates);
        let ands = gates.filter(|(_, (gate, _))| !gate.kind.is_xor());
        ands.map(|(wire, (_, &cycle))| (wire, u64::from(cycle)))
    }

    /// Counts the cycles of a run of `netlist_cycles` netlist cycles. The host takes every record
    /// at once.
    pub fn run(&self, netlist_cycles: u64) -> BundleRun {
        let issued = self.netlist_cycle();
        let last_and = self.ands().map(|(_, cycle)| cycle + AND_READS).max();
        let inputs = self.netlist.parts().inputs;
        let labelled = [inputs.garbler, inputs.evaluator].map(u64::from);
        let may_begin = last_and.unwrap_or(0).max(labelled.iter().sum::<u64>() + 1);
        BundleRun {
            total: match netlist_cycles {
                0 => 0,
                // A cycle before the issues, one behind; the copies, and one behind them.
                netlist_cycles => RUN + self.initials + netlist_cycles.saturating_mul(issued + 2),
            },
            held: may_begin
                .saturating_sub(issued + 1)
                .saturating_mul(netlist_cycles.saturating_sub(1)),
        }
    }
}

/// Most places in a bank that the field of a gate can name.
const MOST_PLACES: u32 = 1 << 16;
/// Cycles from the issue of an AND until its label can be read.
const AND_READS: u64 = AND_WRITES as u64 + 1;
/// Most ANDs, whose numbers have two bytes.
const MOST_ANDS: u64 = 1 << 16;
/// Most wires, so that constants are still negative in 24 bits.
const MOST_WIRES: u64 = 1 << 23;

/// Lines of the file that are issued in a cycle.
#[derive(Clone, Default)]
struct Bundle {
    /// Gates, by their number in the netlist, the ANDs first.
    gates: Vec<u32>,
    /// Flip-flops that are moved.
    moves: Vec<u32>,
    /// Units for XOR that are taken.
    units: u32,
    /// Keys that are read, by bank.
    reads: BTreeMap<u8, Vec<u32>>,
}

impl Bundle {
    /// Takes a port for a key in a bank, if one is free.
    fn read(&mut self, bank: u8, key: u32) -> bool {
        let keys = self.reads.entry(bank).or_default();
        let free = keys.contains(&key) || keys.len() < 2;
        if free && !keys.contains(&key) {
            keys.push(key);
        }
        free
    }
}

/// Schedules a netlist for engines with banks and one client, in the best of `tries` orders, and
/// writes the file. All engines
/// together have at most 16 banks, which the field of a gate can name.
///
/// # Errors
/// [`WriteError`] for what [`write()`] refuses in wide HSCD, and for more wires, ANDs or places in
/// a bank than the fields can name.
pub fn bundles(netlist: &Netlist, engine: Engine, tries: u32) -> Result<Bundles, WriteError> {
    let ands = netlist.ands() as u64;
    for (what, value, most) in [
        ("the number of ANDs", ands, MOST_ANDS),
        ("the number of wires", netlist.wires().into(), MOST_WIRES),
    ] {
        if value > most {
            return Err(WriteError::TooLarge { what, value, most });
        }
    }
    let work = Work::new(netlist, engine);
    let issues = work.order(tries);
    let cycles = work.cycles(&issues);
    let banks = work.banks(&issues);
    let (inputs, first) = (netlist.inputs(), netlist.first_gate());
    let bank_of = |wire: u32| banks[(wire - inputs) as usize];
    let is_xor = |gate: u32| netlist.gates()[gate as usize].kind.is_xor();
    let in_memory = |operand: &Operand| operand.wire().filter(|&wire| wire >= inputs);

    // What each cycle issues, reads and writes.
    let mut plan = vec![Bundle::default(); cycles.garbling as usize];
    let mut readable = vec![0u64; netlist.gates().len()];
    let mut writes: BTreeMap<(u64, u8), ()> = BTreeMap::new();
    for issue in &issues {
        let (gate, cycle) = (issue.node - first, u64::from(issue.cycle));
        let bundle = &mut plan[issue.cycle as usize];
        let (writes_after, place) = if is_xor(gate) {
            (XOR_WRITES, bundle.gates.len())
        } else {
            (AND_WRITES, bundle.gates.len() - bundle.units as usize)
        };
        bundle.gates.insert(place, gate);
        bundle.units += u32::from(is_xor(gate));
        let operands = netlist.gates()[gate as usize].operands();
        for wire in operands.filter_map(|operand| in_memory(&operand)) {
            bundle.read(bank_of(wire), wire);
        }
        let written = cycle + u64::from(writes_after);
        readable[gate as usize] = written + 1;
        writes.insert((written, bank_of(issue.node)), ());
    }

    // Which gate drives each flip-flop; all others are moved.
    let mut is_output = vec![false; netlist.flip_flops().len()];
    for output in netlist.parts().outputs.iter().filter_map(in_memory) {
        if let Some(mark) = is_output.get_mut((output - inputs) as usize) {
            *mark = true;
        }
    }
    let mut drives = vec![None; netlist.gates().len()];
    let mut moves = 0;
    for (flip_flop, pair) in netlist.flip_flops().iter().enumerate() {
        let bank = bank_of(inputs + flip_flop as u32);
        let gate = pair.next.wire().and_then(|wire| wire.checked_sub(first));
        let fits = |&gate: &u32| drives[gate as usize].is_none() && bank_of(first + gate) == bank;
        let free = gate.filter(fits);
        if let Some(gate) = free.filter(|_| !is_output[flip_flop]) {
            drives[gate as usize] = Some(flip_flop as u32);
            continue;
        }
        moves += 1;
        let key = in_memory(&pair.next);
        let mut cycle = gate.map_or(0, |gate| readable[gate as usize]);
        loop {
            if plan.len() as u64 <= cycle {
                plan.resize(cycle as usize + 1, Bundle::default());
            }
            let bundle = &mut plan[cycle as usize];
            let written = (cycle + u64::from(XOR_WRITES), bank);
            if bundle.units < engine.units(1)
                && !writes.contains_key(&written)
                && key.is_none_or(|wire| bundle.read(bank_of(wire), wire))
            {
                bundle.units += 1;
                bundle.moves.push(flip_flop as u32);
                writes.insert(written, ());
                break;
            }
            cycle += 1;
        }
    }

    // The place of each key that is no flip-flop's, from its gate to its last reader.
    let mut free_from = readable;
    for (cycle, bundle) in (1..).zip(&plan) {
        let gates = bundle.gates.iter();
        let read = gates.flat_map(|&gate| netlist.gates()[gate as usize].operands());
        let moved = bundle.moves.iter();
        let moved = moved.map(|&flip_flop| netlist.flip_flops()[flip_flop as usize].next);
        let wires = read.chain(moved).filter_map(Operand::wire);
        for gate in wires.filter_map(|wire| wire.checked_sub(first)) {
            let from = &mut free_from[gate as usize];
            *from = cycle.max(*from);
        }
    }
    let bank_count = engine.banks * engine.engines.max(1);
    let pairs = 2 * (netlist.flip_flops().len() as u32).div_ceil(bank_count.max(1));
    let mut places = Places::new(bank_count, pairs);
    let mut place_of = vec![0; netlist.gates().len()];
    for (cycle, bundle) in (0..).zip(&plan) {
        for &gate in &bundle.gates {
            if drives[gate as usize].is_none() {
                let until = free_from[gate as usize];
                place_of[gate as usize] = places.take(bank_of(first + gate), cycle, until);
            }
        }
    }

    if places.most > MOST_PLACES {
        let what = "the number of places in a bank";
        let [value, most] = [places.most, MOST_PLACES].map(u64::from);
        return Err(WriteError::TooLarge { what, value, most });
    }

    // The file: HSCD of the gates in this order, with more fields.
    let gates = plan.iter().flat_map(|bundle| &bundle.gates);
    let gates: Vec<u32> = gates.copied().collect();
    let order: Vec<u32> = gates.iter().map(|gate| first + gate).collect();
    let outputs = outputs_in_order(netlist, &order);
    let bundles = (0..).zip(&plan);
    let starts = bundles.flat_map(|(cycle, bundle)| vec![cycle; bundle.gates.len()]);
    let starts: Vec<u32> = starts.collect();
    let flip_flops = netlist.flip_flops().len();
    let ands = and_numbers(netlist);
    let sorted = netlist.reordered(&order).and_then(|netlist| {
        let mut parts = netlist.parts().clone();
        parts.outputs.sort_unstable();
        Netlist::new(parts)
    });
    let netlist = sorted.map_err(|_| WriteError::Missing("an order of all gates"))?;
    let wide = write(&netlist, Format::Hscd(Width::Wide), &[])?;
    let wide = String::from_utf8(wide).map_err(|_| WriteError::Missing("text"))?;
    let mut lines = wide.lines();
    let mut text = String::new();
    // The next line, with more fields; a gate has a number as well.
    let mut line = |more: u32, number: Option<u32>, text: &mut String| {
        let word = lines.next().unwrap_or_default();
        let word = u128::from_str_radix(word, 16).unwrap_or_default() | u128::from(more);
        let word = match number {
            None => word,
            Some(number) => {
                let [high, low] = [number >> 8, number & 0xff].map(u128::from);
                word & !(0xff << 88 | 0xff << 56) | high << 88 | low << 56
            }
        };
        // Writing to a string does not fail.
        let _ = writeln!(text, "{word:024X}");
    };
    for _ in 0..3 {
        line(0, None, &mut text);
    }
    line(moves, None, &mut text);
    for _ in netlist.flip_flops() {
        line(0, None, &mut text);
    }
    for bundle in &plan {
        let count = bundle.gates.len() + bundle.moves.len();
        for (place, &gate) in bundle.gates.iter().enumerate() {
            let last = u32::from(place + 1 == count) << 9;
            let driven = match drives[gate as usize] {
                Some(flip_flop) => 1 << 10 | flip_flop << 11,
                None => place_of[gate as usize] << 11,
            };
            let more = u32::from(bank_of(first + gate)) << 5 | last | driven;
            line(more, Some(ands[gate as usize]), &mut text);
        }
        for (place, &flip_flop) in (bundle.gates.len()..).zip(&bundle.moves) {
            let last = u32::from(place + 1 == count) << 9;
            let next = match netlist.flip_flops()[flip_flop as usize].next {
                Operand::Zero => u32::MAX - 1,
                Operand::One => u32::MAX - 2,
                Operand::Wire(wire) => wire,
            };
            let own = inputs + flip_flop;
            let _ = writeln!(text, "{next:08X}{own:08X}{:08X}", 0b11110 | last);
        }
    }
    Ok(Bundles {
        netlist,
        gates,
        outputs,
        text,
        cycles,
        issues: starts,
        length: plan.len() as u64,
        initials: (flip_flops as u64).div_ceil(engine.units(1).max(1).into()),
        moves: moves.into(),
        places: places.most,
    })
}

/// Returns for each gate how many ANDs are before it, which is the number of an AND, and 0 for
/// gates of type XOR.
pub fn and_numbers(netlist: &Netlist) -> Vec<u32> {
    let mut ands = 0;
    let number = |gate: &Gate| {
        if gate.kind.is_xor() {
            0
        } else {
            ands += 1;
            ands - 1
        }
    };
    netlist.gates().iter().map(number).collect()
}

/// For each output in the order of wires once gates have this order, its place in the order of
/// wires before.
fn outputs_in_order(netlist: &Netlist, order: &[u32]) -> Vec<u32> {
    let first = netlist.first_gate();
    let mut wire_of: Vec<u32> = (0..netlist.wires()).collect();
    for (&wire, place) in order.iter().zip(first..) {
        wire_of[wire as usize] = place;
    }
    let outputs = netlist.parts().outputs.iter();
    let mut wires: Vec<u32> = outputs.filter_map(|output| output.wire()).collect();
    wires.sort_unstable();
    let mut places: Vec<u32> = (0..wires.len() as u32).collect();
    places.sort_by_key(|&place| wire_of[wires[place as usize] as usize]);
    places
}

/// Places of keys in all banks, behind those of flip-flops.
struct Places {
    /// Places that are free, the lowest first, of each bank.
    free: Vec<BinaryHeap<Reverse<u32>>>,
    /// Places that are taken, by the cycle from which on they are free, of each bank.
    taken: Vec<BinaryHeap<Reverse<(u64, u32)>>>,
    /// The first place of each bank that was never taken.
    fresh: Vec<u32>,
    /// The largest of these.
    most: u32,
}

impl Places {
    fn new(banks: u32, first: u32) -> Places {
        let banks = banks as usize;
        Places {
            free: vec![BinaryHeap::new(); banks],
            taken: vec![BinaryHeap::new(); banks],
            fresh: vec![first; banks],
            most: first,
        }
    }

    /// Takes a place in a bank from a cycle on, for which it is free again from cycle `until` on.
    /// Cycles do not fall from call to call.
    fn take(&mut self, bank: u8, cycle: u64, until: u64) -> u32 {
        let bank = usize::from(bank);
        let (free, taken) = (&mut self.free[bank], &mut self.taken[bank]);
        let is_free = |&Reverse((from, _)): &Reverse<(u64, u32)>| from <= cycle;
        while taken.peek().is_some_and(is_free) {
            free.extend(taken.pop().map(|Reverse((_, place))| Reverse(place)));
        }
        let place = free.pop().map_or(self.fresh[bank], |Reverse(place)| place);
        if place == self.fresh[bank] {
            self.fresh[bank] += 1;
            self.most = self.most.max(self.fresh[bank]);
        }
        taken.push(Reverse((until, place)));
        place
    }
}
