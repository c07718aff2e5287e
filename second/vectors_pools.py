"""Fills of pools, refills from pools and served sessions: the file `pools.json.gz` (chapter 14)."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pool
import served
from correlations import Correlations, Kind, Side
from streams import Coins
from vectors_attack import Found, attack, judged
from vectors_kinds import Fields
from vectors_negative import note
from vectors_primitives import data
from vectors_sessions import Run, Wire, shown
from vectors_transfers import ALTERED, Rule, joined
from yao import depth_of_trees

BAD, DEVIATED, DIFFERS, GONE = (
    "malformed-message", "peer-deviated", "pool-differs", "peer-vanished")


def coins(given: Fields, party: int) -> Coins:
    """The coins of a party, of a number as in sessions."""
    return Coins(struct.pack("<Q24x", given["seeds"][party]))


def bits_of(numbers: list[int]) -> str:
    """Bits as a byte string."""
    value = sum(bit << i for i, bit in enumerate(numbers))
    return value.to_bytes((len(numbers) + 7) // 8, "little").hex()


# ------------------------------------------------------------------------------------ fills


def play_fill(given: Fields, party: int, mesh: Wire) -> Fields:
    """A party of a fill of pools that are empty."""
    order = pool.Order(given["batches"], given["network"], depth_of_trees(given["network"]),
                       [pool.Half(), pool.Half()], [],
                       given["least"][party] if given["least"] else None)
    found: Fields = {}
    for receiver, made in pool.fill(mesh, coins(given, party), order).items():
        if party == receiver:
            found["keys"] = shown(joined([key for key, _ in made]))
            found["choices"] = bits_of([x for _, x in made])
        else:
            found["pairs"] = shown(joined([key for pair in made for key in pair]))
        found["name"] = pool.fill_name(mesh.session, receiver).hex()
    return found


# ---------------------------------------------------------------------------------- refills


class Stock(Side):
    """Transfers of one direction from a pool: those of a dealer (chapter 14)."""

    def __init__(self, session: bytes, sender: int, receiver: int, me: int, number: int) -> None:
        super().__init__(session, sender, receiver)
        dealt = Coins(struct.pack("<Q24x", number))
        self.stream = [dealt.secret(label) for label in (
            "testkit: stock", "testkit: stock of the second")][sender]
        self.others: dict[int, int] = {}
        self.sends = me == sender
        self.offsets = [0, 0] if self.sends else [0]

    def draw(self, n: int) -> None:
        """Take so many from the pool."""
        rows, choices = list[int](), list[int]()
        for _ in range(n):
            zero, one, x = (int.from_bytes(self.stream.read(16), "little") for _ in range(3))
            self.others[zero] = one
            rows.append(zero if self.sends or not x & 1 else one)
            choices += [] if self.sends else [x & 1]
        self.add(rows, choices)

    def texts(self, rows: list[int]) -> list[list[int]]:
        """Both blocks of transfers, or the one that is known."""
        return [rows, [self.others[row] for row in rows]] if self.sends else [rows]


class Pooled(Correlations):
    """Correlations that are made of a pool."""

    def __init__(self, mesh: Wire, session: bytes, number: int) -> None:
        super().__init__(mesh, 1 - mesh.me, session, 4)
        ends = mesh.me, 1 - mesh.me
        self.sent, self.got = (Stock(session, *pair, mesh.me, number)
                               for pair in (ends, ends[::-1]))

    def draw(self, sent: int, got: int) -> None:
        """Line 1 of a refill."""
        for side, n in ((self.sent, sent), (self.got, got)):
            assert isinstance(side, Stock)
            side.draw(n)


def flat(kind: Kind, taken: list[Any]) -> list[list[Any]]:
    """Correlations of a kind as planes of bits and columns of numbers (chapter 14)."""
    if kind == (1, 0):
        return [[*map(list, zip(*taken))], []]
    if kind[0] == 2:
        places = [[wide[i] >> p & 1 for wide in taken] for i in (1, 2) for p in range(kind[1])]
        return [[[wide[0] for wide in taken], *places], []]
    if kind[0] == 3:
        return [[[r for r, _ in taken]], [[e for _, e in taken]]]
    if kind[0] == 4:
        r, e, m, f = map(list, zip(*taken))
        return [[r], [m, f, e]]
    if kind[0] == 5:
        own = [number for one, _ in taken for number in (one if isinstance(one, list) else [one])]
        return [[], [own, [share for _, s in taken for row in s for share in row]]]
    if kind[0] == 6:
        return [[], [[number for one in taken for row in one[i] for number in row]
                     for i in range(3)]]
    return [[], [*map(list, zip(*taken))]]


def play_refill(given: Fields, party: int, mesh: Wire) -> Fields:
    """A party of refills, each from the next transfers of a pool."""
    mesh.begin(bytes.fromhex(given["session"]))
    made = Pooled(mesh, mesh.session, given["stock"])
    found = []
    for refill in given["refills"]:
        wanted: Counter[Kind] = Counter({tuple(kind): n for kind, n in refill})
        made.refill(wanted)
        for kind, n in refill:
            planes, columns = flat(tuple(kind), made.take(tuple(kind), n))
            found.append([[bits_of(plane) for plane in planes], columns])
    return {"made": found}


# ------------------------------------------------------------------------- served sessions


def play_served(given: Fields, party: int, mesh: Wire) -> Fields:
    """The server or the client of a session."""
    session = served.Session(
        mesh, served.Netlist(given["netlist"]), given["cycles"], given["every"], given["scheme"],
        given["network"], depth_of_trees(given["network"]), [])
    return {"outputs": session.run(coins(given, party), given["inputs"][party])}


# --------------------------------------------------------------------------------- setups

PLAYERS: dict[str, Callable[[Fields, int, Wire], Fields]] = {
    "fill": play_fill, "refill": play_refill, "served": play_served}


class Setup(Run):
    """Both parties of a setup."""

    def __init__(self, given: Fields) -> None:
        super().__init__(2)
        self.given = given
        self.run()

    def party(self, party: int, mesh: Wire) -> Fields:
        """One of them."""
        return PLAYERS[self.given["kind"]](self.given, party, mesh)


def outcome(found: Setup) -> Fields:
    """A setup with what must come of it."""
    return found.given | {
        "frames": [[*pair, kind, stamp, shown(payload)]
                   for pair, messages in found.messages.items()
                   for kind, stamp, payload in messages],
        "found": found.found}


# 3 inputs that are given once or each cycle, 2 flip-flops of which one begins with a constant,
# all opcodes, an output that is an input, one that is a constant, and one twice.
GATES = [(2, 3, 6), (0, 4, 8), (7, 1, 4), (8, 5, 7), (9, 6, 11), (10, -1, 12), (11, 7, 13),
         (12, -3, 14), (13, 2, 1), (14, 3, 2), (15, 9, 9), (16, 12, 8)]
NETLIST = "\n".join(" ".join(map(str, line)) for line in (
    (0, 1, 1, 0, 1, 2, 2, 6, 0, len(GATES)), *zip(*GATES), (17, 2, 18, -3, 17, 16), (18, 4),
    (1, -3))) + "\n"
ALONE = "0 1 0 0 2 0 1 1 0 2\n1 4\n2 3\n8 6\n4\n5\n0\n"     # inputs of the server alone
KINDS = [[[1, 0], 3], [[1, 8], 2], [[2, 3], 2], [[2, 20], 1], [[3, 8], 3], [[4, 16], 2],
         [[5, 0, 8, 3, 6], 2], [[5, 1, 40, 2, 1], 1], [[6, 8, 2, 1, 2], 1], [[6, 64, 1, 2, 2], 1]]


def setups() -> list[Fields]:
    """The inputs of all setups."""
    return [
        {"id": 1, "kind": "fill", "seeds": [21, 22], "batches": [0, 1], "network": "lan",
         "least": [1, 1]},
        {"id": 2, "kind": "refill", "session": data("session refill").hex(), "stock": 7,
         "refills": [KINDS, KINDS[:2]]},
        {"id": 3, "kind": "served", "seeds": [31, 32], "netlist": NETLIST, "cycles": 3,
         "every": True, "scheme": "mi", "network": "lan",
         "inputs": [[1, 0, 1, 1], [1, 0, 1, 1, 0, 1, 1]]},
        {"id": 4, "kind": "served", "seeds": [33, 34], "netlist": ALONE, "cycles": 2,
         "every": False, "scheme": "prp", "network": "wan", "inputs": [[1, 1, 0, 1, 1], []]}]


# ------------------------------------------------------------------------------ negative tests


class Case:
    """One party of a setup, whose peer's messages are changed."""

    def __init__(self, found: Setup, party: int) -> None:
        self.found, self.party, self.peer = found, party, 1 - party
        self.sent = [event[2] for event in found.messages[self.peer, party]]

    def attack(self, changes: list[Fields]) -> Found:
        """Run the party against changed messages."""
        return attack_setup(self.found, self.party, changes)

    def change(self, message: int, op: str, **fields: Any) -> Fields:
        """A change of a message of the peer."""
        return {"from": self.peer, "message": message % len(self.sent), "op": op, **fields}

    def xor(self, message: int, at: int, bits: str = "01") -> Fields:
        """Other bits in a message."""
        return self.change(message, "xor", at=at % len(self.sent[message]), bytes=bits)

    def short(self, message: int) -> list[Fields]:
        """A message without its last byte, and then the end."""
        _, stamp, body = self.found.messages[self.peer, self.party][message]
        return [self.change(message, "insert", kind="data", stamp=stamp, bytes=body[:-1].hex()),
                self.change(message, "end")]

    def mended(self, changes: list[Fields], message: int, at: int) -> list[Fields]:
        """The changes, with the digest at a place right again."""
        code, _, mesh = self.attack(changes)
        assert code == ALTERED, code
        old = self.sent[message]
        at %= len(old)
        bits = bytes(x ^ y for x, y in zip(old[at:], mesh.asked))
        return [*changes, self.xor(message, at, bits.hex())]


