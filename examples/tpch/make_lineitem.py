"""Writes line items by the rules of TPC-H (specification 3.0.1, clause 4.2.3) for the columns that
queries 1 and 6 read, split between two warehouses order by order.

python examples/tpch/make_lineitem.py [scale] [seed] [folder]

The numbers are drawn by Python, so they are not those of dbgen; their distributions are. At scale
0.01 there are 15,000 orders and about 60,000 line items.
"""

import csv
import datetime
import random
import sys
from pathlib import Path

COLUMNS = [
    "shipdate",
    "returnflag",
    "linestatus",
    "quantity",
    "price_cents",
    "discount_percent",
    "tax_percent",
]
FIRST, LAST = datetime.date(1992, 1, 1), datetime.date(1998, 12, 31)
TODAY = datetime.date(1995, 6, 17)
Row = tuple[str, str, str, int, int, int, int]


def line_items(scale: float, seed: int) -> dict[str, list[Row]]:
    """The rows of each warehouse."""
    draw = random.Random(seed)
    rows: dict[str, list[Row]] = {"east": [], "west": []}
    for order in range(round(1_500_000 * scale)):
        ordered = FIRST + datetime.timedelta(draw.randint(0, (LAST - FIRST).days - 151))
        for _ in range(draw.randint(1, 7)):
            part, quantity = draw.randint(1, round(200_000 * scale)), draw.randint(1, 50)
            retail = 90_000 + part // 10 % 20_001 + 100 * (part % 1000)
            shipped = ordered + datetime.timedelta(draw.randint(1, 121))
            received = shipped + datetime.timedelta(draw.randint(1, 30))
            flag = draw.choice("RA") if received <= TODAY else "N"
            state = "O" if shipped > TODAY else "F"
            discount, tax = draw.randint(0, 10), draw.randint(0, 8)
            row = (shipped.isoformat(), flag, state, quantity, quantity * retail, discount, tax)
            rows["west" if order % 2 else "east"].append(row)
    return rows


def main() -> None:
    """Writes a table for each warehouse, by default beside this file."""
    given = dict(enumerate(sys.argv[1:]))
    folder = Path(given.get(2, Path(__file__).parent))
    for warehouse, rows in line_items(float(given.get(0, "0.01")), int(given.get(1, "1"))).items():
        with (folder / f"{warehouse}.csv").open("w", newline="", encoding="utf-8") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(COLUMNS)
            table.writerows(rows)


if __name__ == "__main__":
    main()
