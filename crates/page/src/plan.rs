//! The record of a plan: what `plan --json` prints, `plan.json` holds and the page of a run reads.

use crate::card::Column;
use crate::division::DivisionRecord;
use crate::units::{bytes, counted, grouped, seconds};
use crate::{Card, Named, Participants, Signature, View};
use serde::{Deserialize, Serialize};

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
    /// The declared network: `lan`, `wan`, or such as `20ms/100Mbps`.
    pub network: String,
    /// The parties, and who computes.
    #[serde(flatten)]
    pub participants: Participants,
    /// Row counts by name.
    pub rows: Named<u64>,
    /// Payload bytes that each party sends.
    #[serde(default)]
    pub payload_bytes: Named<u64>,
    /// Rounds.
    pub rounds: u64,
    /// AND gates, once for each row.
    pub ands: u64,
    /// Bytes of memory that a run takes at each party, at most.
    #[serde(default)]
    pub memory_bytes: Named<u64>,
    /// Estimated seconds on `lan`, on `wan`, and on the declared network.
    pub estimate_s: Named<f64>,
    /// Computing of all parties: amounts by kernel.
    #[serde(default)]
    pub work: Named<u64>,
    /// Tables, inputs and results.
    #[serde(flatten)]
    pub signature: Signature,
    /// Payload bytes from party to party.
    pub links: Vec<LinkRecord>,
    /// Components of the protocol with their papers.
    pub references: Vec<ReferenceRecord>,
    /// Steps, in order.
    pub steps: Vec<StepRecord>,
    /// Forms in which the program can run, with their costs; empty if there is no choice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forms: Vec<FormRecord>,
    /// The distance of the form that a run takes from the best of all ways to give its steps
    /// sharings, where a caller has it computed and there is a choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<GapRecord>,
    /// Fields GF(2^k) in which parties multiply elements as a whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub products: Vec<ProductRecord>,
    /// Proofs, of a protocol of which one malicious party may take part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proofs: Option<ProofsRecord>,
    /// Division of the payload, of a protocol that makes products in batches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub division: Option<DivisionRecord>,
    /// Notes about the numbers of a run, and about rounds or time that are out of proportion.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Ground on which all of it rests; cards alone show it.
    #[serde(skip)]
    pub basis: BasisRecord,
    /// Transfers from a pool, by directions; cards alone show them.
    #[serde(skip)]
    pub pool: Vec<PoolRecord>,
}

/// Assumptions of a run as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BasisRecord {
    /// Version of the protocol.
    pub version: u32,
    /// Assumptions.
    pub assumption: String,
    /// Security level, in words.
    pub security: String,
}

/// Proofs of a run: what parties prove to each other before anything is opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProofsRecord {
    /// Products that are proved, once for each row.
    pub products: u64,
    /// Settlements that prove them.
    pub settlements: u64,
    /// Payload bytes of these that each party sends.
    pub payload_bytes: Named<u64>,
    /// Flights of a settlement.
    pub flights: u64,
    /// Assumptions of the run.
    pub assumption: String,
}

/// Transfers that a run takes from a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolRecord {
    /// Their number.
    pub transfers: u64,
    /// The party that receives them.
    pub receiver: String,
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

/// A form of all lookups of a plan, or a choice of domains for its bits, with the cost of the whole
/// run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FormRecord {
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

/// The distance of a plan from the best of all assignments of sharings to its steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GapRecord {
    /// By how much the plan takes longer, at most, as a part of the time of the best one.
    pub above: f64,
    /// Estimated seconds than which no assignment is faster.
    pub least_s: f64,
    /// Number of assignments, if all have been tried: then the best of them takes those seconds.
    pub tried: Option<u64>,
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
pub struct ReferenceRecord {
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
    pub payload_bytes: Named<u64>,
}

