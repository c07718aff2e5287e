//! Suite `trio`: AES-128 by table lookups between three parties, shuffles and sorts.
//!
//! * `aes`: milliseconds a block against blocks a tile and tiles in flight, as figure 12 of
//!   Launchbury, Diatchki, DuBuisson and Adams-Moran, "Efficient Lookup-Table Protocol in Secure
//!   Multiparty Computation" (ICFP 2012), whose threads are tiles here. Over TLS on loopback, and
//!   over simulated networks: LAN (0.3 ms, 1 Gbit/s) and WAN (50 ms, 100 Mbit/s).
//! * `protocols`: bytes, rounds and speed of many blocks, beside other protocols.
//! * `local`: processor time of the lookups of many blocks alone, messages in memory.
//! * `order`: shuffles and sorts of rows.
//! * `proved`: ANDs, AES, sorts and settlements of the profile against one malicious party.
//!
//! The program is scalar code, planned as any other, so the form of lookups is the planner's
//! choice. Seconds are those of the report: from the end of the handshake to the last result, with
//! keys and inputs. Of one block there is a second figure, from the moment at which the last party
//! has sent its inputs to that at which the last one has its result.
//! Every block of a result is checked, and a run whose bytes or rounds are not the planned ones is
//! an error. Parties are threads of one process.

use std::time::{Duration, Instant};

use sealane_block::Cpu;
use sealane_engine::events::{self, Event, Phase};
use sealane_engine::{Job, Journal, Observer, ProtocolName};
use sealane_net::{Limits, LinkSpeed, Mesh};
use sealane_parties::NetworkClass;
use sealane_program::types::Data;
use sealane_trio::TrioParty;

use crate::net::connect_all;
use crate::stream::thread_seconds;
use crate::{Figures, Options, SuiteError, side_by_side};
use order::Work;

mod aes;
mod local;
mod order;
mod proved;
pub mod tables;

const PARTS: [&str; 5] = ["aes", "protocols", "local", "order", "proved"];
const PARTIES: [&str; 3] = ["text", "key", "receiver"];

/// A network between three parties: its name, the class that is declared to the planner, and the
/// speed of a simulated link; none for TLS on loopback.
type Channel = (&'static str, NetworkClass, Option<LinkSpeed>);

const CHANNELS: [Channel; 3] = [
    ("loopback", NetworkClass::LAN, None),
    ("lan", NetworkClass::LAN, Some(speed(300, 125_000_000))),
    ("wan", NetworkClass::WAN, Some(speed(50_000, 12_500_000))),
];

const fn speed(round_trip_us: u64, bytes_per_s: u64) -> LinkSpeed {
    LinkSpeed {
        round_trip: Duration::from_micros(round_trip_us),
        bytes_per_s,
    }
}

/// Blocks of a tile, and tiles in flight: the grid of figure 12, and larger tiles.
const BLOCKS: [u64; 6] = [1, 2, 6, 64, 1024, 4096];
const TILES: [u64; 3] = [1, 2, 4];
/// Blocks of a run that fills rounds and tiles.
const MANY: u64 = 100_000;
/// Blocks of a tape by itself: a tile of them.
const LOCAL: u64 = 24_576;
/// Most runs of a case, of which the fastest counts.
const RUNS: u32 = 10;

/// The names that `--only` takes.
pub fn parts() -> Vec<&'static str> {
    PARTS.to_vec()
}

/// Measures all parts.
///
/// # Errors
/// The machine has no port on loopback, or a run failed or did not keep its plan.
pub fn run(options: &Options, figures: &mut Figures<'_>) -> Result<(), SuiteError> {
    let cpu = options.best()?;
    let figures = &mut figures.on(cpu);
    let quick = options.quick();
    if options.asks_for("aes") {
        grid(options, figures)?;
    }
    if options.asks_for("protocols") {
        let blocks = if quick { 64 } else { MANY };
        let case = format!("protocols/{blocks}");
        many(ProtocolName::Trio, &case, blocks, options, figures)?;
    }
    if options.asks_for("local") {
        let (blocks, step_rounds) = if quick { (1024, 1) } else { (LOCAL, 20) };
        let job = job(ProtocolName::Trio, blocks, NetworkClass::LAN, u64::MAX)?;
        let rate = blocks as f64 / local::run(cpu, &job, blocks as usize, step_rounds)?;
        figures.add(&format!("local/{blocks}"), &[(CPU_RATE, rate, "blocks/s")]);
    }
    if options.asks_for("order") {
        in_order(cpu, if quick { 1000 } else { 1_000_000 }, figures)?;
    }
    if options.asks_for("proved") {
        proved::run(cpu, options, figures)?;
    }
    Ok(())
}

