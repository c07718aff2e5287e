//! The parser.

/// The version of the text form. A change of it, or of the meaning of an operation, is a new one.
pub const VERSION: u32 = 1;

use crate::diagnostic::Diagnostic;
use crate::graph::Program;
/// x
pub fn parse(_text: &str, _file: &str) -> Result<Program, Diagnostic> {
    todo!()
}
/// x
pub fn parse_unchecked(_text: &str, _file: &str) -> Result<Program, Diagnostic> {
    todo!()
}
