"""Where in the user's file something happens, and what is written there.

A place is a tuple `(file, line, column, end_column)`; lines and columns count from 1 and columns
count characters. The interpreter knows exact columns for each instruction (PEP 657), so an operator
in the middle of a long line can be underlined alone.
"""

from __future__ import annotations

import functools
import linecache
import os
import sys
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import ast
    import traceback
    from collections.abc import Callable, Iterator
    from types import CodeType, FrameType
    from typing import Any

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_NUMPY = os.path.dirname(os.path.abspath(np.__file__)) + os.sep
_LIBRARY = os.path.dirname(os.__file__) + os.sep
_INSTALLED = os.sep + "site-packages" + os.sep


class Span(NamedTuple):
    """A place in a source file."""

    file: str
    line: int
    column: int
    end_column: int


class _Extent(NamedTuple):
    """The extent of an instruction or a node, as the compiler counts: columns in bytes, from 0."""

    line: int
    end_line: int
    column: int
    end_column: int


_PLACE: ContextVar[Span | None] = ContextVar("place", default=None)


@contextmanager
def at(place: Span | None) -> Iterator[None]:
    """Takes this place for that of all operations: those of a declaration, whose line has run."""
    set_before = _PLACE.set(place)
    try:
        yield
    finally:
        _PLACE.reset(set_before)


def here() -> Span | None:
    """The expression that runs in the innermost frame outside this package."""
    place = _PLACE.get()
    if place is not None:
        return place
    frame = _user_frame()
    if frame is None:
        return None
    return _span(frame.f_code.co_filename, _extent(frame.f_code, frame.f_lasti))


def decided_by() -> tuple[str, Span | None]:
    """Which construct asks for the truth of a value just now, and where.

    The construct is `if`, `while`, `and`, `or`, `not`, `assert`, `if-else`, `comprehension`, `in`,
    `chain` (such as `0 < x < 9`), the name of a called function, or empty where nothing is known.
    """
    frame = _user_frame()
    if frame is None:
        return "", None
    file, extent = frame.f_code.co_filename, _extent(frame.f_code, frame.f_lasti)
    return _construct(file, extent), _span(file, extent)


def of_frame(frame: traceback.FrameSummary) -> Span | None:
    """Span of the code that a frame of a traceback was running."""
    if frame.lineno is None:
        return None
    if frame.colno is None or frame.end_colno is None or frame.end_lineno is None:
        return _line_span(frame.filename, frame.lineno)
    extent = _Extent(frame.lineno, frame.end_lineno, frame.colno, frame.end_colno)
    return _span(frame.filename, extent)


def written(file: str, line: int, column: int, end_column: int) -> tuple[str, list[str]]:
    """How the expression at a span is written, for a message about the operation that runs just
    now: the call, if the operation is only a step of it, whose operands stand nowhere; or else the
    texts of the operands, in order. A text is empty if it would be too long for a message, and
    there are none if there is no such expression.

    A text that is more than a name, a call or an index stands in parentheses, so that a message can
    put it anywhere.
    """
    import ast

    tree = _tree(file)
    node: ast.expr | ast.AugAssign | None = None
    for one in ast.walk(tree) if tree else ():
        if isinstance(one, ast.expr | ast.AugAssign) and one.lineno == line:
            found = _span(file, _node_extent(one))
            if (found.column, found.end_column) == (column, end_column):
                node = one
                break
    outer, *steps = _calls()
    if any(step != outer for step in steps):
        return _outline(node) if isinstance(node, ast.expr) else f"{outer}(...)", []
    text = "".join(linecache.getlines(file))
    return "", [_written(text, operand) for operand in _operands_of(node)] if node else []


def _calls() -> list[str]:
    """Names of the functions of this package that run, the one that the user calls first, without
    those that only pass an operation on. Those of dates and texts compute with other numbers.
    """
    frame: FrameType | None = sys._getframe(1)
    outside, names = _user_frame(), [""]
    while frame is not None and frame is not outside:
        code, frame = frame.f_code, frame.f_back
        if not is_ours(code.co_filename) or code.co_filename == __file__:
            continue
        if code.co_filename.endswith(_OF_KINDS):
            names.append("")
        elif code.co_name not in _PASSING:
            names.append(code.co_name)
    return names[:0:-1] or [""]


