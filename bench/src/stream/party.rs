//! One of the two parties of a run of suite `stream`.

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use sealane_block::{Block, Coins, Cpu, Prg};
use sealane_circuit::{Builder, Machine, Tape, compile};
use sealane_garble::{Evaluator, Garbler, Labels, Scheme, decode};
use sealane_identity::Identity;
use sealane_net::{Cancel, Endpoint, Limits, Mesh, MeshConfig, NetError};
use sealane_parties::PartyId;
use sealane_yao::{IncomingTables, OutgoingTables};
use serde::{Deserialize, Serialize};

use super::{SIDES, Until};
use crate::SuiteError;

const GARBLER: PartyId = PartyId(0);
const EVALUATOR: PartyId = PartyId(1);

/// ANDs of one call of the chain.
const CHAIN_ANDS: usize = 10_000;

/// The seed of the evaluator's labels: inputs are not secret here.
const LABEL_SEED: u64 = 11;

/// The netlists that are called.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) enum Circuit {
    /// AES-128: a key and a block give a block, which is the input of the next call.
    Aes128,
    /// A chain: every AND changes the state, with the bits of the other input.
    Chain,
}

/// The configuration of a party.
#[derive(Serialize, Deserialize)]
pub(super) struct PartyConfig {
    pub(super) me: u8,
    /// The file of this party's key.
    pub(super) identity: PathBuf,
    /// The file for this party's outcome.
    pub(super) outcome: PathBuf,
    /// Both parties.
    pub(super) peers: Vec<Peer>,
    pub(super) tls: bool,
    pub(super) circuit: Circuit,
    /// Rows of a call.
    pub(super) rows: usize,
    pub(super) calls: u64,
}

/// Address and public key of a party.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Peer {
    pub(super) address: String,
    pub(super) key: String,
}

/// The figures of a party.
#[derive(Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub(super) seconds: f64,
    pub(super) ands: u64,
    /// ANDs, XORs and NOTs that are no part of another gate.
    pub(super) gates: u64,
    /// CPU seconds of all threads of this process in that time, system time included.
    pub(super) cpu_seconds: f64,
    /// Seconds in which the thread that computes waited for its channel; none where the system does
    /// not tell.
    pub(super) waiting_seconds: Option<f64>,
    /// Seconds in which that thread waited for a core; none where the system does not tell.
    pub(super) queueing_seconds: Option<f64>,
    /// Peak memory of the process.
    pub(super) peak_bytes: u64,
}

impl Outcome {
    /// The rate of the run.
    pub(crate) fn million_ands_per_s(&self) -> f64 {
        self.ands as f64 / self.seconds / 1e6
    }

    /// The outcome that a party has left.
    pub(super) fn read(part: &PartyConfig) -> Result<Outcome, SuiteError> {
        Ok(serde_json::from_str(&fs::read_to_string(&part.outcome)?)?)
    }
}

/// Calls of `circuit` on `rows` rows until a run is so long.
pub(super) fn calls(circuit: Circuit, rows: usize, until: Until) -> u64 {
    let tape = circuit.tape();
    let (aim, each) = match until {
        Until::Ands(ands) => (ands, tape.ands.len()),
        Until::Gates(gates) => (gates, tape.ands.len() + tape.xors.len()),
    };
    aim.div_ceil((each * rows) as u64)
}

/// Runs the party that the variable configures.
pub(super) fn take(cpu: Cpu, part: &OsStr) -> Result<(), SuiteError> {
    let part: PartyConfig = serde_json::from_str(&part.to_string_lossy())?;
    let config = part.config()?;
    let connect = if part.tls {
        Mesh::connect
    } else {
        Mesh::danger_plaintext
    };
    let mut mesh = connect(&config)?;
    let run = PartyRun::new(cpu, &part);
    let done = match part.me {
        0 => run.garble(&mut mesh),
        _ => run.evaluate(&mut mesh),
    };
    let outcome = done.and_then(|outcome| mesh.finish().map(|()| outcome));
    let outcome = outcome.map_err(|error| error.with_names(&SIDES).to_string())?;
    Ok(fs::write(&part.outcome, serde_json::to_string(&outcome)?)?)
}

impl PartyConfig {
    fn config(&self) -> Result<MeshConfig, SuiteError> {
        let mut parties = Vec::new();
        for (name, peer) in SIDES.iter().zip(&self.peers) {
            parties.push(Endpoint {
                name: (*name).to_string(),
                address: peer.address.clone(),
                key: peer.key.parse().map_err(|_| "no key")?,
            });
        }
        Ok(MeshConfig {
            me: PartyId(self.me),
            identity: Identity::load(&self.identity)?,
            parties,
            listen: None,
            limits: Limits::default(),
            cancel: Cancel::default(),
        })
    }
}

impl Circuit {
    fn tape(self) -> Tape {
        let circuit = match self {
            Circuit::Aes128 => sealane_circuit::aes::circuit(),
            Circuit::Chain => chain(),
        };
        compile(&circuit, &Machine::CPU)
    }
}

/// Builds the chain: each bit of the state is ANDed with the result of the AND before, and changed
/// by it.
fn chain() -> sealane_circuit::Circuit {
    let mut b = Builder::new();
    let (keys, mut state) = (b.input(128), b.input(128));
    let mut last = state[127];
    for i in 0..CHAIN_ANDS {
        let product = b.and(last, state[i % 128]);
        last = b.xor(product, keys[i % 128]);
        state[i % 128] = last;
    }
    b.finish(vec![state])
}

/// A run as both sides see it.
struct PartyRun {
    cpu: Cpu,
    tape: Tape,
    rows: usize,
    calls: u64,
}

