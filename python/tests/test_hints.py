"""Every hint works: what a page tells to write instead runs, and gives the number that was meant.

Cases of `refusals.md` and pages of `docs/errors` whose hint has code in it stand in the tables of
`hints`, with that hint and a program that follows it. A case or page without an entry fails, and so
does one whose hint has changed since.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import sealane as sl
import test_refusals
from hints import PAGES_FOLLOWED, REFUSALS, Followed
from pages import BLOCK
from test_error_pages import PAGES, WARNING

CODE = re.compile(r"`([^`]+)`")
X, Y, N = [3, 1, 2], [10, 20, 30, 41], 5
"""Data of the programs below, as `x`, `y` and `n` of the signature of `test_refusals`."""

# Hints that name no code of a program: a command, a place in the signature, an option. Those of
# COSTLY have tests of their own below.
COSTLY = {"many-rounds", "long-run"}
OTHERS = {"no-program", "syntax", "unreadable", "other-protocol", *COSTLY}


def run(item: Followed, folder: Path) -> Any:
    """Result of the program in the clear; it must not be warned of."""
    if item.kind:
        head = test_refusals.SIGNATURE.replace(
            "sl.Revealed[sl.boolean,", f"sl.Revealed[{item.kind},"
        )
        lines = item.body.splitlines()
        code, inputs = head + "".join(f"    {line}\n" for line in lines), (X, Y, N)
    else:
        code, inputs = item.body, ([5],) if "<=" in item.body else (5,)
    with warnings.catch_warnings():
        warnings.simplefilter("error", sl.SealaneWarning)
        return test_refusals.load(code, folder).simulate(*inputs, clear=True).value


def works(item: Followed, folder: Path) -> None:
    assert np.array(run(item, folder)).tolist() == item.result


def recommending() -> Iterator[tuple[str, str]]:
    """Pages about programs whose hint has code in it, with that hint."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        hint = re.search(r"^\s*hint: (.*)$", text, re.M)
        ours = "The author of the program acts" in text or WARNING in text
        if hint and ours and CODE.search(hint[1]) and page.stem not in OTHERS:
            yield page.stem, hint[1]


CASES = {
    case.id: (*case.values, hint[1])
    for case in test_refusals.cases()
    if (hint := re.search(r"^hint: (.*)$", case.values[1], re.M)) and CODE.search(hint[1])
}


def sorting(count: int) -> sl.Program[Any, Any]:
    """Sorts the numbers of two parties by neighbours that change places, turn by turn in a scan:
    what the refusal of a network of as many scalars recommends.
    """
    half = count // 2

    @sl.program
    def smallest_first(
        a: sl.Private[sl.u32, "ann", half], b: sl.Private[sl.u32, "ben", half]
    ) -> sl.Revealed[sl.u32, "ann"]:
        def turn(state: Any, _: Any) -> Any:
            even, odd = sl.minimum(*state), sl.maximum(*state)
            low, high = sl.minimum(odd[:-1], even[1:]), sl.maximum(odd[:-1], even[1:])
            even = sl.stack([even[0], *[high[i] for i in range(half - 1)]])
            odd = sl.stack([*[low[i] for i in range(half - 1)], odd[-1]])
            return (even, odd), None

        return sl.stack(list(sl.scan(turn, (a, b), a)), axis=1)

    return smallest_first


def test_a_sorting_network_follows_its_hint() -> None:
    a, b = [7, 3, 9, 1], [8, 2, 0, 5]
    assert sorting(8)(a, b).ravel().tolist() == sorted(a + b)
    assert not any("other-protocol" in warning for warning in sorting(2048).check().warnings)


def test_two_tables_meet() -> None:
    """A body over rows takes a table whole, or a fixed number of elements."""

    def common(size: object) -> sl.Program[Any, Any]:
        @sl.program
        def f(
            mine: sl.Private[sl.u32, "ann", "n <= 100"], theirs: sl.Private[sl.u32, "ben", size]
        ) -> sl.Revealed[sl.boolean, "ann"]:
            return sl.map(lambda k: sl.any(k == theirs), mine)

        return f

    for size in (3, "m <= 50"):
        assert common(size).check().warnings == []
        assert common(size)([1, 2, 3, 4], [2, 4, 9]).tolist() == [False, True, False, True]


