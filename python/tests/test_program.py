"""Programs in Python: signatures, plans, simulations, runs, and what is wrong with data."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest

import sealane as sl
from conftest import configure, run_all

FEATURES = ["radius", "texture"]


@sl.program
def risk(
    x: sl.Private[sl.u16, "hospital", "patients <= 10_000", FEATURES],
    w: sl.Private[sl.i16, "lab", FEATURES],
    threshold: sl.Private[sl.i32, "lab"],
) -> sl.Revealed[sl.boolean, "hospital"]:
    """Patients at risk."""
    return sl.dot(x, w, dtype=sl.i64) > threshold


TABLE = [[10, 20], [30, 1], [0, 0]]
WEIGHTS = [3, -1]


def test_a_call_simulates() -> None:
    flags = risk(TABLE, WEIGHTS, 15)
    assert flags.dtype == np.bool_
    assert flags.tolist() == [False, True, False]
    assert risk(np.array(TABLE, dtype=np.uint8), w=WEIGHTS, threshold=np.int8(15)).tolist() == [
        False,
        True,
        False,
    ]


def test_plan_and_report_agree() -> None:
    plan = risk.plan(rows=3)
    report = risk.simulate(TABLE, WEIGHTS, 15)
    assert plan.rows == {"patients": 3}
    assert report.payload_bytes == plan.payload_bytes
    assert report.rounds == plan.rounds
    assert plan.payload_bytes.keys() == {"hospital", "lab"}
    assert report.plan.hash == plan.hash == risk.hash == risk.plan().hash
    assert risk.plan(network="wan").hash != risk.hash
    assert plan.ands > 0
    assert plan.estimate_s["wan"] > plan.estimate_s["lan"]


def test_a_protocol_that_is_weaker_than_what_is_asked_is_refused(tmp_path: Path) -> None:
    assert risk.plan(security="semi-honest").hash == risk.hash
    assert risk.simulate(TABLE, WEIGHTS, 15, security="semi-honest").as_planned
    config = configure(tmp_path, risk.parties)
    own = {"party": "lab", "config": config, "input": {"w": WEIGHTS, "threshold": 15}}
    yao: dict[str, Any] = {"protocol": "yao"}
    asks = [
        lambda security: risk.plan(security=security, **yao),
        lambda security: risk.simulate(TABLE, WEIGHTS, 15, security=security, **yao),
        lambda security: risk.run(approve=risk.hash, security=security, **yao, **own),
    ]
    for ask in asks:
        with pytest.raises(sl.MisuseError, match="`malicious` is asked for") as raised:
            ask("malicious")
        assert raised.value.code == "weaker-protocol"
        with pytest.raises(sl.MisuseError, match="there is no security `high`") as raised:
            ask("high")
        assert raised.value.code == "argument"
    with pytest.raises(sl.MisuseError, match="`clear` withstands nothing"):
        risk.simulate(TABLE, WEIGHTS, 15, clear=True, security="semi-honest")
    compared = risk.plan(compare=True, security="malicious")
    assert compared.protocols == ["trio-malicious", "auth"]
    assert compared.fastest == "auth"
    # The other one takes a third party.
    with pytest.raises(sl.MisuseError, match="computes with 3 parties") as raised:
        risk.plan(protocol="trio", security="malicious")
    assert "yao" not in raised.value.hint
    assert raised.value.hint.endswith("or choose `--protocol auth`")


def test_one_of_three_may_deviate() -> None:
    names: dict[str, Any] = {"protocol": "trio", "helpers": ["ada"]}
    asked = names | {"security": "malicious"}
    plan = risk.plan(**asked)
    assert "trio-malicious" in str(plan)
    assert plan.hash == risk.plan(protocol="trio-malicious", helpers=["ada"]).hash
    assert plan.hash != risk.plan(**names).hash
    report = risk.simulate(TABLE, WEIGHTS, 15, **asked)
    assert report.as_planned
    usual = risk.simulate(TABLE, WEIGHTS, 15, **names)
    assert str(report.results) == str(usual.results)
    text = str(plan)
    assert "withstands     one of " in text
    assert "two of them together" in text
    assert "settlement" in text
    assert "BLAKE3 is a random oracle" in text
    assert "; nothing was opened before the last of them" in str(report)


def test_the_configuration_asks_for_security_and_the_call_overrides_it(tmp_path: Path) -> None:
    config = configure(tmp_path, risk.parties)
    config.write_text('security = "malicious"\n' + config.read_text("utf-8"), "utf-8")
    with pytest.raises(sl.MisuseError) as raised:
        risk.plan(config=config, protocol="yao")
    error = raised.value
    place = (error.file, error.line, error.column, error.end_column)
    assert (error.code, place) == ("weaker-protocol", (str(config), 1, 12, 23))
    assert risk.plan(config=config, compare=True).protocols == ["trio-malicious", "auth"]
    assert risk.plan(config=config).hash == risk.plan(protocol="auth").hash
    assert risk.plan(config=config, security="semi-honest").hash == risk.hash


def test_a_network_is_declared_by_round_trip_and_bandwidth() -> None:
    plan = risk.plan(network="20ms/100Mbps")
    assert plan.hash == risk.plan(network="18.4ms/0.095Gbps").hash
    assert plan.hash not in {risk.hash, risk.plan(network="wan").hash}
    times = plan.estimate_s
    assert times["lan"] < times["20ms/100Mbps"] < times["wan"]
    assert "20ms/100Mbps" in str(plan)
    assert risk.plan(network="500us/1Gbps").hash == risk.hash
    report = risk.simulate(TABLE, WEIGHTS, 15, network="20ms/100Mbps")
    assert report.plan.hash == plan.hash
    with pytest.raises(sl.MisuseError, match="such as `20ms/100Mbps`"):
        risk.plan(network="20ms")
    with pytest.raises(sl.MisuseError, match="bandwidth is `1Mbps` to `100Gbps`"):
        risk.plan(network="20ms/1000Gbps")


def test_clear_gives_the_same_without_cryptography() -> None:
    report = risk.simulate(TABLE, WEIGHTS, 15, clear=True)
    assert report.value.tolist() == [False, True, False]
    assert report.payload_bytes != risk.plan(rows=3).payload_bytes


def test_helpers_take_part() -> None:
    plan = risk.plan(rows=3, protocol="clear", helpers=["ada", "cyd"])
    assert plan.parties == ("hospital", "lab", "ada", "cyd")
    assert plan.payload_bytes.keys() == {"hospital", "lab", "ada", "cyd"}
    assert plan.roles == {}
    assert "computes       hospital, lab, ada, cyd" in repr(plan)
    report = risk.simulate(TABLE, WEIGHTS, 15, protocol="clear", helpers=("ada", "cyd"))
    assert report.value.tolist() == [False, True, False]
    assert report.payload_bytes == plan.payload_bytes
    assert report.plan.hash == plan.hash
    # Their names and their order are part of what is approved.
    assert risk.plan(protocol="clear", helpers=["cyd", "ada"]).hash != plan.hash
    assert risk.plan(protocol="clear").hash != plan.hash


def test_roles_are_played_by_parties() -> None:
    plan = risk.plan()
    assert plan.parties == ("hospital", "lab")
    assert plan.roles.keys() == {"garbler", "evaluator"}
    assert set(plan.roles.values()) == {"hospital", "lab"}
    assert f"{plan.roles['garbler']} as garbler" in repr(plan)


@pytest.mark.parametrize(
    ("helpers", "words"),
    [
        (["lab"], "`lab` cannot be a helper"),
        (["ada", "ada"], "two helpers are called `ada`"),
        (["ada", ""], "helper 2 of 2: a party cannot be called ``"),
        (["ada lovelace"], "letters, digits"),
    ],
)
def test_names_of_helpers_are_checked(helpers: list[str], words: str) -> None:
    with pytest.raises(sl.MisuseError, match=words):
        risk.plan(protocol="clear", helpers=helpers)


def test_helpers_that_do_not_suit_the_protocol() -> None:
    with pytest.raises(sl.MisuseError, match="name no helper") as caught:
        risk.plan(helpers=["ada"])
    assert caught.value.code == "parties"
    with pytest.raises(sl.MisuseError, match=r'write helpers=\["ada", "cyd"\]'):
        risk.plan(protocol="clear", helpers="ada, cyd")
    with pytest.raises(sl.MisuseError, match="is no list of names"):
        risk.plan(protocol="clear", helpers=[1])  # type: ignore[list-item]
    with pytest.raises(sl.MisuseError, match="leave one of them out"):
        risk.simulate(TABLE, WEIGHTS, 15, clear=True, protocol="trio", helpers=["ada"])
    with pytest.raises(sl.MisuseError, match=r"no protocol `moon`(.|\n)*choose one of: yao"):
        risk.simulate(TABLE, WEIGHTS, 15, protocol="moon")


def test_tables_are_printed() -> None:
    assert "risk is sound" in repr(risk.check())
    assert "patients ≤ 10,000" in repr(risk.plan())
    assert risk.hash in repr(risk.plan())
    report = repr(risk.simulate(TABLE, WEIGHTS, 15))
    assert "result: [false, true, false]" in report
    assert "as planned" in report
    assert "but" not in report
    expected = "<sealane program risk(x: hospital, w: lab, threshold: lab) -> result: hospital>"
    assert repr(risk) == expected
    assert risk.__doc__ == "Patients at risk."


def test_the_text_form_names_the_parties() -> None:
    assert risk.parties == ("hospital", "lab")
    assert "rows patients <= 10000" in risk.text
    assert "reveal result" in risk.text


class Split(NamedTuple):
    more: sl.Revealed[sl.u8, "a"]
    less: sl.Revealed[sl.u8, "b"]


def test_named_tuples_keep_their_names() -> None:
    @sl.program
    def f(x: sl.Private[sl.u8, "a"], y: sl.Private[sl.u8, "b"]) -> Split:
        return Split(more=sl.maximum(x, y), less=sl.minimum(x, y))

    assert f(3, 5) == Split(more=5, less=3)
    assert f.simulate(3, 5).results == {"more": 5, "less": 3}


def test_annotated_and_markers_in_local_scope() -> None:
    names = ["p", "q", "r"]

    @sl.program
    def f(
        x: Annotated[sl.u8, "a", "people <= 5", names, sl.between(0, 9)],
        y: Annotated[sl.u8, "b", "people", sl.column("weight")],
    ) -> Annotated[sl.u16, "b"]:
        return (x.sum(axis=1, dtype=sl.u16) * y).sum()

    first, second = f.signature.parameters
    assert (first.rows, first.fixed, first.columns) == ("people", (3,), ("p", "q", "r"))
    assert first.range == sl.between(0, 9)
    assert (second.rows, second.fixed, second.columns) == ("people", (), ("weight",))
    assert f.signature.rows == {"people": 5}
    assert f([[1, 2, 3], [4, 5, 6]], [10, 100]) == 60 + 1500


def test_element_types_of_any_width() -> None:
    assert repr(sl.u13) == "sealane.u13"
    assert sl.u13 is sl.u13
    assert repr(sl.u32.wrapping) == "sealane.u32.wrapping"
    assert sl.u32.wrapping.wrapping is sl.u32.wrapping
    for name in ("u0", "i65", "u08", "f33", "nothing"):
        assert not hasattr(sl, name)
    assert repr(sl.bf16) == "sealane.bf16"
    with pytest.raises(AttributeError, match=r"element types: `sl\.f32`"):
        _ = sl.float32


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        (([[1, 2]], [1, 2], 2**31), ["`threshold`", "2147483648"]),
        (([[1, 2], [3, 70_000]], [1, 2], 0), ["`x`", "70000", "element [1, 1]"]),
        (([[1, -2]], [1, 2], 0), ["`x`", "-2", "element [0, 1]"]),
        (([[1, 2, 3]], [1, 2], 0), ["`x`", "[1, 3]", "[rows, 2]"]),
        (([[0.5, 2]], [1, 2], 0), ["`x`", "0.5 at element [0, 0]", "whole number"]),
        (([["a", "b"]], [1, 2], 0), ["`x`", "'a' at element [0, 0]"]),
        (([[1, 2**64]], [1, 2], 0), ["`x`", "18446744073709551616 at element [0, 1]"]),
        (([[math.nan, 2]], [1, 2], 0), ["`x`", "NaN at element [0, 0]", "drop the row"]),
        (([[1, 2], [3]], [1, 2], 0), ["`x`", "as many elements"]),
    ],
)
def test_wrong_data_is_named(inputs: Any, words: list[str]) -> None:
    with pytest.raises(sl.DataError) as caught:
        risk(*inputs)
    for word in words:
        assert word in str(caught.value)


def test_wrong_arguments_are_misuse() -> None:
    with pytest.raises(sl.MisuseError, match="missing a required argument"):
        risk(TABLE)
    with pytest.raises(sl.MisuseError, match="no network class `moon`"):
        risk.plan(network="moon")
    with pytest.raises(sl.MisuseError, match="patents"):
        risk.plan(rows={"patents": 3})
    with pytest.raises(sl.MisuseError, match="at most 10000 rows, and not 10001"):
        risk.plan(rows=10_001)


PARTIES = ("hospital", "lab")
GIVEN = {"hospital": {"input": TABLE}, "lab": {"input": {"w": WEIGHTS, "threshold": 15}}}


def test_two_runs_meet_over_tls(tmp_path: Path) -> None:
    done = run_all(risk, configure(tmp_path, PARTIES), GIVEN)
    assert done["hospital"].value.tolist() == [False, True, False]
    assert done["lab"].value is None
    assert done["lab"].results == {}
    assert done["lab"].payload_bytes == risk.plan(rows=3).payload_bytes
    assert done["lab"].as_planned


def test_a_run_with_helpers(tmp_path: Path) -> None:
    helpers = ["cyd", "ada"]
    # The file names them for those who do not.
    config = configure(tmp_path, (*PARTIES, *helpers), 'helpers = ["cyd", "ada"]')
    job = risk.plan(protocol="clear", helpers=helpers).hash
    stated = {**GIVEN, "cyd": {}, "ada": {"helpers": helpers, "identity": tmp_path / "ada.key"}}
    done = run_all(risk, config, stated, approve=job, protocol="clear")
    assert done["hospital"].value.tolist() == [False, True, False]
    assert {party: bool(report.results) for party, report in done.items()} == {
        "hospital": True,
        "lab": False,
        "cyd": False,
        "ada": False,
    }
    assert all(report.as_planned for report in done.values())
    assert "nothing but the numbers of rows" in repr(done["ada"])
    with pytest.raises(sl.DataError, match="has no input"):
        risk.run(party="ada", input="ada.csv", config=config, approve=job, protocol="clear")


def test_a_run_needs_its_approval_and_its_key(tmp_path: Path) -> None:
    config = configure(tmp_path, PARTIES)
    key = tmp_path / "hospital.key"

    def attempt(**changed: Any) -> None:
        arguments = {"party": "hospital", "input": TABLE, "config": config, "identity": key}
        risk.run(**{**arguments, "approve": risk.hash, **changed})

    with pytest.raises(sl.ConfigError, match="not the approved job"):
        attempt(approve="0" * 64)
    with pytest.raises(sl.ConfigError, match="first digits can be forged"):
        attempt(approve=risk.hash[:63])
    with pytest.raises(sl.ConfigError, match="wants its hash as `approve`") as caught:
        attempt(approve=None)
    assert caught.value.code == "approval" and "approve=program.plan(...)" in caught.value.hint
    with pytest.raises(sl.ConfigError, match="wants its hash as `approve`"):
        risk.run(input=TABLE)  # type: ignore[call-arg]
    with pytest.raises(sl.ConfigError, match="not the key of `hospital`"):
        attempt(identity=tmp_path / "lab.key")
    with pytest.raises(sl.MisuseError, match="no party `clinic`"):
        attempt(party="clinic", input={})
    with pytest.raises(sl.DataError, match="another party"):
        attempt(input={"w": WEIGHTS})
    with pytest.raises(sl.DataError, match="no data for the input `x`"):
        attempt(input={})
    with pytest.raises(sl.ConfigError, match="cannot read"):
        attempt(config=tmp_path / "other.toml")


def test_the_configuration_says_what_a_call_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    without = risk.plan()
    more = 'me = "lab"\nidentity = "lab.key"\nprotocol = "clear"\nnetwork = "wan"\n'
    configure(tmp_path, PARTIES, more + "[limits]\ntimeout_s = 0.5\n")
    stated = risk.plan(protocol="clear", network="wan", helpers=[])
    assert risk.hash == risk.plan(config="sealane.toml").hash == stated.hash != without.hash
    with pytest.raises(sl.NetworkError, match="hospital"):
        risk.run(input={"w": WEIGHTS, "threshold": 15}, approve=risk.hash)
    with pytest.raises(sl.ConfigError, match="cannot read"):
        risk.plan(config=tmp_path / "other.toml")
    (tmp_path / "sealane.toml").unlink()
    with pytest.raises(sl.ConfigError, match="sealane init"):
        risk.run(input={"w": WEIGHTS, "threshold": 15}, approve=risk.hash)


def test_a_party_that_does_not_come_is_a_network_error(tmp_path: Path) -> None:
    config = configure(tmp_path, PARTIES, "[limits]\ntimeout_s = 0.5\n")
    with pytest.raises(sl.NetworkError, match="lab"):
        risk.run(party="hospital", input=TABLE, config=config, approve=risk.hash)
