"""Tensors of the graph that values consist of, so that cells of every kind move, meet and are
walked as numbers do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sealane._kinds import Kind
from sealane._nullable import Nullable
from sealane._operands import need_numbers
from sealane._refusal import refuse_operand
from sealane._value import Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


def tensors(item: Any) -> list[Any]:
    """The tensors of a value. Of nullable cells the second one says which are there, so that the
    zeros that stand in empty places are missing cells.
    """
    if isinstance(item, Nullable):
        return [item._value, ~item._null]
    return [item._value] if isinstance(item, Kind) else [item]


def like(model: Any, parts: Sequence[Any]) -> Any:
    """A value of the kind of a model, of such tensors."""
    if not isinstance(model, Kind):
        return parts[0]
    made = model._of(parts[0])
    if isinstance(made, Nullable):
        made._null = ~parts[1]
    return made


def each(function: Callable[[Any], Any], item: Any) -> Any:
    """Applies a function that moves elements to each tensor of a value."""
    return like(item, [function(part) for part in tensors(item)])


def flat(items: Iterable[Any]) -> list[Any]:
    """The tensors of several values, one after the other."""
    return [part for item in items for part in tensors(item)]


def regrouped(models: Iterable[Any], parts: Sequence[Any]) -> list[Any]:
    """Values of the kinds of several models, of the tensors of all of them."""
    made, first = [], 0
    for model in models:
        count = 2 if isinstance(model, Nullable) else 1
        made.append(like(model, parts[first : first + count]))
        first += count
    return made


def join_cells(items: Sequence[Any], join: Callable[[list[Any]], Any]) -> Any:
    """Joins values of one kind tensor by tensor; constants beside cells are of their kind.

    Raises `ProgramError` for values of several kinds.
    """
    model = next(item for item in items if isinstance(item, Kind))
    cells = [meant(model, item) for item in items]
    return like(model, [join(list(parts)) for parts in zip(*map(tensors, cells), strict=True)])


def meant(model: Any, item: Any) -> Any:
    """An operand as cells of the kind of a model.

    Raises `ProgramError` for one of another kind.
    """
    if type(item) is type(model):
        return item
    if isinstance(item, Value | Kind) or isinstance(model, Nullable):
        raise refuse_operand(
            f"`{type(model)!r}` and `{type(item)!r}` have no common kind",
            reason="Cells that are joined mean the same.",
            hint=f"convert one of them, or join numbers in their place: `{model._below}`",
        )
    return model._of(model._meant(item))


def cells(function: str, item: Any) -> Any:
    """A value of the program, of numbers or of any kind.

    Raises `ProgramError` for anything else.
    """
    if isinstance(item, Value | Kind):
        return item
    raise refuse_operand(
        f"`sl.{function}` takes a value of the program, not a `{type(item).__name__}`",
        hint="compute constants with NumPy or Python; join a list of values with `sl.stack([...])`",
    )


def numbers(function: str, item: Any) -> Value:
    """A value of the program, of numbers.

    Raises `ProgramError` for anything else.
    """
    need_numbers(function, item)
    found: Value = cells(function, item)
    return found
