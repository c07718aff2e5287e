//! Access of a mode's body to the units of text.

use sealane_block::lanes::Streams;
use sealane_block::{Block, Lanes};

use super::mode::lanes_of;
use super::{Of, Shape, Token, Wave};

/// Units of text for the lanes of a wave, changed in place.
pub(crate) trait Data<S: Shape> {
    /// True if lanes hold neighbouring units of one message, in steps of all lanes, and not a
    /// message each.
    const WIDE: bool = false;
    /// The distance from one unit of a lane to its next.
    const STEP: usize = if Self::WIDE { Wave::<S>::LANES } else { 1 };
    /// Returns the number of units of every lane.
    fn units(&self) -> usize;
    /// Returns the number, in its message, of the first unit of lane `lane`.
    fn position(&self, lane: usize) -> u64;
    /// Returns a lane whose position all lanes with work share, if lanes hold a message each and
    /// are at the same unit.
    fn in_step(&self) -> Option<usize> {
        None
    }
    /// Returns true if lanes hold units of one message, one each in every round, and units
    /// have one block.
    #[inline(always)]
    fn is_whole(&self) -> bool {
        false
    }
    /// Block `block` of unit `unit`.
    fn load(&self, l: Token<S>, unit: usize, block: usize) -> Wave<S>;
    /// Writes a block.
    fn store(&mut self, unit: usize, block: usize, x: Wave<S>);
    /// Adds `pad` to a block, and returns the old block. This goes vector by vector: with a load
    /// and a store of all blocks, the registers would not suffice.
    #[inline(always)]
    fn mask(&mut self, unit: usize, block: usize, pad: Wave<S>) -> Wave<S> {
        let given = self.load(pad.l, unit, block);
        self.store(unit, block, given ^ pad);
        given
    }
    /// As [`mask`](Data::mask), and also returns the new block.
    #[inline(always)]
    fn add(&mut self, unit: usize, block: usize, pad: Wave<S>) -> [Wave<S>; 2] {
        let given = self.load(pad.l, unit, block);
        let made = given ^ pad;
        self.store(unit, block, made);
        [given, made]
    }
}

/// Data in streams, one for each lane: of messages, or if `WIDE` the units of one message, dealt
/// out in whole rounds.
pub(crate) struct Dealt<'d, const WIDE: bool> {
    pub(crate) streams: Streams<'d>,
    /// The position of each lane, or of the first one if `WIDE`.
    pub(crate) positions: &'d [u64],
    /// True if lanes have a message each, and all are at the same unit.
    pub(crate) is_even: bool,
}

impl<S: Shape, const WIDE: bool> Data<S> for Dealt<'_, WIDE> {
    const WIDE: bool = WIDE;
    #[inline(always)]
    fn units(&self) -> usize {
        self.streams.units()
    }
    #[inline(always)]
    fn position(&self, lane: usize) -> u64 {
        if WIDE {
            self.positions[0] + lane as u64
        } else {
            self.positions[lane]
        }
    }
    #[inline(always)]
    fn in_step(&self) -> Option<usize> {
        if WIDE || self.is_even {
            return (!WIDE).then_some(0);
        }
        let busy = self.streams.busy();
        let first = lanes_of(busy).next()?;
        let position = self.positions[first];
        lanes_of(busy)
            .all(|lane| self.positions[lane] == position)
            .then_some(first)
    }
    #[inline(always)]
    fn is_whole(&self) -> bool {
        WIDE && self.streams.in_rows()
    }
    #[inline(always)]
    fn load(&self, l: Token<S>, unit: usize, block: usize) -> Wave<S> {
        let mut x: Wave<S> = Wave::zero(l);
        if WIDE && self.streams.in_rows() {
            for i in 0..Wave::<S>::VECTORS {
                x.v[i] = l.load_row(&self.streams, i * Wave::<S>::WIDTH, unit);
            }
        } else {
            for i in 0..Wave::<S>::VECTORS {
                x.v[i] = l.load_streams(&self.streams, i * Wave::<S>::WIDTH, unit, block);
            }
        }
        x
    }
    #[inline(always)]
    fn store(&mut self, unit: usize, block: usize, x: Wave<S>) {
        let streams = &mut self.streams;
        if WIDE && streams.in_rows() {
            for i in 0..Wave::<S>::VECTORS {
                x.l.store_row(streams, i * Wave::<S>::WIDTH, unit, x.v[i]);
            }
        } else {
            for i in 0..Wave::<S>::VECTORS {
                x.l.store_streams(streams, i * Wave::<S>::WIDTH, unit, block, x.v[i]);
            }
        }
    }
    #[inline(always)]
    fn mask(&mut self, unit: usize, block: usize, pad: Wave<S>) -> Wave<S> {
        let (l, mut given) = (pad.l, pad);
        if WIDE && self.streams.in_rows() {
            given = self.load(l, unit, block);
            self.store(unit, block, given ^ pad);
            return given;
        }
        for i in 0..Wave::<S>::VECTORS {
            let stream = i * Wave::<S>::WIDTH;
            given.v[i] = l.load_streams(&self.streams, stream, unit, block);
            let made = l.xor(given.v[i], pad.v[i]);
            l.store_streams(&mut self.streams, stream, unit, block, made);
        }
        given
    }
    #[inline(always)]
    fn add(&mut self, unit: usize, block: usize, pad: Wave<S>) -> [Wave<S>; 2] {
        let (l, mut both) = (pad.l, [pad; 2]);
        if WIDE {
            let given = self.load(l, unit, block);
            self.store(unit, block, given ^ pad);
            return [given, given ^ pad];
        }
        for i in 0..Wave::<S>::VECTORS {
            let stream = i * Wave::<S>::WIDTH;
            let given = l.load_streams(&self.streams, stream, unit, block);
            // Behind a barrier: otherwise the compiler processes the two parts of the sum
            // separately, in all that follows.
            let made = l.optimization_barrier(l.xor(given, pad.v[i]));
            l.store_streams(&mut self.streams, stream, unit, block, made);
            (both[0].v[i], both[1].v[i]) = (given, made);
        }
        both
    }
}

/// Data of one message in the first lane of one vector.
pub(crate) struct Alone<'d> {
    /// Whole units.
    pub(crate) blocks: &'d mut [[u8; 16]],
    pub(crate) unit: usize,
}

impl<S: Shape<N = Of<1>>> Data<S> for Alone<'_> {
    #[inline(always)]
    fn units(&self) -> usize {
        self.blocks.len() / self.unit
    }
    #[inline(always)]
    fn position(&self, _lane: usize) -> u64 {
        0
    }
    #[inline(always)]
    fn load(&self, l: Token<S>, unit: usize, block: usize) -> Wave<S> {
        Wave::splat(l, Block::from_bytes(self.blocks[unit * self.unit + block]))
    }
    #[inline(always)]
    fn store(&mut self, unit: usize, block: usize, x: Wave<S>) {
        self.blocks[unit * self.unit + block] = x.lanes()[0].to_bytes();
    }
}
