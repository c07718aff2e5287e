//! Tests of the norm on fixed point. Columns hold stored numbers; expected ones are Python's
//! results with `Fraction`.

use super::*;
use sealane_program::decimal;
use sealane_program::literal::{Literal, Number, Real};

pub(super) const fn f(integer: u8, fraction: u8) -> Type {
    Type::fixed(integer, fraction)
}

/// The ratio as a literal of the program.
pub(super) fn literal(b: &mut Builder, numerator: i128, denominator: u128) -> Operand {
    let number = Real::new(numerator, denominator).expect("a ratio");
    let literal = b.literal(Literal::of(Number::Ratio(number)), None);
    literal.expect("a literal")
}

#[test]
fn n39_a_fixed_point_type_holds_multiples() {
    assert_eq!(f(16, 16).range(), i(32).range());
    assert_eq!(Type::ufixed(0, 8).range(), u(8).range());
    assert_eq!(decimal::range_text(f(2, 2).range(), f(2, 2)), "-2..1.75");
    for text in [
        "fixed16.16",
        "ufixed8.8",
        "fixed1.63",
        "ufixed0.64",
        "fixed64.0",
    ] {
        let ty = text.parse::<Type>().expect("a type");
        assert_eq!(ty.to_string(), text);
        assert_eq!(ty.wrapping(), ty);
    }
    for text in [
        "fixed",
        "fixed16",
        "fixed0.0",
        "fixed33.32",
        "ufixed01.2",
        "fixed1.",
        "fixed4.4.wrapping",
    ] {
        assert!(text.parse::<Type>().is_err(), "{text}");
    }
}

#[test]
fn n40_common_types_have_the_longer_fraction() {
    let common = |a: Type, b: Type| a.common(b);
    assert_eq!(common(f(16, 16), f(8, 24)), Some(f(16, 24)));
    assert_eq!(common(f(16, 16), u(8)), Some(f(16, 16)));
    assert_eq!(common(u(16), f(16, 16)), Some(f(17, 16)));
    let ufixed = Type::ufixed;
    assert_eq!(common(ufixed(8, 8), ufixed(4, 12)), Some(ufixed(8, 12)));
    assert_eq!(common(ufixed(8, 8), i(4)), Some(f(9, 8)));
    assert_eq!(common(f(16, 16), Type::Bool), Some(f(16, 16)));
    assert_eq!(common(i(64), f(16, 16)), None);
    assert_eq!(common(f(8, 8), w(8)), None);
    check(
        "add fixed8.2[5] fixed4.4(-20..20)[3]: range-overflow
         add fixed8.2(0..9)[5] fixed4.4(-20..20)[3]: fixed8.4[23]",
    );
}

#[test]
fn n41_what_is_exact_stays_exact() {
    // -1.75 and 2.5, -0.75 and 1.25, in quarters.
    check(
        "sub fixed6.2(-40..40)[-7,10] fixed6.2(-40..40)[-3,5]: fixed6.2[-4,5]
         min fixed6.2(-40..40)[-7,10] fixed6.2(-40..40)[-3,5]: fixed6.2[-7,5]",
    );
    // Python: -1.75 // 0.75 == -3, 2.5 // 1.25 == 2; -1.75 % 0.75 == 0.5, 2.5 % 1.25 == 0.
    check(
        "floordiv fixed9.2(-40..40)[-7,10] fixed6.2(1..20)[3,5]: fixed9.2[-12,8]
         mod fixed6.2(-40..40)[-7,10] fixed6.2(1..20)[3,5]: fixed6.2[2,0]
         neg fixed6.2(-40..40)[-7,10]: fixed6.2[7,-10]
         abs fixed6.2(-40..40)[-7,10]: fixed6.2[7,10]
         reduce max fixed6.2(-40..40)[-7,10]: fixed6.2[10]
         reduce sum fixed6.2(-40..40)[-7,10]: fixed6.2[3]
         floordiv fixed6.2[1] fixed6.2(1..20)[3,5]: range-overflow",
    );
}

