//! Numbers of cycles below which no order of the gates can be, on the machine of [`crate::fase`]
//! and on the engines of [`crate::engine`].
//!
//! Both bounds are proofs, and hold with and without the optimisation. Let `T` be the garbling
//! cycles of any order. The *head* of a gate is the longest path to it from the beginning, its
//! *tail* the longest path from it to a gate behind it, both in latencies. So a gate with head `h`
//! and tail `q` is issued in one of the cycles `h` to `T - 1 - q`.
//!
//! *Paths*: `T` is above head plus tail of every gate. *Ports*: take all gates with a head of at
//! least `h` and a tail of at least `q`. Each reads in its cycle, and writes later. The memory
//! takes two accesses a cycle, so those until cycle `T - 1 - q` are at most `2 (T - q - h)`. A
//! write is not among them only if its gate is one of those issued in the last eleven cycles of
//! the window (eleven gates at most; an AND of these has a tail below `q + 11`, and an XOR is the
//! last), or if it is in the queue, which holds one. The bound is the largest over all `h` and `q`.
//!
//! Half of all accesses, `(R + W) / 2`, is no bound: writes of the last gates come after the last
//! issue.

use crate::engine::Engine;
use crate::fase::{AND_WRITES, Accesses, XOR_WRITES};
use crate::gate::Operand;
use crate::netlist::Netlist;

/// Bounds of the garbling cycles of a netlist cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// By the longest path.
    pub path: u64,
    /// By the ports of the memory.
    pub ports: u64,
}

impl Bound {
    /// Returns the larger of both.
    pub fn cycles(&self) -> u64 {
        self.path.max(self.ports)
    }
}

/// Most heads, and most tails, of which windows are taken. Leaving some out weakens the bound only.
const MOST_STEPS: u64 = 4096;

/// Bounds the garbling cycles of all orders of a netlist in a later netlist cycle.
pub fn bound(netlist: &Netlist) -> Bound {
    let Paths { heads, tails } = Paths::of(netlist, netlist.flip_flops().len() as u64);
    let length = |(head, tail): (&u64, &u64)| head + tail + 1;
    let path = heads.iter().zip(&tails).map(length).max().unwrap_or(0);
    let accesses = Accesses::of(netlist);
    let step = path / MOST_STEPS + 1;
    let classes = (path / step + 1) as usize;
    // Gates by head, the latest first; each is added to the row of its tail.
    let mut order: Vec<usize> = (0..heads.len()).collect();
    order.sort_by_key(|&gate| std::cmp::Reverse(heads[gate]));
    let (mut counts, mut ands) = (vec![0u64; classes], vec![0u64; classes]);
    let (mut ports, mut next) = (0, 0);
    for class in (0..classes as u64).rev() {
        let head = class * step;
        while next < order.len() && heads[order[next]] >= head {
            let gate = order[next];
            let wire = netlist.first_gate() + gate as u32;
            let tail_class = (tails[gate] / step) as usize;
            counts[tail_class] += u64::from(accesses.reads(wire)) + 1;
            ands[tail_class] += u64::from(!netlist.gates()[gate].kind.is_xor());
            next += 1;
        }
        let mut sum = 0;
        for tail_class in (0..classes).rev() {
            sum += counts[tail_class];
            let tail = tail_class as u64 * step;
            // Tails from here to ten more, in classes.
            let classes = (u64::from(AND_WRITES) - 1) / step + 1;
            let late = ands.iter().skip(tail_class).take(classes as usize);
            let late = (late.sum::<u64>() + 1).min(AND_WRITES.into());
            let inside = sum.saturating_sub(late + 1);
            if inside > 0 {
                ports = ports.max(head + tail + inside.div_ceil(2));
            }
        }
    }
    Bound { path, ports }
}

/// Bounds of the garbling cycles of a netlist cycle on engines, of all clients together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineBound {
    /// By the longest path.
    pub path: u64,
    /// By the pipelines of AND.
    pub pipelines: u64,
    /// By the units for XOR; 0 if the pipelines take all gates.
    pub xor_units: u64,
}

