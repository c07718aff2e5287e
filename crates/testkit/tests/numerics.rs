//! Tests of the norm `crates/program/NUMERICS.md`, one for each line, named by its number. Expected
//! numbers are Python's results, or follow from the sentence by hand.

use sealane_diagnostic::{Code, Diagnostic};
use sealane_program::builder::{Builder, Handle, Index, Length, Operand};
use sealane_program::graph::{Binary, Binary::*, Reduction, Unary, Unary::*};
use sealane_program::types::{Data, Range, Shape, Type};
use sealane_testkit::random_program::declared;
use sealane_testkit::reference::evaluate;
use std::collections::BTreeMap;

mod fixed;
mod float;
mod order;

use fixed::f;

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
        inputs.insert(
            name,
            Data::from_numbers(*ty, vec![length], numbers).expect("numbers"),
        );
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

fn with_number(op: Binary, a: Column, number: i128) -> Result<(Type, Vec<i128>), Code> {
    run(&[a], |build, x| {
        build.binary(op, x[0].into(), Operand::Int(number), None)
    })
    .map_err(|e| e.code)
}

fn unary(op: Unary, a: Column) -> Result<(Type, Vec<i128>), Diagnostic> {
    run(&[a], |build, x| build.unary(op, x[0].into(), None))
}

fn cast(a: Column, ty: Type) -> Result<(Type, Vec<i128>), Code> {
    run(&[a], |build, x| build.cast(x[0], ty, None)).map_err(|e| e.code)
}

fn reduce(op: Reduction, a: Column, dtype: Option<Type>) -> Result<(Type, Vec<i128>), Code> {
    run(&[a], |build, x| build.reduce(op, x[0], None, dtype, None)).map_err(|e| e.code)
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
    let number = |text: &str| text.parse().expect("a number");
    let (ty, numbers) = text.strip_suffix(']')?.split_once('[')?;
    let (ty, range) = match ty.strip_suffix(')').and_then(|ty| ty.split_once('(')) {
        Some((ty, range)) => {
            let (lo, hi) = range.split_once("..").expect("a range");
            let range = Range {
                lo: number(lo),
                hi: number(hi),
            };
            (type_of(ty), range)
        }
        None => (type_of(ty), type_of(ty).range()),
    };
    Some((ty, range, numbers.split(',').map(number).collect()))
}

/// Checks cases, a line each: an operation by its name in programs, its operands, and its result or
/// the code of its refusal. Behind the operand of `cast` is its type, and behind that of `reduce`
/// its `dtype`, if it has one.
#[track_caller]
fn check(cases: &str) {
    fn named<Op: Copy>(all: &[Op], name: fn(Op) -> &'static str, word: &str) -> Op {
        let mut all = all.iter().copied();
        all.find(|op| name(*op) == word).expect("an operation")
    }
    for case in cases.lines() {
        let (question, answer) = case.trim().split_once(": ").expect("an answer");
        let words = question.split(' ').collect::<Vec<_>>();
        let columns: Vec<_> = words.iter().filter_map(|word| column_of(word)).collect();
        let columns = columns.iter().map(|(ty, range, of)| (*ty, *range, &of[..]));
        let columns = columns.collect::<Vec<Column>>();
        let last = words[words.len() - 1];
        let found = match (words[0], &columns[..]) {
            ("cast", &[a]) => cast(a, type_of(last)),
            ("reduce", &[a]) => {
                let op = named(&Reduction::ALL, Reduction::name, words[1]);
                reduce(op, a, (words.len() > 3).then(|| type_of(last)))
            }
            (op, &[a, b]) => binary(named(&Binary::ALL, Binary::name, op), a, b),
            (op, &[a]) if words.len() > 2 => {
                let number = last.parse().expect("a number");
                with_number(named(&Binary::ALL, Binary::name, op), a, number)
            }
            (op, &[a]) => unary(named(&Unary::ALL, Unary::name, op), a).map_err(|e| e.code),
            _ => panic!("no operands in {case}"),
        };
        let expected = match column_of(answer) {
            Some((ty, _, numbers)) => Ok((ty, numbers)),
            None => Err(Code::named(answer).expect("a code")),
        };
        assert_eq!(found, expected, "{case}");
    }
}

