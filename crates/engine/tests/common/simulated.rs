//! Sessions in a simulated model: the same party code, on machines with a simulated clock.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use sealane_engine::{Job, Journal, danger_run_with_seed};
use sealane_net::{Limits, Mesh, Runtime, full_links};
use sealane_parties::PartyId;
use sealane_program::types::Data;
use sealane_testkit::adversary::Seen;
use sealane_testkit::simulator::network::{Connection, Wire};
use sealane_testkit::simulator::{self, Bounds, Event, Model, Process};

use super::{Attack, Ending, Frames, Row, harmed};

/// A network without delays.
pub const FAST: Wire = Wire {
    latency: Duration::from_micros(100),
    jitter: Duration::from_micros(20),
    bytes_per_s: 100_000_000,
    window_bytes: 64 << 10,
    keeps: true,
};

/// A simulated model with the events in it.
pub struct Simulation {
    /// Seed of all decisions that nothing else determines.
    pub seed: u64,
    /// Job of each party.
    pub jobs: Vec<Arc<Job>>,
    /// Inputs of each party.
    pub inputs: Vec<Vec<Option<Data>>>,
    /// The limits of each party, of which all have the same silence.
    pub limits: Vec<Limits>,
    /// The wire from one party to another.
    pub wires: Vec<Vec<Wire>>,
    /// Events, by party and by the peer to which it sends.
    pub events: Vec<Vec<Vec<Event>>>,
    /// Harm to one frame.
    pub attack: Option<Attack>,
    pub bounds: Bounds,
    /// Set if events are logged.
    pub log: bool,
}

/// Outcome of a simulation.
pub struct Simulated {
    /// Outcome of each party; `None` for one whose process died.
    pub endings: Vec<Option<Ending>>,
    /// Frames that each party handed over.
    pub frames: Frames,
    pub model: simulator::Ending,
}

impl Simulation {
    /// An honest run over a fast network, without a tight limit on time.
    pub fn new(seed: u64, job: &Arc<Job>, inputs: Vec<Vec<Option<Data>>>) -> Simulation {
        let parties = inputs.len();
        Simulation {
            seed,
            jobs: vec![Arc::clone(job); parties],
            inputs,
            limits: vec![Limits::default(); parties],
            wires: vec![vec![FAST; parties]; parties],
            events: vec![vec![vec![]; parties]; parties],
            attack: None,
            bounds: Bounds {
                time: Duration::from_secs(24 * 3600),
                steps: 5_000_000,
            },
            log: false,
        }
    }

    /// Runs all parties to their ends.
    pub fn run(&self) -> Simulated {
        let parties = self.jobs.len();
        let model = Model::new(self.seed, parties, self.bounds, self.log);
        let processes: Vec<_> = (0..parties).map(|party| model.process(party)).collect();
        let endings = Arc::new(Mutex::new((0..parties).map(|_| None).collect::<Vec<_>>()));
        let mut seen = Vec::new();
        let (connections, rows) = self.connect(&model, &processes);
        for (me, row) in rows.into_iter().enumerate() {
            let (row, views) = harmed(row, me, self.attack);
            seen.push(views);
            let links = row.into_iter().zip(&connections[me]).zip(&self.events[me]);
            let link = |((transport, connection), events): ((_, &Option<Connection>), &Vec<_>)| {
                Some(processes[me].link(transport?, connection.as_ref()?, events.clone()))
            };
            let row = links.map(link).collect::<Vec<_>>();
            let endings = Arc::clone(&endings);
            let process = processes[me].clone();
            let (job, inputs) = (Arc::clone(&self.jobs[me]), self.inputs[me].clone());
            let (limits, seed) = (self.limits[me], self.seed.wrapping_mul(255) + me as u64);
            let party = move || {
                let mesh = Mesh::on_machine(&process, PartyId::from_index(me), row, limits);
                let mut mesh = mesh.expect("a full row");
                let result =
                    danger_run_with_seed(&job, &inputs, &mut mesh, seed, &mut Journal::silent());
                process.log(|| match &result {
                    Ok(_) => "has its results".into(),
                    Err(error) => format!("fails: {error}"),
                });
                let after = process.now();
                endings.lock().expect("no holder panics")[me] = Some(Ending { result, after });
            };
            let spawned = processes[me].spawn("protocol", Box::new(party));
            spawned.expect("a thread");
        }
        let model = model.run();
        let endings = std::mem::take(&mut *endings.lock().expect("no holder panics"));
        let frames = |seen: &Option<Seen>| seen.as_ref().map_or(vec![], Seen::frames);
        let frames = |row: &Vec<_>| row.iter().map(frames).collect();
        Simulated {
            endings,
            frames: seen.iter().map(frames).collect(),
            model,
        }
    }

    /// Connects every two parties. The connections and transports of each, by peer.
    fn connect(
        &self,
        model: &Model,
        processes: &[Process],
    ) -> (Vec<Vec<Option<Connection>>>, Vec<Row>) {
        let parties = processes.len();
        let mut connections = vec![vec![None; parties]; parties];
        let rows = full_links(parties, |one, other| {
            let wires = [self.wires[other][one], self.wires[one][other]];
            let connection = model.connect([one, other], wires);
            [(one, other), (other, one)].map(|(me, peer)| {
                let transport = processes[me].transport(&connection, self.limits[me]);
                connections[me][peer] = Some(connection.clone());
                transport.expect("threads")
            })
        });
        (connections, rows)
    }
}
