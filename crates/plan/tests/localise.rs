//! Division of programs: the part of each party, its shared results, and equality of the parts with
//! the whole program.

use crate::common::Sketch;
use proptest::prelude::*;
use sealane_parties::PartyId;
use sealane_plan::{Localised, NetworkClass, localise, plan_in_tiles};
use sealane_program::builder::Index;
use sealane_program::graph::{Binary, Op, Program, Reduction, Visibility};
use sealane_program::text;
use sealane_program::types::{Data, Range, Shape, Type};
use sealane_testkit::fake::Honest;
use sealane_testkit::random_program::{Case, cases};
use sealane_testkit::reference;
use std::collections::BTreeMap;

fn divided(program: &Program) -> Localised {
    localise(program).unwrap_or_else(|error| panic!("{error}"))
}

/// The party and range of each input that is computed.
fn computed(program: &Program) -> Vec<(u8, Range)> {
    let joint = divided(program).joint;
    let new = joint.inputs[program.inputs.len()..].iter();
    new.map(|input| (input.owner, input.range)).collect()
}

#[test]
fn a_party_reduces_its_own_table_and_gives_the_sum() {
    let mut s = Sketch::new(1000);
    let (x, y) = (
        s.column("x", 0, Type::unsigned(8)),
        s.input("y", 1, Type::unsigned(8), Shape::scalar()),
    );
    let wide = s.cast(x, Type::unsigned(32));
    let squares = s.binary(Binary::Mul, wide, wide);
    let sum = s.reduce(Reduction::Sum, squares, None);
    let more = s.cast(sum, Type::unsigned(40));
    let y = s.cast(y, Type::unsigned(40));
    let total = s.binary(Binary::Add, more, y);
    s.reveal("total", total, &[0, 1]);
    let program = s.finish();
    let Localised { joint, locals } = divided(&program);
    let local = match &locals[..] {
        [local] => local,
        _ => panic!("one party works alone"),
    };
    let owner = (PartyId(0), &program.parties[0]);
    assert_eq!((local.party, &local.program.parties[0]), owner);
    let (lo, hi) = (0, 255 * 255 * 1000);
    let range = Range { lo, hi };
    assert_eq!(computed(&program), [(0, range)]);
    // The cast is free, so it stays; the product and the sum are gone, and x is not read.
    let ops = joint.main.values.iter().skip(joint.inputs.len());
    let ops = ops.map(|value| &value.op);
    let kinds = ops.map(|op| matches!(op, Op::Cast(_))).collect::<Vec<_>>();
    let others = kinds.iter().filter(|cast| !**cast).count();
    assert_eq!(others, 1, "{}", text::print(&joint));
    let known = |value: &sealane_program::graph::Value| value.visibility == Visibility::Known(0);
    assert!(local.program.main.values.iter().all(known));
}

#[test]
fn what_takes_no_gate_is_not_computed_alone() {
    let unsigned = Type::unsigned(8);
    let mut s = Sketch::new(100);
    let x = s.input("x", 0, unsigned, s.by_rows(&[4]));
    let y = s.column("y", 1, unsigned);
    let parts = [0, 2].map(|at| s.index(x, &[Index::Ellipsis, Index::At(at)]));
    let xor = s.binary(Binary::Xor, parts[0], parts[1]);
    let shifted = s.binary(Binary::Shr, xor, 3);
    let low = s.binary(Binary::And, shifted, 7);
    let flag = s.binary(Binary::Gt, y, low);
    s.reveal("flag", flag, &[0]);
    let program = s.finish();
    assert_eq!(computed(&program), []);
    assert_eq!(text::print(&divided(&program).joint), text::print(&program));
}

#[test]
fn inputs_that_only_change_type_before_they_meet_are_left_as_they_are() {
    let mut s = Sketch::new(1000);
    let x = s.input("x", 0, Type::unsigned(16), s.by_rows(&[30]));
    let w = s.input("w", 1, Type::signed(16), Shape::fixed([30]));
    let threshold = s.input("threshold", 1, Type::signed(32), Shape::scalar());
    let score = s.dot(x, w, Type::signed(64));
    let flag = s.binary(Binary::Gt, score, threshold);
    s.reveal("flag", flag, &[0]);
    let program = s.finish();
    let Localised { joint, locals } = divided(&program);
    let printed = (text::print(&joint), locals.len());
    assert_eq!(printed, (text::print(&program), 0));
}

