//! How all parties of a run come together: each pair meets once, at the same time as all others.
//!
//! Of two parties, the one with the lower index listens at its own address and the other dials, so
//! that a run of n parties needs no coordinator and each pair has exactly one connection. Diallers
//! try again until the listener is there. Every connection is heard by a thread of its own, so that
//! one that says nothing keeps nobody waiting.
//!
//! **Whose fault?** Anybody may reach the port at which a party listens, so what goes wrong there
//! is judged by what is certain ([`Gathering::judge`]):
//! * A failure with a party that has proved to hold its key ends the gathering at once. So does one
//!   at an address that this party dials, since its user has chosen it.
//! * Who claims to be a party and shows another key proves nothing. If the connection comes from
//!   the very host at which that party is configured, a mistake in the keys is far likelier than an
//!   attack, and the user is told at once; the price is that somebody on that host can end a
//!   gathering. From anywhere else, it is remembered and told if the party does not come.
//! * Whatever else connects is turned away, counted, and told only where the run does not come
//!   about. It has [`LONGEST_TALK`] to speak, and the one that has been here longest makes room
//!   when too many are.
//!
//! A party that was met and then ends, ends the gathering. A party that gives up says why to all
//! whom it has met, so that all users hear the cause.

use std::collections::BTreeMap;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use crate::error::{LinkError, NetError};
use crate::meeting::{Failure, Host, Met};
use crate::tcp::TcpTransport;
use crate::{Farewell, MeshConfig, PartyId, Transport};

/// Pause between two looks at a listener, and before the second attempt to dial.
const FIRST_PAUSE: Duration = Duration::from_millis(5);

/// Longest pause between two attempts to dial.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// Longest wait for an answer to one attempt to dial. A gathering that ends early waits for it.
const LONGEST_RING: Duration = Duration::from_secs(3);

/// How long one who has dialled in may take until both have greeted each other.
const LONGEST_TALK: Duration = Duration::from_secs(5);

/// How long reports of attempts that end with the deadline are waited for.
const REPORT_GRACE: Duration = Duration::from_millis(200);

/// Attempts of others that are heard at the same time.
const MAX_ATTEMPTS: usize = 64;

/// All that a party has when it has met all others.
pub(crate) struct Gathered {
    /// One element a party; none for this one.
    pub(crate) transports: Vec<Option<Box<dyn Transport>>>,
    /// Connections of strangers that came to nothing.
    pub(crate) turned_away: usize,
}

/// Meets all others, or says why not by the deadline.
pub(crate) fn gather(host: &Host<'_>) -> Result<Gathered, NetError> {
    let config = host.config;
    let parties = config.parties.len();
    // Listens first, so that nobody's dialling waits for this party's own.
    let listener = match config.me.index() + 1 < parties {
        true => Some(listen(config)?),
        false => None,
    };
    let talks = Talks::default();
    let (report, reports) = mpsc::channel();
    let mut gathering = Gathering {
        host,
        talks: &talks,
        report,
        reports,
        met: (0..parties).map(|_| None).collect(),
        suspicion: None,
        turned_away: 0,
        last_stranger: None,
    };
    let result = thread::scope(|threads| {
        let result = gathering.run(threads, listener.as_ref());
        // Frees the threads that still listen to somebody.
        talks.end();
        result
    });
    gathering.leave(result)
}

/// What a thread reports of its attempt.
enum Report {
    /// Of dialling this party.
    Dialled(PartyId, Result<Met, NetError>),
    /// Of hearing the connection of this number, and whether one that failed comes from the host
    /// of the party that it claims to be.
    Heard(usize, Result<Met, Failure>, bool),
}

/// The state of one gathering.
struct Gathering<'a> {
    host: &'a Host<'a>,
    talks: &'a Talks,
    report: Sender<Report>,
    reports: Receiver<Report>,
    met: Vec<Option<TcpTransport>>,
    /// What looks like a party's fault but is not certain.
    suspicion: Option<NetError>,
    turned_away: usize,
    last_stranger: Option<NetError>,
}

