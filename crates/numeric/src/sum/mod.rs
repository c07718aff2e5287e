//! Exact sums of numbers and of products, rounded once.
//!
//! A sum is kept in a window of fixed place values that spans the declared exponents: Kulisch's
//! long accumulator ("Computer Arithmetic and Validity", 2nd edition 2013, section 8). Each addend
//! is placed in the window as integers, the *limbs*, whose sums are carried out only at the end. So
//! addends may be added in any order and grouping, and the result has the same bits.
//!
//! A significand gets to its place by a shift to the left that starts with the smallest step, which
//! takes an AND for each bit that the word has so far. A negative addend is placed as the
//! complement of its magnitude v, which takes none: on a window of W bits that is `2^W - 1 - v`, so
//! with N negative addends the sum is that of all windows, less `N 2^W`, and N.
//!
//! The sum is that of Python's `math.fsum`, and infinity beyond the largest number. As IEEE 754
//! says of sums of two, infinities of both signs make NaN, and a sum of zero is -0 only if all
//! addends are -0; else it is +0.

mod finish;
mod place;

use crate::format::Arithmetic;

/// The most bits of a limb, so that the sum of 2^36 of them has less than 127.
pub const LIMB: usize = 90;

/// The addends of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Terms {
    /// Numbers.
    Numbers,
    /// Products of two numbers, which are not rounded.
    Products,
}

/// An exact sum: the circuits that place an addend in limbs, and that round the sums of limbs.
///
/// Exponents are those of `logb`, of a subnormal number that of the smallest normal numbers, and of
/// a product the sum of those of its factors. Zeros, infinities and NaN have none. A narrow range
/// takes fewer gates; an addend outside of it makes the sum NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Accumulator {
    /// The format of addends, and which subnormal numbers are zeros, also of the sum.
    pub arithmetic: Arithmetic,
    /// The addends.
    pub terms: Terms,
    /// The smallest exponent of an addend.
    pub lowest: i32,
    /// The largest exponent of an addend.
    pub highest: i32,
    /// The number of addends, at most 2^36. A place without an addend holds -0, which changes no
    /// sum: limbs of ones, a count of 1, no flags.
    pub addends: u64,
}

impl Accumulator {
    /// A sum of any numbers of the format.
    pub fn sum(arithmetic: Arithmetic, addends: u64) -> Accumulator {
        Accumulator {
            arithmetic,
            terms: Terms::Numbers,
            lowest: 1 - arithmetic.format.bias(),
            highest: arithmetic.format.max_exponent(),
            addends,
        }
    }

    /// A sum of any products: a dot product.
    pub fn dot(arithmetic: Arithmetic, addends: u64) -> Accumulator {
        let sum = Accumulator::sum(arithmetic, addends);
        Accumulator {
            terms: Terms::Products,
            ..sum.within(2 * sum.lowest, 2 * sum.highest)
        }
    }

    /// The same with exponents of addends from `lowest` to `highest`.
    pub fn within(self, lowest: i32, highest: i32) -> Accumulator {
        Accumulator {
            lowest,
            highest,
            ..self
        }
    }

    /// The widths of the words of an addend, all of them unsigned integers that add up: the limbs,
    /// the lowest first, none wider than [`LIMB`]; a count of negative addends; and flags of NaN,
    /// plus infinity and minus infinity, which may be added or joined by OR.
    pub fn limbs(&self) -> Vec<usize> {
        let window = self.window();
        let limb = window.div_ceil(window.div_ceil(LIMB));
        let mut widths = vec![limb; window / limb];
        let rest = window % limb;
        widths.extend((rest > 0).then_some(rest));
        widths.extend([1; 4]);
        widths
    }

    /// The smallest and the largest exponent fields of addends, added up for products.
    fn fields(&self) -> (usize, usize) {
        let format = self.arithmetic.format;
        let factors = match self.terms {
            Terms::Numbers => 1,
            Terms::Products => 2,
        };
        let field = |exponent: i32| exponent + factors * format.bias();
        let largest = factors * ((1 << format.exponent) - 2);
        let first = field(self.lowest).clamp(factors, largest) as usize;
        let last = field(self.highest).clamp(factors, largest) as usize;
        assert!(first <= last, "a range of exponents");
        assert!(self.addends <= 1 << 36, "too many addends");
        (first, last)
    }

    /// Bits of a significand of an addend.
    fn precision(&self) -> usize {
        match self.terms {
            Terms::Numbers => self.arithmetic.precision(),
            Terms::Products => 2 * self.arithmetic.precision(),
        }
    }

    /// Bits of the window.
    fn window(&self) -> usize {
        let (first, last) = self.fields();
        self.precision() + last - first
    }

    /// The exponent of the lowest bit of the window.
    fn unit(&self) -> i32 {
        let format = self.arithmetic.format;
        let below = format.bias() + format.fraction as i32;
        match self.terms {
            Terms::Numbers => self.fields().0 as i32 - below,
            Terms::Products => self.fields().0 as i32 - 2 * below,
        }
    }
}
