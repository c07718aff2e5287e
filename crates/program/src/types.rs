//! Types, shapes, ranges and the data that fills them.
//!
//! What the numbers mean (wrapping, common types, division) is the norm of `NUMERICS.md`; the
//! rules of each operation are in [`crate::infer`].

use std::fmt;
use std::str::FromStr;
use zeroize::Zeroize;

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
        /// Whether arithmetic wraps modulo `2^bits` instead of being refused when it could
        /// overflow.
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

impl Type {
    /// The type of bytes.
    pub const U8: Type = Type::unsigned(8);
    /// The type of bare numbers that stand beside no typed value.
    pub const I64: Type = Type::signed(64);

    /// The unsigned type of 1 to 64 `bits` that refuses to overflow.
    pub const fn unsigned(bits: u8) -> Type {
        assert!(1 <= bits && bits <= 64);
        Type::Int {
            signed: false,
            bits,
            wrapping: false,
        }
    }

    /// The signed type of 1 to 64 `bits` that refuses to overflow.
    pub const fn signed(bits: u8) -> Type {
        assert!(1 <= bits && bits <= 64);
        Type::Int {
            signed: true,
            bits,
            wrapping: false,
        }
    }

    /// The same width and sign with arithmetic modulo `2^bits`. `bool` has no such form and stays.
    pub const fn wrapping(self) -> Type {
        match self {
            Type::Bool => Type::Bool,
            Type::Int { signed, bits, .. } => Type::Int {
                signed,
                bits,
                wrapping: true,
            },
        }
    }

    /// The same width and sign with arithmetic that refuses to overflow.
    pub const fn strict(self) -> Type {
        match self {
            Type::Bool => Type::Bool,
            Type::Int { signed, bits, .. } => Type::Int {
                signed,
                bits,
                wrapping: false,
            },
        }
    }

    /// The smallest integer type that holds every value of `range`, unsigned where it can be;
    /// `None` if that needs more than 64 bits.
    pub fn smallest(range: Range) -> Option<Type> {
        let bits = range.bits();
        (bits <= 64).then(|| Type::Int {
            signed: range.signed(),
            bits,
            wrapping: false,
        })
    }

    /// The smallest integer type that holds every value of both types, `bool` counting as `u1`.
    /// It wraps if both do. `None` if it needs more than 64 bits or only one of the two wraps.
    pub fn common(self, other: Type) -> Option<Type> {
        if self.is_wrapping() != other.is_wrapping() {
            return None;
        }
        let common = Type::smallest(self.range().hull(other.range()))?;
        Some(if self.is_wrapping() {
            common.wrapping()
        } else {
            common
        })
    }

    /// Width in bits.
    pub const fn bits(self) -> u8 {
        match self {
            Type::Bool => 1,
            Type::Int { bits, .. } => bits,
        }
    }

    /// Whether arithmetic in this type is modulo `2^bits`.
    pub const fn is_wrapping(self) -> bool {
        matches!(self, Type::Int { wrapping: true, .. })
    }

    /// Whether the width is one that a type can have. A type made by hand may not have it.
    pub const fn is_valid(self) -> bool {
        1 <= self.bits() && self.bits() <= 64
    }

    /// Every value of the type.
    pub const fn range(self) -> Range {
        match self {
            Type::Bool => Range { lo: 0, hi: 1 },
            Type::Int {
                signed: false,
                bits,
                ..
            } => Range {
                lo: 0,
                hi: (1 << bits) - 1,
            },
            Type::Int {
                signed: true, bits, ..
            } => Range {
                lo: -(1 << (bits - 1)),
                hi: (1 << (bits - 1)) - 1,
            },
        }
    }

    /// Whether every value of `range` is a value of the type.
    pub const fn holds(self, range: Range) -> bool {
        self.range().contains(range)
    }

    /// The value of the type that equals `number` modulo `2^bits`.
    pub const fn wrap(self, number: i128) -> i128 {
        let all = self.range();
        let modulus = 1i128 << self.bits();
        let residue = number.rem_euclid(modulus);
        if residue > all.hi {
            residue - modulus
        } else {
            residue
        }
    }
}

/// As in the text form and in Python after `sl.`: `bool`, `u8`, `i64`, `u32.wrapping`.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Bool => f.write_str("bool"),
            Type::Int {
                signed,
                bits,
                wrapping,
            } => {
                let sign = if *signed { 'i' } else { 'u' };
                write!(
                    f,
                    "{sign}{bits}{}",
                    if *wrapping { ".wrapping" } else { "" }
                )
            }
        }
    }
}

/// What is written is not the name of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a type is `bool`, `u1` to `u64` or `i1` to `i64`, with `.wrapping` after it or not")]
pub struct NotAType;

impl FromStr for Type {
    type Err = NotAType;

