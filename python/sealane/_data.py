"""Arrays as inputs and results, and the report of a run."""

from __future__ import annotations

import reprlib
import sys
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sealane._refusal import call, misuse

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from sealane import _core
    from sealane._errors import SealaneError
    from sealane._signature import Signature


def encode(name: str, item: object) -> _core.Array:
    """Encodes an input for the native module: kind, shape and elements. The input is a number, an
    array or nested lists, of any shape and of numbers of any type; the native module checks which
    numbers an input takes, as for files and tables.

    Raises `DataError` if elements are masked or are no numbers, and for rows of several lengths.

    >>> import numpy as np
    >>> from sealane import _data
    >>> _data.encode("x", np.array([[1, 2, 3]], np.uint8))
    ('u64', (1, 3), array([1, 2, 3], dtype=uint64))
    """
    if has_masked(item):
        message = f"`{name}` has masked elements"
        raise misuse("data-null", message, reason=MASKED_REASON, hint=MASKED_HINT)
    array = as_array(name, item)
    kind = array.dtype.kind
    if kind in "biu":
        wide = np.int64 if kind == "i" else np.uint64
        return _KINDS[kind], array.shape, words(array, wide)
    if kind == "f" and array.dtype.itemsize <= 8:
        bits = 8 * array.dtype.itemsize
        return f"f{bits}", array.shape, words(array, np.float64)
    if kind not in "fO":
        raise misuse(
            "data-type",
            f"`{name}` has elements of type {array.dtype}, not numbers",
            hint=DATE_HINT if kind in "mM" else "use numbers: arrays of integers or floats",
        )
    return _objects(name, array)


def words(item: object, dtype: type[np.generic]) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """The elements of an array in a type of 64 bits, contiguous and aligned, as the native module
    reads them; without a copy where they are so already.
    """
    return np.require(item, dtype, ["C", "A"]).reshape(-1).view(np.uint64)


def as_array(name: str, item: object) -> np.ndarray[Any, Any]:
    """Converts an input to an array. Elements of lists stay the objects that they are, which NumPy
    would convert to numbers of one type.

    Raises `DataError` for rows of several lengths.
    """
    try:
        return np.asarray(item, dtype=object if isinstance(item, list | tuple) else None)
    except (ValueError, TypeError) as error:
        raise misuse(
            "data-shape",
            f"`{name}` is no array",
            reason=str(error),
            hint="give every row as many elements",
        ) from None


def _objects(name: str, array: np.ndarray[Any, Any]) -> _core.Array:
    """Encodes an array of objects: floats as such, other numbers as a line of text each."""
    elements: list[Any] = array.ravel().tolist()
    kinds = set(map(type, elements))
    if kinds == {float}:
        return "f64", array.shape, words(elements, np.float64)
    lines: list[Any]
    try:
        lines = list(map(str if kinds <= {int, bool} else _line, elements))
    except ValueError:  # Python prints no integer of thousands of digits.
        lines = list(map(_line, elements))
    if None in lines:
        raise _no_number(name, array, lines.index(None))
    if not lines:
        return "u64", array.shape, words([], np.uint64)
    return "text", array.shape, "\n".join(lines).encode()


def _line(number: object) -> str | None:
    """Encodes a number for the native module; `None` for an object that is none."""
    match number:
        # NumPy takes a span of time for an integer.
        case np.timedelta64():
            return None
        case int() | np.integer() | np.bool_():
            whole = int(number)
            return str(whole) if whole.bit_length() < MOST_BITS else None
        case float():
            return float.__repr__(number)
        case np.floating() if number.dtype.itemsize <= 8:
            return f"{float(number)!r}:{np.finfo(number.dtype).nmant + 1}"
        case np.floating() if not np.isfinite(number):
            return repr(float(number))
        case Decimal() if number.is_finite() and number == number.to_integral_value():
            return str(int(number)) if number.adjusted() < MOST_BITS // 4 else f"d{number}"
        case Decimal():
            return f"d{number}"
        case Fraction() | np.floating():
            found = ratio(number)
            return found and f"{found[0]}/{found[1]}"
    return None


