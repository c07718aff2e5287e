"""Functions of values. Their operands are values, Python integers and NumPy arrays; at least one is
a value, since NumPy computes on constants alone.
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
    """Selects elements of `yes` where the condition is true, of `no` elsewhere. Both are computed.

    The condition is `boolean`; `yes` and `no` are converted to their common type. All three
    broadcast as in NumPy. Raises `ProgramError` for a condition of another type, for shapes that
    do not broadcast, and for types without a common one.

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
    """Smaller of each two elements, in the common type of both operands, which broadcast.

    Raises `ProgramError` if the types have no common one.

    >>> import sealane as sl
    >>> @sl.program
    ... def cheaper(
    ...     a: sl.Private[sl.u8, "alice"], b: sl.Private[sl.u8, "bob"]
    ... ) -> sl.Revealed[sl.u8, "alice"]:
    ...     return sl.minimum(a, b)
    >>> cheaper(3, 5)
    np.uint8(3)
    """
    return _value.binary("min", a, b)


@overload
def maximum(a: Holds[A, B], b: A) -> B: ...
@overload
def maximum(a: A, b: Holds[A, B]) -> B: ...
@overload
def maximum(a: Operand, b: Operand) -> Any: ...
def maximum(a: Any, b: Any) -> Any:
    """Larger of each two elements, in the common type of both operands, which broadcast.

    Raises `ProgramError` if the types have no common one.

    >>> import sealane as sl
    >>> @sl.program
    ... def dearer(
    ...     a: sl.Private[sl.u8, "alice"], b: sl.Private[sl.u8, "bob"]
    ... ) -> sl.Revealed[sl.u8, "alice"]:
    ...     return sl.maximum(a, b)
    >>> dearer(3, 5)
    np.uint8(5)
    """
    return _value.binary("max", a, b)


def clip(x: T, low: Operand, high: Operand) -> T:
    """Clips each element to `low..=high`: `minimum(maximum(x, low), high)`. The result has the
    shape of the operands, which broadcast, and a range within both ends, which later operations
    use.

    >>> import sealane as sl
    >>> @sl.program
    ... def score(x: sl.Private[sl.u8, "alice"], top: sl.Private[sl.u8, "bob"]) -> sl.Revealed[
    ...     sl.boolean, "bob"
    ... ]:
    ...     return sl.clip(x, 0, 100) > top
    >>> score(200, 99)
    np.True_
    """
    return minimum(maximum(_only("clip", x), low), high)


def saturate(x: Value, dtype: type[T]) -> T:
    """Converts each element to another type, rounded down if that has fewer fraction bits, or to
    the end of the type that it exceeds. Keeps the shape; never refused for the range of `x`.
    """
    trace = trace_of(_only("saturate", x))
    return _wrap(trace, trace.saturate(operand(x), type_name(dtype), _source.here()))


def wrap(x: Value, dtype: type[T]) -> T:
    """Reduces each integer modulo `2**bits`, in another integer type, which need not be a wrapping
    one: the low bits are kept. Keeps the shape; never refused for the range of `x`.

    Raises `ProgramError` for a type that is no integer.
    """
    trace = trace_of(_only("wrap", x))
    return _wrap(trace, trace.wrap(operand(x), type_name(dtype), _source.here()))


def abs(x: T) -> T:
    """Absolute value of each element, in the type and shape of `x`.

    Raises `ProgramError` where the type cannot hold it: `abs(-128)` does not fit `i8`.
    """
    return _value.unary("abs", _only("abs", x))


def popcount(x: T) -> T:
    """Number of one bits of each element, in two's complement of its type. Keeps the shape."""
    return _value.unary("popcount", _only("popcount", x))


@overload
def sum(x: T, axis: int | None = None, *, dtype: None = None) -> T: ...
@overload
def sum(x: Value, axis: int | None = None, *, dtype: type[T]) -> T: ...
def sum(x: Value, axis: int | None = None, *, dtype: type[Value] | None = None) -> Any:
    """Sum along an axis, which is removed, or of everything, in type `dtype` (by default that of
    the elements). A negative axis counts from the end.

    Raises `ProgramError` where the sum might not fit, and for an axis that does not exist.

    >>> import sealane as sl
    >>> @sl.program
    ... def total(
    ...     a: sl.Private[sl.u8, "alice", 3], b: sl.Private[sl.u16, "bob"]
    ... ) -> sl.Revealed[sl.u16, "bob"]:
    ...     return sl.sum(a, dtype=sl.u16) + sl.minimum(b, 1000)
    >>> total([100, 100, 100], 5)
    np.uint16(305)
    """
    return _value.reduce("sum", _only("sum", x), axis, dtype)


def min(x: T, axis: int | None = None) -> T:
    """Smallest element along an axis, which is removed, or of all, in the type of `x`."""
    return _value.reduce("min", _only("min", x), axis)


def max(x: T, axis: int | None = None) -> T:
    """Largest element along an axis, which is removed, or of all, in the type of `x`."""
    return _value.reduce("max", _only("max", x), axis)


def any(x: Value, axis: int | None = None) -> boolean:
    """Returns a `boolean`: true if some element of the `boolean` `x` is true, along an axis, which
    is removed, or of all.
    """
    return _value.reduce("any", _only("any", x), axis)


def all(x: Value, axis: int | None = None) -> boolean:
    """Returns a `boolean`: true if every element of the `boolean` `x` is true, along an axis, which
    is removed, or of all.
    """
    return _value.reduce("all", _only("all", x), axis)


@overload
def dot(a: Operand, b: Operand, *, dtype: type[T]) -> T: ...
@overload
def dot(a: Operand, b: Operand, *, dtype: None = None) -> Any: ...
def dot(a: Operand, b: Operand, *, dtype: type[Value] | None = None) -> Any:
    """Sums of products over the last axis of `a` and the first of `b`, in type `dtype` (by default
    the common type of the elements). Both axes have the same length; the result has the other
    axes of `a`, then those of `b`.

    Raises `ProgramError` where the sums might not fit, and for axes of different lengths.
    """
    return _value.dot(a, b, dtype)


@overload
def lookup(table: T, index: Operand) -> T: ...
@overload
def lookup(table: Public, index: Operand) -> Any: ...
def lookup(table: Operand, index: Operand) -> Any:
    """Looks up `table[index]` for a secret index: the entries of `table`, along its first axis, at
    the indices in `index`.

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
    """Joins values of one shape along a new axis, in their common type; `axis` is its position in
    the result, negative from the end.

    Raises `ProgramError` for shapes that differ.
    """
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
    """AES-128 (FIPS 197) of blocks of 16 bytes under a key of 16 bytes, along the last axis.
    Operands are integers in 0 to 255 of shape `(..., 16)`, whose other axes broadcast; the
    result is `u8`.

    Raises `ProgramError` for another length or range.
    """
    trace = trace_of(key, block)
    return _wrap(trace, trace.call("aes128", [operand(key), operand(block)], _source.here()))


def sha256(message: Operand) -> u8:
    """SHA-256 (FIPS 180-4) of messages of bytes, along the last axis: integers in 0 to 255 of shape
    `(..., n)` with `n` from 1 to 65,536; the result is `u8` of shape `(..., 32)`.

    Raises `ProgramError` for another length or range.
    """
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
        if isinstance(item, list | tuple) and _value.holds_values(item):
            names = ", ".join("xyzuvw"[: len(item)])
            raise refuse(
                "operand",
                f"`sl.{function}` takes the values to walk one by one, not a {type(item).__name__}",
                hint=f"write `sl.{function}({before}, {names})`",
            )
    return trace_of(*over)


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
