//! Types, shapes, ranges and the data that fills them.
//!
//! What the numbers mean (wrapping, common types, division) is the norm of `NUMERICS.md`; the
//! rules of each operation are in [`crate::infer`]. A fixed-point number is known here by its
//! *stored number*, the integer `value * 2^fraction`; [`crate::decimal`] reads and writes it.

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
    /// A fixed-point number: the multiple `stored / 2^fraction` of a power of two. Arithmetic
    /// refuses to overflow.
    Fixed {
        /// Whether negative values exist.
        signed: bool,
        /// Width in bits of the stored number, 1 to 64, the sign included.
        bits: u8,
        /// How many of these bits stand behind the binary point: at most `bits`.
        fraction: u8,
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

/// The values an element can take, both ends included. Bits of a `bool` are 0 and 1, and of a
/// fixed-point value it is the stored number that lies in the range.
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

    /// The signed fixed-point type of `integer` bits before the binary point, the sign among them,
    /// and `fraction` bits behind it: together 1 to 64.
    pub const fn fixed(integer: u8, fraction: u8) -> Type {
        assert!(integer <= 64 && fraction <= 64);
        let ty = Type::Fixed {
            signed: true,
            bits: integer + fraction,
            fraction,
        };
        assert!(ty.is_valid());
        ty
    }

    /// The fixed-point type without negative values of `integer` bits before the binary point and
    /// `fraction` bits behind it: together 1 to 64.
    pub const fn ufixed(integer: u8, fraction: u8) -> Type {
        match Type::fixed(integer, fraction) {
            Type::Fixed { bits, fraction, .. } => Type::Fixed {
                signed: false,
                bits,
                fraction,
            },
            other => other,
        }
    }

    /// The same width and sign with arithmetic modulo `2^bits`. `bool` and fixed-point types have
    /// no such form and stay.
    pub const fn wrapping(self) -> Type {
        match self {
            Type::Bool | Type::Fixed { .. } => self,
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
            Type::Bool | Type::Fixed { .. } => self,
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

    /// The smallest type of this kind that holds every stored number of `range`: fixed point with
    /// as many bits behind the point, or an integer. `None` if that needs more than 64 bits.
    pub fn smallest_like(self, range: Range) -> Option<Type> {
        let Type::Fixed { fraction, .. } = self else {
            return Type::smallest(range);
        };
        let bits = range.bits().max(fraction);
        (bits <= 64).then(|| Type::Fixed {
            signed: range.signed(),
            bits,
            fraction,
        })
    }

    /// The smallest type that holds every value of both types, `bool` counting as `u1`: fixed
    /// point if one of them is, with the longer fraction of the two. It wraps if both do. `None`
    /// if it needs more than 64 bits or only one of the two wraps.
    pub fn common(self, other: Type) -> Option<Type> {
        if self.is_wrapping() != other.is_wrapping() {
            return None;
        }
        let (one, two) = (self.range(), other.range());
        if self.is_fixed() || other.is_fixed() {
            let finest = match self.is_fixed() && self.fraction() >= other.fraction() {
                true => self,
                false => other,
            };
            let (one, two) = (one.converted(self, finest)?, two.converted(other, finest)?);
            return finest.smallest_like(one.hull(two));
        }
        let common = Type::smallest(one.hull(two))?;
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
            Type::Int { bits, .. } | Type::Fixed { bits, .. } => bits,
        }
    }

    /// Bits behind the binary point: 0 but for fixed point.
    pub const fn fraction(self) -> u8 {
        match self {
            Type::Bool | Type::Int { .. } => 0,
            Type::Fixed { fraction, .. } => fraction,
        }
    }

    /// Whether it is a fixed-point type.
    pub const fn is_fixed(self) -> bool {
        matches!(self, Type::Fixed { .. })
    }

    /// Whether it has negative values.
    pub const fn is_signed(self) -> bool {
        matches!(
            self,
            Type::Int { signed: true, .. } | Type::Fixed { signed: true, .. }
        )
    }

    /// Whether arithmetic in this type is modulo `2^bits`.
    pub const fn is_wrapping(self) -> bool {
        matches!(self, Type::Int { wrapping: true, .. })
    }

    /// Whether the width is one that a type can have. A type made by hand may not have it.
    pub const fn is_valid(self) -> bool {
        1 <= self.bits() && self.bits() <= 64 && self.fraction() <= self.bits()
    }

    /// Every value of the type; of fixed point, every stored number.
    pub const fn range(self) -> Range {
        let bits = self.bits();
        if self.is_signed() {
            Range {
                lo: -(1 << (bits - 1)),
                hi: (1 << (bits - 1)) - 1,
            }
        } else {
            Range {
                lo: 0,
                hi: (1 << bits) - 1,
            }
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

impl Type {
    /// As Python spells it: `sl.u8`, `sl.boolean`, `sl.fixed(16, 16)`.
    pub fn python(self) -> String {
        match self {
            Type::Bool => "sl.boolean".into(),
            Type::Int { .. } => format!("sl.{self}"),
            Type::Fixed {
                signed,
                bits,
                fraction,
            } => {
                let sign = if signed { "" } else { "u" };
                format!("sl.{sign}fixed({}, {fraction})", bits - fraction)
            }
        }
    }
}

/// As in the text form: `bool`, `u8`, `i64`, `u32.wrapping`, `fixed16.16`, `ufixed8.8`.
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
            Type::Fixed {
                signed,
                bits,
                fraction,
            } => {
                let sign = if *signed { "" } else { "u" };
                write!(
                    f,
                    "{sign}fixed{}.{fraction}",
                    bits.saturating_sub(*fraction)
                )
            }
        }
    }
}

/// What is written is not the name of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a type is `bool`, `u1` to `u64` or `i1` to `i64`, with `.wrapping` after it or not, or \
     `fixedI.F` or `ufixedI.F` of I and F bits before and behind the point, together 1 to 64"
)]
pub struct NotAType;

