"""Medians, quantiles and modes, each of one sort."""

# The native graph alone knows the type of a result; the annotations state what it will be.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import reprlib
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from sealane._elements import element_type, type_name
from sealane._functions import clip, stack, where
from sealane._functions import max as _largest
from sealane._functions import min as _smallest
from sealane._kinds import Kind
from sealane._moments import Moment
from sealane._nullable import Nullable, nullable
from sealane._operations import of_vector
from sealane._order import places, running, sort, starts, vectors
from sealane._parts import cells, each, numbers
from sealane._refusal import refuse_operand
from sealane._shapes import expand_dims
from sealane._statistics import count, mean
from sealane._types import FloatingPoint, boolean, f64, i64
from sealane._value import Value

C = TypeVar("C", bound=Value | Kind)


_FINEST = 10**6
"""Largest denominator of a quantile: its product with a number of rows fits 64 bits."""


def median(x: Value | Kind) -> Any:
    """Median of a vector: the middle element, or the exact mean of the middle two, rounded once to
    their type of floating point, `sl.f64` for other numbers. For dates and timestamps it is
    rounded down to a day or second. Missing cells count nowhere, and the median of a nullable
    vector is missing if all are. Where an element is NaN, so is the median.

    Raises `ProgramError` for several axes, and if `x` is no value of the program with a middle.

    >>> import sealane as sl
    >>> @sl.program
    ... def middle(
    ...     wages: sl.Private[sl.u32, "office", "people <= 100"], more: sl.Private[sl.u32, "bank"]
    ... ) -> sl.Revealed[sl.f64, "bank"]:
    ...     return sl.median(sl.minimum(wages, more))
    >>> middle([2500, 3100, 4001, 9000], 5000)
    np.float64(3550.5)
    """
    ordered, number = _measured("median", x)
    middle = middle_of(_at(ordered, (number - 1) // 2), _at(ordered, number // 2))
    found = _of_some(x, number, middle)
    of_vector(found._value if isinstance(found, Kind) else found, "median", x)
    return found


def middle_of(low: Any, high: Any) -> Any:
    """The middle of two cells each; of dates and timestamps it is rounded down."""
    if isinstance(low, Moment):
        return _along(low, high, 1, 2)
    return mean(stack([low, high]), axis=0)


def quantile(x: Value | Kind, q: float, *, method: str = "linear") -> Any:
    """Quantile `q` of a vector, at place `q (n - 1)` of its order: the element before (`"lower"`)
    or behind (`"higher"`), in its own type, or the straight line between both (`"linear"`), in
    `sl.f64`, whose steps are rounded as in NumPy. For dates and timestamps it is rounded down to a
    day or second. Missing cells count nowhere, and the quantile of a nullable vector is missing if
    all are. Where an element is NaN, so is the quantile.

    Several quantiles of a vector share one sort: write a call for each.

    Raises `ProgramError` for a `q` outside of 0 to 1 or of more than six decimals, for another
    method, for several axes, and if `x` is no value of the program with an order and differences.

    >>> import sealane as sl
    >>> @sl.program
    ... def high(
    ...     wages: sl.Private[sl.u32, "office", "people <= 100"], more: sl.Private[sl.u32, "bank"]
    ... ) -> sl.Revealed[sl.u32, "bank"]:
    ...     return sl.quantile(sl.minimum(wages, more), 0.75, method="lower")
    >>> high([2500, 3100, 4001, 9000], 5000)
    np.uint32(4001)
    """
    if isinstance(q, list | tuple | np.ndarray) and np.ndim(q) > 0:
        raise refuse_operand(
            f"there is no quantile {reprlib.repr(q)}: each call has one",
            hint="write one for each, of which all share one sort: "
            "`sl.stack([sl.quantile(x, q) for q in (0.25, 0.75)])`",
        )
    if isinstance(q, Value) or not 0 <= q <= 1:
        raise refuse_operand(f"there is no quantile {q!r}", hint="write one of 0 to 1: `0.9`")
    if method not in ("lower", "higher", "linear"):
        raise refuse_operand(
            f"there is no quantile by {method!r}",
            hint='write `method="linear"`, `"lower"` or `"higher"`',
        )
    # The decimal that people wrote, not its nearest binary fraction.
    part = Fraction(str(q))
    if part.denominator > _FINEST:
        raise refuse_operand(
            f"the quantile {q!r} has more than six decimals",
            reason="Its place is computed exactly, from the decimal that is written.",
            hint=f"round it: `{round(float(q), 6)}`",
        )
    ordered, number = _measured("quantile", x)
    scaled = (number - 1) * part.numerator
    low = scaled // part.denominator
    if method == "lower":
        return _of_some(x, number, _at(ordered, low))
    high = (scaled + (part.denominator - 1)) // part.denominator
    if method == "higher":
        return _of_some(x, number, _at(ordered, high))
    rest = scaled % part.denominator
    before, behind = _at(ordered, low), _at(ordered, high)
    if isinstance(before, Moment):
        return _of_some(x, number, _along(before, behind, rest, part.denominator))
    before, behind = before.astype(f64), behind.astype(f64)
    along = rest.astype(f64) / float(part.denominator)
    rising = before + (behind - before) * along
    falling = behind - (behind - before) * (1.0 - along)
    return _of_some(x, number, where(along < 0.5, rising, falling))


def mode(x: C) -> C:
    """The most frequent element of a vector, the smallest of several. Missing cells count nowhere,
    and the mode of a nullable vector is missing if all are.

    Raises `ProgramError` for several axes, and if `x` is no value of the program.

    >>> import sealane as sl
    >>> @sl.program
    ... def usual(
    ...     x: sl.Private[sl.u8, "shop", "rows <= 9"], y: sl.Private[sl.u8, "bank"]
    ... ) -> sl.Revealed[sl.u8, "bank"]:
    ...     return sl.mode(sl.maximum(x, y))
    >>> usual([5, 3, 5, 9], 0)
    np.uint8(5)
    """
    vectors("mode", [cells("mode", x)])
    ordered = sort(x)
    new = starts(ordered)
    # How many equal elements stand before each: the last of the most frequent ones has most.
    runs = running("sum", (new | ~new).astype(i64), new)
    if isinstance(ordered, Nullable):
        runs = where(ordered.is_null, 0, runs)
    most = runs == _largest(runs)
    first = most & (running("sum", most.astype(i64)) == 1)
    found: Any = _at(ordered, first)
    return found


def _measured(function: str, x: Any) -> tuple[Any, Any]:
    """The elements of a vector in ascending order, and how many there are: of nullable cells those
    that are not missing, and then others.

    Raises `ProgramError` for what is no vector of numbers, dates or timestamps.
    """
    held = x._held() if isinstance(x, Nullable) else x
    vectors(function, [held if isinstance(held, Moment) else numbers(function, held)])
    ordered = sort(x)
    number: Any = count(x).astype(i64)
    return ordered._held() if isinstance(ordered, Nullable) else ordered, number


def _of_some(x: Any, number: Any, found: Any) -> Any:
    """The finding about a vector: NaN where that has a NaN, as in NumPy; that about a nullable one
    is missing where all its cells are.
    """
    if not isinstance(x, Nullable):
        return where((x != x).any(), np.nan, found) if isinstance(x, FloatingPoint) else found
    return Nullable._joined(nullable(type(found)), found, number == 0)


def _along(before: Moment, behind: Moment, part: Any, whole: int) -> Any:
    """The day or second at a part of the way, rounded down."""
    gap: Any = (behind - before).astype(i64)
    number: Any = before._value.astype(i64) + gap * part // whole
    return before._of(clip(number, *before._ends).astype(element_type(before._element)))


def _at(ordered: Any, place: Value) -> Any:
    """The element at a secret place of a vector, or where a truth value is true; zeros or a missing
    cell if that is nowhere.
    """
    here = place if isinstance(place, boolean) else places(ordered) == place

    def one(part: Any) -> Any:
        wide = expand_dims(here, tuple(range(1, part.ndim))) if part.ndim > 1 else here
        return only_one(part, wide)

    return each(one, ordered)


def only_one(part: Any, here: Any) -> Any:
    """The element of a tensor in the only place that is true, along axis 0; zero if none is."""
    if isinstance(part, boolean):
        return (here & part).any(axis=0)
    if isinstance(part, FloatingPoint):
        return _largest(where(here, part, -np.inf), axis=0)
    # Zeros elsewhere: the element is the largest, unless it is below zero.
    found = where(here, part, 0)
    if type_name(type(part)).startswith("u"):
        return _largest(found, axis=0)
    low, high = _smallest(found, axis=0), _largest(found, axis=0)
    return where(low < 0, low, high)
