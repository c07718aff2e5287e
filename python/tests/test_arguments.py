"""Odd arguments of public functions are refused by Sealane, with a code, and not by its binding."""

from __future__ import annotations

import inspect
import operator
import re
import reprlib
import typing
import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sealane as sl

ODD: list[Any] = [None, -1, 0, 1 << 63, 1 << 64, 1 << 200, 0.5, float("nan"), "", "no", b"", [], {}]
ODD += [[None], object(), print, np.float32(1.5), np.zeros((2, 2)), True, "\0", "../\n", "\ud800"]


@sl.program
def total(
    x: sl.Private[sl.u8, "ann", "rows <= 9"], y: sl.Private[sl.u8, "ben"]
) -> sl.Revealed[sl.u32, "ben"]:
    return x.sum(dtype=sl.u32) + y


def simulate(**given: Any) -> Any:
    return total.simulate([1, 2], 3, **{"clear": True, "progress": False, **given})


def run(folder: Path, **given: Any) -> Any:
    stated = {"approve": "00", "party": "ann", "config": folder / "none.toml", **given}
    return total.run(**stated)


def shortly(odd: Any) -> str:
    """A name for a case, the same in every process: without addresses."""
    return re.sub("(?:0|\\.{3})?x[0-9a-f]{6,}", "", ascii(reprlib.repr(odd)))


NAMES = {
    "simulate": ("network", "protocol", "helpers", "runs", "clear", "progress"),
    "plan": ("rows", "config", "network", "protocol", "helpers"),
    "run": (
        *("approve", "party", "input", "config", "identity", "network", "protocol", "helpers"),
        *("runs", "timeout"),
    ),
}


