//! Types, shapes, ranges and the data that fills them.

/// The type of every element of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A truth value; stored as one bit.
    Bool,
    /// An integer in two's complement.
    Int {
        /// Whether negative values exist.
        signed: bool,
        /// Width in bits, 1 to 64.
        bits: u8,
        /// Whether arithmetic wraps modulo `2^bits` instead of being refused when it could overflow.
        wrapping: bool,
    },
}

/// A first dimension whose length is known only at run time: the number of rows of a table.
/// An index into [`crate::graph::Program::rows`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowId(pub u16);

/// The shape of a value: an optional symbolic first dimension, then fixed ones. A scalar has none.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Shape {
    /// The symbolic first dimension, if there is one.
    pub rows: Option<RowId>,
    /// The fixed dimensions that follow, outermost first.
    pub fixed: Vec<u64>,
}

/// The values an element can take, both ends included. Bits of a `bool` are 0 and 1.
/// For a `wrapping` type it is the whole range of the type unless something narrower is certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Range {
    /// Smallest value.
    pub lo: i128,
    /// Largest value.
    pub hi: i128,
}

impl Range {
    /// Bits of the smallest two's complement (if `lo` is negative) or unsigned form that holds
    /// every value of the range; at least 1. Values are stored in this many bits.
    pub fn bits(&self) -> u8 {
        let unsigned = |v: i128| (128 - v.leading_zeros()) as u8;
        match self.lo < 0 {
            false => unsigned(self.hi).max(1),
            true => unsigned(!self.lo).max(unsigned(self.hi.max(0))) + 1,
        }
    }
    /// Whether the stored form has a sign bit.
    pub fn signed(&self) -> bool {
        self.lo < 0
    }
}

/// Concrete elements, row-major. Elements of signed types are sign-extended to 64 bits, of unsigned
/// ones zero-extended, of `bool` 0 or 1. Holds users' data: no `Debug`, zeroed on drop by whoever
/// wraps it.
#[derive(Clone, PartialEq, Eq)]
pub struct Data {
    /// Element type.
    pub ty: Type,
    /// All dimensions, the number of rows filled in.
    pub shape: Vec<u64>,
    /// The elements; as many as the product of the shape.
    pub elements: Vec<u64>,
}
