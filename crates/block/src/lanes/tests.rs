//! Every operation on every tier against its plain definition on one block.

use super::*;
use crate::testing::values;
use crate::{Cpu, Kernel};

/// Blocks painted by a prime cycle, so that no two and no two lanes are alike.
fn paint(count: usize, seed: u128) -> Vec<Block> {
    let prime = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
    (1..=count as u128)
        .map(|i| Block::new((i + seed).wrapping_mul(prime).rotate_left(41)))
        .collect()
}

/// A constant with bits in all quarters of a word.
const FACTOR: u64 = 0xc200_0351_0000_8087;

/// Applies each operation to 16 pairs of blocks and returns the results in a fixed order.
struct AllOperations<'a> {
    a: &'a [Block],
    b: &'a [Block],
}

impl Kernel for AllOperations<'_> {
    type Output = Vec<Vec<Block>>;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> Vec<Vec<Block>> {
        let mut out = vec![vec![Block::ZERO; GROUP]; 35];
        for at in (0..GROUP).step_by(L::WIDTH) {
            let (a, b) = (l.load(&self.a[at..]), l.load(&self.b[at..]));
            let results = [
                a,
                l.splat(self.a[3]),
                l.splat_word(0x89abcdef),
                l.xor(a, b),
                l.and(a, b),
                l.permute_mask(a),
                l.sigma(a),
                l.shl64::<1>(a),
                l.shl64::<63>(a),
                l.shr64::<2>(a),
                l.shr64::<4>(a),
                l.zip_lo8(a, b),
                l.zip_hi8(a, b),
                l.zip_lo32(a, b),
                l.zip_hi32(a, b),
                l.zip_lo64(a, b),
                l.zip_hi64(a, b),
                l.reverse_bytes(a),
                l.aes_round(a, b),
                l.aes_last(a, b),
                l.rotate_words(a),
                l.clmul::<0x00>(a, b),
                l.clmul::<0x01>(a, b),
                l.clmul::<0x10>(a, b),
                l.clmul::<0x11>(a, b),
            ];
            for (list, v) in out.iter_mut().zip(results) {
                l.store(&mut list[at..], v);
            }
            // Lane l of the vector goes to place l; a stride of 1 is a plain store.
            l.store_strided(&mut out[25][at..], 1, a);
            // Through bytes at an odd address.
            let mut bytes = [0; 16 * GROUP + 1];
            l.store_bytes(&mut bytes[1..], b);
            l.store(&mut out[26][at..], l.load_bytes(&bytes[1..]));
            l.store(&mut out[27][at..], l.blend_words(a, b));
            l.store(&mut out[28][at..], l.swap_words(a));
            l.store(&mut out[29][at..], l.shl_bytes::<1>(a));
            l.store(&mut out[30][at..], l.shl_bytes::<15>(a));
            l.store(&mut out[31][at..], l.shr_bytes::<4>(a));
            l.store(&mut out[32][at..], l.shr_bytes::<15>(a));
            l.store(&mut out[33][at..], l.clmul_by::<0x00, FACTOR>(a));
            l.store(&mut out[34][at..], l.clmul_by::<0x01, FACTOR>(a));
        }
        out
    }
}

/// An operation on one lane of each operand.
type Definition<'a> = &'a dyn Fn(Block, Block) -> Block;

fn zip_bytes(a: Block, b: Block, size: usize, upper: bool) -> Block {
    let (a, b) = (a.to_bytes(), b.to_bytes());
    let start = if upper { 8 } else { 0 };
    let mut bytes = Vec::new();
    for at in (start..start + 8).step_by(size) {
        bytes.extend_from_slice(&a[at..at + size]);
        bytes.extend_from_slice(&b[at..at + size]);
    }
    Block::from_bytes(bytes.try_into().unwrap())
}

fn halves(x: Block, f: impl Fn(u64) -> u64) -> Block {
    let (low, high) = (x.value() as u64, (x.value() >> 64) as u64);
    Block::new(f(low) as u128 | (f(high) as u128) << 64)
}

