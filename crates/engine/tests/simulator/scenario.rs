//! What a seed decides: who runs what, over which network, and what happens to them.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use sealane_engine::{EngineError, Job, NetworkClass, ProtocolName};
use sealane_net::Limits;
use sealane_program::graph::Program;
use sealane_program::types::Data;
use sealane_testkit::adversary::Harm;
use sealane_testkit::random::Random;
use sealane_testkit::random_program::random_program;
use sealane_testkit::simulator::network::Wire;
use sealane_testkit::simulator::{Bounds, Event, Happening};

use crate::common::simulated::Simulation;
use crate::common::{Attack, PROGRAM, PROGRAM_OF_THREE, named, parse};

/// A run, and what may become of it.
pub struct Scenario {
    pub simulation: Simulation,
    /// All inputs of the program.
    pub inputs: BTreeMap<String, Data>,
    pub fault: Fault,
}

/// What goes wrong.
#[derive(Clone, Debug)]
pub enum Fault {
    /// Nothing, though much may be slow.
    Nothing,
    /// A process dies.
    Death(usize),
    /// A connection is reset.
    Reset([usize; 2]),
    /// A connection carries nothing any more, or not for long, and nobody is told.
    DeadLink([usize; 2]),
    /// All connections of a party carry nothing any more, or its process stops.
    Absence(usize),
    /// A party lives and computes for longer than anybody waits.
    Idleness,
    /// The data of a party are refused.
    BadData(usize),
    /// A party was asked to run another job.
    OtherJob,
    /// A frame is altered, lost, repeated or late.
    Alteration(Attack),
}

impl Fault {
    /// Its name, for counting.
    pub fn name(&self) -> &'static str {
        match self {
            Fault::Nothing => "nothing",
            Fault::Death(_) => "death",
            Fault::Reset(_) => "reset",
            Fault::DeadLink(_) => "dead link",
            Fault::Absence(_) => "absence",
            Fault::Idleness => "idleness",
            Fault::BadData(_) => "bad data",
            Fault::OtherJob => "other job",
            Fault::Alteration(_) => "alteration",
        }
    }
}

/// In how many of a hundred runs nothing goes wrong.
const HONEST_PERCENT: usize = 30;
/// In how many of a hundred runs the program is a random one, which has to be planned first.
const RANDOM_PERCENT: usize = 10;
/// Frames that one party sends another in most runs.
const FRAMES: usize = 24;

impl Scenario {
    /// The scenario that belongs to a seed.
    pub fn new(seed: u64) -> Scenario {
        let mut random = Random::new(seed);
        let (job, inputs) = case(&mut random);
        let parties = job.parties().len();
        let of_party = |party: usize| {
            let input = job.program().inputs.iter();
            let input = input.map(|input| {
                let owned = usize::from(input.owner) == party;
                owned.then(|| inputs[&input.name].clone())
            });
            input.collect()
        };
        let mut simulation =
            Simulation::new(seed, &job, (0..parties).map(of_party).collect::<Vec<_>>());
        let limits = limits(&mut random);
        simulation.limits = vec![limits; parties];
        simulation.wires = wires(&mut random, parties, &limits);
        simulation.bounds = Bounds {
            time: 8 * limits.patience,
            steps: 2_000_000,
        };
        hold_up(&mut random, &mut simulation);
        let fault = match random.percent(HONEST_PERCENT) {
            true => Fault::Nothing,
            false => break_something(&mut random, &mut simulation),
        };
        Scenario {
            simulation,
            inputs,
            fault,
        }
    }
}

/// A job with inputs.
fn case(random: &mut Random) -> (Arc<Job>, BTreeMap<String, Data>) {
    if random.percent(RANDOM_PERCENT)
        && let Some(case) = random_case(random)
    {
        return case;
    }
    static JOBS: OnceLock<Vec<Arc<Job>>> = OnceLock::new();
    let jobs = JOBS.get_or_init(known_jobs);
    let job = Arc::clone(&jobs[random.below(jobs.len())]);
    let inputs = inputs(random, job.program());
    (job, inputs)
}

