"""Blocks encrypted under a key that the owner of the blocks never sees.

The client learns the ciphertexts; the keeper of the key learns how many blocks there were.
"""

import sealane as sl

BYTES = [f"b{index}" for index in range(16)]


@sl.program
def encrypt(
    key: sl.Private[sl.u8, "keeper", BYTES],
    blocks: sl.Private[sl.u8, "client", "blocks <= 100_000", BYTES],
) -> sl.Revealed[sl.u8, "client"]:
    """AES-128 of each block, in ECB mode: a building block, not a way to encrypt messages."""
    return sl.aes128(key, blocks)
