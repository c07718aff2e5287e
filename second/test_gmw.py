"""Tests of chapter 15: its worked example, circuits of carries, and two roles in one process."""

from __future__ import annotations

import random
import unittest
from collections import Counter
from itertools import pairwise

import errors
from adder import bits_tape, floor_tape
from correlations import Correlations, cut, join
from gmw import GROUP, Gmw, groups_of
from plan import Plan
from primitives import blake3
from streams import Coins
from tensors import Tensor, lines
from test_plan import ALL, Builder, adder, make_tape, part, view
from test_trio import evaluate
from trio import pack
from vectors_sessions import Run
from walk import Calls, Walk

SESSION = bytes.fromhex("60189c1947184fee364caae3e877577e7514fd834ad0571deb35d4e270ddfc17")


class Pair(Run):
    """Two parties in memory, each of which runs `play(party, mesh, coins)`."""

    def __init__(self, play):
        super().__init__(2)
        self.play = play
        self.run()

    def party(self, party, mesh):
        """One party."""
        mesh.begin(SESSION)
        return self.play(party, mesh, Coins(bytes([party]) + bytes(31)))

    def sent(self, party):
        """The messages of a party."""
        return [payload for _, _, payload in self.messages[party, 1 - party]]


class Example(unittest.TestCase):
    """The example at the end of the chapter."""

    def test_refill(self):
        """One correlation of each kind, and all that crosses."""
        kinds = [(1, 0), (1, 8), (2, 2), (3, 8), (4, 8), (5, 0, 8, 3, 2), (6, 8, 2, 1, 2)]

        def play(party, mesh, coins):
            goods = Correlations(mesh, 1 - party, SESSION, 4)
            goods.set_up(coins, Counter(kinds))
            goods.refill(Counter(kinds))
            return goods.sent.offsets[1], [goods.take(kind, 1)[0] for kind in kinds]

        pair = Pair(play)
        self.assertEqual([delta.to_bytes(16, "little").hex() for delta, _ in pair.found], [
            "272c9118df6d73f63242c3148918c609", "950874c52b2a187350416441c1e30def"])
        self.assertEqual([found for _, found in pair.found], [
            [(0, 1, 0), (49, 239, 70), (0, 3, 1), (0, 162), (1, 155, 123, 41),
             (6, [[177, 187], [81, 44], [5, 30]]),
             ([[29], [140]], [[45, 71]], [[162, 133], [44, 232]])],
            [(0, 0, 0), (0, 100, 157), (0, 0, 1), (0, 94), (0, 102, 148, 230),
             ([71, 214], [[79, 69], [118, 42], [2, 56]]),
             ([[52], [240]], [[63, 164]], [[138, 214], [36, 236]])]])
        first, second = pair.sent(0), pair.sent(1)
        self.assertEqual([len(message) for message in first[:11]], [1024] * 8 + [64, 8224, 1072])
        self.assertEqual([blake3(sent[10]).hex() for sent in (first, second)], [
            "bde06ca749298f1bd4ac6310792003efa37f194db30ff582a900d5c183aaeb1c",
            "70d195ab6f8d96be136505eec0d2dc8dabfd77c5d003bea4c99b83f8761f99d0"])
        self.assertEqual([message.hex() for message in first[11:]], [
            "ebdf1704", "3c", "60", "6c1d96a2804efa279266ccbaddd7b912"])
        self.assertEqual([message.hex() for message in second[11:]], [
            "2ef03e0b", "dbd82303", "4c8b016a42cd81dc69e8cda1a7b99e63"])
        self.assertEqual([pair.meshes[0].digest(i, 1 - i).hex() for i in range(2)], [
            "0b88f29be020ae5a1824039a8d7e61d6e35e1b5361b33c1fb9a80c53bdfdf1fd",
            "16a8ace09fcc7a2fa60e4327eef17353fe4f1c0d7b85a4149bdd8402e517c2b5"])

    def test_one_direction(self):
        """Only the direction is set up that is needed, here of the holder 1."""
        def play(party, mesh, coins):
            goods, kind = Correlations(mesh, 1 - party, SESSION, 8), (5, 1, 9, 4, 1)
            goods.set_up(coins, Counter([kind]))
            goods.refill(Counter([kind]))
            return coins.counter, goods.take(kind, 1)[0]

        pair = Pair(play)
        (draws, own), (other_draws, other) = pair.found
        self.assertTrue(self.holds((5, 1, 9, 4, 1), own, other))
        self.assertEqual((draws, other_draws), (2, 1))
        self.assertEqual([len(message) for message in pair.sent(0)], [1024] * 8 + [32, 3])
        self.assertEqual([len(message) for message in pair.sent(1)], [32, 8224, 560])

    def test_all_kinds_hold(self):
        """Kinds over several batches, with parameters at their ends: sums are right."""
        wanted = {(1, 0): 300, (1, 1): 3, (1, 33): 9, (1, 64): 9, (2, 2): 130, (2, 8): 5,
                  (2, 9): 5, (2, 128): 2, (3, 1): 5, (3, 64): 20, (3, 2): 600, (4, 1): 5,
                  (4, 64): 520, (5, 0, 64, 64, 3): 300, (5, 1, 7, 1, 1): 9, (5, 1, 32, 5, 6): 40,
                  (6, 64, 2, 3, 4): 2, (6, 5, 4, 2, 1): 3, (6, 33, 1, 2, 1): 1}

        def play(party, mesh, coins):
            goods = Correlations(mesh, 1 - party, SESSION, 4)
            goods.set_up(coins, Counter(wanted))
            goods.refill(Counter(wanted))
            with self.assertRaises(errors.Fault):
                goods.take((1, 0), 301)
            return {kind: goods.take(kind, n) for kind, n in wanted.items()}

        first, second = Pair(play).found
        for kind, n in wanted.items():
            self.assertEqual((len(first[kind]), len(second[kind])), (n, n))
            for a, b in zip(first[kind], second[kind]):
                self.assertTrue(self.holds(kind, a, b), (kind, a, b))

    def holds(self, kind, own, other):
        """Whether a correlation is what the table of kinds says."""
        number, *args = kind
        if number == 5:
            holder, k, b, m = args
            (r, s), (a, t) = (own, other) if holder == 0 else (other, own)
            return all((s[i][u] + t[i][u] - (r >> i & 1) * a[u]) % 2**(k - i) == 0
                       for i in range(b) for u in range(m)) and r < 2**b
        if number == 6:
            a, b, c = ([[x + y for x, y in zip(*rows)] for rows in zip(*sides)]
                       for sides in zip(own, other))
            return all((sum(x * y for x, y in zip(row, column)) - c[i][j]) % 2**args[0] == 0
                       for i, row in enumerate(a) for j, column in enumerate(zip(*b)))
        if number == 2 or args == [0]:
            a, b, c = (x ^ y for x, y in zip(own, other))
            return c == a * b < 2**max(args[0], 1)
        r, *rest = own[0] ^ other[0], *((x + y) % 2**args[0] for x, y in zip(own[1:], other[1:]))
        if number == 1:
            return rest[1] == (own[0] + other[0]) * rest[0] % 2**args[0]
        return rest[0] == r and (number == 3 or rest[2] == r * rest[1])

    def test_numbers(self):
        """Messages of numbers without gaps."""
        self.assertEqual(join([5, 1, 0, 3], [3, 1, 0, 7]).hex(), "3d00")
        self.assertEqual(cut(bytes.fromhex("3df8"), [3, 1, 0, 7]), [5, 1, 0, 3])
        self.assertEqual((join([], []), cut(b"", [])), (b"", []))


