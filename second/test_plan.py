"""Tests of plans, tensors, the walk and work of one party; some need the command `sealane`."""

from __future__ import annotations

import json
import shutil
import struct
import tempfile
import unittest
from pathlib import Path

import errors
from clear import Clear
from plan import INPUT, PRIME_BITS, SHARINGS, read_inputs, read_plan, read_tape
from primitives import blake3
from tensors import Tensor, concat, decode, encode, indices, lane, operand, resize, spread
from walk import Calls, Walk

ROOT = Path(__file__).resolve().parent.parent
INSTALLED = ROOT / ".venv/bin/sealane"
COMMAND = str(INSTALLED) if INSTALLED.exists() else shutil.which("sealane")


# ------------------------------------------------------------------------------ making plans


def make_tape(inputs, gates, outputs):
    """The bytes of a tape, and its line. Gates are ("^" or "&", a, b); each is a batch."""
    slots = 2 + inputs + len(gates)
    xors, ands, batches, depth = [], [], [], [0] * slots
    for out, (kind, a, b) in enumerate(gates, 2 + inputs):
        into = xors if kind == "^" else ands
        into.append((a, b, out, len(into)))
        batches.append((len(xors), len(ands)))
        depth[out] = max(depth[a], depth[b]) + (kind == "&")
    header = [inputs, slots, max(depth), len(xors), len(ands), len(batches), len(outputs), 0, 0]
    words = header + [word for gate in xors + ands + batches for word in gate] + outputs
    data = struct.pack(f"<{len(words)}I", *words) + bytes(len(xors) + len(ands))
    return data, {"inputs": inputs, "outputs": len(outputs), "xors": len(xors),
                  "ands": len(ands), "functions": 0, "depth": max(depth),
                  "hash": blake3(data).hex()}


def adder(width, signed=False):
    """A tape that adds two numbers of `width` bits into one of `width + 1`."""
    gates, carry, outputs = [], 0, []
    top = 2 + 2 * width
    for i in range(width + 1):
        a, b = 2 + min(i, width - 1), 2 + width + min(i, width - 1)
        if i == width and not signed:
            outputs.append(carry)
            break
        gates += [("^", a, carry), ("^", b, carry)]                 # a ^ c, b ^ c
        at = top + len(gates)
        gates += [("^", a, at - 1)]                                 # the sum
        outputs.append(at)
        gates += [("&", at - 2, at - 1), ("^", at + 1, carry)]      # the next carry
        carry = at + 2
    return make_tape(2 * width, gates, outputs)


def view(offset, *dims):
    """A view."""
    return {"offset": offset, "dims": [list(dim) for dim in dims]}


def part(value, lanes, inner=None):
    """An operand."""
    return {"value": value, "lanes": lanes, "inner": inner or view(0)}


ALL = view(0, ("rows", 1))


class Builder:
    """Builds a plan of one protocol in a folder."""

    def __init__(self, test, protocol="clear", owners=(0,)):
        folder = tempfile.TemporaryDirectory()
        test.addCleanup(folder.cleanup)
        self.folder, self.protocol = Path(folder.name), protocol
        (self.folder / "tapes").mkdir()
        self.head = {"version": 3, "protocol": protocol, "setting": {}, "lookups": "gates",
                     "flow": 1, "tiles_in_flight": 4, "owners": list(owners)}
        self.lines = {kind: [] for kind in ("rows", "tape", "value", "body", "result")}

    def rows(self, name, bound, tile):
        """Add a table."""
        self.lines["rows"].append({"rows": {"name": name, "bound": bound, "sum": [],
                                            "tile": tile}})

    def tape(self, made):
        """Add a tape; returns its number."""
        data, line = made
        (self.folder / "tapes" / line["hash"]).write_bytes(data)
        self.lines["tape"].append({"tape": line})
        return len(self.lines["tape"]) - 1

    def value(self, bits, elements=1, rows=None, signed=False, k=None, kept=False, labels=False):
        """Add a value; returns its number."""
        domain = {"sharing": SHARINGS["yao" if labels else self.protocol][k is not None],
                  "algebra": "z2" if k is None else "fp" if k == "fp" else {"z2k": k},
                  "authenticated": False}
        self.lines["value"].append({"value": {"rows": rows, "elements": elements, "bits": bits,
                                              "signed": signed, "domain": domain, "kept": kept}})
        return len(self.lines["value"]) - 1

    def segment(self, rows=None, refill=None):
        """Begin a segment."""
        self.lines["body"].append({"segment": {"rows": rows, "refill": refill}})

    def step(self, name, **args):
        """Add a step."""
        self.lines["body"].append({"step": {name: args}})

    def result(self, value, by_tile=False, fixed=()):
        """Add a result."""
        self.lines["result"].append({"result": {
            "name": f"r{value}", "value": value, "to": [0], "ty": "u8", "range": [0, 255],
            "fixed": list(fixed), "by_tile": by_tile}})

    def all(self):
        """All lines."""
        return [{"plan": self.head}] + [line for lines in self.lines.values() for line in lines]

    def read(self):
        """The plan, read from its lines as JSON."""
        return read_plan(json.loads(json.dumps(self.all())), self.protocol, self.folder)

    def run(self, counts=(), inputs=None, protocol=None):
        """Results of a run."""
        calls = Calls(self.read(), list(counts), protocol or Arithmetic(), inputs or {})
        Walk(calls, lambda: None).run()
        return calls.results()


