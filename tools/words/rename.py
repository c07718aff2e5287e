#!/usr/bin/env python3
# ruff: noqa
"""Renames the private words of the project to those of the field. Goes with the commit that applies
it. Run once from the root of a checkout: `python3 tools/words/rename.py` (`--check` counts only).

Each text is cut into code, comments and strings. A rule for names (`name`) applies to identifiers of
code, to code in backticks within comments and pages, and to links of rustdoc. A rule for words
(`words`) applies to comments, to pages and, where the rule says so, to strings. Rules apply in order,
each to the files of its globs. Files are moved first. All of it depends on the tree alone.
"""

from __future__ import annotations

import fnmatch
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import rules

TEXT = {
    ".rs",
    ".py",
    ".pyi",
    ".md",
    ".toml",
    ".sh",
    ".ipynb",
    ".sv",
    ".cpp",
    ".h",
    ".hpp",
    ".ys",
    ".mk",
    ".yml",
    ".yaml",
    ".html",
    ".css",
    ".js",
    ".txt",
    "",
}


def git(*args: str) -> str:
    return subprocess.run(["git", *args], check=True, capture_output=True, text=True).stdout


def files() -> list[str]:
    listed = git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    kept = []
    for name in sorted(set(listed)):
        if not name or not os.path.isfile(name) or os.path.islink(name):
            continue
        if Path(name).suffix not in TEXT or name.startswith(("testdata/", ".git/")):
            continue
        kept.append(name)
    return kept


def matches(name: str, globs: tuple[str, ...]) -> bool:
    """A glob that begins with `!` takes files away; without `*` it is a folder or a file."""
    yes = False
    for glob in globs:
        minus, glob = glob.startswith("!"), glob.lstrip("!")
        hit = (
            fnmatch.fnmatchcase(name, glob)
            if "*" in glob
            else (name == glob or name.startswith(glob.rstrip("/") + "/"))
        )
        if hit:
            yes = not minus
    return yes


RUST = re.compile(
    r"""
      (?P<comment> //[^\n]*(?:\n[ \t]*//[^\n]*)* | /\*.*?\*/ )
    | (?P<string> [bc]?r(?P<h>\#*)".*?"(?P=h) | [bc]?"(?:[^"\\]|\\.)*" )
    | (?P<char> b?'(?:[^'\\\n]|\\x[0-9a-fA-F]{2}|\\u\{[^}]*\}|\\.)' )
    """,
    re.X | re.S,
)
PYTHON = re.compile(
    r"""
      (?P<comment> \#[^\n]*(?:\n[ \t]*\#[^\n]*)* )
    | (?P<string> [rbfuRBFU]*(?:\"\"\".*?\"\"\"|'''.*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*') )
    """,
    re.X | re.S,
)
HASH = re.compile(
    r"(?P<comment>\#[^\n]*(?:\n[ \t]*\#[^\n]*)*)|(?P<string>\"(?:[^\"\\\n]|\\.)*\")", re.X
)


def parts(name: str, text: str) -> list[tuple[str, str]]:
    """Pieces of a text: `code`, `comment`, `string` or, of pages, `page`."""
    suffix = Path(name).suffix
    if suffix in (".md", ".txt", ".ipynb", ".html"):
        return [("page", text)]
    lexer = {
        ".rs": RUST,
        ".sv": RUST,
        ".cpp": RUST,
        ".h": RUST,
        ".hpp": RUST,
        ".js": RUST,
        ".css": RUST,
    }.get(suffix) or (PYTHON if suffix in (".py", ".pyi") else HASH)
    out, at = [], 0
    for found in lexer.finditer(text):
        if found.start() > at:
            out.append(("code", text[at : found.start()]))
        kind = "comment" if found.group("comment") else "string"
        if suffix in (".py", ".pyi") and kind == "string" and '"""' in found.group()[:6]:
            kind = "comment"
        if found.groupdict().get("char"):
            kind = "code"
        out.append((kind, found.group()))
        at = found.end()
    out.append(("code", text[at:]))
    return out


