//! Parts of what a refill sends, as plans state them.

use super::batch::Shape;
use super::cost;
use sealane_party::COMMITMENT_BYTES;
use sealane_protocol::{Batch, Demand, Flight, Message, Parts, Setting};

/// The parts of a refill, and its batch.
pub(super) fn parts(setting: &Setting, made: &Demand) -> Parts {
    if made.is_empty() {
        return Parts::default();
    }
    let mut flights = cost::refill_cost(setting, made).flights.into_iter();
    let mut ots = flights.next().unwrap_or_default();
    let Some(Shape { bucket, products }) = cost::shape(made).ok().flatten() else {
        return Parts {
            parts: vec![("transfers", ots)],
            batch: None,
        };
    };
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
    Parts {
        parts: vec![
            ("transfers", ots),
            ("rows of products", rows),
            ("checks of products", checks),
        ],
        batch: Some(Batch {
            products: products as u64,
            bucket: bucket as u32,
        }),
    }
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
        for (products, inputs) in [(0, 70), (27, 0), (5161, 900), (524_288, 1)] {
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
            let batch = divided.batch;
            assert_eq!(batch.map_or(0, |batch| batch.products), products);
            let wanted = batch.map(|batch| 2 * 6 * u64::from(batch.bucket) * products);
            let found = rows.map(|(_, flight)| sum(&mut [flight].into_iter()));
            assert_eq!(found, wanted);
        }
        assert_eq!(parts(&setting, &Demand::default()), Parts::default());
    }
}
