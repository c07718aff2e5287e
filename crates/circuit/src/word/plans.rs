//! Choice of the multiplication method with the fewest ANDs.
//!
//! Each method is priced by the columns that it adds up and, recursively, by the products that it
//! is made of. Prices are exact for unsigned operands of unknown bits in the school-book method,
//! and within a few ANDs otherwise.

use std::collections::HashMap;

use crate::word::columns::adder_ands;

/// Widths and kind of a multiplication.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ProductShape {
    /// Bits of the first operand.
    pub x: usize,
    /// Bits of the second operand.
    pub y: usize,
    /// Bits of the product that are wanted.
    pub width: usize,
    /// True if the operands are equal.
    pub square: bool,
    /// True if an operand is signed.
    pub signed: bool,
}

/// Multiplication methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// All products of bits.
    School,
    /// All products of halves.
    Split,
    /// Three products of halves and of sums of halves.
    Karatsuba,
}

/// The cheapest method for each shape met so far, with its number of ANDs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plans(HashMap<ProductShape, (usize, Method)>);

/// Below this many bits of the smaller operand the school-book method is not beaten.
const SCHOOL_ONLY: usize = 8;

impl Plans {
    /// The cheapest method, and its ANDs.
    pub(crate) fn best(&mut self, shape: ProductShape) -> (usize, Method) {
        if let Some(&known) = self.0.get(&shape) {
            return known;
        }
        let mut best = (school(shape), Method::School);
        if shape.x.min(shape.y) >= SCHOOL_ONLY {
            let split = (self.split(shape), Method::Split);
            let karatsuba = (self.karatsuba(shape), Method::Karatsuba);
            for method in [split, karatsuba] {
                best = if method.0 < best.0 { method } else { best };
            }
        }
        self.0.insert(shape, best);
        best
    }

    fn split(&mut self, shape: ProductShape) -> usize {
        let h = shape.half();
        let (x0, y0) = (shape.x.min(h), shape.y.min(h));
        let (x1, y1) = (shape.x - x0, shape.y - y0);
        let mut mixed = shape;
        mixed.square = false;
        let mut parts = vec![(shape.unsigned(), x0, y0, 0), (shape, x1, y1, 2 * h)];
        if shape.square {
            parts.push((mixed, x0, y1, h + 1))
        } else {
            parts.extend([(mixed, x0, y1, h), (mixed, x1, y0, h)])
        }
        let mut counts = vec![0; shape.width];
        let mut ands = 0;
        for (kind, x, y, shift) in parts {
            ands += self.part(kind, x, y, shape.width.saturating_sub(shift));
            count(&mut counts, x + y, shift);
        }
        ands + adder_ands(&counts)
    }

    fn karatsuba(&mut self, shape: ProductShape) -> usize {
        let (h, width) = (shape.half(), shape.width);
        if shape.x.min(shape.y) <= h || width <= 2 * h {
            return usize::MAX;
        }
        let (x1, y1, upper) = (shape.x - h, shape.y - h, width - h);
        // The sums of halves have a bit more than a half, and another where one is signed.
        let sum = h + 1 + usize::from(shape.signed);
        let sums = if shape.square { sum - 1 } else { 2 * (sum - 1) };
        let products = self.part(shape.unsigned(), h, h, width)
            + self.part(shape, x1, y1, upper)
            + self.part(shape, sum, sum, upper);
        let (low, high) = (2 * h, x1 + y1);
        let mut counts = vec![0; width];
        for (bits, shift) in [(low, 0), (high, low), (2 * sum, h), (low, h), (high, h)] {
            count(&mut counts, bits, shift);
        }
        products + sums + adder_ands(&counts)
    }

    /// The ANDs of a product like `kind`, but of `x` by `y` bits.
    fn part(&mut self, kind: ProductShape, x: usize, y: usize, width: usize) -> usize {
        let width = width.min(x + y);
        let (x, y) = (x.min(width), y.min(width));
        self.best(kind.of_bits(x, y, width)).0
    }
}

impl ProductShape {
    /// The bit at which operands are cut in two.
    pub(crate) fn half(self) -> usize {
        self.x.max(self.y).div_ceil(2)
    }

    /// The same kind of product, of other widths.
    fn of_bits(mut self, x: usize, y: usize, width: usize) -> ProductShape {
        (self.x, self.y, self.width) = (x, y, width);
        self
    }

    fn unsigned(mut self) -> ProductShape {
        self.signed = false;
        self
    }
}

fn school(shape: ProductShape) -> usize {
    let mut counts = vec![0; shape.width];
    let mut products = 0;
    for i in 0..shape.x {
        // Row i of a square holds bit i itself, then its products with later bits, doubled.
        let (mut bits, mut shift) = (shape.y, i);
        if shape.square {
            (bits, shift) = (shape.x - i - 1, 2 * i + 2);
        }
        count(&mut counts, usize::from(shape.square), 2 * i);
        count(&mut counts, bits, shift);
        products += bits.min(shape.width.saturating_sub(shift));
    }
    products + adder_ands(&counts)
}

/// One more bit in each of the columns `shift..shift + bits` that there are.
fn count(counts: &mut [usize], bits: usize, shift: usize) {
    for count in counts.iter_mut().skip(shift).take(bits) {
        *count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn karatsuba_is_taken_where_it_wins() {
        let kind = |signed| ProductShape {
            x: 0,
            y: 0,
            width: 0,
            square: false,
            signed,
        };
        let full = |n, signed| kind(signed).of_bits(n, n, 2 * n);
        let mut plans = Plans::default();
        assert_eq!(plans.best(full(8, false)), (2 * 8 * 8 - 8, Method::School));
        assert_eq!(plans.best(full(16, false)).1, Method::Karatsuba);
        assert_eq!(plans.best(full(16, true)).1, Method::School);
        assert_eq!(plans.best(full(64, true)).1, Method::Karatsuba);
        let low = kind(false).of_bits(64, 64, 64);
        assert_eq!(plans.best(low).1, Method::Split);
    }
}
