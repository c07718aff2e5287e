//! From circuits to tapes: order the gates, place the values.

use sealane_schedule::{Graph, Machine, Schedule, Slots, Work, schedule, slots};

use crate::circuit::{Circuit, GateList, ONE, ZERO};
use crate::tape::{Batch, Gate, Tape};

/// Compiles `circuit` for `machine`: gates in the order of [`schedule`], wires in slots that are
/// reused after the last use. The result is a function of the arguments alone, so that all parties
/// derive the same tape.
pub fn compile(circuit: &Circuit, machine: &Machine) -> Tape {
    let list = circuit.lower();
    let graph = graph_of(&list);
    let schedule = schedule(&graph, machine);
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
    let gate = |&node: &u32| {
        let gate = &list.gates[(node - list.first_gate) as usize];
        Gate {
            a: place(gate.a),
            b: place(gate.b),
            out: place(node),
        }
    };
    let batch = |b: &sealane_schedule::Batch| Batch {
        xors: b.free.clone(),
        ands: b.costly.clone(),
    };
    Tape {
        inputs: list.inputs,
        slots: slots.count,
        xors: schedule.free.iter().map(gate).collect(),
        ands: schedule.costly.iter().map(gate).collect(),
        batches: schedule.batches.iter().map(batch).collect(),
        outputs: list.outputs.iter().map(|&wire| place(wire)).collect(),
        depth: graph.depths().into_iter().max().unwrap_or(0),
    }
}
