"""Checks rules of the house that a compiler does not know.

1. The crates that ARCHITECTURE.md lists are the crates there are, and each uses only crates of
   layers below its own; only crates of `hardware` use crates of `hardware`.
2. Every dependency, of Rust and of Python, has one reason in CONTRIBUTING.md, and every reason has
   a dependency that some crate uses.
3. ARCHITECTURE.md has at most 200 lines, and every path that it or another page names exists.
4. Notebooks hold no outputs: these come from the run that makes the site.
5. Every file that the code of a crate includes is one of those for which `make` builds again.
6. The first line of a doc comment, and of a docstring of Python, names the thing: it does not begin
   with What, Who, Whose, Whether, "That of" or "Those of".
7. Comment lines of Rust end by column 100.
8. A Rust file of more than 350 lines is counted in one warning, which names the longest. A Python
   file has at most 500 lines, and a function of it 100.
9. Every page and tool that names the oldest Rust names the one that Cargo.toml promises, and the
   toolchain that rust-toolchain.toml pins is not older.
10. Only the files of `DECLARES_BULK` declare messages to be bulk of a semi-honest protocol, which
   is digested against accidents alone.
11. Only crate `files` opens files to read them: it looks at their kind and bounds their length.
12. A page that a source names in backquotes exists.
13. A table of a page below `<!-- fields: FILE STRUCT -->` has the fields of that struct, and what a
   page for developers calls `Type::name`, or by a name of five words and more, is in a source.

14. A function, type or module of ours that a suppression of Valgrind names is defined, in the crate
   that it names or, if it names none, in any.
15. Only tests, measurements, other such functions and the files of `CALLS_DANGER`, each for the
   reason there, use a function named `danger_`, such as one that takes the seed of coins.
16. Chapters of the wire name the version of which there are vectors.

    python tools/house.py
"""

import ast
import json
import re
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TEST_CRATES = "-"
PAGES = ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "SECURITY.md", "CHANGELOG.md"]

OPENERS = re.compile(r"(What|Who|Whose|Whether)\b|(That|Those) of\b")
DOC_COMMENT = re.compile(r"\s*//[/!](?!/)(?: (.*))?")
COMMENT = re.compile(r"\s*//")
LONGEST_LINE = 100
DECLARATION = re.compile(
    r"mark_bulk_written|consume_bulk|(send|recv)_bulk\(|(Outgoing|Incoming)Tables::new"
)
DECLARES_BULK = [
    "crates/ot/src/transcript.rs",
    "crates/yao/src/tables.rs",
    "crates/yao/src/sides.rs",
    "hardware/serve/src/server.rs",
    "hardware/serve/src/client.rs",
    "crates/trio/src/arrive.rs",
    "crates/net/src/mesh.rs",
    "crates/net/tests/in_place.rs",
    "bench/src/stream/party.rs",
]
READING = re.compile(r"\bfs::read(_to_string)?\(|\bFile::open\(")
PRODUCT = re.compile(r"(crates|hardware)/(?!memcheck/|testkit/|fuzz/)\w+/src/(?!.*\btests\b)")
# Comments, imports and functions named `danger_` themselves.
HARMLESS = re.compile(r"//.*?$|^ *(pub )?use .*?;|^( *)pub (const )?fn danger_.*?^\2}", re.M | re.S)
CALLS_DANGER = {
    "crates/block/src/testing.rs": "a module of tests",
    "crates/mixed/src/views/model.rs": "a module of tests",
    "crates/ot/src/ideal.rs": "ideal functionalities, whose dealer everybody trusts, for tests",
    "crates/ot/src/softspoken/attacks.rs": "a module of tests",
    "crates/trio/src/views/model.rs": "a module of tests",
    "hardware/cli/src/bench.rs": "inputs of a measurement",
}
HARDWARE = "hardware"
DEPENDENCIES = ("dependencies", "dev-dependencies", "build-dependencies")
READS_BY_ITSELF = ("crates/diagnostic/src/finding.rs", "crates/files/")
LONG_FILE = 350
PYTHON = ("crates", "docs", "examples", HARDWARE, "python", "second", "tools")
MOST_LINES, MOST_OF_FUNCTION = 500, 100
CODE = re.compile(r"`(\w+)`")
NAMED = re.compile(r"`((?:crates|python|tools|docs|examples|bench|fuzz|hardware)/[\w./-]*)`")

