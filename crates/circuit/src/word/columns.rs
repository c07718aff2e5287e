//! Sums of weighted bits, on which all arithmetic here is built.
//!
//! Column c holds bits of weight 2^c. A full adder turns three bits of a column into one there and
//! one in the next, for one AND; a half adder does so with two. Taking columns in turn, this is a
//! ripple adder for two numbers, the Hamming-weight circuit of Boyar and Peralta ("Tight bounds
//! for the multiplicative complexity of symmetric functions", 2008: n - HW(n) ANDs) for one
//! column, and a carry-save multiplier in between. Bits queue up, so a column is a tree and not a
//! chain. For [`Goal::Depth`] the same adders work level by level instead; see `levels`.
//!
//! A bit of negative weight is its complement and a constant: -x 2^c = (1 - x) 2^c - 2^c. The
//! constants of all negative bits are added while building, so signs cost nothing.

use crate::builder::{Builder, Goal, Wire, Word};
use crate::word::Int;

/// A sum modulo 2^width.
pub(crate) struct Columns {
    /// For each column, products of two wires, perhaps inverted. The gates are made when the
    /// column is added up and not before, so that a multiplier's partial products live briefly.
    terms: Vec<Vec<Term>>,
    /// The constant part.
    constant: Vec<bool>,
}

struct Term {
    a: Wire,
    b: Wire,
    inverted: bool,
}

impl Columns {
    pub(crate) fn new(width: usize) -> Columns {
        Columns {
            terms: (0..width).map(|_| Vec::new()).collect(),
            constant: vec![false; width],
        }
    }

    /// Adds x 2^shift.
    pub(crate) fn add(&mut self, x: Int, shift: usize) {
        self.put(x, shift, false);
    }

    /// Subtracts x 2^shift.
    pub(crate) fn sub(&mut self, x: Int, shift: usize) {
        self.put(x, shift, true);
    }

    /// Adds (or subtracts) the product of two bits times 2^column.
    pub(crate) fn put_product(&mut self, a: Wire, b: Wire, column: usize, negative: bool) {
        if column < self.terms.len() {
            self.terms[column].push(Term {
                a,
                b,
                inverted: negative,
            });
            if negative {
                self.subtract_power(column);
            }
        }
    }

    fn put(&mut self, x: Int, shift: usize, negative: bool) {
        let x = x.trim();
        for (i, &bit) in x.bits.iter().enumerate() {
            let is_sign = x.signed && i + 1 == x.bits.len();
            self.put_product(bit, Wire::ONE, shift + i, negative ^ is_sign);
        }
    }

    fn add_power(&mut self, column: usize) {
        for bit in &mut self.constant[column..] {
            *bit = !*bit;
            if *bit {
                break;
            }
        }
    }

    fn subtract_power(&mut self, column: usize) {
        for bit in &mut self.constant[column..] {
            *bit = !*bit;
            if !*bit {
                break;
            }
        }
    }

    /// Computes the sum, as wide as the number of columns.
    pub(crate) fn sum(self, b: &mut Builder) -> Word {
        match b.goal() {
            Goal::Size => self.ripple(b),
            Goal::Depth => self.sum_by_levels(b),
        }
    }

    /// The sum, column by column from the lowest.
    fn ripple(mut self, b: &mut Builder) -> Word {
        let width = self.len();
        let mut word = Word::with_capacity(width);
        let mut carries = Vec::new();
        for column in 0..width {
            let bits = self.take(b, column, std::mem::take(&mut carries));
            word.push(if column + 1 == width {
                b.parity(&bits)
            } else {
                let sum = b.compress(bits, true, &mut carries);
                sum.first().copied().unwrap_or(Wire::ZERO)
            });
        }
        word
    }

    pub(crate) fn len(&self) -> usize {
        self.terms.len()
    }

    /// The bits to add up in a column: the products put there, `carries`, and the constant once no
    /// lower column is left to change it.
    pub(crate) fn take(&mut self, b: &mut Builder, column: usize, carries: Word) -> Word {
        let mut bits = vec![];
        for term in std::mem::take(&mut self.terms[column]) {
            let product = b.and(term.a, term.b);
            match if term.inverted { !product } else { product } {
                Wire::ZERO => {}
                Wire::ONE => self.add_power(column),
                bit => bits.push(bit),
            }
        }
        bits.extend(carries);
        // First in the queue, a constant 1 meets the half adder of an even column, where it makes
        // a carry without an AND.
        if self.constant[column] {
            bits.insert(0, Wire::ONE);
        }
        bits
    }
}

impl Builder {
    /// Adds the bits of a column by full adders until one or two are left, and by a half adder
    /// until one is, if `half`; the carries go to the next column. Sums are as deep as the bits,
    /// carries an AND deeper.
    pub(crate) fn compress(&mut self, mut bits: Word, half: bool, carries: &mut Word) -> Word {
        let mut next = 0;
        let mut carry = |bit: Wire| (bit != Wire::ZERO).then(|| carries.push(bit));
        if half && bits.len() >= 2 && bits.len().is_multiple_of(2) {
            let (x, y) = (bits[0], bits[1]);
            carry(self.and(x, y));
            bits.push(self.xor(x, y));
            next = 2;
        }
        while let [x, y, z, ..] = bits[next..] {
            carry(self.majority(y, x, z));
            let xy = self.xor(x, y);
            bits.push(self.xor(xy, z));
            next += 3;
        }
        bits.split_off(next)
    }
}

/// Counts the ANDs that [`Columns::sum`] takes for columns of so many unknown bits, products not
/// counted.
pub(crate) fn adder_ands(counts: &[usize]) -> usize {
    let mut carries = 0;
    let mut ands = 0;
    for &count in &counts[..counts.len().saturating_sub(1)] {
        carries = (count + carries) / 2;
        ands += carries;
    }
    ands
}
