"""Dates, texts, categories and missing cells in sorts, groups, bodies and joins, against pandas."""

from __future__ import annotations

import datetime
import itertools
from typing import Any

import numpy as np
import pytest

import sealane as sl
from conftest import PROTOCOLS, learns, refusal, results, traced

pd = pytest.importorskip("pandas")

Day = datetime.date
Size = sl.category(["s", "m", "l"])
Name = sl.text(4)
MaybeDay = sl.nullable(sl.date)
MaybeNumber = sl.nullable(sl.u8)

DAYS = [Day(2001, 2, 3), Day(1999, 1, 1), Day(2024, 2, 29), Day(1999, 1, 1), Day(1, 1, 1)]
SIZES = ["m", "l", "s", "l", "m"]
NAMES = ["Zoe", "Ada", "Bo", "Ada", ""]
GAPS = [Day(2001, 2, 3), None, Day(1999, 1, 1), None, Day(2024, 2, 29)]
NUMBERS = [7, None, 5, 9, None]


def shown(column: Any) -> list[Any]:
    return list(np.ma.asarray(column).tolist())


@sl.program
def sorted_cells(
    day: sl.Private[sl.date, "ann", "n <= 9"],
    size: sl.Private[Size, "ann", "n"],
    name: sl.Private[Name, "ann", "n"],
    gap: sl.Private[MaybeDay, "ann", "n"],
    z: sl.Private[sl.u8, "ben", "n"],
) -> learns("ben", sl.date, Name, Name, sl.u8, MaybeDay, Size, sl.u8, Name):
    # A choice that nobody knows, so that no owner sorts alone.
    day = sl.where(z > 9, datetime.date(2000, 1, 1), day)
    days, moved = sl.sort_by(day, name)
    names, number = sl.sort_by(name, z)
    gaps, sizes = sl.sort_by((gap, day), size)[0::2]
    return (
        days,
        moved,
        names,
        number,
        gaps,
        sizes,
        sl.argsort(size, descending=True).astype(sl.u8),
        sl.top_k(sl.where(z > 9, "x", name), 2),
    )


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_cells_of_all_kinds_are_sorted_and_moved(protocol: str) -> None:
    found = results(sorted_cells, DAYS, SIZES, NAMES, GAPS, [4, 3, 2, 1, 0], protocol=protocol)
    days = sorted(range(5), key=lambda at: DAYS[at])
    assert shown(found[0]) == [DAYS[at] for at in days]
    assert shown(found[1]) == [NAMES[at] for at in days]
    names = sorted(range(5), key=lambda at: NAMES[at])
    assert shown(found[2]) == [NAMES[at] for at in names]
    assert shown(found[3]) == [4 - at for at in names]
    gaps = sorted(range(5), key=lambda at: (GAPS[at] or Day.max, DAYS[at]))
    assert shown(found[4]) == [GAPS[at] for at in gaps]
    assert shown(found[5]) == [SIZES[at] for at in gaps]
    order = sorted(range(5), key=lambda at: -"sml".index(SIZES[at]))
    assert shown(found[6]) == order
    assert shown(found[7]) == sorted(NAMES)[:-3:-1]


