//! Record of a run, as in its folder: the plan, and the events that each party recorded.
//!
//! Events may end anywhere, since a process can be killed: missing parts are shown as missing. No
//! consistency is assumed: parties, steps and lengths of lists are looked up, never indexed.

mod crossed;
mod lanes;
mod page;
mod parts;
mod summary;
mod tables;

pub use summary::Summary;

use crate::plan::PlanRecord;
use sealane_engine::events::{Ended, Event, Failed, Phase, Record, Started, StepRound, StepTime};
use serde::{Deserialize, Serialize};

/// Record of one run.
pub struct RunRecord {
    plan: PlanRecord,
    sides: Vec<Side>,
}

/// Events of one party.
struct Side {
    started: Started,
    /// Index of the party in the plan.
    party: usize,
    phases: Vec<(Phase, u64)>,
    rows: Vec<(String, u64)>,
    /// Identifier of the session; empty until the parties have agreed.
    session: String,
    step_rounds: Vec<(u64, StepRound)>,
    steps: Vec<StepTime>,
    end: End,
    /// Time of its last event.
    last_us: u64,
}

/// End of a run at one party.
enum End {
    Done(Ended),
    Failed(Failed),
    /// The process was killed, or is still running.
    Open,
}

/// State of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunState {
    /// Every party has finished.
    Done,
    /// A party failed.
    Failed,
    /// No party failed, and at least one has not finished.
    Unfinished,
}

impl RunRecord {
    /// Makes the record of a run of the job of `plan`, of which each of `sides` is the events of
    /// one party. Empty sides, and those of parties that are not in the plan, are left out.
    pub fn new(plan: PlanRecord, sides: Vec<Vec<Record>>) -> RunRecord {
        let sides = sides.into_iter();
        let sides = sides.filter_map(|records| Side::of(&plan, records));
        let mut sides = sides.collect::<Vec<_>>();
        sides.sort_by_key(|side| side.party);
        RunRecord { plan, sides }
    }

    /// State of the run.
    pub fn state(&self) -> RunState {
        let ends = |is: fn(&End) -> bool| self.sides.iter().filter(move |side| is(&side.end));
        let failed = ends(|end| matches!(end, End::Failed(_))).count();
        let done = ends(|end| matches!(end, End::Done(_))).count();
        match (failed, done) {
            (0, done) if done > 0 && done == self.sides.len() => RunState::Done,
            (0, _) => RunState::Unfinished,
            _ => RunState::Failed,
        }
    }

    /// Time at which the first party began, in microseconds since 1970.
    pub fn started_us(&self) -> Option<u64> {
        self.sides.iter().map(|side| side.started.unix_us).min()
    }

    /// Names of the parties whose events are recorded.
    pub fn told_by(&self) -> Vec<&str> {
        let names = self.sides.iter().map(|side| side.started.party.as_str());
        names.collect()
    }

    /// Measured payload bytes by sender and receiver, by index of the plan's parties; for parties
    /// without events, the bytes that others received from them.
    fn sent(&self) -> Vec<Vec<u64>> {
        let parties = self.plan.parties().len();
        let mut sent = vec![vec![0; parties]; parties];
        for side in &self.sides {
            let given = side.crossed(|step_round| &step_round.sent);
            for (to, bytes) in given.into_iter().enumerate() {
                set(&mut sent, side.party, to, bytes);
            }
        }
        for side in &self.sides {
            let received = side.crossed(|step_round| &step_round.received);
            for (from, bytes) in received.into_iter().enumerate() {
                set(&mut sent, from, side.party, bytes);
            }
            // If all parties finished, each sender has told the others what it sent to whom.
            if let End::Done(ended) = &side.end {
                for (from, reported) in ended.sent.iter().enumerate() {
                    for (to, bytes) in reported.iter().enumerate() {
                        set(&mut sent, from, to, *bytes);
                    }
                }
            }
        }
        sent
    }

