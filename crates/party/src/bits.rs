//! Bits in words: 64 to a word, first bit lowest.
//!
//! All code that moves packed bits (tensors, the dense form of messages, conversion between bit
//! planes and ring elements) uses the few functions here. None of them branches on a bit.

use std::mem;
use zeroize::{Zeroize, Zeroizing};

/// Returns the number of words for so many bits.
pub fn words_for(bits: usize) -> usize {
    bits.div_ceil(64)
}

/// The lowest `count` bits, at most 64.
pub fn low_mask(count: usize) -> u64 {
    match count {
        0 => 0,
        _ => u64::MAX >> (64 - count),
    }
}

/// The `count` bits from bit `at` on; at most 64, all of them within `words`.
pub fn read(words: &[u64], at: usize, count: usize) -> u64 {
    let (word, shift) = (at / 64, at % 64);
    let low = words[word] >> shift;
    let high = if shift + count > 64 {
        words[word + 1] << (64 - shift)
    } else {
        0
    };
    (low | high) & low_mask(count)
}

/// Replaces the `count` bits of `to` from bit `at` on by those of `from` from bit `first` on.
pub fn overwrite(to: &mut [u64], at: usize, from: &[u64], first: usize, count: usize) {
    let mut done = 0;
    while done < count {
        let (word, shift) = ((at + done) / 64, (at + done) % 64);
        let some = (count - done).min(64 - shift);
        let bits = read(from, first + done, some) << shift;
        let mask = low_mask(some) << shift;
        to[word] = to[word] & !mask | bits;
        done += some;
    }
}

/// Writer of consecutive runs of bits. Memory is allocated once, so that no copy of a secret is
/// left behind by a reallocation.
pub struct Writer {
    words: Zeroizing<Vec<u64>>,
    /// Bits in use of the last word; 0 if the next bit starts a word.
    used: usize,
}

impl Writer {
    /// Room for `words` words.
    pub fn new(words: usize) -> Writer {
        let (words, used) = (Zeroizing::new(Vec::with_capacity(words)), 0);
        Writer { words, used }
    }

    /// Appends `count` bits, at most 64; those of `bits` above them are zero.
    pub fn push(&mut self, bits: u64, count: usize) {
        if count == 0 {
            return;
        }
        if self.used == 0 {
            self.words.push(bits);
        } else {
            if let Some(last) = self.words.last_mut() {
                *last |= bits << self.used;
            }
            if self.used + count > 64 {
                self.words.push(bits >> (64 - self.used));
            }
        }
        self.used = (self.used + count) % 64;
    }

    /// Appends the `count` bits of `from` that start at bit `at`.
    pub fn copy(&mut self, from: &[u64], at: usize, count: usize) {
        let mut done = 0;
        if self.used == 0 && at.is_multiple_of(64) {
            self.words.extend_from_slice(&from[at / 64..][..count / 64]);
            done = count / 64 * 64;
        }
        while done < count {
            let some = (count - done).min(64);
            self.push(read(from, at + done, some), some);
            done += some;
        }
    }

    /// Appends `count` copies of a bit.
    pub fn repeat(&mut self, bit: u64, count: usize) {
        let all = 0u64.wrapping_sub(bit);
        let mut first = 0;
        if self.used == 0 {
            let whole = count / 64;
            let len = self.words.len() + whole;
            self.words.resize(len, all);
            first = 64 * whole;
        }
        for done in (first..count).step_by(64) {
            let some = (count - done).min(64);
            self.push(all & low_mask(some), some);
        }
    }

    /// Continues at the next word.
    pub fn align(&mut self) {
        self.used = 0;
    }

    /// Returns the words written; bits after the last one are zero.
    pub fn finish(mut self) -> Vec<u64> {
        mem::take(&mut *self.words)
    }
}

