//! Suite `ot`: oblivious transfers by protocol, form and channel.
//!
//! `local` is the work of one side after the other on one thread, over a channel in memory: the
//! rate of each side alone. The sides of silent extension answer each other; there it is the time
//! that each side's thread takes over memory, as the system counts it. On all other channels both
//! sides run on threads of their own, as in a run, so the rate is that of the slower one and of the
//! channel: TCP and TLS on loopback, and the simulated networks. A window is repeated; the fastest
//! counts, and the median is beside it. Every window's outputs are checked afterwards: each block
//! of the receiver is what its choice says. Triples and OTs of one of many strings are measured and
//! checked in `correlations`.

mod correlations;
mod sides;
pub mod tables;

use std::time::{Duration, Instant};

use sealane_block::{Block, Coins, Cpu};
use sealane_net::Mesh;
use sealane_ot::ferret::{FerretReceiver, FerretSender, Params, Set};
use sealane_ot::softspoken::{Receiver, Sender};
use sealane_ot::traits::{CotReceiver, CotSender};
use sealane_ot::{OtError, Security, SoftSpoken};
use sealane_parties::{NetworkClass, PartyId};

use crate::net::{Connect, PAIR, connect_all};
use crate::{Figures, Options, SuiteError, both};

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

/// A channel between two threads.
struct Channel {
    name: &'static str,
    pair: Connect,
    count: usize,
}

const CHANNELS: [Channel; 5] = [
    channel("memory", COUNT, || Ok(Mesh::in_memory(2))),
    channel("tcp", COUNT, || connect_all(&PAIR, Mesh::danger_plaintext)),
    channel("tls", COUNT, || connect_all(&PAIR, Mesh::connect)),
    channel("lan", COUNT, || Ok(Mesh::simulated(2, NetworkClass::LAN))),
    channel("wan", 4 * FEW, || Ok(Mesh::simulated(2, NetworkClass::WAN))),
];

const fn channel(name: &'static str, count: usize, pair: Connect) -> Channel {
    Channel { name, pair, count }
}

/// The channel of the work of [`sides::alone`], beside [`CHANNELS`].
const LOCAL: &str = "local";

/// The names that [`Options::only`] may hold: protocols, correlations, and channels.
pub fn parts() -> Vec<&'static str> {
    let protocols = PROTOCOLS.iter().map(|protocol| protocol.name);
    let channels = CHANNELS.iter().map(|channel| channel.name);
    protocols
        .chain(correlations::NAMES)
        .chain([LOCAL])
        .chain(channels)
        .collect()
}

/// Kinds of parts.
#[derive(Clone, Copy, PartialEq)]
enum PartKind {
    Protocol,
    Correlation,
    Channel,
}

impl PartKind {
    fn of(name: &str) -> PartKind {
        if PROTOCOLS.iter().any(|protocol| protocol.name == name) {
            PartKind::Protocol
        } else if correlations::NAMES.contains(&name) {
            PartKind::Correlation
        } else {
            PartKind::Channel
        }
    }
}

/// The parts that are to be measured: of a kind of which none is named, all.
struct Asked<'a>(&'a [String]);

impl Asked<'_> {
    /// Returns true if a part of this kind is named.
    fn names(&self, kind: PartKind) -> bool {
        self.0.iter().any(|part| PartKind::of(part) == kind)
    }

    fn has(&self, name: &str) -> bool {
        !self.names(PartKind::of(name)) || self.0.iter().any(|part| part == name)
    }

    /// Returns true if forms are to be measured: correlations that are named stand for themselves.
    fn forms(&self) -> bool {
        !self.names(PartKind::Correlation)
    }
}

/// The channel over which the sides of silent extension are timed, each by its own thread.
const ALONE_OVER: &str = "memory";

/// Measures local work on every tier, and runs over every channel on the fastest.
///
/// # Errors
/// Two threads do not meet on loopback, or a run failed.
pub fn run(options: &Options, figures: &mut Figures<'_>) -> Result<(), SuiteError> {
    let quick = options.quick();
    let asked = Asked(&options.only);
    let of_forms = |protocol: &&Protocol| asked.forms() && asked.has(protocol.name);
    let protocols = || PROTOCOLS.iter().filter(of_forms);
    let alone = asked.forms() && asked.has(LOCAL);
    for cpu in options.cpus.iter().filter(|_| alone) {
        let figures = &mut figures.on(*cpu);
        base(*cpu, figures)?;
        // Silent extension takes turns with its peer, so no side works alone; `between` has the
        // time that its threads take.
        for protocol in protocols().filter(|protocol| protocol.silent.is_none()) {
            sides::alone(*cpu, protocol, options.budget, figures)
                .map_err(|error| format!("{}: {error}", protocol.name))?;
        }
    }
    let cpu = options.best()?;
    let figures = &mut figures.on(cpu);
    for channel in CHANNELS.iter().filter(|channel| asked.has(channel.name)) {
        for protocol in protocols() {
            let protocol = &Protocol { quick, ..*protocol };
            let meshes = (channel.pair)().map_err(|error| format!("{}: {error}", channel.name))?;
            sides::between(cpu, protocol, channel, meshes, figures)
                .map_err(|error| format!("{} over {}: {error}", protocol.name, channel.name))?;
        }
        correlations::run(cpu, channel, &asked, quick, figures)?;
    }
    Ok(())
}

/// A party that is set up, with its mesh.
type Ready<T> = (T, Mesh);
type AnySender = Box<dyn CotSender + Send>;
type AnyReceiver = Box<dyn CotReceiver + Send>;

/// Sets up both sides on two threads; returns them and the time.
fn set_up(
    cpu: Cpu,
    protocol: &Protocol,
    meshes: Vec<Mesh>,
) -> Result<(Ready<AnySender>, Ready<AnyReceiver>, Duration), OtError> {
    let started = Instant::now();
    let [mut here, mut there]: [Mesh; 2] = meshes.try_into().ok().expect("two parties");
    let (sender, receiver) = both(
        || set_up_sender(cpu, protocol, &mut here),
        || set_up_receiver(cpu, protocol, &mut there),
    )?;
    Ok(((sender, here), (receiver, there), started.elapsed()))
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
fn base(cpu: Cpu, figures: &mut Figures<'_>) -> Result<(), OtError> {
    let mut times = Vec::new();
    for _ in 0..WINDOWS {
        times.push(set_up(cpu, &PROTOCOLS[0], Mesh::in_memory(2))?.2);
    }
    let best = times.iter().min().expect("a window").as_secs_f64();
    figures.add("base/128/memory", &[("setup_ms", best * 1e3, "ms")]);
    Ok(())
}

/// Waits until the other side is here too.
fn ready(mesh: &mut Mesh, peer: PartyId) -> Result<(), OtError> {
    mesh.send(peer, &[0])?;
    mesh.flush()?;
    mesh.recv(peer, &mut [0])?;
    Ok(())
}
