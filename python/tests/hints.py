"""Hints of `refusals.md` and of pages of `docs/errors`, and programs that follow them."""

from __future__ import annotations

import datetime
from typing import Any, NamedTuple


class Followed(NamedTuple):
    """A hint, what it makes of the program, the type of its result, and the result."""

    hint: str
    body: str
    kind: str
    result: Any


def expression(hint: str, code: str, result: Any, kind: str = "sl.boolean") -> Followed:
    return Followed(hint, f"return {code}\n", kind, result)


def whole(hint: str, signature: str, result: Any = True) -> Followed:
    """A signature with one input `a`, which is 5."""
    code = f"@sl.program\ndef f({signature}:\n    return a > 3\n"
    return Followed(hint, code, "", result)


I64, U16, U32, FINE = "sl.i64", "sl.u16", "sl.u32", "sl.fixed(48, 16)"
CHOOSE = "compute both and choose: `sl.where(condition, a, b)`"
LOOKUP = "`sl.lookup(table, index)`"
FIRST = "name the table first: `sl.lookup(table, index)`"
NAME = "name one: `sl.fixed(16, 16)(0.1)`, or of an array: `sl.fixed(16, 16)(array)`"
SATURATE = "`sl.saturate(x, type)`"
JOIN = "join it: `sl.stack([...])`"
WAYS = "to count, loop over a public number, or walk a dimension with `sl.map` or `sl.scan`"
LATER = ") -> sl.Revealed[sl.boolean, 'bob']"

