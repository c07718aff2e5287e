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
use sealane_ot::Security::{self, Malicious, SemiHonest};
use sealane_ot::ferret::{FerretReceiver, FerretSender, Params, Set};
use sealane_ot::softspoken::{Receiver, Sender};
use sealane_ot::traits::{CotReceiver, CotSender};
use sealane_ot::{OtError, SoftSpoken};
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
        self.params().map_or(usual, |params| params.given())
    }

    /// The parameters of silent extension.
    fn params(&self) -> Option<Params> {
        let (set, security) = self.silent?;
        Some(match (self.quick, set) {
            (false, set) => Params::of(set, security),
            (true, Set::Uniform) => Params::danger_tiny_uniform(security),
            (true, _) => Params::danger_tiny(security),
        })
    }
}

/// The protocols that are measured.
const PROTOCOLS: [Protocol; 12] = [
    extension("iknp", 1, SemiHonest),
    extension("softspoken-2", 2, SemiHonest),
    extension("softspoken-4", 4, SemiHonest),
    extension("softspoken-8", 8, SemiHonest),
    extension("softspoken-2-malicious", 2, Malicious),
    extension("softspoken-4-malicious", 4, Malicious),
    extension("softspoken-8-malicious", 8, Malicious),
    silent("ferret", Set::Compact, SemiHonest),
    silent("ferret-malicious", Set::Compact, Malicious),
    silent("ferret-quick", Set::Quick, SemiHonest),
    silent("ferret-quick-malicious", Set::Quick, Malicious),
    silent("ferret-uniform-malicious", Set::Uniform, Malicious),
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
        silent: Some((set, security)),
        ..extension(name, 8, security)
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
    let (peer, coins) = (other(mesh), &mut Coins::danger_fixed_seed(2));
    let setup = Sender::set_up(protocol.extension, cpu, mesh, peer, DELTA, coins)?;
    mesh.flush()?;
    let mut sender = setup.finish(mesh)?;
    let Some(params) = protocol.params() else {
        return Ok(Box::new(sender));
    };
    let silent = FerretSender::set_up(cpu, mesh, peer, params, &mut sender, coins)?;
    Ok(Box::new(silent))
}

fn set_up_receiver(cpu: Cpu, protocol: &Protocol, mesh: &mut Mesh) -> Result<AnyReceiver, OtError> {
    let (peer, coins) = (other(mesh), &mut Coins::danger_fixed_seed(1));
    let setup = Receiver::set_up(protocol.extension, cpu, mesh, peer, coins)?;
    mesh.flush()?;
    let mut receiver = setup.finish(mesh)?;
    mesh.flush()?;
    let Some(params) = protocol.params() else {
        return Ok(Box::new(receiver));
    };
    let silent = FerretReceiver::set_up(cpu, mesh, peer, params, &mut receiver, coins)?;
    Ok(Box::new(silent))
}

/// The other of two parties.
fn other(mesh: &Mesh) -> PartyId {
    PartyId(1 - mesh.me().0)
}

/// Measures a set-up: 128 base OTs, and the smallest trees.
fn base(cpu: Cpu, figures: &mut Figures<'_>) -> Result<(), OtError> {
    let mut best = Duration::MAX;
    for _ in 0..WINDOWS {
        best = best.min(set_up(cpu, &PROTOCOLS[0], Mesh::in_memory(2))?.2);
    }
    let ms = best.as_secs_f64() * 1e3;
    figures.add("base/128/memory", &[("setup_ms", ms, "ms")]);
    Ok(())
}

/// Waits until the other side is here too.
fn ready(mesh: &mut Mesh, peer: PartyId) -> Result<(), OtError> {
    mesh.send(peer, &[0])?;
    mesh.flush()?;
    mesh.recv(peer, &mut [0])?;
    Ok(())
}
