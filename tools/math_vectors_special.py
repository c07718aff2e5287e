"""Writes known answers of further functions, from mpmath, to testdata/math.

`special.csv` has the error functions and gamma: arguments are numbers of binary32, of every few
exponents, near the places where these functions change their form or leave the range, and between.
The other files have functions of f64 in the form of `math_vectors.py`: arguments of every few
exponents, and for circular functions the one that is nearest to a multiple of pi/2 and others near
such multiples. Values have 40 digits.

    pip install mpmath
    python tools/math_vectors_special.py
"""

import math
import random
import struct
from collections.abc import Callable, Iterator

import mpmath as mp

from math_vectors import FOLDER, digits, stepped, write

# The significand, of 53 bits, and the exponent of the number of f64 that is nearest to a multiple
# of pi/2; found by continued fractions.
NEAREST = (0x16AC5B262CA1FF, 797)


def main() -> None:
    """Writes all tables."""
    mp.mp.dps = 400
    FOLDER.mkdir(parents=True, exist_ok=True)
    rows = ["function,argument,value"]
    for name, (function, low, high, ends) in SPECIAL.items():
        for word in single_arguments(low, high, ends):
            x = single(word)
            near = name != "tgamma" or abs(x) < 1e5
            if math.isfinite(x) and not is_pole(name, x) and near:
                rows.append(f"{name},{word:08x},{digits(function(mp.mpf(x)))}")
    (FOLDER / "special.csv").write_text("\n".join(rows) + "\n")
    for name, (function, first, last, signs) in DOUBLE.items():
        numbers = double_arguments(random.Random(name), name, first, last, signs)
        write(name, function, ((x,) for x in numbers if not is_pole(name, x)))


def is_pole(name: str, x: float) -> bool:
    """Returns whether a function has no value at a number because of a pole there."""
    return name in ("tgamma", "lgamma") and x <= 0 and x == math.floor(x)


def single_bits(x: float) -> int:
    """The interchange form of a number of binary32."""
    return int(struct.unpack("<I", struct.pack("<f", x))[0])


def single(word: int) -> float:
    """The number of binary32 with these bits."""
    return float(struct.unpack("<f", struct.pack("<I", word))[0])


def single_arguments(low: int, high: int, ends: list[float]) -> list[int]:
    """The arguments of a function whose interesting ones lie between two numbers."""
    words = {1, 2, 0x400000, 0x7FFFFF, 0x800000}
    for exponent in range(1, 255, 11):
        words.update(exponent << 23 | fraction for fraction in (0, 0x2A0000, 0x7FFFFF))
    words.update([word | 1 << 31 for word in words])
    for i in range(150):
        words.add(single_bits(low + (high - low) * (i + (i * 0.6180339887) % 1) / 150))
    for end in [i / 2 for i in range(2 * low, 2 * high + 1)] + ends:
        word = single_bits(end)
        words.update((word, max(word, 1) - 1, word + 1))
    return sorted(words)


def double_arguments(
    coins: random.Random, name: str, first: int, last: int, signs: str
) -> Iterator[float]:
    """Numbers of some exponents, and of f64 those that are hard to reduce."""
    step = max(1, (last - first) // 100)
    for exponent in range(first, last + 1, step):
        sign = -1 if coins.choice(signs) == "-" else 1
        yield sign * math.ldexp(1 + coins.random(), exponent)
        yield sign * math.ldexp(1, exponent)
    ends = [*ENDS.get(name, []), *(zeros() if name == "lgamma" else [])]
    for end in ends:
        for step in range(-3, 4):
            yield stepped(end, step)
    if name in ("erfc", "tgamma", "lgamma"):
        low, high = {"erfc": (-6, 27.2), "tgamma": (-184, 171.6), "lgamma": (-60, 60)}[name]
        for _ in range(400):
            yield coins.uniform(low, high)
    if name in ("tgamma", "lgamma"):
        for _ in range(200):
            # Near poles and zeros.
            pole, distance = coins.randrange(-180, 3), 2.0 ** -coins.randrange(3, 50)
            yield pole + coins.choice([1, -1]) * distance * (1 + coins.random())
    if name in ("sin", "cos", "tan"):
        yield math.ldexp(*NEAREST)
        for k in range(1, 60):
            yield float(mp.pi / 2 * k)
        for exponent in range(-20, 10):
            yield math.ldexp(1 + coins.random(), exponent)


def lgamma(x: mp.mpf) -> mp.mpf:
    """The logarithm of the magnitude of the gamma function."""
    if x > 0:
        return mp.loggamma(x)
    # The sine of large numbers needs all digits of their fraction, which these have.
    distance = x - mp.nint(x)
    return mp.log(mp.pi / abs(x * mp.sin(mp.pi * distance))) - mp.loggamma(-x)


def zeros() -> Iterator[float]:
    """The numbers next to zeros of `lgamma` between the poles from -2 to -19, on both sides."""
    for pole in range(2, 20):
        for side in (1, -1):
            if (pole, side) == (2, 1):
                continue
            # Between these distances the logarithm falls from above 0 to below it.
            low, high = mp.mpf(2) ** -80, mp.mpf(1) / 2
            for _ in range(200):
                middle = (low + high) / 2
                above = lgamma(-pole + side * middle) > 0
                low, high = (middle, high) if above else (low, middle)
            yield float(-pole + side * low)


ZEROS = [-2.4570247, -2.7476826, -3.1435809, -3.9552943, -4.0393614, -4.9915445, -5.0082182]
ZEROS += [-5.9985807, -6.0013852, -6.9998016, -7.0001983, -7.9999752, -8.0000248, -8.9999972]

SPECIAL = {
    "erf": (mp.erf, -5, 5, [3.8325, 3.9192]),
    "erfc": (mp.erfc, -5, 11, [10.05, 10.054, 9.19, 9.2]),
    "tgamma": (mp.gamma, -44, 36, [35.04, 35.05, 34.99, 0.25, -0.25, 1.4616]),
    "lgamma": (lgamma, -44, 36, [0.25, -0.25, 1.4616, 4.08e36, *ZEROS]),
}

DOUBLE: dict[str, tuple[Callable[[mp.mpf], mp.mpf], int, int, str]] = {
    "sin": (mp.sin, -1022, 1023, "+-"),
    "cos": (mp.cos, -30, 1023, "+-"),
    "tan": (mp.tan, -1022, 1023, "+-"),
    "atan": (mp.atan, -60, 60, "+-"),
    "asin": (mp.asin, -60, -1, "+-"),
    "acos": (mp.acos, -60, -1, "+-"),
    "cbrt": (lambda x: mp.sign(x) * mp.cbrt(abs(x)), -1022, 1023, "+-"),
    "rsqrt": (lambda x: 1 / mp.sqrt(x), -1022, 1023, "+"),
    "erf": (mp.erf, -60, 3, "+-"),
    "erfc": (mp.erfc, -60, 2, "+-"),
    "tgamma": (mp.gamma, -1022, 6, "+-"),
    "lgamma": (lgamma, -1022, 1014, "+-"),
}

# Places where a function changes its form, or its results their kind.
ENDS = {
    "erfc": [0.5, -0.5, 1.0, -1.0, 2.0, 4.0, 8.0, 16.0, -5.8, 26.5432, 27.2262, 27.23],
    "lgamma": [0.5, 1.0, 1.5, 2.0, 2.5, 8.0, 16.0, -0.5, -31.5, -32.5, 2.55e305],
    "tgamma": [0.5, 1.0, 2.0, 171.62, 170.6, -0.25, -170.57, -177.78, -182.4, -183.7],
}

if __name__ == "__main__":
    main()
