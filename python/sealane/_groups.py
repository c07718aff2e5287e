"""Groups of rows with equal keys, and reductions of each group."""

# The native graph alone knows the type of a result; the annotations state what it will be.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING, Any

import numpy as np

from sealane._functions import any as _any
from sealane._functions import max as _largest
from sealane._functions import min as _smallest
from sealane._functions import sum as _sum
from sealane._functions import where
from sealane._order import _positive, _sorted, first_rows, running, several_keys, starts
from sealane._refusal import refuse
from sealane._shapes import expand_dims, roll
from sealane._value import FixedPoint, FloatingPoint, Value, boolean, f64, i64

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sealane._value import _Reduced


def group_by(
    keys: Value | Sequence[Value],
    *,
    most: int | None = None,
    categories: Sequence[int] | None = None,
) -> Groups:
    """Groups the elements of vectors by equal keys; `.agg(...)` reduces each group.

    With `categories`, the groups are those of the numbers in a public list, in its order; elements
    with another key belong to no group. Each element costs a comparison and a reduction for each
    category. Without, keys may be any numbers, and `most` is the public number of groups for which
    there is room: all elements are sorted by key, and groups come in ascending order.

    Raises `ProgramError` if both or none of `most` and `categories` are given, for a key with
    several axes, for several keys with `categories`, and if a key is no value of the program.

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
    if (most is None) == (categories is None):
        raise refuse(
            "operand",
            "the groups are not bounded" if most is None else "the groups are bounded twice",
            reason="How many groups a result has room for is public, and the keys are not.",
            hint="write `most=100`, or a public list of keys: `categories=[1, 2, 3]`",
        )
    if most is not None:
        _positive("most", most)
    if categories is not None and not len(categories):
        raise refuse("operand", "there are no categories", hint="write `categories=[1, 2, 3]`")
    if categories is not None and len(several) > 1:
        raise refuse(
            "operand",
            f"{len(several)} keys have no list of categories",
            hint="join them in one number, such as `10 * a + b`, or write `most=100`",
        )
    return Groups(several, most, None if categories is None else list(categories))


class Groups:
    """Rows grouped by keys; made by `sl.group_by`."""

    def __init__(self, keys: list[Value], most: int | None, categories: list[int] | None) -> None:
        self._keys, self._most, self._categories = keys, most, categories

    def agg(self, **reductions: Value) -> Any:
        """Reduces each group: `agg(total=sl.sum(x), n=sl.count(x), best=sl.max(y))`.

        Each argument is `sl.sum`, `min`, `max`, `any`, `all`, `count` or `mean` of a whole vector
        as long as the keys. The result is a named tuple of vectors, one element for each group:
        those named here, `keys` (a tuple, if there are several keys), `there` (whether the group
        has an element) and `left_out`, the number of groups for which there was no room. Where
        there is no group, everything is zero. A mean is the exact sum over the count in `sl.f64`,
        rounded once if the sum is below 2^53.

        Raises `ProgramError` for anything but such reductions, for a name that is taken, and for
        floating point without `categories`, whose sums would depend on an order.
        """
        named = {name: self._reduced(name, value) for name, value in reductions.items()}
        if self._categories is not None:
            columns = self._of_categories(named, self._categories)
        else:
            columns = self._of_keys(named)
        return _named(columns)

    def _reduced(self, name: str, value: object) -> _Reduced:
        """Reduction that an argument of `agg` is."""
        reduced = getattr(value, "_reduced", None) if isinstance(value, Value) else None
        if name in ("keys", "there", "left_out") or name.startswith("_"):
            raise refuse(
                "operand",
                f"the name `{name}` is taken",
                hint="choose another name for the reduction",
            )
        if reduced is None or reduced[1].shape != self._keys[0].shape:
            raise refuse(
                "operand",
                f"`{name}` is no reduction of a vector as long as the keys",
                reason=f"The keys have shape {list(self._keys[0].shape)}.",
                hint=f"write `{name}=sl.sum(x)`, or `count`, `min`, `max`, `any`, `all`, `mean`",
            )
        return reduced

    def _of_categories(self, named: dict[str, _Reduced], categories: list[int]) -> dict[str, Any]:
        key: Any = self._keys[0]
        groups = expand_dims(key, 1) == np.array(categories)
        number = _sum(groups, axis=0)
        there = number > 0
        made: dict[str, Any] = {"keys": type(key)(np.array(categories)), "there": there}
        for name, (reduction, x, dtype) in named.items():
            wide = expand_dims(x, 1)
            if reduction == "count":
                made[name] = number
            elif reduction in ("sum", "mean"):
                inside = where(groups, wide, 0)
                wide_sum = i64 if reduction == "mean" and not _has_fraction(x) else dtype
                total = _sum(inside, axis=0, dtype=wide_sum)
                made[name] = total if reduction == "sum" else _quotient(total, number)
            elif reduction in ("any", "all"):
                meets = groups & (wide if reduction == "any" else ~wide)
                made[name] = (
                    _any(meets, axis=0) if reduction == "any" else (there & ~_any(meets, axis=0))
                )
            else:
                # The other elements are replaced by one that is not beyond any of the group.
                least = reduction == "min"
                beyond = _largest(x) if least else _smallest(x)
                reduce = _smallest if least else _largest
                made[name] = where(there, reduce(where(groups, wide, beyond), axis=0), 0)
        made["left_out"] = i64(0)
        return made

    def _of_keys(self, named: dict[str, _Reduced]) -> dict[str, Any]:
        for name, (_, x, _) in named.items():
            if isinstance(x, FloatingPoint):
                raise refuse(
                    "type-mismatch",
                    f"`{name}` reduces floating point in groups of secret keys",
                    reason="Sums so far depend on the order of their terms.",
                    hint="use fixed point, whose sums are exact, or public `categories`",
                )
        columns = [x for _, x, _ in named.values()]
        # No reduction of these depends on the order of its elements.
        found = _sorted(self._keys, [False] * len(self._keys), columns, any_order=True)
        keys, columns = found[: len(self._keys)], found[len(self._keys) :]
        new = starts(*keys)
        last = roll(new, -1, 0)
        ones: Any = (new | ~new).astype(i64)
        number = running("sum", ones, new)
        sofar = []
        for (reduction, _, dtype), x in zip(named.values(), columns, strict=True):
            if reduction == "count":
                sofar.append(number)
            elif reduction == "mean":
                sofar.append(running("sum", x if _has_fraction(x) else x.astype(i64), new))
            elif reduction == "sum" and (dtype is not None or _is_bool(x)):
                sofar.append(running("sum", x.astype(dtype or i64), new))
            else:
                sofar.append(running(reduction, x, new))
        *first, there, count, left_out = first_rows(
            last, [*keys, *sofar, last, number], self._most or 1
        )
        groups: dict[str, Any] = {
            "keys": first[0] if len(keys) == 1 else tuple(first[: len(keys)]),
            "there": there,
        }
        for (name, (reduction, _, _)), total in zip(named.items(), first[len(keys) :], strict=True):
            groups[name] = _quotient(total, count) if reduction == "mean" else total
        groups["left_out"] = left_out
        return groups


def _named(columns: dict[str, Any]) -> Any:
    return namedtuple("Groups", columns)(**columns)


def _is_bool(x: Value) -> bool:
    return type(x) is boolean


def _has_fraction(x: Value) -> bool:
    return isinstance(x, FixedPoint | FloatingPoint)


def _quotient(total: Any, number: Any) -> Any:
    """The mean of each group; zero where there is none."""
    counted = where(number > 0, number, 1).astype(f64)
    return (total if isinstance(total, FloatingPoint) else total.astype(f64)) / counted
