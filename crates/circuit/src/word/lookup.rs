//! Tables with a secret index.
//!
//! The way of Launchbury, Diatchki, DuBuisson and Adams-Moran ("Efficient lookup-table protocol in
//! secure multiparty computation", ICFP 2012): *demux* turns the index into its one-hot form, and
//! the entry is the inner product of that with the table, which is free where the table is public.
//! Demux (section 3.1, figure 6) is divide and conquer: the one-hot form of a word is the outer
//! product of those of its halves, for any number of bits, ceil(log2 k) ANDs deep.
//!
//! This module adds two optimisations. The bits of a one-hot form add up to 1, so the last row and
//! the last column of an outer product follow from the factors by XOR: 2^k - k - 1 ANDs for k bits,
//! 247 for 8 in place of 304. And the last outer product need not be made: with the index cut into
//! a low and a high part, an entry is the inner product of the one-hot form of the high part with
//! rows, each the free inner product of that of the low part with a row of the table. That takes an
//! AND for each bit of an entry and each row but one: 142 for an S-box of 8 by 8 bits, no deeper
//! than the 247. [`cut`] says where to cut: above all bits is the paper's form, which suits wide
//! entries, and below all bits is the form for secret ones.
//!
//! The table is not hidden from a party that sees the circuit, unless its entries are secret wires.

use std::collections::BTreeMap;

use crate::builder::{Builder, Goal, Lookups, Wire, Word};
use crate::function::{self, Function, TruthTable};
use std::sync::Arc;

impl Builder {
    /// The one-hot form of an index of k bits: bit j of 2^k is 1 where the index is j.
    /// 2^k - k - 1 ANDs, of depth ceil(log2 k).
    pub fn demux(&mut self, index: &[Wire]) -> Word {
        self.one_hot(index, 1 << index.len())
    }

    /// `table[index]`; 0 for an index beyond the table.
    ///
    /// For [`Goal::Depth`] this is the inner product with the one-hot index: of depth ceil(log2 k)
    /// for k bits of index and a table of constants, and one more for secret entries, which take an
    /// AND for each bit of each. For [`Goal::Size`] it is a tree of multiplexers, n - 1 ANDs a bit
    /// for n = 2^k entries, or the inner product where a table of constants takes fewer ANDs that
    /// way. The cheaper one depends on equal parts of the table, which are made once; so both are
    /// built and counted. A builder for machines that compute functions at once
    /// ([`Builder::with_lookups`]) leaves some tables of constants whole.
    ///
    /// # Panics
    /// If the table is empty or its entries differ in width.
    pub fn lookup(&mut self, index: &[Wire], table: &[Word]) -> Word {
        assert!(!table.is_empty(), "a lookup needs a table");
        let width = table[0].len();
        let even = table.iter().all(|entry| entry.len() == width);
        assert!(even, "entries of different widths");
        let table = &table[..reach(index.len(), table.len())];
        let mut bits = table.iter().flatten();
        let constant = bits.all(|bit| bit.as_constant().is_some());
        if constant && let Some(found) = self.whole(index, table) {
            return found;
        }
        let low = cut(index.len(), table.len(), width, self.goal());
        let low = if constant { low } else { 0 };
        match self.goal() {
            Goal::Depth => self.inner_products(index, table, low),
            Goal::Size if !constant => self.multiplexers(index, table),
            Goal::Size => {
                let form = |build: &dyn Fn(&mut Builder, &[Wire]) -> Word| {
                    let mut b = Builder::new();
                    let index = b.input(index.len());
                    let entry = build(&mut b, &index);
                    b.finish(vec![entry])
                };
                let tree = form(&|b, index| b.multiplexers(index, table));
                let product = form(&|b, index| b.inner_products(index, table, low));
                let less = product.info().ands < tree.info().ands;
                let smaller = if less { product } else { tree };
                self.call(&smaller, &[index.to_vec()]).concat()
            }
        }
    }

    /// The lookup as functions, if lookups have such a form here and the table suits it.
    fn whole(&mut self, index: &[Wire], table: &[Word]) -> Option<Word> {
        let bit = |wire: &Wire| wire.as_constant().is_some();
        let gates = match self.lookups() {
            Lookups::Gates => true,
            Lookups::Wide => self.goal() == Goal::Size,
            Lookups::Tower | Lookups::ShortTower | Lookups::Tables => false,
        };
        if gates || index.iter().any(bit) {
            return None;
        }
        let bits = |entry: &Word| {
            let bits = entry.iter().map(|bit| bit.as_constant());
            bits.collect::<Option<Vec<bool>>>()
        };
        let entries = table.iter().map(bits).collect::<Option<Vec<_>>>()?;
        if self.lookups() != Lookups::Tables {
            return function::sbox(self, index, &entries);
        }
        if index.len() > function::MOST_INPUTS {
            return None;
        }
        let table = TruthTable::new(index.len(), table[0].len(), &entries);
        let linear = table.products().is_empty();
        (!linear).then(|| self.apply(&Function::Table(Arc::new(table)), index))
    }

