"""Groups of rows with equal keys, and reductions of each group."""

# The native graph alone knows the type of a result; the annotations state what it will be.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import datetime
import itertools
import re
import reprlib
from collections import namedtuple
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from sealane._elements import element_type, type_name
from sealane._functions import clip, maximum, minimum, stack, where
from sealane._functions import sum as _sum
from sealane._kinds import Kind
from sealane._nullable import Nullable
from sealane._order import (
    _positive,
    _sorted,
    alike,
    first_rows,
    places,
    running,
    several_keys,
    starts,
)
from sealane._quantiles import only_one
from sealane._reductions import (
    REDUCTIONS,
    Reduced,
    is_float,
    of_running,
    of_table,
    place_of,
    running_parts,
)
from sealane._refusal import counted, refuse_operand
from sealane._scans import associative_scan
from sealane._search import diff
from sealane._shapes import expand_dims, roll
from sealane._statistics import GroupSize
from sealane._texts import Category
from sealane._types import boolean, i64
from sealane._unsupported import missing
from sealane._value import Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def group_by(
    keys: Value | Kind | Sequence[Value | Kind],
    *,
    most: int | None = None,
    categories: Sequence[Any] | None = None,
) -> Groups:
    """Groups the elements of vectors by equal keys; `.agg(...)` reduces each group.

    With `categories`, the groups are those of a public list of keys, in its order; elements with
    another key belong to no group. Of several keys, each entry is a tuple: `[(1, 2), (1, 3)]`. Keys
    of kind `sl.category` have a public list of their own, and need no other: of several ones the
    groups are all combinations. Each element costs a comparison and a reduction for each group;
    where a sort of all elements by group takes fewer gates, integers and fixed point are reduced
    by one.

    Without, keys may be anything that can be sorted, and `most` is the public number of groups for
    which there is room: all elements are sorted by key, and groups come in ascending order.

    Raises `ProgramError` if both or none of `most` and `categories` are given, for a key with
    several axes, for entries of `categories` that are no keys, and if a key is no value of the
    program.

    >>> import sealane as sl
    >>> @sl.program
    ... def by_ward(
    ...     ward: sl.Private[sl.u8, "clinic", "people <= 100"],
    ...     cost: sl.Private[sl.u32, "clinic", "people", sl.between(0, 10_000)],
    ...     least: sl.Private[sl.u32, "office", sl.between(0, 10_000)],
    ... ) -> sl.Revealed[sl.u32, "office"]:
    ...     groups = sl.group_by(ward, categories=[1, 2, 3])
    ...     return groups.agg(total=sl.sum(sl.maximum(cost, least))).total
    >>> by_ward([2, 1, 2, 2], [10, 20, 30, 40], 15)
    array([20, 85,  0], dtype=uint32)
    """
    several = several_keys("group_by", keys)
    if most is None and categories is None and all(isinstance(key, Category) for key in several):
        categories = list(itertools.product(*(key._texts for key in several)))
        return Groups(several, None, categories)
    if (most is None) == (categories is None):
        raise refuse_operand(
            "the groups are not bounded" if most is None else "the groups are bounded twice",
            reason="How many groups a result has room for is public, and the keys are not.",
            hint="write `most=100`, or a public list of keys: `categories=[1, 2, 3]`",
        )
    if most is not None:
        _positive("most", most)
        return Groups(several, most, None)
    return Groups(several, None, _entries(categories or [], len(several)))


def _entries(categories: Iterable[Any], keys: int) -> list[tuple[Any, ...]]:
    """The keys of each group.

    Raises `ProgramError` for no groups, and for entries that do not have all keys.
    """
    listed = list(categories)
    if not listed:
        raise refuse_operand("there are no categories", hint="write `categories=[1, 2, 3]`")
    if keys == 1:
        one = [entry if isinstance(entry, tuple) else (entry,) for entry in listed]
        if all(len(entry) == 1 for entry in one):
            return one
    for entry in listed:
        if not isinstance(entry, tuple | list) or len(entry) != keys:
            raise refuse_operand(
                f"the category {reprlib.repr(entry)} does not name {counted(keys, 'key')}",
                reason="A group of several keys has one of each.",
                hint="write a tuple for each group: `categories=[(1, 2), (1, 3)]`, or for all "
                "combinations `categories=itertools.product([1, 2], [3, 4])`",
            )
    return [tuple(entry) for entry in listed]


