//! Local work: a party computes alone on its own inputs; no gate is garbled, and only results
//! cross.

use crate::common::in_tiles;
use sealane_engine::{Job, ProtocolName, simulate};
use sealane_program::text;
use sealane_program::types::{Data, Type};

/// Rows of ann's table; ben has one number.
const ROWS: u64 = 20;

/// Job with the sum of ann's squares, as `main` states, and the values revealed of it.
fn job(main: &str) -> Job {
    let source = format!(
        "sealane program 1\nname local\nparty ann\nparty ben\nrows n <= 100\n\
         input x : ann u8[n] in 0..255\ninput y : ben u8 in 0..255\nmain {{\n  \
         %0 = param 0 : u8[n] in 0..255 known ann\n  %1 = param 1 : u8 in 0..255 known ben\n  \
         %2 = cast %0 : u32[n] in 0..255 known ann\n  \
         %3 = mul %2, %2 : u32[n] in 0..65025 known ann\n  \
         %4 = reduce sum %3 axis 0 : u32 in 0..6502500 known ann\n{main}"
    );
    let program = text::parse(&source, "local").unwrap_or_else(|error| panic!("{error}"));
    in_tiles(program, ProtocolName::Yao, &[], 7)
}

/// Runs a job over rows 0, 1, ..., 19 and 9; returns its report and its only result.
fn run(job: &Job) -> (sealane_engine::RunReport, Vec<u64>) {
    let data = |shape: &[u64], elements: Vec<u64>| Data {
        ty: Type::U8,
        shape: shape.to_vec(),
        elements,
    };
    let inputs = vec![data(&[ROWS], (0..ROWS).collect()), data(&[], vec![9])];
    let mut report = simulate(job, inputs).unwrap_or_else(|error| panic!("{error}"));
    assert!(report.as_planned());
    let result = report.results[0].data.take().expect("somebody learns it");
    (report, result.elements.clone())
}

#[test]
fn a_sum_of_own_squares_takes_no_gate_and_shares_one_number() {
    let job = job("}\nreveal total = %4 : u32 to ben\n");
    let (report, total) = run(&job);
    assert_eq!(total, [(0..ROWS).map(|x| x * x).sum::<u64>()]);
    assert_eq!(report.promise.ands, 0);
    // The traffic does not depend on the number of rows.
    let bytes = |rows| job.cost(&[rows]).expect("rows in bounds").promise.payload;
    assert_eq!(bytes(1), bytes(100));
    assert_eq!(bytes(ROWS), report.promise.payload);
}

#[test]
fn joint_work_begins_with_what_was_computed_alone() {
    let job = job(
        "  %5 = cast %1 : u32 in 0..255 known ben\n  %6 = add %4, %5 : u32 in 0..6502755 secret\n\
         }\nreveal total = %6 : u32 to ann\n",
    );
    let (report, total) = run(&job);
    assert_eq!(total, [(0..ROWS).map(|x| x * x).sum::<u64>() + 9]);
    // 23 bits of one operand and 8 of the other.
    assert_eq!(report.promise.ands, 22);
}

#[test]
fn a_plan_says_who_computes_what_alone() {
    let job = job("}\nreveal total = %4 : u32 to ben\n");
    let cost = job.cost(&[ROWS]).expect("rows in bounds");
    let local = cost
        .steps
        .iter()
        .take_while(|step| step.label.starts_with("local at ann: "));
    let local = local.collect::<Vec<_>>();
    let steps = &cost.steps;
    assert_eq!(local.len(), 2, "the squares and their sum: {steps:?}");
    for step in local {
        assert!(step.ands == 0 && step.sent == [0, 0]);
        assert!(step.lanes >= ROWS - 1);
    }
}
