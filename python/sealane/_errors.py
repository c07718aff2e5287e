"""The exceptions of the package: one class for each kind of fault.

The native module makes them all; `crates/py/src/error.rs` is the one place that maps its errors to
these classes.
"""

from __future__ import annotations

import os
import threading
import traceback
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class SealaneError(Exception):
    """Base class of all exceptions of Sealane.

    The text shows what happened, the source line with a caret where there is one, why, and what to
    do; the attributes hold the same for tools. `sealane explain CODE` says more.

    >>> import sealane as sl
    >>> @sl.program
    ... def total(
    ...     a: sl.Private[sl.u8, "alice"], b: sl.Private[sl.u8, "bob"]
    ... ) -> sl.Revealed[sl.u8, "bob"]:
    ...     return a + b
    >>> try:
    ...     total(200, 100)
    ... except sl.SealaneError as error:
    ...     print(error.code, error.line, error.column, error.end_column, sep=", ")
    ...     print(error.hint)
    range-overflow, 5, 12, 17
    write `a.astype(sl.u9) + b`
    """

    code: str
    """Stable name of the kind of error, such as `range-overflow`."""
    message: str
    """The fault, in one sentence."""
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
    """The action to take."""
    summary: str
    """All of it in one line without control characters, for a log."""

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
        summary: str = "",
    ) -> None:
        super().__init__(text)
        self.code, self.message = code, message or text
        self.file, self.line, self.column, self.end_column = file, line, column, end_column
        self.reason, self.hint, self.summary = reason, hint, summary or repr(text)

    def _render_traceback_(self) -> list[str]:
        """Traceback for a notebook: the user's own frames, then the text, which has its own
        excerpt. IPython calls this.
        """
        frames = users_frames(self.__traceback__)
        # The frame that the text shows already, and shows better, is left out.
        frames = [f for f in frames if not self._shows(f)]
        shown = [line.rstrip("\n") for line in traceback.format_list(frames)]
        return [*shown, f"{type(self).__name__}: {self}"]

    def _shows(self, frame: traceback.FrameSummary) -> bool:
        same = self.line == frame.lineno and self.file is not None
        return same and frame.filename.endswith(self.file or "")


def users_frames(trace: TracebackType | None) -> list[traceback.FrameSummary]:
    """The frames of a traceback without those of this package, of the interpreter's own library
    and of what runs a notebook's cells.
    """
    ours = (_PACKAGE, "<frozen importlib", os.path.dirname(os.__file__) + os.sep)
    frames = traceback.extract_tb(trace)
    installed = os.sep + "site-packages" + os.sep
    first = next((i for i, f in enumerate(frames) if not f.filename.startswith(ours)), 0)
    # A notebook runs a cell from within its own packages; what a cell calls in others is kept.
    while first < len(frames) and installed in frames[first].filename:
        first += 1
    return [frame for frame in frames[first:] if not frame.filename.startswith(ours)]


class SealaneWarning(UserWarning):
    """Warning that a run's numbers differ from those that the source suggests: one was rounded, or
    many are; or that its rounds or its time are out of proportion.

    The first is given once, when the program is traced, with the place in the source, and the
    second by `plan`; `notes` of checks, plans and reports hold the same text.

    >>> import warnings
    >>> import sealane as sl
    >>> @sl.program
    ... def dear(
    ...     price: sl.Private[sl.fixed(16, 4), "shop"], share: sl.Private[sl.fixed(16, 4), "guest"]
    ... ) -> sl.Revealed[sl.boolean, "guest"]:
    ...     return price * 0.1 > share
    >>> with warnings.catch_warnings(record=True) as given:
    ...     warnings.simplefilter("always", sl.SealaneWarning)
    ...     parties = dear.parties
    >>> given[0].message.code
    'literal-rounded'
    """

    code: str
    """Stable name of the kind of warning, such as `literal-rounded`."""
    message: str
    """The subject, in one sentence."""
    reason: str
    """Why."""
    hint: str
    """The action to take."""

    def __init__(self, code: str, message: str, reason: str = "", hint: str = "") -> None:
        said = [f"{code}: {message}", reason and f"reason: {reason}", hint and f"hint: {hint}"]
        super().__init__("; ".join(part for part in said if part))
        self.code, self.message, self.reason, self.hint = code, message, reason, hint


