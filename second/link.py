"""Hello, frames, messages, stamps, signals, endings (chapter 3) and digests (chapter 4)."""

import re
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Generator
from contextlib import suppress
from functools import lru_cache
from itertools import accumulate

from encoding import text_of
from errors import CAUSES, Fault, need
from primitives import H, blake3, gf_mul, gf_sum
from tls import Tls, guarded

WIRE, MAGIC, SOFTWARE = 15, b"SEALANE\n", b"second-1"
HELLO = struct.Struct("<8sHBBBB31sBI")
FRAME = struct.Struct("<BBHII")
DATA, CONTROL, HEARTBEAT, GOODBYE, ABORT = 1, 2, 3, 4, 5
ABORTS = ["peer-gave-up", "peer-cut-off", "peer-cancelled"]     # by the cause in a frame
DATA_BYTES, CONTROL_BYTES, REASON_BYTES, MAX_STAMP = 131072, 65536, 1024, 2**30
SILENCE, PATIENCE, LINGER = 30.0, 3600.0, 10.0              # seconds
CHUNK = 2048                                                # bytes, of the polynomial hash

# ------------------------------------------------------------------------------------ hello


def make_hello(me: int, peer: int, count: int, silence: float) -> bytes:
    """The hello of 50 bytes; indices are those of the meeting."""
    return HELLO.pack(MAGIC, WIRE, me, peer, count, len(SOFTWARE), SOFTWARE, 0, int(silence * 1000))


def read_hello(data: bytes) -> tuple[int, int, int, int, int, int]:
    """Wire version, indices, number of parties, purpose and silence of what is a hello."""
    magic, wire, sender, receiver, count, length, text, purpose, silence = HELLO.unpack(data)
    need(magic == MAGIC and length <= 31
         and all(0x21 <= byte <= 0x7E for byte in text[:length]), "what came is no hello")
    return wire, sender, receiver, count, purpose, silence


def judge_hello(data: bytes, me: int, peer: int, parties: int) -> float:
    """Check the peer's hello; returns its silence in seconds."""
    wire, sender, receiver, count, purpose, silence = read_hello(data)
    need(wire == WIRE, f"the peer speaks wire version {wire}, this party {WIRE}", "wrong-version")
    need(purpose == 0, f"the hello has the purpose {purpose}")
    need((sender, receiver, count) == (peer, me, parties), "another party's hello", "wrong-party")
    return silence / 1000


def exchange_hellos(tls: Tls, dials: bool, me: int, peer: int, parties: int,
                    silence: float) -> float:
    """Both hellos, the dialler's first; returns the peer's silence."""
    mine = make_hello(me, peer, parties, silence)
    with guarded(tls):
        if dials:
            tls.send(mine)
        theirs = tls.read(HELLO.size)
        read_hello(theirs)
        if not dials:
            tls.send(mine)                      # before it is judged: so both know both versions
    tls.met = True
    peer_silence = judge_hello(theirs, me, peer, parties)
    need(dials or peer > me, "a party of lower index dials", "wrong-party")
    return peer_silence


# ---------------------------------------------------------------------------------- digests


class Digest:
    """D(A, B): the digest of all payload from one party to another (chapter 4)."""

    def __init__(self, session: bytes, sender: int, receiver: int) -> None:
        self.ends = session + bytes([sender, receiver])
        self.plain = bytearray()
        self.runs: list[tuple[int, bytearray]] = []     # of bulk, with their positions
        self.position, self.open = 0, False             # whether the last run may grow

    def update(self, data: bytes, bulk: bool) -> None:
        """More payload, of one class."""
        if not data:
            return
        if bulk and not self.open:
            self.runs.append((self.position, bytearray()))
        target = self.runs[-1][1] if bulk else self.plain
        target += data
        self.position, self.open = self.position + len(data), bulk

    def value(self) -> bytes:
        """The digest so far; changes nothing."""
        tail = b""
        if self.runs:
            powers = key_powers(H("sealane 5 key for the hash of tables", self.ends, 16))
            value = 0
            for position, run in self.runs:
                value = hash_run(powers, value, position, bytes(run))
            tail = value.to_bytes(16, "little")
        return H("sealane 3 transcript", self.ends + blake3(bytes(self.plain)) + tail)


