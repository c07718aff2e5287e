"""What silent transfers, pools and served netlists make is right, by what it is for (17 and 18)."""

from __future__ import annotations

import unittest
import unittest.mock
from typing import Any

import vectors_pools
import vectors_silent
from served import Netlist
from vectors import FOLDER
from vectors_kinds import blocks

OF_KIND = {kind: [setup for setup in vectors_pools.setups() if setup["kind"] == kind]
           for kind in vectors_pools.PLAYERS}


def planes(made: Any, n: int) -> list[list[int]]:
    """The planes of bits of correlations."""
    return [[int.from_bytes(bytes.fromhex(plane), "little") >> i & 1 for i in range(n)]
            for plane in made[0]]


def clear(netlist: Netlist, cycles: int, bits: list[list[int]]) -> list[list[int]]:
    """The outputs of each cycle, in the clear."""
    own, wires, found = [iter(each) for each in bits], dict[int, int](), list[list[int]]()
    first = sum(netlist.inputs[0])
    read = {-1: 0, -2: 0, -3: 1}
    for cycle in range(cycles):
        state = [wires.get(d, read.get(d, 0)) for d in netlist.next]
        counts = netlist.inputs[cycle > 0]
        wire = first - sum(counts)
        for i, count in enumerate(counts):
            for _ in range(count):
                wires[wire] = next(own[i % 2])
                wire += 1
        if cycle == 0:
            state = [wires.get(i, read.get(i, 0)) for i in netlist.first]
        wires.update(enumerate(state, first))
        for wire, (a, b, code) in enumerate(netlist.gates, first + netlist.states):
            table = 3 if code == 12 else code
            row = 2 * wires.get(a, read.get(a, 0)) + wires.get(b, read.get(b, 0))
            wires[wire] = table >> row & 1
        found.append([wires.get(o, read.get(o, 0)) for o in netlist.outputs])
    return found


class Made(unittest.TestCase):
    """The relations between what both parties have."""

    def test_silent_transfers_are_correlated(self) -> None:
        """Each block of R is that of S, plus delta where its choice is 1."""
        found = vectors_silent.SilentSetup(vectors_silent.setups(FOLDER)[0])
        given = found.given
        sent, got = found.found[given["sender"]], found.found[given["receiver"]]
        choices: list[int] = []
        for (_, q), (x, t) in zip(sent, got, strict=True):
            self.assertEqual(t, [block ^ choice * found.delta for block, choice in zip(q, x)])
            choices += x
        self.assertLess(abs(2 * sum(choices) - len(choices)), len(choices) // 4)

    def test_a_fill_gives_one_of_two_blocks(self) -> None:
        """The receiver has the block of its choice, and never the other one."""
        with unittest.mock.patch.object(vectors_pools, "shown", bytes.hex):
            sender, receiver = vectors_pools.Setup(OF_KIND["fill"][0]).found
        pairs, keys = (blocks(bytes.fromhex(found[name])) for found, name in (
            (sender, "pairs"), (receiver, "keys")))
        x = int.from_bytes(bytes.fromhex(receiver["choices"]), "little")
        self.assertEqual(keys, [pairs[2 * i + (x >> i & 1)] for i in range(1024)])
        self.assertEqual(len({*pairs}), 2048)

    def test_correlations_of_a_pool_hold(self) -> None:
        """Triples of bits and integers, and bits in both sharings."""
        given = OF_KIND["refill"][0]
        made = [found["made"] for found in vectors_pools.Setup(given).found]
        at = [kind for refill in given["refills"] for kind in refill]
        for (kind, n), one, other in zip(at, *made, strict=True):
            bits = [[a ^ b for a, b in zip(*both)]
                    for both in zip(planes(one, n), planes(other, n))]
            sums = [[a + b for a, b in zip(*both)] for both in zip(one[1], other[1])]
            if kind == [1, 0]:
                self.assertEqual(bits[2], [a & b for a, b in zip(*bits[:2])])
            elif kind[0] == 1:
                self.assertEqual([c % 2**kind[1] for c in sums[2]],
                                 [a * b % 2**kind[1] for a, b in zip(*sums[:2])])
            elif kind[0] == 3:
                self.assertEqual(bits[0], [e % 2**kind[1] for e in sums[0]])

    def test_served_outputs_are_those_in_the_clear(self) -> None:
        """The outputs of the opened cycles."""
        for given in OF_KIND["served"]:
            wanted = clear(Netlist(given["netlist"]), given["cycles"], given["inputs"])
            wanted = wanted if given["every"] else wanted[-1:]
            found = vectors_pools.Setup(given).found[1]["outputs"]
            self.assertEqual(found, [bit for outputs in wanted for bit in outputs])


if __name__ == "__main__":
    unittest.main()
