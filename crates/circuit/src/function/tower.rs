//! Tables that are an inverse in GF(2^8) but for affine maps, such as the S-box of AES, as a tower
//! over GF(16).
//!
//! An element is `h Y + l` with `Y^2 = Y + E`, `h` and `l` in GF(16). Its inverse is
//! `(h Y + h + l) / v` with `v = E h^2 + h l + l^2`: a product, an inverse in GF(16), and two
//! products beside each other; or a product and two quotients. Squares are linear, so all else is
//! sums.

use super::{Function, TruthTable, product};
use crate::builder::{Builder, Lookups, Wire, Word};
use std::sync::{Arc, OnceLock};

/// Products of two elements of GF(16), in the clear.
pub(super) fn times16(a: u8, b: u8) -> u8 {
    let bits = |x: u8| [0, 1, 2, 3].map(|bit| x >> bit & 1);
    let product = product(bits(a), bits(b));
    product.iter().rev().fold(0, |sum, bit| sum << 1 | bit)
}

/// The inverse in GF(16), and 0 for 0.
fn inverse_of(a: u8) -> u8 {
    (0..16).find(|b| times16(a, *b) == 1).unwrap_or(0)
}

/// The inverse in GF(16) as a table, and 0 for 0: a part of [`Lookups::Tower`].
pub fn inverse16() -> Arc<TruthTable> {
    static TABLE: OnceLock<Arc<TruthTable>> = OnceLock::new();
    let make = || {
        let entry = |a: u8| (0..4).map(|bit| inverse_of(a) >> bit & 1 == 1).collect();
        let entries: Vec<_> = (0..16).map(entry).collect();
        Arc::new(TruthTable::new(4, 4, &entries))
    };
    Arc::clone(TABLE.get_or_init(make))
}

/// A linear map of eight bits: the image of each bit.
type Linear = [u8; 8];

fn image(map: &Linear, x: u8) -> u8 {
    let bits = (0..8).filter(|bit| x >> bit & 1 == 1);
    bits.fold(0, |sum, bit| sum ^ map[bit])
}

/// An affine map of eight bits to any number of bits: for each output the inputs that it sums up,
/// and whether it is inverted.
type Affine = Vec<(u8, bool)>;

/// The map of a linear one, and a constant.
fn rows(map: &Linear, constant: u8) -> Affine {
    let row = |output: usize| {
        let inputs = (0..8).filter(|i| map[*i] >> output & 1 == 1);
        let row = inputs.fold(0, |row, i| row | 1 << i);
        (row, constant >> output & 1 == 1)
    };
    (0..8).map(row).collect()
}

/// The affine map that a function of so many bits is; none if it is no such map.
fn affine(outputs: usize, function: impl Fn(u8, usize) -> bool) -> Option<Affine> {
    let row = |output: usize| {
        let constant = function(0, output);
        let bits = (0..8).filter(|bit| function(1 << bit, output) != constant);
        let row = bits.fold(0u8, |row, bit| row | 1 << bit);
        let value = |x: u8| ((x & row).count_ones() % 2 == 1) ^ constant;
        let holds = (0..=255).all(|x| function(x, output) == value(x));
        holds.then_some((row, constant))
    };
    (0..outputs).map(row).collect()
}

/// The field of the tower, and that of AES in it.
struct Tower {
    /// E.
    e: u8,
    /// Image of `x^i`, by the isomorphism from the field of AES.
    into: Linear,
    back: Linear,
    /// The inverse in the field of AES.
    inverse: [u8; 256],
}

impl Tower {
    fn get() -> &'static Tower {
        static TOWER: OnceLock<Tower> = OnceLock::new();
        TOWER.get_or_init(Tower::new)
    }

    fn new() -> Tower {
        let e = (1..16).find(|e| (0..16).all(|y| times16(y, y) ^ y != *e));
        let e = e.unwrap_or(0);
        // The root of the polynomial of AES, x^8 + x^4 + x^3 + x + 1, with the sparsest maps.
        let isomorphism = |root: u8| {
            let mut powers = [1; 9];
            for i in 1..9 {
                powers[i] = times(e, powers[i - 1], root);
            }
            if powers[8] ^ powers[4] ^ powers[3] ^ powers[1] ^ 1 != 0 {
                return None;
            }
            let into: Linear = std::array::from_fn(|i| powers[i]);
            let back = std::array::from_fn(|bit| {
                let source = (0..=255).find(|x| image(&into, *x) == 1 << bit);
                source.unwrap_or(0)
            });
            Some((into, back))
        };
        let weight = |map: &Linear| map.iter().map(|column| column.count_ones()).sum::<u32>();
        let maps = (2..=255).filter_map(isomorphism);
        let best = maps.min_by_key(|(into, back)| weight(into) + weight(back));
        let (into, back) = best.unwrap_or(([0; 8], [0; 8]));
        let mut inverse = [0; 256];
        for x in 1..=255u8 {
            let mut power = image(&into, x);
            let mut product = 1;
            for _ in 0..7 {
                power = times(e, power, power);
                product = times(e, product, power);
            }
            inverse[usize::from(x)] = image(&back, product);
        }
        Tower {
            e,
            into,
            back,
            inverse,
        }
    }
}

