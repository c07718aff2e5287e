"""Served netlists (chapter 18): sessions of a server and a client, for vectors alone."""

from __future__ import annotations

import struct

from agreement import session_of
from correlations import encrypted, sigma
from encoding import Reader, string, varint
from errors import need
from garbling import FULL, Evaluator, Garbler, Keys, gate_hash
from link import Mesh
from primitives import Aes128, H
from streams import Coins, expand_public
from transfers import BLOCK, Receiver, Sender

XOR, XNOR, NOT, ONE = 6, 9, 12, -3
SCHEMES = ["prp", "mi"]


class Netlist:
    """A netlist, from its text."""

    def __init__(self, text: str) -> None:
        lines = [[*map(int, line.split())] for line in text.splitlines()] + [[]] * 6
        _, *once, _, g, e, self.states, _, _, _ = lines[0]
        self.inputs = [(*once, g, e), (g, e)]   # of cycle 0, of others
        self.gates = [*zip(*lines[1:4])]
        self.outputs, self.next, self.first = lines[4:7]
        self.hash = H("sealane 1 served netlist", text.encode())


class Session:
    """A session of the server (party 0) or the client (party 1)."""

    def __init__(self, mesh: Mesh, netlist: Netlist, cycles: int, every: bool, scheme: str,
                 network: str, depth: int, pinned: list[bytes]) -> None:
        self.mesh, self.netlist, self.cycles, self.every = mesh, netlist, cycles, every
        self.scheme, self.network, self.depth, self.pinned = scheme, network, depth, pinned
        self.serves, self.peer, self.delta = mesh.me == 0, 1 - mesh.me, 0
        self.own = [iter(list[int]()), iter(list[int]())]       # bits of server, blocks of client

    def run(self, coins: Coins, bits: list[int]) -> list[int]:
        """All of it; returns the outputs at the client."""
        self._set_up(self._agree(coins), bits)
        wires, found = dict[int, int](), list[int]()
        first = sum(self.netlist.inputs[0])     # wire of the first flip-flop
        for cycle in range(self.cycles):
            state = [self._read(wires, d) for d in self.netlist.next] if cycle else []
            self._inputs(wires, cycle)
            state = state or [self._read(wires, i) for i in self.netlist.first]
            wires.update(enumerate(state, first))
            self._gates(wires, cycle, first + self.netlist.states)
            if self.every or cycle + 1 == self.cycles:
                found += [self._read(wires, o) & 1 if o >= 0 else self.serves & (o == ONE)
                          for o in self.netlist.outputs]
        return self._open(found)

    def _agree(self, coins: Coins) -> Coins:
        """Ask or answer, and enter the session."""
        own = coins.public("serve: session").read(32)
        asked = (varint(3) + self.netlist.hash + varint(self.cycles) + bytes(
            [self.every, SCHEMES.index(self.scheme)]) + string(self.network))
        if self.serves:
            reader = Reader(self.mesh.recv_control(self.peer))
            need(reader.take(len(asked)) == asked, "another session is asked for", "own")
            both = [own, reader.take(32)]
            reader.end()
            self.mesh.send_control(self.peer, b"\0" + own)
        else:
            self.mesh.send_control(self.peer, asked + own)
            reader = Reader(self.mesh.recv_control(self.peer))
            need(reader.varint() == 0, "the server refuses", "own")
            both = [reader.take(32), own]
            reader.end()
        data = self.netlist.hash + struct.pack("<IB", self.cycles, self.every)
        data += f"{self.scheme} {self.network}".encode()
        job = H("sealane 2 job of a served netlist", data)
        session = session_of(
            H("sealane 1 session of a served netlist", job + b"".join(self.pinned)), both)
        self.mesh.begin(session)
        return coins.enter(session)

    def _set_up(self, coins: Coins, bits: list[int]) -> None:
        """Nonce, secrets and transfers."""
        given = self.netlist.inputs
        count = given[0][1] + self.cycles * given[1][1]         # bits of the client
        trees = self.mesh, self.peer, self.mesh.session, self.depth, self.serves
        if self.serves:
            nonce = coins.public("serve: hash").read(32)
            self.delta = int.from_bytes(coins.secret("serve: offset").read(16), "little") | 1
            labels = coins.secret("serve: labels of inputs")
            self.aes, self.label = Aes128(labels.read(16)), int.from_bytes(
                labels.read(16), "little")
            self.mesh.write(self.peer, nonce)
            if count:
                sender = Sender(*trees)
                sender.begin(coins, self.delta)
                self.mesh.flush()
                sender.finish()
                self.own[1] = iter(sender.transfer(count))
            self.own[0] = iter(bits)
        else:
            receiver = Receiver(*trees)
            if count:
                receiver.begin(coins)
            self.mesh.flush()
            nonce = self.mesh.read(self.peer, 32)
            if count:
                receiver.finish()
                self.own[1] = iter(receiver.transfer(bits))
                self.mesh.flush()
        stream = expand_public(nonce, self.mesh.session, "serve: hash")
        self.seed = int.from_bytes(stream.read(16), "little")

    def _inputs(self, wires: dict[int, int], cycle: int) -> None:
        """Labels of the inputs of a cycle."""
        counts = self.netlist.inputs[cycle > 0]
        wire = sum(self.netlist.inputs[0]) - sum(counts)
        for i, count in enumerate(counts):
            for _ in range(count):
                if self.serves:
                    text = (self.label & BLOCK).to_bytes(16, "little")
                    self.label += 1
                    zero = wires[wire] = int.from_bytes(self.aes.encrypt(text), "little")
                    told = zero ^ (next(self.own[1]) if i % 2 else next(self.own[0]) * self.delta)
                    self.mesh.write(self.peer, told.to_bytes(16, "little"))
                else:
                    told = int.from_bytes(self.mesh.read(self.peer, 16), "little")
                    wires[wire] = told ^ (next(self.own[1]) if i % 2 else 0)
                wire += 1

    def _read(self, wires: dict[int, int], operand: int) -> int:
        """The label of an operand; constants have none at the client."""
        return wires[operand] if operand >= 0 else self.delta if operand == ONE else 0

    def _hash(self, key: int, label: int) -> int:
        """The hash of the scheme, whose key is the seed and tweak of `mi`."""
        if self.scheme == "mi":
            return gate_hash(key, label)
        mixed = sigma(label)
        return encrypted(Aes128(self.seed.to_bytes(16, "little")), [mixed ^ key ^ self.seed],
                         [mixed])[0]

    def _gates(self, wires: dict[int, int], cycle: int, wire: int) -> None:
        """All gates of a cycle, and their tables."""
        garbler = Garbler(self.seed, 0, 1, self.delta, lambda _: None)
        evaluator, number, delta = Evaluator(self.seed, 0, 1, bytes), 0, self.delta
        for first, second, code in self.netlist.gates:
            a, b = self._read(wires, first), self._read(wires, second)
            if code in (XOR, XNOR, NOT):
                wires[wire] = a ^ b ^ (delta if code != XOR else 0)
            else:
                alone = 15 ^ code if code.bit_count() == 3 else code
                row = alone.bit_length() - 1
                a, b = a ^ (0 if row & 2 else delta), b ^ (0 if row & 1 else delta)
                keys: Keys = garbler.keys(cycle, number, 0)
                if self.serves:
                    out, table = garbler.garble(FULL, keys, a, b, self._hash)
                    self.mesh.write(self.peer, b"".join(
                        value.to_bytes(16, "little") for value in table), True)
                else:
                    data = self.mesh.read(self.peer, 32, True)
                    table = tuple(int.from_bytes(data[i:i + 16], "little") for i in (0, 16))
                    out = evaluator.evaluate(FULL, keys, a, b, table, self._hash)
                wires[wire] = out ^ (delta if alone != code else 0)
                number += 1
            wire += 1

    def _open(self, bits: list[int]) -> list[int]:
        """Settle, and open the outputs to the client."""
        size = (len(bits) + 7) // 8
        self.mesh.flush()
        if self.serves:
            self.mesh.check_digest(self.peer)
            packed = sum(bit << i for i, bit in enumerate(bits))
            self.mesh.write(self.peer, packed.to_bytes(size, "little"))
            self.mesh.send_digest(self.peer)
            self.mesh.flush()
            return []
        self.mesh.send_digest(self.peer)
        self.mesh.flush()
        masks = int.from_bytes(self.mesh.read(self.peer, size), "little")
        self.mesh.check_digest(self.peer)
        return [bit ^ masks >> i & 1 for i, bit in enumerate(bits)]
