"""Prices of one party's European call options by the other party's market parameters.

The portfolio's owner learns the price of each option and their sum; the owner of rate and
volatility learns the number of options.
"""

import sealane as sl
from sealane import math

ROOT_HALF = 0.5**0.5


@sl.program
def prices(
    spot: sl.Private[sl.f32, "fund", "options <= 10_000"],
    strike: sl.Private[sl.f32, "fund", "options"],
    years: sl.Private[sl.f32, "fund", "options"],
    rate: sl.Private[sl.f32, "desk"],
    volatility: sl.Private[sl.f32, "desk"],
) -> tuple[sl.Revealed[sl.f32, "fund"], sl.Revealed[sl.f32, "fund"]]:
    """Black and Scholes (1973), with the normal distribution by the error function."""
    spread = volatility * math.sqrt(years)
    d1 = (math.log(spot / strike) + (rate + volatility * volatility * 0.5) * years) / spread
    d2 = d1 - spread
    price = spot * normal(d1) - strike * math.exp(-rate * years) * normal(d2)
    return price, price.sum()


def normal(x: sl.f32) -> sl.f32:
    """The distribution function of the normal distribution."""
    return math.erfc(-x * ROOT_HALF) * 0.5
