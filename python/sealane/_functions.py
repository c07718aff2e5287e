"""Functions of values. Their operands are values, Python integers and NumPy arrays; at least one is
a value, since NumPy computes on constants alone.
"""

# The native graph alone knows the type of a result; the annotations state what it will be.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

from sealane import _columns, _operands, _operations, _parts
from sealane._axes import as_list, only
from sealane._elements import type_name
from sealane._kinds import Kind
from sealane._moments import Moment
from sealane._nullable import Nullable
from sealane._parts import numbers
from sealane._value import Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sealane._operands import Public
    from sealane._types import boolean
    from sealane._value import Holds, Operand

T = TypeVar("T", bound=Value)
C = TypeVar("C", bound=Value | Kind)
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
    broadcast as in NumPy, to the shape of the result. `None` beside a value stands for missing
    cells, and makes the result nullable.

    Raises `ProgramError` for a condition of another type, for shapes that do not broadcast, and for
    types without a common one.

    >>> import sealane as sl
    >>> @sl.program
    ... def larger(
    ...     a: sl.Private[sl.u8, "alice"], b: sl.Private[sl.u8, "bob"]
    ... ) -> sl.Revealed[sl.u8, "bob"]:
    ...     return sl.where(a > b, a, b)
    >>> larger(3, 5)
    np.uint8(5)
    """
    if isinstance(yes, Kind) or isinstance(no, Kind) or yes is None or no is None:
        return _columns.where(condition, yes, no)
    if _operands.plain(condition, yes, no):
        return _operands.by_numpy("where", condition, yes, no)
    _operands.need_numbers("where", condition)
    return _operations.operate("select", condition, yes, no)


@overload
def minimum(a: Holds[A, B], b: A) -> B: ...
@overload
def minimum(a: A, b: Holds[A, B]) -> B: ...
@overload
def minimum(a: Operand, b: Operand) -> Any: ...
def minimum(a: Any, b: Any) -> Any:
    """Smaller of each two elements, in the common type of both operands, which broadcast to the
    shape of the result.

    Where neither is a value, NumPy computes.

    Raises `ProgramError` if the types have no common one or the shapes do not broadcast.

    >>> import sealane as sl
    >>> @sl.program
    ... def cheaper(
    ...     a: sl.Private[sl.u8, "alice"], b: sl.Private[sl.u8, "bob"]
    ... ) -> sl.Revealed[sl.u8, "alice"]:
    ...     return sl.minimum(a, b)
    >>> cheaper(3, 5)
    np.uint8(3)
    """
    if isinstance(a, Kind) or isinstance(b, Kind):
        return _columns.extreme("min", a, b)
    if _operands.plain(a, b):
        return _operands.by_numpy("minimum", a, b)
    return _operations.operate("min", a, b)


@overload
def maximum(a: Holds[A, B], b: A) -> B: ...
@overload
def maximum(a: A, b: Holds[A, B]) -> B: ...
@overload
def maximum(a: Operand, b: Operand) -> Any: ...
def maximum(a: Any, b: Any) -> Any:
    """Larger of each two elements, in the common type of both operands, which broadcast to the
    shape of the result.

    Where neither is a value, NumPy computes.

    Raises `ProgramError` if the types have no common one or the shapes do not broadcast.

    >>> import sealane as sl
    >>> @sl.program
    ... def dearer(
    ...     a: sl.Private[sl.u8, "alice"], b: sl.Private[sl.u8, "bob"]
    ... ) -> sl.Revealed[sl.u8, "alice"]:
    ...     return sl.maximum(a, b)
    >>> dearer(3, 5)
    np.uint8(5)
    """
    if isinstance(a, Kind) or isinstance(b, Kind):
        return _columns.extreme("max", a, b)
    if _operands.plain(a, b):
        return _operands.by_numpy("maximum", a, b)
    return _operations.operate("max", a, b)


def clip(x: T, low: Operand | None = None, high: Operand | None = None) -> T:
    """Clips each element to `low..=high`: `minimum(maximum(x, low), high)`. The result has the
    shape to which the operands broadcast, and a range within both ends, which later operations
    use. An end that is `None` is left out.

    Raises `ProgramError` if `x` is no value of the program, if the types have no common one, or if
    the shapes do not broadcast.

    >>> import sealane as sl
    >>> @sl.program
    ... def score(x: sl.Private[sl.u8, "alice"], top: sl.Private[sl.u8, "bob"]) -> sl.Revealed[
    ...     sl.boolean, "bob"
    ... ]:
    ...     return sl.clip(x, 0, 100) > top
    >>> score(200, 99)
    np.True_
    """
    clipped: Any = numbers("clip", x)
    if low is not None:
        clipped = maximum(clipped, low)
    return clipped if high is None else minimum(clipped, high)


def saturate(x: Value, dtype: type[T]) -> T:
    """Converts each element to another type, rounded down if that has fewer fraction bits, or to
    the end of the type that it exceeds. Keeps the shape; never refused for the range of `x`.

    Raises `ProgramError` if `x` is no value of the program, for a `dtype` that is no element type,
    and for `boolean` if `x` has a fraction.

    >>> import sealane as sl
    >>> @sl.program
    ... def bill(
    ...     amount: sl.Private[sl.u16, "shop", 3], limit: sl.Private[sl.u8, "guest"]
    ... ) -> sl.Revealed[sl.u8, "guest"]:
    ...     return sl.minimum(sl.saturate(amount, sl.u8), limit)
    >>> bill([7, 300, 200], 250)
    array([  7, 250, 200], dtype=uint8)
    """
    return _operations.operate("saturate", numbers("saturate", x), kind=type_name(dtype))


def wrap(x: Value, dtype: type[T]) -> T:
    """Reduces each integer modulo `2**bits`, in another integer type, which need not be a wrapping
    one: the low bits are kept. Keeps the shape; never refused for the range of `x`.

    Raises `ProgramError` if `x` is no value of the program, for a `dtype` that is no element type,
    and if either has a fraction.

    >>> import sealane as sl
    >>> @sl.program
    ... def low_byte(
    ...     a: sl.Private[sl.u16, "alice", 2], b: sl.Private[sl.u8, "bob"]
    ... ) -> sl.Revealed[sl.u8, "bob"]:
    ...     return sl.wrap(a, sl.u8) ^ b
    >>> low_byte([0x1234, 0xFFFF], 0)
    array([ 52, 255], dtype=uint8)
    """
    return _operations.operate("wrap", numbers("wrap", x), kind=type_name(dtype))


def abs(x: T) -> T:
    """Absolute value of each element, in the type and shape of `x`.

    Raises `ProgramError` where the type cannot hold it: `abs(-128)` does not fit `i8`; and if `x`
    is no value of the program.

    >>> import sealane as sl
    >>> @sl.program
    ... def gap(
    ...     a: sl.Private[sl.i16, "alice", sl.between(-100, 100)],
    ...     b: sl.Private[sl.i16, "bob", sl.between(-100, 100)],
    ... ) -> sl.Revealed[sl.i16, "alice", "bob"]:
    ...     return sl.abs(a - b)
    >>> gap(-70, 25)
    np.int16(95)
    """
    return _operations.operate("abs", numbers("abs", x))


def popcount(x: T) -> T:
    """Number of one bits of each element, in two's complement of its type. Keeps the shape. The
    type is the smallest unsigned one that holds the width in bits, such as `u4` for `u8`.

    Raises `ProgramError` for elements with a fraction, and if `x` is no value of the program.

    >>> import sealane as sl
    >>> @sl.program
    ... def distance(
    ...     a: sl.Private[sl.u8, "alice", 2], b: sl.Private[sl.u8, "bob", 2]
    ... ) -> sl.Revealed[sl.u8, "alice", "bob"]:
    ...     return sl.popcount(a ^ b)
    >>> distance([0b1111, 0], [0b1010, 255])
    array([2, 8], dtype=uint8)
    """
    return _operations.operate("popcount", numbers("popcount", x))


def bit_count(x: T) -> T:
    """Number of one bits of the absolute value of each element, as Python's `int.bit_count` and
    NumPy's `bitwise_count`. Keeps the shape. The type is the smallest unsigned one that holds the
    width in bits, such as `u4` for `i8`.

    Raises `ProgramError` for elements with a fraction, and if `x` is no value of the program.

    >>> import sealane as sl
    >>> @sl.program
    ... def ones(
    ...     a: sl.Private[sl.i8, "alice", 3], b: sl.Private[sl.i8, "bob", 3]
    ... ) -> sl.Revealed[sl.u8, "alice", "bob"]:
    ...     return sl.bit_count(a ^ b)
    >>> ones([-1, 7, 0], [0, 0, 0])
    array([1, 3, 0], dtype=uint8)
    """
    return _operations.operate("bit_count", numbers("bit_count", x))


@overload
def sum(x: T, axis: int | None = None, *, dtype: None = None) -> T: ...
@overload
def sum(x: Value, axis: int | None = None, *, dtype: type[T]) -> T: ...
def sum(x: Value, axis: int | None = None, *, dtype: type[Value] | None = None) -> Any:
    """Sum along an axis, which is removed, or of everything, in type `dtype` (by default that of
    the elements; for `boolean` the smallest unsigned type that holds the count). A negative axis
    counts from the end.

    Raises `ProgramError` where the sum might not fit, for an axis that does not exist, and if `x`
    is no value of the program.

    >>> import sealane as sl
    >>> @sl.program
    ... def total(
    ...     a: sl.Private[sl.u8, "alice", 3], b: sl.Private[sl.u16, "bob"]
    ... ) -> sl.Revealed[sl.u16, "bob"]:
    ...     return sl.sum(a, dtype=sl.u16) + sl.minimum(b, 1000)
    >>> total([100, 100, 100], 5)
    np.uint16(305)
    """
    if isinstance(x, Nullable):
        return x.sum(axis, dtype=dtype)
    return _operations.reduce("sum", numbers("sum", x), axis, dtype)


def min(x: T, axis: int | None = None) -> T:
    """Smallest element along an axis, which is removed, or of all, in the type of `x`. A negative
    axis counts from the end. Missing cells are left out.

    Raises `ProgramError` for an axis that does not exist, and if `x` is no value of the program.

    >>> import sealane as sl
    >>> @sl.program
    ... def worst(
    ...     marks: sl.Private[sl.u8, "school", "pupils <= 30", 2], top: sl.Private[sl.u8, "office"]
    ... ) -> sl.Revealed[sl.u8, "office"]:
    ...     return sl.minimum(sl.min(marks, axis=0), top)
    >>> worst([[3, 9], [5, 4]], 10)
    array([3, 4], dtype=uint8)
    """
    if isinstance(x, Moment | Nullable):
        return x.min(axis)
    return _operations.reduce("min", numbers("min", x), axis)


def max(x: T, axis: int | None = None) -> T:
    """Largest element along an axis, which is removed, or of all, in the type of `x`. A negative
    axis counts from the end. Missing cells are left out.

    Raises `ProgramError` for an axis that does not exist, and if `x` is no value of the program.

    >>> import sealane as sl
    >>> @sl.program
    ... def best(
    ...     marks: sl.Private[sl.u8, "school", "pupils <= 30", 2], top: sl.Private[sl.u8, "office"]
    ... ) -> sl.Revealed[sl.u8, "office"]:
    ...     return sl.minimum(sl.max(marks, axis=0), top)
    >>> best([[3, 9], [5, 4]], 10)
    array([5, 9], dtype=uint8)
    """
    if isinstance(x, Moment | Nullable):
        return x.max(axis)
    return _operations.reduce("max", numbers("max", x), axis)


def any(x: Value, axis: int | None = None) -> boolean:
    """Returns a `boolean`: true if some element of the `boolean` `x` is true, along an axis, which
    is removed, or of all. A negative axis counts from the end.

    Raises `ProgramError` for elements of another type, for an axis that does not exist, and if `x`
    is no value of the program.

    >>> import sealane as sl
    >>> @sl.program
    ... def alarm(
    ...     heat: sl.Private[sl.i8, "plant", "hours <= 24", 2], limit: sl.Private[sl.i8, "office"]
    ... ) -> sl.Revealed[sl.boolean, "office"]:
    ...     return sl.any(heat > limit, axis=0)
    >>> alarm([[40, -3], [61, 5]], 50)
    array([ True, False])
    """
    return _operations.reduce("any", numbers("any", x), axis)


def all(x: Value, axis: int | None = None) -> boolean:
    """Returns a `boolean`: true if every element of the `boolean` `x` is true, along an axis, which
    is removed, or of all. A negative axis counts from the end.

    Raises `ProgramError` for elements of another type, for an axis that does not exist, and if `x`
    is no value of the program.

    >>> import sealane as sl
    >>> @sl.program
    ... def ready(
    ...     heat: sl.Private[sl.i8, "plant", "hours <= 24", 2], limit: sl.Private[sl.i8, "office"]
    ... ) -> sl.Revealed[sl.boolean, "office"]:
    ...     return sl.all(heat > limit, axis=0)
    >>> ready([[40, -3], [61, 5]], 50)
    array([False, False])
    """
    return _operations.reduce("all", numbers("all", x), axis)


@overload
def dot(a: Operand, b: Operand, *, dtype: type[T]) -> T: ...
@overload
def dot(a: Operand, b: Operand, *, dtype: None = None) -> Any: ...
def dot(a: Operand, b: Operand, *, dtype: type[Value] | None = None) -> Any:
    """Sums of products over the last axis of `a` and the first of `b`, in type `dtype` (by default
    the common type of the elements). Both axes have the same length; the result has the other
    axes of `a`, then those of `b`: shapes `(n, k)` and `(k, m)` give `(n, m)`.

    Raises `ProgramError` where the sums might not fit, for axes of different lengths, for types
    without a common one, and if neither operand is a value of the program.

    >>> import sealane as sl
    >>> @sl.program
    ... def scores(
    ...     x: sl.Private[sl.u8, "hospital", "patients <= 100", 2], w: sl.Private[sl.i8, "lab", 2]
    ... ) -> sl.Revealed[sl.i32, "hospital"]:
    ...     return sl.dot(x, w, dtype=sl.i32)
    >>> scores([[10, 20], [30, 1]], [3, -1])
    array([10, 89], dtype=int32)
    """
    _operands.need_numbers("dot", a, b)
    return _operations.dot(a, b, dtype)


@overload
def lookup(table: T, index: Operand) -> T: ...
@overload
def lookup(table: Public, index: Operand) -> Any: ...
def lookup(table: Operand, index: Operand) -> Any:
    """Looks up `table[index]` for a secret index: the entries of `table`, along its first axis, at
    the indices in `index`.

    The table is a list, a NumPy array or a value without rows, of at most 65,536 entries; an entry
    may have axes of its own. The index is an integer of any shape whose range lies within the
    table. The result has the type of the table and the shape of the index, then that of an entry.
    All of the table is touched, whatever the index is.

    Raises `ProgramError` for an index that might lie outside, also below 0, or that is no integer;
    for a table with rows or with too many entries; and if neither operand is a value of the
    program.

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
    _operands.need_numbers("lookup", table, index)
    return _operations.operate("lookup", table, index)


