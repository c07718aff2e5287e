//! The x86-64 tiers: the same adaptor over three families of intrinsics.
//!
//! A token of this module exists only inside the matching `run_*` function, which `Cpu::run`
//! calls only on a machine that has the instructions. That is the fact behind every `unsafe`
//! here: the intrinsics are called from methods that carry no `#[target_feature]`, because a
//! trait method cannot, and they become instructions once they are inlined into `run_*`.

use std::arch::asm;
use std::arch::x86_64::*;
use std::is_x86_feature_detected as has;

use super::fresh_rounds::CONSTANTS;
use super::interleave::{
    nine_rounds_interleaved_128, nine_rounds_interleaved_256, nine_rounds_interleaved_512,
};
use super::{Lanes, MAX_WIDTH, Streams, sealed::Sealed};
use crate::fresh::SlicedKeys;
use crate::products::Products;
use crate::{Block, Kernel, Tier};

/// AES-NI with AVX encodings on 128-bit registers.
#[derive(Clone, Copy)]
pub struct AesNi(());

/// VAES and AVX2 on 256-bit registers.
#[derive(Clone, Copy)]
pub struct Vaes256(());

/// VAES and AVX-512 on 512-bit registers.
#[derive(Clone, Copy)]
pub struct Vaes512(());

pub(crate) fn has_aesni() -> bool {
    has!("aes") && has!("pclmulqdq") && has!("avx")
}

pub(crate) fn has_vaes256() -> bool {
    has_aesni() && has!("avx2") && has!("vaes") && has!("vpclmulqdq")
}

pub(crate) fn has_vaes512() -> bool {
    let avx512 = has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl");
    has_vaes256() && avx512
}

/// Rounds 1 to 9 on eight registers, by the instruction of one direction: under one key for all,
/// and each under keys of its own.
macro_rules! nine_rounds {
    (
        $round:literal, $one:ident $each:ident,
        $vector:ty, $features:literal, $register:ident $size:literal $spread:literal
    ) => {
        /// Rounds 1 to 9 on eight registers; the ninth holds the round key, in every lane.
        #[inline]
        #[target_feature(enable = $features)]
        fn $one(states: &mut [$vector; 8], keys: &[Block; 11]) {
            // A typed variable, because the compiler may choose a register of another class for
            // an anonymous one.
            let _key: $vector;
            // SAFETY: the assembly reads keys 1 to 9 of the eleven at `keys` and writes nothing
            // but the registers it names.
            unsafe {
                on_eight!($register, states, [
                    ".irp round, 1, 2, 3, 4, 5, 6, 7, 8, 9",
                    concat!($spread, " {key}, [{keys} + \\round * 16]"),
                    ".irp state, {s0}, {s1}, {s2}, {s3}, {s4}, {s5}, {s6}, {s7}",
                    concat!($round, " \\state, \\state, {key}"),
                    ".endr",
                    ".endr",
                ], [
                    keys = in(reg) keys.as_ptr(),
                    key = out($register) _key,
                ], [pure, readonly, nostack, preserves_flags]);
            }
        }

        /// Rounds 1 to 9 on eight registers, each with round keys of its own in memory.
        #[inline]
        #[target_feature(enable = $features)]
        fn $each(states: &mut [$vector; 8], keys: &[[$vector; 8]; 11]) {
            // SAFETY: the assembly reads keys 1 to 9 of the eleven rows at `keys` and writes
            // nothing but the registers it names.
            unsafe {
                on_eight!($register, states, [
                    ".irp round, 1, 2, 3, 4, 5, 6, 7, 8, 9",
                    concat!($round, " {s0}, {s0}, [{keys} + \\round * 8 * ", $size, "]"),
                    concat!($round, " {s1}, {s1}, [{keys} + (\\round * 8 + 1) * ", $size, "]"),
                    concat!($round, " {s2}, {s2}, [{keys} + (\\round * 8 + 2) * ", $size, "]"),
                    concat!($round, " {s3}, {s3}, [{keys} + (\\round * 8 + 3) * ", $size, "]"),
                    concat!($round, " {s4}, {s4}, [{keys} + (\\round * 8 + 4) * ", $size, "]"),
                    concat!($round, " {s5}, {s5}, [{keys} + (\\round * 8 + 5) * ", $size, "]"),
                    concat!($round, " {s6}, {s6}, [{keys} + (\\round * 8 + 6) * ", $size, "]"),
                    concat!($round, " {s7}, {s7}, [{keys} + (\\round * 8 + 7) * ", $size, "]"),
                    ".endr",
                ], [
                    keys = in(reg) keys.as_ptr(),
                ], [pure, readonly, nostack, preserves_flags]);
            }
        }
    };
}

