//! XLS: Ristenpart and Rogaway, "How to Enrich the Message Space of a Cipher" (FSE 2007), as
//! version 1 of COPA uses it: on a block and up to 15 bytes behind it. Broken by Nandi, "XLS is Not
//! a Strong Pseudorandom Permutation" (ASIACRYPT 2014).
//!
//! The number of bytes differs from lane to lane, so the work between the calls of the cipher is
//! done lane by lane. The number is public.

use sealane_block::lanes::MAX_LANES;
use sealane_block::{Block, Lanes};

use super::copa::{BACK, FORWARD};
use super::shared::{times3, times7};
use crate::lanes::{Keys, Tail, Wave};

/// The ends of the messages of version 1.
pub(super) struct Ends<L: Lanes, const N: usize> {
    /// Bytes behind the last whole block, where XLS hides them.
    pub(super) rest: [usize; MAX_LANES],
    pub(super) xls: Wave<L, N>,
    pub(super) any_xls: bool,
    /// All ones where the text is less than a block.
    pub(super) tiny: Wave<L, N>,
    pub(super) any_tiny: bool,
}

impl<L: Lanes, const N: usize> Ends<L, N> {
    #[inline(always)]
    pub(super) fn none(l: L) -> Self {
        Ends {
            rest: [0; MAX_LANES],
            xls: Wave::zero(l),
            any_xls: false,
            tiny: Wave::zero(l),
            any_tiny: false,
        }
    }

    #[inline(always)]
    pub(super) fn new(l: L, tail: &Tail<'_, L, N>) -> Self {
        let mut ends = Ends::none(l);
        for lane in 0..Wave::<L, N>::LANES {
            let Some(message) = tail.messages.get(lane) else {
                continue;
            };
            if message.text < 16 {
                ends.tiny.lanes_mut()[lane] = Block::ONES;
                ends.any_tiny = true;
            } else if tail.rest[lane] < 16 {
                ends.rest[lane] = tail.rest[lane];
                ends.xls.lanes_mut()[lane] = Block::ONES;
                ends.any_xls = true;
            }
        }
        ends
    }
}

/// XLS on a block and the few bytes behind it: three calls of the cipher, and between them a mix of
/// as many bytes at the end of the block with those behind it. Its inverse is the same with the
/// inverse of the cipher. The result of lanes without such bytes is unspecified.
#[inline(always)]
pub(super) fn xls<L: Lanes, const N: usize, const OPEN: bool>(
    keys: &impl Keys<L, N>,
    mask: Wave<L, N>,
    rest: &[usize],
    [block, behind]: [Wave<L, N>; 2],
) -> [Wave<L, N>; 2] {
    let inner = times7(times7(mask));
    let (outer, inner) = (times3(inner).reversed(), inner.reversed());
    let mut both = [call::<L, N, OPEN>(keys, block, outer), behind];
    mix(rest, &mut both);
    let mut bit = Wave::zero(keys.l());
    for (lane, bit) in bit.lanes_mut().iter_mut().enumerate() {
        if rest[lane] > 0 {
            *bit = Block::new(0x80 << (8 * (16 - rest[lane])));
        }
    }
    both[0] = call::<L, N, OPEN>(keys, both[0] ^ bit, inner) ^ bit;
    mix(rest, &mut both);
    both[0] = call::<L, N, OPEN>(keys, both[0], outer);
    both
}

/// A call of the cipher or its inverse between masks.
#[inline(always)]
fn call<L: Lanes, const N: usize, const OPEN: bool>(
    keys: &impl Keys<L, N>,
    x: Wave<L, N>,
    mask: Wave<L, N>,
) -> Wave<L, N> {
    if OPEN {
        keys.decrypt(BACK, x ^ mask) ^ mask
    } else {
        keys.encrypt(FORWARD, x ^ mask) ^ mask
    }
}

/// Adds to both strings of `rest` bytes, at the end of the block and behind it, their sum rotated
/// left by a bit.
#[inline(always)]
fn mix<L: Lanes, const N: usize>(rest: &[usize], [block, behind]: &mut [Wave<L, N>; 2]) {
    let (block, behind) = (block.lanes_mut(), behind.lanes_mut());
    for lane in 0..block.len() {
        if rest[lane] == 0 {
            continue;
        }
        let (at, bits) = (8 * (16 - rest[lane]), 8 * rest[lane]);
        let sum = block[lane].value() >> at ^ behind[lane].value();
        let sum = sum.swap_bytes() >> at;
        let rotated = (sum << 1 | sum >> (bits - 1)) << at;
        let rotated = rotated.swap_bytes();
        block[lane] ^= Block::new(rotated << at);
        behind[lane] ^= Block::new(rotated);
    }
}

/// The rest of the text, and the tag behind it, as a block and the bytes behind it.
#[inline(always)]
pub(super) fn join<L: Lanes, const N: usize>(
    rest: &[usize],
    mut text: Wave<L, N>,
    mut tag: Wave<L, N>,
) -> [Wave<L, N>; 2] {
    let (blocks, tags) = (text.lanes_mut(), tag.lanes_mut());
    for lane in 0..blocks.len() {
        let bits = 8 * rest[lane] as u32;
        let tag = tags[lane].value();
        blocks[lane] ^= Block::new(tag << bits);
        tags[lane] = Block::new(tag.unbounded_shr(128 - bits));
    }
    [text, tag]
}

/// The inverse of [`join`].
#[inline(always)]
pub(super) fn split<L: Lanes, const N: usize>(
    rest: &[usize],
    [mut block, mut behind]: [Wave<L, N>; 2],
) -> (Wave<L, N>, Wave<L, N>) {
    let (blocks, tags) = (block.lanes_mut(), behind.lanes_mut());
    for lane in 0..blocks.len() {
        let bits = 8 * rest[lane] as u32;
        let both = blocks[lane].value();
        let tag = both >> bits | tags[lane].value().unbounded_shl(128 - bits);
        blocks[lane] ^= Block::new(tag << bits);
        tags[lane] = Block::new(tag);
    }
    (block, behind)
}
