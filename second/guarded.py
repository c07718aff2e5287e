"""The protocol `trio-malicious`: roles prove what they sent, and confirm results (chapter 19)."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import reduce
from operator import xor
from typing import Any

from errors import need
from integers import Modular, WithIntegers, modular_tape, read_component
from link import Mesh
from plan import PRIME_BITS, Domain, Gate, Plan, Tape
from primitives import H
from proof import Argument, halves_of, name_of, seed_of
from sorts import MASKS, ORDERS, Key, flights, sort
from statements import BEFORE, NEXT, Due, Segment, disputed, segments_of
from streams import Bulk, Coins, expand_secret
from tensors import Call, Factor, Opening, Tensor, decode, encode, flatten
from trio import BITS, INPUTS, INTEGERS, Form, Share, pack

# Components that a party without a role gets: each from a role, confirmed by another.
OUTSIDE = [(0, 0, 2), (1, 0, 1), (2, 1, 2)]


class Guarded(WithIntegers):
    """One role of a run."""

    def __init__(self, mesh: Mesh, coins: Coins, session: bytes, setting: dict[str, Any],
                 plan: Plan) -> None:
        super().__init__(mesh, coins, session, setting)
        self.due = Due()
        self.outside = [party for party in range(mesh.parties) if party not in self.parties]
        self.owners = owners_of(plan, self.outside)
        self.held = {party: [[session], [session]] for party in self.outside}
        self.proofs = self.openings = self.sorted = 0

    def set_up(self) -> None:
        """Exchange keys; read those of owners without a role."""
        own = self.coins.secret("trio: key").read(32)
        self.mesh.write(self.before, own)
        if self.role == 0:
            self.mesh.write(self.after, self._derived(own, "trio: key of reveals"))
        self.mesh.flush()
        keys = own, self.mesh.read(self.after, 32)
        reveals = (self.mesh.read(self.before, 32) if self.role == 1 else
                   self._derived(keys[self.role // 2], "trio: key of reveals"))
        self.masks = Bulk(expand_secret(reveals, self.session, "trio: masks of reveals"))
        self.agreed = H("sealane 1 trio seed of reveals", self.session + reveals)
        self.proof_keys = [self._derived(key, "trio: key of proofs") for key in keys]
        self.streams = {label: [Bulk(expand_secret(key, self.session, label)) for key in keys]
                        for label in (BITS, INTEGERS, INPUTS, ORDERS, MASKS)}
        self.guests = {owner: {component: Bulk(expand_secret(
            self.mesh.read(owner, 32), self.session, INPUTS)) for component in (0, 1)
            if self._holds(component) is not None} for owner in self.owners}

    def _derived(self, key: bytes, label: str) -> bytes:
        """A seed for another use."""
        return expand_secret(key, self.session, label).read(32)

    def _holds(self, component: int) -> int | None:
        """Which of both components of this role it is."""
        place = (component - self.role) % 3
        return place if place < 2 else None

    def input(self, owner: int, numbers: list[int] | None, elements: int, bits: int,
              k: int | None) -> Call[Tensor]:
        """Share the numbers of one party."""
        if owner in self.parties:
            return (yield from super().input(owner, numbers, elements, bits, k))
        form, parts = Form(bits, elements, None), [list[int](), list[int]()]
        for component, stream in self.guests[owner].items():
            parts[(component - self.role) % 3] = form.draw(stream)
        yield
        if (rest := self._holds(2)) is not None:
            parts[rest] = self._read(owner, form, False)
        for held, part in zip(self.held[owner], parts):
            held.append(form.message(part))
        return Tensor.of(list(zip(*parts)), elements)

    def _ands(self, ands: list[Gate], own: list[int], following: list[int], lanes: int,
              zeros: list[list[int]] | None = None, due: Due | None = None) -> Call[list[Share]]:
        """The ANDs of a batch, and the statements about them."""
        operands = [pack([slots[gate[i]] for gate in ands], lanes)
                    for slots in (own, following) for i in (0, 1)]
        zeros = zeros or self._zeros(Form(len(ands), lanes, None))
        shares = yield from super()._ands(ands, own, following, lanes, zeros)
        f, g = (pack(zero, 1) for zero in zeros)
        messages = pack([following for _, following in shares], 1)
        left = operands[2] & operands[3] ^ g ^ messages
        (due or self.due).add((len(ands) * lanes, [*operands, f, left]))
        return shares

    def sort(self, rows: Tensor, key: Key) -> Call[Tensor]:
        """Bring rows into the order of their keys."""
        return sort(self, rows, key)

    # ---- settlements

    def settle(self, over_rows: bool | None = None) -> Call[None]:
        """Prove all statements that are due, and follow the proofs of both others."""
        return self.settlement([*segments_of(self.due.take(over_rows))], self.mesh.peers())

    def settlement(self, segments: list[Segment], peers: Sequence[int]) -> Call[None]:
        """The same of some segments, with so many others."""
        numbered = [*enumerate(segments, self.proofs)]
        self.proofs += len(segments)
        mesh, neighbours = self.mesh, (self.before, self.after)
        held = [[H("sealane 1 trio inputs", b"".join(parts[side])) for parts in self.held.values()]
                for side in (0, 1)]
        # Of the seeds of both others: halves, and what is shown.
        halves = [[self._halves(number, turn) for turn in (1, 2)] for number, _ in numbered]
        send_crossed(mesh, peers)
        for peer, own in zip(neighbours, held):
            mesh.write(peer, b"".join(own))
        if self.role:
            mesh.write(self.parties[3 - self.role], self.agreed)
        for (after, before) in halves:
            mesh.write(self.after, after[0] + seed_of(after)[1])
            mesh.write(self.before, before[1] + seed_of(before)[1])
        yield
        check_crossed(mesh, peers)
        for peer, own in zip(neighbours, held):
            for party, value in zip(self.outside, own):
                disputed(mesh.read(peer, 32) == value, "what owners gave", party, peer)
        if self.role:
            other = self.parties[3 - self.role]
            disputed(mesh.read(other, 32) == self.agreed, "the seed of masks", self.parties[0],
                     other)
        for number, segment in numbered:
            self._prove(number, segment)
        if segments:
            yield
            followed = [self._follow(number, seeds, segment)
                        for (number, segment), seeds in zip(numbered, halves)]
            yield
            for own_answers in followed:
                for peer, (proof, answer) in zip(neighbours, own_answers):
                    disputed(proof.accepts(answer, mesh.read(peer, 64)), "a proof", *neighbours)

    def _name(self, number: int, turn: int) -> bytes:
        """The name of a proof of the role that stands so far ahead."""
        return name_of(self.session, number, (self.role + turn) % 3)

    def _halves(self, number: int, turn: int) -> list[bytes]:
        """The halves of the seed of another role's proof."""
        return halves_of(self.proof_keys[turn - 1], self._name(number, turn))

    def _prove(self, number: int, segment: Segment) -> None:
        parts = [self.mesh.read(peer, 64) for peer in (self.before, self.after)]
        seed, check = seed_of([part[:32] for part in parts])
        disputed(all(part[32:] == check for part in parts), "the seed of a proof", self.before,
                 self.after)
        shares, commitments = segment.proof(self._name(number, 0), seed).prove(
            self.proof_keys, *segment.sides())
        self.mesh.write(self.before, shares)
        self.mesh.write(self.after, commitments)

    def _follow(self, number: int, halves: list[list[bytes]], segment: Segment
                ) -> list[tuple[Argument, bytes]]:
        """The answers about the proofs of the role after and of the one before."""
        proofs = [segment.proof(self._name(number, turn), seed_of(both)[0])
                  for turn, both in zip((1, 2), halves)]
        shares = self.mesh.read(self.after, 16 * proofs[0].values)
        commitments = self.mesh.read(self.before, 32 * proofs[1].levels)
        answers = [
            proofs[0].follow(self.proof_keys[1], *segment.side(NEXT), shares, True),
            proofs[1].follow(self.proof_keys[0], *segment.side(BEFORE), commitments, False)]
        for peer, answer in zip((self.before, self.after), answers):
            self.mesh.write(peer, answer)
        return [*zip(proofs, answers)]

    # ---- results

    def open(self, values: list[Opening]) -> Call[list[list[int] | None]]:
        """Give and confirm the components that others lack."""
        need(not self.due.kept, "results before their proofs", "own")
        for peer in self.mesh.peers():
            self._give(peer, [(tensor, k) for tensor, k, to in values if peer in to])
        self.openings += 1
        yield
        lacks = [((self.role + 2) % 3, (self.role + 2) % 3, (self.role + 1) % 3)]
        return learn(self.mesh, self.session, self.openings - 1, self.parties, lacks, values)

    def _give(self, peer: int, tensors: list[tuple[Tensor, int | None]]) -> None:
        """What one receiver gets from this role."""
        if peer in self.parties:
            r = self.parties.index(peer)
            given = [((r + 2) % 3, (r + 2) % 3, (r + 1) % 3)]
        else:
            given = OUTSIDE
        confirmed: list[list[bytes]] = [[] for _ in given]
        for tensor, k in tensors:
            form, zeros = form_of(tensor, k), [0] * (len(tensor.planes) * len(tensor.planes[0]))
            masks = [zeros] * 3
            if peer not in self.parties:
                masks = [form.draw(self.masks), form.draw(self.masks)]
                masks.append(form.reduced(-x - y for x, y in zip(*masks)))
            for said, (component, giver, _) in zip(confirmed, given):
                place = self._holds(component)
                if place is not None:
                    own = form.reduced(share[place] + mask for share, mask in
                                       zip(flatten(tensor.planes), masks[component]))
                    if self.role == giver:
                        self.mesh.write(peer, form.message(own))
                    said.append(form.message(own))
        for said, (_, _, confirms) in zip(confirmed, given):
            if tensors and self.role == confirms:
                self.mesh.write(peer, confirmation(self.session, self.openings, said))