#[test]
fn n42_products_and_quotients_are_rounded_down() {
    // 0.75 * 0.75 = 0.5625, -0.25 * 0.25 = -0.0625, in quarters. Then an integer beside it, and a
    // bare whole number that the type does not hold.
    check(
        "mul fixed6.2(-8..8)[3,-1] fixed6.2(-8..8)[3,1]: fixed6.2[2,-1]
         mul fixed6.2(-8..8)[3,-1] u3(0..3)[3,2]: fixed6.2[9,-2]
         mul fixed1.7(-10..10)[-3] 5: fixed1.7[-15]",
    );
    // 1.25 / 0.75 = 1.66…, -0.25 / 0.5 = -0.5, and by 3: 0.416…, -0.083….
    check(
        "div fixed6.2(-8..8)[5,-1] fixed6.2(2..8)[3,2]: fixed6.2[6,-2]
         div fixed6.2(-8..8)[5,-1] 3: fixed6.2[1,-1]
         div fixed6.2(-8..8)[1] fixed6.2(-8..8)[1]: division-by-zero",
    );
    let divisor = within(f(6, 2), 2, 8, &[3, 2]);
    let inverse = run(&[divisor], |b, x| {
        b.binary(Div, Operand::Int(1), x[0].into(), None)
    });
    assert_eq!(inverse.unwrap(), (f(6, 2), vec![5, 8]));
    let integers = run(&[all(u(8), &[1])], |b, x| {
        b.binary(Div, x[0].into(), 3.into(), None)
    });
    let refused = integers.unwrap_err();
    assert_eq!(refused.code, Code::TypeMismatch);
    let hint = "say it: `x0.astype(sl.fixed(32, 16)) / 3`";
    assert!(refused.hint.starts_with(hint));
    // A refusal states values, not stored numbers.
    let wide = run(&[all(f(2, 2), &[1])], |b, x| {
        b.binary(Mul, x[0].into(), x[0].into(), None)
    });
    let refused = wide.unwrap_err();
    let reason = "x0 in -2..1.75 and x0 in -2..1.75 give 0..4, and fixed2.2 holds -2..1.75";
    assert_eq!(refused.reason, reason);
    assert_eq!(refused.hint, "write `x0.astype(sl.fixed(4, 2)) * x0`");
}

#[test]
fn n43_a_sum_of_products_is_rounded_once() {
    // Four times 0.0625 is 0.25; rounded one by one it would be zero.
    check(
        "dot fixed6.2(-8..8)[1,1,1,1] fixed6.2(-8..8)[1,1,1,1]: fixed6.2[1]
         dot fixed6.2(-8..8)[1,1,1,1] fixed6.2(-8..8)[1,1,1,1] fixed6.4: fixed6.4[4]
         dot fixed6.2(-8..8)[1,1,1,1] fixed6.2(-8..8)[1,1,1,1] i8: i8[0]
         dot fixed6.2(-8..8)[1,1,1,1] u2(0..3)[3,3,3,1]: fixed6.2[10]
         reduce sum fixed6.2(-8..8)[3,3,3] fixed6.0: fixed6.0[2]
         reduce sum fixed6.2(-8..8)[-1,-1,1] fixed6.0: fixed6.0[-1]",
    );
}

