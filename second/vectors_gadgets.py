"""The inputs of `primitives.json.gz` for transfers, garbling, tapes and the adder."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from curves import BASE, L, multiply, ristretto_encode, ristretto_map
from primitives import blake3
from vectors_kinds import KINDS, Fields, line_of
from vectors_primitives import OWN, SID, Groups, Repeat, Tests, data

GROUPS = Groups()
group = GROUPS.add

# ------------------------------------------------------------------------- oblivious transfer

INVALID_ENCODINGS = """
    00ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff
    ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f
    f3ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f
    edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f
    0100000000000000000000000000000000000000000000000000000000000000
    01ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f
    ed57ffd8c914fb201471d1c3d245ce3c746fcbe63a3679d51b6a516ebebe0e20
    c34c4e1826e5d403b78e246e88aa051c36ccf0aafebffe137d148a2bf9104562
    c940e5a4404157cfb1628b108db051a8d439e1a421394ec4ebccb9ec92a8ac78
    47cfc5497c53dc8e61c91d17fd626ffb1c49e2bca94eed052281b510b1117a24
    f1c6165d33367351b0da8f6e4511010c68174a03b6581212c71c0e1d026c3c72
    87260f7a2f12495118360f02c26a470f450dadf34a413d21042b43b9d93e1309
    26948d35ca62e643e26a83177332e6b6afeb9d08e4268b650f1f5bbd8d81d371
    4eac077a713c57b4f4397629a4145982c661f48044dd3f96427d40b147d9742f
    de6a7b00deadc788eb6b6c8d20c0ae96c2f2019078fa604fee5b87d6e989ad7b
    bcab477be20861e01e4a0e295284146a510150d9817763caf1a6f4b422d67042
    2a292df7e32cababbd9de088d1d1abec9fc0440f637ed2fba145094dc14bea08
    f4a9e534fc0d216c44b218fa0c42d99635a0127ee2e53c712f70609649fdff22
    8268436f8c4126196cf64b3c7ddbda90746a378625f9813dd9b8457077256731
    2810e5cbc2cc4d4eece54f61c6f69758e289aa7ab440b3cbeaa21995c2f4232b
    3eb858e78f5a7254d8c9731174a94f76755fd3941c0ac93735c07ba14579630e
    a45fdc55c76448c049a1ab33f17023edfb2be3581e9c7aade8a6125215e04220
    d483fe813c6ba647ebbfd3ec41adca1c6130c2beeee9d9bf065c8d151c5f396e
    8a2e1d30050198c65a54483123960ccc38aef6848e1ec8f5f780e8523769ba32
    32888462f8b486c68ad7dd9610be5192bbeaf3b443951ac1a8118419d9fa097b
    227142501b9d4355ccba290404bde41575b037693cef1f438c47f8fbf35d1165
    5c37cc491da847cfeb9281d407efc41e15144c876e0170b499a96a22ed31e01e
    445425117cb8c90edcbc7c1cc0e74f747f2c1efa5630a967c64f287792a48a4b
    ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"""     # RFC 9496, A.2


def point(name: str) -> bytes:
    """The encoding of an element that looks random."""
    return ristretto_encode(ristretto_map(data(name, 64)))


@group("ristretto-decode", "transfers.md#base-transfers", "ot")
def _() -> Tests:
    for n in range(1, 16):
        yield f"{n} times the generator", {"bytes": ristretto_encode(multiply(n, BASE))}
    for n in (L - 1, L - 2):
        yield "negative multiples", {"bytes": ristretto_encode(multiply(n, BASE))}
    yield "the identity", {"bytes": bytes(32)}, "protocol-broken"
    for text in INVALID_ENCODINGS.split():
        yield "RFC 9496, A.2", {"bytes": bytes.fromhex(text)}, "protocol-broken"


@group("ristretto-map", "transfers.md#base-transfers", "ot")
def _() -> Tests:
    for half in (bytes(32), b"\xff" * 32, b"\1" + bytes(31)):
        yield "special", {"bytes": half + data("half")}
        yield "special", {"bytes": half + half}
    for i in range(6):
        yield "", {"bytes": data(f"map {i}", 64)}


@group("ristretto-multiply", "transfers.md#base-transfers", "ot")
def _() -> Tests:
    for scalar in (1, 2, 255, L - 1, L + 1, 2**512 - 1):
        yield "", {"scalar": scalar.to_bytes(64, "little"), "point": point("base")}
    for i in range(4):
        yield "", {"scalar": data(f"scalar {i}", 64), "point": point(f"point {i}")}


ENDS = {"session": SID, "receiver": 1, "sender": 0}


@group("base-point", "transfers.md#base-transfers", "ot")
def _() -> Tests:
    for index, choice in ((0, 0), (0, 1), (1, 0), (127, 1)):
        yield "", ENDS | {"index": index, "choice": choice, "other": point("other")}
    yield "ends", {"session": SID, "receiver": 0, "sender": 1, "index": 0, "choice": 0,
                   "other": point("other")}
    yield "any 32 bytes", ENDS | {"index": 5, "choice": 1, "other": b"\xff" * 32}


@group("base-transcript", "transfers.md#base-transfers", "ot")
def _() -> Tests:
    for pattern in (point("a") + point("b"), data("points", 64), bytes(64)):
        yield "", ENDS | {"point": point("Bp"), "points": Repeat.of(pattern, 8192)}


@group("base-key", "transfers.md#base-transfers", "ot")
def _() -> Tests:
    for index, choice in ((0, 0), (0, 1), (1, 0), (127, 1)):
        yield "", {"transcript": data("transcript"), "index": index, "choice": choice,
                   "point": point("shared")}


def tree_keys(k: int, choice: int) -> list[bytes]:
    """Keys of the levels of a tree."""
    return [data(f"key of {level}, {choice}") for level in range(k)]


@group("tree-deal", "transfers.md#trees", "ot")
def _() -> Tests:
    for k in (4, 8):
        yield "", {"session": SID, "zeros": tree_keys(k, 0), "ones": tree_keys(k, 1)}
        yield "exchanged", {"session": SID, "zeros": tree_keys(k, 1), "ones": tree_keys(k, 0)}


@group("tree-choose", "transfers.md#trees", "ot")
def _() -> Tests:
    for k, places in ((4, (0, 1, 6, 15)), (8, (0, 165))):
        keys = [tree_keys(k, choice) for choice in (0, 1)]
        message = KINDS["tree-deal"]({"session": SID, "zeros": keys[0], "ones": keys[1]})["message"]
        for missing in places:
            given = {"session": SID, "missing": missing,
                     "keys": [keys[missing >> level & 1][level] for level in range(k)]}
            yield f"leaf {missing} of {2**k}", given | {"message": message}
            if k == 8 and missing:
                continue
            for half in range(2 * k):
                wrong = bytearray(message)
                wrong[32 * half + half % 32] ^= 1 << half % 8
                level, second = 1 + half // 2, half % 2
                unread = level < k and (missing >> level & 1) == second
                yield (f"32 bytes number {half} changed", given | {"message": bytes(wrong)},
                       None if unread else "peer-deviated")


@group("check-key", "transfers.md#check-of-an-extension", "ot")
def _() -> Tests:
    for i in range(3):
        yield "", {"digest": data(f"digest {i}")}


@group("check-values", "transfers.md#check-of-an-extension", "ot")
def _() -> Tests:
    for i in range(3):
        yield "", {"digest": data(f"digest {i}"),
                   "hashes": [data(f"hash {i} {c}", 16) for c in range(128)]}


# ---------------------------------------------------------------------------------- garbling


SEED, DELTA = data("seed of the hash", 16), b"\1" + data("delta", 15)


@group("tweak", "garbling.md#the-hash", "block")
def _() -> Tests:
    for gate, call, lane, part in (
            (5, 1, 37, 1), (5, 3 * 2**32 + 7, 37, 15), (0, 0, 0, 0), (2**32 - 1, 0, 0, 0),
            (0, 2**32 - 1, 0, 0), (0, 2**32, 0, 0), (0, 2**52 - 1, 0, 4095), (0, 0, 2**32 - 1, 0),
            (1, 2, 3, 0)):
        yield "", {"gate": gate, "call": call, "lane": lane, "part": part}


@group("gate-hash", "garbling.md#the-hash", "block")
def _() -> Tests:
    tweak = KINDS["tweak"]({"gate": 5, "call": 1, "lane": 37, "part": 1})["tweak"]
    yield "example", {"seed": bytes(range(16)), "tweak": tweak, "x": bytes(range(16, 32))}
    for label in (bytes(16), b"\xff" * 16, b"\1" + bytes(15), bytes(15) + b"\x80"):
        yield "special", {"seed": SEED, "tweak": tweak, "x": label}
    for i in range(5):
        yield "", {"seed": SEED, "tweak": data(f"tweak {i}", 16), "x": data(f"label {i}", 16)}


def gates() -> Iterator[Fields]:
    """Gates of each class, with each pair of permute bits that it may have."""
    for form in ("full", "garbler", "evaluator"):
        for a in (0, 1):
            for b in (0, 1) if form != "evaluator" else (0,):
                labels = {name: bytes([data(name)[0] & 254 | bit]) + data(name)[1:16]
                          for name, bit in (("a", a), ("b", b))}
                yield {"seed": SEED, "gate": 7 + a, "call": 2**33 + b, "lane": 40, "class": form,
                       "delta": DELTA, **labels}


@group("and-garble", "garbling.md#and-gates", "garble")
def _() -> Tests:
    yield "example", {"seed": bytes(range(16)), "gate": 5, "call": 1, "lane": 0, "class": "full",
                      "delta": b"\xff" * 16, "a": bytes(range(32, 48)), "b": bytes(range(49, 65))}
    for gate in gates():
        yield gate["class"], gate


@group("and-evaluate", "garbling.md#and-gates", "garble")
def _() -> Tests:
    for gate in gates():
        table = KINDS["and-garble"](gate)["table"]
        shared = {name: value for name, value in gate.items() if name != "delta"}
        for flips in range(4):                  # whether a and b are 1
            if gate["class"] == "garbler" and flips >> 1 != gate["b"][0] & 1:
                continue
            active = {name: bytes(x ^ y for x, y in zip(gate[name], DELTA)) if flips >> i & 1
                      else gate[name] for i, name in enumerate(("a", "b"))}
            yield gate["class"], shared | active | {"table": table}


@group("decode-pairs", "garbling.md#decoding", "garble")
def _() -> Tests:
    for call, count in ((0, 1), (2, 3), (2**32 + 1, 2), (5, 17)):
        yield "", {"seed": SEED, "call": call, "delta": DELTA,
                   "labels": [data(f"label {i}", 16) for i in range(count)]}


@group("decode-hashes", "garbling.md#decoding", "garble")
def _() -> Tests:
    for call, count in ((0, 1), (2, 3), (2**32 + 1, 2), (5, 17)):
        yield "", {"seed": SEED, "call": call,
                   "labels": [data(f"label {i}", 16) for i in range(count)]}


@group("decode", "garbling.md#decoding", "garble")
def _() -> Tests:
    labels = [data(f"label {i}", 16) for i in range(5)]
    given = {"seed": SEED, "call": 3, "delta": DELTA, "labels": labels}
    pairs = KINDS["decode-pairs"](given)["pairs"]
    halves = [pairs[i:i + 16] for i in range(0, len(pairs), 16)]
    for bits in (0, 31, 0b10110):
        hashes = b"".join(halves[2 * i + (bits >> i & 1)] for i in range(5))
        yield f"{bits:05b}", {"pairs": pairs, "hashes": hashes}
    for place in (0, 33, 79):
        wrong = bytearray(hashes)
        wrong[place] ^= 1
        yield "neither", {"pairs": pairs, "hashes": bytes(wrong)}, "check-failed"
    both = halves[1] * 2 + pairs[32:]
    yield "both", {"pairs": both, "hashes": halves[1] + hashes[16:]}, "check-failed"
    yield "neither of two equal", {"pairs": both, "hashes": halves[0] + hashes[16:]}, "check-failed"
    yield "of another label", {"pairs": pairs, "hashes": halves[2] + hashes[16:]}, "check-failed"


@group("pieces", "garbling.md#order-of-the-tables", "garble")
def _() -> Tests:
    for batches in ([(10, 20), (2100, 600), (7000, 1300), (7001, 1301)], [(0, 1)], [(5, 0)],
                    [(2048, 512)], [(2049, 512)], [(2048, 513)], [(1, 512), (2, 513)],
                    [(2048, 1), (2049, 2)], [(0, 1536)], [(6144, 0)], [(6144, 1)], [],
                    [(i, i) for i in range(1, 600)]):
        yield "", {"batches": [list(batch) for batch in batches]}


def circuit(inputs: int, batches: list[tuple[int, int]], known: list[int] | None = None,
            reverse: bool = False) -> bytes:
    """A tape in which each gate has a slot of its own, and operands that look random."""
    slots, level = 2 + inputs, [0] * (2 + inputs)
    x: list[tuple[int, ...]] = []
    a: list[tuple[int, ...]] = []
    ends: list[tuple[int, int]] = []
    marks: list[int] = []
    for number, (xors, ands) in enumerate(batches):
        draws = iter(struct.unpack(f"<{2 * (xors + ands)}I",
                                   data(f"batch {number} {xors} {ands}", 8 * (xors + ands))))
        readable = slots
        for i in range(xors + ands):
            limit = slots if i < xors else readable + xors
            left, right = next(draws) % limit, next(draws) % limit
            mark = known[len(a) % len(known)] if known and i >= xors else 0
            right = 2 + right % inputs if mark else right       # a label whose permute bit is free
            level.append(max(level[left], level[right]) + (i >= xors))
            (a if i >= xors else x).append((left, right, slots))
            marks += [mark] if i >= xors else []
            slots += 1
        ends.append((len(x), len(a)))
    outputs = [slots - 1, slots - 2, 2, 0, 1]
    numbers = [*range(len(x)), *(reversed(range(len(a))) if reverse else range(len(a)))]
    head = (inputs, slots, max(level), len(x), len(a), len(ends), len(outputs), 0, 0)
    words = [*head, *(n for gate, i in zip(x + a, numbers) for n in (*gate, i)),
             *(n for end in ends for n in end), *outputs]
    return struct.pack(f"<{len(words)}I", *words) + bytes(len(x)) + bytes(marks)


@group("tape", "plan-files.md#tapes", "plan")
def _() -> Tests:
    tape = circuit(3, [(2, 1), (1, 2), (1, 0)], [0, 2, 1])
    line = line_of(struct.unpack_from("<9I", tape), tape)
    yield "", {"bytes": tape, "line": line}
    for made in (circuit(1, [(0, 1)]), circuit(4, [(3, 0)]),
                 circuit(2, [(1, 2), (0, 3)], None, True)):
        yield "", {"bytes": made, "line": line_of(struct.unpack_from("<9I", made), made)}
    for field in line:
        other = "00" * 32 if field == "hash" else line[field] + 1
        yield f"{field} of the line", {"bytes": tape, "line": line | {field: other}}, OWN
    changes = [(f"number {i} of the head", 4 * i, value) for i, value in (
        (0, 4), (1, 5), (2, 9), (3, 5), (3, 3), (4, 2), (5, 2), (5, 4), (6, 6), (7, 1), (8, 1),
        (6, 2**32 - 1))]
    slots = struct.unpack_from("<9I", tape)[1]
    changes += [("operand of an XOR", 36, slots), ("output of an XOR", 44, slots),
                ("output slot 0", 44, 0), ("output slot 1", 44, 1),
                ("number of an XOR twice", 48, 1), ("operand of an AND", 36 + 64 + 4, slots),
                ("output of an AND", 36 + 64 + 8, 1), ("number of an AND beyond", 36 + 64 + 12, 3),
                ("end of a batch", 36 + 7 * 16, 5), ("ends that go down", 36 + 7 * 16 + 8, 1),
                ("last end", 36 + 7 * 16 + 20, 2), ("slot of an output", 36 + 7 * 16 + 24, slots)]
    for comment, at, value in changes:
        wrong = tape[:at] + struct.pack("<I", value) + tape[at + 4:]
        yield comment, {"bytes": wrong, "line": line | {"hash": blake3(wrong).hex()}}, OWN
    for wrong in (tape[:-1], tape + b"\0", tape[:36], b""):
        yield "length", {"bytes": wrong, "line": line | {"hash": blake3(wrong).hex()}}, OWN


@group("garble", "garbling.md#order-of-the-tables", "garble")
def _() -> Tests:
    small = circuit(3, [(2, 1), (1, 2)])
    classes = circuit(4, [(1, 6), (2, 5)], [0, 2, 2, 1, 0, 1, 2, 0])
    cases = [(small, lanes) for lanes in (1, 15, 16, 17, 31, 32, 33, 37, 48, 49, 129, 165)]
    cases += [(classes, lanes) for lanes in (1, 16, 17, 33, 37)]
    cases += [(circuit(5, [(slots - 10, 3)], None, True), lanes)
              for slots in (512, 513) for lanes in (1, 17, 37, 70)]
    cases += [(circuit(5, batches), 1) for batches in ([(0, 511)], [(0, 513), (3, 2)], [(2049, 3)])]
    cases += [(circuit(5, [(3, 600), (1, 2)], [0, 0, 1, 2]), 2),
              (circuit(5, [(2049, 2), (1, 1)]), 65), (circuit(5, [(1, 2), (2049, 1)]), 130)]
    for tape, lanes in cases:
        inputs = struct.unpack_from("<I", tape)[0]
        labels = bytearray(data(f"labels {inputs}", 16 * inputs * lanes))
        labels[::16] = bytes(byte & 254 for byte in labels[::16])
        yield f"{lanes} lanes", {"tape": tape, "lanes": lanes, "call": 3, "seed": SEED,
                                 "delta": DELTA, "garbler": 0, "evaluator": 1,
                                 "labels": bytes(labels)}


@group("adder", "trio.md#conversions", "trio")
def _() -> Tests:
    for n in (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 40, 48, 63, 64):
        yield f"{n} bits", {"n": n}
