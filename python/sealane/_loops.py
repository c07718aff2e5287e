"""Loops over rows and along axes whose body is traced once: `map` and `scan`."""

# The native graph alone knows the type of a result; the annotations state what it will be.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

from sealane import _operands, _parts, _source
from sealane._elements import type_name
from sealane._functions import clip
from sealane._kinds import Kind
from sealane._operands import operand, trace_of
from sealane._operations import wrap
from sealane._refusal import is_of_users, refuse, refuse_operand
from sealane._value import Value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sealane import _core

A = TypeVar("A")
C = TypeVar("C", bound=Value | Kind)
D = TypeVar("D", bound=Value | Kind)


@overload
def map(body: Callable[[C], A], over: C, /) -> A: ...
@overload
def map(body: Callable[[C, D], A], first: C, second: D, /) -> A: ...
@overload
def map(body: Callable[..., A], *over: Value | Kind) -> A: ...
def map(body: Callable[..., Any], *over: Value | Kind) -> Any:
    """Applies `body` to the elements of axis 0 of each value in `over`, all of the same length.

    `body` takes one element of each, of the shape without axis 0, and returns a value or a tuple of
    values, which gain axis 0. It is traced once, however many elements there are, and may use
    values around it.

    Raises `ProgramError` for lengths that differ, for a body that takes other arguments or returns
    no value, and if nothing in `over` is a value of the program. Exceptions of `body` are passed
    on.

    >>> import sealane as sl
    >>> @sl.program
    ... def settled(
    ...     due: sl.Private[sl.u16, "bank", "bills <= 99"],
    ...     paid: sl.Private[sl.u16, "shop", "bills"],
    ... ) -> sl.Revealed[sl.u16, "bank"]:
    ...     return sl.map(lambda due, paid: sl.minimum(due, paid), due, paid)
    >>> settled([10, 20, 30], [12, 20, 25])
    array([10, 20, 25], dtype=uint16)
    """
    trace = _walks("map", "body", over)
    parts = [operand(part) for part in _parts.flat(over)]
    _, elements = trace.open("map", [], parts, _source.here())
    returned = _call("map", body, *_regrouped(over, trace, elements))
    outputs = [operand(part) for part in _parts.flat(_tuple(returned, "map", body))]
    return _like(returned, trace, trace.close("map", [], outputs, _body_at(body))[1])


def scan(
    body: Callable[..., Any], start: Any, *over: Value | Kind, dtype: type[Value] | None = None
) -> Any:
    """Carries a state along axis 0 of each value in `over`, element by element, in order.

    `body(state, *elements)` returns the next state, or `(next state, output)`. The state is a value
    or a tuple of values, as `start` is, and keeps its types; `dtype` is the type of numbers in
    `start`. Returns the last state; with outputs, the last state and the outputs, which gain axis
    0. `body` is traced once, however many elements there are, and may use values around it.

    Raises `ProgramError` for lengths that differ, for a state that changes its type or shape or
    might leave its type, for a body that takes other arguments or returns no value, and if nothing
    in `over` is a value of the program. Exceptions of `body` are passed on.

    >>> import sealane as sl
    >>> @sl.program
    ... def peaks(
    ...     load: sl.Private[sl.u8, "grid", "hours <= 24"],
    ...     limit: sl.Private[sl.u8, "plant"],
    ... ) -> sl.Revealed[sl.u8, "plant"]:
    ...     def longest(state, now):
    ...         run, most = state
    ...         run = sl.where(now > limit, sl.minimum(run, 23) + 1, 0)
    ...         return run, sl.maximum(run, most)
    ...
    ...     return sl.scan(longest, (0, 0), load, dtype=sl.u8)[1]
    >>> peaks([3, 9, 8, 2, 9], 5)
    np.uint8(2)
    """
    trace = _walks("scan", "body, start", over)
    starts = start if isinstance(start, tuple) else (start,)
    bare = [value for value in starts if not isinstance(value, Value)]
    if dtype is not None and starts and not bare:
        raise refuse(
            "type-mismatch",
            f"`sl.scan` starts with {type(starts[0]).__name__}, which `dtype` does not change",
            reason="`dtype` is the type of numbers in `start`; a value has a type of its own",
            hint="leave `dtype` out, and start with the type that is meant: `sl.u32.wrapping(0)`",
        )
    states, elements = trace.open(
        "scan",
        [_start(part, dtype) for part in _parts.flat(_tuple(start, "scan", body))],
        [operand(part) for part in _parts.flat(over)],
        _source.here(),
    )
    state = _within(_like(start, trace, states))
    returned = _call("scan", body, state, *_regrouped(over, trace, elements))
    following, outputs = _following(start, returned)
    last, written = trace.close(
        "scan",
        [operand(part) for part in _parts.flat(_states(start, following, body))],
        []
        if outputs is None
        else [operand(part) for part in _parts.flat(_tuple(outputs, "scan", body))],
        _body_at(body),
    )
    ended = _within(_like(start, trace, last))
    return ended if outputs is None else (ended, _like(outputs, trace, written))


