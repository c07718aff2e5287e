//! Tests of room `numeric`.

mod arith;
mod common;
mod dump;
mod elementary;
mod transcendental;
