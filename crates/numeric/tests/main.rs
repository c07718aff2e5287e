//! Tests of room `numeric`.

mod arith;
mod common;
mod lanes;
mod transcendental;
