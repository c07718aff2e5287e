//! JSON form of a plan: what `plan --json` prints, `plan.json` holds and the page of a run reads.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A plan with its cost for given row counts. Parties are named; numbers by party have their names
/// as keys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanRecord {
    /// Name of the program.
    pub program: String,
    /// Hash of the job, in hex.
    pub job: String,
    /// Name of the protocol.
    pub protocol: String,
    /// Network class, `lan` or `wan`.
    pub network: String,
    /// Names of all parties, helpers last.
    pub parties: Vec<String>,
    /// Names of the helpers.
    #[serde(default)]
    pub helpers: Vec<String>,
    /// Names of the parties that compute.
    pub computing: Vec<String>,
    /// Party of each role; empty where the protocol has no roles.
    pub roles: BTreeMap<String, String>,
    /// Row counts by name.
    pub rows: BTreeMap<String, u64>,
    /// Payload bytes that each party sends.
    #[serde(default)]
    pub payload_bytes: BTreeMap<String, u64>,
    /// Rounds.
    pub rounds: u64,
    /// AND gates, once for each row.
    pub ands: u64,
    /// Bytes of memory that a run takes at each party, at most.
    #[serde(default)]
    pub memory_bytes: BTreeMap<String, u64>,
    /// Estimated seconds by network class.
    pub estimate_s: BTreeMap<String, f64>,
    /// Inputs, in the order of the program.
    pub inputs: Vec<InputRecord>,
    /// Results, in the order of the program.
    pub results: Vec<ResultRecord>,
    /// Payload bytes from party to party.
    pub links: Vec<LinkRecord>,
    /// Components of the protocol with their papers.
    pub papers: Vec<PaperRecord>,
    /// Steps, in order.
    pub steps: Vec<StepRecord>,
    /// Forms in which lookups can run; empty if there is no choice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lookups: Vec<LookupRecord>,
    /// Fields GF(2^k) in which parties multiply elements as a whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub products: Vec<ProductRecord>,
}

/// A field in which parties multiply elements as a whole, in one round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProductRecord {
    /// The polynomial of the field, in hexadecimal digits.
    pub polynomial: String,
    /// Bits of an element, which each party sends for a product.
    pub bits: u64,
    /// ANDs of a product as gates.
    pub ands: u64,
}

/// A form of all lookups of a plan, with the cost of the whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LookupRecord {
    /// The form, in words.
    pub form: String,
    /// Payload bytes of all parties.
    pub payload_bytes: u64,
    /// Rounds.
    pub rounds: u64,
    /// Estimated seconds on the network of the plan.
    pub estimate_s: f64,
    /// True for the form that the run takes.
    pub chosen: bool,
}

/// An input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputRecord {
    /// Name.
    pub name: String,
    /// Party that gives it.
    pub owner: String,
    /// Element type.
    #[serde(rename = "type")]
    pub ty: String,
    /// Shape, such as `[patients, 30]`; empty for a single element.
    pub shape: String,
    /// Names of the columns of a table that fill it, where the program gives them.
    #[serde(default)]
    pub columns: Vec<String>,
}

/// A result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultRecord {
    /// Name.
    pub name: String,
    /// Parties that learn it.
    pub to: Vec<String>,
    /// Element type.
    #[serde(rename = "type")]
    pub ty: String,
    /// Shape, as of [`InputRecord`].
    pub shape: String,
    /// Protection of single people that the program declares; empty if there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// Planned payload bytes from one party to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkRecord {
    /// Sender.
    pub from: String,
    /// Receiver.
    pub to: String,
    /// Payload bytes.
    pub bytes: u64,
}

/// A component of a protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaperRecord {
    /// Component.
    pub part: String,
    /// Citation.
    pub paper: String,
    /// Assumption.
    pub assumption: String,
    /// Security level, in words.
    pub security: String,
}

/// A step of the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepRecord {
    /// Source line.
    pub line: Option<u32>,
    /// Description.
    pub step: String,
    /// Number of times that it runs.
    #[serde(default)]
    pub times: u64,
    /// Lanes, over all times.
    #[serde(default)]
    pub lanes: u64,
    /// AND gates, over all lanes.
    #[serde(default)]
    pub ands: u64,
    /// Payload bytes that each party sends.
    #[serde(default)]
    pub payload_bytes: BTreeMap<String, u64>,
}
