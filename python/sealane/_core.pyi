"""The native module, private to the package; `crates/py` is its source."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, TypeAlias, final

import numpy as np

from sealane._errors import SealaneError

__all__ = [
    "Check",
    "Comparison",
    "Node",
    "Plan",
    "Program",
    "Report",
    "Table",
    "Trace",
    "__version__",
    "aead_many",
    "aead_open",
    "aead_seal",
    "element_wise",
    "functions_of_fixed",
    "functions_of_floats",
    "is_type",
    "main",
    "own_party",
    "refusal",
]

__version__: str

Array: TypeAlias = tuple[
    str, tuple[int, ...] | list[int], bytes | np.ndarray[Any, np.dtype[np.uint64]]
]
"""Kind (`bool`, `u64`, `i64`, `f64`, `f32`, `f16`; for results the element type), shape, 64-bit
elements: a contiguous array of words, and for results bytes; of kinds `text` and `ratio` a line of
text each; of kind `cells` texts of dates and categories, see `array.rs`."""
Meaning: TypeAlias = tuple[bool, str, list[str]]
"""Kind of a column: whether cells may be empty, its word, the texts that follow it."""
Ratio: TypeAlias = tuple[int, int]
"""Numerator and denominator."""
Operand: TypeAlias = Node | int | Ratio | Array
_Show: TypeAlias = bool | Callable[[str], object]
"""A bar on standard error or nothing; or a function that takes lines of text."""
Place: TypeAlias = tuple[str, int, int, int]
"""File, line, first column, column after the last."""

@final
class Node:
    def __new__(cls, kind: str, item: Operand, at: Place | None) -> Node: ...
    @property
    def type(self) -> str: ...
    @property
    def shape(self) -> tuple[int | str, ...]: ...

@final
class Trace:
    def __new__(cls, name: str) -> Trace: ...
    def rows(self, name: str, bound: int) -> None: ...
    def bound(self, name: str) -> int: ...
    def flush_subnormals(self) -> None: ...
    def input(
        self,
        name: str,
        owner: str,
        kind: str,
        rows: str | None,
        fixed: tuple[int, ...],
        range: tuple[Ratio, Ratio] | None,
        magnitudes: tuple[float, float] | None,
        columns: tuple[str, ...],
        meaning: Meaning,
        at: Place | None,
    ) -> Node: ...
    def apply(
        self,
        name: str,
        operands: list[Operand],
        at: Place | None,
        *,
        word: str = "",
        axis: int | None = None,
        kind: str | None = None,
        number: int = 0,
        saturate: bool = False,
        lengths: Sequence[int | str] | None = None,
    ) -> list[Node]: ...
    def sum_type(self, a: Operand, axis: int | None, at: Place | None) -> str: ...
    def index(self, a: Operand, items: tuple[object, ...], at: Place | None) -> Node: ...
    def open(
        self, name: str, start: list[Operand], over: list[Operand], at: Place | None
    ) -> tuple[list[Node], list[Node]]: ...
    def close(
        self,
        name: str,
        states: list[Operand],
        returns: list[Operand],
        at: Place | None,
        *,
        any_order: bool = False,
    ) -> tuple[list[Node], list[Node]]: ...
    def by_row(self, a: Node) -> bool | None: ...
    def reveal(
        self,
        name: str,
        value: Operand,
        to: tuple[str, ...],
        kind: str,
        meaning: Meaning,
        note: str,
        at: Place | None,
    ) -> None: ...
    def finish(self) -> Program: ...

@final
class Program:
    @property
    def warnings(self) -> list[tuple[str, str, tuple[str, int] | None, str, str]]: ...
    @property
    def text(self) -> str: ...
    @property
    def parties(self) -> tuple[str, ...]: ...
    def check(self) -> Check: ...
    def plan(
        self,
        rows: dict[str, int],
        config: str | PathLike[str] | None,
        network: str | None,
        protocol: str | None,
        helpers: Sequence[str] | None,
        security: str | None,
        pool: bool,
    ) -> Plan: ...
    def compare(
        self,
        rows: dict[str, int],
        config: str | PathLike[str] | None,
        network: str | None,
        helpers: Sequence[str] | None,
        security: str | None,
        pool: bool,
    ) -> Comparison: ...
    def simulate(
        self,
        arrays: dict[str, Array],
        tables: list[tuple[list[str], object]],
        network: str,
        protocol: str | None,
        helpers: Sequence[str],
        security: str | None,
        runs: str | PathLike[str] | None,
        show: _Show,
    ) -> Report: ...
    def run(
        self,
        party: str,
        arrays: dict[str, Array],
        tables: list[tuple[list[str], object]],
        config: str | PathLike[str] | None,
        approve: str,
        identity: str | PathLike[str] | None,
        network: str | None,
        protocol: str | None,
        helpers: Sequence[str] | None,
        security: str | None,
        pool: bool,
        record: bool,
        runs: str | PathLike[str] | None,
        show: _Show,
        timeout: float | None,
    ) -> Report: ...

@final
class Table:
    """Results of one table side by side, for consumers of Arrow streams: pandas, Polars, DuckDB and
    pyarrow. `len` is the number of rows. `Report.table` makes it.

    >>> import sealane as sl
    >>> @sl.program
    ... def warm(
    ...     heat: sl.Private[sl.i8, "plant", "days <= 7"], limit: sl.Private[sl.i8, "office"]
    ... ) -> sl.Revealed[sl.boolean, "office"]:
    ...     return heat > limit
    >>> table = warm.simulate((12, 25, 31), 20, progress=False).table()
    >>> len(table), table.columns
    (3, ('result',))
    """

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns: those of the results, numbered where one has several."""
    def __len__(self) -> int: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class Check:
    """Result of `Program.check` for a program that can run. Prints as a table: inputs with their
    owners, results with their receivers, warnings.

    >>> import sealane as sl
    >>> @sl.program
    ... def richer(
    ...     a: sl.Private[sl.u32, "alice"], b: sl.Private[sl.u32, "bob"]
    ... ) -> sl.Revealed[sl.boolean, "alice", "bob"]:
    ...     return a > b
    >>> check = richer.check()
    >>> check.warnings, check.notes
    ([], [])
    >>> import json
    >>> json.loads(check.json).get("parties")
    ['alice', 'bob']
    """

    @property
    def warnings(self) -> list[str]:
        """Warnings as texts for people, each with the line of the source where there is one."""
    @property
    def notes(self) -> list[str]:
        """Warnings about the numbers of a run, one line each."""
    @property
    def json(self) -> str:
        """Same content as `sealane check --json`."""
    def _repr_html_(self) -> str: ...

