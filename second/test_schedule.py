"""Tests of the walk over a plan (chapter 8): its rounds and bytes, and work of one party."""

from __future__ import annotations

import struct
import subprocess
import tempfile
import unittest
from collections import defaultdict, deque
from pathlib import Path

from agreement import Job
from party import Work
from plan import first_plan, read_plan
from streams import Coins
from tensors import Tensor, decode, encode
from test_plan import COMMAND, ROOT, Arithmetic, Builder
from walk import Calls, Walk


class Links:
    """Bytes and stamps between parties that all run in step."""

    def __init__(self, parties):
        self.all = range(parties)
        self.unsent = defaultdict(int)
        self.messages = defaultdict(deque)      # [bytes left, stamp, whether taken]
        self.received = [0] * parties
        self.rounds = 0
        self.sent = [[0] * parties for _ in self.all]

    def write(self, me, peer, count):
        """Write payload."""
        self.unsent[me, peer] += count
        self.sent[me][peer] += count

    def flush(self, parties=None):
        """End the messages of some parties, or of all."""
        for me in self.all if parties is None else parties:
            for peer in self.all:
                if count := self.unsent.pop((me, peer), 0):
                    self.messages[me, peer].append([count, self.received[me] + 1])
                    self.rounds = max(self.rounds, self.received[me] + 1)

    def read(self, me, peer, count):
        """Read payload."""
        while count:
            message = self.messages[peer, me][0]
            self.received[me] = max(self.received[me], message[1])
            taken = min(count, message[0])
            message[0] -= taken
            count -= taken
            if not message[0]:
                self.messages[peer, me].popleft()


def packed(bits):
    """Bytes of so many bits."""
    return (bits + 7) // 8


class Counting(Arithmetic):
    """What all parties of a protocol send, without what they compute."""

    def __init__(self, parties, setting, transfers):
        self.links, self.transfers = Links(parties), transfers
        self.roles = [role[0] for role in setting["roles"]]
        self.wide = setting["network"] == "lan"

    def constant(self, numbers, bits, k):
        """Zeros."""
        return self.zeros(bits, k, len(numbers))

    def zeros(self, bits, k, elements):
        """A tensor of the right form."""
        return Tensor([[0] * elements] * (bits if k is None else 1))

    def move(self, sender, receiver, count):
        """One flight between two parties."""
        self.links.write(sender, receiver, count)
        yield
        self.links.read(receiver, sender, count)

    def settle(self):
        """Digests to all."""
        pairs = [(a, b) for a in self.links.all for b in self.links.all if a != b]
        for a, b in pairs:
            self.links.write(a, b, 32)
        yield
        for a, b in pairs:
            self.links.read(b, a, 32)

    def open(self, values):
        """Openings to all receivers."""
        due = [(peer, me, self.opening(len(x.planes[0]) * (len(x.planes) if k is None else k), me))
               for x, k, receivers in values for me in receivers for peer in [self.opener(me)]]
        for peer, me, count in due:
            self.links.write(peer, me, count)
        yield
        for peer, me, count in due:
            self.links.read(me, peer, count)
        return [[0] * len(x.planes[0]) for x, _, _ in values]


class CountingYao(Counting):
    """The bytes of chapter 11."""

    def set_up(self):
        """Nonce, base transfers, trees."""
        links, (g, e) = self.links, self.roles
        links.write(g, e, 32 + (8192 + 32) * self.transfers)
        links.write(e, g, 32 * self.transfers)
        links.flush()
        links.read(e, g, 32 + (8192 + 32) * self.transfers)
        links.write(e, g, (8192 + 32) * self.transfers)
        links.flush([e])
        links.read(g, e, (32 + 8192 + 32) * self.transfers)

    def input(self, owner, numbers, elements, bits, k):
        """An extension and choices."""
        if owner == self.roles[1]:
            count = elements * bits
            blocks = (count + 127) // 128 + 1
            yield from self.move(owner, self.roles[0], (496 if self.wide else 240) * blocks + 80
                                 + packed(count))
        return self.zeros(bits, k, elements)

    def tape(self, tape, inputs, lanes):
        """Tables."""
        halves = sum(known in (1 + self.roles[0], 1 + self.roles[1]) for known in tape.known)
        if tape.ands:
            yield from self.move(*self.roles, lanes * (32 * len(tape.ands) - 16 * halves))
        return [[0] * lanes] * len(tape.outputs)

    def opener(self, me):
        """Who opens."""
        return self.roles[me == self.roles[0]]

    def opening(self, bits, me):
        """Hashes of labels."""
        return bits * (16 if me == self.roles[0] else 32)


class CountingTrio(Counting):
    """The bytes of chapter 12."""

    def before(self, role):
        """The party of the role before."""
        return self.roles[role - 1]

    def set_up(self):
        """Keys."""
        for role in range(3):
            self.links.write(self.roles[role], self.before(role), 32)
        self.links.flush()
        for role in range(3):
            self.links.read(self.before(role), self.roles[role], 32)

    def input(self, owner, numbers, elements, bits, k):
        """A component."""
        size = packed(elements * (bits if k is None else k))
        yield from self.move(owner, self.before(self.roles.index(owner)), size)
        return self.zeros(bits, k, elements)

    def reshare(self, bits):
        """A component of each role."""
        for role in range(3):
            self.links.write(self.roles[role], self.before(role), packed(bits))
        yield
        for role in range(3):
            self.links.read(self.before(role), self.roles[role], packed(bits))

    def tape(self, tape, inputs, lanes):
        """A resharing for each batch with ANDs."""
        done = 0
        for _, ands in tape.batches:
            if ands > done:
                yield from self.reshare((ands - done) * lanes)
            done = ands
        return [[0] * lanes] * len(tape.outputs)

    def convert(self, value, old, new):
        """Bits to integers alone."""
        elements = len(value.planes[0])
        if old.k is None:
            yield from self.move(self.roles[0], self.roles[2],
                                 packed(min(old.bits, new.k) * elements * new.k))
            yield from self.reshare(elements * new.k)
        return self.zeros(new.bits, new.k, elements)

    def opener(self, me):
        """Who opens."""
        return self.before(self.roles.index(me))

    def opening(self, bits, me):
        """A component."""
        return packed(bits)


