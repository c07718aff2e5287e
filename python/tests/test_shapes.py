"""Shapes, running operations and searches against NumPy, on random data.

Each program computes many results at once, so that the file stays quick: a case is a function of a
library, `sl` or NumPy, and of two arrays.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

import sealane as sl
from conftest import PROTOCOLS, learns, planned, refusal, traced

Case = Callable[[Any, Any, Any], Any]


class Numpy:
    """NumPy, with the functions that have other names there."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def cummax(self, x: Any, axis: int = 0) -> Any:
        return np.maximum.accumulate(x, axis=axis)

    def cummin(self, x: Any, axis: int = 0) -> Any:
        return np.minimum.accumulate(x, axis=axis)

    def associative_scan(self, f: Any, x: Any, axis: int = 0) -> Any:
        items = list(np.moveaxis(x, axis, 0))
        for at in range(1, len(items)):
            items[at] = f(items[at - 1], items[at])
        return np.moveaxis(np.stack(items), 0, axis)

    def map(self, body: Any, *over: Any) -> Any:
        return np.stack([body(*items) for items in zip(*over, strict=True)])


NP = Numpy()
RANDOM = np.random.default_rng(20)


def declared(kind: Any, wanted: Any) -> Any:
    """The type of a result: that of the inputs, or one that holds all integers."""
    if wanted.dtype == bool:
        return sl.boolean
    if wanted.dtype.kind in "iu" and not issubclass(kind, sl.FixedPoint | sl.FloatingPoint):
        return kind if ".wrapping" in kind.__name__ else sl.i64
    return sl.u16 if wanted.dtype.kind in "iu" else kind


def compare(
    cases: Iterable[Case],
    kind: Any,
    arrays: list[Any],
    rows: str = "",
    protocol: str = "clear",
    result: Any = None,
) -> None:
    """Runs all cases in one program, and compares each result with NumPy's."""
    cases = list(cases)
    wanted = [np.asarray(case(NP, *arrays)) for case in cases]
    shapes = [(rows, *array.shape[1:]) if rows else array.shape for array in arrays]
    program = traced(
        lambda x, y: tuple(case(sl, x, y) for case in cases),
        learns("bob", *(result or declared(kind, array) for array in wanted)),
        x=(kind, "alice", *shapes[0]),
        y=(kind, "bob", *shapes[1]),
    )
    same(planned(program, *arrays, protocol=protocol).value, wanted)


def same(results: Any, wanted: Any) -> None:
    for number, (found, right) in enumerate(zip(results, wanted, strict=True)):
        np.testing.assert_array_equal(found, right, f"result {number}")


def numbers(kind: Any, shape: tuple[int, ...], most: int = 100) -> Any:
    """Random elements of a type, some of them equal."""
    drawn = RANDOM.integers(-most, most, shape)
    if kind is sl.boolean:
        return drawn > 0
    if issubclass(kind, sl.FloatingPoint):
        special = RANDOM.choice([0.0, -0.0, np.nan, np.inf], shape)
        floats = np.where(RANDOM.random(shape) < 0.3, special, drawn / 8)
        return floats.astype({sl.f32: np.float32, sl.f64: np.float64}[kind])
    if issubclass(kind, sl.FixedPoint):
        return drawn / 16
    return np.abs(drawn) if kind.__name__[0] == "u" else drawn


KINDS = [sl.boolean, sl.u8, sl.i16, sl.u32.wrapping, sl.fixed(8, 8), sl.f32, sl.f64]

