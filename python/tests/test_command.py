"""Sessions with the `sealane` command: what it prints, and with which status it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import conftest
import pages
from conftest import SEALANE, configure, ended, started

PROGRAM = '''\
import sealane as sl


@sl.program
def over(
    x: sl.Private[sl.u8, "alice", "rows <= 5"],
    limit: sl.Private[sl.u8, "bob"],
) -> tuple[sl.Revealed[sl.boolean, "alice"], sl.Revealed[sl.u16, "bob"]]:
    """Which are over a limit, and their number."""
    flags = x > limit
    return flags, flags.sum(dtype=sl.u16)
'''


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a program and the data of both parties, which commands run in."""
    monkeypatch.chdir(tmp_path)
    Path("program.py").write_text(PROGRAM, encoding="utf-8")
    Path("alice.csv").write_text("name,x\nann,3\nben,200\ncyd,7\n", encoding="utf-8")
    Path("bob.csv").write_text("limit\n6\n", encoding="utf-8")
    return tmp_path


def sealane(
    *arguments: str, status: int = 0, **environment: str
) -> subprocess.CompletedProcess[str]:
    options: Any = {"stdin": subprocess.DEVNULL, "env": {**os.environ, **environment}}
    return conftest.sealane(*arguments, status=status, **options)


def read_json(*arguments: str) -> Any:
    return json.loads(sealane(*arguments, "--json").stdout)


def side(party: str, job: str, *options: str, program: str = "program.py") -> subprocess.Popen[str]:
    """A run of one party that is under way."""
    command = ["run", program, "--as", party, "--yes", job, "--config", "sealane.toml", *options]
    command += ["--input", f"{party}.csv"] if party in ("alice", "bob") else []
    return started([*SEALANE, *command])


def test_help_lists_verbs_and_statuses() -> None:
    text = sealane("--help").stdout
    for verb in ("check", "plan", "simulate", "run", "init", "card", "peer", "doctor"):
        assert f"\n  {verb} " in text
    assert "70  a bug in Sealane" in text
    assert sealane("--version").stdout.startswith("sealane ")
    assert "unrecognized" in sealane("forge", status=2).stderr
    bare = sealane(status=2).stderr
    assert "error[" not in bare
    assert "\n  check " in bare


def test_check_prints_who_gives_and_who_learns() -> None:
    text = sealane("check", "program.py").stdout
    assert "alice: x u8[rows]" in text
    assert "bob: result_1 u16" in text
    found = read_json("check", "program.py")
    assert found["parties"] == ["alice", "bob"]
    assert found["warnings"] == []


def test_the_text_form_is_the_same_program() -> None:
    text = sealane("check", "program.py", "--text").stdout
    Path("program.sealane").write_text(text, encoding="utf-8")
    jobs = {read_json("plan", name)["job"] for name in ("program.py", "program.sealane")}
    assert len(jobs) == 1
    Path("broken.sealane").write_text(text.replace("reveal", "unveil", 1), encoding="utf-8")
    error = sealane("check", "broken.sealane", status=3).stderr
    assert error.startswith("error[syntax]")
    assert "broken.sealane:" in error


def test_plan_is_for_the_rows_that_are_stated() -> None:
    most, some = (
        read_json("plan", "program.py"),
        read_json("plan", "program.py", "--rows", "rows=3"),
    )
    assert most["rows"] == {"rows": 5}
    assert some["rows"] == {"rows": 3}
    assert most["job"] == some["job"]
    assert sum(some["payload_bytes"].values()) < sum(most["payload_bytes"].values())
    assert some["job"] in sealane("plan", "program.py").stdout.splitlines()[-1]
    assert "reveal" in sealane("plan", "program.py", "--steps").stdout
    assert (
        "no rows named `row`" in sealane("plan", "program.py", "--rows", "row=3", status=2).stderr
    )
    assert read_json("plan", "program.py", "--network", "wan")["job"] != some["job"]
    declared = read_json("plan", "program.py", "--network", "22ms/104Mbps")
    assert declared["network"] == "20ms/100Mbps" and declared["job"] != some["job"]
    wrong = sealane("plan", "program.py", "--network", "man", status=2)
    assert "such as `20ms/100Mbps`" in wrong.stderr


