"""Integers modulo p = 2^61 - 1 of `trio-malicious` (chapter 19, Integers)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from adder import Wire, both, tape_of
from errors import need
from link import Mesh
from plan import PRIME_BITS, Domain, Tape
from statements import Due, Group, Units
from streams import Bulk
from sums import P
from tensors import Call, Factor, Tensor, flatten
from trio import Form, Share, Trio, read_numbers

PIECE = 512                                     # words that are drawn at once


@dataclass(frozen=True)
class Modular(Form):
    """The form of a tensor of bits, or of integers modulo p."""

    def reduced(self, numbers: Iterable[int]) -> list[int]:
        """A component of numbers that are too large, or below 0."""
        return [number % (P if self.k else 2) for number in numbers]

    def draw(self, stream: Bulk) -> list[int]:
        """Draw a component; what is p is drawn again, before the next piece."""
        if not self.k:
            return super().draw(stream)
        found: list[int] = []
        while left := self.planes * self.elements - len(found):
            for number in stream.draw_rows(min(left, PIECE), self.k):
                while number == P:
                    number, = stream.draw_rows(1, self.k)
                found.append(number)
        return found


def read_component(mesh: Mesh, peer: int, form: Form, bulk: bool = False) -> list[int]:
    """Read a component, of which no integer is p."""
    numbers = read_numbers(mesh, peer, form.planes * form.elements, form.width, bulk)
    need(not form.k or P not in numbers, f"party {peer}: an integer is not below the modulus",
         "protocol-broken")
    return numbers


class WithIntegers(Trio):
    """What a role does with integers, and the statements that this leaves."""

    due: Due

    def constant(self, numbers: list[int], bits: int, k: int | None) -> Tensor:
        """Share numbers that all parties know."""
        return super().constant([n % P for n in numbers] if k else numbers, bits, k)

    def linear(self, terms: list[tuple[Share, int]], k: int) -> Share:
        """Sum of shares times factors, which have 64 bits in two's complement."""
        own, following = (sum(share[i] * ((factor + 2**63) % 2**64 - 2**63)
                              for share, factor in terms) % P for i in (0, 1))
        return own, following

    def _read(self, peer: int, form: Form, bulk: bool) -> list[int]:
        return read_component(self.mesh, peer, form, bulk)

    def product(self, left: Tensor, right: Tensor, k: int, factors: Sequence[Factor] = ()
                ) -> Call[Tensor]:
        """Inner products over planes."""
        x, y = ([[[share[i] for share in plane] for plane in of.planes] for i in (0, 1)]
                for of in (left, right))
        n = len(left.planes[0])
        sums = [sum(a[0] * (b[0] + b[1]) + a[1] * b[0] for a, b in zip(*element))
                for element in zip(zip(*left.planes), zip(*right.planes))]
        form = Modular(1, n, k)
        zeros = self._zeros(form)
        shares = yield from self._reshare(form, sums, zeros)
        squares = [sum(map(int.__mul__, *element)) for element in zip(zip(*x[1]), zip(*y[1]))]
        of_next = form.reduced(s + g - z for s, g, (_, z) in zip(squares, zeros[1], shares))
        of_before = form.reduced(-f for f in zeros[0])
        found = lines_of(factors)
        if found is None:
            groups = [Group(1, None, x[0] + y[0], y[1] + x[1], []),
                      Group(1, None, [], y[0] + x[0], of_before),
                      Group(1, None, x[1] + y[1], [], of_next)]
        else:
            rows, columns = found
            a, b = ([[[plane[at] for at in places] for plane in part] for part in of]
                    for of, places in ((x, rows), (y, columns)))
            before, after = ([part[r + c] for r in rows for c in columns]
                             for part in (of_before, of_next))
            lines = len(rows), len(columns)
            groups = [Group(1, lines, a[0] + b[0], b[1] + a[1], []),
                      Group(1, lines, [], b[0] + a[0], before),
                      Group(1, lines, a[1] + b[1], [], after)]
        self.due.add(Units(2 * len(left.planes), n if found is None else 1,
                           [[group] for group in groups]))
        return Tensor.of(shares, n)

    def convert(self, value: Tensor, old: Domain, new: Domain) -> Call[Tensor]:
        """Share the same numbers as bits, or as integers."""
        if new.k:
            return (yield from self._to_integers(value.planes, old, PRIME_BITS))
        more = 1 << PRIME_BITS - 1 if old.signed else 0
        words = [[(x >> p & own, y >> p & following) for x, y in moved]
                 for i, (own, following) in enumerate(self._alone(1, j) for j in range(3))
                 for moved in [[((x + more) % P, (y + more) % P) for x, y in value.planes[0]]
                               if i == 0 else value.planes[0]] for p in range(PRIME_BITS)]
        return Tensor((yield from self.tape(modular_tape(new.bits), words, len(value.planes[0]))))

    def _to_integers(self, planes: list[list[Share]], old: Domain, k: int) -> Call[Tensor]:
        """Role 0 knows c = b_0 ^ b_1, the others d = b_2; the sum of both is c + d - 2 c d."""
        bits, elements, n = flatten(planes), len(planes[0]), len(planes)
        weights = [-1 << p if old.signed and p == n - 1 else 1 << p
                   for p in range(n) for _ in range(elements)]
        form, sums = Modular(n, elements, k), Modular(1, elements, k)

        def total(numbers: Iterable[int]) -> list[int]:
            every = [*numbers]
            return sums.reduced(sum(every[i::elements]) for i in range(elements))
        dealt = yield from self._deal(form, 0, [x ^ y for x, y in bits], True)
        scaled = [form.reduced(-2 * w * c[i] for w, c in zip(weights, dealt)) for i in (0, 1)]
        own, following = ([b[i] for b in bits] for i in (0, 1))
        # Role 1 knows x_1 and d, role 2 d and x_0.
        factors = [([], []), (scaled[0], following), (own, scaled[1])][self.role]
        summands = total(map(int.__mul__, *factors)) if self.role else [0] * elements
        zeros = self._zeros(sums)
        shares = yield from self._reshare(sums, summands, zeros)
        left = sums.reduced(g - z for g, (_, z) in zip(zeros[1], shares))
        right = sums.reduced(-f for f in zeros[0])

        def cut(part: list[int]) -> list[list[int]]:
            return [part[i:i + elements] for i in range(0, len(part), elements)]
        # Of role 0 the inputs, then its share of zero; of the others one product a bit.
        groups: list[list[Group]] = [[], [], []]
        first = (self.role == 0, self.role == 1, self.role == 2)
        if first[0]:
            groups[0] = [Group(n, None, [[2 * b for b in own]], [following], []),
                         Group(1, None, [], [], [])]
            groups[1] = [Group(1, None, [], cut(scaled[0]), right)]
            groups[2] = [Group(1, None, cut(scaled[1]), [], left)]
        elif first[1]:
            groups[0] = [Group(1, None, cut(scaled[0]), cut(following), [])]
            groups[1] = [Group(n, None, [], [own], form.reduced(
                c[0] - b for c, b in zip(dealt, own))), Group(1, None, [], [], right)]
            groups[2] = [Group(1, None, cut(following), [], left)]
        else:
            groups[0] = [Group(1, None, cut(own), cut(scaled[1]), [])]
            groups[1] = [Group(1, None, [], cut(own), right)]
            groups[2] = [Group(n, None, [[2 * b for b in following]], [], form.reduced(
                c[1] - b for c, b in zip(dealt, following))), Group(1, None, [], [], left)]
        self.due.add(Units(n, elements, groups))
        # d is component 2: next of role 1, own of role 2.
        pairs = [(b[0] if self.role == 2 else c[0], b[1] if self.role == 1 else c[1])
                 for b, c in zip(bits, dealt)]
        return Tensor([[self.linear([(shares[i], 1), *zip(pairs[i::elements],
                                                          weights[i::elements])], k)
                        for i in range(elements)]])


