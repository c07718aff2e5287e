"""Parser of signatures: inputs with their owners, results with their receivers.

`Private[u16, "hospital", "patients <= 10_000", FEATURES]` reads: elements of type `u16`, owned by
`hospital`, one row for each of at most 10,000 patients, one column for each name in `FEATURES`.
`Revealed[boolean, "hospital"]` reads: truth values that `hospital` learns and nobody else.
"""

from __future__ import annotations

import re
import reprlib
import sys
import typing
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from sealane import _kinds, _source
from sealane._declarations import (
    Between,
    Column,
    Declaration,
    Magnitude,
    Wrapping,
    is_element,
    wrapping,
)
from sealane._errors import SealaneError
from sealane._protect import MinGroup, Noise
from sealane._refusal import refuse_signature
from sealane._value import Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from sealane import _core


class Parameter(NamedTuple):
    """One input."""

    name: str
    element: Any
    wrapping: bool
    owner: str
    rows: str | None
    fixed: tuple[int, ...]
    columns: tuple[str, ...]
    range: Between | Magnitude | None
    span: _source.Span | None

    def ends(self) -> tuple[tuple[_core.Ratio, _core.Ratio] | None, tuple[float, float] | None]:
        """The declared range, and declared magnitudes; not both."""
        if isinstance(self.range, Magnitude):
            return None, self.range.ends()
        return self.range and self.range.ratios(), None


class Result(NamedTuple):
    """One result."""

    name: str
    element: Any
    wrapping: bool
    to: tuple[str, ...]
    span: _source.Span | None
    options: tuple[Noise | MinGroup, ...] = ()


class Signature(NamedTuple):
    """Complete signature; row names with their bounds, in the order of the signature."""

    parameters: tuple[Parameter, ...]
    results: tuple[Result, ...]
    rows: dict[str, int]
    make: Callable[[list[Any]], Any] | None
    """Makes what the function returns of several results; none for a single one."""


def read(function: Callable[..., Any], scope: Mapping[str, Any]) -> Signature:
    """Reads the signature of a function; `scope` resolves names in annotations that are text.

    Raises `ProgramError` for a parameter or a result without a declaration, and for one that
    contradicts itself or another.
    """
    import inspect

    annotations = _annotations(function, scope)
    bounds: dict[str, int | None] = {}
    parameters = []
    for name, declared in inspect.signature(function).parameters.items():
        at = _source.of_parameter(function, name)
        with _source.at(at):
            if declared.kind in (declared.VAR_POSITIONAL, declared.VAR_KEYWORD):
                raise refuse_signature(
                    f"`{name}` stands for any number of inputs",
                    reason="The plan and its cost follow from the inputs that a signature names.",
                    hint="name each input, or declare one input with one more dimension",
                )
            if name not in annotations:
                raise refuse_signature(
                    f"`{name}` does not say who owns it",
                    hint=f'write `{name}: sl.Private[sl.u16, "owner"]`',
                )
            declaration = _declaration(annotations[name], "Private", name)
            parameters.append(_parameter(name, declaration, bounds, at))
    at = _source.of_parameter(function, "return")
    results, make = _results(annotations.get("return"), scope, at)
    rows = {name: _bound(name, bound, parameters) for name, bound in bounds.items()}
    return Signature(tuple(parameters), results, rows, make)


def _annotations(function: Callable[..., Any], scope: Mapping[str, Any]) -> dict[str, Any]:
    import inspect

    with _read("the signature", function.__name__, _source.of_function(function)):
        return inspect.get_annotations(function, locals=scope, eval_str=True)


@contextmanager
def _read(what: str, name: str, at: _source.Span | None) -> Iterator[None]:
    """Reads annotations that are text, which are code of the user."""
    try:
        yield
    except SealaneError:
        raise
    except NameError as error:
        raise refuse_signature(
            f"{what} of `{name}` names `{error.name}`, which is not defined",
            hint="define or import it before the function",
            at=at,
        ) from None
    except Exception as error:
        raise refuse_signature(
            f"{what} of `{name}` has text in it that is no annotation",
            reason=f"Python says: {type(error).__name__}: {error}.",
            hint="write what it stands for without quotes",
            at=at,
        ) from None


