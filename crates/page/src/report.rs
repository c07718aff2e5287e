//! The record of a finished run: what `run --json` and `simulate --json` print.

use crate::plan::{Cost, LinkRecord, Measured, rows};
use crate::units::{counted, grouped, seconds, speed};
use crate::{Card, Named, View};
use sealane_diagnostic::one_line;
use sealane_program::types::Type;
use sealane_program::{decimal, float};
use sealane_tables::Shown;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

/// Elements of a result that a card shows.
const SHOWN: usize = 6;

/// Results that one side learns, and the traffic. It uses the keys of a plan for the same things.
#[derive(Serialize)]
pub struct ReportRecord<'a> {
    /// Name of the program.
    pub program: &'a str,
    /// Hash of the job, in hex.
    pub job: &'a str,
    /// The party; none for a simulation.
    pub party: Option<&'a str>,
    /// Name of the protocol.
    pub protocol: &'static str,
    /// CPU tier of this machine.
    pub tier: &'static str,
    /// Row counts by name.
    pub rows: Named<u64>,
    /// Payload bytes that each party sent.
    pub payload_bytes: Named<u64>,
    /// Rounds, measured.
    pub rounds: u64,
    /// AND gates, once for each row.
    pub ands: u64,
    /// Products that were proved, of a protocol against malicious parties.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proved: Option<ProvedRecord>,
    /// Promise of the plan.
    pub planned: PlannedRecord,
    /// True if bytes and rounds are the planned ones on every link.
    pub as_planned: bool,
    /// Notes about the numbers of the program, and about the inputs.
    pub notes: &'a [String],
    /// Seconds from the end of the handshake to the last result.
    pub seconds: f64,
    /// Processor seconds of the process in that time, of all its threads; of a simulation, those of
    /// all parties.
    pub cpu_seconds: f64,
    /// Results of this side by name, without masks, whose empty cells the others show.
    pub results: Named<LearntRecord<'a>>,
    /// Files that were asked for: none if this side learnt nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<String>>,
    /// Work of the party, in words; the card alone shows it.
    #[serde(skip)]
    pub did: Option<String>,
    /// Payload bytes on each link, planned and measured; the card alone shows them.
    #[serde(skip)]
    pub links: (Vec<LinkRecord>, Vec<u64>),
}

/// Products that parties proved to each other before anything was opened.
#[derive(Serialize)]
pub struct ProvedRecord {
    /// Products, once for each row.
    pub products: u64,
    /// Settlements that proved them.
    pub settlements: u64,
}

/// Promise of the plan of a run.
#[derive(Serialize)]
pub struct PlannedRecord {
    /// Payload bytes that each party sends.
    pub payload_bytes: Named<u64>,
    /// Rounds.
    pub rounds: u64,
}

/// A result of this side.
#[derive(Serialize)]
pub struct LearntRecord<'a> {
    /// Parties that learn it.
    pub to: &'a [String],
    /// Element type, with the meaning of the elements.
    #[serde(rename = "type")]
    pub ty: String,
    /// Fixed and row dimensions of its cells.
    pub shape: &'a [u64],
    /// The cells.
    #[serde(serialize_with = "cells")]
    pub values: Shown<'a>,
}

impl View for ReportRecord<'_> {
    fn card(&self) -> Card {
        let side = match self.party {
            Some(party) => format!("as {party}"),
            None => "simulated".to_string(),
        };
        let (program, protocol) = (self.program, self.protocol);
        let mut card = Card::new(format!("run of {program} · {protocol} · {side}"));
        card.lines("rows", rows(&self.rows));
        card.lines("did", self.did.clone());
        let learnt = self.results.iter();
        let learnt = learnt.map(|(name, result)| format!("{name}: {}", preview(&result.values)));
        let nothing = "nothing but the numbers of rows".to_string();
        let nothing = self.results.is_empty().then_some(nothing);
        card.lines("learnt", learnt.chain(nothing));
        card.lines("note", self.notes.iter().cloned());
        let (links, sent) = &self.links;
        let (ands, rounds) = (self.ands, self.planned.rounds);
        let cost = Cost {
            ands,
            links,
            rounds,
        };
        let (links, rounds) = (&sent[..], self.rounds);
        let measured = Measured { links, rounds };
        let parties = self.planned.payload_bytes.iter();
        let parties = parties.map(|(name, _)| name.clone()).collect::<Vec<_>>();
        cost.add_to(&mut card, &parties, Some(&measured));
        let proved = self.proved.iter().filter(|proved| proved.settlements > 0);
        card.lines("proved", proved.map(ProvedRecord::line));
        let speed = speed(self.ands as f64 / self.seconds.max(1e-9));
        let (time, tier) = (seconds(self.seconds), self.tier);
        let time = format!("{time} · {speed} AND gates a second, {tier}");
        card.line("time", time);
        card.line("job", self.job);
        if let Some(files) = &self.files {
            let nothing = "no file: this side learns nothing".to_string();
            let nothing = files.is_empty().then_some(nothing);
            card.lines("wrote", files.iter().cloned().chain(nothing));
        }
        card
    }
}

impl ProvedRecord {
    fn line(&self) -> String {
        let products = counted(self.products, "product");
        let settlements = counted(self.settlements, "settlement");
        format!("{products} in {settlements}; nothing was opened before the last of them")
    }
}

impl ReportRecord<'_> {
    /// Tells whether the card leaves out elements of results.
    pub fn leaves_out(&self) -> bool {
        let results = self.results.iter();
        let mut counts = results.map(|(_, result)| result.values.data.elements.len());
        counts.any(|count| count > SHOWN)
    }
}

/// The first cells of a result.
fn preview(shown: &Shown<'_>) -> String {
    let cell = |cell: usize| match (shown.text(cell), shown.data.ty) {
        _ if shown.is_missing(cell) => "missing".to_string(),
        (Some(text), _) => one_line(&text),
        (None, Type::Bool) => (shown.number(cell) != 0).to_string(),
        (None, ty) => decimal::value_text(shown.number(cell), ty),
    };
    let count = shown.cells();
    let first = (0..count.min(SHOWN)).map(cell).collect::<Vec<_>>();
    let first = first.join(", ");
    match count {
        _ if shown.kind.cells(&shown.data.shape).is_empty() => first,
        count if count <= SHOWN => format!("[{first}]"),
        count => format!("[{first}, …] {} elements", grouped(count as u64)),
    }
}

/// The cells of a result as JSON has them.
fn cells<S: Serializer>(shown: &Shown<'_>, serializer: S) -> Result<S::Ok, S::Error> {
    let cell = |cell: usize| match shown.text(cell) {
        _ if shown.is_missing(cell) => Value::Null,
        Some(text) => json!(text),
        None => element(shown.data.ty, shown.number(cell)),
    };
    serializer.collect_seq((0..shown.cells()).map(cell))
}

/// A number as JSON has it.
fn element(ty: Type, number: i128) -> Value {
    match ty {
        Type::Bool => json!(number != 0),
        Type::Int { signed: true, .. } => json!(number as i64),
        Type::Int { signed: false, .. } => json!(number as u64),
        // Readers of JSON have floats; where a type has values that are none, the decimal is text.
        Type::Fixed { fraction, .. } if decimal::fits_f64(ty) => {
            json!(decimal::to_f64(number, fraction).0)
        }
        Type::Fixed { fraction, .. } => json!(decimal::text(number, fraction)),
        // JSON has no infinities and no NaN.
        Type::Float(format) => match float::to_f64(number, format) {
            finite if finite.is_finite() => json!(finite),
            _ => json!(float::text(number, format)),
        },
    }
}
