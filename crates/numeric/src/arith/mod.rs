//! The operations of IEEE 754 and C that are rounded once: sums, products, quotients, roots,
//! remainders.

mod multiply;

use crate::function::{Build, Error, Function, Kind, ONE, TWO};

/// The functions of this module.
pub(crate) const FUNCTIONS: &[Function] =
    &[rounded("mul", TWO, |a, b, x| vec![a.mul(b, &x[0], &x[1])])];

const fn rounded(name: &'static str, operands: &'static [Kind], build: Build) -> Function {
    Function {
        name,
        operands,
        results: ONE,
        error: Error::Rounded,
        build,
    }
}
