//! Helpers that the tests of several modules use.

use crate::{Block, Cpu, Prg};

/// Blocks without a pattern, which a number names.
pub fn drawn(count: usize, number: u64) -> Vec<Block> {
    let mut blocks = vec![Block::ZERO; count];
    Prg::danger_fixed(Cpu::best(), number).fill(&mut blocks);
    blocks
}

/// The values of blocks, which can be compared and printed.
pub fn values(blocks: &[Block]) -> Vec<u128> {
    blocks.iter().map(|block| block.value()).collect()
}

/// Schoolbook multiplication in GF(2^128), a bit at a time, in polynomial order.
pub fn product(mut a: u128, b: u128) -> u128 {
    let mut product = 0;
    for i in 0..128 {
        product ^= if b >> i & 1 == 1 { a } else { 0 };
        a = a << 1 ^ if a >> 127 == 1 { 0x87 } else { 0 };
    }
    product
}
