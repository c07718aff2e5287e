//! Parties that fail a check, in a run or while a pool is filled: this party's pool with them is
//! gone before anybody sees the error, and the error says so where it could not be destroyed.
//!
//! The answer to a check comes behind the digest of the messages that it depends on. So a party
//! whose answer is changed is one that deviates, to the other party; and TLS keeps everybody else
//! from changing it.

use crate::common::{Attack, OnEvent, Session, harmed, in_memory, named};
use sealane_block::{Block, Coins, Cpu};
use sealane_engine::events::{Event, Record};
use sealane_engine::{EngineError, Job, Journal, NetworkClass, fill_pool, run_with_pool};
use sealane_identity::Identity;
use sealane_net::{Limits, Mesh};
use sealane_ot::ferret::{FerretSender, Params};
use sealane_ot::softspoken::Sender;
use sealane_ot::traits::{CotSender, CotTerms};
use sealane_ot::{OtError, Security, SoftSpoken};
use sealane_parties::PartyId;
use sealane_pool::{FillError, Order, Pool};
use sealane_testkit::adversary::Harm;
use sealane_testkit::side::on_threads;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

/// The party whose pool is watched, and the one that deviates.
const ME: usize = 0;
const CHEAT: usize = 1;

/// Pools of two parties that hold something for each.
struct Pools {
    pools: [Pool; 2],
    folder: TempDir,
}

impl Pools {
    fn filled() -> Pools {
        let folder = tempfile::tempdir().unwrap();
        let parties = [Identity::generate(), Identity::generate()];
        let pools = [0, 1].map(|party: usize| {
            let folder = folder.path().join(party.to_string());
            Pool::new(&folder, &parties[party], &parties[1 - party].public_key())
        });
        let pools = Pools { pools, folder };
        let ends = pools.fill(lan([1, 1]), meshes(None));
        assert!(ends.iter().all(Result::is_ok));
        // A state, and a file for each direction.
        assert_eq!(pools.contents(ME).len(), 3);
        pools
    }

    fn fill(&self, order: Order, meshes: [Mesh; 2]) -> [Result<u64, EngineError>; 2] {
        let names = &named(&["clinic", "lab"]);
        both(meshes, |party, mut mesh| {
            let pool = &self.pools[party];
            fill_pool(pool, order, None, names, &mut mesh, &mut |_| ())
        })
    }

    /// Files of a party's pool that are of use to anybody.
    fn contents(&self, party: usize) -> Vec<PathBuf> {
        let folders = fs::read_dir(self.folder.path().join(party.to_string())).unwrap();
        let files = folders.flat_map(|folder| fs::read_dir(folder.unwrap().path()).unwrap());
        let files = files.map(|file| file.unwrap().path());
        let is_lock = |path: &PathBuf| path.to_string_lossy().ends_with("lock");
        files.filter(|path| !is_lock(path)).collect()
    }

    fn state(&self, party: usize) -> PathBuf {
        let contents = self.contents(party).into_iter();
        let mut states = contents.filter(|path| path.ends_with("state"));
        states.next().expect("a pool has a state")
    }

    /// A run of two parties without a pool, which is there all the same. Returns the error of the
    /// party that is watched; `watch` is called when it fails, before anybody else knows.
    fn run(&self, meshes: [Mesh; 2], watch: &(dyn Fn() + Sync)) -> EngineError {
        let session = Session::of_two();
        let job: &Job = &session.job;
        let [mine, _] = both(meshes, |party, mut mesh| {
            let failed = |record: &Record| {
                if party == ME && matches!(record.event, Event::Failed(_)) {
                    watch();
                }
            };
            let mut journal = Journal::new(job, PartyId::from_index(party), OnEvent(failed));
            let (inputs, pool) = (&session.inputs[party], &self.pools[party]);
            run_with_pool(job, inputs, Some(pool), &mut mesh, &mut journal)
        });
        mine.err().expect("the other party deviates")
    }
}

fn lan(batches: [u64; 2]) -> Order {
    let network = NetworkClass::LAN;
    Order { batches, network }
}

/// A mesh for each party; one frame of the party that deviates is altered.
pub fn meshes(attack: Option<(usize, Harm)>) -> [Mesh; 2] {
    let (from, to) = (CHEAT, ME);
    let attack = attack.map(|(at, harm)| Attack { from, to, at, harm });
    let meshes = in_memory(2).into_iter().enumerate().map(|(me, row)| {
        let (row, _) = harmed(row, me, attack);
        let mesh = Mesh::from_transports(PartyId::from_index(me), row, Limits::default());
        mesh.expect("a full row")
    });
    meshes.collect::<Vec<_>>().try_into().ok().expect("two")
}

fn both<T: Send>(meshes: [Mesh; 2], side: impl Fn(usize, Mesh) -> T + Sync) -> [T; 2] {
    let ends = on_threads(meshes, |mesh| side(mesh.me().index(), mesh));
    ends.try_into().ok().expect("two parties")
}

#[track_caller]
fn assert_deviated(error: &EngineError) {
    let finding = error.finding();
    assert_eq!(finding.code.name(), "peer-deviated", "{error}");
    let said = "lab failed a check of oblivious transfers: it deviated from the protocol";
    assert!(finding.message.starts_with(said), "{error}");
}

