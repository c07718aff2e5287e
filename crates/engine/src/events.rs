//! What is told of a run while it goes on: sizes, counts, times, names and hashes.
//!
//! An [`Event`] has no room for an element of an input, a result or a share: its fields are
//! numbers that all parties can work out from the plan or from what crosses, times, and names that
//! stand in the program. [`Failed`] is made in one place, which leaves out what an error says about
//! values. So whatever keeps or shows events, such as the folder of a run, keeps no secret.
//!
//! As JSON lines, an event is one object with `at_us` and `event`; `docs/guides/reports.md` documents
//! every field.
//!
//! **A run of any size has a bounded number of events.** Beyond the first few hundred, turns are
//! told of in groups that grow with the run, and of the blocks only some are told (`Pace`): their
//! number grows with the logarithm of the run, and nothing is kept that grows faster.

use crate::error::Kind;
use sealane_diagnostic::Diagnostic;
use serde::{Deserialize, Serialize};

/// An event, and when it happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Microseconds since the start of the run at this party, by a clock that never goes back.
    pub at_us: u64,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Event {
    /// This party has begun: the first event.
    Started(Started),
    /// A phase begins; the one before it has ended.
    Phase {
        /// Which one.
        phase: Phase,
    },
    /// All parties run the same job on these rows.
    Agreed {
        /// Name and number of rows of each table.
        rows: Vec<(String, u64)>,
    },
    /// A block of a segment is taken up: all of the segment, or one tile of rows.
    Opened(Block),
    /// All steps of a block are done.
    Closed(Block),
    /// One turn, or several that follow each other.
    Turn(Turn),
    /// What each step took at this party: once, before the end.
    Steps {
        /// The steps that took anything, in the order of the plan.
        steps: Vec<StepTime>,
    },
    /// The run came to its end, and this party has what it may learn: the last event.
    Ended(Ended),
    /// The run failed: the last event.
    Failed(Failed),
}

/// Who runs what, and when it began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Started {
    /// Name of this party.
    pub party: String,
    /// Names of all parties, helpers last; arrays by party follow this order.
    pub parties: Vec<String>,
    /// Name of the program.
    pub program: String,
    /// Hash of the job, in hex.
    pub job: String,
    /// Name of the protocol.
    pub protocol: String,
    /// Version of Sealane.
    pub version: String,
    /// CPU tier of this machine.
    pub tier: String,
    /// Wall-clock time of the start, in microseconds since 1970 in UTC; all else is relative.
    pub unix_us: u64,
}

/// The phases of a run, in order. One that has nothing to do may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Connections are made, keys are checked.
    Meet,
    /// The job and the numbers of rows are compared.
    Agree,
    /// This party computes alone what it alone knows.
    Alone,
    /// Correlated randomness is made.
    Prepare,
    /// The steps of the plan.
    Compute,
    /// Digests of all that crossed are settled; then results go to those who may learn them.
    Reveal,
    /// The parties compare what was sent, before any of them takes a result.
    Part,
}

/// A part of the work that is taken up and finished as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// Number of the segment of the plan.
    pub segment: usize,
    /// Number of the tile, from 0.
    pub tile: u64,
    /// Rows of the tile; 0 for a segment that runs once.
    pub rows: u64,
}

/// Turns that follow each other, or a part of one: in each turn, what is ready is written, all of it
/// leaves, and what is due is read. What is told of ends at the time of the event.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// Number of the first one, from 0.
    pub first: u64,
    /// How many have ended; 0 for a part of one, and for what crosses outside of turns, in
    /// preparation and reveal.
    pub count: u64,
    /// Rounds of the run up to here: the largest stamp that this party saw.
    pub rounds: u64,
    /// When they began.
    pub from_us: u64,
    /// How long of it this party waited for others.
    pub waited_us: u64,
    /// Payload bytes written, by party.
    pub sent: Vec<u64>,
    /// Payload bytes read, by party.
    pub received: Vec<u64>,
}

