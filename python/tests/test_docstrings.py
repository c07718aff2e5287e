"""Examples in docstrings print what they say, in the package as it is installed."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import sealane

MODULES = sorted(
    module.name for module in pkgutil.iter_modules(sealane.__path__) if module.name != "__main__"
)
FINDER = doctest.DocTestFinder()
EXAMPLES = [
    test
    for name in ["sealane", *(f"sealane.{module}" for module in MODULES)]
    for test in FINDER.find(importlib.import_module(name), name)
    if test.examples
]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_examples_of_docstrings(example: doctest.DocTest) -> None:
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    printed: list[str] = []
    result = doctest.DocTestRunner(optionflags=options).run(example, out=printed.append)
    assert result.failed == 0, "".join(printed)


def test_the_package_begins_with_an_example() -> None:
    assert "sealane" in {example.name for example in EXAMPLES}
