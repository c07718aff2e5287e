"""Cells of dates, timestamps, texts, categories and nullable columns: inputs as arrays to the
native module, and results back to NumPy.

Arrays of `datetime64` are read as numbers, without an object for each cell. Lists and arrays of
objects become texts, which the native module reads by the rule for files.
"""

from __future__ import annotations

import datetime
import reprlib
from typing import TYPE_CHECKING, Any

import numpy as np

from sealane import _data
from sealane._kinds import is_kind, mask_name
from sealane._moments import date, timestamp
from sealane._refusal import misuse
from sealane._texts import ENCODINGS, Category, Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sealane import _core
    from sealane._errors import SealaneError
    from sealane._signature import Parameter

_UNITS: dict[Any, Any] = {date: np.dtype("datetime64[D]"), timestamp: np.dtype("datetime64[s]")}


def encode(parameter: Parameter, item: object) -> dict[str, _core.Array]:
    """Encodes an input of a kind for the native module, and of a nullable one its mask as well.

    Raises `DataError` for cells of another kind, with their place.
    """
    name, kind = parameter.name, parameter.element
    nullable = kind._nullable
    inner: Any = kind._inner if nullable else kind
    array, missing = _split(name, item, nullable)
    if not is_kind(inner):
        encoded = _data.encode(name, _filled(array, missing, _fill(parameter)))
    elif inner in _UNITS and array.dtype.kind == "M":
        encoded = _times(parameter, inner, array, missing)
    else:
        encoded = _texts(name, inner, array, missing)
    if not nullable:
        return {name: encoded}
    mask = ("bool", array.shape, _data.words(missing, np.uint64))
    return {name: encoded, mask_name(name): mask}


def _split(name: str, item: object, nullable: bool) -> tuple[Any, Any]:
    """An array, and which of its elements are missing. Without a kind for it, none may be.

    Raises `DataError` for one that is.
    """
    masked = isinstance(item, np.ma.MaskedArray) if _data.has_masked(item) else False
    given: Any = item
    array: Any = given.data if masked else _data.as_array(name, item)
    if masked:
        missing = np.ma.getmaskarray(given).copy()
    elif array.dtype.kind == "M":
        missing = np.isnat(array)
    elif array.dtype.kind == "f":
        missing = np.isnan(array)
    elif array.dtype.kind in "OT":
        flat = [is_missing(element) for element in array.ravel().tolist()]
        missing = np.array(flat, dtype=bool).reshape(array.shape)
    else:
        missing = np.zeros(array.shape, dtype=bool)
    if missing.any() and not nullable:
        raise misuse(
            "data-null",
            f"there is no value for `{name}`{_data.place_in(array, int(missing.ravel().argmax()))}",
            reason="a secret cannot be missing: every row takes part",
            hint="fill the value in, or declare `sl.nullable(...)`, or drop the row in the tables "
            "of all parties",
        )
    return array, missing


def is_missing(element: object) -> bool:
    """Returns whether an object stands for a value that is missing: `None`, `NaN`, `NaT`, `NA`."""
    if element is None:
        return True
    if isinstance(element, float | np.floating):
        return bool(element != element)
    if isinstance(element, np.datetime64):
        return bool(np.isnat(element))
    return type(element).__name__ in ("NAType", "NaTType")


def _fill(parameter: Parameter) -> Any:
    """The number in place of a missing one: that of the declared range which is nearest to 0."""
    if parameter.range is None:
        return 0
    low, high = parameter.range
    return low if low > 0 else high if high < 0 else 0


def _filled(array: Any, missing: Any, fill: Any) -> Any:
    """The numbers with another one in place of those that are missing."""
    if not missing.any():
        return array
    if array.dtype.kind == "O" or not isinstance(fill, int):
        array = array.astype(object)
        array[missing] = fill
        return array
    return np.where(missing, array.dtype.type(fill), array)


