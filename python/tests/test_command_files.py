"""Files that the `sealane` command reads and writes: errors, results, runs, full disks."""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import test_command
from conftest import ran
from test_command import INPUTS, PROGRAM, config, read_json, sealane

# The fixture that makes the folder of each test.
folder = test_command.folder


def test_a_folder_for_results_that_is_missing_is_found_before_the_run() -> None:
    run = ["simulate", "program.py", "--input", "alice=alice.csv", "--input", "bob=bob.csv"]
    ended = sealane(*run, "--output", "nowhere/out.csv", status=2)
    assert ended.stdout == ""
    assert "a folder that exists" in ended.stderr


def test_the_page_of_a_run_is_made_from_its_events_whatever_lies_there() -> None:
    sealane("simulate", "program.py", *INPUTS, "--runs", "runs")
    page = Path(sealane("report", "--print").stdout.strip())
    page.write_text("<script>from elsewhere</script>", encoding="utf-8")
    assert Path(sealane("report", "--print").stdout.strip()) == page
    text = page.read_text(encoding="utf-8")
    assert "elsewhere" not in text
    assert "over" in text


NO_FILES = ("--input", "alice=none.csv", "--input", "bob=none.csv")


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        (["check", "nothing.py"], 2, "no-file"),
        (["plan", "program.py", "--rows", "none=3"], 2, "unknown-rows"),
        (["simulate", "program.py"], 4, "data-missing"),
        (["run", "program.py", "--config", "none.toml"], 2, "config-unreadable"),
        (["run", "program.py", "--local"], 4, "data-missing"),
        (["run", "program.py", "--local", *NO_FILES], 4, "party-failed"),
        (["report"], 2, "no-run"),
        (["doctor", "--config", "none.toml"], 2, "config-unreadable"),
        (["peer", "list"], 2, "config-unreadable"),
        (["psi", "match", "none.csv"], 4, "data-unreadable"),
        (["seal", "nothing", "--key-file", "key"], 4, "seal-input"),
        (["open", "nothing", "--key-file", "key"], 4, "seal-input"),
        (["circuit", "info", "nothing.txt"], 2, "circuit-file"),
        (["plan", "program.py", "--forge"], 2, "command-line"),
    ],
)
def test_errors_are_json_where_that_is_asked_for(words: list[str], status: int, code: str) -> None:
    done = sealane(*words, "--json", status=status)
    assert done.stdout == ""
    error = json.loads(done.stderr.splitlines()[-1])["error"]
    keys = {"code", "kind", "status", "message", "file", "line", "column", "reason", "hint"}
    assert set(error) == keys
    assert (error["code"], error["status"]) == (code, status)


def test_what_was_written_is_listed() -> None:
    done = sealane("simulate", "program.py", *INPUTS, "--output", "out.csv")
    assert "\nwrote          out.csv\n               out.single.csv" in done.stdout
    both = PROGRAM.replace(
        '"alice"], sl.Revealed[sl.u16, "bob"]', '"bob"], sl.Revealed[sl.u16, "bob"]'
    )
    Path("program.py").write_text(both, encoding="utf-8")
    found = read_json("run", "program.py", "--local", *INPUTS, "--output", "found.csv")
    assert found["parties"]["bob"]["files"] == ["found.bob.csv", "found.bob.single.csv"]
    assert found["parties"]["alice"]["files"] == []
    assert Path("found.bob.single.csv").read_text(encoding="utf-8") == "result_1\n2\n"
    assert not list(Path().glob("found.alice*"))


def test_results_never_replace_an_input() -> None:
    config()
    before = Path("alice.csv").read_bytes()
    Path("sub").mkdir()
    Path("link.csv").symlink_to("alice.csv")
    run = ["run", "program.py", "--as", "alice", "--input", "alice.csv", "--config", "sealane.toml"]
    for output in ("alice.csv", "sub/../alice.csv", "link.csv"):
        for command in (["simulate", "program.py", *INPUTS], run):
            error = sealane(*command, "--output", output, status=2).stderr
            assert "results would take the place of" in error
    # Of a local run each party has a file of its own, and so has each table.
    Path("bob.alice.csv").write_bytes(before)
    local = ["run", "program.py", "--local", "--input", "alice=bob.alice.csv", *INPUTS[2:]]
    assert "take the place" in sealane(*local, "--output", "bob.csv", status=2).stderr
    Path("out.single.csv").write_bytes(before)
    single = ["simulate", "program.py", "--input", "alice=out.single.csv", *INPUTS[2:]]
    assert "take the place" in sealane(*single, "--output", "out.csv", status=2).stderr
    for file in ("alice.csv", "bob.alice.csv", "out.single.csv"):
        assert Path(file).read_bytes() == before


