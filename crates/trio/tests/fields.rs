//! Products in GF(2^k): correct for all elements, at one element of each party in one round; the
//! same under masks, beside lookups.

use crate::common::{integers_of, planes_of};
use crate::lookup::{LANES, bits_by_lane, run};
use sealane_circuit::function::Field;
use sealane_circuit::{Builder, Goal, Lookups, Machine, Tape, Word, compile};
use std::sync::Arc;

/// A polynomial of each degree; of degree 8 that of AES.
const POLYNOMIALS: [u16; 8] = [0x2, 0x7, 0xb, 0x19, 0x25, 0x43, 0x83, 0x11b];

fn field(polynomial: u16) -> Arc<Field> {
    Field::of(polynomial).unwrap()
}

/// As in FIPS 197, section 4.2.1.
fn times(field: &Field, x: u64, y: u64) -> u64 {
    let (bits, polynomial) = (field.bits(), u64::from(field.polynomial()));
    let double = |x: u64| (x << 1) ^ (polynomial * (x >> (bits - 1)));
    let powers = std::iter::successors(Some(x), |x| Some(double(*x)));
    let chosen = powers.zip(0..bits).filter(|(_, bit)| y >> bit & 1 == 1);
    chosen.fold(0, |sum, (power, _)| sum ^ power)
}

fn built(build: impl FnOnce(&mut Builder) -> Word) -> Tape {
    let b = Builder::for_goal(Goal::Depth).with_lookups(Lookups::Tables);
    let mut b = b.with_products(Field::SIZES);
    let product = build(&mut b);
    compile(&b.finish(vec![product]), &Machine::ROUNDS)
}

fn product(field: &Arc<Field>) -> Tape {
    built(|b| {
        let (x, y) = (b.input(field.bits()), b.input(field.bits()));
        b.field_product(field, &x, &y)
    })
}

/// Runs a tape of two elements on many lanes.
fn run_on(tape: &Tape, bits: usize, x: &[u64], y: &[u64]) -> (Vec<u64>, usize) {
    let planes = [planes_of(x, bits), planes_of(y, bits)].concat();
    let (learnt, flights) = run(tape, &planes, x.len());
    (integers_of(&learnt, x.len()), flights)
}

#[test]
fn a_product_is_one_element_of_each_party_in_one_round() {
    for field in POLYNOMIALS.map(field) {
        let tape = product(&field);
        let bits = field.bits();
        let count = 1u64 << bits;
        let pairs = (0..count * count).map(|pair| (pair / count, pair % count));
        let (x, y): (Vec<_>, Vec<_>) = pairs.unzip();
        let (learnt, flights) = run_on(&tape, bits, &x, &y);
        let wanted = x.iter().zip(&y).map(|(x, y)| times(&field, *x, *y));
        assert_eq!(learnt, wanted.collect::<Vec<_>>(), "{bits} bits");
        assert_eq!((flights, tape.depth), (1, 1));
        assert_eq!(bits_by_lane(&tape), 3.0 * bits as f64);
    }
}

/// FIPS 197, section 4.2, with any number of lanes beside it.
#[test]
fn known_products_on_any_number_of_lanes() {
    let tape = product(&field(0x11b));
    for lanes in LANES {
        let other = |lane: usize| [0x83, 0x13][lane % 2];
        let y = (0..lanes).map(other).collect::<Vec<_>>();
        let (learnt, _) = run_on(&tape, 8, &vec![0x57; lanes], &y);
        let known = |lane: usize| [0xc1, 0xfe][lane % 2];
        assert_eq!(learnt, (0..lanes).map(known).collect::<Vec<_>>(), "{lanes}");
    }
}

/// A chain: `((x y) x + y) y`, beside an AND and NOTs of its bits.
#[test]
fn chains_of_products_and_ands_take_a_round_for_each() {
    let aes = field(0x11b);
    let tape = built(|b| {
        let (x, y) = (b.input(8), b.input(8));
        let once = b.field_product(&aes, &x, &y);
        let twice = b.field_product(&aes, &once, &x);
        let sum = b.zip(&twice, &y, Builder::xor);
        let inverted = sum.iter().map(|bit| !*bit).collect::<Word>();
        let mut out = b.field_product(&aes, &inverted, &y);
        out[0] = b.and(out[0], x[0]);
        out
    });
    let x = (0..300u64).map(|lane| lane * 7 % 256).collect::<Vec<_>>();
    let y: Vec<_> = (0..300u64).map(|lane| lane * lane % 256).collect();
    let (learnt, flights) = run_on(&tape, 8, &x, &y);
    let wanted = x.iter().zip(&y).map(|(x, y)| {
        let sum = times(&aes, times(&aes, *x, *y), *x) ^ y;
        let product = times(&aes, sum ^ 0xff, *y);
        product & (0xfe | x & 1)
    });
    assert_eq!(learnt, wanted.collect::<Vec<_>>());
    assert_eq!((flights, tape.depth), (4, 4));
    assert_eq!(bits_by_lane(&tape), 3.0 * (3 * 8 + 1) as f64);
}

/// Beside lookups, products run under masks: 8 bits dealt and twice 8 opened are as many.
#[test]
fn products_beside_tables_take_as_many_bits() {
    for field in POLYNOMIALS.map(field) {
        let bits = field.bits();
        let table = |place: u64| [2, 1, 3, 1][place as usize];
        let tape = built(|b| {
            let (x, y) = (b.input(bits), b.input(bits));
            let mut out = b.field_product(&field, &x, &y);
            // Two bits of both factors choose an entry.
            let index = [x[0], y[0]];
            let entries = (0..4).map(|place| b.constant(table(place).into(), 2));
            let entries = entries.collect::<Vec<_>>();
            out.extend(b.lookup(&index, &entries));
            out
        });
        assert_eq!(tape.depth, 1);
        let count = 1u64 << bits;
        // All pairs of few bits, and lanes in both kinds of chunks.
        for lanes in [(count * count).min(1600), 65] {
            let pairs = (0..lanes).map(|lane| (lane * 41 / count % count, lane * 41 % count));
            let (x, y): (Vec<_>, Vec<_>) = pairs.unzip();
            let (learnt, flights) = run_on(&tape, bits, &x, &y);
            let wanted = x.iter().zip(&y).map(|(x, y)| {
                let entry = table(x & 1 | (y & 1) << 1);
                times(&field, *x, *y) | entry << bits
            });
            assert_eq!(learnt, wanted.collect::<Vec<_>>(), "{bits} bits");
            assert_eq!(flights, 2);
        }
        let table = 1.0 + 2.0 * 2.0;
        assert_eq!(bits_by_lane(&tape), 3.0 * bits as f64 + table);
    }
}
