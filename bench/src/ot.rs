//! Suite `ot`: oblivious transfers by protocol, form and channel.
//!
//! `local` is the work of one side after the other on one thread, over a channel in memory: the
//! rate of each side alone. The sides of silent extension answer each other; there it is the time
//! that each side's thread takes over memory, as the system counts it. On all other channels both
//! sides run on threads of their own, as in a run, so the rate is that of the slower one and of the
//! channel: TCP and TLS on loopback, and the simulated networks. A window is repeated; the fastest
//! counts, and the median is beside it. Every window's outputs are checked afterwards: each block
//! of the receiver is what its choice says. Triples and OTs of one of many strings are measured and
//! checked in `goods`.

mod goods;
mod local;
pub mod tables;

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use sealane_block::{Block, Coins, Cpu};
use sealane_net::Mesh;
use sealane_ot::ferret::{FerretReceiver, FerretSender, Params, Set};
use sealane_ot::forms::{self, HashedReceiver, HashedSender};
use sealane_ot::softspoken::{Receiver, Sender};
use sealane_ot::traits::{CotReceiver, CotSender, RandomReceiver, RandomSender};
use sealane_ot::traits::{choice, packed_blocks};
use sealane_ot::{OtError, Security, SoftSpoken};
use sealane_parties::{NetworkClass, PartyId};

use crate::stream::thread_seconds;
use crate::{Options, Record, net};

/// The suite's name.
pub const SUITE: &str = "ot";

const SENDER: PartyId = PartyId(0);
const RECEIVER: PartyId = PartyId(1);
const DELTA: Block = Block::new(0x8f0e_6a51_c3d2_7b94_00ff_1234_9abc_def1);

/// Transfers of a window between two threads.
const COUNT: usize = 1 << 21;
/// Transfers of a window on a simulated network, and of any when there is no time.
const FEW: usize = 1 << 14;
/// Windows between two threads.
const WINDOWS: usize = 5;

/// A source of correlated OTs.
#[derive(Clone, Copy)]
struct Protocol {
    name: &'static str,
    /// The extension, which Ferret begins with, too.
    extension: SoftSpoken,
    /// Set if Ferret extends it.
    silent: Option<(Set, Security)>,
    /// Set if there is no time for more than to see that it works.
    quick: bool,
}

impl Protocol {
    /// Windows of a form between two threads.
    fn windows(&self) -> usize {
        if self.quick { 1 } else { WINDOWS }
    }

    /// Transfers of a window. Silent extension makes them by iterations, so a window is one of
    /// those: of shorter windows most would have no work and some all of it.
    fn count(&self, usual: usize) -> usize {
        match self.silent {
            None => usual,
            Some((set, security)) => self.params(set, security).given(),
        }
    }

    fn params(&self, set: Set, security: Security) -> Params {
        match (self.quick, set) {
            (false, set) => Params::of(set, security),
            (true, Set::Uniform) => Params::danger_tiny_uniform(security),
            (true, _) => Params::danger_tiny(security),
        }
    }
}

/// The protocols that are measured.
const PROTOCOLS: [Protocol; 12] = [
    extension("iknp", 1, Security::SemiHonest),
    extension("softspoken-2", 2, Security::SemiHonest),
    extension("softspoken-4", 4, Security::SemiHonest),
    extension("softspoken-8", 8, Security::SemiHonest),
    extension("softspoken-2-malicious", 2, Security::Malicious),
    extension("softspoken-4-malicious", 4, Security::Malicious),
    extension("softspoken-8-malicious", 8, Security::Malicious),
    silent("ferret", Set::Compact, Security::SemiHonest),
    silent("ferret-malicious", Set::Compact, Security::Malicious),
    silent("ferret-quick", Set::Quick, Security::SemiHonest),
    silent("ferret-quick-malicious", Set::Quick, Security::Malicious),
    silent(
        "ferret-uniform-malicious",
        Set::Uniform,
        Security::Malicious,
    ),
];

