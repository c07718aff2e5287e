//! Common parts of the tests of failures: small sessions of two to five parties, each party
//! on a thread of its own, over memory or over TLS, with an adversary that harms a frame.

pub mod simulated;

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use sealane_engine::events::{Event, Record};
use sealane_engine::{
    EngineError, Job, Journal, NetworkClass, Observer, ProtocolName, RunReport, run,
};
use sealane_net::{FrameKind, Limits, Mesh, MeshConfig, Transport, full_links, memory_pair};
use sealane_parties::PartyId;
use sealane_program::graph::Program;
use sealane_program::text;
use sealane_program::types::{Data, Type};
use sealane_testkit::adversary::{Adversary, Harm, Seen};
use sealane_testkit::side::on_threads;
use simulated::Simulation;

/// Program of two: a clinic learns which of its rows exceed the lab's limit, the lab their number;
/// both learn the largest value. The clinic counts the rows, at most 100.
pub const PROGRAM: &str = "\
sealane program 1
name over
party clinic
party lab
rows people <= 100
input x : clinic u8[people] in 0..200
input limit : lab u8 in 0..255
main {
  %0 = param 0 : u8[people] in 0..200 known clinic
  %1 = param 1 : u8 in 0..255 known lab
  %2 = gt %0, %1 : bool[people] in 0..1 secret
  %3 = cast %2 : u7[people] in 0..1 secret
  %4 = reduce sum %3 axis 0 : u7 in 0..100 secret
  %5 = reduce max %0 axis 0 : u8 in 0..200 known clinic
}
reveal who = %2 : bool to clinic
reveal count = %4 : u7 to lab
reveal largest = %5 : u8 to clinic, lab
";

/// Program of three: the same for people whom a registry lists. It learns their number too.
pub const PROGRAM_OF_THREE: &str = "\
sealane program 1
name listed
party clinic
party lab
party registry
rows people <= 100
input x : clinic u8[people] in 0..200
input limit : lab u8 in 0..255
input listed : registry bool[people] in 0..1
main {
  %0 = param 0 : u8[people] in 0..200 known clinic
  %1 = param 1 : u8 in 0..255 known lab
  %2 = param 2 : bool[people] in 0..1 known registry
  %3 = gt %0, %1 : bool[people] in 0..1 secret
  %4 = and %3, %2 : bool[people] in 0..1 secret
  %5 = cast %4 : u7[people] in 0..1 secret
  %6 = reduce sum %5 axis 0 : u7 in 0..100 secret
  %7 = reduce max %0 axis 0 : u8 in 0..200 known clinic
}
reveal who = %4 : bool to clinic
reveal count = %6 : u7 to lab, registry
reveal largest = %7 : u8 to clinic, lab
";

/// Time that exceeds every honest pause on a busy machine.
pub const LONG: Duration = Duration::from_secs(20);
/// Concurrent runs in memory, most of which wait.
pub const IN_MEMORY: usize = 32;
/// Concurrent runs in simulated models, in which nobody waits, and one thread computes at a time.
pub const SIMULATED: usize = 4;
/// Concurrent runs over TLS: each link has four threads.
pub const OVER_TLS: usize = 16;

/// Values of the clinic.
pub const X: [i128; 5] = [7, 200, 31, 100, 0];
/// Limit of the lab.
pub const LIMIT: i128 = 30;
/// Membership flags of the registry.
pub const LISTED: [i128; 5] = [1, 1, 0, 1, 1];

pub fn parse(text: &str) -> Program {
    text::parse(text, "over.sealane").unwrap_or_else(|error| panic!("{error}"))
}

pub fn named(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

pub fn job_of(text: &str, protocol: ProtocolName, network: NetworkClass) -> Job {
    Job::new(parse(text), protocol, network, vec![]).unwrap_or_else(|error| panic!("{error}"))
}

/// Helpers that two parties need.
pub fn helpers_of_two(protocol: ProtocolName) -> &'static [&'static str] {
    match protocol {
        ProtocolName::Trio | ProtocolName::TrioMalicious => &["ada"],
        _ => &[],
    }
}

