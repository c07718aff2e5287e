"""`sealane pool`, and what `doctor` says of pools."""

from __future__ import annotations

import json
from typing import Any

from conftest import Side, ended, swap

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
    assert "with bob: 2,048 bits of inputs of alice\n" in texts[0]
    assert "with alice: 2,048 bits of inputs of alice\n" in texts[1]


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
    assert "1,024 bits of inputs of bob" in well.stdout
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
