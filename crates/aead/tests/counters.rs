//! Counters that run over: the lower half of CTR's, and the 32 bits of GCM's, anywhere in a
//! message, alone and side by side, on every tier.

use aead::{Aead, KeyInit, consts::U16};
use aes::cipher::{Array, BlockCipherEncrypt};
use sealane_aead::{Ads, RowBatch};
use sealane_block::gf::{Order, mul};
use sealane_block::{Block, Cpu};

use super::common::{cipher, suite, with_room};

const KEY: [u8; 16] = [0x5a; 16];
const NONCE_BYTES: usize = 16;

fn encrypted(block: [u8; 16]) -> [u8; 16] {
    let mut block = Array::from(block);
    aes::Aes128::new(&Array::from(KEY)).encrypt_block(&mut block);
    block.into()
}

/// Every nonce with texts of some lengths, alone and in rows.
fn assert_all(name: &str, nonces: &[[u8; 16]], expected: impl Fn(&[u8; 16], &[u8]) -> Vec<u8>) {
    let blocks = [0, 1, 2, 15, 16, 17, 31, 33, 48, 70];
    for cpu in Cpu::available() {
        let cipher = cipher(cpu, suite(name), KEY[0]);
        for bytes in blocks.map(|blocks| 16 * blocks + blocks % 3) {
            let text: Vec<u8> = (0..bytes).map(|i| (i * 7) as u8).collect();
            let sealed = cipher.sealed_len(bytes);
            let mut buffers = Vec::new();
            for nonce in nonces {
                let alone = cipher.seal(nonce, &[], &text).expect("sealed");
                let found = alone == expected(nonce, &text);
                assert!(found, "{bytes} bytes after {nonce:x?} on {}", cpu.tier());
                buffers.extend(with_room(&cipher, &text));
            }
            let rows = RowBatch {
                cipher: &cipher,
                count: nonces.len(),
                nonces: nonces.as_flattened(),
                ads: Ads::Same(&[]),
                buffers: &mut buffers,
                text: Some(bytes),
            };
            rows.seal().expect("sealed");
            for (row, nonce) in nonces.iter().enumerate() {
                let found = buffers[row * sealed..][..sealed] == expected(nonce, &text);
                assert!(found, "{bytes} bytes after {nonce:x?} in rows");
            }
        }
    }
}

#[test]
fn the_lower_half_of_ctr_runs_over() {
    let nonce = |before: u64| {
        let mut nonce = [0xff; NONCE_BYTES];
        nonce[..8].copy_from_slice(&0x0011_2233_ffff_ffffu64.to_be_bytes());
        nonce[8..].copy_from_slice(&before.wrapping_neg().to_be_bytes());
        nonce
    };
    let nonces: Vec<_> = (0..72).map(nonce).collect();
    assert_all("ctr", &nonces, |nonce, text| {
        let first = u128::from_be_bytes(*nonce);
        let pad = |number: usize| encrypted(first.wrapping_add(number as u128).to_be_bytes());
        let pairs = text.iter().zip((0..).flat_map(pad));
        pairs.map(|(text, pad)| text ^ pad).collect()
    });
}

/// Nonces of 16 bytes of which GHASH makes a given counter block.
#[test]
fn the_counter_of_gcm_runs_over() {
    let cpu = Cpu::detect().expect("a processor");
    let times = |a, b| mul(cpu, Order::Ghash, a, b);
    let hash_key = Block::from_bytes(encrypted([0; 16]));
    // To the power of 2^128 - 2.
    let mut inverse = times(hash_key, hash_key);
    let mut square = inverse;
    for _ in 2..128 {
        square = times(square, square);
        inverse = times(inverse, square);
    }
    let length = Block::from_bytes((8 * NONCE_BYTES as u128).to_be_bytes());
    let nonce = |before: u32| {
        let mut first = [0xff; 16];
        first[12..].copy_from_slice(&before.wrapping_neg().to_be_bytes());
        times(times(Block::from_bytes(first), inverse) ^ length, inverse).to_bytes()
    };
    let nonces: Vec<_> = (0..72).map(nonce).collect();
    let theirs = aes_gcm::AesGcm::<aes::Aes128, U16>::new(&Array::from(KEY));
    assert_all("gcm", &nonces, |nonce, text| {
        theirs.encrypt(&Array::from(*nonce), text).expect("sealed")
    });
}
