"""Arrays on their way in and out, and the report that a run leaves."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np

from sealane._refusal import misuse

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from sealane import _core
    from sealane._signature import Signature


def encode(name: str, item: object, *, fractions: bool) -> _core.Array:
    """An input as the native module takes it; refused if its elements are no numbers, or have
    fractions where the input has none.
    """
    if has_masked(item):
        message = f"`{name}` has masked elements"
        raise misuse("data-null", message, reason=MASKED_REASON, hint=MASKED_HINT)
    try:
        if not isinstance(item, np.ndarray) and np.asarray(item).size == 0:
            # NumPy makes floats of an empty list; what is wrong with it is its shape.
            item = np.asarray(item, dtype=np.uint64)
        packed = pack(item, fractions=fractions)
    except ValueError as error:
        raise misuse(
            "data-shape",
            f"`{name}` is no array",
            reason=str(error),
            hint="give every row as many elements",
        ) from None
    if packed is None:
        what, hint = _not_numbers(np.asarray(item), fractions)
        raise misuse("data-type", f"`{name}` has {what}", hint=hint)
    return packed


MASKED_REASON = "a mask says that a value is missing, and every element takes part"
MASKED_HINT = "fill the elements in, `x.filled(0)`, or drop their rows, before the array is given"


def has_masked(item: object) -> bool:
    """Whether an element is masked, which the array that NumPy makes of it no longer says."""
    if isinstance(item, list | tuple):
        return any(has_masked(inner) for inner in item)
    return isinstance(item, np.ma.MaskedArray) and bool(np.ma.is_masked(item))


def _not_numbers(array: np.ndarray[Any, Any], fractions: bool) -> tuple[str, str]:
    """What is wrong with the elements of an array that was refused, and what to do about it."""
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        return "elements that are no numbers", "fill them in or drop their rows first"
    if array.dtype.kind == "O" and array.ndim == 0:
        hint = (
            "give numbers, an array, a file, or a table that streams Arrow; of a lazy one, what "
            "`.collect()` gives"
        )
        return f"the type `{type(array.item()).__name__}`, which is none of these", hint
    for place, element in enumerate(array.ravel().tolist() if array.dtype.kind == "O" else []):
        if not isinstance(element, Number):
            return f"{element!r} at element {place}", "fill it in, or drop its row first"
    if fractions:
        hint = "use numbers: arrays of integers or float64, `Decimal` or `Fraction`"
        return f"elements of type {array.dtype}, not numbers of few enough digits", hint
    hint = "use integers or truth values"
    if array.dtype.kind == "f":
        hint = (
            "declare the input as fixed point, `sl.fixed(16, 16)`, or round and convert it first: "
            "`np.rint(x).astype(np.int64)`"
        )
    elif array.dtype.kind == "O":
        hint = "integers of at most 64 bits are read: `x.astype(np.int64)`"
    return f"elements of type {array.dtype}, not integers", hint


def pack(item: object, *, fractions: bool = False) -> _core.Array | None:
    """Integers or truth values, and where it says so numbers with `fractions`, as kind, shape and
    elements; `None` for anything else.
    """
    array = np.asarray(item)
    kind: str = array.dtype.kind
    if kind in "fO":
        # NumPy makes floats or objects of Python integers that need all 64 bits.
        listed = not isinstance(item, np.ndarray)
        array = np.asarray(item, dtype=object) if listed else array
        numbers = array.ravel().tolist()
        if not listed or not numbers or not all(isinstance(number, int) for number in numbers):
            return _pack_fractions(array) if fractions else None
        kind = "i" if min(numbers) < 0 else "u"
        bits = 64 - (kind == "i")
        if not -(1 << 63) <= min(numbers) <= max(numbers) < 1 << bits:
            return None
    if kind not in "biu":
        return None
    wide = array.astype(np.int64 if kind == "i" else np.uint64)
    return {"b": "bool", "i": "i64", "u": "u64"}[kind], array.shape, wide.tobytes()


def _pack_fractions(array: np.ndarray[Any, Any]) -> _core.Array | None:
    """Arrays of floats as they are, and other numbers as ratios."""
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        finite = bool(np.isfinite(array).all())
        return ("f64", array.shape, array.astype(np.float64).tobytes()) if finite else None
    ratios = [ratio(number) for number in array.ravel().tolist()]
    if not ratios or not all(ratios):
        return None
    text = "\n".join(f"{found[0]}/{found[1]}" for found in ratios if found)
    return "ratio", array.shape, text.encode()


def is_fractional(item: object) -> bool:
    """Whether it is a number that may have a fraction."""
    return isinstance(item, float | np.floating | Decimal | Fraction)


def ratio(item: object) -> _core.Ratio | None:
    """Numerator and denominator of a number; a float is the decimal that Python prints for it, and
    one that is wider than those of Python is itself. `None` if it is no finite number, or has more
    digits than the native module takes.
    """
    try:
        if isinstance(item, np.floating) and item.dtype.itemsize > 8:
            # As a float of Python it would be another number.
            exact = Fraction(*item.as_integer_ratio())
        elif isinstance(item, float | np.floating):
            exact = Fraction(repr(float(item)))
        elif isinstance(item, int | np.integer):
            exact = Fraction(int(item))
        elif isinstance(item, Decimal | Fraction):
            exact = Fraction(item)
        else:
            return None
    except (ValueError, OverflowError):  # not a number, or infinite
        return None
    if abs(exact.numerator) >= 1 << 127 or exact.denominator > 1 << 124:
        return None
    return exact.numerator, exact.denominator


def decode(result: _core.Array) -> Any:
    """A result as NumPy has it: an array, or a scalar, in the narrowest type that holds it.

    Fixed point comes as `float64` where every value of the type is one, and otherwise as `Fraction`
    (in an array of objects), so that no digit is lost.
    """
    name, shape, raw = result
    signed = name.startswith(("i", "fixed"))
    elements = np.frombuffer(raw, dtype=np.int64 if signed else np.uint64).reshape(shape)
    if "fixed" in name:
        return _fixed_point(name, elements)
    return elements.astype(_dtype(name))[()]


def _fixed_point(name: str, stored: np.ndarray[Any, Any]) -> Any:
    integer, fraction = map(int, name.removeprefix("u").removeprefix("fixed").split("."))
    if integer + fraction - name.startswith("fixed") <= np.finfo(np.float64).nmant + 1:
        return np.ldexp(stored.astype(np.float64), -fraction)[()]
    values = np.empty(stored.shape, dtype=object)
    values.ravel()[:] = [Fraction(number, 1 << fraction) for number in stored.ravel().tolist()]
    return values[()]


def _dtype(name: str) -> np.dtype[Any]:
    name = name.removesuffix(".wrapping")
    if name == "bool":
        return np.dtype(np.bool_)
    width = next(width for width in (8, 16, 32, 64) if int(name[1:]) <= width)
    return np.dtype(f"{name[0]}{width // 8}")


class Report:
    """What a run did: results, what crossed, planned against measured. Prints as a table."""

    def __init__(self, native: _core.Report, signature: Signature) -> None:
        self._native = native
        self.results: Mapping[str, Any] = {name: decode(result) for name, result in native.results}
        """The results that this side learns, by name; all of them in a simulation."""
        self._make = signature.make
        self._order = [result.name for result in signature.results]

    @property
    def value(self) -> Any:
        """The result as the function returns it; a result that another party learns is `None`."""
        values = [self.results.get(name) for name in self._order]
        return self._make(values) if self._make else values[0]

    def table(self, name: str | None = None) -> _core.Table:
        """The results that belong to rows of one table, side by side, for pandas, Polars, DuckDB or
        pyarrow: `pl.DataFrame(report.table())`. Where they belong to several, `name` chooses one;
        `single` are those that belong to none.
        """
        return self._native.table(name)

    def write(self, path: str | PathLike[str]) -> None:
        """Writes results to a `.csv`, `.parquet` or `.npy` file, and those of further tables to
        files beside it, as `--output` does.
        """
        self._native.write(path)

    @property
    def payload_bytes(self) -> dict[str, int]:
        """Payload bytes that each party sent, as measured."""
        return self._native.payload_bytes

    @property
    def rounds(self) -> int:
        """Rounds, input and output included, as measured."""
        return self._native.rounds

    @property
    def as_planned(self) -> bool:
        """Whether payload bytes and rounds are the planned ones on every link."""
        return self._native.as_planned

    @property
    def rows(self) -> dict[str, int]:
        """The number of rows of each table."""
        return self._native.rows

    @property
    def notes(self) -> list[str]:
        """What to know of the inputs: how many numbers were rounded as they were read."""
        return self._native.notes

    @property
    def seconds(self) -> float:
        """Wall time from the handshake's end to the results."""
        return self._native.seconds

    @property
    def plan(self) -> _core.Plan:
        """What was promised."""
        return self._native.plan

    def __repr__(self) -> str:
        return repr(self._native)

    def _repr_html_(self) -> str:
        return self._native._repr_html_()
