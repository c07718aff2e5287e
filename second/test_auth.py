"""Tests of chapter 20: its example, products, and sizes of batches."""

from __future__ import annotations

import json
import struct
import unittest
from collections import Counter

from agreement import FILES
from auth import Evaluated, Garbled
from errors import Fault
from link import WIRE
from plan import Tape
from primitives import H, blake3
from products import (
    PRODUCTS,
    WINDOW,
    Batch,
    Products,
    batch_size,
    batches_of,
    bits_behind,
    block,
    bucket_of,
    fewest,
    mac_sum,
)
from streams import expand_public
from vectors import FOLDER
from vectors_auth import Made, Tossed, dealt
from vectors_sessions import Jobs, Session, learned, session_of

SID = bytes.fromhex("60189c1947184fee364caae3e877577e7514fd834ad0571deb35d4e270ddfc17")
SEED = bytes(range(16))


def row(first):
    """A block of 16 bytes that follow each other."""
    return bytes(range(first, first + 16))


def number(first):
    """Its number."""
    return block(row(first))


OFFSETS = [number(0x20) & ~3 | 1, number(0x40) & ~3 | 3]
ONE_AND = Tape(2, 5, 1, [], [(2, 3, 4, 5)], [(0, 1)], [4], bytes(1))


COMMITMENTS = ("45d80a8ebdabde0734ec263aa9332fc88b01bdf3ee4963eeee5eb7e256849ca1",
               "c5507cd3edc95656a16a06bff892b6cd260aa7e79168933b0fc8c0a720af7a53")
OPENING = ("519179abd9186e50005a5983a0ab45a1bd497c5a19c3b4e4183ebdb2a8929da9"
           "e6b4a4bf962f24a3253d67c067bfef8a3bb22aa83415f775adffa3c508f91930")
COIN = "8bf6d418de4273b00596ea2bda77ae8cbcceb148daf287419ca1aa2b26b7486b"
HASH, SUM = "587eb817daa6a175f5b33ef5eafd1cf9", "d82e8f8bba59c431ee256ba887a16fbf"
ROW, PART = "05859b1bed78", "5bccf325d2b3"
AND = (1, "1036aef01efa479a77d6d2114f08f61a", "85a0e3e0fd4df1362dbffa7a03fa1d2e",
       "d8e1a279d3ba0e3b9b57ddd39390b1ee")
EVALUATED = "f9c0805af79f281cb37ef7f8bfbd9fc1", "636162636465666768696a6b6c6d6e6f"


def hexed(value):
    """A block in hexadecimal."""
    return value.to_bytes(16, "little").hex()


class Example(unittest.TestCase):
    """The values of the text."""

    def test_coin(self):
        """Both toss the coin of the set-up."""
        given = {"session": SID, "name": "auth: set-up", "number": 0,
                 "seeds": [bytes(32), bytes([1]) + bytes(31)]}
        run = Tossed(given)
        sent = run.sent()
        self.assertEqual(sent[0][0].hex(), COMMITMENTS[0])
        self.assertEqual(sent[1][0].hex(), COMMITMENTS[1])
        self.assertEqual(sent[0][1].hex(), OPENING)
        self.assertEqual(run.found[0].hex(), COIN)
        self.assertEqual(expand_public(run.found[0], SID, "auth: hash").read(16).hex(), HASH)

    def test_sum(self):
        """A sum of three blocks under the coin."""
        blocks = [number(0x10), number(0x30), number(0x51)]
        found = mac_sum(SID + bytes.fromhex(COIN), 1, True, 7, b"\4", blocks)
        self.assertEqual(hexed(found), SUM)

    def test_row(self):
        """A row of the garbler."""
        goods = Products.__new__(Products)
        goods.delta, goods.garbles, goods.seed = OFFSETS[0], True, block(SEED)
        batch = Batch.__new__(Batch)
        batch.of, batch.bucket, batch.n, batch.number = goods, 2, 3, 3
        item = [number(m) | bit | number(k) << 128 for m, bit, k in (
            (0x70, 1, 0x60), (0x90, 0, 0x80), (0xb0, 1, 0xa0))]
        batch.bits = [0] * 9 + [0, 0, item[0], 0, 0, item[1], 0, 0, item[2]]
        rows, parts = batch.rows()
        self.assertEqual(rows[5].to_bytes(6, "little").hex(), ROW)
        self.assertEqual(parts[5].to_bytes(6, "little").hex(), PART)

    def test_and(self):
        """An AND at both parties."""
        a, b = number(0x10), number(0x30)
        masks = [number(0x50) | 1 | number(0x60) << 128, number(0x70) | number(0x80) << 128]
        material = [(number(0x90) | 1 | number(0xa0) << 128,
                     number(0xb0) | 1 | number(0xc0) << 128)]
        walk = Garbled(block(SEED), OFFSETS[0], material)
        walk.run(ONE_AND, [[a | masks[0] << 128], [b | masks[1] << 128]], 1, 1)
        (p, first, second), = walk.table
        self.assertEqual((p, hexed(first), hexed(second), hexed(walk.labels[0])), AND)
        macs = [number(0xd0) | number(0xe0) << 128, number(0xf0) | 1 | number(0xe0) << 128]
        walk = Evaluated(block(SEED), OFFSETS[1], material, [(p, first, second)])
        walk.run(ONE_AND, [[a ^ OFFSETS[0] | macs[0] << 128], [b | macs[1] << 128]], 1, 1)
        self.assertEqual((hexed(walk.labels[0]), hexed(walk.macs[0])), EVALUATED)


