//! Kernels against definitions.

use sealane_block::{Block, Cpu, Prg};

use super::{Tiny, random};
use crate::field::{Field, Gf128, PLANE, Scalars, Sum};
use crate::grid::{
    Folding, GIVEN, POINTS, SIDE, Scratch, embed, given_point, inverse16, lagrange, mul16,
};
use crate::kind::{GROUP, GROUP_LANES, POSITIONS};
use crate::strings::{BitString, GROUP_BLOCKS};
use crate::{Kind, Small};

/// GF(2^128) without a kernel but for one product.
struct Slow128;

impl Field for Slow128 {
    const BITS: usize = 128;
    const EMBEDDING: [Block; 4] = Gf128::EMBEDDING;
}

impl Scalars for Slow128 {
    fn mul(cpu: Cpu, a: Block, b: Block) -> Block {
        Gf128::mul(cpu, a, b)
    }
    fn element(bits: Block) -> Block {
        bits
    }
    fn is_point(at: Block, count: usize) -> bool {
        Gf128::is_point(at, count)
    }
}

fn drawn(count: usize, number: u64) -> Vec<Block> {
    let mut blocks = vec![Block::ZERO; count];
    Prg::danger_fixed(Cpu::best(), number).fill(&mut blocks);
    blocks
}

fn same(a: &[Block], b: &[Block], what: &str) {
    assert_eq!(a.len(), b.len(), "{what}");
    assert!(
        a.iter().zip(b).all(|(a, b)| a.value() == b.value()),
        "{what}"
    );
}

#[test]
fn kernels_of_the_field_match_their_definitions_on_every_tier() {
    for cpu in Cpu::available() {
        let tier = cpu.tier().name();
        for length in [2, 4, 6, 8, 10, 14, 16, 30, 130] {
            let (f, g, at) = (drawn(length, 1), drawn(length, 2), drawn(1, 3)[0]);
            let products = [
                Gf128::line_product(cpu, &f, &g),
                Slow128::line_product(cpu, &f, &g),
            ];
            same(&products[0][..], &products[1][..], tier);
            let (mut fast, mut slow) = (f.clone(), f);
            Gf128::fold(cpu, &mut fast, at);
            Slow128::fold(cpu, &mut slow, at);
            same(&fast[..length / 2], &slow[..length / 2], tier);
        }
        for lanes in [128, 32] {
            let (planes, weights) = (drawn(3 * PLANE, 4), drawn(GROUP_LANES / lanes, 5));
            let mut sums: [Vec<Sum>; 2] = [vec![[Block::ZERO; 12]; 3], vec![[Block::ZERO; 12]; 3]];
            for _ in 0..2 {
                // A sum goes on over groups: twice the same one cancels, so the second is another.
                let planes: Vec<Block> = planes.iter().map(|p| Gf128::times_x(cpu, *p)).collect();
                for planes in [&planes, &drawn(3 * PLANE, 6)] {
                    Gf128::weigh(cpu, lanes, planes, &weights, &mut sums[0]);
                    Slow128::weigh(cpu, lanes, planes, &weights, &mut sums[1]);
                }
                Gf128::weigh(cpu, lanes, &drawn(3 * PLANE, 7), &weights, &mut sums[0]);
                Slow128::weigh(cpu, lanes, &drawn(3 * PLANE, 7), &weights, &mut sums[1]);
                let [fast, slow]: [Vec<Block>; 2] = [
                    sums[0].iter().map(|sum| Gf128::total(cpu, sum)).collect(),
                    sums[1].iter().map(|sum| Slow128::total(cpu, sum)).collect(),
                ];
                same(&fast, &slow, tier);
            }
        }
        let a = drawn(9, 8);
        for value in a {
            let doubled = [Gf128::times_x(cpu, value), Slow128::times_x(cpu, value)];
            same(&doubled[..1], &doubled[1..], tier);
        }
    }
}

/// The images of GF(16) are those of a field, in every field that tests use.
fn embeds<F: Field>() {
    let cpu = Cpu::best();
    for a in 0..16 {
        for b in 0..16 {
            let product = F::mul(cpu, embed::<F>(a), embed::<F>(b));
            assert_eq!(product.value(), embed::<F>(mul16(a, b)).value());
            assert_eq!(embed::<F>(a).value() == embed::<F>(b).value(), a == b);
        }
        if a > 0 {
            assert_eq!(mul16(a, inverse16(a)), 1);
        }
    }
}

#[test]
fn elements_of_gf16_lie_in_the_field_of_challenges() {
    embeds::<Gf128>();
    embeds::<Tiny<4>>();
    embeds::<Tiny<8>>();
    // The tower of `Small::Gf16`: w^2 = w + 1 and z^2 = z + w.
    assert_eq!((mul16(2, 2), mul16(4, 4), mul16(2, 4)), (3, 6, 8));
}