    /// A layer of multiplexers for each bit of the index, from the lowest.
    fn multiplexers(&mut self, index: &[Wire], table: &[Word]) -> Word {
        let beyond = vec![Wire::ZERO; table[0].len()];
        let mut layer = table.to_vec();
        for &bit in index {
            let pairs = layer.chunks(2);
            let select = |pair: &[Word]| self.select(bit, pair.get(1).unwrap_or(&beyond), &pair[0]);
            layer = pairs.map(select).collect();
        }
        layer.swap_remove(0)
    }

    /// The one-hot form of the upper bits of the index, times rows: that of the `low` lower bits,
    /// times each row of the table.
    fn inner_products(&mut self, index: &[Wire], table: &[Word], low: usize) -> Word {
        let (low, high) = index.split_at(low);
        let columns = reach(low.len(), table.len());
        let rows = table.len().div_ceil(columns);
        let complete = is_range(high.len(), rows);
        let (low, high) = (self.one_hot(low, columns), self.one_hot(high, rows));
        let rows = table.chunks(columns);
        let rows = rows.map(|row| self.inner_product(&low, row, false));
        let rows: Vec<Word> = rows.collect();
        self.inner_product(&high, &rows, complete)
    }

    /// The sum of the entries, each times its bit of `one_hot`: an AND a bit for each different
    /// entry that is not constant. One less if the one-hot form is `complete`: then its bits add up
    /// to 1, and only the differences to some base entry are multiplied.
    fn inner_product(&mut self, one_hot: &[Wire], entries: &[Word], complete: bool) -> Word {
        let width = entries[0].len();
        let bit = |bit: usize| {
            let mut places = BTreeMap::<Wire, Word>::new();
            let mut inverted = Word::new();
            for (&here, entry) in one_hot.iter().zip(entries) {
                places.entry(entry[bit].plain()).or_default().push(here);
                inverted.extend(entry[bit].is_inverted().then_some(here));
            }
            let base = match places.first_key_value() {
                Some((&entry, _)) if complete => entry,
                _ => Wire::ZERO,
            };
            let mut terms = vec![base, self.parity(&inverted)];
            for (entry, places) in places {
                let difference = self.xor(entry, base);
                if difference != Wire::ZERO {
                    let anywhere = self.parity(&places);
                    terms.push(self.and(anywhere, difference));
                }
            }
            self.parity(&terms)
        };
        (0..width).map(bit).collect()
    }

    /// The first `count` bits of the one-hot form of an index.
    fn one_hot(&mut self, index: &[Wire], count: usize) -> Word {
        if let [] | [_] = index {
            let both = index.first().map_or([Wire::ONE; 2], |&bit| [!bit, bit]);
            return both[..count].to_vec();
        }
        let (low, high) = index.split_at(index.len() / 2);
        let columns = reach(low.len(), count);
        let rows = count.div_ceil(columns);
        let (all_columns, all_rows) = (is_range(low.len(), columns), is_range(high.len(), rows));
        let (low, high) = (self.one_hot(low, columns), self.one_hot(high, rows));
        let mut bits = Word::with_capacity(count);
        for (row, &h) in high.iter().enumerate() {
            let start = bits.len();
            for (column, &l) in low.iter().enumerate().take(count - start) {
                let bit = if all_columns && column + 1 == columns {
                    let others = self.parity(&bits[start..]);
                    self.xor(h, others)
                } else if all_rows && row + 1 == rows {
                    let others: Word = bits[column..].iter().step_by(columns).copied().collect();
                    let others = self.parity(&others);
                    self.xor(l, others)
                } else {
                    self.and(l, h)
                };
                bits.push(bit);
            }
        }
        bits
    }
}

/// Counts the entries, of `count`, that an index of so many bits reaches.
fn reach(bits: usize, count: usize) -> usize {
    let all = 1usize.checked_shl(bits as u32);
    all.map_or(count, |all| all.min(count))
}

/// Returns true if an index of so many bits has exactly `count` values.
fn is_range(bits: usize, count: usize) -> bool {
    1usize.checked_shl(bits as u32) == Some(count)
}

/// Chooses the number of bits of an index of `bits` bits that belong to the low part, for a table
/// of `count` constants of `width` bits. It minimises the ANDs, for [`Goal::Depth`] among the cuts
/// of least depth. ANDs are counted for entries without equal parts.
fn cut(bits: usize, count: usize, width: usize, goal: Goal) -> usize {
    let one_hot = |bits: usize, count: usize| {
        let whole = is_range(bits, count);
        if whole {
            count - bits - 1
        } else {
            count + bits
        }
    };
    let price = |&low: &usize| {
        let high = bits - low;
        let columns = reach(low, count);
        let rows = count.div_ceil(columns);
        let products = width * (rows - usize::from(is_range(high, rows)));
        let ands = one_hot(low, columns) + one_hot(high, rows) + products;
        let level = |bits: usize| bits.next_power_of_two().ilog2() as usize;
        let depth = level(low).max(level(high)) + usize::from(high > 0);
        match goal {
            Goal::Size => (ands, depth),
            Goal::Depth => (depth, ands),
        }
    };
    (0..=bits).rev().min_by_key(price).unwrap_or(bits)
}
