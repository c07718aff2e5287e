"""Sorts of `trio-malicious`: places of rows, a shuffle in turns, its proof (chapter 19, Sorts)."""

from __future__ import annotations

import struct
from functools import reduce
from operator import xor
from typing import Any

from primitives import H
from statements import BEFORE, NEXT, OWN, Due, Turned, disputed, segments_of
from streams import Bulk
from tensors import Call, Tensor
from trio import message_of, pack, read_numbers, unpack

PASS = 3                                        # bits of the key that a pass takes
ORDERS, MASKS = "trio: orders of shuffles", "trio: masks of shuffles"
Key = list[tuple[int, bool]]                    # planes of rows, the lowest first; if inverted
Lanes = tuple[int, int]                         # both components of a bit of all rows
Rows = list[int]                                # one component: the bits of each row


def flights(rows: int, key: int) -> int:
    """The flights of a sort by so many bits."""
    passes = [min(PASS, key - first) for first in range(0, key if rows > 1 else 0, PASS)]
    return sum(bits - 1 + (rows - 1).bit_length() + 7 for bits in passes)


def sort(role: Any, rows: Tensor, key: Key) -> Call[Tensor]:
    """Bring rows into the order of their keys, at one role."""
    for first in range(0, len(key) if len(rows.planes[0]) > 1 else 0, PASS):
        rows = yield from one_pass(role, rows, key[first:first + PASS])
    return rows


def one_pass(role: Any, rows: Tensor, key: Key) -> Call[Tensor]:
    """The same by a few bits."""
    n, w, due = len(rows.planes[0]), len(rows.planes), Due()
    planes = [(pack([x for x, _ in plane], 1), pack([y for _, y in plane], 1))
              for plane in rows.planes]
    ones = role._alone((1 << n) - 1, 0)
    bits = [added(planes[at], ones) if inverted else planes[at] for at, inverted in key]
    flags = [added(bits[0], ones), bits[0]]
    for i, bit in enumerate(bits[1:]):
        same = [bit] * (len(flags) - 1)
        x, y = (flags[1:], same) if i else (same, flags[1:])
        products = yield from ands(role, due, x, y, n)
        behind = [reduce(added, products, bit), *products]
        flags = [*map(added, flags, behind), *behind]
    planes += yield from places_of(role, due, flags, n)
    both, bits_of_row = [columns([plane[i] for plane in planes], n) for i in (0, 1)], len(planes)
    turned = Turned(n, bits_of_row)
    for number in range(3):
        both = yield from turn(role, turned, number, both)
    yield from role.settlement([*segments_of(due.take(None), turned)],
                               [party for party in role.parties if party != role.mesh.me])
    places = yield from opened(role, [[row >> w for row in part] for part in both], n)
    order = [places.index(place) for place in range(n)]
    return Tensor([[(both[0][row] >> p & 1, both[1][row] >> p & 1) for row in order]
                   for p in range(w)])


def added(one: Lanes, other: Lanes) -> Lanes:
    """The sum of two bits of all rows."""
    return one[0] ^ other[0], one[1] ^ other[1]


def columns(planes: list[int], n: int) -> Rows:
    """The bits of each row, from planes that have a bit of each."""
    return [*map(lambda row: pack(row, 1), zip(*(unpack(plane, n, 1) for plane in planes)))]


def ands(role: Any, due: Due, left: list[Lanes], right: list[Lanes], n: int) -> Call[list[Lanes]]:
    """A tape of one batch."""
    own, following = ([bit[i] for bit in [*left, *right]] for i in (0, 1))
    gates = [(i, i + len(left), 0, 0) for i in range(len(left))]
    shares = yield from role._ands(gates, own, following, n, due=due)
    return [(pack([x for x, _ in part], 1), pack([y for _, y in part], 1))
            for part in (shares[i:i + n] for i in range(0, len(shares), n))]


