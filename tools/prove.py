"""Proves circuits equal to their specifications with a SAT solver, for all operands.

The circuit is the lowered tape that machines execute, as `crates/numeric/examples/netlist.rs`
prints it. The specification is built here, from single gates and from other ideas: adders ripple,
shifts and roundings by cases. A case fixes, say, the place of the leading bit, so that its
specification shifts by a constant; another proof shows that the cases cover all operands. Both
share their inputs, and a formula says that some output differs. The solver (CaDiCaL) has to refute
it, with a certificate that `crates/numeric/examples/rup.rs` checks. A solver that takes too long
is a failure, which one formula that it cannot refute in a second shows at every run.

Then single gates of each circuit are changed: the solver has to find operands on which the
changed circuit differs, and these are run through both.

    python tools/prove.py                  all proofs but those of sums of f64
    python tools/prove.py --quick          those that CI runs
    python tools/prove.py floor/f32/size   some of them, by the start of their names
    python tools/prove.py add/f64/size     a sum of f64, in half an hour
"""

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from proof_cases import ANY, Case, Target
from proof_specs import TARGETS
from proof_words import FALSE, Net

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 120
UNSATISFIABLE, SATISFIABLE = 20, 10


class Failure(Exception):
    """A proof that did not succeed, and why."""


@dataclass
class Tools:
    """The programs that a proof needs, and a folder for formulas and certificates."""

    solver: str
    netlist: Path
    checker: Path
    folder: Path
    seconds: int

    def circuit(self, target: Target) -> str:
        """The netlist of a circuit."""
        return run([self.netlist, *target.arguments]).stdout

    def refute(self, net: Net, clauses: Sequence[Sequence[int]], name: str) -> int:
        """Refutes gates with clauses, checks the certificate, and counts its clauses."""
        formula, proof = self.folder / "formula.cnf", self.folder / "proof.drat"
        self.write(net, clauses, formula)
        proof.unlink(missing_ok=True)
        status, _ = self.solve([str(formula), str(proof), "--no-binary"])
        if status != UNSATISFIABLE:
            found = "a counterexample" if status == SATISFIABLE else "no answer in time"
            raise Failure(f"{name}: {found}")
        checked = run([self.checker, formula, proof], check=False)
        if checked.returncode != 0:
            raise Failure(f"{name}: the certificate is refused: {checked.stderr.strip()}")
        return int(checked.stdout.split()[1])

    def model(self, net: Net, clauses: Sequence[Sequence[int]]) -> dict[int, bool] | None:
        """Values of all variables that satisfy gates and clauses, or none."""
        formula = self.folder / "formula.cnf"
        self.write(net, clauses, formula)
        status, output = self.solve([str(formula)])
        if status == UNSATISFIABLE:
            return None
        if status != SATISFIABLE:
            raise Failure("no counterexample to a changed gate in time")
        words = [line.split()[1:] for line in output.splitlines() if line.startswith("v ")]
        literals = [int(word) for line in words for word in line]
        return {abs(literal): literal > 0 for literal in literals}

    def solve(self, arguments: list[str]) -> tuple[int, str]:
        """Runs the solver; its status tells the answer."""
        done = run([self.solver, "-q", "-t", str(self.seconds), *arguments], check=False)
        return done.returncode, done.stdout

    @staticmethod
    def write(net: Net, clauses: Sequence[Sequence[int]], path: Path) -> None:
        """Writes a formula."""
        roots = (literal for clause in clauses for literal in clause)
        every = [*net.clauses(roots), *clauses]
        lines = [f"p cnf {net.variables} {len(every)}"]
        lines += [" ".join(map(str, clause)) + " 0" for clause in every]
        path.write_text("\n".join(lines) + "\n", encoding="ascii")


