//! Crate `engine`: runs a plan over a session; the one crate that knows plans and protocols.
//!
//! A [`Job`] is a planned program; people approve its hash. [`run()`] runs one party's side over a
//! mesh of channels: handshake, steps, reveal, farewell. [`simulate`] runs all parties in this
//! process with the same code. [`data`] reads and checks a party's inputs before any connection is
//! made.
//!
//! | file | what it does |
//! |---|---|
//! | `asked` | what protocols are asked to withstand, and the refusal of weaker ones |
//! | `check` | the protocols that run a program, and reasons against the others |
//! | `job` | plans, hashes, the choice of protocol by name |
//! | `effort` | warnings of plans whose rounds or time are out of proportion |
//! | `data` | CSV and `.npy` files into checked elements |
//! | `handshake` | the job and the row counts, compared before any message that depends on inputs |
//! | `execute` | the steps, tile by tile; the only place that flushes |
//! | `split_plan` | local work of each party, and the joint plan of all |
//! | `why` | sharings that a step could take, with their costs |
//! | `pool` | what a run takes from the pool of its two parties |
//! | `events`, `journal` | events of a run while it goes on |
//! | `run` | one party from handshake to report; simulation |
//! | `error` | errors that end a run, phrased for the person who started it |
#![forbid(unsafe_code)]

mod asked;
mod check;
mod compare;
pub mod data;
mod effort;
mod error;
pub mod events;
mod execute;
mod handshake;
mod job;
mod journal;
mod pool;
mod report;
mod run;
mod split_plan;
mod why;

pub use asked::Asked;
pub use check::{Checked, Runnable, check};
pub use compare::{Compared, ProtocolChoice, Terms, by_time, compare};
pub use effort::warnings;
pub use error::{EngineError, FailureKind};
#[doc(hidden)]
pub use handshake::fuzzing;
pub use job::{Job, ProtocolName};
pub use journal::{Journal, Observer, Progress};
pub use pool::{PoolShare, fill_pool};
pub use report::{RunReport, RunResult};
pub use run::{danger_run_with_seed, run, run_with_pool, simulate, simulate_with};
pub use sealane_parties::NetworkClass;
pub use sealane_protocol::{Adversary, Corruption, Sharing};
pub use why::{Considered, StepOption};
