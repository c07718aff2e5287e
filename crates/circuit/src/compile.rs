//! From circuits to tapes: order the gates, place the values.

use sealane_schedule::{Graph, Machine, Schedule, Slots, Work, schedule, slots};

use crate::circuit::{Circuit, GateList, ONE, PlainGate, ZERO};
use crate::tape::{Batch, Gate, Knower, Tape};

/// Compiles `circuit` for `machine`: gates in the order of [`schedule`], wires in slots that are
/// reused after the last use. The result is a function of the arguments alone, so that all parties
/// derive the same tape.
pub fn compile(circuit: &Circuit, machine: &Machine) -> Tape {
    compile_known(circuit, machine, &[])
}

/// [`compile`], where input bit `i` (of all inputs in order) is known in the clear to `known[i]`;
/// bits beyond the end of `known` are known to nobody. ANDs with an operand that is a sum of one
/// party's bits are marked in [`Tape::knowers`].
pub fn compile_known(circuit: &Circuit, machine: &Machine, known: &[Knower]) -> Tape {
    let list = circuit.lower_known(known);
    let graph = graph_of(&list);
    let mut schedule = schedule(&graph, machine);
    let knower = |node: u32| list.gates[(node - list.first_gate) as usize].knower;
    for batch in &schedule.batches {
        let ands = batch.costly.start as usize..batch.costly.end as usize;
        schedule.costly[ands].sort_by_key(|&node| knower(node));
    }
    // A tape promises that the constants stay; outputs are read after the last batch.
    let mut keep = list.outputs.clone();
    keep.extend([ZERO, ONE]);
    let slots = slots(&graph, &schedule, &keep);
    write(&list, &graph, &schedule, &slots)
}

fn graph_of(list: &GateList) -> Graph {
    let mut graph = Graph::new(list.first_gate);
    for gate in &list.gates {
        let work = if gate.is_and {
            Work::Costly
        } else {
            Work::Free
        };
        graph.push(work, &[gate.a, gate.b]);
    }
    graph
}

fn write(list: &GateList, graph: &Graph, schedule: &Schedule, slots: &Slots) -> Tape {
    let place = |wire: u32| slots.of[wire as usize];
    let numbers = numbers(list);
    let readers = readers(list);
    let lone = |wire: u32| wire >= list.first_gate && readers[wire as usize] == 1;
    let gate = |&node: &u32| {
        let index = (node - list.first_gate) as usize;
        let PlainGate { a, b, .. } = list.gates[index];
        // Of the operands of an XOR, one that nobody else reads is the second.
        let (a, b) = match !list.gates[index].is_and && lone(a) && !lone(b) {
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
    let knower = |&node: &u32| list.gates[(node - list.first_gate) as usize].knower;
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
        knowers: schedule.costly.iter().map(knower).collect(),
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

/// How often each wire is read, by gates and as an output.
fn readers(list: &GateList) -> Vec<u32> {
    let mut readers = vec![0; list.first_gate as usize + list.gates.len()];
    let read = list.gates.iter().flat_map(|gate| [gate.a, gate.b]);
    read.chain(list.outputs.iter().copied())
        .for_each(|wire| readers[wire as usize] += 1);
    readers
}
