//! Configuration by which a party meets the others, checked before anything is sent.

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::Transport;
use crate::cancel::Cancel;
use crate::error::{KeyFault, NetError, Result};
use crate::gather::{Gathered, gather};
use crate::limits::Limits;
use crate::meeting::Host;
use sealane_identity::{Identity, PublicKey};
use sealane_parties::PartyId;

/// Longest time in which a party that cannot run tells the others so.
const REPORT: Duration = Duration::from_secs(3);

/// Configuration of one party's meeting with the others.
pub struct MeshConfig {
    /// Index of this party.
    pub me: PartyId,
    /// This party's private key.
    pub identity: Identity,
    /// All parties, this one included, in the order of the program.
    pub parties: Vec<Endpoint>,
    /// Address on which this party listens, if it differs from the one that others dial.
    pub listen: Option<String>,
    /// Bounds on time and memory.
    pub limits: Limits,
    /// Token that cancels the meeting and the run.
    pub cancel: Cancel,
}

/// Name, address and key of a party.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The name that users gave it.
    pub name: String,
    /// Host and port, as in `lab.example:7001`.
    pub address: String,
    /// Public key that the party has to prove.
    pub key: PublicKey,
}

impl MeshConfig {
    /// Returns the configuration of each of the named parties of a run on this machine alone, with
    /// fresh keys and ports that are free now: for tests and measurements.
    ///
    /// # Errors
    /// The errors of the operating system, where no port is available.
    pub fn on_loopback(names: &[&str], limits: Limits) -> io::Result<Vec<MeshConfig>> {
        let identities: Vec<_> = names.iter().map(|_| Identity::generate()).collect();
        let mut parties = Vec::new();
        for (name, identity) in names.iter().zip(&identities) {
            parties.push(Endpoint {
                name: (*name).into(),
                address: format!("{}:{}", Ipv4Addr::LOCALHOST, free_loopback_port()?),
                key: identity.public_key(),
            });
        }
        let config = |(me, identity)| MeshConfig {
            me: PartyId::from_index(me),
            identity,
            parties: parties.clone(),
            listen: None,
            limits,
            cancel: Cancel::default(),
        };
        Ok(identities.into_iter().enumerate().map(config).collect())
    }

    /// The name of `party`, which is one of the run.
    pub(crate) fn name(&self, party: PartyId) -> &str {
        &self.parties[party.index()].name
    }

    /// The parties' names in order, for [`NetError::with_names`].
    pub fn names(&self) -> Vec<&str> {
        let names = self.parties.iter().map(|party| party.name.as_str());
        names.collect()
    }
}

