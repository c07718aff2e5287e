//! Planes of which every few lanes become one: lane `s l + i` of a plane is lane `l` of strand `i`.
//!
//! A table of `s` columns has its elements row by row, and a step wants each column for itself. For
//! `s` a power of two up to 64, `s` words hold 64 rows. With the bits of a place as the number of
//! its word and of its bit in the word, a split is a permutation of these bits: those of the row
//! have to become the number of the bit, those of the column the number of the word. It is done by
//! exchanges of a bit of the one with a bit of the other, as in a transposition, each on all words
//! at once.

use zeroize::Zeroize;

/// Groups of 64 rows that are taken side by side.
const SIDE: usize = 8;

/// Bits of the number of a bit in a word.
const PLACES: usize = 6;

/// The exchanges that split a plane.
pub struct ColumnSplit {
    /// Pairs of a bit of the number of a word, and a bit of the number of a place in it.
    exchanges: Vec<(usize, usize)>,
    /// The strand that each word ends as.
    strands: Vec<usize>,
}

type Words = [[u64; SIDE]; 64];

impl ColumnSplit {
    /// The column split into so many strands; none if they are not a power of two from 2 to 64.
    pub fn of(strands: usize) -> Option<ColumnSplit> {
        if !strands.is_power_of_two() || !(2..=64).contains(&strands) {
            return None;
        }
        let bits = strands.ilog2() as usize;
        // Bit `i` of a row is `i`, and that of a column is `PLACES + i`.
        let mut word = (0..bits).map(|i| PLACES - bits + i).collect::<Vec<_>>();
        let place = (0..PLACES).map(|i| if i < bits { PLACES + i } else { i - bits });
        let mut place = place.collect::<Vec<_>>();
        let mut exchanges = Vec::new();
        // Each exchange puts a bit of the row to its place for good.
        while let Some(at) = word.iter().position(|bit| *bit < PLACES) {
            let to = word[at];
            std::mem::swap(&mut word[at], &mut place[to]);
            exchanges.push((at, to));
        }
        let strand = |number: usize| {
            let set = word.iter().enumerate();
            let set = set.filter(|(at, _)| number >> at & 1 == 1);
            set.fold(0, |strand, (_, bit)| strand | 1 << (bit - PLACES))
        };
        let strands = (0..strands).map(strand).collect();
        Some(ColumnSplit { strands, exchanges })
    }

    /// Splits a plane into its strands, of so many words each, one behind the other. Words of the
    /// plane that are missing are zero.
    pub fn split(&self, plane: &[u64], words: usize, strands: &mut [u64]) {
        let count = self.strands.len();
        let mut block: Words = [[0; SIDE]; 64];
        for first in (0..words).step_by(SIDE) {
            for side in 0..SIDE {
                let from = plane.len().min((first + side) * count);
                let group = plane[from..].iter().chain(std::iter::repeat(&0));
                let to = block[..count].iter_mut();
                to.zip(group).for_each(|(to, word)| to[side] = *word);
            }
            for exchange in &self.exchanges {
                exchanged(&mut block[..count], *exchange);
            }
            let some = SIDE.min(words - first);
            for (from, strand) in block.iter().zip(&self.strands) {
                strands[strand * words + first..][..some].copy_from_slice(&from[..some]);
            }
        }
        block.as_flattened_mut().zeroize();
    }

    /// Joins strands to a plane, of which the words that there is room for are written.
    pub fn join(&self, strands: &[&[u64]], plane: &mut [u64]) {
        let count = self.strands.len();
        let words = strands.first().map_or(0, |strand| strand.len());
        let mut block: Words = [[0; SIDE]; 64];
        for first in (0..words).step_by(SIDE) {
            let some = SIDE.min(words - first);
            for (to, strand) in block.iter_mut().zip(&self.strands) {
                to[..some].copy_from_slice(&strands[*strand][first..][..some]);
            }
            for exchange in self.exchanges.iter().rev() {
                exchanged(&mut block[..count], *exchange);
            }
            let groups = plane.chunks_mut(count).skip(first).take(some);
            for (side, group) in groups.enumerate() {
                let from = block.iter();
                group
                    .iter_mut()
                    .zip(from)
                    .for_each(|(to, word)| *to = word[side]);
            }
        }
        block.as_flattened_mut().zeroize();
    }
}

/// Exchanges a bit of the numbers of words with a bit of the numbers of places.
fn exchanged(block: &mut [[u64; SIDE]], (word, place): (usize, usize)) {
    let (side, shift) = (1 << word, 1 << place);
    // Places whose bit is 0.
    let low = u64::MAX / ((1 << shift) + 1);
    for pair in block.chunks_exact_mut(2 * side) {
        let (zeros, ones) = pair.split_at_mut(side);
        for (zero, one) in zeros.iter_mut().zip(ones) {
            for (zero, one) in zero.iter_mut().zip(one) {
                let change = (*zero >> shift ^ *one) & low;
                *zero ^= change << shift;
                *one ^= change;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strands_are_every_few_lanes() {
        for count in [2usize, 4, 8, 16, 32, 64] {
            for rows in [1, 63, 64, 65, 200, 700, 1024] {
                let words = (rows * count).div_ceil(64);
                let word = |i: usize| 0x9e37_79b9_7f4a_7c15u64.wrapping_mul(i as u64 + 1);
                let mut plane = (0..words).map(word).collect::<Vec<_>>();
                let used = rows * count % 64;
                if used > 0 {
                    plane[words - 1] &= u64::MAX >> (64 - used);
                }
                let column_split = ColumnSplit::of(count).unwrap();
                let row = rows.div_ceil(64);
                let mut strands = vec![0; row * count];
                column_split.split(&plane, row, &mut strands);
                let bit = |words: &[u64], at: usize| words[at / 64] >> (at % 64) & 1;
                for strand in 0..count {
                    for l in 0..rows {
                        let want = bit(&plane, l * count + strand);
                        assert_eq!(bit(&strands[strand * row..], l), want);
                    }
                }
                let mut back = vec![0; words];
                column_split.join(&strands.chunks(row).collect::<Vec<_>>(), &mut back);
                assert_eq!(back, plane);
            }
        }
        let mut counts = [0, 1, 3, 48, 65, 128].iter();
        assert!(counts.all(|count| ColumnSplit::of(*count).is_none()));
    }
}
