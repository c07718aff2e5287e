"""Fixed point against `Fraction`, through trace, plan and engine."""

from __future__ import annotations

import itertools
import json
import math
import operator
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sealane as sl
from conftest import PROTOCOLS, learns, planned, traced

Draw = Callable[[st.SearchStrategy[Any]], Any]

QUICK = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
WIDE = sl.fixed(32, 12)
"""Holds every result below."""


class Numbers:
    """Three numbers of one type, with the range that is declared of them."""

    def __init__(self, integer: int, fraction: int, stored: list[int], ends: list[int]) -> None:
        self.fraction = fraction
        self.kind = sl.fixed(integer, fraction)
        self.values = [Fraction(number, 1 << fraction) for number in stored]
        self.ends = [Fraction(end, 1 << fraction) for end in ends]

    def private(self, owner: str) -> Any:
        return self.kind, owner, 3, sl.between(*self.ends)


@st.composite
def numbers(draw: Draw, *, positive: bool = False) -> Numbers:
    integer, fraction = draw(st.integers(1, 8)), draw(st.integers(0, 10))
    top = (1 << integer + fraction - 1) - 1
    bottom = 1 if positive else -top - 1
    if positive and top < 1:
        integer, top = 2, (1 << fraction + 1) - 1
    inside = st.integers(bottom, top) | st.sampled_from([bottom, top])
    ends = sorted([draw(inside), draw(inside)])
    within = st.integers(*ends) | st.sampled_from(ends)
    return Numbers(integer, fraction, draw(st.lists(within, min_size=3, max_size=3)), ends)


def floor(value: Fraction, fraction: int) -> Fraction:
    """The largest multiple of `2**-fraction` that is not above the value."""
    return Fraction(math.floor(value * (1 << fraction)), 1 << fraction)


def run(
    function: Callable[..., Any], result: Any, *inputs: Numbers, protocol: str = "clear"
) -> Any:
    owners = zip("ab", inputs, ("alice", "bob"), strict=False)
    given = {name: item.private(owner) for name, item, owner in owners}
    program = traced(function, (result, "alice"), **given)
    report = planned(program, *(item.values for item in inputs), protocol=protocol)
    assert report.notes == []
    return report.value


EXACT: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", EXACT)
@QUICK
@given(data=st.data())
def test_arithmetic(name: str, protocol: str, data: st.DataObject) -> None:
    if protocol != "clear" and data.draw(st.integers(0, 4)):
        return  # a few cases of each, since each takes a session
    a = data.draw(numbers())
    b = data.draw(numbers(positive=name in ("truediv", "floordiv", "mod")))
    compute, wide = EXACT[name], sl.fixed(32, a.fraction)
    fraction = max(a.fraction, b.fraction)
    room = sl.fixed(32, fraction)
    result = run(lambda a, b: compute(a.astype(wide), b), room, a, b, protocol=protocol)
    pairs = zip(a.values, b.values, strict=True)
    expected = [floor(Fraction(compute(x, y)), fraction) for x, y in pairs]
    assert [Fraction(value) for value in result] == expected


@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge"])
@QUICK
@given(a=numbers(), b=numbers())
def test_comparisons(name: str, a: Numbers, b: Numbers) -> None:
    compare = getattr(operator, name)
    result = run(lambda a, b: compare(a, b), sl.boolean, a, b)
    assert result.tolist() == [compare(x, y) for x, y in zip(a.values, b.values, strict=True)]


@QUICK
@given(a=numbers(), b=numbers(), bits=st.integers(0, 12))
def test_a_dot_product_is_rounded_once(a: Numbers, b: Numbers, bits: int) -> None:
    wanted = sl.fixed(32, bits)
    result = run(lambda a, b: sl.dot(a, b, dtype=wanted), wanted, a, b)
    exact = sum(x * y for x, y in zip(a.values, b.values, strict=True))
    assert Fraction(result) == floor(Fraction(exact), bits)


