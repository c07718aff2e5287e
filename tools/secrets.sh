#!/bin/sh
# No branch and no address depends on a secret, and none is left in memory that is given back: AES,
# hashes, garbling, authenticated encryption, oblivious transfer, the steps of protocols and whole
# sessions through the engine and of served netlists under Valgrind, as optimised code. Minutes, most of them the build.
# Words that follow name the checks that are wanted, by a part of their names: all, without.
set -eu
cd "$(dirname "$0")/.."
command -v valgrind >/dev/null || {
    echo "this check needs valgrind, a package of that name on most systems" >&2
    exit 1
}
# With names and lines of what it reports; otherwise as users run it. The suppressions name functions
# that are inlined, which line tables alone can tell.
export CARGO_PROFILE_RELEASE_STRIP=none CARGO_PROFILE_RELEASE_DEBUG=line-tables-only
cargo build --quiet --locked --release -p sealane-memcheck -p sealane-hw-memcheck
for program in sealane-memcheck sealane-hw-memcheck; do
    log=target/$program.log
    valgrind --quiet --error-limit=no --num-callers=40 --log-file="$log" \
        --suppressions=crates/memcheck/public.supp "target/release/$program" "$@" || {
        echo "what Valgrind saw is in $log" >&2
        exit 1
    }
done
