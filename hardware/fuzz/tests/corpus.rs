//! Regression test: every file of every corpus, through its target.

#[test]
fn every_file_passes_and_every_target_accepts_some() {
    sealane_hw_fuzz::FUZZER.test_corpora();
}
