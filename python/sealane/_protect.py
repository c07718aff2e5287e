"""Options of a revealed result that protect single people: noise, and a minimum group size.

The function returns a value; what is revealed is that value with noise, or without the elements
that are about too few. An option becomes operations of the graph and a note in its text, which
`check` shows and all parties approve.
"""

# The native graph alone knows the type of a result; the annotations state what it will be.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import math
import re
import reprlib
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from sealane import _functions, _noise
from sealane._elements import type_name
from sealane._kinds import Kind, is_kind
from sealane._nullable import Nullable, nullable
from sealane._operands import Traced
from sealane._refusal import refuse_operand, refuse_result, refuse_shape, refuse_signature
from sealane._types import FixedPoint, FloatingPoint, fixed, i64
from sealane._value import Value

if TYPE_CHECKING:
    from sealane._operands import Number
    from sealane._signature import Result

T = TypeVar("T")

_LARGEST_EPSILON = 20
_LARGEST_DELTA = Fraction(1, 100)
_MOST_OF_THE_SAMPLER = Fraction(1, 2**20)
"""Largest delta that the sampler of a result may add."""


class Noise(NamedTuple):
    """Marker of noise: see `noise`."""

    epsilon: Fraction
    sensitivity: Fraction | None
    clip: tuple[Number, Number] | None
    delta: Fraction | None
    step: Fraction | None


class MinGroup(NamedTuple):
    """Marker of a minimum group size: see `min_group`."""

    least: int


def noise(
    *,
    epsilon: Number,
    sensitivity: Number | None = None,
    clip: tuple[Number, Number] | None = None,
    delta: Number | None = None,
    step: Number | None = None,
) -> Noise:
    """Marker in `Revealed[...]`: the result is revealed with noise, drawn in the run so that no
    party knows it, for differential privacy with `epsilon`.

    `sensitivity` is by how much one person's data can change the result in its own type, after all
    rounding, over all of its elements: the sum of the changes for Laplace noise, their Euclidean
    length for Gauss noise. You declare it. With `clip=(low, high)` a result that is `sl.sum(x)` of
    rows is the sum of `sl.clip(x, low, high)`. If each row of `x` is made of the same row of
    inputs, the sensitivity of one row follows; else declare it as well.

    The noise is discrete Laplace of scale `sensitivity / epsilon`. With `delta` it is discrete
    Gauss, of the standard deviation that `check` states. Both are whole numbers, or multiples of
    `step`, a power of two: then the result is rounded to such a multiple first. Fixed point has the
    unit of its last place. A result with noise stops at the ends of its declared type.

    Raises `ProgramError` for parameters that are no positive numbers.

    >>> import sealane as sl
    >>> @sl.program
    ... def smokers(
    ...     smokes: sl.Private[sl.boolean, "clinic", "people <= 1_000"],
    ...     of_age: sl.Private[sl.boolean, "town", "people"],
    ... ) -> sl.Revealed[sl.u16, "town", sl.noise(epsilon=1, sensitivity=1)]:
    ...     return (smokes & of_age).sum()
    >>> abs(int(smokers([True, False, True] * 100, [True] * 300)) - 200) < 60
    True
    """
    made = Noise(
        _positive("epsilon", epsilon),
        None if sensitivity is None else _positive("sensitivity", sensitivity),
        None if clip is None else _ends(clip),
        None if delta is None else _positive("delta", delta),
        None if step is None else _positive("step", step),
    )
    if made.epsilon > _LARGEST_EPSILON:
        raise refuse_signature(
            f"`epsilon={epsilon}` protects nobody",
            reason=f"A person's data may make a result e^{epsilon} times as likely.",
            hint="write `epsilon=1`, for example, or leave the noise out",
        )
    if made.sensitivity is None and clip is None:
        raise refuse_signature(
            "`sl.noise` does not say how much one person can change the result",
            reason="How much noise is needed follows from that.",
            hint="declare it, `sensitivity=1`, or clip what is summed up: `clip=(0, 100)`",
        )
    if made.delta is not None and made.delta > _LARGEST_DELTA:
        raise refuse_signature(
            f"`delta={delta}` protects nobody",
            reason="With such a probability a result may show all about a person.",
            hint="write `delta=1e-6`, for example, or leave it out, for Laplace noise",
        )
    if made.step is not None and not _is_power_of_two(made.step):
        raise refuse_signature(
            f"`step={step}` is no power of two", hint="write `step=8`, for example"
        )
    return made


