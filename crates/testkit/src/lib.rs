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
//! | `page` | pages of the documentation that quote what only a test can produce |
//! | `relay` | a relay that harms bytes: a network that misbehaves |

#![forbid(unsafe_code)]

pub mod adversary;
pub mod page;
pub mod random;
pub mod random_program;
pub mod reference;
pub mod relay;
pub mod simulator;