/// Powers of x up to the lanes of a block are independent over the field of the operands, and one
/// more is not.
#[test]
fn a_block_has_as_many_lanes_as_there_are_independent_powers() {
    let cpu = Cpu::best();
    let rank = |lanes: usize, degree: usize| {
        let mut basis: Vec<u128> = Vec::new();
        for (lane, k) in (0..lanes).flat_map(|lane| (0..degree).map(move |k| (lane, k))) {
            let power = (0..lane).fold(Gf128::EMBEDDING[k], |power, _| Gf128::times_x(cpu, power));
            let rest = basis.iter().fold(power.value(), |v, b| v.min(v ^ b));
            if rest > 0 {
                basis.push(rest);
            }
        }
        basis.len()
    };
    for (lanes, degree) in [(128, 1), (32, 4)] {
        assert_eq!(rank(lanes, degree), 128);
        assert_eq!(rank(lanes + 1, degree), 128);
    }
    // GF(4) would allow 64; its blocks are those of GF(16).
    assert_eq!(rank(64, 2), 128);
}

/// The element of a string's group at a position and a lane.
fn at(strings: &[BitString], position: usize, lane: usize) -> u8 {
    let bit = |k: usize| strings[k].bit(position * GROUP_LANES + lane) << k;
    (0..strings.len()).fold(0, |sum, k| sum | bit(k))
}

/// Value at the point `(x, y)` of GF(16) of an operand's polynomial, by Lagrange's formula.
fn interpolated(strings: &[BitString], lane: usize, x: u8, y: u8) -> u8 {
    let coefficient = |from: u8, at: u8| {
        let others = (0..SIDE as u8).filter(|other| *other != from);
        others.fold(1, |c, o| mul16(c, mul16(at ^ o, inverse16(from ^ o))))
    };
    (0..POSITIONS).fold(0, |sum, p| {
        let (row, column) = ((p / SIDE) as u8, (p % SIDE) as u8);
        let c = mul16(coefficient(row, x), coefficient(column, y));
        sum ^ mul16(c, at(strings, p, lane))
    })
}

#[test]
fn extension_matches_the_formula_of_lagrange() {
    for cpu in Cpu::available() {
        for field in [Small::Bits, Small::Gf4, Small::Gf16] {
            let kind = Kind { field, terms: 2 };
            let strings = |first| -> Vec<BitString> {
                (0..kind.planes() as u64)
                    .map(|i| random(GROUP, first + i))
                    .collect()
            };
            let (left, right) = (strings(10), strings(30));
            let [l, r]: [Vec<&[Block]>; 2] =
                [&left, &right].map(|side| side.iter().map(BitString::blocks).collect());
            let mut scratch = Scratch::new(kind);
            let planes = scratch.extend(cpu, &l, &r);
            for lane in [0, 1, 127, 128, 300, 511] {
                for q in 0..GIVEN {
                    let (x, y) = given_point(q);
                    let product = |t: usize| {
                        let degree = field.degree();
                        let [a, b] = [&left, &right].map(|side| {
                            interpolated(&side[t * degree..][..degree], lane, x as u8, y as u8)
                        });
                        mul16(a, b)
                    };
                    let bit = |k: usize| {
                        let word = planes[(4 * q + k) * PLANE + lane / 128].value();
                        ((word >> (lane % 128)) as u8 & 1) << k
                    };
                    let found = (0..4).fold(0, |sum, k| sum | bit(k));
                    assert_eq!(found, product(0) ^ product(1), "{field:?} at {x}, {y}");
                }
            }
        }
    }
}

#[test]
fn the_given_points_and_the_grid_are_all_points() {
    let mut seen = [[false; POINTS]; POINTS];
    let grid = (0..POSITIONS).map(|p| (p / SIDE, p % SIDE));
    for (x, y) in grid.chain((0..GIVEN).map(given_point)) {
        assert!(!seen[x][y]);
        seen[x][y] = true;
    }
    assert!(seen.as_flattened().iter().all(|seen| *seen));
}