@final
class Plan:
    """Plan of a run, with its cost: exact in bytes, rounds and AND gates, estimated in seconds.
    Prints as a table.

    >>> import sealane as sl
    >>> @sl.program
    ... def richer(
    ...     a: sl.Private[sl.u32, "alice"], b: sl.Private[sl.u32, "bob"]
    ... ) -> sl.Revealed[sl.boolean, "alice", "bob"]:
    ...     return a > b
    >>> plan = richer.plan()
    >>> plan.rounds, plan.ands, plan.parties, plan.rows
    (5, 32, ('alice', 'bob'), {})
    >>> sorted(plan.roles), sorted(plan.payload_bytes)
    (['evaluator', 'garbler'], ['alice', 'bob'])
    >>> 0 < plan.estimate_s["lan"] < plan.estimate_s["wan"]
    True
    >>> sorted(plan.memory_bytes), max(plan.memory_bytes.values()) < 2**28
    (['alice', 'bob'], True)
    >>> plan.hash == richer.hash, plan.notes, plan.warnings
    (True, [], [])
    >>> "AND gates" in plan.steps, plan.references.startswith("yao")
    (True, True)
    >>> import json
    >>> json.loads(plan.json).get("rounds")
    5
    """

    @property
    def hash(self) -> str:
        """The hash of the job, as 64 hexadecimal digits. It does not depend on `rows`."""
    @property
    def rows(self) -> dict[str, int]:
        """Numbers of rows for which the cost is stated, by the names in the signature."""
    @property
    def parties(self) -> tuple[str, ...]:
        """All parties: those of the program, then the helpers."""
    @property
    def roles(self) -> dict[str, str]:
        """Party of each role of the protocol; empty if it has none and all compute."""
    @property
    def payload_bytes(self) -> dict[str, int]:
        """Payload that each party will send, in bytes, by the name of the party: exact."""
    @property
    def rounds(self) -> int:
        """Rounds, input and output included: exact."""
    @property
    def ands(self) -> int:
        """AND gates, counted once for each row: exact."""
    @property
    def memory_bytes(self) -> dict[str, int]:
        """Memory of a run at each party, in bytes, by the name of the party: at most that much."""
    @property
    def estimate_s(self) -> dict[str, float]:
        """Estimated seconds of a run on the networks `"lan"` and `"wan"`, and on a declared one
        such as `"20ms/100Mbps"`."""
    @property
    def references(self) -> str:
        """References, assumptions and security levels of a run at these row counts, one a line."""
    @property
    def steps(self) -> str:
        """Every step, one per line: its times, lanes, AND gates and payload bytes."""
    @property
    def notes(self) -> list[str]:
        """Notes about the numbers of a run, and about rounds or time that are out of proportion."""
    @property
    def warnings(self) -> list[tuple[str, str, tuple[str, int] | None, str, str]]:
        """The warnings of rounds or time that are out of proportion. Each is its code, the
        sentence, its place (file and line) or `None`, the reason and the hint.
        """
    @property
    def json(self) -> str:
        """Same content as `sealane plan --json`."""
    def _repr_html_(self) -> str: ...

