"""The protocol `gmw` of two roles: XOR shares of bits, additive shares of integers (chapter 15).

Methods with flights are generators: they write a flight, yield, and read it.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice
from math import prod
from typing import Any

from adder import bits_tape, floor_tape
from correlations import Correlations, Kind, Matrix, multiply, turned
from link import Mesh
from plan import Domain, Gate, Plan, Tape
from streams import Coins
from tensors import Call, Factor, Opening, Tensor, decode, encode, flatten, resize
from trio import message_of, pack, read_numbers, unpack
from walk import Calls, Walk
from yao import depth_of_trees

Group = tuple[int, list[tuple[int, int]]]       # a factor; other operands and outputs of ANDs
GROUP = 128                                     # ANDs of a group, at most
# Numbers of a known operand, the elements that each meets; by lane, numbers and elements.
Met = tuple[list[int], Matrix, list[list[tuple[int, int]]]]


def groups_of(ands: list[Gate]) -> list[Group]:
    """The ANDs of a batch by their factors."""
    uses = Counter(slot for gate in ands for slot in gate[:2])
    groups: list[Group] = []
    last: dict[int, list[tuple[int, int]]] = {}
    for a, b, out, _ in ands:
        factor, other = (a, b) if uses[a] >= uses[b] else (b, a)
        if len(last.get(factor, range(GROUP))) == GROUP:
            last[factor] = []
            groups.append((factor, last[factor]))
        last[factor].append((other, out))
    return groups


def lines_of(x: Tensor, factor: Factor) -> Matrix:
    """The lines of an operand, each with its terms, and lines of zeros behind them."""
    lines = [[*line] for line in dict(zip(factor.lanes, zip(*x.planes))).values()]
    return lines + [[0] * len(x.planes)] * (factor.lines - len(lines))


def places_of(factor: Factor) -> list[int]:
    """The number of the line of each lane."""
    order = {lane: i for i, lane in enumerate(dict.fromkeys(factor.lanes))}
    return [order[lane] for lane in factor.lanes]


def plus(x: Matrix, y: Matrix, factor: int = 1) -> Matrix:
    """A matrix, and a multiple of another."""
    return [[a + factor * b for a, b in zip(*rows)] for rows in zip(x, y)]


class Gmw:
    """One role of a run; its methods are those of every protocol. Shares are numbers."""

    zero = 0

    def __init__(self, mesh: Mesh, coins: Coins, session: bytes, setting: dict[str, Any],
                 plan: Plan, counts: list[int]) -> None:
        self.mesh, self.coins = mesh, coins
        roles = [members[0] for members in setting["roles"]]
        self.role = roles.index(mesh.me)
        self.peer = roles[1 - self.role]
        self.goods = Correlations(mesh, self.peer, session, depth_of_trees(setting["network"]))
        self.needs = self.counting().count(plan, counts)

    def counting(self) -> Counting:
        """The same run without messages."""
        return Counting(self)

    def set_up(self) -> None:
        """Prepare transfers, of the directions from which tile runs take any."""
        self.goods.set_up(self.coins, sum(self.needs.values(), Counter[Kind]()))

    def refill(self, runs: list[tuple[int, int]]) -> None:
        """Make what some tile runs take."""
        wanted = sum((self.needs[run] for run in runs), Counter[Kind]())
        if wanted:
            self.goods.refill(wanted)

    def take(self, kind: Kind, n: int) -> list[Any]:
        """The next correlations of a kind."""
        return self.goods.take(kind, n)

    # ---- messages

    def _write(self, numbers: list[int], width: int) -> None:
        self.mesh.write(self.peer, message_of(numbers, width))

    def _read(self, count: int, width: int) -> list[int]:
        return read_numbers(self.mesh, self.peer, count, width)

    def _open_rows(self, rows: list[int], lanes: int) -> Call[list[int]]:
        """Open rows of bits, one for each lane."""
        self._write(rows, lanes)
        yield
        return [a ^ b for a, b in zip(rows, self._read(len(rows), lanes))]

    def _open_integers(self, numbers: list[int], k: int) -> Call[list[int]]:
        """Open integers modulo 2^k."""
        own = [number & (1 << k) - 1 for number in numbers]
        self._write(own, k)
        yield
        return [a + b for a, b in zip(own, self._read(len(own), k))]

    # ---- steps without flights

    def constant(self, numbers: list[int], bits: int, k: int | None) -> Tensor:
        """Share numbers that both parties know."""
        return encode([0] * len(numbers) if self.role else numbers, bits, k)

    def input(self, owner: int, numbers: list[int] | None, elements: int, bits: int,
              k: int | None) -> Tensor:
        """Share the numbers of one party."""
        return encode(numbers or [0] * elements, bits, k)

    def linear(self, terms: list[tuple[int, int]], k: int) -> int:
        """Sum of shares times factors."""
        return sum(share * factor for share, factor in terms) & (1 << k) - 1

    # ---- tapes

    def tape(self, tape: Tape, inputs: list[list[int]], lanes: int) -> Call[list[list[int]]]:
        """Run a circuit on all lanes; slots have a bit for each lane."""
        ones, free = (0 if self.role else (1 << lanes) - 1), [0] * (tape.slots - 2 - len(inputs))
        slots = [0, ones, *(pack(plane, 1) for plane in inputs), *free]
        for xors, ands in tape.gates():
            for a, b, out, _ in xors:
                slots[out] = slots[a] ^ slots[b]
            if ands:
                yield from self._ands(groups_of(ands), slots, lanes)
        return [unpack(slots[i], lanes, 1) for i in tape.outputs]

    def _ands(self, groups: list[Group], slots: list[int], lanes: int) -> Call[None]:
        """Run the ANDs of a batch."""
        masks, rows = [], []
        for factor, ands in groups:
            w = len(ands)
            taken = self.take((1, 0) if w == 1 else (2, w), lanes)
            a, bs, cs = ([pack([number >> p & 1 for number in column], 1) for p in range(width)]
                         for column, width in zip(zip(*taken), (1, w, w)))
            masks.append((a[0], bs, cs))
            rows += [slots[factor] ^ a[0], *(slots[x] ^ b for (x, _), b in zip(ands, bs))]
        opened = iter((yield from self._open_rows(rows, lanes)))
        for (_, ands), (mask, bs, cs) in zip(groups, masks):
            d = next(opened)
            for (_, out), b, c, e in zip(ands, bs, cs, opened):
                slots[out] = c ^ d & b ^ e & mask ^ (0 if self.role else d & e)

    def _sum_tape(self, tape: Tape, numbers: list[int], bits: list[int]) -> Call[Tensor]:
        """Run a circuit on some bits of both shares, those of role 0 first."""
        planes = [[(number >> p & 1) * (self.role == role) for number in numbers]
                  for role in (0, 1) for p in bits]
        return Tensor((yield from self.tape(tape, planes, len(numbers))))

    # ---- conversions, steps `ring`

    def convert(self, value: Tensor, old: Domain, new: Domain) -> Call[Tensor]:
        """Share the same numbers in another domain."""
        if new.k is None:
            return (yield from self._sum_tape(bits_tape(0, new.bits), value.planes[0],
                                              [*range(new.bits)]))
        if old.k is not None:
            return encode(value.planes[0], 0, new.k)
        planes = yield from self._integers(value.planes[:new.k], new.k)
        return self.weighted(planes, old, new.k)

    def weighted(self, planes: list[list[int]], old: Domain, k: int) -> Tensor:
        """Numbers of integers that are their bits."""
        weights = [-1 << p if old.signed and p == old.bits - 1 else 1 << p
                   for p in range(len(planes))]
        return Tensor([[self.linear([*zip(element, weights)], k) for element in zip(*planes)]])

    def _integers(self, planes: list[list[int]], k: int) -> Call[list[list[int]]]:
        """Integers modulo 2^k of bits."""
        bits = flatten(planes)
        taken = self.take((3, k), len(bits))
        opened = yield from self._open_rows([x ^ r for x, (r, _) in zip(bits, taken)], 1)
        found = [(self.role == 0) - e if d else e for d, (_, e) in zip(opened, taken)]
        return Tensor.of(found, len(planes[0])).planes

    def ring(self, op: Any, of: Tensor, bit: Tensor | None, old: Domain, new: Domain
             ) -> Call[Tensor]:
        """An operation on integers."""
        numbers, k = of.planes[0], old.k or 0
        if bit is not None:
            return (yield from self._select(bit.planes[0], numbers, k))
        if "floor" in op:
            return (yield from self._floor(numbers, old, k, op["floor"]["by"]))
        first, count = op["extract"]["first"], op["extract"]["count"]
        found = yield from self._sum_tape(bits_tape(first, count), numbers, [*range(first + count)])
        zeros = [[0] * len(numbers)] * first
        return resize(Tensor(zeros + found.planes), 0, new.bits, False, 0)

    def _select(self, bits: list[int], numbers: list[int], k: int) -> Call[Tensor]:
        """Numbers where a bit is 1, and zeros elsewhere."""
        taken, mask = self.take((4, k), len(bits)), (1 << k) - 1
        own = [x ^ r for x, (r, _, _, _) in zip(bits, taken)]
        masked = [x - m & mask for x, (_, _, m, _) in zip(numbers, taken)]
        self._write(own, 1)
        self._write(masked, k)
        yield
        opened = zip(own, self._read(len(own), 1), masked, self._read(len(own), k), taken)
        found = []
        for d, d2, x, x2, (_, e, m, f) in opened:
            total, one = x + x2, self.role == 0
            found.append((one - e) * total + m - f if d ^ d2 else e * total + f)
        return encode(found, 0, k)

    def _floor(self, numbers: list[int], old: Domain, k: int, by: int) -> Call[Tensor]:
        """Numbers divided by 2^by, rounded down."""
        is_short = old.bits < k and not (old.signed and by + 2 > k)
        offset = (1 << (k - 2 if is_short else k - 1)) * (old.signed and self.role == 0)
        shares = [number + offset & (1 << k) - 1 for number in numbers]
        bits = [*range(by), k - 1] if is_short else [*range(k)]
        ends = yield from self._sum_tape(floor_tape(by, k, is_short), shares, bits)
        carried, wrapped = yield from self._integers(ends.planes, k)
        return encode([(y >> by) + c - (w << k - by) - (offset >> by)
                       for y, c, w in zip(shares, carried, wrapped)], 0, k)

    # ---- products

    def product(self, left: Tensor, right: Tensor, k: int, factors: list[Factor]) -> Call[Tensor]:
        """Inner products over planes, in the form that the plan fixes."""
        pairs, lanes = [(left, right), (right, left)], len(left.planes[0])
        whole = prod(factor.lines for factor in factors) == lanes
        holders = [factor.holder for factor in factors]
        if None not in holders and len(set(holders)) == 1:
            sums = [sum(x * y for x, y in zip(*lane))
                    for lane in zip(zip(*left.planes), zip(*right.planes))]
        elif holders != [None, None]:
            sizes = [((factor.lines if whole else lanes) * min(factor.bits, k), i)
                     for i, factor in enumerate(factors) if factor.holder is not None]
            i = min(sizes)[1]
            sums = yield from self._known(*pairs[i], k, factors[i], factors[1 - i], whole)
        elif whole:
            sums = yield from self._whole(left, right, k, factors)
        else:
            sums = yield from self._pairs(left, right, k)
        return encode(sums, 0, k)

    def _pairs(self, left: Tensor, right: Tensor, k: int) -> Call[list[int]]:
        """A triple for each term of each lane."""
        x, y, lanes = flatten(left.planes), flatten(right.planes), len(left.planes[0])
        a, b, c = zip(*self.take((1, k), len(x)))
        opened = yield from self._open_integers(
            [n - m for n, m in zip([*x, *y], [*a, *b])], k)
        products = [c + d * b + e * a + (0 if self.role else d * e)
                    for a, b, c, d, e in zip(a, b, c, opened, opened[len(x):])]
        return [sum(products[lane::lanes]) for lane in range(lanes)]

    def _whole(self, left: Tensor, right: Tensor, k: int, factors: list[Factor]
               ) -> Call[list[int]]:
        """A product of matrices: each line of the one by each of the other."""
        x, y = lines_of(left, factors[0]), turned(lines_of(right, factors[1]))
        rows, inner, columns = len(x), len(y), len(y[0])
        (a, b, c), = self.take((6, k, rows, inner, columns), 1)
        opened = iter((yield from self._open_integers(
            flatten(plus(x, a, -1)) + flatten(plus(y, b, -1)), k)))
        d, e = ([[*islice(opened, width)] for _ in range(height)]
                for height, width in ((rows, inner), (inner, columns)))
        z = plus(plus(c, multiply(d, b)), multiply(a, e))
        z = z if self.role else plus(z, multiply(d, e))
        return [z[i][j] for i, j in zip(*map(places_of, factors))]

    def _met(self, x: Tensor, y: Tensor, known: Factor, other: Factor, whole: bool) -> Met:
        """The numbers of a known operand, the elements that each meets, and what lanes add up."""
        terms, lanes = len(x.planes), len(x.planes[0])
        if not whole:
            return (flatten(x.planes), [[number] for number in flatten(y.planes)],
                    [[(t * lanes + lane, 0) for t in range(terms)] for lane in range(lanes)])
        elements = turned(lines_of(y, other)) * known.lines
        return flatten(lines_of(x, known)), elements, [
            [(i * terms + t, u) for t in range(terms)]
            for i, u in zip(places_of(known), places_of(other))]

    def _known(self, x: Tensor, y: Tensor, k: int, known: Factor, other: Factor, whole: bool
               ) -> Call[list[int]]:
        """Numbers that one party knows, by shares of the other operand."""
        numbers, elements, lanes = self._met(x, y, known, other, whole)
        b, m, n = min(known.bits, k), len(elements[0]), len(numbers)
        taken = self.take((5, known.holder or 0, k, b, m), n)
        if known.holder == self.mesh.me:
            masked = [number & (1 << b) - 1 ^ r for number, (r, _) in zip(numbers, taken)]
            self._write(masked, b)
            yield
            opened, gains = Tensor.of(self._read(n * m, k), m).planes, [[0] * m] * n
            sums = [[v * a for a in row] for v, row in zip(numbers, plus(opened, elements))]
        else:
            sums, gains = [[0] * m] * n, [own for own, _ in taken]
            self._write([number & (1 << k) - 1 for number in flatten(plus(elements, gains, -1))], k)
            yield
            masked = self._read(n, b)
        for i in range(b):                      # bit i of each number, by what it meets
            weight = -1 << i if known.signed and i == b - 1 else 1 << i
            shares = [shares[i] for _, shares in taken]
            pairs = zip(plus(gains, shares, -1), shares, masked)
            sums = plus(sums, [other if d >> i & 1 else own for other, own, d in pairs], weight)
        return [sum(sums[i][u] for i, u in lane) for lane in lanes]

    # ---- results

    def settle(self) -> Call[None]:
        """Compare digests with the peer (chapter 4)."""
        return self.mesh.settle()

    def open(self, values: list[Opening]) -> Call[list[list[int] | None]]:
        """Give each receiver the share that it lacks."""
        for value, k, receivers in values:
            if self.peer in receivers:
                self._write(flatten(value.planes), k or 1)
        yield
        found: list[list[int] | None] = []
        for value, k, receivers in values:
            own, opened = flatten(value.planes), None
            if self.mesh.me in receivers:
                sums = zip(own, self._read(len(own), k or 1))
                mask = (1 << (k or 1)) - 1      # bits are integers modulo 2
                opened = decode(Tensor.of([a + b & mask for a, b in sums], len(value.planes[0])), k)
            found.append(opened)
        return found


class Counting(Gmw):
    """A run without messages, which counts the correlations that it takes."""

    def __init__(self, gmw: Gmw) -> None:
        self.mesh, self.role, self.peer = gmw.mesh, gmw.role, gmw.peer
        self.taken: Counter[Kind] = Counter()

    def count(self, plan: Plan, counts: list[int]) -> dict[tuple[int, int], Counter[Kind]]:
        """What each tile run takes, by segment and tile."""
        found: dict[tuple[int, int], Counter[Kind]] = {}
        walk = Walk(Calls(plan, counts, self, {}), lambda: None)
        for run in walk.waiting:
            self.taken = found[run.segment, run.tile] = Counter()
            for step in plan.segments[run.segment].steps:
                for part in range(1 + step.carry):
                    for _ in walk.calls.call(run, step, part):
                        pass                    # a flight, of no bytes
        return found

    def take(self, kind: Kind, n: int) -> list[Any]:
        """Correlations of zeros."""
        self.taken[kind] += n
        if kind[0] == 6:
            rows, inner, columns = kind[2:]
            return [tuple([[0] * width] * height for height, width in (
                (rows, inner), (inner, columns), (rows, columns)))]
        if kind[0] == 5:
            holds = kind[1] == self.mesh.me
            return [(0 if holds else [0] * kind[4], [[0] * kind[4]] * kind[3])] * n
        return [(0,) * {3: 2, 4: 4}.get(kind[0], 3)] * n

    def _write(self, numbers: list[int], width: int) -> None:
        """Send nothing."""

    def _read(self, count: int, width: int) -> list[int]:
        return [0] * count
