#!/bin/sh
# Finds what a build needs from this machine: Python 3.11 or newer, cargo 1.89 or newer, a C
# compiler. Prints the first two as shell assignments, or says on standard error what is missing,
# what was found instead and what to do, and fails. Where rustup has not the toolchain that
# rust-toolchain.toml names and cannot install it, its stable one is taken, and RUSTUP_TOOLCHAIN is
# printed as well.
#
#   PYTHON=... CARGO=... sh tools/machine.sh

set -u
missing=0

need() {
    missing=1
    printf 'make: %s\n' "$1" >&2
    shift
    for line in "$@"; do printf '      %s\n' "$line" >&2; done
}

# --- Python -------------------------------------------------------------------------------------
python=
seen=
for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
    version=$("$candidate" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) \
        || continue
    seen="${seen:+$seen, }$candidate is $version"
    if [ "${version%%.*}" -gt 3 ] || { [ "${version%%.*}" -eq 3 ] && [ "${version#*.}" -ge 11 ]; }
    then
        python=$candidate
        break
    fi
done
if [ -z "$python" ]; then
    need "Python 3.11 or newer is needed; found: ${seen:-none}." \
        "Install one with your distribution's tools, or name one that is installed:" \
        "make PYTHON=/path/to/python3.11 demo"
elif ! "$python" -c 'import venv, ensurepip' 2>/dev/null; then
    need "$python ($version) cannot make virtual environments: it lacks venv or ensurepip." \
        "On Debian and Ubuntu: apt-get install python$version-venv"
fi

# --- Rust ---------------------------------------------------------------------------------------
# A shell that rustup has not set up does not find cargo on its path, but it is there.
cargo=${CARGO:-$(command -v cargo || echo "${CARGO_HOME:-$HOME/.cargo}/bin/cargo")}
pinned=$(sed -n 's/^channel = "\(.*\)"/\1/p' "$(dirname "$0")/../rust-toolchain.toml")
toolchain=
version=$("$cargo" --version 2>/dev/null) || version=
# A cargo of rustup reads the file, and fails where its toolchain is missing and stays so.
if [ -z "$version" ] && [ -z "${RUSTUP_TOOLCHAIN:-}" ]; then
    version=$(RUSTUP_TOOLCHAIN=stable "$cargo" --version 2>/dev/null) || version=
    if [ -n "$version" ]; then
        toolchain=stable
        printf 'make: rustup has no Rust %s (rust-toolchain.toml); using its stable toolchain\n' \
            "$pinned" >&2
    fi
fi
number=${version#cargo }
number=${number%% *}
major=${number%%.*}
minor=${number#*.}
minor=${minor%%.*}
if [ -z "$version" ]; then
    need "cargo 1.89 or newer is needed; found none (looked for $cargo)." \
        "Install Rust with rustup, or name a cargo that is installed: make CARGO=... demo"
elif [ "$major" -lt 1 ] || { [ "$major" -eq 1 ] && [ "$minor" -lt 89 ]; }; then
    need "cargo 1.89 or newer is needed; $cargo is $number." \
        "With rustup: rustup update stable. A distribution's cargo is often too old:" \
        "install rustup instead, and start a new shell."
fi

# --- C ------------------------------------------------------------------------------------------
if ! command -v cc >/dev/null 2>&1; then
    need "a C compiler is needed, as linker and for the TLS library; found no cc." \
        "On Debian and Ubuntu: apt-get install gcc libc6-dev"
fi

[ "$missing" -eq 0 ] || exit 1
printf "PYTHON='%s'\nCARGO='%s'\n" "$(command -v "$python")" "$(command -v "$cargo")"
[ -z "$toolchain" ] || printf "export RUSTUP_TOOLCHAIN='%s'\n" "$toolchain"
