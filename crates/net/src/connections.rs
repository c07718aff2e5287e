//! One call of one party to another, in a thread of its own: dialling until somebody answers,
//! hearing whoever dials in, and the means to end all talks at once.

use std::collections::BTreeMap;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::NetError;
use crate::hello::Purpose;
use crate::meeting::{Caller, Failure, Host};
use crate::waker::Waker;
use crate::{MeshConfig, PartyId};

/// Pause before the second attempt to dial.
const FIRST_PAUSE: Duration = Duration::from_millis(5);

/// Longest pause between two attempts to dial.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// Longest wait for an answer to one attempt to dial. A gathering that ends early waits for it.
const DIAL_TIMEOUT: Duration = Duration::from_secs(3);

/// How long one who has dialled in may take until both have greeted each other, or a whole probe.
pub(crate) const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);

/// Connections with those who have dialled in that go on at the same time.
const MAX_INCOMING: usize = 64;

/// Listens at this party's own address.
pub(crate) fn listen(config: &MeshConfig) -> Result<TcpListener, NetError> {
    let address = config
        .listen
        .as_ref()
        .unwrap_or(&config.parties[config.me.index()].address);
    TcpListener::bind(address)
        .and_then(|listener| listener.set_nonblocking(true).map(|()| listener))
        .map_err(|error| NetError::Listen(address.clone(), error.to_string()))
}

/// One who has dialled in and has not been heard yet.
pub(crate) struct Incoming {
    /// The number of the talk.
    pub(crate) number: usize,
    pub(crate) socket: TcpStream,
    /// How many others had to make room.
    pub(crate) crowded_out: usize,
}

/// The next who has dialled in, if anybody has.
pub(crate) fn next_incoming(connections: &Connections, listener: &TcpListener) -> Option<Incoming> {
    let (socket, _) = listener.accept().ok()?;
    // Some systems hand the listener's mode on to its connections.
    socket.set_nonblocking(false).ok()?;
    let (number, crowded_out) = connections.add_incoming(socket.try_clone().ok()?);
    Some(Incoming {
        number,
        socket,
        crowded_out,
    })
}

/// What came of hearing one who has dialled in.
pub(crate) struct Accepted {
    /// The number of the talk.
    pub(crate) number: usize,
    pub(crate) outcome: Result<Caller, Failure>,
    /// Where the connection comes from.
    pub(crate) caller: Option<SocketAddr>,
    /// Whether one that failed comes from the host of the party that it claims to be.
    pub(crate) at_home: bool,
}

/// Hears one who has dialled in. `missing` is a party who is waited for.
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
    Accepted {
        number,
        outcome,
        caller,
        at_home: claimed.is_some_and(is_of),
    }
}

/// Whether the other end of `socket` says anything by `deadline`; what it says stays to be read.
fn await_words(socket: &TcpStream, deadline: Instant) -> bool {
    let left = deadline.saturating_duration_since(Instant::now());
    // There is no time-out of zero, and no wait.
    let timed = socket.set_read_timeout(Some(left));
    timed.is_ok() && socket.peek(&mut [0]).is_ok_and(|bytes| bytes > 0)
}

/// Dials `peer` until `talk` with it has come to something, the deadline passes or all is over.
pub(crate) fn dial<T>(
    host: &Host<'_>,
    connections: &Connections,
    peer: PartyId,
    talk: impl Fn(TcpStream) -> Result<T, Failure>,
) -> Result<T, NetError> {
    let address = &host.config.parties[peer.index()].address;
    let started = Instant::now();
    let mut pause = FIRST_PAUSE;
    let waker = Waker::default();
    host.config.cancel.add_waker(&waker);
    loop {
        // A probe is let ring at least once, however short the wait.
        let dialled_until = match host.purpose {
            Purpose::Run => host.deadline,
            _ => host.deadline.max(Instant::now() + DIAL_TIMEOUT),
        };
        let attempt = match open(address, dialled_until, connections) {
            Ok(socket) => connections
                .add_dialled(peer, &socket)
                .and_then(|()| talk(socket)),
            Err(error) => Err(Failure::Gone(error.to_string())),
        };
        let cause = match attempt {
            Ok(said) => return Ok(said),
            Err(Failure::Unproven(error) | Failure::Final(error)) => return Err(error),
            Err(Failure::Gone(cause)) => cause,
        };
        let over = connections.is_over() || host.config.cancel.is_cancelled();
        if over || Instant::now() + pause >= host.deadline {
            let waited = started.elapsed().as_secs_f32();
            let cause = format!("{cause} (after {waited:.1} s of trying)");
            return Err(NetError::Unreachable(peer, address.clone(), cause));
        }
        waker.wait_until(Instant::now() + pause);
        pause = (2 * pause).min(LONGEST_PAUSE);
    }
}

