# Sourced by the parts of CI: the root of the checkout, the environment of all of them, `step` and
# `left_out`.

cd "$(dirname "$0")/.."
export CI=true CARGO_TERM_COLOR=never PYTHONDONTWRITEBYTECODE=1
# Nothing is built twice here, and nobody opens a debugger.
export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=false
# Two cores have crates enough to build side by side, and fewer units of one are less work.
export CARGO_PROFILE_DEV_CODEGEN_UNITS=4
# NumPy's threads spin for some milliseconds in each of some thousand processes.
export OPENBLAS_NUM_THREADS=1
# Steps are timed from the start of `.ci/run`, or of the part that is called alone.
export SEALANE_CI_BEGAN="${SEALANE_CI_BEGAN:-$(date +%s)}"

step() {
    local passed=$(($(date +%s) - SEALANE_CI_BEGAN))
    printf '\n=== %3d:%02d  %s: %s\n' $((passed / 60)) $((passed % 60)) "${0##*/}" "$*"
}

# Installs the package of a program that is not there. Where that fails, the tests that call the
# program fail and say why.
need_package() {
    command -v "$1" >/dev/null && return
    apt-get update -qq && apt-get install -qq -y --no-install-recommends "$1" >/dev/null ||
        echo "the package $1 cannot be installed"
}

# Says that a step leaves something out, and why; `.ci/run` counts the lines of the file.
left_out() {
    echo "SKIPPED: $*"
    mkdir -p target
    printf '%s: %s\n' "${0##*/}" "$*" >>target/left-out
}

# The Python and the cargo that `make` uses, also where a shell does not find them on its path.
tools=$(sh tools/machine.sh)
eval "$tools"
PATH="$(dirname "$CARGO"):$PATH"
