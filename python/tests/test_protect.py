"""Noise and minimum group sizes: what they do to results, what is refused, what `check` says."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sealane as sl
from conftest import refusal, traced

ONE = sl.noise(epsilon=1, sensitivity=1)
THREE = sl.nullable(sl.u32), "bob", sl.min_group(3)
"""A sum that bob learns if it is about three people."""
CLIPPED = sl.i64, "bob", sl.noise(epsilon=1, clip=(0, 10))
SMALL = sl.between(0, 99)
SMALL_ROWS = sl.i64, "alice", "n <= 9", SMALL


def of_two(
    body: Any, learnt: Any, *shape: Any, x: Any = sl.u16, y: Any = sl.u16
) -> sl.Program[..., Any]:
    """A program of an input of alice and one of bob, of the same shape."""
    return traced(body, learnt, x=(x, "alice", *shape), y=(y, "bob", *shape))


def added(x: Any, y: Any) -> Any:
    return x.astype(sl.i64) + y


def least(x: Any, y: Any) -> Any:
    return sl.minimum(x, y)


def chosen(x: Any, y: Any) -> Any:
    return sl.where(y, x, 0)


def counted(option: Any, cells: int = 1) -> sl.Program[..., Any]:
    """A program whose result is a sum with noise, for each of some cells."""
    return of_two(added, (sl.i64, "bob", option), cells)


def test_check_and_text_say_what_protects_a_result() -> None:
    total = of_two(
        lambda x, y: chosen(x, y).sum(dtype=sl.u32),
        (sl.u32, "bob", sl.noise(epsilon=0.5, clip=(0, 100))),
        "people <= 100",
        y=sl.boolean,
    )
    said = str(total.check())
    assert "discrete Laplace noise of scale 200" in said
    assert "epsilon 0.5 and delta 2^-39" in said
    assert "sensitivity 100 of one row, each clipped to 0..100" in said
    assert "the author says:" in said
    assert 'note "discrete Laplace' in total.text
    # The option is part of what parties approve.
    assert counted(ONE).hash != counted(sl.noise(epsilon=1, sensitivity=2)).hash


def test_rows_are_clipped_in_the_circuit_before_they_are_added() -> None:
    learnt = sl.i64, "bob", sl.noise(epsilon=13, clip=(10, 20))
    total = of_two(lambda x, y: sl.sum(added(x, y)), learnt, "people <= 100")
    # 10 + 15 + 20, and noise of scale 20/13, which is beyond 45 once in 10^12 times.
    assert abs(int(total([0, 10, 900], [0, 5, 900])) - 45) <= 45


@pytest.mark.parametrize("fraction", [0, 8])
def test_noise_comes_in_steps_of_which_the_result_is_a_multiple(fraction: int) -> None:
    kind = sl.fixed(20, fraction) if fraction else sl.i32
    step = Fraction(1, 16) if fraction else 16
    option = sl.noise(epsilon=13, sensitivity=step, step=step)
    near = of_two(lambda x, y: sl.where(y == 0, x, y), (kind, "bob", option), x=kind, y=kind)
    unit = 1 / 256 if fraction else 1
    for number in (0, 7, 8, 9, 23, -8, -9, 100):
        given = number * unit
        # Noise of such an epsilon is zero but once in 10^5 times, so of two runs one has none.
        wanted = math.floor(Fraction(given) / step + Fraction(1, 2)) * step
        assert any(Fraction(float(near(given, 0))) == wanted for _ in range(2))


def test_a_result_with_noise_stops_at_the_ends_of_its_type() -> None:
    learnt = sl.u8, "bob", sl.noise(epsilon=0.001, sensitivity=1)
    count = of_two(lambda x, y: (x & y).sum(dtype=sl.u8), learnt, 4, x=sl.boolean, y=sl.boolean)
    found = {int(count([True] * 4, [True] * 4)) for _ in range(12)}
    assert {0, 255} <= found or len(found) > 1
    assert all(0 <= value <= 255 for value in found)


REFUSED = {
    "no bound": (lambda: sl.noise(epsilon=1), "does not say how much"),
    "no epsilon": (lambda: sl.noise(epsilon=0, sensitivity=1), "`epsilon=0`"),
    "a large epsilon": (lambda: sl.noise(epsilon=21, sensitivity=1), "protects nobody"),
    "a text": (lambda: sl.noise(epsilon="1", sensitivity=1), "`epsilon='1'`"),
    "ends the wrong way": (lambda: sl.noise(epsilon=1, clip=(5, 1)), "names no two ends"),
    "a large delta": (lambda: sl.noise(epsilon=1, sensitivity=1, delta=0.9), "`delta=0.9`"),
    "ends without end": (lambda: sl.noise(epsilon=1, clip=(0, math.inf)), "names no two ends"),
    "a sampler that adds too much": (
        lambda: counted(sl.noise(epsilon=20, sensitivity=1)).check(),
        "adds a delta of 2^-1",
    ),
    "a delta above 1": (
        lambda: counted(sl.noise(epsilon=20, sensitivity=1), 20_000).check(),
        "adds a delta of 2^-",
    ),
    "less than a unit": (
        lambda: counted(sl.noise(epsilon=1, sensitivity=0.5)).check(),
        "below the unit of its type, 1",
    ),
    "a step of three": (lambda: sl.noise(epsilon=1, sensitivity=1, step=3), "no power of two"),
    "a group of one": (lambda: sl.min_group(1), "no size of a group"),
    "a tiny delta": (
        lambda: counted(sl.noise(epsilon=1, sensitivity=1, delta=1e-12)).check(),
        "too small a `delta`",
    ),
    "a step finer than the type": (
        lambda: counted(sl.noise(epsilon=1, sensitivity=1, step=0.5)).check(),
        "finer than its type",
    ),
    "clipped, and no sum": (
        lambda: counted(sl.noise(epsilon=1, clip=(0, 5))).check(),
        "it is no sum of rows",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_options_that_protect_nothing_are_refused(case: str) -> None:
    make, message = REFUSED[case]
    said = refusal(make)
    assert message in said and "hint: " in said


@pytest.mark.parametrize(
    ("kind", "body", "message"),
    [
        (sl.f64, lambda x: x.astype(sl.f64), "floating point"),
        (sl.boolean, lambda x: x > 3, "truth value"),
        (sl.u16, lambda x: sl.wrap(x, sl.u16.wrapping), "wraps"),
        (sl.nullable(sl.u16), lambda x: x, "no plain numbers"),
    ],
)
def test_results_without_a_unit_take_no_noise(kind: Any, body: Any, message: str) -> None:
    shown = of_two(lambda x, y: body(least(x, y)), (kind, "bob", ONE))
    assert message in refusal(shown.check)


def test_rows_take_no_noise_and_a_party_alone_draws_none() -> None:
    assert "it has rows" in refusal(of_two(least, (sl.u16, "bob", ONE), "n <= 9").check)
    alone = traced(lambda x: x + 0, (sl.u16, "alice", ONE), x=(sl.u16, "alice"))
    assert "would know" in refusal(alone.check)


def test_two_options_do_not_go_together() -> None:
    both = of_two(lambda x, y: least(x, y).sum(dtype=sl.u32), (*THREE, ONE), "n <= 9")
    assert "no noise hides" in refusal(both.check)


def by_ward(least: int, keys: dict[str, Any]) -> sl.Program[..., Any]:
    @sl.program
    def means(
        ward: sl.Private[sl.u8, "alice", "people <= 100"],
        cost: sl.Private[sl.u32, "bob", "people", sl.between(0, 1000)],
    ) -> tuple[
        sl.Revealed[sl.nullable(sl.f64), "bob", sl.min_group(least)],
        sl.Revealed[sl.nullable(sl.u16), "bob", sl.min_group(least)],
    ]:
        groups = sl.group_by(ward, **keys).agg(mean=sl.mean(cost), n=sl.count(cost))
        return groups.mean, groups.n

    return means


@pytest.mark.parametrize("keys", [{"categories": [1, 2, 3]}, {"most": 3}])
@pytest.mark.parametrize("way", ["yao", "clear"])
def test_elements_about_too_few_are_missing(keys: dict[str, Any], way: str) -> None:
    ward, cost = [1, 2, 2, 2, 1, 2], [10, 20, 30, 40, 50, 60]
    mean, n = by_ward(3, keys).simulate(ward, cost, progress=False, protocol=way).value
    assert mean.mask.tolist() == n.mask.tolist() == [True, False, True]
    assert mean[1] == 37.5
    assert n[1] == 4
    mean, n = by_ward(2, keys)(ward, cost)
    assert mean.mask.tolist() == [False, False, True]
    assert "missing where a group has fewer than 3" in str(by_ward(3, keys).check())


def test_sizes_of_other_values_are_stated() -> None:
    def larger(x: Any, y: Any) -> Any:
        return chosen(x, x > y).sum(dtype=sl.u32)

    total = of_two(lambda x, y: sl.sized(larger(x, y), (x > y).sum()), THREE, "n <= 9")
    assert total([10, 12, 13], [9, 9, 9]) == 35
    assert total([10, 12, 3], [9, 9, 9]) is None
    # A sum of some rows is not about all of them.
    assert "how many people" in refusal(of_two(larger, THREE, 3).check)
    shown = of_two(lambda x, y: least(x, y).sum(dtype=sl.u32), (sl.u32, *THREE[1:]), "n <= 9")
    assert "declare `sl.nullable(sl.u32)`" in refusal(shown.check)


@pytest.mark.parametrize("rows", ["n <= 9", 3])
def test_a_size_serves_all_elements(rows: Any) -> None:
    learnt = sl.nullable(sl.u16), "bob", sl.min_group(2)
    some = of_two(lambda x, y: sl.sized(chosen(x, y), y.sum()), learnt, rows, y=sl.boolean)
    assert some([1, 2, 3], [True, False, True]).tolist() == [1, 0, 3]
    assert some([1, 2, 3], [True, False, False]).mask.all()


def test_ends_in_fixed_point_are_those_of_its_unit() -> None:
    """The nearest sixteenth to 0.1 is 0.125, by which a row can change the sum."""
    kind = sl.fixed(8, 4)
    check_sensitivity(kind, sl.fixed(20, 4), (kind, "bob"), 0.1, 0.125)


def check_sensitivity(kind: Any, total: Any, learnt: Any, end: float, stated: float) -> None:
    """Of a sum of rows that are clipped to an end."""
    learnt = *learnt, sl.noise(epsilon=1, clip=(0, end))
    of_rows = of_two(
        lambda x, y: sl.sum(chosen(x, y), dtype=total), learnt, "n <= 9", x=kind, y=sl.boolean
    )
    with pytest.warns(sl.SealaneWarning, match="literal-rounded"):
        assert f"sensitivity {stated} of one row" in str(of_rows.check())


@pytest.mark.parametrize("keys", [{"categories": [1, 2]}, {"most": 2}])
def test_missing_cells_do_not_count_as_people(keys: dict[str, Any]) -> None:
    """Three rows with one wage are about one person."""

    def program(stated: bool) -> sl.Program[..., Any]:
        @sl.program
        def wages(
            job: sl.Private[sl.u8, "alice", "n <= 9"],
            pay: sl.Private[sl.nullable(sl.u16), "bob", "n", sl.between(0, 999)],
        ) -> sl.Revealed[sl.nullable(sl.u32), "bob", sl.min_group(3)]:
            jobs = sl.group_by(job, **keys)
            table = jobs.agg(total=sl.sum(pay, dtype=sl.u32), n=sl.count(pay), rows=sl.count())
            return sl.sized(table.total, table.n) if stated else table.total

        return wages

    assert "how many people" in refusal(program(stated=False).check)
    found = program(stated=True)([1, 1, 1, 2, 2, 2], [900, None, None, 10, 20, 30])
    assert found.mask.tolist() == [True, False]
    assert found[1] == 60


@pytest.mark.parametrize(("rows", "sum_of", "stated"), [(4, 8, 0.0625), (8, 4, 0.0625)])
def test_the_sensitivity_of_a_clip_has_the_units_of_rows_and_sum(
    rows: int, sum_of: int, stated: float
) -> None:
    """The nearest sixteenth to 0.035 is 0.0625, which a finer sum does not make smaller; and a sum
    in sixteenths changes by one, however fine the rows are.
    """
    total = sl.fixed(20, sum_of)
    check_sensitivity(sl.fixed(12, rows), total, (total, "bob"), 0.035, stated)


ACROSS: dict[str, Any] = {
    "a largest": lambda x, y: sl.where(y, sl.max(x), 0),
    "running sums": lambda x, y: sl.where(y, sl.cumsum(x), 0),
    "a mean": lambda x, y: sl.where(y, x - sl.saturate(sl.mean(x), sl.i16), 0),
    "sorted": lambda x, y: sl.where(y, sl.sort(x), 0),
    "rolled": lambda x, y: sl.where(y, sl.roll(x, 1), 0),
}


@pytest.mark.parametrize("way", ACROSS)
def test_rows_made_of_several_rows_need_a_declared_sensitivity(way: str) -> None:
    def program(**options: Any) -> sl.Program[..., Any]:
        learnt = sl.i64, "bob", sl.noise(epsilon=1, clip=(0, 10), **options)
        inputs = {"x": SMALL_ROWS, "y": (sl.boolean, "bob", "n")}
        return traced(lambda x, y: sl.sum(ACROSS[way](x, y)), learnt, **inputs)

    said = refusal(program().check)
    assert "rows of it" in said and "`sensitivity=10.0`" in said
    said = str(program(sensitivity=90).check())
    assert "sensitivity 90 as the author declares, rows clipped to 0..10" in said
    assert "below what one row can change" in refusal(program(sensitivity=9).check)


def test_operations_on_each_row_keep_the_sensitivity_of_one() -> None:
    def added(x: Any, y: Any) -> Any:
        wide = abs(x.astype(sl.i64) * 2 - y.fill(0) % 7)
        return sl.sum(sl.saturate(sl.where((wide > 3) & ~y.is_null, wide, 0), sl.i16), dtype=sl.i64)

    learnt = sl.i64, "bob", sl.noise(epsilon=1, clip=(-5, 10))
    total = of_two(added, learnt, "n <= 9", y=sl.nullable(sl.u16))
    assert "sensitivity 15 of one row" in str(total.check())


ROWWISE: dict[str, tuple[Any, bool]] = {
    "an axis that is no row": (lambda x, w, m, f: w.sum(axis=1, dtype=sl.i64), False),
    "a column": (lambda x, w, m, f: sl.maximum(w[:, 1], w[:, 0]), False),
    "a body for each row": (lambda x, w, m, f: sl.map(lambda a: a[0] * 2 + a[1], w), False),
    "a body with a number": (lambda x, w, m, f: sl.map(lambda a: sl.maximum(a, f), x), True),
    "a public table": (lambda x, w, m, f: sl.lookup([5, 2, 9, 1], x % 4), False),
    "a number beside": (lambda x, w, m, f: sl.minimum(x, f), True),
    "rows under rows": (lambda x, w, m, f: sl.concatenate([x, sl.minimum(m, 7)]), False),
    "running sums of a row": (lambda x, w, m, f: sl.cumsum(w, axis=1)[:, 1], False),
    "a choice": (lambda x, w, m, f: sl.where(w[:, 0] > f, x, 3), True),
    "products": (lambda x, w, m, f: sl.dot(w, np.array([2, 3])), False),
}


@pytest.mark.parametrize("way", ROWWISE)
def test_what_one_row_of_inputs_makes_has_the_sensitivity_of_one(way: str) -> None:
    made, beside = ROWWISE[way]

    total = traced(
        lambda *inputs: sl.sum(made(*inputs), dtype=sl.i64),
        CLIPPED,
        x=SMALL_ROWS,
        w=(sl.i64, "bob", "n", 2, SMALL),
        m=(sl.i64, "bob", "m <= 9", SMALL),
        f=(sl.i64, "bob", SMALL),
    )
    said = " ".join(str(total.check()).split())
    assert "sensitivity 10 of one row, each clipped to 0..10" in said
    assert ("inputs without rows being about nobody" in said) == beside


MIXED: dict[str, Any] = {
    "the same rows twice": lambda x, m, f: sl.concatenate([x, x]),
    "rows and what is made of them": lambda x, m, f: sl.concatenate([x, x * 2]),
    "a sum in a body": lambda x, m, f: sl.map(lambda a: sl.minimum(a, sl.max(x)), x),
    "a state": lambda x, m, f: sl.scan(lambda s, a: (a, sl.maximum(s, 0)), sl.u7(0), x)[1],
    "members of another table": lambda x, m, f: sl.where(sl.isin(x, m), x, 0),
    "first rows": lambda x, m, f: sl.head(x, 3),
    "ranks": lambda x, m, f: sl.rank(x),
    "differences": lambda x, m, f: sl.diff(x, prepend=0),
    "elements in reverse": lambda x, m, f: f + f[::-1],
    "a number of the elements": lambda x, m, f: f + f[0],
}


@pytest.mark.parametrize("way", MIXED)
def test_what_several_rows_make_has_not(way: str) -> None:
    total = traced(
        lambda *inputs: sl.sum(MIXED[way](*inputs), dtype=sl.i64),
        CLIPPED,
        x=SMALL_ROWS,
        m=(sl.i64, "bob", "m <= 9", SMALL),
        f=(sl.i64, "bob", 3, SMALL),
    )
    assert "rows of it" in refusal(total.check)


def test_missing_cells_are_zeros_of_a_clipped_sum() -> None:
    learnt = sl.i64, "bob", sl.noise(epsilon=13, clip=(100, 200))
    inputs = {"x": (sl.nullable(sl.u16), "alice", "n <= 9"), "y": (sl.u16, "bob")}
    total = traced(lambda x, y: sl.sum(x, dtype=sl.i64), learnt, **inputs)
    # Noise has a scale of 200/13, and is beyond 140 once in 9,000 times: three times in 10^12.
    found = [int(total([None] * 8 + [150], 0)) for _ in range(3)]
    assert any(abs(each - 150) < 140 for each in found)
    assert "sensitivity 200 of one row" in str(total.check())


def test_a_sized_value_is_another_value() -> None:
    def sized(x: Any, y: Any) -> Any:
        total = least(x, y).sum(dtype=sl.u32)
        return sl.sized(total, (x > y).sum()), sl.sized(total, (x <= y).sum())

    two = of_two(sized, tuple[sl.Revealed[THREE], sl.Revealed[THREE]], "n <= 9")
    assert two([1, 2, 3], [9, 9, 9]) == (None, 6)


@pytest.mark.parametrize(
    ("value", "size", "message"),
    [
        (lambda x: x[:2], lambda x: sl.stack([x[:2], x[:2]]), "shape [2, 2]"),
        (lambda x: x.sum(), lambda x: x, "are not those of a value of []"),
        (lambda x: x, lambda x: x[:2], "are not those of a value of [3]"),
        (lambda x: x, lambda x: x.astype(sl.f64), "sizes of `sl.f64`"),
        (lambda x: x, lambda x: x > 1, "sizes of `sl.boolean`"),
    ],
)
def test_sizes_that_are_not_those_of_a_value_are_refused(
    value: Any, size: Any, message: str
) -> None:
    inputs = {"x": (sl.u32, "alice", 3, sl.between(0, 9)), "y": (sl.u32, "bob")}
    shown = traced(lambda x, y: sl.sized(value(x), size(x)), THREE, **inputs)
    assert message in refusal(shown.check)


def test_sizes_that_may_be_missing_are_refused() -> None:
    shown = of_two(lambda x, y: sl.sized(y, x), THREE, 3, x=sl.nullable(sl.u32), y=sl.u32)
    assert "sizes that may be missing" in refusal(shown.check)


def test_numbers_of_check_promise_no_more_than_is_so() -> None:
    """Epsilon is rounded up, and how far noise and sensitivity go is rounded down."""
    said = str(counted(sl.noise(epsilon=Decimal("0.12341"), sensitivity=1)).check())
    assert "each run spends epsilon 0.1235 and" in said
    said = str(counted(sl.noise(epsilon=1, sensitivity=Decimal("2.3459"))).check())
    assert "scale 2.345," in said
    assert "sensitivity 2.345 as the author declares" in said
    assert "each run spends epsilon 1 and" in said
