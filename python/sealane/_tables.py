"""Tables and files as inputs; arrays go through `_data`."""

from __future__ import annotations

from os import PathLike, fspath
from typing import TYPE_CHECKING

from sealane._refusal import check_text

if TYPE_CHECKING:
    from collections.abc import Mapping


def is_table(item: object) -> bool:
    """Returns whether columns of an argument may fill several inputs: a file, or an object with
    Arrow data. A one-dimensional object is an array.
    """
    if isinstance(item, str | PathLike):
        return True
    is_arrow = hasattr(item, "__arrow_c_stream__") or hasattr(item, "__arrow_c_array__")
    return is_arrow and getattr(item, "ndim", 2) != 1


def split(given: Mapping[str, object]) -> tuple[dict[str, object], list[tuple[list[str], object]]]:
    """Splits the arguments for inputs into arrays by input, and tables with the inputs that each
    fills. A table that is given for several inputs is read once; files are paths in text.

    Raises `MisuseError` for a path that no file can have.
    """
    arrays: dict[str, object] = {}
    tables: dict[object, tuple[list[str], object]] = {}
    for name, item in given.items():
        if not is_table(item):
            arrays[name] = item
            continue
        source = fspath(item) if isinstance(item, str | PathLike) else item
        if isinstance(source, str):
            check_text(source)
        key = source if isinstance(source, str) else id(source)
        tables.setdefault(key, ([], source))[0].append(name)
    return arrays, list(tables.values())
