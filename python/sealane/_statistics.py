"""Statistics of values: counts, means, variances and correlations, of rows or along an axis.

Means are exact and rounded once. Variances subtract the mean first, so they lose nothing where
numbers are large beside their differences.
"""

# The native graph alone knows the type of a result; the annotations state what it will be.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import Any, TypeVar, overload

from sealane import _operations
from sealane._columns import count_cells
from sealane._elements import type_name
from sealane._functions import abs, clip, dot, maximum
from sealane._kinds import Kind
from sealane._nullable import Nullable
from sealane._operands import whole_axis
from sealane._operations import of_vector, operate
from sealane._parts import numbers
from sealane._refusal import refuse_operand, refuse_shape
from sealane._types import FixedPoint, FloatingPoint, bf16, f16, f32, f64, fixed, i64, u64, ufixed
from sealane._unsupported import Unsupported
from sealane._value import Value

T = TypeVar("T", bound=Value)
F = TypeVar("F", bound=FloatingPoint)


def count(x: Value | Kind | None = None, axis: int | None = None) -> Any:
    """Number of elements along an axis, which is removed, or of all: of rows the number that the
    run has. It has the smallest unsigned type that holds it. In `sl.group_by(...).agg(...)`,
    `sl.count()` is the number of rows of each group.

    Raises `ProgramError` for an axis that does not exist, and if `x` is no value of the program.

    >>> import sealane as sl
    >>> @sl.program
    ... def share(
    ...     sick: sl.Private[sl.boolean, "clinic", "people <= 9"], more: sl.Private[sl.u8, "office"]
    ... ) -> sl.Revealed[sl.u16, "office"]:
    ...     return (sl.sum(sick, dtype=sl.u16) * 100 + more) // sl.count(sick)
    >>> share([True, False, False], 1)
    np.uint16(33)
    """
    if x is None and axis is None:
        return GroupSize()
    if isinstance(x, Kind):
        return count_cells(x, axis)
    counted = numbers("count", x)
    number = operate("count", counted, axis=_axis(axis))
    return of_vector(number, "count", counted)


class GroupSize(Unsupported):
    """The number of rows of a group, which a reduction of groups takes and nothing else."""

    __slots__ = ()
    _below = "sl.count(x)"

    def __repr__(self) -> str:
        return "<number of rows of a group>"

    def _alone(self, *_: Any) -> Any:
        """Refuses the size of a group outside of a reduction of groups."""
        raise refuse_operand(
            "`sl.count()` counts the rows of groups, and nothing else",
            hint="name what is counted, `sl.count(x)`, or write "
            "`sl.group_by(key, most=10).agg(n=sl.count())`",
        )

    def __eq__(self, other: object) -> Any:
        return self._alone()

    __hash__ = Unsupported.__hash__  # defining `__eq__` takes an inherited one away
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _alone
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = _alone
    __lt__ = __le__ = __gt__ = __ge__ = _alone


@overload
def mean(x: F, axis: int | None = None, *, dtype: None = None) -> F: ...
@overload
def mean(x: Value, axis: int | None = None, *, dtype: type[T]) -> T: ...
@overload
def mean(x: Value, axis: int | None = None, *, dtype: None = None) -> Any: ...
def mean(x: Value, axis: int | None = None, *, dtype: type[Value] | None = None) -> Any:
    """Mean along an axis, which is removed, or of everything: exact, rounded once to the nearest
    number of `dtype`. That is a type of floating point, by default the one of `x`, and `sl.f64` for
    integers, `boolean` and fixed point.

    Raises `ProgramError` for an axis that does not exist, for other types, and if `x` is no value
    of the program.

    >>> import sealane as sl
    >>> @sl.program
    ... def wage(
    ...     wages: sl.Private[sl.u32, "office", "people <= 100"], more: sl.Private[sl.f64, "bank"]
    ... ) -> sl.Revealed[sl.f64, "bank"]:
    ...     return sl.mean(wages) + more
    >>> wage([2500, 3100, 4001], 1)
    np.float64(3201.3333333333335)
    """
    if isinstance(x, Nullable) and dtype is None:
        return x.mean(axis)
    middle = operate("mean", numbers("mean", x), axis=_axis(axis), dtype=dtype)
    return of_vector(middle, "mean", x)


