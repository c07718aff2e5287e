"""Runs that are cancelled or killed: others are told, and nothing of them is left."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from conftest import SEALANE, configure, free_port, ran, started

LINUX = sys.platform == "linux"
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "aes128"
MILLIONAIRES = EXAMPLE.parent / "millionaires"
# A run that takes no time.
SMALL = f"simulate {MILLIONAIRES}/program.py"
SMALL += "".join(f" --input {party}={MILLIONAIRES}/{party}.csv" for party in ("alice", "bob"))
MANY_BLOCKS = 20_000
SLACK_S = 30
WAIT = "[limits]\nwait_s = 60"
# The beginning of the file of a private key (RFC 8410, section 7).
KEY = bytes.fromhex("302e020100300506032b6570")

SCRIPT = """
import os, socket, sys, threading
import sealane as sl

@sl.program
def older(
    a: sl.Private[sl.u8, "ann"], b: sl.Private[sl.u8, "ben"]
) -> sl.Revealed[sl.boolean, "ann"]:
    return a > b

@sl.program
def long(
    a: sl.Private[sl.u64.wrapping, "ann", "n <= 100_000"], b: sl.Private[sl.u64.wrapping, "ben"]
) -> sl.Revealed[sl.u64.wrapping, "ann"]:
    return sl.sum(a * b)

def names():
    tasks = "/proc/self/task"
    if not os.path.isdir(tasks):
        return []
    texts = (open(f"{tasks}/{task}/comm").read().strip() for task in os.listdir(tasks))
    return [text for text in texts if text == "sealane" or text.startswith("net-")]

print("ready", flush=True)
try:
    if sys.argv[1] == "run":
        older.run(party="ann", input={"a": 3}, approve=older.hash, record=False, progress=False)
    else:
        long.simulate(range(1, 100_001), 77, progress=False)
except KeyboardInterrupt as stopped:
    print("threads", names(), flush=True)
    if sys.argv[1] == "run":
        socket.create_server(("127.0.0.1", int(sys.argv[2]))).close()
    print("notes", stopped.__notes__, flush=True)
else:
    print("it has finished", flush=True)
"""


@pytest.mark.parametrize("verb", ["run", "simulate"])
def test_an_interrupt_in_python_leaves_nothing(tmp_path: Path, verb: str) -> None:
    port = free_port()
    configure(tmp_path, ("ann", "ben"), WAIT, port)
    command = [sys.executable, "-c", SCRIPT, verb, str(port)]
    process = started(command, cwd=tmp_path)
    assert process.stdout.readline() == "ready\n"
    if verb == "run":
        wait_until_it_listens(port)
    else:
        time.sleep(1.5)
    asked = time.monotonic()
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=SLACK_S)
    assert time.monotonic() - asked < SLACK_S / 2
    assert process.returncode == 0, errors
    assert "threads []" in output, output + errors
    assert "nothing of it goes on" in output


def wait_until_it_listens(port: int) -> None:
    deadline = time.monotonic() + SLACK_S
    while time.monotonic() < deadline:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.02)
    raise AssertionError("nobody listens")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Inputs of a local run that takes seconds."""
    lines = (EXAMPLE / "client.csv").read_text(encoding="utf-8").splitlines()
    many = [lines[0], *(lines[1 + index % 4] for index in range(MANY_BLOCKS))]
    (tmp_path / "client.csv").write_text("\n".join(many) + "\n", encoding="utf-8")
    return tmp_path


