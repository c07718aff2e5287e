"""Cases of specifications, and the specifications of circuits on integers.

A specification is a function from words of input literals to cases. A case lists literals that are
true in it, and the outputs that the circuit has to have then.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from proof_words import FALSE, TRUE, Net, Word

# In place of an output that may be anything.
ANY = 0


@dataclass(frozen=True)
class Case:
    """Some of the operands, and the outputs for them."""

    given: Word
    outputs: Word


Cases = Callable[..., Iterator[Case]]


@dataclass(frozen=True)
class Target:
    """A circuit and its specification."""

    name: str
    arguments: list[str]
    cases: Cases
    quick: bool = False
    slow: bool = False
    changes: int = 3


def add(net: Net, x: Word, y: Word) -> Iterator[Case]:
    """The sum with its carry."""
    yield Case([], net.add(x, y))


def sub(net: Net, x: Word, y: Word) -> Iterator[Case]:
    """The difference, with its sign as the highest bit."""
    difference = net.add(x, [-bit for bit in y], TRUE)
    yield Case([], [*difference[:-1], -difference[-1]])


def flipped(x: Word) -> Word:
    """A signed word as an unsigned one in the same order."""
    return [*x[:-1], -x[-1]]


def order(less: Callable[[Net, Word, Word], int]) -> Cases:
    """A truth value of two words."""

    def cases(net: Net, x: Word, y: Word) -> Iterator[Case]:
        yield Case([], [less(net, x, y)])

    return cases


def smaller(net: Net, x: Word, y: Word) -> Iterator[Case]:
    """The smaller of signed words."""
    yield Case([], net.select(net.less(flipped(x), flipped(y)), x, y))


def larger(net: Net, x: Word, y: Word) -> Iterator[Case]:
    """The larger of unsigned words."""
    yield Case([], net.select(net.less(x, y), y, x))


def multiplexer(net: Net, x: Word, y: Word, condition: Word) -> Iterator[Case]:
    """One of two words."""
    yield Case([], net.select(condition[0], x, y))


def shift(move: Callable[[Word, int], Word]) -> Cases:
    """A shift by each amount in turn."""

    def cases(net: Net, x: Word, amount: Word) -> Iterator[Case]:
        for places in range(1 << len(amount)):
            yield Case(net.is_constant(amount, places), move(x, places))

    return cases


def left(x: Word, places: int) -> Word:
    """A word times a power of two."""
    return ([FALSE] * places + x)[: len(x)]


def right(fill: Callable[[Word], int]) -> Callable[[Word, int], Word]:
    """A word divided by a power of two, rounded down."""

    def move(x: Word, places: int) -> Word:
        return (x[places:] + [fill(x)] * places)[: len(x)]

    return move