class Circuits(unittest.TestCase):
    """Groups of ANDs, and the circuits of carries."""

    def test_groups(self):
        """Factors by uses; of equal ones the first operand; no group of more than 128."""
        ands = [(2, 3, 10, 0), (4, 2, 11, 1), (5, 6, 12, 2), (6, 6, 13, 3)]
        self.assertEqual(groups_of(ands), [(2, [(3, 10), (4, 11)]), (6, [(5, 12), (6, 13)])])
        self.assertEqual(groups_of([(5, 6, 9, 0)]), [(5, [(6, 9)])])
        many = [(2, 3 + i, 900 + i, i) for i in range(GROUP + 1)]
        self.assertEqual([len(found) for _, found in groups_of(many)], [GROUP, 1])

    def test_levels(self):
        """ANDs by level, as the text has them."""
        for first, n, ands in (
                (0, 1, []), (0, 2, [1]), (0, 3, [1, 1]), (0, 8, [7, 6, 4]),
                (0, 16, [15, 12, 11, 9]), (0, 32, [31, 22, 21, 24, 19]),
                (0, 64, [63, 40, 37, 43, 50, 40]), (31, 1, [31, 15, 7, 3, 1])):
            ends = [0] + [end for _, end in bits_tape(first, n).batches]
            self.assertEqual([b - a for a, b in pairwise(ends)], ands + [0])

    def test_sums(self):
        """Bits of sums, carries, and the two outputs of a floor."""
        rng = random.Random(15)

        def run(tape, words, n):
            bits = [word >> i & 1 for word in words for i in range(n)]
            return pack(evaluate(tape, bits), 1)

        for k in (1, 2, 3, 7, 8, 31, 33, 64):
            for _ in range(10):
                x, y = (rng.choice((rng.getrandbits(k), 0, 1, 2**k - 1)) for _ in range(2))
                s = rng.randrange(k)
                self.assertEqual(run(bits_tape(s, k - s), (x, y), k), (x + y) % 2**k >> s)
                carry = (x % 2**s + y % 2**s) >> s
                self.assertEqual(run(floor_tape(s, k, False), (x, y), k),
                                 carry | x + y >> k << 1)
                self.assertEqual(run(floor_tape(s, k, True), (x, y), s + 1),
                                 ((x % 2**s + y % 2**s) >> s) | (x >> s | y >> s) % 2 << 1)

    def test_lines(self):
        """Views with strides of 0, below 0, and that overlap."""
        for rows, dims, wanted in ((0, [], 1), (5, [("rows", 1)], 5),
                                   (5, [(3, 0), ("rows", -2)], 5),
                                   (0, [(4, 1), (3, 4)], 12), (0, [(4, 1), (3, 2)], 8),
                                   (0, [(4, 3), (3, 2), (1, 9)], 12), (0, [(9, 1), (9, 1)], 17)):
            self.assertEqual(lines(view(7, *dims), rows), wanted, dims)


