//! Access of a mode's body to the units of text.

use sealane_block::lanes::Streams;
use sealane_block::{Block, Lanes};

use super::Wave;
use super::mode::lanes_of;

/// Units of text for the lanes of a wave, changed in place.
pub(crate) trait Data<L: Lanes, const N: usize> {
    /// True if lanes hold neighbouring units of one message, in steps of all lanes, and not a
    /// message each.
    const WIDE: bool;
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
    fn load(&self, l: L, unit: usize, block: usize) -> Wave<L, N>;
    /// Writes a block.
    fn store(&mut self, unit: usize, block: usize, x: Wave<L, N>);
    /// Adds `pad` to a block, and returns the old block. This goes vector by vector: with a load
    /// and a store of all blocks, the registers would not suffice.
    #[inline(always)]
    fn mask(&mut self, l: L, unit: usize, block: usize, pad: Wave<L, N>) -> Wave<L, N> {
        let given = self.load(l, unit, block);
        self.store(unit, block, given ^ pad);
        given
    }
    /// As [`mask`](Data::mask), and also returns the new block.
    #[inline(always)]
    fn add(&mut self, l: L, unit: usize, block: usize, pad: Wave<L, N>) -> [Wave<L, N>; 2] {
        let given = self.load(l, unit, block);
        let made = given ^ pad;
        self.store(unit, block, made);
        [given, made]
    }
}

/// Data with a stream for each lane.
pub(crate) struct Many<'d> {
    pub(crate) streams: Streams<'d>,
    pub(crate) positions: &'d [u64],
    /// True if all lanes are at the same unit.
    pub(crate) is_even: bool,
}

impl<L: Lanes, const N: usize> Data<L, N> for Many<'_> {
    const WIDE: bool = false;
    #[inline(always)]
    fn units(&self) -> usize {
        self.streams.units()
    }
    #[inline(always)]
    fn position(&self, lane: usize) -> u64 {
        self.positions[lane]
    }
    #[inline(always)]
    fn in_step(&self) -> Option<usize> {
        if self.is_even {
            return Some(0);
        }
        let busy = self.streams.busy();
        let first = lanes_of(busy).next()?;
        let position = self.positions[first];
        lanes_of(busy)
            .all(|lane| self.positions[lane] == position)
            .then_some(first)
    }
    #[inline(always)]
    fn load(&self, l: L, unit: usize, block: usize) -> Wave<L, N> {
        load(l, &self.streams, unit, block)
    }
    #[inline(always)]
    fn store(&mut self, unit: usize, block: usize, x: Wave<L, N>) {
        store(&mut self.streams, unit, block, x);
    }
    #[inline(always)]
    fn mask(&mut self, l: L, unit: usize, block: usize, pad: Wave<L, N>) -> Wave<L, N> {
        mask(l, &mut self.streams, unit, block, pad)
    }
    #[inline(always)]
    fn add(&mut self, l: L, unit: usize, block: usize, pad: Wave<L, N>) -> [Wave<L, N>; 2] {
        add(l, &mut self.streams, unit, block, pad)
    }
}

/// Data of one message in the first lane of one vector.
pub(crate) struct One<'d> {
    /// Whole units.
    pub(crate) blocks: &'d mut [[u8; 16]],
    pub(crate) unit: usize,
    pub(crate) position: u64,
}

impl<L: Lanes> Data<L, 1> for One<'_> {
    const WIDE: bool = false;
    #[inline(always)]
    fn units(&self) -> usize {
        self.blocks.len() / self.unit
    }
    #[inline(always)]
    fn position(&self, _lane: usize) -> u64 {
        self.position
    }
    #[inline(always)]
    fn load(&self, l: L, unit: usize, block: usize) -> Wave<L, 1> {
        Wave::splat(l, Block::from_bytes(self.blocks[unit * self.unit + block]))
    }
    #[inline(always)]
    fn store(&mut self, unit: usize, block: usize, x: Wave<L, 1>) {
        self.blocks[unit * self.unit + block] = x.lanes()[0].to_bytes();
    }
}

/// Data of one message whose units are dealt out to the lanes, in whole rounds.
pub(crate) struct Wide<'d> {
    pub(crate) streams: Streams<'d>,
    pub(crate) position: u64,
}

impl<L: Lanes, const N: usize> Data<L, N> for Wide<'_> {
    const WIDE: bool = true;
    #[inline(always)]
    fn units(&self) -> usize {
        self.streams.units()
    }
    #[inline(always)]
    fn position(&self, lane: usize) -> u64 {
        self.position + lane as u64
    }
    #[inline(always)]
    fn is_whole(&self) -> bool {
        self.streams.in_rows()
    }
    #[inline(always)]
    fn load(&self, l: L, unit: usize, block: usize) -> Wave<L, N> {
        if !self.streams.in_rows() {
            return load(l, &self.streams, unit, block);
        }
        let mut x = Wave::zero(l);
        for i in 0..N {
            x.v[i] = l.load_row(&self.streams, i * L::WIDTH, unit);
        }
        x
    }
    #[inline(always)]
    fn store(&mut self, unit: usize, block: usize, x: Wave<L, N>) {
        if !self.streams.in_rows() {
            return store(&mut self.streams, unit, block, x);
        }
        for i in 0..N {
            x.l.store_row(&mut self.streams, i * L::WIDTH, unit, x.v[i]);
        }
    }
    #[inline(always)]
    fn mask(&mut self, l: L, unit: usize, block: usize, pad: Wave<L, N>) -> Wave<L, N> {
        if !self.streams.in_rows() {
            return mask(l, &mut self.streams, unit, block, pad);
        }
        let given = self.load(l, unit, block);
        self.store(unit, block, given ^ pad);
        given
    }
}

#[inline(always)]
fn load<L: Lanes, const N: usize>(
    l: L,
    streams: &Streams<'_>,
    unit: usize,
    block: usize,
) -> Wave<L, N> {
    let mut x = Wave::zero(l);
    for i in 0..N {
        x.v[i] = l.load_streams(streams, i * L::WIDTH, unit, block);
    }
    x
}

#[inline(always)]
fn store<L: Lanes, const N: usize>(
    streams: &mut Streams<'_>,
    unit: usize,
    block: usize,
    x: Wave<L, N>,
) {
    for i in 0..N {
        x.l.store_streams(streams, i * L::WIDTH, unit, block, x.v[i]);
    }
}

#[inline(always)]
fn mask<L: Lanes, const N: usize>(
    l: L,
    streams: &mut Streams<'_>,
    unit: usize,
    block: usize,
    pad: Wave<L, N>,
) -> Wave<L, N> {
    let mut given = Wave::zero(l);
    for i in 0..N {
        given.v[i] = l.load_streams(streams, i * L::WIDTH, unit, block);
        let made = l.xor(given.v[i], pad.v[i]);
        l.store_streams(streams, i * L::WIDTH, unit, block, made);
    }
    given
}

#[inline(always)]
fn add<L: Lanes, const N: usize>(
    l: L,
    streams: &mut Streams<'_>,
    unit: usize,
    block: usize,
    pad: Wave<L, N>,
) -> [Wave<L, N>; 2] {
    let mut both = [Wave::zero(l); 2];
    for i in 0..N {
        let given = l.load_streams(streams, i * L::WIDTH, unit, block);
        // Behind a barrier: otherwise the compiler processes the two parts of the sum separately,
        // in all that follows.
        let made = l.optimization_barrier(l.xor(given, pad.v[i]));
        l.store_streams(streams, i * L::WIDTH, unit, block, made);
        (both[0].v[i], both[1].v[i]) = (given, made);
    }
    both
}
