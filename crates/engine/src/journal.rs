//! Journal of a run: converts what happens into [`Event`]s for an observer.
//!
//! It reads the clock twice for each call of a step and flight, and does nothing for each gate or
//! byte.
//!
//! | file | what it does |
//! |---|---|
//! | `journal` | the events, and when they are reported |
//! | `step_times` | times of steps, and progress of the work |
//! | `plan_recorder` | reports of the execution of one plan: the joint one, or a local one |

mod plan_recorder;
mod step_times;

pub(crate) use plan_recorder::{CallStart, PlanRecorder};
pub use step_times::Progress;
pub(crate) use step_times::StepProgress;

use crate::error::EngineError;
use crate::events::{Block, Ended, Event, Failed, Phase, Record, Sampling, Started, StepRound};
use crate::job::Job;
use crate::report::RunReport;
use sealane_block::Cpu;
use sealane_diagnostic::Diagnostic;
use sealane_net::{Mesh, SessionId, Traffic};
use sealane_parties::PartyId;
use sealane_plan::CostReport;
use std::time::{Duration, Instant, SystemTime};
use step_times::StepTimes;

/// Observer of a run.
pub trait Observer: Send {
    /// Receives an event; there is a bounded number of them in a run.
    fn event(&mut self, record: &Record);
    /// Receives the progress of the run, a few times a second while it advances.
    fn progress(&mut self, _progress: &Progress) {}
}

/// Observer that ignores everything.
impl Observer for () {
    fn event(&mut self, _: &Record) {}
}

/// Pair of observers.
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

/// Optional observer.
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

/// Step rounds and blocks that are reported one by one, before they are grouped or left out.
const STEP_ROUNDS: Sampling = Sampling { all: 256 };
const BLOCKS: Sampling = Sampling { all: 64 };
/// Long step rounds are reported in parts: after this time at least, and after a fraction of the
/// elapsed time, so that a run has few such events however long it is.
const SHORTEST: Duration = Duration::from_millis(5);
const SAMPLES: u32 = 128;
/// Shortest time between two reports of progress.
const PROGRESS: Duration = Duration::from_millis(100);

/// Reporter of the events at one party to an observer.
pub struct Journal<'o> {
    began: Instant,
    observer: Box<dyn Observer + 'o>,
    step_rounds: StepRounds,
    blocks: u64,
    times: StepTimes,
    progress_reported: Instant,
    /// True once a step of all parties has taken an input.
    took_input: bool,
}

/// Step rounds that have not been reported yet: the number before them, and the counters at their
/// start.
#[derive(Default)]
struct StepRounds {
    number: u64,
    first: u64,
    from: Duration,
    waited: Duration,
    traffic: Vec<Traffic>,
}

impl<'o> Journal<'o> {
    /// Starts the journal of party `me` with the meeting.
    pub fn new(job: &Job, me: PartyId, observer: impl Observer + 'o) -> Journal<'o> {
        let mut journal = Journal::with_observer(Box::new(observer));
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let tier = Cpu::detect().map_or("unknown", |cpu| cpu.tier().name());
        journal.emit(Event::Started(Started {
            party: job.parties()[me.index()].clone(),
            parties: job.parties().to_vec(),
            program: job.program().name.clone(),
            job: job.hash(),
            protocol: job.protocol().to_string(),
            version: env!("CARGO_PKG_VERSION").to_string(),
            tier: tier.to_string(),
            unix_us: since_1970.map_or(0, micros),
        }));
        journal.phase(Phase::Connect);
        journal
    }

    /// Creates a journal without an observer.
    pub fn silent() -> Journal<'o> {
        Journal::with_observer(Box::new(()))
    }

    /// Reports a failure before the engine took over the run; the engine reports its own failures.
    pub fn failed(&mut self, finding: &Diagnostic) {
        self.emit(Event::Failed(Failed::new(finding, None)));
    }

    /// Reports that a phase begins.
    pub(crate) fn phase(&mut self, phase: Phase) {
        self.emit(Event::Phase { phase });
    }

    /// Reports that a phase begins; traffic before it belongs to the phase before.
    pub(crate) fn enter(&mut self, phase: Phase, mesh: &Mesh) {
        self.emit_step_rounds(mesh);
        self.phase(phase);
    }

    /// Returns whether a step of all parties has taken an input.
    pub(crate) fn took_input(&self) -> bool {
        self.took_input
    }

