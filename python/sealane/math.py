"""Functions of floating point, under the names of C's `<math.h>`.

Each works element by element on values of `sl.f16`, `sl.bf16`, `sl.f32` or `sl.f64`, and on
numbers and arrays beside them, which broadcast. NumPy's functions of the same meaning work as well:
`np.sqrt(x)` is `sl.math.sqrt(x)`. Results are the same bits under every protocol.
`modf` and `frexp` return two values. The page on functions of floating point states the gates and
the error of each.

`exp`, `exp2`, `expm1`, `log`, `log2`, `log10`, `log1p`, `sin`, `cos`, `tan`, `asin`, `acos`,
`atan`, `sinh`, `cosh`, `tanh`, `erf`, `cbrt` and `rsqrt` have a correctly rounded form in `sl.f32`
and narrower types: `sl.math.sin(x, exact=True)`. These, `sqrt`, `sigmoid` and `pow` take fixed
point as well: `sl.math.exp(x, dtype=sl.fixed(16, 16), saturate=True)`.

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
from math import inf
from types import FunctionType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast, overload

from sealane import _core, _operands, _operations, _types
from sealane._functions import abs, minimum, where
from sealane._methods import later
from sealane._parts import numbers
from sealane._refusal import refuse
from sealane._unsupported import missing

if TYPE_CHECKING:
    from collections.abc import Callable

    from sealane._operands import Public
    from sealane._types import FixedPoint, FloatingPoint, boolean
    from sealane._value import Operand, Value

F = TypeVar("F", bound="FloatingPoint")
P = TypeVar("P", bound="FixedPoint")
Q = TypeVar("Q", bound="FixedPoint")


class _OfOne(Protocol):
    def __call__(self, x: F, /) -> F: ...


class _Elementary(Protocol):
    @overload
    def __call__(self, x: F, /, *, exact: bool = False) -> F: ...
    @overload
    def __call__(self, x: P, /, *, saturate: bool = False) -> P: ...
    @overload
    def __call__(self, x: FixedPoint, /, *, dtype: type[Q], saturate: bool = False) -> Q: ...


class _OfTwo(Protocol):
    @overload
    def __call__(self, x: F, y: F | Public, /) -> F: ...
    @overload
    def __call__(self, x: Public, y: F, /) -> F: ...
    @overload
    def __call__(self, x: Operand, y: Operand, /) -> Any: ...


class _Power(Protocol):
    @overload
    def __call__(self, x: F, y: F | Public, /) -> F: ...
    @overload
    def __call__(self, x: Public, y: F, /) -> F: ...
    @overload
    def __call__(self, x: P, y: Operand, /, *, saturate: bool = False) -> P: ...
    @overload
    def __call__(
        self, x: Operand, y: Operand, /, *, dtype: type[Q], saturate: bool = False
    ) -> Q: ...
    @overload
    def __call__(self, x: Operand, y: Operand, /, *, saturate: bool = False) -> Any: ...


class _Scaled(Protocol):
    def __call__(self, x: F, n: Operand, /) -> F: ...


class _Test(Protocol):
    def __call__(self, x: FloatingPoint, /) -> boolean: ...


def _function(name: str, results: int = 1) -> Any:
    """Makes a function of crate `numeric`, of one or several results."""

    def function(*operands: Any, exact: bool = False) -> Any:
        if exact:
            raise _no_exact(name)
        if results == 1:
            return _operations.call(name, *operands)
        return tuple(_operations.call(f"{name}_{index}", *operands) for index in range(results))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`{name}` of C, element by element."
    return function


_ROUNDED = ["sqrt"]
"""Functions that are always correctly rounded."""


_FORMS = [name for name, _, has_form in _core.functions_of_floats() if has_form]
"""Functions with a correctly rounded form."""


def _no_exact(name: str) -> Exception:
    return refuse(
        "type-mismatch",
        f"`sl.math.{name}` has no correctly rounded form",
        reason=f"There is one of {', '.join(sorted(_FORMS))}.",
        hint="leave `exact=True` out; the page on functions of floating point states the error",
    )


def _elementary(name: str) -> _Elementary:
    """Makes an elementary function, whose result may be asked for correctly rounded."""

    def function(
        x: Any, *, exact: bool = False, dtype: type[Value] | None = None, saturate: bool = False
    ) -> Any:
        if isinstance(x, _types.FixedPoint) or dtype is not None or saturate:
            return _of_fixed(name, x, exact, dtype, saturate)
        if not exact or name in _ROUNDED:
            return _operations.call(name, x)
        if name not in _FORMS:
            raise _no_exact(name)
        return _operations.call(f"{name}_exact", x)

    function.__name__ = function.__qualname__ = name
    exact = "Always correctly rounded." if name in _ROUNDED else ""
    if name in _FORMS:
        exact = "With `exact`, correctly rounded, for more gates: in `sl.f32` and narrower types."
    function.__doc__ = (
        f"`{name}`, element by element. {exact} Of fixed point, to the type of `x` or `dtype`, off "
        "by less than a unit in its last place: refused if a result may not fit, unless `saturate` "
        "is set; then results stop at the ends of the type, and an `x` without a value counts as "
        "the nearest number that has one."
    ).replace("  ", " ")
    return function


def _of_fixed(name: str, x: Any, exact: bool, dtype: type[Value] | None, saturate: bool) -> Any:
    """Adds a function of fixed point."""
    if exact:
        raise refuse(
            "type-mismatch",
            f"`sl.math.{name}` of fixed point has no correctly rounded form",
            reason="Its results are off by less than a unit in the last place.",
            hint="leave `exact=True` out",
        )
    _operands.need_numbers(f"math.{name}", x)
    return _operations.operate("function", x, word=name, dtype=dtype, saturate=saturate)


def _power() -> _Power:
    """Makes `pow`, of floating point and of fixed point."""

    def pow(
        x: Any,
        y: Any,
        *,
        exact: bool = False,
        dtype: type[Value] | None = None,
        saturate: bool = False,
    ) -> Any:
        if exact:
            raise _no_exact("pow")
        fixed = isinstance(x, _types.FixedPoint) or isinstance(y, _types.FixedPoint)
        if not fixed and dtype is None and not saturate:
            return _operations.call("pow", x, y)
        _operands.need_numbers("math.pow", x, y)
        return _operations.operate("power", x, y, dtype=dtype, saturate=saturate)

    pow.__qualname__ = "pow"
    pow.__doc__ = (
        "`x` to the power of `y`, element by element. Of fixed point, where `y` may be an integer "
        "as well, to the type of `x` or `dtype`, off by less than a unit in its last place: `x` is "
        "above 0, or 0 where `y` is never negative; refused if a result may not fit, unless "
        "`saturate` is set; then results stop at the end of the type, and an `x` without a value "
        "counts as the nearest number that has one."
    )
    return pow


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
pow = _power()
remainder: _OfTwo = _function("remainder")
rint: _OfOne = _function("rint")
round: _OfOne = _function("round")
roundeven: _OfOne = _function("roundeven")
rsqrt = _elementary("rsqrt")
scalbn: _Scaled = _function("scalbn")
sigmoid = _elementary("sigmoid")
signbit: _Test = _function("signbit")
sin = _elementary("sin")
sinh = _elementary("sinh")
sqrt = _elementary("sqrt")
tan = _elementary("tan")
tanh = _elementary("tanh")
tgamma: _OfOne = _function("tgamma")
trunc: _OfOne = _function("trunc")
nearbyint = rint


def fsum(x: Value, axis: int | None = None) -> Any:
    """Exact sum, rounded once, as `math.fsum` of Python: `sl.fsum`."""
    return later("_statistics").fsum(x, axis)


def sumprod(x: Value, y: Value) -> Any:
    """Exact sum of products, rounded once, as `math.sumprod` of Python: `sl.fdot`."""
    return later("_statistics").fdot(x, y)


def softmax(x: Value, axis: int = -1) -> Any:
    """Shares that add up to 1 along an axis: `exp(x)`, divided by their sum. The largest element is
    subtracted first, so nothing overflows; each share is off by a few units in the last place.
    """
    x = numbers("math.softmax", x)
    largest = x.max(axis)
    place = _operands.whole_axis(axis) % len(x.shape)
    beside = (*[slice(None)] * place, None)

    def spread(ends: Any) -> Any:
        return ends[beside] if place else ends

    shares = exp(x - spread(largest))
    return shares / spread(shares.sum(place))


def ndtr(x: F) -> F:
    """Distribution function of the normal distribution: the chance that a standard normal variable
    is at most `x`. The argument of `erfc` is rounded first, so it is off by up to 2 units in the
    last place, and `x * x` units more.
    """
    x = cast("F", numbers("math.ndtr", x))
    chance: F = erfc(x * -(0.5**0.5)) * 0.5
    return chance


def ndtri(p: F) -> F:
    """Quantile of the normal distribution, the inverse of `ndtr`: infinite for 0 and 1, and NaN
    outside of them. Off by a few units in the last place; next to 1/2, where it is 0, by a few
    units of 1/2.

    Wichura, "Algorithm AS 241: The Percentage Points of the Normal Distribution", Applied
    Statistics 37 (1988), in which one of three rational functions is taken.
    """
    kind = type(numbers("math.ndtri", p))
    away = p - 0.5
    rest = minimum(p, 1.0 - p)
    root = sqrt(-log(rest))
    central, far = abs(away) <= 0.425, root > 5.0
    t = where(central, 0.180625 - away * away, where(far, root - 5.0, root - 1.6))

    def rational(rows: list[tuple[float, float, float]]) -> Any:
        """Evaluates the polynomial whose coefficients are those of the region."""
        value: Any = None
        for middle, near, end in rows:
            coefficient = where(central, kind(middle), where(far, kind(end), kind(near)))
            value = coefficient if value is None else value * t + coefficient
        return value

    size = rational(_OVER) / rational(_UNDER)
    found = where(central, away * size, where(away < 0.0, -size, size))
    quantile: F = where(rest == 0.0, where(away < 0.0, kind(-inf), kind(inf)), found)
    return quantile


_OVER = [
    (2.5090809287301226727e3, 7.74545014278341407640e-4, 2.01033439929228813265e-7),
    (3.3430575583588128105e4, 2.27238449892691845833e-2, 2.71155556874348757815e-5),
    (6.7265770927008700853e4, 2.41780725177450611770e-1, 1.24266094738807843860e-3),
    (4.5921953931549871457e4, 1.27045825245236838258e0, 2.65321895265761230930e-2),
    (1.3731693765509461125e4, 3.64784832476320460504e0, 2.96560571828504891230e-1),
    (1.9715909503065514427e3, 5.76949722146069140550e0, 1.78482653991729133580e0),
    (1.3314166789178437745e2, 4.63033784615654529590e0, 5.46378491116411436990e0),
    (3.3871328727963666080e0, 1.42343711074968357734e0, 6.65790464350110377720e0),
]
_UNDER = [
    (5.2264952788528545610e3, 1.05075007164441684324e-9, 2.04426310338993978564e-15),
    (2.8729085735721942674e4, 5.47593808499534494600e-4, 1.42151175831644588870e-7),
    (3.9307895800092710610e4, 1.51986665636164571966e-2, 1.84631831751005468180e-5),
    (2.1213794301586595867e4, 1.48103976427480074590e-1, 7.86869131145613259100e-4),
    (5.3941960214247511077e3, 6.89767334985100004550e-1, 1.48753612908506148525e-2),
    (6.8718700749205790830e2, 1.67638483018380384940e0, 1.36929880922735805310e-1),
    (4.2313330701600911252e1, 2.05319162663775882187e0, 5.99832206555887937690e-1),
    (1.0, 1.0, 1.0),
]
"""Coefficients of the numerator and the denominator, the highest first: in the middle, towards the
ends, at the ends.
"""

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

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: item
    for name, item in globals().items()
    if isinstance(item, FunctionType) and item.__module__ == __name__ and name[0] != "_"
}
"""The functions of this module, by name."""


def of_numpy(name: str) -> Callable[..., Any] | None:
    """The function for one of NumPy; `None` if there is none."""
    return _FUNCTIONS.get(name) or _NUMPY.get(name)


if not TYPE_CHECKING:  # a type checker has to find a misspelt function itself
    __all__ = sorted(_FUNCTIONS)

    def __getattr__(name):
        """Raises `AttributeError` with the nearest names there are."""
        if name.startswith("__"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        close = difflib.get_close_matches(name, _FUNCTIONS, n=2)
        near = " or ".join(f"`sl.math.{other}`" for other in close)
        raise missing(
            f"`sealane.math` has no `{name}`",
            hint=f"write {near}" if close else "`dir(sl.math)` lists what there is",
        )


def __dir__() -> list[str]:
    return sorted(_FUNCTIONS)