SUPPRESSIONS = "crates/memcheck/public.supp"
DEFINED = re.compile(r"\b(?:fn|struct|enum|trait|mod) (\w+)")
# Names of the standard library and of others in suppressions, which end a pattern.
FOREIGN = {"UnknownInlinedFun", "BytesToHexChars", "dying_next", "u8"}
FOREIGN |= {"free_buckets", "reserve_rehash", "RawTableInner"}

Manifest = dict[str, Any]


def main() -> int:
    """Prints what is wrong; the number of findings is the exit status."""
    manifests = {crate(manifest): manifest for manifest in map(manifest_of, folders_of_crates())}
    findings = [*order(manifests), *apart(), *reasons(manifests), *pages(), *notebooks()]
    findings += [*included(), *comments(), *docstrings(), *toolchains(), *wire(), *uses()]
    findings += [*named_pages(), *names(), *suppressed(), *long_python()]
    for finding in [*findings, *long_files()]:
        print(finding, file=sys.stderr)
    if not findings:
        print(f"the house is in order: {len(manifests)} crates")
    return min(len(findings), 100)


def folders_of_crates() -> list[Path]:
    """The folders of all crates."""
    folders = ["crates/*", "bench", "fuzz", "fuzz/harness", f"{HARDWARE}/*"]
    manifests = [path for folder in folders for path in ROOT.glob(f"{folder}/Cargo.toml")]
    return sorted(path.parent for path in manifests)


def manifest_of(folder: Path) -> Manifest:
    """The manifest of a crate."""
    return load(folder / "Cargo.toml")


def crate(manifest: Manifest) -> str:
    """The name of a crate without its prefix."""
    name: str = manifest["package"]["name"]
    return name.removeprefix("sealane-")


def included() -> list[str]:
    """Files that are compiled in, of which `make` does not know."""
    folders = re.findall(
        r"^RUST := .*\n *\$\(shell find (.*) -type f", read("Makefile"), re.MULTILINE
    )
    # Cargo itself decides what `make hardware` builds again.
    known = [ROOT / folder for folder in [*" ".join(folders).split(), HARDWARE]]
    wrong = []
    sources = ("crates/*/src", f"{HARDWARE}/*/src")
    for path in (path for folder in sources for path in ROOT.glob(f"{folder}/**/*.rs")):
        for name in re.findall(
            r'include_(?:str|bytes)!\((?:concat!\()?"([^"]+)"', path.read_text()
        ):
            file = (path.parent / name).resolve()
            if not any(file.is_relative_to(folder) for folder in known) or "tests" in file.parts:
                wrong.append(f"{path.relative_to(ROOT)}: `make` does not know {name}")
    return wrong


def uses() -> list[str]:
    """Files that declare messages to be bulk, open files to read them, or call what is for tests
    alone, and may not.
    """
    wrong = []
    for path in rust_files():
        name, text = str(path.relative_to(ROOT)), path.read_text()
        if name not in DECLARES_BULK and DECLARATION.search(text):
            wrong.append(f"{name}: only files of `DECLARES_BULK` declare messages to be bulk")
        product = text.split("#[cfg(test)]\nmod tests {")[0]
        if not PRODUCT.match(name):
            continue
        if not name.startswith(READS_BY_ITSELF) and READING.search(product):
            wrong.append(f"{name}: only crate `files` opens files to read them")
        found = re.search(r"\bdanger_\w+", HARMLESS.sub("", product))
        if found and name not in CALLS_DANGER:
            wrong.append(f"{name}: only tests and measurements use `{found[0]}`")
        if not found and name in CALLS_DANGER:
            wrong.append(f"{name}: uses nothing named `danger_`, and `CALLS_DANGER` lists it")
    return wrong


