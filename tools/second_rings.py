"""A program that `second.py` runs under `gmw`: products of all forms, and all steps on integers."""

from __future__ import annotations

import sealane as sl

I64 = sl.Revealed[sl.i64, "alice", "bob"]


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
