//! Comparison, by the sign of the exact difference.

use crate::builder::{Builder, Wire, Word};
use crate::word::Int;

impl Builder {
    /// x < y: an AND a bit.
    pub fn lt(&mut self, x: Int, y: Int) -> Wire {
        let (x, y) = (x.trim(), y.trim());
        let width = x.signed_width().max(y.signed_width()) + 1;
        self.sub(x, y, width)[width - 1]
    }

    /// x <= y: an AND a bit.
    pub fn le(&mut self, x: Int, y: Int) -> Wire {
        !self.lt(y, x)
    }

    /// x = y: an AND for each bit but one.
    pub fn eq(&mut self, x: Int, y: Int) -> Wire {
        let (x, y) = (x.trim(), y.trim());
        let width = if x.signed == y.signed {
            x.bits.len().max(y.bits.len())
        } else {
            x.signed_width().max(y.signed_width())
        };
        let same = self.zip(&x.resize(width), &y.resize(width), |b, x, y| !b.xor(x, y));
        self.all(&same)
    }

    /// The smaller of x and y: two ANDs a bit.
    pub fn min(&mut self, x: Int, y: Int, width: usize) -> Word {
        let less = self.lt(x, y);
        self.select(less, &x.resize(width), &y.resize(width))
    }

    /// The larger of x and y: two ANDs a bit.
    pub fn max(&mut self, x: Int, y: Int, width: usize) -> Word {
        let less = self.lt(x, y);
        self.select(less, &y.resize(width), &x.resize(width))
    }
}
