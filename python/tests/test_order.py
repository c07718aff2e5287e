"""Sorts, ranks, quantiles and groups against NumPy, under every protocol, bit for bit."""

from __future__ import annotations

import datetime
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import sealane as sl
from conftest import PROTOCOLS, learns, refusal, results, traced

MaybeNumber = sl.nullable(sl.i32)
Money = sl.fixed(16, 16)


def padded(found: NDArray[Any], length: int) -> list[Any]:
    return [*found.tolist()[:length], *[0] * (length - len(found))]


@sl.program
def orders(
    x: sl.Private[sl.u16, "alice", "n <= 300"],
    y: sl.Private[sl.i16, "alice", "n"],
    z: sl.Private[sl.u8, "bob"],
) -> learns("bob", sl.u16, sl.i16, sl.u16, sl.u16, sl.u16, sl.f64, sl.i16):
    x = sl.maximum(x, z)
    keys, moved = sl.sort_by(x, y)
    down = sl.sort_by((x, y), descending=(True, False))[1]
    order = sl.argsort(x, descending=True).astype(sl.u16)
    del down
    return (
        keys,
        moved,
        order,
        sl.rank(x).astype(sl.u16),
        sl.top_k(x, 4),
        sl.median(y),
        sl.quantile(y, 0.3, method="higher"),
    )


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("rows", [1, 2, 5, 12])
def test_orders_are_those_of_numpy(protocol: str, rows: int) -> None:
    rng = np.random.default_rng(rows)
    x = rng.integers(0, 6, rows).astype(np.uint16)
    y = rng.integers(-300, 300, rows).astype(np.int16)
    keys, moved, order, rank, top, median, high = results(orders, x, y, 1, protocol=protocol)
    x = np.maximum(x, 1)
    stable = np.argsort(x, kind="stable")
    assert keys.tolist() == x[stable].tolist()
    assert moved.tolist() == y[stable].tolist()
    assert order.tolist() == np.argsort(-x.astype(int), kind="stable").tolist()
    assert rank.tolist() == [1 + int((x < item).sum()) for item in x]
    assert top.tolist() == padded(np.sort(x)[::-1], 4)
    assert median == np.median(y)
    assert high == np.quantile(y, 0.3, method="higher")


def test_many_rows_are_sorted_in_several_tiles() -> None:
    rng = np.random.default_rng(7)
    x = rng.integers(0, 1000, 300).astype(np.uint16)
    y = rng.integers(-300, 300, 300).astype(np.int16)
    keys, moved, *_ = results(orders, x, y, 0)
    stable = np.argsort(x, kind="stable")
    assert keys.tolist() == x[stable].tolist()
    assert moved.tolist() == y[stable].tolist()


@pytest.mark.parametrize("descending", [False, True])
def test_several_keys_of_several_types(descending: bool) -> None:
    @sl.program
    def both(
        x: sl.Private[sl.boolean, "alice", 9],
        y: sl.Private[sl.fixed(8, 8), "alice", 9],
        z: sl.Private[sl.fixed(8, 8), "bob"],
    ) -> tuple[sl.Revealed[sl.boolean, "bob"], sl.Revealed[sl.fixed(8, 8), "bob"]]:
        x, y = sl.sort_by((x, sl.maximum(y, z)), descending=(descending, not descending))
        return x, y

    rng = np.random.default_rng(3)
    x = rng.integers(0, 2, 9).astype(bool)
    y = rng.integers(-9, 9, 9) / 4
    found = results(both, x, y, -100)
    order = sorted(
        zip(x.tolist(), y.tolist(), strict=True),
        key=lambda pair: (pair[0] ^ descending, pair[1] if descending else -pair[1]),
    )
    assert list(zip(found[0].tolist(), found[1].tolist(), strict=True)) == order


