//! Probes of all other parties by one: whether each answers at its address, with the right key and
//! version, how quickly, and how far its clock is off; and the answers to others that probe.

use std::net::{TcpListener, ToSocketAddrs};
use std::sync::mpsc::{self, Sender};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use crate::MeshConfig;
use crate::connect::check;
use crate::connections::{Accepted, Connections, Incoming, accept, dial, listen, next_incoming};
use crate::error::{NetError, Result};
use crate::hello::Purpose;
use crate::meeting::{Caller, Host};
use crate::probe::ProbeAnswer;
use sealane_parties::PartyId;

/// Pause between two checks of the listener.
const LOOK_PAUSE: Duration = Duration::from_millis(5);

/// Extra time for a party that is reachable but refused, or that refuses, to learn that as well.
/// Longer than the longest pause between two of its tries.
const COURTESY: Duration = Duration::from_millis(1500);

/// Result of probing all parties.
pub struct ProbeReport {
    /// Error of listening at this party's own address, if that failed.
    pub own: Result<()>,
    /// One element per party; none for this one.
    pub peers: Vec<Option<PeerProbe>>,
    /// Number of connections that failed while this party listened.
    pub turned_away: usize,
}

/// Result of probing one party.
pub struct PeerProbe {
    /// Addresses of its host; the cause, if there are none.
    pub resolved: Result<Vec<String>, String>,
    /// Its answer, or the reason why there is none.
    pub answer: Result<ProbeAnswer>,
    /// Set if it has probed this party meanwhile, and was answered.
    pub asked: bool,
}

/// Event during probing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeEvent {
    /// This party has answered.
    Answered(PartyId),
    /// This party has probed this one and was answered.
    Asked(PartyId),
}

/// Probes every other party until it answers, for `wait` at most and once at least, and answers
/// those that probe meanwhile. Ends early when everything is known: every party has answered or
/// never will, and every party that probes in turn has probed this one.
///
/// An attempt that is under way when the wait is over may take a few seconds more.
///
/// # Errors
/// The configuration is one with which no meeting can succeed, before anything is sent.
pub fn probe_peers(
    config: &MeshConfig,
    wait: Duration,
    notice: &mut dyn FnMut(ProbeEvent),
) -> Result<ProbeReport> {
    check(config)?;
    Ok(look_around(&Host::to_probe(config, wait), notice))
}

impl<'a> Host<'a> {
    /// Makes the state of a party that probes others for `wait`.
    fn to_probe(config: &'a MeshConfig, wait: Duration) -> Host<'a> {
        Host {
            purpose: Purpose::Probe,
            deadline: Instant::now() + wait,
            ..Host::new(config, true)
        }
    }
}

/// Report of one thread.
enum Report {
    /// Result of probing this party.
    Looked(PartyId, Result<Vec<String>, String>, Result<ProbeAnswer>),
    /// Result of accepting an incoming connection.
    Accepted(Accepted),
}

fn look_around(host: &Host<'_>, notice: &mut dyn FnMut(ProbeEvent)) -> ProbeReport {
    let config = host.config;
    let listener = listen(config);
    let connections = Connections::default();
    let mut found = Found {
        looks: config.parties.iter().map(|_| None).collect(),
        asked: vec![false; config.parties.len()],
        turned_away: 0,
    };
    thread::scope(|threads| {
        let (report, reports) = mpsc::channel();
        let others = (0..config.parties.len()).map(PartyId::from_index);
        for peer in others.filter(|peer| *peer != config.me) {
            let (report, connections) = (report.clone(), &connections);
            threads.spawn(move || {
                let resolved = resolve(&config.parties[peer.index()].address);
                let answer = dial(host, connections, peer, |socket| host.probe(socket, peer));
                report.send(Report::Looked(peer, resolved, answer))
            });
        }
        while found.awaits_anybody(host, listener.is_ok()) {
            if let Ok(listener) = &listener {
                found.turned_away += answer_callers(host, &connections, listener, threads, &report);
            }
            match reports.recv_timeout(LOOK_PAUSE) {
                Ok(Report::Looked(peer, resolved, answer)) => {
                    connections.remove_dialled(peer);
                    if answer.is_ok() {
                        notice(ProbeEvent::Answered(peer));
                    }
                    let at = Instant::now();
                    found.looks[peer.index()] = Some(Look {
                        resolved,
                        answer,
                        at,
                    });
                }
                Ok(Report::Accepted(heard)) => {
                    connections.remove_incoming(heard.number);
                    match heard.outcome {
                        Ok(Caller::Prober(Some(peer))) => {
                            notice(ProbeEvent::Asked(peer));
                            found.asked[peer.index()] = true;
                        }
                        _ => found.turned_away += 1,
                    }
                }
                Err(_) => {}
            }
        }
        // Frees the threads that still read from a connection.
        connections.close_all();
    });
    found.examination(listener.map(drop))
}

/// Accepts all incoming connections so far, each in a thread of its own; returns how many others
/// were closed to make room.
fn answer_callers<'scope, 'a>(
    host: &'a Host<'a>,
    connections: &'a Connections,
    listener: &TcpListener,
    threads: &'scope Scope<'scope, 'a>,
    report: &Sender<Report>,
) -> usize {
    let mut crowded_out = 0;
    while let Some(knock) = next_incoming(connections, listener) {
        let report = report.clone();
        crowded_out += knock.crowded_out;
        threads.spawn(move || {
            let Incoming { number, socket, .. } = knock;
            let heard = accept(host, connections, number, socket, host.config.me);
            report.send(Report::Accepted(heard))
        });
    }
    crowded_out
}

/// Results so far.
struct Found {
    looks: Vec<Option<Look>>,
    asked: Vec<bool>,
    turned_away: usize,
}

/// Result of probing one party.
struct Look {
    resolved: Result<Vec<String>, String>,
    answer: Result<ProbeAnswer>,
    at: Instant,
}

impl Found {
    /// Returns whether any answer is outstanding or, where this party listens and there is time,
    /// the probe of a party that probes as well.
    fn awaits_anybody(&self, host: &Host<'_>, listens: bool) -> bool {
        let now = Instant::now();
        let mut parties = self.looks.iter().zip(&self.asked).enumerate();
        parties.any(|(party, (look, asked))| match look {
            None => party != host.config.me.index(),
            Some(look) => {
                let until = match &look.answer {
                    Ok(answer) if answer.purpose == Purpose::Probe => host.deadline,
                    Ok(_) | Err(NetError::Unreachable { .. }) => now,
                    Err(_) => host.deadline.min(look.at + COURTESY),
                };
                listens && !asked && now < until
            }
        })
    }

