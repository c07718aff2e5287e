//! Sizes of batches, and what set-ups and refills send.

use super::batch::Shape;
use crate::cost::both;
use sealane_ot::SoftSpoken;
use sealane_ot::source::Source;
use sealane_parties::PartyId;
use sealane_party::{Fault, Result};
use sealane_protocol::{Algebra, Choices, Correlation, Cost, Demand, Kernel, Setting};
use std::ops::RangeInclusive;

/// Bits of statistical security of a run: with which chance a party that deviates knows a product.
pub(super) const STATISTICAL: u32 = 40;

/// Leaky products of a bucket.
const BUCKETS: RangeInclusive<u32> = 3..=8;

/// Pools that the set-up fills at once, at most: 64 MiB, which is what planning refills for at a
/// time.
const POOL_BITS: u64 = (64 << 20) * 8;

/// A correlated OT, of an extension that saves work or bytes; the base OTs of a direction.
const COT: Kernel = Kernel::ns("ot", 10);
const SMALL_COT: Kernel = Kernel::ns("small_ot", 10);
const BASE_OTS: Kernel = Kernel::ns("base_ots", 19_000_000);
/// A leaky product, with its part in the combination of its bucket: some 60 cycles at 2.4 GHz, for
/// three hashes of AES under two keys and 200 bytes that are read.
const LEAKY_PRODUCT: Kernel = Kernel::ns("leaky_product", 25);

/// Fewest products of a batch in buckets of `B`: `2^-B n^-(B - 1)` is at most `2^-41`, so that all
/// batches of a run together are below `2^-40` ([`batch`](super::batch)).
fn fewest(bucket: u32) -> u64 {
    let (power, bits) = (bucket - 1, STATISTICAL + 1 - bucket);
    let enough = |n: &u64| u128::from(*n).pow(power) >= 1 << bits;
    let root = 1_u64 << (bits / power);
    (root..=2 * root)
        .find(enough)
        .expect("a power of two above it")
}

/// The OTs of both directions.
pub(super) fn source(setting: &Setting) -> Source {
    Source::SoftSpoken(SoftSpoken::on(setting.network))
}

/// Products of two authenticated bits.
pub(crate) const PRODUCT: Correlation = Correlation::Triple {
    algebra: Algebra::Z2,
};

/// Bits of `receiver` with MACs under the offset of `sender`.
pub(crate) fn bits_of(sender: PartyId, receiver: PartyId) -> Correlation {
    Correlation::Cot {
        sender,
        receiver,
        choices: Choices::Random,
    }
}

/// Numbers of bits of the garbler and of the evaluator in a demand, beside products.
pub(super) fn bits([garbler, evaluator]: [PartyId; 2], demand: &Demand) -> [u64; 2] {
    [(evaluator, garbler), (garbler, evaluator)]
        .map(|(sender, receiver)| demand.count(bits_of(sender, receiver)))
}

/// The smallest bucket of a batch of so many products.
fn bucket(products: u64) -> Option<u32> {
    BUCKETS
        .into_iter()
        .find(|bucket| fewest(*bucket) <= products)
}

/// The batch of products in what a refill makes, if there is one.
///
/// # Errors
/// There are too few for any bucket, or more than have numbers.
pub(super) fn shape(demand: &Demand) -> Result<Option<Shape>> {
    let products = demand.count(PRODUCT);
    if products == 0 {
        return Ok(None);
    }
    let bucket = bucket(products).filter(|_| products < 1 << 32);
    let bucket = bucket.ok_or_else(|| Fault::internal("a batch of a size that no plan has"))?;
    Ok(Some(Shape {
        bucket: bucket as usize,
        products: products as usize,
    }))
}

