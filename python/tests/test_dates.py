"""Dates and timestamps: their parts, differences and costs."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pytest

import sealane as sl
from conftest import PROTOCOLS, learns, planned, traced
from sealane import _dates

Day = datetime.date
DAYS = [Day(1, 1, 1), Day(1899, 12, 31), Day(1970, 1, 1), Day(2000, 2, 29), Day(9999, 12, 31)]


@sl.program
def parts(d: sl.Private[sl.date, "ann", "rows <= 9"], more: sl.Private[sl.u8, "ben"]) -> learns(
    "ben", sl.u14, sl.u4, sl.u5, sl.u3, sl.date
):
    return d.year, d.month, d.day, d.weekday, d


@sl.program
def packed(
    d: sl.Private[sl.date, "ann", "rows <= 40_000"], more: sl.Private[sl.u8, "ben"]
) -> sl.Revealed[sl.u26, "ben"]:
    """All parts in one number, which is quicker to reveal millions of times."""
    year, month, day = (part.astype(sl.u26) for part in (d.year, d.month, d.day))
    return year << 12 | month << 8 | day << 3 | d.weekday


class Plain(np.ndarray[Any, Any]):
    """Numbers of NumPy in the place of values: types change nothing."""

    def astype(self, dtype: Any, *_: Any, **__: Any) -> Any:
        return self if isinstance(dtype, type(sl.u8)) else super().astype(dtype)


ALL_DAYS = np.arange(_dates.FIRST_DAY, _dates.LAST_DAY + 1)


def by_numpy(days: Any) -> tuple[Any, ...]:
    """Year, month, day and day of the week."""
    dates = days.astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    year, month = divmod(months.astype(np.int64), 12)
    day = (dates - months.astype("datetime64[D]")).astype(np.int64)
    return year + 1970, month + 1, day + 1, (days + 3) % 7


def test_every_day_has_the_parts_that_python_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    """The formulas, on plain numbers: all days take long as circuits."""
    entries = lambda table, index: np.array(table)[np.asarray(index)]  # noqa: E731
    monkeypatch.setattr("sealane._functions.lookup", entries)
    days = ALL_DAYS.view(Plain)
    found = (*_dates.parts(days), _dates.weekday(days))
    for part, wanted in zip(found, by_numpy(ALL_DAYS), strict=True):
        assert np.array_equal(part, wanted)
    for at in (0, 1, 58, 59, 60, 365, 146_096, len(days) - 1):
        by_python = Day.fromordinal(at + 1)
        assert tuple(part[at] for part in found[:3]) == by_python.timetuple()[:3]
        assert found[3][at] == by_python.weekday()


def test_circuits_give_the_parts_of_days_of_all_years() -> None:
    # Every day of the years around the ends of centuries, and one of every 211.
    years = [1, 4, 100, 1899, 1900, 1999, 2000, 2024, 9999]
    starts = [Day(year, 1, 1).toordinal() - 1 for year in years]
    chosen = np.concatenate(
        [*(np.arange(at, at + 365) for at in starts), np.arange(0, 3652059, 211)]
    )
    days = ALL_DAYS[chosen]
    found = packed.simulate(days.astype("datetime64[D]"), 0, clear=True, progress=False).value
    parts_found = found >> 12, found >> 8 & 15, found >> 3 & 31, found & 7
    for part, wanted in zip(parts_found, by_numpy(days), strict=True):
        assert np.array_equal(part, wanted)


@pytest.mark.parametrize("protocol", PROTOCOLS[1:])
def test_protocols_give_the_same_parts(protocol: Any) -> None:
    year, month, day, weekday, same = planned(parts, DAYS, 0, protocol=protocol).value
    assert year.tolist() == [d.year for d in DAYS]
    assert month.tolist() == [d.month for d in DAYS]
    assert day.tolist() == [d.day for d in DAYS]
    assert weekday.tolist() == [d.weekday() for d in DAYS]
    assert same.tolist() == DAYS


@pytest.mark.parametrize(
    ("part", "result", "wanted"),
    [
        (lambda d: d.year, sl.u14, (500, 440)),
        (lambda d: d.month, sl.u4, (476, 428)),
        (lambda d: d.day, sl.u5, (491, 443)),
        (lambda d: d.weekday, sl.u3, (62, 52)),
        (lambda d: sl.age_in_years(d, Day(2024, 7, 1)), sl.i16, (569, 491)),
        (lambda d: d < Day(2024, 7, 1), sl.boolean, (22, 16)),
    ],
    ids=["year", "month", "day", "weekday", "age", "less"],
)
def test_parts_of_a_date_cost_what_the_guide_says(part: Any, result: Any, wanted: Any) -> None:
    found = []
    for marker in ([], [sl.between(Day(1900, 1, 1), Day(2099, 12, 31))]):
        of_ann, of_ben = (sl.date, "ann", *marker), (sl.date, "ben", *marker)
        inputs = {"d": of_ann, "e": of_ben, "c": (sl.boolean, "ben")}
        # A choice that nobody knows, so that no owner computes the part alone.
        whole = traced(lambda d, e, c: sl.where(c, d, e), (sl.date, "ann"), **inputs)
        some = traced(lambda d, e, c: part(sl.where(c, d, e)), (result, "ann"), **inputs)
        found.append(some.plan().ands - whole.plan().ands)
    assert tuple(found) == wanted


@sl.program
def differences(
    a: sl.Private[sl.date, "ann", "rows <= 9", sl.between(Day(1900, 1, 1), Day(2100, 1, 1))],
    b: sl.Private[sl.date, "ben", "rows", sl.between(Day(1900, 1, 1), Day(2100, 1, 1))],
) -> learns("ben", sl.i32, sl.date, sl.boolean, sl.date, sl.date, sl.i32, sl.i16, sl.date):
    """Each operation of dates."""
    week = datetime.timedelta(days=7)
    some = sl.where(a < b, a, Day(2000, 1, 1))
    return (
        a - b,
        a + 30 - week,
        (a < Day(2000, 1, 1)) | (b == np.datetime64("2020-02-29")),
        sl.maximum(a, b),
        some,
        Day(2000, 1, 1) - a,
        sl.age_in_years(a, b),
        a.min(),
    )


def test_dates_are_computed_with() -> None:
    a = [Day(2000, 2, 29), Day(1999, 12, 31), Day(2020, 3, 1)]
    b = [Day(2018, 2, 28), Day(2020, 2, 29), Day(2019, 3, 1)]
    gap, later, either, last, some, left, age, first = differences(a, b)
    assert gap.tolist() == [(x - y).days for x, y in zip(a, b, strict=True)]
    assert later.tolist() == [x + datetime.timedelta(days=23) for x in a]
    assert either.tolist() == [False, True, False]
    assert last.tolist() == list(map(max, a, b))
    assert some.tolist() == [a[0], a[1], Day(2000, 1, 1)]
    assert left.tolist() == [(Day(2000, 1, 1) - x).days for x in a]
    # Before the birthday on 1 March; after it; a year before birth.
    assert age.tolist() == [17, 20, -1]
    assert first == np.datetime64(a[1])


@sl.program
def moments(
    t: sl.Private[sl.timestamp, "ann", "rows <= 9"], u: sl.Private[sl.timestamp, "ben", "rows"]
) -> learns("ben", sl.date, sl.u5, sl.u6, sl.u6, sl.i64, sl.timestamp):
    return t.date, t.hour, t.minute, t.second, t - u, sl.where(t < u, t, u)


def test_timestamps_have_parts_and_differences() -> None:
    t = ["1969-12-31T23:59:59", "2024-02-29 12:30:05Z", "0001-01-01", "9999-12-31T23:59:59"]
    u = ["1970-01-01T00:00:00", "2024-03-01 00:00", "0001-01-02", "9999-12-31T23:59:58"]
    date, hour, minute, second, gap, first = moments.simulate(t, u, clear=True).value
    assert date.astype(str).tolist() == ["1969-12-31", "2024-02-29", "0001-01-01", "9999-12-31"]
    assert hour.tolist() == [23, 12, 0, 23]
    assert minute.tolist() == [59, 30, 0, 59]
    assert second.tolist() == [59, 5, 0, 59]
    assert gap.tolist() == [-1, -41395, -86400, 1]
    assert first.dtype == np.dtype("datetime64[s]")
    assert first.astype(str).tolist()[1] == "2024-02-29T12:30:05"