def on_a_full_disk(*arguments: str) -> subprocess.CompletedProcess[str]:
    """A command whose files cannot have more than ten bytes."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))

    command = [sys.executable, "-B", "-m", "sealane", *arguments]
    return ran(command, preexec_fn=limit)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_full_disk_leaves_the_old_results_and_prints_the_new_ones(ending: str) -> None:
    output = Path(f"out.{ending}")
    output.write_text("old results", encoding="utf-8")
    before = sorted(Path().iterdir())
    done = on_a_full_disk("simulate", "program.py", *INPUTS, "--no-record", "--output", str(output))
    assert done.returncode == 2
    assert f"error[output]: results cannot be written to {output}" in done.stderr
    assert "result_1: 2" in done.stdout
    assert output.read_text(encoding="utf-8") == "old results"
    assert sorted(Path().iterdir()) == before


def test_a_full_disk_loses_no_element_of_long_results() -> None:
    Path("program.py").write_text(PROGRAM.replace("rows <= 5", "rows <= 50"), encoding="utf-8")
    ages = [7 * i % 256 for i in range(40)]
    Path("alice.csv").write_text("x\n" + "\n".join(map(str, ages)) + "\n", encoding="utf-8")
    done = on_a_full_disk("simulate", "program.py", *INPUTS, "--no-record", "--output", "out.csv")
    assert done.returncode == 2
    assert "error[output]" in done.stderr
    results = json.loads(done.stdout)["results"]
    assert results["result_0"]["values"] == [age > 6 for age in ages]


def test_init_on_a_full_disk_leaves_nothing_in_the_way() -> None:
    done = on_a_full_disk("init", "alice", "--folder", "new")
    assert done.returncode == 2
    assert "error[config-edit]" in done.stderr
    assert list(Path("new").iterdir()) == []
    sealane("init", "alice", "--folder", "new")


def test_a_damaged_run_hides_no_other_and_a_foreign_one_types_nothing() -> None:
    for _ in range(2):
        sealane("simulate", "program.py", *INPUTS)
    older, newest = sorted(Path("runs").iterdir())
    for damage in ("", "{", '{"program": 7}'):
        (newest / "plan.json").write_text(damage, encoding="utf-8")
        done = sealane("report", "--print")
        assert done.stdout.strip() == str((older / "report.html").resolve())
        assert f"note: {newest} is left out" in done.stderr
        assert older.name in sealane("report", "--list").stdout
        assert sealane("report", newest.name, status=2).stderr.startswith("error[run-unreadable]")
    plan = json.loads((older / "plan.json").read_text(encoding="utf-8"))
    plan["program"] = "over\x1b[2J\x9b1m\u202e\nerror[forged]"
    shutil.copytree(older, "runs/0-\x1b[31mforeign")
    (Path("runs/0-\x1b[31mforeign") / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    listed = sealane("report", "--list").stdout
    assert not set("\x1b\x9b\u202e") & set(listed)
    assert "\nerror" not in listed


def test_a_cell_of_megabytes_is_told_in_a_line() -> None:
    Path("alice.csv").write_text(f"x\n{'7' * 4_000_000}a\n", encoding="utf-8")
    error = sealane("simulate", "program.py", *INPUTS, status=4).stderr
    assert len(error) < 4000
    assert "in column `x` is not a whole number" in error
    Path("alice.csv").write_text(f"x\n{'7' * 4_000_000}\n", encoding="utf-8")
    assert len(sealane("simulate", "program.py", *INPUTS, status=4).stderr) < 4000
