"""Warnings about results from which the whole of another owner's input follows.

Each expression is the one result of a program, for a receiver who owns none of the inputs but `y`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sealane as sl
from conftest import load

PROGRAM = """\
import datetime
import sealane as sl

DAYS = sl.between(datetime.date(2000, 1, 1), datetime.date(2020, 1, 1))

@sl.program
def f(
    x: sl.Private[sl.u16, "ann", "rows <= 9"],
    v: sl.Private[sl.u16, "ann", 4],
    b: sl.Private[sl.boolean, "ann", "rows"],
    t: sl.Private[sl.u8, "ann", 2, 3],
    m: sl.Private[sl.u8, "ann", "rows", 3],
    f: sl.Private[sl.f32, "ann", "rows"],
    q: sl.Private[sl.fixed(16, 4), "ann", 4],
    g: sl.Private[sl.nullable(sl.u16), "ann", "rows"],
    d: sl.Private[sl.date, "ann", "rows", DAYS],
    y: sl.Private[sl.u16, "ben", "rows"],
) -> sl.Revealed[{kind}, "ben"]:
    return {code}
"""

WHOLE = [
    ("x", "sl.u16"),
    ("x + 0", "sl.u16"),
    ("x * 1", "sl.u16"),
    ("x.astype(sl.u32) + 7", "sl.u32"),
    ("7 - x.astype(sl.i32)", "sl.i32"),
    ("x.astype(sl.u32) * 3", "sl.u32"),
    ("x.astype(sl.u16.wrapping) * 5", "sl.u16.wrapping"),
    ("x.astype(sl.u20) % 70_000", "sl.u20"),
    ("x.astype(sl.f64)", "sl.f64"),
    ("x ^ 255", "sl.u16"),
    ("sl.clip(x, 0, 65_535)", "sl.u16"),
    ("sl.where(b, x, x)", "sl.u16"),
    ("~b", "sl.boolean"),
    ("b == True", "sl.boolean"),
    ("b.astype(sl.u8)", "sl.u8"),
    ("f * 2.0", "sl.f32"),
    ("-f", "sl.f32"),
    ("f + 0.0", "sl.f32"),
    ("q.astype(sl.fixed(20, 4)) * 2", "sl.fixed(20, 4)"),
    ("q.astype(sl.fixed(20, 4)) / 0.5", "sl.fixed(20, 4)"),
    ("sl.roll(x, 1)", "sl.u16"),
    ("sl.roll(v, 1)", "sl.u16"),
    ("sl.sort(x)", "sl.u16"),
    ("sl.sort(v, descending=True)", "sl.u16"),
    ("sl.roll(sl.sort(v), 2)", "sl.u16"),
    ("sl.sort_by(y, x)[1]", "sl.u16"),
    ("sl.sort_by(x, y)[0]", "sl.u16"),
    ("sl.top_k(v, 4)", "sl.u16"),
    ("sl.head(x, 9)", "sl.u16"),
    ("sl.cumsum(x, dtype=sl.u32)", "sl.u32"),
    ("sl.cumsum(v, dtype=sl.u32)", "sl.u32"),
    ("v[::-1]", "sl.u16"),
    ("sl.flip(v)", "sl.u16"),
    ("sl.lookup(v, [3, 2, 1, 0])", "sl.u16"),
    ("sl.concatenate([v[2:], v[:2]])", "sl.u16"),
    ("sl.concatenate([v, [1, 2]])", "sl.u16"),
    ("sl.concatenate([x, y])", "sl.u16"),
    ("sl.stack([v[3], v[1], v[0], v[2]])", "sl.u16"),
    ("sl.repeat(v, 2)", "sl.u16"),
    ("sl.broadcast_to(v, (2, 4))", "sl.u16"),
    ("t.T", "sl.u8"),
    ("t.reshape(3, 2)", "sl.u8"),
    ("sl.sort(t)", "sl.u8"),
    ("m[:, ::-1]", "sl.u8"),
    ("sl.stack([m[:, 2], m[:, 1], m[:, 0]], axis=1)", "sl.u8"),
    ("sl.map(lambda a: a ^ 1, x)", "sl.u16"),
    ("sl.map(lambda a: a ^ 1, t)", "sl.u8"),
    ("sl.map(lambda row: sl.sort(row), m)", "sl.u8"),
    ("sl.scan(lambda s, a: (s, a ^ 1), sl.u8(0), x)[1]", "sl.u16"),
    ("g", "sl.nullable(sl.u16)"),
    ("sl.sort(g)", "sl.nullable(sl.u16)"),
    ("d", "sl.date"),
    ("d + 1", "sl.date"),
    ("d.days", "sl.i23"),
]

PART = [
    ("sl.where(b, v[:1], v[:1])", "sl.u16"),
    ("x + y * 0", "sl.u16"),
    ("x * 0", "sl.u16"),
    ("x // 2", "sl.u16"),
    ("x >> 1", "sl.u16"),
    ("x & 3", "sl.u16"),
    ("x > 5", "sl.boolean"),
    ("x ^ y", "sl.u16"),
    ("x.astype(sl.u16.wrapping) * 4", "sl.u16.wrapping"),
    ("x.astype(sl.u8.wrapping)", "sl.u8.wrapping"),
    ("x.astype(sl.f16)", "sl.f16"),
    ("sl.minimum(x, 9)", "sl.u16"),
    ("q.astype(sl.i32)", "sl.i32"),
    ("f * 0.0", "sl.f32"),
    ("f + 1.5", "sl.f32"),
    ("sl.where(b, x, 0)", "sl.u16"),
    ("sl.where(g.is_null, 0, x)", "sl.u16"),
    ("v[:3]", "sl.u16"),
    ("sl.concatenate([v[2:], v[1:3]])", "sl.u16"),
    ("m[:, 0]", "sl.u8"),
    ("sl.sort(v)[:3]", "sl.u16"),
    ("sl.sort(sl.concatenate([x, y]))", "sl.u16"),
    ("sl.top_k(x, 3)", "sl.u16"),
    ("sl.head(x, 3)", "sl.u16"),
    ("sl.cumsum(v, dtype=sl.u32)[3]", "sl.u32"),
    ("sl.cummax(x)", "sl.u16"),
    ("sl.sum(x, dtype=sl.u32)", "sl.u32"),
    ("sl.max(x)", "sl.u16"),
    ("sl.mean(x)", "sl.f64"),
    ("sl.median(x)", "sl.f64"),
    ("sl.rank(x)", "sl.i64"),
    ("sl.unique(x, 3).values", "sl.u16"),
    ("sl.histogram(x, [0, 3, 9])[0]", "sl.u4"),
    ("sl.group_by(x, most=3).agg(n=sl.count()).n", "sl.i64"),
    ("sl.map(lambda row: row.max(), m)", "sl.u8"),
    ("g.fill(0).sum(dtype=sl.u32)", "sl.u32"),
    ("g + y * 0", "sl.nullable(sl.u16)"),
    ("d.year", "sl.u16"),
    ("y", "sl.u16"),
]


def warned(folder: Path, code: str, kind: str) -> list[str]:
    """The warnings about what a result shows."""
    program = load(folder / "program.py", PROGRAM.format(kind=kind, code=code)).f
    return said(program, "reveals-input")


def said(program: sl.Program[..., Any], code: str) -> list[str]:
    """The messages of warnings of a code."""
    start = f"warning[{code}]: "
    lines = [warning.partition("\n")[0] for warning in program.check().warnings]
    return [line.removeprefix(start) for line in lines if line.startswith(start)]


@pytest.mark.parametrize(("code", "kind"), WHOLE)
def test_a_whole_input_is_warned_of(code: str, kind: str, tmp_path: Path) -> None:
    (warning,) = warned(tmp_path, code, kind)
    name = next(name for name in "xvbtmfqgd" if f"`{name}`" in warning)
    assert warning == f"`result` shows ben the whole input `{name}`"


@pytest.mark.parametrize(("code", "kind"), PART)
def test_less_than_an_input_is_not(code: str, kind: str, tmp_path: Path) -> None:
    assert warned(tmp_path, code, kind) == []


def test_a_mask_is_warned_of_by_the_name_of_its_input(tmp_path: Path) -> None:
    found = warned(tmp_path, "g.is_null", "sl.boolean")
    assert found == ["`result` shows ben which cells of `g` are missing"]


def test_an_unused_nullable_input_is_warned_of_once() -> None:
    @sl.program
    def f(
        gap: sl.Private[sl.nullable(sl.u16), "ann", "rows <= 9"],
        n: sl.Private[sl.u16, "ben", "rows"],
        mask: sl.Private[sl.nullable(sl.u16), "ann", "rows"],
    ) -> sl.Revealed[sl.u16, "ben"]:
        return sl.where(mask.is_null, n, n // 2)

    assert said(f, "unused-input") == [
        "no result depends on input `gap`",
        "no result depends on the cells of input `mask`",
    ]
