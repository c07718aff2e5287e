//! The record of a check: what `check --json` prints.

use crate::units::{counted, grouped};
use crate::{Card, Named, Signature, View};
use serde::Serialize;

/// A sound program: inputs and their owners, results and their receivers, warnings.
#[derive(Clone, Debug, Serialize)]
pub struct CheckRecord {
    /// Name of the program.
    pub name: String,
    /// Hash of the program, in hex.
    pub program: String,
    /// Its parties.
    pub parties: Vec<String>,
    /// Its tables, inputs and results.
    #[serde(flatten)]
    pub signature: Signature,
    /// The ranges of inputs, as they are declared, and of results, as they follow from those.
    pub ranges: Named<String>,
    /// Protocols that run it.
    pub protocols: Vec<RunnableRecord>,
    /// Warnings about the numbers of a run, a line each.
    pub notes: Vec<String>,
    /// All warnings.
    pub warnings: Vec<WarningRecord>,
    /// Number of operations; the card alone shows it.
    #[serde(skip)]
    pub operations: u64,
}

/// A protocol that runs a program.
#[derive(Clone, Debug, Serialize)]
pub struct RunnableRecord {
    /// The protocol.
    pub name: String,
    /// The fewest helpers that it needs.
    pub helpers: usize,
}

/// A warning for the author of a program.
#[derive(Clone, Debug, Serialize)]
pub struct WarningRecord {
    /// Its code.
    pub code: &'static str,
    /// The sentence.
    pub message: String,
    /// The line of the source, where there is one.
    pub line: Option<u32>,
    /// Advice.
    pub hint: String,
    /// The whole warning with its line of the source, for people.
    #[serde(skip)]
    pub text: String,
}

impl View for CheckRecord {
    fn card(&self) -> Card {
        let mut card = Card::new(format!("{} is sound", self.name));
        self.signature.add_to(&mut card);
        let ranges = self.ranges.iter();
        let ranges = ranges.map(|(name, range)| format!("{name}: {range}"));
        card.lines("ranges", ranges);
        let protocol = |RunnableRecord { name, helpers }: &RunnableRecord| match helpers {
            0 => name.clone(),
            _ => format!("{name} with {}", counted(*helpers as u64, "helper")),
        };
        let protocols = self.protocols.iter().map(protocol);
        card.line("runs under", protocols.collect::<Vec<_>>().join(", "));
        card.line("operations", grouped(self.operations));
        card.line("program", &self.program);
        let warnings = self.warnings.iter().flat_map(|warning| {
            let lines = warning.text.lines().map(String::from);
            [String::new()].into_iter().chain(lines)
        });
        card.lines("", warnings);
        card
    }
}
