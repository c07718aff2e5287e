//! Types, shapes, ranges and the data that fills them.
//!
//! `NUMERICS.md` is the norm for the meaning of numbers (wrapping, common types, division); the
//! rules of each operation are in [`crate::infer`]. Fixed-point numbers are represented here by
//! their *stored number*, the integer `value * 2^fraction`; [`crate::decimal`] reads and writes it.
//! The stored number of a floating-point number is its interchange form ([`crate::float`]).

mod data;
mod magnitude;
mod range;
mod shape;

pub use data::{Data, make_room};
pub use range::Range;
pub use shape::{Dim, RowId, Shape};

use crate::float;
use sealane_numeric::Format;
use serde::{Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// The type of every element of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A truth value; stored as one bit.
    Bool,
    /// An integer in two's complement.
    Int {
        /// True if negative values exist.
        signed: bool,
        /// Width in bits, 1 to 64.
        bits: u8,
        /// True if arithmetic wraps modulo `2^bits` instead of being refused when it could
        /// overflow.
        wrapping: bool,
    },
    /// A fixed-point number: the multiple `stored / 2^fraction` of a power of two. Arithmetic
    /// refuses to overflow.
    Fixed {
        /// True if negative values exist.
        signed: bool,
        /// Width in bits of the stored number, 1 to 64, the sign included.
        bits: u8,
        /// Number of bits after the binary point: at most `bits`.
        fraction: u8,
    },
    /// A floating-point number of IEEE 754. Its stored number is its interchange form, an unsigned
    /// integer of as many bits; ranges of values are not tracked, so each has the whole range.
    Float(Format),
}

impl Type {
    /// The type of bytes.
    pub const U8: Type = Type::unsigned(8);
    /// The type of bare numbers that stand beside no typed value.
    pub const I64: Type = Type::signed(64);
    /// Single precision.
    pub const F32: Type = Type::Float(Format::F32);
    /// Double precision.
    pub const F64: Type = Type::Float(Format::F64);

    const fn int(signed: bool, bits: u8, wrapping: bool) -> Type {
        Type::Int {
            signed,
            bits,
            wrapping,
        }
    }

    /// A fixed-point type of so many bits, which need not be one that programs can have.
    pub(crate) const fn fixed_point(signed: bool, bits: u8, fraction: u8) -> Type {
        Type::Fixed {
            signed,
            bits,
            fraction,
        }
    }

    /// The unsigned type of 1 to 64 `bits` that refuses to overflow.
    pub const fn unsigned(bits: u8) -> Type {
        assert!(1 <= bits && bits <= 64);
        Type::int(false, bits, false)
    }

    /// The signed type of 1 to 64 `bits` that refuses to overflow.
    pub const fn signed(bits: u8) -> Type {
        assert!(1 <= bits && bits <= 64);
        Type::int(true, bits, false)
    }

    /// The signed fixed-point type of `integer` bits before the binary point, the sign among them,
    /// and `fraction` bits behind it: together 1 to 64.
    pub const fn fixed(integer: u8, fraction: u8) -> Type {
        assert!(integer <= 64 && fraction <= 64);
        let ty = Type::fixed_point(true, integer + fraction, fraction);
        assert!(ty.is_valid());
        ty
    }

    /// The fixed-point type without negative values of `integer` bits before the binary point and
    /// `fraction` bits behind it: together 1 to 64.
    pub const fn ufixed(integer: u8, fraction: u8) -> Type {
        match Type::fixed(integer, fraction) {
            Type::Fixed { bits, fraction, .. } => Type::fixed_point(false, bits, fraction),
            other => other,
        }
    }

    /// The same width and sign with arithmetic modulo `2^bits`. `bool`, fixed-point and
    /// floating-point types have no such form and stay.
    pub const fn wrapping(self) -> Type {
        match self {
            Type::Bool | Type::Fixed { .. } | Type::Float(_) => self,
            Type::Int { signed, bits, .. } => Type::int(signed, bits, true),
        }
    }

    /// The same width and sign with arithmetic that refuses to overflow.
    pub const fn strict(self) -> Type {
        match self {
            Type::Bool | Type::Fixed { .. } | Type::Float(_) => self,
            Type::Int { signed, bits, .. } => Type::int(signed, bits, false),
        }
    }

    /// The smallest integer type that holds every value of `range`, unsigned where it can be;
    /// `None` if that needs more than 64 bits.
    pub fn smallest(range: Range) -> Option<Type> {
        let bits = range.bits();
        (bits <= 64).then(|| Type::int(range.signed(), bits, false))
    }

    /// The smallest type of this kind that holds every stored number of `range`: fixed point with
    /// as many bits behind the point, the floating-point type itself, or an integer. `None` if that
    /// needs more than 64 bits.
    pub fn smallest_like(self, range: Range) -> Option<Type> {
        let fraction = match self {
            Type::Fixed { fraction, .. } => fraction,
            Type::Float(_) => return self.holds(range).then_some(self),
            _ => return Type::smallest(range),
        };
        let bits = range.bits().max(fraction);
        (bits <= 64).then(|| Type::fixed_point(range.signed(), bits, fraction))
    }