/// Batches of a refill, one after the other: each of as many products as a batch with the smallest
/// buckets needs, or somewhat more, so that a batch takes the same memory whatever a refill makes.
/// All are alike but for one product, or one bit of a kind, that the first ones have more.
pub(super) fn batches(made: &Demand) -> impl Iterator<Item = Demand> {
    let count = made.count(PRODUCT) / fewest(*BUCKETS.start());
    let count = count.max(1);
    (0..count).map(move |at| {
        let mut part = Demand::default();
        for (kind, all) in &made.0 {
            part.add(*kind, all / count + u64::from(at < all % count));
        }
        part
    })
}

/// Products of all batches where so many are lacking: as many as make the fewest bytes, of which
/// those that are not lacking are left over. Buckets are smaller in larger batches.
fn products(setting: &Setting, lacking: u64) -> u64 {
    let cot_bits = if setting.network.spares_bytes() {
        15
    } else {
        31
    };
    let bits = |bucket: u32| {
        let (bucket, count) = (u64::from(bucket), lacking.max(fewest(bucket)));
        (3 * bucket * cot_bits + 48 * bucket + 2 * bucket - 1) * count
    };
    let least = BUCKETS.min_by_key(|bucket| bits(*bucket));
    lacking.max(fewest(least.expect("buckets of some size")))
}

pub(super) fn refill_counts(setting: &Setting, lacking: &Demand) -> Demand {
    let mut made = lacking.clone();
    if let Some(count) = made.0.get_mut(&PRODUCT) {
        *count = products(setting, *count);
    }
    made
}

/// All that a run takes, if it is little; otherwise refills make it, some tiles at a time.
pub(super) fn set_up_counts(setting: &Setting, demand: &Demand) -> Demand {
    let pooled = demand.only(|kind| pool_bits(kind) > 0);
    let made = refill_counts(setting, &pooled);
    let bits = made.0.iter().map(|(kind, count)| count * pool_bits(*kind));
    if bits.sum::<u64>() <= POOL_BITS {
        made
    } else {
        Demand::default()
    }
}

/// Bits of a correlation in a pool: a block, or MACs and keys of a product and its factors.
pub(super) fn pool_bits(kind: Correlation) -> u64 {
    match kind {
        Correlation::Cot { .. } => 128,
        PRODUCT => 6 * 128,
        _ => 0,
    }
}

/// Bits of memory in which a refill is made: of its first batch, blocks of all OTs, parts of
/// products, and bits.
pub(super) fn making_bits(demand: &Demand) -> u64 {
    let demand = batches(demand).next().unwrap_or_default();
    let products = demand.count(PRODUCT);
    let layers = bucket(products).map_or(0, u64::from);
    let beside = demand.only(|kind| matches!(kind, Correlation::Cot { .. }));
    let beside = beside.0.values().sum::<u64>() * (128 + 1);
    layers * products * (3 * 2 * 128 + 64 + 8) + beside
}

pub(super) fn set_up_cost(setting: &Setting, demand: &Demand) -> Cost {
    let flights = source(setting).set_up_both();
    // Both directions cross.
    let bytes = flights.iter().map(|of| of.from_sender + of.from_receiver);
    let costs = bytes.map(|bytes| both(setting, [bytes; 2]));
    let mut cost = Cost {
        work: BASE_OTS.times(2),
        ..costs.fold(Cost::default(), then)
    };
    let made = set_up_counts(setting, demand);
    if !made.is_empty() {
        cost = then(cost, refill_cost(setting, &made));
    }
    cost
}

pub(super) fn refill_cost(setting: &Setting, demand: &Demand) -> Cost {
    let costs = batches(demand).map(|batch| batch_cost(setting, &batch));
    costs.fold(Cost::default(), then)
}

