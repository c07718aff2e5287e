//! Views: what a command shows, as one record from which its card and its JSON derive.

use crate::Card;
use serde::Serialize;
use serde_json::{Value, json};

/// A record that is shown as a card, or with `--json` as JSON. What only the card shows is in
/// fields that JSON skips.
pub trait View: Serialize {
    /// The card: for a terminal, a log, a notebook.
    fn card(&self) -> Card;

    /// The JSON, with sorted keys.
    fn json(&self) -> Value {
        json!(self)
    }
}
