"""Authenticated garbling between two parties of whom either may deviate, as users get it."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sealane as sl
from conftest import SEALANE, configure, ended, sealane, started

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@sl.program
def richer(
    a: sl.Private[sl.u64, "alice"], b: sl.Private[sl.u64, "bob"]
) -> sl.Revealed[sl.boolean, "alice", "bob"]:
    return a > b


def test_malicious_security_takes_it_where_two_compute() -> None:
    plan = richer.plan(security="malicious")
    assert plan.hash == richer.plan(protocol="auth").hash != richer.hash
    assert plan.hash == richer.plan(protocol="auto", security="malicious").hash
    report = richer.simulate(7, 5, security="malicious", progress=False)
    assert report.value and report.as_planned
    assert report.plan.hash == plan.hash
    # Three compute under `trio`, with its proofs.
    three: dict[str, Any] = {"helpers": ["ada"], "security": "malicious"}
    assert richer.plan(**three).hash == richer.plan(protocol="trio", **three).hash


def test_a_plan_states_parts_and_batches() -> None:
    plan = richer.plan(protocol="auth")
    text, record = str(plan), json.loads(plan.json)
    division = record["division"]
    assert "all other computing parties, deviating; they can stop the run" in text
    assert "114 bits, 40 statistical" in text
    sent = dict.fromkeys(plan.payload_bytes, 0)
    for part in division["parts"]:
        for party, count in part["payload_bytes"].items():
            sent[party] += count
    assert sent == plan.payload_bytes
    (batch,) = division["batches"]
    made = batch["batches"] * batch["products"]
    assert made == plan.ands + division["left_over"]
    assert f"in buckets of {batch['bucket']}" in text
    # An AND costs the same whoever knows its operands, and products are circuits.
    assert "also where a party knows an operand" in text
    assert "circuits" in text


def test_who_does_not_compute_is_refused_by_name() -> None:
    @sl.program
    def higher(
        a: sl.Private[sl.u8, "ann"], b: sl.Private[sl.u8, "ben"]
    ) -> sl.Revealed[sl.boolean, "bank"]:
        return a > b

    with pytest.raises(sl.MisuseError, match="computes with 2 parties") as raised:
        higher.plan(protocol="auth")
    assert "(ann, ben, bank)" in str(raised.value)
    assert "`--protocol trio-malicious`" in raised.value.hint


RUNS: dict[str, dict[str, int]] = {"millionaires": {}, "hospital": {"patients": 569}}


@pytest.mark.parametrize("example", RUNS)
def test_two_processes_compute_it(example: str, tmp_path: Path) -> None:
    """As on two machines: each side has its own table and approves the hash that it planned."""
    folder = EXAMPLES / example
    program, asked = folder / "program.py", ("--security", "malicious")
    rows = [f"--rows={name}={count}" for name, count in RUNS[example].items()]
    plan = json.loads(sealane("plan", program, "--json", *asked, *rows).stdout)
    assert plan["protocol"] == "auth"
    parties = plan["parties"]
    config = configure(tmp_path, parties)
    start = time.perf_counter()
    words = [str(program), "--json", *asked, "--yes", plan["job"], "--no-record"]
    words += ["--config", str(config)]
    sides = {
        party: started([*SEALANE, "run", *words, "--as", party, f"--input={folder / party}.csv"])
        for party in parties
    }
    reports = {party: json.loads(ended(side, 0).stdout) for party, side in sides.items()}
    took = time.perf_counter() - start
    clear = json.loads(
        sealane(
            *("simulate", program, "--clear", "--json"),
            *(f"--input={party}={folder / party}.csv" for party in parties),
        ).stdout
    )
    for party, report in reports.items():
        assert report["as_planned"], party
        assert report["rounds"] == plan["rounds"]
        assert report["payload_bytes"] == plan["payload_bytes"]
        for name, result in report["results"].items():
            np.testing.assert_array_equal(result["values"], clear["results"][name]["values"])
    print(f"{example}: {took:.2f} s with both interpreters, {reports[parties[0]]['seconds']:.3f} s")
