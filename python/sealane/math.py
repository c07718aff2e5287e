"""Functions of floating point, under the names of C's `<math.h>`.

Each works element by element on values of `sl.f16`, `sl.bf16`, `sl.f32` or `sl.f64`, and on
numbers and arrays beside them, which broadcast. NumPy's functions of the same meaning work as well:
`np.sqrt(x)` is `sl.math.sqrt(x)`. Results are the same bits under every protocol.

>>> import sealane as sl
>>> @sl.program
... def longer(
...     a: sl.Private[sl.f32, "alice"], b: sl.Private[sl.f32, "bob"]
... ) -> sl.Revealed[sl.boolean, "bob"]:
...     return sl.math.isfinite(a) & (a > b)
>>> longer(2.5, float("-inf"))
np.True_
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from sealane import _core, _value
from sealane._unsupported import missing

if TYPE_CHECKING:
    from collections.abc import Callable

_RESULTS: dict[str, int] = dict(_core.functions_of_floats())
"""Number of results of each function by its name."""

_ALIASES = {"nearbyint": "rint"}

_NUMPY = {
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "float_power": "pow",
    "power": "pow",
}
"""Names of C for functions of NumPy that have another name there."""

__all__ = sorted([*_RESULTS, "fsum", "sumprod"])


def fsum(x: Any, axis: int | None = None) -> Any:
    """Exact sum, rounded once, as `math.fsum` of Python: the same as `sl.sum(x)`."""
    return _value.reduce("sum", x, axis)


def sumprod(x: Any, y: Any) -> Any:
    """Exact sum of products, rounded once: the same as `sl.dot(x, y)`."""
    return _value.dot(x, y)


def _made(name: str) -> Callable[..., Any]:
    results = _RESULTS[name]

    def function(*operands: Any) -> Any:
        if results == 1:
            return _value.call(name, *operands)
        return tuple(_value.call(f"{name}_{index}", *operands) for index in range(results))

    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__
    function.__doc__ = f"`{name}` of C, element by element."
    return function


def of_numpy(name: str) -> Callable[..., Any] | None:
    """The function for one of NumPy; `None` if there is none."""
    name = _NUMPY.get(name, name)
    return _made(name) if name in _RESULTS else None


def __getattr__(name: str) -> Any:
    """The functions. Other names raise `AttributeError` with the nearest existing ones."""
    known = _ALIASES.get(name, name)
    if known in _RESULTS:
        return _made(known)
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    close = difflib.get_close_matches(name, __all__, n=2)
    near = " or ".join(f"`sl.math.{other}`" for other in close)
    raise missing(
        f"`sealane.math` has no `{name}`",
        hint=f"write {near}" if close else "`dir(sl.math)` lists what there is",
    )


def __dir__() -> list[str]:
    return __all__
