//! Pages of the documentation as snapshots: they quote texts that only a test can produce.
//!
//! With `SEALANE_BLESS=1` the quotes are rewritten, to be reviewed as a diff.

use std::fs;
use std::path::PathBuf;

/// Asserts that a page, named from the root of the repository, is this text.
pub fn is(page: &str, text: &str) {
    let path = path(page);
    if fs::read_to_string(&path).is_ok_and(|old| old == text) {
        return;
    }
    assert!(blessed(), "{page} is out of date: run with SEALANE_BLESS=1");
    fs::write(path, text).unwrap();
}

/// Asserts that the page of an error contains this text, in the block after `<!-- shown -->`.
pub fn shows(code: &str, text: &str) {
    let page = path(&format!("docs/errors/{code}.md"));
    let old = fs::read_to_string(&page).unwrap_or_else(|error| panic!("{code}: {error}"));
    let begin = "<!-- shown -->\n```text\n";
    let (before, rest) = old
        .split_once(begin)
        .unwrap_or_else(|| panic!("the page of {code} shows nothing"));
    let (shown, after) = rest.split_once("```\n").expect("the block ends");
    if shown == format!("{text}\n") {
        return;
    }
    let same = blessed();
    assert!(same, "the page of {code} shows:\n{shown}\nand not:\n{text}");
    fs::write(page, format!("{before}{begin}{text}\n```\n{after}")).unwrap();
}

fn path(page: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(page)
}

fn blessed() -> bool {
    std::env::var_os("SEALANE_BLESS").is_some()
}
