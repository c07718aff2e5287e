//! Simulator: machines with simulated clocks, a network between them, and a seed that determines
//! the whole run.
//!
//! Parties run the real code in real threads, from the engine down to the two threads of each
//! connection; the clock, the choice of the next thread, and everything below a socket
//! ([`network`]) are simulated. So everything that occurs between processes in hours and over long
//! distances (latency, stalls, processes that stop, die or fall silent at any message) can be tried
//! in milliseconds, and every failure is reproduced by its seed.
//!
//! | file | what it does |
//! |---|---|
//! | `scheduler` | threads that run one at a time, on a clock that jumps |
//! | `waker` | waiting and clock of the threads |
//! | `network` | connections |
//! | `link` | a transport with events at given frames |
//!
//! TLS and the meeting of the parties are not simulated: a model begins with connected parties,
//! over links that are not encrypted. [`crate::relay`] tests the reaction of TLS to changed bytes.

mod link;
pub mod network;
mod scheduler;
mod waker;

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sealane_net::{Limits, Runtime, Transport, Waker, danger_plaintext_transport};

use link::Link;
pub use link::{Event, Happening};
use network::{Connection, Wire};
use scheduler::Scheduler;
use waker::SimulatedWaker;

/// Bounds within which a model has to end; otherwise it is considered to hang.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Simulated time.
    pub time: Duration,
    /// Number of switches from one thread to another.
    pub steps: u64,
}

/// Outcome of a model.
#[derive(Debug)]
pub struct Ending {
    /// Simulated time at the end.
    pub after: Duration,
    /// Changes from one thread to another.
    pub steps: u64,
    /// Hash of the scheduling and of the bytes read; equal for equal runs.
    pub trace: String,
    /// Reason why it did not end by itself, with the remaining threads.
    pub stuck: Option<String>,
    /// Threads that panicked.
    pub panics: Vec<String>,
    /// Events, with their times and processes.
    pub happened: Vec<(Duration, usize, Happening)>,
    /// Last lines of the log, if it was enabled.
    pub log: Vec<String>,
}

/// A network of processes, one per party.
pub struct Model {
    scheduler: Arc<Scheduler>,
    connections: Arc<Mutex<Vec<Connection>>>,
}

impl Model {
    /// Makes a model of so many processes, determined by `seed`. It keeps a log on demand.
    pub fn new(seed: u64, processes: usize, bounds: Bounds, log: bool) -> Model {
        Model {
            scheduler: Arc::new(Scheduler::new(seed, processes, bounds, log)),
            connections: Arc::default(),
        }
    }

    /// Returns the machine on which a process runs.
    pub fn process(&self, number: usize) -> Process {
        Process {
            scheduler: Arc::clone(&self.scheduler),
            connections: Arc::clone(&self.connections),
            number,
        }
    }

    /// Connects two processes; `wires` are those towards each of them.
    pub fn connect(&self, processes: [usize; 2], wires: [Wire; 2]) -> Connection {
        let connection = Connection::new(Arc::clone(&self.scheduler), processes, wires);
        let connections = self.connections.lock();
        let mut connections = connections.unwrap_or_else(PoisonError::into_inner);
        connections.push(connection.clone());
        connection
    }

    /// Runs all spawned threads to their ends.
    pub fn run(&self) -> Ending {
        self.scheduler.run()
    }
}

/// A process of a model: the machine of one party.
#[derive(Clone)]
pub struct Process {
    scheduler: Arc<Scheduler>,
    connections: Arc<Mutex<Vec<Connection>>>,
    number: usize,
}

impl Process {
    /// The time since the beginning of the model.
    pub fn now(&self) -> Duration {
        self.scheduler.now()
    }

    /// Waits, or computes, for so long.
    pub fn rest(&self, time: Duration) {
        let until = self.now() + time;
        while self.now() < until && !std::thread::panicking() {
            self.scheduler.block(Some(until));
        }
    }

    /// Ends the process at once. Its sockets are closed by its system.
    pub fn kill(&self) {
        self.scheduler.kill(self.number);
        for connection in self.connections() {
            connection.close_end_of(self.number);
        }
        self.scheduler.block(None);
    }

    /// Stops the process for so long. Its system still receives bytes.
    pub fn freeze(&self, time: Duration) {
        self.scheduler.freeze(self.number, time);
        self.scheduler.give_way();
    }

    /// Records an event at this process.
    fn note(&self, what: Happening) {
        self.log(|| format!(": {what:?}"));
        self.scheduler.note(self.number, what);
    }

    /// Writes a line to the log, if it is enabled.
    pub fn log(&self, line: impl FnOnce() -> String) {
        let number = self.number;
        self.scheduler.log(|| format!("party {number} {}", line()));
    }

    /// Makes a transport of this process's end of a connection.
    ///
    /// # Errors
    /// The errors of this machine, where it has no more threads.
    pub fn transport(&self, of: &Connection, limits: Limits) -> io::Result<Box<dyn Transport>> {
        let socket = Box::new(of.socket(self.number));
        danger_plaintext_transport(self, socket, limits)
    }

    /// Wraps the transport `inner` of a connection with `events`. The calling thread may be
    /// preempted at each call.
    pub fn link(
        &self,
        inner: Box<dyn Transport>,
        connection: &Connection,
        events: Vec<Event>,
    ) -> Box<dyn Transport> {
        Box::new(Link::new(inner, self, connection, events))
    }

    /// Time for which a process lives on after its last message.
    fn last_moments(&self) -> Duration {
        let (least, most) = (Duration::from_millis(500), Duration::from_secs(2));
        self.scheduler.random(|random| random.time(least, most))
    }

    /// Yields to other threads, now and then.
    fn give_way(&self) {
        self.scheduler.give_way();
    }

    /// All connections of this process.
    fn connections(&self) -> Vec<Connection> {
        let connections = self.connections.lock();
        let connections = connections.unwrap_or_else(PoisonError::into_inner);
        let own = connections.iter().filter(|link| link.joins(self.number));
        own.cloned().collect()
    }
}

impl Runtime for Process {
    fn waker(&self) -> Waker {
        SimulatedWaker::waker(&self.scheduler)
    }

    fn spawn(&self, name: &str, body: Box<dyn FnOnce() + Send>) -> io::Result<()> {
        self.scheduler.spawn(self.number, name, body)
    }
}
