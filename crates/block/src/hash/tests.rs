//! Hashes against their definitions.

use super::tweak::{CALLS, PARTS};
use super::*;
use crate::testing::{drawn, values};
use crate::{Aes128, Kernel};

const LENGTHS: [usize; 13] = [0, 1, 3, 4, 7, 8, 9, 15, 16, 17, 33, 64, 100];
const SEED: Block = Block::new(0xfedc_ba98_7654_3210_0123_4567_89ab_cdef);

fn sigma(x: Block) -> Block {
    let (low, high) = (x.value() as u64, (x.value() >> 64) as u64);
    Block::new(((high ^ low) as u128) << 64 | high as u128)
}

fn aes(key: Block, x: Block) -> Block {
    Aes128::new(Cpu::available()[0], key).encrypt(x)
}

/// Compares each hash with its definition by single AES calls of the portable tier, where
/// every word of the tweak is in use and rows carry.
fn compare<H: LabelHash>(definition: impl Fn(Block, Block) -> Block) {
    let first = Tweak {
        gate: 0x8123_4567,
        call: 0x000d_cba9_8765_4321,
        row: u32::MAX - 99,
        part: 5,
    };
    for cpu in Cpu::available() {
        let hash = H::new(cpu, SEED);
        for len in LENGTHS {
            let mut blocks = drawn(len, len as u64);
            let inputs = blocks.clone();
            hash.hash(cpu, first, &mut blocks);
            for (i, (x, h)) in inputs.into_iter().zip(blocks).enumerate() {
                let row = first.row + i as u32;
                let expected = definition(x, Tweak { row, ..first }.block());
                assert_eq!(h.value(), expected.value(), "{} {i}/{len}", cpu.tier());
            }
        }
        cpu.run(Shapes::<H> { hash: &hash });
    }
}

/// `row_tweaks` and `pair_tweaks` agree, `hash_and_sum` adds up what `hash_one` returns, and
/// precomputed keys give the same hashes.
struct Shapes<'a, H> {
    hash: &'a H,
}

impl<H: LabelHash> Kernel for Shapes<'_, H> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let mut hash = self.hash.lanes(l);
        let (gate, call, row) = (77, 0x7_8000_0001, 1 << 20);
        let first = Tweak::of_row(gate, call, row);
        let mut tweaks = [Block::ZERO; 2 * GROUP];
        for i in 0..2 * GROUP {
            let row = row + i as u32;
            tweaks[i] = Tweak { row, ..first }.block();
        }
        let rows = [
            hash.row_tweaks(l, gate, call, row),
            hash.row_tweaks(l, gate, call, row + L::QUAD as u32),
        ];
        let pairs = [
            hash.pair_tweaks(l, &tweaks),
            hash.pair_tweaks(l, &tweaks[L::QUAD..]),
        ];
        let labels = [l.load_quad(&tweaks[3..]), l.load_quad(&tweaks[5..])];
        let delta = l.splat(Block::new(0x1357_9bdf << 70 | 1));
        let zero = hash.hash_one(l, [(rows[0], 1), (rows[1], 2)], labels);
        let at = [(pairs[0], 1), (pairs[1], 2)];
        let one = hash.hash_one(l, at, add_to_pair(l, labels, delta));
        let [a, b] = [0, 1].map(|i| hash.hash_and_sum(l, at[i], delta, labels[i]));
        let sums = [[a[0], b[0]], [a[1], b[1]]];
        // In the middle of quads, without the labels around them.
        let loaded = [l.load_quad(&tweaks), l.load_quad(&tweaks[L::QUAD..])];
        let blocks = tweak_blocks(l, [(loaded[0], 1), (loaded[1], 2)]);
        hash.precompute_keys(l, at);
        let (mut zero_ready, mut hash_both_precomputed) = (labels, [labels; 2]);
        for m in [2, 0, 3, 1] {
            let tweaks = blocks.map(|quad| quad[m]);
            let labels = labels.map(|quad| quad[m]);
            let hashes = hash.hash_precomputed(l, m, tweaks, labels);
            let both = hash.hash_both_precomputed(l, m, tweaks, delta, labels);
            for i in 0..2 {
                zero_ready[i][m] = hashes[i];
                hash_both_precomputed[0][i][m] = both[0][i];
                hash_both_precomputed[1][i][m] = both[1][i];
            }
        }
        let compared = [
            (sums[0], zero),
            (xor_pair(l, sums[0], sums[1]), one),
            (zero_ready, zero),
            (hash_both_precomputed[0], zero),
            (hash_both_precomputed[1], one),
        ];
        for (got, expected) in compared {
            for (got, expected) in got.into_iter().zip(expected) {
                let (mut a, mut b) = ([Block::ZERO; GROUP], [Block::ZERO; GROUP]);
                l.store_quad(&mut a, got);
                l.store_quad(&mut b, expected);
                assert_eq!(Block::as_bytes(&a), Block::as_bytes(&b));
            }
        }
    }
}

/// Returns true if hashing so many labels from this tweak on is refused.
fn refused(first: Tweak, labels: usize) -> bool {
    let hash = || {
        let cpu = Cpu::available()[0];
        Mi::new(cpu, SEED).hash(cpu, first, &mut vec![Block::ZERO; labels]);
    };
    std::panic::catch_unwind(hash).is_err()
}

#[test]
fn numbers_that_do_not_fit_a_tweak_are_refused() {
    let last = Tweak {
        gate: u32::MAX,
        call: CALLS - 1,
        row: u32::MAX - 1,
        part: PARTS - 1,
    };
    assert!(!refused(last, 2));
    assert!(refused(last, 3), "the third row would be row 0");
    let (call, part) = (CALLS, PARTS);
    assert!(refused(Tweak { call, ..last }, 1));
    assert!(refused(Tweak { part, ..last }, 1));
    let mut calls = Calls(CALLS - 2);
    assert_eq!([calls.take(), calls.take()], [CALLS - 2, CALLS - 1]);
    assert!(std::panic::catch_unwind(move || calls.take()).is_err());
}

#[test]
fn pairs_are_the_hashes_of_rows_and_of_their_partners() {
    let delta = Block::new(0x77 << 100 | 0x1234_5678_9abc_def1);
    for cpu in Cpu::available() {
        let hash = Mi::new(cpu, SEED);
        for (length, row) in LENGTHS.into_iter().zip([0, 16, 3].into_iter().cycle()) {
            let first = Tweak {
                gate: 5,
                call: 1 << 33,
                row,
                part: 2,
            };
            let mut rows = drawn(length, length as u64);
            let mut pairs = vec![[Block::ZERO; 2]; length];
            hash.hash_pairs(cpu, first, delta, &rows, &mut pairs);
            let mut partners: Vec<_> = rows.iter().map(|&row| row ^ delta).collect();
            hash.hash(cpu, first, &mut rows);
            hash.hash(cpu, first, &mut partners);
            let expected = rows
                .iter()
                .zip(&partners)
                .flat_map(|(row, partner)| [row, partner]);
            let expected: Vec<u128> = expected.map(|block| block.value()).collect();
            assert_eq!(values(pairs.as_flattened()), expected, "{}", cpu.tier());
        }
    }
}

#[test]
fn hashes_match_their_definitions() {
    compare::<Prp>(|x, t| aes(SEED, sigma(x) ^ t) ^ sigma(x));
    compare::<Tccr>(|x, t| aes(SEED, aes(SEED, x) ^ t) ^ aes(SEED, x));
    compare::<Circ>(|x, t| aes(x, SEED ^ t));
    compare::<Mi>(|x, t| aes(SEED ^ t, sigma(x)) ^ sigma(x));
}
