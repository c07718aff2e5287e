//! Functions of a few bits that a machine computes at once: tables, and products in fields.
//!
//! Some protocols compute any function of a few bits in one round, and pay by its algebraic normal
//! form rather than by its gates; and some multiply elements of GF(2^k) at the price of k ANDs. A
//! builder that is told so ([`Lookups`](crate::Lookups), [`Builder::with_products`]) leaves such
//! functions whole; all other machines never see one.
//!
//! [`Builder::with_products`]: crate::Builder::with_products
//!
//! The *algebraic normal form* of a bit is the sum of the products of inputs that make it:
//! `f(x) = sum of x^T` over some sets `T` of inputs, where `x^T` is the product of the inputs in
//! `T`. A set is a number whose bits are its inputs. With `x = m + l`,
//!
//! ```text
//! x^T = sum over all S in T of  m^(T without S) l^S
//! ```
//!
//! so a party that knows `m`, and has shares of all `l^S`, has shares of `f(x)` without a message.

mod field;
pub mod quotient;
mod tower;

pub use field::{Field, MOST_BITS, divisor};
pub use tower::inverse16;
pub(crate) use tower::sbox;

use std::ops::{BitAnd, BitXor};
use std::sync::Arc;

/// Most inputs of a [`TruthTable`].
pub const MOST_INPUTS: usize = 10;

/// A function of a few bits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// Any function.
    Table(Arc<TruthTable>),
    /// The product of two elements of GF(16), four bits each, in the basis of [`product`]: a part
    /// of [`Lookups::Tower`](crate::Lookups::Tower), with a kernel of its own.
    Product,
    /// Two quotients in the same field, of twelve bits: the divisor and then both others. A part of
    /// [`Lookups::ShortTower`](crate::Lookups::ShortTower); see [`quotient`].
    Quotients,
    /// The product of two elements of a field.
    Field(Arc<Field>),
}

/// Some bits, each a function of the same inputs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TruthTable {
    inputs: usize,
    /// For each output, a bit for each set of inputs: whether its product is a summand.
    forms: Vec<Vec<bool>>,
    /// The sets of two inputs or more that lie in a summand of some output, in ascending order.
    products: Vec<u16>,
}

impl TruthTable {
    /// The table of so many inputs whose output `i` has the bits `i` of the entries; entries that
    /// are missing are 0.
    ///
    /// # Panics
    /// If there are more inputs than [`MOST_INPUTS`], or more entries than they reach.
    pub fn new(inputs: usize, outputs: usize, entries: &[Vec<bool>]) -> TruthTable {
        assert!(inputs <= MOST_INPUTS && entries.len() <= 1 << inputs);
        let form = |output: usize| {
            let mut form = vec![false; 1 << inputs];
            let bits = entries.iter().map(|entry| entry[output]);
            form.iter_mut().zip(bits).for_each(|(to, bit)| *to = bit);
            // The transformation of Moebius, which is its own inverse.
            for input in 0..inputs {
                for set in (0..form.len()).filter(|set| set >> input & 1 == 1) {
                    form[set] ^= form[set ^ 1 << input];
                }
            }
            form
        };
        let forms = (0..outputs).map(form).collect::<Vec<_>>();
        let mut within = (0..1usize << inputs)
            .map(|set| forms.iter().any(|form| form[set]))
            .collect::<Vec<_>>();
        for input in 0..inputs {
            for set in (0..within.len()).filter(|set| set >> input & 1 == 0) {
                within[set] |= within[set | 1 << input];
            }
        }
        let product = |set: &usize| within[*set] && set.count_ones() > 1;
        let products = (0..within.len()).filter(product).map(|set| set as u16);
        TruthTable {
            inputs,
            products: products.collect(),
            forms,
        }
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.forms.len()
    }

    /// The sets of two inputs or more whose products the table needs, in ascending order. A set
    /// comes with all sets in it.
    pub fn products(&self) -> &[u16] {
        &self.products
    }

    /// The sets of inputs whose products add up to an output, in ascending order; the empty one is
    /// the constant 1.
    pub fn summands(&self, output: usize) -> impl Iterator<Item = usize> + '_ {
        let form = self.forms[output].iter().enumerate();
        form.filter(|(_, summand)| **summand).map(|(set, _)| set)
    }
}

