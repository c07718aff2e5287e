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
#
# Each takes minutes, so without names it is another four of them each day. The proofs need
# CaDiCaL, a package named cadical on most systems; the exit status is 77 where it is missing.
set -eu
cd "$(dirname "$0")/.."
tests=crates/numeric/tests
names() { sed -n "s/^    (\"\\([a-z0-9.]*\\)\", .*/\\1$2/p" "$tests/$1"; }
if [ $# -eq 0 ]; then
    names=$(
        names elementary/single.rs ""
        names exact.rs _exact | sort -u
        names pairs.rs ""
    )
    first=$(($(date +%s) / 86400 * 4))
    for place in 0 1 2 3; do
        line=$(((first + place) % $(echo "$names" | wc -l) + 1))
        set -- "$@" "$(echo "$names" | sed -n "${line}p")"
    done
fi
echo "all arguments of $*"
SEALANE_FUNCTIONS=$(echo "$*" | tr ' ' ,) cargo test --quiet --locked --release -p sealane-numeric \
    --test all -- --ignored --exact --nocapture elementary::all::all_arguments_of_f32 \
    exact::all_arguments_are_rounded_correctly pairs::all_pairs_of_f16
command -v cadical >/dev/null || {
    echo "CaDiCaL is not installed" >&2
    exit 77
}
python3 tools/prove.py
