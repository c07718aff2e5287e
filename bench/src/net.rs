//! Suite `net`: throughput and latency of two parties in one process, over memory, bare TCP and
//! TLS.
//!
//! Every byte is digested on both sides, as in a run. The tier is that of the ciphers of the TLS
//! library and of BLAKE3, which choose for themselves; it is given as `native`.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use sealane_net::{Limits, Mesh, MeshConfig, NetError};
use sealane_parties::PartyId;

use crate::{Options, Record};

/// The suite's name.
pub const SUITE: &str = "net";

const HERE: PartyId = PartyId(0);
const THERE: PartyId = PartyId(1);

/// Bytes of one send and one receive.
const PIECE_BYTES: usize = 64 << 10;
/// Pieces of one window: 256 MiB.
const PIECES: usize = 4096;
/// Windows, of which the best counts.
const WINDOWS: usize = 5;
/// Turns of a ping-pong.
const TURNS: u32 = 2000;

/// Measures throughput and latency over each kind of channel.
///
/// # Errors
/// The machine has no port on loopback, or two threads do not meet there.
pub fn run(options: &Options, record: &mut dyn FnMut(Record)) -> Result<(), String> {
    let (pieces, turns) = if options.budget.is_zero() {
        (16, 20)
    } else {
        (PIECES, TURNS)
    };
    let memory = || Ok(Mesh::in_memory(2));
    type Pair<'a> = &'a dyn Fn() -> io::Result<Vec<Mesh>>;
    let kinds: [(&str, Pair<'_>); 3] = [
        ("memory", &memory),
        ("tcp", &|| meet(Mesh::danger_plaintext)),
        ("tls", &|| meet(Mesh::connect)),
    ];
    for (kind, pair) in kinds {
        let mut meshes = pair().map_err(|error| format!("two parties on loopback: {error}"))?;
        let [here, there] = meshes
            .get_disjoint_mut([0, 1])
            .map_err(|error| error.to_string())?;
        let failed = |error: NetError| format!("over {kind}: {error}");
        let one_way = one_way(here, there, pieces).map_err(failed)?;
        let turn = turn(here, there, turns).map_err(failed)?;
        let bytes = (pieces * PIECE_BYTES) as f64;
        for (metric, value, unit) in [
            (
                "gigabytes_per_s",
                bytes / one_way.as_secs_f64() / 1e9,
                "GB/s",
            ),
            ("round_trip_us", turn.as_secs_f64() * 1e6, "us"),
        ] {
            let case = format!("{kind}/{}", if unit == "us" { "16" } else { "one_way" });
            record(Record {
                suite: SUITE,
                case,
                tier: "native",
                metric,
                value,
                unit,
            });
        }
    }
    Ok(())
}

/// The time of the best window.
fn one_way(here: &mut Mesh, there: &mut Mesh, pieces: usize) -> Result<Duration, NetError> {
    let piece = vec![7u8; PIECE_BYTES];
    let mut best = Duration::MAX;
    for _ in 0..WINDOWS {
        let window = thread::scope(|scope| {
            let sender = scope.spawn(|| {
                (0..pieces).try_for_each(|_| here.send(THERE, &piece))?;
                here.flush()
            });
            let started = Instant::now();
            let mut into = vec![0; PIECE_BYTES];
            let received = (0..pieces).try_for_each(|_| there.recv(HERE, &mut into));
            let window = started.elapsed();
            sender.join().expect("the sender's thread")?;
            received.map(|()| window)
        })?;
        best = best.min(window);
    }
    Ok(best)
}

/// The time of one round trip of 16 bytes, on average.
fn turn(here: &mut Mesh, there: &mut Mesh, turns: u32) -> Result<Duration, NetError> {
    let say = |mesh: &mut Mesh, to| mesh.send(to, &[0; 16]).and_then(|()| mesh.flush());
    thread::scope(|scope| {
        let echo = scope.spawn(|| {
            (0..turns).try_for_each(|_| {
                there.recv(HERE, &mut [0; 16])?;
                say(there, HERE)
            })
        });
        let started = Instant::now();
        let turned = (0..turns).try_for_each(|_| {
            say(here, THERE)?;
            here.recv(THERE, &mut [0; 16])
        });
        let time = started.elapsed();
        echo.join().expect("the other thread")?;
        turned.map(|()| time / turns)
    })
}

/// Two parties that meet on loopback.
pub(crate) fn meet(connect: fn(&MeshConfig) -> Result<Mesh, NetError>) -> io::Result<Vec<Mesh>> {
    let configs = MeshConfig::on_loopback(&["here", "there"], Limits::default())?;
    let threads = configs
        .into_iter()
        .map(|config| thread::spawn(move || connect(&config)));
    let threads = threads.collect::<Vec<_>>();
    let join = |thread: thread::JoinHandle<_>| thread.join().expect("no party panics");
    let meshes = threads
        .into_iter()
        .map(join)
        .collect::<Result<_, NetError>>();
    meshes.map_err(io::Error::other)
}