impl Function {
    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        match self {
            Function::Table(table) => table.inputs(),
            Function::Product => 8,
            Function::Quotients => 12,
            Function::Field(field) => 2 * field.bits(),
        }
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        match self {
            Function::Table(table) => table.outputs(),
            Function::Product => 4,
            Function::Quotients => 8,
            Function::Field(field) => field.bits(),
        }
    }

    /// Number of bits that a party has to deal who knows the masks of all inputs: those of the
    /// products that the function needs of a table, and products of the masks.
    pub fn dealt(&self) -> usize {
        match self {
            Function::Table(table) => table.products().len(),
            Function::Product => 4,
            Function::Quotients => quotient::DEALT,
            Function::Field(field) => field.bits(),
        }
    }

    /// Computes the outputs on words of many lanes.
    pub fn eval(&self, inputs: &[u64]) -> Vec<u64> {
        match self {
            Function::Product => {
                let [a, b] = [0, 4].map(|first| [0, 1, 2, 3].map(|bit| inputs[first + bit]));
                product(a, b).to_vec()
            }
            Function::Quotients => {
                let element = |at: usize| [0, 1, 2, 3].map(|bit| inputs[4 * at + bit]);
                quotient::eval([0, 1, 2].map(element)).concat()
            }
            Function::Field(field) => field.eval(inputs),
            Function::Table(table) => {
                let product = |set: usize| {
                    let factors = (0..table.inputs()).filter(|input| set >> input & 1 == 1);
                    factors.fold(u64::MAX, |product, input| product & inputs[input])
                };
                let output = |output| table.summands(output).map(product).fold(0, |a, b| a ^ b);
                (0..table.outputs()).map(output).collect()
            }
        }
    }
}

/// The product of two elements of GF(16), a tower over GF(4): bits 0 and 1 are the low half, 2 and
/// 3 the high half, of which each is `x_1 w + x_0` with `w^2 = w + 1`, and the element is
/// `high z + low` with `z^2 = z + w`. Nine products of bits, by Karatsuba's method at both levels.
#[inline(always)]
pub fn product<T: Bits>(a: [T; 4], b: [T; 4]) -> [T; 4] {
    let ([low_a, high_a], [low_b, high_b]) =
        ([[a[0], a[1]], [a[2], a[3]]], [[b[0], b[1]], [b[2], b[3]]]);
    let low = quarter(low_a, low_b);
    let high = quarter(high_a, high_b);
    let whole = quarter(add(low_a, high_a), add(low_b, high_b));
    // Times w: x_1 w + x_0 becomes (x_0 + x_1) w + x_1.
    let [out0, out1] = add(low, [high[1], high[0] ^ high[1]]);
    let [out2, out3] = add(whole, low);
    [out0, out1, out2, out3]
}

/// Values that gates compute on: bits of one lane or of many.
pub trait Bits: Copy + BitXor<Output = Self> + BitAnd<Output = Self> {}

impl<T: Copy + BitXor<Output = T> + BitAnd<Output = T>> Bits for T {}

/// The product of two elements of GF(4).
#[inline(always)]
fn quarter<T: Bits>(a: [T; 2], b: [T; 2]) -> [T; 2] {
    let low = a[0] & b[0];
    let whole = (a[0] ^ a[1]) & (b[0] ^ b[1]);
    [a[1] & b[1] ^ low, whole ^ low]
}

#[inline(always)]
fn add<T: Bits>(a: [T; 2], b: [T; 2]) -> [T; 2] {
    [a[0] ^ b[0], a[1] ^ b[1]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_form_a_field() {
        let times = |a: u8, b: u8| tower::times16(a, b);
        for a in 0..16 {
            for b in 0..16 {
                assert_eq!(times(a, b), times(b, a));
                for c in 0..16 {
                    assert_eq!(times(a, times(b, c)), times(times(a, b), c));
                    assert_eq!(times(a, b ^ c), times(a, b) ^ times(a, c));
                }
            }
            assert_eq!(times(1, a), a);
            let inverses = (0..16).filter(|b| times(a, *b) == 1).count();
            assert_eq!(inverses, usize::from(a > 0));
        }
    }

    #[test]
    fn a_table_evaluates_to_its_entries() {
        for (inputs, entries) in [(1, 2), (3, 5), (6, 64), (8, 200)] {
            let entry = |i: usize| (0..3).map(|bit| (i * 37 + 11) >> bit & 1 == 1).collect();
            let entries = (0..entries).map(entry).collect::<Vec<Vec<bool>>>();
            let table = Function::Table(Arc::new(TruthTable::new(inputs, 3, &entries)));
            for at in 0..1usize << inputs {
                let bits = (0..inputs).map(|bit| (at >> bit & 1) as u64);
                let found = table.eval(&bits.collect::<Vec<_>>());
                let none = vec![false; 3];
                let wanted = entries.get(at).unwrap_or(&none).iter();
                let found = found.iter().map(|word| word & 1 == 1);
                assert!(found.eq(wanted.copied()));
            }
        }
    }

    /// Six products of two bits and four of three, of an inverse in GF(16).
    #[test]
    fn dealt_bits_are_the_products_below_the_form() {
        let table = tower::inverse16();
        assert_eq!(Function::Table(table).dealt(), 10);
        let parity = (0..8u32).map(|i| vec![i.count_ones() % 2 == 1]);
        let parity = TruthTable::new(3, 1, &parity.collect::<Vec<_>>());
        assert!(parity.products().is_empty());
        let and = TruthTable::new(3, 1, &[0, 0, 0, 0, 0, 0, 0, 1].map(|bit| vec![bit == 1]));
        assert_eq!(and.products(), [3, 5, 6, 7]);
    }
}
