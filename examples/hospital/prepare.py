"""Makes the hospital's file from the original table. Needs nothing but Python.

    python prepare.py            # data/breast_cancer.csv -> hospital.csv, data/units.csv
    python prepare.py --table    # first rewrites data/breast_cancer.csv from scikit-learn's package

The table holds decimal measurements; the secure program computes on integers. Each column is
therefore written in a decimal unit of its own, 10^-digits of the original unit, with as many
digits as the column has, or as many as 16 unsigned bits can hold if those are fewer. Columns of
the second kind are rounded, half to even; data/units.csv says which, and by how much at most.
"""

import csv
import sys
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path

HERE = Path(__file__).parent
TABLE = HERE / "data" / "breast_cancer.csv"
UNITS = HERE / "data" / "units.csv"
HOSPITAL = HERE / "hospital.csv"

LARGEST = 2**16 - 1


def main() -> None:
    """Writes hospital.csv and data/units.csv."""
    if "--table" in sys.argv[1:]:
        write_table_from_scikit_learn()
    names, columns = read_measurements()
    digits = [digits_of(column) for column in columns]
    scaled = [to_integers(column, count) for column, count in zip(columns, digits, strict=True)]

    with open(HOSPITAL, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["patient", *names])
        for patient, row in enumerate(zip(*scaled, strict=True), start=1):
            writer.writerow([patient, *row])

    with open(UNITS, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["column", "unit", "least", "greatest", "rounded_rows", "largest_rounding"])
        for name, column, count, integers in zip(names, columns, digits, scaled, strict=True):
            errors = [
                abs(x - Decimal(n).scaleb(-count)) for x, n in zip(column, integers, strict=True)
            ]
            writer.writerow(
                [
                    name,
                    f"1e-{count}",
                    min(integers),
                    max(integers),
                    sum(error != 0 for error in errors),
                    f"{max(errors):f}" if any(errors) else "0",
                ]
            )


def read_measurements() -> tuple[list[str], list[list[Decimal]]]:
    """Names in snake case and the exact decimal columns, without the diagnosis."""
    with open(TABLE, newline="") as file:
        header, *rows = csv.reader(file)
    names = [name.replace(" ", "_") for name in header[:-1]]
    columns = [[Decimal(row[index]) for row in rows] for index in range(len(names))]
    return names, columns


def digits_of(column: list[Decimal]) -> int:
    """Decimal digits after the point: all that the column has, or fewer, so that 16 bits do."""
    digits = max(0, *(decimals(value) for value in column))
    while max(to_integers(column, digits)) > LARGEST:
        digits -= 1
    return digits


def decimals(value: Decimal) -> int:
    """Digits after the point."""
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int), "the table holds finite numbers"
    return -exponent


def to_integers(column: list[Decimal], digits: int) -> list[int]:
    """Each value in units of 10^-digits."""
    return [int(x.scaleb(digits).to_integral_value(ROUND_HALF_EVEN)) for x in column]


def write_table_from_scikit_learn() -> None:
    """The package's own file with a header: its decimal texts are kept as they are."""
    from importlib.resources import files

    from sklearn.datasets import load_breast_cancer

    names = load_breast_cancer().feature_names
    source = files("sklearn.datasets.data").joinpath("breast_cancer.csv").read_text()
    (_, _, *classes), *rows = csv.reader(source.splitlines())
    with open(TABLE, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*names, "diagnosis"])
        writer.writerows([*row[:-1], classes[int(row[-1])]] for row in rows)


if __name__ == "__main__":
    main()
