//! OLEs, triples and OTs of one of many strings, between two threads.
//!
//! `working` is the rate of the time in which a side did not wait for the other; the slower side's
//! counts.

use std::thread;
use std::time::{Duration, Instant};

use sealane_block::{Block, Coins, Cpu};
use sealane_net::Mesh;
use sealane_ot::forms::Hasher;
use sealane_ot::softspoken::one_of_n::{self, OneOfN, large};
use sealane_ot::triples::{self, ArithmeticTriples, BooleanTriples, BothWays, MatrixShape};
use sealane_ot::triples::{MatrixTriples, Ring};
use sealane_ot::{OtError, Security};

use super::{Channel, FEW, PROTOCOLS, Protocol, RECEIVER, SENDER, SUITE};
use super::{other, ready, set_up_receiver, set_up_sender};
use crate::Record;

/// Goods that are measured.
#[derive(Clone, Copy)]
enum Goods {
    Boolean,
    Ole(u32),
    Arithmetic(u32),
    /// A square matrix of this side by a vector, modulo 2^64.
    Matrix(usize),
    /// One of `2^bits` strings, with trees of `2^k` leaves; the sender computes all keys or none.
    OneOf {
        bits: u8,
        k: u8,
        security: Security,
        all: bool,
    },
    /// One of 2^64 strings, of which the sender computes two keys.
    Large,
}

/// Sources of correlated OTs for the first four.
const SOURCES: [&str; 3] = ["softspoken-4", "softspoken-8", "ferret"];

const OF_COTS: [Goods; 5] = [
    Goods::Boolean,
    Goods::Ole(64),
    Goods::Arithmetic(32),
    Goods::Arithmetic(64),
    Goods::Matrix(128),
];

const OF_TREES: [Goods; 8] = [
    one_of(2, 6, Security::SemiHonest, true),
    one_of(4, 6, Security::SemiHonest, true),
    one_of(8, 4, Security::SemiHonest, false),
    one_of(8, 6, Security::SemiHonest, false),
    one_of(8, 6, Security::SemiHonest, true),
    one_of(8, 6, Security::Malicious, false),
    one_of(8, 8, Security::SemiHonest, false),
    Goods::Large,
];

const fn one_of(bits: u8, k: u8, security: Security, all: bool) -> Goods {
    Goods::OneOf {
        bits,
        k,
        security,
        all,
    }
}

impl Goods {
    fn name(self) -> String {
        match self {
            Goods::Boolean => "boolean-triples".into(),
            Goods::Ole(bits) => format!("ole-{bits}"),
            Goods::Arithmetic(bits) => format!("arithmetic-triples-{bits}"),
            Goods::Matrix(side) => format!("matrix-triples-64-{side}x{side}x1"),
            Goods::OneOf {
                bits,
                k,
                security,
                all,
            } => {
                let malicious = match security {
                    Security::SemiHonest => "",
                    Security::Malicious => "-malicious",
                };
                let keys = if all { "all-keys" } else { "rows" };
                format!("one-of-{}/softspoken-{k}{malicious}/{keys}", 1 << bits)
            }
            Goods::Large => "one-of-2^64/softspoken-6-malicious/two-keys".into(),
        }
    }

    /// Goods of a window.
    fn count(self, ots: usize) -> usize {
        match self {
            // At least as many as an iteration of silent extension gives.
            Goods::Boolean => 2 * ots,
            Goods::Ole(bits) | Goods::Arithmetic(bits) => ots / 2 / bits as usize,
            Goods::Matrix(_) => 1,
            Goods::OneOf {
                all: true, bits: 8, ..
            } => ots / 128,
            Goods::OneOf { .. } => ots / 16,
            Goods::Large => ots / 128,
        }
    }
}

/// The work of a party in a window.
type Work = Box<dyn FnMut(&mut Mesh) -> Result<(), OtError>>;

