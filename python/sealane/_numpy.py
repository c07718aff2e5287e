"""NumPy's own functions on values while a program is traced: `np.concatenate([x, y])`, `np.clip(x,
0, 9)`. Each is the function of the same meaning in `sealane`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from sealane import _functions, _scans, _search, _shapes, _statistics
from sealane._refusal import is_of_users
from sealane._unsupported import numpy_function

if TYPE_CHECKING:
    from collections.abc import Callable


def _clip(x: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    """`sl.clip` with the names of NumPy's arguments."""
    return _functions.clip(x, min if a_min is None else a_min, max if a_max is None else a_max)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{
        name: getattr(_functions, name)
        for name in ("all", "any", "dot", "max", "min", "stack", "sum", "where")
    },
    **{name: getattr(_statistics, name) for name in ("mean", "std", "var")},
    **{
        name: getattr(_shapes, name)
        for name in (
            *("broadcast_to", "concatenate", "expand_dims", "flip", "moveaxis", "ravel", "repeat"),
            *("reshape", "roll", "squeeze", "swapaxes", "tile", "transpose"),
        )
    },
    **{name: getattr(_scans, name) for name in ("cumprod", "cumsum")},
    **{
        name: getattr(_search, name)
        for name in ("argmax", "argmin", "diff", "histogram", "isin", "round", "searchsorted")
    },
    "amax": _functions.max,
    "amin": _functions.min,
    "around": _search.round,
    "clip": _clip,
    "concat": _shapes.concatenate,
    "ndim": lambda x: x.ndim,
    "permute_dims": _shapes.transpose,
    "shape": lambda x: x.shape,
}
"""Functions by their names in NumPy."""

ACCUMULATED: dict[str, Callable[..., Any]] = {
    "add": _scans.cumsum,
    "maximum": _scans.cummax,
    "minimum": _scans.cummin,
    "multiply": _scans.cumprod,
}
"""Running operations by the name of the NumPy function whose `accumulate` they are."""


def call(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Calls the function of that name.

    Raises `ProgramError` if there is none, or if it does not take the arguments.
    """
    function = FUNCTIONS.get(name)
    if function is None:
        raise numpy_function(name)
    try:
        return function(*args, **kwargs)
    except TypeError as error:
        if is_of_users(error):
            raise
        raise numpy_function(name, f"`sl.{name}` does not take these arguments: {error}.") from None


def accumulate(name: str) -> Callable[..., Any] | None:
    """The function for `accumulate` of a function of NumPy, which runs along axis 0."""
    function = ACCUMULATED.get(name)
    return function and partial(function, axis=0)
