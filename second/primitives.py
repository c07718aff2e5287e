"""Primitives of the wire protocol, from their public standards.

AES-128 (FIPS 197), GCM (SP 800-38D), BLAKE3 and GF(2^128) of chapter 4; `curves.py` has those
of elliptic curves.

Nothing here runs in constant time: tables are read at secret places, and integers of Python
take a time that depends on their values. Use it to check another program, not to guard data.

AES is fast because a number of Python may be long: it holds many blocks side by side, and one
operation works on all of them.
"""

import struct
from collections.abc import Iterable
from functools import cache, lru_cache
from operator import itemgetter

# ---------------------------------------------------------------------------------- AES-128

ROUND_CONSTANTS = (1, 2, 4, 8, 16, 32, 64, 128, 27, 54)


def _double(a: int) -> int:
    """Twice a byte, in the field of AES."""
    return a << 1 ^ (0x11B if a & 0x80 else 0)


def _make_sbox() -> bytes:
    """The S-box of FIPS 197, 5.1.1: inverses, by powers of 3, and a sum of their rotations."""
    powers = [1]
    while len(powers) < 255:
        powers.append(powers[-1] ^ _double(powers[-1]))
    sbox = bytearray(b"\x63" * 256)
    for i, power in enumerate(powers):
        twice = 0x101 * powers[-i % 255]        # so that a shift rotates the byte
        sbox[power] ^= (twice ^ twice >> 4 ^ twice >> 5 ^ twice >> 6 ^ twice >> 7) & 0xFF
    return bytes(sbox)


SBOX = _make_sbox()
DOUBLED = bytes(_double(s) for s in SBOX)


def _shift_rows(state: bytes) -> bytes:
    """ShiftRows of each block (section 5.1.2): byte i comes from place 5 i modulo 16."""
    if len(state) == 16:
        return (state * 5)[::5]
    moved = bytearray(len(state))
    for i in range(16):
        moved[i::16] = state[5 * i % 16::16]
    return bytes(moved)


def _turn(columns: int, top: int, bits: int) -> int:
    """Rotate each column to the left by as many bits as its mask `top` has."""
    high = columns & top
    return (columns ^ high) << bits | high >> 32 - bits


@lru_cache
def _repeated(number: int, size: int, count: int) -> int:
    """A number of `size` bytes, `count` times."""
    return int.from_bytes(number.to_bytes(size, "big") * count, "big")


@lru_cache
def _key_masks(count: int) -> tuple[list[int], list[int]]:
    """Masks of the lowest 96, 64, 32, 24, 8 bits, and round constants, of so many keys."""
    masks = [_repeated((1 << bits) - 1, 16, count) for bits in (96, 64, 32, 24, 8)]
    return masks, [_repeated(constant << 24, 16, count) for constant in ROUND_CONSTANTS]


