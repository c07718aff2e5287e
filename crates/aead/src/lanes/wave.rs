//! Waves: the blocks of eight vectors, or of one, side by side.

use std::marker::PhantomData;
use std::ops::{BitAnd, BitXor, BitXorAssign};

use sealane_block::lanes::{MAX_LANES, MAX_WIDTH};
use sealane_block::{Block, Lanes};

use super::{Count, Of};

/// The shape of a wave.
pub(crate) trait Shape {
    /// The tier of its vectors.
    type L: Lanes;
    /// Their number.
    type N: Count;
}

/// `N` vectors of a tier.
pub(crate) struct Vectors<L, const N: usize>(PhantomData<L>);

impl<L: Lanes, const N: usize> Shape for Vectors<L, N> {
    type L = L;
    type N = Of<N>;
}

/// One vector of the tier of a shape.
pub(crate) type One<S> = Vectors<Token<S>, 1>;

/// The token of the tier of a shape.
pub(crate) type Token<S> = <S as Shape>::L;

/// A vector of that tier.
pub(crate) type Vector<S> = <Token<S> as Lanes>::V;

/// The vectors of a shape: one block for each lane. All operations are lane by lane, so the
/// equations of a mode read as they do for one message.
pub(crate) struct Wave<S: Shape> {
    pub(crate) l: Token<S>,
    pub(crate) v: <S::N as Count>::Array<Vector<S>>,
}

impl<S: Shape> Copy for Wave<S> {}

impl<S: Shape> Clone for Wave<S> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

