"""`make demo`: a hospital and a lab compute together, in two processes that meet over TLS.

The script plays both sides, each in a folder of its own that holds nothing of the other's, and uses
the `sealane` command as two people would. Then it does what neither side could: it opens both
tables, computes the same flags in the clear, and compares. At the end the same program runs with
another protocol, in which three helpers compute for hospital and lab. Any difference ends the
script with an error.
"""

import contextlib
import csv
import json
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

HERE = Path(__file__).resolve().parent
SEALANE = Path(sys.executable).with_name("sealane")
PARTIES = ("hospital", "lab")
HELPERS = ("ada", "bob", "cyd")
TIMEOUT_S = 120

Json = dict[str, Any]
Flags = npt.NDArray[np.bool_]


def main() -> None:
    """Tells the story."""
    start = time.monotonic()
    print(
        "A hospital has the measurements of 569 patients. A lab has a model that it keeps secret."
    )
    print("The hospital will learn who is at risk; the lab, how many patients there were.")
    with tempfile.TemporaryDirectory(prefix="sealane-demo-") as root:
        sides = {party: Path(root) / party for party in PARTIES}
        exchange_keys(sides)
        plan = approve(sides)
        reports = run(sides, plan["job"])
        flags = read_flags(sides["hospital"] / "flags.csv")
    tell(flags, reports)
    compare_in_the_clear(flags)
    heading("6. What was promised, and what was measured")
    compare_with_plan(plan, reports)
    tell_speed(plan, reports)
    compute_elsewhere(flags)
    print(f"\nEverything is equal. The demo took {time.monotonic() - start:.1f} s.")


def exchange_keys(sides: dict[str, Path]) -> None:
    """Gives each side its own files and an identity, and lets each pin the other's card."""
    heading("1. Each side makes an identity, and sends the other its card, one line of text")
    cards = {}
    for party, folder in sides.items():
        folder.mkdir()
        shutil.copy(HERE / "program.py", folder)
        shutil.copy(HERE / f"{party}.csv", folder)
        cards[party] = sealane(folder, "init", party, "--address", free_address()).strip()
        print(f"   {cards[party]}")
    for party, folder in sides.items():
        for other in set(PARTIES) - {party}:
            sealane(folder, "peer", "add", cards[other])
        print(f"   {party:9} has {', '.join(sorted(path.name for path in folder.iterdir()))}")


def approve(sides: dict[str, Path]) -> Json:
    """Each side makes the plan from its own copy of the program; both approve the same hash."""
    heading("2. Each side reads the program and its plan, and approves the hash of the job")
    print("   sl.dot(features, weights, dtype=sl.i64) > threshold      to the hospital alone\n")
    plans = {}
    for party, folder in sides.items():
        text = sealane(folder, "plan", "program.py", "--rows", f"patients={patients()}", "--json")
        plans[party] = json.loads(text)
        print(f"   {party:9} approves {plans[party]['job']}")
    plan, other = plans.values()
    require(plan == other, "the two sides made different plans")
    return dict(plan)


def run(sides: dict[str, Path], job: str) -> dict[str, Json]:
    """Starts a process for each side and waits for both."""
    heading("3. Two processes meet over TCP, with mutual TLS on loopback")
    processes = {}
    for party, folder in sides.items():
        command = [str(SEALANE), "run", "program.py", "--input", f"{party}.csv", "--yes", job]
        command += ["--json", "--output", "flags.csv"]
        processes[party] = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
        print(f"   {party:9} is process {processes[party].pid} and reads {party}.csv")
    reports = {}
    try:
        for party, process in processes.items():
            output, _ = process.communicate(timeout=TIMEOUT_S)
            require(process.returncode == 0, f"{party} ended with status {process.returncode}")
            reports[party] = json.loads(output)
    finally:
        for process in processes.values():
            process.kill()
    return reports


def tell(flags: Flags, reports: dict[str, Json]) -> None:
    """What each side learnt, as its own report and files say."""
    heading("4. What each side learnt")
    at_risk = np.flatnonzero(flags) + 1
    first = ", ".join(map(str, at_risk[:8]))
    print(f"   hospital  {at_risk.size} of {flags.size} patients are at risk: {first}, ...")
    rows = reports["lab"]["rows"]["patients"]
    print(f"   lab       there are {rows} patients, and nothing else")
    require(rows == flags.size, "the lab learnt another number of patients")
    learnt = reports["lab"]["results"]
    require(not learnt, f"the lab has results: {learnt}")


