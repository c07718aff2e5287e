//! The range of an exact result, before a type refuses or wraps it.
//!
//! Interval arithmetic on closed intervals: sound for every operation, and exact for those that are
//! monotone in each operand (the extremes lie at corners). Bitwise operations use bounds from signs
//! and lengths. Operands come from types of at most 64 bits, so only products and sums can exceed
//! `i128`; those saturate, which is outside every type as well.

use crate::graph::{Binary, Unary};
use crate::types::{Range, Type};

/// The range of a unary operation on elements of type `ty`.
pub fn unary(op: Unary, ty: Type, a: Range) -> Range {
    match op {
        Unary::Neg => Range {
            lo: -a.hi,
            hi: -a.lo,
        },
        Unary::Not if ty.range().lo < 0 => complement(a),
        Unary::Not => Range {
            lo: ty.range().hi - a.hi,
            hi: ty.range().hi - a.lo,
        },
        Unary::Abs if a.lo >= 0 => a,
        Unary::Abs if a.hi <= 0 => Range {
            lo: -a.hi,
            hi: -a.lo,
        },
        Unary::Abs => Range {
            lo: 0,
            hi: a.hi.max(-a.lo),
        },
        Unary::Popcount => {
            let most = if a.lo < 0 { ty.bits() } else { a.bits() };
            let never_zero = a.lo > 0 || a.hi < 0;
            let hi = if a == Range::of(0) {
                0
            } else {
                i128::from(most)
            };
            Range {
                lo: i128::from(never_zero),
                hi,
            }
        }
    }
}

/// The range of a binary operation. A divisor's range has no zero in it, and a shift's amount is
/// within 0 to 63.
pub fn binary(op: Binary, a: Range, b: Range) -> Range {
    match op {
        Binary::Add => Range {
            lo: a.lo + b.lo,
            hi: a.hi + b.hi,
        },
        Binary::Sub => Range {
            lo: a.lo - b.hi,
            hi: a.hi - b.lo,
        },
        Binary::Mul => corners(a, b, i128::saturating_mul),
        Binary::Div | Binary::FloorDiv => corners(a, b, floor_div),
        Binary::Mod => modulo(a, b),
        Binary::And => and(a, b),
        Binary::Or => complement(and(complement(a), complement(b))),
        Binary::Xor => xor(a, b),
        Binary::Shl => corners(a, b, |x, by| x << by),
        Binary::Shr => corners(a, b, |x, by| x >> by),
        Binary::Min => Range {
            lo: a.lo.min(b.lo),
            hi: a.hi.min(b.hi),
        },
        Binary::Max => Range {
            lo: a.lo.max(b.lo),
            hi: a.hi.max(b.hi),
        },
        Binary::Eq => truth(a == b && a.lo == a.hi, a.hi < b.lo || b.hi < a.lo),
        Binary::Ne => truth(a.hi < b.lo || b.hi < a.lo, a == b && a.lo == a.hi),
        Binary::Lt => truth(a.hi < b.lo, a.lo >= b.hi),
        Binary::Le => truth(a.hi <= b.lo, a.lo > b.hi),
        Binary::Gt => truth(a.lo > b.hi, a.hi <= b.lo),
        Binary::Ge => truth(a.lo >= b.hi, a.hi < b.lo),
    }
}

/// The range of a binary operation on a number and itself.
pub fn with_itself(op: Binary, a: Range) -> Range {
    match op {
        // Operands have at most 64 bits.
        Binary::Mul => products(a, a, true).unwrap_or_else(|| binary(op, a, a)),
        Binary::Sub | Binary::Xor | Binary::Mod => Range::of(0),
        Binary::Div | Binary::FloorDiv => Range::of(1),
        Binary::Eq | Binary::Le | Binary::Ge => Range::of(1),
        Binary::Ne | Binary::Lt | Binary::Gt => Range::of(0),
        Binary::And | Binary::Or | Binary::Min | Binary::Max => a,
        Binary::Add | Binary::Shl | Binary::Shr => binary(op, a, a),
    }
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
    corners(
        a,
        Range {
            lo: fewest.into(),
            hi: most.into(),
        },
        |x, n| x.saturating_mul(n),
    )
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
fn corners(a: Range, b: Range, f: impl Fn(i128, i128) -> i128) -> Range {
    let ends = [f(a.lo, b.lo), f(a.lo, b.hi), f(a.hi, b.lo), f(a.hi, b.hi)];
    ends.map(Range::of)
        .into_iter()
        .fold(Range::of(ends[0]), Range::hull)
}

/// Range of a comparison, of which `always` and `never` state whether the ranges decide it.
fn truth(always: bool, never: bool) -> Range {
    Range {
        lo: i128::from(always),
        hi: i128::from(!never),
    }
}

/// Range of a remainder, which lies between zero and the divisor; a dividend that is already there
/// stays.
fn modulo(a: Range, b: Range) -> Range {
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
        let mirrored = modulo(
            Range {
                lo: -a.hi,
                hi: -a.lo,
            },
            Range {
                lo: -b.hi,
                hi: -b.lo,
            },
        );
        Range {
            lo: -mirrored.hi,
            hi: -mirrored.lo,
        }
    }
}

fn complement(a: Range) -> Range {
    Range {
        lo: !a.hi,
        hi: !a.lo,
    }
}