fn from_words(words: [u32; 4]) -> Block {
    let bytes = words.map(u32::to_le_bytes);
    Block::from_bytes(bytes.concat().try_into().unwrap())
}

fn clmul_bits(a: Block, b: Block, upper_a: bool, upper_b: bool) -> Block {
    let half = |x: Block, upper| (if upper { x.value() >> 64 } else { x.value() }) as u64 as u128;
    let (a, b) = (half(a, upper_a), half(b, upper_b));
    let shifts = (0..64).filter(|i| b >> i & 1 == 1);
    Block::new(shifts.fold(0, |sum, i| sum ^ a << i))
}

#[test]
fn plain_operations_match_their_definitions() {
    let (a, b) = (paint(GROUP, 1), paint(GROUP, 99));
    let (fourth, factor) = (a[3], Block::new(FACTOR.into()));
    let definitions: [(usize, Definition<'_>); 32] = [
        (0, &|a, _| a),
        (1, &|_, _| fourth),
        (2, &|_, _| Block::from_word(0x89abcdef)),
        (3, &|a, b| Block::new(a.value() ^ b.value())),
        (4, &|a, b| Block::new(a.value() & b.value())),
        (5, &|a, _| [Block::ZERO, Block::ONES][usize::from(a.lsb())]),
        (6, &|a, _| {
            let (low, high) = (a.value() as u64, (a.value() >> 64) as u64);
            Block::new(high as u128 | ((low ^ high) as u128) << 64)
        }),
        (7, &|a, _| halves(a, |x| x << 1)),
        (8, &|a, _| halves(a, |x| x << 63)),
        (9, &|a, _| halves(a, |x| x >> 2)),
        (10, &|a, _| halves(a, |x| x >> 4)),
        (11, &|a, b| zip_bytes(a, b, 1, false)),
        (12, &|a, b| zip_bytes(a, b, 1, true)),
        (13, &|a, b| zip_bytes(a, b, 4, false)),
        (14, &|a, b| zip_bytes(a, b, 4, true)),
        (15, &|a, b| zip_bytes(a, b, 8, false)),
        (16, &|a, b| zip_bytes(a, b, 8, true)),
        (17, &|a, _| Block::new(a.value().swap_bytes())),
        (21, &|a, b| clmul_bits(a, b, false, false)),
        (22, &|a, b| clmul_bits(a, b, true, false)),
        (23, &|a, b| clmul_bits(a, b, false, true)),
        (24, &|a, b| clmul_bits(a, b, true, true)),
        (25, &|a, _| a),
        (26, &|_, b| b),
        (27, &|a, b| {
            let ([a0, _, a2, _], [_, b1, _, b3]) = (a.words(), b.words());
            from_words([a0, b1, a2, b3])
        }),
        (28, &|a, _| {
            let [w0, w1, w2, w3] = a.words();
            from_words([w1, w0, w3, w2])
        }),
        (29, &|a, _| Block::new(a.value() << 8)),
        (30, &|a, _| Block::new(a.value() << 120)),
        (31, &|a, _| Block::new(a.value() >> 32)),
        (32, &|a, _| Block::new(a.value() >> 120)),
        (33, &|a, _| clmul_bits(a, factor, false, false)),
        (34, &|a, _| clmul_bits(a, factor, true, false)),
    ];
    for cpu in Cpu::available() {
        let results = cpu.run(AllOperations { a: &a, b: &b });
        for (index, definition) in definitions {
            for i in 0..GROUP {
                let expected = definition(a[i], b[i]).value();
                let found = results[index][i].value();
                assert_eq!(found, expected, "{} op {index}", cpu.tier());
            }
        }
    }
}

/// The AES steps have their known answers in `aes`; here the tiers must agree on single rounds.
#[test]
fn tiers_agree_on_single_aes_steps() {
    let (a, b) = (paint(GROUP, 5), paint(GROUP, 7));
    let all: Vec<_> = Cpu::available()
        .iter()
        .map(|c| c.run(AllOperations { a: &a, b: &b }))
        .collect();
    for results in &all {
        for index in 18..=20 {
            let [found, first] = [results, &all[0]].map(|results| values(&results[index]));
            assert_eq!(found, first, "op {index}");
        }
    }
}

/// FIPS 197, section 5.3.3, from its definition.
fn unmix_columns_by_definition(x: Block) -> Block {
    fn mul(mut a: u8, factor: u8) -> u8 {
        let mut product = 0;
        for bit in 0..4 {
            product ^= if factor >> bit & 1 == 1 { a } else { 0 };
            a = (a << 1) ^ if a & 0x80 != 0 { 0x1b } else { 0 };
        }
        product
    }
    let from = x.to_bytes();
    Block::from_bytes(std::array::from_fn(|i| {
        let (column, row) = (i / 4 * 4, i % 4);
        let factors = [14, 11, 13, 9].into_iter().enumerate();
        let products = factors.map(|(j, factor)| mul(from[column + (row + j) % 4], factor));
        products.fold(0, |sum, product| sum ^ product)
    }))
}

/// The last round of encryption is ShiftRows and SubBytes, which rounds of the inverse cipher
/// undo before they do anything else.
#[test]
fn inverse_aes_steps_match_their_definitions() {
    struct Steps<'a> {
        a: &'a [Block],
        b: &'a [Block],
    }
    impl Kernel for Steps<'_> {
        type Output = [Vec<Block>; 2];
        #[inline(always)]
        fn run<L: Lanes>(self, l: L) -> [Vec<Block>; 2] {
            let (mut round, mut last) = (self.a.to_vec(), self.a.to_vec());
            for at in (0..self.a.len()).step_by(L::WIDTH) {
                let (a, b) = (l.load(&self.a[at..]), l.load(&self.b[at..]));
                let substituted = l.aes_last(a, l.splat(Block::ZERO));
                l.store(&mut round[at..], l.aes_unround(substituted, b));
                l.store(&mut last[at..], l.aes_unlast(substituted, b));
            }
            [round, last]
        }
    }
    // Sixteen bytes a block: many times all 256 values.
    let (a, b) = (paint(256, 11), paint(256, 13));
    for cpu in Cpu::available() {
        let [round, last] = cpu.run(Steps { a: &a, b: &b });
        for i in 0..a.len() {
            let expected = unmix_columns_by_definition(a[i]) ^ b[i];
            assert_eq!(round[i].value(), expected.value(), "round, {}", cpu.tier());
            let expected = a[i] ^ b[i];
            assert_eq!(last[i].value(), expected.value(), "last, {}", cpu.tier());
        }
    }
}