/// The evaluator's messages: three of the handshake, base OTs, trees, and the extension, with the
/// answer to the check before a byte of choices.
const ANSWER_IN_RUN: (usize, Harm) = (5, Harm::Flip(-2));

#[test]
fn a_check_that_fails_in_a_run_destroys_the_pool_before_the_error_is_reported() {
    let (pools, reported) = (Pools::filled(), AtomicBool::new(false));
    let error = pools.run(meshes(Some(ANSWER_IN_RUN)), &|| {
        assert_eq!(pools.contents(ME), Vec::<PathBuf>::new());
        reported.store(true, Ordering::SeqCst);
    });
    assert_deviated(&error);
    assert!(error.finding().reason.contains("have been destroyed here"));
    assert!(reported.load(Ordering::SeqCst));
    assert_eq!(pools.contents(ME), Vec::<PathBuf>::new());
    // The other party has found nothing wrong.
    assert_eq!(pools.contents(CHEAT).len(), 3);
}

#[test]
fn a_run_that_fails_otherwise_keeps_the_pool() {
    let pools = Pools::filled();
    // Corrections that are altered before their digest.
    let (at, _) = ANSWER_IN_RUN;
    let error = pools.run(meshes(Some((at, Harm::Flip(0)))), &|| ());
    assert_eq!(error.finding().code.name(), "altered", "{error}");
    assert_eq!(pools.contents(ME).len(), 3);
}

#[test]
fn a_pool_that_could_not_be_destroyed_is_named_in_the_error() {
    let pools = Pools::filled();
    // A folder with a file in place of the state, which nothing here removes.
    let state = pools.state(ME);
    fs::remove_file(&state).unwrap();
    fs::create_dir(&state).unwrap();
    fs::write(state.join("of others"), "").unwrap();
    let error = pools.run(meshes(Some(ANSWER_IN_RUN)), &|| ());
    assert_deviated(&error);
    let finding = error.finding();
    let said = "No result of this run must be used. The pool with this party could not be \
                destroyed: the pool at ";
    assert!(finding.reason.starts_with(said), "{error}");
    let folder = state.parent().unwrap().to_str().unwrap();
    assert!(finding.reason.contains(folder));
    let hint = "remove the folder of the pool by hand";
    assert!(finding.hint.contains(hint));
    // All that could be removed has been.
    assert_eq!(pools.contents(ME), [state]);
}

#[test]
fn a_receiver_that_fails_the_check_of_a_fill_destroys_the_pool() {
    let pools = Pools::filled();
    // The messages of the receiver: a greeting, base OTs, trees, and the extension, whose end is
    // the answer to the check.
    let [mine, _] = pools.fill(lan([0, 2]), meshes(Some((3, Harm::Flip(-1)))));
    assert_deviated(&mine.expect_err("an answer that is wrong"));
    assert_eq!(pools.contents(ME), Vec::<PathBuf>::new());
}

/// Correlated OTs with errors at the sender.
struct Wrong(Sender);

impl CotSender for Wrong {
    fn terms(&self) -> CotTerms {
        self.0.terms()
    }

    fn delta(&self) -> Block {
        self.0.delta()
    }

    fn extend(&mut self, mesh: &mut Mesh, q: &mut [Block]) -> Result<(), OtError> {
        self.0.extend(mesh, q)?;
        for (j, q) in (1..).zip(q) {
            *q ^= Block::new(j << 20);
        }
        Ok(())
    }
}

/// A sender of silent OTs whose proof is wrong, and all its digests right.
fn proves_wrongly(pool: &Pool, order: Order, mesh: &mut Mesh) -> Result<(), FillError> {
    let (cpu, receiver) = (Cpu::best(), PartyId::from_index(ME));
    sealane_pool::exchange_offers(order, &pool.offer()?, [7; 32], mesh)?;
    let mut coins = Coins::danger_fixed_seed(1).enter(mesh.session().as_bytes());
    let (extension, delta) = (SoftSpoken::on(order.network), Block::new(0x1235));
    let setup = Sender::set_up(extension, cpu, mesh, receiver, delta, &mut coins)?;
    mesh.flush()?;
    let mut source = Wrong(setup.finish(mesh)?);
    let params = Params::new(Security::Malicious);
    FerretSender::set_up(cpu, mesh, receiver, params, &mut source, &mut coins)?;
    Ok(mesh.flush()?)
}

#[test]
fn a_sender_whose_proof_is_wrong_destroys_the_pool() {
    let pools = Pools::filled();
    // So many that they are silent.
    let (batches, network) = ([2048, 0], NetworkClass::WAN);
    let order = Order { batches, network };
    let names = &named(&["clinic", "lab"]);
    let [mine, other] = both(meshes(None), |party, mut mesh| {
        let pool = &pools.pools[party];
        match party {
            ME => fill_pool(pool, order, None, names, &mut mesh, &mut |_| ()).err(),
            _ => {
                let end = proves_wrongly(pool, order, &mut mesh);
                assert!(end.is_ok(), "it has sent its proof");
                None
            }
        }
    });
    assert!(other.is_none());
    assert_deviated(&mine.expect("a proof that is wrong"));
    assert_eq!(pools.contents(ME), Vec::<PathBuf>::new());
}
