"""Silent transfers by themselves, and the file `silent.json.gz` (chapter 14)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import vectors_transfers
from silent import Instance, SilentReceiver, SilentSender, set_up_both, step
from streams import Coins
from transfers import Receiver, Sender
from vectors_attack import Found, attack, judged
from vectors_kinds import Fields
from vectors_negative import note
from vectors_sessions import Run, Wire, shown
from vectors_transfers import ALTERED, DEVIATED, Case, Rule, Setup, joined
from yao import Yao

GONE = "peer-vanished"
FIRST, MAIN = [6, 24, 5], [9, 16, 7]            # the tiny instances of chapter 17
LAST_BASE, LAST_PLAIN = 8, 3                    # the last messages before contributions and trees


def silent(given: Fields, party: int, mesh: Wire, setup: Setup | None = None) -> list[list[Any]]:
    """One side of a set-up and its extensions; returns blocks, and choices of R, of each."""
    session, sends = bytes.fromhex(given["session"]), party == given["sender"]
    mesh.begin(session)
    setting = {"roles": [[given["sender"]], [given["receiver"]]],
               "network": "lan" if given["k"] == 4 else "wan"}
    coins = Coins(bytes.fromhex(given["seeds"][0 if sends else 1]))
    plain = Yao(mesh, coins, session, setting, True)
    plain.set_up()
    sizes = Instance(*given["first"]), Instance(*given["main"])
    if not sends:
        receiver = SilentReceiver(plain.receiver, *sizes)
        receiver.set_up(plain.receiver, coins)
        return [[*receiver.extend(extension["n"])] for extension in given["extensions"]]
    if setup:
        setup.delta = plain.sender.delta
    sender = SilentSender(plain.sender, *sizes)
    sender.set_up(plain.sender, coins)
    return [[[], sender.extend(extension["n"])] for extension in given["extensions"]]


class SilentSetup(Setup):
    """Both sides of a silent set-up, and extensions one after the other."""

    def party(self, party: int, mesh: Wire) -> list[list[Any]]:
        """One side."""
        return silent(self.given, party, mesh, self)


def bits_of(choices: Sequence[int]) -> bytes:
    """Choices as bits."""
    number = sum(choice << i for i, choice in enumerate(choices))
    return number.to_bytes((len(choices) + 7) // 8, "little")


def outcome(found: Setup) -> Fields:
    """A set-up with what must come of it."""
    given = found.given
    sent, got = found.found[given["sender"]], found.found[given["receiver"]]
    extensions = [{"n": extension["n"], "choices": bits_of(x).hex(), "q": shown(joined(q)),
                   "t": shown(joined(t))}
                  for extension, (_, q), (x, t) in zip(given["extensions"], sent, got)]
    return given | {
        "delta": found.delta.to_bytes(16, "little").hex(),
        "messages": [[given["sender" if sends else "receiver"], shown(body)]
                     for sends in (True, False) for body in found.sent(sends)],
        "extensions": extensions}


class SilentCase(Case):
    """One side of a silent set-up, whose peer's messages are changed."""

    def attack(self, changes: list[Fields]) -> Found:
        """Run the side against changed messages."""
        return attack_silent(self.found, self.party, self.extensions, changes)


def attack_silent(found: Setup, party: int, extensions: int, changes: list[Fields]) -> Found:
    """Run one side against changed messages."""
    given = found.given | {"extensions": found.given["extensions"][:extensions]}
    return attack(found, party, changes, lambda mesh: silent(given, party, mesh))


# -------------------------------------------------------------------------------- in step


