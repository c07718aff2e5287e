//! Regression test: every file of every corpus, through its target.

use sealane_fuzz::{TARGETS, Verdict, corpus};

#[test]
fn every_file_passes_and_every_target_accepts_some() {
    for target in TARGETS {
        let files = corpus::load(target.name).expect("a corpus for each target");
        let verdicts = files.iter().map(|(_, bytes)| (target.run)(bytes));
        let accepted = verdicts.filter(|verdict| *verdict == Verdict::Accepted);
        assert_ne!(accepted.count(), 0, "{}", target.name);
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
