//! Multiplication: school-book columns, Karatsuba where it takes fewer ANDs, recoded constants.

use crate::builder::{Builder, Goal, Word};
use crate::word::Int;
use crate::word::columns::Columns;
use crate::word::plans::{Method, ProductShape};

impl Builder {
    /// x y: about 2 n^2 ANDs for n by n bits in full and n^2 for the low n, less by Karatsuba for
    /// wide words, about half for a square, and n for each non-zero signed digit of a constant.
    pub fn mul(&mut self, x: Int, y: Int, width: usize) -> Word {
        self.product(x, y, width).as_int().resize(width)
    }

    /// The product modulo 2^`width`, in no more bits than it needs.
    fn product(&mut self, x: Int, y: Int, width: usize) -> Product {
        let (x, y) = (x.cut(width), y.cut(width));
        let width = width.min(x.bits.len() + y.bits.len());
        let square = x.bits == y.bits && x.signed == y.signed;
        let bits = if let Some(constant) = x.as_constant() {
            self.times_constant(y, constant, width)
        } else if let Some(constant) = y.as_constant() {
            self.times_constant(x, constant, width)
        } else {
            let signed = x.signed || y.signed;
            let shape = ProductShape {
                x: x.bits.len(),
                y: y.bits.len(),
                width,
                square,
                signed,
            };
            // Of all methods the school book is the one whose products are one level deep.
            let method = match self.goal() {
                Goal::Size => self.plans.best(shape).1,
                Goal::Depth => Method::School,
            };
            match method {
                Method::School if square => self.school_square(x, width),
                Method::School => self.school(x, y, width),
                Method::Split => self.split(x, y, width, shape.half()),
                Method::Karatsuba => self.karatsuba(x, y, width, shape.half()),
            }
        };
        // Cut to fewer bits than it needs, a product has no sign; either reading is the same
        // modulo 2^width.
        Product {
            bits,
            signed: x.signed || y.signed,
        }
    }

    fn school(&mut self, x: Int, y: Int, width: usize) -> Word {
        let mut columns = Columns::new(width);
        for (i, &a) in x.bits.iter().enumerate() {
            for (j, &b) in y.bits.iter().enumerate() {
                columns.put_product(a, b, i + j, is_sign(x, i) ^ is_sign(y, j));
            }
        }
        columns.sum(self)
    }

    /// Each product of two different bits occurs twice: once, a column further up.
    fn school_square(&mut self, x: Int, width: usize) -> Word {
        let mut columns = Columns::new(width);
        for (i, &a) in x.bits.iter().enumerate() {
            columns.put_product(a, a, 2 * i, false);
            for (j, &b) in x.bits.iter().enumerate().skip(i + 1) {
                columns.put_product(a, b, i + j + 1, is_sign(x, j));
            }
        }
        columns.sum(self)
    }

    /// Products of all pairs of halves, of which the upper are cut to `width`. The two mixed ones
    /// of a square are equal: once, a column further up.
    fn split(&mut self, x: Int, y: Int, width: usize, half: usize) -> Word {
        let ((x0, x1), (y0, y1)) = (halves(x, half), halves(y, half));
        let parts = if x.bits == y.bits && x.signed == y.signed {
            vec![(x0, y0, 0), (x0, y1, half + 1), (x1, y1, 2 * half)]
        } else {
            vec![
                (x0, y0, 0),
                (x0, y1, half),
                (x1, y0, half),
                (x1, y1, 2 * half),
            ]
        };
        let mut columns = Columns::new(width);
        for (x, y, shift) in parts {
            let product = self.product(x, y, width.saturating_sub(shift));
            columns.add(product.as_int(), shift);
        }
        columns.sum(self)
    }

    /// Three products of halves: x0 y0, x1 y1 and (x0 + x1)(y0 + y1), less the first two.
    fn karatsuba(&mut self, x: Int, y: Int, width: usize, half: usize) -> Word {
        let ((x0, x1), (y0, y1)) = (halves(x, half), halves(y, half));
        let upper = width - half;
        let low = self.product(x0, y0, width);
        let high = self.product(x1, y1, upper);
        let (xs, ys) = (self.exact_sum(x0, x1), self.exact_sum(y0, y1));
        let middle = self.product(Int { bits: &xs, ..x1 }, Int { bits: &ys, ..y1 }, upper);
        let mut columns = Columns::new(width);
        columns.add(low.as_int(), 0);
        columns.add(high.as_int(), 2 * half);
        columns.add(middle.as_int(), half);
        columns.sub(low.as_int(), half);
        columns.sub(high.as_int(), half);
        columns.sum(self)
    }

    /// The sum of an unsigned `low` and a `high` of either sign, signed like `high`.
    fn exact_sum(&mut self, low: Int, high: Int) -> Word {
        let low_width = low.bits.len() + usize::from(high.signed);
        self.add(low, high, low_width.max(high.bits.len()) + 1)
    }

    /// An addition or subtraction for each non-zero digit of the non-adjacent form, in which a
    /// third of the digits are.
    fn times_constant(&mut self, x: Int, mut constant: i128, width: usize) -> Word {
        let mut columns = Columns::new(width);
        for shift in 0..width {
            if constant & 1 == 1 {
                // Digit 1 before a digit that is then even, else -1 and a carry.
                if constant & 3 == 1 {
                    columns.add(x, shift);
                } else {
                    columns.sub(x, shift);
                    constant = constant.wrapping_add(1);
                }
            }
            constant >>= 1;
        }
        columns.sum(self)
    }
}

/// A product and whether it is signed.
struct Product {
    bits: Word,
    signed: bool,
}

impl Product {
    fn as_int(&self) -> Int<'_> {
        Int::new(&self.bits, self.signed)
    }
}

fn is_sign(x: Int, i: usize) -> bool {
    x.signed && i + 1 == x.bits.len()
}

/// The low `at` bits, unsigned, and the rest, with the sign; a short number stays whole.
fn halves(x: Int, at: usize) -> (Int, Int) {
    if x.bits.len() <= at {
        return (x, Int::unsigned(&[]));
    }
    let (low, high) = x.bits.split_at(at);
    (Int::unsigned(low), Int { bits: high, ..x })
}
