//! Floating point of the reference: Rust's own `f32` and `f64`.
//!
//! Numbers of 16 bits are computed in `f64` and rounded once, which gives the correctly rounded
//! result of `+`, `-`, `*`, `/` and a root, since `f64` has more than twice their significant bits
//! and two more (Figueroa, *When is double rounding innocuous?*, 1995). A format's numbers are
//! searched for the nearest one, so that nothing here computes on bits.

use sealane_program::float::Format;
use sealane_program::graph::{Binary, Unary};
use sealane_program::types::Type;
use std::sync::OnceLock;

/// The numbers of one format, and what to do with those below the normal ones.
#[derive(Clone, Copy)]
pub struct Floats {
    /// The format.
    pub format: Format,
    /// True if numbers below the normal ones are zeros.
    pub flushed: bool,
}

impl Floats {
    /// The value of stored bits, as an operand.
    pub fn value(self, stored: i128) -> f64 {
        let value = match self.format {
            Format::F64 => f64::from_bits(stored as u64),
            Format::F32 => f32::from_bits(stored as u32).into(),
            Format::BF16 => f32::from_bits((stored as u32) << 16).into(),
            _ => half(stored as u16),
        };
        let least = 2f64.powi(1 - self.format.bias());
        if self.flushed && value.abs() < least {
            0f64.copysign(value)
        } else {
            value
        }
    }

    /// The bits of the nearest number, as a result.
    pub fn stored(self, value: f64) -> i128 {
        if value.is_nan() {
            return self.format.nan() as i128;
        }
        let bits = match self.format {
            Format::F64 => value.to_bits().into(),
            Format::F32 => (value as f32).to_bits().into(),
            format => nearest(format, value),
        };
        if self.flushed && self.value(bits) == 0.0 {
            i128::from(value.is_sign_negative()) << (self.format.bits() - 1)
        } else {
            bits
        }
    }

    /// `-a` and `abs(a)`, which change the sign of NaN, too.
    pub fn unary(self, op: Unary, x: i128) -> i128 {
        let sign = 1 << (self.format.bits() - 1);
        match op {
            Unary::Neg => x ^ sign,
            Unary::Abs => x & (sign - 1),
            op => panic!("`{}` is refused", op.name()),
        }
    }

    /// An operation of two numbers.
    pub fn binary(self, op: Binary, a: i128, b: i128) -> i128 {
        let (x, y) = (self.value(a), self.value(b));
        let single = |f: fn(f32, f32) -> f32| f64::from(f(x as f32, y as f32));
        // A sum of two `f32` may take more bits than an `f64` has.
        let own = self.format == Format::F32;
        match op {
            Binary::Add if own => self.stored(single(|x, y| x + y)),
            Binary::Add => self.stored(x + y),
            Binary::Sub if own => self.stored(single(|x, y| x - y)),
            Binary::Sub => self.stored(x - y),
            Binary::Mul if own => self.stored(single(|x, y| x * y)),
            Binary::Mul => self.stored(x * y),
            Binary::Div if own => self.stored(single(|x, y| x / y)),
            Binary::Div => self.stored(x / y),
            Binary::Eq => (x == y).into(),
            Binary::Ne => (x != y).into(),
            Binary::Lt => (x < y).into(),
            Binary::Le => (x <= y).into(),
            Binary::Gt => (x > y).into(),
            Binary::Ge => (x >= y).into(),
            Binary::Min | Binary::Max => self.end(op == Binary::Min, a, b),
            Binary::Mod => self.divided(x, y).1,
            Binary::FloorDiv => self.divided(x, y).0,
            op => panic!("the reference does not know `{}` of floats", op.name()),
        }
    }

    /// `x // y` and `x % y` as CPython computes them (`float_divmod` in `Objects/floatobject.c`),
    /// each operation rounded to the format.
    fn divided(self, x: f64, y: f64) -> (i128, i128) {
        if self.format.bits() == 16 {
            // As NumPy does: in `f32`, which holds these numbers.
            let single = Floats {
                format: Format::F32,
                ..self
            };
            let (whole, rest) = single.divided(x, y);
            let [whole, rest] = [whole, rest].map(|bits| self.stored(single.value(bits)));
            return (whole, rest);
        }
        let round = |value: f64| self.value(self.stored(value));
        let mut rest = round(x % y);
        let mut quotient = round(round(x - rest) / y);
        if rest != 0.0 {
            if (rest < 0.0) != (y < 0.0) {
                rest = round(rest + y);
                quotient = round(quotient - 1.0);
            }
        } else {
            rest = 0f64.copysign(y);
        }
        let mut whole = 0f64.copysign(x / y);
        if quotient != 0.0 {
            whole = quotient.floor();
            if round(quotient - whole) > 0.5 {
                whole = round(whole + 1.0);
            }
        }
        if y == 0.0 {
            whole = x / y;
        }
        (self.stored(whole), self.stored(rest))
    }

    /// The smaller or larger number: NaN if one is, and -0 is below 0.
    pub fn end(self, least: bool, a: i128, b: i128) -> i128 {
        let raw = Floats {
            flushed: false,
            ..self
        };
        let (x, y) = (raw.value(a), raw.value(b));
        if x.is_nan() || y.is_nan() {
            return self.format.nan() as i128;
        }
        if x.total_cmp(&y).is_lt() == least {
            a
        } else {
            b
        }
    }

