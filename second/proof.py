"""One proof of chapter 19: a role shows both others that all that it sent was right.

A string of bits is a number, statement 0 its lowest bit; so are planes of many lanes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from functools import reduce
from operator import xor

from primitives import H, gf_mul, gf_sum, spread
from streams import Bulk, Stream, expand_public, expand_secret

SIDE, POINTS, LANES, BLOCK = 8, 15, 512, 128    # of a grid; lanes of a group, of a block of lanes
GROUP, LEAST = SIDE * SIDE * LANES, 4096        # statements of a group; fewest that have a grid
BITS, PRODUCTS = 1, 2                           # of the kind of an AND
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


def folded(planes: list[int], lanes: int, point: tuple[int, int]) -> list[int]:
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

    def __init__(self, proof: Proof) -> None:
        kind = struct.pack("<BBQ", BITS, PRODUCTS, proof.n)
        self.state = H("sealane 1 proof challenges", proof.name + proof.seed + kind)

    def commit(self, commitment: bytes) -> None:
        """Bind those that follow to a commitment."""
        self.out = Stream("sealane 1 proof challenge", self.state, commitment, "")
        self.state = self.out.read(32)

    def draw(self, points: int) -> int:
        """The next one, which is none of so many points."""
        while (drawn := blocks(self.out.read(16))[0]) in map(image, range(points)):
            pass
        return drawn


# ------------------------------------------------------------------------------------- proof


class Proof:
    """A proof of `n` ANDs: what prover and verifiers do alike."""

    def __init__(self, name: bytes, seed: bytes, n: int) -> None:
        self.name, self.seed, self.n = name, seed, n
        self.groups = -(-n // GROUP) if n >= LEAST else 0
        self.bound = H("sealane 1 proof draws", name + seed)
        count = self.groups * LANES // BLOCK or n
        self.weights = blocks(Bulk(expand_public(seed, name, "proof: weights")).draw(count))
        length = PRODUCTS * (self.groups * LANES or n)
        self.twos = (length - 1).bit_length() - 1               # levels of two
        self.values = len(GIVEN) * (self.groups > 0) + 2 * self.twos + 4
        self.levels = (self.groups > 0) + self.twos + 1

    def secret(self, key: bytes, label: str) -> Stream:
        """A stream of this proof."""
        return expand_secret(key, self.bound, "proof: " + label)

    def commitment(self, level: int, salt: bytes, shares: list[int]) -> bytes:
        """What binds the prover to a level."""
        data = self.bound + struct.pack("<I", level) + salt + b"".join(map(block, shares))
        return H("sealane 1 proof commitment", data)

    def _vector(self, strings: list[int], point: tuple[int, int] | None, left: bool) -> list[int]:
        """One side of the inner product."""
        if point is None:
            weights = self.weights if left else [1] * self.n
            return [w * (string >> i & 1) for string in strings for i, w in enumerate(weights)]
        values = [folded(positions(string, self.groups), LANES * self.groups, point)
                  for string in strings]
        found: list[int] = []
        for group in range(self.groups):
            for operand in values:
                lanes = operand[LANES * group:LANES * (group + 1)]
                found += self._lanes(lanes, group) if left else lanes
        return found

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

    def _given(self, left: list[int], right: list[int]) -> list[int]:
        """The values of the grid."""
        sides = [[whole(positions(string, self.groups)) for string in side]
                 for side in (left, right)]
        planes = [reduce(xor, (a[point][m] & b[point][n] for a, b in zip(*sides)
                               for m, n in bit), 0) for bit in PRODUCT for point in GIVEN]
        sums, count = weigh(self.weights, planes), len(GIVEN)
        parts = [times(IMAGES[k], sums[count * k:count * (k + 1)]) for k in range(4)]
        return [reduce(xor, values) for values in zip(*parts)]

    def prove(self, keys: Sequence[bytes], left: list[int], right: list[int]
              ) -> tuple[bytes, bytes]:
        """The messages to the left and the right verifier."""
        masks = [blocks(self.secret(key, f"{side} mask").read(16))[0]
                 for key, side in zip(keys, ("left", "right"))]
        salts, drawn = self.secret(keys[0], "salts"), self.secret(keys[1], "shares")
        challenges, shares, commitments = Challenges(self), list[int](), list[bytes]()

        def give(values: list[int]) -> None:
            own = [x ^ y for x, y in zip(values, blocks(drawn.read(16 * len(values))))]
            commitments.append(self.commitment(len(commitments), salts.read(32), own))
            challenges.commit(commitments[-1])
            shares.extend(own)
        point = None
        if self.groups:
            give(self._given(left, right))
            point = challenges.draw(SIDE), challenges.draw(SIDE)
        f, g = self._vector(left, point, True), self._vector(right, point, False)
        while len(f) > 2:
            (f0, f1), (g0, g1) = halved(f), halved(g)
            give([gf_sum(zip(f0, g0)), gf_sum(zip(added(f0, f1), added(g0, g1)))])
            at = challenges.draw(2)
            f, g = line(f0, f1, at), line(g0, g1, at)
        p = [0] * 5
        for i, x in enumerate(masked(f, masks[0])):
            for j, y in enumerate(masked(g, masks[1])):
                p[i + j] ^= gf_mul(x, y)
        give([p[0], *p[2:]])
        return b"".join(map(block, shares)), b"".join(commitments)

    def _claim(self, constants: int) -> list[int]:
        """The weighted sum of constants: of all, or at each position of the grid."""
        if self.groups:
            return weigh(self.weights, positions(constants, self.groups))
        return [reduce(xor, (w for i, w in enumerate(self.weights) if constants >> i & 1), 0)]

    def follow(self, key: bytes, operands: list[int], constants: int, message: bytes, left: bool
               ) -> bytes:
        """The answer of a verifier, from the key that it has in common with the prover."""
        mask = blocks(self.secret(key, f"{'left' if left else 'right'} mask").read(16))[0]
        levels = (self._read_left if left else self._read_right)(key, message)
        challenges, commitments, point = Challenges(self), list[bytes](), None

        def level() -> list[int]:
            shares, commitment = next(levels)
            commitments.append(commitment)
            challenges.commit(commitment)
            return shares
        own, claim = self._claim(constants), 0
        if self.groups:
            shares = own + level()
            point = challenges.draw(SIDE), challenges.draw(SIDE)
            rows, columns = (lagrange(POINTS, at) for at in point)
            places = [divmod(i, SIDE) for i in range(SIDE * SIDE)] + GIVEN
            claim = gf_sum((gf_mul(rows[r], columns[c]), share)
                           for (r, c), share in zip(places, shares))
        else:
            claim, = own
        v = self._vector(operands, point, left)
        while len(v) > 2:
            shares = level()
            at = challenges.draw(2)
            claim, v = value_at(with_claim(claim, shares), at), line(*halved(v), at)
        shares = level()
        at = challenges.draw(2)
        answer = value_at(masked(v, mask), at), value_at(with_claim(claim, shares), at)
        return b"".join(map(block, answer)) + H("sealane 1 proof answer", b"".join(commitments))

    def _counts(self) -> list[int]:
        """The number of values of each level."""
        return [len(GIVEN)] * (self.groups > 0) + [2] * self.twos + [4]

    def _read_left(self, key: bytes, message: bytes) -> Iterator[tuple[list[int], bytes]]:
        shares, salts = blocks(message), self.secret(key, "salts")
        for i, count in enumerate(self._counts()):
            yield shares[:count], self.commitment(i, salts.read(32), shares[:count])
            shares = shares[count:]

    def _read_right(self, key: bytes, message: bytes) -> Iterator[tuple[list[int], bytes]]:
        drawn = self.secret(key, "shares")
        for i, count in enumerate(self._counts()):
            yield blocks(drawn.read(16 * count)), message[32 * i:32 * i + 32]


def accepts(one: bytes, other: bytes) -> bool:
    """Whether the answers of both verifiers agree."""
    (x, p, *_), (y, q, *_) = blocks(one), blocks(other)
    return gf_mul(x, y) == p ^ q and one[32:] == other[32:]


# ------------------------------------------------------------------------------- polynomials


def added(one: list[int], other: list[int]) -> list[int]:
    """Sums of elements."""
    return [x ^ y for x, y in zip(one, other)]


def halved(v: list[int]) -> tuple[list[int], list[int]]:
    """Both halves of a vector."""
    v, half = v + [0] * (len(v) % 2), (len(v) + 1) // 2
    return v[:half], v[half:]


def line(first: list[int], second: list[int], at: int) -> list[int]:
    """The line through both halves."""
    return added(first, times(at, added(first, second)))


def masked(v: list[int], mask: int) -> list[int]:
    """The polynomial of the last level."""
    return [v[0], v[0] ^ v[1] ^ mask, mask]


def with_claim(claim: int, given: list[int]) -> list[int]:
    """All coefficients of the polynomial of a level."""
    return [given[0], reduce(xor, given[1:], claim), *given[1:]]


def value_at(coefficients: list[int], at: int) -> int:
    """The value of a polynomial."""
    total = 0
    for coefficient in reversed(coefficients):
        total = gf_mul(total, at) ^ coefficient
    return total
