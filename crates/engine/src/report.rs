//! Report of a run: results, traffic and time. Its only secret values are the results that its
//! party may learn.

use sealane_block::Tier;
use sealane_parties::PartyId;
use sealane_plan::cost::Promise;
use sealane_program::types::Data;

/// Result as a party sees it.
pub struct RunResult {
    /// Name in the program.
    pub name: String,
    /// Names of the parties that learn it.
    pub to: Vec<String>,
    /// Elements, at the parties that learn it.
    pub data: Option<Data>,
}

/// Finished run as one party saw it; for a simulation, all parties together.
pub struct RunReport {
    /// The party; `None` for a simulation.
    pub party: Option<String>,
    /// Names of all parties.
    pub parties: Vec<String>,
    /// Hash of the job.
    pub job: String,
    /// Name of the protocol.
    pub protocol: &'static str,
    /// CPU tier of this machine.
    pub tier: Tier,
    /// Rows of each table, by name.
    pub rows: Vec<(String, u64)>,
    /// Results in the order of the program.
    pub results: Vec<RunResult>,
    /// Measured payload bytes: `sent[from][to]`, as each sender reports.
    pub sent: Vec<Vec<u64>>,
    /// Measured rounds: the largest stamp that any party saw.
    pub rounds: u64,
    /// Cost that the plan promised for these rows.
    pub promise: Promise,
    /// Notes for this party on its inputs, such as numbers that were rounded as they were read.
    pub notes: Vec<String>,
    /// Seconds from the end of the handshake to the last result.
    pub seconds: f64,
    /// Processor seconds of this process in that time, of all its threads; for a simulation, of all
    /// parties together.
    pub cpu_seconds: f64,
}

impl RunReport {
    /// Measured payload bytes that each party sent, by name. Counts between other parties are
    /// claims of these parties, so the sums saturate.
    pub fn payload_bytes(&self) -> Vec<(String, u64)> {
        let sum = |to: &Vec<u64>| to.iter().copied().fold(0, u64::saturating_add);
        let sums = self.sent.iter().map(sum);
        self.parties.iter().cloned().zip(sums).collect()
    }

    /// Tells if the plan kept its promise, byte by byte on every link.
    pub fn as_planned(&self) -> bool {
        let planned = |from: usize, to: usize| {
            let link = (PartyId::from_index(from), PartyId::from_index(to));
            self.promise.payload.get(&link).copied().unwrap_or(0)
        };
        let mut links = self.sent.iter().enumerate().flat_map(|(from, sent)| {
            sent.iter()
                .enumerate()
                .map(move |(to, bytes)| (from, to, *bytes))
        });
        self.rounds == self.promise.rounds
            && links.all(|(from, to, bytes)| bytes == planned(from, to))
    }
}
