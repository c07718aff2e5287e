"""Runs what the documentation tells its readers to run.

    .venv/bin/python tools/run_docs.py README.md docs/*.md

A comment before a fenced block says what it is:

    <!-- run -->            commands; the page fails if they do
    <!-- run: fails -->     commands that show a refusal; the page fails if they succeed
    <!-- file: NAME -->     the block is the file NAME

The blocks of a page run in order, in one empty folder that sees `examples` and `.venv` as the root
of the repository does. Other blocks are only for reading.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MARKED = re.compile(
    r"^<!-- (run|run: fails|file: (?P<name>[\w.]+)) -->\n```\w*\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
TIMEOUT_S = 120


def main(pages: list[str]) -> int:
    """Runs each page; the number of pages that failed is the exit status."""
    return sum(not run_page(Path(page)) for page in pages)


def run_page(page: Path) -> bool:
    """Whether every marked block of a page does what the page says."""
    text = page.read_text(encoding="utf-8")
    blocks = list(MARKED.finditer(text))
    marks = len(re.findall(r"^<!-- (?:run|file)\b", text, re.MULTILINE))
    if marks != len(blocks):
        print(f"{page}: {marks} marks, but {len(blocks)} marked blocks", file=sys.stderr)
        return False
    with tempfile.TemporaryDirectory() as folder:
        for shared in ("examples", ".venv"):
            (Path(folder) / shared).symlink_to(ROOT / shared)
        for block in blocks:
            line = text.count("\n", 0, block.start("text")) + 1
            if block["name"]:
                (Path(folder) / block["name"]).write_text(block["text"], encoding="utf-8")
            elif not run_block(block["text"], Path(folder), fails="fails" in block[1]):
                print(f"{page}:{line}: the commands above did not do this", file=sys.stderr)
                return False
    ran = sum(block["name"] is None for block in blocks)
    print(f"{page}: {ran} blocks of commands ran as they say", flush=True)
    return True


def run_block(commands: str, folder: Path, *, fails: bool) -> bool:
    """Runs commands as a script that stops at the first error; shows them if they surprise."""
    try:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TIMEOUT_S,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        )
    except subprocess.TimeoutExpired:
        print(f"{commands}\n(no end within {TIMEOUT_S} s)", file=sys.stderr)
        return False
    if (done.returncode != 0) != fails:
        output = done.stdout.decode(errors="replace")
        print(f"{commands}\n(exit status {done.returncode})\n{output}", file=sys.stderr)
        return False
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
