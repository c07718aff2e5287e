"""Values: the parameters of a program while it is traced.

A value stands for a whole tensor of elements that belong to somebody. It has a type and a shape but
no content: the function runs once, without data, and each operation adds a node to the native
graph, which checks types, shapes and ranges. The classes are the element types at the same time, so
that type checkers and editors know the operators of a parameter declared `Private[u16, ...]`.
"""

# The native graph alone knows the type of a result; the annotations state what it will be. The last
# overload of an operator is for subclasses, whose first one takes their own type only.
# mypy: disable-error-code="no-any-return, overload-cannot-match, empty-body"

from __future__ import annotations

import reprlib
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

import numpy as np

from sealane import _core, _source
from sealane._data import MASKED_HINT, MASKED_REASON, has_masked, is_fractional, pack, ratio
from sealane._methods import Methods, later
from sealane._refusal import refuse, refuse_operand, refuse_shape, refuse_type
from sealane._unsupported import Unsupported, numpy_function

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from decimal import Decimal
    from fractions import Fraction
    from types import EllipsisType
    from typing import Self, TypeAlias

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
    Operand: TypeAlias = "Value | Public"
    # A reduction by its name, the vector, and the type of a sum or the `ddof` of a variance.
    _Reduced: TypeAlias = "tuple[str, Any, Any]"
    Index: TypeAlias = int | slice | np.integer[Any] | EllipsisType | None

ROWS_COUNTED = "sl.count(x)"

tracing: ContextVar[_core.Trace | None] = ContextVar("tracing", default=None)
"""The trace of the program whose function runs."""

T = TypeVar("T", bound="Value")
A = TypeVar("A")
B = TypeVar("B")
Narrower = TypeVar("Narrower", contravariant=True)
Wider = TypeVar("Wider", covariant=True)


class Holds(Protocol[Narrower, Wider]):
    """An element type that holds all numbers of another, and so is the common type of both. Type
    checkers alone ask; where neither of two types holds the other, the result is `Any` to them.
    """

    def _holds(self, narrower: Narrower, /) -> Wider: ...


class ElementType(type):
    """The type of element types; prints as users write them."""

    def __repr__(cls) -> str:
        sign, fixed, bits = cls.__name__.partition("fixed")
        if fixed and bits:
            return f"sealane.{sign}{fixed}({bits.replace('.', ', ')})"
        return f"sealane.{cls.__name__}"

    @property
    def wrapping(cls: type[T]) -> type[T]:  # type: ignore[misc]
        """The same elements with arithmetic modulo `2**bits`, which is never refused.

        Raises `ProgramError` for fixed and floating point, which do not wrap.

        >>> import sealane as sl
        >>> sl.u32.wrapping
        sealane.u32.wrapping
        """
        if issubclass(cls, FixedPoint | FloatingPoint):
            raise refuse_type(
                f"`{cls!r}` does not wrap",
                reason="Modulo a power of two, a number with a fraction means little.",
                hint="convert where it may not fit: `sl.saturate(x, type)`",
            )
        name = cls.__name__.removesuffix(".wrapping")
        return element_type(f"{name}.wrapping")  # type: ignore[return-value]


def _operators(name: str) -> tuple[Any, Any]:
    """An operator, and the same one with the value on its right side."""

    def applied(self: Value, other: Any) -> Any:
        return operate(name, self, other)

    def turned(self: Value, other: Any) -> Any:
        return operate(name, other, self)

    return applied, turned


