"""Which pairs of people a bank would lend to, by scores that two companies keep to themselves.

The bank learns one decision for each pair, and neither a score nor an income. Each company computes
the scores of its own people alone; the joint score is computed on secrets.
"""

import sealane as sl
from sealane import math


@sl.program
def approved(
    income_a: sl.Private[sl.f64, "acme", "people <= 10_000"],
    history_a: sl.Private[sl.f64, "acme", "people"],
    income_b: sl.Private[sl.f64, "bolt", "people"],
    history_b: sl.Private[sl.f64, "bolt", "people"],
) -> sl.Revealed[sl.boolean, "bank"]:
    """A pair is approved if its joint score is above 700."""
    a = math.pow(income_a, 0.6) * abs(history_a - 600.0) / 100.0
    b = math.pow(income_b, 0.6) * abs(history_b - 600.0) / 100.0
    return (math.ceil(a) + math.floor(b)) / abs(math.sin((a + b) / 2.0)) > 700.0
