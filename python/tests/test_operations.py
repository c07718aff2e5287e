"""Every operation against plain Python, through trace, plan and engine.

The clear protocol runs the same plan as the secure one, so that many cases fit into a test; a few
of each go through garbled circuits as well.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import sealane as sl
from conftest import learns, refusal, traced
from sealane import _core

Draw = Callable[[st.SearchStrategy[Any]], Any]

QUICK = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
SECURE = settings(QUICK, max_examples=2)

ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "minimum": min,
    "maximum": max,
}
TRACED: dict[str, Callable[[Any, Any], Any]] = {
    **ARITHMETIC,
    "minimum": sl.minimum,
    "maximum": sl.maximum,
}
BITS = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}
COMPARISONS = {name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")}


def element(signed: bool, bits: int) -> type[sl.Value]:
    kind: type[sl.Value] = getattr(sl, f"{'i' if signed else 'u'}{bits}")
    return kind


def limits(signed: bool, bits: int) -> tuple[int, int]:
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)


def of_two(body: Callable[..., Any], learnt: Any, case: Any) -> Any:
    """A program of three numbers of each of two types, in their ranges."""
    (a, b), (of_a, of_b), _ = case
    given = {"a": (a, "alice", 3, sl.between(*of_a)), "b": (b, "bob", 3, sl.between(*of_b))}
    return traced(body, learnt, **given)


@st.composite
def operands(draw: Draw) -> tuple[list[Any], list[tuple[int, int]], list[list[int]]]:
    """Two types, a declared range in each, and three numbers of each range."""
    kinds, ranges, numbers = [], [], []
    for _ in range(2):
        signed, bits = draw(st.booleans()), draw(st.integers(2, 15))
        low, high = limits(signed, bits)
        ends = sorted([draw(st.integers(low, high)), draw(st.integers(low, high))])
        kinds.append(element(signed, bits))
        ranges.append((ends[0], ends[1]))
        inside = st.integers(ends[0], ends[1]) | st.sampled_from(ends)
        numbers.append(draw(st.lists(inside, min_size=3, max_size=3)))
    return kinds, ranges, numbers


def check_arithmetic(name: str, case: Any, clear: bool) -> None:
    _, ranges, numbers = case
    compute = TRACED[name]
    f = of_two(lambda a, b: compute(a.astype(sl.i32), b.astype(sl.i32)), (sl.i32, "alice"), case)
    if name in ("floordiv", "mod") and ranges[1][0] <= 0 <= ranges[1][1]:
        assert "[division-by-zero]" in refusal(lambda: f.simulate(*numbers, clear=clear))
        return
    expected = [ARITHMETIC[name](a, b) for a, b in zip(*numbers, strict=True)]
    assert f.simulate(*numbers, clear=clear).value.tolist() == expected


@pytest.mark.parametrize("name", ARITHMETIC)
@QUICK
@given(case=operands())
def test_arithmetic(name: str, case: Any) -> None:
    check_arithmetic(name, case, clear=True)


@pytest.mark.parametrize("name", ARITHMETIC)
@SECURE
@given(case=operands())
def test_arithmetic_on_garbled_circuits(name: str, case: Any) -> None:
    check_arithmetic(name, case, clear=False)


@pytest.mark.parametrize("name", COMPARISONS)
@QUICK
@given(case=operands())
def test_comparisons_compare_numbers_whatever_the_types(name: str, case: Any) -> None:
    compare = COMPARISONS[name]
    result = of_two(compare, (sl.boolean, "bob"), case).simulate(*case[2], clear=True).value
    assert result.dtype == np.bool_
    assert result.tolist() == [compare(a, b) for a, b in zip(*case[2], strict=True)]


@QUICK
@given(
    signed=st.booleans(),
    bits=st.sampled_from([2, 7, 8, 13, 32, 64]),
    name=st.sampled_from(sorted(BITS)),
    data=st.data(),
)
def test_bits(signed: bool, bits: int, name: str, data: st.DataObject) -> None:
    kind = element(signed, bits)
    numbers = st.lists(st.integers(*limits(signed, bits)), min_size=2, max_size=2)
    a, b = data.draw(numbers), data.draw(numbers)
    given = {"a": (kind, "alice", 2), "b": (kind, "bob", 2)}
    f = traced(lambda a, b: (BITS[name](a, b), ~a), learns("alice", kind, kind), **given)
    both, flipped = f.simulate(a, b, clear=True).value
    assert both.tolist() == [BITS[name](x, y) for x, y in zip(a, b, strict=True)]
    mask = 0 if signed else (1 << bits) - 1
    assert flipped.tolist() == [~x if signed else x ^ mask for x in a]


@QUICK
@given(signed=st.booleans(), bits=st.sampled_from([1, 5, 8, 32, 63, 64]), data=st.data())
def test_wrapping_types_compute_modulo_their_width(
    signed: bool, bits: int, data: st.DataObject
) -> None:
    assume(not (signed and bits == 1))
    low, high = limits(signed, bits)
    numbers = st.lists(st.integers(low, high), min_size=2, max_size=2)
    a, b = data.draw(numbers), data.draw(numbers)
    kind = element(signed, bits)
    f = traced(
        lambda a, b: (a + b, a - b, a * b, -a),
        tuple[(sl.Revealed[kind, "bob", sl.wrapping],) * 4],
        **{"a": (kind, "alice", 2, sl.wrapping), "b": (kind, "bob", 2, sl.wrapping)},
    )
    results = f.simulate(a, b, clear=True).value
    pairs = list(zip(a, b, strict=True))
    expected = [[x + y for x, y in pairs], [x - y for x, y in pairs], [x * y for x, y in pairs]]
    for got, exact in zip(results, [*expected, [-x for x in a]], strict=True):
        assert got.tolist() == [(number - low) % (1 << bits) + low for number in exact]


@QUICK
@given(
    rows=st.lists(
        st.lists(st.integers(-1000, 1000), min_size=3, max_size=3), min_size=1, max_size=6
    ),
    weights=st.lists(st.integers(-50, 50), min_size=3, max_size=3),
)
def test_rows_reductions_and_products(rows: list[tuple[int, int, int]], weights: list[int]) -> None:
    @sl.program
    def f(
        x: sl.Private[sl.i16, "alice", "rows <= 10", 3], w: sl.Private[sl.i8, "bob", 3]
    ) -> tuple[
        sl.Revealed[sl.i64, "alice"],
        sl.Revealed[sl.i64, "alice"],
        sl.Revealed[sl.i16, "bob"],
        sl.Revealed[sl.i16, "bob"],
        sl.Revealed[sl.boolean, "alice", "bob"],
        sl.Revealed[sl.boolean, "bob"],
    ]:
        return (
            sl.dot(x, w, dtype=sl.i64),
            x.sum(dtype=sl.i64),
            x.min(axis=1),
            sl.max(x, axis=0),
            (x > 0).any(axis=1),
            sl.all(x > -900),
        )

    table = np.array(rows)
    products, total, least, most, some, every = f.simulate(rows, weights, clear=True).value
    assert products.tolist() == (table @ np.array(weights)).tolist()
    assert total == table.sum()
    assert least.tolist() == table.min(axis=1).tolist()
    assert most.tolist() == table.max(axis=0).tolist()
    assert some.tolist() == (table > 0).any(axis=1).tolist()
    assert every == (table > -900).all()


def test_shifts_select_indexing_and_functions() -> None:
    @sl.program
    def f(
        x: sl.Private[sl.u8, "alice", 2, 3],
        s: sl.Private[sl.u8, "bob", sl.between(0, 3)],
        n: sl.Private[sl.i8, "bob"],
    ) -> tuple[
        *learns("alice", sl.u8, sl.u16, sl.u8, sl.u8).__args__,
        *learns("bob", sl.u8, sl.i16).__args__,
    ]:
        return (
            x >> s,
            x.astype(sl.u16) << 2,
            sl.where(x > 100, x, 0)[1, ::1],
            sl.stack([x[0], x[-1, :]], axis=1)[:2],
            sl.popcount(x[0, 1]),
            abs(n.astype(sl.i16)),
        )

    table = np.array([[1, 200, 3], [130, 7, 255]], dtype=np.uint8)
    shifted, wide, chosen, stacked, ones, size = f(table, 2, -128)
    assert shifted.tolist() == (table >> 2).tolist()
    assert wide.tolist() == (table.astype(int) << 2).tolist()
    assert chosen.tolist() == [130, 0, 255]
    assert stacked.tolist() == [[1, 130], [200, 7]]
    assert (ones, size) == ((200).bit_count(), 128)
    assert ones.dtype == np.uint8


def check_lookup(case: Any, clear: bool) -> None:
    """A table of constants and the same as a secret of bob's, by a scalar and by a vector."""
    kind, table, index = case
    last = len(table) - 1

    def f(i: Any, j: Any, entries: Any) -> Any:
        return sl.lookup(table.tolist(), i), sl.lookup(entries, i), sl.lookup(table, j)

    program = traced(
        f,
        tuple[sl.Revealed[kind, "bob"], sl.Revealed[kind, "alice"], sl.Revealed[kind, "alice"]],
        i=(sl.u8, "alice", len(index), sl.between(0, last)),
        j=(sl.i8, "bob", sl.between(0, last)),
        entries=(kind, "bob", *table.shape),
    )
    results = program.simulate(index, index[0], table, clear=clear).value
    for got, expected in zip(results, [table[index], table[index], table[index[0]]], strict=True):
        np.testing.assert_array_equal(got, expected)


