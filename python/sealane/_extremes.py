"""Places of the largest and the smallest elements."""

# The native graph alone knows the type of a result; the annotations state what it will be.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import re
from typing import Any

import numpy as np

from sealane import _functions, _loops
from sealane._axes import along, axis_of, only
from sealane._constants import smallest
from sealane._elements import element_type, type_name
from sealane._operands import by_numpy, plain
from sealane._order import places
from sealane._refusal import refuse_shape
from sealane._scans import cumsum
from sealane._shapes import concatenate, expand_dims, ravel
from sealane._types import FloatingPoint, boolean
from sealane._value import Value

_MOST_BITS = 64
"""Most bits of an integer type."""


def argmax(x: Value, axis: int | None = None) -> Any:
    """Index of the largest element along an axis, which is removed, or of the flattened value: the
    first of several, and the first NaN where there is one. Its type is the smallest unsigned one
    that holds every index.

    Raises `ProgramError` for an axis that does not exist, and for rows without an axis where there
    are others.

    >>> import sealane as sl
    >>> @sl.program
    ... def winner(
    ...     bids: sl.Private[sl.u16, "house", "guests <= 9"], least: sl.Private[sl.u16, "seller"]
    ... ) -> sl.Revealed[sl.u8, "seller"]:
    ...     return sl.argmax(sl.where(bids < least, 0, bids))
    >>> winner([10, 70, 30, 70], 20)
    np.uint8(1)
    """
    return by_numpy("argmax", x, axis) if plain(x) else _arg("argmax", x, axis)


def argmin(x: Value, axis: int | None = None) -> Any:
    """Index of the smallest element along an axis, which is removed, or of the flattened value: the
    first of several, and the first NaN where there is one. Its type is the smallest unsigned one
    that holds every index.

    Raises `ProgramError` for an axis that does not exist, and for rows without an axis where there
    are others.

    >>> import sealane as sl
    >>> @sl.program
    ... def cheapest(
    ...     price: sl.Private[sl.u16, "shop", 3], more: sl.Private[sl.u8, "post", 3]
    ... ) -> sl.Revealed[sl.u8, "post"]:
    ...     return sl.argmin(sl.minimum(price, 1000) + more)
    >>> cheapest([10, 8, 30], [1, 5, 1])
    np.uint8(0)
    """
    return by_numpy("argmin", x, axis) if plain(x) else _arg("argmin", x, axis)


def _arg(function: str, x: Any, axis: int | None) -> Any:
    x = only(function, x)
    if axis is None:
        if x.ndim > 1 and isinstance(x.shape[0], str):
            raise refuse_shape(
                f"`sl.{function}` cannot flatten a value with rows",
                reason="Their number is known only at run time.",
                hint="name an axis: `axis=0` is that of the rows",
            )
        x, axis = ravel(x), 0
    at = axis_of(x, axis)

    def better(later: Any, before: Any) -> Any:
        ahead = later > before if function == "argmax" else later < before
        if isinstance(x, FloatingPoint):
            ahead = ahead | (is_nan(later) & ~is_nan(before))
        return ahead

    if isinstance(x.shape[at], str):
        found = _arg_by_tree(function, x)
        return _arg_of_rows(better, x) if found is None else found
    length = x.shape[at]
    numbers = np.arange(length).reshape(-1, *[1] * (x.ndim - at - 1))
    index: Any = smallest(0, length - 1)(numbers)
    if length == 1:
        index = _functions.where(better(x, x), index, index)
    while length > 1:
        pairs = length // 2
        even, odd = slice(0, 2 * pairs, 2), slice(1, 2 * pairs, 2)
        left, right = along(x, at, even), along(x, at, odd)
        places = 0 if index.ndim < x.ndim else at
        takes = better(right, left)
        chosen = _functions.where(takes, right, left)
        found = _functions.where(takes, along(index, places, odd), along(index, places, even))
        if length % 2:
            last = slice(length - 1, None)
            chosen = concatenate([chosen, along(x, at, last)], at)
            alone = along(index, places, last)
            # Numbers of the source get the shape of the others.
            alone = _functions.where(along(takes, at, slice(0, 1)), alone, alone)
            found = concatenate([found, alone], at)
        x, index, length = chosen, found, pairs + length % 2
    return along(index, at, 0)


def _arg_by_tree(function: str, x: Any) -> Any:
    """The place in the largest or smallest of all numbers with their places behind them; of equal
    numbers it is the first. It takes a tree and no chain over all rows. `None` if no type holds
    both, or the elements are no integers.
    """
    place = places(x)
    [of, behind] = [re.fullmatch(r"([iu])(\d+)", type_name(type(part))) for part in (x, place)]
    if of is None or behind is None or int(of[2]) + int(behind[2]) > _MOST_BITS:
        return None
    bits = int(behind[2])
    both = element_type(f"{of[1]}{int(of[2]) + bits}")
    last = (1 << bits) - 1
    turned = place ^ last if function == "argmax" else place
    while turned.ndim < x.ndim:
        turned = with_last_axis(turned)
    joined = (x.astype(both) << bits) | turned.astype(both)
    found = (joined.max(axis=0) if function == "argmax" else joined.min(axis=0)) & last
    found = found.astype(type(place))
    if function == "argmax":
        found = found ^ last
    # No place is behind the last one, which the bits alone do not say.
    most = x._trace.bound(x.shape[0])
    return found if most == last + 1 else _functions.minimum(found, most - 1)


def _arg_of_rows(better: Any, x: Any) -> Any:
    """The state is the best row so far and its position, which none is before the first."""
    here: Any = x
    while here.ndim > 1:
        here = here[..., 0]
    position = _functions.maximum(cumsum((here == here) | True), 1) - 1
    best = type(x)(np.zeros(x.shape[1:], np.uint8))
    start = (boolean(True), best, type(position)(np.zeros(x.shape[1:], np.uint8)))

    def body(state: Any, item: Any, place: Any) -> Any:
        first, best, at = state
        takes = first | better(item, best)
        return (
            boolean(False),
            _functions.where(takes, item, best),
            _functions.where(takes, place, at),
        )

    return _loops.scan(body, start, x, position)[2]


def is_nan(x: Any) -> Any:
    return x != x


def with_last_axis(x: Any) -> Any:
    """The elements with a new last axis."""
    return expand_dims(x, np.ndim(x))
