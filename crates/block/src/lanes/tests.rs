//! Every operation on every tier against its plain definition on one block.

use super::*;
use crate::{Cpu, Kernel};

/// Blocks painted by a prime cycle, so that no two and no two lanes are alike.
fn paint(count: usize, seed: u128) -> Vec<Block> {
    let prime = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
    (1..=count as u128)
        .map(|i| Block::new((i + seed).wrapping_mul(prime).rotate_left(41)))
        .collect()
}

/// Applies each operation to 16 pairs of blocks and returns the results in a fixed order.
struct AllOperations<'a> {
    a: &'a [Block],
    b: &'a [Block],
}

impl Kernel for AllOperations<'_> {
    type Output = Vec<Vec<Block>>;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> Vec<Vec<Block>> {
        let mut out = vec![vec![Block::ZERO; GROUP]; 29];
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
    Block::new(
        (0..64)
            .filter(|i| b >> i & 1 == 1)
            .fold(0, |sum, i| sum ^ a << i),
    )
}

#[test]
fn plain_operations_match_their_definitions() {
    let (a, b) = (paint(GROUP, 1), paint(GROUP, 99));
    let definitions: [(usize, Definition<'_>); 22] = [
        (0, &|a, _| a),
        (2, &|_, _| Block::from_word(0x89abcdef)),
        (3, &|a, b| Block::new(a.value() ^ b.value())),
        (4, &|a, b| Block::new(a.value() & b.value())),
        (5, &|a, _| {
            if a.lsb() == 1 {
                Block::ONES
            } else {
                Block::ZERO
            }
        }),
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
    ];
    for cpu in Cpu::available() {
        let results = cpu.run(AllOperations { a: &a, b: &b });
        for (index, definition) in definitions {
            for i in 0..GROUP {
                let expected = definition(a[i], b[i]).value();
                assert_eq!(
                    results[index][i].value(),
                    expected,
                    "{} op {index}",
                    cpu.tier()
                );
            }
        }
        for i in 0..GROUP {
            for (index, (upper_a, upper_b)) in
                [(22, (true, false)), (23, (false, true)), (24, (true, true))]
            {
                let expected = clmul_bits(a[i], b[i], upper_a, upper_b).value();
                assert_eq!(
                    results[index][i].value(),
                    expected,
                    "{} clmul {index}",
                    cpu.tier()
                );
            }
            assert_eq!(results[1][i].value(), a[3].value());
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
            for i in 0..GROUP {
                assert_eq!(
                    results[index][i].value(),
                    all[0][index][i].value(),
                    "op {index}"
                );
            }
        }
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
