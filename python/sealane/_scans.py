"""Running sums, products and ends, and any associative operation along an axis.

Along an axis of `n` elements they take fewer than `2 n` operations in fewer than `2 log2 n` steps.
Sums and ends of rows are taken in order, with one operation each, where rounds do not count.
"""

# The native graph alone knows the type of a result; the annotations state what it will be.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np

from sealane import _elements, _loops, _source
from sealane._axes import along, axis_of, only
from sealane._elements import type_name
from sealane._operands import by_numpy, operand, plain, trace_of
from sealane._operations import operate, wrap
from sealane._refusal import refuse_operand, refuse_shape
from sealane._shapes import concatenate, expand_dims, moveaxis, ravel, reshape
from sealane._types import FloatingPoint, boolean
from sealane._value import Value

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T", bound=Value)
A = TypeVar("A")


@overload
def cumsum(x: T, axis: int | None = None, *, dtype: None = None) -> T: ...
@overload
def cumsum(x: Value, axis: int | None = None, *, dtype: type[T]) -> T: ...
def cumsum(x: Value, axis: int | None = None, *, dtype: type[Value] | None = None) -> Any:
    """Sums of the elements up to each one, along an axis, or of the flattened value, in type
    `dtype` (by default that of the elements; for `boolean` the smallest unsigned type that holds
    the count). Floating point is added in order, each sum rounded, as NumPy does.

    Raises `ProgramError` where a sum might not fit, for an axis that does not exist, and for rows
    without an axis where there are others.

    >>> import sealane as sl
    >>> @sl.program
    ... def balance(
    ...     paid: sl.Private[sl.u8, "shop", "days <= 9"], start: sl.Private[sl.u8, "bank"]
    ... ) -> sl.Revealed[sl.u16, "bank"]:
    ...     return sl.cumsum(paid, dtype=sl.u16) + start
    >>> balance([200, 100, 50], 1)
    array([201, 301, 351], dtype=uint16)
    """
    if plain(x):
        return by_numpy("cumsum", x, axis)
    x, axis = _one_axis("cumsum", x, axis)
    if dtype is not None and issubclass(dtype, FloatingPoint):
        x = x.astype(dtype)
    if isinstance(x, FloatingPoint):
        # Adding to -0 keeps a first element of -0.
        return _in_order(operator.add, x, axis, -0.0)
    return _accumulate("sum", x, axis, dtype)


@overload
def cumprod(x: T, axis: int | None = None, *, dtype: None = None) -> T: ...
@overload
def cumprod(x: Value, axis: int | None = None, *, dtype: type[T]) -> T: ...
def cumprod(x: Value, axis: int | None = None, *, dtype: type[Value] | None = None) -> Any:
    """Products of the elements up to each one, along an axis, or of the flattened value, in type
    `dtype`. Fixed and floating point are multiplied in order, each product rounded; fixed point
    along rows as by `sl.associative_scan`. Integers along a fixed axis are multiplied in order too,
    unless their type wraps, since each product has a range of its own.

    Raises `ProgramError` where a product might not fit, and for an axis that does not exist. Along
    rows the products of integers that do not wrap might always not fit.

    >>> import sealane as sl
    >>> @sl.program
    ... def growth(
    ...     rate: sl.Private[sl.f32, "bank", "years <= 9"], start: sl.Private[sl.f32, "saver"]
    ... ) -> sl.Revealed[sl.f32, "saver"]:
    ...     return start * sl.cumprod(rate)
    >>> growth([1.5, 2.0, 0.5], 100)
    array([150., 300., 150.], dtype=float32)
    """
    if plain(x):
        return by_numpy("cumprod", x, axis)
    x, axis = _one_axis("cumprod", x, axis)
    if isinstance(x, boolean):
        ones = _accumulate("all", x, axis, None)
        return ones.astype(dtype or _elements.element_type("u1"))
    if dtype is not None:
        x = x.astype(dtype)
    if isinstance(x, FloatingPoint):
        return _in_order(operator.mul, x, axis, 1.0)
    if ".wrapping" in type_name(type(x)) or not isinstance(x.shape[axis], int):
        return associative_scan(operator.mul, x, axis)
    products: list[Any] = [along(x, axis, slice(0, 1))]
    for at in range(1, int(x.shape[axis])):
        products.append(products[-1] * along(x, axis, slice(at, at + 1)))
    return concatenate(products, axis)


