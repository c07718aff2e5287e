"""A protocol of one party without messages: the work that a party does alone (chapter 7)."""

from __future__ import annotations

from plan import Tape
from tensors import Call, Opening, Tensor, decode, encode


class Clear:
    """Computes on the numbers themselves. A share is a bit, or a number modulo 2^k."""

    zero = 0

    def constant(self, numbers: list[int], bits: int, k: int | None) -> Tensor:
        """Encode numbers."""
        return encode(numbers, bits, k)

    def input(self, owner: int, numbers: list[int] | None, elements: int, bits: int,
              k: int | None) -> Call[Tensor]:
        """Encode the numbers of an input."""
        yield from ()
        return encode(numbers or [], bits, k)

    def tape(self, tape: Tape, inputs: list[list[int]], lanes: int) -> Call[list[list[int]]]:
        """Run a tape; a slot is a number with a bit for each lane."""
        yield from ()
        slots = [0, (1 << lanes) - 1, *(int("".join(map(str, plane[::-1])), 2) for plane in inputs)]
        slots += [0] * (tape.slots - len(slots))
        for xors, ands in tape.gates():
            for a, b, out, _ in xors:
                slots[out] = slots[a] ^ slots[b]
            for a, b, out, _ in ands:
                slots[out] = slots[a] & slots[b]
        return [[int(bit) for bit in reversed(f"{slots[i]:0{lanes}b}")] for i in tape.outputs]

    def settle(self) -> Call[None]:
        """Do nothing."""
        yield from ()

    def open(self, values: list[Opening]) -> Call[list[list[int] | None]]:
        """Decode values."""
        yield from ()
        return [decode(value, k) for value, k, _ in values]
