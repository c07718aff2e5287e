"""Peak memory of processes, against what the plan states.

    python tools/memory.py 1000000

Runs programs between processes of the installed command, on so many rows (a sort and groups on a
part of them), and compares the peak of each party with `sealane plan`. Row-wise work stays within
300 MB, however many rows there are; under `auth`, which keeps results by rows until the end, sums
within 500 MB.
"""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from trial_session import SEALANE

HEAD = """import sealane as sl

@sl.program
def job(
    flag: sl.Private[sl.u4, "ada", "n <= 2_000_000"], x: sl.Private[sl.i32, "bob", "n"]
) -> {result}:
    {body}
"""
# By name: the result, the body, and the part of the rows that it is run on.
PROGRAMS = {
    "rows": (
        'tuple[sl.Revealed[sl.i32, "ada"], sl.Revealed[sl.i64, "bob"]]',
        "y = sl.where(flag > 7, x, 0)\n    return y, sl.sum(y, dtype=sl.i64)",
        1,
    ),
    "sum": (
        'sl.Revealed[sl.i64, "bob"]',
        "return sl.sum(sl.where(flag > 7, x, 0), dtype=sl.i64)",
        1,
    ),
    "sort": ('sl.Revealed[sl.i32, "bob"]', "return sl.sort(sl.where(flag > 7, x, 0))", 50),
    "groups": (
        'sl.Revealed[sl.i64, "bob"]',
        "return sl.group_by(flag, most=16).agg(s=sl.sum(x, dtype=sl.i64)).s",
        50,
    ),
    "categories": (
        'sl.Revealed[sl.i64, "bob"]',
        "c = list(range(16))\n"
        "    return sl.group_by(flag, categories=c).agg(s=sl.sum(x, dtype=sl.i64)).s",
        4,
    ),
}
PROTOCOLS = {
    "yao": [],
    "trio": ["--protocol", "trio", "--helpers", "cyd"],
    "trio-malicious": ["--protocol", "trio", "--security", "malicious", "--helpers", "cyd"],
    "gmw": ["--protocol", "gmw"],
    "mixed": ["--protocol", "mixed"],
    "auth": ["--protocol", "auth"],
}


def peaks(command: list[str]) -> dict[str, int]:
    """The most resident bytes of each party of a local run, by the name of the party."""
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    most: dict[str, int] = {}
    while run.poll() is None:
        for process in Path("/proc").iterdir():
            with suppress(OSError, StopIteration, ValueError):
                words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
                folder = Path(words[words.index("--record-in") + 1])
                if str(run.pid) in (process / "stat").read_text().split():
                    lines = (process / "status").read_text().splitlines()
                    size = next(line for line in lines if line.startswith("VmHWM"))
                    most[folder.name] = 1024 * int(size.split()[1])
        time.sleep(0.02)
    if run.returncode:
        raise SystemExit(run.communicate()[0].decode())
    return most


def most_of(name: str, protocol: str) -> float:
    """The most bytes that a program may take at any number of rows."""
    if protocol == "auth":
        return 500_000_000 if name == "sum" else math.inf
    return 300_000_000 if name in ("rows", "sum") else math.inf


def compare(name: str, protocol: str, rows: int) -> None:
    """Runs a program in a new folder, and compares the peak of each party with its plan."""
    result, body, part = PROGRAMS[name]
    rows = max(rows // part, 1)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        program = folder / "job.py"
        program.write_text(HEAD.format(result=result, body=body))
        for party, column, bound in (("ada", "flag", 16), ("bob", "x", 10**9)):
            cells = "".join(f"{random.randrange(bound)}\n" for _ in range(rows))
            (folder / f"{party}.csv").write_text(f"{column}\n{cells}")
        options = [str(program), *PROTOCOLS[protocol]]
        plan = [*SEALANE, "plan", *options, "--rows", f"n={rows}", "--json"]
        planned = json.loads(subprocess.check_output(plan))["memory_bytes"]
        inputs = [f"--input={party}={folder}/{party}.csv" for party in ("ada", "bob")]
        measured = peaks([*SEALANE, "run", *options, "--local", f"--runs={folder}/runs", *inputs])
        for party, most in measured.items():
            print(f"{name} {protocol} {rows} {party}: {most:,} of {planned[party]:,} bytes")
            if most > min(planned[party], most_of(name, protocol)):
                raise SystemExit("more memory than planned")
        if measured.keys() != planned.keys():
            raise SystemExit(f"parties that were not measured: {planned.keys() - measured.keys()}")


if __name__ == "__main__":
    for name in PROGRAMS:
        for protocol in PROTOCOLS:
            compare(name, protocol, int(sys.argv[1]))
