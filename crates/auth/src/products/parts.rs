//! Parts of what a refill sends, as plans state them.

use super::batch::Shape;
use super::cost;
use sealane_party::COMMITMENT_BYTES;
use sealane_protocol::{Batch, Demand, Flight, Message, Parts, Setting};

/// The parts of a refill, and its batches.
pub(super) fn parts(setting: &Setting, made: &Demand) -> Parts {
    let mut all = Parts::default();
    if made.is_empty() {
        return all;
    }
    for batch in cost::batches(made) {
        let (parts, shape) = of_batch(setting, &batch);
        for (name, flight) in parts {
            match all.parts.iter_mut().find(|(known, _)| *known == name) {
                Some((_, messages)) => messages.extend(flight),
                None => all.parts.push((name, flight)),
            }
        }
        let shape = shape.map(|Shape { bucket, products }| Batch {
            products: products as u64,
            bucket: bucket as u32,
        });
        match (shape, all.batches.last_mut()) {
            (None, _) => {}
            (Some(shape), Some((known, times))) if *known == shape => *times += 1,
            (Some(shape), _) => all.batches.push((shape, 1)),
        }
    }
    all
}

/// The parts of one batch.
fn of_batch(setting: &Setting, made: &Demand) -> (Vec<(&'static str, Flight)>, Option<Shape>) {
    let mut flights = cost::batch_cost(setting, made).flights.into_iter();
    let mut ots = flights.next().unwrap_or_default();
    let shape = cost::shape(made).ok().flatten();
    if shape.is_none() {
        return (vec![("transfers", ots)], None);
    }
    // The commitment to the coin of a batch crosses with its transfers.
    let committed = ots.iter_mut().map(|message| {
        message.bytes -= COMMITMENT_BYTES;
        Message {
            bytes: COMMITMENT_BYTES,
            ..*message
        }
    });
    let mut checks = committed.collect::<Flight>();
    let rows = flights.next().unwrap_or_default();
    checks.extend(flights.flatten());
    let parts = vec![
        ("transfers", ots),
        ("rows of products", rows),
        ("checks of products", checks),
    ];
    (parts, shape)
}

#[cfg(test)]
mod tests {
    use super::super::{PRODUCT, bits_of};
    use super::*;
    use crate::{Auth, Transfers};
    use sealane_protocol::Protocol;

    /// All of a refill is in some part, and rows have six bytes for each leaky product.
    #[test]
    fn parts_are_all_of_a_refill() {
        let setting = Setting::in_order(&Auth::<Transfers>::profile(), 2);
        let [garbler, evaluator] = crate::common::roles(&setting);
        for (products, inputs) in [(0, 70), (27, 0), (5161, 900), (524_288, 1), (1_600_000, 70)] {
            let mut made = Demand::default();
            made.add(PRODUCT, products);
            made.add(bits_of(garbler, evaluator), inputs + products);
            let divided = parts(&setting, &made);
            let sum = |flights: &mut dyn Iterator<Item = &Flight>| {
                let messages = flights.flatten().map(|message| message.bytes);
                messages.sum::<u64>()
            };
            let of_parts = sum(&mut divided.parts.iter().map(|(_, flight)| flight));
            let all = cost::refill_cost(&setting, &made).flights;
            assert_eq!(of_parts, sum(&mut all.iter()));
            let rows = divided
                .parts
                .iter()
                .find(|(part, _)| part.starts_with("rows"));
            let batches = divided.batches.iter();
            let batched = batches.clone().map(|(batch, times)| batch.products * times);
            assert_eq!(batched.sum::<u64>(), products);
            let wanted = batches.map(|(batch, times)| {
                let items = u64::from(batch.bucket) * batch.products;
                2 * 6 * items * times
            });
            let found = rows.map_or(0, |(_, flight)| sum(&mut [flight].into_iter()));
            assert_eq!(found, wanted.sum::<u64>());
        }
        assert_eq!(parts(&setting, &Demand::default()), Parts::default());
    }
}
