"""How a patient's recovery depends on age, dose and exercise, of which a clinic knows the first and
a lab the others: linear regression, fitted on the columns of both.

Both learn the coefficients, and nothing of a patient.
"""

import sealane as sl


@sl.program
def fit(
    clinic: sl.Private[sl.f32, "clinic", "patients <= 10_000", ["age", "days"]],
    lab: sl.Private[sl.f32, "lab", "patients", ["dose", "exercise"]],
) -> sl.Revealed[sl.f32, "clinic", "lab"]:
    """The intercept and the coefficients of age, dose and exercise."""
    columns = [clinic[:, 0], lab[:, 0], lab[:, 1], clinic[:, 1]]
    means = [sl.mean(column) for column in columns]
    centred = [column - mean for column, mean in zip(columns, means, strict=True)]
    *features, days = centred
    normal = [[*(sl.dot(a, b) for b in features), sl.dot(a, days)] for a in features]
    slopes = solve(normal)
    offset = means[-1]
    for slope, mean in zip(slopes, means, strict=False):
        offset = offset - slope * mean
    return sl.stack([offset, *slopes])


def solve(rows: list[list[sl.f32]]) -> list[sl.f32]:
    """Solves linear equations, whose right sides are last, by Gaussian elimination. A matrix of
    products of columns is positive definite, so no pivot has to be looked for.
    """
    for at, pivot in enumerate(rows):
        for other in range(len(rows)):
            if other != at:
                factor = rows[other][at] / pivot[at]
                rows[other] = [x - factor * y for x, y in zip(rows[other], pivot, strict=True)]
    return [row[-1] / row[at] for at, row in enumerate(rows)]