class Arithmetic(Clear):
    """Local work with the steps on integers that `trio` and `gmw` have."""

    def linear(self, terms, k):
        """Sum numbers times factors."""
        return sum(number * factor for number, factor in terms) % 2**k

    def product(self, left, right, k, factors=()):
        """Sum products over planes."""
        yield from ()
        pairs = zip(zip(*left.planes), zip(*right.planes))
        return Tensor([[sum(a * b for a, b in zip(x, y)) % 2**k for x, y in pairs]])

    def convert(self, value, old, new):
        """Encode the same numbers in another domain."""
        yield from ()
        numbers = decode(value, old.k)
        if old.k is None and old.signed:
            numbers = [n - (n >> old.bits - 1 << old.bits) for n in numbers]
        return encode(numbers, new.bits, new.k)


    def ring(self, op, of, bit, old, new):
        """What chapter 7 says of each operation."""
        numbers = of.planes[0]
        if op == "select":
            return encode([a * b for a, b in zip(numbers, bit.planes[0])], 0, new.k)
        if "extract" in op:
            first, count = op["extract"]["first"], op["extract"]["count"]
            mask = (1 << first + count) - (1 << first)
            return encode([n & mask for n in numbers], new.bits, None)
        wrap = 1 << old.bits
        numbers = [n % wrap - wrap * (old.signed and n >> old.bits - 1 & 1) for n in numbers]
        return encode([n >> op["floor"]["by"] for n in numbers], 0, new.k)

    def refill(self, runs):
        """Make nothing."""


class Symbols(Clear):
    """A protocol whose shares are texts; a tape joins the texts of both its inputs."""

    zero = "0"

    def input(self, owner, numbers, elements, bits, k):
        """Letters in place of numbers."""
        yield from ()
        return Tensor([[chr(97 + n) for n in numbers]])

    def tape(self, tape, inputs, lanes):
        """Join."""
        yield
        return [["".join(texts) for texts in zip(*inputs)]]

    def open(self, values):
        """Give texts."""
        yield
        return [value.planes[0] for value, _, _ in values]


class Tensors(unittest.TestCase):
    """The moves of chapter 7."""

    def test_operand(self):
        """The example of chapter 7."""
        x = Tensor([[10 * e + p for e in range(6)] for p in range(2)])
        lanes = indices(view(1, (2, 3), (2, 0)), 0)
        self.assertEqual(lanes, [1, 1, 4, 4])
        found = operand(x, lanes, indices(view(0, (2, 1)), 0))
        self.assertEqual(found.planes, [[10, 10, 40, 40], [11, 11, 41, 41], [20, 20, 50, 50],
                                        [21, 21, 51, 51]])
        self.assertEqual(spread(found, 2).planes, [[10, 20, 10, 20, 40, 50, 40, 50],
                                                   [11, 21, 11, 21, 41, 51, 41, 51]])

    def test_views(self):
        """Rows, and strides below 0."""
        self.assertEqual(indices(view(5, (3, -2)), 0), [5, 3, 1])
        self.assertEqual(indices(view(0, ("rows", 2), (2, 1)), 3), [0, 1, 2, 3, 4, 5])

    def test_planes(self):
        """Resize, lane, concat, and numbers."""
        x = encode([5, -2], 3, None)
        self.assertEqual(x.planes, [[1, 0], [0, 1], [1, 1]])
        self.assertEqual(decode(x, None), [5, 6])
        self.assertEqual(resize(x, 1, 4, False, 9).planes, [[0, 1], [1, 1], [9, 9], [9, 9]])
        self.assertEqual(resize(x, 0, 4, True, 9).planes[3], [1, 1])
        self.assertEqual(lane(x).planes, [[1], [0], [1], [0], [1], [1]])
        self.assertEqual(concat([x, x]).planes[0], [1, 0, 1, 0])
        self.assertEqual(encode([-1], 3, 5).planes, [[31]])


