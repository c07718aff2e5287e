"""A lender scores a bank's applicants, in fixed point.

The bank keeps what it knows of its customers, and the lender keeps its model: the value of each
coefficient is its trade. The lender learns who is approved, the bank each score.
"""

from typing import Annotated, NamedTuple

import sealane as sl

FEATURES = ["income", "debt_ratio", "years_employed", "late_payments"]

Feature = Annotated[sl.FixedPoint, sl.fixed(12, 16)]
"""Income in thousands a month, ratios, years and counts: all below 2,048, to five digits."""
Score = Annotated[sl.FixedPoint, sl.fixed(24, 16)]


class Decision(NamedTuple):
    """Who learns what."""

    score: sl.Revealed[Score, "bank"]
    approved: sl.Revealed[sl.boolean, "bank", "lender"]


@sl.program
def credit(
    applicants: sl.Private[Feature, "bank", "applicants <= 10_000", FEATURES, sl.between(0, 1000)],
    model: sl.Private[Feature, "lender", FEATURES, sl.between(-100, 100)],
    offset: sl.Private[Feature, "lender", sl.between(-1000, 1000)],
    threshold: sl.Private[Feature, "lender", sl.between(-1000, 1000)],
) -> Decision:
    """Exact sums of exact products, rounded down once; approval compares the score itself."""
    score = sl.dot(applicants, model, dtype=sl.fixed(24, 16)) + offset
    return Decision(score, score >= threshold)
