//! Third-party material for tests: from `testdata`, and from a folder beside some checkouts.
//!
//! `testdata` is always there. The rest (`../shared`, or the folder named by `SEALANE_SHARED`) is
//! large or under other licences; a test without it is printed and counted as skipped. With
//! `CI=true` it fails if the folder is there and lacks the file; in a clone without the folder it
//! is left out.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use flate2::read::GzDecoder;

/// The environment variable that names the folder with material beside the checkout.
pub const SHARED_VARIABLE: &str = "SEALANE_SHARED";
/// The environment variable that names the file to which skips of all test binaries are added;
/// `make test` counts its lines.
pub const SKIPPED_VARIABLE: &str = "SEALANE_SKIPPED";

static SKIPPED: AtomicUsize = AtomicUsize::new(0);

/// Reads a file of `testdata`, named from there and without the `.gz` of its packed form.
///
/// # Panics
/// If it is missing or damaged.
pub fn text(name: &str) -> String {
    let path = root().join("testdata").join(format!("{name}.gz"));
    let read = || {
        let mut text = String::new();
        GzDecoder::new(File::open(&path)?).read_to_string(&mut text)?;
        Ok::<_, io::Error>(text)
    };
    read().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Reads a file beside the checkout, named from the shared folder; returns `None` if it is missing,
/// and then counts the calling test as skipped.
///
/// # Panics
/// If the folder is there, lacks the file, and `CI` is set; or if it cannot be read.
pub fn shared(name: &str) -> Option<String> {
    let named = std::env::var_os(SHARED_VARIABLE).map(PathBuf::from);
    let is_named = named.is_some();
    let folder = named.unwrap_or_else(|| root().join("../shared"));
    let path = folder.join(name);
    match fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let why = format!("{} is not there", path.display());
            if is_named || folder.exists() {
                skip(&why)
            } else {
                leave_out(&why)
            }
            None
        }
        Err(error) => panic!("{}: {error}", path.display()),
    }
}

/// Prints on standard error, past the capture of the test harness, that the calling test leaves
/// something out, and why; counts it here and in the file of all binaries.
///
/// # Panics
/// If `CI` is set: there, nothing is left out.
pub fn skip(why: &str) {
    let ci = std::env::var_os("CI");
    let list = std::env::var_os(SKIPPED_VARIABLE);
    report_skip(why, ci.as_deref(), list.as_deref(), &mut io::stderr());
}

/// Says and counts the same of what belongs to no clone of the repository, also with `CI` set.
fn leave_out(why: &str) {
    let list = std::env::var_os(SKIPPED_VARIABLE);
    report_skip(why, None, list.as_deref(), &mut io::stderr());
}

fn report_skip(why: &str, ci: Option<&OsStr>, list: Option<&OsStr>, out: &mut impl Write) {
    let may_skip = ci.is_none();
    assert!(may_skip, "with CI set no test may be skipped, and {why}");
    let count = SKIPPED.fetch_add(1, Ordering::SeqCst) + 1;
    let this = thread::current();
    let test = this.name().unwrap_or("a test");
    // One write per line: tests run in parallel, and those of other binaries write to the list.
    let print = |to: &mut dyn Write, line: String| to.write_all(line.as_bytes());
    print(out, format!("\nSKIPPED {count}: {test}: {why}\n")).expect("standard error takes it");
    if let Some(list) = list {
        let file = OpenOptions::new().append(true).create(true).open(list);
        let added = file.and_then(|mut file| print(&mut file, format!("{test}: {why}\n")));
        added.expect("the list of skipped tests takes a line");
    }
}

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skip_is_printed_and_counted() {
        let list = std::env::temp_dir().join(format!("sealane-skips-{}", std::process::id()));
        let mut out = Vec::new();
        for why in ["no moon", "no tide"] {
            report_skip(why, None, Some(list.as_os_str()), &mut out);
        }
        let listed = fs::read_to_string(&list).unwrap();
        fs::remove_file(&list).unwrap();
        let out = String::from_utf8(out).unwrap();
        let test = "testdata::tests::a_skip_is_printed_and_counted";
        assert_eq!(listed, format!("{test}: no moon\n{test}: no tide\n"));
        assert!(out.contains("SKIPPED 1: ") && out.contains(&format!("2: {test}: no tide\n")));
    }

    #[test]
    #[should_panic(expected = "no test may be skipped, and there is no moon")]
    fn a_skip_fails_where_everything_has_to_run() {
        report_skip(
            "there is no moon",
            Some(OsStr::new("true")),
            None,
            &mut io::sink(),
        );
    }

    #[test]
    #[should_panic(expected = "aead/none.json.gz")]
    fn what_belongs_to_the_repository_has_to_be_there() {
        text("aead/none.json");
    }
}
