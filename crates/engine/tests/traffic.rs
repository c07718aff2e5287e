//! Traffic of random sessions, which have no vectors: `tools/faults.py` compares it.

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use sealane_engine::{Job, Journal, NetworkClass, ProtocolName, RunReport, danger_run_with_seed};
use sealane_net::{FrameKind, Mesh};
use sealane_parties::PartyId;
use sealane_plan::fewest_helpers;
use sealane_program::types::Data;
use sealane_testkit::random_program::{Case, arithmetic, cases, cases_of_three};
use sealane_testkit::record::{crossed, recorded};
use sealane_testkit::side::on_threads;
use sealane_testkit::vectors::caught;

const PROTOCOLS: [ProtocolName; 7] = [
    ProtocolName::Yao,
    ProtocolName::YaoThreeHalves,
    ProtocolName::Trio,
    ProtocolName::TrioMalicious,
    ProtocolName::Gmw,
    ProtocolName::Mixed,
    ProtocolName::Auth,
];

/// Random cases of a seed, so many of each kind, each in tiles and as a job
/// of every protocol that can run it.
pub fn random_jobs(seed: u8, count: u64) -> Vec<(Case, u64, Job)> {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let kinds = [
        cases().boxed(),
        cases_of_three().boxed(),
        arithmetic().boxed(),
    ];
    let mut jobs = Vec::new();
    for (kind, at) in kinds
        .iter()
        .flat_map(|kind| (0..count).map(move |at| (kind, at)))
    {
        let case = kind.new_tree(&mut runner).expect("a case").current();
        for protocol in PROTOCOLS {
            let program = case.program.clone();
            let helpers = fewest_helpers(&protocol.profile(), &program).unwrap_or_default();
            let tile = [1, 3, 16, u64::MAX][at as usize % 4];
            let job = Job::in_tiles(program, protocol, NetworkClass::LAN, helpers, tile);
            jobs.extend(job.ok().map(|job| (case.clone(), tile, job)));
        }
    }
    jobs
}

/// Runs a party of a case, with its number as its seed.
pub fn run(case: &Case, job: &Job, mesh: &mut Mesh) -> Result<RunReport, String> {
    let me = mesh.me();
    let own = |input: &sealane_program::graph::Input| -> Option<Data> {
        (PartyId(input.owner) == me).then(|| case.inputs[&input.name].clone())
    };
    let inputs = job.program().inputs.iter().map(own).collect::<Vec<_>>();
    let seed = u64::from(me.0) + 1;
    let mut run = || danger_run_with_seed(job, &inputs, mesh, seed, &mut Journal::silent());
    caught(|| run().map_err(|error| error.to_string())).flatten()
}

/// Prints a digest of the messages of each link, up to a session that fails.
#[test]
#[ignore = "prints what crosses"]
fn of_random_sessions() {
    for (at, (case, _, job)) in random_jobs(1, 12).iter().enumerate() {
        let (meshes, logs) = recorded(job.parties().len());
        let ran = on_threads(meshes, |mut mesh| run(case, job, &mut mesh));
        ran.into_iter()
            .collect::<Result<Vec<_>, _>>()
            .expect("honest");
        let mut hash = blake3::Hasher::new();
        for frame in crossed(&logs).concat().concat() {
            hash.update(&[u8::from(frame.kind == FrameKind::Control)]);
            hash.update(&frame.stamp.to_le_bytes());
            hash.update(&(frame.payload.len() as u64).to_le_bytes());
            hash.update(&frame.payload);
        }
        println!(
            "traffic {at} {} {}",
            job.protocol(),
            hash.finalize().to_hex()
        );
    }
}
