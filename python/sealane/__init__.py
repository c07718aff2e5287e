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

Its cost is known exactly before anything runs, and `richer.run(input=3, approve=richer.hash)` is
one party of a run over the network, the one that `./sealane.toml` says.

>>> richer.plan().rounds
5
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sealane import _start as _start

# isort: split
from sealane import aead, math, sklearn
from sealane._ciphers import aes128, gf_mul, sha256
from sealane._constants import arange, full, ones, zeros
from sealane._core import __version__
from sealane._declarations import between, column, magnitude, wrapping
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
from sealane._extremes import argmax, argmin
from sealane._functions import (
    abs,
    all,
    any,
    bit_count,
    clip,
    dot,
    lookup,
    max,
    maximum,
    min,
    minimum,
    popcount,
    saturate,
    share,
    stack,
    sum,
    where,
    wrap,
)
from sealane._groups import group_by
from sealane._loops import map, scan
from sealane._moments import age_in_years, date, timestamp
from sealane._nullable import Nullable, nullable
from sealane._order import argsort, head, rank, sort, sort_by, top_k, unique
from sealane._program import Program, program
from sealane._protect import min_group, noise, sized
from sealane._quantiles import median, mode, quantile
from sealane._scans import associative_scan, cummax, cummin, cumprod, cumsum
from sealane._search import diff, histogram, isin, round, searchsorted
from sealane._shapes import (
    broadcast_to,
    concatenate,
    expand_dims,
    flip,
    moveaxis,
    ravel,
    repeat,
    reshape,
    roll,
    squeeze,
    swapaxes,
    tile,
    transpose,
)
from sealane._statistics import corr, count, cov, fdot, fmean, fsum, mean, std, var
from sealane._texts import Category, Text, category, text
from sealane._types import (
    FixedPoint,
    FloatingPoint,
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
from sealane._value import Value

if TYPE_CHECKING:
    from typing import Annotated as Private
    from typing import Annotated as Revealed
    from typing import Any

    def __getattr__(name: str) -> Any: ...

else:
    from sealane._declarations import Private, Revealed
    from sealane._elements import element_type
    from sealane._unsupported import function as _absent

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
    "Category",
    "ConfigError",
    "DataError",
    "FixedPoint",
    "FloatingPoint",
    "InternalError",
    "MisuseError",
    "NetworkError",
    "Nullable",
    "PeerError",
    "Private",
    "Program",
    "ProgramError",
    "Revealed",
    "SealaneError",
    "SealaneWarning",
    "Text",
    "Value",
    "__version__",
    "abs",
    "aead",
    "aes128",
    "age_in_years",
    "all",
    "any",
    "arange",
    "argmax",
    "argmin",
    "argsort",
    "associative_scan",
    "between",
    "bf16",
    "bit_count",
    "boolean",
    "broadcast_to",
    "category",
    "clip",
    "column",
    "concatenate",
    "corr",
    "count",
    "cov",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "date",
    "diff",
    "dot",
    "expand_dims",
    "f16",
    "f32",
    "f64",
    "fdot",
    "fixed",
    "flip",
    "fmean",
    "fsum",
    "full",
    "gf_mul",
    "group_by",
    "head",
    "histogram",
    "i8",
    "i16",
    "i32",
    "i64",
    "isin",
    "lookup",
    "magnitude",
    "map",
    "math",
    "max",
    "maximum",
    "mean",
    "median",
    "min",
    "min_group",
    "minimum",
    "mode",
    "moveaxis",
    "noise",
    "nullable",
    "ones",
    "popcount",
    "program",
    "quantile",
    "rank",
    "ravel",
    "repeat",
    "reshape",
    "roll",
    "round",
    "saturate",
    "scan",
    "searchsorted",
    "sha256",
    "share",
    "sized",
    "sklearn",
    "sort",
    "sort_by",
    "squeeze",
    "stack",
    "std",
    "sum",
    "swapaxes",
    "text",
    "tile",
    "timestamp",
    "top_k",
    "transpose",
    "u8",
    "u16",
    "u32",
    "u64",
    "ufixed",
    "unique",
    "var",
    "where",
    "wrap",
    "wrapping",
    "zeros",
]