/// Sums of products of two columns, over a fixed axis and over rows, in each way to write one.
#[test]
fn n43_every_sum_of_products_is_exact_over_rows_too() {
    let (x, y) = (&[-1, 7, 5, -3, 1][..], &[1, -3, 5, 7, -8][..]);
    // -1 - 21 + 25 - 21 - 8 = -26 sixteenths, which is -6.5 quarters; without negative x, 17.
    let (a, b) = (within(f(16, 2), -8, 8, x), within(f(16, 2), -8, 8, y));
    let flags = within(u(1), 0, 1, &[0, 1, 1, 0, 0]);
    let times = within(u(2), 0, 3, &[1, 1, 1, 1, 2]);
    type Written = fn(&mut Builder, &[Handle], Handle) -> Result<Handle, Diagnostic>;
    let product = |b: &mut Builder, x: &[Handle]| b.binary(Mul, x[0].into(), x[1].into(), None);
    let ways: [(Written, i128); 6] = [
        (|b, x, _| b.dot(x[0], x[1], None, None), -26),
        (|b, x, _| b.dot(x[0], x[1], Some(f(16, 4)), None), -26),
        (
            |b, _, p| b.reduce(Reduction::Sum, p, Some(0), Some(f(16, 3)), None),
            -26,
        ),
        (
            |b, _, p| {
                let wide = b.cast(p, f(16, 3), None)?;
                b.reduce(Reduction::Sum, wide, None, None, None)
            },
            -26,
        ),
        (
            |b, x, p| {
                let flag = b.binary(Ne, x[2].into(), Operand::Int(0), None)?;
                let kept = b.select(flag.into(), p.into(), Operand::Int(0), None)?;
                b.reduce(Reduction::Sum, kept, None, None, None)
            },
            -21 + 25,
        ),
        (
            |b, x, p| {
                let taken = b.binary(Mul, p.into(), x[3].into(), None)?;
                b.reduce(Reduction::Sum, taken, None, Some(f(16, 0)), None)
            },
            -26 - 8,
        ),
    ];
    for (number, (written, sixteenths)) in ways.into_iter().enumerate() {
        for rows in [false, true] {
            let sum = run_shaped(rows, &[a, b, flags, times], |b, x| {
                let product = product(b, x)?;
                written(b, x, product)
            });
            let (ty, numbers) = sum.unwrap_or_else(|refused| panic!("{number}: {refused}"));
            let stored = sixteenths << ty.fraction() >> 4;
            assert_eq!(numbers, [stored], "way {number}, rows: {rows}");
        }
    }
    // A refusal states the exact sum, and its suggestion is accepted.
    let dot = |dtype| {
        let columns = [all(f(4, 4), &[1]); 2];
        run_shaped(true, &columns, |b, x| b.dot(x[0], x[1], dtype, None))
    };
    let hint = "write `sl.dot(x0, x1, dtype=sl.fixed(17, 4))`";
    assert_eq!(dot(None).unwrap_err().hint, hint);
    assert_eq!(dot(Some(f(17, 4))).unwrap(), (f(17, 4), vec![0]));
    let wraps = run_shaped(true, &[a, b], |b, x| {
        let p = product(b, x)?;
        b.reduce(Reduction::Sum, p, None, Some(w(8)), None)
    });
    assert!(wraps.is_ok());
}

#[test]
fn n44_comparisons_do_not_see_fractions() {
    check(
        "lt fixed4.2(-16..16)[6,6,6] fixed8.4(-99..99)[23,24,25]: bool[0,0,1]
         eq fixed4.2(-16..16)[6,6,6] fixed8.4(-99..99)[23,24,25]: bool[0,1,0]
         ge fixed4.2(-16..16)[6,6,6] u8[1,2,255]: bool[1,0,0]
         gt fixed4.2(-16..16)[6,6,6] w4[1,2,15]: bool[1,0,0]
         gt u64[1] ufixed0.64[1]: range-overflow",
    );
}

#[test]
fn n45_conversions_round_down_and_nothing_else_does() {
    let a = within(f(6, 4), -40, 40, &[-1, 23, -40]);
    check(
        "cast fixed6.4(-40..40)[-1,23,-40] fixed4.1: fixed4.1[-1,2,-5]
         cast fixed6.4(-40..40)[-1,23,-40] i4: i4[-1,1,-3]
         cast fixed6.4(-40..40)[-1,23,-40] fixed6.8: fixed6.8[-16,368,-640]
         cast fixed6.4(-40..40)[-1,23,-40] w8: w8[255,1,253]
         cast fixed6.4(-40..40)[-1,23,-40] u8: range-overflow
         cast u8[3] fixed9.3: fixed9.3[24]
         cast fixed6.4(-40..40)[-1,23,-40] bool: type-mismatch",
    );
    let unasked = run(&[a], |b, x| {
        b.reveal("whole", x[0].into(), &[0], i(8), None)?;
        Ok(x[0])
    });
    let refused = unasked.unwrap_err();
    let message = "the result `whole` has more bits behind the point than i8";
    assert_eq!(refused.message, message);
    let hint = "round it down with `.astype(sl.i8)`";
    assert!(refused.hint.starts_with(hint));
    let carried = run(&[a], |b, x| {
        let (_, element) = b.begin_scan(&[Operand::Int(0)], &[x[0]], None)?;
        Ok(b.end_scan(&[element[0].into()], &[], None)?.0[0])
    });
    assert_eq!(carried.unwrap_err().code, Code::TypeMismatch);
}

