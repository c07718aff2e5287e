//! XLS: Ristenpart and Rogaway, "How to Enrich the Message Space of a Cipher" (FSE 2007), as
//! version 1 of COPA uses it: on a block and up to 15 bytes behind it. Broken by Nandi, "XLS is Not
//! a Strong Pseudorandom Permutation" (ASIACRYPT 2014).
//!
//! The number of bytes differs from lane to lane, so the work between the calls of the cipher is
//! done lane by lane. The number is public.

use sealane_block::Block;
use sealane_block::lanes::MAX_LANES;

use super::shared::{times3, times7};
use crate::lanes::{Keys, Shape, Tail, Token, Wave};

/// The ends of the messages of version 1.
pub(super) struct Ends<S: Shape> {
    /// Bytes behind the last whole block, where XLS hides them.
    pub(super) rest: [usize; MAX_LANES],
    pub(super) xls: Wave<S>,
    pub(super) any_xls: bool,
    /// All ones where the text is less than a block.
    pub(super) tiny: Wave<S>,
    pub(super) any_tiny: bool,
}

impl<S: Shape> Ends<S> {
    #[inline(always)]
    pub(super) fn none(l: Token<S>) -> Self {
        Ends {
            rest: [0; MAX_LANES],
            xls: Wave::zero(l),
            any_xls: false,
            tiny: Wave::zero(l),
            any_tiny: false,
        }
    }

    #[inline(always)]
    pub(super) fn new(l: Token<S>, tail: &Tail<'_, S>) -> Self {
        let mut ends = Ends::none(l);
        for lane in 0..Wave::<S>::LANES {
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
pub(super) fn xls<K: Keys>(
    keys: &K,
    mask: Wave<K::S>,
    rest: &[usize],
    [block, behind]: [Wave<K::S>; 2],
) -> [Wave<K::S>; 2] {
    let inner = times7(times7(mask));
    let (outer, inner) = (times3(inner).reversed(), inner.reversed());
    let mut both = [call(keys, block, outer), behind];
    mix(rest, &mut both);
    let mut bit = Wave::zero(keys.l());
    for (lane, bit) in bit.lanes_mut().iter_mut().enumerate() {
        if rest[lane] > 0 {
            *bit = Block::new(0x80 << (8 * (16 - rest[lane])));
        }
    }
    both[0] = call(keys, both[0] ^ bit, inner) ^ bit;
    mix(rest, &mut both);
    both[0] = call(keys, both[0], outer);
    both
}

/// A call of the cipher or its inverse between masks.
#[inline(always)]
fn call<K: Keys>(keys: &K, x: Wave<K::S>, mask: Wave<K::S>) -> Wave<K::S> {
    keys.cipher(x ^ mask) ^ mask
}

/// Adds to both strings of `rest` bytes, at the end of the block and behind it, their sum rotated
/// left by a bit.
#[inline(always)]
fn mix<S: Shape>(rest: &[usize], [block, behind]: &mut [Wave<S>; 2]) {
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
pub(super) fn join<S: Shape>(rest: &[usize], mut text: Wave<S>, mut tag: Wave<S>) -> [Wave<S>; 2] {
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
pub(super) fn split<S: Shape>(
    rest: &[usize],
    [mut block, mut behind]: [Wave<S>; 2],
) -> (Wave<S>, Wave<S>) {
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
