"""AES of all key sizes, from the parts of the scalar example, against FIPS 197."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sealane as sl
from conftest import load

EXAMPLE = Path(__file__).parents[2] / "examples" / "aes_scalar" / "program.py"
HELPERS = ["ada", "bob", "cyd"]


def round_keys(aes: Any, key: list[Any], rounds: int) -> list[list[Any]]:
    """Section 5.2, for keys of any number of words."""
    count = len(key) // 4
    words = [key[4 * index : 4 * index + 4] for index in range(count)]
    constant = 1
    for index in range(count, 4 * (rounds + 1)):
        word = words[-1]
        if index % count == 0:
            word = [sl.lookup(aes.SBOX, byte) for byte in word[1:] + word[:1]]
            word[0] = word[0] ^ constant
            constant = aes.times(constant, 2)
        elif count > 6 and index % count == 4:
            word = [sl.lookup(aes.SBOX, byte) for byte in word]
        words.append(aes.add(words[-count], word))
    return [aes.joined(words[first : first + 4]) for first in range(0, len(words), 4)]


# Appendices C.1, C.2 and C.3: the key is 00 01 02 ..., the block 00 11 22 ....
ANSWERS = [
    (16, 10, "69c4e0d86a7b0430d8cdb78070b4c55a"),
    (24, 12, "dda97ca4864cdfe06eaf70a0ec0d7191"),
    (32, 14, "8ea2b7ca516745bfeafc49904b496089"),
]


@pytest.mark.parametrize(("size", "rounds", "answer"), ANSWERS)
def test_all_key_sizes_give_the_answers_of_fips_197(size: int, rounds: int, answer: str) -> None:
    aes = load(EXAMPLE)
    aes.ROUNDS = rounds

    @sl.program
    def encrypt(
        key: sl.Private[sl.u8, "key", size],
        blocks: sl.Private[sl.u8, "text", "blocks <= 100_000", 16],
    ) -> sl.Revealed[sl.u8, "receiver"]:
        keys = round_keys(aes, list(key), rounds)
        ciphertext: sl.u8 = sl.map(lambda block: aes.encrypt_block(keys, list(block)), blocks)
        return ciphertext

    block = [0x11 * index for index in range(16)]
    given = {"key": list(range(size)), "blocks": [block, block]}
    assert bytes(encrypt.simulate(**given, clear=True).value[0]).hex() == answer
    # One level for each round where there are few blocks, three where there are many.
    for rows, levels in ((2, 1), (10_000, 3)):
        plan = encrypt.plan(rows=rows, protocol="trio", helpers=HELPERS)
        assert plan.rounds <= 1 + rounds * levels + 1 + 2
    report = encrypt.simulate(**given, protocol="trio", helpers=HELPERS)
    assert [bytes(row).hex() for row in report.value] == [answer] * 2
