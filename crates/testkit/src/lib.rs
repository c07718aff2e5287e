//! Room `testkit`: slow and obvious reference versions, random programs to hold the fast ones
//! against, and adversaries on the wire. For tests only; nothing here protects a secret.
//!
//! | module | what it is |
//! |---|---|
//! | `reference` | the meaning of programs, one number at a time |
//! | `random_program` | programs and inputs for property tests |
//! | `random` | a fixed sequence of numbers for a seed |
//! | `simulator` | machines with a clock of their own and a network between them: a seed decides all |
//! | `adversary` | a transport that harms a frame: a peer that misbehaves |
//! | `golden` | files of transcripts, which change with the version of the wire alone |
//! | `leaks` | whether secret blocks can be read off what a party has received |
//! | `page` | pages of the documentation that quote what only a test can produce |
//! | `record` | meshes in memory whose parties keep what they receive |
//! | `relay` | a relay that harms bytes: a network that misbehaves |
//! | `session` | a session of a protocol that takes every kind of step, without the engine |
//! | `testdata` | known answers and circuits of others, and tests that do without them |

#![forbid(unsafe_code)]

pub mod adversary;
pub mod golden;
pub mod leaks;
pub mod page;
pub mod random;
pub mod random_program;
pub mod record;
pub mod reference;
pub mod relay;
pub mod session;
pub mod simulator;
pub mod testdata;
