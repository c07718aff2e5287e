"""A party against peers whose messages are changed (chapter 14, Negative tests)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from errors import Fault
from vectors_kinds import Fields
from vectors_sessions import Event, Run, Wire


def xored(data: bytes, at: int, bits: bytes) -> bytes:
    """Bytes with some bits flipped."""
    piece = bytes(x ^ y for x, y in zip(data[at:at + len(bits)], bits, strict=True))
    return data[:at] + piece + data[at + len(bits):]


# What a change makes of kind, stamp and bytes of a message.
EDITS: dict[str, Callable[[str, int, bytes, Fields], Event]] = {
    "xor": lambda kind, stamp, data, change: (
        kind, stamp, xored(data, change["at"], bytes.fromhex(change["bytes"]))),
    "cut": lambda kind, stamp, data, change: (kind, stamp, data[:change["at"]]),
    "append": lambda kind, stamp, data, change: (
        kind, stamp, data + bytes.fromhex(change["bytes"])),
    "replace": lambda kind, stamp, data, change: (kind, stamp, bytes.fromhex(change["bytes"])),
    "stamp": lambda kind, stamp, data, change: (kind, change["value"], data),
    "control": lambda kind, stamp, data, change: ("control", 0, data),
    "data": lambda kind, stamp, data, change: ("data", change["value"], data),
    "abort": lambda kind, stamp, data, change: (
        "abort", change["cause"], change["reason"].encode()),
    "end": lambda kind, stamp, data, change: ("end", 0, b""),
    "goodbye": lambda kind, stamp, data, change: ("goodbye", 0, b"")}


def changed(messages: list[Event], changes: list[Fields]) -> list[Event]:
    """The messages of a peer with the changes that are from it."""
    found: list[Event] = []
    for number, event in enumerate(messages):
        own = [change for change in changes if change["message"] == number]
        for change in own:
            if change["op"] == "insert":
                found.append((change["kind"], change["stamp"], bytes.fromhex(change["bytes"])))
            elif change["op"] != "drop":
                event = EDITS[change["op"]](*event, change)
        found += [event] * all(change["op"] != "drop" for change in own)
        if event[0] in ("end", "goodbye", "abort"):
            break
    return found


class Replay(Wire):
    """The mesh of a party whose peers send what they sent in a session, with changes."""

    def __init__(self, session: Run, party: int, changes: list[Fields]) -> None:
        super().__init__(party, session.parties, lambda *_: None, self._take)
        self.events = {peer: changed(session.messages[peer, party],
                                     [change for change in changes if change["from"] == peer])
                       for peer in self.links}
        self.next = dict.fromkeys(self.links, 0)
        self.reads: list[tuple[int, int, int, bool]] = []       # peer, position, bytes, bulk
        self.asked_at: dict[int, list[tuple[int, bytes]]] = {peer: [] for peer in self.links}

    def _take(self, peer: int) -> Event:
        number = self.next[peer]
        if number == len(self.events[peer]):
            raise Fault(f"party {peer} is silent", "peer-silent")
        self.next[peer] += 1
        return self.events[peer][number]

    def read(self, peer: int, n: int, bulk: bool = False) -> bytes:
        """The next bytes of a peer; keeps where they are."""
        if n:
            self.reads.append((peer, self.got[peer], n, bulk))
        return super().read(peer, n, bulk)

    def digest(self, sender: int, receiver: int) -> bytes:
        """D; keeps at which place of the peer's payload it is asked for."""
        value = super().digest(sender, receiver)
        if receiver == self.me:
            self.asked_at[sender].append((self.got[sender], value))
        return value


Found = tuple[str | None, Any, Replay]          # the code, or what is found if there is none


def attack(session: Run, party: int, changes: list[Fields], run: Callable[[Wire], Any]) -> Found:
    """Run a party against changed messages."""
    mesh = Replay(session, party, changes)
    try:
        return None, run(mesh), mesh
    except Fault as fault:
        return fault.code, None, mesh


# Codes that a change may lead to, where the text leaves open which check finds it.
EXPECTED: dict[Any, set[str | None]] = {
    "other-session": {"altered", "check-failed"},
    "on-its-way": {"altered", "check-failed", "protocol-broken", "peer-deviated"},
    "deviates": {None, "check-failed", "protocol-broken", "peer-deviated"},
    "shifted": {"altered", "protocol-broken", "malformed-message", "check-failed"}}


def judged(rule: Any, case: Any) -> Iterator[tuple[str, list[Fields], str | None, Any, list[str]]]:
    """Run all tests of a rule: comment, changes, code, what was found, and the cost if given.

    A code other than that of the text is an error.
    """
    for comment, changes, wanted, *cost in rule(case):
        code, found, _ = case.attack(changes)
        assert code in EXPECTED.get(wanted, {wanted}), (rule.__name__, comment, code, wanted)
        yield comment, changes, code, found, cost
