"""The walk over a plan: what each call computes (chapter 7), and when it does (chapter 8)."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Generator
from copy import copy
from dataclasses import dataclass, field
from itertools import accumulate
from math import prod
from typing import Any

import tensors
from plan import TILES_IN_FLIGHT, Fields, Inputs, Plan, Result, Step
from tensors import (
    Call,
    Share,
    T,
    Tensor,
    concat,
    indices,
    lane,
    operand,
    resize,
    spread,
    stack,
    stages,
)

WAITING, RUNNING, DONE = range(3)
PAIRS = 16384                                   # of a block of a cross


@dataclass(eq=False)
class TileRun:
    """One tile of a segment under way."""

    segment: int
    tile: int
    first: int                                  # number of its first row in the table
    rows: int                                   # 0 if the segment runs once
    status: list[list[int]]                     # of both parts of each step
    values: dict[int, Tensor] = field(default_factory=dict)
    ahead: TileRun | None = None                # in `auth`: the same in the offline walk
    offline: bool = False                       # whether it is one of the offline walk


class Calls:
    """What the calls of a plan compute at one party, over a protocol."""

    def __init__(self, plan: Plan, counts: list[int], protocol: Any, inputs: Inputs) -> None:
        self.plan, self.values, self.protocol = plan, plan.values, protocol
        self.counts = counts                    # rows of each table
        self.inputs = inputs                    # those of this party, as stored numbers
        self.kept: dict[tuple[int, int], Tensor] = {}       # by value and tile; 0 without rows
        self.opened: dict[tuple[int, int], list[int] | None] = {}   # by result and tile
        self.on_labels: Calls | None = None     # of `mixed`: the same with its protocol of labels
        if hasattr(protocol, "labels"):
            self.on_labels = copy(self)
            self.on_labels.protocol = protocol.labels
        # In `auth`: the offline walk, over values of its own.
        self.ahead = Calls(plan, counts, protocol.offline, {}) if hasattr(
            protocol, "offline") else None

    def call(self, run: TileRun, step: Step, part: int) -> Call[None]:
        """One part of a step in a tile."""
        if self.on_labels and any(self.values[value].domain.on_labels for value in step.writes):
            yield from self.on_labels.call(run, step, part)
            return
        if part == 1:
            yield from self._carry(run, step)
            return
        made = getattr(self, "_" + step.name.replace("-", "_"))(run, step.args)
        if isinstance(made, Generator):
            made = yield from made
        if made is not None:
            self._write(run, step.args["out"], made, step.carry)

    # ---- values

    def _read(self, run: TileRun, value: int) -> Tensor:
        """A value of this tile, or of another segment."""
        if value in run.values:
            return run.values[value]
        return self.kept[value, 0 if self.values[value].rows is None else run.tile]

    def _write(self, run: TileRun, value: int, tensor: Tensor, carried: bool = False) -> None:
        """Keep a value as long as something may read it; a carry keeps what it makes itself."""
        run.values[value] = tensor
        if (table := self.values[value].rows) is not None:
            if run.rows == 0:                   # a step on all rows
                size = self.plan.tables[table].tile * self.values[value].elements
                self.kept |= {(value, i): tensor.part(i * size, (i + 1) * size)
                              for i in range(-(-len(tensor.planes[0]) // size))}
            elif self.values[value].kept:
                self.kept[value, run.tile] = tensor
        elif not carried:
            self.kept[value, 0] = tensor

    def _operand(self, run: TileRun, part: Fields, table: int | None = None) -> Tensor:
        """An operand; of all rows of a table, if there is one."""
        if table is None:
            x, rows = self._read(run, part["value"]), run.rows
        else:
            x, rows = concat(self._tiles(self.kept, part["value"])), self.counts[table]
        return operand(x, indices(part["lanes"], rows), indices(part["inner"], rows))

    def _count(self, run: TileRun, lengths: list[int | str]) -> int:
        """The product of lengths."""
        return prod(run.rows if length == "rows" else int(length) for length in lengths)

    def _resize(self, x: Tensor, count: int, signed: bool, first: int = 0) -> Tensor:
        return resize(x, first, count, signed, self.protocol.zero)

    def _take(self, outputs: Tensor, first: int, value: int, inner: int) -> Tensor:
        """A value with so many elements for each lane, from the outputs of a tape."""
        bits = inner * self.values[value].bits
        return spread(self._resize(outputs, bits, False, first), inner)

    def _run_tape(self, tape: int, inputs: list[Tensor], lanes: int) -> Call[Tensor]:
        planes = stack(inputs).planes
        return Tensor((yield from self.protocol.tape(self.plan.tapes[tape], planes, lanes)))

    # ---- steps: each returns `out`, or is a call that returns it; or it has written all

    def _constant(self, run: TileRun, args: Fields) -> Any:
        domain = self.values[args["out"]].domain
        return self.protocol.constant(args["data"]["numbers"], domain.bits, domain.k)

    def _row_number(self, run: TileRun, args: Fields) -> Any:
        numbers = [*range(run.first, run.first + run.rows)]
        return self._constant(run, args | {"data": {"numbers": numbers}})

    def _concat(self, run: TileRun, args: Fields) -> Tensor:
        parts = args["parts"]
        inner = sum(len(indices(part["inner"], run.rows)) for part in parts)
        return spread(stack([self._operand(run, part) for part in parts]), inner)

    def _move(self, run: TileRun, args: Fields) -> Tensor:
        return self._concat(run, {"parts": [args["operand"]]})

    def _linear(self, run: TileRun, args: Fields) -> Tensor:
        sums: list[list[tuple[Share, int]]] = [[] for _ in range(self._count(run, args["lanes"]))]
        for term in args["terms"]:
            planes = self._operand(run, term["operand"]).planes
            for plane, factors in zip(planes, self._factors(run, term["factor"], planes)):
                for pairs, share, factor in zip(sums, plane, factors):
                    pairs.append((share, factor))
        return self._sums(sums, args["out"])

    def _factors(self, run: TileRun, factor: Fields, planes: list[list[Share]]) -> list[list[int]]:
        """The factor of each element of each plane."""
        if "number" in factor:
            return [[factor["number"]] * len(plane) for plane in planes]
        table = factor["table"]
        lanes, inner = (indices(table[view], run.rows) for view in ("lanes", "inner"))
        return [[table["data"]["numbers"][lane + i] for lane in lanes] for i in inner]

    def _sums(self, sums: list[list[tuple[Share, int]]], value: int) -> Tensor:
        k = self.values[value].domain.k
        return Tensor([[self.protocol.linear(pairs, k) for pairs in sums]])

    def _input(self, run: TileRun, args: Fields) -> Any:
        number, value = args["input"], self.values[args["out"]]
        first = 0 if value.rows is None else run.first * value.elements
        count = value.elements if value.rows is None else run.rows * value.elements
        numbers = self.inputs.get(number)
        return self.protocol.input(
            self.plan.owners[number], numbers and numbers[first:first + count], count, value.bits,
            value.domain.k)

    def _tape(self, run: TileRun, args: Fields) -> Call[None]:
        inputs = [self._operand(run, part) for part in args["operands"]]
        outputs = yield from self._run_tape(args["tape"], inputs, self._count(run, args["lanes"]))
        for out in args["outs"]:
            self._write(run, out["value"], self._take(outputs, **out))

    def _product(self, run: TileRun, args: Fields) -> Any:
        ends = [args["left"], args["right"]]
        domains = [self.values[end["value"]].domain for end in ends]
        factors = [tensors.factor(end["lanes"], run.rows, holder, domain.bits, domain.signed)
                   for end, holder, domain in zip(ends, args["known_to"], domains)]
        return self.protocol.product(*(self._operand(run, end) for end in ends),
                                     self.values[args["out"]].domain.k, factors)

    def _ring(self, run: TileRun, args: Fields) -> Any:
        bit = None if args["bit"] is None else self._operand(run, args["bit"])
        return self.protocol.ring(args["op"], self._operand(run, args["of"]), bit, *(
            self.values[value].domain for value in (args["of"]["value"], args["out"])))

    def _convert(self, run: TileRun, args: Fields) -> Any:
        return self.protocol.convert(self._read(run, args["value"]), *(
            self.values[args[end]].domain for end in ("value", "out")))

    def _fold(self, run: TileRun, args: Fields) -> Call[Tensor]:
        x, length = self._operand(run, args["operand"]), self._count(run, [args["length"]])
        return (yield from self._total(x, length, self._count(run, args["lanes"]), args))

    def _total(self, x: Tensor, length: int, lanes: int, args: Fields) -> Call[Tensor]:
        """Reduce elements of so many lanes."""
        bits, level, to = args["bits"], 0, args.get("to", 1)
        while length > to:
            pairs = min(length // 2, length - to)
            half, rest = pairs * lanes, x.part(2 * pairs * lanes, length * lanes)
            x = yield from self._run_tape(args["levels"][level],
                                          [x.part(0, half), x.part(half, 2 * half)], half)
            level, length = level + 1, length - pairs
            if length > pairs:
                x = concat([x, self._resize(rest, bits[level], args["signed"])])
        x = self._resize(x, bits[-1], args["signed"])
        if length == to:
            return x
        return concat([x] * (to // length) + [x.part(0, to % length * lanes)])

    def _carry(self, run: TileRun, step: Step) -> Call[None]:
        """Add the total of a tile to that of the tiles before."""
        out = step.args["out"]
        total = run.values[out]
        if run.tile > 0:
            pair = [self.kept[out, 0], total]
            if step.name == "fold":
                total = yield from self._run_tape(step.args["carry"], pair, len(total.planes[0]))
            else:
                total = self._sums([[(a, 1), (b, 1)] for a, b in zip(*stack(pair).planes)], out)
        self.kept[out, 0] = total

    def _scan(self, run: TileRun, args: Fields) -> Call[None]:
        carries = args["carries"]
        if args["length"] == "rows" and run.tile > 0:
            states = [self.kept[carry, 0] for carry in carries]
        else:
            states = [self._resize(self._read(run, init), self.values[carry].bits,
                                   self.values[init].signed)
                      for init, carry in zip(args["init"], carries)]
        over = [self._operand(run, part) for part in args["over"]]
        captured = [lane(self._read(run, value)) for value in args["captured"]]
        sizes = [self.values[carry].elements * self.values[carry].bits for carry in carries]
        outs = [{"value": carry, "first": sum(sizes[:i]), "inner": self.values[carry].elements}
                for i, carry in enumerate(carries)] + args["outs"]
        found = []
        for i in range(self._count(run, [args["length"]])):
            inputs = [lane(state) for state in states] + [x.part(i, i + 1) for x in over]
            outputs = yield from self._run_tape(args["tape"], inputs + captured, 1)
            found.append([self._take(outputs, **out) for out in outs])
            states = found[-1][:len(carries)]
        for out, parts in zip(outs, zip(*found)):
            self._write(run, out["value"],
                        parts[-1] if out["value"] in carries else concat(list(parts)))

    def _rearrange(self, run: TileRun, args: Fields) -> Tensor:
        x, how = self._operand(run, args["operand"], args["rows"]), args["how"]
        n = len(x.planes[0])
        places = [(i - how["roll"]) % n for i in range(n)] if "roll" in how else [
            *range(how["head"])]
        planes = [[*plane, *[self.protocol.zero] * (max(places) + 1 - n)] for plane in x.planes]
        return spread(operand(Tensor(planes), places, [0]), self._inner(run, args["operand"]))

    def _inner(self, run: TileRun, part: Fields) -> int:
        return len(indices(part["inner"], run.rows))

    def _compare_exchange(self, run: TileRun, args: Fields) -> Call[None]:
        columns = [self._operand(run, part, args["rows"]) for part in args["over"]]
        captured = [lane(self._read(run, value)) for value in args["captured"]]
        sides = {"sort": (0, 1), "prefix": (1,)}.get(str(args["network"]), (0,))
        n = len(columns[0].planes[0])
        for pairs in stages(args["network"], n):
            behind = [Tensor([[*plane, *[self.protocol.zero] * n] for plane in column.planes])
                      for column in columns]
            inputs = [operand(column, [*places], [0]) for places in zip(*pairs)
                      for column in behind]
            inputs += [operand(value, [0] * len(pairs), [0]) for value in captured]
            planes = iter((yield from self._run_tape(args["tape"], inputs, len(pairs))).planes)
            for side in sides:
                for column in columns:
                    for plane in column.planes:
                        for pair, share in zip(pairs, next(planes)):
                            plane[pair[side]] = share
        for out, part, column in zip(args["outs"], args["over"], columns):
            self._write(run, out, spread(column, self._inner(run, part)))

    def _cross(self, run: TileRun, args: Fields) -> Call[None]:
        over = [self._operand(run, part) for part in args["over"]]
        across = [self._operand(run, part, args["rows"]) for part in args["across"]]
        captured = [lane(self._read(run, value)) for value in args["captured"]]
        length, rows = self._count(run, [args["length"]]), self.counts[args["rows"]]
        block, totals = max(1, PAIRS // length), dict[int, Tensor]()
        for first in range(0, rows, block):
            size = min(block, rows - first)
            lanes = [(first + r, i) for r in range(size) for i in range(length)]
            inputs = [operand(x, [i for _, i in lanes], [0]) for x in over]
            inputs += [operand(x, [r for r, _ in lanes], [0]) for x in across]
            inputs += [operand(x, [0] * len(lanes), [0]) for x in captured]
            outputs = yield from self._run_tape(args["tape"], inputs, len(lanes))
            for out in args["outs"]:
                value, inner = out["value"], out["inner"]
                part = self._resize(outputs, inner * out["bits"][0], False, out["first"])
                total = yield from self._total(spread(part, inner), size, length * inner, out)
                if first:
                    total = yield from self._run_tape(out["carry"], [totals[value], total],
                                                      length * inner)
                totals[value] = total
        for value, total in totals.items():
            self._write(run, value, total)

    def _sort(self, run: TileRun, args: Fields) -> Call[None]:
        over = [(self._operand(run, part, args["rows"]), part) for part in args["over"]]
        ends = [0, *accumulate(len(column.planes) for column, _ in over)]
        key = []
        for part in reversed(args["keys"]):     # its lowest bit first
            at = part["operand"]
            signed = self.values[over[at][1]["value"]].signed
            key += [(plane, part["descending"] != (signed and plane == ends[at + 1] - 1))
                    for plane in range(ends[at], ends[at + 1])]
        rows = yield from self.protocol.sort(stack([column for column, _ in over]), key)
        for out, (_, part), first, end in zip(args["outs"], over, ends, ends[1:]):
            self._write(run, out, spread(Tensor(rows.planes[first:end]), self._inner(run, part)))

    def _settle(self, run: TileRun, args: Fields) -> Any:
        return self.protocol.settle(self.plan.segments[run.segment].rows is not None)

    # ---- results

    def _by_tile(self, result: Result) -> bool:
        """Whether `reveal` steps open a result in this run."""
        table = self.values[result.value].rows
        return (result.by_tile and table is not None
                and self.counts[table] > self.plan.tables[table].tile * TILES_IN_FLIGHT)

    def _open(self, numbers: list[int], tensors: list[Tensor], tile: int) -> Call[None]:
        """Open the tensors of some results."""
        results = [self.plan.results[number] for number in numbers]
        opened = yield from self.protocol.open(
            [(tensor, self.values[result.value].domain.k, result.to)
             for result, tensor in zip(results, tensors)])
        self.opened.update(zip([(number, tile) for number in numbers], opened))

    def _reveal(self, run: TileRun, args: Fields) -> Call[None]:
        if self._by_tile(self.plan.results[args["result"]]):
            yield from self._open([args["result"]], [self._read(run, args["value"])], run.tile)

    def open_rest(self) -> Call[None]:
        """Open all results that no tile has opened, in their order."""
        left = [i for i, result in enumerate(self.plan.results) if not self._by_tile(result)]
        yield from self._open(left, [concat(self._tiles(self.kept, self.plan.results[i].value))
                                     for i in left], 0)

    def _tiles(self, found: dict[tuple[int, int], T], number: int) -> list[T]:
        """What was kept of all tiles, in their order."""
        return [found[key] for key in sorted(found) if key[0] == number]

    def results(self) -> list[list[int] | None]:
        """The stored numbers of each result; None where another party learns it."""
        found: list[list[int] | None] = []
        for i, result in enumerate(self.plan.results):
            value, tiles = self.values[result.value], self._tiles(self.opened, i)
            sign = value.signed << (value.domain.k or value.bits) - 1
            numbers = [(n ^ sign) - sign for tile in tiles if tile is not None for n in tile]
            found.append(None if None in tiles else numbers)
        return found


class Walk:
    """The schedule: which call begins and advances when."""

    def __init__(self, calls: Calls, flush: Callable[[], None]) -> None:
        self.calls, self.plan, self.flush = calls, calls.plan, flush
        self.makers = self.plan.makers()
        self.waiting = deque(run for i in range(len(self.plan.segments)) for run in self._runs(i))
        self.tiles = Counter(run.segment for run in self.waiting)
        self.flying: list[TileRun] = []
        self.running: list[tuple[TileRun, int, int, Call[None]]] = []
        # By walk (1 is the offline one), segment and step: tile runs.
        self.done: Counter[tuple[int, int, int]] = Counter()
        self.changed = True

    def _runs(self, number: int) -> list[TileRun]:
        """The tile runs of a segment."""
        rows, tile, table = 0, 1, self.plan.segments[number].rows
        if table is not None:
            rows, tile = self.calls.counts[table], self.plan.tables[table].tile

        def run(i: int, offline: bool = False) -> TileRun:
            status = [[WAITING, WAITING if step.carry else DONE]
                      for step in self.plan.segments[number].steps]
            ahead = run(i, True) if self.calls.ahead and not offline else None
            return TileRun(number, i, i * tile, min(rows - i * tile, tile), status,
                           ahead=ahead, offline=offline)
        return [run(i) for i in range(max(1, -(-rows // tile)))]

    def run(self) -> None:
        """All calls of the plan, then one Settle and one Open."""
        self._begin_all()
        while self.running:
            self.flush()                        # the end of a step round
            under_way, self.running = self.running, []
            for call in under_way:
                self._resume(*call)
            self._begin_all()
        for last in (self.calls.protocol.settle(), self.calls.open_rest()):
            for _ in last:
                self.flush()

    def _begin_all(self) -> None:
        """Begin what may begin, in order, until nothing changes."""
        while self.changed:
            self.changed = False
            while self.waiting and sum(run.rows > 0 for run in self.flying) < TILES_IN_FLIGHT:
                run = self.waiting[0]
                size = self.plan.segments[run.segment].refill
                if size and run.tile % size == 0:
                    if self.running:
                        break
                    tiles = range(run.tile, min(run.tile + size, self.tiles[run.segment]))
                    self.calls.protocol.refill([(run.segment, tile) for tile in tiles])
                self.flying.append(self.waiting.popleft())
            for run in self.flying:
                for number, step in enumerate(self.plan.segments[run.segment].steps):
                    self._begin_step(run, number, step)
            # The offline part of a step is done before the other one begins.
            flying = [run for run in self.flying if any(both != [DONE] * 2 for both in run.status)]
            self.changed |= len(flying) < len(self.flying)
            self.flying = flying

    def _begin_step(self, run: TileRun, number: int, step: Step) -> None:
        """Begin the parts of a step that may begin, those of the offline walk first."""
        for each in [run.ahead, run] if run.ahead else [run]:
            calls = self.calls.ahead if each.offline and self.calls.ahead else self.calls
            while (part := self._ready(each, number, step)) is not None:
                each.status[number][part] = RUNNING
                self._resume(each, number, part, calls.call(each, step, part))

    def _resume(self, run: TileRun, number: int, part: int, call: Call[None]) -> None:
        """Begin or advance a call, up to the end of its next flight or its own."""
        if hasattr(self.calls.protocol, "due"):
            self.calls.protocol.due.place = run.segment, run.tile, number, part
        for _ in call:
            self.running.append((run, number, part, call))
            return
        run.status[number][part] = DONE
        self.changed = True
        self.done[run.offline, run.segment, number] += run.status[number] == [DONE] * 2

    def _ready(self, run: TileRun, number: int, step: Step) -> int | None:
        """The part of a step that may begin now."""
        first, second = run.status[number]
        turn, part = self.done[run.offline, run.segment, number] == run.tile, None
        if first == WAITING:
            waits = step.name == "scan" and step.args["length"] == "rows" and not turn
            there = not waits and all(self._there(run, value) for value in step.reads)
            if there and (step.name != "settle" or self._may_settle(run, number)):
                part = 0
        elif first == DONE and second == WAITING and turn:
            part = 1
        return part if part is None or self._prepared(run, number, step, part) else None

    def _prepared(self, run: TileRun, number: int, step: Step, part: int) -> bool:
        """Whether the offline part is done, and before an input all of its tile is settled."""
        if run.ahead is None:
            return True
        steps = zip(self.plan.segments[run.segment].steps, run.ahead.status)
        return run.ahead.status[number][part] == DONE and (step.name != "input" or all(
            status[0] == DONE for each, status in steps if each.name == "settle"))

    def _may_settle(self, run: TileRun, number: int) -> bool:
        """Whether all that a settle may take is computed (chapter 19, Settlement)."""
        segment = self.plan.segments[run.segment]
        before = [(i, j) for i in range(run.segment) if segment.rows is None
                  for j in range(len(self.plan.segments[i].steps))]
        return (all(status[0] == DONE for status in run.status[:number])
                and all(self.done[run.offline, run.segment, i] >= run.tile for i, step in
                        enumerate(segment.steps) if step.carry or i == number)
                and all(self.done[run.offline, i, j] == self.tiles[i] for i, j in before))

    def _there(self, run: TileRun, value: int) -> bool:
        """Whether a tile run may read a value."""
        segment, step = self.makers[value]
        if segment == run.segment:
            return run.status[step][0] == DONE
        return self.done[run.offline, segment, step] == self.tiles[segment]
