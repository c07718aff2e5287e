//! Choice of the table for each input of a party, and the errors if one is missing or superfluous.
//! Crate `tables` tests the content of tables.

use crate::common::numbers;
use sealane_engine::data::{self, Sources};
use sealane_engine::{EngineError, FailureKind};
use sealane_program::graph::{Graph, Input, Program, RowSymbol};
use sealane_program::types::{Data, Type};
use sealane_testkit::input::{NUMBERS, age, input};

/// Program of one party that consists of its inputs, with a table of at most 4 people.
fn program(inputs: Vec<Input>) -> Program {
    Program {
        name: "program".to_string(),
        parties: vec!["clinic".to_string(), "lab".to_string()],
        rows: vec![RowSymbol {
            name: "people".to_string(),
            bound: 4,
            sum: Vec::new(),
        }],
        flush_subnormals: false,
        inputs,
        main: Graph::default(),
        results: vec![],
    }
}

#[test]
fn files_that_are_missing_or_unknown_are_reported() {
    let program = program(vec![age()]);
    let load = |arguments: &[&str]| {
        let arguments: Vec<_> = arguments.iter().map(|text| text.to_string()).collect();
        let error = data::load(&program, 0, &Sources::from_arguments(&arguments));
        error
            .err()
            .expect("it has to be refused")
            .render_with_source()
    };
    assert_eq!(
        load(&[]),
        "error[data-missing]: there is no file for the input `age`\n\
         reason: `clinic` owns it\n\
         hint: add `--input age=FILE`"
    );
    assert_eq!(
        load(&["ages=a.csv"]),
        "error[data-unknown-input]: this party has no input named `ages`\n\
         reason: a file was given: a.csv\n\
         hint: its inputs are: age"
    );
    assert_eq!(
        load(&["age=a.csv", "b.csv"]),
        "error[data-unknown-input]: each input of this party has a file of its own already\n\
         reason: a file was given: b.csv\n\
         hint: leave this one out; its inputs are: age"
    );
    assert_eq!(
        load(&["./nowhere.csv"]),
        "error[data-unreadable]: cannot read ./nowhere.csv\n\
         reason: No such file or directory (os error 2)\n\
         hint: check the path and the format: CSV with a header line, .parquet or .npy"
    );
}

#[test]
fn row_counts_of_one_party_have_to_fit() {
    let sick = input("sick", Type::Bool, NUMBERS, (0, 1), &[]);
    let program = program(vec![age(), sick]);
    let column = |rows: usize| Some(numbers(Type::U8, vec![rows as u64], &vec![1; rows]));
    let rows = |ages, flags| {
        data::own_rows(&program, &[column(ages), column(flags)])
            .map_err(|error| error.render_with_source())
    };
    assert_eq!(rows(3, 3), Ok(vec![Some(3)]));
    assert_eq!(
        rows(5, 5),
        Err("error[data-rows]: `age` has 5 rows\n\
             reason: the program says `people <= 4`\n\
             hint: give at most 4 rows"
            .to_string())
    );
    assert_eq!(rows(0, 0), Ok(vec![Some(0)]));
    assert_eq!(
        rows(3, 4),
        Err("error[data-rows]: `sick` has 4 rows but `age` 3\n\
             reason: the program says `people <= 4`\n\
             hint: give both as many rows"
            .to_string())
    );
}

#[test]
fn data_from_memory_are_checked_like_files() {
    let program = program(vec![age()]);
    let ages = |ty, shape: &[u64], ages: &[i128]| Some(numbers(ty, shape.to_vec(), ages));
    let check = |party, inputs: &[Option<Data>]| data::check_own(&program, party, inputs);
    // Another integer type is accepted; only the numbers matter.
    assert!(check(0, &[ages(Type::I64, &[2], &[41, 120])]).is_ok());
    assert!(check(1, &[None]).is_ok());
    let refused = |party, inputs: &[Option<Data>]| {
        let error: EngineError = check(party, inputs).expect_err("it has to be refused");
        (error.kind(), error.to_string())
    };
    let (kind, text) = refused(0, &[ages(Type::I64, &[2], &[41, -1])]);
    assert_eq!(kind, FailureKind::Data);
    let said = text.contains("`age` is -1 at element 1, outside 0 to 120");
    assert!(said, "{text}");
    let (kind, text) = refused(0, &[ages(Type::U8, &[1, 2], &[4, 1])]);
    assert_eq!(kind, FailureKind::Data);
    assert!(text.contains("`age` has the shape [1, 2]"), "{text}");
    let mut short = numbers(Type::U8, vec![2], &[4, 1]);
    short.elements.pop();
    let said = refused(0, &[Some(short)]).1;
    assert!(said.contains("`age` has the shape [2]"));
    let huge = Data {
        ty: Type::U8,
        shape: vec![1 << 40, 1 << 40],
        elements: vec![],
    };
    assert!(refused(0, &[Some(huge)]).1.contains("has the shape"));
    let reported = |party, inputs: &[Option<Data>], text: &str| {
        let (kind, shown) = refused(party, inputs);
        assert_eq!(kind, FailureKind::Misuse);
        assert!(shown.contains(text), "{shown}");
    };
    reported(0, &[None], "the input `age` is missing");
    let other = "the input `age` belongs to another party";
    reported(1, &[ages(Type::U8, &[1], &[4])], other);
    reported(0, &[], "the program has 1 input, not 0");
    sealane_testkit::page::shows("input-count", &refused(0, &[]).1);
}
