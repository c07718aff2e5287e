//! Golden transcripts: digests of the traffic, kept in files that belong to a wire version.

use sealane_net::{WIRE_HISTORY, WIRE_VERSION};

/// Asserts that the file, named from the root of the repository, has these lines after the sentence
/// of the wire version. With `SEALANE_BLESS=1` it is rewritten, but only if it has another version:
/// bytes on the wire change together with a sentence that gives the reason.
pub fn is(file: &str, lines: &str) {
    let reason = WIRE_HISTORY.last().expect("a version");
    let text = format!("wire {WIRE_VERSION}: {reason}\n{lines}");
    let path = format!("{}/../../{file}", env!("CARGO_MANIFEST_DIR"));
    let old = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        old == text || may_replace(&old, WIRE_VERSION),
        "what crosses has changed under one wire version: add a sentence that says why to \
         `WIRE_HISTORY` in crates/net/src/hello.rs, then run with SEALANE_BLESS=1\n{text}"
    );
    crate::page::is(file, &text);
}

/// Returns whether transcripts of a version may replace those of another text.
fn may_replace(old: &str, version: u16) -> bool {
    !old.starts_with(&format!("wire {version}:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transcripts_are_replaced_under_another_wire_version_alone() {
        let old = "wire 3: a reason\nyao 0>1 00\n";
        assert!(!may_replace(old, 3));
        assert!(may_replace(old, 4) && may_replace(old, 30) && may_replace("", 3));
    }
}
