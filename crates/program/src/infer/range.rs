//! The range of an exact result, before a type refuses or wraps it.
//!
//! Interval arithmetic on closed intervals: sound for every operation, and exact for those that are
//! monotone in each operand (the extremes lie at corners). Bitwise operations use bounds from signs
//! and lengths. Operands come from types of at most 64 bits, so only products and sums can exceed
//! `i128`; those saturate, which is outside every type as well.

use crate::types::Range;

/// The range of negated numbers.
pub fn negative(a: Range) -> Range {
    Range::new(-a.hi, -a.lo)
}

/// The range of absolute values.
pub fn magnitude(a: Range) -> Range {
    match a {
        Range { lo: 0.., .. } => a,
        Range { hi: ..=0, .. } => negative(a),
        _ => Range::new(0, a.hi.max(-a.lo)),
    }
}

/// The range of numbers of ones in numbers of a range, which have at most so many.
pub fn ones(a: Range, most: u8) -> Range {
    Range::new(i128::from(!a.contains(Range::of(0))), most.into())
}

/// The range of squares. Operands have at most 64 bits.
pub fn square(a: Range) -> Range {
    products(a, a, true).unwrap_or_else(|| corners(a, a, i128::saturating_mul))
}

/// The range of products, of numbers and themselves if so said; `None` where one leaves `i128`.
pub fn products(a: Range, b: Range, alike: bool) -> Option<Range> {
    let mut ends = vec![(a.lo, b.lo), (a.hi, b.hi)];
    match alike {
        // A square is the less the nearer the number is to 0.
        true if a.lo < 0 && a.hi > 0 => ends.push((0, 0)),
        true => {}
        false => ends.extend([(a.lo, b.hi), (a.hi, b.lo)]),
    }
    let products = ends.into_iter().map(|(x, y)| x.checked_mul(y));
    Range::of_all(products.collect::<Option<Vec<_>>>()?)
}

/// The range of a sum of `fewest` to `most` elements.
pub fn sum(a: Range, fewest: u64, most: u64) -> Range {
    corners(a, Range::new(fewest.into(), most.into()), |x, n| {
        x.saturating_mul(n)
    })
}

/// The quotient rounded towards minus infinity.
pub fn floor_div(a: i128, b: i128) -> i128 {
    let quotient = a / b;
    if a % b != 0 && (a < 0) != (b < 0) {
        quotient - 1
    } else {
        quotient
    }
}

/// The range of a function that is monotone in each operand for every value of the other.
pub fn corners(a: Range, b: Range, f: impl Fn(i128, i128) -> i128) -> Range {
    let ends = [f(a.lo, b.lo), f(a.lo, b.hi), f(a.hi, b.lo), f(a.hi, b.hi)];
    ends.map(Range::of)
        .into_iter()
        .fold(Range::of(ends[0]), Range::hull)
}

/// Range of a comparison, of which `always` and `never` state whether the ranges decide it.
pub fn truth(always: bool, never: bool) -> Range {
    Range::new(i128::from(always), i128::from(!never))
}

/// True if both hold the same number alone.
pub fn same(a: Range, b: Range) -> bool {
    a == b && a.lo == a.hi
}

/// True if all numbers of one are above all of the other.
pub fn apart(a: Range, b: Range) -> bool {
    a.hi < b.lo || b.hi < a.lo
}

/// Range of a remainder, which lies between zero and the divisor; a dividend that is already there
/// stays.
pub fn modulo(a: Range, b: Range) -> Range {
    if b.lo > 0 {
        let unchanged = a.lo >= 0 && a.hi < b.lo;
        let below = if a.lo >= 0 {
            a.hi.min(b.hi - 1)
        } else {
            b.hi - 1
        };
        if unchanged {
            a
        } else {
            Range { lo: 0, hi: below }
        }
    } else {
        negative(modulo(negative(a), negative(b)))
    }
}

pub fn complement(a: Range) -> Range {
    Range::new(!a.hi, !a.lo)
}

/// Range of AND. A non-negative operand bounds the result from above and makes it non-negative. Of
/// two negative operands the result is at most the smaller, and negative.
pub fn and(a: Range, b: Range) -> Range {
    match (a.lo >= 0, b.lo >= 0) {
        (true, true) => Range::new(0, a.hi.min(b.hi)),
        (true, false) => Range { lo: 0, hi: a.hi },
        (false, true) => Range { lo: 0, hi: b.hi },
        (false, false) => {
            let hi = if a.hi < 0 && b.hi < 0 {
                a.hi.min(b.hi)
            } else {
                a.hi.max(b.hi)
            };
            Range::new(-(1 << (a.bits().max(b.bits()) - 1)), hi)
        }
    }
}