def test_floating_point_is_sorted_with_nan_last() -> None:
    @sl.program
    def floats(
        x: sl.Private[sl.f32, "alice", "n <= 20"], z: sl.Private[sl.f32, "bob"]
    ) -> tuple[sl.Revealed[sl.f32, "bob"], sl.Revealed[sl.f32, "bob"]]:
        return sl.sort(x + z), sl.quantile(x + z, 0.5, method="lower")

    x = np.array([3, np.nan, -1, np.inf, 0.5, -np.inf, np.nan], np.float32)
    found, middle = results(floats, x, 0.0)
    np.testing.assert_array_equal(found, np.sort(x))
    np.testing.assert_equal(middle, np.quantile(x, 0.5, method="lower"))
    x[1], x[6] = 7, 9
    assert results(floats, x, 0.0)[1] == np.quantile(x, 0.5, method="lower") == 3


def test_axes_of_tables() -> None:
    @sl.program
    def table(
        x: sl.Private[sl.u8, "alice", "n <= 20", 5], z: sl.Private[sl.u8, "bob"]
    ) -> tuple[sl.Revealed[sl.u8, "bob"], sl.Revealed[sl.u8, "bob"], sl.Revealed[sl.u8, "bob"]]:
        x = sl.maximum(x, z)
        moved = sl.sort_by(x[:, 0], x)[1]
        return sl.sort(x), sl.sort(x, axis=0), moved

    x = np.random.default_rng(5).integers(0, 99, (6, 5)).astype(np.uint8)
    along, down, moved = results(table, x, 0)
    assert along.tolist() == np.sort(x).tolist()
    assert down.tolist() == np.sort(x, axis=0).tolist()
    assert moved.tolist() == x[np.argsort(x[:, 0], kind="stable")].tolist()


@pytest.mark.parametrize("method", ["linear", "lower", "higher"])
def test_quantiles_and_modes(method: str) -> None:
    @sl.program
    def numbers(
        x: sl.Private[sl.i8, "alice", "n <= 30"], z: sl.Private[sl.i8, "bob"]
    ) -> tuple[sl.Revealed[sl.f64, "bob"], sl.Revealed[sl.i8, "bob"], sl.Revealed[sl.u8, "bob"]]:
        x = sl.maximum(x, z)
        high = sl.quantile(x, 0.9, method=method).astype(sl.f64)
        return high, sl.mode(x), sl.rank(x, method="dense").astype(sl.u8)

    for rows in (1, 4, 21):
        x = np.random.default_rng(rows).integers(-3, 3, rows).astype(np.int8)
        high, mode, dense = results(numbers, x, -100)
        values, counts = np.unique(x, return_counts=True)
        assert high == pytest.approx(np.quantile(x, 0.9, method=method), rel=1e-15)
        assert mode == values[counts.argmax()]
        assert dense.tolist() == (1 + np.searchsorted(values, x)).tolist()


