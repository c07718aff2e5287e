"""Functions of fixed point at all numbers of all types of up to 12 bits, against mpmath.

    python tools/fixed_points.py
    python tools/fixed_points.py --seed 4711 asin tan

For each function and type: all numbers of the type, those of the domain, some range, and the single
number at each end of the domain; a seed decides on that range and on the types of results. A result
is right if it is off by less than a unit in its last place, from the exact value or from the end of
the type at which it stops. Programs may be refused for ranges; anything else that is raised fails.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import sealane as sl
from sealane import _core

NAMES = [name for name in _core.functions_of_fixed() if name != "pow"]
# Bits before and behind the point of results; others have the type of the operand.
RESULTS = [(16, 16), (24, 40), (2, 62), (2, 20), (20, 4), (9, 1), (12, 0), (3, 2), (1, 6)]
# Powers of it are beyond every type.
HUGE = 100


class Kind(NamedTuple):
    """A type of fixed point."""

    signed: bool
    integer: int
    fraction: int

    def ends(self) -> tuple[int, int]:
        """The least and the largest stored number."""
        bits = self.integer + self.fraction
        return (-(1 << bits - 1), (1 << bits - 1) - 1) if self.signed else (0, (1 << bits) - 1)

    def type(self) -> Any:
        """The element type."""
        return (sl.fixed if self.signed else sl.ufixed)(self.integer, self.fraction)


class Case(NamedTuple):
    """A function of all stored numbers from one to another."""

    name: str
    kind: Kind
    low: int
    high: int
    result: Kind
    saturate: bool


def domain(name: str, kind: Kind) -> tuple[int, int]:
    """The least and the largest stored number of a type at which a function has a value."""
    one, (first, last) = 1 << kind.fraction, kind.ends()
    if halves := {"tan": 3, "asin": 2, "acos": 2}.get(name, 0):
        return max(first, -(halves * one // 2)), min(last, halves * one // 2)
    above = dict.fromkeys(("log", "log2", "log10", "rsqrt"), 1)
    return max(first, {"sqrt": 0, "log1p": 1 - one, **above}.get(name, first)), last


def cases(name: str, bits: int, coins: random.Random) -> Iterator[Case]:
    """The ranges of all types of so many bits, with types of results."""
    for fraction in range(bits + 1):
        for kind in (Kind(True, bits - fraction, fraction), Kind(False, bits - fraction, fraction)):
            least, most = domain(name, kind)
            low, high = sorted(coins.randint(*kind.ends()) for _ in range(2))
            ranges = [(least, most), (least, most), kind.ends(), (low, high)]
            for at, (low, high) in enumerate([*ranges, (least, least), (most, most)]):
                result = coins.choice([kind, *(Kind(True, *bits) for bits in RESULTS)])
                result = result._replace(signed=coins.random() < 0.7)
                if low <= high and max(low, least) <= min(high, most):
                    yield Case(name, kind, low, high, result, at > 0)


def worst(case: Case, exact: Callable[[str, Fraction], Any]) -> float | None:
    """The worst error of a case in units in the last place; none if it is refused."""
    result, stored = case.result.type(), range(case.low, case.high + 1)
    unit, place = (Fraction(1, 1 << kind.fraction) for kind in (case.kind, case.result))

    def f(x: Any) -> Any:
        return getattr(sl.math, case.name)(x, dtype=result, saturate=case.saturate)

    ends = sl.between(case.low * unit, case.high * unit)
    f.__annotations__ = {
        "x": sl.Private[case.kind.type(), "alice", len(stored), ends],
        "return": sl.Revealed[result, "bob"],
    }
    try:
        program = sl.program(f)
        program.check()
    except sl.ProgramError as error:
        if error.code != "range-overflow":
            raise
        return None
    numbers = program.simulate([float(x * unit) for x in stored], clear=True).value.tolist()
    least, most = domain(case.name, case.kind)
    lowest, highest = (end * place for end in case.result.ends())
    off = Fraction(0)
    for x, found in zip(stored, numbers, strict=True):
        inside = min(max(x, least), most) * unit
        if case.name in ("exp", "exp2", "expm1", "sinh", "cosh"):
            inside = min(max(inside, Fraction(-HUGE)), Fraction(HUGE))
        value = min(max(Fraction(exact(case.name, inside)), lowest), highest)
        off = max(off, abs(Fraction(found) - value))
    return float(off / place)


@cache
def by_mpmath(name: str, x: Fraction) -> Fraction:
    """A value with 100 bits behind the point."""
    import mpmath as mp

    mp.mp.prec = 300
    others: dict[str, Callable[[Any], Any]] = {
        "exp2": lambda x: mp.mpf(2) ** x,
        "log2": lambda x: mp.log(x) / mp.log(2),
        "rsqrt": lambda x: 1 / mp.sqrt(x),
        "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
        "sigmoid": lambda x: 1 / (1 + mp.exp(-x)),
    }
    value = others.get(name) or getattr(mp, name)
    return Fraction(int(mp.ldexp(value(mp.mpf(x.numerator) / x.denominator), 100)), 1 << 100)


def main() -> None:
    """Runs all cases of the named functions, or of all."""
    parser = argparse.ArgumentParser(description="functions of fixed point, against mpmath")
    parser.add_argument("--seed", default="1")
    parser.add_argument("names", nargs="*", default=NAMES)
    options = parser.parse_args()
    failed = 0
    for name in options.names:
        coins, seen = random.Random(f"{options.seed} {name}"), Counter[str]()
        for case in (case for bits in range(1, 13) for case in cases(name, bits, coins)):
            try:
                off = worst(case, by_mpmath)
                found = "refused" if off is None else "right" if off < 1 else f"off by {off}"
            except Exception as error:
                found = f"{type(error).__name__}: {error}"
            seen[found if found in ("refused", "right") else "wrong"] += 1
            if found not in ("refused", "right"):
                print(f"{case}: {found}")
        failed += seen["wrong"]
        print(f"{name}: {dict(seen)}", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