def cummax(x: T, axis: int | None = None) -> T:
    """Largest of the elements up to each one, along an axis, or of the flattened value:
    `np.maximum.accumulate`. NaN stays from where it is first.

    Raises `ProgramError` for an axis that does not exist, and for rows without an axis where there
    are others.

    >>> import sealane as sl
    >>> @sl.program
    ... def record(
    ...     heat: sl.Private[sl.i8, "plant", "days <= 9"], limit: sl.Private[sl.i8, "office"]
    ... ) -> sl.Revealed[sl.boolean, "office"]:
    ...     return sl.cummax(heat) > limit
    >>> record([3, 40, -5], 30)
    array([False,  True,  True])
    """
    if plain(x):
        return by_numpy("maximum.accumulate", *_flat(x, axis))
    return _accumulate("max", *_one_axis("cummax", x, axis), None)


def cummin(x: T, axis: int | None = None) -> T:
    """Smallest of the elements up to each one, along an axis, or of the flattened value:
    `np.minimum.accumulate`. NaN stays from where it is first.

    Raises `ProgramError` for an axis that does not exist, and for rows without an axis where there
    are others.

    >>> import sealane as sl
    >>> @sl.program
    ... def record(
    ...     heat: sl.Private[sl.i8, "plant", 3], limit: sl.Private[sl.i8, "office"]
    ... ) -> sl.Revealed[sl.boolean, "office"]:
    ...     return sl.cummin(heat) < limit
    >>> record([3, -40, 5], -30)
    array([False,  True,  True])
    """
    if plain(x):
        return by_numpy("minimum.accumulate", *_flat(x, axis))
    return _accumulate("min", *_one_axis("cummin", x, axis), None)


def associative_scan(f: Callable[[Any, Any], Any], x: A, axis: int = 0) -> A:
    """Combines the elements up to each one by `f`, along an axis: `x[0]`, `f(x[0], x[1])`,
    `f(f(x[0], x[1]), x[2])`, and so on. `f` takes two values of any length along that axis, and is
    associative: `f(f(a, b), c)` is `f(a, f(b, c))`. `x` is a value, or a tuple of values of one
    length, of which `f` takes and returns tuples.

    Along an axis of `n` elements, `f` works on fewer than `2 n` elements in fewer than `2 log2 n`
    steps, which take all rows at once. Which elements it combines depends on `n` alone, also where
    `f` rounds and is not quite associative. Along rows it is called once, with operands that may
    be any numbers of their type.

    Raises `ProgramError` for values of other lengths, for an axis that does not exist, and where
    `f` might leave the type of its operands.

    >>> import sealane as sl
    >>> @sl.program
    ... def levels(
    ...     flow: sl.Private[sl.i8, "plant", 4], start: sl.Private[sl.i8, "office"]
    ... ) -> sl.Revealed[sl.i8, "office"]:
    ...     return sl.associative_scan(lambda a, b: sl.clip(a + b, -50, 50), flow // 4) ^ start
    >>> levels([80, 40, -8, 4], 0)
    array([20, 30, 28, 29], dtype=int8)
    """
    several = isinstance(x, tuple)
    items = [only("associative_scan", item) for item in (x if isinstance(x, tuple) else (x,))]
    if not items:
        raise refuse_operand(
            "`sl.associative_scan` takes at least one value",
            hint="write `sl.associative_scan(f, x)`, or `(x, y)` for several",
        )
    places = [axis_of(item, axis) for item in items]
    lengths = {item.shape[at] for item, at in zip(items, places, strict=True)}
    if len(lengths) > 1:
        raise refuse_shape(
            f"`sl.associative_scan` takes values of one length, not {sorted(map(str, lengths))}",
            hint="give values with the same length along the axis",
        )

    def combined(a: list[Any], b: list[Any]) -> list[Any]:
        made = f(tuple(a), tuple(b)) if several else f(a[0], b[0])
        parts = list(made) if several else [made]
        return [
            part.astype(type(item)) if isinstance(part, Value) else type(item)(part)
            for part, item in zip(parts, items, strict=True)
        ]

    (length,) = lengths
    done = _tree(combined, items, places) if isinstance(length, int) else _rows(combined, items)
    made: Any = tuple(done) if several else done[0]
    return made