@st.composite
def tables(draw: Draw) -> tuple[Any, Any, list[int]]:
    """A type, 1 to 20 numbers of it or pairs of them, and three indices."""
    signed, bits = draw(st.booleans()), draw(st.sampled_from([1, 3, 8, 33, 64]))
    shape = [draw(st.integers(1, 20)), *draw(st.sampled_from([[], [2]]))]
    count = int(np.prod(shape))
    numbers = st.integers(*limits(signed, bits)) | st.sampled_from(limits(signed, bits))
    entries = draw(st.lists(numbers, min_size=count, max_size=count))
    index = draw(st.lists(st.integers(0, shape[0] - 1), min_size=3, max_size=3))
    dtype = np.int64 if signed else np.uint64
    return element(signed, bits), np.array(entries, dtype=dtype).reshape(shape), index


@QUICK
@given(case=tables())
def test_lookup(case: Any) -> None:
    check_lookup(case, clear=True)


@SECURE
@given(case=tables())
def test_lookup_on_garbled_circuits(case: Any) -> None:
    check_lookup(case, clear=False)


@pytest.mark.parametrize("clear", [False, True], ids=["yao", "clear"])
def test_lookups_in_bodies_and_of_any_shape(clear: bool) -> None:
    following = np.array([7, 0, 12, 3, 15, 1, 9, 4, 2, 14, 6, 5, 13, 8, 11, 10])
    truths = [True, False, False, True]

    def f(x: Any, grid: Any, table: Any) -> Any:
        def walk(state: Any, step: Any) -> Any:
            state = sl.lookup(following, state ^ step)
            return state, sl.lookup(table, state)

        last, passed = sl.scan(walk, sl.u4(0), x)
        mapped = sl.map(lambda step: sl.lookup(table, step) + sl.lookup([0, 1], step & 1), x)
        return last, passed, mapped, sl.lookup(truths, grid), sl.lookup(grid, grid[0, 0] >> 1)

    program = traced(
        f,
        learns("bob", sl.u4, sl.u8, sl.u8, sl.boolean, sl.u2),
        x=(sl.u4, "alice", "rows <= 9"),
        grid=(sl.u2, "alice", 2, 3),
        table=(sl.u8, "bob", 16, sl.between(0, 200)),
    )
    x, grid, table = [3, 15, 0, 8], np.array([[3, 0, 1], [1, 2, 3]]), np.arange(200, 40, -10)
    last, passed, mapped, true, row = program.simulate(x, grid, table, clear=clear).value
    states = [0]
    for step in x:
        states.append(following[states[-1] ^ step])
    assert last == states[-1]
    assert passed.tolist() == table[states[1:]].tolist()
    assert mapped.tolist() == [table[step] + step % 2 for step in x]
    assert true.tolist() == np.array(truths)[grid].tolist()
    assert row.tolist() == grid[1].tolist()


