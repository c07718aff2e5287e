//! The portable tier: integer code without tables or secret branches. It has the four lanes of
//! VAES-512, so the shape of every kernel is tested on machines that lack wide registers.
//!
//! Operations of more than a few instructions are called, not inlined: a block takes two integer
//! registers, so a kernel keeps its vectors in memory here in any case, and inlined operations were
//! a third of all machine code and nearly half of the time in which kernels compile.

use super::{Lanes, MAX_WIDTH, Streams, sbox, sealed::Sealed};
use crate::{Block, Tier};

/// The token of the portable tier, which every machine can run.
#[derive(Clone, Copy)]
pub struct Portable;

impl Sealed for Portable {}

/// Four lanes.
type Four = [u128; 4];

impl Lanes for Portable {
    type V = Four;
    const TIER: Tier = Tier::Portable;
    const WIDTH: usize = 4;

    #[inline(always)]
    fn load(self, from: &[Block]) -> Four {
        let from = &from[..4];
        [
            from[0].value(),
            from[1].value(),
            from[2].value(),
            from[3].value(),
        ]
    }
    #[inline(always)]
    fn store(self, to: &mut [Block], v: Four) {
        to[..4].copy_from_slice(&v.map(Block::new));
    }
    #[inline(always)]
    fn load_bytes(self, from: &[u8]) -> Four {
        let (blocks, _) = from[..64].as_chunks::<16>();
        let mut v = [0; 4];
        for (lane, block) in v.iter_mut().zip(blocks) {
            *lane = u128::from_le_bytes(*block);
        }
        v
    }
    #[inline(always)]
    fn store_bytes(self, to: &mut [u8], v: Four) {
        let (blocks, _) = to[..64].as_chunks_mut::<16>();
        for (block, lane) in blocks.iter_mut().zip(v) {
            *block = lane.to_le_bytes();
        }
    }
    #[inline(never)]
    fn store_strided(self, to: &mut [Block], stride: usize, v: Four) {
        for (lane, value) in v.into_iter().enumerate() {
            to[lane * stride] = Block::new(value);
        }
    }
    #[inline(always)]
    fn splat(self, block: Block) -> Four {
        [block.value(); 4]
    }
    #[inline(always)]
    fn splat_word(self, word: u32) -> Four {
        self.splat(Block::from_word(word))
    }

    #[inline(always)]
    fn optimization_barrier(self, v: Four) -> Four {
        v
    }
    #[inline(always)]
    fn xor(self, a: Four, b: Four) -> Four {
        xor(a, b)
    }
    #[inline(always)]
    fn and(self, a: Four, b: Four) -> Four {
        zip(a, b, |a, b| a & b)
    }
    #[inline(always)]
    fn permute_mask(self, v: Four) -> Four {
        // The barrier of `mask` is needed: without it the compiler has made branches of masks.
        mapped(v, |x| Block::mask(x as u8).value())
    }
    #[inline(always)]
    fn sigma(self, v: Four) -> Four {
        v.map(|x| x.rotate_left(64) ^ (x >> 64 << 64))
    }
    #[inline(always)]
    fn shl64<const N: u32>(self, v: Four) -> Four {
        v.map(|x| join((x as u64) << N, ((x >> 64) as u64) << N))
    }
    #[inline(always)]
    fn shr64<const N: u32>(self, v: Four) -> Four {
        v.map(|x| join((x as u64) >> N, ((x >> 64) as u64) >> N))
    }

    #[inline(always)]
    fn zip_lo8(self, a: Four, b: Four) -> Four {
        zip(a, b, |a, b| {
            spread_bytes(a as u64) | spread_bytes(b as u64) << 8
        })
    }
    #[inline(always)]
    fn zip_hi8(self, a: Four, b: Four) -> Four {
        zip(a, b, |a, b| {
            spread_bytes((a >> 64) as u64) | spread_bytes((b >> 64) as u64) << 8
        })
    }
    #[inline(always)]
    fn zip_lo32(self, a: Four, b: Four) -> Four {
        zip(a, b, |a, b| {
            spread_words(a as u64) | spread_words(b as u64) << 32
        })
    }
    #[inline(always)]
    fn zip_hi32(self, a: Four, b: Four) -> Four {
        zip(a, b, |a, b| {
            spread_words((a >> 64) as u64) | spread_words((b >> 64) as u64) << 32
        })
    }
    #[inline(always)]
    fn zip_lo64(self, a: Four, b: Four) -> Four {
        zip(a, b, |a, b| join(a as u64, b as u64))
    }
    #[inline(always)]
    fn zip_hi64(self, a: Four, b: Four) -> Four {
        zip(a, b, |a, b| join((a >> 64) as u64, (b >> 64) as u64))
    }
    #[inline(always)]
    fn reverse_bytes(self, v: Four) -> Four {
        mapped(v, u128::swap_bytes)
    }
    #[inline(always)]
    fn shl_bytes<const N: i32>(self, v: Four) -> Four {
        mapped(v, |x| x << (8 * N))
    }
    #[inline(always)]
    fn shr_bytes<const N: i32>(self, v: Four) -> Four {
        mapped(v, |x| x >> (8 * N))
    }

