"""Writes known answers of elementary functions in f64, from mpmath, to testdata/math.

A row is the bits of each operand, the bits of the exact value rounded to the nearest number, and
the exact value to 40 digits. Operands cover every size for which the value is finite and not
trivial: powers of two, their neighbours, and numbers between them, near 0, near 1 and near the
ends of the range.

    pip install mpmath
    python tools/math_vectors.py
"""

import random
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import mpmath as mp

FOLDER = Path(__file__).resolve().parent.parent / "testdata" / "math"
LEAST, LARGEST = mp.mpf(2) ** -1074, mp.mpf(2) ** 1024

Sizes = tuple[int, int, str]


def main() -> None:
    """Writes a file for each function."""
    mp.mp.prec = 400
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, (function, operands) in FUNCTIONS.items():
        write(name, function, operands(random.Random(name)))


def write(name: str, function: Callable[..., Any], operands: Iterator[tuple[float, ...]]) -> None:
    """Writes a table of a function, without the operands at which its value is not real."""
    rows = ["operands,rounded,exact"]
    for xs in operands:
        value = function(*map(mp.mpf, xs))
        if isinstance(value, mp.mpf):
            bits = " ".join(f"{number_bits(x):016x}" for x in xs)
            rows.append(f"{bits},{number_bits(rounded(value)):016x},{digits(value)}")
    (FOLDER / f"{name}.csv").write_text("\n".join(rows) + "\n")
    print(name, len(rows) - 1)


def digits(value: mp.mpf) -> str:
    """A value with 40 digits and an exponent."""
    return str(mp.nstr(value, 40, min_fixed=0, max_fixed=0))


def stepped(x: float, by: int) -> float:
    """The number whose interchange form is so many steps from that of another."""
    return float(struct.unpack("<d", struct.pack("<Q", number_bits(x) + by))[0])


def number_bits(x: float) -> int:
    """The interchange form of a number."""
    return int(struct.unpack("<Q", struct.pack("<d", x))[0])


def rounded(value: mp.mpf) -> float:
    """The number nearest to a value, of two the even one."""
    size = abs(value)
    if size == 0:
        return 0.0
    # The unit in the last place, also of subnormal numbers.
    exponent = max(int(mp.floor(mp.log(size, 2))), -1022)
    unit = mp.mpf(2) ** (exponent - 52)
    units = mp.nint(size / unit)
    size = units * unit
    if size >= LARGEST:
        return float("inf") if value > 0 else float("-inf")
    return float(size) if value > 0 else -float(size)


def operands_of(sizes: list[Sizes], ends: list[float]) -> Callable[..., Iterator[tuple[float]]]:
    """Numbers of binary exponents `first` to `last`, with the signs named, around `ends` too."""

    def numbers(coins: random.Random) -> Iterator[tuple[float]]:
        for first, last, signs in sizes:
            for exponent in range(first, last + 1, max(1, (last - first) // 30)):
                power = 2.0**exponent
                for fraction in [0.0, 1 - 2.0**-52, coins.random(), coins.random()]:
                    for sign in signs:
                        yield ((1 if sign == "+" else -1) * power * (1 + fraction),)
        for end in ends:
            for step in range(-3, 4):
                yield (stepped(end, step),)
            for _ in range(10):
                yield (end * (1 + (coins.random() - 0.5) * 2.0 ** -coins.randrange(4, 50)),)

    return numbers


def pairs(coins: random.Random) -> Iterator[tuple[float, float]]:
    """Bases of all sizes and near 1, and exponents with which the power is finite."""
    for i in range(400):
        near = 2.0 ** -coins.randrange(1, 53)
        base = 1 + near * coins.choice([1, -0.5]) * (1 + coins.random())
        if i % 3:
            base = 2.0 ** coins.randrange(-1074, 1023) * (1 + coins.random())
        log = float(mp.log(base, 2)) if base > 0 else 0.0
        if log == 0:
            continue
        exponent = coins.uniform(-1074, 1024) / log
        if abs(exponent) == float("inf"):
            continue
        if i % 5 == 0 and abs(exponent) > 1:
            exponent = float(round(exponent))
        yield (base, exponent)


def logistic(x: mp.mpf) -> mp.mpf:
    """The logistic function."""
    return 1 / (1 + mp.exp(-x))


ABOVE_0 = [(-60, 60, "+"), (-1074, -1060, "+"), (1010, 1023, "+")]
ODD = [(-60, 6, "+-"), (-1030, -1020, "+-")]

FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[[random.Random], Any]]] = {
    "exp": (
        mp.exp,
        operands_of([(-54, 8, "+-")], [709.782712893384, -745.133219101941, -708.396418532264]),
    ),
    "exp2": (
        lambda x: mp.mpf(2) ** x,
        operands_of([(-54, 9, "+-")], [1023.9999999999999, -1074.5, -1022.0, 3.0]),
    ),
    "log": (mp.log, operands_of(ABOVE_0, [1.0, 0.75, 1.5])),
    "log2": (lambda x: mp.log(x) / mp.log(2), operands_of(ABOVE_0, [1.0, 0.75, 1.5])),
    "log10": (mp.log10, operands_of(ABOVE_0, [1.0, 0.75, 1.5, 1000.0])),
    "pow": (mp.power, pairs),
    "expm1": (
        mp.expm1,
        operands_of([*ODD, (7, 8, "+-")], [0.5, -0.5, 0.6931471805599453, 709.782712893384]),
    ),
    "log1p": (
        mp.log1p,
        operands_of([(-60, -2, "+-"), (-1, 60, "+"), (1000, 1023, "+")], [-0.25, 0.5, -0.99999]),
    ),
    "sinh": (
        mp.sinh,
        operands_of([*ODD, (7, 8, "+-")], [0.5, 0.6931471805599453, 710.475860073943]),
    ),
    "cosh": (mp.cosh, operands_of([*ODD, (7, 8, "+-")], [0.6931471805599453, 710.475860073943])),
    "tanh": (mp.tanh, operands_of(ODD, [0.5, 1.0, 19.06])),
    "sigmoid": (
        logistic,
        operands_of([*ODD, (7, 8, "+-")], [0.5, -0.5, 36.7368005696771, -708.396418532264, -745.1]),
    ),
    "asinh": (mp.asinh, operands_of([*ODD, (7, 60, "+-"), (1000, 1023, "+-")], [0.5, 1.0])),
    "acosh": (mp.acosh, operands_of([(0, 60, "+"), (1000, 1023, "+")], [1.1, 1.5, 2.0])),
    "atanh": (mp.atanh, operands_of([(-60, -2, "+-"), (-1030, -1020, "+-")], [0.5, 0.75])),
}

if __name__ == "__main__":
    main()