def test_rows_of_several_tables_are_stated_in_one_option_or_in_several() -> None:
    text = PROGRAM.replace('"bob"],\n', '"bob", "limits <= 7"],\n', 1).replace("x > limit", "x > 3")
    Path("two.py").write_text(text, encoding="utf-8")
    wanted = read_json("plan", "two.py", "--rows", "rows=2", "--rows", "limits=3")
    assert wanted["rows"] == {"rows": 2, "limits": 3}
    assert read_json("plan", "two.py", "--rows", "rows=2,limits=3") == wanted
    for wrong in ("rows=2,3", "rows=x", "5", "rows"):
        told = sealane("plan", "two.py", "--rows", wrong, status=2).stderr
        assert "write NAME=COUNT, such as patients=569; of several, a=100,b=1000" in told, told


def test_a_protocol_for_fewer_parties_names_others_and_their_helpers() -> None:
    names = ("ann", "ben", "cyd", "dan", "eve")
    inputs = ", ".join(f'{name}: sl.Private[sl.u8, "{name}"]' for name in names)
    text = f'@sl.program\ndef most({inputs}) -> sl.Revealed[sl.u8, "ann"]:\n'
    text += "    return sl.maximum(sl.maximum(ann, ben), sl.maximum(sl.maximum(cyd, dan), eve))\n"
    Path("five.py").write_text(f"import sealane as sl\n\n{text}", encoding="utf-8")
    told = sealane("plan", "five.py", status=2).stderr
    own = "name 2 helpers who compute for them (`--helpers ada,bob`)"
    other = "choose `--protocol trio --helpers ada,bob,helper1`"
    assert f"hint: {own}, or {other}" in told, told
    for followed, parties in (
        (["--helpers", "ada,bob"], 7),
        (["--protocol", "trio", "--helpers", "ada,bob,helper1"], 8),
    ):
        assert len(read_json("plan", "five.py", *followed)["parties"]) == parties
    told = sealane("plan", "program.py", "--helpers", "ada", status=2).stderr
    ways = "name no helper: the program's parties compute, or name 2 helpers who compute for them"
    assert f"{ways} (`--helpers ada,cyd`), or choose `--protocol trio`" in told
    told = sealane("plan", "program.py", "--protocol", "trio", status=2).stderr
    assert told.rstrip().endswith("or choose `--protocol yao`"), told


def test_simulate_reads_the_files_of_all_parties() -> None:
    inputs = ["--input", "alice=alice.csv", "--input", "limit=bob.csv"]
    report = read_json("simulate", "program.py", *inputs)
    assert report["results"]["result_0"]["values"] == [False, True, True]
    assert report["results"]["result_1"]["values"] == [2]
    assert report["as_planned"] is True
    assert report["cpu_seconds"] > 0
    clear = read_json("simulate", "program.py", "--clear", *inputs)
    assert clear["results"] == report["results"]
    assert clear["protocol"] == "clear"


def test_a_local_run_is_one_process_for_each_party() -> None:
    plan = read_json("plan", "program.py", "--rows", "rows=3")
    report = read_json("run", "program.py", "--local", *INPUTS, "--output", "out.csv")
    for key in ("payload_bytes", "rounds", "job", "rows"):
        assert report[key] == plan[key]
    parties = report["parties"]
    used = [party["cpu_seconds"] for party in parties.values()]
    assert min(used) > 0 and report["cpu_seconds"] == sum(used)
    work = plan["work"]
    assert (work["run"], work["round"]) == (1, plan["rounds"])
    assert work["garbled_and"] == plan["ands"]
    assert work["payload_byte"] == sum(plan["payload_bytes"].values())
    assert parties["alice"]["results"]["result_0"]["values"] == [False, True, True]
    assert parties["alice"]["results"].keys() == {"result_0"}
    assert parties["bob"]["results"]["result_1"]["values"] == [2]
    assert Path("out.alice.csv").read_text() == "result_0\n0\n1\n1\n"
    assert Path("out.bob.csv").read_text() == "result_1\n2\n"
    text = sealane("run", "program.py", "--local", *INPUTS, "--output", "out.csv").stdout
    assert "alice │ learnt         result_0: [false, true, true]" in text
    assert "bob   │ learnt         result_1: 2" in text


