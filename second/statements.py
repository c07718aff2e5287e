"""What roles of `trio-malicious` have to prove, and the segments of proofs (chapter 19)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from errors import need
from proof import Known, Proof
from sums import Batch, Planes, Sums

SEGMENT, PRODUCTS = 1 << 22, 1 << 20            # ANDs of a proof; products of one about integers
OWN, BEFORE, NEXT = range(3)                    # whose statements: those of the role before, after
Place = tuple[int, int, int, int]               # segment, tile, step, part
# What ANDs leave: x_i, y_i, x_(i+1), y_(i+1), c_R of the role before, c_L of the next one.
Record = tuple[int, list[int]]                  # the number of statements, a string of each


@dataclass
class Group:
    """Statements of a step about integers, so many of each unit: plane by plane, unit by unit."""

    each: int
    lines: tuple[int, int] | None               # rows and columns of a matrix, which is one unit
    left: Planes
    right: Planes
    constants: list[int]

    def batch(self, count: int, first: int, end: int) -> Batch:
        """Those of some units, of so many."""
        if self.lines:
            return Batch(*self.lines, self.left, self.right, self.constants)
        def cut(plane: list[int]) -> list[int]:
            return [x for i in range(0, len(plane), count) for x in plane[i + first:i + end]]
        return Batch(self.each * (end - first), None, [*map(cut, self.left)],
                     [*map(cut, self.right)], cut(self.constants))


@dataclass
class Units:
    """The statements of a step about integers: units of so many products."""

    products: int
    count: int
    groups: list[list[Group]]                   # own ones, of the role before, of the next one


class Due:
    """Statements that no settlement has taken; in `auth` tapes."""

    def __init__(self) -> None:
        self.place: Place = (0, 0, 0, 0)        # of the call under way
        self.kept: dict[Place, list[Any]] = {}

    def add(self, record: Any) -> None:
        """Keep what the call under way leaves."""
        self.kept.setdefault(self.place, []).append(record)

    def take(self, over_rows: bool | None) -> list[Any]:
        """Those that a settlement takes: the call under way; or the last one, which takes all."""
        segment, tile, _, _ = self.place
        found = [at for at in sorted(self.kept) if over_rows is None or (at < self.place and (
            not over_rows or (at[0] == segment and (at[1] < tile if at[3] else at[1] == tile))))]
        return [record for at in found for record in self.kept.pop(at)]


@dataclass
class Turned:
    """What the turns of a shuffle leave."""

    rows: int
    bits: int
    # Its left side of its own statements, of the own turn and the one before, and the right one;
    # its side of those of others.
    known: list[list[Any]] = field(default_factory=lambda: [[None] * 2 for _ in range(3)])
    right: list[Any] = field(default_factory=lambda: [None] * 2)
    constants: list[list[Any]] = field(default_factory=lambda: [[None] * 2 for _ in range(3)])


class Bits:
    """A segment of ANDs; the first one of a pass of a sort has the turns of its shuffle too."""

    def __init__(self, n: int, strings: list[int], turned: Turned | None = None) -> None:
        self.n, self.strings, self.turned = n, strings, turned

    def proof(self, name: bytes, seed: bytes) -> Proof:
        """The proof of one role, by its name and the seed of its weights."""
        turned = (self.turned.rows, self.turned.bits) if self.turned else None
        return Proof(name, seed, self.n, turned)

    def sides(self) -> list[Any]:
        """Left and right side of its own statements."""
        x, y, next_x, next_y, _, _ = self.strings
        right: Sequence[Known] = self.turned.right if self.turned else ()
        return [([x, y], self._known(OWN)), ([next_y, next_x], right)]

    def side(self, whose: int) -> tuple[Any, Any]:
        """A verifier's side of another role's statements, and its constants."""
        x, y, next_x, next_y, right, left = self.strings
        rows = self.turned.constants[whose] if self.turned else ()
        if whose == NEXT:
            return ([next_x, next_y], self._known(whose)), (left, rows)
        return ([y, x], self._known(whose)), (right, rows)

    def _known(self, whose: int) -> Sequence[Known]:
        return self.turned.known[whose] if self.turned else ()


class Integers:
    """A segment of units about integers."""

    def __init__(self) -> None:
        self.products = 0
        self.units: list[tuple[Units, int, int]] = []           # from one of a step up to another

    def proof(self, name: bytes, seed: bytes) -> Sums:
        """The proof of one role."""
        return Sums(name, seed, self.products)

    def _batches(self, whose: int) -> list[Batch]:
        return [group.batch(units.count, first, end) for units, first, end in self.units
                for group in units.groups[whose]]

    def sides(self) -> list[Any]:
        """The same, for both sides."""
        return [self._batches(OWN)] * 2

    def side(self, whose: int) -> tuple[Any, Any]:
        """The same, at a verifier."""
        return self._batches(whose), None


Segment = Bits | Integers


def segments_of(records: Sequence[Record | Units], turned: Turned | None = None
                ) -> Iterator[Segment]:
    """Statements in segments: those of ANDs, then those about integers."""
    total, strings, units = 0, [0] * 6, list[Units]()
    for record in records:
        if isinstance(record, Units):
            units.append(record)
            continue
        strings = [one | more << total for one, more in zip(strings, record[1])]
        total += record[0]
    for at in range(0, total, SEGMENT):
        size = min(SEGMENT, total - at)
        yield Bits(size, [string >> at & (1 << size) - 1 for string in strings],
                   None if at else turned)
    yield from cut(sorted(units, key=lambda of: of.products))


def cut(every: list[Units]) -> Iterator[Integers]:
    """Units in segments, as many in each as fit, and at least one."""
    segment = Integers()
    for units in every:
        first = 0
        while first < units.count:
            fit = max((PRODUCTS - segment.products) // units.products, not segment.units)
            end = min(units.count, first + fit)
            if end > first:
                segment.units.append((units, first, end))
                segment.products += (end - first) * units.products
            if first + fit < units.count:
                yield segment
                segment = Integers()
            first = end
    if segment.units:
        yield segment


def disputed(same: bool, what: str, *between: int) -> None:
    """A check that two parties answer for."""
    names = " or ".join(f"party {party}" for party in sorted(between))
    need(same, f"the comparison of {what} failed: {names} deviated", "disputed")
