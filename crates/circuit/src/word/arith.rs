//! Addition and related functions.

use crate::builder::{Builder, Wire, Word};
use crate::word::Int;
use crate::word::columns::Columns;

impl Builder {
    /// x + y: an AND a bit.
    pub fn add(&mut self, x: Int, y: Int, width: usize) -> Word {
        self.sum(&[x, y], width)
    }

    /// x - y: an AND a bit.
    pub fn sub(&mut self, x: Int, y: Int, width: usize) -> Word {
        let mut columns = Columns::new(width);
        columns.add(x, 0);
        columns.sub(y, 0);
        columns.sum(self)
    }

    /// The sum of any number of integers: about an AND for each bit of each but one of them.
    pub fn sum(&mut self, terms: &[Int], width: usize) -> Word {
        let mut columns = Columns::new(width);
        terms.iter().for_each(|&x| columns.add(x, 0));
        columns.sum(self)
    }

    /// -x: an AND a bit.
    pub fn neg(&mut self, x: Int, width: usize) -> Word {
        self.sub(Int::unsigned(&[]), x, width)
    }

    /// -x where `condition` is 1, else x: an AND a bit.
    pub fn neg_if(&mut self, condition: Wire, x: Int, width: usize) -> Word {
        // Complementing is x -> -1 - x, so the sign of the result is that of x, flipped.
        let x = x.trim();
        let wide = x.resize(x.signed_width());
        let flipped = self.invert_if(condition, &wide);
        self.add(Int::signed(&flipped), Int::unsigned(&[condition]), width)
    }

    /// The absolute value: an AND a bit. It is exact: that of -2^(n-1) has n bits.
    pub fn abs(&mut self, x: Int, width: usize) -> Word {
        self.neg_if(x.sign(), x, width)
    }

    /// The number of ones among `bits`: n ANDs for n bits, less the number of ones in n.
    pub fn popcount(&mut self, bits: &[Wire], width: usize) -> Word {
        let mut columns = Columns::new(width);
        bits.iter()
            .for_each(|bit| columns.add(Int::unsigned(std::slice::from_ref(bit)), 0));
        columns.sum(self)
    }
}
