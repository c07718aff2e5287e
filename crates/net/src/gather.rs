//! Meeting of all parties of a run: each pair connects once, all pairs at the same time.
//!
//! Of two parties, the one with the lower index listens at its own address and the other dials, so
//! that a run of n parties needs no coordinator and each pair has exactly one connection. Diallers
//! try again until the listener is there. Every incoming connection has a thread of its own, so
//! that a silent one delays nobody.
//!
//! **Attribution of faults.** Anybody may reach the port at which a party listens, so a failure
//! there is judged only by what is proven ([`Gathering::judge`]):
//! * A failure with a party that has proved to hold its key ends the gathering at once. So does a
//!   failure at an address that this party dials, since its user has chosen that address.
//! * A connection that claims to be a party and shows another key proves nothing, wherever it comes
//!   from: many parties may share a host, and an attacker on the path can use its address. The
//!   failure is remembered, and reported if the party does not come. Failures from the host at
//!   which the party is configured are reported first, because there a mistake in the keys is
//!   likelier than an attack.
//! * A party that only probes is answered (`probe.rs`), which changes nothing here.
//! * Any other connection is refused, counted, and reported only if the run does not come about. It
//!   has little time for its handshake, and when there are too many connections, the oldest silent
//!   one is closed, or else the oldest one (`connections.rs`).
//!
//! A party that was met and then ends, ends the gathering; if it has itself waited in vain for
//! others, what is remembered of those is reported instead. A party that gives up sends the reason
//! to all parties that it has met or is just meeting, so that all users see the cause; later
//! diallers find no listener.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use crate::connections::{Accepted, Connections, accept, dial, listen, next_incoming};
use crate::error::{LinkError, NetError, Result};
use crate::meeting::{Caller, Failure, Host, Met};
use crate::tcp::TcpTransport;
use crate::{Farewell, Transport};
use sealane_diagnostic::Code;
use sealane_parties::PartyId;

/// Pause between two checks of a listener.
const LOOK_PAUSE: Duration = Duration::from_millis(5);

/// Longest wait for reports of attempts that end with the gathering.
const REPORT_GRACE: Duration = Duration::from_millis(500);

/// Result of meeting all other parties.
pub(crate) struct Gathered {
    /// One element per party; none for this one.
    pub(crate) transports: Vec<Option<Box<dyn Transport>>>,
    /// Number of failed connections by strangers.
    pub(crate) turned_away: usize,
}

/// Meets all other parties, or returns the reason why not by the deadline.
pub(crate) fn gather(host: &Host<'_>) -> Result<Gathered> {
    let config = host.config;
    let parties = config.parties.len();
    // The listener opens first, so that no peer's dialling waits for this party's own.
    let is_last = config.me.index() + 1 >= parties;
    let listener = if is_last { None } else { Some(listen(config)?) };
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
        let mut result = gathering.run(threads, listener.as_ref());
        // Whoever has been met hears why there is no run with this party.
        if let Some(&party) = host.unlisted.first() {
            result = Err(NetError::Unlisted { party });
        }
        if result.is_err() {
            gathering.hear_out();
        }
        // Frees the threads that still read from a connection.
        connections.close_all();
        result
    });
    gathering.leave(result)
}

/// Report of one attempt, from its thread.
enum Report {
    /// Result of dialling this party.
    Dialled(PartyId, Result<Met>),
    /// Result of accepting an incoming connection.
    Accepted(Accepted),
}

/// The state of one gathering.
struct Gathering<'a> {
    host: &'a Host<'a>,
    connections: &'a Connections,
    report: Sender<Report>,
    reports: Receiver<Report>,
    met: Vec<Option<TcpTransport>>,
    /// Possible faults of a party that are not proven, by party, with their likelihood.
    suspicions: BTreeMap<PartyId, (Likelihood, NetError)>,
    /// Final failures of dialling, by party.
    unreachable: BTreeMap<PartyId, NetError>,
    turned_away: usize,
    /// Remote address of the last one of them.
    last_turned_away: Option<SocketAddr>,
}