class Value(Methods, metaclass=ElementType):
    """Tensor of elements, private or public, in a program that is being traced.

    Operators work on each element: `+ - * / // %`, `& | ^ ~ << >>`, `== != < <= > >=`, `abs(x)` and
    `divmod(x, y)`; `@` is `sl.dot`. Operands are values, numbers and NumPy arrays, which broadcast
    as in NumPy. Two types meet in the smallest one that holds both, a number takes the type of the
    value beside it, and comparisons give `boolean`. `x[i]`, `x[1:3]`, `x[None]` and `x[..., 0]`
    index by public numbers. Where the first dimension is fixed, `len(x)` is its length, and a loop
    walks along it.

    The norm of the numbers is `crates/program/NUMERICS.md`: no result is silently wrong. An
    operator raises `ProgramError` where a result might leave its type or a divisor might be 0, for
    types or shapes that do not fit, and for an index that is outside or secret. So does what needs
    the content of a value: `if`, `while`, `and`, `in`, `float(x)`, a key of a `dict`.

    >>> import sealane as sl
    >>> @sl.program
    ... def deltas(
    ...     a: sl.Private[sl.u8, "alice", "days <= 7", 2], b: sl.Private[sl.u8, "bob", 2]
    ... ) -> sl.Revealed[sl.i16, "bob"]:
    ...     print(a, a.shape, a.ndim, a.dtype, b.shape)
    ...     return a - b.astype(sl.i16)
    >>> deltas([[10, 20], [30, 1]], [9, 22])
    <u8 [days, 2], known to alice, 0..255> ('days', 2) 2 sealane.u8 (2,)
    array([[  1,  -2],
           [ 21, -21]], dtype=int16)
    """

    __slots__ = ("_missing", "_node", "_reduced", "_scope", "_size")
    _node: _core.Node
    _scope: _core.Trace | None
    # What the value is a reduction of, if it is one of a whole vector: for groups.
    _reduced: _Reduced
    # How many people each element is about, for `sl.min_group`; none of a reduction that leaves
    # out missing cells, which is about fewer than there are rows.
    _size: Value | None
    # Which of the summands of a sum are missing cells, of which it is a sum of zeros.
    _missing: Value

    def __init__(self, number: Public) -> None:
        """Makes a public number or array with this type, such as `sl.u32(0)`: for example the start
        of a `scan`, or a table. It has the shape of the array. Bare numbers take the type of the
        value beside them.

        Raises `ProgramError` for a number that the type does not have.

        >>> import sealane as sl
        >>> sl.u8([[1, 2], [3, 4]]).shape
        (2, 2)
        """
        if isinstance(number, Value):
            raise refuse_operand(
                f"`{type(self)!r}` makes a typed number of one of the source",
                hint="to change the type of a value, write `x.astype(...)`",
            )
        self._scope = None
        special = isinstance(self, FloatingPoint)
        node = operand(number, special=special)
        self._node = _core.Node(type_name(type(self)), node, _source.here())

    @property
    def _trace(self) -> _core.Trace:
        return self._scope if self._scope is not None else trace_of(self)

    @property
    def shape(self) -> tuple[int | str, ...]:
        """Dimensions, as a tuple; a number of rows that is known only at run time is its name, a
        `str`.
        """
        return self._node.shape

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self._node.shape)

    @property
    def dtype(self) -> type[Self]:
        """Element type, such as `sl.u8`."""
        return type(self)

    def __repr__(self) -> str:
        return f"<{self._node}>"

    # Arithmetic. Operands of different types meet in the smallest type that holds both; a number
    # takes the type of the value beside it.

    if TYPE_CHECKING:

        @overload
        def __add__(self, other: Self | Public) -> Self: ...
        @overload
        def __add__(self, other: Holds[Self, B]) -> B: ...
        @overload
        def __add__(self: Holds[A, B], other: A) -> B: ...
        @overload
        def __add__(self, other: Value) -> Any: ...
        def __add__(self, other: Any) -> Any: ...
        def __radd__(self, other: Public) -> Self: ...
        def __truediv__(self, other: Operand) -> Any: ...
        def __rtruediv__(self, other: Public) -> Any: ...
        def __lshift__(self, amount: Operand) -> Self: ...
        def __rshift__(self, amount: Operand) -> Self: ...
        def __rlshift__(self, other: Public) -> Any: ...

        __sub__ = __mul__ = __floordiv__ = __mod__ = __and__ = __or__ = __xor__ = __add__
        __rsub__ = __rmul__ = __rfloordiv__ = __rmod__ = __rand__ = __ror__ = __rxor__ = __radd__
        __rrshift__ = __rlshift__
    else:
        __add__, __radd__ = _operators("add")
        __sub__, __rsub__ = _operators("sub")
        __mul__, __rmul__ = _operators("mul")
        __truediv__, __rtruediv__ = _operators("div")
        __floordiv__, __rfloordiv__ = _operators("floordiv")
        __mod__, __rmod__ = _operators("mod")
        # Bits, and the logic of `boolean`.
        __and__, __rand__ = _operators("and")
        __or__, __ror__ = _operators("or")
        __xor__, __rxor__ = _operators("xor")
        __lshift__, __rlshift__ = _operators("shl")
        __rshift__, __rrshift__ = _operators("shr")

    def __divmod__(self, other: Operand) -> tuple[Any, Any]:
        return operate("floordiv", self, other), operate("mod", self, other)

    def __rdivmod__(self, other: Public) -> tuple[Any, Any]:
        return operate("floordiv", other, self), operate("mod", other, self)

    def __matmul__(self, other: Operand) -> Any:
        return dot(self, other)

    def __rmatmul__(self, other: Public) -> Any:
        return dot(other, self)

    def __neg__(self) -> Self:
        return operate("neg", self)

    def __pos__(self) -> Self:
        return self

    def __abs__(self) -> Self:
        return operate("abs", self)

    def __invert__(self) -> Self:
        return operate("not", self)

    # Comparisons compare numbers, whatever the two types.

    def __eq__(self, other: Operand) -> boolean:  # type: ignore[override]
        return operate("eq", self, other)

    def __ne__(self, other: Operand) -> boolean:  # type: ignore[override]
        return operate("ne", self, other)

    def __lt__(self, other: Operand) -> boolean:
        return operate("lt", self, other)

    def __le__(self, other: Operand) -> boolean:
        return operate("le", self, other)

    def __gt__(self, other: Operand) -> boolean:
        return operate("gt", self, other)

    def __ge__(self, other: Operand) -> boolean:
        return operate("ge", self, other)

    __hash__ = Methods.__hash__  # defining `__eq__` takes an inherited one away

    # Elements, types, reductions.

    def __getitem__(self, index: Index | tuple[Index, ...]) -> Self:
        items = index if isinstance(index, tuple) else (index,)
        if any(isinstance(item, boolean) for item in items):
            raise refuse(
                "secret-index",
                "a condition on secret values cannot select elements",
                reason="How many elements are left would show how often the condition holds.",
                hint="keep all of them and choose: `sl.where(condition, x, 0)`",
            )
        if any(isinstance(item, Value) for item in items):
            raise refuse(
                "secret-index",
                "a secret value cannot be an index",
                reason="Which element is read would show in the work that is done.",
                hint="write `sl.lookup(table, index)`, which touches every entry",
            )
        return wrap(self._trace, self._trace.index(self._node, items, _source.here()))

    def __len__(self) -> int:
        return length_of(self.shape)

    def __iter__(self) -> Iterator[Self]:
        return (self[position] for position in range(loop_length(self.shape)))

    def astype(self, dtype: type[T]) -> T:
        """Converts to another element type, rounded down if that has fewer fraction bits. Keeps the
        shape.

        Raises `ProgramError` where some element might not fit, unless the type is a wrapping one,
        such as `sl.u32.wrapping`, which reduces them modulo `2**bits`; and for a `dtype` that is no
        element type. `sl.saturate` and `sl.wrap` are never refused for the range.

        >>> import sealane as sl
        >>> @sl.program
        ... def net(
        ...     income: sl.Private[sl.u32, "alice"], tax: sl.Private[sl.u32, "office"]
        ... ) -> sl.Revealed[sl.i64, "alice"]:
        ...     return income.astype(sl.i64) - tax
        >>> net(1000, 1200)
        np.int64(-200)
        """
        return operate("cast", self, kind=type_name(dtype))

    @overload
    def sum(self, axis: int | None = None, *, dtype: None = None) -> Self: ...
    @overload
    def sum(self, axis: int | None = None, *, dtype: type[T]) -> T: ...
    def sum(self, axis: int | None = None, *, dtype: type[Value] | None = None) -> Any:
        """Sum along an axis, which is removed, or of everything, in type `dtype` (by default that
        of the elements; for `boolean` the smallest unsigned type that holds the count). A negative
        axis counts from the end.

        Raises `ProgramError` where the sum might not fit, and for an axis that does not exist.

        >>> import sealane as sl
        >>> @sl.program
        ... def load(
        ...     x: sl.Private[sl.u8, "grid", "hours <= 24", 2], base: sl.Private[sl.u8, "plant"]
        ... ) -> sl.Revealed[sl.u16, "plant"]:
        ...     return x.sum(axis=0, dtype=sl.u16) + base
        >>> load([[200, 1], [200, 2]], 5)
        array([405,   8], dtype=uint16)
        """
        return reduce("sum", self, axis, dtype)

    def mean(self, axis: int | None = None, *, dtype: type[Value] | None = None) -> Any:
        """Mean along an axis, which is removed, or of everything, as `sl.mean` gives it.

        Raises `ProgramError` for an axis that does not exist, and for a `dtype` that is not of
        floating point.

        >>> import sealane as sl
        >>> @sl.program
        ... def wage(
        ...     wages: sl.Private[sl.u32, "office", "people <= 9"], more: sl.Private[sl.f64, "bank"]
        ... ) -> sl.Revealed[sl.f64, "bank"]:
        ...     return wages.mean() + more
        >>> wage([2500, 3100, 4000], 1)
        np.float64(3201.0)
        """
        return later("_statistics").mean(self, axis, dtype=dtype)

    def var(self, axis: int | None = None, *, ddof: int = 0) -> Any:
        """Variance along an axis, which is removed, or of everything, as `sl.var` gives it.

        Raises `ProgramError` for an axis that does not exist, and for a `ddof` that is no whole
        number.

        >>> import sealane as sl
        >>> @sl.program
        ... def spread(
        ...     heat: sl.Private[sl.f32, "plant", "days <= 9"], base: sl.Private[sl.f32, "office"]
        ... ) -> sl.Revealed[sl.f32, "office"]:
        ...     return (heat - base).var(ddof=1)
        >>> spread([1.0, 2.0, 4.0], 0.5)
        np.float32(2.3333333)
        """
        return later("_statistics").var(self, axis, ddof=ddof)

    def std(self, axis: int | None = None, *, ddof: int = 0) -> Any:
        """Standard deviation along an axis, which is removed, or of everything, as `sl.std` does.

        Raises `ProgramError` for an axis that does not exist, and for a `ddof` that is no whole
        number.

        >>> import sealane as sl
        >>> @sl.program
        ... def spread(
        ...     heat: sl.Private[sl.f32, "plant", "days <= 9"], base: sl.Private[sl.f32, "office"]
        ... ) -> sl.Revealed[sl.f32, "office"]:
        ...     return (heat - base).std()
        >>> spread([1.0, 2.0, 3.0, 4.0], 0.5)
        np.float32(1.118034)
        """
        return later("_statistics").std(self, axis, ddof=ddof)

    def min(self, axis: int | None = None) -> Self:
        """Smallest element along an axis, which is removed, or of all, in its own type. A negative
        axis counts from the end.

        Raises `ProgramError` for an axis that does not exist.

        >>> import sealane as sl
        >>> @sl.program
        ... def least(
        ...     x: sl.Private[sl.u8, "grid", "hours <= 24", 2], limit: sl.Private[sl.u8, "plant"]
        ... ) -> sl.Revealed[sl.u8, "plant"]:
        ...     return sl.minimum(x.min(axis=0), limit)
        >>> least([[3, 40], [5, 30]], 10)
        array([ 3, 10], dtype=uint8)
        """
        return reduce("min", self, axis)

    def max(self, axis: int | None = None) -> Self:
        """Largest element along an axis, which is removed, or of all, in its own type. A negative
        axis counts from the end.

        Raises `ProgramError` for an axis that does not exist.

        >>> import sealane as sl
        >>> @sl.program
        ... def most(
        ...     x: sl.Private[sl.u8, "grid", "hours <= 24", 2], limit: sl.Private[sl.u8, "plant"]
        ... ) -> sl.Revealed[sl.u8, "plant"]:
        ...     return sl.minimum(x.max(axis=0), limit)
        >>> most([[3, 40], [5, 30]], 10)
        array([ 5, 10], dtype=uint8)
        """
        return reduce("max", self, axis)

    def any(self, axis: int | None = None) -> boolean:
        """Returns a `boolean`: true if some element is true, along an axis, which is removed, or of
        all. A negative axis counts from the end.

        Raises `ProgramError` for an axis that does not exist, and for elements of another type.

        >>> import sealane as sl
        >>> @sl.program
        ... def alarm(
        ...     x: sl.Private[sl.u8, "grid", "hours <= 24", 2], limit: sl.Private[sl.u8, "plant"]
        ... ) -> sl.Revealed[sl.boolean, "plant"]:
        ...     return (x > limit).any()
        >>> alarm([[3, 40], [5, 30]], 35)
        np.True_
        """
        return reduce("any", self, axis)

    def all(self, axis: int | None = None) -> boolean:
        """Returns a `boolean`: true if every element is true, along an axis, which is removed, or
        of all. A negative axis counts from the end.

        Raises `ProgramError` for an axis that does not exist, and for elements of another type.

        >>> import sealane as sl
        >>> @sl.program
        ... def busy(
        ...     x: sl.Private[sl.u8, "grid", "hours <= 24", 2], limit: sl.Private[sl.u8, "plant"]
        ... ) -> sl.Revealed[sl.boolean, "plant"]:
        ...     return (x > limit).all(axis=0)
        >>> busy([[3, 40], [5, 30]], 20)
        array([False,  True])
        """
        return reduce("all", self, axis)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Receives NumPy's operators with an array on their left, and NumPy's functions."""
        if method == "accumulate":
            return _running(ufunc.__name__)(*inputs, **options)
        name = _UFUNCS.get(ufunc.__name__)
        function = ufunc_of_floats(ufunc.__name__) if name is None else None
        if method != "__call__" or options or (name is None and function is None):
            raise numpy_function(ufunc.__name__)
        if function is not None:
            return function(*inputs)
        assert name is not None
        if name == "matmul":
            return dot(*inputs)
        return operate(name, *inputs)


class boolean(Value):
    """Truth values, 0 and 1: `&`, `|`, `^` and `~` are logical, and in arithmetic they are `u1`.
    Results are of the NumPy type `bool`.

    >>> import sealane as sl
    >>> sl.boolean(True)
    <bool, public, 1>
    """

    __slots__ = ()

    def _holds(self, narrower: Self | Public, /) -> Self: ...


class u8(Value):
    """Unsigned integers of 8 bits: 0 to 255. Results are of the NumPy type `uint8`.

    >>> import sealane as sl
    >>> sl.u8(255)
    <u8, public, 255>
    """

    __slots__ = ()

    def _holds(self, narrower: boolean | Self | Public, /) -> Self: ...


class u16(Value):
    """Unsigned integers of 16 bits: 0 to 65,535. Results are of the NumPy type `uint16`.

    >>> import sealane as sl
    >>> sl.u16(65535)
    <u16, public, 65535>
    """

    __slots__ = ()

    def _holds(self, narrower: boolean | u8 | Self | Public, /) -> Self: ...


class u32(Value):
    """Unsigned integers of 32 bits: 0 to 4,294,967,295. Results are of the NumPy type `uint32`.

    >>> import sealane as sl
    >>> sl.u32(4294967295)
    <u32, public, 4294967295>
    """

    __slots__ = ()

    def _holds(self, narrower: boolean | u8 | u16 | Self | Public, /) -> Self: ...


class u64(Value):
    """Unsigned integers of 64 bits: 0 to `2**64 - 1`. Results are of the NumPy type `uint64`.

    >>> import sealane as sl
    >>> sl.u64(2**64 - 1)
    <u64, public, 18446744073709551615>
    """

    __slots__ = ()

    def _holds(self, narrower: boolean | u8 | u16 | u32 | Self | Public, /) -> Self: ...


class i8(Value):
    """Signed integers of 8 bits: -128 to 127. Results are of the NumPy
    type `int8`.

    >>> import sealane as sl
    >>> sl.i8(-128)
    <i8, public, -128>
    """

    __slots__ = ()

    def _holds(self, narrower: boolean | Self | Public, /) -> Self: ...


class i16(Value):
    """Signed integers of 16 bits: -32,768 to 32,767. Results are of the NumPy
    type `int16`.

    >>> import sealane as sl
    >>> sl.i16(-32768)
    <i16, public, -32768>
    """

    __slots__ = ()

    def _holds(self, narrower: boolean | u8 | i8 | Self | Public, /) -> Self: ...


class i32(Value):
    """Signed integers of 32 bits: -2,147,483,648 to 2,147,483,647. Results are of the NumPy
    type `int32`.

    >>> import sealane as sl
    >>> sl.i32(-2147483648)
    <i32, public, -2147483648>
    """

    __slots__ = ()

    def _holds(self, narrower: boolean | u8 | u16 | i8 | i16 | Self | Public, /) -> Self: ...


class i64(Value):
    """Signed integers of 64 bits: `-(2**63)` to `2**63 - 1`. Results are of the NumPy
    type `int64`.

    >>> import sealane as sl
    >>> sl.i64(-(2**63))
    <i64, public, -9223372036854775808>
    """

    __slots__ = ()

    def _holds(
        self, narrower: boolean | u8 | u16 | u32 | i8 | i16 | i32 | Self | Public, /
    ) -> Self: ...


class FixedPoint(Value):
    """Numbers with a fixed point, of any width from 1 to 64 bits: `sl.fixed(16, 16)` makes the
    types. Results are of the NumPy type `float64` where every number of the type is one, and
    otherwise `Fraction`.

    For type checkers, which know no calls in annotations, an element type can be given a name:

    >>> from typing import Annotated
    >>> import sealane as sl
    >>> Money = Annotated[sl.FixedPoint, sl.ufixed(24, 8)]
    >>> @sl.program
    ... def share(
    ...     cost: sl.Private[Money, "bank"], people: sl.Private[sl.u8, "club", sl.between(1, 9)]
    ... ) -> sl.Revealed[Money, "club"]:
    ...     return cost / people
    >>> share(10.5, 4)
    np.float64(2.625)
    """

    __slots__ = ()


def fixed(integer: int, fraction: int) -> type[FixedPoint]:
    """The type of fixed-point numbers with `integer` bits before the point, the sign among them,
    and `fraction` bits behind it: together 1 to 64. They are the multiples of `2**-fraction` from
    `-(2**(integer - 1))` to below `2**(integer - 1)`.

    Raises `ProgramError` for numbers of bits that no such type has.

    >>> import sealane as sl
    >>> sl.fixed(16, 16), sl.fixed(16, 16)(-0.5)
    (sealane.fixed(16, 16), <fixed16.16, public, -0.5>)
    """
    return _fixed_point("fixed", integer, fraction)


def ufixed(integer: int, fraction: int) -> type[FixedPoint]:
    """The type of fixed-point numbers from 0 on with `integer` bits before the point and `fraction`
    bits behind it: together 1 to 64. They are the multiples of `2**-fraction` from 0 to below
    `2**integer`.

    Raises `ProgramError` for numbers of bits that no such type has.

    >>> import sealane as sl
    >>> sl.ufixed(24, 8), sl.ufixed(24, 8)(0.5)
    (sealane.ufixed(24, 8), <ufixed24.8, public, 0.5>)
    """
    return _fixed_point("ufixed", integer, fraction)


def _fixed_point(kind: str, integer: int, fraction: int) -> type[FixedPoint]:
    whole = all(isinstance(n, int | np.integer) and n < 65 for n in (integer, fraction))
    try:
        if not whole:
            raise KeyError(kind)
        return element_type(f"{kind}{integer}.{fraction}")  # type: ignore[return-value]
    except KeyError:
        bits = ", ".join(map(reprlib.repr, (integer, fraction)))
        raise refuse_type(
            f"`sl.{kind}({bits})` is not an element type",
            reason="The bits before and behind the point are together 1 to 64.",
            hint=f"write `sl.{kind}(16, 16)`, for example",
        ) from None


class FloatingPoint(Value):
    """Numbers of IEEE 754 binary floating point: `sl.f16`, `sl.bf16`, `sl.f32` and `sl.f64`.
    Results are of the NumPy type of that width; those of `sl.bf16`, which NumPy does not have, are
    `float32`.

    >>> import sealane as sl
    >>> issubclass(sl.f32, sl.FloatingPoint)
    True
    """

    __slots__ = ()

    if TYPE_CHECKING:
        __truediv__ = Value.__add__
        __rtruediv__ = Value.__radd__

    def __pow__(self, exponent: Self | Public) -> Self:  # type: ignore[override]
        return call("pow", self, exponent)

    def __rpow__(self, base: Public) -> Self:  # type: ignore[override]
        return call("pow", base, self)


class f16(FloatingPoint):
    """Floating point of 16 bits, 11 of them significant. Results are of the NumPy type `float16`.

    >>> import sealane as sl
    >>> sl.f16(0.1)
    <f16, public, 0.1>
    """

    __slots__ = ()

    def _holds(self, narrower: Self | Public, /) -> Self: ...


class bf16(FloatingPoint):
    """Floating point of 16 bits, 8 of them significant: the upper half of an `f32`. Results are of
    the NumPy type `float32`.

    >>> import sealane as sl
    >>> sl.bf16(1.5)
    <bf16, public, 1.5>
    """

    __slots__ = ()

    def _holds(self, narrower: Self | Public, /) -> Self: ...


class f32(FloatingPoint):
    """Floating point of 32 bits, 24 of them significant. Results are of the NumPy type `float32`.

    >>> import sealane as sl
    >>> @sl.program
    ... def heat(
    ...     power: sl.Private[sl.f32, "plant"], hours: sl.Private[sl.f32, "grid"]
    ... ) -> sl.Revealed[sl.f32, "grid"]:
    ...     return power * hours + 1.5
    >>> heat(0.25, 3)
    np.float32(2.25)
    """

    __slots__ = ()

    def _holds(self, narrower: f16 | bf16 | Self | Public, /) -> Self: ...


class f64(FloatingPoint):
    """Floating point of 64 bits, 53 of them significant, as `float` of Python. Results are of the
    NumPy type `float64`.

    >>> import sealane as sl
    >>> sl.f64(0.1)
    <f64, public, 0.1>
    """

    __slots__ = ()

    def _holds(self, narrower: f16 | bf16 | f32 | Self | Public, /) -> Self: ...


_FLOATS = (f16, bf16, f32, f64)
_TYPES: dict[str, type[Value]] = {
    cls.__name__: cls for cls in (boolean, u8, u16, u32, u64, i8, i16, i32, i64, *_FLOATS)
}
_TYPES["bool"] = boolean
"""Element types by name, made on demand beyond the usual ones. The text form says `bool`."""


def element_type(name: str) -> type[Value]:
    """The element type of a name such as `u13` or `u32.wrapping`.

    Raises `KeyError` if there is none.
    """
    if name not in _TYPES:
        plain, _, suffix = name.partition(".")
        if not _core.is_type(name):
            raise KeyError(name)
        base = element_type(plain) if suffix == "wrapping" else Value
        if "fixed" in plain:
            base = FixedPoint
        space = {"__slots__": (), "__module__": "sealane", "__doc__": f"Elements of type `{name}`."}
        made: Any = ElementType(name, (base,), space)
        _TYPES[name] = made
    return _TYPES[name]


def type_name(dtype: type[Value]) -> str:
    """The name of an element type in the graph.

    Raises `ProgramError` for anything else.
    """
    if isinstance(dtype, ElementType) and dtype not in (Value, FixedPoint, FloatingPoint):
        return "bool" if dtype is boolean else dtype.__name__
    spelled = getattr(dtype, "__name__", None) or repr(dtype)
    hint = {"bool": "sl.boolean", "Fixe": "sl.fixed(16, 16)", "Floa": "sl.f32"}
    hint["floa"] = {"float16": "sl.f16", "float32": "sl.f32"}.get(spelled, "sl.f64")
    raise refuse_type(
        f"`{spelled}` is not an element type",
        hint=f"write `{hint.get(spelled[:4], 'sl.i64')}`, for example",
    )


def wrap(trace: _core.Trace, node: _core.Node) -> Any:
    """The value of a node, in the class of its element type."""
    value = object.__new__(element_type(node.type))
    value._scope, value._node = trace, node
    return value


def trace_of(*operands: object) -> _core.Trace:
    """The trace that the operands belong to: of typed constants alone, the one that is under way.

    Raises `ProgramError` if all of them are constants, and none is typed or no program is traced;
    and as `operand` does, if none is a value of numbers and one is nothing to compute with.
    """
    constant = False
    for item in operands:
        if isinstance(item, Value) and item._scope is not None:
            return item._scope
        constant = constant or isinstance(item, Value)
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
    special = any(isinstance(item, FloatingPoint) for item in items)
    return [operand(item, special=special) for item in items]


def operand(item: object, *, special: bool = False) -> _core.Operand:
    """A value's node, a Python number, or a constant array as kind, shape and elements; with
    `special`, numbers may be any floats.

    Raises `ProgramError` for an object that is none of these, and for numbers that no type holds.
    """
    if isinstance(item, Value):
        return item._node
    if isinstance(item, int | np.integer | np.bool_) and not isinstance(item, bool):
        return _whole(int(item))
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
        + (f"; if `{item}` is a number of rows, `{ROWS_COUNTED}`" if names_rows else ""),
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


def _whole(number: int) -> int:
    """Checks an integer of the source: one too large for any type is refused."""
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


def operate(name: str, *items: Any, dtype: type[Value] | None = None, **attributes: Any) -> Any:
    """Adds an operation with one result by its name; `Trace.apply` of the native module says which
    attributes there are, and `dtype` is the type of the result.

    Raises `ProgramError` if none of the operands is a value, and if the operation is refused.
    """
    trace = trace_of(*items)
    if dtype is not None:
        attributes["kind"] = type_name(dtype)
    [node] = trace.apply(name, operands(*items), _source.here(), **attributes)
    return wrap(trace, node)


def call(name: str, *items: Any) -> Any:
    """Adds a call of a function of floating point, element by element. Operands broadcast.

    Raises `ProgramError` if none of them is a value, and if the call is refused for their types or
    shapes.
    """
    need_numbers(f"math.{name.partition('_')[0]}", *items)
    return operate("call", *items, word=name)


def _running(name: str) -> Any:
    """The running operation of a function of NumPy."""
    found = later("_numpy").accumulate(name)
    if found is None:
        raise numpy_function(f"{name}.accumulate")
    return found


def ufunc_of_floats(name: str) -> Any:
    """The function of `sealane.math` for a function of NumPy; `None` if there is none."""
    return later("math").of_numpy(name)


def dot(a: Operand, b: Operand, dtype: type[Value] | None = None) -> Any:
    """Adds a product of the last axis of `a` with the first of `b`.

    Raises `ProgramError` as `sealane.dot` does.
    """
    return operate("dot", a, b, dtype=dtype)


def reduce(name: str, a: Value, axis: int | None, dtype: type[Value] | None = None) -> Any:
    """Adds a reduction along one axis, which is removed, or along all.

    Raises `ProgramError` if the axis does not exist, and if the operation is refused for the type
    or range of the elements.
    """
    if axis is not None:
        axis = whole_axis(axis)
    reduced = operate("reduce", a, word=name, axis=axis, dtype=dtype)
    return of_vector(reduced, name, a, dtype)


def of_vector(reduced: Any, name: str, a: Any, option: Any = None) -> Any:
    """A reduction that remembers the vector that it reduces, so that groups of it can be reduced
    in the same way. That of nullable cells does not say how many it is about.
    """
    if getattr(type(a), "_nullable", False):
        reduced._size = None
    if a.ndim == 1:
        reduced._reduced = (name, a, option)
    return reduced


def exact_type(a: Value, axis: int | None) -> type[Value]:
    """The type in which a sum of zeros and elements is exact; `sl.f64` where none of 64 bits is."""
    return element_type(a._trace.sum_type(a._node, axis, _source.here()))


def total(a: Value, axis: int | None = None) -> Any:
    """The sum in `sl.f64`, rounded once; of elements that are no floats it is exact before that,
    unless it takes more than 64 bits.
    """
    return reduce("sum", a, axis, exact_type(a, axis)).astype(f64)


def neutral(name: str, a: Value) -> Any:
    """A constant that changes no smallest (`min`) or no largest element beside it."""
    return operate("neutral", a, word=name)


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


_MOST_BITS = 127
"""The native module takes the numbers of the source in integers of 128 bits."""
_WIDEST = "Types have at most 64 bits: up to 2**64 - 1, or from -2**63 to 2**63 - 1."

_UFUNCS = {"matmul": "matmul"} | {
    numpy: name for name, _, numpy, _ in _core.element_wise() if numpy
}
