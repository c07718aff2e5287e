"""Kinds of `primitives.json.gz` that came in under wire version 12, and their tests: its end."""

from __future__ import annotations

import silent
from one_of_many import TREES, OneOfMany, large_key, word
from primitives import H
from vectors_kinds import Fields, blocks, kind, number
from vectors_primitives import Groups, Tests, counting, data
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
