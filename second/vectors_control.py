"""The inputs of `primitives.json.gz` for messages: agreement, farewell, hello, frames, names."""

from __future__ import annotations

from typing import Any

from encoding import listed, string, varint
from keys import PKCS8
from link import FRAME, HELLO, MAGIC, WIRE
from primitives import blake3
from vectors_kinds import Fields
from vectors_primitives import BAD, OWN, Groups, Tests, data, each, option

GROUPS = Groups()
group = GROUPS.add

# -------------------------------------------------------------------------- control messages


@group("varint", "index.md#encoding-of-control-messages", "net")
def _() -> Tests:
    for n in (0, 1, 127, 128, 300, 10192, 16383, 16384, 2**21, 2**28 - 1, 2**28, 2**32 - 1):
        for bits in (32, 64):
            yield str(n), {"bits": bits, "bytes": varint(n)}
    for n in (2**32, 2**35 - 1, 2**35, 2**56, 2**63 - 1, 2**63, 2**64 - 1):
        yield str(n), {"bits": 64, "bytes": varint(n)}
        yield f"{n}: more than 32 bits", {"bits": 32, "bytes": varint(n)}, BAD
    for bits, longest in ((32, 5), (64, 10)):
        yield "more than its bits", {"bits": bits, "bytes": varint(2**bits)}, BAD
        yield "more than its bits", {"bits": bits, "bytes": varint(2**(7 * longest) - 1)}, BAD
        yield "too many bytes", {"bits": bits, "bytes": b"\x80" * longest + b"\0"}, BAD
        yield "without an end", {"bits": bits, "bytes": b"\x80"}, BAD
        yield "no byte", {"bits": bits, "bytes": b""}, BAD
        yield "a byte left over", {"bits": bits, "bytes": b"\1\0"}, BAD
        yield "no end after all bytes", {"bits": bits, "bytes": b"\xff" * longest}, BAD


PARTS = [data(f"part {i}") for i in range(5)]


def job(protocol: bytes = string("yao"), parties: bytes = listed([string("a"), string("b")]),
        network: bytes = string("lan"), pooled: bytes = b"\0", keys: bytes = b"\0") -> bytes:
    """A message of step 1, field by field."""
    return b"".join(PARTS) + protocol + parties + network + pooled + keys


@group("control-job", "agreement.md#step-1-the-job", "engine")
def _() -> Tests:
    two = listed([data("key 0"), data("key 1")])
    long = listed([string("n" * 64)] * 40)
    yield from each("bytes", [
        ("no keys", job()), ("two keys", job(keys=two)), ("pooled", job(pooled=b"\1")),
        ("no party", job(parties=b"\0")), ("empty name", job(parties=listed([string("")]))),
        ("many names", job(parties=long)), ("wan", job(network=string("wan"))),
        ("network", job(network=string("20ms/100Mbps"))),
        ("not ASCII", job(parties=listed([string("\u00e9\u4e2d"), string("b")])))])
    yield from each("bytes", [
        ("no bytes", b""), ("no fields behind the parts", b"".join(PARTS)),
        ("one byte less", job(keys=two)[:-1]), ("one byte more", job() + b"\0"),
        ("bool 2", job(pooled=b"\2")), ("bool ff", job(pooled=b"\xff")),
        ("not UTF-8", job(protocol=b"\2\xc3\x28")), ("cut UTF-8", job(protocol=b"\1\xc3")),
        ("surrogate", job(protocol=b"\3\xed\xa0\x80")),
        ("overlong UTF-8", job(protocol=b"\2\xc0\xaf")),
        ("string longer than the message", job(protocol=b"\xff\x7fyao")),
        ("2^32 names", job(parties=varint(2**32))), ("2^64 - 1 keys", job(keys=varint(2**64 - 1))),
        ("length of 11 bytes", job(protocol=b"\x80" * 10 + b"\0")),
        ("half a key", job(keys=listed([data("key", 16)]))),
        ("network not canonical", job(network=string("LAN"))),
        ("network not canonical", job(network=string("40ms/100Mbps"))),
        ("no network", job(network=string("")))], BAD)


@group("control-rows", "agreement.md#step-2-row-counts", "engine")
def _() -> Tests:
    for counts in ([], [5], [None], [1, None, 300], [2**64 - 1], [0], [None] * 130):
        yield "", {"bytes": listed([option(count) for count in counts])}
    yield "longer form", {"bytes": b"\1\1\x85\0"}
    yield from each("bytes", [
        ("no bytes", b""), ("option 2", b"\1\2\5"), ("one more byte", b"\1\0\0"),
        ("count missing", b"\1\1"), ("element missing", b"\2\0"), ("2^32 counts", varint(2**32)),
        ("above 64 bits", b"\1\1" + b"\xff" * 10),
        ("varint of 11 bytes", b"\1\1" + b"\x80" * 10 + b"\0")], BAD)


