"""Two parties with keys, a program and data, for trials: see `trials.py`."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from relay import Relay

ROOT = Path(__file__).resolve().parents[1]
SEALANE = [sys.executable, "-m", "sealane"]
PARTIES = ("keeper", "client")
"""The first listens, the second dials."""

TIMEOUT_S = 3
"""For how long a party may be silent."""
BOUND_S = 60
"""No command of a trial takes longer on a machine that is busy."""

# NIST SP 800-38A, F.1.1, the first block.
FIRST_BLOCK = "3ad77bb40d7a3660a89ecaf32466ef97"


class Failed(Exception):
    """Findings of a trial."""


def command(*arguments: str, cwd: Path) -> tuple[int, str, str]:
    """Runs a command to its end: status, output, errors."""
    try:
        done = subprocess.run(
            [*SEALANE, *arguments],
            cwd=cwd,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=BOUND_S,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"`sealane {' '.join(arguments)}` does not end") from None
    return done.returncode, done.stdout, done.stderr


def must(*arguments: str, cwd: Path) -> str:
    """Runs a command that has to succeed."""
    status, output, errors = command(*arguments, cwd=cwd)
    if status != 0:
        raise Failed(f"`sealane {' '.join(arguments)}` ends with {status}: {errors}")
    return output


def named(status: int, errors: str, allowed: tuple[int, ...]) -> None:
    """Sees that a failure is one of ours, with a name."""
    if "Traceback" in errors or "panicked" in errors:
        raise Failed(f"an error without a name, status {status}: {errors}")
    if status not in allowed:
        raise Failed(f"status {status}, not one of {allowed}: {errors}")
    # With `--json` a failure is an object.
    if status != 0 and not re.search(r'error\[[a-z-]+\]|"code":"[a-z-]+"', errors):
        raise Failed(f"status {status} without an error: {errors!r}")


def free_port(rng: random.Random) -> int:
    """A port of loopback below the range of outgoing connections, where nobody listens."""
    while True:
        port = rng.randrange(10_240, 32_240)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def started(*arguments: str, cwd: Path, **options: Any) -> subprocess.Popen[str]:
    """A command that is under way, whose output is kept."""
    options = {"stdin": subprocess.DEVNULL, "stdout": -1, "stderr": -1, **options}
    return subprocess.Popen([*SEALANE, *arguments], cwd=cwd, text=True, **options)


class Side:
    """Belongings of one party: a folder with a program, a key, data, and the configuration."""

    def __init__(self, root: Path, party: str, blocks: int, helpers: Sequence[str] = ()) -> None:
        self.party, self.helpers = party, list(helpers)
        self.folder = root / party
        self.folder.mkdir(parents=True)
        example = ROOT / "examples" / "aes128"
        shutil.copy(example / "program.py", self.folder)
        if party not in helpers:
            lines = (example / f"{party}.csv").read_text(encoding="utf-8").splitlines()
            if party == "client":
                lines = [lines[0], *(lines[1 + index % 4] for index in range(blocks))]
            (self.folder / "data.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        self.key = self.new_key()

    def new_key(self, name: str = "private.key") -> str:
        """Makes a private key in the folder, in place of one that is there; its public half."""
        fresh = self.folder / "fresh"
        init = ["init", self.party, "--address", "127.0.0.1:1", "--folder", "fresh"]
        card = must(*init, cwd=self.folder)
        (fresh / f"{self.party}.key").replace(self.folder / name)
        shutil.rmtree(fresh)
        found = re.search("ed25519:[0-9a-f]{64}", card)
        if not found:
            raise Failed(f"`sealane init` prints no key: {card}")
        return found[0]

    def configure(
        self, addresses: dict[str, str], keys: dict[str, str], wait_s: int = TIMEOUT_S
    ) -> None:
        """Writes who is where, as this side sees it."""
        text = f'me = "{self.party}"\nidentity = "private.key"\n'
        text += f"[limits]\ntimeout_s = {TIMEOUT_S}\nwait_s = {wait_s}\n"
        for party, address in addresses.items():
            text += f'[parties.{party}]\naddress = "{address}"\nkey = "{keys[party]}"\n'
        (self.folder / "sealane.toml").write_text(text, encoding="utf-8")

    @property
    def options(self) -> list[str]:
        """Parties that compute, in the words of this side."""
        return ["--protocol", "trio", "--helpers", ",".join(self.helpers)] if self.helpers else []

    def job(self, *options: str) -> str:
        """The hash of the job in this side's program."""
        words = ["plan", "program.py", "--json", *self.options, *options]
        return str(json.loads(must(*words, cwd=self.folder))["job"])

    def start(self, job: str, *options: str) -> subprocess.Popen[str]:
        """Starts a run of this job."""
        words = ["run", "program.py", "--json", "--yes", job, *self.options, *options]
        if self.party not in self.helpers:
            words += ["--input", "data.csv"]
        return started(*words, cwd=self.folder)


