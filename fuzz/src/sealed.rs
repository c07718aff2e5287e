//! Sealed files: headers, key files, and folders as streams. An accepted input is written back
//! unchanged, and no path leaves its folder.

use sealane_fuzz_harness::{Accepted, Verdict};
use sealane_sealed::fuzzing;
use std::collections::BTreeSet;
use std::path::{Component, Path};

/// Words of all three.
pub const WORDS: &[&str] = &[
    "SLSEALED\u{1}",
    "sealane-key-1:",
    "\u{1}\u{1}\0a",
    "\u{2}\u{1}\0a",
    "/",
    "..",
    "\\",
    "\0\0\u{1}\0",
];

/// Reads bytes as each of the three.
pub fn sealed(bytes: &[u8]) -> Verdict {
    let mut verdict = None;
    if let Some(again) = fuzzing::header(bytes) {
        assert_eq!(again, bytes[..again.len()], "a header has one form");
        verdict = Some(Accepted);
    }
    if let Some(again) = fuzzing::key(bytes) {
        // A line has zero, one or two line ends.
        assert_eq!(again.trim_ascii_end(), bytes.trim_ascii_end());
        verdict = Some(Accepted);
    }
    if let Some((again, paths)) = fuzzing::folder(bytes) {
        assert_eq!(again, bytes, "a folder has one form");
        paths.iter().for_each(|path| inside(path));
        let distinct: BTreeSet<&String> = paths.iter().collect();
        assert_eq!(distinct.len(), paths.len(), "a path comes once");
        verdict = Some(Accepted);
    }
    verdict
}

/// Panics unless a path, in the operating system's reading, stays in its folder.
fn inside(path: &str) {
    let mut parts = Path::new(path).components();
    let plain = parts.all(|part| matches!(part, Component::Normal(_)));
    assert!(plain && !path.is_empty() && !path.contains(['\\', '\0']));
}
