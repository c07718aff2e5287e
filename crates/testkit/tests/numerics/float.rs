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
    let (a, b) = ([-7.0, 7.5, 1.0], [3.0, -2.0, 0.0]);
    let quotients = bits(&[-3.0, -4.0, f32::INFINITY]);
    assert_eq!(single(FloorDiv, &a, &b), quotients);
    let rests = [2f32.to_bits().into(), (-0.5f32).to_bits().into(), nan()];
    assert_eq!(single(Mod, &a, &b), rests);
}

#[test]
fn n55_the_common_type_holds_both() {
    assert_eq!(F16.common(BF16), Some(F32));
    assert_eq!(F16.common(F32), Some(F32));
    assert_eq!(F64.common(BF16), Some(F64));
    for other in [Type::Bool, u(8), w(8), Type::fixed(8, 8)] {
        assert_eq!(F32.common(other), None);
        let sum = binary(Add, all(F32, &[0]), all(other, &[0]));
        assert_eq!(sum, Err(Code::TypeMismatch));
    }
    let sum = binary(Add, all(F16, &[0x3c00]), all(F32, &bits(&[0.5])));
    assert_eq!(sum, Ok((F32, bits(&[1.5]))));
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
    let whole = with_number(Add, all(F32, &zero), 7);
    assert_eq!(whole, Ok((F32, bits(&[7.0]))));
    let infinite = with_literal(Add, all(F32, &zero), f64::INFINITY);
    assert_eq!(infinite, Ok((F32, bits(&[f32::INFINITY]))));
    let beyond = with_literal(Add, all(F32, &zero), 1e39);
    assert_eq!(beyond, Err(Code::ConstantRange));
}

#[test]
fn n57_comparisons_are_those_of_the_norm() {
    let (a, b) = (
        [f32::NAN, 0.0, 1.0, -1.0],
        [f32::NAN, -0.0, 2.0, f32::NEG_INFINITY],
    );
    assert_eq!(single(Eq, &a, &b), [0, 1, 0, 0]);
    assert_eq!(single(Ne, &a, &b), [1, 0, 1, 1]);
    assert_eq!(single(Lt, &a, &b), [0, 0, 1, 0]);
    assert_eq!(single(Ge, &a, &b), [0, 1, 0, 1]);
}

#[test]
fn n58_the_least_and_the_largest_are_nan_where_one_is() {
    let (a, b) = ([1.0, f32::NAN, -0.0, 2.0], [2.0, 1.0, 0.0, f32::NAN]);
    let least = [
        1f32.to_bits().into(),
        nan(),
        (-0f32).to_bits().into(),
        nan(),
    ];
    assert_eq!(single(Min, &a, &b), least);
    let most = [2f32.to_bits().into(), nan(), 0f32.to_bits().into(), nan()];
    assert_eq!(single(Max, &a, &b), most);
    let all_of = bits(&[3.0, -2.0, 5.0]);
    let found = reduce(Reduction::Min, all(F32, &all_of), None);
    assert_eq!(found, Ok((F32, bits(&[-2.0]))));
}

#[test]
fn n59_signs_are_bits_and_bits_are_refused() {
    let numbers = bits(&[1.5, -2.0, -0.0]);
    let negative = unary(Neg, all(F32, &numbers)).map(|done| done.1);
    assert_eq!(negative.ok(), Some(bits(&[-1.5, 2.0, 0.0])));
    let absolute = unary(Abs, all(F32, &numbers)).map(|done| done.1);
    assert_eq!(absolute.ok(), Some(bits(&[1.5, 2.0, 0.0])));
    for op in [And, Or, Xor, Shl, Shr] {
        let refused = binary(op, all(F32, &[0]), all(F32, &[0]));
        assert_eq!(refused, Err(Code::TypeMismatch), "{op:?}");
    }
    for op in [Not, Popcount] {
        let refused = unary(op, all(F32, &[0])).map_err(|e| e.code);
        assert_eq!(refused, Err(Code::TypeMismatch), "{op:?}");
    }
}

#[test]
fn n60_conversions_are_rounded_to_floats_and_stop_at_the_ends_from_them() {
    let whole = cast(all(i(32), &[16_777_217, -3]), F32);
    assert_eq!(whole, Ok((F32, bits(&[16_777_216.0, -3.0]))));
    let fixed = cast(all(Type::fixed(8, 4), &[-24]), F32);
    assert_eq!(fixed, Ok((F32, bits(&[-1.5]))));
    assert_eq!(cast(all(F32, &[0]), i(32)), Err(Code::RangeOverflow));
    assert_eq!(cast(all(F32, &[0]), Type::Bool), Err(Code::TypeMismatch));
    let numbers = bits(&[-2.75, 1e9, f32::NEG_INFINITY, f32::NAN]);
    let saturated = |ty| run(&[all(F32, &numbers)], |b, x| b.saturate(x[0], ty, None));
    let found = saturated(i(8)).map(|done| done.1);
    assert_eq!(found.ok(), Some(vec![-2, 127, -128, 0]));
    let found = saturated(Type::fixed(7, 1)).map(|done| done.1);
    assert_eq!(found.ok(), Some(vec![-6, 127, -128, 0]));
    let narrow = cast(all(F32, &bits(&[65520.0, 1.0])), F16);
    assert_eq!(narrow, Ok((F16, vec![0x7c00, 0x3c00])));
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
    let numbers = bits(&[1e8, 1.0, -1e8, 0.5]);
    let sum = reduce(Reduction::Sum, all(F32, &numbers), None);
    assert_eq!(sum, Ok((F32, bits(&[1.5]))));
    let product = run(
        &[all(F32, &numbers), all(F32, &bits(&[1e8, 2.0, 1e8, 2.0]))],
        |b, x| b.dot(x[0], x[1], None, None),
    );
    assert_eq!(product.map(|done| done.1).ok(), Some(bits(&[3.0])));
    let zeros = reduce(Reduction::Sum, all(F32, &bits(&[-0.0, -0.0])), None);
    assert_eq!(zeros, Ok((F32, bits(&[0.0]))));
    let wide = reduce(Reduction::Sum, all(F32, &bits(&[1e30, 1e-30])), Some(F64));
    let exact = f64::from(1e30f32) + f64::from(1e-30f32);
    assert_eq!(wide, Ok((F64, vec![exact.to_bits().into()])));
    let counted = reduce(Reduction::Sum, all(F32, &numbers), Some(i(64)));
    assert_eq!(counted, Err(Code::TypeMismatch));
}
