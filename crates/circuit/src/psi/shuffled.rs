//! Sort, compare, shuffle. The first list, reversed, and the second one are merged; neighbours that
//! are equal are in both sets; a permutation hides their positions.
//!
//! Of three neighbours s0 <= s1 <= s2 at most two are equal, since a set holds an item once. So one
//! output for every other place, s1 where it equals s0 or s2, keeps every match once, and halves
//! the number of rows to shuffle.
//!
//! The side that knows the permutation must not see the shuffled outputs, from which it would learn
//! how many items lie between the matches. So the outputs go to the other side alone, which may
//! pass the matches on, in an order of its own.

use crate::builder::{Builder, Wire, Word};
use crate::circuit::Circuit;
use crate::psi::is_in;
use crate::word::{merging_network, permutation_network};

/// The circuit for two sets of `items` items of `width` bits. Inputs: both lists, ascending, as
/// words of `items * width` bits, and the switches of the permutation of as many rows, by the side
/// that learns nothing. Outputs: `items` words, each an item of both sets or 0.
///
/// For n items of w bits, n a power of two, it takes 2 n w log2(2n) ANDs for the merge,
/// n (3 w - 2) - w + 1 for the comparisons, and w (n log2(n) - n + 1) for the shuffle.
pub fn circuit(items: usize, width: usize) -> Circuit {
    let mut b = Builder::new();
    let [first, second] = [(); 2].map(|()| {
        let list = b.input(items * width);
        let words = list.chunks(width.max(1)).map(<[Wire]>::to_vec);
        words.collect::<Vec<Word>>()
    });
    let switches = b.input(permutation_network(items).len());
    let found = intersect(&mut b, first, second, &switches);
    b.finish(found)
}

/// The intersection of two ascending lists without repeated items, none of them 0: as many rows as
/// half of all items, each a match or 0, in the order that `switches` give them
/// ([`permutation_switches`](crate::permutation_switches)).
///
/// # Panics
/// If items differ in width, or there is not a bit for each switch.
pub fn intersect(
    b: &mut Builder,
    first: Vec<Word>,
    second: Vec<Word>,
    switches: &[Wire],
) -> Vec<Word> {
    let width = first.iter().chain(&second).next().map_or(0, Vec::len);
    let mut merged: Vec<Word> = first.into_iter().rev().chain(second).collect();
    let network = merging_network(merged.len());
    b.compare(&mut merged, &network, width, false);
    let nothing = vec![Wire::ZERO; width];
    let mut matches: Vec<Word> = Vec::with_capacity(merged.len() / 2);
    for middle in (1..merged.len()).step_by(2) {
        let item = &merged[middle];
        let before = &merged[middle - 1];
        // A set holds an item once: it cannot be equal to both.
        let either = is_in(b, item, [before].into_iter().chain(merged.get(middle + 1)));
        matches.push(b.select(either, item, &nothing));
    }
    b.permute(&mut matches, switches);
    matches
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Machine, compile, permutation_switches};
    use proptest::prelude::*;
    use proptest::sample::subsequence;

    const WIDTH: usize = 9;

    fn bits(items: &[u64]) -> Vec<bool> {
        let bit = |item: u64| (0..WIDTH).map(move |i| item >> i & 1 == 1);
        items.iter().flat_map(|&item| bit(item)).collect()
    }

    fn found(first: &[u64], second: &[u64], order: &[usize]) -> Vec<u64> {
        let circuit = circuit(first.len(), WIDTH);
        let inputs = [bits(first), bits(second), permutation_switches(order)];
        let word = |bits: Vec<bool>| {
            let bits = bits.iter().rev();
            bits.fold(0, |word, &bit| word << 1 | bit as u64)
        };
        circuit.eval(&inputs).into_iter().map(word).collect()
    }

    /// Two sets of one size, 1 to 64, and an order for the result.
    fn sets() -> impl Strategy<Value = (Vec<u64>, Vec<u64>, Vec<usize>)> {
        // Few possible items, so that many are in both sets.
        let item = || (1u64..1 << WIDTH).collect::<Vec<_>>();
        (1usize..=64).prop_flat_map(move |n| {
            let few = move |all: Vec<u64>| all[..(2 * n).min(all.len())].to_vec();
            let order = Just((0..n).collect::<Vec<_>>()).prop_shuffle();
            let [first, second] = [(); 2].map(|()| subsequence(few(item()), n));
            (first, second, order)
        })
    }

    proptest! {
        #[test]
        fn it_gives_what_sets_have_in_common_in_the_given_order((first, second, order) in sets()) {
            let shuffled = found(&first, &second, &order);
            let mut common: Vec<u64> = shuffled.iter().copied().filter(|&item| item != 0).collect();
            common.sort_unstable();
            let wanted: Vec<u64> =
                first.iter().copied().filter(|item| second.contains(item)).collect();
            prop_assert_eq!(common, wanted);
            let plain: Vec<usize> = (0..first.len()).collect();
            let unshuffled = found(&first, &second, &plain);
            let wanted: Vec<u64> = order.iter().map(|&source| unshuffled[source]).collect();
            prop_assert_eq!(shuffled, wanted);
        }
    }

    #[test]
    fn the_circuit_of_the_paper_has_the_size_that_is_stated() {
        let (n, w) = (1024, 32);
        let circuit = circuit(n, w);
        let (merge, compare) = (2 * n * w * 11, n * (3 * w - 2) - w + 1);
        let ands = merge + compare + w * (10 * n - n + 1);
        assert_eq!((circuit.info().ands, ands), (1_112_065, 1_112_065));
        compile(&circuit, &Machine::CPU).check().unwrap();
    }
}
