//! Operations on waves that modes of the study alone use.

use sealane_block::{Block, Lanes};

use crate::lanes::wave::each;
use crate::lanes::{One, Shape, Vector, Wave};

impl<S: Shape> Wave<S> {
    each! {
        /// Times x in GF(2^128), in polynomial order: for blocks of the standards, between two
        /// calls of [`reversed`](Wave::reversed).
        doubled() = double
    }
    each! {
        /// Times x in GF(2^128), in the order of blocks.
        doubled_blocks() = double_blocks
    }
    each! {
        /// The upper half of `self`, then that of `other`.
        upper_halves(other) = zip_hi64
    }

    /// Every lane shifted left by `B` bytes, as a little-endian integer.
    #[inline(always)]
    pub(crate) fn shl_bytes<const B: i32>(mut self) -> Self {
        for i in 0..Self::VECTORS {
            self.v[i] = self.l.shl_bytes::<B>(self.v[i]);
        }
        self
    }

    /// Every lane shifted right by `B` bytes, as a little-endian integer.
    #[inline(always)]
    pub(crate) fn shr_bytes<const B: i32>(mut self) -> Self {
        for i in 0..Self::VECTORS {
            self.v[i] = self.l.shr_bytes::<B>(self.v[i]);
        }
        self
    }

    /// All ones in lanes whose byte 0 has its top bit set, zero elsewhere.
    #[inline(always)]
    pub(crate) fn where_top_bit(mut self) -> Self {
        let l = self.l;
        for i in 0..Self::VECTORS {
            let bit = l.shr64::<1>(l.shr64::<2>(l.shr64::<4>(self.v[i])));
            self.v[i] = l.permute_mask(bit);
        }
        self
    }

    /// The inverse of [`doubled`](Wave::doubled): bits move down by one place, and the bit shifted
    /// out comes back as 1/x, which is x^127 + x^6 + x + 1.
    #[inline(always)]
    pub(crate) fn halved(mut self) -> Self {
        let l = self.l;
        let (zero, back) = (l.splat(Block::ZERO), l.splat(Block::new(1 << 127 | 0x43)));
        for i in 0..Self::VECTORS {
            let v = self.v[i];
            let down = l.xor(l.shr64::<1>(v), l.zip_hi64(l.shl64::<63>(v), zero));
            self.v[i] = l.xor(down, l.and(l.permute_mask(v), back));
        }
        self
    }

    /// The product in GF(2^128), in polynomial order, with a factor that is given as itself and
    /// x^64 times itself.
    #[inline(always)]
    pub(crate) fn times(mut self, factor: &[Self; 2]) -> Self {
        for i in 0..Self::VECTORS {
            let factor = [factor[0].v[i], factor[1].v[i]];
            self.v[i] = product(self.l, self.v[i], factor);
        }
        self
    }

    /// As [`running_sum`](Wave::running_sum), where the sum is multiplied by a factor from each
    /// lane to the next. `powers` are its powers from the first on, as many as a vector has lanes,
    /// and x^64 times them.
    #[inline(always)]
    pub(crate) fn running_hash(mut self, before: Self, powers: [&[Block]; 2]) -> Self {
        let l = self.l;
        let zero = l.splat(Block::ZERO);
        let [power, upper] = powers;
        let once = [l.splat(power[0]), l.splat(upper[0])];
        let twice = [l.splat(power[1]), l.splat(upper[1])];
        // The value before a vector is multiplied once for each step to each of its lanes.
        let ways = [l.load(power), l.load(upper)];
        let mut carry = l.last(before.v[Self::VECTORS - 1]);
        for i in 0..Self::VECTORS {
            let mut sum = self.v[i];
            let [mut low, mut high] = parts(l, carry, ways);
            if Self::WIDTH > 1 {
                let (mut shifted, mut factor) = (l.previous(zero, sum), once);
                if Self::WIDTH > 2 {
                    sum = l.xor(sum, product(l, shifted, factor));
                    (shifted, factor) = (l.previous(zero, l.previous(zero, sum)), twice);
                }
                let [more_low, more_high] = parts(l, shifted, factor);
                (low, high) = (l.xor(low, more_low), l.xor(high, more_high));
            }
            self.v[i] = l.xor(sum, reduced(l, [low, high]));
            carry = l.last(self.v[i]);
        }
        self
    }

    /// The bitwise complement.
    #[inline(always)]
    pub(crate) fn inverted(self) -> Self {
        self ^ Wave::splat(self.l, Block::ONES)
    }

