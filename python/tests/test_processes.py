"""Two processes that run a job over TLS, and everything that can become of one of them.

Each test starts `sealane run` on both sides, as two people would on two machines. When one side
goes wrong, the other has to end within its time-out, with a status that is not 0 and a text that
says which it was.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

TIMEOUT_S = 3
# What starting an interpreter, tracing and planning take on a machine that is busy.
SLACK_S = 25

PARTIES = ("keeper", "client")
"""The first party of the program listens, the second dials."""

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "aes128"
# Enough for seconds of garbling.
MANY_BLOCKS = 20_000


class Side:
    """What one party has: a folder with a program, a key, data, and who is where."""

    def __init__(self, root: Path, party: str, blocks: int) -> None:
        self.party = party
        self.folder = root / party
        self.folder.mkdir()
        program = (EXAMPLE / "program.py").read_text(encoding="utf-8")
        (self.folder / "program.py").write_text(program, encoding="utf-8")
        table = (EXAMPLE / f"{party}.csv").read_text(encoding="utf-8").splitlines()
        if party == "client":
            table = [table[0], *(table[1 + index % 4] for index in range(blocks))]
        (self.folder / "data.csv").write_text("\n".join(table) + "\n", encoding="utf-8")
        self.key = self.new_key()

    def new_key(self) -> str:
        """Makes the key that this side uses from now on."""
        (self.folder / "private.key").unlink(missing_ok=True)
        return self.sealane("keygen", "private.key").split('"')[1]

    def configure(self, addresses: dict[str, str], keys: dict[str, str]) -> None:
        """Writes who is where, as this side sees it."""
        text = f'identity = "private.key"\n[limits]\ntimeout_s = {TIMEOUT_S}\n'
        for party in PARTIES:
            text += f'[parties.{party}]\naddress = "{addresses[party]}"\nkey = "{keys[party]}"\n'
        (self.folder / "sealane.toml").write_text(text, encoding="utf-8")

    def sealane(self, *arguments: str) -> str:
        """Runs a command that has to succeed."""
        command = [sys.executable, "-m", "sealane", *arguments]
        done = subprocess.run(command, cwd=self.folder, check=True, capture_output=True, text=True)
        return done.stdout

    def job(self) -> str:
        """The hash of the job in this side's program."""
        return str(json.loads(self.sealane("plan", "program.py", "--json"))["job"])

    def start(self, yes: str | None = None) -> subprocess.Popen[str]:
        """Starts `sealane run`."""
        command = [sys.executable, "-m", "sealane", "run", "program.py", "--as", self.party]
        command += ["--input", "data.csv", "--config", "sealane.toml", "--json"]
        command += ["--yes", yes or self.job()]
        return subprocess.Popen(
            command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )


