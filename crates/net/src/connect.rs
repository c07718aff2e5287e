//! How the parties of a run find each other.
//!
//! Of two parties, the one with the lower index listens at its own address and the other dials, so
//! that a run of n parties needs no coordinator and each pair has exactly one connection. Diallers
//! try again until the listener is there; every wait ends with `Limits::connect`.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{KeyFault, NetError};
use crate::limits::Limits;
use crate::meeting::{Failure, Host, Met};
use crate::{Identity, PartyId, PublicKey, Transport};

/// Pause between two looks at a listener, and before the second attempt to dial.
const FIRST_PAUSE: Duration = Duration::from_millis(5);

/// Longest pause between two attempts to dial.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// How long reports of attempts that end with the deadline are waited for.
const REPORT_GRACE: Duration = Duration::from_millis(200);

/// Attempts of others that are heard at the same time; more are turned away.
const MAX_ATTEMPTS: usize = 64;

/// Everything a party needs to meet the others.
pub struct MeshConfig {
    /// Who this party is.
    pub me: PartyId,
    /// This party's private key.
    pub identity: Identity,
    /// All parties, this one included, in the order of the program.
    pub parties: Vec<Endpoint>,
    /// Where this party listens, if that is not the address under which others know it.
    pub listen: Option<String>,
    /// Bounds on time and memory.
    pub limits: Limits,
}

/// How a party is known to the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The name that users gave it.
    pub name: String,
    /// Host and port, as in `lab.example:7001`.
    pub address: String,
    /// The key that it has to show.
    pub key: PublicKey,
}

impl MeshConfig {
    /// The configuration of each of the named parties of a run on this machine alone, with fresh
    /// keys and ports that are free now: for tests and measurements.
    ///
    /// # Errors
    /// Of the operating system, where no port is to be had.
    pub fn on_loopback(names: &[&str], limits: Limits) -> io::Result<Vec<MeshConfig>> {
        let ports = names.iter().map(|_| free_loopback_port());
        let ports = ports.collect::<io::Result<Vec<_>>>()?;
        let identities: Vec<_> = names.iter().map(|_| Identity::generate()).collect();
        let mut parties = Vec::new();
        for ((name, port), identity) in names.iter().zip(&ports).zip(&identities) {
            parties.push(Endpoint {
                name: (*name).into(),
                address: format!("{}:{port}", Ipv4Addr::LOCALHOST),
                key: identity.public_key(),
            });
        }
        let config = |(me, identity)| MeshConfig {
            me: PartyId::from_index(me),
            identity,
            parties: parties.clone(),
            listen: None,
            limits,
        };
        Ok(identities.into_iter().enumerate().map(config).collect())
    }

    /// The parties' names in order, for [`NetError::with_names`].
    pub fn names(&self) -> Vec<&str> {
        self.parties
            .iter()
            .map(|party| party.name.as_str())
            .collect()
    }
}

