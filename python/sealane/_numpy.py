"""NumPy's own functions on values while a program is traced: `np.concatenate([x, y])`, `np.clip(x,
0, 9)`. Each is the function of the same meaning in `sealane`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from sealane import _extremes, _functions, _scans, _search, _shapes, _statistics, math
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
    **{name: getattr(_extremes, name) for name in ("argmax", "argmin")},
    **{
        name: getattr(_search, name)
        for name in ("diff", "histogram", "isin", "round", "searchsorted")
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


def ufunc_of_cells(
    cells: Any, name: str, method: str, inputs: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Calls a function of NumPy that works on each element, on cells of a kind: an operator as
    Python would, others as the function of `sealane`.

    Raises `ProgramError` if the kind does not have it.
    """
    if method == "accumulate" and (found := accumulate(name)) is not None:
        return found(*inputs, **options)
    if method == "__call__" and not options:
        if name in _OPERATORS:
            direct, reflected = _OPERATORS[name]
            if inputs[0] is cells:
                return getattr(cells, direct)(*inputs[1:])
            return getattr(cells, reflected)(*inputs[:1])
        if name in ("maximum", "minimum"):
            return getattr(_functions, name)(*inputs)
        if (function := math.of_numpy(name)) is not None:
            return function(*inputs)
    raise numpy_function(name)


_ARITHMETIC = {"add": "add", "divide": "truediv", "floor_divide": "floordiv", "matmul": "matmul"}
_ARITHMETIC |= {"multiply": "mul", "remainder": "mod", "subtract": "sub"}
_ARITHMETIC |= {f"bitwise_{name}": name for name in ("and", "or", "xor")}
_ARITHMETIC |= {f"{side}_shift": f"{side[0]}shift" for side in ("left", "right")}
_OPERATORS = {numpy: (f"__{name}__", f"__r{name}__") for numpy, name in _ARITHMETIC.items()} | {
    "absolute": ("__abs__", ""),
    "equal": ("__eq__", "__eq__"),
    "greater": ("__gt__", "__lt__"),
    "greater_equal": ("__ge__", "__le__"),
    "invert": ("__invert__", ""),
    "less": ("__lt__", "__gt__"),
    "less_equal": ("__le__", "__ge__"),
    "negative": ("__neg__", ""),
    "not_equal": ("__ne__", "__ne__"),
}
"""Methods of Python for operators, of the left operand and of the right one, by NumPy's names."""


def accumulate(name: str) -> Callable[..., Any] | None:
    """The function for `accumulate` of a function of NumPy, which runs along axis 0."""
    function = ACCUMULATED.get(name)
    return function and partial(function, axis=0)