const fn extension(name: &'static str, k: u8, security: Security) -> Protocol {
    Protocol {
        name,
        extension: SoftSpoken::new(k, security),
        silent: None,
        quick: false,
    }
}

const fn silent(name: &'static str, set: Set, security: Security) -> Protocol {
    Protocol {
        name,
        extension: SoftSpoken::new(8, security),
        silent: Some((set, security)),
        quick: false,
    }
}

/// Forms of OT.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    /// Correlated, with random choices.
    Correlated,
    /// Correlated, with choices that the receiver gives.
    Given,
    /// Hashed, with random choices.
    Random,
    /// Blocks that the sender chooses.
    Chosen,
}

impl Form {
    const ALL: [Form; 4] = [Form::Correlated, Form::Given, Form::Random, Form::Chosen];

    fn name(self) -> &'static str {
        match self {
            Form::Correlated => "correlated",
            Form::Given => "given-choices",
            Form::Random => "random",
            Form::Chosen => "chosen",
        }
    }
}

type Pair = fn() -> io::Result<Vec<Mesh>>;

/// A channel between two threads.
struct Channel {
    name: &'static str,
    pair: Pair,
    count: usize,
}

const CHANNELS: [Channel; 5] = [
    Channel {
        name: "memory",
        pair: || Ok(Mesh::in_memory(2)),
        count: COUNT,
    },
    Channel {
        name: "tcp",
        pair: || net::meet(Mesh::danger_plaintext),
        count: COUNT,
    },
    Channel {
        name: "tls",
        pair: || net::meet(Mesh::connect),
        count: COUNT,
    },
    Channel {
        name: "lan",
        pair: || Ok(Mesh::simulated(2, NetworkClass::Lan)),
        count: COUNT,
    },
    Channel {
        name: "wan",
        pair: || Ok(Mesh::simulated(2, NetworkClass::Wan)),
        count: 4 * FEW,
    },
];

/// The channel of [`local`] work, beside [`CHANNELS`].
const LOCAL: &str = "local";

/// The names that [`Options::only`] may hold: protocols, goods, and channels.
pub fn parts() -> Vec<&'static str> {
    let protocols = PROTOCOLS.iter().map(|protocol| protocol.name);
    let channels = CHANNELS.iter().map(|channel| channel.name);
    protocols
        .chain(goods::NAMES)
        .chain([LOCAL])
        .chain(channels)
        .collect()
}

/// Kinds of parts.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Protocol,
    Goods,
    Channel,
}

impl Kind {
    fn of(name: &str) -> Kind {
        if PROTOCOLS.iter().any(|protocol| protocol.name == name) {
            Kind::Protocol
        } else if goods::NAMES.contains(&name) {
            Kind::Goods
        } else {
            Kind::Channel
        }
    }
}

/// The parts that are to be measured: of a kind of which none is named, all.
struct Asked<'a>(&'a [String]);

impl Asked<'_> {
    /// Returns true if a part of this kind is named.
    fn names(&self, kind: Kind) -> bool {
        self.0.iter().any(|part| Kind::of(part) == kind)
    }

    fn has(&self, name: &str) -> bool {
        !self.names(Kind::of(name)) || self.0.iter().any(|part| part == name)
    }

    /// Returns true if forms are to be measured: goods that are named stand for themselves.
    fn forms(&self) -> bool {
        !self.names(Kind::Goods)
    }
}

/// The channel over which the sides of silent extension are timed, each by its own thread.
const ALONE_OVER: &str = "memory";