def test_a_matrix_product_is_rounded_once_under_every_protocol() -> None:
    kind, inside = sl.fixed(4, 2), sl.between(-1, 1)
    given = {"a": (kind, "alice", 2, 4, inside), "b": (kind, "bob", 4, 3, inside)}
    f = traced(operator.matmul, (kind, "alice"), **given)
    for protocol in PROTOCOLS:
        report = planned(f, np.full((2, 4), 0.25), np.full((4, 3), 0.25), protocol=protocol)
        # Each product is a sixteenth; four of them are a quarter.
        assert report.value.tolist() == [[0.25] * 3] * 2


@QUICK
@given(a=numbers(), bits=st.integers(0, 12), amount=st.integers(0, 3))
def test_conversions_round_down(a: Numbers, bits: int, amount: int) -> None:
    results = {
        "fixed": (lambda a: a.astype(sl.fixed(32, bits)), sl.fixed(32, bits), bits, 1),
        "whole": (lambda a: a.astype(sl.i32), sl.i32, 0, 1),
        "shift": (lambda a: a.astype(WIDE) >> amount, WIDE, 12, 1 << amount),
        "negated": (lambda a: -a.astype(WIDE), WIDE, 12, -1),
    }
    for function, kind, fraction, divisor in results.values():
        result = run(function, kind, a)
        expected = [floor(value / divisor, fraction) for value in a.values]
        assert [Fraction(float(value)) for value in result] == expected


@QUICK
@given(a=numbers(), integer=st.integers(1, 9), bits=st.integers(0, 12))
def test_saturating_stops_at_the_ends(a: Numbers, integer: int, bits: int) -> None:
    kind = sl.fixed(integer, bits)
    low, high = -(Fraction(2) ** (integer - 1)), Fraction(2) ** (integer - 1)
    high -= Fraction(1, 1 << bits)
    result = run(lambda a: sl.saturate(a, kind), kind, a)
    expected = [min(max(floor(value, bits), low), high) for value in a.values]
    assert [Fraction(value) for value in result] == expected


@QUICK
@given(data=st.lists(st.integers(-40_000, 40_000), min_size=3, max_size=3))
def test_integers_wrap_saturate_and_are_clipped(data: list[int]) -> None:
    @sl.program
    def f(x: sl.Private[sl.i32, "alice", 3, sl.between(-40_000, 40_000)]) -> learns(
        "alice", sl.u8, sl.i8, sl.i8
    ):
        return sl.wrap(x, sl.u8), sl.saturate(x, sl.i8), sl.clip(x, -5, 99)

    wrapped, saturated, clipped = f.simulate(data, clear=True).value
    assert wrapped.tolist() == [number % 256 for number in data]
    assert saturated.tolist() == [min(max(number, -128), 127) for number in data]
    assert clipped.tolist() == [min(max(number, -5), 99) for number in data]


def test_scans_maps_tables_and_choices() -> None:
    curve = [0.0, 0.5, 0.75, -1.25]

    @sl.program
    def f(
        x: sl.Private[sl.fixed(8, 4), "alice", "n <= 5", sl.between(-8, 8)],
        at: sl.Private[sl.u2, "bob", "n"],
    ) -> tuple[sl.Revealed[sl.fixed(16, 8), "alice"], sl.Revealed[sl.fixed(8, 4), "alice"]]:
        found = sl.lookup(sl.fixed(8, 4)(curve), at)

        def step(state: Any, element: Any) -> Any:
            return sl.saturate(
                state.astype(sl.fixed(17, 8)) + element / 2, sl.fixed(16, 8)
            ), sl.where(element < 0, 0, element)

        last, kept = sl.scan(step, sl.fixed(16, 8)(0), sl.maximum(x, found))
        return last, kept

    x, at = [1.5, -2.0, 0.0625, 7.5], [0, 1, 2, 3]
    with pytest.warns(sl.SealaneWarning, match="rounded-sum"):
        last, kept = f.simulate(x, at, clear=True).value
    larger = [max(a, curve[i]) for a, i in zip(x, at, strict=True)]
    halves = [floor(Fraction(a) / 2, 4) for a in larger]
    assert Fraction(last) == sum(halves)
    assert kept.tolist() == larger


