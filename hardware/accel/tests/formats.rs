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
    let outputs = (0..gates.len() as u32).filter(|gate| gate % 3 == 0);
    let outputs: Vec<Operand> = outputs.map(|gate| Operand::Wire(first + gate)).collect();
    let netlist = Netlist::new(Parts {
        inputs: Inputs::of_counts(inputs),
        flip_flops: flip_flops.collect(),
        gates,
        outputs,
        ports: None,
        terminate: None,
    });
    netlist.expect("a netlist")
}

fn draws() -> impl Strategy<Value = Vec<[u32; 3]>> {
    let draw = any::<[u16; 3]>().prop_map(|draw| draw.map(u32::from));
    prop::collection::vec(draw, 0..40)
}

proptest! {
    #[test]
    fn sequential_netlists_come_back(
        draws in draws(), parties in [0u32..4, 0..4, 1..4, 0..4], dff in 0u32..5, reversed: bool,
    ) {
        let [g_init, e_init, g, e] = parties;
        let netlist = netlist([0, g_init, e_init, 0, g, e], &draws, dff, true);
        let hscd = [Width::Narrow, Width::Wide].map(Format::Hscd);
        for format in [Format::Fase, Format::TinyGarble].into_iter().chain(hscd) {
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
    assert!(tiny.format == Format::TinyGarble && tiny.netlist == fase);
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
    let [a, b, zero] = [Operand::Wire(0), Operand::Wire(1), Operand::Zero];
    for (table, kind, in0, in1) in [
        (5, GateKind::Not, b, None),
        (3, GateKind::Not, a, None),
        (12, GateKind::Xor, a, Some(zero)),
        (10, GateKind::Xor, b, Some(zero)),
        (15, GateKind::Xnor, zero, Some(zero)),
    ] {
        assert_eq!(of(table), Ok(Gate { kind, in0, in1 }));
    }
    assert_eq!(of(16).unwrap_err().place, Place::Byte(6));
}

#[test]
fn refusals_name_place_and_reason() {
    const AND: &str = "0 0 1 1 0 1 1\n0\n1\n8\n";
    const ZEROS: &str = "00000000\n00000000\n00000000\n";
    for (file, line, column, reason) in [
        ("", 1, 1, "0 counts"),
        ("1 2", 1, 1, "2 counts"),
        ("0 0 1 1 0 1 x", 1, 13, "`x`"),
        ("0 0 1 1 0 1 99999999999999999999", 1, 13, "not a number"),
        ("0 0 1 1 0 1 16777217", 1, 13, "not between 0"),
        ("0 0 -1 1 0 1 1", 1, 5, "count -1"),
        ("0 0 1 1 0 1 1\n", 2, 1, "0 first operands, not 1"),
        ("0 0 1 1 0 1 1\n0 0\n", 2, 3, "more than 1"),
        ("0 0 1 1 0 1 1\n0\n1\n3\n2", 4, 1, "opcode 3"),
        ("0 0 1 1 0 1 1\n0\n1\n-1\n2", 4, 1, "opcode -1"),
        ("0 0 1 1 0 1 1\n0\n1\n12\n2", 3, 1, "which is a NOT"),
        ("0 0 1 1 0 1 1\n0\n-1\n8\n2", 3, 1, "operand -1"),
        ("0 0 1 1 0 1 1\n2\n1\n8\n2", 2, 1, "gate 0 reads wire 2"),
        ("0 0 1 1 0 1 1\n0\n7\n8\n2", 3, 1, "gate 0 reads wire 7"),
        ("AND3", 5, 1, "output 0 is wire 3"),
        ("0 0 1 1 1 1 1\n0\n1\n8\n3\n4\n0", 6, 1, "D of flip-flop 0"),
        ("0 0 1 1 1 1 1\n0\n1\n8\n3\n0\n2", 7, 1, "I of flip-flop 0"),
        ("AND2\n\n\nports 1", 8, 7, "port"),
        ("AND2\n\n\nports", 8, 1, "ports of 1 outputs"),
        ("AND2\n\n\npins 0", 8, 1, "line of ports"),
        ("AND2\n\n\n\n5", 9, 1, "a line behind"),
        ("0 0 0 0 1 1 0 1 4 1\n0\n1\n8\n2", 1, 17, "ends a run is 4"),
        ("0000000g", 1, 1, "hexadecimal"),
        ("ZEROS00000001", 5, 1, "the end of the file"),
        ("ZEROS00000000\n00000000", 5, 1, "a line behind"),
        (
            "00000000\n00004001\n00000001\n00000001\n00200031",
            5,
            1,
            "reads wire 4",
        ),
    ] {
        // `AND`: an AND of two inputs, up to its output. `ZEROS`: counts of HSCD.
        let file = file.replace("AND", AND).replace("ZEROS", ZEROS);
        let error = read(file.as_bytes()).expect_err(&file).to_string();
        let place = format!("line {line}, column {column}: ");
        let right = error.starts_with(&place) && error.contains(reason);
        assert!(right, "{file}: {error}");
    }
}

#[test]
fn forms_that_cannot_hold_a_netlist_say_so() {
    let large = netlist([0, 0, 0, 0, 1 << 13, 0], &[[5, 8193, 8193]], 0, false);
    let narrow = write(&large, Format::Hscd(Width::Narrow), &[]);
    let too_large = matches!(narrow, Err(WriteError::TooLarge { most: 8188, .. }));
    assert!(too_large, "{narrow:?}");
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
