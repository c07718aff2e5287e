//! Arithmetic of IEEE 754, slow and obvious: exact numbers in integers of any size, rounded by
//! comparing remainders.

use num_bigint::BigInt;
use sealane_numeric::{Arithmetic, Format, Subnormals};

/// The value of a number.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Nan,
    /// Negative or not.
    Infinite(bool),
    /// `(-1)^negative size 2^exponent`, by these three.
    Finite(bool, BigInt, i64),
}

/// Powers of two.
pub fn power(exponent: i64) -> BigInt {
    BigInt::from(1) << u64::try_from(exponent).expect("a power of two")
}

/// The value of the bits of a number.
pub fn decode(of: Arithmetic, bits: u128) -> Value {
    let Format { exponent, fraction } = of.format;
    let negative = bits >> (exponent + fraction) & 1 == 1;
    let field = bits >> fraction & ((1 << exponent) - 1);
    let low = bits & ((1 << fraction) - 1);
    if field == (1 << exponent) - 1 {
        return match low {
            0 => Value::Infinite(negative),
            _ => Value::Nan,
        };
    }
    let lowest = 1 - i64::from(of.format.bias()) - fraction as i64;
    let (size, up) = match field {
        0 if of.subnormals == Subnormals::Flushed => (0, 0),
        0 => (low, 0),
        _ => (low | 1 << fraction, field as i64 - 1),
    };
    Value::Finite(negative, BigInt::from(size), lowest + up)
}

/// The number nearest to `(-1)^negative over / under`.
pub fn encode(of: Arithmetic, negative: bool, over: &BigInt, under: &BigInt) -> u128 {
    let Format { exponent, fraction } = of.format;
    let sign = u128::from(negative) << (exponent + fraction);
    let zero = BigInt::from(0);
    if *over == zero {
        return sign;
    }
    // 2^top <= over / under < 2^(top + 1).
    let mut top = over.bits() as i64 - under.bits() as i64;
    let at_least = |top: i64| match top {
        0.. => *over >= under * power(top),
        _ => over * power(-top) >= *under,
    };
    if !at_least(top) {
        top -= 1;
    }
    let lowest = 1 - i64::from(of.format.bias());
    let unit = match of.subnormals {
        Subnormals::Kept => top.max(lowest),
        Subnormals::Flushed => top,
    } - fraction as i64;
    let (over, under) = match unit {
        0.. => (over.clone(), under * power(unit)),
        _ => (over * power(-unit), under.clone()),
    };
    let mut size = &over / &under;
    let twice = (&over - &size * &under) * 2;
    if twice > under || (twice == under && &size % 2 == BigInt::from(1)) {
        size += 1;
    }
    let size = u128::try_from(size).expect("a significand");
    // A carry, and the highest bit of a normal number, count in the exponent.
    let field = unit + fraction as i64 - lowest;
    let magnitude = (i128::from(field) << fraction) + size as i128;
    if magnitude < 1 << fraction && of.subnormals == Subnormals::Flushed {
        return sign;
    }
    sign | (magnitude as u128).min(of.format.infinity())
}

/// The bits of a value that is a number of the format, or rounded to one.
pub fn encode_value(of: Arithmetic, value: &Value) -> u128 {
    let sign = |negative: &bool| u128::from(*negative) << (of.format.bits() - 1);
    match value {
        Value::Nan => of.format.nan(),
        Value::Infinite(negative) => sign(negative) | of.format.infinity(),
        Value::Finite(negative, size, exponent) => match exponent {
            0.. => encode(of, *negative, &(size * power(*exponent)), &power(0)),
            _ => encode(of, *negative, size, &power(-exponent)),
        },
    }
}

impl Value {
    pub fn negative(&self) -> bool {
        match self {
            Value::Nan => false,
            Value::Infinite(negative) | Value::Finite(negative, ..) => *negative,
        }
    }

    pub fn is_zero(&self) -> bool {
        matches!(self, Value::Finite(_, size, _) if *size == BigInt::from(0))
    }

    fn signed(&self) -> (BigInt, i64) {
        match self {
            Value::Finite(negative, size, exponent) => {
                (if *negative { -size } else { size.clone() }, *exponent)
            }
            _ => panic!("a finite number"),
        }
    }

    /// The opposite.
    pub fn neg(&self) -> Value {
        match self.clone() {
            Value::Nan => Value::Nan,
            Value::Infinite(negative) => Value::Infinite(!negative),
            Value::Finite(negative, size, exponent) => Value::Finite(!negative, size, exponent),
        }
    }

