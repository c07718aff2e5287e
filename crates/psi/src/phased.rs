//! Tables for circuit phasing: [`sealane_circuit::psi::phased`].
//!
//! The party that learns the result, the receiver, lays its items into a cuckoo table (Pagh and
//! Rodler, ESA 2001) with a stash (Kirsch, Mitzenmacher and Wieder, ESA 2008); the sender lays each
//! of its items into all bins that the hash functions name.
//!
//! Bins come by permutation-based hashing. An item x is a pair of a remainder and a quotient by the
//! number of bins m; function i names the bin (x mod m + f_i(x div m)) mod m, for a keyed hash f_i.
//! The bin, i and the quotient determine x, so only the quotient and i are stored, and two stored
//! numbers in a bin are equal exactly if their items are.
//!
//! # When a cuckoo table does not fit
//!
//! Items are laid in along shortest augmenting paths, so that as many as possible find a bin: it
//! fails only where no placement exists. For 3 functions and 1.2 n bins, with a stash of 1, that
//! was measured (`cargo test --release -p sealane-psi -- --ignored --nocapture failures`):
//!
//! | items | attempts | with one item in the stash | refused |
//! |---|---|---|---|
//! | 4 | 1,000,000 | 27,322 | 154 |
//! | 16 | 1,000,000 | 26,001 | 2,847 |
//! | 64 | 1,000,000 | 8,094 | 3,101 |
//! | 256 | 1,000,000 | 12 | 9 |
//! | 1,024 | 100,000 | 0 | 0 |

use std::collections::VecDeque;

use sealane_circuit::psi::phased::{HASHES, NUMBER_BITS, STASH, Sizes};
use zeroize::{Zeroize, Zeroizing};

use crate::agreement::{Agreement, Purpose, Unfit};
use crate::items::Items;

/// The number of no hash function: a table entry stored with it represents no item. The two parties
/// use different ones.
const NO_FUNCTION: u64 = 3;

/// An unused place of the cuckoo table.
const EMPTY: u64 = NO_FUNCTION;

/// An unused place of a bin of candidates.
const NO_CANDIDATE: u64 = NO_FUNCTION | 1 << NUMBER_BITS;

/// An unused place of the stash; no item is so small.
const EMPTY_STASH: u64 = 1;

/// An unused place of the list of candidates for the stash; no item is so small.
const NO_ITEM: u64 = 0;

/// Returns the sizes of all tables.
pub fn sizes(agreement: &Agreement) -> Sizes {
    Sizes::new(agreement.size(), agreement.width())
}

/// The receiver's input, with the text of each item.
pub struct PhasedReceiver<'a> {
    /// The number stored in each bin.
    pub table: Zeroizing<Vec<u64>>,
    /// The items that found no bin.
    pub stash: Zeroizing<Vec<u64>>,
    /// The text of the item in each bin, for its owner.
    pub texts: Vec<Option<&'a str>>,
    /// The text of each item in the stash.
    pub stash_texts: Vec<Option<&'a str>>,
}

/// The sender's input.
pub struct PhasedSender {
    /// The numbers stored in each bin, `load` of them each.
    pub bins: Vec<Zeroizing<Vec<u64>>>,
    /// All items, for the stash.
    pub items: Zeroizing<Vec<u64>>,
}

/// Lays all items into a cuckoo table, or refuses.
///
/// # Errors
/// More items than the stash has places for find no bin.
pub fn receiver<'a>(items: &Items<'a>) -> Result<PhasedReceiver<'a>, Unfit> {
    let agreement = items.agreement();
    let sizes = sizes(agreement);
    let places = items.iter();
    let places = places.map(|(item, _)| BinEntry::all(agreement, sizes.bins, item));
    let places = Zeroizing::new(places.collect::<Vec<_>>());
    let (bins, left) = lay(&places, sizes.bins);
    if left.len() > STASH {
        return Err(Unfit::Stash);
    }
    let stored = |held: Held| places[held.item][held.function].stored;
    let stored = |held: &Option<Held>| held.map_or(EMPTY, stored);
    let text = |held: &Option<Held>| Some(items.at((*held)?.item).1);
    // All memory is allocated at the start, here and below: a vector that grows leaves copies
    // behind.
    let mut stash = Zeroizing::new(Vec::with_capacity(STASH));
    stash.extend(left.iter().map(|&item| items.at(item).0));
    stash.resize(STASH, EMPTY_STASH);
    let mut stash_texts: Vec<_> = left.iter().map(|&item| Some(items.at(item).1)).collect();
    stash_texts.resize(STASH, None);
    Ok(PhasedReceiver {
        table: Zeroizing::new(bins.iter().map(stored).collect()),
        stash,
        texts: bins.iter().map(text).collect(),
        stash_texts,
    })
}