    #[inline(always)]
    fn aes_round(self, v: Four, key: Four) -> Four {
        binary(v, key, round)
    }
    #[inline(always)]
    fn aes_last(self, v: Four, key: Four) -> Four {
        binary(v, key, |v, key| xor(substitute_shifted(v), key))
    }
    #[inline(always)]
    fn rotate_words(self, v: Four) -> Four {
        mapped(v, |x| unshift_rows(rotate_columns(x, 8)))
    }
    #[inline(never)]
    fn nine_rounds(self, states: &mut [Four; 8], keys: &[Block; 11]) {
        nine(states, |r, _| self.splat(keys[r]), round);
    }
    #[inline(never)]
    fn nine_rounds_each(self, states: &mut [Four; 8], keys: &[[Four; 8]; 11]) {
        nine(states, |r, i| keys[r][i], round);
    }

    #[inline(always)]
    fn aes_unround(self, v: Four, key: Four) -> Four {
        binary(v, key, unround)
    }
    #[inline(always)]
    fn aes_unlast(self, v: Four, key: Four) -> Four {
        binary(v, key, |v, key| xor(unsubstitute_shifted(v), key))
    }
    #[inline(never)]
    fn nine_unrounds(self, states: &mut [Four; 8], keys: &[Block; 11]) {
        nine(states, |r, _| self.splat(keys[r]), unround);
    }
    #[inline(never)]
    fn nine_unrounds_each(self, states: &mut [Four; 8], keys: &[[Four; 8]; 11]) {
        nine(states, |r, i| keys[r][i], unround);
    }

    #[inline(always)]
    fn clmul<const HALVES: i32>(self, a: Four, b: Four) -> Four {
        zipped(a, b, |a, b| {
            let a = if HALVES & 0x01 != 0 { a >> 64 } else { a };
            let b = if HALVES & 0x10 != 0 { b >> 64 } else { b };
            carryless_product(a as u64, b as u64)
        })
    }
    #[inline(always)]
    fn clmul_by<const HALVES: i32, const FACTOR: u64>(self, v: Four) -> Four {
        // Most of the work on a constant is done by the compiler.
        mapped(v, |x| {
            carryless_product((if HALVES == 0x01 { x >> 64 } else { x }) as u64, FACTOR)
        })
    }

    #[inline(always)]
    fn blend_words(self, even: Four, odd: Four) -> Four {
        zipped(even, odd, |a, b| (a & EVEN_WORDS) | (b & !EVEN_WORDS))
    }
    #[inline(always)]
    fn swap_words(self, v: Four) -> Four {
        mapped(v, |x| (x & EVEN_WORDS) << 32 | (x >> 32 & EVEN_WORDS))
    }

