//! Formats of IEEE 754 binary floating point, and the parts of a number.

use sealane_circuit::{Wire, Word};

/// A binary interchange format: a sign, `exponent` bits and `fraction` bits, from the top. The bits
/// of a number as a [`Word`] are those of its interchange form, the lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Format {
    /// Width of the exponent field.
    pub exponent: usize,
    /// Width of the fraction field.
    pub fraction: usize,
}

impl Format {
    /// binary16.
    pub const F16: Format = Format::new(5, 10);
    /// The upper half of binary32 ("bfloat16").
    pub const BF16: Format = Format::new(8, 7);
    /// binary32.
    pub const F32: Format = Format::new(8, 23);
    /// binary64.
    pub const F64: Format = Format::new(11, 52);
    /// All formats of programs.
    pub const ALL: [Format; 4] = [Format::F16, Format::BF16, Format::F32, Format::F64];

    /// A format of any widths: tests use small ones, too.
    pub const fn new(exponent: usize, fraction: usize) -> Format {
        assert!(2 <= exponent && exponent <= 15 && 2 <= fraction && fraction <= 112);
        Format { exponent, fraction }
    }

    /// Width in bits.
    pub const fn bits(self) -> usize {
        1 + self.exponent + self.fraction
    }

    /// The exponent field of 1.
    pub const fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    /// The largest exponent of a finite number; the smallest one of a normal number is 1 less its
    /// opposite.
    pub const fn max_exponent(self) -> i32 {
        self.bias()
    }

    /// Name as in programs: `f32`.
    pub const fn name(self) -> &'static str {
        match (self.exponent, self.fraction) {
            (5, 10) => "f16",
            (8, 7) => "bf16",
            (8, 23) => "f32",
            (11, 52) => "f64",
            _ => "float",
        }
    }

    /// The canonical NaN: quiet, positive, no payload. Every NaN that a circuit makes is this one.
    pub const fn nan(self) -> u128 {
        self.infinity() | 1 << (self.fraction - 1)
    }

    /// The bits of positive infinity.
    pub const fn infinity(self) -> u128 {
        ((1 << self.exponent) - 1) << self.fraction
    }

    /// The bits of 1.
    pub const fn one(self) -> u128 {
        (self.bias() as u128) << self.fraction
    }

    /// The parts of a number.
    ///
    /// # Panics
    /// If `bits` is not as wide as the format.
    pub fn split(self, bits: &[Wire]) -> Parts {
        assert_eq!(bits.len(), self.bits(), "a number of another format");
        let (fraction, rest) = bits.split_at(self.fraction);
        Parts {
            fraction: fraction.to_vec(),
            exponent: rest[..self.exponent].to_vec(),
            sign: rest[self.exponent],
        }
    }
}

/// The fields of a number in a circuit.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The fraction field, the lowest bit first.
    pub fraction: Word,
    /// The exponent field, with its bias.
    pub exponent: Word,
    /// 1 for negative numbers.
    pub sign: Wire,
}

impl Parts {
    /// The parts of a number, in order from its lowest bit.
    pub fn new(fraction: Word, exponent: Word, sign: Wire) -> Parts {
        Parts {
            fraction,
            exponent,
            sign,
        }
    }

    /// The number of these parts.
    pub fn join(self) -> Word {
        let mut bits = self.fraction;
        bits.extend(self.exponent);
        bits.push(self.sign);
        bits
    }
}

/// Numbers below the normal ones: kept, as the standard says, or read and written as zeros of
/// their sign, which takes fewer gates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Subnormals {
    /// As IEEE 754 says.
    #[default]
    Kept,
    /// Operands and results below the normal numbers are zeros of their sign.
    Flushed,
}

/// Arithmetic on numbers of one format. Its methods are the functions of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arithmetic {
    /// The format of operands and results.
    pub format: Format,
    /// The numbers below the normal ones.
    pub subnormals: Subnormals,
}

impl Arithmetic {
    /// Arithmetic with all numbers of `format`.
    pub const fn new(format: Format) -> Arithmetic {
        Arithmetic {
            format,
            subnormals: Subnormals::Kept,
        }
    }

    /// The same with subnormal numbers read and written as zeros.
    pub const fn flushed(self) -> Arithmetic {
        Arithmetic {
            subnormals: Subnormals::Flushed,
            ..self
        }
    }
}
