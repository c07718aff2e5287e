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
//! * Who claims to be a party and shows another key proves nothing, wherever the connection comes
//!   from: many share a host, and whoever is on the way can take its address. It is remembered, and
//!   told if the party does not come; first of all what came from the host at which that party is
//!   configured, where a mistake in the keys is likelier than an attack.
//! * A party that only probes is answered (`probe.rs`), which changes nothing here.
//! * Whatever else connects is turned away, counted, and told only where the run does not come
//!   about. Its time to speak is short, and when there are too many, one that has said nothing yet
//!   makes room, or else the one that has been here longest (`calls.rs`).
//!
//! A party that was met and then ends, ends the gathering; where it has waited for others in vain, what
//! is remembered of these is told instead. A party that gives up says why to all
//! whom it has met or is just meeting, so that all users hear the cause; who comes later finds
//! nobody.

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use crate::connections::{Accepted, Connections, accept, dial, listen, next_incoming};
use crate::error::{Cause, LinkError, NetError};
use crate::meeting::{Caller, Failure, Host, Met};
use crate::tcp::TcpTransport;
use crate::{Farewell, PartyId, Transport};

/// Pause between two looks at a listener.
const LOOK_PAUSE: Duration = Duration::from_millis(5);

/// How long reports of attempts that end with the gathering are waited for.
const REPORT_GRACE: Duration = Duration::from_millis(500);

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
    let connections = Connections::default();
    let (report, reports) = mpsc::channel();
    let mut gathering = Gathering {
        host,
        connections: &connections,
        report,
        reports,
        met: (0..parties).map(|_| None).collect(),
        suspicions: BTreeMap::new(),
        unreachable: BTreeMap::new(),
        turned_away: 0,
        last_turned_away: None,
    };
    let result = thread::scope(|threads| {
        let result = gathering.run(threads, listener.as_ref());
        if result.is_err() {
            gathering.hear_out();
        }
        // Frees the threads that still listen to somebody.
        connections.close_all();
        result
    });
    gathering.leave(result)
}

/// What a thread reports of its attempt.
enum Report {
    /// Of dialling this party.
    Dialled(PartyId, Result<Met, NetError>),
    /// Of hearing one who has dialled in.
    Accepted(Accepted),
}

/// The state of one gathering.
struct Gathering<'a> {
    host: &'a Host<'a>,
    connections: &'a Connections,
    report: Sender<Report>,
    reports: Receiver<Report>,
    met: Vec<Option<TcpTransport>>,
    /// What looks like a party's fault but is not certain, by party, with how likely it is.
    suspicions: BTreeMap<PartyId, (Likelihood, NetError)>,
    /// What dialling has come to where it failed for good, by party.
    unreachable: BTreeMap<PartyId, NetError>,
    turned_away: usize,
    /// Where the last of them came from.
    last_turned_away: Option<SocketAddr>,
}

