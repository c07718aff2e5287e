//! Standard functions on words.
//!
//! Arithmetic has one rule: **every function computes the exact integer result of its operands and
//! returns it modulo 2^`width`**. An operand is an [`Int`]: bits with a flag for signed ones.
//! Widths and signs mix freely, and a result overflows only if the caller asks for too few bits.
//!
//! Every function has one body. The [`Goal`](crate::Goal) matters only in lower layers: sums
//! (`columns`, `levels`), chains as trees (`scan`), forms of tables (`lookup`). Costs are stated in
//! ANDs for `Goal::Size`. For `Goal::Depth`, on words of n <= 64 bits that are there at the same
//! time, sums, differences and orders are at most ceil(log2(n + 1)) ANDs deep and take less than 5
//! n and 2 n of them; ceil(log2(m - 1)) levels come before the sum of m words; and a product of n
//! by n bits has depth at most 2 + 2 ceil(log2 n).

mod arith;
mod columns;
mod compare;
mod divide;
mod levels;
mod lookup;
mod multiply;
mod permute;
mod plans;
mod scan;
mod select;
mod shift;
mod sort;

#[cfg(test)]
mod sizes;
#[cfg(test)]
mod tests;

pub use permute::{permutation_network, permutation_switches};
pub(crate) use plans::Plans;
pub use scan::Join;
pub use sort::{merging_network, sorting_network};

use crate::builder::{Builder, Wire, Word};

/// An integer operand: a word read as unsigned, or as signed in two's complement. The empty word
/// is 0.
#[derive(Clone, Copy, Debug)]
pub struct Int<'a> {
    /// The bits, least significant first.
    pub bits: &'a [Wire],
    /// True if the last bit counts negatively.
    pub signed: bool,
}

impl<'a> Int<'a> {
    /// `bits` as a signed or an unsigned integer.
    pub fn new(bits: &'a [Wire], signed: bool) -> Int<'a> {
        Int { bits, signed }
    }

    /// `bits` as an unsigned integer.
    pub fn unsigned(bits: &'a [Wire]) -> Int<'a> {
        Int::new(bits, false)
    }

    /// `bits` as a signed integer.
    pub fn signed(bits: &'a [Wire]) -> Int<'a> {
        Int::new(bits, true)
    }

    /// The wire of the sign: 1 if the integer is negative.
    pub fn sign(self) -> Wire {
        match self.bits.last() {
            Some(&last) if self.signed => last,
            _ => Wire::ZERO,
        }
    }

    /// Bit i of the two's complement form, for any i.
    pub fn bit(self, i: usize) -> Wire {
        self.bits.get(i).copied().unwrap_or(self.sign())
    }

    /// The integer modulo 2^`width`: extended or cut, without gates.
    pub fn resize(self, width: usize) -> Word {
        (0..width).map(|i| self.bit(i)).collect()
    }

    /// The integer times 2^`amount`, modulo 2^`width`, without gates.
    pub fn shl(self, amount: usize, width: usize) -> Word {
        let low = amount.min(width);
        let mut word = vec![Wire::ZERO; low];
        word.extend(self.resize(width - low));
        word
    }

    /// The integer divided by 2^`amount`, rounded down, modulo 2^`width`, without gates.
    pub fn shr(self, amount: usize, width: usize) -> Word {
        (0..width)
            .map(|i| self.bit(i.saturating_add(amount)))
            .collect()
    }

    /// The value, if all bits are constants and it fits.
    pub fn as_constant(self) -> Option<i128> {
        if self.bits.len() > 127 {
            return None;
        }
        let bit = |i| self.bit(i).as_constant().map(i128::from);
        (0..128).try_fold(0, |value, i| Some(value | bit(i)? << i))
    }

    /// The same integer with the fewest bits that show it without looking at values: leading
    /// zeros, or copies of the sign, are dropped.
    fn trim(self) -> Int<'a> {
        let mut bits = self.bits;
        if self.signed {
            while let [.., below, last] = bits {
                if below != last {
                    break;
                }
                bits = &bits[..bits.len() - 1];
            }
            // A signed number whose sign is the constant 0 is unsigned.
            if bits.last() == Some(&Wire::ZERO) {
                return Int::unsigned(&bits[..bits.len() - 1]).trim();
            }
        } else {
            while let [rest @ .., Wire::ZERO] = bits {
                bits = rest;
            }
        }
        Int::new(bits, self.signed)
    }

    /// The same integer modulo 2^`width`, with at most `width` bits, trimmed.
    fn cut(self, width: usize) -> Int<'a> {
        let cut = match self.bits.get(..width) {
            Some(bits) if bits.len() < self.bits.len() => Int::unsigned(bits),
            _ => self,
        };
        cut.trim()
    }

    /// Bits of a signed form that holds the integer.
    fn signed_width(self) -> usize {
        self.bits.len() + usize::from(!self.signed)
    }
}

impl Builder {
    /// `gate` on each pair of bits: `b.zip(&x, &y, Builder::and)`.
    ///
    /// # Panics
    /// If the words differ in width.
    pub fn zip(
        &mut self,
        x: &[Wire],
        y: &[Wire],
        mut gate: impl FnMut(&mut Builder, Wire, Wire) -> Wire,
    ) -> Word {
        assert_eq!(x.len(), y.len(), "words of different widths");
        x.iter().zip(y).map(|(&x, &y)| gate(self, x, y)).collect()
    }

    /// `x` where `bit` is 0, its complement where `bit` is 1; no AND.
    fn invert_if(&mut self, bit: Wire, x: &[Wire]) -> Word {
        x.iter().map(|&x| self.xor(x, bit)).collect()
    }

    /// The AND of all bits (1 for none), as a tree.
    pub fn all(&mut self, bits: &[Wire]) -> Wire {
        self.tree(bits, Wire::ONE, Builder::and)
    }

    /// The OR of all bits (0 for none), as a tree.
    pub fn any(&mut self, bits: &[Wire]) -> Wire {
        self.tree(bits, Wire::ZERO, Builder::or)
    }

    /// The XOR of all bits (0 for none), as a tree.
    pub fn parity(&mut self, bits: &[Wire]) -> Wire {
        self.tree(bits, Wire::ZERO, Builder::xor)
    }

    fn tree(
        &mut self,
        bits: &[Wire],
        none: Wire,
        gate: fn(&mut Builder, Wire, Wire) -> Wire,
    ) -> Wire {
        match bits {
            [] => none,
            [bit] => *bit,
            _ => {
                let (low, high) = bits.split_at(bits.len() / 2);
                let (low, high) = (self.tree(low, none, gate), self.tree(high, none, gate));
                gate(self, low, high)
            }
        }
    }
}