class Makers(unittest.TestCase):
    """Batches."""

    def test_products(self):
        """What a batch makes are products, with MACs."""
        for buckets, n in ((2, 1), (3, 5), (8, 27)):
            given = {"session": SID, "nonce": SEED * 2, "seeds": [SEED * 2, bytes(32)],
                     "dealt": struct.pack("<I", n), "number": 2, "buckets": buckets, "products": n}
            offsets, _ = dealt(given["dealt"], 0)
            made = [[data[i:i + 16] for i in range(0, len(data), 16)] for data in Made(given).found]
            for g in range(n):
                values = []
                for which in range(3):
                    at = 2 * n * which + g
                    macs = [block(blocks[at]) for blocks in made]
                    keys = [block(blocks[at + n]) for blocks in made]
                    for party in (0, 1):
                        self.assertEqual(macs[party], keys[1 - party] ^ (
                            offsets[1 - party] if macs[party] & 1 else 0))
                    values.append((macs[0] ^ macs[1]) & 1)
                self.assertEqual(values[2], values[0] & values[1])

    def test_sizes(self):
        """The table of the text."""
        self.assertEqual([*map(fewest, range(3, 9))], [524288, 5161, 512, 128, 51, 27])
        for lacking, n in ((1, 27), (27, 27), (44, 44), (46, 51), (52, 52)):
            self.assertEqual(batch_size(lacking, 4), n)
        for n, bucket in ((27, 8), (50, 8), (51, 7), (524287, 4), (524288, 3)):
            self.assertEqual(bucket_of(n), bucket)
        self.assertRaises(Fault, bucket_of, 26)
        for n, batches in ((0, [0]), (1048575, [1048575]), (1572866, [524289, 524289, 524288])):
            made = batches_of(Counter({PRODUCTS: n, 0: 1000}))
            self.assertEqual([batch[PRODUCTS] for batch in made], batches)
            self.assertEqual(sum(batch[0] for batch in made), 1000)

    def test_bits_behind(self):
        """Bits behind the last one are found, and no others."""
        bits_behind(b"\x07", 3, 0)
        for data in (b"\x08", b"\x80", b"\x87"):
            self.assertRaises(Fault, bits_behind, data, 3, 0)
        self.assertEqual(WINDOW, 2**48 - 1)


def as_auth(job):
    """A job of `yao` of the vectors, as one of `auth`: the same tapes on other wires."""
    files = dict(job["files"])
    protocol = json.loads(files["protocol.json"])
    protocol["profile"] |= {"name": "auth", "version": 2}
    protocol["setting"]["timing"] = "tile-by-tile"
    lines = []
    for line in map(json.loads, files["plan.jsonl"].splitlines()):
        if "plan" in line:
            line["plan"] |= {"protocol": "auth", "setting": protocol["setting"]}
        if "value" in line:
            line["value"]["domain"]["authenticated"] = True
        if line.keys() & {"segment", "result"} and "step" in lines[-1]:
            lines.append({"step": "settle"})
        if "segment" in line:
            line["segment"]["refill"] = 7
        if "result" in line:
            line["result"]["by_tile"] = False
        if "reveal" not in line.get("step", ()):
            lines.append(line)
    files["protocol.json"] = json.dumps(protocol)
    files["plan.jsonl"] = "\n".join(map(json.dumps, lines)) + "\n"
    parts = {name: blake3(files[name].encode()) for name in FILES}
    whole = H("sealane job 2", b"".join(parts.values())).hex()
    files["job.json"] = json.dumps({"wire": WIRE, "job": whole, "parts": {
        name: part.hex() for name, part in parts.items()}})
    return job | {"files": files}


class Sessions(unittest.TestCase):
    """Both parties in memory, on plans of `yao` with settlements."""

    def play(self, name, rows, drawn=""):
        """Run a job; the results of both are those of `yao`, but one of drawn numbers."""
        jobs = Jobs(FOLDER)
        given = session_of(jobs, name, rows, 0)
        wanted = Session(jobs, given)
        jobs.content[name] = as_auth(jobs.content[name])
        jobs.found.clear()
        run = Session(jobs, given)
        results = [[{name: numbers for name, numbers in learned(found).items() if name != drawn}
                    for found in each.found] for each in (run, wanted)]
        self.assertEqual(*results)
        return run

    def test_an_and_takes_what_the_text_says(self):
        """Bytes of a run of one tape with eight ANDs, after 27 products in buckets of 8."""
        run = self.play("yao-ot-wan", [])
        transfers = 3 * 8 * 27 + 8 + 8
        extension = 240 * ((transfers + 127) // 128 + 1) + 80
        both = (96 + 8256 + 8224 + extension + 32 + 6 * 216 + 27 + 64 + 128
                + (7 * 27 + 7) // 8 + 16 + 2 + 16 + 1)
        sent = [run.meshes[0].sent[1], run.meshes[1].sent[0]]
        self.assertEqual(sent, [both + 32 * 8 + 1 + 48 + 32 + 1 + 16,
                                both + 3 + 48 + 32 + 1 + 16])

    def test_tiles(self):
        """Tiles, carries, a scan, and settlements of each tile."""
        self.play("yao-ot-tiles", [7], "result_7")


if __name__ == "__main__":
    unittest.main()
