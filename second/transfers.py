"""Correlated oblivious transfers with given choices, both sides (chapter 9).

Blocks and columns are numbers: bit i of a string of bits is bit i of its number.
"""

from __future__ import annotations

import struct
from functools import reduce
from itertools import accumulate
from operator import xor

from curves import BASE, L, Point, add, multiply, ristretto_decode, ristretto_encode, ristretto_map
from errors import Fault, need
from link import Mesh
from primitives import H, gf_mul, gf_sum, xor_bytes
from streams import Bulks, Coins

BASES, PIECE = 128, 32                          # base transfers; blocks of a piece
BLOCK = (1 << 128) - 1                          # the mask of a block
SUM = "ot: sum of nodes"


def decode_point(data: bytes, peer: int) -> Point:
    """Decode a point of a peer, which must not be the identity."""
    point = ristretto_decode(data)
    if point is None or not any(data):
        raise Fault(f"party {peer} sent a malformed point", "protocol-broken")
    return point


def transpose(columns: list[int], rows: int) -> list[int]:
    """Return rows of bits: bit c of row j is bit j of column c."""
    mask = (1 << rows) - 1
    digits = [format(column & mask, f"0{rows}b") for column in reversed(columns)]
    return [int("".join(row), 2) for row in zip(*digits)][::-1]


def sums_by_bit(blocks: list[int], first: int, bits: int) -> list[int]:
    """Add up, for each bit, the blocks whose number has it; the first one has number `first`."""
    return [reduce(xor, (block for y, block in enumerate(blocks, first) if y >> bit & 1))
            for bit in range(bits)]


def column_hash(column: int, factors: list[int]) -> int:
    """Hash a column: the sum of its blocks times their factors."""
    return gf_sum((column >> 128 * i & BLOCK, factor) for i, factor in enumerate(factors))


def halves(data: bytes) -> list[bytes]:
    """Cut into pieces of 32 bytes."""
    return [data[i:i + 32] for i in range(0, len(data), 32)]


# ----------------------------------------------------------------------------------- trees


def expanded(session: bytes, seed: bytes, label: str, n: int = 32) -> bytes:
    """Expand the seed of a node."""
    return H("sealane 3 seed expanded", seed + session + label.encode(), n)


def children(session: bytes, node: bytes) -> list[bytes]:
    """Return both children of a node."""
    return halves(expanded(session, node, "ot: children", 64))


def proofs_of(session: bytes, leaves: list[bytes]) -> list[bytes]:
    """Return what leaves are checked by."""
    return [expanded(session, leaf, "ot: check of a tree") for leaf in leaves]


def tree_hash(session: bytes, proofs: list[bytes]) -> bytes:
    """Hash what all leaves of a tree are checked by."""
    return H("sealane 6 ot tree", session + b"".join(proofs))


def deal(session: bytes, zeros: tuple[bytes, ...], ones: tuple[bytes, ...]
         ) -> tuple[list[bytes], bytes]:
    """Make a tree from the keys of its levels; returns its leaves and its message."""
    nodes, message = [ones[0], zeros[0]], b""
    for zero, one in zip(zeros[1:], ones[1:]):
        left, right = zip(*(children(session, node) for node in nodes))
        message += reduce(xor_bytes, left, expanded(session, one, SUM))
        message += reduce(xor_bytes, right, expanded(session, zero, SUM))
        nodes = [*left, *right]
    proofs = proofs_of(session, nodes)
    return nodes, message + reduce(xor_bytes, proofs) + tree_hash(session, proofs)


def choose(session: bytes, missing: int, keys: tuple[bytes, ...], message: tuple[bytes, ...]
           ) -> tuple[list[bytes], bool]:
    """Take a tree but for leaf number `missing`; returns its leaves, and whether its check holds.

    Node j has the number j ^ missing, so the missing one is node 0, which has no entry.
    """
    nodes = [keys[0]]
    for level in range(1, len(keys)):
        bit = missing >> level & 1
        pairs = [children(session, node) for node in nodes]
        other = [pair[1 ^ bit] for pair in pairs]
        lost = xor_bytes(message[2 * level - 1 - bit], expanded(session, keys[level], SUM))
        nodes = [pair[bit] for pair in pairs] + [reduce(xor_bytes, other, lost)] + other
    proofs = proofs_of(session, nodes)
    proofs = [reduce(xor_bytes, proofs, message[-2]), *proofs]
    found = tree_hash(session, [proofs[y ^ missing] for y in range(len(proofs))])
    return nodes, found == message[-1]


def keys_of_leaves(session: bytes, leaves: tuple[bytes, ...]) -> tuple[bytes, bytes]:
    """Return the keys and the starts of the bulk streams of leaves."""
    drawn = halves(b"".join(expanded(session, leaf, "ot: leaf") for leaf in leaves))
    return b"".join(part[:16] for part in drawn), b"".join(part[16:] for part in drawn)


# ----------------------------------------------------------------------------------- both sides


