"""Declarations of inputs and results in a signature, `Private[...]` and `Revealed[...]`, and their
markers.

Type checkers see both as `typing.Annotated`, so that a parameter has its element type there; the
plain `typing.Annotated[u16, "hospital", ...]` means the same at run time.
"""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING, Any, NamedTuple

from sealane import _kinds
from sealane._data import ratio
from sealane._types import FixedPoint, FloatingPoint
from sealane._value import Value

if TYPE_CHECKING:
    from sealane import _core
    from sealane._operands import Number


class Between(NamedTuple):
    """Marker of a declared range: see `between`."""

    low: Number
    high: Number

    def ratios(self) -> tuple[_core.Ratio, _core.Ratio] | None:
        """Both ends as numerator and denominator; `None` if one is no number that can be read."""
        low, high = ratio(self.low), ratio(self.high)
        return (low, high) if low and high else None


class Magnitude(NamedTuple):
    """Marker of declared magnitudes: see `magnitude`."""

    least: Number
    most: Number

    def ends(self) -> tuple[float, float] | None:
        """Both ends; `None` if one is no number that can be read."""
        if isinstance(self.least, str) or isinstance(self.most, str):
            return None
        try:
            return float(self.least), float(self.most)
        except (TypeError, ValueError, OverflowError):
            return None


class Column(NamedTuple):
    """Marker of one column of a table: see `column`."""

    name: str


class Wrapping:
    """Marker of arithmetic modulo `2**bits`: see `wrapping`.

    >>> import sealane as sl
    >>> @sl.program
    ... def hashed(
    ...     x: sl.Private[sl.u32, "alice", sl.wrapping], key: sl.Private[sl.u32, "bob", sl.wrapping]
    ... ) -> sl.Revealed[sl.u32, "bob", sl.wrapping]:
    ...     return x * 2_654_435_761 + key
    >>> hashed(3, 7)
    np.uint32(3668339994)
    """

    def __repr__(self) -> str:
        return "sealane.wrapping"


wrapping: typing.Final = Wrapping()
"""In `Private[...]` and `Revealed[...]`: arithmetic on these elements is modulo `2**bits` and never
refused for its range. Not for fixed point.
"""


def between(low: Number, high: Number) -> Between:
    """Marker in `Private[...]`: every element lies in `low..=high` (both ends included, numbers of
    the input's type). Data outside raise `DataError`. For fixed point, both ends are rounded
    like data, so that data equal to one are inside.

    A tight range lets the check prove that sums and products fit, and makes circuits smaller.

    Raises nothing itself: ends that are no numbers of the type raise `ProgramError` when the
    program is first used.

    >>> import sealane as sl
    >>> @sl.program
    ... def weighted(
    ...     mark: sl.Private[sl.u8, "school", sl.between(0, 100)],
    ...     weight: sl.Private[sl.u8, "office", sl.between(1, 2)],
    ... ) -> sl.Revealed[sl.u8, "office"]:
    ...     return mark * weight
    >>> weighted(90, 2)
    np.uint8(180)
    >>> try:
    ...     weighted(101, 2)
    ... except sl.DataError as error:
    ...     print(error.code)
    data-range
    """
    return Between(low, high)


def magnitude(least: Number, most: Number) -> Magnitude:
    """Marker in `Private[...]` of floating point: every element is 0, or has a magnitude from
    `least` to `most`, both included. Data outside, infinities and NaN raise `DataError`.

    Exact sums and dot products (`x.sum()`, `a @ b`, `sl.fsum`, `sl.fmean`) take fewer gates then:
    those of a sum are in proportion to the number of powers of two from `least` to `most`. Results
    are the same. What passes numbers on, such as `sl.where`, `-x` and indexing, keeps the
    magnitudes; arithmetic does not.

    Raises nothing itself: ends that are no magnitudes of the type raise `ProgramError` when the
    program is first used.

    >>> import sealane as sl
    >>> @sl.program
    ... def turnover(
    ...     x: sl.Private[sl.f64, "shop", "sales <= 1000", sl.magnitude(0.01, 1e6)],
    ...     y: sl.Private[sl.f64, "bank"],
    ... ) -> sl.Revealed[sl.boolean, "bank"]:
    ...     return sl.fsum(x) > y
    >>> turnover([0.1, -0.05, 0.0], 0.04)
    np.True_
    >>> try:
    ...     turnover([1e9], 0.0)
    ... except sl.DataError as error:
    ...     print(error.code)
    data-range
    """
    return Magnitude(least, most)


