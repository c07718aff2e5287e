//! Tests of room `numeric`.
