//! What a run leaves: results, what crossed, and how long it took. No secret value is in it but
//! the results that its party may learn.

use sealane_program::types::Data;

/// One result as a party sees it.
pub struct RunResult {
    /// Name in the program.
    pub name: String,
    /// Names of the parties that learn it.
    pub to: Vec<String>,
    /// The elements, at those who learn it.
    pub data: Option<Data>,
}

/// A finished run, as one party saw it; in a simulation, as all of them together did.
pub struct RunReport {
    /// The party, or none for a simulation.
    pub party: Option<String>,
    /// Names of all parties.
    pub parties: Vec<String>,
    /// Hash of the job.
    pub job: String,
    /// Name of the protocol.
    pub protocol: &'static str,
    /// CPU tier of this machine.
    pub tier: &'static str,
    /// Rows of each table, by name.
    pub rows: Vec<(String, u64)>,
    /// Results in the order of the program.
    pub results: Vec<RunResult>,
    /// Measured payload bytes: `sent[from][to]`.
    pub sent: Vec<Vec<u64>>,
    /// Measured rounds.
    pub rounds: u32,
    /// The plan's promise for the same rows: `sent[from][to]`.
    pub planned_sent: Vec<Vec<u64>>,
    /// The plan's promise of rounds.
    pub planned_rounds: u32,
    /// AND gates evaluated, counted once for each lane.
    pub ands: u64,
    /// Seconds from the end of the handshake to the last result.
    pub seconds: f64,
}

impl RunReport {
    /// Measured payload bytes that each party sent.
    pub fn payload_bytes(&self) -> Vec<(String, u64)> {
        let sums = self.sent.iter().map(|to| to.iter().sum());
        self.parties.iter().cloned().zip(sums).collect()
    }
    /// Whether the plan kept its promise.
    pub fn as_planned(&self) -> bool {
        self.sent == self.planned_sent && self.rounds == self.planned_rounds
    }
}
