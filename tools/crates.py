"""Holds the crates beneath this project to `deny.toml`: licences, duplicates, sources.

    python tools/crates.py

cargo-deny reads the same file and does the same, and looks up advisories as well. This needs
nothing but cargo, so that it runs in every checkout. It looks at every crate that some feature,
some test or some system needs.

1. Every crate offers licences that `licenses.allow` has, by its SPDX expression.
2. No crate has two versions, but for those that `bans.skip` names with a reason; and every name on
   that list is needed.
3. Every crate comes from the registry or lies in this repository.
4. Crates of the package have the same features in builds of all tests, which otherwise would build
   them, and all that uses them, a second time.

The exit status is the number of findings.
"""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
REGISTRY = "registry+https://github.com/rust-lang/crates.io-index"

Crate = dict[str, Any]


def main() -> int:
    """Prints what is wrong; the number of findings is the exit status."""
    rules = tomllib.loads((ROOT / "deny.toml").read_text(encoding="utf-8"))
    crates = resolved()
    findings = [
        *licences(crates, set(rules["licenses"]["allow"])),
        *duplicates(crates, rules["bans"]["skip"]),
        *sources(crates),
        *twice(),
    ]
    for finding in findings:
        print(finding, file=sys.stderr)
    if not findings:
        print(f"{len(crates)} crates: licences, versions and sources are as deny.toml says")
    return min(len(findings), 100)


def resolved() -> list[Crate]:
    """Every crate that is ever built, with all features and for all systems."""
    everything = ["--locked", "--all-features"]
    # The metadata list optional crates that no feature reaches; the tree does not.
    tree = cargo("tree", *everything, "--workspace", "--target=all", "--prefix=none")
    built = {tuple(line.split()[:2]) for line in tree.splitlines()}
    crates = json.loads(cargo("metadata", *everything, "--format-version=1"))["packages"]
    return [crate for crate in crates if (crate["name"], f"v{crate['version']}") in built]


def twice() -> list[str]:
    """Crates of the package that have other features where tests are built."""

    def built(*words: str) -> set[tuple[str, ...]]:
        tree = cargo("tree", "--locked", "--prefix=none", "--format={p}|{f}", *words)
        return {tuple(line.removesuffix(" (*)").split("|")) for line in tree.splitlines() if line}

    tests = built("--workspace", "--exclude=sealane-py", "--edges=normal,build,dev")
    crates = {crate for crate, _ in tests}
    return [
        f"{crate} has features `{features}` in the package and others in tests: ask for the same in"
        " `workspace.dependencies`"
        for crate, features in sorted(built("--package=sealane-py", "--edges=normal,build") - tests)
        if crate in crates
    ]


def cargo(*words: str) -> str:
    """Output of a command of cargo."""
    command = [os.environ.get("CARGO", "cargo"), *words]
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout


def licences(crates: list[Crate], allowed: set[str]) -> list[str]:
    """Crates that offer no licence of the list."""
    wrong = []
    for crate in crates:
        offered = crate["license"] or "none in its manifest"
        if not is_allowed(offered, allowed):
            wrong.append(f"{named(crate)}: its licence, {offered}, is not on the list")
    return wrong


def is_allowed(expression: str, allowed: set[str]) -> bool:
    """Tell whether licences of a set meet an SPDX expression: `OR` lets choose, `AND` does not.
    Old manifests write `/` for `OR`.
    """
    tokens = re.findall(r"[()]|[\w.+-]+(?: WITH [\w.-]+)?", expression.replace("/", " OR "))

    def alternatives() -> bool:
        met = both()
        while tokens[:1] == ["OR"]:
            tokens.pop(0)
            met = both() or met
        return met

    def both() -> bool:
        met = one()
        while tokens[:1] == ["AND"]:
            tokens.pop(0)
            met = one() and met
        return met

    def one() -> bool:
        if not tokens:
            return False
        token = tokens.pop(0)
        if token != "(":
            return token in allowed
        met = alternatives()
        return tokens[:1] == [")"] and tokens.pop(0) == ")" and met

    return alternatives() and not tokens


def duplicates(crates: list[Crate], skip: list[dict[str, str]]) -> list[str]:
    """Crates of two versions that nobody gave a reason for, and reasons that nobody needs."""
    versions = defaultdict(set)
    for crate in crates:
        versions[crate["name"]].add(crate["version"])
    wrong, needed = [], set()
    for name, all_versions in sorted(versions.items()):
        if len(all_versions) == 1:
            continue
        left = set(all_versions)
        for entry in skip:
            skipped = matches(entry["crate"], name, all_versions)
            left -= skipped
            if skipped:
                needed.add(entry["crate"])
        if len(left) > 1:
            wrong.append(f"{name} has versions {', '.join(sorted(left))}: `cargo tree -i` says why")
    for entry in skip:
        if not entry.get("reason"):
            wrong.append(f"deny.toml: no reason for {entry['crate']}")
        if entry["crate"] not in needed:
            wrong.append(f"deny.toml: {entry['crate']} has no second version; take it off the list")
    return wrong


def matches(entry: str, name: str, versions: set[str]) -> set[str]:
    """The versions that an entry such as `digest@0.10` means."""
    of, _, version = entry.partition("@")
    return {v for v in versions if of == name and (v + ".").startswith(version + ".")}


def sources(crates: list[Crate]) -> list[str]:
    """Crates that come from elsewhere than the registry and this repository."""
    foreign = [crate for crate in crates if crate["source"] not in (None, REGISTRY)]
    return [f"{named(crate)} comes from {crate['source']}" for crate in foreign]


def named(crate: Crate) -> str:
    """Name and version."""
    return f"{crate['name']} {crate['version']}"


if __name__ == "__main__":
    sys.exit(main())
