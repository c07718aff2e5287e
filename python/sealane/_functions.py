"""Functions of values. Their operands are values, Python integers and NumPy arrays; at least one is
a value, since NumPy computes on constants alone.
"""

# The native graph alone knows the type of a result; the annotations state what it will be.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

from sealane import _columns, _parts, _source, _value
from sealane._kinds import Kind
from sealane._moments import Moment
from sealane._nullable import Nullable
from sealane._refusal import is_of_users, refuse, refuse_operand
from sealane._shapes import as_list, only
from sealane._value import Value, operand, trace_of, type_name
from sealane._value import wrap as _wrap

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sealane import _core
    from sealane._value import Holds, Operand, Public, boolean, u8

T = TypeVar("T", bound=Value)
C = TypeVar("C", bound=Value | Kind)
D = TypeVar("D", bound=Value | Kind)
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
    if _value.plain(condition, yes, no):
        return _value.by_numpy("where", condition, yes, no)
    _value.need_numbers("where", condition)
    return _value.operate("select", condition, yes, no)


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
    if _value.plain(a, b):
        return _value.by_numpy("minimum", a, b)
    return _value.operate("min", a, b)


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
    if _value.plain(a, b):
        return _value.by_numpy("maximum", a, b)
    return _value.operate("max", a, b)


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
    clipped: Any = _only("clip", x)
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
    return _value.operate("saturate", _only("saturate", x), kind=type_name(dtype))


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
    return _value.operate("wrap", _only("wrap", x), kind=type_name(dtype))


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
    return _value.operate("abs", _only("abs", x))


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
    return _value.operate("popcount", _only("popcount", x))


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
    return _value.operate("bit_count", _only("bit_count", x))


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
    return _value.reduce("sum", _only("sum", x), axis, dtype)


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
    return _value.reduce("min", _only("min", x), axis)


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
    return _value.reduce("max", _only("max", x), axis)


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
    return _value.reduce("any", _only("any", x), axis)


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
    return _value.reduce("all", _only("all", x), axis)


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
    _value.need_numbers("dot", a, b)
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
    _value.need_numbers("lookup", table, index)
    return _value.operate("lookup", table, index)


def gf_mul(a: Operand, b: Operand, polynomial: int) -> Any:
    """Product of each two elements of the finite field GF(2^k), for a `k` from 1 to 8.

    `polynomial` is the irreducible polynomial of the field, of degree `k`. Bit `i` of this public
    number is the coefficient of `x^i`: 0x11b is `x^8 + x^4 + x^3 + x + 1`, the polynomial of AES.
    An element of the field is an integer of `k` bits, in the same way. Sums and differences of
    elements are `a ^ b`.

    The operands broadcast. The type of the result is the unsigned one of `k` bits, such as `u8`.
    Products by constants and squares, `sl.gf_mul(a, a, polynomial)`, take no AND gate.

    Raises `ProgramError` for a polynomial that is not irreducible or has another degree, for
    operands that are no integers or could have more than `k` bits, for shapes that do not
    broadcast, and if neither operand is a value of the program.

    >>> import sealane as sl
    >>> @sl.program
    ... def tag(
    ...     key: sl.Private[sl.u8, "alice", 2], message: sl.Private[sl.u8, "bob"]
    ... ) -> sl.Revealed[sl.u8, "bob"]:
    ...     return sl.gf_mul(key[0], message, 0x11B) ^ key[1]
    >>> tag([0x57, 0], 0x83) == 0xC1
    np.True_
    """
    _value.need_numbers("gf_mul", a, b)
    public = "The field is a part of the program."
    modulus = _value.need_whole("polynomial", polynomial, "sl.gf_mul(a, b, 0x11b)", public)
    return _value.operate("field_product", a, b, number=_value._whole(modulus))


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
    return _value.operate("share", only("share", x), word=str(sharing))


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
    axis = _value.whole_axis(axis)
    some = next((item for item in values if isinstance(item, Kind)), None)
    if some is not None:
        # The bytes of a text stay its last axis.
        place = axis - len(some._bytes) if axis < 0 else axis
        return _parts.join_cells(values, lambda items: stack(items, place))
    return _value.operate("stack", *values, axis=axis)


def aes128(key: Operand, block: Operand) -> u8:
    """AES-128 (FIPS 197) of blocks of 16 bytes under a key of 16 bytes, along the last axis.
    Operands are integers in 0 to 255 of shape `(..., 16)`, whose other axes broadcast; the
    result is `u8` of the shape to which they broadcast. It is the bare block cipher: a mode is the
    program's own.

    Raises `ProgramError` for another length or range, and if neither operand is a value of the
    program.

    The example of FIPS 197, appendix C.1:

    >>> import sealane as sl
    >>> @sl.program
    ... def cipher(
    ...     key: sl.Private[sl.u8, "bank", 16], block: sl.Private[sl.u8, "shop", 16]
    ... ) -> sl.Revealed[sl.u8, "shop"]:
    ...     return sl.aes128(key, block)
    >>> block = [17 * number for number in range(16)]
    >>> bytes(cipher(list(range(16)), block)).hex()
    '69c4e0d86a7b0430d8cdb78070b4c55a'
    """
    _value.need_numbers("aes128", key, block)
    return _value.operate("call", key, block, word="aes128")


def sha256(message: Operand) -> u8:
    """SHA-256 (FIPS 180-4) of messages of bytes, along the last axis: integers in 0 to 255 of shape
    `(..., n)` with `n` from 1 to 65,536; the result is `u8` of shape `(..., 32)`.

    Raises `ProgramError` for another length or range, and if `message` is no value of the program.

    >>> import sealane as sl
    >>> @sl.program
    ... def committed(
    ...     message: sl.Private[sl.u8, "alice", 3], known: sl.Private[sl.u8, "bob", 32]
    ... ) -> sl.Revealed[sl.boolean, "bob"]:
    ...     return sl.all(sl.sha256(message) == known)
    >>> import hashlib
    >>> committed(list(b"abc"), list(hashlib.sha256(b"abc").digest()))
    np.True_
    """
    _value.need_numbers("sha256", message)
    return _value.operate("call", message, word="sha256")


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
        if isinstance(item, list | tuple) and _value.holds_values(item):
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
    return _parts.regrouped(models, [_wrap(trace, node) for node in nodes])


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


def _only(function: str, value: object) -> Value:
    if isinstance(value, Value):
        return value
    _value.need_numbers(function, value)
    raise refuse_operand(
        f"`sl.{function}` takes a value of the program, not a `{type(value).__name__}`",
        hint="compute constants with NumPy or Python; join a list of values with `sl.stack([...])`",
    )