/// Range of AND. A non-negative operand bounds the result from above and makes it non-negative. Of
/// two negative operands the result is at most the smaller, and negative.
fn and(a: Range, b: Range) -> Range {
    match (a.lo >= 0, b.lo >= 0) {
        (true, true) => Range {
            lo: 0,
            hi: a.hi.min(b.hi),
        },
        (true, false) => Range { lo: 0, hi: a.hi },
        (false, true) => Range { lo: 0, hi: b.hi },
        (false, false) => {
            let hi = if a.hi < 0 && b.hi < 0 {
                a.hi.min(b.hi)
            } else {
                a.hi.max(b.hi)
            };
            Range {
                lo: -(1 << (a.bits().max(b.bits()) - 1)),
                hi,
            }
        }
    }
}

/// Range of OR and XOR. The result is no longer than the longer operand, sign included.
fn xor(a: Range, b: Range) -> Range {
    let magnitude = |r: Range| r.bits() - u8::from(r.signed());
    let top = 1 << magnitude(a).max(magnitude(b));
    Range {
        lo: if a.signed() || b.signed() { -top } else { 0 },
        hi: top - 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The exact result on numbers, written from the definition.
    fn exact(op: Binary, x: i128, y: i128) -> i128 {
        match op {
            Binary::Add => x + y,
            Binary::Sub => x - y,
            Binary::Mul => x * y,
            Binary::Div | Binary::FloorDiv => {
                (x - x.rem_euclid(y)) / y - i128::from(y < 0 && x.rem_euclid(y) > 0)
            }
            Binary::Mod => x - y * exact(Binary::FloorDiv, x, y),
            Binary::And => x & y,
            Binary::Or => x | y,
            Binary::Xor => x ^ y,
            Binary::Shl => x * 2i128.pow(y as u32),
            Binary::Shr => exact(Binary::FloorDiv, x, 2i128.pow(y as u32)),
            Binary::Eq => (x == y).into(),
            Binary::Ne => (x != y).into(),
            Binary::Lt => (x < y).into(),
            Binary::Le => (x <= y).into(),
            Binary::Gt => (x > y).into(),
            Binary::Ge => (x >= y).into(),
            Binary::Min => x.min(y),
            Binary::Max => x.max(y),
        }
    }

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
            assert_eq!(exact(Binary::FloorDiv, a, b), quotient);
        }
    }

    #[test]
    fn ranges_are_exact_where_every_operation_is_monotone() {
        let range = |lo, hi| Range { lo, hi };
        assert_eq!(
            binary(Binary::Mul, range(-3, 5), range(-7, 2)),
            range(-35, 21)
        );
        assert_eq!(
            binary(Binary::FloorDiv, range(-9, 20), range(2, 4)),
            range(-5, 10)
        );
        assert_eq!(
            binary(Binary::And, range(-8, 100), range(0, 15)),
            range(0, 15)
        );
        assert_eq!(binary(Binary::Or, range(3, 9), range(1, 4)), range(3, 15));
        assert_eq!(binary(Binary::Mod, range(0, 9), range(10, 12)), range(0, 9));
        assert_eq!(
            binary(Binary::Mod, range(-1, 9), range(-4, -2)),
            range(-3, 0)
        );
        assert_eq!(sum(range(-2, 3), 1, 100), range(-200, 300));
        assert_eq!(sum(range(2, 3), 1, 100), range(2, 300));
        let all = Type::signed(64).range();
        assert_eq!(
            binary(Binary::Shl, all, range(0, 63)),
            range(-1 << 126, ((1 << 63) - 1) << 63)
        );
    }

    fn small_range() -> impl Strategy<Value = Range> {
        (-20i128..20, 0i128..12).prop_map(|(lo, len)| Range { lo, hi: lo + len })
    }

    proptest! {
        #[test]
        fn every_result_lies_in_the_range(
            op in prop::sample::select(&Binary::ALL[..]), a in small_range(), b in small_range(),
        ) {
            let shift = matches!(op, Binary::Shl | Binary::Shr);
            let division = matches!(op, Binary::Div | Binary::FloorDiv | Binary::Mod);
            prop_assume!(!shift || b.lo >= 0);
            prop_assume!(!division || b.lo > 0 || b.hi < 0);
            let range = binary(op, a, b);
            for x in a.lo..=a.hi {
                for y in b.lo..=b.hi {
                    let z = exact(op, x, y);
                    prop_assert!(range.contains(Range::of(z)), "{op:?} {x} {y} {z} {range}");
                }
            }
        }

        #[test]
        fn every_result_of_a_number_with_itself_lies_in_the_range(
            op in prop::sample::select(&Binary::ALL[..]), a in small_range(),
        ) {
            let shift = matches!(op, Binary::Shl | Binary::Shr);
            let division = matches!(op, Binary::Div | Binary::FloorDiv | Binary::Mod);
            prop_assume!(!shift || a.lo >= 0);
            prop_assume!(!division || a.lo > 0 || a.hi < 0);
            let range = with_itself(op, a);
            let tight = Range::of_all((a.lo..=a.hi).map(|x| exact(op, x, x))).expect("a number");
            let is_tight = range == tight || op == Binary::Shr;
            prop_assert!(range.contains(tight) && is_tight, "{op:?} {a} {range} {tight}");
        }

        #[test]
        fn every_unary_result_lies_in_the_range(
            op in prop::sample::select(&Unary::ALL[..]), a in small_range(),
        ) {
            let ty = if a.lo < 0 { Type::signed(7) } else { Type::unsigned(6) };
            let range = unary(op, ty, a);
            for x in a.lo..=a.hi {
                let bits = (x as u128) & ((1 << ty.bits()) - 1);
                let y = match op {
                    Unary::Neg => -x,
                    Unary::Abs => x.abs(),
                    Unary::Not => ty.wrap(-1 - x),
                    Unary::Popcount => bits.count_ones().into(),
                };
                prop_assert!(range.contains(Range::of(y)), "{op:?} {x} {y} {range}");
            }
        }
    }
}
