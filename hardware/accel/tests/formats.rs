//! Formats: every netlist comes back as it was written, and everything malformed is refused.

use proptest::prelude::*;
use sealane_accel::formats::{Format, Place, Width, WriteError, read, write};
use sealane_accel::netlist::Parts;
use sealane_accel::{FlipFlop, Gate, GateKind, Inputs, Netlist, Operand};

/// A netlist from draws: each operand is a draw modulo what it may be.
fn netlist(inputs: [u32; 6], draws: &[[u32; 3]], flip_flops: u32, constants: bool) -> Netlist {
    let all: u32 = inputs.iter().sum();
    let first = all + flip_flops;
    let operand = |draw: u32, end: u32| match draw % (end + 2) {
        0 if constants => Operand::Zero,
        1 if constants => Operand::One,
        wire => Operand::Wire(wire.saturating_sub(2)),
    };
    let gates = draws.iter().zip(first..).map(|(&[kind, a, b], own)| {
        let kind = GateKind::ALL[kind as usize % GateKind::ALL.len()];
        let in1 = (kind != GateKind::Not).then(|| operand(b, own));
        let in0 = operand(a, own);
        Gate { kind, in0, in1 }
    });
    let gates: Vec<Gate> = gates.collect();
    let end = first + gates.len() as u32;
    let flip_flops = (0..flip_flops).map(|index| FlipFlop {
        next: operand(index * 7 + 5, end),
        initial: operand(index * 3, all),
    });
    let [
        public_initial,
        garbler_initial,
        evaluator_initial,
        public,
        garbler,
        evaluator,
    ] = inputs;
    let outputs = (0..gates.len() as u32).filter(|gate| gate % 3 == 0);
    let outputs: Vec<Operand> = outputs.map(|gate| Operand::Wire(first + gate)).collect();
    Netlist::new(Parts {
        inputs: Inputs {
            public_initial,
            garbler_initial,
            evaluator_initial,
            public,
            garbler,
            evaluator,
        },
        flip_flops: flip_flops.collect(),
        gates,
        outputs,
        ports: None,
        terminate: None,
    })
    .expect("a netlist")
}

fn draws() -> impl Strategy<Value = Vec<[u32; 3]>> {
    prop::collection::vec(
        any::<[u16; 3]>().prop_map(|draw| draw.map(u32::from)),
        0..40,
    )
}

proptest! {
    #[test]
    fn sequential_netlists_come_back(
        draws in draws(), parties in [0u32..4, 0..4, 1..4, 0..4], dff in 0u32..5, reversed: bool,
    ) {
        let [g_init, e_init, g, e] = parties;
        let netlist = netlist([0, g_init, e_init, 0, g, e], &draws, dff, true);
        for format in [
            Format::Fase,
            Format::TinyGarble,
            Format::Hscd(Width::Narrow),
            Format::Hscd(Width::Wide),
        ] {
            let file = read(&write(&netlist, format, &[]).unwrap()).unwrap();
            prop_assert_eq!(file.format, format);
            prop_assert_eq!(&file.netlist, &netlist);
        }
        let mut parts = netlist.parts().clone();
        let count = parts.outputs.len() as u32;
        let ports = 0..count;
        parts.ports = Some(if reversed { ports.rev().collect() } else { ports.collect() });
        let ported = Netlist::new(parts).unwrap();
        let file = read(&write(&ported, Format::Fase, &[]).unwrap()).unwrap();
        prop_assert_eq!(&file.netlist, &ported);
    }

    #[test]
    fn public_inputs_come_back_in_the_form_of_tinygarble(
        draws in draws(), counts in [0u32..3, 0..3, 0..3, 1..3, 0..3, 0..3],
    ) {
        let netlist = netlist(counts, &draws, 2, true);
        let file = read(&write(&netlist, Format::TinyGarble, &[]).unwrap()).unwrap();
        prop_assert_eq!(file.netlist, netlist);
    }

    #[test]
    fn combinational_netlists_come_back_in_the_form_of_justgarble(
        draws in draws(), inputs in 1u32..300,
    ) {
        let netlist = netlist([0, 0, 0, 0, inputs, 0], &draws, 0, false);
        let file = read(&write(&netlist, Format::JustGarble, &[]).unwrap()).unwrap();
        prop_assert_eq!(file.netlist, netlist);
    }

    /// Stall lines come back, and are not counted as gates.
    #[test]
    fn stall_lines_come_back(draws in draws(), stalls in prop::collection::vec(0u32..3, 40)) {
        let netlist = netlist([0, 0, 0, 0, 2, 0], &draws, 1, true);
        let stalls = &stalls[..draws.len()];
        for width in [Width::Narrow, Width::Wide] {
            let file = read(&write(&netlist, Format::Hscd(width), stalls).unwrap()).unwrap();
            prop_assert_eq!(&file.netlist, &netlist);
            let any = stalls.iter().any(|&count| count > 0);
            prop_assert_eq!(&file.stalls[..], if any { stalls } else { &[] });
        }
    }

    /// No input of bytes does anything but be refused or read.
    #[test]
    fn damaged_files_are_read_or_refused(
        draws in draws(), at in any::<prop::sample::Index>(), byte: u8, cut: bool,
    ) {
        let netlist = netlist([0, 0, 0, 0, 3, 0], &draws, 0, false);
        for format in [Format::Fase, Format::JustGarble, Format::Hscd(Width::Narrow)] {
            let mut bytes = write(&netlist, format, &[]).unwrap();
            let at = at.index(bytes.len());
            if cut { bytes.truncate(at) } else { bytes[at] = byte }
            if let Err(error) = read(&bytes) {
                prop_assert!(!error.what.is_empty() && !error.hint.is_empty());
            }
        }
    }
}