impl FromStr for Type {
    type Err = NotAType;

    fn from_str(text: &str) -> Result<Type, NotAType> {
        if text == "bool" {
            return Ok(Type::Bool);
        }
        if let Some(digits) = text.strip_prefix("fixed") {
            return fixed_point(true, digits).ok_or(NotAType);
        }
        if let Some(digits) = text.strip_prefix("ufixed") {
            return fixed_point(false, digits).ok_or(NotAType);
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
        match canonical(digits) {
            Some(bits @ 1..=64) => Ok(Type::Int {
                signed,
                bits,
                wrapping,
            }),
            _ => Err(NotAType),
        }
    }
}

/// The fixed-point type of `16.16`: bits before and behind the point.
fn fixed_point(signed: bool, digits: &str) -> Option<Type> {
    let (integer, fraction) = digits.split_once('.')?;
    let (integer, fraction) = (canonical(integer)?, canonical(fraction)?);
    let ty = Type::Fixed {
        signed,
        bits: integer.checked_add(fraction)?,
        fraction,
    };
    ty.is_valid().then_some(ty)
}

/// A number written in the one way that [`Type`] writes it.
fn canonical(digits: &str) -> Option<u8> {
    let plain = digits.bytes().all(|c| c.is_ascii_digit());
    let padded = digits.len() > 1 && digits.starts_with('0');
    digits.parse().ok().filter(|_| plain && !padded)
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

    /// The range of every number times `2^by`, rounded towards minus infinity; `None` where that
    /// leaves `i128`.
    pub fn shifted(self, by: i16) -> Option<Range> {
        let down = u32::from(by.unsigned_abs()).min(127);
        let shift = |end: i128| match by {
            ..0 => Some(end >> down),
            0..=126 => end.checked_mul(1 << by),
            127.. => (end == 0).then_some(0),
        };
        Some(Range {
            lo: shift(self.lo)?,
            hi: shift(self.hi)?,
        })
    }

    /// The range of stored numbers of `from` in stored numbers of `to`, rounded towards minus
    /// infinity where `to` has fewer bits behind the point; `None` where that leaves `i128`.
    pub fn converted(self, from: Type, to: Type) -> Option<Range> {
        self.shifted(i16::from(to.fraction()) - i16::from(from.fraction()))
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
    /// The elements; as many as the product of the shape. Of fixed point, the stored numbers.
    pub elements: Vec<u64>,
}

impl Drop for Data {
    fn drop(&mut self) {
        self.elements.zeroize();
    }
}

impl Data {
    /// Elements of type `ty` from (stored) numbers; `None` if a number is not a value of the type or there
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

    /// The elements as (stored) numbers, row-major.
    pub fn numbers(&self) -> impl Iterator<Item = i128> + '_ {
        let signed = self.ty.is_signed();
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