impl<'a> Gathering<'a> {
    fn run<'scope>(
        &mut self,
        threads: &'scope Scope<'scope, 'a>,
        listener: Option<&TcpListener>,
    ) -> Result<(), NetError> {
        let (host, talks) = (self.host, self.talks);
        for lower in (0..host.config.me.index()).map(PartyId::from_index) {
            let report = self.report.clone();
            // The receiver outlives all threads, so no report is lost.
            threads.spawn(move || report.send(Report::Dialled(lower, dial(host, talks, lower))));
        }
        loop {
            let missing = self.missing();
            if missing.is_empty() {
                return Ok(());
            }
            self.see_that_all_stay()?;
            if Instant::now() >= host.deadline {
                return Err(self.incomplete(None));
            }
            // Nobody is listened to once all who are to dial in have done so.
            let caller = missing.into_iter().find(|party| *party > host.config.me);
            while let (Some(listener), Some(missing)) = (listener, caller)
                && let Some((number, socket)) = self.next_caller(listener)
            {
                let report = self.report.clone();
                threads.spawn(move || report.send(hear(host, number, socket, missing)));
            }
            if let Ok(report) = self.reports.recv_timeout(FIRST_PAUSE) {
                self.take(report)?;
            }
        }
    }

    /// The parties that have not been met.
    fn missing(&self) -> Vec<PartyId> {
        let me = self.host.config.me;
        let parties = (0..self.met.len()).map(PartyId::from_index);
        let is_missing = |party: &PartyId| *party != me && self.met[party.index()].is_none();
        parties.filter(is_missing).collect()
    }

    /// One who was met may die, or give up because it cannot meet another. One who has finished
    /// already needs nobody any more.
    fn see_that_all_stay(&self) -> Result<(), NetError> {
        for (party, met) in self.met.iter().enumerate() {
            match met.as_ref().and_then(TcpTransport::end) {
                None | Some(LinkError::Finished) => {}
                Some(end) => return Err(NetError::on_link(PartyId::from_index(party), end)),
            }
        }
        Ok(())
    }

    /// The next who has dialled in, if anybody has.
    fn next_caller(&mut self, listener: &TcpListener) -> Option<(usize, TcpStream)> {
        let (socket, _) = listener.accept().ok()?;
        // Some systems hand the listener's mode on to its connections.
        socket.set_nonblocking(false).ok()?;
        let (number, crowded_out) = self.talks.begin(socket.try_clone().ok()?);
        self.turned_away += crowded_out;
        Some((number, socket))
    }

    fn take(&mut self, report: Report) -> Result<(), NetError> {
        match report {
            Report::Dialled(peer, outcome) => {
                self.talks.hang_up(peer);
                match outcome {
                    Ok(met) => self.welcome(met),
                    Err(error @ NetError::Unreachable(..)) => Err(self.incomplete(Some(error))),
                    Err(error) => Err(error),
                }
            }
            Report::Heard(number, outcome, at_home) => {
                self.talks.finish(number);
                match outcome {
                    Ok(met) => self.welcome(met),
                    Err(failure) => self.judge(failure, at_home),
                }
            }
        }
    }

    /// Starts the transport to one who was met. Its signs of life begin here, and this party
    /// notices from here on if that one ends while others are waited for.
    fn welcome(&mut self, met: Met) -> Result<(), NetError> {
        let place = met.peer.index();
        // Of two connections with the same right key, the first stands.
        if self.met[place].is_none() {
            self.met[place] = Some(met.start(self.host.config)?);
        }
        Ok(())
    }

    /// What the failure of one who dialled in means; an error if it ends the gathering.
    fn judge(&mut self, failure: Failure, at_home: bool) -> Result<(), NetError> {
        match failure {
            Failure::Gone(_) => {}
            Failure::Final(error) => return Err(error),
            Failure::Unproven(error) => {
                if is_of_keys(&error) && at_home {
                    return Err(error);
                }
                self.turned_away += 1;
                if is_of_keys(&error) {
                    self.suspicion = Some(error);
                } else if at_home {
                    self.suspicion.get_or_insert(error);
                } else {
                    self.last_stranger = Some(error);
                }
            }
        }
        Ok(())
    }

    /// Why not all have been met by the deadline; `unreachable` is what the first to fail of those
    /// whom this party dials came to.
    fn incomplete(&mut self, unreachable: Option<NetError>) -> NetError {
        while let Ok(report) = self.reports.recv_timeout(REPORT_GRACE) {
            match report {
                Report::Heard(_, Err(failure), at_home) => {
                    if let Err(error) = self.judge(failure, at_home) {
                        return error;
                    }
                }
                Report::Dialled(_, Err(error)) if !matches!(error, NetError::Unreachable(..)) => {
                    return error;
                }
                // One who is met now is met too late; another who is not is missing as well.
                Report::Heard(_, Ok(_), _) | Report::Dialled(..) => {}
            }
        }
        self.suspicion
            .take()
            .unwrap_or_else(|| self.absence(unreachable))
    }

    /// The error that names all who are missing.
    fn absence(&self, unreachable: Option<NetError>) -> NetError {
        let config = self.host.config;
        let (first, address, mut cause) = match unreachable {
            Some(NetError::Unreachable(party, address, cause)) => (party, address, cause),
            _ => {
                let first = *self.missing().first().unwrap_or(&config.me);
                let own = &config.parties[config.me.index()].address;
                let waited = config.limits.connect.as_secs_f32();
                let address = config.parties[first.index()].address.clone();
                (
                    first,
                    address,
                    format!("it did not dial {own} within {waited} s"),
                )
            }
        };
        let others = self.missing().into_iter().filter(|party| *party != first);
        let others: Vec<_> = others.map(|party| config.name(party)).collect();
        if !others.is_empty() {
            cause += &format!("; missing as well: {}", others.join(", "));
        }
        if self.turned_away > 0 {
            cause += &format!(
                "; connections of strangers turned away: {}",
                self.turned_away
            );
        }
        if let Some(stranger) = &self.last_stranger {
            cause += &format!(", of the last: {stranger}");
        }
        NetError::Unreachable(first, address, cause)
    }

    /// Hands over the transports, or tells those who were met why this party gives up.
    fn leave(self, result: Result<(), NetError>) -> Result<Gathered, NetError> {
        let mut transports = self.met;
        if let Err(error) = result {
            let reason = error.with_names(&self.host.config.names()).to_string();
            for transport in transports.iter_mut().flatten() {
                transport.shutdown(Farewell::Abort(&reason));
            }
            return Err(error);
        }
        let boxed = |transport| Box::new(transport) as Box<dyn Transport>;
        let transports = transports.into_iter().map(|transport| transport.map(boxed));
        Ok(Gathered {
            transports: transports.collect(),
            turned_away: self.turned_away,
        })
    }
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

