"""Faults of `mutants.toml`, each put into a copy of the last commit, where its tests have to fail.

    python tools/mutants.py
    python tools/mutants.py --check
    python tools/mutants.py "one of many" "pool"

Faults that both parties share leave results right, so other tests do not see them. A mutant is
caught if each of its tests fails, and has passed without it. Words choose mutants by parts of their
names. `--check` looks for the texts in the working tree and builds nothing: each text is once in
the functions of its name. Exit status 1 says that a mutant survives or that a text has moved.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
LIST = Path(__file__).with_suffix(".toml")
# Cargo names what it builds by the folder, so this is always the same.
COPY = ROOT / "target" / "mutants"
PASSED = re.compile(r"^test result: ok\. [1-9]", re.MULTILINE)


class Mutant(NamedTuple):
    """A fault: what it is, its file, its tests, and its changes (function, text before, after)."""

    name: str
    file: str
    tests: list[str]
    changes: list[tuple[str, str, str]]


def main() -> int:
    """Looks for the texts, and unless that is all, runs the mutants."""
    parser = argparse.ArgumentParser(description="faults that tests have to find")
    parser.add_argument("--check", action="store_true", help="only look for the texts")
    parser.add_argument("words", nargs="*", default=[""], help="parts of names")
    options = parser.parse_args()
    every = [Mutant(**entry) for entry in tomllib.loads(LIST.read_text("utf-8"))["mutant"]]
    named = [m for m in every if any(word in m.name for word in options.words)]
    for mutant in named:
        changed(mutant, (ROOT / mutant.file).read_text("utf-8"))
    if options.check or not named:
        return int(not named)
    if COPY.exists():
        git("worktree", "remove", "--force", str(COPY))
    git("worktree", "add", "--quiet", "--force", "--detach", str(COPY), "HEAD")
    try:
        return run(named)
    finally:
        git("worktree", "remove", "--force", str(COPY))


def changed(mutant: Mutant, text: str) -> str:
    """The text of a file with the changes of a mutant; exits if one is not once in its function."""
    for function, before, after in mutant.changes:
        # From its name to the brace that ends it, in the column where it begins.
        whole = rf"^( *)(?:pub(?:\(\w+\))? )?(?:const )?fn {function}\b.*?^\1\}}$"
        bodies = re.finditer(whole, text, re.MULTILINE | re.DOTALL)
        places = [body for body in bodies if before in body[0]]
        if len(places) != 1 or places[0][0].count(before) != 1:
            sys.exit(f"{mutant.name}: `{before}` is not once in `{function}` of {mutant.file}")
        [place] = places
        text = text[: place.start()] + place[0].replace(before, after) + text[place.end() :]
    return text


def run(mutants: list[Mutant]) -> int:
    """Runs the tests without a mutant, then with each; returns 1 if one is not caught."""
    failed = 0
    for test in sorted({test for mutant in mutants for test in mutant.tests}):
        ended = cargo(test)
        if ended.returncode or not PASSED.search(ended.stdout):
            print(f"FAILS or runs nothing without a mutant: {test}")
            print(ended.stderr[-2000:], ended.stdout[-2000:], flush=True)
            failed += 1
    for mutant in [] if failed else mutants:
        path = COPY / mutant.file
        before = path.read_text("utf-8")
        path.write_text(changed(mutant, before), "utf-8")
        for test in mutant.tests:
            built = cargo(test, "--no-run")
            survives = not built.returncode and not cargo(test).returncode
            word = "SURVIVED" if survives else "NOT BUILT" if built.returncode else "caught"
            print(f"{word}: {mutant.name} ({test})", flush=True)
            if word != "caught":
                print(built.stderr[-2000:])
                failed += 1
        path.write_text(before, "utf-8")
    print(f"{len(mutants)} mutants, {failed} failures")
    return int(failed > 0)


def cargo(test: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Runs a test, named by its package, target and filter."""
    command = [os.environ.get("CARGO", "cargo"), "test", "--locked", *options, "-p", *test.split()]
    env = {**os.environ, "CARGO_TARGET_DIR": str(ROOT / "target")}
    env.pop("SEALANE_BLESS", None)
    return subprocess.run(command, cwd=COPY, env=env, capture_output=True, text=True)


def git(*words: str) -> None:
    """Runs git in this repository."""
    subprocess.run(["git", *words], cwd=ROOT, check=True)


if __name__ == "__main__":
    sys.exit(main())
