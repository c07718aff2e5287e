//! Whole runs of the engine, from the handshake to the farewell, against peers that send arbitrary
//! frames, among them those of another run. With `clear` and `yao` a run ends with an error, or
//! with the results of the honest run and no others. With `trio` peers that replay messages of
//! another run change results, as any corrupt peer can (SECURITY.md); TLS prevents everybody else
//! from doing so.

use crate::script::{Script, Tap, mesh};
use crate::wire::{bytes_of, frames_of};
use sealane_engine::{EngineError, FailureKind, Job, Journal, NetworkClass, ProtocolName};
use sealane_engine::{RunReport, danger_run_with_seed, simulate};
use sealane_fuzz_harness::{Accepted, Verdict};
use sealane_net::{Frame, Limits, Mesh};
use sealane_parties::PartyId;
use sealane_program::text::parse;
use sealane_program::types::Data;
use sealane_testkit::side::on_threads;
use std::sync::LazyLock;

static CLEAR: LazyLock<Scene> = LazyLock::new(|| Scene::of(ProtocolName::Clear));
static YAO: LazyLock<Scene> = LazyLock::new(|| Scene::of(ProtocolName::Yao));
static TRIO: LazyLock<Scene> = LazyLock::new(|| Scene::of(ProtocolName::Trio));
static GUARDED: LazyLock<Scene> = LazyLock::new(|| Scene::of(ProtocolName::TrioMalicious));

/// Two parties of `clear`.
pub fn clear(bytes: &[u8]) -> Verdict {
    CLEAR.hostile(bytes)
}

/// The garbler or the evaluator.
pub fn yao(bytes: &[u8]) -> Verdict {
    YAO.hostile(bytes)
}

/// One of three roles.
pub fn trio(bytes: &[u8]) -> Verdict {
    TRIO.hostile(bytes)
}

/// One of three roles with proofs. Both peers may deviate here, who can open results to any value
/// together.
pub fn guarded(bytes: &[u8]) -> Verdict {
    GUARDED.hostile(bytes)
}

/// Messages of honest peers to each party in a run, for each target.
pub fn seeds() -> [(&'static str, Vec<Vec<u8>>); 4] {
    let scenes = [
        ("clear-run", &CLEAR),
        ("yao-run", &YAO),
        ("trio-run", &TRIO),
        ("guarded-run", &GUARDED),
    ];
    scenes.map(|(target, scene)| (target, scene.recorded()))
}

/// A job with inputs and results.
struct Scene {
    job: Job,
    /// Inputs of each party.
    inputs: Vec<Vec<Option<Data>>>,
    /// The results of the honest run.
    results: Vec<Option<Data>>,
}

/// Program of two parties: the clinic counts the rows, at most 100, and learns its largest value
/// alone; the lab has a limit.
const TWO: &str = include_str!("../corpus/plan/over");
/// The same for people listed by a registry.
const THREE: &str = include_str!("../corpus/plan/listed");

/// Protocols of three who compute, of whom two change results together.
fn of_three(protocol: ProtocolName) -> bool {
    matches!(protocol, ProtocolName::Trio | ProtocolName::TrioMalicious)
}

/// Rows of the clinic and the registry.
const ROWS: u64 = 5;

impl Scene {
    fn of(protocol: ProtocolName) -> Scene {
        let text = if of_three(protocol) { THREE } else { TWO };
        let program = parse(text, "text").expect("a program");
        let data = |input: &sealane_program::graph::Input| {
            let shape: Vec<u64> = input.shape.rows.map(|_| ROWS).into_iter().collect();
            let count = shape.iter().product::<u64>() as i128;
            let numbers: Vec<i128> = (0..count).map(|n| 37 * n % (input.range.hi + 1)).collect();
            Data::from_numbers(input.ty, shape, &numbers).expect("numbers in their range")
        };
        let all: Vec<Data> = program.inputs.iter().map(data).collect();
        let own = |party: usize| {
            let mine = |at: usize| usize::from(program.inputs[at].owner) == party;
            let input = |(at, data): (usize, &Data)| mine(at).then(|| data.clone());
            all.iter().enumerate().map(input).collect()
        };
        let inputs = (0..program.parties.len()).map(own).collect();
        let job = Job::new(program.clone(), protocol, NetworkClass::LAN, vec![]).expect("a job");
        let report = simulate(&job, all).expect("an honest run");
        let results = report.results.into_iter().map(|result| result.data);
        Scene {
            job,
            inputs,
            results: results.collect(),
        }
    }

    /// Runs one party, named by the first byte, against frames of its peers: each after the number
    /// of the peer.
    fn hostile(&self, bytes: &[u8]) -> Verdict {
        let (me, rest) = bytes.split_first()?;
        let parties = self.inputs.len();
        let me = PartyId::from_index(usize::from(*me) % parties);
        let mut frames: Vec<Vec<Frame>> = vec![Vec::new(); parties - 1];
        for frame in frames_of(rest) {
            // The upper bits of a stamp name the sender.
            let peer = (frame.stamp >> STAMP_BITS) as usize % frames.len();
            let stamp = frame.stamp & ((1 << STAMP_BITS) - 1);
            frames[peer].push(Frame { stamp, ..frame });
        }
        let mut mesh = mesh(me, frames.into_iter().map(Script::of).collect());
        match self.run(me, &mut mesh) {
            Err(error) if error.kind() == FailureKind::Internal => {
                panic!("no bug of ours: {error}")
            }
            Err(_) => None,
            Ok(report) => {
                for (result, wanted) in report.results.iter().zip(&self.results) {
                    let same = result.data.is_none()
                        || result.data == *wanted
                        || of_three(self.job.protocol());
                    assert!(same, "{} is another than in an honest run", result.name);
                }
                Some(Accepted)
            }
        }
    }

    /// One party of a run. Its randomness is fixed, so that recorded peers belong to its session.
    fn run(&self, me: PartyId, mesh: &mut Mesh) -> Result<RunReport, EngineError> {
        let (inputs, seed) = (&self.inputs[me.index()], u64::from(me.0) + 1);
        danger_run_with_seed(&self.job, inputs, mesh, seed, &mut Journal::silent())
    }

    /// Messages that each party received in an honest run.
    fn recorded(&self) -> Vec<Vec<u8>> {
        let (meshes, taps) = Tap::full(self.inputs.len(), &Limits::default());
        on_threads(meshes, |mut mesh| {
            self.run(mesh.me(), &mut mesh).expect("an honest run");
        });
        let one = |(me, taps): (usize, Vec<Tap>)| {
            let mut bytes = vec![me as u8];
            for (peer, tap) in taps.iter().enumerate() {
                for frame in tap.frames() {
                    let stamp = frame.stamp | (peer as u32) << STAMP_BITS;
                    bytes.extend(bytes_of(&Frame { stamp, ..frame }));
                }
            }
            bytes
        };
        taps.into_iter().enumerate().map(one).collect()
    }
}

/// Bits of a stamp in an input; a run here has far fewer rounds.
const STAMP_BITS: u32 = 12;
