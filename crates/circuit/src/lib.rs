//! Room `circuit`: Boolean circuits: builder, standard functions, formats, and the tape that
//! machines execute.
//!
//! CONTRACT SKELETON.

pub mod tape;
pub use tape::Tape;