def field_times(a: int, b: int, polynomial: int) -> int:
    """The product of two polynomials over GF(2), by long division."""
    product = 0
    for bit in range(b.bit_length()):
        product ^= (a << bit) * (b >> bit & 1)
    while product.bit_length() >= polynomial.bit_length():
        product ^= polynomial << product.bit_length() - polynomial.bit_length()
    return product


def check_field(case: Any, clear: bool) -> None:
    """Products of vectors and a scalar, a chain of them, a square and a product by a constant."""
    polynomial, x, y, n = case
    k = polynomial.bit_length() - 1
    kind, last = element(False, k), 2**k - 1

    def f(x: Any, y: Any, n: Any) -> Any:
        once = sl.gf_mul(x, y, polynomial)
        return (
            once,
            sl.gf_mul(once ^ x, n, polynomial),
            sl.gf_mul(once, once, polynomial),
            sl.gf_mul(last, y, polynomial),
        )

    program = traced(
        f,
        learns("alice", kind, kind, kind, kind),
        x=(kind, "alice", len(x)),
        y=(kind, "bob", len(y)),
        n=(sl.u16, "alice", sl.between(0, last)),
    )
    results = program.simulate(x, y, n, clear=clear).value
    once = [field_times(a, b, polynomial) for a, b in zip(x, y, strict=True)]
    assert [got.tolist() for got in results] == [
        once,
        [field_times(a ^ b, n, polynomial) for a, b in zip(once, x, strict=True)],
        [field_times(a, a, polynomial) for a in once],
        [field_times(last, b, polynomial) for b in y],
    ]