/// Blocks of a tile and tiles in flight, over each network.
fn grid(options: &Options, figures: &mut Figures<'_>) -> Result<(), SuiteError> {
    let few = options.quick();
    let blocks = if few { &BLOCKS[..2] } else { &BLOCKS };
    let tiles = if few { &TILES[..1] } else { &TILES };
    for channel in CHANNELS {
        for &blocks in blocks {
            for &tiles in tiles {
                let run = fastest(options, channel, blocks, tiles)?;
                let case = format!("aes/{}/{blocks}x{tiles}", channel.0);
                let each = run.seconds / (blocks * tiles) as f64;
                figures.add(&case, &[(MS, each * 1e3, "ms")]);
                if (blocks, tiles) == (1, 1) {
                    figures.add(&case, &[(MS_FROM_INPUTS, run.from_inputs * 1e3, "ms")]);
                }
                figures.add(&case, &[(ROUNDS, run.rounds as f64, "rounds")]);
            }
        }
    }
    Ok(())
}

/// Shuffles and sorts of rows.
fn in_order(cpu: Cpu, rows: usize, figures: &mut Figures<'_>) -> Result<(), SuiteError> {
    for (sorts, bits) in [(false, 64), (true, 32)] {
        let work = Work { sorts, bits };
        for (name, meshes) in [("memory", Mesh::in_memory(3)), ("tls", loopback()?)] {
            let (time, bytes) = order::run::<TrioParty>(cpu, meshes, work, rows)?;
            figures.add(
                &format!("{}/{name}/{rows}", work.name()),
                &[
                    (SECONDS, time.as_secs_f64(), "s"),
                    (BYTES_A_ROW, bytes as f64 / 3.0 / rows as f64, "bytes"),
                ],
            );
        }
    }
    Ok(())
}

const MS: &str = "ms_per_block";
const MS_FROM_INPUTS: &str = "ms_from_inputs";
const ROUNDS: &str = "rounds";
const SECONDS: &str = "seconds";
const BYTES_A_ROW: &str = "bytes_per_row_per_party";
const BYTES: &str = "bytes_per_block_per_party";
const BYTES_LAYERS: &str = "bytes_per_block_per_party_in_lookups";
const RATE: &str = "blocks_per_s";
const CPU_RATE: &str = "blocks_per_cpu_s_per_party";

/// Many blocks over TLS, and over memory for the time of the CPU.
fn many(
    protocol: ProtocolName,
    case: &str,
    blocks: u64,
    options: &Options,
    figures: &mut Figures<'_>,
) -> Result<(), SuiteError> {
    let job = job(protocol, blocks, NetworkClass::LAN, u64::MAX)?;
    let runs = if options.quick() { 1 } else { 3 };
    let (mut best, mut best_cpu) = (f64::INFINITY, f64::INFINITY);
    let mut rounds = 0;
    for _ in 0..runs {
        let tls = session(&job, loopback()?, blocks)?;
        let memory = session(&job, Mesh::in_memory(3), blocks)?;
        best = best.min(tls.seconds);
        best_cpu = best_cpu.min(memory.cpu_seconds);
        rounds = tls.rounds;
    }
    // The cost of a block beside set-up, digests and the key: measured bytes equal planned ones.
    let (half, all) = (job.cost(&[blocks / 2])?, job.cost(&[blocks])?);
    let of = |bytes: [u64; 2]| {
        let blocks = blocks - blocks / 2;
        (bytes[1] - bytes[0]) as f64 / 3.0 / blocks as f64
    };
    let payload = [&half, &all].map(|cost| cost.promise.payload_bytes());
    let layers = [&half, &all].map(|cost| {
        let own = |label: &str| ["prepare", "input", "reveal"].contains(&label);
        let steps = cost.steps.iter().filter(|step| !own(&step.label));
        steps.flat_map(|step| &step.sent).sum::<u64>()
    });
    figures.add(
        case,
        &[
            (BYTES, of(payload), "bytes"),
            (BYTES_LAYERS, of(layers), "bytes"),
            (ROUNDS, rounds as f64, "rounds"),
            (RATE, blocks as f64 / best, "blocks/s"),
            (CPU_RATE, blocks as f64 / best_cpu, "blocks/s"),
        ],
    );
    Ok(())
}