    #[inline(always)]
    fn add32(self, a: Four, b: Four) -> Four {
        // Words 0 and 2, then 1 and 3: the word between takes the carry, and is cut off.
        zipped(a, b, |a, b| {
            let even = (a & EVEN_WORDS).wrapping_add(b & EVEN_WORDS);
            let odd = (a >> 32 & EVEN_WORDS).wrapping_add(b >> 32 & EVEN_WORDS);
            (even & EVEN_WORDS) | (odd & EVEN_WORDS) << 32
        })
    }
    #[inline(always)]
    fn add64(self, a: Four, b: Four) -> Four {
        zipped(a, b, |a, b| {
            let low = (a as u64).wrapping_add(b as u64);
            join(low, ((a >> 64) as u64).wrapping_add((b >> 64) as u64))
        })
    }
    #[inline(always)]
    fn double(self, v: Four) -> Four {
        mapped(v, |x| {
            x << 1 ^ Block::new(0x87).masked((x >> 127) as u8).value()
        })
    }
    #[inline(always)]
    fn double_blocks(self, v: Four) -> Four {
        unary(v, |v| {
            self.reverse_bytes(self.double(self.reverse_bytes(v)))
        })
    }
    #[inline(always)]
    fn double_bytes<const BYTES: usize>(self, v: Four) -> Four {
        mapped(v, |x| {
            let top = x >> (128 - 8 * BYTES);
            x << (8 * BYTES) ^ top ^ top << 1 ^ top << 2 ^ top << 7
        })
    }
    #[inline(always)]
    fn previous(self, before: Four, v: Four) -> Four {
        binary(before, v, |before, v| [before[3], v[0], v[1], v[2]])
    }
    #[inline(always)]
    fn next(self, v: Four, after: Four) -> Four {
        binary(v, after, |v, after| [v[1], v[2], v[3], after[0]])
    }
    #[inline(always)]
    fn last(self, v: Four) -> Four {
        unary(v, |v| [v[3]; 4])
    }
    #[inline(always)]
    fn collect(self, from: [&Block; MAX_WIDTH]) -> Four {
        from.map(|block| block.value())
    }
    #[inline(always)]
    fn with_last(self, v: Four, block: Block) -> Four {
        [v[0], v[1], v[2], block.value()]
    }
    #[inline(never)]
    fn load_streams(self, from: &Streams<'_>, stream: usize, unit: usize, block: usize) -> Four {
        let mut v = [0; 4];
        for (lane, value) in v.iter_mut().enumerate() {
            *value = from.read(stream + lane, unit, block);
        }
        v
    }
    #[inline(never)]
    fn store_streams(
        self,
        to: &mut Streams<'_>,
        stream: usize,
        unit: usize,
        block: usize,
        v: Four,
    ) {
        for (lane, value) in v.into_iter().enumerate() {
            to.write(stream + lane, unit, block, value);
        }
    }
    #[inline(always)]
    fn load_row(self, from: &Streams<'_>, stream: usize, unit: usize) -> Four {
        self.load_streams(from, stream, unit, 0)
    }
    #[inline(always)]
    fn store_row(self, to: &mut Streams<'_>, stream: usize, unit: usize, v: Four) {
        self.store_streams(to, stream, unit, 0, v);
    }
}

/// Words 0 and 2 of a block.
const EVEN_WORDS: u128 = 0x00000000_ffffffff_00000000_ffffffff;

/// Calls an operation on one vector. The operands go by reference: the value of an array would be
/// copied for each call.
#[inline(always)]
fn unary(v: Four, operation: impl Fn(Four) -> Four) -> Four {
    #[inline(never)]
    fn call(v: &Four, operation: impl Fn(Four) -> Four) -> Four {
        operation(*v)
    }
    call(&v, operation)
}

/// Calls an operation on two vectors, as [`unary`] does.
#[inline(always)]
fn binary(a: Four, b: Four, operation: impl Fn(Four, Four) -> Four) -> Four {
    #[inline(never)]
    fn call(a: &Four, b: &Four, operation: impl Fn(Four, Four) -> Four) -> Four {
        operation(*a, *b)
    }
    call(&a, &b, operation)
}

/// Calls an operation on the blocks of a vector, as [`unary`] does.
#[inline(always)]
fn mapped(v: Four, operation: impl Fn(u128) -> u128) -> Four {
    unary(v, |v| v.map(&operation))
}

/// Calls an operation on the blocks of two vectors, as [`unary`] does.
#[inline(always)]
fn zipped(a: Four, b: Four, operation: impl Fn(u128, u128) -> u128) -> Four {
    binary(a, b, |a, b| zip(a, b, &operation))
}

#[inline(always)]
fn xor(a: Four, b: Four) -> Four {
    zip(a, b, |a, b| a ^ b)
}

#[inline(always)]
fn zip(a: Four, b: Four, f: impl Fn(u128, u128) -> u128) -> Four {
    [f(a[0], b[0]), f(a[1], b[1]), f(a[2], b[2]), f(a[3], b[3])]
}

#[inline(always)]
fn join(low: u64, high: u64) -> u128 {
    low as u128 | (high as u128) << 64
}

/// The bytes of `x` in the even bytes of the result.
#[inline(always)]
fn spread_bytes(x: u64) -> u128 {
    let x = spread_words(x);
    let x = (x | x << 16) & 0x0000ffff_0000ffff_0000ffff_0000ffff;
    (x | x << 8) & 0x00ff00ff_00ff00ff_00ff00ff_00ff00ff
}

/// The words of `x` in the even words of the result.
#[inline(always)]
fn spread_words(x: u64) -> u128 {
    join(x & 0xffff_ffff, x >> 32)
}

/// Rounds 1 to 9 on eight vectors, where `key(r, i)` is key `r` of vector `i`.
#[inline(always)]
fn nine(
    states: &mut [Four; 8],
    key: impl Fn(usize, usize) -> Four,
    round: impl Fn(Four, Four) -> Four,
) {
    for r in 1..10 {
        for i in 0..8 {
            states[i] = round(states[i], key(r, i));
        }
    }
}

/// A round of encryption.
#[inline(always)]
fn round(v: Four, key: Four) -> Four {
    xor(substitute_shifted(v).map(mix_columns), key)
}