    /// The exact sum.
    pub fn add(&self, other: &Value) -> Value {
        match (self, other) {
            (Value::Nan, _) | (_, Value::Nan) => Value::Nan,
            (Value::Infinite(x), Value::Infinite(y)) if x != y => Value::Nan,
            (Value::Infinite(x), _) | (_, Value::Infinite(x)) => Value::Infinite(*x),
            _ => {
                let ((x, i), (y, j)) = (self.signed(), other.signed());
                let low = i.min(j);
                let sum = x * power(i - low) + y * power(j - low);
                let zero = BigInt::from(0);
                let both = self.negative() && other.negative();
                let negative = if sum == zero { both } else { sum < zero };
                Value::Finite(negative, BigInt::from(sum.magnitude().clone()), low)
            }
        }
    }

    /// The exact product.
    pub fn mul(&self, other: &Value) -> Value {
        let negative = self.negative() != other.negative();
        match (self, other) {
            (Value::Nan, _) | (_, Value::Nan) => Value::Nan,
            (Value::Infinite(_), x) | (x, Value::Infinite(_)) if x.is_zero() => Value::Nan,
            (Value::Infinite(_), _) | (_, Value::Infinite(_)) => Value::Infinite(negative),
            _ => {
                let ((x, i), (y, j)) = (self.signed(), other.signed());
                Value::Finite(negative, BigInt::from((x * y).magnitude().clone()), i + j)
            }
        }
    }
}

/// The quotient, rounded.
pub fn div(of: Arithmetic, x: &Value, y: &Value) -> u128 {
    let negative = x.negative() != y.negative();
    let infinite = encode_value(of, &Value::Infinite(negative));
    match (x, y) {
        (Value::Nan, _) | (_, Value::Nan) | (Value::Infinite(_), Value::Infinite(_)) => {
            of.format.nan()
        }
        (Value::Infinite(_), _) => infinite,
        (_, Value::Infinite(_)) => encode(of, negative, &BigInt::from(0), &power(0)),
        _ if x.is_zero() && y.is_zero() => of.format.nan(),
        _ if y.is_zero() => infinite,
        _ => {
            let ((over, i), (under, j)) = (x.signed(), y.signed());
            let low = i.min(j);
            let (over, under) = (over * power(i - low), under * power(j - low));
            let size = |x: BigInt| BigInt::from(x.magnitude().clone());
            encode(of, negative, &size(over), &size(under))
        }
    }
}

/// The square root, rounded.
pub fn sqrt(of: Arithmetic, x: &Value) -> u128 {
    match x {
        Value::Infinite(false) => of.format.infinity(),
        _ if x.is_zero() => encode(of, x.negative(), &BigInt::from(0), &power(0)),
        Value::Finite(false, size, exponent) => {
            // More bits than the format has twice, and one more if the root is not exact.
            let scale = 2 * of.format.fraction as i64 + 8 + exponent.rem_euclid(2);
            let square = size * power(scale);
            let root = square.sqrt();
            let inexact = &root * &root != square;
            let exponent = (exponent - scale) / 2 - 1;
            let value = Value::Finite(false, root * 2 + u8::from(inexact), exponent);
            encode_value(of, &value)
        }
        _ => of.format.nan(),
    }
}

/// The remainder of the quotient that is rounded toward zero, or to the nearest whole number.
pub fn remainder(of: Arithmetic, x: &Value, y: &Value, nearest: bool) -> u128 {
    match (x, y) {
        (Value::Nan | Value::Infinite(_), _) | (_, Value::Nan) => of.format.nan(),
        _ if y.is_zero() => of.format.nan(),
        (_, Value::Infinite(_)) => encode_value(of, x),
        _ => {
            let ((over, i), (under, j)) = (x.signed(), y.signed());
            let low = i.min(j);
            let (over, under) = (over * power(i - low), under * power(j - low));
            let under = BigInt::from(under.magnitude().clone());
            let over = BigInt::from(over.magnitude().clone());
            let quotient = &over / &under;
            let mut rest = &over - &quotient * &under;
            let twice = &rest * 2;
            let odd = &quotient % 2 == BigInt::from(1);
            if nearest && (twice > under || (twice == under && odd)) {
                rest -= under;
            }
            let negative = x.negative() != (rest < BigInt::from(0));
            let value = Value::Finite(negative, BigInt::from(rest.magnitude().clone()), low);
            encode_value(of, &value)
        }
    }
}

/// The result of a function of arithmetic, by its name.
pub fn expected(of: Arithmetic, name: &str, operands: &[u128]) -> u128 {
    let value = |i: usize| decode(of, operands[i]);
    match name {
        "add" => encode_value(of, &value(0).add(&value(1))),
        "sub" => encode_value(of, &value(0).add(&value(1).neg())),
        "mul" => encode_value(of, &value(0).mul(&value(1))),
        "fma" => encode_value(of, &value(0).mul(&value(1)).add(&value(2))),
        "div" => div(of, &value(0), &value(1)),
        "sqrt" => sqrt(of, &value(0)),
        "fmod" => remainder(of, &value(0), &value(1), false),
        "remainder" => remainder(of, &value(0), &value(1), true),
        _ => panic!("no reference for {name}"),
    }
}
