//! AES-128 against its standards and against another implementation, on every tier.

use aes::cipher::{Array, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use proptest::prelude::*;
use sealane_block::aes::{Back, Direction, Forward, cipher_each, cipher_splat};
use sealane_block::aes::{encrypt_eight, encrypt_fresh, encrypt_some, xex_splat};
use sealane_block::{Aes128, Aes128Dec, Aes128Many, Block, Cpu, Kernel, Lanes};

/// A block from hexadecimal digits in the order in which the standards print them.
fn block(hex: &str) -> Block {
    Block::new(u128::from_str_radix(hex, 16).unwrap().swap_bytes())
}

fn values(blocks: &[Block]) -> Vec<u128> {
    blocks.iter().map(|block| block.value()).collect()
}

/// The same encryption in all three shapes, at every position of a batch, and back.
fn assert_encrypts(cpu: Cpu, key: Block, plain: &[Block], cipher: &[Block]) {
    let mut one_key = plain.to_vec();
    Aes128::new(cpu, key).encrypt_blocks(&mut one_key);
    assert_eq!(values(&one_key), values(cipher), "one key, {}", cpu.tier());

    let keys = vec![key; plain.len()];
    let mut many = plain.to_vec();
    Aes128Many::new(cpu, &keys).encrypt_each(&mut many);
    assert_eq!(values(&many), values(cipher), "many keys, {}", cpu.tier());

    let mut fresh = plain.to_vec();
    encrypt_fresh(cpu, &keys, &mut fresh);
    assert_eq!(values(&fresh), values(cipher), "fresh keys, {}", cpu.tier());

    let dec = Aes128Dec::new(&Aes128::new(cpu, key));
    dec.decrypt_blocks(&mut one_key);
    assert_eq!(values(&one_key), values(plain), "back, {}", cpu.tier());
    let single: Vec<Block> = cipher.iter().map(|block| dec.decrypt(*block)).collect();
    assert_eq!(values(&single), values(plain), "singly, {}", cpu.tier());
}

#[test]
fn fips_197_appendices_b_and_c1() {
    let vectors = [
        // Appendix B.
        (
            "2b7e151628aed2a6abf7158809cf4f3c",
            "3243f6a8885a308d313198a2e0370734",
            "3925841d02dc09fbdc118597196a0b32",
        ),
        // Appendix C.1.
        (
            "000102030405060708090a0b0c0d0e0f",
            "00112233445566778899aabbccddeeff",
            "69c4e0d86a7b0430d8cdb78070b4c55a",
        ),
    ];
    for cpu in Cpu::available() {
        for (key, plain, cipher) in vectors {
            for count in [1, 5, 16, 40] {
                let (plain, cipher) = (vec![block(plain); count], vec![block(cipher); count]);
                assert_encrypts(cpu, block(key), &plain, &cipher);
            }
        }
    }
}

/// SP 800-38A, appendix F: the plaintext of all AES-128 examples.
const PLAIN: [&str; 4] = [
    "6bc1bee22e409f96e93d7e117393172a",
    "ae2d8a571e03ac9c9eb76fac45af8e51",
    "30c81c46a35ce411e5fbc1191a0a52ef",
    "f69f2445df4f9b17ad2b417be66c3710",
];
const KEY: &str = "2b7e151628aed2a6abf7158809cf4f3c";

/// The key schedule of the equivalent inverse cipher of C.1, from its `ik_sch` lines.
#[test]
fn fips_197_appendix_c1_inverse_key_schedule() {
    let expected = [
        "13111d7fe3944a17f307a78b4d2b30c5",
        "13aa29be9c8faff6f770f58000f7bf03",
        "1362a4638f2586486bff5a76f7874a83",
    ];
    for cpu in Cpu::available() {
        let aes = Aes128::new(cpu, block("000102030405060708090a0b0c0d0e0f"));
        let dec = Aes128Dec::new(&aes);
        let (keys, back) = (values(aes.round_keys()), values(dec.round_keys()));
        assert_eq!(back[..3], values(&expected.map(block)), "{}", cpu.tier());
        assert_eq!((back[0], back[10]), (keys[10], keys[0]), "{}", cpu.tier());
    }
}

#[test]
fn sp_800_38a_ecb() {
    // F.1.1.
    let cipher = [
        "3ad77bb40d7a3660a89ecaf32466ef97",
        "f5d3d58503b9699de785895a96fdbaaf",
        "43b1cd7f598ece23881b00e3ed030688",
        "7b0c785e27e8ad3f8223207104725dd4",
    ];
    for cpu in Cpu::available() {
        assert_encrypts(cpu, block(KEY), &PLAIN.map(block), &cipher.map(block));
    }
}

#[test]
fn sp_800_38a_ctr() {
    // F.5.1. Its counters cross a multiple of 256, hence of every batch.
    let first = block("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
    let cipher = [
        "874d6191b620e3261bef6864990db6ce",
        "9806f66b7970fdff8617187bb9fffdff",
        "5ae4df3edbd5d35e5b4f09020db03eab",
        "1e031dda2fbe03d1792170a0f3009cee",
    ];
    for cpu in Cpu::available() {
        let mut data = PLAIN.map(block);
        Aes128::new(cpu, block(KEY)).apply_ctr(first, &mut data);
        assert_eq!(values(&data), values(&cipher.map(block)), "{}", cpu.tier());
    }
}

#[test]
fn ctr_wraps_after_the_last_counter() {
    for cpu in Cpu::available() {
        let aes = Aes128::new(cpu, block(KEY));
        let mut stream = vec![Block::ZERO; 70];
        aes.apply_ctr(Block::ONES, &mut stream);
        for (i, got) in stream.into_iter().enumerate() {
            let counter = Block::new((i as u128).wrapping_sub(1).swap_bytes());
            let expected = aes.encrypt(counter).value();
            assert_eq!(got.value(), expected, "{} {i}", cpu.tier());
        }
    }
}

/// The second implementation, forwards or back.
fn other(key: Block, block: Block, run: fn(&aes::Aes128, &mut aes::Block)) -> Block {
    let mut state = Array::from(block.to_bytes());
    run(&aes::Aes128::new(&Array::from(key.to_bytes())), &mut state);
    Block::from_bytes(state.into())
}

fn oracle(key: Block, plain: Block) -> Block {
    other(key, plain, BlockCipherEncrypt::encrypt_block)
}

fn oracle_back(key: Block, cipher: Block) -> Block {
    other(key, cipher, BlockCipherDecrypt::decrypt_block)
}

/// `N` vectors through the helpers that kernels use, in both directions. Block `j` of them all
/// has key `j` in the result of `cipher_each`, and key 0 in that of `cipher_splat`.
struct Helpers<'a, const N: usize> {
    forward: &'a [Aes128],
    back: &'a [Aes128Dec],
    blocks: &'a [Block],
}

/// Blocks that went through `cipher_splat`, and through `cipher_each`.
type Through = [Vec<Block>; 2];

impl<const N: usize> Kernel for Helpers<'_, N> {
    type Output = [Through; 2];

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> [Through; 2] {
        let forward: Vec<[Block; 11]> = self.forward.iter().map(|k| *k.round_keys()).collect();
        let back: Vec<[Block; 11]> = self.back.iter().map(|k| *k.round_keys()).collect();
        let results = [
            through::<L, Forward, N>(l, &forward, self.blocks),
            through::<L, Back, N>(l, &back, self.blocks),
        ];

        // The two names for the commonest uses agree.
        let keys = &forward[0];
        let mut states = load::<L, N>(l, self.blocks);
        let some = store::<L, N>(l, encrypt_some(l, keys, states));
        assert_eq!(values(&some), values(&results[0][0]));
        if let Ok(eight) = states.as_mut_slice().try_into() {
            encrypt_eight(l, keys, eight);
            let eight = store::<L, N>(l, states);
            assert_eq!(values(&eight), values(&results[0][0]));
        }
        results
    }
}

