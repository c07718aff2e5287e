"""Arguments of programs: inputs of parties as the native module takes them, numbers of rows, and
names of helpers.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from sealane import _cells, _data, _kinds, _tables
from sealane._refusal import misuse

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from sealane import _core
    from sealane._signature import Signature

    Tables: TypeAlias = list[tuple[list[str], object]]


def rows_of(signature: Signature, rows: int | Mapping[str, int] | None) -> dict[str, int]:
    """Numbers of rows by their names; a single number is that of the only rows.

    Raises `MisuseError` for what is no number of rows, and for one number of several.
    """
    if rows is None:
        return {}
    if not isinstance(rows, int | np.integer):
        if isinstance(rows, Mapping) and all(map(_is_count, rows.values())):
            return {name: int(count) for name, count in rows.items()}
        raise misuse(
            "row-count",
            f"rows={rows!r} is no number of rows",
            hint="give an integer from 1 on, or a mapping from row counts to integers",
        )
    if not _is_count(rows):
        raise misuse("row-count", f"{rows} is no number of rows", hint="give an integer from 1 on")
    if len(signature.rows) == 1:
        return dict.fromkeys(signature.rows, int(rows))
    names = ", ".join(signature.rows) or "none"
    raise misuse(
        "unknown-rows",
        "rows= is one number, but the program has not one row count",
        hint=f"give a mapping; the row counts are: {names}",
    )


def encoded(
    signature: Signature, given: Mapping[str, object]
) -> tuple[dict[str, _core.Array], Tables]:
    """Splits the arguments for inputs: arrays, encoded, and tables."""
    of_kind = {p.name: p for p in signature.parameters if _kinds.is_kind(p.element)}
    # For a single cell that is no number, text is that cell, and a path an object.
    single = {name for name, p in of_kind.items() if p.element._word != "number"}
    single = {name for name in single if not (of_kind[name].rows or of_kind[name].fixed)}
    cells = {name for name in single if isinstance(given.get(name), str)}
    arrays, tables = _tables.split({n: item for n, item in given.items() if n not in cells})
    arrays |= {name: given[name] for name in cells}
    found: dict[str, _core.Array] = {}
    for name, item in arrays.items():
        if name in of_kind:
            found |= _cells.encode(of_kind[name], item)
        else:
            found[name] = _data.encode(name, item)
    nullable = {n for n, p in of_kind.items() if p.element._nullable}
    for names, _ in tables:
        names += [_kinds.mask_name(name) for name in names if name in nullable]
    return found, tables


def own_inputs(
    signature: Signature, party: str, given: Any
) -> tuple[dict[str, _core.Array], Tables]:
    """Reads a party's argument: a file or a table for all its inputs, or one for each input.

    Raises `MisuseError` for an argument that may be any of several inputs.
    """
    own = [p.name for p in signature.parameters if p.owner == party]
    if _tables.is_table(given):
        if not own:  # The native module says that this party needs none.
            return {}, [([], given)]
        # Text is the path of a table here, also for a single cell of text.
        given = dict.fromkeys(own, PurePath(given) if isinstance(given, str) else given)
    elif not isinstance(given, Mapping):
        if len(own) != 1:
            raise misuse(
                "whose-input",
                f"input= does not say which input of {party} it is",
                hint=f"give a table, or a mapping with: {', '.join(own) or 'nothing'}",
            )
        given = {own[0]: given}
    return encoded(signature, given)


def _is_count(rows: Any) -> bool:
    whole = isinstance(rows, int | np.integer) and not isinstance(rows, bool)
    return whole and 0 <= int(rows) < 2**64


def names_of(helpers: Sequence[str]) -> list[str]:
    """Names of helpers, in order.

    Raises `MisuseError` for a single string, as it would be a list of letters.
    """
    several = not isinstance(helpers, str) and hasattr(helpers, "__iter__")
    names = list(helpers) if several else [str(helpers)]
    if not several or not all(isinstance(name, str) for name in names):
        example = ", ".join(f'"{name.strip()}"' for name in str(helpers).strip("[]()").split(","))
        raise misuse(
            "helper-names",
            f"helpers={helpers!r} is no list of names",
            hint=f"write helpers=[{example}]",
        )
    return names
