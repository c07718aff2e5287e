"""Tests of chapter 19: its example, its field, proofs that hold and proofs that do not."""

from __future__ import annotations

import random
import struct
import unittest

from integers import Modular, lines_of, modular_tape
from plan import PRIME_BITS
from primitives import H, gf_mul
from proof import (
    GIVEN,
    POINTS,
    SIDE,
    Challenges,
    Proof,
    block,
    elements,
    extended,
    halves_of,
    image,
    lagrange,
    mul16,
    name_of,
    seed_of,
    times,
    whole,
)
from statements import PRODUCTS, Units, segments_of
from streams import Bulk, expand_secret
from sums import PRIME, Batch, P, Sums, joined
from tensors import Factor
from trio import pack

SID = bytes(range(0x40, 0x60))
KEYS = [bytes([i]) * 32 for i in (1, 2, 3)]


def derived(key, label):
    """A seed for another use."""
    return expand_secret(key, SID, label).read(32)


PROOF_KEYS = [derived(key, "trio: key of proofs") for key in KEYS]
NAME = name_of(SID, 0, 0)
SEED, CHECK = seed_of(halves_of(PROOF_KEYS[2], NAME))

NAMES = """
    7271f82046aa48828100e2dcffee402b cccaaca45b53f9e7800966a2f74ac041
    df9f5dfbda0a61b4d95f2938e41fc0b2 3be7192043652596fe57d651fa4e6553
    d820cf94d4fe879d4f152234bb8a9b3f e6c78b1057e13324db73c46eaf95d073
    c97b9cc00e31ea719788f9112cef774f f18ca3f5accfad8e0dc58256805880b1
    87f5361a96f4684a3ede5e36370b743e 1b1830434cde3d0c79c566ee99ffe09d"""
MESSAGES = """
    c167d18cf8d9f3f47d6b146a1ffe426b 6a9f1568ce44f6b56c0ac46e684e9026
    8429414db737803c937b9bfb335da0c6 3b9b52be7db64bb6b00d90dc3a00cf53
    a19e71c457fff1d265d73767a3a3402b 0de75d3ebc58ee0c1112579918787dd7
    ee9116c488c6d1bc2bf054590bd44856 49b06bbd8875f0f995a10ef7682855c2
    d6d2845b197b703c226569ffef06b7c8"""


def follow(n, left, right, message, constants, left_constant):
    """The answers of both verifiers."""
    proof = Proof(NAME, SEED, n)
    return (proof.follow(PROOF_KEYS[0], (left, ()), (left_constant, ()), message[0], True),
            proof.follow(PROOF_KEYS[1], (right, ()), (constants, ()), message[1], False))


def accepts(one, other):
    """Whether verifiers accept."""
    return Proof(NAME, SEED, 1).accepts(one, other)


class Example(unittest.TestCase):
    """The example of the chapter."""

    def test_names(self):
        """Keys, seeds and hashes."""
        kr = derived(KEYS[0], "trio: key of reveals")
        halves, proof = halves_of(PROOF_KEYS[2], NAME), Proof(NAME, SEED, 3)
        self.assertEqual(halves[0][:4].hex(), "525d7003")
        found = [kr, H("sealane 1 trio seed of reveals", SID + kr), *PROOF_KEYS, NAME, SEED, CHECK,
                 proof.bound, block(proof.weights[0])]
        self.assertEqual([data[:16].hex() for data in found], NAMES.split())

    def test_proof(self):
        """The proof of three statements."""
        x, y, next_x, next_y, f, g = 5, 3, 6, 7, 2, 1
        z = x & y ^ x & next_y ^ next_x & y ^ f ^ g
        self.assertEqual((z, x & y ^ f ^ z), (5, 6))
        proof = Proof(NAME, SEED, 3)
        shares, commitments = proof.prove(PROOF_KEYS[:2], ([x, y], ()), ([next_y, next_x], ()))
        challenges = Challenges(proof)
        challenges.commit(commitments[:32])
        left, right = follow(3, [x, y], [next_y, next_x], (shares, commitments), g, 6)
        found = [shares[:16], shares[112:], commitments[:16], commitments[64:80],
                 block(challenges.draw(2)), left[:16], left[16:32], right[:16], right[16:32]]
        self.assertEqual([data.hex() for data in found], MESSAGES.split())
        self.assertTrue(accepts(left, right))


