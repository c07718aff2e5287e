//! Tests of room `numeric`.

mod compare;
mod integral;
mod lanes;
mod values;
