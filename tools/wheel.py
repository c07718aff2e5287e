"""Checks what the README says of the wheel, in an environment that holds nothing else.

    python tools/wheel.py dist/sealane-....whl

A wheel for every Python, small, that asks for NumPy alone. It also prints how long the import takes
beyond NumPy's (0.2 s is the aim), which depends on the machine and so fails nothing.
"""

import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

# More of it compiled for size costs time to plan.
MOST_BYTES = 12_500_000
TIMED = """
import sys, time
import numpy
start = time.perf_counter()
import sealane
print(time.perf_counter() - start)
"""


def main(wheel: Path) -> int:
    """Prints each property; the number of those that fail is the exit status."""
    size = wheel.stat().st_size
    others = {item.name.lower() for item in distributions()} - {"sealane", "pip", "setuptools"}
    # The best of several: a busy machine only ever makes it slower.
    seconds = min(float(python(TIMED)) for _ in range(5))
    found = [
        ("-abi3-" in wheel.name, f"for every Python from 3.11 on (abi3): {wheel.name}"),
        (size < MOST_BYTES, f"less than {MOST_BYTES:,} bytes: {size:,}"),
        (others == {"numpy"}, f"depends on NumPy alone: {', '.join(sorted(others))}"),
    ]
    for holds, what in found:
        print(f"{'ok   ' if holds else 'WRONG'} {what}")
    print(f"      import beyond NumPy: {seconds:.3f} s")
    return sum(not holds for holds, _ in found)


def python(code: str) -> str:
    """Output of a fresh interpreter."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
