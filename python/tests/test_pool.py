"""`sealane pool`, and what `doctor` says of pools."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from typing import Any

import pages
from conftest import Side, ended, free_port, swap

BATCH = 1024


def both(sides: tuple[Side, Side], *arguments: str) -> list[Any]:
    """Runs a command at both parties at once; what each prints as JSON."""
    under_way = [side.command(*arguments, "--json") for side in sides]
    return [json.loads(ended(command).stdout) for command in under_way]


def fill(sides: tuple[Side, Side], transfers: int) -> list[Any]:
    alice, bob = sides
    words = ("pool", "fill", "--transfers", str(transfers), "--json", "--with")
    under_way = [alice.command(*words, "bob"), bob.command(*words, "alice")]
    return [json.loads(ended(command).stdout) for command in under_way]


def counts(found: Any, what: str = "left") -> dict[str, int]:
    """Counts of the only pool that was found, by the party that evaluates."""
    (pool,) = found["pools"]
    return {name: counted[what] for name, counted in pool["evaluators"].items()}


def test_doctor_says_what_pools_cover(sides: tuple[Side, Side]) -> None:
    swap(*sides)
    # A pool that never was is no line.
    assert [found["pools"] for found in both(sides, "doctor", "--wait", "60")] == [[], []]
    for found in fill(sides, BATCH + 1):
        assert counts(found) == {"alice": 2 * BATCH, "bob": 2 * BATCH}
    for found in both(sides, "doctor", "--wait", "60"):
        assert found["well"]
        assert counts(found) == {"alice": 2 * BATCH, "bob": 2 * BATCH}
    under_way = [side.command("doctor", "--wait", "60") for side in sides]
    texts = [ended(command).stdout for command in under_way]
    assert "with bob: 2,048 transfers that alice receives\n" in texts[0]
    assert "with alice: 2,048 transfers that alice receives\n" in texts[1]


def test_a_damaged_pool_is_told_by_doctor_and_dropped(sides: tuple[Side, Side]) -> None:
    alice, bob = sides
    swap(alice, bob)
    fill(sides, 1)
    (state,) = (alice.folder / "pools").glob("*/state")
    state.write_bytes(b"damaged")
    under_way = [side.command("doctor", "--wait", "60") for side in sides]
    done, well = ended(under_way[0], 5), ended(under_way[1])
    assert "with bob: error[pool-unusable]" in done.stdout
    assert f"the pool at pools/{state.parent.name}/state: " in done.stdout.replace("\n", " ")
    assert "1 pool cannot be used" in done.stderr
    assert "1,024 transfers that bob receives" in well.stdout
    assert "error[pool-unusable]" in alice.sealane("pool", "show", status=2).stderr
    # Dropping it needs no readable state.
    dropped = json.loads(alice.sealane("pool", "drop", "--with", "bob", "--json").stdout)
    assert counts(dropped) == {"alice": 0, "bob": 0}
    assert [file.name for file in state.parent.iterdir() if not file.name.endswith("lock")] == []


def test_a_pool_that_one_party_drops_is_forgotten_by_the_other(sides: tuple[Side, Side]) -> None:
    alice, bob = sides
    swap(alice, bob)
    # There is nothing to drop, which is no error and leaves no folder.
    alice.sealane("pool", "drop", "--with", "bob")
    assert not (alice.folder / "pools").exists()
    assert "`eve`" in alice.sealane("pool", "drop", "--with", "eve", status=2).stderr
    fill(sides, 1)
    alice.sealane("pool", "drop", "--with", "bob")
    shown = [json.loads(side.sealane("pool", "show", "--json").stdout) for side in sides]
    assert [counts(found) for found in shown] == [
        {"alice": 0, "bob": 0},
        {"alice": BATCH, "bob": BATCH},
    ]
    filled = fill(sides, 1)
    assert [counts(found) for found in filled] == [{"alice": BATCH, "bob": BATCH}] * 2
    assert [counts(found, "lost")["alice"] for found in filled] == [0, BATCH]


def test_a_pool_that_is_kept_needs_a_port_of_its_own(sides: tuple[Side, Side]) -> None:
    alice, bob = sides
    swap(alice, bob)
    words = ("pool", "fill", "--with", "bob", "--keep", "1")
    refused = alice.sealane(*words, status=2).stderr
    # The one with the smaller key listens.
    pages.shows("pool-port", refused.replace("alice", "lab").replace("bob", "lab"))


def test_a_pool_is_kept_filled_until_a_signal(sides: tuple[Side, Side]) -> None:
    alice, bob = sides
    swap(alice, bob)
    ports = {side.name: free_port() for side in sides}
    for side in sides:
        text = side.config().read_text()
        for name, port in ports.items():
            table = f"[parties.{name}]\n"
            assert table in text
            text = text.replace(table, f"{table}pool_port = {port}\n")
        side.config().write_text(text)
    words = ("pool", "fill", "--transfers", str(BATCH), "--keep", str(2 * BATCH), "--json")
    too_small = ("pool", "fill", "--transfers", "1", "--keep", "40000", "--with", "bob")
    assert "error[pool-full]" in alice.sealane(*too_small, status=2).stderr
    # The one with the larger key dials, and so notices at once that it lacks something.
    stays, dials = sorted(sides, key=lambda side: side.card[side.card.index("ed25519:") :])

    def keep(side: Side) -> subprocess.Popen[str]:
        return side.command(*words, "--with", (stays if side is dials else dials).name)

    staying, dialling = keep(stays), keep(dials)

    def wait_for(count: int) -> None:
        deadline = time.monotonic() + 60
        while True:
            shown = [json.loads(side.sealane("pool", "show", "--json").stdout) for side in sides]
            if [counts(found) for found in shown] == [{"alice": count, "bob": count}] * 2:
                return
            assert time.monotonic() < deadline, shown
            time.sleep(0.1)

    wait_for(2 * BATCH)
    # The pool is free for others meanwhile: one of the two drops it, and restarts.
    dialling.send_signal(signal.SIGTERM)
    done = ended(dialling)
    assert counts(json.loads(done.stdout)) == {"alice": 2 * BATCH, "bob": 2 * BATCH}
    lines = done.stderr.splitlines()
    assert f"keeps 2,048 transfers with {stays.name}" in lines[0]
    assert any(f"met {stays.name} and made 2,048: with " in line for line in lines)
    assert "error" not in done.stderr
    dials.sealane("pool", "drop", "--with", stays.name)
    dialling = keep(dials)
    wait_for(2 * BATCH)
    for process in [staying, dialling]:
        process.send_signal(signal.SIGTERM)
        ended(process)
