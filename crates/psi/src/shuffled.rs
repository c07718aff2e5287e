//! Tables for sort-compare-shuffle: [`sealane_circuit::psi::shuffled`].
//!
//! The party that learns the result, the receiver, gives a list. The sender gives a list and the
//! switches that shuffle; it must not see the shuffled result, from which it could tell how many of
//! the receiver's items lie between the matches.

use sealane_block::Coins;
use sealane_circuit::{permutation_network, permutation_switches};
use std::collections::BTreeSet;
use zeroize::Zeroizing;

use crate::agreement::Unfit;
use crate::items::Items;

/// Prepares the receiver's list: its items in ascending order, padded.
///
/// # Errors
/// The attempt does not fit.
pub fn receiver(items: &Items<'_>) -> Result<Zeroizing<Vec<u64>>, Unfit> {
    items.filled(true)
}

/// The sender's input.
pub struct ShuffledSender {
    /// Its items in ascending order, padded.
    pub list: Zeroizing<Vec<u64>>,
    /// The settings of [`permutation_network`] for as many rows.
    pub switches: Zeroizing<Vec<bool>>,
}

/// Prepares the sender's list, and the switches of an order drawn at random.
///
/// # Errors
/// The attempt does not fit.
pub fn sender(items: &Items<'_>, coins: &mut Coins) -> Result<ShuffledSender, Unfit> {
    let list = items.filled(false)?;
    let order = random_order(list.len(), coins);
    let switches = Zeroizing::new(permutation_switches(&order));
    Ok(ShuffledSender { list, switches })
}

/// Draws an order of n rows, each with the same probability (up to 2^-100): Fisher and Yates, in
/// Durstenfeld's version (CACM 1964, algorithm 235).
fn random_order(n: usize, coins: &mut Coins) -> Zeroizing<Vec<usize>> {
    let mut order = Zeroizing::new((0..n).collect::<Vec<_>>());
    let mut stream = coins.secret("psi: order of rows");
    for last in (1..n).rev() {
        let other = stream.block().value() % (last as u128 + 1);
        order.swap(last, other as usize);
    }
    order
}

/// Arranges the switches for a network whose columns are all alike, as operations on whole tensors
/// need it: for n rows, n a power of two, 2 log2(n) - 1 columns of n / 2 switches (Benes,
/// "Mathematical theory of connecting networks and telephone traffic", 1965). Column c works on
/// pairs of rows whose numbers differ in one bit, of value n / 2 in the first column, half of it in
/// the next, down to 1 and up again; switches are in the order of the rows without that bit. Those
/// that Waksman's network saves are not set.
///
/// # Panics
/// If n is no power of two, or there are not as many switches as the network has.
pub fn columns(n: usize, switches: &[bool]) -> Vec<Zeroizing<Vec<bool>>> {
    assert!(n.is_power_of_two(), "columns are alike for powers of two");
    let axes = n.ilog2() as usize;
    let column = |_| Zeroizing::new(vec![false; n / 2]);
    let mut columns: Vec<_> = (1..2 * axes).map(column).collect();
    let network = permutation_network(n);
    assert_eq!(network.len(), switches.len(), "a bit for each switch");
    let mut met = BTreeSet::new();
    for ((row, other), &switch) in network.into_iter().zip(switches) {
        let distance = other - row;
        let axis = axes - 1 - distance.ilog2() as usize;
        // The first switch of a pair is on the way down, the second one on the way up.
        let down = met.insert((row, other));
        let number = if down { axis } else { columns.len() - 1 - axis };
        columns[number][row / (2 * distance) * distance + row % distance] = switch;
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Agreement;
    use proptest::prelude::*;
    use sealane_circuit::psi::shuffled::circuit;

    fn coins(seed: u64) -> Coins {
        Coins::danger_fixed_seed(seed)
    }

    fn bits(items: &[u64], width: usize) -> Vec<bool> {
        let bit = |item: u64| (0..width).map(move |i| item >> i & 1 == 1);
        items.iter().flat_map(|&item| bit(item)).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn two_sets_of_texts_are_intersected(
            size in 1usize..=64, first in 0usize..=64, second in 0usize..=64, from in 0usize..=64,
            seed in any::<u64>(),
        ) {
            let texts = |from: usize, count: usize| -> Vec<String> {
                (from..from + count.min(size)).map(|i| format!("id {i}")).collect()
            };
            let (first, second) = (texts(0, first), texts(from, second));
            let agreement = Agreement::new(&seed.to_string(), size, 0).unwrap();
            let [one, other] = [&first, &second].map(|texts| {
                Items::new(&agreement, texts.iter().map(String::as_str)).unwrap()
            });
            let list = receiver(&one).unwrap();
            let sender = sender(&other, &mut coins(seed)).unwrap();
            let width = agreement.width();
            let found = circuit(size, width).eval(&[
                bits(&list, width),
                bits(&sender.list, width),
                sender.switches.to_vec(),
            ]);
            let word = |bits: &Vec<bool>| bits.iter().rev().fold(0, |w, &bit| w << 1 | bit as u64);
            let found: Vec<u64> = found.iter().map(word).filter(|&item| item != 0).collect();
            let named = |item: &u64| one.iter().find(|(own, _)| own == item).map(|(_, text)| text);
            let mut common: Vec<Option<&str>> = found.iter().map(named).collect();
            common.sort_unstable();
            let mut wanted: Vec<Option<&str>> =
                first.iter().filter(|text| second.contains(text)).map(|t| Some(t.as_str())).collect();
            wanted.sort_unstable();
            prop_assert_eq!(common, wanted);
        }

        #[test]
        fn columns_do_what_the_network_does(axes in 0u32..7, seed in any::<u64>()) {
            let n = 1usize << axes;
            let order = random_order(n, &mut coins(seed));
            let columns = columns(n, &permutation_switches(&order));
            let mut rows: Vec<usize> = (0..n).collect();
            for (c, column) in columns.iter().enumerate() {
                let distance = n >> (1 + c.min(columns.len() - 1 - c));
                let firsts = (0..n).filter(|row| row & distance == 0);
                for (row, &switch) in firsts.zip(column.iter()) {
                    if switch {
                        rows.swap(row, row + distance);
                    }
                }
            }
            prop_assert_eq!(&rows, &*order);
        }
    }

    #[test]
    fn orders_are_drawn_evenly() {
        let mut coins = coins(1);
        let mut counts = std::collections::BTreeMap::<Vec<usize>, u32>::new();
        for _ in 0..6000 {
            let order = random_order(3, &mut coins).to_vec();
            *counts.entry(order).or_default() += 1;
        }
        // Six orders, each 1000 times with a standard deviation of 29.
        assert_eq!(counts.len(), 6);
        let even = counts.values().all(|count| (850..1150).contains(count));
        assert!(even, "{counts:?}");
    }
}
