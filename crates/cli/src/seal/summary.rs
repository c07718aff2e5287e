//! What was sealed or opened, for people and for programs.

use super::folder::Amount;
use super::header::{Content, Header, Lock, Mode};
use sealane_page::Card;
use sealane_page::units::{bytes, grouped};
use serde_json::{Value, json};
use std::path::Path;

/// What a verb prints: a card, and JSON.
pub type Printed = (Card, Value);

/// What was done, with the names of input and output.
pub fn printed(
    (done, input, output): (&str, &Path, &Path),
    header: &Header,
    amount: &Amount,
    segments: u64,
) -> Printed {
    let mode = match header.mode {
        Mode::Gcm => ("gcm", "AES-128-GCM"),
        Mode::Ocb3 => ("ocb3", "AES-128-OCB3"),
    };
    let key = match header.lock {
        Lock::KeyFile => ("key-file", "a key file"),
        Lock::Passphrase(_) => ("passphrase", "a passphrase"),
    };
    let folder = header.content == Content::Folder;
    let mut card = Card::new(format!("{done} {}", input.display()));
    card.line("as", output.display());
    if folder {
        let (files, folders) = (count(amount.files, "file"), count(amount.folders, "folder"));
        card.line("holds", format!("{files}, {folders}"));
    }
    card.line("content", bytes(amount.bytes));
    card.line("segments", grouped(segments));
    card.line("by", format!("{} with {}", mode.1, key.1));
    let value = json!({
        "input": input.to_string_lossy(),
        "output": output.to_string_lossy(),
        "folder": folder,
        "files": amount.files,
        "folders": amount.folders,
        "bytes": amount.bytes,
        "segments": segments,
        "mode": mode.0,
        "key": key.0,
    });
    (card, value)
}

/// A number of things, as people say it.
fn count(number: u64, of: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {of}{plural}", grouped(number))
}
