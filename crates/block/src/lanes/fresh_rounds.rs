//! The assembly of [`Lanes::fresh_rounds_each`](super::Lanes::fresh_rounds_each): AES rounds with
//! the schedules of their keys, for all x86 tiers.
//!
//! Eight registers hold states, and one the last words of each schedule. Four are for what is made
//! of them; the rest of a schedule is in memory, where loads and stores are free beside AES. All
//! instructions of a round are independent of those of the round before but for two chains: states,
//! an AES round long, and last words, a shuffle and an AES round. The processor overlaps them; a
//! schedule runs ahead of its states as far as its window reaches.

use super::x86::ROTATE_WORDS;
use crate::Block;
use crate::fresh::ROUND_CONSTANTS;

/// Constants in every lane of the widest register: the byte order of
/// [`rotate_words`](super::Lanes::rotate_words), then the round constants from 1 on.
#[repr(C, align(64))]
pub(super) struct Constants([[Block; 4]; 15]);

pub(super) static CONSTANTS: Constants = {
    let mut rows = [[ROTATE_WORDS; 4]; 15];
    let mut round = 1;
    while round < rows.len() {
        rows[round] = [ROUND_CONSTANTS[round]; 4];
        round += 1;
    }
    Constants(rows)
};

/// One round of a schedule at `$keys`, and of the states under its keys. The
/// fields of [`SlicedKeys`](crate::fresh::SlicedKeys) are vectors 0 (last words), 1 to 4 (addends)
/// and 5 to 8 (upper halves).
macro_rules! fresh_round {
    (
        $round:literal, $aes:literal, $size:literal $move:literal $xor:literal, from $keys:literal,
        $last:literal: $([$($state:literal)+])+
    ) => {
        concat!(
            // The last words of this round, and words 2.
            "vpshufb {t}, {", $last, "}, [{constants}]\n",
            "vaesenclast {t}, {t}, [{", $keys, "} + (1 + (", $round, " & 3)) * ", $size, "]\n",
            $xor, " {high}, {t}, {", $last, "}\n",
            ".if ", $round, " < 7\n",
            $xor, " {", $last, "}, {t}, [{constants} + (4 + ", $round, ") * 64]\n",
            $move, " [{", $keys, "} + (1 + (", $round, " & 3)) * ", $size, "], {", $last, "}\n",
            ".endif\n",
            $move, " {", $last, "}, {t}\n",
            // The upper halves of the keys, and the lower ones of two.
            "vpunpckldq {low}, {high}, {t}\n",
            "vpunpckhdq {high}, {high}, {t}\n",
            $xor, " {t}, {low}, [{", $keys, "} + (5 + 2 * (", $round, " & 1)) * ", $size, "]\n",
            ".if ", $round, " < 9\n",
            $move, " [{", $keys, "} + (5 + 2 * (", $round, " & 1)) * ", $size, "], {low}\n",
            ".endif\n",
            fresh_round!(@keys $round, $aes, $size $move $xor, from $keys, $([$($state)+])+),
        )
    };
    (
        @keys $round:literal, $aes:literal, $size:literal $move:literal $xor:literal, from $keys:literal,
        [$($s0:literal)+] [$($s1:literal)+] [$($s2:literal)+] [$($s3:literal)+]
    ) => {
        concat!(
            "vpunpcklqdq {key}, {t}, {low}\n",
            $($aes, " {", $s0, "}, {", $s0, "}, {key}\n",)+
            "vpunpckhqdq {t}, {t}, {low}\n",
            $($aes, " {", $s1, "}, {", $s1, "}, {t}\n",)+
            $xor, " {low}, {high}, [{", $keys, "} + (6 + 2 * (", $round, " & 1)) * ", $size, "]\n",
            ".if ", $round, " < 9\n",
            $move, " [{", $keys, "} + (6 + 2 * (", $round, " & 1)) * ", $size, "], {high}\n",
            ".endif\n",
            "vpunpcklqdq {key}, {low}, {high}\n",
            $($aes, " {", $s2, "}, {", $s2, "}, {key}\n",)+
            "vpunpckhqdq {low}, {low}, {high}\n",
            $($aes, " {", $s3, "}, {", $s3, "}, {low}\n",)+
        )
    };
}

/// The two functions of a tier: each four states under a schedule of their own, and all under one.
macro_rules! fresh_rounds {
    (
        $each:ident $shared:ident, $token:ty, $vector:ty, $features:literal,
        $register:ident $size:literal $move:literal $xor:literal
    ) => {
        /// Rounds 1 to 10 under the keys of two schedules.
        #[inline]
        #[target_feature(enable = $features)]
        fn $each(states: &mut [$vector; 8], schedules: &mut [SlicedKeys<$token>; 2]) {
            let (_t, _low, _high, _key, _v, _w): ($vector, $vector, $vector, $vector, $vector, $vector);
            // SAFETY: the assembly reads and writes the two schedules at `keys` and reads the
            // constants; it writes nothing else but the registers it names.
            unsafe {
                on_eight!($register, states, [
                    concat!($move, " {v}, [{keys}]"),
                    concat!($move, " {w}, [{others}]"),
                    ".irp round, 1, 2, 3, 4, 5, 6, 7, 8, 9",
                    fresh_round!("\\round", "vaesenc", $size $move $xor, from "keys",
                        "v": ["s0"] ["s1"] ["s2"] ["s3"]),
                    fresh_round!("\\round", "vaesenc", $size $move $xor, from "others",
                        "w": ["s4"] ["s5"] ["s6"] ["s7"]),
                    ".endr",
                    fresh_round!("10", "vaesenclast", $size $move $xor, from "keys",
                        "v": ["s0"] ["s1"] ["s2"] ["s3"]),
                    fresh_round!("10", "vaesenclast", $size $move $xor, from "others",
                        "w": ["s4"] ["s5"] ["s6"] ["s7"]),
                ], [
                    keys = in(reg) &raw mut schedules[0],
                    others = in(reg) &raw mut schedules[1],
                    constants = in(reg) &CONSTANTS,
                    v = out($register) _v,
                    w = out($register) _w,
                    t = out($register) _t,
                    low = out($register) _low,
                    high = out($register) _high,
                    key = out($register) _key,
                ], [nostack, preserves_flags]);
            }
        }

        /// Rounds 1 to 10, all under the keys of one schedule.
        #[inline]
        #[target_feature(enable = $features)]
        fn $shared(states: &mut [$vector; 8], schedule: &mut SlicedKeys<$token>) {
            let (_t, _low, _high, _key, _v): ($vector, $vector, $vector, $vector, $vector);
            // SAFETY: the assembly reads and writes the schedule at `keys` and reads the constants;
            // it writes nothing else but the registers it names.
            unsafe {
                on_eight!($register, states, [
                    concat!($move, " {v}, [{keys}]"),
                    ".irp round, 1, 2, 3, 4, 5, 6, 7, 8, 9",
                    fresh_round!("\\round", "vaesenc", $size $move $xor, from "keys",
                        "v": ["s0" "s4"] ["s1" "s5"] ["s2" "s6"] ["s3" "s7"]),
                    ".endr",
                    fresh_round!("10", "vaesenclast", $size $move $xor, from "keys",
                        "v": ["s0" "s4"] ["s1" "s5"] ["s2" "s6"] ["s3" "s7"]),
                ], [
                    keys = in(reg) &raw mut *schedule,
                    constants = in(reg) &CONSTANTS,
                    v = out($register) _v,
                    t = out($register) _t,
                    low = out($register) _low,
                    high = out($register) _high,
                    key = out($register) _key,
                ], [nostack, preserves_flags]);
            }
        }
    };
}
