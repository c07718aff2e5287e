"""Operands: what functions of programs take beside each other, and the numbers of the source among
their arguments.
"""

from __future__ import annotations

import reprlib
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sealane import _core
from sealane._data import MASKED_HINT, MASKED_REASON, has_masked, is_fractional, pack, ratio
from sealane._refusal import refuse, refuse_operand, refuse_shape
from sealane._unsupported import Unsupported

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal
    from fractions import Fraction
    from typing import TypeAlias

    import numpy.typing as npt

    Number: TypeAlias = int | float | Decimal | Fraction
    Public: TypeAlias = (
        Number
        | np.integer[Any]
        | np.floating[Any]
        | np.bool_
        | npt.NDArray[Any]
        | Sequence[Number]
        | Sequence[Sequence[Number]]
    )


tracing: ContextVar[_core.Trace | None] = ContextVar("tracing", default=None)
"""The trace of the program whose function runs."""

_MOST_BITS = 127
"""The native module takes the numbers of the source in integers of 128 bits."""
_WIDEST = "Types have at most 64 bits: up to 2**64 - 1, or from -2**63 to 2**63 - 1."


class Traced(Unsupported):
    """Base class of values: the node of the graph that one stands for, and the trace of that; typed
    constants belong to no trace.
    """

    __slots__ = ("_node", "_scope")
    _node: _core.Node
    _scope: _core.Trace | None
    _special: ClassVar[bool] = False
    """Infinities and NaN are among its numbers."""


def trace_of(*operands: object) -> _core.Trace:
    """The trace that the operands belong to: of typed constants alone, the one that is under way.

    Raises `ProgramError` if all of them are constants, and none is typed or no program is traced;
    and as `operand` does, if none is a value of numbers and one is nothing to compute with.
    """
    constant = False
    for item in operands:
        if isinstance(item, Traced) and item._scope is not None:
            return item._scope
        constant = constant or isinstance(item, Traced)
    under_way = tracing.get()
    if constant and under_way is not None:
        return under_way
    for item in operands:
        # A date or a list of values is no constant: its own fault comes first.
        operand(item, special=True)
    raise refuse_operand(
        "none of the operands is a value of the program",
        reason="A computation on constants alone needs no party.",
        hint="compute constants with NumPy or Python"
        + (", or inside of the program" if constant else ""),
    )


def operands(*items: object) -> list[_core.Operand]:
    """The operands of one operation. Beside floating point, numbers may be infinite or NaN.

    Raises `ProgramError` as `operand` does.
    """
    special = any(isinstance(item, Traced) and item._special for item in items)
    return [operand(item, special=special) for item in items]


def operand(item: object, *, special: bool = False) -> _core.Operand:
    """A value's node, a Python number, or a constant array as kind, shape and elements; with
    `special`, numbers may be any floats.

    Raises `ProgramError` for an object that is none of these, and for numbers that no type holds.
    """
    if isinstance(item, Traced):
        return item._node
    if isinstance(item, int | np.integer | np.bool_) and not isinstance(item, bool):
        return whole_number(int(item))
    if is_fractional(item):
        return _literal(item, special)
    if isinstance(item, bool | np.ndarray | list | tuple) and not holds_values(item):
        _check_constants(item)
        packed = pack(item, special=special)
        if packed is not None:
            return packed
        item = _strange(item if isinstance(item, np.ndarray) else np.asarray(item, dtype=object))
    if isinstance(item, list | tuple):
        raise refuse_operand("a list of values is not one", hint="join it: `sl.stack([...])`")
    kind = type(item).__name__
    if isinstance(item, Unsupported) and item._below:
        raise refuse_operand(
            f"`{type(item)!r}` cannot be an operand here",
            reason="The function computes with numbers.",
            hint=item._numbers(),
        )
    names_rows = isinstance(item, str) and item.isidentifier()
    raise refuse_operand(
        f"a `{kind}` cannot be an operand",
        reason="Constants of a program are numbers, truth values and NumPy arrays of them.",
        hint="use a number or an array"
        + (f"; if `{item}` is a number of rows, `sl.count(x)`" if names_rows else ""),
    )


def need_numbers(function: str, *items: object) -> None:
    """Checks that no operand of a function is of a kind that is no number.

    Raises `ProgramError` if one is: with the expression for numbers in its place.
    """
    for item in items:
        if isinstance(item, Unsupported) and item._below:
            raise refuse_operand(
                f"`sl.{function}` does not work on `{type(item)!r}`",
                reason="The function computes with numbers.",
                hint=item._numbers(function),
            )


def need_whole(
    argument: str,
    number: object,
    example: str,
    reason: str = "How elements are arranged is public.",
) -> int:
    """A whole number of the source, given as an argument of a function; `reason` says why no value
    is taken for it.

    Raises `ProgramError` for anything else.
    """
    if isinstance(number, int | np.integer) and not isinstance(number, bool):
        return int(number)
    if isinstance(number, Unsupported):
        raise refuse_operand(
            f"`{argument}` is a value of the program, and no number of the source",
            reason=reason,
            hint=f"write a number: `{example}`",
        )
    raise refuse_operand(
        f"`{argument}={reprlib.repr(number)}` is no whole number",
        hint=f"write `{example}`, for example",
    )