    /// The smallest type that holds every value of both types, `bool` counting as `u1`: fixed
    /// point if one of them is, with the longer fraction of the two. It wraps if both do. `None`
    /// if it needs more than 64 bits, or only one of the two wraps or is floating point.
    pub fn common(self, other: Type) -> Option<Type> {
        match (self, other) {
            (Type::Float(a), Type::Float(b)) => return Some(Type::Float(float::common(a, b))),
            (Type::Float(_), _) | (_, Type::Float(_)) => return None,
            _ => {}
        }
        if self.is_wrapping() != other.is_wrapping() {
            return None;
        }
        let (one, two) = (self.range(), other.range());
        if self.is_fixed() || other.is_fixed() {
            let finest = if self.is_fixed() && self.fraction() >= other.fraction() {
                self
            } else {
                other
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
            Type::Float(format) => format.bits() as u8,
        }
    }

    /// Bits behind the binary point: 0 but for fixed point.
    pub const fn fraction(self) -> u8 {
        match self {
            Type::Bool | Type::Int { .. } | Type::Float(_) => 0,
            Type::Fixed { fraction, .. } => fraction,
        }
    }

    /// Returns whether it is a fixed-point type.
    pub const fn is_fixed(self) -> bool {
        matches!(self, Type::Fixed { .. })
    }

    /// Returns whether it is a floating-point type.
    pub const fn is_float(self) -> bool {
        matches!(self, Type::Float(_))
    }

    /// The format of a floating-point type.
    pub const fn format(self) -> Option<Format> {
        match self {
            Type::Float(format) => Some(format),
            _ => None,
        }
    }

    /// Returns whether stored numbers have a sign: floating point has it among its bits.
    pub const fn is_signed(self) -> bool {
        matches!(
            self,
            Type::Int { signed: true, .. } | Type::Fixed { signed: true, .. }
        )
    }

    /// Returns whether arithmetic in this type is modulo `2^bits`.
    pub const fn is_wrapping(self) -> bool {
        matches!(self, Type::Int { wrapping: true, .. })
    }

    /// Returns whether the width is valid. A type built by hand may have an invalid one.
    pub const fn is_valid(self) -> bool {
        1 <= self.bits() && self.bits() <= 64 && self.fraction() <= self.bits()
    }

    /// Every value of the type; of fixed and floating point, every stored number.
    pub const fn range(self) -> Range {
        let bits = self.bits();
        if self.is_signed() {
            Range::new(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        } else {
            Range::new(0, (1 << bits) - 1)
        }
    }

    /// Returns whether every value of `range` is a value of the type.
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

    /// As Python spells it: `sl.u8`, `sl.boolean`, `sl.fixed(16, 16)`.
    pub fn python(self) -> String {
        match self {
            Type::Bool => "sl.boolean".into(),
            Type::Int { .. } | Type::Float(_) => format!("sl.{self}"),
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

/// As in the text form: `bool`, `u8`, `i64`, `u32.wrapping`, `fixed16.16`, `ufixed8.8`, `f32`.
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
            Type::Float(format) => f.write_str(format.name()),
        }
    }
}

/// As the text form has it.
impl Serialize for Type {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Error for a text that is not the name of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a type is `bool`, `u1` to `u64` or `i1` to `i64`, with `.wrapping` after it or not, or \
     `fixedI.F` or `ufixedI.F` of I and F bits before and behind the point, together 1 to 64, or \
     `f16`, `bf16`, `f32` or `f64`"
)]
pub struct NotAType;

impl FromStr for Type {
    type Err = NotAType;

    fn from_str(text: &str) -> Result<Type, NotAType> {
        if text == "bool" {
            return Ok(Type::Bool);
        }
        if let Some(format) = Format::ALL.into_iter().find(|format| format.name() == text) {
            return Ok(Type::Float(format));
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
            Some(bits @ 1..=64) => Ok(Type::int(signed, bits, wrapping)),
            _ => Err(NotAType),
        }
    }
}

/// The fixed-point type of `16.16`: bits before and behind the point.
fn fixed_point(signed: bool, digits: &str) -> Option<Type> {
    let (integer, fraction) = digits.split_once('.')?;
    let (integer, fraction) = (canonical(integer)?, canonical(fraction)?);
    let ty = Type::fixed_point(signed, integer.checked_add(fraction)?, fraction);
    ty.is_valid().then_some(ty)
}

/// Parses a number in the one form in which [`Type`] prints it.
fn canonical(digits: &str) -> Option<u8> {
    let plain = digits.bytes().all(|c| c.is_ascii_digit());
    let padded = digits.len() > 1 && digits.starts_with('0');
    digits.parse().ok().filter(|_| plain && !padded)
}
