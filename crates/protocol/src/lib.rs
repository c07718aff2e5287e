//! Crate `protocol`: the description of a protocol, from which plans and costs are made.
//!
//! A protocol describes itself ([`Profile`]), the domains in which it computes ([`Domain`]), the
//! cost of each step in bytes, flights and time ([`Cost`], computed from a [`StepShape`]), and the
//! correlations that it needs prepared ([`Demand`]). Planning needs nothing else; the crate `party`
//! holds the other half, the party that runs the steps.
#![forbid(unsafe_code)]

mod cost;
mod describe;
mod domain;
mod left_over;
mod paper;
mod profile;
mod shape;
mod timing;
mod view;
mod work;

pub use cost::{CheckKind, Checks, Choices, Correlation, Cost, Demand, Flight, Message, Parts};
pub use describe::Protocol;
pub use domain::{Algebra, Choice, Domain, DomainProfile, Sharing};
pub use left_over::{LeftOver, Refills};
pub use paper::{Basis, Paper, Security};
pub use profile::{
    Adversary, Batch, Corruption, Players, Profile, Role, SecurityLevel, Setting, Threshold,
};
pub use sealane_circuit::Goal;
pub use shape::{
    ConvertShape, InputShape, Numbers, Opening, ProductShape, RingOp, RingShape, ShuffleShape,
    SortShape, StepShape, TapeShape, known_to,
};
pub use timing::{Timing, Walk};
pub use view::View;
pub use work::{Kernel, Work};
