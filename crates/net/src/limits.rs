//! Every bound on time and memory, in one place.

use std::time::Duration;

/// Bounds on what a party waits for and holds. All parties may choose their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long the parties may take to find each other.
    pub connect: Duration,
    /// How long a live connection may be silent. Parties send heartbeats while they compute, so
    /// only a stopped process or a dead link is silent for longer.
    pub silence: Duration,
    /// How long a single receive or a blocked send may take although the peer is alive.
    pub patience: Duration,
    /// How long a party that aborts waits until its last words have arrived. They wait behind what
    /// the peer's system has taken in but its protocol has not yet made room for: a peer that
    /// computes for longer with all its room taken finds this party gone, and not why.
    pub linger: Duration,
    /// Received bytes that may wait for the protocol, for each peer. The peer is slowed down, not
    /// refused, when it sends more. Here and below, what waits may take twice its bytes in memory.
    pub inbound_bytes: usize,
    /// Sent bytes that may wait for the network, for each peer.
    pub outbound_bytes: usize,
    /// Received bytes that may wait for the protocol beyond `inbound_bytes`, of all peers together,
    /// while this party is blocked. One bound for the whole mesh, because it is the memory of this
    /// machine that it protects, however many parties there are.
    pub backlog_bytes: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connect: Duration::from_secs(30),
            silence: Duration::from_secs(30),
            patience: Duration::from_secs(3600),
            linger: Duration::from_secs(10),
            inbound_bytes: 64 << 20,
            outbound_bytes: 4 << 20,
            backlog_bytes: 1 << 30,
        }
    }
}