_PASSING = {"<lambda>", "__array_function__", "__array_ufunc__", "_accumulate", "_apply", "_clip"}
_PASSING |= {"_of_fixed", "call", "dot", "each", "function", "operate", "operator"}
_PASSING |= {"reduce", "reflected", "ufunc_of_cells"}
"""Functions that hand an operation to the native module for the one that the user calls."""
_OF_KINDS = ("_dates.py", "_moments.py", "_texts.py")


def _outline(node: ast.expr) -> str:
    """An expression without the arguments of its calls: `sl.group_by(...).agg(...)`."""
    import ast

    match node:
        case ast.Call(func=function):
            return f"{_outline(function)}(...)"
        case ast.Attribute(value=value, attr=name):
            return f"{_outline(value)}.{name}"
    text = ast.unparse(node)
    return text if len(text) <= 32 and text.isprintable() else "..."


def called(file: str, place: Span) -> str:
    """The dotted name of the function that the expression at a place calls, such as `sl.roll`;
    empty if it calls none, or another expression.
    """
    import ast

    tree = _tree(file)
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Call) and node.lineno == place.line:
            found = _span(file, _node_extent(node))
            parts = node.func
            while isinstance(parts, ast.Attribute):
                parts = parts.value
            if found == place and isinstance(parts, ast.Name):
                return ast.unparse(node.func)
    return ""


def of_parameter(function: Callable[..., Any], name: str) -> Span | None:
    """Where a function declares a parameter, or its result if the name is `return`."""
    code = function.__code__
    definition = _definition(code)
    if definition is None:
        return None
    declared = definition.args
    nodes: dict[str, ast.AST | None] = {
        arg.arg: arg for arg in [*declared.posonlyargs, *declared.args, *declared.kwonlyargs]
    }
    nodes["return"] = definition.returns
    node = nodes.get(name) or definition
    return _span(code.co_filename, _node_extent(node))


def of_function(function: Callable[..., Any]) -> Span | None:
    """Where a function is defined: the line of its `def`."""
    code = function.__code__
    definition = _definition(code)
    return _line_span(code.co_filename, definition.lineno if definition else code.co_firstlineno)


def is_ours(file: str) -> bool:
    """Returns whether a file is one of this package."""
    return file.startswith(_PACKAGE)


def is_users(file: str) -> bool:
    """Returns whether a file may be the user's: it is none of this package, of NumPy or of Python's
    own library, which call values on their way from the user's line.
    """
    if file.startswith((_PACKAGE, _NUMPY)):
        return False
    return not file.startswith(_LIBRARY) or _INSTALLED in file