@group("control-instance", "agreement.md#step-3-the-instance", "engine")
def _() -> Tests:
    whole = data("hash") + data("contribution")
    yield "", {"bytes": whole + b"\0"}
    yield "contribution of zeros", {"bytes": data("hash") + bytes(33)}
    yield from each("bytes", [
        ("no bytes", b""), ("no option", whole), ("option 2", whole + b"\2"),
        ("one byte more", whole + b"\0\0"), ("cut", whole[:63])], BAD)


@group("control-farewell", "agreement.md#farewell", "engine")
def _() -> Tests:
    for sent, rounds in (([1, 0], 1), ([0, 10192], 5), ([0, 2**64 - 1, 2**32], 2**32 - 1), ([], 0)):
        yield "", {"bytes": listed([varint(n) for n in sent]) + varint(rounds) + data("digest")}
    yield from each("bytes", [
        ("no bytes", b""), ("no digest", b"\2\1\0\1"), ("one byte less", b"\2\1\0\1" + bytes(31)),
        ("one byte more", b"\2\1\0\1" + bytes(33)),
        ("rounds above 32 bits", b"\2\1\0" + varint(2**32) + bytes(32)),
        ("rounds of 6 bytes", b"\2\1\0\x80\x80\x80\x80\x80\0" + bytes(32)),
        ("2^32 counts", varint(2**32) + bytes(40))], BAD)


@group("beginnings", "agreement.md#search-for-a-line", "engine")
def _() -> Tests:
    lines = ["sealane program 1", "name x"] + [f"line {i}" for i in range(70)] + [""]
    for first, width in ((0, 262144), (0, 64), (0, 1), (63, 1), (64, 1), (8, 4)):
        yield "", {"lines": lines, "first": first, "width": width}


@group("rows", "agreement.md#step-2-row-counts", "engine")
def _() -> Tests:
    def given(tables: list[tuple[int, list[int]]], own: list[int | None],
              *peers: list[int | None]) -> Fields:
        return {"tables": [{"bound": bound, "sum": parts} for bound, parts in tables],
                "own": own, "peers": [*peers]}
    three: list[tuple[int, list[int]]] = [(10, []), (20, []), (30, [0, 1])]
    one, two = three[:1], three[:2]
    yield "own", given(one, [5], [None])
    yield "the peer's", given(one, [None], [5])
    yield "both", given(one, [5], [5])
    yield "the bound", given(one, [None], [10])
    yield "no table", given([], [], [])
    yield "of different parties", given(two, [3, None], [None, 20])
    yield "sum, not stated", given(three, [3, None, None], [None, 4, None])
    yield "sum, stated", given(three, [3, None, 7], [None, 4, None])
    yield "sum, stated by both", given(three, [3, None, 7], [None, 4, 7])
    yield "three parties", given(three, [None] * 3, [3, None, None], [None, 4, 7])
    yield "sum of sums", given([*three, (60, [2, 2])], [1, 2, None, None], [None, None, None, 6])
    for comment, fields in (
            ("above the bound", given(one, [None], [11])),
            ("far above it", given(one, [None], [2**64 - 1])),
            ("two counts", given(one, [5], [6])),
            ("two peers", given(one, [None], [5], [6])),
            ("no count", given(one, [None], [None])),
            ("one of two is missing", given(two, [3, None], [None, None])),
            ("wrong sum", given(three, [3, None, None], [None, 4, 8])),
            ("wrong own sum", given(three, [3, None, 8], [None, 4, None])),
            ("sum above its bound", given(three, [3, None, None], [None, 4, 31])),
            ("two sums", given(three, [3, None, 7], [None, 4, 6])),
            ("sum of a missing count", given(three, [3, None, 7], [None, None, None])),
            ("0 and 1", given(one, [1], [0]))):
        yield comment, fields, "rows-differ"
    for n in (0, 1, 2, 4):
        yield "other number of counts", given(three, [1, 2, None], [None for _ in range(n)]), BAD
    yield "no rows", given(one, [None], [0]), OWN
    yield "one table has no rows", given(two, [3, None], [None, 0]), OWN


@group("job-hash", "plan-files.md#files-and-hashes", "plan")
def _() -> Tests:
    yield "", {"parts": PARTS}
    yield "other order", {"parts": PARTS[::-1]}
    yield "five empty files", {"parts": [blake3(b"")] * 5}