def attack_setup(found: Setup, party: int, changes: list[Fields]) -> Found:
    """Run one party against changed messages."""
    play = PLAYERS[found.given["kind"]]
    return attack(found, party, changes, lambda mesh: play(found.given, party, mesh))


def fill_rules(case: Case) -> Rule:
    """Control messages of a fill, and those of its transfers, at one party."""
    hello = case.sent[0]
    for at, what in ((0, "batches of 0"), (1, "batches of 1")):
        yield f"other {what}", [case.xor(0, at)], DIFFERS
    yield "other network", [case.change(0, "replace", bytes=(
        hello[:2] + b"\x03wan" + hello[6:]).hex())], DIFFERS
    yield "network that is not canonical", [case.change(0, "replace", bytes=(
        hello[:2] + b"\x03LAN" + hello[6:]).hex())], BAD
    for comment, offer in (
            ("next too large", pool.Half((1 << 48) + 1)),
            ("next far ahead", pool.Half((1 << 32) + 1)),
            ("fills out of order", pool.Half(0, [(bytes(16), 5, 1), (bytes(16), 5, 1)])),
            ("a fill of none", pool.Half(0, [(bytes(16), 0, 0)])),
            ("a fill that is passed", pool.Half(3, [(bytes(16), 0, 3)])),
            ("a fill too long", pool.Half(0, [(bytes(16), 0, (1 << 24) + 1)])),
            ("65 fills", pool.Half(0, [(bytes(16), i, 1) for i in range(65)]))):
        for half in (0, 1):
            halves = [pool.Half(), pool.Half()]
            halves[half] = offer
            text = hello[:6] + b"".join(each.message() for each in halves) + hello[-32:]
            yield f"{comment}, half {half}", [case.change(0, "replace", bytes=text.hex())], BAD
    yield "hello cut", [case.change(0, "cut", at=len(hello) - 1)], BAD
    yield "hello longer", [case.change(0, "append", bytes="00")], BAD
    yield "contribution altered", [case.xor(0, -1)], ALTERED
    yield "keeps another number", [case.xor(1, 0, "02")], DIFFERS
    yield "number cut", [case.change(1, "cut", at=0)], BAD
    yield "number longer", [case.change(1, "append", bytes="00")], BAD
    yield "end longer", [case.change(-1, "append", bytes="00")], BAD
    yield "no end", [case.change(-1, "end")], GONE
    if case.peer == case.found.given["batches"].index(1):       # it receives
        extension = next(i for i, body in enumerate(case.sent) if len(body) == 496 * 9 + 80)
        yield "correction altered", [case.xor(extension, 0)], ALTERED
        yield "correction altered, digest right", case.mended(
            [case.xor(extension, 0)], extension, 496 * 9), DEVIATED
    else:
        yield "points altered", [case.xor(4, 0)], ALTERED