/// One tier: its entry point, its nine rounds, and its adaptor.
macro_rules! tier {
    (
        $token:ident, $tier:expr, $vector:ty, $width:literal, $run:ident, $features:literal,
        assembly: $register:ident $size:literal $spread:literal, settle: $settle:ident,
        nine_rounds: $nine_rounds:ident $nine_rounds_each:ident,
        nine_unrounds: $nine_unrounds:ident $nine_unrounds_each:ident,
        fresh: $fresh_each:ident $fresh_shared:ident $move:literal $xor_name:literal,
        interleaved: $nine_rounds_interleaved:ident,
        load: $load:ident, store: $store:ident, extract: $extract:ident $lanes:tt,
        splat: $splat:ident, splat_word: $splat_word:ident,
        xor: $xor:ident, and: $and:ident,
        shl64: $shl64:ident, shr64: $shr64:ident, shl32: $shl32:ident, sar32: $sar32:ident,
        shuffle8: $shuffle8:ident, shuffle32: $shuffle32:ident,
        shift_bytes: $shl_bytes:ident $shr_bytes:ident,
        zip8: $zip_lo8:ident $zip_hi8:ident,
        zip32: $zip_lo32:ident $zip_hi32:ident,
        zip64: $zip_lo64:ident $zip_hi64:ident,
        aes: $aes_round:ident $aes_last:ident,
        inverse: $aes_unround:ident $aes_unlast:ident,
        clmul: $clmul:ident, blend32: $blend32:ident,
        add: $add8:ident $add32:ident $add64:ident, top_bits8: $top_bits8:ident, streams: $gather:ident $scatter:ident,
        between: $previous:ident $next:ident $last:ident $with_last:ident,
    ) => {
        /// Compiles a kernel for this tier.
        #[target_feature(enable = $features)]
        pub(crate) fn $run<K: Kernel>(kernel: K) -> K::Output {
            kernel.run($token(()))
        }

        nine_rounds! {
            "vaesenc", $nine_rounds $nine_rounds_each,
            $vector, $features, $register $size $spread
        }
        nine_rounds! {
            "vaesdec", $nine_unrounds $nine_unrounds_each,
            $vector, $features, $register $size $spread
        }

        fresh_rounds! {
            $fresh_each $fresh_shared, $token, $vector, $features,
            $register $size $move $xor_name
        }

        /// The register itself, unchanged, behind an optimisation barrier.
        #[inline]
        #[target_feature(enable = $features)]
        fn $settle(mut v: $vector) -> $vector {
            // SAFETY: there is no instruction in it.
            unsafe {
                asm!("/* {v} */", v = inout($register) v, options(pure, nomem, nostack, preserves_flags));
            }
            v
        }

        impl Sealed for $token {}

        impl Lanes for $token {
            type V = $vector;
            const TIER: Tier = $tier;
            const WIDTH: usize = $width;

            #[inline(always)]
            fn load(self, from: &[Block]) -> $vector {
                let from = &from[..$width];
                // SAFETY: `from` holds as many blocks as are read; loads need no alignment.
                unsafe { $load(from.as_ptr().cast()) }
            }
            #[inline(always)]
            fn store(self, to: &mut [Block], v: $vector) {
                let to = &mut to[..$width];
                // SAFETY: `to` holds as many blocks as are written; stores need no alignment.
                unsafe { $store(to.as_mut_ptr().cast(), v) }
            }
            #[inline(always)]
            fn load_bytes(self, from: &[u8]) -> $vector {
                let from = &from[..16 * $width];
                // SAFETY: `from` holds as many bytes as are read; loads need no alignment.
                unsafe { $load(from.as_ptr().cast()) }
            }
            #[inline(always)]
            fn store_bytes(self, to: &mut [u8], v: $vector) {
                let to = &mut to[..16 * $width];
                // SAFETY: `to` holds as many bytes as are written; stores need no alignment.
                unsafe { $store(to.as_mut_ptr().cast(), v) }
            }
            #[inline(always)]
            fn store_strided(self, to: &mut [Block], stride: usize, v: $vector) {
                store_lanes!(to, stride, v, $extract, $lanes);
            }

            operation!(splat(block: Block) = $splat(to_register(block)));
            operation!(splat_word(word: u32) = $splat_word(word as i32));
            operation!(xor(a: $vector, b: $vector) = $xor(a, b));
            operation!(optimization_barrier(v: $vector) = $settle(v));
            operation!(and(a: $vector, b: $vector) = $and(a, b));
            // The permute bit moves to the top of word 0, fills it, and word 0 fills the lane.
            operation!(permute_mask(v: $vector) =
                $shuffle32::<0b00_00_00_00>($sar32::<31>($shl32::<31>(v))));
            #[inline(always)]
            fn sigma(self, v: $vector) -> $vector {
                let upper = self.splat(Block::new(!0 << 64));
                self.xor(self.swap_halves(v), self.and(v, upper))
            }
            #[inline(always)]
            fn shl64<const N: u32>(self, v: $vector) -> $vector {
                by_shift!(N, $shl64, v)
            }
            #[inline(always)]
            fn shr64<const N: u32>(self, v: $vector) -> $vector {
                by_shift!(N, $shr64, v)
            }

            operation!(zip_lo8(a: $vector, b: $vector) = $zip_lo8(a, b));
            operation!(zip_hi8(a: $vector, b: $vector) = $zip_hi8(a, b));
            operation!(zip_lo32(a: $vector, b: $vector) = $zip_lo32(a, b));
            operation!(zip_hi32(a: $vector, b: $vector) = $zip_hi32(a, b));
            operation!(zip_lo64(a: $vector, b: $vector) = $zip_lo64(a, b));
            operation!(zip_hi64(a: $vector, b: $vector) = $zip_hi64(a, b));
            operation!(aes_round(v: $vector, key: $vector) = $aes_round(v, key));
            operation!(aes_last(v: $vector, key: $vector) = $aes_last(v, key));
            operation!(aes_unround(v: $vector, key: $vector) = $aes_unround(v, key));
            operation!(aes_unlast(v: $vector, key: $vector) = $aes_unlast(v, key));

            #[inline(always)]
            fn reverse_bytes(self, v: $vector) -> $vector {
                self.shuffle(v, REVERSE_BYTES)
            }
            #[inline(always)]
            fn shl_bytes<const N: i32>(self, v: $vector) -> $vector {
                // SAFETY: the token proves that the instruction exists.
                unsafe { $shl_bytes::<N>(v) }
            }
            #[inline(always)]
            fn shr_bytes<const N: i32>(self, v: $vector) -> $vector {
                // SAFETY: the token proves that the instruction exists.
                unsafe { $shr_bytes::<N>(v) }
            }
            #[inline(always)]
            fn rotate_words(self, v: $vector) -> $vector {
                self.shuffle(v, ROTATE_WORDS)
            }
            operation!(nine_rounds(states: &mut [$vector; 8], keys: &[Block; 11]) -> () =
                $nine_rounds(states, keys));
            operation!(nine_rounds_each(states: &mut [$vector; 8], keys: &[[$vector; 8]; 11])
                -> () = $nine_rounds_each(states, keys));
            operation!(fresh_rounds_each(states: &mut [$vector; 8], schedules: &mut [SlicedKeys<Self>; 2])
                -> () = $fresh_each(states, schedules));
            operation!(fresh_rounds_shared(states: &mut [$vector; 8], schedule: &mut SlicedKeys<Self>)
                -> () = $fresh_shared(states, schedule));
            operation!(nine_unrounds(states: &mut [$vector; 8], keys: &[Block; 11]) -> () =
                $nine_unrounds(states, keys));
            operation!(nine_unrounds_each(states: &mut [$vector; 8], keys: &[[$vector; 8]; 11])
                -> () = $nine_unrounds_each(states, keys));
            operation!(nine_rounds_interleaved(states: &mut [$vector; 8], keys: &[Block; 11], products: &Products<'_>)
                -> [[$vector; 3]; 2] = $nine_rounds_interleaved(states, keys, products));
            #[inline(always)]
            fn clmul<const HALVES: i32>(self, a: $vector, b: $vector) -> $vector {
                // SAFETY: the token proves that the instruction exists.
                unsafe { $clmul::<HALVES>(a, b) }
            }

            operation!(blend_words(even: $vector, odd: $vector) = $blend32(even, odd));
            operation!(swap_words(v: $vector) = $shuffle32::<0b10_11_00_01>(v));

            operation!(add32(a: $vector, b: $vector) = $add32(a, b));
            operation!(add64(a: $vector, b: $vector) = $add64(a, b));
            // Each word's top bit moves to the next word; that of the last comes back as 0x87.
            operation!(double(v: $vector) = {
                let tops = $shuffle32::<0b10_01_00_11>($sar32::<31>(v));
                let carries = $and(tops, $splat(to_register(CARRIES)));
                $xor($shl32::<1>(v), carries)
            });
            // Each byte's top bit moves to the byte before; that of byte 0 comes back as 0x87.
            #[inline(always)]
            fn double_blocks(self, v: $vector) -> $vector {
                // SAFETY: the token proves that the instructions exist.
                let (tops, shifted) = unsafe { ($top_bits8(v), $add8(v, v)) };
                let carries = self.splat(BYTE_CARRIES);
                self.xor(shifted, self.and(self.shuffle(tops, rotate_bytes(15)), carries))
            }
            // The top bytes come round to the bottom, where 0x87 times them is added: once they are
            // there already, and 0x86 is left.
            #[inline(always)]
            fn double_bytes<const BYTES: usize>(self, v: $vector) -> $vector {
                let round = self.shuffle(v, rotate_bytes(BYTES));
                let top = self.and(round, self.splat(Block::new((1 << (8 * BYTES)) - 1)));
                self.xor(round, self.clmul::<0x00>(top, self.splat(Block::new(0x86))))
            }
            operation!(previous(before: $vector, v: $vector) = $previous(before, v));
            operation!(next(v: $vector, after: $vector) = $next(v, after));
            operation!(last(v: $vector) = $last(v));
            operation!(with_last(v: $vector, block: Block) = $with_last(v, to_register(block)));
            #[inline(always)]
            fn collect(self, from: [&Block; MAX_WIDTH]) -> $vector {
                let mut at = [std::ptr::null_mut(); $width];
                for lane in 0..$width {
                    at[lane] = std::ptr::from_ref(from[lane]).cast_mut().cast();
                }
                // SAFETY: the token proves that the instructions exist; the addresses are those of
                // blocks, which are read and not written.
                unsafe { $gather(at) }
            }
            #[inline(always)]
            fn load_streams(self, from: &Streams<'_>, stream: usize, unit: usize, block: usize) -> $vector {
                let at = from.places::<$width>(stream, unit, block);
                // SAFETY: the token proves that the instructions exist; `places` gives addresses of
                // sixteen bytes that may be read. The gathered vector is kept whole by a barrier:
                // the compiler would otherwise split it for a later store, and do the operations in
                // between on halves.
                unsafe { $settle($gather(at)) }
            }
            #[inline(always)]
            fn store_streams(self, to: &mut Streams<'_>, stream: usize, unit: usize, block: usize, v: $vector) {
                let at = to.places::<$width>(stream, unit, block);
                // SAFETY: the token proves that the instructions exist; `places` gives addresses
                // of sixteen bytes that may be written, since `to` is borrowed for writing.
                unsafe { $scatter(at, v) }
            }
            #[inline(always)]
            fn load_row(self, from: &Streams<'_>, stream: usize, unit: usize) -> $vector {
                let at = from.row::<$width>(stream, unit);
                // SAFETY: the token proves that the instruction exists; `row` gives the address of
                // as many bytes as are read.
                unsafe { $load(at.cast()) }
            }
            #[inline(always)]
            fn store_row(self, to: &mut Streams<'_>, stream: usize, unit: usize, v: $vector) {
                let at = to.row::<$width>(stream, unit);
                // SAFETY: the token proves that the instruction exists; `row` gives the address of
                // as many bytes as are written, which may be, since `to` is borrowed for writing.
                unsafe { $store(at.cast(), v) }
            }
        }

        impl $token {
            operation!(swap_halves(v: $vector) = $shuffle32::<0b01_00_11_10>(v));

            /// The same byte shuffle in every lane.
            #[inline(always)]
            fn shuffle(self, v: $vector, order: Block) -> $vector {
                let order = self.splat(order);
                // SAFETY: the token proves that the instruction exists.
                unsafe { $shuffle8(v, order) }
            }
        }
    };
}

/// A method that is one or a few intrinsics, or a function of the tier.
macro_rules! operation {
    ($name:ident($($argument:ident: $type:ty),+) = $body:expr) => {
        operation!($name($($argument: $type),+) -> <Self as Lanes>::V = $body);
    };
    ($name:ident($($argument:ident: $type:ty),+) -> $result:ty = $body:expr) => {
        #[inline(always)]
        fn $name(self, $($argument: $type),+) -> $result {
            // SAFETY: the token proves that the instructions exist.
            unsafe { $body }
        }
    };
}

/// Intrinsics take shifts as literals, of a type that differs between families.
macro_rules! by_shift {
    ($n:ident, $shift:ident, $v:ident) => {
        // SAFETY: the token proves that the instruction exists.
        unsafe {
            match $n {
                1 => $shift::<1>($v),
                2 => $shift::<2>($v),
                4 => $shift::<4>($v),
                63 => $shift::<63>($v),
                _ => unreachable!("kernels shift by 1, 2, 4 or 63"),
            }
        }
    };
}

/// Lane `l` to `to[l * stride]`.
macro_rules! store_lanes {
    ($to:ident, $stride:ident, $v:ident, $extract:ident, [$($lane:literal)+]) => {
        $(
            // SAFETY: the token proves that the instruction exists.
            let lane = unsafe { $extract::<$lane>($v) };
            $to[$lane * $stride] = from_register(lane);
        )+
    };
}

tier! {
    AesNi, Tier::AesNi, __m128i, 1, run_aesni, "aes,pclmulqdq,avx",
    assembly: xmm_reg 16 "vmovdqu", settle: settle_128,
    nine_rounds: nine_rounds_128 nine_rounds_each_128,
    nine_unrounds: nine_unrounds_128 nine_unrounds_each_128,
    fresh: fresh_each_128 fresh_shared_128 "vmovdqa" "vpxor",
    interleaved: nine_rounds_interleaved_128,
    load: _mm_loadu_si128, store: _mm_storeu_si128, extract: only_lane [0],
    splat: only_splat, splat_word: _mm_set1_epi32,
    xor: _mm_xor_si128, and: _mm_and_si128,
    shl64: _mm_slli_epi64, shr64: _mm_srli_epi64, shl32: _mm_slli_epi32, sar32: _mm_srai_epi32,
    shuffle8: _mm_shuffle_epi8, shuffle32: _mm_shuffle_epi32,
    shift_bytes: _mm_bslli_si128 _mm_bsrli_si128,
    zip8: _mm_unpacklo_epi8 _mm_unpackhi_epi8,
    zip32: _mm_unpacklo_epi32 _mm_unpackhi_epi32,
    zip64: _mm_unpacklo_epi64 _mm_unpackhi_epi64,
    aes: _mm_aesenc_si128 _mm_aesenclast_si128,
    inverse: _mm_aesdec_si128 _mm_aesdeclast_si128,
    clmul: _mm_clmulepi64_si128, blend32: blend32_128,
    add: _mm_add_epi8 _mm_add_epi32 _mm_add_epi64, top_bits8: top_bits_128, streams: gather_128 scatter_128,
    between: previous_128 next_128 last_128 with_last_128,
}

tier! {
    Vaes256, Tier::Vaes256, __m256i, 2, run_vaes256, "aes,pclmulqdq,avx2,vaes,vpclmulqdq",
    assembly: ymm_reg 32 "vbroadcasti128", settle: settle_256,
    nine_rounds: nine_rounds_256 nine_rounds_each_256,
    nine_unrounds: nine_unrounds_256 nine_unrounds_each_256,
    fresh: fresh_each_256 fresh_shared_256 "vmovdqa" "vpxor",
    interleaved: nine_rounds_interleaved_256,
    load: _mm256_loadu_si256, store: _mm256_storeu_si256, extract: _mm256_extracti128_si256 [0 1],
    splat: _mm256_broadcastsi128_si256, splat_word: _mm256_set1_epi32,
    xor: _mm256_xor_si256, and: _mm256_and_si256,
    shl64: _mm256_slli_epi64, shr64: _mm256_srli_epi64,
    shl32: _mm256_slli_epi32, sar32: _mm256_srai_epi32,
    shuffle8: _mm256_shuffle_epi8, shuffle32: _mm256_shuffle_epi32,
    shift_bytes: _mm256_bslli_epi128 _mm256_bsrli_epi128,
    zip8: _mm256_unpacklo_epi8 _mm256_unpackhi_epi8,
    zip32: _mm256_unpacklo_epi32 _mm256_unpackhi_epi32,
    zip64: _mm256_unpacklo_epi64 _mm256_unpackhi_epi64,
    aes: _mm256_aesenc_epi128 _mm256_aesenclast_epi128,
    inverse: _mm256_aesdec_epi128 _mm256_aesdeclast_epi128,
    clmul: _mm256_clmulepi64_epi128, blend32: blend32_256,
    add: _mm256_add_epi8 _mm256_add_epi32 _mm256_add_epi64, top_bits8: top_bits_256, streams: gather_256 scatter_256,
    between: previous_256 next_256 last_256 with_last_256,
}

tier! {
    Vaes512, Tier::Vaes512, __m512i, 4, run_vaes512,
    "aes,pclmulqdq,avx2,vaes,vpclmulqdq,avx512f,avx512bw,avx512dq,avx512vl",
    assembly: zmm_reg 64 "vbroadcasti32x4", settle: settle_512,
    nine_rounds: nine_rounds_512 nine_rounds_each_512,
    nine_unrounds: nine_unrounds_512 nine_unrounds_each_512,
    fresh: fresh_each_512 fresh_shared_512 "vmovdqa64" "vpxorq",
    interleaved: nine_rounds_interleaved_512,
    load: _mm512_loadu_si512, store: _mm512_storeu_si512,
    extract: _mm512_extracti32x4_epi32 [0 1 2 3],
    splat: _mm512_broadcast_i32x4, splat_word: _mm512_set1_epi32,
    xor: _mm512_xor_si512, and: _mm512_and_si512,
    shl64: _mm512_slli_epi64, shr64: _mm512_srli_epi64,
    shl32: _mm512_slli_epi32, sar32: _mm512_srai_epi32,
    shuffle8: _mm512_shuffle_epi8, shuffle32: _mm512_shuffle_epi32,
    shift_bytes: _mm512_bslli_epi128 _mm512_bsrli_epi128,
    zip8: _mm512_unpacklo_epi8 _mm512_unpackhi_epi8,
    zip32: _mm512_unpacklo_epi32 _mm512_unpackhi_epi32,
    zip64: _mm512_unpacklo_epi64 _mm512_unpackhi_epi64,
    aes: _mm512_aesenc_epi128 _mm512_aesenclast_epi128,
    inverse: _mm512_aesdec_epi128 _mm512_aesdeclast_epi128,
    clmul: _mm512_clmulepi64_epi128, blend32: blend32_512,
    add: _mm512_add_epi8 _mm512_add_epi32 _mm512_add_epi64, top_bits8: top_bits_512, streams: gather_512 scatter_512,
    between: previous_512 next_512 last_512 with_last_512,
}

const REVERSE_BYTES: Block = Block::new(0x00010203_04050607_08090a0b_0c0d0e0f);

/// Every byte moves up by `bytes` places, and those at the top to the bottom.
const fn rotate_bytes(bytes: usize) -> Block {
    let mut order = [0; 16];
    let mut i = 0;
    while i < 16 {
        order[i] = ((i + 16 - bytes) % 16) as u8;
        i += 1;
    }
    Block::from_bytes(order)
}

/// Byte `r` of column `c` comes from byte `r+1` (RotWord) of column `c-r` (ShiftRows undone).
pub(super) const ROTATE_WORDS: Block = {
    let mut order = [0; 16];
    let mut i = 0;
    while i < 16 {
        let (column, row) = (i / 4, i % 4);
        order[i] = (4 * ((column + 4 - row) % 4) + (row + 1) % 4) as u8;
        i += 1;
    }
    Block::from_bytes(order)
};

/// The one lane of a 128-bit register, so that all tiers extract lanes alike.
#[inline(always)]
unsafe fn only_lane<const LANE: i32>(v: __m128i) -> __m128i {
    v
}

/// Operations that the families have under different names, each of one instruction or two.
macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident($($value:ident: $of:ty),*) -> $to:ty = $made:expr;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        unsafe fn $name($($value: $of),*) -> $to {
            // SAFETY: the caller is the adaptor, whose token proves that the instructions exist.
            unsafe { $made }
        }
    )*};
}