#[inline(always)]
fn load<L: Lanes, const N: usize>(l: L, from: &[Block]) -> [L::V; N] {
    let mut vectors = [l.splat(Block::ZERO); N];
    for i in 0..N {
        vectors[i] = l.load(&from[i * L::WIDTH..]);
    }
    vectors
}

#[inline(always)]
fn store<L: Lanes, const N: usize>(l: L, vectors: [L::V; N]) -> Vec<Block> {
    let mut to = vec![Block::ZERO; N * L::WIDTH];
    for i in 0..N {
        l.store(&mut to[i * L::WIDTH..], vectors[i]);
    }
    to
}

#[inline(always)]
fn through<L: Lanes, D: Direction, const N: usize>(
    l: L,
    keys: &[[Block; 11]],
    blocks: &[Block],
) -> Through {
    let mut each_keys = [[l.splat(Block::ZERO); N]; 11];
    for round in 0..11 {
        let row: Vec<Block> = keys.iter().map(|keys| keys[round]).collect();
        each_keys[round] = load(l, &row);
    }
    let mut splat = load::<L, N>(l, blocks);
    let mut each = splat;
    cipher_splat::<L, D, N>(l, &keys[0], &mut splat);
    cipher_each::<L, D, N>(l, &each_keys, &mut each);

    // With an offset on both sides: subtracting it before and after gives the plain cipher.
    let (offsets, shared) = (each_keys[1], l.splat(keys[0][3]));
    let mut xex = load::<L, N>(l, blocks);
    for i in 0..N {
        xex[i] = l.xor(xex[i], l.xor(offsets[i], shared));
    }
    xex_splat::<L, D, N>(l, &keys[0], &mut xex, &offsets, shared);
    for i in 0..N {
        xex[i] = l.xor(xex[i], l.xor(offsets[i], shared));
    }
    let (xex, plain) = (store::<L, N>(l, xex), store::<L, N>(l, splat));
    assert_eq!(values(&xex), values(&plain));
    [store(l, splat), store(l, each)]
}