def _call(function: str, body: Callable[..., Any], *args: Any) -> Any:
    """Calls a body and returns its result; refuses an object that is no function, or one with other
    parameters.
    """
    try:
        return body(*args)
    except TypeError as error:
        if is_of_users(error):
            raise
        states = "the state, and " if function == "scan" else ""
        raise refuse(
            "body",
            f"the body of `{function}` does not take {len(args)} argument{'s'[: len(args) > 1]}",
            reason=f"Python says: {error}.",
            hint=f"give a function of {states}one element of each value that is walked",
            at=_body_at(body),
        ) from None


def _start(value: Any, dtype: type[Value] | None) -> _core.Operand:
    """Initial state of a scan; a bare number takes the type that the caller states."""
    if dtype is None or isinstance(value, Value):
        return operand(value)
    type_name(dtype)  # refuses what is no element type
    return operand(dtype(value))


def _walks(function: str, before: str, over: tuple[object, ...]) -> _core.Trace:
    """Trace of values that are walked along their first axes."""
    for item in over:
        if isinstance(item, list | tuple) and _operands.holds_values(item):
            names = ", ".join("xyzuvw"[: len(item)])
            raise refuse_operand(
                f"`sl.{function}` takes the values to walk one by one, not a {type(item).__name__}",
                hint=f"write `sl.{function}({before}, {names})`",
            )
    return trace_of(*_parts.flat(over))


def _following(start: object, returned: Any) -> tuple[Any, Any]:
    """Next state, and outputs if there are any; a state of several values is a tuple."""
    if not isinstance(returned, tuple):
        return returned, None
    nested = isinstance(returned[0], tuple) if returned else False
    if len(returned) == 2 and (nested or not isinstance(start, tuple)):
        return returned
    return returned, None


def _tuple(item: object, function: str, body: Callable[..., Any]) -> tuple[Any, ...]:
    if item is None or (isinstance(item, tuple) and not item):
        raise refuse(
            "body",
            f"the body of `{function}` returns nothing",
            hint="return a value from it, or a tuple of values",
            at=_body_at(body),
        )
    return item if isinstance(item, tuple) else (item,)


def _like(model: object, trace: _core.Trace, nodes: Sequence[_core.Node]) -> Any:
    """Single value or tuple, like the model; a named tuple keeps its names."""
    if not isinstance(model, tuple):
        return _regrouped([model], trace, nodes)[0]
    return getattr(type(model), "_make", tuple)(_regrouped(model, trace, nodes))


def _regrouped(models: Sequence[Any], trace: _core.Trace, nodes: Sequence[_core.Node]) -> list[Any]:
    """Values of the kinds of the models."""
    return _parts.regrouped(models, [wrap(trace, node) for node in nodes])


def _states(start: object, following: Any, body: Callable[..., Any]) -> tuple[Any, ...]:
    """The next states: cells where the first ones are."""
    states = _tuple(following, "scan", body)
    firsts = start if isinstance(start, tuple) else (start,)
    if len(states) != len(firsts):
        return states  # which the native module refuses
    pairs = zip(firsts, states, strict=True)
    return tuple(
        _parts.meant(first, state) if isinstance(first, Kind) else state for first, state in pairs
    )


def _within(states: Any) -> Any:
    """The states of a scan. Those of a kind lie within its ends, which the native module does not
    know of numbers that are carried.
    """
    if isinstance(states, tuple):
        return getattr(type(states), "_make", tuple)([_within(state) for state in states])
    if not isinstance(states, Kind) or states._word == "number":
        return states
    low, high = states._ends
    held, *rest = _parts.tensors(states)
    sign, bits = states._element[0], int(states._element[1:])
    if (low, high) == (
        (0, (1 << bits) - 1) if sign == "u" else (-1 << bits - 1, (1 << bits - 1) - 1)
    ):
        return states
    return _parts.like(states, [clip(held, low, high), *rest])


def _body_at(body: Callable[..., Any]) -> _source.Span | None:
    return _source.of_function(body) if hasattr(body, "__code__") else _source.here()