def lines_of(factors: Sequence[Factor]) -> tuple[list[int], list[int]] | None:
    """Of a matrix product the places of its rows and of its columns among the lanes."""
    left, right = (factor.dims for factor in factors)
    if [length for length, _ in left] != [length for length, _ in right]:
        return None
    places, apart = [[0], [0]], 1
    for (length, along), (_, across) in reversed([*zip(left, right)]):
        if length != 1:
            if (along == 0) == (across == 0):
                return None
            side = int(along == 0)
            places[side] = [i * apart + at for i in range(length) for at in places[side]]
            apart *= length
    return places[0], places[1]


# -------------------------------------------------------------------------------- the adder


def modular(n: int, x: list[Wire], y: list[Wire], z: list[Wire]) -> list[Wire]:
    """The lowest bits of the sum of three numbers modulo p, of which zero has one form."""
    s, t = list[Wire](), list[Wire]()
    for i in range(PRIME_BITS):
        half = x[i] ^ y[i]
        s.append(half ^ z[i])
        t.append(both(half, y[i] ^ z[i]) ^ y[i])
    t = t[-1:] + t[:-1]
    carries = [(both(a, b), a ^ b) for a, b in zip(s, t)]
    flat = [p for _, p in carries]
    b = 1
    while b < PRIME_BITS:
        for i in range(PRIME_BITS):
            if i & b:
                (low_g, low_p), (g, p) = carries[(i | b - 1) - b], carries[i]
                carries[i] = g ^ both(p, low_g), both(p, low_p)
        b *= 2
    e = carries[-1][0] ^ carries[-1][1]
    return [flat[0] ^ e, *(flat[i] ^ carries[i - 1][0] ^ both(carries[i - 1][1], e)
                           for i in range(1, n))]


@cache
def modular_tape(n: int) -> Tape:
    """The same as a tape."""
    k = PRIME_BITS
    return tape_of(3 * k, lambda w: modular(n, w[1:1 + k], w[1 + k:1 + 2 * k], w[1 + 2 * k:]))
