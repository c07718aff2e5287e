"""Small programs of two parties, each of which does much of a few kinds of computing: what
`rates.py` measures a machine with. Tables are symbolic, so that each is run at several sizes."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import Any

import sealane as sl


@sl.program
def compared(
    x: sl.Private[sl.u32, "alice", "n <= 1_000_000"], y: sl.Private[sl.u32, "bob", "n"]
) -> sl.Revealed[sl.u32, "bob"]:
    """How often one number is above the other: bits of which each party knows one."""
    return sl.sum(x > y, dtype=sl.u32)


@sl.program
def ands(
    x: sl.Private[sl.u64, "alice", "n <= 1_000_000", 2], y: sl.Private[sl.u64, "bob", "n", 2]
) -> sl.Revealed[sl.u64, "bob"]:
    """ANDs of shared bits, one level deep, and results of all rows."""
    both = x ^ y
    return both[:, 0] & both[:, 1]


@sl.program
def least(
    x: sl.Private[sl.u32, "alice", "n <= 1_000_000"], y: sl.Private[sl.u32, "bob", "n"]
) -> sl.Revealed[sl.u32, "alice"]:
    """The least of shared numbers: a tree of comparisons."""
    return sl.min(x ^ y)


@sl.program
def sorted_rows(
    x: sl.Private[sl.u32, "alice", "n <= 1_000_000"], y: sl.Private[sl.u32, "bob", "n"]
) -> sl.Revealed[sl.u32, "alice"]:
    """A network of comparisons, stage by stage."""
    return sl.sort(x ^ y)


@sl.program
def counted(
    x: sl.Private[sl.u4, "alice", "n <= 1_000_000"], y: sl.Private[sl.u4, "bob", "n"]
) -> sl.Revealed[sl.u32, "alice"]:
    """Bits that become ring elements, and their sums."""
    value = x ^ y
    return sl.stack([sl.sum(value == number, dtype=sl.u32) for number in range(6)])


@sl.program
def products(
    x: sl.Private[sl.i32, "alice", "n <= 1_000_000", 2, sl.between(-999, 999)],
    y: sl.Private[sl.i32, "bob", "n", 2, sl.between(-999, 999)],
) -> sl.Revealed[sl.i64, "bob"]:
    """Products of shared numbers: those of sums are not taken apart behind a comparison."""
    both = sl.maximum(x, y).astype(sl.i64)
    return sl.sum(both[:, 0] * both[:, 1])


@sl.program
def inner(
    x: sl.Private[sl.u16, "alice", "n <= 1_000_000"], y: sl.Private[sl.u16, "bob", "n"]
) -> sl.Revealed[sl.u64, "bob"]:
    """Products of numbers that a party knows."""
    return sl.dot(x.astype(sl.u64), y.astype(sl.u64))


@sl.program
def layer(
    weights: sl.Private[sl.i8, "alice", 16, 24], x: sl.Private[sl.i8, "bob", "n <= 1_000_000", 16]
) -> sl.Revealed[sl.i32, "bob"]:
    """Numbers that a party knows, each by many of the other."""
    return sl.dot(x.astype(sl.i32), weights.astype(sl.i32))


@sl.program
def hidden(
    x: sl.Private[sl.i16, "alice", 40, 40], y: sl.Private[sl.i16, "bob", 40, 40]
) -> sl.Revealed[sl.i32, "bob"]:
    """A product of two shared matrices."""
    both = sl.maximum(x, y).astype(sl.i32) & 1023
    return sl.dot(both, both + 1)


@sl.program
def scaled(
    x: sl.Private[sl.u16, "alice", "n <= 1_000_000"], y: sl.Private[sl.u16, "bob", "n"]
) -> sl.Revealed[sl.u32, "bob"]:
    """Exact floors of products, compared with a bound."""
    return sl.sum((x.astype(sl.u32) * y >> 7) > 1000, dtype=sl.u32)


@sl.program
def chosen(
    key: sl.Private[sl.u8, "alice", "n <= 1_000_000", sl.between(0, 9)],
    value: sl.Private[sl.u32, "bob", "n", sl.between(0, 65_535)],
) -> sl.Revealed[sl.u64, "bob"]:
    """Ring elements chosen by bits that a party knows, and by shared ones."""
    inside = sl.where(key == 3, value, 0)
    above = sl.where((value > 900) & (key > 4), value, 0)
    return sl.sum(inside, dtype=sl.u64) + sl.sum(above, dtype=sl.u64)


@sl.program
def labelled(
    x: sl.Private[sl.u32, "alice", "n <= 1_000_000"], y: sl.Private[sl.u32, "bob", "n"]
) -> sl.Revealed[sl.u32, "bob"]:
    """Comparisons on labels, whose results become ring elements."""
    return sl.sum(sl.share(x > y, "yao"), dtype=sl.u32)


@sl.program
def multiplied(
    x: sl.Private[sl.u16, "alice", "n <= 1_000_000"], y: sl.Private[sl.u16, "bob", "n"]
) -> sl.Revealed[sl.u16, "bob"]:
    """Divisions on labels: many gates for few inputs."""
    return sl.share((x ^ y) // (sl.maximum(x, 1)), "yao")


@sl.program
def deep(
    x: sl.Private[sl.u8, "alice", 600], y: sl.Private[sl.u8, "bob", 600]
) -> sl.Revealed[sl.u16, "alice"]:
    """A loop on labels, in which each gate waits for others."""

    def step(state: Any, one: Any, other: Any) -> Any:
        return sl.minimum(sl.minimum(state, 20_000) * 3 + one, other.astype(sl.u16) + 9_999)

    return sl.scan(step, sl.u16(1), x, y)


@sl.program
def blocks(
    key: sl.Private[sl.u8, "alice", 16], text: sl.Private[sl.u8, "bob", "n <= 1_000_000", 16]
) -> sl.Revealed[sl.u8, "bob"]:
    """AES-128, whose ANDs have common operands."""
    return sl.aes128(key, text)


@sl.program
def own(
    x: sl.Private[sl.f32, "alice", "n <= 1_000_000"], y: sl.Private[sl.u8, "bob", "n"]
) -> sl.Revealed[sl.f32, "bob"]:
    """Work that a party does alone, and a sum of both."""
    return sl.sum(x * x + x).astype(sl.f32) + sl.sum(y, dtype=sl.u32).astype(sl.f32)


@sl.program
def own_words(
    x: sl.Private[sl.u32, "alice", "n <= 1_000_000"], y: sl.Private[sl.u8, "bob", "n"]
) -> sl.Revealed[sl.u64, "bob"]:
    """As `own`, with many bytes for each gate."""
    return sl.sum(sl.roll(x, 1), dtype=sl.u64) + sl.sum(y, dtype=sl.u64)


@sl.program
def windows(
    x: sl.Private[sl.u16, "alice", "n <= 1_000_000"], y: sl.Private[sl.u16, "bob", "n"]
) -> sl.Revealed[sl.u32, "bob"]:
    """Rows moved and added without a message."""
    total = x.astype(sl.u32) + y
    return sum((sl.roll(total, by) * by for by in range(1, 9)), total)


@sl.program
def narrow(
    x: sl.Private[sl.u4, "alice", "n <= 1_000_000"], y: sl.Private[sl.u32, "bob", "n"]
) -> sl.Revealed[sl.u64, "bob"]:
    """As `inner`, with few bits of the shorter numbers."""
    return sl.dot(x.astype(sl.u64), y.astype(sl.u64))


@sl.program
def apart(
    x: sl.Private[sl.u16, "alice", "n <= 1_000_000", 2], y: sl.Private[sl.u16, "bob", "n", 2]
) -> sl.Revealed[sl.u64, "alice"]:
    """Squares of differences, of which each party knows a term."""
    far = x.astype(sl.i64) - y
    return sl.max(sl.sum(far * far, axis=1)).astype(sl.u64)


@sl.program
def deep_layer(
    weights: sl.Private[sl.i16, "alice", 16, 24], x: sl.Private[sl.i16, "bob", "n <= 1_000_000", 16]
) -> sl.Revealed[sl.i64, "bob"]:
    """As `layer`, with more bits."""
    return sl.dot(x.astype(sl.i64), weights.astype(sl.i64))


@sl.program
def own_order(
    x: sl.Private[sl.u32, "alice", "n <= 1_000_000"], y: sl.Private[sl.u32, "bob", "n"]
) -> sl.Revealed[sl.u32, "bob"]:
    """A sort that a party does alone, and the most of what both make of it."""
    return sl.max(sl.sort(x) ^ y)


@sl.program
def mixed_bits(
    x: sl.Private[sl.u32, "alice", 300], y: sl.Private[sl.u32, "bob", 300]
) -> sl.Revealed[sl.u32, "bob"]:
    """Exclusive ors of labels, many for each AND."""

    def step(state: Any, word: Any) -> Any:
        state = state ^ word
        for by in (13, 17, 5, 7, 11, 3):
            state = state ^ (state >> by)
        return state ^ (state & sl.u32(3))

    return sl.scan(step, sl.u32(1), x ^ y) & 0xFFFF


@sl.program
def grouped(
    key: sl.Private[sl.u8, "alice", "n <= 1_000_000", sl.between(0, 19)],
    value: sl.Private[sl.u32, "bob", "n", sl.between(0, 65_535)],
) -> sl.Revealed[sl.u64, "bob"]:
    """Sums of many columns of ring elements, without a message between."""
    inside = [sl.where(key == group, value, 0) for group in range(20)]
    return sl.stack([sl.sum(part, dtype=sl.u64) for part in inside])


@sl.program
def shifted(
    x: sl.Private[sl.u32, "alice", 5_000], y: sl.Private[sl.u32, "bob", 5_000]
) -> sl.Revealed[sl.u32, "bob"]:
    """A loop on a single row in which no gate is an AND."""

    def step(state: Any, word: Any) -> Any:
        for by in (13, 17, 5):
            state = state ^ (state >> by)
        return state ^ word

    return sl.scan(step, sl.u32(1), x ^ y)
