//! One party's look at all others: whether each answers at its address, with the right key and
//! version, how quickly, and how far its clock is off; and the answers to those who look as well.

use std::net::{TcpListener, ToSocketAddrs};
use std::sync::mpsc::{self, Sender};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use crate::connect::check;
use crate::connections::{Accepted, Connections, accept, dial, listen, next_incoming};
use crate::error::NetError;
use crate::hello::Purpose;
use crate::meeting::{Caller, Host};
use crate::probe::ProbeAnswer;
use crate::{MeshConfig, PartyId};

/// Pause between two looks at the listener.
const LOOK_PAUSE: Duration = Duration::from_millis(5);

/// How long one who is there but is refused, or refuses, has to find that out as well. Longer than
/// the longest pause between two of its tries.
const COURTESY: Duration = Duration::from_millis(1500);

/// What a look at all parties found.
pub struct ProbeReport {
    /// Why this party cannot listen at its own address, if it cannot.
    pub own: Result<(), NetError>,
    /// One element a party; none for this one.
    pub peers: Vec<Option<PeerProbe>>,
    /// Connections that came to nothing while this party listened.
    pub turned_away: usize,
}

/// What a look at one party found.
pub struct PeerProbe {
    /// The addresses that its host has; the cause, if it has none.
    pub resolved: Result<Vec<String>, String>,
    /// What it answered, or why it did not.
    pub answer: Result<ProbeAnswer, NetError>,
    /// Whether it has asked this party meanwhile, and was answered.
    pub asked: bool,
}

/// What happens while a party looks at the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeEvent {
    /// This party has answered.
    Answered(PartyId),
    /// This party has asked and was answered.
    Asked(PartyId),
}

/// Asks every other party until it answers, for `wait` at most and once at least, and answers those
/// who ask meanwhile. Ends early when all is known: everybody has answered or never will, and
/// everybody who looks around in turn has asked.
///
/// An attempt that is under way when the wait is over may take a few seconds more.
///
/// # Errors
/// The configuration is one with which no meeting can succeed, before anything is sent.
pub fn probe_peers(
    config: &MeshConfig,
    wait: Duration,
    notice: &mut dyn FnMut(ProbeEvent),
) -> Result<ProbeReport, NetError> {
    check(config)?;
    Ok(look_around(&Host::to_probe(config, wait), notice))
}

impl<'a> Host<'a> {
    /// Of a party that probes others for so long.
    fn to_probe(config: &'a MeshConfig, wait: Duration) -> Host<'a> {
        Host {
            purpose: Purpose::Probe,
            deadline: Instant::now() + wait,
            ..Host::new(config, true)
        }
    }
}

/// What a thread reports.
enum Report {
    /// Of asking this party.
    Looked(
        PartyId,
        Result<Vec<String>, String>,
        Result<ProbeAnswer, NetError>,
    ),
    /// Of hearing one who has dialled in.
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
        // Frees the threads that still listen to somebody.
        connections.close_all();
    });
    found.examination(listener.map(drop))
}

/// Hears all who have dialled in by now, each in a thread of its own; how many others had to make
/// room.
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
            let heard = accept(
                host,
                connections,
                knock.number,
                knock.socket,
                host.config.me,
            );
            report.send(Report::Accepted(heard))
        });
    }
    crowded_out
}

/// What has been found so far.
struct Found {
    looks: Vec<Option<Look>>,
    asked: Vec<bool>,
    turned_away: usize,
}

/// What came of asking one party.
struct Look {
    resolved: Result<Vec<String>, String>,
    answer: Result<ProbeAnswer, NetError>,
    at: Instant,
}

impl Found {
    /// Whether anybody's answer is outstanding or, where this party listens and there is time, the
    /// question of one who looks around as well.
    fn awaits_anybody(&self, host: &Host<'_>, listens: bool) -> bool {
        let now = Instant::now();
        let mut parties = self.looks.iter().zip(&self.asked).enumerate();
        parties.any(|(party, (look, asked))| match look {
            None => party != host.config.me.index(),
            Some(look) => {
                let until = match &look.answer {
                    Ok(answer) if answer.purpose == Purpose::Probe => host.deadline,
                    Ok(_) | Err(NetError::Unreachable(..)) => now,
                    Err(_) => host.deadline.min(look.at + COURTESY),
                };
                listens && !asked && now < until
            }
        })
    }

    fn examination(self, own: Result<(), NetError>) -> ProbeReport {
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

/// The addresses of the host of `address`.
fn resolve(address: &str) -> Result<Vec<String>, String> {
    let all = address
        .to_socket_addrs()
        .map_err(|error| error.to_string())?;
    let all: Vec<_> = all.map(|address| address.ip().to_string()).collect();
    match all.is_empty() {
        true => Err("the name has no address".into()),
        false => Ok(all),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;
    use crate::connections::HANDSHAKE_TIMEOUT;
    use crate::error::Version;
    use std::time::SystemTime;

    const A: PartyId = PartyId(0);
    const B: PartyId = PartyId(1);

    /// Two parties that look at each other, the second as `changed`. Gives what the first sees of
    /// the second and the other way round.
    fn both(changed: fn(&mut Host<'_>)) -> [Result<ProbeAnswer, NetError>; 2] {
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
    fn a_clock_that_is_off_is_told_to_both_sides_by_how_much() {
        let ahead = both(|host| host.clock = || SystemTime::now() + Duration::from_secs(90));
        for (answer, expected_us) in ahead.into_iter().zip([90_000_000, -90_000_000]) {
            let answer = answer.unwrap();
            // The system's clock may be set while the test runs, but hardly by this much.
            assert!(
                (answer.clock_ahead_us - expected_us).abs() < 5_000_000,
                "{answer:?}"
            );
            assert!(answer.round_trip < HANDSHAKE_TIMEOUT);
        }
        let [seen, _] = both(|host| host.clock = || SystemTime::UNIX_EPOCH);
        assert!(seen.unwrap().clock_ahead_us < -1_000_000_000_000_000);
    }

    #[test]
    fn a_wrong_version_is_told_to_both_sides() {
        let found = both(|host| host.wire_version += 1);
        let current = Version::current();
        let other = Version {
            wire: current.wire + 1,
            ..current.clone()
        };
        let [first, second] = found.map(|answer| answer.err().unwrap());
        assert_eq!(
            first,
            NetError::WrongVersion(B, current.clone(), other.clone())
        );
        assert_eq!(second, NetError::WrongVersion(A, other, current));
    }
}
