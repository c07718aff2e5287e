//! Intervals of (stored) numbers, and their storage size.

use super::Type;
use serde::{Serialize, Serializer};
use std::fmt;

/// Values that an element can take, both ends included. A `bool` is 0 or 1, and for fixed point the
/// range is of the stored number. For a `wrapping` type it is the whole range of the type unless
/// something narrower is certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Range {
    /// Smallest value.
    pub lo: i128,
    /// Largest value.
    pub hi: i128,
}

impl Range {
    /// The range from one number to another.
    pub const fn new(lo: i128, hi: i128) -> Range {
        Range { lo, hi }
    }

    /// The range of one number.
    pub const fn of(number: i128) -> Range {
        Range::new(number, number)
    }

    /// The smallest range with all of the given numbers; `None` if there are none.
    pub fn of_all(numbers: impl IntoIterator<Item = i128>) -> Option<Range> {
        numbers.into_iter().map(Range::of).reduce(Range::hull)
    }

    /// The smallest range that contains both.
    pub fn hull(self, other: Range) -> Range {
        Range::new(self.lo.min(other.lo), self.hi.max(other.hi))
    }

    /// The range of every number times `2^by`, rounded towards minus infinity; `None` where that
    /// leaves `i128`.
    pub fn shifted(self, by: i16) -> Option<Range> {
        let down = u32::from(by.unsigned_abs()).min(127);
        let shift = |end: i128| match by {
            ..0 => Some(end >> down),
            0..=126 => end.checked_mul(1 << by),
            127.. => (end == 0).then_some(0),
        };
        Some(Range::new(shift(self.lo)?, shift(self.hi)?))
    }

    /// The range of stored numbers of `from` in stored numbers of `to`, rounded towards minus
    /// infinity where `to` has fewer bits behind the point; `None` where that leaves `i128`.
    pub fn converted(self, from: Type, to: Type) -> Option<Range> {
        self.shifted(i16::from(to.fraction()) - i16::from(from.fraction()))
    }

    /// Returns whether `inner` lies within this range.
    pub const fn contains(self, inner: Range) -> bool {
        self.lo <= inner.lo && inner.hi <= self.hi
    }

    /// Bits of the smallest two's complement (if `lo` is negative) or unsigned form that holds
    /// every value of the range; at least 1. Values are stored in this many bits.
    pub fn bits(&self) -> u8 {
        let unsigned = |v: i128| (128 - v.leading_zeros()) as u8;
        if self.lo >= 0 {
            unsigned(self.hi).max(1)
        } else {
            unsigned(!self.lo).max(unsigned(self.hi.max(0))) + 1
        }
    }
    /// Returns whether the stored form has a sign bit.
    pub fn signed(&self) -> bool {
        self.lo < 0
    }
}

/// Inclusive at both ends: `0..255`.
impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.lo, self.hi)
    }
}

/// Both ends, as a list.
impl Serialize for Range {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        [self.lo, self.hi].serialize(serializer)
    }
}
