"""Docstrings of the package as it is installed: their examples print what they say, and every
public function names what it raises and has an example.
"""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from types import GetSetDescriptorType, ModuleType
from typing import Any

import pytest

import sealane
from sealane import _core, _data

MODULES = sorted(
    module.name for module in pkgutil.iter_modules(sealane.__path__) if module.name != "__main__"
)


class Finder(doctest.DocTestFinder):
    """Finds the examples of functions behind a decorator, too."""

    def _from_module(self, module: ModuleType | None, found: Any) -> bool:
        inside: bool = super()._from_module(module, inspect.unwrap(found))  # type: ignore[misc]
        return inside


FINDER = Finder()
EXAMPLES = [
    test
    for name in ["sealane", *(f"sealane.{module}" for module in MODULES)]
    for test in FINDER.find(importlib.import_module(name), name)
    if test.examples
]
WITH_EXAMPLE = {example.docstring for example in EXAMPLES}

# Classes that methods return, and that have no name in `sealane`.
RETURNED = (_core.Check, _core.Plan, _core.Table, _data.Report)
# Attributes for the package itself, which the reference leaves out.
INTERNAL = {"Program.native", "Program.signature"}
WITHOUT_EXAMPLE = {
    "NetworkError": "it needs a network that fails",
    "PeerError": "it needs another party that fails",
    "InternalError": "it needs a bug",
}
EXCEPTION = re.compile(r"`(\w+Error|InvalidTag)`")
RAISES = re.compile(r"\bRaises\b[^.]*?`(\w+Error|InvalidTag)`")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_examples_of_docstrings(example: doctest.DocTest) -> None:
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    printed: list[str] = []
    result = doctest.DocTestRunner(optionflags=options).run(example, out=printed.append)
    assert result.failed == 0, "".join(printed)


def test_the_package_begins_with_an_example() -> None:
    assert "sealane" in {example.name for example in EXAMPLES}


def public() -> Iterator[tuple[str, Any, type | None]]:
    """Everything public, with its name: classes and functions, and then, with their class, the
    methods and properties that a class defines itself.
    """
    for module in (sealane, sealane.aead):
        for name in module.__all__:
            item = getattr(module, name)
            if name.startswith("__") or isinstance(item, ModuleType):
                continue
            yield name, item, None
            if inspect.isclass(item):
                yield from members(name, item)
    for item in RETURNED:
        yield item.__name__, item, None
        yield from members(item.__name__, item)


def members(name: str, kind: type) -> Iterator[tuple[str, Any, type | None]]:
    """The public methods and properties of a class; a call counts as a method."""
    for member, item in vars(kind).items():
        if not member.startswith("_") or member == "__call__":
            assert inspect.isroutine(item) or is_property(item), f"{name}.{member}"
            yield f"{name}.{member}", item, kind


def is_property(item: object) -> bool:
    return isinstance(item, property | cached_property | GetSetDescriptorType)


PUBLIC = {name: (item, kind) for name, item, kind in public() if name not in INTERNAL}


def test_what_is_public_is_found() -> None:
    # One of each sort, so that the rules below cannot hold of nothing.
    assert {"where", "seal_many", "Program.run", "Value.sum", "Plan.rounds", "Report.write"} <= {
        *PUBLIC
    }
    assert {*WITHOUT_EXAMPLE} <= {*PUBLIC}


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_public_docstrings_are_complete(name: str) -> None:
    item, kind = PUBLIC[name]
    told = item.__doc__
    assert told, "it has a docstring"
    if inspect.isroutine(item):
        assert RAISES.search(told), "a function names the exceptions that it raises"
    for exception in EXCEPTION.findall(told):
        assert hasattr(sealane, exception) or hasattr(sealane.aead, exception), exception
    if kind is not None and is_property(item):
        shown = any(
            re.search(rf"\.{item_name(name)}\b", example.source)
            for docstring in (kind.__doc__, told)
            for example in doctest.DocTestParser().get_examples(docstring or "")
        )
        assert shown, "an example of the class shows the property"
    elif name not in WITHOUT_EXAMPLE:
        assert told in WITH_EXAMPLE, "it has an example that runs"


def item_name(name: str) -> str:
    return name.rpartition(".")[2]


def functions(module: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    """The functions and methods of a module without a leading underscore, by name."""
    file = importlib.import_module(f"sealane.{module}").__file__ or ""
    if not file.endswith(".py"):
        return
    tree = ast.parse(Path(file).read_text("utf-8"))
    bodies = [tree.body, *(node.body for node in tree.body if isinstance(node, ast.ClassDef))]
    for node in (node for body in bodies for node in body):
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield f"{module}.{node.name}", node


def test_functions_that_raise_say_so() -> None:
    raising = {
        name: ast.get_docstring(node) or ""
        for module in MODULES
        for name, node in functions(module)
        if any(isinstance(inner, ast.Raise) for inner in ast.walk(node))
    }
    assert {"_operands.operand", "_refusal.call"} <= {*raising}
    assert [name for name, told in raising.items() if not re.search(r"\bRaises\b", told)] == []


def documented(body: list[ast.stmt], inside: Any) -> Iterator[tuple[str, Any]]:
    """The docstrings of a stub, each with the object that it describes."""
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            item = getattr(inside, node.name)
            if told := ast.get_docstring(node):
                yield told, item
            if isinstance(node, ast.ClassDef):
                yield from documented(node.body, item)


def test_the_stub_says_what_the_native_module_says() -> None:
    stub = Path(sealane.__path__[0]) / "_core.pyi"
    found = list(documented(ast.parse(stub.read_text("utf-8")).body, _core))
    classes = {item for _, item in found if inspect.isclass(item)}
    assert {_core.Check, _core.Plan, _core.Table} <= classes
    for told, item in found:
        assert told == inspect.cleandoc(item.__doc__ or ""), item
