//! The operations of kernels: everything that a CPU tier can do to a vector of blocks.
//!
//! A vector holds [`Lanes::WIDTH`] blocks side by side in 128-bit *lanes*: one in an AES-NI
//! register, two with VAES-256, four with VAES-512 and in the portable tier. Every operation
//! works on all lanes alike and (but for two) moves no data between lanes, so a kernel is written
//! *vertically*: vector `j` of an operand holds its blocks `j*WIDTH..(j+1)*WIDTH`, and the same
//! body computes the same values at every width.
//!
//! Kernels mostly hold four vectors at a time, a **quad**, because four keys are scheduled
//! together (see [`crate::aes`]). A group of 16 blocks is [`Lanes::QUADS`] quads:
//!
//! ```text
//! blocks       0  1  2  3 | 4  5  6  7 | 8  9 10 11 | 12 13 14 15
//! AES-NI       [q0 of 4 xmm ] [q1       ] [q2       ] [q3        ]
//! VAES-256     [q0 of 4 ymm              ] [q1                   ]
//! VAES-512     [q0 of 4 zmm                                      ]
//! ```
//!
//! The trait is sealed and its tokens can be made only by [`Cpu::run`](crate::Cpu::run). Holding
//! one proves that the instructions exist, which is why every method is safe.

use bytemuck::Pod;
use zeroize::Zeroize;

use crate::fresh::{self, SlicedKeys};
use crate::products::Products;
use crate::{Block, GROUP, Tier};

#[cfg(target_arch = "x86_64")]
#[macro_use]
mod registers;
pub(crate) mod gather;
#[cfg(target_arch = "x86_64")]
mod interleave;
pub(crate) mod portable;
mod sbox;
mod streams;
#[cfg(target_arch = "x86_64")]
#[macro_use]
mod fresh_rounds;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86;

mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

pub use streams::{MAX_LANES, MAX_UNIT, SPARE_BYTES, Spare, Streams};

/// The most blocks of a vector.
pub const MAX_WIDTH: usize = 4;

/// Four vectors: `4 * WIDTH` blocks in order.
pub type Quad<L> = [<L as Lanes>::V; 4];

/// Two quads, as many as keep the AES units busy.
pub type Pair<L> = [Quad<L>; 2];

/// The operations of one CPU tier.
pub trait Lanes: Copy + Sealed {
    /// A vector of [`WIDTH`](Lanes::WIDTH) blocks: plain bytes, so that single lanes can be read
    /// and written where a vector lies in memory.
    type V: Pod;
    /// The tier whose operations these are.
    const TIER: Tier;
    /// Blocks in a vector: 1, 2 or 4.
    const WIDTH: usize;
    /// Blocks in a quad.
    const QUAD: usize = 4 * Self::WIDTH;
    /// Quads in a group of 16 blocks.
    const QUADS: usize = GROUP / Self::QUAD;
    /// The numbers of the blocks of a quad as sliced words: word `m` of lane `l` belongs to lane
    /// `l` of vector `m`, that is to block `m * WIDTH + l`.
    const SLICED_NUMBERS: [Block; 4] = sliced_numbers(Self::WIDTH);

    /// The first `WIDTH` blocks of `from`, which may lie at any address.
    fn load(self, from: &[Block]) -> Self::V;
    /// Writes the first `WIDTH` blocks of `to`.
    fn store(self, to: &mut [Block], v: Self::V);
    /// The first `16 * WIDTH` bytes of `from`, which may lie at any address.
    fn load_bytes(self, from: &[u8]) -> Self::V;
    /// Writes the first `16 * WIDTH` bytes of `to`.
    fn store_bytes(self, to: &mut [u8], v: Self::V);
    /// Writes lane `l` to `to[l * stride]`.
    fn store_strided(self, to: &mut [Block], stride: usize, v: Self::V);
    /// One block in every lane.
    fn splat(self, block: Block) -> Self::V;
    /// One 32-bit word in every word of every lane.
    fn splat_word(self, word: u32) -> Self::V;

    /// Bitwise exclusive or.
    fn xor(self, a: Self::V, b: Self::V) -> Self::V;
    /// Returns the same vector, opaque to the optimiser: sums before it stay as they are written
    /// and are not reordered into a longer chain. It compiles to no instruction.
    fn optimization_barrier(self, v: Self::V) -> Self::V;
    /// Bitwise and.
    fn and(self, a: Self::V, b: Self::V) -> Self::V;
    /// All ones in a lane whose bit 0 is set, zero elsewhere.
    fn permute_mask(self, v: Self::V) -> Self::V;
    /// The linear orthomorphism `xL || xR -> (xL ^ xR) || xL` of Guo, Katz, Wang and Yu.
    fn sigma(self, v: Self::V) -> Self::V;
    /// Each 64-bit half shifted left by `N`, one of 1, 2, 4 and 63.
    fn shl64<const N: u32>(self, v: Self::V) -> Self::V;
    /// Each 64-bit half shifted right by `N`, one of 1, 2, 4 and 63.
    fn shr64<const N: u32>(self, v: Self::V) -> Self::V;

