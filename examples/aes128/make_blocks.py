"""Writes blocks for the client: the four of NIST's answers first, then as many as are asked for.

    python make_blocks.py blocks.npy 10_000

The four, and the key in keeper.csv, are those of NIST SP 800-38A, F.1.1; client.csv holds them
alone. The others count upwards, since AES makes no difference between blocks.
"""

import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt

NIST = Path(__file__).parent / "client.csv"


def blocks(count: int) -> npt.NDArray[np.uint8]:
    """The first `count` blocks, one a row."""
    counters = np.arange(count, dtype=">u8").view(np.uint8).reshape(count, 8)
    rows = np.concatenate([np.zeros_like(counters), counters], axis=1)
    nist = np.loadtxt(NIST, dtype=np.uint8, delimiter=",", skiprows=1)
    rows[: len(nist)] = nist[:count]
    return rows


if __name__ == "__main__":
    np.save(sys.argv[1], blocks(int(sys.argv[2])))