/// Range of OR, the complement of the AND of complements.
pub fn or(a: Range, b: Range) -> Range {
    complement(and(complement(a), complement(b)))
}

/// Range of XOR. The result is no longer than the longer operand, sign included.
pub fn xor(a: Range, b: Range) -> Range {
    let magnitude = |r: Range| r.bits() - u8::from(r.signed());
    let top = 1 << magnitude(a).max(magnitude(b));
    Range::new(if a.signed() || b.signed() { -top } else { 0 }, top - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elementwise::{Binary, Family, Unary};
    use crate::types::Type;
    use proptest::prelude::*;

    #[test]
    fn floor_division_is_that_of_python() {
        // Python: 7 // 2, -7 // 2, 7 // -2, -7 // -2, -6 // 2.
        let cases = [
            (7, 2, 3),
            (-7, 2, -4),
            (7, -2, -4),
            (-7, -2, 3),
            (-6, 2, -3),
        ];
        for (a, b, quotient) in cases {
            assert_eq!(floor_div(a, b), quotient);
            assert_eq!((Binary::FloorDiv.row().clear)(a, b), quotient);
        }
    }

    #[test]
    fn ranges_are_exact_where_every_operation_is_monotone() {
        let range = |lo, hi| Range { lo, hi };
        let binary = |op: Binary, a, b| (op.row().range)(a, b);
        let all = Type::signed(64).range();
        let cases = [
            (Binary::Mul, range(-3, 5), range(-7, 2), range(-35, 21)),
            (Binary::FloorDiv, range(-9, 20), range(2, 4), range(-5, 10)),
            (Binary::And, range(-8, 100), range(0, 15), range(0, 15)),
            (Binary::Or, range(3, 9), range(1, 4), range(3, 15)),
            (Binary::Mod, range(0, 9), range(10, 12), range(0, 9)),
            (Binary::Mod, range(-1, 9), range(-4, -2), range(-3, 0)),
            (
                Binary::Shl,
                all,
                range(0, 63),
                range(-1 << 126, ((1 << 63) - 1) << 63),
            ),
        ];
        for (op, a, b, expected) in cases {
            assert_eq!(binary(op, a, b), expected, "{op:?}");
        }
        assert_eq!(sum(range(-2, 3), 1, 100), range(-200, 300));
        assert_eq!(sum(range(2, 3), 1, 100), range(2, 300));
    }

    fn small_range() -> impl Strategy<Value = Range> {
        (-20i128..20, 0i128..12).prop_map(|(lo, len)| Range { lo, hi: lo + len })
    }

    proptest! {
        #[test]
        fn every_result_lies_in_the_range(
            op in prop::sample::select(&Binary::ALL[..]), a in small_range(), b in small_range(),
        ) {
            let (shift, division) = (op.family() == Family::Shift, op.family() == Family::Division);
            prop_assume!(!shift || b.lo >= 0);
            prop_assume!(!division || b.lo > 0 || b.hi < 0);
            let range = (op.row().range)(a, b);
            for x in a.lo..=a.hi {
                for y in b.lo..=b.hi {
                    let z = (op.row().clear)(x, y);
                    prop_assert!(range.contains(Range::of(z)), "{op:?} {x} {y} {z} {range}");
                }
            }
        }

        #[test]
        fn every_result_of_a_number_with_itself_lies_in_the_range(
            op in prop::sample::select(&Binary::ALL[..]), a in small_range(),
        ) {
            let (shift, division) = (op.family() == Family::Shift, op.family() == Family::Division);
            prop_assume!(!shift || a.lo >= 0);
            prop_assume!(!division || a.lo > 0 || a.hi < 0);
            let Some(itself) = op.row().itself else {
                return Ok(());
            };
            let range = itself(a);
            let exact = (a.lo..=a.hi).map(|x| (op.row().clear)(x, x));
            let tight = Range::of_all(exact).expect("a number");
            let is_tight = range == tight;
            prop_assert!(range.contains(tight) && is_tight, "{op:?} {a} {range} {tight}");
        }

        #[test]
        fn every_unary_result_lies_in_the_range(
            op in prop::sample::select(&Unary::ALL[..]), a in small_range(),
        ) {
            let ty = if a.lo < 0 { Type::signed(7) } else { Type::unsigned(6) };
            let range = (op.row().range)(ty, a);
            for x in a.lo..=a.hi {
                let y = (op.row().clear)(ty, x);
                prop_assert!(range.contains(Range::of(y)), "{op:?} {x} {y} {range}");
            }
        }
    }
}
