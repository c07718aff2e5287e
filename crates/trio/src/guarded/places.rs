//! The places that a few bits of a key give to rows: one counter, on bits.
//!
//! The bits of a row select one of `c` cases. Take the `c n` flags "row `t` has this case", case
//! after case, row after row: `n` of them are one, and the number of ones before a row's flag is
//! its place in the order of cases, rows of a case as they were. A counter that runs over all
//! flags has these numbers. Its bit `l` is the parity of the carries into it before the flag, which
//! is local, and the carries into the next bit are one AND each:
//!
//! ```text
//! carry_0 = flags          count_l = parities of carry_l before each flag
//! carry_(l+1) = carry_l & count_l
//! bit l of the place of a row = sum over cases of its flag & count_l
//! ```
//!
//! The flags of a row sum to one, so the last line is `count_l` of the first case and one AND for
//! each other case. With `k` bits of a number of rows that is a level for each, of `2 c - 1` ANDs,
//! and of `c` in the first one, where a carry is also what its flag selects.
//!
//! Integers modulo a prime would be the other way: injections of the bits, a product and a
//! resharing take four flights where this takes about `k`. But they are 23 elements for two bits of
//! the key, of all roles together, and have proofs in another field: with `p = 2^31 - 1` that is
//! 238 bits of a row from each role. A million rows have 134 ANDs here, and 289 for three bits.

use crate::Share;
use crate::record::Ands;
use sealane_circuit::{Builder, Machine, Tape, compile};
use sealane_party::bits::words_for;
use sealane_party::{Form, Planes, Result, Shares};
use std::ops::Range;
use std::sync::OnceLock;

/// Bits of the key that a pass takes at most. Two, three and four take about as many bits for wide
/// rows; each more saves flights, and costs more memory until a pass is proved.
pub(super) const BITS_A_PASS: usize = 3;

/// Cases of so many bits.
pub(super) fn cases(bits: usize) -> usize {
    1 << bits
}

/// The flags of the cases of so many bits, the lowest first.
pub(super) fn flags(bits: usize) -> &'static Tape {
    static TAPES: [OnceLock<Tape>; BITS_A_PASS] = [const { OnceLock::new() }; BITS_A_PASS];
    TAPES[bits - 1].get_or_init(|| {
        let mut b = Builder::new();
        let bits = b.input(bits);
        let mut flags = vec![!bits[0], bits[0]];
        for bit in &bits[1..] {
            // Together they are one, so the first product is the bit less all others. No other one
            // has the constant 1 in it.
            let products = flags[1..].iter().map(|flag| b.and(*flag, *bit));
            let others = products.collect::<Vec<_>>();
            let first = others.iter().fold(*bit, |rest, flag| b.xor(rest, *flag));
            let with = [&[first], &others[..]].concat();
            let pairs = flags.iter().zip(&with);
            let mut next = pairs
                .map(|(flag, with)| b.xor(*flag, *with))
                .collect::<Vec<_>>();
            next.extend(with);
            flags = next;
        }
        compile(&b.finish(vec![flags]), &Machine::ROUNDS)
    })
}

/// ANDs of a level of the counter.
pub(super) fn ands(cases: usize, level: usize, levels: usize) -> usize {
    let carries = if level + 1 < levels { cases } else { 0 };
    match level {
        0 => cases,
        _ => cases - 1 + carries,
    }
}

/// So many ANDs: of the first inputs with the last ones.
pub(super) fn products(count: usize) -> &'static Tape {
    const MOST: usize = 2 << BITS_A_PASS;
    static TAPES: [OnceLock<Tape>; MOST] = [const { OnceLock::new() }; MOST];
    TAPES[count].get_or_init(|| {
        let mut b = Builder::new();
        let (x, y) = (b.input(count), b.input(count));
        let pairs = x.iter().zip(&y);
        let products = pairs.map(|(x, y)| b.and(*x, *y)).collect();
        compile(&b.finish(vec![products]), &Machine::ROUNDS)
    })
}

