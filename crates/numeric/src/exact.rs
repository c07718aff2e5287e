//! Forms of elementary functions that are correctly rounded in f32.
//!
//! A result is rounded correctly if its error is less than the distance of the exact value from the
//! nearest middle between two numbers. Over all arguments of f32 that distance is some 2^-32 units
//! in the last place (the table maker's dilemma: Lefevre, Muller, Tisserand, "Toward correctly
//! rounded transcendentals", IEEE Transactions on Computers 47, 1998). So polynomials with about 30
//! more digits are right everywhere, or but for an argument, for which some bits are turned. The
//! tests of this room find the arguments that are near a middle among all of f32, and compare the
//! circuits' results for them with values of many digits; for all others the bounds of errors
//! suffice. Formats of 16 bits are correctly rounded by the usual forms.

use crate::elementary::logarithm::Base;
use crate::elementary::reduce::Precision;
use crate::format::Arithmetic;
use crate::function::{Build, Error, Function, ONE};
use sealane_circuit::{Builder, Int, Wire, Word};

impl Arithmetic {
    /// The power of 2, correctly rounded.
    ///
    /// # Panics
    /// As [`exact`] says.
    pub fn exp2_exact(self, b: &mut Builder, x: &[Wire]) -> Word {
        match self.is_short() {
            true => self.exp2(b, x),
            false => {
                let power = self.exp2_with(b, x, Precision::new(8, 4, 54));
                patched(b, x, power, EXP2)
            }
        }
    }

    /// The power of Euler's number, correctly rounded.
    ///
    /// # Panics
    /// As [`exact`] says.
    pub fn exp_exact(self, b: &mut Builder, x: &[Wire]) -> Word {
        match self.is_short() {
            true => self.exp(b, x),
            false => self.exp_with(b, x, Precision::new(8, 5, 56)),
        }
    }

    /// A logarithm, correctly rounded.
    fn logarithm_exact(self, b: &mut Builder, x: &[Wire], base: Base) -> Word {
        self.logarithm(b, x, (base, Precision::new(8, 5, 57)))
    }

    /// The natural logarithm, correctly rounded.
    ///
    /// # Panics
    /// As [`exact`] says.
    pub fn log_exact(self, b: &mut Builder, x: &[Wire]) -> Word {
        match self.is_short() {
            true => self.log(b, x),
            false => self.logarithm_exact(b, x, Base::E),
        }
    }

    /// The logarithm to base 2, correctly rounded.
    ///
    /// # Panics
    /// As [`exact`] says.
    pub fn log2_exact(self, b: &mut Builder, x: &[Wire]) -> Word {
        match self.is_short() {
            true => self.log2(b, x),
            false => self.logarithm_exact(b, x, Base::Two),
        }
    }

    /// The logarithm to base 10, correctly rounded.
    ///
    /// # Panics
    /// As [`exact`] says.
    pub fn log10_exact(self, b: &mut Builder, x: &[Wire]) -> Word {
        match self.is_short() {
            true => self.log10(b, x),
            false => self.logarithm_exact(b, x, Base::Ten),
        }
    }

    /// The power of Euler's number, less 1, correctly rounded.
    ///
    /// # Panics
    /// As [`exact`] says.
    pub fn expm1_exact(self, b: &mut Builder, x: &[Wire]) -> Word {
        match self.is_short() {
            true => self.expm1(b, x),
            false => self.expm1_with(b, x, Precision::new(7, 6, 58)),
        }
    }

    /// The natural logarithm of 1 more than a number, correctly rounded.
    ///
    /// # Panics
    /// As [`exact`] says.
    pub fn log1p_exact(self, b: &mut Builder, x: &[Wire]) -> Word {
        match self.is_short() {
            true => self.log1p(b, x),
            false => {
                let log = self.log1p_with(b, x, Precision::new(8, 5, 57));
                patched(b, x, log, LOG1P)
            }
        }
    }

    /// The hyperbolic tangent, correctly rounded.
    ///
    /// # Panics
    /// As [`exact`] says.
    pub fn tanh_exact(self, b: &mut Builder, x: &[Wire]) -> Word {
        match self.is_short() {
            true => self.tanh(b, x),
            false => self.tanh_with(b, x, Precision::new(4, 9, 58)),
        }
    }

    /// The cube root, correctly rounded.
    ///
    /// # Panics
    /// As [`exact`] says.
    pub fn cbrt_exact(self, b: &mut Builder, x: &[Wire]) -> Word {
        match self.is_short() {
            true => self.cbrt(b, x),
            false => self.cbrt_with(b, x, 50),
        }
    }

    /// One over the square root, correctly rounded.
    ///
    /// # Panics
    /// As [`exact`] says.
    pub fn rsqrt_exact(self, b: &mut Builder, x: &[Wire]) -> Word {
        match self.is_short() {
            true => self.rsqrt(b, x),
            false => self.rsqrt_with(b, x, 50),
        }
    }

    /// True for formats whose usual forms are correctly rounded.
    ///
    /// # Panics
    /// If the format has more than 32 bits.
    fn is_short(self) -> bool {
        let bits = self.format.bits();
        assert!(bits <= 32, "exact forms are for at most 32 bits");
        bits <= 16
    }
}

/// Arguments whose powers of 2 are nearer to a middle than digits tell, and the bits of the results
/// to turn.
const EXP2: &[(u32, u32)] = &[(0xbcf3_a937, 1)];
/// The same for logarithms of 1 more.
const LOG1P: &[(u32, u32)] = &[(0xb53f_fffd, 3)];

/// A result, with some bits turned for some arguments.
fn patched(b: &mut Builder, x: &[Wire], mut result: Word, arguments: &[(u32, u32)]) -> Word {
    for &(argument, turned) in arguments {
        let argument = b.constant(argument.into(), x.len());
        let equal = b.eq(Int::unsigned(x), Int::unsigned(&argument));
        for (i, bit) in result.iter_mut().enumerate() {
            if turned >> i & 1 == 1 {
                *bit = b.xor(*bit, equal);
            }
        }
    }
    result
}

const fn rounded(name: &'static str, build: Build) -> Function {
    Function {
        name,
        operands: ONE,
        results: ONE,
        error: Error::Rounded,
        build,
    }
}

const FUNCTIONS: &[Function] = &[
    rounded("exp", |a, b, x| vec![a.exp_exact(b, &x[0])]),
    rounded("exp2", |a, b, x| vec![a.exp2_exact(b, &x[0])]),
    rounded("log", |a, b, x| vec![a.log_exact(b, &x[0])]),
    rounded("log2", |a, b, x| vec![a.log2_exact(b, &x[0])]),
    rounded("log10", |a, b, x| vec![a.log10_exact(b, &x[0])]),
    rounded("expm1", |a, b, x| vec![a.expm1_exact(b, &x[0])]),
    rounded("log1p", |a, b, x| vec![a.log1p_exact(b, &x[0])]),
    rounded("tanh", |a, b, x| vec![a.tanh_exact(b, &x[0])]),
    rounded("cbrt", |a, b, x| vec![a.cbrt_exact(b, &x[0])]),
    rounded("rsqrt", |a, b, x| vec![a.rsqrt_exact(b, &x[0])]),
];

/// The correctly rounded form of an elementary function of that name, if there is one: for formats
/// of at most 32 bits, and its gates panic for others.
pub fn exact(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|function| function.name == name)
}

/// The functions that have such a form.
pub fn exact_functions() -> impl Iterator<Item = &'static Function> {
    FUNCTIONS.iter()
}
