"""Shapes of values: other arrangements of their elements, and joins.

Each function does what NumPy's of that name does, on the fixed axes of a value. Rows stay the first
axis. Nothing here takes a gate: elements are read where they are, or copied without a message.
Where no operand is a value, NumPy computes.
"""

# The native graph alone knows the type of a result; the annotations state what it will be.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sealane import _operands
from sealane._axes import (
    along,
    as_list,
    axis_of,
    axis_of_cells,
    fixed_length,
    lengths_of,
    only,
    places_of,
)
from sealane._kinds import Kind
from sealane._operands import by_numpy, plain, whole_axis
from sealane._operations import operate
from sealane._parts import each, join_cells
from sealane._refusal import refuse_operand, refuse_shape
from sealane._value import Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sealane._axes import Lengths
    from sealane._operands import Public

T = TypeVar("T", bound=Value)
C = TypeVar("C", bound=Value | Kind)


def concatenate(values: Sequence[C | Public], axis: int | None = 0) -> C:
    """Joins values one behind the other along an axis, in their common type: shapes `(n, k)` and
    `(m, k)` give `(n + m, k)`. With `axis=None` each is flattened first.

    Rows of several tables, also of several owners, come to stand under one another, as rows of a
    table of their own: `sl.concatenate([a, b])` of `"here <= 10"` and `"there <= 20"` has the rows
    `here_and_there`, 2 to 30 of them. Columns that are joined in the same way have the same rows.

    Raises `ProgramError` for shapes that differ along another axis, for rows beside what has none,
    and for types without a common one.

    >>> import sealane as sl
    >>> @sl.program
    ... def joined(
    ...     a: sl.Private[sl.u8, "alice", 2], b: sl.Private[sl.u8, "bob", 3]
    ... ) -> sl.Revealed[sl.u8, "bob"]:
    ...     return sl.concatenate([a // 2, b, [6]])
    >>> joined([2, 5], [3, 4, 5])
    array([1, 2, 3, 4, 5, 6], dtype=uint8)
    """
    items = as_list("concatenate", values)
    some = next((item for item in items if isinstance(item, Kind)), None)
    if some is not None:
        place = axis_of_cells(some, axis)
        return join_cells(items, lambda parts: concatenate(parts, place))
    if plain(*items):
        return by_numpy("concatenate", items, axis)
    if axis is None:
        items, axis = [ravel(item) if np.ndim(item) != 1 else item for item in items], 0
    return operate("concatenate", *items, axis=whole_axis(axis))


def reshape(x: T, shape: Lengths) -> T:
    """The elements, in row-major order, in another shape; a length of -1 follows from the others.
    The rows of a value stay its first axis: `sl.reshape(x, (x.shape[0], 2, -1))`.

    Raises `ProgramError` for a shape of another number of elements, and for one that does not begin
    with the rows of `x`.

    >>> import sealane as sl
    >>> @sl.program
    ... def table(
    ...     x: sl.Private[sl.u8, "alice", 6], y: sl.Private[sl.u8, "bob", 3]
    ... ) -> sl.Revealed[sl.u8, "bob"]:
    ...     return sl.maximum(sl.reshape(x, (2, -1)), y)
    >>> table([1, 2, 3, 4, 5, 6], [0, 9, 0])
    array([[1, 9, 3],
           [4, 9, 6]], dtype=uint8)
    """
    if plain(x):
        return by_numpy("reshape", x, shape)
    return operate("reshape", only("reshape", x), lengths=lengths_of(shape))


def ravel(x: T) -> T:
    """The elements along one axis, in row-major order.

    Raises `ProgramError` for a value with rows and further axes.

    >>> import sealane as sl
    >>> @sl.program
    ... def flat(
    ...     x: sl.Private[sl.u8, "alice", 2, 2], y: sl.Private[sl.u8, "bob"]
    ... ) -> sl.Revealed[sl.u8, "bob"]:
    ...     return sl.ravel(x) ^ y
    >>> flat([[1, 2], [3, 4]], 0)
    array([1, 2, 3, 4], dtype=uint8)
    """
    return reshape(x, -1)


