#!/bin/sh
# Times do not depend on secrets: a million batches of garbling and evaluation by every scheme, and of
# forged messages that every mode refuses, and fewer of oblivious transfers of all kinds and of steps
# of protocols, on every tier of this machine, compared as `crates/testkit/src/timing.rs` says; of
# served netlists as well. Minutes. A word that follows chooses tests by their names: garbling,
# transfers, steps, forgery, receivers, servers. SEALANE_TIER leaves one tier.
set -eu
cd "$(dirname "$0")/.."
set -- "$@" --include-ignored --nocapture --test-threads 1
cargo test --quiet --locked --release -p sealane-bench -p sealane-serve --test timing -- "$@"