REFUSALS: dict[str, Followed] = {
    "`if` on a secret": expression(CHOOSE, "sl.where(n > 3, n, y[0])", 5, I64),
    "`while` on a secret": Followed(
        "`state = sl.where(done, state, step(state))`",
        "state = n.astype(sl.i64)\n"
        "for _ in range(4):\n"
        "    state = sl.where(state <= 3, state, sl.maximum(state, 0) - 1)\n"
        "return state\n",
        I64,
        3,
    ),
    "`and`": expression("`(a > 0) & (b > 0)`", "(n > 3) & (y[0] > 30)", False),
    "`or`": expression("`(a > 0) | (b > 0)`", "(n > 3) | (y[0] > 30)", True),
    "`not`": expression("write `~condition`", "~(n > 3)", False),
    "`if not`": expression("write `~condition`", "sl.where(~(n > 3), 1, 2)", 2, I64),
    "a chained comparison": expression("`(low < x) & (x < high)`", "(0 < n) & (n < 9)", True),
    "`in`": expression("`(x == item).any()`", "(y == 30).any()", True),
    "`assert`": expression("reveal the condition as a result", "n == 3", False),
    "a conditional expression": expression(CHOOSE, "sl.where(n > 3, y[0], y[1])", 10, U16),
    "a comprehension with a condition": expression(
        "`sl.where(condition, x, 0)`", "sl.where(y > 15, y, 0).sum(dtype=sl.u32)", 91, U32
    ),
    "`bool`": expression("or `x != 0`", "n != 0", True),
    "a column without a name": whole(
        '`sl.column("x")`',
        'a: sl.Private[sl.u8, "alice", sl.column("x")]) -> sl.Revealed[sl.boolean, "bob"]',
    ),
    "a stack of one value without a list": expression(
        "`sl.stack([a, b])`", "sl.stack([n, n]).max() > 3", True
    ),
    "an axis that is none": expression("`axis=0`", "y.sum(axis=0, dtype=sl.u32) > n", True),
    "`max` of Python": expression("`sl.maximum(a, b)`", "sl.maximum(n, 30)", 30, I64),
    "`int`": expression("`x.astype(sl.i64)`", "n.astype(sl.i64)", 5, I64),
    "`math.sqrt`": expression(
        "`x.astype(sl.fixed(16, 16))`", "x.astype(sl.fixed(17, 16)).max() / 2", 1.5, FINE
    ),
    "`range` of a secret": expression(WAYS, "sl.map(lambda v: v > 2, x).any()", True),
    "a list indexed by a secret": expression(LOOKUP, "sl.lookup([7, 8, 9, 4], n & 3)", 8, I64),
    "a value indexed by a secret": expression(LOOKUP, "sl.lookup(y, n & 3)", 20, U16),
    "a NumPy array indexed by a secret": expression(
        "`sl.lookup(array, index)`", "sl.lookup(np.array([1, 2, 3, 4]), n & 3)", 2, I64
    ),
    "an index that can leave its table": expression(
        "`sl.minimum(sl.maximum(n, 0), 15)`",
        "sl.lookup([i * i for i in range(16)], sl.minimum(sl.maximum(n, 0), 15))",
        25,
        I64,
    ),
    "an index larger than its table": expression("`y & 3`", "sl.lookup(y, y & 3).max()", 30, U16),
    "a value that may be no element of its field": expression(
        "`y & 15`", "sl.gf_mul(y & 15, 3, 0x13).max()", 13, "sl.u4"
    ),
    "a polynomial that is none of a field": expression(
        "`0x11b` for the field of AES", "sl.gf_mul(y & 255, 3, 0x11B).max()", 123, "sl.u8"
    ),
    "a polynomial that is a value": expression(
        "`sl.gf_mul(a, b, 0x11b)`", "sl.gf_mul(y & 255, 3, 0x11B).max()", 123, "sl.u8"
    ),
    "a state as an index": expression(
        "`state & 3` keeps the low bits",
        "sl.scan(lambda state, v: sl.lookup(sl.u8([3, 1, 2, 0]), state & 3), sl.u8(0), y)",
        0,
        "sl.u8",
    ),
    "a table of rows": expression(
        "`sl.where(key == i, x, 0).sum()`", "sl.where(x == 2, x, 0).sum(dtype=sl.u32)", 2, U32
    ),
    "a table that is one element": expression(FIRST, "sl.lookup(y, n & 3)", 20, U16),
    "a table and an index the wrong way round": expression(
        FIRST, "sl.lookup([1, 2, 3, 4], n & 3)", 2, I64
    ),
    "a table with masked elements": expression(
        "`x.filled(0)`",
        "sl.lookup(np.ma.array([5, 7], mask=[False, True]).filled(0), n & 1)",
        0,
        I64,
    ),
    "a table of values in a list": expression(
        JOIN, "sl.lookup(sl.stack([n, -1 & n]), y[0] & 1)", 5, I64
    ),
    "a table of fractions": expression(
        NAME, "sl.lookup(sl.fixed(16, 16)([0.25, 1.5]), n & 1)", 1.5, FINE
    ),
    "a truth value as an index": expression(
        "`sl.where((n > 0), yes, no)`", "sl.where((n > 0), 5, 3)", 5, I64
    ),
    "an argument that a function does not have": expression(
        "write `descending=True`", "sl.sort(y, descending=True)[0]", 41, U16
    ),
    "a fraction of places": expression("`sl.roll(x, 1)`", "sl.roll(y, 1)[0]", 41, U16),
    "a secret number of places": expression("`sl.roll(x, 1)`", "sl.roll(y, 1)[1]", 10, U16),
    "cells that may be missing in a function of numbers": Followed(
        "give numbers in its place: `x.fill(0)`",
        "@sl.program\n"
        "def f(a: sl.Private[sl.nullable(sl.f32), 'alice']) -> sl.Revealed[sl.boolean, 'bob']:\n"
        "    return sl.math.sqrt(a.fill(0.0)) > 2\n",
        "",
        True,
    ),
    "a date in an operator of numbers": expression("`x.days`", "sl.date(n).days // 2", 2, I64),
    "a result that may lie beyond the last date": Followed(
        "`sl.minimum(x, datetime.date(9999, 12, 31))`",
        "import datetime\n"
        "@sl.program\n"
        "def f(n: sl.Private[sl.u8, 'alice']) -> sl.Revealed[sl.date, 'bob']:\n"
        "    return sl.minimum(sl.date(n.astype(sl.i23)) + 9, datetime.date(9999, 12, 31))\n",
        "",
        datetime.date(1970, 1, 15),
    ),
    "the `merge` of pandas": expression(
        "`sl.map(lambda k: sl.sum(sl.where(keys == k, x, 0), dtype=sl.i64), mine)`",
        "sl.map(lambda k: sl.sum(sl.where(sl.stack([3, n, 2]) == k, y[:3], 0), dtype=sl.i64), x)",
        [10, 0, 30],
        I64,
    ),
    "a correctly rounded form that there is not": expression(
        "leave `exact=True` out", "sl.math.lgamma(n.astype(sl.f32)) > 3.0", True
    ),
    "a reduction of groups outside of `agg`": expression(
        "`.agg(result=sl.sum(x)).result`",
        "sl.group_by(x, most=3).agg(result=sl.sum(x, dtype=sl.u32)).result",
        [1, 2, 3],
        U32,
    ),
    "a column of groups": expression(
        "`.agg(total=sl.sum(x)).total`",
        "sl.group_by(x, most=3).agg(total=sl.sum(x, dtype=sl.u32)).total",
        [1, 2, 3],
        U32,
    ),
    "a reduction of groups without a name": expression(
        "`.agg(total=sl.sum(x))`",
        "sl.group_by(x, most=3).agg(total=sl.sum(x, dtype=sl.u32)).total",
        [1, 2, 3],
        U32,
    ),
    "a result of groups that there is not": expression(
        "it has `most`", "sl.group_by(x, most=3).agg(most=sl.max(x)).most", [1, 2, 3], U16
    ),
    "an argument of another type": expression(
        "`(x, q, *, method='linear')`", "sl.quantile(x, 0.5)", 2.0, "sl.f64"
    ),
    "an assigned element": expression(
        "`sl.where(condition, new, old)`",
        "sl.where(np.arange(4) == 0, 3, y).sum(dtype=sl.u32)",
        94,
        U32,
    ),
    "a loop over rows": expression(
        "`sl.scan(body, start, rows)`",
        "sl.scan(lambda s, v: sl.minimum(s, 9000) + v % 100, sl.u16(0), x)",
        6,
        U16,
    ),
    "the number of rows": expression(
        "their number is `sl.count(x)`", "x.sum(dtype=sl.fixed(40, 16)) / sl.count(x)", 2.0, FINE
    ),
    "a NumPy function by name": expression(
        "functions of `sealane`, which `dir(sl)` lists", "sl.sum(y, dtype=sl.u32)", 101, U32
    ),
    "a NumPy function without a counterpart": expression(
        "convert it: `x.astype(sl.f32)`", "np.sqrt(n.astype(sl.f32) - 1)", 2.0, "sl.f32"
    ),
    "a value in a NumPy array": expression(
        "`sl.stack([...])`", "sl.stack([n, n]).sum(dtype=sl.i64)", 10, I64
    ),
    "a true division": expression(
        "`n.astype(sl.fixed(32, 16)) / 2`", "n.astype(sl.fixed(32, 16)) / 2", 2.5, FINE
    ),
    "a power": expression("multiply: `x * x`", "n.astype(sl.i64) * n", 25, I64),
    "a method that there is not": expression(
        "write `sl.median(x)`", "sl.median(y)", 25.0, "sl.f64"
    ),
    "a float": expression(
        "`x.astype(sl.fixed(17, 16))`", "(y.astype(sl.fixed(18, 16)) * 1.5).max()", 61.5, FINE
    ),
    "a list of values as an operand": expression(
        JOIN, "(y.astype(sl.i64) + sl.stack([n, n, n, n])).sum(dtype=sl.i64)", 121, I64
    ),
    "a type of NumPy": expression("write `sl.i64`", "y.astype(sl.i64).sum()", 101, I64),
    "an overflow, deep in a line after wide characters": expression(
        "write `y.astype(sl.u32) * y`", "(y.astype(sl.u32) * y).sum(dtype=sl.u64)", 3081, "sl.u64"
    ),
    "no `return`": expression("end it with `return`", "n > 3", True),
    "rows joined along axis 0": expression(
        "write `axis=1`", "sl.stack([x, x], axis=1).sum(dtype=sl.u32)", 12, U32
    ),
    "too few results": expression("`sl.Revealed` of the signature", "n > 3", True),
    "no owner": whole('`sl.Private[sl.u8, "owner", ...]`', "a: sl.Private[sl.u8, 'al']" + LATER),
    "no declaration at all": whole(
        '`a: sl.Private[sl.u16, "owner"]`', "a: sl.Private[sl.u16, 'al']" + LATER
    ),
    "a plain type": whole('`sl.Private[sl.u8, "owner"]`', "a: sl.Private[sl.u8, 'al']" + LATER),
    "a type of Python": whole(
        '`sl.Private[sl.u16, "owner"]`', "a: sl.Private[sl.u16, 'al']" + LATER
    ),
    "no element type": whole(
        '`sl.Private[sl.u16, "owner"]`', "a: sl.Private[sl.u16, 'al']" + LATER
    ),
    "a result declared as an input": whole(
        "write `sl.Revealed[...]`", "a: sl.Private[sl.u8, 'al']" + LATER
    ),
    "no receiver": whole(
        '`sl.Revealed[sl.boolean, "receiver"]`', "a: sl.Private[sl.u8, 'al']" + LATER
    ),
    "no result": whole(
        '`-> sl.Revealed[sl.boolean, "receiver"]`', "a: sl.Private[sl.u8, 'al']" + LATER
    ),
    "rows without a bound": whole(
        '`"rows <= 10_000"`', "a: sl.Private[sl.u8, 'al', 'rows <= 10_000']" + LATER, [True]
    ),
    "rows that cannot be read": whole(
        '`"patients <= 10_000"`', "a: sl.Private[sl.u8, 'al', 'patients <= 10_000']" + LATER, [True]
    ),
    "a product that leaves its fixed-point type": expression(
        "write `z.astype(sl.ufixed(32, 8)) * z`",
        "(lambda z: z.astype(sl.ufixed(32, 8)) * z)(x.astype(sl.fixed(17, 8))).max()",
        9.0,
        FINE,
    ),
    "a quotient whose divisor can be zero": expression(
        "divide by `sl.maximum(sl.abs(",
        "1 / sl.maximum(sl.abs(n.astype(sl.fixed(32, 8)).astype(sl.fixed(33, 8))), 0.00390625)",
        51 / 256,
        FINE,
    ),
    "a result with a longer fraction than its type": whole(
        "round it down with `.astype(sl.i8)`",
        "a: sl.Private[sl.fixed(8, 8), 'al']) -> sl.Revealed[sl.boolean, 'bob']",
    ),
    "bits of a number with a fraction": expression(
        "`x.astype(sl.fixed(17, 4)).astype(sl.u16)`",
        "(x.astype(sl.fixed(17, 4)).astype(sl.u16) & 1).max()",
        1,
        U16,
    ),
    "a carry that is rounded": expression(
        "round it down with `.astype(sl.u8)`",
        "sl.scan(lambda s, e: sl.saturate(s + e.astype(sl.fixed(17, 4)) // 2, sl.u8), sl.u8(0), x)",
        2,
        "sl.u8",
    ),
    "an index with a fraction": expression(
        "`x.astype(sl.fixed(17, 1)).astype(sl.i64)`",
        "sl.lookup([1, 2], x.astype(sl.fixed(17, 1)).astype(sl.i64) & 1).sum(dtype=sl.i64)",
        5,
        I64,
    ),
    "a float that its type does not hold": expression(
        "convert the other operand to a type that holds it, with `.astype`",
        "n.astype(sl.fixed(48, 8)) + 1e12",
        1e12 + 5,
        "sl.fixed(48, 8)",
    ),
    "a float without a type": expression(
        NAME, "sl.where(n > 3, sl.fixed(16, 16)(0.25), sl.fixed(16, 16)(0.5))", 0.25, FINE
    ),
    "a fixed-point type that wraps": expression(
        SATURATE, "sl.saturate(n, sl.fixed(8, 8))", 5.0, FINE
    ),
    "a wrapping form of a fixed-point type": expression(
        SATURATE, "sl.saturate(n, sl.fixed(8, 8))", 5.0, FINE
    ),
    "truth of a number with a fraction": expression(
        "write `n.astype(sl.fixed(32, 8)) != 0`", "n.astype(sl.fixed(32, 8)) != 0", True
    ),
    "a fixed-point type of too many bits": expression(
        "write `sl.fixed(16, 16)`", "sl.saturate(n, sl.fixed(16, 16))", 5.0, FINE
    ),
    "fixed point of no width": whole(
        '`sl.Private[sl.u16, "owner"]`', "a: sl.Private[sl.u16, 'al']" + LATER
    ),
    "a shift by the width": expression(
        "`n.astype(sl.i64) << 32`", "n.astype(sl.i64) << 32", 5 << 32, I64
    ),
    "a shift backwards": expression("`n >> 2`", "n >> 2", 1, I64),
    "a divisor that is rounded to zero": expression(
        "`n.astype(sl.fixed(32, 4)).astype(sl.fixed(39, 15)) / 0.01`",
        "(n.astype(sl.fixed(32, 4)).astype(sl.fixed(39, 15)) / sl.fixed(1, 15)(328 / 2**15)) > 499",
        True,
    ),
    "a function that there is not": expression(
        "write `sl.math.exp(x.astype(sl.f32))`", "sl.math.exp(n.astype(sl.f32) * 0)", 1.0, "sl.f32"
    ),
    "a misspelt function": expression("write `sl.maximum`", "sl.maximum(n, 3)", 5, I64),
    "NumPy's exponential": expression(
        "convert it: `x.astype(sl.f32)`", "np.exp(n.astype(sl.f32) * 0)", 1.0, "sl.f32"
    ),
    "elements selected by a condition": expression(
        "`sl.where(condition, x, 0)`", "sl.where(y > 15, y, 0).max()", 41, U16
    ),
    "a deleted element": expression(
        "`sl.where(condition, x, 0)`", "sl.where(y != y[0], y, 0).max()", 41, U16
    ),
    "the number of elements": expression(
        "count the rows: `sl.count(x)`", "sl.count(x).astype(sl.u32)", 3, U32
    ),
    "the name of the rows as their number": expression(
        "if `rows` is a number of rows, `sl.count(x)`", "n > sl.count(x)", True
    ),
    "membership": expression(
        "write `sl.isin(x, values)`", "sl.isin(x, [2, 3]).sum(dtype=sl.u32)", 2, U32
    ),
    "membership in the rows of a table": expression(
        "such as `table[:, 0]`", "~sl.isin(y, sl.stack([x, x], axis=1)[:, 0]).any()", True
    ),
    "groups": expression(
        "write `sl.group_by(key, most=10).agg(total=sl.sum(x))`",
        "sl.group_by(y & 3, most=4).agg(total=sl.sum(y & 63)).total",
        [20, 41, 40, 0],
        U16,
    ),
    "a scan whose start has a type already": expression(
        "start with the type that is meant: `sl.u32.wrapping(0)`",
        "sl.scan(lambda s, v: s + v.astype(sl.u32.wrapping), sl.u32.wrapping(0), x)",
        6,
        "sl.u32.wrapping",
    ),
    "rows multiplied by rows of columns": expression(
        "or swap the two", "sl.dot(x, x[:, None] & np.array([1, 3]), dtype=sl.u64)[1]", 14, "sl.u64"
    ),
}

