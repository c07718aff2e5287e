//! Addends as limbs.

use super::{Accumulator, Terms};
use crate::fixed::at_least;
use crate::format::Subnormals;
use crate::window::grow;
use crate::word::{flip_if, layers, mask};
use sealane_circuit::{Builder, Int, Wire, Word};

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
        if first > 1 {
            let addend = self.factor(b, x);
            return self.placed(b, addend);
        }
        // A highest bit of 1 takes no AND to move. That of a subnormal number, whose exponent
        // counts as 1, is taken back where it got to.
        let fraction = of.format.fraction;
        let field = of.lift(b, class.hidden, parts.exponent);
        let mut word = self.fraction(b, parts.fraction, class.hidden);
        word.push(Wire::ONE);
        let most = last + usize::from(last + 2 == 1 << of.format.exponent);
        word = shifted(b, word, &field, most);
        word[fraction + 1] = b.xor(word[fraction + 1], !class.hidden);
        // Infinities and NaN reach a bit that no finite number does.
        let special = if most > last {
            word[fraction + most]
        } else {
            class.special
        };
        let nan = b.and(special, class.fraction);
        let beyond = at_least(b, &field, last as i128 + 1);
        let outside = if most > last {
            Wire::ZERO
        } else {
            b.and(beyond, !special)
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

    /// The fraction field of a number, 0 where the number is read as zero.
    fn fraction(&self, b: &mut Builder, fraction: Word, hidden: Wire) -> Word {
        match self.arithmetic.subnormals {
            Subnormals::Kept => fraction,
            Subnormals::Flushed => mask(b, hidden, &fraction),
        }
    }

    /// A number as an addend or factor.
    fn factor(&self, b: &mut Builder, x: &[Wire]) -> Addend {
        let of = self.arithmetic;
        let parts = of.format.split(x);
        let class = of.class(b, x);
        let mut significand = self.fraction(b, parts.fraction, class.hidden);
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
