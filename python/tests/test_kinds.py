"""Columns that are no plain numbers: texts, categories, missing cells, and all kinds in files."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sealane as sl
from conftest import learns, refusal, sealane, traced
from test_tables import library

Day = datetime.date
Color = sl.category(["red", "green", "light blue"])
Name = sl.text(6)
Latin = sl.text(4, "latin1")
MaybeNumber = sl.nullable(sl.i32)
MaybeDay = sl.nullable(sl.date)
MaybeName = sl.nullable(Name)
MaybeColor = sl.nullable(Color)


@sl.program
def texts(
    a: sl.Private[Name, "ann", "rows <= 9"], b: sl.Private[sl.text(10), "ben", "rows"]
) -> learns(
    "ben", sl.boolean, sl.boolean, sl.boolean, sl.boolean, sl.boolean, Name, Name, sl.boolean
):
    return (
        a == b,
        a < b,
        b.startswith(a),
        a.startswith("Zo"),
        a >= "Zoë",
        a.lower(),
        sl.where(a == "abc", a.upper(), a),
        b > a,
    )


def test_texts_are_compared_as_python_compares_them() -> None:
    a = ["abc", "Zoë", "ZOE", "abcdef", "z", "ab"]
    b = ["abc", "Zoë ", "Zoe", "abcdefgh", "aaaaaaaaaa", "abc"]
    pairs = list(zip(a, b, strict=True))
    same, less, begins, zo, from_zoe, lower, some, more = texts(a, b)
    assert same.tolist() == [x == y for x, y in pairs]
    assert less.tolist() == more.tolist() == [x < y for x, y in pairs]
    assert begins.tolist() == [y.startswith(x) for x, y in pairs]
    assert zo.tolist() == [x.startswith("Zo") for x in a]
    assert from_zoe.tolist() == [x >= "Zoë" for x in a]
    assert lower.tolist() == ["abc", "zoë", "zoe", "abcdef", "z", "ab"]
    assert some.tolist() == ["ABC", *a[1:]]


@sl.program
def colors(a: sl.Private[Color, "ann", "rows <= 9"], b: sl.Private[Color, "ben", "rows"]) -> learns(
    "ben", sl.boolean, sl.boolean, Color, sl.u2
):
    return a == b, a.isin(["red", "green"]), sl.where(a == "red", b, "green"), a.codes


def test_categories_are_names_of_a_list() -> None:
    same, warm, some, codes = colors(["red", "light blue"], ["green", "light blue"])
    assert same.tolist() == [False, True]
    assert warm.tolist() == [True, False]
    assert some.tolist() == ["green", "green"]
    assert codes.tolist() == [0, 2]


@pytest.mark.parametrize(
    ("kind", "name", "hint"),
    [
        (sl.text(6), "strip", "`x.startswith(p)`, `x.lower()`, `x.upper()` and `x.bytes`"),
        (sl.text(6), "casefold", "`x.lower()`"),
        (sl.text(6), "str", "`x.lower()`"),
        (sl.text(6), "length", "`(x.bytes != 0).sum(axis=-1, dtype=sl.u16)`"),
        (sl.text(6), "mean", "`sl.rank(x)`"),
        (Color, "lower", "`x.isin(names)`"),
        (Color, "mean", "`x.codes`"),
        (sl.nullable(sl.text(6)), "lower", '`x.fill("")`'),
        (sl.date, "lower", "`sl.text(12)`"),
        (sl.u8, "lower", "`sl.text(12)`"),
    ],
)
def test_a_missing_method_of_strings_says_what_there_is(kind: Any, name: str, hint: str) -> None:
    program = traced(lambda x: getattr(x, name), (sl.boolean, "ben"), x=(kind, "ann", "n <= 9"))
    text = refusal(program.check)
    assert "error[attribute]" in text and hint in text.partition("\nhint: ")[2]


def test_lengths_of_texts_are_counts_of_their_bytes() -> None:
    @sl.program
    def lengths(
        x: sl.Private[sl.text(6), "ann", "rows <= 9"], y: sl.Private[sl.u16, "ben"]
    ) -> sl.Revealed[sl.u16, "ben"]:
        return (x.bytes != 0).sum(axis=-1, dtype=sl.u16) + y % 2

    assert lengths(["", "Ada", "Zoë"], 0).tolist() == [0, 3, 4]


@pytest.mark.parametrize(
    ("kind", "of", "cells", "among"),
    [
        (sl.text(12), sl.text(8), ["ab", "abc", "abcdefghijkl", ""], ["abc", "abcdefgh", ""]),
        (sl.date, sl.date, [Day(2020, 1, 1), Day(1, 1, 1), Day(9999, 12, 31)], [Day(1, 1, 1)] * 3),
        (sl.timestamp, sl.timestamp, [Day(2020, 1, 1), Day(1, 1, 1)], [Day(1, 1, 1)] * 3),
        (Color, Color, ["red", "green", "light blue"], ["red", "red", "green"]),
    ],
)
def test_cells_are_looked_for_among_those_of_their_kind(
    kind: Any, of: Any, cells: list[Any], among: list[Any]
) -> None:
    @sl.program
    def known(
        x: sl.Private[kind, "ann", "n <= 9"],
        y: sl.Private[of, "ben", "m <= 9"],
        z: sl.Private[of, "ben", 3, 1],
        gaps: sl.Private[sl.nullable(kind), "ann", "n"],
    ) -> learns("ann", sl.boolean, sl.boolean, sl.boolean, sl.boolean, sl.boolean):
        return (
            *(sl.isin(x, y), sl.isin(x, z), np.isin(x, among[:1], invert=True)),
            *(sl.isin(cells[:2], y), sl.isin(gaps, z) | sl.isin(x, [])),
        )

    found = known(cells, among, [[cell] for cell in among], [None, *cells[1:]])
    here = [cell in among for cell in cells]
    assert [result.tolist() for result in found] == [
        *(here, here, [cell != among[0] for cell in cells]),
        *(here[:2], [False, *here[1:]]),
    ]


@sl.program
def holes(
    x: sl.Private[MaybeNumber, "ann", "rows <= 9", sl.between(5, 1000)],
    d: sl.Private[MaybeDay, "ann", "rows"],
    n: sl.Private[MaybeName, "ann", "rows"],
    c: sl.Private[MaybeColor, "ann", "rows"],
    y: sl.Private[sl.i32, "ben", "rows", sl.between(0, 10)],
) -> learns(
    "ben", sl.i64, sl.u8, sl.f64, MaybeNumber, MaybeDay, MaybeName, MaybeColor, sl.date, sl.boolean
):
    whole = sl.sum(x, dtype=sl.i64)
    filled = d.fill(Day(2000, 1, 1))
    return whole, sl.count(x), sl.mean(x), x + y, d, n, c, filled, (x > 7).fill(True)


GAPS = {
    "x": [10, None, 7],
    "d": [None, Day(2024, 2, 29), Day(1999, 12, 31)],
    "n": ["Ada", None, "Zoë"],
    "c": ["red", "light blue", None],
}


def check_holes(values: Any) -> None:
    whole, count, mean, more, d, n, c, filled, large = values
    assert (whole, count, mean) == (17, 2, 8.5)
    assert more.tolist() == [11, None, 10]
    assert d.tolist() == GAPS["d"]
    assert n.tolist() == GAPS["n"]
    assert c.tolist() == GAPS["c"]
    assert filled.tolist() == [Day(2000, 1, 1), *GAPS["d"][1:]]
    assert large.tolist() == [True, True, False]


@pytest.mark.parametrize("protocol", ["clear", "yao"])
def test_missing_cells_are_left_out(protocol: Any) -> None:
    check_holes(holes.simulate(**GAPS, y=[1, 2, 3], protocol=protocol).value)


def test_what_is_missing_shows_nothing_beneath() -> None:
    """A sum with a missing cell is missing, and the number in its place is not the other one."""
    report = holes.simulate(**GAPS, y=[1, 2, 3], clear=True)
    native = dict(report._native.results)
    name, _, raw = native["result_3"]
    assert name == "i32"
    assert np.frombuffer(raw, np.int64).tolist() == [11, 0, 10]


def test_a_single_cell_may_be_missing() -> None:
    @sl.program
    def two(
        x: sl.Private[MaybeDay, "ann"], n: sl.Private[Name, "ann"], y: sl.Private[sl.u8, "ben"]
    ) -> tuple[sl.Revealed[MaybeDay, "ben"], sl.Revealed[Name, "ben"]]:
        return sl.where(y > 1, x, None), sl.where(y > 1, n, "none")

    assert two(None, "Ada", 2) == (None, "Ada")
    assert two(Day(2024, 2, 29), "Ada", 1) == (None, "none")
    assert two(Day(2024, 2, 29), "Ada", 2) == (np.datetime64("2024-02-29"), "Ada")


@pytest.mark.parametrize("protocol", ["clear", "yao"])
def test_none_beside_numbers_of_any_shape_makes_them_nullable(protocol: Any) -> None:
    @sl.program
    def chosen(
        x: sl.Private[sl.u16, "ann", "n <= 9"],
        d: sl.Private[sl.date, "ann", "n"],
        n: sl.Private[Name, "ann"],
        y: sl.Private[sl.u16, "ben", "n"],
        z: sl.Private[sl.nullable(sl.u16), "ben", sl.between(0, 9)],
    ) -> learns(
        "ben",
        sl.nullable(sl.u16),
        MaybeDay,
        sl.nullable(Name),
        sl.nullable(sl.u16),
        sl.nullable(sl.u16),
        sl.nullable(sl.u17),
    ):
        return (
            sl.where(x > y, x, None),
            sl.where(x > y, None, d),
            sl.where(x > y, n, None),
            sl.where(x > y, None, sl.u16(7)),
            sl.where(z.fill(0) > 3, None, x),
            z + x.astype(sl.u17),
        )

    def told(z: int | None) -> list[Any]:
        found = chosen.simulate([1, 2], days, "Ada", [2, 1], z, protocol=protocol).value
        return [column.tolist() for column in found]

    days = [Day(2024, 2, 29), Day(1, 1, 1)]
    first = [[None, 2], [days[0], None], [None, "Ada"], [7, None]]
    assert told(2) == [*first, [1, 2], [3, 4]]
    assert told(9) == [*first, [None, None], [10, 11]]
    assert told(None) == [*first, [1, 2], [None, None]]


@pytest.mark.parametrize("other", [None, 0])
def test_none_needs_a_value_beside_it(other: int | None) -> None:
    learnt, inputs = (sl.nullable(sl.u16), "ben"), {"x": (sl.u16, "ann"), "y": (sl.u16, "ben")}
    chosen = traced(lambda x, y: sl.where(x > y, None, other), learnt, **inputs)
    assert "beside no value" in refusal(chosen.check)


def table_of(name: str) -> Any:
    """The columns with gaps as a table of a library, in the types that it has for them."""
    of = library(name)
    if name == "pandas":
        return of.DataFrame(
            {
                "x": of.array(GAPS["x"], dtype="Int64"),
                "d": of.to_datetime(of.Series(GAPS["d"])),
                "n": of.array(GAPS["n"], dtype="string"),
                "c": of.Categorical(GAPS["c"]),
            }
        )
    if name == "polars":
        return of.DataFrame(GAPS, schema_overrides={"c": of.Categorical})
    arrow = library("pyarrow")
    columns = {
        "x": arrow.array(GAPS["x"]),
        "d": arrow.array(GAPS["d"], arrow.date32()),
        "n": arrow.array(GAPS["n"], arrow.large_string()),
        "c": arrow.array(GAPS["c"]).dictionary_encode(),
    }
    return of.table(columns) if name == "pyarrow" else of.from_arrow(arrow.table(columns))


@pytest.mark.parametrize("name", ["pandas", "polars", "pyarrow", "duckdb"])
def test_tables_hold_all_kinds(name: str, tmp_path: Path) -> None:
    table = table_of(name)
    inputs = dict.fromkeys(GAPS, table)
    report = holes.simulate(**inputs, y=[1, 2, 3], clear=True)
    check_holes(report.value)
    if name == "pandas":
        table.to_parquet(tmp_path / "t.parquet")
        file = dict.fromkeys(GAPS, tmp_path / "t.parquet")
        check_holes(holes.simulate(**file, y=[1, 2, 3], clear=True).value)
        series = {column: table[column] for column in GAPS}
        check_holes(holes.simulate(**series, y=[1, 2, 3], clear=True).value)
    if name == "pyarrow":
        back = library("pyarrow").table(report.table("rows")).to_pydict()
        assert back["result_3"] == [11, None, 10]
        assert back["result_4"] == GAPS["d"]
        assert back["result_5"] == GAPS["n"]
        assert back["result_6"] == GAPS["c"]


def test_files_hold_all_kinds(tmp_path: Path) -> None:
    source = tmp_path / "ann.csv"
    source.write_text(
        'x,d,n,c\n10,,Ada,red\n,2024-02-29,,"light blue"\n7,1999-12-31T00:00:00Z,Zoë,\n',
        encoding="utf-8",
    )
    report = holes.simulate(**dict.fromkeys(GAPS, source), y=[1, 2, 3], clear=True)
    check_holes(report.value)
    report.write(tmp_path / "out.csv")
    rows = (tmp_path / "out.rows.csv").read_text(encoding="utf-8").splitlines()
    assert rows == [
        "result_3,result_4,result_5,result_6,result_7,result_8",
        "11,,Ada,red,2000-01-01,1",
        ",2024-02-29,,light blue,2024-02-29,1",
        "10,1999-12-31,Zoë,,1999-12-31,0",
    ]
    report.write(tmp_path / "out.parquet")
    again = holes.simulate(
        x=GAPS["x"],
        d=renamed(tmp_path / "out.rows.parquet", "result_4", "d"),
        n=GAPS["n"],
        c=GAPS["c"],
        y=[1, 2, 3],
        clear=True,
    )
    check_holes(again.value)
    shown = json.loads(report._native.json)["results"]
    assert shown["result_4"]["values"] == [None, "2024-02-29", "1999-12-31"]
    assert shown["result_6"]["values"] == ["red", "light blue", None]
    assert "missing, 2024-02-29" in repr(report)


def renamed(file: Path, name: str, to: str) -> Any:
    table = library("pyarrow.parquet").read_table(file)
    return table.select([name]).rename_columns([to])


def test_the_command_reads_and_writes_kinds(tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text(
        "import sealane as sl\n"
        "@sl.program\n"
        "def p(d: sl.Private[sl.nullable(sl.date), 'ann', 'n <= 5'],\n"
        "      e: sl.Private[sl.date, 'ben', 'n']) -> sl.Revealed[sl.nullable(sl.date), 'ben']:\n"
        "    return sl.where(d.fill(e) < e, d, e)\n",
        encoding="utf-8",
    )
    (tmp_path / "b.csv").write_text("e\n2024-02-02\n2024-02-03\n", encoding="utf-8")
    (tmp_path / "a.csv").write_text("i,d\n1,2024-01-01\n2,\n", encoding="utf-8")
    inputs = ["--input", "d=a.csv", "--input", "ben=b.csv"]
    sealane("simulate", "p.py", "--output", "o.csv", *inputs, cwd=tmp_path)
    assert (tmp_path / "o.csv").read_text() == "result\n2024-01-01\n2024-02-03\n"


def test_both_sides_approve_the_kinds() -> None:
    def hashed(kind: Any) -> str:
        inputs = {"c": (kind, "ann"), "d": (kind, "ben")}
        return traced(lambda c, d: sl.where(c == d, c, d), (kind, "ben"), **inputs).hash

    kinds = [sl.category(["a", "b"]), sl.category(["b", "a"]), sl.category(["a", "c"])]
    kinds += [sl.text(4), sl.text(4, "latin1"), sl.text(5), sl.date, sl.timestamp]
    assert len({*map(hashed, kinds)}) == len(kinds)
    assert 'as nullable category "red", "green", "light blue"' in holes.text
    assert "as missing c" in holes.text


def kept(name: str, kind: Any) -> sl.Program[..., Any]:
    """A program that reveals a column of this name and kind."""
    inputs = {name: (kind, "ann", "rows <= 9"), "e": (sl.u8, "ben")}
    return traced(lambda cells, e: sl.where(e > 0, cells, cells), (kind, "ben"), **inputs)


days, names, hues = kept("d", sl.date), kept("n", Latin), kept("c", Color)
sums = traced(
    lambda x, e: (x.astype(sl.i64) + e).sum(),
    (sl.i64, "ben"),
    **{"x": (sl.i32, "ann", "rows <= 9"), "e": (sl.i32, "ben")},
)


@pytest.mark.parametrize(
    ("program", "given", "code", "told"),
    [
        (days, ["2024-02-30"], "data-kind", "`2024-02-30` at element 0 is not a date"),
        (days, ["2024-01-01T12:00"], "data-kind", "time of day"),
        (days, [Day(2024, 1, 1), None], "data-null", "at element 1"),
        (days, [Day(2024, 1, 1), 7], "data-type", "7 of type `int` at element 1"),
        (days, np.array(["NaT"], "datetime64[D]"), "data-null", "at element 0"),
        (days, np.array(["2024-01-01T01"], "datetime64[h]"), "data-kind", "time of day"),
        (days, [1.5], "data-type", "`float`"),
        (days, np.array([3], "timedelta64[D]"), "data-type", "no `sl.date`"),
        (days, np.array(["20000-01-01"], "datetime64[D]"), "data-range", "0001-01-01"),
        (names, ["abcde"], "data-kind", "it takes 5 bytes, and the program has 4"),
        (names, ["aあ"], "data-kind", "U+3042"),
        (names, ["a\0b"], "data-type", "U+0000"),
        (names, [b"abc"], "data-type", "`bytes`"),
        (names, ["\ud800"], "data-type", "at element 0"),
        (hues, ["red", "blue"], "data-kind", "`blue` at element 1 is not a category"),
        (hues, ["red", 1], "data-type", "`int`"),
        (sums, np.array([1 + 2j]), "data-type", "complex128"),
        (sums, np.array([3], "timedelta64[D]"), "data-type", "timedelta64[D]"),
        (sums, np.array(["2024-01-01"], "datetime64[D]"), "data-type", "sl.date"),
    ],
)
def test_cells_of_another_kind_are_refused(program: Any, given: Any, code: str, told: str) -> None:
    said = refusal(lambda: program.simulate(given, 1, clear=True), sl.DataError)
    assert f"[{code}]" in said and told in said


def test_owners_are_told_of_texts_that_are_not_in_nfc_and_of_lines_without_end(
    tmp_path: Path,
) -> None:
    inputs = {"n": (Name, "ann", "rows <= 9"), "m": (Name, "ben")}
    same = traced(lambda n, m: n == m, (sl.boolean, "ben"), **inputs)
    pd = library("pandas")
    table = pd.DataFrame({"n": ["Zoé", "Zoe\u0301", "Zoe\u0301"]})
    names = ["x.csv", "x.csv.gz", "x.parquet"]
    table.to_csv(tmp_path / names[0], index=False)
    table.to_csv(tmp_path / names[1], index=False)
    table.to_parquet(tmp_path / names[2])
    for given in (table, table["n"].tolist(), *(tmp_path / name for name in names)):
        with pytest.warns(UserWarning, match="row 2 of `n` holds text that is not in NFC"):
            report = same.simulate(given, "Zoé", clear=True)
        assert report.value.tolist() == [True, False, False]
        assert len(report.notes) == 1 and "Zo" not in report.notes[0]
    cut = tmp_path / "cut.csv"
    cut.write_text("n\n \nZoé", encoding="utf-8")
    report = same.simulate(cut, " ", clear=True)
    assert report.value.tolist() == [True, False]
    assert [note.split(":")[0] for note in report.notes] == [f"the last line of {cut} has no end"]


NO_KIND: dict[str, tuple[sl.Program[..., Any], Callable[[Any, Any], Any], str]] = {
    "period": (sums, lambda pd, stamps: stamps.to_period("M"), "eriod"),
    "period as dates": (days, lambda pd, stamps: stamps.to_period("M"), "eriod"),
    "interval": (sums, lambda pd, stamps: pd.interval_range(0, 2), "nterval"),
    "timedelta": (sums, lambda pd, stamps: stamps - stamps[0], "uration|timedelta"),
    "complex": (sums, lambda pd, stamps: [1j, 2j], "omplex"),
    "object": (sums, lambda pd, stamps: [object(), object()], "object"),
    "zone": (days, lambda pd, stamps: stamps.tz_localize("Europe/Paris"), "Paris|time zone"),
    "date for a number": (sums, lambda pd, stamps: stamps, "datetime64|imestamp"),
    "text for a number": (sums, lambda pd, stamps: ["a", "b"], "'a'|tf8"),
    "category for a number": (sums, lambda pd, stamps: pd.Categorical(["a", "b"]), "'a'|tf8"),
    "number for a date": (days, lambda pd, stamps: [1, 2], "int|Int64"),
    "number for a text": (names, lambda pd, stamps: [1, 2], "int|Int64"),
    "time of day": (days, lambda pd, stamps: stamps + pd.Timedelta("1h"), "time of day"),
}
"""Columns of pandas that no input takes, with a program and what the refusal names."""


@pytest.mark.parametrize("as_table", [False, True], ids=["array", "table"])
@pytest.mark.parametrize("name", NO_KIND)
def test_types_of_pandas_without_a_kind_are_refused_by_name(name: str, as_table: bool) -> None:
    program, cells, told = NO_KIND[name]
    pd = library("pandas")
    column = pd.Series(cells(pd, pd.to_datetime(["2024-01-01", "2024-02-01"])))
    parameter = program.signature.parameters[0].name
    given = column.rename(parameter).to_frame() if as_table else column
    text = refusal(lambda: program.simulate(given, 1, clear=True), sl.DataError)
    assert any(word in text for word in told.split("|")), text
    assert "hint: " in text


def test_utc_is_read_in_any_unit() -> None:
    pd = library("pandas")
    stamps = pd.to_datetime(["2024-01-01", "1969-12-31"]).tz_localize("UTC")
    for unit in ("s", "ms", "us", "ns"):
        column = pd.Series(stamps).dt.as_unit(unit)
        for given in (column, column.rename("d").to_frame()):
            result = days.simulate(given, 1, clear=True).value
            assert result.astype(str).tolist() == ["2024-01-01", "1969-12-31"]


def test_operations_without_a_meaning_are_refused() -> None:
    def refused(body: Callable[[Any, Any, Any], Any], kind: Any = sl.boolean) -> str:
        inputs = {"d": (sl.date, "ann"), "n": (Name, "ann"), "c": (Color, "ben")}
        return refusal(traced(body, (kind, "ben"), **inputs).check)

    assert "no common kind" in refused(lambda d, n, _: d == n)
    assert "light blue" in refused(lambda _, __, c: c == "blue")
    assert "at most 6 bytes" in refused(lambda _, n, __: n == "abcdefg")
    assert "datetime.date" in refused(lambda d, _, __: d < 7)
    assert "have no common kind" in refused(lambda d, n, _: sl.isin(d, n))
    assert "x.fill" in refused(lambda d, _, __: sl.isin(d, sl.where(d > d, None, d)))
    assert "no date" in refused(lambda d, _, __: sl.age_in_years(d, 2024) > 7)
    assert "declared as" in refused(lambda d, _, __: d)
    assert "9999-12-31" in refused(lambda d, _, __: d + 1, sl.date)
    assert "sl.where" in refused(lambda d, _, __: d < 0 if d < Day(2000, 1, 1) else d)
    assert "d.days" in refused(lambda d, _, __: sl.stack([d, sl.u8(1)]), sl.date)
    assert "c.codes" in refused(lambda _, __, c: c.codes + c)
    assert "no kind" in refusal(lambda: sl.text(0))
    assert "no kind" in refusal(lambda: sl.category(["a", "a"]))
    assert "no kind" in refusal(lambda: sl.nullable(3))
