//! Tweaks, and the numbers of calls of which they are made.

use crate::Block;

/// The tweak of a hash, which separates it from all others under the same seed: tweaks that differ
/// have blocks that differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tweak {
    /// The number of the gate in its circuit.
    pub gate: u32,
    /// The number of the call, of the circuit or of a decoding: below 2^52.
    pub call: u64,
    /// The row (lane) of the call.
    pub row: u32,
    /// Number of the hash within the gate: below 4096. Between two parties it is below 16, which
    /// leaves as many for the shares of each of 256 parties.
    pub part: u32,
}

/// Bits of the number of a part.
const PART_BITS: u32 = 12;

/// Parts of a gate: 16 for each of 256 parties, since garbling among `n` parties hashes the labels
/// of a row once for each of them (Wang, Ranellucci and Katz, "Global-Scale Secure Multiparty
/// Computation", CCS 2017, section 4).
pub(super) const PARTS: u32 = 1 << PART_BITS;

/// Calls that have a number.
pub(super) const CALLS: u64 = 1 << (64 - PART_BITS);

impl Tweak {
    /// The tweak of a row, for part 0 of its gate.
    #[inline(always)]
    pub(super) fn of_row(gate: u32, call: u64, row: u32) -> Tweak {
        let part = 0;
        Tweak {
            gate,
            call,
            row,
            part,
        }
    }

    /// Refuses numbers that do not fit the block, for this row and those behind it: two hashes
    /// would share a tweak. Callers that set tweaks for many rows call it once.
    ///
    /// # Panics
    /// If a number is out of its bounds.
    pub const fn check(self, rows: usize) {
        assert!(self.call < CALLS, "a seed serves 2^52 calls");
        assert!(self.part < PARTS, "a gate has 4096 parts");
        assert!(
            rows as u64 <= (1 << 32) - self.row as u64,
            "a call has 2^32 rows"
        );
    }

    /// Packs the numbers into the words of a block: gate, the lower word of the call, row, and in
    /// the last word the part below the rest of the call.
    #[inline]
    pub const fn block(self) -> Block {
        debug_assert!(self.call < CALLS && self.part < PARTS);
        let low = self.gate as u128 | (((self.call as u32) as u128) << 32);
        let high = self.row as u64 | ((high_word(self.call) | self.part) as u64) << 32;
        Block::new(low | (high as u128) << 64)
    }
}

/// Counter of the calls under one seed; each number is given once.
#[derive(Debug, Default)]
pub struct Calls(pub(super) u64);

impl Calls {
    /// Returns the number of the next call, without taking it.
    pub fn next(&self) -> u64 {
        self.0
    }

    /// Takes the number of a call, which no other call gets.
    ///
    /// # Panics
    /// If all 2^52 have been given: the next one would have the tweaks of the first.
    pub fn take(&mut self) -> u64 {
        assert!(self.0 < CALLS, "a seed serves 2^52 calls");
        self.0 += 1;
        self.0 - 1
    }
}

/// Returns the bits of a call's number that go into the word of parts.
#[inline]
pub(super) const fn high_word(call: u64) -> u32 {
    ((call >> 32) as u32) << PART_BITS
}
