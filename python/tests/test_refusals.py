"""Refusals of the tracer, as the author of a program sees them.

`refusals.md` holds each mistake with the whole text of its error. To rewrite the texts after a
deliberate change, run with SEALANE_BLESS=1 and read the difference.
"""

from __future__ import annotations

import os
import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

import conftest
import sealane as sl

PAGE = Path(__file__).with_name("refusals.md")
CASE = re.compile(
    r"^## (?P<title>[^\n]+)\n\n```python\n(?P<code>.*?)```\n\n```text\n(?P<text>.*?)```\n",
    re.M | re.S,
)

PRELUDE = "import math\nimport numpy as np\nimport sealane as sl\n\n"
SIGNATURE = """\
@sl.program
def f(
    x: sl.Private[sl.u16, "alice", "rows <= 100"],
    y: sl.Private[sl.u16, "bob", 4],
    n: sl.Private[sl.i32, "alice"],
) -> sl.Revealed[sl.boolean, "bob"]:
"""


def cases() -> list[Any]:
    found = CASE.finditer(PAGE.read_text(encoding="utf-8"))
    return [pytest.param(c["code"], c["text"], id=c["title"].replace("`", "")) for c in found]


def load(code: str, folder: Path) -> sl.Program[..., Any]:
    """The program of a case: a whole function, or the body of one with the usual signature."""
    whole = code if "@sl.program" in code else SIGNATURE + textwrap.indent(code, "    ")
    program: sl.Program[..., Any] = conftest.load(folder / "program.py", PRELUDE + whole).f
    return program


@pytest.mark.parametrize(("code", "text"), cases())
def test_refusal(code: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    program = load(code, tmp_path)
    with pytest.raises(sl.ProgramError) as caught:
        program.check()
    error = caught.value
    shown = f"{error}\n"
    if os.environ.get("SEALANE_BLESS"):
        page = PAGE.read_text(encoding="utf-8")
        before = f"```python\n{code}```\n\n```text\n"
        PAGE.write_text(page.replace(before + text, before + shown, 1), encoding="utf-8")
        return
    assert shown == text
    assert error.line is not None
    assert f"program.py:{error.line}:{error.column}" in shown
    assert shown.startswith(f"error[{error.code}]: ")


def test_every_code_of_the_python_layer_is_shown() -> None:
    """A code that no case shows is one whose text nobody has read."""
    package = Path(sl.__file__).parent
    used: set[str] = set()
    for file in package.glob("*.py"):
        source = file.read_text(encoding="utf-8")
        used |= set(re.findall(r'refuse(?:\(|,)\s*"([a-z-]+)"', source))
    shown = set(re.findall(r"^error\[([a-z-]+)\]", PAGE.read_text(encoding="utf-8"), re.M))
    # Old names of arguments are those of calls, not of programs: `test_arguments.py` has them.
    assert used - shown == {"argument"}
