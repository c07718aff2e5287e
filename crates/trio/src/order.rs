//! Orders of rows, and rows that are put in them.
//!
//! Which row of memory is read depends on an order that this party knows and others must not learn,
//! as in every shuffle: whoever shares caches with this machine could learn something about it.

use sealane_party::bits::{elements_from_planes, planes_from_elements, words_for};
use sealane_party::{Fault, Form, Planes, Result};
use zeroize::Zeroizing;

/// A permutation: for each place the row that comes there.
pub(crate) struct Order(Zeroizing<Vec<u32>>);

/// Most rows that are shuffled or sorted: their numbers fit 32 bits.
pub(crate) const MOST_ROWS: u64 = u32::MAX as u64;

/// Numbers that are drawn at once: 4 KiB, which stay in the nearest cache.
const AT_ONCE: usize = 1024;

// What follows an order has stack frames of its own, by which the check of secrets tells these
// branches and addresses from all others.
impl Order {
    /// A random order (Durstenfeld, "Algorithm 235: Random permutation", CACM 1964), all equally
    /// likely. `numbers` replaces numbers by random ones below them.
    #[inline(never)]
    pub(crate) fn random(rows: usize, mut numbers: impl FnMut(&mut [u32])) -> Order {
        let mut order = Zeroizing::new((0..rows as u32).collect::<Vec<_>>());
        let mut drawn = Zeroizing::new([0; AT_ONCE]);
        // The place whose row is drawn from the places up to it.
        let mut last = rows;
        while last > 1 {
            let count = (last - 1).min(AT_ONCE);
            let drawn = &mut drawn[..count];
            for (at, below) in drawn.iter_mut().enumerate() {
                *below = (last - at) as u32;
            }
            numbers(drawn);
            for (at, other) in drawn.iter().enumerate() {
                order.swap(last - 1 - at, *other as usize);
            }
            last -= count;
        }
        Order(order)
    }

    /// The order that puts each row in the place which is opened for it.
    ///
    /// # Errors
    /// [`Fault::CheckFailed`] if the places are no permutation: then some party sent something
    /// wrong.
    #[inline(never)]
    pub(crate) fn to_places(places: &[u64]) -> Result<Order> {
        let mut order = Zeroizing::new(vec![0; places.len()]);
        let mut taken = vec![false; places.len()];
        for (row, place) in places.iter().enumerate() {
            let place = usize::try_from(*place).unwrap_or(usize::MAX);
            match taken.get_mut(place) {
                Some(taken) if !*taken => *taken = true,
                _ => return Err(Fault::CheckFailed),
            }
            order[place] = row as u32;
        }
        Ok(Order(order))
    }

    /// Exchanges the rows of two places, as a role that deviates would.
    #[cfg(test)]
    pub(crate) fn swap(&mut self) {
        self.0.swap(0, 1);
    }

    /// For each place the row that comes there.
    pub(crate) fn rows(&self) -> &[u32] {
        &self.0
    }

    /// Puts rows in this order.
    #[inline(never)]
    pub(crate) fn of_rows(&self, rows: Rows, words: &[u64]) -> Planes<u64> {
        let mut ordered = rows.form.zeros();
        let (to, width) = (ordered.data_mut(), rows.width);
        let plane = self.0.len() * width;
        if width == 1 {
            let planes = to.chunks_exact_mut(plane.max(1));
            for (to, from) in planes.zip(words.chunks_exact(plane.max(1))) {
                for (to, row) in to.iter_mut().zip(&*self.0) {
                    *to = from[*row as usize];
                }
            }
            return ordered;
        }
        for (to, row) in to.chunks_exact_mut(width.max(1)).zip(&*self.0) {
            to.copy_from_slice(&words[*row as usize * width..][..width]);
        }
        ordered
    }
}

/// Layout of rows: planes of ring elements, a word each; or the bits of each row, one row after the
/// other, each from a word of its own.
#[derive(Clone, Copy)]
pub(crate) struct Rows {
    pub(crate) form: Form,
    /// Words of a row in a plane.
    width: usize,
}

impl Rows {
    /// Rows of so many bits.
    pub(crate) fn bits(rows: usize, bits: usize) -> Rows {
        // Each row is a plane of its bits.
        let form = Form::bits(rows, bits);
        let width = words_for(bits);
        Rows { form, width }
    }

    /// Rows of ring elements.
    pub(crate) fn ring(k: usize, planes: usize, rows: usize) -> Rows {
        let (form, width) = (Form::ring(k, planes, rows), 1);
        Rows { form, width }
    }

    /// Words of a row in a plane.
    pub(crate) fn width(self) -> usize {
        self.width
    }
}

