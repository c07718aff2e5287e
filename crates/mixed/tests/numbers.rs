//! Many random numbers of all widths through every step that reads the bits of elements.

use crate::common::{LABELS, Side, arbitrary, domain, low, number, session, setting};
use sealane_protocol::RingOp;

/// Random numbers of each width in each of four steps, and how often: 10 240 in all, and 10^7 in a
/// nightly run.
fn size() -> (usize, u64) {
    if std::env::var_os("SEALANE_NIGHTLY").is_some() {
        (1000, 40)
    } else {
        (40, 1)
    }
}

/// Checks every width, one half of them for each order of roles. The seed is another one at each
/// call.
fn for_all_widths<const L: bool>(check: impl Fn(&mut Side<L>, u8, u64, usize) + Sync) {
    let (lanes, rounds) = size();
    for order in [0, 1] {
        session::<L>(&setting(2, [order, 1 - order]), |side| {
            for round in 0..rounds {
                let widths = (1..=64).filter(|k| k % 2 == order);
                widths.for_each(|k| check(side, k, round << 32 | u64::from(k) << 48, lanes));
            }
        });
    }
}

/// The sign of a difference of two numbers that are a bit shorter than the ring.
#[test]
fn comparisons() {
    for_all_widths::<false>(|side, k, seed, lanes| {
        let held = (usize::from(k - 1).max(1), k > 1);
        let values = [seed, !seed].map(|seed| {
            let element = |value| number(value, held) as u64;
            arbitrary(seed, lanes, k)
                .into_iter()
                .map(element)
                .collect::<Vec<_>>()
        });
        let pairs = || values[0].iter().zip(&values[1]);
        let difference = pairs()
            .map(|(x, y)| low(x.wrapping_sub(*y), k))
            .collect::<Vec<_>>();
        let share = side.ring(k, &difference);
        let op = RingOp::Extract {
            first: k - 1,
            count: 1,
        };
        let out = side.op(op, k, (k.into(), true), &share, None);
        let less = |(x, y): (&u64, &u64)| match k {
            1 => x ^ y,
            _ => u64::from((*x as i64) < *y as i64),
        };
        side.expect_bits(
            format!("signs of {k} bits"),
            1,
            &out,
            pairs().map(less).collect(),
        );
    });
}

#[test]
fn bits_of_elements() {
    for_all_widths::<false>(|side, k, seed, lanes| {
        let values = arbitrary(seed, lanes, k);
        let share = side.ring(k, &values);
        let out = side.convert([Some(k), None], (k.into(), false), &share);
        side.expect_bits(format!("elements of {k} bits"), k.into(), &out, values);
    });
}

#[test]
fn elements_of_bits() {
    for_all_widths::<false>(|side, k, seed, lanes| {
        let bits = arbitrary(!seed, 1, 6)[0] as u8 + 1;
        let held = (usize::from(bits), k % 4 < 2);
        let values = arbitrary(seed, lanes, bits);
        let share = side.bits(bits.into(), &values);
        let out = side.convert([None, Some(k)], held, &share);
        let want = values
            .iter()
            .map(|value| low(number(*value, held) as u64, k));
        side.expect_ring(format!("{held:?} in {k}"), k, &out, want.collect());
    });
}

#[test]
fn floors() {
    for_all_widths::<false>(|side, k, seed, lanes| {
        let by = arbitrary(!seed, 1, 32)[0] as u8 % k;
        let held = (usize::from(k - k / 4 % 2), k % 8 < 4);
        let values = arbitrary(seed, lanes, held.0 as u8);
        let element = |value: &u64| low(number(*value, held) as u64, k);
        let share = side.ring(k, &values.iter().map(element).collect::<Vec<_>>());
        let out = side.op(RingOp::Floor { by }, k, held, &share, None);
        let floor = |value: &u64| low((number(*value, held) >> by) as u64, k);
        let want = values.iter().map(floor).collect();
        side.expect_ring(format!("floors by {by} of {held:?} in {k}"), k, &out, want);
    });
}

/// To labels from shares of either kind, and from labels to either.
#[test]
fn labels_of_numbers_and_numbers_of_labels() {
    for_all_widths::<true>(|side, k, seed, lanes| {
        let bits = arbitrary(!seed, 1, 6)[0] as u8 + 1;
        let held = (usize::from(bits), k % 4 < 2);
        let values = arbitrary(seed, lanes, bits);
        let share = side.bits(bits.into(), &values);
        let labels = side.convert_between([domain(None), LABELS], held, &share);
        let back = side.convert_between([LABELS, domain(None)], held, &labels);
        side.expect_bits(format!("{bits} bits"), bits.into(), &back, values.clone());
        let ring = side.convert_between([LABELS, domain(Some(k))], held, &labels);
        let element = |value: &u64| low(number(*value, held) as u64, k);
        let want = values.iter().map(element).collect::<Vec<_>>();
        side.expect_ring(format!("{held:?} in {k}"), k, &ring, want.clone());
        let read = usize::from(k.min(bits));
        let labels = side.convert_between([domain(Some(k)), LABELS], (read, false), &ring);
        let back = side.convert_between([LABELS, domain(None)], (read, false), &labels);
        let want = want.iter().map(|value| low(*value, read as u8)).collect();
        side.expect_bits(format!("{read} bits of {k}"), read, &back, want);
    });
}
