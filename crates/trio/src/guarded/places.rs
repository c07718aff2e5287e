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
use sealane_circuit::{Builder, Machine, Tape, compile};
use sealane_party::bits::words_for;
use sealane_party::{Form, Planes, Result, Shares};
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
    /// The same of the carries into this level.
    carries: [Planes<u64>; 2],
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
    /// A counter of these flags, with so many bits.
    pub(super) fn new(levels: usize, flags: &Share) -> Result<Counter> {
        let (rows, cases) = (flags.elements(), flags.planes());
        let form = Form::bits(cases, rows);
        let flags = components(form, flags)?;
        Ok(Counter {
            rows,
            cases,
            levels,
            level: 0,
            carries: flags.each_ref().map(|of| form.sum([of.data()])),
            flags,
            places: [(); 2].map(|()| Form::bits(levels, rows).zeros()),
        })
    }

    /// The operands of the ANDs of this level, for [`products`].
    pub(super) fn operands(&mut self) -> (usize, Share) {
        let (rows, cases, stride) = (self.rows, self.cases, words_for(self.rows));
        let count = ands(cases, self.level, self.levels);
        let form = Form::bits(2 * count, rows);
        let parts = [0, 1].map(|at| {
            let counts = parities(rows, &self.carries[at]);
            let mut operands = form.zeros();
            let (x, y) = operands.data_mut().split_at_mut(count * stride);
            let chosen = if self.level == 0 { 0 } else { cases - 1 };
            if chosen > 0 {
                let first = &counts.data()[..stride];
                self.places[at].plane_mut(self.level).copy_from_slice(first);
                x[..chosen * stride].copy_from_slice(&self.flags[at].data()[stride..]);
                let others = counts.data()[stride..].chunks_exact(stride);
                for (y, other) in y.chunks_exact_mut(stride).zip(others) {
                    let words = y.iter_mut().zip(other.iter().zip(first));
                    words.for_each(|(y, (other, first))| *y = other ^ first);
                }
            }
            let behind = chosen * stride;
            if count > chosen {
                x[behind..].copy_from_slice(self.carries[at].data());
                y[behind..].copy_from_slice(counts.data());
            }
            operands
        });
        (count, form.share(parts))
    }

    /// Takes the products of a level; true if there are more.
    pub(super) fn take(&mut self, products: &Share) -> Result<bool> {
        let (cases, stride) = (self.cases, words_for(self.rows));
        let form = Form::bits(cases, self.rows);
        let products = components(Form::bits(products.planes(), self.rows), products)?;
        let chosen = if self.level == 0 { cases } else { cases - 1 };
        for (at, products) in products.iter().enumerate() {
            let place = self.places[at].plane_mut(self.level);
            for product in products.data().chunks_exact(stride).take(chosen) {
                let words = place.iter_mut().zip(product);
                words.for_each(|(place, word)| *place ^= word);
            }
            if self.level + 1 < self.levels {
                let all = products.data();
                self.carries[at] = form.sum([&all[all.len() - cases * stride..]]);
            }
        }
        self.level += 1;
        Ok(self.level < self.levels)
    }

    /// The places, a plane for each bit.
    pub(super) fn places(self) -> [Planes<u64>; 2] {
        self.places
    }
}

/// Parities of the bits before each bit, plane after plane.
fn parities(rows: usize, of: &Planes<u64>) -> Planes<u64> {
    let stride = words_for(rows);
    let form = Form::bits(of.data().len() / stride.max(1), rows);
    let mut parities = form.zeros();
    let mut before = 0u64;
    for (out, word) in parities.data_mut().iter_mut().zip(of.data()) {
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
            let (count, operands) = counter.operands();
            let operands = components(Form::bits(2 * count, rows), &operands).unwrap();
            let (x, y) = operands[0].data().split_at(count * words_for(rows));
            let products = x.iter().zip(y).map(|(x, y)| x & y).collect::<Vec<_>>();
            let products = share(Form::bits(count, rows), &products);
            if !counter.take(&products).unwrap() {
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
