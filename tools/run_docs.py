"""Runs what the documentation tells its readers to run, and compares what it quotes.

    .venv/bin/python tools/run_docs.py            every page that git knows
    .venv/bin/python tools/run_docs.py PAGE ...   these pages
    python3 tools/run_docs.py --quotes            only compares quotes, which needs nothing built

A comment before a fenced block says what it is:

    <!-- run -->            commands, or a Python session (`pycon`) with what it prints; the page
                            fails if they do
    <!-- run: fails -->     commands that show a refusal; the page fails if they succeed
    <!-- prints -->         what the commands before print, where `...` stands for anything
    <!-- file: NAME -->     the block is the file NAME
    <!-- from: PATH -->     the block quotes the file PATH of the repository, but for spaces; a line
                            `// ...` stands for anything
    <!-- not run: WHY -->   commands or code that cannot run here, and why

The blocks of a page run in order, in one empty folder that sees `examples` and `.venv` as the root
of the repository does. Programs that are no part of the package, `sealane-bench` and `sealane-hw`,
are those on the path. Commands, code and settings have to be marked; other blocks are only
for reading. Pages run side by side, as many as there are cores.
"""

import doctest
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(
    r"^(?P<indent> *)(?:<!-- (?P<mark>.*) -->\n *)?```(?P<kind>\S*).*\n(?P<text>(?:.*\n)*?) *```$",
    re.MULTILINE,
)
MARK = re.compile(
    r"(?P<what>run|run: fails|prints|not run: .+"
    r"|file: (?P<name>[\w.-]+)|from: (?P<source>[\w./-]+))$"
)
# What a reader would type or save.
RUNNABLE = {"bash", "console", "pycon", "py", "python", "sh", "shell", "toml"}
LEFT_OUT = re.compile(r"^ *// \.\.\.$", re.MULTILINE)
TIMEOUT_S = 120
PATH = f"{ROOT / 'target' / 'debug'}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
SESSION = """
import doctest, sys
options = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
sys.path.insert(0, "")
sys.exit(doctest.testfile(sys.argv[1], module_relative=False, optionflags=options).failed > 0)
"""


class Wrong(Exception):
    """A block that does not do what its page says, at an offset into the page."""

    def __init__(self, offset: int, text: str) -> None:
        super().__init__(text)
        self.offset = offset


def main(names: list[str]) -> int:
    """Runs each page; the number of pages that failed is the exit status."""
    runs = names != ["--quotes"]
    pages = [Path(name) for name in names if runs] or known_pages()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return sum(not well for well in pool.map(partial(run_page, runs=runs), pages))


def known_pages() -> list[Path]:
    """Every page of the repository, but for those that tests read: what lies among them, and the
    pages about errors.
    """
    command = ["git", "ls-files", "--", "*.md", ":!**/tests/**", ":!docs/errors"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [Path(os.path.relpath(ROOT / name)) for name in done.stdout.splitlines()]


def run_page(page: Path, *, runs: bool) -> bool:
    """Checks that every marked block of a page does what the page says, or only that its quotes
    are right; prints the outcome.
    """
    text = page.read_text(encoding="utf-8")
    start = time.monotonic()
    try:
        ran, quoted = run_blocks(text, runs=runs)
    except Wrong as wrong:
        line = text.count("\n", 0, wrong.offset) + 1
        print(f"{page}:{line}: {wrong}", file=sys.stderr, flush=True)
        return False
    if ran or quoted:
        seconds = time.monotonic() - start
        print(f"{page}: {ran} blocks ran, {quoted} quotes are right, {seconds:.1f} s", flush=True)
    return True


def run_blocks(text: str, *, runs: bool) -> tuple[int, int]:
    """Runs the marked blocks of a page, if it is to; how many of them ran, and how many quotes are
    right.
    """
    ran = quoted = 0
    printed = ""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for shared in ("examples", ".venv"):
            (folder / shared).symlink_to(ROOT / shared)
        for block, mark in marked(text):
            shown, offset = block["text"], block.start("text")
            if mark["name"]:
                (folder / mark["name"]).write_text(shown, encoding="utf-8")
            elif mark["source"]:
                quoted += 1
                if not quotes(shown, ROOT / mark["source"]):
                    raise Wrong(offset, f"{mark['source']} says otherwise")
            elif mark["what"] == "prints":
                if runs and not matches(shown, printed):
                    raise Wrong(offset, f"this is printed instead:\n{printed}")
            elif runs and mark["what"].startswith("run"):
                ran += 1
                fails = "fails" in mark["what"]
                printed = run_block(block["kind"], shown, offset, folder, fails=fails)
    return ran, quoted


def marked(text: str) -> list[tuple[re.Match[str], re.Match[str]]]:
    """The fenced blocks of a page that have a mark, each with it."""
    blocks = []
    for block in FENCE.finditer(text):
        mark = MARK.match(block["mark"] or "")
        if mark and not block["indent"]:
            blocks.append((block, mark))
        elif block["kind"] in RUNNABLE:
            what = "stands in a list" if mark else "has no mark"
            raise Wrong(block.start("text"), f"a block of `{block['kind']}` {what}")
    marks = re.findall(r"^<!-- (?:run|prints|file|from|not run)\b", text, re.MULTILINE)
    if len(marks) != len(blocks):
        raise Wrong(0, f"{len(marks)} marks, but {len(blocks)} marked blocks")
    return blocks


def matches(shown: str, printed: str) -> bool:
    """Returns whether a page shows what was printed, but for spaces at the ends of lines."""
    lines = (line.rstrip() for line in printed.rstrip().splitlines())
    return doctest.OutputChecker().check_output(
        shown, "\n".join(lines) + "\n", doctest.ELLIPSIS | doctest.DONT_ACCEPT_BLANKLINE
    )


def quotes(shown: str, source: Path) -> bool:
    """Returns whether a file contains a page's quote: all parts of the quote, in order."""
    text = " ".join(source.read_text(encoding="utf-8").split())
    end = 0
    for part in LEFT_OUT.split(shown):
        words = " ".join(part.split())
        found = text.find(words, end)
        if not words or found < 0:
            return False
        end = found + len(words)
    return True


def run_block(kind: str, text: str, offset: int, folder: Path, *, fails: bool) -> str:
    """Runs commands as a script that stops at the first error, or a Python session. Returns what is
    printed, with the folder's name left out of paths.
    """
    command = ["bash", "-euo", "pipefail", "-c", text]
    if kind == "pycon":
        (folder / "session.txt").write_text(text, encoding="utf-8")
        command = [".venv/bin/python", "-c", SESSION, "session.txt"]
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TIMEOUT_S,
            env={**os.environ, "PATH": PATH, "PYTHONDONTWRITEBYTECODE": "1"},
        )
    except subprocess.TimeoutExpired:
        raise Wrong(offset, f"no end within {TIMEOUT_S} s:\n{text}") from None
    output = done.stdout.decode(errors="replace")
    if (done.returncode != 0) != fails:
        raise Wrong(offset, f"exit status {done.returncode} of:\n{text}\n{output}")
    return output.replace(f"{folder.resolve()}/", "").replace(f"{folder}/", "")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