/// Returns a port on loopback that is free now. It lies below the range from which systems take the
/// ports of outgoing connections, and this process returns each port only once, so that it is still
/// free when a party listens there a moment later.
///
/// # Errors
/// The errors of the operating system, where no port is available.
pub fn free_loopback_port() -> io::Result<u16> {
    const FIRST: u32 = 10_240;
    const COUNT: u32 = 22_000;
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Processes start at distant ports.
    let start = std::process::id().wrapping_mul(7919) % COUNT;
    for _ in 0..COUNT {
        let next = NEXT.fetch_add(1, Ordering::Relaxed) % COUNT;
        let port = (FIRST + (start + next) % COUNT) as u16;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
    Err(io::ErrorKind::AddrInUse.into())
}

/// Connects to all other parties over TCP with mutual TLS; returns one transport per party, none
/// for this one.
///
/// Ends within `limits.connect`. Ends at once, with an error that names the party, when a party
/// that this one dials, or one that has proved to hold its key, runs another version or disagrees
/// on the indices of the parties; when a party that has been met ends; when one gives up; or when
/// it is cancelled. Any other connection, under whatever name, is ignored, and reported if the
/// party that was waited for does not come.
pub fn connect_transports(config: &MeshConfig) -> Result<Vec<Option<Box<dyn Transport>>>> {
    connect_all(config, true).map(|gathered| gathered.transports)
}

/// Meets the other parties for a short while, as far as this one knows them, and tells them that it
/// gives up, because its configuration lacks the `unlisted` ones. The entries of these in `config`
/// mean nothing, except for their places. An unlisted party that dials in hears that its key is not
/// known.
///
/// # Errors
/// [`NetError::Unlisted`] with the first of them; or that this party cannot listen.
pub fn report_unlisted(config: &MeshConfig, unlisted: &[PartyId]) -> Result<()> {
    let mut host = Host::new(config, true);
    host.deadline = host.deadline.min(Instant::now() + REPORT);
    host.unlisted = unlisted.to_vec();
    gather(&host).map(drop)
}

/// Connects to all other parties, with TLS or, for measurements, without.
pub(crate) fn connect_all(config: &MeshConfig, encrypted: bool) -> Result<Gathered> {
    check(config)?;
    gather(&Host::new(config, encrypted))
}

/// Refuses a configuration with which no meeting can succeed.
pub(crate) fn check(config: &MeshConfig) -> Result<()> {
    let parties = config.parties.len();
    let Some(own) = config.parties.get(config.me.index()) else {
        let reason = format!("{} is none of {parties} parties", config.me);
        return Err(NetError::misuse(reason));
    };
    if parties > usize::from(u8::MAX) {
        return Err(NetError::misuse(format!("{parties} parties are too many")));
    }
    let (expected, seen) = (own.key, config.identity.public_key());
    if expected != seen {
        let fault = KeyFault::Theirs { expected, seen };
        return Err(NetError::wrong_key(config.me, fault));
    }
    refuse_doubles(config)
}

/// Refuses a key that two parties share, and an address at which two would have to listen.
fn refuse_doubles(config: &MeshConfig) -> Result<()> {
    let (mut keys, mut addresses) = (HashMap::new(), HashMap::new());
    for (party, endpoint) in config.parties.iter().enumerate() {
        let party = PartyId::from_index(party);
        // Nobody dials the last party, so its address is not used.
        let dialled = (party.index() + 1 < config.parties.len()).then_some(&endpoint.address);
        let key = keys.insert(endpoint.key, party);
        let address = dialled.and_then(|address| addresses.insert(address, party));
        for (what, first) in [("key", key), ("address", address)] {
            if let Some(first) = first {
                let first = config.name(first);
                let reason = format!("its {what} is also that of {first} in this configuration");
                return Err(NetError::Doubled { party, reason });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hello::WIRE_VERSION;
    use std::thread;

    fn configs() -> [MeshConfig; 2] {
        let limits = Limits {
            connect: Duration::from_secs(5),
            ..Limits::default()
        };
        let configs = MeshConfig::on_loopback(&["one", "other"], limits).unwrap();
        configs.try_into().ok().unwrap()
    }

    #[test]
    fn a_wrong_version_is_reported_to_both_sides_with_both_versions() {
        for encrypted in [true, false] {
            let [a, b] = configs();
            let newer = thread::spawn(move || {
                let host = Host {
                    wire_version: WIRE_VERSION + 1,
                    ..Host::new(&b, encrypted)
                };
                gather(&host).err().unwrap()
            });
            let of_older = gather(&Host::new(&a, encrypted)).err().unwrap();
            let (one, other) = (WIRE_VERSION, WIRE_VERSION + 1);
            for (error, peer, expected) in [
                (of_older, PartyId(1), [one, other]),
                (newer.join().unwrap(), PartyId(0), [other, one]),
            ] {
                let text = error.to_string();
                assert!(text.contains(&format!("wire version {}", expected[1])));
                let NetError::WrongVersion {
                    party,
                    ours,
                    theirs,
                } = error
                else {
                    panic!("{text}")
                };
                assert_eq!((party, [ours.wire, theirs.wire]), (peer, expected));
            }
        }
    }
}
