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

use crate::fixed::at_least;
use crate::format::{Arithmetic, Parts, Subnormals};
use crate::window::grow;
use crate::word::{flip_if, layers, mask};
use sealane_circuit::{Builder, Int, Wire, Word};

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
    /// The format of addends and of the sum.
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

/// A magnitude before it is placed.
struct Addend {
    sign: Wire,
    /// The bits of the significand, 0 for zero.
    significand: Word,
    /// The exponent fields added up, those of subnormal numbers counted as 1.
    field: Word,
    nan: Wire,
    infinite: Wire,
    /// Neither zero, infinity nor NaN.
    ordinary: Wire,
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
        widths.extend((window % limb > 0).then_some(window % limb));
        widths.extend([1; 4]);
        widths
    }

    /// The words of a number: see [`limbs`](Accumulator::limbs).
    ///
    /// # Panics
    /// If the sum is one of products, or has no exponents.
    pub fn place(&self, b: &mut Builder, x: &[Wire]) -> Vec<Word> {
        assert_eq!(self.terms, Terms::Numbers, "a sum of products");
        let of = self.arithmetic;
        let parts = of.format.split(x);
        let class = of.class(b, x);
        let (first, last) = self.fields();
        if first > 1 || of.subnormals == Subnormals::Flushed {
            let addend = self.factor(b, x);
            return self.placed(b, addend);
        }
        // A highest bit of 1 takes no AND to move. That of a subnormal number, whose exponent
        // counts as 1, is taken back where it got to.
        let fraction = of.format.fraction;
        let field = of.lift(b, class.hidden, parts.exponent);
        let mut word = parts.fraction;
        word.push(Wire::ONE);
        let most = match last + 2 == 1 << of.format.exponent {
            true => last + 1,
            false => last,
        };
        word = shifted(b, word, &field, most);
        word[fraction + 1] = b.xor(word[fraction + 1], !class.hidden);
        // Infinities and NaN reach a bit that no finite number does.
        let special = match most > last {
            true => word[fraction + most],
            false => class.special,
        };
        let nan = b.and(special, class.fraction);
        let beyond = at_least(b, &field, last as i128 + 1);
        let outside = match most > last {
            true => Wire::ZERO,
            false => b.and(beyond, !special),
        };
        let flags = Flags {
            sign: parts.sign,
            nan: b.or(nan, outside),
            infinite: b.xor(special, nan),
        };
        self.words(b, &word[1..=fraction + last], flags)
    }

    /// The words of a product: see [`limbs`](Accumulator::limbs).
    ///
    /// # Panics
    /// If the sum is one of numbers, or has no exponents.
    pub fn place_product(&self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Word> {
        assert_eq!(self.terms, Terms::Products, "a sum of numbers");
        let [x, y] = [x, y].map(|x| self.factor(b, x));
        let (p, q) = (Int::unsigned(&x.significand), Int::unsigned(&y.significand));
        let significand = b.mul(p, q, x.significand.len() + y.significand.len());
        let (p, q) = (Int::unsigned(&x.field), Int::unsigned(&y.field));
        let field = b.add(p, q, x.field.len() + 1);
        // An infinity by zero: neither ordinary nor infinite.
        let none = [(&x, &y), (&y, &x)].map(|(x, y)| {
            let zero = b.or(y.ordinary, y.infinite);
            b.and(x.infinite, !zero)
        });
        let nan = b.any(&[x.nan, y.nan, none[0], none[1]]);
        let infinite = b.or(x.infinite, y.infinite);
        let product = Addend {
            sign: b.xor(x.sign, y.sign),
            significand,
            field,
            nan,
            infinite: b.and(infinite, !nan),
            ordinary: b.and(x.ordinary, y.ordinary),
        };
        self.placed(b, product)
    }

    /// The sum, rounded once, from the sums of each of the words of all addends, of any widths.
    ///
    /// # Panics
    /// If there is not a sum for each of the words.
    pub fn finish(&self, b: &mut Builder, sums: &[Word]) -> Word {
        let widths = self.limbs();
        assert_eq!(sums.len(), widths.len(), "a sum for each word");
        let (limbs, rest) = sums.split_at(sums.len() - 4);
        let negative = &rest[0];
        let flags = [1, 2, 3].map(|i| b.any(&rest[i]));
        let total = self.total(b, limbs, negative);
        let minus = total[total.len() - 1];
        let magnitude = b.neg_if(minus, Int::signed(&total), total.len());
        let some = b.any(&magnitude);
        let all = b.constant(self.addends.into(), 65);
        let all = b.eq(Int::unsigned(negative), Int::unsigned(&all));
        let minus_zero = match self.addends {
            0 => Wire::ZERO,
            _ => b.and(all, !some),
        };
        let (format, unit) = (self.arithmetic.format, self.unit());
        let number = self.arithmetic.round_integer(b, &magnitude, unit);
        let [nan, plus, less] = flags;
        let both = b.and(plus, less);
        let nan = b.or(nan, both);
        let infinite = b.or(plus, less);
        let special = b.or(nan, infinite);
        let (fraction, exponent) = number.split_at(format.fraction);
        let mut fraction = mask(b, !special, fraction);
        fraction[format.fraction - 1] = b.xor(fraction[format.fraction - 1], nan);
        let sign = b.xor(minus, minus_zero);
        let sign = b.mux(infinite, less, sign);
        Parts {
            fraction,
            exponent: exponent.iter().map(|&bit| b.or(bit, special)).collect(),
            sign: b.and(sign, !nan),
        }
        .join()
    }

    /// The signed sum of all addends in units of the window.
    fn total(&self, b: &mut Builder, limbs: &[Word], negative: &[Wire]) -> Word {
        let window = self.window();
        let width = window + layers(self.addends as usize + 1) + 1;
        let mut place = 0;
        let mut terms: Vec<Word> = Vec::new();
        for (limb, bits) in limbs.iter().zip(self.limbs()) {
            terms.push(Int::unsigned(limb).shl(place, width));
            place += bits;
        }
        // N - N 2^W, of which -N is its complement and 1.
        terms.push(Int::unsigned(negative).resize(width));
        let complement: Word = negative
            .iter()
            .map(|&bit| !bit)
            .chain([Wire::ONE])
            .collect();
        terms.push(Int::signed(&complement).shl(window, width));
        terms.push(Int::unsigned(&[Wire::ONE]).shl(window, width));
        let terms: Vec<Int> = terms.iter().map(|term| Int::unsigned(term)).collect();
        b.sum(&terms, width)
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

    /// A number as an addend or factor.
    fn factor(&self, b: &mut Builder, x: &[Wire]) -> Addend {
        let of = self.arithmetic;
        let parts = of.format.split(x);
        let class = of.class(b, x);
        let mut significand = match of.subnormals {
            Subnormals::Kept => parts.fraction,
            Subnormals::Flushed => mask(b, class.hidden, &parts.fraction),
        };
        significand.push(class.hidden);
        Addend {
            sign: parts.sign,
            significand,
            field: of.lift(b, class.hidden, parts.exponent),
            nan: class.nan,
            infinite: class.infinite,
            ordinary: !b.or(class.zero, class.special),
        }
    }

    /// The words of an addend whose significand is 0 for zeros.
    fn placed(&self, b: &mut Builder, addend: Addend) -> Vec<Word> {
        let (first, last) = self.fields();
        let span = last - first;
        let above = at_least(b, &addend.field, last as i128 + 1);
        let below = !at_least(b, &addend.field, first as i128);
        let outside = b.or(above, below);
        let outside = b.and(outside, addend.ordinary);
        // A field that starts at 1 or 2 is shifted by as it is; a subtraction would cost more.
        let (field, skipped) = match first {
            1 | 2 => (addend.field, first),
            _ => {
                let first = b.constant(first as i128, addend.field.len());
                let (x, y) = (Int::unsigned(&addend.field), Int::unsigned(&first));
                (b.sub(x, y, layers(span + 1)), 0)
            }
        };
        let mut word = shifted(b, addend.significand, &field, span + skipped);
        word.resize(self.window() + skipped, Wire::ZERO);
        let flags = Flags {
            sign: addend.sign,
            nan: b.or(addend.nan, outside),
            infinite: addend.infinite,
        };
        self.words(b, &word[skipped..], flags)
    }

    fn words(&self, b: &mut Builder, window: &[Wire], flags: Flags) -> Vec<Word> {
        let window = flip_if(b, flags.sign, window);
        let mut rest = &window[..];
        let widths = self.limbs();
        let mut words: Vec<Word> = widths[..widths.len() - 4]
            .iter()
            .map(|&width| {
                let (limb, above) = rest.split_at(width);
                rest = above;
                limb.to_vec()
            })
            .collect();
        let less = b.and(flags.infinite, flags.sign);
        let plus = b.xor(flags.infinite, less);
        words.extend([flags.sign, flags.nan, plus, less].map(|bit| vec![bit]));
        words
    }
}

/// The parts of an addend beside its magnitude.
struct Flags {
    sign: Wire,
    nan: Wire,
    infinite: Wire,
}

/// The word times 2^amount, for amounts of at most `most`.
fn shifted(b: &mut Builder, word: Word, amount: &[Wire], most: usize) -> Word {
    let width = word.len() + most;
    let amount = &amount[..layers(most + 1).min(amount.len())];
    amount
        .iter()
        .enumerate()
        .fold(word, |word, (k, &bit)| grow(b, &word, bit, 1 << k, width))
}
