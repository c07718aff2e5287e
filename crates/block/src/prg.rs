//! The CTR generator, and the coins that protocols toss.
//!
//! [`Prg`] is the key stream of AES-128 in counter mode (NIST SP 800-38A, section 6.5): block `i`
//! of the stream is the encryption of `i`, a 128-bit big-endian integer, under the seed. It is
//! pseudorandom as long as AES-128 is a pseudorandom permutation and far fewer than 2^64 blocks
//! are drawn from one seed. It has no forward secrecy: a seed that leaks tells the whole stream.

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::aes::{self, Aes128, MAX_TURN};
use crate::{Block, Cpu, Kernel, Lanes};

/// A pseudorandom generator: AES-128 in counter mode.
///
/// Every draw starts at the next multiple of 32 blocks of the stream, so the values that a
/// sequence of draws gives are the same on every tier.
#[derive(ZeroizeOnDrop)]
pub struct Prg {
    aes: Aes128,
    #[zeroize(skip)]
    next: u128,
}

impl Prg {
    /// A generator with this seed.
    pub fn new(cpu: Cpu, seed: Block) -> Prg {
        Prg {
            aes: Aes128::new(cpu, seed),
            next: 0,
        }
    }

    /// Overwrites `out` with the next blocks.
    pub fn fill(&mut self, out: &mut [Block]) {
        keystream(&self.aes, self.next, out);
        self.next += out.len().next_multiple_of(MAX_TURN) as u128;
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

    /// The next block. Draw many at once where speed matters.
    pub fn block(&mut self) -> Block {
        let mut out = [Block::ZERO];
        self.fill(&mut out);
        out[0]
    }
}

impl Aes128 {
    /// Counter mode (SP 800-38A, section 6.5): `data` is combined with the encryptions of
    /// `first`, `first + 1` and so on, 128-bit big-endian integers that wrap.
    pub fn apply_ctr(&self, first: Block, data: &mut [Block]) {
        let first = first.value().swap_bytes();
        // The stream is made in aligned turns; what comes before `first` is skipped.
        let mut skip = (first % MAX_TURN as u128) as usize;
        let mut base = first - skip as u128;
        let mut rest = data;
        let mut stream = [Block::ZERO; MAX_TURN];
        while !rest.is_empty() {
            keystream(self, base, &mut stream);
            let (now, later) = rest.split_at_mut(rest.len().min(MAX_TURN - skip));
            for (block, mask) in now.iter_mut().zip(&stream[skip..]) {
                *block ^= *mask;
            }
            rest = later;
            base = base.wrapping_add(MAX_TURN as u128);
            skip = 0;
        }
        stream.zeroize();
    }
}

/// Fills `out` with the encryptions of `base`, `base + 1`, ..., where `base` is a multiple of
/// [`MAX_TURN`].
fn keystream(aes: &Aes128, base: u128, out: &mut [Block]) {
    debug_assert_eq!(base % MAX_TURN as u128, 0);
    aes.cpu().run(Keystream {
        round_keys: aes.round_keys(),
        base,
        out,
    });
}

struct Keystream<'a> {
    round_keys: &'a [Block; 11],
    base: u128,
    out: &'a mut [Block],
}

/// The last byte of a big-endian counter holds its low bits: `i` in byte 15.
const NUMBERS: [Block; MAX_TURN] = {
    let mut numbers = [Block::ZERO; MAX_TURN];
    let mut i = 0;
    while i < MAX_TURN {
        numbers[i] = Block::new((i as u128) << 120);
        i += 1;
    }
    numbers
};

impl Kernel for Keystream<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let keys = self.round_keys;
        let mut counter = self.base;
        let mut turns = self.out.chunks_exact_mut(8 * L::WIDTH);
        for turn in &mut turns {
            keystream_turn(l, keys, counter, turn);
            counter = counter.wrapping_add(8 * L::WIDTH as u128);
        }
        let rest = turns.into_remainder();
        if !rest.is_empty() {
            let mut padded = [Block::ZERO; MAX_TURN];
            keystream_turn(l, keys, counter, &mut padded);
            rest.copy_from_slice(&padded[..rest.len()]);
            padded.zeroize();
        }
    }
}