class Transfers:
    """What both sides have: trees, whose leaves are bulk streams, and hashes."""

    def __init__(self, mesh: Mesh, peer: int, session: bytes, k: int, sends: bool) -> None:
        self.mesh, self.peer, self.session, self.k = mesh, peer, session, k
        self.ends = (peer, mesh.me) if sends else (mesh.me, peer)       # receiver, sender
        self.ids = session + bytes(self.ends)
        self.trees: list[list[bytes]] = []
        self.bulks: Bulks | None = None

    def _blinding(self, i: int, choice: int, other: bytes) -> Point:
        """Return P of chapter 9."""
        data = self.ids + struct.pack("<QB", i, choice) + other
        return ristretto_map(H("sealane 6 ot base point", data, 64))

    def _base_key(self, transcript: bytes, i: int, choice: int, point: Point) -> bytes:
        """Return K of chapter 9."""
        data = transcript + struct.pack("<QB", i, choice) + ristretto_encode(point)
        return H("sealane 6 ot base key", data)

    def _transcript(self, point: bytes, points: bytes) -> bytes:
        return H("sealane 6 ot base transcript", self.ids + point + points)

    def _add_tree(self, leaves: list[bytes]) -> None:
        self.trees.append(leaves)

    def _draw(self, width: int) -> list[list[int]]:
        """The next blocks of all leaves, tree by tree."""
        if self.bulks is None:
            leaves = tuple(leaf for leaves in self.trees for leaf in leaves)
            self.bulks = Bulks(*keys_of_leaves(self.session, leaves))
        drawn = iter(self.bulks.draw(width))
        return [[int.from_bytes(next(drawn), "little") for _ in leaves] for leaves in self.trees]

    def _piece(self, width: int, drawn: list[list[int]]) -> list[int]:
        """Run a piece; returns its part of all columns, and of the choices if it has them."""
        raise NotImplementedError

    def _run_pieces(self, n: int) -> tuple[list[int], list[int]]:
        """Run all pieces of an extension; returns its rows, and the hashes of its columns."""
        columns, factors = [0] * (BASES + 1), []
        blocks = (n + 127) // 128 + 1
        for first in range(0, blocks, PIECE):
            width = min(PIECE, blocks - first)
            parts = self._piece(width, self._draw(width))
            columns = [column | part << 128 * first for column, part in zip(columns, parts)]
            factors += self._factors(first, width)
        rows = transpose([column >> 128 for column in columns], n)
        return rows, [column_hash(column, factors) for column in columns]

    def _factors(self, first: int, width: int) -> list[int]:
        """Return the factors of the blocks of a piece, after its corrections."""
        key = H("sealane 6 ot check key", self.mesh.digest(*self.ends), 16)
        factors = [*accumulate([int.from_bytes(key, "little")] * width, gf_mul)]
        return factors if first else [1, *factors[1:]]

    def _check_values(self, digest: bytes, hashes: list[int]) -> bytes:
        data = digest + b"".join(value.to_bytes(16, "little") for value in hashes)
        return H("sealane 6 ot check values", data)