@sl.program
def grouped_cells(
    day: sl.Private[sl.date, "ann", "n <= 9"],
    size: sl.Private[Size, "ann", "n"],
    name: sl.Private[Name, "ann", "n"],
    pay: sl.Private[MaybeNumber, "ann", "n"],
    z: sl.Private[sl.u8, "ben", "n"],
) -> learns("ben", Name, sl.date, sl.u8, sl.f64, sl.u16, Size, sl.u8, sl.date, sl.f64, sl.u8, Name):
    name = sl.where(z > 9, "x", name)
    secret = sl.group_by(name, most=4).agg(
        last=sl.max(day), n=sl.count(), mean=sl.mean(pay), paid=sl.sum(pay, dtype=sl.u16)
    )
    public = sl.group_by(size).agg(
        n=sl.count(), first=sl.min(day), mean=sl.mean(pay), paid=sl.count(pay)
    )
    return (
        secret.keys,
        secret.last,
        secret.n.astype(sl.u8),
        secret.mean,
        secret.paid.astype(sl.u16),
        public.keys,
        public.n.astype(sl.u8),
        public.first,
        public.mean,
        public.paid.astype(sl.u8),
        sl.unique(name, 3).values,
    )


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_groups_have_the_kinds_of_their_keys(protocol: str) -> None:
    found = results(grouped_cells, DAYS, SIZES, NAMES, NUMBERS, [0] * 5, protocol=protocol)
    found = [shown(column) for column in found]
    kinds = sorted(set(NAMES))

    def of(keys: list[str], key: str) -> list[int]:
        return [at for at in range(5) if keys[at] == key]

    def mean(inside: list[int]) -> float:
        paid = [number for at in inside if (number := NUMBERS[at]) is not None]
        return sum(paid) / len(paid) if paid else np.nan

    groups = [of(NAMES, key) for key in kinds]
    assert found[0] == kinds
    assert found[1] == [max(DAYS[at] for at in inside) for inside in groups]
    assert found[2] == [len(inside) for inside in groups]
    np.testing.assert_array_equal(found[3], [mean(inside) for inside in groups])
    assert found[4] == [sum(NUMBERS[at] or 0 for at in inside) for inside in groups]
    groups = [of(SIZES, key) for key in "sml"]
    assert found[5] == list("sml")
    assert found[6] == [len(inside) for inside in groups]
    assert found[7] == [min(DAYS[at] for at in inside) for inside in groups]
    np.testing.assert_array_equal(found[8], [mean(inside) for inside in groups])
    assert found[9] == [sum(NUMBERS[at] is not None for at in inside) for inside in groups]
    assert found[10] == kinds[:3]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_several_keys_have_public_combinations(protocol: str) -> None:
    @sl.program
    def crossed(
        name: sl.Private[Name, "ann", "n <= 9"],
        number: sl.Private[MaybeNumber, "ann", "n"],
        z: sl.Private[sl.u8, "ben", "n"],
    ) -> learns("ben", Name, MaybeNumber, sl.u16):
        wanted = itertools.product(["Ada", "Bo"], [None, 5])
        groups = sl.group_by((name, number), categories=list(wanted)).agg(
            total=sl.sum(z, dtype=sl.u16)
        )
        names, numbers = groups.keys
        return names, numbers, groups.total

    names, numbers, total = results(
        crossed, NAMES, [None, None, 5, 9, None], [1, 2, 4, 8, 16], protocol=protocol
    )
    assert shown(names) == ["Ada", "Ada", "Bo", "Bo"]
    assert shown(numbers) == [None, 5, None, 5]
    assert shown(total) == [2, 0, 0, 4]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_bodies_take_and_return_cells(protocol: str) -> None:
    @sl.program
    def walked(
        day: sl.Private[sl.date, "ann", "n <= 9"],
        name: sl.Private[Name, "ann", "n"],
        gap: sl.Private[MaybeDay, "ann", "n"],
        other: sl.Private[sl.date, "ben", "n"],
        more: sl.Private[Name, "ben", "m <= 9"],
    ) -> learns("ben", sl.date, Name, sl.date, MaybeDay, Name, sl.date, MaybeDay):
        def one(day: Any, name: Any, other: Any) -> Any:
            return sl.maximum(day, other), sl.where(day < other, name, "none")

        later, chosen = sl.map(one, day, name, other)

        def step(state: Any, day: Any, gap: Any) -> Any:
            latest, known = state
            latest = sl.maximum(latest, day)
            known = sl.where(gap.is_null, known, gap)
            return (latest, known), known

        first = sl.head(other, 1)[0]
        nothing = sl.head(gap, 9)[8]
        (latest, _), filled = sl.scan(step, (first, nothing), later, gap)
        both = sl.stack([day, other], axis=1)
        names = sl.concatenate([name, more])
        return later, chosen, latest, filled, names, both.max(axis=1), sl.roll(gap, 1)

    other = [Day(2000, 1, 1)] * 5
    more = ["abcd", "x"]
    found = results(walked, DAYS, NAMES, GAPS, other, more, protocol=protocol)
    later = [max(pair) for pair in zip(DAYS, other, strict=True)]
    chosen = [
        name if day < Day(2000, 1, 1) else "none" for day, name in zip(DAYS, NAMES, strict=True)
    ]
    filled, known = [], None
    for gap in GAPS:
        known = gap or known
        filled.append(known)
    assert shown(found[0]) == later
    assert shown(found[1]) == chosen
    assert found[2] == np.datetime64(max(later))
    assert shown(found[3]) == filled
    assert shown(found[4]) == NAMES + more
    assert shown(found[5]) == later
    assert shown(found[6]) == [GAPS[-1], *GAPS[:-1]]


