"""Twenty programs of two parties whose parts want different sharings: what `twenty.py` plans.

Distances, scores, sorts, groups and small neural networks, with bounds of rows for which figures
are known. Tables are symbolic, so that each program runs on fewer rows as well.
"""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import sealane as sl
from sealane import math


@sl.program
def biometric(
    probe: sl.Private[sl.u16, "alice", 4], people: sl.Private[sl.u16, "bob", "n <= 10_000", 4]
) -> sl.Revealed[sl.u64, "alice"]:
    """The least squared distance of a probe to any row."""
    apart = people.astype(sl.i64) - probe
    return sl.min(sl.sum(apart * apart, axis=1)).astype(sl.u64)


@sl.program
def means(
    a: sl.Private[sl.u16, "alice", "n <= 10_000", 2],
    b: sl.Private[sl.u16, "bob", "n", 2],
    centres: sl.Private[sl.u16, "alice", 4, 4],
) -> sl.Revealed[sl.u32, "bob"]:
    """One step of 4-means; each party has two coordinates of a point."""
    point = [a[:, 0], a[:, 1], b[:, 0], b[:, 1]]
    far = []
    for centre in range(4):
        apart = [point[axis].astype(sl.i64) - centres[centre, axis] for axis in range(4)]
        far.append(sum((d * d for d in apart[1:]), apart[0] * apart[0]))
    least = sl.minimum(sl.minimum(far[0], far[1]), sl.minimum(far[2], far[3]))
    moved = []
    for centre in range(4):
        mine = far[centre] <= least
        members = sl.maximum(sl.sum(mine, dtype=sl.u32), 1)
        for axis in (0, 2):
            moved.append(sl.sum(sl.where(mine, point[axis], 0), dtype=sl.u32) // members)
    return sl.stack(moved)


@sl.program
def euclid(
    x: sl.Private[sl.u16, "alice", "n <= 100_000"], y: sl.Private[sl.u16, "bob", "n"]
) -> sl.Revealed[sl.u64, "alice"]:
    """The squared distance of two vectors."""
    apart = x.astype(sl.i64) - y
    return sl.sum(apart * apart).astype(sl.u64)


@sl.program
def largest(
    x: sl.Private[sl.u32, "alice", "n <= 100_000"], y: sl.Private[sl.u32, "bob", "n"]
) -> sl.Revealed[sl.u32, "alice"]:
    """The place of the largest of shared numbers."""
    return sl.argmax(x ^ y).astype(sl.u32)


@sl.program
def histogram(
    x: sl.Private[sl.u4, "alice", "n <= 100_000"], y: sl.Private[sl.u4, "bob", "n"]
) -> sl.Revealed[sl.u32, "alice"]:
    """How often each of 16 shared numbers occurs."""
    value = x ^ y
    return sl.stack([sl.sum(value == number, dtype=sl.u32) for number in range(16)])


@sl.program
def inference(
    weights: sl.Private[sl.i8, "alice", 32], x: sl.Private[sl.i8, "bob", "n <= 10_000", 32]
) -> sl.Revealed[sl.i32, "bob"]:
    """A logistic score by a line in three pieces."""
    score = sl.dot(x.astype(sl.i32), weights)
    return sl.clip(score // 4 + 512, 0, 1024)


@sl.program
def ordered(
    x: sl.Private[sl.u32, "alice", "n <= 4_096"], y: sl.Private[sl.u32, "bob", "n"]
) -> sl.Revealed[sl.u32, "alice"]:
    """Shared numbers, sorted."""
    return sl.sort(x ^ y)


@sl.program
def matrix(
    x: sl.Private[sl.i32, "alice", 128, 128, sl.between(-4095, 4095)],
    y: sl.Private[sl.i32, "bob", 128, 128, sl.between(-4095, 4095)],
) -> sl.Revealed[sl.i32, "alice"]:
    """A product of matrices, each known to a party."""
    return sl.dot(x, y)


@sl.program
def median(
    x: sl.Private[sl.u32, "alice", "n <= 1_000"], y: sl.Private[sl.u32, "bob", "n"]
) -> sl.Revealed[sl.f64, "alice"]:
    """The median of shared numbers."""
    return sl.median(x ^ y)


@sl.program
def auction(
    x: sl.Private[sl.u32, "alice", "n <= 500"], y: sl.Private[sl.u32, "bob", "m <= 500"]
) -> sl.Revealed[sl.u32, "alice", "bob"]:
    """The second highest of all bids."""
    return sl.top_k(sl.concatenate([sl.top_k(x, 2), sl.top_k(y, 2)]), 2)[1]


@sl.program
def groups(
    key: sl.Private[sl.u8, "alice", "n <= 100_000", sl.between(0, 99)],
    value: sl.Private[sl.u32, "bob", "n", sl.between(0, 65_535)],
) -> sl.Revealed[sl.u64, "bob"]:
    """Sums by a key that the other party knows."""
    inside = [sl.where(key == group, value, 0) for group in range(100)]
    return sl.stack([sl.sum(part, dtype=sl.u64) for part in inside])


@sl.program
def average(
    x: sl.Private[sl.u16, "alice", "n <= 100_000"], y: sl.Private[sl.u16, "bob", "n"]
) -> sl.Revealed[sl.u32, "bob"]:
    """The largest average of five neighbours."""
    total = x.astype(sl.u32) + y
    window = sum((sl.roll(total, by) for by in range(1, 5)), total)
    return sl.max(window // 5)


@sl.program
def crc(
    x: sl.Private[sl.u8, "alice", 4096], y: sl.Private[sl.u8, "bob", 4096]
) -> sl.Revealed[sl.u32, "bob"]:
    """CRC-32 of shared bytes, without the last inversion."""

    def step(state: Any, byte: Any) -> Any:
        state = state ^ byte.astype(sl.u32)
        for _ in range(8):
            state = (state >> 1) ^ sl.where((state & 1) == 1, sl.u32(0xEDB88320), sl.u32(0))
        return state

    return sl.scan(step, sl.u32(0xFFFFFFFF), x ^ y)


@sl.program
def correlation(
    x: sl.Private[sl.u16, "alice", "n <= 1_000_000"], y: sl.Private[sl.u16, "bob", "n"]
) -> sl.Revealed[sl.f64, "bob"]:
    """Pearson's coefficient of a column of each party."""
    n = sl.count(x).astype(sl.f64)
    own, other = x.astype(sl.u64), y.astype(sl.u64)
    sums = [sl.sum(column).astype(sl.f64) for column in (own, other)]
    squares = [sl.dot(column, column).astype(sl.f64) for column in (own, other)]
    apart = [n * square - mean * mean for square, mean in zip(squares, sums, strict=True)]
    both = n * sl.dot(own, other).astype(sl.f64) - sums[0] * sums[1]
    return both / math.sqrt(apart[0] * apart[1])


@sl.program
def network(
    first: sl.Private[sl.i8, "alice", 784, 128],
    second: sl.Private[sl.i8, "alice", 128, 128],
    third: sl.Private[sl.i8, "alice", 128, 10],
    x: sl.Private[sl.u8, "bob", 128, 784],
) -> sl.Revealed[sl.u8, "bob"]:
    """Three dense layers, and the class of each row."""
    hidden: Any = x
    for weights, by in ((first, 10), (second, 10)):
        sums = sl.dot(hidden.astype(sl.i32), weights.astype(sl.i32))
        hidden = sl.clip(sl.maximum(sums, 0) >> by, 0, 255)
    return sl.argmax(sl.dot(hidden, third.astype(sl.i32)), axis=1).astype(sl.u8)


def by_diagonals(n: int, edge: Callable[[int], Any], cell: Callable[..., Any]) -> Any:
    """The last cell of a table of n x n cells beside its edge, of which each follows from the three
    before it: all cells of a diagonal at once.

    `edge` gives cell (0, d) and (d, 0); `cell` makes the cells (i, d - i) for i from `low` to
    `high` from those above, to the left, and at the corner.
    """
    before, last = sl.stack([edge(0)]), sl.stack([edge(1), edge(1)])
    for d in range(2, 2 * n + 1):
        low, high = max(1, d - n), min(n, d - 1)
        # The first row that a diagonal has.
        start, first = max(0, d - 2 - n), max(0, d - 1 - n)
        above = last[low - 1 - first : high - first]
        left = last[low - first : high + 1 - first]
        corner = before[low - 1 - start : high - start]
        cells = cell(d, low, high, above, left, corner)
        ends = [sl.stack([edge(d)])] if d <= n else []
        before, last = last, sl.concatenate([*ends, cells, *ends])
    return last[0]


@sl.program
def edits(
    x: sl.Private[sl.u8, "alice", 256], y: sl.Private[sl.u8, "bob", 256]
) -> sl.Revealed[sl.u16, "alice", "bob"]:
    """The edit distance of two texts."""
    backwards = sl.flip(y)

    def cell(d: int, low: int, high: int, above: Any, left: Any, corner: Any) -> Any:
        differ = x[low - 1 : high] != backwards[256 - d + low : 256 - d + high + 1]
        least = sl.minimum(sl.minimum(above, left) + 1, corner + differ.astype(sl.u16))
        return sl.minimum(least, 256)

    return by_diagonals(256, lambda d: sl.u16(d), cell)


@sl.program
def series(
    x: sl.Private[sl.u12, "alice", 256], y: sl.Private[sl.u12, "bob", 256]
) -> sl.Revealed[sl.u32, "alice", "bob"]:
    """Dynamic time warping of two series, by squared differences."""
    far = 2**31
    backwards = sl.flip(y)

    def cell(d: int, low: int, high: int, above: Any, left: Any, corner: Any) -> Any:
        apart = x[low - 1 : high].astype(sl.i32) - backwards[256 - d + low : 256 - d + high + 1]
        least = sl.minimum(sl.minimum(above, left), corner)
        return sl.minimum(least + (apart * apart).astype(sl.u32), far)

    return by_diagonals(256, lambda d: sl.u32(far if d else 0), cell)


Real = Annotated[sl.FixedPoint, sl.fixed(32, 16)]


@sl.program
def gauss(
    own: sl.Private[Real, "alice", 16, 17, sl.between(-64, 64)],
    other: sl.Private[Real, "bob", 16, 17, sl.between(-64, 64)],
) -> sl.Revealed[Real, "alice", "bob"]:
    """The triangle of sixteen linear equations whose coefficients are shared, without exchange of
    rows, as the last of its unknowns. Numbers stay within 512 either way."""
    rows = own + other
    for _ in range(15):
        pivot = rows[0, 0]
        quotient = rows[0, 1:] / sl.maximum(sl.abs(pivot), 1 / 16)
        line = sl.clip(sl.where(pivot < 0, -quotient, quotient), -16, 16)
        below = rows[1:, 1:] - sl.stack([rows[1:, 0]], axis=1) * line
        rows = sl.clip(below, -512, 512)
    return rows[0]


@sl.program
def blocks(
    key: sl.Private[sl.u8, "alice", 16], text: sl.Private[sl.u8, "bob", "n <= 100_000", 16]
) -> sl.Revealed[sl.u8, "bob"]:
    """AES-128 of blocks."""
    return sl.aes128(key, text)


@sl.program
def credit(
    debts: sl.Private[sl.f32, "alice", "n <= 1_000"], income: sl.Private[sl.f32, "bob", "n"]
) -> sl.Revealed[sl.f32, "bob"]:
    """A score with a power and a logarithm."""
    share = debts / sl.maximum(income, 1.0)
    return math.log(1.0 + share) * math.sqrt(share) + 0.5 * share
