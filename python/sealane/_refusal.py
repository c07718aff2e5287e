"""Refusals of the Python layer, in the form of the native check's findings.

The code of a refusal says who has to act, and so which class the exception has.
"""

from __future__ import annotations

import functools
import reprlib
import warnings
from pathlib import PurePath
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from sealane import _core, _source

if TYPE_CHECKING:
    from collections.abc import Callable

    from sealane._errors import SealaneError

P = ParamSpec("P")
R = TypeVar("R")

_RENAMED = {
    "ad": "aad",
    "ads": "aads",
    "as_": "party",
    "datas": "messages",
    "papers": "references",
    "patience": "timeout",
    "study": "research",
    "yes": "approve",
}
"""Names of arguments and attributes in versions before this one, with those that they have now."""


def refuse(
    code: str, message: str, *, reason: str = "", hint: str, at: _source.Span | None = None
) -> SealaneError:
    """Makes the error about a program to raise: the fault, its place (by default the user's current
    line), the reason, and the suggestion. The native module renders it, so that all look alike.
    """
    at = at or _source.here()
    return _core.refusal(code, _text(message), at, _text(reason), _text(hint))


refuse_operand = functools.partial(refuse, "operand")
refuse_result = functools.partial(refuse, "result")
refuse_shape = functools.partial(refuse, "shape-mismatch")
refuse_signature = functools.partial(refuse, "signature")
refuse_type = functools.partial(refuse, "type")


def misuse(code: str, message: str, *, reason: str = "", hint: str) -> SealaneError:
    """Makes the error to raise for a call or for data, where the traceback shows the place."""
    return _core.refusal(code, _text(message), None, _text(reason), _text(hint))


def renamed(message: str, old: str) -> SealaneError | None:
    """Makes the error about an argument or attribute that is called by an old name; `None` if the
    name is not an old one.
    """
    new = _RENAMED.get(old)
    return refuse("argument", message, hint=f"write `{new}`") if new else None


def refuse_old_names(function: Callable[P, R]) -> Callable[P, R]:
    """Makes a function refuse arguments by the names that they had before, with the present ones.

    Raises `MisuseError` for such an argument (`argument`), and what the function raises.
    """

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs:
            error = renamed(f"`{function.__name__}` has no argument `{name}`", name)
            if error is not None:
                raise error
        return function(*args, **kwargs)

    return checked


def ask_approval(function: Callable[P, R]) -> Callable[P, R]:
    """Makes a function say what its argument `approve` is for, where a call leaves it out.

    Raises `ConfigError` for a call without it (`approval`), and what the function raises.
    """

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        if kwargs.get("approve") is None:
            raise misuse(
                "approval",
                f"nobody has approved the job: `{function.__name__}` wants its hash as `approve`",
                reason="The hash covers program, protocol, parties, network class and plan, so no "
                "party runs anything else than what it has read.",
                hint="read `program.plan(...)`, with the arguments of the run, and pass its hash: "
                "`approve=program.plan(...).hash`",
            )
        return function(*args, **kwargs)

    return checked


def counted(number: int, one: str, many: str = "") -> str:
    """A number of things, such as `1 axis` and `2 axes`; the usual plural ends in `s`."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def _text(sentence: str) -> str:
    """Printable form of the sentence: unpaired UTF-16 surrogates are escaped."""
    return sentence.encode(errors="backslashreplace").decode()


def call(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Calls a function of the native module. Arguments of a type, sign or size that it does not
    take are refused with a code, and not with an exception of the binding.

    Raises `MisuseError` for such arguments (`argument`), and what the function raises.
    """
    for item in args:
        if isinstance(item, str | PurePath):
            check_text(str(item))
    try:
        return function(*args, **kwargs)
    except (TypeError, OverflowError, UnicodeEncodeError) as error:
        if is_of_users(error):
            raise
        name, _, reason = str(error).removeprefix("argument '").partition("': ")
        wide = [item for item in args if isinstance(item, int) and not 0 <= item < 1 << 64]
        if reason:
            what = f"`{name}` has a type that it cannot have"
        elif wide:
            what = f"{reprlib.repr(wide[0])} is too small or too large for an argument"
        else:
            what = "an argument is none that this function takes"
        raise misuse(
            "argument",
            what,
            reason=reason or name,
            hint="`help()` on the function says what it takes",
        ) from None


def check_text(text: str) -> None:
    """Refuses text that cannot be the path of a file: the binding ends the thread at it.

    Raises `MisuseError` for text with unpaired UTF-16 surrogates that stand for no byte.
    """
    try:
        text.encode(errors="surrogateescape")
    except UnicodeEncodeError as error:
        raise misuse(
            "argument",
            f"{reprlib.repr(text)} has a character that no file has in its name",
            reason=f"Python says: {error}.",
            hint="name the file as `os.listdir` does",
        ) from None


def is_of_users(error: BaseException) -> bool:
    """Returns whether an exception that is caught around a call comes from code of the user, and
    not from the call itself: it then has more frames than the one that catches it.
    """
    return error.__traceback__ is None or error.__traceback__.tb_next is not None


def warn(message: str) -> None:
    """Warns of data that may not be the intended ones, at the user's current line."""
    warnings.warn(message, UserWarning, stacklevel=_source.depth() + 1)