#[test]
fn n46_shifts_are_powers_of_two_and_bits_are_for_integers() {
    let a = within(f(6, 2), -20, 20, &[-3, 7]);
    check(
        "shr fixed6.2(-20..20)[-3,7] 1: fixed6.2[-2,3]
         shl fixed6.2(-20..20)[-3,7] 2: fixed6.2[-12,28]
         and fixed6.2(-20..20)[-3,7] fixed6.2(-20..20)[-3,7]: type-mismatch
         or fixed6.2(-20..20)[-3,7] fixed6.2(-20..20)[-3,7]: type-mismatch
         xor fixed6.2(-20..20)[-3,7] fixed6.2(-20..20)[-3,7]: type-mismatch
         shl fixed6.2(-20..20)[-3,7] fixed6.2(-20..20)[-3,7]: type-mismatch
         reduce any fixed6.2(-20..20)[-3,7]: type-mismatch
         lookup u8[1,2] fixed6.2(-20..20)[-3,7]: type-mismatch",
    );
    for op in [Not, Popcount] {
        let refused = unary(op, a).unwrap_err();
        assert_eq!(refused.code, Code::TypeMismatch);
        assert_eq!(refused.hint, "round down first: `x0.astype(sl.i4)`");
    }
}

#[test]
fn n47_literals_take_the_nearest_number_and_a_warning_says_so() {
    // 0.1 is 1.6 sixteenths, 0.03125 half a one, and 0.25 is exact.
    check(
        "add fixed8.4(-100..100)[16,-16] 1/10: fixed8.4[18,-14]
         add fixed8.4(-100..100)[16,-16] 1/32: fixed8.4[16,-16]
         mul fixed8.4(-100..100)[16,-16] 3/32: fixed8.4[2,-2]
         add fixed8.4(-100..100)[16,-16] 1000/1: constant-range
         mul u8[1] 1/2: type-mismatch",
    );
    // A comparison is exact for numbers that some type holds, and else uses the nearest number.
    // Data of 0.3 are read to 5 sixteenths, and equal 0.3; the type of neither has a sign. Beside
    // an integer as well, and 0.125 is not at most 0.1, though 0.1 would be read to it.
    check(
        "gt fixed8.4(-100..100)[16,-16] 33/32: bool[0,0]
         lt u8[1,2] 3/2: bool[1,0]
         ge fixed8.4(-100..100)[16,-16] 1/10: bool[1,0]
         ge fixed8.4(0..9)[4,5] 3/10: bool[0,1]
         gt ufixed0.64[9223372036854775808,18446744073709551615] 9/10: bool[0,1]
         ge u8[0,1] 1/10: bool[0,1]
         le fixed8.4(-100..100)[16,-16] 1/10: bool[0,1]
         le fixed8.4(-9..9)[-2,-1,1,2] 1/10: bool[1,1,1,0]
         eq fixed8.4(-9..9)[-2,-1,1,2] 1/10: bool[0,0,0,0]",
    );
    compares_as_ratios();

    let warnings = |op, numerator, denominator| {
        let mut b = Builder::new("norm").unwrap();
        let owner = b.party("alice").unwrap();
        let range = Range { lo: 0, hi: 9 };
        let x = declared("x", owner, f(8, 4), Shape::scalar(), range);
        let x = b.input(x).unwrap();
        let ratio = literal(&mut b, numerator, denominator);
        let made = b.binary(op, x.into(), ratio, None).unwrap();
        let ty = b.value(made).unwrap().ty;
        b.reveal("result", made.into(), &[owner], ty, None).unwrap();
        b.finish().unwrap().1
    };
    let codes = |op, n, d| -> Vec<_> { warnings(op, n, d).iter().map(|w| w.code).collect() };
    assert_eq!(codes(Eq, 1, 10), [Code::NeverEqual]);
    assert_eq!(codes(Ne, 1, 32), [Code::NeverEqual]);
    assert!(codes(Eq, 1, 16).is_empty() && codes(Lt, 1, 10).is_empty());
    let warned = warnings(Add, 1, 10);
    assert_eq!(warned.len(), 1);
    assert_eq!(warned[0].code, Code::LiteralRounded);
    assert_eq!(warned[0].message, "0.1 is taken for 0.125");
    assert!(warnings(Add, 1, 4).is_empty());
}

