//! All targets under libFuzzer, guided by coverage. `SEALANE_FUZZ_TARGET` names the target to run,
//! so that one build serves them all.

#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use sealane_fuzz_harness::Target;
use std::sync::LazyLock;

static TARGET: LazyLock<&Target> = LazyLock::new(|| {
    let name = std::env::var("SEALANE_FUZZ_TARGET").unwrap_or_default();
    let mut all = sealane_fuzz::TARGETS.iter().chain(sealane_hw_fuzz::TARGETS);
    let target = all.find(|target| target.name == name);
    target.unwrap_or_else(|| panic!("SEALANE_FUZZ_TARGET names no target: `{name}`"))
});

fuzz_target!(|input: &[u8]| -> Corpus {
    // Refused inputs are kept as well: their coverage guides the fuzzer.
    let _ = (TARGET.run)(input);
    Corpus::Keep
});
