"""Tensors of shares, and the moves of chapter 7 that only rearrange shares."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, TypeVar

Share = Any                                     # what it is, the protocol knows
T = TypeVar("T")
Call = Generator[None, None, T]                 # a yield ends each flight


@dataclass
class Tensor:
    """A value at this party: plane by plane, lowest first, its elements."""

    planes: list[list[Share]]

    @staticmethod
    def of(shares: list[Share], elements: int) -> Tensor:
        """Cut shares into planes of so many elements."""
        return Tensor([shares[i:i + elements] for i in range(0, len(shares), elements)])

    def part(self, first: int, end: int) -> Tensor:
        """The elements from `first` up to `end`."""
        return Tensor([plane[first:end] for plane in self.planes])


@dataclass
class Factor:
    """What `gmw` and `trio-malicious` have to know of an operand of a product."""

    lanes: list[int]                            # the place of each lane
    lines: int                                  # lanes that count as different
    holder: int | None                          # who knows it
    bits: int
    signed: bool
    dims: list[tuple[int, int]]                 # of its lanes: lengths and strides


# A value with its `k`, and the parties that learn it.
Opening = tuple[Tensor, int | None, list[int]]


def flatten(planes: list[list[T]]) -> list[T]:
    """All elements, plane after plane."""
    return [element for plane in planes for element in plane]


def indices(view: dict[str, Any], rows: int) -> list[int]:
    """Elements that a view names, in a tile of so many rows."""
    found = [view["offset"]]
    for length, stride in view["dims"]:
        steps = [i * stride for i in range(rows if length == "rows" else length)]
        found = [base + step for base in found for step in steps]
    return found


def factor(view: dict[str, Any], rows: int, holder: int | None, bits: int, signed: bool) -> Factor:
    """What a protocol has to know of an operand with these lanes."""
    dims = [(rows if length == "rows" else length, stride) for length, stride in view["dims"]]
    return Factor(indices(view, rows), lines(view, rows), holder, bits, signed, dims)


def lines(view: dict[str, Any], rows: int) -> int:
    """The number of lines of an operand, from the view of its lanes (chapter 15, Products)."""
    count, reach, overlap = 1, 0, False
    dims = [(abs(stride), rows if length == "rows" else length) for length, stride in view["dims"]]
    for stride, length in sorted(dim for dim in dims if dim[0] != 0 and dim[1] != 1):
        overlap |= stride <= reach
        count, reach = count * length, reach + stride * (length - 1)
    return min(count, reach + 1) if overlap else count


def operand(x: Tensor, lanes: list[int], inner: list[int]) -> Tensor:
    """Element l has the planes of the elements `lanes[l] + i`, for each i of `inner`."""
    return Tensor([[plane[lane + i] for lane in lanes] for i in inner for plane in x.planes])


def spread(x: Tensor, n: int) -> Tensor:
    """Make each element of n * p planes n neighbouring elements of p planes."""
    p = len(x.planes) // n
    return Tensor([[share for group in zip(*x.planes[j::p]) for share in group] for j in range(p)])


def resize(x: Tensor, first: int, count: int, signed: bool, zero: Share) -> Tensor:
    """The planes from `first` on; past the last one zeros, or copies of it if signed."""
    planes = x.planes[first:first + count]
    added = x.planes[-1] if signed else [zero] * len(x.planes[0])
    return Tensor(planes + [added] * (count - len(planes)))


def lane(x: Tensor) -> Tensor:
    """All elements as one element, the planes of element 0 first."""
    return Tensor([[share] for element in zip(*x.planes) for share in element])


def concat(parts: list[Tensor]) -> Tensor:
    """The elements of all parts, one part behind the other."""
    return Tensor([[share for plane in planes for share in plane]
                   for planes in zip(*(part.planes for part in parts))])


def stack(parts: list[Tensor]) -> Tensor:
    """The planes of all parts in each element."""
    return Tensor([plane for part in parts for plane in part.planes])


def encode(numbers: list[int], bits: int, k: int | None) -> Tensor:
    """Numbers as planes: the lowest bits of each, or one plane modulo 2^k."""
    if k is None:
        return Tensor([[number >> p & 1 for number in numbers] for p in range(bits)])
    return Tensor([[number & (1 << k) - 1 for number in numbers]])


def decode(x: Tensor, k: int | None) -> list[int]:
    """The numbers of planes, the reverse of `encode`."""
    if k is None:
        return [sum(bit << p for p, bit in enumerate(bits)) for bits in zip(*x.planes)]
    return x.planes[0]


Stage = list[tuple[int, int]]                   # the places of each pair


def stages(network: Any, n: int) -> list[Stage]:
    """The pairs of each stage of a network of n elements (chapter 7, Compare-exchange)."""
    powers = [1 << bit for bit in range(n.bit_length()) if 1 << bit < n]
    if network == "sort":
        found = [_exchanges(n, start, d, p) for p in reversed(powers) for start, d in (
            (0, p), *((p, q - p) for q in reversed(powers) if q > p))]
    elif network == "prefix":
        ranges = [range(d - 1, n - d, 2 * d) for d in powers]
        ranges += [range(2 * d - 1, n - d, 2 * d) for d in reversed(powers)]
        found = [[(i, i + d) for i in places]
                 for places, d in zip(ranges, [*powers, *reversed(powers)])]
    else:
        most = network["compact"]["most"]
        found = [[(i, i + d) for i in range(n) if i % (2 * d) < most] for d in powers]
    return [stage for stage in found if stage]


def _exchanges(n: int, start: int, distance: int, run: int) -> Stage:
    """A stage of a sort."""
    return [(i, i + distance) for i in range(start, n - distance) if (i - start) % (2 * run) < run]