MOST_BITS = 1024
"""Integers of more bits are not handed on to be told that they are too large: printing them takes
long, and Python refuses to.
"""


def _no_number(name: str, array: np.ndarray[Any, Any], place: int) -> SealaneError:
    """Makes the refusal of an element that is no number, or one of too many digits."""
    element, at = array.ravel()[place], place_in(array, place)
    if isinstance(element, list | tuple | np.ndarray):
        return uneven(name, at)
    if isinstance(element, int | Fraction | np.floating):
        return misuse(
            "data-type",
            f"`{name}` has a number of too many digits{at}",
            reason="integers of 64 bits and ratios of about 37 digits are read",
            hint="round it before it is given",
        )
    if hasattr(element, "year") or isinstance(element, np.datetime64 | timedelta | np.timedelta64):
        hint = DATE_HINT
    elif array.ndim == 0:
        hint = (
            "give numbers, an array, a file, or a table that streams Arrow; of a lazy one, what "
            "`.collect()` gives"
        )
    elif isinstance(element, str) and _is_decimal(element):
        hint = "convert texts to numbers first: `np.array(x, dtype=float)`, or `int` for whole ones"
    else:
        hint = "fill it in, or drop its row first"
    if array.ndim == 0:
        what = f"the type `{type(element).__name__}`, which is no number"
    else:
        what = f"{reprlib.repr(element)}{at}"
    return misuse("data-type", f"`{name}` has {what}", hint=hint)


def place_in(array: np.ndarray[Any, Any], at: int) -> str:
    """Where an element of an array is, as a message says it; nothing of a single one."""
    if array.ndim == 0:
        return ""
    index = [int(i) for i in np.unravel_index(at, array.shape)] if array.ndim > 1 else at
    return f" at element {index}"


def uneven(name: str, at: str) -> SealaneError:
    """Error for a list in an array that is longer or shorter than those beside it."""
    return misuse(
        "data-shape",
        f"`{name}` is no array",
        reason=f"the list{at} is not as long as its neighbours",
        hint="give every row as many elements",
    )


def _is_decimal(text: str) -> bool:
    """Returns whether a text is a number, which files may contain and arrays may not."""
    try:
        return Decimal(text).is_finite()
    except ArithmeticError:
        return False


DATE_HINT = (
    "declare the input as `sl.date` or `sl.timestamp`, or convert it to whole numbers, such as "
    "days since a date"
)
MASKED_REASON = "a mask says that a value is missing, and every element takes part"
MASKED_HINT = "fill the elements in, `x.filled(0)`, or drop their rows, before the array is given"
_KINDS = {"b": "bool", "i": "i64", "u": "u64"}


def has_masked(item: object) -> bool:
    """Returns whether an element is masked, which the array that NumPy makes of it loses."""
    # Where nobody has loaded this part of NumPy there is no masked array; loading it takes time.
    if "numpy.ma" not in sys.modules:
        return False
    if isinstance(item, list | tuple):
        # Types are few where elements are many.
        maskable = (list, tuple, np.ma.MaskedArray)
        nested = [kind for kind in set(map(type, item)) if issubclass(kind, maskable)]
        return bool(nested) and any(map(has_masked, item))
    return isinstance(item, np.ma.MaskedArray) and bool(np.ma.is_masked(item))


def pack(item: object, *, special: bool = False) -> _core.Array | None:
    """Encodes a constant's numbers, of any shape, as kind, shape and elements; `None` for anything
    else, for integers that no type of 64 bits holds together, and for floats that are not finite
    unless `special` is set.

    >>> from sealane import _data
    >>> _data.pack([True, False])
    ('bool', (2,), array([1, 0], dtype=uint64))
    """
    array = np.asarray(item)
    kind: str = array.dtype.kind
    if special and kind == "f" and array.dtype.itemsize <= 8:
        return "f64", array.shape, words(array, np.float64)
    if kind in "fO":
        # NumPy makes floats or objects of Python integers that need all 64 bits.
        listed = not isinstance(item, np.ndarray)
        array = np.asarray(item, dtype=object) if listed else array
        numbers = array.ravel().tolist()
        if not listed or not numbers or not all(isinstance(number, int) for number in numbers):
            return _pack_fractions(array)
        kind = "i" if min(numbers) < 0 else "u"
        bits = 64 - (kind == "i")
        if not -(1 << 63) <= min(numbers) <= max(numbers) < 1 << bits:
            return None
    if kind not in _KINDS:
        return None
    wide = np.int64 if kind == "i" else np.uint64
    return _KINDS[kind], array.shape, words(array, wide)