/// A connection with the first of the addresses of `address` that answers.
fn open(address: &str, deadline: Instant, connections: &Connections) -> io::Result<TcpStream> {
    let mut result = Err(io::Error::new(
        io::ErrorKind::NotFound,
        "the name has no address",
    ));
    for candidate in address.to_socket_addrs()? {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || connections.is_over() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        result = TcpStream::connect_timeout(&candidate, left.min(DIAL_TIMEOUT));
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

/// Whether `caller` comes from the host of `address`.
fn is_host_of(caller: SocketAddr, address: &str) -> bool {
    let caller = caller.ip().to_canonical();
    let addresses = address.to_socket_addrs();
    addresses.is_ok_and(|mut all| all.any(|address| address.ip().to_canonical() == caller))
}

/// Handles of all connections on which a thread still talks, by which these can be ended.
#[derive(Default)]
pub(crate) struct Connections(Mutex<OpenConnections>);

#[derive(Default)]
struct OpenConnections {
    over: bool,
    /// Connections that this party has dialled.
    dialled: BTreeMap<PartyId, TcpStream>,
    /// Connections of those who have dialled in, by number.
    incoming: BTreeMap<usize, Accepting>,
    numbers: usize,
}

/// A connection of one who has dialled in.
struct Accepting {
    handle: TcpStream,
    /// Whether it has said anything yet.
    has_spoken: bool,
}

impl OpenConnections {
    /// Who makes room for others: the one who has been silent for longest, or else the one who has
    /// been here for longest. Who connects and is silent costs nothing and comes first.
    fn most_dispensable(&self) -> Option<usize> {
        let mut silent = self.incoming.iter().filter(|(_, talk)| !talk.has_spoken);
        let (number, _) = silent.next().or_else(|| self.incoming.first_key_value())?;
        Some(*number)
    }
}

impl Connections {
    /// Begins a talk with one who has dialled in: its number, and how many others it has crowded
    /// out.
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
        let number = open.numbers;
        open.numbers += 1;
        let has_spoken = false;
        open.incoming
            .insert(number, Accepting { handle, has_spoken });
        (number, crowded_out)
    }

    /// The other end of this talk has said something.
    fn has_spoken(&self, number: usize) {
        if let Some(talk) = self.lock().incoming.get_mut(&number) {
            talk.has_spoken = true;
        }
    }

    /// Begins a talk with `peer`, whom this party has dialled.
    fn add_dialled(&self, peer: PartyId, socket: &TcpStream) -> Result<(), Failure> {
        let gone = |error: io::Error| Failure::Gone(error.to_string());
        let mut open = self.lock();
        if open.over {
            return Err(Failure::Gone("the meeting is over".into()));
        }
        open.dialled.insert(peer, socket.try_clone().map_err(gone)?);
        Ok(())
    }

    /// The talk of this number is over.
    pub(crate) fn remove_incoming(&self, number: usize) {
        self.lock().incoming.remove(&number);
    }

    /// The talk with `peer`, whom this party has dialled, is over.
    pub(crate) fn remove_dialled(&self, peer: PartyId) {
        self.lock().dialled.remove(&peer);
    }

    /// Whether a thread still talks to anybody.
    pub(crate) fn any_open(&self) -> bool {
        let open = self.lock();
        !open.dialled.is_empty() || !open.incoming.is_empty()
    }

    fn is_over(&self) -> bool {
        self.lock().over
    }

    /// Ends all talks, so that the threads that talk end too.
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
        assert_eq!(
            [0, 1, 2, 3, 4].map(is_here),
            [true, false, true, false, true]
        );
        (0..MAX_INCOMING + 2).for_each(|number| connections.has_spoken(number));
        assert_eq!(connections.add_incoming(handle()).1, 1);
        assert_eq!([0, 2].map(is_here), [false, true]);
    }
}
