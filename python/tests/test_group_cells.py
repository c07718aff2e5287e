"""Every reduction of groups, by categories and by secret keys, against pandas: of cells that are
missing, NaN, infinite or -0, and of groups without any.
"""

from __future__ import annotations

import datetime
from typing import Any, NamedTuple

import numpy as np
import pytest

import sealane as sl
from conftest import PROTOCOLS, learns, results, traced

pd = pytest.importorskip("pandas")

KEYS = [3, 0, 1, 7]
WAYS: dict[str, dict[str, Any]] = {
    "categories": {"categories": KEYS},
    "many": {"categories": [*KEYS, *range(100, 180)]},
    "secret keys": {"most": 6},
}
FLOATS = [1.5, -2.25, 0.0, -0.0, 3e5, 7.0, 0.1]
SPECIAL = [*FLOATS, *FLOATS, np.nan, np.inf, -np.inf]
DAYS = [datetime.date(2001, 2, 3), datetime.date(1999, 1, 1), datetime.date(1, 1, 2)]
NUMBERS = ["sum", "mean", "var", "std", "median", "min", "max", "count"]
ENDS = ["median", "min", "max", "count"]
TRUTHS = ["any", "all", "sum", "mean", "min", "max", "count"]


class Column(NamedTuple):
    """A kind of cells with some of them, and the reductions and types of its results."""

    kind: Any
    cells: list[Any]
    reductions: list[str] = NUMBERS
    total: Any = sl.i64
    spread: Any = sl.f64
    middle: Any = sl.f64

    @property
    def nullable(self) -> bool:
        return None in self.cells

    def result(self, reduction: str) -> Any:
        kinds = {"sum": self.total, "mean": sl.f64, "count": sl.u32, "median": self.middle}
        kinds |= dict.fromkeys(("var", "std"), self.spread)
        return kinds.get(reduction, self.kind)


Money = sl.fixed(8, 4)
Huge = sl.fixed(20, 44)
Known = sl.nullable(sl.f64)
Day = sl.nullable(sl.date)
COLUMNS = {
    "f64": Column(sl.f64, SPECIAL, total=sl.f64),
    "f32": Column(sl.f32, SPECIAL, total=sl.f32, spread=sl.f32, middle=sl.f32),
    "i16": Column(sl.i16, [5, -7, 0, 300, -32768, 32767]),
    "u64": Column(sl.u64, [2**53, 0, 5], [*NUMBERS[1:]]),
    "fixed": Column(Money, [0.5, -3.25, 7.0, -8.0], total=sl.fixed(40, 4)),
    "wide fixed": Column(Huge, [0.5, -3.25, 2.0**-44], NUMBERS[1:]),
    "boolean": Column(sl.boolean, [True, False], TRUTHS, total=sl.u32),
    "date": Column(sl.date, DAYS, ENDS, middle=sl.date),
    "nullable f64": Column(Known, [*FLOATS, np.inf, None, None, None], total=sl.f64, middle=Known),
    "nullable i16": Column(sl.nullable(sl.i16), [5, -7, 300, None, None], middle=Known),
    "nullable fixed": Column(
        sl.nullable(Money), [0.5, -3.25, None], total=sl.fixed(40, 4), middle=Known
    ),
    "nullable date": Column(Day, [*DAYS, None, None], ENDS, middle=Day),
}


# Medians and variances, and all of floating point, are never reduced by a sort of all rows.
SORTED = ("i16", "fixed", "boolean", "date", "nullable i16", "nullable date")
UNSORTED = {"var", "std", "median"}


def program(column: Column, way: dict[str, Any], reductions: list[str]) -> Any:
    kinds = [column.result(reduction) for reduction in reductions]
    options = {"std": {"ddof": 1}, "sum": {"dtype": column.total}}

    def reduced(key: Any, x: Any) -> Any:
        each = {name: getattr(sl, name)(x, **options.get(name, {})) for name in reductions}
        groups = sl.group_by(key, **way).agg(**{f"{name}_": of for name, of in each.items()})
        found = [getattr(groups, f"{name}_") for name in reductions]
        return groups.keys, *(
            x.astype(sl.u32) if type(x) is sl.i64 and kind is sl.u32 else x
            for x, kind in zip(found, kinds, strict=True)
        )

    inputs = {"key": (sl.u8, "ann", "n <= 40"), "x": (column.kind, "ben", "n")}
    return traced(reduced, learns("ben", sl.u8, *kinds), **inputs)


def wanted(column: Column, cells: Any, reduction: str) -> Any:
    """The reduction of a group by pandas; where that has none it is NaN, missing or zero."""
    if reduction in ("any", "all"):
        return len(cells) > 0 and getattr(cells, reduction)()
    if reduction == "count":
        return cells.count() if column.nullable else len(cells)
    options: dict[str, Any] = {"skipna": column.nullable}
    options |= {"ddof": int(reduction == "std")} if reduction in ("var", "std") else {}
    with np.errstate(all="ignore"):
        found = getattr(cells, reduction)(**options)
    if found == found or (len(cells) and not column.nullable):
        return found
    kind = column.result(reduction)
    if kind in (sl.f32, sl.f64):
        return np.nan
    return None if column.nullable else np.datetime64(0, "D") if kind is sl.date else 0


def check(name: str, way: str, rows: int, seed: int, protocol: str = "clear") -> None:
    column, rng = COLUMNS[name], np.random.default_rng(seed)
    reductions = [each for each in column.reductions if way != "many" or each not in UNSORTED]
    key = rng.integers(0, 5, rows).astype(np.uint8)
    # Each cell is there, a NaN in few groups.
    cells = [column.cells[at % len(column.cells)] for at in rng.permutation(rows)]
    if column.nullable:
        cells = [None if one == 1 else cell for one, cell in zip(key, cells, strict=True)]
    keys, *found = results(program(column, WAYS[way], reductions), key, cells, protocol=protocol)
    known = np.unique(key).tolist()
    assert keys.tolist()[:4] == (KEYS if way != "secret keys" else [*known, 0, 0, 0][:4])
    dates = isinstance(column.cells[0], datetime.date)
    series = pd.Series(np.array(cells, "datetime64[s]") if dates else cells)
    series = series.astype(float) if column.nullable and not dates else series
    for at, one in enumerate(keys):
        inside = series[(key == one) & (way != "secret keys" or at < len(known))]
        for reduction, groups in zip(reductions, found, strict=True):
            got, want = np.ma.asarray(groups)[at], wanted(column, inside, reduction)
            told = (name, way, reduction, one, inside.tolist(), got, want)
            if got is np.ma.masked or want is None:
                assert got is np.ma.masked and want is None, told
            elif dates and reduction != "count":
                assert got == np.datetime64(pd.Timestamp(want), "D"), told
            else:
                close = 1e-6 if column.spread is sl.f32 else 1e-12
                assert got == pytest.approx(float(want), rel=close, nan_ok=True), told


CASES = [(name, way) for name in COLUMNS for way in WAYS if way != "many" or name in SORTED]


@pytest.mark.parametrize(("name", "way"), CASES)
def test_every_reduction_is_that_of_pandas(name: str, way: str) -> None:
    check(name, way, 30, seed=1)


@pytest.mark.parametrize("protocol", PROTOCOLS[1:])
@pytest.mark.parametrize("way", ["categories", "secret keys"])
def test_protocols_give_the_same(way: str, protocol: str) -> None:
    for name in ("nullable i16", "nullable date", "f32"):
        check(name, way, 7, seed=5, protocol=protocol)