/// Measures local work on every tier, and runs over every channel on the fastest.
///
/// # Errors
/// Two threads do not meet on loopback, or a run failed.
pub fn run(options: &Options, record: &mut dyn FnMut(Record)) -> Result<(), String> {
    let quick = options.budget.is_zero();
    let asked = Asked(&options.only);
    let of_forms = |protocol: &&Protocol| asked.forms() && asked.has(protocol.name);
    let protocols = || PROTOCOLS.iter().filter(of_forms);
    let alone = asked.forms() && asked.has(LOCAL);
    let locals = options.cpus.iter().filter(|_| alone);
    for cpu in locals {
        base(*cpu, record).map_err(|error| error.to_string())?;
        // Silent extension takes turns with its peer, so no side works alone; `between` has the
        // time that its threads take.
        for protocol in protocols().filter(|protocol| protocol.silent.is_none()) {
            local::measure(*cpu, protocol, options.budget, record)
                .map_err(|error| format!("{}: {error}", protocol.name))?;
        }
    }
    let cpu = *options.cpus.last().ok_or("no tier to run on")?;
    for channel in CHANNELS.iter().filter(|channel| asked.has(channel.name)) {
        for protocol in protocols() {
            let protocol = &Protocol { quick, ..*protocol };
            let count = protocol.count(match quick {
                true => FEW,
                false => channel.count,
            });
            let failed =
                |error: OtError| format!("{} over {}: {error}", protocol.name, channel.name);
            let meshes = (channel.pair)().map_err(|error| format!("{}: {error}", channel.name))?;
            let meshes: [Mesh; 2] = meshes.try_into().map_err(|_| "two parties")?;
            let mut figure = |form: &str, side: Option<&str>, metric, value, unit| {
                let place = match side {
                    Some(_) if channel.name != ALONE_OVER || protocol.silent.is_none() => return,
                    Some(side) => format!("local/{side}"),
                    None => channel.name.to_string(),
                };
                record(Record {
                    suite: SUITE,
                    case: format!("{}/{form}/{place}", protocol.name),
                    tier: cpu.tier().name(),
                    metric,
                    value,
                    unit,
                });
            };
            between(cpu, protocol, count, meshes, &mut figure).map_err(failed)?;
        }
        goods::run(cpu, channel, &asked, quick, record)?;
    }
    Ok(())
}

/// Function that takes a figure of a form, of one side alone or of both.
type Figure<'a> = dyn FnMut(&str, Option<&str>, &'static str, f64, &'static str) + 'a;

/// A party that is set up, with its mesh.
type Ready<T> = (T, Mesh);
type AnySender = Box<dyn CotSender + Send>;
type AnyReceiver = Box<dyn CotReceiver + Send>;

/// Sets up both sides on two threads; returns them and the time.
fn set_up(
    cpu: Cpu,
    protocol: &Protocol,
    [mut here, mut there]: [Mesh; 2],
) -> Result<(Ready<AnySender>, Ready<AnyReceiver>, Duration), OtError> {
    let started = Instant::now();
    let (sender, receiver) = thread::scope(|scope| {
        let sender =
            scope.spawn(move || set_up_sender(cpu, protocol, &mut here).map(|s| (s, here)));
        let receiver = set_up_receiver(cpu, protocol, &mut there).map(|receiver| (receiver, there));
        (sender.join().expect("the sender's thread"), receiver)
    });
    Ok((sender?, receiver?, started.elapsed()))
}

fn set_up_sender(cpu: Cpu, protocol: &Protocol, mesh: &mut Mesh) -> Result<AnySender, OtError> {
    let coins = &mut Coins::danger_fixed_seed(2);
    let setup = Sender::set_up(protocol.extension, cpu, mesh, other(mesh), DELTA, coins)?;
    mesh.flush()?;
    let mut sender = setup.finish(mesh)?;
    Ok(match protocol.silent {
        None => Box::new(sender),
        Some((set, security)) => {
            let params = protocol.params(set, security);
            Box::new(FerretSender::set_up(
                cpu,
                mesh,
                other(mesh),
                params,
                &mut sender,
                coins,
            )?)
        }
    })
}

fn set_up_receiver(cpu: Cpu, protocol: &Protocol, mesh: &mut Mesh) -> Result<AnyReceiver, OtError> {
    let coins = &mut Coins::danger_fixed_seed(1);
    let setup = Receiver::set_up(protocol.extension, cpu, mesh, other(mesh), coins)?;
    mesh.flush()?;
    let mut receiver = setup.finish(mesh)?;
    mesh.flush()?;
    Ok(match protocol.silent {
        None => Box::new(receiver),
        Some((set, security)) => {
            let params = protocol.params(set, security);
            Box::new(FerretReceiver::set_up(
                cpu,
                mesh,
                other(mesh),
                params,
                &mut receiver,
                coins,
            )?)
        }
    })
}

