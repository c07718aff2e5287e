//! The Bristol formats: each kind of gate, each error with its place, and garbage.

use proptest::prelude::*;
use sealane_circuit::bristol::{Format, WriteError, read, write};
use sealane_circuit::{Builder, EvalError, Wire, eval_hex, eval_words};

/// Every kind of gate: (a & b, a ^ b, !a, 1, b), and two ANDs at once.
const FASHION: &str = "6 11
2 2 2
2 5 2

2 1 0 2 4 AND
2 1 0 2 5 XOR
1 1 0 6 INV
1 1 1 7 EQ
1 1 2 8 EQW
4 2 0 1 2 3 9 10 MAND
";

#[test]
fn every_kind_of_gate_is_read() {
    // Six lines, of which one makes two wires: the header counts lines.
    let file = read(FASHION).unwrap();
    assert_eq!(file.format, Format::BristolFashion);
    let info = file.info;
    let sizes = [info.wires, info.gates, info.ands, info.xors, info.depth];
    assert_eq!(sizes, [11, 6, 3, 1, 1]);
    for (x, y) in (0..4).flat_map(|x| (0..4).map(move |y| (x, y))) {
        let (a, b) = (x & 1, y & 1);
        let first = (a & b) | (a ^ b) << 1 | (a ^ 1) << 2 | 1 << 3 | b << 4;
        assert_eq!(eval_words(&file.circuit, &[x, y]).unwrap(), [first, x & y]);
    }
}

#[test]
fn errors_name_the_place_and_what_belongs_there() {
    // The text, in which `fashion` and `old` stand for a header of a format and `;` for the end of
    // a line; line and column, how the expectation begins, and what is found.
    let cases = "\
        | 1:1 | the numbers of gates and of wires | the end of the file
        x 3 | 1:1 | the number of gates, a number of at most 3 | `x`
        1 +3; | 1:3 | the number of wires, a number of at most | `+3`
        1 3 5 | 1:5 | the end of the line, after the numbers | `5`
        1 | 1:2 | the number of wires | the end of the line
        0 99999999999999999999 | 1:3 | the number of wires | `99999999999999999999`
        old 2 1 0 1 2 EQ | 3:11 | XOR, AND or INV | `EQ`
        1 3;1 1;2 1 0 1 2 XOR | 2:4 | the width of the output | the end of the line
        fashion 2 1 0 1 2 NAND | 4:11 | XOR, AND, INV, EQ, EQW or MAND | `NAND`
        fashion 2 1 0 1 2 | 4:10 | XOR, AND, INV, EQ, EQW or MAND | the end of the line
        fashion ;  1 1 0 2 XOR | 5:3 | 2 1, the inputs and outputs of XOR | `1`
        fashion 2 1 0 7 2 XOR | 4:7 | a wire, a number of at most 2 | `7`
        fashion 2 1 0 2 2 XOR | 4:7 | a wire that an input or an earlier | `2`
        fashion 2 1 0 1 1 XOR | 4:9 | a wire that nothing writes before | `1`
        fashion 2 1 0 1 2 XOR;2 1 0 1 2 XOR; | 5:1 | the end of the file, after 1 gates | `2`
        2 3;2 1 1;1 1;2 1 0 1 2 XOR; | 5:1 | gate 2 of 2 | the end of the file
        0 3;2 1 1;1 1; | 4:1 | a gate that writes output wire 2 | the end of the file
        1 3;2 1 9;1 1; | 1:3 | at least 10 wires, for the inputs | `3`
        1 3;3 1 1;1 1; | 2:6 | the width of input 3 | the end of the line
        1 3;1 2000000;1 1; | 2:3 | the width of input 1 | `2000000`";
    for case in cases.lines() {
        let [text, place, expected, found] = case.split('|').collect::<Vec<_>>()[..] else {
            panic!("four parts of {case}")
        };
        let text = text.trim_start().strip_suffix(' ').unwrap_or_default();
        let text = text.replacen("fashion ", "1 3;2 1 1;1 1;", 1);
        let text = text.replacen("old ", "1 3;1 1 1;", 1).replace(';', "\n");
        let error = read(&text).unwrap_err();
        let at = format!("{}:{}", error.line, error.column);
        assert_eq!(at, place.trim(), "{error} in {text:?}");
        let as_expected = error.expected.starts_with(expected.trim());
        assert!(as_expected, "{error} in {text:?}");
        assert_eq!(error.found, found.trim(), "{text:?}");
    }
    let message = "line 4, column 11: expected XOR, AND, INV, EQ, EQW or MAND, found `OR`";
    let error = read("1 3\n2 1 1\n1 1\n2 1 0 1 2 OR").unwrap_err();
    assert_eq!(error.to_string(), message);
}