    /// The lane before each; for the first, the last of `before`.
    #[inline(always)]
    pub(crate) fn previous(mut self, before: Self) -> Self {
        for i in (0..Self::VECTORS).rev() {
            let before = if i > 0 {
                self.v[i - 1]
            } else {
                before.v[Self::VECTORS - 1]
            };
            self.v[i] = self.l.previous(before, self.v[i]);
        }
        self
    }

    /// The lane after each; for the last, the first of `after`.
    #[inline(always)]
    pub(crate) fn next(mut self, after: Vector<S>) -> Self {
        for i in 0..Self::VECTORS {
            let after = if i + 1 < Self::VECTORS {
                self.v[i + 1]
            } else {
                after
            };
            self.v[i] = self.l.next(self.v[i], after);
        }
        self
    }

    /// In each lane: the exclusive or of all lanes up to it, and of the last lane of `before`.
    #[inline(always)]
    pub(crate) fn running_sum(mut self, before: Self) -> Self {
        let l = self.l;
        let zero = l.splat(Block::ZERO);
        let mut carry = l.last(before.v[Self::VECTORS - 1]);
        for i in 0..Self::VECTORS {
            let mut sum = self.v[i];
            if Self::WIDTH > 1 {
                sum = l.xor(sum, l.previous(zero, sum));
            }
            if Self::WIDTH > 2 {
                sum = l.xor(sum, l.previous(zero, l.previous(zero, sum)));
            }
            self.v[i] = l.xor(sum, carry);
            carry = l.xor(carry, l.last(sum));
        }
        self
    }

    /// The given block, twice it, four times it and so on, lane after lane, in polynomial order.
    #[inline(always)]
    pub(crate) fn doubling(first: Wave<One<S>>) -> Self {
        let l = first.l;
        let mut wave: Self = first.spread();
        for i in 0..Self::VECTORS {
            let lane = i * Self::WIDTH;
            wave.v[i] = if lane >= 16 {
                l.double_bytes::<2>(wave.v[i - 16 / Self::WIDTH])
            } else if lane >= 8 {
                l.double_bytes::<1>(wave.v[i - 8 / Self::WIDTH])
            } else {
                let powers = l.load(&POWERS_OF_X[lane..]);
                let low = l.clmul::<0x00>(wave.v[i], powers);
                reduced(l, [low, l.clmul::<0x01>(wave.v[i], powers)])
            };
        }
        wave
    }

    /// Times x to the number of lanes in GF(2^128), in polynomial order.
    #[inline(always)]
    pub(crate) fn times_x_to_lanes(mut self) -> Self {
        for i in 0..Self::VECTORS {
            let v = self.v[i];
            self.v[i] = match Self::LANES {
                8 => self.l.double_bytes::<1>(v),
                16 => self.l.double_bytes::<2>(v),
                32 => self.l.double_bytes::<4>(v),
                _ => unreachable!("waves of one message have 8, 16 or 32 lanes"),
            };
        }
        self
    }
}

/// Powers 0 to 7 of x.
const POWERS_OF_X: [Block; 8] = {
    let mut powers = [Block::ZERO; 8];
    let mut power = 0;
    while power < 8 {
        powers[power] = Block::new(1 << power);
        power += 1;
    }
    powers
};

/// A product in GF(2^128) by a factor that is given as itself and x^64 times itself.
#[inline(always)]
fn product<L: Lanes>(l: L, v: L::V, factor: [L::V; 2]) -> L::V {
    reduced(l, parts(l, v, factor))
}

/// A product before its reduction: each half of `v` has a factor of its own, so that the products
/// have 192 bits. The second part counts x^64 times.
#[inline(always)]
fn parts<L: Lanes>(l: L, v: L::V, [factor, upper]: [L::V; 2]) -> [L::V; 2] {
    [
        l.xor(l.clmul::<0x00>(v, factor), l.clmul::<0x01>(v, upper)),
        l.xor(l.clmul::<0x10>(v, factor), l.clmul::<0x11>(v, upper)),
    ]
}

/// Adds such parts and folds the upper third down.
#[inline(always)]
fn reduced<L: Lanes>(l: L, [low, high]: [L::V; 2]) -> L::V {
    let (zero, modulus) = (l.splat(Block::ZERO), l.splat(Block::new(0x87)));
    let sum = l.xor(low, l.zip_lo64(zero, high));
    l.xor(sum, l.clmul::<0x01>(high, modulus))
}
