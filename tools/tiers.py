"""Runs the tests of the crates with kernels again, on every CPU tier of this machine but the best.

On the best one `make test` has run them.

    python tools/tiers.py

It asks cargo for the test programs that `make test` has built and runs these, so nothing is built
again: `cargo test -p ROOM` would choose other features for some crates, and with them another build
of the whole workspace. The exit status is the number of test programs that failed.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# A crate, and the tests of its `tests/` that depend on the tier; nothing where all may. Crates
# `aead` and `proof` are not here, since their tests go through all tiers themselves.
CRATES: dict[str, tuple[str, ...]] = {
    "sealane-block": (),
    "sealane-garble": (),
    "sealane-ot": (),
    "sealane-yao": (),
    "sealane-trio": (),
    "sealane-mixed": (),
    "sealane-engine": ("random_programs::", "rounds::"),
}
# Tests that have nothing to find on a second tier, by parts of their names: those that go through
# all tiers themselves, and, since these show that all tiers make the same bytes, those that count
# what messages show, what an attack gains or what it costs, and those of base OTs, which have no
# kernel.
SAME = ["every_tier", "views::", "attacks::", "guessing::", "estimate::", "places::", "base::"]
LEFT_OUT = [word for part in SAME for word in ("--skip", part)]
BUILD = ["test", "--no-run", "--locked", "--workspace", "--exclude", "sealane-py"]


def main() -> int:
    """Prints a line for each program; the number of those that fail is the exit status."""
    tiers = json.loads(run([".venv/bin/sealane", "doctor", "--json"]))["tiers"]
    print("tiers:", *tiers, flush=True)
    if "portable" not in tiers:
        sys.exit("the portable tier is missing")
    failed = 0
    # The slowest comes first.
    for tier in tiers[:-1]:
        for crate, program in programs():
            began = time.monotonic()
            kind = Path(program).name.split("-")[0]
            chosen = CRATES[crate] if kind == "all" else ()
            ended = subprocess.run(
                [program, "--quiet", *chosen, *LEFT_OUT],
                cwd=ROOT / "crates" / crate.removeprefix("sealane-"),
                env={**os.environ, "SEALANE_TIER": tier},
                capture_output=True,
                text=True,
            )
            took = f"{time.monotonic() - began:.0f} s"
            print(f"{tier:9} {crate} ({kind}): {took}", flush=True)
            if ended.returncode:
                failed += 1
                print(ended.stdout, ended.stderr, sep="\n", flush=True)
    return failed


def programs() -> list[tuple[str, str]]:
    """The built test programs of the crates: name of the crate, path of the program."""
    built = run([os.environ.get("CARGO", "cargo"), *BUILD, "--message-format", "json", "--quiet"])
    found = []
    for message in map(json.loads, built.splitlines()):
        if message.get("reason") != "compiler-artifact" or not message.get("executable"):
            continue
        crate = Path(message["manifest_path"]).parent.name
        if message["profile"]["test"] and f"sealane-{crate}" in CRATES:
            found.append((f"sealane-{crate}", message["executable"]))
    missing = CRATES.keys() - {crate for crate, _ in found}
    if missing:
        sys.exit(f"no test programs of {', '.join(sorted(missing))}")
    return sorted(found)


def run(command: list[str]) -> str:
    """Output of a command."""
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())
