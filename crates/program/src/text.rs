//! Text form of a program, which parties hash and compare, and which people read.
//!
//! ```text
//! sealane program 1
//! name risk
//! party hospital
//! party lab
//! rows patients <= 1000
//! input x : hospital u16[patients, 2] in 0..5000 columns "mean radius", "mean texture"
//! input w : lab i16[2] in -100..100
//! main {
//!   %0 = param 0 : u16[patients, 2] in 0..5000 known hospital
//!   …
//!   %4 = dot %2, %3 : i32[patients] in -1000000..1000000 secret
//!   %5 = map over %4 capture %3 : bool[patients] in 0..1 secret {
//!     %0 = param 0 : i32 in -1000000..1000000 secret
//!     …
//!     return %7
//!   }
//!   %6 = part %5, 0 : bool[patients] in 0..1 secret
//! }
//! reveal result = %6 : bool to hospital
//! ```
//!
//! Numbers are decimals, exact in fixed-point types as well; ranges are inclusive. One program has
//! one canonical text. An input and a result whose elements are no plain numbers in tables say so
//! behind their ranges and receivers: `as date` ([`crate::kind`]). The full form adds the place in
//! the source to a value or an input, ` @ "risk.py":12:9-14`, which is not hashed.

mod cursor;
mod parse;
mod print;

pub use parse::{MAX_TEXT_BYTES, parse, parse_unchecked};
pub(crate) use print::quoted;
pub use print::{print, print_with_spans};