operations! {
    /// The families blend words by instructions of different kinds: halves of words, words, a mask.
    blend32_128(even: __m128i, odd: __m128i) -> __m128i = _mm_blend_epi16::<0b1100_1100>(even, odd);
    /// As [`blend32_128`].
    blend32_256(even: __m256i, odd: __m256i) -> __m256i =
        _mm256_blend_epi32::<0b1010_1010>(even, odd);
    /// As [`blend32_128`].
    blend32_512(even: __m512i, odd: __m512i) -> __m512i =
        _mm512_mask_blend_epi32(0b1010_1010_1010_1010, even, odd);
    /// As [`previous_128`].
    previous_256(before: __m256i, v: __m256i) -> __m256i =
        _mm256_permute2x128_si256::<0x21>(before, v);
    /// As [`previous_128`].
    previous_512(before: __m512i, v: __m512i) -> __m512i = _mm512_alignr_epi64::<6>(v, before);
    /// As [`next_128`].
    next_256(v: __m256i, after: __m256i) -> __m256i = _mm256_permute2x128_si256::<0x21>(v, after);
    /// As [`next_128`].
    next_512(v: __m512i, after: __m512i) -> __m512i = _mm512_alignr_epi64::<2>(after, v);
    /// As [`with_last_128`].
    with_last_256(v: __m256i, block: __m128i) -> __m256i = _mm256_inserti128_si256::<1>(v, block);
    /// As [`with_last_128`].
    with_last_512(v: __m512i, block: __m128i) -> __m512i = _mm512_inserti32x4::<3>(v, block);
    /// As [`last_128`].
    last_256(v: __m256i) -> __m256i = _mm256_permute4x64_epi64::<0b11_10_11_10>(v);
    /// As [`last_128`].
    last_512(v: __m512i) -> __m512i = _mm512_shuffle_i64x2::<0b11_11_11_11>(v, v);
    /// All ones in bytes whose top bit is set, zero elsewhere.
    top_bits_128(v: __m128i) -> __m128i = _mm_cmpgt_epi8(_mm_setzero_si128(), v);
    /// As [`top_bits_128`].
    top_bits_256(v: __m256i) -> __m256i = _mm256_cmpgt_epi8(_mm256_setzero_si256(), v);
    /// As [`top_bits_128`].
    top_bits_512(v: __m512i) -> __m512i = _mm512_movm_epi8(_mm512_movepi8_mask(v));
}

