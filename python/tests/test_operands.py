"""Operands that a function does not take: cells that are no numbers, and constants of Python.

Each public function is called with each kind of them, in each place of an operand. It works, or it
is refused at its line, with a caret and a hint; never by an exception of Python or NumPy, and never
with the claim that no operand is a value of the program where one is.
"""

from __future__ import annotations

import inspect
import re
import warnings
from pathlib import Path

import pytest

import sealane as sl
from conftest import load
from sealane import _core

OF_TWO = ["atan2", "copysign", "fdim", "fmax", "fmin", "fmod", "hypot", "ldexp", "nextafter", "pow"]
OF_TWO += ["remainder", "scalbn", "sumprod"]
OF_ONE = set(sl.math.__all__) - {*OF_TWO, "fma"}
ALONE = ["all", "any", "argmax", "argmin", "argsort", "count", "cummax", "cummin"]
ALONE += ["cumprod", "cumsum", "diff", "flip", "fmean", "fsum", "max", "mean", "median", "min"]
ALONE += ["mode", "rank", "ravel", "round", "sha256", "sort", "squeeze", "std", "sum"]
ALONE += ["transpose", "var"]
ALONE += [name for name, at, _, count in _core.element_wise() if count == 1 and at == f"sl.{name}"]

CALLS: dict[str, list[str]] = {
    **{f"math.{name}": [f"sl.math.{name}(x)"] for name in sorted(OF_ONE)},
    **{f"math.{name}": [f"sl.math.{name}(x, 2)", f"sl.math.{name}(2, x)"] for name in OF_TWO},
    "math.fma": ["sl.math.fma(x, 2, 3)", "sl.math.fma(2, 3, x)"],
    **{name: [f"sl.{name}(x)"] for name in ALONE},
    "aes128": ["sl.aes128(x, x)", "sl.aes128([0] * 16, x)"],
    "age_in_years": ["sl.age_in_years(x, x)"],
    "associative_scan": ["sl.associative_scan(lambda a, b: a + b, x)"],
    "broadcast_to": ["sl.broadcast_to(x, (2, 4))"],
    "clip": ["sl.clip(x, 0, 1)", "sl.clip(n, 0, x)"],
    "concatenate": ["sl.concatenate([x, x])", "sl.concatenate([x, n])"],
    "corr": ["sl.corr(x, x)", "sl.corr(n, x)"],
    "cov": ["sl.cov(x, x)", "sl.cov(n, x)"],
    "dot": ["sl.dot(x, [1, 2, 3, 4])", "sl.dot([1, 2, 3, 4], x)", "sl.dot(n, x)"],
    "expand_dims": ["sl.expand_dims(x, 0)"],
    "fdot": ["sl.fdot(x, x)", "sl.fdot(n, x)"],
    "gf_mul": ["sl.gf_mul(x, 2, 0x11b)", "sl.gf_mul(3, x, 0x11b)", "sl.gf_mul(n & 1, n & 1, x)"],
    "group_by": [
        "sl.group_by(x, most=3).agg(n=sl.count())",
        "sl.group_by(n, most=3).agg(s=x)",
        "sl.group_by(n, most=3).agg(x)",
        "sl.group_by(n, most=3).sum(x)",
        'sl.group_by(n, most=3)["x"]',
    ],
    "head": ["sl.head(x, 2)"],
    "histogram": ["sl.histogram(x, [0, 1, 2])"],
    "isin": ["sl.isin(x, [1, 2])", "sl.isin(n, x)"],
    "lookup": ["sl.lookup([1, 2, 3], x)", "sl.lookup(x, n)", "sl.lookup(x, [1])"],
    "map": ["sl.map(lambda a: a, x)"],
    "maximum": ["sl.maximum(x, 1)", "sl.maximum(n, x)"],
    "minimum": ["sl.minimum(1, x)", "sl.minimum(x, n)"],
    "moveaxis": ["sl.moveaxis(x, 0, 0)"],
    "quantile": ["sl.quantile(x, 0.5)"],
    "repeat": ["sl.repeat(x, 2)"],
    "reshape": ["sl.reshape(x, (2, 2))"],
    "roll": ["sl.roll(x, 1)", "sl.roll(n, x)"],
    "saturate": ["sl.saturate(x, sl.u8)"],
    "scan": ["sl.scan(lambda s, a: s + a, 0, x, dtype=sl.u32)", "sl.scan(lambda s, a: s, x, n)"],
    "searchsorted": ["sl.searchsorted([1, 2], x)", "sl.searchsorted(x, n)"],
    "share": ["sl.share(x, 'yao')", "sl.share(n, x)"],
    "sized": ["sl.sized(x, 1)", "sl.sized(n, x)"],
    "sort_by": ["sl.sort_by(x, n)", "sl.sort_by(n, x)"],
    "stack": ["sl.stack([x, x])", "sl.stack([x, n])"],
    "swapaxes": ["sl.swapaxes(x, 0, 0)"],
    "tile": ["sl.tile(x, 2)"],
    "top_k": ["sl.top_k(x, 2)"],
    "unique": ["sl.unique(x, 2)"],
    "where": ["sl.where(x, 1, 2)", "sl.where(n > 1, x, 2)"],
    "wrap": ["sl.wrap(x, sl.u8)"],
    "full": ["sl.full(2, x, sl.u8)"],
    "arange": ["sl.arange(x)"],
}
OPERATORS = """x + 1;x - 1;2 * x;x / 2;x // 2;x % 2;divmod(x, 2);x**2
x & 1;x | 1;x ^ 1;x << 1;x >> 1
-x;+x;~x;abs(x);x @ x;x < 1;x == 1;x[0];len(x);list(x);n + x;n < x
np.array([1, 2, 3, 4]) * x
np.array([1, 2, 3, 4]) < x;np.exp(x);np.add(x, 1);np.minimum(x, 1);np.sum(x);np.mean(x)
np.cumsum(x)
np.concatenate([x, x]);np.stack([x, x]);np.where(n > 1, x, 0);np.sort(x);np.reshape(x, (2, 2))
np.add.accumulate(x);np.isin(x, [1]);x.sum();x.clip(0, 1);x.T;x.fillna(0)"""
TAKE_NO_TENSOR = {"between", "category", "column", "fixed", "magnitude", "min_group", "noise"}
TAKE_NO_TENSOR |= {"nullable", "ones", "program", "text", "ufixed", "zeros"}

