//! Tests of room `numeric`.

mod arith;
mod common;
mod compare;
mod convert;
mod figures;
mod integral;
mod lanes;
mod scale;
mod sum;
mod values;