/// Both directions, under one key for all and under keys of their own.
#[test]
fn nine_rounds_are_nine_single_rounds() {
    struct Nine<'a> {
        states: &'a [Block],
        keys: &'a [Block],
    }
    impl Kernel for Nine<'_> {
        type Output = [[Vec<Block>; 4]; 2];
        #[inline(always)]
        fn run<L: Lanes>(self, l: L) -> [[Vec<Block>; 4]; 2] {
            let states = l.load_vectors(self.states);
            let each = std::array::from_fn(|i| l.load_vectors(&self.keys[8 * i * L::WIDTH..]));
            let keys: [Block; 11] = std::array::from_fn(|round| self.keys[round]);
            let (mut nine, mut single) = ([states; 4], [states; 4]);
            l.nine_rounds(&mut nine[0], &keys);
            l.nine_rounds_each(&mut nine[1], &each);
            l.nine_unrounds(&mut nine[2], &keys);
            l.nine_unrounds_each(&mut nine[3], &each);
            for round in 1..10 {
                for i in 0..8 {
                    single[0][i] = l.aes_round(single[0][i], l.splat(keys[round]));
                    single[1][i] = l.aes_round(single[1][i], each[round][i]);
                    single[2][i] = l.aes_unround(single[2][i], l.splat(keys[round]));
                    single[3][i] = l.aes_unround(single[3][i], each[round][i]);
                }
            }
            [nine, single].map(|all| {
                all.map(|states| {
                    let mut out = vec![Block::ZERO; 8 * L::WIDTH];
                    l.store_vectors(&mut out, &states);
                    out
                })
            })
        }
    }
    let (states, keys) = (paint(32, 17), paint(11 * 32, 19));
    for cpu in Cpu::available() {
        let (states, keys) = (&states, &keys);
        let [nine, single] = cpu.run(Nine { states, keys });
        for (which, (nine, single)) in nine.iter().zip(&single).enumerate() {
            assert_eq!(values(nine), values(single), "{which}, {}", cpu.tier());
        }
    }
}

