"""Who dials whom, until a party is connected with all others (chapter 2, Who dials).

A party dials all parties before it, one after the other, and then accepts those behind it. This
cannot stand still: party 0 dials nobody, and a listener is open before its party dials.
"""

import socket
import time
from contextlib import nullcontext
from dataclasses import dataclass

from errors import Fault, need
from link import Mesh, exchange_hellos
from tls import ACCESS_DENIED, Tls, accept, connect

MEETING, INCOMING, ATTEMPT = 30.0, 5.0, 3.0     # seconds
ENDS = "peer-vanished", "connection-failed"     # of connections that another one may follow


@dataclass
class Party:
    """What the configuration says of a party."""

    name: str
    host: str
    port: int
    key: bytes


class Meeting:
    """One party's meeting. Parties are in the order of the meeting."""

    def __init__(self, mesh: Mesh, me: int, parties: list[Party], indices: list[int],
                 seed: bytes, seconds: float = MEETING) -> None:
        self.mesh, self.me, self.parties, self.seed = mesh, me, parties, seed
        self.indices = indices                  # index of the job, by meeting index
        self.deadline = time.monotonic() + seconds
        keys = {party.key for party in parties}
        need(len(keys) == len(parties), "two parties have one key", "config-double")
        listening = {(party.host, party.port) for party in parties[:-1]}
        need(len(listening) == len(parties) - 1, "two parties at one address", "config-double")

    def run(self) -> None:
        """Meet all parties, or raise why not."""
        with self._listen() if self.me < len(self.parties) - 1 else nullcontext() as listener:
            for peer in range(self.me):
                self._dial(peer)
            if listener is not None:
                self._accept_all(listener)

    def _listen(self) -> socket.socket:
        """Open the listener."""
        own = self.parties[self.me]
        family = socket.AF_INET6 if ":" in own.host else socket.AF_INET
        try:
            return socket.create_server((own.host, own.port), family=family)
        except OSError as error:
            raise Fault(str(error), "cannot-listen") from None

    def _dial(self, peer: int) -> None:
        """Dial a party until it is met."""
        party, pause = self.parties[peer], 0.005
        while True:
            try:
                sock = socket.create_connection((party.host, party.port), timeout=ATTEMPT)
                return self._meet(Tls(sock), self.deadline, peer)
            except OSError:
                pass                            # nobody listens
            except Fault as fault:
                if fault.code not in ENDS:
                    raise
            need(time.monotonic() < self.deadline, f"{party.name} is not there", "unreachable")
            time.sleep(pause)
            pause = min(2 * pause, 0.5)

    def _accept_all(self, listener: socket.socket) -> None:
        """Take connections until every party behind this one has come."""
        awaited = range(self.me + 1, len(self.parties))
        reasons: dict[int, Fault] = {}          # the last, by the name that was told; -1 for none
        while missing := [i for i in awaited if self.indices[i] not in self.mesh.links]:
            try:
                listener.settimeout(max(0.001, self.deadline - time.monotonic()))
                tls = Tls(listener.accept()[0])
            except TimeoutError:
                late = Fault(f"{self.parties[missing[0]].name} did not come", "unreachable")
                raise reasons.get(missing[0], reasons.get(-1, late)) from None
            try:
                self._meet(tls, min(time.monotonic() + INCOMING, self.deadline), None)
            except Fault as fault:
                reasons |= {} if fault.code in ENDS else {tls.named: fault}
                if tls.met:                     # it is in the hello of a party with the right key
                    raise

    def _meet(self, tls: Tls, deadline: float, dialled: int | None) -> None:
        """TLS and hellos; the first connection with a party is kept."""
        tls.deadline = deadline
        try:
            if dialled is None:
                peer = accept(tls, self.me, len(self.parties), self.seed, self._judge)
            else:
                peer = dialled
                connect(tls, self.me, self.seed, lambda key: self._judge(peer, key))
            silence = exchange_hellos(tls, dialled is not None, self.me, peer, len(self.parties),
                                      self.mesh.silence)
        except Fault:
            tls.close()
            raise
        if self.indices[peer] in self.mesh.links:
            tls.close()
        else:
            self.mesh.connect(self.indices[peer], tls, silence)

    def _judge(self, peer: int, key: bytes) -> None:
        """Compare the key shown with the pinned one (chapter 2, Checks)."""
        party = self.parties[peer]
        others = [other.key for other in self.parties if other is not party]
        need(key not in others, f"another party is {party.name}", "wrong-party", ACCESS_DENIED)
        need(key == party.key, f"{party.name} shows another key", "wrong-key", ACCESS_DENIED)
