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
# Classes of gates: of half gates, and the full ones of three-halves.
FULL, GARBLERS, EVALUATORS, THREE_HALVES = 0, 1, 2, 3
PARTS = (0, 1), (0,), (1,), (0, 1, 2)           # of the hashes of a class: a, b, a ^ b
PLANES = (16, 16), (16,), (16,), (16, 8, 1)     # bytes of the table of a gate
DECODING = 15                                   # the part of the tweak of a decoding
LEFT = 0x00000000_FFFFFFFF_00000000_FFFFFFFF    # words 0 and 2 of a block
RIGHT = LEFT << 32                              # words 1 and 3
Pair = tuple[int, int]
Keys = tuple[int, ...]                          # of the hashes of a gate, by their parts
Hash = Callable[[int, int], int]                # of a key and a label
Cell = tuple[list[int], Gate, Keys, Hash]       # slots, gate, keys, hashes
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


def join_tables(kind: int, tables: list[tuple[int, ...]]) -> bytes:
    """Write the tables of a run of one class: groups of 16, in each plane by plane."""
    return b"".join(value.to_bytes(size, "little") for start in range(0, len(tables), 16)
                    for size, plane in zip(PLANES[kind], zip(*tables[start:start + 16]))
                    for value in plane)


def split_tables(kind: int, data: bytes) -> list[tuple[int, ...]]:
    """Read the tables of a run of one class."""
    tables: list[tuple[int, ...]] = []
    each, at = sum(PLANES[kind]), 0
    while at < len(data):
        n, planes = min(16, (len(data) - at) // each), []
        for size in PLANES[kind]:
            planes.append([int.from_bytes(data[i:i + size], "little")
                           for i in range(at, at + n * size, size)])
            at += n * size
        tables += zip(*planes)
    return tables


# ----------------------------------------------------------------------------------- both sides


class Machine:
    """What both sides share: numbers of calls, the hash, and the run of a tape.

    `classes` has the class of a gate by its byte in the tape; `full` is that of full gates.
    """

    one = 0                                     # the label of constant 1

    def __init__(self, seed: int, garbler: int, evaluator: int, full: int = FULL) -> None:
        self.seed, self.calls = seed, count()
        self.classes = [full] * 256
        self.classes[1 + garbler], self.classes[1 + evaluator] = GARBLERS, EVALUATORS

    def key(self, call: int, part: int) -> int:
        """Return the key of the hash at gate 0 and lane 0."""
        return self.seed ^ (call & 0xFFFFFFFF) << 32 ^ ((call >> 32 << 12) + part) << 96

    def keys(self, call: int, number: int, lane: int) -> Keys:
        """Return the keys of the hash at a gate."""
        return tuple(self.key(call, part) ^ (number | lane << 64) for part in range(3))

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
        hashed = hash_all([(keys[part], operands(slots[gate[0]], slots[gate[1]])[part] ^ offset)
                           for slots, gate, keys in cells for part in PARTS[kind]
                           for offset in {0, self.one}])
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


def operands(a: int, b: int) -> tuple[int, int, int]:
    """What parts 0, 1 and 2 of a gate hash."""
    return a, b, a ^ b


def swap(x: int) -> int:
    """Swap the halves of a block."""
    return (x & LEFT) << 32 | x >> 32 & LEFT


def times_w(x: int) -> int:
    """Multiply by w: of the halves (l, r), make (r, l ^ r)."""
    return swap(x) ^ x & RIGHT


def dice(hashes: tuple[int, ...], i: int, j: int, bits: int) -> Pair:
    """The bits r0 and r1 of labels with permute bits i and j, by their hashes."""
    both = hashes[2] >> 32 ^ (i ^ j) * bits
    return ((hashes[0] >> 32 ^ both ^ i * (bits >> 1)) & 1,
            (hashes[1] ^ both ^ j * (bits >> 2)) & 1)


def open_three(a: int, b: int, table: tuple[int, ...], hashes: tuple[int, ...]) -> int:
    """The label of the output, from labels of the operands (three-halves)."""
    (halves, third, bits), i, j = table, a & 1, b & 1
    r0, r1 = dice(hashes, i, j, bits)
    x = times_w(times_w(a)) ^ b
    both = hashes[2] ^ (i ^ j) * spread(third)
    left = hashes[0] ^ both ^ (halves if i else b)
    right = hashes[1] ^ swap(both) ^ (halves if j else a)
    return left & LEFT ^ right & RIGHT ^ r0 * x ^ r1 * times_w(x)


def spread(third: int) -> int:
    """Put 8 bytes into words 0 and 2."""
    return third & 0xFFFFFFFF | third >> 32 << 64


# -------------------------------------------------------------------------------------- garbler


class Garbler(Machine):
    """The side that makes tables, from zero labels."""

    def __init__(self, seed: int, garbler: int, evaluator: int, delta: int,
                 write: Callable[[bytes], None], full: int = FULL) -> None:
        super().__init__(seed, garbler, evaluator, full)
        self.one = delta
        self.write = write

    def ands(self, kind: int, gates: list[Gate], wires: dict[int, list[int]], call: int) -> None:
        """Garble ANDs of one class on a block of lanes, and write their tables."""
        tables = []
        for slots, (a, b, out, _), keys, hashed in self.cells(kind, gates, wires, call):
            slots[out], table = self.garble(kind, keys, slots[a], slots[b], hashed)
            tables.append(table)
        self.write(join_tables(kind, tables))

    def garble(self, kind: int, keys: Keys, a: int, b: int, hashed: Hash = gate_hash
               ) -> tuple[int, tuple[int, ...]]:
        """Garble one AND; returns the zero label of its output, and its table."""
        if kind == THREE_HALVES:
            pairs = [(hashed(key, label), hashed(key, label ^ self.one))
                     for key, label in zip(keys, operands(a, b))]
            zeros = tuple(zero for zero, _ in pairs)
            table = self.three(a, b, zeros, [zero ^ one for zero, one in pairs])
            return open_three(a, b, table, zeros), table
        delta, out = self.one, 0
        table = ()
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

    def three(self, a: int, b: int, zeros: tuple[int, ...], sums: list[int]) -> tuple[int, ...]:
        """The table of one AND (three-halves), by hashes of 0 and their sums with those of 1."""
        deltas = self.one, times_w(self.one), times_w(times_w(self.one))
        p, q = a & 1, b & 1
        bits = ((sums[2] >> 32 ^ p ^ q) & 1 | (sums[0] >> 32 & 1 ^ p ^ 1) << 1
                | (sums[1] & 1 ^ q ^ 1) << 2)
        r0, r1 = dice(zeros, p, q, bits)
        x = times_w(times_w(a)) ^ b
        y = x ^ p * deltas[2] ^ q * deltas[0]
        halves = ((sums[0] ^ b) & LEFT ^ (sums[1] ^ a) & RIGHT ^ (1 - p) * y ^ (1 - q) * times_w(y)
                  ^ (p ^ q) * swap(deltas[0]) ^ r0 * deltas[1] ^ r1 * deltas[2])
        third = (sums[2] ^ times_w(x) ^ p * times_w(times_w(y)) ^ q * y ^ deltas[2]
                 ^ r0 * deltas[0] ^ r1 * deltas[1])
        return halves, third & 0xFFFFFFFF | (third >> 64 & 0xFFFFFFFF) << 32, bits

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
                 read: Callable[[int], bytes], full: int = FULL) -> None:
        super().__init__(seed, garbler, evaluator, full)
        self.read = read

    def ands(self, kind: int, gates: list[Gate], wires: dict[int, list[int]], call: int) -> None:
        """Read the tables of ANDs of one class on a block of lanes, and evaluate them."""
        size = sum(PLANES[kind]) * len(gates) * len(wires)
        tables = iter(split_tables(kind, self.read(size)))
        for slots, (a, b, out, _), keys, hashed in self.cells(kind, gates, wires, call):
            slots[out] = self.evaluate(kind, keys, slots[a], slots[b], next(tables), hashed)

    def evaluate(self, kind: int, keys: Keys, a: int, b: int, table: tuple[int, ...],
                 hashed: Hash = gate_hash) -> int:
        """Evaluate one AND; returns the active label of its output."""
        if kind == THREE_HALVES:
            return open_three(a, b, table, tuple(map(hashed, keys, operands(a, b))))
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
