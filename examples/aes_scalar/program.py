"""AES-128 as scalar code: one byte, one table lookup at a time, as one would write it by hand.

One machine has the text, another the key, and a third receives the ciphertext: Figure 7 of
Launchbury, Diatchki, DuBuisson and Adams-Moran, "Efficient lookup-table protocol in secure
multiparty computation" (ICFP 2012). Nothing below says what can run side by side; that the sixteen
lookups of a round do not depend on each other is for planning to find. Sections are those of
FIPS 197.
"""

import sealane as sl

BYTES = [f"b{index}" for index in range(16)]
ROUNDS = 10


def times(a: int, b: int) -> int:
    """The product of two public numbers in GF(2^8) (section 4.2)."""
    product = 0
    while b:
        product ^= a * (b & 1)
        a = (a << 1) ^ (0x11B if a & 0x80 else 0)
        b >>= 1
    return product


def substitute(byte: int) -> int:
    """An entry of the S-box (section 5.1.1): the inverse, then an affine map."""
    inverse, power = 1, byte
    for _ in range(7):  # x^2 x^4 ... x^128 is x^254: the inverse of x, and 0 for 0
        power = times(power, power)
        inverse = times(inverse, power)
    turned = [inverse << turn | inverse >> (8 - turn) for turn in range(5)]
    return (turned[0] ^ turned[1] ^ turned[2] ^ turned[3] ^ turned[4] ^ 0x63) & 0xFF


SBOX = [substitute(byte) for byte in range(256)]


@sl.program
def encrypt(
    key: sl.Private[sl.u8, "key", BYTES],
    blocks: sl.Private[sl.u8, "text", "blocks <= 100_000", BYTES],
) -> sl.Revealed[sl.u8, "receiver"]:
    """AES-128 of each block, in ECB mode: a building block, not a way to encrypt messages."""
    keys = round_keys(list(key))
    ciphertext: sl.u8 = sl.map(lambda block: encrypt_block(keys, list(block)), blocks)
    return ciphertext


def encrypt_block(keys: list[list[sl.u8]], block: list[sl.u8]) -> sl.u8:
    """Section 5.1. Byte r + 4c of a state is row r, column c."""
    state = add(block, keys[0])
    for number in range(1, ROUNDS + 1):
        state = [sl.lookup(SBOX, byte) for byte in state]
        state = [state[(place + 4 * (place % 4)) % 16] for place in range(16)]  # shift rows
        if number < ROUNDS:
            state = joined([mix(state[first : first + 4]) for first in range(0, 16, 4)])
        state = add(state, keys[number])
    return sl.stack(state)


def round_keys(key: list[sl.u8]) -> list[list[sl.u8]]:
    """Section 5.2. The key's owner knows all that is looked up here, and does it alone."""
    words = [key[first : first + 4] for first in range(0, 16, 4)]
    constant = 1
    for index in range(4, 4 * (ROUNDS + 1)):
        word = words[-1]
        if index % 4 == 0:
            word = [sl.lookup(SBOX, byte) for byte in word[1:] + word[:1]]
            word[0] = word[0] ^ constant
            constant = times(constant, 2)
        words.append(add(words[-4], word))
    return [joined(words[first : first + 4]) for first in range(0, len(words), 4)]


def joined(columns: list[list[sl.u8]]) -> list[sl.u8]:
    """Four columns of four bytes, one after the other."""
    return [byte for column in columns for byte in column]


def add(a: list[sl.u8], b: list[sl.u8]) -> list[sl.u8]:
    """Sums in GF(2^8)."""
    return [x ^ y for x, y in zip(a, b, strict=True)]


def mix(column: list[sl.u8]) -> list[sl.u8]:
    """Section 5.1.3: 2a + 3b + c + d is a + (a + b + c + d) + 2(a + b)."""
    whole = column[0] ^ column[1] ^ column[2] ^ column[3]
    pairs = zip(column, column[1:] + column[:1], strict=True)
    return [byte ^ whole ^ double(byte ^ below) for byte, below in pairs]


def double(byte: sl.u8) -> sl.u8:
    """Twice a byte in GF(2^8): shifted, and reduced where a bit went over the top."""
    over = byte >> 7
    shifted = (byte & 0x7F) << 1
    return shifted ^ over * 0x1B
