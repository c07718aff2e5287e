"""The protocol `auth`: garbler and evaluator, of whom one may deviate (chapter 20).

A wire is one number: its label, the MAC of this party's share of the mask 128 bits above, and the
key of the other's MAC 256 bits above. A mask alone is a number without the label. Methods with
flights are generators: they write a flight, yield, and read it.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from dataclasses import dataclass
from itertools import count
from typing import Any

from errors import Fault, need
from garbling import Machine, hash_all
from link import Mesh
from plan import Gate, Plan, Tape
from products import (
    MASKS,
    PRODUCTS,
    RESULTS,
    ROWS,
    VALUES,
    Products,
    bits_behind,
    block,
    packed,
    toss,
    unpacked,
)
from statements import Due, Place
from streams import Bulk, Coins, expand_public
from tensors import Call, Opening, Tensor, decode, encode, flatten
from transfers import BLOCK
from walk import Calls, Walk
from yao import depth_of_trees

CHUNK = 1024                                    # pairs of a chunk of a table
Demand = Counter[int | str]
Wires = dict[int, list[int]]


@dataclass
class Check:
    """What a tape leaves to be settled."""

    inputs: list[list[int]]                     # planes of labels of its inputs
    labels: list[int]                           # of its ANDs
    tape: Tape
    lanes: int
    # At the evaluator the MACs that the garbler has to show; at the garbler, of each pair, MACs of
    # the masks of both operands, and of their product with the mask of the output.
    macs: list[Any]

    def all(self) -> list[int]:
        """Labels in the order in which masked values are stated."""
        return flatten(self.inputs) + self.labels


class Walked(Machine):
    """A walk over a tape, AND by AND in the order of tables."""

    def __init__(self, seed: int, one: int) -> None:
        super().__init__(seed, 0, 0)
        self.one, self.classes = one, [0] * 256

    def pairs(self, gates: list[Gate], wires: Wires) -> list[tuple[list[int], Gate, int]]:
        """The (AND, lane) pairs of a run: slots, gate, lane."""
        return [(slots, gate, lane) for gate in gates for lane, slots in wires.items()]


class Masks(Walked):
    """The walk over masks."""

    def __init__(self, fresh: list[int]) -> None:
        super().__init__(0, 0)
        self.fresh, self.operands = iter(fresh), list[tuple[int, int]]()

    def ands(self, kind: int, gates: list[Gate], wires: Wires, call: int) -> None:
        """Keep the masks of operands, and give outputs random ones."""
        for slots, (a, b, out, _), _ in self.pairs(gates, wires):
            self.operands.append((slots[a], slots[b]))
            slots[out] = next(self.fresh)


class Answers(Walked):
    """The walk over masked values at the garbler."""

    def __init__(self, values: list[int], macs: list[tuple[int, int, int]]) -> None:
        super().__init__(0, 1)
        self.values, self.macs, self.shown = iter(values), iter(macs), list[int]()

    def ands(self, kind: int, gates: list[Gate], wires: Wires, call: int) -> None:
        """Show the MACs of this party's shares."""
        for slots, (a, b, out, _), _ in self.pairs(gates, wires):
            of_a, of_b, product = next(self.macs)
            self.shown.append((of_b if slots[a] else 0) ^ (of_a if slots[b] else 0) ^ product)
            slots[out] = next(self.values)


class Tables(Walked):
    """The walk over labels: its material is masks of outputs and products, pair by pair."""

    def __init__(self, seed: int, one: int, delta: int, material: list[tuple[int, int]]) -> None:
        super().__init__(seed, one)
        self.delta, self.material = delta, iter(material)
        self.labels, self.macs = list[int](), list[Any]()

    def hashed(self, pairs: list[tuple[list[int], Gate, int]], call: int, offsets: tuple[int, ...]
               ) -> list[list[list[int]]]:
        """Of each pair and operand, the hashes of its label with each offset."""
        asked = [[(self.key(call, part) ^ (gate[3] | lane << 64), slots[gate[part]] & BLOCK)
                  for part in (0, 1)] for slots, gate, lane in pairs]
        found = hash_all([(key, label ^ offset) for both in asked for key, label in both
                          for offset in offsets])
        return [[[found[key, label ^ offset] for offset in offsets] for key, label in both]
                for both in asked]


def mac(wire: int) -> int:
    """The MAC of a wire."""
    return wire >> 128 & BLOCK


