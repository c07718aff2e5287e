"""The `sealane` command: a thin door to the native one."""

from __future__ import annotations

import os
import signal
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Runs the command with the arguments of this process, and exits with its status."""
    from sealane import _core

    _open_standard_streams()
    # The command runs in native code, which never returns to the interpreter's own handler.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    raise SystemExit(_core.main(sys.argv[1:], sys.executable))


def _open_standard_streams() -> None:
    """Opens each standard stream that is closed, on nothing: the next file or socket would take its
    number, and what is printed would go there.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The lowest number that is free.
            os.open(os.devnull, os.O_RDWR)