class Relay:
    """Carries bytes between one who dials and one who listens, and counts them."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.carried = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        self.sockets: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def wait_for(self, count: int) -> None:
        """Waits until so many bytes have crossed."""
        deadline = time.monotonic() + SLACK_S
        while self.carried < count:
            assert time.monotonic() < deadline, f"only {self.carried} bytes have crossed"
            time.sleep(0.001)

    def close(self) -> None:
        """Ends every connection."""
        # Closing alone would leave threads waiting in their calls.
        for each in (self.listener, *self.sockets):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                try:
                    far = socket.create_connection(("127.0.0.1", self.port))
                except OSError:
                    near.close()
                    continue
                self.sockets += [near, far]
                for ends in ((near, far), (far, near)):
                    threading.Thread(target=self._carry, args=ends, daemon=True).start()

    def _carry(self, come: socket.socket, go: socket.socket) -> None:
        # A process that is killed resets its connection, which comes as an error.
        with suppress(OSError):
            while piece := come.recv(1 << 16):
                go.sendall(piece)
                self.carried += len(piece)
        with suppress(OSError):
            go.shutdown(socket.SHUT_WR)


class Pair:
    """Both sides, with keys exchanged; the client reaches the keeper through a relay."""

    def __init__(self, root: Path, blocks: int, ports: list[int]) -> None:
        self.sides = {party: Side(root, party, blocks) for party in PARTIES}
        self.relay = Relay(ports[0])
        self.addresses = {
            party: f"127.0.0.1:{port}" for party, port in zip(PARTIES, ports, strict=True)
        }
        for side in self.sides.values():
            self.configure(side)
        self.processes: dict[str, subprocess.Popen[str]] = {}

    def configure(self, side: Side, **other_keys: str) -> None:
        """Writes the configuration of a side; it may believe in other keys."""
        addresses = dict(self.addresses)
        if side.party == "client":
            addresses["keeper"] = self.relay.address
        keys = {party: self.sides[party].key for party in PARTIES}
        side.configure(addresses, {**keys, **other_keys})

    def start(self, **yes: str) -> None:
        """Starts both sides."""
        jobs = {party: yes.get(party) or side.job() for party, side in self.sides.items()}
        for party, side in self.sides.items():
            self.processes[party] = side.start(jobs[party])

    def end(self, party: str, within_s: float = SLACK_S) -> tuple[int, str, str]:
        """How a side ends: status, output, errors."""
        process = self.processes[party]
        output, errors = process.communicate(timeout=within_s)
        return process.returncode, output, errors

    def assert_fails(
        self, party: str, *words: str, status: int = 5, within_s: float = SLACK_S
    ) -> None:
        """Asserts that a side ends with this status and says one of these."""
        code, output, errors = self.end(party, within_s)
        assert code == status, f"{code}: {output}{errors}"
        assert output == ""
        assert any(each in errors for each in words), errors
        assert "Traceback" not in errors
        assert "panicked" not in errors

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


@pytest.fixture
def many(tmp_path: Path, free_ports: list[int]) -> Iterator[Pair]:
    """A job that takes seconds."""
    with closing(Pair(tmp_path, MANY_BLOCKS, free_ports)) as pair:
        yield pair


@pytest.fixture
def few(tmp_path: Path, free_ports: list[int]) -> Iterator[Pair]:
    """A job of four blocks: those of NIST."""
    with closing(Pair(tmp_path, 4, free_ports)) as pair:
        yield pair


def other(party: str) -> str:
    """The other one."""
    return PARTIES[1 - PARTIES.index(party)]


def test_both_end_well_and_as_planned(few: Pair) -> None:
    few.start()
    reports = {}
    for party in PARTIES:
        code, output, errors = few.end(party)
        assert code == 0, errors
        reports[party] = json.loads(output)
        assert reports[party]["as_planned"]
        assert reports[party]["payload_bytes"] == reports[party]["planned"]["payload_bytes"]
    assert reports["keeper"]["results"] == {}
    # NIST SP 800-38A, F.1.1, the first block.
    first = bytes(reports["client"]["results"]["result"]["values"][:16])
    assert first.hex() == "3ad77bb40d7a3660a89ecaf32466ef97"
    # Everything crossed through the relay, and the relay has seen no more than it had to.
    payload = sum(reports["keeper"]["payload_bytes"].values())
    assert payload < few.relay.carried < payload + 64_000


@pytest.mark.parametrize("victim", PARTIES)
def test_a_process_that_is_killed_is_gone_for_the_other(many: Pair, victim: str) -> None:
    many.start()
    many.relay.wait_for(20_000_000)
    many.processes[victim].send_signal(signal.SIGKILL)
    name = f"{victim} (party {PARTIES.index(victim)})"
    many.assert_fails(other(victim), f"{name} is gone", within_s=TIMEOUT_S)


@pytest.mark.parametrize("victim", PARTIES)
def test_a_process_that_is_stopped_is_silent_for_the_other(many: Pair, victim: str) -> None:
    many.start()
    many.relay.wait_for(20_000_000)
    stopped = time.monotonic()
    many.processes[victim].send_signal(signal.SIGSTOP)
    name = f"{victim} (party {PARTIES.index(victim)})"
    many.assert_fails(other(victim), f"{name} sent nothing for {TIMEOUT_S} s")
    assert TIMEOUT_S * 0.9 < time.monotonic() - stopped < TIMEOUT_S * 3
    # One that wakes up again finds that the other has left.
    many.processes[victim].send_signal(signal.SIGCONT)
    many.assert_fails(victim, "is gone", "gave up", "sent nothing")


@pytest.mark.parametrize("wrong", PARTIES)
def test_a_wrong_key_is_told_to_both(few: Pair, wrong: str) -> None:
    # The other side pinned the key that this one had before.
    old = few.sides[wrong].key
    new = few.sides[wrong].new_key()
    few.sides[wrong].key = new
    few.configure(few.sides[wrong])
    few.start()
    few.assert_fails(other(wrong), f"shows the key {new}, but the key expected of it here is {old}")
    few.assert_fails(wrong, f"expects another key of this party, which showed {new}")


def test_a_key_that_is_not_the_configured_one_is_found_before_connecting(few: Pair) -> None:
    few.configure(few.sides["client"], client=few.sides["keeper"].key)
    few.processes["client"] = few.sides["client"].start()
    few.assert_fails("client", "is not the key of `client`", status=2)
    assert few.relay.carried == 0


def test_another_hash_is_not_approved_and_the_other_side_waits_in_vain(few: Pair) -> None:
    few.start(client="0" * 64)
    few.assert_fails("client", "this is not the approved job: its hash is", status=2)
    few.assert_fails("keeper", "client (party 1) cannot be reached at ")
    assert few.relay.carried == 0


def test_another_program_is_told_to_both(few: Pair) -> None:
    program = few.sides["client"].folder / "program.py"
    text = program.read_text(encoding="utf-8")
    program.write_text(text.replace("100_000", "100_001"), encoding="utf-8")
    few.start()
    for party in PARTIES:
        few.assert_fails(
            party,
            f"{other(party)} approved another job: the program differs",
            "gave up: the program of the job differs",
        )


def test_another_network_class_is_told_to_both(few: Pair) -> None:
    config = few.sides["client"].folder / "sealane.toml"
    config.write_text(f'network = "wan"\n{config.read_text(encoding="utf-8")}', encoding="utf-8")
    job = few.sides["client"].sealane("plan", "program.py", "--network", "wan", "--json")
    few.start(client=json.loads(job)["job"])
    for party in PARTIES:
        few.assert_fails(party, "the network class differs", "the network class of the job differs")


@pytest.mark.parametrize("party", PARTIES)
def test_nobody_at_the_port_is_told_with_the_address(few: Pair, party: str) -> None:
    few.relay.close()
    few.processes[party] = few.sides[party].start()
    address = few.addresses["client"] if party == "keeper" else few.relay.address
    few.assert_fails(party, f"cannot be reached at {address}")


def test_garbage_from_who_listens_is_told(few: Pair) -> None:
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
        few.processes["client"] = few.sides["client"].start()
        few.assert_fails("client", "keeper (party 0) sent a malformed message")


def test_garbage_from_who_dials_is_told_if_nobody_better_comes(few: Pair) -> None:
    few.processes["keeper"] = few.sides["keeper"].start()
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


def test_rows_beyond_the_bound_are_found_before_connecting(few: Pair) -> None:
    program = few.sides["client"].folder / "program.py"
    text = program.read_text(encoding="utf-8")
    program.write_text(text.replace("100_000", "3"), encoding="utf-8")
    few.processes["client"] = few.sides["client"].start()
    few.assert_fails("client", "`blocks` has 4 rows", status=4)
    assert few.relay.carried == 0


def test_whole_runs_are_measured() -> None:
    root = EXAMPLE.parents[1]
    command = [sys.executable, "-m", "sealane", "bench", "e2e", "--json", "--quick"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in done.stdout.splitlines()]
    figures = {(record["case"], record["metric"]): record for record in records}
    for case in ("aes128/100/tls", "hospital/569/tls"):
        for metric in ("seconds", "million_ands_per_s", "payload_bytes", "rounds"):
            record = figures[case, metric]
            assert record["suite"] == "e2e"
            assert record["value"] > 0
            assert record.keys() >= {"tier", "unit", "cpu", "version", "command"}
    elsewhere = subprocess.run(command, cwd=os.sep, capture_output=True, text=True, timeout=60)
    assert elsewhere.returncode != 0
    assert "the root of the repository" in elsewhere.stderr
