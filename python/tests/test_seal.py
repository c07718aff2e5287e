"""Sealed files by the command, where a terminal, a signal or memory matters; the format and attacks
on it are tested in Rust.
"""

from __future__ import annotations

import os
import pty
import signal
import sys
import termios
import time
from pathlib import Path

import pytest

from conftest import SEALANE, ran, sealane, started

# Runs a command, and prints the most memory that it had.
MEMORY = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that commands run in, with a file and a key."""
    monkeypatch.chdir(tmp_path)
    Path("plan.txt").write_text("meet at noon\n", encoding="utf-8")
    sealane("keygen", "k.key")
    return tmp_path


def names() -> list[str]:
    return sorted(os.listdir())


def at_terminal(*arguments: str, typed: list[str]) -> tuple[int, str]:
    """Exit status and what is shown where somebody types an answer to each question."""
    process, terminal = pty.fork()
    if process == 0:
        os.execv(SEALANE[0], [*SEALANE, *arguments])
    shown, answers = b"", [*typed]
    while True:
        try:
            some = os.read(terminal, 4096)
        except OSError:  # Linux says so where others say that there is no more.
            break
        if not some:
            break
        shown += some
        if answers and some.rstrip().endswith(b":"):
            os.write(terminal, answers.pop(0).encode())
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), shown.decode()


def test_a_passphrase_is_typed_and_never_shown() -> None:
    words = "correct horse\n"
    status, shown = at_terminal("seal", "plan.txt", typed=[words, words])
    assert status == 0 and "correct" not in shown, shown
    before = names()
    wrong = at_terminal("open", "plan.txt.sealed", "-o", "again", typed=["correct hors\n"])
    assert wrong[0] == 2 and "sealed-wrong-key" in wrong[1], wrong
    assert names() == before
    status, shown = at_terminal("open", "plan.txt.sealed", "-o", "again", typed=[words])
    assert status == 0 and "correct" not in shown, shown
    assert Path("again").read_text(encoding="utf-8") == "meet at noon\n"


def test_two_passphrases_that_differ_seal_nothing() -> None:
    before = names()
    status, shown = at_terminal("seal", "plan.txt", typed=["one\n", "two\n"])
    assert status == 2 and "error" in shown and "differ" in shown, shown
    assert names() == before


def usual_signals() -> None:
    """Nothing ignored, as for a command at a terminal."""
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_DFL)


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_at_the_question_leaves_the_terminal_as_it_was(ending: signal.Signals) -> None:
    process, terminal = pty.fork()
    if process == 0:
        usual_signals()
        os.execv(SEALANE[0], [*SEALANE, "seal", "plan.txt"])
    shown = b""
    while not shown.rstrip().endswith(b":"):
        shown += os.read(terminal, 4096)
    assert not termios.tcgetattr(terminal)[3] & termios.ECHO
    os.kill(process, ending)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 130
    assert termios.tcgetattr(terminal)[3] & termios.ECHO
    os.close(terminal)


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_nothing_behind(ending: signal.Signals) -> None:
    # A file of zeros that takes no room, and far longer to seal than the signal to come.
    with Path("zeros").open("wb") as file:
        file.truncate(1 << 34)
    before = names()
    command = [*SEALANE, "seal", "zeros", "--key-file", "k.key"]
    # Signals that whoever runs the tests ignores stay ignored, and then all are left alone.
    process = started(command, preexec_fn=usual_signals)
    deadline = time.monotonic() + 30
    while names() == before:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(ending)
    _, told = process.communicate(timeout=30)
    assert process.returncode == 2 and "error[interrupted]" in told, told
    assert names() == before


@pytest.mark.skipif(sys.platform != "linux", reason="other systems count memory in other units")
def test_memory_does_not_grow_with_the_file() -> None:
    with Path("zeros").open("wb") as file:
        file.truncate(1 << 29)
    for arguments in (
        ["seal", "zeros", "--key-file", "k.key"],
        ["open", "zeros.sealed", "--key-file", "k.key", "-o", "again"],
    ):
        # From a process of its own, since the memory of whoever starts one counts for it as well.
        shown = ran([sys.executable, "-c", MEMORY, *SEALANE, *arguments], check=True).stdout
        # In KiB: far less than the file, with room for Python and its libraries.
        assert int(shown.split()[-1]) < 1 << 18
    assert Path("again").stat().st_size == 1 << 29
