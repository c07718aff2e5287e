"""Tests of chapter 16: its worked example, the sum on labels, and two roles in one process."""

from __future__ import annotations

import random
import unittest
from collections import Counter

import errors
from adder import size_tape
from agreement import agree
from garbling import FULL, THREE_HALVES
from link import WIRE
from mixed import Mixed, full_class
from plan import Domain, Plan, all_plans
from tensors import Tensor, flatten
from test_gmw import SESSION, Pair, compare, wrapping
from test_plan import ALL, ROOT, Builder, adder, make_tape, part, view
from test_tls_faults import JOB
from test_trio import evaluate
from test_yao import advance, text
from trio import pack
from vectors_sessions import Jobs
from walk import Calls, Walk

WORDS, SHARES, LABELS = Domain(8, 8, False), Domain(None, 2, False), Domain(None, 3, False, True)


def drive(mesh, *calls):
    """Run calls that begin together; returns their results."""
    found = {}
    while len(found) < len(calls):
        for i, call in enumerate(calls):
            if i not in found:
                done, result = advance(call)
                found |= {i: result} if done else {}
        mesh.flush()
    return [found[i] for i in range(len(calls))]


def mixed(mesh, coins, roles=((0,), (1,)), network="lan", plan=None, counts=()):
    """One role."""
    setting = {"roles": roles, "network": network}
    return Mixed(mesh, coins, SESSION, setting, plan or Plan(), list(counts))


class Example(unittest.TestCase):
    """The example at the end of the chapter."""

    def test_conversions(self):
        """Shares to labels, integers to labels and back."""
        def play(party, mesh, coins):
            run = mixed(mesh, coins)
            run.has_labels, run.needs = True, {(0, 0): Counter({(1, 0): 1, (0, 0): 5})}
            run.set_up()
            run.refill([(0, 0)])
            digest, triple = mesh.digest(party, 1 - party), run.take((1, 0), 1)
            shares, numbers = Tensor([[1], [party]]), Tensor([[(9, 252)[party]]])
            x, y = drive(mesh, run.labels.convert(shares, SHARES, LABELS),
                         run.labels.convert(numbers, WORDS, LABELS))
            z, _ = drive(mesh, run.convert(y, LABELS, WORDS), iter(()))
            drive(mesh, run.settle())
            return digest.hex(), triple, flatten(x.planes), flatten(y.planes), z.planes, run

        pair = Pair(play)
        digests, triples, x, y, z, runs = zip(*pair.found)
        self.assertEqual(digests, (
            "7b9c4465800279f75a102c1d8fd97500a6408832c52950a6e3b321ccaad3efd9",
            "317a7e9544dbcff48d3280e9ea119b98808aad5cc75fad049bbc206ed34e7156"))
        self.assertEqual(triples, ([(0, 1, 0)],) * 2)
        self.assertEqual([[text(label) for label in labels] for labels in x], [
            ["eb3020a0f4197bfc7481b322b7732cee", "8074b12b868af00e6467d3374fcb7c30"],
            ["eb3020a0f4197bfc7481b322b7732cee", "b56420a46123ce41725e100b0beca07b"]])
        self.assertEqual([[text(label) for label in labels] for labels in y], [
            ["41efe8f414c381a41266b632344081bb", "b4c9f494a20517ffe6b8eab13ed082b5",
             "d2f69087be2a43dce43857ec85ff4ef7"],
            ["74ff797bf36abfeb045f750e70675df0", "b4c9f494a20517ffe6b8eab13ed082b5",
             "e7e6010859837d93f20194d0c1d892bc"]])
        self.assertEqual(z, ([[233]], [[28]]))
        first, second = pair.sent(0), pair.sent(1)
        self.assertEqual([len(message) for message in first[:9]], [1056] + [1024] * 7 + [64])
        tables = ("a71858e720b05d8c0995a6141eeb88b5" "373589e0eecd185919748d75227171e0"
                  "55032d6839509697" "02")
        settled = ["5681ebcac76be6fc566b0d958e4cd686b988e9c4f7ebae9e9a7f5a9dcb75e4c7",
                   "079f96b215e981bbfbca10ee20ef107e1153b84478d67f54ab8a0354adaefc84"]
        self.assertEqual([message.hex() for message in first[-3:]],
                         [tables, "2b3035", settled[0]])
        self.assertEqual([message.hex() for message in second[-2:]], ["0203", settled[1]])
        self.assertEqual([next(run.labels.machine.calls) for run in runs], [2, 2])