/// Lays each item into all of its bins.
///
/// # Errors
/// A bin gets more items than it has places.
pub fn sender(items: &Items<'_>) -> Result<PhasedSender, Unfit> {
    let agreement = items.agreement();
    let sizes = sizes(agreement);
    let bin = || Zeroizing::new(Vec::with_capacity(sizes.load));
    let mut bins: Vec<_> = (0..sizes.bins).map(|_| bin()).collect();
    let mut counts = vec![0; sizes.bins];
    for (item, _) in items.iter() {
        for place in BinEntry::all(agreement, sizes.bins, item) {
            counts[place.bin] += 1;
            if counts[place.bin] <= sizes.load {
                bins[place.bin].push(place.stored);
            }
        }
    }
    let (found, load) = (counts.into_iter().max().unwrap_or(0), sizes.load);
    if found > load {
        return Err(Unfit::Bin { found, load });
    }
    bins.iter_mut()
        .for_each(|bin| bin.resize(load, NO_CANDIDATE));
    let mut all = Zeroizing::new(Vec::with_capacity(sizes.items));
    all.extend(items.iter().map(|(item, _)| item));
    all.resize(sizes.items, NO_ITEM);
    Ok(PhasedSender { bins, items: all })
}

/// The bin that a hash function assigns to an item, and the number stored there.
#[derive(Clone, Copy, Zeroize)]
struct BinEntry {
    bin: usize,
    stored: u64,
}

impl BinEntry {
    /// Computes the entries under each of the hash functions.
    fn all(agreement: &Agreement, bins: usize, item: u64) -> [BinEntry; HASHES] {
        let (quotient, remainder) = (item / bins as u64, item % bins as u64);
        std::array::from_fn(|function| {
            let shift = agreement.number(Purpose::Bin(function as u8), &quotient.to_le_bytes());
            let shift = (shift % bins as u128) as u64;
            BinEntry {
                bin: ((remainder + shift) % bins as u64) as usize,
                stored: quotient << NUMBER_BITS | function as u64,
            }
        })
    }
}

/// An item in a bin, by its index, and the function that put it there.
#[derive(Clone, Copy)]
struct Held {
    item: usize,
    function: usize,
}

/// Assigns items to bins, one each, as many as possible. Returns the item of each bin and the items
/// left over.
fn lay(places: &[[BinEntry; HASHES]], bins: usize) -> (Vec<Option<Held>>, Vec<usize>) {
    let mut table: Vec<Option<Held>> = vec![None; bins];
    let left = (0..places.len()).filter(|&item| !insert(&mut table, places, item));
    let left = left.collect();
    (table, left)
}

/// Finds a bin for an item, moving others along a shortest augmenting path; false if there is none.
fn insert(table: &mut [Option<Held>], places: &[[BinEntry; HASHES]], item: usize) -> bool {
    // For each bin that was visited, the item that would move there.
    let mut movers: Vec<Option<Held>> = vec![None; table.len()];
    let mut queue = VecDeque::from([item]);
    while let Some(item) = queue.pop_front() {
        for function in 0..HASHES {
            let bin = places[item][function].bin;
            if movers[bin].is_some() {
                continue;
            }
            movers[bin] = Some(Held { item, function });
            match table[bin] {
                Some(held) => queue.push_back(held.item),
                None => {
                    shift(table, places, &movers, bin);
                    return true;
                }
            }
        }
    }
    false
}