@lru_cache
def key_powers(key: bytes) -> list[int]:
    """The powers 0 to 129 of a key of the polynomial hash."""
    return [*accumulate([1] + [int.from_bytes(key, "little")] * 129, gf_mul)]


def hash_run(powers: list[int], value: int, position: int, run: bytes) -> int:
    """Go on with one run from the value of those before it."""
    data = run + bytes(-len(run) % CHUNK)
    data += struct.pack("<2Q", position, len(run)).ljust(CHUNK, b"\0")
    for start in range(0, len(data), CHUNK):
        keyed = [int.from_bytes(data[start + 16 * i:start + 16 * i + 16], "little")
                 ^ powers[i + 1] for i in range(128)]
        pairs = [(keyed[i], keyed[i + 4]) for i in range(128) if i % 8 < 4]
        value = gf_sum([(value, powers[129]), *pairs])
    return value


# ------------------------------------------------------------------------------------ links


def check_header(header: bytes) -> tuple[int, int, int, int]:
    """Tag, flag, stamp and length of a frame, if they are in the table of chapter 3."""
    tag, flag, zero, stamp, length = FRAME.unpack(header)
    flags, lengths = {
        DATA: ((0, 1), range(1, DATA_BYTES + 1)), CONTROL: ((0,), range(CONTROL_BYTES + 1)),
        HEARTBEAT: ((0,), (0,)), GOODBYE: ((0,), (0,)),
        ABORT: ((0, 1, 2), range(REASON_BYTES + 1))}.get(tag, ((), ()))
    stamps = range(1, MAX_STAMP + 1) if tag == DATA else (0,)
    need(zero == 0 and flag in flags and stamp in stamps and length in lengths, "a wrong header")
    return tag, flag, stamp, length


# Control characters, and those that chapter 3 names under Abort.
HIDDEN = re.compile("[\0-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
                    "\U000e0000-\U000e007f]")


class Link:
    """A connection after the hello: one thread reads it, one keeps it alive."""

    def __init__(self, peer: int, tls: Tls, interval: float, changed: threading.Condition) -> None:
        self.peer, self.tls, self.interval = peer, tls, interval
        self.changed = changed                  # shared by all links of a party
        self.frames: deque[tuple[int, int, bytes]] = deque()       # tag, stamp, payload
        self.fault: Fault | None = None         # why nothing more comes
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        threading.Thread(target=self._beat, daemon=True).start()

    def send_frame(self, tag: int, flag: int, stamp: int, payload: bytes) -> None:
        """Write one whole frame; nothing once this side has ended."""
        with self.tls.lock:
            if not self.tls.closed:
                self.tls.send(FRAME.pack(tag, flag, 0, stamp, len(payload)) + payload)

    def end(self, tag: int, flag: int, payload: bytes) -> None:
        """Write a last frame, and end this direction."""
        with self.tls.lock:
            with suppress(OSError):             # the other end may have gone
                self.send_frame(tag, flag, 0, payload)
            self.tls.close_send()

    def _beat(self) -> None:
        """Heartbeats, whatever the party does (chapter 3, Signals and time)."""
        with suppress(OSError):
            while not self.tls.closed:
                time.sleep(self.interval / 4)
                if time.monotonic() - self.tls.spoken > self.interval * 3 / 4:
                    self.send_frame(HEARTBEAT, 0, 0, b"")

    def _read(self) -> None:
        """Take frames until the end; then keep its reason, and drop what follows."""
        try:
            with guarded(self.tls):
                while True:
                    tag, flag, stamp, length = check_header(self.tls.read(FRAME.size))
                    self._take(tag, flag, stamp, self.tls.read(length))
        except Fault as fault:
            if fault.code == "peer-vanished" and self.tls.closed:
                fault.code = "peer-finished"    # its answer to a goodbye
            fault.args = (f"party {self.peer}: {fault.args[0]}",)
            with self.changed:
                self.fault = fault
                self.changed.notify_all()
            if fault.code == "malformed-message":
                self.end(ABORT, 0, b"what it received was malformed: a frame or record")
        self.tls.drain()

    def _take(self, tag: int, flag: int, stamp: int, payload: bytes) -> None:
        """Keep one frame, or raise that it is the last one."""
        if tag == GOODBYE:
            raise Fault("it has said goodbye", "peer-finished")
        with self.changed:
            if tag == ABORT:
                self.frames.clear()
                raise Fault(HIDDEN.sub(" ", text_of(payload, "a reason")), ABORTS[flag])
            if tag != HEARTBEAT:
                self.frames.append((tag, stamp, payload))
                self.changed.notify_all()