    /// Bytes 0 to 7 of `a` and of `b`, alternating.
    fn zip_lo8(self, a: Self::V, b: Self::V) -> Self::V;
    /// Bytes 8 to 15 of `a` and of `b`, alternating.
    fn zip_hi8(self, a: Self::V, b: Self::V) -> Self::V;
    /// Words 0 and 1 of `a` and of `b`, alternating.
    fn zip_lo32(self, a: Self::V, b: Self::V) -> Self::V;
    /// Words 2 and 3 of `a` and of `b`, alternating.
    fn zip_hi32(self, a: Self::V, b: Self::V) -> Self::V;
    /// The lower half of `a`, then that of `b`.
    fn zip_lo64(self, a: Self::V, b: Self::V) -> Self::V;
    /// The upper half of `a`, then that of `b`.
    fn zip_hi64(self, a: Self::V, b: Self::V) -> Self::V;
    /// The 16 bytes of every lane in reverse order.
    fn reverse_bytes(self, v: Self::V) -> Self::V;
    /// Each lane, as a little-endian integer, shifted left by `N` bytes, 1 to 15.
    fn shl_bytes<const N: i32>(self, v: Self::V) -> Self::V;
    /// Each lane, as a little-endian integer, shifted right by `N` bytes, 1 to 15.
    fn shr_bytes<const N: i32>(self, v: Self::V) -> Self::V;

    /// One AES round: ShiftRows, SubBytes, MixColumns, then the key.
    fn aes_round(self, v: Self::V, key: Self::V) -> Self::V;
    /// The last AES round, which has no MixColumns.
    fn aes_last(self, v: Self::V, key: Self::V) -> Self::V;
    /// RotWord on every word, composed with the inverse of ShiftRows, so that a last AES round
    /// turns a sliced word into SubWord(RotWord(w)) ^ key for four keys at once.
    fn rotate_words(self, v: Self::V) -> Self::V;
    /// Rounds 1 to 9 under one key for all, on eight vectors: as many as keep the AES units
    /// busy (two a cycle, four cycles each). The x86 tiers write them as one block of assembly,
    /// because the compiler serialises the chains again otherwise, and spills.
    fn nine_rounds(self, states: &mut [Self::V; 8], keys: &[Block; 11]);

    /// Rounds 1 to 9 on eight vectors, where block `i` of a vector has keys of its own: key `r` of
    /// vector `i` is `keys[r][i]`.
    fn nine_rounds_each(self, states: &mut [Self::V; 8], keys: &[[Self::V; 8]; 11]);

    /// Rounds 1 to 10 on eight vectors, the first four under the keys of one schedule and the
    /// others under those of another. The schedules begin at round 0 and run beside the rounds;
    /// their state afterwards is not defined. The x86 tiers write it as one block of assembly, as
    /// the rounds under given keys: sixteen registers suffice, but not for the compiler.
    #[inline(always)]
    fn fresh_rounds_each(self, states: &mut [Self::V; 8], schedules: &mut [SlicedKeys<Self>; 2]) {
        fresh::rounds_each(self, states, schedules);
    }
    /// As [`fresh_rounds_each`](Lanes::fresh_rounds_each), both fours under the keys of one
    /// schedule.
    #[inline(always)]
    fn fresh_rounds_shared(self, states: &mut [Self::V; 8], schedule: &mut SlicedKeys<Self>) {
        fresh::rounds_shared(self, states, schedule);
    }

    /// One round of the equivalent inverse cipher (FIPS 197, section 5.3.5): InvShiftRows,
    /// InvSubBytes, InvMixColumns, then the key. It has the shape of a round of encryption, so the
    /// three operations below mirror the three above.
    fn aes_unround(self, v: Self::V, key: Self::V) -> Self::V;
    /// The last round of the inverse cipher, which has no InvMixColumns.
    fn aes_unlast(self, v: Self::V, key: Self::V) -> Self::V;
    /// As [`nine_rounds`](Lanes::nine_rounds), of the inverse cipher. Key 1 is used first.
    fn nine_unrounds(self, states: &mut [Self::V; 8], keys: &[Block; 11]);
    /// As [`nine_rounds_each`](Lanes::nine_rounds_each), of the inverse cipher.
    fn nine_unrounds_each(self, states: &mut [Self::V; 8], keys: &[[Self::V; 8]; 11]);