/// A job on a LAN, in tiles of so many rows.
pub fn in_tiles(program: Program, protocol: ProtocolName, helpers: &[&str], tile: u64) -> Job {
    let job = Job::in_tiles(program, protocol, NetworkClass::LAN, named(helpers), tile);
    job.unwrap_or_else(|error| panic!("{error}"))
}

pub fn numbers(ty: Type, shape: Vec<u64>, numbers: &[i128]) -> Data {
    Data::from_numbers(ty, shape, numbers).expect("numbers of the type")
}

/// A job, with the inputs of each of its parties.
pub struct Session {
    pub job: Arc<Job>,
    pub inputs: Vec<Vec<Option<Data>>>,
}

impl Session {
    /// A session in tiles of two rows, so that one run has several.
    pub fn new(text: &str, protocol: ProtocolName, helpers: &[&str]) -> Session {
        let job = in_tiles(parse(text), protocol, helpers, 2);
        let inputs = (0..job.parties().len()).map(|party| inputs_of(job.program(), party));
        let (inputs, job) = (inputs.collect(), Arc::new(job));
        Session { inputs, job }
    }

    /// A session of two parties that both compute.
    pub fn of_two() -> Session {
        Session::new(PROGRAM, ProtocolName::Yao, &[])
    }

    /// A session of three parties that all compute.
    pub fn of_three() -> Session {
        Session::new(PROGRAM_OF_THREE, ProtocolName::Trio, &[])
    }

    /// A session of two parties, and three helpers that compute for them.
    pub fn of_five() -> Session {
        Session::new(PROGRAM, ProtocolName::Trio, &["ada", "bob", "cyd"])
    }

    /// All of these.
    pub fn all_and_guarded() -> Vec<Session> {
        Session::all()
            .into_iter()
            .chain(Session::guarded())
            .collect()
    }

    /// Sessions of three, of five and of two parties of whom one may deviate.
    pub fn guarded() -> [Session; 3] {
        let of = |text, helpers: &[&str]| Session::new(text, ProtocolName::TrioMalicious, helpers);
        [
            of(PROGRAM_OF_THREE, &[]),
            of(PROGRAM, &["ada", "bob", "cyd"]),
            Session::authenticated(),
        ]
    }

    /// A session of two parties of whom either may deviate.
    pub fn authenticated() -> Session {
        Session::new(PROGRAM, ProtocolName::Auth, &[])
    }

    /// A session of two parties, and two helpers that garble and evaluate for them.
    pub fn of_four() -> Session {
        Session::new(PROGRAM, ProtocolName::Yao, &["ada", "bob"])
    }

    /// All sessions, the last ones of two parties on shares.
    pub fn all() -> [Session; 6] {
        let [two, three] = [Session::of_two(), Session::of_three()];
        let of_shares = [ProtocolName::Gmw, ProtocolName::Mixed];
        let [gmw, mixed] = of_shares.map(|protocol| Session::new(PROGRAM, protocol, &[]));
        [
            two,
            three,
            Session::of_five(),
            Session::of_four(),
            gmw,
            mixed,
        ]
    }

    pub fn parties(&self) -> usize {
        self.job.parties().len()
    }

    /// Configurations with which the parties meet over TLS on this machine.
    pub fn configs(&self, limits: Limits) -> Vec<MeshConfig> {
        let names = self.job.parties().iter().map(String::as_str);
        MeshConfig::on_loopback(&names.collect::<Vec<_>>(), limits).expect("free ports")
    }

    /// Name of a party in errors of the network.
    pub fn name(&self, party: usize) -> String {
        format!("{} (party {party})", self.job.parties()[party])
    }

    /// Asserts that a party with results has the right ones, and only its own.
    pub fn assert_right(&self, report: &RunReport) {
        let me = report.party.as_ref().expect("the report of one party");
        let program = self.job.program();
        for (result, planned) in report.results.iter().zip(&program.results) {
            let to = planned.to.iter().map(|to| usize::from(*to));
            let mut to = to.map(|to| &self.job.parties()[to]);
            let learnt = result.data.as_ref();
            let learnt = learnt.map(|data| data.numbers().collect::<Vec<_>>());
            let wanted = to
                .any(|to| to == me)
                .then(|| expected(program, &result.name));
            assert_eq!(learnt, wanted, "{me} learns `{}`", result.name);
        }
        assert_eq!(report.results.len(), program.results.len());
    }

