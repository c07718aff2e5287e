"""Noise of a draw that nobody knows: discrete Laplace and discrete Gauss.

All parties draw uniform numbers of which a run uses the exclusive or, and a circuit makes the noise
of them. There is no floating point, and no sampler of a library: probabilities are whole numbers of
`2**-precision`, computed here to 100 decimal digits and rounded once. So each sampler has an exact
distribution, and `distance` is how far that can be from the ideal one (statistical distance).

Laplace: the bits of a geometric variable are independent, and bit `i` is 1 with probability
`a**(2**i) / (1 + a**(2**i))` (Dwork, Kenthapadi, McSherry, Mironov, Naor, "Our data, ourselves",
EUROCRYPT 2006, section 4). One more bit says whether the noise is 0, and one is its sign.

Gauss: the absolute value by binary search in the table of its cumulative distribution, and a sign.
The distribution, and the privacy it gives: Canonne, Kamath, Steinke, "The discrete Gaussian for
differential privacy", NeurIPS 2020.
"""

# The native graph alone knows the type of a result; the annotations state what it will be.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from sealane import _source
from sealane._elements import element_type
from sealane._functions import lookup, where
from sealane._operands import tracing
from sealane._operations import wrap
from sealane._types import i64
from sealane._value import Value

FARTHEST = Fraction(1, 2**40)
"""Largest statistical distance of a draw from its ideal distribution."""
MOST_BITS = 38
"""Most bits of Laplace noise: more would take more than 2,000 AND gates."""
MOST_LEVELS = 14
"""Most bits of Gauss noise: more would take more than 6,000 AND gates."""
WIDEST_GAUSS = 2234
"""Largest whole standard deviation whose noise has so many bits."""

_DIGITS = Context(prec=100)
_POINT = 120
"""Bits behind the point of the probabilities that are summed up."""


class Laplace(NamedTuple):
    """Discrete Laplace noise: `x` with a probability proportional to `exp(-rate * abs(x))`."""

    precision: int
    """Bits of the uniform numbers that are compared with thresholds."""
    bits: tuple[int, ...]
    """For each bit of the absolute value less 1 the threshold below which it is 1."""
    zero: int
    """The threshold below which the noise is 0."""
    distance: Fraction

    def draws(self, count: int) -> tuple[Any, Any]:
        """Uniform numbers for `count` draws: those that are compared, and the signs."""
        width = len(self.bits) + 1
        return _uniform(self.precision, count * width).reshape(count, width), _uniform(1, count)

    def noise(self, drawn: Any, sign: Any) -> Any:
        """The noise of uniform numbers, one for each sign, in `sl.i64`."""
        ones = drawn < _typed(self.precision, [*self.bits, self.zero])
        size = _joined([ones[:, at] for at in range(len(self.bits))])
        # Minus one less the absolute value is its complement: one addition serves both signs.
        negative = sign == 1
        signed = where(negative, ~size, size) + (~negative).astype(i64)
        return where(ones[:, len(self.bits)], 0, signed)


