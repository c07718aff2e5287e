"""The adder of three words modulo 2^n, by which `trio` turns integers into bits (chapter 12)."""

from __future__ import annotations

from dataclasses import dataclass

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


def join(a: Carry, b: Carry) -> Carry:
    """The carry of two neighbouring ranges of bits, the lower one first."""
    return a[0] & b[0], (b[0] & (a[1] ^ b[1])) ^ b[1]


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


def adder_tape(n: int) -> Tape:
    """The adder of n bits as a tape: batches by level, gates without an effect left out."""
    wires: list[Wire] = []
    wires += [Wire(wires, slot) for slot in range(2 + 3 * n)]
    outputs = adder(n, wires[2:2 + n], wires[2 + n:2 + 2 * n], wires[2 + 2 * n:])
    used = {wire.slot for wire in outputs}
    for wire in reversed(wires):
        used.update(wire.operands if wire.slot in used else ())
    gates = [wire for wire in wires if wire.operands and wire.slot in used]
    depth = max(wire.level for wire in outputs)
    tape = Tape(3 * n, len(wires), depth, [], [], [], [wire.slot for wire in outputs],
                bytes(sum(wire.is_and for wire in gates)))
    for level in range(depth + 1):              # XORs of a level read what its ANDs wrote
        tape.xors += [wire.gate for wire in gates if not wire.is_and and wire.level == level]
        tape.ands += [wire.gate for wire in gates if wire.is_and and wire.level == level + 1]
        tape.batches.append((len(tape.xors), len(tape.ands)))
    return tape