@sl.program
def groups(
    key: sl.Private[sl.u16, "alice", "n <= 300"],
    x: sl.Private[sl.i32, "alice", "n", sl.between(-1000, 1000)],
    flag: sl.Private[sl.boolean, "alice", "n"],
    z: sl.Private[sl.u8, "bob"],
) -> learns("bob", sl.u16, sl.i32, sl.i64, sl.i32, sl.f64, sl.boolean, sl.i64):
    found = sl.group_by(key + 0 * z, most=4).agg(
        total=sl.sum(x), n=sl.count(x), least=sl.min(x), middle=sl.mean(x), some=sl.any(flag)
    )
    return found.keys, found.total, found.n, found.least, found.middle, found.some, found.left_out


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("rows", [1, 3, 9])
def test_groups_of_secret_keys(protocol: str, rows: int) -> None:
    rng = np.random.default_rng(rows)
    key = rng.integers(0, 6, rows).astype(np.uint16)
    x = rng.integers(-900, 900, rows).astype(np.int32)
    flag = rng.integers(0, 2, rows).astype(bool)
    found = results(groups, key, x, flag, 5, protocol=protocol)
    keys = np.unique(key)
    inside = [key == one for one in keys]

    def each(reduce: Any) -> list[Any]:
        return padded(np.array([reduce(here) for here in inside]), 4)

    assert found[0].tolist() == padded(keys, 4)
    assert found[1].tolist() == each(lambda here: x[here].sum())
    assert found[2].tolist() == each(lambda here: here.sum())
    assert found[3].tolist() == each(lambda here: x[here].min())
    means = each(lambda here: x[here].mean())[: len(keys)] + [np.nan] * (4 - len(keys))
    np.testing.assert_array_equal(found[4], means)
    assert found[5].tolist() == each(lambda here: flag[here].any())
    assert found[6] == max(0, len(keys) - 4)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_groups_of_public_categories(protocol: str) -> None:
    @sl.program
    def program(
        key: sl.Private[sl.u16, "alice", "n <= 300"],
        x: sl.Private[sl.i32, "alice", "n", sl.between(-1000, 1000)],
        flag: sl.Private[sl.boolean, "alice", "n"],
        z: sl.Private[sl.u8, "bob"],
    ) -> learns("bob", sl.i32, sl.u16, sl.i32, sl.i32, sl.f64, sl.boolean, sl.boolean):
        found = sl.group_by(key + 0 * z, categories=[4, 0, 77]).agg(
            total=sl.sum(x),
            n=sl.count(x),
            low=sl.min(x),
            high=sl.max(x),
            middle=sl.mean(x),
            some=sl.any(flag),
            every=sl.all(flag),
        )
        number = found.n.astype(sl.u16)
        return (found.total, number, found.low, found.high, found.middle, found.some, found.every)

    rng = np.random.default_rng(1)
    key = rng.integers(0, 6, 11).astype(np.uint16)
    x = rng.integers(-900, 900, 11).astype(np.int32)
    flag = rng.integers(0, 2, 11).astype(bool)
    found = results(program, key, x, flag, 5, protocol=protocol)
    for at, one in enumerate([4, 0, 77]):
        here = key == one
        there = bool(here.any())
        wanted = [
            x[here].sum(),
            here.sum(),
            x[here].min() if there else 0,
            x[here].max() if there else 0,
            x[here].mean() if there else np.nan,
            flag[here].any(),
            there and flag[here].all(),
        ]
        np.testing.assert_array_equal([column[at] for column in found], wanted)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("step", [1, 37])
def test_many_public_categories_are_reduced_by_a_sort(protocol: str, step: int) -> None:
    # Whole numbers one after the other, and others.
    wanted = [(3 + place * step) % 101 for place in range(90)]

    @sl.program
    def program(
        key: sl.Private[sl.i16, "alice", "n <= 300"],
        x: sl.Private[sl.i32, "alice", "n", sl.between(-1000, 1000)],
        y: sl.Private[MaybeNumber, "alice", "n", sl.between(-9, 9)],
        money: sl.Private[Money, "alice", "n", sl.between(-50, 50)],
        real: sl.Private[sl.f32, "alice", "n"],
        flag: sl.Private[sl.boolean, "alice", "n"],
        z: sl.Private[sl.i16, "bob"],
    ) -> learns(
        "bob", sl.i32, sl.u16, sl.i32, sl.i32, sl.f64, sl.f64, Money, sl.f32, sl.boolean, sl.boolean
    ):
        found = sl.group_by(key + 0 * z, categories=wanted).agg(
            total=sl.sum(x),
            n=sl.count(),
            low=sl.min(x),
            high=sl.max(x),
            middle=sl.mean(x),
            missing=sl.mean(y),
            money=sl.sum(money),
            real=sl.sum(real),
            some=sl.any(flag),
            every=sl.all(flag),
        )
        number = found.n.astype(sl.u16)
        middles = found.middle, found.missing
        sums = found.money, found.real
        return found.total, number, found.low, found.high, *middles, *sums, found.some, found.every

    rng = np.random.default_rng(1)
    rows = 120
    key = rng.integers(-5, 60, rows).astype(np.int16)
    x = rng.integers(-900, 900, rows).astype(np.int32)
    y = [int(cell) if cell % 2 else None for cell in rng.integers(-9, 10, rows)]
    money = rng.integers(-(50 << 16), 50 << 16, rows) / 65536
    real = rng.normal(size=rows).astype(np.float32)
    flag = rng.integers(0, 3, rows) > 0
    found = results(program, key, x, y, money, real, flag, 0, protocol=protocol)
    for at, one in enumerate(wanted):
        here = key == one
        there = bool(here.any())
        cells = [cell for cell, inside in zip(y, here, strict=True) if inside and cell is not None]
        exact = [
            x[here].sum(),
            here.sum(),
            x[here].min() if there else 0,
            x[here].max() if there else 0,
            x[here].mean() if there else np.nan,
            np.mean(cells) if cells else np.nan,
            money[here].sum(),
            np.float32(math.fsum(real[here].tolist())),
            flag[here].any(),
            there and flag[here].all(),
        ]
        np.testing.assert_array_equal([column[at] for column in found], exact)


