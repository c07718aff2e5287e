//! The tables of element-wise operations and of reductions. Each row says all that is known of one:
//! its names, the numbers that it takes, the range of its result, its circuit, and its meaning in
//! the clear. Inference, text form, builder, lowering, the Python binding and the reference of the
//! tests read the rows, so that a new operation is a new row.

use crate::graph::Value;
use crate::infer::range;
use crate::types::{Range, Type};
use sealane_circuit::{Builder, Int, Wire, Word};

/// An operation of one operand.
pub struct UnaryRow {
    /// Name in the text form.
    pub name: &'static str,
    /// Python operator, or Python function if there is none.
    pub symbol: &'static str,
    /// Name of NumPy's function of the same meaning.
    pub numpy: &'static str,
    /// True if it works on the bits of whole numbers: fixed and floating point are refused, and a
    /// `bool` is its own bit. Other operations take a `bool` for a `u1`.
    pub bits: bool,
    /// Type of the result, of numbers of a type.
    pub ty: fn(Type) -> Type,
    /// Range of the exact result, of numbers of a type in a range.
    pub range: fn(Type, Range) -> Range,
    /// Tells whether each number follows from its result.
    pub undone: fn(&Value) -> bool,
    /// The circuit: the result for a number of a type, in a width that holds it.
    pub lower: fn(&mut Builder, Int<'_>, Type, usize) -> Word,
    /// The result for a number of a type, before a type wraps it.
    pub clear: fn(Type, i128) -> i128,
    /// Examples: a type, numbers of it, the type of the results, and these.
    pub examples: &'static [(Type, &'static [i128], Type, &'static [i128])],
}

/// Numbers that an operation of two operands takes, and what it does with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Sums, differences, products.
    Arithmetic,
    /// Quotients and remainders: the divisor is never zero.
    Division,
    /// Bit by bit; `bool` stays so.
    Bits,
    /// One of the two numbers; `bool` stays so.
    End,
    /// A comparison of two numbers, whatever their types, which gives a `bool`.
    Comparison,
    /// A shift of the first operand by the second, which is within its width.
    Shift,
}

/// An operation of two operands.
pub struct BinaryRow {
    /// Name in the text form.
    pub name: &'static str,
    /// Python operator, or Python function if there is none.
    pub symbol: &'static str,
    /// Name of NumPy's function of the same meaning.
    pub numpy: &'static str,
    /// Numbers that it takes.
    pub family: Family,
    /// True if operands may change places.
    pub commutes: bool,
    /// Range of the exact result.
    pub range: fn(Range, Range) -> Range,
    /// Range of the exact result on a number and itself, where that is narrower.
    pub itself: Option<fn(Range) -> Range>,
    /// The circuit, in a width that holds the result.
    pub lower: fn(&mut Builder, Int<'_>, Int<'_>, usize) -> Word,
    /// The result for two numbers of one type, before the type wraps it. Products of `u64.wrapping`
    /// exceed `i128`; reduced modulo 2^128 they are still right modulo 2^64.
    pub clear: fn(i128, i128) -> i128,
}

/// Makes an enumeration of the rows of a table.
macro_rules! table {
    (
        $(#[$doc:meta])* $name:ident: $row:ident,
        $($(#[$about:meta])* $variant:ident = $value:expr;)+
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$about])* $variant,)+
        }

        impl Default for $name {
            fn default() -> $name {
                $name::ALL[0]
            }
        }

        impl $name {
            /// All of them.
            pub const ALL: [$name; [$($name::$variant),+].len()] = [$($name::$variant),+];

            /// Row of the table.
            pub fn row(self) -> &'static $row {
                match self {
                    $($name::$variant => {
                        static ROW: $row = $value;
                        &ROW
                    })+
                }
            }

            /// The one of this name in the text form.
            pub fn named(name: &str) -> Option<$name> {
                $name::ALL.into_iter().find(|op| op.name() == name)
            }

            /// Name in the text form.
            pub fn name(self) -> &'static str {
                self.row().name
            }
        }
    };
}

