"""Functions of floating point, under the names of C's `<math.h>`.

Each works element by element on values of `sl.f16`, `sl.bf16`, `sl.f32` or `sl.f64`, and on
numbers and arrays beside them, which broadcast. NumPy's functions of the same meaning work as well:
`np.sqrt(x)` is `sl.math.sqrt(x)`. Results are the same bits under every protocol.
`modf` and `frexp` return two values. [The page of functions](functions.md) states the gates and the
error of each.

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
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

from sealane import _core, _value
from sealane._functions import _only
from sealane._refusal import refuse
from sealane._unsupported import missing

if TYPE_CHECKING:
    from collections.abc import Callable

    from sealane._value import FloatingPoint, Operand, Public, Value, boolean

F = TypeVar("F", bound="FloatingPoint")


class _OfOne(Protocol):
    def __call__(self, x: F, /) -> F: ...


class _Elementary(Protocol):
    def __call__(self, x: F, /, *, exact: bool = False) -> F: ...


class _OfTwo(Protocol):
    @overload
    def __call__(self, x: F, y: F | Public, /) -> F: ...
    @overload
    def __call__(self, x: Public, y: F, /) -> F: ...
    @overload
    def __call__(self, x: Operand, y: Operand, /) -> Any: ...


class _Scaled(Protocol):
    def __call__(self, x: F, n: Operand, /) -> F: ...


class _Test(Protocol):
    def __call__(self, x: FloatingPoint, /) -> boolean: ...


def _function(name: str, results: int = 1) -> Any:
    """Makes a function of room `numeric`, of one or several results."""

    def function(*operands: Any) -> Any:
        if results == 1:
            return _value.call(name, *operands)
        return tuple(_value.call(f"{name}_{index}", *operands) for index in range(results))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`{name}` of C, element by element."
    return function


def _elementary(name: str) -> _Elementary:
    """Makes an elementary function, whose result may be asked for correctly rounded."""

    def function(x: Any, *, exact: bool = False) -> Any:
        if not exact:
            return _value.call(name, x)
        forms = [known for known, _, has_form in _core.functions_of_floats() if has_form]
        if name not in forms:
            raise refuse(
                "type-mismatch",
                f"`sl.math.{name}` has no correctly rounded form",
                reason=f"There is one of {', '.join(sorted(forms))}.",
                hint="leave `exact=True` out: the result is within 1 unit in the last place",
            )
        return _value.call(f"{name}_exact", x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"`{name}` of C, element by element. With `exact`, correctly rounded, for more gates: in "
        "`sl.f32` and narrower types."
    )
    return function


acos = _elementary("acos")
acosh: _OfOne = _function("acosh")
asin = _elementary("asin")
asinh: _OfOne = _function("asinh")
atan = _elementary("atan")
atan2: _OfTwo = _function("atan2")
atanh: _OfOne = _function("atanh")
cbrt = _elementary("cbrt")
ceil: _OfOne = _function("ceil")
copysign: _OfTwo = _function("copysign")
cos = _elementary("cos")
cosh = _elementary("cosh")
erf = _elementary("erf")
erfc: _OfOne = _function("erfc")
exp = _elementary("exp")
exp2 = _elementary("exp2")
expm1 = _elementary("expm1")
fabs: _OfOne = _function("fabs")
fdim: _OfTwo = _function("fdim")
floor: _OfOne = _function("floor")
fma = _function("fma")
fmax: _OfTwo = _function("fmax")
fmin: _OfTwo = _function("fmin")
fmod: _OfTwo = _function("fmod")
frexp = _function("frexp", 2)
hypot: _OfTwo = _function("hypot")
ilogb = _function("ilogb")
isfinite: _Test = _function("isfinite")
isinf: _Test = _function("isinf")
isnan: _Test = _function("isnan")
isnormal: _Test = _function("isnormal")
ldexp: _Scaled = _function("ldexp")
lgamma: _OfOne = _function("lgamma")
log = _elementary("log")
log10 = _elementary("log10")
log1p = _elementary("log1p")
log2 = _elementary("log2")
logb: _OfOne = _function("logb")
modf = _function("modf", 2)
nextafter: _OfTwo = _function("nextafter")
pow: _OfTwo = _function("pow")
remainder: _OfTwo = _function("remainder")
rint: _OfOne = _function("rint")
round: _OfOne = _function("round")
roundeven: _OfOne = _function("roundeven")
rsqrt = _elementary("rsqrt")
scalbn: _Scaled = _function("scalbn")
sigmoid: _OfOne = _function("sigmoid")
signbit: _Test = _function("signbit")
sin = _elementary("sin")
sinh = _elementary("sinh")
sqrt: _OfOne = _function("sqrt")
tan = _elementary("tan")
tanh = _elementary("tanh")
tgamma: _OfOne = _function("tgamma")
trunc: _OfOne = _function("trunc")
nearbyint = rint


def fsum(x: Value, axis: int | None = None) -> Any:
    """Exact sum, rounded once, as `math.fsum` of Python: `sl.fsum`."""
    from sealane import _statistics

    return _statistics.fsum(x, axis)


def sumprod(x: Value, y: Value) -> Any:
    """Exact sum of products, rounded once, as `math.sumprod` of Python: `sl.fdot`."""
    from sealane import _statistics

    return _statistics.fdot(x, y)


def softmax(x: Value, axis: int = -1) -> Any:
    """Shares that add up to 1 along an axis: `exp(x)`, divided by their sum. The largest element is
    subtracted first, so nothing overflows; each share is off by a few units in the last place.
    """
    x = _only("math.softmax", x)
    place = _value.whole_axis(axis) % max(len(x.shape), 1)
    beside = (*[slice(None)] * place, None)

    def spread(ends: Any) -> Any:
        return ends[beside] if place else ends

    shares = exp(x - spread(x.max(place)))
    return shares / spread(shares.sum(place))


_NUMPY: dict[str, Callable[..., Any]] = {
    "arccos": acos,
    "arccosh": acosh,
    "arcsin": asin,
    "arcsinh": asinh,
    "arctan": atan,
    "arctan2": atan2,
    "arctanh": atanh,
    "float_power": pow,
    "power": pow,
}
"""Functions for those of NumPy that have another name there."""

__all__ = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "copysign",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "fdim",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "frexp",
    "fsum",
    "hypot",
    "ilogb",
    "isfinite",
    "isinf",
    "isnan",
    "isnormal",
    "ldexp",
    "lgamma",
    "log",
    "log1p",
    "log2",
    "log10",
    "logb",
    "modf",
    "nearbyint",
    "nextafter",
    "pow",
    "remainder",
    "rint",
    "round",
    "roundeven",
    "rsqrt",
    "scalbn",
    "sigmoid",
    "signbit",
    "sin",
    "sinh",
    "softmax",
    "sqrt",
    "sumprod",
    "tan",
    "tanh",
    "tgamma",
    "trunc",
]


def of_numpy(name: str) -> Callable[..., Any] | None:
    """The function for one of NumPy; `None` if there is none."""
    found: Callable[..., Any] | None = globals()[name] if name in __all__ else _NUMPY.get(name)
    return found


if not TYPE_CHECKING:  # a type checker has to find a misspelt function itself

    def __getattr__(name):
        """Raises `AttributeError` with the nearest names there are."""
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
