"""Private set intersection from two CSV files to what both have: prepare, run, match."""

from __future__ import annotations

import csv
import json
import runpy
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conftest import sealane

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "psi"
SIDES = {"shelter": "receiver", "kitchen": "sender"}

# The inputs of each program, beside those of a party's first file.
INPUTS = {
    "shuffled": ["shelter=shelter/input.csv", "kitchen=kitchen/input.csv"],
    "phased": [
        "shelter=shelter/stash.csv",
        "held=shelter/table.csv",
        "kitchen=kitchen/items.csv",
        "candidates=kitchen/bins.csv",
    ],
}


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def prepare(method: str, party: str, file: Path, *more: object, seed: str = "May") -> Any:
    """Output of `sealane psi prepare --json`; the tables are in a folder of the party's name."""
    arguments = ("--column=email", f"--method={method}", f"--side={SIDES[party]}", "--size=256")
    folder = f"--folder={party}"
    done = sealane("psi", "prepare", file, *arguments, f"--seed={seed}", folder, *more, "--json")
    return json.loads(done.stdout)


def emails(party: str) -> list[str]:
    with open(FOLDER / f"{party}.csv", newline="", encoding="utf-8") as file:
        return [row["email"] for row in csv.DictReader(file)]


def run(method: str, *more: str) -> Any:
    inputs = [f"--input={given}" for given in INPUTS[method]]
    program = FOLDER / f"{method}.py"
    done = sealane("run", program, "--local", *more, *inputs, "--output=found.csv", "--json")
    return json.loads(done.stdout)


def match(*more: object, status: int = 0) -> subprocess.CompletedProcess[str]:
    kept = "--kept=shelter/kept.csv"
    return sealane("psi", "match", "found.shelter.csv", kept, *more, status=status)


@pytest.mark.parametrize("method", INPUTS)
def test_programs_are_written_for_the_tables_that_are_prepared(method: str) -> None:
    names = runpy.run_path(str(FOLDER / f"{method}.py"))
    prepared = prepare(method, "shelter", FOLDER / "shelter.csv")
    for constant in ("size", "width", "stored", "bins", "load"):
        assert names.get(constant.upper()) == prepared.get(constant), constant
    assert not names["common_donors"].check().warnings


@pytest.mark.parametrize("method", INPUTS)
@pytest.mark.parametrize(
    "who",
    [
        ("--protocol=yao",),
        ("--protocol=trio", "--helpers=ada"),
        ("--protocol=gmw",),
        ("--protocol=mixed",),
        ("--clear",),
    ],
)
def test_what_both_have_is_found_at_the_planned_cost(method: str, who: tuple[str, ...]) -> None:
    shelter = prepare(method, "shelter", FOLDER / "shelter.csv")
    attempt = f"--attempt={shelter['attempt']}"
    kitchen = prepare(method, "kitchen", FOLDER / "kitchen.csv", attempt)
    assert (shelter["items"], shelter["repeated"]) == (205, 0)
    assert (kitchen["items"], kitchen["repeated"]) == (238, 6)
    assert shelter["tag"] == kitchen["tag"]
    report = run(method, *who)
    assert report["as_planned"] is True
    wanted = sorted({*emails("shelter")} & {*emails("kitchen")})
    assert len(wanted) == 37
    assert match().stdout.splitlines() == wanted
    assert json.loads(match("--json").stdout) == {"common": wanted}
    # Who learns nothing has neither a result nor what would read it.
    assert not Path("found.kitchen.csv").exists()
    assert not Path("kitchen/kept.csv").exists()


@pytest.mark.parametrize("method", INPUTS)
def test_sets_of_any_size_up_to_the_bound_are_intersected(method: str, tmp_path: Path) -> None:
    few, none = tmp_path / "few.csv", tmp_path / "none.csv"
    few.write_text("email\nann\nben\n", encoding="utf-8")
    none.write_text("email\n", encoding="utf-8")
    prepare(method, "shelter", few)
    for file, found in [(few, "ann\nben\n"), (none, "")]:
        prepare(method, "kitchen", file)
        run(method, "--clear")
        assert match().stdout == found


@pytest.mark.parametrize("method", INPUTS)
def test_a_mistyped_seed_is_noticed(method: str) -> None:
    prepare(method, "shelter", FOLDER / "shelter.csv")
    prepare(method, "kitchen", FOLDER / "kitchen.csv", seed="may")
    run(method, "--clear")
    told = match(status=4).stderr
    assert told.startswith("error[psi-seed]: the two parties have prepared by different agreements")