table! {
    /// Element-wise operations of one operand.
    Unary: UnaryRow,
    /// Arithmetic negation.
    Neg = UnaryRow {
        name: "neg", symbol: "-", numpy: "negative", bits: false, ty: |ty| ty,
        range: |_, a| range::negative(a),
        undone: |_| true,
        lower: |b, x, _, width| b.neg(x, width),
        clear: |_, x| -x,
        examples: &[(Type::U8.wrapping(), &[5, 0], Type::U8.wrapping(), &[251, 0])],
    };
    /// Bitwise (integers) or logical (bool) complement.
    Not = UnaryRow {
        name: "not", symbol: "~", numpy: "invert", bits: true, ty: |ty| ty,
        range: |ty, a| match ty.range() {
            Range { lo: ..0, .. } => range::complement(a),
            all => Range { lo: all.hi - a.hi, hi: all.hi - a.lo },
        },
        undone: |_| true,
        lower: |_, x, _, width| x.resize(width).into_iter().map(|bit| !bit).collect(),
        clear: |ty, x| match ty.range() {
            Range { lo: ..0, .. } => -1 - x,
            all => all.hi - x,
        },
        examples: &[
            (Type::signed(8), &[5, -1], Type::signed(8), &[-6, 0]),
            (Type::U8, &[5, 0], Type::U8, &[250, 255]),
            (Type::unsigned(3).wrapping(), &[5], Type::unsigned(3).wrapping(), &[2]),
            (Type::Bool, &[1, 0], Type::Bool, &[0, 1]),
        ],
    };
    /// Absolute value.
    Abs = UnaryRow {
        name: "abs", symbol: "sl.abs", numpy: "absolute", bits: false, ty: |ty| ty,
        range: |_, a| range::magnitude(a),
        undone: |x| !x.ty.is_float() && (x.range.lo >= 0 || x.range.hi <= 0),
        lower: |b, x, _, width| b.abs(x, width),
        clear: |_, x| x.abs(),
        examples: &[(Type::U8, &[255, 5], Type::U8, &[255, 5])],
    };
    /// Number of one bits in the two's complement of the element's type (all `bits` of it, so
    /// that -1 of type `i8` has eight).
    Popcount = UnaryRow {
        name: "popcount", symbol: "sl.popcount", numpy: "", bits: true, ty: count_of_bits,
        range: |ty, a| {
            let most = if a.lo < 0 { ty.bits() } else { a.bits() };
            range::ones(a, if a == Range::of(0) { 0 } else { most })
        },
        undone: |_| false,
        lower: |b, x, ty, width| b.popcount(&x.resize(usize::from(ty.bits())), width),
        clear: |ty, x| (0..ty.bits()).map(|bit| x >> bit & 1).sum(),
        examples: &[
            (Type::U8, &[255, 0], Type::unsigned(4), &[8, 0]),
            (Type::signed(8), &[-1, 5], Type::unsigned(4), &[8, 2]),
            (Type::unsigned(64).wrapping(), &[1 << 63], Type::unsigned(7), &[1]),
            (Type::Bool, &[1], Type::unsigned(1), &[1]),
        ],
    };
    /// Number of one bits in the absolute value, as Python's `int.bit_count`.
    BitCount = UnaryRow {
        name: "bit_count", symbol: "sl.bit_count", numpy: "bitwise_count", bits: true,
        ty: count_of_bits,
        range: |_, a| {
            // The largest number of ones alone that is not above the largest magnitude.
            let most = (range::magnitude(a).hi as u128 + 1).ilog2();
            range::ones(a, most as u8)
        },
        undone: |_| false,
        lower: |b, x, _, width| {
            let magnitude = b.abs(x, x.bits.len());
            b.popcount(&magnitude, width)
        },
        clear: |_, x| x.unsigned_abs().count_ones().into(),
        examples: &[
            (Type::signed(8), &[-128, -7, 127], Type::unsigned(4), &[1, 3, 7]),
            (Type::U8, &[255, 0], Type::unsigned(4), &[8, 0]),
            (Type::Bool, &[1], Type::unsigned(1), &[1]),
        ],
    };
}

/// The smallest unsigned type that holds a number of bits of a type.
fn count_of_bits(ty: Type) -> Type {
    Type::smallest(Range::of(ty.bits().into())).unwrap_or(Type::U8)
}

impl Unary {
    /// Python expression of the operation.
    pub fn python(self, a: &str) -> String {
        match self.row().symbol {
            function if function.starts_with("sl.") => format!("{function}({a})"),
            operator => format!("{operator}{a}"),
        }
    }
}

