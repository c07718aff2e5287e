#!/bin/sh
# Numbers: functions of one f32 at all 2^32 arguments, and proofs of circuits by a SAT solver.
#
#   sh tools/numbers.sh [FUNCTION...]
#
# A function takes minutes, so without names it is another four of them each day. The proofs need
# CaDiCaL, a package named cadical on most systems; the exit status is 77 where it is missing.
set -eu
cd "$(dirname "$0")/.."
if [ $# -eq 0 ]; then
    names=$(sed -n 's/^    ("\([a-z0-9]*\)", .*/\1/p' crates/numeric/tests/elementary/single.rs)
    first=$(($(date +%s) / 86400 * 4))
    for place in 0 1 2 3; do
        line=$(((first + place) % $(echo "$names" | wc -l) + 1))
        set -- "$@" "$(echo "$names" | sed -n "${line}p")"
    done
fi
echo "all arguments of $*"
SEALANE_FUNCTIONS=$(echo "$*" | tr ' ' ,) cargo test --quiet --locked --release -p sealane-numeric \
    --test all -- --ignored --exact elementary::all::all_arguments_of_f32 --nocapture
command -v cadical >/dev/null || {
    echo "CaDiCaL is not installed" >&2
    exit 77
}
python3 tools/prove.py