@group("instance", "agreement.md#step-3-the-instance", "engine")
def _() -> Tests:
    keys = [data("key 0"), data("key 1"), data("key 2")]
    for counts in ([], [5], [1, 2**32], [2**64 - 1, 0, 3]):
        for form in (b"\0\0", b"\0\1", b"\1\0"):
            yield "", {"job": data("job"), "counts": counts, "form": form, "keys": keys[:2]}
    yield "no keys", {"job": data("job"), "counts": [5], "form": b"\0\0", "keys": []}
    yield "three keys", {"job": data("job"), "counts": [5], "form": b"\0\0", "keys": keys}


@group("session", "agreement.md#step-3-the-instance", "engine")
def _() -> Tests:
    yield "example of transfers", {"instance": b"\1" * 32,
                                   "contributions": [b"\2" * 32, b"\3" * 32]}
    for n in (1, 2, 3):
        yield "", {"instance": data("instance"),
                   "contributions": [data(f"contribution {i}") for i in range(n)]}


@group("network", "agreement.md#step-1-the-job", "parties")
def _() -> Tests:
    for text in ("lan", "wan", "10us/1Mbps", "900us/900Mbps", "1ms/1Gbps", "20ms/100Mbps",
                 "900ms/90Mbps", "1s/100Gbps", "500us/2Gbps", "40ms/1Gbps", "10ms/10Gbps"):
        yield text, {"text": text}
    for text in ("", "LAN", "lan ", "500us/1Gbps", "40ms/100Mbps", "9us/1Gbps", "15ms/100Mbps",
                 "1000us/1Gbps", "1000ms/1Gbps", "2s/1Gbps", "20ms/1000Mbps", "20ms/150Mbps",
                 "20ms/200Gbps", "020ms/100Mbps", "20 ms/100Mbps", "20ms", "20ms/", "/100Mbps",
                 "20ms/100mbps", "20ms/0Mbps", "0ms/100Mbps", "20ms/100Mbps/", "20.0ms/100Mbps"):
        yield text, {"text": text}, BAD


# --------------------------------------------------------------------------------- transport


@group("hello", "frames.md#hello", "net")
def _() -> Tests:
    good: Fields = {"magic": MAGIC, "wire": WIRE, "from": 1, "to": 0, "parties": 2, "length": 5,
                    "text": b"0.1.0", "purpose": 0, "silence": 30000}

    def given(**changed: Any) -> Fields:
        return {"me": 0, "peer": 1, "parties": 2, "bytes": HELLO.pack(*(good | changed).values())}
    yield "example", given()
    for text in (b"", b"!", b"~" * 31):
        yield "text", given(text=text, length=len(text))
    yield "bytes behind the text", given(text=b"0.1.0" + b"\xff\0\n" * 8)
    for silence in (0, 1, 100, 2**32 - 1):
        yield "silence", given(silence=silence)
    for magic in (b"SEALANE\r", b"sealane\n", bytes(8), b"GET / HT"):
        yield "magic", given(magic=magic), BAD
    for length in (32, 255):
        yield "length", given(length=length), BAD
    for text in (b"0.1 0", b"0.1\0x", b"0.1.\x7f", b"0.1\xc3\xa9", b"\x200000"):
        yield "text", given(text=text), BAD
    yield "length beyond the text", given(length=6), BAD
    for wire in (0, WIRE - 1, WIRE + 1, WIRE << 8, 65535):
        yield "wire version", given(wire=wire), "wrong-version"
    for purpose in (1, 2, 3, 255):
        yield "purpose", given(purpose=purpose), BAD
    for sender in (0, 2, 255):
        yield "from", given(**{"from": sender}), "wrong-party"
    for to in (1, 2, 255):
        yield "to", given(to=to), "wrong-party"
    for parties in (0, 1, 3, 255):
        yield "parties", given(parties=parties), "wrong-party"
    yield "wire version before purpose", given(wire=10, purpose=1), "wrong-version"
    yield "purpose before parties", given(purpose=1, to=1), BAD
    yield "magic before wire version", given(wire=10, magic=bytes(8)), BAD
    yield "text before wire version", given(wire=10, text=b"0 1.0"), BAD


@group("frame-header", "frames.md#frames", "net")
def _() -> Tests:
    good = [(1, flag, 0, stamp, length) for flag in (0, 1) for stamp in (1, 2, 2**30)
            for length in (1, 131071, 131072)]
    good += [(2, 0, 0, 0, length) for length in (0, 1, 65535, 65536)]
    good += [(3, 0, 0, 0, 0), (4, 0, 0, 0, 0)]
    good += [(5, cause, 0, 0, length) for cause in (0, 1, 2) for length in (0, 1, 1023, 1024)]
    bad = [(1, 0, 0, 1, 0), (1, 1, 0, 1, 131073), (1, 1, 0, 1, 2**32 - 1), (1, 2, 0, 1, 1),
           (1, 255, 0, 1, 1), (1, 0, 1, 1, 1), (1, 0, 256, 1, 1), (1, 0, 0, 0, 1),
           (1, 0, 0, 2**30 + 1, 1), (1, 0, 0, 2**32 - 1, 1), (2, 1, 0, 0, 1), (2, 0, 1, 0, 1),
           (2, 0, 0, 1, 1), (2, 0, 0, 0, 65537), (2, 0, 0, 0, 2**32 - 1), (5, 3, 0, 0, 1),
           (5, 255, 0, 0, 1), (5, 0, 1, 0, 1), (5, 0, 0, 1, 1), (5, 0, 0, 0, 1025)]
    bad += [(tag, *rest) for tag in (3, 4)
            for rest in ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))]
    bad += [(tag, 0, 0, 0, 0) for tag in (0, 6, 9, 22, 128, 255)]
    for fields in good:
        yield "", {"bytes": FRAME.pack(*fields)}
    for fields in bad:
        yield "", {"bytes": FRAME.pack(*fields)}, BAD


