//! Output labels become bits: by comparing hashes of labels, never by the permute bit alone.
//!
//! A permute bit is one bit of a label; whoever flips it in transit flips the output. A hash of
//! the whole label matches one of the garbler's two or nothing. The garbler's hashes tell the
//! evaluator nothing about the label it does not hold, because the hash is circular correlation
//! robust and the tweaks are those of no gate.

use sealane_block::{Block, Cpu, GROUP, MiHash};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

/// An output label matches neither of its two values: something was corrupted on the way.
#[derive(Debug, thiserror::Error)]
#[error(
    "an output label matches neither of its values: tables or labels were corrupted on the way"
)]
pub struct DecodeError;

/// The half of a tweak that output labels take.
const OUTPUT_HALF: u32 = 0;

/// Hashes labels in place with the tweaks of the groups from `next_group` on, which it passes.
pub(crate) fn hash_outputs(cpu: Cpu, mi: MiHash, next_group: &mut u64, labels: &mut [Block]) {
    mi.hash(cpu, *next_group, OUTPUT_HALF, labels);
    *next_group += labels.len().div_ceil(GROUP) as u64;
}

/// The bits, 0 or 1 a byte, for which `hashes[i]` is `table[i][bit]`. All are looked at before the
/// verdict; when one matches nothing, every bit is cleared.
///
/// # Errors
/// A hash matches neither of its two.
// A frame of its own, by which the check of secrets tells this verdict from all else.
#[inline(never)]
pub fn decode(hashes: &[Block], table: &[[Block; 2]], bits: &mut [u8]) -> Result<(), DecodeError> {
    let mut all = Choice::from(1);
    for ((hash, [zero, one]), bit) in hashes.iter().zip(table).zip(&mut *bits) {
        let (is_zero, is_one) = (hash.ct_eq(zero), hash.ct_eq(one));
        all &= is_zero ^ is_one;
        *bit = u8::conditional_select(&0, &1, is_one);
    }
    if bool::from(all) {
        Ok(())
    } else {
        bits.fill(0);
        Err(DecodeError)
    }
}
