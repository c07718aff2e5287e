//! Handshake of two parties on a fresh TCP connection: TLS with pinned keys, then a hello each way.
//!
//! A failed attempt returns its kind of failure; `gather.rs` judges the consequences for the run.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use rustls::server::{Accepted, Acceptor};
use rustls::{AlertDescription, ClientConnection, ConnectionCommon, Stream};

use crate::cancel::Cancel;
use crate::cipher::Cipher;
use crate::connect::{Endpoint, MeshConfig};
use crate::error::{KeyFault, NetError, Result};
use crate::hello::{Hello, Purpose, WIRE_VERSION};
use crate::limits::Limits;
use crate::tcp::{TcpTransport, is_closed, is_timeout};
use crate::timed::{Timed, from, linger};
use crate::tls::{self, Claim, Pin};
use sealane_identity::PublicKey;
use sealane_parties::PartyId;

/// State shared by all handshakes of a party.
pub(crate) struct Host<'a> {
    pub(crate) config: &'a MeshConfig,
    /// False for measurements only.
    pub(crate) encrypted: bool,
    /// Purpose of this party's connections.
    pub(crate) purpose: Purpose,
    /// Time at which waiting for the others ends.
    pub(crate) deadline: Instant,
    /// This party's wire version; tests set others.
    pub(crate) wire_version: u16,
    /// This party's clock; tests set it wrong.
    pub(crate) clock: fn() -> SystemTime,
    /// Parties that the configuration lacks, whose entries in it mean nothing.
    pub(crate) unlisted: Vec<PartyId>,
}

/// Authenticated peer of an incoming connection: it has proved to hold the key of a party.
pub(crate) enum Caller {
    /// A party of this run.
    Party(Met),
    /// A prober, which has been answered; with its index if it is a party of this run.
    Prober(Option<PartyId>),
}

/// A peer after its handshake: everything that a transport starts with.
pub(crate) struct Met {
    pub(crate) peer: PartyId,
    socket: TcpStream,
    cipher: Cipher,
    peer_silence: Duration,
}

/// Failure of an attempt to connect.
pub(crate) enum Failure {
    /// The other end closed before it sent anything decisive. A dialler tries again.
    Gone(String),
    /// The other end has not proved to be the party that the error names: it is silent, speaks
    /// another protocol, or shows or expects another key.
    Unproven(NetError),
    /// The other end is a party with which this one cannot run.
    Final(NetError),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Gone(error.to_string())
    }
}

impl From<NetError> for Failure {
    fn from(error: NetError) -> Failure {
        Failure::Unproven(error)
    }
}