@dataclass
class Problem:
    """A circuit and its specification over the same inputs."""

    net: Net
    inputs: list[list[int]]
    outputs: list[int]
    cases: list[Case] = field(default_factory=list)

    @classmethod
    def of(cls, target: Target, text: str, changed: int | None = None) -> "Problem":
        """The problem of a target; with one of the circuit's gates inverted if so asked."""
        widths, outputs, *gates = (line.split() for line in text.splitlines())
        net = Net()
        inputs = [[net.variable() for _ in range(int(width))] for width in widths]
        wires = [FALSE, -FALSE, *(bit for word in inputs for bit in word)]
        for index, (kind, out, a, b) in enumerate(gates):
            gate = net.raw_and if kind == "and" else net.raw_xor
            wire = gate(wires[int(a)], wires[int(b)])
            if int(out) != len(wires):
                raise Failure("the wires of a netlist are numbered in order")
            wires.append(-wire if index == changed else wire)
        problem = cls(net, inputs, [wires[int(wire)] for wire in outputs])
        problem.cases = list(target.cases(net, *inputs))
        return problem

    def differ(self, case: Case) -> list[list[int]]:
        """Clauses that say that some output differs in a case."""
        if len(case.outputs) != len(self.outputs):
            raise Failure(f"{len(case.outputs)} outputs specified, {len(self.outputs)} found")
        pairs = zip(self.outputs, case.outputs, strict=True)
        different = [self.net.xor(found, wanted) for found, wanted in pairs if wanted != ANY]
        return [*([literal] for literal in case.given), different]


def prove(tools: Tools, target: Target) -> str:
    """Proves a target and changes some of its gates; a line about it."""
    begin = time.monotonic()
    text = tools.circuit(target)
    problem = Problem.of(target, text)
    lemmas = 0
    for number, case in enumerate(problem.cases):
        clauses = problem.differ(case)
        lemmas += tools.refute(problem.net, clauses, f"{target.name}, case {number}")
    uncovered = [[-literal for literal in case.given] for case in problem.cases]
    tools.refute(problem.net, uncovered, f"{target.name}, cases")
    gates = len(text.splitlines()) - 2
    seen, unseen = change_gates(tools, target, text, gates)
    seconds = time.monotonic() - begin
    return (
        f"{target.name}: {gates} gates, {len(problem.cases)} cases, {lemmas} clauses checked, "
        f"{seen} changes seen, {unseen} without effect, {seconds:.1f} s"
    )


def change_gates(tools: Tools, target: Target, text: str, gates: int) -> tuple[int, int]:
    """Changes gates at random until enough changes are seen; counts these and those that no
    operand shows. Some gates have an inverted value without effect, as where a sum may be anything
    because its carry is not read; most have not."""
    seen = unseen = 0
    for index in random.Random(target.name).sample(range(gates), gates):
        if seen == min(target.changes, gates):
            break
        if difference_is_found(tools, target, text, index):
            seen += 1
        else:
            unseen += 1
        if unseen > target.changes:
            raise Failure(f"{target.name}: most changes of gates have no effect")
    return seen, unseen


def difference_is_found(tools: Tools, target: Target, text: str, index: int) -> bool:
    """True if there are operands on which a circuit with an inverted gate differs; tries them."""
    problem = Problem.of(target, text, changed=index)
    cases = random.Random(index).sample(problem.cases, len(problem.cases))
    for case in cases:
        clauses = problem.differ(case)
        model = tools.model(problem.net, clauses)
        if model is None:
            continue
        values = problem.net.evaluate({bit: model[bit] for word in problem.inputs for bit in word})
        if not all(values[literal] for literal in case.given):
            raise Failure(f"{target.name}: the counterexample is of another case")
        pairs = zip(problem.outputs, case.outputs, strict=True)
        if all(wanted == ANY or values[found] == values[wanted] for found, wanted in pairs):
            raise Failure(f"{target.name}: the counterexample is none")
        return True
    return False


