//! Crate `fuzz-harness`: the smoke run of fuzz targets, whichever they are.
//!
//! A [`Target`] is a function over bytes that reads them as one format and compares the result with
//! something else: a slow and simple interpreter, the printer of the same format, or an honest run.
//! It panics if they disagree, if the code under test panics, or if an error points outside the
//! input; nothing else is a finding. A [`Fuzzer`] is a program with such targets: [`Fuzzer::main`]
//! mutates their small corpora by a fixed seed.

#![forbid(unsafe_code)]

mod chance;
mod child;
mod command;
mod corpus;
mod mutate;

pub use chance::Chance;

use std::path::{Path, PathBuf};

/// The mark of an input that was read, on which all comparisons agreed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted;

/// Outcome of an input: none if it was refused with an error.
pub type Verdict = Option<Accepted>;

/// A parser of untrusted bytes.
pub struct Target {
    /// Name of the target and of its corpus folder.
    pub name: &'static str,
    /// Reads an input.
    ///
    /// # Panics
    /// A panic is a finding.
    pub run: fn(&[u8]) -> Verdict,
    /// Words of the form, for mutations.
    pub words: &'static [&'static str],
    /// Mutations in a smoke run: more for fast targets.
    pub smoke: u32,
}

/// A target.
pub const fn target(
    name: &'static str,
    run: fn(&[u8]) -> Verdict,
    words: &'static [&'static str],
    smoke: u32,
) -> Target {
    Target {
        name,
        run,
        words,
        smoke,
    }
}

/// A seed that the code itself makes: target, name of the file, content.
pub type Seed = (&'static str, String, Vec<u8>);

/// A program that fuzzes.
pub struct Fuzzer {
    /// Folder of the program, which holds the folder `corpus`.
    pub folder: &'static str,
    /// All targets.
    pub targets: &'static [Target],
    /// Makes the seeds of forms that are hard to write by hand.
    pub seeds: fn() -> Vec<Seed>,
}

impl Fuzzer {
    /// The folder of the corpus of a target.
    pub fn corpus(&self, target: &str) -> PathBuf {
        Path::new(self.folder).join("corpus").join(target)
    }

    /// Regression test: every file of every corpus passes its target, every target accepts some,
    /// and every corpus has a target.
    ///
    /// # Panics
    /// If one does not.
    pub fn test_corpora(&self) {
        for target in self.targets {
            let files = corpus::load(&self.corpus(target.name)).expect("a corpus for each target");
            let verdicts = files.iter().map(|(_, bytes)| (target.run)(bytes));
            assert_ne!(verdicts.flatten().count(), 0, "{}", target.name);
        }
        for entry in std::fs::read_dir(self.corpus("")).expect("the corpora") {
            let name = entry.expect("a folder").file_name();
            let known = self.targets.iter().any(|target| *target.name == *name);
            assert!(known, "{}", name.display());
        }
    }
}

/// Panics unless a place, both numbers from 1, is in `text` or right after a line of it.
///
/// # Panics
/// If it is not.
pub fn place(text: &str, line: usize, column: usize) {
    let lines = text.split('\n').count();
    assert!(1 <= line && line <= lines + 1, "line {line} of {lines}");
    let length = text.split('\n').nth(line - 1).unwrap_or("").chars().count();
    let fits = 1 <= column && column <= length + 1;
    assert!(fits, "column {column} of {length}");
}