    /// As [`nine_rounds`](Lanes::nine_rounds), with products beside them: see
    /// [`encrypt_interleaved`](crate::products::encrypt_interleaved).
    #[inline(always)]
    fn nine_rounds_interleaved(
        self,
        states: &mut [Self::V; 8],
        keys: &[Block; 11],
        products: &Products<'_>,
    ) -> [[Self::V; 3]; 2] {
        self.nine_rounds(states, keys);
        products.sums(self)
    }

    /// The carry-less product of one 64-bit half of `a` with one of `b`; bit 0 of `HALVES`
    /// chooses the upper half of `a`, bit 4 that of `b`.
    fn clmul<const HALVES: i32>(self, a: Self::V, b: Self::V) -> Self::V;
    /// The carry-less product of one 64-bit half of `v`, the upper if `HALVES` is 1, with a
    /// constant.
    #[inline(always)]
    fn clmul_by<const HALVES: i32, const FACTOR: u64>(self, v: Self::V) -> Self::V {
        self.clmul::<HALVES>(v, self.splat(Block::new(FACTOR as u128)))
    }

    /// Words 0 and 2 of `even`, words 1 and 3 of `odd`, each in its place.
    fn blend_words(self, even: Self::V, odd: Self::V) -> Self::V;
    /// Words 0 and 1 exchanged, and words 2 and 3.
    fn swap_words(self, v: Self::V) -> Self::V;

    /// Each 32-bit word of `a` plus that of `b`, modulo 2^32.
    fn add32(self, a: Self::V, b: Self::V) -> Self::V;
    /// Each 64-bit half of `a` plus that of `b`, modulo 2^64.
    fn add64(self, a: Self::V, b: Self::V) -> Self::V;
    /// Times x in GF(2^128) in polynomial order; see [`crate::gf`].
    fn double(self, v: Self::V) -> Self::V;
    /// Times x in the same field, in the order of blocks: byte 0 has the highest powers.
    fn double_blocks(self, v: Self::V) -> Self::V;
    /// Times x to the power of 8 * `BYTES`, which is 1, 2 or 4, in the same field.
    fn double_bytes<const BYTES: usize>(self, v: Self::V) -> Self::V;

