//! Known arguments, matched in a circuit for few ANDs.
//!
//! Arguments have places in a table: a linear hash of some bits names a displacement, and the other
//! bits, XORed with that and a second hash, are the place (Belazzougui, Botelho, Dietzfelbinger,
//! "Hash, displace, and compress", ESA 2009). Hashes and table entries are free XORs behind two
//! one-hot words. One comparison tells whether the argument at the place is the operand: only of
//! the bits that do not count in the place, since the others are equal if those are.

use crate::curve::select;
use num_bigint::BigInt;
use sealane_circuit::{Builder, Wire, Word};

/// Places of arguments.
struct ArgumentTable {
    /// Bits of the name of a displacement, and of a place.
    sizes: [usize; 2],
    /// For each of those bits, the bits of an argument whose parity it is.
    parities: Vec<u64>,
    displacements: Vec<u64>,
    /// At each place an argument and its entry.
    places: Vec<Option<(u64, u64)>>,
}

/// The entry of an operand in a list of arguments and entries; 0 for any other operand.
///
/// # Panics
/// If an argument is listed twice, or the list is too long for a table of `2^12` places.
pub(crate) fn entry_at(b: &mut Builder, x: &[Wire], list: &[(u64, u64)]) -> Word {
    let entries = list.iter().map(|(_, entry)| *entry);
    let width = entries.map(|entry| u64::BITS - entry.leading_zeros());
    let Some(width) = width.max() else {
        return Word::new();
    };
    let table = ArgumentTable::of(list);
    let [names, low] = table.sizes;
    let hash = |b: &mut Builder, parity: u64| {
        let counted = x.iter().enumerate().filter(|(i, _)| parity >> i & 1 == 1);
        let counted: Word = counted.map(|(_, &bit)| bit).collect();
        b.parity(&counted)
    };
    let parities = table.parities.iter();
    let hashes: Word = parities.map(|&parity| hash(b, parity)).collect();
    let (name, place) = hashes.split_at(names);
    let displacements: Vec<BigInt> = table.displacements.iter().map(|&d| d.into()).collect();
    let hot = b.demux(name);
    let displacement = select(b, &hot, &displacements, low);
    let place = b.zip(place, &displacement, Builder::xor);
    let hot = b.demux(&place);
    // An empty place has the entry 0, whatever operand it takes for its own.
    let column = |of: fn((u64, u64)) -> u64| -> Vec<BigInt> {
        let places = table.places.iter();
        places.map(|place| place.map_or(0, of).into()).collect()
    };
    let found = select(b, &hot, &column(|(argument, _)| argument), x.len());
    let differ = b.zip(&found[low..], &x[low..], Builder::xor);
    let same = !b.any(&differ);
    let entry = select(b, &hot, &column(|(_, entry)| entry), width as usize);
    entry.iter().map(|&bit| b.and(bit, same)).collect()
}

impl ArgumentTable {
    /// The smallest table that is found for a list.
    fn of(list: &[(u64, u64)]) -> ArgumentTable {
        let price = |bits: usize| (1 << bits) - bits;
        let least = list.len().next_power_of_two().trailing_zeros() as usize;
        let sizes = |places| (0..=places).map(move |names| [names, places]);
        let mut sizes: Vec<[usize; 2]> = (least..=12).flat_map(sizes).collect();
        sizes.sort_by_key(|[names, places]| price(*names) + price(*places));
        let seeded = |sizes| (1..=16).find_map(|seed| ArgumentTable::with(list, sizes, seed));
        let found = sizes.into_iter().find_map(seeded);
        found.expect("different arguments, at most a few thousand")
    }

    /// A table with hashes by a seed, if all arguments find a place in it.
    fn with(list: &[(u64, u64)], sizes: [usize; 2], seed: u64) -> Option<ArgumentTable> {
        let [names, low] = sizes;
        let mut state = seed;
        let mut random = || {
            // A linear congruential generator (Knuth, MMIX); its upper bits are used.
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            state >> 32 & !((1 << low) - 1)
        };
        let parities: Vec<u64> = (0..names + low)
            .map(|i| match i.checked_sub(names) {
                None => random(),
                Some(bit) => random() | 1 << bit,
            })
            .collect();
        let hash = |argument: u64, parities: &[u64]| {
            let bits = parities.iter().enumerate();
            bits.fold(0, |hash, (i, parity)| {
                hash | u64::from((argument & parity).count_ones() & 1) << i
            })
        };
        let mut buckets = vec![vec![]; 1 << names];
        for &(argument, entry) in list {
            let place = hash(argument, &parities[names..]);
            buckets[hash(argument, &parities[..names]) as usize].push((place, (argument, entry)));
        }
        let mut order: Vec<usize> = (0..buckets.len()).collect();
        order.sort_by_key(|&name| std::cmp::Reverse(buckets[name].len()));
        let mut displacements = vec![0; buckets.len()];
        let mut places = vec![None; 1 << low];
        for name in order {
            let bucket = &buckets[name];
            let mut taken: Vec<u64> = bucket.iter().map(|(place, _)| *place).collect();
            taken.sort_unstable();
            taken.dedup();
            if taken.len() < bucket.len() {
                return None;
            }
            let is_free = |place: u64| places[place as usize].is_none();
            let free = |d: &u64| taken.iter().all(|place| is_free(place ^ d));
            let displacement = (0..1 << low).find(free)?;
            displacements[name] = displacement;
            for &(place, argument) in bucket {
                places[(place ^ displacement) as usize] = Some(argument);
            }
        }
        Some(ArgumentTable {
            sizes,
            parities,
            displacements,
            places,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_circuit::{Goal, eval_words};

    /// Arguments without any order.
    fn list(count: u64) -> Vec<(u64, u64)> {
        let argument = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        (1..=count).map(|i| (argument(i), i % 7 + 1)).collect()
    }

    #[test]
    fn entries_are_those_of_the_list_and_of_no_other_operand() {
        for count in [0, 1, 2, 17, 100, 250] {
            let list = list(count);
            let mut b = Builder::for_goal(Goal::Size);
            let x = b.input(32);
            let found = entry_at(&mut b, &x, &list);
            let width = found.len();
            let circuit = b.finish(vec![found]);
            let run = |x: u64| match width {
                0 => 0,
                _ => eval_words(&circuit, &[x.into()]).expect("a word")[0] as u64,
            };
            for &(argument, entry) in &list {
                assert_eq!(run(argument), entry, "{argument:#x} of {count}");
                for bit in 0..32 {
                    let other = argument ^ 1 << bit;
                    let wanted = list.iter().find(|(of, _)| *of == other);
                    let wanted = wanted.map_or(0, |wanted| wanted.1);
                    assert_eq!(run(other), wanted, "{other:#x} of {count}");
                }
            }
            assert_eq!(run(0), 0);
        }
    }

    #[test]
    fn many_arguments_take_few_gates() {
        let mut b = Builder::new();
        let x = b.input(32);
        let found = entry_at(&mut b, &x, &list(250));
        let ands = b.finish(vec![found]).info().ands;
        assert!(ands <= 400, "{ands} ANDs");
    }
}
