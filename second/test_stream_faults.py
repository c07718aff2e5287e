"""Tests of chapters 3 and 13: hellos, frames and records that no party may send, behind TLS.

The spoiler of `test_tls_faults.py` sends them to a live party.
"""

from __future__ import annotations

import socket
import unittest
from contextlib import suppress

from agreement import agree
from errors import CAUSES
from link import ABORTS, FRAME, WIRE, make_hello
from test_stage_a import PUBLIC
from test_tls_faults import BAD, GONE, JOB, JOBS, LIMIT, NSC, Trials
from test_tls_messages import CLIENT_HELLO, ccs
from tls import message

# ----------------------------------------------------------------------------------- spoilers


def hello(change):
    """A spoiler with a wrong hello."""
    def spoil(trial, sock):
        tls = trial.secured(sock)
        tls.send(change(make_hello(trial.peer, trial.me, 2, LIMIT)))
        tls.read(50)
        with suppress(EOFError):
            tls.read(1)
        raise EOFError("after the hello")
    return spoil


def instead(act):
    """A spoiler that does something else where its hello is due."""
    def spoil(trial, sock):
        act(trial.secured(sock))
    return spoil


def frames(act, agreed=False):
    """A spoiler that goes wrong behind the hellos, or where payload is due."""
    def spoil(trial, sock):
        mesh = trial.met(trial.secured(sock))
        if agreed:
            agree(mesh, JOBS.work(JOB, trial.peer).job, PUBLIC[:2], {}, bytes(32))
        link = mesh.links[trial.me]
        with link.tls.lock:                     # no heartbeat comes between
            act(link.tls)
            link.tls.closed = True
        link.reader.join(LIMIT)
        return link.fault
    return spoil


# -------------------------------------------------------------------- spoiled hellos and frames


def put(place, data):
    """Other bytes in a hello."""
    return lambda right: right[:place] + data + right[place + len(data):]


HELLOS = [
    ("zeros", lambda right: bytes(50), BAD, False),
    ("magic", put(7, b"\r"), BAD, False),
    ("text of 32 bytes", put(13, bytes([32]) + b"x" * 31), BAD, False),
    ("text with a space", put(14, b" "), BAD, False),
    ("no text, but a length", put(14, bytes(31)), BAD, False),
    ("version", put(8, b"\x0a"), "wrong-version", True),
    ("version and parties", put(8, b"\x0a\1\x09\x09\x09"), "wrong-version", True),
    ("version in the other order", put(8, bytes([0, WIRE])), "wrong-version", True),
    ("purpose", put(45, b"\1"), BAD, True),
    ("purpose and parties", put(45, b"\2"), BAD, True),
    ("from", put(10, b"\2"), "wrong-party", True),
    ("to", put(11, b"\2"), "wrong-party", True),
    ("from and to", lambda right: put(10, right[11:12] + right[10:11])(right), "wrong-party", True),
    ("parties", put(12, b"\3"), "wrong-party", True),
]


def frame(tag, flag=0, stamp=0, payload=b"", length=None, zero=0):
    """A frame, whatever it is."""
    length = len(payload) if length is None else length
    return FRAME.pack(tag, flag, zero, stamp, length) + payload


def sends(*parts):
    """Send frames, each in its record."""
    return lambda tls: [tls.send(part) for part in parts]


def then(act, end):
    """One thing behind the other."""
    return lambda tls: (act(tls), end(tls))


def record(kind, data):
    """A record under the keys."""
    return lambda tls: tls.write_record(kind, data)


def disguised(kind):
    """A heartbeat in a record that has another kind outside."""
    def act(tls):
        header = bytes([kind]) + b"\3\3\0\x1d"
        sealed = tls.writing.gcm.seal(tls.writing.nonce(), frame(3) + b"\x17", header)
        tls.sock.sendall(header + sealed)
    return act


def clear(kind, data, length=None):
    """A record without protection."""
    return lambda tls: tls.raw(kind, data, length)


def end(tls):
    """The end of the TCP stream."""
    tls.sock.shutdown(socket.SHUT_WR)


