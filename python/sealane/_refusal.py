"""How the Python layer refuses: the same text as findings of the native check.

The code of a refusal says who has to act, and so which class the exception has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sealane import _core, _source

if TYPE_CHECKING:
    from sealane._errors import SealaneError


def refuse(
    code: str,
    message: str,
    *,
    reason: str = "",
    hint: str,
    at: _source.Span | None = None,
) -> SealaneError:
    """The error about a program to raise: what happened, where (by default at the user's current
    line), why, what to write instead. The native module renders it, so that all look alike.
    """
    return _core.refusal(code, message, at or _source.here(), reason, hint)


def misuse(code: str, message: str, *, reason: str = "", hint: str) -> SealaneError:
    """The error to raise for a call or for data, where the traceback says where."""
    return _core.refusal(code, message, None, reason, hint)
