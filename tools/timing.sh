#!/bin/sh
# Times do not depend on secrets: a million batches of garbling and evaluation by every scheme, of
# oblivious transfers, and of forged messages that every mode refuses, on every tier of this machine,
# compared as `bench/tests/timing/main.rs` says. Minutes. A word that follows chooses tests by their
# names: garbling, transfers, forgery.
set -eu
cd "$(dirname "$0")/.."
cargo test --quiet --locked --release -p sealane-bench --test timing -- "$@" \
    --include-ignored --nocapture --test-threads 1