@group("reason-sent", "frames.md#endings", "net")
def _() -> Tests:
    yield "", {"text": "reason"}
    yield "", {"text": ""}
    yield "controls", {"text": "a\nb\tc\0d\x7fe\x85f"}
    yield "directions", {"text": "a\u202eb\u200fc\u061cd\u2066e\ufefff"}
    yield "tags", {"text": "a\U000e0041b\U000e007fc"}
    yield "kept", {"text": "\u00e9 \u4e2d \U0001f600 \u200a \u2010 \u2027 \u2070"}
    for text in ("a" * 1024, "a" * 1025, "a" * 1023 + "\u00e9", "a" * 1022 + "\u00e9",
                 "a" * 1021 + "\U0001f600", "\u4e2d" * 400):
        yield "length", {"text": text}


@group("reason-received", "frames.md#endings", "net")
def _() -> Tests:
    for text in ("reason", "", "a\nb\x1b[31mc", "a\u202eb\u2028c\u2029d\u2060e\u206ff",
                 "\u00e9\u4e2d\U0001f600", "a\U000e0001b"):
        yield "", {"bytes": text.encode()}
    for wrong in (b"\xff", b"a\xc3", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x80"):
        yield "not UTF-8", {"bytes": wrong}, BAD


@group("server-name", "transport.md#tls", "net")
def _() -> Tests:
    for name, me, parties, code in (
            ("p1.sealane.invalid", 0, 2, None), ("p2.sealane.invalid", 0, 3, None),
            ("p0.sealane.invalid", 1, 2, None), ("p0.sealane.invalid", 0, 2, "wrong-party"),
            ("p2.sealane.invalid", 0, 2, "wrong-party"),
            ("p255.sealane.invalid", 0, 3, "wrong-party"), ("p01.sealane.invalid", 0, 2, BAD),
            ("p.sealane.invalid", 0, 2, BAD), ("p1.sealane.invalid.", 0, 2, BAD),
            ("p1.sealane", 0, 2, BAD), ("p-1.sealane.invalid", 0, 2, BAD), ("localhost", 0, 2, BAD),
            ("q1.sealane.invalid", 0, 2, BAD), ("p1x.sealane.invalid", 0, 2, BAD)):
        yield name, {"name": name, "me": me, "parties": parties}, code


KEY = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")


@group("key-text", "transport.md#keys", "identity")
def _() -> Tests:
    yield "RFC 8032", {"text": "ed25519:" + KEY.hex()}
    yield "", {"text": "ed25519:" + data("key 0").hex()}
    for text in (KEY.hex(), "ed25519:" + KEY.hex()[:-1], "ed25519:" + KEY.hex() + "0", "ed25519:",
                 "x25519:" + KEY.hex(), "ed25519-" + KEY.hex(), ""):
        yield "", {"text": text}, OWN


@group("key-file", "transport.md#keys", "identity")
def _() -> Tests:
    seed = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
    yield "RFC 8032", {"file": PKCS8 + seed}
    yield "", {"file": PKCS8 + data("seed")}
    for file in (seed, PKCS8 + seed[1:], PKCS8 + seed + b"\0", b"\x31" + (PKCS8 + seed)[1:],
                 PKCS8[:11] + b"\x71" + PKCS8[12:] + seed, b""):
        yield "", {"file": file}, OWN


@group("fingerprint", "transport.md#keys", "identity")
def _() -> Tests:
    yield from each("key", [("", key) for key in (KEY, data("key 0"), data("key 1"), bytes(32))])


@group("card", "transport.md#keys", "identity")
def _() -> Tests:
    for name, address in (("alice", "lab.example:7700"), ("_", "[::1]:1"),
                          ("B" * 64, "a-b.c_d:65535"),
                          ("x9", "127.0.0.1:443"), ("z", "h" * 253 + ":80")):
        yield "", {"name": name, "address": address, "key": KEY}
