//! Scenario of a seed: parties, job, network and faults.

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
use crate::common::{Attack, Frames, PROGRAM, PROGRAM_OF_THREE, named, parse};

/// A run with its faults.
pub struct Scenario {
    pub simulation: Simulation,
    /// All inputs of the program.
    pub inputs: BTreeMap<String, Data>,
    pub fault: Fault,
    /// The frames of the run if nothing goes wrong.
    pub frames: Frames,
}

/// Fault of a run.
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
    Alteration,
}

impl Fault {
    /// Name for statistics.
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
            Fault::Alteration => "alteration",
        }
    }
}

/// Percentage of runs without a fault.
const HONEST_PERCENT: usize = 30;
/// Buffer size that exceeds all that a party sends at the end.
pub const ROOM: usize = 64 << 10;
/// Percentage of runs with a random program, which has to be planned first.
const RANDOM_PERCENT: usize = 10;

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
        let (time, steps) = (8 * limits.patience, 2_000_000);
        simulation.bounds = Bounds { time, steps };
        let frames = Simulation::new(seed, &job, simulation.inputs.clone()).run();
        let frames = frames.frames;
        let mut breaker = Breaker {
            random,
            simulation,
            frames: &frames,
        };
        breaker.hold_up();
        let fault = if breaker.random.percent(HONEST_PERCENT) {
            Fault::Nothing
        } else {
            breaker.break_something()
        };
        Scenario {
            simulation: breaker.simulation,
            inputs,
            fault,
            frames,
        }
    }
}

impl Scenario {
    /// Time that `party` computes in all.
    pub fn computing(&self, party: usize) -> Duration {
        let events = self.simulation.events[party].iter().flatten();
        let times = events.map(|event| match event.what {
            Happening::Computes(time) => time,
            _ => Duration::ZERO,
        });
        times.sum()
    }