def test_categories_given_twice_are_the_same_group() -> None:
    @sl.program
    def program(
        key: sl.Private[sl.u8, "alice", "n <= 300"], x: sl.Private[sl.u32, "bob", "n"]
    ) -> sl.Revealed[sl.u64, "bob"]:
        wanted = [*range(90), 4, 4]
        return sl.group_by(key, categories=wanted).agg(total=sl.sum(x, dtype=sl.u64)).total

    found = program([4, 5, 4], [7, 8, 9])
    assert found[4:6].tolist() == [16, 8]
    assert found[90:].tolist() == [16, 16]


def test_distinct_values_with_room_and_without() -> None:
    @sl.program
    def kinds(x: sl.Private[sl.i16, "alice", "n <= 50"], z: sl.Private[sl.i16, "bob"]) -> learns(
        "bob", sl.i16, sl.boolean, sl.i64, sl.i64
    ):
        found = sl.unique(sl.maximum(x, z), 3)
        return found.values, found.there, found.counts, found.left_out

    for x in ([5], [2, 2, 2], [4, -1, 4, 9], [5, 4, 3, 2, 1]):
        values, there, counts, left_out = results(kinds, np.array(x, np.int16), -100)
        wanted, number = np.unique(x, return_counts=True)
        assert values.tolist() == padded(wanted, 3)
        assert there.tolist() == [at < len(wanted) for at in range(3)]
        assert counts.tolist() == padded(number, 3)
        assert left_out == max(0, len(wanted) - 3)


@sl.program
def sums_by_key(
    key: sl.Private[sl.f32, "alice", "n <= 50"],
    other: sl.Private[sl.date, "alice", "n"],
    x: sl.Private[sl.f32, "bob", "n"],
    gaps: sl.Private[sl.nullable(sl.f32), "bob", "n"],
) -> learns("bob", sl.f32, sl.boolean, sl.f32, sl.f64, sl.f64, sl.f32, sl.f32):
    groups = sl.group_by((key, other), most=5).agg(
        total=sl.sum(x), mean=sl.mean(x), known=sl.mean(gaps), low=sl.min(x), high=sl.max(x)
    )
    keys = groups.keys[0]
    return keys, groups.there, groups.total, groups.mean, groups.known, groups.low, groups.high


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_floating_point_of_secret_groups_is_summed_exactly(protocol: str) -> None:
    # Sums in the order of the rows would lose the small numbers beside the large ones.
    key = np.array([1, 0, 1, np.nan, 1, 0, np.nan, 1], np.float32)
    day = [datetime.date(2024, 1, 1 + (at == 7)) for at in range(8)]
    x = np.array([1e20, 3, 7, -0.0, -1e20, 2e-9, 0.0, 5], np.float32)
    gaps = [1.5, None, 2.25, None, None, 1e-3, None, 4.0]
    found = results(sums_by_key, key, day, x, gaps, protocol=protocol)
    groups = [[1, 5], [0, 2, 4], [7], [3, 6]]
    assert found[1].tolist() == [True] * 4 + [False]
    np.testing.assert_array_equal(found[0], np.array([0, 1, 1, np.nan, 0], np.float32))
    for at, rows in enumerate(groups):
        assert found[2][at] == np.float32(math.fsum(x[rows].tolist()))
        assert found[3][at] == math.fsum(x[rows].tolist()) / len(rows)
        known = [gaps[row] for row in rows if gaps[row] is not None]
        exact = sum(map(float, np.array(known, np.float32)))
        np.testing.assert_equal(found[4][at], exact / len(known) if known else np.nan)
    np.testing.assert_array_equal(found[5], np.array([2e-9, -1e20, 5, 0, np.nan], np.float32))
    np.testing.assert_array_equal(found[6], np.array([3, 1e20, 5, 0, np.nan], np.float32))
    # The smaller zero is the negative one.
    assert np.signbit(found[5][3]) and not np.signbit(found[6][3])