    fn from_str(text: &str) -> Result<Type, NotAType> {
        if text == "bool" {
            return Ok(Type::Bool);
        }
        let (name, wrapping) = match text.strip_suffix(".wrapping") {
            Some(name) => (name, true),
            None => (text, false),
        };
        let (signed, digits) = match (name.strip_prefix('i'), name.strip_prefix('u')) {
            (Some(digits), _) => (true, digits),
            (_, Some(digits)) => (false, digits),
            _ => return Err(NotAType),
        };
        let canonical = !digits.starts_with('0') && digits.bytes().all(|c| c.is_ascii_digit());
        match digits.parse() {
            Ok(bits @ 1..=64) if canonical => Ok(Type::Int {
                signed,
                bits,
                wrapping,
            }),
            _ => Err(NotAType),
        }
    }
}

impl Shape {
    /// The shape of one element.
    pub fn scalar() -> Shape {
        Shape::default()
    }

    /// A shape without a symbolic dimension.
    pub fn fixed(fixed: impl Into<Vec<u64>>) -> Shape {
        Shape {
            rows: None,
            fixed: fixed.into(),
        }
    }

    /// A shape whose first dimension is symbolic.
    pub fn with_rows(rows: RowId, fixed: impl Into<Vec<u64>>) -> Shape {
        Shape {
            rows: Some(rows),
            fixed: fixed.into(),
        }
    }

    /// Number of dimensions, the symbolic one included.
    pub fn rank(&self) -> usize {
        usize::from(self.rows.is_some()) + self.fixed.len()
    }

    /// Elements in one row: the product of the fixed dimensions; `None` above `u64`.
    pub fn row_elements(&self) -> Option<u64> {
        self.fixed
            .iter()
            .try_fold(1u64, |product, &n| product.checked_mul(n))
    }

    /// The dimension `axis`, counted with the symbolic one.
    pub fn dim(&self, axis: usize) -> Option<Dim> {
        match (self.rows, axis) {
            (Some(rows), 0) => Some(Dim::Rows(rows)),
            (Some(_), _) => self.fixed.get(axis - 1).copied().map(Dim::Fixed),
            (None, _) => self.fixed.get(axis).copied().map(Dim::Fixed),
        }
    }

    /// The shape without dimension `axis`, counted with the symbolic one. `axis` is below the rank.
    pub fn without(&self, axis: usize) -> Shape {
        let mut shape = self.clone();
        match (self.rows, axis) {
            (Some(_), 0) => shape.rows = None,
            (Some(_), _) => drop(shape.fixed.remove(axis - 1)),
            (None, _) => drop(shape.fixed.remove(axis)),
        }
        shape
    }
}

/// One dimension of a [`Shape`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dim {
    /// The symbolic first one.
    Rows(RowId),
    /// One of known length.
    Fixed(u64),
}

impl Range {
    /// The range of one number.
    pub const fn of(number: i128) -> Range {
        Range {
            lo: number,
            hi: number,
        }
    }

    /// The smallest range with all of the given numbers; `None` if there are none.
    pub fn of_all(numbers: impl IntoIterator<Item = i128>) -> Option<Range> {
        numbers.into_iter().map(Range::of).reduce(Range::hull)
    }

    /// The smallest range that contains both.
    pub fn hull(self, other: Range) -> Range {
        Range {
            lo: self.lo.min(other.lo),
            hi: self.hi.max(other.hi),
        }
    }

    /// Whether `inner` lies within this range.
    pub const fn contains(self, inner: Range) -> bool {
        self.lo <= inner.lo && inner.hi <= self.hi
    }

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
/// ones zero-extended, of `bool` 0 or 1. Holds users' data: no `Debug`, zeroed on drop. It can be
/// compared, because constants of programs are data too.
#[derive(Clone, PartialEq, Eq)]
pub struct Data {
    /// Element type.
    pub ty: Type,
    /// All dimensions, the number of rows filled in.
    pub shape: Vec<u64>,
    /// The elements; as many as the product of the shape.
    pub elements: Vec<u64>,
}

impl Drop for Data {
    fn drop(&mut self) {
        self.elements.zeroize();
    }
}

impl Data {
    /// Elements of type `ty` from numbers; `None` if a number is not a value of the type or there
    /// are not as many as the shape says.
    pub fn from_numbers(ty: Type, shape: Vec<u64>, numbers: &[i128]) -> Option<Data> {
        let count = shape
            .iter()
            .try_fold(1u64, |product, &n| product.checked_mul(n))?;
        let fits = numbers.iter().all(|&number| ty.holds(Range::of(number)));
        let elements = || numbers.iter().map(|&number| number as u64).collect();
        (fits && count == numbers.len() as u64).then(|| Data {
            ty,
            shape,
            elements: elements(),
        })
    }

    /// The elements as numbers, row-major.
    pub fn numbers(&self) -> impl Iterator<Item = i128> + '_ {
        let signed = matches!(self.ty, Type::Int { signed: true, .. });
        let number = move |&e: &u64| {
            if signed {
                i128::from(e as i64)
            } else {
                i128::from(e)
            }
        };
        self.elements.iter().map(number)
    }
}

/// Inclusive at both ends: `0..255`.
impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.lo, self.hi)
    }
}