class InStep(Run):
    """Both sides of a set-up of both directions, and a refill."""

    def __init__(self, given: Fields) -> None:
        super().__init__(2)
        self.given = given
        self.run()

    def party(self, party: int, mesh: Wire) -> tuple[int, list[Any], list[Any]]:
        """One side; returns its delta, and transfers as sender and as receiver."""
        session, k = bytes.fromhex(self.given["session"]), self.given["k"]
        mesh.begin(session)
        coins = Coins(bytes.fromhex(self.given["seeds"][party]))
        sends = Sender(mesh, 1 - party, session, k, True)
        gets = Receiver(mesh, 1 - party, session, k, False)
        delta = int.from_bytes(coins.secret("gmw: offset").read(16), "little") | 1
        sends.begin(coins, delta)
        gets.begin(coins)
        mesh.flush()
        sizes = Instance(*self.given["first"]), Instance(*self.given["main"])
        sender, receiver = set_up_both(sends, gets, sizes, coins)
        sent, received = (self.given["iterations"][i] for i in (party, 1 - party))
        for i in range(max(sent, received)):
            step(sender if i < sent else None, receiver if i < received else None, i + 1 < sent)
        return delta, sender.ready, receiver.ready

    def outcome(self) -> Fields:
        """Its inputs, with what must come of them."""
        directions = []
        for party in (0, 1):
            delta, sent, _ = self.found[party]
            t, choices = zip(*self.found[1 - party][2])
            directions.append({
                "delta": delta.to_bytes(16, "little").hex(), "choices": bits_of(choices).hex(),
                "q": shown(joined([q for q, _ in sent])), "t": shown(joined(t))})
        messages = [[sender, stamp, shown(body)] for sender in (0, 1)
                    for _, stamp, body in self.messages[sender, 1 - sender]]
        return self.given | {"messages": messages, "directions": directions}


# ------------------------------------------------------------------------------ negative tests


def cut(case: Case, number: int, at: int) -> Fields:
    """The beginning of a message alone."""
    return {"from": case.peer, "message": number, "op": "cut", "at": at}