def _pack_fractions(array: np.ndarray[Any, Any]) -> _core.Array | None:
    """Encodes arrays of floats directly, and other numbers as ratios."""
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        finite = bool(np.isfinite(array).all())
        return ("f64", array.shape, words(array, np.float64)) if finite else None
    ratios = [ratio(number) for number in array.ravel().tolist()]
    if not ratios or not all(ratios):
        return None
    text = "\n".join(f"{found[0]}/{found[1]}" for found in ratios if found)
    return "ratio", array.shape, text.encode()


def is_fractional(item: object) -> bool:
    """Returns whether it is a number that may have a fraction."""
    return isinstance(item, float | np.floating | Decimal | Fraction)


def ratio(item: object) -> _core.Ratio | None:
    """Numerator and denominator of a number of the source. A float stands for the decimal that
    Python prints for it, and a wider float for its exact value. `None` if it is no finite
    number, or has more digits than the native module takes: 127 bits above, 124 below.

    >>> from sealane import _data
    >>> _data.ratio(0.1)
    (1, 10)
    """
    try:
        if isinstance(item, np.floating) and item.dtype.itemsize > 8:
            # As a float of Python it would be another number.
            exact = Fraction(*item.as_integer_ratio())
        elif isinstance(item, float | np.floating):
            exact = Fraction(repr(float(item)))
        elif isinstance(item, int | np.integer) and not isinstance(item, np.timedelta64):
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
    """Converts a result for NumPy: an array of its shape, or a scalar, in the narrowest type that
    holds its element type.

    Floating point comes in the type of its width, `bf16` as `float32`.
    Fixed point comes as `float64` where every value of the type is one, and otherwise as `Fraction`
    (in an array of objects), so that no digit is lost.

    >>> from sealane import _data
    >>> _data.decode(("u13", [2], bytes([5, *bytes(7), 6, *bytes(7)])))
    array([5, 6], dtype=uint16)
    """
    name, shape, raw = result
    signed = name.startswith(("i", "fixed"))
    elements = np.frombuffer(raw, dtype=np.int64 if signed else np.uint64).reshape(shape)
    if "fixed" in name:
        return _fixed_point(name, elements)
    if name in _FLOATS:
        # NumPy has no `bf16`, which is the upper half of a `float32`.
        bits = elements << np.uint64(16 if name == "bf16" else 0)
        stored, native = _FLOATS[name]
        return bits.astype(stored).view(native)[()]
    return elements.astype(_dtype(name))[()]


_FLOATS = {
    "f16": (np.uint16, np.float16),
    "bf16": (np.uint32, np.float32),
    "f32": (np.uint32, np.float32),
    "f64": (np.uint64, np.float64),
}
"""Types of NumPy for the bits of floating point, and for its numbers."""


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


def _decoded(results: dict[str, _core.Array], signature: Signature) -> dict[str, Any]:
    """Converts the results that this side learns for NumPy, by their kinds."""
    from sealane import _cells
    from sealane._kinds import is_kind

    learnt = [result for result in signature.results if result.name in results]
    return {
        result.name: _cells.decode(result.element, result.name, results)
        if is_kind(result.element)
        else decode(results[result.name])
        for result in learnt
    }


