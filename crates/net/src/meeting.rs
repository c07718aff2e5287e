//! How two parties meet on a fresh TCP connection: TLS with pinned keys, then a hello each way.
//!
//! An attempt that fails says what kind of failure it was, because those who dial and those who
//! listen go on differently: see [`Failure`].

use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::server::Acceptor;
use rustls::{AlertDescription, ConnectionCommon, Stream};

use crate::cipher::Cipher;
use crate::error::{KeyFault, NetError};
use crate::hello::{Hello, WIRE_VERSION};
use crate::tcp::{TcpTransport, is_closed, is_timeout};
use crate::tls::{self, Pin};
use crate::{MeshConfig, PartyId};

/// How long a party that refuses another waits until that one has heard why.
const REFUSAL_LINGER: Duration = Duration::from_millis(500);

/// What all meetings of a party have in common.
pub(crate) struct Host<'a> {
    pub(crate) config: &'a MeshConfig,
    /// Off for measurements only.
    pub(crate) encrypted: bool,
    /// When waiting for the others ends.
    pub(crate) deadline: Instant,
    /// This party's wire version; tests claim others.
    pub(crate) wire_version: u16,
}

/// A peer that has been met: everything that a transport starts with.
pub(crate) struct Met {
    pub(crate) peer: PartyId,
    socket: TcpStream,
    cipher: Cipher,
    peer_silence: Duration,
}

/// Why an attempt to meet came to nothing.
pub(crate) enum Failure {
    /// The other end was gone before it said anything of weight. Who dials tries again.
    Gone(String),
    /// The other end is silent or no party of this run. Who listens goes on: noise on the port must
    /// not end the run.
    Stranger(NetError),
    /// The other end is a party with which this one cannot run, or says that it is one and shows a
    /// wrong key. Ends the meeting on both sides, at once, because a wrong key is a mistake far
    /// more often than an attack. The price: whoever can reach the port can end a meeting by
    /// showing a key of his own. Nothing more than the meeting is lost.
    Final(NetError),
}