    /// Runs all parties with this session's job; see [`ends`].
    pub fn run<F: Connect>(&self, connect: Vec<F>, limits: &[Limits]) -> Vec<Ending> {
        let jobs = vec![&*self.job; self.parties()];
        let endings = ends(&jobs, &self.inputs, connect, limits, &|_, _| ()).into_iter();
        let endings = endings.map(|ending| ending.expect("no party panics"));
        endings.collect()
    }

    /// Runs all parties in a simulated model while one frame is harmed; each has its own patience,
    /// on the clock of that model. Returns how they ended, and the frames of each link, by sender
    /// and receiver.
    pub fn attack(
        &self,
        attack: Option<Attack>,
        patience: impl Fn(usize) -> Duration,
    ) -> (Vec<Ending>, Frames) {
        let limits = (0..self.parties()).map(|party| patient(patience(party)));
        let simulation = Simulation {
            limits: limits.collect(),
            attack,
            ..Simulation::new(1, &self.job, self.inputs.clone())
        };
        let simulated = simulation.run();
        assert_eq!(simulated.model.stuck, None, "{attack:?}");
        let endings = simulated.endings.into_iter();
        let endings = endings.map(|ending| ending.expect("no party panics"));
        (endings.collect(), simulated.frames)
    }
}

/// Inputs of `party` to its session; a helper has none.
fn inputs_of(program: &Program, party: usize) -> Vec<Option<Data>> {
    let inputs = program.inputs.iter().map(|input| {
        let rows = X.len() as u64;
        let data = match input.name.as_str() {
            "x" => numbers(Type::U8, vec![rows], &X),
            "limit" => numbers(Type::U8, vec![], &[LIMIT]),
            _ => numbers(Type::Bool, vec![rows], &LISTED),
        };
        (usize::from(input.owner) == party).then_some(data)
    });
    inputs.collect()
}

/// Expected value of a result.
fn expected(program: &Program, result: &str) -> Vec<i128> {
    let all_listed = program.parties.len() < 3;
    let over = X.iter().zip(LISTED);
    let over = over.map(|(x, listed)| i128::from(*x > LIMIT && (all_listed || listed == 1)));
    match result {
        "who" => over.collect(),
        "count" => vec![over.sum()],
        _ => X.iter().max().into_iter().copied().collect(),
    }
}

/// Harm to the frame number `at` of those that `from` sends to `to`.
#[derive(Clone, Copy, Debug)]
pub struct Attack {
    pub from: usize,
    pub to: usize,
    pub at: usize,
    pub harm: Harm,
}

/// Kinds and lengths of frames, by sender and receiver.
pub type Frames = Vec<Vec<Vec<(FrameKind, usize)>>>;

/// Links of one party: one to each other.
pub type Row = Vec<Option<Box<dyn Transport>>>;

/// Function that connects the links of a party.
pub trait Connect: FnOnce() -> Result<Row, EngineError> + Send {}
impl<F: FnOnce() -> Result<Row, EngineError> + Send> Connect for F {}

/// Limits under which every wait ends within seconds, and which an honest party keeps even on a
/// busy machine.
pub fn usual_limits() -> Limits {
    Limits {
        connect: Duration::from_secs(10),
        silence: Duration::from_secs(5),
        patience: LONG,
        linger: Duration::from_secs(3),
        ..Limits::default()
    }
}

/// Limits for tests in which a party is waited for in vain.
pub fn short_limits() -> Limits {
    Limits {
        connect: Duration::from_secs(3),
        silence: Duration::from_millis(2500),
        ..usual_limits()
    }
}

/// Limits with this patience.
pub fn patient(patience: Duration) -> Limits {
    Limits {
        patience,
        ..Limits::default()
    }
}

/// Creates a full mesh in memory.
pub fn in_memory(parties: usize) -> Vec<Row> {
    full_links(parties, |_, _| {
        let (one, other) = memory_pair(&Limits::default());
        [Box::new(one), Box::new(other)]
    })
}

