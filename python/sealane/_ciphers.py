"""Functions of cryptography on values: products of finite fields, AES-128 and SHA-256."""

# The native graph alone knows the type of a result; the annotations state what it will be.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sealane._operands import need_numbers, need_whole, whole_number
from sealane._operations import operate

if TYPE_CHECKING:
    from sealane._types import u8
    from sealane._value import Operand


def gf_mul(a: Operand, b: Operand, polynomial: int) -> Any:
    """Product of each two elements of the finite field GF(2^k), for a `k` from 1 to 8.

    `polynomial` is the irreducible polynomial of the field, of degree `k`. Bit `i` of this public
    number is the coefficient of `x^i`: 0x11b is `x^8 + x^4 + x^3 + x + 1`, the polynomial of AES.
    An element of the field is an integer of `k` bits, in the same way. Sums and differences of
    elements are `a ^ b`.

    The operands broadcast. The type of the result is the unsigned one of `k` bits, such as `u8`.
    Products by constants and squares, `sl.gf_mul(a, a, polynomial)`, take no AND gate.

    Raises `ProgramError` for a polynomial that is not irreducible or has another degree, for
    operands that are no integers or could have more than `k` bits, for shapes that do not
    broadcast, and if neither operand is a value of the program.

    >>> import sealane as sl
    >>> @sl.program
    ... def tag(
    ...     key: sl.Private[sl.u8, "alice", 2], message: sl.Private[sl.u8, "bob"]
    ... ) -> sl.Revealed[sl.u8, "bob"]:
    ...     return sl.gf_mul(key[0], message, 0x11B) ^ key[1]
    >>> tag([0x57, 0], 0x83) == 0xC1
    np.True_
    """
    need_numbers("gf_mul", a, b)
    public = "The field is a part of the program."
    modulus = need_whole("polynomial", polynomial, "sl.gf_mul(a, b, 0x11b)", public)
    return operate("field_product", a, b, number=whole_number(modulus))


def aes128(key: Operand, block: Operand) -> u8:
    """AES-128 (FIPS 197) of blocks of 16 bytes under a key of 16 bytes, along the last axis.
    Operands are integers in 0 to 255 of shape `(..., 16)`, whose other axes broadcast; the
    result is `u8` of the shape to which they broadcast. It is the bare block cipher: a mode is the
    program's own.

    Raises `ProgramError` for another length or range, and if neither operand is a value of the
    program.

    The example of FIPS 197, appendix C.1:

    >>> import sealane as sl
    >>> @sl.program
    ... def cipher(
    ...     key: sl.Private[sl.u8, "bank", 16], block: sl.Private[sl.u8, "shop", 16]
    ... ) -> sl.Revealed[sl.u8, "shop"]:
    ...     return sl.aes128(key, block)
    >>> block = [17 * number for number in range(16)]
    >>> bytes(cipher(list(range(16)), block)).hex()
    '69c4e0d86a7b0430d8cdb78070b4c55a'
    """
    need_numbers("aes128", key, block)
    return operate("call", key, block, word="aes128")


def sha256(message: Operand) -> u8:
    """SHA-256 (FIPS 180-4) of messages of bytes, along the last axis: integers in 0 to 255 of shape
    `(..., n)` with `n` from 1 to 65,536; the result is `u8` of shape `(..., 32)`.

    Raises `ProgramError` for another length or range, and if `message` is no value of the program.

    >>> import sealane as sl
    >>> @sl.program
    ... def committed(
    ...     message: sl.Private[sl.u8, "alice", 3], known: sl.Private[sl.u8, "bob", 32]
    ... ) -> sl.Revealed[sl.boolean, "bob"]:
    ...     return sl.all(sl.sha256(message) == known)
    >>> import hashlib
    >>> committed(list(b"abc"), list(hashlib.sha256(b"abc").digest()))
    np.True_
    """
    need_numbers("sha256", message)
    return operate("call", message, word="sha256")