def whole_number(number: int) -> int:
    """An integer of the source.

    Raises `ProgramError` for one that is too large for any type.
    """
    if number.bit_length() < _MOST_BITS:
        return number
    raise refuse(
        "constant-range",
        f"no type holds an integer of {number.bit_length()} bits",
        reason=_WIDEST,
        hint="use a smaller number, or split it in several constants",
    )


def _literal(item: Any, special: bool) -> _core.Operand:
    """A number of the source as an exact ratio, or a float that is none."""
    found = ratio(item)
    if found is not None and not (special and item == 0):  # a ratio has no sign of zero
        return found
    try:
        packed = pack(float(item), special=True) if special else None
    except OverflowError:  # a ratio beyond all floats
        packed = None
    if packed is not None:
        return packed
    raise refuse_operand(
        f"`{item}` cannot be an operand",
        reason="A number is finite, and has at most 37 digits before and behind the point.",
        hint="write a finite number"
        if str(item).strip("+-") in ("nan", "inf")
        else "write a number of fewer digits",
    )


def _strange(array: npt.NDArray[Any]) -> object:
    """Finds the first element that is no integer, of an array that cannot be a constant. If all are
    integers, the fault is that no type holds them together.
    """
    numbers: list[Any] = array.ravel().tolist()
    strange = [number for number in numbers if not isinstance(number, int)]
    if strange:
        return strange[0]
    raise refuse(
        "constant-range",
        f"no type holds both {min(numbers)} and {max(numbers)}",
        reason=_WIDEST,
        hint="use smaller numbers, or split each in two constants",
    )


def _check_constants(item: object) -> None:
    """Refuses an array of constants without elements, with rows of different lengths, or with
    elements that a mask says are missing.
    """
    if has_masked(item):
        message = "a constant array has masked elements"
        raise refuse_operand(message, reason=MASKED_REASON, hint=MASKED_HINT)
    try:
        array = np.asarray(item)
    except ValueError:
        raise refuse_operand(
            "rows of a constant array differ in length",
            reason="An array has as many elements in every row.",
            hint="give every row as many elements",
        ) from None
    if array.size == 0:
        raise refuse_operand(
            "a constant array has no elements",
            reason="Every value has at least one, and a table at least one entry.",
            hint="leave the operation out where there is nothing to do",
        )


def holds_values(item: object) -> bool:
    """Returns whether it is a value of the program, of numbers or of any kind, or a list or tuple
    in which one occurs, at any depth.
    """
    if isinstance(item, list | tuple):
        return any(holds_values(inner) for inner in item)
    return isinstance(item, Unsupported)


def plain(*items: object) -> bool:
    """Returns whether there is no value among arguments, so that NumPy computes."""
    return not any(holds_values(item) for item in items)


def by_numpy(name: str, *args: Any, **kwargs: Any) -> Any:
    """Calls the function of NumPy on arguments without a value."""
    function: Any = np
    for part in name.split("."):
        function = getattr(function, part)
    return function(*args, **kwargs)


def length_of(shape: tuple[int | str, ...]) -> int:
    """The length of the first dimension, where Python asks for it.

    Raises `ProgramError` for rows, and for a single element.
    """
    return _length(
        shape,
        "a Python length",
        "reduce over the rows with `.sum()`, or walk them with `sl.map` or `sl.scan`; their "
        "number is `sl.count(x)`, and their mean `sl.mean(x)`",
    )


def loop_length(shape: tuple[int | str, ...]) -> int:
    """The length of the first dimension, along which a Python loop walks.

    Raises `ProgramError` as `length_of` does.
    """
    return _length(
        shape,
        "the end of a Python loop",
        "apply a function to each row with `sl.map(body, rows)`, or carry a state along the "
        "rows with `sl.scan(body, start, rows)`",
    )


def _length(shape: tuple[int | str, ...], use: str, hint: str) -> int:
    match shape:
        case (int(length), *_):
            return length
        case (rows, *_):
            what, why = f"the number of `{rows}`", "It is known only at run time."
        case _:
            what, why = "a single element", "It has no dimension."
    raise refuse("no-length", f"{what} cannot be {use}", reason=why, hint=hint)


def whole_axis(axis: object) -> int:
    """The axis that an argument names; the native module says whether the value has it.

    Raises `ProgramError` for anything but an integer.
    """
    if isinstance(axis, int | np.integer) and not isinstance(axis, bool):
        whole = int(axis)
        if -(1 << 63) <= whole < 1 << 63:
            return whole
    raise refuse_shape(
        f"`axis={reprlib.repr(axis)}` names no axis",
        reason="An axis is a whole number; negative ones count from the last.",
        hint="write `axis=0`, for example; of several axes take one after the other",
    )