/// Puts an adversary on each link of `me`. One of them harms a frame, if the attack is on this
/// party.
pub fn harmed(row: Row, me: usize, attack: Option<Attack>) -> (Row, Vec<Option<Seen>>) {
    let harmed = |(to, link): (usize, Option<Box<dyn Transport>>)| {
        let attack = attack.filter(|attack| (attack.from, attack.to) == (me, to));
        let what = attack.map(|attack| (attack.at, attack.harm));
        let adversary = Adversary::new(link?, what);
        let seen = adversary.seen();
        Some((Box::new(adversary) as Box<dyn Transport>, seen))
    };
    let links = row.into_iter().enumerate().map(harmed);
    links.map(Option::unzip).unzip()
}

/// Observer that calls a function with every event of a run.
pub struct OnEvent<F>(pub F);

impl<F: FnMut(&Record) + Send> Observer for OnEvent<F> {
    fn event(&mut self, record: &Record) {
        (self.0)(record);
    }
}

/// Outcome of a run at one party, and its duration.
pub struct Ending {
    pub result: Result<RunReport, EngineError>,
    pub after: Duration,
}

impl Ending {
    /// Returns the error of a run that had to fail.
    #[track_caller]
    pub fn error(&self) -> &EngineError {
        self.result.as_ref().err().expect("the run has to fail")
    }
}

/// Runs every party with its job and the function that connects its links, and calls `step_round`
/// with a party's number and the number of its turn at each. Returns how they ended; `None` for a
/// party whose thread was torn down. No mesh is dropped before all have ended, so no party learns
/// anything from a dropped mesh.
pub fn ends<F: Connect>(
    jobs: &[&Job],
    inputs: &[Vec<Option<Data>>],
    connect: Vec<F>,
    limits: &[Limits],
    step_round: &(dyn Fn(usize, usize) + Sync),
) -> Vec<Option<Ending>> {
    let side = move |me: usize, job: &Job, inputs: &[Option<Data>], connect: F| {
        let started = Instant::now();
        let mut step_rounds = 0;
        let count = |record: &Record| {
            if matches!(&record.event, Event::StepRound(step_round) if step_round.count > 0) {
                step_round(me, step_rounds);
                step_rounds += 1;
            }
        };
        let mut journal = Journal::new(job, PartyId::from_index(me), OnEvent(count));
        let mut mesh = None;
        let result = connect().and_then(|row| {
            let met = Mesh::from_transports(PartyId::from_index(me), row, limits[me]);
            let mesh = mesh.insert(met.expect("a full row"));
            run(job, inputs, mesh, &mut journal)
        });
        let after = started.elapsed();
        (Ending { result, after }, mesh)
    };
    thread::scope(|scope| {
        let mut threads = Vec::new();
        for (me, ((job, inputs), connect)) in jobs.iter().zip(inputs).zip(connect).enumerate() {
            threads.push(scope.spawn(move || side(me, job, inputs, connect)));
        }
        let sides = threads.into_iter().map(|thread| thread.join().ok());
        let (endings, _meshes): (Vec<_>, Vec<_>) = sides.map(Option::unzip).unzip();
        endings
    })
}

/// Runs every party over its mesh, with the job that it has approved.
pub fn run_each(
    jobs: &[Job],
    meshes: Vec<Mesh>,
    inputs: &[Vec<Option<Data>>],
) -> Vec<Result<RunReport, EngineError>> {
    on_threads(meshes, |mut mesh| {
        let me = mesh.me().index();
        run(&jobs[me], &inputs[me], &mut mesh, &mut Journal::silent())
    })
}

/// Connects a party to the others over TLS.
pub fn over_tls(config: &MeshConfig) -> Result<Row, EngineError> {
    let names = named(&config.names());
    sealane_net::connect_transports(config).map_err(|error| EngineError::from_net(error, &names))
}

/// Tells if there is time for all cases instead of a sample.
pub fn is_nightly() -> bool {
    std::env::var_os("SEALANE_NIGHTLY").is_some()
}

/// Checks many cases, so many at once: most of them wait more than they compute.
pub fn sweep<T: Send>(at_once: usize, cases: impl IntoIterator<Item = T>, run: impl Fn(T) + Sync) {
    let cases = Mutex::new(cases.into_iter().collect::<Vec<_>>());
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                loop {
                    let case = cases.lock().expect("no holder of the lock panics").pop();
                    let Some(case) = case else { return };
                    run(case);
                }
            });
        }
    });
}
