#!/bin/sh
# Checks the Python module and `sealane-hw`, and with them every crate that a user's build contains,
# with the oldest Rust that Cargo.toml promises (`rust-version`).
#
#   sh tools/oldest.sh
#
# The exit status is 77 where rustup has not that Rust and cannot install it. No code is made,
# since nothing is run: a check finds what an older Rust lacks in the language and in its library.
set -eu
cd "$(dirname "$0")/.."
oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml).0
if ! cargo "+$oldest" --version >/dev/null 2>&1; then
    timeout 300 rustup toolchain install "$oldest" --profile minimal --no-self-update \
        >/dev/null 2>&1 || {
        echo "Rust $oldest is not installed, and rustup cannot install it" >&2
        exit 77
    }
fi
cargo "+$oldest" check --quiet --locked --target-dir target/oldest \
    -p sealane-py --features pyo3/extension-module
cargo "+$oldest" check --quiet --locked --target-dir target/oldest -p sealane-hw
