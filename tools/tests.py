"""Runs the tests of Rust, two test programs at a time: many end with one test that takes one core.

    python tools/tests.py           all of the workspace, and the examples of its documentation
    python tools/tests.py tiers     those of the crates with kernels, on every CPU tier but the best
    python tools/tests.py checked   all, where overflows end a program in kernels too
    python tools/tests.py rtl       those that run the hardware of `hardware/rtl`
    python tools/tests.py rtl small     the short ones of these

All but the third build what ships, and use the crates that the package is made of; the third builds
for development. All run the programs of `cargo test --workspace`: `cargo test -p CRATE` would
choose other features for some crates, and with them another build of the whole workspace. The
second asks the installed command for the tiers of this machine. The exit status is the number of
programs that failed.
"""

import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# A crate, and the tests of its `tests/` that depend on the tier; nothing where all may. Crates
# `aead` and `proof` are not here, since their tests go through all tiers themselves.
CRATES: dict[str, tuple[str, ...]] = {
    "block": (),
    "garble": (),
    "ot": (),
    "yao": (),
    "trio": (),
    "mixed": (),
    "auth": (),
    "engine": ("random_programs::", "rounds::"),
}
# Tests that have nothing to find on a second tier, by parts of their names: those that go through
# all tiers themselves, and, since these show that all tiers make the same bytes, those that count
# what messages show, what an attack gains or what it costs, what a party says of a changed message
# of a transfer, and those of base OTs, which have no kernel.
SAME = ["every_tier", "views::", "attacks::", "guessing::", "estimate::", "places::", "base::"]
SAME += ["a_changed_byte_"]
LEFT_OUT = [word for part in SAME for word in ("--skip", part)]
# Tests of hardware, which ask for `--ignored`, since `make` builds the hardware.
RTL = ("rtl", "served", "processes", "serve")
PROFILE = "dev" if sys.argv[1:] == ["checked"] else "release"
CARGO = [os.environ.get("CARGO", "cargo"), "test", "--profile", PROFILE, "--quiet", "--locked"]
WORKSPACE = ["--workspace", "--exclude", "sealane-py"]
# Errors of the compiler are for people, the rest is for this tool.
MESSAGES = ["--message-format", "json-render-diagnostics"]
# Programs that are sessions of several processes have a `main` of their own, and count nothing.
NO_COUNT = "no number of tests"
RESULT = re.compile(r"test result: \w+\. (\d+ passed; \d+ failed; \d+ ignored)")


def main() -> int:
    """Prints a line for each program, and what those print that fail; returns their number."""
    if sys.argv[1:] not in ([], ["tiers"], ["checked"], ["rtl"], ["rtl", "small"]):
        sys.exit(__doc__)
    if sys.argv[1:2] == ["rtl"]:
        some = programs(*(word for name in RTL for word in ("--test", name)))
        return run_all([(*one, ["--ignored", *sys.argv[2:]], "") for one in some])
    built = programs()
    if sys.argv[1:] == ["tiers"]:
        return run_all(on_lesser_tiers(built))
    failed = run_all([(folder, program, [], "") for folder, program in built])
    examples = subprocess.run([*CARGO, "--doc", *WORKSPACE], cwd=ROOT)
    return failed + (examples.returncode != 0)


# The folder of a crate, a program, its arguments, a tier or the best.
Run = tuple[Path, Path, list[str], str]


def on_lesser_tiers(built: list[tuple[Path, Path]]) -> list[Run]:
    """The runs of all tiers but the best, the slowest first."""
    tiers = json.loads(output([".venv/bin/sealane", "doctor", "--json"]))["tiers"]
    print("tiers:", *tiers, flush=True)
    if "portable" not in tiers:
        sys.exit("the portable tier is missing")
    if missing := CRATES.keys() - {folder.name for folder, _ in built}:
        sys.exit(f"no test programs of {', '.join(sorted(missing))}")
    kernels = [(folder, program) for folder, program in built if folder.name in CRATES]

    def arguments(folder: Path, program: Path) -> list[str]:
        chosen = CRATES[folder.name] if kind(program) == "all" else ()
        return [*chosen, *LEFT_OUT]

    return [
        (folder, program, arguments(folder, program), tier)
        for tier in tiers[:-1]
        for folder, program in kernels
    ]


def programs(*chosen: str) -> list[tuple[Path, Path]]:
    """The test programs of the workspace, or those that are chosen as cargo's arguments do, the
    largest first, each after its crate's folder.
    """
    lines = output([*CARGO, *WORKSPACE, *chosen, "--no-run", *MESSAGES]).splitlines()
    found = []
    for message in map(json.loads, lines):
        if message.get("executable") and message["profile"]["test"]:
            folder = Path(message["manifest_path"]).parent
            found.append((folder, Path(message["executable"])))
    return sorted(found, key=lambda one: -one[1].stat().st_size)


def run_all(runs: list[Run]) -> int:
    """Runs programs; returns how many failed."""
    with ThreadPoolExecutor(2) as two:
        return sum(two.map(fails, runs))


def fails(run: Run) -> bool:
    """Runs one program, in the folder and with the variable that cargo gives it."""
    folder, program, arguments, tier = run
    began = time.monotonic()
    ended = subprocess.run(
        [program, "--quiet", *arguments],
        cwd=folder,
        env={**os.environ, "CARGO_MANIFEST_DIR": str(folder)}
        | ({"SEALANE_TIER": tier} if tier else {}),
        capture_output=True,
        text=True,
    )
    tests = RESULT.search(ended.stdout)
    took = f"{time.monotonic() - began:5.0f} s"
    text = f"{took} {tier:9}{folder.name} ({kind(program)}): {tests[1] if tests else NO_COUNT}\n"
    if ended.returncode:
        text += f"{ended.stdout}\n{ended.stderr}\n"
    print(text, end="", flush=True)
    return ended.returncode != 0


def kind(program: Path) -> str:
    """The name that cargo gives a program: `all` are the tests beside a crate."""
    return program.name.split("-")[0]


def output(command: list[str]) -> str:
    """Output of a command."""
    ended = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if ended.returncode:
        sys.exit(f"{command[0]} ended with {ended.returncode}")
    return ended.stdout


if __name__ == "__main__":
    sys.exit(main())
