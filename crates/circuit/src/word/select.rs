//! Selection by secret bits.

use crate::builder::{Builder, Wire, Word};

impl Builder {
    /// `yes` where `condition` is 1, else `no`: an AND a bit.
    ///
    /// # Panics
    /// If the words differ in width.
    pub fn select(&mut self, condition: Wire, yes: &[Wire], no: &[Wire]) -> Word {
        self.zip(yes, no, |b, yes, no| b.mux(condition, yes, no))
    }

    /// In each place `yes` where the bit of `condition` is 1, else `no`: an AND a bit.
    ///
    /// # Panics
    /// If the words differ in width.
    pub fn select_bits(&mut self, condition: &[Wire], yes: &[Wire], no: &[Wire]) -> Word {
        assert_eq!(condition.len(), yes.len(), "words of different widths");
        assert_eq!(condition.len(), no.len(), "words of different widths");
        (0..condition.len())
            .map(|i| self.mux(condition[i], yes[i], no[i]))
            .collect()
    }
}
