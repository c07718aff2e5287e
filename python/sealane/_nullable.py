"""Columns whose cells may be missing."""

# The native graph alone knows the type of a result; the annotations state what it will be.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import operator as operators
import reprlib
from typing import TYPE_CHECKING, Any, ClassVar

from sealane._elements import type_name
from sealane._kinds import Kind, is_kind, made
from sealane._methods import later
from sealane._operations import neutral, of_vector, reduce, total
from sealane._refusal import refuse_operand, refuse_type
from sealane._types import boolean, f64
from sealane._value import Value

if TYPE_CHECKING:
    from sealane._declarations import Between


def _operators(name: str) -> tuple[Any, Any]:
    """Makes an operator and its reflected form."""

    def operator(self: Nullable, other: Any) -> Any:
        return self._apply(name, other)

    def reflected(self: Nullable, other: Any) -> Any:
        return self._apply(name, other, swap=True)

    return operator, reflected


class Nullable(Kind):
    """Columns whose cells may be missing: see `sl.nullable`, which makes the kind. To type checkers
    the element type is `Annotated[sl.Nullable, sl.nullable(sl.u32)]`.

    Nobody sees which cells are missing. `x.is_null` is a secret `boolean`, and `x.fill(value)` has
    the value in their place. `x.sum()`, `x.mean()` and `x.count()`, and `sl.sum` and so on, leave
    them out. `+`, `-`, `*` and comparisons are missing where an operand is.

    >>> import sealane as sl
    >>> sl.nullable(sl.u32)
    sealane.nullable(sealane.u32)
    >>> @sl.program
    ... def gaps(
    ...     pay: sl.Private[sl.nullable(sl.u16), "shop", "people <= 9"],
    ...     more: sl.Private[sl.boolean, "bank"],
    ... ) -> sl.Revealed[sl.boolean, "bank"]:
    ...     print(pay.shape)
    ...     return pay.is_null | more
    >>> gaps([30, None], False)
    ('people',)
    array([False,  True])
    """

    __slots__ = ("_null",)
    _nullable = True
    _below = "x.fill(...)"
    _inner: ClassVar[Any] = None
    _null: Any

    @property
    def is_null(self) -> Any:
        """Returns whether each cell is missing."""
        return self._null

    def fill(self, value: Any) -> Any:
        """The cells with a value in place of those that are missing: a constant, or values of the
        program.

        Raises `ProgramError` for a value of another kind.

        >>> import sealane as sl
        >>> @sl.program
        ... def filled(
        ...     pay: sl.Private[sl.nullable(sl.u16), "shop", "people <= 9"],
        ...     more: sl.Private[sl.u16, "bank", sl.between(0, 9)],
        ... ) -> sl.Revealed[sl.u16, "bank"]:
        ...     return pay.fill(more)
        >>> filled([30, None, 40], 0)
        array([30,  0, 40], dtype=uint16)
        """
        return later("_functions").where(self._null, value, self._held())

    def sum(self, axis: int | None = None, *, dtype: type[Value] | None = None) -> Any:
        """Sum of the cells that are not missing, as `Value.sum` gives it: 0 if all are.

        Raises `ProgramError` as that does, and for cells that are no numbers.

        >>> import sealane as sl
        >>> @sl.program
        ... def total(
        ...     pay: sl.Private[sl.nullable(sl.u16), "shop", "people <= 9"],
        ...     more: sl.Private[sl.u16, "bank", sl.between(0, 9)],
        ... ) -> sl.Revealed[sl.u32, "bank"]:
        ...     return pay.sum(dtype=sl.u32) + more
        >>> total([30, None, 40], 0)
        np.uint32(70)
        """
        found = self._zeroed().sum(axis, dtype=dtype)
        found._size, found._missing = None, self._null
        return found

    def count(self, axis: int | None = None) -> Any:
        """Number of cells that are not missing, along an axis or of all.

        Raises `ProgramError` for an axis that does not exist.

        >>> import sealane as sl
        >>> @sl.program
        ... def paid(
        ...     pay: sl.Private[sl.nullable(sl.u16), "shop", "people <= 9"],
        ...     more: sl.Private[sl.u16, "bank", sl.between(0, 9)],
        ... ) -> sl.Revealed[sl.u16, "bank"]:
        ...     return pay.count() + more
        >>> paid([30, None, 40], 0)
        np.uint16(2)
        """
        number: Any = (~self._null).sum(axis)
        number._size = None
        return number

    def mean(self, axis: int | None = None) -> Any:
        """Mean of the cells that are not missing, in `sl.f64`: the exact sum and the count, each
        rounded at most once, and their quotient rounded once. It is NaN if all are missing.

        Raises `ProgramError` as `sum` does.

        >>> import sealane as sl
        >>> @sl.program
        ... def usual(
        ...     pay: sl.Private[sl.nullable(sl.u16), "shop", "people <= 9"],
        ...     more: sl.Private[sl.u16, "bank", sl.between(0, 9)],
        ... ) -> sl.Revealed[sl.f64, "bank"]:
        ...     return pay.mean() + more.astype(sl.f64)
        >>> usual([30, None, 40], 0)
        np.float64(35.0)
        """
        quotient = total(self._zeroed(), axis) / self.count(axis).astype(f64)
        return of_vector(quotient, "mean", self)

    def min(self, axis: int | None = None) -> Any:
        """Smallest of the cells that are not missing, along an axis, which is removed, or of all:
        nullable, and missing if all are.

        Raises `ProgramError` for an axis that does not exist, and for a kind without an order.

        >>> import sealane as sl
        >>> @sl.program
        ... def least(
        ...     pay: sl.Private[sl.nullable(sl.u16), "shop", 3], more: sl.Private[sl.u16, "bank"]
        ... ) -> sl.Revealed[sl.boolean, "bank"]:
        ...     return pay.min().fill(0) > more
        >>> least([30, None, 40], 29)
        np.True_
        """
        return self._extreme("min", axis)

    def max(self, axis: int | None = None) -> Any:
        """Largest of the cells that are not missing, along an axis, which is removed, or of all:
        nullable, and missing if all are.

        Raises `ProgramError` as `min` does.

        >>> import sealane as sl
        >>> @sl.program
        ... def most(
        ...     pay: sl.Private[sl.nullable(sl.u16), "shop", 3], more: sl.Private[sl.u16, "bank"]
        ... ) -> sl.Revealed[sl.boolean, "bank"]:
        ...     return pay.max().fill(0) > more
        >>> most([30, None, 40], 40)
        np.False_
        """
        return self._extreme("max", axis)

    def astype(self, dtype: Any) -> Any:
        """The numbers in another type, with the same missing cells, as `Value.astype` gives them.

        Raises `ProgramError` as that does, and for cells that are no numbers.

        >>> import sealane as sl
        >>> @sl.program
        ... def share(
        ...     pay: sl.Private[sl.nullable(sl.u16), "shop", 2], whole: sl.Private[sl.f64, "bank"]
        ... ) -> sl.Revealed[sl.nullable(sl.f64), "bank"]:
        ...     return pay.astype(sl.f64) / whole
        >>> print(share([30, None], 120))
        [0.25 --]
        """
        return self._joined(nullable(dtype), self._held().astype(dtype), self._null)

    def _extreme(self, name: str, axis: int | None) -> Any:
        getattr(self._held(), name)  # refuses a kind without an order
        found = reduce(name, self._filled(name), axis)
        made = self._joined(type(self), found, self._null.all(axis))
        of_vector(made._value, name, self)
        return made

    def _filled(self, name: str) -> Any:
        """The elements, with one in place of missing cells that changes no extreme."""
        return later("_functions").where(self._null, neutral(name, self._value), self._value)

    def __getitem__(self, index: Any) -> Any:
        null = self._null[index]
        return self._joined(type(self), self._held()[index], null)

    @property
    def shape(self) -> tuple[int | str, ...]:
        """Dimensions, as of a `Value`."""
        return self._null.shape

    __add__, __radd__ = _operators("add")
    __sub__, __rsub__ = _operators("sub")
    __mul__, __rmul__ = _operators("mul")
    __truediv__, __rtruediv__ = _operators("truediv")
    (__lt__, _), (__le__, _), (__gt__, _), (__ge__, _) = map(_operators, ("lt", "le", "gt", "ge"))

    def _compare(self, name: str, other: Any) -> Any:
        return self._apply(name, other)

    def _apply(self, name: str, other: Any, *, swap: bool = False) -> Any:
        """An operation on the cells, missing where an operand is."""
        mine, null = self._held(), self._null
        theirs = other
        if isinstance(other, Nullable):
            theirs, null = other._held(), null | other._null
        operator = getattr(operators, name)
        cells = operator(theirs, mine) if swap else operator(mine, theirs)
        return self._joined(nullable(type(cells)), cells, null)

    def _held(self) -> Any:
        """The cells in their own kind; what stands in place of missing ones means nothing."""
        if issubclass(self._inner, Kind):
            return self._inner._of(self._value)
        return self._value

    def _zeroed(self) -> Any:
        """The numbers, with 0 in place of missing ones."""
        if issubclass(self._inner, Kind):
            raise refuse_operand(f"`{type(self)!r}` has no sum", hint=self._numbers())
        if self._inner is boolean:
            return self._value & ~self._null
        return later("_functions").where(self._null, 0, self._value)

    @classmethod
    def _ends_of(cls, declared: Between) -> tuple[int, int] | None:
        ends: tuple[int, int] | None = cls._inner._ends_of(declared)
        return ends

    @staticmethod
    def _joined(kind: type[Nullable], held: Any, null: Any) -> Any:
        """Cells and which of them are missing, which broadcast to one shape."""
        if held.shape != null.shape:
            held, null = _repeated(held, null), _repeated(null, held)
        cells = kind._of(held._value if isinstance(held, Kind) else held)
        cells._null = null
        return cells