/// A round of decryption; see [`Lanes::aes_unround`].
#[inline(always)]
fn unround(v: Four, key: Four) -> Four {
    xor(unsubstitute_shifted(v).map(unmix_columns), key)
}

/// ShiftRows and SubBytes on four blocks.
#[inline(never)]
fn substitute_shifted(v: Four) -> Four {
    let mut words = to_words(v, shift_rows);
    sbox::substitute(&mut words);
    from_words(words)
}

/// The inverse of [`substitute_shifted`]; its two steps commute.
#[inline(never)]
fn unsubstitute_shifted(v: Four) -> Four {
    let mut words = to_words(v, unshift_rows);
    sbox::unsubstitute(&mut words);
    from_words(words)
}

/// The words of four blocks whose rows are shifted on the way.
#[inline(always)]
fn to_words(v: Four, shift: impl Fn(u128) -> u128) -> [u64; 8] {
    let mut words = [0; 8];
    for lane in 0..4 {
        let state = shift(v[lane]);
        words[2 * lane] = state as u64;
        words[2 * lane + 1] = (state >> 64) as u64;
    }
    words
}

#[inline(always)]
fn from_words(words: [u64; 8]) -> Four {
    let mut v = [0; 4];
    for lane in 0..4 {
        v[lane] = join(words[2 * lane], words[2 * lane + 1]);
    }
    v
}

/// Row 0 of an AES state: byte 0 of each column.
const ROW: u128 = 0x000000ff_000000ff_000000ff_000000ff;

/// FIPS 197, section 5.1.2: row `r` moves left by `r` columns.
#[inline(always)]
fn shift_rows(x: u128) -> u128 {
    (x & ROW)
        | (x & ROW << 8).rotate_right(32)
        | (x & ROW << 16).rotate_right(64)
        | (x & ROW << 24).rotate_right(96)
}

/// The inverse of [`shift_rows`].
#[inline(always)]
fn unshift_rows(x: u128) -> u128 {
    (x & ROW)
        | (x & ROW << 8).rotate_left(32)
        | (x & ROW << 16).rotate_left(64)
        | (x & ROW << 24).rotate_left(96)
}

/// Every 32-bit column rotated right by 8 or 16 bits: byte `r` becomes byte `r+1` or `r+2`.
#[inline(always)]
fn rotate_columns(x: u128, bits: u32) -> u128 {
    let low = Block::from_word(u32::MAX >> bits).value();
    (x >> bits & low) | (x << (32 - bits) & !low)
}

/// FIPS 197, section 5.1.3, with the factor 2 taken out: `2(a0 + a1) + a1 + a2 + a3`.
#[inline(always)]
fn mix_columns(x: u128) -> u128 {
    let next = rotate_columns(x, 8);
    let sum = x ^ next;
    double(sum) ^ next ^ rotate_columns(sum, 16)
}

/// The inverse of [`mix_columns`] (FIPS 197, section 5.3.3): its matrix, of the rows 14, 11, 13, 9
/// in turn, is that of `mix_columns` times one of the rows 5, 0, 4, 0.
#[inline(always)]
fn unmix_columns(x: u128) -> u128 {
    let sum = x ^ rotate_columns(x, 16);
    mix_columns(x ^ double(double(sum)))
}

/// Every byte times 2 in the field of AES.
#[inline(always)]
fn double(x: u128) -> u128 {
    const LOW_BITS: u128 = 0x01010101_01010101_01010101_01010101;
    let carries = x >> 7 & LOW_BITS;
    // 0x1b = 1 + 2 + 8 + 16.
    (x & !(LOW_BITS << 7)) << 1 ^ carries ^ carries << 1 ^ carries << 3 ^ carries << 4
}

/// The carry-less product of two 64-bit polynomials, from integer products.
#[inline(never)]
fn carryless_product(a: u64, b: u64) -> u128 {
    let low = carryless_low(a, b);
    // Reversing both operands reverses the 127-bit product, so the low half of the reversed
    // product gives the upper half.
    let high = carryless_low(a.reverse_bits(), b.reverse_bits()).reverse_bits() >> 1;
    join(low, high)
}

/// The low 64 bits of the carry-less product. Operands are split into four, each with one bit in
/// four set, so that at most 16 ones meet in a bit position and their sum stays below the next
/// position of the same class; position 60, where it could reach 16, carries out of the word.
#[inline(always)]
fn carryless_low(a: u64, b: u64) -> u64 {
    const CLASS: u64 = 0x1111_1111_1111_1111;
    let mut sum = 0;
    for class in 0..4 {
        let mut part = 0u64;
        for i in 0..4 {
            let j = (4 + class - i) % 4;
            part ^= (a & CLASS << i).wrapping_mul(b & CLASS << j);
        }
        sum |= part & CLASS << class;
    }
    sum
}