def refused_or_done(call: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Outcome of a call with an odd argument: it works, or raises an exception with a code."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call(*args, **kwargs)
        except sl.SealaneError as error:
            assert error.code and error.message and error.hint, error
            assert not isinstance(error, sl.InternalError), error


@pytest.mark.parametrize("odd", ODD, ids=shortly)
def test_odd_arguments_of_a_program(
    odd: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in NAMES["simulate"]:
        refused_or_done(simulate, **{name: odd})
    for name in NAMES["plan"]:
        refused_or_done(total.plan, **{name: odd})
    for name in NAMES["run"]:
        refused_or_done(run, tmp_path, **{name: odd})
    refused_or_done(lambda: total(odd, 3))
    refused_or_done(lambda: total([1, 2], odd))
    refused_or_done(lambda: total([odd, odd], 3))
    report = simulate()
    refused_or_done(lambda: report.table(odd))
    refused_or_done(lambda: report.write(odd))


@pytest.mark.parametrize("odd", ODD, ids=shortly)
def test_odd_arguments_of_the_modes(odd: Any) -> None:
    right: dict[str, Any] = {"mode": "ccm", "key": bytes(16), "nonce": bytes(12), "data": b"text"}
    options = ("aad", "tag_len", "version", "research")
    call: Any
    for call in (sl.aead.seal, sl.aead.open):
        for name in (*right, *options):
            refused_or_done(call, **{**right, name: odd})
    refused_or_done(lambda: sl.aead.open(**right, plaintext_len=odd))
    many: dict[str, Any] = {
        "mode": "ccm",
        "keys": bytes(16),
        "nonces": [bytes(12)],
        "messages": [b""],
    }
    for call in (sl.aead.seal_many, sl.aead.open_many):
        for name in (*many, "aads", "tag_len", "version", "research"):
            refused_or_done(call, **{**many, name: odd})
    refused_or_done(lambda: sl.aead.seal_many(**many, equal_nonces=odd))
    refused_or_done(lambda: sl.aead.open_many(**many, plaintext_lens=odd))
    refused_or_done(lambda: sl.aead.open_many(**many, errors=odd))


AEAD = {"ad": "aad", "study": "research"}
AEAD_MANY = {"datas": "messages", "ads": "aads", "study": "research"}
RENAMED: list[tuple[Callable[..., Any], str, str]] = [
    (total.run, "yes", "approve"),
    (total.run, "as_", "party"),
    (total.run, "patience", "timeout"),
    *((call, *names) for call in (sl.aead.seal, sl.aead.open) for names in AEAD.items()),
    *((c, *names) for c in (sl.aead.seal_many, sl.aead.open_many) for names in AEAD_MANY.items()),
]


@pytest.mark.parametrize(("call", "old", "new"), RENAMED)
def test_old_names_of_arguments(call: Callable[..., Any], old: str, new: str) -> None:
    assert new in inspect.signature(call).parameters
    with pytest.raises(sl.MisuseError, match=r"(?s)has no argument.*\n.*\^") as caught:
        call(**{old: None})
    error = caught.value
    assert error.code == "argument" and error.hint == f"write `{new}`"
    assert error.message == f"`{call.__name__}` has no argument `{old}`"
    assert error.file is not None and Path(error.file).name == Path(__file__).name


def test_old_names_of_attributes() -> None:
    plan = total.plan(rows=2)
    with pytest.raises(sl.MisuseError) as caught:
        plan.papers  # type: ignore[attr-defined]  # noqa: B018
    assert caught.value.hint == "write `references`"
    assert not hasattr(plan, "sources")


ODDER: list[Any] = [*ODD, 1, 1j, (), set(), {"a": 1}, ["x"], [1], [True], [[1], [1, 2]], [None]]
ODDER += ["sl.u8", "a <= 3", "x <= y", "x" * 300, "\ud800", ["\ud800"], b"\xff", memoryview(b"ab")]
ODDER += [int, str, type, list[int], sl, np, sl.u8, sl.Value, sl.FixedPoint, sl.wrapping, ...]
ODDER += [float("inf"), Fraction(1, 3), Decimal("NaN"), Decimal("1e999"), np.int8(-3), np.zeros(0)]
ODDER += [np.array(["a"]), np.array(3), np.True_, np.ma.masked, np.datetime64("2020"), slice(None)]
ODDER += [slice(0, 0), range(3), iter([1]), NotImplemented, Exception("x"), lambda: 1, lambda x: x]
ODDER += [sl.between(0, 1), sl.column("a"), sl.column(None), sl.Private[sl.u8, "ann"]]  # type: ignore[arg-type]
ODDER += [typing.Any, typing.Annotated[int, 3]]
GIVEN: Any = sl.Private[sl.u8, "ann"]
LEARNT: Any = sl.Revealed[sl.i64, "ben"]


def checked(given: Any, learnt: Any, body: Callable[[Any], Any] = lambda x: x) -> None:
    """Traces a function with these annotations."""

    def f(x: Any) -> Any:
        return body(x)

    f.__annotations__ = {"x": given, "return": learnt}
    sl.program(f).check()


SIGNATURES: list[Callable[[Any], object]] = [
    lambda odd: checked(odd, LEARNT),
    lambda odd: checked(sl.Private[odd], LEARNT),
    lambda odd: checked(sl.Private[odd, "ann"], LEARNT),
    lambda odd: checked(sl.Private[sl.u8, odd], LEARNT),
    lambda odd: checked(sl.Private[sl.u8, "ann", odd], LEARNT),
    lambda odd: checked(sl.Private[sl.u8, "ann", 2, odd], LEARNT),
    lambda odd: checked(sl.Private[sl.u8, "ann", [odd]], LEARNT),
    lambda odd: checked(sl.Private[sl.u8, "ann", sl.between(odd, 3)], LEARNT),
    lambda odd: checked(sl.Private[sl.u8, "ann", sl.between(0, odd)], LEARNT),
    lambda odd: checked(sl.Private[sl.u8, "ann", "n <= 3", sl.column(odd)], LEARNT),
    lambda odd: checked(typing.Annotated[sl.u8, odd], LEARNT),
    lambda odd: checked(GIVEN, odd),
    lambda odd: checked(GIVEN, tuple[odd]),  # type: ignore[valid-type]
    lambda odd: checked(GIVEN, tuple[LEARNT, odd]),  # type: ignore[valid-type]
    lambda odd: checked(GIVEN, sl.Revealed[odd]),
    lambda odd: checked(GIVEN, sl.Revealed[odd, "ben"]),
    lambda odd: checked(GIVEN, sl.Revealed[sl.u8, odd]),
    lambda odd: checked(GIVEN, sl.Revealed[sl.u8, "ben", odd]),
    lambda odd: checked(GIVEN, LEARNT, lambda x: odd),
    lambda odd: checked(GIVEN, LEARNT, lambda x: (odd,)),
    # `sl.program(None)` is `sl.program()`, a decorator.
    lambda odd: (sl.program()(None) if odd is None else sl.program(odd)).check(),
    lambda odd: sl.Program(odd, {}).check(),
    lambda odd: sl.fixed(odd, 3),
    lambda odd: sl.ufixed(3, odd),
    *(lambda odd, made=made: made(odd) for made in (sl.u8, sl.boolean, sl.fixed(4, 4), sl.Value)),
]


@pytest.mark.parametrize("odd", ODDER, ids=shortly)
def test_odd_signatures(odd: Any) -> None:
    for made in SIGNATURES:
        refused_or_done(made, odd)


FUNCTIONS: list[Callable[[Any, Any], object]] = [
    lambda x, odd: sl.where(odd, x, x),
    lambda x, odd: sl.where(x > 1, odd, x),
    lambda x, odd: sl.where(x > 1, x, odd),
    lambda x, odd: sl.minimum(x, odd),
    lambda x, odd: sl.maximum(odd, x),
    lambda x, odd: sl.clip(odd, 0, 3),
    lambda x, odd: sl.clip(x, odd, 3),
    lambda x, odd: sl.clip(x, 0, odd),
    lambda x, odd: sl.saturate(odd, sl.u8),
    lambda x, odd: sl.saturate(x, odd),
    lambda x, odd: sl.wrap(odd, sl.u8),
    lambda x, odd: sl.wrap(x, odd),
    lambda x, odd: x.astype(odd),
    lambda x, odd: sl.abs(odd),
    lambda x, odd: sl.popcount(odd),
    lambda x, odd: sl.sum(odd),
    lambda x, odd: sl.sum(x, odd),
    lambda x, odd: sl.sum(x, dtype=odd),
    lambda x, odd: sl.min(odd),
    lambda x, odd: sl.max(x, odd),
    lambda x, odd: sl.any(odd),
    lambda x, odd: sl.all(x > 1, odd),
    lambda x, odd: sl.dot(odd, x),
    lambda x, odd: sl.dot(x, odd),
    lambda x, odd: sl.dot(x, x, dtype=odd),
    lambda x, odd: sl.lookup(odd, x),
    lambda x, odd: sl.lookup(x, odd),
    lambda x, odd: sl.gf_mul(odd, x, 0x11B),
    lambda x, odd: sl.gf_mul(x, odd, 0x11B),
    lambda x, odd: sl.gf_mul(x, x, odd),
    lambda x, odd: sl.stack(odd),
    lambda x, odd: sl.stack([x, odd]),
    lambda x, odd: sl.stack([x, x], odd),
    lambda x, odd: sl.aes128(odd, x),
    lambda x, odd: sl.aes128(x, odd),
    lambda x, odd: sl.sha256(odd),
    lambda x, odd: sl.map(odd, x),
    lambda x, odd: sl.map(lambda a: a, odd),
    lambda x, odd: sl.map(lambda a, b: a, x, odd),
    lambda x, odd: sl.map(lambda a: odd, x),
    lambda x, odd: sl.scan(odd, 0, x),
    lambda x, odd: sl.scan(lambda state, a: state, odd, x, dtype=sl.u8),
    lambda x, odd: sl.scan(lambda state, a: state, 0, odd),
    lambda x, odd: sl.scan(lambda state, a: odd, 0, x, dtype=sl.u8),
    lambda x, odd: sl.scan(lambda state, a: (state, odd), 0, x, dtype=sl.u8),
    lambda x, odd: sl.scan(lambda state, a: state, 0, x, dtype=odd),
    lambda x, odd: x[odd],
    lambda x, odd: x[:, odd],
    lambda x, odd: x[:, odd:],
    lambda x, odd: x[:, ::odd],
    lambda x, odd: x.__setitem__(odd, 3),
    lambda x, odd: odd in x,
    lambda x, odd: divmod(x, odd),
    lambda x, odd: divmod(odd, x),
    lambda x, odd: x**odd,
    lambda x, odd: round(x, odd),
]
OPERATORS = "add sub mul truediv floordiv mod matmul and_ or_ xor lshift rshift eq lt ge"
for _name in OPERATORS.split():
    _does = getattr(operator, _name)
    FUNCTIONS += [partial(_does), partial(lambda does, x, odd: does(odd, x), _does)]
VALUES: list[Any] = [
    sl.Private[sl.u8, "ann"],
    sl.Private[sl.boolean, "ann", "n <= 4"],
    sl.Private[sl.u8, "ann", "n <= 4", 2],
    sl.Private[sl.fixed(8, 8), "ann", 3],
]


@pytest.mark.parametrize("odd", ODDER, ids=shortly)
def test_odd_operands(odd: Any) -> None:
    for given in VALUES:
        for function in FUNCTIONS:
            # What a class of another package raises when it is called as a body is its own.
            if odd is not typing.Any:
                refused_or_done(checked, given, LEARNT, lambda x, does=function: does(x, odd))


class Streaming:
    """Something that says that it streams Arrow, and does something else."""

    def __init__(self, give: Callable[[], Any]) -> None:
        self.give = give

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self.give()


def failing() -> Any:
    raise RuntimeError("the disk is gone")


@pytest.mark.parametrize(
    ("give", "says"),
    [
        (lambda: None, "TypeError: "),
        (lambda: 7, "TypeError: "),
        (lambda: b"arrow_array_stream", "TypeError: "),
        (lambda: np.zeros(3).__array_struct__, "TypeError: "),
        (failing, "RuntimeError: the disk is gone"),
    ],
)
def test_what_streams_no_arrow_is_refused(give: Callable[[], Any], says: str) -> None:
    with pytest.raises(sl.DataError) as caught:
        total(Streaming(give), 3)
    assert caught.value.code == "data-unreadable" and says in caught.value.reason
    assert caught.value.__cause__ is not None


def test_an_interrupt_while_a_table_is_opened_is_no_error_of_the_table() -> None:
    def interrupted() -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        total(Streaming(interrupted), 3)