def min_group(least: int) -> MinGroup:
    """Marker in `Revealed[...]`: elements about fewer than `least` people are missing.

    The result is declared as `sl.nullable(...)`. The sizes are known of the columns that
    `sl.group_by(...).agg(...)` gives, unless missing cells are left out of them; of other values
    `sl.sized(value, sizes)` states them. This is no differential privacy.

    Raises `ProgramError` for anything but a whole number from 2 on.

    >>> import sealane as sl
    >>> @sl.program
    ... def wages(
    ...     ward: sl.Private[sl.u8, "office", "people <= 1_000"],
    ...     wage: sl.Private[sl.u32, "office", "people", sl.between(0, 100_000)],
    ...     least: sl.Private[sl.u32, "union", sl.between(0, 100_000)],
    ... ) -> sl.Revealed[sl.nullable(sl.f64), "union", sl.min_group(3)]:
    ...     groups = sl.group_by(ward, categories=[1, 2])
    ...     return groups.agg(mean=sl.mean(sl.maximum(wage, least))).mean
    >>> print(wages([1, 1, 2, 1], [2000, 2300, 9000, 2600], 0))
    [2300.0 --]
    """
    whole = isinstance(least, int | np.integer) and not isinstance(least, bool)
    if not whole or not 2 <= int(least) < 1 << 32:
        raise refuse_signature(
            f"`sl.min_group({reprlib.repr(least)})` is no size of a group",
            hint="write `sl.min_group(10)`, for example",
        )
    return MinGroup(int(least))


def sized(value: T, size: Value) -> T:
    """The value, with the number of people that each of its elements is about, for
    `sl.min_group`. The sizes are integers, of the shape of the value or of one that broadcasts to
    it. The value that is given stays as it is.

    Raises `ProgramError` if either is no value of the program, for sizes that are no integers or
    may be missing, and for sizes of another shape.

    >>> import sealane as sl
    >>> @sl.program
    ... def share(
    ...     ill: sl.Private[sl.boolean, "clinic", "people <= 1_000"],
    ...     old: sl.Private[sl.boolean, "town", "people"],
    ... ) -> sl.Revealed[sl.nullable(sl.u16), "town", sl.min_group(2)]:
    ...     return sl.sized((ill & old).sum(), old.sum())
    >>> print(share([True, True, False], [True, False, False]))
    None
    """
    for item, known in ((value, Value | Nullable), (size, Value)):
        if not isinstance(item, known):
            if isinstance(item, Nullable):
                raise refuse_operand(
                    "`sl.sized` is given sizes that may be missing",
                    hint="say how many there are then: `sl.sized(value, sizes.fill(0))`",
                )
            raise refuse_operand(
                f"`sl.sized` is given {reprlib.repr(item)}, which is no value of the program",
                hint="write `sl.sized(value, sl.count(x))`, for example",
            )
    if not re.fullmatch(r"[iu]\d+", type_name(type(size))):
        raise refuse_operand(
            f"`sl.sized` is given sizes of `{type(size)!r}`".replace("sealane.", "sl."),
            reason="A number of people is an integer, which does not wrap.",
            hint="count them: `sl.sized(value, sl.count(x))`",
        )
    given: Any = value
    lengths = given.shape[len(given.shape) - len(size.shape) :]
    pairs = zip(size.shape, lengths, strict=False)
    if len(size.shape) > len(given.shape) or any(a not in (1, b) for a, b in pairs):
        raise refuse_shape(
            f"sizes of shape {list(size.shape)} are not those of a value of {list(given.shape)}",
            reason="Each element has one size.",
            hint="give one size for each element, or a single one for all",
        )
    if isinstance(given, Nullable):
        held = _copied(given._value)
        sized: Any = Nullable._joined(type(given), held, given._null)
    else:
        sized = held = _copied(given)
    held._size = size
    return sized


