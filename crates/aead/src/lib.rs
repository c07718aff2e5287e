//! Room `aead`: authenticated encryption, of one message or of many at once.
#![forbid(unsafe_code)]
// Kernels index several small arrays in step; a constant range says so, and it unrolls.
#![allow(clippy::needless_range_loop)]

mod batch;
mod cipher;
mod error;
mod lanes;
mod modes;
mod suite;
pub mod traits;

pub use batch::{Done, Many, Message, open_many, seal_many};
pub use cipher::Cipher;
pub use error::Error;
pub use suite::Suite;
