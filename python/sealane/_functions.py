"""Functions of values. Their operands are values, Python integers and NumPy arrays; one at least is
a value, since a computation on constants alone is NumPy's.
"""

# The native graph alone knows the type of a result; the annotations state what it will be.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

from sealane import _source, _value
from sealane._refusal import is_of_users, refuse
from sealane._value import Value, operand, trace_of, type_name
from sealane._value import wrap as _wrap

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sealane import _core
    from sealane._value import Holds, Operand, Public, boolean, u8

T = TypeVar("T", bound=Value)
U = TypeVar("U", bound=Value)
A = TypeVar("A")
B = TypeVar("B")


@overload
def where(condition: Operand, yes: Holds[A, B], no: A) -> B: ...
@overload
def where(condition: Operand, yes: A, no: Holds[A, B]) -> B: ...
@overload
def where(condition: Operand, yes: Operand, no: Operand) -> Any: ...
def where(condition: Operand, yes: Any, no: Any) -> Any:
    """Elements of `yes` where the condition is true, of `no` elsewhere. Both are computed.

    >>> import sealane as sl
    >>> @sl.program
    ... def larger(
    ...     a: sl.Private[sl.u8, "alice"], b: sl.Private[sl.u8, "bob"]
    ... ) -> sl.Revealed[sl.u8, "bob"]:
    ...     return sl.where(a > b, a, b)
    >>> larger(3, 5)
    np.uint8(5)
    """
    trace = trace_of(condition, yes, no)
    at = _source.here()
    return _wrap(trace, trace.select(operand(condition), operand(yes), operand(no), at))


@overload
def minimum(a: Holds[A, B], b: A) -> B: ...
@overload
def minimum(a: A, b: Holds[A, B]) -> B: ...
@overload
def minimum(a: Operand, b: Operand) -> Any: ...
def minimum(a: Any, b: Any) -> Any:
    """The smaller of each two elements."""
    return _value.binary("min", a, b)


@overload
def maximum(a: Holds[A, B], b: A) -> B: ...
@overload
def maximum(a: A, b: Holds[A, B]) -> B: ...
@overload
def maximum(a: Operand, b: Operand) -> Any: ...
def maximum(a: Any, b: Any) -> Any:
    """The larger of each two elements."""
    return _value.binary("max", a, b)


def clip(x: T, low: Operand, high: Operand) -> T:
    """Each element, or the end of `low..=high` beyond which it lies: `minimum(maximum(x, low),
    high)`. What follows knows the range.
    """
    return minimum(maximum(_only("clip", x), low), high)


def saturate(x: Value, dtype: type[T]) -> T:
    """Each element in another type, rounded down where that has fewer bits behind the point, or the
    end of the type beyond which it lies. It is never refused for the range of `x`.
    """
    trace = trace_of(_only("saturate", x))
    return _wrap(trace, trace.saturate(operand(x), type_name(dtype), _source.here()))


def wrap(x: Value, dtype: type[T]) -> T:
    """Each integer modulo `2**bits` in another integer type, which need not be a wrapping one: the
    low bits are kept. It is never refused for the range of `x`.
    """
    trace = trace_of(_only("wrap", x))
    return _wrap(trace, trace.wrap(operand(x), type_name(dtype), _source.here()))


def abs(x: T) -> T:
    """The absolute value of each element."""
    return _value.unary("abs", _only("abs", x))


def popcount(x: T) -> T:
    """The number of one bits of each element, in two's complement of its type."""
    return _value.unary("popcount", _only("popcount", x))


@overload
def sum(x: T, axis: int | None = None, *, dtype: None = None) -> T: ...
@overload
def sum(x: Value, axis: int | None = None, *, dtype: type[T]) -> T: ...
def sum(x: Value, axis: int | None = None, *, dtype: type[Value] | None = None) -> Any:
    """The sum along an axis, or of everything, in type `dtype` (by default that of the elements);
    refused where it might not fit.
    """
    return _value.reduce("sum", _only("sum", x), axis, dtype)


def min(x: T, axis: int | None = None) -> T:
    """The smallest element along an axis, or of all."""
    return _value.reduce("min", _only("min", x), axis)


def max(x: T, axis: int | None = None) -> T:
    """The largest element along an axis, or of all."""
    return _value.reduce("max", _only("max", x), axis)


def any(x: Value, axis: int | None = None) -> boolean:
    """Whether some element is true, along an axis or of all."""
    return _value.reduce("any", _only("any", x), axis)


def all(x: Value, axis: int | None = None) -> boolean:
    """Whether every element is true, along an axis or of all."""
    return _value.reduce("all", _only("all", x), axis)


@overload
def dot(a: Operand, b: Operand, *, dtype: type[T]) -> T: ...
@overload
def dot(a: Operand, b: Operand, *, dtype: None = None) -> Any: ...
def dot(a: Operand, b: Operand, *, dtype: type[Value] | None = None) -> Any:
    """Sums of products over the last axis of `a` and the first of `b`, in type `dtype` (by default
    the common type of the elements); refused where they might not fit.
    """
    return _value.dot(a, b, dtype)