NOTIFY, FATAL = record(21, b"\1\0"), record(21, b"\2\x28")
HALF = frame(1, 1, 1, b"some bytes")[:15]
EARLY = [                                       # with alerts, since no frame may be sent yet
    ("a record that does not decrypt", clear(23, bytes(40)), NSC, 20),
    ("CCS", ccs, NSC, 10),
    ("a session ticket", record(22, message(4, bytes(13))), NSC, 10),
    ("a fatal alert", FATAL, NSC, None),
    ("the key refused", record(21, b"\2\x31"), "wrong-key", None),
    ("half a hello, then nothing", sends(bytes(25)), "peer-silent", None),
    ("half a hello, then the end", then(sends(bytes(25)), end), GONE, None),
    ("close_notify", NOTIFY, GONE, None),
]
FRAMES = [                                      # wherever they come
    ("data too long", sends(frame(1, 1, 1, length=131073)), BAD),
    ("data of 2^32 - 1 bytes", sends(frame(1, 1, 1, length=2**32 - 1)), BAD),
    ("control message too long", sends(frame(2, length=65537)), BAD),
    ("data of no bytes", sends(frame(1, 1, 1)), BAD),
    ("kind 0", sends(frame(0)), BAD),
    ("kind 6", sends(frame(6)), BAD),
    ("flag 2 of data", sends(frame(1, 2, 1, b"x")), BAD),
    ("flag of a control message", sends(frame(2, 1)), BAD),
    ("bytes that are not zero", sends(frame(3, zero=1)), BAD),
    ("stamp 0", sends(frame(1, 1, 0, b"x")), BAD),
    ("stamp above 2^30", sends(frame(1, 1, 2**30 + 1, b"x")), BAD),
    ("stamp of a heartbeat", sends(frame(3, 0, 1)), BAD),
    ("payload of a heartbeat", sends(frame(3, payload=b"x")), BAD),
    ("stamp of a goodbye", sends(frame(4, 0, 1)), BAD),
    ("cause 3 of an abort", sends(frame(5, 3)), BAD),
    ("reason too long", sends(frame(5, payload=b"x" * 1025)), BAD),
    ("reason that is no UTF-8", sends(frame(5, payload=b"\xff")), BAD),
    ("a hello again", sends(make_hello(1, 0, 2, 30.0)), BAD),
    ("aborts", sends(frame(5, 0, payload=b"no")), "peer-gave-up"),
    ("abort of the network", sends(frame(5, 1)), "peer-cut-off"),
    ("abort of a user", sends(frame(5, 2), frame(6)), "peer-cancelled"),
    ("goodbye", sends(frame(4)), "peer-finished"),
    ("frames behind a goodbye", sends(frame(4), frame(1, 1, 1, b"x"), frame(6)), "peer-finished"),
    ("half a frame, then nothing", sends(HALF), "peer-silent"),
    ("half a header, then nothing", sends(HALF[:5]), "peer-silent"),
    ("half a frame, then the end", then(sends(HALF), end), GONE),
    ("half a header, then the end", then(sends(HALF[:5]), end), GONE),
    ("half a frame, then close_notify", then(sends(HALF), NOTIFY), GONE),
    ("close_notify, then frames", then(NOTIFY, sends(frame(3), frame(6))), GONE),
    ("the end", end, GONE),
    ("half a record, then the end", then(clear(23, bytes(9), 99), end), GONE),
    ("a fatal alert", FATAL, NSC),
    ("a fatal alert within a frame", then(sends(HALF), FATAL), NSC),
    ("alert access_denied", record(21, b"\2\x31"), NSC),
    ("an alert of three bytes", record(21, bytes(3)), BAD),
    ("an alert in clear", clear(21, b"\2\x28"), BAD),
    ("a record that does not decrypt", clear(23, bytes(40)), BAD),
    ("a record with another kind outside", disguised(22), BAD),
    ("a record of an unknown kind", clear(24, bytes(40)), BAD),
    ("a record too long", clear(23, b"", 2**14 + 257), BAD),
    ("text of a record too long", record(23, bytes(2**14 + 1)), BAD),
    ("an empty handshake record", record(22, b""), BAD),
    ("CCS", ccs, BAD),
    ("CCS under keys", record(20, b"\1"), BAD),
    ("a session ticket", record(22, message(4, bytes(13))), BAD),
    ("a second ClientHello", record(22, message(CLIENT_HELLO, bytes(50))), BAD),
    ("a KeyUpdate of kind 2", record(22, message(24, b"\2")), BAD),
    ("a KeyUpdate in another kind of record", record(24, message(24, b"\0")), BAD),
    ("two KeyUpdates in a record", record(22, 2 * message(24, b"\0")), BAD),
    ("a KeyUpdate under old keys", then(record(22, message(24, b"\0")), sends(frame(3))), BAD),
]
CONTROLS = [                                    # where a control message is due
    ("data", sends(frame(1, 1, 1, b"x")), BAD),
    ("a message that ends early", sends(frame(2, payload=bytes(159))), BAD),
    ("an empty message", sends(frame(2)), BAD),
]
PAYLOADS = [                                    # where payload is due
    ("a control message", sends(frame(2, payload=b"x")), BAD),
    ("stamps that fall", sends(frame(1, 0, 5, bytes(9)), frame(1, 1, 4, bytes(99))), BAD),
    ("half of what is due, then a control message", sends(
        frame(1, 1, 1, bytes(9)), frame(2)), BAD),
    ("half of what is due, then goodbye", sends(
        frame(1, 1, 1, bytes(9)), frame(4)), "peer-finished"),
    ("half of what is due, then the end", then(sends(frame(1, 1, 1, bytes(9))), end), GONE),
    ("half of what is due, then an alert", then(sends(frame(1, 1, 1, bytes(9))), FATAL), NSC),
    ("half of what is due, then an abort", sends(
        frame(1, 1, 1, bytes(9)), frame(5, 1)), "peer-cut-off"),
]


# --------------------------------------------------------------------------------------- tests


class Streams(Trials):
    """Faults behind TLS."""

    def test_early(self):
        """What ends a connection behind TLS and before its hello."""
        for me in range(2):
            self.refused(me, EARLY, instead)

    def test_hellos(self):
        """Hellos that are wrong, and what is no hello."""
        for me in range(2):
            for name, change, code, answered in HELLOS:
                with self.subTest(name, me=me):
                    found, fault, other = self.trial(me, hello(change))
                    self.ended(fault, code)
                    self.ended(found, code)
                    self.assertIsInstance(other, EOFError)
                    self.assertEqual(answered or me == 1, other.args == ("after the hello",))

    def streams(self, me, rows, agreed):
        """Faults behind the hello, of which the other end hears by an abort."""
        for name, act, code in rows:
            with self.subTest(name, me=me, agreed=agreed):
                silence = 1.0 if code == "peer-silent" else LIMIT
                found, _, other = self.trial(me, frames(act, agreed), silence)
                self.ended(found, code)
                self.ended(other, ABORTS[CAUSES.get(code, 0)])

    def test_frames(self):
        """Frames and records, where agreement begins."""
        for me in range(2):
            self.streams(me, FRAMES + CONTROLS, False)

    def test_payload(self):
        """Frames and records, where payload is due."""
        for me in range(2):
            self.streams(me, PAYLOADS, True)


if __name__ == "__main__":
    unittest.main()