/// Compares each comparison with a ratio, on either side of it, with that of ratios.
fn compares_as_ratios() {
    let numbers = (-9..=9).collect::<Vec<i128>>();
    let columns = [
        within(f(8, 4), -9, 9, &numbers),
        within(i(8), -9, 9, &numbers),
        within(i(64).wrapping(), -9, 9, &numbers),
    ];
    let ratios = [(1, 10), (-1, 10), (7, 3), (-1, 32), (99, 2), (1, 4)];
    let cases = columns.iter();
    let cases = cases.flat_map(|column| ratios.map(|ratio| (column, ratio)));
    for (column, (n, d)) in cases {
        // x / 2^f against n / d.
        let sides = |x: i128| (x * d as i128, n << column.0.fraction());
        type Truth = fn((i128, i128)) -> bool;
        let truths: [(Binary, Truth); 6] = [
            (Lt, |(x, y)| x < y),
            (Le, |(x, y)| x <= y),
            (Gt, |(x, y)| x > y),
            (Ge, |(x, y)| x >= y),
            (Eq, |(x, y)| x == y),
            (Ne, |(x, y)| x != y),
        ];
        for (op, truth) in truths {
            let expected = numbers.iter().map(|x| truth(sides(*x)).into());
            let expected = expected.collect::<Vec<i128>>();
            let found = run(&[*column], |b, x| {
                let ratio = literal(b, n, d);
                b.binary(op, x[0].into(), ratio, None)
            });
            let case = format!("{:?} {op:?} {n}/{d}", column.0);
            assert_eq!(found.unwrap().1, expected, "{case}");
            let mirrored = run(&[*column], |b, x| {
                let ratio = literal(b, n, d);
                b.binary(op, ratio, x[0].into(), None)
            });
            let swapped = |x: &i128| truth((sides(*x).1, sides(*x).0)).into();
            let expected = numbers.iter().map(swapped).collect::<Vec<i128>>();
            assert_eq!(mirrored.unwrap().1, expected, "{case}, mirrored");
        }
    }
}

#[test]
fn n48_data_are_read_to_the_nearest_number() {
    let near = |text| decimal::parse(text, 4).expect("a decimal");
    assert_eq!((near("0.1").stored, near("0.1").exact), (2, false));
    assert_eq!((near("0.03125").stored, near("0.09375").stored), (0, 2));
    assert_eq!((near("-0.25").stored, near("-0.25").exact), (-4, true));
    assert_eq!(decimal::from_f64(0.1, 4), Ok(near("0.1")));
}

#[test]
fn n49_wrap_saturate_and_clip_are_not_refused() {
    let a = all(i(16), &[-1, 300, -32768, 127]);
    check(
        "wrap i16[-1,300,-32768,127] u8: u8[255,44,0,127]
         wrap i16[-1,300,-32768,127] i8: i8[-1,44,0,127]
         wrap i16[-1,300,-32768,127] bool: bool[1,0,0,1]
         wrap fixed8.4[1] u8: type-mismatch
         saturate i16[-1,300,-32768,127] u8: u8[0,255,0,127]
         saturate i16[-1,300,-32768,127] i8: i8[-1,127,-128,127]
         saturate i16[-1,300,-32768,127] bool: bool[0,1,0,1]",
    );
    // The largest number of the type is 7.9375, and no integer.
    check(
        "saturate i16[-1,300,-32768,127] fixed4.4: fixed4.4[-16,127,-128,127]
         saturate fixed8.4[-1,1000,23] fixed4.1: fixed4.1[-1,15,2]
         saturate i64[9223372036854775807,5] fixed32.32: fixed32.32[9223372036854775807,21474836480]",
    );
    // `clip` has the range of its ends.
    let clipped = run(&[a], |b, x| {
        let low = b.binary(Max, x[0].into(), Operand::Int(-3), None)?;
        let clipped = b.binary(Min, low.into(), Operand::Int(100), None)?;
        b.cast(clipped, i(8), None)
    });
    assert_eq!(clipped.unwrap(), (i(8), vec![-1, 100, -3, 100]));
}