impl View for PlanRecord {
    fn card(&self) -> Card {
        let (program, protocol, network) = (&self.program, &self.protocol, &self.network);
        let mut card = Card::new(format!("plan of {program} · {protocol} · {network}"));
        self.signature.add_to(&mut card);
        card.line("computes", self.participants.players().join(", "));
        card.lines("others", self.participants.bystanders(&self.signature));
        card.line("steps", self.steps.len());
        self.add_rows(&mut card);
        let (ands, links, rounds) = (self.ands, &self.links[..], self.rounds);
        let cost = Cost {
            ands,
            links,
            rounds,
        };
        cost.add_to(&mut card, self.parties(), None);
        let on = |network: &str| match network {
            "lan" => "a LAN".to_string(),
            "wan" => "a WAN".to_string(),
            declared => declared.to_string(),
        };
        let times = self.estimate_s.iter();
        let times = times.map(|(network, s)| format!("{} on {}", seconds(*s), on(network)));
        let times = times.collect::<Vec<_>>().join(", ");
        card.line("time", format!("about {times}"));
        let memory = self.memory_bytes.iter();
        let memory = memory.map(|(party, most)| format!("{} at {party}", bytes(*most)));
        let memory = memory.collect::<Vec<_>>().join(", ");
        card.line("memory", format!("at most {memory}"));
        card.lines("forms", self.forms.iter().map(FormRecord::line));
        card.lines("gap", self.gap.iter().map(GapRecord::line));
        card.lines("products", self.products.iter().map(ProductRecord::line));
        card.lines("pool", self.pool.iter().map(PoolRecord::line));
        if let Some(proofs) = &self.proofs {
            proofs.add_to(&mut card, &self.participants);
        }
        if let Some(division) = &self.division {
            division.add_to(&mut card);
        }
        card.line("job", &self.job);
        card
    }
}

impl PlanRecord {
    /// Names of all parties, helpers last.
    pub fn parties(&self) -> &[String] {
        &self.participants.parties
    }

    /// Every step of the plan, one a line.
    pub fn steps_card(&self) -> Card {
        let mut card = Card::new("");
        let counts = [
            ("times", 10),
            ("lanes", 14),
            ("AND gates", 16),
            ("payload bytes", 16),
        ];
        let mut columns = vec![Column::number("line", 5), Column::text(" step")];
        columns.extend(counts.map(|(name, width)| Column::number(name, width)));
        let row = |step: &StepRecord| {
            let sent = step.payload_bytes.iter().map(|(_, bytes)| bytes);
            vec![
                step.line.map_or(String::new(), |line| line.to_string()),
                format!(" {}", step.step),
                grouped(step.times),
                grouped(step.lanes),
                grouped(step.ands),
                grouped(sent.sum::<u64>()),
            ]
        };
        card.table(None, columns, self.steps.iter().map(row));
        card
    }

    /// Components on which a run of this cost rests, one per line: paper, assumption, security
    /// level.
    pub fn references_card(&self) -> Card {
        let basis = &self.basis;
        let (version, security) = (basis.version, &basis.security);
        let mut card = Card::new(format!("{} {version} · {security}", self.protocol));
        self.add_rows(&mut card);
        card.line("assumes", &basis.assumption);
        let columns = ["part", "paper", "assumes", "security"].map(Column::text);
        let row = |paper: &ReferenceRecord| paper.cells().map(|cell| format!("{cell} ")).to_vec();
        card.table(None, columns, self.references.iter().map(row));
        card
    }

    /// Adds the row counts of the cost.
    fn add_rows(&self, card: &mut Card) {
        card.lines("for", rows(&self.rows));
    }
}

impl ReferenceRecord {
    /// The cells of a table: part, paper, assumption, security level.
    pub(crate) fn cells(&self) -> [&String; 4] {
        [&self.part, &self.paper, &self.assumption, &self.security]
    }
}

impl FormRecord {
    fn line(&self) -> String {
        let chosen = if self.chosen { ", chosen" } else { "" };
        let (bytes, rounds) = (grouped(self.payload_bytes), grouped(self.rounds));
        let (form, time) = (&self.form, seconds(self.estimate_s));
        format!("{form}: {bytes} bytes, {rounds} rounds, about {time}{chosen}")
    }
}

impl GapRecord {
    /// The distance in a few words.
    pub(crate) fn line(&self) -> String {
        // Rounded up, so that the words hold as well.
        let tenths = (self.above * 1000.0 - 1e-6).max(0.0).ceil();
        let percent = format!("{} % above", tenths / 10.0);
        match self.tried {
            Some(all) if tenths == 0.0 => format!("the best of all {} assignments", grouped(all)),
            Some(all) => format!("{percent} the best of all {} assignments", grouped(all)),
            None => format!("at most {percent} the best of all assignments"),
        }
    }
}

