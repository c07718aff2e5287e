"""Queries 1 and 6 of TPC-H at scale 0.01, with the rows split between two owners, equal DuckDB's
answers on all rows exactly.
"""

from __future__ import annotations

import runpy
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

duckdb = pytest.importorskip("duckdb")

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "tpch"

# The columns in their types of TPC-H. Products of decimals are decimals in DuckDB.
VIEW = """
create table lineitem as select
    shipdate::date as l_shipdate, returnflag as l_returnflag, linestatus as l_linestatus,
    quantity::decimal(15, 2) as l_quantity,
    (price_cents::decimal(15, 0) * 0.01)::decimal(15, 2) as l_extendedprice,
    (discount_percent::decimal(15, 0) * 0.01)::decimal(15, 2) as l_discount,
    (tax_percent::decimal(15, 0) * 0.01)::decimal(15, 2) as l_tax
from read_csv(['{east}', '{west}'], all_varchar=true)
"""
FIRST = """
select l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice),
    sum(l_extendedprice * (1 - l_discount)), sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)),
    avg(l_quantity), avg(l_extendedprice), avg(l_discount), count(*)
from lineitem where l_shipdate <= date '1998-12-01' - interval '90' day
group by l_returnflag, l_linestatus order by l_returnflag, l_linestatus
"""
SIXTH = """
select sum(l_extendedprice * l_discount) from lineitem
where l_shipdate >= date '1994-01-01' and l_shipdate < date '1994-01-01' + interval '1' year
    and l_discount between 0.06 - 0.01 and 0.06 + 0.01 and l_quantity < 24
"""


def write(folder: Path, scale: float) -> dict[str, Path]:
    make = runpy.run_path(str(FOLDER / "make_lineitem.py"))
    files = {}
    for owner, rows in make["line_items"](scale, 1).items():
        files[owner] = folder / f"{owner}.csv"
        lines = [make["COLUMNS"], *rows]
        files[owner].write_text("\n".join(",".join(map(str, line)) for line in lines) + "\n")
    return files


def test_queries_of_both_owners_equal_those_of_duckdb(tmp_path: Path) -> None:
    files = write(tmp_path, 0.01)
    names: dict[str, Any] = runpy.run_path(str(FOLDER / "program.py"))
    program = names["tpch"]
    owner = {p.name: p.owner for p in program.signature.parameters}
    tables = {name: files[of] for name, of in owner.items()}
    report = program.simulate(**tables, progress=False)
    assert report.as_planned
    found = report.value

    database = duckdb.connect()
    database.execute(VIEW.format(**{name: str(path) for name, path in files.items()}))
    (rows,) = database.execute("select count(*) from lineitem").fetchone()
    assert 59_000 < rows < 61_000
    groups = [(flag, state) for flag in names["FLAGS"] for state in names["STATES"]]
    wanted = {tuple(row[:2]): row[2:] for row in database.execute(FIRST).fetchall()}
    assert len(wanted) == 4
    for at, group in enumerate(groups):
        if group not in wanted:
            assert found.count_order[at] == 0
            continue
        quantity, base, cut, charge, *means, count = wanted[group]
        assert found.count_order[at] == count
        assert Decimal(int(found.sum_qty[at])) == quantity
        assert Decimal(int(found.sum_base_price[at])) / 100 == base
        assert Decimal(int(found.sum_disc_price[at])) / 10_000 == cut
        assert Decimal(int(found.sum_charge[at])) / 1_000_000 == charge
        mine = [found.avg_qty[at], found.avg_price[at], found.avg_disc[at]]
        assert [float(mean) for mean in mine] == means
        # Python rounds a quotient of whole numbers once.
        cents, count = int(found.sum_base_price[at]), int(found.count_order[at])
        assert mine[:2] == [int(found.sum_qty[at]) / count, cents / (100 * count)]
    (revenue,) = database.execute(SIXTH).fetchone()
    assert Decimal(int(found.revenue)) / 10_000 == revenue
    # The work on rows is that of their owners alone.
    assert program.plan(rows={"east_rows": 1, "west_rows": 1}).ands == report.plan.ands
