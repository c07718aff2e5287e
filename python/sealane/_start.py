"""Ctrl-C while the `sealane` command imports: a line and status 130, not a traceback of whatever
was being imported. `_cli.py` hands signals on to native code once all is there.
"""

from __future__ import annotations

import os
import signal
import sys


def _is_command() -> bool:
    """Tells if this process is the command, `sealane` or `python -m sealane`."""
    if sys.argv[:1] == ["-m"]:
        return ["-m", "sealane"] in [sys.orig_argv[at : at + 2] for at in (1, 2, 3)]
    return bool(sys.argv) and os.path.basename(sys.argv[0]) == "sealane"


def _end(*_: object) -> None:
    os.write(2, b"sealane: interrupted while no run was under way\n")
    os._exit(130)


# Where it is ignored, it stays so.
if _is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _end)
