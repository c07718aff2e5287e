//! Compilation of circuits to tapes: gates are ordered and values get slots.

use sealane_schedule::NodeCost::{Costly, Free};
use sealane_schedule::{Graph, Machine, Schedule, Slots, schedule, slots};

use crate::circuit::{Circuit, GateKind, GateList, ONE, PlainGate, ZERO};
use crate::shared::Counted;
use crate::tape::{Applied, Batch, Gate, KnownTo, NOBODY, Tape};

/// Compiles `circuit` for `machine`: gates in the order of [`schedule`], wires in slots that are
/// reused after the last use. The result is a function of the arguments alone, so that all parties
/// derive the same tape.
pub fn compile(circuit: &Circuit, machine: &Machine) -> Tape {
    compile_known(circuit, machine, &[])
}

/// [`compile`], where input bit `i` (of all inputs in order) is known in the clear to `known[i]`;
/// bits beyond the end of `known` are known to nobody. ANDs with an operand that is a sum of one
/// party's bits are marked in [`Tape::known_to`].
pub fn compile_known(circuit: &Circuit, machine: &Machine, known: &[KnownTo]) -> Tape {
    let list = circuit.lower_known(known);
    let graph = graph_of(&list);
    let mut schedule = schedule(&graph, machine);
    let known_to = |node: u32| known_to(&list, node);
    for batch in &schedule.batches {
        let ands = batch.costly.start as usize..batch.costly.end as usize;
        schedule.costly[ands].sort_by_key(|&node| known_to(node));
    }
    // A tape keeps its constants; outputs are read after the last batch.
    let mut keep = list.outputs.clone();
    keep.extend([ZERO, ONE]);
    let slots = slots(&graph, &schedule, &keep);
    write(&list, circuit, &graph, &schedule, &slots)
}

/// The party that knows an operand of an AND; behind all parties for an output of an application,
/// so that those stand last in a batch, in order.
fn known_to(list: &GateList, node: u32) -> (bool, KnownTo) {
    match list.gates[(node - list.first_gate) as usize].kind {
        GateKind::Xor => (false, NOBODY),
        GateKind::And(who) => (false, who),
        GateKind::Applied { .. } => (true, NOBODY),
    }
}

fn graph_of(list: &GateList) -> Graph {
    let mut graph = Graph::new(list.first_gate);
    for gate in &list.gates {
        match gate.kind {
            GateKind::Xor => graph.push(Free, &[gate.a, gate.b]),
            GateKind::And(_) => graph.push(Costly, &[gate.a, gate.b]),
            GateKind::Applied { of, .. } => graph.push(Costly, &list.applied[of as usize]),
        };
    }
    graph
}

fn write(
    list: &GateList,
    circuit: &Circuit,
    graph: &Graph,
    schedule: &Schedule,
    slots: &Slots,
) -> Tape {
    let place = |wire: u32| slots.of[wire as usize];
    let numbers = numbers(list);
    let (roots, readers) = readers(list);
    let lone = |wire: u32| {
        let root = roots[wire as usize];
        root >= list.first_gate && readers[root as usize] == 1
    };
    let gate = |&node: &u32| {
        let index = (node - list.first_gate) as usize;
        let PlainGate { a, b, .. } = list.gates[index];
        // If no other gate reads one of an XOR's operands, that operand is put second.
        let free = list.gates[index].kind == GateKind::Xor && b != ONE;
        let turned = free && lone(a) && !lone(b);
        let (a, b) = if turned { (b, a) } else { (a, b) };
        let number = numbers[index];
        let [a_slot, b_slot, out] = [a, b, node].map(place);
        let gate = Gate {
            a: a_slot,
            b: b_slot,
            out,
            number,
        };
        (gate, lone(b))
    };
    let (xors, lone) = schedule.free.iter().map(gate).unzip();
    let (mut ands, mut batches) = (Vec::new(), Vec::new());
    let mut applied: Vec<Applied> = Vec::new();
    for (number, batch) in schedule.batches.iter().enumerate() {
        let first = ands.len() as u32;
        for &node in schedule.costly_of(batch) {
            match list.gates[(node - list.first_gate) as usize].kind {
                GateKind::Applied { of, output } => {
                    if output == 0 {
                        let operands = list.applied[of as usize].iter();
                        applied.push(Applied {
                            batch: number as u32,
                            function: circuit.applications[of as usize].function,
                            operands: operands.map(|wire| place(*wire)).collect(),
                            outs: Vec::new(),
                        });
                    }
                    let last = applied.last_mut();
                    let last = last.filter(|last| last.batch == number as u32);
                    let outs = &mut last.expect("outputs follow each other in a batch").outs;
                    assert_eq!(outs.len(), output as usize, "outputs stay together");
                    outs.push(place(node));
                }
                _ => ands.push(node),
            }
        }
        batches.push(Batch {
            xors: batch.free.clone(),
            ands: first..ands.len() as u32,
        });
    }
    Tape {
        inputs: list.inputs,
        slots: slots.count,
        xors,
        lone,
        ands: ands.iter().map(|node| gate(node).0).collect(),
        known_to: ands.iter().map(|node| known_to(list, *node).1).collect(),
        batches,
        functions: circuit.functions.clone(),
        applied,
        outputs: list.outputs.iter().map(|&wire| place(wire)).collect(),
        depth: graph.depths().into_iter().max().unwrap_or(0),
        counted: Counted::default(),
    }
}

/// The number of each gate among those of its kind.
fn numbers(list: &GateList) -> Vec<u32> {
    let mut next = [0, 0, 0];
    let number = |gate: &PlainGate| {
        let kind = match gate.kind {
            GateKind::Xor => 0,
            GateKind::And(_) => 1,
            GateKind::Applied { .. } => 2,
        };
        let next = &mut next[kind];
        *next += 1;
        *next - 1
    };
    list.gates.iter().map(number).collect()
}

/// For each wire, the wire that it equals or inverts, whose labels it shares; and the number of
/// times these are read, by gates and as outputs.
fn readers(list: &GateList) -> (Vec<u32>, Vec<u32>) {
    let mut roots: Vec<u32> = (0..list.first_gate).collect();
    let mut readers = vec![0; list.first_gate as usize + list.gates.len()];
    for gate in &list.gates {
        let wire = roots.len() as u32;
        let (a, b) = (roots[gate.a as usize], roots[gate.b as usize]);
        if gate.kind == GateKind::Xor && gate.b == ONE {
            roots.push(a);
        } else {
            if let GateKind::Applied { of, output: 0 } = gate.kind {
                let operands = list.applied[of as usize].iter();
                operands.for_each(|wire| readers[roots[*wire as usize] as usize] += 1);
            }
            readers[a as usize] += 1;
            readers[b as usize] += 1;
            roots.push(wire);
        }
    }
    for &wire in &list.outputs {
        readers[roots[wire as usize] as usize] += 1;
    }
    (roots, readers)
}
