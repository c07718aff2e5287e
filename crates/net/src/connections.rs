//! Outgoing and incoming TCP connections of one party while parties meet: dialling until a peer
//! answers, accepting whoever dials in, each in a thread of its own, and a way to close all of
//! them.

use std::collections::BTreeMap;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::MeshConfig;
use crate::error::{NetError, Result};
use crate::hello::Purpose;
use crate::meeting::{Caller, Failure, Host};
use crate::waker::Waker;
use sealane_parties::PartyId;

/// Pause before the second attempt to dial.
const FIRST_PAUSE: Duration = Duration::from_millis(5);

/// Longest pause between two attempts to dial.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// Longest wait for an answer to one attempt to dial. A gathering that ends early waits for it.
const DIAL_TIMEOUT: Duration = Duration::from_secs(3);

/// Longest time that an incoming connection may take for its handshake and greeting, or for a whole
/// probe.
pub(crate) const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);

/// Most incoming connections that are served at the same time.
const MAX_INCOMING: usize = 64;

/// Binds a listener to this party's own address.
pub(crate) fn listen(config: &MeshConfig) -> Result<TcpListener> {
    let own = &config.parties[config.me.index()].address;
    let address = config.listen.as_ref().unwrap_or(own);
    let listener = TcpListener::bind(address)
        .and_then(|listener| listener.set_nonblocking(true).map(|()| listener));
    listener.map_err(|error| {
        let (address, reason) = (address.clone(), error.to_string());
        NetError::Listen { address, reason }
    })
}

/// An incoming connection from which nothing has been read yet.
pub(crate) struct Incoming {
    /// Number of the connection.
    pub(crate) number: usize,
    pub(crate) socket: TcpStream,
    /// Number of other connections that were closed to make room.
    pub(crate) crowded_out: usize,
}

/// Takes the next incoming connection, if there is one.
pub(crate) fn next_incoming(connections: &Connections, listener: &TcpListener) -> Option<Incoming> {
    let (socket, _) = listener.accept().ok()?;
    // Some systems pass the listener's blocking mode on to its connections.
    socket.set_nonblocking(false).ok()?;
    let (number, crowded_out) = connections.add_incoming(socket.try_clone().ok()?);
    Some(Incoming {
        number,
        socket,
        crowded_out,
    })
}

/// Outcome of accepting one incoming connection.
pub(crate) struct Accepted {
    /// Number of the connection.
    pub(crate) number: usize,
    pub(crate) outcome: Result<Caller, Failure>,
    /// Remote address of the connection.
    pub(crate) caller: Option<SocketAddr>,
    /// Set if the connection failed and comes from the host of the party that it claims to be.
    pub(crate) at_home: bool,
}

/// Handshakes with an incoming connection. `missing` is a party that has not been met yet.
pub(crate) fn accept(
    host: &Host<'_>,
    connections: &Connections,
    number: usize,
    socket: TcpStream,
    missing: PartyId,
) -> Accepted {
    let caller = socket.peer_addr().ok();
    let since = Instant::now();
    let spoken = since + HANDSHAKE_TIMEOUT;
    let deadline = match host.purpose {
        Purpose::Run => host.deadline.min(spoken),
        _ => spoken,
    };
    if await_words(&socket, deadline) {
        connections.has_spoken(number);
    }
    let outcome = host.accept(socket, missing, since, deadline);
    let claimed = match &outcome {
        Err(Failure::Unproven(error)) => error.party(),
        _ => None,
    };
    let is_of = |party: PartyId| {
        let address = &host.config.parties[party.index()].address;
        caller.is_some_and(|caller| is_host_of(caller, address))
    };
    let at_home = claimed.is_some_and(is_of);
    Accepted {
        number,
        outcome,
        caller,
        at_home,
    }
}

/// Waits until the peer of `socket` sends anything, at most until `deadline`; consumes nothing.
pub(crate) fn await_words(socket: &TcpStream, deadline: Instant) -> bool {
    let left = deadline.saturating_duration_since(Instant::now());
    // A time-out of zero is not allowed, so an expired deadline fails here without a wait.
    let timed = socket.set_read_timeout(Some(left));
    timed.is_ok() && socket.peek(&mut [0]).is_ok_and(|bytes| bytes > 0)
}

/// Dials `peer` until `talk` with it succeeds or fails for good, the deadline passes, or all
/// connections are closed.
pub(crate) fn dial<T>(
    host: &Host<'_>,
    connections: &Connections,
    peer: PartyId,
    talk: impl Fn(TcpStream) -> Result<T, Failure>,
) -> Result<T> {
    let address = &host.config.parties[peer.index()].address;
    let started = Instant::now();
    let mut pause = FIRST_PAUSE;
    let waker = Waker::default();
    host.config.cancel.add_waker(&waker);
    loop {
        // A probe makes at least one full attempt, however short the wait.
        let dialled_until = match host.purpose {
            Purpose::Run => host.deadline,
            _ => host.deadline.max(Instant::now() + DIAL_TIMEOUT),
        };
        let socket = open(address, dialled_until, connections);
        let attempt = socket.map_err(Failure::from).and_then(|socket| {
            connections.add_dialled(peer, &socket)?;
            talk(socket)
        });
        let cause = match attempt {
            Ok(said) => return Ok(said),
            Err(Failure::Unproven(error) | Failure::Final(error)) => return Err(error),
            Err(Failure::Gone(cause)) => cause,
        };
        let over = connections.is_over() || host.config.cancel.is_cancelled();
        if over || Instant::now() + pause >= host.deadline {
            let waited = started.elapsed().as_secs_f32();
            let reason = format!("{cause} (after {waited:.1} s of trying)");
            return Err(NetError::unreachable(peer, address, reason));
        }
        waker.wait_until(Instant::now() + pause);
        pause = (2 * pause).min(LONGEST_PAUSE);
    }
}

