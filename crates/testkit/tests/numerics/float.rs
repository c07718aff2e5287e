//! Tests of the norm on floating point. Columns hold the bits of numbers; expected ones are Rust's,
//! or follow from IEEE 754 by hand.

use super::*;
use sealane_program::float;
use sealane_program::literal::{Literal, Number, Real};
use sealane_program::text::{parse, print};

const F16: Type = Type::Float(float::Format::F16);
const BF16: Type = Type::Float(float::Format::BF16);
const F32: Type = Type::F32;
const F64: Type = Type::F64;

/// Bits of numbers of single precision.
fn bits(numbers: &[f32]) -> Vec<i128> {
    numbers.iter().map(|x| x.to_bits().into()).collect()
}

fn nan() -> i128 {
    f32::NAN.to_bits().into()
}

/// An operation on columns of single precision.
fn single(op: Binary, a: &[f32], b: &[f32]) -> Vec<i128> {
    let (a, b) = (bits(a), bits(b));
    let done = binary(op, all(F32, &a), all(F32, &b));
    done.expect("an operation").1
}

/// An operation with a number of the source on the right.
fn with_literal(op: Binary, a: Column, number: f64) -> Result<(Type, Vec<i128>), Code> {
    run(&[a], |b, x| {
        let number = b.literal(Literal::of(Number::Float(number)), None)?;
        b.binary(op, x[0].into(), number, None)
    })
    .map_err(|e| e.code)
}

#[test]
fn n52_a_value_is_stored_as_its_bits() {
    for (ty, width, text) in [
        (F16, 16, "f16"),
        (BF16, 16, "bf16"),
        (F32, 32, "f32"),
        (F64, 64, "f64"),
    ] {
        assert_eq!((ty.bits(), ty.to_string().as_str()), (width, text));
        assert_eq!(text.parse(), Ok(ty));
        assert_eq!(ty.range(), u(width).range());
        assert_eq!((ty.wrapping(), ty.python()), (ty, format!("sl.{text}")));
    }
    let negative = u32::from(true) << 31;
    let kept = unary(Neg, all(F32, &[nan()])).expect("a negation");
    assert_eq!(kept.1, [nan() | i128::from(negative)]);
}

#[test]
fn n53_ranges_are_not_followed_through_arithmetic() {
    let max = f32::MAX;
    assert_eq!(single(Add, &[max], &[max]), bits(&[f32::INFINITY]));
    let (ty, _) = with_literal(Mul, all(F32, &[0]), 0.0).expect("a product");
    assert_eq!(ty.range(), F32.range());
    // Magnitudes are declared; a sum of such numbers may be any number.
    let [one, most] = [1f32, f32::MAX].map(|x| x.to_bits().into());
    let ends = [one, most];
    let sum = binary(Add, within(F32, one, most, &ends), all(F32, &ends));
    assert_eq!(sum, Ok((F32, bits(&[2.0, f32::INFINITY]))));
    for (lo, hi) in [(most, one), (one, most + 1), (-1, one)] {
        let none = binary(Add, within(F32, lo, hi, &[0]), all(F32, &[0]));
        assert_eq!(none, Err(Code::ConstantRange), "{lo} {hi}");
    }
}

#[test]
fn n54_arithmetic_is_rounded_once_to_the_nearest() {
    let (a, b) = (
        [0.1f32, 1e30, -7.0, 1.0, 0.0],
        [0.2f32, 1e-30, 3.0, 0.0, 0.0],
    );
    for (op, exact) in [
        (Add, (|x, y| x + y) as fn(f32, f32) -> f32),
        (Sub, |x, y| x - y),
        (Mul, |x, y| x * y),
        (Div, |x, y| x / y),
    ] {
        let expected = a.iter().zip(b).map(|(x, y)| match exact(*x, y) {
            none if none.is_nan() => nan(),
            number => number.to_bits().into(),
        });
        assert_eq!(single(op, &a, &b), expected.collect::<Vec<_>>());
    }
    // Python: -7.0 // 3.0, -7.0 % 3.0, 7.5 // -2.0, 7.5 % -2.0.
    check(
        "floordiv f32[-7,7.5,1] f32[3,-2,0]: f32[-3,-4,inf]
         mod f32[-7,7.5,1] f32[3,-2,0]: f32[2,-0.5,NaN]",
    );
}

#[test]
fn n55_the_common_type_holds_both() {
    assert_eq!(F16.common(BF16), Some(F32));
    assert_eq!(F16.common(F32), Some(F32));
    assert_eq!(F64.common(BF16), Some(F64));
    for other in [Type::Bool, u(8), w(8), Type::fixed(8, 8)] {
        assert_eq!(F32.common(other), None);
    }
    check(
        "add f32[0] bool[0]: type-mismatch
         add f32[0] u8[0]: type-mismatch
         add f32[0] w8[0]: type-mismatch
         add f32[0] fixed8.8[0]: type-mismatch
         add f16[15360] f32[0.5]: f32[1.5]",
    );
}

#[test]
fn n56_a_bare_number_is_that_of_python_rounded() {
    // The float is a tie, its decimal in 17 digits lies above.
    let tie = 1.0 + 2f64.powi(-24);
    let zero = bits(&[0.0]);
    let sum = with_literal(Add, all(F32, &zero), tie);
    assert_eq!(sum, Ok((F32, bits(&[1.0]))));
    let tenth = Literal::of(Number::Ratio(Real::new(1, 10).expect("a ratio")));
    let sum = run(&[all(F32, &zero)], |b, x| {
        let tenth = b.literal(tenth, None)?;
        b.binary(Add, x[0].into(), tenth, None)
    });
    assert_eq!(sum.map(|sum| sum.1).ok(), Some(bits(&[0.1])));
    check("add f32[0] 7: f32[7]");
    let infinite = with_literal(Add, all(F32, &zero), f64::INFINITY);
    assert_eq!(infinite, Ok((F32, bits(&[f32::INFINITY]))));
    let beyond = with_literal(Add, all(F32, &zero), 1e39);
    assert_eq!(beyond, Err(Code::ConstantRange));
}