def _copied(value: Value) -> Any:
    """Another value of the same node."""
    made = object.__new__(type(value))
    for name in (*Traced.__slots__, *Value.__slots__):
        if hasattr(value, name):
            setattr(made, name, getattr(value, name))
    return made


def apply(result: Result, value: Any) -> tuple[Any, str]:
    """The value that is revealed in place of another, and a note about it.

    Raises `ProgramError` for a value that an option does not protect.
    """
    match result.options:
        case ():
            return value, ""
        case (Noise() as option,):
            return _noisy(result, option, value)
        case (MinGroup() as option,):
            return _of_enough(result, option, value)
    raise refuse_result(
        f"`{result.name}` has several options",
        reason="Whether an element is missing depends on an exact size, which no noise hides.",
        hint="keep one of them",
        at=result.span,
    )


def _of_enough(result: Result, option: MinGroup, value: Any) -> tuple[Any, str]:
    """The value with elements about too few missing."""
    if not (is_kind(result.element) and result.element._nullable):
        raise refuse_result(
            f"`{result.name}` has a minimum group size, and no cell of it can be missing",
            hint=f"declare `sl.nullable({result.element!r})`".replace("sealane.", "sl."),
            at=result.span,
        )
    held = value._value if isinstance(value, Kind) else value
    size = getattr(held, "_size", None)
    if size is None:
        raise refuse_result(
            f"`{result.name}` does not say how many people it is about",
            reason="Sizes are known of the columns that `sl.group_by` gives, unless missing cells "
            "are left out. A sum of chosen rows is about fewer people than there are rows.",
            hint="state them: `return sl.sized(value, sizes)`",
            at=result.span,
        )
    few = size < option.least
    if isinstance(value, Nullable):
        few = few | value._null
        kind, cells = type(value), value._held()
    else:
        kind, cells = nullable(type(value)), value
    if few.shape != value.shape:
        # Broadcasts to the shape, also to one with rows.
        few = few | ((cells == cells) & False)
    note = f"missing where a group has fewer than {option.least}: no differential privacy"
    return Nullable._joined(kind, cells, few), note


