#!/bin/sh
# Runs the tests of crate `block` on the portable tier under Miri, which finds undefined behaviour:
#
#   sh tools/miri.sh [FILTER...]
#
# It needs a nightly compiler with two components (rustup component add --toolchain nightly miri
# rust-src); the exit status is 77 where they are missing. Miri executes no vector instructions, so
# that the tiers of x86 stay with `tools/secrets.sh` and the tests. Tests that compute a lot are left
# out: it is thousands of times slower than a build.
set -eu
cd "$(dirname "$0")/.."
cargo +nightly miri --version >/dev/null 2>&1 || {
    echo "Miri is not installed" >&2
    exit 77
}
[ $# -gt 0 ] || set -- block:: erased:: streams
# What tests read of the system: the environment, random numbers, files of failed properties.
export MIRIFLAGS="-Zmiri-disable-isolation" SEALANE_TIER=portable
cargo +nightly miri test --quiet --locked --target-dir target/miri -p sealane-block --lib -- "$@"
