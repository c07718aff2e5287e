//! Exact sums and means, against integers of any size.

use crate::common::exact::{Value, decode, encode, encode_value, power};
use crate::common::{Random, both};
use crate::values::{edges, random};
use sealane_circuit::{Goal, Int};
use sealane_numeric::measure::Runner;
use sealane_numeric::{Accumulator, Arithmetic, Format, LIMB, Terms};

/// The circuits of a sum and of a mean, whose limbs are added outside of circuits.
struct Sum {
    of: Accumulator,
    /// The arithmetic of the sum.
    to: Arithmetic,
    place: Runner,
    finish: Runner,
    mean: Runner,
}

impl Sum {
    fn new(of: Accumulator, goal: Goal) -> Sum {
        Sum::rounded(of, goal, of.arithmetic.format)
    }

    /// The sum in another format than that of the addends.
    fn rounded(of: Accumulator, goal: Goal, format: Format) -> Sum {
        let bits = of.arithmetic.format.bits();
        let inputs = vec![bits; factors(of)];
        let place = Runner::build(goal, &inputs, |b, x| match x {
            [x, y] => of.place_product(b, x, y),
            _ => of.place(b, &x[0]),
        });
        assert!(of.limbs().iter().all(|&width| width <= LIMB));
        let mut widths: Vec<usize> = of.limbs().iter().map(|width| width + 37).collect();
        let finish = Runner::build(goal, &widths, |b, sums| vec![of.finish(b, sums, format)]);
        widths.push(37);
        let mean = Runner::build(goal, &widths, |b, given| {
            let (count, sums) = given.split_last().expect("a count");
            vec![of.mean(b, sums, count, format)]
        });
        let to = Arithmetic {
            format,
            ..of.arithmetic
        };
        Sum {
            of,
            to,
            place,
            finish,
            mean,
        }
    }

    /// The words of each addend.
    fn place(&self, addends: &[Vec<u128>]) -> Vec<Vec<u128>> {
        self.place.run(addends)
    }

    /// The sums of many groups of addends.
    fn all(&self, groups: &[Vec<Vec<u128>>]) -> Vec<u128> {
        let totals = groups.iter().map(|group| total(&self.place(group)));
        let sums = self.finish.run(&totals.collect::<Vec<_>>());
        sums.into_iter().map(|sum| sum[0]).collect()
    }

    /// The means of groups of addends.
    fn means(&self, groups: &[Vec<Vec<u128>>]) -> Vec<u128> {
        let given = groups.iter().map(|group| {
            let mut given = total(&self.place(group));
            given.push(group.len() as u128);
            given
        });
        let means = self.mean.run(&given.collect::<Vec<_>>());
        means.into_iter().map(|mean| mean[0]).collect()
    }

    fn value(&self, addend: &[u128]) -> Value {
        let factors = addend.iter().map(|&x| decode(self.of.arithmetic, x));
        factors.reduce(|x, y| x.mul(&y)).expect("an addend")
    }

    /// IEEE's sum of exact values.
    fn exact(&self, addends: &[Vec<u128>]) -> Value {
        let values = addends.iter().map(|addend| self.value(addend));
        let sum = values.reduce(|sum, value| sum.add(&value));
        sum.expect("an addend")
    }

    /// The sum, rounded at the end.
    fn expected(&self, addends: &[Vec<u128>]) -> u128 {
        encode_value(self.to, &self.exact(addends))
    }

    /// The mean, rounded at the end.
    fn expected_mean(&self, addends: &[Vec<u128>]) -> u128 {
        match self.exact(addends) {
            Value::Finite(negative, size, exponent) => {
                let count = addends.len();
                let (over, under) = match exponent {
                    0.. => (size * power(exponent), power(0) * count),
                    _ => (size, power(-exponent) * count),
                };
                encode(self.to, negative, &over, &under)
            }
            special => encode_value(self.to, &special),
        }
    }

    fn check(&self, groups: &[Vec<Vec<u128>>]) {
        let found = self.all(groups).into_iter().zip(self.means(groups));
        for (group, (sum, mean)) in groups.iter().zip(found) {
            let (of, want) = (self.of, (self.expected(group), self.expected_mean(group)));
            let id = format!("{of:?} of {group:x?}: {sum:x} and {mean:x}, not {want:x?}");
            assert_eq!((sum, mean), want, "{id}");
        }
    }
}

