"""Queries 1 and 6 of the benchmark TPC-H on line items that two warehouses keep, each its own rows.

Both learn the answers for all rows, and nothing of a row of the other. Prices are whole cents, and
discounts and taxes whole percent, so every sum is exact: that of charges is in units of 0.000001.
"""

import datetime
from typing import Annotated, Any, NamedTuple

import sealane as sl

FLAGS, STATES = ["A", "N", "R"], ["F", "O"]
Flag = Annotated[sl.Category, sl.category(FLAGS)]
State = Annotated[sl.Category, sl.category(STATES)]
GROUPS = range(len(FLAGS) * len(STATES))
"""Pairs of a flag and a state, in the order of query 1."""
LAST = datetime.date(1998, 12, 1) - datetime.timedelta(days=90)
YEAR = datetime.date(1994, 1, 1), datetime.date(1995, 1, 1)
PRICE = sl.between(0, 12_000_000)


class Answers(NamedTuple):
    """Query 1, an element for each of `GROUPS`, and query 6. A mean is 0 where there is no row."""

    sum_qty: sl.Revealed[sl.u64, "east", "west"]
    sum_base_price: sl.Revealed[sl.u64, "east", "west"]
    sum_disc_price: sl.Revealed[sl.u64, "east", "west"]
    sum_charge: sl.Revealed[sl.u64, "east", "west"]
    avg_qty: sl.Revealed[sl.f64, "east", "west"]
    avg_price: sl.Revealed[sl.f64, "east", "west"]
    avg_disc: sl.Revealed[sl.f64, "east", "west"]
    count_order: sl.Revealed[sl.u64, "east", "west"]
    revenue: sl.Revealed[sl.u64, "east", "west"]


@sl.program
def tpch(
    shipped_e: sl.Private[sl.date, "east", "east_rows <= 1_000_000", sl.column("shipdate")],
    flag_e: sl.Private[Flag, "east", "east_rows", sl.column("returnflag")],
    state_e: sl.Private[State, "east", "east_rows", sl.column("linestatus")],
    quantity_e: sl.Private[sl.u8, "east", "east_rows", sl.column("quantity"), sl.between(1, 50)],
    price_e: sl.Private[sl.u32, "east", "east_rows", sl.column("price_cents"), PRICE],
    discount_e: sl.Private[
        sl.u8, "east", "east_rows", sl.column("discount_percent"), sl.between(0, 10)
    ],
    tax_e: sl.Private[sl.u8, "east", "east_rows", sl.column("tax_percent"), sl.between(0, 8)],
    shipped_w: sl.Private[sl.date, "west", "west_rows <= 1_000_000", sl.column("shipdate")],
    flag_w: sl.Private[Flag, "west", "west_rows", sl.column("returnflag")],
    state_w: sl.Private[State, "west", "west_rows", sl.column("linestatus")],
    quantity_w: sl.Private[sl.u8, "west", "west_rows", sl.column("quantity"), sl.between(1, 50)],
    price_w: sl.Private[sl.u32, "west", "west_rows", sl.column("price_cents"), PRICE],
    discount_w: sl.Private[
        sl.u8, "west", "west_rows", sl.column("discount_percent"), sl.between(0, 10)
    ],
    tax_w: sl.Private[sl.u8, "west", "west_rows", sl.column("tax_percent"), sl.between(0, 8)],
) -> Answers:
    """Sums over the rows of each warehouse, which it computes alone, added up together."""
    east = sums(shipped_e, flag_e, state_e, quantity_e, price_e, discount_e, tax_e)
    west = sums(shipped_w, flag_w, state_w, quantity_w, price_w, discount_w, tax_w)
    quantity, base, cut, charge, discount, rows, revenue = map(sum_of, east, west)
    # Sums and counts are below 2^53, so each mean is an exact quotient that is rounded once.
    number = sl.maximum(rows, 1).astype(sl.f64)
    return Answers(
        quantity,
        base,
        cut,
        charge,
        quantity.astype(sl.f64) / number,
        base.astype(sl.f64) / (number * 100),
        discount.astype(sl.f64) / (number * 100),
        rows,
        revenue,
    )


def sums(
    shipped: Any, flag: Any, state: Any, quantity: Any, price: Any, discount: Any, tax: Any
) -> list[Any]:
    """The sums of both queries over the rows of one warehouse."""
    cut = price * (100 - discount).astype(sl.u64)
    charge = cut * (100 + tax).astype(sl.u64)
    pair = flag.codes.astype(sl.u8) * len(STATES) + state.codes
    # Rows that query 1 leaves out belong to no group.
    pair = sl.where(shipped <= LAST, pair, len(GROUPS))
    groups = sl.group_by(pair, categories=GROUPS).agg(
        quantity=sl.sum(quantity, dtype=sl.u64),
        base=sl.sum(price, dtype=sl.u64),
        cut=sl.sum(cut),
        charge=sl.sum(charge),
        discount=sl.sum(discount, dtype=sl.u64),
        rows=sl.count(quantity),
    )
    wanted = (shipped >= YEAR[0]) & (shipped < YEAR[1]) & (discount >= 5) & (discount <= 7)
    earned = sl.where(wanted & (quantity < 24), price.astype(sl.u64) * discount, 0)
    of_groups = [groups.quantity, groups.base, groups.cut, groups.charge, groups.discount]
    return [*of_groups, groups.rows, earned.sum()]


def sum_of(east: Any, west: Any) -> Any:
    """The sum of both warehouses."""
    return east.astype(sl.u64) + west.astype(sl.u64)