/// A truth table says what a gate computes; opcodes are those tables, but for NOT.
#[test]
fn opcodes_are_truth_tables() {
    for kind in GateKind::ALL {
        let not = *kind == GateKind::Not;
        assert_eq!(kind.code() == kind.truth_table(), !not, "{kind:?}");
        assert_eq!(GateKind::of_code(kind.code().into()), Some(*kind));
    }
    assert_eq!(GateKind::of_code(-1), None);
}

/// One AND, in four forms.
#[test]
fn forms_written_by_hand_are_one_netlist() {
    let fase = read(b"0 0 1 1 0 1 1\n0\n1\n8\n2\n\n\n").unwrap().netlist;
    let tiny = read(b"0 0 0 0 1 1 0 1 0 1\n0\n1\n8\n2").unwrap();
    assert_eq!(
        (tiny.format, tiny.netlist),
        (Format::TinyGarble, fase.clone())
    );
    // n = 2, m = 1, q = 1; operands 0 and 1; table 8; output 3, behind the wire that is not used.
    let just = read(&[0x97, 2, 1, 1, 0, 1, 8, 3]).unwrap();
    assert_eq!(just.format, Format::JustGarble);
    assert_eq!(just.netlist.gates(), fase.gates());
    let words = "00000000\n00004001\n00000001\n00000001\n000000031\n";
    let hscd = read(words.as_bytes()).unwrap().netlist;
    assert_eq!(hscd, fase);
}

/// NOT and copies of JustGarble.
#[test]
fn truth_tables_of_one_operand_become_gates_without_tables() {
    let of = |table: u8| read(&[0x97, 2, 1, 1, 0, 1, table, 3]).map(|file| file.netlist.gates()[0]);
    let gate = |kind, in0, in1| Gate { kind, in0, in1 };
    let [a, b] = [0, 1].map(Operand::Wire);
    assert_eq!(of(5), Ok(gate(GateKind::Not, b, None)));
    assert_eq!(of(3), Ok(gate(GateKind::Not, a, None)));
    assert_eq!(of(12), Ok(gate(GateKind::Xor, a, Some(Operand::Zero))));
    assert_eq!(of(10), Ok(gate(GateKind::Xor, b, Some(Operand::Zero))));
    assert_eq!(
        of(15),
        Ok(gate(GateKind::Xnor, Operand::Zero, Some(Operand::Zero)))
    );
    assert_eq!(of(16).unwrap_err().place, Place::Byte(6));
}

