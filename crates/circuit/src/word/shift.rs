//! Shifts by secret amounts; those by public amounts are [`Int::shl`] and [`Int::shr`].
//!
//! Barrel shifters: a layer of multiplexers for each bit of the amount that matters.

use crate::builder::{Builder, Wire, Word};
use crate::word::Int;

impl Builder {
    /// x 2^amount modulo 2^`width`, where `amount` is unsigned: at most `width` ANDs for each bit
    /// of the amount.
    pub fn shl(&mut self, x: Int, amount: &[Wire], width: usize) -> Word {
        let (layers, beyond) = split_amount(amount, width);
        let mut word = x.resize(width);
        for (k, &bit) in layers.iter().enumerate() {
            let moved = Int::unsigned(&word).shl(1 << k, width);
            word = self.select(bit, &moved, &word);
        }
        let beyond = self.any(beyond);
        word.into_iter().map(|bit| self.and(bit, !beyond)).collect()
    }

    /// x / 2^amount rounded down, modulo 2^`width`, where `amount` is unsigned: arithmetic for a
    /// signed x, logical for an unsigned one. At most an AND for each bit of x and of the amount.
    pub fn shr(&mut self, x: Int, amount: &[Wire], width: usize) -> Word {
        let x = x.trim();
        let (layers, beyond) = split_amount(amount, x.bits.len());
        let mut word = x.bits.to_vec();
        for (k, &bit) in layers.iter().enumerate() {
            let moved = Int::new(&word, x.signed).shr(1 << k, word.len());
            word = self.select(bit, &moved, &word);
        }
        let beyond = self.any(beyond);
        let fill = vec![x.sign(); word.len()];
        let word = self.select(beyond, &fill, &word);
        Int::new(&word, x.signed).resize(width)
    }
}

/// The bits of an amount that shift `width` bits by less than `width`, and those that shift all of
/// them out.
fn split_amount(amount: &[Wire], width: usize) -> (&[Wire], &[Wire]) {
    let layers = width.next_power_of_two().trailing_zeros() as usize;
    amount.split_at(layers.min(amount.len()))
}
