//! Every code is used and has a page, and the page says the same as the code.

use sealane_cli::codes::{heading, page};
use sealane_diagnostic::{Code, FailureKind};
use sealane_testkit::page as testkit;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Python's calls that make an error take its code first.
const PYTHON: [&str; 3] = ["refuse(", "misuse(", "refusal("];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The sources that make errors: crates without their tests, and the Python package.
fn sources() -> Vec<(PathBuf, String)> {
    let mut folders = vec![root().join("python/sealane"), root().join("bench/src")];
    for workspace in ["crates", "hardware"] {
        let crates = fs::read_dir(root().join(workspace)).unwrap();
        let sources = crates.map(|entry| entry.unwrap().path().join("src"));
        folders.extend(sources.filter(|folder| folder.is_dir()));
    }
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs" || e == "py") {
                let text = fs::read_to_string(&path).unwrap();
                let code = text.split("#[cfg(test)]").next().unwrap();
                found.push((path, code.to_string()));
            }
        }
    }
    found
}

/// Tells if a text has the form of a code.
fn is_code(text: &str) -> bool {
    let letters = text.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
    letters && text.len() > 3 && !text.starts_with('-') && !text.ends_with('-')
}

/// Codes with which Python makes errors. In Rust, codes are variants, which the compiler checks.
fn of_python() -> BTreeMap<String, PathBuf> {
    let mut codes = BTreeMap::new();
    for (path, text) in sources() {
        if path.extension().is_none_or(|e| e != "py") {
            continue;
        }
        for after in PYTHON.iter().flat_map(|before| text.split(before).skip(1)) {
            let literal = after.trim_start().strip_prefix('"');
            let literal = literal.and_then(|rest| rest.split('"').next());
            if let Some(code) = literal.filter(|code| is_code(code)) {
                codes.insert(code.to_string(), path.clone());
            }
        }
    }
    codes
}

#[test]
fn every_code_that_python_uses_exists() {
    let used = of_python();
    let unknown = used.iter().filter(|(code, _)| Code::named(code).is_none());
    assert_eq!(unknown.collect::<Vec<_>>(), []);
    assert!(used.len() > 15, "the search finds too few: {used:#?}");
}

#[test]
fn every_code_is_used() {
    let sources = sources();
    for code in Code::ALL {
        assert!(is_code(code.name()), "{code}");
        let forms = [format!("Code::{code:?}"), format!("\"{code}\"")];
        let used = sources.iter().any(|(path, text)| {
            let listed = path.ends_with("diagnostic/src/code.rs");
            !listed && forms.iter().any(|form| text.contains(form))
        });
        assert!(used, "nothing makes {code}");
    }
}

/// Paragraph for each kind behind the heading of a page.
fn acts(code: Code) -> String {
    if code.is_warning() {
        let effort = code.is_about_effort();
        let verb = if effort { "plan" } else { "check" };
        return format!(
            "It is a warning: `sealane {verb}` prints it, and the program runs all the same."
        );
    }
    if code == Code::OutOfMemory {
        return "Whoever set up this party acts. The process ends at once, with this text and status 2, \
                also where Python called Sealane: there is no memory left to go on with. Other \
                parties find that this one vanished."
            .to_string();
    }
    let (who, error, status) = match code.kind() {
        FailureKind::Program => ("The author of the program acts", "Program", 3),
        FailureKind::Misuse => (
            "Whoever wrote the call or the command line acts",
            "Misuse",
            2,
        ),
        FailureKind::Data => ("The owner of the data acts", "Data", 4),
        FailureKind::Config => ("Whoever set up this party acts", "Config", 2),
        FailureKind::Network => ("The network or a machine failed", "Network", 5),
        FailureKind::Peer => ("Another party has to act, or to be asked", "Peer", 5),
        FailureKind::Internal => ("We have to act: please report it", "Internal", 70),
    };
    let python = format!("In Python it is a `sl.{error}Error`");
    format!("{who}. {python}; the command ends with status {status}.")
}

#[test]
fn every_page_says_what_its_code_says() {
    for &code in Code::ALL {
        let page = page(code);
        let title = code.title().trim_start_matches("warning: ");
        let mut paragraphs = page.split("\n\n");
        assert_eq!(paragraphs.next().unwrap(), format!("# {code}: {title}"));
        let stated = paragraphs.next().unwrap().replace('\n', " ");
        assert_eq!(stated, acts(code), "{code}");
        assert!(page.contains("\n## What to do\n"), "{code}");
    }
}

#[test]
fn no_page_lacks_a_code_and_the_index_lists_all() {
    let mut index = String::from(
        "# Errors and warnings\n\nEvery error begins with a code in brackets, which stays what it \
         is while texts improve.\n`sealane explain CODE` prints its page, also without a network, \
         and `sealane explain` lists all.\n",
    );
    let mut kind = None;
    for code in Code::ALL {
        if kind != Some(code.kind()) {
            kind = Some(code.kind());
            let heading = heading(code.kind());
            index += &format!("\n## {heading}\n\n| code | meaning |\n|---|---|\n");
        }
        index += &format!("| [{code}]({code}.md) | {} |\n", code.title());
    }
    testkit::is("docs/errors/index.md", &index);
    for file in fs::read_dir(root().join("docs/errors")).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(name == "index" || Code::named(name).is_some(), "{name}.md");
    }
}
