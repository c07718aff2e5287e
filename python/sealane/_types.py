"""The usual element types, and fixed point of any width."""

# The native graph alone knows the type of a result; the annotations state what it will be.
# mypy: disable-error-code="no-any-return, empty-body"

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING

import numpy as np

from sealane._elements import BASES, TYPES, element_type
from sealane._operations import call
from sealane._refusal import refuse_type
from sealane._value import Value

if TYPE_CHECKING:
    from typing import Self

    from sealane._operands import Public


class boolean(Value):
    """Truth values, 0 and 1: `&`, `|`, `^` and `~` are logical, and in arithmetic they are `u1`.
    Results are of the NumPy type `bool`.

    >>> import sealane as sl
    >>> sl.boolean(True)
    <bool, public, 1>
    """

    __slots__ = ()

    def _holds(self, narrower: Self | Public, /) -> Self: ...


class u8(Value):
    """Unsigned integers of 8 bits: 0 to 255. Results are of the NumPy type `uint8`.

    >>> import sealane as sl
    >>> sl.u8(255)
    <u8, public, 255>
    """

    __slots__ = ()

    def _holds(self, narrower: boolean | Self | Public, /) -> Self: ...


class u16(Value):
    """Unsigned integers of 16 bits: 0 to 65,535. Results are of the NumPy type `uint16`.

    >>> import sealane as sl
    >>> sl.u16(65535)
    <u16, public, 65535>
    """

    __slots__ = ()

    def _holds(self, narrower: boolean | u8 | Self | Public, /) -> Self: ...


class u32(Value):
    """Unsigned integers of 32 bits: 0 to 4,294,967,295. Results are of the NumPy type `uint32`.

    >>> import sealane as sl
    >>> sl.u32(4294967295)
    <u32, public, 4294967295>
    """

    __slots__ = ()

    def _holds(self, narrower: boolean | u8 | u16 | Self | Public, /) -> Self: ...


class u64(Value):
    """Unsigned integers of 64 bits: 0 to `2**64 - 1`. Results are of the NumPy type `uint64`.

    >>> import sealane as sl
    >>> sl.u64(2**64 - 1)
    <u64, public, 18446744073709551615>
    """

    __slots__ = ()

    def _holds(self, narrower: boolean | u8 | u16 | u32 | Self | Public, /) -> Self: ...


class i8(Value):
    """Signed integers of 8 bits: -128 to 127. Results are of the NumPy
    type `int8`.

    >>> import sealane as sl
    >>> sl.i8(-128)
    <i8, public, -128>
    """

    __slots__ = ()

    def _holds(self, narrower: boolean | Self | Public, /) -> Self: ...


class i16(Value):
    """Signed integers of 16 bits: -32,768 to 32,767. Results are of the NumPy
    type `int16`.

    >>> import sealane as sl
    >>> sl.i16(-32768)
    <i16, public, -32768>
    """

    __slots__ = ()

    def _holds(self, narrower: boolean | u8 | i8 | Self | Public, /) -> Self: ...


class i32(Value):
    """Signed integers of 32 bits: -2,147,483,648 to 2,147,483,647. Results are of the NumPy
    type `int32`.

    >>> import sealane as sl
    >>> sl.i32(-2147483648)
    <i32, public, -2147483648>
    """

    __slots__ = ()

    def _holds(self, narrower: boolean | u8 | u16 | i8 | i16 | Self | Public, /) -> Self: ...


class i64(Value):
    """Signed integers of 64 bits: `-(2**63)` to `2**63 - 1`. Results are of the NumPy
    type `int64`.

    >>> import sealane as sl
    >>> sl.i64(-(2**63))
    <i64, public, -9223372036854775808>
    """

    __slots__ = ()

    def _holds(
        self, narrower: boolean | u8 | u16 | u32 | i8 | i16 | i32 | Self | Public, /
    ) -> Self: ...


class FixedPoint(Value):
    """Numbers with a fixed point, of any width from 1 to 64 bits: `sl.fixed(16, 16)` makes the
    types. Results are of the NumPy type `float64` where every number of the type is one, and
    otherwise `Fraction`.

    For type checkers, which know no calls in annotations, an element type can be given a name:

    >>> from typing import Annotated
    >>> import sealane as sl
    >>> Money = Annotated[sl.FixedPoint, sl.ufixed(24, 8)]
    >>> @sl.program
    ... def share(
    ...     cost: sl.Private[Money, "bank"], people: sl.Private[sl.u8, "club", sl.between(1, 9)]
    ... ) -> sl.Revealed[Money, "club"]:
    ...     return cost / people
    >>> share(10.5, 4)
    np.float64(2.625)
    """

    __slots__ = ()
    _wraps = False


