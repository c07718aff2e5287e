"""Processes that run a job over TLS, and everything that can become of one of them.

Each test starts `sealane run` on all sides, as people would on machines of their own: two, or five
of whom three help. When one side goes wrong, each of the others has to end within its time-out,
with a status that is not 0 and a text that says which it was, seen by itself or heard from another.
"""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import pytest

from conftest import fingerprint, free_port
from relay import Relay
from trial_session import PARTIES, TIMEOUT_S, Side

# What starting an interpreter, tracing and planning take on a machine that is busy.
SLACK_S = 25

HELPERS = ("ada", "bob", "cyd")
ALL = PARTIES + HELPERS

# Enough for seconds of garbling, or of sending products around.
MANY_BLOCKS = 20_000


class Session:
    """All sides, with keys exchanged; the last reaches one that it dials through a relay."""

    def __init__(
        self, root: Path, blocks: int, ports: list[int], helpers: Sequence[str] = ()
    ) -> None:
        self.parties = (*PARTIES, *helpers)
        self.sides = {party: Side(root, party, blocks, helpers) for party in self.parties}
        self.addresses = {
            party: f"127.0.0.1:{port}" for party, port in zip(self.parties, ports, strict=True)
        }
        # Of five, two helpers: what they send each other is most of what crosses.
        self.relayed = self.parties[-2] if helpers else self.parties[0]
        self.relay = Relay(ports[self.parties.index(self.relayed)])
        for side in self.sides.values():
            self.configure(side)
        self.processes: dict[str, subprocess.Popen[str]] = {}

    def configure(self, side: Side, **other_keys: str) -> None:
        """Writes the configuration of a side; it may believe in other keys."""
        addresses = dict(self.addresses)
        if side.party == self.parties[-1]:
            addresses[self.relayed] = self.relay.address
        keys = {party: side.key for party, side in self.sides.items()}
        side.configure(addresses, {**keys, **other_keys})

    def start(self, **yes: str) -> None:
        """Starts all sides."""
        jobs = {party: yes.get(party) or side.job() for party, side in self.sides.items()}
        for party, job in jobs.items():
            self.start_one(party, job)

    def start_one(self, party: str, job: str = "") -> None:
        """Starts a side, by default with the job in its program."""
        side = self.sides[party]
        self.processes[party] = side.start(job or side.job())

    def name(self, party: str) -> str:
        """How errors of the network name a party."""
        return f"{party} (party {self.parties.index(party)})"

    def others(self, party: str) -> list[str]:
        """All parties but this one."""
        return [other for other in self.parties if other != party]

    def end(self, party: str, within_s: float = SLACK_S) -> tuple[int, str, str]:
        """How a side ends: status, output, errors."""
        process = self.processes[party]
        output, errors = process.communicate(timeout=within_s)
        return process.returncode, output, errors

    def assert_fails(
        self, party: str, *words: str, status: int = 5, within_s: float = SLACK_S
    ) -> str:
        """Asserts that a side ends with this status and says one of these; gives what it says."""
        code, output, errors = self.end(party, within_s)
        assert code == status, f"{code}: {output}{errors}"
        assert output == ""
        assert any(each in errors for each in words), errors
        assert "Traceback" not in errors
        assert "panicked" not in errors
        return errors

    def close(self) -> None:
        """Leaves nothing behind."""
        for process in self.processes.values():
            with suppress(ProcessLookupError):
                process.kill()
            process.wait()
            for stream in (process.stdout, process.stderr):
                if stream:
                    stream.close()
        self.relay.close()


def session_of(blocks: int, helpers: Sequence[str] = ()) -> Any:
    """A fixture: a session with a job of so many blocks."""

    @pytest.fixture
    def session(tmp_path: Path) -> Iterator[Session]:
        ports = [free_port() for _ in (*PARTIES, *helpers)]
        with closing(Session(tmp_path, blocks, ports, helpers)) as session:
            yield session

    return session


# Jobs that take seconds, and jobs of four blocks: those of NIST.
many, few = session_of(MANY_BLOCKS), session_of(4)
many_of_five, few_of_five = session_of(MANY_BLOCKS, HELPERS), session_of(4, HELPERS)


def other(party: str) -> str:
    """The other one."""
    return PARTIES[1 - PARTIES.index(party)]


