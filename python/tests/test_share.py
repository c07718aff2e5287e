"""`sl.share`, which asks for the shares of an operation, and what it leaves as it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import conftest
import sealane as sl


@sl.program
def wins(
    x: sl.Private[sl.u16, "alice", "n <= 50"], y: sl.Private[sl.u16, "bob", "n"]
) -> tuple[sl.Revealed[sl.u32, "bob"], sl.Revealed[sl.u16, "bob"]]:
    larger = sl.share(x > y, "yao")
    most = sl.share(sl.where(larger, x, y), "xor")
    return sl.share(larger.sum(dtype=sl.u32), "additive"), (most & 7).sum(dtype=sl.u16)


def test_results_are_those_without_it() -> None:
    rng = np.random.default_rng(3)
    for rows in (0, 1, 9):
        x, y = (rng.integers(0, 1 << 16, rows).astype(np.uint16) for _ in range(2))
        want = (x > y).sum(), (np.maximum(x, y) & 7).sum()
        for protocol in ("clear", "mixed"):
            count, low = wins.simulate(x, y, protocol=protocol).results.values()
            assert (count, low) == want, (rows, protocol)


def test_a_plan_has_what_is_asked_for_or_is_refused() -> None:
    wins.plan(protocol="mixed")
    with pytest.raises(sl.ProgramError, match="`gmw` does not compute `gt` on labels"):
        wins.plan(protocol="gmw")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda x, y, z: sl.share(x, "yao"), "what `sl.share.x, ....` is around is not on shares"),
        (lambda x, y, z: sl.share(x & 1, "yao"), "is around is not on shares"),
        (lambda x, y, z: sl.share(x > y, "garbled"), "there is no sharing `garbled`"),
        (lambda x, y, z: sl.share(3, "yao"), "`sl.share`"),
        (lambda x, y, z: sl.share(z, "yao"), "`sl.share`"),
        (lambda x, y, z: sl.map(lambda a: sl.share(a > y[0], "xor"), x), "a body cannot say"),
    ],
)
def test_what_has_no_shares_is_refused(make: Any, said: str) -> None:
    @sl.program
    def f(
        x: sl.Private[sl.u16, "alice", 4],
        y: sl.Private[sl.u16, "bob", 4],
        z: sl.Private[sl.nullable(sl.u16), "bob", 4],
    ) -> sl.Revealed[sl.boolean, "bob"]:
        make(x, y, z)
        return x[0] > y[0]

    with pytest.raises(sl.ProgramError, match=said):
        f.check()


def test_the_place_of_an_extreme_row_is_within_the_rows() -> None:
    """A table of as many entries as there are rows at most can be looked up at it."""

    @sl.program
    def f(
        x: sl.Private[sl.u16, "alice", "n <= 50"], y: sl.Private[sl.u16, "bob", "n"]
    ) -> sl.Revealed[sl.u8, "bob"]:
        return sl.lookup(np.arange(50, dtype=np.uint8)[::-1], sl.argmax(x ^ y))

    x, y = np.arange(50, dtype=np.uint16), np.zeros(50, np.uint16)
    assert f(x, y) == 0


def test_what_is_taken_without_it_may_be_asked_for() -> None:
    """Every form of the plan that has the sharing stays: here the products are gates."""

    def total(ask: Any) -> sl.Program[..., Any]:
        @sl.program
        def f(
            a: sl.Private[sl.u16, "alice", "n <= 200"], b: sl.Private[sl.u16, "bob", "n"]
        ) -> sl.Revealed[sl.u64, "bob"]:
            hit = ask(a == b, "comparison")
            return ask((sl.where(hit, a, 0).astype(sl.u64) * b).sum(dtype=sl.u64), "sum")

        return f

    def asks(wanted: str, sharing: str) -> sl.Program[..., Any]:
        return total(lambda value, what: sl.share(value, sharing) if what == wanted else value)

    def cost(program: sl.Program[..., Any]) -> tuple[dict[str, int], int]:
        plan = program.plan(protocol="mixed", rows={"n": 200})
        return plan.payload_bytes, plan.rounds

    best = cost(total(lambda value, what: value))
    assert cost(asks("comparison", "yao")) == best
    assert cost(asks("sum", "yao")) == best
    assert cost(asks("sum", "additive")) != best
    a, b = np.array([5, 7, 9], np.uint16), np.array([5, 8, 9], np.uint16)
    for sharing in ("yao", "xor", "additive"):
        assert asks("sum", sharing).simulate(a, b, protocol="mixed").results == {"result": 106}


def test_a_step_of_several_lines_stands_under_each_of_them(tmp_path: Path) -> None:
    program = """\
import sealane as sl


@sl.program
def f(
    x: sl.Private[sl.u16, "alice", "n <= 50"], y: sl.Private[sl.u16, "bob", "n"]
) -> sl.Revealed[sl.boolean, "bob"]:
    larger = x > y
    even = y & 1 == 0
    return larger & even
"""
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    plan = ["plan", str(tmp_path / "program.py"), "--protocol", "mixed", "--json", "--why"]
    steps = [json.loads(conftest.sealane(*plan, line).stdout)["steps"] for line in ("8", "10")]
    assert steps[0] == steps[1] != []
    refused = conftest.sealane(*plan, "7", status=2)
    assert "ask for one of the lines 8, " in refused.stderr
