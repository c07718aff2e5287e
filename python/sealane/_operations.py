"""Operations: nodes that functions of programs add to the native graph, by their names there."""

# The native graph alone knows the type of a result; the annotations state what it will be.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sealane import _core, _source
from sealane._elements import element_type, type_name
from sealane._operands import need_numbers, operands, trace_of, whole_axis

if TYPE_CHECKING:
    from sealane._value import Operand, Value


def wrap(trace: _core.Trace, node: _core.Node) -> Any:
    """The value of a node, in the class of its element type."""
    value = object.__new__(element_type(node.type))
    value._scope, value._node = trace, node
    return value


def operate(name: str, *items: Any, dtype: type[Value] | None = None, **attributes: Any) -> Any:
    """Adds an operation with one result by its name; `Trace.apply` of the native module says which
    attributes there are, and `dtype` is the type of the result.

    Raises `ProgramError` if none of the operands is a value, and if the operation is refused.
    """
    trace = trace_of(*items)
    if dtype is not None:
        attributes["kind"] = type_name(dtype)
    [node] = trace.apply(name, operands(*items), _source.here(), **attributes)
    return wrap(trace, node)


def call(name: str, *items: Any) -> Any:
    """Adds a call of a function of floating point, element by element. Operands broadcast.

    Raises `ProgramError` if none of them is a value, and if the call is refused for their types or
    shapes.
    """
    need_numbers(f"math.{name.partition('_')[0]}", *items)
    return operate("call", *items, word=name)


def dot(a: Operand, b: Operand, dtype: type[Value] | None = None) -> Any:
    """Adds a product of the last axis of `a` with the first of `b`.

    Raises `ProgramError` as `sealane.dot` does.
    """
    return operate("dot", a, b, dtype=dtype)


def reduce(name: str, a: Value, axis: int | None, dtype: type[Value] | None = None) -> Any:
    """Adds a reduction along one axis, which is removed, or along all.

    Raises `ProgramError` if the axis does not exist, and if the operation is refused for the type
    or range of the elements.
    """
    if axis is not None:
        axis = whole_axis(axis)
    reduced = operate("reduce", a, word=name, axis=axis, dtype=dtype)
    return of_vector(reduced, name, a, dtype)


def of_vector(reduced: Any, name: str, a: Any, option: Any = None) -> Any:
    """A reduction that remembers the vector that it reduces, so that groups of it can be reduced
    in the same way. That of nullable cells does not say how many it is about.
    """
    if getattr(type(a), "_nullable", False):
        reduced._size = None
    if a.ndim == 1:
        reduced._reduced = (name, a, option)
    return reduced


def exact_type(a: Value, axis: int | None) -> type[Value]:
    """The type in which a sum of zeros and elements is exact; `sl.f64` where none of 64 bits is."""
    return element_type(a._trace.sum_type(a._node, axis, _source.here()))


def total(a: Value, axis: int | None = None) -> Any:
    """The sum in `sl.f64`, rounded once; of elements that are no floats it is exact before that,
    unless it takes more than 64 bits.
    """
    return reduce("sum", a, axis, exact_type(a, axis)).astype(element_type("f64"))


def neutral(name: str, a: Value) -> Any:
    """A constant that changes no smallest (`min`) or no largest element beside it."""
    return operate("neutral", a, word=name)
