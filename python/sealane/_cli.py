"""The `sealane` command: a thin door to the native one."""

from __future__ import annotations

import signal
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Runs the command with the arguments of this process, and exits with its status."""
    from sealane import _core

    # The command runs in native code, which never returns to the interpreter's own handler.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    raise SystemExit(_core.main(sys.argv[1:], sys.executable))
