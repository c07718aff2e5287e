"""Rows of several tables: under one another, and each with all rows of another, against NumPy,
under every protocol.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sealane as sl
from conftest import PROTOCOLS, learns, refusal, results, traced


@sl.program
def joined(
    here_key: sl.Private[sl.u8, "ann", "here <= 40"],
    here: sl.Private[sl.i16, "ann", "here", sl.between(-300, 300)],
    there_key: sl.Private[sl.u8, "ben", "there <= 40"],
    there: sl.Private[sl.i16, "ben", "there", sl.between(-500, 200)],
) -> tuple[
    *learns("ann", sl.i32, sl.u7, sl.i32, sl.u7, sl.i16, sl.i16, sl.f64, sl.i32).__args__,
    sl.Revealed[sl.i16, "ann", "ben"],
]:
    key = sl.concatenate([here_key, there_key])
    value = sl.concatenate([here, there])
    groups = sl.group_by(key, categories=[0, 2, 1]).agg(
        total=sl.sum(value, dtype=sl.i32), n=sl.count()
    )
    secret = sl.group_by(key, most=4).agg(total=sl.sum(value, dtype=sl.i32))
    return (
        sl.sum(value, dtype=sl.i32),
        sl.count(value),
        groups.total,
        groups.n,
        sl.sort(value),
        sl.sort_by(key, value)[1],
        sl.mean(value),
        secret.total,
        sl.map(lambda item: item // 2, value),
    )


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(("here", "there"), [(1, 1), (5, 3), (2, 7), (0, 4), (3, 0), (0, 0)])
def test_rows_of_two_owners_are_one_table(protocol: str, here: int, there: int) -> None:
    rng = np.random.default_rng(here)
    keys = [rng.integers(0, 4, count).astype(np.uint8) for count in (here, there)]
    values = [rng.integers(-300, 200, count).astype(np.int16) for count in (here, there)]
    found = results(joined, keys[0], values[0], keys[1], values[1], protocol=protocol)
    key, value = np.concatenate(keys), np.concatenate(values)
    assert found[0] == value.sum()
    assert found[1] == here + there
    assert found[2].tolist() == [value[key == one].sum() for one in (0, 2, 1)]
    assert found[3].tolist() == [(key == one).sum() for one in (0, 2, 1)]
    assert found[4].tolist() == np.sort(value).tolist()
    assert found[5].tolist() == value[np.argsort(key, kind="stable")].tolist()
    assert found[6] == value.mean() if len(value) else np.isnan(found[6])
    sums = [value[key == one].sum() for one in np.unique(key)]
    assert found[7].tolist() == [*sums, *[0] * (4 - len(sums))]
    assert found[8].tolist() == (value // 2).tolist()


def test_rows_of_three_owners_and_of_tables() -> None:
    @sl.program
    def three(
        a: sl.Private[sl.u8, "ann", "a <= 9", 2],
        b: sl.Private[sl.u8, "ben", "b <= 9", 2],
        c: sl.Private[sl.u16, "cyd", "c <= 9", 2],
    ) -> tuple[sl.Revealed[sl.u16, "ann"], sl.Revealed[sl.u32, "ann"]]:
        once = sl.concatenate([a, b, c])
        twice = sl.concatenate([sl.concatenate([a, b]), c])
        assert once.shape == twice.shape == ("a_and_b_and_c", 2)
        return once, (once + twice.astype(sl.u32)).sum(axis=1)

    rng = np.random.default_rng(2)
    tables = [rng.integers(0, 99, (count, 2)) for count in (2, 1, 4)]
    every, sums = results(three, *tables, protocol="clear")
    whole = np.concatenate(tables)
    assert every.tolist() == whole.tolist()
    assert sums.tolist() == (2 * whole.sum(axis=1)).tolist()


def test_plans_know_the_sum_of_rows() -> None:
    plan = joined.plan(rows={"here": 10, "there": 7})
    assert plan.rows == {"here": 10, "there": 7, "here_and_there": 17}
    with pytest.raises(sl.SealaneError, match="whose parts have 17"):
        joined.plan(rows={"here": 10, "there": 7, "here_and_there": 18})


@sl.program
def matched(
    wanted: sl.Private[sl.u8, "ann", "asked <= 200"],
    factor: sl.Private[sl.u4, "ann", "asked"],
    key: sl.Private[sl.u8, "ben", "known <= 300"],
    value: sl.Private[sl.i16, "ben", "known", sl.between(-200, 300)],
    more: sl.Private[sl.u4, "ben"],
) -> learns("ann", sl.i32, sl.u16, sl.i16, sl.i32):
    def each(wanted: Any, factor: Any) -> Any:
        same = key == wanted
        total = sl.sum(sl.where(same, value, 0), dtype=sl.i32)
        number = sl.sum(same, dtype=sl.u16)
        best = sl.max(sl.where(same, value, -200))
        # A reduction of what a reduction made.
        spread = sl.sum(sl.where(same, sl.abs(value - best), 0), dtype=sl.i32)
        return total * (factor.astype(sl.i32) + more), number, best, spread

    return sl.map(each, wanted, factor)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(("asked", "known"), [(1, 1), (3, 7), (6, 2)])
def test_every_row_meets_every_row(protocol: str, asked: int, known: int) -> None:
    meet(protocol, asked, known)


def test_rows_meet_in_several_tiles_and_blocks() -> None:
    meet("clear", 150, 290)


def meet(protocol: str, asked: int, known: int) -> None:
    rng = np.random.default_rng(asked)
    wanted, factor = rng.integers(0, 4, asked), rng.integers(0, 9, asked)
    key, value = rng.integers(0, 4, known), rng.integers(-200, 300, known)
    found = results(matched, wanted, factor, key, value, 2, protocol=protocol)
    for at in range(asked):
        inside = value[key == wanted[at]]
        best = max(inside, default=-200)
        row = [inside.sum() * (factor[at] + 2), len(inside), best, np.abs(inside - best).sum()]
        assert [column[at] for column in found] == row


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_fixed_elements_and_tables_meet_rows(protocol: str) -> None:
    @sl.program
    def nearest(
        centre: sl.Private[sl.i8, "ann", 2, 2],
        points: sl.Private[sl.i8, "ben", "points <= 9", 2],
        weight: sl.Private[sl.u4, "ben", "points"],
    ) -> tuple[sl.Revealed[sl.i32, "ann"], sl.Revealed[sl.i32, "ann"]]:
        def near(centre: Any) -> Any:
            gap = points.astype(sl.i32) - centre
            far = sl.map(lambda row: sl.max(sl.abs(row)), gap)
            return sl.min(far), sl.sum(gap * gap * weight[:, None], axis=0)

        return sl.map(near, centre)

    rng = np.random.default_rng(3)
    centre, points = rng.integers(-9, 9, (2, 2)), rng.integers(-9, 9, (5, 2))
    weight = rng.integers(0, 9, 5)
    least, sums = results(nearest, centre, points, weight, protocol=protocol)
    gap = points[None] - centre[:, None]
    assert least.tolist() == np.abs(gap).max(axis=2).min(axis=1).tolist()
    assert sums.tolist() == (gap * gap * weight[None, :, None]).sum(axis=1).tolist()


def test_rows_of_one_table_meet_each_other() -> None:
    @sl.program
    def smaller(
        x: sl.Private[sl.u8, "ann", "n <= 9"], y: sl.Private[sl.u8, "ben", "n"]
    ) -> tuple[sl.Revealed[sl.u8, "ben"], sl.Revealed[sl.u16, "ben"]]:
        x = sl.maximum(x, y)
        below = sl.map(lambda item: sl.sum(x < item), x).astype(sl.u8)
        return below, sl.sum(x, dtype=sl.u16)

    x = np.array([5, 3, 5, 9])
    for protocol in PROTOCOLS:
        below, total = results(smaller, x, [0, 0, 6, 0], protocol=protocol)
        values = np.array([5, 3, 6, 9])
        assert below.tolist() == [(values < item).sum() for item in values]
        assert total == values.sum()


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("rows", [1, 2, 9])
def test_running_values_of_rows(protocol: str, rows: int) -> None:
    @sl.program
    def sofar(
        x: sl.Private[sl.i16, "ann", "n <= 30", sl.between(-900, 900)],
        y: sl.Private[sl.i16, "ben", "n", sl.between(-900, 900)],
    ) -> learns("ben", sl.i32, sl.i32, sl.u32, sl.u16):
        z = x.astype(sl.i32) + y

        # Functions `a x + b` modulo 2^16, one behind the other.
        def after(first: Any, second: Any) -> Any:
            return first[0] * second[0], first[1] * second[0] + second[1]

        wrapped = sl.wrap(z, sl.u16).astype(sl.u16.wrapping)
        _, shifts = sl.associative_scan(after, (wrapped, wrapped))
        product = sl.cumprod(sl.wrap(z, sl.u32).astype(sl.u32.wrapping))
        return sl.cumsum(z), sl.cummax(z), product.astype(sl.u32), shifts.astype(sl.u16)

    rng = np.random.default_rng(rows)
    x, y = rng.integers(-900, 900, rows), rng.integers(-900, 900, rows)
    found = results(sofar, x, y, protocol=protocol)
    z = x + y
    assert found[0].tolist() == z.cumsum().tolist()
    assert found[1].tolist() == np.maximum.accumulate(z).tolist()
    assert found[2].tolist() == z.astype(np.uint32).cumprod(dtype=np.uint32).tolist()
    shift, wanted = 0, []
    for item in z.tolist():
        shift = (shift * item + item) % (1 << 16)
        wanted.append(shift)
    assert found[3].tolist() == wanted


def test_running_rows_take_few_rounds_where_rounds_count() -> None:
    @sl.program
    def most(
        x: sl.Private[sl.u8, "ann", "n <= 1_000"], y: sl.Private[sl.u8, "ben", "n"]
    ) -> sl.Revealed[sl.u8, "ben"]:
        return sl.cummax(sl.maximum(x, y))

    plan = most.plan(rows={"n": 1000}, protocol="trio", helpers=["una"])
    assert plan.rounds < 200


@pytest.mark.parametrize("rows", [(4, 3), (0, 3), (4, 0), (0, 0)])
def test_membership_in_the_rows_of_another_table(rows: tuple[int, int]) -> None:
    @sl.program
    def known(
        x: sl.Private[sl.u8, "ann", "n <= 9"],
        pairs: sl.Private[sl.u8, "ann", 2, 3],
        y: sl.Private[sl.u8, "ben", "m <= 9"],
    ) -> learns("ann", sl.boolean, sl.boolean, sl.boolean):
        return sl.isin(x, y), sl.isin(pairs, y, invert=True), sl.isin([4, 9], y)

    x, pairs, y = [1, 2, 3, 4][: rows[0]], [[1, 4, 9], [7, 2, 2]], [4, 2, 8][: rows[1]]
    one, two, three = results(known, x, pairs, y)
    assert one.tolist() == np.isin(x, y).tolist()
    assert two.tolist() == (~np.isin(pairs, y)).tolist()
    assert three.tolist() == np.isin([4, 9], y).tolist()


@sl.program
def visits(days: sl.Private[sl.u8, "ann", "n <= 9", 2], least: sl.Private[sl.u8, "ben"]) -> learns(
    "ben", sl.u16, sl.boolean, sl.u8, sl.boolean, sl.u16, sl.f64, sl.u8
):
    first = days[:, 0]
    last = sl.scan(lambda state, day: sl.maximum(state, day), sl.u16(7), first)
    head = sl.head(first, 2) + (least & 0)
    return (
        *(
            days.sum(axis=0, dtype=sl.u16) + least,
            (first > least).any(),
            days // sl.maximum(first.max(), 1),
        ),
        *((first > least).all(), last | least, sl.mean(first), head),
    )


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_table_may_have_no_rows(protocol: str, tmp_path: Path) -> None:
    file = tmp_path / "ann.csv"
    file.write_text("days_0,days_1\n")
    for given in ([], np.zeros((0, 2), np.uint8), str(file)):
        found = results(visits, given, 3, protocol=protocol)
        assert np.isnan(found.pop(5))
        kept = [[3, 3], False, [], True, 7, [0, 0]]
        assert [result.tolist() for result in found] == kept
        assert found[2].shape == (0, 2)
    report = visits.simulate([], 3, progress=False)
    report.write(tmp_path / "out.csv")
    assert (tmp_path / "out.n.csv").read_text() == "result_2_0,result_2_1\n"
    assert report.rows == {"n": 0}
    said = refusal(lambda: largest.simulate([], 1), sl.DataError)
    assert "data-rows" in said and "return x.max() > y\n" in said
    assert "reason: `max` of no rows is no number" in said


@sl.program
def largest(
    x: sl.Private[sl.u8, "ann", "n <= 9"], y: sl.Private[sl.u8, "ben"]
) -> sl.Revealed[sl.boolean, "ben"]:
    return x.max() > y


def refused(body: Any) -> str:
    inputs = {
        "x": (sl.u8, "ann", "n <= 9"),
        "table": (sl.u8, "ben", "m <= 9", 2),
        "four": (sl.u8, "ben", 4),
        "text": (sl.text(3), "ben", "m"),
    }
    return refusal(traced(body, (sl.u8, "ben"), **inputs).plan)


def test_rows_that_do_not_fit_are_refused() -> None:
    assert "cannot stand under" in refused(lambda x, table, four, text: sl.concatenate([x, four]))
    assert "do not fit under" in refused(lambda x, table, four, text: sl.concatenate([x, table]))
    assert "no common kind" in refused(lambda x, table, four, text: sl.concatenate([text, x]))
    for body in (
        lambda x, table, *_: sl.map(lambda e: sl.max(sl.cummax(table[:, 0] ^ e)), x),
        lambda x, table, *_: sl.scan(lambda s, e: s ^ e ^ sl.max(table[:, 0]), sl.u8(0), x),
    ):
        assert "sees all `m` rows" in refused(body)
