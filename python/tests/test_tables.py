"""Tables of pandas, Polars, DuckDB and pyarrow, and files, into programs and out of them."""

from __future__ import annotations

import csv
import importlib
import importlib.util
import runpy
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import sealane as sl
from conftest import configure, learns, refusal, run_all, traced

HOSPITAL = Path(__file__).resolve().parents[2] / "examples" / "hospital"
LIBRARIES = ("pandas", "polars", "duckdb", "pyarrow")


def library(name: str) -> Any:
    """A library that the tests of a checkout have, and those of the wheel alone need not have."""
    if importlib.util.find_spec("mypy") is not None:  # One of the extra `dev`.
        return importlib.import_module(name)
    return pytest.importorskip(name)


def columns(file: Path) -> dict[str, list[int]]:
    """The columns of numbers of a CSV file, without any library."""
    with open(file, newline="", encoding="utf-8") as opened:
        rows = list(csv.DictReader(opened))
    names = [name for name in rows[0] if rows[0][name].lstrip("-").isdigit()]
    return {name: [int(row[name]) for row in rows] for name in names}


def as_table(name: str, table: dict[str, Any]) -> Any:
    """The columns as a table of the library."""
    of = library(name)
    if name == "pandas":
        return of.DataFrame(table)
    if name == "polars":
        return of.DataFrame(table)
    if name == "pyarrow":
        return of.table(table)
    return of.from_arrow(library("pyarrow").table(table))


class Ways(NamedTuple):
    """Where the tables of a test come from."""

    name: str
    make: Callable[[Path, str], Any]


def file_of(library_name: str) -> Callable[[Path, str], Any]:
    """Writes the table of a party as a Parquet file, with the library."""

    def make(folder: Path, party: str) -> Path:
        table, path = as_table(library_name, columns(HOSPITAL / f"{party}.csv")), folder / party
        path = path.with_suffix(".parquet")
        if library_name == "pandas":
            table.to_parquet(path)
        elif library_name == "pyarrow":
            importlib.import_module("pyarrow.parquet").write_table(table, path)
        else:
            table.write_parquet(str(path))
        return path

    return make


def memory_of(library_name: str) -> Callable[[Path, str], Any]:
    return lambda _, party: as_table(library_name, columns(HOSPITAL / f"{party}.csv"))


WAYS = [
    Ways("csv", lambda _, party: HOSPITAL / f"{party}.csv"),
    *(Ways(f"{name} in memory", memory_of(name)) for name in LIBRARIES),
    *(Ways(f"{name} to Parquet", file_of(name)) for name in LIBRARIES),
]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_the_hospital_learns_the_same_from_every_table(way: Ways, tmp_path: Path) -> None:
    at_risk = runpy.run_path(str(HOSPITAL / "program.py"))["at_risk"]
    patients, lab = columns(HOSPITAL / "hospital.csv"), columns(HOSPITAL / "lab.csv")
    features = np.array([patients[name] for name in lab if name != "threshold"])
    weights = np.array([column for name, column in lab.items() if name != "threshold"])
    wanted = (features * weights).sum(axis=0) > lab["threshold"][0]
    mine, theirs = way.make(tmp_path, "hospital"), way.make(tmp_path, "lab")
    flags = at_risk.simulate(mine, theirs, theirs, protocol="clear").value
    assert flags.tolist() == wanted.tolist()
    assert 0 < Counter(wanted.tolist())[True] < len(wanted)


@sl.program
def above(
    wage: sl.Private[sl.i32, "office", "people <= 6"],
    pair: sl.Private[sl.i32, "office", "people", ["left", "right"]],
    limit: sl.Private[sl.i32, "agency"],
) -> tuple[sl.Revealed[sl.boolean, "office"], sl.Revealed[sl.i64, "office"]]:
    return wage > limit, pair.sum(axis=1, dtype=sl.i64)


PEOPLE = {"left": [1, 2, 3], "name": ["a", "b", "c"], "right": [10, 20, 30], "wage": [5, 7, 9]}


