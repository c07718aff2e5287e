//! Pools of this party: filling one with the other party, and what each covers.

use crate::Failure;
use crate::config::Config;
use crate::meet::{self, Meeting};
use sealane_engine::fill_pool;
use sealane_parties::NetworkClass;
use sealane_pool::{BATCH, Count, Order, Pool, Role};
use std::path::Path;

/// Coverage of a pool: bits of inputs of the party that evaluates.
pub struct Covered {
    /// The other party.
    pub peer: String,
    /// Counts where this party evaluates.
    pub own: Count,
    /// Counts where the other one does.
    pub theirs: Count,
}

/// Number of transfers in so many batches.
pub fn transfers(batches: u64) -> u64 {
    batches.saturating_mul(BATCH as u64)
}

/// An amount of transfers to make, and how.
pub struct Amount<'a> {
    /// How many, rounded up to whole batches.
    pub transfers: u64,
    /// The party that evaluates; either, as many for each, if none is named.
    pub evaluator: Option<&'a str>,
    /// Class of the network.
    pub network: NetworkClass,
}

impl Amount<'_> {
    /// The amount by the number of the party that evaluates.
    ///
    /// # Errors
    /// The evaluator is none of the two.
    pub fn order(&self, names: &[String]) -> Result<Order, Failure> {
        if let Some(named) = self.evaluator
            && !names.iter().any(|name| name == named)
        {
            let what = format!("`{named}` is none of the two parties");
            let hint = format!("`--evaluator` names one of: {}", names.join(", "));
            let code = sealane_diagnostic::Code::UnknownParty;
            return Err(Failure::new(code, what, hint));
        }
        let batches = self.transfers.div_ceil(BATCH as u64);
        let mut order = Order {
            batches: [0; 2],
            network: self.network,
        };
        for (name, wanted) in names.iter().zip(&mut order.batches) {
            if self.evaluator.is_none_or(|named| named == name) {
                *wanted = batches;
            }
        }
        Ok(order)
    }
}

/// Meets the other party and fills the pools of both; `progress` is told of batches.
///
/// # Errors
/// The errors of the meeting; the other party wants something else; the pool cannot be used.
pub fn fill(meeting: &Meeting, order: Order, progress: &mut dyn FnMut(u64)) -> Result<(), Failure> {
    let pool = meeting.pool().expect("a pair has a pool");
    let mut mesh = meet::connect(meeting)?;
    Ok(fill_pool(
        &pool,
        order,
        &meeting.names(),
        &mut mesh,
        progress,
    )?)
}

/// Returns the pool of the party `own` with `peer`.
///
/// # Errors
/// The configuration lacks a party, or the private key of this one.
pub fn with(
    own: &str,
    peer: &str,
    config: &Config,
    identity: Option<&Path>,
) -> Result<Pool, Failure> {
    let identity = meet::identity(own, config, identity)?;
    let peer = meet::party_config(peer, config)?;
    Ok(Pool::new(&config.pools, &identity, &peer.key))
}

/// Returns what the pool of the party `own` with `peer` covers.
///
/// # Errors
/// As [`with()`]; its files cannot be read.
pub fn covered(
    own: &str,
    peer: &str,
    config: &Config,
    identity: Option<&Path>,
) -> Result<Covered, Failure> {
    let pool = with(own, peer, config, identity)?;
    Ok(Covered {
        peer: peer.to_string(),
        own: pool.count(Role::Receiver)?,
        theirs: pool.count(Role::Sender)?,
    })
}
