//! Netlists for the better engines of `rtl/`: bundles of gates that are issued together.
//!
//! The file is wide HSCD with more fields, whose gates stand in the order of issue: those of a
//! bundle behind one another, at most one AND for each engine and one gate for each unit for XOR. The hardware
//! takes bundles in order, each gate as soon as its operands and its banks allow, so it needs no
//! cycle numbers.
//!
//! | word | more fields |
//! |---|---|
//! | fourth word of counts | 16:0 number of moves |
//! | gate | 8:5 bank, 9 is the last of its bundle, 10 drives a flip-flop, 26:11 its number |
//! | move, opcode 15 | `in0` is D, `in1` Q of a flip-flop; 9 is the last of its bundle |
//!
//! A gate that *drives* a flip-flop writes what is Q in the next netlist cycle. All other
//! flip-flops are moved by a unit for XOR, in a cycle in which one is idle, or at the end.

use crate::engine::{Engine, EngineCycles, Work};
use crate::fase::{AND_WRITES, XOR_WRITES};
use crate::formats::{Format, Width, WriteError, write};
use crate::gate::Operand;
use crate::netlist::Netlist;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A netlist as the better engines take it.
#[derive(Clone, Debug)]
pub struct Bundles {
    /// The netlist with its gates in the order of issue, and its outputs in that of wires.
    pub netlist: Netlist,
    /// The file.
    pub text: String,
    /// The cycles of the model.
    pub cycles: EngineCycles,
    /// Flip-flops that are moved, those that are outputs among them.
    pub moves: u64,
}

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

/// Schedules a netlist for engines with banks and one client, and writes the file. All engines
/// together have at most 16 banks, which the field of a gate can name.
///
/// # Errors
/// [`WriteError`] for what [`write()`] refuses in wide HSCD.
pub fn bundles(netlist: &Netlist, engine: Engine) -> Result<Bundles, WriteError> {
    let work = Work::new(netlist, engine);
    let issues = work.order(1);
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
        let (writes_after, place) = match is_xor(gate) {
            true => (XOR_WRITES, bundle.gates.len()),
            false => (AND_WRITES, bundle.gates.len() - bundle.units as usize),
        };
        bundle.gates.insert(place, gate);
        bundle.units += u32::from(is_xor(gate));
        for wire in netlist.gates()[gate as usize]
            .operands()
            .filter_map(|operand| in_memory(&operand))
        {
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
        let free =
            gate.filter(|&gate| drives[gate as usize].is_none() && bank_of(first + gate) == bank);
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

    // The file: HSCD of the gates in this order, with more fields.
    let order = plan.iter().flat_map(|bundle| &bundle.gates);
    let order: Vec<u32> = order.map(|gate| first + gate).collect();
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
    let mut line = |more: u32, text: &mut String| {
        let word = lines.next().unwrap_or_default();
        let (high, low) = word.split_at(word.len() - 8);
        let low = u32::from_str_radix(low, 16).unwrap_or_default() | more;
        // Writing to a string does not fail.
        let _ = writeln!(text, "{high}{low:08X}");
    };
    for _ in 0..3 {
        line(0, &mut text);
    }
    line(moves, &mut text);
    for _ in netlist.flip_flops() {
        line(0, &mut text);
    }
    for bundle in &plan {
        let count = bundle.gates.len() + bundle.moves.len();
        for (place, &gate) in bundle.gates.iter().enumerate() {
            let last = u32::from(place + 1 == count) << 9;
            let driven =
                drives[gate as usize].map_or(0, |flip_flop: u32| 1 << 10 | flip_flop << 11);
            line(
                u32::from(bank_of(first + gate)) << 5 | last | driven,
                &mut text,
            );
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
        text,
        cycles,
        moves: moves.into(),
    })
}
