//! Room `program`: what the user means: a typed graph of tensor operations in single-assignment
//! form, independent of protocol and of the number of parties.
//!
//! A program is traced with [`builder::Builder`] or read with [`text::parse`]; both hold it to the
//! rules of [`infer`] and give the same [`graph::Program`]. Its text form ([`text::print`]) is what
//! parties hash, approve and compare. What the numbers mean is the norm of `NUMERICS.md`.
//!
//! The room holds no secrets: constants and signatures are public to every party.

#![forbid(unsafe_code)]

pub mod builder;
pub mod call;
pub mod check;
pub mod decimal;
pub mod graph;
pub mod infer;
pub mod literal;
mod op;
pub mod text;
pub mod types;
pub mod warnings;

pub use check::check;