/// Moves the items along the path that ends in an empty bin.
fn shift(
    table: &mut [Option<Held>],
    places: &[[BinEntry; HASHES]],
    movers: &[Option<Held>],
    mut bin: usize,
) {
    while let Some(mover) = movers[bin] {
        let mut homes = places[mover.item].iter().map(|place| place.bin);
        let home = homes
            .find(|&home| home != bin && table[home].is_some_and(|held| held.item == mover.item));
        table[bin] = Some(mover);
        match home {
            Some(home) => bin = home,
            // The item that started the path comes from outside.
            None => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sealane_circuit::psi::phased::circuit;

    fn bits(items: &[u64], width: usize) -> Vec<bool> {
        let bit = |item: u64| (0..width).map(move |i| item >> i & 1 == 1);
        items.iter().flat_map(|&item| bit(item)).collect()
    }

    fn texts(from: usize, count: usize) -> Vec<String> {
        (from..from + count).map(|i| format!("id {i}")).collect()
    }

    fn items<'a>(agreement: &Agreement, texts: &'a [String]) -> Items<'a> {
        Items::new(agreement, texts.iter().map(String::as_str)).unwrap()
    }

    /// The receiver's texts that the circuit finds in the sender's set.
    fn found<'a>(
        agreement: &Agreement,
        receiver: &PhasedReceiver<'a>,
        sender: &PhasedSender,
    ) -> Vec<&'a str> {
        let sizes = sizes(agreement);
        let bins = sender.bins.iter().flat_map(|bin| bin.iter().copied());
        let bins: Vec<u64> = bins.collect();
        let flags = circuit(&sizes).eval(&[
            bits(&receiver.table, sizes.stored),
            bits(&receiver.stash, sizes.width),
            bits(&bins, sizes.stored),
            bits(&sender.items, sizes.width),
        ]);
        let texts = receiver.texts.iter().chain(&receiver.stash_texts);
        let flagged = texts.zip(flags.concat()).filter(|(_, flag)| *flag);
        let mut found: Vec<&str> = flagged.map(|(text, _)| text.unwrap_or("nothing")).collect();
        found.sort_unstable();
        found
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn two_sets_of_texts_are_intersected(
            size in 1usize..=64, first in 0usize..=64, second in 0usize..=64, from in 0usize..=64,
            seed in any::<u64>(),
        ) {
            let (first, second) = (texts(0, first.min(size)), texts(from, second.min(size)));
            let agreement = Agreement::new(&seed.to_string(), size, 0).unwrap();
            // Small tables do not always fit; then the next attempt is used.
            let prepare = |agreement: &Agreement| -> Result<_, Unfit> {
                Ok((receiver(&items(agreement, &first))?, sender(&items(agreement, &second))?))
            };
            let (agreement, (receiver, sender)) = crate::fit(&agreement, prepare).unwrap();
            let mut wanted: Vec<&str> =
                first.iter().filter(|text| second.contains(text)).map(String::as_str).collect();
            wanted.sort_unstable();
            prop_assert_eq!(found(&agreement, &receiver, &sender), wanted);
        }

        #[test]
        fn every_item_has_one_place_and_stands_where_a_function_says(
            count in 0usize..=300, seed in any::<u64>(),
        ) {
            let agreement = Agreement::new(&seed.to_string(), 300, 0).unwrap();
            let texts = texts(0, count);
            let items = items(&agreement, &texts);
            let receiver = receiver(&items).unwrap();
            let held = receiver.texts.iter().chain(&receiver.stash_texts).flatten();
            let mut held: Vec<&str> = held.copied().collect();
            held.sort_unstable();
            let mut wanted: Vec<&str> = texts.iter().map(String::as_str).collect();
            wanted.sort_unstable();
            prop_assert_eq!(held, wanted);
            let bins = sizes(&agreement).bins;
            for (item, text) in items.iter() {
                let Some(bin) = receiver.texts.iter().position(|held| *held == Some(text)) else {
                    continue;
                };
                let places = BinEntry::all(&agreement, bins, item);
                let here = |place: &BinEntry| place.bin == bin && place.stored == receiver.table[bin];
                prop_assert!(places.iter().any(here));
            }
        }
    }

    /// Four items with the same two bins: two of them have none.
    #[test]
    fn what_does_not_fit_is_left_and_counted() {
        let place = |bin| BinEntry { bin, stored: 0 };
        let same = [place(1), place(2), place(1)];
        let (table, left) = lay(&[same, same, [place(0); 3], same, same], 5);
        assert_eq!(left, [3, 4]);
        assert_eq!(table.iter().flatten().count(), 3);
        // A path moves other items out of the way.
        let turned = [[1, 2, 2], [0, 1, 1], [0; 3]].map(|bins| bins.map(place));
        assert!(lay(&turned, 3).1.is_empty());
    }

    #[test]
    fn a_stash_that_overflows_is_refused_and_another_attempt_fits() {
        // Sets of 4 with 5 bins: some attempt in a few thousand leaves two items over.
        let texts = texts(0, 4);
        let prepare = |agreement: &Agreement| receiver(&items(agreement, &texts)).map(|_| ());
        let unfit = (0..100_000).find(|&attempt| {
            let agreement = Agreement::new("seed", 4, attempt).unwrap();
            prepare(&agreement).is_err()
        });
        let agreement = Agreement::new("seed", 4, unfit.expect("one does not fit")).unwrap();
        assert_eq!(prepare(&agreement), Err(Unfit::Stash));
        assert!(crate::fit(&agreement, prepare).is_ok());
    }

    /// Counts how often tables do not fit, for the table in the module's documentation.
    #[test]
    #[ignore = "takes minutes"]
    fn failures() {
        for size in [4, 16, 64, 256, 1024] {
            let tries = if size < 1024 { 1_000_000 } else { 100_000 };
            let texts = texts(0, size);
            let mut left = [0; 4];
            for attempt in 0..tries {
                let agreement = Agreement::new("seed", size, attempt).unwrap();
                let bins = sizes(&agreement).bins;
                let items = items(&agreement, &texts);
                let places = items.iter();
                let places = places.map(|(item, _)| BinEntry::all(&agreement, bins, item));
                let places: Vec<_> = places.collect();
                left[lay(&places, bins).1.len().min(3)] += 1;
            }
            eprintln!("{size}: {left:?} of {tries}");
        }
    }
}
