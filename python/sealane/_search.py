"""Membership, bins, differences and rounding."""

# The native graph alone knows the type of a result; the annotations state what it will be.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sealane import _elements, _functions, _loops, _operands, _statistics
from sealane._axes import along, axis_of, fixed_length, only
from sealane._elements import type_name
from sealane._extremes import is_nan, with_last_axis
from sealane._kinds import Kind, mixed
from sealane._nullable import Nullable
from sealane._operands import by_numpy, plain
from sealane._order import places
from sealane._parts import cells
from sealane._refusal import counted, refuse, refuse_operand, refuse_shape
from sealane._shapes import concatenate, expand_dims, ravel, roll
from sealane._types import FixedPoint, FloatingPoint, boolean
from sealane._value import Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sealane._value import Operand

T = TypeVar("T", bound=Value)


def diff(x: Any, n: int = 1, axis: int = -1, *, prepend: Any = None) -> Any:
    """Differences of neighbours along an axis, `x[1:] - x[:-1]`, `n` times over; of `boolean`
    whether they differ. With `prepend` an element, or one for each column, stands before the first,
    so that there are as many differences as elements: along rows it is needed, with `n=1`. Of dates
    the differences are days, and of timestamps seconds.

    Raises `ProgramError` where a difference might not fit its type, along rows without `prepend`,
    and for fewer elements than are taken away.

    >>> import sealane as sl
    >>> @sl.program
    ... def steps(
    ...     x: sl.Private[sl.u8, "alice", "days <= 9"], y: sl.Private[sl.i16, "bob"]
    ... ) -> sl.Revealed[sl.i16, "bob"]:
    ...     return sl.diff(x.astype(sl.i16), prepend=0) ^ y
    >>> steps([1, 5, 3], 0)
    array([ 1,  4, -2], dtype=int16)
    """
    if plain(x) and plain(prepend) and not isinstance(x, Kind):
        return by_numpy("diff", x, n, axis, **({} if prepend is None else {"prepend": prepend}))
    at = axis_of(cells("diff", x), axis)
    length: Any = x.shape[at]
    if isinstance(length, str):
        return _diff_of_rows(x, n, prepend)
    left = length if prepend is None else length + 1
    if not isinstance(n, int | np.integer) or not 0 <= n < left:
        raise refuse_operand(
            f"`sl.diff` cannot take {reprlib.repr(n)} differences of {counted(left, 'element')}",
            reason="Each leaves one element less, and every value has at least one.",
            hint="write `sl.diff(x)`, for example, for at least two elements",
        )
    first = None if prepend is None else along(x, at, slice(0, 1))
    for _ in range(n):
        later, before = along(x, at, slice(1, None)), along(x, at, slice(None, -1))
        x = _less(later, before)
        if first is not None:
            x, first = concatenate([_less(first, prepend), x], axis=at), None
    return x


def _diff_of_rows(x: Any, n: int, prepend: Any) -> Any:
    """Differences of rows, the first of which stands behind `prepend`."""
    rows = x.shape[0]
    if prepend is None or n != 1:
        raise refuse_shape(
            f"differences of the rows `{rows}` are fewer than there are rows"
            if prepend is None
            else f"`sl.diff` takes one difference of the rows `{rows}`, not {reprlib.repr(n)}",
            reason="How many rows there are is known only at run time, and the result has as many.",
            hint="name the element before the first: `sl.diff(x, prepend=0)`"
            if prepend is None
            else "call it again for differences of differences",
        )
    first: Any = places(x) == 0
    if x.ndim > 1:
        first = expand_dims(first, tuple(range(1, x.ndim)))
    return _less(x, _functions.where(first, prepend, roll(x, 1, 0)))


def _less(x: Any, y: Any) -> Any:
    """The difference; of truth values whether they differ."""
    return x ^ y if isinstance(x, boolean) else x - y


def isin(x: Any, values: Any, *, invert: bool = False) -> Any:
    """Returns a `boolean` for each element of `x`: whether it is one of `values`, a public list or
    a value, or with `invert` none of them. Each element is compared with all of them: of a table
    with the rows of one column. Dates, texts and categories are looked for among those of their
    kind; a missing cell is none of any.

    Raises `ProgramError` for a table of several columns, and for types without a common one.

    >>> import sealane as sl
    >>> @sl.program
    ... def listed(
    ...     x: sl.Private[sl.u16, "shop", "people <= 9"], known: sl.Private[sl.u16, "bank", 3]
    ... ) -> sl.Revealed[sl.boolean, "shop"]:
    ...     return sl.isin(x, known) | sl.isin(x, [7, 8])
    >>> listed([1, 7, 30, 4], [30, 31, 32])
    array([False,  True,  True, False])
    """
    if plain(x, values):
        return by_numpy("isin", x, values, invert=invert)
    if isinstance(values, list | tuple) and _operands.holds_values(values):
        values = _functions.stack(values)
    found = _is_among(x, values)
    return ~found if invert else found


