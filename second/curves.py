"""Curve 25519 in its forms: X25519 (RFC 7748), Ed25519 (RFC 8032) and ristretto255 (RFC 9496).

Like `primitives.py`, it does not run in constant time.
"""

import hashlib
from functools import lru_cache
from itertools import accumulate

# -------------------------------------------------------------------------- the field 2^255 - 19

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
SQRT_M1 = pow(2, (P - 1) // 4, P)
Point = tuple[int, int, int, int]               # X, Y, Z, T with x = X/Z, y = Y/Z, T = XY/Z


def add(p: Point, q: Point) -> Point:
    """Sum of two points of edwards25519 (RFC 8032, section 5.1.4)."""
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


IDENTITY: Point = (0, 1, 1, 0)


def double(p: Point) -> Point:
    """Sum of a point and itself (in the same place)."""
    x, y, z, _ = p
    a, b = x * x % P, y * y % P
    g, h, e = a - b, a + b, -2 * x * y % P
    f = (2 * z * z + g) % P
    return e * f % P, g * h % P, f * g % P, e * h % P


@lru_cache(8)
def _tables(p: Point) -> list[list[Point]]:
    """The multiples by 0 to 15 of 16^i times a point, for i up to 63."""
    powers = [p]
    while len(powers) < 64:
        powers.append(double(double(double(double(powers[-1])))))
    return [[*accumulate([power] * 15, add, initial=IDENTITY)] for power in powers]


@lru_cache
def _digits(scalar: int) -> list[int]:
    """A scalar in binary digits, the highest one first: odd ones of -15 to 15, or zeros."""
    digits = []
    while scalar:
        digits.append((scalar & 31) - (scalar & 16) * 2 if scalar & 1 else 0)
        scalar = scalar - digits[-1] >> 1
    return digits[::-1]


def multiply(scalar: int, p: Point, often: bool = False) -> Point:
    """Scalar below 2^256 times point; tables are kept for one that many scalars multiply."""
    result = IDENTITY
    if often:
        for row in _tables(p):
            result, scalar = add(result, row[scalar & 15]) if scalar & 15 else result, scalar >> 4
        return result
    odd = [*accumulate([double(p)] * 7, add, initial=p)]
    for digit in _digits(scalar):
        result = double(result)
        if digit:
            x, y, z, t = odd[abs(digit) // 2]
            result = add(result, (x, y, z, t) if digit > 0 else (-x, y, z, -t))
    return result


def sqrt_ratio(u: int, v: int) -> tuple[bool, int]:
    """SQRT_RATIO_M1 (RFC 9496, section 4.2)."""
    r = u * v**3 * pow(u * v**7, (P - 5) // 8, P) % P
    check = v * r * r % P
    if check in (-u % P, -u * SQRT_M1 % P):
        r = r * SQRT_M1 % P
    return check in (u % P, -u % P), absolute(r)


def absolute(a: int) -> int:
    """CT_ABS: the one of a and -a that is even."""
    a %= P
    return P - a if a & 1 else a


# ----------------------------------------------------------------------- Ed25519 and X25519


def _decompress(data: bytes) -> Point | None:
    """A point from its 32 bytes (RFC 8032, section 5.1.3)."""
    number = int.from_bytes(data, "little")
    sign, y = number >> 255, number & (1 << 255) - 1
    square, x = sqrt_ratio(y * y - 1, D * y * y + 1)
    if y >= P or not square or (x == 0 and sign):
        return None
    x = -x % P if x & 1 != sign else x
    return x, y, 1, x * y % P


def _compress(p: Point) -> bytes:
    inverse = pow(p[2], -1, P)
    x, y = p[0] * inverse % P, p[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


BASE = _decompress((4 * pow(5, -1, P) % P).to_bytes(32, "little")) or IDENTITY


def _clamp(data: bytes) -> int:
    """The scalar of 32 bytes (RFC 8032, section 5.1.5; RFC 7748, section 5)."""
    return int.from_bytes(data, "little") & ~7 & (1 << 254) - 1 | 1 << 254


def _sha512(*parts: bytes) -> int:
    return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little")


def ed25519_public(seed: bytes) -> bytes:
    """The public key of a seed (RFC 8032, section 5.1.5)."""
    return _compress(multiply(_clamp(hashlib.sha512(seed).digest()[:32]), BASE, True))


def ed25519_sign(seed: bytes, message: bytes) -> bytes:
    """A signature of 64 bytes (section 5.1.6)."""
    digest, public = hashlib.sha512(seed).digest(), ed25519_public(seed)
    r = _sha512(digest[32:], message) % L
    point = _compress(multiply(r, BASE, True))
    s = (r + _sha512(point, public, message) * _clamp(digest[:32])) % L
    return point + s.to_bytes(32, "little")


def ed25519_verify(public: bytes, message: bytes, signature: bytes) -> bool:
    """Whether a signature is right (section 5.1.7)."""
    a, r, s = _decompress(public), signature[:32], int.from_bytes(signature[32:], "little")
    if len(signature) != 64 or a is None or s >= L:
        return False
    k = _sha512(r, public, message) % L
    minus_a = -a[0], a[1], a[2], -a[3]
    return _compress(add(multiply(s, BASE, True), multiply(k, minus_a))) == r


def x25519(scalar: bytes, u: bytes) -> bytes:
    """X25519 (RFC 7748, section 5) by way of edwards25519; zeros where u is not on the curve."""
    number = int.from_bytes(u, "little") & (1 << 255) - 1
    y = (number - 1) * pow(number + 1, P - 2, P) % P            # section 4.1
    point = _decompress(y.to_bytes(32, "little")) or IDENTITY
    _, y, z, _ = multiply(_clamp(scalar), point)
    return ((z + y) * pow(z - y, P - 2, P) % P).to_bytes(32, "little")


# ----------------------------------------------------------------------------- ristretto255

ONE_MINUS_D_SQ = (1 - D * D) % P
D_MINUS_ONE_SQ = (D - 1) ** 2 % P
SQRT_AD_MINUS_ONE = -sqrt_ratio(-D - 1, 1)[1] % P       # the odd root (RFC 9496, section 4.1)
INVSQRT_A_MINUS_D = sqrt_ratio(1, -1 - D)[1]


def ristretto_decode(data: bytes) -> Point | None:
    """An element from its 32 bytes, or None (RFC 9496, section 4.3.1)."""
    s = int.from_bytes(data, "little")
    if len(data) != 32 or s >= P or s & 1:
        return None
    u1, u2 = (1 - s * s) % P, (1 + s * s) % P
    v = (-D * u1 * u1 - u2 * u2) % P
    square, inverse = sqrt_ratio(1, v * u2 * u2 % P)
    den_x = inverse * u2 % P
    x, y = absolute(2 * s * den_x), u1 * inverse * den_x * v % P
    t = x * y % P
    return None if not square or t & 1 or y == 0 else (x, y, 1, t)


def ristretto_encode(p: Point) -> bytes:
    """The 32 bytes of an element (section 4.3.2)."""
    x, y, z, t = p
    u1, u2 = (z + y) * (z - y) % P, x * y % P
    inverse = sqrt_ratio(1, u1 * u2 * u2 % P)[1]
    den1, den2 = inverse * u1 % P, inverse * u2 % P
    z_inverse, denominator = den1 * den2 * t % P, den2
    if t * z_inverse % P & 1:
        x, y, denominator = y * SQRT_M1, x * SQRT_M1, den1 * INVSQRT_A_MINUS_D
    if x * z_inverse % P & 1:
        y = -y
    return absolute(denominator * (z - y)).to_bytes(32, "little")


def _elligator(data: bytes) -> Point:
    """MAP of 32 bytes (section 4.3.4)."""
    t = int.from_bytes(data, "little") & (1 << 255) - 1
    r = SQRT_M1 * t * t % P
    u, v = (r + 1) * ONE_MINUS_D_SQ % P, (-1 - r * D) * (r + D) % P
    square, s = sqrt_ratio(u, v)
    c = -1
    if not square:
        s, c = -absolute(s * t), r
    n = c * (r - 1) * D_MINUS_ONE_SQ - v
    w0, w1, w2, w3 = 2 * s * v % P, n * SQRT_AD_MINUS_ONE % P, 1 - s * s, 1 + s * s
    return w0 * w3 % P, w2 * w1 % P, w1 * w3 % P, w0 * w2 % P


def ristretto_map(data: bytes) -> Point:
    """An element from 64 uniform bytes (section 4.3.4)."""
    return add(_elligator(data[:32]), _elligator(data[32:]))


