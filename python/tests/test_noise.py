"""Noise that nobody knows: the exact distribution of each sampler, its circuit against plain
Python, and draws of real runs.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sealane as sl
from conftest import PROTOCOLS, planned, refusal, traced
from sealane import _noise
from test_protect import added, counted, of_two

FARTHEST = Fraction(1, 2**40)


def laplace_probabilities(sampler: _noise.Laplace) -> dict[int, Fraction]:
    """Probabilities of a sampler, from its thresholds alone."""
    whole = 1 << sampler.precision
    sizes = {0: Fraction(1)}
    for at, threshold in enumerate(sampler.bits):
        one = Fraction(threshold, whole)
        zeros = {size: p * (1 - one) for size, p in sizes.items()}
        sizes = zeros | {size + (1 << at): p * one for size, p in sizes.items()}
    zero = Fraction(sampler.zero, whole)
    found = {0: zero}
    for size, p in sizes.items():
        for value in (size + 1, -size - 1):
            found[value] = p * (1 - zero) / 2
    return found


def gauss_probabilities(sampler: _noise.Gauss) -> dict[int, Fraction]:
    ends = [0, *sampler.table, 1 << sampler.precision]
    sizes = [Fraction(b - a, 1 << sampler.precision) for a, b in itertools.pairwise(ends)]
    return {0: sizes[0]} | {
        value: p / 2 for size, p in enumerate(sizes) if size for value in (size, -size)
    }


def distance(found: dict[int, Fraction], weight: Any, reach: int) -> Fraction:
    """Statistical distance from the distribution with these weights, which are negligible beyond
    `reach`.
    """
    with localcontext(prec=80):
        weights = {x: weight(x) for x in range(-reach, reach + 1)}
        total = sum(weights.values())
        ideal = {x: Fraction(w / total) for x, w in weights.items()}
    assert sum(found.values()) == 1
    return (
        sum(abs(found.get(x, Fraction(0)) - ideal.get(x, Fraction(0))) for x in {*found, *ideal})
        / 2
    )


@pytest.mark.parametrize("rate", ["0.05", "1/2", "1", "3", "7/3", "40"])
def test_laplace_is_as_near_to_the_ideal_distribution_as_it_says(rate: str) -> None:
    exact = Fraction(rate)
    sampler = _noise.laplace(exact)
    assert sampler is not None
    per = Decimal(exact.numerator) / exact.denominator
    reach = int(80 / exact) + 2
    off = distance(laplace_probabilities(sampler), lambda x: (-per * abs(x)).exp(), reach)
    assert off <= sampler.distance <= FARTHEST


@pytest.mark.parametrize("sigma", ["0.3", "1", "5.35", "40"])
def test_gauss_is_as_near_to_the_ideal_distribution_as_it_says(sigma: str) -> None:
    variance = Fraction(sigma) ** 2
    sampler = _noise.gauss(variance)
    assert sampler is not None
    twice = 2 * Decimal(variance.numerator) / variance.denominator
    reach = int(15 * Fraction(sigma)) + 4
    off = distance(gauss_probabilities(sampler), lambda x: (-(x * x) / twice).exp(), reach)
    assert off <= sampler.distance <= FARTHEST


def test_a_wrong_threshold_shows_as_a_distance() -> None:
    """The comparison above would notice a sampler that is off in a single place."""
    sampler = _noise.laplace(Fraction(1, 2))
    assert sampler is not None
    worse = sampler._replace(bits=(sampler.bits[0] + 64, *sampler.bits[1:]))
    off = distance(laplace_probabilities(worse), lambda x: (-Decimal(abs(x)) / 2).exp(), 170)
    assert off > FARTHEST


def laplace_of(sampler: _noise.Laplace, drawn: list[int], sign: int) -> int:
    """The noise of uniform numbers, in plain Python."""
    ones = [number < end for number, end in zip(drawn, [*sampler.bits, sampler.zero], strict=True)]
    size = 1 + sum(1 << at for at, one in enumerate(ones[:-1]) if one)
    return 0 if ones[-1] else -size if sign else size


def noise_of(sampler: Any, count: int, *width: int) -> sl.Program[..., Any]:
    """The noise of uniform numbers and signs."""
    drawn = getattr(sl, f"u{sampler.precision}"), "alice", count, *width
    return traced(sampler.noise, (sl.i64, "bob"), drawn=drawn, sign=(sl.u1, "bob", count))


def test_the_circuit_of_laplace_is_that_of_its_thresholds() -> None:
    sampler = _noise.laplace(Fraction(1, 5))
    assert sampler is not None
    width, count = len(sampler.bits) + 1, 40
    noise = noise_of(sampler, count, width)
    draw = np.random.default_rng(1)
    # Numbers beside the thresholds, where the two sides of a comparison meet.
    ends = np.array([*sampler.bits, sampler.zero])
    drawn = ends + draw.choice([-1, 0, 1], (count, width), p=[0.4, 0.3, 0.3])
    drawn[: count // 2] = draw.integers(0, 1 << sampler.precision, (count // 2, width))
    sign = draw.integers(0, 2, count)
    wanted = [laplace_of(sampler, row, s) for row, s in zip(drawn.tolist(), sign, strict=True)]
    for protocol in ("yao", "clear"):
        assert noise.simulate(drawn, sign, protocol=protocol).value.tolist() == wanted
    assert len(set(wanted)) > 20


def test_the_circuit_of_gauss_is_that_of_its_table() -> None:
    sampler = _noise.gauss(Fraction(9))
    assert sampler is not None
    drawn = [end + by for end in sampler.table for by in (-1, 0)] + [
        0,
        (1 << sampler.precision) - 1,
    ]
    sign = [at & 1 for at in range(len(drawn))]
    sizes = [bisect_right(sampler.table, number) for number in drawn]
    wanted = [-size if s else size for size, s in zip(sizes, sign, strict=True)]
    assert noise_of(sampler, len(drawn))(drawn, sign).tolist() == wanted
    # Thresholds beyond the tail are all at the end.
    assert len(set(sizes)) == len({*sampler.table}) + 1 > 20


def test_what_a_draw_costs_is_bounded_and_so_is_its_width() -> None:
    base = of_two(added, (sl.i64, "bob")).plan().ands
    # The largest sensitivities whose noise has no more bits than there may be.
    widest = sl.noise(epsilon=1, sensitivity=9_000_000_000)
    assert 1_500 < counted(widest).plan().ands - base <= 2_000
    widest = sl.noise(epsilon=1, delta=1e-6, sensitivity=417)
    assert 4_000 < counted(widest).plan().ands - base <= 6_000
    assert _noise.gauss(Fraction(_noise.WIDEST_GAUSS) ** 2) is not None
    assert _noise.gauss(Fraction(_noise.WIDEST_GAUSS + 1) ** 2) is None
    for beyond in [{"sensitivity": 10**11}, {"sensitivity": 419, "delta": 1e-6}]:
        said = refusal(counted(sl.noise(epsilon=1, **beyond)).check)
        # A larger step, as the hint says, has room for it.
        assert "too wide" in said and "`step=1024`" in said
        counted(sl.noise(epsilon=1, step=1024, **beyond)).check()


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("delta", [None, 1e-6])
def test_draws_of_runs_have_the_distribution(protocol: str, delta: float | None) -> None:
    """A chi-square test of a thousand draws of one run, which fails once in 10^9 runs."""
    cells = 1000
    option = sl.noise(epsilon=1, sensitivity=1, delta=delta)
    program = counted(option, cells)
    x, y = np.arange(cells), np.full(cells, 7)
    noise = (planned(program, x, y, protocol=protocol).value - x - y).tolist()
    if delta is None:
        found = laplace_probabilities(_noise.laplace(Fraction(1)))
    else:
        # The distance of all draws from the ideal is a part of delta.
        off = _noise.doubled(Fraction(1)) * cells * FARTHEST
        sigma = _noise.deviation(Fraction(1), Fraction("1e-6") - off, Fraction(1))
        assert f"standard deviation {math.floor(sigma * 1000) / 1000}" in program.text
        found = gauss_probabilities(_noise.gauss(sigma**2))
    # Values by themselves where ten or more are expected, and what is left at both ends together.
    bins = [x for x in sorted(found) if found[x] * cells >= 10]
    seen = [noise.count(x) for x in bins]
    wanted = [float(found[x]) * cells for x in bins]
    seen.append(cells - sum(seen))
    wanted.append(cells - sum(wanted))
    square = sum((s - w) ** 2 / w for s, w in zip(seen, wanted, strict=True))
    # Wilson and Hilferty's approximation of the quantile of chi-square at 1 - 10^-9.
    free = len(bins)
    most = free * (1 - 2 / (9 * free) + 5.998 * math.sqrt(2 / (9 * free))) ** 3
    assert free > 4
    assert square < most


def test_two_results_have_two_draws() -> None:
    learnt = sl.Revealed[sl.i64, "bob", sl.noise(epsilon=0.01, sensitivity=1)]
    twice = of_two(lambda x, y: (added(x, y), added(x, y)), tuple[learnt, learnt])
    pairs = [twice(3, 4) for _ in range(4)]
    # Two draws of scale 100 agree four times in a row once in 10^9 times.
    assert any(a != b for a, b in pairs)
    assert len({int(a) for a, _ in pairs}) > 1
