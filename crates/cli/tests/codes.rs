//! The registry of codes is whole: what is used is listed, what is listed is used, and each code has
//! a page that says the same of it as the registry does.

use sealane_cli::codes::{ALL, find, who};
use sealane_program::diagnostic::{Kind, code};
use sealane_testkit::page;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// What stands before a code where an error is made.
const BEFORE: [&str; 11] = [
    "Diagnostic::new(",
    "Failure::usage(",
    "Failure::config(",
    "code: ",
    ".refuse(",
    "self::damaged(",
    "EngineError::damaged(",
    "machine(",
    "refuse(",
    "misuse(",
    ": &str = ",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The sources that make errors: crates without their tests, and the Python package.
fn sources() -> Vec<(PathBuf, String)> {
    let mut folders = vec![root().join("python/sealane"), root().join("bench/src")];
    let crates = fs::read_dir(root().join("crates")).unwrap();
    folders.extend(crates.map(|entry| entry.unwrap().path().join("src")));
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

/// Whether a text has the form of a code.
fn is_code(text: &str) -> bool {
    let letters = text.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
    letters && text.len() > 3 && !text.starts_with('-') && !text.ends_with('-')
}

/// The codes with which errors are made, and where.
fn used() -> BTreeMap<String, PathBuf> {
    let mut codes = BTreeMap::new();
    for (path, text) in sources() {
        let constants = path.ends_with("program/src/diagnostic.rs");
        for before in BEFORE {
            if before == ": &str = " && !constants {
                continue;
            }
            for after in text.split(before).skip(1) {
                let literal = after.trim_start().strip_prefix('"');
                let literal = literal.and_then(|rest| rest.split('"').next());
                if let Some(code) = literal.filter(|code| is_code(code)) {
                    codes.insert(code.to_string(), path.clone());
                }
            }
        }
        // Those of the network stand behind their variants.
        if path.ends_with("net/src/error/text.rs") {
            let arms = text.split("=> \"").skip(1);
            let arms = arms.filter_map(|arm| arm.split('"').next());
            let arms = arms.filter(|arm| is_code(arm));
            codes.extend(arms.map(|code| (code.to_string(), path.clone())));
        }
    }
    codes
}

#[test]
fn every_code_that_is_used_is_listed() {
    let unlisted = used()
        .into_iter()
        .filter(|(code, _)| find(code).is_none())
        .collect::<Vec<_>>();
    assert!(unlisted.is_empty(), "{unlisted:#?}");
    assert!(used().len() > 100, "the search finds too few");
}

#[test]
fn every_code_that_is_listed_is_used_and_no_two_are_alike() {
    let sources = sources();
    let mut seen = BTreeSet::new();
    for entry in ALL {
        let code = entry.code;
        assert!(is_code(code.name), "{}", code.name);
        assert!(seen.insert(code.name), "{} is listed twice", code.name);
        let literal = format!("\"{}\"", code.name);
        let used = sources
            .iter()
            .any(|(path, text)| !path.ends_with("cli/src/codes.rs") && text.contains(&literal));
        assert!(used, "nothing makes {}", code.name);
        let warns = code.title.starts_with("warning: ");
        assert_eq!(code::WARNINGS.contains(&code.name), warns, "{}", code.name);
    }
}

/// The paragraph behind the heading of a page.
fn acts(kind: Kind, warns: bool, name: &str) -> &'static str {
    if code::EFFORT.contains(&name) {
        return "It is a warning: `sealane plan` prints it, and the program runs all the same.";
    }
    if warns {
        return "It is a warning: `sealane check` prints it, and the program runs all the same.";
    }
    match kind {
        Kind::Program => {
            "The author of the program acts. In Python it is a `sl.ProgramError`; the command ends \
             with status 3."
        }
        Kind::Misuse => {
            "Whoever wrote the call or the command line acts. In Python it is a `sl.MisuseError`; \
             the command ends with status 2."
        }
        Kind::Data => {
            "The owner of the data acts. In Python it is a `sl.DataError`; the command ends with \
             status 4."
        }
        Kind::Config => {
            "Whoever set up this party acts. In Python it is a `sl.ConfigError`; the command ends \
             with status 2."
        }
        Kind::Network => {
            "The network or a machine failed. In Python it is a `sl.NetworkError`; the command ends \
             with status 5."
        }
        Kind::Peer => {
            "Another party has to act, or to be asked. In Python it is a `sl.PeerError`; the \
             command ends with status 5."
        }
        Kind::Internal => {
            "We have to act: please report it. In Python it is a `sl.InternalError`; the command \
             ends with status 70."
        }
    }
}

#[test]
fn every_page_says_what_the_registry_says() {
    for entry in ALL {
        let (name, title) = (entry.code.name, entry.code.title);
        let warns = title.starts_with("warning: ");
        let heading = format!("# {name}: {}", title.trim_start_matches("warning: "));
        let mut paragraphs = entry.page.split("\n\n");
        assert_eq!(paragraphs.next(), Some(heading.as_str()));
        let stated = paragraphs.next().unwrap().replace('\n', " ");
        assert_eq!(stated, acts(entry.code.kind, warns, name), "{name}");
        assert!(entry.page.contains("\n## What to do\n"), "{name}");
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
    for entry in ALL {
        if kind != Some(entry.code.kind) {
            kind = Some(entry.code.kind);
            index += &format!(
                "\n## {}\n\n| code | what it means |\n|---|---|\n",
                who(entry.code.kind)
            );
        }
        let (name, title) = (entry.code.name, entry.code.title);
        index += &format!("| [{name}]({name}.md) | {title} |\n");
    }
    page::is("docs/errors/index.md", &index);
    for file in fs::read_dir(root().join("docs/errors")).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(name == "index" || find(name).is_some(), "{name}.md");
    }
}
