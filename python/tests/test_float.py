"""Floating point against NumPy bit for bit, through trace, plan and engine."""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sealane as sl
from conftest import PROTOCOLS, learns, planned, refusal, sealane, traced

QUICK = settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
KINDS: dict[str, tuple[Any, Any, Any]] = {
    "f16": (sl.f16, np.float16, np.uint16),
    "f32": (sl.f32, np.float32, np.uint32),
    "f64": (sl.f64, np.float64, np.uint64),
}
SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.5, 5e-324, 1e-45, 6e-8, 65504.0]


def numbers(kind: str, count: int = 4) -> st.SearchStrategy[Any]:
    """Arrays of any bits of a type, special numbers among them."""
    _, native, bits = KINDS[kind]
    width = np.iinfo(bits).bits
    anything = st.integers(0, 2**width - 1).map(lambda n: np.array(n, bits).view(native)[()])
    with np.errstate(over="ignore"):
        special = st.sampled_from([native(number) for number in SPECIAL])
    near = st.floats(-4, 4, width=width).map(native)  # type: ignore[arg-type]
    each = anything | special | near
    return st.lists(each, min_size=count, max_size=count).map(lambda n: np.array(n, native))


def run(
    function: Callable[..., Any],
    result: Any,
    *inputs: tuple[Any, Any],
    protocol: str = "clear",
    rows: int | None = None,
) -> Any:
    length = "n <= 50" if rows else 4
    owners = zip("abc", inputs, ("alice", "bob", "alice"), strict=False)
    of_types = {name: (kind, owner, length) for name, (kind, _), owner in owners}
    program = traced(function, (result, "alice"), **of_types)
    return planned(program, *(data for _, data in inputs), protocol=protocol).value


