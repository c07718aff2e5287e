//! Crate `testkit`: slow and simple reference implementations, random programs to compare the fast
//! ones with, and adversaries on the wire. For tests only; nothing here protects a secret.
//!
//! | module | what it is |
//! |---|---|
//! | `reference` | reference interpreter of programs, one number at a time |
//! | `random_program` | programs and inputs for property tests |
//! | `random` | a fixed sequence of numbers for a seed |
//! | `simulator` | simulated machines and network, determined by a seed |
//! | `adversary` | a transport that tampers with a frame: a peer that misbehaves |
//! | `exact` | every choice of all that is random in turn, counts of what is seen |
//! | `fake` | a protocol for any number of parties with no secrecy at all |
//! | `input` | inputs of programs that tests read from tables |
//! | `golden` | golden files of transcripts, which belong to a wire version |
//! | `leaks` | search for secret blocks in the messages that a party has received |
//! | `masked` | the same with an offline walk, pools, two domains of bits and checks by tile |
//! | `page` | pages of the documentation that quote what only a test can produce |
//! | `player` | peers that send what they sent in another run, with changes |
//! | `reckoning` | bytes and rounds that a party should have counted, from stated costs |
//! | `record` | meshes in memory that record the traffic of each party |
//! | `relay` | a relay that tampers with records: a network that misbehaves |
//! | `session` | a session of a protocol with every kind of step, without the engine |
//! | `side` | a party of any protocol that runs its steps one by one, and threads for all of them |
//! | `tamper` | two meshes in memory, between which one byte is changed |
//! | `timing` | the statistical test that times do not depend on secrets |
//! | `testdata` | third-party vectors and circuits, and the tests that skip without them |
//! | `vectors` | vectors of the wire, which this and another implementation check |
//! | `walks` | a party whose steps have offline parts, as `side` |

#![forbid(unsafe_code)]

pub mod adversary;
pub mod exact;
pub mod fake;
pub mod golden;
pub mod input;
pub mod leaks;
pub mod masked;
pub mod page;
pub mod player;
pub mod random;
pub mod random_program;
pub mod reckoning;
pub mod record;
pub mod reference;
pub mod relay;
pub mod session;
pub mod setups;
pub mod side;
pub mod simulator;
pub mod stock;
pub mod tamper;
pub mod testdata;
pub mod timing;
pub mod vectors;
pub mod walks;
