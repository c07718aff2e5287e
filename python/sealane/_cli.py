"""Entry point of the `sealane` command, which the native module implements."""

from __future__ import annotations

import os
import signal
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Runs the command with the arguments of this process, and exits with its status.

    Raises `SystemExit` always: with status 0 for success, and otherwise that of the kind of error.
    """
    from sealane import _core

    _open_standard_streams()
    ending = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
    # What `nohup`, or a shell in the background, has ignored stays so.
    ending = [number for number in ending if signal.getsignal(number) is not signal.SIG_IGN]
    if signal.SIGINT in ending:
        # The command runs in native code, which never returns to a handler in Python.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    raise SystemExit(_core.main(sys.argv[1:], sys.executable, ending))


def _open_standard_streams() -> None:
    """Opens each standard stream that is closed: the next file or socket would take its number, and
    what is printed would go there. Standard output becomes standard error, any other nothing.
    """
    closed = []
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The lowest number that is free.
            os.open(os.devnull, os.O_RDWR)
            closed.append(number)
    # A run has no other place for its results; a closed standard output is none that was chosen.
    if 1 in closed and 2 not in closed:
        os.dup2(2, 1)
