//! Products of a vector of blocks with a public matrix over GF(2) that has [`ONES`] ones in each
//! row, at random places: the encoding of learning parity with noise over a local code (Yang, Weng,
//! Lan, Zhang and Wang, "Ferret: Fast Extension for Correlated OT with Small Communication", CCS
//! 2020, section 5.1).
//!
//! **The matrix** is never stored. Row `j` comes from the encryptions of counters `2j` and `2j + 1`
//! under a public key: of each of their four 64-bit words the lowest 63 bits are three numbers of
//! 21 bits, of which the first ten of a row count, modulo the length of the vector. A place that
//! comes up twice cancels, with a chance of 45 divided by that length. Rows can therefore be
//! computed in any order and by any tier.
//!
//! **Caches.** A row needs ten blocks from random places. They are independent of each other and of
//! all other rows, and the places of a batch are computed before they are used, so that many loads
//! are under way at once. Places are public, so they may be addresses.

use zeroize::Zeroize;

use crate::aes::{self, MAX_BATCH};
use crate::{Aes128, Block, Cpu, Kernel, Lanes};

/// Ones in a row.
pub const ONES: usize = 10;
/// Bits of a number of which a place is made, so that vectors have at most 2^21 blocks.
const PLACE_BITS: u32 = 21;
/// Encryptions for a row.
const DRAWS: usize = 2;
/// Rows whose bits are packed into a word: an even number of batches on every tier.
const WORD: usize = 32;

/// A public matrix.
pub struct LocalMatrix {
    cpu: Cpu,
    aes: Aes128,
}

impl LocalMatrix {
    /// Creates the matrix with this key.
    pub fn new(cpu: Cpu, key: Block) -> LocalMatrix {
        LocalMatrix {
            cpu,
            aes: Aes128::new(cpu, key),
        }
    }

    /// Sets `sums` to the products of rows, from number `first` on, with `vector`, plus `errors`,
    /// bit 0 of which is taken as 0, plus a public random bit in bit 0 of each sum.
    ///
    /// # Panics
    /// If there is not one sum for each error, or the length of `vector` is no power of two up to
    /// 2^21.
    pub fn encode(&self, vector: &[Block], first: u64, errors: &[Block], sums: &mut [Block]) {
        assert_eq!(errors.len(), sums.len(), "one sum for each error");
        self.cpu.run(Encode::<false> {
            keys: self.aes.round_keys(),
            vector: Vector::new(vector),
            first,
            errors,
            sums,
            bits: &mut [],
        });
    }

    /// As [`encode`](LocalMatrix::encode), where bit 0 of each block of `vector` and of each error
    /// is a bit of its own: bit 0 of each sum goes to `bits`, 128 a block, before the public bit is
    /// added.
    ///
    /// # Panics
    /// As [`encode`](LocalMatrix::encode), or if there are not 128 errors for each block of bits.
    pub fn encode_with_bits(
        &self,
        vector: &[Block],
        first: u64,
        errors: &[Block],
        sums: &mut [Block],
        bits: &mut [Block],
    ) {
        assert_eq!(errors.len(), sums.len(), "one sum for each error");
        assert_eq!(sums.len(), 128 * bits.len(), "128 rows for each block");
        self.cpu.run(Encode::<true> {
            keys: self.aes.round_keys(),
            vector: Vector::new(vector),
            first,
            errors,
            sums,
            bits,
        });
    }

    /// Returns the places of the ones of a row, and its public bit.
    pub fn row(&self, row: u64, length: usize) -> ([usize; ONES], bool) {
        let mut draws = [0, 1].map(|i| Block::new(u128::from(row) * DRAWS as u128 + i));
        self.aes.encrypt_blocks(&mut draws);
        let (places, last) = places(&draws, (length - 1) as u64);
        (places, last >> 63 == 1)
    }
}

/// A vector whose length is a power of two, so that masked numbers are places in it.
#[derive(Clone, Copy)]
struct Vector<'a> {
    blocks: &'a [Block],
    mask: u64,
}

impl Vector<'_> {
    fn new(blocks: &[Block]) -> Vector<'_> {
        let length = blocks.len();
        assert!(length.is_power_of_two() && length <= 1 << PLACE_BITS);
        Vector {
            blocks,
            mask: length as u64 - 1,
        }
    }
}

/// Returns the places that two encryptions state, and the last of their words.
#[inline(always)]
fn places(draws: &[Block], mask: u64) -> ([usize; ONES], u64) {
    let draws = &draws[..DRAWS];
    let mut places = [0; ONES];
    let mut word = 0;
    for i in 0..4 {
        word = (draws[i / 2].value() >> (64 * (i % 2))) as u64;
        for j in 0..3 {
            if 3 * i + j < ONES {
                places[3 * i + j] = (word >> (PLACE_BITS * j as u32) & mask) as usize;
            }
        }
    }
    (places, word)
}

/// Encodes rows; with `BITS`, bit 0 is kept and goes to `bits`.
struct Encode<'a, const BITS: bool> {
    keys: &'a [Block; 11],
    vector: Vector<'a>,
    first: u64,
    errors: &'a [Block],
    sums: &'a mut [Block],
    bits: &'a mut [Block],
}

