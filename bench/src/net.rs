//! Suite `net`: throughput and latency of two parties in one process, over memory, bare TCP and
//! TLS.
//!
//! Every byte is digested on both sides, as in a run. The tier is that of the ciphers of the TLS
//! library and of BLAKE3, which choose for themselves; it is given as `native`.

use std::io;
use std::time::{Duration, Instant};

use sealane_net::{Limits, Mesh, MeshConfig, NetError};
use sealane_parties::PartyId;

use crate::{Figures, Options, SuiteError, both, side_by_side};

const HERE: PartyId = PartyId(0);
const THERE: PartyId = PartyId(1);

/// Bytes of one send and one receive.
const PIECE_BYTES: usize = 64 << 10;
/// Pieces of one window: 256 MiB.
const PIECES: usize = 4096;
/// Windows, of which the best counts.
const WINDOWS: usize = 5;
/// Turns of a ping-pong.
const ROUND_TRIPS: u32 = 2000;

/// Measures throughput and latency over each kind of channel.
///
/// # Errors
/// The machine has no port on loopback, or two threads do not meet there.
pub fn run(options: &Options, figures: &mut Figures<'_>) -> Result<(), SuiteError> {
    let quick = options.quick();
    let (pieces, round_trips) = if quick {
        (16, 20)
    } else {
        (PIECES, ROUND_TRIPS)
    };
    let figures = &mut figures.of_tier("native");
    let kinds: [(&str, Connect); 3] = [
        ("memory", || Ok(Mesh::in_memory(2))),
        ("tcp", || connect_all(&PAIR, Mesh::danger_plaintext)),
        ("tls", || connect_all(&PAIR, Mesh::connect)),
    ];
    for (kind, connect) in kinds {
        let mut meshes = connect().map_err(|error| format!("two parties on loopback: {error}"))?;
        let [here, there] = meshes.get_disjoint_mut([0, 1])?;
        let failed = |error: NetError| format!("over {kind}: {error}");
        let one_way = one_way(here, there, pieces).map_err(failed)?;
        let round_trip = round_trip(here, there, round_trips).map_err(failed)?;
        let rate = (pieces * PIECE_BYTES) as f64 / one_way.as_secs_f64() / 1e9;
        let case = format!("{kind}/one_way");
        figures.add(&case, &[("gigabytes_per_s", rate, "GB/s")]);
        let us = round_trip.as_secs_f64() * 1e6;
        figures.add(&format!("{kind}/16"), &[("round_trip_us", us, "us")]);
    }
    Ok(())
}

/// The time of the best window.
fn one_way(here: &mut Mesh, there: &mut Mesh, pieces: usize) -> Result<Duration, NetError> {
    let piece = vec![7u8; PIECE_BYTES];
    let mut best = Duration::MAX;
    for _ in 0..WINDOWS {
        let send = || {
            (0..pieces).try_for_each(|_| here.send(THERE, &piece))?;
            here.flush()
        };
        let receive = || {
            let started = Instant::now();
            let mut into = vec![0; PIECE_BYTES];
            (0..pieces).try_for_each(|_| there.recv(HERE, &mut into))?;
            Ok(started.elapsed())
        };
        best = best.min(both(send, receive)?.1);
    }
    Ok(best)
}

/// The time of one round trip of 16 bytes, on average.
fn round_trip(here: &mut Mesh, there: &mut Mesh, round_trips: u32) -> Result<Duration, NetError> {
    let say = |mesh: &mut Mesh, to| mesh.send(to, &[0; 16]).and_then(|()| mesh.flush());
    let echo = || {
        (0..round_trips).try_for_each(|_| {
            there.recv(HERE, &mut [0; 16])?;
            say(there, HERE)
        })
    };
    let ask = || {
        let started = Instant::now();
        (0..round_trips).try_for_each(|_| {
            say(here, THERE)?;
            here.recv(THERE, &mut [0; 16])
        })?;
        Ok(started.elapsed() / round_trips)
    };
    Ok(both(echo, ask)?.1)
}

/// Function that connects parties.
pub(crate) type Connect = fn() -> io::Result<Vec<Mesh>>;

/// The names of two parties.
pub(crate) const PAIR: [&str; 2] = ["here", "there"];

/// Parties of these names that meet on loopback.
pub(crate) fn connect_all(
    names: &[&str],
    connect: fn(&MeshConfig) -> Result<Mesh, NetError>,
) -> io::Result<Vec<Mesh>> {
    let configs = MeshConfig::on_loopback(names, Limits::default())?;
    side_by_side(configs, |config| connect(&config)).map_err(io::Error::other)
}