def refused(body: Any) -> str:
    day, name, x = (sl.date, "ann", "n <= 9"), (Name, "ann", "n"), (sl.u8, "ben", "n")
    return refusal(traced(body, (sl.u8, "ben"), day=day, name=name, x=x).check)


def test_cells_that_do_not_fit_are_refused() -> None:
    assert "no common kind" in refused(lambda day, name, x: sl.stack([day, name]))
    assert "no common kind" in refused(lambda day, name, x: sl.concatenate([day, x]))
    assert "does not work on" in refused(lambda day, name, x: sl.median(name))
    assert "counts the rows of groups" in refused(lambda day, name, x: sl.count() + 1)
    assert "does not name 2 keys" in refused(
        lambda day, name, x: sl.group_by((day, x), categories=[(1, 2), 3])
    )
    assert "are not bounded" in refused(lambda day, name, x: sl.group_by(name))
    assert "no common kind" in refused(
        lambda day, name, x: sl.scan(lambda state, cell: cell, sl.head(day, 2)[0], name)
    )


@sl.program
def middles(
    day: sl.Private[sl.date, "ann", "n <= 20"],
    time: sl.Private[sl.timestamp, "ann", "n"],
    name: sl.Private[Name, "ann", "n"],
    gap: sl.Private[MaybeDay, "ben", "n"],
    number: sl.Private[MaybeNumber, "ben", "n"],
) -> learns(
    "ben",
    sl.date,
    sl.date,
    sl.timestamp,
    Name,
    MaybeDay,
    MaybeDay,
    sl.nullable(sl.f64),
    sl.nullable(sl.f64),
    MaybeNumber,
):
    return (
        sl.median(day),
        sl.mode(day),
        sl.quantile(time, 0.37),
        sl.mode(name),
        sl.median(gap),
        sl.quantile(gap, 0.5, method="higher"),
        sl.median(number),
        sl.quantile(number, 0.25),
        sl.mode(number),
    )


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_medians_quantiles_and_modes_are_those_of_pandas(protocol: str) -> None:
    day = pd.Series(pd.to_datetime(["1969-12-28", "1970-01-02", "1969-12-31", "1970-01-02"]))
    times = ["2024-02-29T12:00:07", "1950-01-01T00:00:00", "2030-05-06T23:59:59"]
    time = pd.Series(pd.to_datetime([*times, times[0]]))
    name = ["b", "abcd", "b", "abcd"]
    gap = day.mask([False, True, False, False])
    number = pd.Series([7, None, 4, 7], dtype="Int8")
    found = results(middles, day, time, name, gap, number, protocol=protocol)
    # Half a day and parts of seconds are rounded down.
    assert found[0] == day.median().floor("D").date() == datetime.date(1970, 1, 1)
    assert found[1] == day.mode()[0].date()
    assert pd.Timestamp(found[2]) == time.quantile(0.37).floor("s")
    assert found[3] == pd.Series(name).mode()[0]
    assert found[4] == gap.median().date()
    assert found[5] == gap.quantile(0.5, interpolation="higher").date()
    assert found[6:] == [number.median(), number.quantile(0.25), number.mode()[0]]


def test_of_cells_that_are_all_missing_everything_is_missing() -> None:
    day, time, none = [Day(2001, 2, 3)] * 2, [datetime.datetime(2001, 2, 3)] * 2, [None] * 2
    assert results(middles, day, time, ["a", "a"], none, none)[4:] == [None] * 5