/// A method that applies an operation of the tier to every vector.
macro_rules! each {
    ($(#[$doc:meta])* $name:ident($($other:ident),*) = $operation:ident) => {
        $(#[$doc])*
        #[inline(always)]
        pub(crate) fn $name(mut self $(, $other: Self)*) -> Self {
            for i in 0..Self::VECTORS {
                self.v[i] = self.l.$operation(self.v[i] $(, $other.v[i])*);
            }
            self
        }
    };
}

#[cfg(feature = "research")]
pub(crate) use each;

impl<S: Shape> Wave<S> {
    /// Number of vectors.
    pub(crate) const VECTORS: usize = S::N::COUNT;
    /// Blocks of a vector.
    pub(crate) const WIDTH: usize = <Token<S> as Lanes>::WIDTH;
    /// Number of lanes.
    pub(crate) const LANES: usize = Self::VECTORS * Self::WIDTH;

    /// One block in all lanes.
    #[inline(always)]
    pub(crate) fn splat(l: Token<S>, block: Block) -> Self {
        Wave::filled(l, l.splat(block))
    }

    /// One vector in all places.
    #[inline(always)]
    pub(crate) fn filled(l: Token<S>, v: Vector<S>) -> Self {
        Wave {
            l,
            v: S::N::filled(v),
        }
    }

    /// Zero in all lanes.
    #[inline(always)]
    pub(crate) fn zero(l: Token<S>) -> Self {
        Wave::splat(l, Block::ZERO)
    }

    /// Collects a block for each lane. They are combined in registers: loading whole vectors right
    /// after storing single blocks would stall.
    #[inline(always)]
    pub(crate) fn of_lanes(l: Token<S>, mut block: impl FnMut(usize) -> Block) -> Self {
        let mut wave: Self = Wave::zero(l);
        for i in 0..Self::VECTORS {
            let mut blocks = [Block::ZERO; MAX_WIDTH];
            for (place, to) in blocks[..Self::WIDTH].iter_mut().enumerate() {
                *to = block(i * Self::WIDTH + place);
            }
            // Otherwise the compiler may split the vector again, down to bytes.
            wave.v[i] = l.optimization_barrier(l.load(&blocks));
        }
        wave
    }

    /// All ones in the lanes of a set, zero in the others.
    #[inline(always)]
    pub(crate) fn where_set(l: Token<S>, set: u32) -> Self {
        Wave::of_lanes(l, |lane| {
            Block::new(u128::from(set >> lane & 1).wrapping_neg())
        })
    }

    /// All ones in the first `count` lanes, zero in the others.
    #[inline(always)]
    pub(crate) fn where_first(l: Token<S>, count: usize) -> Self {
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
        let mut mask: Self = Wave::zero(l);
        for i in 0..Self::VECTORS {
            mask.v[i] = l.load(&blocks[i * Self::WIDTH..]);
        }
        mask
    }

    /// The blocks of the lanes, in order.
    #[inline(always)]
    pub(crate) fn lanes(&self) -> &[Block] {
        bytemuck::must_cast_slice(self.v.as_ref())
    }

    /// The blocks of the lanes, in order, to be written.
    #[inline(always)]
    pub(crate) fn lanes_mut(&mut self) -> &mut [Block] {
        bytemuck::must_cast_slice_mut(self.v.as_mut())
    }

    each! {
        /// The same wave behind an optimisation barrier, so that later operations are not moved
        /// before this point.
        optimization_barrier() = optimization_barrier
    }
    each! {
        /// The 16 bytes of every lane in reverse order.
        reversed() = reverse_bytes
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

    /// The top bit of each 64-bit half, as 0 or 1.
    #[inline(always)]
    pub(crate) fn top_bits(mut self) -> Self {
        for i in 0..Self::VECTORS {
            self.v[i] = self.l.shr64::<63>(self.v[i]);
        }
        self
    }

    /// One lane, in all lanes of one vector.
    #[inline(always)]
    pub(crate) fn pick(&self, lane: usize) -> Wave<One<S>> {
        Wave::splat(self.l, self.lanes()[lane])
    }

    /// The first lane, in all lanes of a wave.
    #[inline(always)]
    pub(crate) fn spread<W: Shape<L = S::L>>(&self) -> Wave<W> {
        Wave::splat(self.l, self.lanes()[0])
    }

    /// The first lane, where it is, and zero in the other lanes of a wave.
    #[inline(always)]
    pub(crate) fn in_first<W: Shape<L = S::L>>(&self) -> Wave<W> {
        let mut wide: Wave<W> = Wave::zero(self.l);
        wide.v[0] = self.l.previous(self.pick(0).v[0], wide.v[0]);
        wide
    }

    /// The exclusive or of all lanes, in all lanes of one vector.
    #[inline(always)]
    pub(crate) fn sum(&self) -> Wave<One<S>> {
        let l = self.l;
        let mut column = self.v[0];
        for i in 1..Self::VECTORS {
            column = l.xor(column, self.v[i]);
        }
        let (mut sum, mut turned) = (column, column);
        for _ in 1..Self::WIDTH {
            turned = l.previous(turned, turned);
            sum = l.xor(sum, turned);
        }
        Wave { l, v: [sum] }
    }

    /// Blocks that lie side by side, one for each lane. Blocks written lane by lane would have to
    /// reach the cache before a vector of them can be read.
    #[inline(always)]
    pub(crate) fn load(l: Token<S>, from: &[Block]) -> Self {
        let from = &from[..Self::LANES];
        let mut wave: Self = Wave::zero(l);
        for i in 0..Self::VECTORS {
            wave.v[i] = l.load(&from[i * Self::WIDTH..]);
        }
        wave
    }

    /// Blocks that lie anywhere, one for each lane.
    #[inline(always)]
    pub(crate) fn collect<'b>(l: Token<S>, block: impl Fn(usize) -> &'b Block) -> Self {
        let mut wave: Self = Wave::zero(l);
        for i in 0..Self::VECTORS {
            let mut from = [&Block::ZERO; MAX_WIDTH];
            for lane in 0..Self::WIDTH {
                from[lane] = block(i * Self::WIDTH + lane);
            }
            wave.v[i] = l.collect(from);
        }
        wave
    }

    /// Replaces the block in the last lane.
    #[inline(always)]
    pub(crate) fn with_last(mut self, block: Block) -> Self {
        let last = Self::VECTORS - 1;
        self.v[last] = self.l.with_last(self.v[last], block);
        self
    }

    /// `other` where `mask` is all ones, `self` where it is zero.
    #[inline(always)]
    pub(crate) fn unless(self, mask: Self, other: Self) -> Self {
        self ^ (mask & (self ^ other))
    }
}

impl<S: Shape> BitXor for Wave<S> {
    type Output = Self;
    #[inline(always)]
    fn bitxor(mut self, other: Self) -> Self {
        for i in 0..Self::VECTORS {
            self.v[i] = self.l.xor(self.v[i], other.v[i]);
        }
        self
    }
}

impl<S: Shape> BitXorAssign for Wave<S> {
    #[inline(always)]
    fn bitxor_assign(&mut self, other: Self) {
        *self = *self ^ other;
    }
}

impl<S: Shape> BitAnd for Wave<S> {
    type Output = Self;
    #[inline(always)]
    fn bitand(mut self, other: Self) -> Self {
        for i in 0..Self::VECTORS {
            self.v[i] = self.l.and(self.v[i], other.v[i]);
        }
        self
    }
}