table! {
    /// Element-wise operations of two operands. Arithmetic operands have been cast to one type by
    /// the tracer; comparisons compare numbers, whatever the two types. Products and quotients of
    /// fixed point take any two types, and are rounded down to the type that the value declares.
    #[allow(missing_docs)]
    Binary: BinaryRow,
    Add = BinaryRow {
        name: "add", symbol: "+", numpy: "add", family: Family::Arithmetic, commutes: true,
        range: |a, b| Range { lo: a.lo + b.lo, hi: a.hi + b.hi }, itself: None,
        lower: |b, x, y, width| b.add(x, y, width), clear: |x, y| x + y,
    };
    Sub = BinaryRow {
        name: "sub", symbol: "-", numpy: "subtract", family: Family::Arithmetic, commutes: false,
        range: |a, b| Range { lo: a.lo - b.hi, hi: a.hi - b.lo }, itself: Some(|_| Range::of(0)),
        lower: |b, x, y, width| b.sub(x, y, width), clear: |x, y| x - y,
    };
    Mul = BinaryRow {
        name: "mul", symbol: "*", numpy: "multiply", family: Family::Arithmetic, commutes: true,
        range: |a, b| range::corners(a, b, i128::saturating_mul), itself: Some(range::square),
        lower: |b, x, y, width| b.mul(x, y, width), clear: i128::wrapping_mul,
    };
    /// The quotient of fixed-point numbers, rounded towards minus infinity to the bits behind the
    /// point of the result.
    Div = BinaryRow {
        name: "div", symbol: "/", numpy: "divide", family: Family::Division, commutes: false,
        range: |a, b| range::corners(a, b, range::floor_div), itself: Some(|_| Range::of(1)),
        lower: |_, _, _, _| unreachable!("integers have no such quotients"),
        clear: quotient,
    };
    /// Quotient rounded towards minus infinity, as Python's `//`.
    FloorDiv = BinaryRow {
        name: "floordiv", symbol: "//", numpy: "floor_divide",
        family: Family::Division, commutes: false,
        range: |a, b| range::corners(a, b, range::floor_div), itself: Some(|_| Range::of(1)),
        lower: |b, x, y, width| b.div(x, y, width), clear: quotient,
    };
    /// Remainder with the sign of the divisor, as Python's `%`.
    Mod = BinaryRow {
        name: "mod", symbol: "%", numpy: "remainder", family: Family::Division, commutes: false,
        range: range::modulo, itself: Some(|_| Range::of(0)),
        lower: |b, x, y, width| b.rem(x, y, width), clear: |x, y| x - y * quotient(x, y),
    };
    And = BinaryRow {
        name: "and", symbol: "&", numpy: "bitwise_and", family: Family::Bits, commutes: true,
        range: range::and, itself: Some(|a| a),
        lower: |b, x, y, width| bitwise(b, [x, y], width, Builder::and), clear: |x, y| x & y,
    };
    Or = BinaryRow {
        name: "or", symbol: "|", numpy: "bitwise_or", family: Family::Bits, commutes: true,
        range: range::or, itself: Some(|a| a),
        lower: |b, x, y, width| bitwise(b, [x, y], width, Builder::or), clear: |x, y| x | y,
    };
    Xor = BinaryRow {
        name: "xor", symbol: "^", numpy: "bitwise_xor", family: Family::Bits, commutes: true,
        range: range::xor, itself: Some(|_| Range::of(0)),
        lower: |b, x, y, width| bitwise(b, [x, y], width, Builder::xor), clear: |x, y| x ^ y,
    };
    /// Left shift by an amount in 0..64.
    Shl = BinaryRow {
        name: "shl", symbol: "<<", numpy: "left_shift", family: Family::Shift, commutes: false,
        range: |a, b| range::corners(a, b, |x, by| x << by), itself: None,
        lower: |b, x, y, width| b.shl(x, y.bits, width), clear: |x, y| x << y,
    };
    /// Right shift, rounding towards minus infinity.
    Shr = BinaryRow {
        name: "shr", symbol: ">>", numpy: "right_shift", family: Family::Shift, commutes: false,
        range: |a, b| range::corners(a, b, |x, by| x >> by), itself: None,
        lower: |b, x, y, width| b.shr(x, y.bits, width), clear: |x, y| quotient(x, 1 << y),
    };
    Eq = BinaryRow {
        name: "eq", symbol: "==", numpy: "equal", family: Family::Comparison, commutes: true,
        range: |a, b| range::truth(range::same(a, b), range::apart(a, b)),
        itself: Some(|_| Range::of(1)),
        lower: |b, x, y, _| vec![b.eq(x, y)], clear: |x, y| (x == y).into(),
    };
    Ne = BinaryRow {
        name: "ne", symbol: "!=", numpy: "not_equal", family: Family::Comparison, commutes: true,
        range: |a, b| range::truth(range::apart(a, b), range::same(a, b)),
        itself: Some(|_| Range::of(0)),
        lower: |b, x, y, _| vec![!b.eq(x, y)], clear: |x, y| (x != y).into(),
    };
    Lt = BinaryRow {
        name: "lt", symbol: "<", numpy: "less", family: Family::Comparison, commutes: false,
        range: |a, b| range::truth(a.hi < b.lo, a.lo >= b.hi), itself: Some(|_| Range::of(0)),
        lower: |b, x, y, _| vec![b.lt(x, y)], clear: |x, y| (x < y).into(),
    };
    Le = BinaryRow {
        name: "le", symbol: "<=", numpy: "less_equal", family: Family::Comparison, commutes: false,
        range: |a, b| range::truth(a.hi <= b.lo, a.lo > b.hi), itself: Some(|_| Range::of(1)),
        lower: |b, x, y, _| vec![b.le(x, y)], clear: |x, y| (x <= y).into(),
    };
    Gt = BinaryRow {
        name: "gt", symbol: ">", numpy: "greater", family: Family::Comparison, commutes: false,
        range: |a, b| range::truth(a.lo > b.hi, a.hi <= b.lo), itself: Some(|_| Range::of(0)),
        lower: |b, x, y, _| vec![b.lt(y, x)], clear: |x, y| (x > y).into(),
    };
    Ge = BinaryRow {
        name: "ge", symbol: ">=", numpy: "greater_equal",
        family: Family::Comparison, commutes: false,
        range: |a, b| range::truth(a.lo >= b.hi, a.hi < b.lo), itself: Some(|_| Range::of(1)),
        lower: |b, x, y, _| vec![b.le(y, x)], clear: |x, y| (x >= y).into(),
    };
    Min = BinaryRow {
        name: "min", symbol: "sl.minimum", numpy: "minimum", family: Family::End, commutes: false,
        range: |a, b| Range { lo: a.lo.min(b.lo), hi: a.hi.min(b.hi) }, itself: Some(|a| a),
        lower: |b, x, y, width| b.min(x, y, width), clear: |x, y| x.min(y),
    };
    Max = BinaryRow {
        name: "max", symbol: "sl.maximum", numpy: "maximum", family: Family::End, commutes: false,
        range: |a, b| Range { lo: a.lo.max(b.lo), hi: a.hi.max(b.hi) }, itself: Some(|a| a),
        lower: |b, x, y, width| b.max(x, y, width), clear: |x, y| x.max(y),
    };
}