/// Eight vectors of key stream. `counter` is a multiple of their number of blocks, so counters
/// differ in low bits only and an exclusive or replaces the addition.
#[inline(always)]
fn keystream_turn<L: Lanes>(l: L, keys: &[Block; 11], counter: u128, turn: &mut [Block]) {
    let turn = &mut turn[..8 * L::WIDTH];
    let base = l.splat(Block::new(counter.swap_bytes()));
    let mut states = [base; 8];
    for i in 0..8 {
        states[i] = l.xor(base, l.load(&NUMBERS[i * L::WIDTH..]));
    }
    aes::encrypt_eight(l, keys, &mut states);
    for i in 0..8 {
        l.store(&mut turn[i * L::WIDTH..], states[i]);
    }
}

/// The one source of randomness of protocols: seeded by the operating system, or, in tests only,
/// by a fixed seed.
pub struct Coins {
    prg: Prg,
    cpu: Cpu,
}

impl Coins {
    /// Coins seeded by the operating system.
    ///
    /// # Errors
    /// The operating system gives no randomness.
    pub fn from_os(cpu: Cpu) -> Result<Coins, CoinsError> {
        let mut seed = [0; 16];
        getrandom::fill(&mut seed).map_err(|error| CoinsError(error.to_string()))?;
        let coins = Coins {
            prg: Prg::new(cpu, Block::from_bytes(seed)),
            cpu,
        };
        seed.zeroize();
        Ok(coins)
    }

    /// Coins that repeat: for `testkit` alone.
    pub fn danger_fixed_seed(cpu: Cpu, seed: u64) -> Coins {
        Coins {
            prg: Prg::new(cpu, Block::new(seed as u128)),
            cpu,
        }
    }

    /// Fresh random blocks.
    pub fn fill(&mut self, out: &mut [Block]) {
        self.prg.fill(out);
    }

    /// Fresh random bytes.
    pub fn fill_bytes(&mut self, out: &mut [u8]) {
        self.prg.fill_bytes(out);
    }

    /// One fresh random block.
    pub fn block(&mut self) -> Block {
        self.prg.block()
    }

    /// Coins independent of these, for another thread or role.
    pub fn fork(&mut self) -> Coins {
        Coins {
            prg: Prg::new(self.cpu, self.prg.block()),
            cpu: self.cpu,
        }
    }
}

/// The operating system gave no randomness.
#[derive(Debug, thiserror::Error)]
#[error("the operating system gave no randomness: {0}")]
pub struct CoinsError(pub String);

#[cfg(test)]
mod tests {
    use subtle::ConstantTimeEq;

    use super::*;

    #[test]
    fn draws_do_not_depend_on_the_tier_or_on_each_others_length() {
        for cpu in Cpu::available() {
            let mut prg = Prg::new(cpu, Block::new(7));
            let aes = Aes128::new(cpu, Block::new(7));
            let mut start = 0u128;
            for len in [1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 257, 0, 3] {
                let mut blocks = vec![Block::ZERO; len];
                prg.fill(&mut blocks);
                for (i, block) in blocks.iter().enumerate() {
                    let counter = Block::new((start + i as u128).swap_bytes());
                    assert!(
                        bool::from(block.ct_eq(&aes.encrypt(counter))),
                        "{}",
                        cpu.tier()
                    );
                }
                start += len.next_multiple_of(32) as u128;
            }
        }
    }

    #[test]
    fn bytes_are_the_bytes_of_blocks() {
        let cpu = Cpu::detect().unwrap();
        for len in [0, 1, 15, 16, 17, 4095, 4096, 4097, 9000] {
            let mut bytes = vec![0; len];
            Prg::new(cpu, Block::new(1)).fill_bytes(&mut bytes);
            let mut blocks = vec![Block::ZERO; len.div_ceil(16)];
            Prg::new(cpu, Block::new(1)).fill(&mut blocks);
            assert_eq!(bytes, Block::as_bytes(&blocks)[..len]);
        }
    }

    #[test]
    fn forks_and_system_coins_are_fresh() {
        let cpu = Cpu::detect().unwrap();
        let mut coins = Coins::danger_fixed_seed(cpu, 1);
        let (mut a, mut b) = (coins.fork(), coins.fork());
        let (mut os1, mut os2) = (Coins::from_os(cpu).unwrap(), Coins::from_os(cpu).unwrap());
        let drawn = [
            coins.block(),
            a.block(),
            b.block(),
            os1.block(),
            os2.block(),
        ];
        for (i, x) in drawn.iter().enumerate() {
            for y in &drawn[..i] {
                assert!(!bool::from(x.ct_eq(y)));
            }
        }
        let again = Coins::danger_fixed_seed(cpu, 1).fork().block();
        assert!(bool::from(again.ct_eq(&drawn[1])));
    }
}