ARRANGED: list[Case] = [
    lambda lib, x, y: lib.reshape(x, (2, 6)),
    lambda lib, x, y: x.reshape(2, -1, 2)[:, ::-1],
    lambda lib, x, y: x.T,
    lambda lib, x, y: x.T.reshape(-1)[1::5],
    lambda lib, x, y: lib.transpose(x.reshape(2, 3, 2), (1, 2, 0)),
    lambda lib, x, y: x[::2] & y[::-2] if x.dtype in (bool, sl.boolean) else x[::2],
    lambda lib, x, y: x[::-1, ::-2],
    lambda lib, x, y: x[-1, 3:0:-2],
    lambda lib, x, y: x[..., None, -1:-5:-3],
    lambda lib, x, y: lib.expand_dims(x, (0, 2)),
    lambda lib, x, y: lib.squeeze(lib.expand_dims(x, (0, 3))),
    lambda lib, x, y: lib.broadcast_to(x[:, :1], (2, 3, 5)),
    lambda lib, x, y: x.flatten()[::-1].reshape(4, 3).T,
    lambda lib, x, y: lib.ravel(x.T),
    lambda lib, x, y: lib.flip(x),
    lambda lib, x, y: lib.flip(x, 1),
    lambda lib, x, y: lib.roll(x, 2),
    lambda lib, x, y: lib.roll(x, -1, 1),
    lambda lib, x, y: lib.tile(x, 2),
    lambda lib, x, y: lib.tile(x, (2, 1, 3)),
    lambda lib, x, y: lib.repeat(x, 2),
    lambda lib, x, y: lib.repeat(x, 3, 1),
    lambda lib, x, y: lib.concatenate([x, y]),
    lambda lib, x, y: lib.concatenate([x, y[:, ::-1], x[:, :1]], axis=-1),
    lambda lib, x, y: lib.concatenate([x, y[0]], axis=None),
    lambda lib, x, y: lib.concatenate([x.T, y.T])[::3],
    lambda lib, x, y: lib.swapaxes(x, 0, 1),
    lambda lib, x, y: lib.moveaxis(x[None], 0, -1),
    lambda lib, x, y: lib.stack([x, y], 1).reshape(6, 4)[::-1].T,
    lambda lib, x, y: lib.minimum(x[:, ::-1], y.T.reshape(3, 4)),
    lambda lib, x, y: lib.where(x > y, x, y[::-1]).T,
    lambda lib, x, y: lib.concatenate([lib.maximum(x, y), x, lib.maximum(x, y)[:1]]),
]

SEARCHED: list[Case] = [
    lambda lib, x, y: lib.cummax(x, 0),
    lambda lib, x, y: lib.cummin(x, 1),
    lambda lib, x, y: lib.cummax(x.reshape(-1)),
    lambda lib, x, y: lib.argmax(x),
    lambda lib, x, y: lib.argmin(x),
    lambda lib, x, y: lib.argmax(x, axis=0),
    lambda lib, x, y: lib.argmin(x, axis=-1),
    lambda lib, x, y: lib.argmax(x[:1], axis=0),
    lambda lib, x, y: lib.isin(x, y[0]),
    lambda lib, x, y: lib.isin(x, y[0], invert=True),
    lambda lib, x, y: lib.searchsorted(lib.cummax(x[1]), y),
    lambda lib, x, y: lib.searchsorted(lib.cummax(x[1]), y, side="right"),
    lambda lib, x, y: lib.associative_scan(lib.maximum, x, axis=1),
    lambda lib, x, y: lib.associative_scan(lib.minimum, x.reshape(2, 6), axis=1),
]

ADDED: list[Case] = [
    lambda lib, x, y: lib.cumsum(x),
    lambda lib, x, y: lib.cumsum(x, 0),
    lambda lib, x, y: x.cumsum(1)[:, -1],
    lambda lib, x, y: lib.cumsum(x.T, axis=1),
    lambda lib, x, y: lib.diff(x, axis=0),
    lambda lib, x, y: lib.diff(y, 2),
    lambda lib, x, y: lib.diff(x, prepend=y[:, :1]),
    lambda lib, x, y: lib.diff(y, 2, 0, prepend=x[:1]),
    lambda lib, x, y: lib.associative_scan(operator.add, x, axis=0),
    lambda lib, x, y: lib.clip(x, None, y),
    lambda lib, x, y: lib.clip(x, y - y, None),
]


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_fixed_axes(kind: Any) -> None:
    arrays = [numbers(kind, (3, 4)) for _ in range(2)]
    compare([*ARRANGED, *SEARCHED], kind, arrays)


