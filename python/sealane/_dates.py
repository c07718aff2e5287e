"""Parts of dates, as formulas on days that work for every day of the years 1 to 9999.

Days are counted since 1970-01-01. Years begin on the first of March here, so that a leap day is the
last of its year, and every month begins after a fixed number of days. The divisions are by
constants. The approach is that of Neri and Schneider, "Euclidean affine functions and their
application to calendar algorithms" (2022), with divisions in place of their multiplications, which
cost more where words are not of a fixed width.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sealane._methods import later
from sealane._types import u8, u16, u32

if TYPE_CHECKING:
    from sealane._value import Value

FIRST_DAY, LAST_DAY = -719_162, 2_932_896
"""0001-01-01 and 9999-12-31."""
DAY_S = 86_400

_SINCE_MARCH = 719_468
"""Days from 0000-03-01 to 1970-01-01."""
_CENTURIES = 146_097
"""Days of four centuries."""
_YEARS = 1_461
"""Days of four years with a leap day."""
_MONTHS = [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 1, 2]


class Parts(NamedTuple):
    """Parts of dates, each of the shape of the days."""

    year: Any
    month: Any
    day: Any


def parts(days: Value) -> Parts:
    """The year, the month (1 to 12) and the day of the month (1 to 31)."""
    quarters = (days + _SINCE_MARCH).astype(u32) * 4 + 3
    century = (quarters // _CENTURIES).astype(u8)
    of_century = (quarters % _CENTURIES) | 3
    year = (of_century // _YEARS).astype(u8)
    of_year = (of_century % _YEARS >> 2).astype(u16)
    # Months from March on are 153 days for every five.
    of_months = of_year * 5 + 2
    month = (of_months // 153).astype(u8)
    day = ((of_months % 153) // 5).astype(u8) + 1
    # January and February belong to the year that ends.
    ended = month >= 10
    full = century.astype(u16) * 100 + year
    return Parts(full + ended, later("_functions").lookup(_MONTHS, month), day)


def weekday(days: Value) -> Any:
    """The day of the week: 0 is Monday and 6 Sunday, as `datetime.date.weekday` counts."""
    # A multiple of 7 days lies before the first day, so that no number is negative.
    before = 7 * (-FIRST_DAY // 7 + 1)
    return ((days + (before + 3)).astype(u32) % 7).astype(u8)
