"""Odd arguments of public functions are refused by Sealane, with a code, and not by its binding."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sealane as sl

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ODD: list[Any] = [None, -1, 0, 1 << 63, 1 << 64, 1 << 200, 0.5, float("nan"), "", "no", b"", [], {}]
ODD += [[None], object(), print, np.float32(1.5), np.zeros((2, 2)), True, "\0", "../\n"]


@sl.program
def total(
    x: sl.Private[sl.u8, "ann", "rows <= 9"], y: sl.Private[sl.u8, "ben"]
) -> sl.Revealed[sl.u32, "ben"]:
    return x.sum(dtype=sl.u32) + y


def simulate(**given: Any) -> Any:
    return total.simulate([1, 2], 3, **{"clear": True, "progress": False, **given})


def run(folder: Path, **given: Any) -> Any:
    stated = {"yes": "00", "as_": "ann", "config": folder / "none.toml", **given}
    return total.run(**stated)


NAMES = {
    "simulate": ("network", "protocol", "helpers", "runs", "clear", "progress"),
    "plan": ("rows", "config", "network", "protocol", "helpers"),
    "run": ("yes", "as_", "input", "config", "identity", "network", "protocol", "helpers", "runs"),
}


def refused_or_done(call: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """What a call does with an odd argument: it works, or raises an exception with a code."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call(*args, **kwargs)
        except sl.SealaneError as error:
            assert error.code and error.hint, error
            assert not isinstance(error, sl.InternalError), error


@pytest.mark.parametrize("odd", ODD, ids=repr)
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


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_odd_arguments_of_the_modes(odd: Any) -> None:
    right: dict[str, Any] = {"mode": "ccm", "key": bytes(16), "nonce": bytes(12), "data": b"text"}
    options = ("ad", "tag_len", "version", "study")
    call: Any
    for call in (sl.aead.seal, sl.aead.open):
        for name in (*right, *options):
            refused_or_done(call, **{**right, name: odd})
    refused_or_done(lambda: sl.aead.open(**right, plaintext_len=odd))
    many: dict[str, Any] = {"mode": "ccm", "keys": bytes(16), "nonces": [bytes(12)], "datas": [b""]}
    for call in (sl.aead.seal_many, sl.aead.open_many):
        for name in (*many, "ads", "tag_len", "version", "study"):
            refused_or_done(call, **{**many, name: odd})
    refused_or_done(lambda: sl.aead.seal_many(**many, equal_nonces=odd))
    refused_or_done(lambda: sl.aead.open_many(**many, plaintext_lens=odd))
    refused_or_done(lambda: sl.aead.open_many(**many, errors=odd))


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