def fixed(integer: int, fraction: int) -> type[FixedPoint]:
    """The type of fixed-point numbers with `integer` bits before the point, the sign among them,
    and `fraction` bits behind it: together 1 to 64. They are the multiples of `2**-fraction` from
    `-(2**(integer - 1))` to below `2**(integer - 1)`.

    Raises `ProgramError` for numbers of bits that no such type has.

    >>> import sealane as sl
    >>> sl.fixed(16, 16), sl.fixed(16, 16)(-0.5)
    (sealane.fixed(16, 16), <fixed16.16, public, -0.5>)
    """
    return _fixed_point("fixed", integer, fraction)


def ufixed(integer: int, fraction: int) -> type[FixedPoint]:
    """The type of fixed-point numbers from 0 on with `integer` bits before the point and `fraction`
    bits behind it: together 1 to 64. They are the multiples of `2**-fraction` from 0 to below
    `2**integer`.

    Raises `ProgramError` for numbers of bits that no such type has.

    >>> import sealane as sl
    >>> sl.ufixed(24, 8), sl.ufixed(24, 8)(0.5)
    (sealane.ufixed(24, 8), <ufixed24.8, public, 0.5>)
    """
    return _fixed_point("ufixed", integer, fraction)


def _fixed_point(kind: str, integer: int, fraction: int) -> type[FixedPoint]:
    whole = all(isinstance(n, int | np.integer) and n < 65 for n in (integer, fraction))
    try:
        if not whole:
            raise KeyError(kind)
        return element_type(f"{kind}{integer}.{fraction}")  # type: ignore[return-value]
    except KeyError:
        bits = ", ".join(map(reprlib.repr, (integer, fraction)))
        raise refuse_type(
            f"`sl.{kind}({bits})` is not an element type",
            reason="The bits before and behind the point are together 1 to 64.",
            hint=f"write `sl.{kind}(16, 16)`, for example",
        ) from None


class FloatingPoint(Value):
    """Numbers of IEEE 754 binary floating point: `sl.f16`, `sl.bf16`, `sl.f32` and `sl.f64`.
    Results are of the NumPy type of that width; those of `sl.bf16`, which NumPy does not have, are
    `float32`.

    >>> import sealane as sl
    >>> issubclass(sl.f32, sl.FloatingPoint)
    True
    """

    __slots__ = ()
    _special, _wraps = True, False

    if TYPE_CHECKING:
        __truediv__ = Value.__add__
        __rtruediv__ = Value.__radd__

    def __pow__(self, exponent: Self | Public) -> Self:  # type: ignore[override]
        return call("pow", self, exponent)

    def __rpow__(self, base: Public) -> Self:  # type: ignore[override]
        return call("pow", base, self)


class f16(FloatingPoint):
    """Floating point of 16 bits, 11 of them significant. Results are of the NumPy type `float16`.

    >>> import sealane as sl
    >>> sl.f16(0.1)
    <f16, public, 0.1>
    """

    __slots__ = ()

    def _holds(self, narrower: Self | Public, /) -> Self: ...


class bf16(FloatingPoint):
    """Floating point of 16 bits, 8 of them significant: the upper half of an `f32`. Results are of
    the NumPy type `float32`.

    >>> import sealane as sl
    >>> sl.bf16(1.5)
    <bf16, public, 1.5>
    """

    __slots__ = ()

    def _holds(self, narrower: Self | Public, /) -> Self: ...


class f32(FloatingPoint):
    """Floating point of 32 bits, 24 of them significant. Results are of the NumPy type `float32`.

    >>> import sealane as sl
    >>> @sl.program
    ... def heat(
    ...     power: sl.Private[sl.f32, "plant"], hours: sl.Private[sl.f32, "grid"]
    ... ) -> sl.Revealed[sl.f32, "grid"]:
    ...     return power * hours + 1.5
    >>> heat(0.25, 3)
    np.float32(2.25)
    """

    __slots__ = ()

    def _holds(self, narrower: f16 | bf16 | Self | Public, /) -> Self: ...


class f64(FloatingPoint):
    """Floating point of 64 bits, 53 of them significant, as `float` of Python. Results are of the
    NumPy type `float64`.

    >>> import sealane as sl
    >>> sl.f64(0.1)
    <f64, public, 0.1>
    """

    __slots__ = ()

    def _holds(self, narrower: f16 | bf16 | f32 | Self | Public, /) -> Self: ...


_INTEGERS = (u8, u16, u32, u64, i8, i16, i32, i64)
TYPES |= {cls.__name__: cls for cls in (boolean, *_INTEGERS, f16, bf16, f32, f64)}
TYPES["bool"] = boolean
BASES |= {"int": Value, "fixed": FixedPoint}