def same(found: Any, expected: Any) -> None:
    """Compares bits, those of NaN apart."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype
    bits = {2: np.uint16, 4: np.uint32, 8: np.uint64}.get(found.dtype.itemsize)
    if found.dtype.kind != "f" or bits is None:
        assert found.tolist() == expected.tolist()
        return
    canonical = [np.where(np.isnan(x), np.nan, x).astype(x.dtype) for x in (found, expected)]
    left, right = (x.view(bits) for x in canonical)
    assert left.tolist() == right.tolist(), (found, expected)


ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
}
COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge"]


@pytest.mark.parametrize("kind", KINDS)
@QUICK
@given(data=st.data())
def test_operators(kind: str, data: st.DataObject) -> None:
    a, b = data.draw(numbers(kind)), data.draw(numbers(kind))
    element, native, _ = KINDS[kind]

    def f(a: Any, b: Any) -> Any:
        made = [compute(a, b) for compute in ARITHMETIC.values()]
        return sl.stack([*made, -a, abs(a), sl.minimum(a, b), sl.maximum(a, b)])

    with np.errstate(all="ignore"):
        made = [compute(a, b) for compute in ARITHMETIC.values()]
        found = run(f, element, (element, a), (element, b))
        for row, expected in zip(found, [*made, -a, abs(a)], strict=False):
            same(row, expected.astype(native))
        # Zeros are equal to NumPy, which gives either.
        for row, expected in zip(found[-2:], [np.minimum(a, b), np.maximum(a, b)], strict=True):
            same(row + native(0), expected + native(0))


def test_division_is_that_of_numpy() -> None:
    x = np.array([-7.0, 7.5, 1.0, 1e10], np.float32)
    y = np.array([3.0, -2.0, 0.0, 0.1], np.float32)
    with np.errstate(all="ignore"):
        expected = [x // y, x % y]
    found = run(lambda a, b: sl.stack([a // b, a % b]), sl.f32, (sl.f32, x), (sl.f32, y))
    same(found, np.array(expected))


@pytest.mark.parametrize("kind", KINDS)
@QUICK
@given(data=st.data())
def test_comparisons(kind: str, data: st.DataObject) -> None:
    a, b = data.draw(numbers(kind)), data.draw(numbers(kind))
    element = KINDS[kind][0]
    compare = [getattr(operator, name) for name in COMPARISONS]
    found = run(
        lambda a, b: sl.stack([c(a, b) for c in compare]), sl.boolean, (element, a), (element, b)
    )
    assert found.tolist() == [c(a, b).tolist() for c in compare]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("kind", ["f16", "f32"])
def test_every_protocol_gives_the_same_bits(kind: str, protocol: str) -> None:
    element, native, _ = KINDS[kind]
    with np.errstate(all="ignore"):
        a = np.array([0.1, -3.5, np.inf, 1e-7], native)
        b = np.array([7.25, np.nan, 2.0, -0.0], native)
        expected = [a * b + native(1.5), np.where(a > b, a, b)]

    def f(a: Any, b: Any) -> Any:
        return sl.stack([a * b + 1.5, sl.where(a > b, a, b)])

    same(run(f, element, (element, a), (element, b), protocol=protocol), expected)


@pytest.mark.parametrize("kind", KINDS)
@QUICK
@given(data=st.data())
def test_sums_are_exact_and_rounded_once(kind: str, data: st.DataObject) -> None:
    element, native, _ = KINDS[kind]
    a, b = (data.draw(numbers(kind)) for _ in range(2))

    def rounded(addends: list[Fraction]) -> Any:
        exact = sum(addends, Fraction(0))
        nearest = float(exact)
        if kind != "f64" and Fraction(nearest) != exact:
            # An `f64` next to it is on the same side of every tie of a narrower type.
            nearest = math.nextafter(nearest, math.inf if nearest < exact else -math.inf)
        return native(nearest)

    if kind == "f16":
        a, b = np.array([2048, 1, -2048, 0.25], native), np.array([3, 1, 2, 4], native)
    elif kind == "f64" or not np.isfinite([a, b]).all():
        a, b = np.array([1e16, 1.0, -1e16, 0.25], native), np.array([3, 1, 2, 4], native)
    exact = [Fraction(float(x)) for x in a]
    products = [Fraction(float(x)) * Fraction(float(y)) for x, y in zip(a, b, strict=True)]
    with np.errstate(all="ignore"):
        expected = [rounded(exact) + native(0), rounded(products) + native(0)]
        found = run(
            lambda a, b: sl.stack([a.sum(), sl.dot(a, b)]), element, (element, a), (element, b)
        )
    same(found + native(0), np.array(expected, native))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_sums_over_rows(protocol: str) -> None:
    a = np.array([1e8, 1.0, -1e8, 0.5, np.float32(0.1)], np.float32)

    def f(a: Any, b: Any) -> Any:
        return sl.stack([a.sum(), b.min(), b.max()])

    found = run(f, sl.f32, (sl.f32, a), (sl.f32, a), protocol=protocol, rows=5)
    same(found, np.array([1.6, -1e8, 1e8], np.float32))


@QUICK
@given(a=numbers("f32"), n=st.lists(st.integers(-(2**31), 2**31 - 1), min_size=4, max_size=4))
def test_conversions(a: Any, n: list[int]) -> None:
    with np.errstate(all="ignore"):
        same(run(lambda a: a.astype(sl.f16), sl.f16, (sl.f32, a)), a.astype(np.float16))
        same(run(lambda a: a.astype(sl.f64), sl.f64, (sl.f32, a)), a.astype(np.float64))
        whole = np.array(n, np.int32)
        same(run(lambda a: a.astype(sl.f32), sl.f32, (sl.i32, whole)), whole.astype(np.float32))
        ends = np.nan_to_num(np.trunc(a.astype(np.float64)), posinf=1e9, neginf=-1e9)
        clipped = np.clip(ends, -128, 127).astype(np.int8)
        same(run(lambda a: sl.saturate(a, sl.i8), sl.i8, (sl.f32, a)), clipped)
        down = np.nan_to_num(np.floor(a.astype(np.float64) * 16), posinf=1e9, neginf=-1e9)
        fixed = np.clip(down, -(2**11), 2**11 - 1) / 16 + 0.0
        same(run(lambda a: sl.saturate(a, sl.fixed(8, 4)), sl.fixed(8, 4), (sl.f32, a)), fixed)


def test_literals_are_those_of_numpy() -> None:
    x = np.array([0.1, 1.0, 2.0, -0.0], np.float32)
    # The decimal 1.0000000596046448 is above the tie that the `float` is.
    tie = 1.0000000596046448

    def f(a: Any) -> Any:
        return sl.stack([a + tie, a * 0.1, a + np.array([1, 2, 3, 1e-50]), a - math.inf])

    expected = [x + np.float32(tie), x * np.float32(0.1), x + np.float32([1, 2, 3, 0]), x - np.inf]
    same(run(f, sl.f32, (sl.f32, x)), np.array(expected, np.float32))
    same(run(lambda a: a + 1e-300, sl.f64, (sl.f64, np.zeros(4))), np.full(4, 1e-300))
    same(run(lambda a: a * -0.0, sl.f32, (sl.f32, np.ones(4))), np.full(4, -0.0, np.float32))


def test_numpy_functions_of_values() -> None:
    x = np.array([4.0, 2.0, 0.25, 2.5], np.float32)

    def f(a: Any) -> Any:
        return sl.stack([np.sqrt(a), np.floor(a), np.rint(a), sl.math.ceil(a), np.add(1.5, a)])

    expected = [np.sqrt(x), np.floor(x), np.rint(x), np.ceil(x), x + np.float32(1.5)]
    same(run(f, sl.f32, (sl.f32, x)), np.array(expected))
    found = run(lambda a: np.isnan(a) | sl.math.isinf(a), sl.boolean, (sl.f32, x * np.inf))
    assert found.tolist() == [True] * 4
    with pytest.raises(AttributeError, match=r"sl\.math"):
        _ = sl.math.squareroot


@pytest.mark.parametrize(
    ("function", "code", "text"),
    [
        (lambda a, b: a + b, "type-mismatch", "astype(sl.f32)"),
        (lambda a, b: sl.where(b > 0, a, b), "type-mismatch", "astype(sl.f32)"),
        (lambda a, b: a & 1, "type-mismatch", "saturate"),
        (lambda a, b: a.astype(sl.i32), "range-overflow", "sl.saturate(a, sl.i32)"),
        (lambda a, b: a.astype(sl.boolean), "type-mismatch", "a != 0"),
        (lambda a, b: sl.wrap(a, sl.u8), "type-mismatch", "saturate"),
        (lambda a, b: a + 1e300, "constant-range", "3.4028235e38"),
        (lambda a, b: sl.math.sqrt(b), "type-mismatch", "astype(sl.f32)"),
        (lambda a, b: a.sum(dtype=sl.i64), "type-mismatch", "astype"),
    ],
)
def test_refusals(function: Callable[..., Any], code: str, text: str) -> None:
    ones = np.ones(4)
    said = refusal(lambda: run(function, sl.f32, (sl.f32, ones), (sl.i32, ones)))
    assert f"[{code}]" in said and text in said


def test_results_and_ranges_are_declared() -> None:
    ones = np.ones(4)
    same(run(lambda a: a, sl.f64, (sl.f32, ones)), ones)
    for result in (sl.f16, sl.i32):
        with pytest.raises(sl.ProgramError, match="rounded unasked"):
            run(lambda a: a, result, (sl.f32, ones))
    f = traced(lambda x: x > 0, (sl.boolean, "alice"), x=(sl.f32, "alice", sl.between(0, 1)))
    with pytest.raises(sl.ProgramError, match="range"):
        _ = f.text


def test_subnormal_numbers_can_be_flushed() -> None:
    @sl.program(flush_subnormals=True)
    def f(
        x: sl.Private[sl.f32, "alice", 2], y: sl.Private[sl.f32, "bob", 2]
    ) -> sl.Revealed[sl.f32, "alice"]:
        return x * y

    found = f.simulate([1e-40, -1e-20], [1e10, 1e-20], clear=True).value
    same(found, np.array([0.0, -0.0], np.float32))
    assert "subnormals flushed" in f.text


def test_files_and_commands(tmp_path: Path) -> None:
    """An `f32` column of a CSV of each party, under every protocol, with equal bits."""
    (tmp_path / "program.py").write_text(
        "import sealane as sl\n"
        "@sl.program\n"
        "def f(\n"
        "    a: sl.Private[sl.f32, 'alice', 'n <= 9'], b: sl.Private[sl.f32, 'bob', 'n']\n"
        ") -> tuple[sl.Revealed[sl.f32, 'alice'], sl.Revealed[sl.boolean, 'alice']]:\n"
        "    return a * b + 1.5, a > b\n"
    )
    left, right = ["0.1", "-3.5", "inf", "1e-7"], ["7.25", "nan", "2", "-0"]
    (tmp_path / "alice.csv").write_text("\n".join(["a", *left]) + "\n")
    (tmp_path / "bob.csv").write_text("\n".join(["b", *right]) + "\n")
    a, b = np.array(left, np.float32), np.array(right, np.float32)
    for protocol in PROTOCOLS:
        command = ["simulate", "program.py", "--json", "--protocol", protocol]
        command += ["--input", "alice=alice.csv", "--input", "bob=bob.csv"]
        command += ["--helpers", "una"] if protocol == "trio" else []
        done = sealane(*command, cwd=tmp_path)
        results = json.loads(done.stdout)["results"]
        same(np.array(results["result_0"]["values"], np.float32), a * b + np.float32(1.5))
        assert results["result_1"]["values"] == (a > b).tolist()


def test_softmax_and_functions_of_several_results() -> None:
    x = np.array([1.0, 3.0, -2.0, 90.0], np.float32)
    found = run(lambda a: sl.math.softmax(a), sl.f32, (sl.f32, x))
    powers = np.exp(x.astype(np.float64) - 90)
    np.testing.assert_allclose(found, powers / powers.sum(), rtol=1e-6, atol=1e-44)
    found = run(lambda a: sl.stack([*sl.math.modf(a)]), sl.f32, (sl.f32, x / np.float32(1.5)))
    np.testing.assert_array_equal(found, np.array(np.modf(x / np.float32(1.5))))


def test_the_functions_of_math_are_those_of_the_registry() -> None:
    from sealane import _core

    operators = {"add", "sub", "mul", "div", "neg", "eq", "ne", "lt", "le", "gt", "ge"}
    derived = {"fsum", "sumprod", "softmax", "nearbyint", "ndtr", "ndtri"}
    known = {name for name, *_ in _core.functions_of_floats()}
    assert set(sl.math.__all__) == known - operators | derived


def test_applied_to_integers_a_function_says_how_to_convert() -> None:
    with pytest.raises(sl.ProgramError, match=r"astype\(sl.f32\)"):
        run(lambda a: np.sqrt(a), sl.f32, (sl.i32, np.arange(4)))


def test_exact_forms_are_correctly_rounded() -> None:
    x = np.array([0.75, 3.5, 0.1, 1e-5], np.float32)

    def f(a: Any) -> Any:
        names = ("exp", "exp2", "log", "log2", "log10", "expm1", "log1p", "tanh", "cbrt")
        return sl.stack([getattr(sl.math, name)(a, exact=True) for name in names])

    wide = x.astype(np.float64)
    functions = (np.exp, np.exp2, np.log, np.log2, np.log10, np.expm1, np.log1p, np.tanh, np.cbrt)
    same(run(f, sl.f32, (sl.f32, x)), np.array([f(wide) for f in functions], np.float32))
    with pytest.raises(sl.ProgramError, match="no correctly rounded form"):
        run(lambda a: sl.math.sigmoid(a, exact=True), sl.f32, (sl.f32, x))
    with pytest.raises(sl.ProgramError, match="no correctly rounded form in f64"):
        run(lambda a: sl.math.exp(a, exact=True), sl.f64, (sl.f64, wide))


EXACT: dict[str, tuple[Callable[[float], float], float]] = {
    "sin": (math.sin, 300),
    "cos": (math.cos, 300),
    "tan": (math.tan, 300),
    "asin": (math.asin, 1),
    "acos": (math.acos, 1),
    "atan": (math.atan, 300),
    "sinh": (math.sinh, 80),
    "cosh": (math.cosh, 80),
    "erf": (math.erf, 5),
}
"""Functions with a correctly rounded form, and the magnitudes up to which they are tried."""


@pytest.mark.parametrize("name", EXACT)
def test_exact_forms_round_what_is_not_near_a_middle_as_doubles_do(name: str) -> None:
    exact, end = EXACT[name]
    sizes = np.geomspace(1e-6, end, 150)
    x = np.concatenate([sizes, -sizes]).astype(np.float32)
    wide = np.array([exact(float(each)) for each in x])
    # A double's error is below 2^-47 of it: away from a middle, both ends round to one number.
    below, above = ((wide * (1 + off)).astype(np.float32) for off in (-(2.0**-47), 2.0**-47))
    np.testing.assert_array_equal(below, above)
    same(sl_of(lambda x: getattr(sl.math, name)(x, exact=True), sl.f32, x), below)
    assert "correctly rounded" in getattr(sl.math, name).__doc__


def sl_of(function: Callable[..., Any], element: Any, x: Any) -> Any:
    """The values of a function at numbers that alice has."""
    f = traced(function, (element, "alice"), x=(element, "alice", "n <= 300"))
    return f.simulate(x, clear=True).value


def test_floor_division_of_halves_is_that_of_numpy() -> None:
    rng = np.random.default_rng(4)
    x, y = (rng.integers(0, 2**16, 400).astype(np.uint16).view(np.float16) for _ in range(2))
    x, y = np.append(x, np.float16(38112)), np.append(y, np.float16(-24.34))
    inputs = {"x": (sl.f16, "alice", "n <= 500"), "y": (sl.f16, "bob", "n")}
    f = traced(lambda x, y: (x // y, x % y), learns("bob", sl.f16, sl.f16), **inputs)
    found = f.simulate(x, y, clear=True).value
    with np.errstate(all="ignore"):
        for one, expected in zip(found, (x // y, x % y), strict=True):
            same(one, expected)
