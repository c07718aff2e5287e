"""The exceptions of the package: one class for each kind of fault.

The native module makes them all; `crates/py/src/error.rs` is the one place that maps its errors to
these classes.
"""

from __future__ import annotations


class SealaneError(Exception):
    """Anything that Sealane itself raises.

    The text shows what happened, the source line with a caret where there is one, why, and what to
    do; the attributes hold the same for tools. `sealane explain CODE` says more.
    """

    code: str
    """Stable name of the kind of error, such as `range-overflow`."""
    message: str
    """What happened, in one sentence."""
    file: str | None
    """The source file, table or configuration, if the place is known."""
    line: int | None
    """The line, from 1."""
    column: int | None
    """The first column of the place, from 1, counted in characters."""
    end_column: int | None
    """The column after the last of the place."""
    reason: str
    """Why; empty where the message says it."""
    hint: str
    """What to do."""

    def __init__(
        self,
        text: str,
        code: str = "internal",
        message: str = "",
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        end_column: int | None = None,
        reason: str = "",
        hint: str = "",
    ) -> None:
        super().__init__(text)
        self.code, self.message = code, message or text
        self.file, self.line, self.column, self.end_column = file, line, column, end_column
        self.reason, self.hint = reason, hint


class ProgramError(SealaneError):
    """The program means something that cannot run as written: its author has to act."""


class MisuseError(SealaneError):
    """A call or a command line has no meaning: a missing argument, an unknown protocol."""


class DataError(SealaneError):
    """An input does not fit its declaration: a missing column, a wrong shape, a value too large."""


class ConfigError(SealaneError):
    """A configuration, a key or an approval is missing or wrong; nothing has been sent."""


class NetworkError(SealaneError):
    """The network failed: a connection refused, lost, or silent until the time-out."""


class PeerError(SealaneError):
    """Another party broke the protocol, or runs something other than what was approved."""


class InternalError(SealaneError):
    """A bug in Sealane. Please report it with the message."""
