"""Columns of all kinds as inputs and results of a trace, and in functions that take values."""

# The native graph alone knows the type of a result; the annotations state what it will be.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sealane._kinds import Kind, mask_name, meaning
from sealane._methods import later
from sealane._moments import Moment
from sealane._nullable import Nullable, nullable
from sealane._operands import need_numbers
from sealane._operations import operate, wrap
from sealane._refusal import refuse_operand, refuse_result
from sealane._texts import Text
from sealane._types import boolean
from sealane._value import Value

if TYPE_CHECKING:
    from sealane import _core
    from sealane._signature import Parameter, Result


def declare(trace: _core.Trace, parameter: Parameter) -> Any:
    """Declares an input of a kind, and of a nullable one its mask as well."""
    kind: Any = parameter.element
    fixed = (*parameter.fixed, *kind._bytes)
    ends, magnitudes = parameter.ends()
    if ends is None and magnitudes is None and kind._word != "number":
        ends = ((kind._ends[0], 1), (kind._ends[1], 1))
    place = (parameter.rows, fixed, ends, magnitudes, parameter.columns)
    node = trace.input(
        parameter.name, parameter.owner, kind._element, *place, meaning(kind), parameter.span
    )
    made = kind._of(wrap(trace, node))
    if isinstance(made, Nullable):
        mask = trace.input(
            mask_name(parameter.name),
            parameter.owner,
            "bool",
            parameter.rows,
            parameter.fixed,
            None,
            None,
            parameter.columns or (parameter.name,) * (not parameter.fixed),
            (False, "missing", [parameter.name]),
            parameter.span,
        )
        made._null = wrap(trace, mask)
    return made


def reveal(trace: _core.Trace, result: Result, value: Any, note: str) -> None:
    """Reveals a value of a kind: of a nullable one its mask as well, and nothing beneath it.

    Raises `ProgramError` if the value is of another kind.
    """
    kind: Any = result.element
    fits = type(value) is kind
    if isinstance(value, Nullable) and issubclass(kind, Nullable):
        fits = value._word == kind._word and value._texts == kind._texts
        fits = fits and value._bytes == kind._bytes
    if not fits:
        raise refuse_result(
            f"`{result.name}` is declared as `{kind!r}`, and the value is "
            f"`{value.dtype if isinstance(value, Value) else type(value)!r}`",
            hint="return a value of the declared kind, or declare the kind of the value",
            at=result.span,
        )
    elements = value._value
    if isinstance(value, Nullable):
        null = value._null
        shown = null[..., None] if kind._bytes else null
        fill = False if kind._inner is boolean else min(max(0, kind._ends[0]), kind._ends[1])
        elements = later("_functions").where(shown, fill, elements)
    plain = meaning(kind)
    trace.reveal(result.name, elements._node, result.to, kind._element, plain, note, result.span)
    if isinstance(value, Nullable):
        mask = (False, "missing", [result.name])
        name = mask_name(result.name)
        trace.reveal(name, value._null._node, result.to, "bool", mask, "", result.span)


def where(condition: Any, yes: Any, no: Any) -> Any:
    """Selects cells, at least one side of which is of a kind or missing, as `sealane.where` does.

    Raises `ProgramError` if both sides are missing, or if one is and the other is a constant.
    """
    from sealane import _functions

    some: Any = next((item for item in (yes, no) if isinstance(item, Value | Kind)), None)
    if some is None:
        raise refuse_operand(
            "`None` stands beside no value of the program",
            reason="Of a missing cell and a constant the kind of a column does not follow.",
            hint="name the type of the constant: `sl.where(condition, None, sl.u32(0))`",
        )
    if isinstance(yes, Nullable) or isinstance(no, Nullable) or yes is None or no is None:
        sides = [_nulls(item, some) for item in (yes, no)]
        held = _functions.where(condition, sides[0][0], sides[1][0])
        null = _functions.where(condition, sides[0][1], sides[1][1])
        return Nullable._joined(nullable(type(held)), held, null)
    if some._bytes:
        along_bytes: Any = (..., None)
        condition = condition[along_bytes]
    return some._of(_functions.where(condition, some._meant(yes), some._meant(no)))


def _nulls(item: Any, some: Any) -> tuple[Any, Any]:
    """The cells of one side of a choice, and which of them are missing."""
    if isinstance(item, Nullable):
        return item._held(), item._null
    if item is None:
        return some._held() if isinstance(some, Nullable) else some, boolean(True)
    return item, boolean(False)


def count_cells(x: Kind, axis: int | None) -> Any:
    """Number of cells along an axis, or of all; of nullable ones, of those that are there."""
    if isinstance(x, Nullable):
        return x.count(axis)
    return later("_statistics").count(x._value[..., 0] if x._bytes else x._value, axis)


def extreme(name: str, a: Any, b: Any) -> Any:
    """The smaller or larger of each two cells, at least one of which is of a kind.

    Raises `ProgramError` for kinds without an order.
    """
    some = a if isinstance(a, Kind) else b
    if isinstance(some, Moment):
        return some._of(operate(name, some._meant(a), some._meant(b)))
    if isinstance(some, Text):
        return where(a < b if name == "min" else a > b, a, b)
    need_numbers(f"{name}imum", some)
