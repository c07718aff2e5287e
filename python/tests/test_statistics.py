"""Statistics of floating point against NumPy and exact fractions."""

from __future__ import annotations

import math
import statistics
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sealane as sl
from conftest import PROTOCOLS, learns, traced
from test_float import KINDS, QUICK, numbers, run, same, sl_of


def exactly(x: Any) -> list[Fraction]:
    return [Fraction(float(number)) for number in np.ravel(x)]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_means_are_exact_and_rounded_once(kind: str, protocol: str) -> None:
    element, native, _ = KINDS[kind]
    a = np.array([1e16, 1.0, -1e16, 0.1, 5e-324, -3.5, 7.25], native)
    b = np.array([3.0, 0.1, 1e-30, -0.0, 2.5, 1.0, 8.0], native)

    def f(a: Any, b: Any) -> Any:
        return sl.stack([a.mean(), sl.fmean(b)])

    found = run(f, element, (element, a), (element, b), protocol=protocol, rows=7)
    means = [sum(exactly(x), Fraction(0)) / 7 for x in (a, b)]
    # No mean here is near a tie of `f32` in `f64`.
    assert found.tolist() == [native(float(mean)) for mean in means]


@QUICK
@given(data=st.data())
def test_means_of_every_kind(data: st.DataObject) -> None:
    x = data.draw(numbers("f64"))
    found = run(lambda a: a.mean(), sl.f64, (sl.f64, x))
    if np.isfinite(x).all():
        exact = sum(exactly(x), Fraction(0)) / len(x)
        same(found + 0.0, np.float64(float(exact)) + 0.0)
    else:
        with np.errstate(invalid="ignore"):
            same(found, np.float64(x[~np.isfinite(x)].sum()))
    whole = data.draw(st.lists(st.integers(-(2**31), 2**31 - 1), min_size=4, max_size=4))
    found = run(lambda a: sl.mean(a), sl.f64, (sl.i32, np.array(whole, np.int32)))
    same(found, np.float64(float(Fraction(sum(whole), 4))))
    ratio = np.array(whole, np.int32) / 2**16
    found = run(lambda a: sl.mean(a), sl.f64, (sl.fixed(16, 16), ratio))
    same(found, np.float64(float(Fraction(sum(whole), 2**18))))


