//! The 128-bit block and the aligned group of sixteen.

use std::ops::{BitAnd, BitXor, BitXorAssign, Deref, DerefMut};

use bytemuck::{Pod, Zeroable};
use std::hint::black_box;
use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroize;

/// Blocks in a [`Group`]. It is the same on every tier, so layouts in memory and on the wire do
/// not depend on the machine.
pub const GROUP: usize = 16;

/// A 128-bit string, little-endian: byte 0 holds bits 0 to 7, bit 0 is the permute bit of a label.
/// It has neither `Debug` nor `PartialEq`: most blocks are secret.
#[derive(Clone, Copy, Default, Pod, Zeroable, Zeroize)]
#[repr(transparent)]
pub struct Block(u128);

impl Block {
    /// The all-zero block.
    pub const ZERO: Block = Block(0);
    /// The block with every bit set.
    pub const ONES: Block = Block(u128::MAX);

    /// A block from its value as a little-endian integer.
    #[inline]
    pub const fn new(value: u128) -> Block {
        Block(value)
    }
    /// The little-endian integer.
    #[inline]
    pub const fn value(self) -> u128 {
        self.0
    }
    /// A block from its 16 bytes.
    #[inline]
    pub const fn from_bytes(bytes: [u8; 16]) -> Block {
        Block(u128::from_le_bytes(bytes))
    }
    /// The 16 bytes.
    #[inline]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0.to_le_bytes()
    }
    /// Bit 0, as 0 or 1: the permute bit of a label.
    #[inline]
    pub const fn lsb(self) -> u8 {
        (self.0 & 1) as u8
    }
    /// Four copies of one 32-bit word.
    #[inline]
    pub const fn from_word(word: u32) -> Block {
        Block(word as u128 * 0x0000_0001_0000_0001_0000_0001_0000_0001)
    }
    /// The four little-endian words: the columns of an AES state.
    #[inline]
    pub const fn words(self) -> [u32; 4] {
        [
            self.0 as u32,
            (self.0 >> 32) as u32,
            (self.0 >> 64) as u32,
            (self.0 >> 96) as u32,
        ]
    }
    /// Returns a mask of all ones where the lowest bit of `choice` is 1, and zero where it is 0,
    /// without a branch. The barrier is needed: a compiler that knows that a mask has only two
    /// values may turn uses of it into a branch, and has done so.
    #[inline]
    pub fn mask(choice: u8) -> Block {
        Block(black_box(0u128.wrapping_sub((choice & 1) as u128)))
    }
    /// Returns this block where the lowest bit of `choice` is 1, and zero where it is 0, without a
    /// branch.
    #[inline]
    pub fn masked(self, choice: u8) -> Block {
        self & Block::mask(choice)
    }
    /// Views many blocks as bytes, in place.
    #[inline]
    pub fn as_bytes(blocks: &[Block]) -> &[u8] {
        bytemuck::must_cast_slice(blocks)
    }
    /// Views many blocks as bytes to be written, in place.
    #[inline]
    pub fn as_bytes_mut(blocks: &mut [Block]) -> &mut [u8] {
        bytemuck::must_cast_slice_mut(blocks)
    }
}

impl ConstantTimeEq for Block {
    /// Returns true if two blocks are equal, in time that does not depend on either.
    #[inline]
    fn ct_eq(&self, other: &Block) -> Choice {
        self.0.ct_eq(&other.0)
    }
}

impl BitXor for Block {
    type Output = Block;
    #[inline(always)]
    fn bitxor(self, other: Block) -> Block {
        Block(self.0 ^ other.0)
    }
}

impl BitXorAssign for Block {
    #[inline(always)]
    fn bitxor_assign(&mut self, other: Block) {
        self.0 ^= other.0;
    }
}

impl BitAnd for Block {
    type Output = Block;
    #[inline(always)]
    fn bitand(self, other: Block) -> Block {
        Block(self.0 & other.0)
    }
}

/// Sixteen blocks, aligned to a cache line: the unit of work of a kernel on every tier (sixteen
/// registers of AES-NI, eight of VAES-256, four of VAES-512).
#[derive(Clone, Copy, Default, Pod, Zeroable, Zeroize)]
#[repr(C, align(64))]
pub struct Group(pub [Block; GROUP]);

impl Group {
    /// Sixteen zero blocks.
    pub const ZERO: Group = Group([Block::ZERO; GROUP]);

    /// The blocks of many groups, in order, to be written.
    #[inline]
    pub fn as_blocks_mut(groups: &mut [Group]) -> &mut [Block] {
        bytemuck::must_cast_slice_mut(groups)
    }
}

impl Deref for Group {
    type Target = [Block; GROUP];
    #[inline(always)]
    fn deref(&self) -> &[Block; GROUP] {
        &self.0
    }
}

impl DerefMut for Group {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [Block; GROUP] {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_words_and_bits_agree() {
        let bytes: [u8; 16] = std::array::from_fn(|i| i as u8 + 1);
        let block = Block::from_bytes(bytes);
        assert_eq!(block.to_bytes(), bytes);
        assert_eq!(block.words()[1], 0x08070605);
        assert_eq!(block.lsb(), 1);
        assert_eq!(Block::as_bytes(&[block]), bytes);
        assert_eq!(Block::from_word(0x01020304).words(), [0x01020304; 4]);
    }

    #[test]
    fn masks_and_comparisons_see_every_bit() {
        for bit in 0..128 {
            let block = Block::new(1 << bit);
            assert!(!bool::from(block.ct_eq(&Block::ZERO)));
            assert!(bool::from((block ^ block).ct_eq(&Block::ZERO)));
            assert_eq!(block.masked(1).value(), 1 << bit);
            assert_eq!(block.masked(0).value(), 0);
        }
    }
}