/// Measures all goods over a channel.
pub(super) fn run(
    cpu: Cpu,
    channel: &Channel,
    quick: bool,
    record: &mut dyn FnMut(Record),
) -> Result<(), String> {
    let mut all: Vec<(Goods, Option<Protocol>)> = Vec::new();
    for protocol in PROTOCOLS {
        if SOURCES.contains(&protocol.name) {
            all.extend(OF_COTS.map(|goods| (goods, Some(Protocol { quick, ..protocol }))));
        }
    }
    all.extend(OF_TREES.map(|goods| (goods, None)));
    for (goods, protocol) in &all {
        let ots = if quick { FEW } else { channel.count };
        let count = goods.count(ots).max(1);
        let name = match protocol {
            Some(protocol) => format!("{}/{}", goods.name(), protocol.name),
            None => goods.name(),
        };
        let failed = |error: String| format!("{name} over {}: {error}", channel.name);
        let meshes = (channel.pair)().map_err(|error| failed(error.to_string()))?;
        let windows = if quick { 1 } else { super::WINDOWS };
        let work = |mesh: &mut Mesh| match protocol {
            Some(protocol) => from_cots(cpu, protocol, *goods, count, mesh),
            None => from_trees(cpu, *goods, count, mesh),
        };
        let sides = thread::scope(|scope| {
            let threads: Vec<_> = meshes
                .into_iter()
                .map(|mesh| scope.spawn(|| side(mesh, windows, work)))
                .collect();
            let joined = threads.into_iter().map(|side| side.join().expect("a side"));
            joined.collect::<Result<Vec<Side>, OtError>>()
        })
        .map_err(|error| failed(error.to_string()))?;
        let rate = |time: Duration| count as f64 / time.as_secs_f64() / 1e6;
        let working = sides.iter().map(|side| side.working).max().expect("two");
        let bytes = sides.iter().map(|side| side.bytes).sum::<u64>();
        let times = &sides[0].times;
        for (metric, value, unit) in [
            ("million_per_s", rate(times[0]), "million/s"),
            (
                "million_per_s_median",
                rate(times[windows / 2]),
                "million/s",
            ),
            ("million_per_s_working", rate(working), "million/s"),
            (
                "bits",
                bytes as f64 * 8.0 / (count * windows) as f64,
                "bits",
            ),
        ] {
            record(Record {
                suite: SUITE,
                case: format!("{name}/{}", channel.name),
                tier: cpu.tier().name(),
                metric,
                value,
                unit,
            });
        }
    }
    Ok(())
}

/// The windows of one side.
struct Side {
    /// Their times, the shortest first.
    times: Vec<Duration>,
    /// The least time of one without waiting.
    working: Duration,
    /// Payload that it sent in all.
    bytes: u64,
}

fn side(
    mut mesh: Mesh,
    windows: usize,
    work: impl Fn(&mut Mesh) -> Result<Work, OtError>,
) -> Result<Side, OtError> {
    let mesh = &mut mesh;
    let peer = other(mesh);
    let mut work = work(mesh)?;
    mesh.flush()?;
    let before = mesh.payload_sent(peer);
    let (mut times, mut working) = (Vec::new(), Vec::new());
    for _ in 0..windows {
        ready(mesh, peer)?;
        let (started, waited) = (Instant::now(), mesh.waited());
        work(mesh)?;
        mesh.flush()?;
        working.push(started.elapsed().saturating_sub(mesh.waited() - waited));
        ready(mesh, peer)?;
        times.push(started.elapsed());
    }
    times.sort();
    Ok(Side {
        times,
        working: working.into_iter().min().expect("a window"),
        // Less the bytes by which the two wait for each other.
        bytes: mesh.payload_sent(peer) - before - 2 * windows as u64,
    })
}