#[test]
fn doubling_by_bytes_is_doubling_by_bits() {
    struct Bytes<'a>(&'a [Block]);
    impl Kernel for Bytes<'_> {
        type Output = [Vec<Block>; 6];
        #[inline(always)]
        fn run<L: Lanes>(self, l: L) -> [Vec<Block>; 6] {
            let mut out = std::array::from_fn(|_| self.0.to_vec());
            for at in (0..self.0.len()).step_by(L::WIDTH) {
                let a = l.load(&self.0[at..]);
                l.store(&mut out[0][at..], l.double_bytes::<1>(a));
                l.store(&mut out[1][at..], l.double_bytes::<2>(a));
                l.store(&mut out[2][at..], l.double_bytes::<4>(a));
                for (list, bits) in out[3..].iter_mut().zip([8, 16, 32]) {
                    let mut slow = a;
                    for _ in 0..bits {
                        slow = l.double(slow);
                    }
                    l.store(&mut list[at..], slow);
                }
            }
            out
        }
    }
    let mut a = paint(16, 23);
    (a[0], a[1]) = (Block::ONES, Block::new(1 << 127));
    for cpu in Cpu::available() {
        let [one, two, four, slow @ ..] = cpu.run(Bytes(&a));
        for (bytes, bits) in [one, two, four].iter().zip(&slow) {
            assert_eq!(values(bytes), values(bits), "{}", cpu.tier());
        }
    }
}

#[test]
fn doubling_in_the_order_of_blocks_is_doubling_backwards() {
    struct Backwards<'a>(&'a [Block]);
    impl Kernel for Backwards<'_> {
        type Output = [Vec<Block>; 2];
        #[inline(always)]
        fn run<L: Lanes>(self, l: L) -> [Vec<Block>; 2] {
            let mut out = [self.0.to_vec(), self.0.to_vec()];
            for at in (0..self.0.len()).step_by(L::WIDTH) {
                let a = l.load(&self.0[at..]);
                l.store(&mut out[0][at..], l.double_blocks(a));
                let twice = l.double(l.reverse_bytes(a));
                l.store(&mut out[1][at..], l.reverse_bytes(twice));
            }
            out
        }
    }
    let mut a = paint(144, 31);
    for bit in 0..128 {
        a[bit] = Block::new(1 << bit);
    }
    for cpu in Cpu::available() {
        let [blocks, backwards] = cpu.run(Backwards(&a));
        assert_eq!(values(&blocks), values(&backwards), "{}", cpu.tier());
    }
}

#[test]
fn rows_are_what_streams_hold() {
    struct RowLoads;
    impl Kernel for RowLoads {
        type Output = ();
        #[inline(always)]
        fn run<L: Lanes>(self, l: L) {
            let lanes = 2 * L::WIDTH;
            let mut bytes: Vec<u8> = (0..16 * 3 * lanes).map(|i| (i * 7) as u8).collect();
            let before = bytes.clone();
            let mut streams = Streams::deal(&mut bytes, lanes, 1);
            assert!(streams.in_rows());
            for unit in 0..3 {
                for stream in [0, L::WIDTH] {
                    let (mut row, mut each) = ([Block::ZERO; MAX_WIDTH], [Block::ZERO; MAX_WIDTH]);
                    let v = l.load_row(&streams, stream, unit);
                    l.store(&mut row, v);
                    l.store(&mut each, l.load_streams(&streams, stream, unit, 0));
                    assert_eq!(row.map(Block::value), each.map(Block::value));
                    l.store_row(&mut streams, stream, unit, l.xor(v, l.splat(Block::ONES)));
                }
            }
            for (after, before) in bytes.iter().zip(before) {
                assert_eq!(*after, !before);
            }
            assert!(!Streams::deal(&mut [0; 64], 2, 2).in_rows());
        }
    }
    for cpu in Cpu::available() {
        cpu.run(RowLoads);
    }
}

