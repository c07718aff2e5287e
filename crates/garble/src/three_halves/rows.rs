//! The rows of a group of gates as bytes.
//!
//! A group of `n` pairs of gate and lane, at most sixteen, is `n` blocks with `G0` and `G1`, then
//! `n` slices `G2` of eight bytes, then `3 n` control bits from bit 0 of byte 0 on, the unused bits
//! of the last byte zero:
//!
//! ```text
//! sixteen pairs   [16 blocks: 256 bytes][16 slices: 128 bytes][48 bits: 6 bytes]   390 bytes
//! ```
//!
//! The control bits of whole groups fill whole bytes, so a run of pairs takes
//! [`bytes`]`(pairs)`, wherever it is cut into groups of sixteen: 24.375 bytes an AND.

use sealane_block::{Block, GROUP, Group};

/// Bytes of the tables of a run of `pairs` pairs that is cut into groups of sixteen.
pub const fn bytes(pairs: u64) -> u64 {
    24 * pairs + (3 * pairs).div_ceil(8)
}

/// Bytes of a whole group.
pub const GROUP_BYTES: usize = bytes(GROUP as u64) as usize;

/// Where the halves of a group end and the third slices begin.
const HALVES: usize = 16 * GROUP;
/// Where the third slices end and the control bits begin.
const THIRDS: usize = 24 * GROUP;

/// The rows of a group as kernels hold them.
#[derive(Clone, Copy, Default)]
pub struct GroupRows {
    /// `G0` in words 0 and 2, `G1` in words 1 and 3.
    pub halves: Group,
    /// `G2` in words 0 and 2, control bits at the bottom of word 1, nothing that counts elsewhere.
    pub thirds: Group,
}

impl GroupRows {
    /// Writes the rows of the first `pairs` pairs, at most sixteen, to the first
    /// [`bytes`]`(pairs)` bytes of `out`.
    ///
    /// # Panics
    /// If `out` is shorter, or there are more than sixteen pairs.
    #[inline(always)]
    pub fn write(&self, pairs: usize, out: &mut [u8]) {
        if let (GROUP, Some(out)) = (pairs, out.first_chunk_mut::<GROUP_BYTES>()) {
            let (thirds, controls) = self.split();
            out[..HALVES].copy_from_slice(Block::as_bytes(&*self.halves));
            out[HALVES..THIRDS].copy_from_slice(bytemuck::must_cast_slice(&thirds));
            out[THIRDS..].copy_from_slice(&controls.to_le_bytes()[..GROUP_BYTES - THIRDS]);
        } else {
            self.write_some(pairs, out);
        }
    }

    /// The inverse of [`write`](GroupRows::write). The other pairs become zero.
    ///
    /// # Panics
    /// If `from` is shorter than [`bytes`]`(pairs)`, or there are more than sixteen pairs.
    #[inline(always)]
    pub fn read(&mut self, pairs: usize, from: &[u8]) {
        if let (GROUP, Some(from)) = (pairs, from.first_chunk::<GROUP_BYTES>()) {
            Block::as_bytes_mut(&mut *self.halves).copy_from_slice(&from[..HALVES]);
            let (mut thirds, mut controls) = ([0; GROUP], [0; 8]);
            bytemuck::must_cast_slice_mut(&mut thirds).copy_from_slice(&from[HALVES..THIRDS]);
            controls[..GROUP_BYTES - THIRDS].copy_from_slice(&from[THIRDS..]);
            self.join(&thirds, u64::from_le_bytes(controls));
        } else {
            self.read_some(pairs, from);
        }
    }

    fn write_some(&self, pairs: usize, out: &mut [u8]) {
        let (thirds, controls) = self.split();
        let controls = controls & !(u64::MAX << (3 * pairs));
        let out = &mut out[..bytes(pairs as u64) as usize];
        let (halves, out) = out.split_at_mut(16 * pairs);
        let (slices, bits) = out.split_at_mut(8 * pairs);
        halves.copy_from_slice(Block::as_bytes(&self.halves[..pairs]));
        slices.copy_from_slice(bytemuck::must_cast_slice(&thirds[..pairs]));
        bits.copy_from_slice(&controls.to_le_bytes()[..bits.len()]);
    }

    fn read_some(&mut self, pairs: usize, from: &[u8]) {
        let from = &from[..bytes(pairs as u64) as usize];
        let (halves, from) = from.split_at(16 * pairs);
        let (slices, bits) = from.split_at(8 * pairs);
        let (mut thirds, mut controls) = ([0; GROUP], [0; 8]);
        self.halves = Group::ZERO;
        Block::as_bytes_mut(&mut self.halves[..pairs]).copy_from_slice(halves);
        bytemuck::must_cast_slice_mut(&mut thirds[..pairs]).copy_from_slice(slices);
        controls[..bits.len()].copy_from_slice(bits);
        self.join(&thirds, u64::from_le_bytes(controls));
    }

    /// The third slices, and three control bits for each.
    #[inline(always)]
    fn split(&self) -> ([u64; GROUP], u64) {
        let (mut thirds, mut controls) = ([0; GROUP], 0);
        for i in 0..GROUP {
            let (low, high) = halves(self.thirds[i]);
            thirds[i] = low & 0xffff_ffff | high << 32;
            controls |= (low >> 32 & 7) << (3 * i);
        }
        (thirds, controls)
    }

    /// The inverse of [`split`](GroupRows::split); the control bits of later pairs stay above those
    /// of a pair, where nobody looks.
    #[inline(always)]
    fn join(&mut self, thirds: &[u64; GROUP], controls: u64) {
        for i in 0..GROUP {
            let low = thirds[i] & 0xffff_ffff | controls >> (3 * i) << 32;
            self.thirds[i] = Block::new(low as u128 | (thirds[i] as u128 >> 32) << 64);
        }
    }
}

#[inline(always)]
fn halves(block: Block) -> (u64, u64) {
    (block.value() as u64, (block.value() >> 64) as u64)
}
