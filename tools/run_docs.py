"""Runs what the documentation tells its readers to run, and compares what it quotes.

    .venv/bin/python tools/run_docs.py README.md docs/*.md

A comment before a fenced block says what it is:

    <!-- run -->            commands; the page fails if they do
    <!-- run: fails -->     commands that show a refusal; the page fails if they succeed
    <!-- prints -->         what the commands before print, where `...` stands for anything
    <!-- file: NAME -->     the block is the file NAME
    <!-- from: PATH -->     the block quotes the file PATH of the repository, but for spaces; a line
                            `// ...` stands for anything

The blocks of a page run in order, in one empty folder that sees `examples` and `.venv` as the root
of the repository does. Other blocks are only for reading.
"""

import doctest
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MARKED = re.compile(
    r"^<!-- (run|run: fails|prints|file: (?P<name>[\w.]+)|from: (?P<source>[\w./-]+)) -->\n"
    r"```\w*\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
LEFT_OUT = re.compile(r"^ *// \.\.\.$", re.MULTILINE)
TIMEOUT_S = 120


def main(pages: list[str]) -> int:
    """Runs each page; the number of pages that failed is the exit status."""
    return sum(not run_page(Path(page)) for page in pages)


def run_page(page: Path) -> bool:
    """Whether every marked block of a page does what the page says."""
    text = page.read_text(encoding="utf-8")
    blocks = list(MARKED.finditer(text))
    marks = len(re.findall(r"^<!-- (?:run|file|prints|from)\b", text, re.MULTILINE))
    if marks != len(blocks):
        print(f"{page}: {marks} marks, but {len(blocks)} marked blocks", file=sys.stderr)
        return False
    with tempfile.TemporaryDirectory() as folder:
        for shared in ("examples", ".venv"):
            (Path(folder) / shared).symlink_to(ROOT / shared)
        printed: str | None = ""
        for block in blocks:
            line = text.count("\n", 0, block.start("text")) + 1
            if block["name"]:
                (Path(folder) / block["name"]).write_text(block["text"], encoding="utf-8")
            elif block["source"]:
                if not quotes(block["text"], ROOT / block["source"]):
                    print(f"{page}:{line}: {block['source']} says otherwise", file=sys.stderr)
                    return False
            elif block[1] != "prints":
                printed = run_block(block["text"], Path(folder), fails="fails" in block[1])
            elif not matches(block["text"], printed or ""):
                print(f"{page}:{line}: this is printed instead:\n{printed}", file=sys.stderr)
                return False
            if printed is None:
                print(f"{page}:{line}: the commands above did not do this", file=sys.stderr)
                return False
    ran = sum(block[1].startswith("run") for block in blocks)
    quoted = sum(block["source"] is not None for block in blocks)
    done = f"{ran} blocks of commands did what the page says, {quoted} quotes are right"
    print(f"{page}: {done}", flush=True)
    return True


def matches(shown: str, printed: str) -> bool:
    """Whether a page shows what was printed, but for spaces at the ends of lines."""
    lines = (line.rstrip() for line in printed.rstrip().splitlines())
    return doctest.OutputChecker().check_output(
        shown, "\n".join(lines) + "\n", doctest.ELLIPSIS | doctest.DONT_ACCEPT_BLANKLINE
    )


def quotes(shown: str, source: Path) -> bool:
    """Whether a file says what a page quotes: all parts of the quote, in order."""
    text = " ".join(source.read_text(encoding="utf-8").split())
    end = 0
    for part in LEFT_OUT.split(shown):
        words = " ".join(part.split())
        found = text.find(words, end)
        if not words or found < 0:
            return False
        end = found + len(words)
    return True


def run_block(commands: str, folder: Path, *, fails: bool) -> str | None:
    """Runs commands as a script that stops at the first error. Returns what they print, with the
    folder's name left out of paths; if they surprise, shows it and returns nothing.
    """
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
        return None
    output = done.stdout.decode(errors="replace")
    if (done.returncode != 0) != fails:
        print(f"{commands}\n(exit status {done.returncode})\n{output}", file=sys.stderr)
        return None
    return output.replace(f"{folder.resolve()}/", "").replace(f"{folder}/", "")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