#[test]
fn blocks_pass_between_lanes_in_order() {
    struct Between<'a>(&'a [Block]);
    impl Kernel for Between<'_> {
        type Output = (usize, [Vec<Block>; 5]);
        #[inline(always)]
        fn run<L: Lanes>(self, l: L) -> (usize, [Vec<Block>; 5]) {
            let mut out = std::array::from_fn(|_| self.0.to_vec());
            let zero = l.splat(Block::ZERO);
            let mut before = zero;
            for at in (0..self.0.len()).step_by(L::WIDTH) {
                let a = l.load(&self.0[at..]);
                let after = if at + L::WIDTH < self.0.len() {
                    l.load(&self.0[at + L::WIDTH..])
                } else {
                    zero
                };
                let mut backwards = [&Block::ZERO; MAX_WIDTH];
                for lane in 0..L::WIDTH {
                    backwards[lane] = &self.0[self.0.len() - 1 - at - lane];
                }
                l.store(&mut out[0][at..], l.previous(before, a));
                l.store(&mut out[1][at..], l.last(a));
                l.store(&mut out[2][at..], l.next(a, after));
                l.store(&mut out[3][at..], l.collect(backwards));
                l.store(&mut out[4][at..], l.with_last(a, Block::ONES));
                before = a;
            }
            (L::WIDTH, out)
        }
    }
    let a = paint(16, 29);
    for cpu in Cpu::available() {
        let (width, [previous, last, next, backwards, changed]) = cpu.run(Between(&a));
        let (tier, zero) = (cpu.tier(), [Block::ZERO]);
        let end = |i: usize| i / width * width + width - 1;
        let lasts: Vec<Block> = (0..a.len()).map(|i| a[end(i)]).collect();
        let behind: Vec<Block> = a.iter().rev().copied().collect();
        let change = |i| if i == end(i) { Block::ONES } else { a[i] };
        let changes: Vec<Block> = (0..a.len()).map(change).collect();
        let before = values(&[&zero, &a[..15]].concat());
        assert_eq!(values(&previous), before, "{tier}");
        assert_eq!(values(&next), values(&[&a[1..], &zero].concat()), "{tier}");
        assert_eq!(values(&last), values(&lasts), "{tier}");
        assert_eq!(values(&backwards), values(&behind), "{tier}");
        assert_eq!(values(&changed), values(&changes), "{tier}");
    }
}

#[test]
fn sliced_numbers_are_the_transposed_block_numbers() {
    struct Numbers;
    impl Kernel for Numbers {
        type Output = Vec<[u32; 4]>;
        #[inline(always)]
        fn run<L: Lanes>(self, l: L) -> Vec<[u32; 4]> {
            let mut out = vec![Block::ZERO; L::QUAD];
            // Word 0 of each key is its number, the other words are zero.
            let zero = l.splat(Block::ZERO);
            let sliced = [l.load(&L::SLICED_NUMBERS), zero, zero, zero];
            l.store_quad(&mut out, l.transpose_words(sliced));
            out.into_iter().map(Block::words).collect()
        }
    }
    for cpu in Cpu::available() {
        let numbers = cpu.run(Numbers);
        let expected: Vec<[u32; 4]> = (0..numbers.len() as u32).map(|i| [i, 0, 0, 0]).collect();
        assert_eq!(numbers, expected, "{}", cpu.tier());
    }
}
