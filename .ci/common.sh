# Sourced by the parts of CI: the root of the checkout, the environment of all of them, and `step`.

cd "$(dirname "$0")/.."
export CI=true CARGO_TERM_COLOR=never PYTHONDONTWRITEBYTECODE=1
# Steps are timed from the start of `.ci/run`, or of the part that is called alone.
export SEALANE_CI_BEGAN="${SEALANE_CI_BEGAN:-$(date +%s)}"

step() {
    local passed=$(($(date +%s) - SEALANE_CI_BEGAN))
    printf '\n=== %3d:%02d  %s: %s\n' $((passed / 60)) $((passed % 60)) "${0##*/}" "$*"
}

# The Python and the cargo that `make` uses, also where a shell does not find them on its path.
tools=$(sh tools/machine.sh)
eval "$tools"
PATH="$(dirname "$CARGO"):$PATH"
