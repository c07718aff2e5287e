//! Suite `auth`: authenticated garbling between two parties of whom one may deviate, with all that
//! it makes ahead.
//!
//! * `memory`: processor time of each part at each party, over channels in memory: core cycles an
//!   AND. Blocks of AES-128 go through one tape, which is run several times for each batch of
//!   products, and settled once. The clock is that of a chain of additions before and after, so
//!   the figures mean something on cores of one's own alone.
//! * `tls`: the same over TLS on loopback: ANDs a second with all parts and online alone, with both
//!   parties at work on whatever cores there are; and the rate at which one core could do the work
//!   of a party, from the processor time of the process with the threads of its channels.
//! * `run`: whole runs of a program through plan and engine, over TLS, with the most memory that
//!   the process of both parties ever took. It is right if the part runs alone.
//!
//! Results are opened and checked.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use sealane_auth::{Auth, Part, Transfers};
use sealane_block::{Cpu, clock};
use sealane_circuit::{Builder, Machine, Tape, aes, compile};
use sealane_net::Mesh;
use sealane_parties::{NetworkClass, PartyId};
use sealane_protocol::{Protocol, Setting};

use crate::net::connect_all;
use crate::stream::{cpu_seconds, thread_seconds};
use crate::{Figures, Options, SuiteError, side_by_side};

mod run;
mod side;

use side::Side;

const PARTIES: [&str; 2] = ["garbler", "evaluator"];

/// Lanes of a tape, a block of the widest.
const LANES: usize = 32;
/// Tapes of a batch of products, which then has buckets of three.
const TAPES: usize = 3;
/// Runs, of which the first one takes memory, and each part of the others counts where it was
/// fastest.
const RUNS: usize = 4;

/// The names that `--only` takes.
pub fn parts() -> Vec<&'static str> {
    vec!["memory", "tls", "run"]
}

/// Measures all parts.
///
/// # Errors
/// The machine has no port on loopback, or a step failed or gave a wrong result.
pub fn run(options: &Options, figures: &mut Figures<'_>) -> Result<(), SuiteError> {
    let cpu = options.best()?;
    let work = Work::new(options.quick());
    let figures = &mut figures.on(cpu);
    for (network, class) in [("lan", NetworkClass::LAN), ("wan", NetworkClass::WAN)] {
        let mut setting = Setting::in_order(&Auth::<Transfers>::profile(), 2);
        setting.network = class;
        if options.asks_for("memory") {
            let ends = between(cpu, Mesh::in_memory(2), &setting, &work)?;
            for (party, times) in PARTIES.iter().zip(&ends.times) {
                let case = format!("{network}/memory/{party}");
                figures.add(&case, &alone(times, work.ands(), ends.cycles_a_ns));
            }
        }
        if options.asks_for("tls") {
            let met = connect_all(&PARTIES, Mesh::connect);
            let meshes = met.map_err(|error| format!("two parties on loopback: {error}"))?;
            let ends = between(cpu, meshes, &setting, &work)?;
            figures.add(&format!("{network}/tls"), &together(&ends, work.ands()));
        }
    }
    if options.asks_for("run") {
        run::run(options, figures)?;
    }
    Ok(())
}

/// A tape, and how often it runs.
struct Work {
    tape: Tape,
    lanes: usize,
    tapes: usize,
    runs: usize,
}

impl Work {
    /// Blocks of AES-128, whose two halves are added, so that a word holds a result.
    fn new(quick: bool) -> Work {
        let mut b = Builder::new();
        let words = [(); 4].map(|()| b.input(64));
        let text = aes::encrypt(&mut b, &words[..2].concat(), &words[2..].concat());
        let sum = text[..64].iter().zip(&text[64..]);
        let sum = sum.map(|(low, high)| b.xor(*low, *high)).collect();
        let [lanes, tapes, runs] = if quick {
            [2, 1, 2]
        } else {
            [LANES, TAPES, RUNS]
        };
        Work {
            tape: compile(&b.finish(vec![sum]), &Machine::CPU),
            lanes,
            tapes,
            runs,
        }
    }

    /// ANDs of a run.
    fn ands(&self) -> f64 {
        (self.tape.ands.len() * self.lanes * self.tapes) as f64
    }

    /// Words of an input.
    fn values(&self, word: usize) -> Vec<u64> {
        (0..self.lanes).map(|lane| self.value(word, lane)).collect()
    }