def learnt(table: Any, limit: Any = 6) -> tuple[list[bool], list[int]]:
    flags, sums = above.simulate(table, table, limit, clear=True).value
    return flags.tolist(), sums.tolist()


@pytest.mark.parametrize("name", LIBRARIES)
def test_one_table_serves_several_inputs(name: str) -> None:
    assert learnt(as_table(name, PEOPLE)) == ([False, True, True], [11, 22, 33])


def test_streams_are_read_once_in_pieces() -> None:
    pa = library("pyarrow")
    table = pa.concat_tables([pa.table(PEOPLE), pa.table(PEOPLE)])
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=2))
    assert learnt(reader) == ([False, True, True] * 2, [11, 22, 33] * 2)

    def endless() -> Any:
        while True:
            yield from table.to_batches()

    reader = pa.RecordBatchReader.from_batches(table.schema, endless())
    with pytest.raises(sl.DataError, match="the table has more than 6 records"):
        learnt(reader)


def test_an_error_of_the_producer_is_told() -> None:
    pa = library("pyarrow")
    table = pa.table(PEOPLE)

    def failing() -> Any:
        yield from table.to_batches()
        raise RuntimeError("the disk is gone")

    with pytest.raises(sl.DataError, match="the disk is gone"):
        learnt(pa.RecordBatchReader.from_batches(table.schema, failing()))


class Broken:
    """An object whose stream is whatever it is made with, or an error."""

    def __init__(self, stream: object) -> None:
        self.stream = stream

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        if isinstance(self.stream, BaseException):
            raise self.stream
        return self.stream


def test_an_object_that_streams_no_arrow_is_refused_in_our_words() -> None:
    no_capsule = [
        Broken(7),
        Broken(None),
        Broken(library("pyarrow").schema([]).__arrow_c_schema__()),
    ]
    for item in [*no_capsule, Broken(KeyError("gone")), Broken(AttributeError("no method"))]:
        with pytest.raises(sl.DataError) as refused:
            learnt(item)
        assert refused.value.code == "data-unreadable"
        assert "Broken" in refused.value.message
        assert refused.value.__cause__ is not None
    # What asks the process to stop is no error of the table, and an error of ours stays as it is.
    with pytest.raises(KeyboardInterrupt):
        learnt(Broken(KeyboardInterrupt()))
    with pytest.raises(sl.DataError) as first:
        learnt(Broken(7))
    with pytest.raises(sl.DataError) as again:
        learnt(Broken(first.value))
    assert again.value is first.value


def test_objects_that_only_give_an_array_are_read() -> None:
    pa = library("pyarrow")

    class Once:
        def __arrow_c_array__(self, requested_schema: object = None) -> Any:
            return pa.RecordBatch.from_pydict(PEOPLE).__arrow_c_array__()

    assert learnt(Once()) == ([False, True, True], [11, 22, 33])


def test_large_lists_and_dictionaries_are_read() -> None:
    pa = library("pyarrow")
    lists = pa.array([[1, 10], [2, 20], [3, 30]], pa.large_list(pa.uint8()))
    assert whole.simulate(pa.table({"pair": lists}), clear=True).value.tolist() == [11, 22, 33]
    wages = pa.array([5, 7, 7], pa.int64()).dictionary_encode()
    assert learnt(pa.table({**PEOPLE, "wage": wages}))[0] == [False, True, True]
    gap = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), pa.array([5, None], pa.int64()))
    with pytest.raises(sl.DataError, match="no value in row 2 of column `wage`"):
        learnt(pa.table({**PEOPLE, "wage": gap}))
    short = pa.array([[1, 10], [2], [3, 30]])
    with pytest.raises(sl.DataError, match=r"the list in row 2 .* has 1 elements, not 2"):
        whole.simulate(pa.table({"pair": short}), clear=True)


TEXTS = ["bern", "rome", "bern"]