/// Sums of words.
fn total(words: &[Vec<u128>]) -> Vec<u128> {
    let mut total = vec![0; words[0].len()];
    for words in words {
        for (sum, word) in total.iter_mut().zip(words) {
            *sum += word;
        }
    }
    total
}

/// The factors of an addend.
fn factors(of: Accumulator) -> usize {
    if of.terms == Terms::Products { 2 } else { 1 }
}

/// Groups of `count` addends: any numbers, some special; numbers that cancel; zeros.
fn groups(of: Accumulator, count: usize, groups: usize) -> Vec<Vec<Vec<u128>>> {
    let (format, mut source) = (of.arithmetic.format, Random::new(23));
    let factors = factors(of);
    let (edges, sign) = (edges(format), 1 << (format.bits() - 1));
    let number = |kind: usize, source: &mut Random| match kind {
        0 => edges[source.below(edges.len() as u64) as usize],
        1 => {
            // A number with an exponent of its own for each, so that all limbs are met.
            let field = u128::from(source.below((1 << format.exponent) - 1));
            random(format, source, 1)[0] & !format.infinity() | field << format.fraction
        }
        _ => random(format, source, 5)[kind % 5],
    };
    (0..groups)
        .map(|group| {
            let mut addends: Vec<Vec<u128>> = Vec::new();
            for i in 0..count {
                let kind = match group % 5 {
                    0 => source.below(7) as usize,
                    _ => 1 + source.below(6) as usize,
                };
                let mut addend: Vec<u128> =
                    (0..factors).map(|_| number(kind, &mut source)).collect();
                match group % 5 {
                    2 if i % 2 == 1 => {
                        addend = addends[i - 1].clone();
                        addend[0] ^= sign;
                        addend[0] ^= u128::from(source.below(8) == 0);
                    }
                    3 => {
                        addend[0] = sign;
                        if group % 2 == 0 && i == count / 2 {
                            addend[0] = 0;
                        }
                        addend[1..].fill(format.one());
                    }
                    _ => {}
                }
                addends.push(addend);
            }
            addends
        })
        .collect()
}

fn sums(arithmetic: Arithmetic, count: usize) -> [Accumulator; 2] {
    [Accumulator::sum, Accumulator::dot].map(|sum| sum(arithmetic, count as u64))
}

#[test]
fn sums_are_exact() {
    for format in [Format::new(3, 3), Format::F16, Format::BF16, Format::F32] {
        for arithmetic in both(format) {
            for (goal, count) in [(Goal::Size, 5), (Goal::Depth, 3), (Goal::Size, 1)] {
                for of in sums(arithmetic, count) {
                    Sum::new(of, goal).check(&groups(of, count, 120));
                }
            }
        }
    }
    for arithmetic in both(Format::F64) {
        for of in sums(arithmetic, 5) {
            Sum::new(of, Goal::Size).check(&groups(of, 5, 120));
        }
    }
}

/// Sums in another format than that of their addends are rounded once, too.
#[test]
fn sums_in_other_formats() {
    for (from, to) in [
        (Format::F32, Format::F64),
        (Format::F32, Format::F16),
        (Format::F64, Format::F32),
        (Format::F16, Format::BF16),
    ] {
        for arithmetic in both(from) {
            for of in sums(arithmetic, 3) {
                Sum::rounded(of, Goal::Size, to).check(&groups(of, 3, 120));
            }
        }
    }
}

/// The example of Python's documentation of `math.fsum`, and of Shewchuk's paper.
#[test]
fn sums_of_decimal_fractions() {
    let of = Accumulator::sum(Arithmetic::new(Format::F64), 10);
    let tenth: Vec<_> = vec![vec![u128::from(0.1f64.to_bits())]; 10];
    let one = u128::from(1f64.to_bits());
    assert_eq!(Sum::new(of, Goal::Size).all(&[tenth]), [one]);
    let of = Accumulator::sum(Arithmetic::new(Format::F64), 4);
    let cancel = [1e308, 1e308, -1e308, -1e308f64];
    let cancel = cancel.map(|x| vec![u128::from(x.to_bits())]).to_vec();
    assert_eq!(Sum::new(of, Goal::Size).all(&[cancel]), [0]);
}