class Outside:
    """A party without a role: it gives inputs, learns results, and counts flights."""

    def __init__(self, mesh: Mesh, coins: Coins, session: bytes, setting: dict[str, Any],
                 plan: Plan) -> None:
        self.mesh, self.coins, self.session = mesh, coins, session
        self.parties = [members[0] for members in setting["roles"]]
        self.owns = mesh.me in owners_of(plan, [mesh.me])
        self.zero: Share = (0, 0)
        self.due = Due()

    def set_up(self) -> None:
        """Make the keys of components 0 and 1."""
        if self.owns:
            keys = [self.coins.secret("trio: key").read(32) for _ in (0, 1)]
            for component, key in enumerate(keys):
                for holder in (component - 1, component):
                    self.mesh.write(self.parties[holder], key)
            self.mesh.flush()
            self.streams = [Bulk(expand_secret(key, self.session, INPUTS)) for key in keys]

    def constant(self, numbers: list[int], bits: int, k: int | None) -> Tensor:
        """The shape of a constant."""
        return Tensor([[self.zero] * len(numbers) for _ in range(1 if k else bits)])

    def linear(self, terms: list[tuple[Share, int]], k: int) -> Share:
        """The shape of a sum."""
        return self.zero

    def product(self, left: Tensor, right: Tensor, k: int, factors: Sequence[Factor] = ()
                ) -> Call[Tensor]:
        """Wait while roles multiply."""
        yield
        self.due.add((1, []))
        return self.constant([0] * len(left.planes[0]), 1, k)

    def convert(self, value: Tensor, old: Domain, new: Domain) -> Call[Tensor]:
        """Wait while they convert."""
        planes = value.planes
        if not new.k:
            tape = modular_tape(new.bits)
            return Tensor((yield from self.tape(tape, planes * 3 * PRIME_BITS, len(planes[0]))))
        yield
        return (yield from self.product(value, value, new.k))

    def sort(self, rows: Tensor, key: Key) -> Call[Tensor]:
        """Wait while they sort."""
        for _ in range(flights(len(rows.planes[0]), len(key))):
            yield
        return rows

    def input(self, owner: int, numbers: list[int] | None, elements: int, bits: int,
              k: int | None) -> Call[Tensor]:
        """Give an input, or wait while another party does."""
        form = Form(bits, elements, None)
        if owner == self.mesh.me:
            parts = [flatten(encode(numbers or [], bits, None).planes),
                     *(form.draw(stream) for stream in self.streams)]
            message = form.message([reduce(xor, bits) for bits in zip(*parts)])
            for role in (1, 2):
                self.mesh.write(self.parties[role], message)
        yield
        return self.constant([0] * elements, bits, None)

    def tape(self, tape: Tape, inputs: list[list[Share]], lanes: int) -> Call[list[list[Share]]]:
        """Wait while roles run a circuit."""
        for _, ands in tape.gates():
            if ands:
                yield
                self.due.add((len(ands) * lanes, []))
        return self.constant([0] * lanes, len(tape.outputs), None).planes

    def settle(self, over_rows: bool | None = None) -> Call[None]:
        """Compare sessions and digests; wait for proofs."""
        proves = bool(self.due.take(over_rows))
        send_crossed(self.mesh, sorted(self.parties))
        yield
        check_crossed(self.mesh, sorted(self.parties))
        if proves:
            yield
            yield

    def open(self, values: list[Opening]) -> Call[list[list[int] | None]]:
        """Learn results."""
        need(not self.due.kept, "results before their proofs", "own")
        yield
        return learn(self.mesh, self.session, 0, self.parties, OUTSIDE, values)