def _noisy(result: Result, option: Noise, value: Any) -> tuple[Any, str]:
    """The value with noise, in its declared type."""
    if isinstance(value, Kind) or is_kind(result.element):
        raise _no_number(result, "its cells are no plain numbers", "return `x.fill(0)`")
    if isinstance(value, FloatingPoint):
        raise _no_number(
            result, "it is floating point", "convert it: `sl.saturate(x, sl.fixed(32, 16))`"
        )
    name = type_name(type(value))
    if name == "bool":
        raise _no_number(result, "it is a truth value", "reveal a count: `x.sum()`")
    if name.endswith(".wrapping"):
        raise _no_number(result, "its type wraps", "convert it: `x.astype(sl.i64)`")
    if any(isinstance(length, str) for length in value.shape):
        raise _no_number(result, "it has rows", "reveal sums or counts of the rows")
    exact, sensitivity, proof = _bounded(result, option, value)
    fraction = _fraction(value)
    step = option.step or Fraction(1, 1 << fraction)
    if step * (1 << fraction) < 1:
        raise refuse_signature(
            f"the step of the noise of `{result.name}` is finer than its type",
            hint=f"write `step={Fraction(1, 1 << fraction)}` or more, or leave it out",
            at=result.span,
        )
    shift = (step * (1 << fraction)).numerator.bit_length() - 1
    count = math.prod(value.shape)
    sampler, said = _sampler(result, option, sensitivity, step, count, shift > 0)
    steps = (
        sampler.noise(*sampler.draws(count)).reshape(*value.shape)
        if value.shape
        else (sampler.noise(*sampler.draws(count))[0])
    )
    wide: Any = fixed(64 - fraction, fraction) if fraction else i64
    exact = exact.astype(wide)
    if shift:
        exact = ((exact + step / 2 if fraction else exact + int(step) // 2) >> shift) * (1 << shift)
    if fraction and shift < fraction:
        added = steps.astype(wide) >> (fraction - shift)
    else:
        added = (steps.astype(wide) if fraction else steps) * int(step)
    note = f"{said}; sensitivity {_shown(sensitivity, up=False)} {proof}"
    return _functions.saturate(exact + added, result.element), note


def _sampler(
    result: Result, option: Noise, sensitivity: Fraction, step: Fraction, count: int, rounded: bool
) -> tuple[_noise.Laplace | _noise.Gauss, str]:
    """The sampler of the noise of a result, in steps, and what it is for people."""
    added = _noise.doubled(option.epsilon) * count
    # Each element is rounded to a step, and so can change by almost a step more.
    more = 1 - Fraction(1, 2**64) if rounded else Fraction(0)
    steps = sensitivity / step
    made: _noise.Laplace | _noise.Gauss | None
    if option.delta is None:
        steps = Fraction(math.floor(steps + count * more)) if rounded else steps
        steps = max(steps, Fraction(1)) if rounded else steps
        made = _noise.laplace(option.epsilon / steps)
        if made is None:
            raise _too_wide(result, "Laplace")
        said = f"discrete Laplace noise of scale {_shown(steps / option.epsilon * step, up=False)}"
        power = _noise.exponent(made.distance * added)
        gives = f"delta 2^-{power}, which the sampler adds"
        if made.distance * added > _MOST_OF_THE_SAMPLER:
            raise refuse_signature(
                f"the sampler of the noise of `{result.name}` adds a delta of 2^-{power}",
                reason="That is e^epsilon for each element, by 2^-40; at most 2^-20 is taken.",
                hint="write a smaller epsilon, `epsilon=1`, or reveal fewer elements",
                at=result.span,
            )
    else:
        spent = added * _noise.FARTHEST
        if option.delta <= 2 * spent:
            raise refuse_signature(
                f"the noise of `{result.name}` has too small a `delta`",
                reason="The sampler alone may be off by 2^-40 for each element.",
                hint="write `delta=1e-9`, for example, or leave it out, for Laplace noise",
                at=result.span,
            )
        root = Fraction(math.isqrt(count << 40) + 1, 1 << 20)
        steps = steps + root * more
        sigma = _noise.deviation(option.epsilon, option.delta - spent, steps)
        made = _noise.gauss(sigma**2)
        if made is None:
            raise _too_wide(result, "Gauss")
        said = f"discrete Gauss noise of standard deviation {_shown(sigma * step, up=False)}"
        gives = f"delta {_shown(option.delta, up=True)}, the sampler included"
    said += f", in steps of {step}, that no party knows; each run spends epsilon "
    return made, f"{said}{_shown(option.epsilon, up=True)} and {gives}"


def _bounded(result: Result, option: Noise, value: Any) -> tuple[Any, Fraction, str]:
    """The value of which one person's data are a bounded part, that bound, and why it holds."""
    unit = Fraction(1, 1 << _fraction(value))
    if option.sensitivity is not None and option.sensitivity < unit:
        raise refuse_signature(
            f"`{result.name}` has a sensitivity below the unit of its type, {unit}",
            reason="A result that changes at all changes by a unit, since it is rounded to units.",
            hint=f"declare `sensitivity={float(unit)}` or more, or compute the result in a finer "
            "type, such as `sl.fixed(40, 20)`",
            at=result.span,
        )
    if option.clip is None:
        assert option.sensitivity is not None, "`noise` refuses to have neither"
        return value, option.sensitivity, "as the author declares"
    reduced = getattr(value, "_reduced", None)
    if reduced is None or reduced[0] != "sum":
        raise refuse_result(
            f"`{result.name}` is clipped, and it is no sum of rows",
            reason="`clip` bounds what each row adds to a sum.",
            hint="return `sl.sum(x)` itself, or declare `sensitivity` without `clip`",
            at=result.span,
        )
    (low, high), (_, x, dtype) = option.clip, reduced
    clipped = _functions.clip(x, low, high)
    missing = getattr(value, "_missing", None)
    if missing is not None:
        # Zeros in place of missing cells are no rows, and stay zeros.
        clipped = _functions.where(missing, 0, clipped)
    total = _functions.sum(clipped, dtype=dtype)
    # In fixed point an end is the nearest number of the type of the rows, which may be beyond the
    # one written, and what a row adds is rounded again to the unit of the sum.
    ends = _exact(low), _exact(high)
    for each in (Fraction(1, 1 << _fraction(x)), unit):
        ends = math.floor(ends[0] / each) * each, math.ceil(ends[1] / each) * each
    most = max(abs(ends[0]), abs(ends[1]), ends[1] - ends[0])
    if option.sensitivity is not None:
        if option.sensitivity < most:
            raise refuse_signature(
                f"`{result.name}` has a sensitivity below what one row can change",
                reason=f"A row that is clipped to {low}..{high} changes the sum by up to {most}.",
                hint=f"declare `sensitivity={float(most)}` or more, or clip to closer ends",
                at=result.span,
            )
        return total, option.sensitivity, f"as the author declares, rows clipped to {low}..{high}"
    inexact = isinstance(x, FloatingPoint) or type_name(type(x)).endswith(".wrapping")
    beside = clipped._trace.by_row(clipped._node)
    if inexact or beside is None:
        raise refuse_result(
            f"`{result.name}` does not say how much one person can change it",
            reason="What is summed up is not made of inputs row by row, so one person's data may "
            "be in many rows of it.",
            hint=f"declare it beside `clip`: `sensitivity={float(most)}` if one row changes",
            at=result.span,
        )
    others = ", inputs without rows being about nobody" if beside else ""
    return total, most, f"of one row, each clipped to {low}..{high}{others}"


def _fraction(value: Value) -> int:
    """Bits of an element behind the point."""
    if not isinstance(value, FixedPoint):
        return 0
    return int(type_name(type(value)).partition(".")[2])


def _exact(number: Number) -> Fraction:
    """The exact value; of a float that of the decimal that it prints as."""
    return number if isinstance(number, Fraction) else Fraction(str(number))


def _positive(name: str, number: object) -> Fraction:
    """The exact value of a parameter."""
    good = isinstance(number, int | float | Decimal | Fraction | np.number)
    try:
        exact = _exact(number) if good and not isinstance(number, bool) else Fraction(0)  # type: ignore[arg-type]
    except ValueError:
        exact = Fraction(0)
    if exact <= 0:
        raise refuse_signature(
            f"`{name}={reprlib.repr(number)}` is no positive number",
            hint=f"write `{name}=1`, for example",
        )
    return exact


def _ends(clip: object) -> tuple[Number, Number]:
    """Both ends of a clipping."""
    match clip:
        case (
            int() | float() | Decimal() | Fraction() as low,
            int() | float() | Decimal() | Fraction() as high,
        ) if low < high and all(not isinstance(end, float) or math.isfinite(end) for end in clip):
            return low, high
    raise refuse_signature(
        f"`clip={reprlib.repr(clip)}` names no two ends",
        hint="write `clip=(0, 100)`, the smaller end first",
    )


def _is_power_of_two(step: Fraction) -> bool:
    return all(part & (part - 1) == 0 for part in (step.numerator, step.denominator))


def _no_number(result: Result, why: str, hint: str) -> Exception:
    return refuse_result(
        f"`{result.name}` takes no noise: {why}",
        reason="Noise is added to integers and fixed point, of one number or of fixed axes.",
        hint=hint,
        at=result.span,
    )


def _too_wide(result: Result, name: str) -> Exception:
    return refuse_result(
        f"the noise of `{result.name}` is too wide for {name} noise of its steps",
        reason=f"The widest has a standard deviation of {_noise.WIDEST_GAUSS} steps."
        if name == "Gauss"
        else "The widest has a scale of about 2^33 steps.",
        hint="name a larger step, `step=1024`, a larger `epsilon`, or a smaller `sensitivity`",
        at=result.span,
    )


def _shown(number: Fraction, *, up: bool) -> str:
    """A number for people: itself where it is short, else four digits, or all of a whole one,
    rounded to the side on which it promises less.
    """
    if number >= 1000:
        return f"{math.ceil(number) if up else math.floor(number):,}"
    context = Context(prec=4, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    short = context.divide(Decimal(number.numerator), Decimal(number.denominator))
    return f"{float(short):.4g}"
