//! The operations of IEEE 754 and C that are rounded once: sums, products, quotients, roots,
//! remainders.

mod add;
pub(crate) mod divide;
mod fused;
mod inverse;
mod modulo;
mod multiply;

use crate::function::{Build, Error, Function, Kind, ONE, TWO};

/// The functions of this module.
pub(crate) const FUNCTIONS: &[Function] = &[
    rounded("add", TWO, |a, b, x| vec![a.add(b, &x[0], &x[1])]),
    rounded("sub", TWO, |a, b, x| vec![a.sub(b, &x[0], &x[1])]),
    rounded("mul", TWO, |a, b, x| vec![a.mul(b, &x[0], &x[1])]),
    rounded("div", TWO, |a, b, x| vec![a.div(b, &x[0], &x[1])]),
    rounded("sqrt", ONE, |a, b, x| vec![a.sqrt(b, &x[0])]),
    rounded("fma", THREE, |a, b, x| vec![a.fma(b, &x[0], &x[1], &x[2])]),
    rounded("fmod", TWO, |a, b, x| vec![a.fmod(b, &x[0], &x[1])]),
    rounded("remainder", TWO, |a, b, x| {
        vec![a.remainder(b, &x[0], &x[1])]
    }),
];

const THREE: &[Kind] = &[Kind::Float; 3];

const fn rounded(name: &'static str, operands: &'static [Kind], build: Build) -> Function {
    Function {
        name,
        operands,
        results: ONE,
        error: Error::Rounded,
        build,
    }
}
