"""The specifications of circuits on IEEE 754 floating point."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from proof_cases import ANY, Case, Cases
from proof_words import FALSE, TRUE, Net, Word, constant


@dataclass(frozen=True)
class Float:
    """A format of IEEE 754."""

    exponent: int
    fraction: int

    @property
    def bias(self) -> int:
        """The exponent field of 1."""
        return (1 << (self.exponent - 1)) - 1

    @property
    def last(self) -> int:
        """The exponent field of infinities and NaN."""
        return (1 << self.exponent) - 1

    def parts(self, x: Word) -> tuple[Word, Word, int]:
        """Fraction, exponent and sign."""
        return x[: self.fraction], x[self.fraction : -1], x[-1]

    def number(self, sign: int, exponent: int, fraction: int = 0) -> Word:
        """A number of constant magnitude."""
        field = constant(exponent, self.exponent)
        return [*constant(fraction, self.fraction), *field, sign]

    def nan(self) -> Word:
        """The canonical NaN."""
        return self.number(FALSE, self.last, 1 << (self.fraction - 1))


FORMATS = {"f16": Float(5, 10), "bf16": Float(8, 7), "f32": Float(8, 23), "f64": Float(11, 52)}


def nearest(net: Net, bits: Word, cut: int) -> int:
    """1 if a word without its `cut` lowest bits is rounded up: to the nearest, ties to even."""
    if cut == 0 or cut > len(bits):
        return FALSE
    odd = bits[cut] if cut < len(bits) else FALSE
    return net.both(bits[cut - 1], net.either(odd, net.any(bits[: cut - 1])))


def special(net: Net, form: Float, x: Word, infinite: Word, nan: Word) -> Iterator[Case]:
    """Infinities and NaN."""
    fraction, exponent, _ = form.parts(x)
    given = net.is_constant(exponent, form.last)
    yield Case([*given, -net.any(fraction)], infinite)
    yield Case([*given, net.any(fraction)], nan)


def integral(form: Float, away: Callable[[Net, int, Word, int], int]) -> Cases:
    """Rounding to integral values; `away` says of sign, magnitude and cut bits if it goes away
    from zero. The magnitude of a number below 1 is its significand behind a point."""

    def cases(net: Net, x: Word) -> Iterator[Case]:
        fraction, exponent, sign = form.parts(x)
        yield from special(net, form, x, x, form.nan())
        for places in range(form.fraction):
            cut = form.fraction - places
            up = away(net, sign, [*fraction, TRUE], cut)
            magnitude = [*fraction, *constant(form.bias + places, form.exponent)]
            kept = net.increment(magnitude[cut:], up)
            given = net.is_constant(exponent, form.bias + places)
            yield Case(given, [*constant(0, cut), *kept, sign])
        just_below = net.is_constant(exponent, form.bias - 1)
        one = form.number(sign, form.bias)
        zero = form.number(sign, 0)
        up = away(net, sign, [*fraction, TRUE], form.fraction + 1)
        yield Case(just_below, net.select(up, one, zero))
        # Some bit far below a half, or none.
        tiny = net.less(exponent, constant(form.bias - 1, form.exponent))
        some = [net.any([*fraction, *exponent]), FALSE, FALSE]
        yield Case([tiny], net.select(away(net, sign, some, 3), one, zero))
        whole = net.less(constant(form.bias + form.fraction - 1, form.exponent), exponent)
        yield Case([whole, -net.all(exponent)], x)

    return cases


def away_down(net: Net, sign: int, bits: Word, cut: int) -> int:
    """Towards minus infinity."""
    return net.both(sign, net.any(bits[:cut]))


def away_up(net: Net, sign: int, bits: Word, cut: int) -> int:
    """Towards plus infinity."""
    return net.both(-sign, net.any(bits[:cut]))


def away_never(_net: Net, _sign: int, _bits: Word, _cut: int) -> int:
    """Towards zero."""
    return FALSE


def away_half(_net: Net, _sign: int, bits: Word, cut: int) -> int:
    """To the nearest, ties away from zero."""
    return bits[cut - 1]


def away_even(net: Net, _sign: int, bits: Word, cut: int) -> int:
    """To the nearest, ties to even."""
    return nearest(net, bits, cut)


def from_integer(form: Float, signed: bool) -> Cases:
    """Integers as numbers, by the place of the leading bit."""

    def cases(net: Net, x: Word) -> Iterator[Case]:
        sign = x[-1] if signed else FALSE
        magnitude = net.select(sign, net.negate(x), x)
        yield Case([-bit for bit in magnitude], form.number(FALSE, 0))
        for top in range(len(x)):
            given = [magnitude[top], *(-bit for bit in magnitude[top + 1 :])]
            cut = max(top - form.fraction, 0)
            below = magnitude[cut:top]
            fraction = constant(0, form.fraction - len(below)) + below
            number = [*fraction, *constant(form.bias + top, form.exponent)]
            number = net.increment(number, nearest(net, magnitude[: top + 1], cut))
            yield Case(given, [*number, sign])

    return cases


def to_integer(form: Float, bits: int, signed: bool, even: bool) -> Cases:
    """Numbers as integers with a flag of those that do not fit, by the exponent."""

    def cases(net: Net, x: Word) -> Iterator[Case]:
        fraction, exponent, sign = form.parts(x)
        ends = [*([-sign] * (bits - 1)), sign if signed else -sign]
        yield from special(net, form, x, [*ends, TRUE], [*constant(0, bits), TRUE])
        significand = [*fraction, TRUE]
        for places in range(-1, bits):
            # The integer with two more bits, for the carry and the sign.
            cut = form.fraction - places
            wide = constant(0, max(-cut, 0)) + significand[max(cut, 0) :]
            wide = [*(wide + [FALSE] * bits)[: bits + 1], FALSE]
            up = nearest(net, significand, max(cut, 0)) if even else FALSE
            value = net.increment(wide, up)
            value = net.select(sign, net.negate(value), value)
            above = value[bits - 1 :] if signed else value[bits:]
            fits = net.either(net.all(above), -net.any(above)) if signed else -net.any(above)
            given = net.is_constant(exponent, form.bias + places)
            yield Case(given, [*net.select(fits, value[:bits], ends), -fits])
        tiny = net.less(exponent, constant(form.bias - 1, form.exponent))
        yield Case([tiny], constant(0, bits + 1))
        large = net.less(constant(form.bias + bits - 1, form.exponent), exponent)
        yield Case([large, -net.all(exponent)], [*ends, TRUE])

    return cases


def narrow(form: Float, to: Float, *, flush: bool = False) -> Cases:
    """A format with smaller exponents: by the exponent where the result is subnormal. Flushed, it
    is 0 there, unless rounding as if exponents had no lower bound makes it normal."""

    def cases(net: Net, x: Word) -> Iterator[Case]:
        fraction, exponent, sign = form.parts(x)
        yield from special(net, form, x, to.number(sign, to.last), to.nan())
        cut = form.fraction - to.fraction
        first = form.bias - to.bias + 1
        normal = -net.less(exponent, constant(first, form.exponent))
        beyond = -net.less(exponent, constant(first + to.last - 1, form.exponent))
        field = net.add(exponent, constant(-(first - 1), form.exponent))[: to.exponent]
        magnitude = net.increment([*fraction[cut:], *field], nearest(net, [*fraction, *field], cut))
        yield Case([normal, -beyond], [*magnitude, sign])
        yield Case([beyond, -net.all(exponent)], to.number(sign, to.last))
        if flush:
            up = net.all([*fraction[cut:], nearest(net, [*fraction, *field], cut)])
            below = net.select(up, to.number(sign, 1), to.number(sign, 0))
            yield Case(net.is_constant(exponent, first - 1), below)
            tiny = net.less(exponent, constant(first - 1, form.exponent))
            yield Case([tiny], to.number(sign, 0))
            return
        lowest = first - to.fraction - 1
        for value in range(lowest, first):
            places = cut + first - value
            significand = [*fraction, TRUE]
            zeros = constant(0, to.exponent + to.fraction)
            kept = [*significand[places:], *zeros][: len(zeros)]
            kept = net.increment(kept, nearest(net, significand, places))
            yield Case(net.is_constant(exponent, value), [*kept, sign])
        tiny = net.less(exponent, constant(lowest, form.exponent))
        yield Case([tiny], to.number(sign, 0))

    return cases


def shorten(form: Float, to: Float) -> Cases:
    """A format with the same exponents and a shorter fraction."""

    def cases(net: Net, x: Word) -> Iterator[Case]:
        _, exponent, sign = form.parts(x)
        yield from special(net, form, x, to.number(sign, to.last), to.nan())
        cut = form.fraction - to.fraction
        magnitude = net.increment(x[cut:-1], nearest(net, x[:-1], cut))
        yield Case([-net.all(exponent)], [*magnitude, sign])

    return cases


def compare(form: Float, relation: str) -> Cases:
    """Orders of numbers, by their signs."""

    def cases(net: Net, x: Word, y: Word) -> Iterator[Case]:
        nan = FALSE
        for number in (x, y):
            fraction, exponent, _ = form.parts(number)
            nan = net.either(nan, net.both(net.all(exponent), net.any(fraction)))
        (*size, sign), (*other, other_sign) = x, y
        zeros = -net.any([*size, *other])
        same = net.either(net.equal(x, y), zeros)
        backwards = net.less(other, size)
        by_sign = net.choose(sign, net.choose(other_sign, backwards, TRUE), FALSE)
        forwards = net.both(-other_sign, net.less(size, other))
        less = net.both(net.choose(sign, by_sign, forwards), -same)
        truth = {"eq": same, "lt": less, "le": net.either(less, same)}[relation]
        yield Case([], [net.both(truth, -nan)])

    return cases


def chosen(form: Float, *, larger: bool) -> Cases:
    """The smaller or the larger of two numbers, -0 below 0; of a NaN and a number the number."""

    def cases(net: Net, x: Word, y: Word) -> Iterator[Case]:
        fields = [form.parts(number) for number in (x, y)]
        nan = [net.both(net.all(exponent), net.any(fraction)) for fraction, exponent, _ in fields]
        yield Case(nan, form.nan())
        yield Case([nan[0], -nan[1]], y)
        yield Case([-nan[0], nan[1]], x)
        # Negative numbers are in the order opposite to that of their bits.
        for sign in (FALSE, TRUE):
            less = net.less(x[:-1], y[:-1])
            given = [-net.xor(sign, z[-1]) for z in (x, y)]
            first = net.xor(net.xor(less, sign), TRUE if larger else FALSE)
            yield Case([*(-bit for bit in nan), *given], net.select(first, x, y))
        differ = net.xor(x[-1], y[-1])
        first = net.xor(x[-1], TRUE if larger else FALSE)
        yield Case([*(-bit for bit in nan), differ], net.select(first, x, y))

    return cases


def positive_difference(form: Float) -> Cases:
    """x - y where x is larger, and else 0."""

    def cases(net: Net, x: Word, y: Word) -> Iterator[Case]:
        (at_most,) = next(compare(form, "le")(net, x, y)).outputs
        for case in total(form, opposite=True)(net, x, y):
            yield Case(case.given, net.select(at_most, form.number(FALSE, 0), case.outputs))

    return cases


def place(form: Float) -> Cases:
    """A number in the window of an exact sum, by its exponent."""

    def cases(net: Net, x: Word) -> Iterator[Case]:
        fraction, exponent, sign = form.parts(x)
        window = form.last - 1 + form.fraction
        for field in range(form.last):
            significand = [*fraction, TRUE if field else FALSE]
            below = constant(0, max(field, 1) - 1)
            placed = [*below, *significand, *constant(0, window)][:window]
            bits = [net.xor(bit, sign) for bit in placed]
            given = net.is_constant(exponent, field)
            yield Case(given, [*bits, sign, FALSE, FALSE, FALSE])
        nan = net.any(fraction)
        flags = [sign, nan, net.both(-sign, -nan), net.both(sign, -nan)]
        yield Case(net.is_constant(exponent, form.last), [*[ANY] * window, *flags])

    return cases


def total(form: Float, *, opposite: bool) -> Cases:
    """Sums, or differences: exact for each distance of the exponents, then rounded by the place of
    the leading bit. The unit of a sum is that of the smaller operand."""
    digits = form.fraction + 1
    finite = constant(form.last, form.exponent)

    def weighed(net: Net, number: Word) -> tuple[Word, Word]:
        """The significand, and the exponent with which it counts."""
        fraction, exponent, _ = form.parts(number)
        normal = net.any(exponent)
        return [*fraction, normal], [net.either(exponent[0], -normal), *exponent[1:]]

    def specials(net: Net, x: Word, y: Word) -> Iterator[Case]:
        (f, e, s), (g, d, t) = form.parts(x), form.parts(y)
        some, other = net.any(f), net.any(g)
        last, other_last = net.is_constant(e, form.last), net.is_constant(d, form.last)
        yield Case([*last, some], form.nan())
        yield Case([-net.both(net.all(e), some), *other_last, other], form.nan())
        both = net.select(net.xor(s, t), form.nan(), x)
        yield Case([*last, -some, *other_last, -other], both)
        yield Case([*last, -some, -net.all(d)], x)
        yield Case([-net.all(e), *other_last, -other], y)

    def rounded(net: Net, size: Word, top: int, exponent: Word) -> tuple[Word, Word]:
        """The magnitude of a sum whose leading bit is the one of this place, as a number with one
        more bit of exponent; and what says that it is such a sum, and normal."""
        given = [size[top], *(-bit for bit in size[top + 1 :])]
        up = top - form.fraction
        if up < 0:
            given.append(-net.less(exponent, constant(1 - up, form.exponent)))
        wide = [*exponent, FALSE]
        field = net.add(wide, constant(up, len(wide)))[: len(wide)]
        below = size[max(up, 0) : top]
        fraction = constant(0, form.fraction - len(below)) + below
        return net.increment([*fraction, *field], nearest(net, size, max(up, 0))), given

    def apart(net: Net, large: Word, small: Word, distance: int) -> Iterator[Case]:
        (one, exponent), (two, lower) = weighed(net, large), weighed(net, small)
        sign, differ = large[-1], net.xor(large[-1], small[-1])
        here = net.equal([*exponent, FALSE], net.add(lower, constant(distance, form.exponent)))
        given = [-net.all(large[form.fraction : -1]), -net.all(small[form.fraction : -1]), here]
        one, two = constant(0, distance) + one, two + constant(0, distance)
        if distance == 0:
            less = net.both(differ, net.less(one, two))
            one, two = net.select(less, two, one), net.select(less, one, two)
            sign = net.xor(sign, less)
        other = [net.xor(bit, differ) for bit in two]
        size = net.add(one, other, differ)
        size = [*size[:-1], net.both(size[-1], -differ)]
        if distance == 0:
            zero = form.number(net.both(sign, -differ), 0)
            yield Case([*given, *(-bit for bit in size)], zero)
        if distance < 2:
            for value in range(1, digits):
                fraction = constant(0, value - 1) + size[: digits - value]
                some = [net.any(size)] if distance == 0 else []
                below = [-bit for bit in size[digits - value :]]
                number = [*fraction, *constant(0, form.exponent), sign]
                yield Case([*given, *some, *net.is_constant(lower, value), *below], number)
        # Signs that differ cancel more than one bit only if exponents are near.
        for top in range(0 if distance < 2 else len(size) - 3, len(size)):
            magnitude, of_top = rounded(net, size, top, lower)
            over = -net.less(magnitude[form.fraction :], [*finite, FALSE])
            number = net.select(over, form.number(sign, form.last)[:-1], magnitude[:-1])
            yield Case([*given, *of_top], [*number, sign])

    def cases(net: Net, x: Word, y: Word) -> Iterator[Case]:
        y = [*y[:-1], -y[-1]] if opposite else y
        yield from specials(net, x, y)
        for large, small in ((x, y), (y, x)):
            for distance in range(0 if large is x else 1, digits + 2):
                yield from apart(net, large, small, distance)
            (_, exponent), (_, lower) = weighed(net, large), weighed(net, small)
            far = net.add(lower, constant(digits + 2, form.exponent))
            given = [-net.all(large[form.fraction : -1]), -net.all(small[form.fraction : -1])]
            yield Case([*given, -net.less([*exponent, FALSE], far)], large)

    return cases


def flushed(form: Float, cases: Cases, *, result: bool) -> Cases:
    """A function where subnormal operands are zeros, and subnormal results if they are numbers of
    the same format."""

    def zeroed(net: Net, number: Word) -> Word:
        fraction, exponent, sign = form.parts(number)
        normal = net.any(exponent)
        return [*(net.both(bit, normal) for bit in fraction), *exponent, sign]

    def of_zeroed(net: Net, *operands: Word) -> Iterator[Case]:
        for case in cases(net, *(zeroed(net, operand) for operand in operands)):
            outputs = zeroed(net, case.outputs) if result else case.outputs
            yield Case(case.given, outputs)

    return of_zeroed
