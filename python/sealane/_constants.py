"""Constants of a shape, and the smallest type of a public number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sealane._axes import lengths_of
from sealane._elements import element_type, type_name
from sealane._refusal import refuse_operand, refuse_shape, refuse_type
from sealane._value import Value

if TYPE_CHECKING:
    from sealane._axes import Lengths
    from sealane._operands import Public

T = TypeVar("T", bound=Value)


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
    type_name(dtype)
    lengths = lengths_of(shape)
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
    type_name(dtype)
    return dtype(numbers)


def smallest(low: int, high: int) -> type[Value]:
    """The smallest integer type that holds both ends."""
    if low >= 0:
        return element_type(f"u{max(high.bit_length(), 1)}")
    return element_type(f"i{1 + max((-low - 1).bit_length(), max(high, 0).bit_length())}")