impl<const BITS: bool> Kernel for Encode<'_, BITS> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        // The places of a batch are drawn before the blocks of the batch before it are added, so
        // that the loads of one run beside the rounds of the other.
        let batch_rows = 8 * L::WIDTH / DRAWS;
        let mut batches = [[Block::ZERO; MAX_BATCH]; 2];
        let mut number = self.first;
        draw(l, self.keys, number, &mut batches[0]);
        let bits = bytemuck::must_cast_slice_mut::<Block, u32>(self.bits);
        let errors = self.errors.chunks(WORD);
        for (word, (errors, sums)) in errors.zip(self.sums.chunks_mut(WORD)).enumerate() {
            let mut packed = 0u32;
            let errors = errors.chunks(batch_rows);
            for (batch, (errors, sums)) in errors.zip(sums.chunks_mut(batch_rows)).enumerate() {
                number += batch_rows as u64;
                let (now, next) = batches.split_at_mut(1);
                let (now, next) = match batch % 2 {
                    0 => (&now[0], &mut next[0]),
                    _ => (&next[0], &mut now[0]),
                };
                draw(l, self.keys, number, next);
                for (i, (error, out)) in errors.iter().zip(sums).enumerate() {
                    let (places, last) = places(&now[DRAWS * i..], self.vector.mask);
                    let public = Block::new((last >> 63) as u128);
                    let keep = if BITS { Block::ONES } else { Block::new(!1) };
                    let sum = add_places(*error & keep, self.vector, places);
                    if BITS {
                        packed |= u32::from(sum.lsb()) << (batch * batch_rows + i);
                    }
                    *out = sum ^ public;
                }
            }
            if BITS {
                bits[word] = packed;
            }
            packed.zeroize();
        }
    }
}

/// Encrypts the counters of as many rows, from `first` on, as fill eight vectors.
#[inline(always)]
fn draw<L: Lanes>(l: L, keys: &[Block; 11], first: u64, draws: &mut [Block; MAX_BATCH]) {
    let numbers = counters();
    let base = l.splat(Block::new(u128::from(first) * DRAWS as u128));
    let mut states = [base; 8];
    for i in 0..8 {
        states[i] = l.add64(base, l.load(&numbers[i * L::WIDTH..]));
    }
    aes::encrypt_eight(l, keys, &mut states);
    l.store_vectors(draws, &states);
}

#[inline(always)]
const fn counters() -> [Block; MAX_BATCH] {
    let mut numbers = [Block::ZERO; MAX_BATCH];
    let mut i = 0;
    while i < MAX_BATCH {
        numbers[i] = Block::new(i as u128);
        i += 1;
    }
    numbers
}

/// Returns `sum` plus the blocks at these places.
#[inline(always)]
fn add_places(sum: Block, vector: Vector<'_>, places: [usize; ONES]) -> Block {
    crate::lanes::gather::add(sum, vector.blocks, vector.mask as usize, places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::drawn;

    #[test]
    fn sums_and_bits_are_those_of_the_definition_on_every_tier() {
        for (length, first) in [(1 << 6, 0), (1 << 12, (1 << 40) + 7)] {
            let vector = drawn(length, 1);
            let errors = drawn(384, 2);
            for cpu in Cpu::available() {
                let matrix = LocalMatrix::new(cpu, Block::new(99));
                let mut sums = vec![Block::ONES; errors.len()];
                let (mut with_bits, mut bits) = (sums.clone(), vec![Block::ZERO; 3]);
                matrix.encode(&vector, first, &errors, &mut sums);
                matrix.encode_with_bits(&vector, first, &errors, &mut with_bits, &mut bits);
                for (i, error) in errors.iter().enumerate() {
                    let (places, public) = matrix.row(first + i as u64, length);
                    let sum = places.iter().fold(0, |sum, &at| sum ^ vector[at].value());
                    let public = u128::from(public);
                    let tier = cpu.tier();
                    let expected = error.value() & !1 ^ sum ^ public;
                    assert_eq!(sums[i].value(), expected, "{tier}");
                    let whole = error.value() ^ sum;
                    assert_eq!(with_bits[i].value(), whole ^ public, "{tier}");
                    assert_eq!(bits[i / 128].value() >> (i % 128) & 1, whole & 1, "{tier}");
                }
            }
        }
    }

    /// Places by another implementation of AES, from the text above.
    #[test]
    fn places_are_words_of_encrypted_counters() {
        use ::aes::cipher::{BlockCipherEncrypt, KeyInit};
        let key = 0x0123_4567_89ab_cdef_u128;
        let matrix = LocalMatrix::new(Cpu::available()[0], Block::new(key));
        let aes = ::aes::Aes128::new(&key.to_le_bytes().into());
        for row in [0u64, 1, 77, 1 << 33] {
            let mut words = Vec::new();
            for i in 0..2 {
                let mut block = (u128::from(row) * 2 + i).to_le_bytes().into();
                aes.encrypt_block(&mut block);
                let value = u128::from_le_bytes(block.into());
                words.extend([value as u64, (value >> 64) as u64]);
            }
            let numbers: Vec<usize> = (0..ONES)
                .map(|i| (words[i / 3] >> (21 * (i % 3)) & 0x3ffff) as usize)
                .collect();
            let (places, public) = matrix.row(row, 1 << 18);
            assert_eq!(places[..], numbers[..]);
            assert_eq!(public, words[3] >> 63 == 1);
        }
    }

    #[test]
    #[should_panic(expected = "is_power_of_two")]
    fn other_lengths_are_refused() {
        let matrix = LocalMatrix::new(Cpu::available()[0], Block::ZERO);
        matrix.encode(&drawn(100, 1), 0, &drawn(10, 2), &mut drawn(10, 2));
    }
}
