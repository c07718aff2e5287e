//! Programs for a scratchpad: run in the clear, against the netlist, and their traffic by hand.

use proptest::prelude::*;
use sealane_accel::engine::{Engine, Work};
use sealane_accel::formats::read;
use sealane_accel::functions::{PROGRAMS, program};
use sealane_accel::netlist::Parts;
use sealane_accel::scratchpad::{Program, ScratchpadError, Step, Traffic, compile};
use sealane_accel::{Gate, GateKind, Inputs, Netlist, Operand};

/// The order of six units for XOR.
fn order(netlist: &Netlist) -> Vec<u32> {
    let issues = Work::new(netlist, Engine::SIX_XOR).order(1);
    let gates = issues.iter().map(|issue| issue.node - netlist.first_gate());
    gates.collect()
}

/// The values of all wires.
fn values(netlist: &Netlist, inputs: &[bool]) -> Vec<bool> {
    let mut values = inputs.to_vec();
    for gate in netlist.gates() {
        let operand = |operand: Operand| match operand {
            Operand::Wire(wire) => values[wire as usize],
            constant => constant == Operand::One,
        };
        let in1 = gate.in1.map(operand);
        let value = output(gate, operand(gate.in0), in1.unwrap_or_default());
        values.push(value);
    }
    values
}

fn output(gate: &Gate, in0: bool, in1: bool) -> bool {
    match gate.kind {
        GateKind::Not => !in0,
        kind => kind.truth_table() >> (2 * u8::from(in0) + u8::from(in1)) & 1 == 1,
    }
}

/// Runs a program on a scratchpad and a memory, and checks every gate.
fn check(netlist: &Netlist, program: &Program, places: u32, inputs: &[bool]) {
    let expected = values(netlist, inputs);
    let mut memory: Vec<Option<bool>> = inputs.iter().map(|&bit| Some(bit)).collect();
    memory.resize(netlist.wires() as usize, None);
    let mut scratchpad: Vec<Option<bool>> = vec![None; places as usize];
    let mut garbled = 0;
    for step in &program.steps {
        match *step {
            Step::Load { wire, place } => {
                scratchpad[place as usize] = Some(memory[wire as usize].expect("was stored"));
            }
            Step::Store { wire, place } => memory[wire as usize] = scratchpad[place as usize],
            Step::Gate {
                gate,
                operands,
                place,
            } => {
                let parts = netlist.gates()[gate as usize];
                let value = |operand: Operand, place: Option<u32>| match operand {
                    Operand::Wire(_) => {
                        let place = place.expect("a wire has a place");
                        scratchpad[place as usize].expect("the place is taken")
                    }
                    constant => constant == Operand::One,
                };
                let in0 = value(parts.in0, operands[0]);
                let in1 = parts.in1.map(|in1| value(in1, operands[1]));
                let value = output(&parts, in0, in1.unwrap_or_default());
                let wire = netlist.first_gate() + gate;
                assert_eq!(value, expected[wire as usize], "gate {gate}");
                scratchpad[place as usize] = Some(value);
                garbled += 1;
            }
        }
    }
    assert_eq!(garbled, netlist.gates().len());
}

/// Two ANDs and an XOR of both: with three places the input that is used again is given up.
#[test]
fn traffic_of_a_few_gates() {
    let text = "0 0 2 2 0 1 4\n0 2 4 6\n1 3 5 0\n8 8 6 6\n7\n\n\n";
    let netlist = read(text.as_bytes()).unwrap().netlist;
    let order = [0, 1, 2, 3];
    let least = Traffic {
        tables: 2 * 32,
        program: 4 * 8,
        inputs: 4 * 16,
        ..Traffic::default()
    };
    let large = compile(&netlist, &order, 5).unwrap();
    assert_eq!((large.traffic, large.most), (least, 4));
    let small = compile(&netlist, &order, 3).unwrap();
    let again = Traffic { loads: 24, ..least };
    assert_eq!((small.traffic, small.most), (again, 3));
    assert_eq!(small.traffic.all(), 64 + 32 + 64 + 24);
    let error = |order: &[u32], places| compile(&netlist, order, places).unwrap_err();
    assert_eq!(error(&order, 2), ScratchpadError::Places(2));
    for order in [&[0, 1, 2][..], &[0, 2, 1, 3], &[0, 1, 2, 2], &[0, 1, 2, 9]] {
        assert_eq!(error(order, 5), ScratchpadError::Order);
    }
    let text = "0 0 1 1 1 1 5\n0 1 3 3 6\n2 2 1 4 2\n6 6 6 8 6\n5\n7\n-2\n";
    let sequential = read(text.as_bytes()).unwrap().netlist;
    let error = compile(&sequential, &[0, 1, 2, 3, 4], 5).unwrap_err();
    assert_eq!(error, ScratchpadError::FlipFlops(1));
}

proptest! {
    #[test]
    fn programs_compute_what_the_netlist_does(
        draws in prop::collection::vec(any::<(u8, u16, u16)>(), 1..120),
        bits in prop::collection::vec(any::<bool>(), 8),
        places in 3..20u32,
    ) {
        let gates = draws.iter().enumerate().map(|(number, &(kind, a, b))| {
            let kind = GateKind::ALL[kind as usize % GateKind::ALL.len()];
            let wire = |draw: u16| match draw {
                0..1000 => Operand::One,
                draw => Operand::Wire(u32::from(draw) % (8 + number as u32)),
            };
            Gate { kind, in0: wire(a), in1: (kind != GateKind::Not).then(|| wire(b)) }
        });
        let parts = Parts {
            inputs: Inputs::of_counts([0, 0, 0, 0, 4, 4]),
            gates: gates.collect(),
            outputs: vec![Operand::Wire(8)],
            ..Parts::default()
        };
        let netlist = Netlist::new(parts).unwrap();
        let order = order(&netlist);
        let program = compile(&netlist, &order, places).unwrap();
        prop_assert!(program.most <= places);
        check(&netlist, &program, places, &bits);
        let large = compile(&netlist, &order, 200).unwrap();
        prop_assert_eq!(large.traffic.all(), large.traffic.least());
        prop_assert!(program.traffic.all() >= large.traffic.all());
    }
}

/// A scratchpad of 64 Ki keys holds all that a program needs: nothing is stored.
#[test]
fn traffic_of_programs_is_near_the_bound() {
    for name in PROGRAMS {
        let netlist = program(name).unwrap().netlist().unwrap();
        let order = order(&netlist);
        let traffic = compile(&netlist, &order, 1 << 16).unwrap().traffic;
        let near = traffic.all() * 10 <= traffic.least() * 11;
        assert!(near, "{name}: {traffic:?}");
    }
}