class Groups:
    """Rows grouped by keys; made by `sl.group_by`."""

    def __init__(
        self, keys: list[Any], most: int | None, categories: list[tuple[Any, ...]] | None
    ) -> None:
        self._keys, self._most, self._categories = keys, most, categories

    if not TYPE_CHECKING:  # a type checker has to find a misspelt method itself

        def __getattr__(self, name):
            """Raises `ProgramError`: a reduction of groups has the form that `agg` takes."""
            if name.startswith("_"):
                raise AttributeError(name)
            reduction = name if name in REDUCTIONS else "sum"
            of = "" if reduction == "count" else "x"
            raise missing(
                f"groups have no `{name}`",
                reason="Their reductions are the arguments of `agg`, each with a name.",
                hint=f"write `.agg(result=sl.{reduction}({of})).result`",
            )

    def __getitem__(self, index: object) -> NoReturn:
        raise refuse_operand(
            "groups have no columns to choose from",
            reason="They are those of the keys alone; each reduction names its own column.",
            hint="write `.agg(total=sl.sum(x)).total`",
        )

    def agg(self, *unnamed: object, **reductions: Value | Kind | GroupSize) -> Any:
        """Reduces each group: `agg(total=sl.sum(x), n=sl.count(), best=sl.max(y))`.

        Each argument is `sl.sum`, `min`, `max`, `any`, `all`, `count`, `mean`, `var`, `std` or
        `median` of a whole vector as long as the keys; `sl.count()` is the number of rows. The
        result is a named tuple of vectors, one element for each group: those named here, `keys` (a
        tuple, if there are several keys), `there` (whether the group has an element) and
        `left_out`, the number of groups for which there was no room.

        Missing cells count nowhere. A reduction of no cells has no number: a mean, and each other
        result of floating point but a sum, is NaN there, and the smallest, largest and median of a
        nullable vector are missing. The rest is zero where there is no group, and nullable keys are
        missing. A mean is the exact sum over the count in `sl.f64`, rounded once if the sum is
        below 2^53.

        Sums and means of floating point are exact and rounded once. Of secret keys they take all
        elements for each of the `most` groups, as those of public categories do, and so do
        variances and medians; other reductions of fixed point and integers take each element once.

        Raises `ProgramError` for anything but such reductions, and for a name that is taken.
        """
        if unnamed:
            raise refuse_operand(
                "a reduction of groups has no name",
                reason="The name is that of its column in the result.",
                hint="write `.agg(total=sl.sum(x))`, for example",
            )
        named = {name: self._reduced(name, value) for name, value in reductions.items()}
        if self._categories is not None:
            columns = self._of_categories(named, self._categories)
        else:
            columns = self._of_keys(named)
        sizes = columns.pop("")
        for name in named:
            pair: Any = columns[name], reductions[name]
            held, given = (x._value if isinstance(x, Kind) else x for x in pair)
            held._size = None if getattr(given, "_size", sizes) is None else sizes
        return _named(columns)

    def _reduced(self, name: str, value: object) -> Reduced:
        """Reduction that an argument of `agg` is."""
        kind = type(value) if isinstance(value, Kind) else None
        held = value._value if isinstance(value, Kind) else value
        reduced = getattr(held, "_reduced", None) if isinstance(held, Value) else None
        if isinstance(value, GroupSize):
            reduced = ("count", self._keys[0], None)
        if name in ("keys", "there", "left_out") or name.startswith("_"):
            raise refuse_operand(
                f"the name `{name}` is taken", hint="choose another name for the reduction"
            )
        if reduced is None or reduced[1].shape != self._keys[0].shape:
            raise refuse_operand(
                f"`{name}` is no reduction of a vector as long as the keys",
                reason=f"The keys have shape {list(self._keys[0].shape)}.",
                hint=f"write `{name}=sl.sum(x)`, or one of {', '.join(REDUCTIONS)}",
            )
        reduction, x, option = reduced
        return Reduced(reduction, x, option, kind)

    def _of_categories(
        self, named: dict[str, Reduced], categories: list[tuple[Any, ...]]
    ) -> dict[str, Any]:
        keys = list(zip(*categories, strict=True))
        parts = _by_sort(named, len(categories))
        if parts and not _are_distinct(self._keys, categories):
            parts = {}
        place = _consecutive(self._keys, categories) if parts else None
        groups: Any = None
        if place is None or len(parts) < len(named):
            for key, items in zip(self._keys, keys, strict=True):
                here = _meets(key, items)
                groups = here if groups is None else groups & here
        done: dict[str, list[Any]] = {}
        if parts:
            if place is None:
                place = place_of(groups)
            done = _of_places(parts, place, len(categories))
        number = done[""][0] if parts else _sum(groups, axis=0)
        constants = [listed_cells(*pair) for pair in zip(self._keys, keys, strict=True)]
        made: dict[str, Any] = {"keys": constants[0] if len(keys) == 1 else tuple(constants)}
        made["there"] = number > 0
        for name, reduced in named.items():
            if name in done:
                made[name] = of_running(reduced, done[name], number)
            else:
                made[name] = of_table(reduced, groups, number)
        made["left_out"], made[""] = i64(0).astype(i64), number
        return made

    def _of_keys(self, named: dict[str, Reduced]) -> dict[str, Any]:
        parts = {name: running_parts(reduced) for name, reduced in named.items()}
        runs = {name: pieces for name, pieces in parts.items() if pieces is not None}
        ends = _ends(self._keys, runs, self._most or 1)
        first, there, count = ends.keys, ends.there, ends.number
        groups: dict[str, Any] = {
            "keys": first[0] if len(first) == 1 else tuple(first),
            "there": there,
        }
        here: Any = None
        for name, reduced in named.items():
            if name in runs:
                groups[name] = of_running(reduced, ends.totals[name], count)
                continue
            if here is None:
                here = expand_dims(there, 0)
                for key, found_key in zip(self._keys, first, strict=True):
                    here = here & alike(key[:, None], found_key[None])
            groups[name] = of_table(reduced, here, count)
        groups["left_out"], groups[""] = ends.left_out, count
        return groups


