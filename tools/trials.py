"""Trials of careless operators and hostile neighbours, against the installed command.

    python tools/trials.py all --seed 1 --count 5
    python tools/trials.py kill --seed 4711

* `kill`: a process of a run is ended by a signal at any time. No process and no private key is
  left, no file is half written, and the other party ends soon, with the right result or an error.
* `proxy`: what crosses between two parties is delayed, cut off, changed, repeated or ended at any
  byte. Each party ends with the right result or an error.
* `stranger`: others connect while a party waits: silent, with noise, with a key of their own and
  the name of the one that is waited for. The run succeeds all the same.
* `parser`: tables, configurations and programs with damages. Each is read, or refused with an
  error.

A seed decides what is tried; how the processes then run, the machine decides. A trial that fails
prints its seed and the command that tries the same again, and leaves its folder.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from trial_session import (
    BOUND_S,
    PARTIES,
    TIMEOUT_S,
    Failed,
    HarmfulRelay,
    Session,
    Side,
    command,
    end,
    free_port,
    living_in,
    must,
    named,
    see_ends,
    started,
)

# The beginning of the file of a private key (RFC 8410, section 7).
KEY = bytes.fromhex("302e020100300506032b6570")
# Until a process is gone, with its last words.
GONE_S = 15
# How long a party waits whom several strangers call first.
WAIT_S = 45
MANY_BLOCKS = 3_000
FEW_BLOCKS = 40


def kill(rng: random.Random, folder: Path) -> None:
    """Ends a process of a run at any time."""
    how = rng.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
    after_s = rng.uniform(0, 4)
    session = Session(folder, MANY_BLOCKS)
    if rng.random() < 0.5:
        kill_local(rng, session, how, after_s)
    else:
        kill_one(rng, session, how, after_s)


def kill_local(rng: random.Random, session: Session, how: signal.Signals, after_s: float) -> None:
    """Ends the command of a local run, or one of its parties."""
    home = session.folder / "home"
    home.mkdir()
    arguments = ["run", str(session.folder / "keeper/program.py"), "--local", "--output", "out.csv"]
    for party in PARTIES:
        arguments += ["--input", f"{party}={session.folder / party / 'data.csv'}"]
    process = started(*arguments, cwd=home, env={**os.environ, "TMPDIR": str(home)})
    time.sleep(after_s)
    victims = [pid for pid in living_in(home) if pid != process.pid]
    own = rng.random() < 0.6 or not victims
    victim = process.pid if own else rng.choice(victims)
    if not own and how == signal.SIGINT:
        # An interpreter that begins shows a traceback for it, which is not ours.
        how = signal.SIGTERM
    with suppress(ProcessLookupError):
        os.kill(victim, how)
    # What a process leaves that cannot act any more is not taken away by anybody.
    status, _, errors = end(process)
    if not (own and status in (-how, 130)):
        named(status, errors, (0, 2, 5))
    deadline = time.monotonic() + GONE_S
    while left := living_in(home):
        if time.monotonic() > deadline:
            raise Failed(f"processes {left} are left after {how.name} to {victim}")
        time.sleep(0.05)
    see_files(session, home, unfinished=how == signal.SIGKILL)


def see_files(session: Session, home: Path, *, unfinished: bool) -> None:
    """Sees that no key is left, and no result that is not whole."""
    for file in (path for path in home.rglob("*") if path.is_file()):
        content = file.read_bytes()
        if KEY in content:
            raise Failed(f"a private key is left in {file}")
        if file.name.startswith(".sealane-") and not unfinished:
            raise Failed(f"{file} is left unfinished")
        if file.name.startswith("out.") and content.count(b"\n") != session.blocks + 1:
            raise Failed(f"{file} is half written: {len(content)} bytes")


def kill_one(rng: random.Random, session: Session, how: signal.Signals, after_s: float) -> None:
    """Ends one of two parties."""
    port = free_port(rng)
    addresses = dict.fromkeys(PARTIES, f"127.0.0.1:{port}")
    addresses["client"] = "127.0.0.1:1"
    for party in PARTIES:
        session.configure(party, addresses)
    processes = {party: session.start(party) for party in PARTIES}
    victim = rng.choice(PARTIES)
    time.sleep(after_s)
    processes[victim].send_signal(how)
    (other,) = set(PARTIES) - {victim}
    status, output, errors = end(processes[victim])
    if status not in (-how, 130):
        see_ends(victim, (status, output, errors))
    # It may not have met the other yet, and then waits for it.
    see_ends(other, end(processes[other], 20 + TIMEOUT_S + GONE_S))


def proxy(rng: random.Random, folder: Path) -> None:
    """Harms what crosses between two parties."""
    session = Session(folder, FEW_BLOCKS)
    port = free_port(rng)
    harm = rng.choice(["delay", "truncate", "flip", "duplicate", "close"])
    # Greetings are short, and much more crosses later.
    at = rng.choice([rng.randrange(600), rng.randrange(30_000), rng.randrange(300_000)])
    relay = HarmfulRelay(port, harm, at, rng.random() < 0.5, rng)
    try:
        direct = {"keeper": f"127.0.0.1:{port}", "client": "127.0.0.1:1"}
        session.configure("keeper", direct)
        session.configure("client", {**direct, "keeper": relay.address})
        processes = {party: session.start(party) for party in PARTIES}
        right = [see_ends(party, end(process)) for party, process in processes.items()]
        if harm == "delay" and not all(right):
            raise Failed(f"a delay of {relay.pause_s:.1f} s at byte {at} ends a run")
    finally:
        relay.close()


def stranger(rng: random.Random, folder: Path) -> None:
    """Lets others connect while a party waits."""
    session = Session(folder, FEW_BLOCKS)
    port = free_port(rng)
    addresses = {"keeper": f"127.0.0.1:{port}", "client": "127.0.0.1:1"}
    for party in PARTIES:
        session.configure(party, addresses, WAIT_S)
    keeper = session.start("keeper")
    sockets = []
    for _ in range(rng.randrange(1, 6)):
        kind = rng.choice(["silent", "noise", "http", "hello", "impostor"])
        if kind == "impostor":
            impostor(session, addresses)
            continue
        caller = call(port, keeper)
        sockets.append(caller)
        said = {
            "silent": b"",
            "noise": rng.randbytes(rng.randrange(1, 5_000)),
            "http": b"GET / HTTP/1.1\r\nHost: keeper\r\n\r\n",
            "hello": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + rng.randbytes(300),
        }[kind]
        with suppress(OSError):
            caller.sendall(said)
        if rng.random() < 0.5:
            caller.close()
    client = session.start("client")
    ended = {"client": end(client), "keeper": end(keeper)}
    for party, how in ended.items():
        if not see_ends(party, how):
            raise Failed(f"a stranger ends the run of {party}: {how[2]}")
    for caller in sockets:
        caller.close()


def call(port: int, keeper: subprocess.Popen[str]) -> socket.socket:
    """A connection to one who begins to listen."""
    deadline = time.monotonic() + BOUND_S
    while time.monotonic() < deadline and keeper.poll() is None:
        with suppress(OSError):
            return socket.create_connection(("127.0.0.1", port))
        time.sleep(0.02)
    raise Failed(f"nobody listens: {end(keeper)[2]}")


def impostor(session: Session, addresses: dict[str, str]) -> None:
    """Comes as the client, from its host, with a key of its own."""
    comes = Side(session.folder / "impostor", "client", FEW_BLOCKS)
    comes.configure(addresses, {**session.keys, "client": comes.key}, WAIT_S)
    ended = end(comes.start(session.job, "--no-record"))
    shutil.rmtree(comes.folder)
    if see_ends("client", ended):
        raise Failed("an impostor runs")


PROGRAM = """sealane program 1
name mixed
party ada
party bob
rows n <= 1000
input x : ada u8[n] in 0..255
input y : bob u8 in 0..255
main {
  %0 = param 0 : u8[n] in 0..255 known ada
  %1 = param 1 : u8 in 0..255 known bob
  %2 = xor %0, %1 : u8[n] in 0..255 secret
}
reveal x = %2 : u8 to bob
"""
CONFIG = """me = "ada"
identity = "ada.key"
helpers = ["cyd"]
[parties.ada]
address = "127.0.0.1:7700"
key = "ed25519:d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
[parties.cyd]
address = "[::1]:7701"
key = "ed25519:3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"
[limits]
timeout_s = 60
"""


def parser(rng: random.Random, folder: Path) -> None:
    """Damages a file that is read."""
    (folder / "program.sealane").write_text(PROGRAM, encoding="utf-8")
    (folder / "sealane.toml").write_text(CONFIG, encoding="utf-8")
    rows = "".join(f"{rng.randrange(256)}\n" for _ in range(rng.randrange(1, 200)))
    (folder / "x.csv").write_text("x\n" + rows, encoding="utf-8")
    (folder / "y.csv").write_text("y\n77\n", encoding="utf-8")
    simulate = ["simulate", "program.sealane", "--clear", "--input", "bob=y.csv"]
    name = rng.choice(["x.csv", "x.parquet", "x.npy", "sealane.toml", "program.sealane"])
    if name in ("x.parquet", "x.npy"):
        must(*simulate, "--input", "ada=x.csv", "--output", name, cwd=folder)
    file = folder / name
    file.write_bytes(damaged(rng, file.read_bytes()))
    reads = {"sealane.toml": ["peer", "list"], "program.sealane": ["check", "program.sealane"]}
    arguments = reads.get(name) or [*simulate, "--input", f"ada={name}"]
    status, _, errors = command(*arguments, cwd=folder)
    named(status, errors, (0, 2, 3, 4))


def damaged(rng: random.Random, content: bytes) -> bytes:
    """Content with a few damages."""
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(len(content) + 1)
        upto = min(len(content), at + rng.choice([1, 1, 4, 40]))
        kind = rng.randrange(5)
        if kind == 0 and at < len(content):
            byte = content[at] ^ (1 << rng.randrange(8))
            content = content[:at] + bytes([byte]) + content[at + 1 :]
        elif kind == 1:
            content = content[:at] + content[upto:]
        elif kind == 2:
            content = content[:at] + content[at:upto] * rng.randrange(2, 9) + content[upto:]
        elif kind == 3:
            special = [b"\0", b'"', b"\xff\xfe", b"-1", b"9" * 30, b"\r", b",", b"\n"]
            special += [b"1e308", b"="]
            content = content[:at] + rng.choice(special) + content[at:]
        else:
            content = content[:at]
    return content


TRIALS = {"kill": kill, "proxy": proxy, "stranger": stranger, "parser": parser}


def attempt(kind: str, seed: int) -> bool:
    """Makes one trial; whether all was well."""
    folder = Path(tempfile.mkdtemp(prefix=f"trial-{kind}-{seed}-")).resolve()
    try:
        TRIALS[kind](random.Random(f"{kind} {seed}"), folder)
    except (Failed, OSError, ValueError, KeyError) as error:
        print(f"trials: {kind} fails with seed {seed}: {error}", file=sys.stderr)
        print(f"trials: its folder is {folder}; to see it again:", file=sys.stderr)
        print(f"    python tools/trials.py {kind} --seed {seed}", file=sys.stderr)
        return False
    shutil.rmtree(folder)
    return True


def main() -> int:
    """Makes the trials that the command line asks for."""
    arguments = argparse.ArgumentParser(description="trials of the installed command")
    arguments.add_argument("kind", choices=[*TRIALS, "all"])
    arguments.add_argument("--seed", type=int, default=1, help="the first seed")
    arguments.add_argument("--count", type=int, default=1, help="how many seeds")
    asked = arguments.parse_args()
    failed = 0
    for kind in TRIALS if asked.kind == "all" else [asked.kind]:
        began = time.monotonic()
        seeds = range(asked.seed, asked.seed + asked.count)
        bad = sum(not attempt(kind, seed) for seed in seeds)
        failed += bad
        print(
            f"trials: {kind}: {len(seeds) - bad} of {len(seeds)} are well, "
            f"after {time.monotonic() - began:.0f} s"
        )
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
