"""Declared magnitudes of floating point, and the exact sums that take fewer gates for them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import sealane as sl
from conftest import PROTOCOLS, planned, refusal, sealane, traced

MONEY = sl.magnitude(0.01, 1e6)


def program(*markers: Any, kind: Any = sl.f32) -> Any:
    """Sums in which numbers of both parties meet."""

    def f(x: Any, y: Any) -> Any:
        both = sl.where(y > 0, x, 0.0)
        sums = sl.fsum(both), sl.fmean(-x + 0 * y), sl.fdot(x, y), both.sum(), abs(x).max()
        return sl.stack([*sums, sl.concatenate([both[:2], y[2:]]).sum()])

    return traced(f, (kind, "bob"), x=(kind, "alice", 6, *markers), y=(kind, "bob", 6, *markers))


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("kind", [sl.f32, sl.f64])
def test_results_are_those_without_magnitudes(protocol: str, kind: Any) -> None:
    x = [0.01, -1e6, 0.0, 123.25, -0.02, 999_999.0]
    y = [1.0, -2.5, -0.0, 0.03, 1e6, -0.01]
    narrow, wide = program(MONEY, kind=kind), program(kind=kind)
    expected = wide.simulate(x, y, clear=True).value
    np.testing.assert_array_equal(planned(narrow, x, y, protocol=protocol).value, expected)


@pytest.mark.parametrize(
    ("kind", "markers", "most"),
    [
        # A sum of any f64 has 2,098 places, and of f32 277; here they are 79, 718 and 50.
        (sl.f64, [sl.magnitude(0.01, 1e6)], 0.12),
        (sl.f64, [sl.magnitude(1e-100, 1e100)], 0.52),
        (sl.f32, [sl.magnitude(0.01, 1e6)], 0.4),
    ],
)
def test_gates_of_a_sum_are_in_proportion(kind: Any, markers: list[Any], most: float) -> None:
    def ands(*markers: Any) -> int:
        inputs = {"x": (kind, "alice", 200, *markers), "y": (sl.boolean, "bob", 200)}
        f = traced(lambda x, y: sl.fsum(sl.where(y, x, 0.0)), (kind, "bob"), **inputs)
        return f.plan().ands

    assert ands(*markers) < most * ands()


def test_magnitudes_of_owners_who_may_deviate_are_refused_with_the_plan() -> None:
    three: dict[str, Any] = {"protocol": "trio", "helpers": ["una"], "security": "malicious"}
    for asked in (three, {"protocol": "auth"}):
        with pytest.raises(sl.ProgramError, match="nothing holds `x` to its magnitudes") as raised:
            program(MONEY).plan(**asked)
        assert raised.value.code == "signature"
        assert program().plan(**asked).ands > 0


@pytest.mark.parametrize("value", [0.009, -1.1e6, math.inf, math.nan, 1e-30])
def test_other_data_are_refused_at_their_owner(value: float) -> None:
    f = program(MONEY)
    x, y = [1.0] * 6, [0.0, -0.01, 1e6, 0.01, 2.0, 3.0]
    for given in ([[*x[:-1], value], y], [x, [*y[:-1], value]]):
        for data in (given, [np.array(each, np.float32) for each in given]):
            said = refusal(lambda data=data: f(*data), sl.DataError)
            assert "[data-range]" in said and "element 5" in said
            assert "neither 0 nor of a magnitude from 0.01 to 1000000.0" in said


def test_what_arithmetic_gives_may_be_any_number() -> None:
    f = traced(
        lambda x, y: sl.stack([(x * x * x * y).sum(), (x / y / y / y).sum()]),
        (sl.f32, "bob"),
        **{"x": (sl.f32, "alice", 2, MONEY), "y": (sl.f32, "bob", 2, MONEY)},
    )
    x, y = np.array([1e6, 0.01], np.float32), np.array([1e6, 0.01], np.float32)
    found = f(x, y)
    with np.errstate(over="ignore"):
        each = [x * x * x * y, x / y / y / y]
    sums = [math.fsum(map(float, row)) for row in each]
    np.testing.assert_array_equal(found, np.array(sums, np.float32))


@pytest.mark.parametrize(
    ("kind", "marker", "message"),
    [
        (sl.f32, sl.magnitude(1.0, 0.5), "the magnitudes of the input x are none"),
        (sl.f32, sl.magnitude(-1.0, 0.5), "-1.0, is no magnitude of f32"),
        (sl.f32, sl.magnitude(1, 1e39), "1e39, is no magnitude of f32"),
        (sl.f64, sl.magnitude(math.nan, 1), "NaN, is no magnitude of f64"),
        (sl.u8, sl.magnitude(1, 2), "x of u8 is declared with magnitudes"),
        (sl.date, sl.magnitude(1, 2), "is declared with magnitudes"),
        (sl.f32, sl.magnitude("1", 2), "`x` has a marker that means nothing here"),
        (sl.f32, sl.between(1, 2), "x is declared with a range, and f32 has none"),
    ],
)
def test_declarations_that_mean_nothing_are_refused(kind: Any, marker: Any, message: str) -> None:
    f = traced(lambda x: x == x, (sl.boolean, "alice"), x=(kind, "alice", marker))
    assert message in refusal(f.check)


def test_data_of_files_are_refused_too(tmp_path: Any) -> None:
    file = tmp_path / "x.csv"
    file.write_text("x\n1.5\n0.001\n")
    inputs = {"x": (sl.f64, "alice", "n <= 9", MONEY), "y": (sl.f64, "bob")}
    f = traced(lambda x, y: x.sum() * y, (sl.f64, "bob"), **inputs)
    with pytest.raises(sl.DataError, match=r"`x` is 0\.001"):
        f(file, 1.0)
    assert "in magnitudes 0.01..1000000.0" in f.text
    written = tmp_path / "f.sealane"
    written.write_text(f.text)
    assert "x: 0, or 0.01 to 1000000.0 in magnitude" in sealane("check", written).stdout
