//! Every file of every corpus, through its target: what was found once stays found.

use sealane_fuzz::{TARGETS, Verdict, corpus};

/// A peer that says what it said in another run never gets as far as a result with `yao`: labels of
/// one run are none of another.
const NEVER_ACCEPTED: &[&str] = &["yao-run"];

#[test]
fn every_file_passes_and_every_target_accepts_some() {
    for target in TARGETS {
        let files = corpus::load(target.name).expect("a corpus for each target");
        let mut accepted = Vec::new();
        for (name, bytes) in &files {
            if (target.run)(bytes) == Verdict::Accepted {
                accepted.push(name);
            }
        }
        let never = NEVER_ACCEPTED.contains(&target.name);
        assert_eq!(accepted.is_empty(), never, "{}: {accepted:?}", target.name);
    }
}

#[test]
fn every_corpus_has_a_target() {
    for entry in std::fs::read_dir(corpus::root()).expect("the corpora") {
        let name = entry.expect("a folder").file_name();
        let known = TARGETS.iter().any(|target| *target.name == *name);
        assert!(known, "{}", name.display());
    }
}