def _declaration(annotation: Any, kind: str, name: str) -> Declaration:
    """The declaration in an annotation, whichever of its two spellings is used."""
    if typing.get_origin(annotation) is typing.Annotated:
        annotation = Declaration(kind, (annotation.__origin__, *annotation.__metadata__))
    role = "owner" if kind == "Private" else "receiver"
    if not isinstance(annotation, Declaration):
        spelled = getattr(annotation, "__name__", None) or repr(annotation)
        element = _spelled(annotation) if is_element(annotation) else "sl.u16"
        raise refuse_signature(
            f"`{name}` is declared as `{spelled}`, which does not name its {role}",
            hint=f'write `sl.{kind}[{element}, "{role}"]`',
        )
    if annotation.kind != kind:
        raise refuse_signature(
            f"`{name}` is declared as `sl.{annotation.kind}`, which is for "
            + ("results" if kind == "Private" else "parameters"),
            hint=f"write `sl.{kind}[...]`",
        )
    if not is_element(annotation.element):
        raise refuse_signature(
            f"`{name}` has no element type: {reprlib.repr(annotation.element)} is not one",
            reason="Elements are `sl.boolean`, integers of 1 to 64 bits (`sl.u1` to `sl.i64`), "
            "fixed point (`sl.fixed(16, 16)`), floating point (`sl.f16` to `sl.f64`), or kinds of "
            "columns (`sl.date`, `sl.timestamp`, `sl.text(12)`, `sl.category([...])`, "
            "`sl.nullable(sl.u32)`).",
            hint=f'write the type first: `sl.{kind}[sl.u16, "{role}"]`',
        )
    return annotation


def _spelled(element: type[Value]) -> str:
    """Element type in the spelling of programs: `sl.u16`, `sl.fixed(16, 16)`."""
    return repr(element).replace("sealane", "sl", 1)


def _is_text(name: object) -> bool:
    """Returns whether it is text that a table can have: without unpaired UTF-16 surrogates."""
    return isinstance(name, str) and not any("\ud800" <= letter <= "\udfff" for letter in name)


_ROWS = re.compile(r"\s*([A-Za-z_]\w*)\s*<=\s*([0-9][0-9_]*)\s*")


def _parameter(
    name: str, declaration: Declaration, bounds: dict[str, int | None], at: _source.Span | None
) -> Parameter:
    owner, markers = _owner(name, declaration)
    rows: str | None = None
    fixed: list[int] = []
    columns: tuple[str, ...] = ()
    declared: Between | Magnitude | None = None
    wraps = False
    kind = declaration.element if _kinds.is_kind(declaration.element) else None
    for marker in markers:
        if kind and isinstance(marker, Between | Wrapping):
            marker = _of_kind(name, kind, marker)
        match marker:
            case str():
                if rows is not None or fixed:
                    raise refuse_signature(
                        f"`{name}` has rows (`{marker}`) behind another dimension",
                        reason="Only the first dimension can have a length known at run time.",
                        hint="name the rows first",
                    )
                rows = _rows(marker, bounds, name)
            case bool():
                raise _unknown(name, marker)
            case int() if 1 <= marker < 1 << 64:
                fixed.append(marker)
            case Between() if marker.ratios():
                declared = marker
            case Magnitude() if marker.ends():
                declared = marker
            case Column() if _is_text(marker.name):
                columns = (marker.name,)
            case Column():
                raise refuse_signature(
                    f"`{name}` is a column whose name is no text: {reprlib.repr(marker.name)}",
                    hint=f'write the name that the table has: `sl.column("{name}")`',
                )
            case Wrapping():
                wraps = True
            case list() | tuple() if marker and all(map(_is_text, marker)):
                columns = tuple(marker)
                fixed.append(len(columns))
            case _:
                raise _unknown(name, marker)
    return Parameter(
        name, declaration.element, wraps, owner, rows, tuple(fixed), columns, declared, at
    )


def _of_kind(name: str, kind: Any, marker: Between | Wrapping) -> Between:
    """The range of a kind in its elements."""
    numbers = kind._word == "number"
    if isinstance(marker, Between):
        if numbers:
            return marker
        ends = kind._ends_of(marker)
        if ends:
            return Between(*ends)
    raise refuse_signature(
        f"`{name}` has a marker that means nothing for `{_spelled(kind)}`: {reprlib.repr(marker)}",
        reason="Dates and timestamps have ranges, other kinds none, and none of them wraps.",
        hint="remove it, or write dates: `sl.between(datetime.date(1900, 1, 1), ...)`",
    )


