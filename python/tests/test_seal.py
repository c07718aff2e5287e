"""Sealed files by the command, where a terminal, a signal or memory matters; the format and attacks
on it are tested in Rust.
"""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "sealane"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that commands run in, with a file and a key."""
    monkeypatch.chdir(tmp_path)
    Path("plan.txt").write_text("meet at noon\n", encoding="utf-8")
    subprocess.run([*COMMAND, "keygen", "k.key"], check=True, capture_output=True)
    return tmp_path


def names() -> list[str]:
    return sorted(os.listdir())


def at_terminal(*arguments: str, typed: list[str]) -> tuple[int, str]:
    """Exit status and what is shown where somebody types an answer to each question."""
    process, terminal = pty.fork()
    if process == 0:
        os.execv(COMMAND[0], [*COMMAND, *arguments])
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


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_nothing_behind(ending: signal.Signals) -> None:
    # A file of zeros that takes no room, and far longer to seal than the signal to come.
    with Path("zeros").open("wb") as file:
        file.truncate(1 << 34)
    before = names()
    command = [*COMMAND, "seal", "zeros", "--key-file", "k.key"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
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
        process = subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        # In KiB: far less than the file, with room for Python and its libraries.
        assert used.ru_maxrss < 1 << 18
    assert Path("again").stat().st_size == 1 << 29