def program_of(kind: Any, *shape: Any) -> Any:
    return traced(lambda x: x, (kind, "bob"), x=(kind, "alice", *shape))


@pytest.mark.parametrize(
    "given",
    [
        [0.5, -1.25, 3],
        np.array([0.5, -1.25, 3]),
        np.array([0.5, -1.25, 3], dtype=np.float32),
        [Decimal("0.5"), Fraction(-5, 4), 3],
        np.array([Fraction(1, 2), Decimal("-1.25"), 3], dtype=object),
    ],
)
def test_inputs_come_as_any_number(given: Any) -> None:
    report = program_of(sl.fixed(8, 8), 3).simulate(given, clear=True)
    assert report.value.dtype == np.float64
    assert report.value.tolist() == [0.5, -1.25, 3.0]
    assert report.notes == []


@pytest.mark.skipif(np.finfo(np.longdouble).nmant <= 52, reason="no wider than Python's floats")
def test_floats_wider_than_those_of_python_keep_their_digits() -> None:
    wide = 1 + np.ldexp(np.longdouble(1), -60)
    exact = 1 + Fraction(1, 1 << 60)
    program = program_of(sl.fixed(2, 60))
    for item in (wide, np.array(wide), Fraction(exact)):
        report = program.simulate(item, clear=True)
        assert (report.value, report.notes) == (exact, [])
    both = program_of(sl.fixed(2, 60), 2).simulate(np.array([wide, -wide]), clear=True)
    assert both.value.tolist() == [exact, -exact]
    for item in (np.longdouble("nan"), np.longdouble("inf"), np.array([np.longdouble("nan")])):
        with pytest.raises(sl.DataError):
            program_of(sl.fixed(2, 60), *np.shape(item)).simulate(item, clear=True)


def test_rounding_of_inputs_is_told() -> None:
    report = program_of(sl.fixed(8, 8), 3).simulate([0.1, Fraction(1, 3), 2], clear=True)
    assert report.value.tolist() == [26 / 256, 85 / 256, 2.0]
    note = "2 numbers of `x` were rounded to fixed8.8, each by at most 0.001953125"
    assert report.notes == [note]
    assert note in repr(report)


@pytest.mark.parametrize("value", [1e9, -129, float("nan"), float("inf"), "a", 1e-60j])
def test_what_an_input_does_not_hold_is_refused(value: Any) -> None:
    with pytest.raises(sl.DataError):
        program_of(sl.fixed(8, 8)).simulate(value, clear=True)


def test_results_keep_every_digit() -> None:
    for bits, exact in ((54, True), (55, False)):
        kind = sl.fixed(1, bits - 1)
        value = Fraction((1 << bits - 1) - 1, 1 << bits - 1)
        report = program_of(kind).simulate(value, clear=True)
        assert isinstance(report.value, float if exact else Fraction)
        assert Fraction(report.value) == value
        table = program_of(kind, 2).simulate([value, -1], clear=True).value
        assert table.dtype == (np.float64 if exact else object)
        assert [Fraction(item) for item in table] == [value, -1]
        shown = json.loads(report._native.json)["results"]["result"]["values"][0]
        assert isinstance(shown, float if exact else str)
        assert Fraction(shown) == value


