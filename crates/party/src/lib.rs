//! Crate `party`: one party of a protocol that runs steps.
//!
//! A [`Party`] exists from its set-up on, so that nothing runs unprepared and nothing is prepared
//! twice. It runs [`Step`]s in two halves ([`Steps`]): [`Steps::begin`] writes messages,
//! [`Steps::advance`] reads them. The engine alone flushes, so steps that do not wait for each
//! other share rounds without any protocol's help. The description that plans are made from is the
//! trait [`Protocol`](sealane_protocol::Protocol) of the crate `protocol`.
#![forbid(unsafe_code)]

mod aligned_buffer;
pub mod bits;
mod broadcast;
mod coin;
mod column_split;
mod commit;
mod components;
mod cycles;
mod equal;
mod fault;
mod form;
mod linear;
mod offline;
mod packed;
pub mod papers;
mod run;
mod settle;
mod share;
mod step;
pub mod wires;
mod words;
mod zero;

pub use aligned_buffer::AlignedBuffer;
pub use broadcast::{Broadcast, ECHO_BYTES};
pub use coin::Toss;
pub use commit::{
    COMMITMENT_BYTES, Committed, Heard, OPENING_BYTES, Opened as OpenedCommitment, Purpose,
};
pub use components::{Body, Components, Parts};
pub use cycles::CycleRun;
pub use equal::Equality;
pub use fault::{Fault, Result};
pub use form::{Form, Group, is_prime, width};
pub use linear::{add_terms, linear, ring};
pub use offline::{Empty, NoOffline};
pub use packed::Packed;
pub use run::{Party, Start, Steps, Stock, Stocks, run_alone};
pub use settle::{DIGEST_BYTES, check_digests, send_digests};
pub use share::{Planes, Shares};
pub use step::{Factor, KeyBit, Opened, Outcome, Pairs, Progress, Selected, Step, Term};
pub use words::{Words, from_planes, to_planes};
pub use zero::{ZERO_SEED_BYTES, ZeroSeeds, Zeros};
