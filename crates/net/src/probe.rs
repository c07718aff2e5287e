//! Probe: one party asks another whether it answers, before they run anything together.
//!
//! 1. The prober dials and says so in the server name of its first message. Both sides prove their
//!    keys by TLS as in a run; the acceptor takes any key that it has pinned.
//! 2. Both send a hello, with their versions and purposes.
//! 3. A few times, the prober asks with one byte, and the other side answers with its clock. The
//!    quickest answer gives the round trip, and the difference of the clocks to within half of it.
//!
//! Nothing else is disclosed: no name, no program, nothing about data. A prober without a pinned
//! key learns what any caller of a listening party learns, which is the public key in its
//! handshake. A probe has as much time as a greeting, and a listener that gathers for a run
//! continues with that, whatever the outcome of the probe.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustls::Stream;
use rustls::server::Accepted;

use crate::connections::HANDSHAKE_TIMEOUT;
use crate::error::NetError;
use crate::hello::{Hello, Purpose, Version};
use crate::meeting::{Failure, Host, TlsToPeer, greet_first, greet_second, say_last_words};
use crate::timed::{Timed, linger};
use crate::tls::{self, Claim, Pin};
use sealane_parties::PartyId;

/// Number of clock readings in one probe.
const QUESTIONS: usize = 4;

/// Bytes of a question.
const QUESTION: [u8; 1] = *b"?";

/// A party's answer to a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeAnswer {
    /// Version of the party.
    pub version: Version,
    /// Purpose of the party: it waits to run, or probes others as well.
    pub purpose: Purpose,
    /// The shortest time from a question to its answer.
    pub round_trip: Duration,
    /// How far its clock is ahead of this party's, in microseconds; negative if it is behind.
    /// Accurate to within half of the round trip.
    pub clock_ahead_us: i64,
}

/// A question and its answer.
struct Exchange {
    /// This party's clock when it asked.
    asked_us: u64,
    round_trip: Duration,
    /// The other party's clock when it answered.
    theirs_us: u64,
}

impl Host<'_> {
    /// Asks `peer`, whose address answered on `socket`.
    pub(crate) fn probe(&self, socket: TcpStream, peer: PartyId) -> Result<ProbeAnswer, Failure> {
        let ours = self.hello_of_probe();
        let mut timed = Timed::new(&socket, Instant::now() + HANDSHAKE_TIMEOUT);
        // Small messages that wait for each other must not be delayed. If this fails, only the
        // measured round trip is longer.
        let _ = socket.set_nodelay(true);
        let talk = |stream: &mut TlsToPeer<'_, '_>| ask(stream, &ours, self.clock);
        let ((theirs, exchanges), _) = self.call(peer, Claim::Prober, &mut timed, talk)?;
        ours.check_version(&theirs, peer).map_err(Failure::Final)?;
        let quickest = exchanges.iter().min_by_key(|exchange| exchange.round_trip);
        let quickest = quickest.ok_or_else(|| {
            let reason = "it has answered no question";
            Failure::Final(NetError::malformed(peer, reason))
        })?;
        Ok(ProbeAnswer {
            version: theirs.version,
            purpose: theirs.purpose,
            round_trip: quickest.round_trip,
            clock_ahead_us: quickest.clock_ahead_us(),
        })
    }

    /// Answers a prober; returns its index, if it is a party and read all answers.
    pub(crate) fn answer(&self, accepted: Accepted, timed: &mut Timed<'_>) -> Option<PartyId> {
        let config = self.config;
        let keys = config.parties.iter().map(|party| party.key);
        let others = keys.filter(|key| *key != config.identity.public_key());
        let pin = Pin::any_of(others.collect());
        let server = tls::server(&config.identity, Arc::clone(&pin)).ok()?;
        let _ = timed.socket.set_nodelay(true);
        let mut server = match accepted.into_connection(server) {
            Ok(server) => server,
            Err((_, mut alert)) => {
                let _ = alert.write_all(timed);
                return None;
            }
        };
        let ours = self.hello_of_probe();
        let answered = report(&mut Stream::new(&mut server, timed), &ours, self.clock);
        if answered.is_err() {
            say_last_words(&mut server, timed);
        }
        linger(timed.socket);
        answered.ok()?;
        let key = pin.accepted()?;
        let place = config.parties.iter().position(|party| party.key == key);
        place.map(PartyId::from_index)
    }

    fn hello_of_probe(&self) -> Hello {
        let mut hello = Hello::of_probe(self.purpose);
        hello.version.wire = self.wire_version;
        hello
    }
}

impl Exchange {
    fn clock_ahead_us(&self) -> i64 {
        let half_us = self.round_trip.as_micros() as i128 / 2;
        let ours_us = i128::from(self.asked_us) + half_us;
        // Any two 64-bit clocks differ by less than twice that; a peer may send any value.
        (i128::from(self.theirs_us) - ours_us).clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }
}

/// The clock of this party.
type Clock = fn() -> SystemTime;

/// Runs the prober's side. It asks nothing of a peer with another version.
fn ask(
    stream: &mut (impl Read + Write),
    ours: &Hello,
    clock: Clock,
) -> io::Result<(Hello, Vec<Exchange>)> {
    let theirs = greet_first(stream, ours)?;
    let mut exchanges = Vec::new();
    while theirs.version.wire == ours.version.wire && exchanges.len() < QUESTIONS {
        let (asked, asked_us) = (Instant::now(), microseconds(clock));
        stream.write_all(&QUESTION)?;
        stream.flush()?;
        let mut theirs_us = [0; 8];
        stream.read_exact(&mut theirs_us)?;
        exchanges.push(Exchange {
            asked_us,
            round_trip: asked.elapsed(),
            theirs_us: u64::from_le_bytes(theirs_us),
        });
    }
    Ok((theirs, exchanges))
}

/// Runs the answering side.
fn report(stream: &mut (impl Read + Write), ours: &Hello, clock: Clock) -> io::Result<()> {
    let theirs = greet_second(stream, ours)?;
    if theirs.version.wire != ours.version.wire || theirs.purpose != Purpose::Probe {
        return Err(io::ErrorKind::InvalidData.into());
    }
    for _ in 0..QUESTIONS {
        stream.read_exact(&mut QUESTION.clone())?;
        stream.write_all(&microseconds(clock).to_le_bytes())?;
        stream.flush()?;
    }
    Ok(())
}

/// Microseconds since 1970 on the clock.
fn microseconds(clock: Clock) -> u64 {
    let since = clock().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}