def served_client_rules(case: Case) -> Rule:
    """What a server sends, at the client."""
    last, cost = len(case.sent) - 1, "results are wrong"
    cycles = last - 1
    size = len(case.sent[last]) - 32
    yield "contribution of the answer", [case.xor(0, 1)], ALTERED
    yield "answer longer", [case.change(0, "append", bytes="00")], BAD
    yield "answer cut", [case.change(0, "cut", at=32)], BAD
    for at, what in ((0, "label of the server"), (16, "label of the client"), (96, "table")):
        yield f"{what} altered", [case.xor(cycles, at)], ALTERED
    yield "label altered, digest right", case.mended([case.xor(cycles, 0, "02")], last, size), (
        None), cost
    yield "masks altered", [case.xor(last, 0)], ALTERED
    yield "masks altered, digest right", case.mended([case.xor(last, 0)], last, size), None, cost
    yield "digest altered", [case.xor(last, -1)], ALTERED
    yield "masks cut", case.short(last), GONE
    yield "no masks", [case.change(last, "end")], GONE


def served_server_rules(case: Case) -> Rule:
    """What a client sends, at the server."""
    last = len(case.sent) - 1
    yield "contribution altered", [case.xor(0, -1)], ALTERED
    yield "ask longer", [case.change(0, "append", bytes="00")], BAD
    yield "ask cut", [case.change(0, "cut", at=70)], BAD
    yield "choice altered", [case.xor(last - 1, -1)], ALTERED
    yield "digest altered", [case.xor(last, 31)], ALTERED
    yield "digest cut", case.short(last), GONE
    yield "no digest", [case.change(last, "end")], GONE


