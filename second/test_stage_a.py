"""Tests: vectors of the standards, and every example with bytes in chapters 1 to 7."""

from __future__ import annotations

import hashlib
import threading
import unittest
from contextlib import contextmanager

import agreement
import errors
import link
from agreement import Job, instance_hash
from curves import (
    BASE,
    L,
    ed25519_public,
    ed25519_sign,
    ed25519_verify,
    multiply,
    ristretto_decode,
    ristretto_encode,
    ristretto_map,
    x25519,
)
from encoding import Reader, varint
from keys import key_of_text, seed_of_file
from link import Digest, check_header, hash_run, key_powers, make_hello
from plan import Rows
from primitives import Aes128, Blake3, Gcm, H, blake3, gf_mul
from streams import Bulk, Coins, expand_public, expand_secret

unhex = bytes.fromhex
COUNT = bytes(range(32))
SESSION = bytes(range(32, 64))
RFC_8032_1 = unhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")


def settle(mesh):
    """Compare digests with all peers."""
    for _ in mesh.settle():
        mesh.flush()


class Case(unittest.TestCase):
    """A test with faults."""

    @contextmanager
    def fault(self, code):
        """The block raises a fault of this code."""
        with self.assertRaises(errors.Fault) as raised:
            yield
        self.assertEqual(raised.exception.code, code)


