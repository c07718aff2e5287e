"""Circuits that are in no file: sums of shares, by which integers become bits.

`trio` adds three words (chapter 12, Conversions), `gmw` two (chapter 15, Carries of shares), and
`mixed` two on labels (chapter 16, Integers to labels).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from plan import Tape


@dataclass(eq=False)
class Wire:
    """A wire of a circuit under way, and the gate that writes it: `^` and `&` add a gate."""

    wires: list[Wire]                           # all of the circuit, by slot
    slot: int
    level: int = 0                              # ANDs on the longest way to it
    is_and: bool = False
    operands: tuple[int, ...] = ()              # slots; none for an input

    @property
    def gate(self) -> tuple[int, int, int, int]:
        """The gate that writes it."""
        return self.operands[0], self.operands[1], self.slot, self.slot

    def __xor__(self, other: Wire) -> Wire:
        return other if self is ZERO else self if other is ZERO else self._gate(other, False)

    def __and__(self, other: Wire) -> Wire:
        return ZERO if ZERO in (self, other) else self._gate(other, True)

    def _gate(self, other: Wire, is_and: bool) -> Wire:
        level = max(self.level, other.level) + is_and
        self.wires.append(Wire(self.wires, len(self.wires), level, is_and, (self.slot, other.slot)))
        return self.wires[-1]


ZERO = Wire([], 0)
Carry = tuple[Wire, Wire]                       # whether a carry passes; the carry if not


def adder(n: int, x: list[Wire], y: list[Wire], z: list[Wire]) -> list[Wire]:
    """Add three words: three into two without carries, then the carries as prefixes."""
    s = [x[i] ^ y[i] ^ z[i] for i in range(n)]
    c = [ZERO] + [((x[i] ^ z[i]) & (x[i] ^ y[i])) ^ x[i] for i in range(n - 1)]
    g = prefixes([(ZERO, ZERO)] + [(s[i] ^ c[i], s[i]) for i in range(1, n - 1)], 0)
    return [s[0]] + [s[i] ^ c[i] ^ g[i - 1][1] for i in range(1, n)]


def both(v: Wire, w: Wire) -> Wire:
    """An AND whose operand `a` is the younger wire: which one it is matters to `gmw` alone."""
    return v & w if v.slot > w.slot else w & v


def join(a: Carry, b: Carry) -> Carry:
    """The carry of two neighbouring ranges of bits, the lower one first."""
    return both(a[0], b[0]), both(b[0], a[1] ^ b[1]) ^ b[1]


def up(m: int) -> int:
    """The least e with 2^e >= m."""
    return (m - 1).bit_length()


def prefixes(v: list[Carry], slack: int) -> list[Carry]:
    """Join each beginning of a list; more slack takes more levels and fewer gates."""
    m = len(v)
    if m < 2:
        return v
    if slack == 0:
        h = 2 ** (up(m) - 1)
        low = prefixes(v[:h], 1)
        high = prefixes(v[h:], up(h) - up(m - h))
        return low + [join(low[h - 1], e) for e in high]
    p = [join(v[i], v[i + 1]) if i + 1 < m else v[i] for i in range(0, m, 2)]
    p = prefixes(p, slack - 1)
    return [v[0] if i == 0 else p[i // 2] if i % 2 == 1 or i == m - 1
            else join(p[i // 2 - 1], v[i]) for i in range(m)]


def carries(p: list[Wire], x: list[Wire]) -> list[Wire]:
    """The carries into all bits, and out of the last one, of sums whose XORs are `p`."""
    return [c for _, c in prefixes([(ZERO, ZERO), *zip(p, x)], 0)]


def bits(x: list[Wire], y: list[Wire], first: int) -> list[Wire]:
    """The bits of a sum, from `first` on."""
    s = [a ^ b for a, b in zip(x, y)]
    c = carries(s[:-1], x)
    return [s[i] ^ c[i] for i in range(first, len(x))]


def long(x: list[Wire], y: list[Wire], s: int) -> list[Wire]:
    """The carry into bit `s` of a sum, and that out of its last bit."""
    c = carries([a ^ b for a, b in zip(x, y)], x)
    return [c[s], c[-1]]


def short(x: list[Wire], y: list[Wire], one: Wire) -> list[Wire]:
    """The carry out of all bits of a sum but the last one, and the OR of these last bits."""
    c = carries([a ^ b for a, b in zip(x[:-1], y)], x)
    no = y[-1] ^ one, x[-1] ^ one
    return [c[-1], (no[0] & no[1]) ^ one]


def size(x: list[Wire], y: list[Wire]) -> list[Wire]:
    """The bits of a sum of two words, with the fewest ANDs."""
    out, c = [x[0] ^ y[0]], x[0] & y[0]
    for a, b in zip(x[1:], y[1:]):
        s = a ^ b
        out.append(s ^ c)
        c = (s & (c ^ a)) ^ a
    return out


def tape_of(inputs: int, build: Callable[[list[Wire]], list[Wire]]) -> Tape:
    """A circuit as a tape: batches by level, gates without an effect left out.

    `build` makes outputs of the constant 1 and the inputs.
    """
    wires: list[Wire] = []
    wires += [Wire(wires, slot) for slot in range(2 + inputs)]
    outputs = build(wires[1:])
    used = {wire.slot for wire in outputs}
    for wire in reversed(wires):
        used.update(wire.operands if wire.slot in used else ())
    gates = [wire for wire in wires if wire.operands and wire.slot in used]
    depth = max(wire.level for wire in outputs)
    tape = Tape(inputs, len(wires), depth, [], [], [], [wire.slot for wire in outputs],
                bytes(sum(wire.is_and for wire in gates)))
    for level in range(depth + 1):              # XORs of a level read what its ANDs wrote
        tape.xors += [wire.gate for wire in gates if not wire.is_and and wire.level == level]
        tape.ands += [wire.gate for wire in gates if wire.is_and and wire.level == level + 1]
        tape.batches.append((len(tape.xors), len(tape.ands)))
    return tape


@cache
def adder_tape(n: int) -> Tape:
    """The adder of three words of n bits."""
    return tape_of(3 * n, lambda w: adder(n, w[1:1 + n], w[1 + n:1 + 2 * n], w[1 + 2 * n:]))


@cache
def bits_tape(first: int, count: int) -> Tape:
    """Bits of the sum of two words."""
    n = first + count
    return tape_of(2 * n, lambda w: bits(w[1:1 + n], w[1 + n:], first))


@cache
def size_tape(n: int) -> Tape:
    """The sum of two words on labels; of the first AND the evaluator knows operand `b`."""
    tape = tape_of(2 * n, lambda w: size(w[1:1 + n], w[1 + n:]))
    tape.ands = [(a, b, out, i) for i, (a, b, out, _) in enumerate(tape.ands)]
    tape.known = b"\xff"[:len(tape.ands)] + tape.known[1:]
    return tape


@cache
def floor_tape(by: int, k: int, is_short: bool) -> Tape:
    """What a `floor` of integers modulo 2^k takes: `short`, or `long`."""
    n = by + 1 if is_short else k
    return tape_of(2 * n, lambda w: short(w[1:1 + n], w[1 + n:], w[0]) if is_short else
                   long(w[1:1 + n], w[1 + n:], by))