/// A party of goods that are made of correlated OTs.
fn from_cots(
    cpu: Cpu,
    protocol: &Protocol,
    goods: Goods,
    count: usize,
    mesh: &mut Mesh,
) -> Result<Work, OtError> {
    if let Goods::Ole(bits) = goods {
        let ring = Ring::new(bits);
        let mut hasher = Hasher::new(cpu, mesh.session(), SENDER, RECEIVER, "bench ole");
        return Ok(match mesh.me() == SENDER {
            true => {
                let mut cot = set_up_sender(cpu, protocol, mesh)?;
                Box::new(move |mesh| {
                    triples::send_ole(&mut cot, &mut hasher, mesh, ring, count).map(drop)
                })
            }
            false => {
                let mut cot = set_up_receiver(cpu, protocol, mesh)?;
                Box::new(move |mesh| {
                    triples::receive_ole(&mut cot, &mut hasher, mesh, ring, count).map(drop)
                })
            }
        });
    }
    let (sender, receiver) = if mesh.me() == SENDER {
        let sender = set_up_sender(cpu, protocol, mesh)?;
        mesh.flush()?;
        (sender, set_up_receiver(cpu, protocol, mesh)?)
    } else {
        let receiver = set_up_receiver(cpu, protocol, mesh)?;
        mesh.flush()?;
        (set_up_sender(cpu, protocol, mesh)?, receiver)
    };
    let mut both = BothWays::new(cpu, mesh, sender, receiver, "bench triples");
    Ok(match goods {
        Goods::Boolean => {
            Box::new(move |mesh| BooleanTriples::make(&mut both, mesh, count).map(drop))
        }
        Goods::Matrix(side) => {
            let shape = MatrixShape {
                ring: Ring::new(64),
                rows: side,
                inner: side,
                columns: 1,
            };
            Box::new(move |mesh| MatrixTriples::make(&mut both, mesh, shape, count).map(drop))
        }
        Goods::Arithmetic(bits) | Goods::Ole(bits) => {
            let ring = Ring::new(bits);
            Box::new(move |mesh| ArithmeticTriples::make(&mut both, mesh, ring, count).map(drop))
        }
        Goods::OneOf { .. } | Goods::Large => unreachable!("made of trees"),
    })
}

/// A party of OTs of one of many strings.
fn from_trees(cpu: Cpu, goods: Goods, count: usize, mesh: &mut Mesh) -> Result<Work, OtError> {
    let (parameters, all) = match goods {
        Goods::OneOf {
            bits,
            k,
            security,
            all,
        } => (OneOfN::new(bits, k, security), all),
        _ => (OneOfN::new(8, 6, Security::Malicious), false),
    };
    let large = matches!(goods, Goods::Large);
    let coins = &mut Coins::danger_fixed_seed(3);
    let peer = other(mesh);
    if mesh.me() == SENDER {
        let setup = one_of_n::Sender::set_up(parameters, cpu, mesh, peer, coins)?;
        mesh.flush()?;
        let mut sender = setup.finish(mesh)?;
        let mut keys = vec![Block::ZERO; if all { count * parameters.strings() } else { 0 }];
        return Ok(Box::new(move |mesh| {
            if large {
                let made = large::LargeKeys::send(&mut sender, mesh, 8, count)?;
                for j in 0..count {
                    let index = 0x0123_4567_89ab_cdef ^ j as u64;
                    std::hint::black_box((made.key(j, index), made.key(j, !index)));
                }
                return Ok(());
            }
            let made = sender.extend(mesh, count)?;
            if all {
                made.fill_all(&mut keys);
            }
            Ok(())
        }));
    }
    let setup = one_of_n::Receiver::set_up(parameters, cpu, mesh, peer, coins)?;
    mesh.flush()?;
    let mut receiver = setup.finish(mesh)?;
    let (mut choices, mut keys) = (vec![0; count], vec![Block::ZERO; count]);
    let indices: Vec<u64> = (0..count as u64).map(|j| j << 40 | j).collect();
    Ok(Box::new(move |mesh| match large {
        true => large::receive(&mut receiver, mesh, 8, &indices, &mut keys),
        false => receiver.extend(mesh, &mut choices, &mut keys),
    }))
}