# ------------------------------------------------------------------------------------- mesh


class Mesh:
    """All connections of a party, by index of the job, with messages, stamps and digests."""

    def __init__(self, me: int, parties: int, silence: float = SILENCE,
                 patience: float = PATIENCE) -> None:
        self.me, self.parties, self.silence, self.patience = me, parties, silence, patience
        self.changed = threading.Condition()
        self.links: dict[int, Link] = {}
        self.unsent = {peer: bytearray() for peer in range(parties)}
        self.unread = {peer: bytearray() for peer in range(parties)}
        self.sent, self.got = [0] * parties, [0] * parties          # bytes of payload
        self.session = b""
        self.digests: dict[tuple[int, int], Digest] = {}
        self.received = self.rounds = 0         # stamps, as in chapter 3
        self.held = 0                           # that of a refill, while one is made
        self.last = [0] * parties

    def connect(self, peer: int, tls: Tls, peer_silence: float) -> None:
        """Add a connection whose hellos are right."""
        interval = min(max(min(self.silence, peer_silence) / 4, 0.01), 5.0)
        tls.deadline = None
        tls.sock.settimeout(None)
        limit = struct.pack("@ll", int(self.patience), int(self.patience % 1 * 1e6))
        tls.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)
        self.links[peer] = Link(peer, tls, interval, self.changed)

    def peers(self) -> list[int]:
        """All other parties, in the order of indices."""
        return sorted(self.links)

    def begin(self, session: bytes) -> None:
        """Payload may cross from here on: digests begin."""
        self.session = session
        self.digests = {ends: Digest(session, *ends) for peer in self.peers()
                        for ends in ((self.me, peer), (peer, self.me))}

    def digest(self, sender: int, receiver: int) -> bytes:
        """D(sender, receiver) of what this party has written or read so far."""
        return self.digests[sender, receiver].value()

    # ---- sending

    def write(self, peer: int, data: bytes, bulk: bool = False) -> None:
        """Write payload to the message under way."""
        self.digests[self.me, peer].update(data, bulk)
        self.sent[peer] += len(data)
        message = self.unsent[peer]
        message += data
        while len(message) > DATA_BYTES:
            self._send(peer, DATA, 0, bytes(message[:DATA_BYTES]))
            del message[:DATA_BYTES]

    def flush(self) -> None:
        """End the messages to all peers."""
        for peer in self.peers():
            self._end_message(peer)

    def _end_message(self, peer: int) -> None:
        if self.unsent[peer]:
            self._send(peer, DATA, 1, bytes(self.unsent[peer]))
            self.unsent[peer].clear()

    def send_control(self, peer: int, body: bytes) -> None:
        """Send a control message, behind the message under way."""
        self._end_message(peer)
        self._send(peer, CONTROL, 0, body)

    def _send(self, peer: int, tag: int, flag: int, payload: bytes) -> None:
        """Send one frame; data have the stamp of this moment."""
        stamp = self.held or self.received + 1 if tag == DATA else 0
        self.rounds = max(self.rounds, stamp)
        link = self.links[peer]
        if link.fault is not None:
            self._fail(peer)
        try:
            link.send_frame(tag, flag, stamp, payload)
        except BlockingIOError:
            raise Fault(f"party {peer} takes nothing", "peer-overdue") from None
        except OSError:
            link.reader.join(1.0)               # it may have said why
            self._fail(peer)
            raise Fault(f"party {peer} is gone", "peer-vanished") from None

    # ---- reading

    def read(self, peer: int, n: int, bulk: bool = False) -> bytes:
        """The next n bytes of payload of a peer."""
        buffer = self.unread[peer]
        while len(buffer) < n:
            stamp, payload = self._next_frame(peer, DATA)
            need(stamp >= self.last[peer], f"a stamp of party {peer} is below an earlier one")
            self.last[peer] = stamp
            self.received = max(self.received, stamp)
            self.rounds = max(self.rounds, stamp)
            buffer += payload
        data = bytes(buffer[:n])
        del buffer[:n]
        self.digests[peer, self.me].update(data, bulk)
        self.got[peer] += n
        return data

    def recv_control(self, peer: int) -> bytes:
        """The next control message of a peer."""
        need(not self.unread[peer], f"party {peer} sent payload that nobody reads")
        return self._next_frame(peer, CONTROL)[1]

    def _next_frame(self, peer: int, due: int) -> tuple[int, bytes]:
        """Wait for a frame of a peer, within silence and patience, while nobody is lost."""
        link, begin = self.links[peer], time.monotonic()
        with self.changed:
            while not link.frames:
                self._fail(peer)
                now = time.monotonic()
                for other, each in self.links.items():
                    need(each.fault is not None or now - each.tls.heard <= self.silence,
                         f"party {other} sent nothing for {self.silence:g} s", "peer-silent")
                need(now - begin <= self.patience, f"party {peer} sends nothing", "peer-overdue")
                self.changed.wait(min(self.silence / 4, 1.0))
            tag, stamp, payload = link.frames.popleft()
        need(tag == due, f"party {peer} sent payload for a control message, or the reverse")
        return stamp, payload

    def _fail(self, awaited: int) -> None:
        """Raise the fault that counts, if there is one (chapter 13, Which fault counts)."""
        faults = [(peer, link.fault) for peer, link in self.links.items() if link.fault and (
            peer == awaited or link.fault.code != "peer-finished")]
        if faults:              # malformed bytes, an abort, the awaited party, others
            raise min(faults, key=lambda entry: (
                entry[1].code != "malformed-message", entry[1].code not in ABORTS,
                entry[0] != awaited))[1]

    def send_digest(self, peer: int) -> None:
        """Write the digest of all that went to a peer before it."""
        self.write(peer, self.digest(self.me, peer))

    def check_digest(self, peer: int) -> None:
        """Read a peer's digest, and compare it with that of what came before it."""
        expected = self.digest(peer, self.me)
        need(self.read(peer, 32) == expected, f"bytes of party {peer} were altered", "altered")

    def settle(self) -> Generator[None, None, None]:
        """Step Settle: compare digests with every peer (chapter 4)."""
        for peer in self.peers():
            self.send_digest(peer)
        yield
        for peer in self.peers():
            self.check_digest(peer)

    # ---- endings

    def goodbye(self) -> None:
        """End a run that went well; a peer that lives may take its time."""
        self.flush()
        self._end(GOODBYE, 0, b"", self.patience)

    def abort(self, code: str, reason: str) -> None:
        """Give up: tell every peer why."""
        text = HIDDEN.sub(" ", reason).encode()[:REASON_BYTES].decode("utf-8", "ignore")
        self._end(ABORT, CAUSES.get(code, 0), text.encode(), LINGER)

    def _end(self, tag: int, flag: int, payload: bytes, seconds: float) -> None:
        """Write last frames; close when the peers have ended their directions, or are silent."""
        for link in self.links.values():
            link.end(tag, flag, payload)
        deadline = time.monotonic() + seconds
        for link in self.links.values():
            while link.reader.is_alive() and time.monotonic() < min(
                    deadline, link.tls.heard + self.silence):
                link.reader.join(0.05)
            link.tls.close()