class Reading(unittest.TestCase):
    """What is refused, and the program text."""

    def plan(self):
        """A plan of every kind of line."""
        plan = Builder(self, "yao", (0,))
        plan.rows("t", 10, 4)
        value, out = plan.value(3, rows=0), plan.value(2, rows=0, kept=True)
        plan.tape(adder(3))
        plan.segment(0)
        plan.step("input", input=0, out=value)
        plan.step("tape", tape=0, lanes=["rows"], operands=[part(value, ALL), part(value, ALL)],
                  outs=[{"value": out, "first": 0, "inner": 1}])
        plan.result(out)
        return plan

    def test_refused(self):
        """Fields, steps, versions and domains that are not of the subset."""
        lines = json.dumps(self.plan().all())
        for old, new in (
                ('"flow": 1', '"flow": 2'), ('"version": 3', '"version": 4'),
                ('"gates"', '"tower"'), ('"refill": null', '"refill": 1'),
                ('"bound": 10', '"bound": 10, "more": 1'), ('"inner": 1', '"inner": 1, "x": 1'),
                ('"input": {', '"shuffle": {'), ('{"input": {"input": 0, "out": 0}}', '"settle"'),
                ('"out": 0', '"out": 9'), ('"yao-label"', '"replicated"'), ('"u8"', '"f32"'),
                ('"authenticated": false', '"authenticated": true'), ('"depth": 3', '"depth": 2'),
                ('{"result"', '{"value"'), ('"algebra": "z2"', '"algebra": {"z2k": 8}'),
                ('"offset": 0', '"offset": 0, "more": 0'), ('"xors"', '"xor"'),
                # What is not there, or not made.
                ('"input": 0', '"input": 1'), ('"tape": 0', '"tape": 1'),
                ('"tape": 0', '"tape": -1'), ('"segment": {"rows": 0', '"segment": {"rows": 1'),
                ('"value": {"rows": 0', '"value": {"rows": 1'),
                ('"name": "r1", "value": 1', '"name": "r1", "value": 2'), ('"gates"', '"wide"'),
                ('"value": 0, "lanes"', '"value": -1, "lanes"'),
                ('"input": 0, "out": 0', '"input": 0, "out": 1')):
            plan = self.plan()
            self.assertIn(old, lines)
            with self.assertRaises(errors.Fault, msg=old) as found:
                read_plan(json.loads(lines.replace(old, new, 1)), "yao", plan.folder)
            self.assertEqual(found.exception.code, "own")

    def test_settlements(self):
        """Plans of `trio-malicious` that open what no settlement has proved."""
        for names, by_tile, kept in (
                (["settle"], False, True), ([], False, False), (["settle"] * 2, False, False),
                (["settle", "reveal"], False, False), (["settle"], True, False)):
            plan = Builder(self, "trio-malicious", (0,))
            value = plan.value(8)
            plan.segment()
            plan.step("input", input=0, out=value)
            for name in names:
                steps = {"settle": {"step": "settle"},
                         "reveal": {"step": {"reveal": {"value": value, "result": 0}}}}
                plan.lines["body"].append(steps[name])
            plan.result(value, by_tile)
            if kept:
                self.assertEqual(len(plan.read().segments[0].steps), 2)
                continue
            with self.assertRaises(errors.Fault, msg=(names, by_tile)) as found:
                plan.read()
            self.assertEqual((found.exception.code, "settlement" in str(found.exception)),
                             ("own", True))

    def test_integers_and_sorts(self):
        """Integers modulo a prime and sorts, which `trio-malicious` alone has."""
        def plan(k="fp", bits=8, protocol="trio-malicious", step="sort", inputs=None):
            plan = Builder(self, protocol, (0,))
            given, number = plan.value(bits, k=inputs), plan.value(bits, k=k)
            out = plan.value(bits)
            plan.segment()
            plan.step("input", input=0, out=given)
            plan.step("convert", value=given, out=number)
            plan.step(step, keys=[{"operand": 0, "descending": True}], rows=None, length=1,
                      over=[part(given, view(0, (1, 1)))], outs=[out])
            if protocol == "trio-malicious":
                plan.lines["body"].append({"step": "settle"})
            plan.result(out)
            return plan
        self.assertEqual(plan().read().values[1].domain.k, PRIME_BITS)
        self.assertEqual(len(plan(bits=60).read().segments[0].steps), 4)
        for given in ({"k": 61}, {"bits": 61}, {"protocol": "trio"}, {"step": "append"},
                      {"protocol": "trio", "k": 61}, {"inputs": "fp", "k": None}):
            with self.assertRaises(errors.Fault, msg=given) as found:
                plan(**given).read()
            self.assertEqual(found.exception.code, "own", given)

    def test_gmw(self):
        """Steps on integers and refills, which other protocols do not have."""
        plan = Builder(self, "gmw", (0, 1))
        flag, ring = plan.value(1), plan.value(4, k=9)
        outs = [plan.value(4, k=9), plan.value(3, k=9), plan.value(2)]
        plan.segment(refill=2)
        plan.step("input", input=0, out=flag)
        plan.step("input", input=1, out=ring)
        for out, op in zip(outs, ("select", {"floor": {"by": 1}},
                                  {"extract": {"first": 0, "count": 2}})):
            plan.step("ring", op=op, bit=part(flag, view(0)) if op == "select" else None,
                      of=part(ring, view(0)), lanes=[], out=out)
        self.assertEqual(plan.read().segments[0].refill, 2)
        lines = json.dumps(plan.all())
        plan.head["lookups"] = "wide"
        self.assertEqual(plan.read().segments[0].refill, 2)
        for old, new in (
                ('"refill": 2', '"refill": 0'), ('"refill": 2', '"refill": -1'),
                ('"gates"', '"tower"'), ('"op": "select"', '"op": "other"'),
                ('"bit": null', '"bit": 0'),
                ('"op": "select"', '"op": {"floor": {"by": 1}}'), ('"floor"', '"ceil"'),
                ('"extract": {', '"extract": {"more": 1, '), ('"xor"', '"additive"'),
                ('"additive"', '"xor"'), ('"z2k": 9', '"z2k": 65'),
                ('{"extract"', '{"floor": {"by": 1}, "extract"')):
            self.assertIn(old, lines)
            with self.assertRaises(errors.Fault, msg=old) as found:
                read_plan(json.loads(lines.replace(old, new, 1)), "gmw", plan.folder)
            self.assertEqual(found.exception.code, "own")
        for other in ("trio", "yao"):
            sharing = SHARINGS[other][0]
            text = lines.replace('"gmw"', f'"{other}"').replace('"xor"', f'"{sharing}"').replace(
                '"additive"', f'"{sharing}"')
            for refill in ("2", "null"):
                with self.assertRaises(errors.Fault):
                    read_plan(json.loads(text.replace('"refill": 2', f'"refill": {refill}')), other,
                              plan.folder)

    def test_tapes(self):
        """Tapes whose bytes do not fit."""
        data, line = adder(2)
        self.assertEqual(read_tape(data, line).outputs, [8, 13, 15])
        words = struct.unpack(f"<{len(data[:-10]) // 4}I", data[:-10])
        for place, wrong in ((1, 6), (7, 1), (9 + 2, 1), (9, 99), (9 + 3, 7), (-1, 99), (-5, 0)):
            changed = list(words)
            changed[place] = wrong
            bad = struct.pack(f"<{len(words)}I", *changed) + data[-10:]
            with self.assertRaises(errors.Fault, msg=str(place)):
                read_tape(bad, line | {"hash": blake3(bad).hex()})
        for bad in (data[:-1], data + b"\0"):
            with self.assertRaises(errors.Fault):
                read_tape(bad, line | {"hash": blake3(bad).hex()})
        with self.assertRaises(errors.Fault):
            read_tape(data, line | {"hash": "00" * 32})

    def test_inputs(self):
        """Ranges are values; the first dimension may be a table."""
        found = read_inputs([
            "sealane program 1", "rows t <= 5", "input a : bank fixed4.8[t, 2, 3] in -0.5..0.5",
            'input b : lab i8 in -7..100 as date columns "c", "d"',
            "input c : lab ufixed2.3[4] in 0..3.875", "input d : lab bool in 0..1",
            "input e : lab u16.wrapping in 1..65535", "main {", "}"])
        self.assertEqual([(i.name, i.owner, i.table, i.elements, i.low, i.high) for i in found], [
            ("a", "bank", "t", 6, -128, 128), ("b", "lab", None, 1, -7, 100),
            ("c", "lab", None, 4, 0, 31), ("d", "lab", None, 1, 0, 1),
            ("e", "lab", None, 1, 1, 65535)])
        self.assertIsNone(INPUT.fullmatch("input a : bank f32"))
        self.assertIsNone(INPUT.fullmatch("input a : bank u16"))
        with self.assertRaises(errors.Fault):
            read_inputs(["input a : bank f64[t]", "main {"])


if __name__ == "__main__":
    unittest.main()