@pytest.mark.parametrize("kind", [sl.i16, sl.u32.wrapping, sl.fixed(8, 8), sl.f32], ids=repr)
def test_running_sums(kind: Any) -> None:
    wide = {sl.i16: sl.i32, sl.fixed(8, 8): sl.fixed(16, 8)}.get(kind)

    def widened(case: Case) -> Case:
        return lambda lib, x, y: (
            case(lib, x.astype(wide), y.astype(wide)) if lib is sl and wide else case(lib, x, y)
        )

    arrays = [numbers(kind, (3, 4)) for _ in range(2)]
    if ".wrapping" in kind.__name__:
        arrays = [array.astype(np.uint32) for array in arrays]
    compare([widened(case) for case in ADDED], kind, arrays, result=wide)


ROWS: list[Case] = [
    lambda lib, x, y: x.reshape(x.shape[0], 2, 3)[:, :, ::-1],
    lambda lib, x, y: x.reshape(x.shape[0], 2, 3).transpose(0, 2, 1).reshape(x.shape[0], -1),
    lambda lib, x, y: x[:, ::-2],
    lambda lib, x, y: lib.concatenate([x, y[:, :2]], axis=1),
    lambda lib, x, y: lib.concatenate([lib.maximum(x, y), x], axis=-1)[:, ::5],
    lambda lib, x, y: lib.flip(x, 1),
    lambda lib, x, y: lib.roll(x, 1, 1),
    lambda lib, x, y: lib.tile(x, (1, 2)),
    lambda lib, x, y: lib.repeat(x, 2, axis=1),
    lambda lib, x, y: lib.expand_dims(x, 1),
    lambda lib, x, y: lib.broadcast_to(x[:, :1], (x.shape[0], 2)),
    lambda lib, x, y: lib.minimum(x, y.max(axis=0)[None]),
    lambda lib, x, y: lib.cummax(x, 0),
    lambda lib, x, y: lib.cummin(x[:, 0]),
    lambda lib, x, y: lib.cummax(x, 1),
    lambda lib, x, y: lib.argmax(x, axis=0),
    lambda lib, x, y: lib.argmin(x, axis=1),
    lambda lib, x, y: lib.argmin(x[:, 2]),
    lambda lib, x, y: lib.isin(x, [1, 0]),
    lambda lib, x, y: lib.searchsorted([0, 1, 1], x, side="right"),
    lambda lib, x, y: lib.associative_scan(lib.maximum, x, axis=0),
    lambda lib, x, y: lib.associative_scan(lib.minimum, x, axis=1),
    lambda lib, x, y: lib.map(lambda a, b: lib.concatenate([a.reshape(2, 3).T[::-1, 0], b]), x, y),
    lambda lib, x, y: lib.map(lambda a: lib.cummax(a)[::2], x),
    lambda lib, x, y: lib.map(lambda a: lib.argmax(a), x),
    lambda lib, x, y: lib.map(lambda a: lib.roll(lib.flip(a), 2), x),
]


@pytest.mark.parametrize("kind", KINDS[:-1], ids=repr)
def test_rows(kind: Any) -> None:
    arrays = [numbers(kind, (7, 6), 3) for _ in range(2)]
    compare(ROWS, kind, arrays, "n <= 9")


STEPS: list[Case] = [
    lambda lib, x, y: lib.diff(x[:, 0], prepend=x.dtype.type(1) if lib is NP else 1),
    lambda lib, x, y: lib.diff(x, axis=0, prepend=y[:1] if lib is NP else lib.head(y, 1)),
    lambda lib, x, y: (
        lib.diff(lib.diff(x[:, 1], prepend=x[0, :1]), prepend=x[0, 1:])
        if lib is NP
        else lib.diff(lib.diff(x[:, 1], prepend=lib.head(x, 1)[0, 0]), prepend=lib.head(x, 1)[0, 1])
    ),
]


