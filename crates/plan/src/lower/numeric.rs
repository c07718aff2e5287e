//! Operations on the bits of floating point, element by element: those of crate `numeric`, and
//! conversions and orders here.

use crate::floats::{Call, Operation, Sum};
use sealane_circuit::{Builder, Int, Wire, Word};
use sealane_numeric::{Arithmetic, Fixed, Format, Rounding, ValueKind};
use sealane_program::call;
use sealane_program::types::Range;
use std::collections::HashMap;

/// Words of addends that have been placed for an exact sum. Each word is a value of its own, and
/// all words of an addend are made at once.
#[derive(Default)]
pub(super) struct Placed(HashMap<(Arithmetic, Sum, Vec<Word>), Vec<Word>>);

impl Placed {
    /// A word of an addend; the last one is asked for last.
    fn word(
        &mut self,
        b: &mut Builder,
        (arithmetic, sum, index): (Arithmetic, Sum, usize),
        addend: Vec<Word>,
    ) -> Word {
        let key = (arithmetic, sum, addend);
        let words = self
            .0
            .entry(key.clone())
            .or_insert_with_key(|(_, _, addend)| {
                let of = sum.accumulator(arithmetic);
                match &addend[..] {
                    [x, y] => of.place_product(b, x, y),
                    addend => of.place(b, &addend.concat()),
                }
            });
        let word = words[index].clone();
        if index + 1 == words.len() {
            self.0.remove(&key);
        }
        word
    }
}