class Garbled(Tables):
    """The garbler's walk: rows and bits of its table, pair by pair."""

    def __init__(self, seed: int, delta: int, material: list[tuple[int, int]]) -> None:
        super().__init__(seed, delta ^ 1, delta, material)
        self.table: list[tuple[int, int, int]] = []

    def part(self, mask: int) -> int:
        """What the evaluator's MAC of a mask completes to the mask times the offset."""
        return mask >> 128 ^ (self.delta if mask & 1 else 0)

    def ands(self, kind: int, gates: list[Gate], wires: Wires, call: int) -> None:
        """Garble the ANDs of a run."""
        pairs = self.pairs(gates, wires)
        for (slots, (a, b, out, _), _), hashes in zip(
                pairs, self.hashed(pairs, call, (0, self.delta))):
            (fresh, product), (of_a, of_b) = next(self.material), hashes
            first = of_a[0] ^ of_a[1] ^ self.part(slots[b] >> 128)
            second = of_b[0] ^ of_b[1] ^ slots[a] & BLOCK ^ self.part(slots[a] >> 128)
            label = of_a[0] ^ of_b[0] ^ self.part(product)
            self.table.append((label & 1, first, second))
            self.labels.append(label & ~1)
            self.macs.append((mac(slots[a]), mac(slots[b]), product & BLOCK))
            slots[out] = label & ~1 | fresh << 128

    def message(self) -> bytes:
        """The table, chunk by chunk."""
        message = b""
        for first in range(0, len(self.table), CHUNK):
            bits, *planes = zip(*self.table[first:first + CHUNK])
            message += packed(bits) + b"".join(row.to_bytes(16, "little") for plane in planes
                                               for row in plane)
        return message


def table_bytes(pairs: int) -> int:
    """The bytes of a table."""
    return 32 * pairs + (pairs + 7) // 8


def read_table(data: bytes, pairs: int) -> list[tuple[int, int, int]]:
    """The rows and bits of a table, pair by pair."""
    table, at = [], 0
    for first in range(0, pairs, CHUNK):
        n = min(CHUNK, pairs - first)
        bits, at = unpacked(data[at:], n), at + (n + 7) // 8
        rows = [block(data[i:i + 16]) for i in range(at, at + 32 * n, 16)]
        table += [*zip(bits, rows[:n], rows[n:])]
        at += 32 * n
    return table


class Evaluated(Tables):
    """The evaluator's walk."""

    def __init__(self, seed: int, delta: int, material: list[tuple[int, int]],
                 table: list[tuple[int, int, int]]) -> None:
        super().__init__(seed, 1, delta, material)
        self.table = iter(table)

    def ands(self, kind: int, gates: list[Gate], wires: Wires, call: int) -> None:
        """Evaluate the ANDs of a run."""
        pairs = self.pairs(gates, wires)
        for (slots, (a, b, out, _), _), hashes in zip(pairs, self.hashed(pairs, call, (0,))):
            (fresh, product), (low, first, second) = next(self.material), next(self.table)
            of_a, of_b, (m_a, m_b) = slots[a], slots[b], (slots[a] & 1, slots[b] & 1)
            label = hashes[0][0] ^ hashes[1][0] ^ product & BLOCK ^ low
            # MAC and key of a share of what the garbler has to show.
            shown = (m_a * (of_b >> 128)) ^ (m_b * (of_a >> 128)) ^ product
            label ^= m_a * (first ^ mac(of_b)) ^ m_b * (second ^ of_a & BLOCK ^ mac(of_a))
            theirs = m_a & m_b ^ (shown ^ label) & 1
            self.labels.append(label)
            self.macs.append(shown >> 128 ^ theirs * self.delta)
            slots[out] = label | fresh << 128


class Offline:
    """The offline walk: values are masks."""

    zero = 0

    def __init__(self, auth: Auth) -> None:
        self.auth, self.due = auth, auth.due

    def constant(self, numbers: list[int], bits: int, k: int | None) -> Tensor:
        """The mask of a public value."""
        return Tensor([[0] * len(numbers) for _ in range(bits)])

    def input(self, owner: int, numbers: list[int] | None, elements: int, bits: int,
              k: int | None) -> Tensor:
        """Masks that the owner knows."""
        masks = self.auth.goods.bits_of(owner, bits * elements)
        self.auth.material[self.due.place].append(masks)
        return Tensor.of(masks, elements)

    def tape(self, tape: Tape, inputs: list[list[int]], lanes: int) -> Call[list[list[int]]]:
        """Masks of wires; products of those of operands, with those of outputs added."""
        auth, n = self.auth, len(tape.ands) * lanes
        goods, sums = auth.goods, auth.goods.sums
        fresh, triples = goods.bits(n), goods.products(n)
        walk = Masks(fresh)
        outputs = walk.run(tape, inputs, lanes, 0)
        pairs = [*zip(walk.operands, triples)]
        shifted = [a ^ x for (a, _), (x, _, _) in pairs] + [b ^ y for (_, b), (_, y, _) in pairs]
        opened = [0] * (2 * n)
        if n:
            number = next(auth.openings)
            own = sums.tell(MASKS, number, [bit & BLOCK for bit in shifted])
            yield
            theirs = sums.hear(MASKS, number, [bit >> 128 for bit in shifted], "opened masks")
            opened = [x ^ y for x, y in zip(own, theirs)]
        products = [z ^ mask ^ e * y ^ f * x ^ (e & f) * goods.one for (x, y, z), mask, e, f in
                    zip(triples, fresh, opened[:n], opened[n:])]
        auth.material[self.due.place].append([*zip(fresh, products)])
        return outputs

    def settle(self, over_rows: bool | None = None) -> Call[None]:
        """Nothing: each opening is checked at once."""
        yield from ()


