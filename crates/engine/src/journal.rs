//! The journal of a run: turns what happens into [`Event`]s, for whoever observes it.
//!
//! It costs two looks at the clock for each call of a step and flight, and nothing for each gate or
//! byte.
//!
//! | file | what it does |
//! |---|---|
//! | `journal` | what is told, and when |
//! | `books` | the time that steps take, and how far the work has come |
//! | `watch` | what a plan that is run has to say: that of all parties, or one of this party alone |

mod books;
mod watch;

pub(crate) use books::Part;
pub use books::Progress;
pub(crate) use watch::{Since, Watch};

use crate::error::EngineError;
use crate::events::{Block, Ended, Event, Failed, Pace, Phase, Record, Started, Turn};
use crate::job::Job;
use crate::report::RunReport;
use books::Books;
use sealane_block::Cpu;
use sealane_diagnostic::Diagnostic;
use sealane_net::{Mesh, NetworkClass, Traffic};
use sealane_plan::CostReport;
use sealane_protocol::PartyId;
use std::time::{Duration, Instant, SystemTime};

/// Observes a run.
pub trait Observer: Send {
    /// Something happened: a bounded number of times in a run.
    fn event(&mut self, record: &Record);
    /// How far the run has come: a few times a second, as long as it moves.
    fn progress(&mut self, _progress: &Progress) {}
}

/// Nobody observes.
impl Observer for () {
    fn event(&mut self, _: &Record) {}
}

/// Two observe.
impl<A: Observer, B: Observer> Observer for (A, B) {
    fn event(&mut self, record: &Record) {
        self.0.event(record);
        self.1.event(record);
    }

    fn progress(&mut self, progress: &Progress) {
        self.0.progress(progress);
        self.1.progress(progress);
    }
}

/// One observes, or nobody.
impl<O: Observer> Observer for Option<O> {
    fn event(&mut self, record: &Record) {
        if let Some(observer) = self {
            observer.event(record);
        }
    }

    fn progress(&mut self, progress: &Progress) {
        if let Some(observer) = self {
            observer.progress(progress);
        }
    }
}

/// Turns and blocks that are told one by one, before they are told in groups or left out.
const TURNS: Pace = Pace { all: 256 };
const BLOCKS: Pace = Pace { all: 64 };
/// Long turns are told of in between: after this time at least, and after a part of the time that has
/// gone by, so that a run has few such events however long it is.
const SHORTEST: Duration = Duration::from_millis(5);
const SAMPLES: u32 = 128;
/// How often progress is told at most.
const PROGRESS: Duration = Duration::from_millis(100);

/// Tells an observer what happens at one party.
pub struct Journal<'o> {
    began: Instant,
    observer: Box<dyn Observer + 'o>,
    turns: Turns,
    blocks: u64,
    books: Books,
    progress_told: Instant,
}

/// The turns that have not been told yet: how many went before, and how all stood then.
#[derive(Default)]
struct Turns {
    number: u64,
    first: u64,
    from: Duration,
    waited: Duration,
    traffic: Vec<Traffic>,
}

impl<'o> Journal<'o> {
    /// The journal of party `me`, which begins now, with the meeting.
    pub fn new(job: &Job, me: PartyId, observer: impl Observer + 'o) -> Journal<'o> {
        let mut journal = Journal::of(Box::new(observer));
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let tier = Cpu::detect().map_or("unknown", |cpu| cpu.tier().name());
        journal.tell(Event::Started(Started {
            party: job.parties()[me.index()].clone(),
            parties: job.parties().to_vec(),
            program: job.program().name.clone(),
            job: job.hash(),
            protocol: job.protocol().to_string(),
            version: env!("CARGO_PKG_VERSION").to_string(),
            tier: tier.to_string(),
            unix_us: since_1970.map_or(0, micros),
        }));
        journal.phase(Phase::Meet);
        journal
    }

    /// A journal that nobody reads.
    pub fn silent() -> Journal<'o> {
        Journal::of(Box::new(()))
    }

    /// Tells that the run failed before the engine had it; the engine tells its own failures.
    pub fn failed(&mut self, finding: &Diagnostic) {
        self.tell(Event::Failed(Failed::new(finding, None)));
    }

    /// A phase begins.
    pub(crate) fn phase(&mut self, phase: Phase) {
        self.tell(Event::Phase { phase });
    }

    /// A phase begins; what crossed before belongs to the last one.
    pub(crate) fn enter(&mut self, phase: Phase, mesh: &Mesh) {
        self.tell_turns(mesh);
        self.phase(phase);
    }