    /// The blocks before those of `v`, of which the first is the last of `before`. This,
    /// [`next`](Lanes::next) and [`last`](Lanes::last) alone move data between lanes, for sums that
    /// run over all of them and for masks that neighbours share.
    fn previous(self, before: Self::V, v: Self::V) -> Self::V;
    /// The blocks after those of `v`, of which the last is the first of `after`.
    fn next(self, v: Self::V, after: Self::V) -> Self::V;
    /// The last block in every lane.
    fn last(self, v: Self::V) -> Self::V;
    /// The first `WIDTH` of blocks at any addresses.
    fn collect(self, from: [&Block; MAX_WIDTH]) -> Self::V;
    /// The same vector with another block in its last lane.
    fn with_last(self, v: Self::V, block: Block) -> Self::V;
    /// Block `block` of unit `unit` of `WIDTH` neighbouring streams, from number `stream` on.
    ///
    /// # Panics
    /// If there is no such block or stream.
    fn load_streams(self, from: &Streams<'_>, stream: usize, unit: usize, block: usize) -> Self::V;
    /// Writes what [`load_streams`](Lanes::load_streams) reads.
    ///
    /// # Panics
    /// If there is no such block or stream.
    fn store_streams(
        self,
        to: &mut Streams<'_>,
        stream: usize,
        unit: usize,
        block: usize,
        v: Self::V,
    );

    /// Block 0 of unit `unit` of `WIDTH` neighbouring streams, where [`Streams::in_rows`].
    ///
    /// # Panics
    /// If blocks do not lie in rows, or there is no such unit or stream.
    fn load_row(self, from: &Streams<'_>, stream: usize, unit: usize) -> Self::V;
    /// Writes what [`load_row`](Lanes::load_row) reads.
    ///
    /// # Panics
    /// As [`load_row`](Lanes::load_row).
    fn store_row(self, to: &mut Streams<'_>, stream: usize, unit: usize, v: Self::V);

    /// Erases vectors where they lie, in a way that the compiler does not leave out.
    #[inline(always)]
    fn wipe(self, vectors: &mut [Self::V]) {
        streams::wipe(vectors, self.splat(Block::ZERO));
    }

    /// `N` vectors from the first `N * WIDTH` blocks.
    #[inline(always)]
    fn load_vectors<const N: usize>(self, from: &[Block]) -> [Self::V; N] {
        let from = &from[..N * Self::WIDTH];
        let mut vectors = [self.splat(Block::ZERO); N];
        for m in 0..N {
            vectors[m] = self.load(&from[m * Self::WIDTH..]);
        }
        vectors
    }

    /// Writes vectors to the first `N * WIDTH` blocks.
    #[inline(always)]
    fn store_vectors<const N: usize>(self, to: &mut [Block], vectors: &[Self::V; N]) {
        let to = &mut to[..N * Self::WIDTH];
        for m in 0..N {
            self.store(&mut to[m * Self::WIDTH..], vectors[m]);
        }
    }

    /// A quad from the first `QUAD` blocks.
    #[inline(always)]
    fn load_quad(self, from: &[Block]) -> Quad<Self> {
        self.load_vectors(from)
    }

    /// Writes a quad to the first `QUAD` blocks.
    #[inline(always)]
    fn store_quad(self, to: &mut [Block], quad: Quad<Self>) {
        self.store_vectors(to, &quad);
    }

    /// Two quads from the first `2 * QUAD` blocks.
    #[inline(always)]
    fn load_pair(self, from: &[Block]) -> Pair<Self> {
        [self.load_quad(from), self.load_quad(&from[Self::QUAD..])]
    }

    /// Writes two quads to the first `2 * QUAD` blocks.
    #[inline(always)]
    fn store_pair(self, to: &mut [Block], [low, high]: Pair<Self>) {
        self.store_quad(to, low);
        self.store_quad(&mut to[Self::QUAD..], high);
    }

    /// The exclusive or of all lanes.
    #[inline(always)]
    fn sum_of_lanes(self, v: Self::V) -> Block {
        let mut lanes = [Block::ZERO; MAX_WIDTH];
        self.store(&mut lanes, v);
        let mut sum = lanes[0];
        for lane in 1..Self::WIDTH {
            sum ^= lanes[lane];
        }
        lanes.zeroize();
        sum
    }

    /// A quad from the first `16 * QUAD` bytes.
    #[inline(always)]
    fn load_quad_bytes(self, from: &[u8]) -> Quad<Self> {
        let from = &from[..16 * Self::QUAD];
        let mut quad = [self.splat(Block::ZERO); 4];
        for m in 0..4 {
            quad[m] = self.load_bytes(&from[16 * m * Self::WIDTH..]);
        }
        quad
    }

    /// Writes a quad to the first `16 * QUAD` bytes.
    #[inline(always)]
    fn store_quad_bytes(self, to: &mut [u8], quad: Quad<Self>) {
        let to = &mut to[..16 * Self::QUAD];
        for m in 0..4 {
            self.store_bytes(&mut to[16 * m * Self::WIDTH..], quad[m]);
        }
    }

    /// Bitwise exclusive or of two quads.
    #[inline(always)]
    fn xor_quad(self, a: Quad<Self>, b: Quad<Self>) -> Quad<Self> {
        let mut out = a;
        for m in 0..4 {
            out[m] = self.xor(a[m], b[m]);
        }
        out
    }

    /// Within each lane, the 4 x 4 matrix of words whose row `m` is vector `m`, transposed. It
    /// turns four keys into sliced words, and back.
    #[inline(always)]
    fn transpose_words(self, quad: Quad<Self>) -> Quad<Self> {
        let lo01 = self.zip_lo32(quad[0], quad[1]);
        let lo23 = self.zip_lo32(quad[2], quad[3]);
        let hi01 = self.zip_hi32(quad[0], quad[1]);
        let hi23 = self.zip_hi32(quad[2], quad[3]);
        [
            self.zip_lo64(lo01, lo23),
            self.zip_hi64(lo01, lo23),
            self.zip_lo64(hi01, hi23),
            self.zip_hi64(hi01, hi23),
        ]
    }
}

/// The vectors of two quads.
#[inline(always)]
pub(crate) fn joined<V>([[a0, a1, a2, a3], [b0, b1, b2, b3]]: [[V; 4]; 2]) -> [V; 8] {
    [a0, a1, a2, a3, b0, b1, b2, b3]
}

/// Two quads of these vectors.
#[inline(always)]
pub(crate) fn split<V>([a0, a1, a2, a3, b0, b1, b2, b3]: [V; 8]) -> [[V; 4]; 2] {
    [[a0, a1, a2, a3], [b0, b1, b2, b3]]
}

const fn sliced_numbers(width: usize) -> [Block; 4] {
    let mut out = [Block::ZERO; 4];
    let mut lane = 0;
    while lane < width {
        let mut value = 0;
        let mut m = 0;
        while m < 4 {
            value |= ((m * width + lane) as u128) << (32 * m);
            m += 1;
        }
        out[lane] = Block::new(value);
        lane += 1;
    }
    out
}

#[cfg(test)]
mod tests;
