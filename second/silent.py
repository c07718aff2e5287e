"""Silent transfers, both sides (chapter 17): Ferret on an extension of chapter 9.

Blocks are numbers, as in `transfers.py`.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from operator import xor
from typing import Any

from correlations import encrypted, sigma
from errors import need
from primitives import Aes128, H, gf_mul, gf_sum
from streams import Bulk, Coins, expand_public
from transfers import Receiver, Sender

TREES, MASKS, NUMBER = 8, 128, (1 << 21) - 1    # trees of a batch, masks, bits of a place
X = 2                                           # the block whose powers weigh masks


def block(value: int) -> bytes:
    """The block of a number."""
    return value.to_bytes(16, "little")


def blocks(data: bytes) -> list[int]:
    """The numbers of neighbouring blocks."""
    return [int.from_bytes(data[i:i + 16], "little") for i in range(0, len(data), 16)]


@dataclass(frozen=True)
class Instance:
    """Sizes of an iteration: a secret of 2^log blocks, and trees of some depth."""

    log: int
    trees: int
    depth: int

    @property
    def rows(self) -> int:
        """Rows that it makes."""
        return self.trees << self.depth

    @property
    def takes(self) -> int:
        """Transfers that it takes."""
        return (1 << self.log) + self.trees * self.depth + MASKS


# ------------------------------------------------------------------------------- functions


def keys_of(session: bytes, sender: int, receiver: int, contributions: list[bytes]
            ) -> tuple[Any, bytes]:
    """The stream of keys, and the name of the instance."""
    data = bytes([sender]) + contributions[0] + bytes([receiver]) + contributions[1]
    common = H("sealane 6 ot ferret keys", data)
    return (expand_public(common, session, "ot ferret: keys"),
            expand_public(common, session, "ot ferret: instance").read(32))


def matrix(key: bytes, first: int, count: int, log: int) -> list[tuple[list[int], int]]:
    """The places of rows, and their bits."""
    numbers = range(2 * first, 2 * (first + count))
    words = struct.unpack(f"<{4 * count}Q", Aes128(key).encrypt(b"".join(map(block, numbers))))
    mask, found = (1 << log) - 1, []
    for at in range(0, len(words), 4):
        drawn = [word >> shift & NUMBER & mask for word in words[at:at + 4]
                 for shift in (0, 21, 42)]
        found.append((drawn[:10], words[at + 3] >> 63))
    return found


def weighed(point: int, values: tuple[int, ...]) -> int:
    """The sum of values times falling powers of a point, of which the last one is 1."""
    power, powers = 1, []
    for _ in values:
        powers.append(power)
        power = gf_mul(power, point)
    return gf_sum(zip(values, reversed(powers)))


def left_children(aes: Aes128, nodes: list[int]) -> list[int]:
    """The hashes of nodes."""
    mixed = [sigma(node) for node in nodes]
    return encrypted(aes, mixed, mixed)


def deal(key: bytes, delta: int, root: int, kept: tuple[int, ...]
         ) -> tuple[list[int], list[int]]:
    """A tree of S: its leaves, and what it writes of each level."""
    aes, nodes = Aes128(key), [root, root ^ delta]
    written = [root ^ kept[0]]
    for own in kept[1:]:
        left = left_children(aes, nodes)
        written.append(reduce(xor, left, own))
        nodes = [child for node, one in zip(nodes, left) for child in (one, node ^ one)]
    return [node >> 1 << 1 for node in nodes], written


def choose(key: bytes, kept: tuple[int, ...], read: tuple[int, ...]) -> list[int]:
    """A tree of R: its leaves, of which bit 0 tells the error."""
    aes, nodes, place = Aes128(key), [read[0] ^ kept[0]] * 2, 1 ^ kept[0] & 1
    for own, message in zip(kept[1:], read[1:]):
        left = left_children(aes, nodes)
        left[place] = reduce(xor, left, message ^ own ^ left[place])
        nodes = [child for node, one in zip(nodes, left) for child in (one, node ^ one)]
        place = 2 * place + (1 ^ own & 1)
    return [node >> 1 << 1 | (i == place) for i, node in enumerate(nodes)]


def proof(session: bytes, ends: bytes, instance: bytes, iteration: int, value: int) -> bytes:
    """What S proves its sum by."""
    data = session + ends + instance + struct.pack("<Q", iteration) + block(value)
    return H("sealane 6 ot ferret check", data)


# ------------------------------------------------------------------------------ both sides


class Silent:
    """What both sides have: keys, and the blocks that the next iteration takes."""

    def __init__(self, plain: Sender | Receiver, first: Instance, main: Instance) -> None:
        self.mesh, self.peer, self.session = plain.mesh, plain.peer, plain.session
        self.ends = plain.ends[::-1]            # sender, receiver
        self.first, self.main, self.iterations = first, main, 0
        self.ready: list[tuple[int, int]] = []  # rows that nobody has taken, and their choices
        self.rows: list[tuple[int, int]] = []   # those that wait for their check

    def contribute(self, coins: Coins) -> None:
        """Write a contribution to keys."""
        self.own = coins.public("ot ferret: contribution to keys").read(32)
        self.mesh.write(self.peer, self.own)

    def agree(self) -> None:
        """Read that of the peer."""
        both = [self.own, self.mesh.read(self.peer, 32)]
        both = both if self.mesh.me == self.ends[0] else both[::-1]
        self.keys, self.instance = keys_of(self.session, *self.ends, both)

    def _agree(self, coins: Coins) -> None:
        self.contribute(coins)
        self.mesh.flush()
        self.agree()

    def _start(self, kept: list[int]) -> None:
        self.mesh.flush()
        self.kept = kept
        self._iterate()

    def _iterate(self) -> list[tuple[int, int]]:
        """An iteration of one direction."""
        self.grow()
        self._check()
        self.mesh.flush()
        return self.keep()

    def grow(self) -> None:
        """Make rows and their choices, if there are none."""
        if self.rows:
            return
        size = self.main if self.iterations else self.first
        self.mesh.flush()
        secret, rest = self.kept[:1 << size.log], self.kept[1 << size.log:]
        levels, self.masks = rest[:-MASKS], tuple(rest[-MASKS:])
        key, leaves, step = self.keys.read(16), [], TREES * size.depth
        for at in range(0, len(levels), step):
            batch = [tuple(levels[at + c:at + step:TREES]) for c in range(TREES)]
            made = self._trees(self.keys.read(16), batch)
            leaves += [leaf for row in zip(*made) for leaf in row]
            if at + step < len(levels):
                self.mesh.flush()
        for (places, bit), leaf in zip(matrix(key, 0, size.rows, size.log), leaves):
            value = reduce(xor, (secret[place] for place in places), leaf)
            self.rows.append((value ^ bit, value & 1))

    def keep(self) -> list[tuple[int, int]]:
        """Keep what the next iteration takes; returns the other rows and their choices."""
        self.iterations += 1
        rows, self.rows = self.rows, []
        self.kept = [row >> 1 << 1 | choice for row, choice in rows[-self.main.takes:]]
        return rows[:-self.main.takes]

    def _trees(self, key: bytes, kept: list[tuple[int, ...]]) -> list[list[int]]:
        """Make the trees of a batch."""
        raise NotImplementedError

    def _check(self) -> None:
        """Check the rows of an iteration."""
        raise NotImplementedError

    def _proof(self, value: int) -> bytes:
        return proof(self.session, bytes(self.ends), self.instance, self.iterations, value)

    def _take(self, n: int) -> list[tuple[int, int]]:
        """The next rows."""
        while len(self.ready) < n:
            self.ready += self._iterate()
        taken, self.ready = self.ready[:n], self.ready[n:]
        return taken


class SilentSender(Silent):
    """The side S."""

    def set_up(self, plain: Sender, coins: Coins) -> None:
        """Lines 7 to 9, behind a set-up of chapter 9."""
        self.draw(plain, coins)
        self._agree(coins)
        self._start(self.packed(plain))

    def draw(self, plain: Sender, coins: Coins) -> None:
        """Take delta, and draw roots."""
        self.delta = plain.delta
        self.roots = Bulk(coins.secret("ot ferret: roots of trees"))

    def packed(self, plain: Sender) -> list[int]:
        """Line 8."""
        return [row >> 1 << 1 for row in plain.extend(self.first.takes)]

    def _trees(self, key: bytes, kept: list[tuple[int, ...]]) -> list[list[int]]:
        roots = blocks(self.roots.draw(TREES))
        made = [deal(key, self.delta, root, own) for root, own in zip(roots, kept)]
        written = chain(*zip(*(levels for _, levels in made)))
        self.mesh.write(self.peer, b"".join(map(block, written)))
        return [leaves for leaves, _ in made]

    def _check(self) -> None:
        self.prove()

    def prove(self) -> None:
        """Read a point and a sum, and write a proof."""
        self.mesh.flush()
        point, total = blocks(self.mesh.read(self.peer, 16) + self.mesh.read(self.peer, 16))
        self.mesh.check_digest(self.peer)
        value = weighed(point, tuple(row for row, _ in self.rows)) ^ weighed(X, self.masks)
        self.mesh.write(self.peer, self._proof(value ^ gf_mul(total, self.delta)))
        self.mesh.send_digest(self.peer)

    def extend(self, n: int) -> list[int]:
        """A block for each of the next n transfers."""
        return [row for row, _ in self._take(n)]


class SilentReceiver(Silent):
    """The side R."""

    def set_up(self, plain: Receiver, coins: Coins) -> None:
        """Lines 7 to 9, behind a set-up of chapter 9."""
        self.draw(coins)
        self._agree(coins)
        self._start(self.packed(plain))

    def draw(self, coins: Coins) -> None:
        """Draw points."""
        self.points = coins.public("ot ferret: points of checks")
        coins.secret("ot ferret: places of errors")

    def packed(self, plain: Receiver) -> list[int]:
        """Line 8."""
        choices, rows = plain.extend(self.first.takes)
        return [row >> 1 << 1 | choice for row, choice in zip(rows, choices)]

    def _trees(self, key: bytes, kept: list[tuple[int, ...]]) -> list[list[int]]:
        read = blocks(self.mesh.read(self.peer, 16 * TREES * len(kept[0])))
        return [choose(key, own, tuple(read[c::TREES])) for c, own in enumerate(kept)]

    def _check(self) -> None:
        self.ask()
        self.compare()

    def ask(self) -> None:
        """Write a point and a sum."""
        data = self.points.read(16)
        self.mesh.write(self.peer, data)
        self.mesh.flush()
        self.point, = blocks(data)
        total = weighed(self.point, tuple(choice for _, choice in self.rows)) ^ weighed(
            X, tuple(mask & 1 for mask in self.masks))
        self.mesh.write(self.peer, block(total))
        self.mesh.send_digest(self.peer)
        self.mesh.flush()

    def compare(self) -> None:
        """Read a proof."""
        own = weighed(self.point, tuple(row for row, _ in self.rows))
        wanted = self._proof(own ^ weighed(X, self.masks))
        found = self.mesh.read(self.peer, 32)
        self.mesh.check_digest(self.peer)
        need(found == wanted, "the check of an iteration fails", "peer-deviated")

    def extend(self, n: int) -> tuple[list[int], list[int]]:
        """A bit and a block for each of the next n transfers."""
        rows, choices = [*zip(*self._take(n))] or ((), ())
        return list(choices), list(rows)


# ------------------------------------------------------------------------- both directions


def step(sender: SilentSender | None, receiver: SilentReceiver | None, more: bool) -> None:
    """An iteration of each direction; `more` if another one follows in which this party sends."""
    if sender:
        sender.grow()
        sender.mesh.flush()
    if receiver:
        receiver.grow()
        receiver.ask()
    if sender:
        sender.prove()
        given = sender.keep()
        sender.ready += given if sender.iterations > 1 else []
        if more:
            sender.grow()
        sender.mesh.flush()
    if receiver:
        receiver.compare()
        given = receiver.keep()
        receiver.ready += given if receiver.iterations > 1 else []


def set_up_both(sends: Sender, gets: Receiver, sizes: tuple[Instance, Instance], coins: Coins
                ) -> tuple[SilentSender, SilentReceiver]:
    """A set-up in step, behind lines 1 to 3 of both directions."""
    gets.finish()
    sender, receiver = SilentSender(sends, *sizes), SilentReceiver(gets, *sizes)
    receiver.draw(coins)
    sender.contribute(coins)
    receiver.contribute(coins)
    receiver.kept = receiver.packed(gets)
    receiver.mesh.flush()
    sends.finish()
    sender.draw(sends, coins)
    receiver.agree()
    sender.agree()
    sender.kept = sender.packed(sends)
    step(sender, receiver, True)
    step(sender, receiver, False)
    return sender, receiver
