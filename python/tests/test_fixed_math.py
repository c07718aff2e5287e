"""Functions of fixed point against `math` and `decimal`, through trace, plan and engine."""

from __future__ import annotations

import inspect
import math
import random
from collections import Counter
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sealane as sl
from conftest import PROTOCOLS, planned, refusal, traced
from fixed_points import cases, worst
from sealane import _core

NAMES = [name for name in _core.functions_of_fixed() if name != "pow"]
"""Functions of one number."""

VALUES: dict[str, Callable[[float], float]] = {
    **{name: getattr(math, name) for name in NAMES if hasattr(math, name)},
    "exp2": lambda x: 2.0**x,
    "rsqrt": lambda x: 1 / math.sqrt(x),
    "cbrt": lambda x: math.copysign(abs(x) ** (1 / 3), x),
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
}
"""The functions in double precision."""

SMALL = sl.fixed(8, 8)
FLOAT: Any = sl.f32
"""A type that no function of fixed point gives; type checkers refuse it too."""


def unit(kind: Any) -> float:
    """A unit in the last place."""
    return 2.0 ** -int(kind.__name__.split(".")[-1])


def program(function: Callable[..., Any], operand: Any, result: Any, *shape: Any) -> Any:
    """A program of a function of the larger of two numbers, so that no party computes it alone."""
    inputs = {"a": (operand, "alice", *shape), "b": (operand, "bob", *shape)}
    return traced(lambda a, b: function(sl.maximum(a, b)), (result, "bob"), **inputs)


def test_every_function_is_compared_below() -> None:
    assert set(VALUES) == set(NAMES)
    assert set(NAMES) <= set(sl.math.__all__)


@pytest.mark.parametrize("name", NAMES)
def test_results_are_off_by_less_than_a_unit(name: str) -> None:
    coins = random.Random(name)
    every = [list(cases(name, bits, coins)) for bits in range(1, 11)]
    seen = Counter[bool]()
    for case in (case for some in every for case in coins.sample(some, 2)):
        if case.result.integer + case.result.fraction <= 32:
            off = worst(case, lambda name, x: VALUES[name](float(x)))
            assert off is None or off < 1, (case, off)
            seen[off is None] += 1
    assert seen[False] > 8


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_few_operands_and_ends_of_domains(protocol: str) -> None:
    # Operands with few bits behind the point, and sines that leave a type and return to it.
    angles = {"asin": [-1, 0, 1], "acos": [-1, 0, 1], "tan": [-1, 0, 1], "sin": [-4, 1, 3]}
    for fraction in range(3):
        for name, x in angles.items():
            kind = (sl.ufixed if name == "sin" else sl.fixed)(16, 16)

            def function(x: Any, name: str = name, kind: Any = kind) -> Any:
                return getattr(sl.math, name)(x, dtype=kind, saturate=True)

            f = program(function, sl.fixed(4, fraction), kind, 3, sl.between(min(x), max(x)))
            report = planned(f, x, [min(x)] * 3, protocol=protocol)
            expected = [VALUES[name](each) for each in x]
            assert report.value.tolist() == pytest.approx(expected, abs=2**-16), (name, fraction)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_squares_have_roots(protocol: str) -> None:
    def roots(a: Any, b: Any) -> Any:
        away, wide = a - b, (a - b).astype(sl.fixed(16, 16))
        lengths = [
            away @ away,
            sl.dot(away, a - b),
            ((a - b) * (a - b)).sum(),
            sl.where(a > b, away * away, 0).sum(),
            (wide * away).sum(dtype=sl.fixed(12, 8)),
        ]
        return sl.math.sqrt(sl.stack(lengths))

    operand = sl.fixed(12, 8), sl.between(-9, 9)
    f = powers(roots, operand, operand, operand[0], 4)
    report = planned(f, [3, -9, 0.5, 2], [0, 9, 0.25, -2], protocol=protocol)
    every, some = math.sqrt(9 + 324 + 1 / 16 + 16), math.sqrt(9 + 1 / 16 + 16)
    expected = [every, every, every, some, every]
    assert report.value.tolist() == pytest.approx(expected, abs=2**-8)


def test_every_protocol_gives_the_same_bits() -> None:
    wide = sl.fixed(4, 12)

    def function(x: Any) -> Any:
        return sl.stack([getattr(sl.math, name)(x, dtype=wide) for name in NAMES])

    f = program(function, SMALL, wide, 3, sl.between(0.125, 1))
    x, least = [0.125, 0.640625, 1.0], [0.125] * 3
    found = []
    for protocol in PROTOCOLS:
        found.append(planned(f, x, least, protocol=protocol).value.tolist())
    assert found[0] == found[1] == found[2]
    for name, row in zip(NAMES, found[0], strict=True):
        assert row == pytest.approx([VALUES[name](each) for each in x], abs=unit(wide)), name


