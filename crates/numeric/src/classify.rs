//! Classes of numbers, and operations on the sign alone.
//!
//! The operations on signs (`fabs`, `neg`, `copysign`) move bits and compute nothing: as IEEE 754
//! section 5.5.1 says, they keep a NaN with its payload, and a subnormal number even where
//! [`Subnormals::Flushed`](crate::Subnormals::Flushed) reads it as zero.

use crate::format::Arithmetic;
use crate::word::{all_any, any_of_fraction};
use sealane_circuit::{Builder, Wire, Word};

/// Classes of a number. Gates of classes that nobody reads are left out of the circuit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Class {
    /// Not a number.
    pub nan: Wire,
    /// An infinity or not a number: all bits of the exponent field are set.
    pub special: Wire,
    /// Positive or negative infinity.
    pub infinite: Wire,
    /// A zero, or a number that is read as zero.
    pub zero: Wire,
    /// A normal number, infinity or NaN: some bit of the exponent field is set.
    pub hidden: Wire,
    /// Some bit of the fraction field is set.
    pub fraction: Wire,
}

impl Arithmetic {
    /// The classes of a number: f + 2 e ANDs for all of them, f and e the widths of the fields.
    pub(crate) fn class(self, b: &mut Builder, x: &[Wire]) -> Class {
        let parts = self.format.split(x);
        let class = self.classify(b, &parts);
        Class {
            nan: class.nan,
            special: class.not_finite,
            infinite: class.infinite(b),
            zero: class.zero,
            hidden: all_any(b, &parts.exponent).1,
            fraction: any_of_fraction(b, &parts.fraction),
        }
    }

    /// The magnitude: no AND.
    pub fn fabs(self, _: &mut Builder, x: &[Wire]) -> Word {
        self.with_sign(x, Wire::ZERO)
    }

    /// The number with the other sign: no AND.
    pub fn neg(self, b: &mut Builder, x: &[Wire]) -> Word {
        let sign = self.signbit(b, x);
        self.with_sign(x, !sign)
    }

    /// The magnitude of `x` with the sign of `y`: no AND.
    pub fn copysign(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Word {
        let sign = self.signbit(b, y);
        self.with_sign(x, sign)
    }

    /// The sign bit, also of zeros and NaN: no AND.
    pub fn signbit(self, _: &mut Builder, x: &[Wire]) -> Wire {
        self.format.split(x).sign
    }

    /// True for NaN.
    pub fn isnan(self, b: &mut Builder, x: &[Wire]) -> Wire {
        self.class(b, x).nan
    }

    /// True for both infinities.
    pub fn isinf(self, b: &mut Builder, x: &[Wire]) -> Wire {
        self.class(b, x).infinite
    }

    /// True for all numbers but infinities and NaN.
    pub fn isfinite(self, b: &mut Builder, x: &[Wire]) -> Wire {
        !self.class(b, x).special
    }

    /// True for finite numbers that are neither zero nor subnormal.
    pub fn isnormal(self, b: &mut Builder, x: &[Wire]) -> Wire {
        let class = self.class(b, x);
        b.and(class.hidden, !class.special)
    }

    fn with_sign(self, x: &[Wire], sign: Wire) -> Word {
        let mut parts = self.format.split(x);
        parts.sign = sign;
        parts.join()
    }
}
