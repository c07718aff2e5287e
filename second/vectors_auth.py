"""Authenticated bits and sessions of `auth`: the file `auth.json.gz` (chapter 14)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from auth import Answers, Evaluated, Garbled, Masks, read_table
from plan import Tape, read_tape
from primitives import H
from products import Batch, Exchange, Products, drawn_below, mac_sum, toss
from streams import Coins, expand_public
from transfers import BLOCK
from vectors_attack import EXPECTED
from vectors_gadgets import circuit
from vectors_guarded import Attacked, Cases, checked, made
from vectors_kinds import Fields, block, blocks, kind, line_of, number
from vectors_negative import length_rules, note, unused_bit_rules
from vectors_primitives import Groups, Tests, counting, data
from vectors_sessions import Run, Wire

GROUPS = Groups()
group = GROUPS.add
DEVIATED, BROKEN = "peer-deviated", "protocol-broken"
EXPECTED["shifted"].add(DEVIATED)
EXPECTED |= {"macs": {DEVIATED, BROKEN, None},
             "seen": {DEVIATED, BROKEN, "altered", "malformed-message", "peer-silent"}}

# ------------------------------------------------------------------------------ two parties


class Both(Run):
    """Two parties of a session without a job."""

    def __init__(self, given: Fields) -> None:
        super().__init__(2)
        self.given = given
        self.run()

    def sent(self) -> list[list[bytes]]:
        """The messages of each party."""
        return [[payload for _, _, payload in self.messages[pair]] for pair in ((0, 1), (1, 0))]


class Tossed(Both):
    """A coin."""

    def party(self, party: int, mesh: Wire) -> bytes:
        """One party; its coin."""
        given = self.given
        mesh.begin(given["session"])
        coin: Exchange = toss(mesh, 1 - party, Coins(given["seeds"][party]), given["name"],
                              given["number"])
        mesh.flush()
        coin.hear()
        coin.open()
        mesh.flush()
        return coin.coin(coin.finish()[0])


class Made(Both):
    """A batch of products from bits of a dealer."""

    def party(self, party: int, mesh: Wire) -> bytes:
        """One party; its products."""
        given, of = self.given, (self.given["buckets"], self.given["products"])
        mesh.begin(given["session"])
        coins = Coins(given["seeds"][party])
        goods = Products(mesh, coins, 1 - party, party == 0, 4)
        offsets, bits = dealt(given["dealt"], 3 * of[0] * of[1])
        goods.begin(given["nonce"], offsets[party])
        coin = toss(mesh, 1 - party, coins, "auth: shifts", given["number"])
        mesh.flush()
        products = Batch(goods, bits[party], *of, given["number"]).run(coin)
        return b"".join(halves([*column]) for column in zip(*products))


def dealt(seed: bytes, n: int) -> tuple[list[int], list[list[int]]]:
    """Offsets of both parties, and n authenticated bits at each."""
    drawn = blocks(H("sealane vectors auth", seed, 16 * (2 + 4 * n)))
    offsets = [drawn[0] & ~3 | 1, drawn[1] & ~3 | 3]
    bits: list[list[int]] = [[], []]
    for at in range(2, len(drawn), 4):
        shares, keys = [x & 1 for x in drawn[at:at + 2]], [x & ~1 for x in drawn[at + 2:at + 4]]
        for party in (0, 1):
            mac = keys[1 - party] ^ (offsets[1 - party] if shares[party] else 0)
            bits[party].append(mac | keys[party] << 128)
    return offsets, bits


def halves(bits: list[int]) -> bytes:
    """The MACs of bits, then the keys."""
    return b"".join(block(bit >> at & BLOCK) for at in (0, 128) for bit in bits)


@kind
def _toss(i: Fields) -> Fields:
    run = Tossed(i)
    assert run.found[0] == run.found[1]
    return {"messages": run.sent(), "coin": run.found[0]}


@kind
def _batch(i: Fields) -> Fields:
    run = Made(i)
    return {"messages": run.sent(), "products": run.found}


@kind
def _mac_sum(i: Fields) -> Fields:
    found = mac_sum(i["session"] + i["nonce"], i["place"], bool(i["evaluator"]), i["number"],
                    i["bits"], blocks(i["blocks"]))
    return {"sum": block(found)}


@kind
def _shifts(i: Fields) -> Fields:
    stream = expand_public(i["coin"], i["session"], "auth: shifts")
    return {"shifts": [drawn_below(stream, i["products"]) for _ in range(i["buckets"] - 1)]}


# ---------------------------------------------------------------------------- walks over tapes


def planes_of(wires: list[int], lanes: int) -> list[list[int]]:
    """Wires, plane by plane."""
    return [wires[at:at + lanes] for at in range(0, len(wires), lanes)]


def parts(planes: list[list[int]], count: int) -> bytes:
    """The blocks of wires: all labels, then all MACs, then all keys."""
    return b"".join(block(wire >> 128 * at & BLOCK) for at in range(count)
                    for plane in planes for wire in plane)


@kind
def _auth_tape(i: Fields) -> Fields:
    head, lanes, call = struct.unpack_from("<9I", i["tape"]), i["lanes"], i["call"]
    tape: Tape = read_tape(i["tape"], line_of(head, i["tape"]))
    wires, pairs, seed = tape.inputs * lanes, len(tape.ands) * lanes, number(i["seed"])
    offsets, bits = dealt(i["dealt"], wires + 4 * pairs)
    drawn = blocks(H("sealane vectors auth labels", i["dealt"], 32 * wires))
    zeros = [label & ~1 for label in drawn[::2]]
    labels = [zeros, [label ^ (offsets[0] if m & 1 else 0)
                      for label, m in zip(zeros, drawn[1::2])]]
    shifted, material, inputs = [], [], []
    for party in (0, 1):
        masks, rest = bits[party][:wires], bits[party][wires:]
        fresh, product, *factors = (rest[at * pairs:(at + 1) * pairs] for at in range(4))
        walk = Masks(fresh)
        walk.run(tape, planes_of(masks, lanes), lanes, 0)
        shifted.append(b"".join(halves([mask ^ x for mask, x in zip(side, factor)])
                                for side, factor in zip(zip(*walk.operands), factors)))
        material.append([*zip(fresh, product)])
        inputs.append([label | mask << 128 for label, mask in zip(labels[party], masks)])
    garbled = Garbled(seed, offsets[0], material[0])
    outputs = [garbled.run(tape, planes_of(inputs[0], lanes), lanes, call)]
    table = garbled.message()
    evaluated = Evaluated(seed, offsets[1], material[1], read_table(table, pairs))
    outputs.append(evaluated.run(tape, planes_of(inputs[1], lanes), lanes, call))
    answers = Answers([label & 1 for label in evaluated.labels], garbled.macs)
    answers.run(tape, planes_of([label & 1 for label in labels[1]], lanes), lanes, 0)
    columns = [*zip(*garbled.macs)][:2] or [(), ()]

    def joined(values: Any) -> bytes:
        return b"".join(map(block, values))
    return {"masks": shifted, "table": table,
            "garbler": [joined(garbled.labels), *map(joined, columns), parts(outputs[0], 3)],
            "evaluator": [joined(evaluated.labels), joined(evaluated.macs), parts(outputs[1], 3)],
            "answer": joined(answers.shown)}


# ------------------------------------------------------------------------- tests of functions

SID: Fields = {"session": data("session")}


@group("toss", "auth.md#commitments-and-coins", "auth")
def _() -> Tests:
    given = SID | {"name": "auth: set-up", "number": 0, "seeds": [data("coins"), data("others")]}
    for fields in ({}, {"name": "auth: shifts"}, {"number": 1}, {"number": 2**40 + 5},
                   {"session": data("other")}, {"seeds": [data("others"), data("coins")]}):
        yield f"other {[*fields]}", given | fields


@group("mac-sum", "auth.md#openings", "auth")
def _() -> Tests:
    given = SID | {"nonce": data("nonce"), "place": 0, "evaluator": 0, "number": 0,
                   "bits": b"\x35\x01", "blocks": data("MACs", 9 * 16)}
    others: list[Fields] = [{}, {"session": data("other")}, {"nonce": data("other")},
                            {"evaluator": 1}, {"number": 1}, {"number": 2**33}, {"bits": b"\x34\1"}]
    for fields in others + [{"place": place} for place in range(1, 5)]:
        yield f"other {[*fields]}", given | fields
    for n in (0, 1, 63, 64, 65, 200, 2**14 - 1, 2**14, 2**14 + 1, 2**15 + 65):
        yield f"{n} blocks", given | {"blocks": counting(16 * n)}


@group("shifts", "auth.md#shifts", "auth")
def _() -> Tests:
    for n, buckets in ((27, 8), (51, 7), (64, 6), (65, 6), (512, 5), (5161, 4), (2**19, 3),
                       (2**32 - 1, 3), (2, 8)):
        yield f"{n} products", SID | {"coin": data(f"coin {n}"), "products": n, "buckets": buckets}
    yield "other session", {"session": data("other"), "coin": data("coin 27"), "products": 27,
                            "buckets": 8}


@group("batch", "auth.md#batches", "auth")
def _() -> Tests:
    given = SID | {"nonce": data("nonce"), "seeds": [data("coins"), data("others")],
                   "dealt": data("bits"), "number": 0, "buckets": 3, "products": 5}
    others: list[Fields] = [{}, {"session": data("other")}, {"nonce": data("other")},
                            {"number": 1}, {"number": 2**33 + 1}, {"dealt": data("other")},
                            {"seeds": [data("others"), data("coins")]},
                            {"buckets": 2, "products": 1}, {"buckets": 4, "products": 13},
                            {"buckets": 8, "products": 27}, {"buckets": 5, "products": 220}]
    for fields in others:
        yield f"other {[*fields]}", given | fields


@group("auth-tape", "auth.md#tapes", "garble")
def _() -> Tests:
    small, free = circuit(3, [(2, 1), (1, 2)]), circuit(3, [(4, 0)])
    cases = [(small, lanes) for lanes in (1, 15, 16, 17, 31, 33, 37, 129, 165)]
    cases += [(free, 9), (circuit(4, [(1, 6), (2, 5)], [0, 2, 2, 1, 0, 1, 2, 0]), 37)]
    cases += [(circuit(5, [(slots - 10, 3)], None, True), 37) for slots in (512, 513)]
    cases += [(circuit(5, [(3, 600), (1, 2)]), 2), (circuit(5, [(0, 9), (2, 4)]), 165),
              (circuit(2, [(1, 4)]), 256)]
    for tape, lanes in cases:
        yield f"{lanes} lanes", {"tape": tape, "lanes": lanes, "call": 3, "seed": data("seed", 16),
                                 "dealt": data(f"dealt {lanes}")}
    yield "other call", {"tape": small, "lanes": 3, "call": 2**33 + 1, "seed": data("seed", 16),
                         "dealt": data("dealt")}


# ------------------------------------------------------------------------------------ sessions

SESSIONS: list[tuple[str, list[int]]] = [
    ("auth-wan", []), ("auth-lanes", []), ("auth-turned", []), ("auth-free", []),
    ("auth-tiles", [7]), ("auth-network", [5])]
Rule = Iterator[tuple[Any, ...]]


def behind_transfers(case: Attacked) -> list[tuple[int, int, bool]]:
    """What a party reads of a session but transfers: their tests are others."""
    trees = max(i for i, (_, n, _) in enumerate(case.reads) if n == 8192)
    ends = [i + 2 for i, (_, n, _) in enumerate(case.reads) if i > trees and n == 16]
    return case.reads[:2] + case.reads[ends[0]:]


def spoiled_rules(case: Attacked) -> Rule:
    """All that the peer sends, changed where it is read."""
    for at, n, _ in behind_transfers(case):
        for place in sorted({0, n - 1}):
            yield f"byte {place} of {n} at {at}", case.flip(at + place), "seen"
    yield from middle_rules(case)


def middle_rules(case: Attacked) -> Rule:
    """One bit of all that the peer sends, so that digests are right.

    Not noticed, and no test, are rows where they are multiplied by 0, and another input.
    """
    for at, n, _ in behind_transfers(case):
        if at not in case.digests:
            changes = case.mended(case.flip(at + n // 2))
            if case.attack(changes)[0] is not None:
                yield f"byte {n // 2} of {n} at {at}, digests right", changes, "macs"


def reflected_rules(case: Attacked) -> Rule:
    """What the party has sent, in the place of what it reads."""
    own = b"".join(payload for kind, _, payload in
                   case.session.messages[case.party, case.peer] if kind == "data")
    for at, n, _ in behind_transfers(case)[:2]:
        bits = bytes(x ^ y for x, y in zip(case.honest_bytes(at, n), own[at:at + n]))
        if any(bits):
            yield f"own {n} bytes at {at}", case.mended(case.flip(at, bits)), "macs"


def exchanged_rules(case: Attacked) -> Rule:
    """Sums of MACs of one opening in the place of those of another one."""
    places = [at for at, n, _ in behind_transfers(case) if n == 16]
    for first, last in pairwise(places):
        bits = bytes(x ^ y for x, y in zip(*(case.honest_bytes(at, 16) for at in (first, last))))
        yield f"sum at {first} for that at {last}", case.mended(case.flip(last, bits)), "macs"


CASES: Cases = [
    ("auth-wan", 0, 1, [spoiled_rules, reflected_rules]),
    ("auth-wan", 1, 0, [spoiled_rules, reflected_rules]),
    ("auth-turned", 0, 1, [middle_rules, unused_bit_rules, length_rules]),
    ("auth-turned", 1, 0, [middle_rules, unused_bit_rules, length_rules]),
    ("auth-tiles", 0, 1, [exchanged_rules]), ("auth-tiles", 1, 0, [exchanged_rules])]
FLAGS: dict[Any, str] = {
    spoiled_rules: "Macs", middle_rules: "Macs", exchanged_rules: "OtherSum",
    reflected_rules: "Reflected", unused_bit_rules: "MacBits", length_rules: "MacLengths"}
NOTES = {
    "Macs": note("takes rows, bits, values or shares that no MAC, label or digest fits",
                 "a party that deviates learns of inputs, or chooses a result",
                 "auth.md#settlement"),
    "OtherSum": note("does not bind a challenge to its opening",
                     "one sum serves for bits that do not fit", "auth.md#openings"),
    "Reflected": note("does not bind a commitment to its party",
                      "a party chooses the coin", "auth.md#commitments-and-coins"),
    "MacBits": note("takes bits behind the end of a message", "a message has a second form",
                    "auth.md#errors"),
    "MacLengths": note("takes less or more payload than is due",
                       "later bytes are read in its place", "frames.md#messages")}


def make(folder: Path) -> Fields:
    """All sessions, and all rules at all cases; jobs come from Sealane."""
    return {"notes": NOTES, **made(folder, "auth", SESSIONS, {}, CASES, FLAGS)}


def check(content: Fields, folder: Path) -> list[str]:
    """Run all sessions and tests again; returns what differs."""
    return checked(content, folder, "auth")
