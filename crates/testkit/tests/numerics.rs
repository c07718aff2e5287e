//! Tests of the norm `crates/program/NUMERICS.md`, one for each line, named by its number. Expected
//! numbers are Python's results, or follow from the sentence by hand.

use sealane_diagnostic::{Code, Diagnostic};
use sealane_program::builder::{Builder, Handle, Index, Length, Operand};
use sealane_program::graph::{Binary, Binary::*, Reduction, Unary, Unary::*};
use sealane_program::types::{Data, Range, Shape, Type};
use sealane_testkit::random_program::declared;
use sealane_testkit::reference::evaluate;
use std::collections::BTreeMap;

mod arrays;
mod fixed;
mod float;
mod functions;
mod integers;
mod order;

use fixed::{f, literal};

const fn u(bits: u8) -> Type {
    Type::unsigned(bits)
}
const fn i(bits: u8) -> Type {
    Type::signed(bits)
}
const fn w(bits: u8) -> Type {
    u(bits).wrapping()
}

/// An input of one axis: its type, declared range and elements.
type Column<'a> = (Type, Range, &'a [i128]);

/// A column of the whole range of its type.
fn all(ty: Type, numbers: &[i128]) -> Column<'_> {
    (ty, ty.range(), numbers)
}

/// A column of a declared range.
fn within(ty: Type, lo: i128, hi: i128, numbers: &[i128]) -> Column<'_> {
    (ty, Range { lo, hi }, numbers)
}

/// Type and numbers of `build`'s result on the columns, in one of two shapes: fixed, or with rows
/// of bound 1000.
fn run_shaped(
    rows: bool,
    columns: &[Column],
    build: impl FnOnce(&mut Builder, &[Handle]) -> Result<Handle, Diagnostic>,
) -> Result<(Type, Vec<i128>), Diagnostic> {
    let mut b = Builder::new("norm")?;
    let owner = b.party("alice")?;
    let n = if rows { Some(b.rows("n", 1000)?) } else { None };
    let (mut handles, mut inputs) = (Vec::new(), BTreeMap::new());
    for (index, (ty, range, numbers)) in columns.iter().enumerate() {
        let length = numbers.len() as u64;
        let fixed = if rows { vec![] } else { vec![length] };
        let shape = Shape { rows: n, fixed };
        let name = format!("x{index}");
        let input = declared(&name, owner, *ty, shape, *range);
        handles.push(b.input(input)?);
        let data = Data::from_numbers(*ty, vec![length], numbers).expect("numbers");
        inputs.insert(name, data);
    }
    let result = build(&mut b, &handles)?;
    let ty = b.value(result).expect("a value of the main graph").ty;
    b.reveal("result", result.into(), &[owner], ty, None)?;
    let (program, _) = b.finish()?;
    let results = evaluate(&program, &inputs).expect("inputs that fit");
    Ok((ty, results["result"].numbers().collect()))
}

fn run(
    columns: &[Column],
    build: impl FnOnce(&mut Builder, &[Handle]) -> Result<Handle, Diagnostic>,
) -> Result<(Type, Vec<i128>), Diagnostic> {
    run_shaped(false, columns, build)
}

/// Returns the numbers, or the code of a refusal.
fn binary(op: Binary, a: Column, b: Column) -> Result<(Type, Vec<i128>), Code> {
    run(&[a, b], |build, x| {
        build.binary(op, x[0].into(), x[1].into(), None)
    })
    .map_err(|e| e.code)
}

fn unary(op: Unary, a: Column) -> Result<(Type, Vec<i128>), Diagnostic> {
    run(&[a], |build, x| build.unary(op, x[0].into(), None))
}

/// A type; `w8` is `u8.wrapping`.
fn type_of(text: &str) -> Type {
    let wraps = text
        .strip_prefix('w')
        .map(|bits| format!("u{bits}.wrapping"));
    wraps.as_deref().unwrap_or(text).parse().expect("a type")
}