/// The cost of one batch, and of the bits that are made with it.
pub(super) fn batch_cost(setting: &Setting, demand: &Demand) -> Cost {
    let made = bits(crate::common::roles(setting), demand);
    let shape = demand.count(PRODUCT);
    let shape = (shape > 0).then(|| Shape {
        bucket: bucket(shape).unwrap_or(*BUCKETS.end()) as usize,
        products: shape as usize,
    });
    let beside = shape.map_or(0, |shape| shape.bits() as u64);
    let source = source(setting).cost();
    // A receiver alone sends something.
    let extension = |count: u64| {
        let flights = source.extend(0, count);
        flights
            .iter()
            .map(|flight| flight.from_receiver)
            .sum::<u64>()
    };
    let first = made.map(|count| extension(count + beside));
    let [commitment, rest @ ..] = shape.map_or([0; 6], Shape::flights);
    let mut cost = both(setting, first.map(|bytes| bytes + commitment));
    for bytes in rest.into_iter().filter(|bytes| *bytes > 0) {
        cost = then(cost, both(setting, [bytes; 2]));
    }
    let cot = if setting.network.spares_bytes() {
        SMALL_COT
    } else {
        COT
    };
    let leaky = shape.map_or(0, |shape| shape.items() as u64);
    let ots = made.iter().sum::<u64>() + 2 * beside;
    cost.work = cot.times(ots).and(LEAKY_PRODUCT, leaky);
    cost
}

/// One cost after the other.
fn then(mut cost: Cost, next: Cost) -> Cost {
    cost.flights.extend(next.flights);
    cost.work.add(&next.work, 1);
    cost
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Auth, Transfers};
    use sealane_parties::NetworkClass;
    use sealane_protocol::Protocol;

    #[test]
    fn batches_are_as_large_as_their_buckets_ask() {
        let fewest = BUCKETS.map(fewest).collect::<Vec<_>>();
        assert_eq!(fewest, [524_288, 5161, 512, 128, 51, 27]);
        for (bucket, n) in BUCKETS.zip(fewest) {
            let chance = |n: u64| 2_f64.powi(-(bucket as i32)) * (n as f64).powi(1 - bucket as i32);
            assert!(chance(n) <= 2_f64.powi(-41) && chance(n - 1) > 2_f64.powi(-41));
        }
    }

    #[test]
    fn a_refill_is_made_in_batches_of_the_same_size() {
        let bits = bits_of(PartyId(0), PartyId(1));
        for (products, batched) in [
            (0, vec![0]),
            (1_048_575, vec![1_048_575]),
            (1_048_577, vec![524_289, 524_288]),
            (1_572_866, vec![524_289, 524_289, 524_288]),
        ] {
            let mut made = Demand::default();
            made.add(PRODUCT, products);
            made.add(bits, 1000);
            let batches = batches(&made).collect::<Vec<_>>();
            let of = |kind| batches.iter().map(move |batch| batch.count(kind));
            assert_eq!(of(PRODUCT).collect::<Vec<_>>(), batched);
            assert_eq!(of(bits).sum::<u64>(), 1000);
            assert!(of(bits).max().unwrap() - of(bits).min().unwrap() <= 1);
        }
    }

    /// A refill's number of products has the bucket for which it was chosen, and whoever makes a
    /// batch of that number finds the same.
    #[test]
    fn a_refill_makes_at_least_what_is_lacking_in_the_cheapest_buckets() {
        let mut setting = Setting::in_order(&Auth::<Transfers>::profile(), 2);
        for network in [NetworkClass::LAN, NetworkClass::WAN] {
            setting.network = network;
            let bytes = |count: u64| {
                let mut demand = Demand::default();
                demand.add(PRODUCT, count);
                let cost = refill_cost(&setting, &demand);
                let sent = cost.flights.iter().flatten().map(|message| message.bytes);
                sent.sum::<u64>()
            };
            for lacking in [
                1, 10, 27, 28, 51, 200, 511, 4000, 5161, 70_000, 200_000, 600_000, 2_000_000,
            ] {
                let made = products(&setting, lacking);
                assert!(made >= lacking);
                for other in BUCKETS.map(|bucket| lacking.max(fewest(bucket))) {
                    // Padding of OTs and of bits takes some.
                    let slack = 2 * 128 * 4 + 100;
                    assert!(
                        bytes(made) <= bytes(other) + slack,
                        "{lacking}: {made}, {other}"
                    );
                }
            }
        }
    }
}
