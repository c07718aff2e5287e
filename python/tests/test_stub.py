"""The stub of the native module states what is in it, and nothing else."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Any

import sealane
from sealane import _core

STUB = ast.parse(Path(sealane.__file__).with_name("_core.pyi").read_text(encoding="utf-8"))


def public(names: Any) -> set[str]:
    return {name for name in names if not name.startswith("_")}


def parameters(function: ast.FunctionDef) -> list[str]:
    return [argument.arg for argument in function.args.args if argument.arg != "self"]


def native_parameters(item: Any) -> list[str]:
    return [name for name in inspect.signature(item).parameters if name != "self"]


def test_the_module_has_what_the_stub_says() -> None:
    aliases = {
        n.target.id
        for n in STUB.body
        if isinstance(n, ast.AnnAssign) and n.value and isinstance(n.target, ast.Name)
    }
    stated = {n.name for n in STUB.body if isinstance(n, ast.ClassDef | ast.FunctionDef)}
    assert public(vars(_core)) == stated
    assert aliases == {"Array", "Operand", "Place"}
    assert isinstance(_core.__version__, str)


def test_functions_take_what_the_stub_says() -> None:
    for node in STUB.body:
        if isinstance(node, ast.FunctionDef):
            assert native_parameters(getattr(_core, node.name)) == parameters(node), node.name


def test_classes_have_what_the_stub_says() -> None:
    for node in STUB.body:
        if not isinstance(node, ast.ClassDef):
            continue
        native = getattr(_core, node.name)
        methods = {n.name: n for n in node.body if isinstance(n, ast.FunctionDef)}
        assert public(vars(native)) == public(methods), node.name
        for name, method in methods.items():
            if method.decorator_list:
                assert inspect.isgetsetdescriptor(vars(native)[name]), name
            elif name == "__new__":
                stated = [argument for argument in parameters(method) if argument != "cls"]
                assert native_parameters(native) == stated, node.name
            else:
                found = native_parameters(vars(native)[name])
                assert found == parameters(method), f"{node.name}.{name}"