impl PartyRun {
    fn new(cpu: Cpu, part: &PartyConfig) -> PartyRun {
        PartyRun {
            cpu,
            tape: part.circuit.tape(),
            rows: part.rows,
            calls: part.calls,
        }
    }

    /// Labels of the same bits at both parties: `offset` where a bit is 1, on top of what the
    /// evaluator holds.
    fn labels(&self, offset: Block) -> Labels {
        let mut labels = Labels::new(&self.tape, self.rows, 1);
        Prg::danger_fixed(self.cpu, LABEL_SEED).fill(&mut labels.inputs);
        for (i, label) in labels.inputs.iter_mut().enumerate() {
            *label ^= offset.masked((i % 3 == 1) as u8);
        }
        labels
    }

    fn garble(&self, mesh: &mut Mesh) -> Result<Outcome, NetError> {
        let mut coins = Coins::danger_fixed_seed(7);
        let seed = coins.public("hash").block();
        let mut garbler = Garbler::new(self.cpu, Scheme::Mi, seed, &mut coins);
        mesh.send(EVALUATOR, Block::as_bytes(&[garbler.seed()]))?;
        mesh.flush()?;
        let mut labels = self.labels(garbler.delta());
        mesh.recv(EVALUATOR, &mut [0])?;
        let meter = Meter::start();
        for _ in 0..self.calls {
            let mut tables = OutgoingTables::new(self.cpu, mesh, EVALUATOR);
            garbler.garble(&self.tape, self.rows, &mut labels, &mut tables)?;
            feed_back(&mut labels);
        }
        let mut table = vec![[Block::ZERO; 2]; labels.outputs.len()];
        garbler.decode_table(&labels.outputs, &mut table);
        mesh.send(EVALUATOR, Block::as_bytes(table.as_flattened()))?;
        mesh.flush()?;
        mesh.recv(EVALUATOR, &mut [0])?;
        Ok(self.outcome(&meter))
    }

    fn evaluate(&self, mesh: &mut Mesh) -> Result<Outcome, NetError> {
        let mut seed = [Block::ZERO];
        mesh.recv(GARBLER, Block::as_bytes_mut(&mut seed))?;
        let mut evaluator = Evaluator::new(self.cpu, Scheme::Mi, seed[0]);
        let mut labels = self.labels(Block::ZERO);
        let say = |mesh: &mut Mesh| mesh.send(GARBLER, &[0]).and_then(|()| mesh.flush());
        say(mesh)?;
        let meter = Meter::start();
        for _ in 0..self.calls {
            let mut tables = IncomingTables::new(self.cpu, mesh, GARBLER);
            evaluator.evaluate(&self.tape, self.rows, &mut labels, &mut tables)?;
            feed_back(&mut labels);
        }
        let count = labels.outputs.len();
        let mut table = vec![[Block::ZERO; 2]; count];
        mesh.recv(GARBLER, Block::as_bytes_mut(table.as_flattened_mut()))?;
        let mut hashes = vec![Block::ZERO; count];
        evaluator.output_hashes(&labels.outputs, &mut hashes);
        decode(&hashes, &table, &mut vec![0; count]).map_err(|_| {
            let reason = "an output is none of the garbler's".into();
            NetError::Misuse { reason }
        })?;
        let outcome = self.outcome(&meter);
        say(mesh)?;
        Ok(outcome)
    }

    fn outcome(&self, meter: &Meter) -> Outcome {
        let total = |gates: usize| gates as u64 * self.rows as u64 * self.calls;
        let seconds = meter.started.elapsed().as_secs_f64();
        let thread = thread_seconds().zip(meter.thread_seconds);
        let [ran, queued] = match thread {
            Some((now, then)) => [0, 1].map(|i| Some(now[i] - then[i])),
            None => [None; 2],
        };
        Outcome {
            seconds,
            waiting_seconds: ran.zip(queued).map(|(r, q)| (seconds - r - q).max(0.0)),
            queueing_seconds: queued,
            ands: total(self.tape.ands.len()),
            gates: total(self.tape.ands.len() + self.tape.xors.len()),
            cpu_seconds: cpu_seconds() - meter.cpu_seconds,
            peak_bytes: peak_bytes(),
        }
    }
}

/// Start of the measured part of a run.
struct Meter {
    started: Instant,
    cpu_seconds: f64,
    thread_seconds: Option<[f64; 2]>,
}

impl Meter {
    fn start() -> Meter {
        Meter {
            started: Instant::now(),
            cpu_seconds: cpu_seconds(),
            thread_seconds: thread_seconds(),
        }
    }
}

/// Returns the CPU time of this process so far, system time included; 0 where the system does not
/// report it.
pub(crate) fn cpu_seconds() -> f64 {
    /// The unit of the file, which is the same on all known machines with Linux.
    const TICKS_PER_S: f64 = 100.0;
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the command, which comes second and stands in brackets, may hold spaces.
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks = fields.split_whitespace().skip(11).take(2);
    ticks.filter_map(|t| t.parse::<f64>().ok()).sum::<f64>() / TICKS_PER_S
}

/// Returns the seconds in which this thread ran and those in which it could have run but had no
/// core; none where the system does not report them.
pub(crate) fn thread_seconds() -> Option<[f64; 2]> {
    let stat = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let mut nanoseconds = stat.split_whitespace().map(str::parse::<u64>);
    let mut next = || Some(nanoseconds.next()?.ok()? as f64 / 1e9);
    Some([next()?, next()?])
}

/// Returns the peak memory of this process; 0 where the system does not report it.
pub(crate) fn peak_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

/// Makes the outputs the last inputs.
fn feed_back(labels: &mut Labels) {
    let first = labels.inputs.len() - labels.outputs.len();
    labels.inputs[first..].copy_from_slice(&labels.outputs);
}
