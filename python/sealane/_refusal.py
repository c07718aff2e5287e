"""How the Python layer refuses: the same text as findings of the native check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sealane import _core, _source

if TYPE_CHECKING:
    from sealane._errors import ProgramError


def refuse(
    code: str,
    message: str,
    *,
    reason: str = "",
    hint: str,
    at: _source.Span | None = None,
) -> ProgramError:
    """The error to raise: what happened, where (by default at the user's current line), why, what
    to write instead. The native module renders it, so that all findings look alike.
    """
    return _core.program_error(code, message, at or _source.here(), reason, hint)
