//! Sums of blocks from many places, the same on every tier: each block is a load of its own, and
//! the widest register that helps is one of 128 bits, which every x86-64 processor has.

use crate::Block;

/// Returns `sum` plus the blocks of `from` at `places`, each of which is at most `mask`.
///
/// # Panics
/// If `mask` is no place.
#[inline(always)]
pub(crate) fn add<const N: usize>(
    sum: Block,
    from: &[Block],
    mask: usize,
    places: [usize; N],
) -> Block {
    assert!(mask < from.len(), "a place of the vector");
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_xor_si128};
        let mut total: __m128i = bytemuck::must_cast(sum);
        for place in places {
            // SAFETY: the place is at most `mask`, which is the place of a block; every x86-64
            // processor has the instructions.
            total = unsafe {
                let block = _mm_loadu_si128(from.as_ptr().add(place & mask).cast());
                _mm_xor_si128(total, block)
            };
        }
        bytemuck::must_cast(total)
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        places
            .iter()
            .fold(sum, |sum, &place| sum ^ from[place & mask])
    }
}
