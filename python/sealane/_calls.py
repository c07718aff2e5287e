"""Calls of this package with arguments that it does not take, found behind the exception of Python
or NumPy that they end with: a finding at the user's line, with what the function takes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sealane import _source
from sealane._errors import SealaneError
from sealane._refusal import refuse, refuse_operand

if TYPE_CHECKING:
    from types import FrameType, TracebackType

_KINDS = (TypeError, ValueError, ArithmeticError, LookupError, AttributeError)
"""Exceptions that tell of an argument. All others are the program's own, or faults of ours."""

_OTHER_WORDS = {
    "ascending": "descending=True",
    "decreasing": "descending=True",
    "reverse": "descending=True",
}
"""Words of other libraries for arguments, with what stands for them here."""


def misuse_of(error: BaseException) -> SealaneError | None:
    """The finding about a call of this package that an exception comes from; `None` if it comes
    from the program itself, or is a finding already.
    """
    if isinstance(error, SealaneError) or not isinstance(error, _KINDS):
        return None
    frames = _frames(error.__traceback__)
    users = [at for at, frame in enumerate(frames) if _source.is_users(_file(frame))]
    if not users:
        return None
    import traceback

    last = frames[users[-1]]
    ours = any(_source.is_ours(_file(frame)) for frame in frames[users[-1] + 1 :])
    summary = traceback.extract_tb(last)[0]
    place = _source.of_frame(summary)
    written = _source.called(summary.filename, place) if place else ""
    found = _resolved(written, last.tb_frame)
    if not ours and not (isinstance(error, TypeError) and _is_of_package(found)):
        if isinstance(error, AttributeError) and _is_of_package(type(error.obj)):
            return _attribute(error, place)
        return None
    return _refusal(error, written, found, place)


def _refusal(
    error: BaseException, written: str, found: Any, place: _source.Span | None
) -> SealaneError:
    said = str(error).rstrip(".")
    takes = f"it takes {_parameters(found)}" if _parameters(found) else ""
    what = f"`{written}`" if written else "this operation"
    _, unknown, rest = said.partition("unexpected keyword argument ")
    if unknown:
        name = rest.strip("'")
        instead = _instead(name, found)
        return refuse_operand(
            f"{what} has no argument `{name}`",
            hint=f"write `{instead}`" if instead else takes or "leave it out",
            at=place,
        )
    return refuse_operand(
        f"{what} does not take what it is given",
        reason=f"Python says: {said}.",
        hint=takes or "convert the operands, or compute with other ones",
        at=place,
    )


def _attribute(error: AttributeError, place: _source.Span | None) -> SealaneError:
    """The finding about an attribute that an object of this package does not have."""
    import difflib

    known = [name for name in dir(error.obj) if not name.startswith("_")]
    fields = getattr(error.obj, "_fields", None)
    near = difflib.get_close_matches(str(error.name), known, n=2)
    listed = ", ".join(f"`{name}`" for name in near or fields or known)
    return refuse(
        "attribute",
        f"a `{type(error.obj).__name__}` has no `{error.name}`",
        hint=f"it has {listed}",
        at=place,
    )


def _instead(name: str, found: Any) -> str:
    """The words that stand for a keyword argument that a function does not have, or none."""
    import difflib
    import inspect

    try:
        known = inspect.signature(found).parameters
    except (TypeError, ValueError):
        return ""
    other = _OTHER_WORDS.get(name, "")
    if other.partition("=")[0] in known:
        return other
    close = difflib.get_close_matches(name, known, n=1)
    return f"{close[0]}=" if close else ""


def _parameters(found: Any) -> str:
    """The parameters of a function, as a user writes them; empty if they are not known."""
    import inspect

    try:
        parameters = list(inspect.signature(found).parameters.values())
    except (TypeError, ValueError):
        return ""
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in parameters if p.name != "self"]
    return f"`{inspect.Signature(bare)}`" if bare else ""


def _resolved(written: str, frame: FrameType) -> Any:
    """The object that a dotted name means in a frame, without running any code of the user."""
    import inspect

    first, *rest = written.split(".")
    found = frame.f_locals.get(first, frame.f_globals.get(first))
    for name in rest:
        if not (inspect.ismodule(found) or _is_of_package(type(found))):
            return None
        found = inspect.getattr_static(found, name, None)
    return found


def _is_of_package(found: Any) -> bool:
    module = getattr(found, "__module__", None)
    return isinstance(module, str) and module.partition(".")[0] == __package__


def _frames(trace: TracebackType | None) -> list[TracebackType]:
    frames = []
    while trace is not None:
        frames.append(trace)
        trace = trace.tb_next
    return frames


def _file(trace: TracebackType) -> str:
    return trace.tb_frame.f_code.co_filename