PAGES_FOLLOWED: dict[str, Followed] = {
    "assignment": REFUSALS["an assigned element"],
    "attribute": REFUSALS["a method that there is not"],
    "circuit-too-large": expression(
        "write the loop with `scan`",
        "sl.scan(lambda s, v: sl.minimum(s, 9000) + v % 100, sl.u16(0), x)",
        6,
        U16,
    ),
    "constant-range": expression(
        "with `.astype(sl.u9)`", "(y % 256).astype(sl.u9) + 256", [266, 276, 286, 297], U16
    ),
    "division-by-zero": expression(
        "`x // sl.maximum(y, 1)`", "y // sl.maximum(x.max(), 1)", [3, 6, 10, 13], U16
    ),
    "index-range": expression(
        "`x % 5`", "sl.lookup([1, 2, 3, 4, 5], y % 5).sum(dtype=sl.i64)", 5, I64
    ),
    "literal-rounded": expression(
        "write 0.125", "(y.astype(sl.fixed(17, 3)) * 0.125)[0]", 1.25, FINE
    ),
    "never-equal": expression(
        "`sl.abs(x - a) <= b`", "sl.abs(n.astype(sl.fixed(34, 4)) - 4.9375) <= 0.0625", True
    ),
    "no-length": REFUSALS["the number of rows"],
    "no-number": REFUSALS["`int`"],
    "no-such-sharing": expression("leave out `sl.share`", "y.max()", 41, U16),
    "numpy": REFUSALS["a NumPy function by name"],
    "operator": REFUSALS["a power"],
    "range-overflow": expression(
        "`x.astype(sl.u9) + y`", "(y % 256).astype(sl.u9) + (y % 256)", [20, 40, 60, 82], U16
    ),
    "rounded-sum": expression(
        "divide or shift the sum instead of its elements",
        "x.sum(dtype=sl.fixed(40, 8)) / 3",
        2.0,
        FINE,
    ),
    "secret-condition": REFUSALS["`if` on a secret"],
    "secret-index": REFUSALS["a value indexed by a secret"],
    "shape-mismatch": expression(
        "`a[:, None]` adds a dimension",
        "(y[:, None] == np.array([10, 30])).sum(dtype=sl.u32)",
        2,
        U32,
    ),
    "shift-range": expression(
        "`sl.minimum(sl.maximum(y, 0), 7)`",
        "y >> sl.minimum(sl.maximum(n, 0), 7)",
        [0, 0, 0, 1],
        U16,
    ),
    "signature": REFUSALS["a plain type"],
    "type": REFUSALS["a type of NumPy"],
    "type-mismatch": expression(
        "`.astype(sl.u8)`", "y.astype(sl.u16.wrapping).astype(sl.u16) // 2", [5, 10, 15, 20], U16
    ),
    "unrolled-loop": REFUSALS["a loop over rows"]._replace(hint="use `sl.map` or `sl.scan`"),
    "whole-rows": expression(
        "as in `sl.sum(x * e)`",
        "sl.map(lambda e: sl.sum(x.astype(sl.u32) * e, dtype=sl.u64), y)",
        [60, 120, 180, 246],
        "sl.u64",
    ),
    "wrapping-division": expression(
        "`x.astype(sl.u8) // 3`",
        "sl.wrap(y, sl.u8.wrapping).astype(sl.u8) // 3",
        [3, 6, 10, 13],
        U16,
    ),
}
