//! Functions of fixed point after pass `scale`: calls on stored numbers, and their names.

use crate::floats::Call;
use sealane_circuit::{Builder, Int, Word};
use sealane_numeric::{Fixed, Points};
use sealane_program::call::{OfFixed, of_fixed};
use sealane_program::types::Range;
use std::fmt;

/// Returns whether a call by its name works element by element: on numbers, not on bytes.
pub(crate) fn is_element_wise(name: &str) -> bool {
    Call::named(name).is_some() || PointsCall::named(name).is_some()
}

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
            to: Fixed {
                bits: bits.parse().ok()?,
                signed: sign == "signed",
                fraction: behind.parse().ok()?,
            },
            saturate: call.saturate,
        };
        Some(PointsCall { call, points })
    }

    /// Lowers one element; `range` is that of its result.
    pub fn lower(&self, b: &mut Builder, x: Int<'_>, range: Range) -> Word {
        // A sign bit that is 0 takes no gates.
        let x = x.resize(x.bits.len() + 1);
        let bits = self.call.function.build(b, &x, &self.points);
        let signed = self.points.to.signed;
        Int {
            bits: &bits,
            signed,
        }
        .resize(range.bits().into())
    }
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
        let sign = if to.signed { "signed" } else { "unsigned" };
        let name = self.call.name();
        write!(
            f,
            "fixed.{name}.{fraction}.{lo}.{hi}.{sign}.{}.{}",
            to.bits, to.fraction
        )
    }
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
    }
}