@pytest.mark.parametrize(
    "column",
    [
        lambda: library("pandas").Series(TEXTS).astype("category"),
        lambda: library("polars").Series(TEXTS, dtype=library("polars").Categorical),
        lambda: library("polars").Series(TEXTS, dtype=library("polars").Enum(["rome", "bern"])),
        lambda: library("pyarrow").array(TEXTS).dictionary_encode(),
    ],
    ids=["pandas category", "polars Categorical", "polars Enum", "pyarrow dictionary"],
)
def test_texts_as_categories_are_no_numbers(column: Callable[[], Any]) -> None:
    given = column()
    name = type(given).__module__.split(".")[0]
    make = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}[name]
    table = getattr(library(name), make)({**PEOPLE, "wage": given})
    with pytest.raises(sl.DataError, match=r"data-type.*column `wage` .* holds no numbers"):
        learnt(table)
    with pytest.raises(sl.DataError, match="data-type"):
        above.simulate(given, np.zeros((3, 2), np.int32), 6, clear=True)


def test_dictionaries_without_the_value_of_a_key_are_refused() -> None:
    pa = library("pyarrow")
    # pyarrow is asked not to look at the keys.
    values, keys = pa.array([5, 7], pa.int64()), pa.array([0, 9, 1], pa.int8())
    for wild in (keys, pa.array([0, -1, 1], pa.int8())):
        wages = pa.DictionaryArray.from_arrays(wild, values, safe=False)
        with pytest.raises(sl.DataError, match="no value for the key in row 2 of column `wage`"):
            learnt(pa.table({**PEOPLE, "wage": wages}))
    none = pa.DictionaryArray.from_arrays(keys, pa.array([], pa.int64()), safe=False)
    with pytest.raises(sl.DataError, match="no value for the key in row 1 of column `wage`"):
        learnt(pa.table({**PEOPLE, "wage": none}))
    # Without rows there is nothing to look up.
    frame = library("pandas").DataFrame(PEOPLE).astype({"wage": "category"}).iloc[:0]
    frame["wage"] = frame["wage"].cat.remove_unused_categories()
    assert learnt(frame) == ([], [])


@pytest.mark.parametrize("kind", [sl.u8, sl.date, sl.text(3), sl.category(["a"]), sl.f32])
def test_a_column_of_no_values_has_any_kind(kind: Any) -> None:
    learnt, x = (sl.boolean, "ben"), (kind, "ann", "n <= 9")
    full = traced(lambda x, y: (x == x) & (y > 0), learnt, x=x, y=(sl.u8, "ben"))
    x = sl.nullable(kind), *x[1:]
    gaps = traced(lambda x, y: x.is_null & y, learnt, x=x, y=learnt)
    pd, pl, pa = library("pandas"), library("polars"), library("pyarrow")
    for given in ([], pd.DataFrame({"x": []}), pl.DataFrame({"x": []})):
        assert gaps(given, True).tolist() == full(given, 1).tolist() == []
    frame = pl.DataFrame({"x": [None, None], "z": [1, 2]})
    for given in (frame, frame["x"], pa.table({"x": pa.nulls(2)})):
        assert gaps(given, True).tolist() == [True, True]
        with pytest.raises(sl.DataError, match=r"data-null.*no value in row 1 of column `x`"):
            full.simulate(given, 1)


def test_faults_of_a_table_are_told_in_its_own_words() -> None:
    pd, pl = library("pandas"), library("polars")
    twice = pd.DataFrame([[1, 2]], columns=["wage", "wage"])
    with pytest.raises(sl.DataError, match=r"data-column-twice.*two columns `wage`"):
        learnt(twice)
    inputs = {"t": (sl.timestamp, "ann", "n <= 9"), "y": (sl.u8, "ben")}
    late = traced(lambda t, y: t.hour > y, (sl.boolean, "ben"), **inputs)
    berlin = pl.Series("t", ["2024-03-01T12:30:00"]).str.to_datetime(time_zone="Europe/Berlin")
    with pytest.raises(sl.DataError, match=r'`x.dt.convert_time_zone\("UTC"\)` in Polars'):
        late.simulate(berlin, 11)
    assert late(berlin.dt.convert_time_zone("UTC"), 10).tolist() == [True]


