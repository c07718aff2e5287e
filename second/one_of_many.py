"""Transfers of one of many strings (chapter 17), from leaves on: both sides of an extension.

Blocks and columns are numbers, as in `transfers.py`.
"""

from __future__ import annotations

import struct
from functools import reduce
from itertools import accumulate
from operator import xor

from correlations import encrypted, join, sigma
from errors import need
from link import Mesh
from primitives import Aes128, H, gf_mul
from streams import Bulks
from transfers import BLOCK, PIECE, column_hash, keys_of_leaves, sums_by_bit, transpose

FOLD = 0x9E3779B97F4A7C15F39CC0605CEDC834       # `a` of the rows
TREES = {2: {4: 54, 6: 36, 8: 27}, 4: {4: 70, 6: 45, 8: 37}, 8: {4: 81, 6: 51, 8: 44}}


def word(b: int, k: int, symbols: list[int]) -> list[int]:
    """The word of a choice: of bits, columns or hashes."""
    taps = {2: 3, 4: 9}.get(b, 0xF9 if k == 4 else 0xF3)
    for i in range(b, TREES[b][k]):
        symbols = [*symbols, reduce(xor, (symbols[i - b + j] for j in range(b) if taps >> j & 1))]
    return symbols


def fold(row: int) -> int:
    """L of chapter 17."""
    return row & BLOCK ^ gf_mul(FOLD, row >> 128 & BLOCK ^ gf_mul(FOLD, row >> 256))


def large_key(j: int, index: int, keys: list[bytes]) -> bytes:
    """The key of an index of several bytes."""
    return H("sealane 7 ot large", struct.pack("<2Q", j, index) + b"".join(keys), 16)


