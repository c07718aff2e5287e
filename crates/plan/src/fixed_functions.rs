//! Functions of fixed point after pass `scale`: calls on stored numbers, and their names.

use sealane_circuit::{Builder, Int, Wire, Word};
use sealane_numeric::{Fixed, Points, Powers, Stored};
use sealane_program::call::{OfFixed, OfPower, of_fixed, of_power};
use sealane_program::types::Range;
use std::fmt;

/// A function of fixed point on stored numbers.
#[derive(Clone, Copy)]
pub(crate) struct PointsCall {
    /// The function.
    pub call: OfFixed,
    /// Its operands and results.
    pub points: Points,
}

impl PointsCall {
    /// Reads the name of a call; none if it is that of another one.
    pub fn named(name: &str) -> Option<PointsCall> {
        let parts = name.strip_prefix("fixed.")?.split('.').collect::<Vec<_>>();
        let [name, fraction, lo, hi, sign, bits, behind] = parts[..] else {
            return None;
        };
        let call = of_fixed(name)?;
        let points = Points {
            lo: lo.parse().ok()?,
            hi: hi.parse().ok()?,
            fraction: fraction.parse().ok()?,
            to: type_named([sign, bits, behind])?,
            saturate: call.saturate,
        };
        Some(PointsCall { call, points })
    }

    /// Lowers one element; `range` is that of its result.
    pub fn lower(&self, b: &mut Builder, x: Int<'_>, range: Range) -> Word {
        let bits = self.call.function.build(b, &signed(x), &self.points);
        resized(&bits, self.points.to, range)
    }
}

/// A word with a sign, which takes no gates where it is 0.
fn signed(x: Int<'_>) -> Word {
    x.resize(x.bits.len() + 1)
}

/// A stored number of a type in the bits of a range that holds it.
fn resized(bits: &[Wire], of: Fixed, range: Range) -> Word {
    let signed = of.signed;
    Int { bits, signed }.resize(range.bits().into())
}

/// Its name: `fixed.exp_saturate.16.-300.500.signed.32.16`, with the bits behind the point of
/// operands, their range, and the type of results.
impl fmt::Display for PointsCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Points {
            lo,
            hi,
            fraction,
            to,
            ..
        } = self.points;
        let name = self.call.name();
        write!(f, "fixed.{name}.{fraction}.{lo}.{hi}.")?;
        name_type(f, to)
    }
}

/// A power of fixed point on stored numbers.
#[derive(Clone, Copy)]
pub(crate) struct PowersCall {
    /// The function.
    pub call: OfPower,
    /// Its operands and results.
    pub powers: Powers,
}

impl PowersCall {
    /// Reads the name of a call; none if it is that of another one.
    pub fn named(name: &str) -> Option<PowersCall> {
        let parts = name.strip_prefix("fixed.")?.split('.').collect::<Vec<_>>();
        let [name, f, lo, hi, g, least, most, sign, bits, behind] = parts[..] else {
            return None;
        };
        let call = of_power(name)?;
        let operand = |fraction: &str, lo: &str, hi: &str| {
            Some(Stored {
                lo: lo.parse().ok()?,
                hi: hi.parse().ok()?,
                fraction: fraction.parse().ok()?,
            })
        };
        let powers = Powers {
            base: operand(f, lo, hi)?,
            exponent: operand(g, least, most)?,
            to: type_named([sign, bits, behind])?,
            saturate: call.saturate,
        };
        Some(PowersCall { call, powers })
    }

    /// Lowers one element; `range` is that of its result.
    pub fn lower(&self, b: &mut Builder, [x, y]: [Int<'_>; 2], range: Range) -> Word {
        let bits = self.powers.build(b, &signed(x), &signed(y));
        resized(&bits, self.powers.to, range)
    }
}

/// Its name: `fixed.pow.16.1.500.8.-256.256.signed.32.16`, with the bits behind the point of bases
/// and their range, those of exponents, and the type of results.
impl fmt::Display for PowersCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fixed.{}.", self.call.name())?;
        for Stored { lo, hi, fraction } in [self.powers.base, self.powers.exponent] {
            write!(f, "{fraction}.{lo}.{hi}.")?;
        }
        name_type(f, self.powers.to)
    }
}

fn name_type(f: &mut fmt::Formatter<'_>, ty: Fixed) -> fmt::Result {
    let sign = if ty.signed { "signed" } else { "unsigned" };
    write!(f, "{sign}.{}.{}", ty.bits, ty.fraction)
}

fn type_named([sign, bits, fraction]: [&str; 3]) -> Option<Fixed> {
    Some(Fixed {
        bits: bits.parse().ok()?,
        signed: sign == "signed",
        fraction: fraction.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_program::types::Type;

    #[test]
    fn calls_are_read_as_they_are_named() {
        for name in ["exp", "log_saturate"] {
            let call = of_fixed(name).expect("a function");
            for to in [Type::fixed(16, 16), Type::ufixed(8, 3)] {
                let points = call.points(Type::fixed(4, 7), Range { lo: -9, hi: 500 }, to);
                let written = PointsCall { call, points }.to_string();
                let read = PointsCall::named(&written).expect("a call");
                assert_eq!((read.points, read.to_string()), (points, written));
            }
        }
        assert!(PointsCall::named("f32.exp").is_none());
        for name in ["pow", "pow_saturate"] {
            let call = of_power(name).expect("a power");
            let range = Range { lo: -9, hi: 500 };
            let operands = [(Type::fixed(4, 7), range), (Type::I64, Range::of(2))];
            let powers = call.powers(operands, Type::ufixed(8, 3));
            let written = PowersCall { call, powers }.to_string();
            let read = PowersCall::named(&written).expect("a call");
            assert_eq!((read.powers, read.to_string()), (powers, written));
        }
    }
}
