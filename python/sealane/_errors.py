"""The exceptions of the package: one class for each kind of fault.

The native module raises them too; `crates/py/src/errors.rs` is the one place that maps its errors
to these classes.
"""

from __future__ import annotations


class SealaneError(Exception):
    """Anything that Sealane itself raises."""


class ProgramError(SealaneError):
    """The program means something that cannot run as written.

    The message shows the source line with a caret, the reason and what to write instead; the
    attributes hold the same for tools.
    """

    code: str
    """Stable name of the kind of finding, such as `range-overflow`."""
    file: str | None
    """The source file, if the place is known."""
    line: int | None
    """The line, from 1."""
    column: int | None
    """The first column of the expression, from 1, counted in characters."""
    hint: str
    """What to write instead."""

    def __init__(
        self,
        text: str,
        code: str = "program",
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(text)
        self.code, self.file, self.line, self.column, self.hint = code, file, line, column, hint


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