def test_wide_types_keep_their_digits() -> None:
    operand, result = sl.fixed(4, 52), sl.fixed(6, 58)
    functions: dict[str, Callable[[Decimal], Decimal]] = {
        "exp": Decimal.exp,
        "log": Decimal.ln,
        "log10": Decimal.log10,
        "sqrt": Decimal.sqrt,
        "rsqrt": lambda x: 1 / x.sqrt(),
        "cbrt": lambda x: (x.ln() / 3).exp(),
        "sinh": lambda x: (x.exp() - (-x).exp()) / 2,
        "tanh": lambda x: 1 - 2 / ((2 * x).exp() + 1),
    }
    x = [0.25 + at * (0.25 + 2.0**-48) for at in range(10)]

    def function(x: Any) -> Any:
        return sl.stack([getattr(sl.math, name)(x, dtype=result) for name in functions])

    f = program(function, operand, result, 10, sl.between(0.25, 3))
    rows = f.simulate(x, [0.25] * 10, clear=True).value
    with localcontext() as context:
        context.prec = 40
        for (name, value), row in zip(functions.items(), rows, strict=True):
            for each, found in zip(x, row, strict=True):
                off = Fraction(found) - Fraction(value(Decimal(each)))
                assert abs(off) < Fraction(1, 1 << 58), (name, each)


def test_the_type_of_the_operand_is_that_of_the_result() -> None:
    f = program(sl.math.sin, SMALL, SMALL)
    assert float(f.simulate(1, 0.5, clear=True).value) == pytest.approx(math.sin(1), abs=2**-8)
    f = program(np.tanh, SMALL, SMALL)
    assert float(f.simulate(1, 0.5, clear=True).value) == pytest.approx(math.tanh(1), abs=2**-8)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_saturated_results_stop_at_the_ends(protocol: str) -> None:
    x = [-128.0, -1.5, -1.0, 0.0, 0.00390625, 1.0, 4.75, 5.0, 127.99609375]
    top, bottom = 128 - 2**-8, 2**-8

    def log(x: float) -> float:
        return math.log(max(x, bottom))

    functions: dict[str, Callable[[float], float]] = {
        "exp": lambda x: math.exp(min(x, 9)),
        "sinh": lambda x: math.sinh(max(-9, min(x, 9))),
        "log": log,
        "sqrt": lambda x: math.sqrt(max(x, 0)),
        "rsqrt": lambda x: 1 / math.sqrt(max(x, bottom)),
        "log1p": lambda x: math.log1p(max(x, bottom - 1)),
        "asin": lambda x: math.asin(max(-1, min(x, 1))),
    }

    def function(x: Any) -> Any:
        return sl.stack([getattr(sl.math, name)(x, saturate=True) for name in functions])

    f = program(function, SMALL, SMALL, len(x))
    report = planned(f, x, [-128.0] * len(x), protocol=protocol)
    for (name, value), row in zip(functions.items(), report.value.tolist(), strict=True):
        expected = [max(-128.0, min(value(each), top)) for each in x]
        assert row == pytest.approx(expected, abs=2**-8), name
    assert report.value[0][-1] == top
    assert report.value[1].tolist()[0] == -128


REFUSED = [
    (
        lambda x: sl.math.exp(x),
        "`sl.math.exp(x)` can leave fixed8.8",
        "x is in -4..8, which gives 0.015625..2980.96",
        "sl.math.exp(x, dtype=sl.ufixed(12, 8))",
    ),
    (
        lambda x: sl.math.log(x),
        "`sl.math.log(x)` may have no value",
        "it takes numbers above 0, and x is in -4..8",
        "`saturate=True`",
    ),
    (
        lambda x: sl.math.asin(x),
        "`sl.math.asin(x)` may have no value",
        "it takes numbers from -1 to 1, and x is in -4..8",
        "`sl.clip`",
    ),
    (
        lambda x: sl.math.exp(x, dtype=sl.fixed(3, 8)),
        "`sl.math.exp(x)` can leave fixed3.8",
        "and fixed3.8 holds -4..3.99609375",
        "sl.math.exp(x, dtype=sl.ufixed(12, 8))",
    ),
    (
        lambda x: sl.math.exp(x.astype(sl.fixed(12, 8)) * 100),
        "can leave fixed12.8",
        "which gives numbers that no type holds",
        "`saturate=True`",
    ),
    (
        lambda x: sl.math.exp(x, exact=True),
        "`sl.math.exp` of fixed point has no correctly rounded form",
        "off by less than a unit",
        "leave `exact=True` out",
    ),
    (
        lambda x: sl.math.sin(x, dtype=FLOAT),
        "`sl.math.sin` of fixed point does not take or give f32",
        "from fixed point to fixed point",
        "`.astype`",
    ),
    (
        lambda x: sl.math.sin(x.astype(FLOAT), saturate=True),
        "`sl.math.sin` of fixed point does not take or give f32",
        "from fixed point to fixed point",
        "leave them out",
    ),
    (
        lambda x: sl.math.lgamma(x),
        "`lgamma` takes floating point, not fixed8.8",
        "",
        "x.astype(sl.f32)",
    ),
]


