"""Oblivious transfers by themselves, and the file `transfers.json.gz` (chapter 14)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from errors import Fault
from streams import Coins
from vectors_attack import Found, attack, judged
from vectors_gadgets import INVALID_ENCODINGS, point
from vectors_kinds import Fields
from vectors_negative import note, run_again, sessions_of
from vectors_primitives import data
from vectors_sessions import Jobs, Run, Wire, coins_of, shown
from yao import Yao

ALTERED, BROKEN, DEVIATED = "altered", "protocol-broken", "peer-deviated"


class Setup(Run):
    """Both sides of a set-up as in `yao`, and extensions one after the other.

    The receiver may deviate: bytes of its payload are changed as it writes them.
    """

    def __init__(self, given: Fields, deviates: dict[int, int] | None = None) -> None:
        super().__init__(2)
        self.given, self.deviates, self.delta = given, deviates or {}, 0
        try:
            self.run()
        except Fault:
            assert deviates                     # the sender has found it

    def party(self, party: int, mesh: Wire) -> list[list[int]]:
        """One side; returns its blocks of each extension."""
        if self.deviates and party == self.given["receiver"]:
            write, peer = mesh.write, self.given["sender"]

            def changed_write(to: int, payload: bytes, bulk: bool = False) -> None:
                places = {at - mesh.sent[peer]: bits for at, bits in self.deviates.items()}
                write(to, bytes(byte ^ places.get(i, 0) for i, byte in enumerate(payload)), bulk)
            mesh.__dict__["write"] = changed_write
        return transfer(self.given, party, mesh, self)

    def sent(self, sends: bool) -> list[bytes]:
        """The messages of one side."""
        ends = self.given["sender"], self.given["receiver"]
        return [event[2] for event in self.messages[ends if sends else ends[::-1]]]


def transfer(given: Fields, party: int, mesh: Wire, setup: Setup | None = None) -> list[list[int]]:
    """One side of a set-up and its extensions; returns its blocks of each."""
    session, sends = bytes.fromhex(given["session"]), party == given["sender"]
    mesh.begin(session)
    setting = {"roles": [[given["sender"]], [given["receiver"]]],
               "network": "lan" if given["k"] == 4 else "wan"}
    coins = Coins(bytes.fromhex(given["seeds"][0 if sends else 1]))
    protocol = Yao(mesh, coins, session, setting, True)
    protocol.set_up()
    if setup and sends:
        setup.delta = protocol.sender.delta
    blocks = []
    for extension in given["extensions"]:
        if sends:
            blocks.append(protocol.sender.transfer(extension["n"]))
        else:
            bits = int.from_bytes(bytes.fromhex(extension["choices"]), "little")
            blocks.append(protocol.receiver.transfer(
                [bits >> i & 1 for i in range(extension["n"])]))
            mesh.flush()
    return blocks


def joined(blocks: Sequence[int]) -> bytes:
    """Blocks as bytes."""
    return b"".join(block.to_bytes(16, "little") for block in blocks)


def given_of(number: int, k: int, sizes: list[int], folder: Path) -> Fields:
    """The inputs of a set-up. That of `k = 8` is one of a session, which saves much of a check."""
    session, seeds, sender = data(f"session {k}"), [data("seed S"), data("seed R")], 1
    if k == 8:
        test = next(test for test in sessions_of(folder) if test["job"].startswith("yao-ot-wan"))
        session, sender = run_again(Jobs(folder), test).meshes[0].session, 0
        seeds = [coins_of(test, party).enter(session).seed for party in (0, 1)]
    extensions = []
    for n in sizes:
        bits = int.from_bytes(data(f"choices {n}", (n + 7) // 8), "little") & (1 << n) - 1
        extensions.append({"n": n, "choices": bits.to_bytes((n + 7) // 8, "little").hex()})
    return {"id": number, "k": k, "session": session.hex(), "sender": sender,
            "receiver": 1 - sender, "seeds": [seed.hex() for seed in seeds],
            "extensions": extensions}


def outcome(found: Setup) -> Fields:
    """A set-up with what must come of it."""
    given, (there, back) = found.given, (found.sent(True), found.sent(False))
    q, t = found.found[given["sender"]], found.found[given["receiver"]]
    extensions = [
        {"n": extension["n"], "choices": extension["choices"], "message": shown(back[2 + i]),
         "q": shown(joined(q[i])), "t": shown(joined(t[i]))}
        for i, extension in enumerate(given["extensions"])]
    return given | {
        "delta": found.delta.to_bytes(16, "little").hex(), "nonce": there[0][:32].hex(),
        "messages": [[given["sender"], shown(body)] for body in there]
        + [[given["receiver"], shown(body)] for body in back[:2]], "extensions": extensions}


# ------------------------------------------------------------------------------ negative tests


def attack_setup(found: Setup, party: int, extensions: int, changes: list[Fields]) -> Found:
    """Run one side against changed messages: its blocks are found."""
    given = found.given | {"extensions": found.given["extensions"][:extensions]}
    return attack(found, party, changes, lambda mesh: transfer(given, party, mesh))


class Case:
    """One side of a set-up, whose peer's messages are changed."""

    def __init__(self, found: Setup, party: int, extensions: int) -> None:
        self.found, self.party, self.extensions = found, party, extensions
        self.peer = 1 - party
        self.sent = found.sent(party != found.given["sender"])

    def attack(self, changes: list[Fields]) -> Found:
        """Run the side against changed messages."""
        return attack_setup(self.found, self.party, self.extensions, changes)

    def xor(self, message: int, at: int, bits: bytes = b"\1") -> Fields:
        """Other bits in a message."""
        return {"from": self.peer, "message": message, "op": "xor",
                "at": at % len(self.sent[message]), "bytes": bits.hex()}

    def set(self, message: int, at: int, new: bytes) -> Fields:
        """Other bytes in a message."""
        at %= len(self.sent[message])
        old = self.sent[message][at:at + len(new)]
        return self.xor(message, at, bytes(x ^ y for x, y in zip(old, new)))

    def mended(self, changes: list[Fields], message: int, at: int) -> list[Fields]:
        """The changes, with the digest at a place right again."""
        code, _, mesh = self.attack(changes)
        assert code == ALTERED, code
        return [*changes, self.set(message, at, mesh.asked)]

    def deviating(self, place: int, bits: int) -> list[Fields]:
        """What a receiver sends that changes a byte of its payload, and goes on from there."""
        other = Setup(self.found.given | {"extensions": self.found.given["extensions"]
                                          [:self.extensions]}, {place: bits}).sent(False)
        return [self.set(number, at, new[at:at + 32])
                for number, (old, new) in enumerate(zip(self.sent, other))
                for at in range(0, len(old), 32) if old[at:at + 32] != new[at:at + 32]]


