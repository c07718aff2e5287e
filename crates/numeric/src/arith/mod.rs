//! The operations of IEEE 754 and C that are rounded once: sums, products, quotients, roots,
//! remainders.

mod add;
pub(crate) mod divide;
mod fused;
mod inverse;
mod modulo;
mod multiply;
