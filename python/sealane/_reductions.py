"""Reductions of the rows of each group: of sorted rows, whose reductions run along each group, or
of a table with a column of cells for each group, where the cells of other groups are missing.
"""

# The native graph alone knows the type of a result; the annotations state what it will be.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sealane import _statistics
from sealane._functions import any as _any
from sealane._functions import sum as _sum
from sealane._functions import where
from sealane._kinds import Kind
from sealane._nullable import Nullable, nullable
from sealane._operations import exact_type, total
from sealane._order import _sorted, running, starts
from sealane._parts import each
from sealane._quantiles import middle_of, only_one
from sealane._shapes import expand_dims
from sealane._types import FloatingPoint, boolean, f64, i64
from sealane._value import Value


class Reduced(NamedTuple):
    """An argument of `agg`: a reduction by its name, the vector, and the type of a sum or the
    `ddof` of a variance; and the kind of its result, if that is no number.
    """

    reduction: str
    of: Any
    option: Any
    kind: type[Kind] | None

    def in_kind(self, found: Any) -> Any:
        """The result in its kind."""
        return found if self.kind is None or isinstance(found, Kind) else self.kind._of(found)


REDUCTIONS = ("sum", "min", "max", "any", "all", "count", "mean", "var", "std", "median")
Part = tuple[str, Any, type[Value] | None]
"""A running reduction by its name, the column that moves with the keys, and the type in which it is
reduced."""


def running_parts(reduced: Reduced) -> list[Part] | None:
    """The running reductions that make one of groups: none of the number of rows, which is known
    without any. `None` for one that takes all cells for each group: sums of floating point would
    depend on the order, and variances and medians have no such parts.
    """
    reduction, x, dtype, _ = reduced
    if reduction == "count":
        return []
    if reduction in ("var", "std", "median") or (reduction == "sum" and is_float(x)):
        return None
    if reduction == "mean":
        zeroed = x._zeroed() if isinstance(x, Nullable) else x
        exact = exact_type(zeroed, 0)
        known: list[Part] = [("sum", ~x.is_null, i64)] if isinstance(x, Nullable) else []
        return None if exact is f64 else [("sum", zeroed, exact), *known]
    if isinstance(x, Nullable):
        return [(reduction, x._filled(reduction), None), ("any", ~x.is_null, None)]
    if reduction == "sum" and (dtype is not None or type(x) is boolean):
        return [("sum", x, dtype or i64)]
    return [(reduction, x, None)]


def of_running(reduced: Reduced, totals: list[Any], number: Any) -> Any:
    """The reduction of each group, of its running parts at the last row of each."""
    found = totals[0] if totals else number
    if reduced.reduction == "mean":
        found = _quotient(found, [*totals, number][1])
    elif totals and isinstance(reduced.of, Nullable):
        found = Nullable._joined(type(reduced.of), found, ~totals[1])
    elif totals and is_float(reduced.of):
        found = where(number > 0, found, np.nan)
    return reduced.in_kind(found)


def of_table(reduced: Reduced, groups: Any, number: Any) -> Any:
    """The reduction of each group, where `groups` says of each row whether it is of each group."""
    reduction, x, option, _ = reduced
    found: Any
    if reduction == "count":
        found = number
    elif reduction == "any":
        found = _any(groups & expand_dims(x, 1), axis=0)
    elif reduction == "all":
        found = (number > 0) & ~_any(groups & ~expand_dims(x, 1), axis=0)
    elif reduction == "median":
        found = _medians(x, groups)
    else:
        cells = where(groups, x[:, None], None)
        if reduction == "sum":
            found = cells.sum(0, dtype=option)
        elif reduction == "mean":
            known = cells.count(0) if isinstance(x, Nullable) else number
            found = _quotient(total(cells._zeroed(), 0), known)
        elif reduction in ("var", "std"):
            found = getattr(_statistics, reduction)(cells, 0, ddof=option)
        else:
            found = getattr(cells, reduction)(0)
            if not isinstance(x, Nullable):
                found = where(number > 0, found._value, np.nan if is_float(x) else 0)
    return reduced.in_kind(found)


def _medians(x: Any, groups: Any) -> Any:
    """The median of each group: rows are sorted once, by group, and the middle of each chosen."""
    place, ordered = _sorted([place_of(groups), x], [False, False], [])
    new = starts(place)
    rank = running("sum", (new | ~new).astype(i64), new)
    known = expand_dims(place, 1) == np.arange(1, groups.shape[1] + 1)
    held = ordered
    if isinstance(ordered, Nullable):
        held, known = ordered._held(), known & ~ordered.is_null[:, None]
    number: Any = _sum(known, axis=0).astype(i64)

    def at(wanted: Any) -> Any:
        here = known & (expand_dims(rank, 1) == wanted)
        return each(lambda part: only_one(expand_dims(part, 1), here), held)

    middle = middle_of(at((number + 1) // 2), at(number // 2 + 1))
    if isinstance(x, Nullable):
        return Nullable._joined(nullable(type(middle)), middle, number == 0)
    if isinstance(middle, Kind):
        return middle
    known = number > 0
    if is_float(x):
        known = known & ~_any(groups & expand_dims(x != x, 1), axis=0)
    return where(known, middle, np.nan)


def place_of(groups: Any) -> Any:
    """The place of each row's group, from 1; zero for rows of none."""
    number = groups.shape[1]
    counted = np.arange(1, number + 1)
    place: Any = None
    for bit in range(number.bit_length()):
        one = where(_any(groups & (counted >> bit & 1 == 1), axis=1), 1 << bit, 0)
        place = one if place is None else place ^ one
    return place


def is_float(x: Any) -> bool:
    """Returns whether cells are of floating point."""
    return isinstance(x._held() if isinstance(x, Nullable) else x, FloatingPoint)


def _quotient(total: Any, number: Any) -> Any:
    """The mean of each group; NaN where there are no cells."""
    return total.astype(f64) / number.astype(f64)
