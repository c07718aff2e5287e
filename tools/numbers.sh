#!/bin/sh
# Numbers: functions on all arguments, and proofs of circuits by a SAT solver.
#
#   sh tools/numbers.sh [NAME...]
#
# | name | circuits that run in the clear |
# |---|---|
# | exp | a function of one f32, at all 2^32 arguments: the worst error |
# | exp_exact | its correctly rounded form, at all 2^32 arguments: every result |
# | f16.add | a function of two f16, on all 2^32 pairs: every result |
# | others | the other tests that take minutes: f64, powers of fixed point in 64 bits |
#
# Each takes minutes, so without names it is another four of them each day. SEALANE_FORMS=small,flat
# runs these forms alone (of `small`, `flat`, `flushed`, `flushed_flat`), SEALANE_SHARE=61 one piece
# of 61 of the numbers, and SEALANE_THREADS says on how many threads. The proofs need
# CaDiCaL, a package named cadical on most systems; the exit status is 77 where it is missing.
set -eu
cd "$(dirname "$0")/.."
tests=crates/numeric/tests
names() { sed -n "s/^    (\"\\([a-z0-9.]*\\)\", .*/\\1$2/p" "$tests/$1"; }
if [ $# -eq 0 ]; then
    names=$(
        names elementary/single.rs ""
        names elementary/all.rs ""
        names exact.rs _exact | sort -u
        names pairs.rs ""
        echo others
    )
    first=$(($(date +%s) / 86400 * 4))
    for place in 0 1 2 3; do
        line=$(((first + place) % $(echo "$names" | wc -l) + 1))
        set -- "$@" "$(echo "$names" | sed -n "${line}p")"
    done
fi
echo "all arguments of $*"
run() {
    cargo test --quiet --locked --release -p sealane-numeric --test all -- --ignored --nocapture "$@"
}
all="elementary::all::all_arguments_of_f32 exact::all_arguments_are_rounded_correctly
    pairs::all_pairs_of_f16"
SEALANE_FUNCTIONS=$(echo "$*" | tr ' ' ,)
export SEALANE_FUNCTIONS
# shellcheck disable=SC2086
run --exact $all
case " $* " in
*" others "*)
    unset SEALANE_FUNCTIONS
    # shellcheck disable=SC2046
    run $(for test in $all; do echo "--skip $test"; done)
    ;;
esac
command -v cadical >/dev/null || {
    echo "CaDiCaL is not installed" >&2
    exit 77
}
python3 tools/prove.py
