"""Which donors do a shelter and a kitchen have in common? Bin by bin.

Hash functions name three bins for each item. The shelter has laid each of its items into one of
them, the kitchen into all three, so that an item that both have meets itself in a bin. One item of
the shelter may have found no bin; it is compared with all that the kitchen has. After Pinkas,
Schneider, Segev and Zohner, USENIX Security 2015.
"""

from typing import NamedTuple

import sealane as sl

# What `sealane psi prepare` prints for sets of at most 256 items.
SIZE = 256
WIDTH = 56
STORED = 50
BINS = 308
LOAD = 23

CANDIDATES = [f"candidate_{place}" for place in range(LOAD)]
ITEMS = [f"item_{place}" for place in range(SIZE)]


class Found(NamedTuple):
    """What the shelter learns: which of its items the kitchen has, and whether both have prepared
    alike."""

    in_table: sl.Revealed[sl.boolean, "shelter"]
    in_stash: sl.Revealed[sl.boolean, "shelter"]
    agreed: sl.Revealed[sl.boolean, "shelter"]


@sl.program
def common_donors(
    held: sl.Private[sl.u64, "shelter", f"bins <= {BINS}", sl.between(0, 2**STORED - 1)],
    stash: sl.Private[sl.u64, "shelter", sl.column("stash_0"), sl.between(0, 2**WIDTH - 1)],
    our_tag: sl.Private[sl.u64, "shelter", sl.column("tag"), sl.between(0, 2**40 - 1)],
    candidates: sl.Private[sl.u64, "kitchen", "bins", CANDIDATES, sl.between(0, 2**STORED - 1)],
    items: sl.Private[sl.u64, "kitchen", ITEMS, sl.between(0, 2**WIDTH - 1)],
    their_tag: sl.Private[sl.u64, "kitchen", sl.column("tag"), sl.between(0, 2**40 - 1)],
) -> Found:
    """For each bin, and for the stash, whether what the shelter holds there is the kitchen's."""
    return Found(
        in_table=sl.map(lambda mine, others: sl.any(others == mine), held, candidates),
        in_stash=sl.any(items == stash),
        agreed=our_tag == their_tag,
    )
