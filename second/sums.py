"""A proof of chapter 19 about integers modulo p = 2^61 - 1, in the extension of degree 2.

An element is a number: its low 64 bits are the part of 1, the others that of i, where i^2 = -1.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from proof import Argument, Field, First

P, WORD = (1 << 61) - 1, (1 << 64) - 1
Planes = list[list[int]]                        # an integer of each statement, row or column


def joined(real: int, imaginary: int) -> int:
    """An element of two integers."""
    return real % P | imaginary % P << 64


def add(x: int, y: int) -> int:
    """The sum of two elements."""
    return joined((x & WORD) + (y & WORD), (x >> 64) + (y >> 64))


def sub(x: int, y: int) -> int:
    """Their difference."""
    return joined((x & WORD) - (y & WORD), (x >> 64) - (y >> 64))


def dot(pairs: Iterable[tuple[int, int]]) -> int:
    """The sum of products of pairs."""
    real = imaginary = 0
    for x, y in pairs:
        a, b, c, d = x & WORD, x >> 64, y & WORD, y >> 64
        real, imaginary = real + a * c - b * d, imaginary + a * d + b * c
    return joined(real, imaginary)


def mul(x: int, y: int) -> int:
    """The product of two elements."""
    return dot([(x, y)])


def drawn(block: int) -> int | None:
    """The element of a random block, if it has one."""
    parts = block & P, block >> 64 & P
    return None if P in parts else joined(*parts)


PRIME = Field(add, sub, mul, lambda x, many: [mul(x, y) for y in many], dot, drawn,
              lambda block: joined(block & WORD, block >> 64))


@dataclass
class Batch:
    """Statements of one form at one party, of a step: one a lane, or one a row and column.

    Operands are `lanes`, plane by plane; of a matrix `rows` and `columns`, of which those come
    first in the right side that come last in the left one.
    """

    first: int                                  # lanes, or rows
    columns: int | None
    left: Planes
    right: Planes
    constants: list[int]                        # at a verifier, row by row


class Sums(Argument):
    """A proof about statements of so many products together."""

    def __init__(self, name: bytes, seed: bytes, products: int) -> None:
        super().__init__(name, seed, PRIME, struct.pack("<BBQ", 129, 1, products), products)
        self.products = products

    def _weights(self, batches: Sequence[Batch]) -> Iterable[tuple[Batch, list[int], list[int]]]:
        draw = self.weigher("weights of sums")
        for batch in batches:
            yield batch, draw(batch.first), draw(batch.columns or 0)

    def _vector(self, side: Sequence[Batch], point: Sequence[int], left: bool) -> list[int]:
        found: list[int] = []
        for batch, first, columns in self._weights(side):
            planes = batch.left if left else batch.right
            if batch.columns is None:
                found += chain(*planes) if not left else (
                    mul(weight, x) for plane in planes for weight, x in zip(first, plane))
            else:
                half = len(planes) // 2
                found += [dot(zip(first if (i < half) == left else columns, plane))
                          for i, plane in enumerate(planes)]
        return found + [0] * (self.products - len(found))

    def _claim(self, side: Sequence[Batch], constants: None, first: First
               ) -> tuple[int, Sequence[int]]:
        """Minus the weighted sum of constants."""
        total = 0
        for batch, rows, columns in self._weights(side):
            weights = rows if batch.columns is None else [
                mul(x, y) for x in rows for y in columns]
            total = add(total, dot(zip(weights, batch.constants)))
        return sub(0, total), []
