"""Values: the parameters of a program while it is traced.

A value stands for a whole tensor of elements that belong to somebody. It has a type and a shape but
no content: the function runs once, without data, and each operation adds a node to the native
graph, which checks types, shapes and ranges. The classes are the element types at the same time, so
that type checkers and editors know the operators of a parameter declared `Private[u16, ...]`.
"""

# The native graph alone knows the type of a result; the annotations state what it will be. The last
# overload of an operator is for subclasses, whose first one takes their own type only.
# mypy: disable-error-code="no-any-return, overload-cannot-match"

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar, overload

import numpy as np

from sealane import _core, _source
from sealane._elements import ElementType, element_type, type_name
from sealane._methods import Methods, later
from sealane._operands import length_of, loop_length, operand, trace_of
from sealane._operations import dot, operate, reduce, wrap
from sealane._refusal import refuse, refuse_operand
from sealane._unsupported import numpy_function

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import EllipsisType
    from typing import Self, TypeAlias

    from sealane._operands import Public
    from sealane._types import boolean

    Operand: TypeAlias = "Value | Public"
    # A reduction by its name, the vector, and the type of a sum or the `ddof` of a variance.
    _Reduced: TypeAlias = "tuple[str, Any, Any]"
    Index: TypeAlias = int | slice | np.integer[Any] | EllipsisType | None

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

    __slots__ = ("_missing", "_reduced", "_size")
    _wraps: ClassVar[bool] = True
    """There are the same elements with arithmetic modulo `2**bits`."""
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
        node = operand(number, special=self._special)
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
        if any(isinstance(item, element_type("bool")) for item in items):
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


def _running(name: str) -> Any:
    """The running operation of a function of NumPy."""
    found = later("_numpy").accumulate(name)
    if found is None:
        raise numpy_function(f"{name}.accumulate")
    return found


def ufunc_of_floats(name: str) -> Any:
    """The function of `sealane.math` for a function of NumPy; `None` if there is none."""
    return later("math").of_numpy(name)


_UFUNCS = {"matmul": "matmul"} | {
    numpy: name for name, _, numpy, _ in _core.element_wise() if numpy
}
