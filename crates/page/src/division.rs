//! Parts of the payload of a plan, and the batches of its products.

use crate::units::grouped;
use crate::{Card, Named};
use serde::{Deserialize, Serialize};

/// Payload of a run by parts, and the batches in which its products are made, one for each AND.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DivisionRecord {
    /// Corruption that is withstood, in words.
    pub withstands: String,
    /// Parts, in the order of a run.
    pub parts: Vec<PartRecord>,
    /// Batches, each with how often there is one like it.
    pub batches: Vec<BatchRecord>,
    /// Products that are made and not taken.
    pub left_over: u64,
    /// Security level, in words.
    pub security: String,
    /// Assumptions of the run.
    pub assumption: String,
}

/// A part of the payload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartRecord {
    /// Its name.
    pub part: String,
    /// Payload bytes that each party sends.
    pub payload_bytes: Named<u64>,
}

/// Batches of one size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchRecord {
    /// Their number.
    pub batches: u64,
    /// Products of each.
    pub products: u64,
    /// Products that are made for each of these.
    pub bucket: u32,
}

impl DivisionRecord {
    /// Adds parts, batches, what is withstood and its ground to a card.
    pub(crate) fn add_to(&self, card: &mut Card) {
        let part = |part: &PartRecord| {
            let sent = part.payload_bytes.iter();
            let sent = sent.map(|(party, bytes)| format!("{party} {}", grouped(*bytes)));
            format!("{}: {}", part.part, sent.collect::<Vec<_>>().join(", "))
        };
        card.lines("bytes of", self.parts.iter().map(part));
        let batch = |batch: &BatchRecord| {
            let (number, bucket) = (grouped(batch.batches), batch.bucket);
            let noun = if batch.batches == 1 {
                "batch"
            } else {
                "batches"
            };
            let products = grouped(batch.products);
            format!("{number} {noun} of {products} in buckets of {bucket}")
        };
        let left = format!("{} of them left over", grouped(self.left_over));
        let every = "one for each AND, also where a party knows an operand; sums and products of \
                     integers are circuits of them";
        let batches = self.batches.iter().map(batch);
        let lines = batches.chain((!self.batches.is_empty()).then_some(left));
        card.lines("products", lines.chain([every.to_string()]));
        card.line("withstands", &self.withstands);
        card.line("security", &self.security);
        card.line("assumption", &self.assumption);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_batches_are_lines_of_a_card() {
        let sent = [("ann", 1234), ("ben", 56)].map(|(name, bytes)| (name.to_string(), bytes));
        let batch = |batches, products, bucket| BatchRecord {
            batches,
            products,
            bucket,
        };
        let division = DivisionRecord {
            withstands: "all others".to_string(),
            parts: vec![PartRecord {
                part: "tables".to_string(),
                payload_bytes: sent.into_iter().collect(),
            }],
            batches: vec![batch(2, 524_288, 3), batch(1, 5161, 4)],
            left_over: 77,
            security: "114 bits".to_string(),
            assumption: "an ideal cipher".to_string(),
        };
        let mut card = Card::new("");
        division.add_to(&mut card);
        let text = card.to_string();
        for line in [
            "tables: ann 1,234, ben 56",
            "2 batches of 524,288 in buckets of 3",
            "1 batch of 5,161 in buckets of 4",
            "77 of them left over",
            "withstands     all others",
        ] {
            assert!(text.contains(line), "{text}");
        }
    }
}