/// Sums of many numbers in any order and grouping have the same bits.
#[test]
fn the_order_of_addends_does_not_matter() {
    for format in [Format::F32, Format::F64] {
        let of = Accumulator::sum(Arithmetic::new(format), 700);
        let sum = Sum::new(of, Goal::Size);
        let mut source = Random::new(2);
        let mut addends = groups(of, 700, 2).swap_remove(1);
        let want = sum.expected(&addends);
        for grouping in 1..5 {
            for i in (1..addends.len()).rev() {
                addends.swap(i, source.below(i as u64 + 1) as usize);
            }
            let words = sum.place(&addends);
            let parts: Vec<_> = words.chunks(grouping * 37).map(total).collect();
            assert_eq!(sum.finish.run(&[total(&parts)]), [[want]]);
        }
    }
}

/// A narrow range of exponents: exact within, NaN for what is outside.
#[test]
fn ranges_of_exponents() {
    let of = Arithmetic::new(Format::F32);
    for (lowest, highest) in [(-10, 20), (0, 0), (-200, -100), (100, 200), (-126, 127)] {
        for arithmetic in [of, of.flushed()] {
            let sum = Accumulator::sum(arithmetic, 2).within(lowest, highest);
            let circuit = Sum::new(sum, Goal::Size);
            let full = Sum::new(Accumulator::sum(arithmetic, 2), Goal::Size);
            let mut values = edges(Format::F32);
            values.extend(random(Format::F32, &mut Random::new(1), 300));
            let pairs = values.chunks(2);
            let groups = pairs.map(|pair| pair.iter().map(|&x| vec![x]).collect());
            let groups: Vec<Vec<_>> = groups.collect();
            let found = circuit.all(&groups).into_iter().zip(circuit.means(&groups));
            for (group, found) in groups.iter().zip(found) {
                let inside = group.iter().all(|x| {
                    let field = x[0] >> 23 & 255;
                    let exponent = field.max(1) as i32 - 127;
                    let zero = crate::values::flush(Format::F32, x[0]) << 1 & 0xffff_ffff == 0
                        && (arithmetic != of || x[0] & 0x7fff_ffff == 0);
                    zero || field == 255 || (lowest..=highest).contains(&exponent)
                });
                let nan = Format::F32.nan();
                let exact = (full.expected(group), full.expected_mean(group));
                let want = if inside { exact } else { (nan, nan) };
                assert_eq!(found, want, "{group:x?} in {lowest}..={highest}");
            }
        }
    }
}

/// Products whose exponents add up to something outside of the range; those of zeros never do.
#[test]
fn ranges_of_exponents_of_products() {
    let of = Arithmetic::new(Format::F32);
    let sum = Accumulator::dot(of, 1).within(-8, 8);
    let circuit = Sum::new(sum, Goal::Size);
    let one = 1f32.to_bits();
    let (low, high) = ((1.5f32 / 32.0).to_bits(), 31f32.to_bits());
    for (x, y, inside) in [
        (low, low, false),
        (low, one, true),
        (high, high, true),
        (high, 32f32.to_bits(), false),
        (0, f32::MAX.to_bits(), true),
        (1, one, false),
        (1, 1 << 31, true),
        (f32::INFINITY.to_bits(), low, true),
        (f32::INFINITY.to_bits(), 0, true),
    ] {
        let row = vec![u128::from(x), u128::from(y)];
        let group = vec![row];
        let want = if inside {
            circuit.expected(&group)
        } else {
            Format::F32.nan()
        };
        assert_eq!(circuit.all(&[group]), [want], "{x:x} {y:x}");
    }
}

/// Placing a number and adding its limbs, in a circuit that does so for many addends.
#[test]
fn addends_take_few_gates() {
    for (format, most) in [(Format::F32, 750), (Format::F64, 4900)] {
        let count = 64;
        let of = Accumulator::sum(Arithmetic::new(format), count);
        let placed = Runner::build(Goal::Size, &[format.bits()], |b, x| of.place(b, &x[0]));
        let whole = Runner::build(Goal::Size, &vec![format.bits(); count as usize], |b, x| {
            let words: Vec<_> = x.iter().map(|x| of.place(b, x)).collect();
            let widths = of.limbs();
            let mut column = |i: usize| {
                let column: Vec<&[_]> = words.iter().map(|words| &words[i][..]).collect();
                if i + 3 >= widths.len() {
                    return vec![b.any(&column.concat())];
                }
                let ints: Vec<_> = column.into_iter().map(Int::unsigned).collect();
                b.sum(&ints, widths[i] + 6)
            };
            (0..widths.len()).map(&mut column).collect()
        });
        let each = whole.ands.div_ceil(count);
        let name = format.name();
        println!("{name}: {} to place, {each} in all", placed.ands);
        assert!(each <= most, "{each} ANDs for an addend of {name}");
    }
}
