"""Memory of runs: within the plan, and an end with a code where it is refused."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import pages
import sealane as sl

TOOL = Path(__file__).parents[2] / "tools/memory.py"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def test_rows_that_flow_through_tiles_are_not_kept() -> None:
    @sl.program
    def positive(
        flag: sl.Private[sl.boolean, "ada", "n <= 2_000_000"], x: sl.Private[sl.i32, "bob", "n"]
    ) -> tuple[sl.Revealed[sl.i32, "ada"], sl.Revealed[sl.i64, "bob"]]:
        y = sl.where(flag, x, 0)
        return y, sl.sum(y, dtype=sl.i64)

    for helpers, protocol in ((None, "yao"), (["cyd"], "trio"), (None, "gmw"), (None, "mixed")):
        plan = positive.plan(rows=1_000_000, protocol=protocol, helpers=helpers)
        assert max(plan.memory_bytes.values()) < 300_000_000, plan


def test_processes_take_no_more_memory_than_planned() -> None:
    subprocess.run([sys.executable, TOOL, "40000"], check=True)


def test_a_refusal_of_memory_ends_with_a_code_and_a_status() -> None:
    source = """
import resource, numpy as np, sealane as sl

@sl.program
def most(x: sl.Private[sl.u64, "ada", "n <= 10_000_000"]) -> sl.Revealed[sl.u64, "ada"]:
    return sl.max(x)

x = np.zeros(10_000_000, dtype=np.uint64)
taken = 1024 * int(open("/proc/self/statm").read().split()[0]) * 4
resource.setrlimit(resource.RLIMIT_AS, (taken + 50_000_000, resource.RLIM_INFINITY))
most(x)
"""
    ended = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
    assert ended.returncode == 2, ended.stderr
    pages.shows("out-of-memory", re.sub(r"\d+(?= bytes)", "8000000128", ended.stderr))
