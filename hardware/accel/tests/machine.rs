//! The rules of the machine on netlists of a few gates, whose cycles are counted by hand.

use sealane_accel::bound::bound;
use sealane_accel::fase::{NetlistCycle, Variant};
use sealane_accel::formats::read;
use sealane_accel::netlist::Parts;
use sealane_accel::timing::{
    CycleCount, MASKS, NETLIST_CYCLE, Order, RUN, netlist_cycle, reorder, run,
};
use sealane_accel::{FlipFlop, Gate, GateKind, Inputs, Netlist, NetlistError, Operand};
use sealane_schedule::Priority;

use GateKind::{And, Xor};

/// A netlist with the inputs 0 and 1, and with the last gate as its output.
fn netlist(flip_flops: &[FlipFlop], gates: &[(GateKind, u32, u32)]) -> Netlist {
    let gate = |&(kind, in0, in1)| Gate {
        kind,
        in0: Operand::Wire(in0),
        in1: Some(Operand::Wire(in1)),
    };
    let last = 1 + flip_flops.len() + gates.len();
    let netlist = Netlist::new(Parts {
        inputs: Inputs::of_counts([0, 0, 0, 0, 2, 0]),
        flip_flops: flip_flops.to_vec(),
        gates: gates.iter().map(gate).collect(),
        outputs: vec![Operand::Wire(last as u32)],
        ..Parts::default()
    });
    netlist.expect("a netlist")
}

fn later(netlist: &Netlist, variant: Variant) -> CycleCount {
    netlist_cycle(netlist, variant, NetlistCycle::Later)
}

fn cycles(netlist: &Netlist, variant: Variant) -> Vec<u32> {
    let issues = later(netlist, variant).issues;
    issues.iter().map(|issue| issue.cycle).collect()
}

#[test]
fn an_and_can_be_read_after_twelve_cycles_and_an_xor_after_two() {
    let netlist = netlist(&[], &[(And, 0, 1), (Xor, 2, 0), (And, 3, 0)]);
    for variant in [Variant::Plain, Variant::Queued] {
        let count = later(&netlist, variant);
        assert_eq!(cycles(&netlist, variant), [0, 12, 14]);
        let stalls = [count.port_stalls, count.dependency_stalls];
        assert_eq!((count.garbling, stalls, count.drain), (15, [0, 12], 11));
        assert_eq!(count.total, NETLIST_CYCLE + 15 + 11);
    }
    assert_eq!(bound(&netlist).path, 15);
}

/// Gate 0 writes by port 0 at cycle 11, in which gate 6 reads.
#[test]
fn a_write_stops_a_read_by_its_port_only_without_the_queue() {
    let chain = |first: bool| {
        let mut gates = vec![(And, 0, 1), (Xor, 0, 1)];
        let pairs = (3..8).map(|wire| if first { (wire, 0) } else { (0, wire) });
        gates.extend(pairs.map(|(in0, in1)| (Xor, in0, in1)));
        netlist(&[], &gates)
    };
    let free = [0, 1, 3, 5, 7, 9, 11];
    assert_eq!(cycles(&chain(true), Variant::Plain), [0, 1, 3, 5, 7, 9, 12]);
    assert_eq!(later(&chain(true), Variant::Plain).port_stalls, 1);
    assert_eq!(cycles(&chain(true), Variant::Queued), free);
    assert_eq!(cycles(&chain(false), Variant::Plain), free);
}

/// At cycle 11 gate 6 reads twice while gate 0 writes: that write waits, and gate 7 with it. At
/// cycle 12 the queue is full and gate 6 writes, so no gate is issued.
#[test]
fn a_write_that_waits_can_be_read_a_cycle_later() {
    let mut gates = vec![(And, 0, 1), (Xor, 0, 1)];
    gates.extend((3..7).map(|wire| (Xor, wire, 0)));
    let ends = |end: [(GateKind, u32, u32); 2]| {
        let gates = [&gates[..], &end].concat();
        cycles(&netlist(&[], &gates), Variant::Queued)[6..].to_vec()
    };
    assert_eq!(ends([(Xor, 7, 6), (Xor, 2, 0)]), [11, 13]);
    assert_eq!(ends([(Xor, 7, 0), (Xor, 2, 0)]), [11, 12]);
    // Also a gate that reads nothing waits while the queue is full and another write comes.
    assert_eq!(ends([(Xor, 7, 6), (Xor, 0, 1)]), [11, 13]);
}

/// Gates 0 and 6 both write at cycle 11.
#[test]
fn two_writes_stop_gates_that_read() {
    let mut gates = vec![(And, 0, 1), (And, 0, 1), (Xor, 0, 1)];
    gates.extend((4..8).map(|wire| (Xor, wire, 0)));
    let ends = |end: (GateKind, u32, u32)| {
        let gates = [&gates[..], &[end]].concat();
        cycles(&netlist(&[], &gates), Variant::Queued)[6..].to_vec()
    };
    assert_eq!(ends((Xor, 7, 0)), [10, 12]);
    assert_eq!(ends((Xor, 0, 1)), [10, 11]);
}

