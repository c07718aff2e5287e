"""Order: sorts, and what they make possible: ranks, first rows, distinct values.

Sorts run along networks whose steps depend on the number of elements alone: the exchanges of a
stage fill the lanes. Under `trio` a stable radix sort takes their place where it is faster.
"""

# The native graph alone knows the type of a result; the annotations state what it will be.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from sealane import _source
from sealane._functions import maximum, stack, where
from sealane._functions import sum as _sum
from sealane._kinds import Kind
from sealane._loops import map
from sealane._nullable import Nullable
from sealane._operands import operand, trace_of, whole_axis
from sealane._operations import operate, wrap
from sealane._parts import cells, each, flat, regrouped, tensors
from sealane._refusal import counted, refuse_operand, refuse_shape
from sealane._shapes import roll
from sealane._texts import Category
from sealane._types import FloatingPoint, i64
from sealane._value import Value

if TYPE_CHECKING:
    from collections.abc import Sequence

C = TypeVar("C", bound=Value | Kind)


def sort(x: C, axis: int = -1, *, descending: bool = False) -> C:
    """Sorts elements along an axis, by default the last one, in ascending order. NaN come last, as
    in NumPy, and so do missing cells, as in pandas. Texts are in the order of their bytes, and
    categories in that of their list.

    Along a network, an axis of `n` elements of `b` bits takes about `n log2(n)^2 / 4` exchanges
    of `2 b` AND gates each: 16 elements take 63 exchanges, 100,000 take 6.9 million.

    Raises `ProgramError` for an axis that does not exist, and if `x` is no value of the program.

    >>> import sealane as sl
    >>> @sl.program
    ... def ordered(
    ...     bids: sl.Private[sl.u16, "shop", "bids <= 100"], floor: sl.Private[sl.u16, "house"]
    ... ) -> sl.Revealed[sl.u16, "house"]:
    ...     return sl.sort(sl.maximum(bids, floor), descending=True)
    >>> ordered([7, 300, 20], 10)
    array([300,  20,  10], dtype=uint16)
    """
    axis = _axis("sort", x, axis)
    if axis > 0:
        return map(lambda row: sort(row, axis - 1, descending=descending), x)
    if x.ndim == 1:
        return _sorted([x], [descending], [])[0]
    if x.ndim > 2 or not isinstance(x.shape[1], int):
        raise refuse_shape(
            f"a sort of the first of {x.ndim} axes",
            hint="sort a table column by column, or rows by a key: `sl.sort_by(key, table)`",
        )
    columns = [sort(x[:, at], descending=descending) for at in range(x.shape[1])]
    return stack(columns, axis=1)


def sort_by(
    keys: Value | Kind | Sequence[Value | Kind],
    *columns: Value | Kind,
    descending: bool | Sequence[bool] = False,
    stable: bool = True,
) -> tuple[Any, ...]:
    """Sorts by keys, the first of several above the others, and moves the elements of `columns`
    along. All have the same first axis; keys have no other. Returns the sorted keys, then the
    sorted columns.

    `descending` is one for all keys, or one for each. Elements of equal keys stay in their order;
    with `stable=False` they may change it, which saves the bits of a number of the place in each
    exchange of a network. Under `trio`, where stable sorts need no network, that costs many rounds.

    Raises `ProgramError` for lengths that differ, for a key with several axes, and if one of them
    is no value of the program.

    >>> import sealane as sl
    >>> @sl.program
    ... def oldest(
    ...     age: sl.Private[sl.u8, "clinic", "people <= 100"],
    ...     ward: sl.Private[sl.u8, "clinic", "people"],
    ...     nobody: sl.Private[sl.u8, "office"],
    ... ) -> sl.Revealed[sl.u8, "office"]:
    ...     return sl.head(sl.sort_by(age + nobody * 0, ward, descending=True)[1], 2)
    >>> oldest([30, 71, 50], [1, 2, 3], 0)
    array([2, 3], dtype=uint8)
    """
    several = several_keys("sort_by", keys)
    for value in columns:
        cells("sort_by", value)
    ways = [descending] if isinstance(descending, bool) else list(descending)
    ways = ways * len(several) if len(ways) == 1 else ways
    if len(ways) != len(several):
        raise refuse_operand(
            f"`descending` names {counted(len(ways), 'order')} for {counted(len(several), 'key')}",
            hint="give one for all keys, or one for each",
        )
    if not columns or not stable:
        return tuple(_sorted(several, ways, list(columns)))
    place = places(several[0])
    found = _sorted([*several, place], [*ways, False], list(columns))
    return (*found[: len(several)], *found[len(several) + 1 :])


def argsort(x: Value | Kind, *, descending: bool = False) -> Value:
    """Places of the elements of a vector in their order, the first of equal ones first.

    Raises `ProgramError` for several axes, and if `x` is no value of the program.

    >>> import sealane as sl
    >>> @sl.program
    ... def order(
    ...     x: sl.Private[sl.u8, "shop", 3], less: sl.Private[sl.u8, "bank"]
    ... ) -> sl.Revealed[sl.u8, "bank"]:
    ...     return sl.argsort(x // sl.maximum(less, 1)).astype(sl.u8)
    >>> order([9, 4, 7], 1)
    array([1, 2, 0], dtype=uint8)
    """
    vectors("argsort", [cells("argsort", x)])
    return _sorted([x, places(x)], [descending, False], [])[1]