def wrapping(width):
    """A tape that adds two numbers modulo 2^width."""
    gates, carry, outputs = [], 0, []
    for i in range(width):
        a, b, top = 2 + i, 2 + width + i, 2 + 2 * width + len(gates)
        gates += [("^", a, carry), ("^", b, carry), ("^", a, top + 1), ("&", top, top + 1),
                  ("^", top + 3, carry)]
        outputs.append(top + 2)
        carry = top + 4
    return make_tape(2 * width, gates, outputs)


def play_plan(plan, counts, inputs, roles=((0,), (1,)), network="lan", protocol=Gmw):
    """Run a plan between two parties; returns the results of both, and the rounds."""
    def play(party, mesh, coins):
        own = {number: numbers for number, (owner, numbers) in inputs.items() if owner == party}
        read = plan.read()
        gmw = protocol(mesh, coins, SESSION, {"roles": roles, "network": network}, read, counts)
        gmw.set_up()
        calls = Calls(read, counts, gmw, own)
        Walk(calls, mesh.flush).run()
        if any(gmw.goods.queues.values()):
            raise AssertionError("correlations are left over")
        return calls.results(), mesh.rounds

    return Pair(play).found


def compare(test, plan, counts, inputs, **options):
    """Run a plan, and compare its results with the same in the clear."""
    for result in plan.lines["result"]:
        result["result"]["to"] = [0, 1]
    wanted = plan.run(counts, {i: numbers for i, (_, numbers) in inputs.items()})
    for found, _ in play_plan(plan, list(counts), inputs, **options):
        test.assertEqual(found, wanted)