def parities(carries: list[Lanes], n: int) -> list[Lanes]:
    """For each bit of all planes, one behind the other, the sum of those before it."""
    found = []
    for part in zip(*carries):
        total, shift = pack(part, n), 1
        while shift < n * len(part):
            total, shift = total ^ total << shift, 2 * shift
        found.append(unpack((total << 1) & (1 << n * len(part)) - 1, len(part), n))
    return [*zip(*found)]


def places_of(role: Any, due: Due, flags: list[Lanes], n: int) -> Call[list[Lanes]]:
    """The place of each row, bit by bit: the number of flags before its own."""
    places, carries, levels = list[Lanes](), flags, (n - 1).bit_length()
    for level in range(levels):
        sums = parities(carries, n)
        left = [added(sums[0], one) for one in sums[1:]] if level else []
        right = flags[1:] if level else []
        chosen = len(left) or len(flags)
        if not 0 < level == levels - 1:
            left, right = left + sums, right + carries
        products = yield from ands(role, due, left, right, n)
        places.append(reduce(added, products[:chosen], sums[0] if level else (0, 0)))
        carries = products[-len(flags):]
    return places


def draw_order(stream: Bulk, n: int) -> list[int]:
    """For each place the row that comes there."""
    order, data = [*range(n)], stream.draw(n - 1)
    for i, m in enumerate(range(n, 1, -1)):
        other = int.from_bytes(data[16 * i:16 * i + 16], "little") * m >> 128
        order[m - 1], order[other] = order[other], order[m - 1]
    return order


def turn(role: Any, turned: Turned, number: int, both: list[Rows]) -> Call[list[Rows]]:
    """A turn of a shuffle: both components of the rows in another order."""
    n, bits, mesh = turned.rows, turned.bits, role.mesh
    (own, following), place = both, (role.role - number) % 3
    if place == 2:
        yield
        found = [read_numbers(mesh, peer, n * bits, 1, True) for peer in (role.before, role.after)]
        before, after = ([pack(part[i:i + bits], 1) for i in range(0, n * bits, bits)]
                         for part in found)
        turned.known[NEXT][0], turned.constants[NEXT][0] = (following, []), after
        turned.known[BEFORE][1], turned.constants[BEFORE][1] = (own, []), before
        return [before, after]
    order, masks = (role.streams[label][1 - place] for label in (ORDERS, MASKS))
    to = draw_order(order, n)
    r, fresh = masks.draw_rows(n, bits), masks.draw_rows(n, bits)
    if place == 0:
        message = [own[row] ^ following[row] ^ r[j] for j, row in enumerate(to)]
        turned.known[OWN][0], turned.right[0] = (own, []), ([], to)
        turned.known[NEXT][1], turned.constants[NEXT][1] = ([], to), [*map(xor, r, fresh)]
    else:
        message = [following[row] ^ r[j] ^ fresh[j] for j, row in enumerate(to)]
        turned.known[OWN][1], turned.right[1] = ([], to), (following, [])
        turned.known[BEFORE][0] = [], to
        turned.constants[BEFORE][0] = [own[row] ^ r[j] for j, row in enumerate(to)]
    mesh.write(role.after if place else role.before, message_of(message, bits), bulk=True)
    yield
    return [fresh, message] if place else [message, fresh]


def opened(role: Any, both: list[Rows], n: int) -> Call[list[int]]:
    """The places of all rows, which all roles learn."""
    mesh, k, number = role.mesh, (n - 1).bit_length(), role.sorted
    role.sorted += 1

    def digest(part: Rows) -> bytes:
        return H("sealane 1 trio places",
                 role.session + struct.pack("<Q", number) + message_of(part, k))
    mesh.write(role.after, message_of(both[0], k), bulk=True)
    mesh.write(role.before, digest(both[1]))
    yield
    given = read_numbers(mesh, role.before, n, k, True)
    disputed(mesh.read(role.after, 32) == digest(given), "places", role.before, role.after)
    places = [x ^ y ^ z for x, y, z in zip(*both, given)]
    disputed(sorted(places) == [*range(n)], "proved places", role.before, role.after)
    return places