def refill_rules(case: Case) -> Rule:
    """Messages of correlations, at one party."""
    for message in (0, len(case.sent) - 1):
        yield "other numbers", [case.xor(message, 0)], None, "results are wrong"
    yield "message cut", case.short(-1), GONE
    yield "no message", [case.change(-1, "end")], GONE


NOTES = {
    "Fill": note("takes numbers of a pool as they come", "transfers are used twice, or none left",
                 "pools.md#offers"),
    "Served": note("opens or believes outputs before digests agree", "wrong outputs",
                   "pools.md#a-served-session"),
    "Refill": note("waits for other messages than the text has", "a party that does not end",
                   "pools.md#a-run-from-a-pool")}
FLAGS: dict[Any, str] = {fill_rules: "Fill", served_client_rules: "Served",
                         served_server_rules: "Served", refill_rules: "Refill"}
CASES: list[tuple[int, int, Any]] = [        # setup, party, rules
    (1, 0, fill_rules), (1, 1, fill_rules), (2, 0, refill_rules), (3, 1, served_client_rules),
    (3, 0, served_server_rules)]
KEPT: dict[int, Setup] = {}                     # setups that were run, by id


def make(folder: Path) -> Fields:
    """All setups and rules."""
    tests: list[Fields] = []
    for given in setups():
        KEPT[given["id"]] = Setup(given)
    for number, party, rule in CASES:
        case = Case(KEPT[number], party)
        for comment, changes, code, found, cost in judged(rule, case):
            test = {"id": len(tests) + 1, "comment": comment, "flags": [FLAGS[rule]],
                    "setup": number, "party": party, "changes": changes}
            tests.append(test | (
                {"result": "undetected", "cost": cost[0], "found": found} if code is None else
                {"result": "invalid", "code": code, "blames": 1 - party}))
    return {"notes": NOTES, "setups": [outcome(found) for found in KEPT.values()], "tests": tests}


def check(content: Fields, folder: Path) -> list[str]:
    """Run all setups and tests again; returns what differs."""
    wrong = []
    for setup in content["setups"]:
        found = KEPT[setup["id"]] = Setup(setup)
        wrong += [f"pools setup {setup['id']}: {name}" for name, value in outcome(found).items()
                  if setup[name] != value]
    for test in content["tests"]:
        code, result, _ = attack_setup(KEPT[test["setup"]], test["party"], test["changes"])
        if code != test.get("code") or ("found" in test and test["found"] != result):
            wrong.append(f"pools {test['id']}: {code}, not {test.get('code')}")
    return wrong