impl<'a> Host<'a> {
    pub(crate) fn new(config: &'a MeshConfig, encrypted: bool) -> Host<'a> {
        let deadline = Instant::now() + config.limits.connect;
        Host {
            config,
            encrypted,
            purpose: Purpose::Run,
            deadline,
            wire_version: WIRE_VERSION,
            clock: SystemTime::now,
            unlisted: Vec::new(),
        }
    }

    /// Handshakes with `peer`, whose address answered on `socket`.
    pub(crate) fn dial(&self, socket: TcpStream, peer: PartyId) -> Result<Met, Failure> {
        let hello = self.hello(peer);
        let mut timed = Timed::new(&socket, self.deadline);
        let (theirs, cipher) = if self.encrypted {
            let claim = Claim::Party(self.config.me);
            let greet = |stream: &mut TlsToPeer<'_, '_>| greet_first(stream, &hello);
            let (theirs, client) = self.call(peer, claim, &mut timed, greet)?;
            (theirs, Cipher::tls(client.into()))
        } else {
            let theirs = greet_first(&mut timed, &hello);
            let theirs = theirs.map_err(|error| self.failure(peer, None, &error, &timed))?;
            (theirs, Cipher::Plain)
        };
        finish(hello, theirs, socket, cipher)
    }

    /// Connects to `peer` over TLS and runs `talk` over it, after which the connection is ready.
    pub(crate) fn call<T>(
        &self,
        peer: PartyId,
        claim: Claim,
        timed: &mut Timed<'_>,
        talk: impl FnOnce(&mut TlsToPeer<'_, '_>) -> io::Result<T>,
    ) -> Result<(T, ClientConnection), Failure> {
        let pin = Pin::new(self.config.parties[peer.index()].key);
        let mut client = tls::client(&self.config.identity, Arc::clone(&pin), claim)
            .map_err(|error| Failure::Final(tls_failure(peer, &error)))?;
        let said = talk(&mut Stream::new(&mut client, timed)).map_err(|error| {
            say_last_words(&mut client, timed);
            self.failure(peer, Some(&pin), &error, timed)
        })?;
        Ok((said, client))
    }

    /// Handshakes with the dialler on `socket`, which connected at `since`, by `deadline`. Faults
    /// that cannot be attributed to a certain party are attributed to `missing`, a party that is
    /// waited for.
    pub(crate) fn accept(
        &self,
        socket: TcpStream,
        missing: PartyId,
        since: Instant,
        deadline: Instant,
    ) -> Result<Caller, Failure> {
        let mut timed = Timed::since(&socket, since, deadline);
        if !self.encrypted {
            let theirs = Hello::read(&mut timed);
            let theirs = theirs.map_err(|error| self.failure(missing, None, &error, &timed))?;
            let hello = self.hello(self.claimant(theirs.from, missing, &socket)?);
            let written = hello.write(&mut timed);
            written.map_err(|error| self.failure(hello.to, None, &error, &timed))?;
            return self.finish_accepted(hello, theirs, socket, Cipher::Plain);
        }
        let accepted = self.first_message(&mut timed, missing)?;
        let claim = Claim::of_server_name(accepted.client_hello().server_name());
        match (self.purpose, claim) {
            (_, Some(Claim::Prober)) => Ok(Caller::Prober(self.answer(accepted, &mut timed))),
            // A dialler that wants to run finds no run yet, and tries again.
            (Purpose::Probe, Some(_)) => Err(Failure::Gone("no run takes place here yet".into())),
            (_, Some(Claim::Party(claimed))) => {
                let peer = self.claimant(claimed, missing, &socket)?;
                let (theirs, cipher) = self.take_call(accepted, peer, &mut timed)?;
                self.finish_accepted(self.hello(peer), theirs, socket, cipher)
            }
            (_, None) => {
                let reason = format!("{} speaks TLS but is no party", from(&socket));
                Err(NetError::malformed(missing, reason).into())
            }
        }
    }

    /// Handshakes with a dialler that claims to be `peer`, and answers its hello if it is.
    fn take_call(
        &self,
        accepted: Accepted,
        peer: PartyId,
        timed: &mut Timed<'_>,
    ) -> Result<(Hello, Cipher), Failure> {
        let pin = if !self.unlisted.contains(&peer) {
            Pin::new(self.config.parties[peer.index()].key)
        } else {
            Pin::any_of(Vec::new())
        };
        self.take_call_of(accepted, &pin, &self.hello(peer), timed)
    }

    /// The same with any of the keys of a pin.
    fn take_call_of(
        &self,
        accepted: Accepted,
        pin: &Arc<Pin>,
        hello: &Hello,
        timed: &mut Timed<'_>,
    ) -> Result<(Hello, Cipher), Failure> {
        let peer = hello.to;
        let server = tls::server(&self.config.identity, Arc::clone(pin))
            .map_err(|error| Failure::Final(tls_failure(peer, &error)))?;
        let server = accepted.into_connection(server);
        let mut server = server.map_err(|(error, mut alert)| {
            // The alert tells the other end the reason, if it still reads.
            let _ = alert.write_all(timed);
            tls_failure(peer, &error)
        })?;
        let greeted = greet_second(&mut Stream::new(&mut server, timed), hello);
        let theirs = greeted.map_err(|error| {
            say_last_words(&mut server, timed);
            self.failure(peer, Some(pin), &error, timed)
        })?;
        Ok((theirs, Cipher::tls(server.into())))
    }

    /// Handshakes with a client that dialled a server, as [`Host::accept`] does with a party of a
    /// run: the client may be any of the parties of the configuration but the first, and the mesh
    /// is of these two. Returns the key that it has proved to hold.
    pub(crate) fn receive(
        &self,
        socket: TcpStream,
        since: Instant,
        deadline: Instant,
    ) -> Result<(PublicKey, Met), Failure> {
        const CLIENT: PartyId = PartyId(1);
        let mut timed = Timed::since(&socket, since, deadline);
        let accepted = self.first_message(&mut timed, CLIENT)?;
        match Claim::of_server_name(accepted.client_hello().server_name()) {
            Some(Claim::Party(CLIENT)) => {}
            Some(Claim::Prober) => {
                self.answer(accepted, &mut timed);
                return Err(Failure::Gone("it probed".into()));
            }
            _ => {
                let reason = format!("{} is no client", from(&socket));
                return Err(NetError::malformed(CLIENT, reason).into());
            }
        }
        let clients = &self.config.parties[1..];
        let pin = Pin::any_of(clients.iter().map(|client| client.key).collect());
        let mut hello = self.hello(CLIENT);
        hello.parties = 2;
        let (theirs, cipher) = self.take_call_of(accepted, &pin, &hello, &mut timed)?;
        let key = pin.accepted();
        let key = key.ok_or_else(|| Failure::Gone("it has shown no key".into()))?;
        Ok((key, finish(hello, theirs, socket, cipher)?))
    }

    /// Judges the hello of a dialler. A party with a lower index never dials this one: it has
    /// reached this party while looking for another, which its hello states or, if not, its index
    /// shows.
    fn finish_accepted(
        &self,
        ours: Hello,
        theirs: Hello,
        socket: TcpStream,
        cipher: Cipher,
    ) -> Result<Caller, Failure> {
        let met = finish(ours, theirs, socket, cipher)?;
        if met.peer < self.config.me {
            let reason = "it dials a party that comes after it";
            return Err(Failure::Final(NetError::wrong_party(met.peer, reason)));
        }
        Ok(Caller::Party(met))
    }

    fn hello(&self, peer: PartyId) -> Hello {
        let config = self.config;
        let parties = config.parties.len() as u8;
        let mut hello = Hello::new(config.me, peer, parties, config.limits.silence);
        hello.version.wire = self.wire_version;
        hello
    }

    /// Reads the first message of a TLS client.
    fn first_message(&self, timed: &mut Timed<'_>, missing: PartyId) -> Result<Accepted, Failure> {
        let mut acceptor = Acceptor::default();
        loop {
            match acceptor.read_tls(timed) {
                Ok(0) => return Err(Failure::Gone("it closed the connection at once".into())),
                Ok(_) => {}
                Err(error) => return Err(self.failure(missing, None, &error, timed)),
            }
            match acceptor.accept() {
                Ok(Some(accepted)) => return Ok(accepted),
                Ok(None) => {}
                Err((error, mut alert)) => {
                    let _ = alert.write_all(timed);
                    let reason = format!("{} sent no TLS: {error}", from(timed.socket));
                    return Err(NetError::malformed(missing, reason).into());
                }
            }
        }
    }

    /// Returns the party that a dialler claims to be.
    fn claimant(
        &self,
        claimed: PartyId,
        missing: PartyId,
        socket: &TcpStream,
    ) -> Result<PartyId, Failure> {
        let (ends, parties) = ([self.config.me, missing], self.config.parties.len());
        Ok(claimant(claimed, ends, parties, &from(socket))?)
    }

    /// Classifies the failure of an exchange with `peer`.
    fn failure(
        &self,
        party: PartyId,
        pin: Option<&Pin>,
        error: &io::Error,
        timed: &Timed<'_>,
    ) -> Failure {
        use rustls::Error::{AlertReceived, InvalidMessage};
        let from = from(timed.socket);
        if let Some(seen) = pin.and_then(Pin::refused) {
            linger(timed.socket);
            let expected = self.config.parties[party.index()].key;
            return self.wrong_key(party, expected, seen).into();
        }
        let tls = error.get_ref().and_then(|cause| cause.downcast_ref());
        let shown = self.config.identity.public_key();
        let error = match (tls, error.kind()) {
            (Some(AlertReceived(AlertDescription::AccessDenied)), _) => {
                NetError::wrong_key(party, KeyFault::Ours { shown })
            }
            (Some(AlertReceived(AlertDescription::UnknownCA)), _) => {
                NetError::wrong_key(party, KeyFault::Unknown { shown })
            }
            (Some(error @ InvalidMessage(_)), _) => {
                NetError::malformed(party, format!("{from} sent no TLS: {error}"))
            }
            (Some(error), _) => tls_failure(party, error),
            (None, ErrorKind::InvalidData) => {
                NetError::malformed(party, format!("{from}: {error}"))
            }
            (None, kind) if is_timeout(kind) => {
                let silent_s = timed.started.elapsed().as_secs();
                NetError::Stalled { party, silent_s }
            }
            (None, kind) if is_closed(kind) => {
                return Failure::Gone("it closed the connection before the greeting".into());
            }
            (None, _) => return Failure::Gone(error.to_string()),
        };
        error.into()
    }

    /// Returns the error for a key that is not the one expected of `peer`. If it is the key
    /// expected of another party, the two have been exchanged in a configuration, and the error
    /// says so.
    fn wrong_key(&self, peer: PartyId, expected: PublicKey, seen: PublicKey) -> NetError {
        let mut others = self.config.parties.iter().enumerate();
        match others.find(|(_, other)| other.key == seen) {
            Some((_, Endpoint { name, .. })) => {
                let print = seen.fingerprint();
                let shows = format!("it shows the key with the fingerprint {print}");
                NetError::wrong_party(peer, format!("{shows}, which is that of {name} here"))
            }
            None => NetError::wrong_key(peer, KeyFault::Theirs { expected, seen }),
        }
    }
}

impl Met {
    /// Starts the transport to the peer.
    pub(crate) fn start(self, config: &MeshConfig) -> Result<TcpTransport> {
        self.start_under(config.limits, &config.cancel)
    }