def test_every_recommendation_is_followed() -> None:
    assert {title.replace("`", "") for title in REFUSALS} == set(CASES)
    assert set(PAGES_FOLLOWED) == {stem for stem, _ in recommending()}


@pytest.mark.parametrize("title", REFUSALS)
def test_the_hint_of_a_refusal_works(title: str, tmp_path: Path) -> None:
    item = REFUSALS[title]
    assert item.hint in CASES[title.replace("`", "")][-1]
    works(item, tmp_path)


@pytest.mark.parametrize(("stem", "hint"), list(recommending()))
def test_the_hint_of_a_page_works(stem: str, hint: str, tmp_path: Path) -> None:
    item = PAGES_FOLLOWED[stem]
    assert item.hint in hint
    works(item, tmp_path)


class Costly(NamedTuple):
    """The program of a page about cost, how the page plans it, and the hint of its warning."""

    program: sl.Program[..., Any]
    code: str
    options: dict[str, Any]
    hint: str


def options(text: str) -> dict[str, Any]:
    """The protocol and the helpers that a command line names, as `plan` takes them."""
    protocol = re.search(r"--protocol ([\w-]+)", text)
    helpers = re.search(r"--helpers ([\w,]+)", text)
    found = {"protocol": protocol and protocol[1], "helpers": helpers and helpers[1].split(",")}
    return {name: value for name, value in found.items() if value}


def noted(program: sl.Program[..., Any], **planned: Any) -> list[str]:
    """The notes of a plan about its cost."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sl.SealaneWarning)
        notes = program.plan(**planned).notes
    return [note for note in notes if any(f"warning[{code}]" in note for code in COSTLY)]


def costly(stem: str, folder: Path) -> Costly:
    """Content of a page: the program, its command, and the warning as it is made now."""
    (page,) = (page for page in PAGES if page.stem == stem)
    text = page.read_text(encoding="utf-8")
    blocks = {block["name"] or block["kind"]: block["text"] for block in BLOCK.finditer(text)}
    code = blocks["program.py"].partition("@sl.program")
    code = "".join(code[1:]).replace(re.findall(r"^def (\w+)", code[2], re.M)[0], "f", 1)
    program = test_refusals.load(code, folder)
    (note,) = noted(program, **options(blocks["sh"]))
    hint = note.partition("hint: ")[2]
    assert f"warning[{stem}]" in note
    assert hint
    return Costly(program, code, options(blocks["sh"]), hint)


@pytest.mark.parametrize("stem", sorted(COSTLY))
def test_a_costly_plan_follows_its_hint(stem: str, tmp_path: Path) -> None:
    """Another protocol has the rounds that the hint says; fewer rows are in proportion as well."""
    program, code, usual, hint = costly(stem, tmp_path)
    other = re.search(r"run it with (`[^`]+`): ([\d,]+) rounds", hint)
    assert other
    plan = program.plan(**options(other[1]))
    assert plan.rounds == int(other[2].replace(",", ""))
    assert noted(program, **options(other[1])) == []
    assert "state how many you have with `--rows`" in hint
    assert noted(program, rows=1_000, **usual) == []
    assert "declare a lower bound of rows" in hint
    bound = test_refusals.load(re.sub(r"<= [\d_]+", "<= 1_000", code), tmp_path)
    assert noted(bound, **usual) == []


def test_rows_side_by_side_take_few_rounds(tmp_path: Path) -> None:
    """A reduction and a `map` in place of the `scan`."""
    _, code, usual, hint = costly("many-rounds", tmp_path)
    assert "write a reduction (`sum`, `max`, `any`) or `map`, whose rows go side by side" in hint
    head = code[: code.index("    def turn")]
    for body in (
        "sl.where(x < low, x, 0).max()",
        "sl.map(lambda now: sl.where(now < low, 1, 0).astype(sl.u32), x).max()",
    ):
        program = test_refusals.load(f"{head}    return {body}\n", tmp_path)
        assert noted(program, **usual) == []


def test_a_sum_before_a_product_takes_no_time(tmp_path: Path) -> None:
    """Advice of the page of `long-run` below its hint."""
    _, code, usual, _ = costly("long-run", tmp_path)
    assert "(x * y).sum()" in code
    sooner = test_refusals.load(code.replace("(x * y).sum()", "x.sum() * y"), tmp_path)
    assert noted(sooner, **usual) == []
