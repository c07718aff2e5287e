"""Mean wages with and without a degree, from two registers of the same people.

A tax office knows wages and a university knows who has a degree; the law lets neither show its
register to the other. Both learn the two means, and the university learns the highest wage of its
graduates. Rows belong together by their order, so both also learn whether the numbers of the people
are the same in every row.
"""

from typing import NamedTuple

import sealane as sl


class Wages(NamedTuple):
    """What is revealed, and to whom. A mean is 0 if nobody is in its group. No number means
    anything where `same_people` is false.
    """

    same_people: sl.Revealed[sl.boolean, "office", "university"]
    graduates: sl.Revealed[sl.u32, "office", "university"]
    others: sl.Revealed[sl.u32, "office", "university"]
    highest: sl.Revealed[sl.u32, "university"]


@sl.program
def pay_gap(
    person: sl.Private[sl.u32, "office", "people <= 4_000"],
    wage: sl.Private[sl.u32, "office", "people", sl.between(0, 1_000_000)],
    member: sl.Private[sl.u32, "university", "people", sl.column("person")],
    graduate: sl.Private[sl.boolean, "university", "people"],
) -> Wages:
    """Two means, rounded down, and a maximum, of rows that are joined by their order."""
    earned = sl.where(graduate, wage, 0)
    return Wages(
        same_people=sl.all(person == member),
        graduates=mean(earned, graduate),
        others=mean(sl.where(graduate, 0, wage), ~graduate),
        highest=earned.max(),
    )


def mean(amounts: sl.u32, members: sl.boolean) -> sl.u32:
    """The mean of the amounts of members; those of others are 0."""
    count = members.sum(dtype=sl.u32)
    return amounts.sum() // sl.maximum(count, 1)
