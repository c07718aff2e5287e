//! Crate `program`: a typed graph of tensor operations in single-assignment form, which represents
//! the user's function, independent of protocol and of the number of parties.
//!
//! A program is traced with [`builder::Builder`] or read with [`text::parse`]; both apply the rules
//! of [`infer`] and give the same [`graph::Program`]. Parties hash, approve and compare its text
//! form ([`text::print`]). `NUMERICS.md` is the norm for the meaning of numbers.
//!
//! The crate holds no secrets: constants and signatures are public to every party.

#![forbid(unsafe_code)]

pub mod builder;
mod by_row;
pub mod calendar;
pub mod call;
pub mod check;
pub mod decimal;
pub mod elementwise;
mod empty;
pub mod float;
pub mod graph;
pub mod infer;
pub mod kind;
pub mod literal;
mod op;
pub mod text;
pub mod types;
pub mod warnings;

pub use by_row::{Beside, by_row};
pub use check::check;
pub use empty::without_empty;
pub use op::Reach;