def column(name: str) -> Column:
    """Marker in `Private[...]`: the elements are this column of the owner's table. A table without
    it raises `DataError`.

    Without it, an input with no list of columns is the column named like the parameter.

    Raises nothing itself: a name that is no text raises `ProgramError` when the program is first
    used.

    >>> import pathlib, tempfile
    >>> import sealane as sl
    >>> @sl.program
    ... def above(
    ...     wages: sl.Private[sl.u32, "office", "people <= 99", sl.column("wage")],
    ...     need: sl.Private[sl.u32, "agency"],
    ... ) -> sl.Revealed[sl.boolean, "agency"]:
    ...     return wages > need
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "office.csv"
    ...     _ = file.write_text("name,wage\\nAda,52000\\nBen,31000\\n")
    ...     above(file, 40_000)
    array([ True, False])
    """
    return Column(name)


class Declaration:
    """Element type with its markers, as `Private[...]` and `Revealed[...]` build it."""

    __slots__ = ("element", "kind", "markers")

    def __init__(self, kind: str, items: tuple[Any, ...]) -> None:
        element: Any
        element, markers = items[0] if items else None, items[1:]
        if typing.get_origin(element) is typing.Annotated:
            element, markers = element.__origin__, (*element.__metadata__, *markers)
        # `Annotated[FixedPoint, fixed(16, 16)]` is what a type checker can read.
        if _is_abstract(element) and markers and is_element(markers[0]):
            element, markers = markers[0], markers[1:]
        self.kind, self.element, self.markers = kind, element, markers

    def __repr__(self) -> str:
        inside = ", ".join(map(repr, (self.element, *self.markers)))
        return f"sealane.{self.kind}[{inside}]"


def _is_abstract(element: Any) -> bool:
    return element is FixedPoint or (isinstance(element, _kinds.KindType) and not element._word)


class Private:
    """Type of a parameter: `Private[type, owner, markers...]`.

    Markers, in the order of the dimensions: `"name <= bound"` for a number of rows known only at
    run time (the bound is needed once in a signature), an `int` for a fixed dimension, a list of
    column names for a dimension of that length. Anywhere: `between(...)`, `magnitude(...)`,
    `column(...)` and `wrapping`. An input without dimensions is a single number.

    A declaration that cannot be read raises `ProgramError` when the program is first used.

    >>> import sealane as sl
    >>> @sl.program
    ... def risk(
    ...     x: sl.Private[sl.u16, "hospital", "patients <= 100", ["age", "dose"]],
    ...     weights: sl.Private[sl.i8, "lab", 2],
    ... ) -> sl.Revealed[sl.boolean, "hospital"]:
    ...     return sl.dot(x, weights, dtype=sl.i32) > 50
    >>> risk([[40, 2], [70, 1]], [1, -3])
    array([False,  True])
    """

    def __class_getitem__(cls, items: Any) -> Declaration:
        return Declaration("Private", items if isinstance(items, tuple) else (items,))


class Revealed:
    """Type of a result: `Revealed[type, receiver, ...]`; several results are a tuple of them, or a
    `NamedTuple`, and `wrapping` among the receivers is for a type that wraps. Among them may also
    stand `noise(...)` or `min_group(...)`, which protect single people. The shape is that of the
    value that the function returns.

    A declaration that cannot be read raises `ProgramError` when the program is first used, as does
    a value that might not fit its type.

    >>> import sealane as sl
    >>> @sl.program
    ... def lots(
    ...     a: sl.Private[sl.u8, "ann"], b: sl.Private[sl.u8, "ben"]
    ... ) -> tuple[sl.Revealed[sl.boolean, "ann", "ben"], sl.Revealed[sl.u8, "ben"]]:
    ...     return a > b, sl.minimum(a, b)
    >>> lots.simulate(7, 4, progress=False).value
    Results(result_0=np.True_, result_1=np.uint8(4))
    """

    def __class_getitem__(cls, items: Any) -> Declaration:
        return Declaration("Revealed", items if isinstance(items, tuple) else (items,))


def is_element(thing: Any) -> bool:
    if _kinds.is_kind(thing):
        return True
    abstract = (Value, FixedPoint, FloatingPoint)
    return isinstance(thing, type) and issubclass(thing, Value) and thing not in abstract
