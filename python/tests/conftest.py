"""Fixtures that tests share."""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
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
PROTOCOLS = ["clear", "yao", "trio", "gmw", "mixed"]


def ran(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
    """A command that has ended, with all that it printed."""
    options = {"capture_output": True, "text": True, "timeout": 2 * SLACK_S, **options}
    return subprocess.run(command, **options)


def sealane(
    *arguments: object, status: int = 0, **options: Any
) -> subprocess.CompletedProcess[str]:
    """A command of Sealane that has ended, with this status."""
    return ended(started([*SEALANE, *map(str, arguments)], **options), status)


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
    card = sealane("init", party, "--address", "127.0.0.1:7700", "--folder", fresh).stdout
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
        listed = sealane("peer", "list", "--json", "--config", file).stdout
    found: str = json.loads(listed)["parties"][0]["fingerprint"]
    return found


def load(file: Path, text: str = "") -> Any:
    """The module of a file, which is written first if there is text for it."""
    if text:
        file.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def learns(party: str, *kinds: Any) -> Any:
    """The annotation of results of these types, each of which one party learns."""
    return tuple[tuple(sl.Revealed[kind, party] for kind in kinds)]


def traced(body: Callable[..., Any], learnt: Any, /, **given: Any) -> sl.Program[..., Any]:
    """The program of a function of these inputs, each with what stands in its `sl.Private[...]`.
    `learnt` is what stands in `sl.Revealed[...]`, or the annotation of several results.
    """

    def f(**inputs: Any) -> Any:
        return body(*inputs.values())

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    f.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in given])  # type: ignore[attr-defined]
    f.__annotations__ = {name: sl.Private[declared] for name, declared in given.items()}
    f.__annotations__["return"] = sl.Revealed[learnt] if isinstance(learnt, tuple) else learnt
    return sl.program(f)


def planned(program: Any, *inputs: Any, protocol: str = "clear", **options: Any) -> Any:
    """The report of a simulation that is as planned, with a helper where the protocol needs one."""
    options |= {"helpers": ["una"]} if protocol == "trio" else {}
    report = program.simulate(*inputs, protocol=protocol, **options)
    assert report.as_planned
    return report


def results(program: Any, *inputs: Any, protocol: str = "clear") -> list[Any]:
    """The results of such a simulation."""
    return list(planned(program, *inputs, protocol=protocol).results.values())


def refusal(act: Callable[[], object], error: type[sl.SealaneError] = sl.ProgramError) -> str:
    """Text of the refusal of a call."""
    with pytest.raises(error) as caught:
        act()
    return str(caught.value)


def configure(folder: Path, parties: Iterable[str], stated: str = "", port: int = 0) -> Path:
    """Keys for all parties, and one file for all that begins with what is stated; the first party
    has the address of `port`, if there is one.
    """
    text = f"{stated}\n"
    for at, party in enumerate(parties):
        key = make_key(folder / f"{party}.key", party)
        address = f"127.0.0.1:{port if port and at == 0 else free_port()}"
        text += f'[parties.{party}]\naddress = "{address}"\nkey = "{key}"\n'
        text += f'identity = "{party}.key"\n'
    config = folder / "sealane.toml"
    config.write_text(text, encoding="utf-8")
    return config


def run_all(
    program: Any, config: Path, stated: dict[str, dict[str, Any]], **common: Any
) -> dict[str, Any]:
    """The reports of all parties of a run, each in a thread of its own, by what each states."""
    common = {"config": config, "approve": program.hash, **common}
    with ThreadPoolExecutor(len(stated)) as threads:
        runs = {
            party: threads.submit(program.run, party=party, **common, **own)
            for party, own in stated.items()
        }
    return {party: run.result() for party, run in runs.items()}


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
    out, err = command.communicate(timeout=2 * SLACK_S)
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
