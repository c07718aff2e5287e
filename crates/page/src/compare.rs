//! The record of a comparison: what `plan --compare` prints, side by side.

use crate::card::Column;
use crate::plan::{GapRecord, rows};
use crate::units::{grouped, seconds};
use crate::{Card, Named, Signature, View};
use serde::{Deserialize, Serialize};

/// Protocols that can run a program, with their costs for given row counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparisonRecord {
    /// Name of the program.
    pub program: String,
    /// The declared network.
    pub network: String,
    /// True if runs take their oblivious transfers from a pool.
    pub pool: bool,
    /// Row counts by name.
    pub rows: Named<u64>,
    /// Tables, inputs and results: who gives and who learns what, under every protocol alike.
    #[serde(flatten)]
    pub signature: Signature,
    /// The protocols that run it.
    pub protocols: Vec<ProtocolRecord>,
    /// Those that do not, with the reason.
    pub refused: Named<String>,
    /// The protocol of the least estimated time on the declared network, of those that need no
    /// other helpers than the named ones.
    pub fastest: Option<String>,
}

/// A protocol with the cost of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProtocolRecord {
    /// Name.
    pub protocol: String,
    /// Helpers that it needs.
    pub helpers: Vec<String>,
    /// Parties that compute, with their roles.
    pub computes: Named<String>,
    /// Payload bytes that each party sends.
    pub payload_bytes: Named<u64>,
    /// Rounds.
    pub rounds: u64,
    /// Estimated seconds on `lan`, on `wan`, and on the declared network.
    pub estimate_s: Named<f64>,
    /// Its distance from the best of all ways to give its steps sharings, where there is a choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<GapRecord>,
    /// Bytes of memory that a run takes at the party with most, at most.
    pub memory_bytes: u64,
    /// Corruption that it withstands, in words.
    pub withstands: String,
    /// Security level, in words.
    pub security: String,
    /// Hash of the job.
    pub job: String,
}

impl View for ComparisonRecord {
    fn card(&self) -> Card {
        let (program, network) = (&self.program, &self.network);
        let pool = if self.pool { " · from a pool" } else { "" };
        let mut card = Card::new(format!("protocols for {program} · {network}{pool}"));
        self.signature.add_to(&mut card);
        card.lines("for", rows(&self.rows));
        let networks = self.protocols.first().map(|first| &first.estimate_s);
        let networks = networks.into_iter().flat_map(|all| all.iter());
        let heads = networks.map(|(network, _)| match network.as_str() {
            "lan" => Column::number("a LAN", 8),
            "wan" => Column::number("a WAN", 8),
            _ => Column::number("here", 8),
        });
        let mut columns = vec![Column::text("protocol ")];
        columns.extend(
            [("payload bytes", 14), ("rounds", 8)].map(|(name, width)| Column::number(name, width)),
        );
        columns.extend(heads);
        columns.push(Column::text(" withstands"));
        let row = |of: &ProtocolRecord| {
            let sent = of.payload_bytes.iter().map(|(_, bytes)| bytes);
            let mut cells = vec![
                of.protocol.clone(),
                grouped(sent.sum::<u64>()),
                grouped(of.rounds),
            ];
            cells.extend(of.estimate_s.iter().map(|(_, s)| seconds(*s)));
            cells.push(format!(" {}", of.withstands));
            cells
        };
        card.table(None, columns, self.protocols.iter().map(row));
        let sent = |of: &ProtocolRecord| {
            let sent = of.payload_bytes.iter();
            let sent = sent.map(|(party, bytes)| format!("{party} {}", grouped(*bytes)));
            format!("{}: {}", of.protocol, sent.collect::<Vec<_>>().join(", "))
        };
        card.lines("bytes sent by", self.protocols.iter().map(sent));
        let gaps = self
            .protocols
            .iter()
            .filter_map(|of| Some((&of.protocol, of.gap.as_ref()?)));
        card.lines(
            "gap",
            gaps.map(|(protocol, gap)| format!("{protocol}: {}", gap.line())),
        );
        let with = self.protocols.iter().filter(|of| !of.helpers.is_empty());
        let with = with.map(|of| format!("{}: {}", of.protocol, of.helpers.join(", ")));
        card.lines("helpers", with);
        let refused = self.refused.iter();
        card.lines(
            "refused",
            refused.map(|(protocol, why)| format!("{protocol}: {why}")),
        );
        let fastest = self.fastest.iter();
        card.lines(
            "fastest",
            fastest.map(|name| format!("{name}: `--protocol {name}`")),
        );
        card
    }
}