class Labels(unittest.TestCase):
    """The scheme, the sum on labels, and plans with them."""

    def test_scheme(self):
        """Three-halves up to 4 Gbit/s."""
        for kind, networks in (
                (THREE_HALVES, ("lan", "wan", "1s/1Mbps", "10us/900Mbps", "9ms/1Gbps", "1s/4Gbps")),
                (FULL, ("1ms/5Gbps", "40ms/10Gbps", "10us/100Gbps"))):
            self.assertEqual([full_class(network) for network in networks], [kind] * len(networks))

    def test_sums(self):
        """The tape of integers to labels: sums, and one AND less than bits."""
        rng = random.Random(16)
        for n in (1, 2, 3, 8, 33, 64):
            tape = size_tape(n)
            self.assertEqual([gate[3] for gate in tape.ands], [*range(n - 1)])
            self.assertEqual(tape.known, (b"\xff" + bytes(n))[:n - 1])
            self.assertLess(tape.slots, 512)
            for _ in range(5):
                x, y = rng.getrandbits(n), rng.getrandbits(n)
                bits = [word >> i & 1 for word in (x, y) for i in range(n)]
                self.assertEqual(pack(evaluate(tape, bits), 1), (x + y) % 2**n)

    def plan(self):
        """All conversions, inputs of both, a constant, a fold and a tape on labels, in tiles."""
        plan = Builder(self, "mixed", (0, 1))
        plan.rows("t", 100, 3)
        on_labels = [plan.value(4, rows=0, signed=i == 0, labels=True) for i in range(2)]
        fixed, three = plan.value(4, labels=True), plan.value(4)
        shares, number = plan.value(4, rows=0), plan.value(4, rows=0, k=9)
        signed = plan.value(4, rows=0, k=17, signed=True)
        joined, again, third = (plan.value(width, rows=0, labels=True) for width in (5, 4, 4))
        bits, last = plan.value(5, rows=0, kept=True), plan.value(4, rows=0, kept=True)
        one, total = plan.value(1, rows=0, labels=True), plan.value(3, labels=True)
        summed, product = plan.value(3), plan.value(17, rows=0, k=17, signed=True, kept=True)
        plan.segment()
        plan.step("constant", data={"type": "u8", "shape": [], "numbers": [3]}, out=fixed)
        plan.step("convert", value=fixed, out=three)
        plan.segment(0, refill=2)
        for i, value in enumerate(on_labels):
            plan.step("input", input=i, out=value)
        plan.step("input", input=1, out=shares)
        plan.step("convert", value=shares, out=number)
        plan.step("convert", value=number, out=again)
        plan.step("convert", value=shares, out=third)
        plan.step("convert", value=on_labels[0], out=signed)
        plan.step("product", left=part(signed, ALL), right=part(signed, ALL), lanes=["rows"],
                  known_to=[None, None], out=product)
        plan.step("tape", tape=plan.tape(adder(4)), lanes=["rows"],
                  operands=[part(on_labels[1], ALL), part(again, ALL)],
                  outs=[{"value": joined, "first": 0, "inner": 1}])
        plan.step("convert", value=joined, out=bits)
        plan.step("tape", tape=plan.tape(make_tape(8, [("^", 2, 6)], [10])), lanes=["rows"],
                  operands=[part(third, ALL), part(fixed, view(0, ("rows", 0)))],
                  outs=[{"value": one, "first": 0, "inner": 1}])
        plan.step("fold", operand=part(one, ALL), length="rows", lanes=[],
                  levels=[plan.tape(adder(1)), plan.tape(adder(2))], bits=[1, 2, 3],
                  signed=False, carry=plan.tape(wrapping(3)), out=total)
        plan.step("convert", value=third, out=last)
        plan.segment()
        plan.step("convert", value=total, out=summed)
        for value in (three, bits, last, product, summed):
            plan.result(value)
        return plan

    def test_plans(self):
        """All of it, with the parties in both roles; and under both schemes."""
        inputs = {0: (0, [-8, 7, 0, 3, -1, 5, 6, -7]), 1: (1, [15, 1, 8, 2, 0, 9, 12, 5])}
        for roles, network in (([[0], [1]], "lan"), ([[1], [0]], "1ms/5Gbps")):
            compare(self, self.plan(), (8,), inputs, roles=roles, network=network, protocol=Mixed)

    def test_one_owner(self):
        """Inputs of one party alone: no transfers are set up for those of the garbler."""
        for owner, sent in ((0, [[32] * 2, [32, 1]]), (1, [
                [1056, *[1024] * 7, 32, 32], [32, 8224, 1072, 1, 32, 1]])):
            plan = Builder(self, "mixed", (owner,))
            value, result = plan.value(3, 2, labels=True), plan.value(3, 2)
            plan.segment(refill=1)
            plan.step("input", input=0, out=value)
            plan.step("convert", value=value, out=result)
            plan.result(result, fixed=[2])

            def play(party, mesh, coins, plan=plan, owner=owner):
                read = plan.read()
                run = mixed(mesh, coins, plan=read)
                run.set_up()
                calls = Calls(read, [], run, {0: [5, 2]} if party == owner else {})
                Walk(calls, mesh.flush).run()
                return calls.results()[0]

            pair = Pair(play)
            self.assertEqual(pair.found, [[5, 2], None])
            self.assertEqual([[len(message) for message in pair.sent(party)]
                              for party in range(2)], sent)

    def test_refused(self):
        """Products, steps of two domains and results on labels."""
        def product(plan, label, share):
            plan.step("product", left=part(label, view(0)), right=part(label, view(0)), lanes=[],
                      known_to=[None, None], out=share)

        def move(plan, label, share):
            plan.step("move", operand=part(label, view(0)), out=share)

        def same(plan, label, share):
            plan.step("convert", value=label, out=label)

        def result(plan, label, share):
            plan.result(label)

        for spoil in (product, move, same, result):
            plan = Builder(self, "mixed", (0,))
            label, share = plan.value(3, labels=True), plan.value(3)
            plan.segment()
            plan.step("input", input=0, out=label)
            plan.step("convert", value=label, out=share)
            plan.read()
            spoil(plan, label, share)
            with self.assertRaisesRegex(errors.Fault, "own"):
                plan.read()

    def test_faults(self):
        """A table and a number that were altered on their way; unused bits that are set."""
        for spoiled, at, bits, codes in (
                (None, 0, 0, [None, None]), (0, 0, 1, [None, "altered"]),
                (1, 0, 1, [None, "altered"]), (1, 1, 0x80, ["peer-vanished", "protocol-broken"])):
            def play(party, mesh, coins, spoiled=spoiled, at=at, bits=bits):
                run = mixed(mesh, coins)
                run.has_labels, run.needs = True, {(0, 0): Counter({(0, 0): 2})}
                run.set_up()
                run.refill([(0, 0)])
                value, domain = Tensor([[party], [1]]), Domain(None, 2, False, True)
                try:
                    value, = drive(mesh, run.labels.convert(value, Domain(None, 2, False), domain))
                    tape = size_tape(2)
                    calls = [run.labels.tape(tape, value.planes * 2, 1),
                             run.convert(value, domain, WORDS), run.settle()]
                    for number, call in enumerate(calls):
                        next(call)
                        if party == 0 and number == spoiled:
                            mesh.unsent[1][at] ^= bits
                        mesh.flush()
                        next(call, None)
                except errors.Fault as fault:
                    mesh.post(1 - party, ("end", 0, b""), True)
                    return fault.code
                return None

            self.assertEqual(Pair(play).found, codes, (spoiled, bits))


class Forms(unittest.TestCase):
    """Which plan of its file a run takes."""

    def test_lines(self):
        """The lines of each plan."""
        lines = [{"plan": 0}, {"step": 1}, {"plan": 2}, {"plan": 3}, {"step": 4}]
        self.assertEqual([*all_plans(lines)], [lines[:2], lines[2:3], lines[3:]])

    def test_agreement(self):
        """A party takes the form of a peer that knows it, and refuses one that it does not have."""
        jobs = Jobs(ROOT / "testdata" / "vectors" / f"wire-{WIRE}")
        for own, codes in (([0, 1, 2], [2, 2]), ([0, 1], ["peer-vanished", "other-job"])):
            def play(party, mesh, coins, own=own):
                job = jobs.work(JOB, party).job
                job.forms = own if party else [2]
                try:
                    agree(mesh, job, [], {}, bytes(32))
                except errors.Fault as fault:
                    mesh.post(1 - party, ("end", 0, b""), True)
                    return fault.code
                return job.forms[0]

            self.assertEqual(Pair(play).found, codes)


if __name__ == "__main__":
    unittest.main()
