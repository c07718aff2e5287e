//! Decoding of output labels to bits, by comparing hashes of whole labels and never by the permute
//! bit alone.
//!
//! A permute bit is one bit of a label, and flipping it in transit would flip the output. A hash of
//! the whole label matches one of the garbler's two hashes or neither. The garbler's hashes tell
//! the evaluator nothing about the label that it does not hold: a decoding is a call of its own,
//! and its tweaks are used by no gate.

use sealane_block::{Block, Cpu, LabelHash, Tweak};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

use crate::scheme::{Hash, with_hash};

/// An output label matches neither of its two values: something was corrupted on the way.
#[derive(Debug, thiserror::Error)]
#[error(
    "an output label matches neither of its values: tables or labels were corrupted on the way"
)]
pub struct DecodeError;

/// The tweak part that no gate uses.
const OUTPUT: u32 = 15;

/// Hashes labels in place, as outputs of the given call from number `first` on.
pub(crate) fn hash_outputs(
    cpu: Cpu,
    hash: &Hash,
    (call, first): (u64, usize),
    labels: &mut [Block],
) {
    let row = u32::try_from(first + labels.len()).map(|_| first as u32);
    let first = Tweak {
        gate: 0,
        call,
        row: row.expect("fewer than 2^32 labels are decoded in a call"),
        part: OUTPUT,
    };
    with_hash!(hash,
        hash => hash.hash(cpu, first, labels),
        three_halves(hash) => hash.hash(cpu, first, labels),
        prf(f) => f.hash(cpu, first, labels),
    );
}

/// Returns the bits, one byte each, 0 or 1, for which `hashes[i]` is `table[i][bit]`. All hashes
/// are compared before the verdict; if one matches neither entry, every bit is cleared.
///
/// # Errors
/// [`DecodeError`] if a hash matches neither of its two entries.
pub fn decode(hashes: &[Block], table: &[[Block; 2]], bits: &mut [u8]) -> Result<(), DecodeError> {
    let mut all = Choice::from(1);
    for ((hash, [zero, one]), bit) in hashes.iter().zip(table).zip(&mut *bits) {
        let (is_zero, is_one) = (hash.ct_eq(zero), hash.ct_eq(one));
        all &= is_zero ^ is_one;
        *bit = u8::conditional_select(&0, &1, is_one);
    }
    verdict(all, bits)
}

/// The verdict, which the run makes public; bits are cleared when it is bad.
// It has a stack frame of its own, by which the check of secrets tells this branch from all others,
// including those of the comparisons.
#[inline(never)]
fn verdict(all: Choice, bits: &mut [u8]) -> Result<(), DecodeError> {
    if bool::from(all) {
        Ok(())
    } else {
        bits.fill(0);
        Err(DecodeError)
    }
}
