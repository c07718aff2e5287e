"""Random faults of the protocol crates, each of which the vectors of the wire have to name.

    python tools/faults.py --faults 100 --seed 1

A fault is a small change of the text of a crate: another operator, number, label or order, or a
statement left out. All that are drawn are built into one copy of the last commit, and a variable
chooses which of them acts. A fault counts if it alters a byte of random sessions (the test
`traffic` of crate `engine`), of which none has vectors. Then a test of vectors has to name crate,
step and byte within a minute. Exit status 1 says that one was not named.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
# Cargo names what it builds by the folder, so this is always the same.
COPY = ROOT / "target" / "faults"
CRATES = ["block", "net", "garble", "ot", "party", "yao", "trio", "mixed", "engine"]
# Costs and references are no protocol; ideal functionalities and views are of tests. Recordings and
# links in memory are no wire: a fault there alters what a test sees, and no byte between machines.
LEFT_OUT = re.compile(
    r"/(tests?|vectors|attacks|testing|fuzzing|ideal|views|cost|references|record|memory)\b"
)
# Functions that connect parties in memory: no byte between machines hangs on them.
IN_MEMORY = re.compile(r"^ *(?:pub )?fn (?:full_links|boxed)\b", re.MULTILINE)
# Programs with vectors, lower layers first: the first that fails names the fault.
TESTS = ["testkit all", "garble lib", "ot lib", "ot all", "trio lib", "engine lib", "engine all"]
LAYERS = ["block", "parties", "identity", "net", "garble", "ot", "trio", "yao", "mixed", "plan"]
LAYERS += ["engine"]
NAMED = re.compile(r"^sealane-(\w+): step (.+?), .*?\bbyte (\d+):.*$", re.MULTILINE)
SECONDS = 60
LABELS = "secret|public|fork|stream|new_derive_key"
FUNCTION = re.compile(
    r"^( *)(?:pub(?:\([^)]*\))? )?(?:unsafe )?fn (?:(?!;$|\}$).)*?\{\n.*?^\1\}$", re.M | re.S
)
OPENED = re.compile(r"[,;]$| [-+*^|&]?= $|=> $|: $|&& $|\w\| $|\b(if|in|return|match) $")
CHANGES = [
    (r" \^ ", " | "), (r" \^ ", " & "), (r" \+ ", " - "), (r" - ", " + "), (r" < ", " <= "),
    (r" > ", " >= "), (r" << ", " >> "), (r" >> ", " << "), (r" & ", " | "),
    (r"_le_bytes\b", "_be_bytes"), (r"\.rev\(\)", ""), (r"\btrue\b", "false"),
    (r"\bfalse\b", "true"), (r"\bmin\(", "max("), (r"\bmax\(", "min("), (r"\.swap_bytes\(\)", ""),
    (r"wrapping_add\b", "wrapping_sub"), (r"wrapping_sub\b", "wrapping_add"),
    (r"\.skip\(1\)", ""), (r"(?<=\[)([a-z]\w*)(?=\])", r"\1 ^ 1"),
    (r"\(([a-z]\w*), ([a-z]\w*)\)", r"(\2, \1)"),
    (r"(?<![\w.])(?<!\w')0\b(?!\.\d|x)", "1"), (r"(?<![\w.])([1-9]\d*)\b(?!\.\d)", r"(\1 + 1)"),
    (rf'(?<=\b)({LABELS})\("', r'\1("other '),
    (r"^ *\.update\([^()]*\)$", ""), (r"^ *(?:[a-z_]\w*[.(\[]|\*\w).*;$", "{}"),
]  # fmt: skip


class Fault(NamedTuple):
    """A change: its file, the expression from `begin` to `end`, and what takes its place."""

    file: str
    begin: int
    end: int
    text: str
    shown: str

    def crate(self) -> str:
        """The crate that it is in."""
        return self.file.split("/")[1]


def masked(text: str) -> str:
    """The text with blanks for comments, strings, macros, tests and all outside of functions."""

    def blank(found: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", found[0])

    inner = re.compile(r'//[^\n]*|b?"(?:\\.|[^"\\])*"|b?\'(?:\\.[^\']*|[^\'\\])\'', re.DOTALL)
    text = inner.sub(lambda m: f'"{blank(m)[1:-1]}"' if m[0][0] == '"' else blank(m), text)
    out = re.compile(r"^( *)(?:#\[cfg\(test\)\]\n *mod|macro_rules!).*?^\1\}$", re.M | re.S)
    text = out.sub(blank, text)
    kept = [" "] * len(text)
    for body in FUNCTION.finditer(text):
        if IN_MEMORY.search(body[0]):
            continue
        begin = text.index("{", body.start())
        kept[begin : body.end()] = text[begin : body.end()]
    return "".join(kept)


def expression(text: str, at: int, to: int) -> tuple[int, int]:
    """The smallest expression around a place that ends at brackets, commas or statements."""
    depth, begin = 0, at
    while begin > 0:
        depth += (text[begin - 1] in ")]}") - (text[begin - 1] in "([{")
        opened = OPENED.search(text, max(0, begin - 7), begin)
        ended = text[begin - 1] == "}" and "\n" in text[begin:at]
        if depth < 0 or (depth == 0 and (opened or ended)):
            break
        begin -= 1
    depth, end = 0, to
    while end < len(text):
        depth += (text[end] in "([{") - (text[end] in ")]}")
        closed = text[end] in ",;" or text[end : end + 4] in (" && ", " => ")
        if depth < 0 or (depth == 0 and closed) or text[end - 1 : end + 2] == " {\n":
            break
        end += 1
    while begin < at and text[begin].isspace():
        begin += 1
    return begin, len(text[:end].rstrip())


def sites(file: str, text: str) -> Iterator[Fault]:
    """All faults of a file."""
    known = masked(text)
    for pattern, change in CHANGES:
        for found in re.finditer(pattern, known, re.MULTILINE):
            at = found.start() + len(found[0]) - len(found[0].lstrip())
            begin, end = at, found.end()
            if change != "{}":
                begin, end = expression(known, at, found.end())
            whole = known.count("(", begin, end) == known.count(")", begin, end)
            if not whole or not 0 < end - begin < 600:
                continue
            new = found.expand(change)
            other = text[begin : found.start()] + new + text[found.end() : end]
            line = text.count("\n", 0, at) + 1
            shown = text.splitlines()[line - 1].strip()
            shown = f"{file}:{line}: `{found[0].strip()}` to `{new.strip()}` in `{shown}`"
            yield Fault(file, begin, end, "{}" if change == "{}" else other, shown)


def drawn(seed: int, count: int) -> list[Fault]:
    """So many faults of all crates that do not overlap, in the order in which they are tried."""
    every: list[Fault] = []
    for crate in CRATES:
        for path in sorted((COPY / "crates" / crate / "src").rglob("*.rs")):
            file = str(path.relative_to(COPY))
            if not LEFT_OUT.search(file):
                every.extend(sites(file, path.read_text("utf-8")))
    # Each crate as often as another, so that small ones are met.
    lot = random.Random(seed)
    shares: dict[str, list[Fault]] = {crate: [] for crate in CRATES}
    lot.shuffle(every)
    for fault in every:
        mine = shares[fault.crate()]
        near = (f for f in mine if f.file == fault.file)
        apart = all(f.end <= fault.begin or fault.end <= f.begin for f in near)
        if apart and len(mine) < count // len(CRATES):
            mine.append(fault)
    found = [fault for of in shares.values() for fault in of]
    lot.shuffle(found)
    print(f"{len(every)} faults can be made; {len(found)} are drawn", flush=True)
    return found


def put(faults: dict[int, Fault], kept: dict[str, str]) -> dict[str, list[tuple[int, int, int]]]:
    """Writes all faults into the copy; returns the bytes of each in its file."""
    places: dict[str, list[tuple[int, int, int]]] = {}
    for file, text in kept.items():
        out, last, places[file] = "", 0, []
        of_file = sorted((f.begin, number, f) for number, f in faults.items() if f.file == file)
        for begin, number, fault in of_file:
            path = "crate" if fault.crate() == "block" else "::sealane_block"
            out += text[last:begin]
            at = len(out.encode())
            old = text[begin : fault.end]
            call = f"if {path}::fault({number})"
            if fault.text == "{}":
                out += f"{call} {{}} else {{ {old} }}"
            else:
                out += f"({call} {{ {fault.text} }} else {{ {old} }})"
            places[file].append((at, len(out.encode()), number))
            last = fault.end
        (COPY / file).write_text(out + text[last:], "utf-8")
    return places


CHOICE = """
/// Tells if this fault acts. Of one that is met first, the number goes to a file.
#[inline]
pub fn fault(number: usize) -> bool {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
    static CHOSEN: AtomicUsize = AtomicUsize::new(usize::MAX);
    static MET: [AtomicBool; COUNT] = [const { AtomicBool::new(false) }; COUNT];
    #[cold]
    fn meet(number: usize) {
        MET[number].store(true, Relaxed);
        let text = std::env::var("SEALANE_FAULT").unwrap_or_default();
        CHOSEN.store(text.parse().unwrap_or(usize::MAX), Relaxed);
        if let Ok(path) = std::env::var("SEALANE_MET") {
            use std::io::Write;
            let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
            writeln!(file.unwrap(), "{number}").unwrap();
        }
    }
    if !MET[number].load(Relaxed) {
        meet(number);
    }
    CHOSEN.load(Relaxed) == number
}
"""


def built(faults: dict[int, Fault]) -> dict[str, Path]:
    """Builds the tests with all faults that compile, and leaves the others out of `faults`."""
    lib = COPY / "crates/block/src/lib.rs"
    lib.write_text(lib.read_text("utf-8") + CHOICE.replace("COUNT", str(max(faults) + 1)), "utf-8")
    kept = {f.file: (COPY / f.file).read_text("utf-8") for f in faults.values()}
    check = ["check", "--keep-going", *(f"-psealane-{crate}" for crate in CRATES)]
    packages = sorted({test.split()[0] for test in TESTS})
    test = ["test", "--no-run", "--lib", "--test=all", *(f"-psealane-{p}" for p in packages)]
    lines: list[dict[str, Any]] = []
    for command in (check, test):
        wrong = set(faults)
        while wrong:
            places = put(faults, kept)
            lines = cargo(*command)
            errors = [line["message"] for line in lines if "message" in line]
            errors = [message for message in errors if message["level"] == "error"]
            wrong = {number for message in errors for number in blamed(message, places)}
            if errors and not wrong:
                sys.exit("no fault is to blame:\n" + "".join(m["rendered"] for m in errors))
            for number in wrong:
                faults.pop(number, None)
            if wrong:
                print(f"{len(wrong)} do not compile, {len(faults)} are left", flush=True)
    programs = {}
    for line in lines:
        if line.get("executable") and line["profile"]["test"]:
            kind = "lib" if "lib" in line["target"]["kind"] else line["target"]["name"]
            crate = line["package_id"].split("/")[-1].split("#")[0]
            programs[f"{crate} {kind}"] = Path(line["executable"])
    return programs


def blamed(message: dict[str, Any], places: dict[str, list[tuple[int, int, int]]]) -> set[int]:
    """The faults at the places of an error, or else those before, or all of its file."""
    spans = [s for part in [message, *message["children"]] for s in part["spans"]]
    for before, after in ((0, 0), (4000, 0), (1 << 30, 1 << 30)):
        found = {
            number
            for span in spans
            for at, end, number in places.get(span["file_name"], [])
            if at < span["byte_end"] + after and span["byte_start"] - before < end
        }
        if found:
            return found
    return set()


def cargo(*options: str) -> list[dict[str, Any]]:
    """Runs cargo in the copy; returns its messages."""
    command = [os.environ.get("CARGO", "cargo"), *options, "--locked", "--message-format=json"]
    env = {**os.environ, "CARGO_TARGET_DIR": str(ROOT / "target"), "CARGO_INCREMENTAL": "0"}
    ended = subprocess.run(command, cwd=COPY, env=env, capture_output=True, text=True)
    lines = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
    if ended.returncode and not any(line["reason"] == "compiler-message" for line in lines):
        sys.exit(ended.stderr)
    return lines


def ran(test: str, program: Path, seconds: float, *options: str, **env: str) -> tuple[bool, str]:
    """Runs a test program; returns whether it passed, and its output."""
    crate = test.split()[0]
    try:
        ended = subprocess.run(
            [program, *options], cwd=COPY / "crates" / crate, env={**os.environ, **env},
            capture_output=True, text=True, errors="replace", timeout=max(seconds, 0.1),
        )  # fmt: skip
        return ended.returncode == 0, ended.stdout + ended.stderr
    except subprocess.TimeoutExpired as error:
        return False, (error.stdout or b"").decode(errors="replace")


def traffic(programs: dict[str, Path], **env: str) -> list[str]:
    """Returns what crosses in random sessions."""
    test, options = "engine all", ["traffic::", "--ignored", "--nocapture"]
    _, out = ran(test, programs[test], 2 * SECONDS, *options, **env)
    return [line for line in out.splitlines() if line.startswith("traffic")]


class Verdict(NamedTuple):
    """Verdict on a fault that alters bytes: seconds, and crate, step and byte if it is named."""

    fault: Fault
    seconds: float
    named: tuple[str, str, str] | None
    said: str


def judged(pair: tuple[int, Fault], programs: dict[str, Path], honest: list[str]) -> Verdict | None:
    """Looks whether a fault alters bytes, and what names it."""
    number, fault = pair
    env = {"SEALANE_FAULT": str(number)}
    if traffic(programs, **env) == honest:
        return None
    begun, said = time.monotonic(), "all vectors pass"
    for test in TESTS:
        left = begun + SECONDS - time.monotonic()
        options = ["vectors::", "--skip=a_party_notices"]
        passed, out = ran(test, programs[test], left, *options, **env)
        found = [] if passed else NAMED.findall(out)
        if found:
            first = min(found, key=lambda name: LAYERS.index(name[0]) if name[0] in LAYERS else 99)
            return Verdict(fault, time.monotonic() - begun, first, "")
        if not passed:
            said = f"{test}: {out[-300:]}"
    return Verdict(fault, time.monotonic() - begun, None, said)


def main() -> int:
    """Draws, builds and judges faults."""
    parser = argparse.ArgumentParser(description="random faults that vectors have to name")
    parser.add_argument("--faults", type=int, default=100, help="how many that alter bytes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--drawn", type=int, default=1600, help="how many are built at most")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    if COPY.exists():
        git("worktree", "remove", "--force", str(COPY))
    git("worktree", "add", "--quiet", "--force", "--detach", str(COPY), "HEAD")
    try:
        return run(options)
    finally:
        git("worktree", "remove", "--force", str(COPY))


def run(options: argparse.Namespace) -> int:
    """Builds and judges faults in the copy; returns 1 if one is not named, or if they are few."""
    faults = dict(enumerate(drawn(options.seed, options.drawn)))
    programs = built(faults)
    for test in TESTS:
        passed, out = ran(test, programs[test], 10 * SECONDS, "vectors::")
        if not passed:
            sys.exit(f"fails without a fault: {test}\n{out[-2000:]}")
    met = COPY / "target" / "met"
    met.parent.mkdir(exist_ok=True)
    honest = traffic(programs, SEALANE_MET=str(met))
    if not honest or traffic(programs) != honest:
        sys.exit("what crosses in random sessions is not the same twice")
    reached = set(map(int, met.read_text("utf-8").split()))
    tried = [(number, fault) for number, fault in faults.items() if number in reached]
    print(f"{len(faults)} are built, {len(tried)} are met in random sessions", flush=True)
    verdicts: list[Verdict] = []
    silent = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for verdict in pool.map(lambda pair: judged(pair, programs, honest), tried):
            silent += verdict is None
            if verdict:
                verdicts.append(verdict)
                told(verdict)
            if len(verdicts) == options.faults:
                pool.shutdown(wait=False, cancel_futures=True)
                break
    return summed(verdicts, silent, options.faults)


def told(verdict: Verdict) -> None:
    """Prints what came of a fault."""
    word = "named" if verdict.named else "MISSED"
    name = "sealane-{}, step {}, byte {}".format(*verdict.named) if verdict.named else verdict.said
    print(f"{word} in {verdict.seconds:.1f} s: {verdict.fault.shown}: {name}", flush=True)


def summed(verdicts: list[Verdict], silent: int, due: int) -> int:
    """Prints the numbers of all; returns 1 if one was missed or if they are few."""
    named = [verdict for verdict in verdicts if verdict.named]
    at_home = sum(v.named is not None and v.named[0] == v.fault.crate() for v in named)
    seconds = [verdict.seconds for verdict in named] or [0.0]
    print(
        f"{len(verdicts)} faults alter bytes, and {silent} do not: {len(named)} are named, "
        f"{at_home} by their own crate, in {statistics.median(seconds):.1f} s (median), "
        f"{max(seconds):.1f} s (most)"
    )
    return int(len(named) < len(verdicts) or len(verdicts) < due)


def git(*words: str) -> None:
    """Runs git in this repository."""
    subprocess.run(["git", *words], cwd=ROOT, check=True)


if __name__ == "__main__":
    sys.exit(main())