/// Transposes 64 x 64 bits: bit `c` of word `r` becomes bit `r` of word `c`. At each scale, the
/// upper right and the lower left square of every block change places.
pub fn transpose(rows: &mut [u64; 64]) {
    let mut side = 32;
    while side > 0 {
        // Columns that lie in the left half of their block.
        let left = u64::MAX / ((1 << side) + 1);
        for row in (0..64).filter(|row| row & side == 0) {
            let change = (rows[row] >> side ^ rows[row + side]) & left;
            rows[row] ^= change << side;
            rows[row + side] ^= change;
        }
        side /= 2;
    }
}

/// Elements from their bit planes: `planes` holds `elements.div_ceil(64)` words for each of at most
/// 64 planes. Called as often as an element has words.
pub fn elements_from_planes(planes: &[u64], elements: &mut [u64]) {
    let stride = words_for(elements.len()).max(1);
    let mut square = Zeroizing::new([0; 64]);
    for (word, chunk) in elements.chunks_mut(64).enumerate() {
        square.fill(0);
        for (row, plane) in square.iter_mut().zip(planes.chunks(stride)) {
            *row = plane[word];
        }
        transpose(&mut square);
        chunk.copy_from_slice(&square[..chunk.len()]);
    }
}

/// The lowest bit planes of elements: as many as `planes` has room for.
pub fn planes_from_elements(elements: &[u64], planes: &mut [u64]) {
    let stride = words_for(elements.len()).max(1);
    let mut square = Zeroizing::new([0; 64]);
    for (word, chunk) in elements.chunks(64).enumerate() {
        square.zeroize();
        square[..chunk.len()].copy_from_slice(chunk);
        transpose(&mut square);
        for (row, plane) in square.iter().zip(planes.chunks_mut(stride)) {
            plane[word] = *row;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bits_of(words: &[u64], count: usize) -> Vec<u8> {
        let bit = |i: usize| (words[i / 64] >> (i % 64) & 1) as u8;
        (0..count).map(bit).collect()
    }

    #[test]
    fn a_square_is_transposed() {
        let mut rows = [0; 64];
        for (r, row) in rows.iter_mut().enumerate() {
            *row = 0x9e37_79b9_7f4a_7c15u64.wrapping_mul(r as u64 + 1);
        }
        let before = rows;
        transpose(&mut rows);
        for (r, row) in before.iter().enumerate() {
            for (c, column) in rows.iter().enumerate() {
                assert_eq!(column >> r & 1, row >> c & 1);
            }
        }
    }

    proptest! {
        #[test]
        fn runs_follow_each_other(
            words in prop::collection::vec(any::<u64>(), 6),
            runs in prop::collection::vec((0..200usize, 0..180usize, any::<bool>()), 0..8),
        ) {
            let source = bits_of(&words, 384);
            let (mut writer, mut want) = (Writer::new(64), vec![]);
            for (at, count, align) in runs {
                if align {
                    writer.align();
                    want.resize(want.len().next_multiple_of(64), 0);
                }
                writer.copy(&words, at, count);
                want.extend(&source[at..at + count]);
                writer.repeat(u64::from(source[at]), count / 2);
                want.resize(want.len() + count / 2, source[at]);
            }
            let got = writer.finish();
            prop_assert_eq!(got.len(), words_for(want.len()));
            want.resize(got.len() * 64, 0);
            prop_assert_eq!(bits_of(&got, want.len()), want);
        }

        #[test]
        fn planes_and_elements_are_two_views(
            elements in prop::collection::vec(any::<u64>(), 0..140),
            planes in 0..=64usize,
        ) {
            let mut packed = vec![0; planes * words_for(elements.len())];
            planes_from_elements(&elements, &mut packed);
            let mut back = vec![0; elements.len()];
            elements_from_planes(&packed, &mut back);
            let low = elements.iter().map(|e| e & low_mask(planes));
            prop_assert_eq!(back, low.collect::<Vec<_>>());
        }
    }
}
