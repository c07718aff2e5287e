#!/bin/sh
# Runs the fuzz targets under libFuzzer, guided by coverage, with the address sanitizer:
#
#   sh tools/fuzz.sh SECONDS [TARGET...]     each target for so long; all if none is named
#
# It needs a nightly compiler (rustup toolchain install nightly) and a C++ compiler. What is found
# lies in target/fuzz/found and is made small; `cargo run -p sealane-fuzz -- replay TARGET FILE`
# (or `-p sealane-hw-fuzz`) runs it on stable, and a copy in the corpus of the target keeps it found.
# What was reached is kept in target/fuzz/corpus, from where the next run goes on.
set -eu
cd "$(dirname "$0")/.."
seconds=$1
shift

work=$PWD/target/fuzz
# The versions of the workspace, and whatever libFuzzer needs beside them.
cp Cargo.lock fuzz/libfuzzer/Cargo.lock
host=$(rustc -vV | sed -n 's/^host: //p')
# What cargo-fuzz asks of the compiler: a counter at each edge, comparisons as hints.
RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares \
    -Zsanitizer=address -Ccodegen-units=1" \
    cargo +nightly build --quiet --profile fuzz --target "$host" \
    --manifest-path fuzz/libfuzzer/Cargo.toml --target-dir "$work"
fuzzer=$work/$host/fuzz/sealane-libfuzzer

[ $# -gt 0 ] || set -- $(ls fuzz/corpus hardware/fuzz/corpus | grep -v : | sort)
failed=
for target in "$@"; do
    mkdir -p "$work/corpus/$target" "$work/found/$target"
    corpus=fuzz/corpus/$target
    [ -d "$corpus" ] || corpus=hardware/$corpus
    echo "fuzz: $target for $seconds s"
    SEALANE_FUZZ_TARGET=$target "$fuzzer" "$work/corpus/$target" "$corpus" \
        -max_total_time="$seconds" -max_len=32768 -timeout=25 \
        -rss_limit_mb=2048 -malloc_limit_mb=1024 \
        -artifact_prefix="$work/found/$target/" >"$work/$target.log" 2>&1 || {
        failed="$failed $target"
        grep -aE 'panicked|ERROR|SUMMARY|Test unit written' "$work/$target.log" | head -5
        continue
    }
    grep -aE '^#[0-9]+[[:space:]]+DONE' "$work/$target.log"
done
[ -z "$failed" ] || { echo "fuzz: findings in$failed" >&2; exit 1; }