def transpose(x: T, axes: Sequence[int] | None = None) -> T:
    """The same elements with the axes in another order, or in reverse order. The rows of a value
    stay its first axis.

    Raises `ProgramError` for axes that are no order of all, and for one that moves the rows.

    >>> import sealane as sl
    >>> @sl.program
    ... def turned(
    ...     x: sl.Private[sl.u8, "alice", 2, 3], y: sl.Private[sl.u8, "bob", 2]
    ... ) -> sl.Revealed[sl.u8, "bob"]:
    ...     return sl.transpose(x) ^ y
    >>> turned([[1, 2, 3], [4, 5, 6]], [0, 0])
    array([[1, 4],
           [2, 5],
           [3, 6]], dtype=uint8)
    """
    if plain(x):
        return by_numpy("transpose", x, axes)
    order = None if axes is None else [whole_axis(axis) for axis in axes]
    return operate("transpose", only("transpose", x), lengths=order)


def swapaxes(x: T, axis1: int, axis2: int) -> T:
    """The same elements with two axes exchanged.

    Raises `ProgramError` for an axis that does not exist, and for the axis of rows.

    >>> import sealane as sl
    >>> @sl.program
    ... def turned(
    ...     x: sl.Private[sl.u8, "alice", 2, 2], y: sl.Private[sl.u8, "bob", 2]
    ... ) -> sl.Revealed[sl.u8, "bob"]:
    ...     return sl.swapaxes(x, 0, 1) ^ y
    >>> turned([[1, 2], [3, 4]], [0, 0])
    array([[1, 3],
           [2, 4]], dtype=uint8)
    """
    order = list(range(np.ndim(x)))
    one, other = axis_of(x, axis1), axis_of(x, axis2)
    order[one], order[other] = other, one
    return transpose(x, order)


def moveaxis(x: T, source: int, destination: int) -> T:
    """The same elements with one axis at another place; the others keep their order.

    Raises `ProgramError` for an axis that does not exist, and where the rows would move.

    >>> import sealane as sl
    >>> @sl.program
    ... def turned(
    ...     x: sl.Private[sl.u8, "alice", 1, 2, 2], y: sl.Private[sl.u8, "bob"]
    ... ) -> sl.Revealed[sl.u8, "bob"]:
    ...     return sl.moveaxis(x, 0, -1) ^ y
    >>> turned([[[1, 2], [3, 4]]], 0).shape
    (2, 2, 1)
    """
    order = list(range(np.ndim(x)))
    from_, to = axis_of(x, source), axis_of(x, destination)
    order.insert(to, order.pop(from_))
    return transpose(x, order)


def expand_dims(x: T, axis: int | Sequence[int]) -> T:
    """The same elements with a new axis of length 1, at this place of the result.

    Raises `ProgramError` for a place that the result does not have.

    >>> import sealane as sl
    >>> @sl.program
    ... def pairs(
    ...     x: sl.Private[sl.u8, "alice", 2], y: sl.Private[sl.u8, "bob", 2]
    ... ) -> sl.Revealed[sl.boolean, "bob"]:
    ...     return sl.expand_dims(x, 1) == y
    >>> pairs([1, 2], [2, 1])
    array([[False,  True],
           [ True, False]])
    """
    if plain(x):
        return by_numpy("expand_dims", x, axis)
    places = [axis] if isinstance(axis, int | np.integer) else list(axis)
    rank = only("expand_dims", x).ndim + len(places)
    chosen = places_of(places, rank)
    index: Any = tuple(None if at in chosen else slice(None) for at in range(rank))
    return x[index]


