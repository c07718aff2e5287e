"""For how many days in a row did a patient miss a dose?

A clinic knows what it prescribed for each day, and a dispenser at home knows what was taken. The
clinic learns two numbers, and not on which days or which doses. Rows belong together by their
order, so both also learn whether the days are the same in every row.
"""

from typing import NamedTuple

import sealane as sl

DAYS = 366
DOSES = ["morning", "noon", "evening"]


class Missed(NamedTuple):
    """What is revealed, and to whom."""

    same_days: sl.Revealed[sl.boolean, "clinic", "dispenser"]
    days: sl.Revealed[sl.u16, "clinic"]
    longest: sl.Revealed[sl.u16, "clinic"]


@sl.program
def missed_days(
    day: sl.Private[sl.u16, "clinic", f"days <= {DAYS}"],
    prescribed: sl.Private[sl.u8, "clinic", "days", DOSES],
    dispensed: sl.Private[sl.u16, "dispenser", "days", sl.column("day")],
    taken: sl.Private[sl.u8, "dispenser", "days", DOSES],
) -> Missed:
    """The number of days on which a dose was missed, and the longest run of them."""
    missed = sl.map(lambda wanted, given: sl.any(given < wanted), prescribed, taken)
    _, longest = sl.scan(longer, (0, 0), missed, dtype=sl.u16)
    same_days = sl.all(day == dispensed)
    return Missed(same_days, days=missed.sum(dtype=sl.u16), longest=longest)


def longer(state: tuple[sl.u16, sl.u16], missed: sl.boolean) -> tuple[sl.u16, sl.u16]:
    """One day more: the run that ends on it, and the longest run so far."""
    run, longest = state
    # The bound tells the check that the run cannot outgrow its type.
    run = sl.where(missed, sl.minimum(run, DAYS - 1) + 1, 0)
    return run, sl.maximum(longest, run)
