"""Processor time of runs of two parties, predicted from their plans and measured.

    python tools/rates.py rates.json
    python tools/rates.py rates.json --cells --seconds 5 > cells.jsonl
    python tools/rates.py rates.json --given --cells --programs edits,series --networks lan

Plans count the computing of a run by kernel (`work`). The tool runs small programs
(`rates_programs.py`) between two processes of the installed command, fits a rate for each kernel to
the processor seconds of both that the reports state, and writes the rates into the named file;
`--given` reads them from it instead. With `--cells` it then runs the twenty programs of
`twenty_programs.py` under `mixed` on five declared networks, and prints one JSON object for each
program and network: seconds as predicted and as measured, bytes and rounds as planned or not. Runs
use loopback, whatever network is declared: that decides the plan alone.

Right before each run three small programs are run, and its seconds are scaled by the median of what
they take, against what they took first: rates are those of the same minute. With status 1 the tool
ends if fewer than nine in ten cells are predicted within 15 %, or if bytes or rounds of one are not
as planned.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

import rates_programs
import sealane as sl
import twenty_programs
from trial_session import SEALANE
from twenty import NETWORKS

Floats = NDArray[np.float64]
Work = dict[str, int]
Rates = dict[str, float]
"""Seconds of both processes for one of each kernel."""

TOLERATED = 0.15
ENOUGH = 0.9
LONG_S = 0.5
"""Processor seconds from which a single run is measured; the median of three shorter ones is."""
FAR = 0.05
"""The relative error of a fitted run from which it counts less."""
PASSES = 3
"""How often the programs that are fitted are run, minutes apart: of each the median counts."""
# Programs, protocols, numbers of rows (0 where there are none), and networks, on which plans take
# other kernels. On few rows `mixed` has labels alone. Some have as many rows as the largest of the
# twenty programs.
BOTH, FAST = ("lan", "wan"), ("lan", "100us/10Gbps")
FITTED: list[tuple[str, str, tuple[int, ...], tuple[str, ...]]] = [
    ("compared", "mixed", (1, 120_000), BOTH),
    ("compared", "gmw", (1, 2_000), BOTH),
    ("ands", "mixed", (3_000,), FAST),
    ("ands", "gmw", (100, 60_000, 300_000), BOTH),
    ("least", "mixed", (64, 30_000), BOTH),
    ("least", "gmw", (64,), BOTH),
    ("sorted_rows", "mixed", (64, 300, 1_000), BOTH),
    ("sorted_rows", "gmw", (300, 2_000), BOTH),
    ("counted", "mixed", (1_000, 60_000), BOTH),
    ("products", "gmw", (1_000, 20_000), BOTH),
    ("inner", "mixed", (50_000, 1_000_000), BOTH),
    ("narrow", "mixed", (100_000,), BOTH),
    ("layer", "mixed", (100, 3_000), BOTH),
    ("deep_layer", "mixed", (1_000,), BOTH),
    ("hidden", "gmw", (0,), BOTH),
    ("apart", "mixed", (200, 20_000), BOTH),
    ("scaled", "mixed", (500, 20_000), BOTH),
    ("chosen", "mixed", (30_000,), BOTH),
    ("chosen", "gmw", (2_000,), BOTH),
    ("grouped", "mixed", (2_000, 60_000), FAST),
    ("labelled", "mixed", (300, 40_000), FAST),
    ("multiplied", "mixed", (20, 2_000), FAST),
    ("deep", "mixed", (0,), FAST),
    ("blocks", "mixed", (1, 60), BOTH),
    ("blocks", "gmw", (1, 60, 1_500), BOTH),
    ("own", "mixed", (1_000, 30_000), ("lan",)),
    ("own_words", "mixed", (30_000, 1_000_000), ("lan",)),
    ("own_order", "mixed", (300, 2_000), ("lan",)),
    ("mixed_bits", "gmw", (0,), ("lan",)),
    ("mixed_bits", "mixed", (0,), FAST),
    ("shifted", "mixed", (0,), ("lan",)),
    ("shifted", "gmw", (0,), ("lan",)),
    ("windows", "mixed", (3_000, 100_000), ("lan",)),
]
# What is run again to know how fast the machine is: transfers and comparisons, labels, copies.
PROBES = [("scaled", "lan", 20_000), ("labelled", "lan", 40_000), ("chosen", "lan", 30_000)]


@dataclass(frozen=True)
class Cell:
    """A program, the network that is declared for it, and the rows of each of its tables."""

    source: str
    name: str
    network: str
    rows: int | None
    protocol: str = "mixed"

    @property
    def program(self) -> sl.Program[..., Any]:
        """The program itself."""
        module = rates_programs if self.source == "rates_programs.py" else twenty_programs
        found: sl.Program[..., Any] = vars(module)[self.name]
        return found

    def plan(self) -> dict[str, Any]:
        """The plan, as JSON has it."""
        options: dict[str, Any] = {"protocol": self.protocol, "network": self.network}
        bounds = self.program.plan(**options).rows
        rows = {name: min(bound, self.rows or bound) for name, bound in bounds.items()}
        found: dict[str, Any] = json.loads(self.program.plan(**options, rows=rows or None).json)
        return found


def drawn(given: dict[str, Any], ends: str, rows: dict[str, int], rng: np.random.Generator) -> Any:
    """Numbers of an input, uniform in its range."""
    dims = given["shape"].strip("[]").split(", ")
    shape = [rows[dim] if dim in rows else int(dim) for dim in dims]
    low, high = (ends or "1 to 100").replace(",", "").split(" to ")
    if given["type"].startswith("f"):
        numbers = rng.uniform(float(low), float(high), shape)
        return numbers.astype(np.float32) if given["type"] == "f32" else np.round(numbers, 3)
    dtype = np.int64 if low.startswith("-") else np.uint64
    return rng.integers(int(low), int(high), shape, dtype, endpoint=True)


def measured(cell: Cell, rows: dict[str, int]) -> list[dict[str, Any]]:
    """The reports of local runs on drawn inputs: one, or three where they are short."""
    check, rng = json.loads(cell.program.check().json), np.random.default_rng(1)
    source = Path(__file__).parent / cell.source
    reports: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        options = ["--protocol", cell.protocol, "--network", cell.network, "--local", "--json"]
        options += ["--no-record", "--no-progress"]
        for given in check["inputs"]:
            path = Path(folder) / f"{given['name']}.npy"
            np.save(path, drawn(given, check["ranges"].get(given["name"], ""), rows, rng))
            options += ["--input", f"{given['name']}={path}"]
        command = [*SEALANE, "run", f"{source}:{cell.name}", *options]
        while len(reports) < 3 and all(report["cpu_seconds"] < LONG_S for report in reports):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise SystemExit(f"{cell}: {done.stderr}")
            reports.append(json.loads(done.stdout))
    return reports


def seconds_of(reports: list[dict[str, Any]]) -> float:
    """Processor seconds of both processes."""
    return float(median(report["cpu_seconds"] for report in reports))


def predicted(work: Work, rates: Rates) -> float:
    """Processor seconds of both processes by rates. A kernel that no fitted program has is none."""
    return sum(count * rates.get(kernel, 0.0) for kernel, count in work.items())


def least_squares(a: Floats, b: Floats) -> Floats:
    """The `x` without negative entries for which `a x` is nearest to `b` (Lawson and Hanson,
    "Solving Least Squares Problems", 1974, chapter 23)."""
    x, free = np.zeros(a.shape[1]), np.zeros(a.shape[1], bool)
    for _ in range(10 * a.shape[1]):
        slope = a.T @ (b - a @ x)
        slope[free] = 0
        if slope.max() <= 1e-9:
            break
        free[slope.argmax()] = True
        while True:
            best = np.zeros_like(x)
            best[free] = np.linalg.lstsq(a[:, free], b, rcond=None)[0]
            if best[free].min() > 0:
                break
            # As far as all entries stay positive, and without those that do not.
            low = free & (best <= 0)
            step = (x[low] / (x[low] - best[low])).min()
            x += step * (best - x)
            free &= x > 1e-15 * x.max()
            if not free.any():
                break
        x = best
    return x


def fitted(runs: list[tuple[Work, float]]) -> Rates:
    """Rates under which relative errors are least: their squares, but errors above `FAR` count as
    they are (Huber, "Robust Estimation of a Location Parameter", 1964), so that one run that
    something disturbed moves no rate far."""
    kernels = sorted({kernel for work, _ in runs for kernel in work})
    a = np.array([[work.get(kernel, 0) / seconds for kernel in kernels] for work, seconds in runs])
    # Columns of like size: counts differ by nine orders of magnitude.
    size = np.maximum(np.linalg.norm(a, axis=0), 1e-300)
    found, weights = np.zeros(len(kernels)), np.ones(len(runs))
    for _ in range(20):
        found = least_squares(weights[:, None] * a / size, weights) / size
        weights = np.sqrt(FAR / np.maximum(np.abs(a @ found - 1), FAR))
    return {kernel: float(rate) for kernel, rate in zip(kernels, found, strict=True)}


def error(prediction: float, seconds: float) -> float:
    """By what part of it a prediction misses."""
    return prediction / seconds - 1


def calibrated() -> tuple[Rates, list[float]]:
    """Rates of this machine, and the processor seconds of the probes. How well they fit goes to
    standard error."""
    cells = [
        Cell("rates_programs.py", name, network, rows or None, protocol)
        for name, protocol, all_rows, networks in FITTED
        for rows in all_rows
        for network in networks
    ]
    plans, probes = [cell.plan() for cell in cells], probed()
    took: list[list[float]] = [[] for _ in cells]
    for _ in range(PASSES):
        for cell, plan, so_far in zip(cells, plans, took, strict=True):
            # The speed of a machine changes within the minutes that this takes.
            slower = slowness(probes)
            so_far.append(seconds_of(measured(cell, plan["rows"])) / slower)
    runs = [(plan["work"], median(all_runs)) for plan, all_runs in zip(plans, took, strict=True)]
    rates = fitted(runs)
    for cell, (work, seconds) in zip(cells, runs, strict=True):
        off = error(predicted(work, rates), seconds)
        line = f"{cell.name:12} {cell.rows or '':>7} {cell.network:12} {cell.protocol:5}"
        print(f"{line} {seconds:8.3f} s {off:+7.1%}", file=sys.stderr)
    return rates, probes


def probed() -> list[float]:
    """Processor seconds of the probes now."""
    cells = [Cell("rates_programs.py", *probe) for probe in PROBES]
    return [seconds_of(measured(cell, cell.plan()["rows"])) for cell in cells]


def slowness(probes: list[float]) -> float:
    """The processor seconds of the probes now, as a part of those then."""
    return float(median(now / then for now, then in zip(probed(), probes, strict=True)))


def cells_of(asked: argparse.Namespace) -> Iterator[Cell]:
    """The cells that are asked for, with as many rows as the time of a run allows."""
    for name in asked.programs.split(","):
        for network in asked.networks.split(","):
            cell = Cell("twenty_programs.py", name, network, asked.rows)
            while (plan := cell.plan())["rows"]:
                most = max(plan["rows"].values())
                if plan["estimate_s"]["lan"] <= asked.seconds or most < 64:
                    break
                cell = Cell(cell.source, name, network, most // 4)
            yield cell


def compared(cell: Cell, rates: Rates, probes: list[float]) -> dict[str, Any]:
    """A cell as predicted and as measured."""
    plan = cell.plan()
    slower = slowness(probes)
    reports = measured(cell, plan["rows"])
    seconds = seconds_of(reports)
    prediction = slower * predicted(plan["work"], rates)
    return {
        "program": cell.name,
        "network": cell.network,
        "rows": plan["rows"],
        "predicted_s": round(prediction, 4),
        "measured_s": round(seconds, 4),
        "error": round(error(prediction, seconds), 4),
        "as_planned": all(report["as_planned"] for report in reports),
        "slowness": round(slower, 3),
        "load": round(os.getloadavg()[0], 2),
        "work": plan["work"],
        "all_measured_s": [round(report["cpu_seconds"], 4) for report in reports],
    }


def compare(asked: argparse.Namespace, rates: Rates, probes: list[float]) -> int:
    """Compares all cells; returns the exit status."""
    errors, kept = [], True
    for cell in cells_of(asked):
        found = compared(cell, rates, probes)
        print(json.dumps(found), flush=True)
        kept &= found["as_planned"]
        errors.append(found["error"])
        rows = max(found["rows"].values(), default=0)
        line = f"{cell.name:12} {rows or '':>8} {cell.network:14} {found['predicted_s']:9.3f} s"
        print(f"{line} {found['measured_s']:9.3f} s {found['error']:+7.1%}", file=sys.stderr)
    within = sum(abs(error) <= TOLERATED for error in errors)
    print(f"{within} of {len(errors)} within {TOLERATED:.0%}", file=sys.stderr)
    return int(not kept or within < ENOUGH * len(errors))


def main() -> int:
    """Measures rates or reads them, and compares cells where that is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path, help="file of the rates")
    parser.add_argument("--given", action="store_true", help="take the rates from the file")
    parser.add_argument("--cells", action="store_true", help="compare the twenty programs")
    names = [name for name, of in vars(twenty_programs).items() if isinstance(of, sl.Program)]
    parser.add_argument("--programs", default=",".join(names), help="names (all without it)")
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--rows", type=int, help="rows of each table, in place of its bound")
    parser.add_argument(
        "--seconds",
        type=float,
        default=60.0,
        help="quarter the rows of a cell until it is planned to take so long on a LAN at most",
    )
    asked = parser.parse_args()
    if unknown := set(asked.programs.split(",")) - set(names):
        parser.error(f"no such program: {', '.join(sorted(unknown))}; see --help")
    warnings.simplefilter("ignore")
    if asked.given:
        saved = json.loads(asked.file.read_text(encoding="utf-8"))
        rates, probes = saved["rates"], saved["probes_s"]
    else:
        begun = time.monotonic()
        rates, probes = calibrated()
        took = round(time.monotonic() - begun, 1)
        saved = {"rates": rates, "probes_s": probes, "took_s": took, "load": os.getloadavg()[0]}
        asked.file.write_text(json.dumps(saved, indent=1) + "\n", encoding="utf-8")
    return compare(asked, rates, probes) if asked.cells else 0


if __name__ == "__main__":
    sys.exit(main())