KINDS = {
    "nullable": "sl.nullable(sl.u16)",
    "date": "sl.date",
    "timestamp": "sl.timestamp",
    "text": "sl.text(4)",
    "category": "sl.category(['a', 'b'])",
    "nullable text": "sl.nullable(sl.text(4))",
}
CONSTANTS = {
    "int": "3",
    "float": "2.5",
    "list": "[1, 2, 3, 4]",
    "array": "np.array([1, 2, 3, 4])",
    "None": "None",
    "str": "'abc'",
    "datetime.date": "datetime.date(2020, 1, 1)",
    "list of values": "[n, n]",
}
PROGRAM = """\
import datetime
import numpy as np
import sealane as sl

@sl.program
def f(
    v: sl.Private[{declared}, "alice", 4], n: sl.Private[sl.u8, "bob", 4]
) -> sl.Revealed[sl.u8, "bob"]:
    x = {given}
    {call}
    return n[0] & n[1]
"""
LINE = 1 + PROGRAM[: PROGRAM.index("{call}")].count("\n")


def refusal(folder: Path, call: str, declared: str, given: str) -> sl.SealaneError | None:
    """The refusal of a call; `None` if it works."""
    module = load(folder / "program.py", PROGRAM.format(declared=declared, given=given, call=call))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sl.SealaneWarning)
            module.f.check()
    except sl.SealaneError as error:
        return error
    return None


