"""One proof of chapter 19: a role shows both others that all that it sent was right.

A string of bits is a number, statement 0 its lowest bit; so are planes of many lanes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import xor
from typing import Any

from primitives import H, gf_mul, gf_sum, spread
from streams import Bulk, Stream, expand_public, expand_secret

SIDE, POINTS, LANES, BLOCK = 8, 15, 512, 128    # of a grid; lanes of a group, of a block of lanes
GROUP, LEAST = SIDE * SIDE * LANES, 4096        # statements of a group; fewest that have a grid
BITS, PRODUCTS, TURNS = 1, 2, 2                 # of the kind of an AND; turns of a role
IMAGES = (1, 0x295AC0B1F4731AF9676AAC9FA4B20B08, 0xA2134422CD4054C9FF1099C31BBE8F22,
          0x500317BD159D73BB34D2F7FBA603E341)   # of the bits of an element of GF(16)
GIVEN = [(r, c) for r in range(SIDE) for c in range(SIDE, POINTS)] + [
    (r, c) for c in range(POINTS) for r in range(SIDE, POINTS)]
ELEMENT, WIDE = (1 << BLOCK) - 1, 64            # products that `times` makes at once
Element = tuple[int, ...]                       # of GF(16), in planes: bit k of all lanes

# ------------------------------------------------------------------------------------ fields


def image(e: int) -> int:
    """An element of GF(16) in GF(2^128)."""
    return reduce(xor, (IMAGES[k] for k in range(4) if e >> k & 1), 0)


ELEMENTS = [image(e) for e in range(16)]


def mul4(a: int, b: int) -> int:
    """A product in GF(4)."""
    turned = a >> 1 | (a ^ a >> 1) << 1 & 2     # a w
    return (a if b & 1 else 0) ^ (turned if b & 2 else 0)


def mul16(a: int, b: int) -> int:
    """A product in GF(16), where z^2 = z + w."""
    low, high = mul4(a & 3, b & 3), mul4(a >> 2, b >> 2)
    mixed = mul4(a & 3, b >> 2) ^ mul4(a >> 2, b & 3) ^ high
    return low ^ mul4(high, 2) | mixed << 2


def times(factor: int, values: Sequence[int]) -> list[int]:
    """Products of many elements of GF(2^128) with one: `gf_mul`, on numbers side by side."""
    found: list[int] = []
    for at in range(0, len(values), WIDE):
        some = values[at:at + WIDE]
        ones = int.from_bytes(b"\1" * 256 * len(some), "big")
        digits = "".join(format(value, "0256b") for value in reversed(some)).encode()
        total = (int.from_bytes(digits, "big") & ones) * spread(factor) & ones
        total = int((total | 48 * ones).to_bytes(256 * len(some), "big"), 2)
        low = int.from_bytes((b"\xff" * 16 + bytes(16)) * len(some), "little")
        for _ in range(2):
            high = total >> BLOCK & low
            total = total & low ^ high ^ high << 1 ^ high << 2 ^ high << 7
        data = total.to_bytes(32 * len(some), "little")
        found += [int.from_bytes(data[i:i + 16], "little") for i in range(0, len(data), 32)]
    return found


def weigh(weights: list[int], planes: list[int]) -> list[int]:
    """Of each plane the sum of its blocks of lanes, as elements, times their weights."""
    sums = [0] * len(planes)
    for i, weight in enumerate(weights):
        pieces = times(weight, [plane >> BLOCK * i & ELEMENT for plane in planes])
        sums = [x ^ y for x, y in zip(sums, pieces)]
    return sums


def lagrange(count: int, at: int) -> list[int]:
    """The values at an element of the polynomials of points 0 to count - 1."""
    found = []
    for i in range(count):
        value, below = 1, 1
        for j in {*range(count)} - {i}:
            value, below = gf_mul(value, at ^ image(j)), mul16(below, i ^ j)
        inverse = next(e for e in range(16) if mul16(e, below) == 1)
        found.append(gf_mul(value, image(inverse)))
    return found


# -------------------------------------------------------------------------------------- grid


def _line() -> list[list[list[tuple[int, int]]]]:
    """Of each new point of a line, of each bit there: the points and bits that it is the sum of."""
    found = []
    for point in range(SIDE, POINTS):
        factors = [ELEMENTS.index(value) for value in lagrange(SIDE, image(point))]
        found.append([[(i, m) for i, factor in enumerate(factors) for m in range(4)
                       if mul16(factor, 1 << m) >> k & 1] for k in range(4)])
    return found


LINE = _line()
PRODUCT = [[(m, n) for m in range(4) for n in range(4) if mul16(1 << m, 1 << n) >> k & 1]
           for k in range(4)]                   # the bits of both factors that make bit k


def extended(line: list[Element]) -> list[Element]:
    """A polynomial at all 15 points of a line, from its values at 8."""
    return line + [tuple(reduce(xor, (line[i][m] for i, m in bit if m < len(line[i])), 0)
                         for bit in point) for point in LINE]


def positions(string: int, groups: int) -> list[int]:
    """A string by position, with a bit for each lane of all groups."""
    planes = [0] * (SIDE * SIDE)
    for i in range(groups * len(planes)):
        lanes = string >> LANES * i & (1 << LANES) - 1
        planes[i % len(planes)] |= lanes << LANES * (i // len(planes))
    return planes


def whole(planes: list[int]) -> dict[tuple[int, int], Element]:
    """An operand at all 225 points."""
    rows = [extended([(plane,) for plane in planes[i:i + SIDE]])
            for i in range(0, len(planes), SIDE)]
    return {(r, c): element for c, column in enumerate(zip(*rows))
            for r, element in enumerate(extended([*column]))}


SPACED = [b"".join(bytes([byte >> i & 1]).ljust(16, b"\0") for i in range(8))
          for byte in range(256)]               # each bit as an element


def folded(planes: list[int], lanes: int, point: Sequence[int]) -> list[int]:
    """The value of an operand at both challenges, an element of each lane."""
    rows, columns = (lagrange(SIDE, at) for at in point)
    total = 0
    for i, plane in enumerate(planes):
        spaced = b"".join(SPACED[byte] for byte in plane.to_bytes(lanes // 8, "little"))
        factor = gf_mul(rows[i // SIDE], columns[i % SIDE])
        total ^= int.from_bytes(spaced, "little") * factor
    return blocks(total.to_bytes(16 * lanes, "little"))


# ------------------------------------------------------------------------- names and sources


def block(value: int) -> bytes:
    """The block of a number."""
    return value.to_bytes(16, "little")


def blocks(data: bytes) -> list[int]:
    """The numbers of neighbouring blocks."""
    return [int.from_bytes(data[i:i + 16], "little") for i in range(0, len(data), 16)]


def name_of(session: bytes, number: int, prover: int) -> bytes:
    """`b`: the hash that names a proof."""
    return H("sealane 1 proof segment", session + struct.pack("<QB", number, prover))


def halves_of(key: bytes, name: bytes) -> list[bytes]:
    """Both halves of a seed, from the key of both verifiers."""
    stream = expand_secret(key, name, "proof: seed of the weights")
    return [stream.read(32), stream.read(32)]


def seed_of(halves: list[bytes]) -> tuple[bytes, bytes]:
    """A seed, and what its verifiers show of it."""
    both = H("sealane 1 proof seed", b"".join(halves), 64)
    return both[:32], both[32:]


class Challenges:
    """The challenges of a proof."""

    def __init__(self, proof: Argument) -> None:
        self.field = proof.field
        self.state = H("sealane 1 proof challenges", proof.name + proof.seed + proof.shape)

    def commit(self, commitment: bytes) -> None:
        """Bind those that follow to a commitment."""
        self.out = Stream("sealane 1 proof challenge", self.state, commitment, "")
        self.state = self.out.read(32)

    def draw(self, points: int) -> int:
        """The next one, which is none of so many points."""
        while True:
            drawn, = elements(self.field, self.out.read, 1)
            if drawn not in map(image, range(points)):
                return drawn


# ------------------------------------------------------------------------------------ levels


@dataclass(frozen=True)
class Field:
    """The elements of a proof: their sums and products; as numbers, of which each is a block."""

    add: Callable[[int, int], int]
    sub: Callable[[int, int], int]
    mul: Callable[[int, int], int]
    times: Callable[[int, Sequence[int]], list[int]]        # one with many
    dot: Callable[[Iterable[tuple[int, int]]], int]         # the sum of products of pairs
    drawn: Callable[[int], int | None]          # the element of a random block, if it has one
    read: Callable[[int], int]                  # that of a block of a message


def same(number: int) -> int:
    """Each block is an element."""
    return number


# What reads a first level: its shares and challenges.
First = Callable[[], tuple[list[int], list[int]]]
BINARY = Field(xor, xor, gf_mul, times, gf_sum, same, same)


def elements(field: Field, read: Callable[[int], bytes], count: int) -> list[int]:
    """Random elements, from bytes that are random; those that are none are drawn again behind."""
    found = [field.drawn(number) for number in blocks(read(16 * count))]
    return [elements(field, read, 1)[0] if element is None else element for element in found]


class Argument:
    """A proof of one inner product: what prover and verifiers do alike, whatever it is about."""

    def __init__(self, name: bytes, seed: bytes, field: Field, shape: bytes, length: int,
                 given: int = 0) -> None:
        self.name, self.seed, self.field, self.shape = name, seed, field, shape
        self.bound = H("sealane 1 proof draws", name + seed)
        twos = max(0, (length - 1).bit_length() - 1)            # levels of two
        self.counts = [given] * (given > 0) + [2] * twos + [4]  # values of each level
        self.values, self.levels = sum(self.counts), len(self.counts)

    def secret(self, key: bytes, label: str) -> Stream:
        """A stream of this proof."""
        return expand_secret(key, self.bound, "proof: " + label)

    def weigher(self, label: str) -> Callable[[int], list[int]]:
        """What draws weights that all know."""
        stream = Bulk(expand_public(self.seed, self.name, "proof: " + label))
        return lambda count: elements(self.field, lambda n: stream.draw(n // 16), count)

    def commitment(self, level: int, salt: bytes, shares: list[int]) -> bytes:
        """What binds the prover to a level."""
        data = self.bound + struct.pack("<I", level) + salt + b"".join(map(block, shares))
        return H("sealane 1 proof commitment", data)

    # What a proof is about. A side is what one verifier knows.

    def _first(self, left: Any, right: Any) -> list[int]:
        """The values of a level before those of two, if there is one."""
        raise NotImplementedError

    def _vector(self, side: Any, point: Sequence[int], left: bool) -> list[int]:
        """One side of the inner product, at the challenges of that level."""
        raise NotImplementedError

    def _claim(self, side: Any, constants: Any, first: First) -> tuple[int, Sequence[int]]:
        """A verifier's share of the inner product, and the challenges of a level before."""
        raise NotImplementedError

    def prove(self, keys: Sequence[bytes], left: Any, right: Any) -> tuple[bytes, bytes]:
        """The messages to the left and the right verifier."""
        field = self.field
        masks = [elements(field, self.secret(key, f"{side} mask").read, 1)[0]
                 for key, side in zip(keys, ("left", "right"))]
        salts, drawn = self.secret(keys[0], "salts"), self.secret(keys[1], "shares")
        challenges, shares, commitments = Challenges(self), list[int](), list[bytes]()

        def give(values: list[int]) -> None:
            own = [*map(field.sub, values, elements(field, drawn.read, len(values)))]
            commitments.append(self.commitment(len(commitments), salts.read(32), own))
            challenges.commit(commitments[-1])
            shares.extend(own)
        point: list[int] = []
        if self.counts[0] == len(GIVEN):
            give(self._first(left, right))
            point = [challenges.draw(SIDE), challenges.draw(SIDE)]
        f, g = self._vector(left, point, True), self._vector(right, point, False)
        while len(f) > 2:
            (f0, f1), (g0, g1) = halved(f), halved(g)
            slopes = map(field.sub, f1, f0), map(field.sub, g1, g0)
            give([field.dot(zip(f0, g0)), field.dot(zip(*slopes))])
            at = challenges.draw(2)
            f, g = line(field, f0, f1, at), line(field, g0, g1, at)
        p = [0] * 5
        for i, x in enumerate(masked(field, f, masks[0])):
            for j, y in enumerate(masked(field, g, masks[1])):
                p[i + j] = field.add(p[i + j], field.mul(x, y))
        give([p[0], *p[2:]])
        return b"".join(map(block, shares)), b"".join(commitments)

    def follow(self, key: bytes, side: Any, constants: Any, message: bytes, left: bool) -> bytes:
        """The answer of a verifier, from the key that it has in common with the prover."""
        field = self.field
        mask, = elements(field, self.secret(key, f"{'left' if left else 'right'} mask").read, 1)
        levels = (self._read_left if left else self._read_right)(key, message)
        challenges, commitments = Challenges(self), list[bytes]()

        def level() -> list[int]:
            shares, commitment = next(levels)
            commitments.append(commitment)
            challenges.commit(commitment)
            return shares

        def first() -> tuple[list[int], list[int]]:
            return level(), [challenges.draw(SIDE), challenges.draw(SIDE)]
        claim, point = self._claim(side, constants, first)
        v = self._vector(side, point, left)
        while len(v) > 2:
            shares = level()
            at = challenges.draw(2)
            claim = value_at(field, with_claim(field, claim, shares), at)
            v = line(field, *halved(v), at)
        shares = level()
        at = challenges.draw(2)
        answer = [value_at(field, coefficients, at) for coefficients in (
            masked(field, v, mask), with_claim(field, claim, shares))]
        return b"".join(map(block, answer)) + H("sealane 1 proof answer", b"".join(commitments))

    def _read_left(self, key: bytes, message: bytes) -> Iterator[tuple[list[int], bytes]]:
        shares, salts = blocks(message), self.secret(key, "salts")
        for i, count in enumerate(self.counts):
            yield ([*map(self.field.read, shares[:count])],
                   self.commitment(i, salts.read(32), shares[:count]))
            shares = shares[count:]

    def _read_right(self, key: bytes, message: bytes) -> Iterator[tuple[list[int], bytes]]:
        drawn = self.secret(key, "shares")
        for i, count in enumerate(self.counts):
            yield elements(self.field, drawn.read, count), message[32 * i:32 * i + 32]

    def accepts(self, one: bytes, other: bytes) -> bool:
        """Whether the answers of both verifiers agree."""
        field = self.field
        (x, p, *_), (y, q, *_) = ([*map(field.read, blocks(answer))] for answer in (one, other))
        return field.mul(x, y) == field.add(p, q) and one[32:] == other[32:]


