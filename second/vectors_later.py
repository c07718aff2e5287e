"""Kinds of `primitives.json.gz` that came in under wire version 12, and their tests: its end."""

from __future__ import annotations

import pool
import silent
from correlations import join
from encoding import varint
from one_of_many import TREES, OneOfMany, large_key, word
from primitives import H
from vectors_kinds import Fields, blocks, kind, number, whole
from vectors_primitives import BAD, Groups, Tests, counting, data
from vectors_sessions import Event, Wire

LEAVES = "sealane vectors leaves"               # the context of leaves that are made up
GROUPS = Groups()
group = GROUPS.add


class Alone(Wire):
    """One of two parties that take turns in one thread; each reads all before it writes."""

    def __init__(self, me: int, session: bytes, queues: tuple[list[Event], list[Event]]) -> None:
        super().__init__(me, 2, lambda _, event, __: queues[me].append(event),
                         lambda _: queues[1 - me].pop(0))
        self.begin(session)
        self.queues = queues

    def said(self) -> bytes:
        """What this party has written since it was asked last; it is sent."""
        self.flush()
        return b"".join(payload for _, _, payload in self.queues[self.me])


@kind
def _silent_row(i: Fields) -> Fields:
    (places, bit), = silent.matrix(i["key"], i["row"], 1, i["log"])
    return {"places": places, "bit": bit}


@kind
def _silent_proof(i: Fields) -> Fields:
    ends = bytes([i["sender"], i["receiver"]])
    return {"proof": silent.proof(i["session"], ends, i["instance"], i["iteration"],
                                  number(i["value"]))}


def leaves_of(i: Fields, missing: bytes | None) -> list[list[bytes]]:
    """All leaves of all trees; or in the order of S, without the missing ones."""
    k, many = i["k"], TREES[i["bits"]][i["k"]]
    drawn = H(LEAVES, i["leaves"], 32 * many << k)
    trees = [[drawn[32 * (t * 2**k + y):][:32] for y in range(2**k)] for t in range(many)]
    if missing is None:
        return trees
    lost = [number(missing) >> t * k & 2**k - 1 for t in range(many)]
    return [[tree[j ^ a] for j in range(1, 2**k)] for tree, a in zip(trees, lost)]


@kind
def _one_of_many(i: Fields) -> Fields:
    ends = i["sender"], i["receiver"]
    queues: tuple[list[Event], list[Event]] = ([], [])
    meshes = [Alone(me, i["session"], queues) for me in ends]
    sender, receiver = (
        OneOfMany(mesh, ends, i["session"], i["bits"], i["k"],
                  leaves_of(i, missing), number(i["delta"]))
        for mesh, missing in zip(meshes, (i["delta"], None)))
    turns = []
    for turn in i["turns"]:
        many = turn["length"] << i["bits"]
        texts = blocks(turn["strings"])
        assert len(texts) == many * len(turn["choices"])
        rows = receiver.request(turn["choices"])
        request = meshes[1].said()
        sender.answer(texts, turn["length"])
        answer = meshes[0].said()
        got = receiver.finish(rows, turn["choices"], turn["length"])
        wanted = [texts[j * many + y * turn["length"]:][:turn["length"]]
                  for j, y in enumerate(turn["choices"])]
        assert got == [text for string in wanted for text in string]
        turns.append({"request": request, "answer": answer})
    return {"turns": turns}


@kind
def _one_of_many_word(i: Fields) -> Fields:
    bits = [i["choice"] >> j & 1 for j in range(i["bits"])]
    symbols = word(i["bits"], i["k"], bits)
    return {"word": sum(bit << j for j, bit in enumerate(symbols)).to_bytes(16, "little")}


@kind
def _one_of_many_large(i: Fields) -> Fields:
    return {"key": large_key(i["transfer"], i["index"], i["keys"])}


@kind
def _pool_batch(i: Fields) -> Fields:
    key = i["key"]
    for _ in range(i["steps"]):
        key = pool.next_key(key)
    return {"sealed": pool.seal_batch(key, i["fill"], i["number"], i["half"], i["batch"])}


@kind
def _pool_state(i: Fields) -> Fields:
    return {"file": pool.seal_state(i["private"], i["peer"], i["salt"], i["state"])}


@kind
def _pool_contribution(i: Fields) -> Fields:
    offer = whole(i["offer"], pool.read_offer)
    return {"contribution": pool.bound(i["contribution"], offer)}


@kind
def _under_offset(i: Fields) -> Fields:
    pairs, delta = blocks(i["pairs"]), number(i["delta"])
    keys = list(zip(pairs[::2], pairs[1::2]))
    told = [x ^ y for x, y in zip(i["random"], i["choices"])]
    answer = [zero ^ one ^ delta for zero, one in keys]
    t = [pair[x] ^ s * y for pair, s, x, y in zip(keys, answer, i["random"], i["choices"])]
    return {"request": join(told, [1] * len(told)), "answer": b"".join(map(silent.block, answer)),
            "q": b"".join(silent.block(pair[d]) for pair, d in zip(keys, told)),
            "t": b"".join(map(silent.block, t))}


