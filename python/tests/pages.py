"""Runs the examples of a page in this process: one interpreter serves all pages, so that hundreds
of errors are shown in the time that a few processes would take.

A comment before a fenced block says what it is, in the words of `tools/run_docs.py`:

    <!-- file: NAME -->     the block is the file NAME
    <!-- run: fails -->     Python, or commands of `sealane`, that end with an error of Sealane
    <!-- run -->            the same, that end well
    <!-- prints -->         all that the block before prints, where `...` stands for anything

With SEALANE_BLESS=1 the blocks that are printed are written anew: read the difference.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import sealane as sl
from sealane import _core

BLOCK = re.compile(
    r"^<!-- (?P<mark>run|run: fails|prints|file: (?P<name>[\w.]+)) -->\n"
    r"```(?P<kind>\w*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
BLESS = bool(os.environ.get("SEALANE_BLESS"))
STATUS = {
    sl.MisuseError: 2,
    sl.ConfigError: 2,
    sl.ProgramError: 3,
    sl.DataError: 4,
    sl.NetworkError: 5,
    sl.PeerError: 5,
}


SHOWN = re.compile(r"(<!-- shown -->\n```text\n)(.*?)(?=```\n)", re.DOTALL)


def shows(code: str, text: str) -> None:
    """Asserts that the page of an error that no example of it causes shows this text."""
    page = Path(__file__).parents[2] / f"docs/errors/{code}.md"
    old = page.read_text(encoding="utf-8")
    shown = SHOWN.search(old)
    assert shown, f"the page of {code} shows nothing"
    if BLESS:
        new = old[: shown.start(2)] + text + old[shown.end(2) :]
        page.write_text(new, encoding="utf-8")
    else:
        assert shown[2] == text


class Shown(NamedTuple):
    """Output of a block, and how it ended: the exit status of a command, or that of the same error
    in Python.
    """

    text: str
    status: int


def check(page: Path, folder: Path, capfd: pytest.CaptureFixture[str]) -> list[Shown]:
    """Runs all blocks of a page in an empty folder, the current one, and compares what they print.
    Returns what each block printed that ran.
    """
    text = page.read_text(encoding="utf-8")
    runs: list[Shown] = []
    blessed, end = "", 0
    for block in BLOCK.finditer(text):
        mark, shown = block["mark"], block["text"]
        if block["name"]:
            (folder / block["name"]).write_text(shown, encoding="utf-8")
        elif mark == "prints":
            if BLESS and not matches(shown, runs[-1].text):
                blessed += text[end : block.start("text")] + runs[-1].text
                end = block.end("text")
            elif not matches(shown, runs[-1].text):
                assert shown == runs[-1].text, f"{page.name} shows something else"
        else:
            ran = python(shown, folder) if block["kind"] == "python" else shell(shown, capfd)
            assert (ran.status != 0) == (mark == "run: fails"), ran.text
            runs.append(ran)
    if BLESS:
        page.write_text(blessed + text[end:], encoding="utf-8")
    return runs


def matches(shown: str, printed: str) -> bool:
    """Returns whether a page shows the printed text, where `...` stands for anything."""
    options = doctest.ELLIPSIS | doctest.DONT_ACCEPT_BLANKLINE
    return doctest.OutputChecker().check_output(shown, printed, options)


def python(code: str, folder: Path) -> Shown:
    """Text of the exception with which an example fails."""
    file = folder / "example.py"
    file.write_text(code, encoding="utf-8")
    try:
        exec(compile(code, str(file), "exec", dont_inherit=True), {"__name__": "example"})
    except sl.SealaneError as error:
        status = next((status for kind, status in STATUS.items() if isinstance(error, kind)), 70)
        return Shown(f"{error}\n", status)
    return Shown("", 0)


def shell(commands: str, capfd: pytest.CaptureFixture[str]) -> Shown:
    """Output of commands. Those of `sealane` run here, others in a shell; the last one counts."""
    text, status = "", 0
    for line in commands.splitlines():
        words = shlex.split(line)
        capfd.readouterr()
        if words[0] == "sealane" and not {">", "$"} & set(line):
            modules, path = set(sys.modules), list(sys.path)
            status = _core.main(words[1:], sys.executable)
            # The next page has another `program.py`.
            for name in set(sys.modules) - modules:
                del sys.modules[name]
            sys.path[:] = path
        else:
            line = line.replace("sealane ", f"{shlex.quote(sys.executable)} -m sealane ")
            status = subprocess.run(["bash", "-c", line], check=False).returncode
        printed = capfd.readouterr()
        text += printed.out + printed.err
    return Shown(text, status)