    /// Starts the times of the steps, once the row counts and so the cost are known.
    pub(crate) fn agreed(&mut self, work: &Job, cost: &CostReport, session: SessionId) {
        let rows = cost.rows.clone();
        let session = hex::encode(session.as_bytes());
        self.emit(Event::Agreed { rows, session });
        self.times = StepTimes::new(cost, work.network(), work.split_plan().alone());
    }

    /// Reports the end of the run at this party: the times of the steps, and the result. The mesh
    /// numbers its steps from step `first` of the plan.
    pub(crate) fn finish(&mut self, ended: &Result<RunReport, EngineError>, mesh: &mut Mesh) {
        self.emit_step_rounds(mesh);
        let steps = self.times.close(mesh);
        if !steps.is_empty() {
            self.emit(Event::Steps { steps });
        }
        match ended {
            Err(error) => self.emit(Event::Failed(error.failed_event(self.times.current()))),
            Ok(report) => {
                let learnt = report.results.iter().filter(|result| result.data.is_some());
                let ended = Ended {
                    sent: report.sent.clone(),
                    rounds: report.rounds,
                    as_planned: report.as_planned(),
                    took_us: (report.seconds * 1e6) as u64,
                    learnt: learnt.map(|result| result.name.clone()).collect(),
                };
                self.emit(Event::Ended(ended));
            }
        }
    }

    /// Counts a block that begins; returns whether it is reported.
    fn block_begins(&mut self, block: Block) -> bool {
        let reported = BLOCKS.includes(self.blocks);
        self.blocks += 1;
        if reported {
            self.emit(Event::Opened(block));
        }
        reported
    }

    fn block_ends(&mut self, block: Block) {
        self.emit(Event::Closed(block));
    }

    /// Counts a step round that ends, in which all that was written is sent.
    fn step_round(&mut self, mesh: &Mesh) {
        self.step_rounds.number += 1;
        if STEP_ROUNDS.includes(self.step_rounds.number) {
            self.emit_step_rounds(mesh);
        }
    }

    /// Reports progress and traffic after a call was advanced, if neither was reported for a while,
    /// since a step round may be long.
    fn emit_if_due(&mut self, now: Instant, mesh: &Mesh, ands: u64) {
        if now - self.progress_reported >= PROGRESS {
            self.progress_reported = now;
            let bytes = traffic(mesh).iter().map(|t| t.sent + t.received).sum();
            self.observer.progress(&self.times.progress(ands, bytes));
        }
        let elapsed = now - self.began;
        if elapsed.saturating_sub(self.step_rounds.from) >= SHORTEST.max(elapsed / SAMPLES) {
            self.emit_step_rounds(mesh);
        }
    }

    /// Reports the step rounds that have not been reported.
    fn emit_step_rounds(&mut self, mesh: &Mesh) {
        let (now, waited, all) = (self.began.elapsed(), mesh.waited(), traffic(mesh));
        let then = std::mem::take(&mut self.step_rounds);
        let since = |of: fn(&Traffic) -> u64| {
            let before = then.traffic.iter().map(of).chain(std::iter::repeat(0));
            let pairs = all.iter().map(of).zip(before);
            pairs.map(|(now, then)| now - then).collect::<Vec<_>>()
        };
        let step_round = StepRound {
            first: then.first,
            count: then.number - then.first,
            rounds: mesh.rounds().into(),
            from_us: micros(then.from),
            waited_us: micros(waited.saturating_sub(then.waited)),
            sent: since(|traffic| traffic.sent),
            received: since(|traffic| traffic.received),
        };
        self.step_rounds = StepRounds {
            number: then.number,
            first: then.number,
            from: now,
            waited,
            traffic: all,
        };
        let mut crossed = step_round.sent.iter().chain(&step_round.received);
        if step_round.count > 0 || crossed.any(|bytes| *bytes > 0) {
            self.emit(Event::StepRound(step_round));
        }
    }

    fn emit(&mut self, event: Event) {
        let at_us = micros(self.began.elapsed());
        self.observer.event(&Record { at_us, event });
    }

    fn with_observer(observer: Box<dyn Observer + 'o>) -> Journal<'o> {
        let now = Instant::now();
        Journal {
            began: now,
            observer,
            step_rounds: StepRounds::default(),
            blocks: 0,
            times: StepTimes::default(),
            progress_reported: now,
            took_input: false,
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

/// Converts a duration into the microseconds of events.
fn micros(duration: Duration) -> u64 {
    duration.as_micros().try_into().unwrap_or(u64::MAX)
}