def _user_frame() -> FrameType | None:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not is_users(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def depth() -> int:
    """How many frames of this package stand above the user's code, that of the caller included."""
    frame: FrameType | None = sys._getframe(1)
    count = 0
    outside = _user_frame()
    while frame is not None and frame is not outside:
        frame, count = frame.f_back, count + 1
    return count


def _extent(code: CodeType, instruction: int) -> _Extent:
    """The extent of the instruction at a byte offset; columns are -1 where none are known."""
    line, end_line, column, end_column = next(
        islice(code.co_positions(), instruction // 2, None), (None, None, None, None)
    )
    if line is None:
        line = code.co_firstlineno
    if end_line is None or column is None or end_column is None:
        return _Extent(line, line, -1, -1)
    return _Extent(line, end_line, column, end_column)


def _span(file: str, extent: _Extent) -> Span:
    """Characters instead of bytes, cut to the first line of the extent."""
    if extent.column < 0:
        return _line_span(file, extent.line)
    linecache.checkcache(file)
    text = linecache.getline(file, extent.line).rstrip()
    raw = text.encode()
    column = len(raw[: extent.column].decode(errors="ignore"))
    end = len(text)
    if extent.end_line == extent.line:
        end = len(raw[: extent.end_column].decode(errors="ignore"))
    return Span(shown(file), extent.line, column + 1, max(end, column + 1) + 1)


def _line_span(file: str, line: int) -> Span:
    """A whole line without its indentation."""
    text = linecache.getline(file, line).rstrip()
    indent = len(text) - len(text.lstrip())
    return Span(shown(file), line, indent + 1, max(len(text), indent + 1) + 1)


def shown(file: str) -> str:
    """The file as people name it: from where they are, if it lies below."""
    here = os.getcwd() + os.sep
    return file.removeprefix(here)


def _tree(file: str) -> ast.Module | None:
    linecache.checkcache(file)
    return _parsed("".join(linecache.getlines(file)))


@functools.lru_cache(maxsize=4)
def _parsed(text: str) -> ast.Module | None:
    """The syntax tree of a file, kept while its functions are traced."""
    import ast

    try:
        return ast.parse(text)
    except SyntaxError:
        return None


def _definition(code: CodeType) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The `def` that a code object was compiled from; its first line is that of a decorator."""
    import ast

    tree = _tree(code.co_filename)
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == code.co_name:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if first == code.co_firstlineno:
                return node
    return None


def _node_extent(node: ast.AST) -> _Extent:
    at: Any = node
    return _Extent(at.lineno, at.end_lineno, at.col_offset, at.end_col_offset)


def _operands_of(node: ast.AST) -> list[ast.expr]:
    """The operands of an expression as the operation takes them; none for what is no operation."""
    import ast

    match node:
        case ast.BinOp(left=left, right=right) | ast.AugAssign(target=left, value=right):
            return [left, right]
        case ast.Compare(left=left, comparators=[right]):
            return [left, right]
        case ast.UnaryOp(operand=operand) | ast.Subscript(value=operand):
            return [operand]
        case ast.Call(func=ast.Attribute(value=ast.Name(id="sl" | "sealane" | "np")), args=args):
            return args
        case ast.Call(
            func=ast.Attribute(value=ast.Attribute(value=ast.Name(id="sl" | "sealane"))), args=args
        ):
            return args
        case ast.Call(func=ast.Attribute(value=value)):
            return [value]
        case ast.Call(func=ast.Name(), args=args):
            return args
    return []


def _written(text: str, node: ast.expr) -> str:
    import ast

    written = ast.get_source_segment(text, node) or ""
    if len(written) > 32 or not written.isprintable():
        return ""
    alone = isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.Constant)
    return written if alone else f"({written})"


def _construct(file: str, extent: _Extent) -> str:
    """The construct around the expression at `extent`: the innermost one that tests it."""
    import ast

    tree = _tree(file)
    if tree is None or extent.column < 0:
        return ""
    for parent, node in _edges(tree):
        if hasattr(node, "lineno") and _node_extent(node) == extent:
            match node:
                case ast.Compare(ops=[_, _, *_]):
                    return "chain"
                case _ if test := _test_of(parent, node):
                    return test
                case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
                    return name
                case ast.Compare(ops=[ast.In() | ast.NotIn()]):
                    return "in"
                case ast.UnaryOp(op=ast.Not()):
                    return "not"
                case ast.BoolOp(op=op):
                    return "and" if isinstance(op, ast.And) else "or"
    return ""


def _test_of(parent: ast.AST, node: ast.AST) -> str:
    import ast

    match parent:
        case ast.If(test=test) if test is node:
            return "if"
        case ast.While(test=test) if test is node:
            return "while"
        case ast.IfExp(test=test) if test is node:
            return "if-else"
        case ast.Assert(test=test) if test is node:
            return "assert"
        case ast.BoolOp(op=op):
            return "and" if isinstance(op, ast.And) else "or"
        case ast.UnaryOp(op=ast.Not()):
            return "not"
        case ast.comprehension():
            return "comprehension"
    return ""


def _edges(tree: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Each node with its parent, parents first."""
    import ast

    stack: list[ast.AST] = [tree]
    while stack:
        parent = stack.pop()
        for child in ast.iter_child_nodes(parent):
            yield parent, child
            stack.append(child)