class _Ends(NamedTuple):
    """Groups of sorted rows, read off at the last row of each."""

    keys: list[Any]
    there: Any
    number: Any
    left_out: Any
    #: By the name of a reduction, its running parts.
    totals: dict[str, list[Any]]


def _ends(keys: list[Any], parts: dict[str, list[Any]], most: int) -> _Ends:
    """Sorts rows by keys, and reduces those with equal ones by the running parts of reductions."""
    pieces = [piece for pieces in parts.values() for piece in pieces]
    # No reduction of these depends on the order of its elements.
    over = [x for _, x, _ in pieces]
    found = _sorted(keys, [False] * len(keys), over, any_order=True)
    ordered, columns = found[: len(keys)], found[len(keys) :]
    new = starts(*ordered)
    last = roll(new, -1, 0)
    sofar = [
        _so_far(reduction, x if dtype is None else x.astype(dtype), new)
        for (reduction, _, dtype), x in zip(pieces, columns, strict=True)
    ]
    behind = places(new).astype(i64) + 1
    *first, there, end, left_out = first_rows(last, [*ordered, *sofar, last, behind], most)
    # Where there is no group, its end is zero.
    number = maximum(diff(end, prepend=0), 0)
    totals = iter(first[len(keys) :])
    by_name = {name: [next(totals) for _ in pieces] for name, pieces in parts.items()}
    return _Ends(first[: len(keys)], there, number, left_out, by_name)


def _by_sort(named: dict[str, Reduced], categories: int) -> dict[str, list[Any]]:
    """The running parts of all reductions but those of floating point, by name, if a sort by
    category takes less than a reduction of all elements for each category; else none.

    A bit of an element takes two ANDs for each category, and one in each of the exchanges of a
    sort: some 70 a row for 100,000 rows, 27 for 1,000. Those exchanges take two ANDs more for each
    bit of the place of a category.
    """
    numbers = {name: reduced for name, reduced in named.items() if not is_float(reduced.of)}
    found = {name: running_parts(reduced) for name, reduced in numbers.items()}
    parts = {name: pieces for name, pieces in found.items() if pieces is not None}
    moved = [type_name(type(x)) for pieces in parts.values() for _, x, _ in pieces]
    bits = [re.findall(r"\d+", name) or ["1"] for name in moved]
    width = sum(int(number) for numbers in bits for number in numbers)
    place = categories.bit_length()
    return parts if 2 * categories * width > 70 * (width + 2 * place) else {}


