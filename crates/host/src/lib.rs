//! Crate `host`: one party of a run on its machine, for the command and for Python.
//!
//! It reads the configuration, loads programs and inputs, asks for approval, meets the other
//! parties, runs the job, records the run and writes results. Command-line arguments and verbs are
//! in crate `cli`.
//!
//! | file | content |
//! |---|---|
//! | `config` | `sealane.toml`: parties, addresses, keys |
//! | `program` | programs by file: text form here, Python through [`ProgramLoader`] |
//! | `meet`, `session` | the mesh of a run; runs from the meeting to the report |
//! | `approve` | the hash that approves a job, the prompt, the refusal |
//! | `export` | the text of a job as files |
//! | `inputs`, `results`, `rows` | tables and row counts of a run |
//! | `record` | the folder of a run |
//! | `progress` | progress of runs and transfers on standard error |
//! | `view`, `levels` | records of checks, plans and runs; a card of levels |
//! | `why` | the options of a source line |
//! | `failure` | failures with their exit status |
#![forbid(unsafe_code)]

pub mod approve;
pub mod compare;
pub mod config;
pub mod connect;
pub mod export;
mod failure;
pub mod inputs;
pub mod levels;
pub mod pool;
pub mod program;
pub mod progress;
pub mod record;
pub mod results;
mod rows;
pub mod session;
pub mod view;
pub mod why;

pub use failure::{EXIT_CODES, Failure, out_of_memory};
pub use program::{LoadedProgram, ProgramLoader};
pub use rows::rows;