def _tree(f: Callable[..., list[Any]], items: list[Any], axes: list[int]) -> list[Any]:
    """Odd elements from pairs, and even ones from the odd one before each."""

    def part(of: list[Any], piece: slice) -> list[Any]:
        return [along(item, axis, piece) for item, axis in zip(of, axes, strict=True)]

    length = items[0].shape[axes[0]]
    if length == 1:
        return items
    pairs = f(part(items, slice(0, length - 1, 2)), part(items, slice(1, None, 2)))
    odd = _tree(f, pairs, axes)
    even = part(items, slice(0, 1))
    if length > 2:
        before = part(odd, slice(0, (length - 1) // 2))
        later = f(before, part(items, slice(2, None, 2)))
        even = [
            concatenate([first, then], axis)
            for first, then, axis in zip(even, later, axes, strict=True)
        ]
    return [_alternate(*parts) for parts in zip(even, odd, axes, strict=True)]


def _alternate(even: Any, odd: Any, axis: int) -> Any:
    """Elements of two values by turns; the first may have one more."""
    few = odd.shape[axis]
    pairs = [expand_dims(along(even, axis, slice(0, few)), axis + 1), expand_dims(odd, axis + 1)]
    joined: Any = concatenate(pairs, axis + 1)
    joined = reshape(joined, (*odd.shape[:axis], 2 * few, *odd.shape[axis + 1 :]))
    if even.shape[axis] == few:
        return joined
    return concatenate([joined, along(even, axis, slice(few, None))], axis)


def _rows(f: Callable[..., list[Any]], items: list[Any]) -> list[Any]:
    """All rows at once, in pairs that their number alone decides."""
    trace = trace_of(*items)
    sides = trace.open("prefix", [], [operand(item) for item in items], _source.here())
    before, behind = ([wrap(trace, node) for node in side] for side in sides)
    made = [operand(part) for part in f(before, behind)]
    return [wrap(trace, node) for node in trace.close("prefix", [], made, _source.here())[1]]


def _in_order(f: Callable[[Any, Any], Any], x: Any, axis: int, neutral: float) -> Any:
    """Combines floating point element by element, as NumPy does."""
    if axis > 0 and isinstance(x.shape[0], str):
        return _loops.map(lambda row: _in_order(f, row, axis - 1, neutral), x)
    turned = moveaxis(x, axis, 0) if axis else x
    start = type(x)(np.full(turned.shape[1:], neutral))

    def body(before: Any, item: Any) -> Any:
        after = f(before, item)
        return after, after

    _, made = _loops.scan(body, start, turned)
    return moveaxis(made, 0, axis) if axis else made


def _accumulate(name: str, x: Any, axis: int, dtype: type[Value] | None) -> Any:
    return operate("accumulate", x, word=name, axis=axis, dtype=dtype)


def _one_axis(function: str, x: Any, axis: int | None) -> tuple[Any, int]:
    """A value and an axis of it; flattened, if the axis is left out."""
    x = only(function, x)
    if axis is not None:
        return x, axis_of(x, axis)
    if x.ndim > 1 and isinstance(x.shape[0], str):
        raise refuse_shape(
            f"`sl.{function}` cannot flatten a value with rows",
            reason="Their number is known only at run time.",
            hint="name an axis: `axis=0` runs along the rows",
        )
    return ravel(x), 0


def _flat(x: Any, axis: int | None) -> tuple[Any, int]:
    return (np.ravel(x), 0) if axis is None else (x, axis)