/// Planes of bits, one row after the other.
pub(crate) fn rows_of_planes(rows: usize, bits: usize, planes: &[u64]) -> Planes<u64> {
    let form = Rows::bits(rows, bits);
    let (stride, width) = (words_for(rows), form.width);
    let mut words = form.form.zeros();
    let mut column = Zeroizing::new(vec![0; rows]);
    for (at, planes) in planes.chunks(64 * stride.max(1)).enumerate() {
        elements_from_planes(planes, &mut column);
        let places = words.data_mut().iter_mut().skip(at).step_by(width.max(1));
        places.zip(&*column).for_each(|(to, word)| *to = *word);
    }
    words
}

/// The same bits in planes again.
pub(crate) fn planes_of_rows(rows: usize, bits: usize, words: &[u64]) -> Planes<u64> {
    let (stride, width) = (words_for(rows), words_for(bits));
    let mut planes = Form::bits(bits, rows).zeros();
    let mut column = Zeroizing::new(vec![0; rows]);
    let groups = planes.data_mut().chunks_mut(64 * stride.max(1));
    for (at, planes) in groups.enumerate() {
        let from = words.iter().skip(at).step_by(width.max(1));
        column
            .iter_mut()
            .zip(from)
            .for_each(|(to, word)| *to = *word);
        planes_from_elements(&column, planes);
    }
    planes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_that_are_no_permutation_are_refused() {
        assert!(Order::to_places(&[2, 0, 1]).is_ok());
        for places in [[0, 1, 1], [0, 1, 3], [0, 1, u64::MAX]] {
            let end = Order::to_places(&places);
            assert!(matches!(end, Err(Fault::CheckFailed)), "{places:?}");
        }
    }

    /// Every sequence of numbers below the limits gives another order, so that uniform numbers give
    /// uniform orders. What a party does not know is one order, so it has to be uniform by itself.
    #[test]
    fn each_sequence_of_numbers_gives_another_order() {
        for rows in [2, 3, 4, 5] {
            let sequences: usize = (2..=rows).product();
            let mut seen = std::collections::BTreeSet::new();
            for sequence in 0..sequences {
                let mut left = sequence;
                let order = Order::random(rows, |numbers| {
                    for below in numbers {
                        (left, *below) = (left / *below as usize, (left % *below as usize) as u32);
                    }
                });
                seen.insert(order.0.to_vec());
            }
            assert_eq!(seen.len(), sequences, "{rows} rows");
        }
    }

    /// Limits go down by one across the ends of what is drawn at once.
    #[test]
    fn limits_of_many_numbers_go_down_by_one() {
        for rows in [0, 1, AT_ONCE, AT_ONCE + 1, AT_ONCE + 2, 3 * AT_ONCE] {
            let mut limits = Vec::new();
            let order = Order::random(rows, |numbers| {
                limits.extend_from_slice(numbers);
                numbers.fill(0);
            });
            let expected: Vec<_> = (2..=rows as u32).rev().collect();
            assert_eq!(limits, expected, "{rows} rows");
            let mut all = order.0.to_vec();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..rows as u32), "{rows} rows");
        }
    }

    /// The rows are their own numbers, so that they show the order.
    #[test]
    fn rows_come_to_their_places() {
        let order = Order::to_places(&[2, 0, 3, 1]).unwrap();
        let rows = Rows::ring(8, 2, 4);
        let moved = order.of_rows(rows, &[0, 1, 2, 3, 10, 11, 12, 13]);
        assert_eq!(moved.data(), [1, 3, 0, 2, 11, 13, 10, 12]);
        let wide = Rows::bits(4, 100);
        let moved = order.of_rows(wide, &[0, 10, 1, 11, 2, 12, 3, 13]);
        assert_eq!(moved.data(), [1, 11, 3, 13, 0, 10, 2, 12]);
    }

    #[test]
    fn planes_and_rows_are_two_views() {
        for (count, bits) in [(1, 1), (5, 64), (65, 65), (130, 3), (64, 130)] {
            let mut planes = Form::bits(bits, count).zeros();
            let mut word = 1u64;
            for to in planes.data_mut() {
                word = word.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
                *to = word;
            }
            Form::bits(bits, count).trim(planes.data_mut());
            let rows = rows_of_planes(count, bits, planes.data());
            let (width, stride) = (words_for(bits), words_for(count));
            for row in 0..count {
                for bit in 0..bits {
                    let there = rows.data()[row * width + bit / 64] >> (bit % 64) & 1;
                    let here = planes.data()[bit * stride + row / 64] >> (row % 64) & 1;
                    assert_eq!(there, here, "bit {bit} of row {row}");
                }
            }
            let back = planes_of_rows(count, bits, rows.data());
            assert_eq!(back.data(), planes.data());
        }
    }
}