fn assert_helpers<const N: usize>(keys: &[Block], blocks: &[Block]) {
    for cpu in Cpu::available() {
        let forward: Vec<_> = keys.iter().map(|key| Aes128::new(cpu, *key)).collect();
        let back: Vec<_> = forward.iter().map(Aes128Dec::new).collect();
        let (forward, back) = (&forward, &back);
        let results = cpu.run(Helpers::<N> {
            forward,
            back,
            blocks,
        });
        let oracles: [fn(Block, Block) -> Block; 2] = [oracle, oracle_back];
        for ([splat, each], oracle) in results.into_iter().zip(oracles) {
            for i in 0..splat.len() {
                let name = format!("block {i} of {N} vectors, {}", cpu.tier());
                let expected = oracle(keys[0], blocks[i]);
                assert_eq!(splat[i].value(), expected.value(), "splat, {name}");
                let expected = oracle(keys[i], blocks[i]);
                assert_eq!(each[i].value(), expected.value(), "each, {name}");
            }
        }
    }
}

#[test]
fn helpers_of_kernels_agree_with_another_implementation() {
    let paint = |seed: u128| -> Vec<Block> {
        let prime = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
        (1..=64)
            .map(|i| Block::new((i + seed).wrapping_mul(prime).rotate_left(41)))
            .collect()
    };
    let (keys, blocks) = (paint(3), paint(300));
    assert_helpers::<1>(&keys, &blocks);
    assert_helpers::<2>(&keys, &blocks);
    assert_helpers::<3>(&keys, &blocks);
    assert_helpers::<4>(&keys, &blocks);
    assert_helpers::<8>(&keys, &blocks);
    assert_helpers::<16>(&keys, &blocks);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn another_implementation_agrees_at_every_length(
        pairs in prop::collection::vec((any::<u128>(), any::<u128>()), 0..100)
    ) {
        let keys: Vec<Block> = pairs.iter().map(|pair| Block::new(pair.0)).collect();
        let plain: Vec<Block> = pairs.iter().map(|pair| Block::new(pair.1)).collect();
        let each: Vec<Block> = keys.iter().zip(&plain).map(|(k, p)| oracle(*k, *p)).collect();
        for cpu in Cpu::available() {
            let mut many = plain.clone();
            Aes128Many::new(cpu, &keys).encrypt_each(&mut many);
            prop_assert_eq!(values(&many), values(&each));

            let mut fresh = plain.clone();
            encrypt_fresh(cpu, &keys, &mut fresh);
            prop_assert_eq!(values(&fresh), values(&each));

            if let Some(key) = keys.first() {
                let mut one_key = plain.clone();
                Aes128::new(cpu, *key).encrypt_blocks(&mut one_key);
                let expected: Vec<Block> = plain.iter().map(|p| oracle(*key, *p)).collect();
                prop_assert_eq!(values(&one_key), values(&expected));

                let dec = Aes128Dec::new(&Aes128::new(cpu, *key));
                dec.decrypt_blocks(&mut one_key);
                prop_assert_eq!(values(&one_key), values(&plain));
                dec.decrypt_blocks(&mut one_key);
                let expected: Vec<Block> = plain.iter().map(|p| oracle_back(*key, *p)).collect();
                prop_assert_eq!(values(&one_key), values(&expected));
            }
        }
    }
}
