"""Pools of random transfers (chapter 18): offers, files and fills, for vectors alone."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from agreement import check_network, session_of
from correlations import FEW, Side
from encoding import Reader, listed, string, varint
from errors import need
from link import Mesh
from primitives import Gcm, H
from streams import Coins
from transfers import Receiver, Sender

BATCH, STRIDE = 1024, 64 * 1024                 # transfers: of a batch, of an extension
MOST, LAST, AHEAD = 1 << 24, 1 << 48, 1 << 32   # batches: of a fill, of a life, ahead of a peer

# ----------------------------------------------------------------------------------- offers


@dataclass
class Half:
    """What a party holds of one direction."""

    next: int = 0
    fills: list[tuple[bytes, int, int]] = field(default_factory=list)     # id, first, batches

    @property
    def end(self) -> int:
        """The number behind the last batch."""
        return self.fills[-1][1] + self.fills[-1][2] if self.fills else self.next

    def is_valid(self) -> bool:
        """Whether its numbers are within bounds."""
        end, valid = 0, self.next <= LAST and len(self.fills) <= 64
        for _, first, batches in self.fills:
            valid &= end <= first <= LAST and batches <= MOST
            end = first + batches
            valid &= end > self.next
        return valid

    def message(self) -> bytes:
        """It in a control message."""
        return varint(self.next) + listed([name + varint(first) + varint(batches)
                                           for name, first, batches in self.fills])

    def hashed(self) -> bytes:
        """It in the hash of a contribution."""
        return struct.pack("<2Q", self.next, len(self.fills)) + b"".join(
            name + struct.pack("<2Q", first, batches) for name, first, batches in self.fills)


def read_offer(reader: Reader) -> list[Half]:
    """Both halves of an offer."""
    return [Half(reader.varint(), reader.list(
        lambda: (reader.take(16), reader.varint(), reader.varint()))) for _ in range(2)]


def check_offer(theirs: list[Half], mine: list[Half]) -> None:
    """Refuse an offer of a peer that is out of bounds."""
    near = all(one.end <= own.end + AHEAD for one, own in zip(theirs, mine[::-1]))
    need(near and all(half.is_valid() for half in theirs), "numbers of a pool out of bounds")


def bound(contribution: bytes, offer: list[Half]) -> bytes:
    """The contribution to a session of a run from a pool."""
    data = contribution + b"".join(half.hashed() for half in offer)
    return H("sealane 1 contribution with a pool", data)


# ------------------------------------------------------------------------------------ files


def next_key(key: bytes) -> bytes:
    """The key of the next batch."""
    return H("sealane pool 1 next key", key)


def seal_batch(key: bytes, fill: bytes, number: int, half: int, text: bytes) -> bytes:
    """A batch as it stands in a file."""
    count = struct.pack("<Q", number)
    cipher = Gcm(H("sealane pool 1 batch", key + fill + count, 16))
    return cipher.seal(bytes(12), text, bytes([half]) + count)


def seal_state(private: bytes, peer: bytes, salt: bytes, text: bytes) -> bytes:
    """The file of a state."""
    key = H("sealane pool 1 state", H("sealane pool 1 wrap", private + peer) + salt, 16)
    magic = b"sealane pool 1\n"
    return magic + salt + Gcm(key).seal(bytes(12), text, magic)


# ------------------------------------------------------------------------------------ fills


def fill_session(batches: list[int], network: str, keys: list[bytes], both: list[bytes]) -> bytes:
    """The session of a fill."""
    data = struct.pack("<2Q", *batches) + network.encode() + b"".join(keys)
    return session_of(H("sealane pool 2 fill", data), both)


def fill_name(session: bytes, receiver: int) -> bytes:
    """The id of a fill."""
    return H("sealane pool 1 name of a fill", session + bytes([receiver]), 16)


@dataclass
class Order:
    """What a party wants of a fill, and what it has."""

    batches: list[int]
    network: str
    depth: int                                  # of trees
    offer: list[Half]
    pinned: list[bytes]
    least: int | None = None                    # batches that it keeps, if it does


def fill(mesh: Mesh, coins: Coins, order: Order) -> dict[int, list[tuple[int, ...]]]:
    """A party of a fill; returns its transfers by receiver."""
    peer, own = 1 - mesh.me, coins.public("pool: session").read(32)
    mesh.send_control(peer, b"".join(map(varint, order.batches)) + string(order.network)
                      + b"".join(half.message() for half in order.offer) + own)
    reader = Reader(mesh.recv_control(peer))
    batches, network = [reader.varint(), reader.varint()], reader.string()
    theirs, other = read_offer(reader), reader.take(32)
    reader.end()
    check_network(network)
    same = (batches, network) == (order.batches, order.network)
    need(same, "the peer fills otherwise", "pool-differs")
    check_offer(theirs, order.offer)
    if order.least is not None:
        mesh.send_control(peer, varint(order.least))
        reader = Reader(mesh.recv_control(peer))
        same = reader.varint() == order.least
        reader.end()
        need(same, "the peer keeps another number", "pool-differs")
    both = [own, other] if mesh.me == 0 else [other, own]
    session = fill_session(batches, network, order.pinned, both)
    mesh.begin(session)
    coins = coins.enter(session)
    found = {receiver: make(mesh, coins, session, receiver, order.depth, n * BATCH)
             for receiver, n in enumerate(batches) if n}
    mesh.send_control(peer, b"")
    Reader(mesh.recv_control(peer)).end()
    return found


def make(mesh: Mesh, coins: Coins, session: bytes, receiver: int, depth: int, n: int
         ) -> list[tuple[int, ...]]:
    """Random transfers: both blocks at the sender; block and choice at the receiver."""
    peer, sends, found = 1 - mesh.me, mesh.me != receiver, list[tuple[int, ...]]()
    side = Side(session, 1 - receiver, receiver, "pool: random OTs")
    if sends:
        sender, delta = Sender(mesh, peer, session, depth, True), coins.secret("pool: offset")
        side.offsets.append(int.from_bytes(delta.read(16), "little") | 1)
        sender.begin(coins, side.offsets[1])
    else:
        getter = Receiver(mesh, peer, session, depth, False)
        getter.begin(coins)
    mesh.flush()
    (sender if sends else getter).finish()
    for first in range(0, n, STRIDE):
        size = min(STRIDE, n - first)
        choices, rows = ([], sender.extend(size)) if sends else getter.extend(size)
        mesh.flush()
        side.add(rows, choices)
        for batch in side.batches(size, FEW):
            found += zip(*batch.each(0), *([] if sends else [batch.choices]))
    return found