def sender_rules(case: Case) -> Rule:
    """What the sender sends in iterations, at the receiver."""
    contribution, proof = LAST_BASE + 1, LAST_BASE + 5
    wrong = [case.xor(contribution, 31)]
    yield "contribution altered", wrong, ALTERED
    yield "contribution altered, digest right", case.mended(wrong, proof, -32), DEVIATED
    yield "contribution cut", [cut(case, contribution, 31)], ALTERED
    for batch in range(3):
        number, size = contribution + 1 + batch, len(case.sent[contribution + 1 + batch])
        for level in range(size // 128):
            at = 128 * level + 16 * ((5 * level + batch) % 8) + 3 * level
            wrong = [case.xor(number, at, b"\x10")]
            yield f"level {level} of batch {batch}", wrong, ALTERED
            yield f"level {level} of batch {batch}, digest right", case.mended(
                wrong, proof, -32), DEVIATED
    first, second = case.sent[contribution + 1], case.sent[contribution + 2]
    wrong = [case.set(contribution + 1, 0, second), case.set(contribution + 2, 0, first)]
    yield "batches exchanged", wrong, ALTERED
    yield "batches exchanged, digest right", case.mended(wrong, proof, -32), DEVIATED
    yield "batch cut", [cut(case, contribution + 3, len(first) - 1)], ALTERED
    yield "batch longer", [{"from": case.peer, "message": contribution + 2, "op": "append",
                            "bytes": "00"}], ALTERED
    for at in (0, 31):
        wrong = [case.xor(proof, at)]
        yield "proof altered", wrong, ALTERED
        yield "proof altered, digest right", case.mended(wrong, proof, -32), DEVIATED
    for at in (32, 63):
        yield "digest altered", [case.xor(proof, at)], ALTERED
    yield "proof cut", [cut(case, proof, 63)], ALTERED
    yield "no proof", [{"from": case.peer, "message": proof, "op": "drop"}], ALTERED
    yield "end before the proof", [{"from": case.peer, "message": proof, "op": "end"}], GONE


def later_rules(case: Case) -> Rule:
    """The same in the iteration of an extension."""
    first, proof = LAST_BASE + 6, LAST_BASE + 8
    for comment, wrong in (("tree", case.xor(first, 200)), ("proof", case.xor(proof, 7))):
        yield f"{comment} of iteration 1", [wrong], ALTERED
        yield f"{comment} of iteration 1, digest right", case.mended([wrong], proof, -32), DEVIATED
    before = case.sent[LAST_BASE + 5][:32]
    yield "proof of iteration 0, digest right", case.mended(
        [case.set(proof, 0, before)], proof, -32), DEVIATED


def receiver_rules(case: Case) -> Rule:
    """What the receiver sends in iterations, at the sender."""
    point, total = LAST_PLAIN + 1, LAST_PLAIN + 2
    cost = "nothing: the receiver finds another proof than its own"
    yield "contribution altered", [case.xor(LAST_PLAIN - 1, 0)], ALTERED
    yield "contribution cut", [cut(case, LAST_PLAIN - 1, 31)], ALTERED
    yield "extension cut", [cut(case, LAST_PLAIN, len(case.sent[LAST_PLAIN]) - 1)], DEVIATED
    yield "point altered", [case.xor(point, 15)], ALTERED
    yield "point altered, digest right", case.mended([case.xor(point, 15)], total, -32), None, cost
    yield "sum altered", [case.xor(total, 0)], ALTERED
    yield "sum altered, digest right", case.mended([case.xor(total, 0)], total, -32), None, cost
    for at in (16, 47):
        yield "digest altered", [case.xor(total, at)], ALTERED
    yield "point cut", [cut(case, point, 15)], ALTERED
    yield "sum cut", [cut(case, total, 47)], ALTERED
    yield "no point", [{"from": case.peer, "message": point, "op": "drop"}], ALTERED
    yield "end before the sum", [{"from": case.peer, "message": total, "op": "end"}], GONE


NOTES = {
    "SilentSender": note("does not check the rows of an iteration, or before the digest",
                         "a sender makes rows wrong where it guesses errors, and sees if it did",
                         "silent.md#check"),
    "SilentReceiver": note("answers before it has compared the digest",
                           "an altered message is taken for a deviation", "silent.md#check")}
FLAGS: dict[Any, str] = {sender_rules: "SilentSender", later_rules: "SilentSender",
                         receiver_rules: "SilentReceiver"}
# Whether the sender is tested, extensions, rules.
CASES: list[tuple[bool, int, Any]] = [
    (False, 0, sender_rules), (False, 1, later_rules), (True, 0, receiver_rules)]
KEPT: dict[int, Setup] = {}                     # setups that were run, by id


def setups(folder: Path) -> list[Fields]:
    """The inputs: base transfers and trees are those of the first set-up of chapter 9."""
    base = vectors_transfers.given_of(1, 4, [], folder)
    return [base | {"first": FIRST, "main": MAIN,
                    "extensions": [{"n": n} for n in (130, 1, 1166, 40)]}]


def make(folder: Path) -> Fields:
    """All set-ups and rules."""
    tests: list[Fields] = []
    for given in setups(folder):
        KEPT[given["id"]] = SilentSetup(given)
    found = KEPT[1]
    for sends, extensions, rule in CASES:
        party = found.given["sender" if sends else "receiver"]
        case = SilentCase(found, party, extensions)
        for comment, changes, code, _, cost in judged(rule, case):
            test = {"id": len(tests) + 1, "comment": comment, "flags": [FLAGS[rule]], "setup": 1,
                    "party": party, "extensions": extensions, "changes": changes}
            tests.append(test | ({"result": "undetected", "cost": cost[0]} if code is None else
                                 {"result": "invalid", "code": code, "blames": 1 - party}))
    base, = setups(folder)
    both = {name: base[name] for name in ("session", "k", "seeds", "first", "main")}
    return {"notes": NOTES, "setups": [outcome(found) for found in KEPT.values()],
            "in_step": InStep(both | {"iterations": [3, 2]}).outcome(), "tests": tests}


def check(content: Fields, folder: Path) -> list[str]:
    """Run all set-ups and tests again; returns what differs."""
    wrong = []
    for setup in content["setups"]:
        found = KEPT[setup["id"]] = SilentSetup(setup)
        wrong += [f"silent setup {setup['id']}: {name}" for name, value in outcome(found).items()
                  if setup[name] != value]
    both = InStep(content["in_step"]).outcome()
    wrong += [f"silent, in step: {name}" for name, value in content["in_step"].items()
              if both[name] != value]
    for test in content["tests"]:
        code, _, _ = attack_silent(KEPT[test["setup"]], *(test[name] for name in (
            "party", "extensions", "changes")))
        if code != test.get("code"):
            wrong.append(f"silent {test['id']}: {code}, not {test.get('code')}")
    return wrong
