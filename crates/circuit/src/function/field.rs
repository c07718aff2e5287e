//! Products in GF(2^k), k from 1 to 8.
//!
//! An element is a polynomial over GF(2) of degree below k: bit `i` is the coefficient of `x^i`. A
//! sum is XOR, and a product is one of polynomials, reduced by an irreducible one of degree k (FIPS
//! 197, section 4.2, for the field of AES). Karatsuba's method ("Multiplication of multidigit
//! numbers on automata", 1962) takes 27 products of bits for 8, in place of 64. A product of three
//! bits by three has a form of its own, with 6 of them in place of 7.
//!
//! A product is *bilinear*: sums of the bits of each factor, products of a sum of one with that of
//! the other, and sums of those. So a machine that shares values by sums computes the sums alone,
//! and multiplies values that are parts of shares as it needs.

use crate::builder::{Builder, Wire, Word};
use crate::function::Function;
use std::sync::{Arc, OnceLock};

/// Most bits of an element.
pub const MOST_BITS: usize = 8;

/// The field of polynomials over GF(2) modulo an irreducible one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    polynomial: u16,
    bits: usize,
    /// Places of which a sum is appended, to the bits of a factor.
    sums: Vec<[u8; 2]>,
    /// Places of both factors whose products are made.
    products: Vec<u8>,
    /// Places of which a sum is appended, to the products.
    joins: Vec<[u8; 2]>,
    /// The place of each bit of the product.
    outputs: Vec<u8>,
}

impl Field {
    /// Bits of elements of all fields.
    pub const SIZES: &[usize] = &[1, 2, 3, 4, 5, 6, 7, 8];

    /// The field of a polynomial, bit `i` of which is the coefficient of `x^i`: 0x11b is
    /// `x^8 + x^4 + x^3 + x + 1`. None if its degree is not from 1 to [`MOST_BITS`], or if it is a
    /// product of others.
    pub fn new(polynomial: u16) -> Option<Field> {
        let bits = polynomial.checked_ilog2()? as usize;
        if !(1..=MOST_BITS).contains(&bits) || divisor(polynomial).is_some() {
            return None;
        }
        let mut method = Method::default();
        let factor = (0..bits as u8).collect::<Vec<_>>();
        method.wires = factor.len();
        let product = method.product(&factor);
        let (outputs, joins) = method.reduced(product, bits, polynomial);
        Some(Field {
            polynomial,
            bits,
            sums: method.sums,
            products: method.products,
            joins,
            outputs,
        })
    }

    /// As [`Field::new`], made once.
    pub fn of(polynomial: u16) -> Option<Arc<Field>> {
        static FIELDS: [OnceLock<Option<Arc<Field>>>; 2 << MOST_BITS] =
            [const { OnceLock::new() }; 2 << MOST_BITS];
        let made = FIELDS.get(usize::from(polynomial))?;
        made.get_or_init(|| Field::new(polynomial).map(Arc::new))
            .clone()
    }

    /// The polynomial.
    pub fn polynomial(&self) -> u16 {
        self.polynomial
    }

    /// Bits of an element.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// Number of products of bits.
    pub fn ands(&self) -> usize {
        self.products.len()
    }

    /// Places of a factor: its bits, then their sums.
    pub fn factor_places(&self) -> usize {
        self.bits + self.sums.len()
    }

    /// Places of products and their sums.
    fn product_places(&self) -> usize {
        self.products.len() + self.joins.len()
    }

    /// Number of places that [`Field::add_products`] needs for so many products.
    pub fn scratch(&self, products: usize) -> usize {
        2 * products * self.factor_places() + self.product_places()
    }