def toolchains() -> list[str]:
    """Pages and tools that name another oldest Rust, and a pinned one that is older still."""
    oldest = load(ROOT / "Cargo.toml")["workspace"]["package"]["rust-version"]
    pinned = load(ROOT / "rust-toolchain.toml")["toolchain"]["channel"]
    wrong = []
    if [*map(int, pinned.split("."))] < [*map(int, oldest.split("."))]:
        wrong.append(f"rust-toolchain.toml: {pinned} is older than {oldest}, the oldest Rust")
    every = ["Makefile", ".ci/run", "tools/machine.sh", *PAGES]
    every += [str(p.relative_to(ROOT)) for p in ROOT.glob("docs/**/*.md")]
    for page in every:
        for named in re.findall(r"(?:cargo|Rust) (1\.\d+) or newer", read(page)):
            if named != oldest:
                wrong.append(f"{page}: the oldest Rust is {oldest}, not {named}")
    return wrong


def wire() -> list[str]:
    """Chapters that name another version of the wire than that of the vectors."""
    (version,) = (path.name for path in ROOT.glob("testdata/vectors/wire-*"))
    wrong = []
    for path in sorted(ROOT.glob("docs/wire/*.md")):
        for named in re.findall(
            r"^\| wire version \| (\d+)|`wire` \(a number, (\d+)",
            path.read_text("utf-8"),
            re.MULTILINE,
        ):
            if f"wire-{''.join(named)}" != version:
                wrong.append(f"{path.relative_to(ROOT)}: there are vectors of {version} alone")
    return wrong


def order(manifests: dict[str, Manifest]) -> list[str]:
    """Crates that break the order of layers."""
    table = re.findall(r"^\| ([\d-]+) \| `([\w-]+)` \|", read("ARCHITECTURE.md"), re.MULTILINE)
    layers = {crate: layer for layer, crate in table}
    wrong = [f"ARCHITECTURE.md lists no crate `{crate}`" for crate in manifests.keys() - layers]
    wrong += [
        f"ARCHITECTURE.md: there is no crate `{crate}`" for crate in layers.keys() - manifests
    ]
    for crate in sorted(manifests.keys() & layers):
        for used in sorted(crates_used(manifests[crate]) & layers.keys()):
            if layers[crate] == TEST_CRATES:
                continue
            if layers.get(used) == TEST_CRATES or int(layers[used]) >= int(layers[crate]):
                wrong.append(f"crate {crate}: uses `{used}`, which is not in a layer below")
    return wrong


def apart() -> list[str]:
    """Crates elsewhere that use a crate of `hardware`, also in tests."""
    folders = folders_of_crates()
    hardware = {folder for folder in folders if folder.parent.name == HARDWARE}
    names = {manifest_of(folder)["package"]["name"] for folder in hardware}
    wrong = []
    for folder in folders:
        manifest = manifest_of(folder)
        used = {name for kind in DEPENDENCIES for name in manifest.get(kind, {})} & names
        if used and folder not in hardware:
            names_used = ", ".join(sorted(used))
            wrong.append(f"{folder.relative_to(ROOT)}: uses {names_used} of {HARDWARE}")
    return wrong


def crates_used(manifest: Manifest) -> set[str]:
    """The crates that a crate is built on; what only its tests use may be on any layer."""
    names = {*manifest.get("dependencies", {}), *manifest.get("build-dependencies", {})}
    return {name.removeprefix("sealane-") for name in names if name.startswith("sealane-")}


def reasons(manifests: dict[str, Manifest]) -> list[str]:
    """Faults of the list of dependencies."""
    listed = re.findall(r"^\| `([\w-]+)` \| \S", section("CONTRIBUTING.md", "Dependencies"), re.M)
    workspace = load(ROOT / "Cargo.toml")["workspace"]["dependencies"]
    external = {name for name in workspace if not name.startswith("sealane-")}
    used: set[str] = set()
    wrong = []
    for crate, manifest in manifests.items():
        for kind in DEPENDENCIES:
            for name, wanted in manifest.get(kind, {}).items():
                used.add(name)
                if not (isinstance(wanted, dict) and wanted.get("workspace")):
                    wrong.append(f"{crate}: `{name}` is not a dependency of the workspace")
    wrong += [f"Cargo.toml: no crate uses `{name}`" for name in sorted(external - used)]
    known = external | python_dependencies()
    wrong += [f"CONTRIBUTING.md gives no reason for `{name}`" for name in sorted(known - {*listed})]
    wrong += [f"CONTRIBUTING.md: `{name}` is no dependency" for name in sorted({*listed} - known)]
    wrong += [f"CONTRIBUTING.md: `{name}` twice" for name in {*listed} if listed.count(name) > 1]
    return wrong