/// The other of two parties.
fn other(mesh: &Mesh) -> PartyId {
    PartyId(1 - mesh.me().0)
}

/// Measures a set-up: 128 base OTs, and the smallest trees.
fn base(cpu: Cpu, record: &mut dyn FnMut(Record)) -> Result<(), OtError> {
    let mut times = Vec::new();
    for _ in 0..WINDOWS {
        let meshes = Mesh::in_memory(2).try_into().ok().expect("two parties");
        times.push(set_up(cpu, &PROTOCOLS[0], meshes)?.2);
    }
    times.sort();
    record(Record {
        suite: SUITE,
        case: "base/128/memory".to_string(),
        tier: cpu.tier().name(),
        metric: "setup_ms",
        value: times[0].as_secs_f64() * 1e3,
        unit: "ms",
    });
    Ok(())
}

/// Measures every form between two threads.
fn between(
    cpu: Cpu,
    protocol: &Protocol,
    count: usize,
    meshes: [Mesh; 2],
    figure: &mut Figure<'_>,
) -> Result<(), OtError> {
    let ((sender, here), (receiver, there), _) = set_up(cpu, protocol, meshes)?;
    let (sent, received) = thread::scope(|scope| {
        let windows = protocol.windows();
        let sent = scope.spawn(move || send_all(cpu, sender, here, count, windows));
        let received = receive_all(cpu, receiver, there, count, windows);
        (sent.join().expect("the sender's thread"), received)
    });
    for ((form, sent), received) in Form::ALL.iter().zip(sent?).zip(received?) {
        for (j, (pair, block)) in sent.pairs.iter().zip(&received.blocks).enumerate() {
            let chosen = pair[usize::from(choice(&received.choices, j))];
            assert_eq!(chosen.value(), block.value(), "OT {j}, {}", form.name());
        }
        let rate = |time: Duration| count as f64 / time.as_secs_f64() / 1e6;
        let (form, unit) = (form.name(), "million/s");
        let times = &received.times;
        figure(form, None, "million_ots_per_s", rate(times[0]), unit);
        let median = rate(times[times.len() / 2]);
        figure(form, None, "million_ots_per_s_median", median, unit);
        let all = (count * protocol.windows()) as f64;
        let bits = received.bytes as f64 * 8.0 / all;
        figure(form, None, "bits_per_ot", bits, "bits");
        for (side, seconds) in [("sender", sent.seconds), ("receiver", received.seconds)] {
            // None where the system does not tell, or where it has not noticed anything yet.
            if let Some(seconds) = seconds.filter(|&seconds| seconds > 0.0) {
                let rate = all / seconds / 1e6;
                figure(form, Some(side), "million_ots_per_s", rate, unit);
            }
        }
    }
    Ok(())
}

/// Returns the seconds in which this thread ran.
fn ran() -> Option<f64> {
    Some(thread_seconds()?[0])
}

/// The sender's side of the windows of a form.
struct Sent {
    /// Both blocks of each OT of the last window.
    pairs: Vec<[Block; 2]>,
    /// Time in which its thread ran.
    seconds: Option<f64>,
}