#[test]
fn n50_exact_results_may_be_wider_than_types() {
    let wide = f(33, 31);
    let ends = wide.range();
    // The product has 126 bits before it is rounded, and 64 behind.
    let numbers = [i64::MIN as i128 + 1, i64::MAX as i128];
    let unit = within(f(1, 63), ends.lo + 1, ends.hi, &numbers);
    let product = run(&[unit, all(wide, &[3, -3])], |b, x| {
        b.dot(x[0], x[1], Some(f(40, 24)), None)
    });
    assert_eq!(product.unwrap(), (f(40, 24), vec![-1]));
    let whole = run(&[all(f(1, 63), &[3, -3]), all(wide, &[3, -3])], |b, x| {
        b.dot(x[0], x[1], Some(f(40, 24)), None)
    });
    assert_eq!(whole.unwrap_err().code, Code::RangeOverflow);
}

/// A program on two columns of 20,000 rows, and the warnings about it.
fn warned(
    build: impl FnOnce(&mut Builder, &[Handle]) -> Result<Handle, Diagnostic>,
) -> Vec<Diagnostic> {
    let mut b = Builder::new("norm").unwrap();
    let owner = b.party("alice").unwrap();
    let rows = b.rows("n", 20_000).unwrap();
    let range = Range { lo: 256, hi: 1024 };
    let handles = ["x", "y"].map(|name| {
        let input = declared(name, owner, f(16, 8), Shape::with_rows(rows, []), range);
        b.input(input).unwrap()
    });
    let made = build(&mut b, &handles).unwrap();
    let ty = b.value(made).unwrap().ty;
    b.reveal("result", made.into(), &[owner], ty, None).unwrap();
    let mut warnings = b.finish().unwrap().1;
    warnings.retain(|warning| warning.code.is_about_numbers());
    warnings
}

#[test]
fn n51_a_sum_of_rounded_numbers_is_warned_of() {
    let wide = Some(f(40, 8));
    let sum = |op, by: Option<i128>| {
        warned(|b, x| {
            let other = by.map_or(x[1].into(), Operand::Int);
            let each = b.binary(op, x[0].into(), other, None)?;
            b.reduce(Reduction::Sum, each, None, wide, None)
        })
    };
    // 20,000 times 2^-8.
    for (op, by) in [(Div, None), (Shr, Some(1)), (Div, Some(3))] {
        let found = sum(op, by);
        let codes = found.iter().map(|w| w.code).collect::<Vec<_>>();
        assert_eq!(codes, [Code::RoundedSum], "{op:?}");
        let reason = &found[0].reason;
        assert!(reason.contains("the sum by up to 78.13"), "{reason}");
    }
    assert!(sum(Mul, None).is_empty() && sum(Mul, Some(3)).is_empty());
    assert!(warned(|b, x| b.dot(x[0], x[1], wide, None)).is_empty());
    // Rounded in a body, and added up in a scan.
    let mapped = warned(|b, x| {
        let slices = b.begin_map(&[x[0], x[1]], None)?;
        let each = b.binary(Mul, slices[0].into(), slices[1].into(), None)?;
        let all = b.end_map(&[each.into()], None)?;
        b.reduce(Reduction::Sum, all[0], None, wide, None)
    });
    assert_eq!(mapped.len(), 1);
    let scanned = |adds: bool| {
        warned(|b, x| {
            let start = b.scalar(f(40, 8), 0, None)?;
            let (state, each) = b.begin_scan(&[start.into()], &[x[0], x[1]], None)?;
            let product = b.binary(Mul, each[0].into(), each[1].into(), None)?;
            let op = if adds { Add } else { Max };
            let wide = b.cast(state[0], f(42, 8), None)?;
            let next = b.binary(op, wide.into(), product.into(), None)?;
            let next = b.saturate(next, f(40, 8), None)?;
            Ok(b.end_scan(&[next.into()], &[], None)?.0[0])
        })
    };
    assert_eq!((scanned(true).len(), scanned(false).len()), (1, 0));
    // Explicit rounding is intended.
    assert!(sum(FloorDiv, None).is_empty());
}
