"""Which donors do a shelter and a kitchen have in common? Sort, compare, shuffle.

Both give a sorted list of as many items. Sorted together, an item that both have stands beside
itself; what is found is then brought into an order that the kitchen has drawn and the shelter does
not know, so that no place tells the shelter what the kitchen's other items are. The kitchen, which
knows the order, learns nothing. After Huang, Evans and Katz, NDSS 2012.

A list of 2^k items is a tensor with k axes of length 2, one for each bit of a place: what is 2^j
places apart is one step apart along an axis.
"""

from typing import NamedTuple, TypeVar

import sealane as sl

# What `sealane psi prepare` prints for sets of at most 256 items.
SIZE = 256
WIDTH = 56

AXES = SIZE.bit_length() - 1
ITEMS = [f"item_{place}" for place in range(SIZE)]
# An axis for each column of switches on the way down, and on the way up again.
COLUMNS = [*range(AXES), *reversed(range(AXES - 1))]
SWITCHES = [f"switch_{place}" for place in range(len(COLUMNS) * SIZE // 2)]


T = TypeVar("T", bound=sl.Value)


class Found(NamedTuple):
    """What the shelter learns: items or zeros, and whether both have prepared alike."""

    common: sl.Revealed[sl.u64, "shelter"]
    agreed: sl.Revealed[sl.boolean, "shelter"]


@sl.program
def common_donors(
    ours: sl.Private[sl.u64, "shelter", ITEMS, sl.between(0, 2**WIDTH - 1)],
    our_tag: sl.Private[sl.u64, "shelter", sl.column("tag"), sl.between(0, 2**40 - 1)],
    theirs: sl.Private[sl.u64, "kitchen", ITEMS, sl.between(0, 2**WIDTH - 1)],
    their_tag: sl.Private[sl.u64, "kitchen", sl.column("tag"), sl.between(0, 2**40 - 1)],
    switches: sl.Private[sl.boolean, "kitchen", SWITCHES],
) -> Found:
    """The items that both have, shuffled, with zeros in between."""
    low, high = merge(descending(cube(ours)), cube(theirs))
    found = shuffle(neighbours(low, high), switches)
    return Found(common=found, agreed=our_tag == their_tag)


def merge(falls: sl.u64, rises: sl.u64) -> tuple[sl.u64, sl.u64]:
    """Both lists sorted into one, whose first half comes first: Batcher's bitonic merger."""
    low, high = sl.minimum(falls, rises), sl.maximum(falls, rises)
    for axis in range(AXES):
        low, high = sort_along(axis, low), sort_along(axis, high)
    return low, high


def sort_along(axis: int, items: sl.u64) -> sl.u64:
    """Of each two items that are one step apart, the smaller one first."""
    first, second = halves(axis, items)
    return sl.stack([sl.minimum(first, second), sl.maximum(first, second)], axis=axis)


def neighbours(low: sl.u64, high: sl.u64) -> sl.u64:
    """Of every other item, those that are equal to the one before or behind; zeros for the rest."""
    before = sl.stack([low[..., 0], high[..., 0]])
    item = sl.stack([low[..., 1], high[..., 1]])
    # What stands behind the last one is no item, and equal to none.
    rest: list[sl.u64 | int] = [*flat(before)[1:], 0]
    behind = cube(sl.stack(rest))
    return sl.where((item == before) | (item == behind), item, 0)


def shuffle(items: sl.u64, switches: sl.boolean) -> sl.u64:
    """The items in the order of the switches: Waksman's network, after Benes."""
    for column, axis in enumerate(COLUMNS):
        start = column * SIZE // 2
        switch = cube(switches[start : start + SIZE // 2], AXES - 1)
        first, second = halves(axis, items)
        swapped = [sl.where(switch, second, first), sl.where(switch, first, second)]
        items = sl.stack(swapped, axis=axis)
    return items


def halves(axis: int, items: T) -> tuple[T, T]:
    """The items with an even and with an odd place along an axis."""
    before = (slice(None),) * axis
    return items[(*before, 0)], items[(*before, 1)]


def descending(items: sl.u64) -> sl.u64:
    """The items in the opposite order."""
    for axis in range(AXES):
        items = sl.stack(halves(axis, items)[::-1], axis=axis)
    return items


def cube(items: T, axes: int = AXES) -> T:
    """A list of 2^k items with k axes, the first one for the highest bit of a place."""
    for axis in range(axes - 1):
        half = 2 ** (axes - axis - 1)
        items = sl.stack([items[..., :half], items[..., half:]], axis=axis)
    return items


def flat(items: sl.u64) -> list[sl.u64]:
    """The items of a cube, one by one."""
    if not items.shape:
        return [items]
    return flat(items[0]) + flat(items[1])
