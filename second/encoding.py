"""Fields of messages: control messages (chapter 1), and messages of TLS."""

from collections.abc import Callable
from typing import TypeVar

from errors import Fault, need

T = TypeVar("T")


def varint(n: int) -> bytes:
    """The shortest form of a number."""
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def string(text: str) -> bytes:
    """A string behind its length."""
    return varint(len(text.encode())) + text.encode()


def listed(items: list[bytes]) -> bytes:
    """A list of encoded elements."""
    return varint(len(items)) + b"".join(items)


def text_of(data: bytes, what: str) -> str:
    """The text of bytes that must be UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Fault(f"{what} is not UTF-8", "malformed-message") from None


class Reader:
    """Reads a message field by field; whatever does not parse is malformed."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def take(self, n: int) -> bytes:
        """The next n bytes."""
        need(n <= len(self.data), "a message ends early", alert=50)      # of TLS: decode_error
        head, self.data = self.data[:n], self.data[n:]
        return head

    def vector(self, size: int) -> bytes:
        """Bytes behind their length, which has `size` bytes and is big-endian, as in TLS."""
        return self.take(int.from_bytes(self.take(size), "big"))

    def varint(self, bits: int = 64) -> int:
        """A number of at most so many bits, in at most `ceil(bits / 7)` bytes."""
        number = 0
        for shift in range(0, bits, 7):
            byte = self.take(1)[0]
            number |= (byte & 127) << shift
            if byte < 128 and number < 1 << bits:
                return number
        raise Fault("a number is too long", "malformed-message")

    def flag(self) -> bool:
        """A bool, or the head of an option."""
        byte = self.take(1)[0]
        need(byte < 2, "a bool is neither 0 nor 1")
        return byte == 1

    def string(self) -> str:
        """A string."""
        return text_of(self.take(self.varint()), "a string")

    def list(self, item: Callable[[], T]) -> list[T]:
        """A list; it grows with the elements that are there."""
        return [item() for _ in range(self.varint())]

    def end(self) -> None:
        """Nothing may follow."""
        need(not self.data, "a message has bytes left over", alert=50)