# ------------------------------------------------------------------------------------- proof

Known = tuple[list[int], list[int]]             # rows, or the order: for each place, who comes
Side = tuple[list[int], Sequence[Known]]        # strings, and what is known of turns


class Turns:
    """Statements about rows in another order: their weights, and what one party knows of them."""

    def __init__(self, proof: Argument, rows: int, bits: int, count: int) -> None:
        self.rows, self.words = rows, (bits + 63) // 64
        draw = proof.weigher("weights of turns")
        (self.piece, *self.weights), self.places = draw(1 + count), draw(rows)

    def hash(self, row: int) -> int:
        """A row as an element: its pieces times powers of one."""
        total = 0
        for i in reversed(range(0, self.words, 2)):
            total = gf_mul(total, self.piece) ^ row >> 64 * i & ELEMENT
        return total

    def vector(self, known: Sequence[Known], left: bool) -> list[int]:
        """One side of the inner product."""
        found: list[int] = []
        for (rows, order), weight in zip(known, self.weights):
            side = [*map(self.hash, rows)] or [0] * self.rows
            for place, row in zip(self.places, order):
                side[row] = place
            found += times(weight, side) if left else side
        return found

    def claim(self, constants: Sequence[list[int]]) -> int:
        """The weighted sum of constants."""
        return gf_sum((weight, gf_sum(zip(self.places, map(self.hash, rows))))
                      for weight, rows in zip(self.weights, constants))