@overload
def var(x: F, axis: int | None = None, *, ddof: int = 0) -> F: ...
@overload
def var(x: Value, axis: int | None = None, *, ddof: int = 0) -> Any: ...
def var(x: Value, axis: int | None = None, *, ddof: int = 0) -> Any:
    """Variance along an axis, which is removed, or of everything: the sum of squared differences
    from the mean, divided by the count less `ddof`. It has the type of floating point of `x`, and
    `sl.f64` for other numbers.

    The mean and each difference are rounded once. Squares are added exactly, in a wider type for
    `sl.f32` and narrower ones. So it is within a few units in the last place unless the elements
    differ by no more than the rounding of their mean. Missing cells are left out; it is NaN where
    no more than `ddof` others are there.

    Raises `ProgramError` for an axis that does not exist, for a `ddof` that is no whole number, and
    if `x` is no value of the program.

    >>> import sealane as sl
    >>> @sl.program
    ... def spread(
    ...     heat: sl.Private[sl.f32, "plant", "days <= 9"], base: sl.Private[sl.f32, "office"]
    ... ) -> sl.Revealed[sl.f32, "office"]:
    ...     return sl.var(heat - base, ddof=1)
    >>> spread([1.0, 2.0, 4.0], 0.5)
    np.float32(2.3333333)
    """
    numbers: Any = x if isinstance(x, Nullable) else _floats("var", x)
    if isinstance(numbers, Nullable) and not isinstance(numbers._held(), FloatingPoint):
        numbers = numbers.astype(f64)
    away: Any = _from_mean(numbers, axis)
    kind = type(numbers)
    if isinstance(away, Nullable):
        away, kind = away._zeroed(), type(numbers._held())
    squares = _wide_sum(away, away, axis)
    found = (squares / _degrees(squares, numbers, axis, ddof)).astype(kind)
    return of_vector(found, "var", x, ddof)


@overload
def std(x: F, axis: int | None = None, *, ddof: int = 0) -> F: ...
@overload
def std(x: Value, axis: int | None = None, *, ddof: int = 0) -> Any: ...
def std(x: Value, axis: int | None = None, *, ddof: int = 0) -> Any:
    """Standard deviation: the square root of the variance, rounded once more.

    Raises `ProgramError` as `sl.var` does.

    >>> import sealane as sl
    >>> @sl.program
    ... def spread(
    ...     heat: sl.Private[sl.f32, "plant", "days <= 9"], base: sl.Private[sl.f32, "office"]
    ... ) -> sl.Revealed[sl.f32, "office"]:
    ...     return sl.std(heat - base)
    >>> spread([1.0, 2.0, 3.0, 4.0], 0.5)
    np.float32(1.118034)
    """
    return of_vector(_operations.call("sqrt", var(x, axis, ddof=ddof)), "std", x, ddof)


def cov(x: Value, y: Value, *, ddof: int = 1) -> Any:
    """Covariance of two columns of one length: the exact sum of the products of their differences
    from their means, divided by the count less `ddof`.

    Raises `ProgramError` for values of other shapes, for a `ddof` that is no whole number, and if
    either is no value of the program.

    >>> import sealane as sl
    >>> @sl.program
    ... def together(
    ...     x: sl.Private[sl.f32, "plant", "days <= 9"], y: sl.Private[sl.f32, "office", "days"]
    ... ) -> sl.Revealed[sl.f32, "office"]:
    ...     return sl.cov(x, y)
    >>> together([1.0, 2.0, 3.0], [2.0, 4.0, 9.0])
    np.float32(3.5)
    """
    x, y = _columns("cov", x, y)
    products = _wide_sum(_from_mean(x, None), _from_mean(y, None), None)
    return (products / _degrees(products, x, None, ddof)).astype(_common(x, y))


def corr(x: Value, y: Value) -> Any:
    """Correlation coefficient of Pearson of two columns of one length, from -1 to 1; NaN where one
    is constant.

    Raises `ProgramError` for values of other shapes, and if either is no value of the program.

    >>> import sealane as sl
    >>> @sl.program
    ... def together(
    ...     x: sl.Private[sl.f32, "plant", "days <= 9"], y: sl.Private[sl.f32, "office", "days"]
    ... ) -> sl.Revealed[sl.f32, "office"]:
    ...     return sl.corr(x, y)
    >>> together([1.0, 2.0, 3.0], [2.0, 4.0, 6.0])
    np.float32(1.0)
    """
    x, y = _columns("corr", x, y)
    kind = _common(x, y)
    x, y = _scaled(_from_mean(x, None)), _scaled(_from_mean(y, None))
    over, left, right = _wide_sum(x, y, None), _wide_sum(x, x, None), _wide_sum(y, y, None)
    under = _operations.call("sqrt", left).astype(type(over)) * _operations.call("sqrt", right)
    return clip(over / under, -1.0, 1.0).astype(kind)