@st.composite
def elements(draw: Draw) -> tuple[int, list[int], list[int], int]:
    """A polynomial, two vectors of elements of its field, and one more."""
    polynomial = draw(st.sampled_from([0x2, 0x3, 0x7, 0xD, 0x13, 0x25, 0x49, 0x83, 0x11B, 0x11D]))
    number = st.integers(0, 2 ** (polynomial.bit_length() - 1) - 1)
    x, y = (draw(st.lists(number, min_size=5, max_size=5)) for _ in range(2))
    return polynomial, x, y, draw(number)


@QUICK
@given(case=elements())
def test_products_in_fields(case: Any) -> None:
    check_field(case, clear=True)


@SECURE
@given(case=elements())
def test_products_in_fields_on_garbled_circuits(case: Any) -> None:
    check_field(case, clear=False)


def test_products_in_fields_in_bodies_of_any_shape_under_trio() -> None:
    """FIPS 197, section 4.2; and a polynomial hash of rows."""

    @sl.program
    def f(
        x: sl.Private[sl.u8, "alice", "rows <= 9", 2],
        y: sl.Private[sl.u8, "bob", 2],
        z: sl.Private[sl.u8, "cyd", 2, 1],
    ) -> tuple[sl.Revealed[sl.u8, "alice"], sl.Revealed[sl.u8, "bob"], sl.Revealed[sl.u8, "cyd"]]:
        hashed = sl.scan(lambda state, row: sl.gf_mul(state ^ row[0], y[0], 0x11B), sl.u8(0), x)
        mapped = sl.map(lambda row: sl.gf_mul(row, y, 0x11B), x)
        return mapped[:, 0], hashed, sl.gf_mul(z, y, 0x11B)

    x, y, z = [[0x57, 1], [2, 0], [255, 9]], [0x83, 0x13], [[0x57], [1]]
    for clear in (False, True):
        # Three who compute take `trio`.
        report = f.simulate(x, y, z, clear=True) if clear else f.simulate(x, y, z, protocol="trio")
        mapped, hashed, grid = report.value
        assert mapped.tolist() == [field_times(row[0], 0x83, 0x11B) for row in x]
        state = 0
        for row in x:
            state = field_times(state ^ row[0], 0x83, 0x11B)
        assert hashed == state
        assert grid.tolist() == [[0xC1, 0xFE], [0x83, 0x13]]


def test_squares_and_products_by_constants_in_fields_take_no_gate() -> None:
    @sl.program
    def f(
        a: sl.Private[sl.u8, "alice"], b: sl.Private[sl.u8, "bob"]
    ) -> tuple[sl.Revealed[sl.u8, "bob"], sl.Revealed[sl.u8, "bob"], sl.Revealed[sl.u8, "bob"]]:
        sum = a ^ b
        square = sl.gf_mul(sum, sum, 0x11B)
        return square, sl.gf_mul(2, sum, 0x11B), sl.gf_mul(sum, np.uint8(0x80), 0x11B)

    assert f.plan().ands == 0
    sum = 0x57 ^ 0x31
    assert f(0x57, 0x31) == tuple(field_times(sum, by, 0x11B) for by in (sum, 2, 0x80))


