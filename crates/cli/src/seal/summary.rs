//! Report of a file that was sealed or opened, as a card and as JSON.

use sealane_page::Card;
use sealane_page::units::{bytes, counted, grouped};
use sealane_sealed::{Mode, SealReport};
use serde_json::{Value, json};
use std::path::Path;

/// Returns card and JSON of a finished verb for `input`; `verb` is `sealed` or `opened`.
pub fn printed(verb: &str, input: &Path, done: &SealReport) -> (Card, Value) {
    let mode = match done.mode {
        Mode::Gcm => ("gcm", "AES-128-GCM"),
        Mode::Ocb3 => ("ocb3", "AES-128-OCB3"),
    };
    let key = match done.by_passphrase {
        false => ("key-file", "a key file"),
        true => ("passphrase", "a passphrase"),
    };
    let amount = &done.amount;
    let mut card = Card::new(format!("{verb} {}", input.display()));
    card.line("as", done.output.display());
    if done.folder {
        let (files, folders) = (
            counted(amount.files, "file"),
            counted(amount.folders, "folder"),
        );
        card.line("holds", format!("{files}, {folders}"));
    }
    card.line("content", bytes(amount.bytes));
    card.line("segments", grouped(done.segments));
    card.line("by", format!("{} with {}", mode.1, key.1));
    let value = json!({
        "input": input.to_string_lossy(),
        "output": done.output.to_string_lossy(),
        "folder": done.folder,
        "files": amount.files,
        "folders": amount.folders,
        "bytes": amount.bytes,
        "segments": done.segments,
        "mode": mode.0,
        "key": key.0,
    });
    (card, value)
}