/// The product of two elements of the tower.
fn times(e: u8, a: u8, b: u8) -> u8 {
    let (high, low) = (times16(a >> 4, b >> 4), times16(a & 15, b & 15));
    let whole = times16(a >> 4 ^ a & 15, b >> 4 ^ b & 15);
    (whole ^ low) << 4 | low ^ times16(e, high)
}

/// Looks eight bits up in a table of 256 entries that is an inverse in GF(2^8) and then an affine
/// map, to entries of any width, or an affine map of eight bits and then an inverse; none if it is
/// another table.
pub(crate) fn sbox(b: &mut Builder, index: &[Wire], entries: &[Vec<bool>]) -> Option<Word> {
    let width = entries.first()?.len();
    if (index.len(), entries.len()) != (8, 256) {
        return None;
    }
    let tower = Tower::get();
    let inverse = |x: u8| tower.inverse[usize::from(x)];
    let after = affine(width, |x, bit| entries[usize::from(inverse(x))][bit]);
    let (start, end) = match after {
        Some(after) => {
            // Of the element of the tower.
            let image = |(row, inverted): (u8, bool)| {
                let bits = (0..8).filter(|bit| (row & tower.back[*bit]).count_ones() % 2 == 1);
                (bits.fold(0, |row, bit| row | 1 << bit), inverted)
            };
            let after = after.into_iter().map(image).collect();
            (rows(&tower.into, 0), after)
        }
        None if width == 8 => {
            let byte = |x: u8| {
                let bits = entries[usize::from(x)].iter().rev();
                bits.fold(0, |byte, bit| byte << 1 | u8::from(*bit))
            };
            let element = |x: u8| image(&tower.into, inverse(byte(x)));
            let before = affine(8, |x, bit| element(x) >> bit & 1 == 1)?;
            (before, rows(&tower.back, 0))
        }
        None => return None,
    };
    let element = linear(b, &start, index);
    let inverse = invert(b, tower.e, &element);
    Some(linear(b, &end, &inverse))
}

/// The inverse of an element of the tower.
fn invert(b: &mut Builder, e: u8, element: &[Wire]) -> Word {
    let (l, h) = element.split_at(4);
    let wide = b.lookups() == Lookups::Wide;
    let product = |b: &mut Builder, x: &[Wire], y: &[Wire]| {
        if wide {
            by_bits(b, x, y)
        } else {
            b.apply(&Function::Product, &[x, y].concat())
        }
    };
    let crossed = product(b, h, l);
    // E h^2 + l^2, of the bits of l and then of h.
    let squares = std::array::from_fn(|bit| {
        let square = times16(1 << (bit % 4), 1 << (bit % 4));
        if bit < 4 { square } else { times16(e, square) }
    });
    let squares = linear(b, &rows(&squares, 0), element);
    let v = b.zip(&squares[..4], &crossed, Builder::xor);
    let sum = b.zip(h, l, Builder::xor);
    if b.lookups() == Lookups::ShortTower {
        return b.apply(&Function::Quotients, &[&v, &sum, h].concat());
    }
    let inverse = if wide {
        let entries = (0..16).map(|x| b.constant(inverse_of(x).into(), 4));
        let table = entries.collect::<Vec<_>>();
        b.lookup(&v, &table)
    } else {
        b.apply(&Function::Table(inverse16()), &v)
    };
    // On XOR shares both have the bits of the inverse in common.
    let mut out = product(b, &inverse, &sum);
    out.extend(product(b, &inverse, h));
    out
}