def _are_distinct(keys: list[Any], categories: list[tuple[Any, ...]]) -> bool:
    """Returns whether no element can be of two categories."""
    codes = {tuple(map(_code, keys, entry)) for entry in categories}
    return len(codes) == len(categories)


def _code(key: Any, item: Any) -> Any:
    """The number that stands for an item of a key."""
    held = key._held() if isinstance(key, Nullable) else key
    code = held._constant(item) if isinstance(held, Kind) and item is not None else item
    return str(code.tolist()) if isinstance(code, np.ndarray) else code


def _of_places(parts: dict[str, list[Any]], place: Any, categories: int) -> dict[str, list[Any]]:
    """Running parts at the last element of each public category. The places of categories count
    from 1; elements at other places belong to none.
    """
    # Two more groups than categories: elements before the first one, and behind the last one.
    ends = _ends([place], parts, categories + 2)
    here = expand_dims(ends.keys[0], 1) == np.arange(1, categories + 1)
    here = here & expand_dims(ends.there, 1)
    return {
        name: [only_one(expand_dims(total, 1), here) for total in totals]
        for name, totals in [*ends.totals.items(), ("", [ends.number])]
    }


def _consecutive(keys: list[Any], categories: list[tuple[Any, ...]]) -> Any:
    """The place of each element's category, from 1, if categories are whole numbers one after the
    other: zero for elements before the first, one more than categories for those behind the last.
    """
    key, items = keys[0], [entry[0] for entry in categories]
    if isinstance(key, Category):
        texts = key._texts
        key, items = key.codes, [texts.index(item) if item in texts else None for item in items]
    name = type_name(type(key)) if isinstance(key, Value) else ""
    whole = re.fullmatch(r"u([1-9]|[1-5]\d|6[0-3])|i\d+", name)
    known = all(isinstance(item, int | np.integer) and abs(int(item)) < 1 << 62 for item in items)
    if len(keys) > 1 or not whole or not known:
        return None
    first, number = int(items[0]), len(items)
    if items != list(range(first, first + number)):
        return None
    return clip(key.astype(i64), first - 1, first + number) - (first - 1)


def _so_far(reduction: str, x: Any, new: Any) -> Any:
    """The reduction of the elements so far of each group."""
    if not is_float(x):
        return running(reduction, x, new)
    # The smallest and the largest do not depend on the order either: -0 is less than 0.
    extreme = minimum if reduction == "min" else maximum

    def joined(before: tuple[Any, Any], behind: tuple[Any, Any]) -> tuple[Any, Any]:
        begins, found = behind
        return before[0] | begins, where(begins, found, extreme(before[1], found))

    return associative_scan(joined, (new, x))[1]


def _meets(key: Any, items: Sequence[Any]) -> Any:
    """Returns whether each element of a key is each of these constants: elements by constants."""
    if isinstance(key, Value):
        return expand_dims(key, 1) == np.array(items)
    if isinstance(key, Nullable):
        held = key._held()
        here = [key.is_null if item is None else ~key.is_null & (held == item) for item in items]
    else:
        here = [key == item for item in items]
    return stack(here, axis=1)


def listed_cells(key: Any, items: Sequence[Any]) -> Any:
    """Constants of the kind of a key."""
    if isinstance(key, Value):
        # A value of the program, as a result is, and no constant.
        return type(key)(np.array(items)).astype(type(key))
    held = key._held() if isinstance(key, Nullable) else key
    # Any cell may stand below a missing one.
    known = [_blank(held) if item is None and isinstance(key, Nullable) else item for item in items]
    numbers = [held._constant(item) if isinstance(held, Kind) else item for item in known]
    kind = element_type(key._element)
    below = stack(numbers) if key._bytes else kind(np.array(numbers))
    if isinstance(key, Nullable):
        null = boolean(np.array([item is None for item in items]))
        return Nullable._joined(type(key), below.astype(kind), null)
    return key._of(below.astype(kind))


def _blank(held: Any) -> Any:
    """Some constant of the kind of cells."""
    if isinstance(held, Category):
        return held._texts[0]
    if isinstance(held, Kind):
        return "" if held._bytes else datetime.date(1970, 1, 1)
    return 0


def _named(columns: dict[str, Any]) -> Any:
    return namedtuple("Groups", columns)(**columns)