    /// A function by name: those that Rust computes exactly.
    pub fn call(self, name: &str, operands: &[i128]) -> i128 {
        let x = self.value(operands[0]);
        let other = || self.value(operands[1]);
        match name {
            "sqrt" => self.stored(x.sqrt()),
            "floor" => self.stored(x.floor()),
            "ceil" => self.stored(x.ceil()),
            "trunc" => self.stored(x.trunc()),
            "roundeven" => self.stored(x.round_ties_even()),
            "isnan" => x.is_nan().into(),
            "fmin" => self.stored(x.min(other())),
            "fmax" => self.stored(x.max(other())),
            name => panic!("the reference does not know `{name}`"),
        }
    }

    /// A conversion to another type, of which fixed point has so many bits behind the point.
    pub fn cast(self, x: i128, to: Type) -> i128 {
        let value = self.value(x);
        if let Type::Float(format) = to {
            return Floats { format, ..self }.stored(value);
        }
        let scaled = value * 2f64.powi(to.fraction().into());
        let whole = match to {
            Type::Fixed { .. } => scaled.floor(),
            _ => scaled.trunc(),
        };
        // Rust stops at the ends and takes NaN for 0.
        (whole as i128).clamp(to.range().lo, to.range().hi)
    }

    /// The number nearest to an integer, which stands for its value times `2^-fraction`.
    pub fn of(self, x: i128, fraction: u8) -> i128 {
        let scale = 2f64.powi(-i32::from(fraction));
        match self.format {
            // Scaling down by at most 2^64 is exact in both.
            Format::F64 => self.stored(x as f64 * scale),
            Format::F32 => self.stored((x as f32 * scale as f32).into()),
            _ => {
                // Rounded to odd, an `f64` keeps on which side of every tie the number is.
                let above = (128 - x.unsigned_abs().leading_zeros()).saturating_sub(52);
                let rest = x & ((1 << above) - 1);
                let odd = x >> above | i128::from(rest != 0);
                self.stored(odd as f64 * 2f64.powi(above as i32) * scale)
            }
        }
    }
}

impl Floats {
    /// The exact sum of addends, rounded once: partial sums without common bits, as `math.fsum` of
    /// Python keeps them (Shewchuk, *Adaptive Precision Floating-Point Arithmetic*, 1997, section
    /// 2.4).
    pub fn sum(self, addends: impl IntoIterator<Item = f64>) -> i128 {
        let (mut partials, mut special): (Vec<f64>, f64) = (Vec::new(), 0.0);
        for mut x in addends {
            if !x.is_finite() {
                special += x;
                continue;
            }
            let mut kept = Vec::new();
            for mut y in partials {
                if x.abs() < y.abs() {
                    (x, y) = (y, x);
                }
                let high = x + y;
                let low = y - (high - x);
                if low != 0.0 {
                    kept.push(low);
                }
                x = high;
            }
            kept.push(x);
            partials = kept;
        }
        if special != 0.0 {
            return self.stored(special);
        }
        let (mut high, mut low) = (0.0, 0.0);
        while let Some(next) = partials.pop() {
            let sum: f64 = high + next;
            low = next - (sum - high);
            high = sum;
            if low != 0.0 {
                break;
            }
        }
        let beyond = partials.last().copied().unwrap_or(0.0);
        if self.format != Format::F64 {
            // An `f64` next to it is on the same side of every tie of a narrower format.
            high = match low {
                0.0 => high,
                _ if low > 0.0 => high.next_up(),
                _ => high.next_down(),
            };
        } else if low * beyond > 0.0 && high + 2.0 * low - high == 2.0 * low {
            // Half of a unit, and more of the same sign.
            high += 2.0 * low;
        }
        self.stored(high + 0.0)
    }

    /// Two numbers whose sum is the exact product.
    pub fn product(self, a: i128, b: i128) -> [f64; 2] {
        let (x, y) = (self.value(a), self.value(b));
        let product = x * y;
        let rest = x.mul_add(y, -product);
        [product, if product.is_finite() { rest } else { 0.0 }]
    }
}

/// The value of half precision, from its fields (IEEE 754-2019, section 3.4).
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 {
        -magnitude
    } else {
        magnitude
    }
}

/// The bits of the number of a format of 16 bits that is nearest to a value.
fn nearest(format: Format, value: f64) -> i128 {
    static TABLES: OnceLock<[Vec<f64>; 2]> = OnceLock::new();
    let tables = TABLES.get_or_init(|| {
        [Format::F16, Format::BF16].map(|format| {
            let flushed = false;
            let floats = Floats { format, flushed };
            let finite = 0..format.infinity() as i128;
            let mut values = finite.map(|bits| floats.value(bits)).collect::<Vec<_>>();
            // Where the next number would be is infinity.
            let last = values.len() - 1;
            values.push(2.0 * values[last] - values[last - 1]);
            values
        })
    });
    let table = &tables[usize::from(format == Format::BF16)];
    let magnitude = value.abs();
    let above = table.partition_point(|number| *number < magnitude);
    let bits = match table.get(above) {
        None => table.len() - 1,
        Some(number) if *number == magnitude => above,
        Some(number) => {
            let (down, up) = (magnitude - table[above - 1], number - magnitude);
            let lower = down < up || down == up && above % 2 == 1;
            above - usize::from(lower)
        }
    };
    bits as i128 | i128::from(value.is_sign_negative()) << 15
}