#[test]
fn refusals_name_place_and_reason() {
    let refused = |text: &str| {
        let error = read(text.as_bytes()).expect_err(text);
        error.to_string()
    };
    let text = |line: usize, column: usize| format!("line {line}, column {column}: ");
    for (file, place, reason) in [
        ("", text(1, 1), "0 counts"),
        ("1 2", text(1, 1), "2 counts"),
        ("0 0 1 1 0 1 x", text(1, 13), "`x`"),
        (
            "0 0 1 1 0 1 99999999999999999999",
            text(1, 13),
            "not a number",
        ),
        ("0 0 1 1 0 1 16777217", text(1, 13), "not between 0"),
        ("0 0 -1 1 0 1 1", text(1, 5), "count -1"),
        ("0 0 1 1 0 1 1\n", text(2, 1), "0 first operands, not 1"),
        ("0 0 1 1 0 1 1\n0 0\n", text(2, 3), "more than 1"),
        ("0 0 1 1 0 1 1\n0\n1\n3\n2", text(4, 1), "opcode 3"),
        ("0 0 1 1 0 1 1\n0\n1\n-1\n2", text(4, 1), "opcode -1"),
        ("0 0 1 1 0 1 1\n0\n1\n12\n2", text(3, 1), "which is a NOT"),
        ("0 0 1 1 0 1 1\n0\n-1\n8\n2", text(3, 1), "operand -1"),
        (
            "0 0 1 1 0 1 1\n2\n1\n8\n2",
            text(2, 1),
            "gate 0 reads wire 2",
        ),
        (
            "0 0 1 1 0 1 1\n0\n7\n8\n2",
            text(3, 1),
            "gate 0 reads wire 7",
        ),
        (
            "0 0 1 1 0 1 1\n0\n1\n8\n3",
            text(5, 1),
            "output 0 is wire 3",
        ),
        (
            "0 0 1 1 1 1 1\n0\n1\n8\n3\n4\n0",
            text(6, 1),
            "D of flip-flop 0",
        ),
        (
            "0 0 1 1 1 1 1\n0\n1\n8\n3\n0\n2",
            text(7, 1),
            "I of flip-flop 0",
        ),
        ("0 0 1 1 0 1 1\n0\n1\n8\n2\n\n\nports 1", text(8, 7), "port"),
        (
            "0 0 1 1 0 1 1\n0\n1\n8\n2\n\n\nports",
            text(8, 1),
            "ports of 1 outputs",
        ),
        (
            "0 0 1 1 0 1 1\n0\n1\n8\n2\n\n\npins 0",
            text(8, 1),
            "line of ports",
        ),
        (
            "0 0 1 1 0 1 1\n0\n1\n8\n2\n\n\n\n5",
            text(9, 1),
            "a line behind",
        ),
        (
            "0 0 0 0 1 1 0 1 4 1\n0\n1\n8\n2",
            text(1, 17),
            "ends a run is 4",
        ),
        ("0000000g", text(1, 1), "hexadecimal"),
        (
            "00000000\n00000000\n00000000\n00000001",
            text(5, 1),
            "the end of the file",
        ),
        (
            "00000000\n00000000\n00000000\n00000000\n00000000",
            text(5, 1),
            "a line behind",
        ),
        (
            "00000000\n00004001\n00000001\n00000001\n00200031",
            text(5, 1),
            "reads wire 4",
        ),
    ] {
        let error = refused(file);
        assert!(
            error.starts_with(&place) && error.contains(reason),
            "{file}: {error}"
        );
    }
}

#[test]
fn forms_that_cannot_hold_a_netlist_say_so() {
    let large = netlist([0, 0, 0, 0, 1 << 13, 0], &[[5, 8193, 8193]], 0, false);
    let narrow = write(&large, Format::Hscd(Width::Narrow), &[]);
    assert!(
        matches!(narrow, Err(WriteError::TooLarge { most: 8188, .. })),
        "{narrow:?}"
    );
    let again = read(&write(&large, Format::Hscd(Width::Wide), &[]).unwrap()).unwrap();
    assert_eq!(again.netlist, large);
    let public = netlist([0, 0, 0, 1, 1, 0], &[[5, 0, 1]], 1, true);
    for format in [Format::Fase, Format::JustGarble, Format::Hscd(Width::Wide)] {
        let refused = write(&public, format, &[]);
        assert!(matches!(refused, Err(WriteError::Missing(_))), "{format:?}");
    }
    let stalls = write(&large, Format::Fase, &[1]);
    assert!(matches!(stalls, Err(WriteError::Missing(_))));
}