# ------------------------------------------------------------------------------------- tests


@group("silent-row", "silent.md#rows", "block")
def _() -> Tests:
    for log, row in ((6, 0), (6, 1), (9, 2047), (15, 537599), (19, 2**22 - 1), (21, 2**33)):
        yield "", {"key": data(f"matrix {log}", 16), "row": row, "log": log}


@group("silent-proof", "silent.md#check", "ot")
def _() -> Tests:
    given: Fields = {"session": data("session"), "sender": 0, "receiver": 1, "iteration": 0,
                     "instance": data("instance"), "value": data("value", 16)}
    yield "", given
    for field, value in (("session", data("other")), ("instance", data("other")),
                         ("iteration", 1), ("iteration", 2**33), ("value", bytes(16))):
        yield f"other {field}", given | {field: value}
    yield "other direction", given | {"sender": 1, "receiver": 0}


def texts(count: int) -> bytes:
    """Strings of so many blocks."""
    return counting(16 * count)


def turn(bits: int, choices: list[int], length: int) -> Fields:
    """An extension with given choices, and chosen strings."""
    return {"choices": choices, "length": length,
            "strings": texts((length << bits) * len(choices))}


@group("one-of-many", "silent.md#one-of-many", "ot")
def _() -> Tests:
    for bits, k, turns in ((2, 4, [([3, 0, 1, 2, 2], 2), ([1] * 3, 1)]),
                           (4, 4, [([15, 0, 6], 1)]), (8, 4, [([255, 3], 1)])):
        size = TREES[bits][k] * k
        delta = number(data(f"delta {bits} {k}", 16 * 3)) & (1 << size) - 1
        yield f"one of {1 << bits}, k = {k}", {
            "session": data("session many"), "sender": 1, "receiver": 0, "bits": bits, "k": k,
            "leaves": data(f"leaves {bits} {k}"),
            "delta": delta.to_bytes(16 * ((size + 127) // 128), "little"),
            "turns": [turn(bits, choices, length) for choices, length in turns]}


@group("one-of-many-word", "silent.md#one-of-many", "ot")
def _() -> Tests:
    for bits, sizes in TREES.items():
        for k in sizes:
            for choice in (1, 2 ** (bits - 1), 2 ** bits - 1):
                yield "", {"bits": bits, "k": k, "choice": choice}


@group("one-of-many-large", "silent.md#one-of-many", "ot")
def _() -> Tests:
    for transfer, index, count in ((0, 0, 1), (0, 1, 1), (3, 0x1234, 2), (3, 2**64 - 1, 8)):
        yield "", {"transfer": transfer, "index": index,
                   "keys": [data(f"key {i}", 16) for i in range(count)]}


@group("pool-batch", "pools.md#files", "pool")
def _() -> Tests:
    given: Fields = {"key": data("chain"), "steps": 0, "fill": data("fill", 16), "number": 0,
                     "half": 0, "batch": counting(100)}
    yield "", given
    for fields in ({"key": data("other chain")}, {"steps": 1}, {"steps": 3},
                   {"fill": data("other fill", 16)}, {"number": 2**48 - 1}, {"half": 1}):
        yield f"other {min(fields)}", given | fields


@group("pool-state", "pools.md#files", "pool")
def _() -> Tests:
    given: Fields = {"private": data("private", 48), "peer": data("peer"), "salt": data("salt"),
                     "state": counting(130)}
    yield "", given
    for field, size in (("private", 48), ("peer", 32), ("salt", 32)):
        yield f"other {field}", given | {field: data(f"other {field}", size)}


@group("pool-contribution", "pools.md#a-run-from-a-pool", "engine")
def _() -> Tests:
    empty, passed = pool.Half(), pool.Half(2**40 + 3)
    held = pool.Half(1, [(data("fill", 16), 0, 5), (data("other fill", 16), 2**33, 300)])
    for halves in ((empty, empty), (passed, empty), (empty, passed), (held, passed)):
        offer = b"".join(half.message() for half in halves)
        yield "", {"contribution": data("contribution"), "offer": offer}
    for comment, wrong in (("cut", offer[:-1]), ("longer", offer + b"\0"),
                           ("a list of 2^32", varint(0) + varint(2**32)),
                           ("a number of more than 64 bits", b"\xff" * 9 + b"\2\0\0\0")):
        yield comment, {"contribution": data("contribution"), "offer": wrong}, BAD


@group("under-offset", "pools.md#a-run-from-a-pool", "ot")
def _() -> Tests:
    for n in (1, 8, 9, 130):
        bits = [[byte & 1 for byte in data(f"{name} {n}", n)] for name in ("random", "given")]
        yield f"{n} transfers", {"pairs": data(f"pairs {n}", 32 * n), "delta": data("delta", 16),
                                 "random": bits[0], "choices": bits[1]}