class Aes128:
    """AES-128 under one key, encryption alone (FIPS 197); or under keys side by side."""

    def __init__(self, key: bytes) -> None:
        self.size = len(key)
        (low96, low64, low32, low24, low8), constants = _key_masks(self.size // 16)
        self.keys = [int.from_bytes(key, "big")]
        for constant in constants:              # section 5.2, four words at once
            last = self.keys[-1]
            word = (last & low24) << 8 | last >> 24 & low8
            word = int.from_bytes(word.to_bytes(self.size, "big").translate(SBOX), "big") & low32
            last ^= last >> 32 & low96
            last ^= last >> 64 & low64
            self.keys.append(last ^ (word ^ constant) * 0x1000000010000000100000001)

    def encrypt(self, text: bytes) -> bytes:
        """One block of 16 bytes for each key, or many rounds of them at once."""
        size, ones = len(text), _repeated(1, self.size, len(text) // self.size)
        top8, top16 = (_repeated(top, 4, size // 4) for top in (0xFF000000, 0xFFFF0000))
        state = int.from_bytes(text, "big") ^ self.keys[0] * ones
        for key in self.keys[1:10]:
            moved = _shift_rows(state.to_bytes(size, "big"))
            once = int.from_bytes(moved.translate(SBOX), "big")
            twice = int.from_bytes(moved.translate(DOUBLED), "big")
            pairs = once ^ _turn(once, top8, 8)                 # MixColumns, section 5.1.3
            state = twice ^ _turn(once ^ twice, top8, 8) ^ _turn(pairs, top16, 16) ^ key * ones
        moved = _shift_rows(state.to_bytes(size, "big"))
        state = int.from_bytes(moved.translate(SBOX), "big") ^ self.keys[10] * ones
        return state.to_bytes(size, "big")

    def count(self, start: int, numbers: Iterable[int]) -> bytes:
        """The encryptions of `start ^ i` as a big-endian number, for each i."""
        return self.encrypt(b"".join((start ^ i).to_bytes(16, "big") for i in numbers))


# ------------------------------------------------------------------------ GF(2^128), chapter 4

ONES = int.from_bytes(b"\1" * 256, "big")
DIGITS = int.from_bytes(b"0" * 256, "big")


def spread(a: int) -> int:
    """The bits of a number, each in a byte of its own: ASCII digits, without their high bits."""
    return int.from_bytes(format(a, "b").encode(), "big") & ONES


def gf_sum(products: Iterable[tuple[int, int]]) -> int:
    """Sum of products in F of chapter 4. A sum of 128 bits fits into the byte of each bit."""
    total = 0
    for a, b in products:
        total ^= spread(a) * spread(b)
    total = int((total & ONES | DIGITS).to_bytes(256, "big"), 2)    # the lowest bit of each byte
    for _ in range(2):                          # modulo x^128 + x^7 + x^2 + x + 1
        high = total >> 128
        total = total & (1 << 128) - 1 ^ high ^ high << 1 ^ high << 2 ^ high << 7
    return total


def gf_mul(a: int, b: int) -> int:
    """Product in F of chapter 4."""
    return gf_sum([(a, b)])


# -------------------------------------------------------------------------------------- GCM

REVERSED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))


def xor_bytes(a: bytes, b: bytes) -> bytes:
    """XOR of two strings of the same length."""
    return (int.from_bytes(a, "little") ^ int.from_bytes(b, "little")).to_bytes(len(a), "little")


class Gcm:
    """AES-128-GCM with nonces of 12 bytes and tags of 16 (SP 800-38D)."""

    def __init__(self, key: bytes) -> None:
        self.aes = Aes128(key)
        self.h = int.from_bytes(self.aes.encrypt(bytes(16)).translate(REVERSED), "little")

    def _tag(self, nonce: bytes, text: bytes, extra: bytes) -> bytes:
        """GHASH, masked. Its field is F of chapter 4 with the bits of each byte reversed."""
        data = b"".join(part + bytes(-len(part) % 16) for part in (extra, text))
        data = (data + struct.pack(">2Q", 8 * len(extra), 8 * len(text))).translate(REVERSED)
        state = 0
        for start in range(0, len(data), 16):
            state = gf_mul(state ^ int.from_bytes(data[start:start + 16], "little"), self.h)
        mask = self.aes.encrypt(nonce + b"\0\0\0\1")
        return xor_bytes(state.to_bytes(16, "little").translate(REVERSED), mask)

    def _counter_mode(self, nonce: bytes, text: bytes) -> bytes:
        start, blocks = int.from_bytes(nonce + bytes(4), "big"), (len(text) + 15) // 16
        return xor_bytes(text, self.aes.count(start, range(2, blocks + 2))[:len(text)])

    def seal(self, nonce: bytes, text: bytes, extra: bytes) -> bytes:
        """Ciphertext and tag."""
        sealed = self._counter_mode(nonce, text)
        return sealed + self._tag(nonce, sealed, extra)

    def open(self, nonce: bytes, sealed: bytes, extra: bytes) -> bytes | None:
        """Plaintext, or None if the tag is wrong."""
        text, tag = sealed[:-16], sealed[-16:]
        return self._counter_mode(nonce, text) if tag == self._tag(nonce, text, extra) else None


# ----------------------------------------------------------------------------------- BLAKE3

IV = 0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19
PERMUTATION = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
CHUNK_START, CHUNK_END, PARENT, ROOT, DERIVE_CONTEXT, DERIVE_MATERIAL = 1, 2, 4, 8, 32, 64


Words = tuple[int, ...]                          # a chaining value: 8 words
Node = tuple[Words, bytes, int, int]            # arguments of a compression
WORD = (1 << 32) - 1


def _row(a: int, b: int, c: int, d: int) -> int:
    """Four words in a number, each in 64 bits, so that sums have place for a carry."""
    return a | b << 64 | c << 128 | d << 192


def _make_schedule() -> list[int]:
    """The words of the message in the order in which rows of four take them, for all rounds."""
    order, words = [*range(16)], list[int]()
    for _ in range(7):
        words += order[0:8:2] + order[1:8:2] + order[8:16:2] + order[9:16:2]
        order = [order[i] for i in PERMUTATION]
    return words


SCHEDULED = itemgetter(*_make_schedule())
ALL, IV_ROW = _row(WORD, WORD, WORD, WORD), _row(*IV[:4])
ONE, TWO, THREE = (1 << 64) - 1, (1 << 128) - 1, (1 << 192) - 1         # masks of the first words


def compress(cv: Words, block: bytes, counter: int, flags: int) -> Words:
    """The compression function of BLAKE3: 16 words."""
    words = struct.pack("<112Q", *SCHEDULED(struct.unpack("<16I", block.ljust(64, b"\0"))))
    m = [int.from_bytes(words[i:i + 32], "little") for i in range(0, 896, 32)]
    first, last = _row(*cv[:4]), _row(*cv[4:])
    a, b, c, d = first, last, IV_ROW, _row(counter & WORD, counter >> 32, len(block), flags)
    for i in range(0, 28, 2):                   # the function G on all columns, then all diagonals
        a = a + b + m[i] & ALL
        d ^= a
        d = (d >> 16 | d << 16) & ALL
        c = c + d & ALL
        b ^= c
        b = (b >> 12 | b << 20) & ALL
        a = a + b + m[i + 1] & ALL
        d ^= a
        d = (d >> 8 | d << 24) & ALL
        c = c + d & ALL
        b ^= c
        b = (b >> 7 | b << 25) & ALL
        c = c >> 128 | (c & TWO) << 128         # between rows of columns and rows of diagonals
        if i & 2:
            b, d = b >> 192 | (b & THREE) << 64, d >> 64 | (d & ONE) << 192
        else:
            b, d = b >> 64 | (b & ONE) << 192, d >> 192 | (d & THREE) << 64
    out = (a ^ c) | (b ^ d) << 256 | (c ^ first) << 512 | (d ^ last) << 768
    return struct.unpack("<16Q", out.to_bytes(128, "little"))


@lru_cache(1 << 16)                             # payload is hashed again for each digest
def _chunk(key: Words, flags: int, chunk: bytes, counter: int) -> Node:
    """The last compression of a chunk."""
    cv, more = key, flags | CHUNK_START
    while len(chunk) > 64:
        cv, chunk, more = compress(cv, chunk[:64], counter, more)[:8], chunk[64:], flags
    return cv, chunk, counter, more | CHUNK_END


@lru_cache(1 << 16)
def _parent(key: Words, flags: int, left: Node, right: Node) -> Node:
    """The compression of a parent node."""
    words = compress(*left)[:8] + compress(*right)[:8]
    return key, struct.pack("<16I", *words), 0, flags | PARENT


class Blake3:
    """The BLAKE3 of some bytes. `key` and `flags` tell the mode."""

    def __init__(self, data: bytes, key: Words = IV, flags: int = 0) -> None:
        nodes = [_chunk(key, flags, data[start:start + 1024], start // 1024)
                 for start in range(0, max(1, len(data)), 1024)]
        while len(nodes) > 1:                   # an odd last one goes up as it is
            pairs = [_parent(key, flags, *pair) for pair in zip(nodes[::2], nodes[1::2])]
            nodes = pairs + nodes[2 * len(pairs):]
        self.root = nodes[0]

    def output(self, n: int = 32, offset: int = 0) -> bytes:
        """Bytes `offset .. offset + n - 1` of the output."""
        cv, block, _, flags = self.root
        first, last = offset // 64, (offset + n + 63) // 64
        out = b"".join(struct.pack("<16I", *compress(cv, block, i, flags | ROOT))
                       for i in range(first, last))
        return out[offset - 64 * first:][:n]


def blake3(data: bytes) -> bytes:
    """`hash(data)` of chapter 1."""
    return Blake3(data).output()


@cache
def _context_key(context: str) -> Words:
    return struct.unpack("<8I", Blake3(context.encode(), IV, DERIVE_CONTEXT).output())


def derive(context: str, data: bytes) -> Blake3:
    """BLAKE3 in mode derive_key."""
    return Blake3(data, _context_key(context), DERIVE_MATERIAL)


def H(context: str, data: bytes, n: int = 32) -> bytes:
    """`H(context, data, n)` of chapter 1."""
    return derive(context, data).output(n)