/// The blocks before those of `v`; the first is the last of `before`.
#[inline(always)]
unsafe fn previous_128(before: __m128i, _v: __m128i) -> __m128i {
    before
}

/// The blocks after those of `v`; the last is the first of `after`.
#[inline(always)]
unsafe fn next_128(_v: __m128i, after: __m128i) -> __m128i {
    after
}

/// Another block in the last lane.
#[inline(always)]
unsafe fn with_last_128(_v: __m128i, block: __m128i) -> __m128i {
    block
}

/// The last block in every lane.
#[inline(always)]
unsafe fn last_128(v: __m128i) -> __m128i {
    v
}

/// Carries of the top bits of words 3, 0, 1 and 2 into words 0, 1, 2 and 3 when an element of
/// GF(2^128) is doubled.
const CARRIES: Block = Block::new(0x00000001_00000001_00000001_00000087);

/// Carries of the top bits of bytes 1 to 15 and of byte 0 into bytes 0 to 15.
const BYTE_CARRIES: Block = Block::new(0x87010101_01010101_01010101_01010101);

/// One block from each address.
#[inline(always)]
unsafe fn gather_128(at: [*mut u8; 1]) -> __m128i {
    // SAFETY: the caller vouches for the address and the instruction.
    unsafe { _mm_loadu_si128(at[0].cast()) }
}

