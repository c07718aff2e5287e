"""Authenticated bits of two parties, and products of them (chapter 20, Batches).

An authenticated bit at a party is one number: the MAC of its share, and the key of the MAC of the
other's share 128 bits above. The XOR of two numbers is the authenticated XOR.
"""

from __future__ import annotations

import struct
from collections import Counter, deque
from collections.abc import Iterable
from functools import cache
from itertools import count

from errors import need
from garbling import hash_all
from link import Mesh
from primitives import H, gf_mul
from streams import Coins, Stream, expand_public
from transfers import BLOCK, Receiver, Sender

BUCKETS = range(3, 9)                           # leaky products of which one is made
POOL_BITS = 1 << 29                             # of a run for which the set-up makes all
WINDOW = (1 << 48) - 1
ROW = 6                                         # bytes of a window
PIECE = 1 << 14                                 # blocks of a sum that share a challenge
PRODUCTS = "products"                           # in a demand; bits are under the number of a party
Triple = tuple[int, int, int]
# Places of openings.
MASKS, VALUES, ROWS, RESULTS, DIFFERENCES = range(5)


def packed(bits: Iterable[int]) -> bytes:
    """Bits in bytes, the first one lowest."""
    digits = "".join(map(str, bits))[::-1]
    return int(digits or "0", 2).to_bytes((len(digits) + 7) // 8, "little")


def unpacked(data: bytes, n: int) -> list[int]:
    """The first n bits of bytes."""
    number = int.from_bytes(data, "little")
    return [number >> i & 1 for i in range(n)]


def block(data: bytes) -> int:
    """The number of a block."""
    return int.from_bytes(data, "little")


@cache
def fewest(bucket: int) -> int:
    """The fewest products of a batch in buckets of this size."""
    power, bits = bucket - 1, 41 - bucket
    return next(n for n in count(1 << bits // power) if n**power >= 1 << bits)


def batch_size(lacking: int, k: int) -> int:
    """The number of products of a batch where so many are lacking."""
    each = 31 if k == 4 else 15                 # bits of a transfer

    def bits(bucket: int) -> int:
        return (3 * bucket * each + 48 * bucket + 2 * bucket - 1) * max(lacking, fewest(bucket))
    return max(lacking, fewest(min(BUCKETS, key=bits)))


def batches_of(made: Counter[int | str]) -> list[Counter[int | str]]:
    """Batches of nearly the same size, of which each could have buckets of three."""
    n = max(made[PRODUCTS] // fewest(3), 1)
    return [Counter({kind: all // n + (at < all % n) for kind, all in made.items()})
            for at in range(n)]


def bucket_of(products: int) -> int:
    """The size of buckets of a batch of so many products."""
    found = [bucket for bucket in BUCKETS if fewest(bucket) <= products]
    need(bool(found) and products < 1 << 32, "a batch of this size", "own")
    return found[0]


# ------------------------------------------------------------------------ commitments and sums


def commitment(session: bytes, party: int, name: str, number: int, opening: bytes) -> bytes:
    """The commitment of a party to a value with 32 random bytes behind it."""
    data = session + bytes([party]) + struct.pack("<Q", number) + opening + name.encode()
    return H("sealane 1 commitment", data)


def coin_of(session: bytes, name: str, number: int, values: list[bytes]) -> bytes:
    """The coin of two values, that of the party with the lower number first."""
    data = session + struct.pack("<Q", number) + b"".join(values) + name.encode()
    return H("sealane 1 coin", data)


class Exchange:
    """Two values, one of each party, that are committed to and then opened."""

    def __init__(self, mesh: Mesh, peer: int, coins: Coins, name: str, number: int,
                 value: bytes) -> None:
        self.mesh, self.peer, self.of = mesh, peer, (name, number)
        self.own = value + coins.secret("commitment").read(32)
        mesh.write(peer, commitment(mesh.session, mesh.me, name, number, self.own))

    def hear(self) -> None:
        """Read the other commitment."""
        self.heard = self.mesh.read(self.peer, 32)

    def open(self) -> None:
        """Write the own value."""
        self.mesh.write(self.peer, self.own)

    def finish(self) -> tuple[bytes, bool]:
        """Read the other value, and tell whether it is what was committed to."""
        opening = self.mesh.read(self.peer, 64)
        right = commitment(self.mesh.session, self.peer, *self.of, opening) == self.heard
        return opening[:32], right

    def coin(self, theirs: bytes) -> bytes:
        """The coin of both values."""
        values = [self.own[:32], theirs]
        return coin_of(self.mesh.session, *self.of,
                       values if self.mesh.me < self.peer else values[::-1])


def toss(mesh: Mesh, peer: int, coins: Coins, name: str, number: int) -> Exchange:
    """Begin a coin."""
    return Exchange(mesh, peer, coins, name, number, coins.secret("coin").read(32))


def mac_sum(context: bytes, place: int, of_evaluator: bool, number: int, bits: bytes,
            blocks: list[int]) -> int:
    """The sum of blocks times powers of challenges; the context is session and nonce."""
    data = context + struct.pack("<BBQ", place, of_evaluator, number) + bits
    pieces = range(0, len(blocks), PIECE)
    challenges, total = H("sealane 2 auth challenge", data, 16 * len(pieces)), 0
    for i, first in enumerate(pieces):
        part, challenge = 0, block(challenges[16 * i:16 * i + 16])
        for value in blocks[first:first + PIECE]:
            part = gf_mul(part ^ value, challenge)
        total ^= part
    return total


class Sums:
    """Openings with MACs at one party."""

    def __init__(self, mesh: Mesh, peer: int, garbles: bool, nonce: bytes, delta: int) -> None:
        self.mesh, self.peer, self.garbles = mesh, peer, garbles
        self.context, self.delta = mesh.session + nonce, delta

    def of(self, place: int, number: int, own: bool, bits: bytes, blocks: list[int]) -> bytes:
        """The sum of what this party tells (`own`), or the other one."""
        value = mac_sum(self.context, place, own != self.garbles, number, bits, blocks)
        return value.to_bytes(16, "little")

    def tell(self, place: int, number: int, blocks: list[int]) -> list[int]:
        """Write bits 0 of some blocks, and their sum; returns these bits."""
        bits = [value & 1 for value in blocks]
        self.mesh.write(self.peer, packed(bits))
        self.mesh.write(self.peer, self.of(place, number, True, packed(bits), blocks))
        return bits

    def told(self, n: int) -> tuple[list[int], bytes, bytes]:
        """Read n bits and their sum: the bits, their bytes, the sum."""
        data = read_bits(self.mesh, self.peer, n)
        return unpacked(data, n), data, self.mesh.read(self.peer, 16)

    def hear(self, place: int, number: int, keys: list[int], what: str) -> list[int]:
        """Read bits with MACs under these keys, and check them."""
        bits, data, value = self.told(len(keys))
        bits_behind(data, len(keys), self.peer)
        self.check(place, number, data, self.with_bits(keys, bits), value, what)
        return bits

    def with_bits(self, keys: list[int], bits: list[int]) -> list[int]:
        """The MACs of bits under keys."""
        return [key ^ (self.delta if bit else 0) for key, bit in zip(keys, bits)]

    def check(self, place: int, number: int, bits: bytes, blocks: list[int], value: bytes,
              what: str) -> None:
        """Compare the sum of the other party with that which it has to be."""
        need(self.of(place, number, False, bits, blocks) == value,
             f"party {self.peer} failed a check of {what}", "peer-deviated")


def read_bits(mesh: Mesh, peer: int, n: int) -> bytes:
    """Read n bits, which are checked later."""
    return mesh.read(peer, (n + 7) // 8)


def bits_behind(data: bytes, n: int, peer: int) -> None:
    """Check that bits behind the last one are 0."""
    need(int.from_bytes(data, "little") >> n == 0, f"party {peer} sent bits behind the last one",
         "protocol-broken")


# --------------------------------------------------------------------------------- the source


class Products:
    """Authenticated bits and products at one party."""

    def __init__(self, mesh: Mesh, coins: Coins, peer: int, garbles: bool, k: int) -> None:
        self.mesh, self.coins, self.peer, self.garbles, self.k = mesh, coins, peer, garbles, k
        trees = mesh, peer, mesh.session, k
        self.sender, self.receiver = Sender(*trees, True), Receiver(*trees, False)
        self.batches = 0
        self.macs, self.keys = deque[int](), deque[int]()   # of own bits, of the other's
        self.made = deque[Triple]()
        self.left = Counter[int | str]()        # what nothing has been supplied with

    def set_up(self, nonce: bytes, total: Counter[int | str]) -> None:
        """Prepare transfers both ways; make all that a small run takes."""
        self.begin(nonce, block(self.coins.secret("auth: offset").read(16)))
        self.sender.begin(self.coins, self.delta)
        self.receiver.begin(self.coins)
        self.mesh.flush()
        self.receiver.finish()
        self.sender.finish()
        made = self.padded(total)
        if sum(n * (768 if kind == PRODUCTS else 128) for kind, n in made.items()) <= POOL_BITS:
            self.make(made)

    def begin(self, nonce: bytes, drawn: int) -> None:
        """Take the nonce of the set-up, and a block from which the offset is made."""
        self.delta = drawn & ~3 | (1 if self.garbles else 3)
        seed = expand_public(nonce, self.mesh.session, "auth: rows of products")
        self.seed = block(seed.read(16))
        self.sums = Sums(self.mesh, self.peer, self.garbles, nonce, self.delta)
        # The public bit 1: at the garbler its share, at the evaluator a key.
        self.one = 1 if self.garbles else (self.delta ^ 1) << 128

    def padded(self, lacking: Counter[int | str]) -> Counter[int | str]:
        """What a refill makes where so much is lacking."""
        made = Counter(lacking)
        if made[PRODUCTS]:
            made[PRODUCTS] = batch_size(made[PRODUCTS], self.k)
        return made

    def refill(self, wanted: Counter[int | str]) -> None:
        """Supply tile runs with what they take."""
        lacking = wanted - self.left
        if lacking:
            self.make(self.padded(lacking))
        self.left -= wanted

    def make(self, made: Counter[int | str]) -> None:
        """Make bits of both parties, and products, in batches of nearly the same size."""
        self.left += made
        for batch in batches_of(made):
            self.make_batch(batch)

    def make_batch(self, made: Counter[int | str]) -> None:
        """Make bits of both parties, and a batch of products."""
        n = made[PRODUCTS]
        bucket = bucket_of(n) if n else 0
        layers, me = 3 * bucket * n, self.mesh.me
        sizes = [layers + made[party] for party in (me, self.peer)]
        choices, rows = self.receiver.extend(sizes[0]) if sizes[0] else ([], [])
        coin = toss(self.mesh, self.peer, self.coins, "auth: shifts", self.batches) if n else None
        self.mesh.flush()
        blocks = self.sender.extend(sizes[1]) if sizes[1] else []
        macs = [row & ~1 | choice for row, choice in zip(rows, choices)]
        keys = [q & ~1 for q in blocks]
        self.macs += macs[layers:]
        self.keys += keys[layers:]
        if coin is not None:
            bits = [mac | key << 128 for mac, key in zip(macs[:layers], keys[:layers])]
            self.made += Batch(self, bits, bucket, n, self.batches).run(coin)
            self.batches += 1

    # ---- what is taken

    def bits(self, n: int) -> list[int]:
        """Random authenticated bits."""
        return [self.macs.popleft() | self.keys.popleft() << 128 for _ in range(n)]

    def bits_of(self, owner: int, n: int) -> list[int]:
        """Bits that one party knows."""
        own = owner == self.mesh.me
        return [self.macs.popleft() if own else self.keys.popleft() << 128 for _ in range(n)]

    def products(self, n: int) -> list[Triple]:
        """Random bits x and y, and their products."""
        return [self.made.popleft() for _ in range(n)]


class Batch:
    """The products of one batch at one party: `bits` are x, y, r of each layer."""

    def __init__(self, of: Products, bits: list[int], bucket: int, n: int, number: int) -> None:
        self.of, self.bits, self.bucket, self.n, self.number = of, bits, bucket, n, number
        self.mesh, self.peer = of.mesh, of.peer

    def run(self, coin: Exchange) -> list[Triple]:
        """All flights from the rows on."""
        opened, nonce = self.checked(coin)
        shifts = self.shifts(nonce)
        return self.combine(shifts, opened, self.differences(shifts))

    def part(self, layer: int, which: int, item: int) -> int:
        """A bit x (0), y (1) or r (2) of an item of a layer."""
        return self.bits[(3 * layer + which) * self.n + item]

    def q(self, bit: int) -> int:
        """This party's part of a bit times the sum of both offsets."""
        return (bit ^ bit >> 128 ^ (self.of.delta if bit & 1 else 0)) & BLOCK

    def key(self, layer: int, item: int, of_garbler: bool) -> int:
        """The key of a hash: the seed with its tweak."""
        low, high = self.number & 0xFFFFFFFF, self.number >> 32
        part = (high << 12) + (not of_garbler)
        return self.of.seed ^ layer ^ low << 32 ^ item << 64 ^ part << 96

    def rows(self) -> tuple[list[int], list[int]]:
        """This party's rows, and its parts up to the other one's."""
        delta, garbles = self.of.delta, self.of.garbles
        items = [(layer, item) for layer in range(self.bucket) for item in range(self.n)]
        own = [self.key(*at, garbles) for at in items]
        other = [self.key(*at, not garbles) for at in items]
        xs = [self.part(layer, 0, item) for layer, item in items]
        hashed = hash_all([*((key, x >> 128 ^ offset) for key, x in zip(own, xs)
                             for offset in (0, delta)),
                           *((key, x & BLOCK) for key, x in zip(other, xs))])
        rows, parts = [], []
        for (layer, item), key, behind, x in zip(items, own, other, xs):
            zero, one = hashed[key, x >> 128], hashed[key, x >> 128 ^ delta]
            common = self.q(self.part(layer, 1, item))
            rows.append((zero ^ one ^ common) & WINDOW)
            parts.append((zero ^ hashed[behind, x & BLOCK] ^ (common if x & 1 else 0)
                          ^ self.q(self.part(layer, 2, item))) & WINDOW)
        return rows, parts

    def checked(self, coin: Exchange) -> tuple[list[int], bytes]:
        """Leaky products, checked: d of each, and the coin."""
        mesh, peer, items = self.mesh, self.peer, self.bucket * self.n
        coin.hear()
        rows, parts = self.rows()
        mesh.write(peer, b"".join(row.to_bytes(ROW, "little") for row in rows))
        mesh.flush()
        data = mesh.read(peer, ROW * items)
        xs = (self.part(layer, 0, item) for layer in range(self.bucket) for item in range(self.n))
        parts = [part ^ (block(data[ROW * i:ROW * i + ROW]) if x & 1 else 0)
                 for i, (part, x) in enumerate(zip(parts, xs))]
        own = [part >> 1 & 1 for part in parts]
        mesh.write(peer, packed(own))
        mesh.flush()
        data = read_bits(mesh, peer, items)
        bits_behind(data, items, peer)
        opened = [x ^ y for x, y in zip(own, unpacked(data, items))]
        equal = b"".join((part ^ (self.of.delta & WINDOW if d else 0)).to_bytes(ROW, "little")
                         for part, d in zip(parts, opened))
        digest = H("sealane 1 auth products", equal)
        mesh.send_digest(peer)
        equality = Exchange(mesh, peer, self.of.coins, "auth: products", self.number, digest)
        mesh.flush()
        mesh.check_digest(peer)
        equality.hear()
        equality.open()
        coin.open()
        mesh.flush()
        (theirs, right), (value, fair) = equality.finish(), coin.finish()
        need(right and theirs == digest and fair,
             f"party {peer} failed a check of authenticated products", "peer-deviated")
        return opened, coin.coin(value)

    def shifts(self, nonce: bytes) -> list[int]:
        """The shift of each layer."""
        stream = expand_public(nonce, self.mesh.session, "auth: shifts")
        return [0, *(drawn_below(stream, self.n) for _ in range(1, self.bucket))]

    def differences(self, shifts: list[int]) -> list[int]:
        """Open the differences of factors of the layers but the first."""
        pairs = [self.part(0, 1, g) ^ self.part(layer, 1, (g + shifts[layer]) % self.n)
                 for layer in range(1, self.bucket) for g in range(self.n)]
        own = self.of.sums.tell(DIFFERENCES, self.number, [pair & BLOCK for pair in pairs])
        self.mesh.flush()
        theirs = self.of.sums.hear(DIFFERENCES, self.number, [pair >> 128 for pair in pairs],
                                   "authenticated products")
        return [x ^ y for x, y in zip(own, theirs)]

    def combine(self, shifts: list[int], opened: list[int], differences: list[int]
                ) -> list[Triple]:
        """The products of all buckets."""
        made = []
        for g in range(self.n):
            x = z = 0
            for layer, shift in enumerate(shifts):
                item = (g + shift) % self.n
                factor = self.part(layer, 0, item)
                x ^= factor
                z ^= self.part(layer, 2, item)
                z ^= self.of.one if opened[layer * self.n + item] else 0
                if layer and differences[(layer - 1) * self.n + g]:
                    z ^= factor
            made.append((x, self.part(0, 1, g), z))
        return made


def drawn_below(stream: Stream, n: int) -> int:
    """The next number below n of a stream, by rejection."""
    mask = (1 << (n - 1).bit_length()) - 1
    while True:
        drawn = block(stream.read(16)) & mask
        if drawn < n:
            return drawn
