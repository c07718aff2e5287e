//! Rounds of AES with carry-less products beside them, as one block of assembly for each x86 tier.
//!
//! The two use different execution units. But the rounds of eight vectors, and behind them all that
//! waits for their results, fill the scheduler of a core before it sees the products. So they are
//! written in alternation.

use std::arch::asm;
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use crate::Block;
use crate::products::Products;

/// Rounds 1 to 9 of encryption on eight registers, and eight products beside them; see
/// [`Lanes::nine_rounds_interleaved`](super::Lanes::nine_rounds_interleaved).
macro_rules! nine_rounds_interleaved {
    (
        $name:ident, $vector:ty, $features:literal,
        $register:ident $size:literal $spread:literal $load:literal $xor:literal
    ) => {
        #[inline]
        #[target_feature(enable = $features)]
        pub(super) fn $name(
            states: &mut [$vector; 8],
            keys: &[Block; 11],
            products: &Products<'_>,
        ) -> [[$vector; 3]; 2] {
            const WIDTH: usize = $size / 16;
            products.check(WIDTH);
            let at = |list: &[Block]| list.as_ptr();
            let mut second = MaybeUninit::<[$vector; 3]>::uninit();
            // Typed variables, because the compiler may choose registers of another class for
            // anonymous ones.
            let (low, sums, high): ($vector, $vector, $vector);
            let (_key, _a, _t): ($vector, $vector, $vector);
            // SAFETY: the assembly reads keys 1 to 9 of the eleven at `keys` and four vectors at
            // each of the other addresses, which `check` found there. It writes the registers that
            // it names, and three vectors at `second`.
            unsafe {
                on_eight!($register, states, [
                    // One round on all vectors, with one product of vectors.
                    ".macro sealane_round round, blocks, words, more, at",
                    concat!($spread, " {key}, [{keys} + \\round * 16]"),
                    concat!($load, " {a}, [\\blocks + \\at * ", $size, "]"),
                    "vaesenc {s0}, {s0}, {key}",
                    "vaesenc {s1}, {s1}, {key}",
                    "vpshufd {t}, {a}, 0x4e",
                    concat!($xor, " {t}, {t}, {a}"),
                    ".if \\at == 3",
                    // The sums begin.
                    concat!("vpclmulqdq {low}, {a}, [\\words + \\at * ", $size, "], 0x00"),
                    "vaesenc {s2}, {s2}, {key}",
                    "vaesenc {s3}, {s3}, {key}",
                    concat!("vpclmulqdq {high}, {a}, [\\words + \\at * ", $size, "], 0x11"),
                    "vaesenc {s4}, {s4}, {key}",
                    "vaesenc {s5}, {s5}, {key}",
                    concat!("vpclmulqdq {sums}, {t}, [\\more + \\at * ", $size, "], 0x00"),
                    "vaesenc {s6}, {s6}, {key}",
                    "vaesenc {s7}, {s7}, {key}",
                    ".else",
                    concat!("vpclmulqdq {t}, {t}, [\\more + \\at * ", $size, "], 0x00"),
                    "vaesenc {s2}, {s2}, {key}",
                    "vaesenc {s3}, {s3}, {key}",
                    concat!($xor, " {sums}, {sums}, {t}"),
                    concat!("vpclmulqdq {t}, {a}, [\\words + \\at * ", $size, "], 0x00"),
                    "vaesenc {s4}, {s4}, {key}",
                    "vaesenc {s5}, {s5}, {key}",
                    concat!("vpclmulqdq {a}, {a}, [\\words + \\at * ", $size, "], 0x11"),
                    concat!($xor, " {low}, {low}, {t}"),
                    "vaesenc {s6}, {s6}, {key}",
                    "vaesenc {s7}, {s7}, {key}",
                    concat!($xor, " {high}, {high}, {a}"),
                    ".endif",
                    ".endm",
                    "sealane_round 1, {blocks1}, {words1}, {more1}, 3",
                    "sealane_round 2, {blocks1}, {words1}, {more1}, 2",
                    "sealane_round 3, {blocks1}, {words1}, {more1}, 1",
                    "sealane_round 4, {blocks1}, {words1}, {more1}, 0",
                    concat!($load, " [{second}], {low}"),
                    concat!($load, " [{second} + ", $size, "], {sums}"),
                    concat!($load, " [{second} + 2 * ", $size, "], {high}"),
                    "sealane_round 5, {blocks0}, {words0}, {more0}, 3",
                    "sealane_round 6, {blocks0}, {words0}, {more0}, 2",
                    "sealane_round 7, {blocks0}, {words0}, {more0}, 1",
                    "sealane_round 8, {blocks0}, {words0}, {more0}, 0",
                    concat!($spread, " {key}, [{keys} + 9 * 16]"),
                    ".irp state, {s0}, {s1}, {s2}, {s3}, {s4}, {s5}, {s6}, {s7}",
                    "vaesenc \\state, \\state, {key}",
                    ".endr",
                    ".purgem sealane_round",
                ], [
                    keys = in(reg) keys.as_ptr(),
                    blocks0 = in(reg) at(products.blocks[0]),
                    blocks1 = in(reg) at(products.blocks[1]),
                    words0 = in(reg) at(products.words[0]),
                    words1 = in(reg) at(products.words[1]),
                    more0 = in(reg) at(products.more[0]),
                    more1 = in(reg) at(products.more[1]),
                    second = in(reg) second.as_mut_ptr().cast::<$vector>(),
                    key = out($register) _key,
                    a = out($register) _a,
                    t = out($register) _t,
                    low = out($register) low,
                    sums = out($register) sums,
                    high = out($register) high,
                ], [nostack, preserves_flags]);
            }
            // SAFETY: the assembly has written all three vectors.
            [[low, sums, high], unsafe { second.assume_init() }]
        }
    };
}

nine_rounds_interleaved! {
    nine_rounds_interleaved_128, __m128i, "aes,pclmulqdq,avx",
    xmm_reg 16 "vmovdqu" "vmovdqu" "vpxor"
}

nine_rounds_interleaved! {
    nine_rounds_interleaved_256, __m256i, "aes,pclmulqdq,avx2,vaes,vpclmulqdq",
    ymm_reg 32 "vbroadcasti128" "vmovdqu" "vpxor"
}

nine_rounds_interleaved! {
    nine_rounds_interleaved_512, __m512i,
    "aes,pclmulqdq,avx2,vaes,vpclmulqdq,avx512f,avx512bw,avx512dq,avx512vl",
    zmm_reg 64 "vbroadcasti32x4" "vmovdqu64" "vpxorq"
}
