"""Shapes of values: other arrangements of their elements, joins, and constants of a shape.

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

from sealane import _elements, _operands
from sealane._kinds import Kind
from sealane._operands import by_numpy, plain, whole_axis
from sealane._operations import operate
from sealane._parts import each, join_cells
from sealane._refusal import is_of_users, refuse_operand, refuse_shape, refuse_type
from sealane._value import Value

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from sealane._operands import Public

    Lengths: TypeAlias = int | str | Sequence[int | str]

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
        place = _of_cells(some, axis)
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
    return operate("reshape", only("reshape", x), lengths=_lengths(shape))


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
    chosen = {_place(place, rank) for place in places}
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
    gone = single if axis is None else _places(axis, len(shape))
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
    return operate("broadcast_to", only("broadcast_to", x), lengths=_lengths(shape))


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
    turned = set(range(rank)) if axis is None else _places(axis, rank)
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
        place = _of_cells(x, axis)
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


def zeros(shape: Lengths, dtype: type[T]) -> T:
    """A constant of zeros.

    Raises `ProgramError` for a shape with rows, and for a `dtype` that is no element type.

    >>> import sealane as sl
    >>> sl.zeros((2, 3), sl.u8).shape
    (2, 3)
    """
    return full(shape, 0, dtype)


def ones(shape: Lengths, dtype: type[T]) -> T:
    """A constant of ones.

    Raises `ProgramError` for a shape with rows, and for a `dtype` that is no element type.

    >>> import sealane as sl
    >>> sl.ones(2, sl.f32).dtype
    sealane.f32
    """
    return full(shape, 1, dtype)


def full(shape: Lengths, fill_value: Public, dtype: type[T]) -> T:
    """A constant whose elements are all the same number, or an array that broadcasts to the shape.

    Raises `ProgramError` for a shape with rows, for a `dtype` that is no element type, and for a
    number that it does not have.

    >>> import sealane as sl
    >>> sl.full(3, 7, sl.u8).shape
    (3,)
    """
    _elements.type_name(dtype)
    lengths = _lengths(shape)
    for length in lengths:
        if isinstance(length, str):
            raise refuse_shape(
                f"a constant has no rows `{length}`",
                reason="Their number is known only at run time.",
                hint="a constant of one row broadcasts to all of them; `x * 0` has the rows of `x`",
            )
    return dtype(np.broadcast_to(np.asarray(fill_value), tuple(map(int, lengths))).copy())


def arange(
    start: int | float, stop: int | float | None = None, step: int | float = 1, *, dtype: Any = None
) -> Any:
    """A constant of the numbers from `start`, or 0, to before `stop`, in steps. Integers have the
    smallest type that holds them all; `dtype` names another.

    Raises `ProgramError` for a range without numbers, for fractions without a `dtype`, and for
    numbers that it does not have.

    >>> import sealane as sl
    >>> sl.arange(4).dtype, sl.arange(0, 1, 0.25, dtype=sl.ufixed(1, 7)).shape
    (sealane.u2, (4,))
    """
    numbers = np.arange(start, stop, step) if stop is not None else np.arange(0, start, step)
    if numbers.size == 0:
        raise refuse_operand(
            "a range without numbers is no constant",
            reason="Every value has at least one element.",
            hint="let it stop behind its start: `sl.arange(4)`",
        )
    if dtype is None:
        if numbers.dtype.kind not in "iu":
            raise refuse_type(
                "a range of fractions has no type",
                reason="Fractions are of fixed or floating point.",
                hint="name it: `sl.arange(0, 1, 0.25, dtype=sl.f32)`",
            )
        dtype = smallest(int(numbers.min()), int(numbers.max()))
    _elements.type_name(dtype)
    return dtype(numbers)


def smallest(low: int, high: int) -> type[Value]:
    """The smallest integer type that holds both ends."""
    if low >= 0:
        return _elements.element_type(f"u{max(high.bit_length(), 1)}")
    return _elements.element_type(f"i{1 + max((-low - 1).bit_length(), max(high, 0).bit_length())}")


def only(function: str, value: object) -> Any:
    """The argument, if it is a value.

    Raises `ProgramError` for a list of values, which NumPy would join, and for cells that are no
    numbers.
    """
    if isinstance(value, Value):
        return value
    _operands.need_numbers(function, value)
    raise refuse_operand(
        f"`sl.{function}` takes one value, not a `{type(value).__name__}` of them",
        hint="join them first: `sl.stack([...])`",
    )


def as_list(function: str, values: Any) -> list[Any]:
    """The values that are joined.

    Raises `ProgramError` for a single value.
    """
    try:
        if not isinstance(values, Value):
            return list(values)
    except TypeError as error:
        if is_of_users(error):
            raise
    raise refuse_operand(
        f"`sl.{function}` takes a list of values, not a `{type(values).__name__}`",
        hint=f"write `sl.{function}([a, b])`",
    )


def axis_of(x: Any, axis: object) -> int:
    """An axis counted from the first.

    Raises `ProgramError` for one that does not exist.
    """
    return _place(axis, np.ndim(x))


def fixed_length(function: str, x: Any, axis: int) -> int:
    """Length of a fixed axis.

    Raises `ProgramError` for the axis of rows.
    """
    length = x.shape[axis]
    if isinstance(length, int):
        return length
    raise refuse_shape(
        f"`sl.{function}` does not work along the rows `{length}`",
        reason="Their number is known only at run time, and the result would have another.",
        hint="work along a fixed axis, `axis=1`, or walk the rows with `sl.scan`",
    )


def along(x: T, axis: int, part: slice | int) -> T:
    """A part of one axis, whole along the others."""
    return x[(*[slice(None)] * axis, part)]


def _of_cells(x: Kind, axis: int | None) -> int:
    """An axis of cells as one of the tensors below, where the bytes of a text are the last axis.

    Raises `ProgramError` for an axis that does not exist.
    """
    return _place(0 if axis is None and x.ndim == 1 else axis, x.ndim)


def _places(axis: int | Sequence[int], rank: int) -> set[int]:
    """The axes that an argument names: one, or several."""
    places = [axis] if isinstance(axis, int | np.integer) else axis
    return {_place(place, rank) for place in places}


def _place(axis: object, rank: int) -> int:
    whole = whole_axis(axis)
    if -rank <= whole < rank:
        return whole % rank
    raise refuse_shape(
        f"there is no axis {whole}", reason=_axes(rank), hint="name an axis that is there"
    )


def _axes(rank: int) -> str:
    """The axes that there are, in words."""
    if rank < 2:
        return "There is one: 0, or -1." if rank else "There is none."
    return f"There are {rank} axes: {-rank} to {rank - 1}."


def _lengths(shape: Any) -> list[int | str]:
    """Lengths of a wanted shape: numbers, and the name of rows."""
    several = isinstance(shape, list | tuple)
    lengths = list(shape) if several else [shape]
    for length in lengths:
        known = isinstance(length, int | np.integer | str) and not isinstance(length, bool)
        if not known or (not isinstance(length, str) and not -1 <= length < 1 << 62):
            raise refuse_shape(
                f"`{reprlib.repr(length)}` is no length of a shape",
                reason="A length is a whole number; that of rows is their name in `x.shape`.",
                hint="write `(2, 3)`, for example, or `(x.shape[0], 2, 3)`",
            )
    return [length if isinstance(length, str) else int(length) for length in lengths]


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
