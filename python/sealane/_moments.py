"""Dates and timestamps."""

# The native graph alone knows the type of a result; the annotations state what it will be.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import datetime
import reprlib
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sealane import _dates
from sealane._elements import element_type
from sealane._kinds import Kind, Ordered, no_constant
from sealane._refusal import refuse_operand
from sealane._types import u8
from sealane._value import Value

if TYPE_CHECKING:
    from sealane._declarations import Between


class Moment(Ordered):
    """Days or seconds: base of `date` and `timestamp`."""

    __slots__ = ()
    _gap: ClassVar[str]

    def __new__(cls, number: Value) -> Any:
        """Takes integers of a program for days or seconds since 1970-01-01."""
        if not isinstance(number, Value):
            raise refuse_operand(
                f"`{cls!r}` is made of a value of the program, not of {reprlib.repr(number)}",
                hint="constants are `datetime.date` and `datetime.datetime` of Python",
            )
        return cls._of(number)

    def __add__(self, other: Any) -> Any:
        return self._of(self._value + self._span(other))

    def __radd__(self, other: Any) -> Any:
        return self + other

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, Kind) or self._instant(other) is not None:
            return self._wide() - self._meant(other)
        return self._of(self._value - self._span(other))

    def __rsub__(self, other: Any) -> Any:
        return self._meant(other) - self._wide()

    def astype(self, dtype: Any) -> Any:
        """The days or seconds in a type of numbers.

        Raises `ProgramError` where a number might not fit the type.
        """
        return self._value.astype(dtype)

    def min(self, axis: int | None = None) -> Any:
        """The earliest along an axis, which is removed, or of all."""
        return self._of(self._value.min(axis))

    def max(self, axis: int | None = None) -> Any:
        """The latest along an axis, which is removed, or of all."""
        return self._of(self._value.max(axis))

    def _wide(self) -> Any:
        """The elements in a type that holds their differences."""
        return self._value.astype(element_type(self._gap))

    def _span(self, other: Any) -> Any:
        """A number of days or seconds."""
        if isinstance(other, datetime.timedelta):
            seconds = other / datetime.timedelta(seconds=1)
            unit = _dates.DAY_S if isinstance(self, date) else 1
            if seconds % unit == 0:
                return int(seconds) // unit
        elif isinstance(other, Value | int | np.integer | np.ndarray):
            return other
        raise no_constant(self, other, "add whole days to a date, and seconds to a timestamp")

    def _constant(self, item: Any) -> Any:
        found = self._instant(item)
        if found is None:
            example = "datetime.date(2020, 2, 29)"
            raise no_constant(self, item, f"compare with another column, or with `{example}`")
        return found

    @classmethod
    def _ends_of(cls, declared: Between) -> tuple[int, int] | None:
        low, high = cls._instant(declared.low), cls._instant(declared.high)
        return None if low is None or high is None else (low, high)

    @classmethod
    def _instant(cls, item: Any) -> int | None:
        """The days or seconds of a constant; `None` if it is no date or time."""
        raise NotImplementedError


def _seconds(item: Any) -> int | None:
    """The seconds since 1970-01-01 of a whole second in UTC; `None` for anything else."""
    if isinstance(item, np.datetime64) and not np.isnat(item):
        whole = item.astype("datetime64[s]")
        return int(whole.astype(np.int64)) if whole == item else None
    if isinstance(item, datetime.datetime):
        if item.microsecond or (item.tzinfo is not None and item.utcoffset()):
            return None
        item = item.replace(tzinfo=None)
        return round((item - datetime.datetime(1970, 1, 1)) / datetime.timedelta(seconds=1))
    if isinstance(item, datetime.date):
        return (item.toordinal() - _EPOCH) * _dates.DAY_S
    return None


_EPOCH = datetime.date(1970, 1, 1).toordinal()


class date(Moment):
    """Days of the Gregorian calendar, years 1 to 9999. Underneath they are days since 1970-01-01.

    `d.year`, `d.month`, `d.day` and `d.weekday` are numbers, `d - e` is a number of days, and
    `d + 30` a date. Dates compare with each other, with `datetime.date` and with NumPy's. `d.days`
    is the number underneath, and `sl.date(days)` makes a date of one. `sl.between` takes dates.

    A table holds dates as such, or as text of ISO 8601; a time of day is refused unless it is
    midnight. Results are `datetime64[D]`.

    Raises `ProgramError` for a constant that is no date, and for a result that might lie beyond
    the years 1 to 9999.

    >>> import datetime
    >>> import sealane as sl
    >>> @sl.program
    ... def late(
    ...     due: sl.Private[sl.date, "shop", "bills <= 9"], grace: sl.Private[sl.u8, "bank"]
    ... ) -> tuple[sl.Revealed[sl.boolean, "bank"], sl.Revealed[sl.u16, "bank"]]:
    ...     return due + grace < datetime.date(2024, 3, 1), due.year
    >>> late(["2024-02-20", "2024-02-29"], 5)
    Results(result_0=array([ True, False]), result_1=array([2024, 2024], dtype=uint16))
    >>> @sl.program
    ... def parts(
    ...     d: sl.Private[sl.date, "shop"], more: sl.Private[sl.u8, "bank"]
    ... ) -> sl.Revealed[sl.i23, "bank"]:
    ...     return sl.stack([d.month, d.day, d.weekday, d.days + more])
    >>> parts("2024-02-29", 0)
    array([    2,    29,     3, 19782], dtype=int32)
    """

    __slots__ = ()
    _word, _element, _gap = "date", "i23", "i23"
    _below, _example = "x.days", "datetime.date(1970, 1, 1)"
    _ends = (_dates.FIRST_DAY, _dates.LAST_DAY)

    @property
    def days(self) -> Any:
        """Days since 1970-01-01."""
        return self._value

    @property
    def year(self) -> Any:
        """The year, 1 to 9999."""
        return _dates.parts(self._value).year

    @property
    def month(self) -> Any:
        """The month, 1 to 12."""
        return _dates.parts(self._value).month

    @property
    def day(self) -> Any:
        """The day of the month, 1 to 31."""
        return _dates.parts(self._value).day

    @property
    def weekday(self) -> Any:
        """The day of the week, 0 for Monday to 6 for Sunday."""
        return _dates.weekday(self._value)

    @classmethod
    def _instant(cls, item: Any) -> int | None:
        seconds = _seconds(item)
        return (
            seconds // _dates.DAY_S if seconds is not None and seconds % _dates.DAY_S == 0 else None
        )