class ProgramError(SealaneError):
    """Error in a program that cannot run as written: its author has to act.

    >>> import sealane as sl
    >>> @sl.program
    ... def larger(
    ...     a: sl.Private[sl.u8, "alice"], b: sl.Private[sl.u8, "bob"]
    ... ) -> sl.Revealed[sl.u8, "bob"]:
    ...     return a if a > b else b
    >>> try:
    ...     larger(3, 5)
    ... except sl.ProgramError as error:
    ...     print(error.code)
    secret-condition
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        _made.errors.append(self)


class _Made(threading.local):
    """Refusals that this thread has made while it traces."""

    def __init__(self) -> None:
        self.errors: list[ProgramError] = []


_made = _Made()
# Python asks for these and does without: `hasattr`, `list`.
_ASKED = {"attribute", "no-length"}


@contextmanager
def none_swallowed() -> Iterator[None]:
    """Raises the first refusal that was made inside, even if the program has caught it: the
    program's reaction to it is not part of its meaning.
    """
    before, _made.errors = _made.errors, []
    try:
        yield
        refused = [error for error in _made.errors if error.code not in _ASKED]
    finally:
        _made.errors = before
    if refused:
        raise refused[0]


class MisuseError(SealaneError):
    """Invalid call or command line: a missing argument, an unknown protocol.

    >>> import sealane as sl
    >>> @sl.program
    ... def richer(
    ...     a: sl.Private[sl.u8, "alice"], b: sl.Private[sl.u8, "bob"]
    ... ) -> sl.Revealed[sl.boolean, "bob"]:
    ...     return a > b
    >>> try:
    ...     richer.plan(protocol="moon")
    ... except sl.MisuseError as error:
    ...     print(error.code)
    unknown-protocol
    """


class DataError(SealaneError):
    """Input that does not match its declaration: a missing column, a wrong shape, a value too
    large.

    >>> import sealane as sl
    >>> @sl.program
    ... def richer(
    ...     a: sl.Private[sl.u8, "alice"], b: sl.Private[sl.u8, "bob"]
    ... ) -> sl.Revealed[sl.boolean, "bob"]:
    ...     return a > b
    >>> try:
    ...     richer(3, 256)
    ... except sl.DataError as error:
    ...     print(error.code)
    data-range
    """


class InvalidTag(DataError):
    """Sealed message that failed authentication: the message, its nonce or its associated data
    differ from those sealed under this key.

    >>> from sealane import aead
    >>> key, nonces = bytes(range(16)), [bytes([number]) * 12 for number in range(3)]
    >>> sealed = aead.seal_many("ocb3", key, nonces, [b"one", b"two", b"three"])
    >>> sealed[1] = bytes(19)
    >>> try:
    ...     aead.open_many("ocb3", key, nonces, sealed)
    ... except aead.InvalidTag as error:
    ...     print(error.failed, error.opened)
    [1] [b'one', None, b'three']
    """

    failed: list[int]
    """The numbers of the messages that did not open, from 0, in order."""
    opened: list[bytes | None]
    """Result of each message, and `None` for those that did not open."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.failed, self.opened = [0], [None]


class ConfigError(SealaneError):
    """Missing or wrong configuration, key or approval; nothing has been sent.

    >>> import sealane as sl
    >>> @sl.program
    ... def richer(
    ...     a: sl.Private[sl.u8, "alice"], b: sl.Private[sl.u8, "bob"]
    ... ) -> sl.Revealed[sl.boolean, "bob"]:
    ...     return a > b
    >>> try:
    ...     richer.plan(config="no-such-folder/sealane.toml")
    ... except sl.ConfigError as error:
    ...     print(error.code)
    config-unreadable
    """


class NetworkError(SealaneError):
    """Network fault: a connection refused, lost, or silent until the time-out."""


class PeerError(SealaneError):
    """Fault of another party: it broke the protocol, or runs a job other than the approved one."""


class InternalError(SealaneError):
    """A bug in Sealane. Please report it with the message."""