class Proof(Argument):
    """A proof of `n` ANDs, and that rows of so many bits have come into other orders."""

    def __init__(self, name: bytes, seed: bytes, n: int, turned: tuple[int, int] | None = None
                 ) -> None:
        self.n, self.groups = n, -(-n // GROUP) if n >= LEAST else 0
        rows, bits = turned or (0, 0)
        shape = struct.pack("<BBQ", BITS, PRODUCTS, n) + TURNS * struct.pack(
            "<BBQQ", 128, 1, rows, (bits + 63) // 64) * (turned is not None)
        super().__init__(name, seed, BINARY, shape,
                         PRODUCTS * (self.groups * LANES or n) + TURNS * rows,
                         len(GIVEN) * (self.groups > 0))
        self.weights = self.weigher("weights")(self.groups * LANES // BLOCK or n)
        self.turns = Turns(self, rows, bits, TURNS) if turned else None

    def _vector(self, side: Side, point: Sequence[int], left: bool) -> list[int]:
        strings, known = side
        behind = self.turns.vector(known, left) if self.turns else []
        if not self.groups:
            weights = self.weights if left else [1] * self.n
            return [w * (string >> i & 1)
                    for string in strings for i, w in enumerate(weights)] + behind
        values = [folded(positions(string, self.groups), LANES * self.groups, point)
                  for string in strings]
        found: list[int] = []
        for group in range(self.groups):
            for operand in values:
                lanes = operand[LANES * group:LANES * (group + 1)]
                found += self._lanes(lanes, group) if left else lanes
        return found + behind

    def _lanes(self, lanes: list[int], group: int) -> list[int]:
        """The elements of a group times the weights of their lanes."""
        found: list[int] = []
        for i in range(LANES // BLOCK):
            moved = [value << j for j, value in enumerate(lanes[BLOCK * i:BLOCK * (i + 1)])]
            for _ in range(2):
                moved = [value & ELEMENT ^ h ^ h << 1 ^ h << 2 ^ h << 7
                         for value in moved for h in [value >> BLOCK]]
            found += times(self.weights[LANES // BLOCK * group + i], moved)
        return found

    def _first(self, left: Side, right: Side) -> list[int]:
        """The values of the grid."""
        sides = [[whole(positions(string, self.groups)) for string in side]
                 for side, _ in (left, right)]
        planes = [reduce(xor, (a[point][m] & b[point][n] for a, b in zip(*sides)
                               for m, n in bit), 0) for bit in PRODUCT for point in GIVEN]
        sums, count = weigh(self.weights, planes), len(GIVEN)
        parts = [times(IMAGES[k], sums[count * k:count * (k + 1)]) for k in range(4)]
        return [reduce(xor, values) for values in zip(*parts)]

    def _claim(self, side: Side, constants: tuple[int, Sequence[list[int]]],
               first: First) -> tuple[int, Sequence[int]]:
        """The weighted sum of constants: of all, or at each position of the grid."""
        string, rows = constants
        claim = self.turns.claim(rows) if self.turns else 0
        if not self.groups:
            ones = (w for i, w in enumerate(self.weights) if string >> i & 1)
            return reduce(xor, ones, claim), []
        own = weigh(self.weights, positions(string, self.groups))
        given, point = first()
        (rows_at, columns_at) = (lagrange(POINTS, element) for element in point)
        places = [divmod(i, SIDE) for i in range(SIDE * SIDE)] + GIVEN
        return claim ^ gf_sum((gf_mul(rows_at[r], columns_at[c]), share)
                              for (r, c), share in zip(places, own + given)), point


# ------------------------------------------------------------------------------- polynomials


def halved(v: list[int]) -> tuple[list[int], list[int]]:
    """Both halves of a vector."""
    v, half = v + [0] * (len(v) % 2), (len(v) + 1) // 2
    return v[:half], v[half:]


def line(field: Field, first: list[int], second: list[int], at: int) -> list[int]:
    """The line through both halves."""
    slope = field.times(at, [*map(field.sub, second, first)])
    return [*map(field.add, first, slope)]


def masked(field: Field, v: list[int], mask: int) -> list[int]:
    """The polynomial of the last level."""
    first, second = (v + [0])[:2]
    return [first, field.sub(field.sub(second, first), mask), mask]


def with_claim(field: Field, claim: int, given: list[int]) -> list[int]:
    """All coefficients of the polynomial of a level: at 0 and at 1 it sums to the claim."""
    return [given[0], reduce(field.sub, [given[0], *given], claim), *given[1:]]


def value_at(field: Field, coefficients: list[int], at: int) -> int:
    """The value of a polynomial."""
    total = 0
    for coefficient in reversed(coefficients):
        total = field.add(field.mul(total, at), coefficient)
    return total