def test_statistics_of_rows_are_those_of_numpy() -> None:
    rng = np.random.default_rng(17)
    x, y = rng.normal(1000, 3, 40), rng.normal(5, 2, 40)
    k = rng.integers(0, 100, 40)

    def statistics(x: Any, k: Any, y: Any) -> Any:
        both = [x.var(), x.std(ddof=1), sl.cov(x, y), sl.corr(x, y), sl.mean(k), sl.var(k)]
        return sl.stack([*both, sl.fsum(k), sl.fdot(x, y)]), sl.count(x)

    inputs = {
        "x": (sl.f64, "alice", "n <= 50"),
        "k": (sl.u8, "alice", "n"),
        "y": (sl.f64, "bob", "n"),
    }
    found, counted = traced(statistics, learns("alice", sl.f64, sl.u8), **inputs)(x, k, y)
    expected = [
        x.var(),
        x.std(ddof=1),
        np.cov(x, y)[0, 1],
        np.corrcoef(x, y)[0, 1],
        k.mean(),
        k.var(),
        k.sum(),
        math.fsum(a * b for a, b in zip(map(float, x), map(float, y), strict=True)),
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert found[4] == k.mean()
    assert counted == 40


def test_statistics_along_an_axis() -> None:
    x = np.array([[1.0, 5.0, 2.5], [4.0, 0.5, 8.0]], np.float32)

    def f(x: Any, y: Any) -> Any:
        whole = sl.stack([x.mean(), x.std(), sl.count(x).astype(sl.f32) * y])
        return x.mean(axis=0) + y, x.var(axis=1), whole

    inputs = {"x": (sl.f32, "alice", 2, 3), "y": (sl.f32, "bob")}
    rows, columns, whole = traced(f, learns("bob", sl.f32, sl.f32, sl.f32), **inputs)(x, 1.0)
    np.testing.assert_array_equal(rows, x.mean(axis=0) + 1)
    np.testing.assert_allclose(columns, x.var(axis=1), rtol=1e-6)
    np.testing.assert_allclose(whole, [x.mean(), x.std(), 6], rtol=1e-6)


@pytest.mark.parametrize(("kind", "off"), [("f32", 2e-6), ("f64", 1e-14)])
def test_the_normal_distribution(kind: str, off: float) -> None:
    element, native, _ = KINDS[kind]
    normal = statistics.NormalDist()
    p = np.array([1e-30, 1e-9, 0.001, 0.07, 0.076, 0.3, 0.49, 0.75, 0.93, 0.999, 1 - 1e-6], native)
    known = [normal.inv_cdf(float(each)) for each in p]
    found = sl_of(lambda a: sl.math.ndtri(a), element, p)
    np.testing.assert_allclose(found, known, rtol=off)
    ends = sl_of(lambda a: sl.math.ndtri(a), element, np.array([0, 1, -0.5, 1.5, 0.5, np.nan]))
    np.testing.assert_array_equal(ends, [-np.inf, np.inf, np.nan, np.nan, 0, np.nan])
    x = np.array([-8.0, -2.5, 0.0, 0.3, 6.0], native)
    chances = [math.erfc(-each / math.sqrt(2)) / 2 for each in x.astype(float)]
    np.testing.assert_allclose(sl_of(lambda a: sl.math.ndtr(a), element, x), chances, rtol=5 * off)


def test_sums_in_another_type_are_rounded_once() -> None:
    x = np.array([1 + 2**-24, 1 + 2**-24 + 2**-52, 1 + 2**-24])
    assert run(lambda a: sl.mean(a, dtype=sl.f32), sl.f32, (sl.f64, np.append(x, x[1]))) > 1
    products = np.array([1 + 2**-24, 2**-40, 0, 0]), np.array([1, 2**-40, 1, 1])
    given = [(sl.f64, each) for each in products]
    assert run(lambda a, b: sl.dot(a, b, dtype=sl.f32), sl.f32, *given) > 1
    assert run(lambda a, b: a.sum(dtype=sl.f32), sl.f32, *given) > 1
    # Wider than the numbers: nothing is lost, and nothing overflows.
    huge = np.array([3e38, 3e38, 3e38, 1], np.float32)
    total = float(huge[0]) * 3 + 1
    assert run(lambda a: a.sum(dtype=sl.f64), sl.f64, (sl.f32, huge)) == total
    squares = run(lambda a, b: sl.dot(a, b, dtype=sl.f64), sl.f64, *[(sl.f32, huge)] * 2)
    np.testing.assert_allclose(squares, 3 * float(huge[0]) ** 2, rtol=1e-15)


@pytest.mark.parametrize("scale", [1.0, 2e19, 1e-23])
def test_correlations_do_not_overflow(scale: float) -> None:
    x, y = np.array([1, 2, 3, 4]) * scale, np.array([1.0, 2, 3, 5])
    found = run(lambda a, b: sl.corr(a, b), sl.f32, (sl.f32, x), (sl.f32, y))
    np.testing.assert_allclose(found, np.corrcoef([1, 2, 3, 4], y)[0, 1], rtol=1e-6)
    given = (sl.f64, x * scale**6), (sl.f64, y)
    found = run(lambda a, b: sl.corr(a, b), sl.f64, *given)
    np.testing.assert_allclose(found, np.corrcoef([1, 2, 3, 4], y)[0, 1], rtol=1e-14)
    assert np.isnan(run(lambda a, b: sl.corr(a, b), sl.f32, (sl.f32, np.ones(4)), (sl.f32, y)))


def test_variances_of_halves_do_not_overflow() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(0, 10, 1000).astype(np.float16)
    f = traced(
        lambda x, y: sl.stack([x.var(), x.std(), sl.cov(x, x), sl.var(x, ddof=2000) * 0]) + y,
        (sl.f16, "bob"),
        **{"x": (sl.f16, "alice", "n <= 1000"), "y": (sl.f16, "bob")},
    )
    found = f(x, 0.0)
    wide = x.astype(np.float64)
    np.testing.assert_allclose(found[:3], [wide.var(), wide.std(), np.cov(wide)], rtol=2e-3)
    assert np.isnan(found[3])


def test_axes_and_sums_that_are_refused_and_not() -> None:
    x = np.ones((2, 3), np.float32)
    inputs = {"x": (sl.f32, "alice", 2, 3), "y": (sl.u64, "bob", 2)}
    learnt = learns("bob", sl.f32, sl.f64)
    f = traced(lambda x, y: (sl.math.softmax(x, axis=0), sl.fsum(y >> 1)), learnt, **inputs)
    with pytest.raises(sl.ProgramError, match="no axis 5"):
        run(lambda a: sl.math.softmax(a, axis=5), sl.f32, (sl.f32, np.ones(4)))
    shares, total = f(x, [2**63, 3])
    np.testing.assert_array_equal(shares, np.full((2, 3), 0.5, np.float32))
    assert total == 2.0**62 + 1