class Field(unittest.TestCase):
    """GF(16) in GF(2^128), and lines over it."""

    def test_image(self):
        """It keeps sums and products, and is one to one."""
        for a in range(16):
            products = times(image(a), [image(b) for b in range(16)])
            for b in range(16):
                self.assertEqual(image(a ^ b), image(a) ^ image(b))
                self.assertEqual(image(mul16(a, b)), gf_mul(image(a), image(b)))
                self.assertEqual(products[b], image(mul16(a, b)))
        self.assertEqual(len({image(a) for a in range(16)}), 16)

    def test_lines(self):
        """Planes extend as polynomials over GF(2^128) do."""
        values = [3, 15, 0, 8, 1, 1, 6, 10]
        line = extended([tuple(value >> k & 1 for k in range(4)) for value in values])
        for point, element in enumerate(line):
            wanted = 0
            for value, factor in zip(values, lagrange(SIDE, image(point))):
                wanted ^= gf_mul(image(value), factor)
            self.assertEqual(image(sum(bit << k for k, bit in enumerate(element))), wanted)

    def test_grid(self):
        """The points that are given and those of the grid are all."""
        self.assertEqual(len(GIVEN), 161)
        points = {*GIVEN} | {(r, c) for r in range(SIDE) for c in range(SIDE)}
        self.assertEqual(points, {(r, c) for r in range(POINTS) for c in range(POINTS)})
        planes = [i * 37 & 1 for i in range(64)]
        grid = whole(planes)
        self.assertEqual([grid[divmod(i, 8)][0] for i in range(64)], planes)


class Proofs(unittest.TestCase):
    """Proofs of any statements."""

    def test_all_lengths(self):
        """A proof holds; with one wrong bit of anything it does not."""
        rng = random.Random(1)
        for n in (1, 2, 3, 121, 4095, 4096, 32769):
            *left, right_x, right_y, g = (rng.getrandbits(n) for _ in range(5))
            right, proof = [right_y, right_x], Proof(NAME, SEED, n)
            left_constant = g ^ left[0] & right[0] ^ left[1] & right[1]
            message = proof.prove(PROOF_KEYS[:2], (left, ()), (right, ()))
            self.assertEqual([len(part) for part in message],
                             [16 * proof.values, 32 * proof.levels])
            answers = follow(n, left, right, message, g, left_constant)
            self.assertTrue(accepts(*answers), n)
            wrong = 1 << rng.randrange(n)
            bad = [follow(n, left, right, message, g ^ wrong, left_constant),
                   follow(n, [left[0], left[1] ^ wrong], right, message, g, left_constant)]
            for part, data in enumerate(message):
                at = rng.randrange(len(data))
                changed = [*message]
                changed[part] = data[:at] + bytes([data[at] ^ 16]) + data[at + 1:]
                bad.append(follow(n, left, right, changed, g, left_constant))
            self.assertEqual([accepts(*both) for both in bad], [False] * 4, n)


class Words:
    """A stream of given numbers."""

    def __init__(self, numbers):
        self.numbers, self.draws = iter(numbers), []

    def draw(self, n):
        """One draw of blocks."""
        self.draws.append(n)
        return b"".join(struct.pack("<Q", next(self.numbers)) for _ in range(2 * n))

    draw_rows = Bulk.draw_rows


