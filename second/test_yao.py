"""Tests of chapters 9 and 11: their examples, and both sides in one process."""

from __future__ import annotations

import random
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor

import errors
from link import Digest, Mesh
from plan import Tape
from primitives import blake3
from streams import Coins
from tensors import Tensor
from transfers import transpose
from yao import Yao, depth_of_trees

unhex = bytes.fromhex
SESSION = unhex("60189c1947184fee364caae3e877577e7514fd834ad0571deb35d4e270ddfc17")


def number(text: str) -> int:
    """Return a block that is written in the order of its bytes."""
    return int.from_bytes(unhex(text), "little")


def text(block: int) -> str:
    """Write a block in the order of its bytes."""
    return block.to_bytes(16, "little").hex()


class Pipe:
    """Payload of one direction, in memory. `spoil` maps a position to what is added to a byte."""

    def __init__(self, ends: tuple[int, int]) -> None:
        self.ends, self.data, self.read, self.changed = ends, b"", 0, threading.Condition()
        self.spoil: dict[int, int] = {}
        self.closed = False

    def put(self, data: bytes) -> None:
        """Take what a party sends."""
        with self.changed:
            self.data += bytes(byte ^ self.spoil.get(len(self.data) + i, 0)
                               for i, byte in enumerate(data))
            self.changed.notify_all()

    def close(self) -> None:
        """End what nobody will go on with."""
        with self.changed:
            self.closed = True
            self.changed.notify_all()

    def get(self, n: int) -> bytes:
        """Wait for n bytes."""
        with self.changed:
            self.changed.wait_for(lambda: len(self.data) >= self.read + n or self.closed, 60)
            if len(self.data) < self.read + n:
                raise errors.Fault("it has given up", "peer-vanished")
            self.read += n
            return self.data[self.read - n:self.read]


class LocalMesh(Mesh):
    """What protocols use of `link.Mesh`, between two parties in one process."""

    def __init__(self, me: int, pipes: dict[tuple[int, int], Pipe]) -> None:
        super().__init__(me, 2)
        self.links[1 - me] = None
        self.me, self.pipes, self.unsent, self.flushed = me, pipes, b"", []
        self.digests = {ends: Digest(SESSION, *ends) for ends in pipes}

    def write(self, peer: int, data: bytes, bulk: bool = False) -> None:
        """Write payload."""
        self.digests[self.me, peer].update(data, bulk)
        self.unsent += data

    def flush(self) -> None:
        """Send what was written."""
        self.flushed.append(len(self.unsent))
        self.pipes[self.me, 1 - self.me].put(self.unsent)
        self.unsent = b""

    def read(self, peer: int, n: int, bulk: bool = False) -> bytes:
        """Read payload."""
        data = self.pipes[peer, self.me].get(n)
        self.digests[peer, self.me].update(data, bulk)
        return data


def outcome(task):
    """Run a task; returns its result or its fault."""
    try:
        return task()
    except errors.Fault as fault:
        return fault


def code(result):
    """Return the code of a result that is a fault."""
    return result.code if isinstance(result, errors.Fault) else None


def both(*tasks):
    """Run tasks at once; returns their results or faults."""
    with ThreadPoolExecutor() as pool:
        return list(pool.map(outcome, tasks))


class Run:
    """Garbler 0 and evaluator 1 of a run, with the seeds of the examples."""

    def __init__(self, network: str = "lan", has_transfers: bool = True) -> None:
        self.pipes = {ends: Pipe(ends) for ends in ((0, 1), (1, 0))}
        self.meshes = [LocalMesh(i, self.pipes) for i in range(2)]
        setting = {"roles": [[0], [1]], "network": network}
        self.sides = [Yao(self.meshes[i], Coins(bytes([i]) + bytes(31)), SESSION, setting,
                          has_transfers) for i in range(2)]

    def set_up(self):
        """Set both sides up; returns their faults."""
        return both(*(lambda side=side: self.set_up_side(side) for side in self.sides))

    def set_up_side(self, side):
        """Set one side up; the other one does not wait for it if it fails."""
        try:
            side.set_up()
        finally:
            if not hasattr(side, "machine"):
                for pipe in self.pipes.values():
                    pipe.close()

    def step(self, *calls):
        """Run one call of each side; returns the results or faults of its reads."""
        begun = [advance(call) for call in calls]
        for mesh in self.meshes:
            mesh.flush()
        return [result if done else outcome(lambda call=call: advance(call)[1])
                for call, (done, result) in zip(calls, begun)]

    def both(self, method, *arguments):
        """Run the same call of both sides."""
        return self.step(*(getattr(side, method)(*arguments) for side in self.sides))

    def input(self, owner, numbers, bits):
        """Share numbers of one party."""
        return self.step(*(side.input(owner, numbers if i == owner else None, len(numbers), bits,
                                      None) for i, side in enumerate(self.sides)))

    def transfers(self):
        """Return the sender and the receiver of transfers."""
        return self.sides[0].sender, self.sides[1].receiver

    def extend(self, n):
        """Make n random transfers; returns q, x, t, and the bytes that were sent."""
        sender, receiver = self.transfers()
        pipe = self.pipes[1, 0]
        before = len(pipe.data)
        x, t = receiver.extend(n)
        self.meshes[1].flush()
        return sender.extend(n), x, t, pipe.data[before:]