    /// Adds up products of two factors each, on words of many lanes. `scratch` holds the factors,
    /// [`Field::factor_places`] each with the bits in the first of them, and after them room for
    /// products: [`Field::scratch`] places for as many `products`. Returns the last part, with the
    /// bits of the sum in the places of [`Field::outputs`].
    #[inline(always)]
    pub fn add_products<'a, const C: usize>(
        &self,
        scratch: &'a mut [[u64; C]],
        products: usize,
    ) -> &'a [[u64; C]] {
        let size = self.factor_places();
        let (factors, rest) = scratch.split_at_mut(2 * products * size);
        let sums = &mut rest[..self.product_places()];
        let mut first = true;
        for pair in factors.chunks_exact_mut(2 * size) {
            let (x, y) = pair.split_at_mut(size);
            add(self.bits, &self.sums, x);
            add(self.bits, &self.sums, y);
            for (place, sum) in self.products.iter().zip(&mut *sums) {
                let (x, y) = (&x[usize::from(*place)], &y[usize::from(*place)]);
                for w in 0..C {
                    let product = x[w] & y[w];
                    sum[w] = if first { product } else { sum[w] ^ product };
                }
            }
            first = false;
        }
        add(self.products.len(), &self.joins, sums);
        sums
    }

    /// Places of the bits of a sum of products.
    #[inline(always)]
    pub fn outputs(&self) -> &[u8] {
        &self.outputs
    }

    /// Product of two elements in the clear, on words of many lanes.
    pub(super) fn eval(&self, inputs: &[u64]) -> Vec<u64> {
        let mut scratch = vec![[0]; self.scratch(1)];
        for (factor, bits) in inputs.chunks(self.bits).enumerate() {
            let places = &mut scratch[factor * self.factor_places()..];
            for (to, bit) in places.iter_mut().zip(bits) {
                *to = [*bit];
            }
        }
        let products = self.add_products(&mut scratch, 1);
        let outputs = self.outputs.iter().map(|place| usize::from(*place));
        outputs.map(|place| products[place][0]).collect()
    }

    /// The gates of a product.
    fn gates(&self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Word {
        let mut factor = |bits: &[Wire]| {
            let mut wires = bits.to_vec();
            for [p, q] in &self.sums {
                wires.push(b.xor(wires[usize::from(*p)], wires[usize::from(*q)]));
            }
            wires
        };
        let (x, y) = (factor(x), factor(y));
        let places = self.products.iter().map(|place| usize::from(*place));
        let mut wires = places.map(|at| b.and(x[at], y[at])).collect::<Word>();
        for [p, q] in &self.joins {
            wires.push(b.xor(wires[usize::from(*p)], wires[usize::from(*q)]));
        }
        let outputs = self.outputs.iter();
        outputs.map(|place| wires[usize::from(*place)]).collect()
    }
}

/// Appends sums of two places each, from place `first` on.
#[inline(always)]
fn add<const C: usize>(first: usize, sums: &[[u8; 2]], places: &mut [[u64; C]]) {
    for (at, [p, q]) in sums.iter().enumerate() {
        let (p, q) = (places[usize::from(*p)], places[usize::from(*q)]);
        let sum = &mut places[first + at];
        for w in 0..C {
            sum[w] = p[w] ^ q[w];
        }
    }
}

/// Returns a polynomial of lower degree, but not a constant, that divides another one: the smallest
/// one. None if it is irreducible.
pub fn divisor(polynomial: u16) -> Option<u16> {
    let degree = |of: u32| of.checked_ilog2().unwrap_or(0);
    let whole = degree(polynomial.into());
    let divides = |divisor: &u16| {
        let divisor = u32::from(*divisor);
        let mut rest = u32::from(polynomial);
        while rest >= 2 && degree(rest) >= degree(divisor) {
            rest ^= divisor << (degree(rest) - degree(divisor));
        }
        rest == 0
    };
    // One of two factors has at most half of the degree.
    (2..2u16 << (whole / 2)).find(divides)
}

/// A sum of products, which is made when it is first needed: places of [`Field::add_products`],
/// products first.
type Sum = Vec<u8>;

/// Karatsuba's method while it is written down.
#[derive(Default)]
struct Method {
    /// Bits and sums of a factor so far.
    wires: usize,
    sums: Vec<[u8; 2]>,
    products: Vec<u8>,
    /// Sums of products, by numbers from [`Method::JOINS`] on.
    joins: Vec<[u8; 2]>,
}

impl Method {
    /// Numbers of sums of products begin here, until the number of products is known.
    const JOINS: u8 = 64;

    /// The sum of two places of a factor.
    fn sum(&mut self, p: u8, q: u8) -> u8 {
        self.sums.push([p, q]);
        self.wires += 1;
        self.wires as u8 - 1
    }