#[test]
fn n57_comparisons_are_those_of_the_norm() {
    check(
        "eq f32[NaN,0,1,-1] f32[NaN,-0,2,-inf]: bool[0,1,0,0]
         ne f32[NaN,0,1,-1] f32[NaN,-0,2,-inf]: bool[1,0,1,1]
         lt f32[NaN,0,1,-1] f32[NaN,-0,2,-inf]: bool[0,0,1,0]
         ge f32[NaN,0,1,-1] f32[NaN,-0,2,-inf]: bool[0,1,0,1]",
    );
}

#[test]
fn n58_the_least_and_the_largest_are_nan_where_one_is() {
    check(
        "min f32[1,NaN,-0,2] f32[2,1,0,NaN]: f32[1,NaN,-0,NaN]
         max f32[1,NaN,-0,2] f32[2,1,0,NaN]: f32[2,NaN,0,NaN]
         reduce min f32[3,-2,5]: f32[-2]",
    );
}

#[test]
fn n59_signs_are_bits_and_bits_are_refused() {
    check(
        "neg f32[1.5,-2,-0]: f32[-1.5,2,0]
         abs f32[1.5,-2,-0]: f32[1.5,2,0]
         and f32[0] f32[0]: type-mismatch
         or f32[0] f32[0]: type-mismatch
         xor f32[0] f32[0]: type-mismatch
         shl f32[0] f32[0]: type-mismatch
         shr f32[0] f32[0]: type-mismatch
         not f32[0]: type-mismatch
         popcount f32[0]: type-mismatch",
    );
}

#[test]
fn n60_conversions_are_rounded_to_floats_and_stop_at_the_ends_from_them() {
    check(
        "cast i32[16777217,-3] f32: f32[16777216,-3]
         cast fixed8.4[-24] f32: f32[-1.5]
         cast f32[0] i32: range-overflow
         cast f32[0] bool: type-mismatch
         saturate f32[-2.75,1e9,-inf,NaN] i8: i8[-2,127,-128,0]
         saturate f32[-2.75,1e9,-inf,NaN] fixed7.1: fixed7.1[-6,127,-128,0]
         cast f32[65520,1] f16: f16[31744,15360]",
    );
}

#[test]
fn n61_nothing_is_rounded_unasked() {
    let revealed = |from: Type, to: Type| {
        let mut b = Builder::new("norm")?;
        let owner = b.party("alice")?;
        let x = b.input(declared("x", owner, from, Shape::scalar(), from.range()))?;
        b.reveal("result", x.into(), &[owner], to, None)
    };
    assert!(revealed(F16, F32).is_ok());
    for (from, to) in [(F32, F16), (F32, i(8)), (i(8), F32), (BF16, F16)] {
        let refused = revealed(from, to).map_err(|e| e.code);
        assert_eq!(refused, Err(Code::TypeMismatch));
    }
}

#[test]
fn n62_data_are_the_nearest_numbers() {
    // Crate `tables` reads them; this is the conversion that it calls.
    let read = |text| float::parse(text, float::Format::F32).map(|found| found.stored);
    assert_eq!(read("0.1"), Ok(0.1f32.to_bits().into()));
    assert_eq!(read("NaN"), Ok(nan()));
    assert_eq!(read("-inf"), Ok(f32::NEG_INFINITY.to_bits().into()));
    assert!(read("").is_err() && read("1e39").is_err());
}

#[test]
fn n63_numbers_below_the_normal_ones_can_be_flushed() {
    let small = f32::from_bits(1);
    let program = |flushed| {
        let mut b = Builder::new("norm")?;
        if flushed {
            b.flush_subnormals();
        }
        let owner = b.party("alice")?;
        let x = b.input(declared("x", owner, F32, Shape::scalar(), F32.range()))?;
        let sum = b.binary(Add, x.into(), Operand::Int(0), None)?;
        b.reveal("result", sum.into(), &[owner], F32, None)?;
        b.finish().map(|(program, _)| program)
    };
    for (flushed, expected) in [(false, small), (true, 0.0)] {
        let program = program(flushed).expect("a program");
        let data = Data::from_numbers(F32, vec![], &bits(&[small])).expect("a number");
        let results = evaluate(&program, &BTreeMap::from([("x".to_string(), data)]));
        let results = results.expect("an input that fits");
        let found = results["result"].numbers().collect::<Vec<_>>();
        assert_eq!(found, bits(&[expected]));
        let text = print(&program);
        assert_eq!(text.contains("subnormals flushed"), flushed);
        assert!(parse(&text, "text").is_ok_and(|read| read == program));
    }
}

#[test]
fn n64_sums_are_exact_and_rounded_once() {
    check(
        "reduce sum f32[1e8,1,-1e8,0.5]: f32[1.5]
         dot f32[1e8,1,-1e8,0.5] f32[1e8,2,1e8,2]: f32[3]
         reduce sum f32[-0,-0]: f32[0]
         reduce sum f32[1e8,1,-1e8,0.5] i64: type-mismatch",
    );
    let wide = run(&[all(F32, &bits(&[1e30, 1e-30]))], |b, x| {
        b.reduce(Reduction::Sum, x[0], None, Some(F64), None)
    });
    let exact = f64::from(1e30f32) + f64::from(1e-30f32);
    assert_eq!(wide.unwrap(), (F64, vec![exact.to_bits().into()]));
}