impl ProductRecord {
    fn line(&self) -> String {
        let (bits, ands, sent) = (self.bits, self.ands, counted(self.bits, "bit"));
        format!(
            "in GF(2^{bits}) as a whole: {sent} of each party in one round; as gates, {ands} ANDs"
        )
    }
}

impl ProofsRecord {
    /// Adds what the protocol withstands, its proofs and its assumptions to a card.
    fn add_to(&self, card: &mut Card, participants: &Participants) {
        let (names, all) = (&participants.computing, participants.parties.len());
        let one = match names.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, first)) => format!("one of {} and {last}", first.join(", ")),
            None => "one party".to_string(),
        };
        let others = match all - names.len() {
            0 => "",
            _ => ", alone or with any of the others, who do not compute",
        };
        card.line("withstands", format!("{one}, whatever it does{others}"));
        card.line("not", "two of them together; a run that one of them stops");
        card.line("proofs", self.line());
        card.line("assumption", &self.assumption);
    }

    fn line(&self) -> String {
        let most = self.payload_bytes.iter().map(|(_, bytes)| *bytes).max();
        match self.settlements {
            0 => "none: there is no product to prove".to_string(),
            number => format!(
                "{} of {}, {} of each party; the last takes {} flights",
                counted(number, "settlement"),
                counted(self.products, "product"),
                bytes(most.unwrap_or(0)),
                self.flights,
            ),
        }
    }
}

impl PoolRecord {
    fn line(&self) -> String {
        let transfers = grouped(self.transfers);
        format!("{transfers} transfers that {} receives", self.receiver)
    }
}

/// Row counts, one a line.
pub(crate) fn rows(rows: &Named<u64>) -> impl Iterator<Item = String> + '_ {
    let rows = rows.iter();
    rows.map(|(name, count)| format!("{name} = {}", grouped(*count)))
}

/// Promise of a plan.
pub(crate) struct Cost<'a> {
    pub ands: u64,
    pub links: &'a [LinkRecord],
    pub rounds: u64,
}

/// Measured values of a run: payload bytes of each link of its plan, and rounds.
pub(crate) struct Measured<'a> {
    pub links: &'a [u64],
    pub rounds: u64,
}

impl Cost<'_> {
    /// Adds AND gates, payload bytes and rounds to a card; beside the measured ones once there are
    /// any.
    pub fn add_to(&self, card: &mut Card, parties: &[String], measured: Option<&Measured<'_>>) {
        card.line("AND gates", grouped(self.ands));
        let widths = parties.iter().map(|party| party.chars().count());
        let width = widths.max().unwrap_or(0);
        let beside = |planned: u64, measured: Option<u64>| match measured {
            None => String::new(),
            Some(measured) if measured == planned => "  as planned".to_string(),
            Some(measured) => format!("  planned, but {} measured", grouped(measured)),
        };
        let rows = self.links.iter().enumerate().map(|(index, link)| {
            let measured = measured.map(|measured| measured.links[index]);
            let note = beside(link.bytes, measured).replacen(' ', "", 1);
            let (from, to) = (link.from.clone(), link.to.clone());
            vec![from, "→".into(), to, grouped(link.bytes), note]
        });
        let [mut party, arrow, note] = [Column::text(""); 3];
        party.width = width;
        let columns = [party, arrow, party, Column::number("", 16), note];
        card.table(Some("payload bytes"), columns, rows);
        let note = beside(self.rounds, measured.map(|measured| measured.rounds));
        card.line("rounds", format!("{}{note}", grouped(self.rounds)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words are rounded up: what they say holds.
    #[test]
    fn a_gap_is_said_in_words() {
        let line = |above: f64, tried| {
            let least_s = 1.0;
            let gap = GapRecord {
                above,
                least_s,
                tried,
            };
            gap.line()
        };
        assert_eq!(line(0.0, Some(16)), "the best of all 16 assignments");
        let near = line(0.0101, Some(4096));
        assert_eq!(near, "1.1 % above the best of all 4,096 assignments");
        assert_eq!(
            line(0.02, None),
            "at most 2 % above the best of all assignments"
        );
    }
}
