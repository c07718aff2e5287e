"""Progress of a run, shown in a notebook; elsewhere the native module shows it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def display() -> bool | Callable[[str], None]:
    """Returns, in a notebook, a function that replaces the displayed line; elsewhere `True`, for a
    bar at a terminal and a line now and then in a log.
    """
    # What runs in a notebook has been imported by it.
    shell = sys.modules.get("IPython.core.getipython")
    if shell is None or not hasattr(shell.get_ipython(), "kernel"):
        return True
    width = 0

    def line(text: str) -> None:
        nonlocal width
        # Blanks cover what is left of a longer line; the cursor then stands before the next one.
        print(f"\r{text:<{width}}\r", end="", file=sys.stderr, flush=True)
        width = len(text)

    return line