def refused(body: Any) -> str:
    x, y, t = (sl.u8, "alice", "n <= 9"), (sl.f32, "alice", "n"), (sl.u8, "bob", "n", 2)
    return refusal(traced(body, (sl.f64, "bob"), x=x, y=y, t=t).check)


def test_refusals_say_what_to_write() -> None:
    assert "takes a vector" in refused(lambda x, y, t: sl.median(t))
    assert "there is no axis 3" in refused(lambda x, y, t: sl.sort(t, axis=3))
    assert "no number of elements" in refused(lambda x, y, t: sl.top_k(x, 0))
    assert "no number of elements" in refused(lambda x, y, t: sl.head(x, 0))
    assert "no number of elements" in refused(lambda x, y, t: sl.unique(x, -1))
    assert "no number of elements" in refused(lambda x, y, t: sl.group_by(x, most=0))
    assert "no categories" in refused(lambda x, y, t: sl.group_by(x, categories=[]))
    assert "six decimals" in refused(lambda x, y, t: sl.quantile(x, 1 / 3))
    for several in ([0.25, 0.75], (0.5,), np.array([0.1])):
        assert "sl.stack([sl.quantile(x, q)" in refused(
            lambda x, y, t, q=several: sl.quantile(x, q)
        )
    assert "no rank by" in refused(lambda x, y, t: sl.rank(x, method="max"))
    assert "no quantile" in refused(lambda x, y, t: sl.quantile(x, 1.5))
    assert "are not bounded" in refused(lambda x, y, t: sl.group_by(x))
    assert "bounded twice" in refused(lambda x, y, t: sl.group_by(x, most=1, categories=[1]))
    assert "no reduction" in refused(lambda x, y, t: sl.group_by(x, most=2).agg(a=x))
    assert "no reduction" in refused(lambda x, y, t: sl.group_by(x, most=2).agg(a=sl.sum(t)))
    assert "is taken" in refused(lambda x, y, t: sl.group_by(x, most=2).agg(keys=sl.max(x)))
    assert "2 orders" in refused(lambda x, y, t: sl.sort_by(x, descending=[True, False]))


def test_what_is_left_out_is_revealed_as_a_number_without_sign() -> None:
    @sl.program
    def left(
        item: sl.Private[sl.u8, "alice", "n <= 9"], least: sl.Private[sl.u8, "bob"]
    ) -> tuple[sl.Revealed[sl.u32, "bob"], sl.Revealed[sl.u32, "bob"]]:
        item = sl.maximum(item, least)
        groups = sl.group_by(item, most=2).agg(n=sl.count())
        return groups.left_out, sl.unique(item, 2).left_out

    for items, want in [([1, 2, 3, 4, 4], 2), ([7], 0)]:
        assert left(np.array(items, np.uint8), 0) == (want, want)


def test_quantiles_of_one_vector_share_its_sort() -> None:
    @sl.program
    def spread(
        x: sl.Private[sl.u16, "alice", "n <= 300"], y: sl.Private[sl.u16, "bob", "n"]
    ) -> tuple[sl.Revealed[sl.u16, "bob"], sl.Revealed[sl.u16, "bob"], sl.Revealed[sl.f64, "bob"]]:
        low = sl.quantile(sl.minimum(x, y), 0.25, method="lower")
        high = sl.quantile(sl.minimum(x, y), 0.75, method="lower")
        return low, high, sl.median(sl.minimum(x, y))

    assert sum("sort" in step for step in spread.plan().steps.splitlines()) == 1
    x = np.arange(200, dtype=np.uint16) * 77 % 200
    found = results(spread, x, x, protocol="yao")
    assert found == [np.quantile(x, 0.25, method="lower"), 149, np.median(x)]