CODE_IN_PROSE = re.compile(r"```.*?```|`[^`\n]*`|(?<=\]\()[^)\s]*(?=\))|(?<=\]: )\S+", re.S)


def in_backticks(piece: str, change) -> str:
    return CODE_IN_PROSE.sub(lambda m: change(m.group()), piece)


def outside_backticks(piece: str, change) -> str:
    """Changes prose; code in it stands as marks, so that a rule sees that there is some."""
    kept: list[str] = []

    def mark(found) -> str:
        kept.append(found.group())
        return f"`\x01{len(kept) - 1}\x02`"

    masked = CODE_IN_PROSE.sub(mark, piece)
    return re.sub(r"`\x01(\d+)\x02`", lambda m: kept[int(m[1])], change(masked))


def compiled(rule):
    """Pattern of a rule: of a name with bounds of identifiers, of words as it stands."""
    if rule.kind == "name":
        return re.compile(rf"(?<![A-Za-z0-9_]){rule.old}(?![A-Za-z0-9_])")
    return re.compile(rule.old)


def apply(name: str, text: str, todo, counts) -> str:
    pieces = parts(name, text)
    for number, rule, pattern in todo:
        if rule.having and not re.search(rule.having, text):
            continue
        if rule.lacking and re.search(rule.lacking, "".join(piece for _, piece in pieces)):
            continue
        made = 0

        def change(piece: str) -> str:
            nonlocal made
            new, times = pattern.subn(rule.new, piece)
            made += times
            return new

        for at, (kind, piece) in enumerate(pieces):
            if rule.kind == "all":
                piece = change(piece)
            elif rule.kind == "name":
                if kind == "code":
                    piece = change(piece)
                elif kind in ("comment", "page"):
                    piece = in_backticks(piece, change)
                elif rule.strings or "{" in piece:
                    # Captured names of format strings: `{turn}`, `{turn:?}`.
                    piece = (
                        change(piece)
                        if rule.strings
                        else re.sub(
                            r"(?<=\{)[A-Za-z_]\w*(?=[:}])", lambda m: change(m.group()), piece
                        )
                    )
            elif kind in ("comment", "page") or (kind == "string" and rule.strings):
                piece = outside_backticks(piece, change) if kind != "string" else change(piece)
            pieces[at] = (kind, piece)
        counts[number] += made
        if made and rule.kind == "all":
            pieces = parts(name, "".join(piece for _, piece in pieces))
    return "".join(piece for _, piece in pieces)


LIMITS = {".rs": 100, ".py": 100, ".toml": 100, ".sh": 100, ".md": 120}
COMMENT = re.compile(r"^(\s*)(//[/!]?|\#)( +)(\S.*)$")
NEW = re.compile(r"^(\|| *[-*] | *\d+\. |#|```|>|\[|<|@)")


def rewrapped(name: str, before: str, after: str) -> str:
    """Moves words that stand beyond the width of a line to the next one: of comments and, in pages,
    of paragraphs. Lines that were as they are stay.
    """
    limit = LIMITS.get(Path(name).suffix)
    if limit is None:
        return after
    page = name.endswith(".md")
    old = set(before.split("\n"))
    lines, fenced, at = after.split("\n"), False, 0
    while at < len(lines):
        line = lines[at]
        if page:
            if line.startswith("```"):
                fenced = not fenced
            found = (
                None
                if fenced or (NEW.match(line) and not re.match(r" *([-*]|\d+\.) ", line))
                else re.match(r"^()()(\s*(?:[-*] |\d+\. )?)(\S.*)$", line)
            )
        else:
            found = COMMENT.match(line)
        if (
            len(line) <= limit
            or line in old
            or found is None
            or "](" in line[limit - 30 :]
            or (not page and NEW.match(found[4]) and not re.match(r" *([-*]|\d+\.) ", found[4]))
        ):
            at += 1
            continue
        cut = line.rfind(" ", 0, limit + 1)
        if cut <= len(found[1] + found[2] + found[3]) + 20 or line.count("`", 0, cut) % 2:
            at += 1
            continue
        rest, lines[at] = line[cut + 1 :], line[:cut]
        margin = re.sub(r"[-*\d.]", " ", found[3]) if page else found[3]
        prefix = found[1] + found[2] + margin
        follows = lines[at + 1] if at + 1 < len(lines) else ""
        body = follows[len(prefix) :]
        same = follows.startswith(prefix) and body[:1].strip() and not NEW.match(body)
        if same:
            lines[at + 1] = prefix + rest + " " + body
        else:
            lines.insert(at + 1, prefix + rest)
        at += 1
    return "\n".join(lines)


