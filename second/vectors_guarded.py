"""Proofs and sessions of `trio-malicious`: the file `guarded.json.gz` (chapter 14)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from errors import Fault, need
from primitives import H, gf_mul
from proof import (
    BLOCK,
    GROUP,
    LANES,
    LEAST,
    Challenges,
    Proof,
    block,
    blocks,
    halves_of,
    image,
    lagrange,
    mul16,
    name_of,
    seed_of,
)
from sums import P
from vectors_attack import EXPECTED, Found, Replay, judged, xored
from vectors_kinds import Fields, kind, number
from vectors_negative import Case, length_rules, note, unused_bit_rules
from vectors_primitives import Groups, Tests, data
from vectors_sessions import Jobs, Session, learned, play, session_of

DISPUTED = "disputed"
EXPECTED["shifted"].add(DISPUTED)
EXPECTED |= {"proved": {DISPUTED, "protocol-broken"}, "noticed": {
    DISPUTED, "protocol-broken", "altered", "malformed-message", "peer-silent"}}
GROUPS = Groups()
group = GROUPS.add

# ------------------------------------------------------------------------- functions and proofs


def name_in(i: Fields) -> bytes:
    """The name of the proof of a test."""
    return name_of(i["session"], i["segment"], i["prover"])


def proof_of(i: Fields) -> Proof:
    """The proof of a test, under a seed that it states."""
    return Proof(name_in(i), i["seed"], i["statements"])


@kind
def _proof_field(i: Fields) -> Fields:
    return {"product": mul16(i["a"], i["b"]), "image": block(image(i["a"]))}


@kind
def _proof_line(i: Fields) -> Fields:
    return {"factors": b"".join(map(block, lagrange(i["points"], number(i["at"]))))}


@kind
def _proof_seed(i: Fields) -> Fields:
    halves = halves_of(i["key"], name_in(i))
    return {"left": halves[0], "right": halves[1], "check": seed_of(halves)[1],
            "seed": seed_of(halves)[0]}


@kind
def _proof_weights(i: Fields) -> Fields:
    proof, found = proof_of(i), []
    for at in i["at"]:
        place, lane = at // GROUP * (LANES // BLOCK) + at % LANES // BLOCK, at % BLOCK
        found.append(gf_mul(proof.weights[place], 1 << lane) if proof.groups else
                     proof.weights[at])
    return {"weights": b"".join(map(block, found))}


@kind
def _proof_challenges(i: Fields) -> Fields:
    challenges, found = Challenges(proof_of(i)), []
    for commitment in i["commitments"]:
        challenges.commit(commitment)
        found += [challenges.draw(8), challenges.draw(2)]
    return {"challenges": b"".join(map(block, found))}


@kind
def _proof_draws(i: Fields) -> Fields:
    proof = proof_of(i)
    left, right = (partial(proof.secret, i[side]) for side in ("left", "right"))
    salts, drawn = left("salts"), right("shares")
    shares = [drawn.read(16 * count) for count in i["counts"]]
    return {"masks": left("left mask").read(16) + right("right mask").read(16), "shares": shares,
            "commitments": [proof.commitment(level, salts.read(32), blocks(of_level))
                            for level, of_level in enumerate(shares)]}


# Results are kept: tests change one part of a proof.
Strings = tuple[int, ...]


@lru_cache
def kept(name: bytes, seed: bytes, n: int) -> Proof:
    """The proof of a name and a seed."""
    return Proof(name, seed, n)


@lru_cache
def proved(proof: Proof, keys: tuple[bytes, bytes], left: Strings, right: Strings
           ) -> tuple[bytes, bytes]:
    """The messages of a proof."""
    return proof.prove(keys, ([*left], ()), ([*right], ()))


@lru_cache
def followed(proof: Proof, key: bytes, strings: Strings, message: bytes, left: bool) -> bytes:
    """The answer of a verifier."""
    return proof.follow(key, ([*strings[:-1]], ()), (strings[-1], ()), message, left)


def strings_of(i: Fields) -> dict[str, bytes]:
    """The strings of all three, from drawn ones: statements that hold."""
    n = i["statements"]
    size = (n + 7) // 8
    drawn = H("sealane vectors statements", i["strings"], 5 * size)
    a, b, c, d, right = (number(drawn[size * k:size * (k + 1)]) & (1 << n) - 1 for k in range(5))
    left = a & c ^ b & d ^ right
    return {part: b"".join(string.to_bytes(size, "little") for string in strings)
            for part, strings in (("prover", (a, b, c, d)), ("left", (a, b, left)),
                                  ("right", (c, d, right)))}


@kind
def _proof(i: Fields) -> Fields:
    def changed(part: str, honest: bytes) -> bytes:
        for change in i["changes"]:
            if change["op"] == part:
                honest = xored(honest, change["at"], change["bytes"])
        return honest
    n, name, (own, following, last) = i["statements"], name_in(i), i["keys"]
    size = (n + 7) // 8
    strings = {part: [number(given[at:at + size]) for at in range(0, len(given), size)]
               for part, honest in strings_of(i).items() for given in [changed(part, honest)]}
    halves = halves_of(last, name)
    seed, check = seed_of(halves)
    shown = [changed(part, half + check) for part, half in zip(("from-left", "from-right"), halves)]
    found, wanted = seed_of([part[:32] for part in shown])
    need(all(part[32:] == wanted for part in shown), "the seed", DISPUTED)
    a, b, c, d = strings["prover"]
    made = proved(kept(name, found, n), (own, following), (a, b), (c, d))
    messages = [changed(part, honest) for part, honest in zip(("shares", "commitments"), made)]
    answers = [followed(kept(name, seed, n), key, (*strings[part],), message, part == "left")
               for part, key, message in zip(("left", "right"), (own, following), messages)]
    heard = [changed("to-" + part, honest) for part, honest in zip(("right", "left"), answers)]
    # Each verifier has its own answer, and what came from the other one.
    accepted = map(kept(name, seed, n).accepts, answers, reversed(heard))
    need(all([*accepted]), "the proof", DISPUTED)
    return {"shares": messages[0], "commitments": messages[1], "answers": answers}


# --------------------------------------------------------------------------- tests of functions

GIVEN: Fields = {"session": data("session"), "segment": 0, "prover": 1}
SEEDED: Fields = GIVEN | {"seed": data("seed of weights"), "statements": 5}
SIZES = [1, 4095, LEAST, GROUP, GROUP + 1]


def others(*more: Fields) -> list[Fields]:
    """Other fields of a test, one at a time."""
    return [{}, {"session": data("other")}, {"segment": 1}, {"segment": 2**40}, {"prover": 0},
            {"prover": 2}, *more]


@group("proof-field", "guarded.md#field-and-grid", "proof")
def _() -> Tests:
    for a in range(16):
        yield "", {"a": a, "b": 7 * a + 3 & 15}


@group("proof-line", "guarded.md#field-and-grid", "proof")
def _() -> Tests:
    for points in (8, 15):
        for at in (data("point", 16), block(image(9)), block(image(3))):
            yield f"{points} points", {"points": points, "at": at}


@group("proof-seed", "guarded.md#one-proof", "proof")
def _() -> Tests:
    for fields in others({"key": data("other key")}):
        yield f"other {[*fields]}", {"key": data("key of verifiers")} | GIVEN | fields


@group("proof-weights", "guarded.md#field-and-grid", "proof")
def _() -> Tests:
    for n in SIZES:
        yield f"{n} statements", SEEDED | {"statements": n, "at": sorted({
            at % n for at in (0, 1, 127, 128, 511, 512, 4000, n - 1)})}
    for fields in others({"seed": data("other")}):
        yield f"other {[*fields]}", SEEDED | {"at": [0, 4]} | fields


@group("proof-challenges", "guarded.md#one-proof", "proof")
def _() -> Tests:
    commitments = [data(f"commitment {k}") for k in range(3)]
    for fields in others({"seed": data("other")}, {"statements": 6}, {"statements": LEAST}):
        yield f"other {[*fields]}", SEEDED | {"commitments": commitments} | fields
    yield "other commitment", SEEDED | {"commitments": [data("other"), *commitments[1:]]}


@group("proof-draws", "guarded.md#one-proof", "proof")
def _() -> Tests:
    for fields in others({"seed": data("other")}, {"left": data("o")}, {"right": data("o")}):
        yield f"other {[*fields]}", SEEDED | {"left": data("key"), "right": data("key after"),
                                              "counts": [161, 2, 4]} | fields


def proof_in(n: int, prover: int, *changes: tuple[str, int, bytes]) -> Fields:
    """A proof, with changes of what somebody has or sends."""
    return GIVEN | {
        "prover": prover, "segment": n, "statements": n, "strings": data(f"strings {n}"),
        "keys": [data(f"key {k}") for k in range(3)],
        "changes": [{"op": op, "at": at, "bytes": bits} for op, at, bits in changes]}


@group("proof", "guarded.md#one-proof", "proof")
def _() -> Tests:
    for n, provers in ((1, 3), (2, 3), (5, 3), (300, 3), (4095, 1), (LEAST, 3), (GROUP + 1, 1)):
        for prover in range(provers):
            yield f"{n} statements", proof_in(n, prover)
    for n in (5, LEAST):
        proof, size = Proof(bytes(32), bytes(32), n), (n + 7) // 8
        for prover in range(3 if n == 5 else 1):
            for op, length, step in (
                    ("from-left", 64, 32), ("from-right", 64, 32), ("prover", 4 * size, size),
                    ("left", 3 * size, size), ("right", 3 * size, size),
                    ("shares", 16 * proof.values, 16), ("commitments", 32 * proof.levels, 32),
                    ("to-left", 64, 16), ("to-right", 64, 16)):
                places = range(0, length, step)
                for at in places if n == 5 else {places[0], places[-1]}:
                    yield f"{op} at {at}", proof_in(n, prover, (op, at, b"\1")), DISPUTED
    wide = b"\xff" * 8
    yield "wrong alike at prover and left", proof_in(
        300, 0, ("prover", 0, wide), ("left", 0, wide)), DISPUTED
    yield "wrong alike at prover and right", proof_in(
        300, 2, ("prover", 2 * 38, wide), ("right", 0, wide)), DISPUTED
    yield "two wrong statements of one lane", proof_in(
        LEAST, 1, ("left", 2 * 512, b"\1"), ("left", 2 * 512 + 64, b"\1")), DISPUTED


# ------------------------------------------------------------------------------------ sessions

SESSIONS: list[tuple[str, list[int]]] = [
    ("guarded-richer", []), ("guarded-lanes", []), ("guarded-four", []), ("guarded-outside", []),
    ("guarded-free", []), ("guarded-tiles", [5]), ("guarded-tiles", [8]), ("guarded-grid", [40]),
    ("guarded-matrices", []), ("guarded-totals", [2]), ("guarded-totals", [7]),
    ("guarded-product", []), ("guarded-orders", [2]), ("guarded-orders", [6]),
    ("guarded-groups", [5]), ("guarded-turns", [1]), ("guarded-turns", [100]),
    ("guarded-turns-outside", [4]), ("guarded-turns", [3]), ("guarded-product-outside", [])]
# Those that run another form than the first one: integers.
FORMS = dict.fromkeys(("guarded-matrices", "guarded-totals", "guarded-product",
                       "guarded-product-outside"), 1)


class Attacked(Case):
    """A party of a session, one of whose peers deviates."""

    def attack(self, changes: list[Fields]) -> Found:
        """Run the party against changed messages."""
        code, _, found, mesh = attack(self.jobs, self.session, self.party, changes)
        return code, found, mesh


def attack(jobs: Jobs, session: Session, party: int, changes: list[Fields]
           ) -> tuple[str | None, list[int], Any, Replay]:
    """Run a party against changed messages: the code, who is named, what is found."""
    mesh = Replay(session, party, changes)
    try:
        return None, [], learned(play(jobs, session.test, party, mesh)), mesh
    except Fault as fault:
        names = re.findall(r"party (\d+)", fault.args[0])
        return fault.code, sorted({*map(int, names)}), None, mesh


Rule = Iterator[tuple[Any, ...]]
PRIME = P.to_bytes(8, "little")


def spoiled_rules(case: Attacked) -> Rule:
    """All that the peer sends, changed where it is read."""
    digests = {*case.digests}
    for at, n, _ in case.reads:
        if at in digests:
            yield f"digest at {at}", case.flip(at + 31), "altered"
            continue
        for place in sorted({0, n - 1}):
            yield f"byte {place} of {n} at {at}", case.flip(at + place), "noticed"
        yield f"byte {n // 2} of {n} at {at}, digests right", case.mended(
            case.flip(at + n // 2)), "proved"


def middle_rules(case: Attacked) -> Rule:
    """One bit of all that the peer sends, so that digests are right."""
    for at, n, _ in case.reads:
        if at not in case.digests:
            yield f"byte {n // 2} of {n} at {at}, digests right", case.mended(
                case.flip(at + n // 2)), "proved"


def modulus_rules(case: Attacked) -> Rule:
    """The modulus in the place of an integer."""
    for at, n, bulk in case.reads:
        if n == len(PRIME) and bulk:
            bits = bytes(x ^ y for x, y in zip(case.honest_bytes(at, n), PRIME))
            yield f"the modulus at {at}", case.mended(case.flip(at, bits)), "protocol-broken"


def last_rules(case: Attacked) -> Rule:
    """A long proof: its shares and commitments, answers, and what opens results."""
    for at, n, _ in case.reads[-9:]:
        for place in sorted({n // 3, n - 1}) if at not in case.digests else []:
            yield f"byte {place} of {n} at {at}, digests right", case.mended(
                case.flip(at + place)), "proved"


def exchanged_rules(case: Attacked) -> Rule:
    """Proofs and answers of one settlement in the place of those of another one."""
    sizes: dict[int, list[int]] = {}
    for at, n, _ in case.reads:
        sizes.setdefault(n, []).append(at)
    for n, places in sizes.items():
        if n >= 64 and len(places) > 1:
            first, second = (case.honest_bytes(at, n) for at in (places[0], places[-1]))
            bits = bytes(x ^ y for x, y in zip(first, second))
            yield f"{n} bytes of the first settlement in the last", case.mended(
                case.flip(places[-1], bits)), "proved"


Cases = list[tuple[str, int, int, list[Any]]]    # job, party, peer, rules
CASES: Cases = [
    ("guarded-lanes", 0, 1, [spoiled_rules]), ("guarded-lanes", 0, 2, [spoiled_rules]),
    ("guarded-lanes", 1, 0, [spoiled_rules, unused_bit_rules]),
    ("guarded-lanes", 1, 2, [spoiled_rules, length_rules]),
    ("guarded-lanes", 2, 0, [spoiled_rules]), ("guarded-lanes", 2, 1, [spoiled_rules]),
    ("guarded-outside", 0, 2, [spoiled_rules]), ("guarded-outside", 0, 3, [spoiled_rules]),
    ("guarded-outside", 2, 0, [spoiled_rules]), ("guarded-outside", 2, 3, [spoiled_rules]),
    ("guarded-outside", 3, 1, [spoiled_rules]), ("guarded-outside", 4, 1, [spoiled_rules]),
    ("guarded-outside", 4, 2, [spoiled_rules]), ("guarded-four", 3, 1, [spoiled_rules]),
    ("guarded-four", 3, 2, [spoiled_rules]), ("guarded-four", 2, 0, [last_rules]),
    ("guarded-tiles", 0, 1, [exchanged_rules]), ("guarded-tiles", 2, 1, [exchanged_rules]),
    ("guarded-grid", 1, 2, [last_rules]), ("guarded-grid", 2, 1, [last_rules]),
    ("guarded-product", 0, 1, [middle_rules, modulus_rules]),
    ("guarded-product", 0, 2, [middle_rules]), ("guarded-product", 2, 0, [middle_rules]),
    ("guarded-product", 1, 2, [middle_rules, modulus_rules]),
    ("guarded-turns", 0, 1, [spoiled_rules]), ("guarded-turns", 0, 2, [middle_rules]),
    ("guarded-turns", 1, 2, [middle_rules, length_rules]),
    ("guarded-turns", 2, 1, [middle_rules, unused_bit_rules]),
    ("guarded-turns-outside", 2, 4, [middle_rules]),
    ("guarded-turns-outside", 3, 0, [middle_rules]),
    ("guarded-product-outside", 1, 2, [middle_rules]),
    ("guarded-product-outside", 3, 1, [middle_rules])]
FLAGS: dict[Any, str] = {
    spoiled_rules: "Proved", middle_rules: "Proved", last_rules: "Proved",
    modulus_rules: "Modulus", exchanged_rules: "OtherProof",
    unused_bit_rules: "ProvedBits", length_rules: "ProvedLengths"}
NOTES = {
    "Proof": note("accepts a proof of what does not hold, or of another seed",
                  "a role that deviates chooses a result", "guarded.md#one-proof"),
    "Proved": note("opens a result before all is proved, compared and confirmed",
                   "a party that deviates chooses a result, or learns of inputs",
                   "guarded.md#settlement"),
    "OtherProof": note("does not bind a proof to its segment",
                       "one proof serves for statements that do not hold", "guarded.md#one-proof"),
    "Modulus": note("takes the modulus for an integer", "zero has a second form",
                    "guarded.md#integers"),
    "ProvedBits": note("takes bits behind the end of a component",
                       "a message has a second form", "guarded.md#errors"),
    "ProvedLengths": note("takes less or more payload than is due",
                          "later bytes are read in its place", "frames.md#messages")}
KEPT: dict[tuple[str, int], Session] = {}       # by file and session


def made(folder: Path, file: str, of: list[tuple[str, list[int]]], forms: dict[str, int],
         cases: Cases, flags: dict[Any, str]) -> Fields:
    """All sessions of a file, and all rules at all cases; jobs come from Sealane."""
    jobs, sessions, tests = Jobs(folder, file), [], list[Fields]()
    for turn, (name, rows) in enumerate(of):
        given = session_of(jobs, name, rows, turn)
        given |= {"form": forms[name]} if name in forms else {}
        found = KEPT[file, turn + 1] = Session(jobs, given)
        sessions.append({"id": turn + 1, "comment": "", **given, "result": "valid",
                         **found.outcome()})
    for job, party, peer, rules in cases:
        session = next(test for test in reversed(sessions) if test["job"] == job)
        case = Attacked(jobs, KEPT[file, session["id"]], session["id"], party, peer)
        for rule in rules:
            for comment, changes, code, results, _ in judged(rule, case):
                names = attack(jobs, case.session, party, changes)[1]
                assert code is not None and (names or code != DISPUTED), (job, comment, results)
                tests.append({"id": len(tests) + 1, "comment": comment, "flags": [flags[rule]],
                              "session": session["id"], "party": party, "changes": changes,
                              "result": "invalid", "code": code, "blames": names})
    return {"jobs": [*jobs.content.values()], "sessions": sessions, "tests": tests}


def checked(content: Fields, folder: Path, file: str) -> list[str]:
    """Run all sessions and tests of a file again; returns what differs."""
    jobs, wrong = Jobs(folder, file), []
    for test in content["sessions"]:
        found = KEPT[file, test["id"]] = Session(jobs, test)
        wrong += [f"{file} session {test['id']}: {name}"
                  for name, value in found.outcome().items() if test[name] != value]
    for test in content["tests"]:
        session = KEPT[file, test["session"]]
        code, names, _, _ = attack(jobs, session, test["party"], test["changes"])
        if (code, names) != (test["code"], test["blames"]):
            wrong.append(f"{file} {test['id']}: {code} of {names}, not {test['code']}")
    return wrong


def make(folder: Path) -> Fields:
    """All sessions, and all rules at all cases."""
    return {"notes": NOTES, **made(folder, "guarded", SESSIONS, FORMS, CASES, FLAGS)}


def check(content: Fields, folder: Path) -> list[str]:
    """Run all sessions and tests again; returns what differs."""
    return checked(content, folder, "guarded")