#[test]
fn the_old_format_says_less() {
    let mut b = Builder::new();
    let words: Vec<_> = (0..3).map(|_| b.input(1)).collect();
    let circuit = b.finish(words);
    let (inputs, outputs) = (3, 3);
    let shape = WriteError::Shape { inputs, outputs };
    assert_eq!(write(&circuit, Format::Bristol), Err(shape));
    let mut b = Builder::new();
    let empty = b.input(0);
    let circuit = b.finish(vec![vec![Wire::ONE], empty]);
    let text = write(&circuit, Format::BristolFashion).unwrap();
    assert_eq!(text, "1 1\n1 0\n2 1 0\n\n1 1 1 0 EQ\n");
    let mut b = Builder::new();
    b.input(0);
    let circuit = b.finish(vec![vec![Wire::ONE]]);
    assert_eq!(write(&circuit, Format::Bristol), Err(WriteError::Constant));
}

#[test]
fn values_are_checked_against_the_circuit() {
    let mut b = Builder::new();
    let (x, y) = (b.input(9), b.input(4));
    let circuit = b.finish(vec![x, y]);
    let eval = |inputs: &[&str]| eval_hex(&circuit, inputs);
    assert_eq!(eval(&["0x1Fe", "7"]).unwrap(), ["0x1fe", "0x7"]);
    assert_eq!(eval(&["1", "0x0000"]).unwrap(), ["0x001", "0x0"]);
    let (expected, found) = (2, 1);
    let count = EvalError::Count { expected, found };
    assert_eq!(eval(&["1"]), Err(count));
    let no_hex = |index| Err(EvalError::NotHex { index });
    assert_eq!(eval(&["1", "0x"]), no_hex(1));
    assert_eq!(eval(&["g", "0"]), no_hex(0));
    let wide = EvalError::TooWide { index: 1, width: 4 };
    assert_eq!(eval_hex(&circuit, &["0", "10"]), Err(wide.clone()));
    assert_eq!(eval_words(&circuit, &[0, 16]), Err(wide));
    let mut b = Builder::new();
    let circuit = {
        let x = b.input(129);
        b.finish(vec![x])
    };
    let (index, width) = (0, 129);
    let wide = EvalError::WideOutput { index, width };
    assert_eq!(eval_words(&circuit, &[0]), Err(wide));
}

/// Reads a text that may be a circuit: an error has a place in the text, and a circuit can be used
/// and written. Returns whether it is one.
fn is_circuit(text: &str) -> bool {
    match read(text) {
        Ok(file) => {
            let zeros = file.circuit.input_widths().iter().map(|&w| vec![false; w]);
            let zeros = zeros.collect::<Vec<_>>();
            let outputs = file.circuit.eval(&zeros);
            let written = write(&file.circuit, Format::BristolFashion).expect("it has outputs");
            let again = read(&written).expect("what is written can be read").circuit;
            assert_eq!(again.eval(&zeros), outputs, "{text:?}");
            true
        }
        Err(error) => {
            let line = text.lines().nth(error.line - 1).unwrap_or("");
            assert!(error.line <= text.lines().count() + 2, "{error}");
            assert!(error.column <= line.chars().count() + 1, "{error}");
            false
        }
    }
}

proptest! {
    #[test]
    fn garbage_is_refused(text in "\\PC{0,80}") {
        prop_assert!(!is_circuit(&text));
        // The header of a circuit lets no garbage in place of its gates.
        let (header, _) = FASHION.split_at(FASHION.find("\n\n").unwrap());
        prop_assert!(!is_circuit(&[header, "\n\n", &text].concat()));
    }

    #[test]
    fn tokens_at_random_are_refused(
        tokens in prop::collection::vec("[0-9]{1,2}|XOR|AND|INV|EQ|EQW|MAND|\n|\u{e9}", 0..60),
    ) {
        prop_assert!(!is_circuit(&tokens.join(" ")));
    }

    #[test]
    fn damaged_circuits_are_refused_or_read(
        at in 0..FASHION.len(),
        cut in 0..6usize,
        with in "[0-9 \nA-Z\u{3b1}]{0,4}",
    ) {
        let end = (at + cut).min(FASHION.len());
        is_circuit(&format!("{}{with}{}", &FASHION[..at], &FASHION[end..]));
    }
}

/// Of damages by one digit, some are circuits and others are not, or the test above shows little.
#[test]
fn a_damage_may_leave_a_circuit() {
    let places = FASHION.bytes().enumerate();
    let places: Vec<_> = places.filter(|(_, byte)| byte.is_ascii_digit()).collect();
    let (same, all) = (places.len(), 10 * places.len());
    let read = places
        .iter()
        .flat_map(|(at, _)| (0..10).map(move |digit| (*at, digit)));
    let read = read
        .map(|(at, digit)| is_circuit(&format!("{}{digit}{}", &FASHION[..at], &FASHION[at + 1..])));
    let good = read.filter(|good| *good).count();
    assert!(same < good && good < all / 2, "{good} of {all}");
}