def squeeze(x: T, axis: int | Sequence[int] | None = None) -> T:
    """The same elements without the axes of length 1: all of them, or those named.

    Raises `ProgramError` for an axis of another length, and for one that does not exist.

    >>> import sealane as sl
    >>> @sl.program
    ... def flat(
    ...     x: sl.Private[sl.u8, "alice", 1, 2, 1], y: sl.Private[sl.u8, "bob"]
    ... ) -> sl.Revealed[sl.u8, "bob"]:
    ...     return sl.squeeze(x) ^ y
    >>> flat([[[1], [2]]], 0)
    array([1, 2], dtype=uint8)
    """
    if plain(x):
        return by_numpy("squeeze", x, axis)
    shape = only("squeeze", x).shape
    single = {at for at, length in enumerate(shape) if length == 1}
    gone = single if axis is None else places_of(axis, len(shape))
    for at in sorted(gone):
        if shape[at] != 1:
            raise refuse_shape(
                f"axis {at} of length {shape[at]} cannot be left out",
                reason="Only an axis of a single element can.",
                hint="take one of its elements, `x[:, 0]`, or reduce along it with `axis=`",
            )
    return x[tuple(0 if at in gone else slice(None) for at in range(len(shape)))]


def broadcast_to(x: T, shape: Lengths) -> T:
    """The elements repeated to a shape, as the operands of one operation are.

    Raises `ProgramError` where the shape of `x` does not broadcast to it, and for rows that `x`
    does not have.

    >>> import sealane as sl
    >>> @sl.program
    ... def twice(
    ...     x: sl.Private[sl.u8, "alice", 2], y: sl.Private[sl.u8, "bob"]
    ... ) -> sl.Revealed[sl.u8, "bob"]:
    ...     return sl.broadcast_to(x ^ y, (2, 2))
    >>> twice([1, 2], 0)
    array([[1, 2],
           [1, 2]], dtype=uint8)
    """
    if plain(x):
        return by_numpy("broadcast_to", x, shape)
    return operate("broadcast_to", only("broadcast_to", x), lengths=lengths_of(shape))


def flip(x: T, axis: int | Sequence[int] | None = None) -> T:
    """The elements in reverse order along an axis, or along all.

    Raises `ProgramError` for an axis that does not exist, and for the axis of rows.

    >>> import sealane as sl
    >>> @sl.program
    ... def back(
    ...     x: sl.Private[sl.u8, "alice", 3], y: sl.Private[sl.u8, "bob"]
    ... ) -> sl.Revealed[sl.u8, "bob"]:
    ...     return sl.flip(x) ^ y
    >>> back([1, 2, 3], 0)
    array([3, 2, 1], dtype=uint8)
    """
    if plain(x):
        return by_numpy("flip", x, axis)
    rank = only("flip", x).ndim
    turned = set(range(rank)) if axis is None else places_of(axis, rank)
    back, whole = slice(None, None, -1), slice(None)
    return x[tuple(back if at in turned else whole for at in range(rank))]


def roll(x: C, shift: int, axis: int | None = None) -> C:
    """The elements moved by `shift` places along an axis, those past the end to its beginning; of
    the flattened value without an axis. Rows are moved all at once, without any gate.

    Raises `ProgramError` for an axis that does not exist.

    >>> import sealane as sl
    >>> @sl.program
    ... def moved(
    ...     x: sl.Private[sl.u8, "alice", 4], y: sl.Private[sl.u8, "bob"]
    ... ) -> sl.Revealed[sl.u8, "bob"]:
    ...     return sl.roll(x, 1) ^ y
    >>> moved([1, 2, 3, 4], 0)
    array([4, 1, 2, 3], dtype=uint8)
    """
    if not plain(x):
        shift = _operands.need_whole("shift", shift, "sl.roll(x, 1)")
    if isinstance(x, Kind):
        place = axis_of_cells(x, axis)
        return each(lambda part: roll(part, shift, place), x)
    if plain(x):
        return by_numpy("roll", x, shift, axis)
    if axis is None:
        flat = ravel(only("roll", x))
        return x if x.ndim == 0 else reshape(roll(flat, shift, 0), x.shape)
    at = axis_of(x, axis)
    if not isinstance(x.shape[at], int):
        return operate("roll", x, number=shift)
    by = shift % fixed_length("roll", x, at)
    if by == 0:
        return x
    return concatenate([along(x, at, slice(-by, None)), along(x, at, slice(None, -by))], at)


