//! Both parties on a source that is given: outputs, cost, tiers, and parties that deviate.

mod guessing;
mod honest;
mod support;
mod tampering;
