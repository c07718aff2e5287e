"""Tests of steps on all rows of a table: networks, rearrangements, rows that meet all rows."""

from __future__ import annotations

import unittest
from unittest import mock

from tensors import stages
from test_plan import ALL, Builder, Symbols, adder, part, view
from walk import Calls, Walk


class Networks(unittest.TestCase):
    """The pairs of each stage."""

    def test_examples(self):
        """Those of chapter 7."""
        for network, wanted in (("sort", "04; 02 13; 24; 01 23; 14; 12 34"),
                                ("prefix", "01 23; 13; 12 34"),
                                ({"compact": {"most": 1}}, "01 23 45; 02 46; 04")):
            found = "; ".join(" ".join(f"{i}{j}" for i, j in stage) for stage in stages(network, 5))
            self.assertEqual(found, wanted)
            self.assertEqual(stages(network, 1), [])

    def test_sorts(self):
        """A network that sorts all sequences of zeros and ones sorts everything."""
        for n in range(1, 10):
            pairs = [pair for stage in stages("sort", n) for pair in stage]
            for bits in range(1 << n):
                row = [bits >> i & 1 for i in range(n)]
                for i, j in pairs:
                    row[i], row[j] = min(row[i], row[j]), max(row[i], row[j])
                self.assertEqual(row, sorted(row))


class AllRows(unittest.TestCase):
    """Steps on all rows, where shares are texts and a tape joins two."""

    def opened(self, *body, elements=1, rows=None):
        """What the last value is after some steps: 1 has five rows in tiles of 2, 0 is x and y."""
        made = Builder(self, owners=[0, 0])
        made.rows("n", 9, 2)
        values = made.value(1, 2), made.value(1, rows=0, kept=True)
        made.tape(adder(1))
        for number, table in enumerate((None, 0)):
            made.segment(table)
            made.step("input", input=number, out=values[number])
        made.segment()
        for name, args in body:
            last = made.value(1, elements, rows, kept=rows == 0)
            made.step(name, **args)
        made.result(last)
        calls = Calls(made.read(), [5], Symbols(), {0: [23, 24], 1: [*range(5)]})
        Walk(calls, lambda: None).run()
        return calls.opened[0, 0]

    def test_rearrange(self):
        """Rolls both ways, and heads that are shorter and longer than the table."""
        for how, wanted in (({"roll": 1}, "eabcd"), ({"roll": -7}, "cdeab"),
                            ({"head": 3}, "abc"), ({"head": 7}, "abcde00")):
            step = "rearrange", {"how": how, "rows": 0, "operand": part(1, ALL), "out": 2}
            found = self.opened(step, elements=how.get("head", 1),
                                rows=0 if "roll" in how else None)
            self.assertEqual("".join(found), wanted)

    def test_networks(self):
        """Each element with all before it; what comes to the front; from a step to the next."""
        steps = [("compare-exchange", {
            "network": network, "tape": 0, "rows": 0, "length": "rows",
            "over": [part(value, ALL)], "captured": [], "outs": [value + 1]})
            for value, network in ((1, "prefix"), (2, {"compact": {"most": 1}}))]
        self.assertEqual(self.opened(steps[0], rows=0), ["a", "ab", "abc", "abcd", "abcde"])
        self.assertEqual(self.opened(*steps, rows=0)[0], "a" "ab" "abc" "abcd" "abcde" "00")

    def test_cross(self):
        """Blocks of two rows, whose totals are joined with those before."""
        step = "cross", {
            "rows": 0, "length": 2, "tape": 0, "over": [part(0, view(0, (2, 1)))],
            "across": [part(1, ALL)], "captured": [],
            "outs": [{"value": 2, "first": 0, "inner": 1, "levels": [0], "bits": [1, 1],
                      "signed": False, "carry": 0}]}
        with mock.patch("walk.PAIRS", 5):
            self.assertEqual(self.opened(step, elements=2), ["xaxbxcxdxe", "yaybycydye"])


if __name__ == "__main__":
    unittest.main()