/// A type with a range, if it has not all numbers, and elements: `u8(0..9)[3,4]`.
fn column_of(text: &str) -> Option<(Type, Range, Vec<i128>)> {
    let whole = |text: &str| text.parse().expect("a number");
    let (ty, numbers) = text.strip_suffix(']')?.split_once('[')?;
    let (ty, range) = match ty.strip_suffix(')').and_then(|ty| ty.split_once('(')) {
        Some((ty, range)) => {
            let (lo, hi) = range.split_once("..").expect("a range");
            let (lo, hi) = (whole(lo), whole(hi));
            let range = Range { lo, hi };
            (type_of(ty), range)
        }
        None => (type_of(ty), type_of(ty).range()),
    };
    let number = |text: &str| match ty {
        Type::F32 => text.parse::<f32>().expect("a number").to_bits().into(),
        _ => whole(text),
    };
    Some((ty, range, numbers.split(',').map(number).collect()))
}

/// Checks cases, a line each: an operation by its name in programs, its operands, and its result or
/// the code of its refusal. The last operand of an operation on two may be a number or a ratio.
/// Behind the operands of a conversion is its type, and behind those of `reduce` and `dot` their
/// `dtype`, if they have one. Numbers of `f32` are written as in Rust, those of other formats as
/// their bits.
#[track_caller]
fn check(cases: &str) {
    fn named<Op: Copy>(all: &[Op], name: fn(Op) -> &'static str, word: &str) -> Op {
        let mut all = all.iter().copied();
        all.find(|op| name(*op) == word).expect("an operation")
    }
    let binary_named = |word: &str| named(&Binary::ALL, Binary::name, word);
    for case in cases.lines() {
        let (question, answer) = case.trim().split_once(": ").expect("an answer");
        let words: Vec<_> = question.split(' ').collect();
        let columns: Vec<_> = words.iter().filter_map(|word| column_of(word)).collect();
        let columns = columns.iter().map(|(ty, range, of)| (*ty, *range, &of[..]));
        let (word, last) = (words[0], words[words.len() - 1]);
        let dtype = || column_of(last).is_none().then(|| type_of(last));
        let made = run(&columns.collect::<Vec<Column>>(), |b, x| match (word, x) {
            ("cast", &[a]) => b.cast(a, type_of(last), None),
            ("wrap", &[a]) => b.wrap(a, type_of(last), None),
            ("saturate", &[a]) => b.saturate(a, type_of(last), None),
            ("reduce", &[a]) => {
                let op = named(&Reduction::ALL, Reduction::name, words[1]);
                b.reduce(op, a, None, dtype(), None)
            }
            ("dot", &[x, y]) => b.dot(x, y, dtype(), None),
            ("lookup", &[table, index]) => b.lookup(table, index, None),
            ("select", &[c, x, y]) => b.select(c.into(), x.into(), y.into(), None),
            (op, &[x, y]) => b.binary(binary_named(op), x.into(), y.into(), None),
            (op, &[x]) if words.len() > 2 => {
                let y = match last.split_once('/') {
                    Some((n, d)) => literal(b, n.parse().expect("n"), d.parse().expect("d")),
                    None => Operand::Int(last.parse().expect("a number")),
                };
                b.binary(binary_named(op), x.into(), y, None)
            }
            (op, &[x]) => b.unary(named(&Unary::ALL, Unary::name, op), x.into(), None),
            _ => panic!("no operands in {case}"),
        });
        let expected = match column_of(answer) {
            Some((ty, _, numbers)) => Ok((ty, numbers)),
            None => Err(Code::named(answer).expect("a code")),
        };
        assert_eq!(made.map_err(|refused| refused.code), expected, "{case}");
    }
}

#[test]
fn every_line_has_its_test() {
    let norm = include_str!("../../program/NUMERICS.md");
    let tests = concat!(
        include_str!("numerics/arrays.rs"),
        include_str!("numerics/fixed.rs"),
        include_str!("numerics/float.rs"),
        include_str!("numerics/functions.rs"),
        include_str!("numerics/integers.rs"),
        include_str!("numerics/order.rs")
    );
    let mut lines = 0;
    for line in norm.lines() {
        let Some((number, _)) = line.split_once(". ") else {
            continue;
        };
        let Ok(number) = number.parse::<u32>() else {
            continue;
        };
        lines += 1;
        assert_eq!(number, lines, "lines are numbered in order");
        let there = tests.contains(&format!("\nfn n{number:02}_"));
        assert!(there, "line {number} has no test");
    }
    assert_eq!(lines, 71);
}
