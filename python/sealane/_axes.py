"""Axes and lengths that arguments name, and the checks that arguments are values with such axes."""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sealane._operands import need_numbers, whole_axis
from sealane._refusal import is_of_users, refuse_operand, refuse_shape
from sealane._value import Value

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from sealane._kinds import Kind

    Lengths: TypeAlias = int | str | Sequence[int | str]

T = TypeVar("T", bound=Value)


def only(function: str, value: object) -> Any:
    """The argument, if it is a value.

    Raises `ProgramError` for a list of values, which NumPy would join, and for cells that are no
    numbers.
    """
    if isinstance(value, Value):
        return value
    need_numbers(function, value)
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


def axis_of_cells(x: Kind, axis: int | None) -> int:
    """An axis of cells as one of the tensors below, where the bytes of a text are the last axis.

    Raises `ProgramError` for an axis that does not exist.
    """
    return _place(0 if axis is None and x.ndim == 1 else axis, x.ndim)


def places_of(axis: int | Sequence[int], rank: int) -> set[int]:
    """The axes that an argument names: one, or several.

    Raises `ProgramError` for one that does not exist.
    """
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


def lengths_of(shape: Any) -> list[int | str]:
    """Lengths of a wanted shape: numbers, and the name of rows.

    Raises `ProgramError` for what is no length.
    """
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