def top_k(x: Value | Kind, k: int, *columns: Value | Kind) -> Any:
    """The `k` largest elements of a vector, largest first, with the elements of `columns` that
    stand beside them: the vector alone, or a tuple. Zeros stand for elements that are not there,
    where there are fewer rows than `k`.

    Raises `ProgramError` for lengths that differ, for a `k` that is no positive number, for several
    axes, and if one of them is no value of the program.

    >>> import sealane as sl
    >>> @sl.program
    ... def winners(
    ...     bid: sl.Private[sl.u16, "shop", "bids <= 100"],
    ...     bidder: sl.Private[sl.u8, "shop", "bids"],
    ...     least: sl.Private[sl.u16, "house"],
    ... ) -> sl.Revealed[sl.u8, "house"]:
    ...     return sl.top_k(sl.maximum(bid, least), 2, bidder)[1]
    >>> winners([7, 300, 20], [1, 2, 3], 0)
    array([2, 3], dtype=uint8)
    """
    _positive("k", k)
    found = sort_by(cells("top_k", x), *columns, descending=True)
    first = tuple(head(value, k) for value in found)
    return first if columns else first[0]


def head(x: C, rows: int) -> C:
    """The first elements along axis 0, of which there are `rows`; zeros stand for rows that a
    table does not have, and missing cells in a nullable column.

    Raises `ProgramError` for a number that is not positive, and if `x` is no value of the program.

    >>> import sealane as sl
    >>> @sl.program
    ... def first(
    ...     x: sl.Private[sl.u8, "shop", "rows <= 9"], y: sl.Private[sl.u8, "bank"]
    ... ) -> sl.Revealed[sl.u8, "bank"]:
    ...     return sl.head(sl.maximum(x, y), 2)
    >>> first([5, 6, 7], 0)
    array([5, 6], dtype=uint8)
    """
    trace_of(*tensors(cells("head", x)))
    _positive("rows", rows)
    length = x.shape[0] if x.ndim else None
    if isinstance(length, int):
        if rows <= length:
            first: Any = x[:rows]
            return first
        raise refuse_shape(
            f"the first {rows} of {counted(length, 'element')}",
            hint=f"write `sl.head(x, {length})`, or leave it out",
        )
    return each(lambda part: operate("head", part, number=rows), x)


def rank(x: Value | Kind, *, method: str = "min", descending: bool = False) -> Value:
    """Rank of each element of a vector, from 1. Equal elements get the lowest of their ranks
    (`"min"`), ranks in the order of their places (`"ordinal"`), or ranks without gaps (`"dense"`).

    It takes two sorts.

    Raises `ProgramError` for several axes, for another method, and if `x` is no value of the
    program.

    >>> import sealane as sl
    >>> @sl.program
    ... def places(
    ...     x: sl.Private[sl.u8, "shop", "rows <= 9"], y: sl.Private[sl.u8, "bank"]
    ... ) -> sl.Revealed[sl.u8, "bank"]:
    ...     return sl.rank(sl.maximum(x, y)).astype(sl.u8)
    >>> places([5, 3, 5, 9], 0)
    array([2, 1, 2, 4], dtype=uint8)
    """
    if method not in ("min", "ordinal", "dense"):
        raise refuse_operand(
            f"there is no rank by {method!r}", hint='write `method="min"`, `"ordinal"` or `"dense"`'
        )
    vectors("rank", [cells("rank", x)])
    values, place = _sorted([x, places(x)], [descending, False], [])
    at = places(values)
    one = 1 + at.astype(i64)
    if method != "ordinal":
        new = starts(values)
        if method == "min":
            one = running("max", where(new, one, 0))
        else:
            one = running("sum", new.astype(i64))
    return _sorted([place], [False], [one], any_order=True)[1]


class Distinct(NamedTuple):
    """Distinct elements, ascending; whether each is there; how many there are of each; and the
    number of distinct elements that had no room.
    """

    values: Any
    there: Any
    counts: Any
    left_out: Any


def unique(x: Value | Kind, most: int) -> Distinct:
    """Distinct elements of a vector, ascending, with room for `most`: `values`, `there` (false
    where there are fewer, and the value is zero), `counts`, and `left_out`, the number of those
    that had no room.

    Raises `ProgramError` for several axes, and if `x` is no value of the program.

    >>> import sealane as sl
    >>> @sl.program
    ... def kinds(
    ...     x: sl.Private[sl.u8, "shop", "rows <= 9"], y: sl.Private[sl.u8, "bank"]
    ... ) -> sl.Revealed[sl.u8, "bank"]:
    ...     return sl.unique(sl.maximum(x, y), 3).values
    >>> kinds([5, 3, 5, 9], 0)
    array([3, 5, 9], dtype=uint8)
    """
    vectors("unique", [cells("unique", x)])
    _positive("most", most)
    ordered = sort(x)
    new = starts(ordered)
    runs = running("sum", new | ~new, new)
    last = _ends(new)
    return Distinct(*first_rows(last, [ordered, last, runs], most))


