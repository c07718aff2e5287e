"""Runs of the shipped command and of `second/` together, each in every role.

    python tools/second.py --runs 20 --seed 1

For each job the command plans and exports it, and computes what must come out in one process. Then
one party is `second/party.py` and the others are the command, over TLS on this machine. Results,
payload bytes and rounds must be those of the plan. Data are drawn by the seed from the ranges of
the inputs. A run that differs leaves its folder, and is printed with its job, party and seed.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import gzip
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from trial_session import ROOT, SEALANE, Failed, free_port, must

(JOBS,) = (ROOT / "testdata" / "vectors").glob("wire-*/jobs.json.gz")
OWN = ["rings", "groups", "ranks", "labels", "blocks", "matrices", "totals", "orders", "largest"]
SECOND = [sys.executable, str(ROOT / "second" / "party.py"), "--for-tests"]
BOUND_S = 150
"""No run takes longer on a machine that is busy."""


@dataclass
class Given:
    """An input of a program."""

    name: str
    owner: str
    type: str
    dims: list[str]
    low: Fraction
    high: Fraction
    kind: str
    columns: list[str]

    @property
    def is_plain(self) -> bool:
        """True if the command takes each value from a table or an array."""
        exact = max(-self.low, self.high) * 2**self.point < 2**53
        return exact or not self.point or len(self.dims) < 2

    @property
    def point(self) -> int:
        """Bits behind the point."""
        return int(self.type.rpartition(".")[2]) if "fixed" in self.type else 0

    def draw(self, rng: random.Random, rows: dict[str, int]) -> list[list[int]]:
        """Stored numbers by rows and columns."""
        dims = [int(dim) if dim.isdecimal() else rows[dim] for dim in self.dims]
        lines = dims[0] if self.dims and not self.dims[0].isdecimal() else 1
        count = 1
        for dim in dims:
            count *= dim
        low, high = (int(bound * 2**self.point) for bound in (self.low, self.high))
        # Small numbers as well as any: sums of large ones would leave every range.
        wide = rng.random() < 0.5
        low, high = (low, high) if wide else (max(low, -100), min(high, 100))
        return [[rng.randint(low, high) for _ in range(count // lines)] for _ in range(lines)]

    def write(self, folder: Path, lines: list[list[int]], rows: dict[str, int]) -> str:
        """Writes numbers as a file for the command; returns its name."""
        if len(self.dims) < 2 or len(self.columns) > 1:
            name = f"{self.name}.csv"
            with (folder / name).open("w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerow(self.columns)
                # Several numbers of an input without rows are a column, if they have one name.
                deal = lines if len(self.columns) > 1 else [[n] for line in lines for n in line]
                csv.writer(file).writerows([[*map(self.word, line)] for line in deal])
            return name
        dims = [int(dim) if dim.isdecimal() else rows[dim] for dim in self.dims]
        kind = "u8" if self.type.startswith("u") else "i8"
        array = np.array(lines, kind if not self.point else "i8").reshape(dims)
        np.save(folder / f"{self.name}.npy", array / 2**self.point if self.point else array)
        return f"{self.name}.npy"

    def word(self, stored: int) -> str:
        """A stored number as tables write it."""
        if self.kind == "date":
            return str(datetime.date(1970, 1, 1) + datetime.timedelta(stored))
        if not self.point:
            return str(stored)
        sign, digits = "-" * (stored < 0), str(abs(stored) * 5**self.point)
        digits = digits.zfill(self.point + 1)
        return f"{sign}{digits[: -self.point]}.{digits[-self.point :]}"


INPUT = re.compile(
    r"input (\w+) : (\w+) ([\w.]+)(?:\[(.*?)\])?(?: in (\S+?)\.\.(\S+))?(?: as (\w+))?"
    r"(?: columns (.*))?"
)


def inputs_of(program: str) -> list[Given]:
    """Inputs of the text of a program."""
    found = []
    for line in program.splitlines():
        if match := INPUT.fullmatch(line):
            name, owner, kind, dims, low, high, unit, columns = match.groups()
            split = dims.split(", ") if dims else []
            names = re.findall('"(.*?)"', columns or "") or [name]
            bounds = Fraction(low or 0), Fraction(high or 0)
            found.append(Given(name, owner, kind, split, *bounds, unit or "", names))
    return found


@dataclass
class Task:
    """A job: an example or the text of a program, how it is planned, and its rows."""

    name: str
    words: list[str]
    rows: dict[str, int]
    text: str = ""

    def __str__(self) -> str:
        counts = [f"{table}={count}" for table, count in self.rows.items()]
        return " ".join([self.name, *self.words, *counts])

    def source(self, folder: Path) -> str:
        """The file of its program."""
        if not self.text:
            own, example = f"second_programs.py:{self.name}", f"{self.name}/program.py"
            is_own = self.name in OWN
            return str(ROOT / "tools" / own if is_own else ROOT / "examples" / example)
        (folder / "program.sealane").write_text(self.text, encoding="utf-8")
        return "program.sealane"


def is_certain(job: dict[str, Any]) -> bool:
    """True if results follow from data that the command can read."""
    text = job["files"]["program.sealane"]
    return " = random " not in text and all(given.is_plain for given in inputs_of(text))


def task_of(job: dict[str, Any], rng: random.Random) -> Task:
    """A job of the vectors, with other rows; those of two owners also by other protocols."""
    text, protocol = job["files"]["program.sealane"], json.loads(job["files"]["protocol.json"])
    owners = len(re.findall("^party ", text, re.MULTILINE))
    free = owners == 2 and " = share " not in text
    other = rng.choice([GMW, MIXED, None, None]) if free else None
    words = other or ["--protocol", protocol["profile"]["name"]]
    words = [*words, "--network", json.loads(job["files"]["network.json"])]
    if not other and (helpers := protocol["parties"][owners:]):
        words += ["--helpers", ",".join(helpers)]
    rows = {
        name: rng.randint(1, min(int(bound), 30))
        for name, bound in re.findall(r"^rows (\w+) <= (\d+)$", text, re.MULTILINE)
    }
    return Task(job["name"], words, rows, text)


class Run:
    """A job with data and keys, in a folder of its own."""

    def __init__(self, folder: Path, task: Task, rng: random.Random) -> None:
        self.folder, self.task, self.rng = folder, task, rng
        self.program = task.source(folder)
        must("plan", self.program, *task.words, "--export", "job", cwd=folder)
        self.hash = json.loads((folder / "job/job.json").read_bytes())["job"]
        self.parties = json.loads((folder / "job/protocol.json").read_bytes())["parties"]
        self.inputs: dict[str, dict[str, str]] = {party: {} for party in self.parties}
        text = (folder / "job/program.sealane").read_text(encoding="utf-8")
        for given in inputs_of(text):
            lines = given.draw(rng, task.rows)
            flat = [number for line in lines for number in line]
            (folder / f"{given.name}.json").write_text(json.dumps(flat), encoding="utf-8")
            self.inputs[given.owner][given.name] = given.write(folder, lines, task.rows)
        self.expected = self._expected()
        self._configure(rng)

    def words_of(self, party: str, second: bool) -> list[str]:
        """Options that give the inputs of a party."""
        files = self.inputs[party].items()
        given = [f"{name}={name}.json" if second else f"{name}={file}" for name, file in files]
        return [word for one in given for word in ("--input", one)]

    def _expected(self) -> dict[str, Any]:
        """The results by the command in one process."""
        words = [word for party in self.parties for word in self.words_of(party, False)]
        output = must("simulate", self.program, "--clear", "--json", *words, cwd=self.folder)
        results: dict[str, Any] = json.loads(output)["results"]
        return results

    def _configure(self, rng: random.Random) -> None:
        """Makes a key for each party, and says who is where."""
        tables = "[limits]\ntimeout_s = 30\nwait_s = 30\n"
        for party in self.parties:
            address = f"127.0.0.1:{free_port(rng)}"
            card = must("init", party, "--address", address, "--folder", party, cwd=self.folder)
            key = re.search("ed25519:[0-9a-f]{64}", card)
            assert key, card
            tables += f'[parties.{party}]\naddress = "{address}"\nkey = "{key[0]}"\n'
        for party in self.parties:
            text = f'me = "{party}"\nidentity = "{party}/{party}.key"\n{tables}'
            (self.folder / f"{party}.toml").write_text(text, encoding="utf-8")

    def draw_form(self) -> dict[str, Any]:
        """A form of the run, with its number, for parties that are all `second/`; or nothing."""
        rows = [f"{name}={count}" for name, count in self.task.rows.items()]
        words = ["--rows", ",".join(rows)] if rows else []
        shown = must("plan", self.program, *self.task.words, *words, "--json", cwd=self.folder)
        forms = enumerate(json.loads(shown).get("forms", []))
        return self.rng.choice([{**form, "number": i} for i, form in forms] or [{}])

    def start(self, party: str, words: list[str] | None) -> subprocess.Popen[str]:
        """Starts one party; `words` are options of `second/`, if it is that."""
        if second := words is not None:
            key = f"{party}/{party}.key"
            words = [*SECOND, *words, "--job", "job", "--key", key, "--as", party]
        else:
            words = [*SEALANE, "run", self.program, *self.task.words, "--json"]
            words += ["--yes", self.hash, "--no-record"]
        words += ["--config", f"{party}.toml", *self.words_of(party, second)]
        pipe = subprocess.PIPE
        return subprocess.Popen(words, cwd=self.folder, text=True, stdout=pipe, stderr=pipe)

    def play(self, seconds: list[str]) -> None:
        """Runs all parties, some of them by `second/`, and compares what each says."""
        # One `second/` learns the form from its peers; several would all wait.
        several = {GMW[1], MIXED[1], PROVED[3]} & {*self.task.words}
        form = self.draw_form() if several and seconds == self.parties else {}
        words = ["--form", str(form["number"])] if form else []
        started = {
            party: self.start(party, words if party in seconds else None) for party in self.parties
        }
        said = {}
        try:
            for party, process in started.items():
                output, errors = process.communicate(timeout=BOUND_S)
                if process.returncode:
                    raise Failed(f"{party} ends with {process.returncode}: {errors.strip()}")
                said[party] = json.loads(output)
        except subprocess.TimeoutExpired:
            raise Failed("a party does not end") from None
        finally:
            for process in started.values():
                process.kill()
                process.communicate()
        self.compare(said, seconds)
        sent = sum(sum(said[party]["sent"]) for party in seconds)
        cost = sent, *{said[party]["rounds"] for party in seconds}
        if form and cost != (form["payload_bytes"], form["rounds"]):
            raise Failed(f"{sent} bytes and {cost[1:]} rounds of form {form}")

    def compare(self, said: dict[str, Any], seconds: list[str]) -> None:
        """Holds what parties say against the plan and the run in the clear."""
        reports = [said[party] for party in self.parties if party not in seconds]
        for report in reports:
            if not report["as_planned"]:
                raise Failed(f"not as planned: {report['payload_bytes']}, {report['rounds']}")
        for party in self.parties:
            self._see_results(party, said[party]["results"], party in seconds)
        for party in seconds:
            planned = reports[0]["planned"] if reports else None
            sent, rounds = sum(said[party]["sent"]), said[party]["rounds"]
            if planned and (sent, rounds) != (planned["payload_bytes"][party], planned["rounds"]):
                raise Failed(f"{party} sent {sent} bytes in {rounds} rounds; planned: {planned}")

    def _see_results(self, party: str, results: dict[str, Any], second: bool) -> None:
        """Compares the results of one party, as stored numbers."""
        owed = {name for name, result in self.expected.items() if party in result["to"]}
        if set(results) != owed:
            raise Failed(f"{party} learns {sorted(results)}, and not {sorted(owed)}")
        for name, result in results.items():
            wanted = stored(self.expected[name])
            values = result if second else stored(result)
            values = values if isinstance(values, list) else [values]
            if values != wanted:
                raise Failed(f"{party} learns {values} as {name}, and not {wanted}")


def stored(result: dict[str, Any]) -> list[int]:
    """The stored numbers of a result as the command prints it."""
    point = int(result["type"].rpartition(".")[2]) if "fixed" in result["type"] else 0
    return [int(Fraction(value) * 2**point) for value in result["values"]]


TRIO2 = ["--protocol", "trio", "--helpers", "ada"]
PROVED = ["--protocol", "trio", "--security", "malicious", "--helpers"]
GMW = ["--protocol", "gmw"]
MIXED = ["--protocol", "mixed"]
AUTH = ["--protocol", "auth"]
TASKS = [
    Task("millionaires", [], {}),
    Task("millionaires", TRIO2, {}),
    Task("millionaires", [*PROVED, "ada"], {}),
    Task("millionaires", [*PROVED, "ada,cyd,dan"], {}),
    Task("age_pyramid", [], {"northerners": 100, "southerners": 37}),
    Task("age_pyramid", TRIO2, {"northerners": 33, "southerners": 1}),
    Task("medication", [], {"days": 48}),
    Task("medication", TRIO2, {"days": 5}),
    Task("medication", [*PROVED, "ada"], {"days": 5}),
    Task("matrices", [*PROVED, "ada"], {}),
    Task("orders", [*PROVED, "ada"], {"n": 6}),
    Task("pay_gap", TRIO2, {"people": 17}),
    Task("credit", TRIO2, {"applicants": 8}),
    Task("millionaires", MIXED, {}),
    Task("pay_gap", MIXED, {"people": 12}),
    Task("millionaires", AUTH, {}),
    Task("age_pyramid", GMW, {"northerners": 100, "southerners": 37}),
    Task("credit", GMW, {"applicants": 8}),
    Task("hospital", GMW, {"patients": 8}),
    Task("rings", GMW, {"n": 7}),
    Task("groups", [], {"n": 11}),
    Task("groups", GMW, {"n": 6}),
    Task("ranks", [], {"n": 5, "m": 6}),
    Task("ranks", TRIO2, {"n": 5, "m": 6}),
    Task("ranks", GMW, {"n": 5, "m": 6}),
    Task("millionaires", ["--network", "wan"], {}),
    Task("pay_gap", [], {"people": 12}),
    Task("credit", [], {"applicants": 8}),
    Task("hospital", [], {"patients": 8}),
    Task("hospital", TRIO2, {"patients": 8}),
]
"""From the quickest on; the last three are long."""

MORE = [
    Task("age_pyramid", [*PROVED, "ada,cyd,dan"], {"northerners": 7, "southerners": 3}),
    Task("ranks", [*PROVED, "ada"], {"n": 5, "m": 6}),
    Task("groups", [*PROVED, "ada"], {"n": 6}),
    Task("totals", [*PROVED, "ada"], {"n": 9}),
    Task("matrices", [*PROVED, "ada,cyd,dan"], {}),
    Task("orders", [*PROVED, "ada,cyd,dan"], {"n": 70}),
    Task("largest", [*PROVED, "ada"], {"n": 7}),
    Task("millionaires", GMW, {}),
    Task("medication", GMW, {"days": 20}),
    Task("credit", MIXED, {"applicants": 8}),
    Task("medication", MIXED, {"days": 20}),
    Task("age_pyramid", MIXED, {"northerners": 100, "southerners": 37}),
    Task("rings", MIXED, {"n": 7}),
    Task("groups", MIXED, {"n": 6}),
    Task("ranks", MIXED, {"n": 5, "m": 6}),
    Task("pay_gap", [*MIXED, "--network", "wan"], {"people": 9}),
    Task("credit", [*MIXED, "--network", "wan"], {"applicants": 8}),
    Task("labels", MIXED, {"n": 7}),
    Task("millionaires", [*AUTH, "--network", "wan"], {}),
    Task("age_pyramid", AUTH, {"northerners": 9, "southerners": 5}),
    Task("labels", [*MIXED, "--network", "20ms/10Gbps"], {"n": 40}),
    Task("blocks", MIXED, {"n": 2}),
    Task("blocks", GMW, {"n": 1}),
    # A refill of more than one portion.
    Task("hospital", GMW, {"patients": 2000}),
]
"""Not in the first turn, and so not in CI."""


def turns(rng: random.Random, only: str) -> Iterator[tuple[Task, int | None]]:
    """Jobs, each with the number of the party that is `second/`, or none where all of them are."""
    with gzip.open(JOBS) as file:
        every = [job for job in json.load(file)["jobs"] if only in job["name"]]
    jobs = [job for job in every if is_certain(job)]
    tasks, more = ([task for task in of if only in str(task)] for of in (TASKS, MORE))
    while True:
        for task in tasks[:2]:
            yield task, None
        for turn in range(3):
            for i in rng.sample(range(len(tasks)), len(tasks)):
                yield tasks[i], i + turn
            for i in rng.sample(range(len(jobs)), min(len(jobs), 7)):
                yield task_of(jobs[i], rng), i + turn
            tasks, more = tasks + more, []
            if mixed := [task for task in tasks if MIXED[1] in task.words]:
                yield rng.choice(mixed), None


def ran(task: Task, who: int | None, seed: str) -> str | None:
    """Runs one turn; prints what came of it, and returns it if it failed."""
    folder, started = Path(tempfile.mkdtemp(prefix="second-")), time.monotonic()
    try:
        run = Run(folder, task, random.Random(seed))
        seconds = run.parties if who is None else [run.parties[who % len(run.parties)]]
        run.play(seconds)
    except Failed as failure:
        print(f"FAILED  {task}, party {who}, run {seed} in {folder}: {failure}", flush=True)
        return str(failure)
    shutil.rmtree(folder)
    took = time.monotonic() - started
    print(f"ok  {took:5.1f} s  {task}, second/ as {', '.join(seconds)}", flush=True)
    return None


def main() -> int:
    """Runs as many turns as asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="runs at the same time")
    parser.add_argument("--only", default="", help="jobs with these words in them")
    options = parser.parse_args()
    rng, began = random.Random(options.seed), time.monotonic()
    chosen = [*islice(turns(rng, options.only), options.runs)]
    # Parties wait for each other, and a run that is prepared needs one core.
    with ThreadPoolExecutor(options.jobs) as pool:
        seeds = [f"{options.seed} {number}" for number in range(options.runs)]
        failed = sum(map(bool, pool.map(ran, *zip(*chosen, strict=True), seeds)))
    took = time.monotonic() - began
    print(f"{options.runs} runs with second/, {failed} of them failed, in {took:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
