//! Summary of a run, in a few fields: the `report.json` of its folder, and a line in a list.

use super::{End, RunRecord, RunState};
use sealane_engine::events::Failed;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The summary of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Summary {
    /// Name of the program.
    pub program: String,
    /// Name of the protocol.
    pub protocol: String,
    /// Hash of the job.
    pub job: String,
    /// All parties.
    pub parties: Vec<String>,
    /// Parties whose events are recorded.
    pub told_by: Vec<String>,
    /// Start of the run, in microseconds since 1970.
    pub started_unix_us: Option<u64>,
    /// State of the run.
    pub state: RunState,
    /// Seconds from the end of the handshake to the last result.
    pub seconds: Option<f64>,
    /// Payload bytes measured, by sender and receiver.
    pub payload_bytes: BTreeMap<String, BTreeMap<String, u64>>,
    /// Rounds measured.
    pub rounds: u64,
    /// True if each party that finished found bytes and rounds as planned.
    pub as_planned: bool,
    /// Names of the results that each party with recorded events has learnt.
    pub learnt: BTreeMap<String, Vec<String>>,
    /// Failure of each party that failed.
    pub failed: BTreeMap<String, Failed>,
}

impl RunRecord {
    /// Makes the summary of the run.
    pub fn summary(&self) -> Summary {
        let plan = &self.plan;
        let sent = plan.parties().iter().zip(self.sent());
        let sent = sent.map(|(from, bytes)| {
            let to = plan.parties().iter().cloned().zip(bytes);
            (from.clone(), to.filter(|(_, bytes)| *bytes > 0).collect())
        });
        let mut summary = Summary {
            program: plan.program.clone(),
            protocol: plan.protocol.clone(),
            job: plan.job.clone(),
            parties: plan.parties().to_vec(),
            told_by: self.told_by().into_iter().map(String::from).collect(),
            started_unix_us: self.started_us(),
            state: self.state(),
            seconds: self.seconds(),
            payload_bytes: sent.collect(),
            rounds: self.rounds(),
            as_planned: self.state() == RunState::Done,
            learnt: BTreeMap::new(),
            failed: BTreeMap::new(),
        };
        for side in &self.sides {
            let name = side.started.party.clone();
            match &side.end {
                End::Done(ended) => {
                    summary.as_planned &= ended.as_planned;
                    summary.learnt.insert(name, ended.learnt.clone());
                }
                End::Failed(failed) => drop(summary.failed.insert(name, failed.clone())),
                End::Open => {}
            }
        }
        summary
    }
}