def tile(x: T, reps: int | Sequence[int]) -> T:
    """The value as a tile that is repeated so many times along its last axes, or along new ones.

    Raises `ProgramError` for rows that would be repeated, and for numbers that are not positive.

    >>> import sealane as sl
    >>> @sl.program
    ... def tiles(
    ...     x: sl.Private[sl.u8, "alice", 2], y: sl.Private[sl.u8, "bob"]
    ... ) -> sl.Revealed[sl.u8, "bob"]:
    ...     return sl.tile(x ^ y, 2)
    >>> tiles([1, 2], 0)
    array([1, 2, 1, 2], dtype=uint8)
    """
    if plain(x):
        return by_numpy("tile", x, reps)
    times = [reps] if isinstance(reps, int | np.integer) else list(reps)
    own = list(only("tile", x).shape)
    rank = max(len(own), len(times))
    times = [1] * (rank - len(times)) + [_count("tile", number) for number in times]
    if (len(own) < rank and own and isinstance(own[0], str)) or _repeats_rows(own, times):
        raise _rows_repeat("tile", own[0])
    own = [1] * (rank - len(own)) + own
    wide = [length for pair in zip(times, own, strict=True) for length in pair]
    open_ = [length for count, length in zip(times, own, strict=True) for length in (1, length)]
    if own and isinstance(own[0], str):
        wide, open_ = wide[1:], open_[1:]
    wanted = [
        length if isinstance(length, str) else count * length
        for count, length in zip(times, own, strict=True)
    ]
    return reshape(broadcast_to(reshape(x, open_), wide), wanted)


def repeat(x: T, repeats: int, axis: int | None = None) -> T:
    """Each element repeated so many times along an axis; of the flattened value without an axis.

    Raises `ProgramError` for the axis of rows, and for a number that is not positive.

    >>> import sealane as sl
    >>> @sl.program
    ... def doubled(
    ...     x: sl.Private[sl.u8, "alice", 2], y: sl.Private[sl.u8, "bob"]
    ... ) -> sl.Revealed[sl.u8, "bob"]:
    ...     return sl.repeat(x ^ y, 2)
    >>> doubled([1, 2], 0)
    array([1, 1, 2, 2], dtype=uint8)
    """
    if plain(x):
        return by_numpy("repeat", x, repeats, axis)
    if axis is None:
        x, axis = ravel(only("repeat", x)), 0
    at, count = axis_of(x, axis), _count("repeat", repeats)
    if isinstance(x.shape[at], str):
        raise _rows_repeat("repeat", x.shape[at])
    shape: list[Any] = list(x.shape)
    wide = [*shape[: at + 1], count, *shape[at + 1 :]]
    shape[at] *= count
    return reshape(broadcast_to(expand_dims(x, at + 1), wide), shape)


def _count(function: str, number: Any) -> int:
    whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
    if whole and 0 < int(number) < 1 << 32:
        return int(number)
    raise refuse_operand(
        f"`sl.{function}` cannot repeat {reprlib.repr(number)} times",
        reason="Elements are repeated a public number of times, which is at least 1.",
        hint=f"write `sl.{function}(x, 2)`, for example",
    )


def _repeats_rows(shape: list[int | str], times: list[int]) -> bool:
    return bool(shape) and isinstance(shape[0], str) and times[0] != 1


def _rows_repeat(function: str, rows: object) -> Exception:
    return refuse_shape(
        f"`sl.{function}` cannot repeat the rows `{rows}`",
        reason="Their number is known only at run time, and is that of the owner's table.",
        hint=f"repeat along a fixed axis: `sl.{function}(x[:, None], (1, 2))`"
        if function == "tile"
        else "repeat along a fixed axis: `sl.repeat(x[:, None], 2, axis=1)`",
    )