def living_in(folder: Path) -> Iterator[int]:
    """Processes that were started in this folder."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if Path(os.readlink(process / "cwd")) == folder:
                yield int(process.name)


@pytest.mark.skipif(not LINUX, reason="processes are found in /proc")
@pytest.mark.parametrize("how", ["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"])
def test_no_party_and_no_key_outlives_a_local_run(home: Path, how: str) -> None:
    arguments = ["run", str(EXAMPLE / "program.py"), "--local", "--output", "out.csv"]
    arguments += ["--input", f"keeper={EXAMPLE / 'keeper.csv'}", "--input", "client=client.csv"]
    process = started([*SEALANE, *arguments], cwd=home, env={**os.environ, "TMPDIR": str(home)})
    deadline = time.monotonic() + SLACK_S
    while len(list(living_in(home))) < 3 or not list(home.glob("runs/*/*/events.jsonl")):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.02)
    assert not [file for file in home.rglob("*") if file.is_file() and KEY in file.read_bytes()]
    process.send_signal(getattr(signal, how))
    _, errors = process.communicate(timeout=SLACK_S)
    while left := list(living_in(home)):
        assert time.monotonic() < deadline + SLACK_S, f"{left} are left"
        time.sleep(0.02)
    assert not [file for file in home.rglob("*") if file.is_file() and KEY in file.read_bytes()]
    assert not list(home.glob("out*")) and not list(home.glob(".sealane-*")), errors
    if how != "SIGKILL":
        assert process.returncode == 2, errors
        assert errors.count("error[") == 1, errors
        assert re.search(r"no result was written; \S+ says how far it came", errors), errors


@pytest.mark.parametrize("ignored", [signal.SIGHUP, signal.SIGINT])
def test_an_ignored_signal_stays_so_and_takes_no_other_along(
    tmp_path: Path, ignored: signal.Signals
) -> None:
    configure(tmp_path, ("ann", "ben"), WAIT)
    words = ["pool", "fill", "--with", "ben", "--as", "ann", "--transfers", "1"]
    ignoring = partial(signal.signal, ignored, signal.SIG_IGN)
    process = started([*SEALANE, *words], cwd=tmp_path, preexec_fn=ignoring)
    assert "ben has to call this as well" in process.stderr.readline()
    process.send_signal(ignored)
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=SLACK_S)
    assert (process.returncode, errors.count("error[interrupted]")) == (2, 1), errors


WAITS = "import sys, time\nprint('ready', file=sys.stderr, flush=True)\ntime.sleep(60)\n"


@pytest.mark.parametrize(
    "module", [["-m", "sealane"], [f"{sysconfig.get_path('scripts')}/sealane"]]
)
@pytest.mark.parametrize("file", ["numpy.py", "program.py"])
def test_ctrl_c_before_any_work_is_a_line(tmp_path: Path, module: list[str], file: str) -> None:
    # The first stands in the place of what the command imports; the second is a user's program.
    (tmp_path / file).write_text(WAITS, encoding="utf-8")
    path = {**os.environ, "PYTHONPATH": str(tmp_path) if file == "numpy.py" else ""}
    process = started([sys.executable, *module, "check", "program.py"], cwd=tmp_path, env=path)
    assert process.stderr.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=SLACK_S)
    assert errors == "sealane: interrupted while no run was under way\n"
    assert process.returncode == 130


def test_no_pipe_and_no_device_holds_the_command_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    with (tmp_path / "long.toml").open("wb") as file:
        file.truncate(100 << 20)
    for words, reason in {
        "circuit info /dev/zero": "it is a device or a socket, where a file is needed",
        "doctor --config pipe.csv": "it is a pipe, where a file is needed",
        "doctor --config long.toml": "it has more than 1048576 bytes, the limit",
        f"{SMALL} --output pipe.csv": "it is a pipe",
    }.items():
        done = ran([*SEALANE, *words.split()], cwd=tmp_path, timeout=SLACK_S)
        assert done.returncode == 2 and f"\nreason: {reason}" in done.stderr, done.stderr


@pytest.mark.skipif(not LINUX, reason="/dev/full")
@pytest.mark.parametrize("shell", [">/dev/full", ">&-", "| true"])
def test_results_are_written_whatever_becomes_of_the_standard_output(
    tmp_path: Path, shell: str
) -> None:
    line = f"exec {sys.executable} -m sealane {SMALL} --output out.csv {shell}"
    line = line.replace("exec ", "") if "|" in shell else line
    done = ran(["sh", "-c", line], cwd=tmp_path, timeout=2 * SLACK_S)
    assert (tmp_path / "out.csv").read_text(encoding="utf-8").count("\n") == 2, done.stderr
    assert ("error[output]" in done.stderr) == ("full" in shell), done.stderr


@pytest.mark.skipif(not LINUX, reason="/dev/full")
@pytest.mark.parametrize("form", ["", "--json"])
def test_results_that_standard_output_does_not_take_are_shown_beside_it(
    tmp_path: Path, form: str
) -> None:
    words = f"{SMALL} --no-record {form}".split()
    with open("/dev/full", "w", encoding="utf-8") as full:
        to = {"capture_output": False, "stdout": full, "stderr": subprocess.PIPE}
        done = ran([*SEALANE, *words], cwd=tmp_path, timeout=2 * SLACK_S, **to)
    assert done.returncode == 2, done.stderr
    assert ('"results":{"result":' if form else "learnt         result: ") in done.stderr
    assert "the report stands above, on standard error; `--output FILE` writes" in done.stderr
    if form:
        assert json.loads(done.stderr.splitlines()[-1])["error"]["code"] == "output"


@pytest.mark.parametrize("form", ["", "--json"])
def test_results_have_a_place_where_standard_output_is_closed(tmp_path: Path, form: str) -> None:
    line = f"exec {sys.executable} -m sealane {SMALL} --no-record {form} >&-"
    done = ran(["sh", "-c", line], cwd=tmp_path, timeout=2 * SLACK_S)
    assert done.returncode == 0, done.stderr
    assert ('"results":{"result":' if form else "learnt         result: ") in done.stderr
