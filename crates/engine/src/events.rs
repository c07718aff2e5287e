//! Events of a run while it goes on: sizes, counts, times, names and hashes.
//!
//! An [`Event`] cannot hold an element of an input, a result or a share. Its fields are numbers
//! that all parties can compute from the plan or from the traffic, times, and names from the
//! program. [`Failed`] is made in one place, which leaves out what an error says about values. So
//! an observer that stores or shows events, such as the folder of a run, stores no secret.
//!
//! As JSON lines, an event is one object with `at_us` and `event`; `docs/guides/reports.md`
//! documents every field.
//!
//! **A run of any size has a bounded number of events.** Beyond the first few hundred, step rounds
//! are reported in groups that grow with the run, and only some blocks are reported (`Sampling`).
//! Their number grows with the logarithm of the run, and nothing is kept that grows faster.

use crate::error::FailureKind;
use sealane_diagnostic::Diagnostic;
use serde::{Deserialize, Serialize};

/// Event with its time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Microseconds since the start of the run at this party, by a clock that never goes back.
    pub at_us: u64,
    /// Event.
    #[serde(flatten)]
    pub event: Event,
}

/// Event of a run at one party.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Event {
    /// The party has begun: the first event.
    Started(Started),
    /// A phase begins, and the one before it ends.
    Phase {
        /// The phase.
        phase: Phase,
    },
    /// All parties run the same job on these rows.
    Agreed {
        /// Name and number of rows of each table.
        rows: Vec<(String, u64)>,
        /// Identifier of the session, in hex: the same at all parties, and another in each run.
        #[serde(default)]
        session: String,
    },
    /// A block of a segment begins: the whole segment, or one tile of rows.
    Opened(Block),
    /// All steps of a block are done.
    Closed(Block),
    /// One step round, or several in succession.
    #[serde(rename = "turn")]
    StepRound(StepRound),
    /// Times and traffic of each step at this party: once, before the end.
    Steps {
        /// Steps that took time or sent anything, in the order of the plan.
        steps: Vec<StepTime>,
    },
    /// The run succeeded, and this party has the results that it may learn: the last event.
    Ended(Ended),
    /// The run failed: the last event.
    Failed(Failed),
}

/// Parties, job and software of a run, and its start time.
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
    /// Wall-clock time of the start, in microseconds since 1970 in UTC; all other times are
    /// relative.
    pub unix_us: u64,
}

/// Phases of a run, in order. A phase that has nothing to do may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Connections are made, keys are checked.
    #[serde(rename = "meet")]
    Connect,
    /// The job and the numbers of rows are compared.
    Agree,
    /// This party computes alone on its own inputs.
    Alone,
    /// Correlated randomness is made.
    Prepare,
    /// The steps of the plan.
    Compute,
    /// Digests of all traffic are compared; then results go to the parties that may learn them.
    Reveal,
    /// The parties compare what was sent, before any of them accepts a result.
    Part,
}

/// Part of the work that begins and ends as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// Number of the segment of the plan.
    pub segment: usize,
    /// Number of the tile, from 0.
    pub tile: u64,
    /// Rows of the tile; 0 for a segment that runs once.
    pub rows: u64,
}

/// Step rounds in succession, or a part of one. In each step round, all steps that are ready write,
/// the messages are sent, and the messages that are due are read. The period ends at the time of
/// the event.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepRound {
    /// Number of the first step round, from 0.
    pub first: u64,
    /// Number of step rounds that have ended; 0 for a part of one, and for traffic outside of step
    /// rounds, in preparation and reveal.
    pub count: u64,
    /// Rounds of the run so far: the largest stamp that this party saw.
    pub rounds: u64,
    /// Start of the period.
    pub from_us: u64,
    /// Time within the period in which this party waited for others.
    pub waited_us: u64,
    /// Payload bytes written, by party.
    pub sent: Vec<u64>,
    /// Payload bytes read, by party.
    pub received: Vec<u64>,
}

/// Time and traffic of one step at this party, in all blocks together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepTime {
    /// Index among the steps of `plan --json`.
    pub step: usize,
    /// Microseconds of work.
    pub busy_us: u64,
    /// Microseconds in which this party waited for others within the step.
    pub waited_us: u64,
    /// Payload bytes written, by party.
    pub sent: Vec<u64>,
    /// Payload bytes read, by party.
    pub received: Vec<u64>,
}

/// End of a run that succeeded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// Payload bytes: `sent[from][to]`, as each sender reports.
    pub sent: Vec<Vec<u64>>,
    /// Rounds.
    pub rounds: u64,
    /// Set if the bytes on every link and the rounds are the planned ones.
    pub as_planned: bool,
    /// Microseconds from the end of the handshake to the last result.
    pub took_us: u64,
    /// Names of the results that this party has learnt.
    pub learnt: Vec<String>,
}

/// End of a run that failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failed {
    /// Kind of failure: `program`, `misuse`, `data`, `config`, `network`, `peer` or `internal`.
    pub kind: String,
    /// Stable code of the error.
    pub code: String,
    /// Sentence of the error, without any value of anybody's data.
    pub text: String,
    /// Reason; may be empty.
    pub reason: String,
    /// Advice; may be empty.
    pub hint: String,
    /// The current step, by its index in `plan --json`.
    pub step: Option<usize>,
}

impl Failed {
    /// Creates the event for an error. For errors in data it keeps only the violated rule and the
    /// place, since the text of the error shows a value to its owner.
    pub(crate) fn new(finding: &Diagnostic, step: Option<usize>) -> Failed {
        if finding.kind() != FailureKind::Data {
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

    /// Creates the event for an error whose text holds no value.
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

/// Choice of the items that are reported, by their number from 0: the first `all`, then ever fewer,
/// so that of `n` items about `all / 2 * log2(n / all)` are reported.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sampling {
    /// Number of items that are reported one by one; a power of two.
    pub all: u64,
}

impl Sampling {
    /// Tells if the item with this number is reported.
    pub fn includes(self, number: u64) -> bool {
        number < self.all || number.is_multiple_of(number.next_power_of_two() / self.all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_ever_so_many_few_are_reported_and_of_few_all() {
        let pace = Sampling { all: 64 };
        let reported = |n: u64| (0..n).filter(|number| pace.includes(*number)).count();
        assert_eq!(reported(64), 64);
        assert_eq!(reported(128), 96);
        let events = reported(1 << 20);
        assert!(events <= 64 + 32 * 14 + 1, "{events}");
        // The gaps grow with the number of items so far: never more than a sixteenth of it.
        let numbers = (0..1 << 20).filter(|number| pace.includes(*number));
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
        let reported = r#"{"at_us":12,"event":"opened","segment":1,"tile":2,"rows":64}"#;
        assert_eq!(line, reported);
        let phase = Event::Phase {
            phase: Phase::Prepare,
        };
        let line = serde_json::to_string(&phase).unwrap();
        assert_eq!(line, r#"{"event":"phase","phase":"prepare"}"#);
        assert_eq!(serde_json::from_str::<Record>(reported).unwrap(), record);
    }
}