def test_literals_are_rounded_aloud() -> None:
    @sl.program
    def f(
        x: sl.Private[sl.fixed(8, 8), "alice", sl.between(-2, 2)],
    ) -> sl.Revealed[sl.fixed(8, 8), "bob"]:
        return x * 0.1 + Fraction(1, 4) + Decimal("0.5") + x * [0.75, 2.0][1] + 3

    with pytest.warns(sl.SealaneWarning) as caught:
        value = f(1)
    assert value == 26 / 256 + 0.25 + 0.5 + 2 + 3
    (warning,) = caught
    assert isinstance(warning.message, sl.SealaneWarning)
    assert warning.message.code == "literal-rounded"
    assert warning.message.message == "0.1 is taken for 0.1015625"
    line = Path(__file__).read_text(encoding="utf-8").splitlines()[warning.lineno - 1]
    assert line.strip().startswith("return x * 0.1")
    assert Path(warning.filename).resolve() == Path(__file__).resolve()
    # Every verb has it in its notes, and says it once.
    report, check, plan = f.simulate(1, clear=True), f.check(), f.plan()
    assert len(check.warnings) == 1
    for item in (report, check, plan, report.plan):
        (note,) = item.notes
        assert "warning[literal-rounded]: 0.1 is taken for 0.1015625" in note
    for text in (report._native.json, check.json, plan.json):
        assert len(json.loads(text)["notes"]) == 1
    assert "literal-rounded" in repr(report)


def test_arrays_of_constants_take_the_type_beside_them() -> None:
    kind, weights = sl.fixed(8, 8), np.array([0.5, -1.25, 2.0])
    f = traced(lambda x: x @ weights, (kind, "alice"), x=(kind, "alice", 3, sl.between(-2, 2)))
    assert f.simulate([1, 0.5, -2], clear=True).value == 0.5 - 0.625 - 4


def test_type_checkers_read_a_named_type() -> None:
    Money = Annotated[sl.FixedPoint, sl.fixed(16, 16)]
    f = traced(lambda x: x + 1, (Money, "bob"), x=(Money, "alice", sl.between(0, 9)))
    assert "fixed16.16 in 1..10" in f.text


@pytest.mark.parametrize("bits", list(itertools.product((0, 16, 40, 64, 65, -1), repeat=2)))
def test_which_types_there_are(bits: tuple[int, int]) -> None:
    integer, fraction = bits
    if min(bits) >= 0 and 1 <= sum(bits) <= 64:
        assert sl.fixed(integer, fraction) is sl.fixed(integer, fraction)
        assert repr(sl.ufixed(integer, fraction)) == f"sealane.ufixed({integer}, {fraction})"
        with pytest.raises(sl.ProgramError):
            _ = sl.fixed(integer, fraction).wrapping
    else:
        with pytest.raises(sl.ProgramError):
            sl.fixed(integer, fraction)