def check_hint(error: sl.SealaneError | None, folder: Path, call: str, declared: str) -> None:
    """Follows hints as long as they say what to write for cells that are no numbers."""
    given, written = "v", re.compile(r"(.*?):? `((?!\.|.*value)[^`]*\bx\b.*?)`")
    while error is not None and (found := written.match(error.hint)):
        if found[1].endswith((" place", "their bytes")):
            given = re.sub(r"\bx\b", given, found[2])
        else:
            call = found[2]
        last, error = error, refusal(folder, call, declared, given)
        assert str(error) != str(last), (call, str(error))
    of_kinds = re.search(r"` (does not work on|and) `sealane\.|a value of type", str(error))
    assert not of_kinds or "no element is missing" in str(error), (
        declared,
        given,
        call,
        str(error),
    )


def check(error: sl.SealaneError | None, of_program: bool) -> None:
    if error is None:
        return
    text = str(error)
    assert error.line == LINE, text
    assert error.file is not None, text
    assert error.file.endswith("program.py"), text
    assert "^" in text, text
    assert error.hint, text
    assert "hint: " in text, text
    if of_program:
        assert "none of the operands" not in text, text
        assert "None of" not in text, text


@pytest.mark.parametrize("name", [*CALLS, *OPERATORS.replace("\n", ";").split(";")])
def test_cells_that_are_no_numbers_are_refused_at_their_line(name: str, tmp_path: Path) -> None:
    for kind, declared in KINDS.items():
        for call in CALLS.get(name, [name]):
            error = refusal(tmp_path, call, declared, "v")
            check(error, of_program=True)
            if error is not None and name.startswith("math."):
                assert error.code == "operand", (kind, call)
                first = name == "math.sumprod" and call.endswith("(2, x)")
                assert first or "give numbers in its place" in error.hint, (kind, call)
            check_hint(error, tmp_path, call, declared)


@pytest.mark.parametrize("name", CALLS)
def test_constants_of_python_are_refused_at_their_line(name: str, tmp_path: Path) -> None:
    for given, constant in CONSTANTS.items():
        for call in CALLS[name]:
            error = refusal(tmp_path, call, "sl.u8", constant)
            check(error, of_program=given == "list of values")


def test_each_public_function_is_in_the_table() -> None:
    public = {name for name in sl.__all__ if inspect.isfunction(getattr(sl, name))}
    public |= {f"math.{name}" for name in sl.math.__all__}
    assert public - set(CALLS) == TAKE_NO_TENSOR
    assert set(CALLS) - public == set()


STEPS = ["diff", "cumprod", "fsum", "fmean", "round", "std", "var", "median", "math.softmax"]
CALLS_WITH_STEPS = [*STEPS, "sl.diff(x, prepend=0)", "sl.group_by(n, most=2).agg(m=sl.mean(x)).m"]
NUMBERS = ["sl.u8", "sl.i64", "sl.u64", "sl.fixed(2, 6)", "sl.fixed(32, 32)", "sl.nullable(sl.u64)"]


def test_a_refused_step_is_told_as_one_of_the_call(tmp_path: Path) -> None:
    """Operands of the steps of a call stand nowhere in the source, so no message names them."""
    told = []
    for name in [*CALLS_WITH_STEPS, "2 * x", "np.add(x, 1)", "x + 1"]:
        for call in CALLS.get(name, [name]):
            for declared in NUMBERS:
                error = refusal(tmp_path, call, declared, "v")
                if error is None or error.code != "range-overflow":
                    continue
                text = f"{error.message} {error.hint}"
                code = " ".join(re.findall(r"`(.*?)`", text))
                assert not re.search(r"\b[ab]\b|axis=", code), (call, declared, text)
                assert not re.search(r"\b[ab] in ", error.reason), (call, declared, error.reason)
                told += [call] * error.message.startswith("a step of `")
    assert {"sl.diff(x)", "sl.fsum(x)", "sl.round(x)", "sl.math.softmax(x)"} <= {*told}
    assert not {"2 * x", "x + 1", "np.add(x, 1)"} & {*told}
