//! Tests of room `numeric`.

mod arith;
mod common;
mod cost;
mod half;
