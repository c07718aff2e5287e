"""Programs that `second.py` runs, for what no example has.

`rings` has products of all forms and all steps on integers of `gmw`; `groups` and `ranks` have
networks of all kinds, and rows that meet all rows; `labels` and `blocks` are for `mixed`, and
`matrices`, `totals`, `orders` and `largest` for `trio-malicious`.
"""

from __future__ import annotations

import sealane as sl

I64 = sl.Revealed[sl.i64, "alice", "bob"]
U8 = sl.Revealed[sl.u8, "alice", "bob"]


@sl.program
def rings(
    x: sl.Private[sl.i16, "alice", "n <= 100", 2, sl.between(-900, 900)],
    y: sl.Private[sl.i16, "bob", "n", 2, sl.between(-900, 900)],
    a: sl.Private[sl.i8, "alice", 3, 4],
    b: sl.Private[sl.i8, "bob", 3, 4],
    c: sl.Private[sl.i8, "bob", 4, 2],
    u: sl.Private[sl.u32, "alice"],
    v: sl.Private[sl.u32, "bob"],
) -> tuple[I64, I64, I64, I64, sl.Revealed[sl.boolean, "bob"], sl.Revealed[sl.u64, "alice"]]:
    """Operands that a party knows, or both, or nobody; lines that all meet, and that do not."""
    total = x.astype(sl.i64) + y
    pairs = total * (x.astype(sl.i64) - 2 * y)
    chosen = sl.where(x > y, pairs, 0) >> 5
    mixed, squares = a.astype(sl.i64) + b, c.astype(sl.i64) * c + a[0, 0]
    known = sl.dot(a.astype(sl.i64), squares) + sl.dot(mixed, c.astype(sl.i64))
    product = u.astype(sl.u64) * v
    return (
        chosen,
        sl.sum(pairs, axis=0),
        sl.dot(mixed, squares),
        known,
        sl.sum(total * y, axis=1) > 3,
        product >> 7,
    )


@sl.program
def groups(
    x: sl.Private[sl.u8, "alice", "n <= 60"],
    y: sl.Private[sl.u8, "bob", "n"],
    z: sl.Private[sl.i8, "alice", "n", 2],
    few: sl.Private[sl.u8, "bob", 7],
) -> tuple[U8, U8, U8, sl.Revealed[sl.i8, "alice"], U8]:
    """Sorts of rows and of a few elements, groups, and the first rows."""
    found = sl.group_by(x & 3, most=4).agg(largest=sl.max(y))
    *_, moved = sl.sort_by([x ^ y, x], z)
    return found.keys, found.largest, sl.top_k(x ^ y, 3), moved, sl.sort(few)


@sl.program
def ranks(
    x: sl.Private[sl.i8, "alice", "n <= 60"],
    y: sl.Private[sl.i8, "bob", "m <= 50"],
    few: sl.Private[sl.i8, "alice", 3],
    other: sl.Private[sl.i8, "bob"],
) -> tuple[sl.Revealed[sl.i8, "alice"], I64, sl.Revealed[sl.i8, "bob"]]:
    """Rows, and a few elements, that meet all rows of a table; and running maxima."""
    return (
        sl.map(lambda one: sl.max(sl.where(y < one, y, 0)), x),
        sl.map(lambda one: sl.sum(sl.where(y < one, y, other).astype(sl.i64)), few),
        sl.cummax(x ^ other),
    )


@sl.program
def labels(
    x: sl.Private[sl.u16, "alice", "n <= 1_000"],
    y: sl.Private[sl.u16, "bob", "n"],
) -> tuple[I64, sl.Revealed[sl.u16, "bob"], sl.Revealed[sl.u16, "alice", "bob"]]:
    """Bits on labels, as asked for, and trees whose last levels are steps of their own."""
    quotient = sl.share(x ^ y, "yao") // (y | 1)
    total = sl.sum(quotient.astype(sl.i64) * y)
    return total, quotient, sl.max(x ^ y)


@sl.program
def blocks(
    key: sl.Private[sl.u8, "alice", 16],
    text: sl.Private[sl.u8, "bob", "n <= 100", 16],
) -> sl.Revealed[sl.u8, "bob"]:
    """AES-128, whose S-boxes have two forms."""
    return sl.aes128(key, text)


@sl.program
def matrices(
    a: sl.Private[sl.i16, "alice", 3, 4],
    b: sl.Private[sl.i16, "bob", 4, 2],
    x: sl.Private[sl.i26, "alice", 5],
    y: sl.Private[sl.i26, "bob", 5],
) -> tuple[I64, sl.Revealed[sl.i64, "bob"], sl.Revealed[sl.boolean, "alice"]]:
    """A matrix product, an inner one, and products one by one."""
    pairs = (x.astype(sl.i64) - 3 * y.astype(sl.i64)) * x
    matrix = sl.dot(a.astype(sl.i64), b.astype(sl.i64))
    return matrix, sl.dot(x.astype(sl.i64), y.astype(sl.i64)), pairs > 1000


@sl.program
def totals(
    x: sl.Private[sl.u24, "alice", "n <= 1_000", 2],
    y: sl.Private[sl.i24, "bob", "n", 2],
) -> tuple[I64, sl.Revealed[sl.i64, "bob"]]:
    """Sums of products over all rows, and over those of a row."""
    pairs = x.astype(sl.i64) * y.astype(sl.i64)
    return sl.sum(pairs, axis=0), sl.sum(pairs, axis=1)


@sl.program
def orders(
    x: sl.Private[sl.i5, "alice", "n <= 100_000"],
    y: sl.Private[sl.u2, "bob", "n"],
    z: sl.Private[sl.u64, "bob", "n", 2],
) -> tuple[sl.Revealed[sl.u64, "alice"], sl.Revealed[sl.i5, "bob"]]:
    """Sorts of rows of any width, by several keys and by one that descends."""
    *_, moved = sl.sort_by([y, x], z)
    return moved, sl.sort(x, descending=True)


@sl.program
def largest(
    x: sl.Private[sl.u3, "alice", "n <= 100_000"],
    y: sl.Private[sl.u8, "bob", "n"],
) -> tuple[U8, sl.Revealed[sl.u8, "alice"]]:
    """Groups, which a sort makes."""
    found = sl.group_by(x.astype(sl.u8), most=4).agg(largest=sl.max(y))
    return found.keys, found.largest
