"""The package as a whole: what it costs to import, and what type checkers see in it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import sealane as sl

MEASURE = """
import numpy, sys, time
before, start = set(sys.modules), time.perf_counter()
import sealane
print(time.perf_counter() - start)
print(*sorted(set(sys.modules) - before))
"""


def test_importing_is_quick_and_pulls_nothing_but_numpy() -> None:
    def measure() -> tuple[float, list[str]]:
        command = [sys.executable, "-c", MEASURE]
        seconds, modules = subprocess.check_output(command, text=True).splitlines()
        return float(seconds), modules.split()

    runs = [measure() for _ in range(3)]
    assert min(seconds for seconds, _ in runs) < 0.2
    standard = sys.stdlib_module_names
    foreign = {name.split(".")[0] for _, names in runs for name in names} - standard
    assert foreign == {"sealane"}


def test_every_public_name_is_there_and_documented() -> None:
    for name in sl.__all__:
        item = getattr(sl, name)
        assert name.startswith("__") or name == "wrapping" or item.__doc__, name
    assert len(sl.__all__) == len(set(sl.__all__))


def test_every_public_name_is_in_the_reference() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "python.md"
    told = set(re.findall(r"auto\w+:: sealane\.(\w+)$", page.read_text("utf-8"), re.MULTILINE))
    assert {name for name in sl.__all__ if not name.startswith("__")} == told


TYPED = """\
import numpy as np
import sealane as sl

FEATURES = ["radius", "texture"]


@sl.program
def f(
    x: sl.Private[sl.u16, "hospital", "patients <= 10_000", FEATURES, sl.between(0, 9)],
    n: sl.Private[sl.i32, "lab"],
) -> sl.Revealed[sl.boolean, "hospital"]:
    reveal_type(x)  # "u16"
    reveal_type(x + 1)  # "u16"
    reveal_type(x + n)  # "i32"
    reveal_type(n - x)  # "i32"
    reveal_type(n * n.astype(sl.u32))  # "Any"
    reveal_type(x.sum(axis=1, dtype=sl.i64))  # "i64"
    reveal_type(x[:, 0] * np.array([1, 2]))  # "u16"
    reveal_type(sl.where(n > 3, n, 0))  # "i32"
    reveal_type(sl.maximum(x, n))  # "i32"
    reveal_type(sl.dot(x, [1, 2], dtype=sl.i64))  # "i64"
    reveal_type(n.astype(sl.u32.wrapping))  # "u32"
    reveal_type(sl.lookup(x[0], n & 1))  # "u16"
    reveal_type(sl.lookup([3, 5], n & 1))  # "Any"
    x.nothing()  # "u16" has no attribute "nothing"  [attr-defined]
    return sl.dot(x, [1, 2], dtype=sl.i64) > n


reveal_type(f.plan().payload_bytes)  # "dict[str, int]"
"""
# What a type checker says of a line stands behind it.
EXPECTED = re.findall(r"  # (.*)$", TYPED, re.MULTILINE)


def test_type_checkers_know_the_values(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    (tmp_path / "typed.py").write_text(TYPED, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "typed.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    found = re.findall(r"(?:Revealed type is|error:) (.*)$", done.stdout, re.MULTILINE)
    assert [text.replace("sealane._types.", "") for text in found] == EXPECTED
