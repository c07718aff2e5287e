"""How likely a customer leaves, by what a shop and a bank know: logistic regression, fitted on the
columns of both by Newton's method.

Both learn the coefficients, and nothing of a customer.
"""

import sealane as sl
from sealane import math

STEPS = 6


@sl.program
def fit(
    shop: sl.Private[sl.f32, "shop", "customers <= 10_000", ["visits", "left"]],
    bank: sl.Private[sl.f32, "bank", "customers", sl.column("income")],
) -> sl.Revealed[sl.f32, "shop", "bank"]:
    """The intercept and the coefficients of visits and income."""
    left = shop[:, 1]
    columns = [left * 0.0 + 1.0, shop[:, 0], bank]
    weights: list[sl.f32 | float] = [0.0] * len(columns)
    for _ in range(STEPS):
        score = columns[0] * weights[0]
        for column, weight in zip(columns[1:], weights[1:], strict=True):
            score = score + column * weight
        chance = math.sigmoid(score)
        spread = chance * (1.0 - chance)
        scaled = [column * spread for column in columns]
        hessian = [
            [*(sl.dot(a, b) for b in columns), sl.dot(c, left - chance)]
            for a, c in zip(scaled, columns, strict=True)
        ]
        steps = solve(hessian)
        weights = [weight + step for weight, step in zip(weights, steps, strict=True)]
    return sl.stack(weights)


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