def test_a_lookup_that_its_owner_can_do_alone_takes_no_gate() -> None:
    @sl.program
    def f(
        x: sl.Private[sl.u4, "alice"], table: sl.Private[sl.u8, "bob", 16]
    ) -> tuple[sl.Revealed[sl.u8, "bob"], sl.Revealed[sl.u8, "bob"]]:
        own = sl.lookup([number * number for number in range(16)], x)
        return own, sl.lookup(table, 3)

    assert f.plan().ands == 0
    own, third = f(9, list(range(50, 66)))
    assert (own, third) == (81, 53)


def test_constants_of_numpy_and_python() -> None:
    @sl.program
    def f(x: sl.Private[sl.i32, "alice", 3, sl.between(-100, 100)]) -> sl.Revealed[sl.i32, "bob"]:
        weights = np.array([3, -1, 2])
        return weights * x + np.int16(5) - [1, 2, 3] + np.array(True)

    assert f([10, 20, -30]).tolist() == [35, -16, -57]


def test_map_and_scan_capture_what_is_around_them() -> None:
    @sl.program
    def f(x: sl.Private[sl.u8, "alice", "rows <= 9"], bonus: sl.Private[sl.u8, "bob"]) -> learns(
        "alice", sl.u16, sl.u32, sl.u32, sl.u8
    ):
        def longer(state: sl.u32, value: sl.u8) -> tuple[sl.u32, sl.u32]:
            following = sl.minimum(state, 1 << 20) + value + bonus
            return following, following

        mapped = sl.map(lambda value: value.astype(sl.u16) + bonus, x)
        last, each = sl.scan(longer, sl.u32(0), x)
        largest = sl.scan(lambda state, value: sl.maximum(state, value), 0, x, dtype=sl.u8)
        return mapped, last, each, largest

    mapped, last, each, largest = f([3, 1, 4], 2)
    assert mapped.tolist() == [5, 3, 6]
    assert each.tolist() == [5, 8, 14]
    assert (last, largest) == (14, 4)


def test_standard_functions_give_the_standards_answers() -> None:
    inputs = {"key": (sl.u8, "bob", 16), "block": (sl.u8, "alice", 16)}
    f = traced(sl.aes128, (sl.u8, "alice"), **inputs)
    # FIPS 197, appendix B.
    key = list(bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c"))
    block = list(bytes.fromhex("3243f6a8885a308d313198a2e0370734"))
    assert bytes(f(key, block)).hex() == "3925841d02dc09fbdc118597196a0b32"
    g = traced(sl.sha256, (sl.u8, "bob"), message=(sl.u8, "alice", 3))
    # FIPS 180-4: SHA-256 of "abc".
    expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert bytes(g(list(b"abc"))).hex() == expected


BY_NUMPY = [
    (numpy, count) for name, _, numpy, count in _core.element_wise() if numpy and name != "div"
]
"""The element-wise operations on integers that NumPy has, from the table of them."""


@pytest.mark.parametrize(("name", "count"), BY_NUMPY)
def test_element_wise_operations_are_those_of_numpy(name: str, count: int) -> None:
    function = getattr(np, name, None)
    if function is None:
        pytest.skip("a function of newer versions of NumPy")

    @sl.program
    def computed(
        x: sl.Private[sl.i16, "alice", "n <= 300", sl.between(-128, 127)],
        y: sl.Private[sl.i16, "bob", "n", sl.between(1, 7)],
    ) -> sl.Revealed[sl.i64, "bob"]:
        given = x.astype(sl.i32), y.astype(sl.i32)
        return function(*given[:count]).astype(sl.i64) + (y - y)

    x = np.arange(-128, 128, dtype=np.int32)
    y = np.resize(np.arange(1, 8, dtype=np.int32), x.size)
    expected = function(*(x, y)[:count]).astype(np.int64)
    np.testing.assert_array_equal(computed.simulate(x, y, clear=True).value, expected)