@pytest.mark.filterwarnings("ignore:invalid value")  # NumPy's, of infinity less infinity
@pytest.mark.parametrize("kind", [sl.boolean, sl.i16.wrapping, sl.f32], ids=repr)
@pytest.mark.parametrize("rows", [1, 2, 7])
def test_differences_of_rows(kind: Any, rows: int) -> None:
    compare(STEPS, kind, [numbers(kind, (rows, 2), 3) for _ in range(2)], "n <= 9")


@pytest.mark.parametrize("protocol", PROTOCOLS[1:])
def test_protocols(protocol: str) -> None:
    arrays = [numbers(sl.i16, (3, 4)) for _ in range(2)]
    some = [*ARRANGED[1:32:3], *SEARCHED[::3]]
    compare(some, sl.i16, arrays, protocol=protocol)
    arrays = [numbers(sl.i16, (3, 6)) for _ in range(2)]
    compare(ROWS[::4], sl.i16, arrays, "n <= 9", protocol)


def test_sums_in_order_and_in_rings() -> None:
    """Running sums over rows, of the results of products, which `trio` adds modulo `2**k`."""

    def sums(lib: Any, products: Any) -> Any:
        first = lib.concatenate([products[:, ::-1], products[:, :1]], axis=1)
        return products.cumsum(axis=0), products.cumsum(1), first.sum(axis=0)

    inputs = {"x": (sl.u8, "alice", "n <= 9", 5), "y": (sl.u8, "bob", 5)}
    learnt = learns("bob", sl.u32, sl.u32, sl.u32)
    f = traced(lambda x, y: sums(sl, x.astype(sl.u32) * y), learnt, **inputs)
    x, y = RANDOM.integers(0, 256, (6, 5)), RANDOM.integers(0, 256, 5)
    for protocol in PROTOCOLS[1:]:
        same(planned(f, x, y, protocol=protocol).value, sums(np, x * y))


def test_running_sums_of_floats_are_those_of_numpy() -> None:
    arrays = [RANDOM.normal(size=(7, 3)).astype(np.float32) for _ in range(2)]
    cases: list[Case] = [
        lambda lib, x, y: lib.cumsum(x, axis=0),
        lambda lib, x, y: lib.cumprod(x, axis=0),
        lambda lib, x, y: lib.cumsum(x, axis=1),
    ]
    compare(cases, sl.f32, arrays, "n <= 9")
    compare([*cases, lambda lib, x, y: lib.cumprod(x, axis=1)], sl.f32, arrays)


def test_running_products() -> None:
    arrays = [RANDOM.integers(0, 2**32, (5,), dtype=np.uint32) for _ in range(2)]
    cases: list[Case] = [
        lambda lib, x, y: x.cumprod().astype(x.dtype),
        lambda lib, x, y: (x ^ y).cumprod().astype(x.dtype),
    ]
    compare(cases, sl.u32.wrapping, arrays)
    compare(cases, sl.u32.wrapping, arrays, "n <= 9")
    inputs = {"x": (sl.u8, "alice", 4), "y": (sl.boolean, "bob", 4)}
    learnt = learns("bob", sl.u32, sl.u8)
    f = traced(lambda x, y: (sl.cumprod(x, dtype=sl.u32), sl.cumprod(y)), learnt, **inputs)
    found = f.simulate([255, 254, 2, 255], [True, True, False, True], clear=True).value
    assert found[0].tolist() == [255, 255 * 254, 255 * 508, 255 * 508 * 255]
    assert found[1].tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize("kind", [sl.u8, sl.i16, sl.fixed(8, 8), sl.f32], ids=repr)