/// A counter between two of its levels: both components of all.
pub(super) struct Counter {
    rows: usize,
    cases: usize,
    levels: usize,
    level: usize,
    /// A plane for each case.
    flags: [Planes<u64>; 2],
    /// Planes that end with those of the carries into this level, and the first one of these.
    carries: [Planes<u64>; 2],
    first: usize,
    /// The counts of this level, a plane for each case.
    counts: [Planes<u64>; 2],
    /// A plane for each bit of a place.
    places: [Planes<u64>; 2],
}

/// Both components of bits of this form.
fn components(form: Form, share: &Share) -> Result<[Planes<u64>; 2]> {
    Ok(match form.parts(share)? {
        Some(parts) => parts.map(|part| form.sum([part])),
        // At a party with a role, a shape alone is zero.
        None => [(); 2].map(|()| form.zeros()),
    })
}

impl Counter {
    /// A counter of these flags, with so many bits, at its first level.
    pub(super) fn new(levels: usize, flags: &Share) -> Result<Counter> {
        let (rows, cases) = (flags.elements(), flags.planes());
        let form = Form::bits(cases, rows);
        let flags = components(form, flags)?;
        let nothing = || [(); 2].map(|()| Form::bits(0, 0).zeros());
        let mut counter = Counter {
            rows,
            cases,
            levels,
            level: 0,
            carries: flags.each_ref().map(|of| form.sum([of.data()])),
            first: 0,
            flags,
            counts: nothing(),
            places: [(); 2].map(|()| Form::bits(levels, rows).zeros()),
        };
        counter.begin();
        Ok(counter)
    }

    /// Makes the counts of a level, and what a place has of them without a product.
    fn begin(&mut self) {
        let stride = words_for(self.rows);
        for at in 0..2 {
            let carries = &self.carries[at].data()[self.first * stride..];
            self.counts[at] = parities(self.rows, carries);
            if self.level > 0 {
                let first = &self.counts[at].data()[..stride];
                self.places[at].plane_mut(self.level).copy_from_slice(first);
            }
        }
    }

    /// ANDs of this level.
    pub(super) fn ands(&self) -> usize {
        ands(self.cases, self.level, self.levels)
    }

    /// The factors of the ANDs of this level, AND after AND, from a word on: of at most so many
    /// words, up to the end of an AND. Returns their lanes as well.
    pub(super) fn factors(&self, word: usize, most: usize) -> (Ands<'_>, usize) {
        let stride = words_for(self.rows);
        let (product, word) = (word / stride, word % stride);
        let words = most.min(stride - word);
        let lanes = (64 * words).min(self.rows - 64 * word);
        let chosen = self.ands() - self.carried();
        let factors = if product < chosen {
            Ands {
                x: row(&self.counts, product + 1, word..word + words),
                more: Some(row(&self.counts, 0, word..word + words)),
                y: row(&self.flags, product + 1, word..word + words),
            }
        } else {
            let case = product - chosen;
            Ands {
                x: row(&self.counts, case, word..word + words),
                more: None,
                y: row(&self.carries, self.first + case, word..word + words),
            }
        };
        (factors, lanes)
    }

    /// The last ANDs of this level: of carries with counts.
    fn carried(&self) -> usize {
        if self.level == 0 || self.level + 1 < self.levels {
            self.cases
        } else {
            0
        }
    }

    /// Takes the products of a level; true if there are more.
    pub(super) fn take(&mut self, products: [Planes<u64>; 2]) -> bool {
        let stride = words_for(self.rows);
        // In the first level, carries are what flags select.
        let chosen = match self.level {
            0 => self.cases,
            _ => self.cases - 1,
        };
        self.first = self.ands() - self.carried();
        for (places, products) in self.places.iter_mut().zip(&products) {
            let place = places.plane_mut(self.level);
            for product in products.data().chunks_exact(stride).take(chosen) {
                let words = place.iter_mut().zip(product);
                words.for_each(|(place, word)| *place ^= word);
            }
        }
        self.carries = products;
        self.level += 1;
        let more = self.level < self.levels;
        if more {
            self.begin();
        }
        more
    }

    /// The places, a plane for each bit.
    pub(super) fn places(self) -> [Planes<u64>; 2] {
        self.places
    }
}