@final
class Comparison:
    """Protocols that can run a program, side by side: bytes, rounds, estimated seconds, and what
    each withstands. Prints as a table.

    >>> import sealane as sl
    >>> @sl.program
    ... def richer(
    ...     a: sl.Private[sl.u32, "alice"], b: sl.Private[sl.u32, "bob"]
    ... ) -> sl.Revealed[sl.boolean, "alice", "bob"]:
    ...     return a > b
    >>> compared = richer.plan(compare=True)
    >>> "yao" in compared.protocols, compared.fastest in compared.protocols
    (True, True)
    >>> import json
    >>> sorted(json.loads(compared.json))[:3]
    ['fastest', 'inputs', 'network']
    """

    @property
    def protocols(self) -> list[str]:
        """Names of the protocols that run it."""
    @property
    def fastest(self) -> str | None:
        """The protocol of the least estimated time on the declared network, of those that need no
        other helpers than the named ones; `None` if none does."""
    @property
    def json(self) -> str:
        """Same content as `sealane plan --compare --json`."""
    def _repr_html_(self) -> str: ...

@final
class Report:
    def table(self, name: str | None) -> Table: ...
    def write(self, path: str | PathLike[str]) -> None: ...
    @property
    def results(self) -> list[tuple[str, Array]]: ...
    @property
    def rows(self) -> dict[str, int]: ...
    @property
    def payload_bytes(self) -> dict[str, int]: ...
    @property
    def rounds(self) -> int: ...
    @property
    def as_planned(self) -> bool: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def seconds(self) -> float: ...
    @property
    def cpu_seconds(self) -> float: ...
    @property
    def plan(self) -> Plan: ...
    @property
    def json(self) -> str: ...
    def _repr_html_(self) -> str: ...

def aead_seal(
    mode: str,
    key: object,
    nonce: object,
    data: object,
    aad: object,
    tag_len: int | None,
    version: str | None,
    research: bool,
) -> bytes: ...
def aead_open(
    mode: str,
    key: object,
    nonce: object,
    data: object,
    aad: object,
    tag_len: int | None,
    version: str | None,
    research: bool,
    plaintext_len: int | None,
    failures_before: int,
) -> bytes: ...
def aead_many(
    open: bool,
    mode: str,
    keys: object,
    nonces: object,
    messages: object,
    aads: object | None,
    tag_len: int | None,
    version: str | None,
    research: bool,
    plaintext_lens: int | Sequence[int] | None,
    equal_nonces: bool,
    failures_before: int,
) -> tuple[list[bytes | None] | bytearray, tuple[int, int] | None, list[int]]: ...
def element_wise() -> list[tuple[str, str, str, int]]: ...
def functions_of_fixed() -> list[str]: ...
def functions_of_floats() -> list[tuple[str, int, bool]]: ...
def is_type(name: str) -> bool: ...
def own_party(
    party: str | None, config: str | PathLike[str] | None, identity: str | PathLike[str] | None
) -> str: ...
def main(arguments: list[str], python: str, signals: Sequence[int] = ...) -> int: ...
def refusal(code: str, message: str, at: Place | None, reason: str, hint: str) -> SealaneError: ...
