"""Arrays on their way in and out, and the report that a run leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sealane._refusal import misuse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sealane import _core
    from sealane._signature import Signature


def encode(name: str, item: object) -> _core.Array:
    """An input as the native module takes it; refused if its elements are not integers."""
    try:
        if not isinstance(item, np.ndarray) and np.asarray(item).size == 0:
            # NumPy makes floats of an empty list; what is wrong with it is its shape.
            item = np.asarray(item, dtype=np.uint64)
        packed = pack(item)
    except ValueError as error:
        raise misuse(
            "data-shape",
            f"`{name}` is no array",
            reason=str(error),
            hint="give every row as many elements",
        ) from None
    if packed is None:
        what, hint = _not_integers(np.asarray(item))
        raise misuse("data-type", f"`{name}` has {what}", hint=hint)
    return packed


def _not_integers(array: np.ndarray[Any, Any]) -> tuple[str, str]:
    """What is wrong with the elements of an array that was refused, and what to do about it."""
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        return "elements that are no numbers", "fill them in or drop their rows first"
    hint = "use integers or truth values"
    if array.dtype.kind == "f":
        hint = "round and convert it first: `np.rint(x).astype(np.int64)`"
    elif array.dtype.kind == "O":
        hint = "integers of at most 64 bits are read: `x.astype(np.int64)`"
    return f"elements of type {array.dtype}, not integers", hint


def pack(item: object) -> _core.Array | None:
    """Integers or truth values as kind, shape and 64-bit elements; `None` for anything else."""
    array = np.asarray(item)
    kind: str = array.dtype.kind
    if not isinstance(item, np.ndarray) and kind in "fO":
        # NumPy makes floats or objects of Python integers that need all 64 bits.
        array = np.asarray(item, dtype=object)
        numbers = array.ravel().tolist()
        if not numbers or not all(isinstance(number, int) for number in numbers):
            return None
        kind = "i" if min(numbers) < 0 else "u"
        bits = 64 - (kind == "i")
        if not -(1 << 63) <= min(numbers) <= max(numbers) < 1 << bits:
            return None
    if kind not in "biu":
        return None
    wide = array.astype(np.int64 if kind == "i" else np.uint64)
    return {"b": "bool", "i": "i64", "u": "u64"}[kind], array.shape, wide.tobytes()


def decode(result: _core.Array) -> Any:
    """A result as NumPy has it: an array, or a scalar, in the narrowest type that holds it."""
    name, shape, raw = result
    elements = np.frombuffer(raw, dtype=np.int64 if name[0] == "i" else np.uint64)
    return elements.reshape(shape).astype(_dtype(name))[()]


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