    /// The rows are known, and with them what each step will take.
    pub(crate) fn agreed(&mut self, cost: &CostReport, network: NetworkClass) {
        let rows = cost.rows.clone();
        self.tell(Event::Agreed { rows });
        self.books = Books::new(cost, network);
    }

    /// The run is over at this party: what the steps took, and how it ended. The mesh numbers its
    /// steps from `first` of the plan's.
    pub(crate) fn over(
        &mut self,
        ended: &Result<RunReport, EngineError>,
        first: usize,
        mesh: &mut Mesh,
    ) {
        self.tell_turns(mesh);
        let steps = self.books.close(first, mesh);
        if !steps.is_empty() {
            self.tell(Event::Steps { steps });
        }
        match ended {
            Err(error) => self.tell(Event::Failed(error.kept(self.books.in_hand()))),
            Ok(report) => {
                let learnt = report.results.iter().filter(|result| result.data.is_some());
                let ended = Ended {
                    sent: report.sent.clone(),
                    rounds: report.rounds,
                    as_planned: report.as_planned(),
                    took_us: (report.seconds * 1e6) as u64,
                    learnt: learnt.map(|result| result.name.clone()).collect(),
                };
                self.tell(Event::Ended(ended));
            }
        }
    }

    /// A block is taken up; says whether it is one of those that are told.
    fn opened(&mut self, block: Block) -> bool {
        let told = BLOCKS.tells(self.blocks);
        self.blocks += 1;
        if told {
            self.tell(Event::Opened(block));
        }
        told
    }

    fn closed(&mut self, block: Block) {
        self.tell(Event::Closed(block));
    }

    /// A turn ends: whatever was written leaves.
    fn turn(&mut self, mesh: &Mesh) {
        self.turns.number += 1;
        if TURNS.tells(self.turns.number) {
            self.tell_turns(mesh);
        }
    }

    /// A call has been gone on with: tells how far the work has come, and what has crossed, if
    /// neither has been told for a while. A turn may be long.
    fn look(&mut self, now: Instant, mesh: &Mesh, ands: u64) {
        if now - self.progress_told >= PROGRESS {
            self.progress_told = now;
            let bytes = traffic(mesh).iter().map(|t| t.sent + t.received).sum();
            self.observer.progress(&self.books.progress(ands, bytes));
        }
        let elapsed = now - self.began;
        if elapsed.saturating_sub(self.turns.from) >= SHORTEST.max(elapsed / SAMPLES) {
            self.tell_turns(mesh);
        }
    }

    /// Tells the turns that have not been told.
    fn tell_turns(&mut self, mesh: &Mesh) {
        let (now, waited, all) = (self.began.elapsed(), mesh.waited(), traffic(mesh));
        let then = std::mem::take(&mut self.turns);
        let since = |of: fn(&Traffic) -> u64| {
            let before = then.traffic.iter().map(of).chain(std::iter::repeat(0));
            let pairs = all.iter().map(of).zip(before);
            pairs.map(|(now, then)| now - then).collect::<Vec<_>>()
        };
        let turn = Turn {
            first: then.first,
            count: then.number - then.first,
            rounds: mesh.rounds().into(),
            from_us: micros(then.from),
            waited_us: micros(waited.saturating_sub(then.waited)),
            sent: since(|traffic| traffic.sent),
            received: since(|traffic| traffic.received),
        };
        self.turns = Turns {
            number: then.number,
            first: then.number,
            from: now,
            waited,
            traffic: all,
        };
        let mut crossed = turn.sent.iter().chain(&turn.received);
        if turn.count > 0 || crossed.any(|bytes| *bytes > 0) {
            self.tell(Event::Turn(turn));
        }
    }

    fn tell(&mut self, event: Event) {
        let at_us = micros(self.began.elapsed());
        self.observer.event(&Record { at_us, event });
    }

    fn of(observer: Box<dyn Observer + 'o>) -> Journal<'o> {
        let now = Instant::now();
        Journal {
            began: now,
            observer,
            turns: Turns::default(),
            blocks: 0,
            books: Books::default(),
            progress_told: now,
        }
    }
}

/// Payload bytes so far, by party.
fn traffic(mesh: &Mesh) -> Vec<Traffic> {
    let parties = (0..mesh.parties()).map(PartyId::from_index);
    let with = |party| Traffic {
        sent: mesh.payload_sent(party),
        received: mesh.payload_received(party),
    };
    parties.map(with).collect()
}

/// A duration as events have it.
fn micros(duration: Duration) -> u64 {
    duration.as_micros().try_into().unwrap_or(u64::MAX)
}
