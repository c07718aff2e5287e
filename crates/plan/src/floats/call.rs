//! Calls on floating point, and their names.

use sealane_numeric::{Accumulator, Arithmetic, Format, Subnormals};
use std::fmt;

/// An operation on the elements of floating point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    /// The format of its operands, or of its result where they have none.
    pub arithmetic: Arithmetic,
    /// The operation.
    pub operation: Operation,
}

/// Operation of a [`Call`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// A function of crate `numeric`, by its name, and the number of its result.
    Function(String),
    /// From an integer, the value times `2^fraction`.
    From {
        /// Bits behind the point of the integer.
        fraction: u8,
    },
    /// To an integer, the value times `2^fraction`, rounded towards zero, or down if it has a
    /// fraction; stops at the ends of the type.
    To {
        /// Bits behind the point of the integer.
        fraction: u8,
        /// True for fixed point, which is rounded down.
        fixed: bool,
    },
    /// To another format.
    Convert(Format),
    /// To an integer in the order of numbers, in which NaN is the least one.
    LeastNan,
    /// The same with NaN as the largest one.
    MostNan,
    /// Back from such an integer.
    Ordered,
    /// A word of an addend of an exact sum, by its number.
    Word(usize, Sum),
    /// The number of a format nearest to an exact sum, from the sums of all words.
    Total(Sum, Format),
    /// The number of a format nearest to the exact sum divided by a count, from the sums of all
    /// words and the count.
    Mean(Sum, Format),
    /// The number nearest to the quotient of an integer, times `2^-fraction`, and a count.
    Quotient {
        /// Bits behind the point of the integer.
        fraction: u8,
    },
}

/// An exact sum, of numbers or of products.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Sum {
    /// True if the addends are products of two numbers.
    pub products: bool,
    /// More addends than there are, so that a sum of zeros is never negative.
    pub most: u64,
    /// The smallest and the largest exponent of addends, if they are declared.
    pub exponents: Option<[i32; 2]>,
}

impl Sum {
    /// The circuits of the sum.
    pub fn accumulator(self, arithmetic: Arithmetic) -> Accumulator {
        let sum = if self.products {
            Accumulator::dot(arithmetic, self.most)
        } else {
            Accumulator::sum(arithmetic, self.most)
        };
        match self.exponents {
            Some([lowest, highest]) => sum.within(lowest, highest),
            None => sum,
        }
    }
}

impl Call {
    /// Reads the name of a call; none if it is that of a function of bytes.
    pub fn named(name: &str) -> Option<Call> {
        let (format, rest) = name.split_once('.')?;
        let format = of_name(format)?;
        let (subnormals, rest) = match rest.strip_prefix("flushed.") {
            Some(rest) => (Subnormals::Flushed, rest),
            None => (Subnormals::Kept, rest),
        };
        let fraction = |text: &str| text.parse::<u8>().ok();
        let parts = rest.split('.').collect::<Vec<_>>();
        let operation = match parts[..] {
            ["word", index, ref sum @ ..] => {
                Some(Operation::Word(index.parse().ok()?, Sum::named(sum)?))
            }
            ["total", to, ref sum @ ..] => Some(Operation::Total(Sum::named(sum)?, of_name(to)?)),
            ["mean", to, ref sum @ ..] => Some(Operation::Mean(Sum::named(sum)?, of_name(to)?)),
            _ => None,
        };
        if let Some(operation) = operation {
            let arithmetic = Arithmetic { format, subnormals };
            return Some(Call {
                arithmetic,
                operation,
            });
        }
        let operation = match rest.split_once('.') {
            Some(("quotient", digits)) => Operation::Quotient {
                fraction: fraction(digits)?,
            },
            Some(("from", digits)) => Operation::From {
                fraction: fraction(digits)?,
            },
            Some((to @ ("to" | "floor"), digits)) => Operation::To {
                fraction: fraction(digits)?,
                fixed: to == "floor",
            },
            Some(("as", format)) => Operation::Convert(of_name(format)?),
            Some(("order", "least")) => Operation::LeastNan,
            Some(("order", "most")) => Operation::MostNan,
            Some(("order", "back")) => Operation::Ordered,
            _ => Operation::Function(rest.to_string()),
        };
        Some(Call {
            arithmetic: Arithmetic { format, subnormals },
            operation,
        })
    }
}