def test_durations_are_no_numbers_in_files_either(tmp_path: Path) -> None:
    pa, parquet = library("pyarrow"), library("pyarrow.parquet")
    table = pa.table({**PEOPLE, "wage": pa.array([1, 2, 3], pa.duration("s"))})
    path = tmp_path / "office.parquet"
    parquet.write_table(table, path)
    for given in (table, path):
        with pytest.raises(sl.DataError, match=r"column `wage` .* holds no numbers: Duration"):
            learnt(given)


def test_single_columns_are_read() -> None:
    pd, pl, pa = library("pandas"), library("polars"), library("pyarrow")
    pairs = [[1, 10], [2, 20], [3, 30]]
    wages = [5, 7, 9]
    categories = pd.Series(wages).astype("category")
    arrow = pa.chunked_array([wages[:1], wages[1:]])
    for column in (pd.Series(wages), categories, pl.Series(wages), pa.array(wages), arrow):
        flags, sums = above(column, np.array(pairs), 6)
        assert flags.tolist() == [False, True, True]
        assert sums.tolist() == [11, 22, 33]
    arrays = pl.Series(pairs, dtype=pl.Array(pl.Int8, 2))
    for table in (pl.DataFrame({"pair": pairs}), pl.DataFrame({"pair": arrays}), arrays):
        assert whole.simulate(table, clear=True).value.tolist() == [11, 22, 33]


@sl.program
def whole(pair: sl.Private[sl.i32, "office", "people <= 6", 2]) -> sl.Revealed[sl.i64, "office"]:
    return pair.sum(axis=1, dtype=sl.i64)


def test_what_does_not_fit_is_told_with_row_and_column() -> None:
    pl = library("polars")

    def told(**changed: Any) -> str:
        table = pl.DataFrame({**PEOPLE, **changed})
        return refusal(lambda: learnt(table), sl.DataError)

    assert told(wage=[5, None, 9]) == (
        "error[data-null]: there is no value in row 2 of column `wage` of the table\n"
        "reason: a secret cannot be missing: every row takes part\n"
        "hint: fill the value in, or declare `sl.nullable(...)`, or drop the row in the "
        "tables of all parties"
    )
    assert "`wage` is 2147483648 in row 3 of column `wage`" in told(wage=[5, 7, 2**31])
    assert "0.5 in row 1 of column `left` of the table is not a whole" in told(left=[0.5, 1, 2])
    assert "NaN in row 2 of column `left`" in told(left=[0.0, float("nan"), 2.0])
    assert "column `wage` of the table holds no numbers" in told(wage=["5", "7", "9"])
    assert learnt(pl.DataFrame({**PEOPLE, "wage": [5.0, 7.0, 9.0]}))[0] == [False, True, True]
    with pytest.raises(sl.DataError, match="has no column `left`"):
        learnt(pl.DataFrame({"wage": [1], "right": [2]}))


def test_a_party_gives_one_table_over_the_network(tmp_path: Path) -> None:
    pd = library("pandas")
    agency, office = {"input": pd.DataFrame({"limit": [6]})}, {"input": pd.DataFrame(PEOPLE)}
    config = configure(tmp_path, above.parties)
    done = run_all(above, config, {"agency": agency, "office": office})
    assert done["office"].value[0].tolist() == [False, True, True]
    assert done["agency"].value == (None, None)
    with pytest.raises(sl.MisuseError, match="nothing"):
        done["agency"].table()


# --- Results --------------------------------------------------------------------------------------


@sl.program
def sums(
    x: sl.Private[sl.i16, "a", "rows <= 10", 2],
    y: sl.Private[sl.fixed(4, 4), "a", "rows"],
    z: sl.Private[sl.fixed(40, 16), "a", "rows"],
) -> learns("a", sl.i16, sl.fixed(4, 4), sl.fixed(40, 16), sl.boolean):
    return x, y, z, x[:, 0].max() > 3


def report() -> Any:
    return sums.simulate([[1, -2], [3, 4]], [0.5, -1.25], [Decimal("0.25"), 2**38], clear=True)


