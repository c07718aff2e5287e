"""Costs of plans of two parties: products by parts, trees in two parts, AES on shares."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sealane as sl
from aes_reference import encrypt

RING = ("gmw", "mixed")
Total = sl.Revealed[sl.i64, "alice"]


@sl.program
def products(
    x: sl.Private[sl.i16, "alice", "n <= 1_000"], y: sl.Private[sl.i16, "bob", "n"]
) -> sl.Revealed[sl.i64, "alice", "bob"]:
    return sl.sum(x.astype(sl.i64) * y)


@sl.program
def distances(
    x: sl.Private[sl.i16, "alice", "n <= 1_000"], y: sl.Private[sl.i16, "bob", "n"]
) -> sl.Revealed[sl.i64, "alice", "bob"]:
    apart = x.astype(sl.i64) - y
    return sl.sum(apart * apart)


@sl.program
def sums(
    x: sl.Private[sl.i16, "alice", "n <= 1_000", 3],
    y: sl.Private[sl.i16, "bob", "n", 3],
    a: sl.Private[sl.i8, "alice", 3],
    b: sl.Private[sl.i8, "bob", 3],
    k: sl.Private[sl.i8, "bob"],
) -> tuple[Total, Total, Total, Total, Total]:
    own, other = x.astype(sl.i64) - y + 5, a.astype(sl.i64) + b
    whole = -(own + k)
    return (
        sl.sum(own * other, axis=1),
        sl.dot(own, other),
        sl.sum(whole * whole),
        whole[:, 0] * x[:, 1],
        sl.sum(own * own, axis=0),
    )


def test_a_square_of_a_difference_takes_one_product_of_numbers_that_are_known() -> None:
    for protocol in RING:
        plans = [program.plan(protocol=protocol) for program in (products, distances)]
        product, square = (sum(plan.payload_bytes.values()) for plan in plans)
        # Its ring has a few bits more.
        assert square < 1.1 * product, (product, square)
        assert plans[1].rounds == plans[0].rounds


def test_products_of_sums_are_right_at_the_ends_of_all_types() -> None:
    ends = np.array([-(2**15), 2**15 - 1, 0, -1, 1, 77], dtype=np.int64)
    x, y = (np.stack([np.roll(ends, by + axis) for axis in range(3)], 1) for by in (0, 2))
    a, b, k = np.array([-128, 127, 3]), np.array([-128, 127, -9]), -128
    own, other = x - y + 5, a + b
    whole = -(own + k)
    wanted = [
        (own * other).sum(axis=1),
        own @ other,
        (whole * whole).sum(),
        whole[:, 0] * x[:, 1],
        (own * own).sum(axis=0),
    ]
    for protocol in (*RING, "trio", "yao"):
        helpers = ["ada"] if protocol == "trio" else []
        found = sums.simulate(x, y, a, b, k, protocol=protocol, helpers=helpers).value
        for one, other_one in zip(found, wanted, strict=True):
            assert np.array_equal(one, other_one), protocol


@sl.program
def squares(
    x: sl.Private[sl.i16, "alice", 3, 3], y: sl.Private[sl.i16, "bob", 3, 3]
) -> tuple[Total, Total, Total]:
    whole = x.astype(sl.i64) + y
    twice = sl.dot(whole, whole)
    return twice, sl.sum(twice, axis=0), sl.dot(whole[0], whole[0])


def test_a_matrix_by_itself_is_no_square_of_numbers() -> None:
    x, y = np.arange(9).reshape(3, 3), np.arange(9).reshape(3, 3).T * 7 - 20
    whole = x + y
    wanted = (whole @ whole, (whole @ whole).sum(axis=0), whole[0] @ whole[0])
    for protocol in RING:
        found = squares.simulate(x, y, protocol=protocol).value
        for one, other in zip(found, wanted, strict=True):
            assert np.array_equal(one, other), protocol


@sl.program
def ends(
    x: sl.Private[sl.i16, "alice", "n <= 100_000"], y: sl.Private[sl.i16, "bob", "n"]
) -> tuple[
    sl.Revealed[sl.i16, "alice"],
    sl.Revealed[sl.i16, "alice"],
    sl.Revealed[sl.u32, "alice"],
    sl.Revealed[sl.boolean, "alice"],
    sl.Revealed[sl.boolean, "alice"],
]:
    v = x ^ y
    return sl.min(v), sl.max(v), sl.argmax(v).astype(sl.u32), sl.any(v == 7), sl.all(v > -9)


@pytest.mark.parametrize("network", ["lan", "wan"])
def test_trees_in_two_parts_are_right_on_few_rows_and_many(network: str) -> None:
    random = np.random.default_rng(3)
    for rows in (1, 2, 64, 65, 300, 3_000):
        x, y = random.integers(-(2**15), 2**15, size=(2, rows))
        v = x ^ y
        wanted = [v.min(), v.max(), v.argmax(), (v == 7).any(), (v > -9).all()]
        found = ends.simulate(x=x, y=y, protocol="mixed", network=network)
        assert [int(one) for one in found.value] == [int(one) for one in wanted], rows


def test_the_last_levels_of_a_tree_spare_rounds() -> None:
    plans = {p: ends.plan(protocol=p, network="wan") for p in ("yao-three-halves", *RING)}
    mixed = plans.pop("mixed")
    assert 1.4 * mixed.estimate_s["wan"] < min(plan.estimate_s["wan"] for plan in plans.values())
    assert mixed.rounds < 0.7 * plans["gmw"].rounds


@sl.program
def blocks(
    key: sl.Private[sl.u8, "keeper", 16], text: sl.Private[sl.u8, "client", "n <= 100_000", 16]
) -> sl.Revealed[sl.u8, "client"]:
    return sl.aes128(key, text)


def test_blocks_of_aes_on_shares_take_products_with_common_operands() -> None:
    key, text = np.arange(16, dtype=np.uint8), np.arange(48, dtype=np.uint8).reshape(3, 16)
    for protocol, network in (("gmw", "lan"), ("gmw", "wan"), ("mixed", "wan")):
        found = blocks.simulate(key=key, text=text, protocol=protocol, network=network)
        assert np.array_equal(found.value, encrypt(key, text))
    for network, kilobytes in (("lan", 21.5), ("wan", 3.1)):
        plan = blocks.plan(protocol="gmw", network=network)
        assert sum(plan.payload_bytes.values()) < 1e8 * kilobytes
    # Few blocks take few levels.
    assert blocks.plan(protocol="gmw", rows=1).rounds < 40


def test_a_key_in_common_is_expanded_once() -> None:
    few, many = (blocks.plan(protocol="gmw", rows=rows).ands for rows in (5_000, 10_000))
    # 40 S-boxes for the key, and 160 for each block.
    assert many - few == 5_000 * 160 * 53
    assert 2 * few - many == 40 * 53


def table() -> Any:
    """Cells of a table beside one another, from constants and the cells before."""

    @sl.program
    def cells(
        x: sl.Private[sl.u8, "alice", 40], y: sl.Private[sl.u8, "bob", 40]
    ) -> sl.Revealed[sl.u8, "alice"]:
        last = x != y
        for _ in range(20):
            last = sl.concatenate([sl.stack([sl.boolean(False)]), last[:-1] & last[1:]])
        return sl.sum(last, dtype=sl.u8)

    return cells


def test_constants_among_values_move_no_value_to_another_sharing() -> None:
    plans = [table().plan(protocol=protocol) for protocol in ("yao", "mixed")]
    assert plans[1].estimate_s["lan"] <= 1.01 * plans[0].estimate_s["lan"]
    assert plans[1].rounds <= plans[0].rounds + 2
