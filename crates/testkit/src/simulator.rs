//! A simulator: machines with a clock of their own, a network between them, and a seed that decides
//! all that happens.
//!
//! Parties are real code in real threads, from the engine down to the two threads of each
//! connection; what is simulated is the clock, the choice of who runs next, and what lies below a
//! socket ([`network`]). So everything can be tried that happens between processes in hours and
//! over oceans (latency, stalls, processes that stop, die or fall silent at any message), in
//! milliseconds, and whatever goes wrong goes wrong again with the same seed.
//!
//! | file | what it does |
//! |---|---|
//! | `scheduler` | threads that run one at a time, on a clock that jumps |
//! | `waker` | by what threads wait and tell the time |
//! | `network` | connections |
//! | `link` | a transport at which things happen at given frames |
//!
//! TLS and the meeting of the parties are not simulated: a world begins with parties that are
//! connected, over links that are not encrypted. What TLS makes of bytes that change is tested with
//! [`crate::relay`].

mod link;
pub mod network;
mod scheduler;
mod waker;

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sealane_net::{Limits, Machine, Transport, Waker, danger_plaintext_transport};

use link::Link;
pub use link::{Event, Happening};
use network::{Connection, Wire};
use scheduler::Scheduler;
use waker::SimulatedWaker;

/// What a world has to end within, or it is taken for one that hangs.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// On its clock.
    pub time: Duration,
    /// Changes from one thread to another.
    pub steps: u64,
}

/// How a world ended.
#[derive(Debug)]
pub struct Ending {
    /// On its clock.
    pub after: Duration,
    /// Changes from one thread to another.
    pub steps: u64,
    /// The same for the same run: a hash of who ran when and what was read.
    pub trace: String,
    /// Why it did not end by itself, and which threads were left.
    pub stuck: Option<String>,
    /// Threads that panicked.
    pub panics: Vec<String>,
    /// What happened at which process, and when.
    pub happened: Vec<(Duration, usize, Happening)>,
    /// What happened last, line by line, where that was asked for.
    pub log: Vec<String>,
}

/// A network of processes, one a party.
pub struct World {
    scheduler: Arc<Scheduler>,
    connections: Arc<Mutex<Vec<Connection>>>,
}

impl World {
    /// A world of so many processes, in which `seed` decides. It keeps a log for people on demand.
    pub fn new(seed: u64, processes: usize, bounds: Bounds, log: bool) -> World {
        World {
            scheduler: Arc::new(Scheduler::new(seed, processes, bounds, log)),
            connections: Arc::default(),
        }
    }

    /// The machine on which a process runs.
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

    /// Runs all that was spawned to its end.
    pub fn run(&self) -> Ending {
        self.scheduler.run()
    }
}

/// A process of a world: the machine of one party.
#[derive(Clone)]
pub struct Process {
    scheduler: Arc<Scheduler>,
    connections: Arc<Mutex<Vec<Connection>>>,
    number: usize,
}

impl Process {
    /// The time since the beginning of the world.
    pub fn now(&self) -> Duration {
        self.scheduler.now()
    }

    /// Rests, or computes, for so long.
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

    /// Stops the process for so long. Its system still takes in what comes.
    pub fn freeze(&self, time: Duration) {
        self.scheduler.freeze(self.number, time);
        self.scheduler.give_way();
    }

    /// Takes note of something that happens at this process.
    fn note(&self, what: Happening) {
        self.log(|| format!(": {what:?}"));
        self.scheduler.note(self.number, what);
    }

    /// Writes a line for people, if anybody is to read it.
    pub fn log(&self, line: impl FnOnce() -> String) {
        let number = self.number;
        self.scheduler.log(|| format!("party {number} {}", line()));
    }

    /// This process's end of a connection, as a transport.
    ///
    /// # Errors
    /// Of this machine, where it has no more threads.
    pub fn transport(
        &self,
        connection: &Connection,
        limits: Limits,
    ) -> io::Result<Box<dyn Transport>> {
        let socket = Box::new(connection.socket(self.number));
        danger_plaintext_transport(self, socket, limits)
    }

    /// The transport `inner` of a connection, at which `events` happen. The thread that calls it may
    /// be stopped at each call.
    pub fn link(
        &self,
        inner: Box<dyn Transport>,
        connection: &Connection,
        events: Vec<Event>,
    ) -> Box<dyn Transport> {
        Box::new(Link::new(inner, self, connection, events))
    }

    /// How long a process lives on after what it said last.
    fn last_moments(&self) -> Duration {
        let (least, most) = (Duration::from_millis(500), Duration::from_secs(2));
        self.scheduler.random(|random| random.time(least, most))
    }

    /// Lets other threads go first, now and then.
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

impl Machine for Process {
    fn waker(&self) -> Waker {
        SimulatedWaker::waker(&self.scheduler)
    }

    fn spawn(&self, name: &str, body: Box<dyn FnOnce() + Send>) -> io::Result<()> {
        self.scheduler.spawn(self.number, name, body)
    }
}