class Roles(unittest.TestCase):
    """Two roles in one process, with the parties in any of them."""

    def test_tiles(self):
        """Bits to integers, sums over tiles, products of all forms, and back, in refills of 2."""
        for roles in ([[0], [1]], [[1], [0]]):
            plan = Builder(self, "gmw", (0, 1, 1))
            plan.rows("t", 100, 3)
            bits, other = plan.value(5, 2, rows=0, signed=True), plan.value(5, 2, rows=0)
            ring, unknown, first, second = (
                plan.value(5, 2, rows=0, signed=signed, k=21) for signed in (True, False) * 2)
            mixed, total = plan.value(21, 2, rows=0, k=21), plan.value(21, k=21, signed=True)
            found = [plan.value(21, rows=0, k=21, kept=True) for _ in range(4)]
            back = plan.value(9, rows=0, kept=True)
            joined, table = plan.value(6, rows=0), plan.value(8, signed=True)
            plan.segment(0, refill=2)
            plan.step("input", input=0, out=bits)
            plan.step("input", input=1, out=other)
            plan.step("convert", value=bits, out=ring)
            plan.step("convert", value=other, out=unknown)
            plan.step("input", input=0, out=first)
            plan.step("input", input=1, out=second)
            whole = view(0, ("rows", 2), (2, 1))
            both = part(ring, whole), part(unknown, whole)
            plan.step("linear", terms=[{"operand": end, "factor": {"number": factor}}
                                       for end, factor in zip(both, (3, -1))],
                      lanes=["rows", 2], carried=False, out=mixed)
            pairs, ends = view(0, ("rows", 2)), view(0, (2, 1))
            for out, known, left, right in zip(found, ([None, None], [0, None], [0, 0], [0, 1]),
                                               (mixed, first, first, first),
                                               (unknown, mixed, first, second)):
                plan.step("product", left=part(left, pairs, ends), right=part(right, pairs, ends),
                          lanes=["rows"], known_to=known, out=out)
            plan.step("linear", terms=[{"operand": part(found[0], view(0), ALL),
                                        "factor": {"number": 1}}],
                      lanes=[], carried=True, out=total)
            plan.step("convert", value=found[3], out=back)
            tape = plan.tape(adder(5))
            plan.step("tape", tape=tape, lanes=["rows"],
                      operands=[part(bits, pairs), part(other, pairs)],
                      outs=[{"value": joined, "first": 0, "inner": 1}])
            levels = [plan.tape(adder(width, True)) for width in (6, 7)]
            plan.step("fold", operand=part(joined, ALL), length="rows", lanes=[], levels=levels,
                      bits=[6, 7, 8], signed=True, carry=plan.tape(wrapping(8)), out=table)
            for value in (total, *found, back, table):
                plan.result(value)
            a, b = ([(7 * i + seed) % 32 for i in range(16)] for seed in (3, 20))
            inputs = {0: (0, [n - 16 for n in a]), 1: (1, b)}
            compare(self, plan, (8,), inputs, roles=roles)

    def test_ring(self):
        """Select, extract and floor, on both sides of the bounds of a short floor."""
        for k, bits, signed in ((16, 15, False), (16, 16, False), (16, 14, True), (16, 15, True),
                                (64, 20, True), (64, 64, True), (5, 3, True)):
            plan = Builder(self, "gmw", (0, 1))
            top = bits if bits < k or not signed else k
            word, flag = plan.value(bits, 6, signed=signed), plan.value(1, 6)
            ring = plan.value(bits, 6, signed=signed, k=k)
            plan.segment(refill=1)
            plan.step("input", input=0, out=word)
            plan.step("input", input=1, out=flag)
            plan.step("convert", value=word, out=ring)
            six = view(5, (6, -1))
            outs = [plan.value(bits, 6, signed=signed, k=k) for _ in range(4)]
            for out, op in zip(outs, ("select", {"floor": {"by": 1}}, {"floor": {"by": 0}},
                                      {"floor": {"by": bits - 2}})):
                plan.step("ring", op=op, bit=part(flag, six) if op == "select" else None,
                          of=part(ring, six), lanes=[6], out=out)
            low, high = plan.value(bits, 6), plan.value(3, 6)
            plan.step("ring", op={"extract": {"first": bits - 1, "count": 1}}, bit=None,
                      of=part(ring, six), lanes=[6], out=low)
            plan.step("ring", op={"extract": {"first": 0, "count": 3}}, bit=None,
                      of=part(ring, six), lanes=[6], out=high)
            for value in (*outs, low, high):
                plan.result(value, fixed=[6])
            least = -(1 << bits - 1) if signed else 0
            numbers = [least, least + 1, least + (1 << top) - 1, 0, 1, least + (1 << bits - 1) + 2]
            compare(self, plan, (), {0: (0, numbers), 1: (1, [1, 0, 1, 1, 0, 1])})

    def test_matrices(self):
        """Each line of one operand by each of the other, known or not; lines that are missing."""
        for known in ([None, None], [0, None], [None, 1], [0, 1]):
            for k in (9, 40):
                plan = Builder(self, "gmw", (0, 1))
                a, b = (plan.value(8, 6, signed=True, k=k) for _ in range(2))
                outs = [plan.value(k, size, k=k) for size in (6, 9, 2)]
                plan.segment(refill=1)
                plan.step("input", input=0, out=a)
                plan.step("input", input=1, out=b)
                terms = view(0, (2, 1))
                for out, shape in zip(outs, ((3, 2), (3, 3), (2, 1))):
                    left, right = view(0, (shape[0], 2), (shape[1], 0)), view(
                        0, (shape[0], 0), (shape[1], 2))
                    ends = [part(value, lanes, terms)
                            for value, lanes in zip((a, b), (left, right))]
                    plan.step("product", left=ends[0], right=ends[1], lanes=list(shape),
                              known_to=known, out=out)
                for value in outs:
                    plan.result(value, fixed=[1])
                compare(self, plan, (), {0: (0, [5, -7, 100, -128, 127, 1]),
                                         1: (1, [-1, 2, -3, 44, -128, 127])})

    def test_faults(self):
        """Unused bits that are set, and a share that is altered on its way."""
        for bits, codes in ((0x80, ["protocol-broken", "peer-vanished"]), (1, ["altered", None]),
                            (0, [None, None])):
            def play(party, mesh, coins, bits=bits):
                gmw = Gmw(mesh, coins, SESSION, {"roles": [[0], [1]], "network": "lan"}, Plan(), [])
                gmw.set_up()
                try:
                    for call in (gmw.open([(Tensor([[1, 0, 1]]), None, [0])]), gmw.settle()):
                        next(call)
                        if party == 1 and len(mesh.unsent[0]) == 1:
                            mesh.unsent[0][0] ^= bits
                        mesh.flush()
                        next(call, None)
                except errors.Fault as fault:
                    mesh.post(1 - party, ("end", 0, b""), True)
                    return fault.code
                return None

            self.assertEqual(Pair(play).found, codes)


if __name__ == "__main__":
    unittest.main()
