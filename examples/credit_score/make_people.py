"""Writes the tables of the example: people of two companies, made up from a seed.

python examples/credit_score/make_people.py [people] [seed]
"""

import csv
import random
import sys
from pathlib import Path


def main() -> None:
    """Writes a table for each company beside this file."""
    given = [int(word) for word in sys.argv[1:]]
    people, seed = [*given, *[1000, 2023][len(given) :]]
    draw = random.Random(seed)
    for company, suffix in [("acme", "a"), ("bolt", "b")]:
        path = Path(__file__).with_name(f"{company}.csv")
        with path.open("w", newline="", encoding="utf-8") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(["person", f"income_{suffix}", f"history_{suffix}"])
            for person in range(1, people + 1):
                # Incomes of a year spread as real ones do; scores lie where credit bureaus' lie.
                income = round(draw.lognormvariate(10.6, 0.5), 2)
                history = min(max(round(draw.gauss(680, 90)), 300), 850)
                table.writerow([person, income, history])


if __name__ == "__main__":
    main()
