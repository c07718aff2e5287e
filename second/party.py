"""The command of the second party: runs one party of a job with other Sealane parties."""

from __future__ import annotations

import argparse
import json
import struct
import sys
import tomllib
from pathlib import Path
from typing import Any

from agreement import Job, agree, farewell
from auth import Auth
from clear import Clear
from errors import Fault, need
from gmw import Gmw
from guarded import Guarded, Outside
from keys import key_of_text, seed_of_file
from link import PATIENCE, SILENCE, Mesh
from meeting import Meeting, Party
from mixed import Mixed
from plan import Inputs, Plan, all_plans, first_plan, read_inputs, read_plan
from streams import Coins
from trio import Trio
from walk import Calls, Walk
from yao import Yao

WARNING = ("warning: this party is for tests and audits alone: it does not compute in constant "
           "time, and it does not erase secrets")
OWN_ERROR = "an error on its side, which its own report names"


class Work:
    """What one party has to do in a job."""

    def __init__(self, folder: Path, name: str) -> None:
        self.job = Job(folder)
        need(name in self.job.parties, f"the job has no party {name}", "own")
        self.me = self.job.parties.index(name)
        self.plans = {form: self._read_plan(lines, folder) for form, lines in
                      enumerate(all_plans(self.job.plan)) if form in self.job.forms}
        self.plan = self.plans[0]
        self.given = read_inputs(self.job.program)
        self.own, self.alone = Plan(), self.job.alone       # work of this party, of all parties
        for i, line in enumerate(self.alone):
            if line.get("party") == self.me:
                self.own = read_plan(first_plan(self.alone[i + 1:]), "clear", folder)
        self.rows: dict[str, int] = {}          # of tables of which this party owns inputs

    def _read_plan(self, lines: list[dict[str, Any]], folder: Path) -> Plan:
        """Read the joint plan, in one of its forms."""
        need(lines[0]["plan"]["setting"] == self.job.setting, "the plan has another setting", "own")
        return read_plan(lines, self.job.protocol, folder)

    def read_inputs(self, files: dict[str, str]) -> Inputs:
        """Read and check this party's inputs of the program."""
        name = self.job.parties[self.me]
        own = {given.name: i for i, given in enumerate(self.given) if given.owner == name}
        need(set(own) == set(files), f"the inputs of {name}: {', '.join(own) or 'none'}", "own")
        return {i: self._read_input(i, Path(files[name])) for name, i in own.items()}

    def _read_input(self, number: int, file: Path) -> list[int]:
        """Read one input, and count its rows."""
        given, numbers = self.given[number], json.loads(file.read_text(encoding="utf-8"))
        numbers = numbers if isinstance(numbers, list) else [numbers]
        need(all(isinstance(n, int) and given.low <= n <= given.high for n in numbers),
             f"{given.name} has numbers that are not in {given.low}..{given.high}", "own")
        rows = 1
        if given.table is not None:
            rows = self.rows.setdefault(given.table, len(numbers) // given.elements)
            bound, = (table.bound for table in self.job.tables if table.name == given.table)
            need(0 < rows <= bound, f"{given.table} has {rows} rows, of at most {bound}", "own")
        need(len(numbers) == rows * given.elements, f"{len(numbers)} cells of {given.name}", "own")
        return numbers

    def add_inputs(self, inputs: Inputs, counts: list[int], coins: Coins) -> None:
        """Add numbers that this party draws, and results of its work alone."""
        shared = self.plan.shared_inputs() | self.own.shared_inputs()
        number = len(self.plan.owners) - sum("result" in line for line in self.alone)
        for i in range(len(self.given), number):
            if self.plan.owners[i] == self.me:
                stream = coins.secret("numbers that nobody knows")
                count = shared[i].count(counts) if i in shared else 0
                inputs[i] = [*struct.unpack(f">{count}Q", stream.read(8 * count))]
        for line in self.alone:                 # results of plans before this party's count
            if line.get("party") == self.me:
                coins.fork("local work")
                calls = Calls(self.own, counts, Clear(), inputs)
                Walk(calls, lambda: None).run()
                inputs |= {number + i: found or [] for i, found in enumerate(calls.results())}
            number += "result" in line

    def _protocol(self, mesh: Mesh, coins: Coins, counts: list[int]
                  ) -> Auth | Gmw | Trio | Yao | Outside:
        """This party's side of the protocol."""
        setting, session = self.job.setting, mesh.session
        if self.job.protocol == "trio":
            return Trio(mesh, coins, session, setting)
        if self.job.protocol == "trio-malicious":
            side = Guarded if [self.me] in setting["roles"] else Outside
            return side(mesh, coins, session, setting, self.plan)
        if self.job.protocol == "auth":
            return Auth(mesh, coins, session, setting, self.plan, counts)
        if self.job.protocol in ("gmw", "mixed"):
            made = Gmw if self.job.protocol == "gmw" else Mixed
            return made(mesh, coins, session, setting, self.plan, counts)
        transfers = any(self.plan.owners[i] != setting["roles"][0][0]
                        for i in self.plan.shared_inputs())
        return Yao(mesh, coins, session, setting, transfers)

    def play(self, mesh: Mesh, keys: list[bytes], inputs: Inputs, coins: Coins) -> dict[str, Any]:
        """All phases of a run over connections (chapter 8): returns results, rounds and bytes."""
        counts = agree(mesh, self.job, keys, self.rows, coins.public("session").read(32))
        self.plan, coins = self.plans[self.job.forms[0]], coins.enter(mesh.session)
        self.add_inputs(inputs, counts, coins)
        protocol = self._protocol(mesh, coins, counts)
        protocol.set_up()
        calls = Calls(self.plan, counts, protocol, inputs)
        Walk(calls, mesh.flush).run()
        rounds = farewell(mesh)
        mesh.goodbye()
        scalars = {result.name for result in self.plan.results
                   if not result.fixed and self.plan.values[result.value].rows is None}
        results = {result.name: numbers[0] if result.name in scalars else numbers
                   for result, numbers in zip(self.plan.results, calls.results()) if numbers}
        return {"results": results, "rounds": rounds, "sent": mesh.sent}


def party_of(config: dict[str, Any], name: str, own: bool) -> Party:
    """A party of the configuration; the own one with the address at which it listens."""
    need(name in config["parties"], f"the configuration lacks {name}", "config-party")
    entry = config["parties"][name]
    host, _, port = ((own and entry.get("listen")) or entry["address"]).rpartition(":")
    return Party(name, host.strip("[]"), int(port), key_of_text(entry["key"]))


def fault_of(error: BaseException) -> Fault:
    """The fault that an error is."""
    if isinstance(error, Fault):
        return error
    return Fault(repr(error), "interrupted" if isinstance(error, KeyboardInterrupt) else "own")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Prepare the run, meet the others and run; tell them if it fails."""
    work = Work(Path(args.job), args.name)
    names = work.job.parties
    if args.form is not None:
        need(args.form in work.job.forms, f"the job has no form {args.form}", "own")
        work.job.forms = [args.form]
    inputs = work.read_inputs(dict(given.split("=", 1) for given in args.input))
    config = tomllib.loads(Path(args.config).read_text(encoding="utf-8"))
    seed, limits = seed_of_file(Path(args.key).read_bytes()), config.get("limits", {})
    owners = sum(line.startswith("party ") for line in work.job.program)
    order = names[:owners] + sorted(names[owners:])         # the order of the meeting
    parties = {name: party_of(config, name, name == args.name) for name in order}
    silence = limits.get("timeout_s", SILENCE)
    mesh = Mesh(work.me, len(names), silence, limits.get("patience_s", PATIENCE))
    try:
        Meeting(mesh, order.index(args.name), [*parties.values()], [*map(names.index, order)],
                seed, limits.get("wait_s", silence)).run()
        coins = Coins(None if args.seed is None else struct.pack("<Q24x", args.seed))
        return work.play(mesh, [parties[name].key for name in names], inputs, coins)
    except (Exception, KeyboardInterrupt) as error:
        fault = fault_of(error)
        mesh.abort(fault.code, str(fault.args[0]) if fault is error else OWN_ERROR)
        raise


def main() -> int:
    """Read the command line, run, and write results."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--job", "--config", "--key"):
        parser.add_argument(name, required=True)
    parser.add_argument("--as", dest="name", required=True)
    parser.add_argument("--input", metavar="NAME=FILE", nargs="*", action="extend", default=[])
    parser.add_argument("--out")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--form", type=int, help="number of the plan that the run takes")
    parser.add_argument("--for-tests", action="store_true", required=True)
    args = parser.parse_args()
    print(WARNING, file=sys.stderr)
    try:
        text = json.dumps(run(args)) + "\n"
    except (Exception, KeyboardInterrupt) as error:
        fault = fault_of(error)
        print(f"error[{fault.code}]: {fault.args[0]}", file=sys.stderr)
        return 1
    print(text, end="")
    if args.out:
        Path(args.out).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
