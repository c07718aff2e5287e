"""Comparison of the stub with the module, by `stubtest` of mypy.

It imports every module of the installed package and holds each name, signature and default value
against the stub of the native module and the annotations of the others.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import files
from pathlib import Path

import pytest

# Names for type checkers alone, a function whose cache hides its signature, and a computed list.
ALLOWED = r"""
sealane\.aead\.(Bytes|Many|Rows|Some)
sealane\._axes\.Lengths
sealane\._core\.(Array|Meaning|Operand|Place|Ratio)
sealane\._inputs\.Tables
sealane\.math\.__all__
sealane\._operands\.(Number|Public)
sealane\._program\.Path
sealane\._source\._parsed
sealane\._value\.(Index|Operand|Holds\._holds)
"""


def test_the_wheel_says_that_it_is_typed() -> None:
    names = {Path(str(file)).name for file in files("sealane") or []}
    assert {"py.typed", "_core.pyi"} <= names


def test_stub_and_annotations_state_what_is_there(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    allowed = tmp_path / "allowed"
    allowed.write_text(ALLOWED, encoding="utf-8")
    command = [sys.executable, "-m", "mypy.stubtest", "sealane", "--concise", "--allowlist"]
    done = subprocess.run([*command, allowed], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
