"""Loads the program that a file defines, for the `sealane` command."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
import traceback
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from sealane import _calls, _core, _source
from sealane._errors import SealaneWarning, users_frames
from sealane._program import Program
from sealane._refusal import misuse

if TYPE_CHECKING:
    from sealane._errors import SealaneError


def load(path: Path, name: str | None) -> _core.Program:
    """Runs a file and traces its one program, or the one of that name.

    Output of the file goes to standard error: standard output belongs to the command, and may be
    JSON that a script reads. The command prints warnings itself.

    Raises `ProgramError` for a file without such a program, and for a program that is refused.
    Exceptions of the file itself are passed on.
    """
    with contextlib.redirect_stdout(sys.stderr), warnings.catch_warnings():
        warnings.simplefilter("ignore", SealaneWarning)
        return _load(path, name)


def _load(path: Path, name: str | None) -> _core.Program:
    programs = _programs(path)
    if name is None and len(programs) == 1:
        return next(iter(programs.values())).native
    if name in programs:
        return programs[name].native
    if not programs:
        what, hint = "defines no program", "decorate a function with `@sl.program`"
    elif name is None:
        what = f"defines {len(programs)} programs"
        hint = f"name one of them: {', '.join(f'`{path}:{known}`' for known in programs)}"
    else:
        what, hint = f"defines no program `{name}`", f"it defines: {', '.join(programs)}"
    raise misuse("no-program", f"{path} {what}", hint=hint)


def raised(error: BaseException) -> SealaneError:
    """Finding for the author of a program about an exception that is not Sealane's."""
    if (found := _calls.misuse_of(error)) is not None:
        return found
    if isinstance(error, SyntaxError) and error.filename and error.lineno and error.offset:
        at: _source.Span | None = _source.Span(
            _source.shown(error.filename), error.lineno, error.offset, error.offset + 1
        )
        message, frames = f"the program is no Python: {error.msg}", []
    else:
        frames = users_frames(error.__traceback__)
        at = _source.of_frame(frames[-1]) if frames else None
        said = traceback.format_exception_only(error)[-1].strip()
        message = f"the program raised {said}"
    calls = [f"{_source.shown(frame.filename)}:{frame.lineno}" for frame in frames[:-1]]
    return _core.refusal(
        "program-raised",
        message,
        at,
        f"It was on the way from {', '.join(calls)}." if calls else "",
        "mend the program: this exception is Python's or its own, not Sealane's",
    )


def _programs(path: Path) -> dict[str, Program[..., object]]:
    """The programs that a file defines itself; what it imports from elsewhere is not meant."""
    # A file called `numpy.py` or `sealane.py` must not take the place of what it imports.
    usable = path.stem.isidentifier() and path.stem not in sys.modules
    module_name = path.stem if usable else "program"
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        hint = "name a `.py` file, or a program in its text form, `.sealane`"
        raise misuse("no-program", f"{path} is no Python file", hint=hint)
    module = importlib.util.module_from_spec(spec)
    # As for a script, its neighbours can be imported, and classes find the module they are in.
    sys.path.insert(0, str(path.resolve().parent))
    sys.modules[module_name] = module
    spec.loader.exec_module(module)
    return {
        name: item
        for name, item in vars(module).items()
        if isinstance(item, Program) and item.__module__ == module_name
    }