def _is_among(x: Any, values: Any) -> Any:
    """Returns whether each element of `x` is one of `values`."""
    if isinstance(x, Nullable):
        return _is_among(x._held(), values) & ~x.is_null
    of_cells = isinstance(x, Kind) or isinstance(values, Kind)
    x, others = _alike(x, values) if of_cells else (x, _beside("isin", x, values))
    if isinstance(others, Value | Kind) and others.ndim and isinstance(others.shape[0], str):
        if others.ndim == 1:
            return _among_rows(x, others)
        raise refuse(
            "whole-rows",
            f"`sl.isin` cannot compare with all elements of the rows `{others.shape[0]}`",
            reason="The number of rows is known only at run time.",
            hint="give one column of the table, such as `table[:, 0]`",
        )
    if not isinstance(others, Value | Kind) and others.size == 0:
        return (x == x) & False
    if isinstance(others, Kind):
        while others.ndim > 1:
            others = concatenate([*others])
        return (x[..., None] == others).any(axis=-1)
    others = ravel(others) if isinstance(others, Value) else others.ravel()
    return (with_last_axis(x) == others).any(axis=-1)


def _alike(x: Any, values: Any) -> tuple[Any, Any]:
    """Cells and those among which they are looked for, in one kind."""
    from sealane import _groups  # which imports this module itself

    if isinstance(values, Nullable):
        _operands.need_numbers("isin", values)
    for one, other in ((x, values), (values, x)):
        if isinstance(one, Kind) and isinstance(other, Value):
            raise mixed(one, other)
    if isinstance(x, Kind) and isinstance(values, Kind):
        return x, values
    listed = np.ravel(np.asarray(values if isinstance(x, Kind) else x, dtype=object))
    if isinstance(x, Kind):
        return x, _groups.listed_cells(x, [*listed]) if listed.size else listed
    cells = _groups.listed_cells(values, [*listed])
    return cells if np.ndim(x) else cells[0], values


def _among_rows(x: Any, rows: Any) -> Any:
    """Returns whether each element is one of the rows of a vector, all of which it meets."""
    if not isinstance(x, Value | Kind) and np.ndim(x):
        return _functions.stack([_among_rows(item, rows) for item in np.asarray(x)])
    if not isinstance(x, Value | Kind) or x.ndim == 0:
        return _functions.any(rows == x)
    if x.ndim > 1:
        last = range(fixed_length("isin", x, x.ndim - 1))
        return _functions.stack([_among_rows(x[..., at], rows) for at in last], axis=-1)
    return _loops.map(lambda item: _functions.any(rows == item), x)


def searchsorted(a: Operand, v: Operand, side: str = "left") -> Any:
    """Index for each element of `v` at which it would be inserted in the ascending `a` to keep the
    order: before equal elements, or behind them with `side="right"`. `a` is a public list or a
    value of one fixed axis. Each element is compared with all of them.

    Raises `ProgramError` for an `a` of another shape or, where it is public, another order.

    >>> import sealane as sl
    >>> @sl.program
    ... def band(
    ...     income: sl.Private[sl.u32, "office", 3], least: sl.Private[sl.u32, "bank"]
    ... ) -> sl.Revealed[sl.u8, "bank"]:
    ...     return sl.searchsorted([1000, 2000, 5000], sl.maximum(income, least), side="right")
    >>> band([10, 2000, 9000], 20)
    array([0, 2, 3], dtype=uint8)
    """
    if side not in ("left", "right"):
        raise refuse_operand(
            f"there is no side {reprlib.repr(side)} of equal elements",
            hint='write `side="left"` or `side="right"`',
        )
    if plain(a, v):
        return by_numpy("searchsorted", a, v, side)
    order = _beside("searchsorted", v, a)
    if order.ndim != 1 or not isinstance(order.shape[0], int) or order.shape[0] == 0:
        raise refuse_shape(
            f"`sl.searchsorted` takes one fixed axis of sorted elements, not shape {order.shape}",
            hint="write `sl.searchsorted([10, 20, 30], x)`, for example",
        )
    if not isinstance(order, Value) and (order[1:] < order[:-1]).any():
        raise refuse_operand(
            "the public list of `sl.searchsorted` is not in ascending order",
            reason="An index into it would mean nothing.",
            hint="sort it: `sl.searchsorted(np.sort(a), x)`",
        )
    column = with_last_axis(v)
    before = column > order if side == "left" else column >= order
    if isinstance(column, FloatingPoint) or isinstance(order, FloatingPoint):
        # NaN is behind all numbers.
        behind = is_nan(column)
        before = before | (behind if side == "right" else behind & ~is_nan(order))
    return before.sum(axis=-1)