def test_tables_of_decimals_are_read(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text("income,rate\n1250.5,0.1\n-3.25,1e-2\n", encoding="utf-8")
    out = tmp_path / "out.csv"
    program = program_of(sl.fixed(16, 8), "n <= 3", ["income", "rate"])
    report = program.simulate(file, clear=True)
    assert report.value.tolist() == [[1250.5, 26 / 256], [-3.25, 3 / 256]]
    assert report.notes == [
        "2 numbers of `x` were rounded to fixed16.8, each by at most 0.001953125"
    ]
    report.write(out)
    assert out.read_text(encoding="utf-8") == (
        "result_0,result_1\n1250.5,0.1015625\n-3.25,0.01171875\n"
    )


ROWS = 40
"""Bound of the rows below."""
SUMS: dict[str, Callable[..., Any]] = {
    "dot": lambda x, y, keep: sl.dot(x, y, dtype=WIDE),
    "matmul": lambda x, y, keep: (x.astype(WIDE) @ y).astype(WIDE),
    "sum": lambda x, y, keep: (x.astype(WIDE) * y).sum(dtype=WIDE),
    "chosen": lambda x, y, keep: sl.where(keep, x.astype(WIDE) * y, 0).sum(axis=0, dtype=WIDE),
    "masked": lambda x, y, keep: (keep * (x.astype(WIDE) * y)).sum(dtype=WIDE),
    "columns": lambda x, y, keep: sl.dot(x, sl.stack([y, y], axis=1), dtype=WIDE)[1],
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", SUMS)
@QUICK
@given(data=st.data())
def test_sums_of_products_over_rows_are_rounded_once(
    name: str, protocol: str, data: st.DataObject
) -> None:
    if protocol != "clear" and data.draw(st.integers(0, 5)):
        return  # a few cases of each, since each takes a session
    integer, fine = data.draw(st.tuples(st.integers(1, 8), st.integers(0, 10)))
    kind = sl.fixed(integer, fine)
    top = (1 << integer + fine - 1) - 1
    stored = st.integers(-top - 1, top)
    count = data.draw(st.integers(1, ROWS))
    column = st.lists(stored, min_size=count, max_size=count)
    x, y = ([Fraction(n, 1 << fine) for n in data.draw(column)] for _ in "xy")
    keep = data.draw(st.lists(st.booleans(), min_size=count, max_size=count))
    f = traced(
        SUMS[name],
        (WIDE, "alice"),
        x=(kind, "alice", f"rows <= {ROWS}"),
        y=(kind, "bob", "rows"),
        keep=(sl.boolean, "bob", "rows"),
    )
    report = planned(f, x, y, keep, protocol=protocol)
    chosen = keep if name in ("chosen", "masked") else [True] * count
    exact = sum(a * b for a, b, kept in zip(x, y, chosen, strict=True) if kept)
    assert Fraction(report.value) == floor(Fraction(exact), 12)


def test_twenty_thousand_small_products_add_up() -> None:
    rng, total = np.random.default_rng(7), sl.fixed(40, 8)
    x, y = (rng.integers(1, 17, 20_000) / 256 for _ in "xy")
    f = traced(
        lambda x, y: ((x * y).sum(dtype=total), sl.dot(x, y, dtype=total)),
        learns("ann", total, total),
        x=(sl.fixed(16, 8), "ann", "rows <= 20_000", sl.between(0, 100)),
        y=(sl.fixed(16, 8), "ben", "rows", sl.between(0, 100)),
    )
    exact = sum(Fraction(a) * Fraction(b) for a, b in zip(x, y, strict=True))
    assert exact > 10
    report = f.simulate(x, y, clear=True)
    assert [Fraction(value) for value in report.value] == [floor(exact, 8)] * 2
    assert report.notes == []


def test_a_sum_of_quotients_is_warned_of() -> None:
    x, total = (sl.fixed(16, 8), "ann", "rows <= 20_000", sl.between(1, 100)), sl.fixed(40, 8)
    f = traced(lambda x: (x / 3).sum(dtype=total), (total, "ben"), x=x)
    with pytest.warns(sl.SealaneWarning, match="rounded-sum.*by up to 78.13"):
        assert f([1, 1]) == 2 * 85 / 256
    assert len(f.check().notes) == 1


@pytest.mark.parametrize("name", ["lt", "le", "gt", "ge"])
@QUICK
@given(data=st.data())
def test_a_literal_is_compared_as_it_is_written(name: str, data: st.DataObject) -> None:
    item = data.draw(numbers())
    literal = data.draw(st.decimals(-9, 9, places=4).map(float) | st.sampled_from(item.values))
    compare = getattr(operator, name)
    result = run(lambda a: compare(a, literal), sl.boolean, item)
    meant = Fraction(repr(literal)) if isinstance(literal, float) else literal
    assert result.tolist() == [compare(value, meant) for value in item.values]
    mirrored = run(lambda a: compare(literal, a), sl.boolean, item)
    assert mirrored.tolist() == [compare(meant, value) for value in item.values]


def test_an_equality_that_cannot_be_is_told() -> None:
    x, learnt = (sl.fixed(8, 4), "alice", 2), learns("bob", sl.boolean, sl.boolean)
    f = traced(lambda x: (x == 0.1, x <= np.array([0.1, 0.2])), learnt, x=x)
    with pytest.warns(sl.SealaneWarning, match="never-equal") as caught:
        equal, below = f([0.125, 0.1875])
    assert (equal.tolist(), below.tolist()) == ([False, False], [False, True])
    assert len(caught) == 1
