//! Parties on this machine: fresh keys, free ports, limits that let tests of failures end soon.

use std::net::TcpListener;
use std::time::Duration;

use sealane_net::{Endpoint, Identity, Limits, MeshConfig, PartyId};

/// Limits under which every wait ends within a few seconds, on a busy machine too.
pub fn short_limits() -> Limits {
    Limits {
        connect: Duration::from_secs(3),
        silence: Duration::from_millis(1500),
        patience: Duration::from_secs(20),
        linger: Duration::from_secs(1),
        ..Limits::default()
    }
}

/// The configuration of each of the named parties, on free ports.
///
/// # Panics
/// If the system has no free port.
pub fn configs(names: &[String], limits: Limits) -> Vec<MeshConfig> {
    let identities: Vec<_> = names.iter().map(|_| Identity::generate()).collect();
    // Held until all are chosen, so that no port comes twice.
    let listeners: Vec<_> = names
        .iter()
        .map(|_| TcpListener::bind("127.0.0.1:0").expect("a free port"))
        .collect();
    let endpoint = |((name, listener), identity): ((&String, &TcpListener), &Identity)| Endpoint {
        name: name.clone(),
        address: listener.local_addr().expect("a bound socket").to_string(),
        key: identity.public_key(),
    };
    let parties: Vec<_> = names
        .iter()
        .zip(&listeners)
        .zip(&identities)
        .map(endpoint)
        .collect();
    let config = |(me, identity)| MeshConfig {
        me: PartyId::from_index(me),
        identity,
        parties: parties.clone(),
        listen: None,
        limits,
    };
    identities.into_iter().enumerate().map(config).collect()
}
