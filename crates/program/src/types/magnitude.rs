//! Ranges of floating point.
//!
//! The range of a floating-point value is whole, and says nothing, or it is one of stored
//! magnitudes: then every element is 0, or finite with such a magnitude. Inputs declare it, and
//! what passes numbers on keeps it; arithmetic gives values that may be any number. Exact sums
//! take their gates from it.

use super::{Range, Type};

impl Type {
    /// Returns whether a stored number is in a range of this type.
    pub fn admits(self, range: Range, stored: i128) -> bool {
        match self.magnitudes(range) {
            None => range.contains(Range::of(stored)),
            Some(range) => {
                let magnitude = stored & ((1 << (self.bits() - 1)) - 1);
                magnitude == 0 || range.contains(Range::of(magnitude))
            }
        }
    }

    /// The stored magnitudes that a range of floating point is of; none if it says nothing, and of
    /// other types.
    pub fn magnitudes(self, range: Range) -> Option<Range> {
        (self.is_float() && range != self.range()).then_some(range)
    }

    /// The exponents of all numbers of a range but zero, as `logb` has them, and of numbers below
    /// the normal ones the least of those: the smallest and the largest. None if the range says
    /// nothing.
    pub fn exponents(self, range: Range) -> Option<[i32; 2]> {
        let (format, range) = (self.format()?, self.magnitudes(range)?);
        let field = |end: i128| (end >> format.fraction) as i32;
        Some([range.lo, range.hi].map(|end| field(end).max(1) - format.bias()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn magnitudes_say_nothing_of_signs_and_leave_zero_in() {
        let bits = |x: f32| i128::from(x.to_bits());
        let range = Range::new(bits(0.25), bits(100.0));
        for (x, inside) in [
            (0.25, true),
            (-100.0, true),
            (0.0, true),
            (-0.0, true),
            (0.2, false),
            (-101.0, false),
            (f32::INFINITY, false),
            (f32::NAN, false),
        ] {
            assert_eq!(Type::F32.admits(range, bits(x)), inside, "{x}");
        }
        assert_eq!(Type::F32.exponents(range), Some([-2, 6]));
        assert_eq!(
            Type::F32.exponents(Range { lo: 1, ..range }),
            Some([-126, 6])
        );
        assert_eq!(Type::F32.exponents(Type::F32.range()), None);
        assert!(Type::F32.admits(Type::F32.range(), bits(f32::NAN)));
        assert!(!Type::U8.admits(Range { lo: 1, hi: 2 }, 0));
    }
}