def _owner(name: str, declaration: Declaration) -> tuple[str, Sequence[Any]]:
    match declaration.markers:
        case [str() as owner, *markers] if owner.isidentifier():
            return owner, markers
    raise refuse_signature(
        f"`{name}` does not say who owns it",
        reason="The owner's name follows the element type; it is an identifier such as `hospital`.",
        hint=f'write `sl.Private[{_spelled(declaration.element)}, "owner", ...]`',
    )


def _rows(marker: str, bounds: dict[str, int | None], name: str) -> str:
    """Parses the name of a number of rows, and records its bound."""
    bound: int | None = None
    rows = marker
    if found := _ROWS.fullmatch(marker):
        rows, bound = found[1], int(found[2])
    if not rows.isidentifier() or bound == 0 or (bound or 1) >= 1 << 64:
        raise refuse_signature(
            f"`{name}` has rows that cannot be read: `{marker}`",
            hint='write `"name <= bound"`, such as `"patients <= 10_000"`',
        )
    known = bounds.get(rows)
    if known is not None and bound is not None and known != bound:
        raise refuse_signature(
            f"`{rows}` is bounded twice: by {known} and by {bound}",
            hint="state the bound once; later inputs need the name alone",
        )
    bounds[rows] = known if bound is None else bound
    return rows


def _bound(rows: str, bound: int | None, parameters: Sequence[Parameter]) -> int:
    if bound is not None:
        return bound
    first = next(parameter for parameter in parameters if parameter.rows == rows)
    raise refuse_signature(
        f"`{rows}` has no upper bound",
        reason="Ranges of sums over rows, and so the widths of circuits, follow from the bound.",
        hint=f'write `"{rows} <= 10_000"` once in the signature',
        at=first.span,
    )


def _unknown(name: str, marker: object) -> Exception:
    return refuse_signature(
        f"`{name}` has a marker that means nothing here: {reprlib.repr(marker)}",
        reason=(
            'After type and owner come dimensions: `"rows <= bound"`, a positive integer, or a '
            "list of column names; and `sl.between(low, high)`, `sl.magnitude(least, most)`, "
            "`sl.column(name)`, `sl.wrapping`."
        ),
        hint="remove it or write one of these",
    )


def _results(
    annotation: Any, scope: Mapping[str, Any], at: _source.Span | None
) -> tuple[tuple[Result, ...], Callable[[list[Any]], Any] | None]:
    if annotation is None:
        raise refuse_signature(
            "the function does not say who learns its result",
            hint='declare it: `-> sl.Revealed[sl.boolean, "receiver"]`',
            at=at,
        )
    import inspect

    make: Callable[[list[Any]], Any] | None = None
    if typing.get_origin(annotation) is tuple:
        declarations = list(typing.get_args(annotation))
        names = [f"result_{index}" for index in range(len(declarations))]
        make = NamedTuple("Results", [(name, Any) for name in names])._make
    elif isinstance(annotation, type) and hasattr(annotation, "_make"):
        fields = inspect.get_annotations(annotation)
        with _read("the result", annotation.__name__, at):
            declarations = [_resolved(field, annotation, scope) for field in fields.values()]
        names = list(fields)
        make = annotation._make
    else:
        declarations, names = [annotation], ["result"]
    results = []
    with _source.at(at):
        for name, item in zip(names, declarations, strict=True):
            declaration = _declaration(item, "Revealed", name)
            options = [m for m in declaration.markers if isinstance(m, Noise | MinGroup)]
            others = [m for m in declaration.markers if not isinstance(m, Noise | MinGroup)]
            receivers = [marker for marker in others if marker is not wrapping]
            if not receivers or not all(isinstance(r, str) and r.isidentifier() for r in receivers):
                raise refuse_signature(
                    f"`{name}` does not say who learns it",
                    reason="After the type come the names of all parties that learn the result.",
                    hint=f'write `sl.Revealed[{_spelled(declaration.element)}, "receiver"]`',
                )
            wraps = len(receivers) < len(others)
            to = tuple(receivers)
            results.append(Result(name, declaration.element, wraps, to, at, tuple(options)))
    return tuple(results), make


def _resolved(field: Any, named: type, scope: Mapping[str, Any]) -> Any:
    """Resolves the annotation of a field of a named tuple, which postponed evaluation leaves as
    text.
    """
    text = getattr(field, "__forward_arg__", field)
    if not isinstance(text, str):
        return field
    module = sys.modules.get(named.__module__)
    return eval(text, dict(vars(module)) if module else {}, dict(scope))