    /// The same with limits and a token of its own.
    pub(crate) fn start_under(self, limits: Limits, cancel: &Cancel) -> Result<TcpTransport> {
        let (party, silence) = (self.peer, self.peer_silence);
        let transport = TcpTransport::start(self.socket, self.cipher, limits, silence);
        let mut transport = transport.map_err(|error| {
            let reason = error.to_string();
            NetError::Io { party, reason }
        })?;
        transport.cancelled_by(cancel);
        Ok(transport)
    }
}

/// TLS connection with a peer that was dialled.
pub(crate) type TlsToPeer<'a, 's> = Stream<'a, ClientConnection, Timed<'s>>;

/// Runs the dialler's side of the greeting. An acceptor that refuses this party sends the reason
/// and closes, perhaps while the hello is still being written; so a closed connection is read to
/// its end.
pub(crate) fn greet_first(stream: &mut (impl Read + Write), hello: &Hello) -> io::Result<Hello> {
    match hello.write(stream) {
        Ok(()) => Hello::read(stream),
        Err(error) if is_closed(error.kind()) => Hello::read(stream).and(Err(error)),
        Err(error) => Err(error),
    }
}

/// Runs the acceptor's side of the greeting. It answers before it judges, so that both sides know
/// both versions.
pub(crate) fn greet_second(stream: &mut (impl Read + Write), hello: &Hello) -> io::Result<Hello> {
    let theirs = Hello::read(stream)?;
    hello.write(stream)?;
    Ok(theirs)
}

/// Sends the pending alert, if any, that tells the other end why its handshake failed.
pub(crate) fn say_last_words<T>(connection: &mut ConnectionCommon<T>, timed: &mut Timed<'_>) {
    while connection.wants_write() && connection.write_tls(timed).is_ok_and(|bytes| bytes > 0) {}
}

fn tls_failure(party: PartyId, error: &rustls::Error) -> NetError {
    let reason = error.to_string();
    NetError::Tls { party, reason }
}

/// Judges the claim of a dialler, which `from` describes, to be a party: one of so many, and
/// another than the dialled one. The fault of a false claim is attributed to `missing`.
pub(crate) fn claimant(
    claimed: PartyId,
    [me, missing]: [PartyId; 2],
    parties: usize,
    from: &str,
) -> Result<PartyId> {
    if claimed != me && claimed.index() < parties {
        return Ok(claimed);
    }
    let reason = format!("{from} says it is {claimed} and speaks to {me}");
    Err(NetError::wrong_party(missing, reason))
}

/// Judges the peer's hello.
fn finish(ours: Hello, theirs: Hello, socket: TcpStream, cipher: Cipher) -> Result<Met, Failure> {
    if let Err(error) = ours.check(&theirs) {
        linger(&socket);
        return Err(Failure::Final(error));
    }
    let (peer, peer_silence) = (ours.to, theirs.silence);
    Ok(Met {
        peer,
        socket,
        cipher,
        peer_silence,
    })
}
