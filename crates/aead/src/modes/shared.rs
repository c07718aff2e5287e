//! Functions that several modes share.

use sealane_block::Block;

use crate::lanes::{Shape, Token, Wave};

/// Twice an element of GF(2^128) in the order of OCB, byte 0 first.
pub(crate) fn double(block: Block) -> Block {
    let reversed = |block: Block| Block::new(block.value().swap_bytes());
    reversed(doubled(reversed(block)))
}

/// Twice an element in polynomial order.
fn doubled(block: Block) -> Block {
    let carry = Block::new(0x87).masked((block.value() >> 127) as u8);
    Block::new(block.value() << 1) ^ carry
}

/// The 128-bit numbers of all lanes (as little-endian integers) plus numbers below 2^63.
#[inline(always)]
pub(crate) fn add128<S: Shape>(a: Wave<S>, small: Wave<S>) -> Wave<S> {
    let l = a.l;
    let sum = a.add64(small);
    // The lower half has overflowed where its top bit was set and is now clear.
    let overflow = a & (sum ^ Wave::splat(l, Block::ONES));
    let carry = overflow.top_bits();
    sum.add64(Wave::zero(l).lower_halves(carry))
}

/// The numbers of the lanes: 0, 1, 2...
#[inline(always)]
pub(crate) fn lane_numbers<S: Shape>(l: Token<S>) -> Wave<S> {
    let mut numbers = Wave::zero(l);
    for (lane, number) in numbers.lanes_mut().iter_mut().enumerate() {
        *number = Block::new(lane as u128);
    }
    numbers
}
