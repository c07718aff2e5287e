"""Mean wages with and without a degree, from two registers of the same people.

A tax office knows wages and a university knows who has a degree; the law lets neither show its
register to the other. Row for row, the two tables are about the same people. Both learn the two
means and the university learns the highest wage of its graduates.
"""

from typing import NamedTuple

import sealane as sl


class Wages(NamedTuple):
    """What is revealed, and to whom. A mean is 0 if nobody is in its group."""

    graduates: sl.Revealed[sl.u32, "office", "university"]
    others: sl.Revealed[sl.u32, "office", "university"]
    highest: sl.Revealed[sl.u32, "university"]


@sl.program
def pay_gap(
    wage: sl.Private[sl.u32, "office", "people <= 4_000", sl.between(0, 1_000_000)],
    graduate: sl.Private[sl.boolean, "university", "people"],
) -> Wages:
    """Two means, rounded down, and a maximum."""
    earned = sl.where(graduate, wage, 0)
    return Wages(
        graduates=mean(earned, graduate),
        others=mean(sl.where(graduate, 0, wage), ~graduate),
        highest=earned.max(),
    )


def mean(amounts: sl.u32, members: sl.boolean) -> sl.u32:
    """The mean of the amounts of members; those of others are 0."""
    count = members.sum(dtype=sl.u32)
    return amounts.sum() // sl.maximum(count, 1)