class Receiver(Transfers):
    """The side R, which has a choice for each transfer."""

    def begin(self, coins: Coins) -> None:
        """Write the point of the base transfers."""
        stream = coins.secret("ot: scalar of the sender")
        self.scalar = int.from_bytes(stream.read(64), "little") % L
        self.point = ristretto_encode(multiply(self.scalar, BASE, True))
        self.mesh.write(self.peer, self.point)

    def finish(self) -> None:
        """Read the other points, write the trees and flush."""
        points = self.mesh.read(self.peer, 64 * BASES)
        self.mesh.check_digest(self.peer)
        keys = self._base_keys(points)
        for first in range(0, 2 * BASES, 2 * self.k):
            keys_of_tree = keys[first:first + 2 * self.k]
            self.mesh.write(self.peer, self._deal(keys_of_tree[::2], keys_of_tree[1::2]))
        self.mesh.send_digest(self.peer)
        self.mesh.flush()

    def _base_keys(self, points: bytes) -> list[bytes]:
        """Return both keys of each base transfer."""
        encoded = halves(points)
        decoded = [decode_point(data, self.peer) for data in encoded]
        transcript, keys = self._transcript(self.point, points), []
        for place, point in enumerate(decoded):
            i, choice = divmod(place, 2)
            own = add(point, self._blinding(i, choice, encoded[place ^ 1]))
            keys.append(self._base_key(transcript, i, choice, multiply(self.scalar, own)))
        return keys

    def _deal(self, zeros: list[bytes], ones: list[bytes]) -> bytes:
        """Make a tree from the keys of its levels; returns its message."""
        leaves, message = deal(self.session, tuple(zeros), tuple(ones))
        self._add_tree(leaves)
        return message

    def extend(self, n: int) -> tuple[list[int], list[int]]:
        """Make n transfers with random choices; returns a bit and a block for each."""
        rows, hashes = self._run_pieces(n)
        self.mesh.send_digest(self.peer)
        digest = self.mesh.digest(*self.ends)
        self.mesh.write(self.peer, hashes.pop().to_bytes(16, "little"))
        self.mesh.write(self.peer, self._check_values(digest, hashes))
        return [row >> BASES for row in rows], [row & BLOCK for row in rows]

    def _piece(self, width: int, drawn: list[list[int]]) -> list[int]:
        """Run a piece: write its corrections; the choices are the last column."""
        choices, *totals = [reduce(xor, blocks) for blocks in drawn]
        for total in totals:
            self.mesh.write(self.peer, (total ^ choices).to_bytes(16 * width, "little"))
        return [part for blocks in drawn for part in sums_by_bit(blocks, 0, self.k)] + [choices]

    def transfer(self, bits: list[int]) -> list[int]:
        """Make a transfer for each of the given choices."""
        if not bits:
            return []
        choices, rows = self.extend(len(bits))
        self.give(choices, bits)
        return rows

    def give(self, choices: list[int], bits: list[int]) -> None:
        """Turn random choices into given ones."""
        flips = sum((x ^ bit) << j for j, (x, bit) in enumerate(zip(choices, bits)))
        self.mesh.write(self.peer, flips.to_bytes((len(bits) + 7) // 8, "little"))


class Sender(Transfers):
    """The side S, which has the offset delta."""

    def begin(self, coins: Coins, delta: int) -> None:
        """Write the points of the base transfers, and a digest that is not flushed."""
        self.delta = delta
        self.scalars, self.points = self._send_points(coins)
        self.mesh.send_digest(self.peer)

    def finish(self) -> None:
        """Read the other point, and take the trees."""
        data = self.mesh.read(self.peer, 32)
        point = decode_point(data, self.peer)
        transcript, delta = self._transcript(data, self.points), self.delta
        keys = [self._base_key(transcript, i, delta >> i & 1, multiply(scalar, point, True))
                for i, scalar in enumerate(self.scalars)]
        message = halves(self.mesh.read(self.peer, 64 * BASES))
        self.mesh.check_digest(self.peer)
        verdicts = [self._choose(delta >> first, keys[first:first + self.k],
                                 message[2 * first:2 * (first + self.k)])
                    for first in range(0, BASES, self.k)]
        self._need_check(all(verdicts), "trees")

    def _send_points(self, coins: Coins) -> tuple[list[int], bytes]:
        """Write the points of all base transfers; returns the scalars, and what was sent."""
        stream = coins.secret("ot: scalars and points of the receiver")
        scalars, points = [], b""
        for i in range(BASES):
            scalar, choice = int.from_bytes(stream.read(64), "little") % L, self.delta >> i & 1
            other = ristretto_encode(ristretto_map(stream.read(64)))
            x, y, z, t = self._blinding(i, choice, other)
            own = ristretto_encode(add(multiply(scalar, BASE, True), (-x, y, z, -t)))
            points += other + own if choice else own + other
            scalars.append(scalar)
            if i % 16 == 15:
                self.mesh.write(self.peer, points[-1024:])
                self.mesh.flush()
        return scalars, points

    def _choose(self, delta: int, keys: list[bytes], message: list[bytes]) -> bool:
        """Take a tree but for leaf number `delta mod 2^k`; returns whether its check holds."""
        missing = delta % (1 << len(keys))
        leaves, holds = choose(self.session, missing, tuple(keys), tuple(message))
        self._add_tree(leaves)
        return holds

    def extend(self, n: int) -> list[int]:
        """Make n transfers; returns a block for each."""
        rows, hashes = self._run_pieces(n)
        self.mesh.check_digest(self.peer)
        digest = self.mesh.digest(*self.ends)
        choices = int.from_bytes(self.mesh.read(self.peer, 16), "little")
        hashes = [value ^ (choices if self.delta >> c & 1 else 0) for c, value in enumerate(hashes)]
        values = self._check_values(digest, hashes)
        self._need_check(self.mesh.read(self.peer, 32) == values, "extension")
        return rows

    def _piece(self, width: int, drawn: list[list[int]]) -> list[int]:
        """Run a piece: read its corrections, of all trees but the first."""
        columns: list[int] = []
        for tree, blocks in enumerate(drawn):
            data = self.mesh.read(self.peer, 16 * width) if tree else b""
            correction = int.from_bytes(data, "little")
            for part in sums_by_bit(blocks, 1, self.k):
                columns.append(part ^ (correction if self.delta >> len(columns) & 1 else 0))
        return columns

    def transfer(self, n: int) -> list[int]:
        """Make n transfers with choices that the receiver gives."""
        if not n:
            return []
        return self.given(self.extend(n))

    def given(self, rows: list[int]) -> list[int]:
        """Turn the blocks of random choices into those of given ones."""
        flips = int.from_bytes(self.mesh.read(self.peer, (len(rows) + 7) // 8), "little")
        return [row ^ (self.delta if flips >> j & 1 else 0) for j, row in enumerate(rows)]

    def _need_check(self, holds: bool, what: str) -> None:
        """End the run if a check fails: the peer may know bits of delta, so it is dropped."""
        self.delta = self.delta if holds else 0
        need(holds, f"party {self.peer} deviated: the check of its {what}", "peer-deviated")
