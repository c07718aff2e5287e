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

    /// One-hot form of `index`: bit j of 2^k bits, for an index of k bits, is 1 exactly where the
    /// index is j.
    pub fn demux(&mut self, index: &[Wire]) -> Word {
        match index {
            [] => vec![Wire::ONE],
            &[bit] => vec![!bit, bit],
            _ => {
                let (low, high) = index.split_at(index.len() / 2);
                let (low, high) = (self.demux(low), self.demux(high));
                let products = high.iter().flat_map(|&h| low.iter().map(move |&l| (l, h)));
                let products: Vec<(Wire, Wire)> = products.collect();
                products.into_iter().map(|(l, h)| self.and(l, h)).collect()
            }
        }
    }

    /// `table[index]`, as a tree of multiplexers: for n entries n - 1 ANDs a bit, fewer where the
    /// table holds constants or equal bits. An index beyond the table gives some entry of it.
    ///
    /// # Panics
    /// If the table is empty or its entries differ in width.
    pub fn lookup(&mut self, index: &[Wire], table: &[Word]) -> Word {
        assert!(!table.is_empty(), "a lookup needs a table");
        let mut layer = table.to_vec();
        for &bit in index {
            layer = layer
                .chunks(2)
                .map(|pair| match pair {
                    [even, odd] => self.select(bit, odd, even),
                    rest => rest.concat(),
                })
                .collect();
        }
        layer.swap_remove(0)
    }
}