/// Connects to the first of the addresses of `address` that answers.
fn open(address: &str, deadline: Instant, connections: &Connections) -> io::Result<TcpStream> {
    let nowhere = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    let mut result = Err(nowhere);
    for candidate in address.to_socket_addrs()? {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || connections.is_over() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        result = TcpStream::connect_timeout(&candidate, left.min(DIAL_TIMEOUT));
        // On one machine, a dialler can connect to itself on a port without a listener.
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

/// Returns whether `caller` comes from the host of `address`.
fn is_host_of(caller: SocketAddr, address: &str) -> bool {
    let caller = caller.ip().to_canonical();
    let addresses = address.to_socket_addrs();
    addresses.is_ok_and(|mut all| all.any(|address| address.ip().to_canonical() == caller))
}

/// Handles of all connections that a thread still uses, for closing them.
#[derive(Default)]
pub(crate) struct Connections(Mutex<OpenConnections>);

#[derive(Default)]
struct OpenConnections {
    over: bool,
    /// Connections that this party has dialled.
    dialled: BTreeMap<PartyId, TcpStream>,
    /// Incoming connections, by number.
    incoming: BTreeMap<usize, Accepting>,
    numbers: usize,
}

/// An incoming connection in its handshake.
struct Accepting {
    handle: TcpStream,
    /// Set once the peer has sent anything.
    has_spoken: bool,
}

impl OpenConnections {
    /// Chooses the incoming connection to close when there are too many: the oldest one that has
    /// sent nothing, or else the oldest one. Silent connections go first because they cost the
    /// other side nothing to open.
    fn most_dispensable(&self) -> Option<usize> {
        let mut silent = self.incoming.iter().filter(|(_, talk)| !talk.has_spoken);
        let (number, _) = silent.next().or_else(|| self.incoming.first_key_value())?;
        Some(*number)
    }
}

impl Connections {
    /// Adds an incoming connection; returns its number and the number of connections closed for it.
    fn add_incoming(&self, handle: TcpStream) -> (usize, usize) {
        let mut open = self.lock();
        let mut crowded_out = 0;
        while open.incoming.len() >= MAX_INCOMING
            && let Some(number) = open.most_dispensable()
            && let Some(talk) = open.incoming.remove(&number)
        {
            let _ = talk.handle.shutdown(Shutdown::Both);
            crowded_out += 1;
        }
        let (number, has_spoken) = (open.numbers, false);
        open.numbers += 1;
        let accepting = Accepting { handle, has_spoken };
        open.incoming.insert(number, accepting);
        (number, crowded_out)
    }

    /// Marks a connection whose peer has sent something.
    pub(crate) fn has_spoken(&self, number: usize) {
        if let Some(talk) = self.lock().incoming.get_mut(&number) {
            talk.has_spoken = true;
        }
    }

    /// Adds a connection that this party has dialled to `peer`.
    fn add_dialled(&self, peer: PartyId, socket: &TcpStream) -> Result<(), Failure> {
        let mut open = self.lock();
        if open.over {
            return Err(Failure::Gone("the meeting is over".into()));
        }
        open.dialled.insert(peer, socket.try_clone()?);
        Ok(())
    }

    /// Removes the incoming connection of this number.
    pub(crate) fn remove_incoming(&self, number: usize) {
        self.lock().incoming.remove(&number);
    }

    /// Removes the connection that this party has dialled to `peer`.
    pub(crate) fn remove_dialled(&self, peer: PartyId) {
        self.lock().dialled.remove(&peer);
    }

    /// Returns whether any connection is still in use.
    pub(crate) fn any_open(&self) -> bool {
        let open = self.lock();
        !open.dialled.is_empty() || !open.incoming.is_empty()
    }

    fn is_over(&self) -> bool {
        self.lock().over
    }

    /// Closes all connections, so that the threads that use them end too.
    pub(crate) fn close_all(&self) {
        let mut open = self.lock();
        open.over = true;
        let incoming = open.incoming.values().map(|talk| &talk.handle);
        for socket in open.dialled.values().chain(incoming) {
            let _ = socket.shutdown(Shutdown::Both);
        }
    }

    /// The handles. No code panics while it holds the lock, so a poisoned lock holds a sound state.
    fn lock(&self) -> MutexGuard<'_, OpenConnections> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_said_nothing_makes_room_first() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let handle = || TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let connections = Connections::default();
        for number in 0..MAX_INCOMING {
            assert_eq!(connections.add_incoming(handle()), (number, 0));
        }
        connections.has_spoken(0);
        connections.has_spoken(2);
        let is_here = |number: usize| connections.lock().incoming.contains_key(&number);
        assert_eq!(connections.add_incoming(handle()).1, 1);
        assert_eq!(connections.add_incoming(handle()).1, 1);
        let here = [0, 1, 2, 3, 4].map(is_here);
        assert_eq!(here, [true, false, true, false, true]);
        (0..MAX_INCOMING + 2).for_each(|number| connections.has_spoken(number));
        assert_eq!(connections.add_incoming(handle()).1, 1);
        assert_eq!([0, 2].map(is_here), [false, true]);
    }
}