def advance(call):
    """Begin or advance a call; returns whether it is finished, and its result."""
    try:
        next(call)
    except StopIteration as stop:
        return True, stop.value
    return False, None


class Transfers(unittest.TestCase):
    """Chapter 9."""

    def test_example(self):
        """The example with k = 4, byte for byte."""
        run = Run()
        self.assertEqual(run.set_up(), [None, None])
        sent, answer = run.pipes[0, 1].data, run.pipes[1, 0].data
        sender, _ = run.transfers()
        self.assertEqual(text(sender.delta), "3510918fe7a93e4f1639c33c4427dc4b")
        self.assertEqual(answer[:32].hex(),
                         "2e04ba635a583fa9072ef8934b0512f5de8bcc8bd8a0b5509dcb6658dcb38e03")
        self.assertEqual(sent[32:64].hex(),
                         "3042d4a34e5b60e5624360d650b6b4372446a73ad777b350c48f2f1843272c57")
        self.assertEqual(sent[64:96].hex(),
                         "6039c7dbd1171900a1d16e7d47714646055002efb5929e4532e3b22097befd32")
        self.assertEqual(blake3(sent[32:8224]).hex(),
                         "9fd6627c03bb0220ef3683bd090904e87739ae9319ffec5c4ddfaefa3d9a86a7")
        self.assertEqual(sent[8224:].hex(),
                         "be4cbce763c2826e22bb1e90104f4db5c0a72ea2d84a2fcc1d68d9314b5c8ef6")
        self.assertEqual(run.meshes[0].flushed, [1056] + 7 * [1024] + [32])
        self.assertEqual(run.meshes[1].flushed, [32, 8224])
        self.assertEqual(answer[32:64].hex(),
                         "7ccf60e98f955890fe73927fe94a5145562baf51448c7a499a356f3dd39914be")
        self.assertEqual(blake3(answer[32:8224]).hex(),
                         "d1b12831a2e79c1a0cd7ed5dc7188b43da56c7603dd6d5335249798c80f48be5")
        self.assertEqual(answer[8224:].hex(),
                         "2de84939acc5d45cec4a23054ec486f5a498c484e583c6e5365bc54e325a8c39")

    def test_keys(self):
        """Both keys of base transfer 0."""
        run = Run()
        found = []
        _, receiver = run.transfers()
        deal = receiver._deal                   # pylint: disable=protected-access
        receiver._deal = lambda zeros, ones: found.append((zeros, ones)) or deal(zeros, ones)
        run.set_up()
        self.assertEqual([keys[0].hex() for keys in found[0]],
                         ["2d6b1f26637aa3c7ba3549d6f4884306d7ff39393ada10631c48f3a51b89f434",
                          "5b1a208176de3bcd86c537cc0ba2341529b7d9ef993653681c13ad7c1e023d74"])

    def test_extensions(self):
        """The extensions of the example, one after the other."""
        run = Run()
        run.set_up()
        delta = run.sides[0].sender.delta
        for n, digest in (
                (1, "1259079f473d8d5ffa9d407eb1277551c31871fd948eadf87c74f72b95e9e467"),
                (128, "e885664d30e687ba25cb40b9ad045cd63b97be9d4d7cca7d7a73dd03c607244f"),
                (4100, "be5d1fbc94f8ab332187e2a089b5c1112578c2b2b4a34ac5d21a423d85a4dc1c")):
            q, x, t, sent = run.extend(n)
            self.assertEqual(len(sent), 496 * ((n + 127) // 128 + 1) + 80)
            self.assertEqual(blake3(sent).hex(), digest)
            self.assertEqual(t, [row ^ bit * delta for row, bit in zip(q, x)])
            if n == 1:
                self.assertEqual((sent[:16].hex(), sent[-80:-48].hex()), (
                    "4a9c11db50134f94d03ae9ba6b4e946f",
                    "72741deed803ddb5cfd2f23591c7602efcbdce8ecbb4d41516e709ce5b64b175"))
                self.assertEqual((sent[-48:-32].hex(), sent[-32:].hex()), (
                    "b8187d7a550070b93665659e023b2e45",
                    "901c476524ce289042a5b88d33a1caee9307e76add0d6318faca59fb419242ee"))
                self.assertEqual((x, text(t[0]), text(q[0])), (
                    [1], "be2f762f9c3502da1b2f6037ec6cc72e", "8b3fe7a07b9c3c950d16a30ba84b1b65"))

    def test_wan(self):
        """The example with k = 8."""
        run = Run("wan")
        self.assertEqual(run.set_up(), [None, None])
        self.assertEqual(blake3(run.pipes[1, 0].data[32:8224]).hex(),
                         "3108665a4b0cb41935c258500d2dba19fac6265c6b14445c8a5ecb9ec1ff9949")
        q, x, t, sent = run.extend(1)
        self.assertEqual(blake3(sent).hex(),
                         "b09a5db88b59c7b62d29d2f5fdc1777cf6ec17352591885d31eba078877ced23")
        self.assertEqual((len(sent), t[0]), (560, q[0] ^ x[0] * run.sides[0].sender.delta))

    def test_depth(self):
        """The k of a network."""
        self.assertEqual([depth_of_trees(network) for network in (
            "lan", "wan", "20ms/100Mbps", "20ms/999Mbps", "1ms/1Gbps", "1ms/20Gbps")],
            [4, 8, 8, 8, 4, 4])

    def test_transpose(self):
        """Rows of bits."""
        columns = [random.getrandbits(70) for _ in range(128)]
        rows = transpose(columns, 67)
        self.assertEqual(len(rows), 67)
        self.assertTrue(all(rows[j] >> c & 1 == columns[c] >> j & 1
                            for j in range(67) for c in range(128)))

    def test_altered(self):
        """Bytes that were altered on their way: points, trees, corrections."""
        for ends, faults in (((0, 1), ["peer-vanished", "altered"]), ((1, 0), ["altered", None])):
            run = Run()
            run.pipes[ends].spoil[100] = 1
            self.assertEqual([code(fault) for fault in run.set_up()], faults)
        run = Run()
        run.set_up()
        run.pipes[1, 0].spoil[len(run.pipes[1, 0].data)] = 1
        self.assertEqual(code(outcome(lambda: run.extend(1))), "altered")

    def test_deviations(self):
        """A peer that deviates: malformed points, wrong trees, a wrong correction or value."""
        def spoil(owner, name, change):
            old = getattr(owner, name)
            setattr(owner, name, lambda *arguments: change(old(*arguments)))

        run = Run()
        spoil(run.transfers()[1], "_deal", lambda data: data[:-1] + bytes([data[-1] ^ 1]))
        self.assertEqual(code(run.set_up()[0]), "peer-deviated")
        self.assertEqual(run.transfers()[0].delta, 0)
        for data in (bytes(32), bytes([255]) * 32):
            run = Run()
            write = run.meshes[1].write
            run.meshes[1].write = lambda peer, _, data=data, write=write: write(peer, data)
            self.assertEqual(code(run.set_up()[0]), "protocol-broken")
        run = Run()
        run.set_up()
        spoil(run.transfers()[1], "_check_values", lambda data: bytes([data[0] ^ 1]) + data[1:])
        self.assertEqual(code(outcome(lambda: run.extend(1))), "peer-deviated")


class Protocol(unittest.TestCase):
    """Chapter 11."""

    def test_example(self):
        """The example, byte for byte."""
        run = Run()
        run.set_up()
        pipe, back = run.pipes[0, 1], run.pipes[1, 0]
        garbler, evaluator = run.sides
        self.assertEqual(pipe.data[:32].hex(),
                         "c399ab445b4111911762758418b187de1c6cf75265ad37822a8be75973acfc20")
        self.assertEqual(text(garbler.machine.seed), "056e326a65f2ea8b3ad38c18173cfe97")
        self.assertEqual(garbler.input_labels.start.to_bytes(16, "big").hex(),
                         "c058d9f065c9af02ed0b55521e410e14")
        first = run.input(0, [5], 3)
        self.assertEqual([text(plane[0]) for plane in first[1].planes], [
            "dc7193e6296a3da36d986abca9ea19ed", "1ca34577c99c51b1c4671796e6bc3029",
            "0a0e3c53830a55c0d8e0a7a3fbd0d751"])
        self.assertEqual([text(plane[0]) for plane in first[0].planes], [
            "e9610269cec303ec7ba1a980edcdc5a6", "1ca34577c99c51b1c4671796e6bc3029",
            "3f1eaddc64a36b8fced9649fbff70b1a"])
        before = len(back.data)
        second = run.input(1, [3], 2)
        sent = back.data[before:]
        self.assertEqual((len(sent), sent[-1]), (1073, 2))
        self.assertEqual(blake3(sent).hex(),
                         "b053f6bae686d9effa6ee62f55bf2dd9fc4b1fdf8be8f1cb122ced124cd29d39")
        self.assertEqual([text(plane[0]) for plane in second[1].planes], [
            "bf2f762f9c3502da1b2f6037ec6cc72e", "01051bec52f558e8582d674152543082"])
        self.assertEqual([text(plane[0]) for plane in second[0].planes], [
            "8a3fe7a07b9c3c950d16a30ba84b1b65", "34158a63b55c66a74e14a47d1673ecc9"])
        tape = Tape(2, 5, 1, [], [(2, 3, 4, 0)], [(0, 1)], [4], b"\2")
        before = len(pipe.data)
        planes = run.step(*(side.tape(tape, [first[i].planes[0], second[i].planes[0]], 1)
                            for i, side in enumerate(run.sides)))
        self.assertEqual(pipe.data[before:].hex(), "52d94347158cbed8df2c614a5eea0cdd")
        self.assertEqual([text(plane[0][0]) for plane in planes], [
            "1b42ccbc66eab568d6074b2b4fef3cd4", "2e525d3381438b27c03e88170bc8e09f"])
        self.assertEqual(run.both("settle"), [None, None])
        self.assertEqual((pipe.data[-32:].hex(), back.data[-32:].hex()), (
            "15b47d754329d8cfb4ef0365c88ce70b598810f17eda4b252aedd7327b44b937",
            "b38d7ec7be0f1aef713a4a863727414e8f30b16b3cd36cb613c74bee7f04e1fb"))
        opened = run.step(*(side.open([(Tensor(planes[i]), None, [0, 1])])
                            for i, side in enumerate(run.sides)))
        self.assertEqual(opened, [[[1]], [[1]]])
        self.assertEqual((pipe.data[-32:].hex(), back.data[-16:].hex()), (
            "5b4328e8202c8e792c1f29e66b019037b04bde616327162fba5458f370bbce49",
            "b04bde616327162fba5458f370bbce49"))
        self.assertEqual((len(pipe.data), len(back.data)), (8336, 9377))
        for mesh in run.meshes:
            self.assertEqual((mesh.digest(0, 1).hex(), mesh.digest(1, 0).hex()), (
                "e9d3aba6cd78c69fe46e360fc1aeaba332a7e5e7cc61e2a61acb44fc117ddf04",
                "5fc3d47ae7e6dfa19d930e5f26dbe827a7a0275f90d5e0285fdc2c970c364afb"))
        next_input = run.input(0, [0], 1)
        self.assertEqual(text(next_input[1].planes[0][0]), "fc887ea03b8c80a27093f7f7532b4794")
        self.assertEqual(next(evaluator.machine.calls), 2)

    def test_without_transfers(self):
        """A set-up without transfers is the nonce alone."""
        run = Run(has_transfers=False)
        self.assertEqual(run.set_up(), [None, None])
        self.assertEqual([mesh.flushed for mesh in run.meshes], [[32], [0]])
        constants = [side.constant([5, -1], 3, None) for side in run.sides]
        shared = run.input(0, [2, 7], 3)
        xors = Tape(6, 11, 0, [(2 + i, 5 + i, 8 + i, i) for i in range(3)], [], [(3, 0)],
                    [8, 9, 10], b"")
        planes = run.step(*(side.tape(xors, shared[i].planes + constants[i].planes, 2)
                            for i, side in enumerate(run.sides)))
        values = [[(Tensor(planes[i]), None, [1]), (shared[i], None, [0]),
                   (constants[i], None, [0, 1])] for i in range(2)]
        opened = run.step(*(side.open(values[i]) for i, side in enumerate(run.sides)))
        self.assertEqual(opened, [[None, [2, 7], [5, 7]], [[7, 0], None, [5, 7]]])
        self.assertEqual([next(side.machine.calls) for side in run.sides], [3, 3])

    def test_faults(self):
        """Tables that were altered are found by the settlement, wrong hashes by the opening."""
        run = Run()
        run.set_up()
        shared = run.input(1, [1, 2, 3], 2)
        tape = Tape(2, 5, 1, [], [(2, 3, 4, 0)], [(0, 1)], [4], b"\0")
        run.pipes[0, 1].spoil[len(run.pipes[0, 1].data)] = 1
        run.step(*(side.tape(tape, shared[i].planes, 3) for i, side in enumerate(run.sides)))
        found = run.both("settle")
        self.assertEqual([code(result) for result in found], [None, "altered"])
        run.pipes[1, 0].spoil[len(run.pipes[1, 0].data)] = 1
        found = run.step(*(side.open([(shared[i], None, [0, 1])])
                           for i, side in enumerate(run.sides)))
        self.assertEqual(code(found[0]), "check-failed")
        self.assertEqual(found[1], [[1, 2, 3]])


if __name__ == "__main__":
    unittest.main()