@pytest.mark.parametrize(("function", "message", "reason", "hint"), REFUSED)
def test_refusals_name_the_line_and_the_range(
    function: Callable[..., Any], message: str, reason: str, hint: str
) -> None:
    f = traced(function, (SMALL, "alice"), x=(SMALL, "alice", sl.between(-4, 8)))
    text = refusal(f.check)
    lines, first = inspect.getsourcelines(function)
    lasts = range(first, first + len(lines))
    assert any(f"test_fixed_math.py:{line}:" in text for line in lasts), text
    for part in (message, reason, hint):
        assert part in text


def test_the_type_that_a_refusal_names_holds_the_results() -> None:
    wide = sl.ufixed(12, 8)
    f = program(lambda x: sl.math.exp(x, dtype=wide), SMALL, wide, sl.between(-4, 8))
    assert float(f.simulate(8, -4, clear=True).value) == pytest.approx(math.exp(8), abs=2**-8)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_functions_in_the_body_of_a_map(protocol: str) -> None:
    def each(a: Any) -> Any:
        return sl.math.sqrt(sl.math.exp(a, dtype=sl.fixed(4, 12)), dtype=SMALL)

    f = program(lambda x: sl.map(each, x), SMALL, SMALL, "n <= 9", sl.between(-1, 1.5))
    x = [1.5, -0.5, 0.0, 1.0, -1.0]
    report = planned(f, x, [-1.0] * 5, protocol=protocol)
    expected = [math.exp(each / 2) for each in x]
    assert report.value.tolist() == pytest.approx(expected, abs=2**-8 + 2**-12)


def powers(body: Callable[..., Any], base: Any, exponent: Any, result: Any, count: int = 5) -> Any:
    """A program of a function of numbers of each of two owners."""
    x, y = (base[0], "alice", count, *base[1:]), (exponent[0], "bob", count, *exponent[1:])
    return traced(body, (result, "bob"), x=x, y=y)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_powers_are_off_by_less_than_a_unit(protocol: str) -> None:
    base = (sl.fixed(8, 12), sl.between(0.125, 100))
    exponent = (sl.fixed(4, 10), sl.between(-1.5, 2))
    f = powers(lambda x, y: sl.math.pow(x, y, dtype=sl.fixed(16, 16)), base, exponent, WIDE)
    x, y = [0.125, 1.0, 100.0, 3.5, 99.0], [-1.5, 1.25, 2.0, 0.0, -0.125]
    report = planned(f, x, y, protocol=protocol)
    off = [abs(z - a**b) for a, b, z in zip(x, y, report.value.tolist(), strict=True)]
    assert max(off) < 2**-16


WIDE = sl.fixed(16, 16)


def test_powers_of_numbers_and_of_integers() -> None:
    base = (SMALL, sl.between(0, 4))
    whole = (sl.u8, sl.between(0, 3))
    x, y = [0.0, 0.0, 1.5, 4.0, 2.0], [0, 3, 2, 3, 1]
    for function, expected in [
        (lambda x, y: sl.math.pow(x, y), [a**b for a, b in zip(x, y, strict=True)]),
        (lambda x, y: sl.math.pow(x, 3) + y * 0, [a**3 for a in x]),
        (lambda x, y: sl.math.pow(x, 0.5) + y * 0, [a**0.5 for a in x]),
        (lambda x, y: np.power(2, x) + y * 0, [2**a for a in x]),
    ]:
        f = powers(function, base, whole, SMALL)
        assert f.simulate(x, y, clear=True).value.tolist() == pytest.approx(expected, abs=2**-8)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_saturated_powers_stop_at_the_end(protocol: str) -> None:
    f = powers(lambda x, y: sl.math.pow(x, y, saturate=True), (SMALL,), (SMALL,), SMALL)
    x, y = [-5.0, 100.0, 0.0, 1.0, 0.5], [2.0, 9.0, -1.0, 127.0, 3.0]
    report = planned(f, x, y, protocol=protocol)
    top = 128 - 2**-8
    assert report.value.tolist() == pytest.approx([2**-16, top, top, 1, 0.125], abs=2**-8)


@pytest.mark.parametrize(
    ("function", "message", "reason", "hint"),
    [
        (
            lambda x: sl.math.pow(x, 4),
            "`sl.math.pow(x, 4)` may have no value",
            "it takes bases above 0, and 0 with exponents from 0 on, and x is in -4..8",
            "`saturate=True`",
        ),
        (
            lambda x: sl.math.pow(sl.abs(x), 3),
            "`sl.math.pow(sl.abs(x), 3)` can leave fixed8.8",
            "which gives 0..512",
            "dtype=sl.ufixed(10, 8)",
        ),
        (
            lambda x: sl.math.pow(x, 2, dtype=FLOAT),
            "`sl.math.pow` of fixed point does not take or give f32",
            "from fixed point to fixed point",
            "`.astype`",
        ),
        (
            lambda x: sl.math.pow(x.astype(FLOAT), 2, saturate=True),
            "`sl.math.pow` of fixed point does not take or give f32",
            "from fixed point to fixed point",
            "leave them out",
        ),
        (lambda x: sl.math.pow(x, x.astype(FLOAT)), "fixed8.8", "", "astype"),
    ],
)
def test_refusals_of_powers(
    function: Callable[..., Any], message: str, reason: str, hint: str
) -> None:
    test_refusals_name_the_line_and_the_range(function, message, reason, hint)