def python_dependencies() -> set[str]:
    """Packages that the Python package needs to run, to be built, and to be tested."""
    project = load(ROOT / "pyproject.toml")
    wanted = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    for extra in project["project"].get("optional-dependencies", {}).values():
        wanted += extra
    return {re.split(r"[^\w.-]", item)[0].lower() for item in wanted}


def pages() -> list[str]:
    """Pages that are too long, or that name what is not there."""
    wrong = []
    if (lines := read("ARCHITECTURE.md").count("\n")) > 200:
        wrong.append(f"ARCHITECTURE.md has {lines} lines; 200 are its limit")
    every = [*PAGES, *(str(p.relative_to(ROOT)) for p in ROOT.glob("docs/**/*.md"))]
    every += [str(p.relative_to(ROOT)) for p in ROOT.glob("examples/**/*.md")]
    for page in every:
        text, folder = read(page), (ROOT / page).parent
        for link in re.findall(r"\]\(([^)#:]+)(?:#[\w-]+)?\)", text):
            if not (folder / link).exists():
                wrong.append(f"{page}: {link} does not exist")
        for path in NAMED.findall(text):
            if not (ROOT / path).exists():
                wrong.append(f"{page}: {path} does not exist")
    return wrong


def named_pages() -> list[str]:
    """Pages that sources name and that are not there."""
    wrong = []
    python = python_files("python", "tools")
    for path in [*rust_files(), *ROOT.glob("hardware/rtl/**/*.sv"), *python]:
        for page in re.findall(
            r"`(docs/[a-z][a-z0-9_/-]*(?:\.md)?)`", path.read_text(encoding="utf-8")
        ):
            if not (ROOT / page).exists():
                wrong.append(f"{path.relative_to(ROOT)}: {page} does not exist")
    return wrong


def names() -> list[str]:
    """Tables of fields that are not those of their struct, and names on the pages for developers
    that are in no source.
    """
    wrong = []
    sources = "\n".join(path.read_text(encoding="utf-8") for path in rust_files())
    words = {*re.findall(r"\w+", sources)}
    for path in sorted(ROOT.glob("docs/develop/*.md")):
        page, text = path.relative_to(ROOT), path.read_text(encoding="utf-8")
        for file, struct, table in re.findall(r"<!-- fields: (\S+) (\w+) -->\n((?:\|.*\n)+)", text):
            body = re.search(rf"pub struct {struct} \{{\n(.*?)^\}}", read(file), re.S | re.M)
            fields = {*re.findall(r"^    pub (\w+):", body[1] if body else "", re.M)}
            cells = [row.split("|")[1] for row in table.splitlines()[2:]]
            shown = {name for cell in cells for name in CODE.findall(cell)}
            wrong += [f"{page}: `{struct}` has no field `{name}`" for name in shown - fields]
            wrong += [f"{page}: the field `{name}` of `{struct}` lacks" for name in fields - shown]
        quoted = re.findall(r"`(?:\w+::)+(\w+)(?:\(\))?`|`([a-z]+(?:_[a-z0-9]+){4,})`", text)
        absent = {name for pair in quoted for name in pair if name} - words
        wrong += [f"{page}: no source has `{name}`" for name in sorted(absent)]
    return wrong


def suppressed() -> list[str]:
    """Names in suppressions of Valgrind that no source defines."""
    defined: dict[str, set[str]] = {}
    for folder in folders_of_crates():
        name = manifest_of(folder)["package"]["name"].replace("-", "_")
        sources = [*folder.glob("src/**/*.rs")]
        texts = [path.read_text(encoding="utf-8") for path in sources]
        defined[name] = {*DEFINED.findall("\n".join(texts)), *(path.stem for path in sources)}
    everywhere = set().union(*defined.values())
    wrong = []
    for pattern in sorted({*re.findall(r"^ *fun:(.*)$", read(SUPPRESSIONS), re.MULTILINE)}):
        paths = re.findall(r"sealane_\w+(?:(?:::|\*)\w+)*", pattern)
        for crate, *path in [re.findall(r"\w+", path) for path in paths]:
            for name in {*path} - FOREIGN - defined.get(crate, set()):
                wrong.append(f"{SUPPRESSIONS}: {crate} defines no `{name}`, as in fun:{pattern}")
            if crate not in defined:
                wrong.append(f"{SUPPRESSIONS}: no crate {crate}, as in fun:{pattern}")
        last = re.findall(r"[A-Za-z_]\w*", pattern)[-1:]
        if not paths and not {*last} <= FOREIGN | everywhere:
            wrong.append(f"{SUPPRESSIONS}: no source defines `{last[0]}`, as in fun:{pattern}")
    return wrong