class OneOfMany:
    """What both sides have, from the leaves that each knows."""

    def __init__(self, mesh: Mesh, ends: tuple[int, int], session: bytes, b: int, k: int,
                 leaves: list[list[bytes]], delta: int = 0) -> None:
        self.mesh, self.ends, self.b, self.k, self.delta = mesh, ends, b, k, delta
        self.sends = mesh.me == ends[0]
        self.peer = ends[self.sends]
        self.width = len(leaves[0])
        self.bulks = Bulks(*keys_of_leaves(session, tuple(leaf for tree in leaves
                                                          for leaf in tree)))
        data = session + bytes([*ends, b, k])
        self.seed = int.from_bytes(H("sealane 7 ot one of many", data, 16), "little")
        self.calls = 0

    def keys(self, call: int, places: list[tuple[int, int, int]], rows: list[int]) -> list[int]:
        """Keys of (block, transfer, choice), by their folded rows."""
        keys = b""
        for number, j, x in places:
            tweak = number | (call & 0xFFFFFFFF) << 32 | j << 64 | ((call >> 32 << 12) + x) << 96
            keys += (self.seed ^ tweak).to_bytes(16, "little")
        mixed = [sigma(row) for row in rows]
        return encrypted(Aes128(keys), mixed, mixed)

    def _draw(self, width: int) -> list[list[int]]:
        """The next blocks of all leaves, tree by tree."""
        drawn = [int.from_bytes(part, "little") for part in self.bulks.draw(width)]
        return [drawn[i:i + self.width] for i in range(0, len(drawn), self.width)]

    def _piece(self, width: int, drawn: list[list[int]]) -> list[int]:
        """Run a piece; returns its columns, those of the choices last."""
        first = 1 if self.sends else 0
        columns = [part for tree in drawn for part in sums_by_bit(tree, first, self.k)]
        if self.sends:
            for i in range(self.b, len(drawn)):
                d = int.from_bytes(self.mesh.read(self.peer, 16 * width), "little")
                for c in range(i * self.k, (i + 1) * self.k):
                    columns[c] ^= d if self.delta >> c & 1 else 0
            return columns
        totals = [reduce(xor, tree) for tree in drawn]
        for u, c in [*zip(totals, word(self.b, self.k, totals[:self.b]))][self.b:]:
            self.mesh.write(self.peer, (u ^ c).to_bytes(16 * width, "little"))
        return columns + totals[:self.b]

    def extend(self, n: int) -> tuple[list[int], list[int]]:
        """Make transfers: folded rows, and choices at R."""
        size = self.k * TREES[self.b][self.k]
        columns, factors = [0] * (size + (0 if self.sends else self.b)), list[int]()
        blocks, ends = (n + 127) // 128 + 1, self.ends[::-1]
        for first in range(0, blocks, PIECE):
            width = min(PIECE, blocks - first)
            parts = self._piece(width, self._draw(width))
            columns = [column | part << 128 * first for column, part in zip(columns, parts)]
            key = int.from_bytes(H("sealane 6 ot check key", self.mesh.digest(*ends), 16), "little")
            factors += accumulate([key] * width, gf_mul)
        factors[0] = 1
        self._check([column_hash(column, factors) for column in columns], size)
        rows = transpose([column >> 128 for column in columns], n)
        self.calls += 1
        return [fold(row & (1 << size) - 1) for row in rows], [row >> size for row in rows]

    def _check(self, hashes: list[int], size: int) -> None:
        """The answer of R, and what S says to it."""
        if self.sends:
            self.mesh.check_digest(self.peer)
        else:
            self.mesh.send_digest(self.peer)
        digest, values = self.mesh.digest(*self.ends[::-1]), hashes[:size]
        if self.sends:
            told = self.mesh.read(self.peer, 16 * self.b)
            symbols = [int.from_bytes(told[i:i + 16], "little") for i in range(0, len(told), 16)]
            for c, h in enumerate(word(self.b, self.k, symbols)[c // self.k]
                                  for c in range(size)):
                values[c] ^= h if self.delta >> c & 1 else 0
        else:
            for value in hashes[size:]:
                self.mesh.write(self.peer, value.to_bytes(16, "little"))
        data = digest + b"".join(value.to_bytes(16, "little") for value in values)
        proof = H("sealane 6 ot check values", data)
        if self.sends:
            need(self.mesh.read(self.peer, 32) == proof, "the check fails", "peer-deviated")
        else:
            self.mesh.write(self.peer, proof)

    def request(self, chosen: list[int]) -> tuple[list[int], list[int]]:
        """Make transfers with given choices; rows, and random choices."""
        rows, x = self.extend(len(chosen))
        self.mesh.write(self.peer, join([a ^ y for a, y in zip(x, chosen)],
                                        [self.b] * len(chosen)))
        return rows, x

    def finish(self, made: tuple[list[int], list[int]], chosen: list[int], length: int
               ) -> list[int]:
        """Read the answer of S: the blocks of the chosen strings."""
        found = []
        for j, (row, x, y) in enumerate(zip(*made, chosen)):
            data = self.mesh.read(self.peer, 16 * length << self.b)[16 * length * y:]
            keys = self.keys(self.calls - 1, [(i, j, x) for i in range(length)], [row] * length)
            found += [int.from_bytes(data[16 * i:16 * i + 16], "little") ^ key
                      for i, key in enumerate(keys)]
        return found

    def answer(self, strings: list[int], length: int) -> None:
        """Send strings, all of each transfer."""
        b, k, many = self.b, self.k, length << self.b
        rows, _ = self.extend(len(strings) // many)
        told = int.from_bytes(self.mesh.read(self.peer, (len(rows) * b + 7) // 8), "little")
        offsets = [fold(sum(bit * ((1 << k) - 1) << i * k for i, bit in enumerate(
            word(b, k, [x >> i & 1 for i in range(b)]))) & self.delta) for x in range(1 << b)]
        for j, row in enumerate(rows):
            shift = told >> j * b & (1 << b) - 1
            places = [(i, j, c ^ shift) for c in range(1 << b) for i in range(length)]
            keys = self.keys(self.calls - 1, places, [row ^ offsets[x] for _, _, x in places])
            own = strings[j * many:(j + 1) * many]
            self.mesh.write(self.peer, b"".join((s ^ key).to_bytes(16, "little")
                                                for s, key in zip(own, keys)))
