//! Tests of room `numeric`.

mod arith;
mod common;
mod elementary;
mod transcendental;