def _repeated(x: Any, beside: Any) -> Any:
    """The cells in the shape to which they broadcast with others."""
    held = beside._value if isinstance(beside, Kind) else beside
    there = (held == held)[..., 0] if isinstance(beside, Kind) and beside._bytes else held == held
    return later("_functions").where(there, x, x)


def nullable(dtype: Any) -> type[Nullable]:
    """The kind of columns whose cells may be missing: of numbers, dates, texts or categories.

    Missing cells are `None`, `NaN` in an array of floats, a masked element, an empty cell of a CSV
    file, a null of a table. Results are masked arrays, `None` for a single value, and empty cells
    or nulls in tables.

    Raises `ProgramError` for anything that is no type of elements.

    >>> import sealane as sl
    >>> @sl.program
    ... def wages(
    ...     wage: sl.Private[sl.nullable(sl.u32), "office", "people <= 9", sl.between(0, 10_000)],
    ...     least: sl.Private[sl.u32, "bank", sl.between(0, 10_000)],
    ... ) -> tuple[sl.Revealed[sl.f64, "bank"], sl.Revealed[sl.nullable(sl.u32), "bank"]]:
    ...     return wage.mean(), wage + least
    >>> mean, more = wages([2000, None, 4000], 1)
    >>> print(mean, more)
    3000.0 [2001 -- 4001]
    """
    if is_kind(dtype) and not issubclass(dtype, Nullable):
        inner = dtype
        word, element, ends, own = inner._word, inner._element, inner._ends, inner._bytes
        texts = inner._texts
    else:
        try:
            word, element, texts = "number", type_name(dtype), ()
        except Exception:
            raise refuse_type(
                f"`sl.nullable({reprlib.repr(dtype)})` is no kind of column",
                hint="write `sl.nullable(sl.u32)` or `sl.nullable(sl.date)`, for example",
            ) from None
        inner, ends, own = dtype, (0, 0), ()
    fill = f"x.fill({getattr(inner, '_example', 0)})"
    left_out = "`sl.sum`, `sl.mean` and `sl.count` leave missing cells out themselves"
    space = {
        "_word": word,
        "_texts": texts,
        "_element": element,
        "_ends": ends,
        "_bytes": own,
        "_inner": inner,
        "_below": fill,
        "_of_texts": f"fill missing cells in first: `{fill}`",
        "_instead": {
            "fillna": f"write `{fill}`",
            **dict.fromkeys(("isna", "isnull"), "write `x.is_null`"),
            **dict.fromkeys(("notna", "notnull"), "write `~x.is_null`"),
            "dropna": f"fill values in, `{fill}`; {left_out}",
        },
    }
    return made(Nullable, f"nullable({inner!r})", space)
