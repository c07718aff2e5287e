//! Pools of this party: filling one with the other party, and what each covers.

pub mod keep;

use crate::Failure;
use crate::config::Config;
use crate::connect::{self, Meeting};
use sealane_diagnostic::Code;
use sealane_engine::fill_pool;
use sealane_parties::NetworkClass;
use sealane_pool::{BATCH, Count, MOST_FILLS, Order, Pool, Role};
use std::path::Path;

/// Coverage of a pool: transfers in either direction.
pub struct Covered {
    /// The other party.
    pub peer: String,
    /// Counts of those that this party receives.
    pub own: Count,
    /// Counts of those that the other one does.
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
    /// The party that receives them, as one that evaluates does; either, as many for each, if none
    /// is named.
    pub evaluator: Option<&'a str>,
    /// Class of the network.
    pub network: NetworkClass,
}

impl Amount<'_> {
    /// The amount by the number of the party that receives.
    ///
    /// # Errors
    /// The evaluator is none of the two.
    pub fn order(&self, names: &[String]) -> Result<Order, Failure> {
        if let Some(named) = self.evaluator
            && !names.iter().any(|name| name == named)
        {
            let what = format!("`{named}` is none of the two parties");
            let hint = format!("`--evaluator` names one of: {}", names.join(", "));
            return Err(Failure::new(Code::UnknownParty, what, hint));
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

/// Returns the batches below which a pool is filled that keeps so many transfers, by fills of
/// `amount`.
///
/// # Errors
/// The party that listens has no port for pools, so that it would be in the way of runs; or the
/// pool would have to hold more fills than it can.
pub fn least(keep: u64, amount: u64, meeting: &Meeting, config: &Config) -> Result<u64, Failure> {
    let listens = &meeting.names()[0];
    if connect::party_config(listens, config)?.pool_port.is_none() {
        let what = format!("`{listens}` has no port at which it can wait for fills");
        let reason = "At the port of its address, fills would be in the way of runs.";
        let hint = format!(
            "let both parties add a free port to `[parties.{listens}]` of their files, such as \
             `pool_port = 7701`"
        );
        return Err(Failure::new(Code::PoolPort, what, hint).because(reason));
    }
    let [least, each] = [keep, amount].map(|transfers| transfers.div_ceil(BATCH as u64));
    if least.div_ceil(each.max(1)) > MOST_FILLS as u64 / 2 {
        let what = format!(
            "fills of {} transfers are too small to keep {}: a pool holds {MOST_FILLS} fills",
            self::transfers(each),
            self::transfers(least)
        );
        let hint = "let both parties state more with `--transfers`, or less with `--keep`";
        return Err(Failure::new(Code::PoolFull, what, hint));
    }
    Ok(least)
}

/// Meets the other party and fills the pools of both; `progress` is told of batches. If both state
/// a number, nothing is made where both hold at `least` so many batches. Returns the number of
/// batches that were made.
///
/// # Errors
/// The errors of the meeting; the other party wants something else; the pool cannot be used.
pub fn fill(
    meeting: &Meeting,
    order: Order,
    least: Option<u64>,
    progress: &mut dyn FnMut(u64),
) -> Result<u64, Failure> {
    let pool = meeting.pool().expect("a pair has a pool");
    let (mut mesh, names) = (connect::connect(meeting)?, meeting.names());
    let filled = fill_pool(&pool, order, least, &names, &mut mesh, progress);
    Ok(filled?)
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
    let identity = connect::identity(own, config, identity)?;
    let peer = connect::party_config(peer, config)?;
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
