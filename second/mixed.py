"""The protocol `mixed`: that of `gmw`, and bits on labels between its roles (chapter 16).

Methods with flights are generators: they write a flight, yield, and read it.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from adder import size_tape
from correlations import Correlations, Kind
from garbling import FULL, THREE_HALVES
from gmw import Counting, Gmw
from link import Mesh
from plan import Domain, Plan, Tape
from streams import Coins
from tensors import Call, Tensor, encode, flatten
from yao import Yao, bandwidth

KNOWN = 253, 254                                # marks of garbler's and evaluator's class, less 1


def full_class(network: str) -> int:
    """The class of full ANDs on a network: that of the table which is there first."""
    rate = bandwidth(network)
    return THREE_HALVES if 200000 // rate + 33 < 256000 // rate + 20 else FULL


class Labels(Yao):
    """Bits on labels. Its choices are those of transfers that a refill has made."""

    def __init__(self, mesh: Mesh, coins: Coins, session: bytes, setting: dict[str, Any],
                 goods: Correlations) -> None:
        super().__init__(mesh, coins, session, setting, True)
        self.known, self.full = KNOWN, full_class(setting["network"])
        self.sender, self.receiver = goods.sender, goods.receiver
        self.side = goods.sent if self.garbles else goods.got

    def transfer(self, given: list[int], count: int) -> Call[list[int]]:
        """Take transfers, and send the evaluator's choices."""
        blocks, choices = self.side.take(count)
        if not self.garbles:
            self.receiver.give(choices, given)
        yield
        return self.sender.given(blocks) if self.garbles else blocks

    def convert(self, value: Tensor, old: Domain, new: Domain) -> Call[Tensor]:
        """Put the bits of both shares on labels, and add them up."""
        planes = value.planes
        if old.k is not None:
            planes = encode(planes[0], new.bits, None).planes
        bits, elements = flatten(planes), len(planes[0])
        own = self.drawn(bits, len(bits))
        other = yield from self.chosen(bits, len(bits))
        if old.k is None:
            return Tensor.of([x ^ y for x, y in zip(own, other)], elements)
        inputs = Tensor.of(own + other, elements).planes
        return Tensor((yield from self.tape(size_tape(new.bits), inputs, elements)))


class Mixed(Gmw):
    """One role of a run; `labels` has the steps that write values on labels."""

    def __init__(self, mesh: Mesh, coins: Coins, session: bytes, setting: dict[str, Any],
                 plan: Plan, counts: list[int]) -> None:
        self.has_labels = False
        super().__init__(mesh, coins, session, setting, plan, counts)
        self.labels = Labels(mesh, coins, session, setting, self.goods)

    def counting(self) -> Counting:
        """The same run without messages."""
        return CountingMixed(self)

    def set_up(self) -> None:
        """Prepare transfers and labels, as far as the run has them."""
        if not self.has_labels:
            super().set_up()
            return
        nonce, delta = self.labels.draw() if self.labels.garbles else (b"", 0)

        def read() -> None:
            nonlocal nonce
            nonce = nonce or self.mesh.read(self.peer, 32)
        self.goods.set_up(self.coins, sum(self.needs.values(), Counter[Kind]()), delta, read)
        self.labels.start(nonce, delta)

    def convert(self, value: Tensor, old: Domain, new: Domain) -> Call[Tensor]:
        """Share the same numbers in another domain, which is not that of labels."""
        if not old.on_labels:
            return (yield from super().convert(value, old, new))
        if new.k is None:                       # permute bits
            return Tensor([[label & 1 for label in plane] for plane in value.planes])
        planes = yield from self.of_labels(value.planes[:new.k], new.k)
        return self.weighted(planes, old, new.k)

    def of_labels(self, planes: list[list[int]], k: int) -> Call[list[list[int]]]:
        """Integers modulo 2^k of bits on labels: a hash, or what the other one makes of it."""
        machine, labels, elements = self.labels.machine, flatten(planes), len(planes[0])
        data = machine.decoding(labels, next(machine.calls))
        hashes = [int.from_bytes(data[i:i + 8], "little") for i in range(0, len(data), 16)]
        if not self.labels.garbles:
            yield
            sent = [d for p in range(len(planes)) for d in self._read(elements, k - p)]
            return Tensor.of([own + (label & 1) * d for own, label, d in zip(hashes, labels, sent)],
                             elements).planes
        found, sent = [], []
        for i, label in enumerate(labels):
            r, pair = label & 1, hashes[2 * i:2 * i + 2]
            found.append(r - pair[r])
            sent.append(pair[r] + 1 - 2 * r - pair[1 - r])
        for p, plane in enumerate(Tensor.of(sent, elements).planes):
            self._write([d & (1 << k - p) - 1 for d in plane], k - p)
        yield
        return Tensor.of(found, elements).planes


# ------------------------------------------------------------------------- without messages


class CountingLabels(Labels):
    """Labels of zeros, and the transfers that choices take."""

    def __init__(self, run: CountingMixed) -> None:
        self.run, self.garbler = run, run.garbler

    def constant(self, numbers: list[int], bits: int, k: int | None) -> Tensor:
        """Share numbers that both parties know."""
        return encode([0] * len(numbers), bits, None)

    def drawn(self, given: list[int], count: int) -> list[int]:
        """Labels of bits of the garbler."""
        self.run.mixed.has_labels = True
        return [0] * count

    def chosen(self, given: list[int], count: int) -> Call[list[int]]:
        """Labels of bits of the evaluator, each of which takes a transfer."""
        yield from ()
        self.run.take((0, self.garbler), count)
        return self.drawn(given, count)

    def tape(self, tape: Tape, inputs: list[list[int]], lanes: int) -> Call[list[list[int]]]:
        """Run a tape."""
        yield from ()
        return [self.drawn([], lanes) for _ in tape.outputs]


class CountingMixed(Counting, Mixed):
    """A run without messages, which counts what it takes."""

    def __init__(self, mixed: Mixed) -> None:
        super().__init__(mixed)
        self.mixed, self.garbler = mixed, mixed.peer if mixed.role else mixed.mesh.me
        self.labels = CountingLabels(self)

    def convert(self, value: Tensor, old: Domain, new: Domain) -> Call[Tensor]:
        """Share zeros in another domain."""
        if not old.on_labels:
            return (yield from super().convert(value, old, new))
        self.mixed.has_labels = True
        return encode([0] * len(value.planes[0]), new.bits, new.k)
