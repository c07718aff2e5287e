"""AES-128 in the plain terms of FIPS 197, on arrays of blocks: slow, obvious, independent."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]


def encrypt(key: Bytes, blocks: Bytes) -> Bytes:
    """AES-128 of each row of `blocks` (section 5.1); byte r + 4c of a row is row r, column c."""
    state = blocks.reshape(-1, 4, 4).transpose(0, 2, 1)
    keys = round_keys(key)
    state = state ^ keys[0]
    for number in range(1, 11):
        state = SBOX[state]
        state = np.stack([np.roll(state[:, row], -row, axis=1) for row in range(4)], axis=1)
        if number < 10:
            state = mix_columns(state)
        state = state ^ keys[number]
    return np.ascontiguousarray(state.transpose(0, 2, 1)).reshape(-1, 16)


def round_keys(key: Bytes) -> list[Bytes]:
    """Section 5.2: eleven matrices of the shape of a state."""
    words = [key[4 * index : 4 * index + 4] for index in range(4)]
    constant = 1
    for index in range(4, 44):
        word = words[-1]
        if index % 4 == 0:
            word = SBOX[np.roll(word, -1)] ^ np.array([constant, 0, 0, 0], dtype=np.uint8)
            constant = times(constant, 2)
        words.append(words[-4] ^ word)
    return [np.stack(words[4 * number : 4 * number + 4], axis=1) for number in range(11)]


def mix_columns(state: Bytes) -> Bytes:
    """Section 5.1.3."""
    rows = []
    for row in range(4):
        a, b, c, d = (state[:, (row + step) % 4] for step in range(4))
        rows.append(TIMES_2[a] ^ TIMES_2[b] ^ b ^ c ^ d)
    return np.stack(rows, axis=1)


def times(a: int, b: int) -> int:
    """The product in GF(2^8) (section 4.2)."""
    product = 0
    while b:
        product ^= a * (b & 1)
        a = (a << 1) ^ (0x11B if a & 0x80 else 0)
        b >>= 1
    return product


def _sbox(value: int) -> int:
    """Section 5.1.1: the inverse, then an affine map."""
    inverse = next((x for x in range(256) if times(value, x) == 1), 0)
    turned = [inverse << shift | inverse >> (8 - shift) for shift in range(5)]
    return (turned[0] ^ turned[1] ^ turned[2] ^ turned[3] ^ turned[4] ^ 0x63) & 0xFF


SBOX = np.array([_sbox(value) for value in range(256)], dtype=np.uint8)
TIMES_2 = np.array([times(value, 2) for value in range(256)], dtype=np.uint8)
