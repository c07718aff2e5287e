"""One number is accepted or refused alike from wherever it comes; every refusal has its place."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sealane as sl
from conftest import refusal, traced
from test_tables import library


def program(kind: Any, *dims: Any) -> Any:
    """Reveals its one input as it was read."""
    return traced(lambda x: x, (kind, "b"), x=(kind, "a", *dims))


def parquet(values: list[Any], folder: Path) -> Path:
    table = library("pyarrow").table({"x": values})
    importlib.import_module("pyarrow.parquet").write_table(table, folder / "x.parquet")
    return folder / "x.parquet"


def csv(values: list[Any], folder: Path) -> Path:
    lines = "\n".join(["x", *map(str, values)])
    (folder / "x.csv").write_text(lines + "\n", encoding="utf-8")
    return folder / "x.csv"


def npy(values: list[Any], folder: Path) -> Path:
    np.save(folder / "x.npy", np.array(values))
    return folder / "x.npy"


SOURCES: dict[str, Callable[[list[Any], Path], Any]] = {
    "list": lambda values, _: values,
    "tuple": lambda values, _: tuple(values),
    "array of objects": lambda values, _: np.array(values, dtype=object),
    "array": lambda values, _: np.array(values),
    "list of NumPy's numbers": lambda values, _: list(np.array(values)),
    "pandas.Series": lambda values, _: library("pandas").Series(values),
    "pandas.Series of objects": lambda values, _: library("pandas").Series(values, dtype=object),
    "pandas.DataFrame": lambda values, _: library("pandas").DataFrame({"x": values}),
    "polars.Series": lambda values, _: library("polars").Series(values),
    "polars.DataFrame": lambda values, _: library("polars").DataFrame({"x": values}),
    "pyarrow.Table": lambda values, _: library("pyarrow").table({"x": values}),
    "pyarrow.Array": lambda values, _: library("pyarrow").array(values),
    "Parquet": parquet,
    "CSV": csv,
    ".npy": npy,
}
every_source = pytest.mark.parametrize("source", SOURCES)
PLACES = ("element 1", "row 2 ", ":3:1")


def outcome(read: Any, given: Any) -> list[Any] | str:
    """Values read, or the code of the refusal, which has to name the second element."""
    try:
        result: list[Any] = read.simulate(given, clear=True).value.tolist()
    except sl.DataError as error:
        assert any(place in str(error) for place in PLACES), error
        return error.code
    return result


TOP = (1 << 53) - 1
"""The largest whole number to whose float no other one is rounded."""


@every_source
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (5, 5),
        (-(2**63), -(2**63)),
        (2**63 - 1, 2**63 - 1),
        (52000.0, 52000),
        (-3.0, -3),
        (-0.0, 0),
        (float(TOP), TOP),
        (float(-TOP), -TOP),
        (float(TOP + 1), "data-inexact"),
        (float(-TOP - 1), "data-inexact"),
        (float(TOP + 3), "data-inexact"),
        (0.5, "data-not-a-number"),
        (1e-39, "data-not-a-number"),
        (float("nan"), "data-not-a-number"),
        (float("inf"), "data-not-a-number"),
        (1e20, "data-range"),
        (-1e300, "data-range"),
    ],
)
def test_a_number_for_an_integer(source: str, value: Any, expected: Any, tmp_path: Path) -> None:
    around = type(value)(1)
    given = SOURCES[source]([around, value, around], tmp_path)
    wanted = expected if isinstance(expected, str) else [1, expected, 1]
    if source == "pandas.DataFrame" and value != value:
        # In a frame NaN is how pandas says that there is no value.
        wanted = "data-null"
    assert outcome(program(sl.i64, 3), given) == wanted
    rows = outcome(program(sl.i64, "rows <= 9"), given)
    assert rows == wanted


@every_source
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, 3.0),
        (0.5, 0.5),
        (0.1, 26 / 256),
        (1e-39, 0.0),
        (1e39, "data-range"),
        (127.999, "data-range"),
        (float("nan"), "data-not-a-number"),
        (float("-inf"), "data-not-a-number"),
    ],
)
def test_a_number_for_fixed_point(source: str, value: Any, expected: Any, tmp_path: Path) -> None:
    around = type(value)(1)
    given = SOURCES[source]([around, value, around], tmp_path)
    wanted = expected if isinstance(expected, str) else [1.0, expected, 1.0]
    if source == "pandas.DataFrame" and value != value:
        wanted = "data-null"
    assert outcome(program(sl.fixed(8, 8), 3), given) == wanted


@every_source
def test_a_truth_value(source: str, tmp_path: Path) -> None:
    read = program(sl.boolean, 3)
    for given, wanted in (
        ([True, False, True], [True, False, True]),
        ([1, 0, 1], [True, False, True]),
        ([1.0, 0.0, 1.0], [True, False, True]),
        ([1.0, 2.0, 1.0], "data-range"),
        ([1, -1, 1], "data-range"),
    ):
        assert outcome(read, SOURCES[source](given, tmp_path)) == wanted


# --- What is no number ----------------------------------------------------------------------------


def refused(given: Any, *dims: Any) -> str:
    read = program(sl.i64, *dims)
    return refusal(lambda: read.simulate(given, clear=True), sl.DataError)


@every_source
@pytest.mark.parametrize(
    "value",
    [date(2024, 2, 29), datetime(2024, 2, 29, 12), timedelta(days=2)],
    ids=["date", "datetime", "timedelta"],
)
def test_times_are_no_numbers(source: str, value: Any, tmp_path: Path) -> None:
    if source == ".npy":
        with pytest.raises(sl.DataError, match="data-unreadable"):
            program(sl.i64, 2).simulate(npy([np.datetime64("2024-02-29")] * 2, tmp_path))
        return
    said = refused(SOURCES[source]([value, value], tmp_path), "rows <= 9")
    # The text of a timedelta has a comma, and with it a cell too many.
    of_text = "data-malformed" if isinstance(value, timedelta) else "data-not-a-number"
    assert f"[{of_text if source == 'CSV' else 'data-type'}]" in said


def test_periods_are_no_numbers(tmp_path: Path) -> None:
    pd = library("pandas")
    months = pd.Series(pd.period_range("2024-01", periods=2, freq="M"))
    frame = pd.DataFrame({"x": months})
    path = tmp_path / "months.parquet"
    frame.to_parquet(path)
    listed = pd.DataFrame({"x": [5, 6]})
    for given in (months, list(months), months.to_numpy(), frame, path):
        said = refused(given, "rows <= 9")
        assert "[data-type]" in said and "eriod" in said, said
    assert program(sl.i64, "rows <= 9").simulate(listed, clear=True).value.tolist() == [5, 6]


def test_numbers_that_arrow_marks_as_something_else_are_none() -> None:
    pa = library("pyarrow")

    class Code(pa.ExtensionType):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__(pa.int64(), "tests.code")

        def __arrow_ext_serialize__(self) -> bytes:
            return b""

    storage = pa.array([5, 6], pa.int64())
    codes = pa.ExtensionArray.from_storage(Code(), storage)
    assert "holds no numbers: tests.code" in refused(pa.table({"x": codes}), "rows <= 9")
    lists = pa.FixedSizeListArray.from_arrays(codes, 2)
    assert "holds no numbers: tests.code" in refused(pa.table({"x": lists}), 1, 2)
    if hasattr(pa, "bool8"):
        flags = pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, 0], pa.int8()))
        read = program(sl.boolean, "rows <= 9").simulate(pa.table({"x": flags}), clear=True)
        assert read.value.tolist() == [True, False]


def test_what_is_no_number_has_its_place() -> None:
    pd = library("pandas")
    stamp = pd.Timestamp("2024-02-29")
    for given, dims, says in (
        ([1, None], (2,), "`x` has None at element 1"),
        ([[1, 2], [3, None]], (2, 2), "`x` has None at element [1, 1]"),
        ([stamp, stamp], (2,), "at element 0"),
        ([1, "7"], (2,), "`x` has '7' at element 1"),
        ([1, 2j], (2,), "`x` has 2j at element 1"),
        ([1, np.timedelta64(5, "D")], (2,), "at element 1"),
        (np.array([1, np.nan, 3]), (3,), "NaN at element 1 is not a whole number"),
        (np.array([[1, 2], [3, np.nan]]), (2, 2), "NaN at element [1, 1] is not a whole"),
        ([[1.0, 2.0], [3.0, float("nan")]], (2, 2), "NaN at element [1, 1] is not a whole"),
        ([[1, 2], [3, Fraction(1, 2)]], (2, 2), "0.5 at element [1, 1] is not a whole number"),
        ([1, Fraction(1, 3**200)], (2,), "`x` has a number of too many digits at element 1"),
        ([1, 10**5000], (2,), "`x` has a number of too many digits at element 1"),
        ([1, 10**30], (2,), f"`x` is {10**30} at element 1, outside"),
        ([[1], [2, 3]], (2, 2), "`x` is no array"),
        ({"x": 1}, (), "`x` has the type `dict`, which is no number"),
    ):
        assert says in refused(given, *dims)


def test_numbers_of_narrow_floats_are_held_to_their_own_digits() -> None:
    read = program(sl.i64, 2)
    for kind, digits in ((np.float16, 11), (np.float32, 24), (np.float64, 53)):
        top = (1 << digits) - 1
        for last, wanted in ((top, [1, top]), (top + 1, "data-inexact")):
            array = np.array([1, last], dtype=kind)
            for given in (array, list(array), (1, array[1])):
                assert outcome(read, given) == wanted


def test_exact_numbers_are_taken_at_any_size() -> None:
    read = program(sl.u64, 3)
    top = (1 << 64) - 1
    assert outcome(read, [Decimal(top), Fraction(top), top]) == [top] * 3
    assert outcome(read, [Decimal("1e3"), Decimal("7.00"), True]) == [1000, 7, 1]
    for odd in (Decimal("0.5"), Decimal("NaN"), Decimal("1e-50"), Fraction(1, 3)):
        assert outcome(read, [1, odd, 1]) == "data-not-a-number"
    assert outcome(read, [1, Decimal("1e50"), 1]) == "data-range"


# --- Which columns --------------------------------------------------------------------------------


def test_columns_taken_by_their_order_are_named(tmp_path: Path) -> None:
    pd = library("pandas")
    table = pd.DataFrame({"id": [901, 902], "age": [41, 67], "dose": [3, 4]})
    table.to_csv(tmp_path / "x.csv", index=False)
    table.to_parquet(tmp_path / "x.parquet")
    read = program(sl.i64, "rows <= 9", 3)
    note = "`x` was read from all columns of its table in their order: `id`, `age`, `dose`"
    for given in (table, tmp_path / "x.csv", str(tmp_path / "x.parquet")):
        with pytest.warns(UserWarning, match="in their order: `id`, `age`, `dose`") as warned:
            report = read.simulate(given, clear=True)
        assert [item.filename for item in warned] == [__file__]
        assert report.value[0].tolist() == [901, 41, 3]
        assert report.notes == [note]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning):
            read.simulate(table, clear=True)
        # Columns that have no names but numbers are in the order that is meant.
        for names in (range(3), [f"column_{number}" for number in range(3)], ["x1", "x2", "x3"]):
            numbered = table.set_axis(list(map(str, names)), axis=1)
            assert len(read.simulate(numbered, clear=True).notes) == 1
        named = program(sl.i64, "rows <= 9", ["id", "age", "dose"])
        assert named.simulate(table, clear=True).notes == []
        assert read.simulate(table.to_numpy(), clear=True).notes == []


def test_an_index_of_pandas_is_no_column_by_order() -> None:
    pd = library("pandas")
    table = pd.DataFrame({"x_0": [1, 2, 3], "x_1": [4, 5, 6]})
    some = table[table["x_0"] > 1]  # It has an index of its own now.
    read = program(sl.i64, "rows <= 9", 2)
    assert read.simulate(some, clear=True).value.tolist() == [[2, 5], [3, 6]]


# --- Work -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [float, int, bool])
def test_reading_a_list_takes_no_step_of_python_for_each_number(kind: Any) -> None:
    from sealane import _data

    def steps(count: int) -> int:
        given, calls = [kind(number % 7) for number in range(count)], 0

        def called(_frame: object, event: str, _argument: object) -> None:
            nonlocal calls
            calls += event in ("call", "c_call")

        sys.setprofile(called)
        try:
            _data.encode("x", given)
        finally:
            sys.setprofile(None)
        return calls

    assert steps(30_000) == steps(30) < 200


# --- Memory ---------------------------------------------------------------------------------------


def test_arrays_of_64_bits_are_read_where_they_lie() -> None:
    from sealane import _data

    for given in (np.arange(9, dtype=np.uint64), -np.arange(9), np.ones((2, 3))):
        for item in (_data.encode("x", given), _data.pack(given)):
            assert item is not None
            _, shape, words = item
            assert shape == given.shape and isinstance(words, np.ndarray)
            assert np.shares_memory(words, given) and words.dtype == np.uint64


@pytest.mark.parametrize(
    "given",
    [
        np.arange(24, dtype=np.int64).reshape(4, 6)[::2, ::3],
        np.asfortranarray(np.arange(4).reshape(2, 2)),
        np.arange(4, dtype=">u4").reshape(2, 2),
        np.arange(4, dtype=np.float16).reshape(2, 2),
        np.array([[True, False], [False, True]]),
        # Eight bytes a number, but not at an address that is a multiple of eight.
        np.frombuffer(b"-" + np.arange(4).tobytes(), dtype=np.int64, offset=1).reshape(2, 2),
    ],
    ids=["strided", "columns", "big-endian", "half", "bool", "unaligned"],
)
def test_arrays_of_every_layout_are_read_alike(given: Any) -> None:
    read = program(sl.i64, "rows <= 9", 2)
    assert read.simulate(given, clear=True).value.tolist() == given.astype(np.int64).tolist()


def test_elements_that_lie_apart_are_refused_by_the_native_module() -> None:
    native = program(sl.i64, "rows <= 9").native
    apart = np.arange(8, dtype=np.uint64)[::2]
    with pytest.raises(ValueError, match=r"not contiguous; pass `numpy.ascontiguousarray\(x\)`"):
        native.simulate({"x": ("u64", (4,), apart)}, [], "lan", "clear", [], None, None, False)
