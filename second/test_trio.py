"""Tests of chapter 12: its worked example, the adder by levels, three roles in one process."""

from __future__ import annotations

import random
import threading
import unittest
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import errors
from adder import adder_tape
from link import Digest
from plan import Domain, Tape
from tensors import Tensor, flatten
from trio import BITS, INPUTS, INTEGERS, Form, Trio, pack, unpack

SESSION = bytes(range(0x40, 0x60))


class Post:
    """What crosses between parties in one process."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.queues = defaultdict(bytearray)
        self.failed = False


class LocalMesh:
    """The mesh of one party, which keeps the messages that it has sent."""

    def __init__(self, me, post):
        self.me, self.post = me, post
        self.unsent = {peer: bytearray() for peer in self.peers()}
        self.sent = []                          # (receiver, message)
        self.digests = {ends: Digest(SESSION, *ends) for peer in self.peers()
                        for ends in ((me, peer), (peer, me))}

    def peers(self):
        """The two others."""
        return [peer for peer in range(3) if peer != self.me]

    def digest(self, sender, receiver):
        """D(sender, receiver)."""
        return self.digests[sender, receiver].value()

    def write(self, peer, data, bulk=False):
        """Write to the message under way."""
        self.digests[self.me, peer].update(data, bulk)
        self.unsent[peer] += data

    def flush(self):
        """End all messages."""
        with self.post.changed:
            for peer, data in self.unsent.items():
                if data:
                    self.post.queues[self.me, peer] += data
                    self.sent.append((peer, bytes(data)))
                    data.clear()
            self.post.changed.notify_all()

    def read(self, peer, n, bulk=False):
        """Wait for n bytes."""
        queue = self.post.queues[peer, self.me]
        with self.post.changed:
            self.post.changed.wait_for(lambda: len(queue) >= n or self.post.failed, 20)
            if len(queue) < n:
                raise AssertionError(f"party {self.me} waits for bytes of party {peer}")
            data = bytes(queue[:n])
            del queue[:n]
        self.digests[peer, self.me].update(data, bulk)
        return data

    def settle(self):
        """Compare digests, as link.Mesh does."""
        for peer in self.peers():
            self.write(peer, self.digest(self.me, peer))
        yield
        for peer in self.peers():
            expected = self.digest(peer, self.me)
            if self.read(peer, 32) != expected:
                raise errors.Fault(f"party {peer}", "altered")


class FixedCoins:
    """Coins that give one key, once."""

    def __init__(self, key):
        self.keys = [key]

    def secret(self, label):
        """The only draw."""
        assert label == "trio: key"
        return self

    def read(self, n):
        """The key."""
        key = self.keys.pop()
        assert n == len(key)
        return key


def drive(mesh, call, flights=None):
    """Run a call alone; checks the number of its flights, if one is given."""
    count = 0
    try:
        while True:
            next(call)
            mesh.flush()
            count += 1
    except StopIteration as stop:
        assert flights in (None, count), count
        return stop.value


def run(party, roles=(0, 1, 2)):
    """Run `party(trio, mesh)` for all three after the set-up; results by party."""
    post = Post()

    def start(me):
        mesh = LocalMesh(me, post)
        role = roles.index(me)
        setting = {"parties": 3, "roles": [[party] for party in roles]}
        trio = Trio(mesh, FixedCoins(bytes([role + 1]) * 32), SESSION, setting)
        try:
            trio.set_up()
            return party(trio, mesh)
        except BaseException:
            with post.changed:
                post.failed = True
                post.changed.notify_all()
            raise

    with ThreadPoolExecutor(3) as pool:
        return list(pool.map(start, range(3)))


def evaluate(tape, inputs):
    """The outputs of a tape on bits in clear."""
    slots = [0, 1, *inputs] + [0] * (tape.slots - 2 - len(inputs))
    xors = ands = 0
    for xors_end, ands_end in tape.batches:
        for a, b, out, _ in tape.xors[xors:xors_end]:
            slots[out] = slots[a] ^ slots[b]
        news = [(out, slots[a] & slots[b]) for a, b, out, _ in tape.ands[ands:ands_end]]
        for out, bit in news:
            slots[out] = bit
        xors, ands = xors_end, ands_end
    return [slots[i] for i in tape.outputs]


TWO_ANDS = Tape(4, 8, 1, [], [(2, 4, 6, 0), (3, 5, 7, 1)], [(0, 2)], [6, 7], bytes(2))
# Two batches with ANDs, NOT, and XORs behind the last AND: out = (a & b ^ 1) & c ^ a, a & b.
LAYERS = Tape(3, 9, 2, [(5, 1, 6, 0), (7, 2, 8, 1)], [(2, 3, 5, 0), (6, 4, 7, 1)],
              [(0, 1), (1, 2), (2, 2)], [8, 5], bytes(2))


class Example(unittest.TestCase):
    """The worked example of chapter 12."""

    def test_layout(self):
        """Both examples of messages."""
        self.assertEqual(Form(1, 3, 5).message([7, 30, 21]).hex(), "c757")
        self.assertEqual(Form(2, 3, None).message([1, 1, 0, 0, 1, 1]).hex(), "33")
        self.assertEqual(unpack(pack([7, 30, 21], 5), 3, 5), [7, 30, 21])

    def test_streams(self):
        """The stream of inputs of k_1."""
        def party(trio, mesh):
            self.assertEqual(sorted(trio.streams), sorted([BITS, INTEGERS, INPUTS]))
            return trio.streams[INPUTS][0 if mesh.me == 1 else 1]

        for stream in run(party)[:2]:
            self.assertEqual(stream.start, int("73a7470aba813d4a0afe65ac91b6e4d2", 16))
            self.assertEqual(stream.draw(2)[:24].hex(), "d4bff2e32cc4a2f02b24ce1e06f32df7"
                                                        "7ee9bd302ad45024")
            self.assertEqual(stream.draw(1)[:8].hex(), "32e03700040e47ba")

    def test_bytes(self):
        """Every message and component of the table."""
        def party(trio, mesh):
            def values(numbers, owner):
                return numbers if mesh.me == owner else None

            shares = []
            x = drive(mesh, trio.input(0, values([1, 3, 2], 0), 3, 2, None), 1)
            shares.append(x)
            y = drive(mesh, trio.input(1, values([3, 1, 2], 1), 3, 2, None), 1)
            z = Tensor(drive(mesh, trio.tape(TWO_ANDS, x.planes + y.planes, 3), 1))
            shares.append(z)
            old, new = Domain(None, 2, False), Domain(5, 2, False)
            z = drive(mesh, trio.convert(z, old, new), 2)
            shares.append(z)
            z = drive(mesh, trio.product(z, z, 5), 1)
            z = drive(mesh, trio.convert(z, Domain(5, 3, False), Domain(None, 3, False)), 2)
            opened = drive(mesh, trio.open([(z, None, [0, 1, 2])]), 1)
            self.assertEqual(opened, [[1, 1, 4]])
            drive(mesh, trio.settle(), 1)
            own = [[pack([share[0] for share in plane], 1) for plane in tensor.planes]
                   for tensor in shares[:2]]
            return mesh.sent, own + [[share[0] for share in shares[2].planes[0]]]

        sent, components = zip(*run(party))
        self.assertEqual([[(to, data.hex()) for to, data in messages[1:-2]] for messages in sent], [
            [(2, text) for text in ("2f", "02", "2f684f37", "ba0e", "e910", "3a", "05")]
            + [(1, "1b01")],
            [(0, text) for text in ("02", "35", "235c", "aa24", "30", "04")] + [(2, "4e00")],
            [(1, text) for text in ("14", "c310", "ae5e", "17", "01")] + [(0, "5600")]])
        self.assertEqual([messages[0] for messages in sent], [
            (2, b"\1" * 32), (0, b"\2" * 32), (1, b"\3" * 32)])
        self.assertEqual(list(zip(*components)), [
            ([7, 5], [4, 3], [0, 0]), ([2, 0], [5, 6], [4, 2]),
            ([5, 30, 19], [25, 27, 10], [3, 8, 5])])


class Adder(unittest.TestCase):
    """The circuit that turns integers into bits."""

    def test_levels(self):
        """ANDs by level, as the text has them."""
        for n, ands in ((1, []), (2, [1]), (3, [2, 1]), (6, [5, 3, 2, 1]), (8, [7, 5, 4, 3]),
                        (16, [15, 13, 10, 9, 8]), (32, [31, 29, 20, 19, 22, 18]),
                        (40, [39, 37, 22, 19, 13, 12, 15]),
                        (64, [63, 61, 38, 35, 41, 48, 39])):
            tape = adder_tape(n)
            ends = [0] + [end for _, end in tape.batches]
            counts = [end - start for start, end in pairwise(ends)]
            self.assertEqual(counts, ands + [0], n)
            self.assertEqual((tape.depth, len(tape.known)), (len(ands), sum(ands)))
            self.assertEqual(tape.batches[-1], (len(tape.xors), len(tape.ands)))

    def test_sums(self):
        """Sums of random words, and words that carry all the way."""
        rng = random.Random(12)
        for n in (*range(1, 20), 31, 32, 33, 63, 64):
            tape, top = adder_tape(n), (1 << n) - 1
            for _ in range(10):
                words = [rng.choice((rng.getrandbits(n), 0, 1, top)) for _ in range(3)]
                bits = [word >> i & 1 for word in words for i in range(n)]
                self.assertEqual(pack(evaluate(tape, bits), 1), sum(words) & top)


class Roles(unittest.TestCase):
    """Three roles in one process, with parties in any roles."""

    def test_integers(self):
        """Inputs, linear maps, products and all conversions of integers."""
        numbers, others = [5, -7, 2**31 - 1, 0, -2**31], [3, 2**33, -1, 1, 7]
        for roles, k in (((0, 1, 2), 64), ((2, 0, 1), 40), ((1, 0, 2), 33)):
            def party(trio, mesh, k=k):
                def shared(owner, given):
                    return drive(mesh, trio.input(
                        owner, given if owner == mesh.me else None, 5, 40, k), 1)

                x, y = shared(1, numbers), shared(2, others)
                c = trio.constant([10, 20, 30, 40, -50], 40, k)
                total = Tensor([[trio.linear([(a, 3), (b, -1), (d, 1)], k) for a, b, d in
                                 zip(x.planes[0], y.planes[0], c.planes[0])]])
                product = drive(mesh, trio.product(
                    Tensor(x.planes + c.planes), Tensor(y.planes + total.planes), k), 1)
                low = drive(mesh, trio.convert(
                    product, Domain(k, 32, True), Domain(20, 32, True)), 0)
                bits = drive(mesh, trio.convert(
                    product, Domain(k, 32, True), Domain(None, 32, True)))
                back = [drive(mesh, trio.convert(
                    bits, Domain(None, 32, signed), Domain(k, 32, signed)), 2)
                    for signed in (False, True)]
                small = drive(mesh, trio.convert(
                    bits, Domain(None, 32, True), Domain(7, 32, True)), 2)
                drive(mesh, trio.settle(), 1)
                return drive(mesh, trio.open([
                    (total, k, [0, 2]), (product, k, [0, 1, 2]), (low, 20, [1]),
                    (bits, None, [0, 1, 2]), (back[0], k, [0, 1, 2]), (back[1], k, [0, 1, 2]),
                    (small, 7, [0, 1, 2])]), 1)

            constant = [10, 20, 30, 40, -50]
            total = [3 * a - b + c for a, b, c in zip(numbers, others, constant)]
            product = [a * b + c * t for a, b, c, t in zip(numbers, others, constant, total)]
            signed = [(p + 2**31) % 2**32 - 2**31 for p in product]
            expected = [[v % 2**k for v in total], [v % 2**k for v in product],
                        [v % 2**20 for v in product], [v % 2**32 for v in product],
                        [v % 2**32 for v in product], [v % 2**k for v in signed],
                        [v % 2**7 for v in product]]
            for me, opened in enumerate(run(party, roles)):
                hidden = {1: [0], 0: [2], 2: [2]}[me]
                self.assertEqual(opened, [None if i in hidden else values
                                          for i, values in enumerate(expected)])

    def test_tapes(self):
        """Batches, NOT, XORs behind the last AND; one lane and many."""
        rng = random.Random(7)
        for lanes in (1, 3, 64, 65, 200):
            numbers = [rng.getrandbits(3) for _ in range(lanes)]

            def party(trio, mesh, lanes=lanes, numbers=numbers):
                x = drive(mesh, trio.input(2, numbers if mesh.me == 2 else None, lanes, 3, None))
                result = Tensor(drive(mesh, trio.tape(LAYERS, x.planes, lanes), 2))
                same = Tensor(drive(mesh, trio.tape(
                    Tape(3, 6, 0, [(2, 1, 5, 0)], [], [(1, 0)], [5, 4], b""), x.planes, lanes), 0))
                drive(mesh, trio.settle())
                return drive(mesh, trio.open([(result, None, [0]), (same, None, [0, 2])]))

            expected = [pack(evaluate(LAYERS, [n >> p & 1 for p in range(3)]), 1) for n in numbers]
            same = [(n & 1 ^ 1) | n >> 2 << 1 for n in numbers]
            self.assertEqual(run(party, (1, 2, 0)), [
                [expected, same], [None, None], [None, same]])

    def test_constants(self):
        """Constants of bits and integers, and the share of zero."""
        def party(trio, mesh):
            bits, integers = trio.constant([-1, 5], 4, None), trio.constant([-1, 5], 4, 9)
            zero = Tensor([[trio.zero, trio.zero]])
            shares = [flatten(x.planes) for x in (bits, integers)]
            if trio.role == 1:
                self.assertEqual(shares, [[(0, 0)] * 8, [(0, 0)] * 2])
            return drive(mesh, trio.open([(bits, None, [0, 1, 2]), (integers, 9, [0, 1, 2]),
                                          (zero, 9, [0, 1, 2])]), 1)

        self.assertEqual(run(party), [[[15, 5], [511, 5], [0, 0]]] * 3)


class Faults(unittest.TestCase):
    """What a role notices."""

    def test_unused_bits(self):
        """High bits of the last byte."""
        def party(trio, mesh):
            call = trio.input(0, [1, 0, 1] if mesh.me == 0 else None, 3, 2, None)
            next(call)
            if mesh.me == 0:
                mesh.unsent[2][0] |= 0x40
            mesh.flush()
            try:
                next(call)
            except StopIteration:
                return "finished"
            except errors.Fault as fault:
                return fault.code

        self.assertEqual(run(party), ["finished", "finished", "protocol-broken"])

    def test_altered(self):
        """A component that was altered shows when digests are compared."""
        def party(trio, mesh):
            call = trio.input(0, [1, 0, 1] if mesh.me == 0 else None, 3, 2, None)
            next(call)
            if mesh.me == 0:
                mesh.unsent[2][0] ^= 1
            mesh.flush()
            drive(mesh, call)
            try:
                drive(mesh, trio.settle())
            except errors.Fault as fault:
                return fault.code
            return "finished"

        self.assertEqual(run(party), ["finished", "finished", "altered"])

    def test_classes(self):
        """Which bytes are bulk: all that is not a key, an input, a digest or an opening."""
        def party(trio, mesh):
            classes, write = [], mesh.write

            def noted(peer, data, bulk=False):
                classes.append(bulk)
                write(peer, data, bulk)

            mesh.write = noted
            x = drive(mesh, trio.input(0, [1, 2] if mesh.me == 0 else None, 2, 2, None))
            x = drive(mesh, trio.convert(x, Domain(None, 2, False), Domain(8, 2, False)))
            drive(mesh, trio.settle())
            drive(mesh, trio.open([(x, 8, [0, 1, 2])]))
            return classes

        ending = [True, False, False, False]
        self.assertEqual(run(party), [[False, True] + ending, ending, ending])


if __name__ == "__main__":
    unittest.main()
