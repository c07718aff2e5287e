//! Random programs: programs that the builder accepts are sound, their text is read back unchanged,
//! and no text makes the parser panic.

use proptest::prelude::*;
use sealane_program::check;
use sealane_program::graph::{Binary, Graph, Loop, Op, Unary, ValueId};
use sealane_program::text::{parse, parse_unchecked, print, print_with_spans};
use sealane_program::types::Type;
use sealane_testkit::random_program::{cases, random_program};
use sealane_testkit::reference::evaluate;
use std::collections::BTreeMap;

/// As many cases as run in a second.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    /// The reference panics on a number outside of its inferred range.
    #[test]
    fn every_number_lies_in_its_inferred_range(case in cases()) {
        let results = evaluate(&case.program, &case.inputs).expect("inputs that fit");
        prop_assert_eq!(results.len(), case.program.results.len());
    }

    #[test]
    fn the_text_reads_back_as_the_program(case in cases()) {
        let text = print(&case.program);
        let read = parse(&text, "text");
        let read = read.map_err(|error| TestCaseError::fail(error.render_with_source()))?;
        prop_assert!(read == case.program);
        prop_assert_eq!(read.hash(), case.program.hash());
        let full = parse(&print_with_spans(&case.program), "text");
        prop_assert!(full.is_ok_and(|full| full == case.program));
    }

    /// A mutated text is refused, or it is a program that can be run like any other: the reference
    /// can compute everything that the parser accepts.
    #[test]
    fn mutated_text_is_refused_or_sound(
        seed in 0u64..40,
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..9, any::<u8>()), 1..4),
    ) {
        let case = random_program(seed);
        let mut bytes = print(&case.program).into_bytes();
        for (at, what, byte) in edits {
            let at = at.index(bytes.len());
            match what {
                0 => drop(bytes.remove(at)),
                1 => bytes.truncate(at.max(1)),
                2 => bytes.insert(at, byte % 128),
                3 => bytes[at] = byte % 128,
                // Replacing digits by digits makes texts that are well-formed and wrong.
                _ => {
                    let digits = (0..bytes.len()).filter(|&i| bytes[i].is_ascii_digit());
                    let digits: Vec<usize> = digits.collect();
                    let Some(&at) = digits.get(at % digits.len().max(1)) else { continue };
                    bytes[at] = b'0' + byte % 10;
                }
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        match parse(&text, "text") {
            Err(error) => prop_assert!(error.render_with_source().starts_with("error[")),
            Ok(program) => {
                // The mutation may have changed the required inputs.
                if let Ok(results) = evaluate(&program, &case.inputs) {
                    prop_assert_eq!(results.len(), program.results.len());
                }
                prop_assert!(parse(&print(&program), "text").is_ok_and(|again| again == program));
            }
        }
    }

    /// A line of garbage is an error wherever it stands, and no later than where it stands.
    #[test]
    fn garbage_is_an_error(garbage in "[^\\s]\\PC*", seed in 0u64..40, at in any::<prop::sample::Index>()) {
        prop_assert!(parse_unchecked(&garbage, "text").is_err());
        let text = print(&random_program(seed).program);
        let mut lines = text.lines().collect::<Vec<_>>();
        let at = at.index(lines.len() + 1);
        lines.insert(at, &garbage);
        let error = parse_unchecked(&lines.join("\n"), "text").err();
        let error = error.ok_or_else(|| TestCaseError::fail(format!("{garbage:?} was read")))?;
        let line = error.span.map_or(0, |span| span.line as usize);
        prop_assert!((1..=at + 2).contains(&line), "{line}, for garbage at {}", at + 1);
    }

    /// A program among them can be written and read again, and an error has a place in the text.
    #[test]
    fn words_of_the_language_in_any_order_are_an_error_or_a_program(
        words in prop::collection::vec(prop::sample::select(vec![
            "sealane", "program", "1", "name", "x", "party", "a", "rows", "n", "<=", "input", ":",
            "u8", "[", "]", ",", "in", "0", "..", "255", "main", "{", "}", "%0", "=", "param",
            "map", "over", "scan", "from", "const", "known", "secret", "reveal", "to", "\n", "\"",
            "-9", "99999999999999999999", "@", "return", "18446744073709551615", "é",
        ]), 0..60),
    ) {
        let (header, words) = ("sealane program 1\nname p\nparty a\n", words.join(" "));
        for text in [
            words.clone(),
            format!("{header}{words}"),
            format!("{header}main {{\n%0 = {words}"),
        ] {
            match parse(&text, "text") {
                Ok(program) => {
                    let again = parse(&print(&program), "text");
                    prop_assert!(again.is_ok_and(|again| again == program), "{text}");
                }
                Err(error) => {
                    let line = error.span.as_ref().map_or(0, |span| span.line as usize);
                    prop_assert!((1..=text.lines().count() + 1).contains(&line), "{error}");
                }
            }
        }
    }
}

/// The strategy reaches every kind of operation, or the tests that use it prove little.
#[test]
fn random_programs_use_every_operation() {
    fn count(graph: &Graph, depth: u32, seen: &mut BTreeMap<String, usize>) {
        let constant = |id: &ValueId| matches!(graph[id].op, Op::Const(_));
        for value in &graph.values {
            let word = match &value.op {
                Op::Reduce(op, ..) => format!("reduce {op:?}"),
                Op::Slice(slice) => format!("slice {}", slice.squeeze),
                Op::Lookup { table, .. } => {
                    let place = if depth > 0 { " in a body" } else { "" };
                    format!("lookup in constants {}{place}", constant(table))
                }
                Op::Prefix(_) => format!("prefix in a body {}", depth > 0),
                Op::Accumulate(op, ..) => format!("accumulate {op:?}"),
                Op::Map(map) => format!("map capturing {}", !map.captured.is_empty()),
                Op::Scan(scan) => format!("scan capturing {}", !scan.captured.is_empty()),
                Op::Sort(..) => format!("sort in a body {}", depth > 0),
                Op::Running(_, _, starts) => format!("running anew {}", starts.is_some()),
                Op::Compact { .. } => format!("compact in a body {}", depth > 0),
                Op::Call(name, _) => name.clone(),
                op => op.word().into(),
            };
            *seen.entry(word).or_default() += 1;
            if let Some(body) = value.op.body() {
                count(body, depth + 1, seen);
            }
        }
    }
    let mut seen = BTreeMap::new();
    let mut nested = 0;
    for seed in 0..800 {
        let case = random_program(seed);
        count(&case.program.main, 0, &mut seen);
        check(&case.program).expect("a program that was checked");
        let bodies = case.program.main.values.iter();
        let bodies = bodies.filter_map(|value| value.op.body());
        nested += bodies
            .filter(|body| body.values.iter().any(|v| v.op.body().is_some()))
            .count();
    }
    // 5 reductions, also running ones, 2 slices, 4 lookups, 2 maps, 2 scans, 2 sorts, 2 prefixes, 2
    // running anew, 2 that keep, 2 calls, 2 products in fields, 6 of fixed point and 14 others.
    let element_wise = Unary::ALL.len() + Binary::ALL.len();
    assert_eq!(seen.len(), element_wise + 52, "{seen:?}");
    let rare: Vec<_> = seen.iter().filter(|(_, count)| **count < 10).collect();
    assert!(rare.is_empty() && nested > 10, "{rare:?}, {nested} nested");
}

/// Scans once proposed whole numbers of fixed point as the next value of a truth value: about one
/// program in 5,000. The builder refuses such a scan, so that a program with one was never made.
#[test]
fn carries_get_values_that_they_can_hold() {
    let mut carried = BTreeMap::new();
    for seed in 0..5_000 {
        let program = random_program(seed).program;
        let values = &program.main.values;
        for value in values {
            let Op::Scan(Loop { init, body, .. }) = &value.op else {
                continue;
            };
            for (carry, next) in init.iter().zip(&body.returns) {
                let (carry, next) = (values[carry.0 as usize].ty, body[next].ty);
                assert_eq!(carry, next, "seed {seed}");
                *carried.entry(carry == Type::Bool).or_insert(0) += 1;
            }
        }
    }
    let counts = [true, false].map(|truth| carried.get(&truth).copied().unwrap_or(0));
    assert!(counts.iter().all(|count| *count > 50), "{counts:?}");
}