class Session:
    """Two sides, with all that they need but where the other one is."""

    def __init__(self, folder: Path, blocks: int) -> None:
        self.folder, self.blocks = folder, blocks
        self.sides = {party: Side(folder, party, blocks) for party in PARTIES}
        self.keys = {party: side.key for party, side in self.sides.items()}
        self.job = self.sides["keeper"].job()

    def configure(self, party: str, addresses: dict[str, str], wait_s: int = 20) -> None:
        """Writes who is where, as one party sees it."""
        self.sides[party].configure(addresses, self.keys, wait_s)

    def start(self, party: str) -> subprocess.Popen[str]:
        """Starts one party."""
        return self.sides[party].start(self.job, "--no-record")


def end(process: subprocess.Popen[str], within_s: float = BOUND_S) -> tuple[int, str, str]:
    """How a process ends: status, output, errors."""
    try:
        output, errors = process.communicate(timeout=within_s)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.communicate()
        raise Failed(f"{' '.join(map(str, process.args[3:6]))} does not end") from None  # type: ignore[index]
    return process.returncode, output, errors


def see_ends(party: str, ended: tuple[int, str, str]) -> bool:
    """Sees that a party ends with the right result or an error with a name; whether it is right."""
    status, output, errors = ended
    named(status, errors, (0, 2, 5))
    if status != 0:
        if output:
            raise Failed(f"{party} fails and prints: {output}")
        return False
    report = json.loads(output)
    if party == "client":
        values = report["results"]["result"]["values"]
        if bytes(values[:16]).hex() != FIRST_BLOCK:
            raise Failed(f"a wrong result: {bytes(values[:16]).hex()}")
    return True


def living_in(folder: Path) -> list[int]:
    """Processes whose current folder is in this one."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if folder in (
                Path(os.readlink(process / "cwd")),
                *Path(os.readlink(process / "cwd")).parents,
            ):
                found.append(int(process.name))
    return found


class HarmfulRelay(Relay):
    """A relay that does one harm on the way."""

    def __init__(
        self, port: int, harm: str, at: int, to_listener: bool, rng: random.Random
    ) -> None:
        self.harm, self.at, self.to_listener = harm, at, to_listener
        self.pause_s, self.bit = rng.uniform(0.1, 1.5), rng.randrange(8)
        super().__init__(port)

    def pass_on(
        self, piece: bytes, before: int, up: bool, come: socket.socket, go: socket.socket
    ) -> None:
        """Harms the piece that has the byte in question."""
        place = self.at - before
        if up != self.to_listener or not 0 <= place < len(piece):
            go.sendall(piece)
            return
        first, byte, rest = piece[:place], piece[place], piece[place + 1 :]
        if self.harm == "delay":
            time.sleep(self.pause_s)
            go.sendall(piece)
        elif self.harm == "flip":
            go.sendall(first + bytes([byte ^ (1 << self.bit)]) + rest)
        elif self.harm == "duplicate":
            go.sendall(piece + piece[place:])
        else:
            go.sendall(first)
            if self.harm == "truncate":
                go.shutdown(socket.SHUT_WR)
                while come.recv(1 << 16):
                    pass
            else:
                self.close()