/// Lowers one element of a call; `range` is that of its result.
pub(super) fn lower(
    b: &mut Builder,
    placed: &mut Placed,
    call: &Call,
    operands: &[Int<'_>],
    range: Range,
) -> Word {
    let arithmetic = call.arithmetic;
    let bits = || operands[0].resize(arithmetic.format.bits());
    match &call.operation {
        Operation::Function(name) => function(b, arithmetic, name, operands, range),
        Operation::LeastNan => ordered(b, arithmetic, &bits(), false),
        Operation::MostNan => ordered(b, arithmetic, &bits(), true),
        Operation::Ordered => unordered(b, arithmetic, &bits()),
        Operation::From { fraction } => {
            let fraction = usize::from(*fraction);
            let (bits, signed) = (operands[0].bits.len().max(fraction), operands[0].signed);
            let from = Fixed {
                bits,
                signed,
                fraction,
            };
            arithmetic.of_fixed(b, &operands[0].resize(bits), from)
        }
        Operation::To { fraction, fixed } => {
            let to = Fixed {
                bits: range.bits().into(),
                signed: range.signed(),
                fraction: (*fraction).into(),
            };
            let rounding = if *fixed {
                Rounding::Down
            } else {
                Rounding::Zero
            };
            arithmetic.to_fixed(b, &bits(), to, rounding).value
        }
        Operation::Word(index, sum) => {
            let width = arithmetic.format.bits();
            let addend = operands.iter().map(|int| int.resize(width)).collect();
            placed.word(b, (arithmetic, *sum, *index), addend)
        }
        Operation::Total(sum, to) => {
            let sums = operands.iter().map(|int| int.bits.to_vec());
            let sums = sums.collect::<Vec<_>>();
            sum.accumulator(arithmetic).finish(b, &sums, *to)
        }
        Operation::Mean(sum, to) => {
            let (count, sums) = operands
                .split_last()
                .unwrap_or_else(|| unreachable!("a count"));
            let sums = sums.iter().map(|int| int.bits.to_vec());
            let sums = sums.collect::<Vec<_>>();
            sum.accumulator(arithmetic).mean(b, &sums, count.bits, *to)
        }
        Operation::Quotient { fraction } => {
            arithmetic.quotient_of_integers(b, operands[0], operands[1], (*fraction).into())
        }
        Operation::Convert(format) => arithmetic.convert(b, &bits(), *format),
    }
}

/// A function of crate `numeric`.
fn function(
    b: &mut Builder,
    arithmetic: Arithmetic,
    name: &str,
    operands: &[Int<'_>],
    range: Range,
) -> Word {
    if let ("mod" | "floordiv", [x, y]) = (name, operands) {
        let bits = |int: &Int<'_>| int.resize(arithmetic.format.bits());
        let [quotient, rest] = divided(b, arithmetic, &bits(x), &bits(y));
        return if name == "mod" { rest } else { quotient };
    }
    let Some((function, result)) = call::of_floats(name) else {
        unreachable!("check refuses a function `{name}`")
    };
    let format = arithmetic.format;
    let words = operands.iter().zip(function.operands);
    let words = words.map(|(int, kind)| int.resize(kind.bits(format)));
    let results = (function.build)(arithmetic, b, &words.collect::<Vec<_>>());
    let signed = matches!(function.results[result], ValueKind::Integer(_));
    let bits = &results[result];
    Int { bits, signed }.resize(range.bits().into())
}

/// `x // y` and `x % y` as Python and NumPy define them: the rest has the sign of `y`, and the
/// quotient is a whole number next to that of `x - rest`. Numbers of 16 bits are divided in `f32`.
fn divided(b: &mut Builder, of: Arithmetic, x: &[Wire], y: &[Wire]) -> [Word; 2] {
    let format = of.format;
    if format.bits() == 16 {
        let single = Arithmetic {
            format: Format::F32,
            ..of
        };
        let [x, y] = [x, y].map(|bits| of.convert(b, bits, Format::F32));
        return divided(b, single, &x, &y).map(|bits| single.convert(b, &bits, format));
    }
    let number = |bits: u128| (0..format.bits()).map(move |at| Wire::constant(bits >> at & 1 == 1));
    let [zero, one] = [0, format.one()].map(|bits| number(bits).collect::<Word>());
    let rest = of.fmod(b, x, y);
    let left = of.sub(b, x, &rest);
    let quotient = of.div(b, &left, y);
    let nonzero = of.ne(b, &rest, &zero);
    let (down, below) = (of.lt(b, &rest, &zero), of.lt(b, y, &zero));
    let other = b.xor(down, below);
    let moved = of.add(b, &rest, y);
    let moved = b.select(other, &moved, &rest);
    let signed = of.copysign(b, &zero, y);
    let modulo = b.select(nonzero, &moved, &signed);
    let less = of.sub(b, &quotient, &one);
    let crossed = b.and(nonzero, other);
    let quotient = b.select(crossed, &less, &quotient);
    // The division may have rounded a whole number to one just below it.
    let whole = of.floor(b, &quotient);
    let short = of.sub(b, &quotient, &whole);
    let half = number(format.one() - (1 << format.fraction)).collect::<Word>();
    let short = of.gt(b, &short, &half);
    let up = of.add(b, &whole, &one);
    let whole = b.select(short, &up, &whole);
    let plain = of.div(b, x, y);
    let empty = of.copysign(b, &zero, &plain);
    let some = of.ne(b, &quotient, &zero);
    let quotient = b.select(some, &whole, &empty);
    // By zero, it is what the division gives.
    let by_zero = of.eq(b, y, &zero);
    [b.select(by_zero, &plain, &quotient), modulo]
}

/// The integer of a number in the order of numbers: of negative numbers all bits are flipped, of
/// others the sign. NaN becomes the largest or the least of all.
fn ordered(b: &mut Builder, arithmetic: Arithmetic, bits: &[Wire], most: bool) -> Word {
    let format = arithmetic.format;
    let sign = bits[format.bits() - 1];
    let (last, rest) = (format.bits() - 1, &bits[..format.bits() - 1]);
    let mut word = rest.iter().map(|bit| b.xor(*bit, sign)).collect::<Word>();
    word.push(!bits[last]);
    let exponent = b.all(&bits[format.fraction..last]);
    let fraction = b.any(&bits[..format.fraction]);
    let nan = b.and(exponent, fraction);
    let end = vec![Wire::constant(most); format.bits()];
    b.select(nan, &end, &word)
}

/// The number of such an integer; NaN is the canonical one.
fn unordered(b: &mut Builder, arithmetic: Arithmetic, word: &[Wire]) -> Word {
    let format = arithmetic.format;
    let last = format.bits() - 1;
    let sign = !word[last];
    let mut bits = word[..last]
        .iter()
        .map(|bit| b.xor(*bit, sign))
        .collect::<Word>();
    bits.push(sign);
    let exponent = b.all(&bits[format.fraction..last]);
    let fraction = b.any(&bits[..format.fraction]);
    let nan = b.and(exponent, fraction);
    let canonical = b.constant(format.nan() as i128, format.bits());
    b.select(nan, &canonical, &bits)
}