def notebooks() -> list[str]:
    """Notebooks that hold what a run of theirs printed."""
    wrong = []
    for path in sorted(ROOT.glob("examples/**/*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        if any(cell.get("outputs") or cell.get("execution_count") for cell in cells):
            name = path.relative_to(ROOT)
            wrong.append(f"{name} holds outputs; clear them before you commit it")
    return wrong


def comments() -> list[str]:
    """Doc comments that do not name their thing, and comment lines that are too long."""
    wrong = []
    for path in rust_files():
        name, begins = path.relative_to(ROOT), True
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            doc = DOC_COMMENT.fullmatch(line)
            if doc and begins and OPENERS.match(doc[1] or ""):
                wrong.append(f"{name}:{number}: a doc comment begins by naming the thing")
            if COMMENT.match(line) and len(line) > LONGEST_LINE:
                wrong.append(f"{name}:{number}: a comment line ends by column {LONGEST_LINE}")
            begins = not doc
    return wrong


def docstrings() -> list[str]:
    """Docstrings of the package, its tests and the tools that do not name their thing."""
    wrong = []
    for path in python_files("python", "tools"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Expr(value=ast.Constant(value=str(text))) if OPENERS.match(text):
                    place = f"{path.relative_to(ROOT)}:{node.lineno}"
                    wrong.append(f"{place}: a docstring begins by naming the thing")
    return wrong


def long_files() -> list[str]:
    """One warning about Rust files of more lines than a reader takes in at one sitting."""
    lengths = {
        str(path.relative_to(ROOT)): path.read_text(encoding="utf-8").count("\n")
        for path in rust_files()
    }
    longest = sorted(lengths.items(), key=lambda item: -item[1])
    count = sum(lines > LONG_FILE for _, lines in longest)
    if not count:
        return []
    named = ", ".join(f"{name} ({lines})" for name, lines in longest[:5])
    return [f"warning: {count} Rust files have more than {LONG_FILE} lines; the longest: {named}"]


def long_python() -> list[str]:
    """Python files and functions that are too long."""
    wrong = []
    for path in python_files(*PYTHON):
        name, text = path.relative_to(ROOT), path.read_text(encoding="utf-8")
        if (lines := text.count("\n")) > MOST_LINES:
            wrong.append(f"{name} has {lines} lines; {MOST_LINES} are its limit")
        for node in ast.walk(ast.parse(text)):
            match node:
                case ast.FunctionDef(lineno=first, end_lineno=int(last)):
                    if (lines := last - first + 1) > MOST_OF_FUNCTION:
                        limit = f"{lines} lines; {MOST_OF_FUNCTION} are its limit"
                        wrong.append(f"{name}:{first}: `{node.name}` has {limit}")
    return wrong


def rust_files() -> list[Path]:
    """All Rust files."""
    return files(("crates", "bench", "fuzz", HARDWARE), "*.rs")


def python_files(*folders: str) -> list[Path]:
    """The Python files below folders, and stubs."""
    return [path for path in files(folders, "*.py*") if path.suffix in (".py", ".pyi")]


def files(folders: Sequence[str], pattern: str) -> list[Path]:
    """The files of such a name below folders, but for what is built there."""
    found = (path for folder in folders for path in ROOT.glob(f"{folder}/**/{pattern}"))
    return sorted(path for path in found if "target" not in path.relative_to(ROOT).parts)


def section(page: str, title: str) -> str:
    """The text of a section of a page, down to the next one of the same level."""
    _, _, rest = read(page).partition(f"\n## {title}\n")
    return rest.split("\n## ")[0]


def read(page: str) -> str:
    """A page of the repository."""
    return (ROOT / page).read_text(encoding="utf-8")


def load(path: Path) -> Manifest:
    """A TOML file."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    sys.exit(main())