    /// The sum of some products and sums of them.
    fn join(&mut self, of: &[u8]) -> u8 {
        let mut all = of.iter().copied();
        let first = all.next().unwrap_or(0);
        all.fold(first, |sum, next| {
            self.joins.push([sum, next]);
            Method::JOINS + self.joins.len() as u8 - 1
        })
    }

    /// The coefficients of the product of two polynomials, of which these are the places of the
    /// coefficients.
    fn product(&mut self, of: &[u8]) -> Vec<Sum> {
        match *of {
            [] => Vec::new(),
            [bit] => {
                // The middle of an odd number of coefficients has one that stands alone again.
                let known = self.products.iter().position(|known| *known == bit);
                let at = known.unwrap_or(self.products.len());
                if known.is_none() {
                    self.products.push(bit);
                }
                vec![vec![at as u8]]
            }
            [a, b, c] => {
                let sums = [self.sum(a, b), self.sum(a, c), self.sum(b, c)];
                let mut times = |place: u8| self.product(&[place])[0][0];
                let [a, b, c] = [a, b, c].map(&mut times);
                let [ab, ac, bc] = sums.map(&mut times);
                let middle = [vec![ab, a, b], vec![ac, a, b, c], vec![bc, b, c]];
                [&[vec![a]][..], &middle, &[vec![c]]].concat()
            }
            _ => {
                let half = of.len().div_ceil(2);
                let (low, high) = of.split_at(half);
                let sums = (0..half).map(|at| match high.get(at) {
                    Some(bit) => self.sum(low[at], *bit),
                    None => low[at],
                });
                let sums = sums.collect::<Vec<_>>();
                let [low, high, both] = [low, high, &sums].map(|of| self.product(of));
                let mut out = vec![Vec::new(); 2 * of.len() - 1];
                for (at, sum) in both.iter().enumerate() {
                    // The sum of the middle, once for both halves that it lies beside.
                    let parts = [Some(sum), low.get(at), high.get(at)];
                    let parts = parts.into_iter().flatten().flatten().copied();
                    let middle = self.join(&parts.collect::<Vec<_>>());
                    out[half + at].push(middle);
                }
                let ends = [(0, low), (2 * half, high)];
                for (first, end) in ends {
                    for (at, sum) in end.into_iter().enumerate() {
                        out[first + at].extend(sum);
                    }
                }
                // Each coefficient is read several times.
                out.iter().map(|sum| vec![self.join(sum)]).collect()
            }
        }
    }

    /// The bits of a product modulo a polynomial, and all sums of products that they need.
    fn reduced(
        &mut self,
        mut product: Vec<Sum>,
        bits: usize,
        polynomial: u16,
    ) -> (Vec<u8>, Vec<[u8; 2]>) {
        while product.len() > bits {
            let highest = product.pop().unwrap_or_default();
            let highest = self.join(&highest);
            let first = product.len() - bits;
            for at in (0..bits).filter(|at| polynomial >> at & 1 == 1) {
                product[first + at].push(highest);
            }
        }
        let outputs = product.iter().map(|sum| self.join(sum));
        let outputs = outputs.collect::<Vec<_>>();
        let count = self.products.len() as u8;
        let place = |number: u8| match number.checked_sub(Method::JOINS) {
            Some(join) => join + count,
            None => number,
        };
        let joins = self.joins.iter().map(|sum| sum.map(place));
        (outputs.into_iter().map(place).collect(), joins.collect())
    }
}

impl Builder {
    /// The product of two elements of a field, of as many bits as those of the field; missing
    /// ones are 0. It is one AND deep, with [`Field::ands`] of them at most: none if a factor is
    /// constant, or if both are the same. A builder for machines that compute functions at once
    /// ([`Builder::with_products`]) leaves it whole where that has fewer bits to multiply.
    ///
    /// # Panics
    /// If a factor has more bits than an element.
    pub fn field_product(&mut self, field: &Arc<Field>, x: &[Wire], y: &[Wire]) -> Word {
        let bits = field.bits();
        assert!(x.len().max(y.len()) <= bits, "elements of a field");
        let [x, y] = [x, y].map(|factor| {
            let mut factor = factor.to_vec();
            factor.resize(bits, Wire::ZERO);
            factor
        });
        if self.multiplies(bits) && x != y {
            // Sorted, so that equal products are found.
            let (x, y) = (x.as_slice().min(&y), x.as_slice().max(&y));
            if ands(field, x, y) > bits as u64 {
                let function = Function::Field(Arc::clone(field));
                return self.apply(&function, &[x, y].concat());
            }
        }
        field.gates(self, &x, &y)
    }
}