def test_histograms_and_places(kind: Any) -> None:
    edges = [-20, -3, 0, 0, 4.5, 60] if kind in (sl.f32, sl.fixed(8, 8)) else [0, 3, 3, 50, 60]
    arrays = [numbers(kind, (9, 2)) for _ in range(2)]
    cases: list[Case] = [
        lambda lib, x, y: lib.histogram(x, edges)[0],
        lambda lib, x, y: lib.histogram(x[:, 0], 4, range=(0, 80))[0],
        lambda lib, x, y: lib.histogram(x[:, 1], 1, (0, 7))[0],
        lambda lib, x, y: lib.searchsorted(edges, x),
        lambda lib, x, y: lib.searchsorted(edges, y, side="right"),
        lambda lib, x, y: lib.isin(x, edges),
    ]
    if kind is sl.f32:
        arrays = [np.where(np.isinf(array), 7, array) for array in arrays]
        cases[0] = lambda lib, x, y: lib.histogram(x[~np.isnan(x)] if lib is NP else x, edges)[0]
        cases[1] = lambda lib, x, y: lib.histogram(y, [0, 1, 2])[0]
        cases[2] = lambda lib, x, y: lib.isin(y, [0, np.inf])
    compare(cases, kind, arrays)
    compare(cases, kind, arrays, "n <= 20")


def test_rounding() -> None:
    ties = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.25, -7.75, 3.0])
    for kind, array in [
        (sl.fixed(8, 8), ties),
        (sl.fixed(32, 32), ties),
        (sl.f32, ties.astype(np.float32)),
        (sl.f64, np.concatenate([ties, RANDOM.normal(size=9)])),
    ]:
        some: list[Case] = [
            lambda lib, x, y: lib.round(lib.clip(x, -100, 100)),
            lambda lib, x, y: lib.clip(x, -99, lib.minimum(y, 99)).round(),
        ]
        if kind is sl.f64:
            some += [lambda lib, x, y: lib.round(x, 2), lambda lib, x, y: lib.round(x * 1000, -2)]
        compare(some, kind, [array, array + 1])
    whole = RANDOM.integers(-2000, 2000, 20)
    cases: list[Case] = [
        lambda lib, x, y: lib.round(lib.clip(x, -2000, 2000), -2),
        lambda lib, x, y: lib.round(lib.clip(x, -2000, 2000), -1),
        lambda lib, x, y: lib.round(x, 3),
    ]
    compare(cases, sl.i16, [whole, np.round(whole, -1) + 5])


def test_functions_of_numpy_work_while_a_program_is_traced() -> None:
    def run(x: Any, y: Any) -> Any:
        joined = np.concatenate([np.reshape(x, (4, 3)), np.transpose(y)], axis=1)
        where = np.where(np.isin(x, [1, 2, 3]), np.clip(x, 2, 50), np.flip(y, axis=0))
        counted, _ = np.histogram(y, bins=[0, 10, 100])
        return (
            joined,
            where,
            np.stack([np.argmax(x, axis=1), np.argmin(y, axis=1)]),
            np.cumsum(np.diff(x, axis=0), axis=1) + np.maximum.accumulate(y)[1:],
            np.minimum.accumulate(np.squeeze(x[:1]))[::-1],
            counted,
            np.roll(np.tile(x[0], 2), 3) + np.repeat(y[1], 2),
            np.sum(x, axis=0) + np.max(y, axis=0) - np.dot(x, y[0, :, None])[:1, 0],
            np.round(np.swapaxes(x, 0, 1)) + np.broadcast_to(y[0], (3, 4)).T,
        )

    arrays = [RANDOM.integers(0, 100, (3, 4)) for _ in range(2)]
    wanted = run(*arrays)
    f = traced(
        lambda x, y: run(x.astype(sl.i64), y.astype(sl.i64)),
        learns("bob", *(sl.i64 for _ in wanted)),
        **{"x": (sl.u8, "alice", 3, 4), "y": (sl.u8, "bob", 3, 4)},
    )
    same(f.simulate(*arrays, clear=True).value, wanted)