/// The fastest run of a case.
fn fastest(
    options: &Options,
    (_, class, speed): Channel,
    blocks: u64,
    tiles: u64,
) -> Result<RunFigures, SuiteError> {
    let all = blocks * tiles;
    let job = job(ProtocolName::Trio, all, class, blocks)?;
    let started = Instant::now();
    let mut best: Option<RunFigures> = None;
    for _ in 0..RUNS {
        let meshes = match speed {
            None => loopback()?,
            Some(speed) => Mesh::simulated_with(PARTIES.len(), speed, Limits::default()),
        };
        let run = session(&job, meshes, all)?;
        if best.as_ref().is_none_or(|best| run.seconds < best.seconds) {
            best = Some(run);
        }
        if started.elapsed() >= options.budget {
            break;
        }
    }
    best.ok_or_else(|| "a case without a run".into())
}

fn job(
    protocol: ProtocolName,
    blocks: u64,
    network: NetworkClass,
    tile: u64,
) -> Result<Job, SuiteError> {
    let program = aes::program(blocks)?;
    Ok(Job::in_tiles(program, protocol, network, vec![], tile)?)
}

/// Figures of a run.
struct RunFigures {
    seconds: f64,
    /// Of these, from the last input that is sent on.
    from_inputs: f64,
    rounds: u64,
    /// Of the thread of the busiest party, without those of its channels.
    cpu_seconds: f64,
}

/// Moments of a run at a party.
#[derive(Default)]
struct Times {
    /// The end of the first step round, in which all inputs of the program are sent.
    inputs_sent: Option<Instant>,
    results_learnt: Option<Instant>,
}

impl Observer for &mut Times {
    fn event(&mut self, record: &events::Record) {
        match &record.event {
            Event::StepRound(step_round) if (step_round.first, step_round.count) == (0, 1) => {
                self.inputs_sent = Some(Instant::now());
            }
            Event::Phase { phase: Phase::Part } => self.results_learnt = Some(Instant::now()),
            _ => {}
        }
    }
}

/// Runs all parties of a job, and checks what they did.
fn session(job: &Job, meshes: Vec<Mesh>, blocks: u64) -> Result<RunFigures, SuiteError> {
    let inputs = aes::inputs(blocks)?;
    let reports = side_by_side(meshes, |mut mesh: Mesh| {
        let me = mesh.me().index();
        let owned = |(input, data): (&sealane_program::graph::Input, &Data)| {
            (usize::from(input.owner) == me).then(|| data.clone())
        };
        let own = job.program().inputs.iter().zip(&inputs).map(owned);
        let own = own.collect::<Vec<_>>();
        let before = cpu_seconds();
        let mut times = Times::default();
        let mut journal = Journal::new(job, mesh.me(), &mut times);
        let report = sealane_engine::run(job, &own, &mut mesh, &mut journal);
        drop(journal);
        report.map(|report| (report, cpu_seconds() - before, times))
    })?;
    let sent = reports.iter().filter_map(|(.., times)| times.inputs_sent);
    let learnt = reports.iter().filter_map(|(.., at)| at.results_learnt);
    let from_inputs = learnt.max().zip(sent.max()).map(|(end, start)| end - start);
    let mut run = RunFigures {
        from_inputs: from_inputs.ok_or("a run without inputs")?.as_secs_f64(),
        seconds: 0.0,
        rounds: 0,
        cpu_seconds: 0.0,
    };
    for (report, cpu_seconds, _) in &reports {
        if !report.as_planned() {
            return Err("a run did not keep its plan".into());
        }
        run.seconds = run.seconds.max(report.seconds);
        run.cpu_seconds = run.cpu_seconds.max(*cpu_seconds);
        run.rounds = report.rounds;
    }
    let (learner, ..) = &reports[2];
    let learnt = learner.results.first();
    let learnt = learnt.and_then(|result| result.data.as_ref());
    let right = learnt.is_some_and(|data| aes::is_right(data, blocks));
    right
        .then_some(run)
        .ok_or_else(|| "a wrong ciphertext".into())
}

/// The seconds for which this thread has run; 0 where the system does not tell.
fn cpu_seconds() -> f64 {
    thread_seconds().map_or(0.0, |[ran, _]| ran)
}

/// Three parties that meet over TLS on loopback.
fn loopback() -> Result<Vec<Mesh>, SuiteError> {
    let met = connect_all(&PARTIES, Mesh::connect);
    met.map_err(|error| format!("three parties on loopback: {error}").into())
}
