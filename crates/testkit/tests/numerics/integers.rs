//! Tests of the norm on integers, element by element.

use super::*;

#[test]
fn n01_types_hold_their_ranges() {
    assert_eq!(Type::Bool.range(), Range { lo: 0, hi: 1 });
    assert_eq!(u(1).range(), Range { lo: 0, hi: 1 });
    assert_eq!(i(1).range(), Range { lo: -1, hi: 0 });
    let range = |lo, hi| Range { lo, hi };
    assert_eq!(u(64).range(), range(0, u64::MAX.into()));
    assert_eq!(i(64).range(), range(i64::MIN.into(), i64::MAX.into()));
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
        let error = b.binary(FloorDiv, x[0].into(), x[1].into(), None);
        let error = error.unwrap_err();
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
    check(
        "eq u8[200,5,5] i8[-56,5,6]: bool[0,1,0]
         ne u8[200,5,5] i8[-56,5,6]: bool[1,0,1]
         lt u8[200,5,5] i8[-56,5,6]: bool[0,0,1]
         le u8[200,5,5] i8[-56,5,6]: bool[0,1,1]
         gt u8[200,5,5] i8[-56,5,6]: bool[1,0,0]
         ge u8[200,5,5] i8[-56,5,6]: bool[1,1,0]",
    );
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
         max u8[200,5] i8[-5,9]: i9[200,9]
         max bool[1] bool[0]: bool[1]",
    );
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
    check(
        "shr u8[1] -1: shift-range
         shr u8[1] 8: shift-range
         shl w8[1] -1: shift-range
         shl w8[1] 8: shift-range
         shr u8[255] u3[7]: u8[1]
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
    check(
        "select bool[1,0] u8[1,2] i8[-1,-2]: i9[1,-2]
         select u8[1,2] u8[1,2] i8[-1,-2]: type-mismatch
         select bool[1,0] bool[1,0] bool[1,0]: bool[1,0]",
    );
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