def test_a_local_run_starts_the_helpers_too() -> None:
    job = ["--clear", "--helpers", "cyd,ada"]
    plan = read_json("plan", "program.py", *job, "--rows", "rows=3")
    assert plan["parties"] == ["alice", "bob", "cyd", "ada"]
    assert plan["helpers"] == ["cyd", "ada"]
    assert plan["computing"] == plan["parties"]
    assert plan["roles"] == {}
    report = read_json("run", "program.py", "--local", *job, *INPUTS)
    for key in ("payload_bytes", "rounds", "job"):
        assert report[key] == plan[key]
    assert report["as_planned"] is True
    parties = report["parties"]
    assert parties.keys() == set(plan["parties"])
    assert parties["alice"]["results"]["result_0"]["values"] == [False, True, True]
    assert parties["ada"]["results"] == parties["cyd"]["results"] == {}
    text = sealane("run", "program.py", "--local", *job, *INPUTS).stdout
    assert "ada   │ did            computed" in text
    assert "ada   │ learnt         nothing but the numbers of rows" in text
    assert "alice │ did            gave x and computed" in text


def test_a_plan_says_who_computes() -> None:
    plan = read_json("plan", "program.py")
    assert plan["computing"] == ["alice", "bob"]
    assert plan["helpers"] == []
    assert plan["roles"].keys() == {"garbler", "evaluator"}
    garbler, evaluator = plan["roles"]["garbler"], plan["roles"]["evaluator"]
    text = sealane("plan", "program.py").stdout
    assert f"{garbler} as garbler" in text
    assert f"{evaluator} as evaluator" in text


def test_helpers_that_cannot_be_are_refused() -> None:
    plan = ["plan", "program.py", "--clear", "--helpers"]
    assert "`bob` cannot be a helper" in sealane(*plan, "ada,bob", status=2).stderr
    assert "two helpers are called `ada`" in sealane(*plan, "ada,ada", status=2).stderr
    assert "cannot be called ``" in sealane(*plan, "ada,", status=2).stderr
    error = sealane("plan", "program.py", "--helpers", "ada", status=2).stderr
    assert error.startswith("error[parties]: protocol `yao` computes with 2 parties")
    assert "name no helper" in error
    error = sealane("plan", "program.py", "--protocol", "moon", status=2).stderr
    assert "possible values: yao" in error
    local = ["run", "program.py", "--local", "--clear", "--helpers", "ada", "--input"]
    assert "names a helper" in sealane(*local, "ada=ada.csv", status=2).stderr


def test_a_configuration_names_the_helpers() -> None:
    parties = ("alice", "bob", "ada", "cyd")
    config(parties=parties)
    # The command wins over the file, which is wrong for the one who names them himself.
    text = Path("sealane.toml").read_text(encoding="utf-8")
    Path("sealane.toml").write_text('helpers = ["ada", "cyd"]\n' + text, encoding="utf-8")
    Path("cyd.toml").write_text('helpers = ["cyd"]\n' + text, encoding="utf-8")
    job = read_json("plan", "program.py", "--clear", "--helpers", "ada,cyd")["job"]
    command = [*SEALANE, "run", "program.py", "--clear"]
    command += ["--json", "--yes", job]
    sides = {}
    for party in parties:
        options = ["--as", party, "--config", "sealane.toml"]
        if party == "cyd":
            options = ["--as", party, "--config", "cyd.toml", "--helpers", "ada,cyd"]
        if party in ("alice", "bob"):
            options += ["--input", f"{party}.csv"]
        sides[party] = subprocess.Popen([*command, *options], stdout=-1, text=True)
    reports = {party: json.loads(side.communicate(timeout=60)[0]) for party, side in sides.items()}
    assert reports["alice"]["results"]["result_0"]["values"] == [False, True, True]
    assert reports["bob"]["results"]["result_1"]["values"] == [2]
    assert reports["ada"]["results"] == reports["cyd"]["results"] == {}
    assert len({json.dumps(report["payload_bytes"]) for report in reports.values()}) == 1
    run = ["run", "program.py", "--clear", "--config", "sealane.toml", "--yes", job, "--as"]
    assert "has no input" in sealane(*run, "ada", "--input", "alice.csv", status=4).stderr
    assert "names `dan`" in sealane(*run, "dan", status=2).stderr


def test_helpers_in_another_order_are_told_to_all() -> None:
    parties = ("alice", "bob", "ada", "cyd")
    config(parties=parties)
    sides = []
    for party in parties:
        helpers = ["--clear", "--helpers", "cyd,ada" if party == "ada" else "ada,cyd"]
        sides.append(side(party, read_json("plan", "program.py", *helpers)["job"], *helpers))
    errors = [ended(side, 5).stderr for side in sides]
    assert all("the list of parties and helpers" in error for error in errors), errors
    lists = ("[alice, bob, ada, cyd]", "[alice, bob, cyd, ada]")
    assert all(each in error for error in errors for each in lists), errors


