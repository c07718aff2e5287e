//! The record of the options of a line: what `plan --why` prints.

use crate::card::Column;
use crate::plan::rows;
use crate::units::{grouped, seconds};
use crate::{Card, Named, View};
use serde::{Deserialize, Serialize};

/// The steps of a source line, with the sharings that they could take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WhyRecord {
    /// Name of the program.
    pub program: String,
    /// The protocol.
    pub protocol: String,
    /// The declared network.
    pub network: String,
    /// True if runs take their oblivious transfers from a pool.
    pub pool: bool,
    /// The line.
    pub line: u32,
    /// Row counts by name.
    pub rows: Named<u64>,
    /// The steps.
    pub steps: Vec<WhyStep>,
}

/// A step with its options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WhyStep {
    /// Its operations.
    pub step: String,
    /// True if the program asks for its sharing.
    pub pinned: bool,
    /// The options: one if there is no choice.
    pub options: Vec<OptionRecord>,
}

/// A sharing for a step, with the cost of the whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OptionRecord {
    /// The sharing, in words.
    pub sharing: String,
    /// True for the one that the run takes.
    pub chosen: bool,
    /// Payload bytes of all parties.
    pub payload_bytes: u64,
    /// Of them, bytes of conversions between sharings.
    pub conversion_bytes: u64,
    /// Rounds.
    pub rounds: u64,
    /// Estimated seconds on the declared network.
    pub estimate_s: f64,
    /// Seconds that the run would lose with it.
    pub loss_s: f64,
}

impl View for WhyRecord {
    fn card(&self) -> Card {
        let (program, protocol, network) = (&self.program, &self.protocol, &self.network);
        let (line, pool) = (self.line, if self.pool { " · from a pool" } else { "" });
        let title = format!("line {line} of {program} · {protocol} · {network}{pool}");
        let mut card = Card::new(title);
        card.lines("for", rows(&self.rows));
        let mut columns = ["step ", "computed on "].map(Column::text).to_vec();
        let numbers = [
            ("payload bytes", 14),
            ("conversions", 14),
            ("rounds", 8),
            ("time", 9),
            ("loss", 9),
        ];
        columns.extend(numbers.map(|(name, width)| Column::number(name, width)));
        let options = self.steps.iter().flat_map(WhyStep::cells);
        card.table(None, columns, options);
        card
    }
}

impl WhyStep {
    /// A line for each option; the first one names the step.
    fn cells(&self) -> impl Iterator<Item = Vec<String>> {
        let cells = |(at, of): (usize, &OptionRecord)| {
            let loss = match self.options.len() {
                1 if self.pinned => "asked for".to_string(),
                1 => "no choice".to_string(),
                _ if of.chosen => "taken".to_string(),
                _ => signed(of.loss_s),
            };
            vec![
                format!("{} ", if at == 0 { &self.step } else { "" }),
                format!("{} ", of.sharing),
                grouped(of.payload_bytes),
                grouped(of.conversion_bytes),
                grouped(of.rounds),
                seconds(of.estimate_s),
                loss,
            ]
        };
        self.options.iter().enumerate().map(cells)
    }
}

/// Seconds with a sign.
fn signed(s: f64) -> String {
    format!("{}{}", if s < 0.0 { '-' } else { '+' }, seconds(s.abs()))
}