def first_rows(keep: Value, columns: list[Any], most: int) -> list[Any]:
    """The rows that are kept, with room for `most`, and the number of those without room."""
    number, rows = _sum(keep).astype(i64), keep.shape[0]
    room = min(most, rows) if isinstance(rows, int) else most
    kept = [head(value, room) for value in compact(keep, columns)]
    return [*kept, maximum(number - room, 0)]


def compact(keep: Value, columns: Sequence[Any]) -> list[Any]:
    """Rows that are kept, one after the other from the first place on; zeros fill the rest."""
    trace = trace_of(keep)
    items = [operand(part) for part in [keep, *flat(columns)]]
    nodes = trace.apply("compact", items, _source.here())
    return regrouped(columns, [wrap(trace, node) for node in nodes])


def running(name: str, x: Value, starts: Value | None = None) -> Any:
    """Reductions of the elements so far along axis 0, which begin anew where `starts` is true."""
    return operate("running", *([x] if starts is None else [x, starts]), word=name)


def starts(*ordered: Any) -> Any:
    """True at each place whose element differs from the one before, and at the first."""
    new = places(ordered[0]) == 0
    for value in ordered:
        new = new | ~alike(value, roll(value, 1, 0))
    return new


def alike(x: Any, y: Any) -> Any:
    """Returns whether two elements belong to one group: equal ones, both missing, or both NaN."""
    if isinstance(x, Nullable):
        return same_cells(x, y)
    if isinstance(x, FloatingPoint):
        return (x == y) | ((x != x) & (y != y))
    return x == y


def same_cells(x: Nullable, y: Nullable) -> Any:
    """Returns whether both cells are missing, or neither, and they are equal."""
    held: Any = alike(x._held(), y._held())
    return (x.is_null & y.is_null) | (~x.is_null & ~y.is_null & held)


def several_keys(function: str, keys: Any) -> list[Any]:
    """One or several keys, each a vector."""
    several = [keys] if isinstance(keys, Value | Kind) else list(keys)
    vectors(function, [cells(function, key) for key in several])
    return several


def _positive(name: str, number: object) -> None:
    """Refuses what is no positive whole number."""
    whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
    if not whole or not 0 < int(number) < 1 << 32:  # type: ignore[call-overload]
        raise refuse_operand(
            f"`{name}={number!r}` is no number of elements",
            hint=f"write a positive number: `{name}=10`",
        )


def _ends(new: Value) -> Any:
    """True at the last place of equal elements."""
    return roll(new, -1, 0)


def places(x: Any) -> Any:
    """Numbers of the places along axis 0, from 0."""
    first, *_ = tensors(x)
    return operate("row_number", first)


def _sorted(
    keys: list[Any], ways: Sequence[bool], columns: Sequence[Any], *, any_order: bool = False
) -> list[Any]:
    """Keys and columns in the order of the keys; equal ones in any order, which differs between
    protocols if the caller says by `any_order` that no result depends on it.
    """
    over = [*keys, *columns]
    trace = trace_of(*flat(over))
    sides = trace.open("sort", [], [operand(part) for part in flat(over)], _source.here())
    before, behind = (regrouped(over, [wrap(trace, node) for node in side]) for side in sides)
    exchange: Any = None
    for at in reversed(range(len(keys))):
        less, same = _order(before[at], behind[at], descending=ways[at])
        exchange = less if exchange is None else less | (same & exchange)
    here = _source.here()
    _, nodes = trace.close("sort", [], [operand(exchange)], here, any_order=any_order)
    return regrouped(over, [wrap(trace, node) for node in nodes])


def _order(x: Any, y: Any, *, descending: bool) -> tuple[Any, Any]:
    """Returns whether `y` belongs before `x`, and whether neither belongs before the other. NaN and
    missing cells come last, whatever the direction.
    """
    if isinstance(x, Nullable):
        less, _ = _order(x._held(), y._held(), descending=descending)
        return ~y.is_null & (x.is_null | less), same_cells(x, y)
    if isinstance(x, Category):
        x, y = x.codes, y.codes
    less = (x < y) if descending else (y < x)
    if isinstance(x, FloatingPoint):
        less = less | ((x != x) & (y == y))
    return less, alike(x, y)


def _axis(function: str, x: Any, axis: int) -> int:
    """An axis of a value, counted from the front."""
    named = whole_axis(axis)
    rank = cells(function, x).ndim
    if -rank <= named < rank:
        return named % rank
    raise refuse_shape(
        f"there is no axis {named} of shape {list(x.shape)}", hint="name an axis that is there"
    )


def vectors(function: str, values: Sequence[Any]) -> None:
    """Checks that values have one axis.

    Raises `ProgramError` if one has not.
    """
    for value in values:
        if value.ndim != 1:
            raise refuse_shape(
                f"`sl.{function}` takes a vector, not shape {list(value.shape)}",
                hint="take one column, such as `x[:, 0]`, or use `sl.map` for each row",
            )