Rule = Iterator[tuple[Any, ...]]                # comment, changes, code; or None and a cost


def point_rules(case: Case) -> Rule:
    """Points of the sender, at the receiver."""
    wrong = [bytes(32), *map(bytes.fromhex, INVALID_ENCODINGS.split())]
    for i, encoding in enumerate(wrong):
        number, at = i * 17 % 256 // 32, i * 17 % 32 * 32       # 32 points in a message
        at += 32 if number == 0 else 0                          # behind the nonce
        changes = [case.set(number, at, encoding)]
        yield f"malformed point {i}", case.mended(changes, 8, 0), BROKEN
        if i in (0, 1, 13):
            yield f"malformed point {i}, digest wrong", changes, ALTERED
    for number, at in ((0, 32), (3, 500), (7, 1023)):
        yield "point altered", [case.xor(number, at)], ALTERED
    for at in (0, 31):
        yield "digest altered", [case.xor(8, at)], ALTERED
    yield "nonce altered", [case.xor(0, 5)], ALTERED
    first, second = case.sent[1][:32], case.sent[1][32:64]
    cost = "nothing to this party: the sender loses its own keys"
    yield "points of a pair exchanged", case.mended([case.set(1, 0, second + first)], 8, 0), None, (
        cost)
    yield "a point twice", case.mended([case.set(1, 0, first + first)], 8, 0), None, cost
    yield "another point", case.mended([case.set(2, 0, point("other"))], 8, 0), None, cost
    yield "messages exchanged", [case.set(1, 0, case.sent[2]), case.set(2, 0, case.sent[1])], (
        ALTERED)


def unnoticed_rules(case: Case) -> Rule:
    """Other points that a receiver cannot notice, and what its extensions make of them."""
    first, second = case.sent[1][:32], case.sent[1][32:64]
    for comment, new in (("points of a pair exchanged", second + first),
                         ("a point twice", first + first), ("another point", point("other"))):
        yield f"{comment}, then extensions", case.mended([case.set(1, 0, new)], 8, 0), None, (
            "nothing to this party: the sender loses its own keys")


