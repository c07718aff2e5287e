"""Programs that data teams write, against pandas, under every protocol."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sealane as sl
from conftest import PROTOCOLS, learns, results

pd = pytest.importorskip("pandas")

pytestmark = pytest.mark.parametrize("protocol", PROTOCOLS)
RANDOM = np.random.default_rng(18)
MILLION = sl.between(0, 1_000_000)
Channel = sl.category(["ads", "mail", "search"])
Region = sl.category(["north", "south", "west"])
QUARTERS = [1, 2, 3, 4]


@sl.program
def funnel(
    channel: sl.Private[Channel, "shop", "visits <= 1_000"],
    cart: sl.Private[sl.boolean, "shop", "visits"],
    paid: sl.Private[sl.boolean, "bank", "visits"],
    amount: sl.Private[sl.u32, "bank", "visits", MILLION],
) -> tuple[sl.Revealed[sl.u16, "shop"], sl.Revealed[sl.f64, "shop"], sl.Revealed[sl.u64, "shop"]]:
    sold = cart & paid
    groups = sl.group_by(channel).agg(
        carts=sl.sum(cart),
        rate=sl.mean(sold),
        revenue=sl.sum(sl.where(sold, amount, 0), dtype=sl.u64),
    )
    return groups.carts, groups.rate, groups.revenue


def test_a_sales_funnel_by_channel(protocol: str) -> None:
    table = pd.DataFrame(
        {
            "channel": RANDOM.choice(Channel._texts, 30),
            "cart": RANDOM.random(30) < 0.6,
            "paid": RANDOM.random(30) < 0.5,
            "amount": RANDOM.integers(0, 10**6, 30),
        }
    )
    found = results(funnel, *(table[name] for name in table), protocol=protocol)
    table["sold"] = table.cart & table.paid
    table["revenue"] = table.amount.where(table.sold, 0)
    groups = table.groupby("channel")
    wanted = [groups.cart.sum(), groups.sold.mean(), groups.revenue.sum()]
    for one, right in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, right)


@sl.program
def retention(
    signup: sl.Private[sl.date, "crm", "people <= 1_000"],
    last: sl.Private[sl.nullable(sl.date), "app", "people"],
) -> tuple[sl.Revealed[sl.u16, "crm"], sl.Revealed[sl.f64, "crm"]]:
    month = signup.year.astype(sl.i32) * 12 + signup.month
    active = last.fill(signup)
    stayed = active.year.astype(sl.i32) * 12 + active.month - month
    cohorts = [2024 * 12 + month for month in (1, 2, 3)]
    groups = sl.group_by(month, categories=cohorts).agg(n=sl.count(), kept=sl.mean(stayed >= 2))
    return groups.n, groups.kept


def test_retention_by_month_of_signup(protocol: str) -> None:
    signup = pd.Series(
        pd.Timestamp("2024-01-01") + pd.to_timedelta(RANDOM.integers(0, 91, 40), "D")
    )
    last = signup + pd.to_timedelta(RANDOM.integers(0, 120, 40), "D")
    last = last.mask(RANDOM.random(40) < 0.2)
    number, kept = results(retention, signup, last, protocol=protocol)
    month = signup.dt.month
    there = last.fillna(signup)
    stayed = (there.dt.year - 2024) * 12 + there.dt.month - month >= 2
    np.testing.assert_array_equal(number, month.value_counts().sort_index())
    np.testing.assert_array_equal(kept, stayed.groupby(month).mean())


@sl.program
def churn(
    months: sl.Private[sl.f32, "telco", "people <= 1_000"],
    calls: sl.Private[sl.f32, "support", "people"],
    weights: sl.Private[sl.f32, "support", 3],
) -> tuple[sl.Revealed[sl.f32, "telco"], sl.Revealed[sl.u8, "telco"]]:
    score = sl.math.sigmoid(weights[0] + weights[1] * months + weights[2] * calls)
    return score, sl.searchsorted([0.25, 0.5, 0.75], score).astype(sl.u8)


def test_a_churn_score_with_secret_weights(protocol: str) -> None:
    months = RANDOM.uniform(1, 60, 6).astype(np.float32)
    calls = RANDOM.integers(0, 9, 6).astype(np.float32)
    weights = np.array([0.5, -0.1, 0.7], np.float32)
    score, band = results(churn, months, calls, weights, protocol=protocol)
    exponent = weights[0] + weights[1] * months + weights[2] * calls
    np.testing.assert_allclose(score, 1 / (1 + np.exp(-exponent.astype(float))), rtol=1e-5)
    np.testing.assert_array_equal(band, np.searchsorted([0.25, 0.5, 0.75], score))


@sl.program
def overlap(
    ours: sl.Private[sl.u32, "grocer", "items <= 1_000"],
    theirs: sl.Private[sl.u32, "baker", "goods <= 1_000"],
) -> tuple[sl.Revealed[sl.u16, "grocer", "baker"], sl.Revealed[sl.f64, "grocer", "baker"]]:
    both = sl.sum(sl.isin(ours, theirs), dtype=sl.i16)
    either = sl.count(ours).astype(sl.i16) + sl.count(theirs) - both
    return both.astype(sl.u16), both.astype(sl.f64) / either.astype(sl.f64)


def test_the_overlap_of_two_baskets(protocol: str) -> None:
    ours, theirs = (RANDOM.choice(60, count, replace=False) for count in (15, 20))
    both, share = results(overlap, ours, theirs, protocol=protocol)
    assert both == len({*ours} & {*theirs})
    assert share == both / len({*ours} | {*theirs})


@sl.program
def weighted_median(
    price: sl.Private[sl.u32, "market", "trades <= 1_000", MILLION],
    volume: sl.Private[sl.u32, "broker", "trades", MILLION],
) -> sl.Revealed[sl.u32, "market"]:
    prices, volumes = sl.sort_by(price, volume, stable=False)
    reached = sl.cumsum(volumes, dtype=sl.u64) * 2 >= sl.sum(volumes, dtype=sl.u64)
    return sl.min(sl.where(reached, prices, 1_000_000))


def test_a_weighted_median(protocol: str) -> None:
    price, volume = RANDOM.integers(0, 10**6, 20), RANDOM.integers(1, 1000, 20)
    (found,) = results(weighted_median, price, volume, protocol=protocol)
    trades = pd.DataFrame({"price": price, "volume": volume}).sort_values("price")
    assert found == trades.price[trades.volume.cumsum() * 2 >= volume.sum()].iloc[0]


@sl.program
def winsorised(
    wage: sl.Private[sl.u32, "office", "people <= 1_000", MILLION],
    bonus: sl.Private[sl.u32, "bank", "people", MILLION],
) -> sl.Revealed[sl.f64, "office"]:
    pay = wage + bonus
    low = sl.quantile(pay, 0.05, method="higher")
    high = sl.quantile(pay, 0.95, method="lower")
    return sl.mean(sl.clip(pay, low, high))


def test_a_winsorised_mean(protocol: str) -> None:
    wage, bonus = RANDOM.integers(0, 10**6, (2, 25))
    (found,) = results(winsorised, wage, bonus, protocol=protocol)
    pay = pd.Series(wage + bonus)
    ends = pay.quantile(0.05, interpolation="higher"), pay.quantile(0.95, interpolation="lower")
    assert found == pay.clip(*ends).mean()


@sl.program
def weeks(
    sold: sl.Private[sl.u16, "shop", "days <= 1_000"], returned: sl.Private[sl.u16, "depot", "days"]
) -> learns("shop", sl.i32, sl.nullable(sl.f64), sl.i32):
    total = sl.cumsum(sold.astype(sl.i32) - returned)
    day = sl.cumsum(sl.where(sold == sold, sl.u16(1), 0))
    week = total - sl.where(day <= 7, 0, sl.roll(total, 7))
    return week, sl.where(day < 7, None, week.astype(sl.f64) / 7), sl.diff(total, prepend=0)


def test_rolling_sums_of_seven_days(protocol: str) -> None:
    sold, returned = RANDOM.integers(0, 60_000, (2, 20))
    week, mean, net = results(weeks, sold, returned, protocol=protocol)
    days = pd.Series(sold - returned)
    np.testing.assert_array_equal(week, days.rolling(7, min_periods=1).sum())
    np.testing.assert_array_equal(mean.filled(np.nan), days.rolling(7).sum() / 7)
    np.testing.assert_array_equal(net, days)


@sl.program
def percentiles(
    score: sl.Private[sl.u16, "school", "pupils <= 1_000"],
    extra: sl.Private[sl.u8, "tutor", "pupils"],
) -> tuple[sl.Revealed[sl.f64, "school"], sl.Revealed[sl.u8, "school"]]:
    total = score.astype(sl.u32) + extra
    others = sl.count(total).astype(sl.f64) - 1
    share = (sl.rank(total) - 1).astype(sl.f64) / others
    return share, sl.saturate(share * 4, sl.u4).astype(sl.u8) + 1


def test_percent_ranks_and_quartiles(protocol: str) -> None:
    score, extra = RANDOM.integers(0, 20, 15), RANDOM.integers(0, 5, 15)
    share, quartile = results(percentiles, score, extra, protocol=protocol)
    wanted = (pd.Series(score + extra).rank(method="min") - 1) / 14
    np.testing.assert_array_equal(share, wanted)
    np.testing.assert_array_equal(quartile, np.floor(wanted * 4) + 1)


@sl.program
def pivot(
    region: sl.Private[Region, "sales", "orders <= 1_000"],
    quarter: sl.Private[sl.u8, "sales", "orders", sl.between(1, 4)],
    amount: sl.Private[sl.u32, "bank", "orders", MILLION],
) -> tuple[sl.Revealed[sl.u64, "sales"], sl.Revealed[sl.f64, "sales"]]:
    cells = [(name, number) for name in Region._texts for number in QUARTERS]
    groups = sl.group_by((region, quarter), categories=cells).agg(
        total=sl.sum(amount, dtype=sl.u64), mean=sl.mean(amount)
    )
    return groups.total.reshape(3, 4), groups.mean.reshape(3, 4)


def test_a_pivot_by_two_categories(protocol: str) -> None:
    table = pd.DataFrame(
        {
            "region": RANDOM.choice(Region._texts, 40),
            "quarter": RANDOM.choice(QUARTERS, 40),
            "amount": RANDOM.integers(0, 10**6, 40),
        }
    )
    found = results(pivot, *(table[name] for name in table), protocol=protocol)
    for one, function, none in zip(found, ("sum", "mean"), (0, np.nan), strict=True):
        wanted = table.pivot_table("amount", "region", "quarter", function, fill_value=none)
        wanted = wanted.reindex(index=Region._texts, columns=QUARTERS, fill_value=none)
        np.testing.assert_array_equal(one, wanted)


@sl.program
def segments(
    client: sl.Private[sl.u32, "crm", "clients <= 100"],
    segment: sl.Private[sl.u8, "crm", "clients"],
    buyer: sl.Private[sl.u32, "shop", "orders <= 1_000"],
    amount: sl.Private[sl.u32, "shop", "orders", MILLION],
) -> tuple[sl.Revealed[sl.u8, "crm"], sl.Revealed[sl.u64, "crm"], sl.Revealed[sl.f64, "crm"]]:
    def spent(one: Any) -> Any:
        return sl.sum(sl.where(buyer == one, amount, 0), dtype=sl.u64)

    spend = sl.map(spent, client)
    groups = sl.group_by(segment, most=4).agg(
        total=sl.sum(spend, dtype=sl.u64), mean=sl.mean(spend)
    )
    return groups.keys, groups.total, groups.mean


def test_a_join_and_groups_of_it(protocol: str) -> None:
    clients = pd.DataFrame(
        {"id": RANDOM.choice(99, 8, replace=False), "segment": RANDOM.integers(1, 4, 8)}
    )
    orders = pd.DataFrame(
        {"id": RANDOM.choice([*clients.id, 500], 20), "amount": RANDOM.integers(0, 10**6, 20)}
    )
    inputs = [clients.id, clients.segment, orders.id, orders.amount]
    keys, total, mean = results(segments, *inputs, protocol=protocol)
    spend = orders.groupby("id").amount.sum().reindex(clients.id, fill_value=0)
    groups = spend.groupby(clients.segment.to_numpy())
    assert keys.tolist()[: len(groups)] == list(groups.groups)
    np.testing.assert_array_equal(total[: len(groups)], groups.sum())
    np.testing.assert_array_equal(mean[: len(groups)], groups.mean())
