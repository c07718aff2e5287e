"""How parties come to know each other: `init`, cards, `peer`, and what `doctor` says of them."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
from pathlib import Path
from typing import Any

from conftest import SLACK_S, Side, ended, swap

PROGRAM = """\
import sealane as sl


@sl.program
def more(
    a: sl.Private[sl.u8, "alice"], b: sl.Private[sl.u8, "bob"]
) -> sl.Revealed[sl.boolean, "bob"]:
    return a > b
"""


def peers(command: subprocess.Popen[str], status: int = 0) -> dict[str, Any]:
    """Findings of a doctor about each peer."""
    found = json.loads(ended(command, status).stdout)
    assert found["well"] == (status == 0)
    return {peer["name"]: peer for peer in found["peers"]}


def test_from_nothing_to_a_run(sides: tuple[Side, Side]) -> None:
    alice, bob = sides
    swap(alice, bob)
    doctors = [side.command("doctor", "--wait", "60", "--json") for side in sides]
    for doctor, other in zip(doctors, ("bob", "alice"), strict=True):
        peer = peers(doctor)[other]
        assert peer["asked"] and peer["well"] and not peer["runs"] and not peer["clock_off"]
        assert 0 < peer["round_trip_s"] < SLACK_S
    for side in sides:
        (side.folder / "program.py").write_text(PROGRAM, encoding="utf-8")
    (alice.folder / "a.csv").write_text("a\n7\n", encoding="utf-8")
    (bob.folder / "b.csv").write_text("b\n5\n", encoding="utf-8")
    job = json.loads(alice.sealane("plan", "program.py", "--json").stdout)["job"]
    first = alice.command("run", "program.py", "--input", "a.csv", "--yes", job)
    # One that waits to run answers, too.
    peer = peers(bob.command("doctor", "--wait", "60", "--json"))["alice"]
    assert peer["runs"] and peer["well"] and not peer["asked"]
    second = bob.sealane("run", "program.py", "--input", "b.csv", "--yes", job, "--json")
    assert json.loads(second.stdout)["results"]["result"]["values"] == [True]
    ended(first)


def test_a_card_is_printed_again_and_nothing_is_replaced(sides: tuple[Side, Side]) -> None:
    alice, _ = sides
    assert alice.sealane("card").stdout.strip() == alice.card
    key = alice.folder / "alice.key"
    assert key.stat().st_mode & 0o077 == 0
    before = key.read_bytes(), alice.config().read_bytes()
    error = alice.sealane("init", "alice", status=2).stderr
    assert error.startswith("error[identity-exists]: ./alice.key is there already")
    assert (key.read_bytes(), alice.config().read_bytes()) == before


def test_fingerprints_are_the_same_on_both_sides(sides: tuple[Side, Side]) -> None:
    alice, bob = sides
    shown = bob.sealane("card").stderr.removeprefix("fingerprint of bob: ").strip()
    assert [len(group) for group in shown.split()] == [5] * 6
    assert shown in alice.sealane("peer", "add", bob.card).stdout
    listed = json.loads(alice.sealane("peer", "list", "--json").stdout)["parties"]
    assert [(party["name"], party["me"]) for party in listed] == [("alice", True), ("bob", False)]
    assert listed[1]["fingerprint"] == shown
    assert shown in alice.sealane("peer", "list").stdout


def test_a_fingerprint_that_was_read_aloud_is_compared_as_a_whole(sides: tuple[Side, Side]) -> None:
    alice, bob = sides
    told = bob.sealane("card").stderr.removeprefix("fingerprint of bob: ").strip()
    last = str((int(told[-1]) + 1) % 10)
    add = ("peer", "add", bob.card, "--fingerprint")
    error = alice.sealane(*add, told[:-1] + last, status=2).stderr
    assert error.startswith("error[peer-fingerprint]: ") and told in error
    assert "ask for the whole of it" in alice.sealane(*add, told[:23], status=2).stderr
    assert "all 30 digits agree" in alice.sealane(*add, told.replace(" ", "")).stderr


def test_cards_are_pasted_as_they_come(sides: tuple[Side, Side]) -> None:
    alice, bob = sides
    wrapped = "\n".join(f"> {bob.card[at : at + 40]}" for at in range(0, len(bob.card), 40))
    assert "bob is now in" in alice.sealane("peer", "add", wrapped).stdout
    again = alice.sealane("peer", "add", *(bob.card[:50], bob.card[50:])).stdout
    assert "was in sealane.toml already" in again
    for wrong, words in [
        (bob.card[:-4], "cut off"),
        (bob.card.replace("ed25519:", "ed25519:0"), "changed on its way"),
        (bob.card.replace("bob@", "rob@"), "changed on its way"),
        ("bob", "begins with"),
    ]:
        error = alice.sealane("peer", "add", wrong, status=2).stderr
        assert error.startswith("error[card-malformed]: ")
        assert words in error
    assert "own card" in alice.sealane("peer", "add", alice.card, "--name", "x", status=2).stderr


def test_another_key_for_a_known_name_is_refused(sides: tuple[Side, Side], tmp_path: Path) -> None:
    alice, bob = sides
    alice.sealane("peer", "add", bob.card)
    (tmp_path / "elsewhere").mkdir()
    other = Side(tmp_path / "elsewhere", "bob", "127.0.0.1:9")
    error = alice.sealane("peer", "add", other.card, status=2).stderr
    assert error.startswith("error[peer-key]: another key is pinned for `bob`")
    for side in (bob, other):
        fingerprint = side.sealane("card").stderr.strip().removeprefix("fingerprint of bob: ")
        assert fingerprint in error
    assert "--replace" in error
    assert "has a new key" in alice.sealane("peer", "add", other.card, "--replace").stdout
    alice.sealane("peer", "remove", "bob")
    assert "no party `bob`" in alice.sealane("peer", "remove", "bob", status=2).stderr


def test_doctor_says_what_is_wrong_and_what_to_do(sides: tuple[Side, Side], tmp_path: Path) -> None:
    alice, bob = sides
    (tmp_path / "elsewhere").mkdir()
    impostor = Side(tmp_path / "elsewhere", "bob", bob.card.split("@")[1].split("/")[0])
    swap(alice, impostor)
    bob.sealane("peer", "add", alice.card)
    with socket.create_server(("127.0.0.1", 0)) as other:
        threading.Thread(target=answer_as_something_else, args=(other,), daemon=True).start()
        port = other.getsockname()[1]
        for name, address in [("cyd", f"127.0.0.1:{port}"), ("dan", "dan.invalid:7700")]:
            side = Side(tmp_path, name, address)
            alice.sealane("peer", "add", side.card)
        theirs = bob.command("doctor", "--wait", "8", "--json")
        done = alice.sealane("doctor", "--wait", "8", status=5)
    assert peers(theirs, status=5)["alice"]["problem"]["code"] in ("wrong-key", "unreachable")
    for code, words in [
        ("wrong-key", "shows a key with the fingerprint"),
        ("malformed-message", "leads to Sealane"),
        ("no-address", "has no address"),
    ]:
        assert f"error[{code}]" in done.stdout
        assert words in done.stdout
    assert "error[not-well]: 3 of 3 peers do not answer" in done.stderr


def test_doctor_without_peers_is_well_and_one_whose_port_is_taken_is_not(
    sides: tuple[Side, Side],
) -> None:
    alice, _ = sides
    assert "none yet" in alice.sealane("doctor").stdout
    host, _, port = alice.card.split("@")[1].split("/")[0].rpartition(":")
    with socket.create_server((host, int(port))):
        done = alice.sealane("doctor", status=5)
    assert "error[cannot-listen]" in done.stdout


def answer_as_something_else(server: socket.socket) -> None:
    """A web server that is asked for TLS."""
    while True:
        try:
            caller, _ = server.accept()
        except OSError:
            return
        with caller:
            caller.recv(16)
            caller.sendall(b"HTTP/1.0 400 Bad Request\r\n\r\n")
            while caller.recv(4096):
                pass
