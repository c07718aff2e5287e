"""Fixtures that tests share."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import sealane as sl

# Longest time of a command that ends.
SLACK_S = 60

# Below the range from which systems take ports of outgoing connections, so that a port is still
# free when a party listens there a moment later; each worker of pytest-xdist has its own.
_WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:])
_WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
_PORTS = list(range(10_240 + _WORKER, 32_240, _WORKERS))
random.shuffle(_PORTS)


SEALANE = [sys.executable, "-m", "sealane"]


def ran(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
    """A command that has ended, with all that it printed."""
    options = {"capture_output": True, "text": True, "timeout": 2 * SLACK_S, **options}
    return subprocess.run(command, **options)


def started(command: list[str], **options: Any) -> subprocess.Popen[str]:
    """A command that is under way, whose output is kept."""
    return subprocess.Popen(command, stdout=-1, stderr=-1, text=True, **options)


def free_port() -> int:
    """A port on loopback that nobody listens at, and that no test gets again."""
    while True:
        port = _PORTS.pop()
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def make_key(file: Path, party: str) -> str:
    """Makes a private key at `file`; its public half."""
    fresh = file.with_suffix(".fresh")
    command = [*SEALANE, "init", party, "--address", "127.0.0.1:7700", "--folder", str(fresh)]
    card = ran(command, check=True).stdout
    (fresh / f"{party}.key").rename(file)
    shutil.rmtree(fresh)
    found = re.search("ed25519:[0-9a-f]{64}", card)
    assert found, card
    return found[0]


def fingerprint(key: str) -> str:
    """The fingerprint of a public key, as the command lists it."""
    table = f'me = "a"\n[parties.a]\naddress = "a:1"\nkey = "{key}"\n'
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "sealane.toml"
        file.write_text(table, encoding="utf-8")
        command = [*SEALANE, "peer", "list", "--json", "--config", str(file)]
        listed = ran(command, check=True).stdout
    found: str = json.loads(listed)["parties"][0]["fingerprint"]
    return found


@pytest.fixture
def free_ports() -> list[int]:
    """Two ports on loopback that nobody listens at."""
    return [free_port(), free_port()]


@pytest.fixture
def four_free_ports() -> list[int]:
    """Four of them."""
    return [free_port() for _ in range(4)]


@pytest.fixture
def five_free_ports() -> list[int]:
    """Five of them."""
    return [free_port() for _ in range(5)]


def learns(party: str, *kinds: Any) -> Any:
    """The annotation of results of these types, each of which one party learns."""
    return tuple[tuple(sl.Revealed[kind, party] for kind in kinds)]


def configure(folder: Path, parties: Iterable[str], ports: list[int], limits: str) -> None:
    """Keys for all parties, and one file for all."""
    text = f"[limits]\n{limits}\n"
    for party, port in zip(parties, ports, strict=True):
        key = make_key(folder / f"{party}.key", party)
        text += f'[parties.{party}]\naddress = "127.0.0.1:{port}"\nkey = "{key}"\n'
        text += f'identity = "{party}.key"\n'
    (folder / "sealane.toml").write_text(text, encoding="utf-8")


class Side:
    """A party with a folder of its own."""

    def __init__(self, root: Path, name: str, address: str) -> None:
        self.name, self.folder = name, root / name
        self.folder.mkdir()
        self.card = self.sealane("init", name, "--address", address).stdout.strip()

    def command(self, *arguments: str) -> subprocess.Popen[str]:
        """A command that is under way in this side's folder."""
        return started([*SEALANE, *arguments], cwd=self.folder)

    def sealane(self, *arguments: str, status: int = 0) -> subprocess.CompletedProcess[str]:
        """A command that has ended."""
        return ended(self.command(*arguments), status)

    def config(self) -> Path:
        return self.folder / "sealane.toml"


def ended(command: subprocess.Popen[str], status: int = 0) -> subprocess.CompletedProcess[str]:
    out, err = command.communicate(timeout=SLACK_S)
    assert command.returncode == status, f"{out}\n{err}"
    return subprocess.CompletedProcess(command.args, status, out, err)


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Side, Side]:
    """Two parties that have not heard of each other."""
    one, other = (Side(tmp_path, name, f"127.0.0.1:{free_port()}") for name in ("alice", "bob"))
    return one, other


def swap(one: Side, other: Side) -> None:
    one.sealane("peer", "add", other.card)
    other.sealane("peer", "add", one.card)
