//! Tests of crate `numeric`.

mod arith;
mod common;
mod compare;
mod convert;
mod cost;
mod elementary;
mod exact;
mod figures;
mod fixed_functions;
mod half;
mod integral;
mod lanes;
mod pairs;
mod scale;
mod sum;
mod transcendental;
mod values;