class Gauss(NamedTuple):
    """Discrete Gauss noise: `x` with a probability proportional to `exp(-x*x / (2 * variance))`."""

    precision: int
    """Bits of the uniform number that is compared with thresholds."""
    table: tuple[int, ...]
    """Thresholds, in ascending order, one less than a power of two: the absolute value is the
    number of those that the uniform number has reached.
    """
    distance: Fraction

    def draws(self, count: int) -> tuple[Any, Any]:
        """Uniform numbers for `count` draws: those that are compared, and the signs."""
        return _uniform(self.precision, count), _uniform(1, count)

    def noise(self, drawn: Any, sign: Any) -> Any:
        """The noise of uniform numbers, one for each sign, in `sl.i64`."""
        levels = len(self.table).bit_length()
        bits: list[Any] = []
        for level in range(levels):
            # The thresholds in the middle of what the bits so far leave.
            step = 1 << (levels - level)
            middle = list(self.table[step // 2 - 1 :: step])
            if not bits:
                bits.append(drawn >= middle[0])
                continue
            reached = element_type(f"u{level}")
            place: Any = bits[0].astype(reached)
            for bit in bits[1:]:
                place = (place << 1) ^ bit.astype(reached)
            bits.append(drawn >= lookup(_typed(self.precision, middle), place))
        size = _joined(bits[::-1])
        negative = sign == 1
        return where(negative, ~size, size) + negative.astype(i64)


def laplace(rate: Fraction) -> Laplace | None:
    """The sampler of discrete Laplace noise of this rate, the inverse of its scale; none if it
    would have more than `MOST_BITS` bits.
    """
    with localcontext(_DIGITS):
        each = _decimal(rate)
        tail, length = Decimal(1), 0
        while tail > _decimal(FARTHEST) / 4 or not length:
            length += 1
            tail = (-each * 2**length).exp()
            if length > MOST_BITS:
                return None
        powers = [(-each * 2**at).exp() for at in range(length)]
        wanted = [power / (1 + power) for power in powers]
        wanted.append((1 - powers[0]) / (1 + powers[0]))
        precision, distance = 40, Decimal(1)
        while distance > _decimal(FARTHEST):
            precision += 1
            made = [_nearest(share, precision) for share in wanted]
            off = [
                abs(share - Decimal(at) / 2**precision)
                for share, at in zip(wanted, made, strict=True)
            ]
            distance = tail + sum(off)
        return Laplace(precision, tuple(made[:-1]), made[-1], Fraction(distance))


def gauss(variance: Fraction) -> Gauss | None:
    """The sampler of discrete Gauss noise; none if it would have more than `MOST_LEVELS` bits."""
    with localcontext(_DIGITS):
        shares = _absolute_gauss(variance)
    if shares is None:
        return None
    most = max(2, 1 << (len(shares) - 1).bit_length())
    precision, distance = 40, Fraction(1)
    while distance > FARTHEST:
        precision += 1
        table, reached = [], 0
        for at in range(most - 1):
            reached += shares[at] if at < len(shares) else 0
            # Rounded to the nearest number, and below the end that no number reaches.
            nearest = (reached + (1 << (_POINT - precision - 1))) >> (_POINT - precision)
            table.append(min(nearest, (1 << precision) - 1))
        distance = _distance(shares, table, precision)
    return Gauss(precision, tuple(table), distance)


def _absolute_gauss(variance: Fraction) -> list[int] | None:
    """Probabilities of the absolute values of discrete Gauss noise, in units of `2**-_POINT`, up to
    those beyond which it lies with a probability below a quarter of `FARTHEST`.
    """
    per = Decimal(1) / (2 * _decimal(variance))
    weight, factor, square = Decimal(1), (-per).exp(), (-2 * per).exp()
    weights: list[Decimal] = []
    while weight > Decimal(10) ** -50:
        weights.append(weight)
        weight *= factor
        factor *= square
        if len(weights) > 2 << (MOST_LEVELS + 1):
            return None
    total = 2 * sum(weights) - 1
    shares = [(2 if at else 1) * weight / total for at, weight in enumerate(weights)]
    beyond = Decimal(0)
    while beyond + shares[-1] <= _decimal(FARTHEST) / 4:
        beyond += shares.pop()
    if len(shares) > 1 << MOST_LEVELS:
        return None
    return [int((share * 2**_POINT).to_integral_value()) for share in shares]


def _distance(shares: list[int], table: list[int], precision: int) -> Fraction:
    """Statistical distance of what a table gives from the ideal, what lies beyond it included."""
    ends = [0, *table, 1 << precision]
    off = 0
    for at in range(len(ends) - 1):
        made = (ends[at + 1] - ends[at]) << (_POINT - precision)
        off += abs(made - (shares[at] if at < len(shares) else 0))
    beyond = (1 << _POINT) - sum(shares)
    return Fraction(off + abs(beyond) + len(shares), 2 << _POINT)


def deviation(epsilon: Fraction, delta: Fraction, sensitivity: Fraction) -> Fraction:
    """Standard deviation of discrete Gauss noise for which a result of this sensitivity (Euclidean)
    is differentially private with these parameters, by concentrated differential privacy: theorem
    14 of Canonne, Kamath and Steinke, and proposition 1.3 of Bun and Steinke ("Concentrated
    differential privacy", TCC 2016). Rounded up to a multiple of 1/1024.
    """
    with localcontext(_DIGITS):
        log = -_decimal(delta).ln()
        root = (log + _decimal(epsilon)).sqrt() - log.sqrt()
        sigma = _decimal(sensitivity) / (Decimal(2).sqrt() * root)
        return Fraction(int(sigma * 1024) + 1, 1024)


def exponent(delta: Fraction) -> int:
    """The largest whole number of which 2 to its negative is at least delta."""
    whole = delta.denominator.bit_length() - delta.numerator.bit_length()
    return whole if delta * 2**whole <= 1 else whole - 1


def doubled(epsilon: Fraction) -> Fraction:
    """`1 + exp(epsilon)`, rounded up: what a statistical distance adds to delta, for each unit."""
    with localcontext(_DIGITS):
        return 1 + Fraction(_decimal(epsilon).exp() * (1 + Decimal(10) ** -90))


def _decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


def _nearest(share: Decimal, precision: int) -> int:
    """The threshold below which a uniform number is with a probability nearest to `share`."""
    nearest = int((share * 2**precision).to_integral_value(ROUND_HALF_EVEN))
    return min(nearest, (1 << precision) - 1)


def _uniform(bits: int, count: int) -> Any:
    """Uniform numbers that nobody knows."""
    trace = tracing.get()
    assert trace is not None, "results are revealed while a program is traced"
    [drawn] = trace.apply("random", [], _source.here(), number=bits, lengths=[count])
    return wrap(trace, drawn)


def _typed(bits: int, numbers: list[int]) -> Value:
    return element_type(f"u{bits}")(np.array(numbers, np.uint64))


def _joined(bits: list[Any]) -> Any:
    """The number of bits, the lowest first, in `sl.i64`."""
    number: Any = bits[0].astype(i64)
    for at, bit in enumerate(bits[1:], 1):
        number = number ^ (bit.astype(i64) << at)
    return number
