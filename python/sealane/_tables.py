"""Tables and files on their way into inputs; arrays go through `_data`."""

from __future__ import annotations

from os import PathLike, fspath
from typing import TYPE_CHECKING

from sealane._refusal import misuse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sealane import _core

    Source = str | _core.Batches


def is_whole(item: object) -> bool:
    """Whether it may hold several inputs as columns by name: a file or a table, not an array."""
    return isinstance(item, str | PathLike) or _is_arrow(item)


def split(given: Mapping[str, object]) -> tuple[dict[str, object], list[tuple[list[str], Source]]]:
    """What is given for inputs, as arrays by input, and as tables with the inputs that each serves.
    A table that is given for several inputs is read once.
    """
    arrays: dict[str, object] = {}
    tables: dict[object, tuple[list[str], Source]] = {}
    for name, item in given.items():
        key: object = fspath(item) if isinstance(item, str | PathLike) else id(item)
        if key in tables:
            tables[key][0].append(name)
        elif (source := open_source(item)) is not None:
            tables[key] = ([name], source)
        else:
            arrays[name] = item
    return arrays, list(tables.values())


def open_source(item: object) -> Source | None:
    """A file or a table for the native module; `None` for an array."""
    from sealane import _core

    if isinstance(item, str | PathLike):
        return str(fspath(item))
    if not _is_arrow(item):
        return None
    try:
        return _core.Batches(item)
    except ImportError as error:  # pandas without pyarrow
        if getattr(item, "ndim", 2) == 1:
            return None
        raise misuse(
            "data-type",
            f"a table of {type(item).__module__.split('.')[0]} cannot be read",
            reason=str(error),
            hint="install what it names, or give the columns as an array: `x.to_numpy()`",
        ) from None


def _is_arrow(item: object) -> bool:
    return hasattr(item, "__arrow_c_stream__") or hasattr(item, "__arrow_c_array__")
