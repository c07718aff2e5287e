"""Makes the known answers of the error functions and gamma, testdata/math/special.csv.

    pip install mpmath
    python3 tools/math_vectors_special.py

Arguments are numbers of binary32: of every exponent, with edges, near the places where these
functions change their form or leave the range, and mixed ones. A value has 40 digits, computed with
200.
"""

import math
import pathlib
import struct

import mpmath

mpmath.mp.dps = 200


def bits(value):
    """The bits of a number of binary32."""
    return struct.unpack("<I", struct.pack("<f", value))[0]


def number(word):
    """The number of these bits."""
    return struct.unpack("<f", struct.pack("<I", word))[0]


def lgamma(x):
    """The logarithm of the magnitude of gamma."""
    return mpmath.log(abs(mpmath.gamma(x))) if abs(x) < 100 else mpmath.re(mpmath.loggamma(x))


FUNCTIONS = {
    "erf": (mpmath.erf, -5, 5, []),
    "erfc": (mpmath.erfc, -5, 11, [10.05, 10.054, 9.19, 9.2]),
    "tgamma": (mpmath.gamma, -44, 36, [35.04, 35.05, 34.99, -38.5, -39.5, -41.5, -42.5]),
    "lgamma": (lgamma, -20, 60, [1.0, 2.0, -2.457, -2.7476, -3.1436, -3.9552, -4.0394, 1e10, 1e30]),
}


def is_pole(name, x):
    """Where gamma has no value."""
    return name in ("tgamma", "lgamma") and x <= 0 and x == math.floor(x)


def arguments(low, high, special):
    """The arguments of a function whose interesting ones lie between two numbers."""
    words = set()
    for exponent in range(1, 255, 3):
        words.update(exponent << 23 | fraction for fraction in (0, 0x2AAAAA, 0x7FFFFF))
    words.update((1, 2, 3, 0x400000, 0x7FFFFF, 0x800000))
    words.update([word | 1 << 31 for word in words])
    for i in range(400):
        word = bits(low + (high - low) * (i + 0.5 + (i * 0.6180339887) % 0.5) / 400)
        words.add(word)
    quarters = [i / 4 for i in range(4 * low, 4 * high + 1)]
    for value in quarters + special:
        word = bits(value)
        words.update((word, max(word, 1) - 1, word + 1))
    return sorted(words)


def main():
    """Writes the table."""
    path = pathlib.Path(__file__).parent.parent / "testdata" / "math" / "special.csv"
    path.parent.mkdir(exist_ok=True)
    with path.open("w") as out:
        out.write("function,argument,value\n")
        for name, (function, low, high, special) in FUNCTIONS.items():
            for word in arguments(low, high, special):
                x = number(word)
                if math.isfinite(x) and not is_pole(name, x):
                    value = function(mpmath.mpf(x)) if abs(x) < 1e5 or name != "tgamma" else None
                    if value is None:
                        continue
                    out.write(f"{name},{word:08x},{mpmath.nstr(value, 40)}\n")


if __name__ == "__main__":
    main()