    /// A word of an input.
    fn value(&self, word: usize, lane: usize) -> u64 {
        ((4 * lane + word) as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    /// The result of each lane.
    fn expected(&self) -> Vec<u64> {
        let bit = |word: usize, at: usize| {
            let lanes = (0..self.lanes).map(|lane| (self.value(word, lane) >> at & 1) << lane);
            let mut bits = [0; 8];
            bits[0] = lanes.sum();
            bits
        };
        let bits = (0..4).flat_map(|word| (0..64).map(move |at| (word, at)));
        let bits = bits.map(|(word, at)| bit(word, at)).collect::<Vec<_>>();
        let outputs = self.tape.eval(&bits);
        let lane = |lane: usize| {
            let bits = outputs.iter().enumerate();
            bits.map(|(at, out)| (out[0] >> lane & 1) << at).sum()
        };
        (0..self.lanes).map(lane).collect()
    }
}

/// Stages of the work of a party: four of a refill, masks, tables, the settlement.
const STAGES: usize = 7;
/// The stages behind the refill, and the first that needs inputs.
const MASKS: usize = 4;
const TABLES: usize = 5;
const SETTLEMENT: usize = 6;

/// Seconds of each stage in the fastest run: of a thread, and on the clock.
#[derive(Clone, Copy)]
struct Times {
    thread: [f64; STAGES],
    clock: [f64; STAGES],
}

/// Ends of both parties.
struct Ends {
    times: Vec<Times>,
    /// Processor seconds of the process in the fastest run.
    process: f64,
    /// Bytes of a run, both ways.
    bytes: f64,
    cycles_a_ns: f64,
}

/// Figures of a party by itself.
fn alone(times: &Times, ands: f64, cycles_a_ns: f64) -> Vec<crate::Figure<'static>> {
    const NAMES: [&str; STAGES] = [
        "transfers_cycles_per_and",
        "rows_cycles_per_and",
        "differences_cycles_per_and",
        "combination_cycles_per_and",
        "masks_cycles_per_and",
        "tables_cycles_per_and",
        "settlement_cycles_per_and",
    ];
    let ns = |seconds: f64| (seconds * 1e9 / ands).max(1e-3);
    let each = NAMES.into_iter().zip(times.thread);
    let each = each.map(|(name, seconds)| (name, ns(seconds) * cycles_a_ns, "cycles"));
    let all = times.thread.iter().sum::<f64>();
    each.chain([
        ("cycles_per_and", ns(all) * cycles_a_ns, "cycles"),
        ("ns_per_and", ns(all), "ns"),
    ])
    .collect()
}

/// Figures of both parties at once.
fn together(ends: &Ends, ands: f64) -> Vec<crate::Figure<'static>> {
    let slowest = |stages: std::ops::Range<usize>| {
        let of_party = |times: &Times| times.clock[stages.clone()].iter().sum::<f64>();
        ends.times.iter().map(of_party).fold(0.0, f64::max)
    };
    let rate = |seconds: f64| ands / seconds / 1e6;
    vec![
        ("rate_with_preparation", rate(slowest(0..STAGES)), "M/s"),
        ("online_rate", rate(slowest(TABLES..STAGES)), "M/s"),
        (
            "rate_of_a_core",
            rate((ends.process / 2.0).max(1e-9)),
            "M/s",
        ),
        ("bytes_per_and", ends.bytes / ands, "bytes"),
    ]
}

fn between(
    cpu: Cpu,
    meshes: Vec<Mesh>,
    setting: &Setting,
    work: &Work,
) -> Result<Ends, SuiteError> {
    let before = cycles_a_ns();
    let ends = side_by_side(meshes, |mesh| {
        all(Side::set_up(cpu, mesh, setting, work)?, work.runs)
    })?;
    let (process, bytes) = (ends[0].process.min(ends[1].process), ends[0].bytes);
    Ok(Ends {
        times: ends.into_iter().map(|end| end.times).collect(),
        process,
        bytes,
        cycles_a_ns: (before + cycles_a_ns()) / 2.0,
    })
}

/// The clock of this core now.
fn cycles_a_ns() -> f64 {
    let started = Instant::now();
    let cycles = clock::dependent_additions(4_000_000);
    cycles as f64 / started.elapsed().as_nanos() as f64
}

/// End of a party: what it took.
struct End {
    times: Times,
    process: f64,
    bytes: f64,
}

/// Moments at which stages have ended: the stage, seconds of the thread, the clock.
type Marks = Arc<Mutex<Vec<(usize, f64, Instant)>>>;

/// Notes that a stage has ended.
fn mark(marks: &Marks, stage: usize) {
    let ran = thread_seconds().map_or(0.0, |[ran, _]| ran);
    let mut marks = marks.lock().expect("no party panics");
    marks.push((stage, ran, Instant::now()));
}

/// Notes the end of each part of a refill.
fn watch(marks: &Marks) -> Box<dyn FnMut(Part) + Send> {
    let marks = Arc::clone(marks);
    Box::new(move |part| {
        let stage = match part {
            Part::Transfers => 0,
            Part::Rows => 1,
            Part::Differences => 2,
            Part::Combination => 3,
        };
        mark(&marks, stage);
    })
}

/// All runs of a party. The first one takes memory, and does not count.
fn all(mut side: Side<'_>, runs: usize) -> Result<End, SuiteError> {
    let mut best = Times {
        thread: [f64::INFINITY; STAGES],
        clock: [f64::INFINITY; STAGES],
    };
    let (mut process, mut bytes) = (f64::INFINITY, 0.0);
    let peer = PartyId(1 - side.mesh.me().0);
    for run in 0..runs {
        let inputs = side.inputs()?;
        let crossed = |mesh: &Mesh| mesh.payload_sent(peer) + mesh.payload_received(peer);
        let (before, seconds) = (crossed(&side.mesh), cpu_seconds());
        mark(&side.marks, 0);
        let outputs = side.once(&inputs)?;
        let marks = std::mem::take(&mut *side.marks.lock().expect("no party panics"));
        if run == 0 {
            side.check(outputs)?;
            continue;
        }
        process = process.min(cpu_seconds() - seconds);
        bytes = (crossed(&side.mesh) - before) as f64;
        let times = Times::between(&marks);
        for stage in 0..STAGES {
            best.thread[stage] = best.thread[stage].min(times.thread[stage]);
            best.clock[stage] = best.clock[stage].min(times.clock[stage]);
        }
    }
    side.mesh.finish()?;
    Ok(End {
        times: best,
        process,
        bytes,
    })
}

impl Times {
    fn between(marks: &[(usize, f64, Instant)]) -> Times {
        let mut times = Times {
            thread: [0.0; STAGES],
            clock: [0.0; STAGES],
        };
        for (first, second) in marks.iter().zip(marks.iter().skip(1)) {
            let stage = second.0;
            times.thread[stage] += second.1 - first.1;
            times.clock[stage] += (second.2 - first.2).as_secs_f64();
        }
        times
    }
}
