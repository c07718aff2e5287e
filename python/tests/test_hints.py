"""Every hint works: what a page tells to write instead runs, and gives the number that was meant.

Cases of `refusals.md` and pages of `docs/errors` whose hint has code in it stand in the tables
below, with that hint and a program that follows it. A case or page without an entry fails, and so
does one whose hint has changed since.
"""

from __future__ import annotations

import datetime
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import sealane as sl
import test_refusals
from pages import BLOCK
from test_error_pages import PAGES, WARNING

CODE = re.compile(r"`([^`]+)`")
X, Y, N = [3, 1, 2], [10, 20, 30, 41], 5
"""Data of the programs below, as `x`, `y` and `n` of the signature of `test_refusals`."""


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

# Hints that name no code of a program: a command, a place in the signature, an option. Those of
# COSTLY have tests of their own below.
COSTLY = {"many-rounds", "long-run"}
OTHERS = {"no-program", "syntax", "unreadable", "other-protocol", *COSTLY}


def run(item: Followed, folder: Path) -> Any:
    """Result of the program in the clear; it must not be warned of."""
    if item.kind:
        head = test_refusals.SIGNATURE.replace(
            "sl.Revealed[sl.boolean,", f"sl.Revealed[{item.kind},"
        )
        lines = item.body.splitlines()
        code, inputs = head + "".join(f"    {line}\n" for line in lines), (X, Y, N)
    else:
        code, inputs = item.body, ([5],) if "<=" in item.body else (5,)
    with warnings.catch_warnings():
        warnings.simplefilter("error", sl.SealaneWarning)
        return test_refusals.load(code, folder).simulate(*inputs, clear=True).value


def works(item: Followed, folder: Path) -> None:
    assert np.array(run(item, folder)).tolist() == item.result


def recommending() -> Iterator[tuple[str, str]]:
    """Pages about programs whose hint has code in it, with that hint."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        hint = re.search(r"^\s*hint: (.*)$", text, re.M)
        ours = "The author of the program acts" in text or WARNING in text
        if hint and ours and CODE.search(hint[1]) and page.stem not in OTHERS:
            yield page.stem, hint[1]


CASES = {
    case.id: (*case.values, hint[1])
    for case in test_refusals.cases()
    if (hint := re.search(r"^hint: (.*)$", case.values[1], re.M)) and CODE.search(hint[1])
}


def sorting(count: int) -> sl.Program[Any, Any]:
    """Sorts the numbers of two parties by neighbours that change places, turn by turn in a scan:
    what the refusal of a network of as many scalars recommends.
    """
    half = count // 2

    @sl.program
    def smallest_first(
        a: sl.Private[sl.u32, "ann", half], b: sl.Private[sl.u32, "ben", half]
    ) -> sl.Revealed[sl.u32, "ann"]:
        def turn(state: Any, _: Any) -> Any:
            even, odd = sl.minimum(*state), sl.maximum(*state)
            low, high = sl.minimum(odd[:-1], even[1:]), sl.maximum(odd[:-1], even[1:])
            even = sl.stack([even[0], *[high[i] for i in range(half - 1)]])
            odd = sl.stack([*[low[i] for i in range(half - 1)], odd[-1]])
            return (even, odd), None

        return sl.stack(list(sl.scan(turn, (a, b), a)), axis=1)

    return smallest_first


def test_a_sorting_network_follows_its_hint() -> None:
    a, b = [7, 3, 9, 1], [8, 2, 0, 5]
    assert sorting(8)(a, b).ravel().tolist() == sorted(a + b)
    assert not any("other-protocol" in warning for warning in sorting(2048).check().warnings)


def test_two_tables_meet() -> None:
    """A body over rows takes a table whole, or a fixed number of elements."""

    def common(size: object) -> sl.Program[Any, Any]:
        @sl.program
        def f(
            mine: sl.Private[sl.u32, "ann", "n <= 100"], theirs: sl.Private[sl.u32, "ben", size]
        ) -> sl.Revealed[sl.boolean, "ann"]:
            return sl.map(lambda k: sl.any(k == theirs), mine)

        return f

    for size in (3, "m <= 50"):
        assert common(size).check().warnings == []
        assert common(size)([1, 2, 3, 4], [2, 4, 9]).tolist() == [False, True, False, True]


def test_every_recommendation_is_followed() -> None:
    assert {title.replace("`", "") for title in REFUSALS} == set(CASES)
    assert set(PAGES_FOLLOWED) == {stem for stem, _ in recommending()}


@pytest.mark.parametrize("title", REFUSALS)
def test_the_hint_of_a_refusal_works(title: str, tmp_path: Path) -> None:
    item = REFUSALS[title]
    assert item.hint in CASES[title.replace("`", "")][-1]
    works(item, tmp_path)


@pytest.mark.parametrize(("stem", "hint"), list(recommending()))
def test_the_hint_of_a_page_works(stem: str, hint: str, tmp_path: Path) -> None:
    item = PAGES_FOLLOWED[stem]
    assert item.hint in hint
    works(item, tmp_path)


class Costly(NamedTuple):
    """The program of a page about cost, how the page plans it, and the hint of its warning."""

    program: sl.Program[..., Any]
    code: str
    options: dict[str, Any]
    hint: str


def options(text: str) -> dict[str, Any]:
    """The protocol and the helpers that a command line names, as `plan` takes them."""
    protocol = re.search(r"--protocol ([\w-]+)", text)
    helpers = re.search(r"--helpers ([\w,]+)", text)
    found = {"protocol": protocol and protocol[1], "helpers": helpers and helpers[1].split(",")}
    return {name: value for name, value in found.items() if value}


def noted(program: sl.Program[..., Any], **planned: Any) -> list[str]:
    """The notes of a plan about its cost."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sl.SealaneWarning)
        notes = program.plan(**planned).notes
    return [note for note in notes if any(f"warning[{code}]" in note for code in COSTLY)]