    fn examination(self, own: Result<()>) -> ProbeReport {
        let peers = self.looks.into_iter().zip(self.asked);
        let peers = peers.map(|(look, asked)| {
            let Look {
                resolved, answer, ..
            } = look?;
            Some(PeerProbe {
                resolved,
                answer,
                asked,
            })
        });
        ProbeReport {
            own,
            peers: peers.collect(),
            turned_away: self.turned_away,
        }
    }
}

/// Resolves the host of `address`.
fn resolve(address: &str) -> Result<Vec<String>, String> {
    let all = address.to_socket_addrs();
    let all = all.map_err(|error| error.to_string())?;
    let all: Vec<_> = all.map(|address| address.ip().to_string()).collect();
    if all.is_empty() {
        Err("the name has no address".into())
    } else {
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;
    use crate::connections::HANDSHAKE_TIMEOUT;
    use crate::hello::Version;
    use std::time::SystemTime;

    const A: PartyId = PartyId(0);
    const B: PartyId = PartyId(1);

    /// Lets two parties probe each other, the second as `changed`. Returns the first one's result
    /// for the second and the other way round.
    fn both(changed: fn(&mut Host<'_>)) -> [Result<ProbeAnswer>; 2] {
        let configs = MeshConfig::on_loopback(&["ada", "bob"], Limits::default()).unwrap();
        let see = |config: &MeshConfig, change: fn(&mut Host<'_>)| {
            let mut host = Host::to_probe(config, Duration::from_secs(10));
            change(&mut host);
            let peer = PartyId(1 - config.me.0);
            let mut seen = look_around(&host, &mut |_| ());
            seen.peers[peer.index()].take().unwrap().answer
        };
        thread::scope(|threads| {
            let second = threads.spawn(|| see(&configs[1], changed));
            [see(&configs[0], |_| ()), second.join().unwrap()]
        })
    }

    #[test]
    fn a_clock_that_is_off_is_reported_to_both_sides_by_how_much() {
        let ahead = both(|host| host.clock = || SystemTime::now() + Duration::from_secs(90));
        for (answer, expected_us) in ahead.into_iter().zip([90_000_000, -90_000_000]) {
            let answer = answer.unwrap();
            // The system's clock may be set while the test runs, but hardly by this much.
            let off_us = answer.clock_ahead_us - expected_us;
            assert!(off_us.abs() < 5_000_000, "{answer:?}");
            assert!(answer.round_trip < HANDSHAKE_TIMEOUT);
        }
        let [seen, _] = both(|host| host.clock = || SystemTime::UNIX_EPOCH);
        assert!(seen.unwrap().clock_ahead_us < -1_000_000_000_000_000);
    }

    #[test]
    fn a_wrong_version_is_reported_to_both_sides() {
        let found = both(|host| host.wire_version += 1).map(Result::unwrap_err);
        let (ours, mut theirs) = (Version::current(), Version::current());
        theirs.wire += 1;
        let seen = |party, ours: &Version, theirs: &Version| {
            let (ours, theirs) = (ours.clone(), theirs.clone());
            NetError::WrongVersion {
                party,
                ours,
                theirs,
            }
        };
        assert_eq!(found, [seen(B, &ours, &theirs), seen(A, &theirs, &ours)]);
    }
}