impl<'a> Host<'a> {
    pub(crate) fn new(config: &'a MeshConfig, encrypted: bool) -> Host<'a> {
        let deadline = Instant::now() + config.limits.connect;
        Host {
            config,
            encrypted,
            deadline,
            wire_version: WIRE_VERSION,
        }
    }

    /// Meets `peer`, whose address answered on `socket`.
    pub(crate) fn dial(&self, socket: TcpStream, peer: PartyId) -> Result<Met, Failure> {
        let hello = self.hello(peer);
        let mut timed = Timed {
            socket: &socket,
            deadline: self.deadline,
        };
        let (cipher, theirs) = if self.encrypted {
            let pin = Pin::new(self.config.parties[peer.index()].key);
            let mut client =
                tls::client(&self.config.identity, Arc::clone(&pin), self.config.me)
                    .map_err(|error| Failure::Final(NetError::Tls(peer, error.to_string())))?;
            let greeted = greet_first(&mut Stream::new(&mut client, &mut timed), &hello);
            let theirs = greeted.map_err(|error| {
                say_last_words(&mut client, &mut timed);
                self.failure(peer, Some(&pin), &error, &socket)
            })?;
            (Cipher::tls(client.into()), theirs)
        } else {
            let theirs = greet_first(&mut timed, &hello)
                .map_err(|error| self.failure(peer, None, &error, &socket))?;
            (Cipher::Plain, theirs)
        };
        finish(hello, theirs, socket, cipher)
    }

    /// Meets whoever has dialled in on `socket`. Faults that cannot be laid at a certain party's
    /// door are laid at that of `missing`, one that is waited for.
    pub(crate) fn accept(&self, socket: TcpStream, missing: PartyId) -> Result<Met, Failure> {
        let mut timed = Timed {
            socket: &socket,
            deadline: self.deadline,
        };
        if !self.encrypted {
            let theirs = Hello::read(&mut timed)
                .map_err(|error| self.failure(missing, None, &error, &socket))?;
            let hello = self.hello(self.expected(Some(theirs.from), missing, &socket)?);
            hello
                .write(&mut timed)
                .map_err(|error| self.failure(hello.to, None, &error, &socket))?;
            return finish(hello, theirs, socket, Cipher::Plain);
        }
        let accepted = self.first_message(&mut timed, missing)?;
        let claimed = tls::claimed_party(accepted.client_hello().server_name());
        let peer = self.expected(claimed, missing, &socket)?;
        let pin = Pin::new(self.config.parties[peer.index()].key);
        let server = tls::server(&self.config.identity, Arc::clone(&pin))
            .map_err(|error| Failure::Final(NetError::Tls(peer, error.to_string())))?;
        let mut server = accepted
            .into_connection(server)
            .map_err(|(error, mut alert)| {
                // The other end learns the reason from the alert, if it still listens.
                let _ = alert.write_all(&mut timed);
                Failure::Stranger(NetError::Tls(peer, error.to_string()))
            })?;
        let hello = self.hello(peer);
        let greeted = greet_second(&mut Stream::new(&mut server, &mut timed), &hello);
        let theirs = greeted.map_err(|error| {
            say_last_words(&mut server, &mut timed);
            self.failure(peer, Some(&pin), &error, &socket)
        })?;
        finish(hello, theirs, socket, Cipher::tls(server.into()))
    }

    fn hello(&self, peer: PartyId) -> Hello {
        let config = self.config;
        let parties = config.parties.len() as u8;
        let mut hello = Hello::new(config.me, peer, parties, config.limits.silence);
        hello.version.wire = self.wire_version;
        hello
    }

    /// Reads the first message of a TLS client.
    fn first_message(
        &self,
        timed: &mut Timed<'_>,
        missing: PartyId,
    ) -> Result<rustls::server::Accepted, Failure> {
        let mut acceptor = Acceptor::default();
        loop {
            match acceptor.read_tls(timed) {
                Ok(0) => return Err(Failure::Gone("it closed the connection at once".into())),
                Ok(_) => {}
                Err(error) => return Err(self.failure(missing, None, &error, timed.socket)),
            }
            match acceptor.accept() {
                Ok(Some(accepted)) => return Ok(accepted),
                Ok(None) => {}
                Err((error, mut alert)) => {
                    let _ = alert.write_all(timed);
                    let what = format!("{} sent no TLS: {error}", from(timed.socket));
                    return Err(Failure::Stranger(NetError::Malformed(missing, what)));
                }
            }
        }
    }

    /// The party that dials in, if it is one for which this party listens.
    fn expected(
        &self,
        claimed: Option<PartyId>,
        missing: PartyId,
        socket: &TcpStream,
    ) -> Result<PartyId, Failure> {
        let parties = self.config.parties.len();
        match claimed {
            Some(peer) if peer > self.config.me && peer.index() < parties => Ok(peer),
            Some(other) => Err(Failure::Stranger(NetError::WrongParty(
                missing,
                format!(
                    "{} says it is {other}, who does not dial {}",
                    from(socket),
                    self.config.me
                ),
            ))),
            None => Err(Failure::Stranger(NetError::Malformed(
                missing,
                format!("{} speaks TLS but is no party", from(socket)),
            ))),
        }
    }

    /// What the failure of an exchange with `peer` means.
    fn failure(
        &self,
        peer: PartyId,
        pin: Option<&Pin>,
        error: &io::Error,
        socket: &TcpStream,
    ) -> Failure {
        if let Some((expected, seen)) = pin.and_then(Pin::refused) {
            let fault = KeyFault::Theirs { expected, seen };
            linger(socket);
            return Failure::Final(NetError::WrongKey(peer, fault));
        }
        let tls = error
            .get_ref()
            .and_then(|cause| cause.downcast_ref::<rustls::Error>());
        match (tls, error.kind()) {
            (Some(rustls::Error::AlertReceived(AlertDescription::AccessDenied)), _) => {
                let shown = self.config.identity.public_key();
                Failure::Final(NetError::WrongKey(peer, KeyFault::Ours { shown }))
            }
            (Some(error @ rustls::Error::InvalidMessage(_)), _) => {
                let what = format!("{} sent no TLS: {error}", from(socket));
                Failure::Stranger(NetError::Malformed(peer, what))
            }
            (Some(error), _) => Failure::Stranger(NetError::Tls(peer, error.to_string())),
            (None, ErrorKind::InvalidData) => {
                let what = format!("{}: {error}", from(socket));
                Failure::Stranger(NetError::Malformed(peer, what))
            }
            (None, kind) if is_timeout(kind) => Failure::Stranger(NetError::Stalled(
                peer,
                self.config.limits.connect.as_secs(),
            )),
            (None, kind) if is_closed(kind) => {
                Failure::Gone("it closed the connection before the greeting".into())
            }
            (None, _) => Failure::Gone(error.to_string()),
        }
    }
}

impl Met {
    /// Starts the transport to the peer that was met.
    pub(crate) fn start(self, config: &MeshConfig) -> Result<TcpTransport, NetError> {
        TcpTransport::start(self.socket, self.cipher, config.limits, self.peer_silence)
            .map_err(|error| NetError::Io(self.peer, error.to_string()))
    }
}

/// The dialler's side of the greeting. An acceptor that refuses this party says why and closes,
/// perhaps while the hello is still being written; so a closed connection is read to its end.
fn greet_first(stream: &mut (impl Read + Write), hello: &Hello) -> io::Result<Hello> {
    match hello.write(stream) {
        Ok(()) => Hello::read(stream),
        Err(error) if is_closed(error.kind()) => Hello::read(stream).and(Err(error)),
        Err(error) => Err(error),
    }
}

/// The acceptor's side of the greeting. It answers before it judges, so that both sides know both
/// versions.
fn greet_second(stream: &mut (impl Read + Write), hello: &Hello) -> io::Result<Hello> {
    let theirs = Hello::read(stream)?;
    hello.write(stream)?;
    Ok(theirs)
}

/// Sends the alert that tells the other end why its handshake failed, if one is waiting.
fn say_last_words<T>(connection: &mut ConnectionCommon<T>, timed: &mut Timed<'_>) {
    while connection.wants_write() && connection.write_tls(timed).is_ok_and(|bytes| bytes > 0) {}
}

/// Judges the peer's hello.
fn finish(ours: Hello, theirs: Hello, socket: TcpStream, cipher: Cipher) -> Result<Met, Failure> {
    match ours.check(&theirs) {
        Ok(()) => Ok(Met {
            peer: ours.to,
            socket,
            cipher,
            peer_silence: theirs.silence,
        }),
        Err(error) => {
            linger(&socket);
            Err(Failure::Final(error))
        }
    }
}

/// Ends `socket` in such a way that the other end can read what was sent last: a socket that is
/// closed with unread bytes in it takes them away.
fn linger(socket: &TcpStream) {
    let mut timed = Timed {
        socket,
        deadline: Instant::now() + REFUSAL_LINGER,
    };
    let mut ignored = [0; 4096];
    // Any failure here ends the wait, which is all that is wanted.
    let _ = socket.shutdown(Shutdown::Write);
    while timed.read(&mut ignored).is_ok_and(|bytes| bytes > 0) {}
}

/// Where a connection comes from, for people.
fn from(socket: &TcpStream) -> String {
    let address = socket
        .peer_addr()
        .as_ref()
        .map_or("?".into(), SocketAddr::to_string);
    format!("the connection with {address}")
}

/// A socket on which all waiting together ends at a deadline, however slowly bytes trickle.
struct Timed<'a> {
    socket: &'a TcpStream,
    deadline: Instant,
}

impl Timed<'_> {
    fn left(&self) -> io::Result<Option<Duration>> {
        match self.deadline.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(ErrorKind::TimedOut.into()),
            left => Ok(Some(left)),
        }
    }
}

impl Read for Timed<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.socket.set_read_timeout(self.left()?)?;
        self.socket.read(into)
    }
}

impl Write for Timed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.socket.set_write_timeout(self.left()?)?;
        self.socket.write(bytes)
    }

    fn write_vectored(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        self.socket.set_write_timeout(self.left()?)?;
        self.socket.write_vectored(pieces)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