/// The number of ANDs of a product, as gates.
fn ands(field: &Field, x: &[Wire], y: &[Wire]) -> u64 {
    let known = |wire: &Wire| wire.as_constant().is_some();
    if !x.iter().chain(y).any(known) {
        return field.ands() as u64;
    }
    let mut b = Builder::new();
    let mut like = |factor: &[Wire]| {
        let wire = |wire: &Wire| if known(wire) { *wire } else { b.input(1)[0] };
        factor.iter().map(wire).collect::<Word>()
    };
    let (x, y) = (like(x), like(y));
    let product = field.gates(&mut b, &x, &y);
    b.finish(vec![product]).info().ands
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All fields of up to 8 bits.
    fn fields() -> impl Iterator<Item = Field> {
        (0..1 << 9).filter_map(Field::new)
    }

    /// As in FIPS 197, section 4.2.1: by doubling, one bit of a factor after the other.
    fn slow(polynomial: u16, x: u16, y: u16) -> u16 {
        let bits = polynomial.ilog2();
        let mut power = x;
        let mut sum = 0;
        for bit in 0..bits {
            sum ^= power * (y >> bit & 1);
            power <<= 1;
            power ^= polynomial * (power >> bits & 1);
        }
        sum
    }

    /// The products of all elements with one, in the clear.
    fn row(field: &Field, x: u16) -> Vec<u16> {
        let bits = field.bits();
        let count = 1 << bits;
        let mut row = Vec::new();
        for first in (0..count).step_by(64) {
            let lanes = (count - first).min(64);
            let word = |bit: usize| {
                let lane = |lane: usize| ((first + lane) >> bit & 1) as u64;
                (0..lanes).fold(0, |word, at| word | lane(at) << at)
            };
            let same = |bit: usize| u64::from(x >> bit & 1).wrapping_neg();
            let inputs = (0..bits).map(same).chain((0..bits).map(word));
            let found = field.eval(&inputs.collect::<Vec<_>>());
            let value = |lane: usize| {
                let bits = found.iter().enumerate();
                bits.fold(0, |sum, (at, word)| sum | ((word >> lane & 1) as u16) << at)
            };
            row.extend((0..lanes).map(value));
        }
        row
    }

    /// The number of irreducible polynomials of each degree, by Gauss's formula.
    #[test]
    fn the_fields_are_those_of_all_irreducible_polynomials() {
        let of = |bits| fields().filter(|field| field.bits() == bits).count();
        assert_eq!([1, 2, 3, 4, 5, 6, 7, 8].map(of), [2, 1, 2, 3, 6, 9, 18, 30]);
        for refused in [0, 1, 0x101, 0x11a, 0x211, 0xffff] {
            assert_eq!(Field::new(refused), None);
        }
        // x^2 + 1 is (x + 1)^2; x^8 + 1 is (x + 1)^8; x^4 + x^2 + 1 is (x^2 + x + 1)^2.
        assert_eq!([5, 0x101, 0x15].map(divisor), [Some(3), Some(3), Some(7)]);
        assert_eq!(divisor(0x11b), None);
    }

    /// FIPS 197, sections 4.2 and 4.2.1.
    #[test]
    fn known_products() {
        let aes = Field::new(0x11b).unwrap();
        let times = |x: u16, y: u16| row(&aes, x)[usize::from(y)];
        assert_eq!((times(0x57, 0x83), times(0x57, 0x13)), (0xc1, 0xfe));
        let powers = [0x02, 0x04, 0x08, 0x10].map(|y| times(0x57, y));
        assert_eq!(powers, [0xae, 0x47, 0x8e, 0x07]);
        assert_eq!(times(0x53, 0xca), 1);
    }

    #[test]
    fn all_products_of_all_fields() {
        for field in fields() {
            let polynomial = field.polynomial();
            let last = (1u16 << field.bits()) - 1;
            for x in 0..=last {
                let wanted: Vec<u16> = (0..=last).map(|y| slow(polynomial, x, y)).collect();
                assert_eq!(row(&field, x), wanted, "{polynomial:#x}");
            }
        }
    }

    /// Products are a group without 0, and they distribute.
    #[test]
    fn laws_of_fields() {
        for field in fields() {
            let table = (0..1u16 << field.bits()).map(|x| row(&field, x));
            let table = table.collect::<Vec<_>>();
            let times = |x: u16, y: u16| table[usize::from(x)][usize::from(y)];
            let all = 0..table.len() as u16;
            for x in all.clone() {
                assert_eq!((times(x, 0), times(x, 1)), (0, x));
                let inverses = all.clone().filter(|y| times(x, *y) == 1);
                assert_eq!(inverses.count(), usize::from(x > 0));
                for y in all.clone() {
                    assert_eq!(times(x, y), times(y, x));
                    // Of many bits, with some third factors.
                    for z in all.clone().step_by((table.len() / 16).max(1)) {
                        let z = z ^ (x & 1);
                        assert_eq!(times(x, times(y, z)), times(times(x, y), z));
                        assert_eq!(times(x, y ^ z), times(x, y) ^ times(x, z));
                    }
                }
            }
        }
    }

    fn built(
        whole: &'static [usize],
        build: impl FnOnce(&mut Builder) -> Word,
    ) -> (crate::CircuitInfo, crate::Tape) {
        let mut b = Builder::new().with_products(whole);
        let out = build(&mut b);
        let circuit = b.finish(vec![out]);
        let tape = crate::compile(&circuit, &crate::Machine::ROUNDS);
        tape.check().unwrap();
        (circuit.info(), tape)
    }

    fn aes() -> Arc<Field> {
        Arc::new(Field::new(0x11b).unwrap())
    }

    #[test]
    fn products_take_the_ands_of_their_bits() {
        for field in fields() {
            let ands = [1, 3, 6, 9, 14, 18, 23, 27][field.bits() - 1];
            let field = Arc::new(field);
            assert_eq!(field.ands() as u64, ands);
            let (info, tape) = built(&[], |b| {
                let (x, y) = (b.input(field.bits()), b.input(field.bits()));
                b.field_product(&field, &x, &y)
            });
            assert_eq!((info.ands, tape.depth), (ands, 1));
        }
    }

    #[test]
    fn squares_and_constant_factors_are_free() {
        for whole in [&[], Field::SIZES] {
            let square = |b: &mut Builder| {
                let x = b.input(8);
                b.field_product(&aes(), &x, &x)
            };
            let twice = |b: &mut Builder| {
                let (x, two) = (b.input(8), b.constant(2, 2));
                b.field_product(&aes(), &x, &two)
            };
            for (info, tape) in [built(whole, square), built(whole, twice)] {
                assert_eq!((info.ands, tape.applied.len()), (0, 0));
            }
        }
    }

    #[test]
    fn a_product_is_whole_where_that_is_less() {
        let product = |bits: usize| {
            built(Field::SIZES, |b| {
                let (x, y) = (b.input(8), b.input(bits));
                let product = b.field_product(&aes(), &x, &y);
                let same = b.field_product(&aes(), &y, &x);
                assert_eq!(product, same);
                product
            })
        };
        // A bit times eight.
        let (info, tape) = product(1);
        assert_eq!((info.ands, tape.applied.len()), (8, 0));
        for bits in [2, 8] {
            let (info, tape) = product(bits);
            assert_eq!((info.ands, tape.applied.len(), tape.depth), (0, 1, 1));
        }
        // Four times four bits take nine ANDs.
        let (_, tape) = built(Field::SIZES, |b| {
            let (x, y) = (b.input(3), b.input(3));
            b.field_product(&aes(), &x, &y)
        });
        assert_eq!((tape.ands.len(), tape.applied.len()), (6, 0));
    }
}