def compare_in_the_clear(flags: Flags) -> None:
    """The same flags from both tables at once: with NumPy, and with the plan run in the clear."""
    heading("5. The same in the clear, which takes both tables")
    features = table("hospital.csv")[:, 1:]
    *weights, threshold = table("lab.csv")[0]
    expected = features @ np.array(weights) > threshold
    with tempfile.TemporaryDirectory(prefix="sealane-demo-") as folder:
        inputs = [f"--input={party}={HERE / party}.csv" for party in PARTIES]
        output = Path(folder) / "flags.csv"
        sealane(HERE, "simulate", "program.py", "--clear", *inputs, "--output", str(output))
        without_cryptography = read_flags(output)
    for what, other in [("NumPy", expected), ("simulate --clear", without_cryptography)]:
        same = int((flags == other).sum()) if flags.shape == other.shape else 0
        print(f"   {what:18} {same} of {flags.size} flags are the same")
        require(same == flags.size == other.size, f"the flags differ from those of {what}")


def compare_with_plan(plan: Json, reports: dict[str, Json]) -> None:
    """Payload bytes and rounds as planned, and as each party measured them."""
    print(f"   {'':22} {'planned':>14} {'measured':>14}")
    measured = [(report["payload_bytes"], report["rounds"]) for report in reports.values()]
    require(all(one == measured[0] for one in measured), "the parties measured different things")
    payload_bytes, rounds = measured[0]
    promised = [
        (f"payload bytes, {p}", planned, payload_bytes[p])
        for p, planned in plan["payload_bytes"].items()
    ]
    for what, before, after in [*promised, ("rounds", plan["rounds"], rounds)]:
        print(f"   {what:22} {before:>14,} {after:>14,}   {'equal' if before == after else 'NO'}")
        require(before == after, f"{what}: {before} planned, {after} measured")


def tell_speed(plan: Json, reports: dict[str, Json]) -> None:
    """How fast gates were garbled and evaluated."""
    seconds = max(report["seconds"] for report in reports.values())
    speed = plan["ands"] / seconds / 1e6
    print(f"\n   {plan['ands']:,} AND gates in {seconds:.2f} s: {speed:.1f} million a second,")
    print("   each garbled, sent over TLS and evaluated")


def compute_elsewhere(flags: Flags) -> None:
    """The same program, with three helpers who compute and own nothing: five processes."""
    heading("7. The same program with another protocol: three helpers compute for the two")
    job = ["program.py", "--protocol", "trio", "--helpers", ",".join(HELPERS)]
    plan = json.loads(sealane(HERE, "plan", *job, "--rows", f"patients={patients()}", "--json"))
    inputs = [f"--input={party}={HERE / party}.csv" for party in PARTIES]
    reports = json.loads(sealane(HERE, "run", *job, "--local", *inputs, "--json"))["parties"]
    require(set(reports) == {*PARTIES, *HELPERS}, "not all five took part")
    learnt = np.array(reports["hospital"].pop("results")["result"]["values"], dtype=np.bool_)
    same = int((flags == learnt).sum())
    print(f"   hospital  {same} of {flags.size} flags are the same")
    require(same == flags.size == learnt.size, "the flags differ from those of the first run")
    results = [report["results"] for party, report in reports.items() if party != "hospital"]
    require(not any(results), "somebody else has results")
    print(f"   lab       and {', '.join(HELPERS[:-1])} and {HELPERS[-1]}: the number of patients\n")
    compare_with_plan(plan, reports)


def sealane(folder: Path, *arguments: str) -> str:
    """What the command prints; what it says besides is shown if it fails."""
    command = [str(SEALANE), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S)
    require(done.returncode == 0, f"`{' '.join(command)}` failed:\n{done.stderr}")
    return done.stdout


def free_address() -> str:
    """An address on loopback that nobody listens at, and no outgoing connection comes from."""
    while True:
        port = random.randrange(10_240, 32_240)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return f"127.0.0.1:{port}"


def patients() -> int:
    """How many patients there are; the hospital tells the lab before a run anyway."""
    return len(table("hospital.csv"))


def table(name: str) -> npt.NDArray[np.int64]:
    """The rows of a table beside this file."""
    return np.loadtxt(HERE / name, delimiter=",", skiprows=1, dtype=np.int64, ndmin=2)


def read_flags(path: Path) -> Flags:
    """The column of flags in a file of results."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return np.array([row["result"] in ("1", "true") for row in rows])


def heading(text: str) -> None:
    """A line that starts a section."""
    print(f"\n{text}", flush=True)


def require(holds: bool, otherwise: str) -> None:
    """Ends the demo with an error if something is not as it should be."""
    if not holds:
        sys.exit(f"\nerror: {otherwise}")


if __name__ == "__main__":
    main()