impl Binary {
    /// Python operator, or Python function if there is none.
    pub fn symbol(self) -> &'static str {
        self.row().symbol
    }

    /// Numbers that it takes.
    pub fn family(self) -> Family {
        self.row().family
    }

    /// Python expression of the operation.
    pub fn python(self, a: &str, b: &str) -> String {
        match self.symbol() {
            function if function.starts_with("sl.") => format!("{function}({a}, {b})"),
            operator => format!("{a} {operator} {b}"),
        }
    }

    /// Returns whether it compares two numbers and gives a `bool`.
    pub fn is_comparison(self) -> bool {
        self.family() == Family::Comparison
    }
}

/// A circuit that works bit by bit.
fn bitwise(
    b: &mut Builder,
    [x, y]: [Int<'_>; 2],
    width: usize,
    gate: fn(&mut Builder, Wire, Wire) -> Wire,
) -> Word {
    b.zip(&x.resize(width), &y.resize(width), gate)
}

/// Quotient rounded towards minus infinity: Euclid's, less one where that rounds up.
fn quotient(x: i128, y: i128) -> i128 {
    let up = y < 0 && x.rem_euclid(y) != 0;
    x.div_euclid(y) - i128::from(up)
}

/// A reduction.
pub struct ReductionRow {
    /// Name in the text form, and in Python after `sl.`.
    pub name: &'static str,
    /// The operation that joins two elements.
    pub joins: Binary,
    /// True if it is of `bool` alone.
    pub logical: bool,
    /// The result of no elements, if there is one.
    pub of_none: Option<i128>,
}

table! {
    /// Reductions.
    #[allow(missing_docs)]
    Reduction: ReductionRow,
    Sum = ReductionRow { name: "sum", joins: Binary::Add, logical: false, of_none: Some(0) };
    Min = ReductionRow { name: "min", joins: Binary::Min, logical: false, of_none: None };
    Max = ReductionRow { name: "max", joins: Binary::Max, logical: false, of_none: None };
    /// Logical or.
    Any = ReductionRow { name: "any", joins: Binary::Or, logical: true, of_none: Some(0) };
    /// Logical and.
    All = ReductionRow { name: "all", joins: Binary::And, logical: true, of_none: Some(1) };
}