def _times(parameter: Parameter, kind: Any, array: Any, missing: Any) -> _core.Array:
    """Encodes an array of `datetime64` as days or seconds."""
    whole = array.astype(_UNITS[kind])
    finer = (whole != array) & ~missing
    if finer.any():
        at = int(finer.ravel().argmax())
        day = kind is date
        raise misuse(
            "data-kind",
            f"{array.ravel()[at]}{_data.place_in(array, at)} is not a {kind.__name__}",
            reason="it has a time of day" if day else "it has a fraction of a second",
            hint="declare `sl.timestamp`, or cut the time off: `x.astype('datetime64[D]')`"
            if day
            else "round it to seconds: `x.astype('datetime64[s]')`",
        )
    numbers = np.where(missing, _fill(parameter), whole.astype(np.int64))
    return "i64", array.shape, _data.words(numbers, np.int64)


def _texts(name: str, kind: Any, array: Any, missing: Any) -> _core.Array:
    """Encodes cells one by one, as texts that the native module reads."""
    read = _moment if kind in _UNITS else _text
    elements = array.ravel().tolist() if array.dtype.kind in "OUT" else list(array.ravel())
    gone = missing.ravel().tolist()
    cells = []
    for at, element in enumerate(elements):
        cell = None if gone[at] else read(element)
        if cell is None and not gone[at]:
            raise _strange(name, kind, array, at)
        cells.append("" if cell is None else f"={cell}")
    try:
        encoded = "".join(f"{cell}\0" for cell in cells).encode()
    except UnicodeEncodeError:
        at = next(i for i, cell in enumerate(cells) if not _encodes(cell))
        raise _strange(name, kind, array, at) from None
    return "cells", array.shape, encoded


def _encodes(cell: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in cell)


def _text(element: object) -> str | None:
    return str(element) if isinstance(element, str) and "\0" not in element else None


def _moment(element: object) -> str | None:
    """A date or time as text of ISO 8601; `None` for anything else."""
    if isinstance(element, str):
        return _text(element)
    if isinstance(element, datetime.date | np.datetime64):
        return str(element)
    return None


def _strange(name: str, kind: Any, array: Any, at: int) -> SealaneError:
    """Makes the refusal of an element by its type."""
    element = array.ravel()[at]
    spelled = type(element).__name__
    if isinstance(element, list | tuple | np.ndarray):
        return _data.uneven(name, _data.place_in(array, at))
    if kind in _UNITS:
        hint = "give `datetime.date` or `datetime.datetime`, `datetime64` or text of ISO 8601"
        if hasattr(element, "to_timestamp"):
            hint = "give the day on which it begins: `x.dt.to_timestamp()`"
    else:
        hint = "give texts (`str`) without U+0000"
    wanted = repr(kind).replace("sealane", "sl", 1)
    return misuse(
        "data-type",
        f"`{name}` has {reprlib.repr(element)} of type `{spelled}`{_data.place_in(array, at)}, "
        f"which is no `{wanted}`",
        hint=hint,
    )


def decode(kind: Any, name: str, results: Mapping[str, _core.Array]) -> Any:
    """Converts a result of a kind for NumPy: `datetime64` of dates and timestamps, `str` of texts
    and categories, a masked array of what may be missing, `None` of a single missing value.
    """
    inner = kind._inner if kind._nullable else kind
    held = _held(inner, _data.decode(results[name]))
    if inner is kind:
        return held
    missing = _data.decode(results[mask_name(name)])
    if np.ndim(missing) == 0:
        return None if missing else held
    return np.ma.MaskedArray(held, missing)


def _held(kind: Any, elements: Any) -> Any:
    if not is_kind(kind):
        return elements
    if kind in _UNITS:
        return np.asarray(elements, dtype=np.int64).view(_UNITS[kind])[()]
    if issubclass(kind, Category):
        return np.array(kind._texts)[elements]
    assert issubclass(kind, Text)
    codes = np.ascontiguousarray(elements, dtype=np.uint8)
    texts = codes.view(f"S{kind._bytes[0]}").reshape(codes.shape[:-1])
    return np.char.decode(texts, ENCODINGS[kind._encoding], "replace")[()]