def share(x: T, sharing: str) -> T:
    """`x`, whose operation is computed on shares of a kind: `"yao"` for labels of garbled circuits,
    `"xor"` for exclusive ors of bits, `"additive"` for sums modulo a power of two.

    Planning takes the shares with which a run takes the least time; this is for measurements, and
    for whoever knows better. It says nothing of the operations before and behind it; values are
    converted where these are computed on other shares. Of a function that is made of several
    operations, such as `sl.argmax`, `sl.median` or a sum of floating point, it is the last one.
    `sealane plan --why LINE` lists what the steps of a line take and could take.

    Raises `ProgramError` for another name, for cells that are no numbers, for what is public or one
    party computes alone, and in bodies of loops; a plan refuses a sharing on which its protocol
    does not compute the operation.

    >>> import sealane as sl
    >>> @sl.program
    ... def above(
    ...     x: sl.Private[sl.u32, "alice", 4], y: sl.Private[sl.u32, "bob", 4]
    ... ) -> sl.Revealed[sl.boolean, "alice"]:
    ...     return sl.all(sl.share(x > y, "yao"))
    >>> above([5, 6, 7, 8], [1, 2, 3, 9])
    np.False_
    """
    return _operations.operate("share", only("share", x), word=str(sharing))


def stack(values: Sequence[C | Public], axis: int = 0) -> C:
    """Joins values of one shape along a new axis, in their common type; `axis` is its position in
    the result, negative from the end: `n` values of shape `(k,)` give `(n, k)`, or `(k, n)` with
    `axis=1`.

    Raises `ProgramError` for shapes that differ, for types without a common one, for an axis that
    the result does not have, and if no element of `values` is a value of the program.

    >>> import sealane as sl
    >>> @sl.program
    ... def pairs(
    ...     a: sl.Private[sl.u8, "alice", 3], b: sl.Private[sl.u8, "bob", 3]
    ... ) -> sl.Revealed[sl.u8, "bob"]:
    ...     return sl.stack([sl.minimum(a, b), sl.maximum(a, b)], axis=1)
    >>> pairs([1, 5, 3], [4, 2, 6])
    array([[1, 4],
           [2, 5],
           [3, 6]], dtype=uint8)
    """
    values = list(values) if isinstance(values, Value) else as_list("stack", values)
    axis = _operands.whole_axis(axis)
    some = next((item for item in values if isinstance(item, Kind)), None)
    if some is not None:
        # The bytes of a text stay its last axis.
        place = axis - len(some._bytes) if axis < 0 else axis
        return _parts.join_cells(values, lambda items: stack(items, place))
    return _operations.operate("stack", *values, axis=axis)