#[test]
fn every_line_has_its_test() {
    let norm = include_str!("../../program/NUMERICS.md");
    let tests = concat!(
        include_str!("numerics.rs"),
        include_str!("numerics/fixed.rs"),
        include_str!("numerics/float.rs"),
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

#[test]
fn n01_types_hold_their_ranges() {
    assert_eq!(Type::Bool.range(), Range { lo: 0, hi: 1 });
    assert_eq!(u(1).range(), Range { lo: 0, hi: 1 });
    assert_eq!(i(1).range(), Range { lo: -1, hi: 0 });
    assert_eq!(
        u(64).range(),
        Range {
            lo: 0,
            hi: u64::MAX.into()
        }
    );
    assert_eq!(
        i(64).range(),
        Range {
            lo: i64::MIN.into(),
            hi: i64::MAX.into()
        }
    );
    for text in ["u0", "u65", "i065", "u", "u8.w", "x8", "u-1", "U8", "u+8"] {
        assert!(text.parse::<Type>().is_err(), "{text}");
    }
    for ty in [Type::Bool, u(64), i(1), w(33), i(7).wrapping()] {
        assert_eq!(ty.to_string().parse(), Ok(ty));
    }
}

#[test]
fn n02_overflow_is_refused_or_wraps() {
    check(
        "add u8[1] u8[2]: range-overflow
         add w8[200] w8[100]: w8[44]
         sub w8[1] w8[2]: w8[255]
         add i8.wrapping[127] i8.wrapping[1]: i8.wrapping[-128]
         mul w64[18446744073709551615] w64[18446744073709551615]: w64[1]",
    );
}

#[test]
fn n03_the_refusal_names_the_smallest_type() {
    let sum = run(&[all(u(8), &[1]), all(u(8), &[1])], |b, x| {
        b.binary(Add, x[0].into(), x[1].into(), None)
    });
    let error = sum.unwrap_err();
    assert_eq!(error.message, "`x0 + x1` can leave u8");
    let reason = "x0 in 0..255 and x1 in 0..255 give 0..510, and u8 holds 0..255";
    assert_eq!(error.reason, reason);
    assert_eq!(error.hint, "write `x0.astype(sl.u9) + x1`");
    // Following the hint suffices, also if the left operand is a number.
    let doubled = run(&[all(u(8), &[255])], |b, x| {
        let error = b.binary(Mul, 2.into(), x[0].into(), None).unwrap_err();
        assert_eq!(error.hint, "write `2 * x0.astype(sl.u9)`");
        let wide = b.cast(x[0], u(9), None)?;
        b.binary(Mul, 2.into(), wide.into(), None)
    });
    assert_eq!(doubled.unwrap(), (u(9), vec![510]));
    // The difference of 200..255 alone would fit i7, but the operand would not.
    let close = within(u(8), 200, 255, &[200]);
    let error = run(&[close, close], |b, x| {
        b.binary(Sub, x[0].into(), x[1].into(), None)
    });
    assert_eq!(error.unwrap_err().hint, "write `x0.astype(sl.i9) - x1`");
    let none = unary(Neg, all(i(64), &[0])).unwrap_err();
    assert!(none.hint.contains("no type holds it"));
}

#[test]
fn n04_operands_meet_in_their_common_type() {
    assert_eq!(u(8).common(i(8)), Some(i(9)));
    assert_eq!(u(16).common(u(8)), Some(u(16)));
    assert_eq!(i(16).common(u(8)), Some(i(16)));
    assert_eq!(i(3).common(i(9)), Some(i(9)));
    assert_eq!(u(63).common(i(2)), Some(i(64)));
    assert_eq!(u(64).common(i(1)), None);
    check(
        "add u8(0..9)[9] i8(-9..9)[-9]: i9[0]
         add u64[0] i8[0]: type-mismatch",
    );
}

#[test]
fn n05_wrapping_and_strict_types_do_not_mix() {
    check(
        "add w8[1] u8[1]: type-mismatch
         add w8[255] w4[1]: w8[0]
         xor w8[1] bool[1]: type-mismatch",
    );
}

#[test]
fn n06_bare_numbers_take_the_type_beside_them() {
    check(
        "min u8[9] 5: u8[5]
         min u8[9] 256: constant-range
         add w8[9] -1: constant-range
         mul bool[1] 5: i64[5]",
    );
    let bare = |yes: i128, no| {
        run(&[all(Type::Bool, &[1])], |b, x| {
            b.select(x[0].into(), Operand::Int(yes), Operand::Int(no), None)
        })
    };
    assert_eq!(bare(7, 3).unwrap(), (i(64), vec![7]));
    let large = i128::from(u64::MAX);
    assert_eq!(bare(large, large).unwrap(), (u(64), vec![large]));
    assert_eq!(bare(1 << 64, 0).unwrap_err().code, Code::ConstantRange);
    let array = run(&[within(u(8), 0, 99, &[7])], |b, x| {
        let array = Data::from_numbers(i(64), vec![1], &[3]).expect("one number");
        let array = b.constant(array, None)?;
        b.binary(Mul, x[0].into(), array.into(), None)
    });
    assert_eq!(array.unwrap(), (i(64), vec![21]));
}

#[test]
fn n07_bool_computes_as_one_bit() {
    check(
        "mul bool[1,0] bool[1,0]: u1[1,0]
         add bool[1,0] bool[1,0]: range-overflow
         add bool[1,0] u8(0..9)[3,4]: u8[4,4]
         shl w8[255,3] bool[1,0]: w8[254,3]",
    );
}

#[test]
fn n08_operations_are_judged_by_ranges() {
    let a = within(u(8), 0, 100, &[100]);
    check(
        "add u8(0..100)[100] u8(0..100)[100]: u8[200]
         sub u8(0..100)[100] u8(0..100)[100]: range-overflow",
    );
    let range = |numbers: &[Column], op| {
        let mut seen = None;
        run(numbers, |b, x| {
            let z = b.binary(op, x[0].into(), x[1].into(), None)?;
            seen = b.value(z).map(|value| value.range);
            Ok(z)
        })
        .expect("a sum that fits");
        seen.expect("a range")
    };
    assert_eq!(range(&[a, a], Add), Range { lo: 0, hi: 200 });
    let a = within(w(8), 0, 200, &[0]);
    assert_eq!(range(&[a, a], Add), w(8).range());
    let small = within(w(8), 3, 4, &[3]);
    assert_eq!(range(&[small, small], Mul), Range { lo: 9, hi: 16 });
    for a in [
        within(i(16), -5, 3, &[-5, 3]),
        within(f(8, 8), -5, 3, &[-5, 3]),
    ] {
        // The square of the difference of two inputs that is written twice.
        let mut seen = Vec::new();
        let squares = run(&[a, a], |b, x| {
            let mut away = || b.binary(Sub, x[0].into(), x[1].into(), None);
            let (one, other) = (away()?, away()?);
            let wide = b.cast(one, if a.0.is_fixed() { f(9, 16) } else { i(17) }, None)?;
            let none = b.binary(Sub, one.into(), other.into(), None)?;
            let square = b.binary(Mul, one.into(), other.into(), None)?;
            for pair in [[one, one], [wide, other]] {
                let made = b.dot(pair[0], pair[1], None, None);
                seen.extend(made.ok().and_then(|z| b.value(z)).map(|z| z.range.lo));
            }
            seen.extend([none, square].map(|z| b.value(z).expect("a value").range.lo));
            seen.push(b.value(none).expect("a value").range.hi);
            Ok(square)
        });
        let found = (squares.map(|(_, numbers)| numbers), seen);
        assert_eq!(found, (Ok(vec![0; 2]), vec![0; 5]));
    }
}

#[test]
fn n09_arithmetic_is_exact() {
    check(
        "add i16(-99..99)[-7,99] i16(-99..99)[5,-99]: i16[-2,0]
         sub i16(-99..99)[-7,99] i16(-99..99)[5,-99]: i16[-12,198]
         mul i16(-99..99)[-7,99] i16(-99..99)[5,-99]: i16[-35,-9801]",
    );
}

#[test]
fn n10_negation_and_absolute_value() {
    check(
        "neg i8(-127..127)[-127,5]: i8[127,-5]
         abs i8(-127..127)[-127,5]: i8[127,5]
         abs i8[0]: range-overflow",
    );
    let refused = unary(Neg, all(u(8), &[0])).unwrap_err().hint;
    assert_eq!(refused, "write `-x0.astype(sl.i9)`");
    check(
        "neg i8.wrapping[-128,1]: i8.wrapping[-128,-1]
         abs i8.wrapping[-128,-1]: i8.wrapping[-128,1]
         neg w8[1,0]: w8[255,0]",
    );
}

#[test]
fn n11_division_rounds_down() {
    check(
        "floordiv i8(-99..99)[7,-7,6,-6] i8(1..9)[2,2,2,2]: i8[3,-4,3,-3]
         floordiv i8(-99..99)[7,-7,6,-6] i8(-9..-1)[-2,-2,-2,-2]: i8[-4,3,-3,3]
         floordiv i64[0] -1: range-overflow",
    );
}

#[test]
fn n12_remainders_have_the_sign_of_the_divisor() {
    check(
        "mod i8(-99..99)[7,-7,6,-6] i8(1..9)[4,4,4,4]: i8[3,1,2,2]
         mod i8(-99..99)[7,-7,6,-6] i8(-9..-1)[-4,-4,-4,-4]: i8[-1,-3,-2,-2]",
    );
}

#[test]
fn n13_a_divisor_that_can_be_zero_is_refused() {
    let divided = run(&[all(u(8), &[9]), all(u(8), &[0])], |b, x| {
        let error = b
            .binary(FloorDiv, x[0].into(), x[1].into(), None)
            .unwrap_err();
        assert_eq!(error.code, Code::DivisionByZero);
        assert_eq!(error.hint, "write `x0 // sl.maximum(x1, 1)`");
        let safe = b.binary(Max, x[1].into(), 1.into(), None)?;
        b.binary(FloorDiv, x[0].into(), safe.into(), None)
    });
    assert_eq!(divided.unwrap(), (u(8), vec![9]));
    check(
        "mod i8[1] i8[1]: division-by-zero
         mod u8[1] 0: division-by-zero",
    );
}

#[test]
fn n14_wrapping_types_do_not_divide() {
    check(
        "floordiv w8[1] 3: wrapping-division
         mod w8[1] 3: wrapping-division",
    );
    let strict = run(&[all(w(8), &[250])], |b, x| {
        let strict = b.cast(x[0], u(8), None)?;
        b.binary(FloorDiv, strict.into(), 3.into(), None)
    });
    assert_eq!(strict.unwrap(), (u(8), vec![83]));
}

#[test]
fn n15_comparisons_compare_numbers() {
    let (a, b) = (all(u(8), &[200, 5, 5]), all(i(8), &[-56, 5, 6]));
    for (op, truth) in [
        (Eq, [0, 1, 0]),
        (Ne, [1, 0, 1]),
        (Lt, [0, 0, 1]),
        (Le, [0, 1, 1]),
        (Gt, [1, 0, 0]),
        (Ge, [1, 1, 0]),
    ] {
        assert_eq!(binary(op, a, b), Ok((Type::Bool, truth.to_vec())), "{op:?}");
    }
    check(
        "gt u64[18446744073709551615] i64[-1]: bool[1]
         lt u8[200] -1: bool[0]
         lt w8[200] u8[201]: bool[1]
         eq bool[1] 1: bool[1]",
    );
}

#[test]
fn n16_minimum_and_maximum() {
    check(
        "min u8[200,5] i8[-5,9]: i9[-5,5]
         max u8[200,5] i8[-5,9]: i9[200,9]",
    );
    let t = (all(Type::Bool, &[1]), all(Type::Bool, &[0]));
    assert_eq!(binary(Max, t.0, t.1), Ok((Type::Bool, vec![1])));
}

#[test]
fn n17_bitwise_operations_see_the_twos_complement() {
    check(
        "and i8[-2,12] u4[7,10]: i8[6,8]
         or i8[-2,12] u4[7,10]: i8[-1,14]
         xor i8[-2,12] u4[7,10]: i8[-7,6]
         and bool[1,0] bool[1,1]: bool[1,0]
         xor bool[1,0] bool[1,1]: bool[0,1]",
    );
}

#[test]
fn n18_complement() {
    examples(Not);
}

#[test]
fn n19_left_shift_multiplies() {
    check(
        "shl i8(-3..3)[-3,3] 5: i8[-96,96]
         shl i8(-3..3)[-3,3] 6: range-overflow
         shl w8[177] 3: w8[136]",
    );
}

#[test]
fn n20_right_shift_rounds_down() {
    check(
        "shr i8[-7,7] 1: i8[-4,3]
         shr w8[255] 7: w8[1]",
    );
}

#[test]
fn n21_shift_amounts_are_within_the_width() {
    for amount in [-1, 8] {
        assert_eq!(
            with_number(Shr, all(u(8), &[1]), amount),
            Err(Code::ShiftRange)
        );
        assert_eq!(
            with_number(Shl, all(w(8), &[1]), amount),
            Err(Code::ShiftRange)
        );
    }
    check(
        "shr u8[255] u3[7]: u8[1]
         shr u8[255] u4[7]: shift-range",
    );
}

#[test]
fn n22_ones_are_counted() {
    for op in sealane_program::graph::Unary::ALL {
        examples(op);
    }
}

/// Compares the results of an operation with the examples of its row.
fn examples(op: sealane_program::graph::Unary) {
    for (of, numbers, ty, results) in op.row().examples {
        let found = unary(op, all(*of, numbers)).unwrap();
        assert_eq!(found, (*ty, results.to_vec()), "{op:?}");
    }
}

#[test]
fn n23_where_selects() {
    let columns = [
        all(Type::Bool, &[1, 0]),
        all(u(8), &[1, 2]),
        all(i(8), &[-1, -2]),
    ];
    let selected = run(&columns, |b, x| {
        b.select(x[0].into(), x[1].into(), x[2].into(), None)
    });
    assert_eq!(selected.unwrap(), (i(9), vec![1, -2]));
    let refused = run(&columns, |b, x| {
        b.select(x[1].into(), x[1].into(), x[2].into(), None)
    });
    assert_eq!(refused.unwrap_err().code, Code::TypeMismatch);
    let logical = run(&columns, |b, x| {
        b.select(x[0].into(), x[0].into(), x[0].into(), None)
    });
    assert_eq!(logical.unwrap(), (Type::Bool, vec![1, 0]));
}

#[test]
fn n24_conversion_keeps_the_number() {
    check(
        "cast i16(0..255)[255] u8: u8[255]
         cast u9[256] u8: range-overflow
         cast i16[-1,511] w8: w8[255,255]
         cast u8[200] i8.wrapping: i8.wrapping[-56]",
    );
}

#[test]
fn n25_truth_is_written_as_a_comparison() {
    check("cast u8(0..1)[1] bool: bool[1]");
    let refused = run(&[all(u(8), &[2])], |b, x| b.cast(x[0], Type::Bool, None)).unwrap_err();
    let wanted = (Code::RangeOverflow, "write `x0 != 0`");
    assert_eq!((refused.code, &refused.hint[..]), wanted);
    check("ne u8[2,0] 0: bool[1,0]");
}

#[test]
fn n26_sums_have_the_type_of_their_elements_or_dtype() {
    check("reduce sum u8(0..80)[80,80,80]: u8[240]");
    let b = all(u(8), &[255, 255, 255]);
    check(
        "reduce sum u8[255,255,255]: range-overflow
         reduce sum u8[255,255,255] u10: u10[765]
         reduce sum u8[255,255,255] i8: range-overflow
         reduce sum w8[255,2]: w8[1]",
    );
    let sum = |dtype| {
        run_shaped(true, &[b], |build, x| {
            build.reduce(Reduction::Sum, x[0], None, dtype, None)
        })
    };
    let error = sum(None).unwrap_err();
    let reason = "up to 1000 elements in 0..255 give 0..255000, and u8 holds 0..255";
    assert_eq!(error.reason, reason);
    assert_eq!(error.hint, "write `sl.sum(x0, dtype=sl.u18)`");
    assert_eq!(sum(Some(u(18))).unwrap(), (u(18), vec![765]));
    let running = |dtype| {
        run_shaped(true, &[b], |build, x| {
            build.accumulate(Reduction::Sum, x[0], 0, dtype, None)
        })
    };
    let error = running(None).unwrap_err();
    assert_eq!(error.hint, "write `sl.cumsum(x0, dtype=sl.u18)`");
    assert_eq!(running(Some(u(18))).unwrap(), (u(18), vec![255, 510, 765]));
    let wraps = run(&[all(w(8), &[255, 2, 9])], |build, x| {
        build.accumulate(Reduction::Sum, x[0], -1, None, None)
    });
    assert_eq!(wraps.unwrap(), (w(8), vec![255, 1, 10]));
    let most = run(&[all(i(8), &[-5, 3, -9, 4])], |build, x| {
        build.accumulate(Reduction::Max, x[0], 0, None, None)
    });
    assert_eq!(most.unwrap(), (i(8), vec![-5, 3, 3, 4]));
}

#[test]
fn n26_a_refused_sum_keeps_its_axis() {
    let hint = |axis| {
        let refused = run(&[all(u(8), &[1, 2])], |build, x| {
            let table = build.stack(&[x[0].into(), x[0].into()], 1, None)?;
            build.reduce(Reduction::Sum, table, axis, None, None)
        });
        refused.unwrap_err().hint
    };
    assert_eq!(hint(Some(-1)), "write `sl.sum(a, axis=1, dtype=sl.u9)`");
    assert_eq!(hint(None), "write `sl.sum(a, dtype=sl.u10)`");
}

#[test]
fn n27_a_sum_of_truths_counts() {
    let a = all(Type::Bool, &[1, 0, 1, 1]);
    check(
        "reduce sum bool[1,0,1,1]: u3[3]
         reduce sum bool[1,0,1,1] i32: i32[3]",
    );
    let rows = run_shaped(true, &[a], |b, x| {
        b.reduce(Reduction::Sum, x[0], Some(0), None, None)
    });
    assert_eq!(rows.unwrap(), (u(10), vec![3]));
}

#[test]
fn n28_extremes_and_truths() {
    check(
        "reduce min i8[3,-9,100]: i8[-9]
         reduce max i8[3,-9,100]: i8[100]
         reduce any bool[1,0]: bool[1]
         reduce all bool[1,0]: bool[0]
         reduce any i8[3,-9,100]: type-mismatch",
    );
}

#[test]
fn n29_products_sum_over_the_inner_axis() {
    let columns = [all(u(8), &[1, 2, 3]), all(i(8), &[-1, 5, 7])];
    let dot = |dtype| run(&columns, |b, x| b.dot(x[0], x[1], dtype, None));
    let error = dot(None).unwrap_err();
    assert_eq!(error.code, Code::RangeOverflow);
    // 3 * 255 * -128 is -97920, which takes 18 bits with its sign.
    assert_eq!(error.hint, "write `sl.dot(x0, x1, dtype=sl.i18)`");
    assert_eq!(dot(Some(i(18))).unwrap(), (i(18), vec![30]));
    let matrix = run(&[within(i(16), 0, 9, &[1, 2])], |b, x| {
        let m = Data::from_numbers(i(16), vec![2, 3], &[1, 2, 3, 4, 5, 6]).expect("six numbers");
        let m = b.constant(m, None)?;
        b.dot(x[0], m, None, None)
    });
    assert_eq!(matrix.unwrap(), (i(16), vec![9, 12, 15]));
}

#[test]
fn n30_shapes_broadcast() {
    let outer = run(
        &[within(u(8), 0, 9, &[1, 2]), within(u(8), 0, 9, &[3, 4, 5])],
        |b, x| {
            let column = b.index(x[0], &[Index::Ellipsis, Index::NewAxis], None)?;
            b.binary(Mul, column.into(), x[1].into(), None)
        },
    );
    assert_eq!(outer.unwrap(), (u(8), vec![3, 4, 5, 6, 8, 10]));
    check("eq u8[1,2] u8[1,2,3]: shape-mismatch");
    let mixed = run_shaped(true, &[all(u(8), &[1, 2])], |b, x| {
        let fixed = Data::from_numbers(u(8), vec![2], &[1, 2]).expect("two numbers");
        let fixed = b.constant(fixed, None)?;
        b.binary(Eq, x[0].into(), fixed.into(), None)
    });
    let error = mixed.unwrap_err();
    assert_eq!(error.message, "shapes [n] and [2] do not go together");
    let single = run_shaped(true, &[all(u(8), &[1, 2])], |b, x| {
        let fixed = Data::from_numbers(u(8), vec![1], &[2]).expect("a number");
        let fixed = b.constant(fixed, None)?;
        b.binary(Eq, fixed.into(), x[0].into(), None)
    });
    assert_eq!(single.unwrap(), (Type::Bool, vec![0, 1]));
    let behind = run_shaped(true, &[all(u(8), &[1, 2])], |b, x| {
        let fixed = Data::from_numbers(u(8), vec![2, 1], &[1, 2]).expect("two numbers");
        let fixed = b.constant(fixed, None)?;
        b.binary(Eq, fixed.into(), x[0].into(), None)
    });
    let error = behind.unwrap_err();
    assert_eq!(error.message, "shapes [2, 1] and [n] do not go together");
}

#[test]
fn n31_indices_are_those_of_numpy() {
    let a = all(u(8), &[10, 11, 12, 13]);
    let at =
        |index: Index| run(&[a], |b, x| b.index(x[0], &[index], None)).map(|(_, numbers)| numbers);
    let slice = |start, stop| Index::Slice { start, stop };
    assert_eq!(at(Index::At(-1)).unwrap(), [13]);
    assert_eq!(at(slice(Some(1), Some(-1))).unwrap(), [11, 12]);
    assert_eq!(at(slice(Some(-2), Some(99))).unwrap(), [12, 13]);
    let error = at(Index::At(4)).unwrap_err();
    assert_eq!(error.message, "index 4 is outside of axis 0 of shape [4]");
    assert_eq!(at(Index::At(-5)).unwrap_err().code, Code::IndexRange);
    let rows = run_shaped(true, &[a], |b, x| b.index(x[0], &[Index::At(0)], None));
    let message = "axis 0 of shape [n] is symbolic and takes no index but `:`";
    assert_eq!(rows.unwrap_err().message, message);
    let step = |start, stop, step| at(Index::Stepped { start, stop, step });
    assert_eq!(step(None, None, -1).unwrap(), [13, 12, 11, 10]);
    assert_eq!(step(Some(-1), Some(0), -2).unwrap(), [13, 11]);
    assert_eq!(step(Some(1), Some(99), 2).unwrap(), [11, 13]);
    assert_eq!(step(None, Some(2), -1).unwrap(), [13]);
    assert_eq!(step(None, None, 0).unwrap_err().code, Code::IndexRange);
    let arranged = run(&[a], |b, x| {
        let square = b.reshape(x[0], &[Length::Of(2), Length::Of(-1)], None)?;
        let turned = b.transpose(square, None, None)?;
        let wide = b.broadcast_to(square, &[2, 2, 2].map(Length::Of), None)?;
        let flat = b.reshape(wide, &[Length::Of(4), Length::Of(2)], None)?;
        b.concatenate(&[turned.into(), flat.into()], 0, None)
    });
    let wanted = [10, 12, 11, 13, 10, 11, 12, 13, 10, 11, 12, 13];
    assert_eq!(arranged.unwrap(), (u(8), wanted.to_vec()));
}

#[test]
fn n32_nothing_is_empty() {
    let empty = Index::Slice {
        start: Some(2),
        stop: Some(2),
    };
    let sliced = run(&[all(u(8), &[1, 2])], |b, x| b.index(x[0], &[empty], None));
    assert_eq!(sliced.unwrap_err().code, Code::IndexRange);
    let refused = run(&[all(u(8), &[])], |_, x| Ok(x[0])).unwrap_err().code;
    assert_eq!(refused, Code::Limit);
}

#[test]
fn n33_map_applies_the_body_to_each_element() {
    let mapped = run_shaped(true, &[within(u(8), 0, 9, &[1, 2, 3])], |b, x| {
        let total = b.reduce(Reduction::Sum, x[0], None, Some(u(16)), None)?;
        let element = b.begin_map(&[x[0]], None)?;
        let part = b.binary(Mul, element[0].into(), 10.into(), None)?;
        let larger = b.binary(Gt, part.into(), total.into(), None)?;
        Ok(b.end_map(&[larger.into()], None)?[0])
    });
    assert_eq!(mapped.unwrap(), (Type::Bool, vec![1, 1, 1]));
}

#[test]
fn n34_a_carry_keeps_its_type_for_any_number_of_turns() {
    // The largest prefix sum that saturates at 15, and the prefix sums.
    let saturating = |outputs: bool| {
        run_shaped(true, &[all(u(4), &[9, 5, 1, 7])], |b, x| {
            let start = b.scalar(u(4), 0, None)?;
            let (carry, element) = b.begin_scan(&[start.into()], &[x[0]], None)?;
            let wide = b.cast(carry[0], u(8), None)?;
            let sum = b.binary(Add, wide.into(), element[0].into(), None)?;
            let next = b.binary(Min, sum.into(), 15.into(), None)?;
            let (last, all) = b.end_scan(&[next.into()], &[next.into()], None)?;
            Ok(if outputs { all[0] } else { last[0] })
        })
    };
    assert_eq!(saturating(false).unwrap(), (u(4), vec![15]));
    assert_eq!(saturating(true).unwrap(), (u(8), vec![9, 14, 15, 15]));
    let refused = run_shaped(true, &[all(u(4), &[1])], |b, x| {
        let start = b.scalar(u(4), 0, None)?;
        let (carry, element) = b.begin_scan(&[start.into()], &[x[0]], None)?;
        let inside = b
            .binary(Add, carry[0].into(), element[0].into(), None)
            .unwrap_err();
        assert_eq!(inside.code, Code::RangeOverflow);
        assert!(
            inside
                .reason
                .ends_with("in a scan, a carry can hold any value of its type")
        );
        assert!(inside.hint.contains("clamp the next one with `sl.clip`"));
        let wide = b.cast(carry[0], u(8), None)?;
        let sum = b.binary(Add, wide.into(), element[0].into(), None)?;
        Ok(b.end_scan(&[sum.into()], &[], None)?.0[0])
    });
    let error = refused.unwrap_err();
    let wanted = (Code::RangeOverflow, "carry 0 can leave u4");
    assert_eq!((error.code, &error.message[..]), wanted);
}

#[test]
fn n35_functions_are_their_standards() {
    // FIPS 197, appendix B.
    let key = 0x2b7e1516_28aed2a6_abf71588_09cf4f3c_u128
        .to_be_bytes()
        .map(i128::from);
    let block = 0x3243f6a8_885a308d_313198a2_e0370734_u128
        .to_be_bytes()
        .map(i128::from);
    let cipher = 0x3925841d_02dc09fb_dc118597_196a0b32_u128
        .to_be_bytes()
        .map(i128::from);
    let encrypted = run(&[all(u(8), &key), all(u(8), &block)], |b, x| {
        b.call("aes128", &[x[0].into(), x[1].into()], None)
    });
    assert_eq!(encrypted.unwrap(), (u(8), cipher.to_vec()));
    // FIPS 180-4, the message "abc".
    let digest = run(&[all(i(9), &[97, 98, 99])], |b, x| {
        let bytes = b.binary(Max, x[0].into(), 0.into(), None)?;
        b.call("sha256", &[bytes.into()], None)
    });
    let (ty, digest) = digest.unwrap();
    assert_eq!((ty, digest.len()), (u(8), 32));
    assert_eq!(digest[..4], [0xba, 0x78, 0x16, 0xbf]);
    assert_eq!(digest[28..], [0xf2, 0x00, 0x15, 0xad]);
}

#[test]
fn n36_results_fit_their_declared_type() {
    let reveal = |ty: Type, range: Range| {
        let mut b = Builder::new("reveal")?;
        let owner = b.party("alice")?;
        let input = declared("x", owner, i(16), Shape::scalar(), range);
        let x = b.input(input)?;
        b.reveal("result", x.into(), &[owner], ty, None)?;
        b.finish().map(|(program, _)| program.results[0].ty)
    };
    assert_eq!(reveal(u(8), Range { lo: 0, hi: 255 }).unwrap(), u(8));
    for ty in [u(8), w(8)] {
        let error = reveal(ty, Range { lo: 0, hi: 256 }).unwrap_err();
        assert_eq!(
            (error.code, error.hint.contains("sl.u9")),
            (Code::RangeOverflow, true)
        );
    }
}

#[test]
fn n37_a_lookup_is_an_index_of_numpy() {
    let data = |ty, shape: &[u64], numbers: &[i128]| {
        Data::from_numbers(ty, shape.to_vec(), numbers).expect("numbers of the type")
    };
    let index = within(u(8), 0, 3, &[3, 0, 0, 2]);
    let of = |table: Data| {
        run(&[index], |b, x| {
            let table = b.constant(table, None)?;
            b.lookup(table, x[0], None)
        })
    };
    let found = of(data(i(9), &[4], &[-200, 7, 11, 200])).unwrap();
    assert_eq!(found, (i(9), vec![200, -200, -200, 11]));
    // Python: np.arange(8).reshape(4, 2)[[3, 0, 0, 2]].ravel()
    let found = of(data(u(3), &[4, 2], &[0, 1, 2, 3, 4, 5, 6, 7])).unwrap();
    assert_eq!(found, (u(3), vec![6, 7, 0, 1, 0, 1, 4, 5]));
    let found = of(data(Type::Bool, &[5], &[1, 0, 0, 1, 0])).unwrap();
    assert_eq!(found, (Type::Bool, vec![1, 1, 1, 0]));
    let rows = run_shaped(true, &[index], |b, x| {
        let table = b.constant(data(u(8), &[4], &[9, 8, 7, 6]), None)?;
        let found = b.lookup(table, x[0], None)?;
        let range = Some(Range { lo: 6, hi: 9 });
        assert_eq!(b.value(found).map(|v| v.range), range);
        Ok(found)
    });
    assert_eq!(rows.unwrap(), (u(8), vec![6, 9, 9, 7]));
    // A permutation composed with itself.
    let own = run(&[within(w(8), 0, 2, &[2, 0, 1])], |b, x| {
        b.lookup(x[0], x[0], None)
    });
    assert_eq!(own.unwrap(), (w(8), vec![1, 2, 0]));
}

#[test]
fn n38_an_index_that_can_leave_its_table_is_refused() {
    let table = all(u(8), &[5, 6, 7]);
    let refused = |rows, index: Column| {
        let looked = run_shaped(rows, &[table, index], |b, x| b.lookup(x[0], x[1], None));
        looked.map(|(_, numbers)| numbers).map_err(|e| e.code)
    };
    let found = refused(false, within(i(8), 0, 2, &[1, 0, 2]));
    assert_eq!(found, Ok(vec![6, 5, 7]));
    for (lo, hi) in [(0, 3), (-1, 2), (3, 3)] {
        let numbers = [hi; 3];
        let outside = within(i(8), lo, hi, &numbers);
        assert_eq!(refused(false, outside), Err(Code::IndexRange));
    }
    let truth = all(Type::Bool, &[1, 0, 1]);
    assert_eq!(refused(false, truth), Err(Code::TypeMismatch));
    let rows = refused(true, within(u(8), 0, 0, &[0, 0, 0]));
    assert_eq!(rows, Err(Code::ShapeMismatch));
    let sized = |count: usize| {
        let numbers = vec![1; count];
        run(&[within(u(8), 0, 1, &[1])], |b, x| {
            let table = Data::from_numbers(u(1), vec![count as u64], &numbers);
            let table = b.constant(table.expect("ones"), None)?;
            b.lookup(table, x[0], None)
        })
        .map_err(|e| e.code)
    };
    assert_eq!(sized(1 << 16), Ok((u(1), vec![1])));
    assert_eq!(sized((1 << 16) + 1), Err(Code::Limit));
}

#[test]
fn n71_products_in_finite_fields() {
    let times = |polynomial, a: Column, b: Column| {
        run(&[a, b], |build, x| {
            build.field_product([x[0].into(), x[1].into()], polynomial, None)
        })
    };
    let (a, b) = (
        all(u(8), &[0x57, 0x57, 0, 0x53]),
        all(w(8), &[0x83, 0x13, 9, 0xca]),
    );
    // FIPS 197, section 4.2; the last are inverses of each other.
    assert_eq!(times(0x11b, a, b).unwrap(), (u(8), vec![0xc1, 0xfe, 0, 1]));
    // x (x + 1) = x^2 + x = 1 where x^2 + x + 1 = 0, in any type of integers.
    let (a, b) = (
        within(i(9), 0, 3, &[2, 3, 1]),
        within(u(64), 0, 3, &[3, 3, 2]),
    );
    assert_eq!(times(0x7, a, b).unwrap(), (u(2), vec![1, 2, 2]));
    let refused = |polynomial, a: Column| times(polynomial, a, a).map_err(|e| e.code);
    for outside in [
        within(u(8), 0, 4, &[1]),
        within(i(8), -1, 3, &[1]),
        all(Type::Bool, &[1]),
        all(Type::fixed(2, 2), &[1]),
    ] {
        assert_eq!(refused(0x7, outside), Err(Code::TypeMismatch));
    }
    let bit = within(u(1), 0, 1, &[1]);
    for polynomial in [0, 1, 5, 0x101, 0x211, 1 << 20, -7] {
        assert_eq!(refused(polynomial, bit), Err(Code::Operand));
    }
    assert_eq!(refused(0x2, bit), Ok((u(1), vec![1])));
}