#[test]
fn a_flip_flop_is_copied_before_the_gates_and_may_meet_them() {
    let flip_flop = |next, initial| FlipFlop { next, initial };
    let one = |next: u32| {
        let pair = flip_flop(Operand::Wire(next), Operand::One);
        netlist(&[pair], &[(Xor, 0, 2)])
    };
    // It copies a gate: it writes by port 1 at cycle 1, in which it can be read.
    assert_eq!(cycles(&one(3), Variant::Queued), [1]);
    assert_eq!(cycles(&one(3), Variant::Plain), [2]);
    // It copies an input, and does not write.
    assert_eq!(cycles(&one(0), Variant::Plain), [1]);
    let run = run(&one(3), Variant::Queued, 3);
    // A constant can be read at once in the first netlist cycle.
    assert_eq!([run.first.garbling, run.later.garbling], [1, 2]);
    let [first, later] = [1, 2].map(|garbling| NETLIST_CYCLE + 1 + garbling + u64::from(MASKS));
    assert_eq!(run.total, RUN + first + 2 * later);
}

#[test]
fn masks_of_outputs_decide_how_long_the_end_is() {
    let text = |output: u32| format!("0 0 1 1 0 1 3\n0 0 3\n1 1 0\n8 6 6\n{output}\n\n\n");
    let drain = |output| {
        let netlist = read(text(output).as_bytes()).expect("SCD").netlist;
        later(&netlist, Variant::Queued).drain
    };
    // Issued at 0, 1 and 3; the last mask comes 11 cycles after its gate.
    assert_eq!([drain(2), drain(3), drain(4), drain(0)], [8, 9, 11, 1]);
}

/// The gates are issued at 0, 1 and 13. The mask of the first is out at 11, so the netlist cycle
/// ends before the last is written, at 24; the next one would begin at 17.
#[test]
fn the_next_netlist_cycle_waits_for_the_last_and() {
    let text = "0 0 1 1 1 1 3\n0 0 4\n1 1 0\n6 8 8\n3\n5\n-2\n";
    let netlist = read(text.as_bytes()).expect("SCD").netlist;
    assert_eq!(cycles(&netlist, Variant::Queued), [0, 1, 13]);
    assert_eq!(later(&netlist, Variant::Queued).held, 8);
    let held = [1, 2, 3].map(|netlist_cycles| run(&netlist, Variant::Queued, netlist_cycles).held);
    assert_eq!(held, [0, 8, 16]);
    // Thirty labels of inputs take longer: one a cycle from cycle 1 on.
    let text = "0 0 29 1 1 1 3\n0 0 32\n1 1 0\n6 8 8\n31\n33\n-2\n";
    let netlist = read(text.as_bytes()).expect("SCD").netlist;
    assert_eq!(later(&netlist, Variant::Queued).held, 14);
}

#[test]
fn every_priority_gives_an_order_of_all_gates_and_a_search_the_shortest() {
    // Two chains that share the ports.
    let mut gates = vec![(And, 0, 1), (Xor, 0, 1)];
    gates.extend((2..40).map(|wire| (if wire % 3 == 0 { And } else { Xor }, wire, wire / 2)));
    let netlist = netlist(&[], &gates);
    let length = |order| {
        let netlist = reorder(&netlist, Variant::Queued, order).expect("an order");
        assert_eq!(netlist.gates().len(), 40);
        later(&netlist, Variant::Queued).garbling
    };
    let ours = length(Order::Ours { tries: 200 });
    assert_eq!(ours, length(Order::Ours { tries: 200 }), "the seed decides");
    use Priority::{Alap, BLevel, TLevel, WeightedFanout};
    for priority in [BLevel, Alap, TLevel, WeightedFanout] {
        assert!(length(Order::By(priority)) >= ours);
    }
    assert!(ours >= bound(&netlist).cycles());
}

#[test]
fn an_order_that_is_none_is_refused() {
    let netlist = netlist(&[], &[(And, 0, 1), (Xor, 2, 0)]);
    let order = |order: &[u32]| netlist.reordered(order).map(|_| ());
    assert_eq!(order(&[2, 3]), Ok(()));
    assert_eq!(order(&[2, 2]), Err(NetlistError::Order { gates: 2 }));
    assert_eq!(order(&[2]), Err(NetlistError::Order { gates: 2 }));
    assert_eq!(order(&[0, 1]), Err(NetlistError::Order { gates: 2 }));
    let (gate, wire, own) = (0, 3, 2);
    let before = NetlistError::NotBefore { gate, wire, own };
    assert_eq!(order(&[3, 2]), Err(before));
}
