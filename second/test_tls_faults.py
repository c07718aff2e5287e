"""Tests of chapter 2: what a party does whose peer breaks the rules of TLS, and proofs of keys.

A party that runs a job, alice as the server or bob as the client, has the other one's place taken
by a spoiler, which speaks as this party does but for the fault of one row of a table. The spoiler
never ends first, unless that is the fault: so what ends the run is the party itself.
"""

from __future__ import annotations

import socket
import threading
import time
import unittest
from contextlib import suppress
from pathlib import Path

from errors import Fault
from link import WIRE, Mesh, exchange_hellos
from meeting import Meeting, Party
from party import fault_of
from streams import Coins
from test_sessions import free_ports
from test_stage_a import PUBLIC, SEEDS, both
from tls import Tls, accept, connect
from vectors_sessions import Jobs

JOBS = Jobs(Path(__file__).parent.parent / "testdata" / "vectors" / f"wire-{WIRE}")
JOB, ROUNDS, LIMIT = "yao-lanes-1", 3, 10.0     # a job, its rounds; seconds
NSC, BAD, GONE = "no-secure-connection", "malformed-message", "peer-vanished"


# ------------------------------------------------------------------------------- the two sides


def keep(_, data):
    """Change nothing."""
    return data


class Spoiler(Tls):
    """A connection that changes its own handshake messages before they go."""

    def __init__(self, sock, change):
        super().__init__(sock)
        self.change = change

    def send_message(self, data):
        """Send what is made of a message, as if it were right."""
        if changed := self.change(self, data):
            super().send_message(changed)

    def raw(self, kind, data, length=None):
        """Send a record without protection."""
        length = len(data) if length is None else length
        self.sock.sendall(bytes([kind]) + b"\3\3" + length.to_bytes(2, "big") + data)


class Watched(Meeting):
    """A meeting that keeps the faults of all its connections."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.faults = []
        self.over = False                       # whether nobody else is let in

    def _meet(self, tls, *arguments):
        if self.over:
            tls.sock.close()
            raise Fault("the trial is over", "peer-vanished")
        try:
            super()._meet(tls, *arguments)
        except Fault as fault:
            self.faults.append(fault)
            raise


class Trial:
    """A live party, and the spoiler in the place of its peer."""

    def __init__(self, me, silence=LIMIT, seconds=LIMIT):
        self.me, self.peer = me, 1 - me
        self.listener = None
        if me == 0:
            port = free_ports(1)[0]
        else:
            self.listener = socket.create_server(("127.0.0.1", 0))
            port = self.listener.getsockname()[1]
        self.address = ("127.0.0.1", port)
        parties = [Party("alice", *self.address, PUBLIC[0]), Party("bob", "h", 1, PUBLIC[1])]
        self.mesh = Mesh(me, 2, silence, LIMIT)
        self.meeting = Watched(self.mesh, me, parties, [0, 1], SEEDS[me], seconds)

    def run(self, spoil):
        """How the party ends, its connection with the spoiler in the meeting, and the spoiler."""
        found, other = both(self.party, lambda: self.spoiler(spoil))
        return found, [*self.meeting.faults, None][0], other

    def party(self):
        """A whole run of the party, as its command does it."""
        try:
            self.meeting.run()
            return self.play(self.me, self.mesh)
        except Exception as error:
            self.mesh.abort(fault_of(error).code, "test")
            raise

    def play(self, me, mesh):
        """All behind the meeting."""
        work = JOBS.work(JOB, me)
        inputs = {i: [given.low] * given.elements for i, given in enumerate(work.given)
                  if given.owner == work.job.parties[me]}
        return work.play(mesh, PUBLIC[:2], inputs, Coins())["rounds"]

    def spoiler(self, spoil):
        """The other side; returns the fault that it hears of."""
        sock = self.dial() if self.listener is None else self.listener.accept()[0]
        sock.settimeout(LIMIT)
        try:
            return spoil(self, sock)
        except Fault as fault:
            return fault
        except (OSError, EOFError) as error:
            return error
        finally:
            with suppress(OSError):
                while sock.recv(65536):
                    pass
            sock.close()
            if self.listener is not None:
                self.listener.close()
            else:                               # nobody else comes
                self.meeting.over, self.meeting.deadline = True, time.monotonic()
                with suppress(OSError):
                    socket.create_connection(self.address).close()

    def dial(self):
        """A connection with the party, once it listens."""
        while True:
            with suppress(ConnectionRefusedError):
                return socket.create_connection(self.address)
            time.sleep(0.005)

    def secured(self, sock, change=keep, seed=None):
        """A connection of the spoiler after TLS."""
        tls = Spoiler(sock, change)
        seed = SEEDS[self.peer] if seed is None else seed
        if self.peer == 1:
            connect(tls, 1, seed, lambda key: None)
        else:
            accept(tls, 0, 2, seed, lambda index, key: None)
        return tls

    def met(self, tls):
        """The spoiler's mesh behind right hellos."""
        mesh = Mesh(self.peer, 2, LIMIT, LIMIT)
        silence = exchange_hellos(tls, self.peer == 1, self.peer, self.me, 2, LIMIT)
        mesh.connect(self.me, tls, silence)
        return mesh


def handshake(change, seed=None):
    """A spoiler that fails within TLS, and does all else right."""
    def spoil(trial, sock):
        tls = trial.secured(sock, change, seed)
        return trial.play(trial.peer, trial.met(tls))
    return spoil


# --------------------------------------------------------------------------------------- tests


class Trials(unittest.TestCase):
    """Each row of a table ends a live party with its code, in time, and with no result."""

    def setUp(self):
        self.lost = []                          # what ended a thread of the party
        hook, threading.excepthook = threading.excepthook, self.lost.append
        self.addCleanup(setattr, threading, "excepthook", hook)

    def trial(self, me, spoil, silence=LIMIT, seconds=LIMIT):
        """Run one row; returns the ends of the party, of its connection, and of the spoiler."""
        begin = time.monotonic()
        found = Trial(me, silence, seconds).run(spoil)
        self.assertLess(time.monotonic() - begin, LIMIT)
        self.assertEqual(self.lost, [])
        return found

    def ended(self, fault, code):
        """A fault has a code."""
        self.assertIsInstance(fault, Fault)
        self.assertEqual(fault.code, code, str(fault))

    def refused(self, me, rows, make):
        """Run rows that end a connection before the hello."""
        for name, change, code, number in rows:
            with self.subTest(name, me=me):
                waits = code == "peer-silent" or (code == GONE and me == 1)
                seconds = 1.5 if waits else LIMIT
                found, fault, _ = self.trial(me, make(change), LIMIT, seconds)
                self.ended(fault, code)
                self.assertEqual(fault.alert, number)
                # Another connection may come after one that has just ended.
                self.ended(found, "unreachable" if code == GONE else code)


class Keys(Trials):
    """Proofs of keys in a handshake that is right otherwise."""

    def test_keys(self):
        """A proof of another key: a stranger's, and the party's own."""
        for me in range(2):
            for seed, code in ((SEEDS[2], "wrong-key"), (SEEDS[me], "wrong-party")):
                found, fault, other = self.trial(me, handshake(keep, seed))
                self.ended(found, code)
                self.assertEqual(fault.alert, 49)
                self.ended(other, "wrong-key")


if __name__ == "__main__":
    unittest.main()
