"""Operations that Python allows on any object and that a value without content cannot perform.

Each refusal names the construct, shows its place and says what to write instead. `Unsupported` is
the base of `Value`, so that the operations that do work can be read on their own.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from sealane import _core, _source
from sealane._errors import ProgramError, SealaneError
from sealane._refusal import refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

_NO_CONTENT = "A value has no content while the program is traced: it runs once, without data."


class MissingAttributeError(ProgramError, AttributeError):
    """Error for an attribute that a value does not have."""


class Unsupported:
    """Base class that refuses conversion to a condition, a number, an index, a key, an array."""

    __slots__ = ()
    _below: ClassVar[str] = ""
    """The expression for numbers in place of what is none."""
    _instead: ClassVar[dict[str, str]] = {}
    """Hint for some functions of numbers, by their names."""
    _of_texts: ClassVar[str] = (
        "only texts have some methods of strings: `sl.text(12)` declares them"
    )
    """Hint for methods of strings."""

    @classmethod
    def _numbers(cls, name: str = "") -> str:
        """The hint in place of a function or an operator of numbers."""
        return cls._instead.get(name) or f"give numbers in its place: `{cls._below}`"

    def __bool__(self) -> NoReturn:
        raise truth(*_source.decided_by())

    def __index__(self) -> NoReturn:
        raise _no_number(
            "a Python index or count",
            "to pick an entry of a table, write `sl.lookup(table, index)`; to count, loop over a "
            "public number, or walk a dimension with `sl.map` or `sl.scan`",
        )

    def __int__(self) -> NoReturn:
        raise _no_number("a Python `int`", "change the type with `x.astype(sl.i64)`")

    def __float__(self) -> NoReturn:
        raise _no_number(
            "a Python `float`, which functions such as those of `math` need",
            "compute in fixed point, `x.astype(sl.fixed(16, 16))`, with functions of `sealane`",
        )

    def __complex__(self) -> NoReturn:
        raise _no_number("a Python `complex`", "compute with its two parts")

    def __round__(self, digits: int | None = None) -> NoReturn:
        raise _no_number("a rounded number", "write `sl.round(x)`, or round down with `//`")

    def __hash__(self) -> NoReturn:
        raise refuse(
            "secret-key",
            "a value cannot be a key of a `dict` or a member of a `set`",
            reason=_NO_CONTENT,
            hint="keep values in a list or a tuple",
        )

    def __contains__(self, item: Any) -> NoReturn:
        raise truth("in", _source.here())

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        raise refuse(
            "assignment",
            "an element of a value cannot be assigned",
            reason="Values do not change; each operation makes a new one.",
            hint="build the new value: `sl.where(condition, new, old)` or `sl.stack([...])`",
        )

    def __delitem__(self, index: Any) -> NoReturn:
        raise refuse(
            "assignment",
            "an element of a value cannot be deleted",
            reason="Values do not change; each operation makes a new one.",
            hint="keep the element and choose another value for it: `sl.where(condition, x, 0)`",
        )

    def __pow__(self, exponent: Any) -> NoReturn:
        raise refuse("operator", "`**` does not work on values", hint="multiply: `x * x`")

    def __rpow__(self, base: Any) -> NoReturn:
        raise refuse("operator", "`**` does not work on values", hint="for powers of 2: `1 << x`")

    if not TYPE_CHECKING:  # a type checker has to find a misspelt method itself

        def __getattr__(self, name):
            if name.startswith("_"):
                raise AttributeError(name)
            kind, hint = type(self).__name__, _INSTEAD.get(name) or _MISSING.get(name)
            strings = self._of_texts if name in _OF_STRINGS else ""
            if self._below:
                kind, known = repr(type(self)).removeprefix("sealane."), name in _OF_CELLS
                hint = self._instead.get(name) or (known and hint) or strings or self._numbers()
            raise missing(
                f"a value of type `{kind}` has no `{name}`",
                reason=_NO_CONTENT if name in ("item", "tolist", "tobytes") else "",
                hint=hint
                or strings
                or "`dir(sl.u32)` lists what values have, `dir(sl)` the functions",
            )

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise refuse(
            "numpy",
            "a value cannot become a NumPy array",
            reason=_NO_CONTENT,
            hint="join values with `sl.stack([...])`, pick an entry of an array with "
            "`sl.lookup(array, index)`, compute with functions of `sealane`",
        )


def missing(message: str, *, reason: str = "", hint: str) -> MissingAttributeError:
    """Makes the refusal of a missing name, which `hasattr` sees as well."""
    refusal = refuse("attribute", message, reason=reason, hint=hint)
    error = MissingAttributeError(*refusal.args)
    error.__dict__.update(refusal.__dict__)
    return error


def function(name: str, known: Sequence[str]) -> MissingAttributeError:
    """Makes the refusal of a function that `sealane` does not have, whose names are `known`."""
    close = difflib.get_close_matches(name, known, n=2)
    near = " or ".join(f"`sl.{other}`" for other in close)
    hint = _MISSING.get(name) or (f"write {near}" if close else "`dir(sl)` lists what there is")
    return missing(f"`sealane` has no `{name}`", hint=hint)


def truth(construct: str, at: _source.Span | None) -> SealaneError:
    """Makes the refusal of a truth value, for the construct that asks for it."""
    what, hint = _TRUTH.get(
        construct, ("a secret value cannot decide what Python does next", _WHERE)
    )
    if construct and construct not in _TRUTH:
        what = f"`{construct}` asks whether a secret value is true"
        hint = _CALLS.get(construct, _WHERE)
    reason = f"{_NO_CONTENT} Which branch is taken would also show the value to everyone."
    return refuse("secret-condition", what, reason=reason, hint=hint, at=at)


def numpy_function(name: str, reason: str = _NO_CONTENT) -> SealaneError:
    """Makes the refusal of a function of NumPy."""
    hint = _MISSING.get(name) or "use operators and functions of `sealane`, which `dir(sl)` lists"
    if reason != _NO_CONTENT:
        hint = "leave out what `sealane` does not have, such as `out=` and `keepdims=`"
    return refuse("numpy", f"`np.{name}` does not work on values", reason=reason, hint=hint)


def _no_number(what: str, hint: str) -> SealaneError:
    return refuse("no-number", f"a value cannot become {what}", reason=_NO_CONTENT, hint=hint)


_HINTS = {
    "divide: `1 / x.astype(sl.f32)`": "reciprocal",
    "write `sl.quantile(x, 0.9)`": "percentile quantile",
    "write `sl.unique(x, 10)`, with room for a public number of values": "unique",
    "write `sl.mean(x)`": "average nanmean",
    "write `sl.isin(x, values)`": "isin in1d",
    "write `sl.searchsorted(edges, x)`": "digitize",
    "write `sl.group_by(key, most=10).agg(total=sl.sum(x))`": "groupby bincount value_counts",
    "no element is missing: fill values in, or drop their rows, before the data are given": (
        "fillna dropna isna isnull notna"
    ),
    "look keys up among keys that each occur once, `sl.map(lambda k: sl.sum(sl.where(keys == k,"
    " x, 0), dtype=sl.i64), mine)`, or bring tables into one order before, with `sealane psi`": (
        "join merge"
    ),
    "write `sl.corr(x, y)`": "corrcoef corrwith",
    "write `sl.var(x)`": "nanvar",
    "write `sl.std(x)`": "nanstd",
    "take the last of the running ones: `sl.cumprod(x)[-1]`; of rows carry it with `sl.scan`": (
        "prod product"
    ),
    "write `sl.cumsum(x)`": "cumulative_sum",
    "write `sl.cumprod(x)`": "cumulative_prod",
    "write `sl.zeros(shape, dtype)`": "empty",
    "compute it from the value, `x * 0`, or write `sl.zeros(shape, dtype)`": (
        "zeros_like ones_like full_like empty_like"
    ),
    "compute it with NumPy: `np.linspace(0, 1, 5)`": "linspace",
    "write `sl.flip(x, axis)` or `sl.transpose(x)`": "rot90 fliplr flipud",
    "multiply: `x * x`": "power float_power square pow",
    "join them along an axis: `sl.concatenate([a, b], axis=0)`": (
        "hstack vstack append column_stack concat"
    ),
    "join values of one shape along a new axis: `sl.stack([a, b])`": "array asarray",
    "join it with a constant: `sl.concatenate([x, sl.zeros(3, sl.u8)])`": "pad",
    "write `sl.lookup(x, index)`, or `x[1:3]`": "take choose",
    "round down: `x.astype(sl.i64)`": "floor trunc fix",
    "round up: `-((-x).astype(sl.i64))`": "ceil",
    "write `sl.round(x)`": "around rint",
    "write `sl.dot(x, y)`, or multiply and add along an axis: `(x * y).sum(axis=0)`": (
        "matmul inner vdot tensordot einsum"
    ),
    "write `(x != 0).sum(dtype=sl.u32)`": "count_nonzero",
    "count: `sl.count(x)`": "len shape size",
    "write `x.min()`": "amin nanmin",
    "write `x.max()`": "amax nanmax",
    "write `sl.scan(body, start, x)`": "reduce fold foldl",
    "element types: `sl.i64`": "int32 int64 int8 int16 int",
    "element types: `sl.u64`": "uint8 uint16 uint32 uint64 uint",
    "element types: `sl.f32` and `sl.f64`, or fixed point: `sl.fixed(16, 16)`": (
        "float float16 float32 float64 decimal"
    ),
}
"""Names of missing functions of other libraries, by the hint for them."""

_HINTS |= {f"write `sl.{name}(x)`": name for name in ("sort", "argsort", "median")}
_OF_FLOATS = "exp exp2 expm1 log log2 log10 log1p sqrt cbrt sin cos tan tanh sinh cosh sigmoid "
_OF_FLOATS += "softmax erf erfc"
_HINTS |= {f"write `sl.math.{name}(x.astype(sl.f32))`": name for name in _OF_FLOATS.split()}
_HINTS["write `sl.math.atan(x.astype(sl.f32))`"] = "atan arctan"

_MISSING = {name: hint for hint, names in _HINTS.items() for name in names.split()}

_OF_CELLS = {"append", "array", "argsort", "bincount", "concat", "dropna", "fillna", "groupby"}
_OF_CELLS |= {"in1d", "isin", "isna", "isnull", "item", "join", "len", "merge", "notna", "size"}
_OF_CELLS |= {"sort", "tolist", "unique", "value_counts"}
"""Names of these whose hint works on cells that are no numbers."""

_STRINGS = "capitalize casefold center contains encode endswith find fullmatch isalnum isalpha "
_STRINGS += "isdigit islower isupper ljust lower lstrip match pad partition removeprefix "
_STRINGS += "removesuffix replace rfind rjust rstrip slice split startswith str strip swapcase "
_STRINGS += "title translate upper zfill"
_OF_STRINGS = frozenset(_STRINGS.split())
"""Methods of strings in Python, and those of columns of them in other libraries."""

_WHERE = "compute both and choose: `sl.where(condition, a, b)`"

_TRUTH = {
    "if": ("`if` cannot branch on a secret value", _WHERE),
    "if-else": ("`a if condition else b` cannot choose by a secret value", _WHERE),
    "while": (
        "`while` cannot loop until a secret value says so",
        "loop a public number of times and keep the state once it is final: "
        "`state = sl.where(done, state, step(state))`",
    ),
    "and": (
        "`and` does not work on secret values",
        "write `&`, with parentheses: `(a > 0) & (b > 0)`",
    ),
    "or": (
        "`or` does not work on secret values",
        "write `|`, with parentheses: `(a > 0) | (b > 0)`",
    ),
    "not": ("`not` does not work on secret values", "write `~condition`"),
    "chain": (
        "a chained comparison does not work on secret values",
        "write each comparison, joined by `&`: `(low < x) & (x < high)`",
    ),
    "in": ("`in` does not work on secret values", "compare with all of them: `(x == item).any()`"),
    "assert": (
        "`assert` cannot test a secret value",
        "reveal the condition as a result, or declare the range: `sl.between(low, high)`",
    ),
    "comprehension": (
        "a comprehension cannot leave elements out by a secret value",
        "keep all of them and choose: `sl.where(condition, x, 0)`",
    ),
}

_CALLS = {
    "bool": "use the value itself; types change with `x.astype(sl.boolean)` or `x != 0`",
    "min": "write `sl.minimum(a, b)`, or `x.min()` for the elements of one value",
    "max": "write `sl.maximum(a, b)`, or `x.max()` for the elements of one value",
    "any": "write `x.any()`, or join conditions with `|`",
    "all": "write `x.all()`, or join conditions with `&`",
    "sorted": "write `sl.sort(x)`; of several values `sl.sort(sl.stack([a, b]))`",
    "sort": "write `sl.sort(x)`; of several values `sl.sort(sl.stack([a, b]))`",
    "index": "compare with all of them: `x == item`",
    "count": "write `(x == item).sum(dtype=sl.u32)`",
}

_INSTEAD = {
    "item": "reveal it as a result of the program",
    "tolist": "reveal it as a result of the program",
    "size": "count the rows: `sl.count(x)`; fixed dimensions are in `x.shape`",
}
_INSTEAD |= {
    name: f"write `sl.{name}(x)`"
    for name, symbol, _, count in _core.element_wise()
    if count == 1 and symbol == f"sl.{name}"
}