/// Hears one who has dialled in.
fn hear(host: &Host<'_>, number: usize, socket: TcpStream, missing: PartyId) -> Report {
    let caller = socket.peer_addr();
    let deadline = host.deadline.min(Instant::now() + LONGEST_TALK);
    let outcome = host.accept(socket, missing, deadline);
    let at_home = match (&outcome, caller) {
        (Err(Failure::Unproven(error)), Ok(caller)) => error
            .party()
            .is_some_and(|party| is_host_of(caller, &host.config.parties[party.index()].address)),
        _ => false,
    };
    Report::Heard(number, outcome, at_home)
}

/// Dials until `peer` is met, the deadline passes or the gathering is over.
fn dial(host: &Host<'_>, talks: &Talks, peer: PartyId) -> Result<Met, NetError> {
    let address = &host.config.parties[peer.index()].address;
    let mut pause = FIRST_PAUSE;
    loop {
        let attempt = match open(address, host.deadline) {
            Ok(socket) => talks
                .call(peer, &socket)
                .and_then(|()| host.dial(socket, peer)),
            Err(error) => Err(Failure::Gone(error.to_string())),
        };
        let cause = match attempt {
            Ok(met) => return Ok(met),
            Err(Failure::Unproven(error) | Failure::Final(error)) => return Err(error),
            Err(Failure::Gone(cause)) => cause,
        };
        if talks.is_over() || Instant::now() + pause >= host.deadline {
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
        result = TcpStream::connect_timeout(&candidate, left.min(LONGEST_RING));
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

/// Whether the error is that of a party whose key or place is another than expected.
fn is_of_keys(error: &NetError) -> bool {
    matches!(error, NetError::WrongKey(..) | NetError::WrongParty(..))
}

/// Handles of all connections on which a thread still talks, by which these can be ended.
#[derive(Default)]
struct Talks(Mutex<Open>);

#[derive(Default)]
struct Open {
    over: bool,
    /// Connections that this party has dialled.
    dialled: BTreeMap<PartyId, TcpStream>,
    /// Connections of those who have dialled in, by number.
    heard: BTreeMap<usize, TcpStream>,
    numbers: usize,
}

impl Talks {
    /// Begins a talk with one who has dialled in: its number, and how many others it has crowded
    /// out.
    fn begin(&self, handle: TcpStream) -> (usize, usize) {
        let mut open = self.lock();
        let mut crowded_out = 0;
        while open.heard.len() >= MAX_ATTEMPTS
            && let Some((_, oldest)) = open.heard.pop_first()
        {
            let _ = oldest.shutdown(Shutdown::Both);
            crowded_out += 1;
        }
        let number = open.numbers;
        open.numbers += 1;
        open.heard.insert(number, handle);
        (number, crowded_out)
    }

    /// Begins a talk with `peer`, whom this party has dialled.
    fn call(&self, peer: PartyId, socket: &TcpStream) -> Result<(), Failure> {
        let gone = |error: io::Error| Failure::Gone(error.to_string());
        let mut open = self.lock();
        if open.over {
            return Err(Failure::Gone("the meeting is over".into()));
        }
        open.dialled.insert(peer, socket.try_clone().map_err(gone)?);
        Ok(())
    }

    fn finish(&self, number: usize) {
        self.lock().heard.remove(&number);
    }

    fn hang_up(&self, peer: PartyId) {
        self.lock().dialled.remove(&peer);
    }

    fn is_over(&self) -> bool {
        self.lock().over
    }

    /// Ends all talks, so that the threads that talk end too.
    fn end(&self) {
        let mut open = self.lock();
        open.over = true;
        for socket in open.dialled.values().chain(open.heard.values()) {
            let _ = socket.shutdown(Shutdown::Both);
        }
    }

    /// The handles. No code panics while it holds the lock, so a poisoned lock holds a sound state.
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
