"""Prices of one party's European call options by the other party's market parameters.

The portfolio's owner learns the price of each option and their sum; the owner of rate and
volatility learns the number of options.
"""

import sealane as sl
from sealane import math


@sl.program
def prices(
    spot: sl.Private[sl.f32, "fund", "options <= 10_000"],
    strike: sl.Private[sl.f32, "fund", "options"],
    years: sl.Private[sl.f32, "fund", "options"],
    rate: sl.Private[sl.f32, "desk"],
    volatility: sl.Private[sl.f32, "desk"],
) -> tuple[sl.Revealed[sl.f32, "fund"], sl.Revealed[sl.f32, "fund"]]:
    """Black and Scholes (1973)."""
    spread = volatility * math.sqrt(years)
    d1 = (math.log(spot / strike) + (rate + volatility * volatility * 0.5) * years) / spread
    d2 = d1 - spread
    price = spot * math.ndtr(d1) - strike * math.exp(-rate * years) * math.ndtr(d2)
    return price, price.sum()
