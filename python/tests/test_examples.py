"""Every example gives what plain Python gives, and costs exactly what its plan says."""

from __future__ import annotations

import csv
import inspect
import itertools
import json
import math
import runpy
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import sealane as sl
from aes_reference import encrypt

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SEALANE = Path(sys.executable).with_name("sealane")

# What a party sends to each other one before anything is revealed.
DIGEST_BYTES = 32

Columns = dict[str, "list[Any]"]
Results = dict[str, Any]


def table(folder: Path, party: str) -> Columns:
    """The columns of a party's table, read without Sealane."""
    with open(folder / f"{party}.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {name: [number(row[name]) for row in rows] for name in rows[0]}


def number(cell: str) -> int | Fraction | date | str:
    """The number of a cell, or the date, if it is one; else its text."""
    if cell.count("-") == 2:
        return date.fromisoformat(cell)
    if cell in ("true", "false"):
        return int(cell == "true")
    try:
        exact = Fraction(cell)
    except ValueError:
        return cell
    return int(exact) if exact.denominator == 1 else exact


# What each example computes, in plain Python, from the tables of its parties.


def hospital(hospital: Columns, lab: Columns) -> Results:
    weights = {name: column[0] for name, column in lab.items() if name != "threshold"}
    threshold = lab["threshold"][0]
    count = len(hospital["patient"])
    sums = [sum(hospital[name][row] * weights[name] for name in weights) for row in range(count)]
    return {"result": [total > threshold for total in sums]}


def millionaires(alice: Columns, bob: Columns) -> Results:
    return {"result": alice["fortune"][0] > bob["fortune"][0]}


def aes128(client: Columns, keeper: Columns) -> Results:
    names = [f"b{index}" for index in range(16)]
    blocks = np.array([client[name] for name in names], dtype=np.uint8).T
    key = np.array([keeper[name][0] for name in names], dtype=np.uint8)
    return {"result": encrypt(key, blocks).tolist()}


def aes_scalar(key: Columns, text: Columns) -> Results:
    return aes128(client=text, keeper=key)


def pay_gap(office: Columns, university: Columns) -> Results:
    people = list(zip(office["wage"], university["graduate"], strict=True))
    graduates = [wage for wage, graduate in people if graduate]
    others = [wage for wage, graduate in people if not graduate]
    return {
        "same_people": office["person"] == university["person"],
        "graduates": sum(graduates) // len(graduates),
        "others": sum(others) // len(others),
        "highest": max(graduates),
    }


def medication(clinic: Columns, dispenser: Columns) -> Results:
    doses = ("morning", "noon", "evening")
    days = range(len(clinic["day"]))
    missed = [any(dispenser[dose][day] < clinic[dose][day] for dose in doses) for day in days]
    runs = "".join("x" if day else " " for day in missed).split()
    same = clinic["day"] == dispenser["day"]
    return {"same_days": same, "days": sum(missed), "longest": max(map(len, runs), default=0)}


def credit(bank: Columns, lender: Columns) -> Results:
    def near(value: Fraction) -> Fraction:
        return Fraction(round(value * 2**16), 2**16)

    features = [name for name in bank if name != "applicant"]
    model = {name: near(lender[name][0]) for name in lender}
    scores = []
    for row in range(len(bank["applicant"])):
        exact = sum(near(bank[name][row]) * model[name] for name in features)
        scores.append(math.floor(exact * 2**16) / 2**16 + model["offset"])
    return {"score": scores, "approved": [score >= model["threshold"] for score in scores]}


def age_pyramid(north: Columns, south: Columns) -> Results:
    women, men = [0] * 20, [0] * 20
    for town in (north, south):
        for born, woman in zip(town["born"], town["woman"], strict=True):
            months = (2024 - born.year) * 12 + 7 - born.month - (born.day > 1)
            group = min(months // 12 // 5, 19)
            (women if woman else men)[group] += 1
    return {"result_0": women, "result_1": men}


def credit_score(acme: Columns, bolt: Columns) -> Results:
    def score(income: Any, history: Any) -> float:
        return float(income) ** 0.6 * abs(float(history) - 600) / 100

    def joint(person: int) -> float:
        a = score(acme["income_a"][person], acme["history_a"][person])
        b = score(bolt["income_b"][person], bolt["history_b"][person])
        wave = abs(math.sin((a + b) / 2))
        return (math.ceil(a) + math.floor(b)) / wave if wave else math.inf

    return {"result": [joint(person) > 700 for person in range(len(acme["person"]))]}


def black_scholes(desk: Columns, fund: Columns) -> Results:
    normal = statistics.NormalDist().cdf
    rate, volatility = float(desk["rate"][0]), float(desk["volatility"][0])
    prices = []
    for row in zip(fund["spot"], fund["strike"], fund["years"], strict=True):
        spot, strike, years = map(float, row)
        spread = volatility * math.sqrt(years)
        d1 = (math.log(spot / strike) + (rate + volatility**2 / 2) * years) / spread
        prices.append(spot * normal(d1) - strike * math.exp(-rate * years) * normal(d1 - spread))
    return {"result_0": prices, "result_1": sum(prices)}


def linear(clinic: Columns, lab: Columns) -> Results:
    """As scikit-learn 1.9.1 fits it: `LinearRegression().fit(features, days)`."""
    assert len(clinic["days"]) == len(lab["dose"]) == 60
    slopes = [0.19595215581957745, -0.8169253819079079, -1.573002370564828]
    return {"result": [5.018570022226132, *slopes]}


def logistic(bank: Columns, shop: Columns) -> Results:
    """As scikit-learn 1.9.1 fits it: `LogisticRegression(C=inf, tol=1e-12, solver=
    "newton-cholesky").fit(features, left)`.
    """
    assert len(bank["income"]) == len(shop["left"]) == 80
    return {"result": [5.011990538603061, -0.4823154914153795, -1.142440447419442]}


def clusters(grid: Columns, supplier: Columns) -> Results:
    """As scikit-learn 1.9.1 finds them: `KMeans(3, init=START, n_init=1, max_iter=3, tol=0)`."""
    assert len(grid["day"]) == len(supplier["night"]) == 90
    return {
        "result": [
            [2.579032258064516, 0.9738709677419362],
            [6.3432, 1.7904000000000002],
            [4.464411764705882, 7.820588235294117],
        ]
    }


def tpch(east: Columns, west: Columns) -> Results:
    rows = [
        dict(zip(own, row, strict=True))
        for own in (east, west)
        for row in zip(*own.values(), strict=True)
    ]
    groups = [
        [
            r
            for r in rows
            if (r["returnflag"], r["linestatus"]) == pair and r["shipdate"] <= date(1998, 9, 2)
        ]
        for pair in itertools.product("ANR", "FO")
    ]

    def cut(r: Columns) -> Any:
        return r["price_cents"] * (100 - r["discount_percent"])

    sums = {
        "sum_qty": [sum(r["quantity"] for r in group) for group in groups],
        "sum_base_price": [sum(r["price_cents"] for r in group) for group in groups],
        "sum_disc_price": [sum(map(cut, group)) for group in groups],
        "sum_charge": [sum(cut(r) * (100 + r["tax_percent"]) for r in group) for group in groups],
    }
    numbers = [len(group) for group in groups]
    discounts = [sum(r["discount_percent"] for r in group) for group in groups]

    def means(totals: list[int], unit: int) -> list[float]:
        return [total / (max(n, 1) * unit) for total, n in zip(totals, numbers, strict=True)]

    sixth = [
        r["price_cents"] * r["discount_percent"]
        for r in rows
        if r["shipdate"].year == 1994 and 5 <= r["discount_percent"] <= 7 and r["quantity"] < 24
    ]
    return {
        **sums,
        "avg_qty": means(sums["sum_qty"], 1),
        "avg_price": means(sums["sum_base_price"], 100),
        "avg_disc": means(discounts, 100),
        "count_order": numbers,
        "revenue": sum(sixth),
    }


PLAIN: Mapping[str, Callable[..., Results]] = {
    plain.__name__: plain
    for plain in (
        hospital,
        millionaires,
        aes128,
        aes_scalar,
        pay_gap,
        medication,
        age_pyramid,
        credit,
        credit_score,
        black_scholes,
        linear,
        logistic,
        clusters,
        tpch,
    )
}
NEAR = {"black_scholes": 2e-5, "linear": 2e-5, "logistic": 5e-6, "clusters": 1e-6}
"""How far results may be off, of 1 or of themselves, where numbers are rounded on the way; all
others are exact."""


class Way(NamedTuple):
    """Setting of a run: who computes, and how; the program is the same."""

    protocol: str
    helpers: tuple[str, ...] = ()
    security: str | None = None

    @property
    def options(self) -> dict[str, Any]:
        """Options of `plan` and `simulate`."""
        return self._asdict()

    @property
    def arguments(self) -> list[str]:
        """The same for the command."""
        helpers = [f"--helpers={','.join(self.helpers)}"] if self.helpers else []
        security = [f"--security={self.security}"] if self.security else []
        return [f"--protocol={self.protocol}", *helpers, *security]


HELPERS = ("ada", "ben", "cyd")
PARTIES = {name: len(inspect.signature(plain).parameters) for name, plain in PLAIN.items()}
PARTIES["aes_scalar"] += 1  # The receiver gives nothing.
PARTIES["credit_score"] += 1  # Nor does the bank.


def ways(parties: int) -> dict[str, Way]:
    """Every way to run a program of so many parties."""
    # All who take part compute: no third party gives or learns.
    of_two = {"auth": Way("auth", (), "malicious")} if parties == 2 else {}
    return of_two | {
        "clear": Way("clear"),
        "trio-outside": Way("trio", HELPERS),
        "trio-together": Way("trio", HELPERS[: 3 - parties]),
        "malicious": Way("trio", HELPERS[: 3 - parties], "malicious"),
        # Two parties own all inputs, of three as well.
        "yao": Way("yao"),
        "gmw": Way("gmw"),
        "mixed": Way("mixed"),
    }


# Products of numbers as gates: a minute each, which other examples with products make up for.
LONG = {f"{name}-{way}" for name in ("logistic", "clusters") for way in ("malicious", "auth")}

RUNS = {
    f"{name}-{label}": (EXAMPLES / name, way)
    for name, parties in sorted(PARTIES.items())
    for label, way in ways(parties).items()
    if f"{name}-{label}" not in LONG
}


def test_every_example_is_tested() -> None:
    assert {path.parent.name for path in EXAMPLES.glob("*/program.py")} == set(PLAIN)


@pytest.fixture(params=RUNS)
def run(request: pytest.FixtureRequest) -> tuple[Path, Way]:
    return RUNS[request.param]


def program_of(example: Path) -> sl.Program[..., Any]:
    names = runpy.run_path(str(example / "program.py"))
    (program,) = (item for item in names.values() if isinstance(item, sl.Program))
    return program


def expected(example: Path) -> Results:
    parties = sorted(path.stem for path in example.glob("*.csv"))
    return PLAIN[example.name](**{party: table(example, party) for party in parties})


def inputs_of(example: Path, program: sl.Program[..., Any]) -> dict[str, Any]:
    """The inputs by name, read without Sealane."""
    inputs = {}
    for parameter in program.signature.parameters:
        columns = table(example, parameter.owner)
        names = parameter.columns or (parameter.name,)
        elements = np.array([columns[name] for name in names]).T
        if not parameter.fixed:
            elements = elements[:, 0]
        if parameter.rows is None:
            elements = elements[0]
        is_boolean = parameter.element is sl.boolean
        inputs[parameter.name] = elements.astype(bool) if is_boolean else elements
    return inputs


def close(example: Path, found: Any, wanted: Any, what: str) -> None:
    """Compares results: exactly, unless the example rounds on the way."""
    off = NEAR.get(example.name)
    if off is None:
        np.testing.assert_array_equal(found, wanted, err_msg=what)
    else:
        np.testing.assert_allclose(found, wanted, rtol=off, atol=off, err_msg=what)


def rows_of(program: sl.Program[..., Any], inputs: Mapping[str, Any]) -> dict[str, int]:
    with_rows = [p for p in program.signature.parameters if p.rows is not None]
    return {str(p.rows): len(inputs[p.name]) for p in with_rows}


def command(*arguments: object) -> Any:
    """Output of `sealane ... --json`."""
    words = [str(SEALANE), *map(str, arguments), "--json"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
    return json.loads(done.stdout)


def test_simulation_gives_what_plain_python_gives_at_the_planned_cost(
    run: tuple[Path, Way],
) -> None:
    example, way = run
    program = program_of(example)
    inputs = inputs_of(example, program)
    plan = program.plan(rows=rows_of(program, inputs), **way.options)
    report = program.simulate(**inputs, **way.options)
    wanted = expected(example)
    assert set(report.results) == set(wanted)
    for name, value in wanted.items():
        close(example, report.results[name], value, name)
    assert report.payload_bytes == plan.payload_bytes
    assert report.rounds == plan.rounds
    assert sum(plan.payload_bytes.values()) > 0
    assert plan.rounds > 0


@pytest.mark.parametrize(
    ("example", "test"), [("medication", "same_days"), ("pay_gap", "same_people")]
)
def test_rows_in_another_order_are_noticed(example: str, test: str) -> None:
    program = program_of(EXAMPLES / example)
    inputs = inputs_of(EXAMPLES / example, program)
    assert program.simulate(**inputs, clear=True).results[test]
    for owner in program.parties:
        own = [p.name for p in program.signature.parameters if p.owner == owner]
        moved = {name: np.roll(inputs[name], 1, axis=0) for name in own}
        assert not program.simulate(**{**inputs, **moved}, clear=True).results[test]


def test_processes_over_tls_do_the_same(run: tuple[Path, Way]) -> None:
    example, way = run
    program = program_of(example)
    rows = rows_of(program, inputs_of(example, program))
    file = (example / "program.py", *way.arguments)
    plan = command("plan", *file, *(f"--rows={name}={count}" for name, count in rows.items()))
    inputs = [f"--input={path.stem}={path}" for path in sorted(example.glob("*.csv"))]
    report = command("run", *file, "--local", *inputs)
    assert report["payload_bytes"] == plan["payload_bytes"]
    assert report["rounds"] == plan["rounds"]
    assert report["as_planned"] is True
    assert report["rows"] == rows
    receivers = {result.name: set(result.to) for result in program.signature.results}
    wanted = expected(example)
    assert set(receivers) == set(wanted)
    for party, own in report["parties"].items():
        assert set(own["results"]) == {name for name, to in receivers.items() if party in to}
        for name, result in own["results"].items():
            close(example, np.ravel(result["values"]), np.ravel(wanted[name]), f"{party}: {name}")


OUTSIDE = [("trio", 3, example) for example in sorted(PLAIN)]
OUTSIDE += [
    (protocol, 2, example)
    for protocol in ("yao", "gmw", "mixed")
    for example in ("millionaires", "pay_gap", "credit")
]


@pytest.mark.parametrize(("protocol", "roles", "example"), OUTSIDE)
def test_those_who_do_not_compute_only_give_and_learn(
    protocol: str, roles: int, example: str
) -> None:
    program = program_of(EXAMPLES / example)
    inputs = inputs_of(EXAMPLES / example, program)
    report = program.simulate(**inputs, protocol=protocol, helpers=HELPERS[:roles])
    owners = {parameter.owner for parameter in program.signature.parameters}
    for party in program.parties:
        # Digests apart, which every party owes those who compute, who gives nothing sends nothing.
        sent = report.payload_bytes[party]
        assert (sent == roles * DIGEST_BYTES) == (party not in owners)


def test_the_bank_of_a_credit_score_sends_nothing_and_alone_learns() -> None:
    """The two companies compute, for 40 people, and nothing of a decision crosses between them."""
    example = EXAMPLES / "credit_score"
    program = program_of(example)
    inputs = {name: values[:40] for name, values in inputs_of(example, program).items()}
    plan = program.plan(rows=40)
    assert plan.payload_bytes["bank"] == 2 * DIGEST_BYTES
    report = program.simulate(**inputs)
    assert report.payload_bytes == plan.payload_bytes
    assert report.rounds == plan.rounds
    assert list(report.value) == expected(example)["result"][:40]


def test_scalar_aes_gives_the_answers_of_nist() -> None:
    program = program_of(EXAMPLES / "aes_scalar")
    # FIPS 197, appendices B and C.1; after them SP 800-38A, F.1.1, which the example's tables hold.
    cases = [
        (
            "2b7e151628aed2a6abf7158809cf4f3c",
            "3243f6a8885a308d313198a2e0370734",
            "3925841d02dc09fbdc118597196a0b32",
        ),
        (
            "000102030405060708090a0b0c0d0e0f",
            "00112233445566778899aabbccddeeff",
            "69c4e0d86a7b0430d8cdb78070b4c55a",
        ),
    ]
    for key, block, answer in cases:
        given = {"key": list(bytes.fromhex(key)), "blocks": [list(bytes.fromhex(block))]}
        assert bytes(program.simulate(**given, clear=True).value[0]).hex() == answer
    result = program.simulate(**inputs_of(EXAMPLES / "aes_scalar", program), clear=True).value
    assert [bytes(block).hex() for block in result] == [
        "3ad77bb40d7a3660a89ecaf32466ef97",
        "f5d3d58503b9699de785895a96fdbaaf",
        "43b1cd7f598ece23881b00e3ed030688",
        "7b0c785e27e8ad3f8223207104725dd4",
    ]


def test_scalar_code_takes_the_rounds_of_what_waits_for_each_other() -> None:
    """Ten substitutions, of one level where blocks are few and of three where they are many."""
    program = program_of(EXAMPLES / "aes_scalar")
    for rows, levels in ((1, 1), (4, 1), (10_000, 3)):
        # The inputs, what is dealt for the first level, digests, and what opens the result.
        outside = program.plan(rows=rows, protocol="trio", helpers=HELPERS)
        assert outside.rounds == 1 + 1 + 10 * levels + 2
        # A computing party waits for keys before it shares its inputs, or deals beside them.
        together = program.plan(rows=rows, protocol="trio")
        assert 0 <= together.rounds - outside.rounds <= 1


def test_scalar_code_is_checked_and_planned_quickly() -> None:
    """200 lookups, traced one by one: seconds here would be minutes for larger scalar code."""
    program = program_of(EXAMPLES / "aes_scalar")
    start = time.perf_counter()
    # Text and key are given by two parties, who compute for the third one.
    assert not program.check().warnings
    plan = program.plan(rows=1, protocol="clear")
    assert time.perf_counter() - start < 10
    # 160 substitutions; the round keys are their owner's work, and all else is linear.
    each, rest = divmod(plan.ands, 160)
    assert rest == 0
    assert each <= 142