/// Small jobs of two to five parties.
fn known_jobs() -> Vec<Arc<Job>> {
    use ProtocolName::{Clear, Trio, Yao};
    let jobs: [(&str, ProtocolName, &[&str], u64); 9] = [
        (PROGRAM, Yao, &[], 2),
        (PROGRAM, Yao, &[], u64::MAX),
        (PROGRAM, Trio, &["ada"], 2),
        (PROGRAM, Trio, &["ada", "bob", "cyd"], 3),
        (PROGRAM_OF_THREE, Trio, &[], 1),
        (PROGRAM_OF_THREE, Trio, &[], u64::MAX),
        (PROGRAM, Clear, &[], 2),
        (PROGRAM_OF_THREE, Clear, &["ada"], 2),
        (PROGRAM_OF_THREE, Clear, &["ada", "bob"], u64::MAX),
    ];
    let job = |(text, protocol, helpers, tile)| {
        let job = Job::in_tiles(
            parse(text),
            protocol,
            NetworkClass::Wan,
            named(helpers),
            tile,
        );
        Arc::new(job.unwrap_or_else(|error: EngineError| panic!("{error}")))
    };
    jobs.map(job).into()
}

/// A random program of two parties, unless planning refuses it.
fn random_case(random: &mut Random) -> Option<(Arc<Job>, BTreeMap<String, Data>)> {
    let case = random_program(random.seed());
    let protocol = random.pick(&ProtocolName::ALL);
    let helpers: &[&str] = match protocol {
        ProtocolName::Yao => &[],
        ProtocolName::Trio => random.pick(&[&["ada"][..], &["ada", "bob", "cyd"]]),
        ProtocolName::Clear => random.pick(&[&[][..], &["ada"]]),
    };
    let tile = 1 + random.below(4) as u64;
    let class = NetworkClass::Lan;
    let job = Job::in_tiles(case.program, protocol, class, named(helpers), tile).ok()?;
    Some((Arc::new(job), case.inputs))
}

/// Random inputs of a few rows.
fn inputs(random: &mut Random, program: &Program) -> BTreeMap<String, Data> {
    let rows = 1 + random.below(6) as u64;
    let data = program.inputs.iter().map(|input| {
        let shape = input.shape.rows.map(|_| rows);
        let shape = shape.into_iter().chain(input.shape.fixed.iter().copied());
        let shape = shape.collect::<Vec<_>>();
        let span = (input.range.hi - input.range.lo + 1) as usize;
        let numbers = 0..shape.iter().product();
        let numbers = numbers.map(|_: u64| input.range.lo + random.below(span) as i128);
        let numbers = numbers.collect::<Vec<_>>();
        let data = Data::from_numbers(input.ty, shape, &numbers).expect("numbers of the range");
        (input.name.clone(), data)
    });
    data.collect()
}

/// How long parties wait for each other, and how much waits for them.
fn limits(random: &mut Random) -> Limits {
    let silence = Duration::from_secs(random.pick(&[4, 10, 30]));
    Limits {
        silence,
        // Whoever is silent is found before anybody runs out of patience.
        patience: silence * random.pick(&[10, 40]),
        inbound_bytes: random.pick(&[1, 200, 5_000, 64 << 20]),
        outbound_bytes: random.pick(&[1, 200, 5_000, 4 << 20]),
        ..Limits::default()
    }
}

/// A wire from each party to each other. Signs of life come in time on all of them.
fn wires(random: &mut Random, parties: usize, limits: &Limits) -> Vec<Vec<Wire>> {
    let least = Duration::from_micros(10);
    let most = random.time(least, limits.silence / 16);
    let mut wire = || {
        let latency = random.time(least, most);
        Wire {
            latency,
            jitter: random.time(least, latency),
            bytes_per_s: random.pick(&[50_000, 1_000_000, 1_000_000_000]),
            window_bytes: random.pick(&[3_000, 64 << 10, 4 << 20]),
        }
    };
    let row = |_| (0..parties).map(|_| wire()).collect();
    (0..parties).map(row).collect()
}

/// A party and one of its peers.
fn ends(random: &mut Random, parties: usize) -> [usize; 2] {
    let one = random.below(parties);
    let other = (one + 1 + random.below(parties - 1)) % parties;
    [one, other]
}

