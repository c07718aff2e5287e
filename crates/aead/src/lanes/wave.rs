//! Waves: the blocks of eight vectors, or of one, side by side.

use std::ops::{BitAnd, BitXor, BitXorAssign};

use sealane_block::lanes::{MAX_LANES, MAX_WIDTH};
use sealane_block::{Block, Lanes};

/// `N` vectors of a tier: one block for each of `N * WIDTH` lanes. All operations are lane by lane,
/// so the equations of a mode read as they do for one message.
#[derive(Clone, Copy)]
pub(crate) struct Wave<L: Lanes, const N: usize> {
    pub(crate) l: L,
    pub(crate) v: [L::V; N],
}

/// A method that applies an operation of the tier to every vector.
macro_rules! each {
    ($(#[$doc:meta])* $name:ident($($other:ident),*) = $operation:ident) => {
        $(#[$doc])*
        #[inline(always)]
        pub(crate) fn $name(mut self $(, $other: Self)*) -> Self {
            for i in 0..N {
                self.v[i] = self.l.$operation(self.v[i] $(, $other.v[i])*);
            }
            self
        }
    };
}

impl<L: Lanes, const N: usize> Wave<L, N> {
    /// Number of lanes.
    pub(crate) const LANES: usize = N * L::WIDTH;

    /// One block in all lanes.
    #[inline(always)]
    pub(crate) fn splat(l: L, block: Block) -> Self {
        let v = [l.splat(block); N];
        Wave { l, v }
    }

    /// One vector in all places.
    #[inline(always)]
    pub(crate) fn filled(l: L, v: L::V) -> Self {
        Wave { l, v: [v; N] }
    }

    /// Zero in all lanes.
    #[inline(always)]
    pub(crate) fn zero(l: L) -> Self {
        Wave::splat(l, Block::ZERO)
    }

    /// Collects a block for each lane. They are combined in registers: loading whole vectors right
    /// after storing single blocks would stall.
    #[inline(always)]
    pub(crate) fn of_lanes(l: L, mut block: impl FnMut(usize) -> Block) -> Self {
        let mut wave = Wave::zero(l);
        for i in 0..N {
            let mut blocks = [Block::ZERO; MAX_WIDTH];
            for (place, to) in blocks[..L::WIDTH].iter_mut().enumerate() {
                *to = block(i * L::WIDTH + place);
            }
            // Otherwise the compiler may split the vector again, down to bytes.
            wave.v[i] = l.optimization_barrier(l.load(&blocks));
        }
        wave
    }

    /// All ones in the lanes of a set, zero in the others.
    #[inline(always)]
    pub(crate) fn where_set(l: L, set: u32) -> Self {
        Wave::of_lanes(l, |lane| {
            Block::new(u128::from(set >> lane & 1).wrapping_neg())
        })
    }

    /// All ones in the first `count` lanes, zero in the others.
    #[inline(always)]
    pub(crate) fn where_first(l: L, count: usize) -> Self {
        const ONES_THEN_ZEROS: [Block; 2 * MAX_LANES] = {
            let mut blocks = [Block::ZERO; 2 * MAX_LANES];
            let mut i = 0;
            while i < MAX_LANES {
                blocks[i] = Block::ONES;
                i += 1;
            }
            blocks
        };
        let blocks = &ONES_THEN_ZEROS[MAX_LANES - count..];
        let mut mask = Wave::zero(l);
        for i in 0..N {
            mask.v[i] = l.load(&blocks[i * L::WIDTH..]);
        }
        mask
    }

    /// The same wave behind an optimisation barrier, so that later operations are not moved before
    /// this point.
    #[inline(always)]
    pub(crate) fn optimization_barrier(mut self) -> Self {
        for i in 0..N {
            self.v[i] = self.l.optimization_barrier(self.v[i]);
        }
        self
    }

    /// The blocks of the lanes, in order.
    #[inline(always)]
    pub(crate) fn lanes(&self) -> &[Block] {
        bytemuck::must_cast_slice(&self.v)
    }

    /// The blocks of the lanes, in order, to be written.
    #[inline(always)]
    pub(crate) fn lanes_mut(&mut self) -> &mut [Block] {
        bytemuck::must_cast_slice_mut(&mut self.v)
    }

    each! {
        /// The 16 bytes of every lane in reverse order.
        reversed() = reverse_bytes
    }
    each! {
        #[cfg(feature = "research")]
        /// Times x in GF(2^128), in polynomial order: for blocks of the standards, between two
        /// calls of [`reversed`](Wave::reversed).
        doubled() = double
    }
    each! {
        #[cfg(feature = "research")]
        /// Times x in GF(2^128), in the order of blocks.
        doubled_blocks() = double_blocks
    }
    each! {
        /// The sums of the 64-bit halves.
        add64(other) = add64
    }
    each! {
        /// The sums of the 32-bit words.
        add32(other) = add32
    }
    each! {
        /// The lower half of `self`, then that of `other`.
        lower_halves(other) = zip_lo64
    }
    each! {
        #[cfg(feature = "research")]
        /// The upper half of `self`, then that of `other`.
        upper_halves(other) = zip_hi64
    }

    /// Every lane shifted left by `B` bytes, as a little-endian integer.
    #[cfg(feature = "research")]
    #[inline(always)]
    pub(crate) fn shl_bytes<const B: i32>(mut self) -> Self {
        for i in 0..N {
            self.v[i] = self.l.shl_bytes::<B>(self.v[i]);
        }
        self
    }

    /// Every lane shifted right by `B` bytes, as a little-endian integer.
    #[cfg(feature = "research")]
    #[inline(always)]
    pub(crate) fn shr_bytes<const B: i32>(mut self) -> Self {
        for i in 0..N {
            self.v[i] = self.l.shr_bytes::<B>(self.v[i]);
        }
        self
    }

    /// All ones in lanes whose byte 0 has its top bit set, zero elsewhere.
    #[cfg(feature = "research")]
    #[inline(always)]
    pub(crate) fn where_top_bit(mut self) -> Self {
        let l = self.l;
        for i in 0..N {
            let bit = l.shr64::<1>(l.shr64::<2>(l.shr64::<4>(self.v[i])));
            self.v[i] = l.permute_mask(bit);
        }
        self
    }

    /// The top bit of each 64-bit half, as 0 or 1.
    #[inline(always)]
    pub(crate) fn top_bits(mut self) -> Self {
        for i in 0..N {
            self.v[i] = self.l.shr64::<63>(self.v[i]);
        }
        self
    }

    /// One lane, in all lanes of one vector.
    #[inline(always)]
    pub(crate) fn pick(&self, lane: usize) -> Wave<L, 1> {
        Wave::splat(self.l, self.lanes()[lane])
    }

    /// The first lane, in all lanes of a wave.
    #[inline(always)]
    pub(crate) fn spread<const M: usize>(&self) -> Wave<L, M> {
        Wave::splat(self.l, self.lanes()[0])
    }

    /// The exclusive or of all lanes, in all lanes of one vector.
    #[inline(always)]
    pub(crate) fn sum(&self) -> Wave<L, 1> {
        let l = self.l;
        let mut column = self.v[0];
        for i in 1..N {
            column = l.xor(column, self.v[i]);
        }
        let (mut sum, mut turned) = (column, column);
        for _ in 1..L::WIDTH {
            turned = l.previous(turned, turned);
            sum = l.xor(sum, turned);
        }
        Wave { l, v: [sum] }
    }

    /// Blocks that lie side by side, one for each lane. Blocks written lane by lane would have to
    /// reach the cache before a vector of them can be read.
    #[inline(always)]
    pub(crate) fn load(l: L, from: &[Block]) -> Self {
        let from = &from[..Self::LANES];
        let mut wave = Wave::zero(l);
        for i in 0..N {
            wave.v[i] = l.load(&from[i * L::WIDTH..]);
        }
        wave
    }

    /// Blocks that lie anywhere, one for each lane.
    #[inline(always)]
    pub(crate) fn collect<'b>(l: L, block: impl Fn(usize) -> &'b Block) -> Self {
        let mut wave = Wave::zero(l);
        for i in 0..N {
            let mut from = [&Block::ZERO; MAX_WIDTH];
            for lane in 0..L::WIDTH {
                from[lane] = block(i * L::WIDTH + lane);
            }
            wave.v[i] = l.collect(from);
        }
        wave
    }

    /// Replaces the block in the last lane.
    #[inline(always)]
    pub(crate) fn with_last(mut self, block: Block) -> Self {
        self.v[N - 1] = self.l.with_last(self.v[N - 1], block);
        self
    }

    /// `other` where `mask` is all ones, `self` where it is zero.
    #[inline(always)]
    pub(crate) fn unless(self, mask: Self, other: Self) -> Self {
        self ^ (mask & (self ^ other))
    }
}

/// Further operations, for modes of the study.
#[cfg(feature = "research")]
impl<L: Lanes, const N: usize> Wave<L, N> {
    /// The inverse of [`doubled`](Wave::doubled): bits move down by one place, and the bit shifted
    /// out comes back as 1/x, which is x^127 + x^6 + x + 1.
    #[inline(always)]
    pub(crate) fn halved(mut self) -> Self {
        let l = self.l;
        let (zero, back) = (l.splat(Block::ZERO), l.splat(Block::new(1 << 127 | 0x43)));
        for i in 0..N {
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
        for i in 0..N {
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
        let mut carry = l.last(before.v[N - 1]);
        for i in 0..N {
            let mut sum = self.v[i];
            let [mut low, mut high] = parts(l, carry, ways);
            if L::WIDTH > 1 {
                let (mut shifted, mut factor) = (l.previous(zero, sum), once);
                if L::WIDTH > 2 {
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
        for i in (0..N).rev() {
            let before = if i > 0 {
                self.v[i - 1]
            } else {
                before.v[N - 1]
            };
            self.v[i] = self.l.previous(before, self.v[i]);
        }
        self
    }

    /// The lane after each; for the last, the first of `after`.
    #[inline(always)]
    pub(crate) fn next(mut self, after: L::V) -> Self {
        for i in 0..N {
            let after = if i + 1 < N { self.v[i + 1] } else { after };
            self.v[i] = self.l.next(self.v[i], after);
        }
        self
    }

    /// In each lane: the exclusive or of all lanes up to it, and of the last lane of `before`.
    #[inline(always)]
    pub(crate) fn running_sum(mut self, before: Self) -> Self {
        let l = self.l;
        let zero = l.splat(Block::ZERO);
        let mut carry = l.last(before.v[N - 1]);
        for i in 0..N {
            let mut sum = self.v[i];
            if L::WIDTH > 1 {
                sum = l.xor(sum, l.previous(zero, sum));
            }
            if L::WIDTH > 2 {
                sum = l.xor(sum, l.previous(zero, l.previous(zero, sum)));
            }
            self.v[i] = l.xor(sum, carry);
            carry = l.xor(carry, l.last(sum));
        }
        self
    }

    /// The given block, twice it, four times it and so on, lane after lane, in polynomial order.
    #[inline(always)]
    pub(crate) fn doubling(first: Wave<L, 1>) -> Self {
        let l = first.l;
        let mut wave: Self = first.spread();
        for i in 0..N {
            let lane = i * L::WIDTH;
            wave.v[i] = if lane >= 16 {
                l.double_bytes::<2>(wave.v[i - 16 / L::WIDTH])
            } else if lane >= 8 {
                l.double_bytes::<1>(wave.v[i - 8 / L::WIDTH])
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
        for i in 0..N {
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

impl<L: Lanes, const N: usize> BitXor for Wave<L, N> {
    type Output = Self;
    #[inline(always)]
    fn bitxor(mut self, other: Self) -> Self {
        for i in 0..N {
            self.v[i] = self.l.xor(self.v[i], other.v[i]);
        }
        self
    }
}

impl<L: Lanes, const N: usize> BitXorAssign for Wave<L, N> {
    #[inline(always)]
    fn bitxor_assign(&mut self, other: Self) {
        *self = *self ^ other;
    }
}

impl<L: Lanes, const N: usize> BitAnd for Wave<L, N> {
    type Output = Self;
    #[inline(always)]
    fn bitand(mut self, other: Self) -> Self {
        for i in 0..N {
            self.v[i] = self.l.and(self.v[i], other.v[i]);
        }
        self
    }
}

/// Powers 0 to 7 of x.
#[cfg(feature = "research")]
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
#[cfg(feature = "research")]
#[inline(always)]
fn product<L: Lanes>(l: L, v: L::V, factor: [L::V; 2]) -> L::V {
    reduced(l, parts(l, v, factor))
}

/// A product before its reduction: each half of `v` has a factor of its own, so that the products
/// have 192 bits. The second part counts x^64 times.
#[cfg(feature = "research")]
#[inline(always)]
fn parts<L: Lanes>(l: L, v: L::V, [factor, upper]: [L::V; 2]) -> [L::V; 2] {
    [
        l.xor(l.clmul::<0x00>(v, factor), l.clmul::<0x01>(v, upper)),
        l.xor(l.clmul::<0x10>(v, factor), l.clmul::<0x11>(v, upper)),
    ]
}

/// Adds such parts and folds the upper third down.
#[cfg(feature = "research")]
#[inline(always)]
fn reduced<L: Lanes>(l: L, [low, high]: [L::V; 2]) -> L::V {
    let (zero, modulus) = (l.splat(Block::ZERO), l.splat(Block::new(0x87)));
    let sum = l.xor(low, l.zip_lo64(zero, high));
    l.xor(sum, l.clmul::<0x01>(high, modulus))
}
