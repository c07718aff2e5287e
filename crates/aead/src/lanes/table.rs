//! Tables of blocks that depend on a key.

use std::ops::Deref;

use sealane_block::{Block, GROUP, Group};
use zeroize::Zeroize;

/// Blocks that are read as whole vectors, so that they are aligned as these are.
#[derive(Default)]
pub(crate) struct AlignedBlocks(Vec<Group>);

impl AlignedBlocks {
    /// Takes over secret blocks; there may be zeros behind them.
    pub(crate) fn new(mut blocks: Vec<Block>) -> AlignedBlocks {
        let groups = blocks.chunks(GROUP).map(|blocks| {
            let mut group = Group::default();
            group[..blocks.len()].copy_from_slice(blocks);
            group
        });
        let table = AlignedBlocks(groups.collect());
        bytemuck::must_cast_slice_mut::<_, u128>(&mut blocks[..]).zeroize();
        table
    }
}

impl Deref for AlignedBlocks {
    type Target = [Block];
    #[inline(always)]
    fn deref(&self) -> &[Block] {
        bytemuck::must_cast_slice(&self.0)
    }
}

impl Drop for AlignedBlocks {
    fn drop(&mut self) {
        bytemuck::must_cast_slice_mut::<_, u128>(&mut self.0[..]).zeroize();
    }
}