/// A port on loopback where nobody listens now. It comes from below the range from which systems
/// take ports of outgoing connections, and this process gets each only once, so that it is still
/// free when a party listens there a moment later.
///
/// # Errors
/// Of the operating system, where no port is to be had.
pub fn free_loopback_port() -> io::Result<u16> {
    const FIRST: u32 = 10_240;
    const COUNT: u32 = 22_000;
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Processes begin far from each other.
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

/// Meets all other parties over TCP with mutual TLS; one transport a party, none for this one.
///
/// Ends within `limits.connect`, and at once when a party comes with a wrong key, another version
/// or another idea of who is who. Whatever else connects and talks no TLS or nothing at all is
/// passed over, and reported if the party that was waited for does not come.
pub fn connect_transports(
    config: &MeshConfig,
) -> Result<Vec<Option<Box<dyn Transport>>>, NetError> {
    check(config)?;
    meet_all(&Host::new(config, true))
}

/// As [`connect_transports`], without TLS.
pub(crate) fn danger_plaintext_transports(
    config: &MeshConfig,
) -> Result<Vec<Option<Box<dyn Transport>>>, NetError> {
    check(config)?;
    meet_all(&Host::new(config, false))
}

fn check(config: &MeshConfig) -> Result<(), NetError> {
    let parties = config.parties.len();
    let Some(own) = config.parties.get(config.me.index()) else {
        return Err(NetError::Misuse(format!(
            "{} is none of {parties} parties",
            config.me
        )));
    };
    if parties > usize::from(u8::MAX) {
        return Err(NetError::Misuse(format!("{parties} parties are too many")));
    }
    let seen = config.identity.public_key();
    if own.key != seen {
        let fault = KeyFault::Theirs {
            expected: own.key,
            seen,
        };
        return Err(NetError::WrongKey(config.me, fault));
    }
    Ok(())
}

/// Listens first, so that nobody's dialling waits for this party's own.
fn meet_all(host: &Host<'_>) -> Result<Vec<Option<Box<dyn Transport>>>, NetError> {
    let config = host.config;
    let (me, parties) = (config.me.index(), config.parties.len());
    let listener = if me + 1 < parties {
        Some(listen(config)?)
    } else {
        None
    };
    let mut met: Vec<Option<Met>> = (0..parties).map(|_| None).collect();
    for (lower, place) in met[..me].iter_mut().enumerate() {
        *place = Some(dial(host, PartyId::from_index(lower))?);
    }
    if let Some(listener) = listener {
        accept_all(host, &listener, &mut met)?;
    }
    let start = |met: Option<Met>| {
        met.map(|met| met.start(config).map(|t| Box::new(t) as Box<dyn Transport>))
            .transpose()
    };
    met.into_iter().map(start).collect()
}

fn listen(config: &MeshConfig) -> Result<TcpListener, NetError> {
    let address = config
        .listen
        .as_ref()
        .unwrap_or(&config.parties[config.me.index()].address);
    TcpListener::bind(address)
        .and_then(|listener| listener.set_nonblocking(true).map(|()| listener))
        .map_err(|error| NetError::Listen(address.clone(), error.to_string()))
}

/// Dials until `peer` is met or the deadline passes.
fn dial(host: &Host<'_>, peer: PartyId) -> Result<Met, NetError> {
    let address = &host.config.parties[peer.index()].address;
    let mut pause = FIRST_PAUSE;
    loop {
        let attempt = match open(address, host.deadline) {
            Ok(socket) => host.dial(socket, peer),
            Err(error) => Err(Failure::Gone(error.to_string())),
        };
        let cause = match attempt {
            Ok(met) => return Ok(met),
            Err(Failure::Stranger(error) | Failure::Final(error)) => return Err(error),
            Err(Failure::Gone(cause)) => cause,
        };
        if Instant::now() + pause >= host.deadline {
            let waited = host.config.limits.connect.as_secs_f32();
            let cause = format!("{cause} (after {waited} s of trying)");
            return Err(NetError::Unreachable(peer, address.clone(), cause));
        }
        thread::sleep(pause);
        pause = (2 * pause).min(LONGEST_PAUSE);
    }
}

/// A connection with the first of the addresses of `address` that answers.
fn open(address: &str, deadline: Instant) -> io::Result<TcpStream> {
    let mut result = Err(io::Error::new(
        io::ErrorKind::NotFound,
        "the name has no address",
    ));
    for candidate in address.to_socket_addrs()? {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        result = TcpStream::connect_timeout(&candidate, left);
        // On the own machine, a dialler can meet itself on a port where nobody listens.
        if let Ok(socket) = &result
            && socket.local_addr()? == socket.peer_addr()?
        {
            result = Err(io::ErrorKind::ConnectionRefused.into());
        }
        if result.is_ok() {
            break;
        }
    }
    result
}

/// Listens until every party with a higher index has been met. Each connection is heard by a thread
/// of its own, so that one that says nothing keeps nobody waiting.
fn accept_all(
    host: &Host<'_>,
    listener: &TcpListener,
    met: &mut [Option<Met>],
) -> Result<(), NetError> {
    let me = host.config.me.index();
    let (report, reports) = mpsc::channel();
    // The sockets of attempts that have not been reported, by the number of the attempt.
    let mut pending: BTreeMap<usize, TcpStream> = BTreeMap::new();
    thread::scope(|threads| {
        let mut last_fault = None;
        let result = loop {
            let missing = (me + 1..met.len()).find(|party| met[*party].is_none());
            let Some(missing) = missing.map(PartyId::from_index) else {
                break Ok(());
            };
            if Instant::now() >= host.deadline {
                break Err(nobody(host, missing, last_fault, &reports));
            }
            if let Some((socket, other_handle)) = next_connection(listener, pending.len()) {
                let number = pending.last_key_value().map_or(0, |(last, _)| last + 1);
                pending.insert(number, other_handle);
                let report = report.clone();
                // The receiver outlives this scope, so a report is never lost.
                threads.spawn(move || report.send((number, host.accept(socket, missing))));
            }
            let Ok((number, outcome)) = reports.recv_timeout(FIRST_PAUSE) else {
                continue;
            };
            pending.remove(&number);
            match outcome {
                // Of two connections with the same right key, the first stands.
                Ok(new) => {
                    met[new.peer.index()].get_or_insert(new);
                }
                Err(Failure::Final(error)) => break Err(error),
                Err(Failure::Stranger(error)) => last_fault = Some(error),
                Err(Failure::Gone(_)) => {}
            }
        };
        // Frees the threads that still listen to somebody.
        for socket in pending.values() {
            let _ = socket.shutdown(Shutdown::Both);
        }
        result
    })
}

/// The next connection of somebody, unless too many are being heard; two handles
/// of the same socket, one to talk on and one to end the talk.
fn next_connection(listener: &TcpListener, attempts: usize) -> Option<(TcpStream, TcpStream)> {
    let (socket, _) = listener.accept().ok()?;
    // Some systems hand the listener's mode on to its connections.
    socket.set_nonblocking(false).ok()?;
    let other_handle = socket.try_clone().ok()?;
    (attempts < MAX_ATTEMPTS).then_some((socket, other_handle))
}

/// Why `missing` was not met by the deadline.
fn nobody(
    host: &Host<'_>,
    missing: PartyId,
    last_fault: Option<NetError>,
    reports: &Receiver<(usize, Result<Met, Failure>)>,
) -> NetError {
    let mut fault = last_fault;
    while let Ok((_, outcome)) = reports.recv_timeout(REPORT_GRACE) {
        if let Err(Failure::Final(error) | Failure::Stranger(error)) = outcome {
            fault.get_or_insert(error);
        }
    }
    fault.unwrap_or_else(|| {
        let waited = host.config.limits.connect.as_secs_f32();
        let address = host.config.parties[host.config.me.index()].address.clone();
        let cause = format!("it did not dial {address} within {waited} s");
        let theirs = host.config.parties[missing.index()].address.clone();
        NetError::Unreachable(missing, theirs, cause)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hello::WIRE_VERSION;

    fn configs() -> [MeshConfig; 2] {
        let limits = Limits {
            connect: Duration::from_secs(5),
            ..Limits::default()
        };
        let configs = MeshConfig::on_loopback(&["one", "other"], limits).unwrap();
        configs.try_into().ok().unwrap()
    }

    #[test]
    fn a_wrong_version_is_told_to_both_sides_with_both_versions() {
        for encrypted in [true, false] {
            let [a, b] = configs();
            let newer = thread::spawn(move || {
                let host = Host {
                    wire_version: WIRE_VERSION + 1,
                    ..Host::new(&b, encrypted)
                };
                meet_all(&host).err().unwrap()
            });
            let of_older = meet_all(&Host::new(&a, encrypted)).err().unwrap();
            let (one, other) = (WIRE_VERSION, WIRE_VERSION + 1);
            for (error, peer, ours, theirs) in [
                (of_older, PartyId(1), one, other),
                (newer.join().unwrap(), PartyId(0), other, one),
            ] {
                let NetError::WrongVersion(party, mine, its) = &error else {
                    panic!("{error}")
                };
                assert_eq!((*party, mine.wire, its.wire), (peer, ours, theirs));
                assert!(
                    error
                        .to_string()
                        .contains(&format!("wire version {theirs}"))
                );
            }
        }
    }
}
