"""Correlations of `gmw`, from oblivious transfers that are hashed (chapter 15)."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeVar

from errors import need
from link import Mesh
from primitives import Aes128, H
from streams import Coins
from transfers import Receiver, Sender

# A kind: its number, then its parameters. A triple of bits is (1, 0), one modulo 2^k is (1, k).
# In `mixed`, (0, sender) is a transfer itself, which is left for the choice of a label.
Kind = tuple[int, ...]
Share = tuple[int, int, int]                    # number of a transfer, of an element; its share
Matrix = list[list[int]]
T = TypeVar("T")
Rest = Callable[[], T]                          # reads what the other party writes, and makes all
HALF = (1 << 64) - 1
MANY, FEW = 16384, 512                          # transfers of a batch: of kinds of bits, of others
PORTION = 1 << 18                               # transfers of an extension for kinds of bits


def join(numbers: list[int], widths: list[int]) -> bytes:
    """Numbers of so many bits, the first one lowest, without gaps."""
    pairs = reversed([*zip(numbers, widths)])
    digits = "".join(format(number, f"0{width}b") for number, width in pairs if width)
    return int(digits or "0", 2).to_bytes((len(digits) + 7) // 8, "little")


def cut(message: bytes, widths: list[int]) -> list[int]:
    """The numbers of a message; bits behind the last one are not looked at."""
    digits, found = format(int.from_bytes(message, "little"), f"0{8 * len(message)}b"), []
    end = len(digits)
    for width in widths:
        found.append(int(digits[end - width:end] or "0", 2))
        end -= width
    return found


def multiply(x: Matrix, y: Matrix) -> Matrix:
    """The product of two matrices of integers."""
    columns = [*zip(*y)]
    return [[sum(a * b for a, b in zip(row, column)) for column in columns] for row in x]


def turned(x: Matrix) -> Matrix:
    """The transpose of a matrix."""
    return [list(column) for column in zip(*x)]


# ------------------------------------------------------------------------ hashes of transfers


def sigma(block: int) -> int:
    """The permutation of chapter 10, The hash."""
    high = block >> 64
    return high | ((block ^ high) & HALF) << 64


def encrypted(aes: Aes128, texts: list[int], masks: list[int]) -> list[int]:
    """The encryptions of blocks, each with a mask on it."""
    data = aes.encrypt(b"".join(text.to_bytes(16, "little") for text in texts))
    return [int.from_bytes(data[16 * i:16 * i + 16], "little") ^ mask
            for i, mask in enumerate(masks)]


class Side:
    """This party's side of all transfers in one direction.

    As S it has the hashes for both choices, with the offsets 0 and delta; as R those of its own.
    """

    def __init__(self, session: bytes, sender: int, receiver: int, label: str = "gmw: goods"
                 ) -> None:
        data = session + bytes([sender, receiver]) + label.encode()
        self.seed = int.from_bytes(H("sealane 6 ot hash", data, 16), "little")
        self.offsets, self.calls, self.next = [0], count(), 0
        self.rows: list[int] = []               # of all extensions, up to a refill
        self.choices: list[int] = []            # of R

    def key(self, gate: int, call: int, lane: int, part: int) -> bytes:
        """The key of a hash: the seed with the tweak of chapter 10."""
        last = (call >> 32 << 12) + part
        tweak = gate | (call & 0xFFFFFFFF) << 32 | lane << 64 | last << 96
        return (self.seed ^ tweak).to_bytes(16, "little")

    def batches(self, total: int, size: int) -> Iterator[Batch]:
        """The next transfers of this direction, each batch with its number of a call."""
        for first in range(0, total, size):
            yield Batch(self, next(self.calls), *self.take(min(size, total - first)))

    def take(self, n: int) -> tuple[list[int], list[int]]:
        """The blocks of the next transfers, and the choices of R."""
        part = slice(self.next, self.next + n)
        need(part.stop <= len(self.rows), "the plan makes no transfer here", "own")
        self.next = part.stop
        return self.rows[part], self.choices[part]

    def texts(self, rows: list[int]) -> list[list[int]]:
        """What is hashed of transfers, for each offset."""
        return [[row ^ offset for row in rows] for offset in self.offsets]

    def add(self, rows: list[int], choices: list[int]) -> None:
        """Append an extension; drop what was taken."""
        self.rows = self.rows[self.next:] + rows
        self.choices = self.choices[self.next:] + choices
        self.next = 0


@dataclass
class Batch:
    """Transfers that are hashed together."""

    side: Side
    call: int
    rows: list[int]
    choices: list[int]

    def wide(self, part: int) -> list[list[int]]:
        """W of chapter 15 for each offset: the hashes of all transfers."""
        found: list[list[int]] = [[] for _ in self.side.offsets]
        for first in range(0, len(self.rows), 128):
            aes = Aes128(self.side.key(0, self.call, first // 128, part))
            for hashes, texts in zip(found, self.side.texts(self.rows[first:first + 128])):
                mixed = [sigma(text) for text in texts]
                hashes += encrypted(aes, [m ^ i << 64 for i, m in enumerate(mixed)], mixed)
        return found

    def each(self, number: int) -> list[list[int]]:
        """B of chapter 15 for each offset: the hashes of all transfers."""
        aes = Aes128(b"".join(self.side.key(number, self.call, i, 0)
                              for i in range(len(self.rows))))
        mixed = [[sigma(text) for text in texts] for texts in self.side.texts(self.rows)]
        return [encrypted(aes, texts, texts) for texts in mixed]


# ------------------------------------------------------------------------------- the queues


class Correlations:
    """All correlations of one party, by kind, and the transfers that they are made of."""

    def __init__(self, mesh: Mesh, peer: int, session: bytes, depth: int) -> None:
        self.mesh, self.peer, self.low = mesh, peer, mesh.me < peer
        self.sender = Sender(mesh, peer, session, depth, True)
        self.receiver = Receiver(mesh, peer, session, depth, False)
        self.sent, self.got = Side(session, mesh.me, peer), Side(session, peer, mesh.me)
        self.queues: defaultdict[Kind, deque[Any]] = defaultdict(deque)

    def set_up(self, coins: Coins, wanted: Counter[Kind], delta: int = 0,
               between: Callable[[], None] = lambda: None) -> None:
        """Base transfers and trees of the directions that are needed; two of them cross.

        `delta` is the offset, if it is drawn; `between` is done behind the first flush.
        """
        sends, gets = self._sizes(wanted)
        if sends:
            delta = delta or int.from_bytes(coins.secret("gmw: offset").read(16), "little") | 1
            self.sent.offsets = [0, delta]
            self.sender.begin(coins, delta)
        if gets:
            self.receiver.begin(coins)
        self.mesh.flush()
        between()
        if gets:
            self.receiver.finish()
        if sends:
            self.sender.finish()

    def _sizes(self, wanted: Counter[Kind]) -> list[int]:
        """How many transfers correlations take, as S and as R."""
        low = min(self.mesh.me, self.peer)
        sizes = [sum(n * transfers(kind, low)[way] for kind, n in wanted.items())
                 for way in (0, 1)]
        return sizes if self.low else sizes[::-1]

    def take(self, kind: Kind, n: int) -> list[Any]:
        """The oldest correlations of a kind."""
        queue = self.queues[kind]
        need(n <= len(queue), f"the plan makes no correlation {kind} here", "own")
        return [queue.popleft() for _ in range(n)]

    def refill(self, wanted: Counter[Kind]) -> None:
        """Make so many of each kind: those of bits in portions, with an extension each."""
        bits, rest = portions(wanted)
        self.mesh.held = self.mesh.received + 1
        for portion in bits:
            self.draw(*self._sizes(portion + rest if portion is bits[-1] else portion))
            for kind, n in portion.items():
                self.queues[kind].extend(self._bits(kind, n))
        self.mesh.held = 0
        makers: dict[int, Callable[[Kind, int], Rest[list[Any]]]] = {
            1: self._matrices, 3: self._in_both, 4: self._selections, 5: self._known,
            6: self._matrices}
        self.mesh.held = self.mesh.received + 1
        begun: list[tuple[Kind, Rest[list[Any]]]] = []
        for kind, n in sorted(rest.items()):
            if kind[0]:
                begun.append((kind, makers[kind[0]](kind, n)))
                self.mesh.flush()
        for kind, end in begun:
            self.queues[kind].extend(end())
        self.mesh.held = 0

    def draw(self, sent: int, got: int) -> None:
        """Make transfers."""
        if got:
            choices, rows = self.receiver.extend(got)
            self.got.add(rows, choices)
        self.mesh.flush()
        if sent:
            self.sent.add(self.sender.extend(sent), [])

    # ---- kinds 1 (bits) and 2

    def _bits(self, kind: Kind, n: int) -> Iterator[tuple[int, int, int]]:
        """Triples of bits; or wide ones, of which `b` and `c` have a bit for each `p`."""
        number, w = kind[0], max(kind[1], 1)
        for own, theirs in zip(self.sent.batches(n, MANY), self.got.batches(n, MANY)):
            hashes = zip(*own.wide(number), *theirs.wide(number), theirs.choices)
            for i, (zero, one, mine, x) in enumerate(hashes):
                s, z, y = (self._places(block, i, w) for block in (zero ^ one, zero, mine))
                c = z ^ y ^ (s if x else 0)
                yield (s, x, c) if number == 1 else (x, s, c)

    def _places(self, block: int, i: int, w: int) -> int:
        """The `w` bits of a hash that belong to transfer `i` of its batch."""
        if w > 8:
            return block & (1 << w) - 1
        return sum((block >> (i + 16 * p) % 128 & 1) << p for p in range(w))

    # ---- kinds 3 and 4

    def _in_both(self, kind: Kind, n: int) -> Rest[list[tuple[int, int]]]:
        """Bits in both sharings."""
        side = self.sent if self.low else self.got
        hashes: list[list[int]] = [[] for _ in side.offsets]
        bits: list[int] = []
        for batch in side.batches(n, FEW):
            found = batch.each(0)
            bits += [(z ^ o) >> 127 for z, o in zip(*found)] if self.low else batch.choices
            for all_hashes, some in zip(hashes, found):
                all_hashes += some
        end = self._integers(bits, hashes, kind[1])
        return lambda: list(zip(bits, end()))

    def _integers(self, bits: list[int], hashes: list[list[int]], k: int) -> Rest[list[int]]:
        """Shares of the same bits modulo 2^k, from hashes of the direction from low to high."""
        mask, all_mask = (1 << k - 1) - 1, (1 << k) - 1
        parts = [slice(first, first + MANY) for first in range(0, len(bits), MANY)]
        if self.low:
            pairs = list(zip(*hashes))
            masked = [z - o + x & mask for x, (z, o) in zip(bits, pairs)]
            for part in parts:
                self.mesh.write(self.peer, join(masked[part], [k - 1] * len(masked[part])))
                self.mesh.flush()
            return lambda: [x + 2 * z & all_mask for x, (z, _) in zip(bits, pairs)]

        def read() -> list[int]:
            found = [d for part in parts for d in self._read([k - 1] * len(bits[part]))]
            return [x - 2 * (t + x * d) & all_mask for x, t, d in zip(bits, hashes[0], found)]
        return read

    def _read(self, widths: list[int]) -> list[int]:
        """A message of numbers of so many bits."""
        return cut(self.mesh.read(self.peer, (sum(widths) + 7) // 8), widths)

    def _selections(self, kind: Kind, n: int) -> Rest[list[tuple[int, int, int, int]]]:
        """Choices: a bit in both sharings, and its product by a number."""
        k, both = kind[1], []
        for own, theirs in zip(self.sent.batches(n, FEW), self.got.batches(n, FEW)):
            both += [*zip(*own.each(0), *theirs.each(0), theirs.choices)]
        mask, found = (1 << k) - 1, []
        for z, o, t, r in both:
            m = (-1)**r * ((o & HALF) - (z & HALF))
            found.append((m & mask, r * m - (z & HALF) + (t & HALF) & mask))
        zeros, ones, mine, bits = (list(column) for column in zip(*both))
        hashes = [[block >> 64 for block in hashed]
                  for hashed in ((zeros, ones) if self.low else (mine,))]
        end = self._integers(bits, hashes, k)
        return lambda: [(r, e, m, f) for r, e, (m, f) in zip(bits, end(), found)]

    # ---- kinds 1 (integers), 5 and 6

    def _elements(self, side: Side, total: int, m: int, k: int
                  ) -> Iterator[tuple[int, int, list[int], int]]:
        """Transfer, element, its part of each hash, and the choice, in the order of messages."""
        size = 32 if k <= 32 else 64
        done, group, mask = 0, 128 // size, (1 << size) - 1
        for batch in side.batches(total, FEW):
            choices = batch.choices or [0] * len(batch.rows)
            for first in range(0, m, group):
                hashes = zip(*batch.each(first // group))
                for t, (blocks, x) in enumerate(zip(hashes, choices), done):
                    for u in range(first, min(first + group, m)):
                        yield t, u, [block >> size * (u - first) & mask for block in blocks], x
            done += len(batch.rows)

    def _send(self, total: int, m: int, p: int, b: int, k: int) -> tuple[Matrix, list[Share]]:
        """Make the columns of S, by rows of `p` numbers of `b` bits; and shares of products."""
        columns = [[0] * m for _ in range(total // (p * b))]
        numbers, widths, shares = [], [], []
        for t, u, (zero, one), _ in self._elements(self.sent, total, m, k):
            column, width = columns[t // (p * b)], k - t % b
            if t % (p * b) == 0:
                column[u] = one - zero & (1 << k) - 1
            else:
                numbers.append(zero - one + column[u] & (1 << width) - 1)
                widths.append(width)
            shares.append((t, u, -zero))
        self.mesh.write(self.peer, join(numbers, widths))
        return columns, shares

    def _sent(self, *form: int) -> Rest[tuple[Matrix, list[Share]]]:
        """The same, where nothing is read."""
        made = self._send(*form)
        self.mesh.flush()
        return lambda: made

    def _get(self, total: int, m: int, p: int, b: int, k: int
             ) -> Rest[tuple[list[int], list[Share]]]:
        """Make the numbers of R in all rows, and the other shares."""
        found = [*self._elements(self.got, total, m, k)]

        def read() -> tuple[list[int], list[Share]]:
            messages = iter(self._read([k - t % b for t, _, _, _ in found if t % (p * b)]))
            rows = [0] * (total // b)
            for t, u, _, x in found:
                rows[t // b] |= (x if u == 0 else 0) << t % b
            return rows, [(t, u, own + x * (next(messages) if t % (p * b) else 0))
                          for t, u, (own,), x in found]
        return read

    def _matrices(self, kind: Kind, n: int) -> Rest[list[tuple[Any, Any, Any]]]:
        """Products of matrices; a triple is one of numbers."""
        k, rows, inner, columns = (*kind[1:], 1, 1, 1)[:4]
        m, p = max(rows, columns), min(rows, columns)
        form = n * inner * p * k, m, p, k, k
        (xs, shares), get = self._send(*form), self._get(*form)

        def products() -> list[tuple[Any, Any, Any]]:
            ys, others = get()
            sums = [[[0] * p for _ in range(m)] for _ in range(n)]
            for t, u, value in shares + others:
                line, v = divmod(t // k, p)
                sums[line // inner][u][v] += value << t % k
            return [self._product(xs[j * inner:][:inner], ys[j * inner * p:][:inner * p], sums[j],
                                  kind) for j in range(n)]
        return products

    def _product(self, columns: Matrix, numbers: list[int], sums: Matrix, kind: Kind
                 ) -> tuple[Any, Any, Any]:
        """One product: own columns by own rows are added to the shares."""
        p, mask = len(sums[0]), (1 << kind[1]) - 1
        x, y = turned(columns), [numbers[i:i + p] for i in range(0, len(numbers), p)]
        v = [[a + b & mask for a, b in zip(*rows)] for rows in zip(sums, multiply(x, y))]
        if kind[0] == 1:
            return x[0][0], y[0][0], v[0][0]
        return (x, y, v) if kind[2] >= kind[4] else (turned(y), turned(x), turned(v))

    def _known(self, kind: Kind, n: int) -> Rest[list[tuple[Any, Matrix]]]:
        """Bits of the holder by integers of the other: own ones, and shares by bit."""
        _, holder, k, b, m = kind
        piece = 16384 // b // 8 * 8
        forms = [(min(piece, n - first) * b, m, 1, b, k) for first in range(0, n, piece)]
        make = self._get if holder == self.mesh.me else self._sent
        ends: list[Rest[tuple[Any, list[Share]]]] = [make(*form) for form in forms]

        def products() -> list[tuple[Any, Matrix]]:
            found: list[tuple[Any, Matrix]] = []
            for (total, *_), end in zip(forms, ends):
                own, shares = end()
                sums = [[[0] * m for _ in range(b)] for _ in range(total // b)]
                for t, u, value in shares:
                    sums[t // b][t % b][u] = value & (1 << k - t % b) - 1
                found += zip(own, sums)
            return found
        return products


def portions(wanted: Counter[Kind]) -> tuple[list[Counter[Kind]], Counter[Kind]]:
    """The portions of kinds of bits, one at least, and all other kinds."""
    bits: list[Counter[Kind]] = [Counter()]
    rest: Counter[Kind] = Counter()
    for kind, n in sorted(wanted.items()):
        if kind != (1, 0) and kind[0] != 2:
            rest[kind] = n
            continue
        while n:
            if bits[-1].total() == PORTION:
                bits.append(Counter())
            now = min(n, PORTION - bits[-1].total())
            bits[-1][kind] = now
            n -= now
    return bits, rest


def transfers(kind: Kind, low: int) -> tuple[int, int]:
    """Transfers that one correlation takes, from low to high and from high to low."""
    match kind:
        case (0, sender):
            return (1, 0) if sender == low else (0, 1)
        case (1, k):
            return k or 1, k or 1
        case (3, _):
            return 1, 0
        case (5, holder, _, b, _):
            return (0, b) if holder == low else (b, 0)
        case (6, k, rows, inner, columns):
            return (k * inner * min(rows, columns),) * 2
    return 1, 1
