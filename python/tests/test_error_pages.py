"""Every page about an error shows what it says: its examples run, and print what stands there.

A page without an example that runs is about an error that takes a network or a peer; tests in Rust
hold its text.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import pages

FOLDER = Path(__file__).parents[2] / "docs" / "errors"
PAGES = sorted(page for page in FOLDER.glob("*.md") if page.stem != "index")
# Exit status by what the second paragraph of a page says.
WARNING = "It is a warning"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page_shows_its_error(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    runs = pages.check(page, tmp_path, capfd)
    text = page.read_text(encoding="utf-8")
    if not runs:
        assert "<!-- shown -->" in text
        return
    kind = "warning" if WARNING in text else "error"
    assert f"{kind}[{page.stem}]: " in runs[-1].text
    if kind == "error":
        assert f"status {runs[-1].status}." in " ".join(text.split())