    /// Upper bound of the time until `party` notices a message of another one: while it computes,
    /// and while a process is stopped or a link stalls.
    pub fn time_to_hear(&self, party: usize) -> Duration {
        let mut time = self.computing(party);
        for event in self.simulation.events.iter().flatten().flatten() {
            if let Happening::Freezes(held_up) | Happening::Stalls(held_up) = event.what {
                time += held_up;
            }
        }
        let wires = self.simulation.wires.iter().flatten();
        let trips = wires.map(|wire| 2 * (wire.latency + wire.jitter));
        time + trips.max().unwrap_or_default()
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
    use ProtocolName::{Auth, Clear, Gmw, Mixed, Trio, Yao};
    let jobs: [(&str, ProtocolName, &[&str], u64); 17] = [
        (PROGRAM, Yao, &[], 2),
        (PROGRAM, Yao, &[], u64::MAX),
        (PROGRAM, Yao, &["ada", "bob"], 2),
        (PROGRAM_OF_THREE, Yao, &["ada", "bob"], u64::MAX),
        (PROGRAM, Trio, &["ada"], 2),
        (PROGRAM, Trio, &["ada", "bob", "cyd"], 3),
        (PROGRAM_OF_THREE, Trio, &[], 1),
        (PROGRAM_OF_THREE, Trio, &[], u64::MAX),
        (PROGRAM, Gmw, &[], 2),
        (PROGRAM_OF_THREE, Gmw, &["ada", "bob"], 3),
        (PROGRAM, Mixed, &[], 2),
        (PROGRAM_OF_THREE, Mixed, &["ada", "bob"], 3),
        (PROGRAM, Auth, &[], 2),
        (PROGRAM, Auth, &[], u64::MAX),
        (PROGRAM, Clear, &[], 2),
        (PROGRAM_OF_THREE, Clear, &["ada"], 2),
        (PROGRAM_OF_THREE, Clear, &["ada", "bob"], u64::MAX),
    ];
    let job = |(text, protocol, helpers, tile)| {
        let (program, class) = (parse(text), NetworkClass::WAN);
        let job = Job::in_tiles(program, protocol, class, named(helpers), tile);
        Arc::new(job.unwrap_or_else(|error: EngineError| panic!("{error}")))
    };
    jobs.map(job).into()
}

/// A random program of two parties, unless planning refuses it.
fn random_case(random: &mut Random) -> Option<(Arc<Job>, BTreeMap<String, Data>)> {
    let case = random_program(random.seed());
    let protocol = random.pick(&ProtocolName::ALL);
    let helpers: &[&str] = match protocol {
        ProtocolName::Yao
        | ProtocolName::YaoThreeHalves
        | ProtocolName::Gmw
        | ProtocolName::Mixed => random.pick(&[&[][..], &["ada", "bob"]]),
        ProtocolName::Trio | ProtocolName::TrioMalicious => {
            random.pick(&[&["ada"][..], &["ada", "bob", "cyd"]])
        }
        ProtocolName::Auth => &[],
        ProtocolName::Clear => random.pick(&[&[][..], &["ada"]]),
    };
    let tile = 1 + random.below(4) as u64;
    let class = NetworkClass::LAN;
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

/// Limits of time and of buffered bytes for all parties.
fn limits(random: &mut Random) -> Limits {
    let silence = Duration::from_secs(random.pick(&[4, 10, 30]));
    // Silence is detected before anybody runs out of patience.
    let patience = silence * random.pick(&[10, 40]);
    Limits {
        silence,
        patience,
        // A party that aborts stays until all that are held up have heard why.
        linger: patience / 4,
        inbound_bytes: random.pick(&[1, 200, 5_000, 64 << 20]),
        outbound_bytes: random.pick(&[1, 200, 5_000, 4 << 20]),
        ..Limits::default()
    }
}

/// A wire from each party to each other. Heartbeats come in time on all of them.
fn wires(random: &mut Random, parties: usize, limits: &Limits) -> Vec<Vec<Wire>> {
    let least = Duration::from_micros(10);
    let most = random.time(least, limits.silence / 16);
    let keeps = random.percent(50);
    let mut wire = || {
        let latency = random.time(least, most);
        Wire {
            latency,
            jitter: random.time(least, latency),
            bytes_per_s: random.pick(&[50_000, 1_000_000, 1_000_000_000]),
            window_bytes: random.pick(&[3_000, 64 << 10, 4 << 20]),
            keeps,
        }
    };
    let row = |_| (0..parties).map(|_| wire()).collect();
    (0..parties).map(row).collect()
}

/// Generator of events and faults for a run.
struct Breaker<'a> {
    random: Random,
    simulation: Simulation,
    /// Frames of the run without faults.
    frames: &'a Frames,
}

impl Breaker<'_> {
    /// A party and one of its peers.
    fn ends(&mut self) -> [usize; 2] {
        let parties = self.simulation.jobs.len();
        let one = self.random.below(parties);
        let other = (one + 1 + self.random.below(parties - 1)) % parties;
        [one, other]
    }

    /// The number of a frame from one party to another: often the first, or one of the last.
    fn frame(&mut self, [from, to]: [usize; 2]) -> usize {
        let count = self.frames[from][to].len();
        match self.random.below(4) {
            0 => 0,
            1 => count - 1 - self.random.below(2),
            _ => self.random.below(count),
        }
    }

    /// Schedules an event at a random frame from one party to another.
    fn happen_at(&mut self, ends: [usize; 2], what: Happening) -> [usize; 2] {
        let (at, after) = (self.frame(ends), self.random.percent(50));
        let event = Event { at, after, what };
        let [from, to] = ends;
        self.simulation.events[from][to].push(event);
        ends
    }

    /// Schedules an event on a random link; returns its ends.
    fn happen(&mut self, what: Happening) -> [usize; 2] {
        let ends = self.ends();
        self.happen_at(ends, what)
    }

