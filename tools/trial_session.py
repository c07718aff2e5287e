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
from contextlib import suppress
from pathlib import Path

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


class Session:
    """A folder for each party, with all that it needs but where the other one is."""

    def __init__(self, folder: Path, blocks: int) -> None:
        self.folder = folder
        self.blocks = blocks
        self.keys: dict[str, str] = {}
        example = ROOT / "examples" / "aes128"
        for party in PARTIES:
            home = folder / party
            home.mkdir(parents=True)
            shutil.copy(example / "program.py", home)
            lines = (example / f"{party}.csv").read_text(encoding="utf-8").splitlines()
            if party == "client":
                lines = [lines[0], *(lines[1 + index % 4] for index in range(blocks))]
            (home / "data.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
            self.keys[party] = new_key(home, party)
        plan = must("plan", "program.py", "--json", cwd=folder / "keeper")
        self.job = str(json.loads(plan)["job"])

    def configure(self, party: str, addresses: dict[str, str], wait_s: int = 20) -> None:
        """Writes who is where, as one party sees it."""
        text = f'me = "{party}"\nidentity = "private.key"\n'
        text += f"[limits]\ntimeout_s = {TIMEOUT_S}\nwait_s = {wait_s}\n"
        for name, key in self.keys.items():
            text += f'[parties.{name}]\naddress = "{addresses[name]}"\nkey = "{key}"\n'
        (self.folder / party / "sealane.toml").write_text(text, encoding="utf-8")

    def start(self, party: str) -> subprocess.Popen[str]:
        """Starts one party."""
        arguments = ["run", "program.py", "--json", "--yes", self.job, "--input", "data.csv"]
        return subprocess.Popen(
            [*SEALANE, *arguments, "--no-record"],
            cwd=self.folder / party,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def new_key(home: Path, party: str) -> str:
    """Makes the private key of a party in its folder; the public half."""
    fresh = home / "fresh"
    card = must("init", party, "--address", "127.0.0.1:1", "--folder", str(fresh), cwd=home)
    (fresh / f"{party}.key").replace(home / "private.key")
    shutil.rmtree(fresh)
    found = re.search("ed25519:[0-9a-f]{64}", card)
    if not found:
        raise Failed(f"`sealane init` prints no key: {card}")
    return found[0]


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