fn of_name(name: &str) -> Option<Format> {
    let mut formats = Format::ALL.into_iter();
    formats.find(|format| format.name() == name)
}

/// Its name.
impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.arithmetic.format.name())?;
        if self.arithmetic.subnormals == Subnormals::Flushed {
            f.write_str(".flushed")?;
        }
        match &self.operation {
            Operation::Function(name) => write!(f, ".{name}"),
            Operation::From { fraction } => write!(f, ".from.{fraction}"),
            Operation::To { fraction, fixed } => {
                write!(f, ".{}.{fraction}", if *fixed { "floor" } else { "to" })
            }
            Operation::Convert(format) => write!(f, ".as.{}", format.name()),
            Operation::LeastNan => f.write_str(".order.least"),
            Operation::MostNan => f.write_str(".order.most"),
            Operation::Ordered => f.write_str(".order.back"),
            Operation::Word(index, sum) => write!(f, ".word.{index}.{sum}"),
            Operation::Total(sum, to) => write!(f, ".total.{}.{sum}", to.name()),
            Operation::Mean(sum, to) => write!(f, ".mean.{}.{sum}", to.name()),
            Operation::Quotient { fraction } => write!(f, ".quotient.{fraction}"),
        }
    }
}

impl Sum {
    /// Reads the parts of the name of a sum.
    fn named(parts: &[&str]) -> Option<Sum> {
        let [name, most, exponents @ ..] = parts else {
            return None;
        };
        let products = match *name {
            "sum" => false,
            "dot" => true,
            _ => return None,
        };
        let exponents = match exponents {
            [] => None,
            [lowest, highest] => Some([lowest.parse().ok()?, highest.parse().ok()?]),
            _ => return None,
        };
        Some(Sum {
            products,
            most: most.parse().ok()?,
            exponents,
        })
    }
}

/// `sum.100` or `dot.100`, with declared exponents `sum.100.-7.20`.
impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.products { "dot" } else { "sum" };
        write!(f, "{name}.{}", self.most)?;
        match self.exponents {
            Some([lowest, highest]) => write!(f, ".{lowest}.{highest}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_read_as_they_are_named() {
        let sum = Sum {
            products: true,
            most: 101,
            exponents: None,
        };
        let narrow = Sum {
            products: false,
            exponents: Some([-7, 20]),
            ..sum
        };
        let operations = [
            Operation::Function("add".into()),
            Operation::Function("frexp_1".into()),
            Operation::From { fraction: 0 },
            Operation::To {
                fraction: 16,
                fixed: true,
            },
            Operation::To {
                fraction: 0,
                fixed: false,
            },
            Operation::Convert(Format::BF16),
            Operation::LeastNan,
            Operation::MostNan,
            Operation::Ordered,
            Operation::Word(3, sum),
            Operation::Word(0, narrow),
            Operation::Mean(narrow, Format::F32),
            Operation::Total(sum, Format::F64),
            Operation::Mean(sum, Format::F16),
            Operation::Quotient { fraction: 4 },
        ];
        for operation in operations {
            for format in Format::ALL {
                for arithmetic in [Arithmetic::new(format), Arithmetic::new(format).flushed()] {
                    let call = Call {
                        arithmetic,
                        operation: operation.clone(),
                    };
                    assert_eq!(Call::named(&call.to_string()), Some(call));
                }
            }
        }
        assert_eq!(Call::named("aes128"), None);
    }
}
