//! Record of a file that was sealed or opened.

use sealane_page::units::{bytes, counted, grouped};
use sealane_page::{Card, View};
use sealane_sealed::{Mode, SealReport};
use serde::Serialize;
use std::path::Path;

/// A finished verb.
#[derive(Serialize)]
pub struct Summary {
    input: String,
    output: String,
    folder: bool,
    files: u64,
    folders: u64,
    bytes: u64,
    segments: u64,
    mode: &'static str,
    key: &'static str,
    /// `sealed` or `opened`; the card alone shows it.
    #[serde(skip)]
    verb: &'static str,
}

impl Summary {
    /// Makes the record of a verb for `input`, `sealed` or `opened`.
    pub fn new(verb: &'static str, input: &Path, done: SealReport) -> Summary {
        Summary {
            input: input.to_string_lossy().into_owned(),
            output: done.output.to_string_lossy().into_owned(),
            folder: done.folder,
            files: done.amount.files,
            folders: done.amount.folders,
            bytes: done.amount.bytes,
            segments: done.segments,
            mode: match done.mode {
                Mode::Gcm => "gcm",
                Mode::Ocb3 => "ocb3",
            },
            key: if done.by_passphrase {
                "passphrase"
            } else {
                "key-file"
            },
            verb,
        }
    }
}

impl View for Summary {
    fn card(&self) -> Card {
        let mut card = Card::new(format!("{} {}", self.verb, self.input));
        card.line("as", &self.output);
        if self.folder {
            let (files, folders) = (counted(self.files, "file"), counted(self.folders, "folder"));
            card.line("holds", format!("{files}, {folders}"));
        }
        card.line("content", bytes(self.bytes));
        card.line("segments", grouped(self.segments));
        let (mode, key) = (self.mode.to_uppercase(), self.key.replace('-', " "));
        card.line("by", format!("AES-128-{mode} with a {key}"));
        card
    }
}
