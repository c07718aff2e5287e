"""Gates over literals, and obvious words made of them, for `tools/prove.py`.

A literal is a variable of a formula or its negative. Variable 1 is always false. Words are lists of
literals, the lowest bit first.
"""

from collections.abc import Iterable, Sequence

FALSE = 1
TRUE = -FALSE

Word = list[int]


class Net:
    """A formula: gates, each with a variable of its own."""

    def __init__(self) -> None:
        """Starts with the constant alone."""
        self.variables = 1
        # By their variables, which rise.
        self.made: dict[int, tuple[str, int, int, int]] = {}

    def variable(self) -> int:
        """A variable that nothing constrains."""
        self.variables += 1
        return self.variables

    def gate(self, kind: str, a: int, b: int) -> int:
        """A gate of a kind."""
        out = self.variable()
        self.made[out] = (kind, out, a, b)
        return out

    def raw_and(self, a: int, b: int) -> int:
        """A gate as it stands, also where it could be simpler."""
        return self.gate("and", a, b)

    def raw_xor(self, a: int, b: int) -> int:
        """A gate as it stands."""
        return self.gate("xor", a, b)

    def both(self, a: int, b: int) -> int:
        """And."""
        if FALSE in (a, b) or a == -b:
            return FALSE
        if a in (TRUE, b):
            return b
        return a if b == TRUE else self.raw_and(a, b)

    def xor(self, a: int, b: int) -> int:
        """Exclusive or."""
        if a in (FALSE, TRUE):
            return b if a == FALSE else -b
        if b in (FALSE, TRUE):
            return a if b == FALSE else -a
        if a in (b, -b):
            return FALSE if a == b else TRUE
        return self.raw_xor(a, b)

    def either(self, a: int, b: int) -> int:
        """Or."""
        return -self.both(-a, -b)

    def choose(self, condition: int, yes: int, no: int) -> int:
        """`yes` or `no`, as a condition says."""
        return self.either(self.both(condition, yes), self.both(-condition, no))

    def all(self, bits: Sequence[int]) -> int:
        """And of all."""
        result = TRUE
        for bit in bits:
            result = self.both(result, bit)
        return result

    def any(self, bits: Sequence[int]) -> int:
        """Or of all."""
        return -self.all([-bit for bit in bits])

    def select(self, condition: int, yes: Word, no: Word) -> Word:
        """One of two words."""
        return [self.choose(condition, y, n) for y, n in zip(yes, no, strict=True)]

    def add(self, x: Word, y: Word, carry: int = FALSE) -> Word:
        """The sum of words of one width, one bit wider, by full adders from the lowest bit on."""
        result = []
        for a, b in zip(x, y, strict=True):
            half = self.xor(a, b)
            result.append(self.xor(half, carry))
            carry = self.either(self.both(a, b), self.both(half, carry))
        return [*result, carry]

    def increment(self, x: Word, by: int) -> Word:
        """A word and a bit, as wide as the word."""
        return self.add(x, constant(0, len(x)), by)[: len(x)]

    def negate(self, x: Word) -> Word:
        """The opposite modulo a power of two."""
        return self.increment([-bit for bit in x], TRUE)

    def less(self, x: Word, y: Word) -> int:
        """The order of unsigned words, by their highest bit that differs."""
        result = FALSE
        for a, b in zip(x, y, strict=True):
            result = self.choose(self.xor(a, b), b, result)
        return result

    def equal(self, x: Word, y: Word) -> int:
        """Equality of words."""
        return self.all([-self.xor(a, b) for a, b in zip(x, y, strict=True)])

    def is_constant(self, x: Word, number: int) -> Word:
        """Literals that are all true if a word is a number."""
        return [a if number >> i & 1 else -a for i, a in enumerate(x)]

    def clauses(self, roots: Iterable[int]) -> list[list[int]]:
        """The clauses (Tseitin, 1968) of all gates that literals depend on."""
        needed: set[int] = set()
        left = [abs(root) for root in roots]
        while left:
            gate = self.made.get(left.pop())
            if gate is not None and gate[1] not in needed:
                needed.add(gate[1])
                left += [abs(gate[2]), abs(gate[3])]
        result = [[-FALSE]]
        for number in sorted(needed, reverse=True):
            kind, out, a, b = self.made[number]
            if kind == "and":
                result += [[-out, a], [-out, b], [out, -a, -b]]
            else:
                result += [[-out, a, b], [-out, -a, -b], [out, -a, b], [out, a, -b]]
        return result

    def evaluate(self, inputs: dict[int, bool]) -> dict[int, bool]:
        """The values of all literals for values of the inputs."""
        values = {FALSE: False, TRUE: True}
        for variable, value in inputs.items():
            values |= {variable: value, -variable: not value}
        for kind, out, a, b in self.made.values():
            x, y = values[a], values[b]
            value = x and y if kind == "and" else x != y
            values |= {out: value, -out: not value}
        return values


def constant(number: int, width: int) -> Word:
    """A number as a word."""
    return [TRUE if number >> i & 1 else FALSE for i in range(width)]
