//! Compilation of circuits to tapes: gates are ordered and values get slots.

use sealane_schedule::{Graph, Machine, NodeCost, Schedule, Slots, schedule, slots};

use crate::circuit::{Circuit, GateList, ONE, PlainGate, ZERO};
use crate::tape::{Batch, Gate, KnownTo, Tape};

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
    let known_to = |node: u32| list.gates[(node - list.first_gate) as usize].known_to;
    for batch in &schedule.batches {
        let ands = batch.costly.start as usize..batch.costly.end as usize;
        schedule.costly[ands].sort_by_key(|&node| known_to(node));
    }
    // A tape keeps its constants; outputs are read after the last batch.
    let mut keep = list.outputs.clone();
    keep.extend([ZERO, ONE]);
    let slots = slots(&graph, &schedule, &keep);
    write(&list, &graph, &schedule, &slots)
}

fn graph_of(list: &GateList) -> Graph {
    let mut graph = Graph::new(list.first_gate);
    for gate in &list.gates {
        let work = if gate.is_and {
            NodeCost::Costly
        } else {
            NodeCost::Free
        };
        graph.push(work, &[gate.a, gate.b]);
    }
    graph
}

fn write(list: &GateList, graph: &Graph, schedule: &Schedule, slots: &Slots) -> Tape {
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
        let free = !list.gates[index].is_and && b != ONE;
        let (a, b) = match free && lone(a) && !lone(b) {
            true => (b, a),
            false => (a, b),
        };
        let gate = Gate {
            a: place(a),
            b: place(b),
            out: place(node),
            number: numbers[index],
        };
        (gate, lone(b))
    };
    let known_to = |&node: &u32| list.gates[(node - list.first_gate) as usize].known_to;
    let (xors, lone) = schedule.free.iter().map(gate).unzip();
    let batch = |b: &sealane_schedule::Batch| Batch {
        xors: b.free.clone(),
        ands: b.costly.clone(),
    };
    Tape {
        inputs: list.inputs,
        slots: slots.count,
        xors,
        lone,
        ands: schedule.costly.iter().map(|node| gate(node).0).collect(),
        known_to: schedule.costly.iter().map(known_to).collect(),
        batches: schedule.batches.iter().map(batch).collect(),
        outputs: list.outputs.iter().map(|&wire| place(wire)).collect(),
        depth: graph.depths().into_iter().max().unwrap_or(0),
    }
}

/// The number of each gate among those of its kind.
fn numbers(list: &GateList) -> Vec<u32> {
    let mut next = [0, 0];
    let number = |gate: &PlainGate| {
        let next = &mut next[usize::from(gate.is_and)];
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
        if !gate.is_and && gate.b == ONE {
            roots.push(a);
        } else {
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
