#!/bin/sh
# Runs that leave pages of every sort, opened in a browser:
#
#     sh tools/pages_of_runs.sh PICTURES
#
# a long one and a short one of two parties, one with helpers, a simulation, one that fails. It needs
# Chromium and its driver (Debian: `apt-get install chromium chromium-driver`), and `make` before it.

set -eu
pictures=$1
cd "$(dirname "$0")/.."
runs=$(mktemp -d)
trap 'rm -rf "$runs"' EXIT

sealane() {
    verb=$1
    shift
    .venv/bin/sealane "$verb" --runs "$runs" --no-progress "$@" >/dev/null
}

hospital="examples/hospital/program.py --input hospital=examples/hospital/hospital.csv
    --input lab=examples/hospital/lab.csv"
# shellcheck disable=SC2086 # words on purpose
{
    sealane run $hospital --local
    sealane run $hospital --local --protocol trio --helpers ada,ben,cyd
    sealane simulate $hospital
}
sealane run examples/millionaires/program.py --local \
    --input alice=examples/millionaires/alice.csv --input bob=examples/millionaires/bob.csv

# A party whose peer never comes: its run fails.
alone=$runs/alone
.venv/bin/sealane init alice --address 127.0.0.1:7871 --folder "$alone" >"$runs/card" 2>&1
.venv/bin/sealane init bob --address 127.0.0.1:7872 --folder "$runs/bob" >"$runs/card" 2>/dev/null
.venv/bin/sealane peer add "$(cat "$runs/card")" --config "$alone/sealane.toml" >/dev/null 2>&1
printf '\n[limits]\ntimeout_s = 1.0\n' >>"$alone/sealane.toml"
job=$(.venv/bin/sealane plan examples/millionaires/program.py --json |
    .venv/bin/python -c 'import json, sys; print(json.load(sys.stdin)["job"])')
if sealane run examples/millionaires/program.py --config "$alone/sealane.toml" --yes "$job" \
    --input examples/millionaires/alice.csv 2>/dev/null; then
    echo "a run without its peer has to fail" >&2
    exit 1
fi

# One page for each of five runs, and one for each party of the four that ran here.
pages=$(find "$runs" -name report.html | sort)
count=$(echo "$pages" | wc -l)
test "$count" = 16 || {
    echo "there are $count pages, and not 16" >&2
    exit 1
}
# shellcheck disable=SC2086 # words on purpose
.venv/bin/python tools/open_page.py "$pictures" $pages