    /// Planned payload bytes by sender and receiver.
    fn planned(&self) -> Vec<Vec<u64>> {
        let parties = self.plan.parties().len();
        let mut planned = vec![vec![0; parties]; parties];
        let names = self.plan.parties();
        let index = |name: &String| names.iter().position(|party| party == name);
        for link in &self.plan.links {
            if let (Some(from), Some(to)) = (index(&link.from), index(&link.to)) {
                planned[from][to] = link.bytes;
            }
        }
        planned
    }

    /// The largest round that any party saw.
    fn rounds(&self) -> u64 {
        let last = |side: &Side| Some(side.step_rounds.last()?.1.rounds);
        let rounds = self.sides.iter().map(|side| match &side.end {
            End::Done(ended) => ended.rounds,
            _ => last(side).unwrap_or(0),
        });
        rounds.max().unwrap_or(0)
    }

    /// Seconds from the end of the handshake to the last result, at the slowest party.
    pub fn seconds(&self) -> Option<f64> {
        let seconds = self.sides.iter().filter_map(|side| match &side.end {
            End::Done(ended) => Some(ended.took_us as f64 / 1e6),
            _ => None,
        });
        seconds.reduce(f64::max)
    }
}

impl Side {
    fn of(plan: &PlanRecord, records: Vec<Record>) -> Option<Side> {
        let mut records = records.into_iter();
        let first = records.next()?;
        let Event::Started(started) = first.event else {
            return None;
        };
        let mut names = plan.parties().iter();
        let party = names.position(|name| *name == started.party)?;
        let mut side = Side {
            started,
            party,
            phases: Vec::new(),
            rows: Vec::new(),
            session: String::new(),
            step_rounds: Vec::new(),
            steps: Vec::new(),
            end: End::Open,
            last_us: first.at_us,
        };
        for Record { at_us, event } in records {
            side.last_us = at_us.max(side.last_us);
            match event {
                Event::Phase { phase } => side.phases.push((phase, at_us)),
                Event::Agreed { rows, session } => (side.rows, side.session) = (rows, session),
                Event::StepRound(step_round) => side.step_rounds.push((at_us, step_round)),
                Event::Steps { steps } => side.steps = steps,
                Event::Ended(ended) => side.end = End::Done(ended),
                Event::Failed(failed) => side.end = End::Failed(failed),
                _ => {}
            }
        }
        Some(side)
    }

    /// Payload bytes of all step rounds, by party.
    fn crossed(&self, of: fn(&StepRound) -> &Vec<u64>) -> Vec<u64> {
        let mut sums = Vec::new();
        for (_, step_round) in &self.step_rounds {
            let bytes = of(step_round);
            sums.resize(bytes.len().max(sums.len()), 0u64);
            for (sum, bytes) in sums.iter_mut().zip(bytes) {
                *sum = sum.saturating_add(*bytes);
            }
        }
        sums
    }

    /// Microseconds of computing and of waiting for others, after the handshake.
    fn busy_and_waited_us(&self) -> (u64, u64) {
        let step_rounds = self.step_rounds.iter();
        step_rounds.fold((0, 0), |(busy, waited), (at_us, step_round)| {
            let took = at_us.saturating_sub(step_round.from_us);
            let idle = step_round.waited_us.min(took);
            let busy = busy.saturating_add(took - idle);
            (busy, waited.saturating_add(idle))
        })
    }

    /// Phases with their beginnings and ends.
    fn spans(&self) -> impl Iterator<Item = (Phase, u64, u64)> {
        let ends = self.phases.iter().skip(1).map(|(_, at_us)| *at_us);
        let ends = ends.chain([self.last_us]);
        let spans = self.phases.iter().zip(ends);
        spans.map(|((phase, from), to)| (*phase, *from, to))
    }
}

fn set(matrix: &mut [Vec<u64>], from: usize, to: usize, bytes: u64) {
    if let Some(cell) = matrix.get_mut(from).and_then(|row| row.get_mut(to)) {
        *cell = bytes.max(*cell);
    }
}
