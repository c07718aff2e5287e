//! Cycles of a netlist cycle and of a whole run, and where they go.
//!
//! A netlist cycle waits for one cycle, copies one flip-flop a cycle, issues its gates, and ends
//! when the masks of all outputs are out, [`MASKS`] cycles after the issue of their gates. The sum
//! is that of the paper's Tables V and VI for all rows that are compared in the test `tables`.

use crate::fase::{AND_WRITES, Accesses, Fase, NetlistCycle, Variant};
use crate::gate::Operand;
use crate::netlist::{Netlist, NetlistError};
use sealane_schedule::{Effort, Issue, Priority, in_order, prioritised};

/// Cycles from the issue of a gate until the mask of its output is out.
pub const MASKS: u32 = AND_WRITES;
/// Cycles of a run besides those of its netlist cycles. Tables V and VI fix it.
pub const RUN: u64 = 4;
/// Cycles of a netlist cycle besides copies, issue and drain: one before the copies, one after the
/// last issue and one at the end.
pub const NETLIST_CYCLE: u64 = 3;
/// The seed of the search for [`Order::Ours`].
const SEED: u64 = 20;

/// The order of gates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The order of the file.
    File,
    /// A list schedule by one of the priorities that need no search.
    By(Priority),
    /// The best order that a search of this many tries finds.
    Ours {
        /// Number of list schedules.
        tries: u32,
    },
}

/// Tries that take less than a second in a build for users, also for the largest netlists.
pub fn usual_tries(netlist: &Netlist) -> u32 {
    (600_000 / netlist.gates().len().max(1)).clamp(100, 20_000) as u32
}

/// Cycles of one netlist cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CycleCount {
    /// Cycles from the first in which a gate could be issued to the issue of the last gate, as
    /// Table IV counts.
    pub garbling: u64,
    /// Cycles of these in which the next gate could not be read because of the ports.
    pub port_stalls: u64,
    /// Cycles of these in which an operand of the next gate was not garbled yet.
    pub dependency_stalls: u64,
    /// Cycles from the last issue until all masks are out, at least 1.
    pub drain: u64,
    /// Cycles in which flip-flops are copied.
    pub flip_flops: u64,
    /// All cycles of the netlist cycle.
    pub total: u64,
    /// Cycles that the next netlist cycle has to wait besides: until all ANDs of this one are
    /// written, and until each input has a label, of which one comes a cycle. The released hardware
    /// does not wait, and copies a stale label where a flip-flop takes such an AND; that of `rtl/`
    /// does.
    pub held: u64,
    /// The cycle of each gate, in order.
    pub issues: Vec<Issue>,
}

/// Cycles of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunCycles {
    /// The first netlist cycle.
    pub first: CycleCount,
    /// Each later one.
    pub later: CycleCount,
    /// Number of netlist cycles.
    pub netlist_cycles: u64,
    /// All cycles, as Tables V and VI count.
    pub total: u64,
    /// Cycles that the hardware of `rtl/` takes besides: [`CycleCount::held`] of all netlist cycles
    /// but the last.
    pub held: u64,
}

/// Counts the cycles of one netlist cycle in the order of the gates.
pub fn netlist_cycle(
    netlist: &Netlist,
    variant: Variant,
    netlist_cycle: NetlistCycle,
) -> CycleCount {
    let accesses = Accesses::of(netlist);
    let machine = Fase::new(&accesses, variant, netlist_cycle);
    let issues = in_order(machine, netlist.first_gate()..netlist.wires());
    let (mut port_stalls, mut dependency_stalls, mut next) = (0, 0, 0);
    for issue in &issues {
        dependency_stalls += u64::from(issue.ready - next);
        port_stalls += u64::from(issue.cycle - issue.ready);
        next = issue.cycle + 1;
    }
    let garbling = u64::from(next);
    // The last mask: outputs that are no gates have theirs before.
    let outputs = netlist.parts().outputs.iter().copied();
    let gates = outputs.filter_map(Operand::wire);
    let places = gates.filter_map(|wire| wire.checked_sub(netlist.first_gate()));
    let last_output = places.map(|place| issues[place as usize].cycle).max();
    let masks_out = last_output.map_or(0, |cycle| u64::from(cycle + MASKS));
    let drain = (masks_out + 1).saturating_sub(garbling).max(1);
    let flip_flops = netlist.flip_flops().len() as u64;
    // The cycle in which the next netlist cycle begins, and the first in which it may.
    let next_netlist_cycle = garbling + drain + NETLIST_CYCLE - 1;
    let mut gates = netlist.gates().iter().zip(&issues).rev();
    let last_and = gates.find(|(gate, _)| !gate.kind.is_xor());
    let written = last_and.map_or(0, |(_, issue)| u64::from(issue.cycle + AND_WRITES + 1));
    let inputs = netlist.parts().inputs;
    let each_netlist_cycle = [inputs.public, inputs.garbler, inputs.evaluator].map(u64::from);
    let labelled = each_netlist_cycle.iter().sum::<u64>() + 1;
    CycleCount {
        garbling,
        port_stalls,
        dependency_stalls,
        drain,
        flip_flops,
        total: NETLIST_CYCLE + flip_flops + garbling + drain,
        held: written.max(labelled).saturating_sub(next_netlist_cycle),
        issues,
    }
}

/// Counts the cycles of a run of `netlist_cycles` netlist cycles.
pub fn run(netlist: &Netlist, variant: Variant, netlist_cycles: u64) -> RunCycles {
    let first = netlist_cycle(netlist, variant, NetlistCycle::First);
    let later = netlist_cycle(netlist, variant, NetlistCycle::Later);
    let total = match netlist_cycles.checked_sub(1) {
        None => 0,
        Some(rest) => RUN + first.total + rest.saturating_mul(later.total),
    };
    let held = match netlist_cycles {
        0 | 1 => 0,
        _ => first
            .held
            .saturating_add(later.held.saturating_mul(netlist_cycles - 2)),
    };
    RunCycles {
        first,
        later,
        netlist_cycles,
        total,
        held,
    }
}

/// Returns the netlist with its gates in an order that is made for the machine.
///
/// # Errors
/// None for a netlist that has been checked; an order that a machine issues is one of the gates.
pub fn reorder(netlist: &Netlist, variant: Variant, order: Order) -> Result<Netlist, NetlistError> {
    let priority = match order {
        Order::File => return Ok(netlist.clone()),
        Order::By(priority) => priority,
        Order::Ours { tries } => Priority::Search(Effort { tries, seed: SEED }),
    };
    let accesses = Accesses::of(netlist);
    let machine = Fase::new(&accesses, variant, NetlistCycle::Later);
    let issues = prioritised(&netlist.graph(), &machine, priority);
    netlist.reordered(&issues.iter().map(|issue| issue.node).collect::<Vec<_>>())
}
