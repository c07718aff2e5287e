"""Garbling of tapes and decoding of results, both sides (chapter 10).

Labels are numbers of 128 bits. A tape runs on lanes, each with slots of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count, groupby

from errors import need
from plan import Gate, Tape
from primitives import Aes128

HALF = (1 << 64) - 1
FULL, GARBLERS, EVALUATORS = 0, 1, 2            # classes of gates
DECODING = 15                                   # the part of the tweak of a decoding
Pair = tuple[int, int]
Hash = Callable[[int, int], int]                # of a key and a label
Cell = tuple[list[int], Gate, Pair, Hash]       # slots, gate, keys of both sides, hashes
Step = tuple[list[Gate], list[tuple[int, list[Gate]]]]      # XORs; then runs of a class

# ------------------------------------------------------------------------- order of the tables


def lane_blocks(lanes: int, slots: int) -> list[range]:
    """Cut lanes into blocks."""
    full, first, blocks = 32 if slots <= 512 else 16, 0, []
    while first < lanes:
        width = min(lanes - first, full if lanes - first >= full else 16)
        blocks.append(range(first, first + width))
        first += width
    return blocks


def pieces(batches: list[tuple[int, int]]) -> Iterator[tuple[range, range, range]]:
    """Cut a tape into pieces: the batches that each touches, its XORs and its ANDs."""
    batch = x = a = 0
    while batch < len(batches):
        first, x0, a0 = batch, x, a
        for xors_end, ands_end in batches[first:]:
            if xors_end > x0 + 2048 or ands_end > a0 + 512:
                break
            batch, x, a = batch + 1, xors_end, ands_end
        if batch == first:                      # what is left of this batch is too large
            xors_end = batches[first][0]
            x, a = (x0 + 2048, a0) if xors_end > x0 + 2048 else (xors_end, a0 + 512)
        yield range(first, max(batch, first + 1)), range(x0, x), range(a0, a)


def steps_of(tape: Tape, classes: list[int]) -> list[list[Step]]:
    """Return, for each piece, the gates of each batch in it."""
    found = []
    for touched, xors, ands in pieces(tape.batches):
        steps, x, a = [], xors.start, ands.start
        for xors_end, ands_end in (tape.batches[i] for i in touched):
            x_end, a_end = min(xors_end, xors.stop), min(ands_end, ands.stop)
            runs = groupby(range(a, a_end), key=lambda i: classes[tape.known[i]])
            steps.append((tape.xors[x:x_end],
                          [(kind, [tape.ands[i] for i in run]) for kind, run in runs]))
            x, a = x_end, a_end
        found.append(steps)
    return found


def join_tables(tables: list[tuple[int, ...]]) -> bytes:
    """Write the tables of a run of one class: groups of 16, in each plane by plane."""
    return b"".join(block.to_bytes(16, "little") for start in range(0, len(tables), 16)
                    for plane in zip(*tables[start:start + 16]) for block in plane)


def split_tables(data: bytes, planes: int) -> list[tuple[int, ...]]:
    """Read the tables of a run of one class."""
    blocks = [int.from_bytes(data[i:i + 16], "little") for i in range(0, len(data), 16)]
    tables: list[tuple[int, ...]] = []
    for start in range(0, len(blocks), 16 * planes):
        group = blocks[start:start + 16 * planes]
        n = len(group) // planes
        tables += zip(*(group[p * n:(p + 1) * n] for p in range(planes)))
    return tables


# ----------------------------------------------------------------------------------- both sides


class Machine:
    """What both sides share: numbers of calls, the hash, and the run of a tape.

    `classes` has the class of a gate by its byte in the tape.
    """

    one = 0                                     # the label of constant 1

    def __init__(self, seed: int, garbler: int, evaluator: int) -> None:
        self.seed, self.calls = seed, count()
        self.classes = [FULL] * 256
        self.classes[1 + garbler], self.classes[1 + evaluator] = GARBLERS, EVALUATORS

    def key(self, call: int, part: int) -> int:
        """Return the key of the hash at gate 0 and lane 0."""
        return self.seed ^ (call & 0xFFFFFFFF) << 32 ^ ((call >> 32 << 12) + part) << 96

    def keys(self, call: int, number: int, lane: int) -> Pair:
        """Return both keys of the hash at a gate."""
        tweak = number | lane << 64
        return self.key(call, 0) ^ tweak, self.key(call, 1) ^ tweak

    def run(self, tape: Tape, inputs: list[list[int]], lanes: int, call: int) -> list[list[int]]:
        """Run a tape on the planes of its inputs; returns the planes of its outputs."""
        outputs: list[list[int]] = [[] for _ in tape.outputs]
        steps, blocks = steps_of(tape, self.classes), lane_blocks(lanes, tape.slots)
        unused = [0] * (tape.slots - 2 - len(inputs))
        for first in range(0, len(blocks), 4):
            span = [{lane: [0, self.one, *(plane[lane] for plane in inputs), *unused]
                     for lane in block} for block in blocks[first:first + 4]]
            for piece in steps:
                for wires in span:
                    for step in piece:
                        self._step(step, wires, call)
            for slots in (slots for wires in span for slots in wires.values()):
                for plane, slot in zip(outputs, tape.outputs):
                    plane.append(slots[slot])
        return outputs

    def _step(self, step: Step, wires: dict[int, list[int]], call: int) -> None:
        """Run the gates of a batch on a block of lanes."""
        xors, runs = step
        for slots in wires.values():
            for a, b, out, _ in xors:
                slots[out] = slots[a] ^ slots[b]
        for kind, gates in runs:
            self.ands(kind, gates, wires, call)

    def ands(self, kind: int, gates: list[Gate], wires: dict[int, list[int]], call: int) -> None:
        """Run ANDs of one class on a block of lanes."""
        raise NotImplementedError

    def cells(self, kind: int, gates: list[Gate], wires: dict[int, list[int]], call: int
              ) -> Iterator[Cell]:
        """Return each AND in each lane, with the hashes of its operands."""
        cells = [(slots, gate, self.keys(call, gate[3], lane))
                 for gate in gates for lane, slots in wires.items()]
        sides = [side for side, other in enumerate((EVALUATORS, GARBLERS)) if kind != other]
        hashed = hash_all([(keys[side], slots[gate[side]] ^ offset) for slots, gate, keys in cells
                           for side in sides for offset in {0, self.one}])
        for slots, gate, keys in cells:
            yield slots, gate, keys, lambda key, label: hashed[key, label]


def hash_all(pairs: list[Pair]) -> dict[Pair, int]:
    """Hash labels at once, each under its key, which is the seed XOR the tweak."""
    mixed = [label >> 64 | ((label ^ label >> 64) & HALF) << 64 for _, label in pairs]
    aes = Aes128(b"".join(key.to_bytes(16, "little") for key, _ in pairs))
    made = aes.encrypt(b"".join(block.to_bytes(16, "little") for block in mixed))
    return {pair: int.from_bytes(made[16 * i:16 * i + 16], "little") ^ mixed[i]
            for i, pair in enumerate(pairs)}


def gate_hash(key: int, label: int) -> int:
    """Hash one label."""
    return hash_all([(key, label)])[key, label]


# -------------------------------------------------------------------------------------- garbler


class Garbler(Machine):
    """The side that makes tables, from zero labels."""

    def __init__(self, seed: int, garbler: int, evaluator: int, delta: int,
                 write: Callable[[bytes], None]) -> None:
        super().__init__(seed, garbler, evaluator)
        self.one = delta
        self.write = write

    def ands(self, kind: int, gates: list[Gate], wires: dict[int, list[int]], call: int) -> None:
        """Garble ANDs of one class on a block of lanes, and write their tables."""
        tables = []
        for slots, (a, b, out, _), keys, hashed in self.cells(kind, gates, wires, call):
            slots[out], table = self.garble(kind, keys, slots[a], slots[b], hashed)
            tables.append(table)
        self.write(join_tables(tables))

    def garble(self, kind: int, keys: Pair, a: int, b: int, hashed: Hash = gate_hash
               ) -> tuple[int, tuple[int, ...]]:
        """Garble one AND; returns the zero label of its output, and its table."""
        delta, out = self.one, 0
        table: tuple[int, ...] = ()
        if kind != EVALUATORS:
            zero, one = hashed(keys[0], a), hashed(keys[0], a ^ delta)
            block = zero ^ one ^ (delta if b & 1 else 0)
            out, table = zero ^ (block if a & 1 else 0), (block,)
        if kind != GARBLERS:
            zero, one = hashed(keys[1], b), hashed(keys[1], b ^ delta)
            block = zero ^ one                  # the table has this XOR a
            # In the evaluator's class the permute bit of b is 0.
            out ^= zero ^ (block if b & 1 and kind == FULL else 0)
            table += (block ^ a,)
        return out, table

    def decoding(self, labels: list[int], call: int) -> bytes:
        """Return the hashes of 0 and 1 of each label."""
        key = self.key(call, DECODING)
        return b"".join(value.to_bytes(16, "little") for value in hash_all(
            [(key ^ i << 64, label ^ offset) for i, label in enumerate(labels)
             for offset in (0, self.one)]).values())


# ------------------------------------------------------------------------------------ evaluator


class Evaluator(Machine):
    """The side that reads tables, and has active labels."""

    def __init__(self, seed: int, garbler: int, evaluator: int,
                 read: Callable[[int], bytes]) -> None:
        super().__init__(seed, garbler, evaluator)
        self.read = read

    def ands(self, kind: int, gates: list[Gate], wires: dict[int, list[int]], call: int) -> None:
        """Read the tables of ANDs of one class on a block of lanes, and evaluate them."""
        planes = 2 if kind == FULL else 1
        tables = iter(split_tables(self.read(16 * planes * len(gates) * len(wires)), planes))
        for slots, (a, b, out, _), keys, hashed in self.cells(kind, gates, wires, call):
            slots[out] = self.evaluate(kind, keys, slots[a], slots[b], next(tables), hashed)

    def evaluate(self, kind: int, keys: Pair, a: int, b: int, table: tuple[int, ...],
                 hashed: Hash = gate_hash) -> int:
        """Evaluate one AND; returns the active label of its output."""
        out = 0
        if kind != EVALUATORS:
            out = hashed(keys[0], a) ^ (table[0] if a & 1 else 0)
        if kind != GARBLERS:
            out ^= hashed(keys[1], b) ^ (table[-1] ^ a if b & 1 else 0)
        return out

    def decoding(self, labels: list[int], call: int) -> bytes:
        """Return the hash of each label."""
        key = self.key(call, DECODING)
        return b"".join(value.to_bytes(16, "little") for value in hash_all(
            [(key ^ i << 64, label) for i, label in enumerate(labels)]).values())


def bits_of(pairs: bytes, hashes: bytes) -> list[int]:
    """Return the bits of labels, from the garbler's pairs and the evaluator's hashes.

    All labels are looked at before the fault is raised.
    """
    bits, wrong = [], 0
    for i in range(0, len(hashes), 16):
        pair, active = pairs[2 * i:2 * i + 32], hashes[i:i + 16]
        is_zero, is_one = pair[:16] == active, pair[16:] == active
        bits.append(int(is_one))
        wrong += is_zero == is_one
    need(wrong == 0, "a label of a result is none of the two", "check-failed")
    return bits