#[test]
fn a_result_of_few_gates_and_many_bits_is_computed_together() {
    let of = |factor: i128, bits: u8| {
        let mut s = Sketch::new(100);
        let (x, y) = (
            s.column("x", 0, Type::unsigned(bits)),
            s.column("y", 1, Type::unsigned(40)),
        );
        let x = s.cast(x, Type::unsigned(40).wrapping());
        let y = s.cast(y, Type::unsigned(40).wrapping());
        let scaled = s.binary(Binary::Mul, x, factor);
        let sum = s.binary(Binary::Add, scaled, y);
        s.reveal("sum", sum, &[0]);
        computed(&s.finish()).len()
    };
    // One bit times a constant takes no gate, two take few for many bits; eight pay.
    let counts = [(1000, 1), (1001, 2), (1000, 16), (1024, 16)].map(|(n, bits)| of(n, bits));
    assert_eq!(counts, [0, 0, 1, 0]);
}

#[test]
fn a_result_that_one_party_knows_is_computed_by_it_alone() {
    let mut s = Sketch::new(100);
    let x = s.column("x", 1, Type::unsigned(8));
    let flag = s.binary(Binary::Gt, x, 17);
    s.reveal("flag", flag, &[0]);
    let program = s.finish();
    assert_eq!(computed(&program), [(1, Range { lo: 0, hi: 1 })]);
    let joint = divided(&program).joint;
    assert_eq!(joint.main.values.len(), joint.inputs.len());
    assert_eq!(joint.rows, program.rows);
}

/// Runs the parts of a program one after the other; returns whether a plan was refused.
fn agrees(case: &Case, most_rows: u64) -> Result<bool, String> {
    let Case { program, inputs } = case;
    let rows = reference::rows(program, inputs).map_err(|e| e.to_string())?;
    let run = |program: &Program, inputs: &BTreeMap<String, Data>| match plan_in_tiles::<Honest>(
        program,
        0,
        NetworkClass::LAN,
        most_rows,
    ) {
        Ok(plan) => Ok(Some(crate::common::run(&plan, program, inputs, &rows))),
        Err(error) if error.code == "whole-rows" => Ok(None),
        Err(error) => Err(error.render_with_source()),
    };
    let Localised { joint, locals } = localise(program).map_err(|e| e.render_with_source())?;
    let mut known = inputs.clone();
    for local in &locals {
        match run(&local.program, inputs)? {
            Some(results) => known.extend(results),
            None => return Ok(false),
        }
    }
    let Some(got) = run(&joint, &known)? else {
        return Ok(false);
    };
    let want = reference::evaluate(program, inputs).map_err(|e| e.to_string())?;
    for (name, want) in &want {
        if got[name].elements != want.elements || got[name].shape != want.shape {
            let (whole, joint) = (text::print(program), text::print(&joint));
            return Err(format!("{name} differs\n{whole}\n{joint}"));
        }
    }
    Ok(true)
}

/// Rows that moved all at once may have to be converted, tile by tile, before a network reads them
/// all at once.
#[test]
fn rows_that_moved_are_there_before_they_meet() {
    let program = text::parse(
        "sealane program 1\nname moved\nparty alice\nparty bob\nrows n <= 2\n\
         input x : alice u8[n] in 0..255\n\
         main {\n\
         %0 = param 0 : u8[n] in 0..255 known alice\n\
         %1 = const [7] : u8 in 7..7 public\n\
         %2 = gt %0, %1 : bool[n] in 0..1 known alice\n\
         %3 = roll %0 by 1 : u8[n] in 0..255 known alice\n\
         %4 = compact %2 over %3 : u8[n] in 0..255 known alice\n\
         %5 = part %4, 0 : u8[n] in 0..255 known alice\n\
         }\nreveal kept = %5 : u8 to alice\n",
        "moved",
    );
    let program = program.unwrap_or_else(|error| panic!("{}", error.render_with_source()));
    for most_rows in [1, 2] {
        let plan = plan_in_tiles::<Honest>(&program, 0, NetworkClass::LAN, most_rows);
        let plan = plan.unwrap_or_else(|error| panic!("{}", error.render_with_source()));
        let x = Data::from_numbers(Type::unsigned(8), vec![2], &[3, 9]).expect("two numbers");
        let inputs = BTreeMap::from([("x".to_string(), x)]);
        let got = crate::common::run(&plan, &program, &inputs, &[2]);
        assert_eq!(got["kept"].elements, [3, 0]);
    }
}

proptest! {
    #[test]
    fn the_parts_mean_what_the_whole_means(case in cases(), most_rows in 1u64..5) {
        prop_assume!(agrees(&case, most_rows).map_err(TestCaseError::fail)?);
    }
}
