#!/bin/sh
# The time of evaluation does not depend on permute bits: a million batches of every garbling scheme on
# every tier of this machine, compared as `bench/tests/timing.rs` says. Minutes, most of them the build.
set -eu
cd "$(dirname "$0")/.."
cargo test --quiet --locked --release -p sealane-bench --test timing -- \
    --include-ignored --nocapture --test-threads 1
