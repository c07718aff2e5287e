//! The generator for bulk: AES-128 in counter mode, from a key and a start that are made for one
//! use.
//!
//! [`Prg`] is the key stream of AES-128 in counter mode (NIST SP 800-38A, section 6.5) over
//! counters of its own: block `i` of the stream is the encryption of `start ^ i`, where `i` is a
//! 128-bit big-endian integer. It is pseudorandom as long as AES-128 is a pseudorandom permutation
//! and far fewer than 2^64 blocks are drawn from one generator. It has no forward secrecy: a leaked
//! key reveals the whole stream.
//!
//! # The rule for generators
//! The rule holds for every generator of this project, including those of pools and of hardware.
//!
//! 1. A *seed* has 256 bits and goes through BLAKE3 in its mode of key derivation, never into a
//!    block cipher. Values that are drawn once (an offset, a label, a scalar, a key) are taken from
//!    that output itself.
//! 2. A draw names a *label*, and its type says if the values stay secret
//!    ([`SecretStream`](crate::SecretStream)) or leave this party
//!    ([`PublicStream`](crate::PublicStream)). No stream is drawn from twice.
//! 3. *Bulk* may come from AES-128 in counter mode, under a key that serves one use, at a random
//!    start: this type, which has no other constructor.
//!
//! **Many instances.** An attacker that knows a part of a stream (zero padding, say) can search for
//! its key, at 2^128 tries. If all streams began at 0, one try would serve all of them: of `N`
//! streams, one falls after `2^128 / N` tries. Here a try, of a key at one counter, serves the
//! streams alone that have this counter in use. With random starts, `N` streams of `L` blocks each
//! overlap at all with a chance below `N^2 L / 2^128`; where no more than `m` overlap at one
//! counter, `T` tries find a key with a chance of at most `m T / 2^128`. That holds even if starts
//! are public. A search over seeds themselves has 2^256 to go through.

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::aes::{self, Aes128, MAX_BATCH};
use crate::{Block, Cpu, Kernel, Lanes};

/// A pseudorandom generator for bulk: AES-128 in counter mode, at a random start. It comes from a
/// stream of 256 bits with a label, by [`SecretStream::prg`](crate::SecretStream::prg) and
/// [`PublicStream::prg`](crate::PublicStream::prg).
///
/// Every draw starts at the next multiple of 32 blocks of the stream, so the values that a
/// sequence of draws gives are the same on every tier.
#[derive(ZeroizeOnDrop)]
pub struct Prg {
    aes: Aes128,
    start: Block,
    #[zeroize(skip)]
    next: u128,
}

impl Prg {
    /// The generator of this key and start, both random and for this use alone.
    pub(crate) fn at(cpu: Cpu, key: Block, start: Block) -> Prg {
        Prg {
            aes: Aes128::new(cpu, key),
            start,
            next: 0,
        }
    }

    /// Creates a generator that repeats: for tests and benchmarks alone.
    pub fn danger_fixed(cpu: Cpu, number: u64) -> Prg {
        let number = u128::from(number);
        Prg::at(cpu, Block::new(number), Block::new(number << 64))
    }

    /// Overwrites `out` with the next blocks.
    #[inline]
    pub fn fill(&mut self, out: &mut [Block]) {
        keystream(&self.aes, self.start, self.next, out);
        self.next += out.len().next_multiple_of(MAX_BATCH) as u128;
    }

    /// Overwrites `out` with the bytes of the next blocks; the rest of a last block is dropped.
    pub fn fill_bytes(&mut self, out: &mut [u8]) {
        // A buffer of 4 KiB amortises the dispatch and stays in the nearest cache.
        let mut buffer = [Block::ZERO; 256];
        for chunk in out.chunks_mut(size_of_val(&buffer)) {
            let blocks = &mut buffer[..chunk.len().div_ceil(16)];
            self.fill(blocks);
            chunk.copy_from_slice(&Block::as_bytes(blocks)[..chunk.len()]);
        }
        buffer.zeroize();
    }

    /// Returns the next block. Drawing many at once is much faster.
    #[inline]
    pub fn block(&mut self) -> Block {
        let mut out = [Block::ZERO];
        self.fill(&mut out);
        out[0]
    }
}

