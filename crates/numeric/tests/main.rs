//! Tests of room `numeric`.

mod arith;
mod common;
mod cost;
mod half;
mod compare;
mod convert;
mod figures;
mod integral;
mod lanes;
mod scale;
mod sum;
mod values;
mod elementary;
