//! Both parties on a source that is given: outputs, cost, tiers, and parties that deviate.

mod freshness;
mod guessing;
mod honest;
pub(super) mod support;
mod tampering;
pub(crate) mod vectors;