def test_a_local_run_fails_as_its_first_party_does() -> None:
    Path("alice.csv").write_text("x\n3\n300\n", encoding="utf-8")
    error = sealane("run", "program.py", "--local", *INPUTS, status=4).stderr
    assert "alice.csv:3:1" in error
    _, _, failed = error.partition("error[party-failed]")
    pages.shows("party-failed", f"error[party-failed]{failed.replace('alice', 'lab')}")


def test_two_sides_with_a_configuration() -> None:
    config()
    job = read_json("plan", "program.py")["job"]
    sides = [side(party, job, "--json") for party in ("alice", "bob")]
    alice, bob = (json.loads(ended(side).stdout) for side in sides)
    assert alice["results"]["result_0"]["values"] == [False, True, True]
    assert bob["results"]["result_1"]["values"] == [2]
    assert alice["payload_bytes"] == bob["payload_bytes"]
    assert alice["rounds"] == bob["rounds"]


def test_nothing_runs_without_approval() -> None:
    config()
    job = read_json("plan", "program.py")["job"]
    run = ["run", "program.py", "--as", "bob", "--input", "bob.csv", "--config", "sealane.toml"]
    error = sealane(*run, status=2).stderr
    assert f"add `--yes {job}`" in error
    assert "not the approved job" in sealane(*run, "--yes", "0" * 64, status=2).stderr
    assert "does not approve" in sealane(*run, "--yes", job[:12], status=2).stderr


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal")
@pytest.mark.parametrize(("answer", "status"), [("yes", 5), ("no", 2)])
def test_a_terminal_is_asked(answer: str, status: int) -> None:
    config(timeout_s=0.5)
    job = read_json("plan", "program.py")["job"]
    command = [*SEALANE, "run", "program.py", "--as", "bob"]
    command += ["--input", "bob.csv", "--config", "sealane.toml"]
    ours, theirs = os.openpty()
    child = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = ""
    while "approve it: " not in shown:
        shown += os.read(ours, 4096).decode()
    assert job in shown
    os.write(ours, f"{answer}\n".encode())
    # Nobody plays alice, so an approved run ends with the status of the network.
    assert child.wait(timeout=30) == status
    os.close(ours)


def test_other_jobs_are_told_apart() -> None:
    config()
    Path("other.py").write_text(PROGRAM.replace("x > limit", "x >= limit"), encoding="utf-8")
    sides = [
        side(party, read_json("plan", program)["job"], program=program)
        for party, program in (("alice", "program.py"), ("bob", "other.py"))
    ]
    errors = [ended(side, 5).stderr for side in sides]
    assert any("the program differs" in error for error in errors)


def test_data_are_refused_before_any_connection() -> None:
    config()
    job = read_json("plan", "program.py")["job"]
    run = ["run", "program.py", "--as", "alice", "--config", "sealane.toml", "--yes", job]
    for text, words in [
        ("y\n3\n", ["`x`", "alice.csv"]),
        ("x\nmany\n", ["alice.csv:2:1", "many"]),
        ("x\n3\n256\n", ["alice.csv:3:1", "256"]),
        ("x\n" + "1\n" * 6, ["more than 5 records", "rows <= 5"]),
    ]:
        Path("alice.csv").write_text(text, encoding="utf-8")
        error = sealane(*run, "--input", "alice.csv", status=4).stderr
        for word in words:
            assert word in error


def test_a_single_value_beside_a_table_has_a_file_of_its_own() -> None:
    both = PROGRAM.replace('limit: sl.Private[sl.u8, "bob"]', 'limit: sl.Private[sl.u8, "alice"]')
    both = both.replace('"alice"], sl.Rev', '"bob"], sl.Rev')
    Path("program.py").write_text(both, encoding="utf-8")
    Path("both.csv").write_text("x,limit\n3,6\n200,6\n", encoding="utf-8")
    error = sealane("simulate", "program.py", "--input", "alice=both.csv", status=4).stderr
    assert "where `limit` wants 1" in error
    assert "a file of its own, `--input limit=FILE`" in error
    inputs = ["--input", "alice=both.csv", "--input", "limit=bob.csv"]
    found = read_json("simulate", "program.py", *inputs)
    assert found["results"]["result_1"]["values"] == [1]