class Auth:
    """One party of a run; `offline` is its offline walk."""

    zero = 0

    def __init__(self, mesh: Mesh, coins: Coins, session: bytes, setting: dict[str, Any],
                 plan: Plan, counts: list[int]) -> None:
        (self.garbler,), (self.evaluator,) = setting["roles"]
        self.mesh, self.coins = mesh, coins
        self.garbles = mesh.me == self.garbler
        self.peer = self.evaluator if self.garbles else self.garbler
        self.goods = Products(mesh, coins, self.peer, self.garbles,
                              depth_of_trees(setting["network"]))
        self.due, self.openings, self.calls = Due(), count(), count()
        self.material = defaultdict[Place, deque[Any]](deque)
        self.needs = Counting(self).count(plan, counts)
        self.offline = Offline(self)

    def set_up(self) -> None:
        """Toss the coin of the set-up, and prepare bits and products."""
        coin = toss(self.mesh, self.peer, self.coins, "auth: set-up", 0)
        self.mesh.flush()
        coin.hear()
        coin.open()
        self.mesh.flush()
        value, fair = coin.finish()
        need(fair, f"party {self.peer} failed a check of the set-up", "peer-deviated")
        nonce = coin.coin(value)
        session = self.mesh.session
        self.seed = block(expand_public(nonce, session, "auth: hash").read(16))
        self.labels = Bulk(expand_public(nonce, session, "auth: labels of inputs"))
        self.goods.set_up(nonce, sum(self.needs.values(), Demand()))
        self.delta, self.sums = self.goods.delta, self.goods.sums

    def refill(self, runs: list[tuple[int, int]]) -> None:
        """Make what some tile runs lack."""
        self.goods.refill(sum((self.needs[run] for run in runs), Demand()))

    # ---- steps

    def constant(self, numbers: list[int], bits: int, k: int | None) -> Tensor:
        """Public values."""
        return Tensor([[self.label(0, bit) for bit in plane]
                       for plane in encode(numbers, bits, None).planes])

    def label(self, drawn: int, masked: int) -> int:
        """The label of an input or a public bit, from what both draw and the masked value."""
        return drawn ^ masked ^ (self.delta if self.garbles and masked else 0)

    def input(self, owner: int, numbers: list[int] | None, elements: int, bits: int,
              k: int | None) -> Call[Tensor]:
        """The owner tells masked values."""
        masks, n = self.material[self.due.place].popleft(), elements * bits
        drawn = self.labels.draw(n)
        own = owner == self.mesh.me
        if own:
            given = flatten(encode(numbers or [], bits, None).planes)
            masked = [bit ^ mask & 1 for bit, mask in zip(given, masks)]
            self.mesh.write(self.peer, packed(masked))
        yield
        if not own:
            data = self.mesh.read(self.peer, (n + 7) // 8)
            bits_behind(data, n, self.peer)
            masked = unpacked(data, n)
        wires = [self.label(block(drawn[16 * i:16 * i + 16]) & ~1, m) | mask << 128
                 for i, (m, mask) in enumerate(zip(masked, masks))]
        return Tensor.of(wires, elements)

    def tape(self, tape: Tape, inputs: list[list[int]], lanes: int) -> Call[list[list[int]]]:
        """Run a tape; the garbler when it begins, the evaluator when the table is there."""
        call, material = next(self.calls), self.material[self.due.place].popleft()
        n = len(material)
        if self.garbles:
            garbled = Garbled(self.seed, self.delta, material)
            outputs = garbled.run(tape, inputs, lanes, call)
            self.mesh.write(self.peer, garbled.message())
        if n:
            yield
        walk: Tables
        if self.garbles:
            walk = garbled
        else:
            data = self.mesh.read(self.peer, table_bytes(n))
            walk = Evaluated(self.seed, self.delta, material, read_table(data, n))
            outputs = walk.run(tape, inputs, lanes, call)
        if n:
            labels = [[wire & BLOCK for wire in plane] for plane in inputs]
            self.due.add(Check(labels, walk.labels, tape, lanes, walk.macs))
        return outputs

    # ---- settlements

    def settle(self, over_rows: bool | None = None) -> Call[None]:
        """The evaluator states masked values and proves them; the garbler proves its tables."""
        checks: list[Check] = self.due.take(over_rows)
        values, rows = next(self.openings), next(self.openings)
        if not checks:
            return (yield from self.mesh.settle())
        labels = [label for check in checks for label in check.all()]
        if not self.garbles:
            stated = packed(self.sums.tell(VALUES, values, labels))
            self.mesh.send_digest(self.peer)
            yield
            yield
            shown = self.mesh.read(self.peer, 16)
            altered = self.altered()
            macs = [mac for check in checks for mac in check.macs]
            self.sums.check(ROWS, rows, stated, macs, shown, "garbled rows")
        else:
            yield
            bits, stated, proof = self.sums.told(len(labels))
            bits_behind(stated, len(labels), self.peer)
            altered = self.altered()
            self.sums.check(VALUES, values, stated, self.sums.with_bits(labels, bits), proof,
                            "masked values")
            if altered is None:
                self.mesh.write(self.peer, self.sums.of(ROWS, rows, True, stated,
                                                        shown_by(checks, bits)))
                self.mesh.send_digest(self.peer)
                yield
        if altered is not None:
            raise altered

    def altered(self) -> Fault | None:
        """Read the digest of the other party; the fault if it differs."""
        try:
            self.mesh.check_digest(self.peer)
        except Fault as fault:
            return fault
        return None

    # ---- results

    def open(self, values: list[Opening]) -> Call[list[list[int] | None]]:
        """Open results to the parties that learn them."""
        numbers = [next(self.openings), next(self.openings)]    # of what each party tells

        def learnt(party: int) -> list[int]:
            return [wire for tensor, _, to in values if party in to
                    for wire in flatten(tensor.planes)]
        told, own = learnt(self.peer), learnt(self.mesh.me)
        if told:
            labels = [] if self.garbles else [wire & BLOCK for wire in told]
            self.sums.tell(RESULTS, numbers[not self.garbles], labels + [*map(mac, told)])
        yield
        masked, shares = [wire & 1 for wire in own], list[int]()
        if own:
            labels = [wire & BLOCK for wire in own] if self.garbles else []
            bits = self.sums.hear(RESULTS, numbers[self.garbles],
                                  labels + [wire >> 256 for wire in own], "results")
            masked, shares = bits[:len(own)] if self.garbles else masked, bits[len(labels):]
        plain = iter([m ^ mac(wire) & 1 ^ share for m, wire, share in zip(masked, own, shares)])
        return [decode(Tensor([[next(plain) for _ in plane] for plane in tensor.planes]), None)
                if self.mesh.me in to else None for tensor, _, to in values]


def shown_by(checks: list[Check], bits: list[int]) -> list[int]:
    """The MACs that a garbler shows for masked values."""
    stated, shown = iter(bits), list[int]()
    for check in checks:
        inputs = [[next(stated) for _ in plane] for plane in check.inputs]
        walk = Answers([next(stated) for _ in check.labels], check.macs)
        walk.run(check.tape, inputs, check.lanes, 0)
        shown += walk.shown
    return shown


class Counting:
    """A run without messages, which counts the bits and products that it takes."""

    zero = 0

    def __init__(self, auth: Auth) -> None:
        self.parties = auth.garbler, auth.evaluator
        self.taken = Demand()

    def count(self, plan: Plan, counts: list[int]) -> dict[tuple[int, int], Demand]:
        """What each tile run takes, by segment and tile."""
        found: dict[tuple[int, int], Demand] = {}
        walk = Walk(Calls(plan, counts, self, {}), lambda: None)
        for run in walk.waiting:
            self.taken = found[run.segment, run.tile] = Demand()
            for step in plan.segments[run.segment].steps:
                for part in range(1 + step.carry):
                    for _ in walk.calls.call(run, step, part):
                        pass
        return found

    def constant(self, numbers: list[int], bits: int, k: int | None) -> Tensor:
        """The shape of a value."""
        return Tensor([[0] * len(numbers) for _ in range(bits)])

    def input(self, owner: int, numbers: list[int] | None, elements: int, bits: int,
              k: int | None) -> Tensor:
        """Count the bits of an input, which its owner knows."""
        self.taken[owner] += elements * bits
        return self.constant([0] * elements, bits, k)

    def tape(self, tape: Tape, inputs: list[list[int]], lanes: int) -> Call[list[list[int]]]:
        """Count the bits and products of a tape."""
        for kind in (*self.parties, PRODUCTS):
            self.taken[kind] += len(tape.ands) * lanes
        yield from ()
        return self.constant([0] * lanes, len(tape.outputs), None).planes

    def settle(self, over_rows: bool | None = None) -> Call[None]:
        """Nothing."""
        yield from ()
