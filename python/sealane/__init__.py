"""Sealane runs a Python function on data that stays with its owners.

Who is richer? Both learn the answer, and neither learns the other's fortune:

>>> import sealane as sl
>>> @sl.program
... def richer(
...     a: sl.Private[sl.u32, "alice"], b: sl.Private[sl.u32, "bob"]
... ) -> sl.Revealed[sl.boolean, "alice", "bob"]:
...     return a > b

Calling it simulates: the real protocol, with all parties in this process.

>>> richer(3, 5)
np.False_

Its cost is known exactly before anything runs, and `richer.run(input=3, yes=richer.hash)` is one
party of a run over the network, the one that `./sealane.toml` says.

>>> richer.plan().rounds
5
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sealane import aead, math
from sealane._core import __version__
from sealane._errors import (
    ConfigError,
    DataError,
    InternalError,
    MisuseError,
    NetworkError,
    PeerError,
    ProgramError,
    SealaneError,
    SealaneWarning,
)
from sealane._functions import (
    abs,
    aes128,
    all,
    any,
    clip,
    dot,
    lookup,
    map,
    max,
    maximum,
    min,
    minimum,
    popcount,
    saturate,
    scan,
    sha256,
    stack,
    sum,
    where,
    wrap,
)
from sealane._groups import Groups, group_by
from sealane._order import (
    Unique,
    argsort,
    head,
    median,
    mode,
    quantile,
    rank,
    sort,
    sort_by,
    top_k,
    unique,
)
from sealane._program import Program, program
from sealane._signature import between, column, wrapping
from sealane._statistics import corr, count, cov, fdot, fmean, fsum, mean, std, var
from sealane._value import (
    FixedPoint,
    FloatingPoint,
    Value,
    bf16,
    boolean,
    f16,
    f32,
    f64,
    fixed,
    i8,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
    u64,
    ufixed,
)

if TYPE_CHECKING:
    from typing import Annotated as Private
    from typing import Annotated as Revealed
    from typing import Any

    def __getattr__(name: str) -> Any: ...

else:
    from sealane._signature import Private, Revealed
    from sealane._unsupported import function as _absent
    from sealane._value import element_type

    def __getattr__(name):
        """Element types beyond the usual ones, such as `sealane.u13`. Other names raise
        `AttributeError` with the nearest existing ones.
        """
        if name.startswith("_"):
            raise AttributeError(f"module 'sealane' has no attribute {name!r}")
        try:
            return element_type(name)
        except KeyError:
            raise _absent(name, __all__) from None


__all__ = [
    "ConfigError",
    "DataError",
    "FixedPoint",
    "FloatingPoint",
    "Groups",
    "InternalError",
    "MisuseError",
    "NetworkError",
    "PeerError",
    "Private",
    "Program",
    "ProgramError",
    "Revealed",
    "SealaneError",
    "SealaneWarning",
    "Unique",
    "Value",
    "__version__",
    "abs",
    "aead",
    "aes128",
    "all",
    "any",
    "argsort",
    "between",
    "bf16",
    "boolean",
    "clip",
    "column",
    "corr",
    "count",
    "cov",
    "dot",
    "f16",
    "f32",
    "f64",
    "fdot",
    "fixed",
    "fmean",
    "fsum",
    "group_by",
    "head",
    "i16",
    "i32",
    "i64",
    "i8",
    "lookup",
    "map",
    "math",
    "max",
    "maximum",
    "mean",
    "median",
    "min",
    "minimum",
    "mode",
    "popcount",
    "program",
    "quantile",
    "rank",
    "saturate",
    "scan",
    "sha256",
    "sort",
    "sort_by",
    "stack",
    "std",
    "sum",
    "top_k",
    "u16",
    "u32",
    "u64",
    "u8",
    "ufixed",
    "unique",
    "var",
    "where",
    "wrap",
    "wrapping",
]
