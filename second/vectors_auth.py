"""Coins, sums of MACs and batches of `auth`: the file `auth.json.gz` (chapter 14)."""

from __future__ import annotations

from primitives import H
from products import Batch, Exchange, Products, drawn_below, mac_sum, toss
from streams import Coins, expand_public
from transfers import BLOCK
from vectors_kinds import Fields, block, blocks, kind
from vectors_primitives import Groups, Tests, counting, data
from vectors_sessions import Run, Wire

GROUPS = Groups()
group = GROUPS.add

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