def refuse_false_certificates(tools: Tools) -> None:
    """Shows that the checker refuses certificates that prove nothing."""
    formula, proof = tools.folder / "false.cnf", tools.folder / "false.drat"
    satisfiable = "p cnf 2 2\n1 2 0\n-1 2 0\n"
    refuted = satisfiable + "1 -2 0\n-1 -2 0\n"
    for clauses, certificate, accepted in [
        (refuted, "2 0\n0\n", True),
        (refuted, "", False),
        (refuted, "d 1 2 0\n2 0\n0\n", False),
        (satisfiable, "0\n", False),
        (satisfiable, "2 0\n0\n", False),
        (satisfiable, "-2 0\n0\n", False),
        (satisfiable, "2 0\n1\n", False),
    ]:
        formula.write_text(clauses, encoding="ascii")
        proof.write_text(certificate, encoding="ascii")
        done = run([tools.checker, formula, proof], check=False)
        if (done.returncode == 0) != accepted:
            raise Failure(f"the checker is wrong about {certificate!r} for {clauses!r}")


def refuse_no_answer(tools: Tools) -> None:
    """Shows that a solver that runs out of time has proved nothing: 12 pigeons do not fit 11 holes,
    which takes a solver without symmetries hours to find out."""
    net, pigeons, holes = Net(), 12, 11
    sits = [[net.variable() for _ in range(holes)] for _ in range(pigeons)]
    pairs = [(one, other) for one in range(pigeons) for other in range(one)]
    alone = [[-sits[i][hole], -sits[j][hole]] for i, j in pairs for hole in range(holes)]
    try:
        replace(tools, seconds=1).refute(net, [*sits, *alone], "pigeons")
    except Failure as failure:
        if "no answer in time" in str(failure):
            return
    raise Failure("a solver without an answer is taken for a proof")


def run(command: Sequence[str | Path], check: bool = True) -> subprocess.CompletedProcess[str]:
    """Runs a program and keeps its output."""
    return subprocess.run(command, check=check, capture_output=True, text=True, cwd=ROOT)


def build() -> tuple[Path, Path]:
    """Builds the two programs of crate `numeric`."""
    command = ["cargo", "build", "--quiet", "--package", "sealane-numeric", "--examples"]
    run(command)
    metadata = run(["cargo", "metadata", "--format-version=1", "--no-deps"]).stdout
    folder = Path(metadata.split('"target_directory":"')[1].split('"')[0], "debug", "examples")
    return folder / "netlist", folder / "rup"


def selected(names: list[str], quick: bool) -> Iterator[Target]:
    """The targets to prove."""
    for target in TARGETS:
        named = any(target.name.startswith(name) for name in names)
        usual = target.quick if quick else not target.slow
        if named or (not names and usual):
            yield target


def main() -> int:
    """Proves the targets; 1 if one of them is not proved."""
    parser = argparse.ArgumentParser(description="Proves circuits equal to specifications.")
    parser.add_argument("names", nargs="*", help="starts of names of proofs; all by default")
    parser.add_argument("--quick", action="store_true", help="the proofs that CI runs")
    parser.add_argument("--seconds", type=int, default=SECONDS, help="limit for each formula")
    arguments = parser.parse_args()
    solver = shutil.which("cadical")
    if solver is None:
        print("cadical is missing; Debian and Ubuntu have it as a package", file=sys.stderr)
        return 1
    targets = list(selected(arguments.names, arguments.quick))
    if not targets:
        print("no proof has such a name", file=sys.stderr)
        return 1
    netlist, checker = build()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        tools = Tools(solver, netlist, checker, Path(folder), arguments.seconds)
        try:
            refuse_false_certificates(tools)
            refuse_no_answer(tools)
        except Failure as failure:
            print(f"FAILED {failure}", file=sys.stderr)
            return 1
        for target in targets:
            try:
                print(prove(tools, target), flush=True)
            except Failure as failure:
                print(f"FAILED {failure}", file=sys.stderr, flush=True)
                failures += 1
    print(f"{len(targets)} proofs, {failures} failures")
    return min(failures, 1)


if __name__ == "__main__":
    sys.exit(main())