impl EngineBound {
    /// Returns the largest.
    pub fn cycles(&self) -> u64 {
        self.path.max(self.pipelines).max(self.xor_units)
    }
}

/// Bounds the garbling cycles of all orders of a netlist, and all choices of banks, on engines.
///
/// All gates of a class with a head of at least `h` and a tail of at least `q` are issued in the
/// cycles `h` to `T - 1 - q`, at most as many a cycle as there are units of the class. So `T` is at
/// least `h + q` plus their number divided by that of the units.
pub fn engine_bound(netlist: &Netlist, engine: Engine) -> EngineBound {
    let at_once = netlist.flip_flops().len() as u64 + 2;
    let Paths { heads, tails } = Paths::of(netlist, at_once);
    let length = |(head, tail): (&u64, &u64)| head + tail + 1;
    let path = heads.iter().zip(&tails).map(length).max().unwrap_or(0);
    let step = path / MOST_STEPS + 1;
    let clients = u64::from(engine.clients.max(1));
    let by_class = |class: usize| {
        let is_class = |&gate: &usize| {
            let xor = engine.xor_units > 0 && netlist.gates()[gate].kind.is_xor();
            usize::from(xor) == class
        };
        let mut order: Vec<usize> = (0..heads.len()).filter(is_class).collect();
        order.sort_by_key(|&gate| std::cmp::Reverse(heads[gate]));
        let units = u64::from(engine.units(class));
        let mut counts = vec![0u64; (path / step + 1) as usize];
        let (mut most, mut next) = (0, 0);
        for head in (0..counts.len() as u64).rev().map(|class| class * step) {
            let before = next;
            while next < order.len() && heads[order[next]] >= head {
                counts[(tails[order[next]] / step) as usize] += clients;
                next += 1;
            }
            if next == before {
                continue;
            }
            let mut sum = 0;
            for (tail, count) in counts.iter().enumerate().rev() {
                sum += count;
                if sum > 0 {
                    most = most.max(head + tail as u64 * step + sum.div_ceil(units));
                }
            }
        }
        most
    };
    EngineBound {
        path,
        pipelines: by_class(0),
        xor_units: if engine.xor_units > 0 { by_class(1) } else { 0 },
    }
}

/// Head and tail of each gate.
struct Paths {
    heads: Vec<u64>,
    tails: Vec<u64>,
}

impl Paths {
    /// Paths on a machine whose flip-flop `i` can be read from cycle `i + 2 - copies` on: with the
    /// number of flip-flops as in FASE, and with two more at once.
    fn of(netlist: &Netlist, copies: u64) -> Paths {
        let gates = netlist.gates();
        let (inputs, first) = (netlist.inputs(), netlist.first_gate());
        let latency = |gate: usize| {
            let xor = gates[gate].kind.is_xor();
            u64::from(if xor { XOR_WRITES } else { AND_WRITES }) + 1
        };
        let mut heads = vec![0; gates.len()];
        let mut tails = vec![0; gates.len()];
        for (number, gate) in gates.iter().enumerate() {
            let readable = |wire: u32| match wire.checked_sub(first) {
                Some(gate) => heads[gate as usize] + latency(gate as usize),
                // Flip-flop i of d can be read from cycle i + 2 - d on.
                None if wire >= inputs => u64::from(wire - inputs + 2).saturating_sub(copies),
                None => 0,
            };
            let operands = gate.operands().filter_map(Operand::wire);
            heads[number] = operands.map(readable).max().unwrap_or(0);
        }
        for (number, gate) in gates.iter().enumerate().rev() {
            for wire in gate.operands().filter_map(Operand::wire) {
                if let Some(needed) = wire.checked_sub(first) {
                    let tail = tails[number] + latency(needed as usize);
                    tails[needed as usize] = tail.max(tails[needed as usize]);
                }
            }
        }
        Paths { heads, tails }
    }
}
