//! Tests of room `numeric`.

mod arith;
mod common;
mod compare;
mod integral;
mod lanes;
mod values;