/// Runs the sender's side of all windows.
fn send_all(
    cpu: Cpu,
    cot: AnySender,
    mut mesh: Mesh,
    count: usize,
    windows: usize,
) -> Result<Vec<Sent>, OtError> {
    let mesh = &mut mesh;
    let mut sender = HashedSender::new(cpu, mesh, cot, "bench");
    let mut last = Vec::new();
    let [zeros, ones] = [3, 4].map(|seed| {
        let mut blocks = vec![Block::ZERO; count];
        Coins::danger_fixed_seed(seed)
            .secret("messages")
            .prg(cpu)
            .fill(&mut blocks);
        blocks
    });
    for form in Form::ALL {
        let mut q = vec![Block::ZERO; count];
        let mut pairs = vec![[Block::ZERO; 2]; count];
        let before = ran();
        for _ in 0..windows {
            ready(mesh, RECEIVER)?;
            let HashedSender { cot, hasher } = &mut sender;
            match form {
                Form::Correlated => cot.extend(mesh, &mut q)?,
                Form::Given => forms::send_given(cot, mesh, &mut q)?,
                Form::Random => sender.random(mesh, &mut pairs)?,
                Form::Chosen => forms::send_chosen(cot, hasher, mesh, 1, [&zeros, &ones])?,
            }
            // This makes the window the slower side's.
            ready(mesh, RECEIVER)?;
        }
        let seconds = ran().zip(before).map(|(now, before)| now - before);
        match form {
            Form::Correlated | Form::Given => {
                pairs = q.iter().map(|q| [*q, *q ^ DELTA]).collect();
            }
            Form::Random => {}
            Form::Chosen => pairs = zeros.iter().zip(&ones).map(|(a, b)| [*a, *b]).collect(),
        }
        last.push(Sent { pairs, seconds });
    }
    Ok(last)
}

/// The receiver's side of the windows of a form.
struct Received {
    /// Output of the last window.
    blocks: Vec<Block>,
    choices: Vec<Block>,
    /// Times of the windows, the shortest first.
    times: Vec<Duration>,
    /// Payload of all windows, both ways.
    bytes: u64,
    /// Time in which its thread ran.
    seconds: Option<f64>,
}

/// Runs the receiver's side of all windows.
fn receive_all(
    cpu: Cpu,
    cot: AnyReceiver,
    mut mesh: Mesh,
    count: usize,
    windows: usize,
) -> Result<Vec<Received>, OtError> {
    let mesh = &mut mesh;
    let mut receiver = HashedReceiver::new(cpu, mesh, cot, "bench");
    let mut given = vec![0u8; count];
    Coins::danger_fixed_seed(5)
        .secret("choices")
        .prg(cpu)
        .fill_bytes(&mut given);
    given.iter_mut().for_each(|choice| *choice &= 1);
    let mut all = Vec::new();
    for form in Form::ALL {
        let mut blocks = vec![Block::ZERO; count];
        let mut choices = vec![Block::ZERO; packed_blocks(count)];
        let mut times = Vec::new();
        let before = mesh.payload_sent(SENDER) + mesh.payload_received(SENDER);
        let started_at = ran();
        for _ in 0..windows {
            ready(mesh, SENDER)?;
            let started = Instant::now();
            let HashedReceiver { cot, hasher } = &mut receiver;
            match form {
                Form::Correlated => cot.extend(mesh, &mut choices, &mut blocks)?,
                Form::Given => forms::receive_given(cot, mesh, &given, &mut blocks)?,
                Form::Random => receiver.random(mesh, &mut choices, &mut blocks)?,
                Form::Chosen => {
                    forms::receive_chosen(cot, hasher, mesh, 1, &given, &mut blocks)?;
                }
            }
            mesh.flush()?;
            ready(mesh, SENDER)?;
            times.push(started.elapsed());
        }
        let seconds = ran().zip(started_at).map(|(now, before)| now - before);
        if matches!(form, Form::Given | Form::Chosen) {
            sealane_ot::traits::pack(&given, &mut choices);
        }
        times.sort();
        // Less the bytes by which the two wait for each other.
        let now = mesh.payload_sent(SENDER) + mesh.payload_received(SENDER);
        all.push(Received {
            blocks,
            choices,
            times,
            bytes: now - before - 4 * windows as u64,
            seconds,
        });
    }
    Ok(all)
}

/// Waits until the other side is here too.
fn ready(mesh: &mut Mesh, peer: PartyId) -> Result<(), OtError> {
    mesh.send(peer, &[0])?;
    mesh.flush()?;
    mesh.recv(peer, &mut [0])?;
    Ok(())
}