#[test]
fn folding_is_the_value_at_the_challenge() {
    let point = [drawn(1, 1)[0], drawn(1, 2)[0]];
    for cpu in Cpu::available() {
        let [rows, columns] = point.map(|at| lagrange::<Gf128>(cpu, SIDE, at));
        for degree in [1, 2, 4] {
            let strings: Vec<BitString> = (0..degree).map(|i| random(GROUP, 50 + i)).collect();
            let folding = Folding::new::<Gf128>(cpu, degree as usize, point);
            let mut memory = vec![Block::ZERO; GROUP_LANES];
            let mut out = memory.clone();
            let blocks: Vec<&[Block]> = strings
                .iter()
                .map(|s| &s.blocks()[..GROUP_BLOCKS])
                .collect();
            folding.fold(cpu, &blocks, &mut memory, &mut out);
            for lane in [0, 127, 128, 255, 511] {
                let value = (0..POSITIONS).fold(Block::ZERO, |sum, p| {
                    let c = Gf128::mul(cpu, rows[p / SIDE], columns[p % SIDE]);
                    sum ^ Gf128::mul(cpu, c, embed::<Gf128>(at(&strings, p, lane)))
                });
                assert_eq!(
                    out[lane].value(),
                    value.value(),
                    "{degree} on {}",
                    cpu.tier()
                );
            }
        }
    }
}

/// A polynomial of degree 7 is the same through its values at 8 points and at 15.
#[test]
fn interpolation_agrees_for_all_points() {
    let cpu = Cpu::best();
    let (values, at) = (drawn(SIDE, 9), drawn(1, 10)[0]);
    let through = |points: &[Block], at: Block| {
        let coefficients = lagrange::<Gf128>(cpu, points.len(), at);
        let each = coefficients.iter().zip(points);
        each.fold(Block::ZERO, |sum, (c, v)| sum ^ Gf128::mul(cpu, *c, *v))
    };
    let more: Vec<Block> = (0..POINTS as u8)
        .map(|i| through(&values, embed::<Gf128>(i)))
        .collect();
    same(&more[..SIDE], &values, "points of the polynomial");
    same(
        &[through(&more, at)],
        &[through(&values, at)],
        "another point",
    );
}

#[test]
fn strings_hold_the_bits_that_were_pushed() {
    let mut string = BitString::with_capacity(100);
    let mut expected = Vec::new();
    for (round, bits) in [1, 63, 64, 65, 5, 128, 0, 200, 59, 40_000]
        .into_iter()
        .enumerate()
    {
        let words: Vec<u64> = drawn(bits / 128 + 1, 60 + round as u64)
            .iter()
            .flat_map(|b| [b.value() as u64, (b.value() >> 64) as u64])
            .collect();
        string.push(&words, bits);
        expected.extend((0..bits).map(|i| (words[i / 64] >> (i % 64)) as u8 & 1));
    }
    assert_eq!(string.len(), expected.len());
    assert!((0..string.len()).all(|i| string.bit(i) == expected[i]));
    // Behind the end it is zero, also where the words had more bits.
    let all = string
        .blocks()
        .iter()
        .map(|block| block.value().count_ones())
        .sum::<u32>();
    assert_eq!(all, expected.iter().map(|bit| u32::from(*bit)).sum::<u32>());
    assert_eq!(string.blocks().len() % GROUP_BLOCKS, 0);
    string.shrink();
    assert_eq!(string.blocks().len(), expected.len().div_ceil(128));
    assert!((0..string.len()).all(|i| string.bit(i) == expected[i]));
}

/// Bits are added at any place, and a string that was cleared has nothing of what it held.
#[test]
fn bits_are_added_and_memory_serves_again() {
    let words = |bits: usize, number: u64| -> Vec<u64> {
        let drawn = drawn(bits / 128 + 1, number);
        let words = drawn.iter().map(|block| block.value());
        words.flat_map(|b| [b as u64, (b >> 64) as u64]).collect()
    };
    let bit = |words: &[u64], i: usize| (words[i / 64] >> (i % 64)) as u8 & 1;
    let mut string = BitString::default();
    for (round, all) in [40_000usize, 500, 33_000].into_iter().enumerate() {
        string.clear();
        assert!(string.is_empty());
        let own = words(all, 80 + round as u64);
        string.push(&own, all);
        let mut expected: Vec<u8> = (0..all).map(|i| bit(&own, i)).collect();
        for (first, bits) in [
            (0, 64),
            (64, 130),
            (3, 61),
            (3, 62),
            (5, 1),
            (100, 300),
            (77, 0),
        ] {
            let more = words(bits, 90 + first as u64);
            string.add(first, &more, bits);
            (0..bits).for_each(|i| expected[first + i] ^= bit(&more, i));
        }
        assert!((0..all).all(|i| string.bit(i) == expected[i]), "{all}");
        let ones = |block: &sealane_block::Block| block.value().count_ones();
        let ones = string.blocks().iter().map(ones).sum::<u32>();
        let all_ones = expected.iter().map(|bit| u32::from(*bit));
        assert_eq!(ones, all_ones.sum::<u32>());
    }
}
