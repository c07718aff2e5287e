//! Julius on every tier against its equations.

use sealane_aead::{Error, Message, open_many, seal_many};
use sealane_block::gf::{Order, mul};
use sealane_block::{Aes128, Block, Cpu};

use super::common::{cipher, suite, with_room};

/// Block `index` of a string, with zeros behind its end.
fn block_of(bytes: &[u8], index: usize) -> Block {
    let mut block = [0; 16];
    let from = &bytes[16 * index..bytes.len().min(16 * index + 16)];
    block[..from.len()].copy_from_slice(from);
    Block::from_bytes(block)
}

/// Julius as its equations say, a block at a time.
fn slow(cpu: Cpu, key: &[u8], nonce: &[u8], ad: &[u8], text: &[u8]) -> Vec<u8> {
    let cipher = Aes128::new(cpu, block_of(key, 0));
    let turned = |block: Block| Block::new(block.value().swap_bytes());
    let delta = turned(cipher.encrypt(Block::ZERO));
    let times_delta = |x| mul(cpu, Order::Polynomial, x, delta);

    let mut header = vec![0; 16];
    header[15] = 1;
    header.extend(nonce);
    header.extend((ad.len() as u64).to_be_bytes());
    header.extend((text.len() as u64).to_be_bytes());
    header.extend(ad);
    header.resize(header.len().next_multiple_of(16), 0);
    let mut register = vec![0; 16 + text.len().wrapping_neg() % 16];
    register.extend(text);

    let blocks = register.len() / 16;
    let mut seed = Block::ZERO;
    for block in header.chunks(16).chain(register.chunks(16)) {
        seed = times_delta(seed) ^ turned(block_of(block, 0));
    }
    let mu = turned(cipher.encrypt(turned(seed)));
    let mut chain = vec![mu];
    for i in 0..blocks {
        chain.push(times_delta(chain[i]));
    }
    let mut sealed = Vec::new();
    for i in 0..blocks {
        let mask = match (blocks % 2, i) {
            (0, _) | (_, 0) => chain[i],
            (_, 1) => chain[0] ^ chain[1],
            _ => chain[i - 1],
        };
        let block = cipher.encrypt(block_of(&register, i) ^ turned(mask));
        sealed.extend(block.to_bytes());
    }
    sealed
}

/// A nonce for each length: a batch refuses equal ones.
fn nonce(len: usize) -> [u8; 16] {
    (len as u128).to_le_bytes()
}

/// Lengths around every round of lanes and every group of blocks, alone and beside others.
#[test]
fn every_length_matches_the_definition() {
    let key = [7; 16];
    let bytes: Vec<u8> = (0..1100u32).map(|i| (i * i % 251) as u8).collect();
    for cpu in Cpu::available() {
        let cipher = cipher(cpu, suite("julius"), key[0]);
        let lengths: Vec<usize> = (0..68).flat_map(|n| [16 * n, 16 * n + 5]).collect();
        let mut expected = Vec::new();
        for &len in &lengths {
            let (ad, text) = (&bytes[..len % 50], &bytes[..len]);
            let nonce = nonce(len);
            let sealed = slow(cpu, &key, &nonce, ad, text);
            assert_eq!(cipher.seal(&nonce, ad, text), Ok(sealed.clone()), "{len}");
            let opened = cipher.open(&nonce, ad, &sealed, Some(len));
            assert_eq!(opened.as_deref(), Ok(text), "{len}");
            for at in [0, 17 % sealed.len(), sealed.len() - 1] {
                let mut wrong = sealed.clone();
                wrong[at] ^= 1;
                let opened = cipher.open(&nonce, ad, &wrong, Some(len));
                assert_eq!(opened, Err(Error::NotAuthentic), "{len} at {at}");
            }
            expected.push(sealed);
        }
        let messages = |buffers: Vec<Vec<u8>>| {
            let (cipher, bytes) = (&cipher, &bytes);
            let pairs = buffers.into_iter().zip(lengths.clone());
            pairs.map(move |(buffer, len)| {
                Message::new(cipher, nonce(len), &bytes[..len % 50], buffer, Some(len))
            })
        };
        let buffers = lengths.iter().map(|&len| with_room(&cipher, &bytes[..len]));
        for (done, sealed) in seal_many(messages(buffers.collect())).zip(&expected) {
            assert!(done.result == Ok(sealed.len()) && done.buffer == *sealed);
        }
        for (done, &len) in open_many(messages(expected.clone())).zip(&lengths) {
            assert!(done.result == Ok(len) && done.buffer[..len] == bytes[..len]);
        }
    }
}