class Primes(unittest.TestCase):
    """Integers modulo p, and their proofs."""

    def test_draws(self):
        """What is p is drawn again: of integers before the next piece, of elements at the end."""
        form, stream = Modular(1, 513, 61), Words([P] + [7] * 511 + [P | 5 << 61, 1, 9, 2, 3, 4])
        self.assertEqual(form.draw(stream), [9] + [7] * 511 + [3])
        self.assertEqual(stream.draws, [256, 1, 1, 1])
        stream = Words([1, P, 2, 3, P, 4, 5, 6])
        self.assertEqual(elements(PRIME, lambda n: stream.draw(n // 16), 2),
                         [5 | 6 << 64, 2 | 3 << 64])

    def test_field(self):
        """The extension: -1 is the square of i, and all but zero have an inverse."""
        self.assertEqual(PRIME.mul(1 << 64, 1 << 64), P - 1)
        a, b, c = (joined(*pair) for pair in ((3, P - 1), (2**60, 12345), (P // 2, 1)))
        self.assertEqual(PRIME.mul(a, PRIME.add(b, c)), PRIME.dot([(a, b), (a, c)]))
        self.assertEqual(PRIME.sub(PRIME.add(a, b), b), a)
        power, factor, left = 1, a, P * P - 2
        while left:
            power, factor, left = (PRIME.mul(power, factor) if left & 1 else power,
                                   PRIME.mul(factor, factor), left >> 1)
        self.assertEqual(PRIME.mul(a, power), 1)
        self.assertEqual((PRIME.read(P | P + 1 << 64), PRIME.drawn(1 << 61)), (1 << 64, 0))

    def test_adder(self):
        """Sums modulo p, of which zero has one form."""
        rng, k = random.Random(2), PRIME_BITS
        triples = [(0, 0, 0), (P - 1, 1, 0), (P - 1, P - 1, 2), (P - 1,) * 3, (1, 2, 3)]
        triples += [(x, y, (P - x - y) % P) for x, y in ((5, 7), (1 << 60, 1 << 60))]
        triples += [tuple(rng.randrange(P) for _ in range(3)) for _ in range(20)]
        for n in (1, 32, 60):
            tape = modular_tape(n)
            self.assertEqual(sum(bool(ands) for _, ands in tape.gates()), 8 if n == 1 else 9)
            slots = [0, (1 << len(triples)) - 1, *(
                pack([numbers[word] >> bit & 1 for numbers in triples], 1)
                for word in range(3) for bit in range(k))] + [0] * tape.slots
            for xors, ands in tape.gates():
                for a, b, out, _ in xors:
                    slots[out] = slots[a] ^ slots[b]
                for a, b, out, _ in ands:
                    slots[out] = slots[a] & slots[b]
            for lane, numbers in enumerate(triples):
                found = sum((slots[at] >> lane & 1) << i for i, at in enumerate(tape.outputs))
                self.assertEqual(found, sum(numbers) % P % 2**n, numbers)

    def test_segments(self):
        """Units in segments, each once, in the order of their products."""
        for sizes in ([(2, 3), (PRODUCTS // 2, 3), (3, 1)], [(2 * PRODUCTS, 2)], [(PRODUCTS, 1)]):
            units = [Units(products, count, []) for products, count in sizes]
            found = [*segments_of(units)]
            seen = [(of, i) for segment in found for of, first, end in segment.units
                    for i in range(first, end)]
            self.assertEqual(seen, [(of, i) for of in sorted(units, key=lambda of: of.products)
                                    for i in range(of.count)])
            for segment in found:
                count = sum(end - first for _, first, end in segment.units)
                self.assertTrue(segment.products <= PRODUCTS or count == 1)

    def test_lines(self):
        """Which products are those of matrices."""
        def found(left, right):
            return lines_of([Factor([], 1, None, 1, True, dims) for dims in (left, right)])
        self.assertEqual(found([(3, 5), (1, 4), (2, 0)], [(3, 0), (1, 4), (2, 1)]),
                         ([0, 2, 4], [0, 1]))
        self.assertEqual(found([], []), ([0], [0]))
        for left, right in ([(3, 1)], [(3, 1)]), ([(3, 0)], [(3, 0)]), ([(2, 1)], [(3, 0)]):
            self.assertIsNone(found(left, right))


class OtherProofs(unittest.TestCase):
    """Proofs about integers, and about rows in another order."""

    def check(self, proof, prover, verifiers):
        """A proof holds, and none with another block of a message."""
        message = proof.prove(PROOF_KEYS[:2], *prover)

        def holds(message, changed=verifiers):
            answers = [proof.follow(key, *side, part, left) for key, side, part, left in zip(
                PROOF_KEYS, changed, message, (True, False))]
            return proof.accepts(*answers)
        self.assertTrue(holds(message))
        for part, data in enumerate(message):
            for at in range(0, len(data), 16):
                changed = [*message]
                changed[part] = data[:at] + bytes([data[at] ^ 4]) + data[at + 1:]
                self.assertFalse(holds(changed), (part, at))
        return lambda changed: holds(message, changed)

    def test_integers(self):
        """Lanes and a matrix; with one other integer of anybody it does not hold."""
        rng = random.Random(3)

        def drawn(planes, length):
            return [[rng.randrange(P) for _ in range(length)] for _ in range(planes)]
        lanes, right, rows, columns = drawn(2, 3), drawn(2, 3), drawn(2, 2), drawn(2, 3)
        others = drawn(2, 3), drawn(2, 2)
        constants = drawn(1, 3)[0], drawn(1, 6)[0]
        # Of a matrix rows times columns, then columns times rows.
        sums = [sum(lanes[t][i] * right[t][i] for t in (0, 1)) for i in range(3)], [
            sum(rows[t][r] * others[0][t][c] + columns[t][c] * others[1][t][r] for t in (0, 1))
            for r in range(2) for c in range(3)]
        batches = [Batch(3, None, lanes, right, []),
                   Batch(2, 3, rows + columns, others[0] + others[1], [])]
        rest = [[(-x - y) % P for x, y in zip(*both)] for both in zip(sums, constants)]
        left = [Batch(3, None, lanes, [], rest[0]), Batch(2, 3, rows + columns, [], rest[1])]
        right_side = [Batch(3, None, [], right, constants[0]),
                      Batch(2, 3, [], others[0] + others[1], constants[1])]
        holds = self.check(Sums(NAME, SEED, 6 + 4), [batches, batches],
                           [(left, None), (right_side, None)])
        for side in (left, right_side):
            for batch in side:
                for plane in [*batch.left, *batch.right, batch.constants]:
                    for i in range(len(plane)):
                        plane[i] += 1
                        self.assertFalse(holds([(left, None), (right_side, None)]))
                        plane[i] -= 1

    def test_turns(self):
        """Rows of several pieces on both sides; with another row, place or constant not."""
        rng, bits, n = random.Random(4), 200, 5
        rows, beside = ([[rng.getrandbits(bits) for _ in range(n)] for _ in (0, 1)]
                        for _ in (0, 1))
        orders = [rng.sample(range(n), n) for _ in (0, 1)]
        moved = [[x[row] ^ c for row, c in zip(order, constant)]
                 for x, order, constant in zip(rows, orders, beside)]
        sides = [[(rows[0], []), ([], orders[1])], [([], orders[0]), (rows[1], [])]]
        constants = [[beside[0], moved[1]], [moved[0], beside[1]]]
        verifiers = [((strings, side), (0, constant)) for strings, side, constant in zip(
            ([1, 0], [0, 1]), sides, constants)]
        holds = self.check(Proof(NAME, SEED, 1, (n, bits)), [side for side, _ in verifiers],
                           verifiers)
        for part in [*rows, *beside, *moved]:
            for i in range(n):
                bit = 1 << rng.randrange(bits)
                part[i] ^= bit
                self.assertFalse(holds(verifiers))
                part[i] ^= bit
        for order in orders:
            order[0], order[1] = order[1], order[0]
            self.assertFalse(holds(verifiers))
            order[0], order[1] = order[1], order[0]
        self.assertTrue(holds(verifiers))


if __name__ == "__main__":
    unittest.main()
