"""Random streams (chapter 5): how their bytes are derived, and what each read skips."""

import os
import struct

from primitives import Aes128, derive


class Stream:
    """A stream that is read from its beginning, without gaps (chapter 5, Streams)."""

    def __init__(self, context: str, key: bytes, field: bytes, label: str) -> None:
        self.hash = derive(context, key + field + label.encode("ascii"))
        self.position = 0

    def read(self, n: int) -> bytes:
        """The next n bytes."""
        self.position += n
        return self.hash.output(n, self.position - n)


def expand_secret(seed: bytes, session: bytes, label: str) -> Stream:
    """An expanded secret stream of a seed."""
    return Stream("sealane 3 seed expanded", seed, session, label)


def expand_public(nonce: bytes, session: bytes, label: str) -> Stream:
    """An expanded public stream of a nonce."""
    return Stream("sealane 3 nonce expanded", nonce, session, label)


class Coins:
    """A seed and a counter of draws (chapter 5, Coins of a run)."""

    def __init__(self, seed: bytes | None = None) -> None:
        self.seed = os.urandom(32) if seed is None else seed
        self.counter = 0

    def _draw(self, context: str, label: str) -> Stream:
        self.counter += 1
        return Stream(context, self.seed, struct.pack("<Q", self.counter), label)

    def secret(self, label: str) -> Stream:
        """Draw a stream whose bytes stay secret."""
        return self._draw("sealane 3 coins secret", label)

    def public(self, label: str) -> Stream:
        """Draw a stream whose bytes are sent in clear."""
        return self._draw("sealane 3 coins public", label)

    def fork(self, label: str) -> "Coins":
        """Draw the seed of new coins."""
        return Coins(self._draw("sealane 3 coins fork", label).read(32))

    def enter(self, session: bytes) -> "Coins":
        """The coins of a session; draws nothing and ends the use of these."""
        return Coins(expand_secret(self.seed, session, "coins of a session").read(32))


class Bulk:
    """A bulk stream: AES-128 in counter mode, in draws (chapter 5, Bulk)."""

    def __init__(self, stream: Stream) -> None:
        self.aes = Aes128(stream.read(16))
        self.start = int.from_bytes(stream.read(16), "big")
        self.position = 0

    def draw(self, n: int) -> bytes:
        """One draw of n blocks; the next one begins at a multiple of 32."""
        first = self.position
        self.position += (n + 31) // 32 * 32
        return self.aes.count(self.start, range(first, first + n))

    def draw_rows(self, rows: int, bits: int) -> list[int]:
        """One draw of rows of so many bits, each from a new word on: a component of `trio`.

        A row is a plane, with a bit of each element, or an element modulo 2^bits.
        """
        size = (bits + 63) // 64 * 8
        data = self.draw((rows * size + 15) // 16)
        numbers = (int.from_bytes(data[size * i:size * (i + 1)], "little") for i in range(rows))
        return [number & (1 << bits) - 1 for number in numbers]


class Bulks:
    """Bulk streams that are drawn from together: all keys lie side by side, and all starts."""

    def __init__(self, keys: bytes, starts: bytes) -> None:
        self.aes, self.count, self.position = Aes128(keys), len(keys) // 16, 0
        self.starts = int.from_bytes(starts, "big")

    def draw(self, n: int) -> list[bytes]:
        """One draw of n blocks of each stream."""
        first, size = self.position, 16 * self.count
        self.position += (n + 31) // 32 * 32
        places = (int.from_bytes(i.to_bytes(16, "big") * self.count, "big")
                  for i in range(first, first + n))
        data = self.aes.encrypt(b"".join((self.starts ^ place).to_bytes(size, "big")
                                         for place in places))
        return [b"".join(data[at:at + 16] for at in range(begin, len(data), size))
                for begin in range(0, size, 16)]