class Primitives(Case):
    """Vectors of the standards."""

    def test_aes(self):
        """FIPS 197, appendix C.1."""
        block = Aes128(bytes(range(16))).encrypt(unhex("00112233445566778899aabbccddeeff"))
        self.assertEqual(block.hex(), "69c4e0d86a7b0430d8cdb78070b4c55a")

    def test_gcm(self):
        """Test case 4 of the GCM submission: 60 bytes of text, 20 bytes of other data."""
        key, nonce = unhex("feffe9928665731c6d6a8f9467308308"), unhex("cafebabefacedbaddecaf888")
        text = unhex("d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
                     "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39")
        extra = unhex("feedfacedeadbeeffeedfacedeadbeefabaddad2")
        sealed = Gcm(key).seal(nonce, text, extra)
        self.assertEqual(sealed[-16:].hex(), "5bc94fbc3221a5db94fae95ae7121a47")
        self.assertEqual(Gcm(key).open(nonce, sealed, extra), text)
        self.assertIsNone(Gcm(key).open(nonce, sealed, b""))

    def test_blake3(self):
        """Examples of chapter 1, and the published vectors of 1024 and 1025 bytes."""
        self.assertEqual(blake3(b"").hex(), "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7"
                                            "cc9a93cae41f3262")
        self.assertEqual(H("sealane 3 session", b"").hex(),
                         "86c4296c3da18592486e5bbdd7c531951e8b3d09f74d1d06d1abb3e75d5bdf7d")
        data = bytes(i % 251 for i in range(1025))
        self.assertEqual(blake3(data[:1024]).hex()[:16], "42214739f095a406")
        self.assertEqual(blake3(data).hex()[:16], "d00278ae47eb27b3")

    def test_blake3_offsets(self):
        """Offsets change nothing."""
        data = bytes(i % 251 for i in range(5000))
        self.assertEqual(Blake3(data).output(200)[70:], Blake3(data).output(130, 70))

    def test_x25519(self):
        """RFC 7748, sections 5.2 (one iteration) and 6.1."""
        nine = (9).to_bytes(32, "little")
        self.assertEqual(x25519(nine, nine).hex(),
                         "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079")
        alice = unhex("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a")
        self.assertEqual(x25519(alice, nine).hex(),
                         "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a")

    def test_ed25519(self):
        """RFC 8032, section 7.1, test 1."""
        public = ed25519_public(RFC_8032_1)
        self.assertEqual(public.hex(),
                         "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
        signature = ed25519_sign(RFC_8032_1, b"")
        self.assertEqual(signature.hex(), "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e0"
                         "65224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a1"
                         "00b")
        self.assertTrue(ed25519_verify(public, b"", signature))
        self.assertFalse(ed25519_verify(public, b"x", signature))

    def test_ristretto(self):
        """RFC 9496, A.1 (multiples of the generator) and A.3 (the map)."""
        self.assertEqual(ristretto_encode(BASE).hex(), "e2f2ae0a6abc4e71a884a961c500515f58e30b6a"
                         "a582dd8db6a65945e08d2d76")
        self.assertEqual(ristretto_encode(multiply(L, BASE)), bytes(32))
        label = b"Ristretto is traditionally a short shot of espresso coffee"
        point = ristretto_encode(ristretto_map(hashlib.sha512(label).digest()))
        self.assertEqual(point.hex(), "3066f82a1a747d45120d1740f14358531a8f04bbffe6a819f86dfe50f4"
                         "4a0a46")
        decoded = ristretto_decode(point)
        self.assertEqual(ristretto_encode(decoded), point)
        self.assertIsNone(ristretto_decode(b"\1" + bytes(31)))

    def test_field(self):
        """Examples of chapter 4."""
        k = 0x0123456789ABCDEFFEDCBA9876543210
        self.assertEqual(gf_mul(1 << 127, 2), 0x87)
        self.assertEqual(gf_mul(k, k), 0x55D14FC33DB9278AF470EE629C18862B)


class Streams(Case):
    """Examples of chapter 5."""

    def test_coins(self):
        """Coins of a run."""
        coins = Coins(COUNT)
        self.assertEqual(coins.public("session").read(32).hex(),
                         "d84badea3ad78118bcf2d9491f8fad666354e5175d74d7a8bcfe5b556046348d")
        self.assertEqual(coins.enter(SESSION).seed.hex(),
                         "c9b122fe5d355cec04a72029b268ba31fe84fa692f3af5f5bf7e3dc35a0ff714")
        self.assertEqual(coins.enter(SESSION).fork("local work").seed.hex(),
                         "43c958fc43986556bc28fa91c3059ccc4c9dfa912dc6df97689dd502814f31ca")
        self.assertEqual(coins.enter(SESSION).secret("trio: key").read(32).hex(),
                         "8a371c2c8e373fde1ad72a5fcafb7ed38959a5a5fa8d885c00ff36b7eed282ea")

    def test_bulk(self):
        """Both examples of bulk streams."""
        hashes = expand_public(COUNT, SESSION, "yao: hash")
        self.assertEqual(hashes.read(16).hex(), "4f3c2f464bb80ca83212edc94170d612")
        for first, block in ((1, "1c6291b6b3f5c1a229946889c0fa629d"),
                             (33, "3968790a03a62abe5e4c3a3ea0ee18c6"),
                             (289, "cba82b24da1eaeac9dcb440eaa4001da")):
            bulk = Bulk(expand_public(COUNT, SESSION, "yao: inputs of the garbler"))
            self.assertEqual(bulk.draw(first)[:16].hex(), "bf56234b190bf75e91c690040a4d7168")
            self.assertEqual(bulk.draw(1).hex(), block)
        trio = Bulk(expand_secret(COUNT, SESSION, "trio: zero shares of bits"))
        self.assertEqual(trio.draw_rows(3, 5), [0x15, 0x01, 0x0A])
        self.assertEqual(trio.position, 32)


def fingerprint(key):
    """The six groups by which people compare keys; no party needs them."""
    d = H("sealane 2026 fingerprint of a public key", key, 48)
    groups = [int.from_bytes(d[8 * i:8 * i + 8], "little") % 100000 for i in range(6)]
    return " ".join(f"{group:05}" for group in groups)


def card_check(text):
    """CHECK of a card, over the text before it; no party needs it."""
    number = int.from_bytes(H("sealane 2026 check of a contact card", text.encode())[:5], "big")
    return "".join("0123456789abcdefghjkmnpqrstvwxyz"[number >> 5 * i & 31]
                   for i in reversed(range(8)))


class Keys(Case):
    """Examples of chapter 2."""

    def test_key(self):
        """Fingerprint, card and file of the key of RFC 8032, section 7.1, test 1."""
        key = ed25519_public(RFC_8032_1)
        self.assertEqual(fingerprint(key), "85648 40775 05067 70179 20156 39476")
        text = "ed25519:" + key.hex()
        self.assertEqual(card_check("sealane:alice@lab.example:7700/" + text), "jc3rq72d")
        self.assertEqual(key_of_text(text), key)
        file = unhex("302e020100300506032b657004220420") + RFC_8032_1
        self.assertEqual(seed_of_file(file), RFC_8032_1)


class Encodings(Case):
    """Examples of chapters 1, 3 and 4."""

    def test_varints(self):
        """The table of chapter 1, and numbers that are too long."""
        for number, text in ((0, "00"), (127, "7f"), (128, "8001"), (300, "ac02"),
                             (10192, "d04f"), (2**32 - 1, "ffffffff0f"),
                             (2**64 - 1, "ffffffffffffffffff01")):
            self.assertEqual(varint(number).hex(), text)
            self.assertEqual(Reader(unhex(text)).varint(), number)
        self.assertEqual(Reader(unhex("8000")).varint(), 0)
        for bits, text in ((32, "ffffffff1f"), (32, "808080808000"), (64, "80" * 10 + "00"),
                           (64, "ff" * 9 + "02"), (64, "80")):
            with self.fault("malformed-message"):
                Reader(unhex(text)).varint(bits)

    def test_hello(self):
        """The hello of chapter 3, with its software."""
        mine = make_hello(1, 0, 2, 30.0)
        first = f"5345414c414e450a{link.WIRE:02x}00010002"
        self.assertEqual(mine[:13].hex() + mine[45:].hex(), first + "0030750000")
        example = unhex(first + "05302e312e30" + 26 * "00" + "0030750000")
        self.assertEqual(link.judge_hello(example, 0, 1, 2), 30.0)
        for place, code in ((0, "malformed-message"), (8, "wrong-version"), (10, "wrong-party"),
                            (45, "malformed-message"), (13, "malformed-message")):
            wrong = bytearray(example)
            wrong[place] ^= 0x42
            with self.assertRaises(errors.Fault) as raised:
                link.judge_hello(bytes(wrong), 0, 1, 2)
            self.assertEqual(raised.exception.code, code)

    def test_frames(self):
        """Headers of chapter 3, and headers outside its table."""
        for text in ("020000000000000008000000", "010100000100000011000000",
                     "030000000000000000000000", "040000000000000000000000",
                     "050100000000000006000000"):
            check_header(unhex(text))
        for text in ("010100000000000011000000", "010000000100000000000000",
                     "010000000100000001000200", "030000000000000001000000",
                     "050300000000000006000000", "060000000000000000000000",
                     "020000000000000001000100", "010200000100000011000000",
                     "010101000100000011000000", "010100000100004011000000"):
            with self.fault("malformed-message"):
                check_header(unhex(text))

    def test_poly_hash(self):
        """The table of chapter 4."""
        for runs, value in ((((0, b"\1"),), "974a6180614dbb91411207f64c0afc34"),
                            (((0, bytes(i % 256 for i in range(2049))),),
                             "7bc09b11da766374533f549a2f5970a4"),
                            (((2, b"cdef"),), "e0d4bb66c399fb8390250b54003d26e4"),
                            (((2, b"cdef"), (8, b"x")), "1247f5ccdca16303216729019cc58ad5")):
            powers, found = key_powers(unhex("1032547698badcfeefcdab8967452301")), 0
            for position, data in runs:
                found = hash_run(powers, found, position, data)
            self.assertEqual(found.to_bytes(16, "little").hex(), value)

    def test_digests(self):
        """The digests of chapter 4."""
        session = unhex("125f5a60d3612189e40cb4b7c5eb777ffdffb8d00c64b0923f7c369ad509e8e9")
        digest = Digest(session, 1, 0)
        digest.update(b"\0", False)
        self.assertEqual(digest.value().hex(), FAREWELL_DIGEST)
        digest = Digest(session, 0, 1)
        self.assertEqual(digest.value().hex()[:16], "4fccc741097247f4")
        digest.update(b"ab", False)
        digest.update(b"cd", True)
        digest.value()
        digest.update(b"ef", True)
        digest.update(b"gh", False)
        self.assertEqual(digest.value().hex(), "23d227c80f839d77cc584fa2cb811ed0f4b615595df680df"
                                               "4eee6290ec6887f1")


FAREWELL_DIGEST = "b25e068d9eed5d50f33ef7feec4945ef73525eca2e8195b4b77edab49372ee9f"
PARTS = """626b3bbefc401984a0c7291cb94cd8873bc2beed66e9d5ca57ff8a800a9fbeb1
03a0a812232116d93f000cd55cc7b2b307b0db0aed807f6651abee4e35a9c54f
8fdfba5e0b3e94af259c682d8b8a41f7bf0836b43f87da14517e0215c44dd46a
525c1a62b4813b3db2714afde40ad8d258622dcabcba25dbe90e89a05fdbe421
74b46ac01b68172f956a0b92e53989fd77a6c5d3b4bad71564d359edacb9b984"""
PROGRAM = """sealane program 1
name test
party a
party b
rows t <= 100
rows u <= 9
rows both = t + u
input x : a u8[t] in 0..255
input y : b fixed4.8[u, 3] in -0.5..0.5 as amount columns "c", "d"
main {
}
"""
PLAN = """{"plan":{"version":3,"flow":1}}
{"rows":{"name":"t","bound":100,"sum":[],"tile":8}}
{"rows":{"name":"u","bound":9,"sum":[],"tile":8}}
{"rows":{"name":"both","bound":109,"sum":[0,1],"tile":8}}
{"result":{}}
{"plan":{"version":3,"flow":1}}
{"rows":{"name":"t","bound":100,"sum":[],"tile":8}}
"""
TABLES = [Rows("t", 100, [], 8), Rows("u", 9, [], 8), Rows("both", 109, [0, 1], 8)]


class Agreement(Case):
    """Examples of chapter 6."""

    def test_hashes(self):
        """Job, instance and session of the example."""
        parts = unhex(PARTS)
        self.assertEqual(blake3(b'"lan"\n'), parts[32:64])
        job = H("sealane job 2", parts)
        self.assertEqual(job.hex(),
                         "47062b2cf90e7d41b55d6b63aed6766dc665718194faba715dd6bff7cd987ae8")
        instance = instance_hash(job, [5], [])
        self.assertEqual(instance.hex(),
                         "54d99e935821a00b654c5e58583efcbeefe6f99d8cb09946b32af7a3262f84bc")
        contributions = [
            unhex("c49cba3d5bf85bb5f7c788297faa02ebb5533bd076898da975e2d0f9add00e82"),
            unhex("02be74a21334026a15d1e1d6e3c4abea8965fe73f720e0fd0ebb21c07f6ade7e")]
        self.assertEqual(agreement.session_of(instance, contributions).hex(),
                         "125f5a60d3612189e40cb4b7c5eb777ffdffb8d00c64b0923f7c369ad509e8e9")

    def test_messages(self):
        """The first message, row counts, and the farewell."""
        job = Job.__new__(Job)
        job.parts = [unhex(part) for part in PARTS.split()]
        job.protocol, job.parties, job.network = "clear", ["clinic", "lab"], "lan"
        self.assertEqual(agreement.job_message(job, [])[160:].hex(),
                         "05636c6561720206636c696e6963036c6162036c616e0000")
        reader = Reader(agreement.job_message(job, []))
        agreement.judge_job(job, [], *agreement.read_job(reader))
        reader.end()
        self.assertEqual(agreement.read_rows(Reader(unhex("010105"))), [5])
        self.assertEqual(agreement.read_rows(Reader(unhex("0100"))), [None])
        message = agreement.farewell_message([1, 0], 1, unhex(FAREWELL_DIGEST))
        self.assertEqual(message.hex(), "02010001" + FAREWELL_DIGEST)
        self.assertEqual(agreement.farewell_message([0, 10192], 5, b"").hex(), "0200d04f05")

    def test_networks(self):
        """Canonical texts of network classes."""
        for text in ("lan", "wan", "20ms/100Mbps", "10us/1Mbps", "1s/100Gbps", "900us/9Gbps"):
            agreement.check_network(text)
        for text in ("5us/1Gbps", "1000us/1Gbps", "500us/1Gbps", "40ms/100Mbps", "25ms/1Gbps",
                     "1ms/1000Mbps", "1ms/200Gbps", "2s/1Gbps", "LAN", "lan\n"):
            with self.fault("malformed-message"):
                agreement.check_network(text)

    def test_rows(self):
        """The merge of row counts."""
        for stated, code in ((([3, None, None], [None, 4, None]), None),
                             (([3, None, 7], [None, 4, None]), None),
                             (([3, None, 8], [None, 4, None]), "rows-differ"),
                             (([3, None, None], [2, 4, None]), "rows-differ"),
                             (([101, None, None], [None, 4, None]), "rows-differ"),
                             (([3, None, None], [None, None, None]), "rows-differ"),
                             (([0, None, None], [None, 4, None]), "own"),
                             (([3, None], [None, 4, None]), "malformed-message")):
            merged = [None] * 3
            try:
                for counts in stated:
                    merged = agreement.merge_rows(TABLES, merged, counts)
                counts = agreement.total_rows(TABLES, merged)
                self.assertEqual((counts, code), ([3, 4, 7], None))
            except errors.Fault as fault:
                self.assertEqual(fault.code, code)


SEEDS = [bytes([i]) * 32 for i in range(3)]
PUBLIC = [ed25519_public(seed) for seed in SEEDS]


def both(*tasks):
    """Run tasks in threads; returns what each returned or raised."""
    results: list = [None] * len(tasks)

    def work(i):
        try:
            results[i] = tasks[i]()
        except Exception as error:              # pylint: disable=broad-except
            results[i] = error

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(tasks))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return results


if __name__ == "__main__":
    unittest.main()