def fsum(x: Value, axis: int | None = None) -> Any:
    """Exact sum of floating point along an axis, which is removed, or of everything: rounded once,
    whatever the order. Other numbers are added exactly, too, and rounded to `sl.f64`.

    Raises `ProgramError` for an axis that does not exist, where a sum of other numbers exceeds 64
    bits, and if `x` is no value of the program.

    >>> import sealane as sl
    >>> @sl.program
    ... def total(
    ...     x: sl.Private[sl.f64, "alice", 3], y: sl.Private[sl.f64, "bob"]
    ... ) -> sl.Revealed[sl.f64, "bob"]:
    ...     return sl.fsum(x) + y
    >>> total([1e16, 1.0, -1e16], 0.5)
    np.float64(1.5)
    """
    if isinstance(numbers("fsum", x), FloatingPoint):
        return x.sum(axis)
    kind = type_name(type(x))
    signed = kind[0] in "if"
    wide: type[Value] = i64 if signed else u64
    if isinstance(x, FixedPoint):
        digits = int(kind.partition(".")[2])
        wide = (fixed if signed else ufixed)(64 - digits, digits)
    return x.sum(axis, dtype=wide).astype(f64)


def fdot(x: Value, y: Value) -> Any:
    """Exact sum of products of floating point over the last axis of `x` and the first of `y`:
    rounded once. Other numbers are converted to `sl.f64` first.

    Raises `ProgramError` as `sl.dot` does.

    >>> import sealane as sl
    >>> @sl.program
    ... def total(
    ...     x: sl.Private[sl.f64, "alice", 3], y: sl.Private[sl.f64, "bob", 3]
    ... ) -> sl.Revealed[sl.f64, "bob"]:
    ...     return sl.fdot(x, y)
    >>> total([1e16, 1.0, -1e16], [1.0, 0.5, 1.0])
    np.float64(0.5)
    """
    return dot(_floats("fdot", x), _floats("fdot", y))


def fmean(x: Value, axis: int | None = None) -> Any:
    """Exact mean, rounded once: `sl.mean` under the name that Python's `statistics` has for it.

    Raises `ProgramError` as `sl.mean` does.

    >>> import sealane as sl
    >>> @sl.program
    ... def middle(
    ...     x: sl.Private[sl.f64, "alice", 3], y: sl.Private[sl.f64, "bob"]
    ... ) -> sl.Revealed[sl.f64, "bob"]:
    ...     return sl.fmean(x * y)
    >>> middle([1.0, 2.0, 4.5], 2.0)
    np.float64(5.0)
    """
    return mean(x, axis)


def _axis(axis: int | None) -> int | None:
    return None if axis is None else whole_axis(axis)


def _floats(function: str, x: Value) -> Value:
    """A value of floating point; other numbers as `sl.f64`."""
    x = numbers(function, x)
    if isinstance(x, FloatingPoint):
        return x
    return x.astype(f64)


def _columns(function: str, x: Value, y: Value) -> tuple[Value, Value]:
    """Two columns of one length as floating point."""
    x, y = _floats(function, x), _floats(function, y)
    if len(x.shape) != 1 or x.shape != y.shape:
        raise refuse_shape(
            f"`sl.{function}` takes two columns of one length, not shapes {x.shape} and {y.shape}",
            hint="take a column of a table: `x[:, 0]`",
        )
    return x, y


def _from_mean(x: Value, axis: int | None) -> Value:
    """Differences from the mean along an axis, or of everything."""
    center = mean(x, axis)
    if axis is not None and whole_axis(axis) not in (0, -len(x.shape)):
        place = whole_axis(axis) % len(x.shape)
        center = center[(*[slice(None)] * place, None)]
    return x - center


def _scaled(x: Value) -> Value:
    """Numbers divided by the largest, where their squares might leave the widest type."""
    return x / abs(x).max() if isinstance(x, f64) else x


def _wide_sum(x: Value, y: Value, axis: int | None) -> Value:
    """The exact sum of products, rounded to a type whose exponents hold squares."""
    narrow = type(x) is type(y) and isinstance(x, f16 | bf16)
    wide = f32 if narrow else f64
    return operate("sum_of_floats", x, y, axis=_axis(axis), dtype=wide)


def _common(x: Value, y: Value) -> type[Value]:
    """The type in which two values of floating point meet."""
    if type(x) is type(y):
        return type(x)
    return f64 if isinstance(x, f64) or isinstance(y, f64) else f32


def _degrees(like: Value, x: Value, axis: int | None, ddof: int) -> Value:
    """The count of `x` less `ddof`, but no less than 0, in the type of `like`."""
    counted = count(x, axis).astype(type(like))
    return counted if ddof == 0 else maximum(counted - whole_axis(ddof), 0.0)