def histogram(
    x: Value, bins: int | Sequence[Any] = 10, range: tuple[Any, Any] | None = None
) -> tuple[Any, Any]:
    """Numbers of elements in public bins, and the edges of these, as NumPy returns them. `bins` are
    the edges in ascending order, or the number of bins of one width in `range`. A bin has its lower
    edge and not its upper one; the last bin has both. Elements outside count nowhere.

    Raises `ProgramError` for edges that do not ascend, and for a number of bins without `range`,
    since the ends of secret data are not public.

    >>> import sealane as sl
    >>> @sl.program
    ... def ages(
    ...     age: sl.Private[sl.u8, "clinic", "people <= 99"], least: sl.Private[sl.u8, "office"]
    ... ) -> sl.Revealed[sl.u16, "office"]:
    ...     return sl.histogram(sl.maximum(age, least), [0, 20, 40, 60])[0]
    >>> ages([3, 20, 39, 60, 61], 1)
    array([1, 2, 1], dtype=uint16)
    """
    if plain(x):
        return by_numpy("histogram", x, bins, range)
    x, edges = only("histogram", x), _beside("histogram", x, _edges(bins, range))
    column = with_last_axis(x)
    reached = column >= edges[:-1]
    beyond: Any = column > edges[-1:]
    if len(edges) > 2:
        beyond = concatenate([along(reached, reached.ndim - 1, slice(1, None)), beyond], axis=-1)
    inside, counted = reached & ~beyond, type(_statistics.count(x))
    inside = inside.astype(counted)
    for _ in x.shape:
        inside = inside.sum(axis=0)
    return inside, edges


def round(x: T, decimals: int = 0) -> T:
    """The nearest whole number, halves to the even one, in the type of `x`. `decimals` is a number
    of places behind the decimal point of floating point, and with NumPy's own roundings; a negative
    one is a number of places before it, of integers as well.

    Raises `ProgramError` where a rounded number might not fit the type, and for decimals of fixed
    point.

    >>> import sealane as sl
    >>> @sl.program
    ... def whole(
    ...     x: sl.Private[sl.f32, "alice", 3], y: sl.Private[sl.f32, "bob"]
    ... ) -> sl.Revealed[sl.f32, "bob"]:
    ...     return sl.round(x * y)
    >>> whole([0.5, 1.5, -2.7], 1)
    array([ 0.,  2., -3.], dtype=float32)
    """
    if plain(x):
        return by_numpy("round", x, decimals)
    x, places = only("round", x), int(_operands.whole_axis(decimals))
    if isinstance(x, FloatingPoint):
        return _round_floats(x, places)
    if isinstance(x, FixedPoint):
        if places:
            raise refuse_operand(
                f"fixed point cannot be rounded to {counted(places, 'decimal')}",
                reason="Its numbers are multiples of a power of two, and few decimals are.",
                hint="count in hundredths: `sl.round(x * 100)`, or convert: `x.astype(sl.f64)`",
            )
        return _round_fixed(x)
    return x if places >= 0 or isinstance(x, boolean) else _round_whole(x, 10**-places)


def _round_floats(x: Any, places: int) -> Any:
    from sealane import math

    if places == 0:
        return math.rint(x)
    scale = 10.0 ** abs(places)
    if places > 0:
        return math.rint(x * scale) / scale
    return math.rint(x / scale) * scale


def _round_fixed(x: Any) -> Any:
    """The floor, and one more where the rest is more than a half, or a half above an odd number."""
    kind = type_name(type(x))
    sign, _, bits = kind.partition("fixed")
    whole, fraction = map(int, bits.split("."))
    if fraction == 0:
        return x
    wide = _elements.element_type(f"{'u' if sign else 'i'}{min(whole + 1, 64)}")
    floor = x.astype(wide)
    # Where the type has no 1, it has bits to spare for the difference.
    rest = x % 1 if whole > (not sign) else x - floor
    odd = (floor & 1) == 1
    up = (rest > 0.5) | ((rest == 0.5) & odd)
    return (floor + up.astype(wide)).astype(type(x))


def _round_whole(x: Any, unit: int) -> Any:
    kind = type(x)
    if not _holds(kind, unit):
        return x * 0
    down = x // unit
    rest, half = x - down * unit, unit // 2
    up = (rest > half) | ((rest == half) & ((down & 1) == 1))
    return (down + up.astype(kind)) * unit


def _holds(kind: type[Value], number: int) -> bool:
    name = type_name(kind).partition(".")[0]
    return number < 1 << (int(name[1:]) - (name[0] == "i"))


def _beside(function: str, x: Any, public: Any) -> Any:
    """A value, or a public list in numbers that compare with `x`: floats where it is of floating
    point.
    """
    _operands.need_numbers(function, x, public)
    if isinstance(public, Value):
        return public
    array = np.asarray(public)
    return array.astype(float) if isinstance(x, FloatingPoint) else array


def _edges(bins: Any, ends: tuple[Any, Any] | None) -> Any:
    """Edges of public bins."""
    if isinstance(bins, int | np.integer) and not isinstance(bins, bool):
        if ends is None or bins < 1:
            raise refuse_operand(
                f"{bins} bins of secret elements have no edges",
                reason="The smallest and the largest element are secret.",
                hint="write `sl.histogram(x, 10, range=(0, 100))`, or give the edges",
            )
        return by_numpy("histogram_bin_edges", np.zeros(0), int(bins), ends)
    edges = np.asarray(bins)
    if edges.ndim != 1 or edges.size < 2 or not (edges[1:] >= edges[:-1]).all():
        raise refuse_operand(
            "the edges of bins are at least two numbers in ascending order",
            hint="write `sl.histogram(x, [0, 10, 20])`, for example",
        )
    return edges