@unittest.skipIf(COMMAND is None, "no command sealane")
class Schedule(unittest.TestCase):
    """The larger examples of chapter 8, from plans that the command exports."""

    def export(self, program, *options):
        """A job folder."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = Path(folder.name) / "job"
        subprocess.run([COMMAND, "plan", str(program), "--export", str(path), *options],
                       check=True, capture_output=True, cwd=folder.name)
        return path

    def count(self, path, *counts):
        """Step rounds, rounds, and bytes of all parties."""
        job = Job(path)
        plan = read_plan(first_plan(job.plan), job.protocol, path)
        kind = CountingYao if job.protocol == "yao" else CountingTrio
        garbler = job.setting["roles"][0][0]
        counting = kind(len(job.parties), job.setting,
                        any(plan.owners[i] != garbler for i in plan.shared_inputs()))
        counting.set_up()
        flushes = []
        calls = Calls(plan, list(counts), counting, {})
        Walk(calls, lambda: flushes.append(counting.links.flush())).run()
        sent = [[count for peer, count in enumerate(row) if peer != me]
                for me, row in enumerate(counting.links.sent)]
        return len(flushes) - 2, counting.links.rounds, sent        # without Settle and Open

    def test_yao(self):
        """Rows of the table under `yao`."""
        for program, network, counts, wanted in (
                ("age_pyramid", "lan", (100, 37), (2, 5, [[37088], [19160]])),
                ("medication", "lan", (48,), (50, 5, [[183936], [17536]])),
                ("pay_gap", "lan", (48,), (9, 5, [[221248], [19274]])),
                ("credit", "lan", (8,), (5, 5, [[1025120], [16260]])),
                ("credit", "lan", (9000,), (11, 7, [[1143944288], [5339524]])),
                ("credit", "wan", (9000,), (11, 7, [[1143944288], [5337988]]))):
            path = self.export(ROOT / "examples" / program / "program.py", "--network", network)
            self.assertEqual(self.count(path, *counts), wanted, (program, network, counts))

    def test_trio(self):
        """Rows of the table under `trio`."""
        for program, counts, wanted in (
                ("age_pyramid", (100, 37), (1, 4, [[92, 124], [124, 32], [92, 64]])),
                ("millionaires", (), (8, 11, [[33, 90], [90, 32], [33, 82]])),
                ("medication", (48,), (823, 826, [[33, 1699], [1645, 32], [37, 1405]]))):
            path = self.export(ROOT / "examples" / program / "program.py", "--protocol", "trio",
                               "--helpers", "ada")
            self.assertEqual(self.count(path, *counts), wanted, (program, counts))

    def test_many_days(self):
        """`medication` with 30,000 days, in tiles."""
        text = (ROOT / "examples/medication/program.py").read_text(encoding="utf-8")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        program = Path(folder.name) / "program.py"
        program.write_text(text.replace("DAYS = 366", "DAYS = 30_000"), encoding="utf-8")
        self.assertEqual(self.count(self.export(program), 29000),
                         (29002, 5, [[122967936], [4653656]]))
        path = self.export(program, "--protocol", "trio", "--helpers", "ada")
        self.assertEqual(self.count(path, 29000), (493007, 493010, [
            [33, 1145591], [1091216, 32], [37, 946216]]))


class Alone(unittest.TestCase):
    """Numbers that one party draws, and work of one party."""

    def test_drawn(self):
        """Eight bytes are a big-endian number, of which planes take the lowest bits."""
        number, = struct.unpack(">1Q", bytes(range(1, 9)))
        self.assertEqual(decode(encode([number], 12, None), None), [0x708])

    def test_add_inputs(self):
        """Draws in the order of inputs, then a plan of this party."""
        joint = Builder(self, "yao", (0, 1, 0, 0, 0))
        joint.rows("t", 10, 4)
        value, total = joint.value(12, 2, rows=0), joint.value(4)
        joint.segment(0)
        joint.step("input", input=2, out=value)
        joint.segment()
        joint.step("input", input=4, out=total)
        local = Builder(self, "clear", (0, 0, 0, 0))
        local.rows("t", 10, 4)
        a = local.value(4)
        local.segment()
        local.step("input", input=0, out=a)
        local.result(a)
        work = Work.__new__(Work)
        work.plan, work.given, work.me = joint.read(), [None, None], 0
        work.own, work.alone = local.read(), [{"party": 0}, *local.all(), {"party": 1}]
        inputs, coins, again = {0: [9]}, Coins(bytes(32)), Coins(bytes(32))
        work.add_inputs(inputs, [3], coins)
        data = again.secret("numbers that nobody knows").read(48)
        self.assertEqual(inputs[2], [int.from_bytes(data[i:i + 8], "big")
                                     for i in range(0, 48, 8)])
        self.assertEqual((inputs[3], inputs[4]), ([], [9]))
        self.assertEqual(coins.counter, 3)


if __name__ == "__main__":
    unittest.main()
