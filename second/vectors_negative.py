"""Runs of sessions with changed messages, and the file `negative.json.gz` (chapter 14)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agreement import instance_hash
from encoding import listed, string, varint
from vectors_attack import Found, attack, judged
from vectors_kinds import Fields
from vectors_sessions import KEPT, Jobs, Session, key_of, learned, play, read

BAD, ALTERED, BROKEN, JOB = "malformed-message", "altered", "protocol-broken", "other-job"


# ------------------------------------------------------------------------------- cases and rules


def attack_session(jobs: Jobs, session: Session, party: int, changes: list[Fields]) -> Found:
    """Run a party of a job against changed messages: its results are found."""
    return attack(session, party, changes,
                  lambda mesh: learned(play(jobs, session.test, party, mesh)))


class Case:
    """A party of a session and one peer, whose messages are changed."""

    def __init__(self, jobs: Jobs, session: Session, number: int, party: int, peer: int) -> None:
        self.jobs, self.session, self.number = jobs, session, number
        self.party, self.peer = party, peer
        self.messages = session.messages[peer, party]
        code, self.results, self.honest = self.attack([])
        assert code is None, code
        self.last = len(self.messages) - 1
        self.data = range(3, self.last)         # numbers of data messages
        self.reads = [(at, n, bulk) for who, at, n, bulk in self.honest.reads if who == peer]
        self.digests = [at for at, value in self.honest.asked_at[peer][:-1]
                        if self.honest_bytes(at, 32) == value]         # the last is the farewell

    def attack(self, changes: list[Fields]) -> Found:
        """Run the party against changed messages."""
        return attack_session(self.jobs, self.session, self.party, changes)

    def change(self, message: int, op: str, **fields: Any) -> Fields:
        """A change of one message."""
        return {"from": self.peer, "message": message % len(self.messages), "op": op, **fields}

    def replace(self, message: int, data: bytes) -> Fields:
        """Another content of a message."""
        return self.change(message, "replace", bytes=data.hex())

    def xor(self, message: int, at: int, bits: bytes = b"\1") -> Fields:
        """Other bits in a message."""
        size = len(self.messages[message][2])
        return self.change(message, "xor", at=at % size, bytes=bits.hex())

    def place(self, position: int) -> tuple[int, int]:
        """The message and the place in it of a byte of payload."""
        for number in self.data:
            size = len(self.messages[number][2])
            if position < size:
                return number, position
            position -= size
        raise IndexError

    def honest_bytes(self, position: int, n: int) -> bytes:
        """Honest payload."""
        places = (self.place(position + i) for i in range(n))
        return bytes(self.messages[number][2][at] for number, at in places)

    def flip(self, position: int, bits: bytes = b"\1") -> list[Fields]:
        """Other bits in payload; they may cross a border of messages."""
        found: list[Fields] = []
        for i, byte in enumerate(bits):
            number, at = self.place(position + i)
            if not found or found[-1]["message"] != number:
                found.append(self.change(number, "xor", at=at, bytes=""))
            found[-1]["bytes"] += f"{byte:02x}"
        return found

    def stated(self, size: int) -> bool:
        """Whether somebody beside the peer states the rows of the only table."""
        told = [self.session.messages[pair][1][2] for pair in self.session.messages
                if pair[0] != self.peer and self.party in pair]
        return size == 1 and any(body[1] == 1 for body in told)

    def mended(self, changes: list[Fields]) -> list[Fields]:
        """The changes with digests that are right again, as a peer that deviates sends them."""
        changes = [*changes]
        for _ in range(8):
            code, _, mesh = self.attack(changes)
            if code != ALTERED:
                break
            events, number = mesh.events[self.peer], mesh.next[self.peer] - 1
            if events[number][0] == "control":
                at = len(events[number][2]) - 32
            else:
                number, at = self.place(mesh.got[self.peer] - 32)
            bits = bytes(x ^ y for x, y in zip(events[number][2][at:at + 32], mesh.asked))
            changes.append(self.change(number, "xor", at=at, bytes=bits.hex()))
        return changes


Rule = Iterator[tuple[Any, ...]]                # comment, changes, code; or None and a cost


def job_rules(case: Case) -> Rule:
    """The first message: every field changed."""
    body = case.messages[0][2]
    names = case.jobs.parties(case.session.test["job"])
    keys = [key_of(i) for i in range(len(names))]
    protocol, network = (json.loads(case.jobs.content[case.session.test["job"]]["files"][name])
                         for name in ("protocol.json", "network.json"))

    def message(parts: bytes = body[:160], name: bytes = string(protocol["profile"]["name"]),
                parties: bytes = listed([*map(string, names)]), link: bytes = string(network),
                pooled: bytes = b"\0", pinned: bytes = listed(keys)) -> list[Fields]:
        return [case.replace(0, parts + name + parties + link + pooled + pinned)]
    assert message()[0]["bytes"] == body.hex()
    for part in range(5):
        for at in (32 * part, 32 * part + 31):
            yield f"part {part}", [case.xor(0, at, b"\x80")], JOB
    yield "two parts exchanged", message(body[32:64] + body[:32] + body[64:160]), JOB
    for i in range(len(keys)):
        other = [*keys[:i], bytes(32), *keys[i + 1:]]
        yield f"other key of party {i}", message(pinned=listed(other)), "keys-differ"
    yield "keys exchanged", message(pinned=listed(keys[::-1])), "keys-differ"
    yield "one key less", message(pinned=listed(keys[:-1])), BAD
    yield "one key more", message(pinned=listed([*keys, bytes(32)])), BAD
    yield "no keys", message(pinned=b"\0"), BAD
    yield "part before keys", [case.xor(0, 0)] + [case.change(0, "xor", at=len(body) - 1,
                                                             bytes="01")], JOB
    yield "part, one key less", message(bytes(160), pinned=listed(keys[:-1])), JOB
    yield "part, left over", [case.xor(0, 0), case.change(0, "append", bytes="00")], BAD
    for comment, changes in (
            ("a byte left over", [case.change(0, "append", bytes="00")]),
            ("a byte less", [case.change(0, "cut", at=len(body) - 1)]),
            ("parts alone", [case.change(0, "cut", at=160)]),
            ("empty", [case.change(0, "cut", at=0)]),
            ("half a hash", [case.change(0, "cut", at=100)]),
            ("pooled is 2", message(pooled=b"\2")), ("not UTF-8", message(name=b"\1\xff")),
            ("2^32 parties", message(parties=varint(2**32))),
            ("2^64 - 1 keys", message(pinned=varint(2**64 - 1))),
            ("length above 64 bits", message(name=b"\xff" * 9 + b"\x7f")),
            ("length of 11 bytes", message(name=b"\x83" + b"\x80" * 9 + b"\0yao")),
            ("network in capitals", message(link=string("LAN"))),
            ("network not canonical", message(link=string("500us/1Gbps")))):
        yield comment, changes, BAD
    text = "nothing: the field is for texts of errors"
    yield "other protocol name", message(name=string("other")), None, text
    yield "other names", message(parties=listed([string("x")] * 5)), None, text
    yield "other network", message(link=string("20ms/100Mbps")), None, text
    yield "pooled", message(pooled=b"\1"), None, text
    yield "longer varints", message(parties=bytes([len(names) | 128, 0]) + b"".join(
        map(string, names))), None, "nothing: a longer form of the same number"


def row_rules(case: Case) -> Rule:
    """The second message."""
    body, tables = case.messages[1][2], case.jobs.work(case.session.test["job"], 0).job.tables
    size = len(tables)
    for comment, data in (("empty", b""), ("one element too many", listed([b"\0"] * (size + 1))),
                          ("left over", body + b"\0"), ("2^32 counts", varint(2**32) + body[1:]),
                          ("length of 11 bytes", b"\x80" * 10 + b"\0")):
        yield comment, [case.replace(1, data)], BAD
    if size:
        bound = tables[0].bound
        for comment, data in (("one element less", listed([b"\0"] * (size - 1))),
                              ("option 2", b"\1\2\1"), ("cut", body[:-1]),
                              ("above 64 bits", b"\1\1" + b"\xff" * 9 + b"\x02")):
            yield comment, [case.replace(1, data)], BAD
        for comment, count in (("above the bound", bound + 1), ("far above it", 2**64 - 1)):
            yield comment, [case.replace(1, b"\1\1" + varint(count))], "rows-differ"
        count = case.session.test["rows"][0]
        yield "another count", [case.replace(1, b"\1\1" + varint(count % bound + 1))], (
            "rows-differ" if case.stated(size) else JOB)
        if body[1] == 1 and not case.stated(size):
            yield "no count", [case.replace(1, b"\1\0")], "rows-differ"
        yield "stated in a longer form", [case.replace(1, b"\1\1" + bytes([count | 128, 0]))], (
            None), "nothing: the same number"


def instance_rules(case: Case) -> Rule:
    """The third message."""
    body = case.messages[2][2]
    for at in (0, 31):
        yield "hash of the instance", [case.xor(2, at)], JOB
    for at in (32, 63):
        yield "contribution", [case.xor(2, at)], "other-session"
    yield "contribution of zeros", [case.replace(2, body[:32] + bytes(33))], "other-session"
    for comment, changes in (("cut", [case.change(2, "cut", at=64)]),
                             ("option 2", [case.xor(2, 64, b"\2")]),
                             ("left over", [case.change(2, "append", bytes="00")]),
                             ("empty", [case.change(2, "cut", at=0)]),
                             ("hash, cut", [case.xor(2, 0), case.change(2, "cut", at=64)])):
        yield comment, changes, BAD


def farewell_rules(case: Case) -> Rule:
    """The last message."""
    parties, party, peer = case.session.parties, case.party, case.peer
    mesh = case.session.meshes[peer]
    body, digest = case.messages[-1][2], case.messages[-1][2][-32:]

    def message(sent: list[int], rounds: bytes = varint(mesh.rounds),
                last: bytes = digest) -> list[Fields]:
        return [case.replace(-1, listed([*map(varint, sent)]) + rounds + last)]

    def sent(index: int, number: int) -> list[int]:
        return [*mesh.sent[:index], number, *mesh.sent[index + 1:]]
    assert message(mesh.sent)[0]["bytes"] == body.hex()
    yield "one byte more", message(sent(party, mesh.sent[party] + 1)), BAD
    yield "one byte less", message(sent(party, mesh.sent[party] - 1)), BAD
    yield "2^64 - 1 bytes", message(sent(party, 2**64 - 1)), BAD
    yield "bytes to itself", message(sent(peer, 1)), BAD
    yield "one count less", message(mesh.sent[:-1]), BAD
    yield "one count more", message([*mesh.sent, 0]), BAD
    yield "no counts", message([]), BAD
    yield "rounds above 32 bits", message(mesh.sent, varint(2**32)), BAD
    yield "rounds of 6 bytes", message(mesh.sent, b"\x83" + b"\x80" * 4 + b"\0"), BAD
    for at in (-32, -16, -1):
        yield "digest", [case.xor(-1, at, b"\x10")], ALTERED
    own = case.session.meshes[party].digest(party, peer)
    yield "digest of the other direction", message(mesh.sent, last=own), ALTERED
    yield "digest of zeros", message(mesh.sent, last=bytes(32)), ALTERED
    yield "digest and counts", message(sent(peer, 1), last=bytes(32)), BAD
    yield "left over", [case.change(-1, "append", bytes="00")], BAD
    yield "a byte less", [case.change(-1, "cut", at=len(body) - 1)], BAD
    yield "empty", [case.change(-1, "cut", at=0)], BAD
    yield "payload before it", [case.change(-1, "insert", kind="data", stamp=9, bytes="00")], BAD
    yield "twice, the first one wrong", [case.change(
        -1, "insert", kind="control", stamp=0, bytes=body[:-1].hex())], BAD
    claim = "nothing but the report: a claim of the sender"
    yield "other rounds", message(mesh.sent, varint(2**32 - 1)), None, claim
    yield "longer varint of rounds", message(mesh.sent, bytes([mesh.rounds | 128, 0])), None, (
        "nothing: the same number")
    for other in {0, 1, 2} & {*range(parties)} - {party, peer}:
        yield "bytes to another party", message(sent(other, 12345)), None, claim


def frame_rules(case: Case) -> Rule:
    """Kinds of frames, stamps, signals, ends."""
    for number in (0, 1, 2, *case.data, case.last):
        early = number in (0, case.data[0], case.data[-1], case.last)
        if not early and number % 9:
            continue
        is_data = number in case.data
        if is_data:
            yield "data as control", [case.change(number, "control")], BAD
            for stamp in (0, 2**30 + 1, 2**32 - 1):
                if number in (case.data[0], case.data[-1]):
                    yield f"stamp {stamp}", [case.change(number, "stamp", value=stamp)], BAD
            before = max((case.messages[i][1] for i in case.data if i < number), default=1)
            if before > 1:
                yield "stamp that goes down", [case.change(number, "stamp", value=before - 1)], BAD
                yield "stamp that goes down to 1", [case.change(number, "stamp", value=1)], BAD
            if number < case.data[-1]:
                yield "stamp above the next", [case.change(
                    number, "stamp", value=case.messages[case.data[-1]][1] + 1)], BAD
        else:
            yield "control as data", [case.change(number, "data", value=1)], BAD
            yield "data before control", [case.change(number, "insert", kind="data", stamp=1,
                                                      bytes="00")], BAD
        yield "goodbye", [case.change(number, "goodbye")], "peer-finished"
        yield "end", [case.change(number, "end")], "peer-vanished"
        for cause, code in enumerate(("peer-gave-up", "peer-cut-off", "peer-cancelled")):
            if early:
                yield f"abort with cause {cause}", [case.change(
                    number, "abort", cause=cause, reason="made up")], code
    last = case.data[-1]
    yield "a byte of payload too many", [case.change(last, "append", bytes="00")], BAD
    yield "highest stamp", [case.change(last, "stamp", value=2**30)], None, (
        "the number of rounds in the report")
    yield "control message left out", [case.change(1, "drop")], BAD
    yield "control message twice", [case.change(1, "insert", kind="control", stamp=0,
                                                bytes=case.messages[1][2].hex())], BAD


def settle_rules(case: Case) -> Rule:
    """Digests that are compared within the protocol."""
    for position in case.digests:
        for at in (0, 15, 31):
            yield f"digest at {position}", case.flip(position + at, b"\x40"), ALTERED
        own, last = case.honest_bytes(position, 32), case.messages[-1][2][-32:]
        yield f"digest at {position} is that of the farewell", case.flip(
            position, bytes(x ^ y for x, y in zip(own, last))), ALTERED
        yield f"zeros at {position}", case.flip(position, own), ALTERED


def payload_rules(case: Case) -> Rule:
    """Each kind of payload changed, on its way or by a peer that deviates."""
    digests = set(case.digests)
    reads = [read for read in case.reads if read[0] not in digests]
    for at, n, _ in reads[::max(1, len(reads) // 5)]:
        for place in sorted({0, n - 1}):
            yield f"byte {place} of {n} at {at}, on its way", case.flip(at + place), "on-its-way"
        yield f"byte {n // 2} of {n} at {at}, digests right", case.mended(
            case.flip(at + n // 2)), "deviates"


def late_payload_rules(case: Case) -> Rule:
    """The last payload changed by a peer that deviates: openings, choices, tables, conversions."""
    digests = set(case.digests)
    for at, n, _ in [place for place in case.reads if place[0] not in digests][-12:]:
        yield f"byte {n - 1} of {n} at {at}, digests right", case.mended(case.flip(at + n - 1)), (
            "deviates")


def form_rules(case: Case) -> Rule:
    """The third message of a peer that takes another form of the job."""
    work, hashes = case.jobs.work(case.session.test["job"], case.party), case.messages[2][2]
    keys = [key_of(i) for i in range(case.session.parties)]
    for form in (0, 1, 2, 255):
        value = instance_hash(work.job.hash, case.session.test["rows"], keys, bytes([form, 0]))
        if value != hashes[:32]:
            yield f"form {form}", [case.replace(2, value + hashes[32:])], JOB
    value = instance_hash(work.job.hash, case.session.test["rows"], keys,
                          bytes([case.session.test["form"], 1]))
    yield "silent transfers", [case.replace(2, value + hashes[32:])], JOB


def unused_bit_rules(case: Case) -> Rule:
    """Unused bits of components of `trio`."""
    seen: set[int] = set()
    for at, n, _ in case.reads:
        flips = [case.flip(at + n - 1, bytes([1 << bit])) for bit in range(8)]
        if n not in seen and len(seen) < 4 and case.attack(flips[7])[0] == BROKEN:
            seen.add(n)
            for bit, changes in enumerate(flips):
                if case.attack(changes)[0] == BROKEN:
                    yield f"unused bit {bit} of {n} bytes at {at}", changes, BROKEN


def length_rules(case: Case) -> Rule:
    """Payload that is too short or too long: later bytes are read in its place."""
    for number in (case.data[0], case.data[len(case.data) // 2], case.data[-1]):
        size = len(case.messages[number][2])
        yield "a byte less", [case.change(number, "cut", at=size - 1)], "shifted"
        yield "a byte more", [case.change(number, "append", bytes="00")], "shifted"
        yield "left out", [case.change(number, "drop")], "shifted"


# --------------------------------------------------------------------------------------- the file


def note(bug: str, effect: str, chapter: str) -> dict[str, str]:
    """What a flag tells."""
    return {"bug": bug, "effect": effect, "chapter": chapter}


FLAGS: dict[Any, str] = {
    job_rules: "Job", row_rules: "RowCounts", instance_rules: "Instance",
    farewell_rules: "Farewell", frame_rules: "Frames", settle_rules: "Digests",
    payload_rules: "Payload", late_payload_rules: "Payload", form_rules: "Instance",
    unused_bit_rules: "UnusedBits", length_rules: "Lengths"}
NOTES = {
    "Job": note("takes another job, other keys or what does not parse",
                "parties run what they did not agree on", "agreement.md#step-1-the-job"),
    "RowCounts": note("takes counts that contradict each other or the program",
                      "parties wait for bytes that never come", "agreement.md#step-2-row-counts"),
    "Instance": note("takes another instance, or leaves a contribution out of the session",
                     "streams of two runs are the same", "agreement.md#step-3-the-instance"),
    "Farewell": note("gives out results that its peers do not confirm",
                     "a result may come of altered bytes", "agreement.md#farewell"),
    "Frames": note("takes frames in another order, lower stamps, or an end for a good one",
                   "rounds are counted wrongly, or a run hangs", "frames.md#messages"),
    "Digests": note("does not compare a digest, or a wrong one",
                    "altered bytes are not noticed", "digests.md#where-digests-are-used"),
    "Payload": note("leaves payload out of a digest, or opens labels that are none",
                    "altered bytes are not noticed", "errors.md#in-protocols"),
    "UnusedBits": note("takes bits behind the end of a component",
                       "a message has a second form, which may tell something", "trio.md#errors"),
    "Lengths": note("takes less or more payload than is due",
                    "later bytes are read in its place", "frames.md#messages")}


AGREEMENT = [job_rules, row_rules, instance_rules]
PROTOCOL = [settle_rules, payload_rules, length_rules]
# Job, victim, peer, rules: each rule at parties of both protocols and of all roles.
CASES: list[tuple[str, int, int, list[Any]]] = [
    ("yao-tiles", 1, 0, [*AGREEMENT, farewell_rules, frame_rules, *PROTOCOL]),
    ("yao-tiles", 0, 1, [row_rules, instance_rules, farewell_rules, frame_rules, *PROTOCOL]),
    ("yao-turned", 0, 1, [instance_rules, *PROTOCOL]),
    ("yao-alone", 1, 0, [payload_rules]),
    ("trio-tiles", 0, 2, [*AGREEMENT, farewell_rules, frame_rules, settle_rules, length_rules]),
    ("trio-tiles", 2, 1, [row_rules, farewell_rules, settle_rules, unused_bit_rules]),
    ("trio-lanes-9", 0, 1, [*PROTOCOL, unused_bit_rules]),
    ("trio-lanes-9", 1, 0, [settle_rules, farewell_rules]),
    ("trio-lanes-9", 2, 0, [*PROTOCOL, unused_bit_rules]),
    ("trio-product-33", 1, 2, [payload_rules, unused_bit_rules, length_rules]),
    ("trio-three-owners", 2, 0, [payload_rules, settle_rules, frame_rules]),
    ("trio-three-owners", 0, 1, [payload_rules, unused_bit_rules]),
    ("mixed-ot-labels", 0, 1, [late_payload_rules]),
    ("mixed-ot-labels", 1, 0, [late_payload_rules, unused_bit_rules]),
    ("mixed-ot-numbers", 1, 0, [late_payload_rules]),
    ("mixed-ot-rings", 0, 1, [late_payload_rules]),
    ("mixed-ot-network", 0, 1, [form_rules, payload_rules, length_rules]),
    ("mixed-ot-network", 1, 0, [settle_rules, payload_rules])]



def session_for(tests: list[Fields], job: str) -> Fields:
    """The session of a job with most frames, if there are tables, else its first one."""
    return max((test for test in tests if test["job"] == job),
               key=lambda test: (len(test["frames"]) if test["rows"] else 0, -test["id"]))


def sessions_of(folder: Path) -> list[Fields]:
    """The tests of `sessions.json.gz`."""
    tests: list[Fields] = read(folder, "sessions")["tests"]
    return tests


def run_again(jobs: Jobs, test: Fields) -> Session:
    """A session that was run before, or is run now."""
    if test["id"] not in KEPT:
        KEPT[test["id"]] = Session(jobs, test)
    return KEPT[test["id"]]


def make(folder: Path) -> Fields:
    """All rules at all cases. A code other than that of the text is an error."""
    jobs, sessions = Jobs(folder), sessions_of(folder)
    tests: list[Fields] = []
    stated: set[tuple[str, str, str]] = set()
    for job, party, peer, rules in CASES:
        given = session_for(sessions, job)
        case = Case(jobs, run_again(jobs, given), given["id"], party, peer)
        for rule in rules:
            for comment, changes, code, found, cost in judged(rule, case):
                test = {"id": len(tests) + 1, "comment": comment,
                        "session": given["id"], "party": party, "changes": changes,
                        "flags": [FLAGS[rule]]}
                if code is None:
                    # Of labels alone, a change that nobody notices is one that changes nothing.
                    assert found == case.results or not job.startswith("yao"), (job, comment)
                    harm = "results are wrong" if found != case.results else (
                        "nothing here: what this party learns is right")
                    # A session states a cost of each kind once.
                    statement = (job, cost[0] if cost else harm, FLAGS[rule])
                    if statement in stated:
                        continue
                    stated.add(statement)
                    test |= {"result": "undetected", "cost": statement[1], "results": found}
                else:
                    unknown = code == "check-failed" or comment.startswith("contribution")
                    test |= {"result": "invalid", "code": code,
                             "blames": None if unknown else peer}
                tests.append(test)
    return {"notes": NOTES, "tests": tests}


def check(content: Fields, folder: Path) -> list[str]:
    """Run all tests again; returns what differs."""
    jobs, wrong = Jobs(folder), []
    sessions = {test["id"]: test for test in sessions_of(folder)}
    for test in content["tests"]:
        session = run_again(jobs, sessions[test["session"]])
        code, found, _ = attack_session(jobs, session, test["party"], test["changes"])
        if (code, found) != (test.get("code"), test.get("results")):
            wrong.append(f"negative {test['id']}: {code}, not {test.get('code')}; {found}")
    return wrong