def assert_right(session: Session) -> int:
    """Asserts that all sides end well, as planned, and learn what they may; says what they sent."""
    reports = {}
    for party in session.parties:
        code, output, errors = session.end(party)
        assert code == 0, errors
        reports[party] = json.loads(output)
        assert reports[party]["as_planned"]
        assert reports[party]["payload_bytes"] == reports[party]["planned"]["payload_bytes"]
        assert reports[party]["rounds"] == reports[party]["planned"]["rounds"]
        assert party == "client" or reports[party]["results"] == {}
    # NIST SP 800-38A, F.1.1, the first block.
    first = bytes(reports["client"]["results"]["result"]["values"][:16])
    assert first.hex() == "3ad77bb40d7a3660a89ecaf32466ef97"
    return int(sum(reports["client"]["payload_bytes"].values()))


def test_both_end_well_and_as_planned(few: Session) -> None:
    few.start()
    payload = assert_right(few)
    # Everything crossed through the relay, and the relay has seen no more than it had to.
    assert payload < few.relay.carried < payload + 64_000


def test_five_end_well_and_as_planned(few_of_five: Session) -> None:
    few_of_five.start()
    payload = assert_right(few_of_five)
    assert 0 < few_of_five.relay.carried < payload


@pytest.mark.parametrize("victim", PARTIES)
def test_a_process_that_is_killed_is_gone_for_the_other(many: Session, victim: str) -> None:
    many.start()
    many.relay.wait_for(20_000_000, SLACK_S)
    many.processes[victim].send_signal(signal.SIGKILL)
    many.assert_fails(other(victim), f"{many.name(victim)} is gone", within_s=TIMEOUT_S)


@pytest.mark.parametrize("victim", PARTIES)
def test_a_process_that_is_stopped_is_silent_for_the_other(many: Session, victim: str) -> None:
    many.start()
    many.relay.wait_for(20_000_000, SLACK_S)
    stopped = time.monotonic()
    many.processes[victim].send_signal(signal.SIGSTOP)
    many.assert_fails(other(victim), f"{many.name(victim)} sent nothing for {TIMEOUT_S} s")
    assert TIMEOUT_S * 0.9 < time.monotonic() - stopped < TIMEOUT_S * 3
    # One that wakes up again finds that the other has left.
    many.processes[victim].send_signal(signal.SIGCONT)
    many.assert_fails(victim, "is gone", "gave up", "sent nothing")


@pytest.mark.parametrize("victim", ["client", "ada", "cyd"])
def test_one_of_five_that_is_killed_is_gone_for_all_others(
    many_of_five: Session, victim: str
) -> None:
    many_of_five.start()
    many_of_five.relay.wait_for(2_000_000, SLACK_S)
    many_of_five.processes[victim].send_signal(signal.SIGKILL)
    for party in many_of_five.others(victim):
        gone = f"{many_of_five.name(victim)} is gone"
        many_of_five.assert_fails(party, gone, within_s=TIMEOUT_S)


def test_a_helper_that_is_stopped_is_silent_for_all_others(many_of_five: Session) -> None:
    many_of_five.start()
    many_of_five.relay.wait_for(2_000_000, SLACK_S)
    stopped = time.monotonic()
    many_of_five.processes["ada"].send_signal(signal.SIGSTOP)
    for party in many_of_five.others("ada"):
        silent = f"{many_of_five.name('ada')} sent nothing for {TIMEOUT_S} s"
        many_of_five.assert_fails(party, silent)
    assert TIMEOUT_S * 0.9 < time.monotonic() - stopped < TIMEOUT_S * 3
    many_of_five.processes["ada"].send_signal(signal.SIGCONT)
    many_of_five.assert_fails("ada", "is gone", "gave up", "sent nothing")


@pytest.mark.parametrize("wrong", ["keeper", "bob"])
def test_another_order_of_helpers_is_told_to_all_of_five(few_of_five: Session, wrong: str) -> None:
    few_of_five.sides[wrong].helpers.reverse()
    few_of_five.start()
    part = "approved another job: the list of parties and helpers differs"
    for party in ALL:
        few_of_five.assert_fails(party, part)