def owners_of(plan: Plan, parties: list[int]) -> list[int]:
    """Which of some parties own inputs."""
    return sorted({plan.owners[i] for i in plan.shared_inputs()} & {*parties})


def form_of(tensor: Tensor, k: int | None) -> Form:
    """The form of a tensor."""
    return Modular(len(tensor.planes), len(tensor.planes[0]), k)


def send_crossed(mesh: Mesh, peers: Sequence[int]) -> None:
    """Write the session, and the digest of all before."""
    for peer in peers:
        mesh.write(peer, mesh.session)
        mesh.send_digest(peer)


def check_crossed(mesh: Mesh, peers: Sequence[int]) -> None:
    """Compare what others wrote so."""
    for peer in peers:
        disputed(mesh.read(peer, 32) == mesh.session, "the session",
                 *({*range(mesh.parties)} - {mesh.me}))
        mesh.check_digest(peer)


def confirmation(session: bytes, opening: int, messages: list[bytes]) -> bytes:
    """The hash of a component of all results that a party learns."""
    return H("sealane 1 trio reveal", session + struct.pack("<Q", opening) + b"".join(messages))


def learn(mesh: Mesh, session: bytes, opening: int, parties: list[int],
          given: list[tuple[int, int, int]], values: list[Opening]) -> list[list[int] | None]:
    """Read components and their confirmations."""
    said: list[list[bytes]] = [[] for _ in given]
    found: list[list[int] | None] = []
    for tensor, k, receivers in values:
        if mesh.me not in receivers:
            found.append(None)
            continue
        form = form_of(tensor, k)
        numbers = [x + y for x, y in flatten(tensor.planes)]
        for messages, (_, giver, _) in zip(said, given):
            part = read_component(mesh, parties[giver], form)
            messages.append(form.message(part))
            numbers = [x + y for x, y in zip(numbers, part)]
        # Of integers the upper half is below 0, as of those of k bits.
        numbers = [x + (x >> PRIME_BITS - 1) for x in form.reduced(numbers)]
        found.append(decode(Tensor.of(numbers, form.elements), k))
    for messages, (_, giver, confirms) in zip(said, given):
        if messages:
            disputed(mesh.read(parties[confirms], 32) == confirmation(session, opening, messages),
                     "a result", parties[giver], parties[confirms])
    return found