/// What one step took at this party, in all blocks together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepTime {
    /// Index among the steps of `plan --json`.
    pub step: usize,
    /// Microseconds of work.
    pub busy_us: u64,
    /// Microseconds in which it waited for others, within the step.
    pub waited_us: u64,
    /// Payload bytes written, by party.
    pub sent: Vec<u64>,
    /// Payload bytes read, by party.
    pub received: Vec<u64>,
}

/// A run that came to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// Payload bytes: `sent[from][to]`, as each sender tells.
    pub sent: Vec<Vec<u64>>,
    /// Rounds.
    pub rounds: u64,
    /// Whether bytes on every link and rounds are the planned ones.
    pub as_planned: bool,
    /// Microseconds from the end of the handshake to the last result.
    pub took_us: u64,
    /// Names of the results that this party has learnt.
    pub learnt: Vec<String>,
}

/// A run that failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failed {
    /// Who has to act: `program`, `misuse`, `data`, `config`, `network`, `peer` or `internal`.
    pub kind: String,
    /// Stable code of the error.
    pub code: String,
    /// What happened, in words that hold no value of anybody's data.
    pub text: String,
    /// Why it is so; may be empty.
    pub reason: String,
    /// What to do; may be empty.
    pub hint: String,
    /// The step of `plan --json` that was in hand.
    pub step: Option<usize>,
}

impl Failed {
    /// What is kept of an error. Of data only the rule that they break and where: the text of the
    /// error shows a value to its owner.
    pub(crate) fn new(finding: &Diagnostic, step: Option<usize>) -> Failed {
        if finding.kind() != Kind::Data {
            return Failed::with_text(finding, step);
        }
        let place = finding.span.as_ref();
        let place = place.map_or(String::new(), |span| {
            format!(", at {}:{}", span.file, span.line)
        });
        Failed {
            kind: finding.kind().name().to_string(),
            code: finding.code.to_string(),
            text: format!("the data of this party were refused{place}"),
            reason: "What they hold is not kept here; the error itself showed it.".to_string(),
            hint: String::new(),
            step,
        }
    }

    /// What is kept of an error whose text holds no value.
    pub(crate) fn with_text(finding: &Diagnostic, step: Option<usize>) -> Failed {
        Failed {
            kind: finding.kind().name().to_string(),
            code: finding.code.to_string(),
            text: finding.message.clone(),
            reason: finding.reason.clone(),
            hint: finding.hint.clone(),
            step,
        }
    }
}

/// Which of many are told, by their number from 0: all of the first `all`, then ever fewer, so that
/// of `n` about `all / 2 * log2(n / all)` are told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// How many are told one by one; a power of two.
    pub all: u64,
}

impl Pace {
    /// Whether the one with this number is told.
    pub fn tells(self, number: u64) -> bool {
        number < self.all || number.is_multiple_of(number.next_power_of_two() / self.all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_ever_so_many_few_are_told_and_of_few_all() {
        let pace = Pace { all: 64 };
        let told = |n: u64| (0..n).filter(|number| pace.tells(*number)).count();
        assert_eq!(told(64), 64);
        assert_eq!(told(128), 96);
        assert!(told(1 << 20) <= 64 + 32 * 14 + 1, "{}", told(1 << 20));
        // The gaps grow with what has gone by: never more than a sixteenth of it.
        let numbers = (0..1 << 20).filter(|number| pace.tells(*number));
        let numbers = numbers.collect::<Vec<_>>();
        for pair in numbers.windows(2) {
            assert!(pair[1] - pair[0] <= 1 + pair[1] / 16, "{pair:?}");
        }
    }

    #[test]
    fn a_line_is_what_the_documentation_says() {
        let record = Record {
            at_us: 12,
            event: Event::Opened(Block {
                segment: 1,
                tile: 2,
                rows: 64,
            }),
        };
        let line = serde_json::to_string(&record).unwrap();
        let told = r#"{"at_us":12,"event":"opened","segment":1,"tile":2,"rows":64}"#;
        assert_eq!(line, told);
        let phase = Event::Phase {
            phase: Phase::Prepare,
        };
        let line = serde_json::to_string(&phase).unwrap();
        assert_eq!(line, r#"{"event":"phase","phase":"prepare"}"#);
        assert_eq!(serde_json::from_str::<Record>(told).unwrap(), record);
    }
}
