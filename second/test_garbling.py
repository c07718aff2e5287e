"""Tests of chapter 10: tables and the hash, both sides in one process."""

from __future__ import annotations

import random
import unittest
from itertools import islice
from unittest import mock

from garbling import (
    EVALUATORS,
    FULL,
    GARBLERS,
    PLANES,
    THREE_HALVES,
    Evaluator,
    Garbler,
    bits_of,
    gate_hash,
    join_tables,
    lane_blocks,
    pieces,
    split_tables,
    times_w,
)
from plan import Tape
from primitives import Aes128
from test_yao import code, number, outcome, text, unhex


class Garbling(unittest.TestCase):
    """Chapter 10."""

    SEED = int.from_bytes(bytes(range(16)), "little")

    def machine(self, delta=(1 << 128) - 1):
        """Return a garbler whose tables go nowhere."""
        return Garbler(self.SEED, 0, 1, delta, lambda data: None)

    def test_hash(self):
        """The tweaks and the hash of the example."""
        machine = self.machine()
        key = machine.key(1, 1) ^ 5 ^ 37 << 64
        self.assertEqual(text(key ^ self.SEED), "05000000010000002500000001000000")
        label = number(bytes(range(16, 32)).hex())
        self.assertEqual(text(gate_hash(key, label)), "182bfd8ed070b506445000c91b6cbb82")
        key = machine.key(3 * 2**32 + 7, 15) ^ 5 ^ 37 << 64
        self.assertEqual(text(key ^ self.SEED), "0500000007000000250000000f300000")

        class Plain(Aes128):
            """Answers to the right block."""

            expected = unhex("18191a1b1c1d1e1f0808080808080808")

            def encrypt(self, block):
                """Check the block."""
                return b"x" * 16 if block == self.expected else bytes(16)

        with mock.patch("garbling.Aes128", Plain):
            mixed = gate_hash(0, label)
        self.assertEqual(text(mixed ^ number(Plain.expected.hex())), "78" * 16)

    def test_gates(self):
        """Tables and outputs of the three classes."""
        machine = self.machine()
        keys = [machine.key(1, part) ^ 5 for part in range(2)]
        a, b = number(bytes(range(32, 48)).hex()), number(bytes(range(49, 65)).hex())
        even = b & ~1
        for kind, label, table, out in (
                (FULL, b, ["1870ab80df8d614144667b9dd7951ad2", "8dc4f11b13d7e07f5647d273318dff51"],
                 "020046d08b178616131d98787786107f"),
                (EVALUATORS, even, ["ed250ffe1cdb6686a47027b122c01998"],
                 "8b2c421b033b08ad0ed52db8efeda894"),
                (GARBLERS, b, ["1870ab80df8d614144667b9dd7951ad2"],
                 "b5e27e330560480fae40cd971c4e9c4a")):
            zero, blocks = machine.garble(kind, keys, a, label)
            self.assertEqual(([text(block) for block in blocks], text(zero)), (table, out))
        self.assertEqual(machine.decoding([a], 2).hex(),
                         "0bceb422aad056a69d8b49d0d5ed9ce3" "8d63c38f62e693bac3fce1e2f1157196")

    def test_three_halves(self):
        """Tables and outputs of full ANDs of three-halves, for all permute bits of operands."""
        delta = number("0112233445566778899aabbccddeef00")
        machine = Garbler(self.SEED, 0, 1, delta, lambda data: None, THREE_HALVES)
        keys = [machine.key(1, part) ^ 5 for part in range(3)]
        a, b = number(bytes(range(32, 48)).hex()), number(bytes(range(49, 65)).hex())
        self.assertEqual(text(times_w(a)), "24252627040404042c2d2e2f04040404")
        self.assertEqual(times_w(times_w(times_w(a))), a)
        zero = number("4ce44b67051d78268e7767288693760c")
        for x, y, out, table in (
                (a, b, zero, "2c2d1def548d542c9bb48fb6c1df9097" "a41043cb6463b279" "00"),
                (a, b ^ delta, zero, "393a08f474ac76078ea39adde9f6bac4" "912674fb595d8d41" "05"),
                (a ^ delta, b, zero ^ delta,
                 "5c4d4da705de057b6b545f8e908cc140" "852342d4c5d03396" "03"),
                (a ^ delta, b ^ delta, zero,
                 "495a58bc25ff27507e434ae5b8a5eb13" "b01575e4f8ee0cae" "06")):
            made = machine.garble(THREE_HALVES, keys, x, y)
            self.assertEqual((made[0], join_tables(THREE_HALVES, [made[1]]).hex()), (out, table))
            # Whoever evaluates looks at three bits alone.
            read = (*made[1][:2], made[1][2] | 0xF8)
            evaluator = Evaluator(self.SEED, 0, 1, None, THREE_HALVES)
            for i, j in ((0, 0), (0, 1), (1, 0), (1, 1)):
                label = evaluator.evaluate(THREE_HALVES, keys, x ^ i * delta, y ^ j * delta, read)
                self.assertEqual(label, out ^ (i & j) * delta)

    def test_pieces(self):
        """The pieces of the example, and blocks of lanes."""
        found = [(xors.start, xors.stop, ands.start, ands.stop) for _, xors, ands in pieces(
            [(10, 20), (2100, 600), (7000, 1300), (7001, 1301)])]
        self.assertEqual(found, [
            (0, 10, 0, 20), (10, 2058, 20, 20), (2058, 2100, 20, 532), (2100, 2100, 532, 600),
            (2100, 4148, 600, 600), (4148, 6196, 600, 600), (6196, 7000, 600, 1112),
            (7000, 7001, 1112, 1301)])
        for lanes, slots, widths in ((37, 512, [32, 5]), (63, 512, [32, 16, 15]), (1, 9, [1]),
                                     (37, 513, [16, 16, 5]), (165, 9, [32] * 5 + [5])):
            self.assertEqual([len(block) for block in lane_blocks(lanes, slots)], widths)

    def order(self, tape, lanes):
        """Return plane, gate and lane of each block of the tables of a run."""
        written = []
        machine = self.machine()
        machine.write = written.append
        machine.garble = lambda kind, keys, *_: (0, tuple(
            keys[0] ^ self.SEED | plane << 120 for plane in range(2 - (kind > 0))))
        machine.run(tape, [[0] * lanes] * tape.inputs, lanes, 0)
        blocks = split_tables(GARBLERS, b"".join(written))
        return [(block >> 120, block & 0xFFFFFFFF, block >> 64 & 0xFFFFFFFF)
                for (block,) in blocks]

    def test_order(self):
        """Both examples of the order of tables."""
        gates = [(2, 3, 4 + i, 70 + i) for i in range(2)]
        tape = Tape(2, 6, 1, [], gates, [(0, 2)], [4], bytes(2))
        expected = []
        for group in ([(70, lane) for lane in range(16)], [(70, lane) for lane in range(16, 32)],
                      [(71, lane) for lane in range(16)], [(71, lane) for lane in range(16, 32)],
                      [(gate, lane) for gate in (70, 71) for lane in range(32, 37)]):
            expected += [(plane, *pair) for plane in range(2) for pair in group]
        self.assertEqual(self.order(tape, 37), expected)
        # Two pieces: the XORs of the second batch do not fit into the first one.
        tape = Tape(2, 6, 2, [(2, 3, 4, 0)] * 2049, gates, [(1, 1), (2049, 2)], [4], bytes(2))
        found = []
        for _, gate, lane in self.order(tape, 165):
            if (gate, lane // 32) not in found[-1:]:
                found.append((gate, lane // 32))
        self.assertEqual(found, [(70, 0), (70, 1), (70, 2), (70, 3), (71, 0), (71, 1), (71, 2),
                                 (71, 3), (70, 4), (70, 5), (71, 4), (71, 5)])

    def test_tables(self):
        """Groups and planes, there and back."""
        for kind, planes in enumerate(PLANES):
            tables = [tuple(random.getrandbits(8 * size) for size in planes) for _ in range(37)]
            self.assertEqual(split_tables(kind, join_tables(kind, tables)), tables)
        # 18 gates: 16 in a group, 2 in the last one.
        three = join_tables(THREE_HALVES, [(100 + i, 200 + i, i) for i in range(18)])
        self.assertEqual(len(three), 18 * 25)
        self.assertEqual([three[at] for at in (0, 240, 256, 376, 384, 399)],
                         [100, 115, 200, 215, 0, 15])
        self.assertEqual([three[at] for at in (400, 416, 432, 440, 448, 449)],
                         [116, 117, 216, 217, 16, 17])

    def test_random_tapes(self):
        """Random tapes of all classes: garbler against evaluator against bits."""
        rng = random.Random(1)
        for lanes, xors, ands, batches in ((37, 20, 20, 4), (165, 4, 4, 2), (1, 2500, 1100, 1),
                                           (2, 300, 700, 5)):
            tape = random_tape(rng, xors, ands, batches)
            for full in (FULL, THREE_HALVES):
                self.check_tape(rng, tape, lanes, full)

    def check_tape(self, rng, tape, lanes, full):
        """Run a tape on both sides: two inputs of the garbler, then two of the evaluator."""
        delta, tables = rng.getrandbits(128) | 1, bytearray()
        garbler = Garbler(self.SEED, 3, 4, delta, tables.extend, full)
        bits = [[rng.getrandbits(1) for _ in range(lanes)] for _ in range(tape.inputs)]
        active = [[rng.getrandbits(128) & ~1 for _ in range(lanes)] for _ in range(2)]
        zeros = [[label ^ bit * delta for label, bit in zip(*pair)]
                 for pair in zip(active, bits)]
        zeros += [[rng.getrandbits(128) & ~1 for _ in range(lanes)] for _ in range(2)]
        active += [[label ^ bit * delta for label, bit in zip(*pair)]
                   for pair in zip(zeros[2:], bits[2:])]
        out = garbler.run(tape, zeros, lanes, 7)
        classes = [tape.known.count(byte) for byte in (4, 5)]
        whole = len(tape.ands) - sum(classes)
        self.assertEqual(len(tables), lanes * (16 * sum(classes) + (25 if full else 32) * whole))

        def read(n):
            data = bytes(tables[:n])
            del tables[:n]
            return data

        evaluator = Evaluator(self.SEED, 3, 4, read, full)
        found = evaluator.run(tape, active, lanes, 7)
        self.assertEqual(len(tables), 0)
        clear = [[run_clear(tape, [plane[lane] for plane in bits])[o] for lane in range(lanes)]
                 for o in range(len(tape.outputs))]
        self.assertEqual(found, [[label ^ bit * delta for label, bit in zip(*pair)]
                                 for pair in zip(out, clear)])
        pairs, hashes = garbler.decoding(out[0], 8), evaluator.decoding(found[0], 8)
        self.assertEqual(bits_of(pairs, hashes), clear[0])
        for wrong in ((pairs, bytes(len(hashes))), (pairs, bytes([hashes[0] ^ 1]) + hashes[1:]),
                      (hashes[:16] * 2, hashes[:16])):
            failed = outcome(lambda wrong=wrong: bits_of(*wrong))
            self.assertEqual(code(failed), "check-failed")
            self.assertNotRegex(str(failed), r"\d")     # peers hear it: not how many, nor where


def random_tape(rng, xors, ands, batches):
    """Make a tape of four inputs; some ANDs have an input of party 3 or 4 as operand b."""
    slots, gates, ends, known = 6, ([], []), [], []
    for batch in range(batches):
        for kind, count in enumerate((xors, ands)):
            sources = slots
            for _ in range(count):
                a, b = rng.randrange(slots if kind == 0 else sources), rng.randrange(sources)
                if kind == 1:
                    known.append(rng.choice((0, 0, 1, 4, 5)))
                    if known[-1] >= 4:
                        b = rng.randrange(2, 4) + 2 * (known[-1] - 4)
                gates[kind].append((a, b, slots, len(gates[kind])))
                slots += 1
        ends.append((xors * (batch + 1), ands * (batch + 1)))
    return Tape(4, slots, batches, *gates, ends, list(range(slots - 9, slots)), bytes(known))


def run_clear(tape, bits):
    """Run a tape on bits."""
    slots = [0, 1, *bits] + [0] * (tape.slots - 2 - len(bits))
    xors, ands = iter(tape.xors), iter(tape.ands)
    done = (0, 0)
    for end in tape.batches:
        for a, b, out, _ in islice(xors, end[0] - done[0]):
            slots[out] = slots[a] ^ slots[b]
        for a, b, out, _ in islice(ands, end[1] - done[1]):
            slots[out] = slots[a] & slots[b]
        done = end
    return [slots[slot] for slot in tape.outputs]


if __name__ == "__main__":
    unittest.main()
