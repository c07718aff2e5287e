"""The inputs of `primitives.json.gz` (chapter 14), and the result that the text asks for.

Each function makes the tests of one kind: (comment, `in`), or (comment, `in`, code) if invalid.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from encoding import varint
from primitives import H
from vectors_kinds import KINDS, Fields

Tests = Iterator[tuple[Any, ...]]
BAD, OWN = "malformed-message", "own"


class Repeat(bytes):
    """A long input: a pattern, repeated and cut."""

    pattern = b""

    @classmethod
    def of(cls, pattern: bytes, length: int) -> bytes:
        """The pattern over and over; plain bytes if it is short."""
        if length <= 4096:
            return (pattern * (length // len(pattern) + 1))[:length]
        made = cls((pattern * (length // len(pattern) + 1))[:length])
        made.pattern = pattern
        return made


class Groups(dict[str, tuple[str, str, Callable[[], Tests]]]):
    """Chapter, crate and tests of each kind, in their order."""

    def add(self, name: str, chapter: str, crate: str) -> Callable[[Callable[[], Tests]], None]:
        """Register the tests of a kind."""
        assert name in KINDS

        def register(tests: Callable[[], Tests]) -> None:
            self[name] = chapter, crate, tests
        return register


def data(name: str, n: int = 32) -> bytes:
    """Bytes that look random, made up for a name."""
    return H("sealane vectors", name.encode(), n)


def counting(n: int) -> bytes:
    """Bytes 0, 1, .. 250, 0, 1, .."""
    return Repeat.of(bytes(range(251)), n)


def option(count: int | None) -> bytes:
    """An option of a count."""
    return b"\0" if count is None else b"\1" + varint(count)


def each(field: str, values: Iterable[tuple[str, Any]], *code: str) -> Tests:
    """Tests with one field, by their comments."""
    for comment, value in values:
        yield comment, {field: value}, *code


SID = data("session")
GROUPS = Groups()
group = GROUPS.add

# --------------------------------------------------------------------------- hashes and fields


@group("hash", "index.md#hashes", "block")
def _() -> Tests:
    for n in (0, 1, 31, 63, 64, 65, 127, 128, 1023, 1024, 1025, 2047, 2048, 2049, 3072, 4096, 5000,
              65536, 65537):
        yield f"{n} bytes", {"data": counting(n)}


@group("hash-context", "index.md#hashes", "block")
def _() -> Tests:
    for context in ("sealane 3 session", "sealane job 2", "sealane 3 transcript"):
        for n, length in ((0, 32), (1, 1), (32, 16), (64, 64), (160, 65), (1025, 32)):
            yield f"{n} to {length}", {"context": context, "data": counting(n), "length": length}


@group("aes", "randomness.md#bulk", "block")
def _() -> Tests:
    yield "FIPS 197, C.1", {"key": bytes(range(16)), "block": bytes(range(0, 256, 17))}
    for i in range(4):
        yield "", {"key": data(f"aes {i}", 16), "block": data(f"aes block {i}", 16)}


@group("gf-mul", "digests.md#polynomial-hash", "block")
def _() -> Tests:
    one, top, full = (number.to_bytes(16, "little") for number in (1, 1 << 127, 2**128 - 1))
    for a in (bytes(16), one, b"\2" + bytes(15), top, full):
        yield "special", {"a": a, "b": top}
        yield "special", {"a": a, "b": full}
    for i in range(6):
        yield "", {"a": data(f"a {i}", 16), "b": data(f"b {i}", 16)}


@group("poly-hash", "digests.md#polynomial-hash", "block")
def _() -> Tests:
    key = data("poly", 16)
    for n in (1, 15, 16, 17, 64, 65, 128, 2047, 2048, 2049, 4096, 4097):
        yield f"{n} bytes", {"key": key, "runs": [[7, counting(n)]]}
    yield "position beyond 32 bits", {"key": key, "runs": [[2**40 + 3, b"abc"]]}
    yield "zeros", {"key": key, "runs": [[0, bytes(32)]]}
    yield "zeros, longer", {"key": key, "runs": [[0, bytes(33)]]}
    yield "key of zeros", {"key": bytes(16), "runs": [[0, b"abc"]]}
    yield "two runs", {"key": key, "runs": [[0, b"ab"], [5, b"cd"]]}
    yield "one run", {"key": key, "runs": [[0, b"abcd"]]}
    yield "two whole chunks, two runs", {"key": key, "runs": [[0, counting(2048)],
                                                              [2049, counting(2048)]]}


@group("column-hash", "transfers.md#check-of-an-extension", "block")
def _() -> Tests:
    for blocks in (1, 2, 3, 31, 32, 33, 64, 65):
        yield f"{blocks} blocks", {
            "keys": [data(f"piece {i}", 16) for i in range((blocks + 31) // 32)],
            "column": data(f"column {blocks}", 16 * blocks)}


@group("transpose", "transfers.md#columns-of-an-extension", "ot")
def _() -> Tests:
    for rows in (1, 8, 127, 128, 129, 136):
        size = (rows + 7) // 8
        columns = [bytearray(data(f"column {rows} {c}", size)) for c in range(128)]
        for column in columns:
            column[-1] &= 255 >> -rows % 8
        yield f"{rows} rows", {"columns": [bytes(column) for column in columns], "rows": rows}


@group("digest", "digests.md#definition", "net")
def _() -> Tests:
    mixes: list[list[tuple[str, bytes]]] = [
        [], [("plain", b"\0")], [("plain", b"ab"), ("plain", b"cd")], [("plain", b"abcd")],
        [("bulk", b"abcd")], [("bulk", b"ab"), ("bulk", b"cd")],
        [("bulk", b"ab"), ("plain", b""), ("bulk", b"cd")],
        [("bulk", b"ab"), ("plain", b"x"), ("bulk", b"cd")],
        [("plain", b"x"), ("bulk", b"abcd")], [("bulk", b"abcd"), ("plain", b"x")],
        [("plain", b"ab"), ("bulk", b"cd"), ("bulk", b"ef"), ("plain", b"gh")],
        [("plain", b"abgh"), ("bulk", b"cdef")], [("bulk", b"")],
        [("plain", b"a"), ("bulk", b""), ("plain", b"b")]]
    mixes += [[("plain", counting(n)), ("bulk", counting(m))]
              for n, m in ((1024, 2048), (1025, 2049), (64, 2047), (3000, 1), (0, 2048), (5, 6000))]
    for payload in mixes:
        yield "", {"session": SID, "from": 0, "to": 1, "payload": [list(part) for part in payload]}
    for ends in ((1, 0), (2, 0), (0, 2)):
        yield "ends", {"session": SID, "from": ends[0], "to": ends[1],
                       "payload": [["plain", b"ab"], ["bulk", b"cd"]]}
    yield "other session", {"session": bytes(32), "from": 0, "to": 1,
                            "payload": [["plain", b"ab"], ["bulk", b"cd"]]}


# --------------------------------------------------------------------------------- randomness


@group("coins", "randomness.md#coins-of-a-run", "block")
def _() -> Tests:
    def draw(op: str, label: str, length: int = 32) -> Fields:
        return {"op": op, "label": label, "length": length}
    enter: Fields = {"op": "enter", "session": SID}
    seeds = [struct.pack("<Q24x", n) for n in (0, 1, 2**64 - 1)] + [bytes(range(32))]
    nonce, offset = draw("public", "yao: hash and inputs of the garbler"), draw(
        "secret", "garble: offset", 16)
    fork: Fields = {"op": "fork", "label": "local work", "draws": [draw("secret", "x", 8)]}
    key, many = draw("secret", "trio: key"), draw("secret", "numbers that nobody knows", 200)
    for seed in seeds:
        for draws in ([draw("public", "session"), enter, key],
                      [draw("public", "session"), enter, many, many, fork, key],
                      [enter, nonce, offset, draw("secret", "ot: scalars and points of the "
                                                  "receiver", 256)],
                      [enter, draw("secret", "ot: scalar of the sender", 64)],
                      [fork, draw("public", "a", 1), draw("public", "a", 65), enter, enter, key]):
            yield "", {"seed": seed, "draws": draws}


@group("expanded", "randomness.md#streams", "block")
def _() -> Tests:
    for form, label in (("secret", "ot: children"), ("secret", "ot: check of a tree"),
                        ("secret", "ot: sum of nodes"), ("secret", "trio: zero shares of bits"),
                        ("public", "yao: hash"), ("public", "yao: inputs of the garbler")):
        for reads in ([64], [1, 31, 33, 0, 130]):
            yield "", {"stream": form, "key": data(label), "session": SID, "label": label,
                       "reads": reads}


@group("bulk", "randomness.md#bulk", "block")
def _() -> Tests:
    for form, label in (("secret", "ot: leaf"), ("public", "yao: inputs of the garbler")):
        for draws in ([1], [31, 1], [32, 1], [33, 1], [64], [32, 32], [1] * 5, [256, 1], [257, 1],
                      [0, 1], [31, 32, 33, 256, 257, 1]):
            yield "", {"stream": form, "key": data(label), "session": SID, "label": label,
                       "draws": draws}


def tensor(planes: int, elements: int, k: int | None) -> Fields:
    """A tensor of chapter 14."""
    return {"planes": planes, "elements": elements, "k": k}


FORMS = [tensor(1, 1, None), tensor(3, 5, None), tensor(1, 63, None), tensor(1, 64, None),
         tensor(2, 65, None), tensor(8, 8, None), tensor(5, 128, None), tensor(64, 3, None),
         tensor(1, 1, 1), tensor(1, 9, 1), tensor(1, 3, 5), tensor(1, 1, 7), tensor(1, 5, 8),
         tensor(2, 3, 13), tensor(1, 3, 32), tensor(1, 3, 33), tensor(1, 3, 63), tensor(1, 4, 64),
         tensor(64, 1, 64), tensor(1, 65, 3)]


@group("component", "randomness.md#bulk", "trio")
def _() -> Tests:
    small, one, integers = tensor(3, 5, None), tensor(1, 1, None), tensor(1, 3, 5)
    for draws in [[form, form] for form in FORMS] + [
            [one, small, tensor(65, 64, None), one], [integers, tensor(1, 64, 64), integers],
            [integers, tensor(1, 65, 64), integers], [small, integers, small]]:
        for label in ("trio: zero shares of bits", "trio: components of inputs"):
            yield "", {"key": data("key"), "session": SID, "label": label, "draws": draws}


def random_words(form: Fields) -> bytes:
    """Words of a component that look random."""
    planes, elements, k = form.values()
    width, rows = (elements, planes) if k is None else (k, planes * elements)
    size = (width + 63) // 64 * 8
    words = (int.from_bytes(data(f"word {form} {i}", size), "little") for i in range(rows))
    return b"".join((word & (1 << width) - 1).to_bytes(size, "little") for word in words)


@group("pack", "trio.md#layout-of-a-component", "trio")
def _() -> Tests:
    for form in FORMS:
        yield "", form | {"words": random_words(form)}
    yield "example", tensor(1, 3, 5) | {"words": struct.pack("<3Q", 7, 30, 21)}
    yield "example", tensor(2, 3, None) | {"words": struct.pack("<2Q", 3, 6)}


@group("unpack", "trio.md#layout-of-a-component", "trio")
def _() -> Tests:
    for form in FORMS:
        message = KINDS["pack"](form | {"words": random_words(form)})["message"]
        yield "", form | {"message": message}
        bits = form["planes"] * form["elements"] * (form["k"] or 1)
        for unused in sorted({bits % 8, 7} if bits % 8 else {}):
            wrong = message[:-1] + bytes([message[-1] | 1 << unused])
            yield f"unused bit {unused}", form | {"message": wrong}, "protocol-broken"


@group("drawn-number", "plan-files.md#work-of-one-party", "engine")
def _() -> Tests:
    yield "example", {"bytes": bytes(range(1, 9)), "bits": 12}
    for bits in (1, 7, 8, 31, 32, 33, 63, 64):
        yield "", {"bytes": data("drawn", 8), "bits": bits}
