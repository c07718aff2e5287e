//! Runs that take their oblivious transfers from the pool of their two parties.

use crate::common::{PROGRAM, Session, in_tiles, named, parse};
use sealane_block::{Coins, Cpu};
use sealane_engine::{
    EngineError, FailureKind, Job, Journal, NetworkClass, PoolShare, ProtocolName, RunReport,
    fill_pool, run_with_pool,
};
use sealane_identity::Identity;
use sealane_net::Mesh;
use sealane_pool::{Filling, Order, Pool, Role};
use sealane_program::types::Data;
use sealane_testkit::page;
use sealane_testkit::side::on_threads;
use std::time::Duration;
use tempfile::TempDir;

/// The pools of two parties, in a folder of this test.
pub struct Pools {
    pub pools: [Pool; 2],
    _folder: TempDir,
}

impl Pools {
    /// Pools with so many batches for each receiver.
    pub fn with(batches: [u64; 2]) -> Pools {
        let folder = tempfile::tempdir().unwrap();
        let parties = [Identity::generate(), Identity::generate()];
        let pools = [0, 1].map(|party| {
            let folder = folder.path().join(format!("{party}"));
            Pool::new(&folder, &parties[party], &parties[1 - party].public_key())
        });
        let network = NetworkClass::LAN;
        let order = Order { batches, network };
        on_threads(Mesh::in_memory(2), |mut mesh| {
            let filling = Filling {
                pool: &pools[mesh.me().index()],
                cpu: Cpu::best(),
                progress: &mut |_| (),
                least: None,
            };
            let made = filling.run(order, Coins::from_os().unwrap(), &mut mesh);
            assert!(made.is_ok());
        });
        let _folder = folder;
        Pools { pools, _folder }
    }

    /// Batches that are left for the receiver, at either party.
    pub fn left(&self, receiver: usize) -> [u64; 2] {
        [0, 1].map(|party| {
            let role = if party == receiver {
                Role::Receiver
            } else {
                Role::Sender
            };
            self.pools[party].count(role).unwrap().left
        })
    }

    /// Runs a session, each party with its job.
    fn run(&self, session: &Session, jobs: [&Job; 2]) -> [Result<RunReport, EngineError>; 2] {
        self.run_over(Mesh::in_memory(2), &session.inputs, jobs)
    }

    /// Runs a session over these links.
    pub fn run_over(
        &self,
        meshes: Vec<Mesh>,
        inputs: &[Vec<Option<Data>>],
        jobs: [&Job; 2],
    ) -> [Result<RunReport, EngineError>; 2] {
        let ends = on_threads(meshes, |mut mesh| {
            let me = mesh.me().index();
            let (inputs, pool) = (&inputs[me], Some(&self.pools[me]));
            run_with_pool(jobs[me], inputs, pool, &mut mesh, &mut Journal::silent())
        });
        ends.try_into().ok().expect("two parties")
    }
}

fn job(protocol: ProtocolName, helpers: &[&str]) -> Job {
    in_tiles(parse(PROGRAM), protocol, helpers, 2)
}

fn share(job: &Job) -> PoolShare {
    let shares = PoolShare::of(job, &job.cost(&[5]).unwrap());
    let [share] = shares[..] else {
        panic!("the evaluator alone has inputs: {shares:?}")
    };
    share
}