impl Aes128 {
    /// Counter mode (SP 800-38A, section 6.5): `data` is combined with the encryptions of
    /// `first`, `first + 1` and so on, 128-bit big-endian integers that wrap.
    #[inline]
    pub fn apply_ctr(&self, first: Block, data: &mut [Block]) {
        let first = first.value().swap_bytes();
        // The stream is made in aligned batches; blocks before `first` are skipped.
        let mut skip = (first % MAX_BATCH as u128) as usize;
        let mut base = first - skip as u128;
        let mut rest = data;
        let mut stream = [Block::ZERO; MAX_BATCH];
        while !rest.is_empty() {
            keystream(self, Block::ZERO, base, &mut stream);
            let (now, later) = rest.split_at_mut(rest.len().min(MAX_BATCH - skip));
            for (block, mask) in now.iter_mut().zip(&stream[skip..]) {
                *block ^= *mask;
            }
            rest = later;
            base = base.wrapping_add(MAX_BATCH as u128);
            skip = 0;
        }
        stream.zeroize();
    }
}

/// Fills `out` with the encryptions of `start ^ base`, `start ^ (base + 1)`, ..., where `base` is a
/// multiple of [`MAX_BATCH`].
fn keystream(aes: &Aes128, start: Block, base: u128, out: &mut [Block]) {
    debug_assert_eq!(base % MAX_BATCH as u128, 0);
    aes.cpu().run(Keystream {
        round_keys: aes.round_keys(),
        start,
        base,
        out,
    });
}

struct Keystream<'a> {
    round_keys: &'a [Block; 11],
    start: Block,
    base: u128,
    out: &'a mut [Block],
}

/// The last byte of a big-endian counter holds its low bits: `i` in byte 15.
const NUMBERS: [Block; MAX_BATCH] = {
    let mut numbers = [Block::ZERO; MAX_BATCH];
    let mut i = 0;
    while i < MAX_BATCH {
        numbers[i] = Block::new((i as u128) << 120);
        i += 1;
    }
    numbers
};

impl Kernel for Keystream<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let (keys, start) = (self.round_keys, self.start);
        let mut counter = self.base;
        let mut batches = self.out.chunks_exact_mut(8 * L::WIDTH);
        for batch in &mut batches {
            keystream_batch(l, keys, start ^ counter_block(counter), batch);
            counter = counter.wrapping_add(8 * L::WIDTH as u128);
        }
        let rest = batches.into_remainder();
        if !rest.is_empty() {
            let mut padded = [Block::ZERO; MAX_BATCH];
            keystream_batch(l, keys, start ^ counter_block(counter), &mut padded);
            rest.copy_from_slice(&padded[..rest.len()]);
            padded.zeroize();
        }
    }
}

/// A counter as a big-endian block.
#[inline(always)]
pub(crate) fn counter_block(counter: u128) -> Block {
    Block::new(counter.swap_bytes())
}

/// Eight vectors of key stream. `first` is the start, summed with a counter that is a multiple of
/// their number of blocks, so counters differ in low bits only and an exclusive or replaces the
/// addition.
#[inline(always)]
fn keystream_batch<L: Lanes>(l: L, keys: &[Block; 11], first: Block, batch: &mut [Block]) {
    l.store_vectors(batch, &keystream_vectors(l, keys, first));
}

/// The same vectors, in registers.
#[inline(always)]
pub(crate) fn keystream_vectors<L: Lanes>(l: L, keys: &[Block; 11], first: Block) -> [L::V; 8] {
    let base = l.splat(first);
    let mut states = [base; 8];
    for i in 0..8 {
        states[i] = l.xor(base, l.load(&NUMBERS[i * L::WIDTH..]));
    }
    aes::encrypt_eight(l, keys, &mut states);
    states
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_do_not_depend_on_the_tier_or_on_each_others_length() {
        for cpu in Cpu::available() {
            let start = Block::new(0x0123_4567_89ab_cdef << 40 | 77);
            let mut prg = Prg::at(cpu, Block::new(7), start);
            let aes = Aes128::new(cpu, Block::new(7));
            let mut first = 0u128;
            for len in [1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 257, 0, 3] {
                let mut blocks = vec![Block::ZERO; len];
                prg.fill(&mut blocks);
                for (i, block) in blocks.iter().enumerate() {
                    let counter = start ^ Block::new((first + i as u128).swap_bytes());
                    let expected = aes.encrypt(counter).value();
                    assert_eq!(block.value(), expected, "{}", cpu.tier());
                }
                first += len.next_multiple_of(32) as u128;
            }
        }
    }

    #[test]
    fn bytes_are_the_bytes_of_blocks() {
        let cpu = Cpu::detect().unwrap();
        for len in [0, 1, 15, 16, 17, 4095, 4096, 4097, 9000] {
            let mut bytes = vec![0; len];
            Prg::danger_fixed(cpu, 1).fill_bytes(&mut bytes);
            let mut blocks = vec![Block::ZERO; len.div_ceil(16)];
            Prg::danger_fixed(cpu, 1).fill(&mut blocks);
            assert_eq!(bytes, Block::as_bytes(&blocks)[..len]);
        }
    }
}