/// Lets things take time that everybody has.
fn hold_up(random: &mut Random, simulation: &mut Simulation) {
    let parties = simulation.jobs.len();
    let limits = simulation.limits[0];
    // What one link suffers adds up, so that each may stall once, and one process may stop.
    let short = limits.silence / 4;
    for _ in 0..random.below(4) {
        let time = random.time(Duration::from_millis(1), limits.patience / 16);
        happen(random, simulation, Happening::Computes(time));
    }
    if random.percent(30) {
        let time = random.time(Duration::from_millis(1), short);
        happen(random, simulation, Happening::Freezes(time));
    }
    for one in 0..parties {
        for other in one + 1..parties {
            if random.percent(20) {
                let time = random.time(Duration::from_millis(1), short);
                let what = Happening::Stalls(time);
                simulation.events[one][other].push(event(random, what));
            }
        }
    }
}

fn event(random: &mut Random, what: Happening) -> Event {
    Event {
        // As often as not among the first.
        at: match random.percent(50) {
            true => random.below(5),
            false => random.below(FRAMES),
        },
        after: random.percent(50),
        what,
    }
}

/// Lets something happen somewhere; between whom.
fn happen(random: &mut Random, simulation: &mut Simulation, what: Happening) -> [usize; 2] {
    let [one, other] = ends(random, simulation.jobs.len());
    simulation.events[one][other].push(event(random, what));
    [one, other]
}

/// Lets one thing go wrong.
fn break_something(random: &mut Random, simulation: &mut Simulation) -> Fault {
    let limits = simulation.limits[0];
    let long = 2 * limits.silence + random.time(limits.silence, 2 * limits.patience);
    match random.below(10) {
        0 => Fault::Death(happen(random, simulation, Happening::Dies)[0]),
        1 => Fault::Reset(happen(random, simulation, Happening::Reset)),
        2 => Fault::DeadLink(happen(random, simulation, Happening::Lost)),
        3 => Fault::DeadLink(happen(random, simulation, Happening::Stalls(long))),
        4 => Fault::Absence(happen(random, simulation, Happening::Isolated)[0]),
        5 => Fault::Absence(happen(random, simulation, Happening::Freezes(long))[0]),
        6 => {
            happen(random, simulation, Happening::Computes(2 * limits.patience));
            Fault::Idleness
        }
        7 => bad_data(random, simulation),
        8 => Fault::Alteration(alter(random, simulation)),
        _ => other_job(random, simulation),
    }
}

/// Gives an owner of data less than it has to bring.
fn bad_data(random: &mut Random, simulation: &mut Simulation) -> Fault {
    let owns = |party: &usize| simulation.inputs[*party].iter().any(Option::is_some);
    let owners = (0..simulation.inputs.len())
        .filter(owns)
        .collect::<Vec<_>>();
    let party = random.pick(&owners);
    let mut data = simulation.inputs[party].iter_mut().flatten();
    let first = data.next().expect("an owner owns data");
    first.shape.push(2);
    Fault::BadData(party)
}

fn other_job(random: &mut Random, simulation: &mut Simulation) -> Fault {
    let party = random.below(simulation.jobs.len());
    let job = &simulation.jobs[party];
    let helpers = job.helpers().to_vec();
    let class = match job.network() {
        NetworkClass::Lan => NetworkClass::Wan,
        NetworkClass::Wan => NetworkClass::Lan,
    };
    let other = Job::new(job.program().clone(), job.protocol(), class, helpers);
    simulation.jobs[party] = Arc::new(other.unwrap_or_else(|error| panic!("{error}")));
    Fault::OtherJob
}

fn alter(random: &mut Random, simulation: &mut Simulation) -> Attack {
    let [from, to] = ends(random, simulation.jobs.len());
    let attack = Attack {
        from,
        to,
        at: event(random, Happening::Lost).at,
        harm: random.pick(&[
            Harm::Flip(0),
            Harm::Flip(40),
            Harm::Flip(-1),
            Harm::Garble,
            Harm::Truncate,
            Harm::Grow,
            Harm::Lose,
            Harm::Repeat,
            Harm::Swap,
            Harm::Disguise,
            Harm::Stall,
            Harm::Vanish,
        ]),
    };
    simulation.attack = Some(attack);
    attack
}