def test_a_helper_with_the_key_of_another_is_told_from_it(few_of_five: Session) -> None:
    ada, bob = few_of_five.sides["ada"], few_of_five.sides["bob"]
    key = (bob.folder / "private.key").read_bytes()
    (ada.folder / "private.key").write_bytes(key)
    # Ada takes this key for hers, and hers for that of Bob.
    few_of_five.configure(ada, ada=bob.key, bob=ada.key)
    few_of_five.start()
    shows = "it shows the key with the fingerprint"
    taken = ("{} is taken for another: " + shows + " {}, which is that of {} here").format
    names = {party: few_of_five.name(party) for party in ALL}
    of_ada = taken(names["ada"], fingerprint(bob.key), "bob")
    refused = "expects another key of this party"
    of_bob = taken(names["bob"], fingerprint(bob.key), "ada")
    told_ada = few_of_five.assert_fails("ada", refused, of_bob)
    # One that comes late finds neither ada nor who has seen it.
    late = "cannot be reached"
    others = few_of_five.others("ada")
    told = {party: few_of_five.assert_fails(party, of_ada, refused, late) for party in others}
    # Ada ends when the first has refused it, and that one remembers why, whoever gives up first.
    refusing = [party for party in others if f"{names[party]} {refused}" in told_ada]
    assert refusing or of_bob in told_ada, told_ada
    for party in refusing:
        assert of_ada in told[party], told
    assert any(of_ada in errors for errors in told.values()), told


@pytest.mark.parametrize("wrong", PARTIES)
def test_a_wrong_key_is_told_to_both(few: Session, wrong: str) -> None:
    # The other side pinned the key that this one had before.
    old = few.sides[wrong].key
    new = few.sides[wrong].key = few.sides[wrong].new_key()
    few.configure(few.sides[wrong])
    few.start()
    old, new = fingerprint(old), fingerprint(new)
    theirs = f"shows a key with the fingerprint {new}, but that of the key expected of it here is"
    few.assert_fails(other(wrong), f"{theirs} {old}")
    ours = f"expects another key of this party, which showed one with the fingerprint {new}"
    few.assert_fails(wrong, ours)


def test_a_key_that_is_not_the_configured_one_is_found_before_connecting(few: Session) -> None:
    client = few.sides["client"]
    few.configure(client, client=client.new_key("other.key"))
    few.start_one("client")
    few.assert_fails("client", "is not the key of `client`", status=2)
    assert few.relay.carried == 0


def test_another_hash_is_not_approved_and_the_other_side_waits_in_vain(few: Session) -> None:
    few.start(client="0" * 64)
    few.assert_fails("client", "this is not the approved job: its hash is", status=2)
    few.assert_fails("keeper", "client (party 1) cannot be reached at ")
    assert few.relay.carried == 0


def test_another_program_is_told_to_both(few: Session) -> None:
    program = few.sides["client"].folder / "program.py"
    text = program.read_text(encoding="utf-8")
    program.write_text(text.replace("100_000", "100_001"), encoding="utf-8")
    few.start()
    for party in PARTIES:
        few.assert_fails(party, "approved another job: the program differs")


def test_another_network_class_is_told_to_both(few: Session) -> None:
    config = few.sides["client"].folder / "sealane.toml"
    config.write_text(f'network = "wan"\n{config.read_text(encoding="utf-8")}', encoding="utf-8")
    few.start(client=few.sides["client"].job("--network", "wan"))
    for party in PARTIES:
        few.assert_fails(party, "approved another job: the network class differs")


@pytest.mark.parametrize("party", PARTIES)
def test_nobody_at_the_port_is_told_with_the_address(few: Session, party: str) -> None:
    few.relay.close()
    few.start_one(party)
    address = few.addresses["client"] if party == "keeper" else few.relay.address
    few.assert_fails(party, f"cannot be reached at {address}")


def test_garbage_from_who_listens_is_told(few: Session) -> None:
    few.relay.close()
    port = int(few.relay.address.split(":")[1])
    with socket.create_server(("127.0.0.1", port)) as server:

        def answer() -> None:
            with suppress(OSError):
                guest, _ = server.accept()
                with guest:
                    guest.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                    guest.recv(1 << 16)

        threading.Thread(target=answer, daemon=True).start()
        few.start_one("client")
        few.assert_fails("client", "keeper (party 0) sent a malformed message")


def test_garbage_from_who_dials_is_told_if_nobody_better_comes(few: Session) -> None:
    few.start_one("keeper")
    port = int(few.addresses["keeper"].split(":")[1])
    deadline = time.monotonic() + SLACK_S
    with ExitStack() as stack:
        while time.monotonic() < deadline:
            with suppress(OSError):
                guest = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
                guest.sendall(bytes(range(251)) * 20)
                break
            time.sleep(0.01)
        few.assert_fails("keeper", "client (party 1) sent a malformed message")


def test_rows_beyond_the_bound_are_found_before_connecting(few: Session) -> None:
    program = few.sides["client"].folder / "program.py"
    text = program.read_text(encoding="utf-8")
    program.write_text(text.replace("100_000", "3"), encoding="utf-8")
    few.start_one("client")
    few.assert_fails("client", "has more than 3 records, too many for `blocks`", status=4)
    assert few.relay.carried == 0
