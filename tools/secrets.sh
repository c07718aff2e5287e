#!/bin/sh
# No branch and no address depends on a secret: AES, hashes, garbling, evaluation, oblivious transfer
# and the steps of protocols under Valgrind, as optimised code. Minutes, most of them the build.
# Words that follow name the checks that are wanted, by a part of their names: all, without.
set -eu
cd "$(dirname "$0")/.."
command -v valgrind >/dev/null || {
    echo "this check needs valgrind, a package of that name on most systems" >&2
    exit 1
}
# With names and lines of what it reports; otherwise as users run it.
export CARGO_PROFILE_RELEASE_STRIP=none
cargo build --quiet --locked --release -p sealane-memcheck
log=target/memcheck.log
if ! valgrind --quiet --error-limit=no --log-file="$log" --suppressions=crates/memcheck/public.supp \
    target/release/sealane-memcheck "$@"; then
    echo "what Valgrind saw is in $log" >&2
    exit 1
fi