class timestamp(Moment):
    """Seconds of UTC without leap seconds, years 1 to 9999. Underneath they are seconds since
    1970-01-01 00:00:00.

    `t.date` is the day, `t.hour`, `t.minute` and `t.second` are numbers, `t - u` is a number of
    seconds, and `t + 60` a timestamp. `t.seconds` is the number underneath, and
    `sl.timestamp(seconds)` makes a timestamp of one.

    A table holds timestamps of any unit without a time zone or in UTC, or text of ISO 8601; a
    fraction of a second is refused. Results are `datetime64[s]`.

    Raises `ProgramError` as `sl.date` does.

    >>> import sealane as sl
    >>> @sl.program
    ... def waited(
    ...     came: sl.Private[sl.timestamp, "clinic", "visits <= 9"],
    ...     left: sl.Private[sl.timestamp, "lab", "visits"],
    ... ) -> sl.Revealed[sl.i64, "lab"]:
    ...     return sl.maximum(left - came, 0).max()
    >>> waited(["2024-03-01T23:59:50"], ["2024-03-02 00:00:20Z"])
    np.int64(30)
    >>> @sl.program
    ... def parts(
    ...     t: sl.Private[sl.timestamp, "lab"], more: sl.Private[sl.u8, "bank"]
    ... ) -> tuple[sl.Revealed[sl.i39, "bank"], sl.Revealed[sl.date, "bank"]]:
    ...     return sl.stack([t.hour, t.minute, t.second, t.seconds + more]), t.date
    >>> parts("1970-01-02T03:04:05", 0)[0]
    array([    3,     4,     5, 97445])
    """

    __slots__ = ()
    _word, _element, _gap = "timestamp", "i39", "i40"
    _below, _example = "x.seconds", "datetime.datetime(1970, 1, 1)"
    _ends = (_dates.FIRST_DAY * _dates.DAY_S, _dates.LAST_DAY * _dates.DAY_S + _dates.DAY_S - 1)

    @property
    def seconds(self) -> Any:
        """Seconds since 1970-01-01 00:00:00."""
        return self._value

    @property
    def date(self) -> Any:
        """The day."""
        return date._of((self._value // _dates.DAY_S).astype(element_type("i23")))

    @property
    def hour(self) -> Any:
        """The hour, 0 to 23."""
        return (self._of_day() // 3600).astype(u8)

    @property
    def minute(self) -> Any:
        """The minute, 0 to 59."""
        return (self._of_day() // 60 % 60).astype(u8)

    @property
    def second(self) -> Any:
        """The second, 0 to 59."""
        return (self._of_day() % 60).astype(u8)

    def _of_day(self) -> Any:
        return (self._value % _dates.DAY_S).astype(element_type("u17"))

    @classmethod
    def _instant(cls, item: Any) -> int | None:
        return _seconds(item)


def age_in_years(birth: date | datetime.date, on: date | datetime.date) -> Any:
    """The age on a day: the number of birthdays since the day of birth, which is negative before
    it. Who was born on 29 February has a birthday on 1 March where the year has no such day. Both
    broadcast, and at least one is a date of the program; the other may be a `datetime.date`.

    Raises `ProgramError` for anything else.

    >>> import datetime
    >>> import sealane as sl
    >>> @sl.program
    ... def adults(
    ...     born: sl.Private[sl.date, "school", "people <= 9"], least: sl.Private[sl.u8, "office"]
    ... ) -> sl.Revealed[sl.boolean, "office"]:
    ...     return sl.age_in_years(born, datetime.date(2024, 2, 28)) >= least
    >>> adults(["2006-02-28", "2006-03-01"], 18)
    array([ True, False])
    """
    places = [_place(birth), _place(on)]
    if not any(isinstance(item, date) for item in (birth, on)):
        raise refuse_operand(
            "`sl.age_in_years` takes at least one date of the program",
            hint="compute an age that everybody knows with `datetime`",
        )
    (birth_year, birth_day), (year, day) = places
    had = day >= birth_day
    # One year less where this year's birthday is yet to come.
    sixteen = element_type("i16")
    return _signed(year, sixteen) - _signed(birth_year, sixteen) - (~had).astype(sixteen)


def _signed(year: Any, to: Any) -> Any:
    return year.astype(to) if isinstance(year, Value) else year


def _place(item: Any) -> tuple[Any, Any]:
    """The year of a day, and a number by which days of one year are in order."""
    if isinstance(item, date):
        found = _dates.parts(item._value)
        return found.year, (found.month.astype(element_type("u9")) << 5) | found.day
    if isinstance(item, datetime.date) and date._instant(item) is not None:
        return item.year, item.month << 5 | item.day
    raise refuse_operand(
        f"{reprlib.repr(item)} is no date",
        hint="give a value of kind `sl.date`, of a timestamp its `.date`, or a `datetime.date`",
    )