impl<'a> Gathering<'a> {
    fn run<'scope>(
        &mut self,
        threads: &'scope Scope<'scope, 'a>,
        listener: Option<&TcpListener>,
    ) -> Result<()> {
        let (host, connections) = (self.host, self.connections);
        let lower = (0..host.config.me.index()).map(PartyId::from_index);
        for lower in lower.filter(|party| !host.unlisted.contains(party)) {
            let report = self.report.clone();
            // The receiver outlives all threads, so no report is lost.
            let meet = move |socket| host.dial(socket, lower);
            threads.spawn(move || {
                let met = dial(host, connections, lower, meet);
                report.send(Report::Dialled(lower, met))
            });
        }
        loop {
            if self.missing().is_empty() && !self.awaits_unlisted() {
                return Ok(());
            }
            host.config.cancel.check()?;
            self.see_that_all_stay()?;
            if Instant::now() >= host.deadline {
                return Err(self.incomplete());
            }
            // After all expected diallers have come, others may still probe.
            let caller = self.awaited_caller().unwrap_or(host.config.me);
            while let Some(listener) = listener
                && let Some((number, socket)) = self.next_incoming(listener)
            {
                let report = self.report.clone();
                threads.spawn(move || {
                    let heard = accept(host, connections, number, socket, caller);
                    report.send(Report::Accepted(heard))
                });
            }
            if let Ok(report) = self.reports.recv_timeout(LOOK_PAUSE) {
                self.take(report)?;
            }
        }
    }

    /// One of the parties that have to dial in and have not done so.
    fn awaited_caller(&self) -> Option<PartyId> {
        let me = self.host.config.me;
        self.missing().into_iter().find(|party| *party > me)
    }

    /// Returns whether a party that this one does not know may still dial in, to be told so.
    fn awaits_unlisted(&self) -> bool {
        let (me, unlisted) = (self.host.config.me, &self.host.unlisted);
        self.turned_away == 0 && unlisted.iter().any(|party| *party > me)
    }

    /// Parties that have not been met.
    fn missing(&self) -> Vec<PartyId> {
        let (me, unlisted) = (self.host.config.me, &self.host.unlisted);
        let parties = (0..self.met.len()).map(PartyId::from_index);
        let is_missing = |party: &PartyId| {
            *party != me && self.met[party.index()].is_none() && !unlisted.contains(party)
        };
        parties.filter(is_missing).collect()
    }

    /// Checks that met parties are still there: one may die, or give up because it cannot meet
    /// another. A party that has finished in good order needs no other any more.
    fn see_that_all_stay(&mut self) -> Result<()> {
        let ends = self.met.iter().enumerate().find_map(|(party, met)| {
            let end = met.as_ref().and_then(Transport::end)?;
            let left = PartyId::from_index(party);
            (end != LinkError::Finished).then_some((left, end))
        });
        let Some((party, end)) = ends else {
            return Ok(());
        };
        let error = NetError::on_link(party, end);
        // It has waited in vain for a party of which this one may know more.
        let in_vain = error.code() == Code::PeerCutOff;
        let known = in_vain.then(|| self.likeliest()).flatten();
        Err(known.unwrap_or(error))
    }

    /// Takes the next incoming connection, if there is one.
    fn next_incoming(&mut self, listener: &TcpListener) -> Option<(usize, TcpStream)> {
        let caller = next_incoming(self.connections, listener)?;
        self.turned_away += caller.crowded_out;
        Some((caller.number, caller.socket))
    }

    fn take(&mut self, report: Report) -> Result<()> {
        match self.ended(report) {
            Report::Dialled(_, Ok(met)) => return self.welcome(met),
            Report::Dialled(peer, Err(error @ NetError::Unreachable { .. })) => {
                self.unreachable.insert(peer, error);
                // A cancelled meeting ends by itself.
                if !self.host.config.cancel.is_cancelled() {
                    return Err(self.incomplete());
                }
            }
            Report::Dialled(_, Err(error)) => return Err(error),
            Report::Accepted(heard) => match heard.outcome {
                Ok(Caller::Party(met)) => return self.welcome(met),
                Ok(Caller::Prober(Some(_))) => {}
                Ok(Caller::Prober(None)) => self.turn_away(heard.caller),
                Err(failure) => return self.judge(failure, heard.caller, heard.at_home),
            },
        }
        Ok(())
    }

    /// Takes the connection of a report from those that are open.
    fn ended(&self, report: Report) -> Report {
        match &report {
            Report::Dialled(peer, _) => self.connections.remove_dialled(*peer),
            Report::Accepted(heard) => self.connections.remove_incoming(heard.number),
        }
        report
    }

    /// Starts the transport to a party that was met. Its heartbeats begin here, and from here on
    /// this party notices if that one ends while others are waited for.
    fn welcome(&mut self, met: Met) -> Result<()> {
        let place = met.peer.index();
        // Of two connections with the same right key, the first one is kept.
        if self.met[place].is_none() {
            self.met[place] = Some(met.start(self.host.config)?);
        }
        Ok(())
    }

    /// Judges the failure of an incoming connection; returns an error if it ends the gathering.
    fn judge(&mut self, failure: Failure, caller: Option<SocketAddr>, at_home: bool) -> Result<()> {
        let error = match failure {
            Failure::Gone(_) => return Ok(()),
            Failure::Final(error) => return Err(error),
            Failure::Unproven(error) => error,
        };
        // Nobody can claim to be a party that has been met already.
        let missing = self.missing();
        if self.awaited_caller().is_some()
            && let Some(party) = error.party().filter(|party| missing.contains(party))
        {
            let likelihood = likelihood(&error, at_home);
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

    /// Returns the error for parties that have not been met by the deadline.
    fn incomplete(&mut self) -> NetError {
        while let Ok(report) = self.reports.recv_timeout(REPORT_GRACE) {
            match report {
                // A party that is met now is met too late, and another one that is not met is still
                // missing.
                Report::Accepted(Accepted { outcome: Ok(_), .. }) | Report::Dialled(_, Ok(_)) => {}
                Report::Dialled(peer, Err(error @ NetError::Unreachable { .. })) => {
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

    /// Returns the most likely cause of the failure with one of the missing parties.
    fn likeliest(&mut self) -> Option<NetError> {
        let missing = self.missing();
        let suspected = missing.iter().filter_map(|party| {
            let (likelihood, _) = self.suspicions.get(party)?;
            Some((*likelihood, Reverse(*party)))
        });
        let (_, Reverse(party)) = suspected.max()?;
        Some(self.suspicions.remove(&party)?.1)
    }

    /// Returns the error that names all missing parties: the result of dialling those that this one
    /// dials, and the absence of those that have to dial in.
    fn absence(&self) -> NetError {
        let config = self.host.config;
        let first = *self.missing().first().unwrap_or(&config.me);
        let waited = config.limits.connect.as_secs_f32();
        let own = &config.parties[config.me.index()].address;
        let mut reason = match self.unreachable.get(&first) {
            Some(NetError::Unreachable { reason, .. }) => reason.clone(),
            _ if first < config.me => format!("no answer within {waited} s"),
            _ => format!("it has not come through to {own} within {waited} s"),
        };
        let others = self.missing().into_iter().filter(|party| *party != first);
        let others: Vec<_> = others.map(|party| config.name(party)).collect();
        if !others.is_empty() {
            reason += &format!("; missing as well: {}", others.join(", "));
        }
        if let Some(caller) = self.last_turned_away {
            let count = self.turned_away;
            reason += &format!("; strangers turned away: {count}, the last from {caller}");
        }
        NetError::unreachable(first, &config.parties[first.index()].address, reason)
    }

    /// Lets current handshakes finish, so that parties that are just being met learn why this one
    /// gives up, too.
    fn hear_out(&mut self) {
        let deadline = Instant::now() + REPORT_GRACE;
        let left = || deadline.saturating_duration_since(Instant::now());
        while self.connections.any_open()
            && let Ok(report) = self.reports.recv_timeout(left())
        {
            let met = match self.ended(report) {
                Report::Dialled(_, Ok(met)) => met,
                Report::Accepted(Accepted {
                    outcome: Ok(Caller::Party(met)),
                    ..
                }) => met,
                _ => continue,
            };
            // Further failures change nothing now.
            let _ = self.welcome(met);
        }
    }

    /// Hands over the transports, or tells the parties that were met why this one gives up.
    fn leave(self, result: Result<()>) -> Result<Gathered> {
        let mut transports = self.met;
        if let Err(error) = result {
            let reason = &error.public_text(&self.host.config.names());
            let cause = error.cause();
            for transport in transports.iter_mut().flatten() {
                transport.shutdown(Farewell::Abort { cause, reason });
            }
            return Err(error);
        }
        let boxed = |transport| Box::new(transport) as Box<dyn Transport>;
        let transports = transports.into_iter().map(|transport| transport.map(boxed));
        let (transports, turned_away) = (transports.collect(), self.turned_away);
        Ok(Gathered {
            transports,
            turned_away,
        })
    }
}

/// Likelihood that a failure with a connection that claimed to be a party is that party's fault:
/// whether a key or an index differs from the expected one, and whether it came from the host of
/// the party, which sent something that no party sends.
type Likelihood = (bool, bool);

/// Classifies `error`; none if it says nothing about the party.
fn likelihood(error: &NetError, at_home: bool) -> Option<Likelihood> {
    let of_keys = matches!(
        error,
        NetError::WrongKey { .. } | NetError::WrongParty { .. }
    );
    (of_keys || at_home).then_some((of_keys, at_home))
}