    /// Schedules delays that all limits allow.
    fn hold_up(&mut self) {
        let parties = self.simulation.jobs.len();
        let limits = self.simulation.limits[0];
        let least = Duration::from_millis(1);
        for _ in 0..self.random.below(4) {
            let most = limits.patience / 16;
            let least = if self.random.percent(40) {
                most / 2
            } else {
                least
            };
            let time = self.random.time(least, most);
            self.happen(Happening::Computes(time));
        }
        // Delays of one link add up, so each may stall once, and one process may stop.
        let short = limits.silence / 4;
        if self.random.percent(30) {
            let time = self.random.time(least, short);
            self.happen(Happening::Freezes(time));
        }
        for one in 0..parties {
            for other in one + 1..parties {
                if self.random.percent(20) {
                    let time = self.random.time(least, short);
                    self.happen_at([one, other], Happening::Stalls(time));
                }
            }
        }
    }

    /// Schedules one fault.
    fn break_something(&mut self) -> Fault {
        let limits = self.simulation.limits[0];
        let longer = self.random.time(limits.silence, 2 * limits.patience);
        let long = 2 * limits.silence + longer;
        match self.random.below(11) {
            0 | 10 => self.kill(),
            1 => Fault::Reset(self.happen(Happening::Reset)),
            2 => Fault::DeadLink(self.happen(Happening::Lost)),
            3 => Fault::DeadLink(self.happen(Happening::Stalls(long))),
            4 => Fault::Absence(self.happen(Happening::Isolated)[0]),
            5 => Fault::Absence(self.happen(Happening::Freezes(long))[0]),
            6 => {
                self.happen(Happening::Computes(2 * limits.patience));
                Fault::Idleness
            }
            7 => self.bad_data(),
            8 => self.alter(),
            _ => self.other_job(),
        }
    }

    /// Kills a party at any of its frames, or after the last one of all, when none of its messages
    /// is lost.
    fn kill(&mut self) -> Fault {
        if self.random.percent(50) {
            return Fault::Death(self.happen(Happening::Dies)[0]);
        }
        let parties = self.frames.len();
        let party = self.random.below(parties);
        // Farewells are sent to one peer after the other.
        let last = (0..parties).rfind(|peer| *peer != party).expect("a peer");
        let (at, after, what) = (self.frames[party][last].len() - 1, true, Happening::Dies);
        let event = Event { at, after, what };
        self.simulation.events[party][last].push(event);
        let wires = self.simulation.wires.iter_mut().flatten();
        for wire in wires {
            wire.keeps = true;
            wire.window_bytes = wire.window_bytes.max(ROOM);
        }
        Fault::Death(party)
    }

    /// Gives an owner of data invalid inputs.
    fn bad_data(&mut self) -> Fault {
        let inputs = &mut self.simulation.inputs;
        let owns = |party: &usize| inputs[*party].iter().any(Option::is_some);
        let owners = (0..inputs.len()).filter(owns).collect::<Vec<_>>();
        let party = self.random.pick(&owners);
        let first = inputs[party].iter_mut().flatten().next();
        first.expect("an owner owns data").shape.push(2);
        Fault::BadData(party)
    }

    /// Gives a party another job.
    fn other_job(&mut self) -> Fault {
        let party = self.random.below(self.simulation.jobs.len());
        let job = &self.simulation.jobs[party];
        let class = match job.network() {
            NetworkClass::LAN => NetworkClass::WAN,
            _ => NetworkClass::LAN,
        };
        let helpers = job.helpers().to_vec();
        let other = Job::new(job.program().clone(), job.protocol(), class, helpers);
        let other = other.unwrap_or_else(|error| panic!("{error}"));
        self.simulation.jobs[party] = Arc::new(other);
        Fault::OtherJob
    }

    /// Harms a frame.
    fn alter(&mut self) -> Fault {
        let [from, to] = self.ends();
        let attack = Attack {
            from,
            to,
            at: self.frame([from, to]),
            harm: self.random.pick(&[
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
        self.simulation.attack = Some(attack);
        Fault::Alteration
    }
}
