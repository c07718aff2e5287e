//! Bounds on time and memory of a party.

use std::time::Duration;

/// Bounds on the waits and the buffers of a party. All parties may choose their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Longest time for the parties to find each other.
    pub connect: Duration,
    /// Longest silence of a live connection. Parties send heartbeats while they compute, so only a
    /// stopped process or a dead link is silent for longer.
    pub silence: Duration,
    /// Longest time for a single receive or a blocked send while the peer is alive.
    pub patience: Duration,
    /// Longest wait of an aborting party until its reason has arrived. The reason waits behind the
    /// bytes that the peer's system holds but its protocol has not yet read: a peer that computes
    /// for longer with full buffers finds this party gone without a reason.
    pub linger: Duration,
    /// Bytes received from one peer that may wait for the protocol. A peer that sends more is
    /// slowed down, not refused. Here and below, waiting bytes may take twice their number in
    /// memory.
    pub inbound_bytes: usize,
    /// Bytes sent to one peer that may wait for the network.
    pub outbound_bytes: usize,
    /// Received bytes that may wait for the protocol beyond `inbound_bytes`, of all peers together,
    /// while this party is blocked. There is one bound for the whole mesh, because it protects the
    /// memory of this machine, however many parties there are.
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