def test_constants_mix() -> None:
    @sl.program
    def f(
        x: sl.Private[sl.u8, "alice", 3], y: sl.Private[sl.u8, "bob"]
    ) -> sl.Revealed[sl.i64, "bob"]:
        few = sl.arange(3) + sl.u8(1)  # 1, 2, 3
        weights = sl.minimum(few * sl.full(3, 2, sl.u8), np.array([9, 3, 9]))  # 2, 3, 6
        assert sl.minimum(3, 5) == 3
        assert sl.maximum([1, 5], 3).tolist() == [3, 5]
        assert sl.where([True, False], 1, 2).tolist() == [1, 2]
        both = sl.concatenate([weights, sl.zeros(1, sl.u8), [7]])[::-1]  # 7, 0, 6, 3, 2
        rest = both[sl.minimum(2, 3) :] + sl.ones(3, sl.i16)
        return rest.astype(sl.i64) * x + y - sl.u8(4)

    assert f.simulate([1, 2, 3], 5, clear=True).value.tolist() == [8, 9, 10]
    with pytest.raises(sl.ProgramError, match="inside of the program"):
        sl.u8(3) + 4
    assert sl.arange(-2, 5, 3).dtype is sl.i4
    assert repr(sl.zeros((), sl.i8)) == "<i8, public, 0>"


def test_what_only_moves_takes_no_gate_and_no_step() -> None:
    def cost(body: Case) -> tuple[int, int]:
        f = traced(
            lambda x, y: sl.maximum(body(sl, x, y), 5),
            (sl.u8, "bob"),
            **{"x": (sl.u8, "alice", "n <= 9", 6), "y": (sl.u8, "bob", "n", 6)},
        )
        plan = f.plan(rows=9)
        return plan.ands, len(str(plan.steps).splitlines())

    gates, steps = cost(lambda lib, x, y: x & y)
    moves: list[Case] = [
        lambda lib, x, y: x[:, ::-1] & y[:, ::-1],
        lambda lib, x, y: x.reshape(x.shape[0], 2, 3) & y.reshape(x.shape[0], 2, 3)[:, ::-1],
        lambda lib, x, y: lib.transpose(x[:, None], (0, 2, 1)) & lib.flip(y, 1)[..., None],
    ]
    for body in moves:
        assert cost(body) == (gates, steps)
    joined = cost(lambda lib, x, y: lib.concatenate([x[:, ::2], x[:, 1::2]], axis=1) & y)
    assert joined == (gates, steps + 1)


