"""Plans, tapes and inputs of a job (chapter 7): read, checked, refused outside the subset."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any

from errors import Fault, need
from primitives import blake3

Fields = dict[str, Any]
Inputs = dict[int, list[int]]                   # stored numbers of inputs, by number
Gate = tuple[int, int, int, int]                # a, b, out, number

# Fields of each step, and of what stands in them: others are of another version.
STEPS = {
    "input": "input out", "constant": "data out", "row-number": "out", "move": "operand out",
    "concat": "parts out", "tape": "tape lanes operands outs",
    "linear": "terms lanes carried out", "product": "left right lanes known_to out",
    "convert": "value out", "fold": "operand length lanes levels bits signed carry out to",
    "scan": "tape length init over captured carries outs", "reveal": "value result",
    "ring": "op bit of lanes out", "rearrange": "how rows operand out",
    "compare-exchange": "network tape rows length over captured outs", "settle": "",
    "cross": "rows length tape over across captured outs",
    "sort": "keys rows length over outs"}
SHAPES = [set(fields.split()) for fields in (
    "value lanes inner", "offset dims", "value first inner", "operand factor", "number", "table",
    "data lanes inner", "type shape numbers", "extract", "first count", "floor", "by", "roll",
    "head", "compact", "most", "value first inner levels bits signed carry",
    "operand descending")]
KINDS = ["plan", "rows", "tape", "value", "segment", "result"]      # of lines, in their order
SHARINGS = {"yao": ("yao-label", ""), "trio": ("replicated",) * 2, "clear": ("public", ""),
            "trio-malicious": ("replicated",) * 2,
            "gmw": ("xor", "additive"), "mixed": ("xor", "additive"),   # of bits, of integers
            "auth": ("yao-label", "")}
WITH_REFILLS = ("gmw", "mixed")                 # those with `auth` make correlations in refills
SETTLE = ("trio-malicious", "auth")
WITH_FORMS = ("gmw", "mixed", "trio-malicious")
PRIME_BITS = 61                                 # of an integer modulo 2^61 - 1
ON_SHARES = "linear", "product", "ring", "reveal"           # steps without values on labels
TILES_IN_FLIGHT = 4
TYPE = r"(?:bool|[iu]\d+(?:\.wrapping)?|u?fixed\d+\.(\d+))"
INPUT = re.compile(rf"input (\w+) : (\w+) {TYPE}(?:\[([^\]]+)\])? in (\S+)\.\.(\S+)(?: .*)?")


@dataclass
class Domain:
    """How a value is shared: as bits (`k` is None), or modulo 2^k, in `trio-malicious` 2^k - 1."""

    k: int | None
    bits: int
    signed: bool
    on_labels: bool = False                     # in `mixed`: bits on labels


@dataclass
class Tape:
    """A circuit over slots."""

    inputs: int
    slots: int
    depth: int
    xors: list[Gate]
    ands: list[Gate]
    batches: list[tuple[int, int]]              # XORs and ANDs up to its end
    outputs: list[int]
    known: bytes                                # for each AND 0, or 1 + who knows operand b

    def gates(self) -> Iterator[tuple[list[Gate], list[Gate]]]:
        """XORs and ANDs of each batch."""
        for (x, a), (xors_end, ands_end) in pairwise([(0, 0), *self.batches]):
            yield self.xors[x:xors_end], self.ands[a:ands_end]


@dataclass
class Rows:
    """A `rows` line: a table."""

    name: str
    bound: int
    sum: list[int]
    tile: int


@dataclass
class Value:
    """A `value` line."""

    rows: int | None
    elements: int
    bits: int
    signed: bool
    domain: Domain
    kept: bool

    def count(self, counts: list[int]) -> int:
        """All its elements, with the rows of each table."""
        return self.elements if self.rows is None else self.elements * counts[self.rows]


@dataclass
class Result:
    """A `result` line."""

    name: str
    value: int
    to: list[int]
    ty: str
    range: list[int]
    fixed: list[int]
    by_tile: bool


@dataclass
class Step:
    """A step, with the values that it reads and writes."""

    name: str
    args: Fields
    reads: list[int]
    writes: list[int]
    carry: bool                                 # whether it has a second part in each tile


@dataclass
class Segment:
    """Steps that run together, in tiles of a table or once."""

    rows: int | None
    refill: int | None                          # for how many tile runs at once, in `gmw`
    steps: list[Step] = field(default_factory=list)


@dataclass
class Plan:
    """A plan. Its tables, tapes, values and results are numbered from 0."""

    owners: list[int] = field(default_factory=list)
    tables: list[Rows] = field(default_factory=list)
    tapes: list[Tape] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)

    def makers(self) -> dict[int, tuple[int, int]]:
        """By value, the segment and the step that writes it."""
        return {value: (i, j) for i, segment in enumerate(self.segments)
                for j, step in enumerate(segment.steps) for value in step.writes}

    def shared_inputs(self) -> dict[int, Value]:
        """By input, a value that an `input` step makes of it."""
        return {step.args["input"]: self.values[step.args["out"]]
                for segment in self.segments for step in segment.steps if step.name == "input"}


# ----------------------------------------------------------------------------------- reading

OTHERS = {"rows": ("tables", Rows), "segment": ("segments", Segment), "result": ("results", Result)}


def first_plan(lines: list[Fields]) -> list[Fields]:
    """The lines of the plan with which a list begins."""
    return lines[:next((i for i, line in enumerate(lines) if i and line.keys() & {"plan", "party"}),
                       None)]


def all_plans(lines: list[Fields]) -> Iterator[list[Fields]]:
    """The lines of each plan of a list: forms of one run."""
    while lines:
        plan = first_plan(lines)
        lines = lines[len(plan):]
        yield plan


def read_plan(lines: list[Fields], protocol: str, folder: Path) -> Plan:
    """Read the lines of one plan, and the tapes that it names."""
    plan, kinds = Plan(), []
    try:
        for line in lines:
            (kind, args), = line.items()
            kinds.append(KINDS.index("segment" if kind == "step" else kind))
            _add(plan, kind, args, protocol, folder)
        need(_complete(plan), "a line names what the plan does not have", "own")
    except (AttributeError, KeyError, IndexError, TypeError, ValueError, struct.error) as error:
        raise Fault(f"the plan cannot be read: {error!r}", "own") from None
    need(not any(plan.values[result.value].domain.on_labels for result in plan.results),
         "a result on labels", "own")
    need(kinds == sorted(kinds) and kinds.count(0) == 1, "the order of lines of a plan", "own")
    need(protocol not in SETTLE or _settles(plan), "an opening before a settlement", "own")
    return plan


def _settles(plan: Plan) -> bool:
    """Whether each segment settles at its end, and nothing is opened before (chapter 19)."""
    names = [[step.name for step in segment.steps] for segment in plan.segments]
    return (all(of[-1:] == ["settle"] and of.count("settle") == 1 for of in names)
            and not any(result.by_tile for result in plan.results))


def _complete(plan: Plan) -> bool:
    """Whether all that lines name by their numbers is there, and all values are made."""
    steps = [step for segment in plan.segments for step in segment.steps]
    args = [step.args for step in steps]
    rows = [value.rows for value in plan.values] + [segment.rows for segment in plan.segments]
    read = [value for step in steps for value in step.reads] + [x.value for x in plan.results]
    named: list[tuple[list[Any], list[int]]] = [
        (plan.owners, [of["input"] for of in args if "input" in of]),
        (plan.tables, [number for number in rows if number is not None]),
        (plan.tapes, [tape for of in args for tape in (
            *of.get("levels", []), of.get("tape"), of.get("carry")) if tape is not None]),
        (plan.tapes, [tape for of in args if "across" in of for out in of["outs"]
                      for tape in (*out["levels"], out["carry"])]),
        (plan.tables, [of["rows"] for of in args if of.get("rows") is not None]),
        (plan.values, [value for step in steps for value in step.writes]),
        (plan.results, [of["result"] for of in args if "result" in of])]
    return (all(0 <= number < len(there) for there, numbers in named for number in numbers)
            and set(read) <= set(plan.makers()))


def _add(plan: Plan, kind: str, args: Any, protocol: str, folder: Path) -> None:
    """Add one line to a plan."""
    if kind == "plan":
        plan.owners = args.pop("owners")
        found = {name: value for name, value in args.items() if name != "setting"}
        wide = protocol in WITH_REFILLS and found["lookups"] == "wide"
        need(found == {"version": 3, "protocol": protocol, "lookups": "wide" if wide else "gates",
                       "flow": 1, "tiles_in_flight": TILES_IN_FLIGHT}, f"a plan of {found}", "own")
    elif kind == "tape":
        plan.tapes.append(read_tape((folder / "tapes" / args["hash"]).read_bytes(), args))
    elif kind == "value":
        on_labels = protocol == "mixed" and args["domain"]["sharing"] == "yao-label"
        k = _modulus(args["domain"], "yao" if on_labels else protocol)
        domain = Domain(k, args["bits"], args["signed"], on_labels)
        plan.values.append(Value(**args | {"domain": domain}))
    elif kind in OTHERS:
        into, make = OTHERS[kind]
        getattr(plan, into).append(make(**args))
        refill = args.get("refill")
        need(refill is None or (protocol in (*WITH_REFILLS, "auth") and refill > 0),
             "a segment with a refill", "own")
        need(re.fullmatch(TYPE, args.get("ty", "bool")) is not None, "a result's type", "own")
    else:
        step = _step(*args.popitem()) if isinstance(args, dict) else _step(args, {})
        domains = [plan.values[value].domain for value in step.reads + step.writes]
        labels = [domain.on_labels for domain in domains]
        need(step.name == "convert" or (all(labels) and step.name not in ON_SHARES)
             or not any(labels), "a step with a value on labels", "own")
        need(step.name != "settle" or protocol in SETTLE, "a step that settles", "own")
        need(step.name != "sort" or protocol == "trio-malicious", "a sort", "own")
        if step.name == "convert":
            old, new = domains
            need((new.k is not None or old.on_labels != new.on_labels) if old.k is None
                 else (new.k or new.bits) <= old.k, "a conversion that no protocol has", "own")
            need(protocol != "trio-malicious" or (old.k != new.k and old.bits < PRIME_BITS),
                 "a conversion of wide integers", "own")
        if protocol == "trio-malicious":
            need(step.name != "input" or domains[0].k is None, "an input of integers", "own")
        if step.name == "ring":
            op, has_bit = step.args["op"], step.args["bit"] is not None
            need(protocol in WITH_REFILLS and (op == "select") == has_bit
                 and (has_bit or set(op) in ({"extract"}, {"floor"})), "a step of a ring", "own")
        plan.segments[-1].steps.append(step)


def _modulus(domain: Fields, protocol: str) -> int | None:
    """The `k` of a domain, or None if it is one of bits."""
    if prime := protocol == "trio-malicious":
        need(domain["algebra"] in ("z2", "fp"), "integers modulo 2^k", "own")
    need(prime or domain["algebra"] == "z2" or isinstance(domain["algebra"], dict),
         "integers of a field", "own")
    k = (None if domain["algebra"] == "z2" else PRIME_BITS if prime else domain["algebra"]["z2k"])
    sharing = SHARINGS[protocol][k is not None]
    wanted = {"sharing": sharing, "authenticated": protocol == "auth",
              "algebra": "z2" if k is None else "fp" if prime else {"z2k": k}}
    need(domain == wanted and (k is None or (sharing != "" and 1 <= k <= 64)),
         f"domain {domain}", "own")
    return k


def _step(name: str, args: Fields) -> Step:
    """A step, with the values that it reads (chapter 8, When a call begins) and writes."""
    need(name in STEPS, f"step {name} is outside the subset", "own")
    if name == "fold":
        args = {"to": 1, **args}
    need(args.get("to", 1) > 0 and set(args) == set(STEPS[name].split())
         and _known(list(args.values())), f"step {name} has other fields", "own")
    operands = [args[key] for key in ("operand", "left", "right", "of", "bit") if args.get(key)]
    operands += [part for key in ("operands", "parts", "over", "across")
                 for part in args.get(key, [])]
    operands += [term["operand"] for term in args.get("terms", [])]
    reads = [args["value"]] if "value" in args else args.get("init", []) + args.get("captured", [])
    writes = [out if isinstance(out, int) else out["value"] for out in args.get("outs", [])]
    writes += args.get("carries", [])
    over_rows = name == "fold" and args["length"] == "rows"
    return Step(name, args, reads + [part["value"] for part in operands],
                writes + [args["out"]] if "out" in args else writes,
                over_rows or args.get("carried") is True)


def _known(part: Any) -> bool:
    """Whether all objects within a step have fields of this version."""
    if isinstance(part, dict):
        return set(part) in SHAPES and _known(list(part.values()))
    return not isinstance(part, list) or all(map(_known, part))


def read_tape(data: bytes, line: Fields) -> Tape:
    """Read a tape, and check it against its line."""
    inputs, slots, depth, x, a, b, outputs, functions, uses = struct.unpack_from("<9I", data)
    need(line == {"inputs": inputs, "outputs": outputs, "xors": x, "ands": a, "depth": depth,
                  "functions": uses, "hash": blake3(data).hex()},
         "a tape differs from its line", "own")
    ends, last = 4 * (x + a), 4 * (x + a) + 2 * b
    need(functions == uses == 0 and len(data) == 36 + 4 * (last + outputs) + x + a,
         "a tape with functions, or of another length", "own")
    words = struct.unpack_from(f"<{last + outputs}I", data, 36)
    gates = [words[i:i + 4] for i in range(0, ends, 4)]
    tape = Tape(inputs, slots, depth, gates[:x], gates[x:],
                [words[i:i + 2] for i in range(ends, last, 2)], list(words[last:]),
                data[len(data) - a:])
    _check_tape(tape)
    return tape


def _check_tape(tape: Tape) -> None:
    """Check slots, numbers of gates, and batches."""
    need(all(max(gate[:3]) < tape.slots and gate[2] > 1 for gate in tape.xors + tape.ands)
         and max([tape.inputs + 1, *tape.outputs]) < tape.slots, "slots of a tape", "own")
    for column, gates in enumerate((tape.xors, tape.ands)):
        ends = [0, *(batch[column] for batch in tape.batches)]
        need(ends == sorted(ends) and ends[-1] == len(gates), "batches of a tape", "own")
        need(sorted(gate[3] for gate in gates) == [*range(len(gates))], "numbers of gates", "own")


# ---------------------------------------------------------------------------- program inputs


@dataclass
class ProgramInput:
    """An `input` line of the program; numbers are stored numbers."""

    name: str
    owner: str
    table: str | None
    elements: int                               # of each row, if it has a table
    low: int
    high: int


def read_inputs(program: list[str]) -> list[ProgramInput]:
    """Read the inputs of the program text."""
    lines = [line for line in program[:program.index("main {")] if line.startswith("input ")]
    matches = [INPUT.fullmatch(line) for line in lines]
    need(None not in matches, "an input of another type", "own")
    return [_input(*match.groups()) for match in matches if match is not None]


def _input(name: str, owner: str, point: str | None, dims: str | None, low: str, high: str
           ) -> ProgramInput:
    """The input of one line."""
    lengths = dims.split(", ") if dims else []
    table = lengths.pop(0) if lengths and not lengths[0].isdigit() else None
    bounds = [int(Fraction(value) * 2**int(point or 0)) for value in (low, high)]
    return ProgramInput(name, owner, table, prod(map(int, lengths)), *bounds)