/// The product of two elements of GF(16), by all products of their bits: each bit of `x` is an
/// operand of four.
fn by_bits(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Word {
    let mut out = vec![Wire::ZERO; 4];
    for (i, x) in x.iter().enumerate() {
        for (j, y) in y.iter().enumerate() {
            let product = b.and(*x, *y);
            let bits = times16(1 << i, 1 << j);
            for (bit, out) in out.iter_mut().enumerate() {
                if bits >> bit & 1 == 1 {
                    *out = b.xor(*out, product);
                }
            }
        }
    }
    out
}

/// An affine map of eight wires, in few gates: of the outputs that are left, the two summands that
/// most of them have in common are added first (Paar, ISIT 1997).
fn linear(b: &mut Builder, map: &Affine, wires: &[Wire]) -> Word {
    let mut wires = wires.to_vec();
    // A bit for each wire that is left of an output. Wide maps can have more sums in common than
    // there are bits; then the rest is added output by output.
    let mut outputs = map
        .iter()
        .map(|(row, _)| u128::from(*row))
        .collect::<Vec<_>>();
    while wires.len() < u128::BITS as usize {
        let count = wires.len();
        let pairs = (0..count).flat_map(|x| (0..x).map(move |y| 1u128 << x | 1 << y));
        let common = |pair: &u128| outputs.iter().filter(|row| *row & pair == *pair).count();
        let best = pairs.map(|pair| (common(&pair), pair)).max();
        let Some((1.., pair)) = best else { break };
        let [x, y] = [pair.trailing_zeros(), pair.ilog2()].map(|at| wires[at as usize]);
        wires.push(b.xor(x, y));
        for row in outputs.iter_mut().filter(|row| **row & pair == pair) {
            *row = *row & !pair | 1 << count;
        }
    }
    let output = |(row, (_, inverted)): (&u128, &(u8, bool))| {
        let summands = (0..wires.len()).filter(|at| row >> at & 1 == 1);
        let sum = summands.fold(Wire::ZERO, |sum, at| b.xor(sum, wires[at]));
        sum.invert_if(*inverted)
    };
    outputs.iter().zip(map).map(output).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Goal, Machine, compile};

    /// FIPS 197, section 5.1.1.
    fn aes(byte: u8) -> u8 {
        let inverse = Tower::get().inverse[usize::from(byte)];
        (1..5).fold(inverse ^ 0x63, |sum, turn| sum ^ inverse.rotate_left(turn))
    }

    /// The entries of a table as its circuits give them, if it has some.
    fn every<const BYTES: usize>(entries: &[[u8; BYTES]; 256]) -> Option<Vec<[u8; BYTES]>> {
        let short = looked_up(Lookups::ShortTower, (2, 2), entries);
        let tall = looked_up(Lookups::Tower, (3, 4), entries);
        assert_eq!(short, tall);
        assert_eq!(looked_up(Lookups::Wide, (4, 0), entries), tall);
        tall
    }

    /// The entries as a circuit of so many levels and functions gives them.
    fn looked_up<const BYTES: usize>(
        lookups: Lookups,
        (levels, functions): (u32, usize),
        entries: &[[u8; BYTES]; 256],
    ) -> Option<Vec<[u8; BYTES]>> {
        let mut b = Builder::for_goal(Goal::Depth).with_lookups(lookups);
        let index = b.input(8);
        let bits = |entry: &[u8; BYTES]| {
            let bit = |at: usize| entry[at / 8] >> (at % 8) & 1 == 1;
            (0..8 * BYTES).map(bit).collect()
        };
        let entries: Vec<Vec<bool>> = entries.iter().map(bits).collect();
        let found = sbox(&mut b, &index, &entries)?;
        let tape = compile(&b.finish(vec![found]), &Machine::ROUNDS);
        tape.check().unwrap();
        let ands = if functions > 0 { 0 } else { 59 };
        assert_eq!((tape.depth, tape.ands.len()), (levels, ands));
        assert_eq!(tape.applied.len(), functions);
        // Of 512 lanes, two run each index.
        let word = |bit: usize, word: usize| {
            let lanes = (0..64).filter(|lane| (64 * word + lane) >> bit & 1 == 1);
            lanes.fold(0, |sum, lane| sum | 1 << lane)
        };
        let bits = (0..8).map(|bit| std::array::from_fn(|at| word(bit, at)));
        let out = tape.eval(&bits.collect::<Vec<_>>());
        let entry = |lane: usize| {
            let bit = |bit: usize| (out[bit][lane / 64] >> (lane % 64) & 1) as u8;
            std::array::from_fn(|byte| (0..8).fold(0, |sum, at| sum | bit(8 * byte + at) << at))
        };
        Some((0..256).map(entry).collect())
    }

    #[test]
    fn the_sbox_and_its_inverse_are_recognised() {
        assert_eq!((aes(0), aes(0x53), aes(0xff)), (0x63, 0xed, 0x16));
        let entries = std::array::from_fn(|x| [aes(x as u8)]);
        assert_eq!(every(&entries).unwrap(), entries);
        let mut inverse = [[0]; 256];
        for x in 0..=255u8 {
            inverse[usize::from(aes(x))] = [x];
        }
        assert_eq!(every(&inverse).unwrap(), inverse);
        let field = Tower::get().inverse.map(|inverse| [inverse]);
        assert_eq!(every(&field).unwrap(), field);
    }

    /// Their bits have more sums in common than a row of [`linear`] has places.
    #[test]
    fn forty_multiples_of_the_sbox_in_one_table_are_recognised() {
        let double = |byte: u8| (byte << 1) ^ if byte & 0x80 == 0 { 0 } else { 0x1b };
        let multiple = |byte: u8, by: u8| {
            let powers = std::iter::successors(Some(byte), |byte| Some(double(*byte)));
            let powers = powers.take(8).enumerate();
            powers.fold(0, |sum, (at, power)| sum ^ (power * (by >> at & 1)))
        };
        let entries: [[u8; 40]; 256] =
            std::array::from_fn(|x| std::array::from_fn(|by| multiple(aes(x as u8), by as u8 + 1)));
        assert_eq!(every(&entries).unwrap(), entries);
    }

    #[test]
    fn another_table_is_not() {
        let mut entries = std::array::from_fn(|x| [aes(x as u8)]);
        entries.swap(3, 200);
        assert_eq!(every(&entries), None);
    }
}