REFUSED: list[tuple[Case, str, str]] = [
    (lambda lib, x, y: x.T, "shape-mismatch", "reduce along the rows with `axis=0`"),
    (lambda lib, x, y: x.reshape(-1), "shape-mismatch", "`x.reshape(x.shape[0], -1)`"),
    (lambda lib, x, y: x.reshape(3, 6), "shape-mismatch", "keep the rows first"),
    (lambda lib, x, y: y.reshape(4, -1), "shape-mismatch", "write -1 for one length"),
    (lambda lib, x, y: lib.concatenate([x, y]), "shape-mismatch", '`"more <= 10"`'),
    (lambda lib, x, y: lib.concatenate([y, y[:, :2]]), "shape-mismatch", "`sl.broadcast_to`"),
    (lambda lib, x, y: lib.concatenate(y), "operand", "`sl.concatenate([a, b])`"),
    (lambda lib, x, y: x[::-1], "index-range", "`sl.scan`"),
    (lambda lib, x, y: y[::0], "index-range", "`x[::-1]`"),
    (lambda lib, x, y: y[2:2:3], "index-range", "begin before it ends"),
    (lambda lib, x, y: lib.diff(x, axis=0), "shape-mismatch", "`sl.diff(x, prepend=0)`"),
    (lambda lib, x, y: lib.diff(x, 2, 0, prepend=0), "shape-mismatch", "call it again"),
    (lambda lib, x, y: lib.diff(y, 9), "operand", "`sl.diff(x)`"),
    (lambda lib, x, y: lib.diff(y), "range-overflow", "`sl.i9`"),
    (lambda lib, x, y: lib.tile(x, (2, 1)), "shape-mismatch", "fixed axis"),
    (lambda lib, x, y: lib.tile(x, (2, 1, 1)), "shape-mismatch", "fixed axis"),
    (lambda lib, x, y: lib.repeat(x, 2, 0), "shape-mismatch", "`sl.repeat(x[:, None], 2, axis=1)`"),
    (lambda lib, x, y: lib.repeat(y, [1, 2]), "operand", "`sl.repeat(x, 2)`"),
    (lambda lib, x, y: lib.broadcast_to(y, (x.shape[0], 2, 6)), "shape-mismatch", "by itself"),
    (lambda lib, x, y: lib.broadcast_to(y, (4, 6)), "shape-mismatch", "`x[:, None]`"),
    (lambda lib, x, y: lib.transpose(y, (0, 0)), "shape-mismatch", "name each axis once"),
    (lambda lib, x, y: lib.squeeze(y, 0), "shape-mismatch", "`x[:, 0]`"),
    (lambda lib, x, y: lib.cumsum(x), "shape-mismatch", "name an axis"),
    (lambda lib, x, y: lib.cumsum(x, 0), "range-overflow", "dtype=sl.u12"),
    (lambda lib, x, y: lib.cumprod(x, 0), "range-overflow", "sl.clip"),
    (lambda lib, x, y: lib.argmax(x), "shape-mismatch", "name an axis"),
    (lambda lib, x, y: lib.argmax(y, 2), "shape-mismatch", "name an axis that is there"),
    (lambda lib, x, y: lib.isin(y, x), "whole-rows", "fixed number of elements"),
    (lambda lib, x, y: lib.searchsorted([3, 1], y), "operand", "`sl.searchsorted(np.sort(a), x)`"),
    (lambda lib, x, y: lib.searchsorted(y, x), "shape-mismatch", "for example"),
    (lambda lib, x, y: lib.searchsorted([1], x, "up"), "operand", '`side="right"`'),
    (lambda lib, x, y: lib.histogram(x, 5)[0], "operand", "range=(0, 100)"),
    (lambda lib, x, y: lib.histogram(x, [2, 1])[0], "operand", "for example"),
    (lambda lib, x, y: lib.round(x.astype(sl.fixed(10, 3)), 2), "operand", "hundredths"),
    (lambda lib, x, y: lib.zeros((x.shape[0], 2), sl.u8) + 1, "shape-mismatch", "`x * 0`"),
    (lambda lib, x, y: np.sum(x, keepdims=True), "numpy", "`keepdims=`"),
    (lambda lib, x, y: np.interp(x, [0], [1]), "numpy", "`dir(sl)`"),
]


@pytest.mark.parametrize(("body", "code", "hint"), REFUSED)
def test_refusals(body: Case, code: str, hint: str) -> None:
    inputs = {"x": (sl.u8, "alice", "n <= 9", 6), "y": (sl.u8, "bob", 3, 6)}
    said = refusal(traced(lambda x, y: body(sl, x, y), (sl.u8, "bob"), **inputs).check)
    assert f"[{code}]" in said and hint in said, said


@pytest.mark.parametrize("kind", ["u8", "i8", "i32", "i64", "u64", "boolean"])
@pytest.mark.parametrize("columns", [(), (3,)])
def test_the_first_of_equal_rows_is_found(kind: str, columns: tuple[int, ...]) -> None:
    """Numbers of 64 bits hold no place beside them."""
    item = getattr(sl, kind)

    @sl.program
    def f(
        x: sl.Private[item, "alice", "n <= 50", *columns],
        y: sl.Private[item, "bob", "n", *columns],
    ) -> tuple[sl.Revealed[sl.u8, "bob"], sl.Revealed[sl.u8, "bob"]]:
        z = sl.where(x > y, x, y)
        return sl.argmax(z, axis=0), sl.argmin(z, axis=0)

    rng = np.random.default_rng(1)
    low = 0 if kind[0] in "ub" else -2
    dtype = np.bool_ if kind == "boolean" else np.dtype(f"{kind[0]}{int(kind[1:]) // 8}")
    for rows in (1, 2, 7, 50):
        x, y = (rng.integers(low, 2, (rows, *columns)).astype(dtype) for _ in range(2))
        most, least = f(x, y)
        z = np.maximum(x, y)
        assert np.array_equal(most, z.argmax(axis=0)), z
        assert np.array_equal(least, z.argmin(axis=0)), z
