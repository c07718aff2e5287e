# ruff: noqa
"""The rules of rename.py, in the order in which they apply."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    kind: str
    old: str
    new: str
    globs: tuple[str, ...]
    strings: bool = False
    having: str = ""
    lacking: str = ""
    unless: tuple[str, str] | None = None


RULES: list[Rule] = []
# Today's paths, and those after the move of the hardware and of the measurements.
MOVED = {
    "crates/accel": "hardware/*accel",
    "crates/serve": "hardware/*serve",
    "crates/cli/src/accel": "hardware/*accel*",
    "crates/cli/src/serve.rs": "hardware/*serve*",
    "rtl": "hardware/rtl",
}
HARDWARE = (
    "crates/accel",
    "crates/serve",
    "hardware",
    "crates/cli/src/accel",
    "crates/cli/src/args/accel.rs",
    "crates/cli/src/serve.rs",
    "fuzz/src/netlists.rs",
    "fuzz/src/served.rs",
)
ALL = ("*.rs",)
PROSE = (
    "*.rs",
    "*.md",
    "*.py",
    "*.pyi",
    "*.toml",
    "*.sh",
    "*.yml",
    "Makefile",
    ".ci/*",
    "*.sv",
    "*.cpp",
    "*.h",
    "!CHANGELOG.md",
    "!examples/*",
    "!python/tests/*",
    "!testdata/*",
)


def name(old: str, new: str, *globs: str, **more) -> None:
    RULES.append(Rule("name", old, new, globs or ALL, **more))


def words(old: str, new: str, *globs: str, **more) -> None:
    RULES.append(Rule("words", old, new, globs or PROSE, **more))


def everywhere(old: str, new: str, *globs: str, **more) -> None:
    RULES.append(Rule("all", old, new, globs or ALL, **more))


def noun(old: str, new: str, *globs: str, **more) -> None:
    """A word in its four forms."""
    words(rf"\b{old}s\b", new + "s", *globs, **more)
    words(rf"\b{old}\b", new, *globs, **more)
    big, new = old[0].upper() + old[1:], new[0].upper() + new[1:]
    words(rf"\b{big}s\b", new + "s", *globs, **more)
    words(rf"\b{big}\b", new, *globs, **more)


MOVES = [
    ("crates/trio/src/seat.rs", "role_index.rs"),
    ("crates/trio/src/weave.rs", "column_split.rs"),
    ("crates/trio/src/lines.rs", "aligned_buffer.rs"),
    ("crates/trio/src/papers.rs", "references.rs"),
    ("crates/yao/src/papers.rs", "references.rs"),
    ("crates/engine/tests/papers.rs", "references.rs"),
    ("crates/trio/src/views/world.rs", "model.rs"),
    ("crates/plan/src/points.rs", "fixed_functions.rs"),
    ("crates/plan/src/lower/meet.rs", "compare_exchange.rs"),
    ("crates/host/src/meet.rs", "connect.rs"),
    ("crates/ot/src/ideal/goods.rs", "correlations.rs"),
    ("crates/memcheck/src/goods.rs", "correlations.rs"),
    ("bench/src/ot/goods.rs", "correlations.rs"),
    ("bench/tests/timing/goods.rs", "correlations.rs"),
    ("bench/*ot/goods.rs", "correlations.rs"),
    ("crates/block/src/lanes/beside.rs", "interleave.rs"),
]

# --- room, floor: crate, layer -------------------------------------------------------------------
AROUND = r"(?:\s|(?<=\n)[ \t]*(?://[/!]?|\#)[ \t]*)"
SPACE = r"(?:[ \t]|\n[ \t]*(?://[/!]?|\#|\*)?[ \t]*)+"
everywhere(
    r"A room is a crate\. It uses only rooms on floors below its own\.",
    "A crate uses only crates of layers below its own.",
    "ARCHITECTURE.md",
)
everywhere(
    r"Each room is a crate, so the compiler enforces the floors of imports\.",
    "The compiler enforces the layers of imports.",
    "ARCHITECTURE.md",
)
everywhere(r"only rooms on floors below", "only crates of layers below", "Cargo.toml")
everywhere(
    r"uses only rooms on\n   floors below its own",
    "uses only crates of\n   layers below its own",
    "tools/house.py",
)
everywhere(r"on floors below", "of layers below", "*.md", "tools/*", "*.toml")
words(r"\brooms\b", "crates")
words(r"\bRooms\b", "Crates")
words(rf"\broom(?={SPACE}`)", "crate")
words(rf"\bRoom(?={SPACE}`)", "Crate")
words(
    rf"\b((?:[Tt]his|[Ee]ach|[Oo]ne|[Ee]very|[Aa]nother|[Oo]ther|lowest|a){SPACE})room\b(?!{SPACE}(?:for|to|of|in which)\b)",
    r"\1crate",
)
words(rf"\bA{SPACE}room\b", "A crate", "Cargo.toml", "ARCHITECTURE.md", "docs/*", "tools/*")
words(
    rf"\b([Tt]he{SPACE})room\b(?!{SPACE}(?:that|for|to|in which|left|of \d)\b)",
    r"\1crate",
    *PROSE,
    "!crates/net/*",
    "!crates/block/src/block.rs",
)
words(r"\bthe room\b", "the crate", "crates/block/src/block.rs")
words(r"\b(Errors|Tests|of|in) this room\b", r"\1 this crate")
noun(
    "room",
    "crate",
    "ARCHITECTURE.md",
    "docs/develop/*",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "Cargo.toml",
    "tools/house.py",
)
noun(
    "floor",
    "layer",
    "ARCHITECTURE.md",
    "docs/develop/*",
    "CONTRIBUTING.md",
    "Cargo.toml",
    "tools/house.py",
    ".ci/*",
    strings=True,
)
everywhere(r"\brooms_used\b", "crates_used", "tools/house.py")
everywhere(r"\bROOMS\b", "CRATES", "tools/*")
everywhere(r"\bTEST_ROOMS\b", "TEST_CRATES", "tools/*")
everywhere(r"\brooms\b", "crates", "tools/house.py", ".ci/*", "Makefile", "tools/*")
everywhere(
    r"\broom\b",
    "crate",
    "tools/house.py",
    ".ci/*",
    "Makefile",
    "tools/miri.sh",
    "tools/prove.py",
    "tools/proof_specs.py",
    "tools/tiers.py",
)
everywhere(r"\bfloors\b", "layers", "tools/house.py")
everywhere(r"\bfloor\b", "layer", "tools/house.py")
everywhere(r"## Rooms\b", "## Crates", "ARCHITECTURE.md")
everywhere(r"ARCHITECTURE\.md#rooms\b", "ARCHITECTURE.md#crates", "*.md", "*.rs", "*.py")

# --- goods: correlations -------------------------------------------------------------------------
name("GoodsSource", "CorrelationSource")
name("Goods", "Correlation")
name("OF_GOODS", "OF_CORRELATIONS")
name("asked_goods", "asked_correlations")
name("goods", "correlations", *ALL, "*.md")
words(r"\bgoods\b", "correlations", *PROSE, strings=False)
words(r"\bGoods\b", "Correlations", *PROSE, strings=False)
everywhere(r"\bgoods, ", "correlations, ", "bench/*ot*")
everywhere(r"\bGoods, which", "Correlations, which", "bench/*ot*")
everywhere(r"contains\(\"goods\"\)", 'contains("correlations, ")', "bench/*ot*")
everywhere(r"no goods, no table", "no correlations, no table", "bench/*ot*")

# --- Cast of a run: roster -----------------------------------------------------------------------
CAST = (
    "crates/plan/src/setting.rs",
    "crates/plan/src/lib.rs",
    "crates/plan/src/passes.rs",
    "crates/engine/src/split_plan.rs",
)
name("(?<!Op::)Cast", "Roster", *CAST)
name("plan_with_cast", "plan_with_roster")
name(r"(?<!\.)cast", "roster", *CAST)
words(r"\bcast\b", "roster", *CAST)

# --- trio: column split, role index, aligned buffer ---------------------------------------------
TRIO = ("crates/trio",)
name("Weave", "ColumnSplit", *TRIO)
name("weave", "column_split", *TRIO)
words(r"\b[Tt]he weave of\b", "The column split into", *TRIO)
words(r"\bweave\b", "column split", *TRIO)
name("Seat", "RoleIndex", *TRIO)
name("seat", "role_index", *TRIO)
words(r"\bseat\b", "role index", *TRIO)
name("(?<!::)Lines", "AlignedBuffer", *TRIO)
name("(?<=lines::)Lines", "AlignedBuffer", *TRIO)
name("lines(?=::AlignedBuffer)", "aligned_buffer", *TRIO)
name("(?<=mod )lines", "aligned_buffer", *TRIO)
words(r"`lines`", "`aligned_buffer`", *TRIO)

# --- runnable ------------------------------------------------------------------------------------
WAY = (
    "crates/engine/src/check.rs",
    "crates/engine/src/lib.rs",
    "crates/engine/tests/check.rs",
    "crates/host",
    "crates/cli/src/verbs.rs",
    "crates/py/src/report.rs",
    "crates/py/src/program.rs",
    "crates/page",
)
name("Way", "Runnable", *WAY)
name("ways", "runnables", *WAY)
name("way", "runnable", "crates/engine/src/check.rs", "crates/engine/tests/check.rs")
name("Way", "Direction", "bench")
name("way", "direction", "bench/src/aead/cases.rs", "bench/*aead/cases.rs")

# --- Home: storage ------------------------------------------------------------------------------
PLAN = ("crates/plan",)
name("Home", "Storage", *PLAN)
name("homes", "storages", *PLAN)
name("home", "storage", *PLAN)

# --- points of pass `scale`: fixed-point functions ------------------------------------------------
name("(?<=mod )points", "fixed_functions", *PLAN)
name("(?<=crate::)points", "fixed_functions", *PLAN)
words(r"`points(\.rs)?`", r"`fixed_functions\1`", "crates/plan/*", "ARCHITECTURE.md", "docs/*")
everywhere(r"plan/src/points\.rs", "plan/src/fixed_functions.rs", "*.md", "*.rs", "*.py", "*.toml")

# --- meet: compare-exchange, connect, cross join -------------------------------------------------
NETWORKS = (
    "crates/plan",
    "crates/engine/src",
    "crates/party",
    "crates/clear",
    "crates/yao",
    "crates/trio",
    "crates/testkit",
    "bench",
    "docs/develop/adding-a-protocol.md",
)
name(
    "(?<!Phase::)Meet",
    "CompareExchange",
    *NETWORKS,
    "!crates/engine/src/events.rs",
    "!crates/engine/src/journal.rs",
)
name("meet_in_place", "compare_exchange_in_place", "crates/engine/src")
name("(?<=fn )meet", "compare_exchange", "crates/plan")
name(r"(?<=self\.)meet", "compare_exchange", "crates/plan")
name("(?<=super::)meet", "compare_exchange", "crates/plan")
name("(?<=mod )meet", "compare_exchange", "crates/plan")
name("meet(?=::)", "compare_exchange", "crates/plan/src/lower.rs", "crates/plan/src/lower/*")
name(
    "meet",
    "network_step",
    "crates/plan/src/lower.rs",
    "crates/plan/src/draft.rs",
    "crates/plan/src/fuse.rs",
    "crates/engine/src/execute/tasks.rs",
    "crates/engine/src/execute/tasks/network.rs",
    lacking=r"(?m)^ *(?:let|network_step:).*\bnetwork_step\b",
)
name("(?<=sealane_pool::)meet", "exchange_offers")
name("meet", "exchange_offers", "crates/pool/src")
name("meet", "connect_all", "crates/net/tests", "bench")
name("meet_all", "connect_all", "crates/net/src")
name("(?<!Phase::)Meet", "Connect", "crates/engine/tests")
name("meet_with", "connect_with", "crates/engine/tests")
name("meet", "connect", "crates/engine/tests", "!crates/engine/tests/common/mod.rs")
name("meet", "connect", "crates/engine/tests/common/mod.rs")
name("meet_and_run", "connect_and_run")
name("tell_of_missing", "report_missing")
name("tell_of_unlisted", "report_unlisted")
everywhere(
    r"(?m)^(\s*)Meet,$", r'\1#[serde(rename = "meet")]\n\1Connect,', "crates/engine/src/events.rs"
)
name("(?<=Phase::)Meet", "Connect")
HOST = ("crates/host", "crates/cli", "crates/py", "hardware", "bench", "fuzz", "crates/memcheck")
name("meet(?=::)", "connect", *HOST)
name("(?<=mod )meet", "connect", "crates/host")
name(r"(?<=crate::)meet", "connect", "crates/host")
name(r"(?<=sealane_host::)meet", "connect")
name(r"meet(?=[,}])", "connect", "crates/cli", "crates/py", "hardware", having=r"sealane_host::")
everywhere(r"crates/host/src/meet\.rs", "crates/host/src/connect.rs", "*.md", "*.rs")
everywhere(r"plan/src/lower/meet\.rs", "plan/src/lower/compare_exchange.rs", "*.md", "*.rs")

# --- beside: concatenate, interleave ------------------------------------------------------------
SHARES = (
    "crates/party",
    "crates/trio",
    "crates/yao",
    "crates/engine",
    "crates/testkit/src/fake*",
    "crates/testkit/src/masked*",
    "crates/plan/tests",
    "crates/clear",
    "docs/develop/adding-a-protocol.md",
)
everywhere(r"\*\*Meet\.\*\*", "**Connect.**", "ARCHITECTURE.md")
name(r"(?<=::)beside", "concatenate", *SHARES)
name(r"(?<=fn )beside", "concatenate", *SHARES)
name("beside_columns", "as_columns", "crates/plan", "crates/program")
name("Beside", "NewAxis", "crates/plan/src/fuse/ring.rs")
name("Turn", "AxisChange", "crates/plan/src/fuse/ring.rs")
name("turn", "change", "crates/plan/src/fuse/ring.rs")
name("nine_rounds_beside(\\w*)", r"nine_rounds_interleaved\1")
name("encrypt_beside", "encrypt_interleaved")
name("rounds_beside", "rounds_interleaved")
name("block_beside", "block_interleaved")
name("Beside", "Interleaved", "crates/block/src/products.rs")
name("(?<=mod )beside", "interleave", "crates/block")
name("beside(?=::)", "interleave", "crates/block")
name("beside(?=:)", "interleaved", "crates/block/src/lanes/x86.rs")
name("(?<=Streams::)beside", "interleave", "crates/aead", "crates/block")
name(
    "(?<=fn )beside",
    "interleave",
    "crates/block/src/lanes/streams.rs",
    "crates/aead/src/modes/horner/groups.rs",
)
name("(?<=groups::)beside", "interleave", "crates/aead")

# --- told, says: reported, reports --------------------------------------------------------------
RUST = ("*.rs",)
name("assert_told_by_digests", "assert_reported_by_digests")
name("assert_told", "assert_reported")
name("receive_and_tell", "receive_and_report")
name("TELL", "REPORT", "crates/net/src/connect.rs")
name("Told", "Determined", "crates/program/src/warnings")
name(
    "told",
    "determined",
    "crates/program/src/warnings/inputs*",
    "!crates/program/src/warnings/rounding.rs",
)
name("tells", "determines", "crates/program/src/warnings/inputs*")
name(r"(\w+)_(?:are|is)_told(\w*)", r"\1_is_reported\2", *RUST, having=r"_is_told")
name(r"(\w+)_are_told(\w*)", r"\1_are_reported\2", *RUST)
name(r"(?<!\bself\.)told(?!_by)", "reported", *RUST)
name(r"(?<=self\.)told", "reported", *RUST)
name("says", "reports", "crates/program/tests/builder.rs", "crates/engine/tests/faults_parties.rs")
name(
    "tell",
    "report",
    "crates/block/src/heap.rs",
    "crates/cli/src/pool.rs",
    "crates/cli/src/signals.rs",
    "crates/engine/tests/simulator/mod.rs",
    "crates/net/src/probe.rs",
    "hardware",
)

# --- papers: references -------------------------------------------------------------------------
HASHED = ("crates/plan/src/job.rs", r"\{profile:\?\}")
name("papers_card", "references_card")
name("(?<=mod )papers", "references", "crates/trio", "crates/yao", "crates/engine/tests")
name("papers(?=::)", "references", "crates/trio", "crates/yao", "crates/engine/tests")
SHOWN = (
    "crates/page",
    "crates/host",
    "crates/cli",
    "!crates/cli/src/terminal.rs",
    "crates/py",
    "fuzz",
    "crates/engine",
)
name(r"(?<!basis\.)(?<!profile\(\)\.)papers", "references", *SHOWN)
name("PaperRecord", "ReferenceRecord", *SHOWN)
everywhere(
    r'"papers"',
    '"references"',
    "crates/page/*",
    "crates/host/*",
    "crates/cli/*",
    "!crates/cli/src/terminal.rs",
    "crates/py/*",
    "fuzz/*",
    "docs/*",
)
everywhere(r"engine/tests/papers\.rs", "engine/tests/references.rs", "*.md", "*.rs")
everywhere(r"(trio|yao)/src/papers\.rs", r"\1/src/references.rs", "*.md", "*.rs")
name(
    "papers",
    "references",
    "crates/protocol",
    "crates/plan",
    "crates/trio",
    "crates/yao",
    "crates/clear",
    "crates/testkit",
    "crates/engine",
    "docs/develop/*",
    unless=HASHED,
)
name(
    "PAPERS",
    "REFERENCES",
    "crates/protocol",
    "crates/plan",
    "crates/trio",
    "crates/yao",
    "crates/testkit",
    "docs/develop/*",
    unless=HASHED,
)

# --- tests of views -----------------------------------------------------------------------------
VIEWS = ("crates/trio/src/views*", "crates/trio/src/ideal.rs")
name("Gadget", "ViewTest", *VIEWS)
name("gadget", "test", *VIEWS)
words(r"in every gadget of this page", "in every step of this page", "docs/protocols/trio.md")
words(r"in each gadget of this", "in each step of this", *VIEWS)
noun("gadget", "test", *VIEWS, "crates/trio/src/lib.rs", "docs/protocols/trio.md", "docs/develop/*")
name("World", "Model", *VIEWS)
name("world", "model", *VIEWS)
noun("world", "model", *VIEWS)
name("Flaw", "InjectedFault", *VIEWS)
name("flaws", "faults", *VIEWS)
name("flaw", "fault", *VIEWS)
noun("flaw", "fault", *VIEWS, "docs/protocols/trio.md")
name("Astray", "Misrouted", *VIEWS)
name("astray", "misrouted", *VIEWS)
words(r"\bastray\b", "misrouted", *VIEWS, "docs/protocols/trio.md")
name("Spares", "Recycled", *TRIO)
name("spares", "recycled", *TRIO)
name("World", "Model", "crates/pool/src/tests*")
name("world", "model", "crates/pool/src/tests*")
noun("world", "model", "crates/pool/src/tests*")
SIMULATED = (
    "crates/testkit/src/simulator*",
    "crates/testkit/tests/simulator.rs",
    "crates/engine/tests/common",
    "crates/engine/tests/simulator",
    "crates/engine/tests/faults*",
)
name("World", "Model", *SIMULATED)
name("world", "model", *SIMULATED)
name(
    "a_world_that_does_not_end_is_(told|reported)",
    "a_model_that_does_not_end_is_reported",
    *SIMULATED,
)
noun("world", "model", *SIMULATED, "docs/develop/simulator.md")

# --- turn: step round, batch, cycle, pass ---------------------------------------------------------
# Plain English stays: in turn, take turns, turns X into Y, whose turn it is.
PLAIN = r"(?<!\b[Ii]n )(?<!\btake )(?<!\btakes )(?<!\btaking )(?<!\btook )(?<!\bby )(?<!\bhas the )(?<!its )(?<!to )(?<!may )(?<!would )(?<!whose )(?<!Whose )"
AFTER = r"(?!s? (?:it|one|of it|away|into|bodies|to|the|them|these|any|an|bits|SubWord|a sliced|four keys|three bits|columns|uses of|one conversion|back|is empty|out)\b)"
ENGINE = (
    "crates/engine",
    "crates/plan/src/cost*",
    "crates/plan/src/flow.rs",
    "crates/plan/src/lib.rs",
    "crates/page",
    "crates/party",
    "crates/host",
    "crates/testkit/src/fake*",
    "crates/testkit/src/masked*",
    "crates/yao",
    "crates/clear",
    "crates/cli/src/reports.rs",
    "crates/trio/src/lib.rs",
    "crates/trio/src/outside.rs",
    "bench/src/trio/mod.rs",
    "bench/*trio/mod.rs",
)
everywhere(
    r"(?m)^(\s*)Turn\(Turn\),",
    r'\1#[serde(rename = "turn")]\n\1StepRound(StepRound),',
    "crates/engine/src/events.rs",
)
name(
    "Turn",
    "StepRound",
    "crates/engine",
    "crates/page",
    "crates/host",
    "bench/src/trio/mod.rs",
    "bench/*trio/mod.rs",
)
name("Turns", "StepRounds", "crates/engine")
name("TURNS", "STEP_ROUNDS", "crates/engine")
name("MOST_TURNS", "MOST_STEP_ROUNDS", "crates/plan/src/cost*")
name("emit_turns", "emit_step_rounds", "crates/engine")
name("of_turn", "of_step_round", "crates/page")
name("in_turn", "in_step_round", "crates/plan/src/flow.rs")
name(
    r"(\w+_)?turns(_\w+)?",
    r"\1step_rounds\2",
    *ENGINE,
    "!crates/page/src/run/page.rs",
    lacking=r"rotate_left\(turn\)",
)
name(r"turn", "step_round", *ENGINE, "!crates/page/src/run/page.rs", lacking=r"rotate_left\(turn\)")
name(
    "a_party_that_(dies|stalls)_at_any_turn_(\\w+)",
    r"a_party_that_\1_at_any_step_round_\2",
    "crates/engine/tests",
)
words(r"\bturn by turn\b", "step round by step round", *ENGINE)
words(PLAIN + r"\bturn(s?)\b" + AFTER, r"step round\1", *ENGINE)
words(r"\bTurn(s?)\b(?! (?:a|the|it)\b)", r"Step round\1", *ENGINE)
everywhere(r'"(a part of a|one) turn"', r'"\1 step round"', "crates/page/src/run/lanes.rs")
everywhere(r"\} turns\"", '} step rounds"', "crates/page/src/*")
words(
    PLAIN + r"\b\*?turn(s?)\*?\b" + AFTER,
    r"step round\1",
    "docs/concepts/rounds.md",
    "docs/develop/adding-a-protocol.md",
    "docs/develop/glossary.md",
    "docs/guides/reports.md",
    "ARCHITECTURE.md",
)
words(r"\bTurns\b", "Step rounds", "docs/concepts/rounds.md", "docs/develop/adding-a-protocol.md")
everywhere(r"#turns\b", "#step-rounds", "*.md")
words(r"\[turns\]", "[step rounds]", "docs/protocols/trio.md")

name("(?<=let )turn(?= = turn)", "round_trip", "bench/src/net.rs", "bench/*net.rs")
name(r"turn(?=\.as_secs)", "round_trip", "bench/src/net.rs", "bench/*net.rs")
name("turn", "round_trip", "bench/src/net.rs", "bench/*net.rs")
name("turns", "round_trips", "bench/src/net.rs", "bench/*net.rs")
name("TURNS", "ROUND_TRIPS", "bench/src/net.rs", "bench/*net.rs")

# Kernels: batch.
BLOCK = ("crates/block", "crates/garble/src/three_halves*", "crates/garble/src/kernels.rs")
name("MAX_TURN", "MAX_BATCH", *BLOCK)
name(
    "TURN",
    "BATCH",
    "crates/block/src/clock.rs",
    "bench/src/garble/limit.rs",
    "bench/*garble/limit.rs",
)
name("TURNS", "BATCHES", "bench/src/garble/limit.rs", "bench/*garble/limit.rs")
name("Turn", "HashBatch", "crates/garble/src/three_halves*")
name(r"(\w+)_turn(_\w+)?", r"\1_batch\2", *BLOCK)
name(r"(\w+)_turns(_\w+)?", r"\1_batches\2", *BLOCK)
name(r"turn_(\w+)", r"batch_\1", *BLOCK)
name("turns", "batches", *BLOCK, "!crates/block/src/lanes/sbox.rs")
name("turn", "batch", *BLOCK, "!crates/block/src/lanes/sbox.rs")
words(PLAIN + r"\bturn\b" + AFTER, "batch", *BLOCK)
words(PLAIN + r"\bturns\b" + AFTER, "batches", *BLOCK)
words(r"\baligned turns\b", "aligned batches", *BLOCK)

# Hardware: netlist cycle.
name("TurnCycles", "CycleCount", *HARDWARE)
name("NO_TURNS", "NO_CYCLES", *HARDWARE)
name("TURN", "NETLIST_CYCLE", *HARDWARE)
name("Turn", "NetlistCycle", *HARDWARE)
name("turn_json", "netlist_cycle_json", *HARDWARE)
name("turn_away", "refuse_busy", "crates/serve", "hardware", "crates/cli/src/serve.rs")
name(r"(next|each|in|of)_turn", r"\1_netlist_cycle", *HARDWARE)
name("turns", "netlist_cycles", *HARDWARE)
name(
    "turn",
    "netlist_cycle",
    *HARDWARE,
    "!crates/accel/src/engine.rs",
    "!hardware/*accel/src/engine.rs",
    "!*accel/tests/sequential/*",
)
words(PLAIN + r"\bturn(s?)\b" + AFTER, r"netlist cycle\1", *HARDWARE)
everywhere(r"--turns\b", "--cycles", *HARDWARE, "rtl", "docs/guides/accelerator.md")
everywhere(r"\bstart_turns\b", "start_cycles", "*.sv", "*.cpp", "*.h", "*.ys", "*.sby")
everywhere(
    r"\b((?:\w+_)?)turns\b",
    r"\1netlist_cycles",
    "rtl/*.sv",
    "rtl/*.cpp",
    "rtl/*.h",
    "hardware/*.sv",
    "hardware/*.cpp",
    "hardware/*.h",
)
everywhere(
    r"\b((?:\w+_)?)turn((?:_\w+)?)\b",
    r"\1netlist_cycle\2",
    "rtl/*.sv",
    "rtl/*.cpp",
    "rtl/*.h",
    "hardware/*.sv",
    "hardware/*.cpp",
    "hardware/*.h",
)

# Sorts and shuffles of trio: pass.
SORTS = (
    "crates/trio/src/sort.rs",
    "crates/trio/src/shuffle.rs",
    "crates/trio/src/cost.rs",
    "crates/trio/src/views*",
    "docs/protocols/trio.md",
)
name("BITS_A_TURN", "BITS_A_PASS", *TRIO)
name("TURN_NS", "PASS_NS", *TRIO)
name(r"(first|second|third)_turn", r"\1_pass", *TRIO)
name("turn", "pass", *SORTS)
name("a_turn_by_one_bit_shows_nothing", "a_pass_by_one_bit_shows_nothing", *TRIO)
words(r"\bBetween the turns\b", "Between the passes", *SORTS)
words(PLAIN + r"\bturn\b" + AFTER, "pass", *SORTS)
words(PLAIN + r"\bturns\b" + AFTER, "passes", *SORTS)

# --- types that share a name ---------------------------------------------------------------------
name("Table", "AlignedBlocks", "crates/aead")
name(
    r"(?<!Function::)Table(?!\(Arc<)",
    "TruthTable",
    "crates/circuit/src/function*",
    "crates/circuit/src/word/lookup.rs",
)
name("Table", "ShuffledRows", "crates/trio/src/shuffle.rs")
name("Table", "ArgumentTable", "crates/numeric/src/exact/matching.rs")
name("Table", "SegmentTable", "crates/numeric/src/gamma*")
name("Table", "GroupOrder", "crates/ot/src/ferret/places.rs")
name("Table", "StringDealer", "crates/ot/src/ideal/one_of_n.rs")
name("Table", "ArrowTable", "crates/tables/src/arrow.rs", "crates/tables/src/parquet_file.rs")
name("(?<=arrow::)Table", "ArrowTable", "crates/tables")
name("Table", "CsvTable", "crates/tables/src/csv_table.rs", "crates/tables/src/texts.rs")
name("(?<=csv_table::)Table", "CsvTable", "crates/tables")
name("Table", "TextRows", "fuzz/src/files.rs")
name("Table", "RecordTable", "bench", having=r"table::\{?[^;]*\bTable\b|//! Tables of records")
name("Sender", "SenderSide", "bench/src/ot/sides.rs")
name("Receiver", "ReceiverSide", "bench/src/ot/sides.rs")

name("Sender", "BaseSender", "crates/ot/src/base.rs", "crates/ot/src/base/*")
name("Receiver", "BaseReceiver", "crates/ot/src/base.rs", "crates/ot/src/base/*")
name("(?<=base::)Sender", "BaseSender", "crates/ot/src")
name("(?<=base::)Receiver", "BaseReceiver", "crates/ot/src")
for part, new in (
    ("chosen", "IdealChosen"),
    ("correlated", "IdealCot"),
    ("given", "IdealGiven"),
    ("one_of_n", "IdealStrings"),
    ("random", "IdealRandom"),
):
    for side in ("Sender", "Receiver"):
        name(rf"(?<!mpsc::){side}", new + side, f"crates/ot/src/ideal/{part}.rs")
        name(rf"(?<=ideal::{part}::){side}", new + side, "*.rs")
name(r"(?<=ideal::)Sender", "IdealCotSender")
name(r"(?<=ideal::)Receiver", "IdealCotReceiver")
everywhere(
    r"pub use correlated::\{Free, Receiver, Sender, danger_pair\}",
    "pub use correlated::{Free, IdealCotReceiver, IdealCotSender, danger_pair}",
    "crates/ot/src/ideal.rs",
)
for side in ("Sender", "Receiver"):
    name(
        side,
        "Strings" + side,
        "crates/ot/src/softspoken/one_of_n*",
        "bench/src/ot/goods/work.rs",
        "bench/*ot/*work.rs",
        "crates/ot/tests/one_of_n.rs",
        "fuzz/src/transfers/many.rs",
    )
    name(
        rf"(?<!softspoken::){side}(?!\s*=)",
        "Strings" + side,
        "crates/memcheck/src/goods.rs",
        "crates/memcheck/src/correlations.rs",
    )
    name(rf"(?<=(?<!ideal::)one_of_n::){side}", "Strings" + side)
    name(side, "Phased" + side, "crates/psi/src/phased.rs")
    name(side, "Shuffled" + side, "crates/psi/src/shuffled.rs")
    name(rf"(?<=phased::){side}", "Phased" + side)
    name(rf"(?<=shuffled::){side}", "Shuffled" + side)
    name(side, "Hashed" + side + "OfAny", "crates/ot/tests/forms.rs", "crates/ot/tests/chosen.rs")

name("State", "RunState", "crates/page", "crates/host/src/record.rs", "crates/cli/src/reports.rs")
name("State", "PoolState", "crates/pool")
name("State", "StepState", "crates/trio/src/lib.rs", "crates/trio/src/roles.rs")
name("State", "CancelState", "crates/net/src/cancel.rs")
name("State", "QueueState", "crates/net/src/queue.rs")
name("State", "WakerState", "crates/net/src/waker.rs")
name("State", "ScanState", "crates/tables/src/records.rs")
name("State", "SchedulerState", "crates/testkit/src/simulator/scheduler.rs")
name("State", "ExtensionState", "crates/ot/src/ferret/run.rs")
name("State", "Sha1State", "crates/circuit/src/sha1.rs")
name("State", "Sha256State", "crates/circuit/src/sha256.rs")

PENDING = r"(?<!type )(?<!Self::)(?<!W::)(?<!P::)(?<!as Steps>::)Pending"
name(PENDING, "ClearPending", "crates/clear")
name(PENDING, "FakePending", "crates/testkit/src/fake*", "docs/develop/adding-a-protocol.md")
name(PENDING, "OfflinePending", "crates/testkit/src/masked/offline*")
name(PENDING, "OnlinePending", "crates/testkit/src/masked/online*")
name(PENDING, "TrioPending", "crates/trio")
name(PENDING, "YaoPending", "crates/yao")
name("Pending", "DirectionDigest", "crates/net/src/channel.rs")

name("Place", "LineColumn", "crates/tables/src/records.rs", "crates/tables/src/csv_table.rs")
name("Place", "ServedFolders", "crates/cli/tests/serve.rs", "hardware/*tests/serve.rs")
name("Place", "MaterialKey", "crates/engine/src/execute.rs")
name("Place", "AngleMap", "crates/numeric/src/arcs.rs")
name("Place", "GroupFraction", "crates/numeric/src/elementary/inverse.rs")
name("Place", "OtIndex", "crates/ot/src/triples/outer.rs")
name("Place", "TileStep", "crates/plan/src/cost*")
name(
    "Place",
    "Membership",
    "crates/trio/src/lib.rs",
    "crates/trio/src/views/world.rs",
    "crates/trio/src/views/model.rs",
)
name("Place", "OpeningPlace", "crates/trio/src/masked*")

name("Shape", "TextLayout", "crates/aead")
name(
    "Shape",
    "ProductShape",
    "crates/circuit/src/word/plans.rs",
    "crates/circuit/src/word/multiply.rs",
)
name("Shape", "CurveShape", "crates/numeric/src/fixed/*")
name("Shape", "OuterShape", "crates/ot/src/triples*")
name(
    "Shape",
    "RecordCounts",
    "crates/serve",
    "hardware/*serve*",
    "fuzz/src/served.rs",
    "hardware/*fuzz/*served.rs",
)

name("Machine", "EngineState", "crates/accel/src/engine.rs", "hardware/*accel/src/engine.rs")
name(
    "Machine",
    "Workers",
    "crates/garble/src/machine.rs",
    "crates/garble/src/garbler.rs",
    "crates/garble/src/evaluator.rs",
)
name(
    "(?<!Fault::)Machine",
    "RtlMachine",
    "crates/serve",
    "hardware",
    "crates/cli/src/serve.rs",
    "crates/memcheck/src/serving.rs",
    lacking=r"use sealane_circuit::[^;]*\bMachine\b|struct EngineState",
)
name(
    "Machine",
    "MachineRecord",
    "bench",
    "crates/cli/src/tools.rs",
    lacking=r"use sealane_circuit::[^;]*\bMachine\b",
)
name(
    "Machine",
    "Runtime",
    "crates/net",
    "crates/testkit/src/simulator*",
    "crates/testkit/tests/simulator.rs",
    "crates/engine/tests/common/simulated.rs",
)
name("(?<=sealane_net::)Machine", "Runtime")
name("Machine", "Interpreter", "crates/plan/tests/common")

name("Run", "RunFigures", "bench/src/trio/mod.rs", "bench/*trio/mod.rs")
name("Run", "BenchRun", "crates/accel/tests/rtl", "hardware/*tests/rtl/*")
name(
    "Run",
    "RunningExtension",
    "crates/ot/src/ferret/run.rs",
    "crates/ot/src/ferret/sender.rs",
    "crates/ot/src/ferret/receiver.rs",
)
name("Run", "Extended", "crates/ot/tests/softspoken.rs")
name("Run", "StridedRun", "crates/plan/src/place.rs")
name("Run", "CycleSource", "crates/serve/src/device/software.rs", "hardware/*device/software.rs")
name("Run", "MaskedTape", "crates/trio/src/masked/mod.rs")
name("Run", "TestedSteps", "crates/trio/src/views*")

name(
    "Kind",
    "ValueKind",
    "crates/numeric",
    "bench/src/math",
    "bench/*math/*",
    "crates/program/src/call.rs",
    "crates/program/src/builder/operations.rs",
    "crates/plan/src/lower/numeric.rs",
)
name("(?<=sealane_numeric::)Kind", "ValueKind")
name("Kind", "GateKind", "crates/circuit")
name("Kind", "PartKind", "bench/src/ot.rs", "bench/src/ot/*", "bench/*/ot.rs", "bench/*/ot/*")
name("Kind", "ProductKind", "bench/tests/timing", "bench/*timing/*")
name(
    "(?<!kind::)Kind",
    "Parameters",
    "crates/ot/src/traits/forms.rs",
    "crates/ot/src/triples*",
    "crates/ot/tests/triples.rs",
)

# --- the glossary -------------------------------------------------------------------------------
everywhere(r"(?m)^\| crate, layer \|.*\n", "", "docs/develop/glossary.md")
everywhere(r"(?m)^\| room, floor \|.*\n?", "", "docs/develop/glossary.md")

# Old words that must be gone: what, pattern, globs, kinds of pieces.
CODE = ("code",)
GONE = [
    ("room: a crate", r"\b[Rr]oom `|\b[Rr]ooms\b|\bthis room\b", PROSE, ("comment", "page")),
    ("floor: a layer", r"\bfloors? (?:below|above|\d)|\bon floors\b", PROSE, ("all",)),
    ("goods", r"\b[Gg]oods\b|GoodsSource", ("*.rs", "docs/*"), ("code", "comment", "page")),
    ("Cast of a run", r"(?<!Op::)\bCast\b", CAST, CODE),
    ("Weave", r"\b[Ww]eave\b", ("crates/*",), ("code", "comment")),
    ("Seat", r"\b[Ss]eat\b", ("crates/*",), ("code", "comment")),
    ("Lines of trio", r"\bLines\b", ("crates/trio/*",), CODE),
    (
        "beside as a name",
        r"(?:fn |::|mod )beside\b|_beside\b|\bBeside\b",
        (
            "crates/block/*",
            "crates/aead/*",
            "crates/party/*",
            "crates/trio/*",
            "crates/yao/*",
            "crates/plan/*",
        ),
        CODE,
    ),
    ("told as a name", r"\btold\b|\bTold\b", ("*.rs",), CODE),
    ("Way", r"\bWay\b", ("*.rs",), CODE),
    ("Meet", r"\bMeet\b", ("*.rs",), CODE),
    ("Home", r"\bHome\b", ("*.rs",), CODE),
    ("module points", r"\bmod points\b|crate::points", ("*.rs",), CODE),
    ("papers", r"\bpapers\b", ("crates/*", "fuzz/*", "python/*"), CODE),
    ("--papers", r"--papers\b", ("docs/*", "*.md"), ("page",)),
    (
        "Gadget, World, Flaw, Astray, Spares",
        r"\b(?:Gadget|World|Flaw|Astray|Spares|gadget|flaw|astray)\b",
        ("crates/*",),
        CODE,
    ),
    (
        "turn of the engine",
        r"\bTurns?\b|\bTURNS?\b|MAX_TURN",
        (
            "crates/engine/*",
            "crates/page/*",
            "crates/block/*",
            "crates/garble/*",
            "crates/accel/*",
            "hardware/*",
        ),
        CODE,
    ),
    ("turn in hardware", r"\bturns?\b", ("rtl/*", "hardware/rtl/*"), ("all",)),
    *(
        (
            f"types named {one}",
            rf"\b(?:struct|enum|trait) {one}\b|\btype {one} =",
            ("crates/*", "bench/*", "fuzz/*", "hardware/*"),
            CODE,
        )
        for one in (
            "Table",
            "Sender",
            "State",
            "Pending",
            "Place",
            "Shape",
            "Machine",
            "Run",
            "Kind",
        )
    ),
]