def move() -> None:
    """Moves files, at whichever of their places they are."""
    for old, new in rules.MOVES:
        for before in sorted(n for n in files() if fnmatch.fnmatchcase(n, old) or n == old):
            head, tail = os.path.split(before)
            after = os.path.join(head, new)
            if os.path.exists(after) and not os.path.isdir(before):
                print(f"  is there already: {after}")
                continue
            os.makedirs(os.path.dirname(after) or ".", exist_ok=True)
            tracked = git("ls-files", "--", before)
            if tracked:
                git("mv", before, after)
            else:
                os.rename(before, after)
            folder = os.path.splitext(before)[0]
            if (
                before.endswith(".rs")
                and os.path.isdir(folder)
                and tail not in ("mod.rs", "lib.rs")
            ):
                # File by file: not every file system moves folders.
                for one in git("ls-files", "-z", "--", folder).split("\0"):
                    if one:
                        target = os.path.splitext(after)[0] + one[len(folder) :]
                        os.makedirs(os.path.dirname(target), exist_ok=True)
                        git("mv", one, target)


def check() -> int:
    """Counts old words that must be gone."""
    left = 0
    everything = {name: Path(name).read_text(errors="surrogateescape") for name in files()}
    for what, pattern, globs, kinds in rules.GONE:
        found, where = 0, []
        looked = re.compile(pattern)
        for name, text in everything.items():
            if not matches(name, globs):
                continue
            texts = [p for k, p in parts(name, text) if "all" in kinds or k in kinds]
            number = sum(len(looked.findall(piece)) for piece in texts)
            if number:
                found += number
                where.append(f"{name}:{number}")
        left += found
        print(f"{found:5} {what}" + (f"   {' '.join(where[:12])}" if found else ""))
    return left


STANDING: dict[tuple[str, str], bool] = {}


def standing(rule) -> bool:
    """Returns whether the tree has what keeps a rule from applying."""
    if rule.unless is None:
        return False
    path, pattern = rule.unless
    if rule.unless not in STANDING:
        there = Path(path).is_file() and re.search(pattern, Path(path).read_text())
        STANDING[rule.unless] = bool(there)
        if there:
            print(f"left out, as {path} has {pattern}: {rule.old}")
    return STANDING[rule.unless]


def main() -> int:
    if "--check" not in sys.argv:
        move()
        counts = [0] * len(rules.RULES)
        todo = [(number, rule, compiled(rule)) for number, rule in enumerate(rules.RULES)]
        for name in files():
            mine = [one for one in todo if matches(name, one[1].globs) and not standing(one[1])]
            if not mine:
                continue
            path = Path(name)
            text = path.read_bytes().decode(errors="surrogateescape")
            new = rewrapped(name, text, apply(name, text, mine, counts))
            if new != text:
                path.write_bytes(new.encode(errors="surrogateescape"))
        for (number, rule, _), count in zip(todo, counts, strict=True):
            if not count or "--counts" in sys.argv:
                print(f"{count:5} {rule.kind} {rule.old} -> {rule.new}   {' '.join(rule.globs)}")
    print("old words that are left:")
    return 1 if check() else 0


if __name__ == "__main__":
    sys.exit(main())