TABLE = {
    "result_0_0": [1, 3],
    "result_0_1": [-2, 4],
    "result_1": [0.5, -1.25],
    "result_2": [Decimal("0.25"), Decimal(2**38)],
}


def test_results_are_tables_of_every_library() -> None:
    pl, pa, duckdb = library("polars"), library("pyarrow"), library("duckdb")
    table = report().table("rows")
    assert (len(table), table.columns) == (2, tuple(TABLE))
    assert repr(table) == f"<results of rows, 2 rows: {', '.join(TABLE)}>"
    assert pa.table(table).to_pydict() == TABLE
    # A table can be read again.
    assert pl.DataFrame(table).to_dict(as_series=False) == TABLE
    assert pa.table(table).to_pandas()["result_1"].tolist() == TABLE["result_1"]
    query = "select sum(result_0_1), max(result_2) from results"
    database = duckdb.connect()
    database.register("results", table)
    assert database.sql(query).fetchall() == [(2, Decimal(2**38))]
    assert pa.schema(table).names == list(TABLE)
    assert pa.table(report().table("single")).to_pydict() == {"result_3": [False]}
    with pytest.raises(sl.MisuseError, match=r"name one of: rows, single"):
        report().table()
    with pytest.raises(sl.MisuseError, match="belongs to `people`"):
        report().table("people")


def test_results_are_written_and_read_again(tmp_path: Path) -> None:
    done = report()
    done.write(tmp_path / "out.csv")
    header = ",".join(TABLE)
    text = f"{header}\n1,-2,0.5,0.25\n3,4,-1.25,{2**38}\n"
    assert (tmp_path / "out.csv").read_text(encoding="utf-8") == text
    assert (tmp_path / "out.single.csv").read_text(encoding="utf-8") == "result_3\n0\n"
    done.write(str(tmp_path / "out.parquet"))
    for ending in ("csv", "parquet"):
        file = tmp_path / f"out.{ending}"

        @sl.program
        def again(
            pair: sl.Private[sl.i16, "a", "rows <= 10", ["result_0_1", "result_0_0"]],
            y: sl.Private[sl.fixed(4, 4), "a", "rows", sl.column("result_1")],
            z: sl.Private[sl.fixed(40, 16), "a", "rows", sl.column("result_2")],
        ) -> learns("a", sl.i16, sl.fixed(4, 4), sl.fixed(40, 16)):
            return pair, y, z

        pair, y, z = again.simulate(file, str(file), file, clear=True).value
        assert pair.tolist() == [[-2, 1], [4, 3]]
        assert [Decimal(number) for number in y] == [Decimal("0.5"), Decimal("-1.25")]
        assert [number * 4 for number in z] == [1, 2**40]


def test_results_of_a_single_array_are_npy(tmp_path: Path) -> None:
    done = whole.simulate(np.array([[1, 2], [3, 4]]), clear=True)
    done.write(tmp_path / "sums.npy")
    assert np.load(tmp_path / "sums.npy").tolist() == [3, 7]
    np.save(tmp_path / "pairs.npy", np.load(tmp_path / "sums.npy").repeat(2).reshape(2, 2))
    assert whole.simulate(tmp_path / "pairs.npy", clear=True).value.tolist() == [6, 14]
    with pytest.raises(sl.ConfigError, match="cannot hold 3 results"):
        report().write(tmp_path / "out.npy")
    with pytest.raises(sl.ConfigError, match=r"`\.csv`, `\.parquet`, `\.npy`"):
        done.write(tmp_path / "out.xlsx")


def test_parquet_agrees_with_others_on_results(tmp_path: Path) -> None:
    pq = library("pyarrow") and importlib.import_module("pyarrow.parquet")
    report().write(tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet").to_pydict() == TABLE
    path = str(tmp_path / "out.parquet")
    assert library("polars").read_parquet(path).to_dict(as_series=False) == TABLE
    rows = library("duckdb").sql(f"from '{path}'").fetchall()
    assert rows == list(zip(*TABLE.values(), strict=True))
    pandas = library("pandas").read_parquet(path)
    assert pandas["result_2"].tolist() == TABLE["result_2"]