/// Some words of a plane of both components.
fn row(planes: &[Planes<u64>; 2], plane: usize, words: Range<usize>) -> [&[u64]; 2] {
    planes.each_ref().map(|of| &of.plane(plane)[words.clone()])
}

/// Parities of the bits before each bit, plane after plane.
fn parities(rows: usize, of: &[u64]) -> Planes<u64> {
    let stride = words_for(rows);
    let form = Form::bits(of.len() / stride.max(1), rows);
    let mut parities = form.zeros();
    let mut before = 0u64;
    for (out, word) in parities.data_mut().iter_mut().zip(of) {
        let mut with = *word;
        for shift in [1, 2, 4, 8, 16, 32] {
            with ^= with << shift;
        }
        *out = (with << 1) ^ before;
        before ^= (with >> 63).wrapping_neg();
    }
    form.trim(parities.data_mut());
    parities
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a counter on bits that are shared as themselves and zero.
    fn places(keys: &[u64], bits: usize, levels: usize) -> Vec<u64> {
        let rows = keys.len();
        let share = |form: Form, words: &[u64]| form.share([form.sum([words]), form.zeros()]);
        let all = cases(bits);
        let form = Form::bits(all, rows);
        let mut flags = form.zeros();
        for (row, key) in keys.iter().enumerate() {
            flags.plane_mut(*key as usize)[row / 64] |= 1 << (row % 64);
        }
        let mut counter = Counter::new(levels, &share(form, flags.data())).unwrap();
        loop {
            let form = Form::bits(counter.ands(), rows);
            let (mut products, mut lanes) = (form.zeros(), 0);
            let words = form.words();
            let mut word = 0;
            while word < words {
                let (Ands { x, more, y }, some) = counter.factors(word, 2);
                for (i, (x, y)) in x[0].iter().zip(y[0]).enumerate() {
                    products.data_mut()[word + i] = (x ^ more.map_or(0, |more| more[0][i])) & y;
                }
                (word, lanes) = (word + x[0].len(), lanes + some);
            }
            assert_eq!(lanes, counter.ands() * rows);
            if !counter.take([products, form.zeros()]) {
                break;
            }
        }
        let [places, zeros] = counter.places();
        assert!(zeros.data().iter().all(|word| *word == 0));
        let bit = |row: usize, level: usize| places.plane(level)[row / 64] >> (row % 64) & 1;
        let place = |row| (0..levels).map(|level| bit(row, level) << level).sum();
        (0..rows).map(place).collect()
    }

    /// The places of a stable sort, for numbers of rows around a word and all numbers of bits.
    #[test]
    fn places_are_those_of_a_stable_sort() {
        for rows in [2, 3, 4, 5, 63, 64, 65, 127, 200] {
            let levels = crate::sort::place_bits(rows as u64) as usize;
            for bits in 1..=BITS_A_PASS {
                for number in 0..4u64 {
                    let key = |row: u64| {
                        let mixed = (row + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15 + 2 * number);
                        (mixed >> 40) % cases(bits) as u64
                    };
                    let keys = (0..rows as u64).map(key).collect::<Vec<_>>();
                    let mut order = (0..rows).collect::<Vec<_>>();
                    order.sort_by_key(|row| keys[*row]);
                    let mut want = vec![0; rows];
                    for (place, row) in order.into_iter().enumerate() {
                        want[row] = place as u64;
                    }
                    assert_eq!(places(&keys, bits, levels), want, "{rows} {bits}");
                }
            }
        }
    }

    #[test]
    fn flags_select_one_case() {
        for bits in 1..=BITS_A_PASS {
            let tape = flags(bits);
            assert_eq!(tape.outputs.len(), cases(bits));
            assert_eq!(tape.ands.len(), cases(bits) - bits - 1);
            for key in 0..cases(bits) {
                let inputs = (0..bits).map(|bit| [key as u64 >> bit & 1; 8]);
                let out = tape.eval(&inputs.collect::<Vec<_>>());
                let want = (0..cases(bits)).map(|case| u64::from(case == key));
                let out = out.iter().map(|lanes| lanes[0] & 1);
                assert!(out.eq(want), "{key} of {bits} bits");
            }
        }
    }
}
