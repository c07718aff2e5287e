//! Crate `numeric`: IEEE 754 floating point and the functions of C's `<math.h>`, as circuits.
//!
//! * [`Format`] is f16, bf16, f32 or f64; numbers are words of their interchange form.
//! * [`Arithmetic`] has a method for each operation, on a [`Builder`](sealane_circuit::Builder):
//!   for few ANDs or little depth, as the builder's goal says.
//! * [`Function`] is the list of all of them: names, operands, stated errors.
//! * [`exact_functions`] are correctly rounded forms of some of them, for more gates.
//! * [`measure`] runs them in the clear and states the errors of their results.
//! * [`Fixed`] names integers and fixed point, to and from which numbers are converted, and
//!   [`fixed_functions`] are functions on fixed point, and [`Powers`] its powers.
//! * [`Accumulator`] adds numbers or products exactly, in any order, and rounds the sum once.
//! * `real` computes the constants of circuits by integer arithmetic alone, so that all parties
//!   build the same circuit on every machine.
//!
//! The norm is IEEE 754-2019 with C99's Annex F for NaN, infinities and -0. Rounding is to the
//! nearest, of two equally near to the even one; exceptions raise no flags. Every NaN that is
//! computed is the canonical one.

#![forbid(unsafe_code)]

mod arcs;
mod arith;
mod chebyshev;
mod classify;
mod compare;
mod convert;
mod curve;
mod elementary;
mod errors;
mod exact;
mod fixed;
mod format;
mod function;
mod gamma;
mod heap;
mod integral;
mod known;
pub mod measure;
mod pack;
mod poly;
pub mod real;
mod roots;
mod scale;
mod sum;
mod trig;
mod window;
mod word;

pub use exact::{exact, exact_functions};
pub use fixed::{
    Converted, Fixed, FixedFunction, Points, Powers, Refused, Rounding, Stored, fixed_function,
    fixed_functions,
};
pub use format::{Arithmetic, Format, Parts, Subnormals};
pub use function::{Build, Error, Function, ValueKind, function, functions};
pub use sum::{Accumulator, LIMB, Terms};
