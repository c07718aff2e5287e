"""Content of an exception, and its form in a notebook and in a log."""

from __future__ import annotations

import traceback
from pathlib import Path

import numpy as np
import pytest

import pages
import sealane as sl

PAGE = Path(__file__).with_name("failures.md")
CLASSES = [
    sl.ProgramError,
    sl.MisuseError,
    sl.DataError,
    sl.ConfigError,
    sl.NetworkError,
    sl.PeerError,
    sl.InternalError,
]


@sl.program
def total(
    x: sl.Private[sl.u8, "ann", "rows <= 9"], y: sl.Private[sl.u8, "ben"]
) -> sl.Revealed[sl.u16, "ann"]:
    return x.sum(dtype=sl.u16) + y


def caught(call: object) -> sl.SealaneError:
    assert callable(call)
    with pytest.raises(sl.SealaneError) as raised:
        call()
    return raised.value


def test_every_exception_carries_its_parts() -> None:
    error = caught(lambda: total.plan(protocol="bgw"))
    assert type(error) is sl.MisuseError
    assert error.code == "unknown-protocol"
    assert error.message == "there is no protocol `bgw`"
    assert (error.file, error.line, error.column, error.end_column) == (None, None, None, None)
    assert error.hint.startswith("choose one of: ")
    assert str(error) == f"error[{error.code}]: {error.message}\nhint: {error.hint}"


def test_one_class_for_those_who_have_to_act() -> None:
    assert all(issubclass(kind, sl.SealaneError) for kind in CLASSES)
    one = {kind for kind in CLASSES if any(issubclass(other, kind) for other in CLASSES)}
    assert one == set(CLASSES)


def test_data_are_the_fault_of_their_owner() -> None:
    error = caught(lambda: total([1, 300], 2))
    assert isinstance(error, sl.DataError)
    assert error.code == "data-range"


def test_masked_elements_are_missing_and_not_what_lies_under_the_mask() -> None:
    masked = np.ma.array([1, 2], mask=[False, True])
    pairs = np.ma.array([[1, 2]], mask=[[True, False]])
    for given in (masked, masked.astype(np.float64), list(pairs), np.ma.masked):
        error = caught(lambda given=given: total(given, 2))
        assert isinstance(error, sl.DataError)
        assert (error.code, error.message) == ("data-null", "`x` has masked elements")
    # A mask that hides nothing is none.
    assert caught(lambda: total(np.ma.array([1, 300], mask=False), 2)).code == "data-range"

    @sl.program
    def weighted(x: sl.Private[sl.u8, "ann", 2]) -> sl.Revealed[sl.u32, "ben"]:
        return (x * masked).sum(dtype=sl.u32)

    error = caught(weighted.check)
    assert (error.code, error.line is None) == ("operand", False)


def test_a_call_without_an_argument_is_a_misuse_that_names_it() -> None:
    error = caught(lambda: total([1, 2]))
    assert isinstance(error, sl.MisuseError)
    assert "'y'" in error.reason
    assert error.hint == "its parameters are: x, y"


def test_a_notebook_shows_the_line_of_its_user_and_nothing_of_ours() -> None:
    error = caught(lambda: total([1, 2]))
    shown = "\n".join(error._render_traceback_())
    assert "sealane/_" not in shown
    assert "total([1, 2])" in shown
    assert shown.endswith(f"MisuseError: {error}")


def test_a_notebook_does_not_show_a_line_twice() -> None:
    @sl.program
    def wrong(x: sl.Private[sl.u8, "ann"]) -> sl.Revealed[sl.u8, "ben"]:
        return x + 300

    error = caught(wrong.check)
    shown = "\n".join(error._render_traceback_())
    assert shown.count("return x + 300") == 1
    # A script has the usual traceback.
    assert "".join(traceback.format_exception(error)).count("return x + 300") == 2


def test_a_log_has_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    error = caught(lambda: total.plan(helpers=["a\nerror[forged]: \x1b[31m"], protocol="trio"))
    assert len(error.summary.splitlines()) == 1
    assert error.summary.isprintable()
    assert error.summary.startswith(f"error[{error.code}]: ")
    assert "; hint: " in error.summary


def test_what_commands_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """`failures.md` holds commands and files that cannot be, with the whole text of each error."""
    monkeypatch.chdir(tmp_path)
    for shown in pages.check(PAGE, tmp_path, capfd):
        assert shown.text.startswith("error[")
        assert "\nhint: " in shown.text


def test_a_refusal_that_a_program_catches_is_one_still() -> None:
    @sl.program
    def swallowed(
        x: sl.Private[sl.u32, "ann"], y: sl.Private[sl.u32, "ben"]
    ) -> sl.Revealed[sl.u32, "ann"]:
        try:
            return x * y
        except sl.ProgramError:
            return sl.maximum(x, y)

    assert caught(swallowed.check).code == "range-overflow"

    @sl.program
    def asked(x: sl.Private[sl.u32, "ann"]) -> sl.Revealed[sl.boolean, "ben"]:
        return x > 5 if not hasattr(x, "mean") else x > 6

    assert asked.check().warnings == []


def test_row_counts_are_numbers() -> None:
    for rows in (-5, "5", 2.5, {"rows": "5"}):
        error = caught(lambda rows=rows: total.plan(rows=rows))
        assert isinstance(error, sl.MisuseError)
        assert error.code == "row-count"
    five = total.plan(rows=5)
    assert total.plan(rows=np.int64(5)).hash == five.hash
    assert total.plan(rows={"rows": np.uint8(5)}).payload_bytes == five.payload_bytes


def test_what_is_no_number_is_named_with_its_place() -> None:
    assert caught(lambda: total([1, None], 2)).message == "`x` has None at element 1"
    assert "the type `object`" in caught(lambda: total(object(), 2)).message


def test_a_number_in_text_is_not_taken_for_a_gap() -> None:
    texts = ["1", "2.0"]
    refused = caught(lambda: total(texts, 2))
    assert refused.message == "`x` has '1' at element 0"
    assert "`np.array(x, dtype=float)`" in refused.hint
    assert total(np.array(texts, dtype=float), 2) == 5
    assert "fill it in" in caught(lambda: total(["no", "1"], 2)).hint