def test_configurations_are_refused_with_their_place() -> None:
    config()
    good = Path("sealane.toml").read_text(encoding="utf-8")
    run = ["run", "program.py", "--as", "alice", "--input", "alice.csv", "--config", "sealane.toml"]
    Path("sealane.toml").write_text("speed = 3\n" + good, encoding="utf-8")
    error = sealane(*run, status=2).stderr
    assert "sealane.toml:1:1" in error
    assert "1 | speed = 3\n  | ^^^^^" in error
    Path("sealane.toml").write_text(
        good.replace("[parties.bob]", "[parties.rob]"), encoding="utf-8"
    )
    assert "lacks the party `bob`" in sealane(*run, status=2).stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import sealane as sl\n", ["defines no program", "@sl.program"]),
        (
            PROGRAM + PROGRAM.replace("def over", "def above").partition("\n")[2],
            ["defines 2 programs", "`program.py:over`", "`program.py:above`"],
        ),
        (PROGRAM.replace("x > limit", "x > limit if x > 3 else x"), ["program.py:10:26", "^^^^^"]),
        ("import sealane as sl\n1 / 0\n", ["ZeroDivisionError", "program.py:2:1"]),
        ("def f(:\n", ["is no Python: invalid syntax", "program.py:1:7"]),
    ],
)
def test_programs_that_cannot_be_loaded(text: str, words: list[str]) -> None:
    Path("program.py").write_text(text, encoding="utf-8")
    error = sealane("check", "program.py", status=3).stderr
    for word in words:
        assert word in error


def test_one_of_several_programs_is_named() -> None:
    both = PROGRAM + PROGRAM.replace("def over", "def above").partition("\n")[2]
    Path("program.py").write_text(both, encoding="utf-8")
    assert read_json("check", "program.py:above")["name"] == "above"
    assert "no program `below`" in sealane("check", "program.py:below", status=3).stderr
    assert "there is no program" in sealane("check", "nothing.py", status=2).stderr


def test_doctor_names_the_tier_in_use() -> None:
    found = read_json("doctor")
    assert found["tier"] == found["tiers"][-1]
    assert found["tiers"][0] == "portable"
    done = sealane("doctor", "--json", SEALANE_TIER="portable")
    assert json.loads(done.stdout)["tier"] == "portable"
    assert "quantum" in sealane("doctor", status=2, SEALANE_TIER="quantum").stderr


FULL_ADDER = """\
5 8
3 1 1 1
2 1 1

2 1 0 1 3 XOR
2 1 3 2 6 XOR
2 1 3 2 4 AND
2 1 0 1 5 AND
2 1 4 5 7 XOR
"""


def test_circuits_are_counted_and_evaluated() -> None:
    Path("adder.txt").write_text(FULL_ADDER, encoding="utf-8")
    found = read_json("circuit", "info", "adder.txt")
    assert found["format"] == "Bristol Fashion"
    counts = {key: found[key] for key in ("wires", "gates", "ands", "xors", "depth")}
    assert counts == {"wires": 8, "gates": 5, "ands": 2, "xors": 3, "depth": 1}
    ones = ["--in", "0x1", "--in", "0x1", "--in", "0x1"]
    assert sealane("circuit", "eval", "adder.txt", *ones).stdout == "0x1\n0x1\n"
    assert read_json("circuit", "eval", "adder.txt", *ones) == {"outputs": ["0x1", "0x1"]}
    assert "3" in sealane("circuit", "eval", "adder.txt", "--in", "0x1", status=2).stderr
    Path("adder.txt").write_text(FULL_ADDER.replace("AND", "NAND", 1), encoding="utf-8")
    assert "line 7" in sealane("circuit", "info", "adder.txt", status=2).stderr


def test_what_a_program_prints_does_not_mix_with_what_the_command_prints() -> None:
    noisy = PROGRAM.replace("    flags =", "    print('traced')\n    flags =") + "print('loaded')\n"
    Path("program.py").write_text(noisy, encoding="utf-8")
    ended = sealane("plan", "program.py", "--json")
    assert json.loads(ended.stdout)["program"] == "over"
    assert ended.stderr.split() == ["loaded", "traced"]


def test_a_program_may_be_called_like_a_module() -> None:
    # In a folder of its own, since `python -m` looks for modules in this one.
    Path("programs").mkdir()
    Path("program.py").rename("programs/sealane.py")
    assert "over is sound" in sealane("check", "programs/sealane.py").stdout


def config(timeout_s: float = 20, parties: tuple[str, ...] = ("alice", "bob")) -> None:
    configure(Path(), parties, f"[limits]\ntimeout_s = {timeout_s}")


INPUTS = ("--input", "alice=alice.csv", "--input", "bob=bob.csv")
