//! Words of memory that begin at a cache line and are erased in the end.
//!
//! Kernels read and write whole lines. The allocator aligns large pieces of memory to a page and 16
//! bytes, and so each line of such a piece would lie in two of the cache.

use sealane_block::Group;
use std::ops::{Deref, DerefMut};
use zeroize::Zeroizing;

/// Words of a group.
const GROUP_WORDS: usize = size_of::<Group>() / size_of::<u64>();

/// Words, the first of which begins a cache line.
pub struct AlignedBuffer {
    groups: Zeroizing<Vec<Group>>,
    words: usize,
}

impl AlignedBuffer {
    /// So many words, all zero.
    pub fn zeros(words: usize) -> AlignedBuffer {
        let groups = Zeroizing::new(vec![Group::ZERO; words.div_ceil(GROUP_WORDS)]);
        AlignedBuffer { groups, words }
    }
}

impl Deref for AlignedBuffer {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        &bytemuck::must_cast_slice(&self.groups)[..self.words]
    }
}

impl DerefMut for AlignedBuffer {
    fn deref_mut(&mut self) -> &mut [u64] {
        &mut bytemuck::must_cast_slice_mut(&mut self.groups)[..self.words]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_begin_at_a_cache_line() {
        for words in [0, 1, 31, 32, 33, 100_000] {
            let lines = AlignedBuffer::zeros(words);
            assert_eq!(lines.len(), words);
            assert!(lines.iter().all(|word| *word == 0));
            assert!(words == 0 || lines.as_ptr().addr().is_multiple_of(64));
        }
    }
}
