"""The protocol `yao` between a garbler and an evaluator (chapter 11).

Methods with flights are generators: they write a flight, yield, and read it. A share is a label:
the zero label at the garbler, the active label at the evaluator.
"""

from __future__ import annotations

from typing import Any

from garbling import FULL, Evaluator, Garbler, bits_of
from link import Mesh
from plan import Tape
from streams import Bulk, Coins, expand_public
from tensors import Call, Opening, Tensor, decode, encode, flatten
from transfers import Receiver, Sender


def bandwidth(network: str) -> int:
    """Return the megabits a second of a network class of the setting, whose text is canonical."""
    named = {"lan": "/1Gbps", "wan": "/100Mbps"}.get(network, network)
    rate = named.partition("/")[2]
    return int(rate[:-4]) * (1000 if rate.endswith("Gbps") else 1)


def depth_of_trees(network: str) -> int:
    """Return `k` for a network class of the setting."""
    return 4 if bandwidth(network) >= 1000 else 8


class Yao:
    """One party of `yao`."""

    zero = 0                                    # the label of constant 0
    full = FULL                                 # the class of ANDs with no known operand

    def __init__(self, mesh: Mesh, coins: Coins, session: bytes, job_setting: dict[str, Any],
                 has_transfers: bool) -> None:
        (self.garbler,), (self.evaluator,) = job_setting["roles"]
        self.mesh, self.coins, self.session = mesh, coins, session
        self.garbles = mesh.me == self.garbler
        self.known = self.garbler, self.evaluator           # who a tape says knows an operand
        self.peer = self.evaluator if self.garbles else self.garbler
        self.has_transfers = has_transfers
        trees = mesh, self.peer, session, depth_of_trees(job_setting["network"])
        self.sender, self.receiver = Sender(*trees, True), Receiver(*trees, False)

    # ---- set-up

    def set_up(self) -> None:
        """Make or read the nonce, and run the base transfers if there are transfers."""
        if self.garbles:
            nonce, delta = self.draw()
            if self.has_transfers:
                self.sender.begin(self.coins, delta)
            self.mesh.flush()
            if self.has_transfers:
                self.sender.finish()
            self.start(nonce, delta)
            return
        if self.has_transfers:
            self.receiver.begin(self.coins)
        self.mesh.flush()
        nonce = self.mesh.read(self.peer, 32)
        if self.has_transfers:
            self.receiver.finish()
        self.start(nonce, 0)

    def draw(self) -> tuple[bytes, int]:
        """Draw the garbler's nonce, and write it; and the offset."""
        nonce = self.coins.public("yao: hash and inputs of the garbler").read(32)
        delta = int.from_bytes(self.coins.secret("garble: offset").read(16), "little") | 1
        self.mesh.write(self.peer, nonce)
        return nonce, delta

    def start(self, nonce: bytes, delta: int) -> None:
        """Begin to count calls of garbling."""
        self.machine: Garbler | Evaluator = Garbler(
            self._seed(nonce), *self.known, delta,
            lambda data: self.mesh.write(self.peer, data, bulk=True), self.full
        ) if self.garbles else Evaluator(
            self._seed(nonce), *self.known,
            lambda n: self.mesh.read(self.peer, n, bulk=True), self.full)

    def _seed(self, nonce: bytes) -> int:
        """Expand the nonce: the generator of input labels, and the seed of the hash."""
        self.input_labels = Bulk(expand_public(nonce, self.session, "yao: inputs of the garbler"))
        return int.from_bytes(expand_public(nonce, self.session, "yao: hash").read(16), "little")

    # ---- steps

    def constant(self, numbers: list[int], bits: int, k: int | None) -> Tensor:
        """Share numbers that both parties know."""
        return Tensor([[bit * self.machine.one for bit in plane]
                       for plane in encode(numbers, bits, None).planes])

    def input(self, owner: int, numbers: list[int] | None, elements: int, bits: int,
              k: int | None) -> Call[Tensor]:
        """Share numbers of one party, which alone knows them."""
        given = flatten(encode(numbers or [], bits, None).planes)
        if owner == self.garbler:
            labels = self.drawn(given, elements * bits)
        else:
            labels = yield from self.chosen(given, elements * bits)
        return Tensor.of(labels, elements)

    def chosen(self, given: list[int], count: int) -> Call[list[int]]:
        """Labels of bits of the evaluator."""
        blocks = yield from self.transfer(given, count)
        return [block & ~1 | bit for block, bit in
                zip(blocks, [0] * count if self.garbles else given)]

    def transfer(self, given: list[int], count: int) -> Call[list[int]]:
        """Make transfers, and send the evaluator's choices."""
        if not self.garbles:
            blocks = self.receiver.transfer(given)
        yield
        return self.sender.transfer(count) if self.garbles else blocks

    def drawn(self, given: list[int], count: int) -> list[int]:
        """Draw active labels; the garbler makes zero labels of them."""
        data = self.input_labels.draw(count)
        labels = [int.from_bytes(data[i:i + 16], "little") & ~1 for i in range(0, 16 * count, 16)]
        if self.garbles:
            labels = [label ^ bit * self.machine.one for label, bit in zip(labels, given)]
        return labels

    def tape(self, tape: Tape, inputs: list[list[int]], lanes: int) -> Call[list[list[int]]]:
        """Run a tape; the garbler when it begins, the evaluator when the tables are there."""
        if not tape.ands:
            return self.machine.run(tape, inputs, lanes, 0)
        call = next(self.machine.calls)
        if self.garbles:
            outputs = self.machine.run(tape, inputs, lanes, call)
        yield
        if not self.garbles:
            outputs = self.machine.run(tape, inputs, lanes, call)
        return outputs

    def settle(self) -> Call[None]:
        """Compare digests of all payload before."""
        return self.mesh.settle()

    def open(self, values: list[Opening]) -> Call[list[list[int] | None]]:
        """Open results to the parties that learn them; all are checked before any is given."""
        hashes = [self.machine.decoding(flatten(tensor.planes), next(self.machine.calls))
                  for tensor, _, _ in values]

        def hashes_for(party: int) -> bytes:
            return b"".join(own for own, (_, _, to) in zip(hashes, values) if party in to)
        self.mesh.write(self.peer, hashes_for(self.peer))
        yield
        own = hashes_for(self.mesh.me)
        theirs = self.mesh.read(self.peer, len(own) // 2 if self.garbles else 2 * len(own))
        bits = iter(bits_of(own, theirs) if self.garbles else bits_of(theirs, own))
        return [decode(Tensor([[next(bits) for _ in plane] for plane in tensor.planes]), None)
                if self.mesh.me in to else None for tensor, _, to in values]
