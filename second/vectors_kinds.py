"""What each kind of `primitives.json.gz` computes (chapter 14): from the fields of `in` to `out`.

Byte strings are bytes here; a fault that a function raises is the result of an invalid test.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import agreement
import garbling
import keys
import link
import plan
import tls
import transfers
import yao
from adder import adder_tape
from curves import L, ed25519_public, multiply, ristretto_decode, ristretto_encode, ristretto_map
from encoding import Reader, listed, text_of, varint
from errors import Fault, need
from primitives import Aes128, H, blake3, gf_mul
from streams import Bulk, Coins, expand_public, expand_secret
from trio import Form, Trio, regroup

Fields = dict[str, Any]
Kind = Callable[[Fields], Fields]
KINDS: dict[str, Kind] = {}
CLASSES = {"full": garbling.FULL, "garbler": garbling.GARBLERS, "evaluator": garbling.EVALUATORS}
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def kind(function: Kind) -> Kind:
    """Register a kind under the name of its function."""
    KINDS[function.__name__.strip("_").replace("_", "-")] = function
    return function


def number(data: bytes) -> int:
    """The number of a block."""
    return int.from_bytes(data, "little")


def block(value: int) -> bytes:
    """The block of a number."""
    return value.to_bytes(16, "little")


def blocks(data: bytes) -> list[int]:
    """The numbers of neighbouring blocks."""
    return [number(data[i:i + 16]) for i in range(0, len(data), 16)]


# ------------------------------------------------------------------- hashes, fields and streams


@kind
def _poly_hash(i: Fields) -> Fields:
    value, powers = 0, link.key_powers(i["key"])
    for position, data in i["runs"]:
        value = link.hash_run(powers, value, position, data)
    return {"hash": block(value)}


@kind
def _column_hash(i: Fields) -> Fields:
    factors: list[int] = []
    for key in map(number, i["keys"]):
        factors.append(key)
        for _ in range(31):
            factors.append(gf_mul(factors[-1], key))
    column = number(i["column"])
    factors[0] = 1
    return {"hash": block(transfers.column_hash(column, factors[:len(i["column"]) // 16]))}


@kind
def _transpose(i: Fields) -> Fields:
    rows = transfers.transpose([number(column) for column in i["columns"]], i["rows"])
    return {"rows": b"".join(map(block, rows))}


@kind
def _digest(i: Fields) -> Fields:
    found = link.Digest(i["session"], i["from"], i["to"])
    for form, data in i["payload"]:
        found.update(data, form == "bulk")
    return {"digest": found.value()}


def draws_of(source: Coins, draws: list[Fields]) -> list[bytes]:
    """The bytes of all draws, in their order."""
    found: list[bytes] = []
    for draw in draws:
        if draw["op"] == "fork":
            found += draws_of(source.fork(draw["label"]), draw["draws"])
        elif draw["op"] == "enter":
            source = source.enter(draw["session"])
        else:
            found.append(getattr(source, draw["op"])(draw["label"]).read(draw["length"]))
    return found


def _expand(i: Fields) -> Any:
    expand = expand_public if i["stream"] == "public" else expand_secret
    return expand(i["key"], i["session"], i["label"])


@kind
def _expanded(i: Fields) -> Fields:
    stream = _expand(i)
    return {"bytes": [stream.read(n) for n in i["reads"]]}


@kind
def _bulk(i: Fields) -> Fields:
    stream = Bulk(_expand(i))
    return {"draws": [stream.draw(n) for n in i["draws"]], "position": stream.position}


# ----------------------------------------------------------------------- components of `trio`


def row_of(form: Form) -> tuple[int, int]:
    """Bits of a row of a component, and its bytes in whole words (chapter 5, Bulk)."""
    bits = form.elements if form.k is None else form.k
    return bits, (bits + 63) // 64 * 8


def words_of(component: list[int], form: Form) -> bytes:
    """A component in words, each row from a new one on."""
    bits, size = row_of(form)
    return b"".join(row.to_bytes(size, "little") for row in regroup(component, form.width, bits))


def component_of(words: bytes, form: Form) -> list[int]:
    """The reverse of `words_of`."""
    bits, size = row_of(form)
    rows = [number(words[i:i + size]) for i in range(0, len(words), size)]
    return regroup(rows, bits, form.width)


def form_of(i: Fields) -> Form:
    """The form of a tensor."""
    return Form(i["planes"], i["elements"], i["k"])


@kind
def _component(i: Fields) -> Fields:
    stream = Bulk(expand_secret(i["key"], i["session"], i["label"]))
    forms = [form_of(tensor) for tensor in i["draws"]]
    return {"draws": [words_of(form.draw(stream), form) for form in forms]}


@kind
def _pack(i: Fields) -> Fields:
    form = form_of(i)
    return {"message": form.message(component_of(i["words"], form))}


@kind
def _unpack(i: Fields) -> Fields:
    reader = SimpleNamespace(mesh=SimpleNamespace(read=lambda *_: i["message"]))
    form = form_of(i)
    return {"words": words_of(Trio._read(reader, 0, form, False), form)}    # type: ignore


# -------------------------------------------------------------------------- control messages


def whole(data: bytes, read: Callable[[Reader], Any]) -> Any:
    """A message that takes all of its bytes."""
    reader = Reader(data)
    fields = read(reader)
    reader.end()
    return fields


@kind
def _varint_(i: Fields) -> Fields:
    value = whole(i["bytes"], lambda reader: reader.varint(i["bits"]))
    return {"number": value, "encoded": varint(value)}


@kind
def _control_job(i: Fields) -> Fields:
    parts, pinned = whole(i["bytes"], agreement.read_job)
    reader = Reader(i["bytes"][160:])
    return {"parts": parts, "protocol": reader.string(), "parties": reader.list(reader.string),
            "network": reader.string(), "pooled": reader.flag(), "keys": pinned}


@kind
def _beginnings(i: Fields) -> Fields:
    ends = [min(i["first"] + p * i["width"], len(i["lines"])) for p in range(1, 64)]
    texts = ["".join(line + "\n" for line in i["lines"][:end]).encode() for end in ends]
    return {"message": listed([H("sealane beginning of a program 1", text, 16)
                               for text in texts])}


@kind
def _rows(i: Fields) -> Fields:
    tables = [plan.Rows(f"t{j}", table["bound"], table["sum"], 1)
              for j, table in enumerate(i["tables"])]
    merged = agreement.merge_rows(tables, [None] * len(tables), i["own"])
    for stated in i["peers"]:
        merged = agreement.merge_rows(tables, merged, stated)
    return {"counts": agreement.total_rows(tables, merged)}


@kind
def _network(i: Fields) -> Fields:
    agreement.check_network(i["text"])
    return {"k": yao.depth_of_trees(i["text"])}


# ------------------------------------------------------------------------- transport and frames


@kind
def _hello(i: Fields) -> Fields:
    silence = link.judge_hello(i["bytes"], i["me"], i["peer"], i["parties"])
    text = i["bytes"][14:14 + i["bytes"][13]].decode("ascii")
    return {"text": text, "silence": round(silence * 1000)}


@kind
def _reason_sent(i: Fields) -> Fields:
    shown = link.HIDDEN.sub(" ", i["text"]).encode()[:link.REASON_BYTES]
    return {"bytes": shown.decode("utf-8", "ignore").encode()}


@kind
def _server_name(i: Fields) -> Fields:
    name = i["name"].encode()
    peer = tls._named_party(tls.vector(2, b"\0" + tls.vector(2, name)))
    if peer == i["me"] or peer >= i["parties"]:
        raise Fault("the name of no other party", "wrong-party")
    return {"peer": peer}


@kind
def _key_file(i: Fields) -> Fields:
    seed = keys.seed_of_file(i["file"])
    public = ed25519_public(seed)
    return {"seed": seed, "public": public,
            "spki": bytes.fromhex("302a300506032b6570032100") + public}


@kind
def _fingerprint(i: Fields) -> Fields:
    groups = struct.unpack("<6Q", H("sealane 2026 fingerprint of a public key", i["key"], 48))
    return {"text": " ".join(f"{group % 100000:05}" for group in groups)}


@kind
def _card(i: Fields) -> Fields:
    text = f"sealane:{i['name']}@{i['address']}/ed25519:{i['key'].hex()}"
    value = int.from_bytes(H("sealane 2026 check of a contact card", text.encode())[:5], "big")
    return {"text": text + "/" + "".join(ALPHABET[value >> 5 * j & 31]
                                         for j in reversed(range(8)))}


# ------------------------------------------------------------------------- oblivious transfer


def side(i: Fields, which: type = transfers.Transfers, k: int = 4) -> Any:
    """One side of transfers, without a mesh; its leaves are kept in `taken`."""
    sends = which is transfers.Sender
    ends = i.get("sender", 0), i.get("receiver", 1)
    made = which(SimpleNamespace(me=ends[not sends]), ends[sends], i.get("session", b""), k, sends)
    made.taken = []
    made._add_tree = made.taken.extend
    return made


@kind
def _ristretto_multiply(i: Fields) -> Fields:
    point = ristretto_decode(i["point"])
    assert point is not None
    return {"point": ristretto_encode(multiply(number(i["scalar"]) % L, point))}


@kind
def _base_key(i: Fields) -> Fields:
    point = transfers.decode_point(i["point"], 0)
    return {"key": side(i)._base_key(i["transcript"], i["index"], i["choice"], point)}


@kind
def _tree_deal(i: Fields) -> Fields:
    receiver = side(i, transfers.Receiver, len(i["zeros"]))
    message = receiver._deal(i["zeros"], i["ones"])
    return {"leaves": b"".join(receiver.taken), "message": message}


@kind
def _tree_choose(i: Fields) -> Fields:
    sender = side(i, transfers.Sender, len(i["keys"]))
    need(sender._choose(i["missing"], i["keys"], transfers.halves(i["message"])),
         "the check of a tree fails", "peer-deviated")
    return {"leaves": b"".join(sender.taken)}


# ---------------------------------------------------------------------------------- garbling


def machine(i: Fields, which: type = garbling.Machine, *more: Any) -> Any:
    """A garbler, evaluator, or what both share."""
    return which(number(i.get("seed", b"")), i.get("garbler", 0), i.get("evaluator", 1), *more)


def _gate(i: Fields, found: Any) -> tuple[Any, ...]:
    """The arguments of a gate: its class, both keys of its hash, and labels."""
    keys = found.keys(i["call"], i["gate"], i["lane"])
    return CLASSES[i["class"]], keys, number(i["a"]), number(i["b"])


def garbler(i: Fields, written: list[bytes]) -> Any:
    """A garbler that keeps what it writes."""
    return machine(i, garbling.Garbler, number(i["delta"]), written.append)


def evaluator(i: Fields) -> Any:
    """An evaluator, without tables."""
    return machine(i, garbling.Evaluator, None)


@kind
def _and_garble(i: Fields) -> Fields:
    made = garbler(i, [])
    label, table = made.garble(*_gate(i, made))
    return {"table": b"".join(map(block, table)), "label": block(label)}


@kind
def _tape(i: Fields) -> Fields:
    try:
        found = plan.read_tape(i["bytes"], i["line"])
    except (struct.error, ValueError, IndexError) as error:
        raise Fault(str(error), "own") from None
    return {"hash": blake3(i["bytes"]), "batches": [list(batch) for batch in found.batches],
            "outputs": found.outputs, "known": found.known}


@kind
def _garble(i: Fields) -> Fields:
    written: list[bytes] = []
    head, lanes = struct.unpack_from("<9I", i["tape"]), i["lanes"]
    found = plan.read_tape(i["tape"], line_of(head, i["tape"]))
    labels = blocks(i["labels"])
    planes = [labels[first:first + lanes] for first in range(0, len(labels), lanes)]
    outputs = garbler(i, written).run(found, planes, lanes, i["call"])
    return {"tables": b"".join(written),
            "outputs": b"".join(block(label) for plane in outputs for label in plane)}


def line_of(head: tuple[int, ...], data: bytes) -> Fields:
    """The line of a tape, from its first nine numbers."""
    return {"inputs": head[0], "outputs": head[6], "xors": head[3], "ands": head[4],
            "functions": head[8], "depth": head[2], "hash": blake3(data).hex()}


@kind
def _adder(i: Fields) -> Fields:
    ends = [0, *(ands for _, ands in adder_tape(i["n"]).batches)]
    return {"levels": [after - before for before, after in pairwise(ends) if after > before]}


# ------------------------------------------------------------------- kinds of one expression

SHORT: dict[str, Kind] = {
    # Hashes, fields and streams
    "hash": lambda i: {"hash": blake3(i["data"])},
    "hash-context": lambda i: {"bytes": H(i["context"], i["data"], i["length"])},
    "aes": lambda i: {"block": Aes128(i["key"]).encrypt(i["block"])},
    "gf-mul": lambda i: {"product": block(gf_mul(number(i["a"]), number(i["b"])))},
    "coins": lambda i: {"bytes": draws_of(Coins(i["seed"]), i["draws"])},
    # Components of `trio`
    "drawn-number": lambda i: {"number": struct.unpack(">Q", i["bytes"])[0] & (1 << i["bits"]) - 1},
    # Control messages
    "control-rows": lambda i: {"rows": whole(i["bytes"], agreement.read_rows)},
    "control-instance": lambda i: (
        dict(zip(("hash", "contribution"), whole(i["bytes"], agreement.read_instance)))),
    "control-farewell": lambda i: (
        dict(zip(("sent", "rounds", "digest"), whole(i["bytes"], agreement.read_farewell)))),
    "job-hash": lambda i: {"job": H("sealane job 2", b"".join(i["parts"]))},
    "instance": lambda i: {"instance": agreement.instance_hash(
        i["job"], i["counts"], i["keys"], i["form"])},
    "session": lambda i: {"session": agreement.session_of(i["instance"], i["contributions"])},
    # Transport and frames
    "frame-header": lambda i: (
        dict(zip(("tag", "flag", "stamp", "length"), link.check_header(i["bytes"])))),
    "reason-received": lambda i: {"text": link.HIDDEN.sub(" ", text_of(i["bytes"], "a reason"))},
    "key-text": lambda i: {"key": keys.key_of_text(i["text"])},
    # Oblivious transfer
    "ristretto-decode": lambda i: (
        {"bytes": ristretto_encode(transfers.decode_point(i["bytes"], 0))}),
    "ristretto-map": lambda i: {"point": ristretto_encode(ristretto_map(i["bytes"]))},
    "base-point": lambda i: (
        {"point": ristretto_encode(side(i)._blinding(i["index"], i["choice"], i["other"]))}),
    "base-transcript": lambda i: {"transcript": side(i)._transcript(i["point"], i["points"])},
    "check-key": lambda i: {"key": H("sealane 6 ot check key", i["digest"], 16)},
    "check-values": lambda i: (
        {"values": side(i)._check_values(i["digest"], [number(x) for x in i["hashes"]])}),
    # Garbling
    "tweak": lambda i: (
        {"tweak": block(machine(i).key(i["call"], i["part"]) ^ i["gate"] ^ i["lane"] << 64)}),
    "gate-hash": lambda i: {
        "hash": block(garbling.gate_hash(number(i["seed"]) ^ number(i["tweak"]), number(i["x"])))},
    "and-evaluate": lambda i: {"label": block(evaluator(i).evaluate(
        *_gate(i, evaluator(i)), tuple(blocks(i["table"]))))},
    "decode-pairs": lambda i: {
        "pairs": garbler(i, []).decoding([*map(number, i["labels"])], i["call"])},
    "decode-hashes": lambda i: {
        "hashes": evaluator(i).decoding([*map(number, i["labels"])], i["call"])},
    "decode": lambda i: {"bits": garbling.bits_of(i["pairs"], i["hashes"])},
    "pieces": lambda i: (
        {"pieces": [[xors.start, xors.stop, ands.start, ands.stop]
                    for _, xors, ands in garbling.pieces(i["batches"])]}),
}
KINDS |= SHORT
