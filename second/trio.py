"""The protocol `trio`: three roles with replicated shares (chapter 12)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from adder import adder_tape
from errors import need
from link import Mesh
from plan import Domain, Gate, Tape
from streams import Bulk, Coins, expand_secret
from tensors import Call, Factor, Opening, Tensor, decode, encode, flatten

BITS, INTEGERS = "trio: zero shares of bits", "trio: zero shares of integers"
INPUTS = "trio: components of inputs"
PARITIES, PARITY_DIGITS = b"\0\1" * 128, b"01" * 128           # of all bytes, also of digits
Share = tuple[int, int]                         # of one element: the own component, the next one


def pack(numbers: Sequence[int], width: int) -> int:
    """Join numbers of `width` bits, the first one lowest."""
    if width == 1:
        return int(bytes(numbers[::-1]).translate(PARITY_DIGITS) or b"0", 2)
    return int("".join(format(number, f"0{width}b") for number in reversed(numbers)) or "0", 2)


def unpack(joined: int, count: int, width: int) -> list[int]:
    """Cut a number into `count` numbers of `width` bits."""
    digits = format(joined, f"0{count * width}b")
    if width == 1 and count:
        return [*digits[::-1].encode().translate(PARITIES)]
    return [int(digits[end - width:end], 2) for end in range(count * width, 0, -width)]


def regroup(numbers: Sequence[int], old: int, new: int) -> list[int]:
    """Join numbers of `old` bits and cut them into numbers of `new` bits: lanes from bits."""
    return unpack(pack(numbers, old), len(numbers) * old // new, new)


def message_of(numbers: Sequence[int], width: int) -> bytes:
    """Numbers of `width` bits without gaps."""
    return pack(numbers, width).to_bytes((len(numbers) * width + 7) // 8, "little")


def read_numbers(mesh: Mesh, peer: int, count: int, width: int, bulk: bool = False) -> list[int]:
    """Read a message of numbers of `width` bits."""
    data = mesh.read(peer, (count * width + 7) // 8, bulk)
    joined = int.from_bytes(data, "little")
    need(joined >> count * width == 0,
         f"party {peer}: bits after the end of a message are not zero", "protocol-broken")
    return unpack(joined, count, width)


@dataclass(frozen=True)
class Form:
    """The form of a tensor; a component of it is one list, plane after plane.

    A bit (k is None) is an integer modulo 2, so XOR is its sum: bits differ in draws alone.
    """

    planes: int
    elements: int
    k: int | None

    @property
    def width(self) -> int:
        """Bits of an element in a plane."""
        return 1 if self.k is None else self.k

    def reduced(self, numbers: Iterable[int]) -> list[int]:
        """A component of numbers that are too large, or below 0."""
        mask = (1 << self.width) - 1
        return [number & mask for number in numbers]

    def draw(self, stream: Bulk) -> list[int]:
        """Draw a component."""
        if self.k is None:
            return regroup(stream.draw_rows(self.planes, self.elements), self.elements, 1)
        return stream.draw_rows(self.planes * self.elements, self.k)

    def message(self, component: list[int]) -> bytes:
        """The bits of a component without gaps."""
        return message_of(component, self.width)


class Trio:
    """One role of a run; its methods are those of every protocol."""

    def __init__(self, mesh: Mesh, coins: Coins, session: bytes, setting: dict[str, Any]) -> None:
        self.mesh, self.coins, self.session = mesh, coins, session
        self.parties = [members[0] for members in setting["roles"]]
        self.role = self.parties.index(mesh.me)
        self.before, self.after = (self.parties[(self.role + step) % 3] for step in (2, 1))
        self.zero: Share = (0, 0)
        self.streams: dict[str, list[Bulk]] = {}            # of the own key, of the next one

    def set_up(self) -> None:
        """Send the own key, and read the next one."""
        own = self.coins.secret("trio: key").read(32)
        self.mesh.write(self.before, own)
        self.mesh.flush()
        keys = own, self.mesh.read(self.after, 32)
        self.streams = {label: [Bulk(expand_secret(key, self.session, label)) for key in keys]
                        for label in (BITS, INTEGERS, INPUTS)}

    def _read(self, peer: int, form: Form, bulk: bool) -> list[int]:
        """Read a component that another role has sent."""
        return read_numbers(self.mesh, peer, form.planes * form.elements, form.width, bulk)

    # ---- sharings

    def _alone(self, value: int, component: int) -> Share:
        """A share of a value that is in one component, with zeros as the others."""
        return (value if component == self.role else 0,
                value if component == (self.role + 1) % 3 else 0)

    def constant(self, numbers: list[int], bits: int, k: int | None) -> Tensor:
        """Share numbers that all parties know."""
        return Tensor([[self._alone(number, 0) for number in plane]
                       for plane in encode(numbers, bits, k).planes])

    def input(self, owner: int, numbers: list[int] | None, elements: int, bits: int,
              k: int | None) -> Call[Tensor]:
        """Share the numbers of one party."""
        form = Form(bits if k is None else 1, elements, k)
        values = flatten(encode(numbers or [], bits, k).planes)
        shares = yield from self._deal(form, self.parties.index(owner), values, False)
        return Tensor.of(shares, elements)

    def _deal(self, form: Form, dealer: int, values: list[int], bulk: bool) -> Call[list[Share]]:
        """Share values that the role `dealer` knows."""
        turn = (self.role - dealer) % 3
        own = following = [0] * (form.planes * form.elements)
        if turn == 0:
            following = form.draw(self.streams[INPUTS][1])
            own = form.reduced(x - y for x, y in zip(values, following))
            self.mesh.write(self.before, form.message(own), bulk)
        elif turn == 1:
            own = form.draw(self.streams[INPUTS][0])
        yield
        if turn == 2:
            following = self._read(self.after, form, bulk)
        return list(zip(own, following))

    def _zeros(self, form: Form) -> list[list[int]]:
        """Draw both parts of a share of zero."""
        return [form.draw(stream) for stream in self.streams[BITS if form.k is None else INTEGERS]]

    def _reshare(self, form: Form, summands: list[int], zeros: list[list[int]] | None = None
                 ) -> Call[list[Share]]:
        """Share the sums of what each role has."""
        f, g = zeros or self._zeros(form)
        own = form.reduced(x + y - z for x, y, z in zip(summands, f, g))
        self.mesh.write(self.before, form.message(own), bulk=True)
        yield
        return list(zip(own, self._read(self.after, form, True)))

    # ---- steps

    def linear(self, terms: list[tuple[Share, int]], k: int) -> Share:
        """Sum of shares times factors."""
        own, following = (sum(share[i] * factor for share, factor in terms) for i in (0, 1))
        return own & (1 << k) - 1, following & (1 << k) - 1

    def product(self, left: Tensor, right: Tensor, k: int, factors: Sequence[Factor] = ()
                ) -> Call[Tensor]:
        """Inner products over planes."""
        sums = [sum(x[0] * (y[0] + y[1]) + x[1] * y[0] for x, y in zip(*element))
                for element in zip(zip(*left.planes), zip(*right.planes))]
        form = Form(1, len(sums), k)
        return Tensor.of((yield from self._reshare(form, sums)), len(sums))

    def tape(self, tape: Tape, inputs: list[list[Share]], lanes: int) -> Call[list[list[Share]]]:
        """Run a circuit on all lanes; slots have a bit for each lane, in both components."""
        ones, free = self._alone((1 << lanes) - 1, 0), [0] * (tape.slots - 2 - len(inputs))
        own, following = (
            [0, ones[i], *regroup([share[i] for share in flatten(inputs)], 1, lanes), *free]
            for i in (0, 1))
        for xors, ands in tape.gates():
            for a, b, out, _ in xors:
                own[out], following[out] = own[a] ^ own[b], following[a] ^ following[b]
            if ands:
                shared = yield from self._ands(ands, own, following, lanes)
                rows = [regroup(component, 1, lanes) for component in zip(*shared)]
                for (_, _, out, _), x, y in zip(ands, *rows):
                    own[out], following[out] = x, y
        bits = (regroup([slots[i] for i in tape.outputs], lanes, 1) for slots in (own, following))
        return Tensor.of(list(zip(*bits)), lanes).planes

    def _ands(self, ands: list[Gate], own: list[int], following: list[int], lanes: int,
              zeros: list[list[int]] | None = None) -> Call[list[Share]]:
        """The ANDs of a batch: bits plane after plane."""
        summands = [own[a] & (own[b] ^ following[b]) ^ following[a] & own[b] for a, b, _, _ in ands]
        form = Form(len(ands), lanes, None)
        return (yield from self._reshare(form, regroup(summands, lanes, 1), zeros))

    # ---- conversions

    def convert(self, value: Tensor, old: Domain, new: Domain) -> Call[Tensor]:
        """Share the same numbers in another domain."""
        if old.k is None and new.k is not None:
            return (yield from self._to_integers(value.planes[:new.k], old, new.k))
        if new.k is None:
            return (yield from self._to_bits(value, new.bits))
        return Tensor([[self.linear([(share, 1)], new.k) for share in value.planes[0]]])

    def _to_integers(self, planes: list[list[Share]], old: Domain, k: int) -> Call[Tensor]:
        """Role 0 knows c = b_0 ^ b_1, the others d = b_2; the sum of both is c + d - 2 c d."""
        bits, elements, n = flatten(planes), len(planes[0]), len(planes)
        weights = [-1 << p if old.signed and p == old.bits - 1 else 1 << p for p in range(n)]
        dealt = yield from self._deal(Form(n, elements, k), 0, [x ^ y for x, y in bits], True)
        # d takes the place of component 2 of c, a zero: next of role 1, own of role 2.
        pairs = [(b[0] if self.role == 2 else c[0], b[1] if self.role == 1 else c[1])
                 for b, c in zip(bits, dealt)]
        factor, form = (-2 if self.role else 0), Form(1, elements, k)
        shared = yield from self._reshare(form, [
            factor * sum(x * y * w for (x, y), w in zip(pairs[i::elements], weights))
            for i in range(elements)])
        return Tensor([[self.linear([(shared[i], 1), *zip(pairs[i::elements], weights)], k)
                        for i in range(elements)]])

    def _to_bits(self, value: Tensor, n: int) -> Call[Tensor]:
        """Share each component by itself, and add the three words."""
        words = [[(x >> p & own, y >> p & following) for x, y in value.planes[0]]
                 for own, following in (self._alone(1, component) for component in range(3))
                 for p in range(n)]
        return Tensor((yield from self.tape(adder_tape(n), words, len(value.planes[0]))))

    # ---- results

    def settle(self) -> Call[None]:
        """Compare digests with every peer (chapter 4)."""
        return self.mesh.settle()

    def open(self, values: list[Opening]) -> Call[list[list[int] | None]]:
        """Give each receiver the component that it lacks."""
        forms = [Form(len(value.planes), len(value.planes[0]), k) for value, k, _ in values]
        for form, (value, _, receivers) in zip(forms, values):
            if self.after in receivers:
                own = [share[0] for share in flatten(value.planes)]
                self.mesh.write(self.after, form.message(own))
        yield
        return [self._opened(form, value) if self.mesh.me in receivers else None
                for form, (value, _, receivers) in zip(forms, values)]

    def _opened(self, form: Form, value: Tensor) -> list[int]:
        """The numbers of a value, with the component that this role lacks."""
        missing = self._read(self.before, form, False)
        numbers = (sum(share) + x for share, x in zip(flatten(value.planes), missing))
        return decode(Tensor.of(form.reduced(numbers), form.elements), form.k)
