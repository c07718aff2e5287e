"""Makes and checks the test vectors of chapter 14: `vectors.py make|check [DIR [FILE..]]`."""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import vectors_auth
import vectors_fresh
import vectors_guarded
import vectors_later
import vectors_negative
import vectors_pools
import vectors_sessions
import vectors_silent
import vectors_transfers
from errors import Fault
from link import WIRE
from vectors_fresh import tests_of
from vectors_kinds import KINDS, Fields
from vectors_primitives import Repeat, Tests
from vectors_sessions import read, shown

# Fields whose strings are text; all others are hexadecimal.
TEXTS = {"context", "stream", "label", "op", "lines", "text", "name", "address", "class",
         "protocol", "parties", "network", "line"}


def encoded(value: Any, is_input: bool = False) -> Any:
    """A value as it stands in a file: bytes in hexadecimal, long ones as in chapter 14."""
    if isinstance(value, dict):
        return {name: encoded(part, is_input) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [encoded(part, is_input) for part in value]
    if not isinstance(value, (bytes, bytearray)):
        return value
    if isinstance(value, Repeat):
        return {"repeat": value.pattern.hex(), "length": len(value)}
    return value.hex() if is_input else shown(bytes(value))


def decoded(value: Any, name: str = "") -> Any:
    """The reverse, of inputs."""
    if name in TEXTS or (isinstance(value, str) and value in ("plain", "bulk")):
        return value
    if isinstance(value, dict):
        if "repeat" in value:
            return Repeat.of(bytes.fromhex(value["repeat"]), value["length"])
        return {field: decoded(part, field) for field, part in value.items()}
    if isinstance(value, list):
        return [decoded(part, name) for part in value]
    return bytes.fromhex(value) if isinstance(value, str) else value


# ---------------------------------------------------------------------------------- primitives

GROUPS = vectors_fresh.GROUPS | vectors_later.GROUPS | vectors_guarded.GROUPS | vectors_auth.GROUPS
# What an invalid test of a kind looks for: the bug, and its effect.
NOTES: dict[str, tuple[str, str]] = {
    "unpack": ("takes bits behind the end of a component", "a message has a second form"),
    "varint": ("takes a number of too many bits or bytes", "counts that others read otherwise"),
    "control-job": ("takes what does not parse", "memory for a count, or another message"),
    "control-rows": ("takes what does not parse", "memory for a count, or another message"),
    "control-instance": ("takes what does not parse", "another message"),
    "control-farewell": ("takes what does not parse", "another message"),
    "rows": ("takes counts that contradict each other", "parties run other plans"),
    "network": ("takes a text that is not canonical", "another depth of trees"),
    "hello": ("judges fields not at all, or in another order", "talks to another party"),
    "frame-header": ("takes a header outside the table", "memory for any length"),
    "reason-received": ("takes any bytes for text", "a terminal shows what a peer wants"),
    "server-name": ("takes any name", "the key of another party is expected"),
    "key-text": ("takes any text", "another key is pinned"),
    "key-file": ("takes any file", "another key is used"),
    "ristretto-decode": ("takes bytes that are no element, or the identity",
                         "keys of base transfers are known"),
    "tree-choose": ("does not check a tree", "bits of delta leak"),
    "decode": ("opens a label that is none of the two, or both", "a wrong result"),
    "tape": ("takes a tape that its line or its counts contradict", "reads outside its slots")}


def flag_of(kind: str) -> str:
    """The name of the flag of a kind; an offer is a part of a message that has one."""
    kind = "control-instance" if kind == "pool-contribution" else kind
    return "".join(part.capitalize() for part in kind.split("-"))


def notes() -> Fields:
    """All flags."""
    return {flag_of(kind): {"bug": bug, "effect": effect, "chapter": GROUPS[kind][0]}
            for kind, (bug, effect) in NOTES.items()}


def outcome(kind: str, given: Fields) -> Fields:
    """The result of a kind, with `out` or `code`."""
    try:
        return {"result": "valid", "out": encoded(KINDS[kind](given))}
    except Fault as fault:
        return {"result": "invalid", "code": fault.code}


def make_primitives(folder: Path) -> Fields:
    """All kinds; what comes out must be what the text asks for."""
    first, later = map(tests_in, (vectors_fresh.GROUPS, vectors_later.GROUPS))
    # A file changes only by tests at its end.
    fresh = [(kind, tests_of(kind)) for kind in vectors_fresh.KINDS]
    return {"notes": notes(), "groups": made_groups(first + fresh + later)}


def tests_in(groups: dict[str, tuple[str, str, Callable[[], Tests]]]) -> list[tuple[str, Tests]]:
    """The tests of each kind."""
    return [(kind, tests()) for kind, (_, _, tests) in groups.items()]


def made_groups(named: list[tuple[str, Tests]]) -> list[Fields]:
    """The groups of a file, with what comes out."""
    groups, count = [], 0
    for kind, tests in named:
        chapter, crate, _ = GROUPS[kind]
        made = []
        for comment, given, *code in tests:
            count += 1
            result = outcome(kind, given)
            wanted = code[0] if code else None
            assert result.get("code") == wanted, (kind, comment, result.get("code"), wanted)
            made.append({"id": count, "comment": comment,
                         "flags": [flag_of(kind)] if code and code[0] else [],
                         "result": result["result"],
                         "in": encoded(given, True), **result})
        groups.append({"kind": kind, "chapter": chapter, "crate": crate, "tests": made})
    return groups


def make_whole(of: Any, folder: Path) -> Fields:
    """Functions of a protocol, and its sessions: those of a module."""
    content = of.make(folder)
    return {"notes": content.pop("notes"), "groups": made_groups(tests_in(of.GROUPS)), **content}


def check_whole(of: Any, content: Fields, folder: Path) -> list[str]:
    """The same, checked."""
    wrong: list[str] = check_primitives(content, folder) + of.check(content, folder)
    return wrong


def check_primitives(content: Fields, folder: Path) -> list[str]:
    """Compute all tests again; returns what differs."""
    wrong = []
    for group in content["groups"]:
        for test in group["tests"]:
            found = outcome(group["kind"], decoded(test["in"]))
            differs = [name for name, value in found.items() if test[name] != value]
            wrong += [f"{group['kind']} {test['id']}: {name}" for name in differs]
    return wrong


# --------------------------------------------------------------------------------------- files


FOLDER = Path(__file__).resolve().parent.parent / "testdata" / "vectors" / f"wire-{WIRE}"
Maker = Callable[[Path], Fields]
Checker = Callable[[Fields, Path], list[str]]
FILES: dict[str, tuple[Maker, Checker]] = {
    "sessions": (vectors_sessions.make, vectors_sessions.check),
    "primitives": (make_primitives, check_primitives),
    "negative": (vectors_negative.make, vectors_negative.check),
    "transfers": (vectors_transfers.make, vectors_transfers.check),
    "silent": (vectors_silent.make, vectors_silent.check),
    "guarded": (partial(make_whole, vectors_guarded), partial(check_whole, vectors_guarded)),
    "auth": (partial(make_whole, vectors_auth), partial(check_whole, vectors_auth)),
    "pools": (vectors_pools.make, vectors_pools.check)}


def text_of(name: str, content: Fields) -> str:
    """The text of a file, one test a line."""
    head = {"schema": f"{name}-1", "wire": WIRE}
    text = json.dumps(head | content, separators=(",", ":"), ensure_ascii=False)
    return text.replace('},{"id":', '},\n{"id":').replace('[{"id":', '[\n{"id":') + "\n"


def write(folder: Path, name: str, content: Fields) -> None:
    """Write a file, the same bytes each time."""
    text = text_of(name, content)
    with (open(folder / f"{name}.json.gz", "wb") as file,
          gzip.GzipFile("", "wb", 9, file, mtime=0) as packed):
        packed.write(text.encode())


def count(content: Fields) -> int:
    """The number of tests in a file."""
    groups = [*content.get("groups", []), content]
    return sum(len(group.get(part, [])) for group in groups for part in ("sessions", "tests"))


def run(action: str, folder: Path, name: str) -> tuple[int, str]:
    """Make or check a file; the number of tests that failed, and what to print."""
    make, check = FILES[name]
    begin = time.process_time()
    if action == "make":
        content, wrong = make(folder), []
        write(folder, name, content)
    else:
        content = read(folder, name)
        wrong = check(content, folder)
    summary = f"{name}: {count(content)} tests, {len(wrong)} failed"
    took = f"{time.process_time() - begin:.1f} s"
    return len(wrong), "\n".join([*wrong, f"{summary}, {took}"])


def main() -> int:
    """Make the files of a folder one by one, or check them side by side."""
    action, names = sys.argv[1], sys.argv[3:] or [*FILES]
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else FOLDER
    failed = 0
    workers = None if action == "check" else 1
    with ProcessPoolExecutor(workers) as pool:
        for wrong, text in pool.map(partial(run, action, folder), names):
            failed += wrong
            print(text, flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
