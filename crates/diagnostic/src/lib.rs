//! Crate `diagnostic`: errors and warnings for users.
//!
//! A [`Diagnostic`] has a [`Code`], a sentence, a place in a source file, a reason and a hint. The
//! code says who has to act ([`FailureKind`]) and with which status a command ends. All crates that
//! meet users' mistakes, peers or files make them: the tracer, the checker, the readers of tables,
//! the network, the configuration. Sentences contain no secret of another party: all text in them
//! comes from the program, its signature, a peer's bounded reason, or a file of the reader.
//!
//! [`printable()`] is the one rule about characters that may reach a terminal or a page.
#![forbid(unsafe_code)]

mod code;
mod finding;
mod printable;
mod render;

pub use code::{Code, FailureKind};
pub use finding::{At, Diagnostic, Placed, Result, Span};
pub use printable::{counted, deceives, one_line, printable};