/// As [`gather_128`].
#[inline(always)]
unsafe fn gather_256(at: [*mut u8; 2]) -> __m256i {
    // SAFETY: the caller vouches for the addresses and the instructions.
    unsafe {
        _mm256_inserti128_si256::<1>(
            _mm256_castsi128_si256(gather_128([at[0]])),
            gather_128([at[1]]),
        )
    }
}

/// As [`gather_128`].
#[inline(always)]
unsafe fn gather_512(at: [*mut u8; 4]) -> __m512i {
    // SAFETY: the caller vouches for the addresses and the instructions.
    unsafe {
        let (low, high) = (gather_256([at[0], at[1]]), gather_256([at[2], at[3]]));
        _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
    }
}

/// One block to each address.
#[inline(always)]
unsafe fn scatter_128(at: [*mut u8; 1], v: __m128i) {
    // SAFETY: the caller vouches for the address and the instruction.
    unsafe { _mm_storeu_si128(at[0].cast(), v) }
}

/// As [`scatter_128`].
#[inline(always)]
unsafe fn scatter_256(at: [*mut u8; 2], v: __m256i) {
    // SAFETY: the caller vouches for the addresses and the instructions.
    unsafe {
        scatter_128([at[0]], _mm256_castsi256_si128(v));
        scatter_128([at[1]], _mm256_extracti128_si256::<1>(v));
    }
}

/// As [`scatter_128`].
#[inline(always)]
unsafe fn scatter_512(at: [*mut u8; 4], v: __m512i) {
    // SAFETY: the caller vouches for the addresses and the instructions.
    unsafe {
        scatter_256([at[0], at[1]], _mm512_castsi512_si256(v));
        scatter_256([at[2], at[3]], _mm512_extracti64x4_epi64::<1>(v));
    }
}

/// A 128-bit register in its one lane, so that all tiers fill lanes alike.
#[inline(always)]
unsafe fn only_splat(v: __m128i) -> __m128i {
    v
}

#[inline(always)]
fn to_register(block: Block) -> __m128i {
    bytemuck::must_cast(block)
}

#[inline(always)]
fn from_register(v: __m128i) -> Block {
    bytemuck::must_cast(v)
}