impl<'a> Gathering<'a> {
    fn run<'scope>(
        &mut self,
        threads: &'scope Scope<'scope, 'a>,
        listener: Option<&TcpListener>,
    ) -> Result<(), NetError> {
        let (host, connections) = (self.host, self.connections);
        for lower in (0..host.config.me.index()).map(PartyId::from_index) {
            let report = self.report.clone();
            // The receiver outlives all threads, so no report is lost.
            let meet = move |socket| host.dial(socket, lower);
            threads.spawn(move || {
                let met = dial(host, connections, lower, meet);
                report.send(Report::Dialled(lower, met))
            });
        }
        loop {
            if self.missing().is_empty() {
                return Ok(());
            }
            host.config.cancel.check()?;
            self.see_that_all_stay()?;
            if Instant::now() >= host.deadline {
                return Err(self.incomplete());
            }
            // When all who are to dial in have done so, others may still probe.
            let caller = self.awaited_caller().unwrap_or(host.config.me);
            while let Some(listener) = listener
                && let Some((number, socket)) = self.next_incoming(listener)
            {
                let report = self.report.clone();
                threads.spawn(move || {
                    report.send(Report::Accepted(accept(
                        host,
                        connections,
                        number,
                        socket,
                        caller,
                    )))
                });
            }
            if let Ok(report) = self.reports.recv_timeout(LOOK_PAUSE) {
                self.take(report)?;
            }
        }
    }

    /// One of those who are to dial in and have not done so.
    fn awaited_caller(&self) -> Option<PartyId> {
        let me = self.host.config.me;
        self.missing().into_iter().find(|party| *party > me)
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
    fn see_that_all_stay(&mut self) -> Result<(), NetError> {
        let ends = self.met.iter().enumerate().find_map(|(party, met)| {
            let end = met.as_ref().and_then(Transport::end)?;
            let left = PartyId::from_index(party);
            (end != LinkError::Finished).then_some((left, end))
        });
        let Some((party, end)) = ends else {
            return Ok(());
        };
        // It has waited in vain for one of whom this party may know more.
        let in_vain = matches!(end, LinkError::Aborted(Cause::Network, _));
        let known = in_vain.then(|| self.likeliest()).flatten();
        Err(known.unwrap_or_else(|| NetError::on_link(party, end)))
    }

    /// The next who has dialled in, if anybody has.
    fn next_incoming(&mut self, listener: &TcpListener) -> Option<(usize, TcpStream)> {
        let caller = next_incoming(self.connections, listener)?;
        self.turned_away += caller.crowded_out;
        Some((caller.number, caller.socket))
    }

    fn take(&mut self, report: Report) -> Result<(), NetError> {
        match report {
            Report::Dialled(peer, outcome) => {
                self.connections.remove_dialled(peer);
                match outcome {
                    Ok(met) => self.welcome(met),
                    Err(error @ NetError::Unreachable(..)) => {
                        self.unreachable.insert(peer, error);
                        // A meeting that is cancelled ends by itself.
                        match self.host.config.cancel.is_cancelled() {
                            true => Ok(()),
                            false => Err(self.incomplete()),
                        }
                    }
                    Err(error) => Err(error),
                }
            }
            Report::Accepted(heard) => {
                self.connections.remove_incoming(heard.number);
                match heard.outcome {
                    Ok(Caller::Party(met)) => self.welcome(met),
                    Ok(Caller::Prober(Some(_))) => Ok(()),
                    Ok(Caller::Prober(None)) => {
                        self.turn_away(heard.caller);
                        Ok(())
                    }
                    Err(failure) => self.judge(failure, heard.caller, heard.at_home),
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
    fn judge(
        &mut self,
        failure: Failure,
        caller: Option<SocketAddr>,
        at_home: bool,
    ) -> Result<(), NetError> {
        let error = match failure {
            Failure::Gone(_) => return Ok(()),
            Failure::Final(error) => return Err(error),
            Failure::Unproven(error) => error,
        };
        // Nobody can speak for a party that is here already.
        let missing = self.missing();
        if self.awaited_caller().is_some()
            && let Some(party) = error.party().filter(|party| missing.contains(party))
        {
            let likelihood = Likelihood::of(&error, at_home);
            let known = self.suspicions.get(&party).map(|(known, _)| *known);
            if let Some(likelihood) = likelihood.filter(|new| known.is_none_or(|old| *new >= old)) {
                self.suspicions.insert(party, (likelihood, error));
            }
        }
        self.turn_away(caller);
        Ok(())
    }

    fn turn_away(&mut self, caller: Option<SocketAddr>) {
        self.turned_away += 1;
        self.last_turned_away = caller;
    }

    /// Why not all have been met by the deadline.
    fn incomplete(&mut self) -> NetError {
        while let Ok(report) = self.reports.recv_timeout(REPORT_GRACE) {
            match report {
                // One who is met now is met too late; another who is not is missing as well.
                Report::Accepted(Accepted { outcome: Ok(_), .. }) | Report::Dialled(_, Ok(_)) => {}
                Report::Dialled(peer, Err(error @ NetError::Unreachable(..))) => {
                    self.unreachable.insert(peer, error);
                }
                report => {
                    if let Err(error) = self.take(report) {
                        return error;
                    }
                }
            }
        }
        self.likeliest().unwrap_or_else(|| self.absence())
    }

    /// What is most likely the fault of one of those who are missing.
    fn likeliest(&mut self) -> Option<NetError> {
        let missing = self.missing();
        let suspected = missing
            .iter()
            .filter(|party| self.suspicions.contains_key(party));
        let likeliest = suspected.max_by_key(|party| {
            let (likelihood, _) = self.suspicions[party];
            (likelihood, std::cmp::Reverse(**party))
        });
        let (_, error) = self.suspicions.remove(likeliest?)?;
        Some(error)
    }

    /// The error that names all who are missing: of a party that this one dials what that came to,
    /// of one that is to dial where it has not come through.
    fn absence(&self) -> NetError {
        let config = self.host.config;
        let first = *self.missing().first().unwrap_or(&config.me);
        let waited = config.limits.connect.as_secs_f32();
        let own = &config.parties[config.me.index()].address;
        let mut cause = match self.unreachable.get(&first) {
            Some(NetError::Unreachable(_, _, cause)) => cause.clone(),
            _ if first < config.me => format!("no answer within {waited} s"),
            _ => format!("it has not come through to {own} within {waited} s"),
        };
        let address = config.parties[first.index()].address.clone();
        let others = self.missing().into_iter().filter(|party| *party != first);
        let others: Vec<_> = others.map(|party| config.name(party)).collect();
        if !others.is_empty() {
            cause += &format!("; missing as well: {}", others.join(", "));
        }
        if let Some(caller) = self.last_turned_away {
            let count = self.turned_away;
            cause += &format!("; strangers turned away: {count}, the last from {caller}");
        }
        NetError::Unreachable(first, address, cause)
    }

    /// Lets talks that are under way come to their end, so that those who are just being met hear
    /// why this party gives up, too.
    fn hear_out(&mut self) {
        let deadline = Instant::now() + REPORT_GRACE;
        while self.connections.any_open()
            && let Ok(report) = self
                .reports
                .recv_timeout(deadline - Instant::now().min(deadline))
        {
            let outcome = match report {
                Report::Dialled(peer, outcome) => {
                    self.connections.remove_dialled(peer);
                    outcome.ok()
                }
                Report::Accepted(heard) => {
                    self.connections.remove_incoming(heard.number);
                    match heard.outcome {
                        Ok(Caller::Party(met)) => Some(met),
                        _ => None,
                    }
                }
            };
            if let Some(met) = outcome {
                // What else goes wrong now changes nothing.
                let _ = self.welcome(met);
            }
        }
    }

    /// Hands over the transports, or tells those who were met why this party gives up.
    fn leave(self, result: Result<(), NetError>) -> Result<Gathered, NetError> {
        let mut transports = self.met;
        if let Err(error) = result {
            let reason = error.told(&self.host.config.names());
            for transport in transports.iter_mut().flatten() {
                transport.shutdown(Farewell::Abort(error.cause(), &reason));
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

/// How likely it is that what went wrong with one who claimed to be a party is that party's fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Likelihood {
    /// Its host sent what no party sends.
    Host,
    /// A key or a place is another than expected.
    Keys,
    /// So it is, on the host of the party.
    KeysAndHost,
}

impl Likelihood {
    /// None for what says nothing.
    fn of(error: &NetError, at_home: bool) -> Option<Likelihood> {
        let of_keys = matches!(error, NetError::WrongKey(..) | NetError::WrongParty(..));
        match (of_keys, at_home) {
            (true, true) => Some(Likelihood::KeysAndHost),
            (true, false) => Some(Likelihood::Keys),
            (false, true) => Some(Likelihood::Host),
            (false, false) => None,
        }
    }
}
