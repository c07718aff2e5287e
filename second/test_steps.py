"""Tests of each step of plans, computed without messages."""

from __future__ import annotations

import json
import unittest

import errors
from plan import read_plan, read_tape
from test_plan import ALL, Arithmetic, Builder, Symbols, adder, make_tape, part, view
from walk import Calls, Walk


class Steps(unittest.TestCase):
    """Each step of the subset, computed without messages."""

    def test_tape(self):
        """Sums of two inputs in lanes, into two values."""
        plan = Builder(self, owners=(0, 0))
        values = [plan.value(3, 4) for _ in range(2)] + [plan.value(2, 4), plan.value(2, 4)]
        plan.tape(adder(3))
        plan.segment()
        for i in range(2):
            plan.step("input", input=i, out=i)
        plan.step("tape", tape=0, lanes=[4],
                  operands=[part(0, view(0, (4, 1))), part(1, view(3, (4, -1)))],
                  outs=[{"value": 2, "first": 0, "inner": 1},
                        {"value": 3, "first": 2, "inner": 1}])
        for value in values[2:]:
            plan.result(value, fixed=[4])
        a, b = [1, 7, 3, 0], [2, 5, 7, 6]
        sums = [x + y for x, y in zip(a, reversed(b))]
        self.assertEqual(plan.run(inputs={0: a, 1: b}),
                         [[n & 3 for n in sums], [n >> 2 for n in sums]])

    def test_moves(self):
        """Constants, row numbers, move, concat, and a kept value in another segment."""
        plan = Builder(self)
        plan.rows("t", 100, 3)
        constant, numbers = plan.value(4, 2, signed=True), plan.value(4, rows=0, kept=True)
        moved, joined = plan.value(4, 4, signed=True), plan.value(4, 2, rows=0, kept=True)
        plan.segment()
        plan.step("constant", data={"type": "i4", "shape": [2], "numbers": [-3, 5]}, out=constant)
        plan.step("move", operand=part(constant, view(0, (2, 0)), view(1, (2, -1))), out=moved)
        plan.segment(0)
        plan.step("row-number", out=numbers)
        plan.segment(0)
        plan.step("concat", parts=[part(numbers, ALL), part(constant, view(0, ("rows", 0)))],
                  out=joined)
        for value in (constant, moved, numbers, joined):
            plan.result(value)
        found = plan.run([7])
        self.assertEqual(found[:3], [[-3, 5], [5, -3, 5, -3], [*range(7)]])
        self.assertEqual(found[3], [x for row in range(7) for x in (row, 13)])

    def test_linear(self):
        """Numbers and tables as factors; carried over tiles; product; conversions."""
        plan = Builder(self, "trio", (0, 0))
        plan.rows("t", 100, 4)
        bits, ring = plan.value(3, 2, rows=0, signed=True), plan.value(3, 2, rows=0, k=10)
        out, total = plan.value(10, rows=0, k=10, kept=True), plan.value(10, k=10)
        square, back = plan.value(10, rows=0, k=10), plan.value(5, rows=0, kept=True)
        smaller = plan.value(2, rows=0, k=2, kept=True)
        plan.segment(0)
        plan.step("input", input=0, out=bits)
        plan.step("convert", value=bits, out=ring)
        pairs = view(0, ("rows", 2))
        data = {"type": "i9", "shape": [2], "numbers": [100, -1]}
        plan.step("linear", terms=[
            {"operand": part(ring, pairs, view(0, (2, 1))), "factor": {"table": {
                "data": data, "lanes": view(0, ("rows", 0)), "inner": view(0, (2, 1))}}},
            {"operand": part(ring, pairs), "factor": {"number": 1}}],
            lanes=["rows"], carried=False, out=out)
        plan.step("linear", terms=[{"operand": part(ring, view(0), view(1, ("rows", 2))),
                                    "factor": {"number": -2}}], lanes=[], carried=True, out=total)
        plan.step("product", left=part(ring, pairs, view(0, (2, 1))),
                  right=part(ring, pairs, view(1, (2, -1))), lanes=["rows"], known_to=[None, None],
                  out=square)
        plan.step("convert", value=square, out=back)
        plan.step("convert", value=square, out=smaller)
        for value in (out, total, back, smaller):
            plan.result(value)
        rows = [(i % 8 - 4, i * 3 % 8 - 4) for i in range(11)]
        found = plan.run([11], {0: [n for row in rows for n in row]})
        self.assertEqual(found[0], [(101 * a - b) % 1024 for a, b in rows])
        self.assertEqual(found[1], [sum(-2 * b for _, b in rows) % 1024])
        self.assertEqual(found[2], [2 * a * b % 32 for a, b in rows])
        self.assertEqual(found[3], [2 * a * b % 4 for a, b in rows])

    def test_fold_order(self):
        """The example of chapter 7, and one over the rows of tiles, with a carry."""
        for length, tile, wanted in ((5, 5, "acbde"), (5, 2, "abcde"), (1, 1, "a"),
                                     (9, 4, "acbdegfhi"), (7, 7, "adcfbeg")):
            plan = Builder(self)
            plan.rows("t", 100, tile)
            value, out = plan.value(1, rows=0), plan.value(1)
            join = plan.tape(make_tape(2, [("&", 2, 3)], [4]))
            plan.segment(0)
            plan.step("input", input=0, out=value)
            plan.step("fold", operand=part(value, ALL), length="rows", lanes=[],
                      levels=[join] * 3, bits=[1] * 4, signed=False, carry=join, out=out)
            plan.result(out)
            calls = Calls(plan.read(), [length], Symbols(), {0: [*range(length)]})
            Walk(calls, lambda: None).run()
            self.assertEqual(calls.opened[0, 0], [wanted])

    def test_fold_to(self):
        """Folds to several elements: over rows of tiles, few and many; and over two lanes."""
        for length, tile, to, wanted in (
                (1, 4, 3, "a a a"), (2, 4, 3, "a b a"), (2, 4, 5, "a b a b a"), (3, 4, 3, "a b c"),
                (4, 4, 3, "ab c d"), (5, 5, 3, "ac bd e"), (7, 7, 3, "adbe cf g"),
                (7, 7, 2, "adcf beg"), (9, 4, 3, "abefi cgi dhi"), (6, 4, 3, "abe cf de"),
                (9, 3, 3, "adg beh cfi")):
            plan = Builder(self)
            plan.rows("t", 100, tile)
            value, out = plan.value(1, rows=0), plan.value(1, to)
            join = plan.tape(make_tape(2, [("&", 2, 3)], [4]))
            plan.segment(0)
            plan.step("input", input=0, out=value)
            plan.step("fold", operand=part(value, ALL), length="rows", lanes=[], to=to,
                      levels=[join] * 3, bits=[1] * 4, signed=False, carry=join, out=out)
            plan.result(out, fixed=[to])
            calls = Calls(plan.read(), [length], Symbols(), {0: [*range(length)]})
            Walk(calls, lambda: None).run()
            self.assertEqual(" ".join(calls.opened[0, 0]), wanted, (length, tile, to))
        plan = Builder(self)
        value, out = plan.value(1, 10), plan.value(1, 4)
        join = plan.tape(make_tape(2, [("&", 2, 3)], [4]))
        plan.segment()
        plan.step("input", input=0, out=value)
        plan.step("fold", operand=part(value, view(0, (10, 1))), length=5, lanes=[2], to=2,
                  levels=[join] * 2, bits=[1] * 3, signed=False, carry=None, out=out)
        plan.result(out, fixed=[4])
        calls = Calls(plan.read(), [], Symbols(), {0: [*range(10)]})
        Walk(calls, lambda: None).run()
        self.assertEqual(calls.opened[0, 0], ["aecg", "bfdh", "i", "j"])
        text = json.dumps(plan.all())
        for wrong in ('"to": 0', '"to": -1', '"two": 2'):
            with self.assertRaisesRegex(errors.Fault, "own"):
                read_plan(json.loads(text.replace('"to": 2', wrong)), "clear", plan.folder)

    def test_fold_bits(self):
        """A signed sum over the outer dimension, whose odd elements grow by their sign."""
        plan = Builder(self)
        value, out = plan.value(3, 10, signed=True), plan.value(6, 2, signed=True)
        tapes = [plan.tape(adder(width, True)) for width in (3, 4, 5)]
        plan.segment()
        plan.step("input", input=0, out=value)
        plan.step("fold", operand=part(value, view(0, (10, 1))), length=5, lanes=[2],
                  levels=tapes, bits=[3, 4, 5, 6], signed=True, carry=None, out=out)
        plan.result(out, fixed=[2])
        numbers = [-4, 3, -4, -1, -3, 2, 0, 1, -2, -4]
        self.assertEqual(plan.run(inputs={0: numbers}), [[sum(numbers[::2]), sum(numbers[1::2])]])

    def test_scan(self):
        """Sums so far, from tile to tile, with a captured value and an output each."""
        plan = Builder(self, owners=(0, 0, 0))
        plan.rows("t", 100, 3)
        start, flag = plan.value(2), plan.value(1)
        value, state, sums = (plan.value(4, rows=0), plan.value(4),
                              plan.value(4, rows=0, kept=True))
        data, line = adder(4)
        inner = read_tape(data, line)
        gates = [(kind, a, b, out) for kind, found in (("^", inner.xors), ("&", inner.ands))
                 for a, b, out, _ in found]
        gates.sort(key=lambda gate: gate[3])
        shifted = [(kind, a + (a > 9), b + (b > 9)) for kind, a, b, _ in gates]
        top = 11 + len(gates)
        outs = [slot + 1 for slot in inner.outputs[:4]]
        masked = [("&", slot, 10) for slot in outs]                 # slot 10: captured
        tape = plan.tape(make_tape(9, shifted + masked, outs + [top + i for i in range(4)]))
        plan.segment()
        plan.step("input", input=1, out=start)
        plan.step("input", input=2, out=flag)
        plan.segment(0)
        plan.step("input", input=0, out=value)
        plan.step("scan", tape=tape, length="rows", init=[start], over=[part(value, ALL)],
                  captured=[flag], carries=[state],
                  outs=[{"value": sums, "first": 4, "inner": 1}])
        plan.result(state)
        plan.result(sums)
        numbers = [1, 2, 3, 4, 5, 6, 7]
        wanted = [(3 + sum(numbers[:i + 1])) % 16 for i in range(7)]
        self.assertEqual(plan.run([7], {0: numbers, 1: [3], 2: [1]}), [wanted[-1:], wanted])
        self.assertEqual(plan.run([7], {0: numbers, 1: [3], 2: [0]})[1], [0] * 7)

    def test_by_tile(self):
        """A result is opened by tiles if it has more than four."""
        plan = Builder(self)
        plan.rows("t", 100, 2)
        value = plan.value(8, rows=0, kept=True)
        plan.segment(0)
        plan.step("input", input=0, out=value)
        plan.step("reveal", value=value, result=0)
        plan.result(value, by_tile=True)

        class Opens(Arithmetic):
            """Counts what is opened at once."""

            def __init__(self):
                self.opened = []

            def open(self, values):
                """Count."""
                self.opened.append(sum(len(value.planes[0]) for value, _, _ in values))
                return super().open(values)

        for count, wanted in ((8, [8]), (9, [2, 2, 2, 2, 1, 0])):
            opens = Opens()
            self.assertEqual(plan.run([count], {0: [*range(count)]}, opens), [[*range(count)]])
            self.assertEqual(opens.opened, wanted)


if __name__ == "__main__":
    unittest.main()
