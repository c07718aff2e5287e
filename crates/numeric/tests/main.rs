//! Tests of room `numeric`.

mod arith;
mod common;
mod compare;
mod convert;
mod integral;
mod lanes;
mod scale;
mod values;
