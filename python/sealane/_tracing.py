"""Traces: a function of a program runs once on values without data, and leaves its graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sealane import _calls, _columns, _kinds, _protect, _source
from sealane._elements import type_name
from sealane._errors import none_swallowed
from sealane._operands import operand, tracing
from sealane._operations import wrap
from sealane._refusal import refuse_result
from sealane._value import Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from sealane import _core, _signature


def trace_of_function(
    function: Callable[..., Any], signature: _signature.Signature, flush_subnormals: bool
) -> _core.Program:
    """Runs the function on values and returns the finished graph.

    Raises `ProgramError` for results that are not those of the signature. Exceptions of the
    function itself are passed on.
    """
    from sealane import _core

    trace = _core.Trace(function.__name__)
    if flush_subnormals:
        trace.flush_subnormals()
    for name, bound in signature.rows.items():
        trace.rows(name, bound)
    values: dict[str, Any] = {}
    for parameter in signature.parameters:
        if _kinds.is_kind(parameter.element):
            values[parameter.name] = _columns.declare(trace, parameter)
            continue
        node = trace.input(
            parameter.name,
            parameter.owner,
            _named(parameter.element, parameter.wrapping),
            parameter.rows,
            parameter.fixed,
            *parameter.ends(),
            parameter.columns,
            _kinds.meaning(parameter.element),
            parameter.span,
        )
        values[parameter.name] = wrap(trace, node)
    under_way = tracing.set(trace)
    try:
        with none_swallowed():
            returned = function(**values)
    except Exception as error:
        if (found := _calls.misuse_of(error)) is not None:
            raise found from None
        raise
    finally:
        tracing.reset(under_way)
    if returned is None:
        raise refuse_result(
            f"`{function.__name__}` returns nothing",
            hint="end it with `return` and its result",
            at=_source.of_parameter(function, "return"),
        )
    results = returned if isinstance(returned, tuple) else (returned,)
    several = isinstance(returned, tuple)
    if len(results) != len(signature.results) or several != (signature.make is not None):
        raise refuse_result(
            f"`{function.__name__}` returns {_count(returned)}, its signature says "
            f"{len(signature.results)}",
            hint="return a tuple with one value for each `sl.Revealed` of the signature",
            at=_source.of_parameter(function, "return"),
        )
    for result, given in zip(signature.results, results, strict=True):
        held = given._value if isinstance(given, _kinds.Kind) else given
        if not isinstance(held, Value) or held._scope is not trace:
            raise refuse_result(
                f"`{result.name}` does not depend on any input",
                reason="A result is a value of the program; constants are known without a run.",
                hint="return a value computed from the parameters",
                at=result.span,
            )
        value, note = _protected(trace, result, given)
        if _kinds.is_kind(result.element) or isinstance(value, _kinds.Kind):
            _columns.reveal(trace, result, value, note)
            continue
        kind = _named(result.element, result.wrapping)
        plain = _kinds.meaning(result.element)
        trace.reveal(result.name, operand(value), result.to, kind, plain, note, result.span)
    return trace.finish()


def _protected(trace: _core.Trace, result: _signature.Result, value: Any) -> tuple[Any, str]:
    """The value that is revealed by the options of its result, and a note about it."""
    under_way = tracing.set(trace)
    try:
        with _source.at(result.span):
            return _protect.apply(result, value)
    finally:
        tracing.reset(under_way)


def _named(element: Any, wrapping: bool) -> str:
    return type_name(element.wrapping if wrapping else element)


def _count(returned: object) -> str:
    return f"{len(returned)} values" if isinstance(returned, tuple) else "one value"