def costly(stem: str, folder: Path) -> Costly:
    """Content of a page: the program, its command, and the warning as it is made now."""
    (page,) = (page for page in PAGES if page.stem == stem)
    text = page.read_text(encoding="utf-8")
    blocks = {block["name"] or block["kind"]: block["text"] for block in BLOCK.finditer(text)}
    code = blocks["program.py"].partition("@sl.program")
    code = "".join(code[1:]).replace(re.findall(r"^def (\w+)", code[2], re.M)[0], "f", 1)
    program = test_refusals.load(code, folder)
    (note,) = noted(program, **options(blocks["sh"]))
    hint = note.partition("hint: ")[2]
    assert f"warning[{stem}]" in note
    assert hint
    return Costly(program, code, options(blocks["sh"]), hint)


@pytest.mark.parametrize("stem", sorted(COSTLY))
def test_a_costly_plan_follows_its_hint(stem: str, tmp_path: Path) -> None:
    """Another protocol has the rounds that the hint says; fewer rows are in proportion as well."""
    program, code, usual, hint = costly(stem, tmp_path)
    other = re.search(r"run it with (`[^`]+`): ([\d,]+) rounds", hint)
    assert other
    plan = program.plan(**options(other[1]))
    assert plan.rounds == int(other[2].replace(",", ""))
    assert noted(program, **options(other[1])) == []
    assert "state how many you have with `--rows`" in hint
    assert noted(program, rows=1_000, **usual) == []
    assert "declare a lower bound of rows" in hint
    bound = test_refusals.load(re.sub(r"<= [\d_]+", "<= 1_000", code), tmp_path)
    assert noted(bound, **usual) == []


def test_rows_side_by_side_take_few_rounds(tmp_path: Path) -> None:
    """A reduction and a `map` in place of the `scan`."""
    _, code, usual, hint = costly("many-rounds", tmp_path)
    assert "write a reduction (`sum`, `max`, `any`) or `map`, whose rows go side by side" in hint
    head = code[: code.index("    def turn")]
    for body in (
        "sl.where(x < low, x, 0).max()",
        "sl.map(lambda now: sl.where(now < low, 1, 0).astype(sl.u32), x).max()",
    ):
        program = test_refusals.load(f"{head}    return {body}\n", tmp_path)
        assert noted(program, **usual) == []


def test_a_sum_before_a_product_takes_no_time(tmp_path: Path) -> None:
    """Advice of the page of `long-run` below its hint."""
    _, code, usual, _ = costly("long-run", tmp_path)
    assert "(x * y).sum()" in code
    sooner = test_refusals.load(code.replace("(x * y).sum()", "x.sum() * y"), tmp_path)
    assert noted(sooner, **usual) == []