@overload
def lookup(table: T, index: Operand) -> T: ...
@overload
def lookup(table: Public, index: Operand) -> Any: ...
def lookup(table: Operand, index: Operand) -> Any:
    """`table[index]` for an index that nobody sees: the entries of `table`, along its first axis,
    at the places that `index` holds.

    The table is a list, a NumPy array or a value without rows, of at most 65,536 entries; an entry
    may have axes of its own. The index is an integer of any shape whose range lies within the
    table, or the lookup is refused. All of the table is touched, whatever the index is.

    >>> import sealane as sl
    >>> @sl.program
    ... def price(
    ...     choice: sl.Private[sl.u8, "guest", sl.between(0, 2)],
    ...     prices: sl.Private[sl.u16, "bar", 3],
    ... ) -> sl.Revealed[sl.u16, "guest"]:
    ...     return sl.lookup(prices, choice)
    >>> price(2, [4, 7, 12])
    np.uint16(12)
    """
    trace = trace_of(table, index)
    return _wrap(trace, trace.lookup(operand(table), operand(index), _source.here()))


def stack(values: Sequence[T | Public], axis: int = 0) -> T:
    """Values of one shape joined along a new axis."""
    try:
        values = list(values)
    except TypeError as error:
        if is_of_users(error):
            raise
        raise refuse(
            "operand",
            f"`sl.stack` takes a list of values, not a `{type(values).__name__}`",
            hint="write `sl.stack([a, b])`",
        ) from None
    axis = _value.whole_axis(axis)
    trace = trace_of(*values)
    return _wrap(trace, trace.stack([operand(value) for value in values], axis, _source.here()))


def aes128(key: Operand, block: Operand) -> u8:
    """AES-128 of blocks of 16 bytes under a key of 16 bytes, along the last axis."""
    trace = trace_of(key, block)
    return _wrap(trace, trace.call("aes128", [operand(key), operand(block)], _source.here()))


def sha256(message: Operand) -> u8:
    """SHA-256 of messages of bytes, along the last axis."""
    trace = trace_of(message)
    return _wrap(trace, trace.call("sha256", [operand(message)], _source.here()))


@overload
def map(body: Callable[[T], A], over: T, /) -> A: ...
@overload
def map(body: Callable[[T, U], A], first: T, second: U, /) -> A: ...
@overload
def map(body: Callable[..., A], *over: Value) -> A: ...
def map(body: Callable[..., Any], *over: Value) -> Any:
    """Applies `body` to the elements of axis 0 of each value in `over`, all of the same length.

    `body` takes one element of each and returns a value or a tuple of values, which gain axis 0. It
    is traced once, however many elements there are, and may use values around it.

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
    elements = trace.open_map([operand(value) for value in over], _source.here())
    returned = _call("map", body, *(_wrap(trace, element) for element in elements))
    outputs = [operand(value) for value in _tuple(returned, "map", body)]
    return _like(returned, trace, trace.close_map(outputs, _body_at(body)))


def scan(
    body: Callable[..., Any], start: Any, *over: Value, dtype: type[Value] | None = None
) -> Any:
    """Carries a state along axis 0 of each value in `over`, element by element, in order.

    `body(state, *elements)` returns the next state, or `(next state, output)`. The state is a value
    or a tuple of values, as `start` is, and keeps its types; `dtype` is the type of numbers in
    `start`. Returns the last state; with outputs, the last state and the outputs, which gain axis
    0. `body` is traced once, however many elements there are, and may use values around it.

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
    states, elements = trace.open_scan(
        [_start(value, dtype) for value in _tuple(start, "scan", body)],
        [operand(value) for value in over],
        _source.here(),
    )
    state = _like(start, trace, states)
    returned = _call("scan", body, state, *(_wrap(trace, element) for element in elements))
    following, outputs = _following(start, returned)
    last, written = trace.close_scan(
        [operand(value) for value in _tuple(following, "scan", body)],
        [] if outputs is None else [operand(value) for value in _tuple(outputs, "scan", body)],
        _body_at(body),
    )
    if outputs is None:
        return _like(start, trace, last)
    return _like(start, trace, last), _like(outputs, trace, written)


def _call(function: str, body: Callable[..., Any], *args: Any) -> Any:
    """What a body returns; refused if it is no function, or one of other arguments."""
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
    """What a state starts from; a bare number in the type that the caller states."""
    if dtype is None or isinstance(value, Value):
        return operand(value)
    type_name(dtype)  # refuses what is no element type
    return operand(dtype(value))


def _walks(function: str, before: str, over: tuple[object, ...]) -> _core.Trace:
    """The trace of values that are walked along their first axes."""
    for item in over:
        if isinstance(item, list | tuple) and _value.holds_values(item):
            names = ", ".join("xyzuvw"[: len(item)])
            raise refuse(
                "operand",
                f"`sl.{function}` takes the values to walk one by one, not a {type(item).__name__}",
                hint=f"write `sl.{function}({before}, {names})`",
            )
    return trace_of(*over)


def _following(start: object, returned: Any) -> tuple[Any, Any]:
    """The next state, and outputs if there are any; a state of several values is a tuple."""
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
    """A single value or a tuple, as the model is; a named tuple keeps its names."""
    values = tuple(_wrap(trace, node) for node in nodes)
    if not isinstance(model, tuple):
        return values[0]
    return getattr(type(model), "_make", tuple)(values)


def _body_at(body: Callable[..., Any]) -> _source.Span | None:
    return _source.of_function(body) if hasattr(body, "__code__") else _source.here()


def _only(function: str, value: object) -> Value:
    if isinstance(value, Value):
        return value
    raise refuse(
        "operand",
        f"`sl.{function}` takes a value of the program, not a `{type(value).__name__}`",
        hint="compute constants with NumPy or Python; join a list of values with `sl.stack([...])`",
    )