def set_up_rules(case: Case) -> Rule:
    """The point and trees of the receiver, at the sender."""
    wrong = [bytes(32), *map(bytes.fromhex, INVALID_ENCODINGS.split())]
    for i in (0, 1, 5, 13, 22, 29):
        yield f"malformed point {i}", [case.set(0, 0, wrong[i])], BROKEN
    yield "another point", [case.set(0, 0, point("other"))], ALTERED
    yield "another point, digest right", case.mended([case.set(0, 0, point("other"))], 1, -32), (
        DEVIATED)
    for at in (-32, -1):
        yield "digest altered", [case.xor(1, at)], ALTERED
    k, delta = case.found.given["k"], case.found.delta
    for tree in (0, 128 // k - 1):
        for half in range(2 * k):
            place = 64 * k * tree + 32 * half
            changes = [case.xor(1, place + half % 32, b"\x20")]
            yield f"32 bytes number {half} of tree {tree}", changes, ALTERED
            level = 1 + half // 2
            unread = level < k and (delta >> k * tree + level & 1) == half % 2
            yield (f"32 bytes number {half} of tree {tree}, digest right",
                   case.mended(changes, 1, -32), None if unread else DEVIATED,
                   "a bit of delta: the run goes on only if this half is not read")
    first, second = case.sent[1][:64 * k], case.sent[1][64 * k:128 * k]
    yield "trees exchanged", case.mended([case.set(1, 0, second + first)], 1, -32), DEVIATED


def extension_rules(case: Case) -> Rule:
    """The first extension, at the sender."""
    body, size = case.sent[2], 16 * (128 // case.found.given["k"] - 1) * 2
    for at in (0, 16, size // 2, size - 1):
        yield f"correction at {at}", [case.xor(2, at)], ALTERED
        yield f"correction at {at}, digest right", case.mended([case.xor(2, at)], 2, size), DEVIATED
        yield f"correction at {at}, all hashes right", case.deviating(
            len(case.sent[0] + case.sent[1]) + at, 1), DEVIATED
    for at in (0, 31):
        yield "digest", [case.xor(2, size + at)], ALTERED
    for at in (32, 47):
        yield "hash of the choices", [case.xor(2, size + at)], DEVIATED
    for at in (48, 79):
        yield "hash of values", [case.xor(2, size + at)], DEVIATED
    yield "choice", [case.xor(2, len(body) - 1)], None, "nothing: it is another choice"
    yield "unused bit of the choices", [case.xor(2, len(body) - 1, b"\x80")], None, (
        "nothing: it is not read")
    k, delta = case.found.given["k"], case.found.delta
    half = 1 - (delta >> 1 & 1) ^ 1
    yield "half of a tree that is not read, then an extension", case.deviating(
        32 + 32 * half, 4), None, "a bit of delta: the run goes on only if this half is not read"
    yield "half of a tree that is read, then an extension", case.deviating(
        32 + 32 * (1 - half), 4), DEVIATED
    assert k == 4


KEPT: dict[int, Setup] = {}                     # setups that were run, by id
FLAGS: dict[Any, str] = {point_rules: "BasePoint", unnoticed_rules: "BasePoint",
                         set_up_rules: "TreeCheck", extension_rules: "ExtensionCheck"}
NOTES = {
    "BasePoint": note("takes a point that is none, or the identity",
                      "keys of base transfers are known, choices leak",
                      "transfers.md#base-transfers"),
    "TreeCheck": note("does not check a tree, or before its digest", "bits of delta leak",
                      "transfers.md#trees"),
    "ExtensionCheck": note("does not check that all trees use the same choices",
                           "bits of delta leak", "transfers.md#check-of-an-extension")}
SETUPS = [(1, 4, [1, 127, 128, 3968, 3969]), (2, 8, [1, 128, 3969])]
# Setup, whether the sender is tested, extensions, rules.
CASES: list[tuple[int, bool, int, Any]] = [
    (1, False, 0, point_rules), (1, True, 0, set_up_rules), (1, True, 1, extension_rules),
    (1, False, 2, unnoticed_rules)]


def make(folder: Path) -> Fields:
    """Both set-ups, and all rules."""
    tests: list[Fields] = []
    for setup in SETUPS:
        KEPT[setup[0]] = Setup(given_of(*setup, folder))
    for number, sends, extensions, rule in CASES:
        found = KEPT[number]
        party = found.given["sender" if sends else "receiver"]
        case = Case(found, party, extensions)
        for comment, changes, code, result, cost in judged(rule, case):
            test = {"id": len(tests) + 1, "comment": comment, "flags": [FLAGS[rule]],
                    "setup": number, "party": party, "extensions": extensions,
                    "changes": changes}
            if code is None:
                test |= {"result": "undetected", "cost": cost[0]}
                if sends or extensions:
                    test["q" if sends else "t"] = [shown(joined(blocks)) for blocks in result]
            else:
                test |= {"result": "invalid", "code": code, "blames": 1 - party}
            tests.append(test)
    return {"notes": NOTES, "setups": [outcome(found) for found in KEPT.values()], "tests": tests}


def check(content: Fields, folder: Path) -> list[str]:
    """Run both set-ups and all tests again; returns what differs."""
    wrong = []
    for setup in content["setups"]:
        found = KEPT[setup["id"]] = Setup(setup)
        wrong += [f"setup {setup['id']}: {name}" for name, value in outcome(found).items()
                  if setup[name] != value]
    for test in content["tests"]:
        found = KEPT[test["setup"]]
        code, result, _ = attack_setup(found, *(test[name] for name in (
            "party", "extensions", "changes")))
        if code != test.get("code"):
            wrong.append(f"transfers {test['id']}: {code}, not {test.get('code')}")
        wrong += [f"transfers {test['id']}: {name}" for name in ("q", "t") if name in test
                  and test[name] != [shown(joined(blocks)) for blocks in result or []]]
    return wrong