#[test]
fn a_run_with_a_pool_is_right_and_as_planned() {
    for protocol in [ProtocolName::Yao, ProtocolName::YaoThreeHalves] {
        let (plain, pooled) = (job(protocol, &[]), job(protocol, &[]).from_pool().unwrap());
        assert_ne!(plain.hash(), pooled.hash());
        let (before, after) = (plain.cost(&[5]).unwrap(), pooled.cost(&[5]).unwrap());
        // The nonce of the set-up is waited for in either case.
        assert_eq!(after.promise.rounds, before.promise.rounds);
        assert!(after.compute_ns + 10_000_000 < before.compute_ns);
        assert_eq!(PoolShare::of(&plain, &before), []);
        let share = share(&pooled);
        let evaluator = share.receiver.index();
        let mut batches = [0, 0];
        batches[evaluator] = 2 * share.batches;
        let (session, pools) = (Session::new(PROGRAM, protocol, &[]), Pools::with(batches));
        for runs in 1..=2 {
            for end in pools.run(&session, [&pooled; 2]) {
                let report = end.unwrap_or_else(|error| panic!("{error}"));
                session.assert_right(&report);
                assert!(report.as_planned());
            }
            assert_eq!(pools.left(evaluator), [(2 - runs) * share.batches; 2]);
        }
        for end in pools.run(&session, [&pooled; 2]) {
            let error = end.err().expect("nothing is left");
            let refused = ["pool-short", "peer-gave-up"].contains(&error.finding().code.name());
            assert!(refused, "{error}");
        }
        // Without the pool it runs as before.
        for end in pools.run(&session, [&plain; 2]) {
            session.assert_right(&end.unwrap_or_else(|error| panic!("{error}")));
        }
    }
}

#[test]
fn a_pool_for_the_other_party_is_of_no_use() {
    let pooled = job(ProtocolName::Yao, &[]).from_pool().unwrap();
    let share = share(&pooled);
    let mut batches = [share.batches; 2];
    batches[share.receiver.index()] = 0;
    let pools = Pools::with(batches);
    for end in pools.run(&Session::of_two(), [&pooled; 2]) {
        assert_ne!(end.err().expect("too few").kind(), FailureKind::Internal);
    }
    assert_eq!(pools.left(share.sender.index()), [share.batches; 2]);
}

#[test]
fn both_parties_have_to_draw_on_the_pool() {
    let (plain, pooled) = (job(ProtocolName::Yao, &[]), job(ProtocolName::Yao, &[]));
    let pooled = pooled.from_pool().unwrap();
    let evaluator = share(&pooled).receiver.index();
    let pools = Pools::with([4, 4]);
    for end in pools.run(&Session::of_two(), [&plain, &pooled]) {
        let error = end.err().expect("two jobs").to_string();
        let said = error.contains("use of a pool") && error.contains("with `--pool`");
        assert!(said, "{error}");
    }
    assert_eq!(pools.left(evaluator), [4, 4]);
}

#[test]
fn what_has_no_use_for_a_pool_says_so() {
    let refused = job(ProtocolName::Trio, &["ada", "bob", "cyd"]).from_pool();
    let error = refused.err().expect("five parties");
    assert_eq!(error.kind(), FailureKind::Misuse);
    page::shows("no-pool", &error.to_string());
    assert!(job(ProtocolName::Clear, &[]).from_pool().is_err());
}

#[test]
fn two_who_want_other_fills_make_nothing() {
    let pools = Pools::with([1, 1]);
    let names = &named(&["hospital", "lab"]);
    let fill = || {
        on_threads(Mesh::in_memory(2), |mut mesh| {
            let me = mesh.me().index();
            if me == 0 {
                // It then finds the order of the lab, which waits for its own.
                std::thread::sleep(Duration::from_millis(20));
            }
            let (batches, network) = ([[1, 0], [1, 2]][me], NetworkClass::LAN);
            let order = Order { batches, network };
            let end = fill_pool(&pools.pools[me], order, None, names, &mut mesh, &mut |_| ());
            end.expect_err("the orders differ")
        })
    };
    // Who compares first says so; the other one hears that it gave up.
    let found = (0..100).map(|_| fill());
    let first = found.map(|ends| ends[0].to_string());
    let mut reported = first.into_iter();
    let reported = reported.find(|text| !text.contains("peer-gave-up"));
    let reported = reported.expect("the hospital was first once in 100 times");
    page::shows("pool-differs", &reported);
    assert_eq!([0, 1].map(|receiver| pools.left(receiver)), [[1, 1]; 2]);
}