class Report:
    """Report of a run: results, transferred bytes, planned against measured costs. Prints as a
    table.

    >>> import sealane as sl
    >>> @sl.program
    ... def total(
    ...     a: sl.Private[sl.u8, "alice", "days <= 7"], b: sl.Private[sl.u8, "bob"]
    ... ) -> sl.Revealed[sl.u16, "bob"]:
    ...     return a.sum(dtype=sl.u16) + b
    >>> report = total.simulate([200, 100], 5, progress=False)
    >>> report.value, report.results, report.rows
    (np.uint16(305), {'result': np.uint16(305)}, {'days': 2})

    Costs are in bytes, rounds and seconds, and those of the plan are exact:

    >>> report.payload_bytes == report.plan.payload_bytes and report.rounds == report.plan.rounds
    True
    >>> report.as_planned, report.notes, report.seconds > 0, report.cpu_seconds > 0
    (True, [], True, True)
    """

    def __init__(self, native: _core.Report, signature: Signature) -> None:
        self._native = native
        self.results: Mapping[str, Any] = _decoded(dict(native.results), signature)
        """The results that this side learns, by name; all of them in a simulation. Each is a NumPy
        array or scalar, of the types that `Program.simulate` names.
        """
        self._make = signature.make
        self._order = [result.name for result in signature.results]

    @property
    def value(self) -> Any:
        """Result as the function returns it: a NumPy array or scalar, or a named tuple of them,
        with `None` for each result of another party.
        """
        values = [self.results.get(name) for name in self._order]
        return self._make(values) if self._make else values[0]

    def table(self, name: str | None = None) -> _core.Table:
        """Results that belong to rows of one table, side by side, for pandas, Polars, DuckDB or
        pyarrow: `pl.DataFrame(report.table())`. If they belong to several tables, `name` chooses
        one; `single` are those that belong to none. A column has the element type of its result,
        and a line for each row.

        Raises `MisuseError` if there is no such table, or if `name` is needed and missing.

        >>> import sealane as sl
        >>> @sl.program
        ... def warm(
        ...     heat: sl.Private[sl.i8, "plant", "days <= 7"], limit: sl.Private[sl.i8, "office"]
        ... ) -> sl.Revealed[sl.boolean, "office"]:
        ...     return heat > limit
        >>> warm.simulate([12, 25, 31], 20, progress=False).table()
        <results of days, 3 rows: result>
        """
        return call(self._native.table, name)

    def write(self, path: str | PathLike[str]) -> None:
        """Writes results to a `.csv`, `.parquet` or `.npy` file, and those of further tables to
        files beside it, as `--output` does.

        Raises `ConfigError` for a file that cannot be written or an extension that is unknown.

        >>> import pathlib, tempfile
        >>> import sealane as sl
        >>> @sl.program
        ... def warm(
        ...     heat: sl.Private[sl.i8, "plant", "days <= 7"], limit: sl.Private[sl.i8, "office"]
        ... ) -> sl.Revealed[sl.boolean, "office"]:
        ...     return heat > limit
        >>> report = warm.simulate([12, 25, 31], 20, progress=False)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "warm.csv"
        ...     report.write(file)
        ...     file.read_text().split()
        ['result', '0', '1', '1']
        """
        call(self._native.write, path)

    @property
    def payload_bytes(self) -> dict[str, int]:
        """Measured payload that each party sent, in bytes, by the name of the party."""
        return self._native.payload_bytes

    @property
    def rounds(self) -> int:
        """Measured number of rounds, input and output included."""
        return self._native.rounds

    @property
    def as_planned(self) -> bool:
        """True if payload bytes and rounds are the planned ones on every link."""
        return self._native.as_planned

    @property
    def rows(self) -> dict[str, int]:
        """The number of rows of each table, by the name of its rows in the signature."""
        return self._native.rows

    @property
    def notes(self) -> list[str]:
        """Notes about the numbers: those that the program rounds, as `SealaneWarning` states, and
        how many were rounded as the inputs were read.
        """
        return self._native.notes

    @property
    def seconds(self) -> float:
        """Wall time in seconds, from the end of the handshake to the results."""
        return self._native.seconds

    @property
    def cpu_seconds(self) -> float:
        """Processor time of this process in that time, in seconds, in all its threads."""
        return self._native.cpu_seconds

    @property
    def plan(self) -> _core.Plan:
        """Plan that the run followed."""
        return self._native.plan

    def __repr__(self) -> str:
        return repr(self._native)

    def _repr_html_(self) -> str:
        return self._native._repr_html_()
